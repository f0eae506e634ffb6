"""A short, deterministic part of `./dev fuzz mutants`, and tests that its checks detect failures."""

import argparse
import struct

import pytest

from conftest import BINARY
import reference_decoders
import make_seeds
import mutate
import check_one

COUNT, SEED = 300, 1


def test_valid_files_are_read():
    """sepconv reads all seeds under two plans, and the reference programs accept them."""
    seeds = make_seeds.image_seeds()
    names, contents = zip(*seeds)
    with check_one.small_processes() as pool:
        results = pool.map(
            mutate.examine, [str(BINARY)] * len(seeds), map(mutate.mutant_name, names), contents
        )
        wrong = [(name, result) for name, result in zip(names, results) if result != (True, [])]
    assert not wrong


def test_damaged_files_violate_no_requirement(tmp_path):
    options = argparse.Namespace(
        binary=str(BINARY), count=COUNT, seconds=None, seed=SEED, only=None, findings=tmp_path
    )
    tried, accepted, findings = mutate.run(options)
    mutate.report(options, findings)
    assert tried == COUNT
    assert COUNT // 10 < accepted < COUNT, "damage that is always seen, or never, tests nothing"
    assert not findings


PROGRAMS = {
    "dies of signal": "kill -SEGV $$",
    "ends with 3": "exit 3",
    "succeeds and complains": "echo odd >&2",
    "fails without one sentence": "echo 'sepconv: no' >&2; echo more >&2; exit 1",
    "leaves files": "touch rest",
    "succeeds under one plan only": 'if [ "$3" = out-1.tif ]; then rm "$3"; echo "sepconv: no" >&2; exit 1; fi',
    "makes two images under two plans": 'case $1 in run) echo "$3" >"$3" ;; compare) exit 1 ;; esac',
    "takes too much memory": "exec /usr/bin/python3 -S -c 'bytearray(200 << 20)'",
}


@pytest.mark.parametrize("kind", PROGRAMS)
def test_violation_is_detected(tmp_path, kind):
    program, folder = tmp_path / "program", tmp_path / "folder"
    program.write_text('#!/bin/sh\n[ "$1" != run ] || touch "$3"\n' + PROGRAMS[kind] + "\n")
    program.chmod(0o755)
    folder.mkdir()
    (folder / "mutant.tif").touch()
    assert kind in " ".join(
        complaint_kind
        for complaint_kind, _ in check_one.Trial(str(program), str(folder), "mutant.tif").complaints
    )


@pytest.mark.parametrize(
    "name", ["mutant.tif", "mutant.jpg", "mutant.png", "mutant.bmp", "mutant.pnm", "mutant.npy"]
)
def test_references_refuse_zeros(tmp_path, name):
    (tmp_path / name).write_bytes(bytes(100))
    assert reference_decoders.refusal(str(tmp_path), name)


def tiff_of(strips, offsets, *entries):
    """A TIFF of 3 rows with this many strips and offsets. No offset points to data."""
    entries = [
        (256, 4, 1, 8),
        (257, 4, 1, 3),
        (258, 3, 1, 8),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (273, 4, offsets, 200),
        (277, 3, 1, 1),
        (278, 4, 1, 1),
        (279, 4, strips, 200),
        *entries,
    ]
    directory = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return (b"II*\0" + struct.pack("<I", 8) + directory).ljust(300, b"\0")


@pytest.mark.parametrize(
    "offsets, entries, refused",
    [(3, [], False), (3, [(282, 5, 0, 0)], False), (2, [], True), (2, [(282, 5, 0, 0)], True)],
)
def test_sparse_blocks_are_distinguished_from_short_tables(tmp_path, offsets, entries, refused):
    """Independent of other warnings of tiffcp."""
    (tmp_path / "mutant.tif").write_bytes(tiff_of(3, offsets, *entries))
    assert (reference_decoders.refusal(str(tmp_path), "mutant.tif") is not None) == refused
