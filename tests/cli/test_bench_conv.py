"""sepconv bench conv: its output, the check of its results, and its errors. Rates are never tested."""

import json

import pytest

from cli_support import fails, listing

VARIANTS = [
    (1, "naive"),
    (2, "constant taps"),
    (3, "shared tile"),
    (4, "ours, two passes"),
    (5, "ours, fused"),
    (None, "cpu"),
]


def measured(sepconv, *arguments):
    report = json.loads(sepconv("bench", "conv", "--json", "--runs", 3, *arguments).stdout)
    assert listing(sepconv.folder) == []
    return report


@pytest.fixture
def gpu(sepconv):
    if not json.loads(sepconv("devices", "--json").stdout)["gpus"]:
        pytest.skip("no GPU")


def check_row(row, pixels, channels=1):
    element_bytes = {"u8": 1, "u16": 2, "i16": 2, "f32": 4, "f64": 8}[row["type"]] * channels
    assert row["mean_seconds"] > 0 and row["deviation_seconds"] >= 0
    assert row["pixels_per_second"] == pytest.approx(pixels / row["mean_seconds"])
    assert row["bytes_per_second"] == pytest.approx(2 * element_bytes * row["pixels_per_second"])
    assert row["share_of_copy"] == pytest.approx(row["bytes_per_second"] / row["copy_limit_bytes_per_second"])
    multiply_adds = 2 * (2 * row["radius"] + 1) * channels * row["pixels_per_second"]
    assert row["share_of_fma"] == pytest.approx(multiply_adds / row["fma_limit_per_second"])
    assert row["share_of_roofline"] == max(row["share_of_copy"], row["share_of_fma"])


def test_the_host_engine_alone(sepconv):
    report = measured(
        sepconv, "--device", "cpu", "--size", "301x203", "--radius", "2,40", "--type", "f64,f32"
    )
    assert (report["cols"], report["rows"], report["runs"]) == (301, 203, 3)
    assert report["device"].startswith("CPU") and report["copies"] == [] and report["tiled"] == []
    rows = report["measured"]
    assert [(row["type"], row["radius"], row["variant"]) for row in rows] == [
        (t, r, None) for t in ("f64", "f32") for r in (2, 40)
    ]
    for row in rows:
        check_row(row, 301 * 203)
        assert row["name"] == "cpu" and row["speed_up_over_naive"] is None and row["speed_up_over_cpu"] == 1


def test_the_host_engine_in_any_type_and_number_of_channels(sepconv):
    types = ["u8", "u16", "i16", "f32", "f64"]
    report = measured(
        sepconv,
        "--device",
        "cpu",
        "--size",
        "61x43",
        "--radius",
        "1,100",
        "--type",
        ",".join(types),
        "--channels",
        3,
    )
    assert report["channels"] == 3
    assert [(row["type"], row["radius"]) for row in report["measured"]] == [
        (t, r) for t in types for r in (1, 100)
    ]
    for row in report["measured"]:
        check_row(row, 61 * 43, 3)
    assert (
        "61 x 43 x 3 channels"
        in sepconv(
            "bench", "conv", "--device", "cpu", "--size", "61x43", "--radius", 1, "--channels", 3
        ).stdout
    )


def test_what_the_variants_does_not_take(sepconv, gpu):
    for arguments in (["--type", "u8"], ["--radius", "81"], ["--channels", "2"]):
        assert "give --device cpu" in fails(sepconv, "bench", "conv", *arguments, status=2)


def test_the_host_engine_as_a_table(sepconv):
    lines = sepconv(
        "bench", "conv", "--device", "cpu", "--size", "97x31", "--radius", 3, "--runs", 4
    ).stdout.splitlines()
    assert "97 x 31" in lines[0] and "of 4 runs" in lines[1] and "fastest and the slowest" in lines[1]
    header = next(line for line in lines if line.lstrip().startswith("type"))
    for word in (
        "radius",
        "variant",
        "mean ms",
        "deviation",
        "Gpix/s",
        "GB/s",
        "of copy",
        "of FMA",
        "x naive",
        "x CPU",
    ):
        assert word in header
    assert [line.split()[0] for line in lines if " cpu " in line] == ["f64", "f32"]
    assert not any("in bands" in line or "page-locked" in line for line in lines)


