# Made by tests/python/make_stubs.py.
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, TypeAlias

from dask.array import Array
from distributed import Client
from numpy.typing import ArrayLike, DTypeLike

from sepconv._chain import Chain
from sepconv.files import Image

__all__ = ["Made", "apply", "run", "black_tophat", "convolve1d", "correlate1d", "gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude", "gaussian_laplace", "generic_gradient_magnitude", "generic_laplace", "grey_closing", "grey_dilation", "grey_erosion", "grey_opening", "laplace", "maximum_filter", "maximum_filter1d", "median_filter", "minimum_filter", "minimum_filter1d", "percentile_filter", "prewitt", "rank_filter", "sobel", "uniform_filter", "uniform_filter1d", "white_tophat"]

Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]
Mode: TypeAlias = Literal['reflect', 'grid-mirror', 'mirror', 'nearest', 'constant', 'grid-constant', 'wrap', 'grid-wrap']

class Made(NamedTuple):
    """The result of `run`: the number of parts, seconds, and parts per worker."""
    parts: int
    wall_seconds: float
    workers: dict[str, int]

def apply(chain: Chain | str | Iterable[str], array: Array, axes: str | None = None, *, arithmetic: Literal['f32', 'f64'] | None = None, threads: int = 1) -> Array:
    """Applies the chain lazily to a dask array, or to each image of one. The result has the same bytes as the
    chain on the whole array.

    Each block of the result is a task. Its input is the part of the array that the chain needs, also from
    other blocks. Borders apply only at the edges of the image. A chain along z gets whole planes. Blocks may
    have any sizes. The result has the blocks of the array, in proportion if the chain changes the rows and
    columns of an image, and all channels in one block.

    Parameters
    ----------
    chain : Chain, str or iterable of str
    array : dask.array.Array
        with blocks in host memory or on a GPU
    axes : str, optional
        a letter for each axis, as for a call of a chain
    arithmetic : {'f32', 'f64'}, optional
    threads : int
        threads per task

    Returns
    -------
    dask.array.Array

    Raises
    ------
    TypeError, ValueError
        as a call of a chain; also if `array` is not a dask array or has blocks of unknown size

    Examples
    --------
    >>> import dask.array as da
    >>> import sepconv as sc
    >>> from sepconv import dask as sd
    >>> array = da.random.random((3, 500, 700), chunks=(1, 128, 300))
    >>> made = sd.apply(sc.gaussian(2) | sc.sobel("x"), array, axes="zyx")
    >>> made.chunks == array.chunks
    True
    """
