"""Separable convolution on the CPU by the installed libraries, all with the same interface:

    peer = OpenCv(threads)  # raises ImportError or OSError if it is not installed
    run = peer.prepare(case, source, target)  # dense arrays of rows x cols x channels
    result = run()  # filters; returns `target` if the library can write there, else its own array

Each library is used as its documentation recommends. A library that cannot write into the caller's memory
allocates its results. Conversion and rounding of integers count as part of the time if the library leaves
them to the user."""

import ctypes
import importlib
import importlib.metadata
import os
import pathlib
import sys
import warnings

import numpy as np

from gdal_filter import filter_vrt
from transpose import (
    find_library,
)  # tests/peers/transpose.py: import it before tests/peers/gpu, which has another transpose.py, is in the path

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "gpu"))
from gpu_case import bound  # noqa: E402

TYPES = ("u8", "u16", "i16", "f32", "f64")
BORDER = "replicate"  # the one border that all support


class Peer:
    """A peer in a Python module, which is imported by the constructor."""

    types = TYPES
    integer_bound = 1  # maximum difference of integer results from the expected ones
    module = None
    package = None  # the distribution's name if it differs from the module's

    def __init__(self, threads):
        self.threads = threads
        self.library = importlib.import_module(self.module)
        self.version = importlib.metadata.version(self.package or self.module.partition(".")[0])

    def bound(self, case):
        return bound(case, self.integer_bound)


class Sepconv(Peer):
    """libpeers_host.so (peers_host.cpp)."""

    name = "sepconv"
    note = "the library's apply() with a taps stage"

    def __init__(self, threads, path=None):
        self.threads, path = threads, path or find_library()
        if not path:
            raise ImportError("libpeers_host.so is not there: a build with tests has it")
        self.library = ctypes.CDLL(str(path))
        for function in (self.library.peers_host_error, self.library.peers_host_target):
            function.restype = ctypes.c_char_p
        self.version = self.library.peers_host_target().decode()

    def prepare(self, case, source, target):
        taps = ",".join(map(repr, case.taps.tolist()))
        stage = f"convolve:row={taps},col={taps},border={BORDER}".encode()
        arguments = (
            stage,
            case.type.encode(),
            (ctypes.c_int64 * 3)(*source.shape),
            ctypes.c_void_p(source.ctypes.data),
            ctypes.c_void_p(target.ctypes.data),
            self.threads,
        )

        def run():
            if self.library.peers_host_apply(*arguments):
                raise RuntimeError(self.library.peers_host_error().decode())
            return target

        return run


class SepconvInPython(Peer):
    name = "sepconv.ndimage"
    note = "the Python package's gaussian_filter; f32 in f64 arithmetic"
    module = "sepconv.ndimage"

    def prepare(self, case, source, target):
        return lambda: self.library.gaussian_filter(
            source,
            case.sigma,
            output=target,
            mode="nearest",
            radius=case.radius,
            axes=(0, 1),
            threads=self.threads,
        )


class OpenCv(Peer):
    name = "OpenCV sepFilter2D"
    note = "taps in f64; OpenCV 4 gives it one thread"
    module = "cv2"
    package = "opencv-python-headless"

    def __init__(self, threads):
        super().__init__(threads)
        self.library.setNumThreads(threads)

    def prepare(self, case, source, target):
        if case.channels == 1:  # OpenCV's images of one channel have no third axis
            source, target = source[..., 0], target[..., 0]
        filtered = self.filter(case, source, target)
        return lambda: filtered().reshape(case.rows, case.cols, case.channels)

    def filter(self, case, source, target):
        cv2, taps = self.library, case.taps
        return lambda: cv2.sepFilter2D(source, -1, taps, taps, target, borderType=cv2.BORDER_REPLICATE)


class OpenCvGaussian(OpenCv):
    name = "OpenCV GaussianBlur"
    note = "u8 and u16 in fixed point, with taps of 8 and 16 bits after the point; other types as sepFilter2D"
    integer_bound = 4  # 2 up to a radius of some 16

    def filter(self, case, source, target):
        cv2, side = self.library, 2 * case.radius + 1
        return lambda: cv2.GaussianBlur(
            source, (side, side), case.sigma, target, case.sigma, cv2.BORDER_REPLICATE
        )


class Vips(Peer):
    name = "libvips float"
    note = "convsep from memory into memory of its own; integers through rint and cast"
    module = "pyvips"
    precision = "float"
    formats = {"u8": "uchar", "u16": "ushort", "i16": "short", "f32": "float", "f64": "double"}

    def __init__(self, threads):
        os.environ["VIPS_CONCURRENCY"] = str(threads)  # read when the library starts
        super().__init__(threads)
        self.library.cache_set_max(0)  # no cached operations between runs
        self.version = ".".join(str(self.library.version(i)) for i in range(3))

    def mask(self, taps):
        return self.library.Image.new_from_array([taps.tolist()])

    def prepare(self, case, source, _):
        form = self.formats[case.type]
        image = self.library.Image.new_from_memory(
            memoryview(source).cast("B"), case.cols, case.rows, case.channels, form
        )
        mask = self.mask(case.taps)

        def run():
            result = image.convsep(mask, precision=self.precision)
            if result.format != form:
                result = result.rint().cast(form)
            return np.frombuffer(result.write_to_memory(), case.dtype).reshape(source.shape)

        return run


