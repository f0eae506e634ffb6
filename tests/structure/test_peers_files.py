"""tests/peers/tiff_vips.py and tiff_codecs.py on small images, with peers implemented by sepconv: their
output, comparisons and skipped peers; and docs/tools/put_blocks.py, which inserts the output into the
documents."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from conftest import BINARY

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUT_BLOCKS = ROOT / "docs/tools/put_blocks.py"
WORK = """
import subprocess
def work(source, result, stages, codec):
    codec = {"jpeg": "jpeg:89", "deflate": "deflate:6"}.get(codec, codec)
    subprocess.run([%r, "run", source, result, *stages, "--compress", codec, "--quiet"], check=True)
""" % str(BINARY)
PYVIPS = (
    WORK
    + """
def version(part): return (8, 99, 1)[part]
class Image:
    stages = ()
    new_from_file = classmethod(lambda kind, path: kind(path))
    def __init__(self, path): self.path = path
    def convsep(self, mask, precision):
        assert mask.path == "taps.mat"
        self.stages = ["{stage}"] + (["cast:type=f32"] if precision == "float" else [])
        return self
    def tiffsave(self, result, compression="none", **options):
        assert options["tile_width"] == 512
        if compression == "zstd": raise RuntimeError("no zstd")
        work(self.path, result, self.stages, compression)
"""
)
TAPS = "convolve:file=taps.txt,border=replicate"
SHUTIL = (
    WORK
    + f"""
def copy(source, result, driver, COMPRESS, **options):
    stages = [{TAPS!r}] if source == "filter.vrt" else []
    work("plain.tif" if stages else source, result, stages, COMPRESS.lower())
"""
)


@pytest.fixture
def run(tmp_path):
    (tmp_path / "rasterio").mkdir()
    (tmp_path / "rasterio/__init__.py").write_text('__gdal_version__ = "9.9"')
    (tmp_path / "rasterio/shutil.py").write_text(SHUTIL)

    def run_program(program, *options, stage=TAPS):
        (tmp_path / "pyvips.py").write_text(PYVIPS.replace("{stage}", stage))
        command = [
            sys.executable,
            "-B",
            ROOT / "tests/peers" / program,
            "--size",
            "600",
            "--runs",
            "2",
            "--sepconv",
            BINARY,
            *options,
        ]
        return subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}
        )

    return run_program


def test_libvips_is_timed_and_compared_and_the_block_is_put_into_both_documents(run, tmp_path):
    process = run("tiff_vips.py")
    assert process.returncode == 0, process.stderr
    assert "The results agree" in process.stdout and "libvips 8.99.1: 600x600" in process.stdout
    assert (
        len(
            re.findall(
                r"^\| (?:libvips|sepconv|cp)\b.* \| \d+\.\d\d to \d+\.\d\d \| \d+ \| \d+ \|$",
                process.stdout,
                re.MULTILINE,
            )
        )
        == 8
    )
    documents = [tmp_path / name for name in ("benchmarks.md", "README.md")]
    for document, original in zip(documents, (ROOT / "docs/benchmarks.md", ROOT / "README.md"), strict=True):
        document.write_text(original.read_text())
    subprocess.run([sys.executable, PUT_BLOCKS, *documents], input=process.stdout, text=True, check=True)
    for document in documents:
        block = re.search(
            r"<!-- file-to-file radius 8 -->\n(.*?)<!-- /file-to-file radius 8 -->",
            document.read_text(),
            re.DOTALL,
        )[1]
        assert block in process.stdout and re.search(r"^\| sepconv \| \d", block, re.MULTILINE)


def test_a_result_of_libvips_that_differs_is_named(run):
    process = run("tiff_vips.py", stage="box:radius=1,border=replicate")
    assert process.returncode == 1 and "sepconv-float.tif and vips-float.tif" in process.stderr


def test_a_peer_without_a_codec_is_left_out_of_it_both_ways(run):
    process = run("tiff_codecs.py", "--codecs", "deflate,zstd,jpeg")
    assert process.returncode == 0, process.stdout
    short = process.stdout.partition("<!-- codecs -->")[2].partition("<!-- /codecs -->")[0]
    figure = r"\d+ \(\d\.\d\)"
    assert "| deflate out | zstd out | jpeg out | deflate in | zstd in | jpeg in |" in short
    assert len(re.findall(rf"^\| (?:sepconv|GDAL) (?:\| {figure} ){{6}}\|$", short, re.MULTILINE)) == 2
    assert len(re.findall(rf"^\| libvips (?:\| {figure} \|  \| {figure} ){{2}}\|$", short, re.MULTILINE)) == 1
    assert (
        process.stdout.count("Left out, failed: libvips") == 2
        and process.stdout.count("Left out, cannot write it: libvips") == 1
    )


def test_a_wrong_result_of_a_codec_is_named(run):
    process = run("tiff_codecs.py", "--codecs", "lzw", stage="box:radius=9,border=replicate")
    assert (
        process.returncode == 1
        and "WRONG (Uncompressed in, filtered and compressed out, lzw): libvips-filtered.tif"
        in process.stdout
    )
    assert "GDAL" not in process.stdout.partition("WRONG")[2]


@pytest.mark.parametrize(
    "output, sentence",
    [("<!-- nowhere -->\n1\n<!-- /nowhere -->\n", "no file has the block nowhere"), ("1\n", "no block")],
)
def test_put_blocks_refuses_what_has_no_place(tmp_path, output, sentence):
    document = tmp_path / "a.md"
    document.write_text("<!-- here -->\n0\n<!-- /here -->\n")
    process = subprocess.run(
        [sys.executable, PUT_BLOCKS, document], input=output, capture_output=True, text=True
    )
    assert process.returncode == 1 and sentence in process.stderr and document.read_text().count("0") == 1
