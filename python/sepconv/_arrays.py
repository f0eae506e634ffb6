"""Chains on NumPy's arrays: what the axes are, what is copied (as little as can be), and where the result
lies."""

import atexit
import os
from typing import NamedTuple

import numpy as np

from sepconv import _devices, _array_namespace, _xarray_names, _options, _sepconv, _aliasing, _dtypes
from sepconv._volumes import volumes_of

atexit.register(_sepconv.end_work)  # waits for what other threads compute
os.register_at_fork(after_in_child=_sepconv.forget_work)  # whose threads are the parent's

MOST_GUESSED_CHANNELS = 4  # as for NPY files
checked_threads = _options.whole(0)


def ready(view, image_axes):
    """`view`, or a copy where the library could not walk through its images: the elements
    of a row are contiguous, rows have a pitch."""
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
    )  # which is aligned; ascontiguousarray may leave an odd address


def check_out(out, shape, dtype):
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an array, not {type(out).__name__}")
    if out.shape != tuple(shape) or out.dtype != dtype:
        raise ValueError(
            f"the result is {tuple(shape)} of {dtype}, and out is {out.shape} of {out.dtype}; give one of that shape and type, or none"
        )
    if not out.flags.writeable:
        raise ValueError("out is read-only; give an array that can be written to")


