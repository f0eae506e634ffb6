"""sepconv gemm compared with NumPy."""

import json

import numpy as np
import pytest
import tifffile
from cli_support import fails, listing

M, N, K = 150, 210, 330
CUTS = [
    [],
    ["--max-memory", "17M", "--threads", 2],
    ["--band-rows", 64, "--band-cols", 100, "--threads", 1],
    ["--slots", 1, "--band-rows", 149],
]


@pytest.fixture(scope="session")
def blas():
    ctypes = pytest.importorskip("ctypes")
    try:
        ctypes.CDLL("libopenblas.so.0")
    except OSError:
        pytest.skip("OpenBLAS is not installed")


pytestmark = pytest.mark.usefixtures("blas")


def matrix(rows, cols, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, cols)).astype(dtype)


def tolerance(dtype):
    return {"rtol": 0, "atol": 64 * K * np.finfo(dtype).eps}


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: " ".join(map(str, cut)) or "default")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_transposition(sepconv, dtype, cut):
    a, b, c = matrix(M, K, dtype, 1), matrix(K, N, dtype, 2), matrix(M, N, dtype, 3)
    np.save(sepconv.folder / "c.npy", c)
    for trans_a in (False, True):
        for trans_b in (False, True):
            np.save(sepconv.folder / "a.npy", np.ascontiguousarray(a.T) if trans_a else a)
            np.save(sepconv.folder / "b.npy", np.ascontiguousarray(b.T) if trans_b else b)
            flags = ["--trans-a"] * trans_a + ["--trans-b"] * trans_b
            sepconv(
                "gemm", "a.npy", "b.npy", "out.npy", *flags, *cut, "--device", "cpu", "--force", "--quiet"
            )
            out = np.load(sepconv.folder / "out.npy")
            assert out.dtype == dtype
            np.testing.assert_allclose(out, a @ b, **tolerance(dtype))
            sepconv(
                "gemm",
                "a.npy",
                "b.npy",
                "out.npy",
                *flags,
                *cut,
                "--c",
                "c.npy",
                "--alpha",
                -2,
                "--beta",
                0.5,
                "--force",
                "--quiet",
            )
            np.testing.assert_allclose(
                np.load(sepconv.folder / "out.npy"), -2 * (a @ b) + 0.5 * c, **tolerance(dtype)
            )


def test_what_is_added_counts_once_unless_beta_says_otherwise(sepconv):
    a, b, c = matrix(5, 4, seed=1), matrix(3, 4, seed=2), matrix(5, 3, seed=3)
    for name, values in [("a", a), ("b", b), ("c", c)]:
        np.save(sepconv.folder / f"{name}.npy", values)
    sepconv("gemm", "a.npy", "b.npy", "d.npy", "--trans-b", "--c", "c.npy", "--quiet")
    np.testing.assert_allclose(np.load(sepconv.folder / "d.npy"), a @ b.T + c, **tolerance(np.float64))


@pytest.mark.parametrize(
    "layout",
    [{}, {"tile": (64, 48)}, {"compression": "zlib", "rowsperstrip": 7}],
    ids=["strips", "tiles", "deflate"],
)
def test_tiff_and_raw(sepconv, layout):
    a, b = matrix(M, K, np.float32, 1), matrix(K, N, np.float32, 2)
    tifffile.imwrite(sepconv.folder / "a.tif", a, photometric="minisblack", **layout)
    b.tofile(sepconv.folder / "b.raw")
    for options in (
        [],
        ["--tile", 48],
        ["--compress", "deflate", "--no-predictor"],
        ["--band-cols", 64, "--tile", 64],
    ):
        sepconv(
            "gemm",
            "a.tif",
            "b.raw",
            "--raw-b",
            f"{N}x{K}:f32",
            "out.tif",
            *options,
            "--max-memory",
            "32M",
            "--force",
            "--quiet",
        )
        np.testing.assert_allclose(
            tifffile.imread(sepconv.folder / "out.tif"), a @ b, **tolerance(np.float32)
        )


def test_the_plan_states_the_volume_beside_the_least_possible(sepconv):
    np.save(sepconv.folder / "a.npy", matrix(2000, 1800))
    np.save(sepconv.folder / "b.npy", matrix(1800, 1900))
    before = listing(sepconv.folder)
    text = sepconv(
        "gemm", "a.npy", "b.npy", "out.npy", "--dry-run", "--max-memory", "24M", "--threads", 1
    ).stdout
    assert listing(sepconv.folder) == before
    assert "A B: 2000 x 1900, sums of 1800 terms of f64" in text
    assert "with this memory no order of work moves less than" in text
    roomy = sepconv("gemm", "a.npy", "b.npy", "out.npy", "--dry-run", "--max-memory", "1G").stdout
    assert f"{(2000 * 1800 + 1800 * 1900) * 8 / 2**20:.1f} MiB" in roomy


