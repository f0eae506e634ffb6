"""The functions of `scipy.ndimage` that join filters: sums and magnitudes of derivatives along the axes."""

import numpy as np

from sepconv import _types
from sepconv._devices import Device
from sepconv._linear import as_array, axes_of, correlate1d, each_of, gaussian_filter, result_of


def _joined(input, derivative, output, mode, cval, axes, extra_arguments, extra_keywords, magnitude):
    """Values stay in f64, or in complex numbers of it, until all are joined."""
    array = as_array(input)
    if not isinstance(array, np.ndarray):
        return _joined_on_gpu(array, derivative, output, mode, cval, axes, extra_arguments, extra_keywords or {}, magnitude)
    given, dtype = result_of(output, array, array.dtype.kind == "c")
    axes = axes_of(axes, array.ndim)
    modes = each_of(mode, len(axes))
    total = np.empty(array.shape, np.complex128 if dtype.kind == "c" else np.float64)
    for count, (axis, border) in enumerate(zip(axes, modes)):
        target = total if count == 0 else total.dtype
        made = derivative(array, axis, target, border, cval, *extra_arguments, **(extra_keywords or {}))
        made = total if count == 0 else made
        if magnitude:
            np.multiply(made, made, out=made)
        if count:
            np.add(total, made, out=total)
    if not axes:
        total[...] = array
    elif magnitude:
        np.sqrt(total, out=total)
    made = np.empty_like(array, dtype, subok=False) if given is None else given
    _types.store(total, made)
    return made


def _joined_on_gpu(array, derivative, output, mode, cval, axes, extra_arguments, extra_keywords, magnitude):
    """The same by the array's own library, on its current stream; the last step rounds and saturates."""
    if extra_keywords.get("stream") is not None:
        raise TypeError("stream is not for sums of filters, which the array's library makes on its current stream; make that stream current")
    axes = axes_of(axes, array.ndim)
    total = None
    for axis, border in zip(axes, each_of(mode, len(axes))):
        made = derivative(array, axis, np.float64, border, cval, *extra_arguments, **extra_keywords)
        made = made * made if magnitude else made
        total = made if total is None else total + made
    if total is None:
        total = array
    elif magnitude:
        total = total**0.5
    return gaussian_filter(total, 0, output=Device(array, None).dtype if output is None else output)


def generic_laplace(input, derivative2, output=None, mode="reflect", cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None):
    """The sum of second derivatives along the axes, which a function makes.

    Parameters
    ----------
    input : array_like
        of any number of axes
    derivative2 : callable
        ``derivative2(input, axis, output, mode, cval, *extra_arguments, **extra_keywords)``, where `output` is an array or a type as elsewhere
    output, mode, cval, axes
        as `gaussian_filter` has them
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
    return _joined(input, derivative2, output, mode, cval, axes, extra_arguments, extra_keywords, False)


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


def _of_gaussian(order):
    """The derivative of this order along one axis of the Gaussian along all in `axes`."""

    def derivative(array, axis, output, mode, cval, sigmas, axes, **keywords):
        return gaussian_filter(array, sigmas, [order * (one == axis) for one in axes], output, mode, cval, axes=axes, **keywords)

    return derivative


def gaussian_laplace(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs):
    """The sum of second derivatives of the Gaussian along the axes. See `gaussian_filter`, which also takes `kwargs`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.gaussian_laplace([[0.0, 0, 0], [0, 1, 0], [0, 0, 0]], sigma=1)[1].round(4).tolist()
    [-0.0303, -0.2675, -0.0303]
    """
    ndim = as_array(input).ndim
    axes = axes_of(axes, ndim)
    sigmas = each_of(sigma, len(axes))
    return generic_laplace(input, _of_gaussian(2), output, mode, cval, (), dict(kwargs, sigmas=sigmas, axes=axes), axes=axes)


def generic_gradient_magnitude(input, derivative, output=None, mode="reflect", cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None):
    """The root of the sum of squares of derivatives along the axes, which a function makes.

    Parameters
    ----------
    input : array_like
        of any number of axes
    derivative : callable
        ``derivative(input, axis, output, mode, cval, *extra_arguments, **extra_keywords)``, where `output` is an array or a type as elsewhere
    output, mode, cval, axes
        as `gaussian_filter` has them
    extra_arguments, extra_keywords
        for `derivative`

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
    >>> ndimage.generic_gradient_magnitude([[0.0, 3.0], [4.0, 7.0]], ndimage.sobel).tolist()
    [[20.0, 20.0], [20.0, 20.0]]
    """
    return _joined(input, derivative, output, mode, cval, axes, extra_arguments, extra_keywords, True)


def gaussian_gradient_magnitude(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs):
    """The length of the Gaussian's gradient. See `gaussian_filter`, which also takes `kwargs`.

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.gaussian_gradient_magnitude([[0.0, 1.0, 2.0]] * 3, sigma=1)[1].round(4).tolist()
    [0.3494, 0.6988, 0.3494]
    """
    axes = axes_of(axes, as_array(input).ndim)
    sigmas = each_of(sigma, len(axes))
    return generic_gradient_magnitude(input, _of_gaussian(1), output, mode, cval, (), dict(kwargs, sigmas=sigmas, axes=axes), axes=axes)
