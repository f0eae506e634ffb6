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
    """What a result does not have of its source, or what of a file is not what it seems."""

class Span(NamedTuple):
    """An interval in which a step worked on a band, or, with a band of -1, closed the result's file; seconds
    since the run began.
    """
    step: str
    band: int
    begin: float
    end: float
    bytes: int

class ChannelStats(NamedTuple):
    """Of one channel. Values that are not numbers and missing pixels are counted and left out of everything
    else.
    """
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
        of each image its channels
    channels : list of ChannelStats
        of the only image

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
    """An element that differs, and its values."""
    row: int
    col: int
    channel: int
    a: float
    b: float

class Comparison(NamedTuple):
    """How far two images are from each other, or all images of two files."""
    equal: bool
    elements: int
    different: int
    max_difference: float
    mean_difference: float
    psnr_db: float
    first: Difference | None
    first_image: int | None

class Preview:
    """A picture of what a chain makes of an image, of a level of its pyramid or of a detail; shown in a
    notebook.

    Attributes
    ----------
    pixels : ndarray of uint8
        rows x columns, x 3 for RGB, x 4 where pixels are missing, which alpha hides
    level : int
        of the pyramid
    scale : float
        pixels of the image to one of the level, along a side
    notes : list of str
        what is seen, and what of it is not as a run's result would be

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("scan.npy", np.arange(12, dtype=np.uint8).reshape(3, 4))
    >>> sc.preview("scan.npy", "scale:by=10").pixels[0].tolist()
    [0, 10, 20, 30]
    """
    pixels: NDArray[np.uint8]
    level: int
    scale: float
    notes: list[str]

class Plan:
    """What a run would do: bands, slots, bytes, peak memory, predicted times.

    A value: it is equal to one that says the same, can be kept as `text` and pickled, and is what
    ``sepconv.run(..., plan=plan)`` does.

    Parameters
    ----------
    text : str
        JSON, as ``plan.text`` and the program's ``sepconv plan --json`` have it

    Attributes
    ----------
    text : str
    description : str
        for people
    warnings, notes : list of str
        what the result will not have, and why the plan is so
    """
    text: str
    description: str
    warnings: list[str]
    notes: list[str]
    def __init__(self, text: str, description: str = "", warnings: Iterable[str] = (), notes: Iterable[str] = ()) -> None: ...
    def to_dict(self) -> dict[str, Any]: ...

class Report:
    """What a run did. Its text is the program's closing summary; in a notebook it is a table with a timeline.

    Attributes
    ----------
    wall_seconds, startup_seconds : float
        of the whole run, and until its first band
    device : str
        what computed
    bottleneck : str
        the step with the most busy time
    steps : list of dict
        name, busy_seconds, hidden_seconds (while another step was busy), bytes, operations
    timeline : list of Span
        when each step worked on each band
    warnings : list of str
        what the result does not have of its source; each was a Python warning, too
    plan : Plan or None
        that was run; None of a product

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
    """An image file, or the images of one, as an array that is read where it is sliced: ``sepconv.open``
    makes it.

    Attributes
    ----------
    shape : tuple of int
        other axes, rows, columns, and channels if there are several
    dtype : numpy.dtype
        of the file's elements
    axes : tuple of str
        their names: ``("z", "y", "x")``; ``"page"`` where nothing says what is counted
    chunks : tuple of int
        what the file stores in one piece: slices of whole rows and columns of them decode none twice an image
    metadata : dict
        of the first image, what there is of resolution (x, y, unit), orientation, icc_profile, description,
        software, date, artist, copyright, nodata, epsg
    layout : str
        how the pixels are stored
    warnings : list of str
        what of the file is not read, or is not what it seems

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

