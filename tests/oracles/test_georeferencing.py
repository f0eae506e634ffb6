"""The location of a result on the earth: its GeoTIFF tags agree with the source's tags at the corresponding
pixels."""

import numpy as np
import pytest
import tifffile
from reference import random_image

ROWS, COLS = 45, 63
SCALE, TIE, MATRIX, KEYS, RPC, METADATA = 33550, 33922, 34264, 34735, 50844, 42112

# Maps a corner (row, column) of the result to the source.
CHAINS = {
    "reduce": (["reduce:factor=4"], lambda r, c: (4 * r, 4 * c)),
    "reduce both": (["reduce:factor=2,factor_y=5,filter=binomial"], lambda r, c: (5 * r, 2 * c)),
    "resize": (["resize:size=100x30"], lambda r, c: (ROWS / 30 * r, COLS / 100 * c)),
    "by": (["resize:scale=0.3"], lambda r, c: (ROWS / 14 * r, COLS / 19 * c)),
    "transpose": (["transpose"], lambda r, c: (c, r)),
    "turned and smaller": (["reduce:factor=3,factor_y=2", "transpose"], lambda r, c: (2 * c, 3 * r)),
    "smaller and turned": (["transpose", "reduce:factor=3,factor_y=2"], lambda r, c: (3 * c, 2 * r)),
    "to and fro": (
        ["transpose", "gaussian:sigma=1", "transpose", "resize:scale=2"],
        lambda r, c: (r / 2, c / 2),
    ),
    "twice": (["reduce:factor=2", "resize:size=63x45"], lambda r, c: (2 * 23 / 45 * r, 2 * 32 / 63 * c)),
    "a part": (["reduce:factor=3", "--region", "7x5+11+4"], lambda r, c: (3 * (r + 4), 3 * (c + 11))),
    "a turned part": (["transpose", "--region", "7x5+11+4"], lambda r, c: (c + 11, r + 4)),
}

PAIR = [(SCALE, "d", 3, (0.5, 0.25, 2.0)), (TIE, "d", 6, (3.0, 5.0, 1.0, 440720.0, 3751320.0, 7.0))]
TURNED = [
    (MATRIX, "d", 16, (0.5, 0.1, 0.0, 1000.0, 0.2, -0.4, 0.0, 2000.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 1.0))
]


def raster_type(kind):
    return [(KEYS, "H", 12, (1, 1, 0, 2, 1024, 0, 1, 1, 1025, 0, 1, kind))]


def write(path, tags, **options):
    tifffile.imwrite(
        path,
        random_image((ROWS, COLS), np.uint8),
        metadata=None,
        extratags=[(*tag, True) for tag in tags],
        **options,
    )


def read_tags(path):
    with tifffile.TiffFile(path) as tif:
        return {tag.code: tag.value for tag in tif.pages[0].tags}


def location(tags, row, col):
    """The location of a corner of pixels, by the GeoTIFF standard."""
    centre = 0.5 if tags.get(KEYS, ())[-1:] == (2,) else 0
    i, j = col - centre, row - centre
    if MATRIX in tags:
        assert SCALE not in tags and TIE not in tags
        return np.reshape(tags[MATRIX], (4, 4)) @ (i, j, 0, 1)
    x, y, z = tags[SCALE]
    ((ti, tj, tk, tx, ty, tz),) = np.reshape(tags[TIE], (-1, 6))
    return np.array([tx + x * (i - ti), ty - y * (j - tj), tz - z * tk, 1])


CORNERS = [(0, 0), (0, 7), (5, 0), (5, 7), (2.5, 3.25)]


