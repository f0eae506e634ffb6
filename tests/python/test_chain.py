"""Chains: their construction, their inputs, and that they compute the library's results."""

import builtins
import inspect
import pickle
import re

import numpy as np
import pytest

import sepconv as sc
from sepconv import _sepconv

TYPES = ["?", "i1", "u1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16"]


def image(dtype="u1", shape=(40, 50)):
    return (np.random.default_rng(1).random(shape) * 100).astype(dtype)


def test_stages_have_the_keys_that_the_library_declares():
    for stage in _sepconv.stages():
        parameters = inspect.signature(getattr(sc._stages, stage["name"])).parameters
        assert [key["name"] for key in stage["keys"] if key["name"] not in parameters] == []
        assert {key["name"] for key in stage["keys"] if key["needed"]} == {
            name for name, parameter in parameters.items() if parameter.default is parameter.empty
        }


@pytest.mark.parametrize("stage", _sepconv.stages(), ids=lambda stage: stage["name"])
def test_a_stage_by_text_is_the_stage_by_its_function(stage):
    if stage["name"] in ("gemm",):
        pytest.skip("its example names a file")
    chain = sc.Chain(stage["example"])
    name, _, remainder = str(chain).partition(":")
    arguments = {}
    for token in re.split(r",(?![^\[]*\])", remainder) if remainder else []:  # brackets enclose one value
        key, equals, value = token.partition("=")
        if equals:
            last, arguments[key] = key, value
        else:
            arguments[last] += "," + token
    assert getattr(sc, name)(**arguments) == chain


def test_stages_of_older_versions_are_understood_and_in_no_list():
    assert (
        sc.log(2) == sc.Chain("log:sigma=2") == sc.gaussian_laplace(2)
        and sc.close is sc.closing
        and sc.mean is sc.box
        and sc.normalize(least=2) == sc.local_normalize(min_std=2)
    )
    assert not {"log", "taps", "matrix", "mean", "std", "normalize", "close"} & {*dir(sc), *sc.__all__}
    with pytest.raises(AttributeError, match="has no attribute 'gausian'"):
        sc.gausian


@pytest.mark.parametrize("name", ["gemm", "transpose"])
def test_functions_of_files_have_their_own_signature_and_say_that_they_are_stages(name):
    both = getattr(sc, name)
    parameters = inspect.signature(both).parameters
    assert (
        list(parameters)[:3] == {"gemm": ["a", "b", "sink"], "transpose": ["source", "sink", "perm"]}[name]
        and parameters["max_memory"].default is None
    )
    assert f"it is the stage of this name, ``{name}(" in both.__doc__
    assert (
        inspect.signature(sc.transpose).parameters["perm"].default == (1, 0)
        and str(sc.transpose()) == "transpose"
    )


@pytest.mark.parametrize("module", [sc, sc.files, sc.ndimage])
def test_a_star_import_leaves_pythons_own_functions(module):
    names = {}
    exec(f"from {module.__name__} import *", names)
    assert set(module.__all__) <= set(names) and not [
        name for name in module.__all__ if hasattr(builtins, name)
    ]
    assert "open" not in names and "abs" not in names and callable(sc.open) and str(sc.abs()) == "abs"


def test_values_are_python_s():
    assert sc.resize(size=(30, 40)) == sc.Chain("resize:size=40x30")
    assert sc.convolve(row=[1, 0.1, 1]) == sc.Chain("convolve:row=1,0.1,1")
    assert sc.gaussian(2, flip=True) == sc.Chain("gaussian:sigma=2,flip=true")


def test_a_chain_is_a_value():
    chain = sc.gaussian(2.5) | sc.sobel("x") | sc.abs()
    assert len(chain) == 3 and chain == sc.Chain("gaussian:sigma=2.5 | sobel:axis=x | abs")
    assert (
        pickle.loads(pickle.dumps(chain)) == chain
        and hash(chain) == hash(sc.Chain(str(chain)))
        and eval(repr(chain), {"Chain": sc.Chain}) == chain
    )
    assert chain != sc.abs() and chain != "abs"


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_keeps_its_type_in_both_byte_orders(dtype):
    array = image(dtype)
    result = sc.gaussian(1.5)(array)
    assert result.dtype == array.dtype and result.shape == array.shape
    swapped = array.astype(array.dtype.newbyteorder())
    assert np.array_equal(sc.gaussian(1.5)(swapped), result)
    out = np.zeros_like(array)
    assert sc.gaussian(1.5)(array, out) is out and np.array_equal(out, result)