def test_side_files(sepconv):
    np.save(sepconv.folder / "a.npy", matrix(M, K))
    np.save(sepconv.folder / "b.npy", matrix(K, N))
    process = sepconv(
        "gemm",
        "a.npy",
        "b.npy",
        "out.npy",
        "--trace",
        "trace.json",
        "--stats",
        "stats.json",
        "--report",
        "report.txt",
        "--device",
        "cpu",
    )
    assert "GFLOP/s" in process.stderr
    tracks = {
        event["args"]["name"]
        for event in json.loads((sepconv.folder / "trace.json").read_text())["traceEvents"]
        if event["ph"] == "M"
    }
    assert {"read", "compute", "write"} <= tracks
    stats = json.loads((sepconv.folder / "stats.json").read_text())
    assert (stats["plan"]["m"], stats["plan"]["n"], stats["plan"]["k"]) == (M, N, K)
    assert stats["plan"]["bytes_read"] == (M * K + K * N) * 8
    assert "GFLOP/s" in (sepconv.folder / "report.txt").read_text()


def test_nan_and_infinity_reach_what_they_meet(sepconv):
    a, b = matrix(20, 30, seed=1), matrix(30, 10, seed=2)
    a[3, 4], b[7, 2] = np.nan, np.inf
    np.save(sepconv.folder / "a.npy", a)
    np.save(sepconv.folder / "b.npy", b)
    np.save(sepconv.folder / "c.npy", np.full((20, 10), np.nan))
    with np.errstate(invalid="ignore"):
        expected = a @ b
    sepconv("gemm", "a.npy", "b.npy", "out.npy", "--quiet")
    np.testing.assert_allclose(np.load(sepconv.folder / "out.npy"), expected, **tolerance(np.float64))
    sepconv(
        "gemm", "a.npy", "b.npy", "out.npy", "--quiet", "--force", "--c", "c.npy", "--beta", 0
    )  # not read, as in BLAS
    np.testing.assert_allclose(np.load(sepconv.folder / "out.npy"), expected, **tolerance(np.float64))


def test_errors(sepconv):
    np.save(sepconv.folder / "a.npy", matrix(4, 5))
    np.save(sepconv.folder / "b.npy", matrix(5, 6))
    np.save(sepconv.folder / "f32.npy", matrix(5, 6, np.float32))
    np.save(sepconv.folder / "u8.npy", np.zeros((5, 6), np.uint8))
    np.save(sepconv.folder / "cube.npy", np.zeros((5, 6, 3)))

    def says(*arguments):
        return fails(sepconv, "gemm", *arguments, status=2)

    assert "A is 4 x 5 and B is 4 x 5" in says("a.npy", "a.npy", "out.npy")
    assert "A is 4 x 5, transposed" in says("a.npy", "b.npy", "out.npy", "--trans-a")
    assert "A is of f64 but B of f32" in says("a.npy", "f32.npy", "out.npy")
    assert "B is of u8" in says("a.npy", "u8.npy", "out.npy")
    assert "B has 3 channels" in says("a.npy", "cube.npy", "out.npy")
    assert "product of A and B is 4 x 6" in says("a.npy", "b.npy", "out.npy", "--c", "a.npy")
    assert "--beta multiplies the matrix of --c" in says("a.npy", "b.npy", "out.npy", "--beta", 2)
    assert "a.npy is both input and output" in says("a.npy", "b.npy", "a.npy", "--force")
    assert "this file is the matrix B" in says("a.npy", "b.npy", "out.npy", "--report", "b.npy", "--force")
    sentence = fails(
        sepconv, "gemm", "a.npy", "b.npy", "out.npy", "--max-memory", "64K", "--device", "cpu", status=1
    )
    assert "the smallest ceiling for this product is" in sentence and "--max-memory to" in sentence
    assert "missing.npy" in fails(sepconv, "gemm", "a.npy", "missing.npy", "out.npy", status=1)


def test_without_openblas_the_sentence_says_what_to_install(sepconv, monkeypatch):
    np.save(sepconv.folder / "a.npy", matrix(4, 4))
    monkeypatch.setenv("SEPCONV_OPENBLAS", "/nowhere/libopenblas.so")
    sentence = fails(sepconv, "gemm", "a.npy", "a.npy", "out.npy", "--device", "cpu", status=2)
    assert "OpenBLAS" in sentence and "install libopenblas0" in sentence
    sepconv("run", "a.npy", "copy.npy", "--quiet")  # everything else works without it
