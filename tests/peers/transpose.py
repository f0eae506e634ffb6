#!/usr/bin/env python3
"""Transpositions in memory: sepconv, NumPy, OpenCV and libvips on the same arrays, results compared.

    transpose.py [--case TYPE:SHAPE:AXES ...] [--runs 5] [--threads N] [--library FILE] [--json]

Examples of a case: f32:8192x8193:1,0 and u8:4096x4096x3:2,0,1; the axes are those of numpy.transpose. Prints
GB/s (bytes read and written) and the ratio to a copy of the same bytes by the same number of threads, all
measured in rotation in one run. A peer that is not installed is left out and listed; a peer that does not
support a case has no row for it. Exit code 1 if a result differs."""

import argparse
import concurrent.futures
import ctypes
import json
import os
import pathlib
import statistics
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/peers/gpu"))
from permute_case import PermuteCase, parse_case  # noqa: E402

TYPES = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32, "f64": np.float64}
CASES = [
    "u8:8192x8193:1,0",
    "u16:8192x8193:1,0",
    "f32:8192x8193:1,0",
    "f64:8192x8193:1,0",
    "u8:8192x8193x3:1,0,2",
    "u8:8192x8192x3:2,0,1",
    "u8:3x8192x8192:1,2,0",
    "f32:4096x4096x3:2,0,1",
    "f32:3x4096x4096:1,2,0",
] + [f"f32:512x512x512:{axes}" for axes in ("0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0")]


def optional(name):
    try:
        return __import__(name)
    except (ImportError, OSError):  # pyvips without its library
        return None


def find_library():
    candidates = [
        ROOT / "build" / preset / "bin" / "libpeers_host.so" for preset in ("release", "cpu", "dev")
    ]
    return next((path for path in candidates if path.exists()), None)


class Sepconv:
    """libpeers_host.so (peers_host.cpp)."""

    def __init__(self, path, threads):
        self.library = ctypes.CDLL(str(path))
        self.library.peers_host_error.restype = ctypes.c_char_p
        self.library.peers_host_threads_create.restype = ctypes.c_void_p
        self.threads = ctypes.c_void_p(self.library.peers_host_threads_create(threads))

    def __call__(self, source, target, axes):
        shape, axes = PermuteCase("", source.shape, axes).three_axes
        failed = self.library.peers_host_permute(
            (ctypes.c_int64 * 3)(*shape),
            (ctypes.c_int * 3)(*axes),
            ctypes.c_int64(source.itemsize),
            ctypes.c_void_p(source.ctypes.data),
            ctypes.c_void_p(target.ctypes.data),
            self.threads,
        )
        if failed:
            raise SystemExit(f"failed: {self.library.peers_host_error().decode()}")
        return target


def numpy_copyto(source, target, axes):
    np.copyto(target, source.transpose(axes))
    return target


def opencv(cv2):
    """cv2.transpose transposes images; cv2.split and cv2.merge convert between pixels and planes."""

    def run(source, target, axes):
        if axes in ((1, 0), (1, 0, 2)) and source[0, 0].size <= 4:
            return cv2.transpose(source, target)
        if source.ndim == 3 and axes == (2, 0, 1) and source.shape[2] <= 4:
            return np.asarray(cv2.split(source, list(target)))
        if source.ndim == 3 and axes == (1, 2, 0) and source.shape[0] <= 4:
            return cv2.merge(list(source), target)
        return None

    return run


def libvips(pyvips):
    """rot90 followed by a horizontal flip is the transposition."""

    def run(source, _, axes):
        if axes not in ((1, 0), (1, 0, 2)) or source[0, 0].size > 4:
            return None
        return pyvips.Image.new_from_array(source).rot90().fliphor().numpy()

    return run


