"""Dask arrays whose blocks are each made, in a task of its own, of a rectangle of another dask array: cut out
of the blocks that it lies in."""

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
    """TypeError or ValueError for what is not a dask array whose blocks are known."""
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
class _Cuts:
    """What other blocks need of one, each part with memory of its own: the block is not kept for them, nor
    sent."""

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
class _Made:
    """A block of what `compute` makes of a rectangle, and of `asked`. The rectangle's parts are taken by
    `keys` of what is given and lie at `places`."""

    compute: Callable
    asked: Any
    shape: tuple
    keys: tuple
    places: tuple
    repeats: tuple  # axis, first and end of an axis that is needed more than once

    def __call__(self, *given):
        parts = [one if key is None else one[key] for one, key in zip(given, self.keys)]
        del given
        if len(parts) == 1:
            whole = parts[0]
        else:
            whole = np.empty_like(parts[0], shape=self.shape, order="C")  # of CuPy's, if those are
            for part, place in zip(parts, self.places):
                whole[place] = part
        del parts
        for axis, first, end in self.repeats:
            side = whole.shape[axis]
            repeated = np.concatenate([whole] * (end // side - first // side + 1), axis)
            whole = repeated[(slice(None),) * axis + (slice(first % side, first % side + end - first),)]
        return self.compute(whole, self.asked)


def _bounds(chunks):
    return [(0, *itertools.accumulate(one)) for one in chunks]


def _along(begin, end, bounds):
    """Of what lies in [begin, end) along an axis, which repeats beyond its ends: the block, from where to
    where of it, where that goes, and whether it is all of it."""
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


def _rectangle(needed, bounds):
    """Ranges of the axes that are read, and those that are then repeated, as they are needed more than
    once."""
    repeats = tuple(
        (axis, *ends)
        for axis, (ends, of_axis) in enumerate(zip(needed, bounds))
        if ends[1] - ends[0] > of_axis[-1]
    )
    read = list(needed)
    for axis, *_ in repeats:
        read[axis] = 0, bounds[axis][-1]
    return read, repeats


class _Halos:
    """Of the blocks of an array what others need of them: in one task a block, or, where that is much of it,
    the block itself."""

    def __init__(self, source, name):
        self.source, self.name, self.cuts = source, name, {}

    def add(self, block, cut):
        self.cuts.setdefault(block, {}).setdefault(
            tuple((one.start, one.stop) for one in cut), (len(self.cuts[block]), cut)
        )

    def _is_much(self, block):
        cut = sum(math.prod(stop - start for start, stop in ends) for ends in self.cuts[block])
        return 2 * cut > math.prod(chunks[index] for chunks, index in zip(self.source.chunks, block))

    def taken(self, block, cut):
        """The task, and what of its result."""
        if self._is_much(block):
            return (self.source.name, *block), cut
        return (self.name, *block), self.cuts[block][tuple((one.start, one.stop) for one in cut)][0]

    def tasks(self):
        return {
            (self.name, *block): (_Cuts(tuple(cut for _, cut in cuts.values())), (self.source.name, *block))
            for block, cuts in self.cuts.items()
            if not self._is_much(block)
        }


def array_of_blocks(source, name, chunks, meta, needs, compute):
    """A dask array of these chunks. `needs` gives, for the ranges of a block, the ranges of `source`, beyond
    whose ends it repeats, and the further arguments of `compute`; `compute` makes the block."""
    function, _, token = name.rpartition("-")
    bounds, halos, graph, made = _bounds(source.chunks), _Halos(source, f"{function}-halo-{token}"), {}, []
    for place in itertools.product(*(list(enumerate(zip(one, one[1:]))) for one in _bounds(chunks))):
        key, ranges = (name, *(index for index, _ in place)), [ends for _, ends in place]
        if any(begin == end for begin, end in ranges):
            graph[key] = (_Empty(meta, tuple(end - begin for begin, end in ranges)),)
            continue
        needed, asked = needs(ranges)
        read, repeats = _rectangle(needed, bounds)
        parts = []
        for along in itertools.product(*(_along(*ends, of_axis) for ends, of_axis in zip(read, bounds))):
            block, cut, at = (tuple(one[which] for one in along) for which in range(3))
            cut = None if all(whole for *_, whole in along) else cut
            if cut is not None:
                halos.add(block, cut)
            parts.append((block, cut, at))
        made.append((key, asked, tuple(end - begin for begin, end in read), parts, repeats))
    for key, asked, shape, parts, repeats in made:
        taken = [
            ((source.name, *block), None) if cut is None else halos.taken(block, cut)
            for block, cut, _ in parts
        ]
        graph[key] = (
            _Made(
                compute, asked, shape, tuple(one for _, one in taken), tuple(at for *_, at in parts), repeats
            ),
            *(task for task, _ in taken),
        )
    return da.Array(
        HighLevelGraph.from_collections(name, graph | halos.tasks(), dependencies=[source]),
        name,
        chunks,
        meta=meta,
    )
