"""`scipy.ndimage`'s minimum and maximum filters and grey morphology."""

import math
import operator
from typing import NamedTuple

import numpy as np

from sepconv import _arrays, _devices, _dtypes
from sepconv._arguments import Unsupported, normalized_axes, normalized_axis, per_axis, result_of, whole
from sepconv._disk_windows import check_disk, disk_extreme, is_disk
from sepconv._linear import MAX_RADIUS, gaussian_filter
from sepconv._rank import stored_in_output, padded_with
from sepconv._ordered import compared, is_representable
from sepconv._rectangles import MAXIMUM, MINIMUM, reach, rectangle, window_passes
from sepconv._separable import BORDERS, border_of, filtered_on_gpu

_DILATION, _EROSION = (MAXIMUM, True), (MINIMUM, False)  # True: by the mirrored window
_NOT_FLAT = (
    "footprints that are neither rectangles nor disks and structures that are not flat are SciPy's; give size"
)


def _sizes(size, footprint, structure, count):
    """The size along each axis, also from a footprint that is a rectangle or a disk."""
    if structure is not None:
        structure = np.asarray(structure)
        if structure.size and (
            structure.any() or (footprint is not None and np.shape(footprint) != structure.shape)
        ):
            raise Unsupported(_NOT_FLAT)
        size = structure.shape
    if footprint is not None:
        footprint = np.asarray(footprint, bool)
        if footprint.ndim != count:
            raise RuntimeError(f"footprint.ndim ({footprint.ndim}) must match len(axes) ({count})")
        if not footprint.any():
            raise ValueError("All-zero footprint is not supported.")
        if not footprint.all() and not is_disk(footprint):
            raise Unsupported(_NOT_FLAT)
        size = footprint.shape
    if size is None:
        raise ValueError("size, footprint, or structure must be specified")
    sizes = [whole(one) for one in per_axis(size, count)]
    if min(sizes, default=1) < 1:
        raise RuntimeError("incorrect filter size")
    if max(sizes, default=1) > 2 * MAX_RADIUS:
        raise ValueError(f"a size of {max(sizes)} exceeds {2 * MAX_RADIUS}; take a smaller one")
    return sizes


class _Window(NamedTuple):
    """The window of a call; `sizes`, `origins` and `modes` have one entry per axis in `axes`."""

    axes: tuple
    sizes: list
    origins: list
    modes: list
    is_disk: bool

    @property
    def constant(self):
        return {axis for axis, mode in zip(self.axes, self.modes) if BORDERS.get(mode) == "constant"}

    def mirrored(self):
        """The mirrored window, as for dilation."""
        return self._replace(
            origins=[
                -window_origin - (size % 2 == 0) for window_origin, size in zip(self.origins, self.sizes)
            ]
        )


def _window(array, size, footprint, structure, mode, origin, axes):
    axes = normalized_axes(axes, array.ndim)
    sizes, origins = (
        _sizes(size, footprint, structure, len(axes)),
        [operator.index(one) for one in per_axis(origin, len(axes))],
    )
    window = _Window(
        axes, sizes, origins, per_axis(mode, len(axes)), footprint is not None and not np.all(footprint)
    )
    for width, window_origin, border in zip(sizes, origins, window.modes):
        reach(width, window_origin)
        if width > 1:
            border_of(border, 0.0)
    if window.is_disk:
        check_disk(window)
    return window


def _apply_in_sequence(array, steps, window, output, cval, threads):
    """Applies each step to the result of the step before."""
    window_filter = disk_extreme if window.is_disk else rectangle

    def compute(pixels, beyond, out):
        for extreme, is_transposed in steps[:-1]:
            pixels = window_filter(
                pixels, extreme, window.mirrored() if is_transposed else window, beyond, None, threads
            )
        extreme, is_transposed = steps[-1]
        return window_filter(
            pixels, extreme, window.mirrored() if is_transposed else window, beyond, out, threads
        )

    if not array.size:
        return stored_in_output(array.copy(), array, output)
    return compared(array, output, cval, bool(window.constant), compute)


