"""The types of arrays: what is a pixel type, and as what the others are computed and stored again."""

import numpy as np

PIXELS = {np.dtype(name): ours for name, ours in {"u1": "u8", "u2": "u16", "i2": "i16", "f4": "f32", "f8": "f64"}.items()}
DTYPES = {ours: dtype for dtype, ours in PIXELS.items()}
# What holds every value. Of 64-bit integers f64 holds those that it has a number for.
_HOLDERS = {"?": "u1", "i1": "i2", "f2": "f4", "u4": "f8", "i4": "f8", "u8": "f8", "i8": "f8"}
HOLDERS = {np.dtype(stored): np.dtype(holder) for stored, holder in _HOLDERS.items()}
PARTS = {np.dtype("c8"): np.dtype("f4"), np.dtype("c16"): np.dtype("f8")}
COMPUTED_AS = {**{dtype: dtype for dtype in PIXELS}, **HOLDERS, **PARTS}
TAKEN = "bool, integers, f16, f32, f64, complex64 or complex128"


def native(dtype):
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def check(dtype):
    if native(dtype) not in COMPUTED_AS:
        raise TypeError(f"an array of {dtype} cannot be filtered; give {TAKEN}")


def check_as_scipy(dtype):
    """Throws what SciPy does for a type that it has no number for, and for one that it has no filter for."""
    if native(dtype) not in COMPUTED_AS:
        raise (TypeError if dtype.kind in "SUV" else RuntimeError)(f"array type {dtype} is not supported; give {TAKEN}")


def result_type(named):
    """The type of a result, of a dtype, a type or a name. TypeError for one that no result is stored in."""
    try:
        dtype = np.dtype(named)
    except (TypeError, ValueError):
        dtype = None
    if dtype is None or native(dtype) not in COMPUTED_AS:
        raise TypeError(f"output={named!r} is no type of a result; give {TAKEN}, or an array of one of them")
    return dtype


def widened(array):
    """`array`, of what is no pixel type, as one that holds its values. ValueError where f64 has no number for a value."""
    made = array.astype(HOLDERS[native(array.dtype)])
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size and (array.max() > 2**53 or array.min() < -(2**53)):
        raise ValueError(f"the array's {array.dtype} values have more than 53 significant bits; sepconv computes in f64, which has no number for them")
    return made


def beyond(cval, dtype):
    """What lies beyond the edges of an array of this type: of integers, which have no infinities, the nearest that they have, and 0 for NaN."""
    if dtype.kind not in "biu" or np.isfinite(cval):
        return float(cval)
    limits = np.iinfo(np.uint8 if dtype.kind == "b" else dtype)
    return 0.0 if np.isnan(cval) else float(limits.max if cval > 0 else limits.min)


def store(values, out):
    """Rounds half to even, saturates, and makes 0 of NaN where `out` is of integers; of bool what is 1 or more is True."""
    kind = out.dtype.kind
    if kind == "b":
        np.greater(np.rint(values), 0, out=out)
    elif kind in "iu":
        limits = np.iinfo(out.dtype)
        rounded = np.nan_to_num(np.rint(values), nan=0, posinf=np.inf, neginf=-np.inf)
        np.copyto(out, np.clip(rounded, limits.min, float(limits.max)).astype(out.dtype) if limits.bits < 64 else _wide(rounded, limits, out.dtype))
    else:
        with np.errstate(over="ignore"):  # as IEEE 754 has it: infinity
            np.copyto(out, values, casting="same_kind")


def _wide(values, limits, dtype):
    """f64 has no number for the greatest of 64 bits: what is not below it becomes it."""
    inside = (values >= limits.min) & (values < float(limits.max))
    kept = np.where(inside, values, 0).astype(dtype)
    return np.where(inside, kept, np.where(values > 0, dtype.type(limits.max), dtype.type(limits.min)))
