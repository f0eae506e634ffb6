"""`scipy.ndimage`'s gradient magnitudes and Laplacians: sums and vector lengths of derivatives along the
axes."""

import functools

import numpy as np

from sepconv import _arrays, _stages, _dtypes
from sepconv._arguments import normalized_axes, per_axis, result_of
from sepconv._cache import bounded_cache, types_in_tuples
from sepconv._devices import Device, is_on_gpu
from sepconv._linear import MIN_SIGMA, correlate1d, gaussian_filter
from sepconv._separable import BORDERS


def _join(array, derivative, output, mode, cval, axes, extra_arguments, extra_keywords, magnitude):
    """Sums in f64 or complex128; converts to the result's type at the end."""
    if not isinstance(array, np.ndarray):
        return _join_on_gpu(
            array, derivative, output, mode, cval, axes, extra_arguments, extra_keywords or {}, magnitude
        )
    target, dtype = result_of(output, array, array.dtype.kind == "c")
    axes = normalized_axes(axes, array.ndim)
    modes = per_axis(mode, len(axes))
    total = np.empty(array.shape, np.complex128 if dtype.kind == "c" else np.float64)
    for count, (axis, border) in enumerate(zip(axes, modes)):
        term = derivative(
            array,
            axis,
            total.dtype if count else total,
            border,
            cval,
            *extra_arguments,
            **(extra_keywords or {}),
        )
        term = term if count else total
        if magnitude:
            np.multiply(term, term, out=term)
        if count:
            np.add(total, term, out=total)
    if not axes:
        total[...] = array
    elif magnitude:
        np.sqrt(total, out=total)
    term = np.empty_like(array, dtype, subok=False) if target is None else target
    _dtypes.store(total, term)
    return term


def _join_on_gpu(array, derivative, output, mode, cval, axes, extra_arguments, extra_keywords, magnitude):
    """The same with the operations of the array's library, on its current stream; the last step rounds and
    saturates."""
    if extra_keywords.get("stream") is not None:
        raise TypeError(
            "stream is not for sums of filters, which the array's library makes on its current stream; make that stream current"
        )
    axes = normalized_axes(axes, array.ndim)
    total = None
    for axis, border in zip(axes, per_axis(mode, len(axes))):
        term = derivative(array, axis, np.float64, border, cval, *extra_arguments, **extra_keywords)
        term = term * term if magnitude else term
        total = term if total is None else total + term
    if total is None:
        total = array
    elif magnitude:
        total = total**0.5
    return gaussian_filter(total, 0, output=Device(array, None).dtype if output is None else output)


def generic_laplace(
    input,
    derivative2,
    output=None,
    mode="reflect",
    cval=0.0,
    extra_arguments=(),
    extra_keywords=None,
    *,
    axes=None,
):
    """The sum of second derivatives along the axes, computed by a callback.

    Parameters
    ----------
    input : array_like
        of any number of axes
    derivative2 : callable
        ``derivative2(input, axis, output, mode, cval, *extra_arguments, **extra_keywords)``, where `output`
        is an array or a type, as for `gaussian_filter`
    output, mode, cval, axes
        as for `gaussian_filter`
    extra_arguments, extra_keywords
        for `derivative2`

    Returns
    -------
    ndarray
        of `input`'s shape

    Raises
    ------
    RuntimeError, ValueError
        as `gaussian_filter`

    Examples
    --------
    >>> from sepconv import ndimage
    >>> def second(input, axis, output, mode, cval):
    ...     return ndimage.correlate1d(input, [1, -2, 1], axis, output, mode, cval)
    >>> ndimage.generic_laplace([[0, 0, 0], [0, 1, 0], [0, 0, 0]], second).tolist()
    [[0, 1, 0], [1, -4, 1], [0, 1, 0]]
    """
    return _join(input, derivative2, output, mode, cval, axes, extra_arguments, extra_keywords, False)


def laplace(input, output=None, mode="reflect", cval=0.0, *, axes=None, threads=0):
    """The sum of second differences, (1 -2 1), along the axes. See `gaussian_filter`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.laplace([[0, 0, 0], [0, 1, 0], [0, 0, 0]]).tolist()
    [[0, 1, 0], [1, -4, 1], [0, 1, 0]]
    """

    def derivative2(array, axis, output, mode, cval):
        return correlate1d(array, [1, -2, 1], axis, output, mode, cval, threads=threads)

    return generic_laplace(input, derivative2, output, mode, cval, axes=axes)


@bounded_cache
def _chain_of_stage(types, stage, sigmas, truncate, radii, border, dtype):
    extent_keys = {"truncate": truncate} if radii[0] is None else {"radius_y": radii[0], "radius": radii[1]}
    chain = stage(sigma_y=sigmas[0], sigma=sigmas[1], border=border, **extent_keys)
    weights = 4 * sum(truncate * sigma if radius is None else radius for sigma, radius in zip(sigmas, radii))
    return chain if dtype is None else chain | _stages.cast(_dtypes.PIXELS[dtype]), weights


_IMAGE_AXES = "abdefghijklmnopqrstuvwz"  # letters of axes that count images


def _letters(axes, ndim):
    """Axis letters with the two axes as rows and columns; None if the columns are neither the last axis nor
    the one before channels."""
    if len(axes) != 2 or max(axes) < ndim - 2 or ndim > len(_IMAGE_AXES):
        return None
    names = list(_IMAGE_AXES[: ndim - 1] + "c") if max(axes) == ndim - 2 else list(_IMAGE_AXES[:ndim])
    names[min(axes)], names[max(axes)] = "y", "x"
    return "".join(names)


