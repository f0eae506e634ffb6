"""Separable filters along any axes of an array, as the fewest passes of the library over it.

A pass is a chain of one stage `taps` on images that the array's axes make: rows and columns are two
neighbouring axes in the order of memory, or one axis and all behind it. All of a call is rounded once, at the
end."""

import itertools
import math
from typing import NamedTuple

import numpy as np

from sepconv import _arrays, _devices, _sepconv, _aliasing, _dtypes
from sepconv._cache import kept, types_in_tuples

BORDERS = {
    "reflect": "reflect",
    "grid-mirror": "reflect",
    "mirror": "reflect101",
    "nearest": "replicate",
    "constant": "constant",
    "grid-constant": "constant",
    "wrap": "wrap",
    "grid-wrap": "wrap",
}
_PART = 1 << 20  # pixels that are widened at once
_MAX_VALUE = {"u1": 255, "u2": 65535, "i2": 32768}


class Pass(NamedTuple):
    """Weights along one axis of an array, an odd number with the anchor in the middle, and how lines go on
    beyond its ends. Or what the library's stage `window` makes of this number of neighbours on both sides:
    then weights, where there are any, say only how large its sums become."""

    axis: int
    weights: tuple
    border: str
    value: float
    window: str = ""
    radius: int = 0


class Passes(tuple):
    """Passes of one call. Equal only to itself, so that looking up what was prepared for it costs no walk
    through the weights."""

    __slots__ = ()
    __eq__, __hash__ = object.__eq__, object.__hash__


def _weights_of(passes):
    return sum(len(one.weights) for one in passes)


def cached_passes(make):
    """`make` gives a list of passes; those of the last calls are kept. Arguments that cannot be looked up are
    used as they are."""

    @kept
    def looked_up(types, *given):
        made = Passes(make(*given))
        return made, _weights_of(made)

    def passes(*given):
        try:
            hash(given)
        except TypeError:
            return Passes(make(*given))
        return looked_up(types_in_tuples(given), *given)

    return passes


def border_of(mode, cval):
    """The library's border, and what lies there."""
    if not isinstance(mode, str) or mode not in BORDERS:
        raise RuntimeError(f"boundary mode {mode!r} is not supported; there are {', '.join(BORDERS)}")
    border = BORDERS[mode]
    return border, float(cval) if border == "constant" else 0.0


def make_pass(axis, weights, origin, mode, cval, window=""):
    """The pass whose anchor stands so far behind the middle of the weights; by the stage `window`, if that
    stands there."""
    left, right = len(weights) // 2 + origin, (len(weights) - 1) // 2 - origin
    if left < 0 or right < 0:
        raise ValueError(
            "Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= (len(weights)-1) // 2"
        )
    border, value = border_of(mode, cval)
    weights = tuple(map(float, weights))
    if left == right:
        return Pass(axis, weights, border, value, window, left)
    weights = (0.0,) * (right - left) + weights + (0.0,) * (left - right)
    return Pass(axis, weights, border, value)


def _f32_suffices(dtypes, passes):
    """Whether sums in f32 stay within 1 of those in f64: each of their terms is rounded to 2^-24 of the sum
    at most. Without sums values are exact."""
    if not any(one.weights for one in passes):
        return all(dtype.str[1:] in _MAX_VALUE or dtype.str[1:] == "f4" for dtype in dtypes)
    greatest = max((_MAX_VALUE.get(dtype.str[1:], math.inf) for dtype in dtypes), default=math.inf)
    greatest = max([greatest, *(abs(one.value) for one in passes)])
    gain, terms = 1.0, 0
    for one in passes:
        gain, terms = gain * max(sum(map(abs, one.weights)), 1.0), terms + len(one.weights) + 2
    return greatest * gain * terms < 2.0**24


def _commute(passes):
    """Whether the order of the passes is all one. A constant beyond the edges is that of what the passes
    before have made, as SciPy has it."""
    return all(one.value == 0 or not one.weights for one in passes) or (
        all(abs(sum(one.weights) - 1) < 1e-9 for one in passes)
        and not any(math.isnan(one.value) for one in passes)
    )


def _steps(passes):
    """What the library does at once: by twos where axes are neighbours with one border, from the last axis
    on. In the order of the axes."""
    if not _commute(passes):
        return [(one,) for one in passes]
    steps, left = [], sorted(passes, key=lambda one: one.axis)
    while left:
        row = left.pop()
        joined = (
            left
            and left[-1].axis == row.axis - 1
            and left[-1].border == row.border
            and left[-1].window == row.window
        )
        steps.append((left.pop(), row) if joined else (row,))
    return steps[::-1]


