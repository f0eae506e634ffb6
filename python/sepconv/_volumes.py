"""Volumes as images, for chains that filter along z: each volume is one image and each plane one of its rows,
with the rows of the plane concatenated."""

from typing import NamedTuple

import numpy as np

from sepconv import _dtypes


class _OnVolume:
    """A chain for volumes as images, with the interface of a chain for `apply`."""

    __slots__ = ("_native", "_texts", "_chain")

    def __init__(self, chain, plane, depth):
        self._native, self._chain = chain._native.on_volume(plane, depth), chain
        self._texts = (
            *chain._texts,
            f"of {depth} planes of {plane}",
        )  # the key under which caches store this chain's data

    def _transposed(self):
        return None

    def __eq__(self, other):
        return isinstance(other, _OnVolume) and self._texts == other._texts

    def __hash__(self):
        return hash(self._texts)

    def __str__(self):
        return str(self._chain)


class Volumes(NamedTuple):
    """The layout of an array's volumes as images, and of the result's volumes."""

    chain: _OnVolume
    names: str  # of the images' axes: others, y (along z), x (within a plane), channels
    order: tuple  # the array's axes in this order
    source: tuple  # the shape of the array as images
    plane: tuple  # rows and columns of a plane of the result

    def shape_of(self, image_shape):
        """The shape of a result with images of `image_shape`: others, planes, rows, columns, channels."""
        along_z = len(self.names.partition("y")[0]) + 1
        return (*image_shape[:along_z], *self.plane, *image_shape[along_z + 1 :])

    def inverse(self, ndim):
        """The axes of that shape in the array's order; channels without an axis in the array come last."""
        return tuple(map(int, np.argsort([*self.order, *range(len(self.order), ndim)])))


def volumes_of(chain, names, shape, dtype):
    """None if the chain does not filter along z, or if the array lacks an axis for it (the engine reports
    that)."""
    if not chain._native.of_volumes or not {"z", "y"} <= set(names) or 0 in shape:
        return None
    others = [name for name in names if name not in "zyxc"]
    order = [names.index(name) for name in (*others, *(name for name in "zyxc" if name in names))]
    *outer, depth, rows, cols = [shape[axis] for axis in order if names[axis] != "c"]
    channels = [shape[names.index("c")]] if "c" in names else []
    plane = (rows, cols, *(channels or [1]), _dtypes.PIXELS[dtype])
    result = chain._native.result_spec(plane)
    return Volumes(
        _OnVolume(chain, plane, depth),
        "".join(others) + "yx" + "c" * len(channels),
        tuple(order),
        (*outer, depth, rows * cols, *channels),
        tuple(result[:2]),
    )
