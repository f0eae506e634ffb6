"""SciPy's functions: within 1 of SciPy's f64 result, rounded; for f32 within 4 units in the last place of the
maximum."""

import doctest
import gc
import inspect
import itertools
import pickle
import re

import numpy as np
import pytest

import sepconv as sc
from sepconv import ndimage as ours

theirs = pytest.importorskip("scipy.ndimage")

MODES = ["reflect", "mirror", "nearest", "wrap", "constant", "grid-wrap", "grid-mirror", "grid-constant"]
TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
SHAPES = [(1,), (40,), (1, 1), (30, 41), (12, 1, 7), (3, 4, 5, 6)]
CALLS = [
    ("gaussian_filter", dict(sigma=1.3)),
    ("gaussian_filter", dict(sigma=0.7, order=1, radius=3)),
    ("gaussian_filter1d", dict(sigma=2, order=2, axis=0)),
    ("uniform_filter", dict(size=4)),
    ("uniform_filter1d", dict(size=5, origin=2, axis=0)),
    ("sobel", {}),
    ("prewitt", dict(axis=0)),
    ("laplace", {}),
    ("gaussian_laplace", dict(sigma=1.1)),
    ("gaussian_gradient_magnitude", dict(sigma=1)),
    ("correlate1d", dict(weights=[1, 3], axis=0, origin=-1)),
    ("convolve1d", dict(weights=[1, 3, 2, 5])),
    ("uniform_filter", dict(size=5)),
    ("grey_erosion", dict(size=3)),
    ("grey_dilation", dict(size=4)),
    ("grey_opening", dict(size=5)),
    ("grey_closing", dict(size=2)),
    ("minimum_filter", dict(size=4)),
    ("maximum_filter", dict(size=9)),
    ("minimum_filter1d", dict(size=5, origin=2, axis=0)),
    ("maximum_filter1d", dict(size=6, origin=-2)),
]
RANKS = [
    ("median_filter", dict(size=3)),
    ("median_filter", dict(size=(4, 7), origin=(1, -3))),
    ("median_filter", dict(footprint=np.ones((2, 5)))),
    ("percentile_filter", dict(percentile=-20, size=4)),
    ("percentile_filter", dict(percentile=100, size=(1, 9))),
    ("rank_filter", dict(rank=-3, size=(5, 2))),
]


def views(array):
    result = [array, array.T, array[::-1], np.asfortranarray(array), array.astype(array.dtype.newbyteorder())]
    if array.ndim > 1:
        result += [
            array[..., ::2],
            array.swapaxes(0, -1)[::2],
            array[1:, 1:] if min(array.shape[:2]) > 1 else array,
        ]
    return result


def check(got, wanted, dtype):
    """Compares with `wanted`, SciPy's result in f64."""
    assert got.shape == wanted.shape and got.dtype == dtype
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        assert (
            np.abs(got.astype("f8") - np.clip(np.rint(wanted), limits.min, float(limits.max))).max(initial=0)
            <= 1
        )
    elif dtype.kind == "f":
        units = 4 if dtype.itemsize == 4 else 8  # for f64 the order of a sum decides the last bits
        assert np.abs(got - wanted.astype(dtype)).max(initial=0) <= max(
            units * np.finfo(dtype).eps * np.abs(wanted).max(initial=0), 1e-12
        )
    else:
        assert np.array_equal(got[np.abs(wanted - 0.5) > 1e-5], (wanted > 0.5)[np.abs(wanted - 0.5) > 1e-5])


@pytest.mark.parametrize("name, keywords", CALLS, ids=[f"{name}-{i}" for i, (name, _) in enumerate(CALLS)])
@pytest.mark.parametrize("dtype", TYPES)
def test_what_scipy_returns(name, keywords, dtype):
    random = np.random.default_rng(3)
    for shape in SHAPES:
        for view in views((random.random(shape) * 100).astype(dtype)):
            for mode in MODES:
                expected = getattr(theirs, name)(view.astype("f8"), mode=mode, cval=3, **keywords)
                check(getattr(ours, name)(view, mode=mode, cval=3, **keywords), expected, np.dtype(dtype))


