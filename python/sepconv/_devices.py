"""Arrays in GPU memory: CuPy, PyTorch, JAX, and other arrays with DLPack or `__cuda_array_interface__`.

Work is enqueued on the current stream of the array's library, or on `stream`, without waiting. The result is
an array of the same library. JAX arrays are read-only and JAX exposes no streams, so the result is memory of
this package, with an event for JAX to wait on."""

import collections
import functools
import math
import operator
import threading

import numpy as np

from sepconv import _array_namespace, _sepconv, _dtypes

_CUDA_KINDS = (2, 13)  # DLPack's kDLCUDA and kDLCUDAManaged
_captured = set()  # filters recorded in a CUDA graph, which may be launched until the process ends


def is_on_gpu(array):
    """Whether the array is in GPU memory."""
    if isinstance(array, np.ndarray):
        return False
    if hasattr(array, "__dlpack_device__"):
        return array.__dlpack_device__()[0] in _CUDA_KINDS
    return hasattr(array, "__cuda_array_interface__")


def stream_handle(stream):
    """The handle of a stream: an int, or an object with `__cuda_stream__`. 0 is the default stream of the
    device."""
    if hasattr(stream, "__cuda_stream__"):
        return operator.index(stream.__cuda_stream__()[1])
    try:
        return operator.index(stream)
    except TypeError:
        raise TypeError(
            f"stream must be an int, a cudaStream_t, or have __cuda_stream__; {type(stream).__name__} has not"
        ) from None


class _Library:
    """Operations of an array's library. This class is for arrays with only `__cuda_array_interface__`."""

    def device(self, array):
        return (
            array.__dlpack_device__()[1] if hasattr(array, "__dlpack_device__") else _sepconv.current_device()
        )

    def stream(self, array):
        return array.__cuda_array_interface__.get("stream") or 0

    def layout(self, array, stream):
        """Address, dtype, shape and strides in bytes."""
        interface = array.__cuda_array_interface__
        dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
        strides = interface.get("strides") or _dense_strides(shape, dtype.itemsize)
        return interface["data"][0], dtype, shape, tuple(strides)

    def writable(self, array):
        return not array.__cuda_array_interface__["data"][1]

    def empty(self, source, shape, dtype):
        raise TypeError(f"a result like {type(source).__name__} cannot be made; give `out`")

    def contiguous(self, array, order):
        raise ValueError("the rows of the array are not contiguous; give a contiguous one")

    def transposed(self, array, order):
        raise ValueError(
            "the array's axes are in another order; give one with its axes in the order others, rows, columns, channels"
        )

    def as_library_array(self, array):
        """`array` as returned to the caller."""
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

    def layout(self, array, stream):
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


class _OwnedMemory:
    """Memory of this package for a library that imports DLPack: work on that library's stream waits for the
    work on ours."""

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

    def layout(self, array, stream):
        address, shape, strides = _sepconv.taken(
            array.native if isinstance(array, _OwnedMemory) else array.__dlpack__(stream=stream or 1)
        )
        dtype = np.dtype(array.dtype)
        return address, dtype, shape, tuple(dtype.itemsize * stride for stride in strides)

    def writable(self, array):
        return isinstance(array, _OwnedMemory)

    def empty(self, source, shape, dtype):
        device = self.device(source)
        native = _sepconv.device_empty(list(shape), _dtypes.PIXELS[np.dtype(dtype)], device, source)
        return _OwnedMemory(native, shape, np.dtype(dtype), device, self.stream(source))

    def contiguous(self, array, order):
        return self.transposed(array, order)

    def transposed(self, array, order):
        import jax.numpy

        return jax.numpy.transpose(array, order)

    def as_library_array(self, array):
        import jax.dlpack

        return jax.dlpack.from_dlpack(array)


_LIBRARIES = {"cupy": _CuPy(), "torch": _Torch(), **dict.fromkeys(("jax", "jaxlib"), _Jax())}


