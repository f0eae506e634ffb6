"""Minimum and maximum of disk windows, for `scipy.ndimage`'s footprints."""

import math

import numpy as np

from sepconv import _stages
from sepconv._arguments import Unsupported
from sepconv._rank import _seen, padded_with
from sepconv._separable import border_of


def is_disk(footprint):
    """Whether it is `skimage.morphology.disk` of its radius, or an ellipse of two radii along two of its
    axes."""
    sides = [side for side in footprint.shape if side > 1]
    if len(sides) != 2 or not all(side % 2 for side in sides):
        return False
    y, x = (side // 2 for side in sides)
    down, right = np.ogrid[-y : y + 1, -x : x + 1]
    return np.array_equal(footprint.reshape(sides), (right * y) ** 2 + (down * x) ** 2 <= (x * y) ** 2)


def check_disk(window):
    if any(window.origins):
        raise Unsupported(
            "an origin other than 0 is not supported with a footprint that is a disk; shift the result"
        )
    if len(set(window.modes)) > 1:
        raise RuntimeError("A sequence of modes is not supported for non-separable footprints")


def disk_extreme(pixels, extreme, window, cval, out, threads, stream=None):
    """The result of the stage `extreme` with a disk window."""
    border, value = border_of(window.modes[0], cval)
    sides = dict(zip(window.axes, window.sizes))
    if border == "constant" and not math.isfinite(value):
        padded, inner = padded_with(pixels, [sides.get(axis, 0) for axis in range(pixels.ndim)], value)
        return disk_extreme(padded, extreme, window._replace(modes=["nearest"]), 0.0, None, threads)[inner]
    (rows, cols), letters = _seen(pixels.ndim, [axis for axis in window.axes if sides[axis] > 1])
    outside = {"value": value} if border == "constant" else {}
    chain = getattr(_stages, extreme)(
        sides[cols] // 2, radius_y=sides[rows] // 2, shape="disk", border=border, **outside
    )
    return chain(pixels, out, axes=letters, threads=threads, stream=stream)