def test_converted_results_are_rounded_and_saturated():
    values = np.array([[1.4, 2.5, 3.5]])
    assert (sc.scale(1, offset=0.5) | sc.cast("i16"))(values).tolist() == [[2, 3, 4]]
    wide = np.array([[2**31 - 1, 5, -(2**31)]], np.int32)
    assert sc.scale(2)(wide).tolist() == [[2**31 - 1, 10, -(2**31)]]
    assert sc.scale(2.0**40)(np.array([[2**30, 1, -(2**30)]])).tolist() == [[2**63 - 1, 2**40, -(2**63)]]
    assert sc.scale(0.5)(np.array([[3, 5, -7]], np.int8)).tolist() == [[2, 2, -4]] and sc.scale(3)(
        np.array([[100]], np.int8)
    ).tolist() == [[127]]
    assert sc.scale(0)(np.array([[True, False]])).tolist() == [[False, False]]
    assert np.isinf(sc.scale(2)(np.array([[60000]], np.float16))).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda a: a[::-1],
        lambda a: a[:, ::-1],
        lambda a: a[::2, 1::3],
        lambda a: a.T,
        lambda a: a[3:20, 4:31],
        lambda a: np.broadcast_to(a[:1], (9, a.shape[1])),
        np.asfortranarray,
    ],
)
def test_any_strides(make):
    view = make(image("f4"))
    assert np.array_equal(sc.sobel("x")(view), sc.sobel("x")(np.ascontiguousarray(view)))


def test_elements_at_odd_addresses():
    array = np.frombuffer(bytes(range(1, 82)), np.uint16, 40, 1).reshape(5, 8)
    assert not array.flags.aligned and np.array_equal(sc.box(1)(array), sc.box(1)(array.copy()))


def test_axes_say_what_is_an_image():
    volume, colours = image("f4", (5, 20, 30)), image("f4", (20, 30, 3))
    blur = sc.gaussian(1.5)
    stack = blur(volume, axes="zyx")
    assert all(np.array_equal(stack[z], blur(volume[z])) for z in range(5))
    assert np.array_equal(blur(colours)[..., 1], blur(colours[..., 1]))
    assert np.array_equal(blur(volume.transpose(1, 2, 0), axes="yxz"), stack.transpose(1, 2, 0))
    assert np.array_equal(blur(colours.transpose(2, 0, 1), axes="cyx"), blur(colours).transpose(2, 0, 1))
    assert (
        blur(volume[0, 0]).shape == (30,)
        and blur(volume, axes="zyx", out=np.empty_like(volume)).shape == volume.shape
    )
    assert sc.mix_channels(values=[1, 2, 3], rows=3)(volume[0]).shape == (20, 30, 3) and sc.transpose()(
        colours
    ).shape == (30, 20, 3)
    assert blur(np.empty((0, 4, 5)), axes="zyx").shape == (0, 4, 5)


def test_nothing_is_copied_if_the_library_can_address_it():
    whole = image("f4", (60, 80))
    assert np.shares_memory(sc._arrays.ready(whole[3:40, 5:60], 2), whole) and not np.shares_memory(
        sc._arrays.ready(whole[:, ::2], 2), whole
    )
    out = np.zeros((60, 200), np.float32)
    address = out.ctypes.data
    assert (
        sc.box(2)(whole, out=out[:, 7:87]).ctypes.data == address + 28
        and np.array_equal(out[:, 7:87], sc.box(2)(whole))
        and not out[:, 87:].any()
    )


