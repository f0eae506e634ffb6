"""Contents and names of files and command-line input reach a terminal only as text: nothing moves the cursor
or reverses a line."""

import json
import os
import re
import subprocess

import numpy as np
import pytest
import tifffile

from conftest import BINARY
from cli_support import image

# Control characters of both kinds, DEL, one as a byte that is not UTF-8, a bidirectional override; and
# characters that may stay.
EVIL = "a\x1b[31mb\nc\td\x7fe\u009bf\u202eg\u2066h\u200fi" + os.fsdecode(b"\x9b") + "ü日"
SHOWN = r"a\x1b[31mb\x0ac\x09d\x7fe\u009bf\u202eg\u2066h\u200fi\x9bü日"
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def say(sepconv, *arguments):
    """The combined output of a command, checked to be UTF-8 without terminal control characters, and its exit
    code."""
    process = subprocess.run([BINARY, *arguments], cwd=sepconv.folder, capture_output=True)
    stdout, stderr = process.stdout.decode(), process.stderr.decode()
    assert not ACTS.search(stdout) and not ACTS.search(stderr), (arguments, stdout, stderr)
    return stdout, stderr, process.returncode


@pytest.fixture
def evil(sepconv):
    """Images and a table with such names, and the arguments that name them."""
    np.save(sepconv.folder / (EVIL + ".npy"), image())
    np.save(sepconv.folder / (EVIL + "2.npy"), image(rows=5))
    np.savetxt(sepconv.folder / EVIL, [[1, 2, 1], [1, 2, 1]])
    return EVIL + ".npy"


def test_names_of_files(sepconv, evil):
    stdout, _, _ = say(sepconv, "info", evil)
    assert stdout.startswith(SHOWN + ".npy: NPY")
    stdout, _, _ = say(sepconv, "plan", evil, "out.npy", f"convolve:file={EVIL}")
    assert "convolve" in stdout
    _, stderr, status = say(sepconv, "compare", evil, EVIL + "2.npy")
    assert status == 1 and stderr.count(SHOWN) == 2 and stderr.count("\n") == 1
    for command in (
        ["info", EVIL + ".tif"],
        ["run", EVIL + ".tif", "out.npy"],
        ["run", evil, EVIL + "/out.npy"],
        ["run", evil, evil],
        ["run", evil, "out.npy", "--trace", EVIL + "/log"],
        ["stats", EVIL + ".tif"],
        ["gemm", EVIL + ".tif", evil, "out.npy"],
    ):
        stdout, stderr, status = say(sepconv, *command)
        assert status != 0 and SHOWN in stderr and stderr.count("\n") == 1 and stdout == ""


def test_json_is_ascii_and_means_the_same(sepconv):
    name = EVIL.replace(os.fsdecode(b"\x9b"), "") + ".npy"  # JSON contains only UTF-8
    np.save(sepconv.folder / name, image())
    for command in ("info", "stats"):
        stdout, _, _ = say(sepconv, command, name, "--json")
        assert stdout.isascii() and json.loads(stdout)["file"] == name


def test_what_a_tiff_says_of_itself(sepconv):
    messages = "red \x1b[31m, \u009b2J, \r, \x07, two\nlines, \x7f, \u202eback, ü".encode() + b"\x9b"
    tifffile.imwrite(
        sepconv.folder / "in.tif", image(), description=messages, software="\x1b]0;title\x07", metadata=None
    )
    stdout, _, _ = say(sepconv, "info", "in.tif")
    assert (
        r"red \x1b[31m, \u009b2J, \x0d, \x07, two\x0alines" in stdout
        and r"\u202eback, ü" in stdout
        and all(line.startswith(("in.tif", "page", "  ")) for line in stdout.splitlines())
    )
    stdout, _, _ = say(sepconv, "info", "in.tif", "--json")
    assert stdout.isascii() and any(
        "\u202eback, ü" in value for value in json.loads(stdout)["pages"][0]["facts"].values()
    )
    say(sepconv, "run", "in.tif", "out.png", "--verbose")
    say(sepconv, "plan", "in.tif", "out2.png")


@pytest.mark.parametrize(
    "arguments",
    [
        [EVIL],
        ["run", "in.npy", "out.npy", EVIL],
        ["run", "in.npy", "out.npy", f"gaussian:{EVIL}=1"],
        ["run", "in.npy", "out.npy", f"gaussian:sigma={EVIL}"],
        ["stages", EVIL],
        ["run", "in.npy", "out.npy", "--" + EVIL],
        ["run", "in.npy", "out.npy", "--threads", EVIL],
        ["run", "in.npy", "out.npy", "--max-memory", EVIL],
        ["run", "in.npy", "out.npy", "--device", EVIL],
        ["run", "in.npy", "out.npy", "--compress", EVIL],
        ["run", "in.npy", "out.npy", "--arithmetic", EVIL],
        ["run", "in.npy", "out.npy", "--tile", EVIL],
        ["transpose", "in.npy", "out.npy", "--perm", EVIL],
        ["run", "in.npy", "out.npy", "--raw", EVIL],
        ["completion", EVIL],
    ],
    ids=lambda arguments: " ".join(arguments).replace(EVIL, "EVIL"),
)
def test_what_is_typed(sepconv, arguments):
    np.save(sepconv.folder / "in.npy", image())
    stdout, stderr, status = say(sepconv, *arguments)
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert r"\x1b[31m" in stderr


def test_a_line_of_the_plan_stays_one(sepconv):
    np.save(sepconv.folder / "in.npy", image())
    (sepconv.folder / "t\nmemory  none").write_text("2 1\n")
    stdout, _, _ = say(sepconv, "plan", "in.npy", "out.npy", "mix_channels:file=t\nmemory  none")
    assert stdout.count("\nmemory") == 1 and r"t\x0amemory  none" in stdout