def run(source: Source, sink: Sink, chain: Chain | str | Iterable[str] = (), *, progress: bool | Callable[[int, int], object] | None = True, resume: bool = False, discard: bool = False, part: tuple[int, int] | str | None = None, max_memory: int | str | None = None, device: str = 'auto', max_device_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, arithmetic: Literal['f32', 'f64'] | None = None, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, region: tuple[slice, slice] | str | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each', alpha: Literal['weight', 'mask'] | None = None, result_nodata: float | None = None, compress: str | None = None, tile: int | tuple[int, int] | dict[str, int] | str | None = None, shard: int | tuple[int, int] | dict[str, int] | str | None = None, zarr: int | None = None, planar: bool = False, no_predictor: bool = False, pyramid: bool | str | None = None, cog: bool = False, big_tiff: bool | None = None, overwrite: bool = False, durable: bool = False, orient: bool = False, to_8bit: bool | tuple[float, float] = False, background: str | None = None, plan: Plan | str | None = None) -> Report:
    """Filters an image, or all images of a file, larger than memory or not: what ``sepconv run`` does.

    The result of a path appears under its name when it is complete, and not at all if anything fails; it is
    laid out like its source and has its metadata, as far as that makes sense and the options do not say
    otherwise. Of several images the sink has the axes first. What is sliced is asked only in the thread that
    calls. Ctrl-C stops a run within half a second; an array then has what was written until then, and of a
    file there is nothing.

    Parameters
    ----------
    source : path, Image, array_like, or sliceable
        an array has rows x columns, rows x columns x channels (up to 4), or `axes`; what is sliced is read a
        few rows, or rows of chunks, at a time
    sink : path, ndarray, or sliceable
        a path's ending says the format; else of the result's shape and type, and apart from `source`
    chain : Chain, str or iterable of str
        none: a copy
    progress : bool or callable
        True: a bar by tqdm where that is installed, on a terminal or in a notebook; a function gets pixels
        done and pixels, in this thread; what it raises ends the run, and of a file there is nothing
    resume : bool
        of paths: what is done stays in the folder ``SINK.partial`` when the run ends before its end, killed
        or interrupted, and the same call goes on with it
    discard : bool
        remove an unfinished result of an earlier run first, once this one is planned. One that is neither
        resumed nor removed is named in a warning
    part : tuple of int or str, optional
        ``(3, 16)`` or ``'3/16'``: make this part only of a result that `create_only` has begun, in any
        process that sees the files; `finish` completes it
    max_memory : int or str, optional
        ceiling for what the run holds, ``'2G'``; left out: a quarter of what is free. What a sliceable itself
        holds is not counted
    device : str
        ``'auto'`` (the CPU or the first GPU, whichever should be done first), ``'cpu'``, ``'cuda'``,
        ``'cuda:0,1'``
    max_device_memory : int or str, optional
        ceiling for what the run holds on each GPU
    threads, slots, band_rows, band_cols : int
        0: chosen
    arithmetic : {'f32', 'f64'}, optional
        left out: f64 where source, result or a stage is f64
    axes : str, optional
        a letter for each axis of an array, an NPY file or the pages of a TIFF, whatever that says: ``y``
        rows, ``x`` columns, a last ``c`` channels, others count images
    page : int or str, optional
        images of a file: ``3``, ``'0-9'``, ``'c=1'``, ``'z=2-5,t=0'``, ``'s=1'`` (of an OME-TIFF with images
        that are not alike); left out: all
    level : int
        of a pyramid
    raw : str, optional
        the source has no header: ``'COLSxROWS[xCHANNELS]:TYPE[:OFFSET]'``
    missing_chunks : {'error', 'fill'}, optional
        what is not stored of a Zarr array is an error, or its fill value; left out: its fill value, with a
        warning where that is null, and an error where no chunk is there
    region : tuple of slice, optional
        the part of the result that is made, rows then columns: ``np.s_[0:768, 0:1024]``, ``np.s_[-100:, :]``
    nodata : float or 'none', optional
        pixels of this value are missing, or none are; left out: what the file declares
    nodata_bands : {'each', 'all'}
        what the nodata value hides: each channel that has it, for itself, or only pixels of whose channels
        all have it, as with GDAL's UNIFIED_SRC_NODATA
    alpha : {'weight', 'mask'}, optional
        of files that declare alpha: colours are averaged by it and it with them, or pixels of alpha 0 are
        missing and others count whole; left out: a weight in pictures, a mask in files with georeference,
        nodata value or mask
    result_nodata : float, optional
        what missing pixels are in the result
    compress : str, optional
        ``'none'``, ``'lzw'``, ``'deflate'``, ``'zstd'``, ``'jpeg'``, ``'packbits'``, with a level after a
        colon if wanted: ``'zstd:9'``, ``'zstd:fast'``, ``'deflate:fast'``, ``'deflate:best'``, ``'jpeg:90'``,
        ``'jpeg:90:444'``
    tile : int, tuple of int or dict, optional
        rows and columns of a TIFF's tiles, or of a Zarr's chunks, of these also by names of axes: ``{'z': 16,
        'y': 256, 'x': 256}``; 0 for strips
    shard : int, tuple of int or dict, optional
        the same of a Zarr's files, of whole chunks each; 0: a file a chunk
    zarr : {2, 3}, optional
        version of Zarr, with OME-Zarr 0.4 or 0.5
    planar, no_predictor, pyramid, cog, big_tiff : bool, optional
        of TIFFs: channels in planes; no predictor; with smaller levels or without, as OME-Zarr, too, or
        ``'nearest'``: with levels of single pixels, as classes need them; a Cloud Optimized GeoTIFF; BigTIFF
        or classic
    orient : bool
        apply the orientation tag of the source (EXIF, TIFF)
    to_8bit : bool or tuple of float, optional
        scale 16-bit and floating pixels to u8: from the whole range of the type (floating: 0 to 1), or from
        these two values; alpha is blended with white if the file has none
    background : str, optional
        blend a picture with alpha onto this colour: ``'white'``, ``'black'``, ``'grey'``, ``'255,128,0'``
    overwrite : bool
        replace a file that exists
    durable : bool
        wait until the file is on the disk
    plan : Plan or str, optional
        as `plan` or ``sepconv plan --json`` made it; it has chain, ceilings and device

    Returns
    -------
    Report

    Raises
    ------
    FileNotFoundError, FileExistsError, PermissionError, OSError
        for what is wrong with files
    ValueError, TypeError
        for options, shapes and types that cannot be
    MemoryError
        where nothing fits `max_memory`, with the least that would

    Warns
    -----
    FileWarning
        for what the result does not have of its source

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
def create_only(source: Path | Image, sink: Path, chain: Chain | str | Iterable[str] = (), *, discard: bool = False, max_memory: int | str | None = None, device: str = 'auto', max_device_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, arithmetic: Literal['f32', 'f64'] | None = None, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, region: tuple[slice, slice] | str | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each', alpha: Literal['weight', 'mask'] | None = None, result_nodata: float | None = None, compress: str | None = None, tile: int | tuple[int, int] | dict[str, int] | str | None = None, shard: int | tuple[int, int] | dict[str, int] | str | None = None, zarr: int | None = None, planar: bool = False, no_predictor: bool = False, pyramid: bool | str | None = None, cog: bool = False, big_tiff: bool | None = None, overwrite: bool = False, durable: bool = False, orient: bool = False, to_8bit: bool | tuple[float, float] = False, background: str | None = None) -> int:
    """Begins a result that processes make in parts, on any machines that share its file system: what
    ``sepconv run --create-only`` does. Reads no pixel.

    ``run(source, sink, chain, part=(k, n))``, for each k from 1 to n, in any order, at once, then makes the
    parts, and `finish` completes the result, which has the bytes of one run. Until then it lies in the folder
    ``SINK.partial``.

    Parameters
    ----------
    source, sink : path or Image, path
    chain : Chain, str or iterable of str
    discard : bool
        remove an unfinished result first, once this run can begin
    **options
        as those of `run`; `overwrite` and the layout hold for all parts

    Returns
    -------
    int
        the most parts that there can be; lower bands, `band_rows`, make more possible

    Raises
    ------
    TypeError, ValueError, OSError, MemoryError
        as `run`, and for a sink that is not made in parts
    FileExistsError
        where one is begun already

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
    """Completes a result that was begun with `create_only` and made with ``run(..., part=)``: what ``sepconv
    finish`` does.

    Checks that all parts are there, and gives the result its name. Can be interrupted, or killed, and called
    again.

    Parameters
    ----------
    sink : path

    Raises
    ------
    OSError
        that names what is missing (with errno.ENODATA), or what else keeps it from its name; what is made
        stays
    ValueError
        where the source is another now

    Warns
    -----
    FileWarning
        for what the result does not have of its source
    """
def plan(source: Source, sink: Sink, chain: Chain | str | Iterable[str] = (), *, max_memory: int | str | None = None, device: str = 'auto', max_device_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, arithmetic: Literal['f32', 'f64'] | None = None, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, region: tuple[slice, slice] | str | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each', alpha: Literal['weight', 'mask'] | None = None, result_nodata: float | None = None, compress: str | None = None, tile: int | tuple[int, int] | dict[str, int] | str | None = None, shard: int | tuple[int, int] | dict[str, int] | str | None = None, zarr: int | None = None, planar: bool = False, no_predictor: bool = False, pyramid: bool | str | None = None, cog: bool = False, big_tiff: bool | None = None, overwrite: bool = False, durable: bool = False, orient: bool = False, to_8bit: bool | tuple[float, float] = False, background: str | None = None) -> Plan:
    """What `run` with these arguments would do. Makes nothing.

    Parameters
    ----------
    source, sink, chain, **options
        as those of `run`

    Returns
    -------
    Plan

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as `run`

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
def transpose(source: Source, sink: Sink, perm: Sequence[int] = (1, 0), *, progress: bool | Callable[[int, int], object] | None = True, max_memory: int | str | None = None, device: str = 'auto', max_device_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, arithmetic: Literal['f32', 'f64'] | None = None, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, compress: str | None = None, tile: int | tuple[int, int] | dict[str, int] | str | None = None, shard: int | tuple[int, int] | dict[str, int] | str | None = None, zarr: int | None = None, planar: bool = False, no_predictor: bool = False, pyramid: bool | str | None = None, cog: bool = False, big_tiff: bool | None = None, overwrite: bool = False, durable: bool = False) -> Report:
    """Permutes the axes of an image or of an NPY file of up to three axes: what ``sepconv transpose`` does.

    Parameters
    ----------
    source, sink : path, or, for rows with columns, as those of `run`
    perm : tuple of int
        axis k of the result is axis ``perm[k]`` of the source, as `numpy.transpose` has it; an image has
        rows, columns and channels
    progress, **options
        as those of `run`

    Returns
    -------
    Report

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as `run`

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
    """Multiplies by a matrix: on the right of rows of columns x channels, or on the left of columns.

    Parameters
    ----------
    file : str | PathLike[str]
        NPY or any image file of one channel: a matrix of f32 or f64 (needed)
    side : Literal['right', 'left']
        right: image times matrix, one channel; left: matrix times image, channel by channel (right left; default right)

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
def gemm(a: Source, b: Source, sink: Sink, *, alpha: float = 1.0, beta: float | None = None, add: Source | None = None, trans_a: bool = False, trans_b: bool = False, progress: bool | Callable[[int, int], object] | None = True, max_memory: int | str | None = None, device: str = 'auto', max_device_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, page_b: int | str | None = None, level_b: int = 0, axes_b: str | None = None, raw_b: str | None = None, missing_chunks_b: Literal['error', 'fill'] | None = None, page_c: int | str | None = None, level_c: int = 0, axes_c: str | None = None, raw_c: str | None = None, missing_chunks_c: Literal['error', 'fill'] | None = None, compress: str | None = None, tile: int | tuple[int, int] | dict[str, int] | str | None = None, shard: int | tuple[int, int] | dict[str, int] | str | None = None, zarr: int | None = None, planar: bool = False, no_predictor: bool = False, pyramid: bool | str | None = None, cog: bool = False, big_tiff: bool | None = None, overwrite: bool = False, durable: bool = False) -> Report:
    """``alpha op(a) op(b) + beta add``, of matrices larger than memory: what ``sepconv gemm`` does.

    Parameters
    ----------
    a, b, add : path, Image, array_like, or sliceable
        matrices of f32 or f64, all of one type
    sink : path, ndarray, or sliceable
    alpha, beta : float
        `beta` is 1 where a matrix is added
    trans_a, trans_b : bool
        the transpose in its place
    progress, **options
        as those of `run`; `page`, `level`, `axes`, `raw` and `missing_chunks` are those of `a`, `page_b` and
        so on of `b`, and `page_c` of what is added

    Returns
    -------
    Report

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as `run`

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
    Without a sink it is the stage of this name, ``gemm(file, *, side='right')``: Multiplies by a matrix: on the right of rows of columns x channels, or on the left of columns.
    """
def open(path: Path, *, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each') -> Image:
    """Opens an image file: its headers only. Parts are read where it is sliced, all of it by `numpy.asarray`.

    Parameters
    ----------
    path : path
        TIFF, NPY, raw, PNG, JPEG, PNM or BMP
    page, level, axes, raw, missing_chunks, nodata, nodata_bands
        as those of `run`; a mask is read as alpha, or as the nodata value, unless nodata is ``'none'``

    Returns
    -------
    Image

    Raises
    ------
    FileNotFoundError, PermissionError, OSError
        for a file that cannot be read
    ValueError, TypeError
        for options that its format does not have

    Warns
    -----
    FileWarning
        for what of the file is not read

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
    """Minimum, maximum, mean, deviation and histogram of every channel, in one pass (two of floating types):
    what ``sepconv stats`` does.

    Parameters
    ----------
    source : path, Image, array_like, or sliceable
    progress, **options
        as those of `run`

    Returns
    -------
    Stats

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as `run`

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> channel = sc.stats(np.array([[1, 2], [3, 6]], np.uint8), progress=False).channels[0]
    >>> channel.min, channel.max, channel.mean
    (1.0, 6.0, 3.0)
    """
def compare(a: Source, b: Source, *, tolerance: float = 0.0, progress: bool | Callable[[int, int], object] | None = True, max_memory: int | str | None = None, threads: int = 0, slots: int = 0, band_rows: int = 0, band_cols: int = 0, arithmetic: Literal['f32', 'f64'] | None = None, page: int | str | None = None, level: int = 0, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, page_b: int | str | None = None, level_b: int = 0, axes_b: str | None = None, raw_b: str | None = None, missing_chunks_b: Literal['error', 'fill'] | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each') -> Comparison:
    """Greatest and mean difference of two images, or of all images of two files: what ``sepconv compare``
    does.

    Parameters
    ----------
    a, b : path, Image, array_like, or sliceable
        of one shape and type
    tolerance : float
        differences up to this count as equal
    progress, **options
        as those of `run`; `page_b`, `level_b`, `axes_b`, `raw_b` and `missing_chunks_b` are those of `b`

    Returns
    -------
    Comparison

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as `run`; ValueError for images of other shapes or types

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> made = sc.compare(np.array([[1.0, 2.0]]), np.array([[1.0, 2.5]]), progress=False)
    >>> made.equal, made.max_difference, made.first
    (False, 0.5, Difference(row=0, col=1, channel=0, a=2.0, b=2.5))
    """
def preview(path: Path | Image, chain: Chain | str | Iterable[str] = (), *, size: int = 1024, level: int | None = None, max_memory: int | str | None = None, threads: int = 0, page: int | str | None = None, axes: str | None = None, raw: str | None = None, missing_chunks: Literal['error', 'fill'] | None = None, region: tuple[slice, slice] | str | None = None, nodata: float | str | None = None, nodata_bands: Literal['each', 'all'] = 'each', alpha: Literal['weight', 'mask'] | None = None) -> Preview:
    """What a chain makes of an image, on a level of its pyramid or on a detail, in a fraction of a second
    whatever its size: what ``sepconv preview`` does.

    Parameters
    ----------
    path : path or Image
        of several images the first, or `page`
    chain : Chain, str or iterable of str
        none: the image. On a level its lengths (sigma, radius) are divided by the level's scale
    size : int
        the picture's longer side, at most
    level : int, optional
        left out: the smallest that fills the picture; where there are none a detail from the middle, at full
        resolution
    region : tuple of slice or str, optional
        of the result, in pixels of the full resolution
    page, axes, raw, missing_chunks, nodata, nodata_bands, alpha, max_memory, threads
        as those of `run`

    Returns
    -------
    Preview

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as `run`; ValueError for a region outside of the result

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("scan.npy", np.zeros((300, 400), np.uint16))
    >>> sc.preview("scan.npy", sc.gaussian(8), size=100)
    <sepconv.Preview: all of 400 x 300 pixels, at full resolution>
    """
