"""Zarr by path: a folder is a file of several levels and images. Results are identical to the program's, file
by file."""

import json
import os
import pathlib

import numpy as np
import pytest

import sepconv as sc

pytestmark = pytest.mark.filterwarnings("ignore::sepconv.FileWarning")

VALUES = (np.random.default_rng(1).random((4, 90, 130)) * 60000).astype("u2")
PLANE = VALUES[0]


@pytest.fixture(autouse=True)
def in_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("plane.npy", PLANE)
    np.save("stack.npy", VALUES)


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in pathlib.Path(folder).rglob("*")
        if path.is_file()
    }


def metadata(name):
    return json.loads(pathlib.Path(name).read_text())


CASES = [
    ({}, []),
    (dict(tile=32, zarr=2), ["--chunk", "32", "--zarr", "2"]),
    (dict(tile=(16, 24), shard=(32, 48)), ["--chunk", "16x24", "--shard", "32x48"]),
    (
        dict(tile="16x24", shard="32x48", compress="none"),
        ["--tile", "16x24", "--shard", "32x48", "--compress", "none"],
    ),
    (dict(tile=32, pyramid=True, compress="zstd:3"), ["--tile", "32", "--pyramid", "--compress", "zstd:3"]),
    (dict(tile="y=16,x=24", shard={"y": 32, "x": 48}), ["--chunk", "16x24", "--shard", "32x48"]),
    (
        dict(tile=16, shard=64, pyramid=True, zarr=3),
        ["--tile", "16", "--shard", "64", "--pyramid", "--zarr", "3"],
    ),
]


@pytest.mark.parametrize("options, flags", CASES, ids=[str(place) for place in range(len(CASES))])
def test_the_zarr_is_the_programs(sepconv, options, flags):
    sepconv("run", "plane.npy", "theirs.zarr", "gaussian:sigma=1", "--quiet", *flags)
    sc.run("plane.npy", "ours.zarr", "gaussian:sigma=1", progress=False, **options)
    assert contents("ours.zarr") == contents("theirs.zarr")
    repeated = sc.plan("plane.npy", "planned.zarr", "gaussian:sigma=1", **options)
    sc.run("plane.npy", "planned.zarr", "gaussian:sigma=1", plan=repeated, progress=False, **options)
    assert contents("planned.zarr") == contents("theirs.zarr")


def test_chunks_shards_and_versions_are_as_asked_for():
    sc.run("plane.npy", "two.zarr", zarr=2, tile=(32, 40), progress=False)
    assert metadata("two.zarr/0/.zarray")["chunks"] == [32, 40]
    sc.run("plane.npy", "shards.zarr", tile=16, shard=(32, 64), progress=False)
    array = metadata("shards.zarr/0/zarr.json")
    assert array["chunk_grid"]["configuration"]["chunk_shape"] == [32, 64]
    assert array["codecs"][0]["configuration"]["chunk_shape"] == [16, 16]
    sc.run("shards.zarr", "files.zarr", shard=0, progress=False)
    assert metadata("files.zarr/0/zarr.json")["chunk_grid"]["configuration"]["chunk_shape"] == [16, 16]
    sc.run("shards.zarr", "same.zarr", progress=False)
    assert contents("same.zarr") == contents("shards.zarr")
    for name in ("two.zarr", "shards.zarr", "files.zarr"):
        with sc.open(name) as image:
            assert np.array_equal(image, PLANE) and image.dtype == "u2" and image.chunks[1] in (40, 16)


def test_what_zarr_or_others_have_not_is_refused():
    for error, match, sink, options in [
        (ValueError, "shard.*Zarr 3", "a.zarr", dict(zarr=2, shard=64)),
        (ValueError, "is not one of 2, 3", "a.zarr", dict(zarr=4)),
        (ValueError, "is not a shape of a block", "a.zarr", dict(shard="large")),
        (ValueError, "is not a shape of a block", "a.zarr", dict(tile="512,512")),
        (ValueError, "strips", "a.zarr", dict(tile=0)),
        (ValueError, "not a shape", "a.zarr", dict(tile="z=,16")),
        (ValueError, "no axis q", "a.zarr", dict(tile={"q": 3})),
        (ValueError, "tile.* means nothing for TIFF", "a.tif", dict(tile={"z": 3})),
        (ValueError, "lzw", "a.zarr", dict(compress="lzw")),
        (ValueError, "cog", "a.zarr", dict(cog=True)),
        (ValueError, "shard.* means nothing for TIFF", "a.tif", dict(shard=64)),
        (ValueError, "zarr.* means nothing for NPY", "a.npy", dict(zarr=3)),
        (ValueError, "zarr= is for files", np.empty_like(PLANE), dict(zarr=3)),
        (ValueError, "shard= is for files", np.empty_like(PLANE), dict(shard=64)),
    ]:
        with pytest.raises(error, match=match):
            sc.run("plane.npy", sink, progress=False, **options)
    assert sorted(os.listdir(".")) == ["plane.npy", "stack.npy"]