def _on_gpu(array, steps, window, output, cval, stream):
    if not window.is_disk and (any(window.origins) or not all(size % 2 for size in window.sizes)):
        raise ValueError("even sizes and origins other than 0 are not for arrays on a GPU; give odd sizes")
    if window.constant and not math.isfinite(cval):
        padded_with(array, (), cval)
    for index, (extreme, _) in enumerate(steps):
        step_output = output if index + 1 == len(steps) else None
        if window.is_disk:
            array = stored_in_output(
                disk_extreme(array, extreme, window, cval, None, 0, stream), array, step_output
            )
        else:
            array = filtered_on_gpu(
                array,
                window_passes(
                    array.ndim, cval, extreme, window.axes, tuple(window.sizes), tuple(window.modes)
                ),
                step_output,
                stream,
            )
    return array


def _difference_on_gpu(array, extremes_array, minuend, output, stream):
    if stream is not None:
        raise TypeError(
            "stream is not for differences, which the array's library makes on its current stream; make that stream current"
        )
    values, extremes = (
        gaussian_filter(values_or_extremes, 0, output=np.float64)
        for values_or_extremes in (array, extremes_array)
    )
    difference = values - extremes if minuend == "array" else extremes - values
    return gaussian_filter(
        difference, 0, output=_devices.Device(array, None).dtype if output is None else output
    )


def _extremes(
    array, steps, size, footprint, structure, output, mode, cval, origin, axes, threads, stream, minuend=None
):
    """`minuend` "array": the array minus its extremes; "extremes": the reverse; None: the extremes."""
    threads, on_host = _arrays.checked_threads("threads", threads), isinstance(array, np.ndarray)
    if array.dtype.kind == "c" if on_host else False:
        raise TypeError("Complex type not supported")
    if on_host and stream is not None:
        raise TypeError("stream is for arrays on a GPU, and this one is in the host's memory")
    window = _window(array, size, footprint, structure, mode, origin, axes)
    if minuend is None:
        return (
            _apply_in_sequence(array, steps, window, output, cval, threads)
            if on_host
            else _on_gpu(array, steps, window, output, cval, stream)
        )
    if not on_host:
        return _difference_on_gpu(
            array, _on_gpu(array, steps, window, None, cval, None), minuend, output, stream
        )
    target, dtype = result_of(output, array)
    needs_f64 = (
        array.dtype.kind != "b"
        and array.dtype.str[1:] not in ("i8", "u8")
        and window.constant
        and not is_representable(cval, array.dtype)
    )
    intermediate = np.float64 if needs_f64 else array.dtype
    extremes_array = _apply_in_sequence(array, steps, window, intermediate, cval, threads)
    out = np.empty_like(extremes_array, dtype) if target is None else target
    pair = (array, extremes_array) if minuend == "array" else (extremes_array, array)
    _dtypes.store_difference(*(operand.astype(extremes_array.dtype, copy=False) for operand in pair), out)
    return out


