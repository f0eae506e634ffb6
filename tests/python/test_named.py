"""Arrays that declare their axes and missing values, like xarray's: calls of chains and `run` treat them
equally."""

import numpy as np
import pytest

import sepconv as sc


class Labelled:
    """Imitates xarray.DataArray, which need not be installed."""

    def __init__(self, values, dims, attrs=None, encoding=None, nodata=None):
        self.values, self.dims, self.attrs, self.encoding, self.coords = (
            values,
            dims,
            attrs or {},
            encoding or {},
            {},
        )
        self.shape, self.dtype = values.shape, values.dtype
        if nodata is not None:
            self.rio = type("Raster", (), {"nodata": nodata})

    def __array__(self, dtype=None, copy=None):
        return self.values

    def __getitem__(self, key):
        return self.values[key]


def xarrays(values, dims, attrs=None, encoding=None, nodata=None):
    if nodata is not None:
        pytest.skip("rioxarray's")
    result = pytest.importorskip("xarray").DataArray(values, dims=dims, attrs=attrs)
    result.encoding = encoding or {}
    return result


MADE_BY = pytest.mark.parametrize("labelled", [Labelled, xarrays])
CHAIN = sc.gaussian(1, sigma_y=4)


def run(source, chain, shape, dtype="f4", **options):
    result = np.empty(shape, dtype)
    sc.run(source, result, chain, progress=False, **options)
    return result


@MADE_BY
@pytest.mark.parametrize(
    "dims, axes",
    [
        (("x", "y"), "xy"),
        (("lon", "lat"), "xy"),
        (("Latitude", "Longitude"), "yx"),
        (("z", "y", "x"), "zyx"),
        (("time", "lat", "lon"), "tyx"),
        (("band", "y", "x"), "cyx"),
        (("y", "x", "band"), "yxc"),
        (("x", "member", "y", "time"), "xayt"),
    ],
)
def test_names_of_axes_count(labelled, dims, axes):
    array = np.random.default_rng(1).random([7, 9, 4, 3][: len(dims)], "f4")
    named = labelled(array, dims)
    assert np.array_equal(CHAIN(named), CHAIN(array, axes=axes))
    stored = [*sorted(set(axes) - set("yxc"), key=axes.index), "y", "x"]
    stored = [*stored, "c"] if axes[-1] == "c" else ["c", *stored] if "c" in axes else stored
    expected = CHAIN(array, axes=axes).transpose([axes.index(item) for item in stored])
    assert np.array_equal(run(named, CHAIN, expected.shape), expected)
    out = np.empty_like(array)
    assert CHAIN(named, out) is out and np.array_equal(out, CHAIN(array, axes=axes))


@MADE_BY
def test_other_names_do_not_and_axes_go_before_names(labelled):
    array = np.random.default_rng(1).random((7, 9), "f4")
    assert np.array_equal(CHAIN(labelled(array, ("dim_0", "dim_1"))), CHAIN(array))
    assert np.array_equal(CHAIN(labelled(array, ("x", "y")), axes="yx"), CHAIN(array))
    assert np.array_equal(run(labelled(array, ("x", "y")), CHAIN, (7, 9), axes="yx"), CHAIN(array))
    assert np.array_equal(
        sc.gaussian(1, sigma_z=1)(labelled(np.stack([array] * 3), ("z", "y", "x"))),
        sc.gaussian(1, sigma_z=1)(np.stack([array] * 3), axes="zyx"),
    )


@MADE_BY
def test_names_of_an_array_beside_the_image_count(labelled):
    array, beside = (np.random.default_rng(seed).random((7, 9), "f4") for seed in (1, 2))
    assert np.array_equal(sc.subtract(labelled(beside.T.copy(), ("lon", "lat")))(array), array - beside)
    colours = np.random.default_rng(3).random((7, 9, 3), "f4")
    assert np.array_equal(
        sc.subtract(labelled(colours.transpose(2, 0, 1).copy(), ("band", "y", "x")))(colours[::-1]),
        colours[::-1] - colours,
    )
    stack = np.random.default_rng(4).random((4, 7, 9), "f4")
    assert np.array_equal(
        sc.subtract(labelled(stack, ("z", "y", "x")))(stack[::-1], axes="zyx"), stack[::-1] - stack
    )


@MADE_BY
@pytest.mark.parametrize(
    "given",
    [
        dict(attrs={"_FillValue": -9999}),
        dict(attrs={"missing_value": np.float32(-9999)}),
        dict(attrs={"units": "m", "_FillValue": np.array([-9999])}),
        dict(nodata=-9999),
    ],
)
def test_what_is_declared_missing_is(labelled, given):
    array = np.random.default_rng(2).normal(100, 9, (20, 30)).astype("f4")
    array[np.random.default_rng(3).random(array.shape) < 0.1] = -9999
    named = labelled(array, ("y", "x"), **given)
    for chain in (CHAIN, sc.box(2) | sc.cast("f64"), sc.Chain()):
        dtype = "f8" if "cast" in str(chain) else "f4"
        expected = run(array, chain, array.shape, dtype, nodata=-9999)
        assert (expected == -9999).any() and expected[expected != -9999].min() > 50
        assert np.array_equal(run(named, chain, array.shape, dtype), expected)
        assert np.array_equal(chain(named), expected)
    assert run(named, CHAIN, array.shape, nodata="none").min() < -99
    assert sc.stats(named, progress=False).channels[0].min > 0
    transposed = labelled(array.T, ("x", "y"), **given)
    assert np.array_equal(CHAIN(transposed), CHAIN(named).T)


@MADE_BY
def test_what_was_decoded_is_missing_where_it_is_nan(labelled):
    array = np.random.default_rng(2).random((20, 30), "f4")
    array[5:7, 9:12] = np.nan
    named = labelled(array, ("lat", "lon"), encoding={"_FillValue": -9999.0})
    expected = run(array, CHAIN, array.shape, nodata="nan")
    assert np.array_equal(CHAIN(named), expected, equal_nan=True) and np.array_equal(
        run(named, CHAIN, array.shape), expected, equal_nan=True
    )
    assert np.isnan(expected).sum() < np.isnan(CHAIN(array)).sum()
    whole = labelled(np.arange(12).reshape(3, 4), ("y", "x"), encoding={"_FillValue": -1})
    assert np.array_equal(CHAIN(whole), CHAIN(np.arange(12).reshape(3, 4)))


@MADE_BY
def test_a_value_that_the_type_does_not_have(labelled):
    array = np.arange(12, dtype="u1").reshape(3, 4)
    for value in (-9999, "none", np.nan):
        assert np.array_equal(CHAIN(labelled(array, ("y", "x"), attrs={"_FillValue": value})), CHAIN(array))


@MADE_BY
def test_a_file_that_is_made_declares_it(labelled, tmp_path):
    array = np.full((20, 30), 7, "i2")
    array[3, 4] = -32768
    sc.run(
        labelled(array, ("y", "x"), attrs={"_FillValue": -32768}), tmp_path / "a.tif", CHAIN, progress=False
    )
    assert float(sc.open(tmp_path / "a.tif").metadata["nodata"]) == -32768
