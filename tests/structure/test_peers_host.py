"""tests/peers/conv.py on a small image: its options, table and JSON, and its reports of wrong results and
failures."""

import json
import pathlib
import subprocess
import sys

import pytest

from conftest import BINARY

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "peers"
LIBRARY = BINARY.parent / "libpeers_host.so"
SMALL = ["--size", "300x200", "--radius", "1,3", "--type", "u8,f32", "--channels", "1,3", "--runs", "2"]

# conv.py with one additional peer. In a separate process, because another module is also called conv.
WITH_PEER = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import conv, conv_peers
import numpy as np

class Other(conv_peers.Peer):
    name, note, module = "other", "of the test", "numpy"
    runs = 0

    def prepare(self, case, source, target):
        def run():
            Other.runs += 1
            {body}
        return run

conv.PEERS.clear()
conv.PEERS["other"] = Other
sys.argv[0] = "conv.py"
sys.exit(conv.main(sys.argv[1:]))
"""

needs_library = pytest.mark.skipif(not LIBRARY.exists(), reason="libpeers_host.so was not built")


def run(*arguments):
    return subprocess.run(
        [sys.executable, FOLDER / "conv.py", *map(str, arguments)], capture_output=True, text=True
    )


def run_with(body, *arguments):
    program = WITH_PEER.replace("{body}", body)
    return subprocess.run(
        [sys.executable, "-c", program, str(FOLDER), *map(str, arguments), "--library", LIBRARY],
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    "option",
    ["--radius=0", "--radius=x", "--size=5", "--type=u7", "--peers=nobody", "--runs=0", "--plot=x.svg"],
)
def test_bad_options_are_refused(option):
    process = run(option)
    assert process.returncode == 2 and not process.stdout


def test_without_its_library_it_says_so(tmp_path):
    (tmp_path / "none.so").write_text("no library")
    process = run(*SMALL, "--library", tmp_path / "none.so")
    assert process.returncode == 1 and not process.stdout
    assert "nothing to measure" in process.stderr and "Traceback" not in process.stderr


@needs_library
def test_sepconv_and_scipy_agree_with_the_filter_in_f64(tmp_path):
    process = run(*SMALL, "--peers", "scipy", "--json", tmp_path / "all.json", "--library", LIBRARY)
    assert process.returncode == 0, process.stderr
    document = json.loads((tmp_path / "all.json").read_text())
    assert document["missing"] == [] and document["skipped"] == []
    cases = {(row["peer"], row["type"], row["channels"], row["radius"]) for row in document["measured"]}
    assert cases == {
        (peer, kind, channels, radius)
        for peer in ("copy", "sepconv", "SciPy")
        for kind in ("u8", "f32")
        for channels in (1, 3)
        for radius in (1, 3)
    }
    for row in document["measured"]:
        assert row["pixels_per_second"] == pytest.approx(300 * 200 / row["seconds"])
        assert row["min_seconds"] <= row["seconds"] <= row["greatest_seconds"]
        if row["peer"] != "copy":
            assert row["agrees"] and row["greatest_difference"] <= row["bound"]
            assert (
                process.stdout.count(
                    f"| {row['type']} | {row['channels']} | {row['radius']} | {row['peer']} |"
                )
                == 1
            )
    drawn = run(
        "--type", "u8", "--channels", "3", "--plot", tmp_path / "u8.svg", "--from", tmp_path / "all.json"
    )
    assert drawn.returncode == 0, drawn.stderr
    assert "SciPy" in (tmp_path / "u8.svg").read_text()


@needs_library
def test_a_wrong_result_is_told_and_is_a_failure():
    process = run_with(
        "return np.zeros_like(source)", "--size", "300x200", "--radius", "2", "--type", "f32", "--runs", "1"
    )
    assert process.returncode == 1
    assert "**over" in process.stdout and "1 differ" in process.stdout


@needs_library
@pytest.mark.parametrize("body", ["raise ValueError('never')", "return source if Other.runs < 3 else 1 / 0"])
def test_a_contender_that_fails_at_once_or_later_leaves_the_others(body):
    process = run_with(body, "--size", "300x200", "--radius", "2", "--type", "f32", "--runs", "3")
    assert process.returncode == 1
    assert "| sepconv |" in process.stdout and "| other |" not in process.stdout
    assert (
        "Skipped: other, f32, 1 channels, radius 2: failed: " in process.stdout
        and "Traceback" not in process.stderr
    )
