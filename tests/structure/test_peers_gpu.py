"""tests/peers/gpu/conv.py without a GPU: its options and messages, and all other code on a fake GPU that uses
SciPy."""

import json
import pathlib
import subprocess
import sys

import pytest

from conftest import BINARY

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "peers/gpu"
sys.path[:0] = [str(FOLDER), str(pathlib.Path(__file__).resolve().parent)]
import conv  # noqa: E402
import fake_gpu  # noqa: E402
import gpu_case  # noqa: E402
import gpu_library  # noqa: E402
import gpu_peers  # noqa: E402

LIBRARY = BINARY.parent / gpu_library.NAME


def run(*arguments):
    return subprocess.run(
        [sys.executable, FOLDER / "conv.py", *map(str, arguments)], capture_output=True, text=True
    )


def test_help():
    process = run("--help")
    assert process.returncode == 0 and "--sweep" in process.stdout and "77: no GPU" in process.stdout


@pytest.mark.parametrize(
    "option", ["--radius=0", "--radius=x", "--size=5", "--type=u7", "--peers=nobody", "--border=wrap"]
)
def test_bad_options_are_refused(option):
    process = run(option)
    assert process.returncode == 2 and not process.stdout


def test_a_library_that_is_none_is_refused(tmp_path):
    (tmp_path / "none.so").write_text("no library")
    process = run("--library", tmp_path / "none.so")
    assert (
        process.returncode == 2
        and "cannot be loaded" in process.stderr
        and len(process.stderr.splitlines()) == 1
    )


@pytest.mark.skipif(not LIBRARY.exists(), reason="built without CUDA")
@pytest.mark.skipif(any(pathlib.Path("/dev").glob("nvidia[0-9]*")), reason="there is a GPU")
def test_without_a_gpu_it_says_so():
    process = run("--library", LIBRARY)
    assert process.returncode == conv.NO_GPU and process.stdout == "skipped: no GPU\n"


def test_lists_of_numbers():
    assert conv.numbers("1,4-6,10-20/5") == [1, 4, 5, 6, 10, 15, 20]


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """Runs conv.main on the fake GPU with fake peers. Returns its exit code and its JSON."""
    libraries = []

    def make(path):
        libraries.append(fake_gpu.FakeLibrary(path))
        libraries[-1].wrong = make.wrong
        return libraries[-1]

    make.wrong = 0
    monkeypatch.setattr(gpu_library, "Library", make)
    monkeypatch.setattr(
        gpu_peers,
        "PEERS",
        {"scipy": fake_gpu.FakePeer, "broken": fake_gpu.BrokenPeer, "cupy": gpu_peers.CuPy},
    )
    monkeypatch.setattr("gpu_measure.PEERS", gpu_peers.PEERS)

    def main(*arguments, wrong=0):
        make.wrong = wrong
        status = conv.main(
            [
                "--library",
                "fake",
                "--size",
                "301x67",
                "--runs",
                "3",
                "--json",
                str(tmp_path / "out.json"),
                *arguments,
            ]
        )
        assert not libraries[-1].filters  # nothing is leaked
        return status, json.loads((tmp_path / "out.json").read_text())

    return main


@pytest.mark.parametrize("border", ["replicate", "reflect101", "reflect", "constant"])
def test_all_types_agree_and_shares_are_of_the_limits(fake, border):
    status, document = fake(
        "--peers",
        "scipy",
        "--type",
        "f32,u8,u16,f64",
        "--channels",
        "1,3",
        "--radius",
        "1,40",
        "--border",
        border,
        "--value",
        "0",
    )
    assert status == 0 and not document["skipped"] and document["border"] == border
    assert [row["peer"] for row in document["measured"]] == ["sepconv", "SciPy"] * 16
    for row in document["measured"]:
        assert row["agrees"] and row["greatest_difference"] == 0 and row["buffers"] >= 1
        element_bytes = {"u8": 1, "u16": 2, "f32": 4, "f64": 8}[row["type"]]
        copy = 2 * 301 * 67 * row["channels"] * element_bytes / document["limits"]["copy_bytes_per_second"]
        fma = (
            2 * (2 * row["radius"] + 1) * 301 * 67 * row["channels"] / (2e9 if row["type"] == "f64" else 4e9)
        )
        assert row["share_of_copy"] == pytest.approx(copy / row["seconds"])
        assert row["share_of_roofline"] == pytest.approx(max(copy, fma) / row["seconds"])
        assert row["min_seconds"] <= row["seconds"] <= row["greatest_seconds"]
    sepconv_row, peer_row = document["measured"][:2]
    assert peer_row["ratio_to_sepconv"] == pytest.approx(peer_row["seconds"] / sepconv_row["seconds"])


@pytest.mark.parametrize("check", ["windows", "whole"])
def test_one_wrong_pixel_of_a_peer_is_seen(fake, monkeypatch, check):
    monkeypatch.setattr(fake_gpu.FakePeer, "wrong", 0.5)
    status, document = fake("--peers", "scipy", "--radius", "2", "--check", check)
    sepconv_row, peer_row = document["measured"]
    assert (
        status == 1
        and sepconv_row["agrees"]
        and not peer_row["agrees"]
        and peer_row["greatest_difference"] == pytest.approx(0.5)
    )


def test_a_wrong_sepconv_is_seen(fake, capsys):
    status, document = fake("--peers", "none", "--radius", "2", wrong=0.25)
    assert status == 1 and not document["measured"][0]["agrees"] and "**over 0**" in capsys.readouterr().out


def test_a_failing_or_absent_peer_stops_no_other(fake, capsys):
    status, document = fake("--peers", "cupy,broken,scipy", "--radius", "2,3")
    assert status == 0 and [row["peer"] for row in document["measured"]] == ["sepconv", "SciPy"] * 2
    broken = [entry for entry in document["skipped"] if entry["peer"] == "broken"]
    assert [entry["radius"] for entry in broken] == [2, 3] and broken[0][
        "reason"
    ] == "failed: RuntimeError: out of order"
    assert [entry for entry in document["skipped"] if entry["peer"] == "CuPy" and "radius" not in entry]
    assert "SciPy" in capsys.readouterr().out


def test_a_filter_that_the_fused_design_has_no_room_for_is_skipped(fake):
    status, document = fake("--peers", "scipy", "--radius", "32,33", "--design", "fused")
    assert status == 0 and [(row["peer"], row["radius"], row["design"]) for row in document["measured"]] == [
        ("sepconv", 32, "fused"),
        ("SciPy", 32, None),
    ]
    assert [
        (entry["peer"], entry["radius"], "no room" in entry["reason"]) for entry in document["skipped"]
    ] == [("sepconv", 33, True)]


def test_sweep(fake):
    status, document = fake("--sweep", "1-3,10-20/5", "--type", "u8")
    assert status == 0 and document["kind"] == "sweep"
    assert [(row["peer"], row["radius"]) for row in document["measured"]] == [
        ("sepconv", radius) for radius in (1, 2, 3, 10, 15, 20)
    ]


def test_poison_that_is_left_is_a_difference():
    case = gpu_case.Case(1, 4, 1, "f32", 1, "replicate", 0.0)
    import numpy as np

    poison = np.frombuffer(bytes([gpu_case.POISON] * 4 * case.cols), np.float32)
    assert gpu_case.greatest_difference([poison], [np.zeros(4, np.float32)]) == float("inf")
