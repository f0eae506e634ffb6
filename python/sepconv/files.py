"""From file to file, array to array and either to the other, in bounded memory: what the program ``sepconv`` does.

A source or sink is a path; an `Image` that `open` has made; an array; or what has ``shape``, ``dtype`` and is sliced, such as datasets of h5py,
arrays of zarr and np.memmap.

>>> import numpy as np
>>> import sepconv as sc
>>> np.save("in.npy", np.eye(64, dtype=np.float32))
>>> report = sc.run("in.npy", "out.npy", sc.gaussian(2.5), progress=False, overwrite=True)
>>> sc.open("out.npy")
<sepconv.Image 'out.npy': y 64 x x 64, float32, NPY 1.0, uncompressed, little-endian>
"""

import functools
import os
import warnings

from sepconv import _ends, _measure, _options, _sepconv
from sepconv._chain import Chain
from sepconv._image import Image
from sepconv._measure import ChannelStats, Comparison, Difference, Stats
from sepconv._progress import shown
from sepconv._report import Plan, Report, Span

__all__ = ["ChannelStats", "Comparison", "Difference", "FileWarning", "Image", "Plan", "Report", "Span", "Stats", "compare", "gemm", "open", "plan", "run",
           "stats", "transpose"]


class FileWarning(UserWarning):
    """What a result does not have of its source, or what of a file is not what it seems."""


def _warn(sentences):
    for sentence in sentences:
        warnings.warn(sentence, FileWarning, stacklevel=3)


def _source(source, options, suffix=""):
    """What the extension module opens, and the options with those that an Image was opened with."""
    if isinstance(source, Image):
        both = sorted({name for name in source.options if name + suffix in options})
        if both:
            raise ValueError(f"{both[0] + suffix}= was given to sepconv.open and is given again; give it once")
        return source.path, {**{name + suffix: value for name, value in source.options.items()}, **options}
    if _options.is_path(source):
        return source, options
    for name in ("page", "level", "raw"):
        if options.get(name + suffix):
            raise ValueError(f"{name + suffix}= is for files; slice the array instead")
    axes = options.get("axes" + suffix)
    return _ends.Source(source, axes), {name: value for name, value in options.items() if name != "axes" + suffix}


def _sink(sink, options):
    if _options.is_path(sink):
        return sink
    for name in _options.LAYOUT:
        if options.get(name) and name != "overwrite":
            raise ValueError(f"{name}= is for files, and the sink is none; leave it out")
    return _ends.Sink(sink)


def _ends_of(source, sink, options):
    source, options = _source(source, options)
    sink = _sink(sink, options)
    if isinstance(source, _ends.Source) and isinstance(sink, _ends.Sink):
        _ends.check_apart(source, sink)
    return source, sink, options


def _chain(chain):
    return chain if isinstance(chain, Chain) else Chain(chain)


