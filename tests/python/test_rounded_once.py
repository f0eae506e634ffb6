"""All functions compute from the values of the array and `cval`, round once, half to even, and saturate in
the result's type."""

import itertools
import tracemalloc

import numpy as np
import pytest

from sepconv import _separable, ndimage as ours

theirs = pytest.importorskip("scipy.ndimage")

STEPS = {
    "grey_erosion": 1,
    "grey_dilation": 1,
    "grey_opening": 2,
    "grey_closing": 2,
    "minimum_filter": 1,
    "maximum_filter": 1,
    "white_tophat": 3,
    "black_tophat": 3,
}
RANKS = {"median_filter": {}, "percentile_filter": {"percentile": 30}, "rank_filter": {"rank": 1}}
TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
MODES = ["reflect", "mirror", "nearest", "wrap", "constant", "constant", "constant"]
IDS = 7206759403792794001 + np.random.default_rng(5).integers(0, 9, (20, 30))


def converted(values, dtype):
    """`values` are f64."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return values.astype(dtype)
    limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    result = [min(max(int(item), limits[0]), limits[1]) for item in np.rint(values).ravel()]
    return np.array(result, dtype).reshape(values.shape)


def random_call(random, name):
    dtype = str(random.choice(TYPES))
    shape = [int(side) for side in random.integers(1, 12, random.integers(1, 4))]
    array = random.normal(0, 200, shape) if dtype[0] == "f" else random.integers(-300, 300, shape)
    array = converted(array.astype("f8"), dtype)
    sizes = random.integers(1, 7, array.ndim)
    keywords = {
        "size": tuple(map(int, sizes)),
        "mode": str(random.choice(MODES)),
        "cval": random.choice([-1, 300, 2.5, -3.5, 1e9, 0.1, 7]).item(),
        **RANKS.get(name, {}),
    }
    keywords["cval"] = (
        int(keywords["cval"]) if keywords["cval"] == int(keywords["cval"]) else keywords["cval"]
    )
    if random.integers(2):
        keywords["origin"] = tuple(int(random.integers(-(one // 2), (one - 1) // 2 + 1)) for one in sizes)
    return array.T if random.integers(3) == 0 else array, keywords


@pytest.mark.parametrize("name", [*STEPS, *RANKS])
def test_what_is_compared(name):
    random, narrower = np.random.default_rng(sum(map(ord, name))), 0
    for _ in range(500):
        array, keywords = random_call(random, name)
        if array.T.shape != array.shape:
            keywords["size"], keywords["origin"] = keywords["size"][0], 0
        if name.endswith("tophat") and array.dtype.str[1:] in (
            "i8",
            "u8",
            "b1",
        ):  # values that these types cannot represent are rounded before the subtraction
            keywords["cval"] = min(max(round(keywords["cval"]), 0), 1 if array.dtype == bool else 1000)
        output = random.choice([*TYPES, ""]).item() or None
        dtype = np.dtype(output or array.dtype)
        if name == "rank_filter" and (np.max(keywords["size"]) < 2):
            continue
        if name in RANKS and array.ndim == 1:  # SciPy 1.17 reads beyond the ends of short lines
            array, keywords = (
                array[None],
                {
                    **keywords,
                    **{
                        one: (minimum, np.ravel(keywords[one])[0])
                        for one, minimum in (("size", 1), ("origin", 0))
                        if one in keywords
                    },
                },
            )
        expected = converted(getattr(theirs, name)(array.astype("f8"), **keywords), dtype)
        out = np.zeros(array.shape, dtype)
        for given in (output, out):
            result = getattr(ours, name)(array, output=given, **keywords)
            assert result.dtype == dtype
            np.testing.assert_array_equal(
                result, expected, err_msg=f"{array.dtype}{array.shape} {keywords} {output}"
            )
        narrower += dtype != array.dtype
    assert narrower > 200


@pytest.mark.parametrize(
    "name, keywords",
    [
        ("gaussian_filter", {"sigma": 0}),
        ("gaussian_filter", {"sigma": 0.7}),
        ("uniform_filter", {"size": 1}),
        ("uniform_filter", {"size": 2}),
        ("correlate1d", {"weights": [1, -2]}),
        ("laplace", {}),
        ("gaussian_laplace", {"sigma": 0.6}),
        ("sobel", {}),
        ("prewitt", {}),
        ("gaussian_gradient_magnitude", {"sigma": 0.8}),
    ],
)
def test_what_is_summed(name, keywords):
    """Up to the last bits of f64, which do not affect these results."""
    random = np.random.default_rng(2)
    for dtype, output in itertools.product(TYPES, TYPES):
        array = converted(random.normal(0, 300, (7, 9)), dtype)
        expected = getattr(theirs, name)(array.astype("f8"), mode="constant", cval=-300.7, **keywords)
        result = getattr(ours, name)(array, output=output, mode="constant", cval=-300.7, **keywords)
        if np.dtype(output).kind == "f":
            np.testing.assert_allclose(result, expected.astype(output), rtol=1e-6, atol=1e-4)
        else:
            away = (
                np.abs(expected - np.floor(expected) - 0.5) > 1e-3
                if keywords != {"sigma": 0}
                else np.full(expected.shape, True)
            )
            np.testing.assert_array_equal(result[away], converted(expected, output)[away])


@pytest.mark.parametrize("dtype", ["i8", "u8"])
@pytest.mark.parametrize(
    "name, keywords",
    [
        *((name, {"size": (3, 4)}) for name in list(STEPS)[:6]),
        *((name, {"size": 3, **more}) for name, more in RANKS.items()),
    ],
)
def test_integers_of_64_bits_are_compared(name, keywords, dtype):
    """Compared as integers: small ones, ones over all 64 bits, and ones that differ slightly."""
    random, limits = np.random.default_rng(9), np.iinfo(dtype)
    for array in (
        IDS.astype(dtype),
        random.integers(limits.min, limits.max, (20, 30), dtype, endpoint=True),
        random.choice(np.array([limits.min, limits.max, 5], dtype), (20, 30)),
    ):
        values, positions = np.unique(array, return_inverse=True)
        for more in ({"mode": "wrap"}, {"mode": "constant", "cval": values[0].item()}):
            expected = values[
                getattr(theirs, name)(positions.reshape(array.shape), **keywords, **{**more, "cval": 0})
            ]
            np.testing.assert_array_equal(getattr(ours, name)(array, **keywords, **more), expected)


def test_peaks_of_ids_are_found():
    assert (ours.maximum_filter(IDS, 3) == IDS).any() and ours.maximum_filter(IDS, 3).max() == IDS.max()


@pytest.mark.parametrize("dtype", ["i8", "u8"])
@pytest.mark.parametrize("output", ["i8", "u8", "i2", "u1", "f8", "f4", None])
def test_differences_of_64_bits_are_exact(dtype, output):
    random, limits = np.random.default_rng(3), np.iinfo(dtype)
    array = random.integers(limits.min, limits.max, (8, 9), dtype, endpoint=True)
    for cval in (limits.max, limits.min):
        keywords = {"size": (2, 3), "mode": "constant", "cval": int(cval)}
        for name, step, sign in (("white_tophat", "grey_opening", 1), ("black_tophat", "grey_closing", -1)):
            expected = sign * (array.astype(object) - getattr(ours, step)(array, **keywords).astype(object))
            result = getattr(ours, name)(array, output=output, **keywords)
            kind = np.dtype(output or dtype)
            if kind.kind == "f":
                assert np.array_equal(result, expected.astype("f8").astype(kind))
            else:
                assert (
                    result.tolist()
                    == np.clip(expected, int(np.iinfo(kind).min), int(np.iinfo(kind).max)).tolist()
                )


def test_sums_of_64_bits_are_refused_as_chains_refuse_them():
    for call in (
        lambda a: ours.gaussian_filter(a, 1),
        lambda a: ours.uniform_filter(a, 4),
        lambda a: ours.sobel(a, output="f8"),
        lambda a: ours.gaussian_laplace(a, 1),
        lambda a: ours.gaussian_gradient_magnitude(a, (1, 2), axes=(0, 1)),
        lambda a: ours.laplace(a),
    ):
        with pytest.raises(ValueError, match="53 significant bits"):
            call(IDS)
        call(IDS - IDS.min())
    assert np.array_equal(ours.gaussian_filter(IDS, 0), IDS)


PARTS = [
    ("gaussian_filter", {"sigma": 1.3}),
    ("gaussian_filter", {"sigma": 3, "axes": (0,)}),
    ("uniform_filter", {"size": 4, "origin": -1}),
    ("correlate1d", {"weights": [1, 2, 3, 4], "axis": 0}),
    ("sobel", {"axis": -1}),
    ("gaussian_filter", {"sigma": 9}),
]


@pytest.mark.parametrize("dtype", ["?", "i1", "i4", "u4", "i8", "f2"])
@pytest.mark.parametrize("shape", [(41, 30), (5, 19, 23), (300,), (4, 3, 8, 9)])
def test_what_is_widened_by_parts_has_the_bytes_of_the_whole(dtype, shape, monkeypatch):
    random = np.random.default_rng(8)
    array = converted(random.normal(0, 90, shape), dtype)
    views = [array, np.asfortranarray(array), array[::-1], array.astype(array.dtype.newbyteorder())]
    for (name, keywords), mode, view in itertools.product(
        PARTS, ["reflect", "wrap", "constant", "mirror"], views
    ):
        for output in (None, "f4", "i2"):
            result = []
            for part in (1 << 20, 70):
                monkeypatch.setattr(_separable, "_PART", part)
                result.append(getattr(ours, name)(view, mode=mode, cval=-3.2, output=output, **keywords))
            assert result[0].dtype == result[1].dtype and result[0].tobytes("A") == result[1].tobytes("A")
            out = np.zeros_like(view, result[0].dtype)
            assert getattr(ours, name)(
                view, mode=mode, cval=-3.2, output=out, **keywords
            ) is out and np.array_equal(out, result[0])


def peak(call):
    tracemalloc.start()
    call()
    result = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return result


@pytest.mark.parametrize(
    "call, dtype, most",
    [
        (lambda a: ours.white_tophat(a, 5), "u1", 6),
        (lambda a: ours.gaussian_filter(a, 2), "i4", 3),
        (lambda a: ours.maximum_filter(a, 5), "i4", 4),
        (lambda a: ours.maximum_filter(a, 4), "f4", 4),
        (lambda a: ours.gaussian_filter(a, 2), "?", 8),
    ],
)
def test_how_much_memory_is_taken(call, dtype, most):
    """A multiple of the array's size, plus parts of constant size."""
    array = np.random.default_rng(1).integers(0, 2 if dtype == "?" else 200, (6000, 2000)).astype(dtype)
    assert peak(lambda: call(array)) < most * array.nbytes + (24 << 20)


@pytest.mark.parametrize("name", [*STEPS, *RANKS])
def test_empty_arrays_have_no_windows(name):
    for shape, keywords in itertools.product(
        [(0, 5), (5, 0), (0,)],
        [{"size": 4}, {"size": 2, "origin": -1}, {"size": 3, "mode": "constant", "cval": np.inf}],
    ):
        result = getattr(ours, name)(np.zeros(shape, "u2"), **keywords, **RANKS.get(name, {}), output="f4")
        assert result.shape == shape and result.dtype == "f4"


def test_sizes_that_are_whole():
    array = np.random.default_rng(1).random((9, 9))
    assert np.array_equal(ours.maximum_filter(array, 3.0), ours.maximum_filter(array, 3))
    assert np.array_equal(
        ours.minimum_filter(array, (3.0, np.float32(2))), ours.minimum_filter(array, (3, 2))
    )
    with pytest.raises(TypeError):
        ours.maximum_filter(array, 3.5)
    with pytest.raises(TypeError, match="text"):
        ours.maximum_filter(array, 3, mode="constant", cval="1")
