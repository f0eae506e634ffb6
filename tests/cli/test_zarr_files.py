"""Zarr at the command line: links out of a store, damage, folders that must not be replaced, unfinished
results, very many chunks, and TIFF to OME-Zarr and back."""

import json
import os
import shutil
import signal
import subprocess

import numpy as np
import pytest
import tifffile

from cli_support import fails, image, listing, one_sentence
from conftest import BINARY
from test_signals import restore_signals, wait_for
from zarr_folder import read_array, write_array

VALUES = image(60, 83)


@pytest.fixture
def store(sepconv):
    write_array(sepconv.folder / "in.zarr", VALUES, (32, 40))
    return sepconv.folder / "in.zarr"


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("gzip", [False, True])
def test_there_and_back(sepconv, version, gzip):
    write_array(sepconv.folder / "in.zarr", VALUES, (32, 40), version, gzip)
    sepconv("run", "in.zarr", "out.npy", "--quiet")
    np.testing.assert_array_equal(np.load(sepconv.folder / "out.npy"), VALUES)
    sepconv("run", "in.zarr", "out.zarr", "--quiet")
    np.testing.assert_array_equal(read_array(sepconv.folder / "out.zarr"), VALUES)
    assert sepconv("compare", "in.zarr", "out.zarr").returncode == 0
    assert "83 x 60 pixels" in sepconv("info", "out.zarr").stdout
    stored = sum(path.stat().st_size for path in (sepconv.folder / "out.zarr").rglob("*") if path.is_file())
    assert json.loads(sepconv("info", "out.zarr", "--json").stdout)["file_bytes"] == stored


# Links out of a store, and files that are not chunks.


def test_a_link_that_leads_out_is_not_followed(sepconv, store):
    secret = sepconv.folder / "secret"
    secret.write_bytes(bytes(32 * 40))
    (store / "c/0/0").unlink()
    (store / "c/0/0").symlink_to(secret)
    sentence = fails(sepconv, "run", "in.zarr", "out.npy", status=1)
    assert "link leads out" in sentence and "c/0/0" in sentence


def test_a_folder_that_is_a_link_out_is_not_followed(sepconv, store):
    (store / "c").rename(sepconv.folder / "chunks")
    (store / "c").symlink_to(sepconv.folder / "chunks")
    assert "link leads out" in fails(sepconv, "run", "in.zarr", "out.npy", status=1)


def test_links_that_stay_inside_are_followed(sepconv, store):
    (store / "c/0/0").rename(store / "moved")
    (store / "c/0/0").symlink_to("../../moved")
    sepconv("run", "in.zarr", "out.npy", "--quiet")
    np.testing.assert_array_equal(np.load(sepconv.folder / "out.npy"), VALUES)


@pytest.mark.parametrize("what", ["pipe", "folder of a file"])
def test_what_is_no_file_is_no_chunk(sepconv, store, what):
    (store / "c/0/0").unlink()
    if what == "pipe":
        os.mkfifo(store / "c/0/0")  # never written to
        assert "regular file" in fails(sepconv, "run", "in.zarr", "out.npy", status=1)
    else:
        (store / "zarr.json").rename(store / "was")
        (store / "zarr.json").mkdir()
        fails(sepconv, "run", "in.zarr", "out.npy", status=1)


# Damage.


def set_in(metadata, path, value):
    *parents, last = path.split("/")
    for parent in parents:
        metadata = metadata[int(parent) if isinstance(metadata, list) else parent]
    metadata[last] = value