def _dense_strides(shape, itemsize):
    return tuple(itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _is_dense(shape, strides, dtype, order):
    """Whether the array is dense with its axes in this order."""
    shape, strides = [shape[axis] for axis in order], [strides[axis] for axis in order]
    return all(
        stride == dense or side == 1
        for side, stride, dense in zip(shape, strides, _dense_strides(shape, dtype.itemsize))
    )


class Device:
    """The array of one call, its library and its stream."""

    def __init__(self, array, stream):
        self.library = _LIBRARIES.get(_array_namespace.package_name(array), _Library())
        self.array, self.index = array, self.library.device(array)
        self.stream = self.library.stream(array) if stream is None else stream_handle(stream)
        _, self.dtype, self.shape, self.strides = self.library.layout(array, self.stream)
        if self.dtype not in _dtypes.PIXELS:
            raise TypeError(
                f"an array of {self.dtype} is not filtered on a GPU; give u8, u16, i16, f32 or f64"
            )

    def in_order(self, order):
        """The array, dense in memory with its axes in this order; itself if it already is."""
        return (
            self.array
            if _is_dense(self.shape, self.strides, self.dtype, order)
            else self.library.contiguous(self.array, order)
        )

    def target(self, out, order, shape, dtype, source):
        """The array that receives the result: `out`, if it has this shape and type in this axis order and is
        dense, or a new array of the library."""
        if out is None:
            return self.library.empty(source, shape, dtype)
        _, own, at, strides = self.library.layout(out, self.stream)
        if own != dtype or tuple(at[axis] for axis in order) != tuple(shape):
            raise ValueError(
                f"the result is of {np.dtype(dtype)} and, its axes as in memory, {tuple(shape)}; out is {tuple(at)} of {own}: give one that fits, or none"
            )
        if not _is_dense(at, strides, own, order):
            raise ValueError(
                "the memory layout of out differs from the result's, with contiguous rows; give a contiguous one, or none"
            )
        if not self.library.writable(out):
            raise ValueError("out is read-only; give an array that can be written to")
        return out

    def in_original_order(self, made, order):
        """The result with its axes in the array's original order."""
        made = self.library.as_library_array(made)
        return (
            made
            if list(order) == sorted(order)
            else self.library.transposed(made, [int(axis) for axis in np.argsort(order)])
        )

    def enqueue(
        self,
        chain,
        source,
        target,
        shape,
        target_shape,
        image_axes,
        arithmetic,
        part_location=None,
        max_size=None,
    ):
        """Enqueues `chain` from `source`, seen as `shape`, to `target`, seen as `target_shape`. For parts, at
        `part_location`, the filter is created for the largest part."""
        address, dtype, *_ = self.library.layout(source, self.stream)
        result_address, target_dtype, *_ = self.library.layout(target, self.stream)
        rows, cols, *channels = shape[len(shape) - image_axes :]
        if part_location is not None:
            rows, cols = part_location[1]
        compiled = _filter(
            chain,
            rows,
            cols,
            channels[0] if channels else 1,
            _dtypes.PIXELS[dtype],
            arithmetic,
            self.index,
            max_size or (0, 0),
        )
        if _sepconv.is_capturing(self.stream):
            _captured.add(compiled)
        _sepconv.enqueue(
            compiled,
            (address, _dtypes.PIXELS[dtype], shape, _dense_strides(shape, dtype.itemsize)),
            (
                result_address,
                _dtypes.PIXELS[target_dtype],
                target_shape,
                _dense_strides(target_shape, target_dtype.itemsize),
            ),
            image_axes,
            self.stream,
            part_location,
        )


_MAX_FILTERS, _MAX_SCRATCH_BYTES = 32, 1 << 30
_filters, _filters_lock = collections.OrderedDict(), threading.Lock()


def _filter(chain, *parameters):
    """The filter for these arguments, cached. A filter holds scratch memory on its GPU, for volumes as much
    as a volume, so only the most recent filters that fit the limits are cached."""
    key = chain, *parameters
    with _filters_lock:
        if key in _filters:
            _filters.move_to_end(key)
            return _filters[key]
    created = _sepconv.make_filter(getattr(chain, "_native", chain), *parameters)
    with _filters_lock:
        _filters[key] = created
        while (
            len(_filters) > _MAX_FILTERS
            or len(_filters) > 1
            and sum(kept.scratch_bytes for kept in _filters.values()) > _MAX_SCRATCH_BYTES
        ):
            _filters.popitem(last=False)
    return created