class VipsInteger(Vips):
    name = "libvips integer"
    note = "convsep with taps in whole numbers, of which it makes some of 8 bits where it has vector instructions"
    types = ("u8",)
    precision = "integer"
    integer_bound = 4  # the maximum found up to radius 100; libvips documents no bound
    scale = 1 << 16

    def mask(self, taps):
        whole = np.rint(taps * self.scale)
        return self.library.Image.new_from_array([whole.tolist()], scale=whole.sum())


class SciPy(Peer):
    name = "SciPy"
    note = "ndimage.correlate1d twice, f32 between the passes (f64 for f64); integers cut, not rounded; has one thread"
    module = "scipy.ndimage"

    def prepare(self, case, source, target):
        correlate = self.library.correlate1d
        between = np.empty(source.shape, case.arithmetic)

        def run():
            correlate(source, case.taps, 1, between, "nearest")
            correlate(between, case.taps, 0, target, "nearest")
            return target

        return run


class DaskImage(Peer):
    name = "dask-image"
    note = "ndfilters.gaussian_filter of an array in 16 chunks, computed by threads; integers cut, not rounded; in f32 for f32"
    integer_bound = 2  # truncated after each of the two passes
    module = "dask_image.ndfilters"
    package = "dask-image"

    def __init__(self, threads):
        super().__init__(threads)
        import dask.array

        self.dask = dask

    def prepare(self, case, source, target):
        chunks = (-(-case.rows // 4), -(-case.cols // 4), case.channels)
        array = self.dask.array.from_array(source, chunks=chunks)
        # SciPy's parameters: as many taps as the others, no filter along the channels.
        sigma = (case.sigma, case.sigma, 0)
        filtered = self.library.gaussian_filter(
            array, sigma, mode="nearest", truncate=case.radius / case.sigma
        )

        def run():
            with self.dask.config.set(scheduler="threads", num_workers=self.threads):
                self.dask.array.store(filtered, target, lock=False)
            return target

        return run


class PyTorch(Peer):
    name = "PyTorch"
    note = (
        "pad, then conv2d with 1 x n and with n x 1 taps, a group a channel; integers through f32 and round"
    )
    types = ("u8", "i16", "f32", "f64")
    module = "torch"

    def __init__(self, threads):
        super().__init__(threads)
        self.library.set_num_threads(threads)

    def prepare(self, case, source, target):
        torch, channels, radius = self.library, case.channels, case.radius
        floating = torch.float64 if case.type == "f64" else torch.float32
        taps = torch.tensor(case.taps, dtype=floating)
        row_taps, col_taps = (
            taps.reshape(shape).repeat(channels, 1, 1, 1) for shape in ((1, 1, 1, -1), (1, 1, -1, 1))
        )
        image = torch.from_numpy(source).permute(2, 0, 1)[None]
        out = torch.from_numpy(target).permute(2, 0, 1)[None]
        functional = torch.nn.functional

        def run():
            with torch.inference_mode():
                padded = functional.pad(image.to(floating), (radius, radius, radius, radius), "replicate")
                result = functional.conv2d(
                    functional.conv2d(padded, row_taps, groups=channels), col_taps, groups=channels
                )
                out.copy_(result if case.type in ("f32", "f64") else result.round_())
            return target

        return run


class Gdal(Peer):
    name = "GDAL"
    note = "VRT KernelFilteredSource of a dataset in memory, by rasterio, in f32; has one thread"
    types = ("u8", "u16", "i16", "f32")
    module = "rasterio"
    formats = {"u8": "Byte", "u16": "UInt16", "i16": "Int16", "f32": "Float32"}

    def __init__(self, threads):
        super().__init__(threads)
        self.version = self.library.__gdal_version__
        warnings.simplefilter("ignore", self.library.errors.NotGeoreferencedWarning)
        self.environment = self.library.Env(GDAL_NUM_THREADS=str(threads), GDAL_MEM_ENABLE_OPEN="YES")

    def prepare(self, case, source, target):
        element, form = source.itemsize, self.formats[case.type]
        memory = (
            f"MEM:::DATAPOINTER={source.ctypes.data},PIXELS={case.cols},LINES={case.rows},BANDS={case.channels},DATATYPE={form},"
            f"PIXELOFFSET={element * case.channels},LINEOFFSET={element * case.channels * case.cols},BANDOFFSET={element}"
        )
        with self.environment:
            dataset = self.library.open(
                filter_vrt(memory, case.cols, case.rows, case.channels, form, case.taps)
            )

        def run():
            with self.environment:
                dataset.read(out=target.transpose(2, 0, 1))
            return target

        return run


PEERS = {
    "sepconv-python": SepconvInPython,
    "opencv": OpenCv,
    "opencv-gauss": OpenCvGaussian,
    "vips": Vips,
    "vips-integer": VipsInteger,
    "scipy": SciPy,
    "dask-image": DaskImage,
    "torch": PyTorch,
    "gdal": Gdal,
}
