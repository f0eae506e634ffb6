"""sepconv on a GPU for Python: libpeers_gpu.so (peers_gpu.cpp) through ctypes, with device memory, streams
and events.

Device memory has __cuda_array_interface__, so CuPy, PyTorch and CV-CUDA can use it in place and on the same
stream."""

import contextlib
import ctypes
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
NAME = "libpeers_gpu.so"
DESIGNS = ["automatic", "two_passes", "fused"]
DTYPES = {"u8": np.uint8, "u16": np.uint16, "i16": np.int16, "f32": np.float32, "f64": np.float64}
L2_BYTES = 38  # cudaDevAttrL2CacheSize
PREFIX = "peers_gpu_"

POINTER, INT, LONG, DOUBLE, TEXT = (
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_int64,
    ctypes.c_double,
    ctypes.c_char_p,
)
PROTOTYPES = {  # name: (result, arguments)
    "error": (TEXT, []),
    "devices": (INT, []),
    "use": (INT, [INT, TEXT, LONG, POINTER]),
    "attribute": (INT, [INT, INT, POINTER]),
    "free_bytes": (INT, [INT, POINTER]),
    "limits": (INT, [INT, POINTER, POINTER, POINTER]),
    "allocate": (POINTER, [LONG]),
    "free": (None, [POINTER]),
    "copy": (INT, [POINTER, LONG, POINTER, LONG, LONG, LONG, POINTER]),
    "fill": (INT, [POINTER, INT, LONG, POINTER]),
    "stream_create": (POINTER, []),
    "stream": (POINTER, [POINTER]),
    "stream_wait": (INT, [POINTER]),
    "stream_destroy": (None, [POINTER]),
    "event_create": (POINTER, []),
    "event_record": (INT, [POINTER, POINTER]),
    "event_seconds": (INT, [POINTER, POINTER, POINTER]),
    "event_destroy": (None, [POINTER]),
    "filter_create": (POINTER, [POINTER, LONG, POINTER, LONG, TEXT, DOUBLE, LONG, LONG, LONG, TEXT, INT]),
    "filter_bytes": (LONG, [POINTER]),
    "filter_enqueue": (INT, [POINTER, POINTER, POINTER, POINTER]),
    "filter_on_host": (INT, [POINTER, POINTER, POINTER, POINTER, POINTER]),
    "filter_destroy": (None, [POINTER]),
    "permute": (INT, [POINTER, POINTER, LONG, POINTER, POINTER, POINTER]),
}


class GpuError(RuntimeError):
    """An error with the library's message."""


def find_library():
    """The path of the library: in a bundle beside the test programs, in a source tree in a build's bin/.
    None if it is not found."""
    folders = [
        HERE.parents[1],
        *(HERE.parents[2] / "build" / preset / "bin" for preset in ("release", "dev")),
    ]
    return next((folder / NAME for folder in folders if (folder / NAME).exists()), None)


class LibraryNotFound(RuntimeError):
    """The library could not be loaded; the message contains the remedy."""


def open_library(path, import_others):
    """Loads the library at `path`, or searches for it if that is None. Calls import_others() first: other GPU
    libraries may bring a newer C++ runtime, which serves both."""
    path = path or find_library()
    if path is None:
        raise LibraryNotFound(
            f"{NAME} was found nowhere: build the target peers_gpu with a CUDA toolkit, or name it with --library"
        )
    import_others()
    try:
        return Library(path)
    except (OSError, AttributeError) as error:
        raise LibraryNotFound(
            f"{path} cannot be loaded ({error}): build the target peers_gpu again"
        ) from None


class Library:
    """The loaded library. Import other GPU libraries first: they may bring a newer C++ runtime, which serves
    both."""

    def __init__(self, path):
        for runtime in (
            "libgcc_s.so.1",
            "libstdc++.so.6",
        ):  # loads the system's runtimes before the bundle's, for modules imported later
            with contextlib.suppress(OSError):
                ctypes.CDLL(runtime)
        self._library = ctypes.CDLL(str(path))
        for name, (result, arguments) in PROTOTYPES.items():
            function = getattr(self._library, PREFIX + name)
            function.restype, function.argtypes = result, arguments

    def __getattr__(self, name):
        return getattr(self._library, PREFIX + name)

    def check(self, failed):
        """Raises GpuError with the library's message if a call has failed."""
        if failed:
            raise GpuError(self.error().decode())

    def checked(self, handle):
        """Returns the handle; raises GpuError with the library's message if it is null."""
        self.check(not handle)
        return handle


