"""Separable convolution on a GPU by the installed libraries, all with the same interface:

    peer = CuPy(device)  # raises ImportError, or Unsupported if it finds no GPU
    run = peer.prepare(case, pairs)  # raises Unsupported if it does not support the case
    run(i)  # enqueues the filter from source to target of pair i (modulo their number) on device.stream
    peer.result(i)  # a pointer to the dense result of the last run(i)
    peer.release()  # frees what prepare() allocated

Each library is used as its documentation recommends. A library that cannot write into the caller's memory
allocates its results. Conversion and rounding of integers count as part of the time if the library leaves
them to the user."""

import importlib

import numpy as np

import gpu_npp


class Unsupported(Exception):
    """The peer does not support the request; the message is the reason."""


class Peer:
    integer_bound = 1  # maximum difference of integer results from sepconv's
    note = ""

    def __init__(self, device):
        self.device, self.kept = device, None

    def result(self, i):
        return self.pairs[i % len(self.pairs)][1].pointer

    def release(self):
        self.kept = self.pairs = None

    def border(self, case, names):
        if case.border not in names:
            raise Unsupported(f"has no border {case.border}")
        return names[case.border]


NDIMAGE_BORDERS = {
    "replicate": "nearest",
    "reflect101": "mirror",
    "reflect": "reflect",
    "constant": "constant",
}


class CuPy(Peer):
    name = "CuPy"
    note = "cupyx.scipy.ndimage.correlate1d twice, f32 between the passes; integers cut, not rounded"

    def __init__(self, device):
        super().__init__(device)
        import cupy
        import cupyx.scipy.ndimage

        self.cupy, self.ndimage = cupy, cupyx.scipy.ndimage
        self.version = cupy.__version__
        cupy.cuda.Device(device.index).use()
        self.stream = cupy.cuda.ExternalStream(device.stream)

    def prepare(self, case, pairs):
        mode = self.border(case, NDIMAGE_BORDERS)
        self.pairs = pairs
        arrays = [(self.cupy.asarray(source), self.cupy.asarray(target)) for source, target in pairs]
        taps = self.cupy.asarray(case.taps, case.arithmetic)
        between = self.cupy.empty(pairs[0][0].shape, case.arithmetic)
        self.cupy.cuda.Device().synchronize()
        correlate = self.ndimage.correlate1d

        def run(i):
            source, target = arrays[i % len(arrays)]
            with self.stream:
                correlate(source, taps, axis=1, output=between, mode=mode, cval=case.value)
                correlate(between, taps, axis=0, output=target, mode=mode, cval=case.value)

        return run

    def release(self):
        super().release()
        self.cupy.get_default_memory_pool().free_all_blocks()


class SepconvNdimage(CuPy):
    """The Python package sepconv on CuPy's arrays."""

    name = "sepconv.ndimage"
    note = "the Python package's gaussian_filter; f32 in f64 arithmetic"

    def __init__(self, device):
        super().__init__(device)
        import sepconv
        import sepconv.ndimage

        self.sepconv, self.version = sepconv, sepconv.__version__

    def prepare(self, case, pairs):
        self.pairs, filtered = pairs, self.filter(case)
        arrays = [(self.cupy.asarray(source), self.cupy.asarray(target)) for source, target in pairs]

        def run(i):
            source, target = arrays[i % len(arrays)]
            filtered(source, target)

        return run

    def filter(self, case):
        options = {
            "mode": self.border(case, NDIMAGE_BORDERS),
            "cval": case.value,
            "radius": case.radius,
            "axes": (0, 1),
            "stream": self.device.stream,
        }
        return lambda source, target: self.sepconv.ndimage.gaussian_filter(
            source, case.sigma, output=target, **options
        )


class SepconvChain(SepconvNdimage):
    name = "sepconv in Python"
    note = "a chain of the Python package, gaussian()"

    def filter(self, case):
        axes = "yxc" if case.channels > 1 else "yx"
        beyond = {"value": case.value} if case.border == "constant" else {}
        chain = self.sepconv.gaussian(case.sigma, radius=case.radius, border=case.border, **beyond)
        return lambda source, target: chain(source, target, axes=axes, stream=self.device.stream)


