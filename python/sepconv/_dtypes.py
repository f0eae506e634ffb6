"""Data types of arrays: the pixel types, and the type in which any other is computed and stored again."""

import functools
import math
import numbers

import numpy as np

PIXELS = {
    np.dtype(name): ours
    for name, ours in {"u1": "u8", "u2": "u16", "i2": "i16", "f4": "f32", "f8": "f64"}.items()
}
DTYPES = {ours: dtype for dtype, ours in PIXELS.items()}
# What holds every value. Of 64-bit integers f64 holds those that it has a number for.
_WIDENED_NAMES = {"?": "u1", "i1": "i2", "f2": "f4", "u4": "f8", "i4": "f8", "u8": "f8", "i8": "f8"}
WIDENED = {np.dtype(stored): np.dtype(holder) for stored, holder in _WIDENED_NAMES.items()}
PARTS = {np.dtype("c8"): np.dtype("f4"), np.dtype("c16"): np.dtype("f8")}
COMPUTED_AS = {**{dtype: dtype for dtype in PIXELS}, **WIDENED, **PARTS}
_PIECE = 1 << 18  # elements
TAKEN = "bool, integers, f16, f32, f64, complex64 or complex128"


def native(dtype):
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def check(dtype):
    if native(dtype) not in COMPUTED_AS:
        raise TypeError(f"an array of {dtype} cannot be filtered; give {TAKEN}")


def check_as_scipy(dtype):
    """Throws what SciPy does for a type that it has no number for, and for one that it has no filter for."""
    if native(dtype) not in COMPUTED_AS:
        raise (TypeError if dtype.kind in "SUV" else RuntimeError)(
            f"array type {dtype} is not supported; give {TAKEN}"
        )


def result_type(named):
    """The type of a result, of a dtype, a type or a name. TypeError for one that no result is stored in."""
    try:
        dtype = np.dtype(named)
    except (TypeError, ValueError):
        dtype = None
    if dtype is None or native(dtype) not in COMPUTED_AS:
        raise TypeError(
            f"output={named!r} is not a type of a result; give {TAKEN}, or an array of one of them"
        )
    return dtype


def widened(array):
    """`array`, of what is not a pixel type, as one that holds its values. ValueError where f64 has no number for
    a value."""
    made = array.astype(WIDENED[native(array.dtype)])
    if (
        array.dtype.kind in "iu"
        and array.dtype.itemsize == 8
        and array.size
        and (array.max() > 2**53 or array.min() < -(2**53))
    ):
        raise ValueError(
            f"the array's {array.dtype} values have more than 53 significant bits; sepconv computes in f64, which has no number for them"
        )
    return made


def beyond(cval, dtype):
    """`cval` as an array of this type has it: rounded once, saturated, and of integers 0 for NaN."""
    if isinstance(cval, str):
        raise TypeError(f"cval={cval!r} is a text; give a number")
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return float(dtype.type(float(cval)))
    if not isinstance(cval, numbers.Integral):
        cval = float(cval)
        cval = round(cval) if math.isfinite(cval) else 0 if math.isnan(cval) else math.copysign(1 << 64, cval)
    low, high = _limits(dtype)
    return min(max(int(cval), low), high)


@functools.cache
def _limits(dtype):
    return (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)


def pieces(shape):
    """Keys of an array's parts, each of so few elements that what is made of it stays in a cache."""
    axis = next((axis for axis in range(len(shape)) if math.prod(shape[axis + 1 :]) <= _PIECE), 0)
    if not shape or 0 in shape:
        return [()] * (not shape)
    step = max(_PIECE // math.prod(shape[axis + 1 :]), 1)
    return (
        (*outer, slice(begin, begin + step))
        for outer in np.ndindex(shape[:axis])
        for begin in range(0, shape[axis], step)
    )


def store(values, out):
    """Rounds half to even, saturates, and makes 0 of NaN where `out` is of integers; of bool what is 1 or
    more is True."""
    if values.dtype == out.dtype:
        return np.copyto(out, values)
    for key in pieces(out.shape):
        _store(values[key], out[key] if key else out)


def stored_as(array, dtype):
    """`array` itself if it is of this type."""
    if native(array.dtype) == dtype:
        return array.astype(dtype, copy=False)
    made = np.empty_like(array, dtype, subok=False)
    store(array, made)
    return made


def _store(values, out):
    kind, theirs = out.dtype.kind, values.dtype.kind
    if kind == "b":
        np.greater(np.rint(values), 0, out=out)
    elif kind in "iu" and theirs in "biu":
        (low, high), (least, most) = _limits(out.dtype), _limits(values.dtype)
        fits = theirs == "b" or (low <= least and most <= high)
        np.copyto(
            out,
            values if fits else np.minimum(np.maximum(values, max(low, least)), min(high, most)),
            casting="unsafe",
        )
    elif kind in "iu":
        limits = np.iinfo(out.dtype)
        rounded = np.nan_to_num(
            np.rint(values.astype(np.float64, copy=False)), nan=0, posinf=np.inf, neginf=-np.inf
        )
        np.copyto(
            out,
            np.clip(rounded, limits.min, limits.max).astype(out.dtype)
            if limits.bits < 64
            else _clipped_to_64_bits(rounded, limits, out.dtype),
        )
    else:
        with np.errstate(over="ignore"):  # as IEEE 754 has it: infinity
            np.copyto(out, values, casting="same_kind")


def _clipped_to_64_bits(values, limits, dtype):
    """f64 has no number for the greatest of 64 bits: what is not below it becomes it."""
    inside = (values >= limits.min) & (values < float(limits.max))
    kept = np.where(inside, values, 0).astype(dtype)
    return np.where(inside, kept, np.where(values > 0, dtype.type(limits.max), dtype.type(limits.min)))


def store_difference(first, second, out):
    """first - second, of one type, exact where that is of integers, and then as `store` does."""
    for key in pieces(out.shape):
        a, b = first[key], second[key]
        if a.dtype.kind not in "iu" or a.dtype.itemsize < 8:
            store(
                np.subtract(a, b, dtype=np.int64 if a.dtype.kind in "biu" else np.float64),
                out[key] if key else out,
            )
            continue
        falls, high = a < b, _limits(out.dtype)[1] if out.dtype.kind == "i" else None
        a, b = a.astype(np.uint64), b.astype(np.uint64)
        size = np.where(falls, b - a, a - b)  # 64 bits have room for it, and not for the difference
        rising = np.empty(size.shape, out.dtype)
        store(size, rising)
        falling = (
            0
            if out.dtype.kind in "bu"
            else -rising
            if high is None
            else np.where(size > high, -high - 1, -rising)
        )
        out[key] = np.where(falls, falling, rising)
