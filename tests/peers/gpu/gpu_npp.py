"""NVIDIA's Performance Primitives through ctypes: row and column filters with border, in device memory.

The prototypes are those of nppi_filtering_functions.h of NPP 12 and 13. NPP supports only
NPP_BORDER_REPLICATE here. Steps are in bytes. Taps are in device memory in reverse order, which makes no
difference for symmetric taps."""

import ctypes
import glob
import os
import sys

import numpy as np

from gpu_library import Array

VERSIONS = ("13", "12")
BORDER_REPLICATE = 2
# Numbers of cudaDeviceAttr for the fields of the stream context.
MULTIPROCESSORS, THREADS_PER_MULTIPROCESSOR, THREADS_PER_BLOCK, SHARED_BYTES, MAJOR, MINOR = (
    16,
    39,
    1,
    8,
    75,
    76,
)
NON_BLOCKING = 1  # cudaStreamNonBlocking, as the library's streams


class Size(ctypes.Structure):
    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int)]


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int)]


class StreamContext(ctypes.Structure):
    _fields_ = [
        ("stream", ctypes.c_void_p),
        ("device", ctypes.c_int),
        ("multiprocessors", ctypes.c_int),
        ("threads_per_multiprocessor", ctypes.c_int),
        ("threads_per_block", ctypes.c_int),
        ("shared_bytes", ctypes.c_size_t),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("stream_flags", ctypes.c_uint),
        ("reserved", ctypes.c_int),
    ]


class LibraryVersion(ctypes.Structure):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int), ("build", ctypes.c_int)]


POINTER, INT = ctypes.c_void_p, ctypes.c_int
# source, step, size of the source, offset in it; target, step, size of the result
IMAGES = [POINTER, INT, Size, Point, POINTER, INT, Size]


def load(name):
    """Loads libNAME.so of the CUDA toolkit or of NVIDIA's Python packages. Raises ImportError if it is not
    found."""
    files = [f"lib{name}.so.{version}" for version in VERSIONS]
    folders = ["", *glob.glob("/usr/local/cuda/lib64")]
    for folder in sys.path:
        folders += glob.glob(os.path.join(folder or ".", "nvidia", "*", "lib"))
    for path in (os.path.join(folder, file) for folder in folders for file in files):
        try:
            return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    raise ImportError(f"no lib{name}.so.{' or .'.join(VERSIONS)} was found")


class Npp:
    def __init__(self, device):
        self.device = device
        core = load("nppc")
        self.library = load("nppif")
        self.context = StreamContext(
            device.stream,
            device.index,
            *(
                device.attribute(number)
                for number in (
                    MULTIPROCESSORS,
                    THREADS_PER_MULTIPROCESSOR,
                    THREADS_PER_BLOCK,
                    SHARED_BYTES,
                    MAJOR,
                    MINOR,
                )
            ),
            NON_BLOCKING,
            0,
        )
        core.nppGetLibVersion.restype = ctypes.POINTER(LibraryVersion)
        version = core.nppGetLibVersion().contents
        self.version = f"{version.major}.{version.minor}.{version.build}"
        self.arrays = []

    def function(self, name, after):
        """The NPP function of this name. `after`: the types of its arguments between the images and the
        border."""
        found = getattr(self.library, name)
        found.restype = ctypes.c_int
        found.argtypes = [*IMAGES, *after, INT, StreamContext]

        def call(source, target, *arguments):
            size = Size(source.cols, source.rows)
            status = found(
                source.pointer,
                source.pitch_bytes,
                size,
                Point(0, 0),
                target.pointer,
                target.pitch_bytes,
                size,
                *arguments,
                BORDER_REPLICATE,
                self.context,
            )
            if status != 0:  # negative: failures; positive: warnings
                raise RuntimeError(f"{name} returned NppStatus {status}")

        return call

    def taps(self, case):
        """f32 taps on the device."""
        values = case.taps.astype(np.float32)
        array = Array(self.device, 1, len(values), 1, np.float32)
        self.arrays.append(array)
        array.repeat(values)
        return array

    def row_and_column(self, case, pairs):
        kind = {"f32": "_32f", "u8": "32f_8u", "u16": "32f_16u"}.get(case.type, f"_{case.type}")
        after = [POINTER, INT, INT]  # taps, their number, anchor
        row = self.function(f"nppiFilterRowBorder{kind}_C{case.channels}R_Ctx", after)
        column = self.function(f"nppiFilterColumnBorder{kind}_C{case.channels}R_Ctx", after)
        taps = self.taps(case)
        between = Array(self.device, case.rows, case.cols, case.channels, case.dtype)
        self.arrays.append(between)

        def run(i):
            source, target = pairs[i % len(pairs)]
            row(source, between, taps.pointer, taps.cols, case.radius)
            column(between, target, taps.pointer, taps.cols, case.radius)

        return run

    def gauss(self, case, pairs):
        kind = {"f32": "32f", "u8": "8u", "u16": "16u"}.get(case.type, case.type)
        whole = self.function(f"nppiFilterGaussAdvancedBorder_{kind}_C{case.channels}R_Ctx", [INT, POINTER])
        taps = self.taps(case)

        def run(i):
            whole(*pairs[i % len(pairs)], taps.cols, taps.pointer)

        return run

    def release(self):
        for array in self.arrays:
            array.free()
        self.arrays = []