HUGE = 2**62
DAMAGES = [
    ("shape", []),
    ("shape", [60, -83]),
    ("shape", [60, 83, 1]),
    ("shape", [HUGE, HUGE]),
    ("shape", "60x83"),
    ("shape", [60.5, 83]),
    ("shape", [1] * 100),
    ("shape", [0, 83]),
    ("chunk_grid/configuration/chunk_shape", [0, 40]),
    ("chunk_grid/configuration/chunk_shape", [HUGE, HUGE]),
    ("chunk_grid/configuration/chunk_shape", [32]),
    ("chunk_grid/name", "rectangular"),
    ("data_type", "float7"),
    ("data_type", None),
    ("data_type", {"name": "struct"}),
    ("codecs", []),
    ("codecs", "bytes"),
    ("codecs", [{"name": "bytes", "configuration": {"endian": "middle"}}]),
    ("codecs", [{"name": "bytes"}, {"name": "lerc"}]),
    ("codecs", [{"name": "bytes"}] * 3),
    ("codecs", [{"name": "transpose", "configuration": {"order": [0, 0]}}, {"name": "bytes"}]),
    ("codecs", [{"name": "transpose", "configuration": {"order": [0, 7]}}, {"name": "bytes"}]),
    ("fill_value", "red"),
    ("fill_value", -1),
    ("fill_value", 256),
    ("fill_value", [0]),
    ("zarr_format", 4),
    ("node_type", "tree"),
    ("chunk_key_encoding", {"name": "hashed"}),
    ("chunk_key_encoding", {"name": "default", "configuration": {"separator": "../"}}),
    ("storage_transformers", [{"name": "x"}]),
    ("new_member", {"must_understand": True}),
    ("dimension_names", ["y"]),
    ("dimension_names", 7),
]


@pytest.mark.parametrize("path, value", DAMAGES, ids=str)
def test_damaged_metadata(sepconv, store, path, value):
    metadata = json.loads((store / "zarr.json").read_text())
    set_in(metadata, path, value)
    (store / "zarr.json").write_text(json.dumps(metadata))
    assert "in.zarr" in fails(sepconv, "run", "in.zarr", "out.npy", status=1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        "null",
        "[" * 100000,
        '{"a":' * 100000,
        "\xff\xfe",
        "{}",
        '{"zarr_format":3}',
        '{"zarr_format":3,"node_type":"array"}',
    ],
    ids=lambda text: text[:12] or "nothing",
)
def test_metadata_that_are_none(sepconv, store, text):
    (store / "zarr.json").write_bytes(text.encode("latin-1"))
    assert "in.zarr" in fails(sepconv, "run", "in.zarr", "out.npy", status=1)
    assert "in.zarr" in one_sentence(sepconv("info", "in.zarr", status=1).stderr)


@pytest.mark.parametrize("gzip", [False, True])
@pytest.mark.parametrize("damage", ["short", "empty", "long", "noise"])
def test_damaged_chunks(sepconv, damage, gzip):
    write_array(sepconv.folder / "in.zarr", VALUES, (32, 40), gzip=gzip)
    chunk = sepconv.folder / "in.zarr/c/1/1"
    content = chunk.read_bytes()
    if damage == "noise" and not gzip:
        return  # these are valid values
    chunk.write_bytes(
        {
            "short": content[:-7],
            "empty": b"",
            "long": content * 2000,
            "noise": content[:12] + bytes(len(content) - 12),
        }[damage]
    )
    sentence = fails(sepconv, "run", "in.zarr", "out.npy", status=1)
    assert "in.zarr" in sentence and "1, 1" in sentence


def test_a_bomb_is_not_unpacked(sepconv, store):
    import zlib

    metadata = json.loads((store / "zarr.json").read_text())
    metadata["codecs"].append({"name": "gzip", "configuration": {"level": 1}})
    (store / "zarr.json").write_text(json.dumps(metadata))
    packer = zlib.compressobj(9, wbits=31)
    (store / "c/0/0").write_bytes(packer.compress(bytes(1 << 28)) + packer.flush())
    assert "in.zarr" in fails(sepconv, "run", "in.zarr", "out.npy", "--max-memory", "64M", status=1)


# Existing folders, and unfinished results.


