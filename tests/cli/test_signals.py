"""Ctrl-C, SIGTERM and SIGHUP during a run: the program ends soon, with exit code 130, one message and no
files left. Other signals have their default effects."""

import os
import resource
import signal
import subprocess
import time

import numpy as np
import pytest

from conftest import BINARY
from cli_support import listing, one_sentence

# Processor time after the signal, per processor, so that it is independent of other load.
LIMIT_SECONDS = 1.0 * len(os.sched_getaffinity(0))
PATIENCE_SECONDS = 120


def restore_signals():
    """Restores signal handling as in a shell, also if these tests run under nohup or in the background."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def restore_signals_without_core():
    restore_signals()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def wait_for(what, run):
    """Waits until what() holds, while the program runs."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not what():
        assert run.poll() is None, "it ended: make the work larger"
        assert time.monotonic() < deadline
        time.sleep(0.01)


def watches_signals(run):
    """Whether a command has started: it then blocks signals for its signal thread."""
    with open(f"/proc/{run.pid}/status") as status:
        blocked = next(line.split()[1] for line in status if line.startswith("SigBlk:"))
    return int(blocked, 16) >> (signal.SIGINT - 1) & 1 == 1


def start(folder, name, preexec_fn=restore_signals):
    """Starts a run of minutes; returns once it has written something."""
    with open(folder / "in.raw", "wb") as source:
        source.truncate(30000 * 30000)  # sparse: it needs no disk space
    command = [
        BINARY,
        "run",
        "in.raw",
        name,
        "gaussian:sigma=30",
        "--raw",
        "30000x30000:u8",
        "--max-memory",
        "200M",
    ]
    before = set(listing(folder))
    run = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, preexec_fn=preexec_fn)
    wait_for(lambda: any((folder / name).stat().st_size > 0 for name in set(listing(folder)) - before), run)
    return run


def begin(folder, *arguments):
    """Starts a command and waits until its work has begun, or is about to."""
    run = subprocess.Popen(
        [BINARY, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=restore_signals,
    )
    wait_for(lambda: watches_signals(run), run)
    time.sleep(0.5)  # so that it is in the middle of its work on most machines
    assert run.poll() is None, "too quick to be interrupted: make the work larger"
    return run


def stop(run, number):
    """The output after this signal, which must end the program soon."""

    def children_seconds():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    with open(f"/proc/{run.pid}/stat") as stat:
        user, system = stat.read().rpartition(")")[2].split()[11:13]
    before = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") + children_seconds()
    run.send_signal(number)
    output = run.communicate(timeout=PATIENCE_SECONDS)
    assert children_seconds() - before < LIMIT_SECONDS
    return output


@pytest.mark.parametrize("name", ["out.npy", "out.tif"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_stops_and_leaves_nothing(sepconv, name, number):
    run = start(sepconv.folder, name)
    assert name not in listing(sepconv.folder), "the target's name is there before the end"
    _, stderr = stop(run, number)
    assert run.returncode == 130
    assert "interrupted" in one_sentence(stderr)
    assert listing(sepconv.folder) == ["in.raw"]


def test_impatient_signals_change_nothing(sepconv):
    run = start(sepconv.folder, "out.npy")
    for _ in range(5):
        run.send_signal(signal.SIGINT)
    run.communicate(timeout=PATIENCE_SECONDS)
    assert run.returncode == 130
    assert listing(sepconv.folder) == ["in.raw"]


@pytest.mark.parametrize(
    "number", [signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT, signal.SIGALRM, signal.SIGXCPU, signal.SIGKILL]
)
def test_other_signals_end_it_as_any_program(sepconv, number):
    """They leave a temporary file, which the next run removes."""
    run = start(sepconv.folder, "out.npy", preexec_fn=restore_signals_without_core)
    run.send_signal(number)
    run.communicate(timeout=PATIENCE_SECONDS)
    assert run.returncode == -number
    assert "out.npy" not in listing(sepconv.folder)
    sepconv("run", "in.raw", "out.npy", "--raw", "40x30:u8", "--quiet")
    assert listing(sepconv.folder) == ["in.raw", "out.npy"]


def test_force_keeps_the_old_file(sepconv):
    (sepconv.folder / "out.npy").write_bytes(b"precious")
    with open(sepconv.folder / "in.raw", "wb") as source:
        source.truncate(30000 * 30000)
    run = begin(
        sepconv.folder, "run", "in.raw", "out.npy", "gaussian:sigma=30", "--raw", "30000x30000:u8", "--force"
    )
    stop(run, signal.SIGINT)
    assert run.returncode == 130
    assert (sepconv.folder / "out.npy").read_bytes() == b"precious"
    assert listing(sepconv.folder) == ["in.raw", "out.npy"]


def test_nohup_is_respected(sepconv):
    run = start(sepconv.folder, "out.npy", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    run.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert run.poll() is None, "an ignored SIGHUP ended the run"
    run.send_signal(signal.SIGTERM)
    run.communicate(timeout=PATIENCE_SECONDS)
    assert run.returncode == 130


@pytest.mark.parametrize(
    "command", [["stats", "in.raw"], ["compare", "in.raw", "in.raw", "--raw-b", "60000x60000:f32"]]
)
def test_measuring_stops_too(sepconv, command):
    with open(sepconv.folder / "in.raw", "wb") as source:
        source.truncate(60000 * 60000 * 4)
    run = begin(sepconv.folder, *command, "--raw", "60000x60000:f32")
    stdout, stderr = stop(run, signal.SIGINT)
    assert (run.returncode, stdout) == (130, "")
    assert "interrupted" in one_sentence(stderr)


@pytest.mark.parametrize(
    "work", [["500x300:u8", "box:radius=1048576"], ["9000x9000:u8", "gaussian:sigma=20", "--reference"]]
)
def test_no_piece_of_work_is_too_long_to_stop(sepconv, work):
    shape, *remainder = work
    with open(sepconv.folder / "in.raw", "wb") as source:
        source.truncate(9000 * 9000)
    run = begin(sepconv.folder, "run", "in.raw", "out.npy", "--raw", shape, *remainder)
    stop(run, signal.SIGINT)
    assert run.returncode == 130
    assert listing(sepconv.folder) == ["in.raw"]


@pytest.mark.parametrize("name", ["out.npy", "out.zarr", "out.tif"])
def test_a_phase_that_heeds_no_stop_is_ended(sepconv, name):
    """The reference runner does not check for signals. When the signal arrives, part of the first of three
    images exists."""
    with open(sepconv.folder / "in.npy", "wb") as source:
        np.lib.format.write_array_header_1_0(
            source, {"descr": "|u1", "fortran_order": False, "shape": (3, 3000, 3000)}
        )
        source.truncate(source.tell() + 3 * 3000 * 3000)
    run = subprocess.Popen(
        [BINARY, "run", "in.npy", name, "gaussian:sigma=30", "--reference", "--axes", "zyx", "--quiet"],
        cwd=sepconv.folder,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=restore_signals,
    )
    wait_for(lambda: len(listing(sepconv.folder)) > 1, run)
    _, stderr = stop(run, signal.SIGTERM)
    assert run.returncode == 130
    assert one_sentence(stderr) == "interrupted; no output was made"
    assert listing(sepconv.folder) == ["in.npy"]
