#!/usr/bin/env python3
"""Windows, ranks and volumes in memory: the Python package sepconv, OpenCV, SciPy, dask-image and CuPy.

    windows.py [--case STAGE:TYPE:SHAPE:RADIUS ...] [--device cpu|cuda] [--peers opencv,scipy]
               [--threads N] [--runs 5] [--json FILE]

Examples of a case: erode:f32:8192x8192:32 (rows x cols, then optionally channels) and
gaussian3:f32:256x512x512:6 (planes x rows x cols). Stages of images: erode dilate box median disk; of
volumes: erode3 box3 median3 gaussian3 (sigma = radius / 3). The border is replicate, which all support. CuPy
is the peer on a GPU. All contenders filter the same arrays, and their results are compared. They run in
rotation with a copy of the same bytes by the same number of threads or by the GPU. Times are medians, +- is
half of maximum minus minimum; on a GPU they come from CUDA events. Prints Markdown. A peer that is not
installed is left out and listed; a peer that would take too long or does not support the stage, type or
shape has no row. Exit code 0: all that ran agree; 1: a result differs or a run failed; 77: no GPU."""

import argparse
import datetime
import importlib
import importlib.metadata
import json
import os
import pathlib
import statistics
import sys
import time

import numpy as np

from tiff_vips import processor_name
from transpose import Copy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "gpu"))
from option_types import words  # noqa: E402

NO_GPU = 77
DISTRIBUTIONS = {"sepconv": "sepconv", "scipy": "scipy", "dask-image": "dask-image"}
PEERS = ["opencv", "scipy", "dask-image"]
TYPES = {"u8": np.uint8, "u16": np.uint16, "i16": np.int16, "f32": np.float32, "f64": np.float64}
IMAGES, VOLUMES = ("erode", "dilate", "box", "median", "disk"), ("erode3", "box3", "median3", "gaussian3")
CASES = [
    "erode:f32:8192x8192:1",
    "erode:f32:8192x8192:32",
    "erode:f32:8192x8192:200",
    "box:f32:8192x8192:8",
    "box:u8:8192x8192:8",
    "median:u8:4096x4096:3",
    "disk:u8:4096x4096:8",
    "gaussian3:f32:128x512x512:6",
    "median3:u16:64x512x512:1",
]
SAMPLE = 16  # 1 / SAMPLE of the rows or planes is timed to estimate the time of all


class Case:
    def __init__(self, text):
        self.text = text
        try:
            self.stage, self.type, shape, radius = text.split(":")
            self.shape, self.radius = tuple(map(int, shape.split("x"))), int(radius)
            fits = (
                len(self.shape) == 3
                if self.stage in VOLUMES
                else self.stage in IMAGES and len(self.shape) in (2, 3)
            )
        except ValueError:
            fits = False
        if not fits or self.type not in TYPES or min(*self.shape, self.radius) < 1:
            raise argparse.ArgumentTypeError(f"{text} is not such as {CASES[0]} or {CASES[-1]}")
        self.side, self.sigma, self.is_volume = 2 * self.radius + 1, self.radius / 3, self.stage in VOLUMES
        self.axes = range(3 if self.is_volume else 2)

    def values(self):
        random = np.random.default_rng(1)
        if self.type.startswith("f"):
            return random.random(self.shape, np.float32).astype(TYPES[self.type])
        return random.integers(0, np.iinfo(TYPES[self.type]).max, self.shape, TYPES[self.type], endpoint=True)

    @property
    def sizes(self):
        """The window's size along every axis for SciPy; 1 along channels."""
        return tuple(self.side if axis in self.axes else 1 for axis in range(len(self.shape)))

    @property
    def footprint(self):
        y, x = np.ogrid[-self.radius : self.radius + 1, -self.radius : self.radius + 1]
        disk = x * x + y * y <= self.radius**2
        return disk if len(self.shape) == 2 else disk[:, :, None]

    @property
    def bound(self):
        """The maximum accepted difference: sums are rounded, and SciPy truncates where sepconv rounds."""
        if self.stage not in ("box", "box3", "gaussian3"):
            return 0
        return 2e-5 if self.type.startswith("f") else 3 if self.is_volume else 2


def sepconv(module, threads):
    """A chain on the array, on the GPU for CuPy's arrays."""

    def prepare(case):
        radius, border = case.radius, {"border": "replicate"}
        deep = {"radius_z": radius} if case.is_volume else {}
        chain = {
            "erode": lambda: module.erode(radius, **deep, **border),
            "dilate": lambda: module.dilate(radius, **border),
            "box": lambda: module.box(radius, **deep, **border),
            "median": lambda: module.median(radius, **deep, **border),
            "disk": lambda: module.erode(radius, shape="disk", **border),
            "gaussian": lambda: module.gaussian(
                case.sigma, radius=radius, sigma_z=case.sigma, **deep, **border
            ),
        }[case.stage.rstrip("3")]()
        axes = "zyx" if case.is_volume else "yxc" if len(case.shape) == 3 else "yx"
        return lambda array, out: chain(array, out, axes=axes, threads=threads)

    return prepare


