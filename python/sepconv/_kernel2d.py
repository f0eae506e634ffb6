"""`scipy.ndimage.correlate` and `convolve`: kernels that reach along two axes."""

import math
import operator

import numpy as np

from sepconv import _dtypes, _stages
from sepconv._arguments import Unsupported, normalized_axes, per_axis
from sepconv._linear import correlate1d
from sepconv._rank import _seen, padded_with, stored_in_output
from sepconv._separable import border_of, centring


def correlate(
    input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None, threads=0, stream=None
):
    """Correlation with a kernel.

    Parameters
    ----------
    input : array_like
        of any number of axes
    weights : array_like
        an axis for each of `axes`; longer than 1 along at most two of them
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the kernel's centre from the pixel, for all or for each of `axes`
    axes : int or tuple of int, optional
        the axes of the kernel; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU and a kernel along one axis: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        with the shape of `input`

    Raises
    ------
    RuntimeError
        for an invalid mode, weights or output, as SciPy
    ValueError
        for kernels along three axes, complex numbers, and arrays on a GPU unless the kernel is along one axis

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.correlate([[1, 2, 3], [4, 5, 6], [7, 8, 9]], weights=[[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    array([[ 8, 11, 14],
           [17, 20, 23],
           [26, 29, 32]])
    """
    weights, axes = np.asarray(weights), normalized_axes(axes, input.ndim)
    if weights.ndim != len(axes) or 0 in weights.shape:
        raise RuntimeError("filter weights array has incorrect shape.")
    origin_of = dict(zip(axes, map(operator.index, per_axis(origin, len(axes)))))
    size_of = dict(zip(axes, weights.shape))
    origins = [origin_of.get(axis, 0) for axis in range(input.ndim)]
    weights = weights.transpose(np.argsort(axes)).reshape(
        [size_of.get(axis, 1) for axis in range(input.ndim)]
    )
    reach = [axis for axis in range(input.ndim) if weights.shape[axis] > 1]
    if len(reach) < 2:
        axis = reach[0] if reach else 0
        return correlate1d(
            input, weights.ravel(), axis, output, mode, cval, origins[axis], threads=threads, stream=stream
        )
    if len(reach) > 2:
        raise Unsupported(f"a kernel along {len(reach)} axes is not supported; two at most")
    if not isinstance(input, np.ndarray):
        raise Unsupported("a kernel along two axes is not for arrays on a GPU; give a NumPy array")
    if "c" in (input.dtype.kind, weights.dtype.kind):
        raise Unsupported("a kernel along two axes is not for complex numbers; give real and imaginary parts")
    result = _correlated(input, weights, reach, origins, *border_of(mode, cval), threads)
    return stored_in_output(result, input, input.dtype if output is None else output)


def convolve(
    input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None, threads=0, stream=None
):
    """Convolution with a kernel: `correlate` with the weights mirrored along all axes.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.convolve([[0, 0, 0], [0, 1, 0], [0, 0, 0]], weights=[[1, 2], [3, 4]], mode="constant")
    array([[1, 2, 0],
           [3, 4, 0],
           [0, 0, 0]])
    """
    weights = np.asarray(weights)
    origins = [
        -operator.index(axis_origin) - (not size & 1)
        for axis_origin, size in zip(per_axis(origin, weights.ndim), weights.shape)
    ]
    return correlate(
        input, np.flip(weights), output, mode, cval, origins, axes=axes, threads=threads, stream=stream
    )


def _centred(weights, origins):
    """The kernel with odd sides and its anchor in the middle."""
    margins = list(map(centring, weights.shape, origins))
    if None in margins:
        raise ValueError("invalid origin")
    return np.pad(weights, margins)


def _correlated(array, weights, reach, origins, border, cval, threads):
    """The result in f64."""
    if not array.size or not weights.any():
        return np.zeros(array.shape)
    if border == "constant" and not math.isfinite(cval):
        padded, inner = padded_with(array.astype(float), [*weights.shape], cval)
        return _correlated(padded, weights, reach, origins, "replicate", 0.0, threads)[inner]
    kernel = _centred(weights.astype(float), origins)
    kernel = kernel.reshape([kernel.shape[axis] for axis in reach])
    _, letters = _seen(array.ndim, reach)
    keys = {"value": float(cval)} if border == "constant" else {}
    if _dtypes.native(array.dtype) not in _dtypes.PIXELS:
        array = array.astype(float)
    chain = _stages.cast("f64") | _stages.correlate(kernel, border=border, **keys)
    return chain(array, axes=letters, threads=threads)