@pytest.mark.parametrize("device", [[], ["--device", "auto"], ["--device", "cuda"]])
def test_without_a_gpu_there_is_no_variants(sepconv, device):
    if json.loads(sepconv("devices", "--json").stdout)["gpus"]:
        pytest.skip("there is a GPU")
    sentence = fails(sepconv, "bench", "conv", *device, status=2)
    assert "--device cpu" in sentence


def test_wrong_requests(sepconv):
    for arguments in (
        ["--radius", "0"],
        ["--radius", "2,1001"],
        ["--radius", "x"],
        ["--channels", "0"],
        ["--type", "f32,f16"],
        ["--size", "3"],
        ["--tiled-size", "0x5"],
        ["--tiled-radius", "81"],
        ["--runs", "2"],
        ["--device", "gpu"],
        ["--threads", "0"],
    ):
        fails(sepconv, "bench", "conv", *arguments, status=2)
    assert "one GPU" in fails(sepconv, "bench", "conv", "--device", "cuda:0,1", status=2)


def test_the_variants(sepconv, gpu):
    report = measured(
        sepconv, "--size", "301x203", "--radius", "2,80", "--tiled-size", "257x403", "--tiled-radius", 9
    )
    assert report["device"].startswith("cuda:0 ")
    rows = report["measured"]
    assert [(row["type"], row["radius"], row["variant"], row["name"]) for row in rows] == [
        (t, r, variant, name) for t in ("f64", "f32") for r in (2, 80) for variant, name in VARIANTS
    ]
    for row in rows:
        check_row(row, 301 * 203)
        same = [other for other in rows if (other["type"], other["radius"]) == (row["type"], row["radius"])]
        assert row["speed_up_over_naive"] == pytest.approx(same[0]["mean_seconds"] / row["mean_seconds"])
        assert row["speed_up_over_cpu"] == pytest.approx(same[-1]["mean_seconds"] / row["mean_seconds"])
        assert (row["time_over_copies"] is None) == (row["variant"] is None)
    assert [(c["type"], c["radius"], c["page_locked"]) for c in report["copies"]] == [
        (t, r, locked) for t in ("f64", "f32") for r, locked in ((2, True), (80, True), (80, False))
    ]
    assert (report["tiled_cols"], report["tiled_rows"], report["tiled_radius"]) == (257, 403, 9)
    assert [(t["type"], t["name"], t["in_flight"]) for t in report["tiled"]] == [
        (t, name, n)
        for t in ("f64", "f32")
        for name, n in (
            ("the lab's bands", 1),
            ("the lab's bands", 2),
            ("sepconv run", 1),
            ("sepconv run", 3),
        )
    ]


@pytest.mark.parametrize("size", ["1x1", "7x500", "500x7", "97x97"])
def test_the_variants_on_any_size_is_checked(sepconv, gpu, size):
    report = measured(sepconv, "--size", size, "--radius", 30, "--no-cpu", "--tiled-size", size)
    assert len(report["measured"]) == 10 and all(
        row["speed_up_over_cpu"] is None for row in report["measured"]
    )


def test_what_does_not_fit_is_refused_before_anything_runs(sepconv, gpu):
    assert "give a smaller --size" in fails(
        sepconv, "bench", "conv", "--size", "1000x1000", "--max-device-memory", "1M", status=1
    )
    sentence = fails(
        sepconv,
        "bench",
        "conv",
        "--size",
        "10x10",
        "--tiled-size",
        "2000x2000",
        "--max-device-memory",
        "1M",
        status=1,
    )
    assert "--no-tiled" in sentence