@pytest.mark.parametrize(
    "text",
    [
        "gaussian:sigma=2,sigma_y=1 | sobel:axis=x | abs",
        "convolve:row=1,2,4",
        "reduce:factor=2,factor_y=3",
        "resize:size=30x50",
    ],
)
@pytest.mark.parametrize("dtype", ["f4", "u4"])
def test_column_major_arrays_are_not_copied(monkeypatch, text, dtype):
    array, seen, compute = np.asfortranarray(image(dtype)), [], _sepconv.apply
    monkeypatch.setattr(
        _sepconv, "apply", lambda chain, source, *rest: seen.append(source) or compute(chain, source, *rest)
    )
    result = sc.Chain(text)(array)
    assert np.array_equal(result, sc.Chain(text)(image(dtype))) and (
        dtype == "u4" or np.shares_memory(seen[0], array)
    )
    out = np.zeros(result.shape, dtype)
    assert sc.Chain(text)(array, out) is out and np.array_equal(out, result)


def test_a_changed_file_is_read_again(tmp_path):
    for cols in (4, 5):
        np.save(tmp_path / "matrix.npy", np.ones((3, cols)))
        assert sc.gemm(tmp_path / "matrix.npy")(np.ones((2, 3))).shape == (2, cols)


def test_a_result_that_overlaps_its_input():
    array = image("f4")
    expected = sc.box(2)(array)
    assert np.array_equal(sc.box(2)(array, out=array), expected)


@pytest.mark.parametrize(
    "wrong, error, words",
    [
        (lambda: sc.gaussian(float("nan")), ValueError, "finite"),
        (lambda: sc.gaussian(1e9), ValueError, "radius"),
        (lambda: sc.gaussian(), TypeError, "sigma"),
        (lambda: sc.gaussian(1, sigmay=2), TypeError, "sigmay"),
        (lambda: sc.sobel("q"), ValueError, "one of x, y"),
        (lambda: sc.Chain("gausian"), ValueError, "did you mean 'gaussian'"),
        (lambda: sc.Chain([5]), TypeError, "made of texts"),
        (lambda: sc.abs()(np.ones((3, 4)), threads="x"), TypeError, "threads='x' is not a whole number"),
        (lambda: sc.abs()(np.ones((3, 4)), axes=5), TypeError, "axes=5 is not text"),
        (
            lambda: sc.run(np.ones((3, 4, 5)), np.ones((3, 4, 5)), axes="\ud800yx"),
            ValueError,
            "surrogates not allowed",
        ),
        (lambda: sc.convolve(file="/no/such/file"), FileNotFoundError, "no such file"),
        (lambda: sc.abs()(np.float32(3)), ValueError, "axes"),
        (lambda: sc.abs()(np.empty((0, 5))), ValueError, "0 rows"),
        (lambda: sc.abs()(np.ones((3, 4, 5))), ValueError, "axes='zyx'"),
        (lambda: sc.abs()(np.ones((3, 4)), axes="yy"), ValueError, "letter"),
        (lambda: sc.abs()(np.ones((3, 4)), arithmetic="f16"), ValueError, "'f32' and 'f64'"),
        (lambda: sc.abs()(["abc"]), TypeError, "cannot be filtered"),
        (lambda: sc.abs()(np.ones((3, 4), "c8")), ValueError, "complex"),
        (lambda: sc.abs()(np.ma.masked_array(np.ones((3, 4)))), TypeError, "mask"),
        (lambda: sc.abs()(np.array([[2**60 + 1]])), ValueError, "53 significant bits"),
        (lambda: sc.abs()(np.ones((3, 4)), out=np.ones((4, 3))), ValueError, "shape"),
        (lambda: sc.abs()(np.ones((3, 4)), out=np.broadcast_to(1.0, (3, 4))), ValueError, "read-only"),
        (lambda: sc.abs()(np.ones((3, 4)), out=[1]), TypeError, "list"),
        (lambda: sc.abs()(np.ones((3, 4)), threads=-1), ValueError, "thread"),
    ],
)
def test_invalid_calls_are_refused_with_a_message(wrong, error, words):
    with pytest.raises(error, match=words):
        wrong()
