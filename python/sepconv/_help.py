"""Descriptions of the parameters of `sepconv.ndimage`, for docstrings without a Parameters section."""

import inspect

_TEXTS = {
    "input": ("array_like", "of any number of axes"),
    "weights": ("array_like", "the numbers; see `correlate1d` and `correlate`"),
    "sigma": ("scalar or sequence", "the standard deviation in pixels: of all axes, or of each of `axes`"),
    "order": ("int", "order of the derivative; 0 smooths"),
    "size": ("int or sequence", "size of the window: of all axes, or of each of `axes`"),
    "footprint": (
        "array_like, optional",
        "replaces `size`: see `minimum_filter`, and `rank_filter` for ranks",
    ),
    "structure": ("array_like, optional", "zeros with the shape of the window; replaces `size`"),
    "percentile": ("float", "from 0 to 100; a negative one counts from 100"),
    "axis": ("int", "that is filtered along"),
    "output": (
        "ndarray or dtype, optional",
        "output array, or the result's type; default: the type of `input`",
    ),
    "mode": ("str or sequence", "extension of lines beyond their ends; see `correlate1d`"),
    "cval": ("scalar", "value beyond the edges with ``mode='constant'``"),
    "origin": ("int or sequence", "offset of the window's centre from the pixel"),
    "truncate": ("float", "where the Gaussian is truncated, in sigmas, without `radius`"),
    "radius": ("int or sequence, optional", "of the Gaussian, in pixels"),
    "derivative": ("callable", "makes a derivative along an axis; see `generic_laplace`"),
    "extra_arguments": ("tuple", "arguments for the derivative function"),
    "extra_keywords": ("dict, optional", "likewise"),
    "axes": ("tuple of int, optional", "the axes to filter; default: all"),
    "threads": ("int", "maximum number of threads; 0: all processors that this process may use"),
    "stream": (
        "int or object with ``__cuda_stream__``, optional",
        "for an array on a GPU: see `sepconv.Chain.__call__`",
    ),
    "kwargs": ("truncate, radius, threads, stream", "as of `gaussian_filter`"),
}


def with_parameters(function):
    """The function's docstring, with a Parameters section."""
    text = inspect.cleandoc(function.__doc__)
    if "\nParameters\n" in text:
        return text
    head, _, rest = text.partition("\n\n")
    lines = ["Parameters", "----------"]
    for name in inspect.signature(function).parameters:
        kind, words = _TEXTS[name]
        lines += [f"{'**' * (name == 'kwargs')}{name} : {kind}", f"    {words}"]
    return "\n".join(
        [head, "", *lines, "", "Returns", "-------", "ndarray", "    of `input`'s shape", "", rest]
    )
