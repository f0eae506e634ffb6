"""Chains on dask arrays: each block of the result of what the chain asks for of the source, told where in the
image that lies."""

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
    """Blocks of another side, in proportion, and none larger than the largest."""
    before, largest, made, done = sum(chunks), max(chunks), [], 0
    for end in itertools.accumulate(chunks):
        while (upto := (end * side + before // 2) // before) > done:
            made.append(min(upto - done, -(-(upto - done) // -(-(upto - done) // largest))))
            done += made[-1]
    return tuple(made) or (0,)


def _result_chunks(chain, names, source, shape):
    """Of rows and columns as the source has them, where the result has as many; channels are one block."""
    made = [(shape[axis],) if name == "c" else source.chunks[axis] for axis, name in enumerate(names)]
    turned = dict(zip("yx", "xy")) if chain._native.turns else {}
    for axis, name in enumerate(names):
        if name in "yx":
            chunks = source.chunks[names.index(turned.get(name, name))]
            made[axis] = (
                chunks
                if sum(chunks) == shape[axis]
                else _scaled(chunks, shape[axis])
                if sum(chunks)
                else (shape[axis],)
            )
    return tuple(made) + tuple((side,) for side in shape[len(names) :])


def _needs(chain, names, shape, dtype, largest):
    image = (
        *_arrays.image_of(names, shape),
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
    made = _arrays.apply(
        volumes.chain,
        planes.reshape(*planes.shape[:along_z], -1, *planes.shape[along_z + 2 :]),
        None,
        volumes.names,
        arithmetic,
        threads,
        None,
        part,
    )
    made = made.reshape(volumes.shape_of(made.shape))
    return made.transpose(volumes.inverse(made.ndim))


def _needs_of_planes(chain, names, shape, dtype, largest):
    """Whole planes: those of the block and the neighbours that the filters need."""
    volumes, axis = _volumes(chain, names, shape, dtype), names.index("z")
    image = (
        *_arrays.image_of(volumes.names, volumes.source),
        _dtypes.PIXELS[_dtypes.PARTS.get(dtype) or _dtypes.COMPUTED_AS[dtype]],
    )
    plane = math.prod(volumes.plane)

    def needs(ranges):
        begin, end = ranges[axis]
        result = begin, 0, end - begin, plane
        first, _, count, _ = volumes.chain._native.input_for(result, image)
        needed = [
            (0, shape[place]) if name in "yxc" else (first, first + count) if name == "z" else ends
            for place, (name, ends) in enumerate(zip(names, ranges))
        ]
        return needed, _arrays.Part(volumes.source, (first, 0), result, (largest, plane))

    return needs


def _along_z(chain, names, array, chunks, shape, token, meta, arithmetic, threads):
    """By blocks of whole planes, which are cut afterwards."""
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
        one if axis < len(names) and names[axis] not in "yxc" else (side,)
        for axis, (one, side) in enumerate(zip(chunks, shape))
    )
    dtype, needs = _dtypes.native(array.dtype), None
    if 0 not in shape:
        needs = _needs_of_planes(chain, names, array.shape, dtype, max(whole[names.index("z")]))
    compute = functools.partial(_applied_to_volume, chain, names, array.shape, dtype, arithmetic, threads)
    return array_of_blocks(planes, f"sepconv-chain-{token}", whole, meta, needs, compute).rechunk(chunks)


def apply(chain, array, axes=None, *, arithmetic=None, threads=1):
    """The chain on a dask array, or on each image of one, lazily: with the bytes that the chain makes of the
    whole array.

    Each block of the result is a task, which is given what the chain needs for it of the array, also of other
    blocks; borders act where the image ends and nowhere else. A chain along z is given whole planes. Blocks
    may have any sizes. The result has the array's, in proportion where a chain changes an image's rows and
    columns, and all channels in one block.

    Parameters
    ----------
    chain : Chain, str or iterable of str
    array : dask.array.Array
        of arrays in the host's memory, or on a GPU
    axes : str, optional
        a letter for each axis, as a chain that is called has them
    arithmetic : {'f32', 'f64'}, optional
    threads : int
        of a task

    Returns
    -------
    dask.array.Array

    Raises
    ------
    TypeError, ValueError
        as a chain that is called; and for what is not a dask array, or one of unknown blocks

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
        _arrays.names_of(array.shape, axes),
        _dtypes.native(array.dtype),
    )
    shape, result_dtype = _arrays.result_of(chain, names, array.shape, dtype)
    if "y" not in names:  # which may repeat, too
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
