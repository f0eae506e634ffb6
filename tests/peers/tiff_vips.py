#!/usr/bin/env python3
"""File to file beside libvips: the same taps over 16384 x 16384 tiled TIFFs of u8 and f32, and `cp` of the same bytes as the limit.

tests/peers/tiff_vips.py [--radius 8] [--size 16384] [--runs 5] [--folder FOLDER] [--sepconv PROGRAM]
Prints a Markdown table for docs/benchmarks.md. `./dev bench` installs libvips and runs it.
"""

import argparse
import collections
import datetime
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]

Contender = collections.namedtuple("Contender", "name command output")


def integer_taps(radius):
    """A Gaussian-like kernel of whole numbers, so that libvips' integer path computes with the same taps."""
    offsets = np.arange(-radius, radius + 1)
    return np.maximum(1, np.rint(100 * np.exp(-0.5 * (offsets / (radius / 3)) ** 2))).astype(int)


def write_taps(folder, taps):
    words = " ".join(map(str, taps))
    (folder / "taps.mat").write_text(f"{len(taps)} 1 {sum(taps)} 0\n{words}\n")
    (folder / "taps.txt").write_text(" ".join(repr(float(tap / sum(taps))) for tap in taps) + "\n")


def contenders(program):
    """libvips' integer path keeps u8; its float path gives f32, so sepconv is timed with both results."""
    def sepconv(source, output, *stages):
        return [program, "run", source, output, "taps:file=taps.txt,border=replicate", *stages, "--quiet"]

    def vips(source, output, precision):
        save = "[tile,tile-width=512,tile-height=512,bigtiff]"
        return ["vips", "convsep", source, output + save, "taps.mat", "--precision", precision]

    return [
        Contender("libvips integer, u8 to u8", vips("u8.tif", "vips-int.tif", "integer"), "vips-int.tif"),
        Contender("sepconv, u8 to u8", sepconv("u8.tif", "sepconv-u8.tif"), "sepconv-u8.tif"),
        Contender("cp of the u8 bytes", ["cp", "u8.tif", "copy.tif"], "copy.tif"),
        Contender("libvips float, u8 to f32", vips("u8.tif", "vips-float.tif", "float"), "vips-float.tif"),
        Contender("sepconv, u8 to f32", sepconv("u8.tif", "sepconv-float.tif", "cast:type=f32"), "sepconv-float.tif"),
        Contender("libvips float, f32 to f32", vips("f32.tif", "vips-f32.tif", "float"), "vips-f32.tif"),
        Contender("sepconv, f32 to f32", sepconv("f32.tif", "sepconv-f32.tif"), "sepconv-f32.tif"),
        Contender("cp of the f32 bytes", ["cp", "f32.tif", "copy.tif"], "copy.tif"),
    ]


# What is compared after the warm-up, and by how much the results may differ: libvips rounds integers between its two passes; 3 was seen.
PAIRS = [("sepconv-u8.tif", "vips-int.tif", 4), ("sepconv-float.tif", "vips-float.tif", 0.001), ("sepconv-f32.tif", "vips-f32.tif", 0.001)]


def differing(program, folder):
    """The pairs of results, both of them there, that do not agree; removes them."""
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
    """Seconds and resource usage of one run, its output absent before; None where it fails."""
    (folder / contender.output).unlink(missing_ok=True)
    begin = time.monotonic()
    process = subprocess.Popen(contender.command, cwd=folder)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    return None if process.returncode != 0 else (seconds, usage)


def timed(contender, folder):
    """Seconds and peak resident bytes of one run."""
    run = run_once(contender, folder)
    if run is None:
        raise SystemExit(f"failed: {' '.join(map(str, contender.command))}")
    return run[0], run[1].ru_maxrss * 1024


def processor_name():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


def cpu_name():
    return f"{len(os.sched_getaffinity(0))} threads of {processor_name()}"


def print_table(results, pixels):
    print("| program | median s | least to greatest s | Mpix/s | peak RSS MiB |\n|---|---|---|---|---|")
    for name, runs in results.items():
        seconds = [run[0] for run in runs]
        middle = statistics.median(seconds)
        peak = max(run[1] for run in runs) / (1 << 20)
        print(f"| {name} | {middle:.2f} | {min(seconds):.2f} to {max(seconds):.2f} | {pixels / middle / 1e6:.0f} | {peak:.0f} |")


def times_longer(results, name, than):
    """How many times the median of `than` that of `name` is."""
    return statistics.median(run[0] for run in results[name]) / statistics.median(run[0] for run in results[than])


def file_options(documentation, runs):
    """A parser of what all measurements of files ask for."""
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

    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        write_taps(folder, integer_taps(arguments.radius))
        size = f"{arguments.size}x{arguments.size}"
        subprocess.run([program, "generate", "u8.tif", "--size", size, "--tile", "512", "--quiet"], cwd=folder, check=True)
        subprocess.run([program, "run", "u8.tif", "f32.tif", "cast:type=f32", "--quiet"], cwd=folder, check=True)

        everyone = contenders(program)
        different = []
        for contender in everyone:  # warm-up: page cache, clocks
            timed(contender, folder)
            different += differing(program, folder)
        results = collections.defaultdict(list)
        for _ in range(arguments.runs):  # in turns, so that a drift of the machine touches all alike
            for contender in everyone:
                results[contender.name].append(timed(contender, folder))
                (folder / contender.output).unlink(missing_ok=True)  # the system need not write it to its disk while the next one runs

    version = subprocess.run(["vips", "--version"], capture_output=True, text=True).stdout.split()[0]
    print(f"\n{datetime.date.today()}, {cpu_name()}, {version}: {size} tiled TIFF, radius {arguments.radius}, {arguments.runs} runs in turns\n")
    print_table(results, arguments.size**2)
    integer = times_longer(results, "libvips integer, u8 to u8", "sepconv, u8 to u8")
    mixed = times_longer(results, "libvips float, u8 to f32", "sepconv, u8 to f32")
    floating = times_longer(results, "libvips float, f32 to f32", "sepconv, f32 to f32")
    print(f"\nsepconv is {integer:.1f}x libvips' integer path; {mixed:.1f}x its float path from u8 and {floating:.1f}x from f32.")
    for kind in ("u8", "f32"):
        limit = times_longer(results, f"sepconv, {kind} to {kind}", f"cp of the {kind} bytes")
        print(f"{kind} to {kind} takes {limit:.2f}x the time of cp.")
    if different:
        raise SystemExit(f"these differ by more than they may: {'; '.join(different)}")
    print("The results agree: u8 within 4, f32 within 0.001.")


if __name__ == "__main__":
    main()
