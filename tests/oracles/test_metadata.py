"""Metadata are kept where they still hold: checked with tifffile on both sides."""

import json

import numpy as np
import pytest
import tifffile
from reference import random_image

ICC = bytes(range(256)) * 2
# GeoTIFF: pixel scale, tie point, key directory, ASCII parameters; and GDAL's nodata value.
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


def read_tags(path):
    with tifffile.TiffFile(path) as tif:
        return {tag.code: tag.value for tag in tif.pages[0].tags.values()}


def ratio(value):
    return value[0] / value[1]


def test_a_filter_keeps_everything(sepconv, source):
    sepconv("run", source, "out.tif", "gaussian:sigma=2", "--quiet")
    before, after = read_tags(source), read_tags(sepconv.folder / "out.tif")
    for code in (270, 274, 305, 306, 315, 33432, 34675, 262, 296, *(tag[0] for tag in GEO_TAGS)):
        assert after[code] == before[code], code
    for code in (282, 283):
        assert ratio(after[code]) == pytest.approx(ratio(before[code]))


def test_a_change_of_channels_drops_the_profile(sepconv, source):
    sepconv("run", source, "out.tif", "mix_channels:values=0.3,0.6,0.1", "--quiet")
    after = read_tags(sepconv.folder / "out.tif")
    assert 34675 not in after and after[262] == 1
    assert after[33922] == GEO_TAGS[1][3] and after[270] == "a field in spring"


def test_a_description_of_the_shape_says_that_of_the_result(sepconv):
    source = sepconv.folder / "shaped.tif"
    tifffile.imwrite(source, random_image((40, 50), np.uint16), metadata={"axes": "YX"})
    assert "shape" in read_tags(source)[270]
    sepconv("run", source, "same.tif", "gaussian:sigma=2", "--quiet")
    sepconv("run", source, "half.tif", "reduce:factor=2", "cast:type=f32", "--quiet")
    assert "[40,50]" in read_tags(sepconv.folder / "same.tif")[270]
    assert "[20,25]" in read_tags(sepconv.folder / "half.tif")[270]
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


def facts(sepconv, name):
    return json.loads(sepconv("info", name, "--json").stdout)["pages"][0]["facts"]


@pytest.mark.parametrize("is_point", [False, True])
@pytest.mark.parametrize("is_rotated", [False, True])
def test_info_states_the_georeference(sepconv, is_rotated, is_point):
    """OGC GeoTIFF 1.1, section 7: with RasterPixelIsPoint a tie point is at a pixel's centre. GDAL states the
    corner."""
    keys = [(1, 1, 0, 3), (1024, 0, 1, 1), (1025, 0, 1, 1 + is_point), (3072, 0, 1, 32632)]
    if is_rotated:
        matrix = (3.0, 4.0, 0.0, 7.5, 4.0, -3.0, 0.0, 1.25, *[0.0] * 4, 0.0, 0.0, 0.0, 1.0)
        positions = [(34264, "d", 16, matrix, True)]
        corner, size = (7.5, 1.25), "5 x 5, rotated"
        shift = (3.5, 0.5)
    else:
        positions = [
            (33550, "d", 3, (10.0, 20.0, 0.0), True),
            (33922, "d", 6, (1.0, 2.0, 0.0, 510.0, 960.0, 0.0), True),
        ]
        corner, size = (500, 1000), "10 x 20"
        shift = (5, -10)
    keys = [number for key in keys for number in key]
    tifffile.imwrite(
        sepconv.folder / "geo.tif",
        random_image((20, 30), np.uint8),
        extratags=[*positions, (34735, "H", len(keys), keys, True)],
    )
    found = facts(sepconv, "geo.tif")
    expected = [start - is_point * by for start, by in zip(corner, shift)]
    assert [float(number) for number in found["origin"].split(", ")] == expected
    assert found["pixel size"] == size and found["coordinate system"] == "EPSG:32632"


def test_info_states_band_names(sepconv):
    names = '<Item name="DESCRIPTION" sample="{}" role="description">{}</Item>'
    xml = f"<GDALMetadata>{names.format(1, 'near infrared')}{names.format(0, 'red')}</GDALMetadata>"
    tifffile.imwrite(
        sepconv.folder / "bands.tif",
        random_image((20, 30, 2), np.uint8),
        planarconfig="contig",
        extratags=[(42112, "s", 0, xml, True)],
    )
    assert facts(sepconv, "bands.tif")["band names"] == "red, near infrared"


def test_info_states_sizes_and_channels_of_microscopy(sepconv):
    stack = random_image((3, 4, 20, 30), np.uint8)
    sizes = {f"PhysicalSize{axis}": size for axis, size in zip("XYZ", (0.25, 0.5, 2.0))}
    tifffile.imwrite(
        sepconv.folder / "stack.ome.tif",
        stack,
        metadata={"axes": "CZYX", **sizes, "Channel": {"Name": ["DAPI", "GFP", "RFP"]}},
    )
    found = facts(sepconv, "stack.ome.tif")
    assert found["pixel size"] == "0.25 x 0.5 x 2 micrometer (x, y, z)"
    assert found["channel names"] == "DAPI, GFP, RFP"
    tifffile.imwrite(
        sepconv.folder / "imagej.tif",
        stack.transpose(1, 0, 2, 3),
        imagej=True,
        resolution=(4, 2),
        metadata={"axes": "ZCYX", "spacing": 2.0, "unit": "um"},
    )
    assert facts(sepconv, "imagej.tif")["pixel size"] == "0.25 x 0.5 x 2 micrometer (x, y, z)"
