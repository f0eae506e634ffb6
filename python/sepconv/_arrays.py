"""Chains on NumPy's arrays: what the axes are, what is copied (as little as can be), and where the result lies."""

import functools

import numpy as np

from sepconv import _sepconv, _types

ARITHMETIC = {None: _sepconv.AUTO, "f32": _sepconv.F32, "f64": _sepconv.F64}
MOST_GUESSED_CHANNELS = 4  # as for NPY files


def ready(view, image_axes):
    """`view`, or a copy where the library could not walk through its images: their elements lie beside each other, rows at a pitch."""
    flags = view.flags
    if flags.c_contiguous and flags.aligned:
        return view
    size, strides, shape = view.itemsize, view.strides, view.shape
    first = view.ndim - image_axes
    inner = size
    fits = flags.aligned and all(stride >= 0 and stride % size == 0 for stride in strides)
    for axis in range(view.ndim - 1, first, -1):
        fits = fits and (strides[axis] == inner or shape[axis] == 1)
        inner *= shape[axis]
    fits = fits and (strides[first] >= inner or shape[first] == 1)
    return view if fits else np.array(view, order="C")  # which is aligned; ascontiguousarray may leave an odd address


def check_out(out, shape, dtype):
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an array, not {type(out).__name__}")
    if out.shape != tuple(shape) or out.dtype != dtype:
        raise ValueError(f"the result is {tuple(shape)} of {dtype}, and out is {out.shape} of {out.dtype}; give one of that shape and type, or none")
    if not out.flags.writeable:
        raise ValueError("out is read-only; give an array that can be written to")


def names_of(shape, axes):
    """A letter for each axis, by the rules that NPY files have."""
    if axes is None:
        guessed = {1: "x", 2: "yx", 3: "yxc" if shape[-1:] and shape[-1] <= MOST_GUESSED_CHANNELS else None}.get(len(shape))
        if guessed:
            return guessed
        raise ValueError(f"an array of shape {tuple(shape)} may be images or channels; say what its axes are, such as axes='yxc' or axes='zyx'")
    if len(axes) != len(shape) or len(set(axes)) != len(axes) or "x" not in axes or ("y" not in axes and len(axes) > 1):
        raise ValueError(f"axes={axes!r} does not fit an array of {len(shape)} axes: give each a letter of its own, y and x among them")
    return axes


@functools.lru_cache(maxsize=256)
def result_spec(chain, spec):
    return chain._native.result_spec(spec)


def apply(chain, array, out, axes, arithmetic, threads):
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("a masked array's mask would be lost; give its data with NaN where values are missing, and `missing=` to the stages")
    array = np.asarray(array)
    if arithmetic not in ARITHMETIC:
        raise ValueError(f"arithmetic={arithmetic!r} is none; there are 'f32' and 'f64'")
    dtype = _types.native(array.dtype)
    if dtype in _types.PARTS:
        return _complex(chain, array, out, axes, arithmetic, threads)
    names = names_of(array.shape, axes)
    if dtype not in _types.PIXELS and dtype not in _types.HOLDERS:
        _types.refuse(array.dtype)
    return _Images(chain, array, names).apply(out, arithmetic, threads)


def _complex(chain, array, out, axes, arithmetic, threads):
    """Real and imaginary parts are channels beside each other, to a chain that does to each what it would do to the sum."""
    if not chain._native.by_parts:
        raise ValueError(f"the chain '{chain}' does not take complex numbers: it is not linear, or mixes channels; give real and imaginary part")
    array = np.ascontiguousarray(array, _types.native(array.dtype))
    names = names_of(array.shape, axes)
    parts = array.view(_types.PARTS[array.dtype]).reshape(*array.shape, 2)
    letter = next(one for one in "0123456789" if one not in names)
    made = np.ascontiguousarray(_Images(chain, parts, names + letter).apply(None, arithmetic, threads))
    if PARTS_RESULT := {np.dtype("f4"): np.dtype("c8"), np.dtype("f8"): np.dtype("c16")}.get(made.dtype):
        made = made.view(PARTS_RESULT)[..., 0]
    if out is None:
        return made
    check_out(out, made.shape, made.dtype)
    out[...] = made
    return out


class _Images:
    """The images of an array: its axes in the order others, rows, columns, channels."""

    def __init__(self, chain, array, names):
        self.chain, self.array, self.names = chain, array, names
        order = [name for name in names if name not in "yxc"] + [name for name in "yxc" if name in names]
        self.order = [names.index(name) for name in order]
        self.image_axes = 3 if "c" in names else 2
        self.one_row = "y" not in names

    def apply(self, out, arithmetic, threads):
        dtype = _types.native(self.array.dtype)
        view = self.array.astype(dtype, copy=False).transpose(self.order)
        if self.one_row:
            view = view[..., None, :]
        holds = dtype in _types.PIXELS
        pixels = view if holds else _types.held(view)
        rows, cols = pixels.shape[pixels.ndim - self.image_axes :][:2]
        channels = pixels.shape[-1] if self.image_axes == 3 else 1
        rows, cols, channels, name = result_spec(self.chain, (rows, cols, channels, _types.PIXELS[pixels.dtype]))
        made_type = _types.DTYPES[name]
        keeps = not holds and not any(text.startswith("cast") for text in self.chain._texts)
        shape = (*pixels.shape[: pixels.ndim - self.image_axes], rows, cols)
        image_axes = 3 if self.image_axes == 3 or channels > 1 else 2
        if image_axes == 3:
            shape = (*shape, channels)
            if self.image_axes == 2:
                pixels = pixels[..., None]
        result_type = dtype if keeps else made_type
        given = None if out is None else self._checked(out, shape, result_type, image_axes)
        made = given
        if given is None or keeps or ready(given, image_axes) is not given:
            made = np.empty(shape, made_type)
        elif np.may_share_memory(self.array, out):
            pixels = pixels.copy()
        self._compute(pixels, made, image_axes, arithmetic, threads)
        if given is None:
            if keeps:
                stored = np.empty(shape, result_type)
                _types.store(made, stored)
                made = stored
            return self._back(made, image_axes)
        if made is not given:
            _types.store(made, given)
        return out

    def _compute(self, pixels, made, image_axes, arithmetic, threads):
        """Computes a call's images; of none there is nothing to compute."""
        if 0 in pixels.shape[: pixels.ndim - image_axes]:
            return
        _sepconv.apply(self.chain._native, ready(pixels, image_axes), made, image_axes, ARITHMETIC[arithmetic], threads)

    def _inverse(self, image_axes):
        """Axes of the result in the order of the array's; channels that the array has no axis for come last."""
        order = [*self.order, len(self.order)] if image_axes > self.image_axes else self.order
        return np.argsort(order)

    def _back(self, made, image_axes):
        if self.one_row:
            made = made[..., 0, :] if image_axes == 2 else made[..., 0, :, :]
        return made.transpose(self._inverse(image_axes))

    def _checked(self, out, shape, dtype, image_axes):
        """`out` with its axes in the order of `shape`."""
        if self.one_row:
            at = len(shape) - image_axes
            shape = shape[:at] + shape[at + 1 :]
        inverse = self._inverse(image_axes)
        check_out(out, [shape[axis] for axis in inverse], dtype)
        view = out.transpose(np.argsort(inverse))
        return view[(..., None) + (slice(None),) * (image_axes - 1)] if self.one_row else view
