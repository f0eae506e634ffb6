"""Descriptions of the parameters of `sepconv.ndimage`, for docstrings without a Parameters section."""

import inspect

_TEXTS = {
    "input": ("array_like", "of any number of axes"),
    "weights": ("array_like", "one axis of numbers"),
    "sigma": ("scalar or sequence", "the Gaussian's deviation, in pixels: of all axes, or of each of `axes`"),
    "order": ("int", "of the derivative; 0 blurs"),
    "size": ("int or sequence", "of the window: of all axes, or of each of `axes`"),
    "footprint": (
        "array_like, optional",
        "in place of `size`: see `minimum_filter`, and of ranks `rank_filter`",
    ),
    "structure": ("array_like, optional", "zeros of the shape of the window, in place of `size`"),
    "percentile": ("float", "from 0 to 100; a negative one counts from 100"),
    "axis": ("int", "that is filtered along"),
    "output": (
        "ndarray or dtype, optional",
        "where the result goes, or of which type it is; left out, of `input`'s",
    ),
    "mode": ("str or sequence", "how lines go on beyond their ends; see `correlate1d`"),
    "cval": ("scalar", "what lies there with ``mode='constant'``"),
    "origin": ("int or sequence", "how far the window's middle stands from the pixel"),
    "truncate": ("float", "where the Gaussian is cut off, in sigmas, if there is no `radius`"),
    "radius": ("int or sequence, optional", "of the Gaussian, in pixels"),
    "derivative": ("callable", "makes a derivative along an axis; see `generic_laplace`"),
    "extra_arguments": ("tuple", "for what makes the derivatives"),
    "extra_keywords": ("dict, optional", "likewise"),
    "axes": ("tuple of int, optional", "those that are filtered; left out, all"),
    "threads": ("int", "maximum number of threads; 0: all processors that this process may use"),
    "stream": (
        "int or object with ``__cuda_stream__``, optional",
        "of an array on a GPU: see `sepconv.Chain.__call__`",
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
