# Made by tests/python/make_stubs.py.
from collections.abc import Sequence
from os import PathLike
from typing import Literal

from numpy.typing import ArrayLike

from sepconv._chain import Chain

__all__ = ["gaussian", "box", "binomial", "sobel", "scharr", "derivative", "gradient", "gaussian_laplace", "dog", "unsharp", "convolve", "mix_channels", "scale", "cast", "stretch", "clamp", "abs", "threshold", "transpose", "gemm", "reduce", "resize", "median", "percentile", "rank", "erode", "dilate", "opening", "closing", "tophat", "blackhat", "stddev", "local_normalize", "add", "subtract", "multiply", "divide", "min", "max", "blend"]

def gaussian(sigma: float, *, sigma_y: float | None = None, truncate: float = 4.0, radius: int | None = None, radius_y: int | None = None, order: int = 0, order_y: int | None = None, sigma_z: float | None = None, radius_z: int | None = None, order_z: int = 0, method: Literal['exact', 'multirate'] = 'exact', border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, flip: bool = False, nodata: Literal['ignore', 'propagate', 'fill'] | None = None) -> Chain:
    """Gaussian blur, as scipy.ndimage.gaussian_filter.

    Parameters
    ----------
    sigma : float
        standard deviation; 0 leaves the axis alone (pixels; 0 or more; needed)
    sigma_y : float | None
        standard deviation along y; default: as along x (pixels; 0 or more)
    truncate : float
        the radius in standard deviations: int(truncate * sigma + 0.5) (sigmas; 0 or more; default 4; not with radius)
    radius : int | None
        pixels on each side of the center; default: from truncate (pixels; between 0 and 1048576)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576)
    order : int
        order of the derivative along both axes; 0 blurs (between 0 and 3; default 0)
    order_y : int | None
        order of the derivative along y; default: as along x (between 0 and 3)
    sigma_z : float | None
        standard deviation along z of a stack; default: each plane by itself (pixels; 0 or more)
    radius_z : int | None
        radius along z; default: from truncate (pixels; between 0 and 1048576; only with sigma_z)
    order_z : int
        order of the derivative along z (between 0 and 3; default 0; only with sigma_z)
    method : Literal['exact', 'multirate']
        exact: all taps. multirate: decimate, blur, interpolate, for sigma of 8 to 10000; the cost does not grow with sigma, and the error is at most 1e-4 of the Gaussian (exact multirate; default exact)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    flip : bool
        flip the kernel: convolution in place of correlation (false true; default false)
    nodata : Literal['ignore', 'propagate', 'fill'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. fill: as ignore, and missing pixels get a value. Default: ignore, if the source declares nodata; propagate for a kernel with negative weights (ignore propagate fill)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.gaussian(sigma=2.5)  # doctest: +ELLIPSIS
    Chain('gaussian...')
    """
def box(radius: int = 1, *, radius_y: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, nodata: Literal['ignore', 'propagate', 'fill'] | None = None, radius_z: int | None = None) -> Chain:
    """Mean of a window of (2 radius + 1) x (2 radius_y + 1) pixels.

    Parameters
    ----------
    radius : int
        pixels on each side of the center (pixels; between 0 and 1048576; default 1)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    nodata : Literal['ignore', 'propagate', 'fill'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. fill: as ignore, and missing pixels get a value. Default: ignore, if the source declares nodata (ignore propagate fill)
    radius_z : int | None
        radius along z of a stack; default: each plane by itself (pixels; between 0 and 1048576)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.box(radius=4)  # doctest: +ELLIPSIS
    Chain('box...')
    """
def binomial(radius: int = 1, *, radius_y: int | None = None, radius_z: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, flip: bool = False, nodata: Literal['ignore', 'propagate', 'fill'] | None = None) -> Chain:
    """Row 2 radius of Pascal's triangle, sum 1: (1 2 1)/4 for radius 1.

    Parameters
    ----------
    radius : int
        pixels on each side of the center (pixels; between 0 and 512; default 1)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 512)
    radius_z : int | None
        radius along z of a stack; default: each plane by itself (pixels; between 0 and 512)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    flip : bool
        flip the kernel: convolution in place of correlation (false true; default false)
    nodata : Literal['ignore', 'propagate', 'fill'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. fill: as ignore, and missing pixels get a value. Default: ignore, if the source declares nodata; propagate for a kernel with negative weights (ignore propagate fill)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.binomial(radius=2)  # doctest: +ELLIPSIS
    Chain('binomial...')
    """
def sobel(axis: Literal['x', 'y', 'z'] = 'x', *, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, flip: bool = False, nodata: Literal['propagate'] | None = None) -> Chain:
    """Sobel derivative: (-1 0 1) along the axis, (1 2 1) across it.

    Parameters
    ----------
    axis : Literal['x', 'y', 'z']
        x: from column to column. y: from row to row. z: from plane to plane of a stack (x y z; default x)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    flip : bool
        flip the kernel: convolution in place of correlation (false true; default false)
    nodata : Literal['propagate'] | None
        nodata handling. propagate: a missing pixel in the window makes the result missing (propagate)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.sobel(axis='x')  # doctest: +ELLIPSIS
    Chain('sobel...')
    """