class CuCim(CuPy):
    name = "cuCIM"
    note = "cucim.skimage.filters.gaussian; integers through cupy.rint"

    def __init__(self, device):
        super().__init__(device)
        import cucim
        import cucim.skimage.filters

        self.gaussian, self.version = cucim.skimage.filters.gaussian, cucim.__version__

    def prepare(self, case, pairs):
        options = {
            "sigma": case.sigma,
            "truncate": case.truncate,
            "mode": self.border(case, NDIMAGE_BORDERS),
            "cval": case.value,
            "preserve_range": True,
            "channel_axis": -1 if case.channels > 1 else None,
        }
        self.pairs = pairs
        sources = [self.cupy.asarray(source) for source, _ in pairs]

        def run(i):
            with self.stream:
                result = self.gaussian(sources[i % len(sources)], **options)
                self.kept = self.cupy.rint(result).astype(case.dtype) if case.integer else result

        return run

    def result(self, i):
        if self.kept.dtype != self.pairs[0][0].dtype:
            raise Unsupported(f"makes {self.kept.dtype} of {self.pairs[0][0].dtype}")
        with self.stream:
            self.kept = self.cupy.ascontiguousarray(self.kept)
        return self.kept.data.ptr


class Torch(Peer):
    name = "PyTorch"
    note = "pad, then conv2d with 1 x n and with n x 1 taps, a group a channel; TF32 off; integers through f32 and round"
    tuned = False

    def __init__(self, device):
        super().__init__(device)
        import torch

        if not torch.cuda.is_available():
            raise Unsupported("sees no GPU")
        self.torch, self.version = torch, torch.__version__
        torch.cuda.set_device(device.index)
        self.stream = torch.cuda.ExternalStream(device.stream, device=device.index)

    def prepare(self, case, pairs):
        torch = self.torch
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.benchmark = self.tuned
        mode = self.border(case, {"replicate": "replicate", "reflect101": "reflect", "constant": "constant"})
        self.pairs, channels, radius = pairs, case.channels, case.radius
        torch_device = torch.device("cuda", self.device.index)
        float_type = torch.float64 if case.type == "f64" else torch.float32
        # N x C x H x W; with several channels the memory is what PyTorch calls channels_last.
        sources = [
            torch.as_tensor(source, device=torch_device)
            .reshape(1, case.rows, case.cols, channels)
            .permute(0, 3, 1, 2)
            for source, _ in pairs
        ]
        taps = torch.tensor(case.taps, dtype=float_type, device=torch_device)
        row_taps = taps.reshape(1, 1, 1, -1).repeat(channels, 1, 1, 1)
        col_taps = taps.reshape(1, 1, -1, 1).repeat(channels, 1, 1, 1)
        value = {"value": case.value} if mode == "constant" else {}
        torch.cuda.synchronize()
        functional = torch.nn.functional

        def run(i):
            with torch.inference_mode(), torch.cuda.stream(self.stream):
                image = sources[i % len(sources)].to(float_type)
                image = functional.pad(image, (radius, radius, radius, radius), mode, **value)
                image = functional.conv2d(image, row_taps, groups=channels)
                image = functional.conv2d(image, col_taps, groups=channels)
                if case.integer:
                    info = np.iinfo(case.dtype)
                    image = image.round_().clamp_(info.min, info.max).to(sources[0].dtype)
                self.kept = image

        return run

    def result(self, i):
        with self.torch.inference_mode(), self.torch.cuda.stream(self.stream):
            self.kept = self.kept.permute(0, 2, 3, 1).contiguous()
        return self.kept.data_ptr()

    def release(self):
        super().release()
        self.torch.cuda.empty_cache()


class TorchTuned(Torch):
    name = "PyTorch tuned"
    note = "the same with cudnn.benchmark: the fastest of cuDNN's algorithms, tried before the first run"
    tuned = True


class CvCuda(Peer):
    name = "CV-CUDA"
    note = "cvcuda.gaussian_into"

    def __init__(self, device):
        super().__init__(device)
        import cvcuda

        try:
            import nvcv
        except ImportError:
            nvcv = cvcuda  # newer versions have a single module
        self.cvcuda, self.version = cvcuda, cvcuda.__version__
        self.as_tensor = getattr(cvcuda, "as_tensor", None) or nvcv.as_tensor
        as_stream = getattr(cvcuda, "as_stream", None) or nvcv.cuda.as_stream
        self.stream = as_stream(device.stream)

    def prepare(self, case, pairs):
        if case.type == "f64" or case.channels not in (1, 3, 4):
            raise Unsupported(f"has no {case.type} of {case.channels} channels")
        kinds = self.cvcuda.Border
        border = self.border(
            case,
            {
                "replicate": kinds.REPLICATE,
                "reflect101": kinds.REFLECT101,
                "reflect": kinds.REFLECT,
                **({"constant": kinds.CONSTANT} if case.value == 0 else {}),
            },
        )
        self.pairs = pairs
        tensors = [[self.as_tensor(_WithChannels(array), "HWC") for array in pair] for pair in pairs]
        side = 2 * case.radius + 1

        def run(i):
            source, target = tensors[i % len(tensors)]
            self.cvcuda.gaussian_into(
                target, source, (side, side), (case.sigma, case.sigma), border, stream=self.stream
            )

        return run