@pytest.mark.parametrize("kind", [1, 2], ids=["pixel is area", "pixel is point"])
@pytest.mark.parametrize("tags", [PAIR, TURNED], ids=["scale and tie point", "transformation"])
@pytest.mark.parametrize("name", CHAINS)
def test_pixels_stay_where_they_are(sepconv, name, tags, kind):
    stages, source_of = CHAINS[name]
    write(sepconv.folder / "in.tif", [*tags, *raster_type(kind)])
    process = sepconv("run", "in.tif", "out.tif", *stages)
    assert "left out" not in process.stderr
    before, after = read_tags(sepconv.folder / "in.tif"), read_tags(sepconv.folder / "out.tif")
    assert after[KEYS] == before[KEYS]
    for row, col in CORNERS:
        np.testing.assert_allclose(
            location(after, row, col), location(before, *source_of(row, col)), rtol=1e-14, atol=1e-9
        )


@pytest.mark.parametrize("kind", [1, 2])
@pytest.mark.parametrize("name", CHAINS)
def test_points_on_the_ground_stay_in_their_pixels(sepconv, name, kind):
    stages, source_of = CHAINS[name]
    points = [
        (0.0, 0.0, 0.0, 10.0, 20.0, 1.0),
        (50.0, 40.0, 0.0, 30.0, 5.0, 2.0),
        (12.5, 33.0, 0.0, 17.0, 8.0, 3.0),
        (60.0, 2.0, 0.0, 9.0, 1.0, 0.0),
    ]
    write(sepconv.folder / "in.tif", [(TIE, "d", 24, sum(points, ())), *raster_type(kind)])
    sepconv("run", "in.tif", "out.tif", *stages, "--quiet")
    centre = 0.5 if kind == 2 else 0
    for (i, j, *valid), (after_i, after_j, *after_there) in zip(
        points, np.reshape(read_tags(sepconv.folder / "out.tif")[TIE], (-1, 6))
    ):
        assert after_there == valid
        assert source_of(after_j + centre, after_i + centre) == pytest.approx(
            (j + centre, i + centre), abs=1e-12
        )


@pytest.mark.parametrize("name", CHAINS)
def test_rational_polynomials_find_the_same_pixels(sepconv, name):
    """For any polynomials: a row is an offset plus a scale times their quotient. They count from the centre
    of the first pixel."""
    stages, source_of = CHAINS[name]
    rpc = tuple(np.random.default_rng(4).random(92) + 1)
    write(sepconv.folder / "in.tif", [(RPC, "d", 92, rpc), *raster_type(1)])
    sepconv("run", "in.tif", "out.tif", *stages, "--quiet")

    def found(values, terms):
        line, line_below, sample, sample_below = (terms @ part for part in np.reshape(values[12:], (4, 20)))
        return values[2] + values[7] * line / line_below + 0.5, values[3] + values[
            8
        ] * sample / sample_below + 0.5

    after = read_tags(sepconv.folder / "out.tif")[RPC]
    assert after[:2] == rpc[:2] and after[4:7] == rpc[4:7] and after[9:12] == rpc[9:12]
    for terms in np.random.default_rng(5).random((4, 20)):
        assert source_of(*found(np.array(after), terms)) == pytest.approx(found(np.array(rpc), terms))


@pytest.mark.parametrize(
    "tags",
    [
        PAIR[:1],
        [*PAIR, *TURNED],
        [PAIR[0], (TIE, "d", 12, (1.0,) * 12)],
        [(SCALE, "d", 2, (1.0, 1.0)), PAIR[1]],
    ],
    ids=["no tie point", "and a transformation", "two tie points", "two numbers"],
)
def test_a_scale_that_cannot_be_turned_is_left_out(sepconv, tags):
    write(sepconv.folder / "in.tif", [*tags, *raster_type(1)])
    said = sepconv("run", "in.tif", "out.tif", "transpose").stderr
    assert "the GeoTIFF tags are left out: they cannot be moved to where the result lies" in said
    assert not {SCALE, TIE, MATRIX, KEYS} & set(read_tags(sepconv.folder / "out.tif"))


