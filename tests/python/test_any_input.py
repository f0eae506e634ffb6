"""Calls with arbitrary arguments return a result or raise a Python exception with a message."""

import random

import numpy as np
import pytest

import sepconv as sc
from sepconv import ndimage

ERRORS = (ValueError, TypeError, RuntimeError, MemoryError, OverflowError)


def anything(random_source):
    """An array, or an object that is not one."""
    shape = tuple(random_source.choice([0, 1, 2, 3, 5, 17]) for _ in range(random_source.randrange(5)))
    dtype = random_source.choice(
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
        array.flat[:] = [
            random_source.choice([0, 1, np.nan, np.inf, -1e300, 1e-40]) for _ in range(array.size)
        ]
    view = random_source.choice(
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


def number(random_source):
    return random_source.choice(
        [0, 1, 2, -1, 0.5, 3.7, np.nan, np.inf, 1e9, 1e-20, "x", None, (1, 2), [1], np.float32(2)]
    )


def call(random_source):
    array, keywords = anything(random_source), {}
    if random_source.random() < 0.5:
        keywords["mode"] = random_source.choice(
            ["reflect", "mirror", "wrap", "constant", "nearest", "no", 3, ("wrap", "reflect"), None]
        )
    if random_source.random() < 0.3:
        keywords["output"] = random_source.choice([np.float64, "u1", "no", 3, anything(random_source), array])
    if random_source.random() < 0.3:
        keywords["cval"] = number(random_source)
    name = random_source.choice(
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
    arguments = {
        "sobel": [],
        "laplace": [],
        "correlate1d": [random_source.choice([[1, 2, 3], [], [np.nan], [[1]], anything(random_source)])],
    }.get(name, [number(random_source)])
    if random_source.random() < 0.3:
        out = keywords.pop("output", None)
        chain = random_source.choice(
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
            axes=random_source.choice([None, "yx", "xy", "zyx", "yxc", "cyx", "x", "y", "", "yy"]),
            threads=random_source.choice([0, 1, 3, -1, 10**9]),
        )
    return getattr(ndimage, name)(array, *arguments, **keywords)


@pytest.mark.filterwarnings("ignore:promoting specified output dtype")
def test_calls_with_anything():
    results = 0
    for seed in range(4000):
        random_source = random.Random(seed)
        try:
            with np.errstate(all="ignore"):
                call(random_source)
            results += 1
        except ERRORS as error:
            assert str(error), f"seed {seed}: no sentence"
    assert 400 < results < 3600
