"""Code shared by the functions of `scipy.ndimage`: axes, outputs, complex numbers."""

import functools
import inspect
import operator
import warnings

import numpy as np

from sepconv import _arrays, _devices, _array_namespace, _dtypes
from sepconv._separable import filtered, filtered_on_gpu

_DTYPE_LIKE = (type, np.dtype, str)


class Unsupported(ValueError):
    """SciPy supports the argument, this package does not."""


def whole(number):
    """An index, also from a float with an integral value."""
    return (
        int(number)
        if isinstance(number, (float, np.floating)) and number.is_integer()
        else operator.index(number)
    )


def normalized_axis(axis, ndim):
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim


def normalized_axes(axes, ndim):
    if axes is None:
        return tuple(range(ndim))
    if not np.isscalar(axes) and not np.iterable(axes):
        raise ValueError("axes must be an integer, iterable of integers, or None")
    axes = (normalized_axis(axes, ndim),) if np.isscalar(axes) else tuple(map(operator.index, axes))
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise ValueError(f"specified axis: {axis} is out of range")
    axes = tuple(axis % ndim for axis in axes)
    if len(set(axes)) != len(axes):
        raise ValueError("axes must be unique")
    return axes


def per_axis(value, count):
    """One value per axis: a scalar is repeated."""
    if isinstance(value, str) or not np.iterable(value):
        return [value] * count
    if len(value := list(value)) != count:
        raise RuntimeError(
            f"sequence argument must have length equal to input rank: it has {len(value)}, and there are {count} axes"
        )
    return value


def accepts_any_array_library(function):
    """Decorates a function of NumPy and GPU arrays so that it accepts arrays of any library. The result is an
    array of the library of `input`."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(input, *args, **keywords):
        if _devices.is_on_gpu(input):
            return function(input, *args, **keywords)
        array, library = (input, None) if type(input) is np.ndarray else _array_namespace.on_host(input)
        _dtypes.check_as_scipy(array.dtype)
        result = function(array, *args, **keywords)
        if library is None:
            return result
        output = signature.bind(input, *args, **keywords).arguments.get("output")
        return library(result) if output is None or isinstance(output, _DTYPE_LIKE) else output

    return call


def result_of(output, array, is_complex=False):
    """The output array or None, and the type of the result."""
    if output is None:
        return None, np.promote_types(array.dtype, np.complex64) if is_complex else _dtypes.native(
            array.dtype
        )
    if isinstance(output, _DTYPE_LIKE):
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


def apply(array, make_passes, arguments, cval, output, threads, stream):
    """Runs the passes `make(ndim, cval, *given)` on an array. `make` caches its results."""
    threads = _arrays.checked_threads("threads", threads)
    if not isinstance(array, np.ndarray):
        return filtered_on_gpu(array, make_passes(array.ndim, cval, *arguments), output, stream)
    if stream is not None:
        raise TypeError("stream is for arrays on a GPU, and this one is in the host's memory")
    is_complex = array.dtype.kind == "c"
    if not is_complex and not isinstance(cval, (float, int)) and np.iscomplexobj(cval):
        raise ValueError("Cannot provide a complex-valued cval when the input is real.")
    out, dtype = result_of(output, array, is_complex)
    if dtype.kind != "c":
        return filtered(array, make_passes(array.ndim, cval, *arguments), dtype, out, threads)
    result = np.empty(array.shape, dtype) if out is None else out
    if not is_complex:
        result[...] = filtered(
            array,
            make_passes(array.ndim, cval, *arguments),
            _dtypes.PARTS[_dtypes.native(dtype)],
            None,
            threads,
        )
        return result
    parts = [
        filtered(
            part(array),
            make_passes(array.ndim, float(part(cval)), *arguments),
            part(result).dtype,
            None,
            threads,
        )
        for part in (np.real, np.imag)
    ]
    result.real, result.imag = parts
    return result