def test_what_counts_pixels_in_other_ways_is_left_out(sepconv):
    """GDAL's geolocation grids and the tiles of a web map; tags that are not locations are kept."""
    xml = (
        '<GDALMetadata>\n  <Item name="AREA_OR_POINT">Area</Item>\n  <Item name="LINE_STEP" domain="GEOLOCATION">1</Item>\n'
        '  <Item name="ZOOM_LEVEL" domain="TILING_SCHEME">9</Item>\n</GDALMetadata>\n'
    )
    write(sepconv.folder / "in.tif", [*PAIR, (METADATA, "s", 0, xml)])
    said = sepconv("run", "in.tif", "out.tif", "reduce:factor=2").stderr
    assert (
        "GDAL's places (GEOLOCATION, TILING_SCHEME, RPC) are left out: they are those of the source's pixels"
        in said
    )
    kept = read_tags(sepconv.folder / "out.tif")[METADATA]
    assert "AREA_OR_POINT" in kept and "STEP" not in kept and "ZOOM" not in kept
    sepconv("run", "in.tif", "same.tif", "gaussian:sigma=1", "--quiet")
    assert read_tags(sepconv.folder / "same.tif")[METADATA] == read_tags(sepconv.folder / "in.tif")[METADATA]


@pytest.mark.parametrize("name", CHAINS)
def test_resolution_and_orientation_follow(sepconv, name):
    stages, source_of = CHAINS[name]
    write(sepconv.folder / "in.tif", [(274, "H", 1, 6)], resolution=(300, 150), resolutionunit="CENTIMETER")
    said = sepconv("run", "in.tif", "out.tif", *stages).stderr
    tags = read_tags(sepconv.folder / "out.tif")
    # A step along a row and a column of the result, on paper.
    for step, resolution in (((0, 1), tags[282]), ((1, 0), tags[283])):
        row, col = np.subtract(source_of(*step), source_of(0, 0))
        assert np.hypot(row / 150, col / 300) == pytest.approx(resolution[1] / resolution[0], rel=1e-6)
    transposed = source_of(0, 1)[1] == source_of(0, 0)[1]
    # With its orientation applied, a transposed image is the transpose of the displayed source.
    assert tags.get(274, 1) == (8 if transposed else 6) and "orientation" not in said


def test_products_of_rows_have_no_places(sepconv):
    """Their columns do not correspond to columns of the source, even if the numbers are equal."""
    np.save(sepconv.folder / "b.npy", np.eye(COLS, dtype=np.float32))
    write(sepconv.folder / "in.tif", PAIR, resolution=(300, 150))
    said = sepconv("run", "in.tif", "out.tif", "gemm:file=b.npy").stderr
    for words in ("the resolution is left out", "the GeoTIFF tags are left out"):
        assert words + ": rows and columns of the result are not the source's" in said
    assert not {SCALE, TIE, 282} & set(read_tags(sepconv.folder / "out.tif"))


def transform_of(path):
    gdal = pytest.importorskip("osgeo.gdal", reason="GDAL's Python module is not installed")
    gdal.UseExceptions()
    image = gdal.Open(str(path))
    return np.reshape(image.GetGeoTransform(), (2, 3)), image


@pytest.mark.parametrize("kind", [1, 2], ids=["pixel is area", "pixel is point"])
@pytest.mark.parametrize("options", [[], ["--pyramid", "--tile", "16"], ["--cog", "--tile", "16"]], ids=str)
@pytest.mark.parametrize("name", CHAINS)
def test_gdal_finds_the_same_places(sepconv, name, options, kind):
    stages, source_of = CHAINS[name]
    write(sepconv.folder / "in.tif", [*PAIR, *raster_type(kind)])
    before, _ = transform_of(sepconv.folder / "in.tif")
    sepconv("run", "in.tif", "out.tif", *stages, *options, "--quiet")
    after, image = transform_of(sepconv.folder / "out.tif")
    for row, col in CORNERS:
        source_row, source_col = source_of(row, col)
        np.testing.assert_allclose(
            after @ (1, col, row), before @ (1, source_col, source_row), rtol=1e-14, atol=1e-9
        )
    if options:
        assert image.GetRasterBand(1).GetOverviewCount() == (
            0
            if max(image.RasterXSize, image.RasterYSize) <= 16
            else int(np.ceil(np.log2(max(image.RasterXSize, image.RasterYSize) / 16)))
        )


