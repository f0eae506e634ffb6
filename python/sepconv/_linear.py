"""The functions of `scipy.ndimage` that are one separable filter."""

import math
import numbers
import operator

import numpy as np

from sepconv._arguments import apply, normalized_axes, normalized_axis, per_axis, result_of
from sepconv._separable import make_pass, cached_passes

MAX_RADIUS = 1 << 20  # that the library takes
MAX_ORDER = 255  # larger powers of a distance overflow f64
MIN_SIGMA = 1e-15  # SciPy does not filter below it


def correlate1d(
    input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0, *, threads=0, stream=None
):
    """Correlation along one axis.

    Parameters
    ----------
    input : array_like
        of any number of axes
    weights : array_like
        one axis of numbers, not mirrored
    axis : int
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : {'reflect', 'mirror', 'nearest', 'wrap', 'constant', 'grid-mirror', 'grid-constant', 'grid-wrap'}
        extension of lines beyond their ends
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int
        offset of the weights' centre from the pixel
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        with the shape of `input`

    Raises
    ------
    RuntimeError
        for an invalid mode, weights or output, as SciPy
    ValueError
        for an origin outside the weights, and for infinite weights or `cval`

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.correlate1d([2, 8, 0, 4, 1, 9, 9, 0], weights=[1, 3])
    array([ 8, 26,  8, 12,  7, 28, 36,  9])
    """
    weights = np.asarray(weights)
    if weights.ndim != 1 or not weights.size:
        raise RuntimeError("no filter weights given")
    if weights.dtype.kind == "c":
        return _complex_weights(input, weights, axis, output, mode, cval, origin, threads, stream)
    normalized_axis(axis, input.ndim)
    return apply(
        input, _weights_passes, (axis, tuple(weights.tolist()), mode, origin), cval, output, threads, stream
    )


@cached_passes
def _weights_passes(ndim, cval, axis, weights, mode, origin):
    return [make_pass(normalized_axis(axis, ndim), weights, origin, mode, cval)]


def _complex_weights(array, weights, axis, output, mode, cval, origin, threads, stream):
    """Correlates with the complex conjugate of the weights."""
    if not isinstance(array, np.ndarray):
        raise TypeError(
            "complex weights are not for arrays on a GPU; give their real and imaginary parts, one after the other"
        )
    target, dtype = result_of(output, array, True)
    intermediate = np.complex128 if array.dtype.kind == "c" else np.float64
    real, imag = (
        correlate1d(array, part, axis, intermediate, mode, cval, origin, threads=threads, stream=stream)
        for part in (weights.real, weights.imag)
    )
    result = np.empty(array.shape, dtype) if target is None else target
    result[...] = real - 1j * imag
    return result


def convolve1d(
    input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0, *, threads=0, stream=None
):
    """Convolution along one axis: `correlate1d` with the weights mirrored.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.convolve1d([2, 8, 0, 4, 1, 9, 9, 0], weights=[1, 3])
    array([14, 24,  4, 13, 12, 36, 27,  0])
    """
    weights = np.asarray(weights)[::-1]
    origin = -origin - (not len(weights) & 1)
    return correlate1d(
        input,
        weights.conj() if weights.dtype.kind == "c" else weights,
        axis,
        output,
        mode,
        cval,
        origin,
        threads=threads,
        stream=stream,
    )


def _gaussian_weights(sigma, order, radius):
    """SciPy's weights: a polynomial times the sampled Gaussian, normalized to sum 1. f' = (q' + q p') phi for
    f = q phi, phi = exp(p)."""
    if order < 0:
        raise ValueError("order must be non-negative")
    if order > MAX_ORDER:
        raise ValueError(f"an order of {order} exceeds {MAX_ORDER}; take a smaller one")
    powers, variance = np.arange(order + 1), sigma * sigma
    x = np.arange(-radius, radius + 1)
    phi = np.exp(-0.5 / variance * x**2)
    phi /= phi.sum()
    q = np.zeros(order + 1)
    q[0] = 1
    step = np.diag(powers[1:], 1) + np.diag(np.ones(order) / -variance, -1)
    for _ in range(order):
        q = step.dot(q)
    return tuple(((x[:, None] ** powers).dot(q) * phi)[::-1].tolist())


def _gaussian_pass(axis, sigma, order, mode, cval, truncate, radius):
    sigma = float(sigma)
    if not math.isfinite(sigma):
        raise ValueError(f"sigma={sigma} cannot be: a finite number is needed")
    if radius is None:
        radius = int(truncate * sigma + 0.5)
    if not isinstance(radius, numbers.Integral) or radius < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    if radius > MAX_RADIUS:
        raise ValueError(f"a radius of {radius} exceeds {MAX_RADIUS}; take a smaller sigma or give radius")
    return make_pass(axis, _gaussian_weights(sigma, operator.index(order), int(radius)), 0, mode, cval)


def gaussian_filter1d(
    input,
    sigma,
    axis=-1,
    order=0,
    output=None,
    mode="reflect",
    cval=0.0,
    truncate=4.0,
    *,
    radius=None,
    threads=0,
    stream=None,
):
    """A Gaussian, or a derivative of one, along one axis. See `gaussian_filter`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.gaussian_filter1d([1.0, 2.0, 3.0, 4.0, 5.0], 1).round(4).tolist()
    [1.427, 2.0678, 3.0, 3.9322, 4.573]
    """
    return apply(
        input,
        _gaussian_passes_1d,
        (axis, float(sigma), order, mode, truncate, radius),
        cval,
        output,
        threads,
        stream,
    )