def scharr(axis: Literal['x', 'y', 'z'] = 'x', *, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, flip: bool = False, nodata: Literal['propagate'] | None = None) -> Chain:
    """Scharr derivative: (-1 0 1) along the axis, (3 10 3) across it.

    Parameters
    ----------
    axis : Literal['x', 'y', 'z']
        x: from column to column. y: from row to row. z: from plane to plane of a stack (x y z; default x)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    flip : bool
        flip the kernel: convolution in place of correlation (false true; default false)
    nodata : Literal['propagate'] | None
        nodata handling. propagate: a missing pixel in the window makes the result missing (propagate)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.scharr(axis='y')  # doctest: +ELLIPSIS
    Chain('scharr...')
    """
def derivative(order: int = 1, *, axis: Literal['x', 'y', 'z'] = 'x', radius: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, flip: bool = False, nodata: Literal['propagate'] | None = None) -> Chain:
    """Central difference of any order along one axis, nothing across.

    Parameters
    ----------
    order : int
        order of the derivative (between 1 and 16; default 1)
    axis : Literal['x', 'y', 'z']
        x: from column to column. y: from row to row. z: from plane to plane of a stack (x y z; default x)
    radius : int | None
        radius of the kernel, at least (order + 1) / 2; a larger one smooths with binomial weights along the axis (pixels; between 0 and 64)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    flip : bool
        flip the kernel: convolution in place of correlation (false true; default false)
    nodata : Literal['propagate'] | None
        nodata handling. propagate: a missing pixel in the window makes the result missing (propagate)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.derivative(order=2, axis='y')  # doctest: +ELLIPSIS
    Chain('derivative...')
    """
def gradient(operator: Literal['sobel', 'scharr', 'gaussian'] = 'sobel', *, axes: Literal['xy', 'xyz'] = 'xy', sigma: float | None = None, sigma_y: float | None = None, truncate: float = 4.0, radius: int | None = None, radius_y: int | None = None, sigma_z: float | None = None, radius_z: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, flip: bool = False, nodata: Literal['propagate'] | None = None) -> Chain:
    """Gradient magnitude: sqrt(gx^2 + gy^2), with gz^2 for axes=xyz.

    Parameters
    ----------
    operator : Literal['sobel', 'scharr', 'gaussian']
        derivative filter (sobel scharr gaussian; default sobel)
    axes : Literal['xy', 'xyz']
        xy: each plane by itself. xyz: also from plane to plane of a stack (xy xyz; default xy)
    sigma : float | None
        standard deviation (pixels; greater than 0; needed; only with operator=gaussian)
    sigma_y : float | None
        standard deviation along y; default: as along x (pixels; greater than 0; only with operator=gaussian)
    truncate : float
        the radius in standard deviations: int(truncate * sigma + 0.5) (sigmas; 0 or more; default 4; only with operator=gaussian; not with radius)
    radius : int | None
        pixels on each side of the center; default: from truncate (pixels; between 0 and 1048576; only with operator=gaussian)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576; only with operator=gaussian)
    sigma_z : float | None
        standard deviation along z, with axes=xyz; default: as along x (pixels; greater than 0; only with operator=gaussian)
    radius_z : int | None
        radius along z, with axes=xyz; default: from truncate (pixels; between 0 and 1048576; only with operator=gaussian)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    flip : bool
        flip the kernel: convolution in place of correlation (false true; default false)
    nodata : Literal['propagate'] | None
        nodata handling. propagate: a missing pixel in the window makes the result missing (propagate)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.gradient(operator='scharr')  # doctest: +ELLIPSIS
    Chain('gradient...')
    """
def gaussian_laplace(sigma: float, *, sigma_y: float | None = None, truncate: float = 4.0, radius: int | None = None, radius_y: int | None = None, sigma_z: float | None = None, radius_z: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, flip: bool = False, nodata: Literal['propagate'] | None = None) -> Chain:
    """Laplacian of the Gaussian, as scipy.ndimage.gaussian_laplace.

    Parameters
    ----------
    sigma : float
        standard deviation (pixels; greater than 0; needed)
    sigma_y : float | None
        standard deviation along y; default: as along x (pixels; greater than 0)
    truncate : float
        the radius in standard deviations: int(truncate * sigma + 0.5) (sigmas; 0 or more; default 4; not with radius)
    radius : int | None
        pixels on each side of the center; default: from truncate (pixels; between 0 and 1048576)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576)
    sigma_z : float | None
        standard deviation along z of a stack; default: each plane by itself (pixels; greater than 0)
    radius_z : int | None
        radius along z; default: from truncate (pixels; between 0 and 1048576; only with sigma_z)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    flip : bool
        flip the kernel: convolution in place of correlation (false true; default false)
    nodata : Literal['propagate'] | None
        nodata handling. propagate: a missing pixel in the window makes the result missing (propagate)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.gaussian_laplace(sigma=2)  # doctest: +ELLIPSIS
    Chain('gaussian_laplace...')
    """
