"""What is said and done of results in several runs whose files, rights or journals are not as they were left, or of which nothing is done yet."""

import os
import resource
import shutil
import signal
import stat
import subprocess
import time

import numpy as np
import pytest

from cli_support import fails, image, listing, one_sentence
from conftest import BINARY
from test_several_runs import begin, content, kill_when, left_by_a_killed_finish

STAGE = "gaussian:sigma=3"
BANDS = ["--band-rows", "32"]
KINDS = [("out.npy", []), ("out.tif", ["--compress", "deflate", "--tile", "32"]), ("out.zarr", ["--chunk", "64"])]
IDS = [name for name, _ in KINDS]


@pytest.fixture
def scan(sepconv):
    np.save(sepconv.folder / "in.npy", image(600, 500))
    return "in.npy"


def create(sepconv, name, options, *more):
    sepconv("run", "in.npy", name, STAGE, *BANDS, *options, *more, "--create-only", "--quiet")


def part(sepconv, name, options, which, status=0):
    return sepconv("run", "in.npy", name, STAGE, *options, "--part", which, "--quiet", status=status)


def make(sepconv, name, options, *more):
    create(sepconv, name, options, *more)
    for which in ("1/2", "2/2"): part(sepconv, name, options, which)


def whole(sepconv, name, options):
    sepconv("run", "in.npy", f"whole-{name}", STAGE, *BANDS, *options, "--quiet")
    return content(sepconv.folder / f"whole-{name}")


def remove(path):
    (shutil.rmtree if path.is_dir() else os.unlink)(path)


def rights(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("kind", KINDS[:2], ids=IDS[:2])
def test_parts_of_what_replaces_a_file_that_nobody_may_write(sepconv, scan, kind):
    """Its rights are the result's when that is complete, and not before: a process of its own opens it for each part."""
    name, options = kind
    out, partial = sepconv.folder / name, sepconv.folder / f"{name}.partial"
    sepconv("run", scan, name, "abs", *options, "--quiet")
    out.chmod(0o440)
    create(sepconv, name, options, "--force")
    for which in ("1/2", "2/2"):
        part(sepconv, name, options, which)
        made = [*partial.glob("result-*"), *partial.glob("segment-*")]
        assert made and all(rights(file) == 0o640 for file in made)
    assert rights(out) == 0o440
    sepconv("finish", name, "--quiet")
    assert content(out) == whole(sepconv, name, options) and rights(out) == 0o440


def test_resume_over_a_file_that_nobody_may_write(sepconv, scan):
    sepconv("generate", "big.npy", "--size", "1500x1400", "--channels", "2", "--quiet")
    job = ["big.npy", "out.npy", "gaussian:sigma=9", *BANDS]
    out, partial = sepconv.folder / "out.npy", sepconv.folder / "out.npy.partial"
    sepconv("run", *job, "--quiet")
    expected = content(out)
    out.chmod(0o400)
    kill_when(begin(sepconv, *job, "--force", "--resume"), lambda: list(partial.glob("result-*")))
    for left in partial.glob("result-*"): assert rights(left) == 0o600
    sepconv("run", *job, "--force", "--resume", "--quiet")
    assert content(out) == expected and rights(out) == 0o400 and not partial.exists()
