"""Exit codes for scripts: those of cmp, of a plan that cannot be run, and after a reader has closed its
pipe."""

import json
import os
import subprocess

import numpy as np
import pytest

from conftest import BINARY
from cli_support import image, listing, one_sentence, source


# ---- compare: 0 equal, 1 different, 2 trouble ----


def test_compare(sepconv, source):
    for name, pixels in {
        "other.npy": image(seed=2),
        "shape.npy": image(rows=5),
        "type.npy": image(dtype=np.uint16),
    }.items():
        np.save(sepconv.folder / name, pixels)
    (sepconv.folder / "broken.npy").write_bytes((sepconv.folder / source).read_bytes()[:500])
    sepconv("compare", source, source)
    assert sepconv("compare", source, "other.npy", status=1).stderr == ""
    for name in ("shape.npy", "type.npy"):
        process = sepconv("compare", source, name, status=1)
        assert "same size, channels and type" in one_sentence(process.stderr) and process.stdout == ""
    for arguments in (
        ["missing.npy"],
        ["broken.npy"],
        ["."],
        [source, "--raw-b", "9999x9999:u8"],
        [source, "--max-memory", "1"],
        [source, "--threads", "0"],
        [],
    ):
        one_sentence(sepconv("compare", source, *arguments, status=2).stderr)
    with open("/dev/full", "w") as full:
        for other in (source, "other.npy"):
            process = subprocess.run(
                [BINARY, "compare", source, other],
                cwd=sepconv.folder,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
            )
            assert process.returncode == 2 and "standard output" in one_sentence(process.stderr)


def test_help_says_the_codes_of_compare(sepconv):
    assert "0 equal, 1 different, 2 trouble" in sepconv("compare", "--help").stdout


# ---- Plans that run would refuse ----


@pytest.mark.parametrize("plan", [["plan"], ["transpose", "--dry-run"]])
def test_plan_of_an_output_that_exists(sepconv, source, plan):
    run = [plan[0].replace("plan", "run")]
    (sepconv.folder / "out.npy").write_bytes(b"precious")
    said = sepconv(*run, source, "out.npy", status=1).stderr
    process = sepconv(*plan, source, "out.npy", status=1)
    assert process.stderr == said and "--force" in said
    assert process.stdout == sepconv(*plan, source, "new.npy").stdout or "slots" in process.stdout
    assert "bands" in sepconv(*plan, source, "out.npy", "--force").stdout
    assert (sepconv.folder / "out.npy").read_bytes() == b"precious"


def test_plan_as_json_of_an_output_that_exists(sepconv, source):
    (sepconv.folder / "out.npy").touch()
    assert json.loads(sepconv("plan", source, "out.npy", "--json", status=1).stdout)["bands"] >= 1


def test_plan_of_a_product_that_exists(sepconv):
    pytest.importorskip("ctypes")
    np.save(sepconv.folder / "a.npy", np.eye(4))
    (sepconv.folder / "out.npy").touch()
    process = sepconv("gemm", "a.npy", "a.npy", "out.npy", "--dry-run", "--device", "cpu", status=1)
    assert "panels" in process.stdout and "--force" in one_sentence(process.stderr)
    assert (
        sepconv("gemm", "a.npy", "a.npy", "out.npy", "--dry-run", "--device", "cpu", "--force").stderr == ""
    )


@pytest.mark.parametrize("command", [["plan"], ["transpose", "--dry-run"]])
def test_plan_into_a_folder_that_is_not_there(sepconv, source, command):
    assert "nowhere" in one_sentence(sepconv(*command, source, "nowhere/out.npy", status=1).stderr)


# ---- A reader of stdout that closes its pipe ----


def with_reader_gone(sepconv, *arguments):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return subprocess.run(
            [BINARY, *arguments], cwd=sepconv.folder, stdout=writing, stderr=subprocess.PIPE, text=True
        )
    finally:
        os.close(writing)


@pytest.mark.parametrize(
    "arguments",
    [
        ["info", "in.npy"],
        ["info", "in.npy", "--json"],
        ["stats", "in.npy", "--quiet"],
        ["plan", "in.npy", "out.npy"],
        ["stages"],
        ["--help"],
        ["run", "--help"],
        ["--version"],
        ["completion", "zsh"],
        ["compare", "in.npy", "in.npy"],
        ["run", "in.npy", "out.npy", "--quiet", "--stats", "-"],
    ],
)
def test_reader_gone_is_nothing_to_complain_of(sepconv, source, arguments):
    done = with_reader_gone(sepconv, *arguments)
    assert (done.returncode, done.stderr) == (141, "")


def test_reader_gone_changes_no_other_code(sepconv, source):
    np.save(sepconv.folder / "other.npy", image(seed=2))
    assert with_reader_gone(sepconv, "compare", source, "other.npy").returncode == 1
    assert with_reader_gone(sepconv, "run", source, "out.npy", "--quiet").returncode == 0
    assert with_reader_gone(sepconv, "info", "missing.npy").returncode == 1
    assert with_reader_gone(sepconv, "info").returncode == 2
    assert listing(sepconv.folder) == ["in.npy", "other.npy", "out.npy"]