def test_a_folder_that_is_no_zarr_is_never_replaced(sepconv, store):
    mine = sepconv.folder / "out.zarr"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    fails(sepconv, "run", "in.zarr", "out.zarr", status=1)
    fails(sepconv, "run", "in.zarr", "out.zarr", "--force", status=1)
    assert (mine / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize("name", ["zarr.json", ".zarray", ".zgroup", ".sepconv-unfinished"])
@pytest.mark.parametrize("content", ["", "{}", "[1]", "link"])
def test_a_folder_is_no_zarr_by_a_files_name(sepconv, store, name, content):
    mine = sepconv.folder / "out.zarr"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    if content == "link":
        (mine / name).symlink_to("thesis.txt")
    else:
        (mine / name).write_text(content)
    assert "is not Zarr" in fails(sepconv, "run", "in.zarr", "out.zarr", "--force", status=1)
    assert (mine / "thesis.txt").read_text() == "years of work"


def test_what_is_replaced_with_a_zarr_is_said(sepconv, store):
    (sepconv.folder / "out.zarr").mkdir()
    (sepconv.folder / "out.zarr/zarr.json").write_text(
        json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {"x": 1}})
    )
    for name in "img", "0":
        write_array(sepconv.folder / "out.zarr" / name, VALUES, (32, 40))
    for command in "plan", "run":
        process = sepconv(command, "in.zarr", "out.zarr", "--force")
        assert (
            "out.zarr is replaced as a whole, with everything in it: 0, img"
            in process.stdout + process.stderr
        )
    assert (
        "replaced as a whole" not in sepconv("run", "in.zarr", "out.zarr", "--force").stderr
    )  # for an array nothing else exists
    (sepconv.folder / "out.zarr/notes.txt").write_text("mine")
    assert "with everything in it: notes.txt" in sepconv("run", "in.zarr", "out.zarr", "--force").stderr


LEVEL = {"path": "s/0", "coordinateTransformations": [{"type": "scale", "scale": [1, 1]}]}
IMAGE = {"version": "0.5", "multiscales": [{"axes": [{"name": "y"}, {"name": "x"}], "datasets": [LEVEL]}]}


@pytest.mark.parametrize(
    "attributes, own",
    [
        ({}, []),
        ({"note": "multiscales, chunk_grid"}, []),
        ({"ome": IMAGE}, ["s"]),
        ({"ome": {"version": "0.6"}}, []),
    ],
)
@pytest.mark.parametrize("consolidated", [False, True])
def test_members_of_a_group_are_its_own_by_its_metadata_alone(sepconv, store, attributes, own, consolidated):
    group = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
    for name in "s/0", "1":
        write_array(sepconv.folder / "out.zarr" / name, VALUES, (32, 40))
    if consolidated:
        below = {
            name: json.loads((sepconv.folder / "out.zarr" / name / "zarr.json").read_text())
            for name in ("s/0", "1")
        }
        below["image"] = {"zarr_format": 3, "node_type": "group", "attributes": {"ome": IMAGE}}
        group["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": below}
    (sepconv.folder / "out.zarr/zarr.json").write_text(json.dumps(group))
    others = ", ".join(name for name in ("1", "s") if name not in own)
    assert f"with everything in it: {others}\n" in sepconv("run", "in.zarr", "out.zarr", "--force").stderr


def test_a_zarr_is_replaced_by_force_only(sepconv, store):
    sepconv("run", "in.zarr", "out.zarr", "--quiet")
    before = listing(sepconv.folder)
    assert "--force" in fails(sepconv, "run", "in.zarr", "out.zarr", "abs", status=1)
    sepconv("run", "in.zarr", "out.zarr", "scale:offset=1", "--force", "--quiet")
    assert [n for n in listing(sepconv.folder) if "out.zarr/" not in n] == [
        n for n in before if "out.zarr/" not in n
    ]
    sepconv("run", "out.zarr", "out.npy", "--quiet")
    np.testing.assert_array_equal(
        np.load(sepconv.folder / "out.npy"), np.minimum(VALUES.astype(int) + 1, 255)
    )


def test_a_result_is_not_its_own_source(sepconv, store):
    before = listing(sepconv.folder)
    for name in ("in.zarr", "in.zarr/", "./in.zarr"):
        assert "input" in one_sentence(sepconv("run", "in.zarr", name, "abs", "--force", status=2).stderr)
        assert listing(sepconv.folder) == before
    np.testing.assert_array_equal(read_array(store), VALUES)


