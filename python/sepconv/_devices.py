"""Arrays in a GPU's memory: CuPy's, PyTorch's, JAX's, and others that speak DLPack or
`__cuda_array_interface__`.

Work is put on the stream that is current in the array's library, or on `stream`, and nothing waits for it.
The result is an array of the same library. JAX lets nobody write into its arrays and shows no streams: it
gets memory of ours, and is told what to wait for."""

import collections
import functools
import math
import operator
import threading

import numpy as np

from sepconv import _array_namespace, _sepconv, _dtypes

_CUDA_KINDS = (2, 13)  # DLPack's kDLCUDA and kDLCUDAManaged
_captured = (
    set()
)  # filters of calls that went into a CUDA graph, which may be launched as long as the process lives


def is_on_gpu(array):
    """Whether it is an array in a GPU's memory."""
    if isinstance(array, np.ndarray):
        return False
    if hasattr(array, "__dlpack_device__"):
        return array.__dlpack_device__()[0] in _CUDA_KINDS
    return hasattr(array, "__cuda_array_interface__")


def stream_handle(stream):
    """That of an int or of what has `__cuda_stream__`. 0 is the device's default stream."""
    if hasattr(stream, "__cuda_stream__"):
        return operator.index(stream.__cuda_stream__()[1])
    try:
        return operator.index(stream)
    except TypeError:
        raise TypeError(
            f"stream must be an int, a cudaStream_t, or have __cuda_stream__; {type(stream).__name__} has not"
        ) from None


class _Library:
    """What is asked of an array's library. This one is of arrays that only have
    `__cuda_array_interface__`."""

    def device(self, array):
        return (
            array.__dlpack_device__()[1] if hasattr(array, "__dlpack_device__") else _sepconv.current_device()
        )

    def stream(self, array):
        return array.__cuda_array_interface__.get("stream") or 0

    def place(self, array, stream):
        """Address, dtype, shape and strides in bytes."""
        facts = array.__cuda_array_interface__
        dtype, shape = np.dtype(facts["typestr"]), tuple(facts["shape"])
        strides = facts.get("strides") or _dense_strides(shape, dtype.itemsize)
        return facts["data"][0], dtype, shape, tuple(strides)

    def writable(self, array):
        return not array.__cuda_array_interface__["data"][1]

    def empty(self, source, shape, dtype):
        raise TypeError(f"a result like {type(source).__name__} cannot be made; give `out`")

    def contiguous(self, array, order):
        raise ValueError(
            "the array's elements do not lie in rows one behind the other; give a contiguous one"
        )

    def transposed(self, array, order):
        raise ValueError(
            "the array's axes would have to change places; give one with its axes in the order others, rows, columns, channels"
        )

    def finished(self, array):
        """`array` as it is given back."""
        return array


class _CuPy(_Library):
    def device(self, array):
        return array.device.id

    def stream(self, array):
        import cupy

        with array.device:
            return cupy.cuda.get_current_stream().ptr

    def empty(self, source, shape, dtype):
        import cupy

        with source.device:
            return cupy.empty(shape, dtype)

    def contiguous(self, array, order):
        import cupy

        return cupy.ascontiguousarray(array.transpose(order))

    def transposed(self, array, order):
        return array.transpose(order)


class _Torch(_Library):
    def device(self, array):
        return array.device.index

    def stream(self, array):
        import torch

        return torch.cuda.current_stream(array.device).cuda_stream

    def place(self, array, stream):
        name = str(array.dtype).removeprefix("torch.")
        if name == "bfloat16":
            raise TypeError("an array of bfloat16 is not filtered; give u8, u16, i16, f32 or f64")
        dtype = np.dtype(name)
        return (
            array.data_ptr(),
            dtype,
            tuple(array.shape),
            tuple(dtype.itemsize * stride for stride in array.stride()),
        )

    def empty(self, source, shape, dtype):
        import torch

        return torch.empty(shape, dtype=getattr(torch, np.dtype(dtype).name), device=source.device)

    def contiguous(self, array, order):
        return array.permute(order).contiguous()

    def transposed(self, array, order):
        return array.permute(order)

    def writable(self, array):
        return True


class _Made:
    """Memory of ours on its way to a library that takes DLPack: what that puts on its stream waits for what
    is on ours."""

    def __init__(self, native, shape, dtype, device, stream):
        self.native, self.shape, self.dtype, self.device, self.stream = native, shape, dtype, device, stream

    def __dlpack_device__(self):
        return self.native.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **_):
        if stream is not None and stream != -1:
            _sepconv.order(self.device, self.stream, stream)
        return self.native.__dlpack__()


@functools.lru_cache(maxsize=None)
def _stream_for_jax(device):
    return _sepconv.make_stream(device)


