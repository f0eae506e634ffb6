"""Ownership of a folder NAME.partial: a journal without its first line is damaged and removed by --discard;
files from other sources are named and kept."""

import os

import numpy as np
import pytest

from cli_support import image, listing, one_sentence
from test_checkpoints import BANDS, STAGE, create, make, part, whole
from test_checkpoints import scan  # fixture
from test_resume import content

JOB = ["run", "in.npy", "out.npy", STAGE, *BANDS]
FIRST = 8 + len(" begin 0123456789abcdef ")


def changed(place, byte):
    return lambda text: text[:place] + byte + text[place + 1 :]


DAMAGED = {
    "zero": changed(50, b"\0"),
    "zero in its checksum": changed(3, b"\0"),
    "flip": changed(200, b"~"),
    "flip in its word": changed(10, b"~"),
    "empty": lambda text: b"",
    "zeros": lambda text: b"\0" * 4096,
    "cut in its checksum": lambda text: text[:5],
    "cut in its word": lambda text: text[:11],
    "cut in its run": lambda text: text[: FIRST - 4],
    "cut": lambda text: text[: text.index(b"\n")],
    "gone": None,
}


@pytest.mark.parametrize("how", DAMAGED)
@pytest.mark.parametrize("made", ["part", "nothing"])
def test_a_journal_without_its_first_line_is_damaged(sepconv, scan, how, made):
    if how == "gone" and made == "nothing":
        pytest.skip("nothing is there then")
    create(sepconv, "out.npy", [])
    if made == "part":
        part(sepconv, "out.npy", [], "1/2")
    partial = sepconv.folder / "out.npy.partial"
    journal = partial / "journal"
    if DAMAGED[how]:
        journal.write_bytes(DAMAGED[how](journal.read_bytes()))
    else:
        os.unlink(journal)
    before = content(partial)
    for command in (
        ["finish", "out.npy"],
        [*JOB, "--create-only"],
        [*JOB, "--resume"],
        [*JOB, "--part", "2/2"],
    ):
        message = one_sentence(sepconv(*command, "--quiet", status=1).stderr)
        assert "damaged or gone" in message and "discard" in message and content(partial) == before
    message = one_sentence(sepconv("info", "out.npy", status=1).stderr)
    assert "damaged or gone" in message and "--discard removes it" in message
    assert "damaged or gone" in sepconv("run", scan, "out.npy", "abs").stderr
    os.unlink(sepconv.folder / "out.npy")
    create(sepconv, "out.npy", [], "--discard")
    assert listing(partial) == ["journal"]
    for which in ("1/2", "2/2"):
        part(sepconv, "out.npy", [], which)
    sepconv("finish", "out.npy", "--quiet")
    assert content(sepconv.folder / "out.npy") == whole(sepconv, "out.npy", [])


THEIRS = ["part-3.doc", "replaced", "result-2026", "result.csv", "rows.txt", "segment-0123456789ABCDEF"]


@pytest.mark.parametrize("journal", [None, "", "my diary\n", "folder"])
def test_what_is_somebody_elses_is_named_and_stays(sepconv, scan, journal):
    reference = sepconv.folder / "out.npy.partial"
    reference.mkdir()
    for name in THEIRS:
        (reference / name).write_text("precious")
    if journal == "folder":
        (reference / "journal").mkdir()
    elif journal is not None:
        (reference / "journal").write_text(journal)
    before = content(reference)
    for more in (
        ["--resume"],
        ["--create-only"],
        ["--discard"],
        ["--resume", "--discard"],
        ["--create-only", "--discard"],
    ):
        message = one_sentence(sepconv(*JOB, *more, "--quiet", status=1).stderr)
        assert "not a partial result" in message and "result.csv" in message and "move it away" in message
        assert content(reference) == before and not (sepconv.folder / "out.npy").exists()
    assert "partial" not in sepconv(*JOB).stderr + sepconv("info", "out.npy").stderr


@pytest.mark.parametrize("journal", ["folder", "pipe", "as it was"])
def test_what_lies_beside_a_partial_result_is_named_before_anything_is_discarded(sepconv, scan, journal):
    make(sepconv, "out.npy", [])
    partial = sepconv.folder / "out.npy.partial"
    if journal == "as it was":
        (partial / "result.csv").write_text("precious")
    else:
        os.unlink(partial / "journal")
        (os.mkdir if journal == "folder" else os.mkfifo)(partial / "journal")
    before = listing(partial)
    for more in ([], ["--resume"], ["--create-only"]):
        message = one_sentence(sepconv(*JOB, *more, "--discard", "--quiet", status=1).stderr)
        assert (
            ("result.csv" if journal == "as it was" else "journal") in message
            and "move that away" in message
            and listing(partial) == before
        )


def test_what_had_the_name_comes_back_where_the_journal_is_damaged(sepconv, scan):
    """A run that was killed between the renames."""
    sepconv("run", scan, "out.npy", "abs", "--quiet")
    old = content(sepconv.folder / "out.npy")
    make(sepconv, "out.npy", [], "--force")
    partial = sepconv.folder / "out.npy.partial"
    (sepconv.folder / "out.npy").rename(partial / "replaced")
    (partial / "journal").write_bytes(b"")
    message = one_sentence(sepconv(*JOB, "--create-only", "--discard", status=1).stderr)
    assert "exists already" in message and content(sepconv.folder / "out.npy") == old and not partial.exists()