def names_of(shape, axes):
    """A letter for each axis, by the rules that NPY files have."""
    if axes is None:
        guessed = {
            1: "x",
            2: "yx",
            3: "yxc" if shape[-1:] and shape[-1] <= MOST_GUESSED_CHANNELS else None,
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
    """Of what a given array is a part, and what is made of it."""

    shape: tuple  # of the whole array
    first: tuple  # row and column of the image that the given array begins with; beyond its edges, where it repeats
    result: tuple  # row, column, rows and columns of the part of the result
    largest: tuple  # rows and columns of any part of it


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
            made = apply(
                chain,
                array,
                None if out is None else _array_namespace.on_host(out)[0],
                axes,
                arithmetic,
                threads,
                stream,
                part,
            )
            return library(made) if out is None else out
    if stream is not None:
        raise TypeError("stream is for arrays on a GPU, and this one is in the host's memory")
    return _apply_on_host(chain, array, out, axes, arithmetic, threads, part)


def _apply_on_host(chain, array, out, axes, arithmetic, threads, part):
    dtype = _dtypes.native(array.dtype)
    if dtype in _dtypes.PARTS:
        return _complex(chain, array, out, axes, arithmetic, threads, part)
    _dtypes.check(array.dtype)
    holder, names = _dtypes.COMPUTED_AS[dtype], names_of(array.shape, axes)
    if (
        part is None and holder == dtype and (volumes := volumes_of(chain, names, array.shape, holder))
    ):  # else a volume would be widened at once
        return _apply_to_volumes(volumes, array, out, arithmetic, threads)
    if part is None and chain._native.of_stacks:
        return _apply_to_stacks(chain, array, out, names, dtype, arithmetic, threads)
    if (
        part is None
        and not array.flags.c_contiguous
        and _lies_by_columns(array, names)
        and (turned := chain._turned())
    ):
        chain, names = turned, names.translate(_EXCHANGED)
    layout = _layout(chain, names, array.shape, holder, part)
    keeps = _keeps(chain, dtype)
    view = array.transpose(layout.order).reshape(layout.source)
    pixels = (
        _dtypes.widened(view) if holder != dtype else view if array.dtype.isnative else view.astype(dtype)
    )
    target = (
        _checked(out, layout, dtype if keeps else layout.dtype)
        if out is not None
        else np.empty(layout.target, dtype)
        if keeps
        else None
    )
    made = target
    if target is None or keeps or ready(target, layout.image_axes) is not target:
        made = np.empty(layout.target, layout.dtype)
    elif _aliasing.share_memory(array, out):
        pixels = pixels.copy()
    if 0 not in pixels.shape[: -layout.image_axes]:
        _sepconv.apply(
            chain._native,
            ready(pixels, layout.image_axes),
            made,
            layout.image_axes,
            arithmetic,
            threads,
            layout.place,
        )
    if target is not None and made is not target:
        _dtypes.store(made, target)
    return out if out is not None else layout.back(made if target is None else target)


def _apply_to_volumes(volumes, array, out, arithmetic, threads):
    images = array.transpose(volumes.order).reshape(volumes.source)
    if out is None:
        made = _apply_on_host(volumes.chain, images, None, volumes.names, arithmetic, threads, None)
        shape = volumes.shape_of(made.shape)
        return made.reshape(shape).transpose(volumes.inverse(len(shape)))
    made, dtype = result_of(volumes.chain, volumes.names, images.shape, _dtypes.native(array.dtype))
    shape = volumes.shape_of(made)
    inverse = volumes.inverse(len(shape))
    check_out(out, [shape[axis] for axis in inverse], dtype)
    target = out.transpose(np.argsort(inverse)).reshape(made)  # which is of its memory if that is dense
    _apply_on_host(volumes.chain, images, target, volumes.names, arithmetic, threads, None)
    if not np.may_share_memory(target, out):
        out.transpose(np.argsort(inverse))[...] = target.reshape(shape)
    return out


def _apply_with_nodata(chain, array, out, axes, arithmetic, threads):
    """Of an array that says which of its values are missing, as `run` has it of files."""
    values = np.asarray(array)
    _dtypes.check(values.dtype)
    dtype = _dtypes.native(values.dtype)
    return _apply_to_stacks(
        chain,
        values,
        out,
        names_of(values.shape, axes),
        dtype,
        arithmetic,
        threads,
        _xarray_names.nodata_of(array),
    )


def _apply_to_stacks(chain, array, out, names, dtype, arithmetic, threads, nodata=None):
    """What belongs together of an array's images, as `run` has it of files."""
    from sepconv import _array_io  # which has this module

    layout = _layout(chain, names, array.shape, _dtypes.COMPUTED_AS[dtype], None)
    kind = dtype if _keeps(chain, dtype) else layout.dtype
    target = np.empty(layout.target, kind) if out is None else _checked(out, layout, kind)
    made = np.empty(layout.target, kind) if out is not None and _aliasing.share_memory(array, out) else target
    if 0 not in layout.source:
        letters = "".join(name for name in names if name not in "yxc") + "yxc"[: layout.image_axes]
        source = _array_io.Source(array.transpose(layout.order).reshape(layout.source), letters)
        source.nodata = nodata
        options = {"arithmetic": arithmetic, "threads": threads, "device": "cpu"}
        _sepconv.run(
            source,
            _array_io.Sink(made),
            chain._native,
            _options.settings_of(_options.RUN, options),
            False,
            None,
        )
    if made is not target:
        target[...] = made
    return out if out is not None else layout.back(target)


def _keeps(chain, dtype):
    """Whether the result is of this type, which is not a pixel type."""
    return dtype not in _dtypes.PIXELS and not any(text.startswith("cast") for text in chain._texts)


def result_of(chain, names, shape, dtype):
    """Shape and type of the result of such an array in the host's memory."""
    if dtype in _dtypes.PARTS:
        _check_by_parts(chain)
        shape, of_part = result_of(chain, names, shape, _dtypes.PARTS[dtype])
        return shape, np.result_type(of_part, np.complex64)
    _dtypes.check(dtype)
    layout = _layout(chain, names, shape, _dtypes.COMPUTED_AS[dtype], None)
    return tuple(layout.kept_shape[axis] for axis in layout.inverse), dtype if _keeps(
        chain, dtype
    ) else layout.dtype


_EXCHANGED = str.maketrans("xy", "yx")


def _lies_by_columns(array, names):
    """Whether an image's columns lie in memory as rows should: in Fortran's order, or transposed."""
    if "y" not in names or "c" in names:
        return False
    rows, cols = array.strides[names.index("y")], array.strides[names.index("x")]
    return rows == array.itemsize and cols > rows


def _checked(out, layout, dtype):
    """`out` with its axes in the order of the target."""
    shape = layout.kept_shape
    check_out(out, [shape[axis] for axis in layout.inverse], dtype)
    return out.transpose(np.argsort(layout.inverse)).reshape(layout.target)


def _check_by_parts(chain):
    if not chain._native.by_parts:
        raise ValueError(
            f"the chain '{chain}' does not take complex numbers: it is not linear, or mixes channels; give real and imaginary part"
        )


def _complex(chain, array, out, axes, arithmetic, threads, whole):
    """The real and the imaginary part are filtered as two images, by a chain that
    does to each what it would do to the sum."""
    _check_by_parts(chain)
    names = names_of(array.shape, axes)
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
    """An array's axes as images: others, rows, columns, channels, of the source and of the result."""

    order: tuple  # of the array's axes
    image_axes: int  # of source and target
    source: tuple
    target: tuple
    dtype: np.dtype  # of the target
    kept_shape: tuple  # the target's without the rows that an array of one row has no axis for
    inverse: tuple  # from there to the array's order
    place: tuple | None  # for the extension module: where parts lie, and of what; None of wholes

    def back(self, made):
        return made.reshape(self.kept_shape).transpose(self.inverse)


_layouts, _MOST_LAYOUTS, _LONGEST_TEXT = {}, 256, 1000


def _layout(chain, names, shape, dtype, part):
    """Kept by the chain's text, as the chain may hold matrices; not where that is long, or names a file,
    which may change; nor of parts."""
    if part is not None:
        return _new_layout(chain, names, shape, dtype, part)
    key = chain._texts, names, shape, dtype
    if (layout := _layouts.get(key)) is None:
        layout = _new_layout(chain, names, shape, dtype, None)
        if sum(map(len, chain._texts)) <= _LONGEST_TEXT and not any("file=" in text for text in chain._texts):
            if len(_layouts) >= _MOST_LAYOUTS:
                _layouts.clear()
            _layouts[key] = layout
    return layout


def image_of(names, shape):
    """Rows, columns and channels of such an array's images."""
    return [shape[names.index(name)] if name in names else 1 for name in "yxc"]


def order_of(names):
    """Of an array's axes: those that count images, rows, columns, channels."""
    return [names.index(name) for name in names if name not in "yxc"] + [
        names.index(name) for name in "yxc" if name in names
    ]


def _new_layout(chain, names, shape, dtype, part):
    order = order_of(names)
    others = [shape[axis] for axis in order if names[axis] not in "yxc"]
    whole = image_of(names, shape if part is None else part.shape)
    spec = chain._native.result_spec((*whole, _dtypes.PIXELS[dtype]))
    image, place = (whole, list(spec[:3])), None
    if part is not None:
        image = image_of(names, shape), [*part.result[2:], spec[2]]
        place = part.first, tuple(whole[:2]), part.result[:2], spec[:2]
    if "y" not in names and spec[0] != 1:
        raise ValueError(f"the result of one row has {spec[0]} rows; give an array of two axes")
    has_channels = "c" in names or spec[2] != 1
    source, target = ([*others, *sides[: 3 if has_channels else 2]] for sides in image)
    kept = [*others, *target[len(others) + ("y" not in names) :]]
    inverse = np.argsort(
        [*order, *range(len(order), len(kept))]
    )  # channels that the array has no axis for come last
    return _Layout(
        tuple(order),
        3 if has_channels else 2,
        tuple(source),
        tuple(target),
        _dtypes.DTYPES[spec[3]],
        tuple(kept),
        tuple(map(int, inverse)),
        place,
    )


def _apply_on_gpu(chain, array, out, axes, arithmetic, stream, part):
    device = _devices.Device(array, stream)
    names, shape = names_of(device.shape, axes), device.shape
    volumes = volumes_of(chain, names, shape, device.dtype) if part is None else None
    if volumes is None and chain._native.of_stacks and not ("z" in names and 0 in shape):
        raise ValueError(
            f"the chain '{chain}' is along z or has a stack beside it: name the array's axis z (axes='zyx'), or take a stack beside it from the host's memory, from a NumPy array or by sepconv.run(device='cuda')"
        )
    if volumes is not None:
        chain, names, shape = volumes.chain, volumes.names, volumes.source
    layout = _layout(chain, names, shape, device.dtype, part)
    kept, inverse, order = layout.kept_shape, layout.inverse, layout.order
    if volumes is not None:
        kept, order = volumes.shape_of(kept), volumes.order
        inverse = volumes.inverse(len(kept))
    back = tuple(map(int, np.argsort(inverse)))
    source = device.in_order(order)
    made = device.target(out, back, kept, layout.dtype, source)
    if 0 not in layout.source[: -layout.image_axes]:
        device.enqueue(
            chain,
            source,
            made,
            layout.source,
            layout.target,
            layout.image_axes,
            arithmetic,
            layout.place,
            part and part.largest,
        )
    return out if out is not None else device.given_back(made, back)
