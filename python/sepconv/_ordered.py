"""Rank filters for any type: values are mapped to pixels of the same order, filtered, and mapped back
exactly."""

import math

import numpy as np

from sepconv import _aliasing, _dtypes
from sepconv._arguments import result_of

# bits of the smallest normal f32 and f64: larger bit patterns are larger numbers
_MIN_NORMAL = {4: 1 << 23, 8: 1 << 52}
_INFINITY = {4: 0x7F800000, 8: 0x7FF0000000000000}


def _computed_in(source, result, constant):
    """The type in which values are compared: the source's, or the result's if `cval` is used, because
    rounding and saturating keep the order. NaN becomes 0 in integers, which breaks the order, so floats with
    an integer result are compared in f64."""
    if not constant or source == result:
        return source
    result = _dtypes.PARTS.get(result, result)
    return np.dtype(np.float64) if source.kind == "f" and result.kind != "f" else result


def _as_pixels(array, cval):
    """Integers of a type that is not a pixel type, and `cval`, as pixels, and the function that maps pixels
    back to integers."""
    dtype, size = array.dtype, array.dtype.itemsize
    low, high = min(int(array.min()), cval), max(int(array.max()), cval)
    first = _MIN_NORMAL.get(size, 0)
    if high - low + first < _INFINITY.get(size, 1 << 8):
        bits, shift = np.dtype(f"u{size}"), (first - low) % (1 << 8 * size)
        pixels = np.add(array.view(bits), bits.type(shift)).view(f"f{size}" if first else bits)
        cval_pixel = np.array(cval - low + first, bits).view(pixels.dtype)

        def to_integers(filtered):
            np.subtract(filtered.view(bits), bits.type(shift), out=filtered.view(bits))
            return filtered.view(dtype)

        return pixels, float(cval_pixel), to_integers
    if size == 4:
        return array.astype(np.float64), float(cval), lambda filtered: filtered.astype(dtype)
    values, ranks = np.unique(np.append(array, np.array(cval, dtype)), return_inverse=True)
    ranks = ranks.reshape(-1).astype(np.float64)
    return (
        ranks[:-1].reshape(array.shape),
        float(ranks[-1]),
        lambda filtered: values[filtered.astype(np.intp)],
    )


def compared(array, output, cval, constant, compute):
    """The result of `compute(pixels, cval, out)` in `output` or of its type, as if computed exactly and then
    rounded and saturated. `cval` is used if `constant`. `out` is an array that can receive the result, or
    None."""
    target, dtype = result_of(output, array)
    work = _computed_in(_dtypes.native(array.dtype), _dtypes.native(dtype), constant)
    pixels, to_integers = _dtypes.stored_as(array, work), None
    cval = _dtypes.converted_cval(cval, work) if constant else array.flat[0].item()
    if work.kind in "biu" and work not in _dtypes.PIXELS:
        if work.kind == "b":
            pixels, to_integers = pixels.view(np.uint8), lambda result: result.view(bool)
        else:
            pixels, cval, to_integers = _as_pixels(pixels, cval)
    out = (
        target
        if to_integers is None
        and target is not None
        and target.dtype == work
        and not _aliasing.share_memory(array, target)
        else None
    )
    result = compute(pixels, float(cval) if constant else 0.0, out)
    if result is target:
        return target
    result = result if to_integers is None else to_integers(result)
    if target is None and result.dtype == dtype:
        return result
    out = np.empty_like(result, dtype) if target is None else target
    _dtypes.store(result, out)
    return out


def is_representable(cval, dtype):
    """Whether `dtype` represents the value exactly. Infinities and NaN count as representable."""
    return not math.isfinite(cval) or _dtypes.converted_cval(cval, dtype) == cval
