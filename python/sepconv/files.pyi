# Made by tests/python/make_stubs.py.
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sepconv._chain import Chain

__all__ = ["ChannelStats", "Comparison", "Difference", "FileWarning", "Image", "Plan", "Preview", "Report", "Span", "Stats", "compare", "create_only", "finish", "gemm", "plan", "preview", "run", "stats", "transpose"]

Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]

class Sliceable(Protocol):
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...
    def __getitem__(self, key: Any, /) -> Any: ...

class Settable(Sliceable, Protocol):
    def __setitem__(self, key: Any, values: Any, /) -> None: ...

Source: TypeAlias = "Path | Image | Sliceable | ArrayLike"
Sink: TypeAlias = "Path | Settable | NDArray[Any]"

class FileWarning(UserWarning):
    """Warns that the result loses metadata of its source, or that a file is inconsistent."""

class Span(NamedTuple):
    """An interval in which a step processed a band, or, for band -1, closed the result's file. In seconds
    since the start of the run.
    """
    step: str
    band: int
    begin: float
    end: float
    bytes: int

class ChannelStats(NamedTuple):
    """Statistics of one channel. NaN and missing pixels are counted but excluded from all other values."""
    count: int  # type: ignore[assignment]
    nan_count: int
    missing_count: int
    min: float
    max: float
    mean: float
    deviation: float
    histogram_low: float
    histogram_high: float
    histogram: list[int]

class Stats:
    """Statistics of the images of a file; a table in a notebook.

    Attributes
    ----------
    images : list of list of ChannelStats
        the channels of each image
    channels : list of ChannelStats
        the channels, if there is one image

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> sc.stats(np.array([[[1, 2]], [[3, 5]]], np.uint8), axes="zyx", progress=False).images[1][0].mean
    4.0
    """
    images: list[list[ChannelStats]]
    @property
    def channels(self) -> list[ChannelStats]: ...

class Difference(NamedTuple):
    """An element that differs, and its two values."""
    row: int
    col: int
    channel: int
    a: float
    b: float

class Comparison(NamedTuple):
    """The differences of two images, or of all images of two files."""
    equal: bool
    elements: int
    different: int
    max_difference: float
    mean_difference: float
    psnr_db: float
    first: Difference | None
    first_image: int | None

class Preview:
    """A picture of a chain's result on a level of an image's pyramid or on a detail; displayed in a notebook.

    Attributes
    ----------
    pixels : ndarray of uint8
        rows x columns, x 3 for RGB, x 4 with alpha if pixels are missing
    level : int
        level of the pyramid
    scale : float
        pixels of the image per pixel of the level, along a side
    notes : list of str
        a description of the picture, and differences from the result of a run

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("scan.npy", np.arange(12, dtype=np.uint8).reshape(3, 4))
    >>> sc.preview("scan.npy", "scale:factor=10").pixels[0].tolist()
    [0, 10, 20, 30]
    """
    pixels: NDArray[np.uint8]
    level: int
    scale: float
    notes: list[str]

class Plan:
    """The plan of a run: bands, slots, bytes, peak memory, predicted times.

    Plans compare by value, can be saved as `text` and pickled, and are executed by ``sepconv.run(...,
    plan=plan)``.

    Parameters
    ----------
    text : str
        JSON, from ``plan.text`` or from ``sepconv plan --json``

    Attributes
    ----------
    text : str
    description : str
        human-readable text
    warnings, notes : list of str
        metadata that the result loses, and the reasons for the plan
    """
    text: str
    description: str
    warnings: list[str]
    notes: list[str]
    def __init__(self, text: str, description: str = "", warnings: Iterable[str] = (), notes: Iterable[str] = ()) -> None: ...
    def to_dict(self) -> dict[str, Any]: ...

