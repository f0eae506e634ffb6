#!/usr/bin/env python3
"""auto.py [--program sepconv] [--folder DIR] [--runs 3] [--scale N] [--json]

Runs the jobs of docs/benchmarks.md from file to file with the sepconv program, on each device in rotation.
Prints the predicted and measured seconds, the device that --device auto chooses, and the ratio of its time
to that of the faster device; then the short table of docs/benchmarks.md (docs/tools/put_blocks.py inserts
it). Without a GPU only the CPU is measured. Exit code 1: the ratio exceeds 1.15 for a job."""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

MAX_RATIO = 1.15
RADIUS = lambda radius: [f"gaussian:sigma={radius / 3:g},radius={radius}"]
TILED = ["--tile", "512"]
CODED = lambda codec: [*TILED, "--compress", codec]
# (side, type, options of the input, extension, stages, options of the result). Results of compressed inputs
# have --compress none.
JOBS = [
    (4096, "u8", TILED, "tif", RADIUS(8), []),
    (16384, "u8", TILED, "tif", RADIUS(8), []),
    (16384, "u8", TILED, "tif", [*RADIUS(8), "cast:type=f32"], []),
    (16384, "f32", TILED, "tif", RADIUS(8), []),
    (20000, "u8", TILED, "tif", RADIUS(8), []),
    (20000, "u8", CODED("deflate"), "tif", RADIUS(8), ["--compress", "none"]),
    (32768, "u8", TILED, "tif", RADIUS(8), []),
    *(
        (6144, "u8", CODED(codec), "tif", RADIUS(8), ["--compress", "none"])
        for codec in ("deflate", "zstd", "lzw")
    ),
    *((6144, "u8", TILED, "tif", RADIUS(8), ["--compress", codec]) for codec in ("deflate", "zstd", "lzw")),
    *((16384, "f32", [], "tif", RADIUS(radius), []) for radius in (32, 80, 256)),
    *((32768, "f32", [], "tif", RADIUS(radius), []) for radius in (2, 8, 32, 80)),
    (32768, "f32", [], "npy", RADIUS(8), []),
    (32768, "f32", [], "npy", ["transpose"], []),
    (65536, "u8", TILED, "tif", RADIUS(8), []),
]


def name_of(job):
    side, kind, made_with, ending, stages, result = job
    coded = [
        f"{word} {options[options.index('--compress') + 1]}"
        for word, options in (("in", made_with), ("out", result))
        if "--compress" in options
    ]
    return " ".join([f"{kind} {side}^2 {ending}{' tiles' if '--tile' in made_with else ''}", *stages, *coded])


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

    def plan(self, job, device):
        return json.loads(self.output("plan", *self.run_arguments(job), "--device", device, "--json"))

    def run_arguments(self, job):
        _, _, _, ending, stages, result = job
        return [f"in.{ending}", f"out.{ending}", *stages, *result]

    def seconds(self, job, device):
        (self.folder / f"out.{job[3]}").unlink(missing_ok=True)  # not timed: deleting the previous file
        begin = time.monotonic()
        self.output("run", *self.run_arguments(job), "--device", device, "--quiet")
        return time.monotonic() - begin


def measure(machine, job, runs):
    machine.make(job)
    row = {
        "job": name_of(job),
        "auto": "cuda" if "cuda" in machine.plan(job, "auto") else "cpu",
        "notes": machine.plan(job, "auto")["notes"][-1:],
    }
    row["predicted"] = {
        device: machine.plan(job, device)["predicted_seconds"]["total"] for device in machine.devices
    }
    times = {device: [] for device in machine.devices}
    for _ in range(runs + 1):  # the first is a warm-up
        for device in machine.devices:
            times[device].append(machine.seconds(job, device))
    row["measured"] = {device: statistics.median(samples[1:]) for device, samples in times.items()}
    row["ratio"] = row["measured"][row["auto"]] / min(row["measured"].values())
    for file in machine.folder.iterdir():
        file.unlink()
    return row


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
                f"{head}\n\n| job |{columns} auto | times the better device |\n|{'---|' * (3 + 2 * len(machine.devices))}"
            )
        for job in JOBS:
            row = measure(machine, job, arguments.runs)
            rows.append(row)
            if arguments.json:
                continue
            seconds = " | ".join(
                f"{row[kind][device]:.3f}" for device in machine.devices for kind in ("predicted", "measured")
            )
            print(f"| {row['job']} | {seconds} | {row['auto']} | {row['ratio']:.2f} |", flush=True)
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        print_short(head, rows)
    return max(row["ratio"] for row in rows) > MAX_RATIO


def print_short(head, rows):
    """One row for each device that auto chose, between the marks of the block in docs/benchmarks.md."""
    print(
        f"\n<!-- auto -->\n{head}\n\n| auto took | jobs | it was the better device in | at most times the better device's time |\n|---|---|---|---|"
    )
    for device in sorted({row["auto"] for row in rows}):
        taken = [row for row in rows if row["auto"] == device]
        worst = max(taken, key=lambda row: row["ratio"])
        print(
            f"| {device} | {len(taken)} | {sum(row['ratio'] == 1 for row in taken)} | {worst['ratio']:.2f} ({worst['job']}) |"
        )
    print("<!-- /auto -->")


if __name__ == "__main__":
    sys.exit(main())