def peers(options):
    """Names and functions of (source, target, axes), which return the result, or None if the case is not
    supported; and the missing libraries."""
    found, missing = {}, []
    path = options.library or find_library()
    if path:
        found["sepconv"] = Sepconv(path, options.threads)
    else:
        missing.append("libpeers_host.so (a build with tests has it)")
    found["NumPy"] = numpy_copyto
    cv2, pyvips = optional("cv2"), optional("pyvips")
    if cv2:
        cv2.setNumThreads(options.threads)
        found[f"OpenCV {cv2.__version__}"] = opencv(cv2)
    else:
        missing.append("cv2")
    if pyvips:
        found["libvips"] = libvips(pyvips)
    else:
        missing.append("pyvips")
    return found, missing


class Copy:
    """A copy of the same bytes by the same number of threads: the limit."""

    def __init__(self, threads):
        self.threads, self.pool = threads, concurrent.futures.ThreadPoolExecutor(threads)

    def __call__(self, source, target, _):
        parts = zip(
            np.array_split(target.reshape(-1), self.threads),
            np.array_split(source.reshape(-1), self.threads),
            strict=True,
        )
        list(self.pool.map(lambda part: np.copyto(*part), parts))  # NumPy releases the GIL
        return target


def seconds_of(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def measure(case, runs, copy, contenders):
    """Seconds of each run of each contender. Raises SystemExit if a result differs from NumPy's transposed
    view."""
    axes = case.axes
    random = np.random.default_rng(1)
    source = random.integers(0, 250, case.shape, np.uint8).astype(TYPES[case.type])
    expected = source.transpose(axes)
    target = np.zeros(expected.shape, source.dtype)
    times = {name: [] for name in ["copy", *contenders]}
    for iteration in range(runs + 1):  # the first one warms up
        elapsed = {"copy": seconds_of(lambda: copy(source, target, axes))[0]}
        for name, transpose in contenders.items():
            target.fill(0)
            seconds, result = seconds_of(lambda: transpose(source, target, axes))
            if result is None:
                continue
            elapsed[name] = seconds
            if iteration == 0 and not np.array_equal(np.asarray(result).reshape(expected.shape), expected):
                raise SystemExit(f"failed: {name} gives another result than NumPy's view of {case}")
        if iteration > 0:
            for name, seconds in elapsed.items():
                times[name].append(seconds)
    return {name: seconds for name, seconds in times.items() if seconds}, source.nbytes


def records(options, contenders):
    copy = Copy(options.threads)
    for case in options.case:
        times, size_bytes = measure(case, options.runs, copy, contenders)
        limit = statistics.median(times["copy"])
        ours = statistics.median(times["sepconv"]) if "sepconv" in times else None
        for name, seconds in times.items():
            median = statistics.median(seconds)
            yield {
                "case": str(case),
                "program": name,
                "seconds": median,
                "spread": (max(seconds) - min(seconds)) / 2 / median,
                "gb_per_s": 2 * size_bytes / median / 1e9,
                "share_of_copy": limit / median,
                "sepconv_is_faster_by": ours and median / ours,
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--case", type=parse_case, nargs="+", default=list(map(parse_case, CASES)), help="TYPE:SHAPE:AXES"
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--threads",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="of sepconv, OpenCV and the copy; NumPy has one",
    )
    parser.add_argument(
        "--library", help="libpeers_host.so (searched for in the builds release, cpu and dev)"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    contenders, missing = peers(options)
    if options.json:
        head = {"threads": options.threads, "runs": options.runs, "missing": missing}
        json.dump({**head, "results": list(records(options, contenders))}, sys.stdout, indent=1)
        return
    print(
        "| case | program | ms | +- | GB/s | of copy | sepconv is faster by |\n|---|---|---|---|---|---|---|"
    )
    for row in records(options, contenders):
        ratio = f"{row['sepconv_is_faster_by']:.2f}" if row["sepconv_is_faster_by"] else ""
        print(
            f"| {row['case']} | {row['program']} | {row['seconds'] * 1e3:.1f} | {row['spread']:.0%} | {row['gb_per_s']:.1f} | "
            f"{row['share_of_copy']:.2f} | {ratio} |",
            flush=True,
        )
    if missing:
        print(f"\nNot there, so left out: {', '.join(missing)}")


if __name__ == "__main__":
    main()