def test_images_and_levels_are_sliced():
    sc.run("stack.npy", "a.zarr", axes="zyx", tile=32, shard=64, pyramid=True, progress=False)
    with sc.open("a.zarr") as image:
        assert image.axes == ("z", "y", "x") and image.shape == VALUES.shape and image.chunks == (1, 32, 32)
        assert np.array_equal(image[1:3, 20:70:3, 5], VALUES[1:3, 20:70:3, 5]) and np.array_equal(
            image[-1], VALUES[-1]
        )
        assert "OME-Zarr 0.5" in image.layout
    with sc.open("a.zarr", level=1) as half, sc.open("a.zarr/1") as array:
        assert half.shape == (4, 45, 65) and np.array_equal(half, array)
    sc.run("a.zarr", "part.zarr", page="z=1-2", region=np.s_[10:50, 20:100], progress=False)
    assert np.array_equal(np.asarray(sc.open("part.zarr")), VALUES[1:3, 10:50, 20:100])
    with pytest.raises(OSError, match="has no level 9|levels"):
        sc.open("a.zarr", level=9)


def test_chunks_of_several_images_are_kept():
    sc.run("stack.npy", "a.zarr", axes="zyx", tile={"z": 3, "y": 32, "x": 40}, pyramid=True, progress=False)
    assert metadata("a.zarr/0/zarr.json")["chunk_grid"]["configuration"]["chunk_shape"] == [3, 32, 40]
    with sc.open("a.zarr") as image:
        assert image.chunks == (3, 32, 40)
    with sc.open("a.zarr", page="z=1-2") as image:
        assert image.chunks == (2, 32, 40)
    report = sc.run("a.zarr", "same.zarr", progress=False)
    assert contents("same.zarr") == contents("a.zarr") and any(
        "are buffered on the disk" in said for said in report.warnings
    )
    assert np.array_equal(np.asarray(sc.open("same.zarr")), VALUES)
    sc.run("a.zarr", "shards.zarr", tile="z=1", shard={"z": 4, "y": 64, "x": 64}, progress=False)
    array = metadata("shards.zarr/0/zarr.json")
    assert array["chunk_grid"]["configuration"]["chunk_shape"] == [4, 64, 80]
    assert array["codecs"][0]["configuration"]["chunk_shape"] == [1, 32, 40]
    assert np.array_equal(np.asarray(sc.open("shards.zarr")), VALUES)


def test_every_function_takes_paths_of_zarr():
    sc.run("stack.npy", "a.zarr", axes="zyx", tile=32, progress=False)
    sc.run("plane.npy", "plane.zarr", tile=32, progress=False)
    assert [item[0].max for item in sc.stats("a.zarr", progress=False).images] == VALUES.max(
        axis=(1, 2)
    ).tolist()
    assert sc.compare("a.zarr", "stack.npy", axes_b="zyx", progress=False).equal
    sc.transpose("plane.zarr", "turned.zarr", progress=False)
    assert np.array_equal(np.asarray(sc.open("turned.zarr")), PLANE.T)
    factor = np.random.default_rng(2).random((130, 30), np.float32)
    np.save("factor.npy", factor)
    sc.run("factor.npy", "factor.zarr", tile=16, progress=False)
    sc.run("plane.npy", "floats.zarr", "cast:type=f32", progress=False)
    sc.gemm("floats.zarr", "factor.zarr", "product.zarr", progress=False)
    np.testing.assert_allclose(
        np.asarray(sc.open("product.zarr")), PLANE.astype(np.float32) @ factor, rtol=1e-5
    )


def test_only_a_zarr_is_replaced_and_only_when_told():
    sc.run("plane.npy", "a.zarr", progress=False)
    before = contents("a.zarr")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        sc.run("plane.npy", "a.zarr", "abs", progress=False)
    assert contents("a.zarr") == before
    sc.run("plane.npy", "a.zarr", "scale:offset=1", overwrite=True, progress=False)
    assert np.array_equal(np.asarray(sc.open("a.zarr")), PLANE + 1)
    os.mkdir("mine.zarr")
    pathlib.Path("mine.zarr/thesis.txt").write_text("years")
    with pytest.raises(OSError, match="is not Zarr"):
        sc.run("plane.npy", "mine.zarr", overwrite=True, progress=False)
    assert pathlib.Path("mine.zarr/thesis.txt").read_text() == "years"
    for name in ("a.zarr", "./a.zarr", "a.zarr/"):
        with pytest.raises(ValueError, match="input"):
            sc.run("a.zarr", name, "abs", overwrite=True, progress=False)


def test_one_that_was_replaced_since_it_was_opened_is_an_error():
    sc.run("plane.npy", "a.zarr", progress=False)
    image = sc.open("a.zarr")
    assert np.array_equal(image[:9], PLANE[:9])
    sc.run("plane.npy", "a.zarr", "scale:offset=1", overwrite=True, progress=False)
    with pytest.raises(OSError, match="open it again|again"):
        image[:9]


def test_zarr_python_reads_what_was_written():
    zarr = pytest.importorskip("zarr", minversion="3", reason="zarr is not installed")
    for name, options in {
        "two.zarr": dict(zarr=2),
        "three.zarr": {},
        "shards.zarr": dict(tile=16, shard=64),
    }.items():
        sc.run("stack.npy", name, axes="zyx", progress=False, **options)
        assert np.array_equal(zarr.open_group(name, mode="r")["0"][...], VALUES)
