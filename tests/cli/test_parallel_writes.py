"""Results that several threads write: uncompressed files that are large enough for mapped pages
(io/mapped_store.hpp), and the order of compressed blocks."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np
import pytest

from cli_support import image, listing, mounted, one_sentence, unmount
from conftest import BINARY
from test_resume import begin, kill_when

STAGE = "gaussian:sigma=2"
KINDS = {
    "npy": ("out.npy", []),
    "strips": ("out.tif", []),
    "tiles": ("out.tif", ["--tile", "256"]),
    "pyramid": ("out.tif", ["--tile", "256", "--pyramid"]),
}


@pytest.fixture
def scan(sepconv):
    np.save(sepconv.folder / "in.npy", image(3001, 3003, dtype=np.float32))  # 36 MB
    return "in.npy"


@pytest.fixture(params=["disk", "memory"])
def target(request, sepconv):
    """A folder on the disk and one on a tmpfs."""
    if request.param == "disk":
        yield sepconv.folder
        return
    shm = pathlib.Path("/dev/shm")
    if not os.access(shm, os.W_OK) or shutil.disk_usage(shm).free < 1 << 30:
        pytest.skip("/dev/shm is too small")
    with tempfile.TemporaryDirectory(dir=shm) as folder:
        yield pathlib.Path(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bytes_do_not_depend_on_the_number_of_threads(sepconv, scan, target, kind):
    name, options = KINDS[kind]
    results = []
    for threads in ("1", "8"):
        out = target / f"{threads}-{name}"
        sepconv("run", scan, out, STAGE, *options, "--threads", threads, "--quiet")
        results.append(out.read_bytes())
    assert results[0] == results[1]


def limited(sepconv, limit, *arguments):
    command = ["sh", "-c", f'ulimit {limit} && exec "$0" "$@"', BINARY, *map(str, arguments)]
    return subprocess.run(command, cwd=sepconv.folder, capture_output=True, text=True)


def test_without_room_for_mappings_the_file_is_written(sepconv, scan):
    sepconv("run", scan, "a.npy", STAGE, "--threads", "1", "--quiet")
    job = ["run", scan, "b.npy", STAGE, "--threads", "4", "--max-memory", "64M", "--quiet"]
    process = limited(sepconv, "-v 600000", *job)  # KiB
    if "memory" in process.stderr or "thread" in process.stderr:
        pytest.skip("this build needs more address space to start")
    assert process.returncode == 0, process.stderr
    assert (sepconv.folder / "a.npy").read_bytes() == (sepconv.folder / "b.npy").read_bytes()


def test_a_limit_of_file_sizes_is_an_error(sepconv, scan):
    before = listing(sepconv.folder)
    process = limited(
        sepconv,
        "-f 20000",
        "run",
        scan,
        "out.npy",
        STAGE,
        "--threads",
        "8",
        "--max-memory",
        "256M",
        "--quiet",
    )
    assert process.returncode == 1
    assert "out.npy" in one_sentence(process.stderr)
    assert listing(sepconv.folder) == before


@pytest.mark.parametrize("size", ["30m", "37m"])
def test_a_full_file_system_is_an_error(sepconv, scan, size):
    """The second has room for the pixels, but not for the smaller levels."""
    folder = sepconv.folder / "small"
    if not mounted(f"size={size}", folder):
        pytest.skip("mounting a small file system needs root")
    try:
        options = ["--tile", "256", "--pyramid", "--threads", "8", "--max-memory", "256M", "--quiet"]
        process = sepconv("run", scan, "small/out.tif", STAGE, *options, status=1)
        assert "space" in one_sentence(process.stderr)
        assert listing(folder) == []
    finally:
        unmount(folder)


@pytest.mark.parametrize("kind", ["npy", "tiles"])
def test_a_killed_run_is_continued(sepconv, scan, kind):
    name, options = KINDS[kind]
    options = [*options, "--threads", "8", "--band-rows", "256"]
    sepconv("run", scan, f"whole-{name}", STAGE, *options, "--quiet")
    partial = sepconv.folder / f"{name}.partial"
    job = [scan, name, STAGE, *options, "--resume"]
    kill_when(begin(sepconv, *job), lambda: list(partial.glob("result-*")))
    sepconv("run", *job, "--quiet")
    assert (sepconv.folder / name).read_bytes() == (sepconv.folder / f"whole-{name}").read_bytes()


@pytest.mark.parametrize("options", [["--tile", "64"], []], ids=["tiles", "strips"])
def test_bytes_of_compressed_planes_do_not_depend_on_bands(sepconv, options):
    np.save(sepconv.folder / "in.npy", image(601, 407, 3))
    results = []
    for number, cut in enumerate((["--band-rows", "64"], ["--band-rows", "512"], ["--threads", "1"])):
        job = ["run", "in.npy", f"{number}.tif", STAGE, "--planar", "--compress", "deflate:fast"]
        sepconv(*job, *options, *cut, "--quiet")
        results.append((sepconv.folder / f"{number}.tif").read_bytes())
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("cols", [2501, 4001, 8003])
@pytest.mark.parametrize("pyramid", ["--pyramid", "--pyramid=nearest"])
def test_levels_of_compressed_strips_of_an_odd_number_of_rows(sepconv, cols, pyramid):
    tifffile = pytest.importorskip("tifffile")
    sepconv("generate", "in.tif", "--size", f"{cols}x1001", "--channels", "3", "--quiet")
    for name, options in (
        ("plain", ["--tile", "256"]),
        ("strips", ["--compress", "deflate:fast", "--tile", "0"]),
    ):
        sepconv("run", "in.tif", f"{name}.tif", "abs", pyramid, *options, "--quiet")
    with (
        tifffile.TiffFile(sepconv.folder / "plain.tif") as plain,
        tifffile.TiffFile(sepconv.folder / "strips.tif") as strips,
    ):
        levels = [series.levels for series in (plain.series[0], strips.series[0])]
        assert strips.pages[0].rowsperstrip % 2 == 1, "this width does not test what it should"
        for of_tiles, of_strips in zip(*levels, strict=False):
            assert np.array_equal(of_tiles.asarray(), of_strips.asarray())
