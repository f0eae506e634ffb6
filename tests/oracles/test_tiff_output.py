"""TIFF files of sepconv are read correctly by tifffile and libvips, and have the requested properties."""

import numpy as np
import PIL.Image
import pytest
import tifffile
from reference import DTYPES, random_image
from test_tiff_input import smooth_image
from tiff_tools import read_tiff


def written(sepconv, image, *options):
    np.save(sepconv.folder / "in.npy", image)
    axes = ("--axes", "yxc") if image.ndim == 3 else ()
    sepconv("run", "in.npy", "out.tif", "--quiet", "--force", *axes, *options)
    return sepconv.folder / "out.tif"


@pytest.mark.parametrize("tile", [0, 48], ids=["strips", "tiles"])
@pytest.mark.parametrize("codec", ["none", "lzw", "deflate", "zstd", "packbits"])
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())
def test_codecs(sepconv, dtype, codec, tile):
    for shape in ((97, 131), (97, 131, 3)):
        image = smooth_image(shape, dtype)
        path = written(sepconv, image, "--compress", codec, "--tile", tile)
        np.testing.assert_array_equal(read_tiff(path), image)
        with tifffile.TiffFile(path) as tif:
            page = tif.pages[0]
            assert page.is_tiled == bool(tile) and (not tile or (page.tilelength, page.tilewidth) == (48, 48))
            assert page.photometric == (
                2 if len(shape) == 3 and np.issubdtype(dtype, np.unsignedinteger) else 1
            )


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("tile", [0, 32], ids=["strips", "tiles"])
@pytest.mark.parametrize("big", ["--bigtiff=yes", "--bigtiff=no"])
def test_planar(sepconv, channels, tile, big):
    image = random_image((50, 70, channels), np.uint16)
    path = written(sepconv, image, "--planar", "--tile", tile, big)
    with tifffile.TiffFile(path) as tif:
        assert tif.is_bigtiff == (big == "--bigtiff=yes")
        pixels = tif.pages[0].asarray()
    if channels == 1:
        pixels = pixels[np.newaxis]
    np.testing.assert_array_equal(np.moveaxis(pixels, 0, -1), image)


def test_jpeg(sepconv):
    image = smooth_image((97, 131, 3), np.uint8)
    path = written(sepconv, image, "--compress", "jpeg:95", "--tile", 32)
    assert np.abs(np.asarray(PIL.Image.open(path)).astype(int) - image).mean() < 3


@pytest.mark.parametrize(
    "options", [["--compress", "deflate"], ["--tile", "64", "--compress", "zstd"], ["--planar"]]
)
def test_the_same_bytes_for_any_threads(sepconv, options):
    np.save(sepconv.folder / "in.npy", smooth_image((301, 257, 3), np.uint16))
    files = []
    for plan in (
        ["--threads", 1, "--slots", 1],
        ["--threads", 2, "--band-rows", 64],
        ["--threads", 3, "--slots", 4],
    ):
        sepconv("run", "in.npy", "out.tif", "gaussian:sigma=2", "--quiet", "--force", *plan, *options)
        files.append((sepconv.folder / "out.tif").read_bytes())
    assert files[0] == files[1] == files[2]
