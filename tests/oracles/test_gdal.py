"""GDAL's files are read, and its validator accepts Cloud Optimized GeoTIFFs. Skipped without GDAL's Python
module."""

import json

import numpy as np
import pytest
import tifffile
from reference import random_image

gdal = pytest.importorskip("osgeo.gdal", reason="GDAL's Python module is not installed")
gdal.UseExceptions()

LAYOUTS = [
    [],
    ["TILED=YES", "COMPRESS=DEFLATE", "PREDICTOR=2"],
    ["TILED=YES", "COMPRESS=LZW", "INTERLEAVE=BAND"],
    ["COMPRESS=PACKBITS", "BIGTIFF=YES"],
    ["ENDIANNESS=BIG", "TILED=YES"],
    ["TILED=YES", "SPARSE_OK=YES"],
]
TYPES = {
    "uint8": gdal.GDT_Byte,
    "int16": gdal.GDT_Int16,
    "uint32": gdal.GDT_UInt32,
    "float32": gdal.GDT_Float32,
    "float64": gdal.GDT_Float64,
    "complex64": gdal.GDT_CFloat32,
}
PLACE = (100.0, 2.0, 0.0, 900.0, 0.0, -2.0)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: " ".join(layout) or "plain")
@pytest.mark.parametrize("bands", [1, 3, 7])
@pytest.mark.parametrize("dtype", TYPES)
def test_files_by_gdal_and_their_overviews(sepconv, dtype, bands, layout):
    if "PREDICTOR=2" in layout and dtype == "complex64":
        layout = layout[:2]
    values = random_image((bands, 101, 143), np.float32 if dtype == "complex64" else dtype).astype(dtype)
    result = gdal.GetDriverByName("MEM").Create("", 143, 101, bands, TYPES[dtype])
    result.SetGeoTransform(PLACE)
    for band, plane in enumerate(values):
        result.GetRasterBand(band + 1).WriteArray(plane)
    path = sepconv.folder / "in.tif"
    file = gdal.GetDriverByName("GTiff").CreateCopy(str(path), result, options=layout)
    file.BuildOverviews("NEAREST", [2, 4])
    file = None
    assert [level["cols"] for level in json.loads(sepconv("info", "in.tif", "--json").stdout)["levels"]] == [
        72,
        36,
    ]
    file = gdal.Open(str(path))
    for level in range(3):
        expected = np.stack(
            [
                (band if level == 0 else band.GetOverview(level - 1)).ReadAsArray()
                for band in map(file.GetRasterBand, range(1, bands + 1))
            ],
            -1,
        )
        sepconv("run", "in.tif", "out.npy", "--level", level, "--force", "--quiet")
        np.testing.assert_array_equal(np.load(sepconv.folder / "out.npy").reshape(expected.shape), expected)
        sepconv("run", "in.tif", "out.tif", "--level", level, "--force", "--quiet", "--pyramid", "none")
        position = gdal.Open(str(sepconv.folder / "out.tif")).GetGeoTransform()
        assert position == pytest.approx(
            (100, 2 * 143 / expected.shape[1], 0, 900, 0, -2 * 101 / expected.shape[0])
        )


def test_places_that_gdal_gives_by_points_of_the_ground(sepconv):
    result = gdal.GetDriverByName("MEM").Create("", 300, 200, 1, gdal.GDT_Byte)
    gdal.Translate(
        str(sepconv.folder / "in.tif"),
        result,
        GCPs=[gdal.GCP(10, 20, 0, 4, 6), gdal.GCP(30, 20, 0, 100, 6), gdal.GCP(10, 50, 0, 4, 90)],
    )
    for stages, expected in (
        (["reduce:factor=2"], [(2, 3), (50, 3), (2, 45)]),
        (["transpose"], [(6, 4), (6, 100), (90, 4)]),
    ):
        sepconv("run", "in.tif", "out.tif", *stages, "--force", "--quiet")
        points = gdal.Open(str(sepconv.folder / "out.tif")).GetGCPs()
        assert [(point.GCPPixel, point.GCPLine) for point in points] == expected
        assert [(point.GCPX, point.GCPY) for point in points] == [(10, 20), (30, 20), (10, 50)]


def check_cloud_optimized(path):
    validator = pytest.importorskip(
        "osgeo_utils.samples.validate_cloud_optimized_geotiff", reason="GDAL's validator is not installed"
    )
    warnings, errors, _ = validator.validate(str(path), full_check=True)
    assert warnings == [] and errors == []


COGS = [
    (dtype, (700, 900), codec, [])
    for dtype in ("uint8", "int16", "float32", "float64")
    for codec in ("none", "deflate", "lzw", "zstd", "packbits")
]
COGS += [
    ("uint8", shape, codec, chain)
    for shape in ((50, 60), (600, 700, 3), (513, 1025, 4), (1, 2000), (700, 900, 7))
    for codec in ("deflate", "jpeg")
    for chain in (["reduce:factor=2"], ["resize:scale=1.5"], ["transpose"])
    if codec != "jpeg" or shape[2:] in ((), (3,))
]


@pytest.mark.parametrize("tile", [[], ["--tile", "128"]], ids=str)
@pytest.mark.parametrize("dtype, shape, codec, chain", COGS, ids=str)
def test_cloud_optimized(sepconv, dtype, shape, codec, chain, tile):
    position = [
        (33550, "d", 3, (2.0, 2.0, 0.0), True),
        (33922, "d", 6, (0.0, 0.0, 0.0, 100.0, 900.0, 0.0), True),
    ]
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        random_image(shape, dtype),
        extratags=position,
        metadata=None,
        photometric="rgb" if shape[2:] in ((3,), (4,)) else "minisblack",
        planarconfig=None if len(shape) == 2 else "contig",
    )
    sepconv(
        "run",
        "in.tif",
        "out.tif",
        *(chain or ["gaussian:sigma=1"]),
        "--cog",
        "--compress",
        codec,
        *tile,
        "--quiet",
    )
    check_cloud_optimized(sepconv.folder / "out.tif")
