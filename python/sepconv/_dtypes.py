"""Data types of arrays: the pixel types, and the wider type in which each other type is computed."""

import functools
import math
import numbers

import numpy as np

PIXELS = {
    np.dtype(name): pixel_type
    for name, pixel_type in {"u1": "u8", "u2": "u16", "i2": "i16", "f4": "f32", "f8": "f64"}.items()
}
DTYPES = {pixel_type: dtype for dtype, pixel_type in PIXELS.items()}
# A type that represents every value. f64 represents 64-bit integers only up to 2^53.
_WIDENED_NAMES = {"?": "u1", "i1": "i2", "f2": "f4", "u4": "f8", "i4": "f8", "u8": "f8", "i8": "f8"}
WIDENED = {np.dtype(stored): np.dtype(holder) for stored, holder in _WIDENED_NAMES.items()}
PARTS = {np.dtype("c8"): np.dtype("f4"), np.dtype("c16"): np.dtype("f8")}
COMPUTED_AS = {**{dtype: dtype for dtype in PIXELS}, **WIDENED, **PARTS}
_PIECE = 1 << 18  # elements
SUPPORTED_TYPES = "bool, integers, f16, f32, f64, complex64 or complex128"


def native(dtype):
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def check(dtype):
    if native(dtype) not in COMPUTED_AS:
        raise TypeError(f"an array of {dtype} cannot be filtered; give {SUPPORTED_TYPES}")


def check_as_scipy(dtype):
    """TypeError or RuntimeError, as SciPy, if the type is not supported."""
    if native(dtype) not in COMPUTED_AS:
        raise (TypeError if dtype.kind in "SUV" else RuntimeError)(
            f"array type {dtype} is not supported; give {SUPPORTED_TYPES}"
        )


def result_type(named):
    """The type of a result, from a dtype, a type or a name. TypeError if results cannot have it."""
    try:
        dtype = np.dtype(named)
    except (TypeError, ValueError):
        dtype = None
    if dtype is None or native(dtype) not in COMPUTED_AS:
        raise TypeError(
            f"output={named!r} is not a type of a result; give {SUPPORTED_TYPES}, or an array of one of them"
        )
    return dtype


def widened(array):
    """`array` in the pixel type that represents its values. ValueError if f64 cannot represent one."""
    wide = array.astype(WIDENED[native(array.dtype)])
    if (
        array.dtype.kind in "iu"
        and array.dtype.itemsize == 8
        and array.size
        and (array.max() > 2**53 or array.min() < -(2**53))
    ):
        raise ValueError(
            f"the array's {array.dtype} values have more than 53 significant bits; sepconv computes in f64, which has no number for them"
        )
    return wide


def converted_cval(cval, dtype):
    """`cval` converted to `dtype`: rounded once and saturated; NaN becomes 0 for integers."""
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
    """Indices of an array's pieces, each small enough that its results stay in the CPU cache."""
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
    """Stores values: rounds half to even and saturates. NaN becomes 0 for integers. For bool, 1 or more is
    True."""
    if values.dtype == out.dtype:
        return np.copyto(out, values)
    for key in pieces(out.shape):
        _store(values[key], out[key] if key else out)


def stored_as(array, dtype):
    """`array` converted to this type; `array` itself if it has the type."""
    if native(array.dtype) == dtype:
        return array.astype(dtype, copy=False)
    converted = np.empty_like(array, dtype, subok=False)
    store(array, converted)
    return converted


def _store(values, out):
    kind, source_kind = out.dtype.kind, values.dtype.kind
    if kind == "b":
        np.greater(np.rint(values), 0, out=out)
    elif kind in "iu" and source_kind in "biu":
        (low, high), (source_min, source_max) = _limits(out.dtype), _limits(values.dtype)
        fits = source_kind == "b" or (low <= source_min and source_max <= high)
        np.copyto(
            out,
            values if fits else np.minimum(np.maximum(values, max(low, source_min)), min(high, source_max)),
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
        with np.errstate(over="ignore"):  # IEEE 754: overflow becomes infinity
            np.copyto(out, values, casting="same_kind")


def _clipped_to_64_bits(values, limits, dtype):
    """f64 cannot represent the maximum of 64-bit integers: values that are not below it become the
    maximum."""
    inside = (values >= limits.min) & (values < float(limits.max))
    clipped = np.where(inside, values, 0).astype(dtype)
    return np.where(inside, clipped, np.where(values > 0, dtype.type(limits.max), dtype.type(limits.min)))


def store_difference(first, second, out):
    """Stores first - second, which have one type: exact for integers, then rounded and saturated as by
    `store`."""
    for key in pieces(out.shape):
        a, b = first[key], second[key]
        if a.dtype.kind not in "iu" or a.dtype.itemsize < 8:
            store(
                np.subtract(a, b, dtype=np.int64 if a.dtype.kind in "biu" else np.float64),
                out[key] if key else out,
            )
            continue
        is_negative, high = a < b, _limits(out.dtype)[1] if out.dtype.kind == "i" else None
        a, b = a.astype(np.uint64), b.astype(np.uint64)
        # the magnitude fits in 64 bits, the signed difference may not
        magnitude = np.where(is_negative, b - a, a - b)
        positive = np.empty(magnitude.shape, out.dtype)
        store(magnitude, positive)
        negative = (
            0
            if out.dtype.kind in "bu"
            else -positive
            if high is None
            else np.where(magnitude > high, -high - 1, -positive)
        )
        out[key] = np.where(is_negative, negative, positive)