def run(source: Path | Image, sink: Path, chain: Chain | str | Iterable[str] = (), *, client: Client | None = None, parts: int | None = None, discard: bool = False, progress: bool | Callable[[int, int], object] | None = True, max_memory: int | str | None = None, device: str = 'auto', max_device_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, arithmetic: Literal['f32', 'f64'] | None = None, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, region: tuple[slice, slice] | str | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each', alpha: Literal['weight', 'mask'] | None = None, dst_nodata: float | None = None, compress: str | None = None, tile: int | tuple[int, int] | dict[str, int] | str | None = None, shard: int | tuple[int, int] | dict[str, int] | str | None = None, zarr: int | None = None, planar: bool = False, no_predictor: bool = False, pyramid: bool | str | None = None, cog: bool = False, bigtiff: bool | None = None, overwrite: bool = False, fsync: bool = False, orient: bool = False, to_8bit: bool | tuple[float, float] = False, background: str | None = None) -> Made:
    """Filters an image, or all images of a file, on the workers of a cluster. The result is identical to that
    of `sepconv.run`.

    The result is divided into parts that share no chunk, shard, tile or row. Each part is a task: it reads
    its part of the source with the halo and writes its part of the result. Every worker must be able to
    access both paths. A worker computes one part at a time, with all its threads, within `max_memory`, and on
    its GPU if `device` names one or 'auto' finds it faster. Dask reassigns the parts of a lost worker. The
    unfinished result is in the folder ``SINK.partial``. It is removed if a part fails, and kept if only the
    last step fails.

    Parameters
    ----------
    source : path or Image
    sink : path
        a TIFF, Zarr, NPY or raw file
    chain : Chain, str or iterable of str
    client : distributed.Client, optional
        default: the current client
    parts : int, optional
        maximum number of parts; default: 8 per worker
    discard : bool
        remove an unfinished result, for example of a killed client, and start again
    progress : bool or callable
        as for `sepconv.run`; updated after each part
    max_memory : int or str, optional
        for each worker; default: a quarter of the minimum memory limit of Dask's workers
    threads : int, optional
        for each worker; default: the number that Dask assigns to it
    **options
        as for `sepconv.run`

    Returns
    -------
    Made
        with `parts`, `wall_seconds`, and in `workers` the number of parts of each worker

    Raises
    ------
    TypeError, ValueError, OSError, MemoryError
        as for `sepconv.run`, and if the format of `sink` cannot be written in parts
    """
def black_tophat(input: Array, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """The closing minus the input: dark details smaller than the rectangle or disk.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.black_tophat` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def convolve1d(input: Array, weights: ArrayLike, axis: int = -1, output: DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 1) -> Array:
    """Convolution along one axis: `correlate1d` with the weights mirrored.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.convolve1d` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def correlate1d(input: Array, weights: ArrayLike, axis: int = -1, output: DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 1) -> Array:
    """Correlation along one axis.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.correlate1d` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def gaussian_filter(input: Array, sigma: float | Sequence[float], order: int | Sequence[int] = 0, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, truncate: float = 4.0, *, radius: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """A Gaussian, or derivatives of one, along the axes.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.gaussian_filter` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def gaussian_filter1d(input: Array, sigma: float, axis: int = -1, order: int = 0, output: DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, truncate: float = 4.0, *, radius: int | None = None, threads: int = 1) -> Array:
    """A Gaussian, or a derivative of one, along one axis. See `gaussian_filter`.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.gaussian_filter1d` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def gaussian_gradient_magnitude(input: Array, sigma: float | Sequence[float], output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, axes: int | Sequence[int] | None = None, **kwargs: Any) -> Array:
    """The vector length of the Gaussian's gradient. Also accepts `truncate`, `radius`, `threads` and `stream`
    of `gaussian_filter`.

        Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.gaussian_gradient_magnitude` makes of the whole array. Parameters are those of
        that function; `output` is a type, and `threads` are a task's.

        Returns
        -------
        dask.array.Array
        
    """
def gaussian_laplace(input: Array, sigma: float | Sequence[float], output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, axes: int | Sequence[int] | None = None, **kwargs: Any) -> Array:
    """The sum of second derivatives of the Gaussian along the axes. Also accepts `truncate`, `radius`,
    `threads` and `stream` of `gaussian_filter`.

        Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.gaussian_laplace` makes of the whole array. Parameters are those of
        that function; `output` is a type, and `threads` are a task's.

        Returns
        -------
        dask.array.Array
        
    """
def generic_gradient_magnitude(input: Array, derivative: Callable[..., Any], output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, extra_arguments: tuple[Any, ...] = (), extra_keywords: dict[str, Any] | None = None, *, axes: int | Sequence[int] | None = None) -> Array:
    """The root of the sum of squared derivatives along the axes, computed by a callback. `derivative` has the
    signature of `derivative2` in `generic_laplace`.

        Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.generic_gradient_magnitude` makes of the whole array. Parameters are those of
        that function; `output` is a type, and what makes the derivatives takes dask arrays, as these functions do.

        Returns
        -------
        dask.array.Array
        
    """
def generic_laplace(input: Array, derivative2: Callable[..., Any], output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, extra_arguments: tuple[Any, ...] = (), extra_keywords: dict[str, Any] | None = None, *, axes: int | Sequence[int] | None = None) -> Array:
    """The sum of second derivatives along the axes, computed by a callback.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.generic_laplace` makes of the whole array. Parameters are those of
    that function; `output` is a type, and what makes the derivatives takes dask arrays, as these functions do.

    Returns
    -------
    dask.array.Array
    """
def grey_closing(input: Array, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """Dilation and then erosion: removes dark details smaller than the rectangle or disk.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.grey_closing` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def grey_dilation(input: Array, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """Dilation by a flat rectangle or disk: `maximum_filter` with the mirrored rectangle.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.grey_dilation` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def grey_erosion(input: Array, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """Erosion by a flat rectangle or disk: `minimum_filter`.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.grey_erosion` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def grey_opening(input: Array, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """Erosion and then dilation: removes bright details smaller than the rectangle or disk.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.grey_opening` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def laplace(input: Array, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """The sum of second differences, (1 -2 1), along the axes. See `gaussian_filter`.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.laplace` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def maximum_filter(input: Array, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """The maximum of `size` elements along each axis. See `minimum_filter`.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.maximum_filter` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def maximum_filter1d(input: Array, size: int, axis: int = -1, output: DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 1) -> Array:
    """The maximum of `size` elements along one axis. See `minimum_filter`.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.maximum_filter1d` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def median_filter(input: Array, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """The median of a window; for an even number of values the upper one. See `rank_filter`.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.median_filter` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def minimum_filter(input: Array, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """The minimum of `size` elements along each axis, at a cost almost independent of `size`. See
    `gaussian_filter`.

        Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.minimum_filter` makes of the whole array. Parameters are those of
        that function; `output` is a type, and `threads` are a task's.

        Returns
        -------
        dask.array.Array
        
    """
def minimum_filter1d(input: Array, size: int, axis: int = -1, output: DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 1) -> Array:
    """The minimum of `size` elements along one axis. See `minimum_filter`.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.minimum_filter1d` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def percentile_filter(input: Array, percentile: float, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """A percentile of the values in a window. See `rank_filter`.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.percentile_filter` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def prewitt(input: Array, axis: int = -1, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, threads: int = 1) -> Array:
    """Prewitt's filter: differences along the axis, sums of three along all others.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.prewitt` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def rank_filter(input: Array, rank: int, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """The value of a given rank in a window.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.rank_filter` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def sobel(input: Array, axis: int = -1, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, *, threads: int = 1) -> Array:
    """Sobel's filter: differences along the axis, (1 2 1) along all others.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.sobel` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def uniform_filter(input: Array, size: int | Sequence[int] = 3, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """The mean of `size` elements along each axis. See `gaussian_filter`.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.uniform_filter` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def uniform_filter1d(input: Array, size: int, axis: int = -1, output: DTypeLike | None = None, mode: Mode = 'reflect', cval: complex = 0.0, origin: int = 0, *, threads: int = 1) -> Array:
    """The mean of `size` elements along one axis. See `correlate1d`.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.uniform_filter1d` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
def white_tophat(input: Array, size: int | Sequence[int] | None = None, footprint: ArrayLike | None = None, structure: ArrayLike | None = None, output: DTypeLike | None = None, mode: Mode | Sequence[Mode] = 'reflect', cval: complex = 0.0, origin: int | Sequence[int] = 0, *, axes: int | Sequence[int] | None = None, threads: int = 1) -> Array:
    """The input minus its opening: bright details smaller than the rectangle or disk.

    Lazily, of a dask array of any blocks: the result has the same, and the bytes that `sepconv.ndimage.white_tophat` makes of the whole array. Parameters are those of
    that function; `output` is a type, and `threads` are a task's.

    Returns
    -------
    dask.array.Array
    """
