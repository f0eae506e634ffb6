"""The functions of `scipy.ndimage` that take the least and the greatest of rectangles and disks."""

import math
import operator

import numpy as np

from sepconv import _types
from sepconv._arguments import apply, axes_of, axis_of, each_of, result_of
from sepconv._disks import disk_extreme, is_disk
from sepconv._linear import MOST_RADIUS, gaussian_filter
from sepconv._order import given_as, surrounded
from sepconv._separable import BORDERS, Pass, border_of, remembered

_PADS = {"reflect": "symmetric", "reflect101": "reflect", "replicate": "edge", "constant": "constant", "wrap": "wrap"}
_LEAST, _GREATEST = "erode", "dilate"
_FLAT = "footprints that are neither rectangles nor disks and structures that are not flat are SciPy's; give size"


def _sizes(size, footprint, structure, count):
    """Of each axis; of a footprint that is a rectangle or a disk its own."""
    if structure is not None:
        structure = np.asarray(structure)
        if structure.size and (structure.any() or (footprint is not None and np.shape(footprint) != structure.shape)):
            raise ValueError(_FLAT)
        size = structure.shape
    if footprint is not None:
        footprint = np.asarray(footprint, bool)
        if footprint.ndim != count:
            raise RuntimeError(f"footprint.ndim ({footprint.ndim}) must match len(axes) ({count})")
        if not footprint.any():
            raise ValueError("All-zero footprint is not supported.")
        if not footprint.all() and not is_disk(footprint):
            raise ValueError(_FLAT)
        size = footprint.shape
    if size is None:
        raise ValueError("size, footprint, or structure must be specified")
    sizes = [operator.index(one) for one in each_of(size, count)]
    if min(sizes, default=1) < 1:
        raise RuntimeError("incorrect filter size")
    if max(sizes, default=1) > 2 * MOST_RADIUS:
        raise ValueError(f"a size of {max(sizes)} exceeds {2 * MOST_RADIUS}; take a smaller one")
    return sizes


def _reach(size, origin):
    """How many neighbours on both sides count."""
    left, right = size // 2 + origin, (size - 1) // 2 - origin
    if left < 0 or right < 0:
        raise ValueError("invalid origin")
    return left, right


@remembered
def _window_passes(ndim, cval, window, axes, sizes, mode):
    return [Pass(axis, (), *border_of(border, cval), window, size // 2) for axis, size, border in zip(axes, sizes, each_of(mode, len(axes)))
            if size > 1]


def _centred(array, window, axes, sizes, output, mode, cval, threads, stream):
    return apply(array, _window_passes, (window, tuple(axes), tuple(sizes), mode if isinstance(mode, str) else tuple(mode)), cval, output, threads, stream)


def _shifted(array, window, axis, size, origin, mode, cval, threads):
    """Windows that have no middle, or another: of a padded line the windows of an odd size, or the lesser of two that are one apart."""
    left, right = _reach(size, origin)
    border, value = border_of(mode, cval)
    pads = [(left, right) if one == axis else (0, 0) for one in range(array.ndim)]
    padded = np.pad(array, pads, _PADS[border], **({"constant_values": value} if border == "constant" else {}))
    radius = (size - 1) // 2
    made = _centred(padded, window, (axis,), (2 * radius + 1,), None, "nearest", 0.0, threads, None)
    lines = np.moveaxis(made, axis, 0)
    count = array.shape[axis]
    parts = [lines[begin : begin + count] for begin in (range(radius, radius + 1) if size % 2 else (radius, radius + 1))]
    joined = parts[0] if size % 2 else (np.minimum if window == _LEAST else np.maximum)(*parts)
    return np.moveaxis(joined, 0, axis)


def _extreme(array, window, size, footprint, structure, output, mode, cval, origin, axes, threads, stream):
    if array.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    axes = axes_of(axes, array.ndim)
    sizes, origins, modes = _sizes(size, footprint, structure, len(axes)), each_of(origin, len(axes)), each_of(mode, len(axes))
    origins = [operator.index(one) for one in origins]
    if footprint is not None and not np.all(footprint):
        return disk_extreme(array, window, sizes, output, modes, cval, origins, axes, threads, stream)
    constant = {axis for axis, border in zip(axes, modes) if BORDERS.get(border) == "constant"}
    cval = _types.beyond(cval, array.dtype) if constant and isinstance(array, np.ndarray) else cval
    if constant and not math.isfinite(cval):
        reach = {axis: width for axis, width in zip(axes, sizes) if axis in constant}
        padded, at = surrounded(array, [reach.get(axis, 0) for axis in range(array.ndim)], cval)
        modes = ["nearest" if axis in constant else border for axis, border in zip(axes, modes)]
        return given_as(_extreme(padded, window, sizes, None, None, None, modes, 0.0, origins, axes, threads, stream)[at], array, output)
    odd = [(axis, *of) for axis, *of in zip(axes, sizes, origins, modes) if of[1] or not of[0] % 2]
    if not odd:
        return _centred(array, window, axes, sizes, output, modes, cval, threads, stream)
    if not isinstance(array, np.ndarray):
        raise ValueError("even sizes and origins other than 0 are not for arrays on a GPU; give odd sizes")
    given, dtype = result_of(output, array)
    made = array
    for axis, width, at, border in odd:
        made = _shifted(made, window, axis, width, at, border, cval, threads)
    others = [(axis, width, border) for axis, width, at, border in zip(axes, sizes, origins, modes) if not at and width % 2]
    left = tuple(zip(*others)) if others else ((), (), ())
    return _centred(made, window, left[0], left[1], dtype if given is None else given, left[2], cval, threads, stream)


def minimum_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None, threads=0, stream=None):
    """The least of `size` elements along each axis, at a cost that hardly grows with it. See `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        of the window, of all axes or of each of `axes`
    footprint : array_like, optional
        in the place of `size`: true everywhere, or on a disk, ``(x / radius)**2 + (y / radius_y)**2 <= 1`` (`skimage.morphology.disk`), along two axes
    output, mode, cval, axes, threads, stream
        as of `gaussian_filter`
    origin : int or sequence
        how far the window's middle stands from the pixel

    Raises
    ------
    ValueError
        for a footprint that is neither a rectangle nor a disk, and an origin with a disk; of arrays on a GPU for even sizes and an origin

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.minimum_filter([5, 3, 9, 4, 8], size=3).tolist()
    [3, 3, 3, 4, 4]
    """
    return _extreme(input, _LEAST, size, footprint, None, output, mode, cval, origin, axes, threads, stream)


