"""Calls with anything end in a result or in one of Python's errors with a sentence, never otherwise."""

import random

import numpy as np
import pytest

import sepconv as sc
from sepconv import ndimage

ERRORS = (ValueError, TypeError, RuntimeError, MemoryError, OverflowError)


def anything(pick):
    """An array, or what is none."""
    shape = tuple(pick.choice([0, 1, 2, 3, 5, 17]) for _ in range(pick.randrange(5)))
    dtype = pick.choice(
        [
            "?",
            "i1",
            "u1",
            "u2",
            "i2",
            ">u2",
            "u4",
            "i8",
            "u8",
            "f2",
            "f4",
            ">f4",
            "f8",
            "g",
            "c8",
            "c16",
            "O",
            "S3",
            "M8[s]",
            [("a", "f4"), ("b", "u1")],
        ]
    )
    array = np.zeros(shape, dtype)
    if array.dtype.kind == "f" and array.size:
        array.flat[:] = [pick.choice([0, 1, np.nan, np.inf, -1e300, 1e-40]) for _ in range(array.size)]
    view = pick.choice(
        [
            lambda a: a,
            lambda a: a.T,
            lambda a: a[..., ::-1] if a.ndim else a,
            lambda a: a[::2] if a.ndim else a,
            lambda a: np.broadcast_to(a, (3, *a.shape)),
            lambda a: a["a"] if a.dtype.names else a,
            lambda a: a.tolist(),
            lambda a: None,
            lambda a: "abc",
        ]
    )
    return view(array)


def number(pick):
    return pick.choice(
        [0, 1, 2, -1, 0.5, 3.7, np.nan, np.inf, 1e9, 1e-20, "x", None, (1, 2), [1], np.float32(2)]
    )


def call(pick):
    array, keywords = anything(pick), {}
    if pick.random() < 0.5:
        keywords["mode"] = pick.choice(
            ["reflect", "mirror", "wrap", "constant", "nearest", "no", 3, ("wrap", "reflect"), None]
        )
    if pick.random() < 0.3:
        keywords["output"] = pick.choice([np.float64, "u1", "no", 3, anything(pick), array])
    if pick.random() < 0.3:
        keywords["cval"] = number(pick)
    name = pick.choice(
        [
            "gaussian_filter",
            "gaussian_filter1d",
            "uniform_filter",
            "sobel",
            "laplace",
            "gaussian_laplace",
            "gaussian_gradient_magnitude",
            "correlate1d",
        ]
    )
    given = {
        "sobel": [],
        "laplace": [],
        "correlate1d": [pick.choice([[1, 2, 3], [], [np.nan], [[1]], anything(pick)])],
    }.get(name, [number(pick)])
    if pick.random() < 0.3:
        out = keywords.pop("output", None)
        chain = pick.choice(
            [
                sc.gaussian(2),
                sc.sobel("y") | sc.abs(),
                sc.transpose(),
                sc.reduce(2),
                sc.mix_channels(values=[1, 2, 3]),
                sc.Chain(),
                sc.cast("u8"),
                sc.box(40),
            ]
        )
        return chain(
            array,
            out,
            axes=pick.choice([None, "yx", "xy", "zyx", "yxc", "cyx", "x", "y", "", "yy"]),
            threads=pick.choice([0, 1, 3, -1, 10**9]),
        )
    return getattr(ndimage, name)(array, *given, **keywords)


@pytest.mark.filterwarnings("ignore:promoting specified output dtype")
def test_calls_with_anything():
    results = 0
    for seed in range(4000):
        pick = random.Random(seed)
        try:
            with np.errstate(all="ignore"):
                call(pick)
            results += 1
        except ERRORS as error:
            assert str(error), f"seed {seed}: no sentence"
    assert 400 < results < 3600
