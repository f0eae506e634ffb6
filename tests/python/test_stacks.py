"""Chains that filter along z, on arrays."""

import numpy as np
import pytest
import scipy.ndimage

import sepconv as sc

RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize("axes", ["zyx", "yxz", "tzyx", "zcyx", "zyxc"])
def test_an_axis_z_wherever_it_is(axes):
    sizes = {"z": 6, "y": 14, "x": 15, "t": 2, "c": 3}
    array = RANDOM.random([sizes[name] for name in axes], "f4")
    expected = scipy.ndimage.gaussian_filter(array.astype("f8"), [{"z": 2, "y": 1, "x": 1}.get(name, 0) for name in axes], mode="mirror")
    actual = sc.gaussian(1, sigma_z=2)(array, axes=axes)
    assert actual.dtype == array.dtype
    np.testing.assert_allclose(actual, expected, atol=1e-6)


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "u8", "f2", ">f4", "f8", "c8"])
def test_types(dtype):
    array = (RANDOM.random((5, 6, 7)) * 2).astype(dtype)
    made = sc.box(1, radius_z=1)(array, axes="zyx")
    assert made.dtype == np.dtype(dtype).newbyteorder("=")
    wide = array.astype("c16" if dtype == "c8" else "f8")
    expected = scipy.ndimage.uniform_filter(wide, 3, mode="mirror")
    np.testing.assert_allclose(made.astype(wide.dtype), expected if np.dtype(dtype).kind in "fc" else np.rint(expected), atol=2e-3)
    assert (sc.box(1, radius_z=1) | sc.cast("f64"))(array.real, axes="zyx").dtype == "f8"


def test_medians_over_planes():
    array = RANDOM.random((6, 2, 14, 15), "f4")
    made = sc.median(1, radius_y=2, radius_z=1, border="reflect")(array, axes="zcyx")
    np.testing.assert_array_equal(made, scipy.ndimage.median_filter(array, (3, 1, 5, 3)))


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
        with pytest.raises(ValueError, match="has no axis z.*axes names it, like zyx"):
            chain(np.zeros((4, 5)))