@pytest.mark.parametrize("name, keywords", RANKS, ids=[f"{name}-{i}" for i, (name, _) in enumerate(RANKS)])
@pytest.mark.parametrize("dtype", TYPES)
def test_ranks_are_scipys(name, keywords, dtype):
    random = np.random.default_rng(4)
    for shape in [(1, 1), (30, 41), (3, 8, 2), (12, 1)]:
        axes = (0, 1) if len(shape) == 3 else None
        for view in views((random.random(shape) * 100).astype(dtype))[: 6 if len(shape) == 2 else 1]:
            for mode in MODES:
                expected = getattr(theirs, name)(view, mode=mode, cval=3, axes=axes, **keywords)
                result = getattr(ours, name)(view, mode=mode, cval=3, axes=axes, **keywords)
                assert result.dtype == expected.dtype and np.array_equal(result, expected)
    line = (random.random(50) * 100).astype(dtype)
    assert np.array_equal(
        ours.median_filter(line, 7, mode="wrap"), theirs.median_filter(line, 7, mode="wrap")
    )
    assert np.array_equal(
        ours.median_filter(line, 7, output="f4"), theirs.median_filter(line, 7).astype("f4")
    )


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda m, a: m.median_filter(a), RuntimeError),
        (lambda m, a: m.rank_filter(a, 9, size=3), RuntimeError),
        (lambda m, a: m.median_filter(a, 3, origin=2), ValueError),
        (lambda m, a: m.percentile_filter(a, 101, size=3), RuntimeError),
        (lambda m, a: m.median_filter(a, 3, mode="no"), RuntimeError),
        (lambda m, a: m.median_filter(a.astype("c8"), 3), TypeError),
        (lambda m, a: m.median_filter(a, footprint=np.ones(3)), RuntimeError),
    ],
)
def test_ranks_that_scipy_refuses(call, error):
    for module in (ours, theirs):
        with pytest.raises(error):
            call(module, np.zeros((5, 5)))


DEEP_RANKS = [
    ("median_filter", dict(size=3)),
    ("median_filter", dict(size=(2, 4, 5), origin=(0, 1, -2))),
    ("median_filter", dict(footprint=np.ones((2, 3, 4)))),
    ("percentile_filter", dict(percentile=30, size=(5, 3, 2))),
    ("rank_filter", dict(rank=-3, size=2)),
]


@pytest.mark.parametrize(
    "name, keywords", DEEP_RANKS, ids=[f"{name}-{i}" for i, (name, _) in enumerate(DEEP_RANKS)]
)
@pytest.mark.parametrize("dtype", [*TYPES, "f2"])
def test_ranks_along_three_axes_are_scipys(name, keywords, dtype):
    random = np.random.default_rng(4)
    for shape, axes in [((9, 12, 13), None), ((6, 7, 8, 3), (0, 1, 2)), ((6, 2, 7, 8), (0, 2, 3))]:
        array = (random.random(shape) * 100).astype(dtype)
        for view in views(array) if axes is None else [array]:
            for mode in MODES:
                # SciPy does not support f16.
                expected = getattr(theirs, name)(
                    view.astype("f4") if dtype == "f2" else view, mode=mode, cval=3, axes=axes, **keywords
                ).astype(dtype)
                result = getattr(ours, name)(view, mode=mode, cval=3, axes=axes, **keywords)
                assert result.dtype == np.dtype(dtype) and np.array_equal(result, expected)


def test_ranks_along_three_axes_of_nothing_and_into_what_is_there():
    assert ours.median_filter(np.zeros((0, 4, 5)), 3).shape == (0, 4, 5)
    array = np.random.default_rng(1).random((5, 6, 7))
    for cval in (np.nan, np.inf):
        np.testing.assert_array_equal(
            ours.rank_filter(array, 0, 3, mode="constant", cval=cval)[1:-1, 1:-1, 1:-1],
            theirs.rank_filter(array, 0, 3)[1:-1, 1:-1, 1:-1],
        )
    expected = theirs.median_filter(array, 3).astype("f4")
    out = np.empty(array.shape, "f4")
    assert ours.median_filter(array, 3, output=out) is out
    np.testing.assert_array_equal(out, expected)


