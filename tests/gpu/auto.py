#!/usr/bin/env python3
"""auto.py [--program sepconv] [--folder DIR] [--runs 3] [--scale N] [--json]

Runs the jobs of docs/benchmarks.md from file to file with the sepconv program, on each device in rotation.
Prints the predicted and measured seconds, the device that --device auto chooses, and the ratio of its time
to that of the faster device; then the short table of docs/benchmarks.md (docs/tools/put_blocks.py inserts
it). Without a GPU only the CPU is measured. Exit code 1: auto takes more than 1.05 times as long as the faster
device, or predictions are wrong by more than 1.5 for one of ten jobs, or by more than 2.5 for one. Needs
NumPy and tifffile."""

import argparse
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import tifffile

MAX_RATIO = 1.05
# Share of the predictions that must be within a factor.
WITHIN = ((1.5, 0.9), (2.5, 1.0))
RADIUS = lambda radius: [f"gaussian:sigma={radius / 3:g},radius={radius}"]
TILED = ["--tile", "512"]
CODED = lambda codec: [*TILED, "--compress", codec]
PLAIN = ["--compress", "none"]
# (side, type, options of the input, extension, stages, options of the result). Results of compressed inputs
# have --compress none. A side of (planes, side) is a volume.
JOBS = [
    (4096, "u8", TILED, "tif", RADIUS(8), []),
    (32768, "u8", TILED, "tif", RADIUS(8), []),
    (65536, "u8", TILED, "tif", RADIUS(8), []),
    (16384, "u8", TILED, "tif", [*RADIUS(8), "cast:type=f32"], []),
    (16384, "u16", [], "tif", RADIUS(16), []),
    *((16384, "f32", [], "tif", RADIUS(radius), []) for radius in (1, 8, 32, 100, 300)),
    (24576, "f32", [], "tif", RADIUS(8), []),
    (24576, "f32", [], "tif", [*RADIUS(8), "sobel", "abs"], []),
    (16384, "f32", [], "npy", ["transpose"], []),
    *(
        (12288, "u8", CODED(codec), "tif", RADIUS(8), PLAIN)
        for codec in ("deflate:fast", "zstd", "lzw", "jpeg")
    ),
    *((12288, "u8", TILED, "tif", RADIUS(8), ["--compress", codec]) for codec in ("deflate", "zstd", "jpeg")),
    (12288, "u16", CODED("deflate:fast"), "tif", RADIUS(8), ["--compress", "deflate:fast"]),
    (12288, "u16", ["--chunk", "512"], "zarr", RADIUS(8), []),
    (12288, "f32", ["--chunk", "512", *PLAIN], "zarr", RADIUS(8), PLAIN),
    *((8192, "u8", TILED, "tif", [f"median:radius={radius}"], []) for radius in (2, 10, 30)),
    *((8192, "f32", [], "tif", [f"median:radius={radius}"], []) for radius in (2, 10)),
    (4096, "f32", [], "tif", ["median:radius=30"], []),
    (8192, "u16", [], "tif", ["median:radius=5"], []),
    (16384, "u8", TILED, "tif", ["box:radius=50"], []),
    (16384, "u8", TILED, "tif", ["tophat:radius=15"], []),
    (8192, "u16", [], "tif", ["opening:radius=10,shape=disk"], []),
    *(
        (16384, kind, [], "tif", [f"stddev:radius={radius}"], [])
        for kind, radius in (("f32", 8), ("u16", 30))
    ),
    (32768, "u8", TILED, "tif", ["reduce:factor=4"], []),
    (16384, "f32", [], "tif", ["resize:to=5000x5000"], []),
    (16384, "u8", TILED, "tif", RADIUS(8), ["--pyramid", "--compress", "deflate:fast"]),
    ((64, 2048), "u16", [], "ome.tif", ["gaussian:sigma=3,sigma_z=2"], []),
    ((32, 2048), "u8", [], "ome.tif", ["median:radius=2,radius_z=1"], []),
    (16384, "u8", TILED, "tif", ["unsharp:sigma=3,amount=0.7"], []),
    (8192, "f32", [], "tif", ["sato:sigmas=1,2"], []),
]


def name_of(job):
    side, kind, made_with, ending, stages, result = job
    size = f"{side}^2" if isinstance(side, int) else f"{side[0]}x{side[1]}^2"
    coded = [
        f"{word} {options[options.index('--compress') + 1]}"
        for word, options in (("in", made_with), ("out", result))
        if "--compress" in options
    ]
    return " ".join([f"{kind} {size} {ending}{' tiles' if '--tile' in made_with else ''}", *stages, *coded])


