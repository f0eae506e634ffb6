"""Invalid input and requests: each causes one message on stderr, its exit code, and no additional file."""

import random
import re
import struct
import subprocess

import numpy as np
import pytest
import tifffile

from conftest import BINARY
from cli_support import fails, image, listing, mounted, one_sentence, source, unmount

FAILED, WRONG_USAGE = 1, 2


@pytest.fixture
def tiff(sepconv):
    tifffile.imwrite(sepconv.folder / "in.tif", image(rows=200, cols=300), tile=(64, 64), compression="zlib")
    return sepconv.folder / "in.tif"


# ---- Input files ----


def test_missing_file(sepconv):
    assert "nowhere.tif" in fails(sepconv, "run", "nowhere.tif", "out.tif", "abs", status=FAILED)


def test_directory(sepconv):
    (sepconv.folder / "folder.tif").mkdir()
    assert "folder.tif" in fails(sepconv, "run", "folder.tif", "out.tif", status=FAILED)


@pytest.mark.parametrize("name", ["in.tif", "in.npy", "in.png", "in_16x16_u8.raw"])
def test_empty_file(sepconv, name):
    (sepconv.folder / name).touch()
    assert name in fails(sepconv, "run", name, "out.tif", status=FAILED)


def test_wrong_magic(sepconv):
    (sepconv.folder / "in.tif").write_bytes(b"this is a letter, not an image; " * 16)
    assert "in.tif" in fails(sepconv, "run", "in.tif", "out.tif", status=FAILED)


@pytest.mark.parametrize("kept", [3, 7, 20, 0.5, 0.99])
def test_truncated_tiff(sepconv, tiff, kept):
    """In the header, in the directory (which tifffile writes first), and in the data."""
    data = tiff.read_bytes()
    tiff.write_bytes(data[: kept if kept > 1 else int(len(data) * kept)])
    assert "in.tif" in fails(sepconv, "run", "in.tif", "out.tif", "gaussian:sigma=1", status=FAILED)


@pytest.mark.parametrize("kept", [3, 9, 60, 0.5, 0.999])
def test_truncated_npy(sepconv, source, kept):
    path = sepconv.folder / source
    data = path.read_bytes()
    path.write_bytes(data[: kept if kept > 1 else int(len(data) * kept)])
    assert source in fails(sepconv, "run", source, "out.npy", "gaussian:sigma=1", status=FAILED)


def test_raw_file_shorter_than_said(sepconv):
    (sepconv.folder / "in.raw").write_bytes(bytes(100))
    assert "in.raw" in fails(sepconv, "run", "in.raw", "out.npy", "--raw", "11x10:u8", status=FAILED)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("name", ["in.tif", "in.npy"])
def test_bit_flips(sepconv, tiff, source, name, seed):
    """Damage of pixels may go unnoticed, because these formats have no checksums; it never causes a crash, a
    hang or leftover files."""
    path = sepconv.folder / name
    data = bytearray(path.read_bytes())
    dice = random.Random(seed)
    for _ in range(3):  # half of them in the header and directory
        end = min(600, len(data)) if dice.random() < 0.5 else len(data)
        data[dice.randrange(end)] ^= 1 << dice.randrange(8)
    path.write_bytes(data)
    before = listing(sepconv.folder)
    command = [BINARY, "run", name, "out.npy", "box:radius=1", "--quiet", "--max-memory", "64M"]
    process = subprocess.run(command, cwd=sepconv.folder, capture_output=True, text=True, timeout=60)
    assert process.returncode in (0, FAILED, WRONG_USAGE), (process.returncode, process.stderr)
    if process.returncode:
        one_sentence(process.stderr)
        assert listing(sepconv.folder) == before
    else:
        assert listing(sepconv.folder) == sorted([*before, "out.npy"])


