"""Missing pixels: compared with astropy.convolution, and with a NumPy reference in double precision."""

import numpy as np
import pytest
import scipy.ndimage as ndi
import tifffile
from astropy.convolution import convolve
from reference import BORDERS, correlate, stored

BOX = np.ones(7) / 7


def values_with_holes(shape, dtype=np.float64, seed=5, share=0.15):
    """Values around 100, and the mask of missing ones: single pixels and a block wider than the filters."""
    rng = np.random.default_rng(seed)
    missing = rng.random(shape) < share
    missing[shape[0] // 3 : shape[0] // 3 + 25, shape[1] // 4 : shape[1] // 4 + 30] = True
    return rng.normal(100, 20, shape).astype(dtype), missing


def valid_mean(values, missing, row, col, border, value=0.0, policy="ignore"):
    """Weighted sums of the valid pixels over the sums of their weights; NaN is missing."""
    sums = correlate(np.where(missing, 0, values.astype(np.float64)), row, col, border, value)
    weights = correlate(1.0 - missing, row, col, border, 1.0)
    near = correlate(1.0 - missing, np.ones(len(row)), np.ones(len(col)), border, 1.0) > 0.5
    with np.errstate(all="ignore"):
        result = np.where(near, sums / weights * sum(row) * sum(col), np.nan)
    return np.where(missing, np.nan, result) if policy == "ignore" else result


def assert_equal_there(actual, expected, tolerance):
    assert (np.isnan(actual) == np.isnan(expected)).all()
    valid = ~np.isnan(expected)
    assert valid.any() and np.abs(actual[valid] / expected[valid] - 1).max() <= tolerance


@pytest.mark.parametrize(
    "border, boundary", [("constant", "fill"), ("replicate", "extend"), ("wrap", "wrap")]
)
@pytest.mark.parametrize("policy", ["ignore", "fill"])
@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-6), (np.float64, 1e-12)])
def test_astropy(sepconv, border, boundary, policy, dtype, tolerance):
    values, missing = values_with_holes((97, 131), dtype)
    values[missing] = np.nan
    value = ",value=90" if border == "constant" else ""
    actual = sepconv.filter(values, f"box:radius=3,border={border}{value},nodata={policy}")
    expected = convolve(
        values.astype(np.float64),
        np.outer(BOX, BOX),
        boundary=boundary,
        fill_value=90,
        nan_treatment="interpolate",
        preserve_nan=policy == "ignore",
        normalize_kernel=True,
    )
    assert_equal_there(actual, expected, tolerance)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("policy", ["ignore", "fill"])
@pytest.mark.parametrize("shape", [(1, 9), (5, 3), (97, 131)])
def test_every_border(sepconv, border, policy, shape):
    values, missing = values_with_holes(shape)
    row, col = [1, 4, 6, 4, 1], [0.25, 0.5, 0.25]
    value = ",value=90" if border == "constant" else ""
    stage = f"convolve:row={','.join(map(str, row))},col={','.join(map(str, col))},border={border}{value},nodata={policy}"
    actual = sepconv.filter(np.where(missing, np.nan, values), stage)
    expected = valid_mean(values, missing, row, col, border, 90, policy)
    assert (np.isnan(actual) == np.isnan(expected)).all()
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "dtype, nodata", [(np.uint8, 0), (np.uint16, 65535), (np.int16, -9999), (np.float32, -9999)]
)
def test_declared_values_of_every_type(sepconv, dtype, nodata):
    """A GeoTIFF's own nodata value, and the result's."""
    values, missing = values_with_holes((211, 307), dtype)
    values[missing] = nodata
    tifffile.imwrite(
        sepconv.folder / "in.tif", values, metadata=None, extratags=[(42113, "s", 0, str(nodata))]
    )
    sepconv("run", "in.tif", "out.tif", "binomial:radius=2", "--force")
    row = np.array([1, 4, 6, 4, 1]) / 16
    expected = valid_mean(values, missing, row, row, "reflect101")
    actual = tifffile.imread(sepconv.folder / "out.tif")
    assert (actual[missing] == nodata).all() and (actual[~missing] != nodata).all()
    if np.issubdtype(dtype, np.integer):
        assert np.abs(actual[~missing] - expected[~missing]).max() <= 0.5 + 1e-4
    else:
        np.testing.assert_allclose(actual[~missing], expected[~missing], rtol=1e-6)
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        assert file.pages[0].tags[42113].value == str(nodata)