class Report:
    """The report of a run. As text it is the program's summary; in a notebook a table with a timeline.

    Attributes
    ----------
    wall_seconds, startup_seconds : float
        seconds of the whole run, and until its first band
    device : str
        the device that computed
    bottleneck : str
        the step with the maximum busy time
    steps : list of dict
        name, busy_seconds, hidden_seconds (while another step was busy), bytes, operations
    timeline : list of Span
        the intervals in which each step processed each band
    warnings : list of str
        metadata that the result loses; each was also a Python warning
    plan : Plan or None
        the plan that was run; None for a matrix product

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> image = np.zeros((100, 200), np.float32)
    >>> report = sc.run(image, np.empty_like(image), sc.gaussian(2), band_rows=50, device="cpu", progress=False)
    >>> [step["name"] for step in report.steps], sum(span.step == "compute" for span in report.timeline)
    (['read', 'compute', 'write'], 2)
    """
    wall_seconds: float
    startup_seconds: float
    device: str
    bottleneck: str
    steps: list[dict[str, Any]]
    warnings: list[str]
    @property
    def plan(self) -> Plan | None: ...
    @property
    def timeline(self) -> list[Span]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def save_trace(self, path: str | PathLike[str]) -> None: ...

class Image:
    """An image file, or the images of one, as an array that is read when sliced. Created by ``sepconv.open``.

    Attributes
    ----------
    shape : tuple of int
        other axes, rows, columns, and channels if more than one
    dtype : numpy.dtype
        type of the file's elements
    axes : tuple of str
        names of the axes: ``("z", "y", "x")``; ``"page"`` for an unnamed axis
    chunks : tuple of int
        the unit in which the file stores pixels: slices of whole chunks decode each chunk once per image
    metadata : dict
        of the first image, those that it has: resolution (x, y, unit), orientation, icc_profile, description,
        software, date, artist, copyright, nodata, epsg
    layout : str
        how the pixels are stored
    warnings : list of str
        parts of the file that are not read, and inconsistencies

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("stack.npy", np.arange(24, dtype=np.uint8).reshape(2, 3, 4))
    >>> with sc.open("stack.npy", axes="zyx") as image:
    ...     image[1, :, -1].tolist(), image.nbytes
    ([15, 19, 23], 24)
    """
    path: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    axes: tuple[str, ...]
    chunks: tuple[int, ...]
    metadata: dict[str, Any]
    layout: str
    warnings: list[str]
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any) -> NDArray[Any]: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Image: ...
    def __exit__(self, *_: object) -> None: ...