def dog(sigma: float, sigma2: float, *, sigma_y: float | None = None, truncate: float = 4.0, radius: int | None = None, radius_y: int | None = None, sigma2_y: float | None = None, sigma_z: float | None = None, radius_z: int | None = None, sigma2_z: float | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, flip: bool = False, nodata: Literal['ignore', 'propagate', 'fill'] | None = None) -> Chain:
    """Difference of two Gaussians: blur(sigma) - blur(sigma2).

    Parameters
    ----------
    sigma : float
        standard deviation; 0 leaves the axis alone (pixels; 0 or more; needed)
    sigma2 : float
        standard deviation of the blur that is subtracted (pixels; 0 or more; needed)
    sigma_y : float | None
        standard deviation along y; default: as along x (pixels; 0 or more)
    truncate : float
        the radius in standard deviations: int(truncate * sigma + 0.5) (sigmas; 0 or more; default 4; not with radius)
    radius : int | None
        pixels on each side of the center; default: from truncate (pixels; between 0 and 1048576)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576)
    sigma2_y : float | None
        standard deviation of that blur along y; default: as along x (pixels; 0 or more)
    sigma_z : float | None
        standard deviation along z of a stack; default: each plane by itself (pixels; 0 or more)
    radius_z : int | None
        radius along z; default: from truncate (pixels; between 0 and 1048576; only with sigma_z)
    sigma2_z : float | None
        standard deviation of that blur along z (pixels; 0 or more; needed; only with sigma_z)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    flip : bool
        flip the kernel: convolution in place of correlation (false true; default false)
    nodata : Literal['ignore', 'propagate', 'fill'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. fill: as ignore, and missing pixels get a value. Default: ignore, if the source declares nodata; propagate for a kernel with negative weights (ignore propagate fill)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.dog(sigma=1, sigma2=1.6)  # doctest: +ELLIPSIS
    Chain('dog...')
    """
def unsharp(sigma: float, *, sigma_y: float | None = None, truncate: float = 4.0, radius: int | None = None, radius_y: int | None = None, sigma_z: float | None = None, radius_z: int | None = None, amount: float = 1.0, threshold: float = 0.0, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, flip: bool = False, nodata: Literal['ignore', 'propagate'] | None = None) -> Chain:
    """Unsharp mask: x + amount (x - blur(x)) where |x - blur(x)| reaches the threshold.

    Parameters
    ----------
    sigma : float
        standard deviation; 0 leaves the axis alone (pixels; 0 or more; needed)
    sigma_y : float | None
        standard deviation along y; default: as along x (pixels; 0 or more)
    truncate : float
        the radius in standard deviations: int(truncate * sigma + 0.5) (sigmas; 0 or more; default 4; not with radius)
    radius : int | None
        pixels on each side of the center; default: from truncate (pixels; between 0 and 1048576)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576)
    sigma_z : float | None
        standard deviation along z of a stack; default: each plane by itself (pixels; 0 or more)
    radius_z : int | None
        radius along z; default: from truncate (pixels; between 0 and 1048576; only with sigma_z)
    amount : float
        how much of the difference is added (default 1)
    threshold : float
        smallest difference that is sharpened (0 or more; default 0)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    flip : bool
        flip the kernel: convolution in place of correlation (false true; default false)
    nodata : Literal['ignore', 'propagate'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. Default: ignore, if the source declares nodata (ignore propagate)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.unsharp(sigma=1.5, amount=0.8)  # doctest: +ELLIPSIS
    Chain('unsharp...')
    """
def convolve(row: Sequence[float] | None = None, *, col: Sequence[float] | None = None, z: Sequence[float] | None = None, file: str | PathLike[str] | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, flip: bool = False, nodata: Literal['ignore', 'propagate', 'fill'] | None = None) -> Chain:
    """A separable filter with the given taps, applied as correlation.

    Parameters
    ----------
    row : Sequence[float] | None
        taps along x, an odd number; default: no pass along x (not with file)
    col : Sequence[float] | None
        taps along y, an odd number; default: no pass along y (not with file)
    z : Sequence[float] | None
        taps along z of a stack, an odd number
    file : str | PathLike[str] | None
        text or NPY file of two rows: taps along x, taps along y; one row: for both
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    flip : bool
        flip the kernel: convolution in place of correlation (false true; default false)
    nodata : Literal['ignore', 'propagate', 'fill'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. fill: as ignore, and missing pixels get a value. Default: ignore, if the source declares nodata; propagate for a kernel with negative weights (ignore propagate fill)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.convolve(row=[-1, 0, 1], col=[1, 2, 1])  # doctest: +ELLIPSIS
    Chain('convolve...')
    """