def test_windows_that_are_no_rectangles_are_refused():
    for call in (
        lambda: ours.median_filter(np.zeros((5, 5)), footprint=[[0, 1], [1, 1]]),
        lambda: ours.median_filter(np.zeros((5, 5, 5, 5)), 3),
    ):
        with pytest.raises(ValueError, match="not supported"):
            call()


@pytest.mark.parametrize("name", ours.__all__)
def test_parameters_and_defaults_are_scipys(name):
    own, scipys = (
        list(inspect.signature(getattr(module, name)).parameters.values()) for module in (ours, theirs)
    )
    added = [item for item in own if item.name in ("threads", "stream")]
    own = [item for item in own if item not in added]
    assert [(item.name, item.kind, item.default) for item in own] == [
        (item.name, item.kind, item.default) for item in scipys
    ]
    assert all(item.kind is item.KEYWORD_ONLY and not item.default for item in added)


@pytest.mark.parametrize("name", ["white_tophat", "black_tophat"])
def test_what_is_taken_of_an_opening_and_a_closing(name):
    random = np.random.default_rng(8)
    for dtype in ("u1", "i2", "i4", "f4", "f8"):
        array = (random.random((30, 41)) * 100).astype(dtype)
        for keywords in (
            dict(size=5),
            dict(size=(3, 8), mode="nearest"),
            dict(footprint=np.ones((3, 5))),
            dict(structure=np.zeros((3, 3)), origin=1),
        ):
            # With an origin an opening may exceed its input: SciPy's u8 then wraps around, sepconv saturates
            # (docs/python.md).
            expected = getattr(theirs, name)(array.astype("i4") if dtype == "u1" else array, **keywords)
            assert np.array_equal(
                getattr(ours, name)(array, **keywords), expected.clip(0) if dtype == "u1" else expected
            )


def disk(radius, radius_y):
    y, x = np.ogrid[-radius_y : radius_y + 1, -radius : radius + 1]
    return (x * radius_y) ** 2 + (y * radius) ** 2 <= (radius * radius_y) ** 2


@pytest.mark.parametrize(
    "name",
    [
        "grey_erosion",
        "grey_dilation",
        "grey_opening",
        "grey_closing",
        "white_tophat",
        "black_tophat",
        "minimum_filter",
        "maximum_filter",
    ],
)
@pytest.mark.parametrize("dtype", TYPES)
def test_disks_are_scipys(name, dtype):
    random = np.random.default_rng(9)
    for shape, footprint in [
        ((1, 1), disk(2, 2)),
        ((30, 41), disk(1, 1)),
        ((30, 41), disk(5, 3)),
        ((6, 17, 3), disk(2, 2)[:, :, None]),
        ((5, 3, 9), disk(3, 1)[:, None]),
    ]:
        for view in views((random.random(shape) * 100).astype(dtype))[:2]:
            for mode in MODES:
                # As above: with a constant border SciPy's integers may wrap around.
                wide = view.astype("f8") if name.endswith("tophat") and dtype != "?" else view
                expected = getattr(theirs, name)(wide, footprint=footprint, mode=mode, cval=3)
                expected = (
                    np.clip(expected, 0, None).astype(view.dtype)
                    if view.dtype.kind in "ub"
                    else expected.astype(view.dtype)
                )
                result = getattr(ours, name)(view, footprint=footprint, mode=mode, cval=3)
                assert result.dtype == view.dtype and np.array_equal(result, expected)
    array = (random.random((20, 30)) * 100).astype(dtype)
    assert np.array_equal(
        ours.grey_erosion(array, footprint=disk(2, 2), structure=np.zeros((5, 5)), output="f4"),
        theirs.grey_erosion(array, footprint=disk(2, 2)).astype("f4"),
    )
    for call in (
        lambda: ours.grey_erosion(array, footprint=disk(2, 2), origin=1),
        lambda: ours.grey_erosion(array, footprint=disk(2, 2), origin=(0, -1)),
    ):
        with pytest.raises(ValueError, match="shift the result"):
            call()
    with pytest.raises(RuntimeError, match="sequence of modes"):
        ours.grey_erosion(array, footprint=disk(2, 2), mode=["wrap", "nearest"])


