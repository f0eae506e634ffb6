"""Ctrl-C, SIGTERM and SIGHUP in mid-run: the program ends within a second, with 130, one sentence and nothing left behind."""

import signal
import subprocess
import time

import pytest

from conftest import BINARY
from cli_support import listing, one_sentence

LIMIT_SECONDS = 1.0


def heed_signals():
    """As a shell starts a program, also where these tests run under nohup."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start(folder, name, preexec_fn=heed_signals):
    """A run of minutes; returns once it writes, or, for formats that collect the image first, once it reads."""
    with open(folder / "in.raw", "wb") as source:
        source.truncate(30000 * 30000)  # sparse: it takes no disk
    command = [BINARY, "run", "in.raw", name, "gaussian:sigma=30", "--raw", "30000x30000:u8", "--max-memory", "200M"]
    run = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, preexec_fn=preexec_fn)
    deadline = time.monotonic() + 30
    while listing(folder) == ["in.raw"] and time.monotonic() < deadline:
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.01)
    assert listing(folder) != ["in.raw"], "no output was begun"
    assert name not in listing(folder), "the target's name is there before the end"
    return run


@pytest.mark.parametrize("name", ["out.npy", "out.tif"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_stops_and_leaves_nothing(sepconv, name, number):
    run = start(sepconv.folder, name)
    begin = time.monotonic()
    run.send_signal(number)
    _, stderr = run.communicate(timeout=30)
    assert time.monotonic() - begin < LIMIT_SECONDS
    assert run.returncode == 130
    assert "interrupted" in one_sentence(stderr)
    assert listing(sepconv.folder) == ["in.raw"]


def test_impatient_signals_change_nothing(sepconv):
    run = start(sepconv.folder, "out.npy")
    for _ in range(5):
        run.send_signal(signal.SIGINT)
    run.communicate(timeout=30)
    assert run.returncode == 130
    assert listing(sepconv.folder) == ["in.raw"]


def test_force_keeps_the_old_file(sepconv):
    (sepconv.folder / "out.npy").write_bytes(b"precious")
    with open(sepconv.folder / "in.raw", "wb") as source:
        source.truncate(30000 * 30000)
    command = [BINARY, "run", "in.raw", "out.npy", "gaussian:sigma=30", "--raw", "30000x30000:u8", "--force"]
    run = subprocess.Popen(command, cwd=sepconv.folder, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=30) == 130
    assert (sepconv.folder / "out.npy").read_bytes() == b"precious"
    assert listing(sepconv.folder) == ["in.raw", "out.npy"]


def test_nohup_is_respected(sepconv):
    run = start(sepconv.folder, "out.npy", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    run.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert run.poll() is None, "an ignored SIGHUP ended the run"
    run.send_signal(signal.SIGTERM)
    assert run.wait(timeout=30) == 130


@pytest.mark.parametrize("command", [["stats", "in.raw"], ["compare", "in.raw", "in.raw", "--raw-b", "60000x60000:f32"]])
def test_measuring_stops_too(sepconv, command):
    with open(sepconv.folder / "in.raw", "wb") as source:
        source.truncate(60000 * 60000 * 4)
    run = subprocess.Popen([BINARY, *command, "--raw", "60000x60000:f32"], cwd=sepconv.folder, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    begin = time.monotonic()
    run.send_signal(signal.SIGINT)
    stdout, stderr = run.communicate(timeout=30)
    assert time.monotonic() - begin < LIMIT_SECONDS
    assert (run.returncode, stdout) == (130, "")
    assert "interrupted" in one_sentence(stderr)


@pytest.mark.parametrize("work", [["500x300:u8", "box:radius=1048576"], ["9000x9000:u8", "gaussian:sigma=20", "--whole"]])
def test_no_piece_of_work_is_too_long_to_stop(sepconv, work):
    shape, *rest = work
    with open(sepconv.folder / "in.raw", "wb") as source:
        source.truncate(9000 * 9000)
    command = [BINARY, "run", "in.raw", "out.npy", "--raw", shape, *rest]
    run = subprocess.Popen(command, cwd=sepconv.folder, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    assert run.poll() is None, "too quick to be interrupted: make the work larger"
    begin = time.monotonic()
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=30) == 130
    assert time.monotonic() - begin < LIMIT_SECONDS
    assert listing(sepconv.folder) == ["in.raw"]
