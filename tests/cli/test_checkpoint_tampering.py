"""Partial results with modified files: files that are too long, links, folders, and missing journal lines are
redone or refused, but never counted as complete."""

import os
import shutil
import subprocess

import numpy as np
import pytest

from conftest import BINARY
from cli_support import fails, image, listing, one_sentence
from test_checkpoints import STAGE, create, make, part, remove, whole
from test_resume import begin, content, kill_when, left_when_killed_at_its_end, records, result_in
from test_resume import CHAIN, partial_result, scan  # fixtures

FLAT = [("out.raw", []), ("out.npy", []), ("out.tif", [])]
TILED = [
    ("out.tif", ["--compress", "none", "--tile", "64"]),
    ("out.tif", ["--compress", "none", "--tile", "64", "--pyramid"]),
    ("out.tif", ["--compress", "none", "--tile", "256", "--pyramid"]),
]
CHUNKS = [
    ("out.zarr", ["--chunk", "64"]),
    ("out.zarr", ["--chunk", "32", "--shard", "128"]),
    ("out.zarr", ["--chunk", "64", "--pyramid"]),
]
NAMES = lambda kind: "-".join([kind[0], *kind[1]])


@pytest.fixture
def small(sepconv):
    np.save(sepconv.folder / "in.npy", image(600, 500))
    return sepconv


def resumed(sepconv, name, options):
    """A partial result with some completed work, and the command that continues it."""
    command = ["in.tif", name, *CHAIN, *options, "--resume"]
    for _ in range(20):
        kill_when(begin(sepconv, *command), lambda: len(records(sepconv.folder / f"{name}.partial")) > 3)
        if not (sepconv.folder / name).exists():
            return sepconv.folder / f"{name}.partial", command
        remove(sepconv.folder / name)
    pytest.skip("it could not be killed before its end")


def lengthen(path, count=100000):
    with open(path, "ab") as file:
        file.write(b"x" * count)


def chunk_in(partial):
    """A completed chunk, in the first rows."""
    return min(
        (path for path in result_in(partial).rglob("*") if path.is_file() and path.name.isdigit()),
        key=lambda path: path.stat().st_mtime,
    )


@pytest.mark.parametrize("kind", FLAT + TILED + CHUNKS, ids=NAMES)
def test_what_is_too_long_is_not_taken_for_done_by_resume(sepconv, scan, kind):
    name, options = kind
    sepconv("run", scan, f"whole-{name}", *CHAIN, *options, "--quiet")
    partial, command = resumed(sepconv, name, options)
    lengthen(
        chunk_in(partial) if name == "out.zarr" else result_in(partial), 8 if name == "out.zarr" else 20000000
    )
    said = sepconv("run", *command).stderr
    assert ("are computed again" in said) == (name == "out.zarr")
    assert content(sepconv.folder / name) == content(sepconv.folder / f"whole-{name}")


@pytest.mark.parametrize("kind", FLAT + TILED + CHUNKS, ids=NAMES)
def test_what_is_too_long_is_not_finished(small, kind):
    name, options = kind
    expected = whole(small, name, options)
    make(small, name, options)
    partial = small.folder / f"{name}.partial"
    lengthen(chunk_in(partial) if name == "out.zarr" else result_in(partial))
    if name == "out.zarr":
        assert "were changed" in one_sentence(small("finish", name, status=1).stderr)
        for which in ("1/2", "2/2"):
            part(small, name, options, which)
    small("finish", name)
    assert content(small.folder / name) == expected


@pytest.mark.parametrize("kind", FLAT + TILED, ids=NAMES)
def test_what_is_appended_between_parts_is_nowhere_in_the_result(small, kind):
    """Blocks have bytes below the image and start at multiples of pages: none of these bytes may remain as
    found."""
    name, options = kind
    expected = whole(small, name, options)
    for first, last in (("1/2", "2/2"), ("2/2", "1/2")):
        create(small, name, options)
        for which in (first, last):
            part(small, name, options, which)
            lengthen(result_in(small.folder / f"{name}.partial"))
        small("finish", name)
        assert content(small.folder / name) == expected
        os.unlink(small.folder / name)


