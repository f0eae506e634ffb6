"""The functions of `sepconv.ndimage` on dask arrays: of each block what they make of it and its halo, which
ends only where the array does."""

import functools
import inspect
import operator

import dask.array as da
import numpy as np
from dask.array.utils import meta_from_array
from dask.base import tokenize

from sepconv import _gradients, _linear, _rank, _dtypes, _morphology, ndimage
from sepconv._arguments import axes_of, each_of, result_of
from sepconv._dask_blocks import checked, array_of_blocks
from sepconv._separable import BORDERS


def _of_weights(ndim, given, axes):
    return [
        (
            axes[0],
            len(np.asarray(given["weights"])) // 2 + abs(operator.index(given["origin"])),
            given["mode"],
        )
    ]


def _of_size(ndim, given, axes):
    each = [each_of(given[name], len(axes)) for name in ("size", "origin", "mode")]
    return [
        (axis, int(size) // 2 + abs(operator.index(origin)), mode)
        for axis, size, origin, mode in zip(axes, *each)
    ]


def _of_window(ndim, given, axes):
    sizes = _rank.window_of(given["size"], given["footprint"], axes)
    return _of_size(ndim, {**given, "size": sizes}, axes)


def _of_rectangle(ndim, given, axes):
    sizes = _morphology._sizes(given["size"], given.get("footprint"), given.get("structure"), len(axes))
    return _of_size(ndim, {**given, "size": sizes}, axes)


def _of_two_rectangles(ndim, given, axes):
    return [(axis, 2 * reach, mode) for axis, reach, mode in _of_rectangle(ndim, given, axes)]


def _of_sigma(ndim, given, axes):
    passes = _linear._gaussian_passes(
        ndim, 0.0, given["sigma"], 0, given["mode"], given.get("truncate", 4.0), given.get("radius"), axes
    )
    reach = {one.axis: len(one.weights) // 2 for one in passes}
    return [(axis, reach.get(axis, 0), mode) for axis, mode in zip(axes, each_of(given["mode"], len(axes)))]


def _of_sigma_1d(ndim, given, axes):
    passes = _linear._gaussian_passes_1d(
        ndim, 0.0, axes[0], float(given["sigma"]), 0, given["mode"], given["truncate"], given["radius"]
    )
    return [(axes[0], sum(len(one.weights) // 2 for one in passes), given["mode"])]


def _of_neighbours(ndim, given, axes):
    return [(axis, 1, mode) for axis, mode in zip(axes, each_of(given["mode"], len(axes)))]


# Axis, reach and mode of each axis that neighbours count along.
_REACH = {
    "convolve1d": _of_weights,
    "correlate1d": _of_weights,
    "gaussian_filter": _of_sigma,
    "gaussian_filter1d": _of_sigma_1d,
    "gaussian_gradient_magnitude": _of_sigma,
    "gaussian_laplace": _of_sigma,
    "laplace": _of_neighbours,
    "prewitt": _of_neighbours,
    "sobel": _of_neighbours,
    "uniform_filter": _of_size,
    "uniform_filter1d": _of_size,
    "median_filter": _of_window,
    "percentile_filter": _of_window,
    "rank_filter": _of_window,
    **dict.fromkeys(
        [
            "grey_dilation",
            "grey_erosion",
            "maximum_filter",
            "maximum_filter1d",
            "minimum_filter",
            "minimum_filter1d",
        ],
        _of_rectangle,
    ),
    **dict.fromkeys(["black_tophat", "grey_closing", "grey_opening", "white_tophat"], _of_two_rectangles),
}


def _reach(name, ndim, given):
    """How far neighbours count along each axis, and whether the array repeats there."""
    axes = axes_of(given["axis"] if name.endswith("1d") else given.get("axes"), ndim)
    made = [(0, False)] * ndim
    for axis, reach, mode in _REACH[name](ndim, given, axes):
        made[axis] = reach, BORDERS[mode] == "wrap"
    return made


def _needs(reach, shape):
    """What a block needs, and where it lies in that. Of an axis that repeats either more than it has on both
    sides, or all of it."""

    def needs(ranges):
        needed, at = [], []
        for (begin, end), (margin, repeats), side in zip(ranges, reach, shape):
            low, high = begin - margin, end + margin
            if not repeats or high - low >= side:
                low, high = max(low, 0), min(high, side)
                if repeats:
                    low, high = 0, side
            needed.append((low, high))
            at.append(slice(begin - low, end - low))
        return needed, tuple(at)

    return needs


def _filtered(function, given, block, at):
    """The order of axes in memory decides the order of passes: it is that of the axes."""
    if isinstance(block, np.ndarray) and block.ndim:
        block = np.ascontiguousarray(block)
    made = function(block, **given)
    part = made[at]
    return made if part.shape == made.shape else part.copy()


def _checked_type(output, probe):
    """The result's. TypeError for an array: a graph has none to write to."""
    if output is not None and not isinstance(output, (type, np.dtype, str)):
        raise TypeError(
            f"a {type(output).__name__} as output would not get a dask array's result; give a type, and store the result (dask.array.store)"
        )
    return result_of(output, probe, probe.dtype.kind == "c")[1]


def _of_blocks(name, function, source, given):
    given.setdefault("threads", 1)
    probe = np.zeros((1,) * source.ndim, source.dtype)
    dtype = _checked_type(given["output"], probe)
    function(probe, **given)  # raises what SciPy would
    token = tokenize(source.name, name, sorted(given.items()))
    meta = meta_from_array(source._meta, source.ndim, dtype)
    needs = _needs(_reach(name, source.ndim, given), source.shape)
    return array_of_blocks(
        source,
        f"sepconv-{name}-{token}",
        source.chunks,
        meta,
        needs,
        functools.partial(_filtered, function, given),
    )


def _stored(block, dtype):
    """Rounded and saturated, as results are that are joined of others."""
    if not isinstance(block, np.ndarray):
        return ndimage.gaussian_filter(block, 0, output=dtype)
    made = np.empty(block.shape, dtype)
    _dtypes.store(block, made)
    return made


_ORDERS = {"gaussian_laplace": 2, "gaussian_gradient_magnitude": 1}


def _of_gaussians(name, function, source, given):
    """Where modes differ SciPy takes that of an axis for all axes of the axis's term: each term is an array
    of its own."""
    axes = axes_of(given["axes"], source.ndim)
    if len(set(each_of(given["mode"], len(axes)))) < 2:
        return _of_blocks(name, function, source, given)
    function(np.zeros((1,) * source.ndim, source.dtype), **given)  # raises what SciPy would
    keywords = {key: given[key] for key in ("truncate", "radius", "threads") if key in given}
    derivative = _gradients.derivatives(
        _ORDERS[name], axes, each_of(given["sigma"], len(axes)), filtered=lazy("gaussian_filter"), **keywords
    )
    return _of_functions(
        name,
        function,
        source,
        {**given, "derivative": derivative, "extra_arguments": (), "extra_keywords": None},
    )


def _of_functions(name, _, source, given):
    """The sum, or the length, of what a function of dask arrays makes along each axis, in f64 or complex
    numbers of it."""
    derivative = given.get("derivative", given.get("derivative2"))
    dtype = _checked_type(given["output"], np.zeros((1,) * source.ndim, source.dtype))
    between, total = np.dtype("c16" if dtype.kind == "c" else "f8"), None
    axes, magnitude = axes_of(given["axes"], source.ndim), name.endswith("magnitude")
    for axis, mode in zip(axes, each_of(given["mode"], len(axes))):
        made = derivative(
            source,
            axis,
            between,
            mode,
            given["cval"],
            *given["extra_arguments"],
            **(given["extra_keywords"] or {}),
        )
        if not isinstance(made, da.Array) or made.shape != source.shape:
            raise TypeError(
                f"{getattr(derivative, '__name__', 'the function')} gave no dask array of the array's shape; give a function of dask arrays, such as sepconv.dask.sobel"
            )
        made = made * made if magnitude else made
        total = made if total is None else total + made
    if total is None:
        total = source
    elif magnitude:
        total = da.sqrt(total)
    return total.map_blocks(
        _stored, dtype, dtype=dtype, meta=meta_from_array(source._meta, source.ndim, dtype)
    )


_NOTES = """

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.{0}` makes of the whole array. Parameters are those of
    that function; `output` is a type, {1}.

    Returns
    -------
    dask.array.Array
    """


def lazy(name):
    """The function of this name, of dask arrays."""
    function = getattr(ndimage, name)
    joined, theirs = name.startswith("generic_"), inspect.signature(function).parameters.values()
    signature = inspect.Signature(
        [one.replace(default=1) if one.name == "threads" else one for one in theirs if one.name != "stream"]
    )

    def call(*args, **keywords):
        bound = signature.bind(*args, **keywords)
        bound.apply_defaults()
        given = dict(bound.arguments)
        given.update(given.pop("kwargs", {}))
        if "stream" in given:
            raise TypeError(
                "stream is not for dask arrays: blocks on a GPU are computed on the stream that is current in their library"
            )
        return (_of_functions if joined else _of_gaussians if name in _ORDERS else _of_blocks)(
            name, function, checked(given.pop("input")), given
        )

    call.__signature__ = signature
    call.__name__ = call.__qualname__ = name
    call.__module__ = "sepconv.dask"
    also = (
        "and what makes the derivatives takes dask arrays, as these functions do"
        if joined
        else "and `threads` are a task's"
    )
    call.__doc__ = function.__doc__.partition("\n\n")[0] + _NOTES.format(name, also)
    return call
