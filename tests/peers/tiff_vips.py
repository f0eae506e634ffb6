#!/usr/bin/env python3
"""File to file: sepconv and libvips with the same taps on tiled TIFFs of u8 and f32; `cp` is the limit.

    tests/peers/tiff_vips.py [--radius 8] [--size 16384] [--runs 5] [--folder FOLDER] [--sepconv PROGRAM]

Prints a table, then the short table of docs/benchmarks.md and README.md, which docs/tools/put_blocks.py
inserts there. `./dev bench` installs libvips and runs this script.

sepconv and `cp` are timed over the whole process. libvips runs in a separate Python process (file_peer.py)
and is timed from opening the source to the finished result. The memory of that process before the operation
is part of its peak and is printed."""

import argparse
import collections
import contextlib
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE_PEER = [sys.executable, str(ROOT / "tests/peers/file_peer.py")]

Contender = collections.namedtuple("Contender", "name command output")
Run = collections.namedtuple(
    "Run", "seconds processor_seconds peak_bytes before_bytes"
)  # before_bytes: peak of a peer's process before the operation


def integer_taps(radius):
    """Integer taps similar to a Gaussian, so that libvips' integer path uses the same taps."""
    offsets = np.arange(-radius, radius + 1)
    return np.maximum(1, np.rint(100 * np.exp(-0.5 * (offsets / (radius / 3)) ** 2))).astype(int)


def write_taps(folder, taps):
    words = " ".join(map(str, taps))
    (folder / "taps.mat").write_text(f"{len(taps)} 1 {sum(taps)} 0\n{words}\n")
    (folder / "taps.txt").write_text(" ".join(repr(float(tap / sum(taps))) for tap in taps) + "\n")


def contenders(program):
    """libvips' integer path writes u8 and its float path f32, so sepconv is timed with both."""

    def sepconv(source, output, *stages):
        return [program, "run", source, output, "convolve:file=taps.txt,border=replicate", *stages, "--quiet"]

    def vips(source, output, precision):
        save = {"tile": True, "tile_width": 512, "tile_height": 512, "bigtiff": True}
        return [*FILE_PEER, "libvips", source, output, json.dumps(save), "taps.mat", precision]

    return [
        Contender("libvips integer, u8 to u8", vips("u8.tif", "vips-int.tif", "integer"), "vips-int.tif"),
        Contender("sepconv, u8 to u8", sepconv("u8.tif", "sepconv-u8.tif"), "sepconv-u8.tif"),
        Contender("cp of the u8 bytes", ["cp", "u8.tif", "copy.tif"], "copy.tif"),
        Contender("libvips float, u8 to f32", vips("u8.tif", "vips-float.tif", "float"), "vips-float.tif"),
        Contender(
            "sepconv, u8 to f32", sepconv("u8.tif", "sepconv-float.tif", "cast:type=f32"), "sepconv-float.tif"
        ),
        Contender("libvips float, f32 to f32", vips("f32.tif", "vips-f32.tif", "float"), "vips-f32.tif"),
        Contender("sepconv, f32 to f32", sepconv("f32.tif", "sepconv-f32.tif"), "sepconv-f32.tif"),
        Contender("cp of the f32 bytes", ["cp", "f32.tif", "copy.tif"], "copy.tif"),
    ]


# Pairs of results compared after the warm-up, with the tolerance. libvips rounds integers between its two
# passes: the difference was up to 3.
PAIRS = [
    ("sepconv-u8.tif", "vips-int.tif", 4),
    ("sepconv-float.tif", "vips-float.tif", 0.001),
    ("sepconv-f32.tif", "vips-f32.tif", 0.001),
]


def differing(program, folder):
    """The pairs of existing results that do not agree. Deletes the compared files."""
    different = []
    for one, other, tolerance in PAIRS:
        if not (folder / one).exists() or not (folder / other).exists():
            continue
        compare = [program, "compare", one, other, "--tolerance", str(tolerance), "--quiet"]
        if subprocess.run(compare, cwd=folder, capture_output=True).returncode != 0:
            different.append(f"{one} and {other}")
        (folder / one).unlink()
        (folder / other).unlink()
    return different


def run_once(contender, folder):
    """One run, after deleting its output; None if it fails. The peak of a command that does not report it is
    at least this process's (some 30 MiB)."""
    (folder / contender.output).unlink(missing_ok=True)
    begin = time.monotonic()
    with subprocess.Popen(contender.command, cwd=folder, stdout=subprocess.PIPE) as process:
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        return None
    run = Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, before_bytes=0)
    return run._replace(**json.loads(printed or "{}"))


def timed(contender, folder):
    run = run_once(contender, folder)
    if run is None:
        raise SystemExit(f"failed: {' '.join(map(str, contender.command))}")
    return run


