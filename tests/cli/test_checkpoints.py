"""Messages and effects for results in several runs whose files, permissions or journals were changed, or that
have no completed work."""

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
from test_resume import begin, content, kill_when, left_by_a_killed_finish

STAGE = "gaussian:sigma=3"
BANDS = ["--band-rows", "32"]
KINDS = [
    ("out.npy", []),
    ("out.tif", ["--compress", "deflate", "--tile", "32"]),
    ("out.zarr", ["--chunk", "64"]),
]
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
    for which in ("1/2", "2/2"):
        part(sepconv, name, options, which)


def whole(sepconv, name, options):
    sepconv("run", "in.npy", f"whole-{name}", STAGE, *BANDS, *options, "--quiet")
    return content(sepconv.folder / f"whole-{name}")


def remove(path):
    (shutil.rmtree if path.is_dir() else os.unlink)(path)


def rights(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("kind", KINDS[:2], ids=IDS[:2])
def test_parts_of_what_replaces_a_file_that_nobody_may_write(sepconv, scan, kind):
    """The result gets the file's permissions only when complete: a separate process opens it for each
    part."""
    name, options = kind
    out, partial = sepconv.folder / name, sepconv.folder / f"{name}.partial"
    sepconv("run", scan, name, "abs", *options, "--quiet")
    out.chmod(0o440)
    create(sepconv, name, options, "--force")
    for which in ("1/2", "2/2"):
        part(sepconv, name, options, which)
        result = [*partial.glob("result-*"), *partial.glob("segment-*")]
        assert result and all(rights(file) == 0o640 for file in result)
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
    for left in partial.glob("result-*"):
        assert rights(left) == 0o600
    sepconv("run", *job, "--force", "--resume", "--quiet")
    assert content(out) == expected and rights(out) == 0o400 and not partial.exists()


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
@pytest.mark.parametrize("there", ["nothing", "another"])
def test_finish_does_not_take_a_result_for_complete_that_is_not_there(sepconv, scan, kind, there):
    name, options = kind
    out, partial = sepconv.folder / name, sepconv.folder / f"{name}.partial"
    make(sepconv, name, options)
    left_by_a_killed_finish(sepconv, name)
    kept = sepconv.folder / "kept"
    out.rename(kept)
    if there == "another":
        out.write_text("hello\n")
    for command in (["finish", name], ["run", scan, name, STAGE, *options, "--part", "1/2"]):
        message = one_sentence(sepconv(*command, "--quiet", status=1).stderr)
        assert "was complete" in message and "does not exist any more" in message and "discard" in message
    assert partial.exists()
    if there == "nothing":
        message = one_sentence(sepconv("info", name, status=1).stderr)
        assert (
            f"{name} is not there any more" in message
            and "--discard" in message
            and "not complete" not in message
        )
    else:
        os.unlink(out)
    kept.rename(out)
    assert f"{name} is complete" in sepconv("finish", name).stderr
    assert content(out) == whole(sepconv, name, options) and not partial.exists()


def damage(journal):
    text = bytearray(journal.read_bytes())
    text[200] ^= 1
    journal.write_bytes(text)
    return bytes(text)


def test_a_damaged_journal_is_told_of_and_stays_as_it_is(sepconv, scan):
    create(sepconv, "out.npy", [])
    for which in ("1/3", "3/3"):
        part(sepconv, "out.npy", [], which)
    partial = sepconv.folder / "out.npy.partial"
    good = (partial / "journal").read_bytes()
    damage(partial / "journal")
    before = content(partial)
    job = ["run", scan, "out.npy", STAGE, *BANDS]
    for command in (
        ["finish", "out.npy"],
        [*job, "--create-only"],
        [*job, "--resume"],
        [*job, "--part", "2/3"],
    ):
        message = one_sentence(sepconv(*command, "--quiet", status=1).stderr)
        assert "journal is damaged" in message and "discard" in message
        assert content(partial) == before
    assert "damaged" in one_sentence(sepconv("info", "out.npy", status=1).stderr)
    (partial / "journal").write_bytes(good)  # a journal that can be repaired loses nothing
    part(sepconv, "out.npy", [], "2/3")
    sepconv("finish", "out.npy", "--quiet")
    assert content(sepconv.folder / "out.npy") == whole(sepconv, "out.npy", [])
    make(sepconv, "two.npy", [])
    damage(sepconv.folder / "two.npy.partial/journal")
    create(sepconv, "two.npy", [], "--discard")


@pytest.mark.parametrize(
    "text",
    [b"", b"12345678 begin 0123456789abcd", b"\0" * 4096, b"\0" * 4000 + b"}\n"],
    ids=["empty", "torn", "zeros", "zeros-and-more"],
)
def test_a_first_line_that_never_came_to_the_disk_is_begun_anew(sepconv, scan, text):
    partial = sepconv.folder / "out.npy.partial"
    partial.mkdir()
    (partial / "journal-0123456789abcdef").write_bytes(text)
    (partial / "result-0123456789abcdef").write_bytes(b"x" * 1000)
    assert "has nothing yet" in one_sentence(sepconv("info", "out.npy", status=1).stderr)
    said = sepconv("run", scan, "out.npy", "abs").stderr
    assert (
        "out.npy.partial has nothing yet" in said
        and "--resume begins it again" in said
        and "--discard" in said
    )
    os.unlink(sepconv.folder / "out.npy")
    sepconv("run", scan, "out.npy", STAGE, *BANDS, "--resume", "--quiet")
    assert content(sepconv.folder / "out.npy") == whole(sepconv, "out.npy", []) and not partial.exists()


def test_who_is_refused_leaves_the_journal_as_it_is(sepconv, scan):
    create(sepconv, "out.npy", [])
    journal = sepconv.folder / "out.npy.partial/journal"
    with open(journal, "ab") as file:
        file.write(b"a line of another version\n")
    before = journal.read_bytes()
    assert "is not complete" in one_sentence(sepconv("finish", "out.npy", status=1).stderr)
    assert "made in parts" in fails(sepconv, "run", scan, "out.npy", STAGE, *BANDS, "--resume", status=2)
    assert journal.read_bytes() == before
    for which in ("1/2", "2/2"):
        part(sepconv, "out.npy", [], which)
    sepconv("finish", "out.npy", "--quiet")
    assert content(sepconv.folder / "out.npy") == whole(sepconv, "out.npy", [])


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_what_was_begun_to_replace_nothing_replaces_nothing(sepconv, scan, kind):
    name, options = kind
    out = sepconv.folder / name
    create(sepconv, name, options)
    part(sepconv, name, options, "1/2")
    sepconv("run", scan, name, "abs", *options, "--quiet")
    other = content(out)
    message = fails(
        sepconv, "run", scan, name, STAGE, *options, "--part", "2/2", "--force", "--quiet", status=2
    )
    assert "begun without --force" in message
    assert "move it away" in one_sentence(part(sepconv, name, options, "2/2", status=1).stderr)
    out.rename(sepconv.folder / "other")
    part(sepconv, name, options, "2/2")
    (sepconv.folder / "other").rename(out)
    message = one_sentence(sepconv("finish", name, status=1).stderr)
    assert "move it away" in message and "--force" not in message and content(out) == other
    remove(out)
    sepconv("finish", name, "--quiet")
    assert content(out) == whole(sepconv, name, options)


@pytest.mark.parametrize(
    "option", [["--json"], ["--stats", "x.json"], ["--trace", "x.json"], ["--report", "x.html"]]
)
def test_create_only_takes_no_option_that_it_does_nothing_for(sepconv, scan, option):
    message = fails(sepconv, "run", scan, "out.npy", STAGE, "--create-only", *option, status=2)
    assert "--create-only" in message and option[0] in message
    assert listing(sepconv.folder) == ["in.npy"]


def test_nothing_is_said_to_be_kept_that_is_not(sepconv, scan):
    name = "o" * 245 + ".npy"  # and no name of a folder with a suffix
    message = one_sentence(sepconv("run", scan, name, STAGE, "--resume", "--quiet", status=1).stderr)
    assert "is saved" not in message and listing(sepconv.folder) == ["in.npy"]


def test_nothing_is_left_of_a_run_that_ends_before_its_first_band_is_done(sepconv, scan):
    def no_long_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    process = subprocess.run(
        [BINARY, "run", scan, "out.npy", STAGE, *BANDS, "--resume", "--quiet"],
        cwd=sepconv.folder,
        capture_output=True,
        text=True,
        preexec_fn=no_long_files,
    )
    assert (
        process.returncode == 1
        and "is saved" not in one_sentence(process.stderr)
        and listing(sepconv.folder) == ["in.npy"]
    )


@pytest.mark.parametrize("seed", range(5))
def test_what_is_said_to_be_kept_is_when_it_is_interrupted(sepconv, seed):
    sepconv("generate", "in.npy", "--size", "1500x1400", "--channels", "2", "--quiet")
    run = begin(sepconv, "in.npy", "out.npy", "gaussian:sigma=9", *BANDS, "--resume")
    partial = sepconv.folder / "out.npy.partial"
    while run.poll() is None and not partial.exists():
        time.sleep(0.001)
    time.sleep(0.002 * seed)
    run.terminate()
    messages = run.communicate()[1]
    if run.returncode == 130:
        assert ("is saved" in messages) == partial.exists() and (
            "no output was made" in messages
        ) != partial.exists()