def test_disks_in_a_constant_that_is_no_number():
    array = np.random.default_rng(9).random((20, 30))
    for cval in (np.inf, -np.inf):
        assert np.array_equal(
            ours.grey_erosion(array, footprint=disk(3, 2), mode="constant", cval=cval),
            theirs.grey_erosion(array, footprint=disk(3, 2), mode="constant", cval=cval),
        )


def test_windows_that_are_neither_rectangles_nor_disks_are_scipys():
    array = np.zeros((9, 9))
    for call in (
        lambda: ours.grey_erosion(array, footprint=[[0, 1, 0], [1, 1, 1], [0, 1, 1]]),
        lambda: ours.grey_dilation(array, footprint=[[0, 1], [1, 1]]),
        lambda: ours.grey_dilation(array, structure=[[1, 2, 1]]),
    ):
        with pytest.raises(ValueError, match="give size"):
            call()
    with pytest.raises(ValueError, match="size, footprint, or structure"):
        ours.grey_erosion(array)


def test_docstrings_hold():
    for module in (ours, sc._linear, sc._gradients, sc._morphology, sc._chain, sc):
        result = doctest.testmod(module)
        assert result.failed == 0
    for name in ours.__all__:
        assert ">>>" in getattr(ours, name).__doc__
    for name in sc._stages._FUNCTIONS:  # created at run time, so doctest does not find them
        for test in doctest.DocTestFinder().find(getattr(sc._stages, name), name, globs={}):
            assert len(test.examples) == 2 and doctest.DocTestRunner().run(test).failed == 0


def test_large_sums_of_integers_take_f64():
    array = np.full((40, 600), 65535, np.uint16)
    array[::2] = 0
    expected = theirs.uniform_filter(array.astype("f8"), 301)
    check(ours.uniform_filter(array, 301), expected, array.dtype)


