"""Chains on NumPy arrays: the meaning of axes, minimal copying, and the memory layout of the result."""

import atexit
import os
from typing import NamedTuple

import numpy as np

from sepconv import _devices, _array_namespace, _xarray_names, _options, _sepconv, _aliasing, _dtypes
from sepconv._volumes import volumes_of

atexit.register(_sepconv.end_work)  # waits for calls on other threads
os.register_at_fork(after_in_child=_sepconv.forget_work)  # the child does not have the parent's threads

MAX_GUESSED_CHANNELS = 4  # as for NPY files
checked_threads = _options.whole(0)


def ready(view, image_axes):
    """`view`, or a copy if the library cannot address its images: elements of a row must be contiguous, rows
    may have any pitch."""
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
    return (
        view if fits else np.array(view, order="C")
    )  # np.array aligns the data; ascontiguousarray may leave an odd address


def check_out(out, shape, dtype):
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an array, not {type(out).__name__}")
    if out.shape != tuple(shape) or out.dtype != dtype:
        raise ValueError(
            f"the result is {tuple(shape)} of {dtype}, and out is {out.shape} of {out.dtype}; give one of that shape and type, or none"
        )
    if not out.flags.writeable:
        raise ValueError("out is read-only; give an array that can be written to")


def axis_letters(shape, axes):
    """A letter for each axis, by the rules of NPY files."""
    if axes is None:
        guessed = {
            1: "x",
            2: "yx",
            3: "yxc" if shape[-1:] and shape[-1] <= MAX_GUESSED_CHANNELS else None,
        }.get(len(shape))
        if guessed:
            return guessed
        raise ValueError(
            f"an array of shape {tuple(shape)} may be images or channels; say what its axes are, such as axes='yxc' or axes='zyx'"
        )
    if not isinstance(axes, str):
        raise TypeError(
            f"axes={axes!r} is not text; give a letter for each axis, such as axes='yxc' or axes='zyx'"
        )
    if (
        len(_options.encodable(axes)) != len(shape)
        or len(set(axes)) != len(axes)
        or "x" not in axes
        or ("y" not in axes and len(axes) > 1)
    ):
        raise ValueError(
            f"axes={axes!r} does not fit an array of {len(shape)} axes: give each a letter of its own, y and x among them"
        )
    return axes


class Part(NamedTuple):
    """The position of an array within a larger one, and the part of the result to compute from it."""

    shape: tuple  # of the whole array
    origin: tuple  # row and column where the array begins in the image; beyond its edges where it repeats
    result_rect: tuple  # row, column, rows, columns
    max_size: tuple  # maximum rows and columns of a part of the result


def apply(chain, array, out, axes, arithmetic, threads, stream, part=None):
    threads = checked_threads("threads", threads)
    if arithmetic is not None:
        _options.arithmetic("arithmetic", arithmetic)
    if type(array) is not np.ndarray:
        if _devices.is_on_gpu(array):
            return _apply_on_gpu(chain, array, out, axes, arithmetic, stream, part)
        if isinstance(array, np.ma.MaskedArray):
            raise TypeError(
                "a masked array's mask would be lost; give its data with NaN where values are missing, and `nodata=` to the stages"
            )
        if hasattr(array, "dims"):
            axes = _xarray_names.letters_of(array) if axes is None else axes
            if part is None and _xarray_names.nodata_of(array) is not None:
                return _apply_with_nodata(chain, array, out, axes, arithmetic, threads)
        array, library = _array_namespace.on_host(array)
        if library is not None:
            result = apply(
                chain,
                array,
                None if out is None else _array_namespace.on_host(out)[0],
                axes,
                arithmetic,
                threads,
                stream,
                part,
            )
            return library(result) if out is None else out
    if stream is not None:
        raise TypeError("stream is for arrays on a GPU, and this one is in the host's memory")
    return _apply_on_host(chain, array, out, axes, arithmetic, threads, part)


def _apply_on_host(chain, array, out, axes, arithmetic, threads, part):
    dtype = _dtypes.native(array.dtype)
    if dtype in _dtypes.PARTS:
        return _apply_to_complex(chain, array, out, axes, arithmetic, threads, part)
    _dtypes.check(array.dtype)
    holder, names = _dtypes.COMPUTED_AS[dtype], axis_letters(array.shape, axes)
    if (
        part is None and holder == dtype and (volumes := volumes_of(chain, names, array.shape, holder))
    ):  # otherwise a whole volume would be widened in memory
        return _apply_to_volumes(volumes, array, out, arithmetic, threads)
    if part is None and chain._native.of_stacks:
        return _apply_to_stacks(chain, array, out, names, dtype, arithmetic, threads)
    if (
        part is None
        and not array.flags.c_contiguous
        and _is_column_major(array, names)
        and (transposed := chain._transposed())
    ):
        chain, names = transposed, names.translate(_SWAPPED_XY)
    layout = _layout(chain, names, array.shape, holder, part)
    restores_dtype = _restores_dtype(chain, dtype)
    view = array.transpose(layout.order).reshape(layout.source)
    pixels = (
        _dtypes.widened(view) if holder != dtype else view if array.dtype.isnative else view.astype(dtype)
    )
    target = (
        _checked(out, layout, dtype if restores_dtype else layout.dtype)
        if out is not None
        else np.empty(layout.target, dtype)
        if restores_dtype
        else None
    )
    result = target
    if target is None or restores_dtype or ready(target, layout.image_axes) is not target:
        result = np.empty(layout.target, layout.dtype)
    elif _aliasing.share_memory(array, out):
        pixels = pixels.copy()
    if 0 not in pixels.shape[: -layout.image_axes]:
        _sepconv.apply(
            chain._native,
            ready(pixels, layout.image_axes),
            result,
            layout.image_axes,
            arithmetic,
            threads,
            layout.part_location,
        )
    if target is not None and result is not target:
        _dtypes.store(result, target)
    return out if out is not None else layout.restored(result if target is None else target)


