"""Requests that were formerly accepted silently: files that a log would overwrite, options without effect,
numbers out of range."""

import json
import re

import numpy as np
import pytest
import tifffile

from cli_support import fails, image, source

FAILED, WRONG_USAGE = 1, 2


@pytest.fixture
def pages(sepconv):
    with tifffile.TiffWriter(sepconv.folder / "pages.tif") as result:
        for cols in (10, 20, 30):
            result.write(image(rows=5, cols=cols), metadata=None)
    return "pages.tif"


def test_two_logs_of_one_name(sepconv, source):
    (sepconv.folder / "here").symlink_to(".")
    for other in ("log", "./log", "here/log", sepconv.folder / "log"):
        message = fails(
            sepconv, "run", source, "out.npy", "--trace", "log", "--stats", other, status=WRONG_USAGE
        )
        assert "--trace" in message and "--stats" in message


@pytest.mark.parametrize("name", ["taps.txt", "a,b.txt"])
def test_log_is_a_file_of_a_stage(sepconv, source, name):
    (sepconv.folder / name).write_text("1 2 1\n1 2 1\n")
    for stage in (f"convolve:file={name}", f"convolve:file={name},border=reflect"):
        message = fails(
            sepconv, "run", source, "out.npy", stage, "--report", name, "--force", status=WRONG_USAGE
        )
        assert "--report" in message and "stage" in message


def test_log_is_an_image_even_with_force(sepconv, source):
    for name in ("in.npy", "out.npy"):
        assert name in fails(
            sepconv, "run", source, "out.npy", "--stats", name, "--force", status=WRONG_USAGE
        )


@pytest.mark.parametrize("stage, side", [("gemm", ",side=right"), ("mix_channels", ""), ("convolve", "")])
def test_output_is_a_file_of_a_stage(sepconv, source, stage, side):
    table = np.eye(128, dtype=np.float32) if stage == "gemm" else np.ones((1, 1), np.float32)
    np.save(sepconv.folder / "b.npy", table)
    (sepconv.folder / "link.npy").symlink_to("b.npy")
    before = (sepconv.folder / "b.npy").read_bytes()
    for command in ("run", "plan"):
        for output in ("b.npy", "./b.npy", "link.npy"):
            for chain in ([f"{stage}:file=b.npy{side}"], ["abs", f"{stage}:file=b.npy{side}"]):
                message = fails(sepconv, command, source, output, *chain, "--force", status=WRONG_USAGE)
                assert "both input and output" in message and f"the stage {stage}:file=b.npy" in message
    assert (sepconv.folder / "b.npy").read_bytes() == before
    sepconv("plan", source, "out.npy", f"{stage}:file=b.npy{side}")


def test_logs_on_standard_output(sepconv, source):
    process = sepconv("run", source, "out.npy", "--stats", "-")
    assert json.loads(process.stdout)["plan"]["bands"] >= 1 and "at the peak" in process.stderr
    process = sepconv("run", source, "out.npy", "--report", "-", "--quiet", "--force")
    assert "bottleneck" in process.stdout and process.stderr == ""
    assert json.loads(sepconv("transpose", source, "out.npy", "--trace", "-", "--force").stdout)[
        "traceEvents"
    ]
    both = json.loads(sepconv("run", source, "out.npy", "--stats", "-", "--report", "./-", "--force").stdout)
    assert both["plan"] and "bottleneck" in (sepconv.folder / "-").read_text()
    (sepconv.folder / "-").unlink()
    for first, second in (("--stats", "--trace"), ("--report", "--stats"), ("--trace", "--report")):
        message = fails(sepconv, "run", source, "new.npy", first, "-", second, "-", status=WRONG_USAGE)
        assert "standard output" in message
    assert "standard output" in fails(sepconv, "bench", "run", "--trace", "-", status=WRONG_USAGE)


@pytest.mark.parametrize(
    "command",
    [
        ["transpose", "-", "out.npy"],
        ["transpose", "in.npy", "-"],
        ["gemm", "-", "in.npy", "out.npy"],
        ["gemm", "in.npy", "-", "out.npy"],
        ["gemm", "in.npy", "in.npy", "-"],
        ["gemm", "in.npy", "in.npy", "out.npy", "--c", "-"],
        ["preview", "-"],
        ["generate", "-", "--size", "8x8"],
    ],
    ids=" ".join,
)
def test_images_are_no_pipes(sepconv, source, command):
    message = fails(sepconv, *command, status=WRONG_USAGE)
    assert "pipe" in message and "./-" in message


def test_a_file_called_so(sepconv, source):
    (sepconv.folder / source).rename(sepconv.folder / "-")
    assert "NPY" in sepconv("info", "./-").stdout
    sepconv("run", "./-", "out.npy", "--quiet")


@pytest.mark.parametrize("name", ["out.npy", "out.raw", "out.png", "out.jpg"])
@pytest.mark.parametrize(
    "options",
    [
        ["--compress", "lzw"],
        ["--tile", "64"],
        ["--tile", "0"],
        ["--planar"],
        ["--no-predictor"],
        ["--bigtiff=yes"],
        ["--bigtiff=no"],
    ],
)
def test_layout_that_the_format_does_not_have(sepconv, source, name, options):
    for command in (["run", source, name], ["plan", source, name], ["generate", name, "--size", "64x64"]):
        message = fails(sepconv, *command, *options, status=WRONG_USAGE)
        assert options[0] in message and name in message
        assert {"y": "NPY", "w": "raw", "g": name[4:].upper().replace("JPG", "JPEG")}[name[-1]] in message


