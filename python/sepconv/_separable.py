"""Separable filters along any axes of an array, as the fewest passes of the library over it.

A pass is a chain of one stage `taps` on images that the array's axes make: rows and columns are two neighbouring axes in the order of memory, or
one axis and all behind it. All of a call is rounded once, at the end.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from sepconv import _arrays, _sepconv, _types

BORDERS = {"reflect": "reflect", "grid-mirror": "reflect", "mirror": "reflect101", "nearest": "replicate", "constant": "constant",
           "grid-constant": "constant", "wrap": "wrap", "grid-wrap": "wrap"}
_GREATEST = {"u1": 255, "u2": 65535, "i2": 32768}


class Pass(NamedTuple):
    """Weights along one axis of an array, an odd number with the anchor in the middle, and how lines go on beyond its ends."""

    axis: int
    weights: tuple
    border: str
    value: float


def make_pass(axis, weights, left, mode, cval):
    """The pass in which `left` weights stand before the anchor."""
    if mode not in BORDERS:
        raise RuntimeError(f"boundary mode {mode!r} is not supported; there are {', '.join(BORDERS)}")
    weights = tuple(map(float, weights))
    right = len(weights) - 1 - left
    weights = (0.0,) * (right - left) + weights + (0.0,) * (left - right)
    border = BORDERS[mode]
    return Pass(axis, weights, border, float(cval) if border == "constant" else 0.0)


@functools.lru_cache(maxsize=256)
def _filter(row, col, border, value, dtype):
    return _sepconv.taps(list(row), list(col), border, value, _types.PIXELS[dtype])


def _f32_will_do(dtypes, passes):
    """Whether sums in f32 stay within 1 of those in f64: each of their terms is rounded to 2^-24 of the sum at most."""
    greatest = max((_GREATEST.get(dtype.str[1:], math.inf) for dtype in dtypes), default=math.inf)
    greatest = max([greatest, *(abs(one.value) for one in passes)])
    gain, terms = 1.0, 0
    for one in passes:
        gain, terms = gain * max(sum(map(abs, one.weights)), 1.0), terms + len(one.weights) + 2
    return greatest * gain * terms < 2.0**24


def _commute(passes):
    """Whether the order of the passes is all one. A constant beyond the edges is that of what the passes before have made, as SciPy has it."""
    return all(one.value == 0 for one in passes) or (all(abs(sum(one.weights) - 1) < 1e-9 for one in passes) and not any(math.isnan(one.value) for one in passes))


def _steps(passes):
    """What the library does at once: by twos where axes are neighbours with one border, from the last axis on. In the order of the axes."""
    if not _commute(passes):
        return [(one,) for one in passes]
    steps, left = [], sorted(passes, key=lambda one: one.axis)
    while left:
        row = left.pop()
        joined = left and left[-1].axis == row.axis - 1 and left[-1].border == row.border
        steps.append((left.pop(), row) if joined else (row,))
    return steps[::-1]


def _shape_for(shape, step):
    """The shape in which the library sees the array in this step, and how many axes its images have: what lies behind the step's axes is
    channels, or more columns. None stands for a row pass over all lines."""
    first = step[0].axis
    if len(step) == 2:
        behind = math.prod(shape[first + 2 :])
        return (*shape[: first + 2], behind) if behind != 1 else shape[: first + 2], 3 if behind != 1 else 2
    if first == len(shape) - 1:
        return (math.prod(shape[:first]), shape[first]), 2
    return (*shape[: first + 1], math.prod(shape[first + 1 :])), 2


def _reshaped(array, shape):
    """A view of `array` in this shape where there is one."""
    return array if array.shape == shape else array.reshape(shape)


def _run(step, source, target, f64, threads):
    shape, image_axes = _shape_for(source.shape, step)
    col, row = step if len(step) == 2 else (None, step[0]) if step[0].axis == source.ndim - 1 else (step[0], None)
    one = step[0]
    edges = math.isnan(one.value)
    chain = _filter(row.weights if row else (), col.weights if col else (), one.border, 0.0 if edges else one.value, target.dtype)
    source = _arrays.ready(_reshaped(source, shape), image_axes)
    _sepconv.apply(chain, source, target.reshape(shape), image_axes, _sepconv.F64 if f64 else _sepconv.F32, threads)
    if edges:  # what lies outside is NaN, and so is every sum that has a term there
        radius = min(len(one.weights) // 2, target.shape[one.axis])
        lines = np.moveaxis(target, one.axis, 0)
        lines[:radius] = lines[len(lines) - radius :] = np.nan


def _memory_order(array):
    """Axes from the one with the longest step to the one with the shortest."""
    if array.flags.c_contiguous:
        return tuple(range(array.ndim))
    return tuple(sorted(range(array.ndim), key=lambda axis: (-abs(array.strides[axis]), axis)))


def _target(output, order, shape, dtype, source):
    """Where the last pass stores: `output` itself if the library can walk through it, else an array of its own."""
    if output is not None and output.dtype == dtype and output.dtype.isnative:
        view = output.transpose(order)
        if view.flags.c_contiguous and view.flags.aligned and not np.may_share_memory(view, source):
            return view
    return np.empty(shape, dtype)


def filtered(array, passes, dtype, output=None, threads=0):
    """`array`, of a real type, through the passes as an array of `dtype`: `output`, or a new one in the order in memory that `array` has."""
    native = _types.native(array.dtype)
    if native not in _types.PIXELS and native not in _types.HOLDERS:
        raise RuntimeError(f"array type {array.dtype} is not supported; give bool, integers, f16, f32, f64, complex64 or complex128")
    if array.size == 0 or not passes:
        made = np.empty_like(array, dtype, subok=False) if output is None else output
        made[...] = array
        return made
    order = _memory_order(array)
    source = array.astype(native, copy=False).transpose(order)
    if native in _types.HOLDERS:
        source = source.astype(_types.HOLDERS[native])
    if source.ndim == 1:
        source, order = source[None], None
    stored = _types.HOLDERS.get(_types.native(dtype), _types.native(dtype))
    f64 = not _f32_will_do((source.dtype, stored), passes)
    shift = 1 if order is None else 0
    placed = [one._replace(axis=one.axis + shift if order is None else order.index(one.axis)) for one in passes]
    steps = _steps(placed)
    target = _target(None if order is None else output, order, source.shape, stored, source)
    for step in steps[:-1]:
        between = np.empty(source.shape, "f8" if f64 else "f4")
        _run(step, source, between, f64, threads)
        source = between
    _run(steps[-1], source, target, f64, threads)
    made = target[0] if order is None else target.transpose(np.argsort(order))
    if output is None and made.dtype == dtype:
        return made
    if output is None:
        output = np.empty_like(made, dtype)
    if not np.may_share_memory(made, output):
        _types.store(made, output)
    return output