def opencv(cv2, threads):
    cv2.setNumThreads(threads)

    def prepare(case):
        if (
            case.is_volume
            or case.stage == "median"
            and (case.type not in ("u8", "u16", "f32") or case.radius > 2 and case.type != "u8")
        ):
            return None
        border, whole = cv2.BORDER_REPLICATE, np.ones((case.side, case.side), np.uint8)
        disk = case.footprint.reshape(case.side, case.side).astype(np.uint8)
        return {
            "erode": lambda array, out: cv2.erode(array, whole, dst=out, borderType=border),
            "dilate": lambda array, out: cv2.dilate(array, whole, dst=out, borderType=border),
            "box": lambda array, out: cv2.boxFilter(
                array, -1, (case.side, case.side), dst=out, borderType=border
            ),
            "median": lambda array, out: cv2.medianBlur(array, case.side, dst=out),
            "disk": lambda array, out: cv2.erode(array, disk, dst=out, borderType=border),
        }[case.stage]

    return prepare


def scipy_like(ndimage, asarray=np.asarray):
    """The filters of SciPy and of libraries with its interface. With `out` None they return the result."""

    def prepare(case):
        stage, edge = case.stage.rstrip("3"), {"mode": "nearest"}

        def run(array, out):
            more = edge if out is None else {**edge, "output": out}
            if stage == "gaussian":
                return ndimage.gaussian_filter(array, case.sigma, truncate=case.radius / case.sigma, **more)
            if stage == "disk":
                return ndimage.minimum_filter(array, footprint=asarray(case.footprint), **more)
            names = {
                "erode": "minimum_filter",
                "dilate": "maximum_filter",
                "box": "uniform_filter",
                "median": "median_filter",
            }
            return getattr(ndimage, names[stage])(array, case.sizes, **more)

        return run

    return prepare