@_options.declared(_options.RUN)
def run(source, sink, chain=(), *, progress=True, **options):
    """Filters an image, or all images of a file, larger than memory or not: what ``sepconv run`` does.

    The result of a path appears under its name when it is complete, and not at all if anything fails; it is laid out like its source and has its
    metadata, as far as that makes sense and the options do not say otherwise. Of several images the sink has the axes first. Ctrl-C stops a run
    within half a second; an array then has what was written until then, and of a file there is nothing.

    Parameters
    ----------
    source : path, Image, array_like, or sliceable
        an array has rows x columns, rows x columns x channels (up to 4), or `axes`; what is sliced is read a few rows, or rows of chunks, at a time
    sink : path, ndarray, or sliceable
        a path's ending says the format; else of the result's shape and type, and apart from `source`
    chain : Chain, str or iterable of str
        none: a copy
    progress : bool or callable
        True: a bar by tqdm where that is installed, on a terminal or in a notebook; a function gets pixels done and pixels, in this thread
    max_memory : int or str, optional
        ceiling for what the run holds, ``'2G'``; left out: a quarter of what is free. What a sliceable itself holds is not counted
    device : str
        ``'auto'`` (the CPU or the first GPU, whichever should be done first), ``'cpu'``, ``'cuda'``, ``'cuda:0,1'``
    max_device_memory : int or str, optional
        ceiling for what the run holds on each GPU
    threads, slots, band_rows, band_cols : int
        0: chosen
    arithmetic : {'f32', 'f64'}, optional
        left out: f64 where source, result or a stage is f64
    axes : str, optional
        a letter for each axis of an array or an NPY file: ``y`` rows, ``x`` columns, a last ``c`` channels, others count images
    page : int or str, optional
        images of a file: ``3``, ``'0-9'``, ``'c=1'``, ``'z=2-5,t=0'``; left out: all
    level : int
        of a pyramid
    raw : str, optional
        the source has no header: ``'COLSxROWS[xCHANNELS]:TYPE[:OFFSET]'``
    region : tuple of slice, optional
        the part of the result that is made, rows then columns: ``np.s_[0:768, 0:1024]``
    nodata : float or 'none', optional
        pixels of this value are missing, or none are; left out: what the file declares
    result_nodata : float, optional
        what missing pixels are in the result
    compress : str, optional
        ``'none'``, ``'lzw'``, ``'deflate'``, ``'zstd'``, ``'jpeg'``, ``'packbits'``, with a level after a colon if wanted
    tile : int or tuple of int, optional
        rows and columns of a TIFF's tiles; 0 for strips
    planar, no_predictor, pyramid, cog, big_tiff : bool, optional
        of TIFFs: channels in planes; no predictor; with smaller levels or without; a Cloud Optimized GeoTIFF; BigTIFF or classic
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
    source, sink, options = _ends_of(source, sink, options)
    native = _options.native(_options.RUN, options)
    with shown(progress) as told:
        report = _sepconv.run(source, sink, _chain(chain)._native, native, told)
    _warn(report.warnings)
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
    source, sink, options = _ends_of(source, sink, options)
    made = Plan(*_sepconv.plan(source, sink, _chain(chain)._native, _options.native(_PLAN, options)))
    _warn(made.warnings)
    return made


_TRANSPOSE = {name: option for name, option in _PLAN.items() if name not in ("region", "nodata", "result_nodata")}


@_options.declared(_TRANSPOSE)
def transpose(source, sink, perm=(1, 0), *, progress=True, **options):
    """Permutes the axes of an image or of an NPY file of up to three axes: what ``sepconv transpose`` does.

    Parameters
    ----------
    source, sink : path, or, for rows with columns, as those of `run`
    perm : tuple of int
        axis k of the result is axis ``perm[k]`` of the source, as `numpy.transpose` has it; an image has rows, columns and channels
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
    source, sink, options = _ends_of(source, sink, options)
    native = _options.native(_TRANSPOSE, options)
    perm = tuple(perm)
    with shown(progress) as told:
        if _options.is_path(source) and _options.is_path(sink):
            report = _sepconv.permute(source, sink, ",".join(str(axis) for axis in perm), native, told)
        elif perm in ((1, 0), (1, 0, 2)):
            report = _sepconv.run(source, sink, Chain("transpose")._native, native, told)
        else:
            raise ValueError(f"perm={perm!r} goes from path to path; of an array give run() its transpose, which is none to it but other strides")
    _warn(report.warnings)
    return Report(report)


_GEMM = {**_options.LIMITS, **_options.OPEN, **_options.LAYOUT}


@_options.declared(_GEMM)
def gemm(a, b, sink, *, alpha=1.0, beta=None, add=None, trans_a=False, trans_b=False, progress=True, **options):
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
        as those of `run`; `page`, `level`, `axes` and `raw` are those of all files

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
    if add is None and beta is not None:
        raise ValueError("beta multiplies the matrix that is added; give add, or leave beta out")
    native = _options.native(_GEMM, options)
    operands = [None if one is None else _source(one, {})[0] for one in (a, b, add)]
    sink = _sink(sink, options)
    if isinstance(sink, _ends.Sink):
        for operand in operands:
            if isinstance(operand, _ends.Source):
                _ends.check_apart(operand, sink)
    beta = 0.0 if add is None else 1.0 if beta is None else float(beta)
    with shown(progress) as told:
        report = _sepconv.multiply(*operands, sink, float(alpha), beta, bool(trans_a), bool(trans_b), native, told)
    _warn(report.warnings)
    return Report(report)