class Machine:
    def __init__(self, program, folder, scale):
        self.program, self.folder, self.scale = program, pathlib.Path(folder), scale
        self.gpus = json.loads(self.output("devices", "--json"))["gpus"]
        self.devices = ["cpu"] + (["cuda"] if self.gpus else [])

    def output(self, *arguments):
        return subprocess.run(
            [self.program, *map(str, arguments)], cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout

    def make(self, job):
        side, kind, made_with, ending, _, _ = job
        if not isinstance(side, int):
            return self.make_volume(f"in.{ending}", side[0], side[1] // self.scale, kind)
        side //= self.scale
        self.output(
            "generate",
            f"in.{ending}",
            "--size",
            f"{side}x{side}",
            "--type",
            kind,
            *made_with,
            "--force",
            "--quiet",
        )

    def make_volume(self, name, planes, side, kind):
        """An OME-TIFF of planes along z, each another part of one image."""
        self.output(
            "generate", "part.tif", "--size", f"{side}x{side + planes}", "--type", kind, "--force", "--quiet"
        )
        part = tifffile.imread(self.folder / "part.tif")
        stack = np.stack([part[z : z + side] for z in range(planes)])
        tifffile.imwrite(self.folder / name, stack, ome=True, metadata={"axes": "ZYX"})

    def plan(self, job, device):
        return json.loads(self.output("plan", *self.run_arguments(job), "--device", device, "--json"))

    def run_arguments(self, job):
        _, _, _, ending, stages, result = job
        return [f"in.{ending}", f"out.{ending}", *stages, *result]

    def seconds(self, job, device):
        remove(self.folder / f"out.{job[3]}")  # not timed
        begin = time.monotonic()
        self.output("run", *self.run_arguments(job), "--device", device, "--quiet")
        return time.monotonic() - begin


def remove(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def measure(machine, job, runs):
    machine.make(job)
    auto = machine.plan(job, "auto")
    row = {
        "job": name_of(job),
        "auto": "cuda" if "cuda" in auto else "cpu",
        "notes": auto["notes"][-1:],
        "predicted": {
            device: machine.plan(job, device)["predicted_seconds"]["total"] for device in machine.devices
        },
    }
    # Without a GPU auto is the CPU.
    measured = [*machine.devices, *(["auto"] if machine.gpus else [])]
    times = {device: [] for device in measured}
    for _ in range(runs + 1):  # the first is a warm-up
        for device in measured:
            times[device].append(machine.seconds(job, device))
    row["measured"] = {device: statistics.median(samples[1:]) for device, samples in times.items()}
    best = min(row["measured"][device] for device in machine.devices)
    row["ratio"] = row["measured"].get("auto", best) / best
    for file in machine.folder.iterdir():
        remove(file)
    return row


def errors_of(rows):
    """The factors by which predictions are wrong, largest first, with device and job."""
    return sorted(
        (
            (
                max(predicted / row["measured"][device], row["measured"][device] / predicted),
                device,
                row["job"],
            )
            for row in rows
            for device, predicted in row["predicted"].items()
        ),
        reverse=True,
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", default="sepconv")
    parser.add_argument(
        "--folder", help="a folder with space for two images of 4 GB (default: a temporary folder)"
    )
    parser.add_argument(
        "--runs",
        type=int,
        default=3,
        help="runs per job after a warm-up; the median is printed (%(default)s)",
    )
    parser.add_argument(
        "--scale", type=int, default=1, help="divides the images' sides, to try the script (%(default)s)"
    )
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    program = (
        str(pathlib.Path(arguments.program).resolve()) if "/" in arguments.program else arguments.program
    )
    rows = []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        machine = Machine(program, folder, arguments.scale)
        if not arguments.json:
            head = f"{datetime.date.today()}, {len(os.sched_getaffinity(0))} threads, {machine.gpus[0]['name'] if machine.gpus else 'no GPU'}, medians of {arguments.runs} runs in turns"
            columns = "".join(f" {device} predicted s | {device} s |" for device in machine.devices)
            print(
                f"{head}\n\n| job |{columns} auto took | auto s | times the better device |\n|{'---|' * (4 + 2 * len(machine.devices))}"
            )
        for job in JOBS:
            row = measure(machine, job, arguments.runs)
            rows.append(row)
            if arguments.json:
                continue
            seconds = " | ".join(
                f"{row[kind][device]:.3f}" for device in machine.devices for kind in ("predicted", "measured")
            )
            auto_seconds = row["measured"].get("auto", row["measured"]["cpu"])
            print(
                f"| {row['job']} | {seconds} | {row['auto']} | {auto_seconds:.3f} | {row['ratio']:.2f} |",
                flush=True,
            )
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        print_short(head, rows)
    errors = [error for error, _, _ in errors_of(rows)]
    shares = [sum(error <= factor for error in errors) / len(errors) >= share for factor, share in WITHIN]
    return max(row["ratio"] for row in rows) > MAX_RATIO or not all(shares)


def print_short(head, rows):
    """One row for each device that auto chose, between the marks of the block in docs/benchmarks.md."""
    print(
        f"\n<!-- auto -->\n{head}\n\n| auto took | jobs | at most times the better device's time |\n|---|---|---|"
    )
    for device in sorted({row["auto"] for row in rows}):
        taken = [row for row in rows if row["auto"] == device]
        worst = max(taken, key=lambda row: row["ratio"])
        print(f"| {device} | {len(taken)} | {worst['ratio']:.2f} ({worst['job']}) |")
    errors = errors_of(rows)
    counts = ", ".join(
        f"{sum(error <= factor for error, _, _ in errors)} within {factor}" for factor, _ in WITHIN
    )
    worst = "; ".join(f"{error:.1f} ({device}, {job})" for error, device, job in errors[:4])
    print(f"\nOf {len(errors)} predicted times {counts}. Furthest off: {worst}.")
    print("<!-- /auto -->")


if __name__ == "__main__":
    sys.exit(main())
