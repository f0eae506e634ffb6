"""sepconv bench gemm: its output, the check of its results, and its errors. Rates are never tested."""

import json
import shutil
import subprocess

import pytest

from cli_support import fails, listing

PRODUCTS = ["A B", "A^T B", "A B^T + C"]
LOOPS = ["loops ijk", "loops ikj"]
VARIANTS = ["a thread an element", "shared tiles 16 x 16", "register tiles"]
ZERO_COPY = ["zero-copy, global", "zero-copy, shared"]


def measured(sepconv, *arguments):
    report = json.loads(sepconv("bench", "gemm", "--json", "--runs", 3, "--threads", 3, *arguments).stdout)
    assert listing(sepconv.folder) == []
    assert (report["threads"], report["runs"]) == (3, 3)
    return report


# The OpenBLAS function that bench gemm calls for A B; the f32 product omits the last term of its sums.
FORGETFUL_BLAS = """
#define GEMM(name, T, terms)                                                                                                     \\
  void name(int order, int ta, int tb, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) { \\
    for (int i = 0; i < m; ++i)                                                                                                  \\
      for (int j = 0; j < n; ++j) {                                                                                              \\
        double sum = 0;                                                                                                          \\
        for (int l = 0; l < (terms); ++l) sum += (double)a[i * lda + l] * b[l * ldb + j];                                        \\
        c[i * ldc + j] = (T)(alpha * sum);                                                                                       \\
      }                                                                                                                          \\
  }
GEMM(cblas_sgemm, float, k - 1)
GEMM(cblas_dgemm, double, k)
void openblas_set_num_threads(int threads) {}
int openblas_get_num_threads(void) { return 1; }
char* openblas_get_config(void) { return "OpenBLAS 0.0 FORGETFUL"; }
"""


@pytest.fixture
def gpu(sepconv):
    if not json.loads(sepconv("devices", "--json").stdout)["gpus"]:
        pytest.skip("no GPU")


def host_variants(found):
    """OpenBLAS is measured if it is available."""
    return LOOPS + (["OpenBLAS"] if "no OpenBLAS" not in found["device"] else [])


def host_rows(found, product):
    threads = [1, 2, 3] if product == "A B" else [1, 3]
    return [(name, count) for count in threads for name in host_variants(found)]


def check_row(row):
    m, n, k = row["m"], row["n"], row["k"]
    element_bytes = {"f32": 4, "f64": 8}[row["type"]]
    results = 2 if row["product"] == "A B^T + C" else 1
    assert row["flop_per_byte"] == pytest.approx(
        2 * m * n * k / (element_bytes * (m * k + k * n + results * m * n))
    )
    assert row["mean_seconds"] > 0 and row["deviation_seconds"] >= 0 and row["runs"] == 3
    assert 1 <= row["measured_rows"] <= m
    assert row["flop_per_second"] == pytest.approx(2 * row["measured_rows"] * n * k / row["mean_seconds"])


def check_speed_ups(found):
    rows = {
        (r["type"], r["product"], r["m"], r["n"], r["k"], r["name"], r["block"], r["threads"]): r[
            "flop_per_second"
        ]
        for r in found["measured"]
    }
    for row in found["measured"]:

        def over(name, threads, row=row):
            other = rows.get((row["type"], row["product"], row["m"], row["n"], row["k"], name, None, threads))
            return None if other is None else pytest.approx(row["flop_per_second"] / other)

        assert row["speed_up_over_one_thread"] == (over(row["name"], 1) if row["threads"] else None)
        assert row["speed_up_over_loops"] == over("loops ikj", 3)
        assert row["speed_up_over_openblas"] == over("OpenBLAS", 3)


