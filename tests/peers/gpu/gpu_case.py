"""One measurement: the filter and the image, the compared windows, and a time as a fraction of the device's
limits."""

import dataclasses
import math
import statistics

import numpy as np

from gpu_library import DTYPES, Array

POISON = 0xFF  # NaN in floating types: reveals pixels that a filter does not write
MAX_BUFFERS = 16
WINDOW = (32, 256)  # rows x cols


@dataclasses.dataclass(frozen=True)
class Case:
    """A Gaussian of `radius` over an image of rows x cols x channels. Types and borders have the library's
    names."""

    rows: int
    cols: int
    channels: int
    type: str
    radius: int
    border: str
    value: float

    @property
    def dtype(self):
        return np.dtype(DTYPES[self.type])

    @property
    def integer(self):
        return self.dtype.kind in "iu"

    @property
    def arithmetic(self):
        """The type in which filters compute."""
        return np.float64 if self.type == "f64" else np.float32

    @property
    def sigma(self):
        return self.radius / 3 + 0.5

    @property
    def truncate(self):
        """SciPy's parameter that determines a Gaussian's radius: int(truncate * sigma + 0.5)."""
        return self.radius / self.sigma

    @property
    def taps(self):
        """The 2 * radius + 1 taps of scipy.ndimage in f64: exp(-x^2 / 2 sigma^2), normalised to sum 1."""
        x = np.arange(-self.radius, self.radius + 1)
        weights = np.exp(-0.5 / self.sigma**2 * x**2)
        return weights / weights.sum()

    @property
    def pixels(self):
        return self.rows * self.cols

    @property
    def image_bytes(self):
        return self.pixels * self.channels * self.dtype.itemsize

    def windows(self, whole):
        """Rectangles (row, col, rows, cols) in which results are compared: the whole image in bands, or the
        corners, edges, centre and four random positions."""
        if whole:
            return [(row, 0, min(256, self.rows - row), self.cols) for row in range(0, self.rows, 256)]
        rows, cols = min(WINDOW[0], self.rows), min(WINDOW[1], self.cols)
        last_row, last_col = self.rows - rows, self.cols - cols
        positions = {
            (row, col) for row in (0, last_row // 2, last_row) for col in (0, last_col // 2, last_col)
        }
        random = np.random.default_rng(1)
        positions |= {
            (int(random.integers(last_row + 1)), int(random.integers(last_col + 1))) for _ in range(4)
        }
        return [(row, col, rows, cols) for row, col in sorted(positions)]


class Images:
    """Pairs (source, target) of random images of one shape on the device; all sources are equal. One pair if
    an image is larger than the L2 cache, else enough pairs to exceed it, so that a filter that rotates
    through the pairs never finds its input in the cache."""

    def __init__(self, device, case):
        self.device, self.pairs = device, []
        fits = 2 * case.image_bytes <= 2 * device.l2_bytes
        count = (
            min(MAX_BUFFERS, max(2, math.ceil(2 * device.l2_bytes / (2 * case.image_bytes)))) if fits else 1
        )
        values = random_values(case)
        shape = (case.rows, case.cols, case.channels, case.dtype)
        try:
            for _ in range(count):
                source = Array(device, *shape)
                self.pairs.append((source, None))
                self.pairs[-1] = (source, Array(device, *shape))
                source.repeat(values)
        except Exception:
            self.free()
            raise

    def poison(self):
        for _, target in self.pairs:
            target.fill(POISON)

    def free(self):
        for array in sum(self.pairs, ()):
            if array is not None:
                array.free()
        self.pairs = []


def random_values(case):
    """At most some 4 million random values, which the image repeats with a period that is not a multiple of
    a row. Integers cover the type's whole range, floating values are in [0, 1)."""
    count = min(case.pixels * case.channels, (1 << 22) + 7)
    random = np.random.default_rng(7)
    if case.integer:
        info = np.iinfo(case.dtype)
        return random.integers(info.min, info.max, count, case.dtype, endpoint=True)
    return random.random(count, case.dtype)


def greatest_difference(results, references):
    """The maximum difference of two lists of host arrays; infinite if one of them contains a NaN."""
    maximum = 0.0
    for result, reference in zip(results, references, strict=True):
        difference = np.abs(result.astype(np.float64) - reference.astype(np.float64))
        maximum = max(maximum, float(np.where(np.isnan(difference), np.inf, difference).max()))
    return maximum


def bound(case, integer_bound=1):
    """The maximum accepted difference of a peer from sepconv. Floating data have a range of 1."""
    return {"f32": 1e-5, "f64": 1e-10}.get(case.type, integer_bound)


class Limits:
    """The device's peak rates, measured in this process."""

    def __init__(self, device, copy_image_bytes=1 << 30):
        self.copy, self.fma_f32, self.fma_f64 = device.limits()
        self.memcpy = self._memcpy(device, copy_image_bytes)
        self.copy = max(self.copy, self.memcpy)

    @staticmethod
    def _memcpy(device, nbytes):
        """Bytes per second (read + written) of cudaMemcpyAsync within the device; 0 if memory is
        insufficient."""
        nbytes = min(nbytes, device.free_bytes() // 4) & ~0xFFFF
        if nbytes == 0:
            return 0.0
        source, target = (Array(device, 1, nbytes, 1, np.uint8) for _ in range(2))
        try:
            source.fill(1)
            target.fill(0)
            return 2 * nbytes / min(device.seconds(lambda _: target.copy_from(source), 10))
        finally:
            source.free()
            target.free()

    def copy_seconds(self, case):
        """Seconds to read and write each pixel once."""
        return 2 * case.image_bytes / self.copy

    def fma_seconds(self, case):
        """Seconds of two passes of 2 * radius + 1 multiply-adds per element."""
        rate = self.fma_f64 if case.type == "f64" else self.fma_f32
        return 2 * (2 * case.radius + 1) * case.pixels * case.channels / rate

    def report(self):
        return {
            "copy_bytes_per_second": self.copy,
            "memcpy_bytes_per_second": self.memcpy,
            "fma_f32_per_second": self.fma_f32,
            "fma_f64_per_second": self.fma_f64,
        }


def figures(case, limits, times):
    """The statistics of a list of times in seconds for the JSON file."""
    median = statistics.median(times)
    roofline = max(limits.copy_seconds(case), limits.fma_seconds(case))
    return {
        "runs": len(times),
        "seconds": median,
        "min_seconds": min(times),
        "greatest_seconds": max(times),
        "spread": (max(times) - min(times)) / 2 / median,
        "pixels_per_second": case.pixels / median,
        "bytes_per_second": 2 * case.image_bytes / median,
        "share_of_copy": limits.copy_seconds(case) / median,
        "share_of_roofline": roofline / median,
        "roofline_pixels_per_second": case.pixels / roofline,
    }
