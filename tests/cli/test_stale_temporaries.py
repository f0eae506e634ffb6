"""Leftovers of killed runs, and full file systems: both are reported before anything is written."""

import json
import os
import signal
import subprocess

import numpy as np
import pytest

from conftest import BINARY
from cli_support import fails, image, listing, mounted, source, unmount
from test_signals import start


@pytest.fixture
def marks(sepconv):
    """Without marks, a file that is only named like an unfinished one is kept."""
    probe = sepconv.folder / "probe"
    probe.write_bytes(b"")
    try:
        os.setxattr(probe, "user.sepconv.unfinished", b"")
    except OSError:
        pytest.skip("this file system keeps no extended attributes")
    finally:
        probe.unlink()


@pytest.mark.parametrize("name", ["out.npy", "out.tif"])
def test_the_next_run_removes_what_a_killed_one_left(sepconv, marks, name):
    run = start(sepconv.folder, name)
    run.kill()
    run.communicate()
    (left,) = set(listing(sepconv.folder)) - {"in.raw"}
    assert left.startswith(f".{name}.sepconv-")

    np.save(sepconv.folder / "in.npy", image())
    planned = sepconv("plan", "in.npy", name, "abs").stdout
    assert left in planned and "will be removed" in planned
    assert left in listing(sepconv.folder), "a plan changes nothing"
    sepconv("run", "in.npy", name, "abs", "--stats", "stats.json")
    assert left in " ".join(json.loads((sepconv.folder / "stats.json").read_text())["plan"]["warnings"])
    assert listing(sepconv.folder) == ["in.npy", "in.raw", name, "stats.json"]
    assert "will be removed" not in sepconv("plan", "in.npy", name, "abs", "--force").stdout


def test_generate_says_what_it_removes(sepconv, marks):
    run = start(sepconv.folder, "out.npy")
    run.kill()
    run.communicate()
    (left,) = set(listing(sepconv.folder)) - {"in.raw"}
    said = sepconv("generate", "out.npy", "--size", "40x30").stderr
    assert said.startswith("warning: ") and left in said and said.count("\n") == 1
    assert left not in listing(sepconv.folder)
    assert sepconv(
        "generate", "other.png", "--size", "40x30", "--channels", "4", "--quiet"
    ).stderr.startswith("warning: channel 4 becomes alpha")


def test_a_run_leaves_a_living_one_alone(sepconv):
    run = start(sepconv.folder, "out.npy")
    try:
        np.save(sepconv.folder / "in.npy", image())
        writing = set(listing(sepconv.folder))
        sepconv("run", "in.npy", "out.npy", "abs", "--quiet")
        assert set(listing(sepconv.folder)) == writing | {"out.npy"}
    finally:
        run.send_signal(signal.SIGTERM)
        run.communicate()


@pytest.fixture
def megabyte(sepconv):
    folder = sepconv.folder / "small"
    if not mounted("size=1m", folder):
        pytest.skip("mounting a small file system needs root")
    yield folder
    unmount(folder)


@pytest.mark.parametrize("name", ["out.npy", "out.tif", "out.raw"])
def test_a_result_that_has_no_room_is_not_begun(sepconv, megabyte, name):
    np.save(sepconv.folder / "in.npy", image(rows=2000, cols=2000))
    for command in (
        ["run", "in.npy", f"small/{name}"],
        ["generate", f"small/{name}", "--size", "2000x2000"],
        ["transpose", "in.npy", f"small/{name}"],
    ):
        message = fails(sepconv, *command, status=1)
        assert f"small/{name}: it takes 3.81 MiB and its file system has 1.00 MiB free" in message
    planned = sepconv("plan", "in.npy", f"small/{name}", "abs").stdout
    assert "cannot be written: it takes 3.81 MiB" in planned
    assert os.listdir(megabyte) == []
    sepconv(
        "generate", "small/out.tif", "--size", "2000x2000", "--pattern", "impulse", "--compress", "deflate"
    )  # its size is not known in advance


def test_the_room_of_what_a_killed_run_left_counts(sepconv, megabyte):
    """Half a megabyte of a killed run is removed before the same amount is written."""
    left = megabyte / ".out.raw.sepconv-abc123"
    left.write_bytes(bytes(700000))
    try:
        os.setxattr(left, "user.sepconv.unfinished", b"")
    except OSError:
        pytest.skip("this system's tmpfs keeps no marks")
    np.save(sepconv.folder / "in.npy", image(rows=700, cols=1000))
    planned = sepconv("plan", "in.npy", "small/out.raw").stdout
    assert (
        "a killed run left small/.out.raw.sepconv-abc123 (684 KiB)" in planned
        and "cannot be written" not in planned
    )
    sepconv("run", "in.npy", "small/out.raw", "--quiet")
    assert os.listdir(megabyte) == ["out.raw"]


def test_what_lies_beside_input_and_output_is_named_and_stays(sepconv, source):
    for name in ("in.npy.aux.xml", "out.tif.ovr", "out.tfw"):
        (sepconv.folder / name).write_bytes(b"x")
    planned = sepconv("plan", source, "out.tif").stdout
    assert "in.npy.aux.xml next to it is not read" in planned
    assert "out.tfw, out.tif.ovr beside out.tif are there already and describe an earlier file" in planned
    sepconv("run", source, "out.tif", "--stats", "stats.json")
    assert "out.tif.ovr" in " ".join(
        json.loads((sepconv.folder / "stats.json").read_text())["plan"]["warnings"]
    )
    assert listing(sepconv.folder) == [
        "in.npy",
        "in.npy.aux.xml",
        "out.tfw",
        "out.tif",
        "out.tif.ovr",
        "stats.json",
    ]