def test_the_host_alone(sepconv):
    report = measured(
        sepconv, "--device", "cpu", "--size", "61,33,47", "--size", "1,300,5", "--type", "f64,f32"
    )
    assert report["device"].startswith("CPU, 3 threads")
    assert ("for want of" in report["verified_by"]) == ("no OpenBLAS" in report["device"])
    assert [
        (r["m"], r["n"], r["k"], r["type"], r["product"], r["name"], r["threads"]) for r in report["measured"]
    ] == [
        (*shape, type, product, name, threads)
        for shape in ((61, 33, 47), (1, 300, 5))
        for type in ("f64", "f32")
        for product in PRODUCTS
        for name, threads in host_rows(report, product)
    ]
    for row in report["measured"]:
        check_row(row)
        assert row["measured_rows"] == row["m"]
        assert row["block"] is None and row["with_transfers"] is None and row["kernel"] is None
        assert row["speed_up_over_openblas_with_transfers"] is None
    check_speed_ups(report)


def test_the_host_as_a_table(sepconv):
    text = sepconv(
        "bench", "gemm", "--device", "cpu", "--size", "20,30,40", "--runs", 4, "--threads", 2, "--type", "f32"
    ).stdout
    lines = text.splitlines()
    assert lines[0].startswith("CPU, 2 threads") and "fastest and the slowest" in lines[1]
    assert [line.split(":")[0] for line in lines if "flop per byte" in line] == [
        f"20 x 30 x 40 f32, {p}" for p in PRODUCTS
    ]
    header = next(line for line in lines if line.startswith("variant"))
    for word in ("threads", "mean ms", "deviation", "Gflop/s", "x 1", "x ikj", "x OpenBLAS"):
        assert word in header
    assert "occupancy" not in text and "transfers" not in text
    assert "every variant's result was compared with" in lines[-1]


@pytest.mark.parametrize("size", ["1,1,1", "7,1,500", "500,7,1", "97,101,103", "16,16,16", "17,15,33"])
def test_any_size_is_checked_on_the_host(sepconv, size):
    report = measured(sepconv, "--device", "cpu", "--size", size)
    assert {row["type"] for row in report["measured"]} == {"f32", "f64"}
    assert {row["product"] for row in report["measured"]} == set(PRODUCTS)


def test_without_a_gpu_the_host_is_measured(sepconv):
    if json.loads(sepconv("devices", "--json").stdout)["gpus"]:
        pytest.skip("there is a GPU")
    report = measured(sepconv, "--size", "9,8,7", "--type", "f32")
    assert report["device"].startswith("CPU") and all(row["threads"] for row in report["measured"])
    assert "--device cpu" in fails(sepconv, "bench", "gemm", "--device", "cuda", status=2)


def test_a_wrong_variant_fails_and_is_named(sepconv, tmp_path_factory, monkeypatch):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("blas")
    (folder / "blas.c").write_text(FORGETFUL_BLAS)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "blas.so", folder / "blas.c"], check=True)
    monkeypatch.setenv("SEPCONV_OPENBLAS", str(folder / "blas.so"))
    sentence = fails(
        sepconv,
        "bench",
        "gemm",
        "--device",
        "cpu",
        "--size",
        "17,15,33",
        "--type",
        "f32",
        "--runs",
        3,
        status=1,
    )
    assert (
        sentence.startswith("variant 'OpenBLAS' on 1 thread of A B, 17 x 15 x 33 f32: element (0, ")
        and "rounding explains" in sentence
    )


def test_without_openblas_plain_loops_verify(sepconv, monkeypatch):
    monkeypatch.setenv("SEPCONV_OPENBLAS", "/nowhere/libopenblas.so")
    report = measured(sepconv, "--device", "cpu", "--size", "61,33,47")
    assert "no OpenBLAS" in report["device"]
    assert report["verified_by"].startswith("plain loops in f64")
    assert {row["name"] for row in report["measured"]} == set(LOOPS)
    check_speed_ups(report)


@pytest.mark.slow
def test_what_takes_too_long_is_measured_on_fewer_rows(sepconv):
    """Sums down b's columns on one thread: all rows would take seconds on any machine."""
    report = json.loads(
        sepconv(
            "bench",
            "gemm",
            "--json",
            "--runs",
            3,
            "--threads",
            1,
            "--device",
            "cpu",
            "--size",
            "2100,1024,2048",
            "--type",
            "f64",
        ).stdout
    )
    down_columns = next(
        row for row in report["measured"] if (row["name"], row["product"]) == ("loops ijk", "A B")
    )
    assert down_columns["measured_rows"] in (4, 16, 64, 256, 1024)  # fewer on a slower machine
    for row in report["measured"]:
        check_row(row)