def _apply_to_volumes(volumes, array, out, arithmetic, threads):
    images = array.transpose(volumes.order).reshape(volumes.source)
    if out is None:
        result = _apply_on_host(volumes.chain, images, None, volumes.names, arithmetic, threads, None)
        shape = volumes.shape_of(result.shape)
        return result.reshape(shape).transpose(volumes.inverse(len(shape)))
    result, dtype = result_of(volumes.chain, volumes.names, images.shape, _dtypes.native(array.dtype))
    shape = volumes.shape_of(result)
    inverse = volumes.inverse(len(shape))
    check_out(out, [shape[axis] for axis in inverse], dtype)
    target = out.transpose(np.argsort(inverse)).reshape(result)  # a view of out's memory if out is dense
    _apply_on_host(volumes.chain, images, target, volumes.names, arithmetic, threads, None)
    if not np.may_share_memory(target, out):
        out.transpose(np.argsort(inverse))[...] = target.reshape(shape)
    return out


def _apply_with_nodata(chain, array, out, axes, arithmetic, threads):
    """Applies the chain to an array that declares a missing value, as `run` does with files."""
    values = np.asarray(array)
    _dtypes.check(values.dtype)
    dtype = _dtypes.native(values.dtype)
    return _apply_to_stacks(
        chain,
        values,
        out,
        axis_letters(values.shape, axes),
        dtype,
        arithmetic,
        threads,
        _xarray_names.nodata_of(array),
    )


def _apply_to_stacks(chain, array, out, names, dtype, arithmetic, threads, nodata=None):
    """Applies a chain that combines several images, as `run` does with files."""
    from sepconv import _array_io  # imports this module

    layout = _layout(chain, names, array.shape, _dtypes.COMPUTED_AS[dtype], None)
    result_dtype = dtype if _restores_dtype(chain, dtype) else layout.dtype
    target = np.empty(layout.target, result_dtype) if out is None else _checked(out, layout, result_dtype)
    result = (
        np.empty(layout.target, result_dtype)
        if out is not None and _aliasing.share_memory(array, out)
        else target
    )
    if 0 not in layout.source:
        letters = "".join(name for name in names if name not in "yxc") + "yxc"[: layout.image_axes]
        source = _array_io.Source(array.transpose(layout.order).reshape(layout.source), letters)
        source.nodata = nodata
        options = {"arithmetic": arithmetic, "threads": threads, "device": "cpu"}
        _sepconv.run(
            source,
            _array_io.Sink(result),
            chain._native,
            _options.settings_of(_options.RUN, options),
            False,
            None,
        )
    if result is not target:
        target[...] = result
    return out if out is not None else layout.restored(target)


def _restores_dtype(chain, dtype):
    """Whether the result has `dtype`, which is not a pixel type."""
    return dtype not in _dtypes.PIXELS and not any(text.startswith("cast") for text in chain._texts)


def result_of(chain, names, shape, dtype):
    """Shape and type of the result for an array in host memory."""
    if dtype in _dtypes.PARTS:
        _check_complex_allowed(chain)
        shape, part_progress = result_of(chain, names, shape, _dtypes.PARTS[dtype])
        return shape, np.result_type(part_progress, np.complex64)
    _dtypes.check(dtype)
    layout = _layout(chain, names, shape, _dtypes.COMPUTED_AS[dtype], None)
    return tuple(layout.array_shape[axis] for axis in layout.inverse), dtype if _restores_dtype(
        chain, dtype
    ) else layout.dtype


_SWAPPED_XY = str.maketrans("xy", "yx")


def _is_column_major(array, names):
    """Whether the columns of an image are contiguous in memory: Fortran order, or a transposed array."""
    if "y" not in names or "c" in names:
        return False
    rows, cols = array.strides[names.index("y")], array.strides[names.index("x")]
    return rows == array.itemsize and cols > rows


def _checked(out, layout, dtype):
    """`out` with its axes in the order of the target. ValueError or TypeError if it does not fit."""
    shape = layout.array_shape
    check_out(out, [shape[axis] for axis in layout.inverse], dtype)
    return out.transpose(np.argsort(layout.inverse)).reshape(layout.target)


def _check_complex_allowed(chain):
    if not chain._native.by_parts:
        raise ValueError(
            f"the chain '{chain}' does not take complex numbers: it is not linear, or mixes channels; give real and imaginary part"
        )


