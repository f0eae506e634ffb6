"""Arrays that a chain filters along z, as images: each volume is one, a plane along z a row of it, whose rows
lie one behind the other."""

from typing import NamedTuple

import numpy as np

from sepconv import _dtypes


class _OnVolume:
    """A chain for such images, as `apply` takes a chain."""

    __slots__ = ("_native", "_texts", "_chain")

    def __init__(self, chain, plane, depth):
        self._native, self._chain = chain._native.on_volume(plane, depth), chain
        self._texts = (
            *chain._texts,
            f"of {depth} planes of {plane}",
        )  # by which what is made for a chain is kept

    def _transposed(self):
        return None

    def __eq__(self, other):
        return isinstance(other, _OnVolume) and self._texts == other._texts

    def __hash__(self):
        return hash(self._texts)

    def __str__(self):
        return str(self._chain)


class Volumes(NamedTuple):
    """How an array's volumes are images, and the result's volumes."""

    chain: _OnVolume
    names: str  # of the images' axes: others, y (along z), x (a plane), channels
    order: tuple  # of the array's axes
    source: tuple  # the array's shape as images
    plane: tuple  # rows and columns of the result's planes

    def shape_of(self, made):
        """Of a result, whose images are of the shape `made`: others, planes, rows, columns, channels."""
        along_z = len(self.names.partition("y")[0]) + 1
        return (*made[:along_z], *self.plane, *made[along_z + 1 :])

    def inverse(self, ndim):
        """From there to the array's order; channels that the array has no axis for come last."""
        return tuple(map(int, np.argsort([*self.order, *range(len(self.order), ndim)])))


def volumes_of(chain, names, shape, dtype):
    """None where the chain does not filter along z, or an axis is missing for it, which the engine then
    says."""
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
