"""Standard streams that are full or closed do not change results and exit codes."""

import subprocess

import numpy as np
import pytest

from conftest import BINARY
from cli_support import image, listing


def with_redirection(sepconv, redirection, *arguments):
    """The exit code of a run with these redirections in the shell."""
    command = ["bash", "-c", f'exec "$0" "$@" {redirection}', BINARY, *arguments]
    return subprocess.run(
        command, cwd=sepconv.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ).returncode


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-", "2>&- <&-"])
def test_stderr_that_cannot_be_written(sepconv, redirection):
    np.save(sepconv.folder / "in.npy", image(rows=300, cols=400))
    assert with_redirection(sepconv, redirection, "run", "in.npy", "out.npy", "--verbose") == 0
    assert (sepconv.folder / "out.npy").read_bytes() == (sepconv.folder / "in.npy").read_bytes()
    assert with_redirection(sepconv, redirection, "run", "missing.npy", "other.npy") == 1
    assert with_redirection(sepconv, redirection, "run", "in.npy", "other.npy", "gaussian:sigma=-1") == 2
    assert with_redirection(sepconv, redirection, "frob") == 2
    assert listing(sepconv.folder) == ["in.npy", "out.npy"]


def test_stdout_that_is_closed(sepconv):
    np.save(sepconv.folder / "in.npy", image())
    assert with_redirection(sepconv, ">&-", "info", "in.npy") == 1
    assert with_redirection(sepconv, ">&-", "run", "in.npy", "out.npy") == 0