def dask_image(module, threads):
    """Filters of an array in blocks of a quarter along each axis, computed by threads."""
    import dask
    import dask.array

    lazy = scipy_like(module)

    def prepare(case):
        if case.stage == "disk" or len(case.shape) == 3 and not case.is_volume:
            return None
        run = lazy(case)

        def work(array, out):
            chunks = tuple(max(side // 4, case.radius + 1) for side in array.shape)
            with dask.config.set(scheduler="threads", num_workers=threads):
                dask.array.store(run(dask.array.from_array(array, chunks=chunks), None), out, lock=False)

        return work

    return prepare


def contenders(options, cupy):
    """(name, version, prepare) of the installed contenders, and the names of the missing ones."""
    found, missing = [], []

    def add(name, module, prepare):
        try:
            loaded = importlib.import_module(module)
        except (ImportError, OSError):
            missing.append(name)
            return
        found.append(
            (
                name,
                importlib.metadata.version(DISTRIBUTIONS[name])
                if name in DISTRIBUTIONS
                else loaded.__version__,
                prepare(loaded),
            )
        )

    add("sepconv", "sepconv", lambda module: sepconv(module, options.threads))
    if cupy:
        found.append(
            (
                "CuPy",
                cupy.__version__,
                scipy_like(importlib.import_module("cupyx.scipy.ndimage"), cupy.asarray),
            )
        )
        return found, missing
    if "opencv" in options.peers:
        add("opencv", "cv2", lambda module: opencv(module, options.threads))
    if "scipy" in options.peers:
        add("scipy", "scipy.ndimage", scipy_like)
    if "dask-image" in options.peers:
        add("dask-image", "dask_image.ndfilters", lambda module: dask_image(module, options.threads))
    return found, missing


class Clock:
    """Seconds of work on the CPU."""

    def time(self, work):
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin


class DeviceClock:
    """Seconds of work on the GPU, between two CUDA events."""

    def __init__(self, cupy):
        self.cupy = cupy

    def time(self, work):
        begin, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        self.cupy.cuda.Device().synchronize()
        begin.record()
        work()
        end.record()
        end.synchronize()
        return self.cupy.cuda.get_elapsed_time(begin, end) / 1e3


def difference(found, reference):
    return float(abs(found.astype(np.float64) - reference.astype(np.float64)).max())


def measure(case, found, clock, copy, options, cupy):
    """A record per contender, the copy first."""
    source = case.values()
    source = cupy.asarray(source) if cupy else source
    works, failed, reference = {}, [], None
    for name, _, prepare in found:
        run = prepare(case)
        if run is None:
            continue
        try:
            part = source[: max(case.side, len(source) // SAMPLE)]
            run(part, np.empty_like(part))  # warm-up: some libraries compile kernels
            projected = (
                clock.time(lambda run=run, part=part: run(part, np.empty_like(part)))
                * len(source)
                / len(part)
            )
            if projected > options.slowest:
                print(f"\nLeft out: {name}, {case.text}, would take some {projected:.0f} s", flush=True)
                continue
            target = np.empty_like(source)
            run(source, target)
        except Exception as error:  # one contender does not stop the others
            failed.append(name)
            print(f"\nFailed: {name}, {case.text}: {error}", flush=True)
            continue
        reference = target if reference is None else reference
        works[name] = (lambda run=run, target=target: run(source, target)), difference(target, reference)
    target, times = np.empty_like(source), {name: [] for name in ("copy", *works)}
    for iteration in range(options.runs + 1):
        for name, work in (
            ("copy", lambda: copy(source, target)),
            *((name, work) for name, (work, _) in works.items()),
        ):
            seconds = clock.time(work)
            if iteration > 0:  # the first warms up
                times[name].append(seconds)
    records = [{"case": case.text, "contender": name, "failed": True} for name in failed]
    limit, ours = (statistics.median(times[name]) if name in times else None for name in ("copy", "sepconv"))
    for name, seconds in times.items():
        median = statistics.median(seconds)
        records.append(
            {
                "case": case.text,
                "contender": name,
                "seconds": median,
                "spread": (max(seconds) - min(seconds)) / 2 / median,
                "pixels_per_second": source.size / median,
                "of_copy": limit / median,
                "ratio_to_sepconv": median / ours if ours and name != "copy" else None,
                "greatest_difference": works[name][1] if name in works else None,
                "bound": case.bound,
            }
        )
    return records


def row(record):
    gap = record["greatest_difference"]
    over = "" if gap is None or gap <= record["bound"] else f" **over {record['bound']:.2g}**"
    cells = (
        record["case"],
        record["contender"],
        f"{record['seconds'] * 1e3:.4g}",
        f"{record['spread']:.0%}",
        f"{record['pixels_per_second'] / 1e6:.4g}",
        f"{record['of_copy']:.3f}",
        "" if record["ratio_to_sepconv"] is None else f"{record['ratio_to_sepconv']:.2f}",
        "" if gap is None else f"{gap:.2g}{over}",
    )
    return f"| {' | '.join(cells)} |"


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="\n".join(__doc__.splitlines()[4:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--case", type=Case, nargs="+", default=[Case(text) for text in CASES], help=f"({' '.join(CASES)})"
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="(%(default)s)")
    parser.add_argument("--peers", type=words(PEERS), default=",".join(PEERS), help="on a CPU (%(default)s)")
    parser.add_argument(
        "--threads",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="threads of all contenders that support several (%(default)s)",
    )
    parser.add_argument("--runs", type=int, default=5, help="times a case is measured (%(default)s)")
    parser.add_argument(
        "--slowest",
        type=float,
        default=30,
        help="a contender that would take longer than this is left out (%(default)s)",
    )
    parser.add_argument("--json", metavar="FILE", help="write everything there")
    options = parser.parse_args(arguments)
    cupy, clock, copy = None, Clock(), None
    if options.device == "cuda":
        try:
            import cupy

            device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        except Exception as error:
            print(f"no GPU: {error}")
            return NO_GPU
        clock, copy = DeviceClock(cupy), lambda source, target: cupy.copyto(target, source)
    else:
        threads = Copy(options.threads)
        device, copy = (
            f"{processor_name()}, {options.threads} threads",
            lambda source, target: threads(source, target, None),
        )
    found, missing = contenders(options, cupy)
    head = {
        "program": "tests/peers/windows.py",
        "date": datetime.date.today().isoformat(),
        "device": device,
        "runs": options.runs,
        "contenders": {name: version for name, version, _ in found},
        "missing": missing,
    }
    print(
        f"{device}, {head['date']}; border replicate; medians of {options.runs} runs in turns; {', '.join(f'{name} {version}' for name, version, _ in found)}"
        + (f"; not there: {', '.join(missing)}" if missing else "")
    )
    print(
        "\n| case | contender | ms | +- | Mpix/s | of copy | sepconv is faster by | greatest difference |\n|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    records = []
    for case in options.case:
        for record in measure(case, found, clock, copy, options, cupy):
            records.append(record)
            if not record.get("failed"):
                print(row(record), flush=True)
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps({**head, "rows": records}, indent=1))
    return int(
        any(
            record.get("failed") or (record["greatest_difference"] or 0) > record["bound"]
            for record in records
        )
        or not any(name == "sepconv" for name, _, _ in found)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
