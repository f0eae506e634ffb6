"""--max-memory limits the peak resident set of the program for much larger images; values are checked in
windows."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
import scipy.ndimage as ndi

from conftest import BINARY

pytestmark = pytest.mark.slow

MIB = 1 << 20
CEILING = 256 * MIB
PROGRAM = 48 * MIB  # code, libraries, stacks, allocator
FREE_DISK = 30 << 30

TILES, STRIPS = ["--tile", 512], ["--tile", 0]
SIGMA, RADIUS = 2.0, 8
STAGE = f"gaussian:sigma={SIGMA}"


def temporary_folder(path):
    """A folder that is removed as soon as its tests end; pytest would keep those of the last three runs."""
    if shutil.disk_usage(path).free < FREE_DISK:
        pytest.skip(f"less than {FREE_DISK >> 30} GiB of disk are free")
    yield path
    shutil.rmtree(path)


@pytest.fixture
def folder(tmp_path):
    yield from temporary_folder(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """For files that several tests use: writing them takes as long as filtering."""
    yield from temporary_folder(tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="module")
def large(shared):
    """More than 2^32 elements in a pattern without repetition, so that a misplaced window is detected."""
    run_under_ceiling(
        shared, "generate", "large.tif", "--size", "65536x65537", "--pattern", "natural", *TILES
    )
    return shared / "large.tif"


TENSOR = (700, 1030, 900)  # 2.6 GB of f32


@pytest.fixture(scope="module")
def tensor(shared):
    flat, path = shared / "flat.npy", shared / "tensor.npy"
    run_under_ceiling(
        shared,
        "generate",
        flat,
        "--size",
        f"{TENSOR[2]}x{TENSOR[0] * TENSOR[1]}",
        "--type",
        "f32",
        "--pattern",
        "natural",
    )
    array = np.lib.format.open_memmap(path, "w+", np.float32, TENSOR)
    array.reshape(-1, TENSOR[2])[:] = np.load(flat, mmap_mode="r")
    flat.unlink()
    return path


# Starts the program from a small process: Linux counts the peak of the process that calls exec for the new
# program, and the tests map much memory.
PRINT_PEAK = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run_under_ceiling(folder, *arguments):
    """Runs sepconv with --max-memory and checks its peak as measured by the kernel."""
    command = [str(BINARY), *map(str, arguments), "--max-memory", str(CEILING), "--quiet"]
    run = subprocess.run(
        [sys.executable, "-S", "-c", PRINT_PEAK, *command], cwd=folder, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    peak = int(run.stdout.splitlines()[-1])
    assert peak <= CEILING + PROGRAM, f"{peak / MIB:.0f} MiB: {' '.join(command)}"


def read_window(folder, path, row, col, rows, cols):
    """A window of a large file, extracted by the library's example program."""
    detail = BINARY.with_name("example_detail")
    subprocess.run([detail, path, "window.npy", *map(str, (row, col, rows, cols))], cwd=folder, check=True)
    return np.load(folder / "window.npy")


def window_starts(size, length):
    """Positions at both edges, at a third, and across the middle: row 32768 of a 65536 wide image is element
    2^31."""
    starts = {0, size // 3, size // 2 - length // 2, size - length}
    return sorted({start for start in starts if 0 <= start <= size - length})


def check_windows(folder, source, result, rows, cols):
    """Compares windows of the result with SciPy on the source's windows, extended so that the window's own
    border has no effect."""
    height, width = min(rows, 40), min(cols, 56)
    for row in window_starts(rows, height):
        for col in window_starts(cols, width):
            top, left = max(0, row - RADIUS), max(0, col - RADIUS)
            bottom, right = min(rows, row + height + RADIUS), min(cols, col + width + RADIUS)
            values = read_window(folder, source, top, left, bottom - top, right - left).astype(np.float64)
            # If the window ends at the image's edge, mirroring the window equals mirroring the image.
            expected = ndi.gaussian_filter(values, SIGMA, mode="mirror")[row - top :, col - left :][
                :height, :width
            ]
            actual = read_window(folder, result, row, col, height, width)
            if actual.dtype == np.uint8:
                assert np.abs(actual - expected).max() <= 0.501
            else:
                np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "rows, cols, pixel_type, layout, compress",
    [
        pytest.param(65536, 65536, "u8", TILES, "lzw", id="65536x65536 lzw"),
        pytest.param(1100, 1_000_000, "f32", TILES, "none", id="1000000x1100"),
        pytest.param(700, 1_000_000, "f32", TILES, "zstd", id="1000000x700 zstd"),
        pytest.param(1_000_000, 3, "f32", STRIPS, "none", id="3x1000000"),
        pytest.param(1_000_000, 3, "f32", STRIPS, "deflate", id="3x1000000 deflate"),
    ],
)
def test_ceiling_holds(folder, rows, cols, pixel_type, layout, compress):
    layout = [*layout, "--compress", compress]
    # The natural pattern does not repeat, so a misplaced window is detected; a checkerboard compresses
    # faster.
    pattern = "natural" if compress == "none" else "checkerboard"
    size = ["--size", f"{cols}x{rows}", "--type", pixel_type, "--pattern", pattern]
    run_under_ceiling(folder, "generate", "source.tif", *size, *layout)
    run_under_ceiling(folder, "run", "source.tif", "result.tif", STAGE, *layout)
    check_windows(folder, "source.tif", "result.tif", rows, cols)


