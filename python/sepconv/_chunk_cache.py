"""A cache of images that share chunks: as many as fit in memory, so that each chunk is read and written
once."""

import functools
import math

import numpy as np


class Layers:
    """Slices of an endpoint's array, image by image in the order of the outer axes. `images` images are
    buffered, 1 if buffering does not help; each chunk is read or written `times` times.
    """

    def __init__(self, end, chunks, capacity):
        self.end, self.shape = end, end.array.shape
        chunk_depth = {axis: min(chunks[axis], self.shape[axis]) for axis in end.outer}
        choices = [
            (math.prod(chunk_depth.values()), 1, None, 1)
        ]  # times, images, an axis and how many of its positions are buffered
        for position, axis in enumerate(end.outer):
            inner_count = math.prod(self.shape[other] for other in end.outer[position + 1 :])
            fit = capacity // inner_count if inner_count else 0
            if fit and chunk_depth[axis]:
                parts = -(-chunk_depth[axis] // fit)
                count = -(-chunk_depth[axis] // parts)
                choices.append(
                    (
                        math.prod(chunk_depth[other] for other in end.outer[:position]) * parts,
                        count * inner_count,
                        axis,
                        count,
                    )
                )
        self.times, self.images, self.axis, self.count = min(choices, key=lambda choice: choice[:2])
        if self.images > 1:
            self.chunk_depth, self.before = chunk_depth[self.axis], end.outer[: end.outer.index(self.axis)]
            self.layer, self.loaded = None, set()

    @functools.cached_property
    def buffer(self):
        """Allocated when the first image is read: a plan allocates nothing."""
        outer = {
            axis: 1 if axis in self.before else self.count if axis == self.axis else self.shape[axis]
            for axis in self.end.outer
        }
        return np.empty([outer.get(axis, side) for axis, side in enumerate(self.shape)], self.end.dtype)

    def _keys(self, key):
        """For a rectangle of an image: that rectangle of all images of its layer, its range in the buffer,
        and its index there."""
        whole, buffered, index = list(key), list(key), list(key)
        for axis in self.end.outer:
            begin, end = 0, self.shape[axis]
            if axis in self.before:
                begin, end = key[axis], key[axis] + 1
            elif axis == self.axis:
                chunk = key[axis] // self.chunk_depth * self.chunk_depth
                begin = chunk + (key[axis] - chunk) // self.count * self.count
                end = min(begin + self.count, chunk + self.chunk_depth, end)
            whole[axis], buffered[axis], index[axis] = (
                slice(begin, end),
                slice(0, end - begin),
                key[axis] - begin,
            )
        return tuple(whole), tuple(buffered), tuple(index)

    def __getitem__(self, key):
        whole, buffered, index = self._keys(key)
        layer = [whole[axis].start for axis in self.end.outer]
        part = tuple((key_range.start, key_range.stop) for key_range in whole)
        if layer != self.layer:
            self.layer, self.loaded = layer, set()
        if part not in self.loaded:
            self.buffer[buffered] = self.end.read_checked(whole)
            self.loaded.add(part)
        return self.buffer[index]

    def __setitem__(self, key, values):
        """Buffers the values. The last image of a layer writes all of them, as a copy that the array may
        keep."""
        whole, buffered, index = self._keys(key)
        self.buffer[index] = values
        if all(index[axis] + 1 == buffered[axis].stop for axis in self.end.outer):
            self.end.array[whole] = self.buffer[buffered].copy()
