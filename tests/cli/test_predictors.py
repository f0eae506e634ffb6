"""A TIFF's predictor depends on the request and on the TIFF that serves as template, not on other files.
Checked by sizes, which double without a predictor."""

import tifffile

import pytest

HORIZONTAL = 2


def predictors(path):
    """For each page and level."""
    with tifffile.TiffFile(path) as file:
        return [level.keyframe.predictor for series in file.series for level in series.levels]


@pytest.fixture(params=["u8", "u16"])
def made(sepconv, request):
    """Runs to result.tif from plain.tif, in.zarr or without.tif (deflate, no predictor), and returns its
    size."""
    sepconv("generate", "plain.tif", "--size", "512x512", "--tile", "128", "--type", request.param)
    sepconv("run", "plain.tif", "in.zarr", "--quiet")
    sepconv("run", "plain.tif", "without.tif", "--compress", "deflate", "--no-predictor", "--quiet")
    assert predictors(sepconv.folder / "without.tif") == [1]

    def run(source, *options):
        sepconv("run", source, "result.tif", "box:radius=1", "--force", "--quiet", *options)
        return (sepconv.folder / "result.tif").stat().st_size

    return run


@pytest.mark.parametrize("source", ["in.zarr", "without.tif"])
@pytest.mark.parametrize("codec", ["deflate", "deflate:fast", "zstd", "zstd:fast", "lzw"])
def test_a_compression_that_is_asked_for_has_a_predictor(sepconv, made, source, codec):
    usual = made("plain.tif", "--compress", codec)
    assert usual < made("plain.tif", "--compress", codec, "--no-predictor")
    assert made(source, "--compress", codec) == pytest.approx(usual, abs=1000)  # Zarr attributes
    assert predictors(sepconv.folder / "result.tif") == [HORIZONTAL]
    made(source, "--compress", codec, "--no-predictor")
    assert predictors(sepconv.folder / "result.tif") == [1]


def test_so_have_smaller_levels(sepconv, made):
    for source, options in (
        ("in.zarr", ()),
        ("in.zarr", ("--compress", "deflate")),
        ("without.tif", ("--compress", "zstd")),
    ):
        made(source, "--pyramid", "--tile", "128", *options)
        assert predictors(sepconv.folder / "result.tif") == [HORIZONTAL] * 3


def test_a_codec_that_a_zarr_gives_has_a_predictor(sepconv, made):
    made("in.zarr")
    assert predictors(sepconv.folder / "result.tif") == [HORIZONTAL]
    assert "zstd" in sepconv("info", "result.tif").stdout


def test_what_is_like_a_tiff_without_one_has_none_and_says_so(sepconv, made):
    made("without.tif")
    assert predictors(sepconv.folder / "result.tif") == [1]
    assert "no predictor" in sepconv("plan", "without.tif", "result.tif", "box:radius=1", "--force").stdout
    assert "no predictor" not in sepconv("plan", "plain.tif", "result.tif", "box:radius=1", "--force").stdout
