"""Functions accept and refuse the same arguments as SciPy's, with the same kind of error; one argument is
varied at a time."""

import inspect

import numpy as np
import pytest

theirs = pytest.importorskip("scipy.ndimage")

from sepconv import ndimage as ours  # noqa: E402

RANKS = {
    "median_filter": {"size": 3},
    "rank_filter": {"rank": 2, "size": 3},
    "percentile_filter": {"percentile": 30, "size": 3},
}
EXTREMES = {
    name: {"size": 3}
    for name in (
        "minimum_filter1d",
        "maximum_filter1d",
        "minimum_filter",
        "maximum_filter",
        "grey_erosion",
        "grey_dilation",
        "grey_opening",
        "grey_closing",
        "white_tophat",
        "black_tophat",
    )
}
SUMS = {
    "correlate1d": {"weights": [1, 2, 3]},
    "convolve1d": {"weights": [1, 2, 3]},
    "gaussian_filter1d": {"sigma": 1.5},
    "gaussian_filter": {"sigma": 1.5},
    "uniform_filter1d": {"size": 3},
    "uniform_filter": {"size": 3},
    "prewitt": {},
    "sobel": {},
    "laplace": {},
    "gaussian_laplace": {"sigma": 1.5},
    "gaussian_gradient_magnitude": {"sigma": 1.5},
}
FUNCTIONS = {**SUMS, **EXTREMES, **RANKS}
ARRAY = np.random.default_rng(1).random((9, 8))


def outcome(module, name, given):
    given = dict(given)
    array = given.pop("input", ARRAY)
    try:
        return getattr(module, name)(array, **given)
    except Exception as error:
        return error


def check(name, **changed):
    given = {**FUNCTIONS[name], **changed}
    expected, result = outcome(theirs, name, given), outcome(ours, name, given)
    if isinstance(expected, Exception):
        assert isinstance(result, type(expected)), (name, given, expected, result)
    else:
        assert not isinstance(result, Exception), (name, given, result)
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)
        assert result.shape == np.shape(expected) and result.dtype == expected.dtype


def functions_with(parameter, functions=FUNCTIONS):
    return [name for name in functions if parameter in inspect.signature(getattr(ours, name)).parameters]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays(name):
    """Empty arrays, and arrays of non-numeric types."""
    for array in (
        np.zeros((0, 5)),
        np.zeros((5, 0)),
        np.zeros((0,)),
        np.array([["a", "b"]]),
        np.array([[1, "b"]], object),
        np.zeros((4, 4), "M8[s]"),
        np.zeros((4, 4), "V4"),
    ):
        check(name, input=array)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_axes_and_modes(name):
    for parameter, values in {
        "axis": (0, -1, 5, -3, 1.0, None),
        "axes": ((0, 0), (5,), (1, 0), "x"),
        "mode": ("foo", None, 3),
    }.items():
        for value in values if name in functions_with(parameter) else ():
            if (name, parameter) != ("gaussian_gradient_magnitude", "axes") or value in (
                (0, 0),
                (5,),
                "x",
            ):  # docs/python.md
                check(name, **{parameter: value})
    if name in ("correlate1d", "convolve1d"):
        check(name, mode=["reflect"])
    if name in functions_with("axes") and name not in RANKS:
        with pytest.raises(np.exceptions.AxisError):  # in some functions of SciPy a separate IndexError
            getattr(ours, name)(ARRAY, **FUNCTIONS[name], axes=5)


@pytest.mark.parametrize("sigma", [-2, -0.1, -0.2, 1, -1e9])
@pytest.mark.parametrize("radius", [None, 0, 3, -1, 1.5, (1,)])
def test_a_sigma_below_zero(sigma, radius):
    """Along one axis the radius is checked or used; with several axes such an axis is skipped."""
    check("gaussian_filter1d", sigma=sigma, radius=radius, axis=0)
    if radius != (1,):
        check("gaussian_filter", sigma=sigma, radius=radius)
    check("gaussian_filter", sigma=(sigma, 1))


@pytest.mark.parametrize("name", [*EXTREMES, *RANKS])
@pytest.mark.parametrize("cval", [np.inf, -np.inf, -5, 1e300, True])
def test_infinity_beyond_the_edges(name, cval):
    check(name, mode="constant", cval=cval)
    check(name, mode="constant", cval=cval, input=ARRAY.astype("f4"))
    if name in functions_with("origin"):
        check(name, mode="constant", cval=cval, origin=-1, size=4)
    if name in functions_with("axes") and name in EXTREMES:
        check(name, mode="constant", cval=cval, axes=(1,))
        check(name, mode=("constant", "wrap"), cval=cval)


@pytest.mark.parametrize("name", [*EXTREMES, *RANKS])
def test_nan_beyond_the_edges_is_as_in_the_array(name):
    """A NaN affects every window that contains it; in integers it is 0."""
    given = FUNCTIONS[name]
    size = 4  # with more than two, consecutive filters extend further
    padded_with = np.pad(ARRAY, size, constant_values=np.nan)
    result = getattr(ours, name)(ARRAY, mode="constant", cval=np.nan, **given)
    if name not in ("grey_opening", "grey_closing", "white_tophat", "black_tophat"):
        assert np.array_equal(
            result, getattr(ours, name)(padded_with, **given)[size:-size, size:-size], equal_nan=True
        )
    assert np.isnan(result).any() and np.isfinite(result).any()
    numbers = (ARRAY * 255).astype("u1")
    assert np.array_equal(
        getattr(ours, name)(numbers, mode="constant", cval=np.nan, **given),
        getattr(ours, name)(numbers, mode="constant", cval=0, **given),
    )
    assert np.array_equal(
        getattr(ours, name)(numbers, mode="constant", cval=np.inf, **given),
        getattr(ours, name)(numbers, mode="constant", cval=255, **given),
    )


def test_sums_with_nan_beyond_the_edges_of_integers():
    numbers = (ARRAY * 255).astype("u1")
    result = ours.gaussian_filter1d(numbers, 1, radius=2, mode="constant", cval=np.nan)
    assert (
        not result[:, :2].any()
        and not result[:, -2:].any()
        and np.array_equal(result[:, 2:-2], ours.gaussian_filter1d(numbers, 1, radius=2)[:, 2:-2])
    )


def test_sizes_and_origins_are_whole():
    for name, given in {
        "uniform_filter1d": {"size": 2.5},
        "minimum_filter1d": {"size": 2.5},
        "median_filter": {"origin": 0.5},
        "rank_filter": {"origin": 0.5},
    }.items():
        check(name, **given)
