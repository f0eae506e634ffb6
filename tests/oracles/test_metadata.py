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


def geo_facts(sepconv, *tags):
    """The facts and the metadata that info states of a TIFF with these tags, doubles or keys."""
    keys = [number for tag in tags if len(tag) == 4 for number in tag]
    doubles = [(tag[0], "d", len(tag[1]), tag[1], True) for tag in tags if len(tag) == 2]
    directory = [(34735, "H", 4 + len(keys), (1, 1, 0, len(keys) // 4, *keys), True)]
    tifffile.imwrite(
        sepconv.folder / "geo.tif", random_image((20, 30), np.uint8), extratags=doubles + directory
    )
    page = json.loads(sepconv("info", "geo.tif", "--json").stdout)["pages"][0]
    return page["facts"], page["metadata"]


@pytest.mark.parametrize(
    "model, projected, geographic, code",
    [
        (1, 32632, 4326, 32632),
        (2, 32632, 4326, 4326),
        (2, 32632, 32767, 32632),
        (1, 32767, 4326, 4326),
        (2, 0, 1023, None),
        (1, 1024, 4326, 1024),
        (1, 32766, 4326, 32766),
        (1, 32768, 65535, None),
    ],
)
def test_the_model_type_selects_the_coordinate_system(sepconv, model, projected, geographic, code):
    """OGC GeoTIFF 1.1, section 7.5: EPSG codes are 1024 to 32766."""
    keys = [(1024, 0, 1, model), (2048, 0, 1, geographic), (3072, 0, 1, projected)]
    found, metadata = geo_facts(sepconv, *keys)
    assert metadata["crs"] == (None if code is None else {"epsg": code})
    assert found.get("coordinate system") == (None if code is None else f"EPSG:{code}")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf"), 0.0])
@pytest.mark.parametrize("index", [0, 1])
def test_a_scale_that_is_no_size_is_no_geotransform(sepconv, number, index):
    scale = [10.0, 20.0, 0.0]
    scale[index] = number
    found, _ = geo_facts(sepconv, (33550, scale), (33922, [0.0, 0.0, 0.0, 500.0, 900.0, 0.0]))
    assert "pixel size" not in found and "origin" not in found


@pytest.mark.parametrize(
    "matrix", [[1.0, 2.0, 2.0, 4.0], [float("nan"), 0.0, 0.0, 1.0], [1e300, 0.0, 0.0, 1e300]]
)
def test_a_matrix_without_an_area_is_no_geotransform(sepconv, matrix):
    a, b, c, d = matrix
    values = [a, b, 0.0, 5.0, c, d, 0.0, 6.0, *[0.0] * 7, 1.0]
    assert "pixel size" not in geo_facts(sepconv, (34264, values))[0]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_an_origin_that_is_no_number_is_no_geotransform(sepconv, number):
    found, _ = geo_facts(sepconv, (33550, [1.0, 1.0, 0.0]), (33922, [0.0, 0.0, 0.0, 5.0, number, 0.0]))
    assert "origin" not in found


@pytest.mark.parametrize("scale", [(10, 20), (-10, 20), (10, -20), (-10, -20)])
def test_info_states_the_sign_of_a_scale(sepconv, scale):
    found, _ = geo_facts(
        sepconv, (33550, [*map(float, scale), 0.0]), (33922, [0.0, 0.0, 0.0, 500.0, 900.0, 0.0])
    )
    assert found["pixel size"] == f"{scale[0]} x {scale[1]}"


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


def test_band_names_have_their_band_if_others_have_none(sepconv):
    item = '<Item name="DESCRIPTION" sample="{}" role="description">{}</Item>'
    items = item.format(0, "red") + item.format(2, "blue") + item.format("x", "none")
    xml = f"<GDALMetadata>{items}</GDALMetadata>"
    tifffile.imwrite(
        sepconv.folder / "bands.tif",
        random_image((20, 30, 3), np.uint8),
        photometric="minisblack",
        planarconfig="contig",
        extratags=[(42112, "s", 0, xml, True)],
    )
    assert facts(sepconv, "bands.tif")["band names"] == "red (band 1), blue (band 3)"


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


def ome_xml(**attributes):
    pixels = {
        "ID": "Pixels:0",
        "DimensionOrder": "XYZCT",
        "Type": "uint8",
        "SizeX": 30,
        "SizeY": 20,
        "SizeZ": 2,
        "SizeC": 1,
        "SizeT": 1,
        **attributes,
    }
    color = pixels.pop("Color", "65535")
    return (
        '<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">'
        '<Image ID="Image:0"><Pixels '
        + " ".join(f'{name}="{value}"' for name, value in pixels.items())
        + f'><Channel ID="Channel:0:0" Name="GFP" Color="{color}" SamplesPerPixel="1"/><TiffData/>'
        + "</Pixels></Image></OME>"
    )


UNREADABLE = ["1,5", "1.5xyz", "0x10", "inf", "nan", "-1", "1e400", "+-1", "++1", "1.5 2"]


@pytest.mark.parametrize("number", UNREADABLE)
@pytest.mark.parametrize("name", ["PhysicalSizeX", "PhysicalSizeZ", "TimeIncrement"])
def test_a_size_that_is_no_number_is_left_out_and_reported(sepconv, name, number):
    stack = random_image((2, 20, 30), np.uint8)
    text = ome_xml(**{"PhysicalSizeY": 0.5, name: number})
    tifffile.imwrite(sepconv.folder / "in.ome.tif", stack, description=text, metadata=None)
    page = json.loads(sepconv("info", "in.ome.tif", "--json").stdout)["pages"][0]
    sentence = f"{name} in its description is left out: '{number}' is no finite number from 0 on"
    assert sentence in page["warnings"]
    assert "0.5" in page["facts"]["pixel size"] and "1.5" not in page["facts"]["pixel size"]
    assert sentence in sepconv("run", "in.ome.tif", "out.ome.tif", "reduce:factor=2", "--quiet").stderr
    with tifffile.TiffFile(sepconv.folder / "out.ome.tif") as tif:
        assert f"{name}=" not in tif.ome_metadata and 'PhysicalSizeY="1"' in tif.ome_metadata
    sepconv("run", "in.ome.tif", "out.zarr", "--quiet")
    group = json.loads((sepconv.folder / "out.zarr/zarr.json").read_text())["attributes"]["ome"]
    scales = group["multiscales"][0]["datasets"][0]["coordinateTransformations"][0]["scale"]
    assert scales[-2] == 0.5 and all(scale == 1 for i, scale in enumerate(scales) if i != len(scales) - 2)


@pytest.mark.parametrize("number", ["0.5", " 0.5 ", "+0.5", "5e-1", "0"])
def test_sizes_that_are_numbers_are_not_reported(sepconv, number):
    stack = random_image((2, 20, 30), np.uint8)
    tifffile.imwrite(
        sepconv.folder / "in.ome.tif", stack, description=ome_xml(PhysicalSizeX=number), metadata=None
    )
    page = json.loads(sepconv("info", "in.ome.tif", "--json").stdout)["pages"][0]
    assert page["warnings"] == []
    assert page["facts"].get("pixel size") == (None if number == "0" else "0.5 micrometer (x)")


@pytest.mark.parametrize(
    "color, shown", [("65535", " (#0000FF)"), ("-1", " (#FFFFFF)"), ("12abc", ""), ("1.5", "")]
)
def test_a_colour_that_is_no_number_is_left_out_and_reported(sepconv, color, shown):
    stack = random_image((2, 20, 30), np.uint8)
    tifffile.imwrite(sepconv.folder / "in.ome.tif", stack, description=ome_xml(Color=color), metadata=None)
    page = json.loads(sepconv("info", "in.ome.tif", "--json").stdout)["pages"][0]
    assert page["facts"]["channel names"] == "GFP" + shown
    assert any("Color in its description" in warning for warning in page["warnings"]) == (shown == "")
    sepconv("run", "in.ome.tif", "out.ome.tif", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.ome.tif") as tif:
        assert ("Color=" in tif.ome_metadata) == (shown != "")


@pytest.mark.parametrize("name", ["SizeX", "SizeZ", "SizeC"])
@pytest.mark.parametrize("suffix", ["x", ".5", ",0"])
def test_counts_that_are_no_whole_numbers_make_the_description_unusable(sepconv, name, suffix):
    stack = random_image((2, 20, 30), np.uint8)
    count = {"SizeX": "30", "SizeZ": "2", "SizeC": "1"}[name] + suffix
    tifffile.imwrite(
        sepconv.folder / "in.ome.tif", stack, description=ome_xml(**{name: count}), metadata=None
    )
    assert "its OME-XML states " in sepconv("run", "in.ome.tif", "out.tif", "--quiet").stderr


@pytest.mark.parametrize("number", UNREADABLE)
@pytest.mark.parametrize("key", ["spacing", "finterval"])
def test_a_step_of_imagej_that_is_no_number_is_left_out_and_reported(sepconv, key, number):
    text = f"ImageJ=1.53\nimages=2\nslices=2\nunit=um\n{key}={number}\n"
    stack = random_image((2, 20, 30), np.uint8)
    tifffile.imwrite(sepconv.folder / "in.tif", stack, description=text, metadata=None, resolution=(4, 2))
    page = json.loads(sepconv("info", "in.tif", "--json").stdout)["pages"][0]
    sentence = f"{key} in its description is left out: '{number}' is no finite number from 0 on"
    assert sentence in page["warnings"] and page["facts"]["pixel size"] == "0.25 x 0.5 micrometer (x, y)"
    assert sentence in sepconv("run", "in.tif", "out.tif", "box:radius=1", "--quiet").stderr
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        assert f"{key}=" not in tif.pages[0].description and "unit=um" in tif.pages[0].description
