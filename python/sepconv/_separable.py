"""Separable filters along any axes of an array, in the minimum number of passes of the library over it.

A pass is a chain of one stage `taps`. Its images are formed from the array's axes: rows and columns are two
axes adjacent in memory order, or one axis and all axes after it. The result is rounded once, at the end."""

import itertools
import math
from typing import NamedTuple

import numpy as np

from sepconv import _arrays, _devices, _sepconv, _aliasing, _dtypes
from sepconv._cache import bounded_cache, types_in_tuples

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
_PART = 1 << 20  # maximum number of pixels that are widened in one call
_MAX_MAGNITUDE = {"u1": 255, "u2": 65535, "i2": 32768}


class Pass(NamedTuple):
    """Weights along one axis, an odd number with a centred anchor, and the border. Or the library's stage of
    the name `window`, with `radius` neighbours on both sides; then `weights` only bound the rounding
    error."""

    axis: int
    weights: tuple
    border: str
    value: float
    window: str = ""
    radius: int = 0

    @property
    def reach(self):
        """Elements on each side that the result depends on."""
        return max(len(self.weights) // 2, self.radius)


class Passes(tuple):
    """The passes of one call. Compared by identity, so that a cache lookup does not walk through the
    weights."""

    __slots__ = ()
    __eq__, __hash__ = object.__eq__, object.__hash__


def _weights_of(passes):
    return sum(len(filter_pass.weights) for filter_pass in passes)


def cached_passes(make):
    """Decorates `make`, which returns a list of passes; the lists of the last calls are cached. Arguments
    that cannot be hashed bypass the cache."""

    @bounded_cache
    def cached(types, *arguments):
        result = Passes(make(*arguments))
        return result, _weights_of(result)

    def passes(*arguments):
        try:
            hash(arguments)
        except TypeError:
            return Passes(make(*arguments))
        return cached(types_in_tuples(arguments), *arguments)

    return passes


def border_of(mode, cval):
    """The library's border, and its constant."""
    if not isinstance(mode, str) or mode not in BORDERS:
        raise RuntimeError(f"boundary mode {mode!r} is not supported; there are {', '.join(BORDERS)}")
    border = BORDERS[mode]
    return border, float(cval) if border == "constant" else 0.0


def centring(size, origin):
    """The numbers of zeros before and after `size` weights that put their anchor, `origin` after the middle,
    in the middle. None if the anchor is outside the weights."""
    left, right = size // 2 + origin, (size - 1) // 2 - origin
    return None if left < 0 or right < 0 else (max(right - left, 0), max(left - right, 0))


def make_pass(axis, weights, origin, mode, cval, window=""):
    """A pass whose anchor is `origin` after the middle of the weights. Uses the stage `window` if the anchor
    is centred."""
    margins = centring(len(weights), origin)
    if margins is None:
        raise ValueError(
            "Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= (len(weights)-1) // 2"
        )
    border, value = border_of(mode, cval)
    weights = tuple(map(float, weights))
    if margins == (0, 0):
        return Pass(axis, weights, border, value, window, len(weights) // 2)
    before, after = margins
    return Pass(axis, (0.0,) * before + weights + (0.0,) * after, border, value)


def _f32_suffices(dtypes, passes):
    """Whether sums in f32 stay within 1 of those in f64: each term is rounded to at most 2^-24 of the sum.
    Without sums values are exact."""
    if not any(filter_pass.weights for filter_pass in passes):
        return all(dtype.str[1:] in _MAX_MAGNITUDE or dtype.str[1:] == "f4" for dtype in dtypes)
    max_value = max((_MAX_MAGNITUDE.get(dtype.str[1:], math.inf) for dtype in dtypes), default=math.inf)
    max_value = max([max_value, *(abs(filter_pass.value) for filter_pass in passes)])
    gain, terms = 1.0, 0
    for filter_pass in passes:
        gain, terms = (
            gain * max(sum(map(abs, filter_pass.weights)), 1.0),
            terms + len(filter_pass.weights) + 2,
        )
    return max_value * gain * terms < 2.0**24


def _commute(passes):
    """Whether the order of the passes does not matter. As in SciPy, a constant border extends the result of
    the preceding passes."""
    return all(filter_pass.value == 0 or not filter_pass.weights for filter_pass in passes) or (
        all(abs(sum(filter_pass.weights) - 1) < 1e-9 for filter_pass in passes)
        and not any(math.isnan(filter_pass.value) for filter_pass in passes)
    )


def _steps(passes):
    """The passes grouped into library calls, in the order of the axes: two adjacent axes with one border are
    joined, from the last axis on."""
    if not _commute(passes):
        return [(filter_pass,) for filter_pass in passes]
    steps, remaining = [], sorted(passes, key=lambda filter_pass: filter_pass.axis)
    while remaining:
        row = remaining.pop()
        joined = (
            remaining
            and remaining[-1].axis == row.axis - 1
            and remaining[-1].border == row.border
            and remaining[-1].window == row.window
        )
        steps.append((remaining.pop(), row) if joined else (row,))
    return steps[::-1]


def _shape_for(shape, step):
    """The array's shape for this step, and the number of axes of an image. Axes after the step's become
    channels, or more columns; a pass along rows processes all lines as one image."""
    first = step[0].axis
    if len(step) == 2:
        inner = math.prod(shape[first + 2 :])
        return (*shape[: first + 2], inner) if inner != 1 else shape[: first + 2], 3 if inner != 1 else 2
    if first == len(shape) - 1:
        return (math.prod(shape[:first]), shape[first]), 2
    return (*shape[: first + 1], math.prod(shape[first + 1 :])), 2


class _Step(NamedTuple):
    chain: object  # the extension module's chain
    shape: tuple  # of source and target
    image_axes: int
    dtype: np.dtype  # of the target
    nan_edges: tuple  # axis and radius if the constant is NaN, else empty
    reach: tuple  # neighbouring rows and columns needed on each side


class _Plan(NamedTuple):
    steps: tuple
    arithmetic: str


@bounded_cache
def _plan(passes, order, shape, dtype, result_dtype):
    """The library calls for a source of this shape and type, whose axes are in the memory order `order`. The
    last one computes `result_dtype`."""
    if order is not None:
        passes = [filter_pass._replace(axis=order.index(filter_pass.axis)) for filter_pass in passes]
    f64 = not _f32_suffices((dtype, result_dtype), passes)
    steps = _steps(passes)
    step_types = [dtype, *[np.dtype("f8" if f64 else "f4")] * (len(steps) - 1), result_dtype]
    return _Plan(
        tuple(_step(step, shape, *type_pair) for step, *type_pair in zip(steps, step_types, step_types[1:])),
        "f64" if f64 else "f32",
    ), _weights_of(passes)


def _windows(name, radius, radius_y, border, value, dtype):
    """The counterpart of `_sepconv.taps` for a stage of windows."""
    keys = [("radius", str(radius)), ("radius_y", str(radius_y)), ("border", border)] + [
        ("value", repr(value))
    ] * (border == "constant")
    chain = _sepconv.make_stage(name, keys, [])
    return chain if dtype is None else chain | _sepconv.make_stage("cast", [("type", dtype)], [])


def _step(step, shape, source, dtype):
    first_pass = step[0]
    image_shape, image_axes = _shape_for(shape, step)
    col, row = (
        step
        if len(step) == 2
        else (None, first_pass)
        if first_pass.axis == len(shape) - 1
        else (first_pass, None)
    )
    nan_edges = (
        (first_pass.axis, min(len(first_pass.weights) // 2, shape[first_pass.axis]))
        if math.isnan(first_pass.value) and first_pass.weights
        else ()
    )
    border_and_cast = (
        first_pass.border,
        0.0 if nan_edges else first_pass.value,
        None if source == dtype else _dtypes.PIXELS[dtype],
    )
    if first_pass.window:
        chain = _windows(
            first_pass.window,
            *(one_pass.radius if one_pass else 0 for one_pass in (row, col)),
            *border_and_cast,
        )
    else:
        chain = _sepconv.taps(
            *(list(one_pass.weights) if one_pass else [] for one_pass in (row, col)), *border_and_cast
        )
    return _Step(
        chain,
        image_shape,
        image_axes,
        dtype,
        nan_edges,
        tuple(one_pass.reach if one_pass else 0 for one_pass in (col, row)),
    )


def _run(step, source, target, arithmetic, threads):
    source_view, target_view = (
        array if array.shape == step.shape else array.reshape(step.shape) for array in (source, target)
    )
    if source.dtype in _dtypes.PIXELS and target.dtype == step.dtype:
        _sepconv.apply(
            step.chain,
            _arrays.ready(source_view, step.image_axes),
            target_view,
            step.image_axes,
            arithmetic,
            threads,
        )
    else:
        _run_in_parts(step, source_view, target_view, arithmetic, threads)
    if step.nan_edges:  # values outside are NaN, and so is each sum that includes one
        axis, radius = step.nan_edges
        lines = np.moveaxis(target, axis, 0)
        lines[:radius] = lines[len(lines) - radius :] = np.nan if target.dtype.kind == "f" else 0


def _run_in_parts(step, source, target, arithmetic, threads):
    """Runs the step on elements that are not pixels: widens only parts of them."""
    rows, cols, *channels = image = step.shape[-step.image_axes :]
    whole = math.prod(image)
    source, target = (array.reshape(-1, *image) for array in (source, target))
    if whole <= _PART:
        for first in range(0, len(source), count := _PART // whole):
            part = _widened(source[first : first + count])
            result = np.empty(part.shape, step.dtype)
            _sepconv.apply(step.chain, part, result, step.image_axes, arithmetic, threads)
            _dtypes.store(result, target[first : first + count])
        return
    spec = rows, cols, math.prod(channels), _dtypes.PIXELS[_dtypes.COMPUTED_AS[source.dtype]]
    height, width = max(_PART * rows // whole, 4 * step.reach[0], 1), cols
    # other columns are not needed, and a split by rows would read rows twice
    if step.reach[0] and not step.reach[1]:
        height, width = rows, max(_PART * cols // whole, 1)
    for image, (row, col) in itertools.product(
        range(len(source)), itertools.product(range(0, rows, height), range(0, cols, width))
    ):
        rect = row, col, min(height, rows - row), min(width, cols - col)
        first_row, first_col, *sides = step.chain.input_for(rect, spec)
        part = _widened(
            source[image][_wrapped_range(first_row, sides[0], rows)][
                :, _wrapped_range(first_col, sides[1], cols)
            ]
        )
        result = np.empty((*rect[2:], *channels), step.dtype)
        _sepconv.apply(
            step.chain,
            part,
            result,
            step.image_axes,
            arithmetic,
            threads,
            ((first_row, first_col), (rows, cols), rect[:2], (rows, cols)),
        )
        _dtypes.store(result, target[image, row : row + height, col : col + width])


def _widened(part):
    return np.ascontiguousarray(part if part.dtype in _dtypes.PIXELS else _dtypes.widened(part))


def _wrapped_range(first, count, side):
    """The index for a range of an axis of `side` elements, which repeats beyond its ends."""
    return (
        slice(first, first + count)
        if 0 <= first and first + count <= side
        else np.arange(first, first + count) % side
    )


def _memory_order(array):
    """The axes from the longest to the shortest stride; None if the array is C-contiguous."""
    return None if array.flags.c_contiguous else _by_stride(array.strides)


def _by_stride(strides):
    return tuple(sorted(range(len(strides)), key=lambda axis: (-abs(strides[axis]), axis)))


def _direct(output, order, dtype, source):
    """`output` in this axis order, if the last pass can write directly to it; else None."""
    if output is not None and output.dtype == dtype and output.dtype.isnative:
        view = output if order is None else output.transpose(order)
        if view.flags.c_contiguous and view.flags.aligned and not _aliasing.share_memory(view, source):
            return view
    return None


def filtered(array, passes, dtype, output=None, threads=0):
    """Filters `array`, of a real type, to `dtype`: into `output`, or a new array with the memory order of
    `array`."""
    native = _dtypes.native(array.dtype)
    if array.size == 0 or not passes:
        result = np.empty_like(array, dtype, subok=False) if output is None else output
        _dtypes.store(
            array.copy() if output is not None and _aliasing.share_memory(array, output) else array, result
        )
        return result
    order, requested_dtype, dtype = _memory_order(array), dtype, _dtypes.native(dtype)
    source = array if order is None else array.transpose(order)
    source = source.astype(native, copy=False)
    result_dtype = _dtypes.COMPUTED_AS[dtype]
    plan = _plan(passes, order, source.shape, _dtypes.COMPUTED_AS[native], result_dtype)
    direct = _direct(output, order, dtype, source)
    for step in plan.steps:
        target_dtype = dtype if step is plan.steps[-1] else step.dtype
        target = (
            direct if step is plan.steps[-1] and direct is not None else np.empty(source.shape, target_dtype)
        )
        _run(step, source, target, plan.arithmetic, threads)
        source = target
    if direct is not None:
        return output
    result = source if order is None else source.transpose(np.argsort(order))
    if output is None:
        return result.astype(requested_dtype, copy=False)
    np.copyto(output, result)
    return output


def filtered_on_gpu(array, passes, output, stream):
    """Filters a GPU array of a pixel type. `output` is a GPU array, a type, or None for the type of
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
        target = device.target(out if step is plan.steps[-1] else None, order, shape, step.dtype, source)
        if math.prod(shape):
            device.enqueue(
                step.chain, source, target, step.shape, step.shape, step.image_axes, plan.arithmetic
            )
        source = target
    return out if out is not None else device.in_original_order(target, order)
