"""Minimum and maximum over rectangles of any size and origin, computed with the library's windows of odd size
and centred origin."""

import math

import numpy as np

from sepconv._rank import padded_with
from sepconv._separable import Pass, border_of, filtered, cached_passes

_PADS = {
    "reflect": "symmetric",
    "reflect101": "reflect",
    "replicate": "edge",
    "constant": "constant",
    "wrap": "wrap",
}
MINIMUM, MAXIMUM = "erode", "dilate"
_PIECE = 1 << 18  # elements processed together, so that they stay in the CPU cache


def reach(size, origin):
    """The number of neighbours before and after an element in the window."""
    left, right = size // 2 + origin, (size - 1) // 2 - origin
    if left < 0 or right < 0:
        raise ValueError("invalid origin")
    return left, right


@cached_passes
def window_passes(ndim, cval, extreme, axes, sizes, modes):
    return [
        Pass(axis, (), *border_of(border, cval), extreme, size // 2)
        for axis, size, border in zip(axes, sizes, modes)
        if size > 1
    ]


def _centred(pixels, extreme, axes, sizes, modes, cval, out, threads):
    return filtered(
        pixels,
        window_passes(pixels.ndim, cval, extreme, tuple(axes), tuple(sizes), tuple(modes)),
        pixels.dtype,
        out,
        threads,
    )


def _join(extreme, lines, size, second, out):
    """Computes windows of `size` from `lines`, the extremes of windows of the largest odd size up to `size`.
    Writes to `out`, which may share memory with `lines`. For an even size the result is the minimum or
    maximum of two neighbours; `second` is the index of the second of the first pair along the first axis."""
    step = max(_PIECE // max(len(lines) * math.prod(lines.shape[2:]), 1), 1)
    for begin in range(0, lines.shape[1] if lines.ndim > 1 else 1, step):
        piece = (slice(None), slice(begin, begin + step))[: lines.ndim]
        last, target = lines[second : second + len(out)][piece], out[piece]
        if size % 2:
            target[...] = last
        else:
            (np.minimum if extreme == MINIMUM else np.maximum)(
                lines[second - 1 : second - 1 + len(out)][piece], last, out=target
            )


def _with_border(pixels, axis, begin, end, border, value):
    """The elements from `begin` to `end` along the axis, extended beyond the ends by the border."""
    side = pixels.shape[axis]
    before, after = max(-begin, 0), max(end - side, 0)
    kind = _PADS[border]
    indices = np.pad(
        np.arange(side), (before, after), kind, **({"constant_values": -1} if border == "constant" else {})
    )[begin + before : end + before]
    result = np.take(pixels, indices, axis)
    if border == "constant":
        np.moveaxis(result, axis, 0)[indices < 0] = value
    return result


def _shifted(pixels, extreme, axis, size, origin, mode, cval, threads):
    """Filters with windows of even size, or with an origin. Copies with a border are made only near the
    ends."""
    left, right = reach(size, origin)
    border, value = border_of(mode, cval)
    radius, count = (size - 1) // 2, pixels.shape[axis]
    first, end = (
        min(max(left - radius, 0), count),
        max(min(count - right + radius, count), 0),
    )  # between these, all odd windows are centred on elements of the array
    result = _centred(pixels, extreme, (axis,), (2 * radius + 1,), (mode,), cval, None, threads)
    lines = np.moveaxis(result, axis, 0)
    if first < end:
        _join(extreme, lines, size, first + right - radius, lines[first:end])
    for begin, stop in ((0, first), (max(first, end), count)):
        if begin < stop:
            near = _with_border(pixels, axis, begin - left, stop + right, border, value)
            inside = np.moveaxis(
                _centred(near, extreme, (axis,), (2 * radius + 1,), ("nearest",), 0.0, None, threads), axis, 0
            )
            _join(extreme, inside, size, left + right - radius, lines[begin:stop])
    return result


def rectangle(pixels, extreme, window, cval, out, threads):
    constant = window.constant
    if constant and not math.isfinite(cval):
        wide = {axis: width for axis, width in zip(window.axes, window.sizes) if axis in constant}
        padded, inner = padded_with(pixels, [wide.get(axis, 0) for axis in range(pixels.ndim)], cval)
        modes = ["nearest" if axis in constant else border for axis, border in zip(window.axes, window.modes)]
        return rectangle(padded, extreme, window._replace(modes=modes), 0.0, None, threads)[inner]
    centred = [
        (axis, width, border) for axis, width, offset, border in zip(*window[:4]) if not offset and width % 2
    ]
    shifted = [
        (axis, width, offset, border)
        for axis, width, offset, border in zip(*window[:4])
        if offset or not width % 2
    ]
    for axis, width, offset, border in shifted:
        pixels = _shifted(pixels, extreme, axis, width, offset, border, cval, threads)
    axes, sizes, modes = zip(*centred) if centred else ((), (), ())
    return (
        pixels
        if shifted and max(sizes, default=1) == 1
        else _centred(pixels, extreme, axes, sizes, modes, cval, out, threads)
    )