def mix_channels(file: str | PathLike[str] | None = None, *, values: Sequence[float] | None = None, rows: int = 1) -> Chain:
    """Weighted sums of channels: a row of weights per channel of the result.

    Parameters
    ----------
    file : str | PathLike[str] | None
        text or NPY file: a row per channel of the result, a column per channel of the input; one more column: offsets
    values : Sequence[float] | None
        the matrix, row by row, in place of a file (not with file)
    rows : int
        number of rows of the matrix (1 or more; default 1; only with values)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.mix_channels(values=[0.299, 0.587, 0.114])  # doctest: +ELLIPSIS
    Chain('mix_channels...')
    """
def scale(factor: float = 1.0, *, offset: float = 0.0) -> Chain:
    """X * factor + offset, rounded once (for another size: resize).

    Parameters
    ----------
    factor : float
        factor (default 1)
    offset : float
        offset, added last (default 0)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.scale(factor=0.5, offset=16)  # doctest: +ELLIPSIS
    Chain('scale...')
    """
def cast(type: Literal['u8', 'u16', 'i16', 'f32', 'f64']) -> Chain:
    """Converts to another pixel type: rounds half to even and saturates.

    Parameters
    ----------
    type : Literal['u8', 'u16', 'i16', 'f32', 'f64']
        pixel type (u8 u16 i16 f32 f64; needed)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.cast(type='f32')  # doctest: +ELLIPSIS
    Chain('cast...')
    """
def stretch(low: float, high: float, type: Literal['u8', 'u16', 'i16', 'f32', 'f64']) -> Chain:
    """Maps low..high to the whole range of another pixel type.

    Parameters
    ----------
    low : float
        value that becomes 0 (needed)
    high : float
        value that becomes the maximum of the type (f32, f64: 1) (needed)
    type : Literal['u8', 'u16', 'i16', 'f32', 'f64']
        pixel type (u8 u16 i16 f32 f64; needed)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.stretch(low=0, high=4095, type='u8')  # doctest: +ELLIPSIS
    Chain('stretch...')
    """
def clamp(low: float | None = None, high: float | None = None) -> Chain:
    """Limits values to [low, high], or on one side.

    Parameters
    ----------
    low : float | None
        lower limit; default: none
    high : float | None
        upper limit; default: none

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.clamp(low=0, high=200)  # doctest: +ELLIPSIS
    Chain('clamp...')
    """
def abs() -> Chain:
    """Absolute value.

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.abs()  # doctest: +ELLIPSIS
    Chain('abs...')
    """
def threshold(at: float, *, above: float = 1.0, below: float = 0.0) -> Chain:
    """Above where x > at, else below.

    Parameters
    ----------
    at : float
        the threshold (needed)
    above : float
        value where x > at (default 1)
    below : float
        value elsewhere (default 0)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.threshold(at=128, above=255)  # doctest: +ELLIPSIS
    Chain('threshold...')
    """
def transpose() -> Chain:
    """Exchanges rows and columns; channels stay.

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.transpose()  # doctest: +ELLIPSIS
    Chain('transpose...')
    """
def gemm(file: str | PathLike[str], *, side: Literal['right', 'left'] = 'right') -> Chain:
    """Matrix product: image times matrix, over columns and channels, or matrix times image.

    Parameters
    ----------
    file : str | PathLike[str]
        NPY or any image file of one channel: a matrix of f32 or f64 (needed)
    side : Literal['right', 'left']
        right: image times matrix, for one channel. left: matrix times image, channel by channel (right left; default right)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.gemm(file='B.npy')  # doctest: +SKIP
    Chain('gemm...')
    """
def reduce(factor: int, *, factor_y: int | None = None, filter: Literal['box', 'binomial', 'nearest'] = 'box', nodata: Literal['ignore', 'propagate'] | None = None) -> Chain:
    """Downsamples by whole factors: mean of each block of factor x factor_y pixels.

    Parameters
    ----------
    factor : int
        width of the blocks; their height, too, without factor_y (pixels; between 1 and 2147483647; needed)
    factor_y : int | None
        height of the blocks; default: factor (pixels; between 1 and 2147483647)
    filter : Literal['box', 'binomial', 'nearest']
        box: mean of the block. binomial: weighted mean that reaches into the neighbouring blocks. nearest: the middle pixel, for classes and masks (box binomial nearest; default box)
    nodata : Literal['ignore', 'propagate'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. Default: ignore, if the source declares nodata (ignore propagate)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.reduce(factor=2)  # doctest: +ELLIPSIS
    Chain('reduce...')
    """