def test_two_plans_give_the_same_image(folder, large):
    """More than 2^32 elements, filtered under two plans without common edges, and compared."""
    run_under_ceiling(folder, "run", large, "one.tif", STAGE)
    check_windows(folder, large, "one.tif", 65537, 65536)
    run_under_ceiling(
        folder, "run", large, "two.tif", STAGE, "--band-rows", 1536, "--threads", 1, "--slots", 1
    )
    run_under_ceiling(folder, "compare", "one.tif", "two.tif")


@pytest.mark.parametrize("result", ["turned.npy", "turned.tif"])
def test_transpose_of_a_large_image(folder, large, result):
    """More than 2^32 elements, transposed in blocks and back."""
    run_under_ceiling(folder, "transpose", large, result)
    run_under_ceiling(folder, "run", result, "back.npy", "transpose")
    run_under_ceiling(folder, "compare", large, "back.npy")
    transposed_window = read_window(folder, result, 40000, 65500, 30, 37)
    np.testing.assert_array_equal(transposed_window, read_window(folder, large, 65500, 40000, 37, 30).T)


@pytest.mark.parametrize("permutation", ["0,1,2", "0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0"])
def test_permutations_of_a_large_tensor(folder, tensor, permutation):
    axes = [int(axis) for axis in permutation.split(",")]
    run_under_ceiling(folder, "transpose", tensor, "out.npy", "--perm", permutation)
    result = np.load(folder / "out.npy", mmap_mode="r")
    expected = np.load(tensor, mmap_mode="r").transpose(axes)
    assert result.shape == expected.shape
    for index in window_starts(expected.shape[0], 1):
        np.testing.assert_array_equal(result[index], expected[index])
    if axes == [0, 1, 2]:
        there_and_back = "out.npy"
    else:
        run_under_ceiling(
            folder, "transpose", "out.npy", "back.npy", "--perm", ",".join(map(str, np.argsort(axes)))
        )
        there_and_back = "back.npy"
    run_under_ceiling(folder, "compare", tensor, there_and_back, "--axes", "yxc", "--axes-b", "yxc")


@pytest.mark.parametrize("permutation", ["2,0,1", "2,1,0"])
def test_permutations_of_a_large_tiff(folder, permutation):
    """Strips are decoded whole, also for a part: no band may decode all of them again."""
    rows, cols, channels = 16000, 20000, 3  # 0.96 GB
    run_under_ceiling(
        folder,
        "generate",
        "source.tif",
        "--size",
        f"{cols}x{rows}",
        "--channels",
        channels,
        "--tile",
        0,
        "--pattern",
        "natural",
    )
    run_under_ceiling(
        folder, "transpose", "source.tif", "out.npy", "--perm", permutation, "--stats", "stats.json"
    )
    assert json.loads((folder / "stats.json").read_text())["plan"]["bytes_read"] == rows * cols * channels
    axes = [int(axis) for axis in permutation.split(",")]
    result = np.load(folder / "out.npy", mmap_mode="r").transpose(np.argsort(axes))
    for row, col in [(0, 0), (rows - 40, cols - 56), (rows // 2, cols // 3)]:
        np.testing.assert_array_equal(
            result[row : row + 40, col : col + 56], read_window(folder, "source.tif", row, col, 40, 56)
        )


@pytest.mark.parametrize(
    "flags", [[], ["--trans-a"], ["--trans-b", "--c", "c.npy"]], ids=lambda flags: " ".join(flags) or "plain"
)
def test_product_of_matrices_larger_than_the_ceiling(folder, flags):
    """Integers below 256, whose sums in f64 are exact: every element must be equal."""
    m, n, k = 9000, 7000, 8000  # 576, 448 and 504 MB
    random = np.random.default_rng(3)

    def save(name, rows, cols):
        values = np.lib.format.open_memmap(folder / name, "w+", np.float64, (rows, cols))
        for row in range(0, rows, 500):
            values[row : row + 500] = random.integers(0, 256, (min(500, rows - row), cols))
        return values

    a = save("a.npy", *((k, m) if "--trans-a" in flags else (m, k)))
    b = save("b.npy", *((n, k) if "--trans-b" in flags else (k, n)))
    c = save("c.npy", m, n) if "--c" in flags else np.zeros((1, 1))
    run_under_ceiling(folder, "gemm", "a.npy", "b.npy", "out.npy", *flags)
    result = np.load(folder / "out.npy", mmap_mode="r")
    assert result.shape == (m, n)
    left, right = (a.T if "--trans-a" in flags else a), (b.T if "--trans-b" in flags else b)
    for row in window_starts(m, 20):
        expected = np.array(left[row : row + 20]) @ np.array(right) + (
            c[row : row + 20] if "--c" in flags else 0
        )
        np.testing.assert_array_equal(result[row : row + 20], expected)