def test_what_is_kept_is_bounded():
    """The cache is bounded in entries (300 different filters) and in bytes (filters with many weights); a
    filter with very many weights is not cached."""
    array, caches = np.random.default_rng(1).random((4, 50)), sc._cache
    for width in range(300):
        ours.gaussian_filter1d(array, 1 + width / 300)
    assert sc._separable._plan.cache_info().currsize <= sc._separable._plan.cache_info().maxsize == 256
    count = 3000
    # the passes and the plan are both counted
    maximum = caches.MAX_BYTES // (caches.BYTES_PER_WEIGHT * count) // 2
    assert maximum < 100
    for i in range(200):
        weights = np.full(count, i)
        assert np.allclose(ours.correlate1d(array, weights), ours.correlate1d(array, weights))
        assert 0 < sc._separable._plan.cache_info().currsize <= maximum + 1 + 256 * (i < maximum)
    before = sc._separable._plan.cache_info().currsize
    wide = np.linspace(0, 1, caches.MAX_BYTES // 8 // caches.BYTES_PER_WEIGHT + 2)
    expected = theirs.correlate1d(array, wide)
    for _ in range(2):
        assert np.allclose(ours.correlate1d(array, wide), expected, rtol=1e-12)
    assert sc._separable._plan.cache_info().currsize == before


def test_a_chain_is_kept_by_nobody_else():
    """Its weights or matrix may be large."""
    gc.collect()
    before = sum(isinstance(item, sc.Chain) for item in gc.get_objects())
    for sigma in range(1, 30):
        sc.gaussian(sigma)(np.ones((5, 6)))
    gc.collect()
    assert sum(isinstance(item, sc.Chain) for item in gc.get_objects()) == before


@pytest.mark.parametrize(
    "function, name, right, wrong",
    [
        ("gaussian_filter", "radius", (2, 2), (2.0, 2.0)),
        ("gaussian_filter", "order", (1, 1), (1.0, 1.0)),
        ("gaussian_filter", "axes", (0, 1), (0.0, 1.0)),
        ("gaussian_laplace", "radius", (3, 3), (3.0, 3.0)),
    ],
)
def test_what_is_equal_and_of_another_type_is_not_taken_for_what_is_kept(function, name, right, wrong):
    array = np.random.default_rng(1).random((9, 12))
    for _ in range(2):
        getattr(ours, function)(array, 1.5, **{name: right})
        with pytest.raises((TypeError, ValueError)):
            getattr(ours, function)(array, 1.5, **{name: wrong})
    assert np.array_equal(ours.gaussian_filter(array, (2.0, 2.0)), ours.gaussian_filter(array, (2, 2)))


def test_axes_and_values_of_each():
    array = np.random.default_rng(1).random((6, 7, 8, 9)).astype("f4")
    for keywords in [
        dict(axes=(1, 2)),
        dict(axes=(0, 3)),
        dict(axes=(-1,)),
        dict(axes=0),
        dict(axes=(2, 0, 1)),
        dict(axes=()),
    ]:
        expected = theirs.gaussian_filter(array.astype("f8"), 1.5, **keywords)
        check(ours.gaussian_filter(array, 1.5, **keywords), expected, array.dtype)
    keywords = dict(
        sigma=(1, 0, 2, 0.5),
        order=(0, 1, 2, 1),
        mode=("wrap", "reflect", "wrap", "wrap"),
        radius=(3, 1, 2, 4),
    )
    check(
        ours.gaussian_filter(array, **keywords),
        theirs.gaussian_filter(array.astype("f8"), **keywords),
        array.dtype,
    )


def test_output():
    array = np.random.default_rng(1).random((9, 31)) * 1000
    for dtype in ["u1", "i2", "i4", "f4", "f8", "c8"]:
        result = ours.gaussian_filter(array, 2, output=dtype)
        assert result.dtype == dtype
        for out in [
            np.zeros((9, 31), dtype),
            np.zeros((31, 9), dtype).T,
            np.zeros((9, 62), dtype)[:, ::2],
            np.zeros((9, 31), np.dtype(dtype).newbyteorder()),
        ]:
            assert ours.gaussian_filter(array, 2, output=out) is out and np.array_equal(out, result)
    expected = ours.gaussian_filter(array, 2)
    ours.gaussian_filter(array, 2, output=array)
    assert np.array_equal(array, expected)


def test_nothing_is_copied_where_memory_allows(monkeypatch):
    """The library reads the array and writes the result in place, for any memory order of the axes."""
    seen = []
    compute = sc._sepconv.apply
    monkeypatch.setattr(
        sc._sepconv,
        "apply",
        lambda chain, source, target, *rest: (
            seen.append((source, target)) or compute(chain, source, target, *rest)
        ),
    )
    whole = np.random.default_rng(1).random((60, 80)).astype("f4")
    for view in [whole, whole.T, whole[3:40, 5:60], whole.reshape(4, 15, 80), np.asfortranarray(whole)]:
        seen.clear()
        result = ours.gaussian_filter(view, 2, axes=(-2, -1))
        assert len(seen) == 1 and np.shares_memory(seen[0][0], view) and np.shares_memory(seen[0][1], result)


def test_complex_numbers():
    random = np.random.default_rng(1)
    array = (random.random((9, 12)) + 1j * random.random((9, 12))).astype("c8")
    for call in [
        lambda m, a: m.gaussian_filter(a, 1, mode="constant", cval=2 + 3j),
        lambda m, a: m.uniform_filter(a, 3),
        lambda m, a: m.sobel(a),
        lambda m, a: m.correlate1d(a, [1, 2j, 3 - 1j]),
        lambda m, a: m.convolve1d(a.real, [1, 2j, 3 - 1j]),
    ]:
        got, expected = call(ours, array), call(theirs, array.astype("c16"))
        assert got.dtype == "c8" and np.abs(got - expected).max() < 1e-5


def test_nan_beyond_the_edges():
    array = np.random.default_rng(1).random((9, 12))
    for call in [
        lambda m: m.gaussian_filter(array, 0.5, mode="constant", cval=np.nan),
        lambda m: m.correlate1d(array, [1, 2, 1], 0, mode="constant", cval=np.nan),
    ]:
        assert np.allclose(call(ours), call(theirs), equal_nan=True)


def test_what_is_nan_spreads_as_far_as_weights_do():
    array = np.zeros((9, 12), "f4")
    array[4, 5] = np.nan
    assert np.array_equal(
        np.isnan(ours.uniform_filter(array, 3)), np.isnan(theirs.gaussian_filter(array, 1, radius=1))
    )


@pytest.mark.parametrize("shape", [(0,), (0, 5), (3, 0, 4), ()])
def test_empty_arrays_and_single_numbers(shape):
    array = np.ones(shape, "f4")
    assert ours.gaussian_filter(array, 2).shape == shape and np.array_equal(
        ours.gaussian_filter(array, 2), array
    )
    assert ours.uniform_filter(array, 3).shape == ours.gaussian_laplace(array, 2, axes=()).shape == shape


@pytest.mark.parametrize(
    "wrong, error, words",
    [
        (lambda a: ours.gaussian_filter(a, np.nan, radius=2), ValueError, "finite"),
        (lambda a: ours.gaussian_filter(a, 1e9), ValueError, "radius"),
        (lambda a: ours.uniform_filter(a, 10**9), ValueError, "size"),
        (lambda a: ours.gaussian_filter(a, 1, mode="no"), RuntimeError, "reflect"),
        (lambda a: ours.gaussian_filter(a, 1, mode="constant", cval=np.inf), ValueError, "finite"),
        (lambda a: ours.gaussian_filter(a, (1, 2, 3)), RuntimeError, "length"),
        (lambda a: ours.gaussian_filter(a, 1, axes=(0, 0)), ValueError, "unique"),
        (lambda a: ours.gaussian_filter(a, 1, radius=1.5), ValueError, "integer"),
        (lambda a: ours.gaussian_filter(a, 1, output=np.broadcast_to(1.0, a.shape)), ValueError, "read-only"),
        (lambda a: ours.gaussian_filter(a, 1, output=np.zeros(3)), RuntimeError, "shape"),
        (lambda a: ours.correlate1d(a, [1, np.inf]), ValueError, "finite"),
        (lambda a: ours.correlate1d(a, []), RuntimeError, "weights"),
        (lambda a: ours.correlate1d(a, [1], axis=2), ValueError, "axis 2"),
        (lambda a: ours.uniform_filter1d(a, 3, origin=2), ValueError, "origin"),
        (lambda a: ours.sobel(np.float32(3)), ValueError, "axis"),
        (lambda a: ours.gaussian_filter(a.astype("O"), 1), RuntimeError, "object"),
        (lambda a: ours.gaussian_filter(a.astype(np.longdouble), 1), RuntimeError, "longdouble|float128"),
        (
            lambda a: ours.gaussian_laplace(a, 1, wide=2),
            TypeError,
            "no argument 'wide'; .* truncate, radius, threads, stream",
        ),
        (
            lambda a: ours.gaussian_gradient_magnitude(a, 1, axes=(), order=1),
            TypeError,
            "no argument 'order'",
        ),
    ],
)
def test_invalid_calls_are_refused(wrong, error, words):
    with pytest.raises(error, match=words):
        wrong(np.ones((4, 5)))


@pytest.mark.parametrize("function", ["gaussian_gradient_magnitude", "gaussian_laplace"])
@pytest.mark.parametrize("radius", [2, [2, 5]])
def test_joined_functions_take_a_radius(function, radius):
    array = np.random.default_rng(0).random((19, 23))
    np.testing.assert_allclose(
        getattr(ours, function)(array, 1.0, radius=radius),
        getattr(theirs, function)(array, 1.0, radius=radius),
        rtol=1e-9,
        atol=1e-12,
    )


@pytest.mark.parametrize("function", ["gaussian_laplace", "gaussian_gradient_magnitude"])
@pytest.mark.parametrize(
    "axes", [axes for count in (1, 2, 3) for axes in itertools.permutations(range(3), count)]
)
def test_joined_functions_smooth_in_the_order_of_the_arrays_axes(function, axes):
    """Unlike SciPy, which ignores `axes` in one function, and in the other the order of sigmas if all axes
    are named."""
    array = np.random.default_rng(0).random((6, 7, 8))
    sigma = 1.3 if len(axes) == 3 else tuple(1 + axis / 2 for axis in axes)
    if len(axes) < 3 and function == "gaussian_gradient_magnitude":
        pytest.skip("SciPy smooths along all axes")
    keywords = dict(axes=axes, mode="constant", cval=3)
    np.testing.assert_allclose(
        getattr(ours, function)(array, sigma, **keywords),
        getattr(theirs, function)(array, sigma, **keywords),
        rtol=1e-9,
        atol=1e-12,
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda a, output: ours.gaussian_filter(a, 1, output=output),
        lambda a, output: ours.sobel(a, output=output),
        lambda a, output: ours.laplace(a, output=output),
        lambda a, output: ours.gaussian_laplace(a, 1, output=output),
        lambda a, output: ours.gaussian_filter(a, 0, output=output),
    ],
)
def test_types_of_results(call):
    """An unsupported argument is refused with the supported ones."""
    array = np.random.default_rng(1).random((5, 6))
    for output in [np.complex64, "c16", bool, "?", int, float, np.float16, ">f4", np.dtype("u8")]:
        assert call(array, output).dtype == np.dtype(output)
        out = np.zeros((5, 6), output)
        assert call(array, out) is out and np.array_equal(out, call(array, output))
    for output in [
        "S4",
        "O",
        object,
        np.dtype("f4,u1"),
        np.dtype([("a", "f4")]),
        "nonsense",
        np.longdouble,
        "M8[s]",
        str,
    ]:
        with pytest.raises(TypeError, match="bool, integers, f16, f32, f64, complex64 or complex128"):
            call(array, output)
        if output != "nonsense":
            with pytest.raises(TypeError, match="bool, integers, f16"):
                call(array, np.zeros((5, 6), output))
    for output in [3, 2.5, [1, 2], {}]:
        with pytest.raises(TypeError, match="must be an array or a type"):
            call(array, output)