def _apply_to_complex(chain, array, out, axes, arithmetic, threads, whole):
    """Filters the real and the imaginary part as two images. The chain must be linear."""
    _check_complex_allowed(chain)
    names = axis_letters(array.shape, axes)
    real, imag = (
        _apply_on_host(chain, part, None, names, arithmetic, threads, whole)
        for part in (array.real, array.imag)
    )
    dtype = np.result_type(real, np.complex64)
    if out is None:
        out = np.empty(real.shape, dtype)
    else:
        check_out(out, real.shape, dtype)
    out.real, out.imag = real, imag
    return out


class _Layout(NamedTuple):
    """The axes of an array as images: others, rows, columns, channels, for source and result."""

    order: tuple  # the array's axes in the layout's order
    image_axes: int  # of source and target
    source: tuple
    target: tuple
    dtype: np.dtype  # of the target
    array_shape: tuple  # the target's shape, without rows if the array has no axis y
    inverse: tuple  # from array_shape to the array's order
    part_location: tuple | None  # position of a part in the image, for the extension module; else None

    def restored(self, result):
        return result.reshape(self.array_shape).transpose(self.inverse)


_layouts, _MAX_LAYOUTS, _MAX_TEXT_LENGTH = {}, 256, 1000


def _layout(chain, names, shape, dtype, part):
    """The layout, cached by the chain's text, not by the chain, which may contain matrices. Not cached: long
    texts, texts that name a file (files change), and parts."""
    if part is not None:
        return _new_layout(chain, names, shape, dtype, part)
    key = chain._texts, names, shape, dtype
    if (layout := _layouts.get(key)) is None:
        layout = _new_layout(chain, names, shape, dtype, None)
        if sum(map(len, chain._texts)) <= _MAX_TEXT_LENGTH and not any(
            "file=" in text for text in chain._texts
        ):
            if len(_layouts) >= _MAX_LAYOUTS:
                _layouts.clear()
            _layouts[key] = layout
    return layout


def image_shape(names, shape):
    """Rows, columns and channels of an image."""
    return [shape[names.index(name)] if name in names else 1 for name in "yxc"]


def image_axis_order(names):
    """The array's axes in the order: those that count images, rows, columns, channels."""
    return [names.index(name) for name in names if name not in "yxc"] + [
        names.index(name) for name in "yxc" if name in names
    ]


def _new_layout(chain, names, shape, dtype, part):
    order = image_axis_order(names)
    others = [shape[axis] for axis in order if names[axis] not in "yxc"]
    whole = image_shape(names, shape if part is None else part.shape)
    spec = chain._native.result_spec((*whole, _dtypes.PIXELS[dtype]))
    image, part_location = (whole, list(spec[:3])), None
    if part is not None:
        image = image_shape(names, shape), [*part.result_rect[2:], spec[2]]
        part_location = part.origin, tuple(whole[:2]), part.result_rect[:2], spec[:2]
    if "y" not in names and spec[0] != 1:
        raise ValueError(f"the result of one row has {spec[0]} rows; give an array of two axes")
    has_channels = "c" in names or spec[2] != 1
    source, target = ([*others, *sides[: 3 if has_channels else 2]] for sides in image)
    array_shape = [*others, *target[len(others) + ("y" not in names) :]]
    inverse = np.argsort(
        [*order, *range(len(order), len(array_shape))]
    )  # channels without an axis in the array come last
    return _Layout(
        tuple(order),
        3 if has_channels else 2,
        tuple(source),
        tuple(target),
        _dtypes.DTYPES[spec[3]],
        tuple(array_shape),
        tuple(map(int, inverse)),
        part_location,
    )


def _apply_on_gpu(chain, array, out, axes, arithmetic, stream, part):
    device = _devices.Device(array, stream)
    names, shape = axis_letters(device.shape, axes), device.shape
    volumes = volumes_of(chain, names, shape, device.dtype) if part is None else None
    if volumes is None and chain._native.of_stacks and not ("z" in names and 0 in shape):
        raise ValueError(
            f"the chain '{chain}' is along z or has a stack as its second image: name the array's axis z (axes='zyx'), or take that stack from the host's memory, from a NumPy array or by sepconv.run(device='cuda')"
        )
    if volumes is not None:
        chain, names, shape = volumes.chain, volumes.names, volumes.source
    layout = _layout(chain, names, shape, device.dtype, part)
    shape_in_memory, inverse, order = layout.array_shape, layout.inverse, layout.order
    if volumes is not None:
        shape_in_memory, order = volumes.shape_of(shape_in_memory), volumes.order
        inverse = volumes.inverse(len(shape_in_memory))
    back = tuple(map(int, np.argsort(inverse)))
    source = device.in_order(order)
    result = device.target(out, back, shape_in_memory, layout.dtype, source)
    if 0 not in layout.source[: -layout.image_axes]:
        device.enqueue(
            chain,
            source,
            result,
            layout.source,
            layout.target,
            layout.image_axes,
            arithmetic,
            layout.part_location,
            part and part.max_size,
        )
    return out if out is not None else device.in_original_order(result, back)
