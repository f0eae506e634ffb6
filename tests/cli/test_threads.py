"""If threads cannot be created, a run continues with the existing ones and reports it, or ends with one
message; nothing waits forever."""

import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile

import numpy as np
import pytest

from conftest import BINARY, Program
from cli_support import image, listing, one_sentence

USER = 20000 + os.getpid() % 40000  # a unique user, because the limit counts all threads of a user
COMMANDS = {
    "run": ["run", "in.npy", "out.npy", "gaussian:sigma=2"],
    "stats": ["stats", "in.npy"],
    "compare": ["compare", "in.npy", "in.npy"],
    "generate": ["generate", "out.npy", "--size", "900x700"],
    "transpose": ["transpose", "in.npy", "out.npy"],
    "deflate": ["run", "in.npy", "out.tif", "abs", "--compress", "deflate"],
}


def limited(folder, command, limits, user=None):
    """Runs a command within these limits, in which it must end."""

    def limit():
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        for kind, value in limits.items():
            resource.setrlimit(kind, (value, value))

    return subprocess.run(
        [BINARY, *command], cwd=folder, capture_output=True, text=True, timeout=120, preexec_fn=limit
    )


class LimitedProgram(Program):
    """The program with this many threads, including the first."""

    def run(self, threads, command):
        return limited(self.folder, command, {resource.RLIMIT_NPROC: threads}, USER)


@pytest.fixture
def limited_program():
    if os.geteuid() != 0:
        pytest.skip("only root can become a user that has no other threads")
    with tempfile.TemporaryDirectory() as folder:  # pytest's folder is accessible only to its user
        os.chmod(folder, 0o777)
        np.save(pathlib.Path(folder) / "in.npy", image(rows=700, cols=900))
        yield LimitedProgram(pathlib.Path(folder))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_ends_whatever_threads_there_are(limited_program, name):
    before = listing(limited_program.folder)
    ended_well = []
    for threads in (1, 2, 3, 4, 5, 6, 9, 40):
        process = limited_program.run(
            threads,
            [*COMMANDS[name], "--threads", "64", "--quiet"]
            + (["--force"] if "out" in " ".join(COMMANDS[name]) else []),
        )
        ended_well.append(process.returncode == 0)
        if process.returncode != 0:
            assert process.returncode == (2 if name == "compare" else 1), process
            assert "ulimit -u" in one_sentence(process.stderr)
            assert listing(limited_program.folder) == before
    assert ended_well == sorted(ended_well) and ended_well[0] is False and ended_well[-1] is True


def test_fewer_threads_are_said_and_change_no_pixel(limited_program):
    process = limited_program.run(
        12,
        [
            "run",
            "in.npy",
            "out.npy",
            "gaussian:sigma=2",
            "--threads",
            "64",
            "--device",
            "cpu",
            "--stats",
            "stats.json",
        ],
    )
    assert process.returncode == 0, process.stderr
    plan = json.loads((limited_program.folder / "stats.json").read_text())["plan"]
    messages = f"{plan['threads']} thread{'s' * (plan['threads'] > 1)} instead of 64"
    assert 1 <= plan["threads"] < 12 and any(messages in warning for warning in plan["warnings"])
    assert messages in process.stderr
    limited_program("run", "in.npy", "expected.npy", "gaussian:sigma=2", "--threads", 2, "--quiet")
    assert np.array_equal(
        np.load(limited_program.folder / "out.npy"), np.load(limited_program.folder / "expected.npy")
    )


def test_what_needs_no_thread_works_without(limited_program):
    for command in (["--version"], ["--help"], ["run", "--help"]):
        process = limited_program.run(1, command)
        assert (process.returncode, process.stderr) == (0, "") and process.stdout


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("mebibytes", [250, 500, 1000])
def test_every_command_ends_in_little_address_space(sepconv, name, mebibytes):
    np.save(sepconv.folder / "in.npy", image(rows=700, cols=900))
    done = limited(
        sepconv.folder,
        [*COMMANDS[name], "--threads", "512", "--quiet"],
        {resource.RLIMIT_AS: mebibytes << 20},
    )
    trouble = 2 if name == "compare" else 1  # 1 means that images differ
    assert done.returncode in (0, trouble), done
    if done.returncode == trouble:
        one_sentence(done.stderr)
        assert listing(sepconv.folder) == ["in.npy"]


@pytest.mark.parametrize("threads", [1, 2, 64])
@pytest.mark.parametrize("mebibytes", [*range(150, 700, 50), 1000, 2000])
def test_openblas_ends_in_little_address_space(sepconv, threads, mebibytes):
    """Without the check it would request buffers forever."""
    ctypes = pytest.importorskip("ctypes")
    try:
        ctypes.CDLL("libopenblas.so.0")
    except OSError:
        pytest.skip("OpenBLAS is not installed")
    matrix = np.random.default_rng(1).standard_normal((300, 300))
    np.save(sepconv.folder / "a.npy", matrix)
    command = [
        "gemm",
        "a.npy",
        "a.npy",
        "out.npy",
        "--device",
        "cpu",
        "--threads",
        str(threads),
        "--stats",
        "stats.json",
    ]
    done = limited(sepconv.folder, command, {resource.RLIMIT_AS: mebibytes << 20})
    if done.returncode == 0:
        np.testing.assert_allclose(np.load(sepconv.folder / "out.npy"), matrix @ matrix, rtol=0, atol=1e-9)
        plan = json.loads((sepconv.folder / "stats.json").read_text())["plan"]
        assert plan["threads"] == threads or re.search(
            rf"\b{plan['threads']} threads? instead of", " ".join(plan["warnings"])
        )
    else:
        assert done.returncode == 1, done
        one_sentence(done.stderr)
        assert listing(sepconv.folder) == ["a.npy"]
        assert mebibytes < 500, done.stderr
    if mebibytes == 150:
        assert "OpenBLAS takes" in done.stderr and "ulimit -v" in done.stderr


def test_openblas_goes_on_with_the_threads_that_there_are(limited_program):
    np.save(limited_program.folder / "a.npy", np.eye(300))
    process = limited_program.run(
        9,
        ["gemm", "a.npy", "a.npy", "out.npy", "--device", "cpu", "--threads", "64", "--report", "report.txt"],
    )
    if "need OpenBLAS" in process.stderr:
        pytest.skip("OpenBLAS is not installed")
    assert process.returncode == 0, process.stderr
    assert re.search(r"\d threads? instead of 64", (limited_program.folder / "report.txt").read_text())
    assert np.array_equal(np.load(limited_program.folder / "out.npy"), np.eye(300))