@cached_passes
def _gaussian_passes_1d(ndim, cval, axis, sigma, order, mode, truncate, radius):
    """As SciPy: the radius of a negative `sigma` is checked, whereas `gaussian_filter` skips such an axis."""
    axis = normalized_axis(axis, ndim)
    return (
        [] if abs(sigma) <= MIN_SIGMA else [_gaussian_pass(axis, sigma, order, mode, cval, truncate, radius)]
    )


def gaussian_filter(
    input,
    sigma,
    order=0,
    output=None,
    mode="reflect",
    cval=0.0,
    truncate=4.0,
    *,
    radius=None,
    axes=None,
    threads=0,
    stream=None,
):
    """A Gaussian, or derivatives of one, along the axes.

    Parameters
    ----------
    input : array_like
        of any number of axes
    sigma : scalar or sequence
        the standard deviation in pixels: of all axes, or of each of `axes`
    order : int or sequence
        order of the derivative; 0 smooths
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    truncate : float
        where the Gaussian is truncated, in sigmas, without `radius`
    radius : int or sequence, optional
        in pixels
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        with the shape of `input`

    Raises
    ------
    RuntimeError
        for an invalid mode, output or number of values, as SciPy
    ValueError
        for an invalid order, radius or axes

    Examples
    --------
    >>> import numpy as np
    >>> from sepconv import ndimage
    >>> ndimage.gaussian_filter(np.array([[0, 0, 0], [0, 255, 0], [0, 0, 0]], np.uint8), sigma=0.5)
    array([[  3,  21,   3],
           [ 21, 158,  21],
           [  3,  21,   3]], dtype=uint8)
    """
    return apply(
        input, _gaussian_passes, (sigma, order, mode, truncate, radius, axes), cval, output, threads, stream
    )


@cached_passes
def _gaussian_passes(ndim, cval, sigma, order, mode, truncate, radius, axes):
    axes = normalized_axes(axes, ndim)
    parameters = zip(axes, *(per_axis(value, len(axes)) for value in (sigma, order, mode, radius)))
    return [
        _gaussian_pass(axis, width, derivative_order, border, cval, truncate, max_radius)
        for axis, width, derivative_order, border, max_radius in parameters
        if not width <= MIN_SIGMA
    ]


def uniform_filter1d(
    input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0, *, threads=0, stream=None
):
    """The mean of `size` elements along one axis. See `correlate1d`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.uniform_filter1d([2.0, 8.0, 0.0, 4.0, 1.0, 9.0, 9.0, 0.0], size=2).tolist()
    [2.0, 5.0, 4.0, 2.0, 2.5, 5.0, 9.0, 4.5]
    """
    normalized_axis(axis, input.ndim)
    if operator.index(size) < 1:
        raise RuntimeError("incorrect filter size")
    return uniform_filter(
        input, size, output, mode, cval, origin, axes=(axis,), threads=threads, stream=stream
    )


def _uniform_pass(axis, size, origin, mode, cval):
    size = int(size)
    if size > 2 * MAX_RADIUS:
        raise ValueError(f"a size of {size} exceeds {2 * MAX_RADIUS}; take a smaller one")
    return make_pass(axis, (1 / size,) * size, origin, mode, cval, "box")


def uniform_filter(
    input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None, threads=0, stream=None
):
    """The mean of `size` elements along each axis. See `gaussian_filter`.

    Examples
    --------
    >>> import numpy as np
    >>> from sepconv import ndimage
    >>> ndimage.uniform_filter(np.array([[0, 0, 0], [0, 90, 0], [0, 0, 0]]), size=3).tolist()
    [[10, 10, 10], [10, 10, 10], [10, 10, 10]]
    """
    return apply(input, _uniform_passes, (size, origin, mode, axes), cval, output, threads, stream)


@cached_passes
def _uniform_passes(ndim, cval, size, origin, mode, axes):
    axes = normalized_axes(axes, ndim)
    parameters = zip(axes, *(per_axis(value, len(axes)) for value in (size, origin, mode)))
    return [
        _uniform_pass(axis, width, offset, border, cval)
        for axis, width, offset, border in parameters
        if width > 1
    ]


@cached_passes
def _derivative_passes(ndim, cval, axis, across, mode):
    """Differences along the axis, and the weights `across` along all others."""
    axis, modes = normalized_axis(axis, ndim), per_axis(mode, ndim)
    order = [axis, *(other_axis for other_axis in range(ndim) if other_axis != axis)]
    return [
        make_pass(
            filtered_axis, (-1, 0, 1) if filtered_axis == axis else across, 0, modes[filtered_axis], cval
        )
        for filtered_axis in order
    ]


def prewitt(input, axis=-1, output=None, mode="reflect", cval=0.0, *, threads=0, stream=None):
    """Prewitt's filter: differences along the axis, sums of three along all others.

    Examples
    --------
    >>> import numpy as np
    >>> from sepconv import ndimage
    >>> ndimage.prewitt(np.array([[1, 2, 4], [1, 2, 4]])).tolist()
    [[3, 9, 6], [3, 9, 6]]
    """
    return apply(input, _derivative_passes, (axis, (1, 1, 1), mode), cval, output, threads, stream)


def sobel(input, axis=-1, output=None, mode="reflect", cval=0.0, *, threads=0, stream=None):
    """Sobel's filter: differences along the axis, (1 2 1) along all others.

    Examples
    --------
    >>> import numpy as np
    >>> from sepconv import ndimage
    >>> ndimage.sobel(np.array([[1, 2, 4], [1, 2, 4]])).tolist()
    [[4, 12, 8], [4, 12, 8]]
    """
    return apply(input, _derivative_passes, (axis, (1, 2, 1), mode), cval, output, threads, stream)
