"""From file to file, array to array and either to the other, in bounded memory: what the program ``sepconv``
does.

A source or sink is a path; an `Image` that `open` has made; an array; or what has ``shape``, ``dtype`` and is
sliced, such as datasets of h5py, arrays of zarr and np.memmap.

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

# Without `open`, which a star import would put in the place of Python's own.
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
    dst_nodata : float, optional
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
    planar, no_predictor, pyramid, cog, bigtiff : bool, optional
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
    fsync : bool
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
    source, sink, options = _inputs.opened_source_and_sink(source, sink, options)
    chain = _chain(chain)
    settings = _options.settings_of(_options.RUN, _inputs.with_resolved_region(source, options, chain))
    with shown(progress) as told:
        report = _resume.run(source, sink, chain._native, settings, resume, discard, part, told)
    _inputs.warn(report.warnings)
    return Report(report)


_PLAN = {name: option for name, option in _options.RUN.items() if name != "plan"}


@_options.declared(_PLAN)
def plan(source, sink, chain=(), **options):
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
    source, sink, options = _inputs.opened_source_and_sink(source, sink, options)
    chain = _chain(chain)
    settings = _options.settings_of(_PLAN, _inputs.with_resolved_region(source, options, chain))
    made = Plan(*_sepconv.plan(source, sink, chain._native, settings))
    _inputs.warn(made.warnings)
    return made


_TRANSPOSE = {
    name: option
    for name, option in _PLAN.items()
    if name not in ("region", *_options.PIXEL_HANDLING, *_options.PICTURE)
}


@_options.declared(_TRANSPOSE)
def transpose(source, sink, perm=(1, 0), *, progress=True, **options):
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
    """
    source, sink, options = _inputs.opened_source_and_sink(source, sink, options)
    settings = _options.settings_of(_TRANSPOSE, options)
    perm = tuple(perm)
    with shown(progress) as told:
        if _options.is_path(source) and _options.is_path(sink):
            report = _sepconv.permute(source, sink, ",".join(str(axis) for axis in perm), settings, told)
        elif perm in ((1, 0), (1, 0, 2)):
            report = _sepconv.run(source, sink, Chain("transpose")._native, settings, False, told)
        else:
            raise ValueError(
                f"perm={perm!r} goes from path to path; of an array give run() its transpose, which is none to it but other strides"
            )
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
    """``alpha op(a) op(b) + beta c``, of matrices larger than memory: what ``sepconv gemm`` does.

    Parameters
    ----------
    a, b, c : path, Image, array_like, or sliceable
        matrices of f32 or f64, all of one type
    sink : path, ndarray, or sliceable
    alpha, beta : float
        `beta` is 1 where `c` is given
    trans_a, trans_b : bool
        the transpose in its place
    progress, **options
        as those of `run`; `page`, `level`, `axes`, `raw` and `missing_chunks` are those of `a`, `page_b` and
        so on of `b`, and `page_c` of `c`

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
    """
    _check_factors(alpha, beta, c, options)
    operands = []
    for operand, suffix in ((a, ""), (b, "_b"), *([(c, "_c")] if c is not None else [])):
        source, of_source, options = _inputs.source_and_settings(operand, options, suffix)
        operands.append((source, of_source))
    settings = _options.settings_of(_GEMM, options)
    sink = _inputs.sink_of(sink, options)
    for source, _ in operands:
        if isinstance(sink, _array_io.Sink):
            _array_io.check_no_shared_memory(source, sink)
    beta = 0.0 if c is None else 1.0 if beta is None else float(beta)
    with shown(progress) as told:
        report = _sepconv.multiply(
            operands, sink, float(alpha), beta, bool(trans_a), bool(trans_b), settings, told
        )
    _inputs.warn(report.warnings)
    return Report(report)


def _check_factors(alpha, beta, c, options):
    for name, factor in (("alpha", alpha), ("beta", beta or 0)):
        if not math.isfinite(factor):
            raise ValueError(f"{name}={factor!r} is not a finite number")
    if c is None and beta is not None:
        raise ValueError("beta multiplies the matrix c; give c, or leave beta out")
    if c is None and (of_added := [name for name in options if name.endswith("_c") and options[name]]):
        raise ValueError(f"{of_added[0]}= is an option of the matrix c; give c, or leave it out")


def _or_stage(stage, function, least):
    """What is done to files, given `least` arguments by position or a sink, and what the signature is of;
    else the stage of this name."""

    @functools.wraps(function)
    def either(*args, **keywords):
        return (
            function(*args, **keywords)
            if len(args) >= least or "sink" in keywords
            else stage(*args, **keywords)
        )

    keys = inspect.Signature(
        [one.replace(annotation=one.empty) for one in inspect.signature(stage).parameters.values()]
    )
    words = f"Without a sink it is the stage of this name, ``{stage.__name__}{keys}``: {stage.__doc__.splitlines()[0]}"
    either.__doc__ = f"{function.__doc__.rstrip()}\n\n    Notes\n    -----\n    {words}\n    "
    return either


gemm = _or_stage(_stages.gemm, gemm, 3)
transpose = _or_stage(_stages.transpose, transpose, 1)
