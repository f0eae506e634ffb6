"""Chains on dask arrays: each block of the result is computed from the part of the source that the chain
needs, with its position in the image."""

import functools
import itertools
import math
import uuid

from dask.array.utils import meta_from_array
from dask.base import tokenize

from sepconv import _arrays, _options, _dtypes
from sepconv._chain import Chain
from sepconv._dask_blocks import checked, array_of_blocks
from sepconv._volumes import volumes_of


def _scaled(chunks, side):
    """Blocks for an axis of length `side`, in proportion to `chunks`, none larger than the largest."""
    before, largest, sizes, done = sum(chunks), max(chunks), [], 0
    for end in itertools.accumulate(chunks):
        while (stop := (end * side + before // 2) // before) > done:
            sizes.append(min(stop - done, -(-(stop - done) // -(-(stop - done) // largest))))
            done += sizes[-1]
    return tuple(sizes) or (0,)


def _result_chunks(chain, names, source, shape):
    """The chunks of the result: as the source's along rows and columns if the sizes match, else in
    proportion. Channels are one block."""
    result = [(shape[axis],) if name == "c" else source.chunks[axis] for axis, name in enumerate(names)]
    swapped = dict(zip("yx", "xy")) if chain._native.turns else {}
    for axis, name in enumerate(names):
        if name in "yx":
            chunks = source.chunks[names.index(swapped.get(name, name))]
            result[axis] = (
                chunks
                if sum(chunks) == shape[axis]
                else _scaled(chunks, shape[axis])
                if sum(chunks)
                else (shape[axis],)
            )
    return tuple(result) + tuple((side,) for side in shape[len(names) :])


def _needs(chain, names, shape, dtype, largest):
    image = (
        *_arrays.image_shape(names, shape),
        _dtypes.PIXELS[_dtypes.PARTS.get(dtype) or _dtypes.COMPUTED_AS[dtype]],
    )

    def needs(ranges):
        (row, row_end), (col, col_end) = (ranges[names.index(name)] for name in "yx")
        result = row, col, row_end - row, col_end - col
        first_row, first_col, rows, cols = chain._native.input_for(result, image)
        of_image = {
            "y": (first_row, first_row + rows),
            "x": (first_col, first_col + cols),
            "c": (0, image[2]),
        }
        needed = [of_image.get(name, ends) for name, ends in zip(names, ranges)]
        return needed, _arrays.Part(shape, (first_row, first_col), result, largest)

    return needs


def _applied(chain, names, arithmetic, threads, block, part):
    return _arrays.apply(chain, block, None, names, arithmetic, threads, None, part)


def _volumes(chain, names, shape, dtype):
    return volumes_of(chain, names, shape, _dtypes.PARTS.get(dtype) or _dtypes.COMPUTED_AS[dtype])


def _applied_to_volume(chain, names, shape, dtype, arithmetic, threads, block, part):
    volumes = _volumes(chain, names, shape, dtype)
    planes = block.transpose(volumes.order)
    along_z = len(volumes.names.partition("y")[0]) + 1
    result = _arrays.apply(
        volumes.chain,
        planes.reshape(*planes.shape[:along_z], -1, *planes.shape[along_z + 2 :]),
        None,
        volumes.names,
        arithmetic,
        threads,
        None,
        part,
    )
    result = result.reshape(volumes.shape_of(result.shape))
    return result.transpose(volumes.inverse(result.ndim))


def _needs_of_planes(chain, names, shape, dtype, largest):
    """Ranges of whole planes: those of the block and the neighbours that the filters need."""
    volumes, axis = _volumes(chain, names, shape, dtype), names.index("z")
    image = (
        *_arrays.image_shape(volumes.names, volumes.source),
        _dtypes.PIXELS[_dtypes.PARTS.get(dtype) or _dtypes.COMPUTED_AS[dtype]],
    )
    plane = math.prod(volumes.plane)

    def needs(ranges):
        begin, end = ranges[axis]
        result = begin, 0, end - begin, plane
        first, _, count, _ = volumes.chain._native.input_for(result, image)
        needed = [
            (0, shape[dimension]) if name in "yxc" else (first, first + count) if name == "z" else ends
            for dimension, (name, ends) in enumerate(zip(names, ranges))
        ]
        return needed, _arrays.Part(volumes.source, (first, 0), result, (largest, plane))

    return needs


def _along_z(chain, names, array, chunks, shape, token, meta, arithmetic, threads):
    """Computes blocks of whole planes and then splits them."""
    if not chain._native.of_volumes:
        raise ValueError(
            f"the chain '{chain}' has a stack beside the array, which blocks would need parts of; call the chain with an array in memory, or give sepconv.run files"
        )
    if "z" not in names:
        raise ValueError(
            f"the chain '{chain}' is along z, and axes='{names}' has no z; name the axis, such as axes='zyx'"
        )
    planes = array.rechunk({axis: -1 for axis, name in enumerate(names) if name in "yxc"})
    whole = tuple(
        chunk_sizes if axis < len(names) and names[axis] not in "yxc" else (side,)
        for axis, (chunk_sizes, side) in enumerate(zip(chunks, shape))
    )
    dtype, needs = _dtypes.native(array.dtype), None
    if 0 not in shape:
        needs = _needs_of_planes(chain, names, array.shape, dtype, max(whole[names.index("z")]))
    compute = functools.partial(_applied_to_volume, chain, names, array.shape, dtype, arithmetic, threads)
    return array_of_blocks(planes, f"sepconv-chain-{token}", whole, meta, needs, compute).rechunk(chunks)


def apply(chain, array, axes=None, *, arithmetic=None, threads=1):
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
    chain, array = chain if isinstance(chain, Chain) else Chain(chain), checked(array)
    if arithmetic is not None:
        _options.arithmetic("arithmetic", arithmetic)
    threads, names, dtype = (
        _arrays.checked_threads("threads", threads),
        _arrays.axis_letters(array.shape, axes),
        _dtypes.native(array.dtype),
    )
    shape, result_dtype = _arrays.result_of(chain, names, array.shape, dtype)
    if "y" not in names:  # a row may repeat, too
        return apply(chain, array[None], "y" + names, arithmetic=arithmetic, threads=threads)[0]
    chunks = _result_chunks(chain, names, array, shape)
    largest = tuple(max(chunks[names.index(name)]) for name in "yx")
    may_change = [uuid.uuid4().hex] if any("file=" in text for text in chain._texts) else []
    token = tokenize(array.name, chain._texts, names, arithmetic, threads, *may_change)
    meta = meta_from_array(array._meta, len(shape), result_dtype)
    if chain._native.of_stacks:
        return _along_z(chain, names, array, chunks, shape, token, meta, arithmetic, threads)
    return array_of_blocks(
        array,
        f"sepconv-chain-{token}",
        chunks,
        meta,
        _needs(chain, names, array.shape, dtype, largest),
        functools.partial(_applied, chain, names, arithmetic, threads),
    )