def _requested_dtype(array, output):
    """The output array or None, and the type to cast to or None. None if a chain cannot produce the
    result."""
    target = output if isinstance(output, np.ndarray) or is_on_gpu(output) else None
    on_host = isinstance(array, np.ndarray)
    if on_host and array.dtype.kind == "c":
        return None
    if output is None or target is not None and not on_host:
        return target, None
    if target is None and not isinstance(output, (type, np.dtype, str)):
        return None
    if target is not None and (target.shape != array.shape or not target.dtype.isnative):
        return None
    dtype = _dtypes.result_type(output if target is None else target.dtype)
    if dtype == array.dtype:
        return target, None
    return (target, dtype) if dtype in _dtypes.PIXELS else None


def _by_stage(
    stage, array, sigmas, output, mode, cval, axes, truncate=4.0, radius=None, threads=0, stream=None
):
    """Computes by the library's stage for rows and columns, in one pass. None if the stage does not support
    the arguments."""
    modes, names, requested = (
        set(per_axis(mode, len(axes))),
        _letters(axes, array.ndim),
        _requested_dtype(array, output),
    )
    if isinstance(array, np.ndarray) and not array.size:
        return None
    if (
        names is None
        or requested is None
        or len(modes) != 1
        or not modes <= BORDERS.keys()
        or not min(sigmas) > MIN_SIGMA
    ):
        return None
    border = BORDERS[modes.pop()]
    # SciPy's constant applies beyond the edges of the first pass's result
    if border == "constant" and cval != 0:
        return None
    (_, *rows), (_, *cols) = sorted(zip(axes, map(float, sigmas), per_axis(radius, 2)))
    sigma, radii = zip(rows, cols)
    if (radii[0] is None) != (radii[1] is None):
        return None
    given = stage, sigma, float(truncate), radii, border, requested[1]
    chain = _chain_of_stage(types_in_tuples(given), *given)
    return _arrays.apply(chain, array, requested[0], names, "f64", threads, stream)


_GRADIENT = functools.partial(_stages.gradient, "gaussian")


def derivatives(order, axes, sigmas, radius=None, filtered=gaussian_filter, **keywords):
    """Returns a function that computes, with `filtered`, the derivative of this order along an axis of the
    Gaussian along all `axes`.
    As in SciPy, smoothing follows the order of the array's axes, not of `axes`: with a constant border the
    order matters."""
    parameters = sorted(zip(axes, sigmas, per_axis(radius, len(axes))))
    sigmas, radii = [width for _, width, _ in parameters], [max_radius for *_, max_radius in parameters]

    def derivative(array, axis, output, mode, cval):
        orders = [order * (other_axis == axis) for other_axis, *_ in parameters]
        return filtered(
            array, sigmas, orders, output, mode, cval, radius=radii, axes=sorted(axes), **keywords
        )

    return derivative


_KEYWORDS = ("truncate", "radius", "threads", "stream")


def _gaussian_derivatives(stage, generic, order, array, sigma, output, mode, cval, axes, keywords):
    """The result of `stage` in one pass, or else `generic` over derivatives of this order."""
    for name in keywords:
        if name not in _KEYWORDS:
            raise TypeError(
                f"there is no argument {name!r}; those of gaussian_filter that are taken are {', '.join(_KEYWORDS)}"
            )
    axes = normalized_axes(axes, array.ndim)
    sigmas = per_axis(sigma, len(axes))
    result = _by_stage(stage, array, sigmas, output, mode, cval, axes, **keywords)
    return (
        result
        if result is not None
        else generic(array, derivatives(order, axes, sigmas, **keywords), output, mode, cval, axes=axes)
    )


def gaussian_laplace(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs):
    """The sum of second derivatives of the Gaussian along the axes. Also accepts `truncate`, `radius`,
    `threads` and `stream` of `gaussian_filter`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.gaussian_laplace([[0.0, 0, 0], [0, 1, 0], [0, 0, 0]], sigma=1)[1].round(4).tolist()
    [-0.0303, -0.2675, -0.0303]
    """
    return _gaussian_derivatives(
        _stages.gaussian_laplace, generic_laplace, 2, input, sigma, output, mode, cval, axes, kwargs
    )


def generic_gradient_magnitude(
    input,
    derivative,
    output=None,
    mode="reflect",
    cval=0.0,
    extra_arguments=(),
    extra_keywords=None,
    *,
    axes=None,
):
    """The root of the sum of squared derivatives along the axes, computed by a callback. `derivative` has the
    signature of `derivative2` in `generic_laplace`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.generic_gradient_magnitude([[0.0, 3.0], [4.0, 7.0]], ndimage.sobel).tolist()
    [[20.0, 20.0], [20.0, 20.0]]
    """
    return _join(input, derivative, output, mode, cval, axes, extra_arguments, extra_keywords, True)


def gaussian_gradient_magnitude(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs):
    """The vector length of the Gaussian's gradient. Also accepts `truncate`, `radius`, `threads` and `stream`
    of `gaussian_filter`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.gaussian_gradient_magnitude([[0.0, 1.0, 2.0]] * 3, sigma=1)[1].round(4).tolist()
    [0.3494, 0.6988, 0.3494]
    """
    return _gaussian_derivatives(
        _GRADIENT, generic_gradient_magnitude, 1, input, sigma, output, mode, cval, axes, kwargs
    )
