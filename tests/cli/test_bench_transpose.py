"""sepconv bench transpose: its output, the check of its results, and its errors. Rates are never tested."""

import json

import pytest

from cli_support import fails, listing

PERMUTATIONS = ["0,1,2", "0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0"]
MATRIX_VARIANTS = [
    "one thread",
    "a thread a row",
    "a thread an element",
    "copy",
    "copy, shared",
    "tiled 32 x 32",
    "tiled 32 x 32, padded",
    "tiled 16 x 16",
    "tiled 16 x 16, padded",
    "coalesced",
    "coalesced, padded",
    "ours",
]
TENSOR_VARIANTS = [
    "copy",
    "copy, shared",
    "simple",
    "simple, template",
    "shared",
    "shared, template",
    "conflict-free",
]
TILES_2D = ["2-D tile 32 x 32", "2-D tile 8 x 8"]
HOST_VARIANTS = [("copy", 3), ("loop", 1), ("loop", 3)]


def measured(sepconv, *arguments):
    report = json.loads(
        sepconv("bench", "transpose", "--json", "--runs", 3, "--threads", 3, *arguments).stdout
    )
    assert listing(sepconv.folder) == []
    assert (report["threads"], report["runs"]) == (3, 3)
    return report


@pytest.fixture
def gpu(sepconv):
    if not json.loads(sepconv("devices", "--json").stdout)["gpus"]:
        pytest.skip("no GPU")


def check_row(row):
    bytes_moved = 2 * {"u8": 1, "u16": 2, "f32": 4, "f64": 8}[row["type"]]
    for length in row["measured_shape"]:
        bytes_moved *= length
    assert row["mean_seconds"] > 0 and row["deviation_seconds"] >= 0 and row["runs"] == 3
    assert row["bytes_per_second"] == pytest.approx(bytes_moved / row["mean_seconds"])
    assert row["share_of_copy"] == pytest.approx(row["bytes_per_second"] / row["copy_limit_bytes_per_second"])


def of(rows, shape, permutation):
    return [row for row in rows if row["shape"] == shape and row["permutation"] == permutation]


def test_the_host_alone(sepconv):
    report = measured(
        sepconv, "--device", "cpu", "--size", "301x203", "--size3", "13,29,31", "--type", "f64,u8"
    )
    assert report["device"].startswith("CPU") and report["copies"] == []
    jobs = [([203, 301], "1,0"), *(([13, 29, 31], p) for p in PERMUTATIONS)]
    variants = [*HOST_VARIANTS, ("ours", 1), ("ours", 2), ("ours", 3)]
    assert [
        (r["type"], r["shape"], r["permutation"], r["name"], r["threads"]) for r in report["measured"]
    ] == [
        (t, shape, p, name, threads) for t in ("f64", "u8") for shape, p in jobs for name, threads in variants
    ]
    for row in report["measured"]:
        check_row(row)
        loop = next(
            other
            for other in report["measured"]
            if other["name"] == "loop"
            and other["threads"] == 1
            and all(other[key] == row[key] for key in ("type", "shape", "permutation"))
        )
        assert row["speed_up_over_loop"] == pytest.approx(row["bytes_per_second"] / loop["bytes_per_second"])
        assert row["speed_up_with_copies"] is None and row["measured_shape"] == row["shape"]


def test_the_host_as_a_table(sepconv):
    text = sepconv(
        "bench",
        "transpose",
        "--device",
        "cpu",
        "--size",
        "97x31",
        "--size3",
        "5,6,7",
        "--perm",
        "2,0,1",
        "--perm",
        "0,2,1",
        "--runs",
        4,
        "--threads",
        2,
    ).stdout
    lines = text.splitlines()
    assert "CPU, 2 threads" in lines[0] and "fastest and the slowest" in lines[1]
    assert "97 x 31 f32" in lines and "5 x 6 x 7 f32 by 2,0,1" in lines and "5 x 6 x 7 f32 by 0,2,1" in lines
    header = lines[lines.index("97 x 31 f32") + 1]
    for word in ("variant", "threads", "mean ms", "deviation", "GB/s", "of copy", "x loop"):
        assert word in header
    overview = lines[lines.index("5 x 6 x 7 f32, GB/s") + 1]
    assert overview.split() == ["variant", "threads", "2,0,1", "0,2,1"]
    assert "of two axes" not in text


