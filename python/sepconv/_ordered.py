"""Rank filters of any type: values are mapped to pixels in the same order, filtered, and mapped back, which
is exact."""

import math

import numpy as np

from sepconv import _aliasing, _dtypes
from sepconv._arguments import result_of

_MIN_NORMAL = {4: 1 << 23, 8: 1 << 52}  # as bits of f32 and f64: greater ones are greater numbers
_INFINITY = {4: 0x7F800000, 8: 0x7FF0000000000000}


def _computed_in(source, result, constant):
    """The type that values are compared in: the source's, or the result's where `cval` takes part, as
    rounding and saturating keep the order. NaN becomes 0 in integers, which does not, so floats that become
    integers are compared in f64."""
    if not constant or source == result:
        return source
    result = _dtypes.PARTS.get(result, result)
    return np.dtype(np.float64) if source.kind == "f" and result.kind != "f" else result


def _as_pixels(array, cval):
    """Integers of a type that the library does not take, and `cval`, as pixels; and a function that makes
    integers of pixels."""
    dtype, size = array.dtype, array.dtype.itemsize
    low, high = min(int(array.min()), cval), max(int(array.max()), cval)
    first = _MIN_NORMAL.get(size, 0)
    if high - low + first < _INFINITY.get(size, 1 << 8):
        bits, shift = np.dtype(f"u{size}"), (first - low) % (1 << 8 * size)
        pixels = np.add(array.view(bits), bits.type(shift)).view(f"f{size}" if first else bits)
        beyond = np.array(cval - low + first, bits).view(pixels.dtype)

        def back(made):
            np.subtract(made.view(bits), bits.type(shift), out=made.view(bits))
            return made.view(dtype)

        return pixels, float(beyond), back
    if size == 4:
        return array.astype(np.float64), float(cval), lambda made: made.astype(dtype)
    values, places = np.unique(np.append(array, np.array(cval, dtype)), return_inverse=True)
    places = places.reshape(-1).astype(np.float64)
    return places[:-1].reshape(array.shape), float(places[-1]), lambda made: values[made.astype(np.intp)]


def compared(array, output, cval, constant, compute):
    """The result of `compute(pixels, cval, out)`, in `output` or of its type, as if it were computed exactly
    and then rounded and saturated. `cval` counts if `constant`; `out` is an array that may take the result,
    or None."""
    given, dtype = result_of(output, array)
    work = _computed_in(_dtypes.native(array.dtype), _dtypes.native(dtype), constant)
    pixels, back = _dtypes.stored_as(array, work), None
    cval = _dtypes.beyond(cval, work) if constant else array.flat[0].item()
    if work.kind in "biu" and work not in _dtypes.PIXELS:
        if work.kind == "b":
            pixels, back = pixels.view(np.uint8), lambda made: made.view(bool)
        else:
            pixels, cval, back = _as_pixels(pixels, cval)
    out = (
        given
        if back is None
        and given is not None
        and given.dtype == work
        and not _aliasing.share_memory(array, given)
        else None
    )
    made = compute(pixels, float(cval) if constant else 0.0, out)
    if made is given:
        return given
    made = made if back is None else back(made)
    if given is None and made.dtype == dtype:
        return made
    out = np.empty_like(made, dtype) if given is None else given
    _dtypes.store(made, out)
    return out


def is_representable(cval, dtype):
    """Whether this type has the value; infinities and NaN count as values that it has."""
    return not math.isfinite(cval) or _dtypes.beyond(cval, dtype) == cval