def resize(size: tuple[int, int] | str | None = None, *, scale: float | None = None, filter: Literal['linear', 'cubic', 'lanczos3', 'area', 'box', 'nearest'] = 'linear', nodata: Literal['ignore', 'propagate'] | None = None) -> Chain:
    """Resamples to another size, with antialiasing.

    Parameters
    ----------
    size : tuple[int, int] | str | None
        COLSxROWS of the result; or give scale (pixels; between 1 and 2147483647; needed; not with scale); here (rows, cols), or such a text
    scale : float | None
        scale factor along both axes (greater than 0)
    filter : Literal['linear', 'cubic', 'lanczos3', 'area', 'box', 'nearest']
        linear, cubic, lanczos3, box: Pillow's BILINEAR, BICUBIC, LANCZOS and BOX, antialiased. area: OpenCV's INTER_AREA, GDAL's average. nearest: one pixel, for classes and masks (linear cubic lanczos3 area box nearest; default linear)
    nodata : Literal['ignore', 'propagate'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. Default: ignore, if the source declares nodata (ignore propagate)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.resize(scale=0.5)  # doctest: +ELLIPSIS
    Chain('resize...')
    """
def median(radius: int = 1, *, radius_y: int | None = None, size: tuple[int, int] | str | None = None, origin: int = 0, origin_y: int = 0, radius_z: int | None = None, size_z: int | None = None, origin_z: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, nodata: Literal['ignore', 'propagate', 'fill'] | None = None) -> Chain:
    """Median of a window of (2 radius + 1) x (2 radius_y + 1) pixels.

    Parameters
    ----------
    radius : int
        pixels on each side of the center (pixels; between 0 and 1024; default 1; not with size)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1024; not with size)
    size : tuple[int, int] | str | None
        COLSxROWS of the window, in place of radius; its center is pixel size / 2, counted from 0; here (rows, cols), or such a text
    origin : int
        shift of the window to the left (pixels; between -1024 and 1024; default 0)
    origin_y : int
        shift of the window upwards (pixels; between -1024 and 1024; default 0)
    radius_z : int | None
        radius along z of a stack; default: each plane by itself (pixels; between 0 and 1024; not with size_z)
    size_z : int | None
        planes of the window, in place of radius_z (pixels; between 1 and 2049)
    origin_z : int | None
        shift of the window towards the first plane; default 0 (pixels; between -1024 and 1024)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    nodata : Literal['ignore', 'propagate', 'fill'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. fill: as ignore, and missing pixels get a value. Default: ignore, if the source declares nodata (ignore propagate fill)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.median(radius=2)  # doctest: +ELLIPSIS
    Chain('median...')
    """
def percentile(percent: float, *, radius: int = 1, radius_y: int | None = None, size: tuple[int, int] | str | None = None, origin: int = 0, origin_y: int = 0, radius_z: int | None = None, size_z: int | None = None, origin_z: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, nodata: Literal['ignore', 'propagate', 'fill'] | None = None) -> Chain:
    """Percentile of the values in the window.

    Parameters
    ----------
    percent : float
        50 is the median, 100 the maximum (%; between 0 and 100; needed)
    radius : int
        pixels on each side of the center (pixels; between 0 and 1024; default 1; not with size)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1024; not with size)
    size : tuple[int, int] | str | None
        COLSxROWS of the window, in place of radius; its center is pixel size / 2, counted from 0; here (rows, cols), or such a text
    origin : int
        shift of the window to the left (pixels; between -1024 and 1024; default 0)
    origin_y : int
        shift of the window upwards (pixels; between -1024 and 1024; default 0)
    radius_z : int | None
        radius along z of a stack; default: each plane by itself (pixels; between 0 and 1024; not with size_z)
    size_z : int | None
        planes of the window, in place of radius_z (pixels; between 1 and 2049)
    origin_z : int | None
        shift of the window towards the first plane; default 0 (pixels; between -1024 and 1024)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    nodata : Literal['ignore', 'propagate', 'fill'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. fill: as ignore, and missing pixels get a value. Default: ignore, if the source declares nodata (ignore propagate fill)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.percentile(percent=10, radius=4)  # doctest: +ELLIPSIS
    Chain('percentile...')
    """
def rank(rank: int, *, radius: int = 1, radius_y: int | None = None, size: tuple[int, int] | str | None = None, origin: int = 0, origin_y: int = 0, radius_z: int | None = None, size_z: int | None = None, origin_z: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, nodata: Literal['ignore', 'propagate', 'fill'] | None = None) -> Chain:
    """K-th smallest value in the window.

    Parameters
    ----------
    rank : int
        0 is the smallest value; negative ranks count from the largest, -1 (between -4198401 and 4198400; needed)
    radius : int
        pixels on each side of the center (pixels; between 0 and 1024; default 1; not with size)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1024; not with size)
    size : tuple[int, int] | str | None
        COLSxROWS of the window, in place of radius; its center is pixel size / 2, counted from 0; here (rows, cols), or such a text
    origin : int
        shift of the window to the left (pixels; between -1024 and 1024; default 0)
    origin_y : int
        shift of the window upwards (pixels; between -1024 and 1024; default 0)
    radius_z : int | None
        radius along z of a stack; default: each plane by itself (pixels; between 0 and 1024; not with size_z)
    size_z : int | None
        planes of the window, in place of radius_z (pixels; between 1 and 2049)
    origin_z : int | None
        shift of the window towards the first plane; default 0 (pixels; between -1024 and 1024)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    nodata : Literal['ignore', 'propagate', 'fill'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. fill: as ignore, and missing pixels get a value. Default: ignore, if the source declares nodata (ignore propagate fill)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.rank(rank=3, radius=1)  # doctest: +ELLIPSIS
    Chain('rank...')
    """
