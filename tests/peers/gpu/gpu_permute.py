"""One measurement of a transposition: the tensors, the compared planes, and the libraries."""

import ctypes

import numpy as np

import gpu_peers
from gpu_library import DTYPES, Array, download

PLANES = 24  # number of planes of a result that are compared
PERIOD = (1 << 22) + 7  # elements after which a source repeats; not a multiple of a row


class Tensors:
    """A random source and a target of a case in device memory."""

    def __init__(self, device, case):
        self.device, self.case = device, case
        self.dtype = np.dtype(DTYPES[case.type])
        self.result_shape = tuple(case.shape[axis] for axis in case.axes)
        elements = int(np.prod(case.shape))
        random = np.random.default_rng(7)
        if self.dtype.kind == "f":  # no NaN, which does not equal itself
            self.values = random.random(PERIOD, self.dtype)
        else:
            self.values = random.integers(0, 256, PERIOD * self.dtype.itemsize, np.uint8).view(self.dtype)
        self.source = Array(device, 1, elements, 1, self.dtype)
        self.target = Array(device, 1, elements, 1, self.dtype)
        self.source.shape, self.target.shape = (
            case.shape,
            self.result_shape,
        )  # the shapes in __cuda_array_interface__
        self.source.repeat(self.values)
        self.nbytes = self.source.nbytes

    def poison(self):
        self.target.fill(0xFF)

    def differing(self):
        """The number of elements of the target that differ from NumPy's, in planes along its first axis: the
        first, the last, and some between."""
        strides = np.cumprod((1, *self.case.shape[:0:-1]))[::-1]  # in elements
        plane_shape = self.result_shape[1:]
        inner = sum(
            np.arange(size).reshape(-1, *[1] * (len(plane_shape) - k - 1)) * strides[axis]
            for k, (size, axis) in enumerate(zip(plane_shape, self.case.axes[1:], strict=True))
        )
        last = self.result_shape[0] - 1
        planes = {0, last, *np.random.default_rng(3).integers(0, last + 1, PLANES - 2).tolist()}
        count, wrong = int(np.prod(plane_shape)), 0
        plane_bytes = count * self.dtype.itemsize
        for plane in planes:
            expected = self.values[(inner + plane * strides[self.case.axes[0]]) % PERIOD]
            actual = download(
                self.device,
                self.target.pointer + plane * plane_bytes,
                plane_bytes,
                (0, 0, 1, count),
                1,
                self.dtype,
            )
            wrong += int(np.count_nonzero(actual.reshape(plane_shape) != expected))
        return wrong

    def free(self):
        self.source.free()
        self.target.free()


class Sepconv(gpu_peers.Peer):
    name, note, version = "sepconv", "permute_device", ""

    def prepare_tensors(self, tensors):
        library, stream = self.device.library, self.device.stream
        shape, axes = tensors.case.three_axes
        shape, axes = (ctypes.c_int64 * 3)(*shape), (ctypes.c_int * 3)(*axes)

        def run(_):
            library.check(
                library.permute(
                    shape,
                    axes,
                    tensors.dtype.itemsize,
                    tensors.source.pointer,
                    tensors.target.pointer,
                    stream,
                )
            )

        return run


class CuPy(gpu_peers.CuPy):
    note = "copyto of the transposed view"

    def prepare_tensors(self, tensors):
        source, target = (
            self.cupy.asarray(tensors.source).transpose(tensors.case.axes),
            self.cupy.asarray(tensors.target),
        )

        def run(_):
            with self.stream:
                self.cupy.copyto(target, source)

        return run


class Torch(gpu_peers.Torch):
    note = "copy_ of the permuted view, as contiguous() does"

    def prepare_tensors(self, tensors):
        torch = self.torch
        torch_device = torch.device("cuda", self.device.index)
        source = torch.as_tensor(tensors.source, device=torch_device).permute(tensors.case.axes)
        target = torch.as_tensor(tensors.target, device=torch_device)

        def run(_):
            with torch.inference_mode(), torch.cuda.stream(self.stream):
                target.copy_(source)

        return run


PEERS = {"cupy": CuPy, "torch": Torch}
