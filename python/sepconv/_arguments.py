"""What the functions of `scipy.ndimage` have in common: axes, outputs, complex numbers."""

import functools
import inspect
import operator
import warnings

import numpy as np

from sepconv import _arrays, _devices, _array_namespace, _dtypes
from sepconv._separable import filtered, filtered_on_gpu

_NAMED = (type, np.dtype, str)


class Unsupported(ValueError):
    """SciPy takes it, and this package does not."""


def whole(number):
    """As an index; of a float its value, if that is whole."""
    return (
        int(number)
        if isinstance(number, (float, np.floating)) and number.is_integer()
        else operator.index(number)
    )


def axis_of(axis, ndim):
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim


def axes_of(axes, ndim):
    if axes is None:
        return tuple(range(ndim))
    if not np.isscalar(axes) and not np.iterable(axes):
        raise ValueError("axes must be an integer, iterable of integers, or None")
    axes = (axis_of(axes, ndim),) if np.isscalar(axes) else tuple(map(operator.index, axes))
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise ValueError(f"specified axis: {axis} is out of range")
    axes = tuple(axis % ndim for axis in axes)
    if len(set(axes)) != len(axes):
        raise ValueError("axes must be unique")
    return axes


def each_of(value, count):
    """A value for each axis."""
    if isinstance(value, str) or not np.iterable(value):
        return [value] * count
    if len(value := list(value)) != count:
        raise RuntimeError(
            f"sequence argument must have length equal to input rank: it has {len(value)}, and there are {count} axes"
        )
    return value


def of_any_library(function):
    """Gives a function of arrays of NumPy's, and of those on a GPU, what is made into one; the result is of
    the library that `input` is of."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(input, *args, **keywords):
        if _devices.is_on_gpu(input):
            return function(input, *args, **keywords)
        array, library = (input, None) if type(input) is np.ndarray else _array_namespace.on_host(input)
        _dtypes.check_as_scipy(array.dtype)
        made = function(array, *args, **keywords)
        if library is None:
            return made
        output = signature.bind(input, *args, **keywords).arguments.get("output")
        return library(made) if output is None or isinstance(output, _NAMED) else output

    return call


def result_of(output, array, is_complex=False):
    """The array that `output` is, or None, and the type of the result."""
    if output is None:
        return None, np.promote_types(array.dtype, np.complex64) if is_complex else _dtypes.native(
            array.dtype
        )
    if isinstance(output, _NAMED):
        dtype = _dtypes.result_type(output)
        if is_complex and dtype.kind != "c":
            if isinstance(output, str):
                raise RuntimeError("output must have complex dtype")
            warnings.warn("promoting specified output dtype to complex", stacklevel=5)
            dtype = np.promote_types(dtype, np.complex64)
        return None, dtype
    if (
        not isinstance(output, np.ndarray)
        and not hasattr(output, "__array_interface__")
        and not hasattr(output, "__dlpack__")
    ):
        raise TypeError(
            f"output must be an array or a type, and a {type(output).__name__} would not get the result; store it there, or give sepconv.run a chain"
        )
    output, _ = _array_namespace.on_host(output)
    if output.shape != array.shape:
        raise RuntimeError(
            f"output shape not correct: it is {output.shape}, and the input's is {array.shape}"
        )
    if is_complex and output.dtype.kind != "c":
        raise RuntimeError("output must have complex dtype")
    if not output.flags.writeable:
        raise ValueError("output is read-only; give an array that can be written to")
    return output, _dtypes.result_type(output.dtype)


def apply(array, make, given, cval, output, threads, stream):
    """`make`, remembered, makes the passes of the number of axes, of what lies beyond the edges, and of what
    is given."""
    threads = _arrays.checked_threads("threads", threads)
    if not isinstance(array, np.ndarray):
        return filtered_on_gpu(array, make(array.ndim, cval, *given), output, stream)
    if stream is not None:
        raise TypeError("stream is for arrays on a GPU, and this one is in the host's memory")
    is_complex = array.dtype.kind == "c"
    if not is_complex and not isinstance(cval, (float, int)) and np.iscomplexobj(cval):
        raise ValueError("Cannot provide a complex-valued cval when the input is real.")
    out, dtype = result_of(output, array, is_complex)
    if dtype.kind != "c":
        return filtered(array, make(array.ndim, cval, *given), dtype, out, threads)
    made = np.empty(array.shape, dtype) if out is None else out
    if not is_complex:
        made[...] = filtered(
            array, make(array.ndim, cval, *given), _dtypes.PARTS[_dtypes.native(dtype)], None, threads
        )
        return made
    parts = [
        filtered(part(array), make(array.ndim, float(part(cval)), *given), part(made).dtype, None, threads)
        for part in (np.real, np.imag)
    ]
    made.real, made.imag = parts
    return made