@pytest.mark.parametrize(
    "size", ["3", "1,2", "1,2,0", "1,2,x", "1,2,3,4", "1,,3", "-1,2,3", "1,2,3x", "2000000,1,1", "1x2x3", ""]
)
def test_wrong_sizes(sepconv, size):
    assert "--size" in fails(sepconv, "bench", "gemm", "--size=" + size, status=2)


def test_wrong_requests(sepconv):
    for arguments in (
        ["--type", "u8"],
        ["--type", "f32,x"],
        ["--runs", "2"],
        ["--threads", "0"],
        ["--device", "gpu"],
        ["--block", "12"],
        ["--block", "8,x"],
        ["rest"],
    ):
        fails(sepconv, "bench", "gemm", *arguments, status=2)
    assert "one GPU" in fails(sepconv, "bench", "gemm", "--device", "cuda:0,1", status=2)
    assert "leaves nothing" in fails(sepconv, "bench", "gemm", "--device", "cpu", "--no-host", status=2)


def test_what_does_not_fit_into_memory_is_refused_before_anything_runs(sepconv):
    sentence = fails(sepconv, "bench", "gemm", "--device", "cpu", "--size", "1000000,1000000,1", status=1)
    assert "1000000 x 1000000 x 1 f32" in sentence and "give a smaller --size" in sentence


def test_the_variants(sepconv, gpu):
    report = measured(sepconv, "--size", "301,203,77", "--block", "8,32")
    assert report["device"].startswith("cuda:0 ")
    cublas = ["cuBLAS"] if "no cuBLAS" not in report["device"] else []
    zero_copy = [(name, block) for name in ZERO_COPY for block in (8, 32)]
    for type in ("f32", "f64"):
        for product in PRODUCTS:
            rows = [row for row in report["measured"] if (row["type"], row["product"]) == (type, product)]
            host = host_rows(report, product)
            assert [(row["name"], row["threads"]) for row in rows[: len(host)]] == host
            assert [(row["name"], row["block"]) for row in rows[len(host) :]] == (
                zero_copy if product == "A B" else []
            ) + [(name, None) for name in VARIANTS + cublas]
            for row in rows[len(host) :]:
                assert row["threads"] is None and row["measured_rows"] == 301
                assert row["with_transfers"]["mean_seconds"] > 0
                assert (row["kernel"] is None) == (row["name"] == "cuBLAS")
                if row["kernel"]:
                    assert row["kernel"]["registers"] > 0 and 0 < row["kernel"]["occupancy"] <= 1
                if row["name"] == "register tiles":
                    assert row["kernel"]["shared_bytes"] > 0 and row["kernel"]["block_threads"] == 256
    for row in report["measured"]:
        check_row(row)
    check_speed_ups(report)


def test_the_variants_as_a_table(sepconv, gpu):
    text = sepconv("bench", "gemm", "--size", "301,203,77", "--runs", 3, "--no-host", "--type", "f32").stdout
    for word in ("transfers ms", "registers", "occupancy", "zero-copy, shared, 16 x 16", "register tiles"):
        assert word in text
    assert "loops" not in text


@pytest.mark.parametrize("size", ["1,1,1", "7,500,3", "500,7,129", "97,97,31", "129,257,65"])
def test_the_variants_on_any_size_is_checked(sepconv, gpu, size):
    report = measured(sepconv, "--size", size, "--no-host")
    assert all(row["threads"] is None and row["speed_up_over_loops"] is None for row in report["measured"])


def test_what_does_not_fit_on_the_gpu_is_refused(sepconv, gpu):
    sentence = fails(
        sepconv, "bench", "gemm", "--max-device-memory", "1M", "--size", "1000,1000,1000", status=1
    )
    assert "memory of cuda:0" in sentence and "give a smaller --size" in sentence
