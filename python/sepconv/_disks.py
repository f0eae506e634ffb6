"""Least and greatest values of windows that are disks, for the functions of `scipy.ndimage`."""

import math

import numpy as np

from sepconv import _stages, _types
from sepconv._order import _seen, given_as, surrounded
from sepconv._separable import border_of


def is_disk(footprint):
    """Whether it is `skimage.morphology.disk` of its radius, or the same of two radii, along two of its axes."""
    sides = [side for side in footprint.shape if side > 1]
    if len(sides) != 2 or not all(side % 2 for side in sides):
        return False
    y, x = (side // 2 for side in sides)
    down, right = np.ogrid[-y : y + 1, -x : x + 1]
    return np.array_equal(footprint.reshape(sides), (right * y) ** 2 + (down * x) ** 2 <= (x * y) ** 2)


def disk_extreme(array, window, sizes, output, modes, cval, origins, axes, threads, stream):
    """What the stage `window` makes of disks of these sides."""
    if any(origins):
        raise ValueError("an origin other than 0 is not supported with a footprint that is a disk; shift the result")
    if len(set(modes)) > 1:
        raise RuntimeError("A sequence of modes is not supported for non-separable footprints")
    if isinstance(array, np.ndarray) and not array.size:
        return given_as(array.copy(), array, output)
    border, value = border_of(modes[0], cval)
    value = _types.beyond(value, array.dtype) if border == "constant" and isinstance(array, np.ndarray) else value
    sides = dict(zip(axes, sizes))
    if border == "constant" and not math.isfinite(value):
        padded, at = surrounded(array, [sides.get(axis, 0) for axis in range(array.ndim)], value)
        made = disk_extreme(padded, window, sizes, None, ["nearest"], 0.0, origins, axes, threads, stream)[at]
        return given_as(made, array, output)
    (rows, cols), letters = _seen(array.ndim, [axis for axis in axes if sides[axis] > 1])
    outside = {"value": float(value)} if border == "constant" else {}
    chain = getattr(_stages, window)(sides[cols] // 2, radius_y=sides[rows] // 2, shape="disk", border=border, **outside)
    return given_as(chain(array, axes=letters, threads=threads, stream=stream), array, output)