@pytest.mark.parametrize("left_out, shapes", [("--no-2d", {3}), ("--no-3d", {2})])
def test_one_of_the_two(sepconv, left_out, shapes):
    report = measured(sepconv, "--device", "cpu", "--size", "9x8", "--size3", "4,5,6", left_out)
    assert {len(row["shape"]) for row in report["measured"]} == shapes


@pytest.mark.parametrize(
    "size, size3", [("1x1", "1,1,1"), ("500x3", "1,7,300"), ("3x500", "300,1,2"), ("97x97", "2,33,1")]
)
def test_any_size_is_checked_on_the_host(sepconv, size, size3):
    assert measured(sepconv, "--device", "cpu", "--size", size, "--size3", size3, "--type", "u16")["measured"]


def test_bank_conflicts_need_no_gpu(sepconv):
    report = json.loads(sepconv("bench", "transpose", "--conflicts", "--json").stdout)
    assert report["tile"] == [8, 8, 8] and report["element_bytes"] == 4
    rows = {row["permutation"]: row for row in report["permutations"]}
    assert list(rows) == PERMUTATIONS
    assert rows["0,1,2"]["read_conflicts"] == rows["0,1,2"]["write_conflicts"] == 0
    assert rows["0,1,2"]["tile_without_conflicts"] == [8, 8, 8]
    for name, row in rows.items():
        assert row["write_conflicts"] == 0
        assert (row["read_conflicts"] > 0) == (name != "0,1,2")


def test_bank_conflicts_of_a_matrix_tile(sepconv):
    arguments = ["bench", "transpose", "--conflicts", "--tile", "1,32,32", "--perm", "0,2,1"]
    [row] = json.loads(sepconv(*arguments, "--json").stdout)["permutations"]
    assert (row["write_conflicts"], row["read_conflicts"]) == (0, 31)
    assert row["tile_without_read_conflicts"] == row["tile_without_conflicts"] == [1, 32, 33]
    assert row["its_write_conflicts"] == 0
    lines = sepconv(*arguments).stdout.splitlines()
    assert lines[-1].split()[:4] == ["0,2,1", "0.00", "31.00", "1,32,33"]
    [wide] = json.loads(sepconv(*arguments, "--json", "--element-bytes", 8).stdout)["permutations"]
    assert wide["read_conflicts"] > 0


@pytest.mark.parametrize("device", [[], ["--device", "auto"], ["--device", "cuda"]])
def test_without_a_gpu_there_is_no_variants(sepconv, device):
    if json.loads(sepconv("devices", "--json").stdout)["gpus"]:
        pytest.skip("there is a GPU")
    assert "--device cpu" in fails(sepconv, "bench", "transpose", *device, status=2)


def test_wrong_requests(sepconv):
    for arguments in (
        ["--size", "3"],
        ["--size", "0x5"],
        ["--size3", "1,2"],
        ["--size3", "1,2,0"],
        ["--size3", "1,2,x"],
        ["--perm", "0,1,1"],
        ["--perm", "3,1,0"],
        ["--type", "f16"],
        ["--type", "f32,x"],
        ["--runs", "2"],
        ["--threads", "0"],
        ["--device", "gpu"],
        ["--tile", "8,8,8"],
        ["--element-bytes", "4"],
        ["--conflicts", "--tile", "8,8"],
        ["--conflicts", "--tile", "0,8,8"],
        ["--conflicts", "--element-bytes", "3"],
        ["--conflicts", "--tile", "64,64,64"],
    ):
        fails(sepconv, "bench", "transpose", *arguments, status=2)
    assert "one GPU" in fails(sepconv, "bench", "transpose", "--device", "cuda:0,1", status=2)


