"""Missing pixels in files with more than one plain image: stacks, levels, other element types."""

import json

import numpy as np
import pytest
import tifffile


def nodata_tag(value):
    return [(42113, "s", 0, str(value), True)]


def image_with_holes(shape, dtype, nodata, seed=0):
    rng = np.random.default_rng(seed)
    image = rng.integers(1, 200, shape).astype(dtype)
    image[rng.random(shape) < 0.1] = nodata
    return image


def test_levels_are_means_of_what_is_there(sepconv):
    image = image_with_holes((300, 333), np.float32, -9999)
    image[:64, :64] = -9999
    tifffile.imwrite(
        sepconv.folder / "in.tif", image, tile=(64, 64), extratags=nodata_tag(-9999), photometric="minisblack"
    )
    for option in ("--pyramid", "--cog"):
        sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1", option, "--quiet", "--force")
        with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
            levels = [page.asarray().astype(np.float64) for page in tif.pages]
            assert all(page.tags[42113].value.strip("\0 ") == "-9999" for page in tif.pages)
        np.testing.assert_array_equal(levels[0] == -9999, image == -9999)
        assert len(levels) == 4
        for larger, smaller in zip(levels, levels[1:]):
            padded = np.full([2 * n for n in smaller.shape], np.nan)
            padded[: larger.shape[0], : larger.shape[1]] = np.where(larger == -9999, np.nan, larger)
            cells = padded.reshape(smaller.shape[0], 2, smaller.shape[1], 2)
            valid = np.isfinite(cells)
            counts = valid.sum(axis=(1, 3))
            means = np.where(valid, cells, 0).sum(axis=(1, 3)) / np.maximum(counts, 1)
            np.testing.assert_array_equal(smaller == -9999, counts == 0)
            np.testing.assert_allclose(smaller[counts > 0], means[counts > 0], rtol=1e-5)


def test_every_image_of_a_stack_has_its_own_value(sepconv):
    values = [0, 7, None, 7]
    pages = [
        image_with_holes((60, 70), np.uint8, 0 if value is None else value, seed)
        for seed, value in enumerate(values)
    ]
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as tif:
        for value, page in zip(values, pages):
            tif.write(
                page,
                extratags=nodata_tag(value) if value is not None else [],
                photometric="minisblack",
                metadata=None,
            )
    sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1.5", "--quiet")
    for index, value in enumerate(values):
        sepconv("run", "in.tif", "alone.tif", "gaussian:sigma=1.5", "--page", index, "--quiet", "--force")
        with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
            page = tif.pages[index]
            np.testing.assert_array_equal(page.asarray(), tifffile.imread(sepconv.folder / "alone.tif"))
            assert (42113 in page.tags) == (value is not None)
        if value is not None:
            np.testing.assert_array_equal(page.asarray() == value, pages[index] == value)


def test_a_value_that_only_the_first_image_declares_is_said(sepconv):
    """As tifffile writes extratags that are to be written once."""
    image = image_with_holes((40, 50), np.float32, -9999)
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        np.stack([image, image]),
        extratags=[(42113, "s", 0, "-9999", True)],
        metadata=None,
        photometric="minisblack",
    )
    said = sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1").stderr
    assert "declare no nodata value, unlike the first" in said and "set --nodata" in said
    assert (
        "unlike the first"
        not in sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1", "--nodata", -9999, "--force").stderr
    )
    np.testing.assert_array_equal(
        tifffile.imread(sepconv.folder / "out.tif") == -9999, np.stack([image, image]) == -9999
    )