REPORTS = "--trace", "--report", "--stats"


@pytest.mark.parametrize(
    "command",
    [
        ["run", "in.zarr", "out.zarr", "subtract:file=dark.zarr"],
        ["run", "in.zarr/inner", "out.zarr", "subtract:file=dark.zarr"],
        ["transpose", "in.zarr", "out.zarr"],
        ["gemm", "in.zarr", "dark.zarr", "out.zarr"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_no_file_about_a_run_lies_in_its_zarrs(sepconv, command):
    values = image(64, 64, dtype=np.float32)
    for name in "in.zarr", "dark.zarr", "out.zarr":
        write_array(sepconv.folder / name, values, (32, 32))
    if "in.zarr/inner" in command:
        (sepconv.folder / "in.zarr").rename(sepconv.folder / "inner")
        (sepconv.folder / "in.zarr").mkdir()
        (sepconv.folder / "in.zarr/zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
        (sepconv.folder / "inner").rename(sepconv.folder / "in.zarr/inner")
    (sepconv.folder / "linked.json").symlink_to("in.zarr/zarr.json")
    before = {path: path.read_bytes() for path in sepconv.folder.rglob("*") if path.is_file()}
    for number, name in enumerate(
        [
            "out.zarr/zarr.json",
            "out.zarr/c/0/0",
            "out.zarr/new",
            "in.zarr/zarr.json",
            "in.zarr/new.html",
            "./in.zarr/../in.zarr/zarr.json",
            "linked.json",
            *(["dark.zarr/c/0/0"] if command[0] != "transpose" else []),
        ]
    ):
        message = fails(sepconv, *command, REPORTS[number % 3], name, "--force", status=2)
        assert "this file is of " in message and "choose another name" in message
    assert {path: path.read_bytes() for path in sepconv.folder.rglob("*") if path.is_file()} == before


def test_a_report_does_not_replace_an_archive_that_is_read(sepconv, store):
    shutil.make_archive(sepconv.folder / "in.zarr", "zip", sepconv.folder, "in.zarr")
    assert "this file is of the input" in fails(
        sepconv, "run", "in.zarr.zip/in.zarr", "out.zarr", "--report", "in.zarr.zip", "--force", status=2
    )


def test_a_result_replaces_no_part_of_its_source(sepconv, store):
    group = sepconv.folder / "group.zarr"
    group.mkdir()
    (group / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group", "attributes": {"made": 1}}')
    (sepconv.folder / "in.zarr").rename(group / "a.zarr")
    (group / "old.png").write_bytes(b"mine")
    for words in (
        ["run", "group.zarr", "group.zarr/a.zarr"],
        ["run", "group.zarr/", "group.zarr/../group.zarr/a.zarr"],
        ["preview", "group.zarr", "-o", "group.zarr/old.png"],
        ["run", "group.zarr", "group.zarr/old.png"],
    ):
        assert "is a part of group.zarr" in fails(sepconv, *words, "--force", status=2)
    write_array(sepconv.folder / "a.zarr", VALUES, (32, 40))
    assert "or a part of it" in fails(
        sepconv, "run", "group.zarr", "a.zarr", "--output-dir", "group.zarr", "--force", status=2
    )
    np.testing.assert_array_equal(read_array(group / "a.zarr"), VALUES)
    said = sepconv("run", "group.zarr", "group.zarr/labels.zarr").stderr  # a new one may be inside
    assert "attributes of the group are left out: made" in said


XARRAYS = {"units": "degree_C", "scale_factor": 0.01}


@pytest.mark.parametrize("result", ["out.tif", "out.npy", "out.png"])
def test_attributes_that_a_format_has_no_place_for_are_named(sepconv, result):
    write_array(sepconv.folder / "in.zarr", VALUES, (32, 40), attributes=XARRAYS)
    said = sepconv("run", "in.zarr", result).stderr
    name = {"tif": "TIFF"}.get(result[4:], result[4:].upper())
    assert (
        said.count(
            f"warning: attributes (scale_factor, units) of the source are not kept: {name} cannot store them\n"
        )
        == 1
    )
    if result == "out.tif":  # several images, reported once
        write_array(
            sepconv.folder / "two.zarr",
            np.stack([VALUES, VALUES]),
            (1, 32, 40),
            attributes=XARRAYS,
            names=["z", "y", "x"],
        )
        assert sepconv("run", "two.zarr", "two.tif").stderr.count("attributes (scale_factor, units)") == 1


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("zipped", [False, True])
def test_what_the_group_around_an_array_has_is_named(sepconv, version, zipped):
    group = sepconv.folder / "in.zarr"
    for name in "sst", "lat", "labels":
        write_array(group / name, VALUES, (32, 40), version)
    (group / ".hidden").mkdir()
    if version == 3:
        (group / "zarr.json").write_text(
            '{"zarr_format": 3, "node_type": "group", "attributes": {"title": "seas"}}'
        )
    else:
        (group / ".zgroup").write_text('{"zarr_format": 2}')
        (group / ".zattrs").write_text('{"title": "seas"}')
    source = "in.zarr/sst"
    if zipped:
        shutil.make_archive(group, "zip", sepconv.folder, "in.zarr")
        source = "in.zarr.zip/in.zarr/sst"
    for command in "plan", "run":
        process = sepconv(command, source, "out.zarr")
        said = process.stdout + process.stderr
        assert said.count("attributes of the group are left out: title\n") == 1
        assert said.count("other members of the array's group are left out: labels, lat\n") == 1


def test_an_array_in_a_folder_that_is_no_group_has_nothing_around_it(sepconv, store):
    write_array(sepconv.folder / "other.zarr", VALUES, (32, 40))
    assert "left out" not in sepconv("run", "in.zarr", "out.zarr").stderr


def begin_writing(folder):
    """A run of minutes that has written chunks: of ones, because zeros would not be stored."""
    with open(folder / "in.raw", "wb") as source:
        source.truncate(30000 * 30000)
    command = [
        BINARY,
        "run",
        "in.raw",
        "out.zarr",
        "scale:offset=1",
        "gaussian:sigma=30",
        "--raw",
        "30000x30000:u8",
        "--max-memory",
        "200M",
    ]
    run = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, preexec_fn=restore_signals)
    wait_for(lambda: any("/c/" in name for name in listing(folder)), run)
    return run


def test_an_interrupted_run_leaves_nothing(sepconv):
    run = begin_writing(sepconv.folder)
    run.send_signal(signal.SIGINT)
    _, messages = run.communicate(timeout=120)
    assert run.returncode == 130 and messages.count("\n") == 1
    assert listing(sepconv.folder) == ["in.raw"]


def test_a_killed_run_leaves_what_says_that_it_is_not_finished(sepconv):
    run = begin_writing(sepconv.folder)
    run.kill()
    run.communicate()
    left = sorted({name.split("/")[0] for name in listing(sepconv.folder)} - {"in.raw"})
    assert left and "out.zarr" not in left
    assert (
        sepconv("plan", "in.raw", "out.zarr", "--raw", "30000x30000:u8").stdout.count("a killed run left")
        == 1
    )
    for name in left:
        assert "never finished" in one_sentence(sepconv("info", name, status=1).stderr)
        assert "never finished" in one_sentence(sepconv("run", name, "out.npy", status=1).stderr)


# Very many chunks.


def test_an_empty_folder_that_a_killed_run_left_is_removed(sepconv, store):
    for left in ".out.zarr.sepconv-abcdef", ".out.zarr.sepconv-123456":
        (sepconv.folder / left).mkdir()
    (sepconv.folder / ".out.zarr.sepconv-123456/mine").touch()  # nothing identifies it as a run's
    assert "a killed run left" in sepconv("run", "in.zarr", "out.zarr").stderr
    assert [path.name for path in sepconv.folder.iterdir() if path.name.startswith(".")] == [
        ".out.zarr.sepconv-123456"
    ]


def test_more_axes_than_are_read_are_counted(sepconv):
    write_array(
        sepconv.folder / "in.zarr", np.zeros((8, 8), np.uint8), (8, 8)
    )  # NumPy's arrays have at most 32 or 64 axes
    described = sepconv.folder / "in.zarr/zarr.json"
    metadata = json.loads(described.read_text())
    metadata["shape"] = metadata["chunk_grid"]["configuration"]["chunk_shape"] = [1] * 40 + [8, 8]
    described.write_text(json.dumps(metadata))
    assert "has 42 axes by its shape, more than 32" in fails(sepconv, "run", "in.zarr", "out.zarr", status=1)


def test_a_million_holes(sepconv):
    write_array(sepconv.folder / "in.zarr", np.zeros((2, 2), np.uint8), (2, 2))
    metadata = json.loads((sepconv.folder / "in.zarr/zarr.json").read_text())
    metadata |= {"shape": [2000, 2000], "fill_value": 9}
    (sepconv.folder / "in.zarr/zarr.json").write_text(json.dumps(metadata))
    sepconv("run", "in.zarr", "out.npy", "--quiet", "--max-memory", "64M")
    expected = np.full((2000, 2000), 9, np.uint8)
    expected[:2, :2] = 0
    np.testing.assert_array_equal(np.load(sepconv.folder / "out.npy"), expected)
    assert "2000 x 2000 pixels" in sepconv("info", "in.zarr").stdout


def test_a_hundred_thousand_chunks(sepconv):
    values = image(1280, 1280)
    np.save(sepconv.folder / "in.npy", values)
    sepconv(
        "run",
        "in.npy",
        "out.zarr",
        "--tile",
        "4",
        "--compress",
        "none",
        "--pyramid",
        "none",
        "--quiet",
        "--max-memory",
        "64M",
    )
    assert sum(path.is_file() for path in (sepconv.folder / "out.zarr").rglob("*")) >= 102400
    sepconv("run", "out.zarr", "back.npy", "--quiet", "--max-memory", "64M")
    np.testing.assert_array_equal(np.load(sepconv.folder / "back.npy"), values)
    info = json.loads(sepconv("info", "out.zarr", "--json").stdout)
    assert (
        info["file_bytes"] == 0
        and info["pages"][0]["facts"]["stored bytes"].startswith("at least ")
        and "in 100000 files and more" in str(info)
    )


# The converter.


def test_tiff_to_ome_zarr_and_back_in_a_small_ceiling(sepconv):
    values = image(6000, 5000)
    tifffile.imwrite(
        sepconv.folder / "in.tif", values, tile=(256, 256), resolution=(100, 100), resolutionunit="CENTIMETER"
    )
    sepconv(
        "run",
        "in.tif",
        "mid.zarr",
        "--pyramid",
        "--compress",
        "deflate:1",
        "--max-memory",
        "64M",
        "--stats",
        "there.json",
    )
    sepconv("run", "mid.zarr", "back.tif", "--max-memory", "64M", "--stats", "back.json")
    for name in ("there.json", "back.json"):
        assert json.loads((sepconv.folder / name).read_text())["peak_rss_bytes"] < 64 << 20
    with tifffile.TiffFile(sepconv.folder / "back.tif") as tif:
        np.testing.assert_array_equal(tif.series[0].asarray(), values)
        assert [level.shape for level in tif.series[0].levels][:2] == [(6000, 5000), (3000, 2500)]
    np.testing.assert_array_equal(read_array(sepconv.folder / "mid.zarr/0"), values)
    ome = json.loads((sepconv.folder / "mid.zarr/zarr.json").read_text())["attributes"]["ome"]
    (item,) = ome["multiscales"]
    assert [axis["name"] for axis in item["axes"]] == ["y", "x"] and {
        axis["unit"] for axis in item["axes"]
    } == {"centimeter"}
    for level, dataset in enumerate(item["datasets"]):
        shape = read_array(sepconv.folder / "mid.zarr" / dataset["path"]).shape
        assert shape == (-(-6000 // 2**level), -(-5000 // 2**level))
        assert dataset["coordinateTransformations"][0]["scale"] == pytest.approx([0.01 * 2**level] * 2)


# Options.


@pytest.mark.parametrize("option", [("--shard", "512"), ("--zarr", "2")])
def test_options_of_zarr_mean_nothing_elsewhere(sepconv, store, option):
    assert option[0] in fails(sepconv, "run", "in.zarr", "out.tif", *option, status=2)
    assert option[0] in fails(sepconv, "run", "in.zarr", "out.npy", *option, status=2)


@pytest.mark.parametrize(
    "option",
    [
        ("--cog",),
        ("--bigtiff=yes",),
        ("--bigtiff=no",),
        ("--tile", "0"),
        ("--compress", "jpeg"),
        ("--compress", "lzw"),
        ("--zarr", "4"),
        ("--shard", "64", "--zarr", "2"),
    ],
    ids=" ".join,
)
def test_options_that_zarr_has_not(sepconv, store, option):
    fails(sepconv, "run", "in.zarr", "out.zarr", *option, status=2)


def test_versions_chunks_and_shards_are_as_asked_for(sepconv, store):
    sepconv("run", "in.zarr", "two.zarr", "--zarr", "2", "--chunk", "16x24", "--compress", "none", "--quiet")
    assert json.loads((sepconv.folder / "two.zarr/.zarray").read_text())["chunks"] == [16, 24]
    np.testing.assert_array_equal(read_array(sepconv.folder / "two.zarr"), VALUES)
    sepconv("run", "in.zarr", "shards.zarr", "--chunk", "16", "--shard", "32x48", "--quiet")
    metadata = json.loads((sepconv.folder / "shards.zarr/zarr.json").read_text())
    assert metadata["chunk_grid"]["configuration"]["chunk_shape"] == [32, 48]
    assert metadata["codecs"][0]["configuration"]["chunk_shape"] == [16, 16]
    assert len([name for name in listing(sepconv.folder / "shards.zarr/c") if "/" in name]) == 4
    said = sepconv("run", "in.zarr", "whole.zarr", "--chunk", "16", "--shard", "40").stderr
    assert "shards of 48 x 48 in place of 40 x 40" in said
    write_array(sepconv.folder / "planes.zarr", np.stack([VALUES] * 5), (1, 16, 16), names=["z", "y", "x"])
    said = sepconv("run", "planes.zarr", "planes_out.zarr", "--chunk", "z=2,16", "--shard", "z=3,16").stderr
    assert "shards of z 4 in place of 3" in said
    assert json.loads((sepconv.folder / "planes_out.zarr/zarr.json").read_text())["chunk_grid"][
        "configuration"
    ]["chunk_shape"] == [4, 16, 16]
    said = sepconv("run", "shards.zarr", "two.zarr", "--zarr", "2", "--force").stderr
    assert "Zarr 2 has none" in said
    sepconv("run", "shards.zarr", "back.npy", "--quiet")
    np.testing.assert_array_equal(np.load(sepconv.folder / "back.npy"), VALUES)


# Very small chunks.


def test_small_chunks_stay_in_the_ceiling(sepconv):
    values = image(600, 600)
    np.save(sepconv.folder / "in.npy", values)
    sepconv(
        "run",
        "in.npy",
        "out.zarr",
        "--chunk",
        "1",
        "--shard",
        "600",
        "--pyramid",
        "none",
        "--compress",
        "none",
        "--max-memory",
        "64M",
        "--threads",
        "2",
        "--stats",
        "there.json",
        "--quiet",
    )
    sepconv(
        "run",
        "out.zarr",
        "back.npy",
        "--max-memory",
        "64M",
        "--threads",
        "2",
        "--stats",
        "back.json",
        "--quiet",
    )
    for name in ("there.json", "back.json"):
        assert json.loads((sepconv.folder / name).read_text())["peak_rss_bytes"] < 64 << 20
    np.testing.assert_array_equal(np.load(sepconv.folder / "back.npy"), values)