def test_what_does_not_fit_into_memory_is_refused_before_anything_runs(sepconv):
    sentence = fails(sepconv, "bench", "transpose", "--device", "cpu", "--size", "2000000x2000000", status=1)
    assert "give a smaller --size" in sentence
    sentence = fails(
        sepconv, "bench", "transpose", "--device", "cpu", "--no-2d", "--size3", "100000,10000,10000", status=1
    )
    assert "give a smaller --size3" in sentence
    fails(
        sepconv,
        "bench",
        "transpose",
        "--device",
        "cpu",
        "--no-2d",
        "--size3",
        "2000000000,2000000000,2000000000",
        status=1,
    )


def test_the_variants(sepconv, gpu):
    report = measured(sepconv, "--size", "301x703", "--size3", "13,29,31")
    assert report["device"].startswith("cuda:0 ")
    rows = report["measured"]
    host = [*HOST_VARIANTS, ("ours", 3)]
    matrix = of(rows, [703, 301], "1,0")
    assert [(row["name"], row["threads"]) for row in matrix] == host + [
        (name, None) for name in MATRIX_VARIANTS
    ]
    for permutation in PERMUTATIONS:
        names = TENSOR_VARIANTS + (TILES_2D if permutation[-1] != "2" else []) + ["ours"]
        tensor = of(rows, [13, 29, 31], permutation)
        assert [(row["name"], row["threads"]) for row in tensor] == host + [(name, None) for name in names]
    for row in rows:
        check_row(row)
        assert row["measured_shape"] == ([512, 301] if row["name"] == "one thread" else row["shape"])
        assert row["speed_up_over_loop"] > 0
        whole_on_gpu = row["threads"] is None and row["name"] != "one thread"
        assert (row["speed_up_with_copies"] is not None) == whole_on_gpu
    assert [(c["shape"], c["permutation"]) for c in report["copies"]] == [
        ([703, 301], "1,0"),
        *(([13, 29, 31], p) for p in PERMUTATIONS),
    ]


def test_the_ladders_as_tables(sepconv, gpu):
    text = sepconv(
        "bench", "transpose", "--size", "301x703", "--size3", "13,29,31", "--runs", 3, "--no-cpu"
    ).stdout
    assert "of 301 x 512" in text and "page-locked" in text and "tiles of two axes" in text
    assert "element by element" in text.splitlines()[-1]


@pytest.mark.parametrize(
    "size, size3", [("1x1", "1,1,1"), ("500x3", "1,7,300"), ("3x500", "300,1,2"), ("97x97", "33,2,65")]
)
@pytest.mark.parametrize("type", ["u8", "u16", "f64"])
def test_the_ladders_on_any_size_are_checked(sepconv, gpu, size, size3, type):
    report = measured(sepconv, "--size", size, "--size3", size3, "--type", type, "--no-cpu")
    assert len(report["measured"]) == len(MATRIX_VARIANTS) + 6 * (len(TENSOR_VARIANTS) + 1) + 4 * len(
        TILES_2D
    )
    assert all(row["speed_up_over_loop"] is None for row in report["measured"])


def test_what_does_not_fit_on_the_gpu_is_refused(sepconv, gpu):
    arguments = ["bench", "transpose", "--max-device-memory", "1M"]
    assert "give a smaller --size," in fails(sepconv, *arguments, "--size", "1000x1000", status=1)
    assert "give a smaller --size3" in fails(
        sepconv, *arguments, "--size", "10x10", "--size3", "100,100,100", status=1
    )
    assert "elements that the kernels count" in fails(sepconv, *arguments, "--size", "65536x65536", status=2)
