"""Shared by the tests of the command line: input images, and checks after a failure."""

import os
import pty
import subprocess

import numpy as np
import pytest

# The variables by which terminals identify themselves.
TERMINALS = (
    "KITTY_WINDOW_ID",
    "TERM_PROGRAM",
    "LC_TERMINAL",
    "WEZTERM_PANE",
    "GHOSTTY_RESOURCES_DIR",
    "TMUX",
    "STY",
)


def image(rows=96, cols=128, channels=1, dtype=np.uint8, seed=1):
    """Random values over the range of an integer type, or in [0, 1)."""
    random = np.random.default_rng(seed)
    shape = (rows, cols) if channels == 1 else (rows, cols, channels)
    if np.issubdtype(dtype, np.integer):
        return random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    return random.random(shape).astype(dtype)


@pytest.fixture
def source(sepconv):
    """The name of a small NPY image in the test's folder."""
    np.save(sepconv.folder / "in.npy", image())
    return "in.npy"


def listing(folder):
    """All names in a folder, including hidden ones, so that a leftover temporary file is detected."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def one_sentence(stderr):
    """The message of a failed run, checked to be the only output."""
    assert stderr.startswith("sepconv: "), stderr
    assert stderr.endswith("\n") and stderr.count("\n") == 1, stderr
    assert len(stderr) < 600, stderr
    return stderr.removeprefix("sepconv: ").strip()


def fails(sepconv, *arguments, status):
    """Runs a command that must fail with this exit status and one message, without creating or changing a
    file. Returns the message."""
    before = listing(sepconv.folder)
    process = sepconv(*arguments, status=status)
    assert listing(sepconv.folder) == before
    assert process.stdout == ""
    return one_sentence(process.stderr)


def mounted(options, folder):
    """Mounts a tmpfs on a folder; False if not permitted."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def unmount(folder):
    subprocess.run(["umount", folder], check=True)


def in_terminal(command, folder, answers=None, **variables):
    """Runs a program with a terminal as its standard streams. Returns its output and its exit status.
    `answers` is a function from all output so far to bytes that the terminal sends, or None."""
    leader, follower = pty.openpty()
    environment = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM", *TERMINALS)
    } | variables
    program = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=follower, stdout=follower, stderr=follower, close_fds=True
    )
    os.close(follower)
    written = b""
    while True:
        try:
            some = os.read(leader, 65536)
        except OSError:  # the last descriptor of the other side was closed
            break
        written += some
        answer = answers(written) if answers else None
        if answer:
            os.write(leader, answer)
    os.close(leader)
    return written, program.wait()
