"""sepconv bench: its output, the check of its results, and that it leaves no files. Rates are never
tested."""

import json
import shutil
import subprocess

import pytest

from cli_support import fails, listing
from conftest import BINARY


def measured(sepconv, *arguments):
    return json.loads(sepconv("bench", "run", "--json", "--runs", 2, *arguments).stdout)


def test_stream_in_memory(sepconv):
    report = measured(
        sepconv,
        "--device",
        "cpu",
        "--size",
        "301x203",
        "--radius",
        "2,40",
        "--slots",
        "1,3",
        "--band-rows",
        20,
    )
    assert (report["cols"], report["rows"], report["type"], report["runs"]) == (301, 203, "f32", 2)
    assert report["device"].startswith("CPU") and "copy" in report["limit"]
    rows = report["measured"]
    assert [(row["radius"], row["slots"], row["band_rows"]) for row in rows] == [
        (2, 1, 20),
        (2, 3, 20),
        (40, 1, 20),
        (40, 3, 20),
    ]
    for row in rows:
        assert row["from"] == "memory"
        assert 0 < row["min_seconds"] <= row["median_seconds"] <= row["greatest_seconds"]
        assert row["share_of_limit"] == pytest.approx(row["limit_seconds"] / row["median_seconds"])
        assert row["pixels_per_second"] == pytest.approx(301 * 203 / row["median_seconds"])
        assert row["bytes_per_second_each_way"] == pytest.approx(4 * row["pixels_per_second"])
        serial = next(other for other in rows if other["radius"] == row["radius"] and other["slots"] == 1)
        assert row["speed_up_over_one_slot"] == pytest.approx(
            serial["median_seconds"] / row["median_seconds"]
        )
    assert listing(sepconv.folder) == []


@pytest.mark.parametrize("size", ["1x1", "7x500", "500x7", "97x97"])
@pytest.mark.parametrize("kind", ["u8", "i16", "f64"])
def test_stream_of_any_size_and_type_is_checked(sepconv, size, kind):
    rows = measured(sepconv, "--device", "cpu", "--size", size, "--type", kind, "--radius", 30, "--slots", 2)[
        "measured"
    ]
    assert len(rows) == 1 and rows[0]["speed_up_over_one_slot"] is None


def test_stream_transposed_is_checked(sepconv):
    for position in ([], ["--file", "."]):
        report = measured(
            sepconv,
            "--device",
            "cpu",
            "--size",
            "301x203",
            "--radius",
            "0,4",
            "--slots",
            2,
            "--transpose",
            *position,
        )
        assert report["transpose"] and {row["radius"] for row in report["measured"]} == {0, 4}
    assert listing(sepconv.folder) == []


def test_stream_as_a_table(sepconv):
    lines = sepconv(
        "bench", "run", "--device", "cpu", "--size", "300x200", "--radius", 2, "--runs", 1
    ).stdout.splitlines()
    header = next(line for line in lines if line.lstrip().startswith("from"))
    for word in (
        "radius",
        "slots",
        "band rows",
        "time ms",
        "predicted",
        "Gpix/s",
        "GB/s each",
        "limit",
        "share",
        "speed-up",
        "start ms",
    ):
        assert word in header
    assert sum(line.split()[0] == "memory" for line in lines) == 3


def test_stream_from_file_to_file_leaves_nothing(sepconv):
    report = measured(
        sepconv, "--device", "cpu", "--size", "301x203", "--radius", 3, "--slots", "1,2", "--file", "."
    )
    assert [(row["from"], row["slots"]) for row in report["measured"]] == [
        ("tif", 1),
        ("tif", 2),
        ("npy", 1),
        ("npy", 2),
    ]
    assert "page cache" in report["limit"]
    assert listing(sepconv.folder) == []


def test_wrong_requests(sepconv):
    assert "subcommand" in fails(sepconv, "bench", status=2)
    assert "missing" in fails(sepconv, "bench", "run", "--file", "missing", status=2)
    for arguments in (
        ["--radius", "-1"],
        ["--slots", "1,x"],
        ["--size", "3"],
        ["--device", "gpu"],
        ["--runs", "0"],
    ):
        fails(sepconv, "bench", "run", *arguments, status=2)


def test_bench_is_a_program_of_its_own(tmp_path):
    program = shutil.copy(BINARY, tmp_path)
    start = lambda path, *arguments: subprocess.run(
        [program, *arguments], env={"PATH": str(path)}, capture_output=True, text=True
    )
    for arguments in (("bench", "run"), ("help", "bench")):
        absent = start(tmp_path, *arguments)
        assert (absent.returncode, absent.stdout) == (1, "")
        assert "install the package sepconv-bench" in absent.stderr
    (tmp_path / "sepconv-bench").write_text("no program")
    refused = start("/nowhere", "bench", "run")  # it is in the folder of sepconv, but not executable
    assert (refused.returncode, refused.stdout) == (1, "")
    assert (
        refused.stderr == f"sepconv: sepconv-bench in {tmp_path} cannot be started: Permission denied; "
        "install the package sepconv-bench again\n"
    )
    (tmp_path / "path").mkdir()
    (tmp_path / "sepconv-bench").rename(tmp_path / "path/sepconv-bench")
    refused = start(tmp_path / "path", "bench", "run")
    assert (
        refused.stderr == "sepconv: sepconv-bench in PATH cannot be started: Permission denied; "
        "install the package sepconv-bench again\n"
    )
    assert start(BINARY.parent, "bench", "--version").stdout.startswith("sepconv-bench ")
    assert start(BINARY.parent, "bench", "run", "--runs", "0").returncode == 2