class _Jax(_Library):
    def device(self, array):
        return array.__dlpack_device__()[1]

    def stream(self, array):
        return _stream_for_jax(self.device(array)).handle

    def place(self, array, stream):
        address, shape, strides = _sepconv.taken(
            array.native if isinstance(array, _Made) else array.__dlpack__(stream=stream or 1)
        )
        dtype = np.dtype(array.dtype)
        return address, dtype, shape, tuple(dtype.itemsize * stride for stride in strides)

    def writable(self, array):
        return isinstance(array, _Made)

    def empty(self, source, shape, dtype):
        device = self.device(source)
        native = _sepconv.device_empty(list(shape), _dtypes.PIXELS[np.dtype(dtype)], device, source)
        return _Made(native, shape, np.dtype(dtype), device, self.stream(source))

    def contiguous(self, array, order):
        return self.transposed(array, order)

    def transposed(self, array, order):
        import jax.numpy

        return jax.numpy.transpose(array, order)

    def finished(self, array):
        import jax.dlpack

        return jax.dlpack.from_dlpack(array)


_LIBRARIES = {"cupy": _CuPy(), "torch": _Torch(), **dict.fromkeys(("jax", "jaxlib"), _Jax())}


def _dense_strides(shape, itemsize):
    return tuple(itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _is_dense(shape, strides, dtype, order):
    """Whether an array's elements lie one behind the other, its axes taken in this order."""
    shape, strides = [shape[axis] for axis in order], [strides[axis] for axis in order]
    return all(
        stride == dense or side == 1
        for side, stride, dense in zip(shape, strides, _dense_strides(shape, dtype.itemsize))
    )


class Device:
    """One call's array, its library and its stream."""

    def __init__(self, array, stream):
        self.library = _LIBRARIES.get(_array_namespace.package_name(array), _Library())
        self.array, self.index = array, self.library.device(array)
        self.stream = self.library.stream(array) if stream is None else stream_handle(stream)
        _, self.dtype, self.shape, self.strides = self.library.place(array, self.stream)
        if self.dtype not in _dtypes.PIXELS:
            raise TypeError(
                f"an array of {self.dtype} is not filtered on a GPU; give u8, u16, i16, f32 or f64"
            )

    def in_order(self, order):
        """The array with its axes in this order, dense in memory; itself where it lies so."""
        return (
            self.array
            if _is_dense(self.shape, self.strides, self.dtype, order)
            else self.library.contiguous(self.array, order)
        )

    def target(self, out, order, shape, dtype, source):
        """What is made of `source` is stored there: in `out` if it has this shape, with its axes in this
        order, and is dense; or an array of the library's."""
        if out is None:
            return self.library.empty(source, shape, dtype)
        _, own, at, strides = self.library.place(out, self.stream)
        if own != dtype or tuple(at[axis] for axis in order) != tuple(shape):
            raise ValueError(
                f"the result is of {np.dtype(dtype)} and, its axes as in memory, {tuple(shape)}; out is {tuple(at)} of {own}: give one that fits, or none"
            )
        if not _is_dense(at, strides, own, order):
            raise ValueError(
                "out does not lie in memory as the result does, rows one behind the other; give a contiguous one, or none"
            )
        if not self.library.writable(out):
            raise ValueError("out is read-only; give an array that can be written to")
        return out

    def in_original_order(self, made, order):
        """A result with its axes in the order of `order` as one whose axes are in their own."""
        made = self.library.finished(made)
        return (
            made
            if list(order) == sorted(order)
            else self.library.transposed(made, [int(axis) for axis in np.argsort(order)])
        )

    def enqueue(
        self, chain, source, target, shape, target_shape, image_axes, arithmetic, place=None, largest=None
    ):
        """`chain` from `source` seen in `shape` to `target` in `target_shape`; of parts, which lie at
        `place`, the filter is made for the largest."""
        address, dtype, *_ = self.library.place(source, self.stream)
        result, made, *_ = self.library.place(target, self.stream)
        rows, cols, *channels = shape[len(shape) - image_axes :]
        if place is not None:
            rows, cols = place[1]
        made_filter = _filter(
            chain,
            rows,
            cols,
            channels[0] if channels else 1,
            _dtypes.PIXELS[dtype],
            arithmetic,
            self.index,
            largest or (0, 0),
        )
        if _sepconv.is_capturing(self.stream):
            _captured.add(made_filter)
        _sepconv.enqueue(
            made_filter,
            (address, _dtypes.PIXELS[dtype], shape, _dense_strides(shape, dtype.itemsize)),
            (result, _dtypes.PIXELS[made], target_shape, _dense_strides(target_shape, made.itemsize)),
            image_axes,
            self.stream,
            place,
        )


_MAX_FILTERS, _MOST_SCRATCH_BYTES = 32, 1 << 30
_filters, _filters_lock = collections.OrderedDict(), threading.Lock()


def _filter(chain, *of):
    """Filters hold scratch on their GPU, those of volumes as much as a volume, so that few are kept: the last
    one, and as many before as fit."""
    key = chain, *of
    with _filters_lock:
        if key in _filters:
            _filters.move_to_end(key)
            return _filters[key]
    made = _sepconv.make_filter(getattr(chain, "_native", chain), *of)
    with _filters_lock:
        _filters[key] = made
        while (
            len(_filters) > _MAX_FILTERS
            or len(_filters) > 1
            and sum(kept.scratch_bytes for kept in _filters.values()) > _MOST_SCRATCH_BYTES
        ):
            _filters.popitem(last=False)
    return made
