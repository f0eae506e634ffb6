"""The parts of CuPy, PyTorch and JAX that sepconv uses, on the memory of a simulated GPU, which is host
memory. For test_devices.py."""

import ctypes
import sys
import types

import numpy as np

from sepconv import _sepconv


class Device:
    id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


_keep_alive = []


class CupyArray:
    """Writes are executed immediately, so a test must wait for the stream before it reads."""

    def __init__(self, host):
        _keep_alive.append(host)  # CuPy frees its memory once its stream has passed
        self.host, self.device = host, Device()
        self.ndim, self.shape, self.dtype = host.ndim, host.shape, host.dtype

    @property
    def __cuda_array_interface__(self):
        facts = self.host.__array_interface__
        return {
            "data": facts["data"],
            "shape": facts["shape"],
            "strides": facts["strides"],
            "typestr": facts["typestr"],
            "version": 3,
        }

    def __dlpack_device__(self):
        return 2, 0

    def transpose(self, order):
        return CupyArray(self.host.transpose(order))

    def _synchronized(self):
        _sepconv.synchronize(STREAM)
        return self.host

    def __mul__(self, other):
        return CupyArray(self._synchronized() * other._synchronized())

    def __sub__(self, other):
        return CupyArray(self._synchronized() - other._synchronized())

    def __add__(self, other):
        return CupyArray(self._synchronized() + other._synchronized())

    def __pow__(self, power):
        return CupyArray(self._synchronized() ** power)

    # Operations that dask applies to blocks.
    def __getitem__(self, key):
        return CupyArray(self.host[key])

    def __setitem__(self, key, part):
        self._synchronized()[key] = part.host

    def copy(self):
        return CupyArray(self._synchronized().copy())

    def astype(self, dtype):
        return CupyArray(self._synchronized().astype(dtype))

    def __array_function__(self, function, _, args, keywords):
        arguments = [
            [array._synchronized() for array in args[0]]
            if isinstance(args[0], list)
            else args[0]._synchronized(),
            *args[1:],
        ]
        return CupyArray(
            {np.empty_like: np.empty_like, np.concatenate: np.concatenate}[function](*arguments, **keywords)
        )


class Tensor:
    """A PyTorch tensor: strides are a function, in elements, and dtypes are PyTorch's."""

    def __init__(self, host):
        _keep_alive.append(host)
        self.host, self.ndim, self.shape = host, host.ndim, host.shape
        self.dtype, self.device = f"torch.{host.dtype.name}", types.SimpleNamespace(index=0)

    def __dlpack_device__(self):
        return 2, 0

    def data_ptr(self):
        return self.host.ctypes.data

    def stride(self):
        return tuple(step // self.host.itemsize for step in self.host.strides)

    def permute(self, order):
        return Tensor(self.host.transpose(order))

    def contiguous(self):
        return Tensor(np.ascontiguousarray(self.host))

    _synchronized = CupyArray._synchronized

    def __mul__(self, other):
        return Tensor(self._synchronized() * other._synchronized())

    def __sub__(self, other):
        return Tensor(self._synchronized() - other._synchronized())

    def __add__(self, other):
        return Tensor(self._synchronized() + other._synchronized())

    def __pow__(self, power):
        return Tensor(self._synchronized() ** power)


class JaxArray:
    def __init__(self, host):
        _keep_alive.append(host)
        self.host, self.ndim, self.shape, self.dtype = host, host.ndim, host.shape, host.dtype

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, *, stream):
        self.requested_stream = stream
        return capsule_of(self.host)


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


def capsule_of(host):
    """A DLPack capsule that declares the array to be on a GPU."""
    shape, strides = (
        (ctypes.c_int64 * host.ndim)(*host.shape),
        (ctypes.c_int64 * host.ndim)(*(step // host.itemsize for step in host.strides)),
    )
    tensor = _Tensor(
        host.ctypes.data,
        2,
        0,
        host.ndim,
        {"f": 2, "i": 0, "u": 1}[host.dtype.kind],
        8 * host.itemsize,
        1,
        shape,
        strides,
        0,
        None,
        None,
    )
    _keep_alive.append((host, shape, strides, tensor))
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.addressof(tensor), b"dltensor", None)


def from_dlpack(exporter):
    """As JAX: makes its own stream wait, and keeps the memory alive with the array."""
    assert exporter.__dlpack_device__() == (2, 0)
    consumer = _sepconv.make_stream(0)
    capsule = exporter.__dlpack__(stream=consumer.handle)
    _sepconv.synchronize(consumer)
    address, shape, _ = _sepconv.taken(capsule)
    host = (
        np.ctypeslib.as_array(
            ctypes.cast(address, ctypes.POINTER(ctypes.c_uint8)),
            (int(np.prod(shape)) * exporter.dtype.itemsize,),
        )
        .view(exporter.dtype)
        .reshape(shape)
    )
    array = JaxArray(host)
    array.owner = exporter.native
    return array


STREAM = _sepconv.make_stream(0)


def install():
    """Installs the modules in sys.modules."""
    cupy = types.ModuleType("cupy")
    cupy.ndarray = CupyArray
    cupy.empty = lambda shape, dtype: CupyArray(np.full(shape, 85, dtype))
    cupy.ascontiguousarray = lambda array: CupyArray(np.ascontiguousarray(array.host))
    cupy.cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=STREAM.handle))
    jax = types.ModuleType("jax")
    jax.dlpack = types.SimpleNamespace(from_dlpack=from_dlpack)
    jax.numpy = types.SimpleNamespace(
        transpose=lambda array, order: JaxArray(np.ascontiguousarray(array.host.transpose(order)))
    )
    torch = types.ModuleType("torch")
    torch.empty = lambda shape, dtype, device: Tensor(np.full(shape, 85, dtype))
    vars(torch).update({name: np.dtype(name) for name in ("uint8", "uint16", "int16", "float32", "float64")})
    torch.cuda = types.SimpleNamespace(
        current_stream=lambda device: types.SimpleNamespace(cuda_stream=STREAM.handle)
    )
    sys.modules.update(
        {"torch": torch, "cupy": cupy, "jax": jax, "jax.dlpack": jax.dlpack, "jax.numpy": jax.numpy}
    )
    CupyArray.__module__, Tensor.__module__, JaxArray.__module__ = "cupy", "torch", "jaxlib.fake"