@pytest.mark.parametrize(
    "dtype, nodata",
    [
        (np.int32, -9999),
        (np.int32, -(2**31)),
        (np.int32, 2**31 - 1),
        (np.uint32, 0),
        (np.uint32, 2**32 - 1),
        (np.int8, -128),
        (np.int8, 7),
    ],
)
@pytest.mark.parametrize("stage", ["gaussian:sigma=1", "reduce:factor=2", "scale:factor=1e12"])
def test_integers_that_are_no_pixels_are_rounded_before_they_are_compared(sepconv, dtype, nodata, stage):
    """The mean of neighbours just below and above is the nodata value; also for values beyond the range."""
    image = np.empty((64, 128), dtype)
    info = np.iinfo(dtype)
    image[::2] = max(info.min, nodata - 1) if nodata > info.min else nodata + 1
    image[1::2] = min(info.max, nodata + 1)
    image[image == nodata] = info.max - 1 if nodata == info.max else nodata + 2
    image[10:20, 30:50] = nodata
    tifffile.imwrite(sepconv.folder / "in.tif", image, extratags=nodata_tag(nodata), photometric="minisblack")
    sepconv("run", "in.tif", "out.tif", stage, "--pyramid", "--tile", 16, "--quiet")
    sepconv("run", "in.tif", "whole.tif", stage, "--pyramid", "--tile", 16, "--quiet", "--reference")
    assert (sepconv.folder / "out.tif").read_bytes() == (sepconv.folder / "whole.tif").read_bytes()
    hole = image == nodata
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        levels = [page.asarray() for page in tif.pages]
    assert levels[0].dtype == dtype
    if stage.startswith("reduce"):
        hole = hole[::2, ::2] & hole[1::2, ::2] & hole[::2, 1::2] & hole[1::2, 1::2]
    np.testing.assert_array_equal(levels[0] == nodata, hole)
    for larger, smaller in zip(levels, levels[1:]):
        missing = larger == nodata
        np.testing.assert_array_equal(
            smaller == nodata,
            missing[::2, ::2] & missing[1::2, ::2] & missing[::2, 1::2] & missing[1::2, 1::2],
        )
    if stage.startswith("scale"):
        assert set(np.unique(levels[0][~hole])) <= {info.min, info.max, info.min + 1, info.max - 1}


def test_levels_are_plain_where_nothing_is_missing_by_request(sepconv):
    image = np.zeros((300, 300, 2), np.uint8)
    image[..., 0] = np.random.default_rng(4).integers(0, 255, (300, 300))
    image[::2, :, 1] = 255
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        image,
        photometric="minisblack",
        planarconfig="contig",
        extrasamples=["unassalpha"],
        metadata=None,
    )
    sepconv("run", "in.tif", "out.tif", "--pyramid", "--tile", 64, "--nodata", "none", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        cells = image.reshape(150, 2, 150, 2, 2).astype(float).mean(axis=(1, 3))
        np.testing.assert_array_equal(tif.pages[1].asarray(), np.rint(cells))


def test_elements_that_levels_would_round_to_missing_ones(sepconv):
    image = image_with_holes((300, 300), np.int64, 100)
    tifffile.imwrite(sepconv.folder / "in.tif", image, extratags=nodata_tag(100), photometric="minisblack")
    said = sepconv("run", "in.tif", "out.tif", "--pyramid", "--tile", 64, status=2).stderr
    assert all(way in said for way in ("--pyramid none", "--pyramid nearest", "cast:type=f64"))
    for way in (["--pyramid", "none"], ["--pyramid", "nearest"], ["cast:type=f64", "--pyramid"]):
        sepconv("run", "in.tif", "out.tif", "--tile", 64, *way, "--quiet", "--force")


def test_info_has_the_nodata_value_as_a_number(sepconv):
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        np.zeros((4, 5), np.int16),
        extratags=nodata_tag("-9999 "),
        photometric="minisblack",
    )
    assert json.loads(sepconv("info", "--json", "in.tif").stdout)["pages"][0]["metadata"]["nodata"] == -9999


@pytest.mark.parametrize("dtype", [np.float16, np.int64])
def test_elements_that_are_rounded_when_stored(sepconv, dtype):
    """Rounding on storing could create a missing value, so a cast must be given."""
    image = image_with_holes((40, 50), dtype, 100)
    tifffile.imwrite(sepconv.folder / "in.tif", image, extratags=nodata_tag(100), photometric="minisblack")
    said = sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1", status=2).stderr
    assert "end the chain with a cast" in said and "--nodata none" in said
    sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1", "cast:type=f64", "--quiet")
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "out.tif") == 100, image == 100)
    sepconv("run", "in.tif", "copy.tif", "--quiet")
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "copy.tif"), image)


