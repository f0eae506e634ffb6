"""Images that share chunks: as many as fit the memory are kept, so that each chunk is read and written
once."""

import functools
import math

import numpy as np


class Layers:
    """What the array of an end is sliced through, an image at a time. Images follow each other in the order
    of the outer axes.

    `images` are held, 1 where nothing is won by it, so that a chunk is read or written `times` times.
    """

    def __init__(self, end, chunks, room):
        self.end, self.shape = end, end.array.shape
        deep = {axis: min(chunks[axis], self.shape[axis]) for axis in end.outer}
        choices = [
            (math.prod(deep.values()), 1, None, 1)
        ]  # times, images, an axis and how many of its places are held
        for place, axis in enumerate(end.outer):
            behind = math.prod(self.shape[other] for other in end.outer[place + 1 :])
            fit = room // behind if behind else 0
            if fit and deep[axis]:
                parts = -(-deep[axis] // fit)
                count = -(-deep[axis] // parts)
                choices.append(
                    (
                        math.prod(deep[other] for other in end.outer[:place]) * parts,
                        count * behind,
                        axis,
                        count,
                    )
                )
        self.times, self.images, self.axis, self.count = min(choices, key=lambda choice: choice[:2])
        if self.images > 1:
            self.deep, self.before = deep[self.axis], end.outer[: end.outer.index(self.axis)]
            self.layer, self.loaded = None, set()

    @functools.cached_property
    def held(self):
        """Taken when the first image is: a plan takes nothing."""
        outer = {
            axis: 1 if axis in self.before else self.count if axis == self.axis else self.shape[axis]
            for axis in self.end.outer
        }
        return np.empty([outer.get(axis, side) for axis, side in enumerate(self.shape)], self.end.dtype)

    def _keys(self, key):
        """Of a part of an image: that part of all images of its layer, the same in what is held, and its own
        place there."""
        whole, held, own = list(key), list(key), list(key)
        for axis in self.end.outer:
            begin, end = 0, self.shape[axis]
            if axis in self.before:
                begin, end = key[axis], key[axis] + 1
            elif axis == self.axis:
                chunk = key[axis] // self.deep * self.deep
                begin = chunk + (key[axis] - chunk) // self.count * self.count
                end = min(begin + self.count, chunk + self.deep, end)
            whole[axis], held[axis], own[axis] = slice(begin, end), slice(0, end - begin), key[axis] - begin
        return tuple(whole), tuple(held), tuple(own)

    def __getitem__(self, key):
        whole, held, own = self._keys(key)
        layer = [whole[axis].start for axis in self.end.outer]
        part = tuple((one.start, one.stop) for one in whole)
        if layer != self.layer:
            self.layer, self.loaded = layer, set()
        if part not in self.loaded:
            self.held[held] = self.end.asked(whole)
            self.loaded.add(part)
        return self.held[own]

    def __setitem__(self, key, values):
        """With the last image of a layer, which the others are complete before, all are handed over: a copy,
        which may be kept."""
        whole, held, own = self._keys(key)
        self.held[own] = values
        if all(own[axis] + 1 == held[axis].stop for axis in self.end.outer):
            self.end.array[whole] = self.held[held].copy()