def tiff_bytes(entries):
    """A little-endian classic TIFF with only a directory; entries are (tag, type, count, value)."""
    directory = b"".join(struct.pack("<HHII", *entry) for entry in sorted(entries))
    return struct.pack("<2sHIH", b"II", 42, 8, len(entries)) + directory + struct.pack("<I", 0)


def basic_tags(rows, cols, **changed):
    tags = {
        "cols": (256, 4, 1, cols),
        "rows": (257, 4, 1, rows),
        "bits": (258, 3, 1, 8),
        "codec": (259, 3, 1, 1),
        "photometric": (262, 3, 1, 1),
        "offset": (273, 4, 1, 8),
        "samples": (277, 3, 1, 1),
        "rows_per_strip": (278, 4, 1, rows),
        "bytes": (279, 4, 1, 16),
    }
    for name, value in changed.items():
        tags[name] = (*tags[name][:3], value)
    return list(tags.values())


@pytest.mark.parametrize(
    "rows, cols", [(2**31, 2**31), (0, 5), (5, 0), (2**31 - 1, 2**31 - 1), (2**32 - 1, 1)]
)
def test_impossible_dimensions(sepconv, rows, cols):
    (sepconv.folder / "in.tif").write_bytes(tiff_bytes(basic_tags(rows, cols)))
    assert "in.tif" in fails(sepconv, "run", "in.tif", "out.tif", "gaussian:sigma=1", status=FAILED)


