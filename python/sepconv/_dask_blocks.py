"""Dask arrays in which each block is computed in a separate task from a rectangle of another dask array."""

import bisect
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph


def checked(array):
    """The array. TypeError or ValueError if it is not a dask array with known block sizes."""
    if not isinstance(array, da.Array):
        if isinstance(getattr(array, "data", None), da.Array):
            raise TypeError(
                f"a {type(array).__name__} is not a dask array, and its .data is one; give that, and to apply() the names of its axes"
            )
        raise TypeError(
            f"a {type(array).__name__} is not a dask array; make one of it (dask.array.from_array), or give it to sepconv.ndimage or a chain"
        )
    if any(side != side for side in array.shape):
        raise ValueError("the array has blocks of unknown sizes; call its compute_chunk_sizes() first")
    if isinstance(array._meta, np.ma.MaskedArray):
        raise TypeError(
            "a masked array's mask would be lost; give its data with NaN where values are missing"
        )
    return array


@dataclass(frozen=True)
class _CopyParts:
    """Copies the parts of a block that other blocks need, so that the whole block is neither kept nor
    sent for them."""

    keys: tuple

    def __call__(self, block):
        return [block[key].copy() for key in self.keys]


@dataclass(frozen=True)
class _Empty:
    meta: Any
    shape: tuple

    def __call__(self):
        return np.empty_like(self.meta, shape=self.shape)


@dataclass(frozen=True)
class _ComputeBlock:
    """Computes a block from a rectangle and from `arguments`. The rectangle is assembled from the inputs
    indexed by `keys`, at `positions`."""

    compute: Callable
    arguments: Any
    shape: tuple
    keys: tuple
    positions: tuple
    wrapped_axes: tuple  # axis, begin and end of each range that is longer than its axis

    def __call__(self, *inputs):
        parts = [block if key is None else block[key] for block, key in zip(inputs, self.keys)]
        del inputs
        if len(parts) == 1:
            whole = parts[0]
        else:
            whole = np.empty_like(parts[0], shape=self.shape, order="C")  # a CuPy array if the parts are
            for part, position in zip(parts, self.positions):
                whole[position] = part
        del parts
        for axis, first, end in self.wrapped_axes:
            side = whole.shape[axis]
            repeated = np.concatenate([whole] * (end // side - first // side + 1), axis)
            whole = repeated[(slice(None),) * axis + (slice(first % side, first % side + end - first),)]
        return self.compute(whole, self.arguments)


def _bounds(chunks):
    return [(0, *itertools.accumulate(one)) for one in chunks]


def _blocks_in_range(begin, end, bounds):
    """The blocks that cover [begin, end) along an axis, which repeats beyond its ends. For each: its index,
    the range within it, the range in the output, and whether it is needed whole."""
    side, at, found = bounds[-1], begin, []
    while at < end:
        origin = at // side * side
        block = bisect.bisect_right(bounds, at - origin) - 1
        first, last = (origin + one for one in bounds[block : block + 2])
        stop = min(end, last)
        found.append(
            (
                block,
                slice(at - first, stop - first),
                slice(at - begin, stop - begin),
                (at, stop) == (first, last),
            )
        )
        at = stop
    return found


def _read_ranges(needed, bounds):
    """The ranges to read along each axis, and the axes that wrap, because they are needed more than once."""
    wrapped_axes = tuple(
        (axis, *ends)
        for axis, (ends, of_axis) in enumerate(zip(needed, bounds))
        if ends[1] - ends[0] > of_axis[-1]
    )
    read = list(needed)
    for axis, *_ in wrapped_axes:
        read[axis] = 0, bounds[axis][-1]
    return read, wrapped_axes


class _Halos:
    """The parts of each block that other blocks need. One task copies them; a block that is mostly needed is
    used whole."""

    def __init__(self, source, name):
        self.source, self.name, self.cuts = source, name, {}

    def add(self, block, cut):
        self.cuts.setdefault(block, {}).setdefault(
            tuple((one.start, one.stop) for one in cut), (len(self.cuts[block]), cut)
        )

    def _is_mostly_needed(self, block):
        cut = sum(math.prod(stop - start for start, stop in ends) for ends in self.cuts[block])
        return 2 * cut > math.prod(chunks[index] for chunks, index in zip(self.source.chunks, block))

    def task_and_key(self, block, cut):
        """The task, and the key or index within its result."""
        if self._is_mostly_needed(block):
            return (self.source.name, *block), cut
        return (self.name, *block), self.cuts[block][tuple((one.start, one.stop) for one in cut)][0]

    def tasks(self):
        return {
            (self.name, *block): (
                _CopyParts(tuple(cut for _, cut in cuts.values())),
                (self.source.name, *block),
            )
            for block, cuts in self.cuts.items()
            if not self._is_mostly_needed(block)
        }


def array_of_blocks(source, name, chunks, meta, needs, compute):
    """A dask array with these chunks. `needs` returns, for the ranges of a block, the ranges of `source`,
    which repeats beyond its ends, and further arguments of `compute`, which computes the block."""
    function, _, token = name.rpartition("-")
    bounds, halos, graph, blocks = _bounds(source.chunks), _Halos(source, f"{function}-halo-{token}"), {}, []
    for indexed_ranges in itertools.product(*(list(enumerate(zip(one, one[1:]))) for one in _bounds(chunks))):
        key, ranges = (name, *(index for index, _ in indexed_ranges)), [ends for _, ends in indexed_ranges]
        if any(begin == end for begin, end in ranges):
            graph[key] = (_Empty(meta, tuple(end - begin for begin, end in ranges)),)
            continue
        needed, arguments = needs(ranges)
        read, wrapped_axes = _read_ranges(needed, bounds)
        parts = []
        for along in itertools.product(
            *(_blocks_in_range(*ends, of_axis) for ends, of_axis in zip(read, bounds))
        ):
            block, cut, position = (tuple(one[which] for one in along) for which in range(3))
            cut = None if all(whole for *_, whole in along) else cut
            if cut is not None:
                halos.add(block, cut)
            parts.append((block, cut, position))
        blocks.append((key, arguments, tuple(end - begin for begin, end in read), parts, wrapped_axes))
    for key, arguments, shape, parts, wrapped_axes in blocks:
        tasks_and_keys = [
            ((source.name, *block), None) if cut is None else halos.task_and_key(block, cut)
            for block, cut, _ in parts
        ]
        graph[key] = (
            _ComputeBlock(
                compute,
                arguments,
                shape,
                tuple(cut_key for _, cut_key in tasks_and_keys),
                tuple(position for *_, position in parts),
                wrapped_axes,
            ),
            *(task for task, _ in tasks_and_keys),
        )
    return da.Array(
        HighLevelGraph.from_collections(name, graph | halos.tasks(), dependencies=[source]),
        name,
        chunks,
        meta=meta,
    )
