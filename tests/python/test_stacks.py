"""Chains along z on arrays."""

import numpy as np
import pytest
import scipy.ndimage

import sepconv as sc

RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize("axes", ["zyx", "yxz", "tzyx", "zcyx", "zyxc"])
def test_an_axis_z_wherever_it_is(axes):
    sizes = {"z": 6, "y": 14, "x": 15, "t": 2, "c": 3}
    array = RANDOM.random([sizes[name] for name in axes], "f4")
    expected = scipy.ndimage.gaussian_filter(
        array.astype("f8"), [{"z": 2, "y": 1, "x": 1}.get(name, 0) for name in axes], mode="mirror"
    )
    actual = sc.gaussian(1, sigma_z=2)(array, axes=axes)
    assert actual.dtype == array.dtype
    np.testing.assert_allclose(actual, expected, atol=1e-6)


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "u8", "f2", ">f4", "f8", "c8"])
def test_types(dtype):
    array = (RANDOM.random((5, 6, 7)) * 2).astype(dtype)
    result = sc.box(1, radius_z=1)(array, axes="zyx")
    assert result.dtype == np.dtype(dtype).newbyteorder("=")
    wide = array.astype("c16" if dtype == "c8" else "f8")
    expected = scipy.ndimage.uniform_filter(wide, 3, mode="mirror")
    np.testing.assert_allclose(
        result.astype(wide.dtype), expected if np.dtype(dtype).kind in "fc" else np.rint(expected), atol=2e-3
    )
    assert (sc.box(1, radius_z=1) | sc.cast("f64"))(array.real, axes="zyx").dtype == "f8"


def test_medians_over_planes():
    array = RANDOM.random((6, 2, 14, 15), "f4")
    result = sc.median(1, radius_y=2, radius_z=1, border="reflect")(array, axes="zcyx")
    np.testing.assert_array_equal(result, scipy.ndimage.median_filter(array, (3, 1, 5, 3)))


def test_out_and_order_of_memory():
    array = np.asfortranarray(RANDOM.random((5, 6, 7)))
    chain = sc.erode(1, radius_z=1) | sc.reduce(2)
    expected = chain(array, axes="zyx")
    out = np.empty_like(expected)
    assert chain(array[::-1], out, axes="zyx") is out
    np.testing.assert_array_equal(out, chain(np.ascontiguousarray(array[::-1]), axes="zyx"))
    inside = array.copy()
    assert sc.dilate(1, radius_z=1)(inside, inside, axes="zyx") is inside
    np.testing.assert_array_equal(inside, scipy.ndimage.grey_dilation(array, 3, mode="mirror"))
    assert sc.box(1, radius_z=1)(np.empty((0, 4, 5)), axes="zyx").shape == (0, 4, 5)


def test_without_an_axis_z():
    for chain in (sc.gaussian(1, sigma_z=1), sc.opening(1, radius_z=1), sc.tophat(1, radius_z=1)):
        with pytest.raises(ValueError, match="has no axis z.*axes zyx names"):
            chain(np.zeros((4, 5)))


def test_missing_pixels_are_left_out():
    array = RANDOM.random((6, 14, 15))
    array[RANDOM.random(array.shape) < 0.2] = np.nan
    array[2:4] = np.nan
    valid = ~np.isnan(array)
    sums, weights = (
        scipy.ndimage.gaussian_filter(item, (2, 1, 1), mode="mirror")
        for item in (np.nan_to_num(array), valid.astype("f8"))
    )
    np.testing.assert_allclose(
        sc.gaussian(1, sigma_z=2, nodata="fill")(array, axes="zyx"), sums / weights, rtol=1e-12
    )
    np.testing.assert_allclose(
        sc.gaussian(1, sigma_z=2, nodata="ignore")(array, axes="zyx"),
        np.where(valid, sums / weights, np.nan),
        rtol=1e-12,
    )
    minimum = scipy.ndimage.minimum_filter(np.where(valid, array, np.inf), 3, mode="mirror")
    np.testing.assert_array_equal(
        sc.erode(1, radius_z=1, nodata="ignore")(array, axes="zyx"), np.where(valid, minimum, np.nan)
    )