def erode(radius: int = 1, *, radius_y: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, nodata: Literal['ignore', 'propagate', 'fill'] | None = None, radius_z: int | None = None, shape: Literal['box', 'disk'] = 'box') -> Chain:
    """Minimum of a window of (2 radius + 1) x (2 radius_y + 1) pixels, or of a disk.

    Parameters
    ----------
    radius : int
        pixels on each side of the center (pixels; between 0 and 1048576; default 1)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    nodata : Literal['ignore', 'propagate', 'fill'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. fill: as ignore, and missing pixels get a value. Default: ignore, if the source declares nodata (ignore propagate fill)
    radius_z : int | None
        radius along z of a stack; default: each plane by itself (pixels; between 0 and 1048576)
    shape : Literal['box', 'disk']
        box: the whole window. disk: its pixels with (x / radius)^2 + (y / radius_y)^2 <= 1, with radius_z a cylinder (box disk; default box)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.erode(radius=3)  # doctest: +ELLIPSIS
    Chain('erode...')
    """
def dilate(radius: int = 1, *, radius_y: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, nodata: Literal['ignore', 'propagate', 'fill'] | None = None, radius_z: int | None = None, shape: Literal['box', 'disk'] = 'box') -> Chain:
    """Maximum of a window of (2 radius + 1) x (2 radius_y + 1) pixels, or of a disk.

    Parameters
    ----------
    radius : int
        pixels on each side of the center (pixels; between 0 and 1048576; default 1)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    nodata : Literal['ignore', 'propagate', 'fill'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. fill: as ignore, and missing pixels get a value. Default: ignore, if the source declares nodata (ignore propagate fill)
    radius_z : int | None
        radius along z of a stack; default: each plane by itself (pixels; between 0 and 1048576)
    shape : Literal['box', 'disk']
        box: the whole window. disk: its pixels with (x / radius)^2 + (y / radius_y)^2 <= 1, with radius_z a cylinder (box disk; default box)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.dilate(radius=3)  # doctest: +ELLIPSIS
    Chain('dilate...')
    """
def opening(radius: int = 1, *, radius_y: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, nodata: Literal['ignore', 'propagate', 'fill'] | None = None, radius_z: int | None = None, shape: Literal['box', 'disk'] = 'box') -> Chain:
    """Erosion, then dilation: removes bright details smaller than the window.

    Parameters
    ----------
    radius : int
        pixels on each side of the center (pixels; between 0 and 1048576; default 1)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    nodata : Literal['ignore', 'propagate', 'fill'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. fill: as ignore, and missing pixels get a value. Default: ignore, if the source declares nodata (ignore propagate fill)
    radius_z : int | None
        radius along z of a stack; default: each plane by itself (pixels; between 0 and 1048576)
    shape : Literal['box', 'disk']
        box: the whole window. disk: its pixels with (x / radius)^2 + (y / radius_y)^2 <= 1, with radius_z a cylinder (box disk; default box)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.opening(radius=4, shape='disk')  # doctest: +ELLIPSIS
    Chain('opening...')
    """
def closing(radius: int = 1, *, radius_y: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, nodata: Literal['ignore', 'propagate', 'fill'] | None = None, radius_z: int | None = None, shape: Literal['box', 'disk'] = 'box') -> Chain:
    """Dilation, then erosion: removes dark details smaller than the window.

    Parameters
    ----------
    radius : int
        pixels on each side of the center (pixels; between 0 and 1048576; default 1)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    nodata : Literal['ignore', 'propagate', 'fill'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. fill: as ignore, and missing pixels get a value. Default: ignore, if the source declares nodata (ignore propagate fill)
    radius_z : int | None
        radius along z of a stack; default: each plane by itself (pixels; between 0 and 1048576)
    shape : Literal['box', 'disk']
        box: the whole window. disk: its pixels with (x / radius)^2 + (y / radius_y)^2 <= 1, with radius_z a cylinder (box disk; default box)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.closing(radius=3)  # doctest: +ELLIPSIS
    Chain('closing...')
    """
def tophat(radius: int = 1, *, radius_y: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, nodata: Literal['ignore', 'propagate'] | None = None, radius_z: int | None = None, shape: Literal['box', 'disk'] = 'box') -> Chain:
    """Image minus its opening: bright details smaller than the window.

    Parameters
    ----------
    radius : int
        pixels on each side of the center (pixels; between 0 and 1048576; default 1)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    nodata : Literal['ignore', 'propagate'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. Default: ignore, if the source declares nodata (ignore propagate)
    radius_z : int | None
        radius along z of a stack; default: each plane by itself (pixels; between 0 and 1048576)
    shape : Literal['box', 'disk']
        box: the whole window. disk: its pixels with (x / radius)^2 + (y / radius_y)^2 <= 1, with radius_z a cylinder (box disk; default box)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.tophat(radius=9)  # doctest: +ELLIPSIS
    Chain('tophat...')
    """