@pytest.mark.parametrize(
    "options, other",
    [
        (["--chunk", "64"], ".zattrs"),
        (["--chunk", "64"], ".zarray"),
        (["--chunk", "64"], "c/0/99"),
        (["--chunk", "64"], "c/00/1"),
        (["--chunk", "64"], "extra/zarr.json"),
        (["--chunk", "64", "--zarr", "2"], "zarr.json"),
        (["--chunk", "32", "--shard", "128"], "c/0/0/0"),
        (["--chunk", "64", "--pyramid"], ".zgroup"),
        (["--chunk", "64", "--pyramid"], "0/.zarray"),
        (["--chunk", "64", "--pyramid"], "7/c/0/0"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else value,
)
def test_a_file_of_somebody_elses_is_no_part_of_a_zarr(small, options, other):
    expected = whole(small, "out.zarr", options)
    make(small, "out.zarr", options)
    reference = result_in(small.folder / "out.zarr.partial") / other
    reference.parent.mkdir(exist_ok=True, parents=True)
    reference.write_text("{}")
    message = one_sentence(small("finish", "out.zarr", status=1).stderr)
    assert (
        other in message and "not part of the result" in message and not (small.folder / "out.zarr").exists()
    )
    os.unlink(reference)
    while not listing(reference.parent):
        reference.parent.rmdir()
        reference = reference.parent
    small("finish", "out.zarr")
    assert content(small.folder / "out.zarr") == expected


@pytest.mark.parametrize("kind", [("out.npy", []), ("out.tif", ["--compress", "deflate"])], ids=NAMES)
def test_a_longer_file_is_not_the_result_that_was_complete(sepconv, scan, kind):
    name, options = kind
    left_when_killed_at_its_end(sepconv, scan, name, options)
    lengthen(sepconv.folder / name)
    assert "exists already" in one_sentence(
        sepconv("run", scan, name, *CHAIN, *options, "--resume", status=1).stderr
    )


@pytest.mark.parametrize("kind", CHUNKS[:2], ids=NAMES)
@pytest.mark.parametrize("other", ["link", "link to its folder", "folder"])
def test_what_stands_in_the_place_of_a_chunk_is_named(small, kind, other):
    name, options = kind
    expected = whole(small, name, options)
    make(small, name, options)
    chunk = chunk_in(small.folder / f"{name}.partial")
    if other == "link to its folder":
        chunk = chunk.parent
    away = small.folder / "away"
    chunk.rename(away)
    if other == "folder":
        chunk.mkdir()
    else:
        chunk.symlink_to(away)
    before = content(away)
    message = one_sentence(small("finish", name, status=1).stderr)
    assert (
        str(chunk.relative_to(small.folder)) in message and "remove it" in message and content(away) == before
    )
    (os.rmdir if other == "folder" else os.unlink)(chunk)
    for which in ("1/2", "2/2"):
        part(small, name, options, which)
    small("finish", name)
    assert content(small.folder / name) == expected


@pytest.mark.parametrize("other", ["link", "folder"])
def test_what_stands_in_the_place_of_a_chunk_is_named_by_resume(sepconv, scan, other):
    name, options = "out.zarr", ["--chunk", "64"]
    partial, command = resumed(sepconv, name, options)
    chunk = chunk_in(partial)
    os.unlink(chunk)
    if other == "folder":
        chunk.mkdir()
    else:
        chunk.symlink_to(sepconv.folder / scan)
    before = content(sepconv.folder / scan)
    message = one_sentence(sepconv("run", *command, "--quiet", status=1).stderr)
    assert (
        str(chunk.relative_to(sepconv.folder)) in message
        and "remove it" in message
        and content(sepconv.folder / scan) == before
    )
    (os.rmdir if other == "folder" else os.unlink)(chunk)
    sepconv("run", *command, "--quiet")
    sepconv("run", scan, "whole.zarr", *CHAIN, *options, "--quiet")
    assert content(sepconv.folder / name) == content(sepconv.folder / "whole.zarr")


def test_a_link_where_there_is_no_chunk_is_not_made_part_of_the_result(small):
    """A chunk that is not stored and has no record."""
    pixels = image(600, 500)
    pixels[:300] = 0
    np.save(small.folder / "in.npy", pixels)
    make(small, "out.zarr", ["--chunk", "64"])
    link = result_in(small.folder / "out.zarr.partial") / "stray"
    link.symlink_to(small.folder / "in.npy")
    message = one_sentence(small("finish", "out.zarr", status=1).stderr)
    assert "stray" in message and "symbolic link" in message
    os.unlink(link)
    small("finish", "out.zarr")


def test_a_line_that_is_missing_from_the_journal_changes_no_byte(partial_result):
    partial_result("run", "in.tif", "whole.tif", *CHAIN, "--quiet")
    partial, kept = partial_result.folder / "out.tif.partial", partial_result.folder / "kept"
    lines = (partial / "journal").read_bytes().splitlines(keepends=True)
    shutil.copytree(partial, kept)
    for i in range(1, len(lines)):
        for left in (lines[:i] + lines[i + 1 :], lines[:i] + lines[i : i + 1] + lines[i:]):
            if not partial.exists():
                shutil.copytree(kept, partial)
            (partial / "journal").write_bytes(b"".join(left))
            said = partial_result("run", "in.tif", "out.tif", *CHAIN, "--resume").stderr
            assert ("what follows it is made again" in said) == (i + 1 < len(lines) or len(left) > len(lines))
            assert content(partial_result.folder / "out.tif") == content(partial_result.folder / "whole.tif")
            os.unlink(partial_result.folder / "out.tif")


@pytest.mark.parametrize("place", [0, 50])
def test_a_zero_in_a_later_line_is_told_of(partial_result, place):
    journal = partial_result.folder / "out.tif.partial/journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:place] + b"\0" + lines[1][place + 1 :]
    journal.write_bytes(b"".join(lines))
    partial_result("run", "in.tif", "whole.tif", *CHAIN, "--quiet")
    assert (
        "has a line that was changed" in partial_result("run", "in.tif", "out.tif", *CHAIN, "--resume").stderr
    )
    assert content(partial_result.folder / "out.tif") == content(partial_result.folder / "whole.tif")


@pytest.mark.parametrize("more", [[], ["--resume"], ["--create-only"]], ids=lambda more: "".join(more))
def test_a_partial_result_whose_journal_is_gone_is_discarded(partial_result, more):
    os.unlink(partial_result.folder / "out.tif.partial/journal")
    partial_result("run", "in.tif", "out.tif", *CHAIN, *more, "--discard", "--quiet")
    assert (
        listing(partial_result.folder / "out.tif.partial") == ["journal"]
        if "--create-only" in more
        else listing(partial_result.folder) == ["in.tif", "out.tif"]
    )


@pytest.mark.parametrize("more", [[], ["--resume"], ["--create-only"]], ids=lambda more: "".join(more))
def test_discard_removes_what_is_left_of_a_result_that_is_complete(sepconv, scan, more):
    expected = left_when_killed_at_its_end(sepconv, scan, "out.npy", [])
    message = one_sentence(sepconv("run", scan, "out.npy", *CHAIN, *more, "--discard", status=1).stderr)
    assert "exists already" in message and not (sepconv.folder / "out.npy.partial").exists()
    assert content(sepconv.folder / "out.npy") == expected


@pytest.mark.parametrize(
    "command",
    [["run", "in.tif", "out.tif", *CHAIN, "--part", "1/3"], ["finish", "out.tif"]],
    ids=lambda command: command[0],
)
def test_what_is_no_result_of_parts_is_said_to_be_there(partial_result, command):
    message = fails(partial_result, *command, status=2)
    assert (
        "out.tif.partial is there" in message
        and "--resume continues it" in message
        and "--discard removes it" in message
    )


def test_a_zarr_that_was_never_finished_is_named_as_such(small):
    (small.folder / "out.zarr").mkdir()
    (small.folder / "out.zarr/.sepconv-unfinished").touch()
    message = one_sentence(small("run", "in.npy", "out.zarr", STAGE, "--force", status=1).stderr)
    assert (
        "never finished" in message
        and "remove it" in message
        and listing(small.folder / "out.zarr") == [".sepconv-unfinished"]
    )


@pytest.mark.parametrize("more", [[], ["--resume"]], ids=lambda more: "".join(more))
def test_a_source_that_is_gone_is_no_dead_end(small, more):
    make(small, "out.npy", [])
    os.unlink(small.folder / "in.npy")
    message = one_sentence(small("run", "in.npy", "out.npy", STAGE, *more, "--discard", status=1).stderr)
    assert (
        "cannot read in.npy" in message
        and "out.npy.partial stays" in message
        and "remove that folder" in message
    )
    assert (small.folder / "out.npy.partial").exists()


def test_too_many_open_files_are_said_to_be_so(small):
    # The number that the program has open before it creates a file.
    for most in range(4, 40):
        process = subprocess.run(
            [
                "sh",
                "-c",
                f'ulimit -n {most}; exec "$0" run in.npy out.npy {STAGE} --threads 1 --quiet',
                BINARY,
            ],
            cwd=small.folder,
            capture_output=True,
            text=True,
        )
        if process.returncode == 0:
            break
        if "cannot write" in process.stderr:
            assert "ulimit -n" in one_sentence(process.stderr)
    assert process.returncode == 0
