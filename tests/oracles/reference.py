"""Separable correlation by SciPy in double precision, with sepconv's names and rules: docs/maths.md."""

import numpy as np
import scipy.ndimage as ndi

# sepconv's borders and SciPy's names for them.
BORDERS = {
    "replicate": "nearest",
    "reflect": "reflect",
    "reflect101": "mirror",
    "constant": "constant",
    "wrap": "wrap",
}

DTYPES = {"u8": np.uint8, "u16": np.uint16, "i16": np.int16, "f32": np.float32, "f64": np.float64}


def random_image(shape, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, size=shape, dtype=dtype, endpoint=True)
    return rng.normal(size=shape).astype(dtype)


def correlate(image, row, col, border="reflect101", value=0.0):
    """Row taps along x, then column taps along y, for a 2-D image extended by its border; None skips a
    pass."""
    image = image.astype(np.float64)
    margin = 0
    if (
        border == "constant"
    ):  # extended once, before the row pass: a row outside is the row pass of a constant row
        margin = max(len(taps) // 2 for taps in (row, col) if taps is not None)
        image = np.pad(image, margin, constant_values=value)
    mode = "nearest" if border == "constant" else BORDERS[border]
    if row is not None:
        image = ndi.correlate1d(image, row, axis=1, mode=mode)
    if col is not None:
        image = ndi.correlate1d(image, col, axis=0, mode=mode)
    return image[margin : image.shape[0] - margin, margin : image.shape[1] - margin]


def stored(values, dtype):
    """The values as stored in `dtype`: rounded half to even and saturated."""
    if not np.issubdtype(dtype, np.integer):
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)


def assert_close(actual, expected, dtype):
    """Compares within the tolerance of the arithmetic, because SciPy adds in another order: 1e-12 (f64) or
    1e-5 (f32) of the magnitude of the values, with sources of magnitude 1. Integers are computed in f32 and
    rounded: half a unit of the exact value and 1e-6."""
    assert actual.shape == expected.shape and actual.dtype == dtype
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        expected = np.clip(expected, limits.min, limits.max)
        assert np.abs(actual - expected).max() <= 0.5 + 1e-6 * limits.max
        return
    tolerance = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}[np.dtype(dtype)]
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * max(np.abs(expected).max(), 1))