@pytest.mark.parametrize("masked", [False, True])
def test_half_floats_with_nan_are_filtered_as_what_they_are(sepconv, masked):
    """No number is rounded to NaN."""
    image = (np.random.default_rng(5).random((40, 50)) * 9).astype(np.float16)
    missing = np.random.default_rng(6).random((40, 50)) < 0.1
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as tif:
        tif.write(
            np.where(missing & (not masked), np.float16(np.nan), image),
            photometric="minisblack",
            metadata=None,
            extratags=[] if masked else nodata_tag("nan"),
        )
        if masked:
            tif.write(~missing, subfiletype=4, photometric="mask", metadata=None)
    sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1", "--quiet")
    result = tifffile.imread(sepconv.folder / "out.tif", key=0)
    assert result.dtype == np.float16
    np.testing.assert_array_equal(np.isnan(result), missing)
    sepconv("run", "in.tif", "wide.tif", "gaussian:sigma=1", "cast:type=f32", "--quiet")
    np.testing.assert_array_equal(
        result, tifffile.imread(sepconv.folder / "wide.tif", key=0).astype(np.float16)
    )


def test_a_value_that_elements_cannot_have(sepconv):
    image = image_with_holes((40, 50), np.uint32, 100)
    tifffile.imwrite(sepconv.folder / "in.tif", image, extratags=nodata_tag(-9999), photometric="minisblack")
    assert (
        "u32 pixels have no such value, so none are missing"
        in sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1").stderr
    )
    tifffile.imwrite(sepconv.folder / "plain.tif", image, photometric="minisblack")
    sepconv("run", "plain.tif", "plain-out.tif", "gaussian:sigma=1", "--quiet")
    np.testing.assert_array_equal(
        tifffile.imread(sepconv.folder / "out.tif"), tifffile.imread(sepconv.folder / "plain-out.tif")
    )


@pytest.mark.parametrize("compression", [None, "zlib"])
@pytest.mark.parametrize(
    "dtype, value",
    [(np.float32, "-9999"), (np.uint8, "255"), (np.float32, "nan"), (np.int32, "-7"), (np.uint8, None)],
)
def test_blocks_that_were_never_written_are_missing(sepconv, compression, dtype, value):
    """As GDAL's sparse files: offset and byte count of a tile are 0."""
    image = np.random.default_rng(4).integers(1, 200, (64, 96)).astype(dtype)
    tags = {"extratags": nodata_tag(value)} if value else {}
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        image,
        tile=(32, 32),
        compression=compression,
        photometric="minisblack",
        metadata=None,
        **tags,
    )
    with tifffile.TiffFile(sepconv.folder / "in.tif", mode="r+b") as tif:
        for tag in (324, 325):
            entry = tif.pages[0].tags[tag]
            entry.overwrite([0 if i in (1, 5) else number for i, number in enumerate(entry.value)])
    expected = image.copy()
    expected[:32, 32:64] = expected[32:, 64:] = dtype(float(value or 0))
    sepconv("run", "in.tif", "out.tif", "--compress", "none", "--quiet")
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "out.tif"), expected)
    if value and dtype != np.int32:
        sepconv("run", "in.tif", "out.tif", "gaussian:sigma=2", "--quiet", "--force")
        result = tifffile.imread(sepconv.folder / "out.tif")
        missing = np.isnan if value == "nan" else lambda array: array == dtype(float(value))
        np.testing.assert_array_equal(missing(result), missing(expected))
        assert result[~missing(result)].min() >= 1


def test_a_transposition_keeps_f64_whatever_the_arithmetic(sepconv):
    values = np.random.default_rng(4).random((40, 50)) + 1e-12
    np.save(sepconv.folder / "in.npy", values)
    for options in ([], ["--reference"]):
        sepconv(
            "run", "in.npy", "out.npy", "transpose", "--arithmetic", "f32", *options, "--quiet", "--force"
        )
        np.testing.assert_array_equal(np.load(sepconv.folder / "out.npy"), values.T)