def test_a_level_lies_where_its_image_does(sepconv):
    """A level has no tags for its location; as in GDAL its pixels are larger by the ratio of the sides. Other
    valid metadata are kept, too."""
    profile = bytes(range(200))
    write(
        sepconv.folder / "in.tif",
        [*PAIR, *raster_type(2), (42113, "s", 0, "7"), (34675, "B", len(profile), profile)],
        resolution=(300, 150),
        description="a field",
    )
    before, _ = transform_of(sepconv.folder / "in.tif")
    sepconv("run", "in.tif", "levels.tif", "--pyramid", "--tile", "16", "--quiet")
    for level, shape in enumerate([(45, 63), (23, 32), (12, 16)]):
        said = sepconv("run", "levels.tif", "out.tif", "--level", str(level), "--force").stderr
        assert "left out" not in said
        after, image = transform_of(sepconv.folder / "out.tif")
        assert (image.RasterYSize, image.RasterXSize) == shape
        for row, col in CORNERS:
            np.testing.assert_allclose(
                after @ (1, col, row), before @ (1, col * COLS / shape[1], row * ROWS / shape[0]), rtol=1e-14
            )
        tags = read_tags(sepconv.folder / "out.tif")
        assert tags[42113] == "7" and tags[34675] == profile and tags[270] == "a field"
        assert tags[282][0] / tags[282][1] == pytest.approx(300 * shape[1] / COLS, rel=1e-6)


@pytest.mark.parametrize("size", [(30, 20), (63, 90), (126, 15)], ids=str)
def test_as_gdal_translate(sepconv, size):
    """Compared with gdal_translate -outsize."""
    gdal = pytest.importorskip("osgeo.gdal", reason="GDAL's Python module is not installed")
    gdal.UseExceptions()
    write(sepconv.folder / "in.tif", [*PAIR, *raster_type(1)])
    gdal.Translate(
        str(sepconv.folder / "theirs.tif"),
        str(sepconv.folder / "in.tif"),
        width=size[0],
        height=size[1],
        resampleAlg="bilinear",
    )
    sepconv("run", "in.tif", "ours.tif", f"resize:size={size[0]}x{size[1]}", "--quiet")
    ours, reference = read_tags(sepconv.folder / "ours.tif"), read_tags(sepconv.folder / "theirs.tif")
    for row, col in CORNERS:
        np.testing.assert_allclose(
            location(ours, row, col)[:2], location(reference, row, col)[:2], rtol=1e-14, atol=1e-9
        )


@pytest.mark.parametrize("name", CHAINS)
def test_gdal_finds_the_same_pixels_by_rational_polynomials(sepconv, name):
    """Uses GDAL's transformer, because gdal_translate of GDAL 3.6 ignores that RPC count from pixel
    centres."""
    stages, source_of = CHAINS[name]
    ones = (1.0, *[0.0] * 19)
    rpc = (
        0.0,
        0.0,
        22.0,
        31.0,
        50.0,
        8.0,
        100.0,
        25.0,
        35.0,
        0.02,
        0.01,
        50.0,
        *(0.0, 0.1, -1.0, 0.01, *[0.0] * 16),
        *ones,
        *(0.0, 1.0, 0.2, *[0.0] * 17),
        *ones,
    )
    write(sepconv.folder / "in.tif", [(RPC, "d", 92, rpc)])
    sepconv("run", "in.tif", "out.tif", *stages, "--quiet")

    def pixels_of(name):
        from osgeo import gdal

        transformer = gdal.Transformer(transform_of(sepconv.folder / name)[1], None, ["METHOD=RPC"])
        found, done = transformer.TransformPoints(
            True, [(8.003, 50.01, 100.0), (7.995, 49.99, 120.0), (8.0, 50.0, 90.0)]
        )
        assert all(done)
        return [(row, col) for col, row, _ in found]

    transform_of(sepconv.folder / "in.tif")  # skips
    for before, after in zip(pixels_of("in.tif"), pixels_of("out.tif")):
        assert source_of(*after) == pytest.approx(before, abs=1e-7)
