"""TIFF to TIFF beside libvips, with the same taps: its borders are `replicate`."""

import subprocess

import numpy as np
import tifffile
from tiff_tools import read_tiff

TAPS = [1, 4, 7, 10, 7, 4, 1]


def test_convsep(sepconv):
    sepconv("generate", "in.tif", "--size", "1100x900", "--tile", 256, "--quiet")
    matrix = sepconv.folder / "taps.mat"
    matrix.write_text(f"{len(TAPS)} 1 {sum(TAPS)} 0\n{' '.join(map(str, TAPS))}\n")
    vips = ["vips", "convsep", "in.tif", "vips.tif[tile,compression=lzw]", matrix, "--precision", "float"]
    subprocess.run(vips, cwd=sepconv.folder, check=True)

    taps = ",".join(str(tap / sum(TAPS)) for tap in TAPS)
    stage = f"taps:row={taps},col={taps},border=replicate"
    sepconv("run", "in.tif", "out.tif", stage, "--compress", "lzw", "--quiet")
    # libvips' result is float and unrounded: half a unit, and the rounding of its sums.
    expected = read_tiff(sepconv.folder / "vips.tif").astype(np.float64)
    actual = read_tiff(sepconv.folder / "out.tif")
    assert actual.dtype == np.uint8 and actual.shape == (900, 1100)
    assert np.abs(actual - expected).max() <= 0.501
    assert tifffile.TiffFile(sepconv.folder / "out.tif").pages[0].compression == tifffile.COMPRESSION.LZW