def run(source: Source, sink: Sink, chain: Chain | str | Iterable[str] = (), *, progress: bool | Callable[[int, int], object] | None = True, resume: bool = False, discard: bool = False, part: tuple[int, int] | str | None = None, max_memory: int | str | None = None, device: str = 'auto', max_device_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, arithmetic: Literal['f32', 'f64'] | None = None, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, region: tuple[slice, slice] | str | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each', alpha: Literal['weight', 'mask'] | None = None, dst_nodata: float | None = None, compress: str | None = None, tile: int | tuple[int, int] | dict[str, int] | str | None = None, shard: int | tuple[int, int] | dict[str, int] | str | None = None, zarr: int | None = None, planar: bool = False, no_predictor: bool = False, pyramid: bool | str | None = None, cog: bool = False, bigtiff: bool | None = None, overwrite: bool = False, fsync: bool = False, orient: bool = False, to_8bit: bool | tuple[float, float] = False, background: str | None = None, plan: Plan | str | None = None) -> Report:
    """Filters an image, or all images of a file, of any size, as ``sepconv run``.

    A result file appears under its name only when complete, and not at all on an error. Its layout and
    metadata follow the source unless the options differ. An array for several images has their axes before
    rows and columns. Sliceable objects are accessed only from the calling thread. Ctrl-C stops a run within
    half a second: an array then contains the bands written so far, and no file is left.

    Parameters
    ----------
    source : path, Image, array_like, or sliceable
        an array has rows x columns, rows x columns x channels (up to 4), or the axes `axes`; a sliceable
        object is read a few rows, or rows of chunks, at a time
    sink : path, ndarray, or sliceable
        the format follows from a path's suffix; an array has the shape and type of the result and does not
        overlap `source`
    chain : Chain, str or iterable of str
        default: a copy
    progress : bool or callable
        True: a tqdm bar, if installed, on a terminal or in a notebook. A callable gets pixels done and all
        pixels, in this thread; an exception from it ends the run, and no file is left
    resume : bool
        for paths: if the run is killed or interrupted, completed work stays in the folder ``SINK.partial``,
        and the same call continues it
    discard : bool
        remove an unfinished result of an earlier run once this run is planned. A warning names one that is
        neither resumed nor removed
    part : tuple of int or str, optional
        ``(3, 16)`` or ``'3/16'``: compute only this part of a result created by `create_only`, in any process
        with access to the files; `finish` completes the result
    max_memory : int or str, optional
        limit of the run's memory, ``'2G'``; default: a quarter of the free memory. Memory of the sliceable
        objects themselves is not counted
    device : str
        ``'auto'`` (the CPU or the first GPU, whichever is predicted to be faster), ``'cpu'``, ``'cuda'``,
        ``'cuda:0,1'``
    max_device_memory : int or str, optional
        limit of the run's memory on each GPU
    threads, slots, band_rows, band_cols : int
        0: chosen automatically
    arithmetic : {'f32', 'f64'}, optional
        default: f64 if source, result or a stage is f64
    axes : str, optional
        a letter for each axis of an array, an NPY file or the pages of a TIFF, overriding the file: ``y``
        rows, ``x`` columns, a last ``c`` channels, others count images
    page : int or str, optional
        images of a file: ``3``, ``'0-9'``, ``'c=1'``, ``'z=2-5,t=0'``, ``'s=1'`` (of an OME-TIFF whose images
        differ in shape or type); default: all
    level : int
        level of a pyramid
    raw : str, optional
        layout of a source without header: ``'COLSxROWS[xCHANNELS]:TYPE[:OFFSET]'``
    missing_chunks : {'error', 'fill'}, optional
        missing chunks of a Zarr array are an error, or read as the fill value; default: the fill value, with
        a warning if it is null, and an error if the array has no chunk
    region : tuple of slice, optional
        the region of the result to compute, rows then columns: ``np.s_[0:768, 0:1024]``, ``np.s_[-100:, :]``
    nodata : float or 'none', optional
        the value of missing pixels; 'none': no pixel is missing; default: as the file declares
    nodata_bands : {'each', 'all'}
        the nodata value hides each channel that has it, or only pixels in which all channels have it, as
        GDAL's UNIFIED_SRC_NODATA
    alpha : {'weight', 'mask'}, optional
        for files that declare alpha: colours are averaged with alpha as weight and alpha is filtered too, or
        pixels of alpha 0 are missing and all others have full weight; default: weight for pictures, mask for
        files with a georeference, nodata value or mask
    dst_nodata : float, optional
        the value of missing pixels in the result
    compress : str, optional
        ``'none'``, ``'lzw'``, ``'deflate'``, ``'zstd'``, ``'jpeg'``, ``'packbits'``, optionally with a level
        after a colon: ``'zstd:9'``, ``'zstd:fast'``, ``'deflate:fast'``, ``'deflate:best'``, ``'jpeg:90'``,
        ``'jpeg:90:444'``
    tile : int, tuple of int or dict, optional
        rows and columns of the tiles of a TIFF or the chunks of a Zarr array; for Zarr also by axis name:
        ``{'z': 16, 'y': 256, 'x': 256}``; 0 for strips
    shard : int, tuple of int or dict, optional
        the same for the shards of a Zarr array, in whole chunks; 0: one file per chunk
    zarr : {2, 3}, optional
        version of Zarr, with OME-Zarr 0.4 or 0.5
    planar, no_predictor, pyramid, cog, bigtiff : bool, optional
        for TIFFs: channels in planes; no predictor; with or without a pyramid, also for OME-Zarr, or
        ``'nearest'`` for levels of unaveraged pixels, as class maps need; a Cloud Optimized GeoTIFF; BigTIFF
        or classic TIFF
    orient : bool
        apply the orientation tag of the source (EXIF, TIFF)
    to_8bit : bool or tuple of float, optional
        scale 16-bit and floating-point pixels to u8, from the range of the type (floating-point: 0 to 1) or
        from these two values; alpha is blended with white if the file format has no alpha
    background : str, optional
        blend a picture with alpha onto this colour: ``'white'``, ``'black'``, ``'grey'``, ``'255,128,0'``
    overwrite : bool
        replace an existing file
    fsync : bool
        wait until the file is on disk
    plan : Plan or str, optional
        from `plan` or ``sepconv plan --json``; determines chain, limits and device

    Returns
    -------
    Report

    Raises
    ------
    FileNotFoundError, FileExistsError, PermissionError, OSError
        for errors of files
    ValueError, TypeError
        for invalid options, shapes and types
    MemoryError
        if no plan fits `max_memory`; the message contains the minimum

    Warns
    -----
    FileWarning
        for metadata that the result loses

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("scan.npy", np.arange(12, dtype=np.uint8).reshape(3, 4))
    >>> out = np.empty((3, 4), np.uint8)
    >>> report = sc.run("scan.npy", out, sc.scale(2), max_memory="256M", progress=False)
    >>> out[2].tolist(), report.steps[0]["name"]
    ([16, 18, 20, 22], 'read')
    """
def create_only(source: Path | Image, sink: Path, chain: Chain | str | Iterable[str] = (), *, discard: bool = False, max_memory: int | str | None = None, device: str = 'auto', max_device_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, arithmetic: Literal['f32', 'f64'] | None = None, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, region: tuple[slice, slice] | str | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each', alpha: Literal['weight', 'mask'] | None = None, dst_nodata: float | None = None, compress: str | None = None, tile: int | tuple[int, int] | dict[str, int] | str | None = None, shard: int | tuple[int, int] | dict[str, int] | str | None = None, zarr: int | None = None, planar: bool = False, no_predictor: bool = False, pyramid: bool | str | None = None, cog: bool = False, bigtiff: bool | None = None, overwrite: bool = False, fsync: bool = False, orient: bool = False, to_8bit: bool | tuple[float, float] = False, background: str | None = None) -> int:
    """Creates a result that several processes compute in parts, on any machines with a shared file system, as
    by ``sepconv run --create-only``. Reads no pixels.

    Then ``run(source, sink, chain, part=(k, n))`` for each k from 1 to n, in any order or in parallel,
    computes the parts. `finish` completes the result, which is identical to that of one run. Until then it is
    in the folder ``SINK.partial``.

    Parameters
    ----------
    source, sink : path or Image, path
    chain : Chain, str or iterable of str
    discard : bool
        remove an unfinished result once this run can start
    **options
        as for `run`; `overwrite` and the layout apply to all parts

    Returns
    -------
    int
        the maximum number of parts; a smaller `band_rows` permits more

    Raises
    ------
    TypeError, ValueError, OSError, MemoryError
        as for `run`, and if the format of `sink` cannot be written in parts
    FileExistsError
        if an unfinished result exists

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("scan.npy", np.eye(64, dtype=np.float32))
    >>> sc.create_only("scan.npy", "blurred.npy", sc.gaussian(2), band_rows=16)
    4
    >>> for k in (1, 2):
    ...     report = sc.run("scan.npy", "blurred.npy", sc.gaussian(2), part=(k, 2), progress=False)
    >>> sc.finish("blurred.npy")
    """
def finish(sink: Path) -> None:
    """Completes a result that was created by `create_only` and computed by ``run(..., part=)``, as by
    ``sepconv finish``.

    Checks that all parts are complete, and gives the result its name. Can be interrupted, killed, and
    repeated.

    Parameters
    ----------
    sink : path

    Raises
    ------
    OSError
        if parts are missing (errno.ENODATA, with their names), or if the result cannot be renamed; computed
        parts are kept
    ValueError
        if the source has changed

    Warns
    -----
    FileWarning
        for metadata that the result loses
    """
def plan(source: Source, sink: Sink, chain: Chain | str | Iterable[str] = (), *, max_memory: int | str | None = None, device: str = 'auto', max_device_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, arithmetic: Literal['f32', 'f64'] | None = None, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, region: tuple[slice, slice] | str | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each', alpha: Literal['weight', 'mask'] | None = None, dst_nodata: float | None = None, compress: str | None = None, tile: int | tuple[int, int] | dict[str, int] | str | None = None, shard: int | tuple[int, int] | dict[str, int] | str | None = None, zarr: int | None = None, planar: bool = False, no_predictor: bool = False, pyramid: bool | str | None = None, cog: bool = False, bigtiff: bool | None = None, overwrite: bool = False, fsync: bool = False, orient: bool = False, to_8bit: bool | tuple[float, float] = False, background: str | None = None) -> Plan:
    """The plan of `run` with these arguments. Creates no result.

    Parameters
    ----------
    source, sink, chain, **options
        as for `run`

    Returns
    -------
    Plan

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as for `run`

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> image, out = np.zeros((100, 200), np.float32), np.empty((100, 200), np.float32)
    >>> made = sc.plan(image, out, sc.gaussian(2), max_memory="64M", device="cpu")
    >>> made.to_dict()["chain"][0].partition(",")[0], made.to_dict()["memory_bytes"]["ceiling"]
    ('gaussian:sigma=2', 67108864)
    >>> report = sc.run(image, out, plan=made, progress=False)
    """
@overload
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
@overload
def transpose(source: Source, sink: Sink, perm: Sequence[int] = (1, 0), *, progress: bool | Callable[[int, int], object] | None = True, max_memory: int | str | None = None, device: str = 'auto', max_device_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, arithmetic: Literal['f32', 'f64'] | None = None, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, compress: str | None = None, tile: int | tuple[int, int] | dict[str, int] | str | None = None, shard: int | tuple[int, int] | dict[str, int] | str | None = None, zarr: int | None = None, planar: bool = False, no_predictor: bool = False, pyramid: bool | str | None = None, cog: bool = False, bigtiff: bool | None = None, overwrite: bool = False, fsync: bool = False) -> Report:
    """Permutes the axes of an image or of an NPY file of up to three axes, as ``sepconv transpose``.

    Parameters
    ----------
    source, sink : path, or, for the exchange of rows and columns, as for `run`
    perm : tuple of int
        axis k of the result is axis ``perm[k]`` of the source, as in `numpy.transpose`; an image has rows,
        columns and channels
    progress, **options
        as for `run`

    Returns
    -------
    Report

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as for `run`

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("chw.npy", np.arange(24, dtype=np.uint8).reshape(2, 3, 4))
    >>> report = sc.files.transpose("chw.npy", "hwc.npy", (1, 2, 0), progress=False, overwrite=True)
    >>> np.load("hwc.npy").shape
    (3, 4, 2)

    Notes
    -----
    Without a sink it is the stage of this name, ``transpose()``: Exchanges rows and columns; channels stay.
    """
@overload
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
@overload
def gemm(a: Source, b: Source, sink: Sink, *, alpha: float = 1.0, beta: float | None = None, c: Source | None = None, trans_a: bool = False, trans_b: bool = False, progress: bool | Callable[[int, int], object] | None = True, max_memory: int | str | None = None, device: str = 'auto', max_device_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, page_b: int | str | None = None, level_b: int = 0, axes_b: str | None = None, raw_b: str | None = None, missing_chunks_b: Literal['error', 'fill'] | None = None, page_c: int | str | None = None, level_c: int = 0, axes_c: str | None = None, raw_c: str | None = None, missing_chunks_c: Literal['error', 'fill'] | None = None, compress: str | None = None, tile: int | tuple[int, int] | dict[str, int] | str | None = None, shard: int | tuple[int, int] | dict[str, int] | str | None = None, zarr: int | None = None, planar: bool = False, no_predictor: bool = False, pyramid: bool | str | None = None, cog: bool = False, bigtiff: bool | None = None, overwrite: bool = False, fsync: bool = False) -> Report:
    """``alpha op(a) op(b) + beta c`` for matrices larger than memory, as ``sepconv gemm``.

    Parameters
    ----------
    a, b, c : path, Image, array_like, or sliceable
        matrices of f32 or f64, all of the same type
    sink : path, ndarray, or sliceable
    alpha, beta : float
        `beta` defaults to 1 if `c` is given
    trans_a, trans_b : bool
        use the transpose of the matrix
    progress, **options
        as for `run`; `page`, `level`, `axes`, `raw` and `missing_chunks` apply to `a`, `page_b` etc. to `b`,
        and `page_c` etc. to `c`

    Returns
    -------
    Report

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as for `run`

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> product = np.empty((2, 2))
    >>> report = sc.files.gemm(np.ones((2, 3)), np.ones((2, 3)), product, trans_b=True, progress=False)
    >>> product.tolist()
    [[3.0, 3.0], [3.0, 3.0]]

    Notes
    -----
    Without a sink it is the stage of this name, ``gemm(file, *, side='right')``: Matrix product: image times matrix, over columns and channels, or matrix times image.
    """
def open(path: Path, *, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each') -> Image:
    """Opens an image file. Reads only its headers; pixels are read by slicing, or all by `numpy.asarray`.

    Parameters
    ----------
    path : path
        TIFF, NPY, raw, PNG, JPEG, PNM or BMP
    page, level, axes, raw, missing_chunks, nodata, nodata_bands
        as for `run`; a mask is read as alpha, or as the nodata value, unless nodata is ``'none'``

    Returns
    -------
    Image

    Raises
    ------
    FileNotFoundError, PermissionError, OSError
        if the file cannot be read
    ValueError, TypeError
        for options that the format does not support

    Warns
    -----
    FileWarning
        for parts of the file that are not read

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("scan.npy", np.arange(12, dtype=np.uint8).reshape(3, 4))
    >>> image = sc.open("scan.npy")
    >>> image.shape, image.axes, image[1:, ::2].tolist()
    ((3, 4), ('y', 'x'), [[4, 6], [8, 10]])
    """
def stats(source: Source, *, progress: bool | Callable[[int, int], object] | None = True, max_memory: int | str | None = None, device: str = 'auto', max_device_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, arithmetic: Literal['f32', 'f64'] | None = None, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each') -> Stats:
    """Minimum, maximum, mean, deviation and histogram of every channel, in one pass (two for floating-point
    types), as by ``sepconv stats``.

    Parameters
    ----------
    source : path, Image, array_like, or sliceable
    progress, **options
        as for `run`

    Returns
    -------
    Stats

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as for `run`

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> channel = sc.stats(np.array([[1, 2], [3, 6]], np.uint8), progress=False).channels[0]
    >>> channel.min, channel.max, channel.mean
    (1.0, 6.0, 3.0)
    """
def compare(a: Source, b: Source, *, tolerance: float = 0.0, progress: bool | Callable[[int, int], object] | None = True, max_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, arithmetic: Literal['f32', 'f64'] | None = None, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, page_b: int | str | None = None, level_b: int = 0, axes_b: str | None = None, raw_b: str | None = None, missing_chunks_b: Literal['error', 'fill'] | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each') -> Comparison:
    """Maximum and mean difference of two images, or of all images of two files, as by ``sepconv compare``.

    Parameters
    ----------
    a, b : path, Image, array_like, or sliceable
        of the same shape and type
    tolerance : float
        differences up to this value count as equal
    progress, **options
        as for `run`; `page_b`, `level_b`, `axes_b`, `raw_b` and `missing_chunks_b` apply to `b`

    Returns
    -------
    Comparison

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as for `run`; ValueError for images of different shapes or types

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> made = sc.compare(np.array([[1.0, 2.0]]), np.array([[1.0, 2.5]]), progress=False)
    >>> made.equal, made.max_difference, made.first
    (False, 0.5, Difference(row=0, col=1, channel=0, a=2.0, b=2.5))
    """
def preview(path: Path | Image, chain: Chain | str | Iterable[str] = (), *, size: int = 1024, level: int | None = None, max_memory: int | str | None = None, threads: int = 0, page: int | str | None = None, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, region: tuple[slice, slice] | str | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each', alpha: Literal['weight', 'mask'] | None = None) -> Preview:
    """The result of a chain on a level of an image's pyramid or on a detail, within a fraction of a second
    for any image size, as by ``sepconv preview``.

    Parameters
    ----------
    path : path or Image
        the first of several images, or `page`
    chain : Chain, str or iterable of str
        default: the image itself. On a level, lengths (sigma, radius) are divided by the level's scale
    size : int
        maximum length of the picture's longer side
    level : int, optional
        default: the smallest level that fills the picture; without levels a detail from the middle, at full
        resolution
    region : tuple of slice or str, optional
        of the result, in pixels at full resolution
    page, axes, raw, missing_chunks, nodata, nodata_bands, alpha, max_memory, threads
        as for `run`

    Returns
    -------
    Preview

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as for `run`; ValueError for a region outside of the result

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("scan.npy", np.zeros((300, 400), np.uint16))
    >>> sc.preview("scan.npy", sc.gaussian(8), size=100)
    <sepconv.Preview: all of 400 x 300 pixels, at full resolution>
    """