def _shape_for(shape, step):
    """The shape in which the library sees the array in this step, and how many axes its images have: what
    lies behind the step's axes is channels, or more columns; a row pass is one over all lines."""
    first = step[0].axis
    if len(step) == 2:
        behind = math.prod(shape[first + 2 :])
        return (*shape[: first + 2], behind) if behind != 1 else shape[: first + 2], 3 if behind != 1 else 2
    if first == len(shape) - 1:
        return (math.prod(shape[:first]), shape[first]), 2
    return (*shape[: first + 1], math.prod(shape[first + 1 :])), 2


class _Step(NamedTuple):
    chain: object  # native
    shape: tuple  # of source and target
    image_axes: int
    dtype: np.dtype  # of the target
    nan_edges: tuple  # axis and radius where the constant is NaN, or nothing
    reach: tuple  # rows and columns of neighbours on each side that count


class _Plan(NamedTuple):
    steps: tuple
    arithmetic: str


@kept
def _plan(passes, order, shape, dtype, stored):
    """What the library is asked for, of a source of this shape and type whose axes lie in memory as `order`
    says."""
    if order is not None:
        passes = [one._replace(axis=order.index(one.axis)) for one in passes]
    f64 = not _f32_suffices((dtype, stored), passes)
    joined = _steps(passes)
    types = [dtype, *[np.dtype("f8" if f64 else "f4")] * (len(joined) - 1), stored]
    return _Plan(
        tuple(_step(step, shape, *of) for step, *of in zip(joined, types, types[1:])), "f64" if f64 else "f32"
    ), _weights_of(passes)


def _windows(name, radius, radius_y, border, value, dtype):
    """What `_sepconv.taps` makes of taps, of a stage of windows."""
    keys = [("radius", str(radius)), ("radius_y", str(radius_y)), ("border", border)] + [
        ("value", repr(value))
    ] * (border == "constant")
    chain = _sepconv.make_stage(name, keys, [])
    return chain if dtype is None else chain | _sepconv.make_stage("cast", [("type", dtype)], [])