def test_impossible_npy_dimensions(sepconv):
    header = (
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904), }"
    )
    header = header.ljust(117) + b"\n"
    (sepconv.folder / "in.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    assert "in.npy" in fails(sepconv, "run", "in.npy", "out.npy", status=FAILED)


@pytest.mark.parametrize("codec", [2, 34712, 34661, 65000])
def test_unsupported_codec(sepconv, codec):
    (sepconv.folder / "in.tif").write_bytes(tiff_bytes(basic_tags(4, 4, codec=codec)) + bytes(64))
    assert "in.tif" in fails(sepconv, "run", "in.tif", "out.tif", status=FAILED)


@pytest.mark.parametrize("bits", [17, 24, 40, 128])
def test_unsupported_pixel_layout(sepconv, bits):
    (sepconv.folder / "in.tif").write_bytes(tiff_bytes(basic_tags(4, 4, bits=bits)) + bytes(512))
    assert "in.tif" in fails(sepconv, "run", "in.tif", "out.tif", status=FAILED)


@pytest.mark.parametrize("dtype", ["M8[s]", "S4", "f16", [("a", "u1")]])
def test_elements_that_are_no_numbers_of_ours(sepconv, dtype):
    np.save(sepconv.folder / "in.npy", np.zeros((4, 4), dtype))
    assert "in.npy" in fails(sepconv, "run", "in.npy", "out.npy", status=FAILED)


def test_page_that_is_not_there(sepconv, tiff):
    assert "page" in fails(sepconv, "run", tiff.name, "out.tif", "--page", 7, status=FAILED)


# ---- Stages and options ----


@pytest.mark.parametrize(
    "stage, said",
    [
        ("gaussian_laplace:sigma=0", "sigma"),
        ("gaussian:sigma=-1", "sigma"),
        ("gaussian:sigma=1e9", "sigma"),
        ("gaussian:sigma=nan", "sigma"),
        ("gaussian:sigma=inf", "sigma"),
        ("gaussian:sigma=wide", "sigma"),
        ("gaussian", "sigma"),
        ("gaussian:sigma=1,border=mirrored", "reflect"),
        ("convolve:row=1,2,col=1,2,1", "odd"),
        ("convolve:row=1,nan,1", "nan"),
        ("convolve:file=missing-file.txt", "missing-file.txt"),
        ("cast:type=u32", "u32"),
        ("gausian:sigma=1", "did you mean 'gaussian'"),
        ("gaussian:sigm=1", "did you mean 'sigma'"),
        ("", "stage"),
        ("gaussian:", "key=value"),
        ("gaussian:sigma=1,sigma=2", "sigma"),
        ("box:radius=-1", "radius"),
        ("mix_channels:file=missing.npy", "missing.npy"),
    ],
)
def test_stage_that_cannot_be(sepconv, source, stage, said):
    status = FAILED if "missing" in stage else WRONG_USAGE
    assert said.lower() in fails(sepconv, "run", source, "out.npy", stage, status=status).lower()


@pytest.mark.parametrize(
    "options, said",
    [
        (["--threads", 0], "--threads"),
        (["--threads", "many"], "--threads"),
        (["--slots", 1000], "--slots"),
        (["--band-rows", -4], "--band-rows"),
        (["--max-memory", "much"], "much"),
        (["--max-memory", "12Q"], "12Q"),
        (["--max-memory", "-1"], "-1"),
        (["--arithmetic", "f16"], "f16"),
        (["--device", "cuda:99"], "--device cuda"),
        (["--device", "tpu"], "tpu"),
        (["--compress", "rar"], "rar"),
        (["--compress", "zstd:99"], "zstd:1 to zstd:22"),
        (["--device", "cuda:0,0"], "twice"),
        (["--device", "cuda:0,"], "cuda:0,1"),
        (["--max-device-memory", "0"], "0"),
        (["--reference", "--device", "cuda"], "--reference"),
        (["--tile", "512x"], "512x"),
        (["--frobnicate"], "--frobnicate"),
        (["--raw", "4x4"], "--raw"),
        (["--raw", "4x4:u12"], "--raw"),
        (["--bigtiff=yes", "--bigtiff=no"], "--bigtiff"),
        (["--page", -1], "--page"),
    ],
)
def test_option_that_cannot_be(sepconv, source, options, said):
    assert said in fails(sepconv, "run", source, "out.npy", "abs", *options, status=WRONG_USAGE)


@pytest.mark.parametrize(
    "arguments, said",
    [
        ([], "--help"),
        (["run"], "IN"),
        (["run", "in.npy"], "OUT"),
        (["frob"], "frob"),
        (["compare", "in.npy"], "B"),
        (["generate", "out.npy"], "--size"),
        (["generate", "out.npy", "--size", "12"], "12"),
        (["generate", "out.npy", "--size", "9x9", "--pattern", "plaid"], "plaid"),
        (["completion", "tcsh"], "tcsh"),
        (["stages", "gausian"], "gaussian"),
        (["compare", "in.npy", "in.npy", "--tolerance", "-1"], "--tolerance"),
    ],
)
def test_command_that_cannot_be(sepconv, source, arguments, said):
    assert said in fails(sepconv, *arguments, status=WRONG_USAGE)


# ---- Output ----


def test_output_is_input(sepconv, source):
    (sepconv.folder / "link.npy").symlink_to("in.npy")
    (sepconv.folder / "hard.npy").hardlink_to(sepconv.folder / "in.npy")
    before = (sepconv.folder / source).read_bytes()
    for name in (source, "./in.npy", "link.npy", "hard.npy"):
        assert "input and output" in fails(sepconv, "run", source, name, "abs", "--force", status=WRONG_USAGE)
    assert (sepconv.folder / source).read_bytes() == before


@pytest.mark.parametrize("option", ["--trace", "--report", "--stats"])
def test_log_is_an_image_or_cannot_be_made(sepconv, source, option):
    assert "in.npy" in fails(sepconv, "run", source, "out.npy", option, "in.npy", status=WRONG_USAGE)
    assert "out.npy" in fails(sepconv, "run", source, "out.npy", option, "out.npy", status=WRONG_USAGE)
    assert "nowhere" in fails(sepconv, "run", source, "out.npy", option, "nowhere/log", status=FAILED)


def test_unknown_ending(sepconv, source):
    assert ".webm" in fails(sepconv, "run", source, "out.webm", status=WRONG_USAGE)


@pytest.mark.parametrize("name", ["nowhere/out.npy", "in.npy/out.npy"])
def test_output_folder_missing(sepconv, source, name):
    assert name.split("/")[0] in fails(sepconv, "run", source, name, status=FAILED)


def test_output_folder_read_only(sepconv, source):
    folder = sepconv.folder / "locked"
    if not mounted("ro", folder):
        pytest.skip("mounting a read-only file system needs root")
    try:
        assert "locked" in fails(sepconv, "run", source, "locked/out.npy", status=FAILED)
    finally:
        unmount(folder)


@pytest.mark.parametrize("name", ["out.npy", "out.tif", "out.png"])
def test_output_exists(sepconv, source, name):
    (sepconv.folder / name).write_bytes(b"precious")
    assert "--force" in fails(sepconv, "run", source, name, "abs", status=FAILED)
    assert (sepconv.folder / name).read_bytes() == b"precious"
    sepconv("run", source, name, "abs", "--force")
    assert (sepconv.folder / name).read_bytes() != b"precious"


def test_output_is_a_directory(sepconv, source):
    (sepconv.folder / "out.npy").mkdir()
    assert "out.npy" in fails(sepconv, "run", source, "out.npy", "--force", status=FAILED)


@pytest.mark.parametrize("name", ["out.npy", "out.tif", "out.raw", "out.png"])
def test_disk_full(sepconv, name):
    np.save(sepconv.folder / "in.npy", image(rows=2000, cols=2000))
    folder = sepconv.folder / "small"
    if not mounted("size=1m", folder):
        pytest.skip("mounting a small file system needs root")
    try:
        assert "space" in fails(
            sepconv, "run", "in.npy", f"small/{name}", "--max-memory", "256M", status=FAILED
        )
    finally:
        unmount(folder)


def test_file_size_limit(sepconv):
    np.save(sepconv.folder / "in.npy", image(rows=2000, cols=2000))
    before = listing(sepconv.folder)
    command = ["sh", "-c", 'ulimit -f 1000 && exec "$0" run in.npy out.npy --max-memory 256M --quiet', BINARY]
    process = subprocess.run(command, cwd=sepconv.folder, capture_output=True, text=True)
    assert process.returncode == FAILED
    assert "out.npy" in one_sentence(process.stderr)
    assert listing(sepconv.folder) == before


def test_format_that_cannot_hold_the_result(sepconv, source):
    assert "out.png" in fails(sepconv, "run", source, "out.png", "cast:type=f32", status=WRONG_USAGE)


def test_standard_output_full(sepconv, source):
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [BINARY, "info", source], cwd=sepconv.folder, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert process.returncode == FAILED
    assert "standard output" in one_sentence(process.stderr)


# ---- Memory ----


def test_ceiling_too_small_names_the_smallest(sepconv):
    np.save(sepconv.folder / "in.npy", image(rows=700, cols=900, dtype=np.float32))
    run = ["run", "in.npy", "out.npy", "gaussian:sigma=8", "--max-memory"]
    message = fails(sepconv, *run, "20K", status=FAILED)
    assert "--max-memory" in message
    smallest = int(re.search(r"is (\d+)K; raise --max-memory to \1K", message).group(1))
    fails(sepconv, *run, f"{smallest - 1}K", status=FAILED)
    sepconv(*run, f"{smallest}K")


@pytest.mark.parametrize("size", ["30000000x30000000", "2147483647x2147483647"])
def test_a_result_of_very_many_bands_is_refused_at_once(sepconv, size):
    """Counting its bands one by one would take hours and ignore signals."""
    np.save(sepconv.folder / "a.npy", np.zeros((50, 70), np.uint8))
    process = subprocess.run(
        [BINARY, "run", "a.npy", "o.npy", f"resize:size={size}", "--max-memory", "32M", "--device", "cpu"],
        cwd=sepconv.folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode in (1, 2) and process.stderr.count("sepconv:") == 1, process.stderr
    assert not (sepconv.folder / "o.npy").exists()