class Device:
    """The GPU in use, which becomes the current device: its name, memory and limits, and the stream for all
    work."""

    def __init__(self, library, index):
        self.library, self.index = library, index
        name, memory = ctypes.create_string_buffer(256), LONG()
        library.check(library.use(index, name, len(name), ctypes.byref(memory)))
        self.name, self.memory_bytes = name.value.decode(), memory.value
        self.l2_bytes = self.attribute(L2_BYTES)
        self._stream = library.checked(library.stream_create())
        self.stream = library.stream(self._stream)  # a cudaStream_t

    def attribute(self, number):
        value = INT()
        self.library.check(self.library.attribute(self.index, number, ctypes.byref(value)))
        return value.value

    def free_bytes(self):
        value = LONG()
        self.library.check(self.library.free_bytes(self.index, ctypes.byref(value)))
        return value.value

    def limits(self):
        """Peak rates per second: bytes copied (read + written), f32 and f64 multiply-adds."""
        values = [DOUBLE() for _ in range(3)]
        self.library.check(self.library.limits(self.index, *map(ctypes.byref, values)))
        return [value.value for value in values]

    def wait(self):
        self.library.check(self.library.stream_wait(self._stream))

    def seconds(self, run, times, first=0, calls=1):
        """Seconds per run of `times` samples of `calls` runs each, by events on the stream. Enqueues
        everything before it waits. `run(i)` enqueues the i-th run, counted from `first`."""
        library = self.library
        events = [
            (library.checked(library.event_create()), library.checked(library.event_create()))
            for _ in range(times)
        ]
        try:
            for sample, (begin, end) in enumerate(events):
                library.check(library.event_record(begin, self.stream))
                for call in range(calls):
                    run(first + sample * calls + call)
                library.check(library.event_record(end, self.stream))
            self.wait()
            return [self._between(begin, end) / calls for begin, end in events]
        finally:
            for event in sum(events, ()):
                library.event_destroy(event)

    def _between(self, begin, end):
        seconds = DOUBLE()
        self.library.check(self.library.event_seconds(begin, end, ctypes.byref(seconds)))
        return seconds.value


class Array:
    """A dense image that owns its device memory. Its shape is rows x cols (x channels, if more than one)."""

    def __init__(self, device, rows, cols, channels, dtype):
        self.device, self.dtype = device, np.dtype(dtype)
        self.rows, self.cols, self.channels = rows, cols, channels
        self.shape = (rows, cols) if channels == 1 else (rows, cols, channels)
        self.pixel_bytes = channels * self.dtype.itemsize
        self.pitch_bytes = cols * self.pixel_bytes
        self.nbytes = rows * self.pitch_bytes
        self.pointer = device.library.checked(device.library.allocate(self.nbytes))

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.pointer, False),
            "strides": None,
            "stream": None,
            "version": 3,
        }

    def free(self):
        if self.pointer:
            self.device.library.free(self.pointer)
        self.pointer = None

    def fill(self, byte):
        self.device.library.check(
            self.device.library.fill(self.pointer, byte, self.nbytes, self.device.stream)
        )

    def copy_from(self, other):
        """Enqueues a copy of another array of the same size."""
        library = self.device.library
        library.check(
            library.copy(
                self.pointer, self.nbytes, other.pointer, self.nbytes, self.nbytes, 1, self.device.stream
            )
        )

    def repeat(self, values):
        """Fills the memory with repetitions of a host array's values; the last one may be truncated."""
        library, stream = self.device.library, self.device.stream
        done = min(values.nbytes, self.nbytes)
        library.check(library.copy(self.pointer, done, values.ctypes.data, done, done, 1, stream))
        while done < self.nbytes:
            part = min(done, self.nbytes - done)
            library.check(library.copy(self.pointer + done, part, self.pointer, part, part, 1, stream))
            done += part
        self.device.wait()

    def window(self, rect):
        """A host copy of the rectangle (row, col, rows, cols)."""
        return download(self.device, self.pointer, self.pitch_bytes, rect, self.channels, self.dtype)


def download(device, pointer, pitch_bytes, rect, channels, dtype):
    """A host copy of part of an image in device memory, made after all work on the stream."""
    row, col, rows, cols = rect
    to = np.empty((rows, cols, channels), dtype)
    row_bytes = to.nbytes // rows
    start = pointer + row * pitch_bytes + col * channels * to.itemsize
    device.library.check(
        device.library.copy(to.ctypes.data, row_bytes, start, pitch_bytes, row_bytes, rows, device.stream)
    )
    device.wait()
    return to


class Filter:
    """sepconv's convolution of images of one shape, with its scratch on the device."""

    def __init__(self, device, case, design):
        self.library, self.device, self.case = device.library, device, case
        taps = np.ascontiguousarray(case.taps, np.float64)
        self._handle = self.library.checked(
            self.library.filter_create(
                taps.ctypes.data,
                len(taps),
                taps.ctypes.data,
                len(taps),
                case.border.encode(),
                case.value,
                case.rows,
                case.cols,
                case.channels,
                case.type.encode(),
                DESIGNS.index(design),
            )
        )

    def enqueue(self, source, target):
        self.library.check(
            self.library.filter_enqueue(self._handle, source.pointer, target.pointer, self.device.stream)
        )

    def on_host(self, source, rect):
        """The result in the rectangle `rect` by the CPU's engine, computed from the needed pixels of
        `source` (an Array)."""
        row, col, rows, cols = rect
        radius = self.case.radius
        top, left = max(0, row - radius), max(0, col - radius)
        bottom, right = min(self.case.rows, row + rows + radius), min(self.case.cols, col + cols + radius)
        around = (top, left, bottom - top, right - left)
        pixels = source.window(around)
        result = np.empty((rows, cols, self.case.channels), pixels.dtype)
        self.library.check(
            self.library.filter_on_host(
                self._handle, pixels.ctypes.data, (LONG * 4)(*around), result.ctypes.data, (LONG * 4)(*rect)
            )
        )
        return result

    def free(self):
        if self._handle:
            self.library.filter_destroy(self._handle)
        self._handle = None