def blackhat(radius: int = 1, *, radius_y: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, nodata: Literal['ignore', 'propagate'] | None = None, radius_z: int | None = None, shape: Literal['box', 'disk'] = 'box') -> Chain:
    """Closing minus the image: dark details smaller than the window.

    Parameters
    ----------
    radius : int
        pixels on each side of the center (pixels; between 0 and 1048576; default 1)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    nodata : Literal['ignore', 'propagate'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. Default: ignore, if the source declares nodata (ignore propagate)
    radius_z : int | None
        radius along z of a stack; default: each plane by itself (pixels; between 0 and 1048576)
    shape : Literal['box', 'disk']
        box: the whole window. disk: its pixels with (x / radius)^2 + (y / radius_y)^2 <= 1, with radius_z a cylinder (box disk; default box)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.blackhat(radius=9)  # doctest: +ELLIPSIS
    Chain('blackhat...')
    """
def stddev(radius: int = 1, *, radius_y: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, nodata: Literal['ignore', 'propagate', 'fill'] | None = None, radius_z: int | None = None) -> Chain:
    """Standard deviation of a window of (2 radius + 1) x (2 radius_y + 1) pixels.

    Parameters
    ----------
    radius : int
        pixels on each side of the center (pixels; between 0 and 1048576; default 1)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    nodata : Literal['ignore', 'propagate', 'fill'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. fill: as ignore, and missing pixels get a value. Default: ignore, if the source declares nodata (ignore propagate fill)
    radius_z : int | None
        radius along z of a stack; default: each plane by itself (pixels; between 0 and 1048576)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.stddev(radius=4)  # doctest: +ELLIPSIS
    Chain('stddev...')
    """
