"""Installed images of packages compared with SciPy and astropy: Debian's visp-images-data, r-cran-stars,
r-cran-sf, python3-skimage and python3-matplotlib, and the folders in SEPCONV_REAL_IMAGES."""

import os
import pathlib

import numpy as np
import PIL.Image
import pytest
import scipy.ndimage as ndi
import tifffile
from reference import assert_close

ROOTS = [
    "/usr/share/visp-images-data",
    "/usr/lib/R/site-library/stars",
    "/usr/lib/R/site-library/sf",
    "/usr/lib/python3/dist-packages/skimage/data",
    "/usr/share/matplotlib/sample_data",
    *os.environ.get("SEPCONV_REAL_IMAGES", "").split(":"),
]
PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm", ".pbm")
ENDINGS = (".tif", ".tiff", ".npy", *PICTURES)
MOST_OF_A_KIND = 3  # of one folder: hundreds of them are frames of one film

# Files that are refused, and words of the messages.
REFUSED = {
    "lc.tif": "classes by its colour table",
    "lfw_subset.npy": "say which with --axes yxc or zyx",
    "truncated.jpg": "the file ends before the image does",
}


def found():
    kinds = {}
    for root in filter(None, ROOTS):
        for path in sorted(pathlib.Path(root).rglob("*")):
            if path.suffix.lower() in ENDINGS and path.is_file():
                kinds.setdefault((path.parent, path.suffix.lower()), []).append(path)
    return [path for paths in kinds.values() for path in paths[:MOST_OF_A_KIND]]


IMAGES = found()
pytestmark = pytest.mark.skipif(not IMAGES, reason="no package with images is installed")


def picture(path):
    """As sepconv reads it: palettes as colours, grey with alpha as RGBA, bits as black and white. Pillow
    reduces 16-bit colours to 8 bits, so libpng reads them by matplotlib."""
    image = PIL.Image.open(path)
    if path.suffix == ".png" and path.read_bytes()[24] == 16 and image.mode != "I;16" and image.mode != "I":
        plt = pytest.importorskip(
            "matplotlib.image", reason="matplotlib, which reads colours of 16 bits, is not installed"
        )
        return np.rint(plt.imread(path).astype(np.float64) * 65535).astype(np.uint16)
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    if image.mode == "LA":
        image = image.convert("RGBA")
    values = np.asarray(image.convert("RGB") if image.mode == "CMYK" else image)
    if values.dtype == bool:
        return values.astype(np.uint8) * 255
    return values.astype(np.uint16) if values.dtype == np.int32 else values


def read(path):
    """Pixels, the axes of rows and columns, and the nodata value."""
    if path.suffix == ".npy":
        values = np.load(path)
        return values.reshape(-1, values.shape[-1]) if values.ndim == 1 else values, (0, 1), None
    if path.suffix not in (".tif", ".tiff"):
        return picture(path), (0, 1), None
    with tifffile.TiffFile(path) as tif:
        series = tif.series[0]
        values, axes = series.asarray(), series.axes
        if axes.endswith("SYX"):
            values, axes = np.moveaxis(values, -3, -1), axes.replace("SYX", "YXS")
        tag = tif.pages[0].tags.get(42113)
    return values, (axes.index("Y"), axes.index("X")), None if tag is None else float(tag.value)


def smoothed(values, axes, nodata):
    source = values.astype(np.float64)
    sigmas = [2 if axis in axes else 0 for axis in range(values.ndim)]
    if nodata is None:
        return ndi.gaussian_filter(source, sigmas, mode="mirror")
    missing = np.isnan(source) if np.isnan(nodata) else source == nodata
    valid = ndi.gaussian_filter((~missing).astype(np.float64), sigmas, mode="mirror")
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(
            missing, nodata, ndi.gaussian_filter(np.where(missing, 0, source), sigmas, mode="mirror") / valid
        )


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: "/".join(path.parts[-2:]))
def test_a_real_image_is_smoothed(sepconv, path):
    process = sepconv(
        "run",
        path,
        "out.npy",
        "gaussian:sigma=2",
        "--quiet",
        status=(2 if path.name == "lc.tif" else 1) if path.name in REFUSED else 0,
    )
    if path.name in REFUSED:
        assert REFUSED[path.name] in process.stderr and process.stderr.count("\n") == 1
        return
    values, axes, nodata = read(path)
    actual = np.load(sepconv.folder / "out.npy")
    assert actual.shape == values.shape and actual.dtype == values.dtype
    expected = smoothed(values, axes, nodata)
    if values.dtype.kind == "f":  # relative to the largest value
        largest = np.nanmax(np.abs(values[values != nodata]), initial=1)
        actual, expected = actual / largest, expected / largest
    assert_close(actual, expected, values.dtype)


MAPS = [path for path in IMAGES if path.parts[-2:-1] == ("tif",) and path.name not in REFUSED]


@pytest.mark.parametrize("path", MAPS, ids=lambda path: path.name)
@pytest.mark.parametrize(
    "stages",
    [
        ["reduce:factor=3"],
        ["resize:size=100x70"],
        ["transpose"],
        ["reduce:factor=2", "--region", "4x3+5+3"],
        ["gaussian:sigma=1", "--cog"],
    ],
    ids=str,
)
def test_a_real_image_stays_where_it_is(sepconv, path, stages):
    gdal = pytest.importorskip("osgeo.gdal", reason="GDAL's Python module is not installed")
    gdal.UseExceptions()
    source = gdal.Open(str(path))
    said = sepconv("run", path, "out.tif", *stages).stderr
    result = gdal.Open(str(sepconv.folder / "out.tif"))
    assert "GeoTIFF" not in said and "left out" not in said.replace("STATISTICS_*) are left out", "")
    assert result.GetProjection() == source.GetProjection() and result.RasterCount == source.RasterCount
    assert result.GetRasterBand(1).GetNoDataValue() == pytest.approx(
        source.GetRasterBand(1).GetNoDataValue(), nan_ok=True
    )
    if source.GetGeoTransform(can_return_null=True) is None:
        assert result.GetGeoTransform(can_return_null=True) is None
        return
    rows, cols = source.RasterYSize, source.RasterXSize
    source_of = {
        "reduce:factor=3": lambda r, c: (3 * r, 3 * c),
        "resize:size=100x70": lambda r, c: (r * rows / 70, c * cols / 100),
        "transpose": lambda r, c: (c, r),
        "reduce:factor=2": lambda r, c: (2 * (r + 3), 2 * (c + 5)),
    }.get(stages[0], lambda r, c: (r, c))
    before, after = (np.reshape(image.GetGeoTransform(), (2, 3)) for image in (source, result))
    for row, col in [(0, 0), (10, 0), (0, 20), (30, 40)]:
        source_row, source_col = source_of(row, col)
        np.testing.assert_allclose(after @ (1, col, row), before @ (1, source_col, source_row), rtol=1e-12)
