"""Calls of functions on files with arbitrary arguments return a result or raise a Python exception with a
message, and leave no temporary file."""

import os
import random
import warnings

import numpy as np

import sepconv as sc
from test_any_input import ERRORS, anything


class MisreportingArray:
    """A sliceable object that misreports its shape and type."""

    def __init__(self, pick):
        self.pick, self.dtype = pick, np.dtype(pick.choice(["u1", "f4", "c8", "i8"]))
        self.shape, self.chunks = (
            pick.choice([(30, 20), (1, 20), (0, 4), (3, 30, 20), (30, 20, 3)]),
            pick.choice([None, (8, 8), (1, 8, 8), "no", (0, 0), (-1, 3), (10**9, 10**9)]),
        )

    def __getitem__(self, key):
        return self.pick.choice(
            [lambda: anything(self.pick), lambda: np.zeros(self.shape, self.dtype)[key], lambda: 1 / 0]
        )()

    def __setitem__(self, key, values):
        self.pick.choice([lambda: None, lambda: 1 / 0])()


def end(pick):
    return pick.choice(
        [
            lambda: anything(pick),
            lambda: MisreportingArray(pick),
            lambda: pick.choice(
                ["in.npy", "in.tif", "none.tif", "", ".", "out.tif", "out.npy", b"in.npy", "text.txt"]
            ),
            lambda: np.zeros((30, 20), "u1"),
            lambda: np.empty((30, 20), "u1"),
            lambda: sc.open("in.tif"),
        ]
    )()


def call(pick):
    options = {
        name: pick.choice(
            [
                None,
                0,
                1,
                -1,
                "x",
                "1",
                True,
                (3, 4),
                1e9,
                float("nan"),
                np.s_[0:3, 0:4],
                "auto",
                "none",
                [],
                10**30,
            ]
        )
        for name in pick.sample(
            [
                "max_memory",
                "threads",
                "axes",
                "page",
                "level",
                "raw",
                "region",
                "nodata",
                "dst_nodata",
                "compress",
                "tile",
                "pyramid",
                "plan",
                "band_rows",
                "device",
                "arithmetic",
                "no_such",
            ],
            pick.choice([0, 0, 0, 1, 1, 2]),
        )
    }
    options["overwrite"] = True
    chain = pick.choice(
        [
            (),
            "abs",
            sc.gaussian(2),
            sc.transpose(),
            "no",
            3,
            ["box:radius=1"],
            sc.mix_channels(values=[1, 2, 3]),
        ]
    )
    which = pick.choice(["run", "run", "run", "plan", "stats", "compare", "transpose", "gemm"])
    if which in ("stats", "compare"):
        del options["overwrite"]
        return getattr(sc, which)(
            *(end(pick) for _ in range(1 if which == "stats" else 2)), progress=False, **options
        )
    if which == "plan":
        return sc.plan(end(pick), end(pick), chain, **options)
    if which == "gemm":
        return sc.gemm(end(pick), end(pick), end(pick), progress=False, **options)
    if which == "transpose":
        return sc.transpose(
            end(pick),
            end(pick),
            pick.choice([(1, 0), (2, 0, 1), (0,), "no", (1, 1)]),
            progress=False,
            **options,
        )
    return sc.run(end(pick), end(pick), chain, progress=False, **options)


def test_calls_with_anything(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("in.npy", np.zeros((30, 20), "u1"))
    sc.run("in.npy", "in.tif", progress=False)
    open("text.txt", "w").write("no image")
    results = 0
    for seed in range(4000):
        pick = random.Random(seed)
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call(pick)
            results += 1
        except (*ERRORS, OSError, ZeroDivisionError) as error:
            assert str(error), f"seed {seed}: no sentence"
            assert "std::" not in str(error) and "incompatible function arguments" not in str(error), (
                f"seed {seed}: {error}"
            )
    assert results > 50
    assert set(os.listdir(".")) <= {"in.npy", "in.tif", "text.txt", "out.tif", "out.npy", "none.tif"}
