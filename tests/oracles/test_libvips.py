"""Compared with libvips: TIFF to TIFF with the same taps, with libvips's borders (`replicate`); each reads
the other's pyramids and stacks."""

import json
import subprocess

import numpy as np
import PIL.Image
import pytest
import tifffile
from reference import random_image
from tiff_tools import read_tiff

TAPS = [1, 4, 7, 10, 7, 4, 1]


def vips(sepconv, *arguments):
    subprocess.run(["vips", *arguments], cwd=sepconv.folder, check=True, capture_output=True)


def test_convsep(sepconv):
    sepconv("generate", "in.tif", "--size", "1100x900", "--tile", 256, "--quiet")
    matrix = sepconv.folder / "taps.mat"
    matrix.write_text(f"{len(TAPS)} 1 {sum(TAPS)} 0\n{' '.join(map(str, TAPS))}\n")
    vips = ["vips", "convsep", "in.tif", "vips.tif[tile,compression=lzw]", matrix, "--precision", "float"]
    subprocess.run(vips, cwd=sepconv.folder, check=True)

    taps = ",".join(str(tap / sum(TAPS)) for tap in TAPS)
    stage = f"convolve:row={taps},col={taps},border=replicate"
    sepconv("run", "in.tif", "out.tif", stage, "--compress", "lzw", "--quiet")
    # libvips' result is unrounded float: half a unit, and the rounding of its sums.
    expected = read_tiff(sepconv.folder / "vips.tif").astype(np.float64)
    actual = read_tiff(sepconv.folder / "out.tif")
    assert actual.dtype == np.uint8 and actual.shape == (900, 1100)
    assert np.abs(actual - expected).max() <= 0.501
    assert tifffile.TiffFile(sepconv.folder / "out.tif").pages[0].compression == tifffile.COMPRESSION.LZW


@pytest.mark.parametrize(
    "options",
    [
        "tile,pyramid",
        "tile,pyramid,subifd",
        "tile,pyramid,compression=deflate,predictor=horizontal,bigtiff",
        "tile,pyramid,properties",
        "tile,pyramid,compression=jpeg",
    ],
)
def test_pyramids_by_libvips(sepconv, options):
    sepconv("generate", "made.tif", "--size", "700x900", "--type", "u8", "--quiet")
    vips(sepconv, "copy", "made.tif", f"in.tif[{options},tile-width=128,tile-height=128]")
    facts = json.loads(sepconv("info", "in.tif", "--json").stdout)
    assert facts["images"] == 1 and [(level["cols"], level["rows"]) for level in facts["levels"]] == [
        (350, 450),
        (175, 225),
        (87, 112),
    ]
    for level in range(4):
        vips(
            sepconv,
            "copy",
            f"in.tif[{'subifd' if 'subifd' in options else 'page'}={level - ('subifd' in options)}]",
            "level.tif",
        )
        sepconv("run", "in.tif", "level.npy", "--level", level, "--quiet", "--force")
        np.testing.assert_array_equal(
            np.load(sepconv.folder / "level.npy"), tifffile.imread(sepconv.folder / "level.tif")
        )


def test_libvips_reads_stacks_and_their_levels(sepconv):
    stack = random_image((4, 300, 260), np.uint16)
    tifffile.imwrite(sepconv.folder / "in.ome.tif", stack, ome=True, metadata={"axes": "ZYX"})
    sepconv("run", "in.ome.tif", "out.ome.tif", "--pyramid", "--tile", 64, "--quiet")
    vips(sepconv, "copy", "out.ome.tif[n=-1]", "pages.tif[strip]")
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "pages.tif"), stack)
    with tifffile.TiffFile(sepconv.folder / "out.ome.tif") as tif:
        levels = [level.asarray() for level in tif.series[0].levels]
    assert len(levels) == 4
    for level in (1, 2, 3):
        vips(sepconv, "copy", f"out.ome.tif[n=-1,subifd={level - 1}]", "level.tif[strip]")
        np.testing.assert_array_equal(
            tifffile.imread(sepconv.folder / "level.tif").reshape(levels[level].shape), levels[level]
        )


def test_stacks_of_pyramids_by_libvips(sepconv):
    stack = random_image((4, 300, 260), np.uint16)
    tifffile.imwrite(sepconv.folder / "made.tif", stack, photometric="minisblack", metadata=None)
    vips(sepconv, "copy", "made.tif[n=-1]", "in.tif[tile,pyramid,subifd,tile-width=64,tile-height=64]")
    facts = json.loads(sepconv("info", "in.tif", "--json").stdout)
    assert facts["images"] == 4 and len(facts["levels"]) == 3
    sepconv("run", "in.tif", "out.npy", "--quiet")
    np.testing.assert_array_equal(np.load(sepconv.folder / "out.npy"), stack)


def test_tiles_of_deep_zoom_by_libvips(sepconv):
    sepconv("generate", "made.tif", "--size", "700x900", "--type", "u8", "--quiet")
    vips(sepconv, "dzsave", "made.tif", "zoom", "--tile-size", "128", "--suffix", ".png")
    tiles = sorted((sepconv.folder / "zoom_files").glob("10/*.png"))
    assert len(tiles) > 40
    for tile in tiles[::5]:
        sepconv("run", tile, "tile.npy", "--quiet", "--force")
        np.testing.assert_array_equal(np.load(sepconv.folder / "tile.npy"), np.asarray(PIL.Image.open(tile)))
