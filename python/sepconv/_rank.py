"""`scipy.ndimage`'s rank filters: median, percentile and rank."""

import math
import operator
import string
import warnings

import numpy as np

from sepconv import _stages, _dtypes
from sepconv._arguments import Unsupported, normalized_axes, per_axis, result_of, whole
from sepconv._devices import is_on_gpu
from sepconv._ordered import compared
from sepconv._separable import BORDERS

_IMAGES = [letter for letter in string.ascii_letters if letter not in "cxyz"]


def window_of(size, footprint, axes):
    """The window's length along each axis."""
    if footprint is None:
        if size is None:
            raise RuntimeError("no footprint or filter size provided")
        return [whole(one) for one in per_axis(size, len(axes))]
    if size is not None:
        warnings.warn("ignoring size because footprint is set", UserWarning, stacklevel=4)
    footprint = np.asarray(footprint, bool)
    if footprint.ndim != len(axes):
        raise RuntimeError(f"footprint.ndim ({footprint.ndim}) must match len(axes) ({len(axes)})")
    if not footprint.all():
        raise Unsupported("a footprint with pixels left out is not supported; give a full one, or size")
    return list(footprint.shape)


def _mode_of(mode):
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported by non-separable rank filters")
    if mode not in BORDERS:
        raise RuntimeError(f"boundary mode {mode!r} is not supported; there are {', '.join(BORDERS)}")
    return BORDERS[mode]


def _seen(ndim, reach):
    """The two or three axes that form an image or volume for the windows, and a letter for each axis of the
    array."""
    if len(reach) > 3:
        raise Unsupported(
            f"windows along {len(reach)} axes are not supported; they reach along three at most"
        )
    other_axes = [axis for axis in range(ndim) if axis not in reach]
    filtered_axes = sorted([*reach, *other_axes[::-1]][: max(len(reach), 2)])
    letters_by_axis, letters = dict(zip(filtered_axes[::-1], "xyz")), iter(_IMAGES)
    return filtered_axes, "".join(letters_by_axis.get(axis) or next(letters) for axis in range(ndim))


def padded_with(array, reach, cval):
    """`array` padded with `cval` by `reach` on both sides of each axis, and the slices of `array` in it, for
    values that stages do not accept as a constant (NaN).

    ValueError for one on a GPU.
    """
    if not isinstance(array, np.ndarray):
        raise ValueError(f"cval={cval} is not for arrays on a GPU; give a finite one")
    return np.pad(array, [(margin, margin) for margin in reach], constant_values=cval), tuple(
        slice(margin, margin + side) for margin, side in zip(reach, array.shape)
    )


def _rank(rank, area):
    rank += area if rank < 0 else 0
    if not 0 <= rank < area:
        raise RuntimeError("rank not within filter footprint size")
    return rank


def _ranked(array, rank_of, size, footprint, output, mode, cval, origin, axes, threads, stream):
    if array.dtype.kind == "c" if isinstance(array, np.ndarray) else False:
        raise TypeError("Complex type not supported")
    axes = normalized_axes(axes, array.ndim)
    sizes, origins = (
        window_of(size, footprint, axes),
        [operator.index(axis_origin) for axis_origin in per_axis(origin, len(axes))],
    )
    if any(window_size < 1 for window_size in sizes):
        raise RuntimeError("incorrect filter size")
    for window_size, axis_origin in zip(sizes, origins):
        if not 0 <= window_size // 2 + axis_origin < window_size:
            raise ValueError("invalid origin")
    area = math.prod(sizes)
    rank, border, window = (
        _rank(rank_of(area), area),
        _mode_of(mode),
        {axis: (window_size, axis_origin) for axis, window_size, axis_origin in zip(axes, sizes, origins)},
    )
    if not isinstance(array, np.ndarray):
        return stored_in_output(
            _filter_by_rank(array, rank, window, border, cval, threads, stream), array, output
        )
    if not array.size:
        return stored_in_output(array.copy(), array, output)
    return compared(
        array,
        output,
        cval,
        border == "constant",
        lambda pixels, outside_value, out: _filter_by_rank(
            pixels, rank, window, border, outside_value, threads, stream
        ),
    )


