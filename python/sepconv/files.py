"""Functions on files and arrays with bounded memory, as the program ``sepconv``.

A source or sink is a path, an `Image` from `open`, an array, or an object with ``shape`` and ``dtype`` that
can be sliced, such as h5py datasets, zarr arrays and np.memmap.

Examples
--------
>>> import numpy as np
>>> import sepconv as sc
>>> np.save("in.npy", np.eye(64, dtype=np.float32))
>>> report = sc.run("in.npy", "out.npy", sc.gaussian(2.5), progress=False, overwrite=True)
>>> sc.open("out.npy")
<sepconv.Image 'out.npy': y 64 x x 64, float32, NPY 1.0, uncompressed, little-endian>
"""

import functools
import inspect
import math

from sepconv import _array_io, _inputs, _options, _sepconv, _resume, _stages
from sepconv._chain import Chain
from sepconv._image import Image, open
from sepconv._measure import ChannelStats, Comparison, Difference, Stats, compare, stats
from sepconv._inputs import FileWarning
from sepconv._preview import Preview, preview
from sepconv._progress import shown
from sepconv._report import Plan, Report, Span
from sepconv._resume import create_only, finish

# Without `open`: a star import would replace the built-in function.
__all__ = [
    "ChannelStats",
    "Comparison",
    "Difference",
    "FileWarning",
    "Image",
    "Plan",
    "Preview",
    "Report",
    "Span",
    "Stats",
    "compare",
    "create_only",
    "finish",
    "gemm",
    "plan",
    "preview",
    "run",
    "stats",
    "transpose",
]


def _chain(chain):
    return chain if isinstance(chain, Chain) else Chain(chain)


@_options.declared(_options.RUN)
def run(source, sink, chain=(), *, progress=True, resume=False, discard=False, part=None, **options):
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
        ``'auto'`` (the CPU, the first GPU or both, whichever is predicted to be faster), ``'cpu'``,
        ``'cuda'``, ``'cuda:0,1'``, ``'cpu+cuda:0'``
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
    source, sink, options = _inputs.opened_source_and_sink(source, sink, options)
    chain = _chain(chain)
    settings = _options.settings_of(_options.RUN, _inputs.with_resolved_region(source, options, chain))
    with shown(progress) as report_progress:
        report = _resume.run(source, sink, chain._native, settings, resume, discard, part, report_progress)
    _inputs.warn(report.warnings)
    return Report(report)


_PLAN = {name: option for name, option in _options.RUN.items() if name != "plan"}


@_options.declared(_PLAN)
def plan(source, sink, chain=(), **options):
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
    source, sink, options = _inputs.opened_source_and_sink(source, sink, options)
    chain = _chain(chain)
    settings = _options.settings_of(_PLAN, _inputs.with_resolved_region(source, options, chain))
    result = Plan(*_sepconv.plan(source, sink, chain._native, settings))
    _inputs.warn(result.warnings)
    return result


_TRANSPOSE = {
    name: option
    for name, option in _PLAN.items()
    if name not in ("region", *_options.PIXEL_HANDLING, *_options.PICTURE)
}


@_options.declared(_TRANSPOSE)
def transpose(source, sink, perm=(1, 0), *, progress=True, **options):
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
    """
    source, sink, options = _inputs.opened_source_and_sink(source, sink, options)
    settings = _options.settings_of(_TRANSPOSE, options)
    perm = tuple(perm)
    with shown(progress) as report_progress:
        if _options.is_path(source) and _options.is_path(sink):
            report = _sepconv.permute(
                source, sink, ",".join(str(axis) for axis in perm), settings, report_progress
            )
        elif perm in ((1, 0), (1, 0, 2)):
            report = _sepconv.run(source, sink, Chain("transpose")._native, settings, False, report_progress)
        else:
            raise ValueError(f"perm={perm!r} is only for paths; for an array, give run() its transposed view")
    _inputs.warn(report.warnings)
    return Report(report)


_GEMM = {
    **_options.LIMITS,
    **_options.OPEN,
    **{name + suffix: option for suffix in ("_b", "_c") for name, option in _options.OPEN.items()},
    **_options.LAYOUT,
}


@_options.declared(_GEMM)
def gemm(a, b, sink, *, alpha=1.0, beta=None, c=None, trans_a=False, trans_b=False, progress=True, **options):
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
    """
    _check_factors(alpha, beta, c, options)
    operands = []
    for operand, suffix in ((a, ""), (b, "_b"), *([(c, "_c")] if c is not None else [])):
        source, source_settings, options = _inputs.source_and_settings(operand, options, suffix)
        operands.append((source, source_settings))
    settings = _options.settings_of(_GEMM, options)
    sink = _inputs.sink_of(sink, options)
    for source, _ in operands:
        if isinstance(sink, _array_io.Sink):
            _array_io.check_no_shared_memory(source, sink)
    beta = 0.0 if c is None else 1.0 if beta is None else float(beta)
    with shown(progress) as report_progress:
        report = _sepconv.multiply(
            operands, sink, float(alpha), beta, bool(trans_a), bool(trans_b), settings, report_progress
        )
    _inputs.warn(report.warnings)
    return Report(report)


def _check_factors(alpha, beta, c, options):
    for name, factor in (("alpha", alpha), ("beta", beta or 0)):
        if not math.isfinite(factor):
            raise ValueError(f"{name}={factor!r} is not a finite number")
    if c is None and beta is not None:
        raise ValueError("beta multiplies the matrix c; give c, or leave beta out")
    if c is None and (options_of_c := [name for name in options if name.endswith("_c") and options[name]]):
        raise ValueError(f"{options_of_c[0]}= is an option of the matrix c; give c, or leave it out")


def _or_stage(stage, function, min_arguments):
    """Calls `function` with at least `min_arguments` positional arguments or a sink, else the stage of this
    name. The signature is that of `function`."""

    @functools.wraps(function)
    def function_or_stage(*args, **keywords):
        return (
            function(*args, **keywords)
            if len(args) >= min_arguments or "sink" in keywords
            else stage(*args, **keywords)
        )

    keys = inspect.Signature(
        [
            parameter.replace(annotation=parameter.empty)
            for parameter in inspect.signature(stage).parameters.values()
        ]
    )
    words = f"Without a sink it is the stage of this name, ``{stage.__name__}{keys}``: {stage.__doc__.splitlines()[0]}"
    function_or_stage.__doc__ = f"{function.__doc__.rstrip()}\n\n    Notes\n    -----\n    {words}\n    "
    return function_or_stage


gemm = _or_stage(_stages.gemm, gemm, 3)
transpose = _or_stage(_stages.transpose, transpose, 1)
