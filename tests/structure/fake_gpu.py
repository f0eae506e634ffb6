"""A libpeers_gpu.so on host memory with SciPy, for tests/peers/gpu/conv.py without a GPU."""

import ctypes
import time

import numpy as np
import scipy.ndimage

from gpu_library import DTYPES, GpuError
from gpu_peers import NDIMAGE_BORDERS, Peer

MAX_FUSED_TAPS = 65
COPY, FMA_F32, FMA_F64 = 1e9, 4e9, 2e9


def rows_of(pointer, pitch_bytes, row_bytes, rows):
    """A writable view of rows of bytes at an address."""
    whole = np.ctypeslib.as_array(
        (ctypes.c_uint8 * ((rows - 1) * pitch_bytes + row_bytes)).from_address(int(pointer))
    )
    return np.lib.stride_tricks.as_strided(whole, (rows, row_bytes), (pitch_bytes, 1))


def image_at(pointer, rows, cols, channels, dtype):
    row_bytes = cols * channels * np.dtype(dtype).itemsize
    return rows_of(pointer, row_bytes, row_bytes, rows).reshape(-1).view(dtype).reshape(rows, cols, channels)


def correlate(image, taps, border, value):
    """rows x cols x channels, computed in f64 and stored as the image's type."""
    result = image.astype(np.float64)
    for axis in (1, 0):
        result = scipy.ndimage.correlate1d(result, taps, axis, mode=NDIMAGE_BORDERS[border], cval=value)
    return (np.rint(result) if image.dtype.kind in "iu" else result).astype(image.dtype)


class FakeFilter:
    def __init__(self, taps, border, value, shape, dtype):
        self.taps, self.border, self.value, self.shape, self.dtype = taps, border, value, shape, dtype

    def apply(self, image):
        return correlate(image, self.taps, self.border, self.value)


class FakeLibrary:
    """The functions of PROTOTYPES. Events are clock times, because all work is done when it is enqueued."""

    def __init__(self, path):
        self.memory, self.events, self.filters, self.wrong, self.sentence = {}, {}, {}, 0, b""

    def check(self, failed):
        assert not failed, self.sentence

    def checked(self, handle):
        if not handle:
            raise GpuError(self.sentence.decode())
        return handle

    def devices(self):
        return 1

    def use(self, index, name, name_bytes, memory):
        name.value = b"a GPU made of SciPy"
        memory._obj.value = 1 << 30

    def attribute(self, device, number, value):
        value._obj.value = 1 << 16

    def free_bytes(self, device, value):
        value._obj.value = 1 << 24

    def limits(self, device, *values):
        for value, rate in zip(values, (COPY, FMA_F32, FMA_F64)):
            value._obj.value = rate

    def allocate(self, count):
        block = ctypes.create_string_buffer(count)
        self.memory[ctypes.addressof(block)] = block
        return ctypes.addressof(block)

    def free(self, pointer):
        del self.memory[pointer]

    def copy(self, to, to_pitch, source, source_pitch, row_bytes, rows, stream):
        rows_of(to, to_pitch, row_bytes, rows)[:] = rows_of(source, source_pitch, row_bytes, rows)

    def fill(self, to, byte, count, stream):
        ctypes.memset(to, byte, count)

    def stream_create(self):
        return 1

    def stream(self, handle):
        return 2

    def stream_wait(self, handle):
        return 0

    def event_create(self):
        self.events[len(self.events) + 1] = None
        return len(self.events)

    def event_record(self, event, stream):
        self.events[event] = time.perf_counter()

    def event_seconds(self, begin, end, value):
        value._obj.value = self.events[end] - self.events[begin]

    def event_destroy(self, event):
        pass

    def filter_create(
        self, taps, count, col_taps, col_count, border, value, rows, cols, channels, kind, design
    ):
        weights = np.ctypeslib.as_array((ctypes.c_double * count).from_address(taps)).copy()
        if design == 2 and count > MAX_FUSED_TAPS:
            self.sentence = b"the fused design has no room for this filter"
            return 0
        self.filters[len(self.filters) + 1] = FakeFilter(
            weights, border.decode(), value, (rows, cols, channels), DTYPES[kind.decode()]
        )
        return len(self.filters)

    def filter_enqueue(self, handle, source, target, stream):
        filter_ = self.filters[handle]
        image_at(target, *filter_.shape, filter_.dtype)[:] = (
            filter_.apply(image_at(source, *filter_.shape, filter_.dtype)) + self.wrong
        )

    def filter_on_host(self, handle, source, around, target, part):
        filter_, channels = self.filters[handle], self.filters[handle].shape[2]
        row, col = part[0] - around[0], part[1] - around[1]
        result = filter_.apply(image_at(source, *around[2:], channels, filter_.dtype))
        image_at(target, *part[2:], channels, filter_.dtype)[:] = result[
            row : row + part[2], col : col + part[3]
        ]

    def filter_destroy(self, handle):
        del self.filters[handle]


class FakePeer(Peer):
    """SciPy as a peer; `wrong` is added to the pixel at the lower right."""

    name, version, note, wrong = "SciPy", scipy.__version__, "two calls", 0

    def prepare(self, case, pairs):
        self.pairs = pairs

        def run(i):
            source, target = (
                image_at(array.pointer, case.rows, case.cols, case.channels, case.dtype)
                for array in pairs[i % len(pairs)]
            )
            target[:] = correlate(source, case.taps, case.border, case.value)
            target[-1, -1, -1] += self.wrong

        return run


class BrokenPeer(FakePeer):
    name = "broken"

    def prepare(self, case, pairs):
        raise RuntimeError("out of order\nand a long story")
