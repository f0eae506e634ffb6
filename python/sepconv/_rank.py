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
    """The window's length along each of the axes."""
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
    """The axes that windows reach along, two of them or three, and a letter for each axis."""
    if len(reach) > 3:
        raise Unsupported(
            f"windows along {len(reach)} axes are not supported; they reach along three at most"
        )
    others = [axis for axis in range(ndim) if axis not in reach]
    seen = sorted([*reach, *others[::-1]][: max(len(reach), 2)])
    named, letters = dict(zip(seen[::-1], "xyz")), iter(_IMAGES)
    return seen, "".join(named.get(axis) or next(letters) for axis in range(ndim))


def padded_with(array, reach, cval):
    """`array` padded with `cval` by `reach` on both sides of each axis, and its slices in the padded array,
    because stages take no NaN as a constant.

    ValueError for one on a GPU.
    """
    if not isinstance(array, np.ndarray):
        raise ValueError(f"cval={cval} is not for arrays on a GPU; give a finite one")
    return np.pad(array, [(one, one) for one in reach], constant_values=cval), tuple(
        slice(one, one + side) for one, side in zip(reach, array.shape)
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
        [operator.index(one) for one in per_axis(origin, len(axes))],
    )
    if any(one < 1 for one in sizes):
        raise RuntimeError("incorrect filter size")
    for one, at in zip(sizes, origins):
        if not 0 <= one // 2 + at < one:
            raise ValueError("invalid origin")
    area = math.prod(sizes)
    rank, border, window = (
        _rank(rank_of(area), area),
        _mode_of(mode),
        {axis: (one, at) for axis, one, at in zip(axes, sizes, origins)},
    )
    if not isinstance(array, np.ndarray):
        return stored_in_output(_of_rank(array, rank, window, border, cval, threads, stream), array, output)
    if not array.size:
        return stored_in_output(array.copy(), array, output)
    return compared(
        array,
        output,
        cval,
        border == "constant",
        lambda pixels, beyond, out: _of_rank(pixels, rank, window, border, beyond, threads, stream),
    )


def _of_rank(array, rank, window, border, cval, threads, stream):
    """`window`: length and origin along axes."""
    if array.ndim < 2:  # as a row
        row = array.reshape(1, -1)
        return _of_rank(
            row, rank, {axis + 1: one for axis, one in window.items()}, border, cval, threads, stream
        ).reshape(array.shape)
    if border == "constant" and not math.isfinite(cval):
        padded, at = padded_with(array, [window.get(axis, (0, 0))[0] for axis in range(array.ndim)], cval)
        return _of_rank(padded, rank, window, "replicate", 0.0, threads, stream)[at]
    seen, letters = _seen(array.ndim, [axis for axis, (one, _) in window.items() if one > 1])
    *deep, (height, down), (width, right) = (window.get(axis, (1, 0)) for axis in seen)
    keys = {"value": float(cval)} if border == "constant" else {}
    for depth, back in deep:
        keys |= {"size_z": depth, "origin_z": back}
    chain = _stages.rank(rank, size=(height, width), origin=right, origin_y=down, border=border, **keys)
    return chain(array, axes=letters, threads=threads, stream=stream)


def stored_in_output(made, array, output):
    """In `output`, or of its type. What lies on a GPU is converted there."""
    if output is None:
        return made
    if is_on_gpu(array):
        return _stored_on_gpu(made, output)
    out, dtype = result_of(output, array)
    out = np.empty(array.shape, dtype) if out is None else out
    _dtypes.store(made, out)
    return out


def _stored_on_gpu(made, output):
    from sepconv._linear import gaussian_filter

    return gaussian_filter(made, 0, output=output)


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
    """The value of one rank under a window.

    Parameters
    ----------
    input : array_like
        of any number of axes
    rank : int
        0 is the smallest value of the window; negative ranks count from the largest
    size : int or sequence
        of the window: along all axes, or along each of `axes`; longer than 1 along three of them at most, and
        of arrays on a GPU along two
    footprint : array_like, optional
        in place of `size`: all of its elements are to be true
    output : ndarray or dtype, optional
        where the result goes, or of which type it is; left out, of `input`'s
    mode : str
        how lines go on beyond their ends; see `correlate1d`
    cval : scalar
        what lies there with ``mode='constant'``
    origin : int or sequence
        how far the window lies before the pixel
    axes : tuple of int, optional
        those that the window has; left out, all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        of an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Raises
    ------
    RuntimeError
        for a mode, a rank, an output or a number of values that cannot be, as SciPy
    ValueError
        for an origin, axes or a window that cannot be, and for a footprint that is not a rectangle

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
    """A percentile of the values in the window. See `rank_filter`.

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
    """The middle value under a window, of an even number the upper of the two. See `rank_filter`.

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