def minimum_filter(
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
    """The minimum of `size` elements along each axis, at a cost almost independent of `size`. See
    `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window, of all axes or of each of `axes`
    footprint : array_like, optional
        replaces `size`: all true, or a disk, ``(x / radius)**2 + (y / radius_y)**2 <= 1``
        (`skimage.morphology.disk`), along two axes
    output, mode, cval, axes, threads, stream
        as for `gaussian_filter`
    origin : int or sequence
        offset of the window's centre from the pixel

    Raises
    ------
    ValueError
        for a footprint that is neither a rectangle nor a disk, and an origin with a disk; for arrays on a GPU
        also for even sizes and an origin

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.minimum_filter([5, 3, 9, 4, 8], size=3).tolist()
    [3, 3, 3, 4, 4]
    """
    return _extremes(
        input, (_EROSION,), size, footprint, None, output, mode, cval, origin, axes, threads, stream
    )


def maximum_filter(
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
    """The maximum of `size` elements along each axis. See `minimum_filter`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.maximum_filter([5, 3, 9, 4, 8], size=3).tolist()
    [5, 9, 9, 9, 8]
    """
    return _extremes(
        input, ((MAXIMUM, False),), size, footprint, None, output, mode, cval, origin, axes, threads, stream
    )


def minimum_filter1d(
    input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0, *, threads=0, stream=None
):
    """The minimum of `size` elements along one axis. See `minimum_filter`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.minimum_filter1d([2, 8, 0, 4, 1, 9, 9, 0], size=3).tolist()
    [2, 0, 0, 0, 1, 1, 0, 0]
    """
    return _extremes(
        input,
        (_EROSION,),
        size,
        None,
        None,
        output,
        mode,
        cval,
        origin,
        (normalized_axis(axis, input.ndim),),
        threads,
        stream,
    )


def maximum_filter1d(
    input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0, *, threads=0, stream=None
):
    """The maximum of `size` elements along one axis. See `minimum_filter`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.maximum_filter1d([2, 8, 0, 4, 1, 9, 9, 0], size=3).tolist()
    [8, 8, 8, 4, 9, 9, 9, 9]
    """
    return _extremes(
        input,
        ((MAXIMUM, False),),
        size,
        None,
        None,
        output,
        mode,
        cval,
        origin,
        (normalized_axis(axis, input.ndim),),
        threads,
        stream,
    )


def grey_erosion(
    input,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
    threads=0,
    stream=None,
):
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
    return _extremes(
        input, (_EROSION,), size, footprint, structure, output, mode, cval, origin, axes, threads, stream
    )


def grey_dilation(
    input,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
    threads=0,
    stream=None,
):
    """Dilation by a flat rectangle or disk: `maximum_filter` with the mirrored rectangle.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_dilation([5, 3, 9, 4, 8], size=3).tolist()
    [5, 9, 9, 9, 8]
    """
    return _extremes(
        input, (_DILATION,), size, footprint, structure, output, mode, cval, origin, axes, threads, stream
    )


def grey_opening(
    input,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
    threads=0,
    stream=None,
):
    """Erosion and then dilation: removes bright details smaller than the rectangle or disk.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_opening([1, 1, 7, 1, 4, 4, 4, 1], size=3).tolist()
    [1, 1, 1, 1, 4, 4, 4, 1]
    """
    return _extremes(
        input,
        (_EROSION, _DILATION),
        size,
        footprint,
        structure,
        output,
        mode,
        cval,
        origin,
        axes,
        threads,
        stream,
    )


def grey_closing(
    input,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
    threads=0,
    stream=None,
):
    """Dilation and then erosion: removes dark details smaller than the rectangle or disk.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_closing([9, 9, 2, 9, 4, 4, 4, 9], size=3).tolist()
    [9, 9, 9, 9, 4, 4, 4, 9]
    """
    return _extremes(
        input,
        (_DILATION, _EROSION),
        size,
        footprint,
        structure,
        output,
        mode,
        cval,
        origin,
        axes,
        threads,
        stream,
    )


def white_tophat(
    input,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
    threads=0,
    stream=None,
):
    """The input minus its opening: bright details smaller than the rectangle or disk.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.white_tophat([1, 1, 7, 1, 4, 4, 4, 1], size=3).tolist()
    [0, 0, 6, 0, 0, 0, 0, 0]
    """
    return _extremes(
        input,
        (_EROSION, _DILATION),
        size,
        footprint,
        structure,
        output,
        mode,
        cval,
        origin,
        axes,
        threads,
        stream,
        "array",
    )


def black_tophat(
    input,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
    threads=0,
    stream=None,
):
    """The closing minus the input: dark details smaller than the rectangle or disk.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.black_tophat([9, 9, 2, 9, 4, 4, 4, 9], size=3).tolist()
    [0, 0, 7, 0, 0, 0, 0, 0]
    """
    return _extremes(
        input,
        (_DILATION, _EROSION),
        size,
        footprint,
        structure,
        output,
        mode,
        cval,
        origin,
        axes,
        threads,
        stream,
        "extremes",
    )