def test_several_filters_of_a_stack():
    array = RANDOM.random((6, 14, 15))
    narrow, wide = (scipy.ndimage.gaussian_filter(array, sigma, mode="mirror") for sigma in (1, 2))
    np.testing.assert_allclose(
        sc.dog(1, 2, sigma_z=1, sigma2_z=2)(array, axes="zyx"), narrow - wide, atol=1e-12
    )
    np.testing.assert_allclose(
        sc.unsharp(1, sigma_z=1, amount=2)(array, axes="zyx"), 3 * array - 2 * narrow, atol=1e-12
    )
    np.testing.assert_allclose(
        sc.gaussian_laplace(1, sigma_z=1)(array, axes="zyx"),
        scipy.ndimage.gaussian_laplace(array, 1, mode="mirror"),
        atol=1e-12,
    )
    edges = sc.gradient("gaussian", axes="xyz", sigma=1)(array, axes="zyx")
    np.testing.assert_allclose(
        edges, scipy.ndimage.gaussian_gradient_magnitude(array, 1, mode="mirror"), atol=1e-12
    )
    mean, squares = (scipy.ndimage.uniform_filter(item, 3, mode="mirror") for item in (array, array**2))
    deviation = np.sqrt(squares - mean**2)
    np.testing.assert_allclose(sc.stddev(1, radius_z=1)(array, axes="zyx"), deviation, atol=1e-9)
    np.testing.assert_allclose(
        sc.local_normalize(1, radius_z=1)(array, axes="zyx"), (array - mean) / deviation, atol=1e-7
    )


CHAINS = [
    sc.gaussian(1, sigma_z=2),
    sc.box(2, radius_z=1, border="wrap") | sc.stddev(1, radius_z=1),
    sc.opening(1, radius_z=2, border="constant", value=3),
    sc.gaussian_laplace(1, sigma_z=1) | sc.reduce(2),
    sc.median(1, radius_z=1) | sc.resize(scale=1.5),
    sc.subtract(chain=sc.gaussian(2, sigma_z=1)),
    sc.mix_channels(values=[0.2, 0.3, 0.5]) | sc.erode(1, radius_z=1),
    sc.gaussian(1, sigma_z=1) | sc.transpose(),
    sc.box(1, radius_z=1, nodata="ignore") | sc.dilate(1, radius_z=1, nodata="fill"),
]


@pytest.mark.filterwarnings("ignore::sepconv.FileWarning")  # about NaN, from `run`
@pytest.mark.parametrize("chain", CHAINS, ids=str)
@pytest.mark.parametrize("dtype", ["u1", "f4"])
def test_an_array_at_once_has_the_bits_of_one_in_bands(chain, dtype):
    """`run` divides volumes into bands of planes."""
    channels = 3 if "mix_channels" in str(chain) else 2
    array = (RANDOM.random((2, 9, 21, 18, channels)) * 250).astype(dtype)
    if dtype == "f4":
        array[RANDOM.random(array.shape) < 0.05] = np.nan
    result = chain(array, axes="tzyxc")
    out = np.empty_like(result)
    sc.run(array, out, chain, axes="tzyxc", band_rows=2)
    np.testing.assert_array_equal(result, out)
    back = np.moveaxis(array, 2, 0)  # y t z x c, with another memory order
    np.testing.assert_array_equal(chain(back, axes="ytzxc"), np.moveaxis(result, 2, 0))
    assert (
        chain(back, out=(into := np.empty(np.moveaxis(result, 2, 0).shape, result.dtype)), axes="ytzxc")
        is into
    )
    np.testing.assert_array_equal(into, np.moveaxis(result, 2, 0))


def test_types_that_are_widened_are_so_in_bands(monkeypatch):
    """A volume of i32 is computed in f64: as a whole it would need three times its memory."""
    from sepconv import _arrays

    monkeypatch.setattr(_arrays, "_apply_to_volumes", None)
    array = RANDOM.integers(0, 99, (5, 6, 7), "i4")
    assert sc.erode(1, radius_z=1)(array, axes="zyx").dtype == "i4"
    with pytest.raises(TypeError):
        sc.erode(1, radius_z=1)(array.astype("f4"), axes="zyx")
