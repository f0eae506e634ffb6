"""Minimum and maximum of rectangles of any size and origin, made of the library's windows, which have an odd
size and a centred origin."""

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
_PIECE = 1 << 18  # elements that are joined at once


def reach(size, origin):
    """How many neighbours on both sides count."""
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


def _join(extreme, lines, size, at, out):
    """`lines` has the extremes of windows of the largest odd size up to `size`, and `out`, which may share
    their memory, gets those of windows of `size`: of an even size the lesser or the greater of two
    neighbours, `at` being the second of the first pair along the first axis."""
    step = max(_PIECE // max(len(lines) * math.prod(lines.shape[2:]), 1), 1)
    for begin in range(0, lines.shape[1] if lines.ndim > 1 else 1, step):
        some = (slice(None), slice(begin, begin + step))[: lines.ndim]
        last, made = lines[at : at + len(out)][some], out[some]
        if size % 2:
            made[...] = last
        else:
            (np.minimum if extreme == MINIMUM else np.maximum)(
                lines[at - 1 : at - 1 + len(out)][some], last, out=made
            )


def _beyond(pixels, axis, begin, end, border, value):
    """The elements from `begin` to `end` along the axis, with what the border has beyond its ends."""
    side = pixels.shape[axis]
    before, behind = max(-begin, 0), max(end - side, 0)
    kind = _PADS[border]
    places = np.pad(
        np.arange(side), (before, behind), kind, **({"constant_values": -1} if border == "constant" else {})
    )[begin + before : end + before]
    taken = np.take(pixels, places, axis)
    if border == "constant":
        np.moveaxis(taken, axis, 0)[places < 0] = value
    return taken


def _shifted(pixels, extreme, axis, size, origin, mode, cval, threads):
    """Windows of an even size, or with an origin. Only near the ends a copy of what lies beyond them is
    needed."""
    left, right = reach(size, origin)
    border, value = border_of(mode, cval)
    radius, count = (size - 1) // 2, pixels.shape[axis]
    first, end = (
        min(max(left - radius, 0), count),
        max(min(count - right + radius, count), 0),
    )  # between them all odd windows stand on elements of the array
    made = _centred(pixels, extreme, (axis,), (2 * radius + 1,), (mode,), cval, None, threads)
    lines = np.moveaxis(made, axis, 0)
    if first < end:
        _join(extreme, lines, size, first + right - radius, lines[first:end])
    for begin, upto in ((0, first), (max(first, end), count)):
        if begin < upto:
            near = _beyond(pixels, axis, begin - left, upto + right, border, value)
            inside = np.moveaxis(
                _centred(near, extreme, (axis,), (2 * radius + 1,), ("nearest",), 0.0, None, threads), axis, 0
            )
            _join(extreme, inside, size, left + right - radius, lines[begin:upto])
    return made


def rectangle(pixels, extreme, window, cval, out, threads):
    constant = window.constant
    if constant and not math.isfinite(cval):
        wide = {axis: width for axis, width in zip(window.axes, window.sizes) if axis in constant}
        padded, at = padded_with(pixels, [wide.get(axis, 0) for axis in range(pixels.ndim)], cval)
        modes = ["nearest" if axis in constant else border for axis, border in zip(window.axes, window.modes)]
        return rectangle(padded, extreme, window._replace(modes=modes), 0.0, None, threads)[at]
    centred = [(axis, width, border) for axis, width, at, border in zip(*window[:4]) if not at and width % 2]
    shifted = [
        (axis, width, at, border) for axis, width, at, border in zip(*window[:4]) if at or not width % 2
    ]
    for axis, width, at, border in shifted:
        pixels = _shifted(pixels, extreme, axis, width, at, border, cval, threads)
    axes, sizes, modes = zip(*centred) if centred else ((), (), ())
    return (
        pixels
        if shifted and max(sizes, default=1) == 1
        else _centred(pixels, extreme, axes, sizes, modes, cval, out, threads)
    )
