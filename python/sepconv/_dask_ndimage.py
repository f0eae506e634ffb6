"""The functions of `sepconv.ndimage` on dask arrays. Each block is filtered with its halo, which ends only at
the edges of the array."""

import functools
import inspect
import operator

import dask.array as da
import numpy as np
from dask.array.utils import meta_from_array
from dask.base import tokenize

from sepconv import _gradients, _linear, _rank, _dtypes, _morphology, ndimage
from sepconv._arguments import normalized_axes, per_axis, result_of
from sepconv._dask_blocks import checked, array_of_blocks
from sepconv._separable import BORDERS


def _reach_of_weights(ndim, given, axes):
    return [
        (
            axes[0],
            len(np.asarray(given["weights"])) // 2 + abs(operator.index(given["origin"])),
            given["mode"],
        )
    ]


def _reach_of_size(ndim, given, axes):
    each = [per_axis(given[name], len(axes)) for name in ("size", "origin", "mode")]
    return [
        (axis, int(size) // 2 + abs(operator.index(origin)), mode)
        for axis, size, origin, mode in zip(axes, *each)
    ]


def _reach_of_window(ndim, given, axes):
    sizes = _rank.window_of(given["size"], given["footprint"], axes)
    return _reach_of_size(ndim, {**given, "size": sizes}, axes)


def _reach_of_rectangle(ndim, given, axes):
    sizes = _morphology._sizes(given["size"], given.get("footprint"), given.get("structure"), len(axes))
    return _reach_of_size(ndim, {**given, "size": sizes}, axes)


def _reach_of_two_rectangles(ndim, given, axes):
    return [(axis, 2 * reach, mode) for axis, reach, mode in _reach_of_rectangle(ndim, given, axes)]


def _reach_of_sigma(ndim, given, axes):
    passes = _linear._gaussian_passes(
        ndim, 0.0, given["sigma"], 0, given["mode"], given.get("truncate", 4.0), given.get("radius"), axes
    )
    reach = {filter_pass.axis: len(filter_pass.weights) // 2 for filter_pass in passes}
    return [(axis, reach.get(axis, 0), mode) for axis, mode in zip(axes, per_axis(given["mode"], len(axes)))]


def _reach_of_sigma_1d(ndim, given, axes):
    passes = _linear._gaussian_passes_1d(
        ndim, 0.0, axes[0], float(given["sigma"]), 0, given["mode"], given["truncate"], given["radius"]
    )
    return [(axes[0], sum(len(filter_pass.weights) // 2 for filter_pass in passes), given["mode"])]


def _reach_of_neighbours(ndim, given, axes):
    return [(axis, 1, mode) for axis, mode in zip(axes, per_axis(given["mode"], len(axes)))]


# Functions that return axis, reach and border mode of each filtered axis.
_REACH = {
    "convolve1d": _reach_of_weights,
    "correlate1d": _reach_of_weights,
    "gaussian_filter": _reach_of_sigma,
    "gaussian_filter1d": _reach_of_sigma_1d,
    "gaussian_gradient_magnitude": _reach_of_sigma,
    "gaussian_laplace": _reach_of_sigma,
    "laplace": _reach_of_neighbours,
    "prewitt": _reach_of_neighbours,
    "sobel": _reach_of_neighbours,
    "uniform_filter": _reach_of_size,
    "uniform_filter1d": _reach_of_size,
    "median_filter": _reach_of_window,
    "percentile_filter": _reach_of_window,
    "rank_filter": _reach_of_window,
    **dict.fromkeys(
        [
            "grey_dilation",
            "grey_erosion",
            "maximum_filter",
            "maximum_filter1d",
            "minimum_filter",
            "minimum_filter1d",
        ],
        _reach_of_rectangle,
    ),
    **dict.fromkeys(
        ["black_tophat", "grey_closing", "grey_opening", "white_tophat"], _reach_of_two_rectangles
    ),
}


def _reach(name, ndim, given):
    """The reach along each axis, and whether the array repeats there."""
    axes = normalized_axes(given["axis"] if name.endswith("1d") else given.get("axes"), ndim)
    reaches = [(0, False)] * ndim
    for axis, reach, mode in _REACH[name](ndim, given, axes):
        reaches[axis] = reach, BORDERS[mode] == "wrap"
    return reaches


def _needs(reach, shape):
    """The ranges that a block needs, and its position within them. An axis that repeats is read beyond both
    ends, or wholly."""

    def needs(ranges):
        needed, position = [], []
        for (begin, end), (margin, repeats), side in zip(ranges, reach, shape):
            low, high = begin - margin, end + margin
            if not repeats or high - low >= side:
                low, high = max(low, 0), min(high, side)
                if repeats:
                    low, high = 0, side
            needed.append((low, high))
            position.append(slice(begin - low, end - low))
        return needed, tuple(position)

    return needs


def _filtered(function, given, block, position):
    """Filters a block with its halo. Passes follow the memory order, so the axes are put in that order."""
    if isinstance(block, np.ndarray) and block.ndim:
        block = np.ascontiguousarray(block)
    result = function(block, **given)
    part = result[position]
    return result if part.shape == result.shape else part.copy()


def _checked_type(output, probe):
    """The result's type. TypeError if `output` is an array: a graph cannot write to one."""
    if output is not None and not isinstance(output, (type, np.dtype, str)):
        raise TypeError(
            f"a {type(output).__name__} as output would not get a dask array's result; give a type, and store the result (dask.array.store)"
        )
    return result_of(output, probe, probe.dtype.kind == "c")[1]


def _filter_blocks(name, function, source, given):
    given.setdefault("threads", 1)
    probe = np.zeros((1,) * source.ndim, source.dtype)
    dtype = _checked_type(given["output"], probe)
    function(probe, **given)  # raises the same errors as SciPy
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
    """The block, rounded and saturated, as results that combine several arrays."""
    if not isinstance(block, np.ndarray):
        return ndimage.gaussian_filter(block, 0, output=dtype)
    result = np.empty(block.shape, dtype)
    _dtypes.store(block, result)
    return result


_ORDERS = {"gaussian_laplace": 2, "gaussian_gradient_magnitude": 1}


def _combine_gaussian_derivatives(name, function, source, given):
    """With different modes per axis, SciPy uses an axis's mode for all axes of that axis's term, so each term
    is a separate array."""
    axes = normalized_axes(given["axes"], source.ndim)
    if len(set(per_axis(given["mode"], len(axes)))) < 2:
        return _filter_blocks(name, function, source, given)
    function(np.zeros((1,) * source.ndim, source.dtype), **given)  # raises the same errors as SciPy
    keywords = {key: given[key] for key in ("truncate", "radius", "threads") if key in given}
    derivative = _gradients.derivatives(
        _ORDERS[name], axes, per_axis(given["sigma"], len(axes)), filtered=lazy("gaussian_filter"), **keywords
    )
    return _combine_derivatives(
        name,
        function,
        source,
        {**given, "derivative": derivative, "extra_arguments": (), "extra_keywords": None},
    )


def _combine_derivatives(name, _, source, given):
    """The sum, or the vector length, of the derivatives along each axis, which a function of dask arrays
    computes in f64 or complex128."""
    derivative = given.get("derivative", given.get("derivative2"))
    dtype = _checked_type(given["output"], np.zeros((1,) * source.ndim, source.dtype))
    intermediate, total = np.dtype("c16" if dtype.kind == "c" else "f8"), None
    axes, magnitude = normalized_axes(given["axes"], source.ndim), name.endswith("magnitude")
    for axis, mode in zip(axes, per_axis(given["mode"], len(axes))):
        term = derivative(
            source,
            axis,
            intermediate,
            mode,
            given["cval"],
            *given["extra_arguments"],
            **(given["extra_keywords"] or {}),
        )
        if not isinstance(term, da.Array) or term.shape != source.shape:
            raise TypeError(
                f"{getattr(derivative, '__name__', 'the function')} gave no dask array of the array's shape; give a function of dask arrays, such as sepconv.dask.sobel"
            )
        term = term * term if magnitude else term
        total = term if total is None else total + term
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
    """The function of this name for dask arrays."""
    function = getattr(ndimage, name)
    combines, all_parameters = name.startswith("generic_"), inspect.signature(function).parameters.values()
    signature = inspect.Signature(
        [
            one.replace(default=1) if one.name == "threads" else one
            for one in all_parameters
            if one.name != "stream"
        ]
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
        return (
            _combine_derivatives
            if combines
            else _combine_gaussian_derivatives
            if name in _ORDERS
            else _filter_blocks
        )(name, function, checked(given.pop("input")), given)

    call.__signature__ = signature
    call.__name__ = call.__qualname__ = name
    call.__module__ = "sepconv.dask"
    also = (
        "and what makes the derivatives takes dask arrays, as these functions do"
        if combines
        else "and `threads` are a task's"
    )
    call.__doc__ = function.__doc__.partition("\n\n")[0] + _NOTES.format(name, also)
    return call
