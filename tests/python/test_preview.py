"""`sepconv.preview` compared with a run on the same level, and as a picture."""

import numpy as np
import pytest

import sepconv as sc


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pixels = np.random.default_rng(1).integers(0, 256, (300, 400, 3), np.uint8)
    np.save("in.npy", pixels)
    return pixels


def decoded(png):
    """Decodes with the library's PNG reader."""
    with open("seen.png", "wb") as file:
        file.write(png)
    return np.asarray(sc.open("seen.png"))


def test_the_picture_is_what_a_run_makes(folder):
    seen = sc.preview("in.npy", sc.gaussian(2) | sc.abs())
    sc.run("in.npy", "out.npy", sc.gaussian(2) | sc.abs(), progress=False)
    assert np.array_equal(seen.pixels, np.load("out.npy")) and seen.level == 0 and seen.scale == 1
    assert repr(seen) == "<sepconv.Preview: all of 400 x 300 pixels, at full resolution>"
    seen.pixels[0] = 0  # the array belongs to the caller


def test_regions_levels_and_sizes(folder):
    sc.run("in.npy", "in.tif", pyramid=True, tile=64, progress=False)
    part = sc.preview("in.tif", "gaussian:sigma=2", region=np.s_[10:60, 20:90])
    assert part.pixels.shape == (50, 70, 3)
    level = sc.preview("in.tif", "gaussian:sigma=2", level=1)
    sc.run("in.tif", "level.npy", "gaussian:sigma=1", level=1, progress=False)
    assert level.scale == 2 and np.array_equal(level.pixels, np.load("level.npy"))
    assert sc.preview("in.tif", size=40).pixels.shape == (30, 40, 3)
    assert np.array_equal(sc.preview(sc.open("in.tif", level=1)).pixels, sc.preview("in.tif", level=1).pixels)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_a_notebook_shows_it(channels):
    pixels = np.random.default_rng(2).integers(1, 256, (7, 9, channels), np.uint8).squeeze()
    png = decoded(sc.files.Preview(pixels, 0, 1, ["seen"])._repr_png_())
    assert np.array_equal(png, pixels)


def test_what_cannot_be():
    with pytest.raises(TypeError, match="previews are of files"):
        sc.preview(np.zeros((8, 8)))
    with pytest.raises(ValueError, match="not inside"):
        sc.preview("in.npy", region="999x9+0+0")
    with pytest.raises(OSError, match="its levels are 0 to 0"):
        sc.preview("in.npy", level=1)
    with pytest.raises(FileNotFoundError):
        sc.preview("missing.npy")
    with pytest.raises(TypeError, match="there is no option 'slots'"):
        sc.preview("in.npy", slots=2)