def processor_name():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown processor"
    )


def cpu_name():
    return f"{len(os.sched_getaffinity(0))} threads of {processor_name()}"


def print_table(results, pixels):
    print("| program | median s | least to greatest s | Mpix/s | peak RSS MiB |\n|---|---|---|---|---|")
    for name, runs in results.items():
        seconds = [run.seconds for run in runs]
        middle = statistics.median(seconds)
        peak = max(run.peak_bytes for run in runs) / (1 << 20)
        print(
            f"| {name} | {middle:.2f} | {min(seconds):.2f} to {max(seconds):.2f} | {pixels / middle / 1e6:.0f} | {peak:.0f} |"
        )


def print_short(results):
    """Prints a column per pair of types: median and peak of both programs, and sepconv's speed-up."""
    pairs = {"u8 to u8": "integer", "u8 to f32": "float", "f32 to f32": "float"}
    median, peak = (
        lambda name: statistics.median(run.seconds for run in results[name]),
        lambda name: max(run.peak_bytes for run in results[name]) / (1 << 20),
    )
    figures = lambda name: f"{median(name):.2f} s, {peak(name):.0f} MiB"
    rows = {
        "sepconv": [figures(f"sepconv, {pair}") for pair in pairs],
        "libvips": [f"{figures(f'libvips {path}, {pair}')} ({path})" for pair, path in pairs.items()],
        "sepconv is faster by": [
            f"{median(f'libvips {path}, {pair}') / median(f'sepconv, {pair}'):.1f}"
            for pair, path in pairs.items()
        ],
        "`cp` of the source": [f"{median(f'cp of the {pair.split()[0]} bytes'):.2f} s" for pair in pairs],
    }
    print(f"| | {' | '.join(pairs)} |\n|{'---|' * (len(pairs) + 1)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |")


@contextlib.contextmanager
def block(name):
    """Prints the marks of a block of docs/benchmarks.md (docs/tools/put_blocks.py) before and after the
    output of the with statement."""
    print(f"\n<!-- {name} -->")
    yield
    print(f"<!-- /{name} -->", flush=True)


def file_options(documentation, runs):
    """A parser with the options that all file measurements share."""
    parser = argparse.ArgumentParser(description=documentation.splitlines()[0])
    parser.add_argument("--radius", type=int, default=8)
    parser.add_argument("--size", type=int, default=16384)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--folder", help="where the files go; a temporary folder by default")
    parser.add_argument("--sepconv", default=ROOT / "build/release/bin/sepconv", type=pathlib.Path)
    return parser


def main():
    arguments = file_options(__doc__, runs=5).parse_args()
    program = arguments.sepconv.resolve()
    os.environ["VIPS_CONCURRENCY"] = str(len(os.sched_getaffinity(0)))
    version = subprocess.run([*FILE_PEER, "libvips"], capture_output=True, text=True).stdout.strip()
    if not version:
        raise SystemExit(
            "libvips is not there; `./dev bench` installs it and starts this with the Python that has it"
        )

    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        write_taps(folder, integer_taps(arguments.radius))
        size = f"{arguments.size}x{arguments.size}"
        subprocess.run(
            [program, "generate", "u8.tif", "--size", size, "--tile", "512", "--quiet"],
            cwd=folder,
            check=True,
        )
        subprocess.run(
            [program, "run", "u8.tif", "f32.tif", "cast:type=f32", "--quiet"], cwd=folder, check=True
        )

        everyone = contenders(program)
        different = []
        for contender in everyone:  # warm-up: page cache, clocks
            timed(contender, folder)
            different += differing(program, folder)
        results = collections.defaultdict(list)
        for _ in range(arguments.runs):  # in rotation, so that drift of the machine affects all equally
            for contender in everyone:
                results[contender.name].append(timed(contender, folder))
                (folder / contender.output).unlink(
                    missing_ok=True
                )  # so that the system does not write it to disk during the next run

    before = max(run.before_bytes for runs in results.values() for run in runs) / (1 << 20)
    head = (
        f"{datetime.date.today()}, {cpu_name()}, {version}: {size} tiled TIFF, radius {arguments.radius}, {arguments.runs} runs in turns; "
        f"{before:.0f} MiB of libvips' memory are Python's.\n"
    )
    print("\n" + head)
    print_table(results, arguments.size**2)
    with block(f"file-to-file radius {arguments.radius}"):
        print(head)
        print_short(results)
    if different:
        raise SystemExit(f"these differ by more than they may: {'; '.join(different)}")
    print("\nThe results agree: u8 within 4, f32 within 0.001.")


if __name__ == "__main__":
    main()