def maximum_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None, threads=0, stream=None):
    """The greatest of `size` elements along each axis. See `minimum_filter`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.maximum_filter([5, 3, 9, 4, 8], size=3).tolist()
    [5, 9, 9, 9, 8]
    """
    return _extreme(input, _GREATEST, size, footprint, None, output, mode, cval, origin, axes, threads, stream)


def minimum_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0, *, threads=0, stream=None):
    """The least of `size` elements along one axis. See `minimum_filter`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.minimum_filter1d([2, 8, 0, 4, 1, 9, 9, 0], size=3).tolist()
    [2, 0, 0, 0, 1, 1, 0, 0]
    """
    return _extreme(input, _LEAST, size, None, None, output, mode, cval, origin, (axis_of(axis, input.ndim),), threads, stream)


def maximum_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0, *, threads=0, stream=None):
    """The greatest of `size` elements along one axis. See `minimum_filter`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.maximum_filter1d([2, 8, 0, 4, 1, 9, 9, 0], size=3).tolist()
    [8, 8, 8, 4, 9, 9, 9, 9]
    """
    return _extreme(input, _GREATEST, size, None, None, output, mode, cval, origin, (axis_of(axis, input.ndim),), threads, stream)


def grey_erosion(input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None, threads=0, stream=None):
    """Erosion by a flat rectangle or disk: `minimum_filter`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_erosion([5, 3, 9, 4, 8], size=3).tolist()
    [3, 3, 3, 4, 4]
    >>> cross = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]  # a disk of radius 1
    >>> ndimage.grey_erosion([[9, 1, 9], [8, 8, 8], [8, 8, 2]], footprint=cross).tolist()
    [[1, 1, 1], [8, 1, 2], [8, 2, 2]]
    """
    return _extreme(input, _LEAST, size, footprint, structure, output, mode, cval, origin, axes, threads, stream)


def grey_dilation(input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None, threads=0, stream=None):
    """Dilation by a flat rectangle or disk: `maximum_filter` of the rectangle turned round.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_dilation([5, 3, 9, 4, 8], size=3).tolist()
    [5, 9, 9, 9, 8]
    """
    count = len(axes_of(axes, input.ndim))
    sizes = _sizes(size, footprint, structure, count)
    origins = [-operator.index(one) - (width % 2 == 0) for one, width in zip(each_of(origin, count), sizes)]
    return _extreme(input, _GREATEST, sizes, footprint, None, output, mode, cval, origins, axes, threads, stream)


def grey_opening(input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None, threads=0, stream=None):
    """Erosion and then dilation: what is bright and smaller than the rectangle or disk goes.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_opening([1, 1, 7, 1, 4, 4, 4, 1], size=3).tolist()
    [1, 1, 1, 1, 4, 4, 4, 1]
    """
    between = grey_erosion(input, size, footprint, structure, None, mode, cval, origin, axes=axes, threads=threads, stream=stream)
    return grey_dilation(between, size, footprint, structure, output, mode, cval, origin, axes=axes, threads=threads, stream=stream)


def grey_closing(input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None, threads=0, stream=None):
    """Dilation and then erosion: what is dark and smaller than the rectangle or disk goes.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_closing([9, 9, 2, 9, 4, 4, 4, 9], size=3).tolist()
    [9, 9, 9, 9, 4, 4, 4, 9]
    """
    between = grey_dilation(input, size, footprint, structure, None, mode, cval, origin, axes=axes, threads=threads, stream=stream)
    return grey_erosion(between, size, footprint, structure, output, mode, cval, origin, axes=axes, threads=threads, stream=stream)


def _difference(less, input, made, output):
    """made - input or, if `less`, input - made, saturated, of the type that `made` has."""
    if not isinstance(input, np.ndarray):
        total = input.astype(np.float64) - made if less else made - input.astype(np.float64)
        return gaussian_filter(total, 0, output=made.dtype if output is None else output)
    total = np.subtract(*((input, made) if less else (made, input)), dtype=np.float64)
    _types.store(total, made)
    return made


def white_tophat(input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None, threads=0, stream=None):
    """The input less its opening: what is bright and smaller than the rectangle.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.white_tophat([1, 1, 7, 1, 4, 4, 4, 1], size=3).tolist()
    [0, 0, 6, 0, 0, 0, 0, 0]
    """
    made = grey_opening(input, size, footprint, structure, output, mode, cval, origin, axes=axes, threads=threads, stream=stream)
    return _difference(True, input, made, output)


def black_tophat(input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None, threads=0, stream=None):
    """The closing less the input: what is dark and smaller than the rectangle.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.black_tophat([9, 9, 2, 9, 4, 4, 4, 9], size=3).tolist()
    [0, 0, 7, 0, 0, 0, 0, 0]
    """
    made = grey_closing(input, size, footprint, structure, output, mode, cval, origin, axes=axes, threads=threads, stream=stream)
    return _difference(False, input, made, output)
