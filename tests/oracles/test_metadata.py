"""What an image carries beside its pixels goes along where it still holds: checked with tifffile on both
sides."""

import numpy as np
import pytest
import tifffile
from reference import random_image

ICC = bytes(range(256)) * 2
# GeoTIFF: pixel scale, tie point, key directory, ASCII parameters; and GDAL's no-data value.
GEO_TAGS = [
    (33550, "d", 3, (0.5, 0.5, 0.0), True),
    (33922, "d", 6, (0.0, 0.0, 0.0, 440720.0, 3751320.0, 0.0), True),
    (34735, "H", 8, (1, 1, 0, 1, 1024, 0, 1, 1), True),
    (34737, "s", 0, "WGS 84 / UTM zone 11N|", True),
]


@pytest.fixture
def source(sepconv):
    path = sepconv.folder / "in.tif"
    tifffile.imwrite(
        path,
        random_image((40, 50, 3), np.uint16),
        photometric="rgb",
        description="a field in spring",
        software="somebody's scanner",
        datetime="2024:05:06 07:08:09",
        resolution=(1200, 600),
        resolutionunit="CENTIMETER",
        metadata=None,
        extratags=[
            *GEO_TAGS,
            (34675, "B", len(ICC), ICC, True),
            (315, "s", 0, "A. Painter", True),
            (33432, "s", 0, "the painter", True),
            (274, "H", 1, 6, True),
        ],
    )
    return path


def tags_of(path):
    with tifffile.TiffFile(path) as tif:
        return {tag.code: tag.value for tag in tif.pages[0].tags.values()}


def ratio(value):
    return value[0] / value[1]


def test_a_filter_keeps_everything(sepconv, source):
    sepconv("run", source, "out.tif", "gaussian:sigma=2", "--quiet")
    before, after = tags_of(source), tags_of(sepconv.folder / "out.tif")
    for code in (270, 274, 305, 306, 315, 33432, 34675, 262, 296, *(tag[0] for tag in GEO_TAGS)):
        assert after[code] == before[code], code
    for code in (282, 283):
        assert ratio(after[code]) == pytest.approx(ratio(before[code]))


def test_a_change_of_channels_drops_the_profile(sepconv, source):
    sepconv("run", source, "out.tif", "mix_channels:values=0.3,0.6,0.1", "--quiet")
    after = tags_of(sepconv.folder / "out.tif")
    assert 34675 not in after and after[262] == 1
    assert after[33922] == GEO_TAGS[1][3] and after[270] == "a field in spring"


def test_a_description_of_the_shape_says_that_of_the_result(sepconv):
    source = sepconv.folder / "shaped.tif"
    tifffile.imwrite(source, random_image((40, 50), np.uint16), metadata={"axes": "YX"})
    assert "shape" in tags_of(source)[270]
    sepconv("run", source, "same.tif", "gaussian:sigma=2", "--quiet")
    sepconv("run", source, "half.tif", "reduce:factor=2", "cast:type=f32", "--quiet")
    assert "[40,50]" in tags_of(sepconv.folder / "same.tif")[270]
    assert "[20,25]" in tags_of(sepconv.folder / "half.tif")[270]
    with tifffile.TiffFile(sepconv.folder / "half.tif") as tif:
        assert tif.series[0].shape == (20, 25) and tif.series[0].axes == "YX"


def test_alpha_stays_alpha(sepconv):
    source = sepconv.folder / "rgba.tif"
    tifffile.imwrite(
        source,
        random_image((40, 50, 4), np.uint8),
        photometric="rgb",
        extrasamples=["unassalpha"],
        metadata=None,
    )
    sepconv("run", source, "out.tif", "box:radius=1", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        assert tif.pages[0].extrasamples == (tifffile.EXTRASAMPLE.UNASSALPHA,)


def test_the_layout_of_the_source_is_kept(sepconv):
    source = sepconv.folder / "tiled.tif"
    tifffile.imwrite(
        source, random_image((100, 90), np.uint8), tile=(32, 48), compression="zlib", metadata=None
    )
    sepconv("run", source, "out.tif", "box:radius=1", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        page = tif.pages[0]
        assert (page.tilelength, page.tilewidth) == (
            32,
            48,
        ) and page.compression == tifffile.COMPRESSION.ADOBE_DEFLATE
