#!/usr/bin/env python3
"""Times of dask-image and sepconv.dask on one local cluster, from Zarr to Zarr.

    python tests/peers/dask_arrays.py --side 16384 --chunk 1024 --workers 2 --max-memory 24M

A Gaussian of a u16 array; source and result are uncompressed and have the same chunks. The workers are
separate processes that communicate over TCP. The methods run in rotation, each with new workers that have
already imported the libraries. Prints the minimum and maximum time, the median CPU seconds of all workers,
the peak resident memory of the largest worker, and its increase over the memory before the run."""

import argparse
import os
import pathlib
import shutil
import statistics
import tempfile
import time
import warnings

import numpy as np

WAYS = ("dask-image", "sepconv.dask", "sepconv.dask.run")


def in_worker_warm():
    import dask_image.ndfilters  # noqa: F401
    import zarr  # noqa: F401

    import sepconv.dask  # noqa: F401

    open("/proc/self/clear_refs", "w").write("5")  # resets the peak (VmHWM)
    return resident("VmRSS"), sum(os.times()[:2])


def resident(name):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024


def in_worker_after():
    return resident("VmHWM"), sum(os.times()[:2])


def make_source(path, side, chunk):
    import zarr

    random = np.random.default_rng(1)
    array = zarr.create_array(path, shape=(side, side), chunks=(chunk, chunk), dtype="u2", compressors=None)
    for row in range(0, side, chunk):
        array[row : row + chunk] = random.integers(0, 65536, (min(chunk, side - row), side), "u2")


def filtered(way, source, sink, options, client):
    import dask.array as da
    import zarr

    if way == "sepconv.dask.run":
        import sepconv as sc
        from sepconv import dask as ours

        return ours.run(
            source,
            sink,
            sc.gaussian(options.sigma, border="reflect"),
            client=client,
            max_memory=options.max_memory,
            progress=False,
        )
    array = da.from_zarr(source)
    if way == "dask-image":
        import dask_image.ndfilters

        result = dask_image.ndfilters.gaussian_filter(array, options.sigma)
    else:
        from sepconv import dask as ours

        result = ours.gaussian_filter(array, options.sigma)
    da.store(
        result,
        zarr.create_array(sink, shape=array.shape, chunks=array.chunksize, dtype="u2", compressors=None),
        lock=False,
    )


def measured(way, source, sink, options):
    """Wall seconds, CPU seconds, the peak resident bytes of a worker, and their increase over those before
    the run."""
    from distributed import Client, LocalCluster

    shutil.rmtree(sink, ignore_errors=True)
    with (
        LocalCluster(
            n_workers=options.workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(options.workers)
        before = client.run(in_worker_warm)
        began = time.perf_counter()
        filtered(way, source, sink, options, client)
        wall = time.perf_counter() - began
        after = client.run(in_worker_after)
    both = [(before[one], after[one]) for one in before]
    return (
        wall,
        sum(end[1] - begin[1] for begin, end in both),
        max(end[0] for _, end in both),
        max(end[0] - begin[0] for begin, end in both),
    )


def values(path):
    import zarr

    found = zarr.open(str(path))
    return (found if hasattr(found, "shape") else found["0"])[...].astype("i4")


def check(folder):
    """sepconv's two results must be equal. SciPy truncates twice, so its result may be up to 2 below."""
    dask_image_result, lazy_result, ours = (values(folder / f"{way}.zarr") for way in WAYS)
    assert np.array_equal(lazy_result, ours)
    assert 0 <= (ours - dask_image_result).min() and (ours - dask_image_result).max() <= 2, (
        (ours - dask_image_result).min(),
        (ours - dask_image_result).max(),
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--side", type=int, default=8192)
    parser.add_argument("--chunk", type=int, default=1024)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sigma", type=float, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--max-memory", default="64M", help="of sepconv.dask.run")
    parser.add_argument(
        "--folder", default=None, help="folder of source and results; /dev/shm excludes the disk"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = pathlib.Path(tempfile.mkdtemp(dir=options.folder))
    try:
        source = str(folder / "source.zarr")
        make_source(source, options.side, options.chunk)
        found = {way: [] for way in WAYS}
        for _ in range(options.repeats):
            for way in WAYS:
                found[way].append(measured(way, source, str(folder / f"{way}.zarr"), options))
        check(folder)
        print(
            f"{options.side} x {options.side} u16, chunks of {options.chunk}, sigma {options.sigma:g}, {options.workers} workers"
        )
        for way in WAYS:
            wall, processor, peak, more = zip(*found[way])
            print(
                f"{way:18}{min(wall):8.2f} to {max(wall):.2f} s, {statistics.median(processor):.2f} s of processors, {max(peak) / 2**20:.0f} MiB, "
                f"{max(more) / 2**20:.0f} MiB more than before"
            )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