def test_derivatives_are_missing_wherever_they_touch_what_is(sepconv):
    values, missing = values_with_holes((97, 131), share=0.01)
    actual = sepconv.filter(np.where(missing, np.nan, values), "sobel:nodata=propagate")
    touched = ndi.binary_dilation(missing, np.ones((3, 3)), border_value=0)
    assert (np.isnan(actual) == touched).all()
    np.testing.assert_allclose(
        actual[~touched], correlate(values, [-1, 0, 1], [1, 2, 1])[~touched], rtol=1e-12, atol=1e-10
    )


def test_cells_are_means_of_what_is_there(sepconv):
    values, missing = values_with_holes((96, 132), share=0.6)
    actual = sepconv.filter(np.where(missing, np.nan, values), "reduce:factor=2,nodata=ignore")
    cells = np.where(missing, np.nan, values).reshape(48, 2, 66, 2).swapaxes(1, 2).reshape(48, 66, 4)
    with np.testing.suppress_warnings() as sup:
        sup.filter(RuntimeWarning)
        expected = np.nanmean(cells, axis=2)
    assert np.isnan(expected).any()
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


@pytest.mark.parametrize("filter, order", [("linear", 1), ("area", 0), ("box", 0)])
def test_resized_values_are_means_of_what_is_there(sepconv, filter, order):
    """Means of constants are that constant, for any weights; a result without valid pixels is missing."""
    missing = values_with_holes((60, 80))[1]
    actual = sepconv.filter(
        np.where(missing, np.nan, 42.0), f"resize:scale=0.4,filter={filter},nodata=ignore"
    )
    valid = ~np.isnan(actual)
    np.testing.assert_allclose(actual[valid], 42, rtol=1e-14)
    assert 0 < valid.mean() < 1


@pytest.mark.parametrize("filter", ["cubic", "lanczos3"])
@pytest.mark.parametrize("by", [0.37, 0.5, 2, 3.3])
def test_negative_weights_beside_missing_pixels_stay_in_range(sepconv, filter, by):
    """Near missing pixels, filters with negative weights are replaced by linear ones, as in GDAL's warper."""
    values, missing = values_with_holes((97, 131), share=0.002)
    holes = np.where(missing, np.nan, values)
    actual, linear, touched = (
        sepconv.filter(holes, f"resize:scale={by},filter={name},nodata={policy}")
        for name, policy in ((filter, "ignore"), ("linear", "ignore"), (filter, "propagate"))
    )
    plain = sepconv.filter(np.where(missing, 0, values), f"resize:scale={by},filter={filter}")
    beside = np.isnan(touched)
    assert beside.any() and not beside.all()
    np.testing.assert_array_equal(actual[beside], linear[beside])
    np.testing.assert_array_equal(actual[~beside], plain[~beside])
    assert (
        values[~missing].min() <= np.nanmin(actual[beside])
        and np.nanmax(actual[beside]) <= values[~missing].max()
    )


@pytest.mark.parametrize(
    "stages",
    [
        ["gaussian:sigma=3"],
        ["sobel"],
        ["dog:sigma=1,sigma2=2", "threshold:at=0"],
        ["reduce:factor=3", "unsharp:sigma=1"],
        ["resize:scale=1.7,filter=lanczos3"],
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_no_seam_at_any_band_edge(sepconv, stages, dtype):
    """Bands and tiles of all kinds, without, with some and with only missing pixels, give the same bytes."""
    values, missing = values_with_holes((301, 257), dtype, share=0.002)
    values[:60, :120] = np.where(values[:60, :120] == 7, 8, values[:60, :120])
    missing[:60, :120] = False
    missing[240:, 200:] = True
    values[missing] = 7
    np.save(sepconv.folder / "in.npy", values)
    sepconv("run", "in.npy", "whole.npy", *stages, "--nodata", "7", "--reference", "--force")
    whole = (sepconv.folder / "whole.npy").read_bytes()
    for cut in ([], ["--band-rows", "1"], ["--band-rows", "17"], ["--band-rows", "64", "--band-cols", "50"]):
        sepconv("run", "in.npy", "out.npy", *stages, "--nodata", "7", *cut, "--force")
        assert (sepconv.folder / "out.npy").read_bytes() == whole, cut


def test_fills_are_stored_in_the_type(sepconv):
    values, missing = values_with_holes((97, 131), np.uint8)
    values[missing] = 0
    np.save(sepconv.folder / "in.npy", values)
    sepconv("run", "in.npy", "out.npy", "box:radius=20,nodata=fill", "--nodata", "0")
    taps = np.ones(41) / 41
    expected = stored(valid_mean(values, missing, taps, taps, "reflect101", policy="fill"), np.uint8)
    actual = np.load(sepconv.folder / "out.npy")
    assert (actual != 0).all() and np.abs(actual.astype(int) - expected).max() <= 1