def test_layout_that_the_format_has(sepconv, source):
    for name in ("out.npy", "out.bmp"):
        sepconv("run", source, name, "--compress", "none")
    sizes = []
    for quality in (5, 95):
        sepconv("run", source, "out.jpg", "--compress", f"jpeg:{quality}", "--force")
        sizes.append((sepconv.folder / "out.jpg").stat().st_size)
    assert sizes[0] < sizes[1]


def test_inherited_layout_is_no_request(sepconv):
    pixels = image(rows=200, cols=300, channels=3)
    tifffile.imwrite(
        sepconv.folder / "in.tif", pixels, tile=(64, 64), compression="zlib", photometric="rgb", bigtiff=True
    )
    sepconv("run", "in.tif", "out.npy")
    assert np.array_equal(np.load(sepconv.folder / "out.npy"), pixels)


def test_stats_of_nothing_but_not_a_number(sepconv):
    np.save(sepconv.folder / "in.npy", np.full((4, 5), -np.nan, np.float32))
    row = sepconv("stats", "in.npy").stdout.splitlines()[1].split()
    assert row == ["0", "-", "-", "-", "-", "0", "20", "0"]
    report = json.loads(sepconv("stats", "in.npy", "--json").stdout)["channels"][0]
    assert [report[name] for name in ("min", "max", "mean", "deviation")] == [None] * 4
    assert (report["count"], report["nan_count"]) == (0, 20)


def test_stats_of_infinities_have_no_signed_nan(sepconv):
    np.save(sepconv.folder / "in.npy", np.array([[-np.inf, np.inf, 0, -0.0]], np.float32))
    row = sepconv("stats", "in.npy").stdout.splitlines()[1].split()
    assert row[1:3] == ["-inf", "inf"] and "-nan" not in row


@pytest.mark.parametrize("seed", ["-1", "18446744073709551616", "99999999999999999999", "1.5", "many"])
def test_seed_that_cannot_be(sepconv, seed):
    message = fails(sepconv, "generate", "out.npy", "--size", "8x8", "--seed", seed, status=WRONG_USAGE)
    assert "--seed" in message and seed in message


def test_greatest_seed(sepconv):
    sepconv("generate", "out.npy", "--size", "8x8", "--seed", 2**64 - 1)


@pytest.mark.parametrize("tolerance", ["-1", "nan", "inf", "-inf", "wide"])
def test_tolerance_that_cannot_be(sepconv, source, tolerance):
    message = fails(sepconv, "compare", source, source, "--tolerance", tolerance, status=WRONG_USAGE)
    assert "--tolerance" in message and len(message) < 120


def test_number_of_threads_has_one_range(sepconv, source):
    assert "1024" in sepconv("run", "--help").stdout
    sepconv("plan", source, "out.npy", "--threads", 1024)
    for threads in (0, 1025, 4096):
        assert "--threads" in fails(
            sepconv, "plan", source, "out.npy", "--threads", threads, status=WRONG_USAGE
        )


def test_output_name_missing_or_a_folder(sepconv, source):
    assert "name" in fails(sepconv, "run", source, "", status=WRONG_USAGE)
    (sepconv.folder / "there").mkdir()
    for name in ("there", "there/"):
        assert "folder" in fails(sepconv, "run", source, name, status=FAILED)
        assert "folder" in fails(sepconv, "generate", name, "--size", "8x8", status=FAILED)


def test_summary_counts_one_thing_as_one(sepconv, source):
    said = sepconv("run", source, "out.npy", "--slots", 1, "--band-rows", 96).stderr
    assert "1 band of" in said and "1 slot;" in said


@pytest.mark.parametrize("name", ["in.npy", "pages.tif"])
def test_info_says_nothing_twice(sepconv, source, pages, name):
    text = sepconv("info", name, "--page", 0).stdout
    names = re.findall(r"^  (\w[\w ]*?)  ", text, re.MULTILINE)
    assert "streams" in names and len(set(names)) == len(names)
    assert not {"layout", "compression"} <= set(names)


def test_info_of_one_page(sepconv, source, pages):
    assert "page" in fails(sepconv, "info", pages, "--page", 7, status=FAILED)
    assert "page" in fails(sepconv, "info", source, "--page", 1, status=FAILED)
    for page, cols in enumerate((10, 20, 30)):
        text = sepconv("info", pages, "--page", page).stdout
        assert re.findall(r"^page (\d+): (\d+) x", text, re.MULTILINE) == [(str(page), str(cols))]
        assert "3 pages" in text and "more page" not in text
        report = json.loads(sepconv("info", pages, "--page", page, "--json").stdout)["pages"]
        assert [(item["page"], item["cols"]) for item in report] == [(page, cols)]
    assert len(json.loads(sepconv("info", pages, "--json").stdout)["pages"]) == 3


@pytest.mark.parametrize(
    "stage, options", [("gaussian:sigma=1,sigma_z=1", ["--axes", "zyx"]), ("box:radius=1", ["--pyramid"])]
)
def test_columns_of_a_result_that_goes_row_by_row(sepconv, stage, options):
    np.save(
        sepconv.folder / "in.npy",
        np.zeros((4, 300, 400), np.uint8) if "--axes" in options else image(1200, 1600),
    )
    words = ("in.npy", "out.tif", stage, *options, "--band-cols", "64")
    for command in ("run", "plan"):
        message = fails(sepconv, command, *words, status=2)
        assert "filters along z" in message and message.endswith("leave --band-cols out")