def _filter_by_rank(array, rank, window, border, cval, threads, stream):
    """Filters by rank. `window` maps axes to length and origin."""
    if array.ndim < 2:  # as a row
        row = array.reshape(1, -1)
        return _filter_by_rank(
            row,
            rank,
            {axis + 1: length_and_origin for axis, length_and_origin in window.items()},
            border,
            cval,
            threads,
            stream,
        ).reshape(array.shape)
    if border == "constant" and not math.isfinite(cval):
        padded, inner = padded_with(array, [window.get(axis, (0, 0))[0] for axis in range(array.ndim)], cval)
        return _filter_by_rank(padded, rank, window, "replicate", 0.0, threads, stream)[inner]
    filtered_axes, letters = _seen(array.ndim, [axis for axis, (length, _) in window.items() if length > 1])
    *depth_axes, (height, down), (width, right) = (window.get(axis, (1, 0)) for axis in filtered_axes)
    keys = {"value": float(cval)} if border == "constant" else {}
    for depth, back in depth_axes:
        keys |= {"size_z": depth, "origin_z": back}
    chain = _stages.rank(rank, size=(height, width), origin=right, origin_y=down, border=border, **keys)
    return chain(array, axes=letters, threads=threads, stream=stream)


def stored_in_output(result, array, output):
    """The result in `output` or with its type. A GPU array is converted on the GPU."""
    if output is None:
        return result
    if is_on_gpu(array):
        return _stored_on_gpu(result, output)
    out, dtype = result_of(output, array)
    out = np.empty(array.shape, dtype) if out is None else out
    _dtypes.store(result, out)
    return out


def _stored_on_gpu(result, output):
    from sepconv._linear import gaussian_filter

    return gaussian_filter(result, 0, output=output)


def rank_filter(
    input,
    rank,
    size=None,
    footprint=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
    threads=0,
    stream=None,
):
    """The value of a given rank in a window.

    Parameters
    ----------
    input : array_like
        of any number of axes
    rank : int
        0 is the smallest value of the window; negative ranks count from the largest
    size : int or sequence
        size of the window: along all axes, or along each of `axes`; longer than 1 along at most three axes,
        and for arrays on a GPU along two
    footprint : array_like, optional
        replaces `size`: all elements must be true
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre before the pixel
    axes : tuple of int, optional
        the axes of the window; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        with the shape of `input`

    Raises
    ------
    RuntimeError
        for an invalid mode, rank, output or number of values, as SciPy
    ValueError
        for an invalid origin, axes or window, and for a footprint that is not a rectangle

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.rank_filter([3, 1, 4, 1, 5, 9], -2, size=3).tolist()
    [3, 3, 1, 4, 5, 9]
    """
    return _ranked(
        input,
        lambda area: operator.index(rank),
        size,
        footprint,
        output,
        mode,
        cval,
        origin,
        axes,
        threads,
        stream,
    )


def percentile_filter(
    input,
    percentile,
    size=None,
    footprint=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
    threads=0,
    stream=None,
):
    """A percentile of the values in a window. See `rank_filter`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.percentile_filter([3, 1, 4, 1, 5, 9], 50, size=3).tolist()
    [3, 3, 1, 4, 5, 9]
    """
    hundredths = percentile + 100 if percentile < 0 else percentile
    if not 0 <= hundredths <= 100:
        raise RuntimeError("invalid percentile")
    return _ranked(
        input,
        lambda area: area - 1 if hundredths == 100 else int(area * hundredths / 100),
        size,
        footprint,
        output,
        mode,
        cval,
        origin,
        axes,
        threads,
        stream,
    )


def median_filter(
    input,
    size=None,
    footprint=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
    threads=0,
    stream=None,
):
    """The median of a window; for an even number of values the upper one. See `rank_filter`.

    Examples
    --------
    >>> import numpy as np
    >>> from sepconv import ndimage
    >>> ndimage.median_filter(np.array([[1, 2, 3], [4, 99, 6], [7, 8, 9]], np.uint8), size=3).tolist()
    [[2, 3, 3], [4, 6, 6], [7, 8, 9]]
    """
    return _ranked(
        input, lambda area: area // 2, size, footprint, output, mode, cval, origin, axes, threads, stream
    )
