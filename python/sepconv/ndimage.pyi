# Made by tests/python/make_stubs.py.
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, overload

from numpy.typing import ArrayLike, DTypeLike, NDArray

from sepconv._chain import GpuArray, HasStream

__all__ = ["black_tophat", "convolve1d", "correlate1d", "gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude", "gaussian_laplace", "generic_gradient_magnitude", "generic_laplace", "grey_closing", "grey_dilation", "grey_erosion", "grey_opening", "laplace", "maximum_filter", "maximum_filter1d", "median_filter", "minimum_filter", "minimum_filter1d", "percentile_filter", "prewitt", "rank_filter", "sobel", "uniform_filter", "uniform_filter1d", "white_tophat"]

Mode: TypeAlias = Literal['reflect', 'grid-mirror', 'mirror', 'nearest', 'constant', 'grid-constant', 'wrap', 'grid-wrap']

@overload
def black_tophat(input: ArrayLike, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """The closing minus the input: dark details smaller than the rectangle or disk.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    structure : array_like, optional
        zeros with the shape of the window; replaces `size`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.black_tophat([9, 9, 2, 9, 4, 4, 4, 9], size=3).tolist()
    [0, 0, 7, 0, 0, 0, 0, 0]
    """
@overload
def black_tophat(input: GpuArray, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """The closing minus the input: dark details smaller than the rectangle or disk.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    structure : array_like, optional
        zeros with the shape of the window; replaces `size`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.black_tophat([9, 9, 2, 9, 4, 4, 4, 9], size=3).tolist()
    [0, 0, 7, 0, 0, 0, 0, 0]
    """
@overload
def convolve1d(input: ArrayLike, weights: ArrayLike, axis: int = -1, output: NDArray[Any] | DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """Convolution along one axis: `correlate1d` with the weights mirrored.

    Parameters
    ----------
    input : array_like
        of any number of axes
    weights : array_like
        one axis of numbers
    axis : int
        that is filtered along
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.convolve1d([2, 8, 0, 4, 1, 9, 9, 0], weights=[1, 3])
    array([14, 24,  4, 13, 12, 36, 27,  0])
    """
@overload
def convolve1d(input: GpuArray, weights: ArrayLike, axis: int = -1, output: GpuArray | DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """Convolution along one axis: `correlate1d` with the weights mirrored.

    Parameters
    ----------
    input : array_like
        of any number of axes
    weights : array_like
        one axis of numbers
    axis : int
        that is filtered along
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.convolve1d([2, 8, 0, 4, 1, 9, 9, 0], weights=[1, 3])
    array([14, 24,  4, 13, 12, 36, 27,  0])
    """
@overload
def correlate1d(input: ArrayLike, weights: ArrayLike, axis: int = -1, output: NDArray[Any] | DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
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
@overload
def correlate1d(input: GpuArray, weights: ArrayLike, axis: int = -1, output: GpuArray | DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
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
@overload
def gaussian_filter(input: ArrayLike, sigma: float | Sequence[float], order: int | Sequence[int] = 0, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, truncate: float = 4.0, *, radius: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
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
@overload
def gaussian_filter(input: GpuArray, sigma: float | Sequence[float], order: int | Sequence[int] = 0, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, truncate: float = 4.0, *, radius: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
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
@overload
def gaussian_filter1d(input: ArrayLike, sigma: float, axis: int = -1, order: int = 0, output: NDArray[Any] | DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, truncate: float = 4.0, *, radius: int | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """A Gaussian, or a derivative of one, along one axis. See `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    sigma : scalar or sequence
        the standard deviation in pixels: of all axes, or of each of `axes`
    axis : int
        that is filtered along
    order : int
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
        of the Gaussian, in pixels
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.gaussian_filter1d([1.0, 2.0, 3.0, 4.0, 5.0], 1).round(4).tolist()
    [1.427, 2.0678, 3.0, 3.9322, 4.573]
    """
@overload
def gaussian_filter1d(input: GpuArray, sigma: float, axis: int = -1, order: int = 0, output: GpuArray | DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, truncate: float = 4.0, *, radius: int | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """A Gaussian, or a derivative of one, along one axis. See `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    sigma : scalar or sequence
        the standard deviation in pixels: of all axes, or of each of `axes`
    axis : int
        that is filtered along
    order : int
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
        of the Gaussian, in pixels
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.gaussian_filter1d([1.0, 2.0, 3.0, 4.0, 5.0], 1).round(4).tolist()
    [1.427, 2.0678, 3.0, 3.9322, 4.573]
    """
@overload
def gaussian_gradient_magnitude(input: ArrayLike, sigma: float | Sequence[float], output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, axes: int | Sequence[int] | None = None, **kwargs: Any) -> NDArray[Any]:
    """The vector length of the Gaussian's gradient. Also accepts `truncate`, `radius`, `threads` and `stream`
    of `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    sigma : scalar or sequence
        the standard deviation in pixels: of all axes, or of each of `axes`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    axes : tuple of int, optional
        the axes to filter; default: all
    **kwargs : truncate, radius, threads, stream
        as of `gaussian_filter`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.gaussian_gradient_magnitude([[0.0, 1.0, 2.0]] * 3, sigma=1)[1].round(4).tolist()
    [0.3494, 0.6988, 0.3494]
    """
@overload
def gaussian_gradient_magnitude(input: GpuArray, sigma: float | Sequence[float], output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, axes: int | Sequence[int] | None = None, **kwargs: Any) -> GpuArray:
    """The vector length of the Gaussian's gradient. Also accepts `truncate`, `radius`, `threads` and `stream`
    of `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    sigma : scalar or sequence
        the standard deviation in pixels: of all axes, or of each of `axes`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    axes : tuple of int, optional
        the axes to filter; default: all
    **kwargs : truncate, radius, threads, stream
        as of `gaussian_filter`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.gaussian_gradient_magnitude([[0.0, 1.0, 2.0]] * 3, sigma=1)[1].round(4).tolist()
    [0.3494, 0.6988, 0.3494]
    """
@overload
def gaussian_laplace(input: ArrayLike, sigma: float | Sequence[float], output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, axes: int | Sequence[int] | None = None, **kwargs: Any) -> NDArray[Any]:
    """The sum of second derivatives of the Gaussian along the axes. Also accepts `truncate`, `radius`,
    `threads` and `stream` of `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    sigma : scalar or sequence
        the standard deviation in pixels: of all axes, or of each of `axes`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    axes : tuple of int, optional
        the axes to filter; default: all
    **kwargs : truncate, radius, threads, stream
        as of `gaussian_filter`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.gaussian_laplace([[0.0, 0, 0], [0, 1, 0], [0, 0, 0]], sigma=1)[1].round(4).tolist()
    [-0.0303, -0.2675, -0.0303]
    """
@overload
def gaussian_laplace(input: GpuArray, sigma: float | Sequence[float], output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, axes: int | Sequence[int] | None = None, **kwargs: Any) -> GpuArray:
    """The sum of second derivatives of the Gaussian along the axes. Also accepts `truncate`, `radius`,
    `threads` and `stream` of `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    sigma : scalar or sequence
        the standard deviation in pixels: of all axes, or of each of `axes`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    axes : tuple of int, optional
        the axes to filter; default: all
    **kwargs : truncate, radius, threads, stream
        as of `gaussian_filter`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.gaussian_laplace([[0.0, 0, 0], [0, 1, 0], [0, 0, 0]], sigma=1)[1].round(4).tolist()
    [-0.0303, -0.2675, -0.0303]
    """
@overload
def generic_gradient_magnitude(input: ArrayLike, derivative: Callable[..., Any], output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, extra_arguments: tuple[Any, ...] = (), extra_keywords: dict[str, Any] | None = None, *, axes: int | Sequence[int] | None = None) -> NDArray[Any]:
    """The root of the sum of squared derivatives along the axes, computed by a callback. `derivative` has the
    signature of `derivative2` in `generic_laplace`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    derivative : callable
        makes a derivative along an axis; see `generic_laplace`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    extra_arguments : tuple
        arguments for the derivative function
    extra_keywords : dict, optional
        likewise
    axes : tuple of int, optional
        the axes to filter; default: all

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.generic_gradient_magnitude([[0.0, 3.0], [4.0, 7.0]], ndimage.sobel).tolist()
    [[20.0, 20.0], [20.0, 20.0]]
    """
@overload
def generic_gradient_magnitude(input: GpuArray, derivative: Callable[..., Any], output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, extra_arguments: tuple[Any, ...] = (), extra_keywords: dict[str, Any] | None = None, *, axes: int | Sequence[int] | None = None) -> GpuArray:
    """The root of the sum of squared derivatives along the axes, computed by a callback. `derivative` has the
    signature of `derivative2` in `generic_laplace`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    derivative : callable
        makes a derivative along an axis; see `generic_laplace`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    extra_arguments : tuple
        arguments for the derivative function
    extra_keywords : dict, optional
        likewise
    axes : tuple of int, optional
        the axes to filter; default: all

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.generic_gradient_magnitude([[0.0, 3.0], [4.0, 7.0]], ndimage.sobel).tolist()
    [[20.0, 20.0], [20.0, 20.0]]
    """
@overload
def generic_laplace(input: ArrayLike, derivative2: Callable[..., Any], output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, extra_arguments: tuple[Any, ...] = (), extra_keywords: dict[str, Any] | None = None, *, axes: int | Sequence[int] | None = None) -> NDArray[Any]:
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
@overload
def generic_laplace(input: GpuArray, derivative2: Callable[..., Any], output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, extra_arguments: tuple[Any, ...] = (), extra_keywords: dict[str, Any] | None = None, *, axes: int | Sequence[int] | None = None) -> GpuArray:
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
@overload
def grey_closing(input: ArrayLike, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """Dilation and then erosion: removes dark details smaller than the rectangle or disk.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    structure : array_like, optional
        zeros with the shape of the window; replaces `size`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_closing([9, 9, 2, 9, 4, 4, 4, 9], size=3).tolist()
    [9, 9, 9, 9, 4, 4, 4, 9]
    """
@overload
def grey_closing(input: GpuArray, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """Dilation and then erosion: removes dark details smaller than the rectangle or disk.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    structure : array_like, optional
        zeros with the shape of the window; replaces `size`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_closing([9, 9, 2, 9, 4, 4, 4, 9], size=3).tolist()
    [9, 9, 9, 9, 4, 4, 4, 9]
    """
@overload
def grey_dilation(input: ArrayLike, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """Dilation by a flat rectangle or disk: `maximum_filter` with the mirrored rectangle.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    structure : array_like, optional
        zeros with the shape of the window; replaces `size`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_dilation([5, 3, 9, 4, 8], size=3).tolist()
    [5, 9, 9, 9, 8]
    """
@overload
def grey_dilation(input: GpuArray, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """Dilation by a flat rectangle or disk: `maximum_filter` with the mirrored rectangle.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    structure : array_like, optional
        zeros with the shape of the window; replaces `size`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_dilation([5, 3, 9, 4, 8], size=3).tolist()
    [5, 9, 9, 9, 8]
    """
@overload
def grey_erosion(input: ArrayLike, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """Erosion by a flat rectangle or disk: `minimum_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    structure : array_like, optional
        zeros with the shape of the window; replaces `size`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_erosion([5, 3, 9, 4, 8], size=3).tolist()
    [3, 3, 3, 4, 4]
    >>> cross = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]  # a disk of radius 1
    >>> ndimage.grey_erosion([[9, 1, 9], [8, 8, 8], [8, 8, 2]], footprint=cross).tolist()
    [[1, 1, 1], [8, 1, 2], [8, 2, 2]]
    """
@overload
def grey_erosion(input: GpuArray, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """Erosion by a flat rectangle or disk: `minimum_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    structure : array_like, optional
        zeros with the shape of the window; replaces `size`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_erosion([5, 3, 9, 4, 8], size=3).tolist()
    [3, 3, 3, 4, 4]
    >>> cross = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]  # a disk of radius 1
    >>> ndimage.grey_erosion([[9, 1, 9], [8, 8, 8], [8, 8, 2]], footprint=cross).tolist()
    [[1, 1, 1], [8, 1, 2], [8, 2, 2]]
    """
@overload
def grey_opening(input: ArrayLike, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """Erosion and then dilation: removes bright details smaller than the rectangle or disk.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    structure : array_like, optional
        zeros with the shape of the window; replaces `size`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_opening([1, 1, 7, 1, 4, 4, 4, 1], size=3).tolist()
    [1, 1, 1, 1, 4, 4, 4, 1]
    """
@overload
def grey_opening(input: GpuArray, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """Erosion and then dilation: removes bright details smaller than the rectangle or disk.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    structure : array_like, optional
        zeros with the shape of the window; replaces `size`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.grey_opening([1, 1, 7, 1, 4, 4, 4, 1], size=3).tolist()
    [1, 1, 1, 1, 4, 4, 4, 1]
    """
@overload
def laplace(input: ArrayLike, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, axes: int | Sequence[int] | None = None, threads: int = 0) -> NDArray[Any]:
    """The sum of second differences, (1 -2 1), along the axes. See `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.laplace([[0, 0, 0], [0, 1, 0], [0, 0, 0]]).tolist()
    [[0, 1, 0], [1, -4, 1], [0, 1, 0]]
    """
@overload
def laplace(input: GpuArray, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, axes: int | Sequence[int] | None = None, threads: int = 0) -> GpuArray:
    """The sum of second differences, (1 -2 1), along the axes. See `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.laplace([[0, 0, 0], [0, 1, 0], [0, 0, 0]]).tolist()
    [[0, 1, 0], [1, -4, 1], [0, 1, 0]]
    """
@overload
def maximum_filter(input: ArrayLike, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """The maximum of `size` elements along each axis. See `minimum_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.maximum_filter([5, 3, 9, 4, 8], size=3).tolist()
    [5, 9, 9, 9, 8]
    """
@overload
def maximum_filter(input: GpuArray, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """The maximum of `size` elements along each axis. See `minimum_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.maximum_filter([5, 3, 9, 4, 8], size=3).tolist()
    [5, 9, 9, 9, 8]
    """
@overload
def maximum_filter1d(input: ArrayLike, size: int, axis: int = -1, output: NDArray[Any] | DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """The maximum of `size` elements along one axis. See `minimum_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    axis : int
        that is filtered along
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.maximum_filter1d([2, 8, 0, 4, 1, 9, 9, 0], size=3).tolist()
    [8, 8, 8, 4, 9, 9, 9, 9]
    """
@overload
def maximum_filter1d(input: GpuArray, size: int, axis: int = -1, output: GpuArray | DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """The maximum of `size` elements along one axis. See `minimum_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    axis : int
        that is filtered along
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.maximum_filter1d([2, 8, 0, 4, 1, 9, 9, 0], size=3).tolist()
    [8, 8, 8, 4, 9, 9, 9, 9]
    """
@overload
def median_filter(input: ArrayLike, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """The median of a window; for an even number of values the upper one. See `rank_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> import numpy as np
    >>> from sepconv import ndimage
    >>> ndimage.median_filter(np.array([[1, 2, 3], [4, 99, 6], [7, 8, 9]], np.uint8), size=3).tolist()
    [[2, 3, 3], [4, 6, 6], [7, 8, 9]]
    """
@overload
def median_filter(input: GpuArray, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """The median of a window; for an even number of values the upper one. See `rank_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> import numpy as np
    >>> from sepconv import ndimage
    >>> ndimage.median_filter(np.array([[1, 2, 3], [4, 99, 6], [7, 8, 9]], np.uint8), size=3).tolist()
    [[2, 3, 3], [4, 6, 6], [7, 8, 9]]
    """
@overload
def minimum_filter(input: ArrayLike, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """The minimum of `size` elements along each axis, at a cost almost independent of `size`. See
    `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window, of all axes or of each of `axes`
    footprint : array_like, optional
        replaces `size`: all true, or a disk, ``(x / radius)**2 + (y / radius_y)**2 <= 1``
        (`skimage.morphology.disk`), along two axes
    output, mode, cval, axes, threads, stream
        as for `gaussian_filter`
    origin : int or sequence
        offset of the window's centre from the pixel

    Raises
    ------
    ValueError
        for a footprint that is neither a rectangle nor a disk, and an origin with a disk; for arrays on a GPU
        also for even sizes and an origin

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.minimum_filter([5, 3, 9, 4, 8], size=3).tolist()
    [3, 3, 3, 4, 4]
    """
@overload
def minimum_filter(input: GpuArray, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """The minimum of `size` elements along each axis, at a cost almost independent of `size`. See
    `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window, of all axes or of each of `axes`
    footprint : array_like, optional
        replaces `size`: all true, or a disk, ``(x / radius)**2 + (y / radius_y)**2 <= 1``
        (`skimage.morphology.disk`), along two axes
    output, mode, cval, axes, threads, stream
        as for `gaussian_filter`
    origin : int or sequence
        offset of the window's centre from the pixel

    Raises
    ------
    ValueError
        for a footprint that is neither a rectangle nor a disk, and an origin with a disk; for arrays on a GPU
        also for even sizes and an origin

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.minimum_filter([5, 3, 9, 4, 8], size=3).tolist()
    [3, 3, 3, 4, 4]
    """
@overload
def minimum_filter1d(input: ArrayLike, size: int, axis: int = -1, output: NDArray[Any] | DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """The minimum of `size` elements along one axis. See `minimum_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    axis : int
        that is filtered along
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.minimum_filter1d([2, 8, 0, 4, 1, 9, 9, 0], size=3).tolist()
    [2, 0, 0, 0, 1, 1, 0, 0]
    """
@overload
def minimum_filter1d(input: GpuArray, size: int, axis: int = -1, output: GpuArray | DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """The minimum of `size` elements along one axis. See `minimum_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    axis : int
        that is filtered along
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.minimum_filter1d([2, 8, 0, 4, 1, 9, 9, 0], size=3).tolist()
    [2, 0, 0, 0, 1, 1, 0, 0]
    """
@overload
def percentile_filter(input: ArrayLike, percentile: float, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """A percentile of the values in a window. See `rank_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    percentile : float
        from 0 to 100; a negative one counts from 100
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.percentile_filter([3, 1, 4, 1, 5, 9], 50, size=3).tolist()
    [3, 3, 1, 4, 5, 9]
    """
@overload
def percentile_filter(input: GpuArray, percentile: float, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """A percentile of the values in a window. See `rank_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    percentile : float
        from 0 to 100; a negative one counts from 100
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.percentile_filter([3, 1, 4, 1, 5, 9], 50, size=3).tolist()
    [3, 3, 1, 4, 5, 9]
    """
@overload
def prewitt(input: ArrayLike, axis: int = -1, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """Prewitt's filter: differences along the axis, sums of three along all others.

    Parameters
    ----------
    input : array_like
        of any number of axes
    axis : int
        that is filtered along
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> import numpy as np
    >>> from sepconv import ndimage
    >>> ndimage.prewitt(np.array([[1, 2, 4], [1, 2, 4]])).tolist()
    [[3, 9, 6], [3, 9, 6]]
    """
@overload
def prewitt(input: GpuArray, axis: int = -1, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """Prewitt's filter: differences along the axis, sums of three along all others.

    Parameters
    ----------
    input : array_like
        of any number of axes
    axis : int
        that is filtered along
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> import numpy as np
    >>> from sepconv import ndimage
    >>> ndimage.prewitt(np.array([[1, 2, 4], [1, 2, 4]])).tolist()
    [[3, 9, 6], [3, 9, 6]]
    """
@overload
def rank_filter(input: ArrayLike, rank: int, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """The value of a given rank in a window.

    Parameters
    ----------
    input : array_like
        of any number of axes
    rank : int
        0 is the smallest value of the window; negative ranks count from the largest
    size : int or sequence
        size of the window: along all axes, or along each of `axes`; longer than 1 along at most three axes,
        and for arrays on a GPU along two
    footprint : array_like, optional
        replaces `size`: all elements must be true
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre before the pixel
    axes : tuple of int, optional
        the axes of the window; default: all
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
        for an invalid mode, rank, output or number of values, as SciPy
    ValueError
        for an invalid origin, axes or window, and for a footprint that is not a rectangle

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.rank_filter([3, 1, 4, 1, 5, 9], -2, size=3).tolist()
    [3, 3, 1, 4, 5, 9]
    """
@overload
def rank_filter(input: GpuArray, rank: int, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """The value of a given rank in a window.

    Parameters
    ----------
    input : array_like
        of any number of axes
    rank : int
        0 is the smallest value of the window; negative ranks count from the largest
    size : int or sequence
        size of the window: along all axes, or along each of `axes`; longer than 1 along at most three axes,
        and for arrays on a GPU along two
    footprint : array_like, optional
        replaces `size`: all elements must be true
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre before the pixel
    axes : tuple of int, optional
        the axes of the window; default: all
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
        for an invalid mode, rank, output or number of values, as SciPy
    ValueError
        for an invalid origin, axes or window, and for a footprint that is not a rectangle

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.rank_filter([3, 1, 4, 1, 5, 9], -2, size=3).tolist()
    [3, 3, 1, 4, 5, 9]
    """
@overload
def sobel(input: ArrayLike, axis: int = -1, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """Sobel's filter: differences along the axis, (1 2 1) along all others.

    Parameters
    ----------
    input : array_like
        of any number of axes
    axis : int
        that is filtered along
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> import numpy as np
    >>> from sepconv import ndimage
    >>> ndimage.sobel(np.array([[1, 2, 4], [1, 2, 4]])).tolist()
    [[4, 12, 8], [4, 12, 8]]
    """
@overload
def sobel(input: GpuArray, axis: int = -1, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """Sobel's filter: differences along the axis, (1 2 1) along all others.

    Parameters
    ----------
    input : array_like
        of any number of axes
    axis : int
        that is filtered along
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> import numpy as np
    >>> from sepconv import ndimage
    >>> ndimage.sobel(np.array([[1, 2, 4], [1, 2, 4]])).tolist()
    [[4, 12, 8], [4, 12, 8]]
    """
@overload
def uniform_filter(input: ArrayLike, size: int | Sequence[int] = 3, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """The mean of `size` elements along each axis. See `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> import numpy as np
    >>> from sepconv import ndimage
    >>> ndimage.uniform_filter(np.array([[0, 0, 0], [0, 90, 0], [0, 0, 0]]), size=3).tolist()
    [[10, 10, 10], [10, 10, 10], [10, 10, 10]]
    """
@overload
def uniform_filter(input: GpuArray, size: int | Sequence[int] = 3, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """The mean of `size` elements along each axis. See `gaussian_filter`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> import numpy as np
    >>> from sepconv import ndimage
    >>> ndimage.uniform_filter(np.array([[0, 0, 0], [0, 90, 0], [0, 0, 0]]), size=3).tolist()
    [[10, 10, 10], [10, 10, 10], [10, 10, 10]]
    """
@overload
def uniform_filter1d(input: ArrayLike, size: int, axis: int = -1, output: NDArray[Any] | DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """The mean of `size` elements along one axis. See `correlate1d`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    axis : int
        that is filtered along
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.uniform_filter1d([2.0, 8.0, 0.0, 4.0, 1.0, 9.0, 9.0, 0.0], size=2).tolist()
    [2.0, 5.0, 4.0, 2.0, 2.5, 5.0, 9.0, 4.5]
    """
@overload
def uniform_filter1d(input: GpuArray, size: int, axis: int = -1, output: GpuArray | DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """The mean of `size` elements along one axis. See `correlate1d`.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    axis : int
        that is filtered along
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.uniform_filter1d([2.0, 8.0, 0.0, 4.0, 1.0, 9.0, 9.0, 0.0], size=2).tolist()
    [2.0, 5.0, 4.0, 2.0, 2.5, 5.0, 9.0, 4.5]
    """
@overload
def white_tophat(input: ArrayLike, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: NDArray[Any] | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> NDArray[Any]:
    """The input minus its opening: bright details smaller than the rectangle or disk.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    structure : array_like, optional
        zeros with the shape of the window; replaces `size`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.white_tophat([1, 1, 7, 1, 4, 4, 4, 1], size=3).tolist()
    [0, 0, 6, 0, 0, 0, 0, 0]
    """
@overload
def white_tophat(input: GpuArray, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: GpuArray | DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 0, stream: int | HasStream | None = None) -> GpuArray:
    """The input minus its opening: bright details smaller than the rectangle or disk.

    Parameters
    ----------
    input : array_like
        of any number of axes
    size : int or sequence
        size of the window: of all axes, or of each of `axes`
    footprint : array_like, optional
        replaces `size`: see `minimum_filter`, and `rank_filter` for ranks
    structure : array_like, optional
        zeros with the shape of the window; replaces `size`
    output : ndarray or dtype, optional
        output array, or the result's type; default: the type of `input`
    mode : str or sequence
        extension of lines beyond their ends; see `correlate1d`
    cval : scalar
        value beyond the edges with ``mode='constant'``
    origin : int or sequence
        offset of the window's centre from the pixel
    axes : tuple of int, optional
        the axes to filter; default: all
    threads : int
        maximum number of threads; 0: all processors that this process may use
    stream : int or object with ``__cuda_stream__``, optional
        for an array on a GPU: see `sepconv.Chain.__call__`

    Returns
    -------
    ndarray
        of `input`'s shape

    Examples
    --------
    >>> from sepconv import ndimage
    >>> ndimage.white_tophat([1, 1, 7, 1, 4, 4, 4, 1], size=3).tolist()
    [0, 0, 6, 0, 0, 0, 0, 0]
    """
