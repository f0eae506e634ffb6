"""Every public function and method with each of its arguments replaced by invalid objects: a result, or a
Python exception with one message."""

import inspect
import math
import re
import warnings

import numpy as np
import pytest

import sepconv as sc
from sepconv import _stages, ndimage

ERRORS = (TypeError, ValueError, OverflowError, MemoryError, OSError, IndexError)
# RuntimeErrors of ndimage, which SciPy raises too.
SCIPY_RUNTIME_ERRORS = r"array type .+ is not supported|boundary mode .+ is not supported|no filter weights given|output shape not correct|sequence argument must have length|incorrect filter size|rank not within filter footprint size|no footprint or filter size provided|invalid percentile|footprint.ndim .+ must match|A sequence of modes is not supported|filter weights array has incorrect shape"


class FakeSliceable:
    """A sliceable object that declares this shape and type."""

    def __init__(self, shape, dtype=np.dtype("f4")):
        self.shape, self.dtype = shape, dtype

    def __repr__(self):
        return f"Shaped({self.shape!r}, {self.dtype!r})"

    def __getitem__(self, key):
        return np.zeros((2, 3), "f4")[key]

    def __setitem__(self, key, values):
        pass


INVALID = [
    None,
    "x",
    "",
    "\ud800",
    "a\0b",
    b"x",
    5.5,
    -1,
    0,
    True,
    [],
    {},
    set(),
    (1,),
    (1, 2, 3, 4, 5),
    [None],
    ["x"],
    {"x": 1},
    object(),
    int,
    len,
    np.array([1]),
    np.array(3),
    np.array([None]),
    np.float32(2),
    2**31,
    2**63,
    -(2**63) - 1,
    10**30,
    10**400,
    math.nan,
    math.inf,
    1j,
    np.s_[1:2],
    np.s_[::0],
    ...,
    np.complex64,
    np.longdouble,
    "S4",
    "O",
    [("a", "f4")],
    np.dtype("f4,u1"),
    "M8[s]",
]
INVALID += [
    FakeSliceable(shape)
    for shape in [
        (-1, 3),
        (10**30, 3),
        (2**62, 2**62),
        (5.5, 3),
        3,
        None,
        "xy",
        [6, 7],
        (None, 3),
        ("6", "7"),
        (),
        (0, 7),
        (6, 7),
    ]
]
INVALID += [
    FakeSliceable((6, 7), dtype) for dtype in [None, "f4", np.dtype("O"), np.dtype("V3"), np.float32, 3]
]

IMAGE = np.ones((6, 7), "f4")
CHAIN = sc.gaussian(1)
STAGE_ARGUMENTS = {
    "sigma": 1.5,
    "sigma2": 2,
    "file": "in.npy",
    "type": "u8",
    "low": 0,
    "high": 1,
    "at": 1,
    "factor": 2,
    "percent": 50.0,
    "rank": 1,
    "expr": "x*2",
    "sigmas": [1, 2],
    "eps": 2.0,
}
#: One of several arguments that these need.
CHOSEN = {"hessian": {"eigenvalue": 1}, "structure_tensor": {"eigenvalue": 1}}


def derivative(array, axis, output, mode, cval):
    return ndimage.sobel(array, axis, output, mode, cval)


def run_plan(text):
    return sc.run(IMAGE, np.empty_like(IMAGE), plan=sc.Plan(text), progress=False)


def save_trace(path):
    return sc.run(IMAGE, np.empty_like(IMAGE), progress=False).save_trace(path)


def read(key):
    return sc.open("in.npy")[key]


def join_chain(other):
    return CHAIN | other


def as_array(dtype, copy):
    return sc.open("in.npy").__array__(dtype, copy)


def cases():
    """Functions by name, with valid arguments."""
    for name in ndimage.__all__:
        arguments = {
            "input": IMAGE,
            "weights": [[1, 2, 1], [0, 1, 3]] if name in ("correlate", "convolve") else [1, 2, 1],
            "sigma": 1.5,
            "size": 3,
            "derivative": derivative,
            "derivative2": derivative,
            "axis": 0,
            "mode": "constant",
            "cval": 1.0,
            "percentile": 50.0,
            "rank": 1,
        }
        yield f"ndimage.{name}", getattr(ndimage, name), arguments
    for name in _stages._FUNCTIONS:
        function = getattr(_stages, name)
        yield (
            f"stage {name}",
            function,
            {
                key: STAGE_ARGUMENTS[key]
                for key, parameter in inspect.signature(function).parameters.items()
                if parameter.default is parameter.empty
            }
            | CHOSEN.get(name, {}),
        )
    for name, sink in {
        "run": (6, 7),
        "plan": (6, 7),
        "transpose": (7, 6),
        "gemm": (6, 6),
        "stats": (),
        "compare": (),
    }.items():
        yield (
            name,
            getattr(sc, name),
            {
                "source": IMAGE,
                "a": IMAGE,
                "b": IMAGE.T if name == "gemm" else IMAGE,
                "sink": np.empty(sink, "f4"),
                "progress": False,
            },
        )
    for name, array in {"f32": IMAGE, "i32": IMAGE.astype("i4"), "complex64": IMAGE * 1j}.items():
        yield f"a chain of {name}", CHAIN.__call__, {"array": array}
    yield from [
        ("open", sc.open, {"path": "in.npy"}),
        ("preview", sc.preview, {"path": "in.npy", "size": 8}),
        ("Chain", sc.Chain, {}),
        ("joined", join_chain, {}),
        ("run_plan", run_plan, {}),
        ("save_trace", save_trace, {}),
        ("read", read, {}),
        ("as_array", as_array, {"dtype": None, "copy": None}),
    ]


CASES = {name: (function, arguments) for name, function, arguments in cases()}


def outcome(function, arguments):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            function(**arguments)
        except Exception as error:
            return error
    return None


@pytest.mark.parametrize("name", CASES)
def test_every_argument_may_be_anything(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("in.npy", IMAGE)
    function, arguments = CASES[name]
    parameters = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    arguments = {key: value for key, value in arguments.items() if key in parameters}
    assert outcome(function, arguments) is None or not arguments
    errors = 0
    for key in [
        *parameters,
        *(
            ["truncate", "radius", "threads"]
            if name in ("ndimage.gaussian_laplace", "ndimage.gaussian_gradient_magnitude")
            else []
        ),
    ]:
        for odd in INVALID:
            error, said = outcome(function, {**arguments, key: odd}), f"{key}={odd!r}"
            if error is None:
                continue
            errors += 1
            sentence = str(error)
            assert isinstance(error, ERRORS) or (
                type(error) is RuntimeError
                and name.startswith("ndimage.")
                and re.match(SCIPY_RUNTIME_ERRORS, sentence)
            ), f"{said}: {error!r}"
            assert (
                sentence
                and "\n" not in sentence
                and not re.search(r"std::|nanobind|NativeChain|arg0", sentence)
            ), f"{said}: {error!r}"
    assert errors or not parameters
