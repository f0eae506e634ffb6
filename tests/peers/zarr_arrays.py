#!/usr/bin/env python3
"""Times of sepconv, TensorStore with SciPy, and dask-image: a Gaussian from a chunked array to another.

    python tests/peers/zarr_arrays.py build/cpu/bin/sepconv --folder /dev/shm --cases u8-zstd --repeats 5

Needs the Python packages tensorstore, scipy, dask-image and zarr. All use 2 threads and run in rotation.
TensorStore: two threads read bands one chunk high with their halo, filter them with SciPy and write them.
dask-image: `gaussian_filter` of `from_zarr`, stored by two threads. The time of sepconv is that of its
process; the time of the others starts after their imports. Prints medians, with minimum and maximum in
brackets."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SIGMA, RADIUS, CHUNK = 2, 8, 512
#: Type and options of a source; the result has the same.
CASES = {
    "u8-plain": ("u8", ["--compress", "none"]),
    "u8-zstd": ("u8", ["--compress", "zstd:1"]),
    "u16-plain": ("u16", ["--compress", "none"]),
    "u16-blosc": ("u16", []),
}


def tensorstore_job(source, sink):
    import scipy.ndimage
    import tensorstore

    context = tensorstore.Context({"data_copy_concurrency": {"limit": 2}})
    source_array = tensorstore.open(
        {"driver": "zarr3", "kvstore": f"file://{source}"}, context=context
    ).result()
    spec = {**source_array.spec().to_json(), "kvstore": f"file://{sink}"}
    sink_array = tensorstore.open(spec, create=True, context=context).result()
    rows = source_array.shape[0]

    def band(first):
        above, end = min(first, RADIUS), min(first + CHUNK, rows)
        pixels = source_array[first - above : min(end + RADIUS, rows)].read().result()
        made = scipy.ndimage.gaussian_filter(pixels, SIGMA, truncate=RADIUS / SIGMA, mode="mirror")
        sink_array[first:end].write(made[above : above + end - first]).result()

    def work():
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(band, range(0, rows, CHUNK)))

    return work


def dask_image_job(source, sink):
    import dask
    import dask.array
    import dask_image.ndfilters
    import zarr

    dask.config.set(scheduler="threads", num_workers=2)
    source_array = zarr.open_array(source)

    def work():
        made = dask_image.ndfilters.gaussian_filter(
            dask.array.from_zarr(source_array), SIGMA, truncate=RADIUS / SIGMA, mode="mirror"
        )
        sink_array = zarr.create_array(
            sink,
            shape=source_array.shape,
            chunks=source_array.chunks,
            dtype=source_array.dtype,
            compressors=source_array.compressors,
        )
        dask.array.store(made, sink_array, lock=False)

    return work


PEERS = {"tensorstore": tensorstore_job, "dask-image": dask_image_job}


def run_peer(name, source, sink):
    work = PEERS[name](source, sink)
    began, before = time.perf_counter(), sum(os.times()[:2])
    work()
    print(json.dumps([time.perf_counter() - began, sum(os.times()[:2]) - before]))


def seconds_of(way, sepconv, source, sink):
    """Wall seconds and CPU seconds."""
    shutil.rmtree(sink, ignore_errors=True)
    if way != "sepconv":
        done = subprocess.run(
            [sys.executable, __file__, sepconv, "--peer", way, source, sink],
            check=True,
            capture_output=True,
            text=True,
        )
        return json.loads(done.stdout)
    began, before = time.perf_counter(), sum(os.times()[2:4])
    subprocess.run(
        [
            sepconv,
            "run",
            source,
            sink,
            f"gaussian:sigma={SIGMA},radius={RADIUS}",
            "--threads",
            "2",
            "--device",
            "cpu",
            "--quiet",
        ],
        check=True,
    )
    return time.perf_counter() - began, sum(os.times()[2:4]) - before


def check(*sinks):
    """Compares the results. SciPy truncates integers in each pass, so it may be up to 2 below."""
    import numpy
    import zarr

    ours, *peer_results = (zarr.open_array(sink)[: 2 * CHUNK].astype("i4") for sink in sinks)
    for other in peer_results:
        assert 0 <= (ours - other).min() and (ours - other).max() <= 2, (
            sinks,
            (ours - other).min(),
            (ours - other).max(),
        )


def in_words(times):
    return f"{statistics.median(times):.2f} ({min(times):.2f} to {max(times):.2f})"


def measure(case, options, folder):
    element, layout = CASES[case]
    pixels, source = str(folder / "image.npy"), str(folder / "source.zarr/0")
    size = f"{options.side}x{options.side}"
    subprocess.run(
        [
            options.sepconv,
            "generate",
            pixels,
            "--size",
            size,
            "--type",
            element,
            "--pattern",
            "natural",
            "--quiet",
        ],
        check=True,
    )
    subprocess.run(
        [
            options.sepconv,
            "run",
            pixels,
            str(folder / "source.zarr"),
            "--chunk",
            str(CHUNK),
            *layout,
            "--quiet",
        ],
        check=True,
    )
    ways = ("sepconv", *PEERS)
    sinks = {way: str(folder / f"{way}.zarr") for way in ways}
    found = {way: [] for way in ways}
    for _ in range(options.repeats):
        for way in ways:
            found[way].append(seconds_of(way, options.sepconv, source, sinks[way]))
    check(sinks["sepconv"] + "/0", *(sinks[peer] for peer in PEERS))
    print(f"{case}, {size}: seconds by wall, and of processors; times as long as sepconv's")
    for way in ways:
        wall, cpu = zip(*found[way])
        ratio = [statistics.median(a[i] / b[i] for a, b in zip(found[way], found["sepconv"])) for i in (0, 1)]
        print(f"  {way:12} {in_words(wall):24} {in_words(cpu):24} {ratio[0]:6.1f} {ratio[1]:6.1f}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sepconv")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--side", type=int, default=8192)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", help="folder of source and results; /dev/shm excludes the disk")
    parser.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        return run_peer(*options.peer)
    for case in options.cases:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            measure(case, options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
