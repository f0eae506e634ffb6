"""Real photographs, from Debian's python3-skimage, compared with SciPy; skipped if they are not installed."""

import pathlib

import numpy as np
import PIL.Image
import pytest
import scipy.ndimage as ndi
import tifffile
from reference import assert_close

PHOTOGRAPHS = pathlib.Path("/usr/lib/python3/dist-packages/skimage/data")
NAMES = ["camera.png", "astronaut.png", "coffee.png", "chelsea.png", "moon.png", "rocket.jpg", "retina.jpg"]

pytestmark = pytest.mark.skipif(
    not PHOTOGRAPHS.is_dir(), reason="python3-skimage with its photographs is not installed"
)


@pytest.mark.parametrize("name", NAMES)
def test_gaussian(sepconv, name):
    image = np.asarray(PIL.Image.open(PHOTOGRAPHS / name))
    sepconv("run", PHOTOGRAPHS / name, "out.npy", "gaussian:sigma=2.5", "--quiet")
    expected = ndi.gaussian_filter(image.astype(np.float64), (2.5, 2.5, 0)[: image.ndim], mode="mirror")
    assert_close(np.load(sepconv.folder / "out.npy"), expected, np.uint8)


@pytest.mark.parametrize("name", ["camera.png", "astronaut.png"])
def test_png_to_png(sepconv, name):
    image = np.asarray(PIL.Image.open(PHOTOGRAPHS / name))
    sepconv("run", PHOTOGRAPHS / name, "out.png", "unsharp:sigma=1.5,amount=0.8", "--quiet")
    source = image.astype(np.float64)
    expected = source + 0.8 * (
        source - ndi.gaussian_filter(source, (1.5, 1.5, 0)[: image.ndim], mode="mirror")
    )
    assert_close(np.asarray(PIL.Image.open(sepconv.folder / "out.png")), expected, np.uint8)


@pytest.mark.parametrize("name", ["chessboard_GRAY_U16.tif", "chessboard_GRAY_U16B.tif"])
def test_tiff(sepconv, name):
    image = tifffile.imread(PHOTOGRAPHS / name)
    sepconv("run", PHOTOGRAPHS / name, "out.tif", "sobel:axis=x", "--quiet")
    expected = ndi.sobel(image.astype(np.float64), axis=1, mode="mirror")
    assert_close(tifffile.imread(sepconv.folder / "out.tif"), expected, image.dtype.newbyteorder("="))