def local_normalize(radius: int = 1, *, radius_y: int | None = None, border: Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap'] = 'reflect101', value: float = 0.0, nodata: Literal['ignore', 'propagate'] | None = None, radius_z: int | None = None, min_std: float = 0.0) -> Chain:
    """Local contrast: (pixel - mean) / standard deviation.

    Parameters
    ----------
    radius : int
        pixels on each side of the center (pixels; between 0 and 1048576; default 1)
    radius_y : int | None
        radius along y; default: as along x (pixels; between 0 and 1048576)
    border : Literal['reflect101', 'reflect', 'replicate', 'constant', 'wrap']
        pixels beyond the edges of abcd. reflect101: dcb|abcd|cba, reflect: cba|abcd|dcb, replicate: aaa|abcd|ddd, wrap: bcd|abcd|abc, constant: the key value (reflect101 reflect replicate constant wrap; default reflect101)
    value : float
        pixel value beyond the edge (default 0; only with border=constant)
    nodata : Literal['ignore', 'propagate'] | None
        nodata handling. ignore: computes with the valid pixels of the window, and missing pixels stay missing. propagate: a missing pixel in the window makes the result missing. Default: ignore, if the source declares nodata (ignore propagate)
    radius_z : int | None
        radius along z of a stack; default: each plane by itself (pixels; between 0 and 1048576)
    min_std : float
        lower bound of the standard deviation, so that noise in flat areas is not amplified (0 or more; default 0)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.local_normalize(radius=16, min_std=2)  # doctest: +ELLIPSIS
    Chain('local_normalize...')
    """
def add(file: str | PathLike[str] | ArrayLike | None = None, *, chain: Chain | str | None = None, axes: str | None = None) -> Chain:
    """X + y with y of a second image, or of a chain; a number is added by scale:offset=.

    Parameters
    ----------
    file : str | PathLike[str] | ArrayLike | None
        second image, of the same size, or one row, column or pixel, which is broadcast; with as many channels, or one (needed; not with chain); here an array of rows x columns, or rows x columns x channels, or with `axes` a stack, too, which is to stay as it is
    chain : Chain | str | None
        stages in brackets, applied to the input, in place of a file: [box:radius=9 | abs] (needed; not with file)
    axes : str | None
        axis letters of an array in the file (NPY, Zarr), such as zyx; default: from its shape or its names (only with file)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.add(chain='[sobel:axis=x]')  # doctest: +ELLIPSIS
    Chain('add...')
    """
def subtract(file: str | PathLike[str] | ArrayLike | None = None, *, chain: Chain | str | None = None, axes: str | None = None) -> Chain:
    """X - y with y of a second image, or of a chain.

    Parameters
    ----------
    file : str | PathLike[str] | ArrayLike | None
        second image, of the same size, or one row, column or pixel, which is broadcast; with as many channels, or one (needed; not with chain); here an array of rows x columns, or rows x columns x channels, or with `axes` a stack, too, which is to stay as it is
    chain : Chain | str | None
        stages in brackets, applied to the input, in place of a file: [box:radius=9 | abs] (needed; not with file)
    axes : str | None
        axis letters of an array in the file (NPY, Zarr), such as zyx; default: from its shape or its names (only with file)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.subtract(chain='[gaussian:sigma=20]')  # doctest: +ELLIPSIS
    Chain('subtract...')
    """
def multiply(file: str | PathLike[str] | ArrayLike | None = None, *, chain: Chain | str | None = None, axes: str | None = None) -> Chain:
    """X y with y of a second image, or of a chain; a number multiplies by scale:factor=.

    Parameters
    ----------
    file : str | PathLike[str] | ArrayLike | None
        second image, of the same size, or one row, column or pixel, which is broadcast; with as many channels, or one (needed; not with chain); here an array of rows x columns, or rows x columns x channels, or with `axes` a stack, too, which is to stay as it is
    chain : Chain | str | None
        stages in brackets, applied to the input, in place of a file: [box:radius=9 | abs] (needed; not with file)
    axes : str | None
        axis letters of an array in the file (NPY, Zarr), such as zyx; default: from its shape or its names (only with file)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.multiply(chain='[threshold:at=100]')  # doctest: +ELLIPSIS
    Chain('multiply...')
    """
def divide(file: str | PathLike[str] | ArrayLike | None = None, *, chain: Chain | str | None = None, axes: str | None = None) -> Chain:
    """X / y with y of a second image, or of a chain.

    Parameters
    ----------
    file : str | PathLike[str] | ArrayLike | None
        second image, of the same size, or one row, column or pixel, which is broadcast; with as many channels, or one (needed; not with chain); here an array of rows x columns, or rows x columns x channels, or with `axes` a stack, too, which is to stay as it is
    chain : Chain | str | None
        stages in brackets, applied to the input, in place of a file: [box:radius=9 | abs] (needed; not with file)
    axes : str | None
        axis letters of an array in the file (NPY, Zarr), such as zyx; default: from its shape or its names (only with file)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.divide(chain='[gaussian:sigma=40]')  # doctest: +ELLIPSIS
    Chain('divide...')
    """
def min(file: str | PathLike[str] | ArrayLike | None = None, *, chain: Chain | str | None = None, axes: str | None = None) -> Chain:
    """Minimum of x and y, with y of a second image, or of a chain; clamp limits by a number.

    Parameters
    ----------
    file : str | PathLike[str] | ArrayLike | None
        second image, of the same size, or one row, column or pixel, which is broadcast; with as many channels, or one (needed; not with chain); here an array of rows x columns, or rows x columns x channels, or with `axes` a stack, too, which is to stay as it is
    chain : Chain | str | None
        stages in brackets, applied to the input, in place of a file: [box:radius=9 | abs] (needed; not with file)
    axes : str | None
        axis letters of an array in the file (NPY, Zarr), such as zyx; default: from its shape or its names (only with file)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.min(chain='[gaussian:sigma=2]')  # doctest: +ELLIPSIS
    Chain('min...')
    """
def max(file: str | PathLike[str] | ArrayLike | None = None, *, chain: Chain | str | None = None, axes: str | None = None) -> Chain:
    """Maximum of x and y, with y of a second image, or of a chain; clamp limits by a number.

    Parameters
    ----------
    file : str | PathLike[str] | ArrayLike | None
        second image, of the same size, or one row, column or pixel, which is broadcast; with as many channels, or one (needed; not with chain); here an array of rows x columns, or rows x columns x channels, or with `axes` a stack, too, which is to stay as it is
    chain : Chain | str | None
        stages in brackets, applied to the input, in place of a file: [box:radius=9 | abs] (needed; not with file)
    axes : str | None
        axis letters of an array in the file (NPY, Zarr), such as zyx; default: from its shape or its names (only with file)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.max(chain='[gaussian:sigma=2]')  # doctest: +ELLIPSIS
    Chain('max...')
    """
def blend(file: str | PathLike[str] | ArrayLike | None = None, *, chain: Chain | str | None = None, axes: str | None = None, alpha: float = 0.5) -> Chain:
    """(1 - alpha) x + alpha y with y of a second image, or of a chain.

    Parameters
    ----------
    file : str | PathLike[str] | ArrayLike | None
        second image, of the same size, or one row, column or pixel, which is broadcast; with as many channels, or one (needed; not with chain); here an array of rows x columns, or rows x columns x channels, or with `axes` a stack, too, which is to stay as it is
    chain : Chain | str | None
        stages in brackets, applied to the input, in place of a file: [box:radius=9 | abs] (needed; not with file)
    axes : str | None
        axis letters of an array in the file (NPY, Zarr), such as zyx; default: from its shape or its names (only with file)
    alpha : float
        weight of the second image (between 0 and 1; default 0.5)

    Returns
    -------
    Chain
        of this one stage

    Raises
    ------
    ValueError
        for values that cannot be

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.blend(chain='[gaussian:sigma=5]', alpha=0.7)  # doctest: +ELLIPSIS
    Chain('blend...')
    """