def test_output_that_would_not_get_the_result_is_refused():
    with pytest.raises(TypeError, match="would not get the result"):
        ours.gaussian_filter(np.ones((4, 5)), 1, output=np.zeros((4, 5)).tolist())


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**62])
def test_integers_that_f64_has_no_number_for_are_refused(value):
    with pytest.raises(ValueError, match="53 significant bits"):
        sc.Chain("scale:factor=1")(np.array([[value]]))
    assert sc.Chain("scale:factor=1")(np.array([[2**53]]))[0, 0] == 2**53


def test_what_is_scipys_says_so_and_is_all_that_is():
    from sepconv.ndimage import _SCIPY_ONLY

    public = [
        name
        for name in dir(theirs)
        if callable(getattr(theirs, name)) and not name.startswith("_") and name != "test"
    ]
    assert set(public) - set(ours.__all__) <= set(_SCIPY_ONLY) and not set(_SCIPY_ONLY) & set(ours.__all__)
    with pytest.raises(AttributeError, match="is scipy.ndimage's"):
        ours.label
    with pytest.raises(AttributeError, match="has no attribute 'labels'"):
        ours.labels


def test_what_falls_back_to_scipy():
    from sepconv import ndimage_or_scipy as either

    array = np.random.default_rng(3).integers(0, 255, (20, 21)).astype("u1")
    ring = [[1, 1, 1], [1, 0, 1], [1, 1, 1]]
    assert set(ours.__all__) <= set(either.__all__) and either.label is theirs.label
    assert np.array_equal(
        either.median_filter(array, footprint=ring, threads=2), theirs.median_filter(array, footprint=ring)
    )
    assert np.array_equal(
        either.grey_opening(array, structure=np.ones((3, 3))),
        theirs.grey_opening(array, structure=np.ones((3, 3))),
    )
    assert np.array_equal(
        either.maximum_filter(input=array, footprint=ring), theirs.maximum_filter(array, footprint=ring)
    )
    assert pickle.loads(pickle.dumps(either.median_filter)) is either.median_filter
    assert np.array_equal(either.sobel(array), ours.sobel(array))  # saturated, unlike SciPy's
    with pytest.raises(ValueError, match="origin"):
        either.maximum_filter(array, 3, origin=5)