def open(path, *, page=None, level=0, axes=None, raw=None, nodata=None):
    """Opens an image file: its headers only. Parts are read where it is sliced, all of it by `numpy.asarray`.

    Parameters
    ----------
    path : path
        TIFF, NPY, raw, PNG, JPEG, PNM or BMP
    page, level, axes, raw, nodata
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
    given = {"page": page, "level": level, "axes": axes, "raw": raw, "nodata": nodata}
    image = Image(os.fspath(path), {name: value for name, value in given.items() if value is not None and (name, value) != ("level", 0)})
    _warn(image.warnings)
    return image


def _opened(source, options, suffix=""):
    """The extension module's set, and the options that are not of opening."""
    source, options = _source(source, options, suffix)
    opening = {name: options[name + suffix] for name in _options.OPEN if name + suffix in options}
    opening.update((name, options[name]) for name in _options.MISSING if name in options)
    native = _options.native({**_options.OPEN, **_options.MISSING}, opening)
    return _sepconv.open_set(source, native), {name: value for name, value in options.items() if name.removesuffix(suffix) not in _options.OPEN}


_STATS = {**_options.LIMITS, **_options.ARITHMETIC, **_options.OPEN, **_options.MISSING}


@_options.declared(_STATS)
def stats(source, *, progress=True, **options):
    """Minimum, maximum, mean, deviation and histogram of every channel, in one pass (two of floating types): what ``sepconv stats`` does.

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
    native, others = _opened(source, options)
    given = _options.native(_STATS, others)
    with shown(progress) as told:
        made, said = _measure.stats_of(native, given, told)
    _warn(said)
    return made


_COMPARE = {**{name: option for name, option in _options.LIMITS.items() if name not in ("device", "max_device_memory")}, **_options.ARITHMETIC,
            **_options.OPEN, **{name + "_b": option for name, option in _options.OPEN.items()}, **_options.MISSING}


@_options.declared(_COMPARE)
def compare(a, b, *, tolerance=0.0, progress=True, **options):
    """Greatest and mean difference of two images, or of all images of two files: what ``sepconv compare`` does.

    Parameters
    ----------
    a, b : path, Image, array_like, or sliceable
        of one shape and type
    tolerance : float
        differences up to this count as equal
    progress, **options
        as those of `run`; `page_b`, `level_b`, `axes_b` and `raw_b` are those of `b`

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
    if not tolerance >= 0:
        raise ValueError(f"tolerance={tolerance!r} is no number of at least 0")
    of_a = {name: value for name, value in options.items() if not name.endswith("_b")}
    of_b = {name: value for name, value in options.items() if name.endswith("_b") or name in _options.MISSING}
    (first, others), (second, _) = _opened(a, of_a), _opened(b, of_b, "_b")
    if first.count != second.count:
        raise ValueError(f"there are {first.count} images in the first and {second.count} in the second; compare as many")
    given = _options.native(_COMPARE, others)
    with shown(progress) as told:
        made, said = _measure.comparison_of(first, second, float(tolerance), given, told)
    _warn(said)
    return made


def or_stage(stage, function, least):
    """The stage of this name, or, given `least` arguments by position or a sink, what is done to files."""

    @functools.wraps(stage)
    def either(*args, **keywords):
        return function(*args, **keywords) if len(args) >= least or "sink" in keywords else stage(*args, **keywords)

    either.__doc__ = f"{stage.__doc__}\nWith a source and a sink it is `sepconv.files.{function.__name__}`.\n"
    return either
