"""Axis names and missing values declared by xarray's arrays."""

import math
import string
from collections.abc import Mapping

import numpy as np

_LETTERS = {
    "lat": "y",
    "latitude": "y",
    "lon": "x",
    "longitude": "x",
    "band": "c",
    "channel": "c",
    "time": "t",
}
MISSING = ("_FillValue", "missing_value")


def letters_of(array):
    """A letter for each axis if the names identify rows and columns, else None."""
    dims = getattr(array, "dims", None)
    if not isinstance(dims, tuple) or not all(isinstance(dim, str) for dim in dims):
        return None
    named = [dim if len(dim) == 1 else _LETTERS.get(dim.lower()) for dim in dims]
    if not {"x", "y"} <= set(named):
        return None
    free = (letter for letter in string.ascii_letters if letter not in {*named, *"zyxc"})
    letters = [letter or next(free) for letter in named]
    return "".join(letters) if len(set(letters)) == len(letters) else None


def nodata_of(array):
    """The value of missing pixels, as text: from rioxarray if loaded, or from the attribute; NaN if xarray
    has decoded the values. None if not declared."""
    attrs, encoding = (
        found if isinstance(found := getattr(array, name, None), Mapping) else {}
        for name in ("attrs", "encoding")
    )
    if not isinstance(getattr(array, "dims", None), tuple) or array.dtype.kind not in "biuf":
        return None
    found = getattr(getattr(array, "rio", None), "nodata", None)
    found = next((attrs[name] for name in MISSING if name in attrs), found) if found is None else found
    if found is None and array.dtype.kind == "f" and any(name in encoding for name in MISSING):
        found = math.nan
    try:
        return None if found is None else repr(float(np.ravel(found)[0]))
    except (TypeError, ValueError, IndexError):
        return None
