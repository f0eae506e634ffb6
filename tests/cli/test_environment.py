"""Circumstances around a run: concurrent runs, a shrinking file, few descriptors, unusual names and
environments."""

import os
import re
import resource
import subprocess

import numpy as np
import pytest

from conftest import BINARY
from cli_support import image, listing, one_sentence, source
from test_signals import start

FAILED = 1


def run(folder, *arguments, **options):
    """Returns exit status and stderr; accepts names that are not text."""
    process = subprocess.run([BINARY, *arguments], cwd=folder, capture_output=True, **options)
    return process.returncode, process.stderr.decode(errors="surrogateescape")


# ---- Concurrent runs ----


@pytest.mark.parametrize("name", ["out.npy", "out.tif", "out.png"])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_twenty_runs_at_once_on_one_output(sepconv, source, name, force):
    sepconv("run", source, f"alone-{name}", "gaussian:sigma=2")
    command = [BINARY, "run", source, name, "gaussian:sigma=2", "--quiet", *force]
    runs = [
        subprocess.Popen(command, cwd=sepconv.folder, stderr=subprocess.PIPE, text=True) for _ in range(20)
    ]
    messages = [each.communicate()[1] for each in runs]
    assert sorted(each.returncode for each in runs) == ([0] * 20 if force else [0] + [FAILED] * 19)
    # The other run's temporary file causes a warning.
    errors = [
        "".join(line for line in text.splitlines(keepends=True) if not line.startswith("warning: "))
        for text in messages
    ]
    assert all("exists already" in one_sentence(text) for text in errors if text)
    assert (sepconv.folder / name).read_bytes() == (sepconv.folder / f"alone-{name}").read_bytes()
    assert listing(sepconv.folder) == sorted([source, name, f"alone-{name}"])


def test_input_shrinks_while_it_is_read(sepconv):
    process = start(sepconv.folder, "out.npy")
    os.truncate(sepconv.folder / "in.raw", 1000)
    _, messages = process.communicate()
    assert process.returncode == FAILED
    assert "truncated" in one_sentence(messages)
    assert listing(sepconv.folder) == ["in.raw"]


# ---- Files that are not regular ----


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("kind", ["pipe", "device", "pipe behind a link"])
def test_output_is_no_regular_file(sepconv, source, kind, force):
    target = sepconv.folder / "out.npy"
    if kind == "device":
        target.symlink_to("/dev/null")
    else:
        os.mkfifo(sepconv.folder / "pipe")
        target.symlink_to("pipe") if "link" in kind else (sepconv.folder / "pipe").rename(target)
    before = listing(sepconv.folder)
    status, messages = run(sepconv.folder, "run", source, "out.npy", *force)
    assert status == FAILED
    assert "regular file" in one_sentence(messages)
    assert listing(sepconv.folder) == before
    assert not target.is_file()


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_input_is_no_regular_file(sepconv, kind):
    path = sepconv.folder / "in.npy"
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    status, messages = run(sepconv.folder, "run", "in.npy", "out.npy")
    assert status == FAILED
    assert "regular file" in one_sentence(messages)
    assert listing(sepconv.folder) == ["in.npy"]


# ---- Descriptors, standard output ----


@pytest.mark.parametrize("name", ["out.npy", "out.tif", "out.png"])
@pytest.mark.parametrize("descriptors", range(4, 17))
def test_few_descriptors(sepconv, source, descriptors, name):
    """Sixteen are enough; with fewer the run succeeds or reports it, and leaves no files."""
    limit = (descriptors, descriptors)
    status, messages = run(
        sepconv.folder,
        "run",
        source,
        name,
        "--quiet",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit),
    )
    if status == 127:
        pytest.skip("the system's loader needs more to start any program")
    assert status == 0 or (status == FAILED and descriptors < 16), messages
    assert listing(sepconv.folder) == ([source, name] if status == 0 else [source])
    assert messages == "" if status == 0 else "too many" in one_sentence(messages).lower(), messages


@pytest.mark.parametrize(
    "command",
    [
        ["info", "in.npy"],
        ["stats", "in.npy", "--json"],
        ["compare", "in.npy", "in.npy"],
        ["stages"],
        ["plan", "in.npy", "out.npy", "abs"],
        ["devices"],
        ["completion", "bash"],
        ["completion", "zsh"],
        ["--help"],
        ["run", "--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_every_command_notices_a_full_standard_output(sepconv, source, command):
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [BINARY, *command], cwd=sepconv.folder, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert process.returncode == (2 if command[0] == "compare" else FAILED)  # 1 means that images differ
    assert "standard output" in one_sentence(process.stderr)


# ---- Environment ----


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"HOME": "/nowhere", "TMPDIR": "/nowhere", "XDG_CACHE_HOME": "/nowhere"},
        {"LC_ALL": "de_DE.UTF-8"},
        {"LC_ALL": "tr_TR.UTF-8"},
        {"LC_ALL": "C"},
        {"LANG": "no such locale", "LANGUAGE": "xx"},
        {"TERM": "no such terminal", "COLUMNS": "0"},
    ],
    ids=str,
)
def test_environment_changes_nothing(sepconv, source, environment):
    sepconv("run", source, "usual.tif", "gaussian:sigma=1.5", "scale:factor=0.5")
    stage = ["gaussian:sigma=1.5", "scale:factor=0.5"]
    assert run(sepconv.folder, "run", source, "out.tif", *stage, "--quiet", env=environment) == (0, "")
    assert (sepconv.folder / "out.tif").read_bytes() == (sepconv.folder / "usual.tif").read_bytes()
    assert listing(sepconv.folder) == [source, "out.tif", "usual.tif"]


# ---- Names ----

NAMES = [
    b"two\nlines.npy",
    b"\xff\xfe no text.npy",
    b"{} %s %n {0}.npy",
    "größe 寸法.npy".encode(),
    b" .npy",
    b"'\"$(true)`.npy",
    b"x" * 251 + b".npy",
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name[:20]))
def test_any_name_of_a_file(sepconv, name):
    folder = os.fsencode(sepconv.folder)
    np.save(sepconv.folder / "in.npy", image())
    os.rename(folder + b"/in.npy", folder + b"/" + name)
    target = name.replace(b".npy", b".tif")
    assert run(folder, "run", name, target, "--quiet") == (0, "")
    assert run(folder, "compare", name, target) == (0, "")
    assert sorted(os.listdir(folder)) == sorted([name, target])
    status, messages = run(folder, "run", name, target)
    assert status == FAILED and "exists already" in one_sentence(messages)
    for command in (["info"], ["stats"], ["stats", "--json"]):
        assert run(folder, *command, name) == (0, ""), command


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name[:20]))
def test_any_name_in_a_sentence_and_in_a_log(sepconv, name):
    folder = os.fsencode(sepconv.folder)
    np.save(sepconv.folder / "in.npy", image())
    status, messages = run(folder, "info", name)
    assert status == FAILED and "there is no such file" in one_sentence(messages)
    logs = ["--stats", "stats.json", "--trace", "trace.json", "--report", "report.html"]
    assert run(folder, "run", "in.npy", name, "abs", *logs, "--quiet") == (0, "")
    assert len(os.listdir(folder)) == 5


def test_name_that_is_too_long(sepconv, source):
    status, messages = run(sepconv.folder, "run", source, "x" * 252 + ".npy")
    assert status == FAILED
    assert re.search("too long", one_sentence(messages))
    assert listing(sepconv.folder) == [source]