class _WithChannels:
    """An Array whose shape always includes the channels."""

    def __init__(self, array):
        self.array = array
        shape = (array.rows, array.cols, array.channels)
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "shape": shape}


class OpenCv(Peer):
    name = "OpenCV CUDA"
    note = "cv2.cuda.createSeparableLinearFilter"
    most_taps = 32

    def __init__(self, device):
        super().__init__(device)
        import cv2

        if not hasattr(cv2, "cuda") or cv2.cuda.getCudaEnabledDeviceCount() == 0:
            raise Unsupported("was built without CUDA")
        cv2.cuda.setDevice(device.index)
        self.cv2, self.version = cv2, cv2.__version__
        self.stream = cv2.cuda.wrapStream(device.stream)

    def prepare(self, case, pairs):
        if 2 * case.radius + 1 > self.most_taps:
            raise Unsupported(f"takes {self.most_taps} taps at most")
        cv2 = self.cv2
        border = self.border(
            case,
            {
                "replicate": cv2.BORDER_REPLICATE,
                "reflect101": cv2.BORDER_REFLECT_101,
                "reflect": cv2.BORDER_REFLECT,
                **({"constant": cv2.BORDER_CONSTANT} if case.value == 0 else {}),
            },
        )
        depth = {"u8": cv2.CV_8U, "u16": cv2.CV_16U, "f32": cv2.CV_32F, "f64": cv2.CV_64F}[case.type]
        kind = depth + ((case.channels - 1) << 3)  # CV_MAKETYPE
        self.pairs = pairs
        mats = [
            [
                cv2.cuda.createGpuMatFromCudaMemory(a.rows, a.cols, kind, a.pointer, a.pitch_bytes)
                for a in pair
            ]
            for pair in pairs
        ]
        taps = case.taps.astype(np.float32)
        linear_filter = cv2.cuda.createSeparableLinearFilter(kind, kind, taps, taps, (-1, -1), border, border)

        def run(i):
            source, target = mats[i % len(mats)]
            linear_filter.apply(source, target, stream=self.stream)

        return run


class Npp(Peer):
    """A row filter and a column filter, in two calls."""

    name = "NPP"
    note = "nppiFilterRowBorder, then nppiFilterColumnBorder; integers are rounded between the two"
    integer_bound = 2

    def __init__(self, device):
        super().__init__(device)
        self.npp = gpu_npp.Npp(device)
        self.version = self.npp.version

    def prepare(self, case, pairs):
        self.border(case, {"replicate": None})
        self.pairs = pairs
        try:
            return self.filter(case)
        except AttributeError as error:  # the library has no such function
            raise Unsupported(f"has no {case.type} of {case.channels} channels ({error})") from None

    def filter(self, case):
        return self.npp.row_and_column(case, self.pairs)

    def release(self):
        super().release()
        self.npp.release()


class NppGauss(Npp):
    """The Gaussian in one call."""

    name = "NPP gauss"
    note = "nppiFilterGaussAdvancedBorder"

    def filter(self, case):
        return self.npp.gauss(case, self.pairs)


PEERS = {
    "python": SepconvChain,
    "python-ndimage": SepconvNdimage,
    "cupy": CuPy,
    "torch": Torch,
    "torch-tuned": TorchTuned,
    "cucim": CuCim,
    "cvcuda": CvCuda,
    "opencv": OpenCv,
    "npp": Npp,
    "npp-gauss": NppGauss,
}


def import_early(names):
    """Imports the modules of the named peers before another library loads its C++ runtime into the process.
    The peers report failures later."""
    modules = {
        "python": ["cupy", "sepconv"],
        "python-ndimage": ["cupy", "sepconv"],
        "cupy": ["cupy"],
        "cucim": ["cupy", "cucim"],
        "torch": ["torch"],
        "torch-tuned": ["torch"],
        "cvcuda": ["cvcuda"],
        "opencv": ["cv2"],
    }
    for module in {module for name in names for module in modules.get(name, [])}:
        try:
            importlib.import_module(module)
        except Exception:
            continue