def test_every_function_describes_its_parameters():
    for name in ours.__all__:
        text = inspect.getdoc(getattr(ours, name))
        messages = re.findall(
            r"^\**(\w[\w, ]*) : |^(\w[\w, ]+)$",
            text[
                text.index("Parameters\n") : text.index("Returns\n")
                if "Returns\n" in text
                else text.index("Raises\n")
            ],
            re.MULTILINE,
        )
        names = {item for pair in messages for words in pair for item in words.split(", ")}
        assert set(inspect.signature(getattr(ours, name)).parameters) <= names, name


@pytest.mark.parametrize("mode", ["reflect", "mirror", "nearest", "wrap", "constant"])
@pytest.mark.parametrize("name", ["correlate", "convolve"])
def test_kernels_along_two_axes(name, mode):
    rng = np.random.default_rng(11)
    mine, scipys = getattr(ours, name), getattr(theirs, name)
    for shape, kernel_shape in [
        ((40, 37), (3, 5)),
        ((40, 37), (2, 4)),
        ((9, 8, 7), (3, 1, 4)),
        ((9, 8, 7), (1, 5, 3)),
        ((20, 3, 2, 9), (3, 1, 1, 3)),
        ((30, 20), (1, 5)),
        ((30, 20), (1, 1)),
        ((30,), (4,)),
    ]:
        kernel = rng.normal(size=kernel_shape)
        origin = [
            int(rng.integers(-(size // 2), (size + 1) // 2)) if size > 1 else 0 for size in kernel_shape
        ]
        if name == "convolve":
            origin = 0
        array = rng.normal(size=shape)
        expected = scipys(array, kernel, mode=mode, cval=2.5, origin=origin)
        np.testing.assert_allclose(
            mine(array, kernel, mode=mode, cval=2.5, origin=origin), expected, atol=1e-12
        )
        single = array.astype("f4")
        result = mine(single, kernel, mode=mode, cval=2.5, origin=origin)
        assert result.dtype == np.float32
        np.testing.assert_allclose(
            result, scipys(single, kernel, mode=mode, cval=2.5, origin=origin), rtol=1e-5, atol=1e-5
        )


def test_kernels_along_named_axes():
    array, kernel = np.random.default_rng(14).normal(size=(9, 8, 7)), np.arange(12.0).reshape(3, 4)
    result = ours.correlate(array, kernel, axes=(2, 0), origin=(1, -1))
    full = np.ascontiguousarray(kernel.T).reshape(4, 1, 3)
    np.testing.assert_allclose(result, theirs.correlate(array, full, origin=(-1, 0, 1)), atol=1e-12)
    turned = ours.convolve(array, kernel, axes=(2, 0))
    np.testing.assert_allclose(turned, theirs.convolve(array, full), atol=1e-12)


def test_kernels_of_integers():
    array = np.random.default_rng(12).integers(0, 200, (30, 40)).astype(np.uint8)
    kernel = np.random.default_rng(13).integers(0, 3, (3, 3)) / 9
    exact = theirs.correlate(array.astype("f8"), kernel)
    np.testing.assert_array_equal(ours.correlate(array, kernel), np.rint(exact).astype(np.uint8))
    wide = array.astype(np.int32) * 1000
    np.testing.assert_allclose(
        ours.correlate(wide, kernel, output="f8"), theirs.correlate(wide, kernel, output="f8"), rtol=1e-14
    )
    assert not ours.correlate(array, np.zeros((3, 3))).any()


def test_kernels_that_are_refused():
    array = np.zeros((5, 6, 7))
    with pytest.raises(ValueError, match="two at most"):
        ours.correlate(array, np.ones((3, 3, 3)))
    with pytest.raises(RuntimeError, match="incorrect shape"):
        ours.correlate(array, np.ones((3, 3)))
    with pytest.raises(ValueError, match="complex"):
        ours.correlate(array + 0j, np.ones((3, 3, 1)))
    with pytest.raises(ValueError, match="invalid origin"):
        ours.correlate(array[0], np.ones((3, 3)), origin=2)
