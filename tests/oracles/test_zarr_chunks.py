"""Missing chunks of a Zarr array: counted, and an error with the cause if all are missing. Arrays by
zarr-python, if it is installed, and arrays written by the test."""

import json
import shutil

import numpy as np
import pytest

from zarr_folder import read_array

ROWS, COLS = 20, 24
VALUES = np.arange(1, ROWS * COLS + 1, dtype=np.uint16).reshape(ROWS, COLS)


def chunk(row, col):
    return VALUES[row * 10 : row * 10 + 10, col * 12 : col * 12 + 12].tobytes()


def write(folder, version, separator, fill=0, keys=None, stored=4):
    """An array of 2 x 2 chunks with the version's file names, or with names from `keys`, a function of row
    and column."""
    folder.mkdir()
    if version == 2:
        messages = {
            "zarr_format": 2,
            "shape": [ROWS, COLS],
            "chunks": [10, 12],
            "dtype": "<u2",
            "order": "C",
            "fill_value": fill,
            "compressor": None,
            "filters": None,
            "dimension_separator": separator,
        }
        (folder / ".zarray").write_text(json.dumps(messages))
    else:
        messages = {
            "zarr_format": 3,
            "node_type": "array",
            "shape": [ROWS, COLS],
            "data_type": "uint16",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10, 12]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": separator}},
            "fill_value": fill,
            "attributes": {},
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "dimension_names": ["y", "x"],
        }
        (folder / "zarr.json").write_text(json.dumps(messages))
    usual = (
        (lambda row, col: f"{row}{separator}{col}")
        if version == 2
        else (lambda row, col: f"c{separator}{row}{separator}{col}")
    )
    for i in range(stored):
        file = folder / (keys or usual)(i // 2, i % 2)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(chunk(i // 2, i % 2))


@pytest.mark.parametrize(
    "version, separator, keys, cause",
    [
        (2, ".", lambda row, col: f"{row}/{col}", '"dimension_separator": "/"'),
        (2, "/", lambda row, col: f"{row}.{col}", '"dimension_separator": "."'),
        (2, ".", lambda row, col: f"c/{row}/{col}", "those of Zarr 3"),
        (3, "/", lambda row, col: f"c.{row}.{col}", '"separator": "."'),
        (3, ".", lambda row, col: f"c/{row}/{col}", '"separator": "/"'),
        (3, "/", lambda row, col: f"{row}.{col}", '"name": "v2"'),
        (3, "/", lambda row, col: f"C/{row}/{col}", "lower case"),
        (2, ".", lambda row, col: f"data/{row}.{col}", "in the folder data"),
        (3, "/", lambda row, col: f"0/c/{row}/{col}", "in the folder 0"),
        (2, ".", lambda row, col: f"0.{row}.{col}", "axes of the array 2"),
        (2, ".", lambda row, col: f"{row + 7}.{col}", "outside its shape"),
    ],
)
def test_no_chunk_is_found_under_its_name(sepconv, version, separator, keys, cause):
    write(sepconv.folder / "in.zarr", version, separator, keys=keys)
    for command in ("run", "plan"):
        process = sepconv(command, "in.zarr", "out.zarr", "box:radius=1", status=1)
        assert "none of its 4 chunks is stored" in process.stderr and cause in process.stderr, process.stderr
    assert not (sepconv.folder / "out.zarr").exists()
    said = sepconv("info", "in.zarr").stdout
    assert "0 of 4 chunks" in said and cause in said
    sepconv("run", "in.zarr", "out.zarr", "abs", "--missing-chunks", "fill")
    assert not np.any(read_array(sepconv.folder / "out.zarr"))
    sepconv("run", "out.zarr", "again.npy", "abs")  # its first chunk exists
    sepconv("run", "in.zarr", "out.npy", "abs", "--missing-chunks", "error", status=1)


@pytest.mark.parametrize("version, right, wrong", [(2, "0.1", "0/1"), (3, "c/0/1", "c.0.1")])
def test_one_chunk_has_another_name(sepconv, version, right, wrong):
    """The other names are right: the fill value is used with a warning, because a file exists there."""
    write(sepconv.folder / "in.zarr", version, "." if version == 2 else "/", fill=7)
    (sepconv.folder / "in.zarr" / wrong).parent.mkdir(exist_ok=True)
    (sepconv.folder / "in.zarr" / right).rename(sepconv.folder / "in.zarr" / wrong)
    for command in (["run", "in.zarr", "out.npy", "abs"], ["stats", "in.zarr"]):
        process = sepconv(*command)
        assert (
            "1 of its 4 chunks is not stored and read as the fill value" in process.stdout + process.stderr
            and f"named like {wrong}" in process.stdout + process.stderr
        )


@pytest.mark.parametrize("version", [2, 3])
def test_a_chunk_is_missing(sepconv, version):
    write(sepconv.folder / "in.zarr", version, "/", fill=7, stored=3)
    assert "3 of 4 chunks" in sepconv("info", "in.zarr").stdout
    assert "3 of 4 chunks" in sepconv("plan", "in.zarr", "out.npy", "abs").stdout
    assert sepconv("run", "in.zarr", "out.npy", "abs", "--quiet").stderr == ""
    assert np.all(np.load(sepconv.folder / "out.npy")[10:, 12:] == 7)
    said = sepconv(
        "run", "in.zarr", "out.npy", "abs", "--force", "--missing-chunks", "error", status=1
    ).stderr
    assert "1 of its 4 chunks is not stored" in said


def test_a_chunk_is_missing_and_the_fill_value_is_null(sepconv):
    write(sepconv.folder / "in.zarr", 2, ".", fill=None, stored=3)
    said = sepconv("run", "in.zarr", "out.npy", "abs", "--quiet").stderr
    assert "1 of its 4 chunks is not stored, and the fill value is null" in said
    assert sepconv("run", "in.zarr", "fill.npy", "abs", "--quiet", "--missing-chunks", "fill").stderr == ""
    sepconv("run", "in.zarr", "error.npy", "abs", "--missing-chunks", "error", status=1)


def test_a_zip_file_is_counted_too(sepconv):
    write(sepconv.folder / "in.zarr", 3, "/", stored=3)
    shutil.make_archive(str(sepconv.folder / "zipped.zarr"), "zip", sepconv.folder / "in.zarr")
    assert "3 of 4 chunks" in sepconv("info", "zipped.zarr.zip").stdout


def test_the_choice_belongs_to_a_partial_result(sepconv):
    write(sepconv.folder / "in.zarr", 3, "/", stored=3)
    sepconv("run", "in.zarr", "out.zarr", "abs", "--create-only", "--missing-chunks", "fill")
    said = sepconv("run", "in.zarr", "out.zarr", "abs", "--part", "1/1", status=2).stderr
    assert "--missing-chunks" in said
    sepconv("run", "in.zarr", "out.zarr", "abs", "--part", "1/1", "--missing-chunks", "fill")
    sepconv("finish", "out.zarr")


def test_the_option_is_for_zarr(sepconv):
    np.save(sepconv.folder / "in.npy", VALUES)
    assert (
        "--missing-chunks is for Zarr"
        in sepconv("run", "in.npy", "out.npy", "abs", "--missing-chunks", "fill", status=2).stderr
    )


@pytest.mark.parametrize("order", ["C", "F", [1, 0]])
@pytest.mark.parametrize("codec", ["bytes", "endian"])
def test_orders_and_names_of_older_drafts(sepconv, order, codec):
    folder = sepconv.folder / "in.zarr"
    write(folder, 3, "/", stored=0)
    messages = json.loads((folder / "zarr.json").read_text())
    messages["codecs"] = [
        {"name": "transpose", "configuration": {"order": order}},
        {"name": codec, "configuration": {"endian": "little"}},
    ]
    (folder / "zarr.json").write_text(json.dumps(messages))
    for i in range(4):
        file = folder / f"c/{i // 2}/{i % 2}"
        file.parent.mkdir(parents=True, exist_ok=True)
        part = VALUES[i // 2 * 10 : i // 2 * 10 + 10, i % 2 * 12 : i % 2 * 12 + 12]
        file.write_bytes(part.tobytes(order="C" if order == "C" else "F"))
    sepconv("run", "in.zarr", "out.npy")
    assert np.array_equal(np.load(sepconv.folder / "out.npy"), VALUES)


def test_what_zarr_python_writes(sepconv):
    zarr = pytest.importorskip("zarr")
    for version in (2, 3):
        name = f"z{version}.zarr"
        shards = {"shards": (20, 24)} if version == 3 else {}
        zarr.create_array(
            sepconv.folder / name,
            shape=(40, 24),
            chunks=(10, 12),
            dtype="u2",
            zarr_format=version,
            fill_value=0,
            **shards,
        )[:20] = VALUES
        assert ("1 of 2 shards" if version == 3 else "4 of 8 chunks") in sepconv("info", name).stdout
