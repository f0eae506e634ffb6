"""The program under test, for all pytest files: the fixture `sepconv` runs it. SEPCONV_BINARY names another
build."""

import os
import pathlib
import signal
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = pathlib.Path(os.environ.get("SEPCONV_BINARY", ROOT / "build/release/bin/sepconv")).resolve()

signal.signal(
    signal.SIGINT, signal.default_int_handler
)  # a shell's job in the background is begun with Ctrl-C ignored


class Program:
    """sepconv with the test's own folder as working directory."""

    command = (str(BINARY),)

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, *arguments, status=0):
        """Runs it to its end and checks its exit status; the result has .stdout and .stderr."""
        done = subprocess.run([BINARY, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == status, f"{' '.join(map(str, done.args))}\n{done.stderr}"
        return done

    def filter(self, image, *stages, options=()):
        """The array `image` through a chain of stages, by way of NPY files."""
        source, result = self.folder / "filter-in.npy", self.folder / "filter-out.npy"
        np.save(source, image)
        axes = ("--axes", "yxc") if image.ndim == 3 else ()
        self("run", source, result, *stages, "--quiet", "--force", *axes, *options)
        return np.load(result)


@pytest.fixture
def sepconv(tmp_path):
    assert BINARY.exists(), f"{BINARY} is not built"
    return Program(tmp_path)