def _step(step, shape, source, dtype):
    one = step[0]
    seen, image_axes = _shape_for(shape, step)
    col, row = step if len(step) == 2 else (None, one) if one.axis == len(shape) - 1 else (one, None)
    edges = (
        (one.axis, min(len(one.weights) // 2, shape[one.axis]))
        if math.isnan(one.value) and one.weights
        else ()
    )
    beyond = (one.border, 0.0 if edges else one.value, None if source == dtype else _dtypes.PIXELS[dtype])
    if one.window:
        chain = _windows(one.window, *(part.radius if part else 0 for part in (row, col)), *beyond)
    else:
        chain = _sepconv.taps(*(list(part.weights) if part else [] for part in (row, col)), *beyond)
    return _Step(
        chain,
        seen,
        image_axes,
        dtype,
        edges,
        tuple(len(part.weights) // 2 + part.radius if part else 0 for part in (col, row)),
    )


def _run(step, source, target, arithmetic, threads):
    seen, made = (one if one.shape == step.shape else one.reshape(step.shape) for one in (source, target))
    if source.dtype in _dtypes.PIXELS and target.dtype == step.dtype:
        _sepconv.apply(
            step.chain, _arrays.ready(seen, step.image_axes), made, step.image_axes, arithmetic, threads
        )
    else:
        _run_in_parts(step, seen, made, arithmetic, threads)
    if step.nan_edges:  # what lies outside is NaN, and so is every sum that has a term there
        axis, radius = step.nan_edges
        lines = np.moveaxis(target, axis, 0)
        lines[:radius] = lines[len(lines) - radius :] = np.nan if target.dtype.kind == "f" else 0


def _run_in_parts(step, source, target, arithmetic, threads):
    """The same of elements that are not pixels, here or there: only parts of them are ever widened."""
    rows, cols, *channels = image = step.shape[-step.image_axes :]
    whole = math.prod(image)
    source, target = (one.reshape(-1, *image) for one in (source, target))
    if whole <= _PART:
        for first in range(0, len(source), many := _PART // whole):
            part = _widened(source[first : first + many])
            made = np.empty(part.shape, step.dtype)
            _sepconv.apply(step.chain, part, made, step.image_axes, arithmetic, threads)
            _dtypes.store(made, target[first : first + many])
        return
    spec = rows, cols, math.prod(channels), _dtypes.PIXELS[_dtypes.COMPUTED_AS[source.dtype]]
    height, width = max(_PART * rows // whole, 4 * step.reach[0], 1), cols
    if step.reach[0] and not step.reach[1]:  # other columns do not count, and rows would be read twice
        height, width = rows, max(_PART * cols // whole, 1)
    for image, (row, col) in itertools.product(
        range(len(source)), itertools.product(range(0, rows, height), range(0, cols, width))
    ):
        rect = row, col, min(height, rows - row), min(width, cols - col)
        first_row, first_col, *sides = step.chain.input_for(rect, spec)
        part = _widened(
            source[image][_along(first_row, sides[0], rows)][:, _along(first_col, sides[1], cols)]
        )
        made = np.empty((*rect[2:], *channels), step.dtype)
        _sepconv.apply(
            step.chain,
            part,
            made,
            step.image_axes,
            arithmetic,
            threads,
            ((first_row, first_col), (rows, cols), rect[:2], (rows, cols)),
        )
        _dtypes.store(made, target[image, row : row + height, col : col + width])


def _widened(part):
    return np.ascontiguousarray(part if part.dtype in _dtypes.PIXELS else _dtypes.widened(part))


def _along(first, count, side):
    """Of an axis of `side` elements that repeats beyond its ends."""
    return (
        slice(first, first + count)
        if 0 <= first and first + count <= side
        else np.arange(first, first + count) % side
    )


def _memory_order(array):
    """Axes from the one with the longest step to the one with the shortest; None if they lie so."""
    return None if array.flags.c_contiguous else _by_stride(array.strides)


def _by_stride(strides):
    return tuple(sorted(range(len(strides)), key=lambda axis: (-abs(strides[axis]), axis)))


def _direct(output, order, dtype, source):
    """`output` with its axes in this order, if the last pass can store there; else None."""
    if output is not None and output.dtype == dtype and output.dtype.isnative:
        view = output if order is None else output.transpose(order)
        if view.flags.c_contiguous and view.flags.aligned and not _aliasing.share_memory(view, source):
            return view
    return None


def filtered(array, passes, dtype, output=None, threads=0):
    """`array`, of a real type, through the passes as an array of `dtype`: `output`, or a new one in the order
    in memory that `array` has."""
    native = _dtypes.native(array.dtype)
    if array.size == 0 or not passes:
        made = np.empty_like(array, dtype, subok=False) if output is None else output
        _dtypes.store(
            array.copy() if output is not None and _aliasing.share_memory(array, output) else array, made
        )
        return made
    order, asked, dtype = _memory_order(array), dtype, _dtypes.native(dtype)
    source = array if order is None else array.transpose(order)
    source = source.astype(native, copy=False)
    stored = _dtypes.COMPUTED_AS[dtype]
    plan = _plan(passes, order, source.shape, _dtypes.COMPUTED_AS[native], stored)
    direct = _direct(output, order, dtype, source)
    for step in plan.steps:
        kind = dtype if step is plan.steps[-1] else step.dtype
        target = direct if step is plan.steps[-1] and direct is not None else np.empty(source.shape, kind)
        _run(step, source, target, plan.arithmetic, threads)
        source = target
    if direct is not None:
        return output
    made = source if order is None else source.transpose(np.argsort(order))
    if output is None:
        return made.astype(asked, copy=False)
    np.copyto(output, made)
    return output


def filtered_on_gpu(array, passes, output, stream):
    """The same of an array on a GPU, of a pixel type: `output` is an array there, a type, or None for that of
    `array`."""
    device = _devices.Device(array, stream)
    out = output if _devices.is_on_gpu(output) else None
    dtype = (
        device.dtype
        if output is None
        else _dtypes.result_type(output)
        if out is None
        else _devices.Device(out, stream).dtype
    )
    if dtype not in _dtypes.PIXELS:
        raise TypeError(f"a result of {dtype} is not made on a GPU; ask for u8, u16, i16, f32 or f64")
    order = _by_stride(device.strides)
    shape = tuple(device.shape[axis] for axis in order)
    if not passes:
        passes = Passes([Pass(order[-1], (1.0,), "reflect", 0.0)])
    plan = _plan(passes, order, shape, device.dtype, dtype)
    if any(step.nan_edges for step in plan.steps):
        raise ValueError("cval=nan is not for arrays on a GPU; give a finite one")
    source = device.in_order(order)
    for step in plan.steps:
        made = device.target(out if step is plan.steps[-1] else None, order, shape, step.dtype, source)
        if math.prod(shape):
            device.enqueue(step.chain, source, made, step.shape, step.shape, step.image_axes, plan.arithmetic)
        source = made
    return out if out is not None else device.in_original_order(made, order)
