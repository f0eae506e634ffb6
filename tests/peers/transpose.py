#!/usr/bin/env python3
"""Transposition in memory beside NumPy and OpenCV, and libvips through files: the same matrix, results compared.

tests/peers/transpose.py [--size 8192] [--types u8,u16,f32] [--channels 1,3] [--runs 5] [--threads N] [--json]
Prints Mpix/s, GB/s (bytes read and written) and the share of a copy of the same bytes, measured in turns in the same run.
A peer that is not installed is left out and named. libvips is timed from memory to memory by pyvips, if that is there.
"""

import argparse
import json
import os
import statistics
import sys
import time

import numpy as np

TYPES = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32, "f64": np.float64}


def optional(name):
    try:
        return __import__(name)
    except (ImportError, OSError):  # pyvips without its library
        return None


def numpy_transpose(source, target):
    np.copyto(target, source.swapaxes(0, 1))
    return target


def peers(threads):
    """Name to function of (source, target); it returns the result, `target` where the library can fill it."""
    found, missing = {"NumPy copyto": numpy_transpose}, []
    cv2, pyvips = optional("cv2"), optional("pyvips")
    if cv2:
        cv2.setNumThreads(threads)
        found[f"OpenCV {cv2.__version__} transpose"] = lambda source, target: cv2.transpose(source, target)
    else:
        missing.append("cv2")
    if pyvips:
        # rot90 turns; mirrored left to right that is the transposed image.
        found["libvips rot + fliphor"] = lambda source, target: pyvips.Image.new_from_array(source).rot90().fliphor().numpy()
    else:
        missing.append("pyvips")
    return found, missing


def seconds_of(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def measure(size, dtype, channels, runs, everyone):
    """Median seconds of each; raises SystemExit when one differs from NumPy's transposed view."""
    shape = (size, size + 1) if channels == 1 else (size, size + 1, channels)
    source = np.random.default_rng(1).integers(0, 250, shape).astype(dtype)
    expected = source.swapaxes(0, 1)
    target = np.zeros(expected.shape, dtype)
    copy = np.zeros(shape, dtype)
    times = {name: [] for name in ["copy", *everyone]}
    for turn in range(runs + 1):  # the first one warms up
        elapsed, _ = seconds_of(lambda: np.copyto(copy, source))
        rounds = {"copy": elapsed}
        for name, transpose in everyone.items():
            target.fill(0)
            rounds[name], result = seconds_of(lambda: transpose(source, target))
            if not np.array_equal(np.asarray(result).reshape(expected.shape), expected):
                raise SystemExit(f"failed: {name} gives another result than NumPy's view")
        if turn > 0:
            for name, elapsed in rounds.items():
                times[name].append(elapsed)
    return {name: statistics.median(values) for name, values in times.items()}, source.nbytes, shape[0] * shape[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=8192, help="rows; there is one column more")
    parser.add_argument("--types", default="u8,u16,f32")
    parser.add_argument("--channels", default="1,3")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of OpenCV; NumPy has one")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    everyone, missing = peers(arguments.threads)
    rows = []
    for kind in arguments.types.split(","):
        for channels in map(int, arguments.channels.split(",")):
            medians, size_bytes, pixels = measure(arguments.size, TYPES[kind], channels, arguments.runs, everyone)
            for name, seconds in medians.items():
                rows.append({
                    "type": kind, "channels": channels, "program": name, "seconds": seconds,
                    "mpix_per_s": pixels / seconds / 1e6, "gb_per_s": 2 * size_bytes / seconds / 1e9,
                    "share_of_copy": medians["copy"] / seconds,
                })
    if arguments.json:
        json.dump({"size": arguments.size, "runs": arguments.runs, "missing": missing, "results": rows}, sys.stdout, indent=1)
        return
    print("| type | channels | program | Mpix/s | GB/s | share of copy |\n|---|---|---|---|---|---|")
    for row in rows:
        rates = f"{row['mpix_per_s']:.0f} | {row['gb_per_s']:.1f} | {row['share_of_copy']:.2f}"
        print(f"| {row['type']} | {row['channels']} | {row['program']} | {rates} |")
    if missing:
        print(f"\nNot installed, so left out: {', '.join(missing)}")


if __name__ == "__main__":
    main()
