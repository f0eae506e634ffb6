#!/usr/bin/env python3
"""Separable filters in memory on the CPU: sepconv, OpenCV, libvips, SciPy and GDAL on the same arrays.

    conv.py [--size 8192x8192] [--radius 1,2,4,8] [--type u8,u16,f32] [--channels 1,3]
            [--peers opencv,vips] [--threads N] [--json FILE]
    conv.py --plot FILE.svg --from FILE.json ... --type f32 [--channels 1] [--title TITLE]

--plot draws the results that --json wrote. All contenders use the same taps, a Gaussian of sigma
radius / 3 + 0.5, and the border replicate, which all support. Each contender runs once, and its result is
compared with the same filter in f64 in windows at corners, at edges and inside (everywhere in a small
image). Then the contenders run in rotation with a copy of the same bytes by the same number of threads, the
limit. A peer that is not installed is left out and listed; a peer without support for a type has no rows
for it. Prints Markdown tables, last the short one for docs/benchmarks.md (docs/tools/put_blocks.py inserts
it). Exit code 0: all that ran agree; 1: a result differs, a run failed, or sepconv is missing; 2: invalid
options."""

import argparse
import collections
import dataclasses
import datetime
import json
import os
import pathlib
import statistics
import sys
import time

import numpy as np

from conv_peers import BORDER, PEERS, TYPES, Sepconv
from tiff_vips import block, processor_name
from transpose import Copy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/peers/gpu"), str(ROOT / "docs/tools")]
import conv_plot  # noqa: E402
from gpu_case import POISON, Case, greatest_difference, random_values  # noqa: E402
from option_types import numbers, words  # noqa: E402

SMALL_PIXELS = 1 << 20  # maximum of an image that is compared everywhere
PROBE = 16  # 1 / PROBE of the rows is timed to estimate the time of all
HEADER = (
    "type",
    "ch",
    "radius",
    "contender",
    "ms",
    "+-",
    "Mpix/s",
    "of copy",
    "sepconv is faster by",
    "greatest difference",
)
COLOURS = {
    "sepconv": "#4e79a7",
    "sepconv.ndimage": "#a0cbe8",
    "OpenCV sepFilter2D": "#e15759",
    "OpenCV GaussianBlur": "#b3343a",
    "libvips float": "#76b7b2",
    "libvips integer": "#2f7f7a",
    "SciPy": "#f28e2b",
    "GDAL": "#59a14f",
}

Run = collections.namedtuple("Run", "seconds processor_seconds result")


def size(text):
    cols, rows = map(int, text.split("x"))
    return cols, rows


def parse_options(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="\n".join(__doc__.splitlines()[5:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--size", type=size, default="8192x8192", help="COLSxROWS (%(default)s)")
    parser.add_argument("--radius", type=numbers, default="1,2,4,8,16,32,80", help="(%(default)s)")
    parser.add_argument(
        "--type", type=words(TYPES), default="u8,u16,f32", help=f"of {','.join(TYPES)} (%(default)s)"
    )
    parser.add_argument("--channels", type=numbers, default="1", help="(%(default)s)")
    parser.add_argument(
        "--peers",
        type=words([*PEERS, "all", "none"]),
        default="all",
        help=f"of {','.join(PEERS)} (%(default)s); none",
    )
    parser.add_argument("--runs", type=int, default=5, help="times a case is measured (%(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=20, help="a contender that takes longer is run once (%(default)s)"
    )
    parser.add_argument(
        "--slowest",
        type=float,
        default=60,
        help="one that would take longer than this is left out (%(default)s)",
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="threads of all contenders that support several (%(default)s)",
    )
    parser.add_argument(
        "--library", help="libpeers_host.so (searched for in the builds release, cpu and dev)"
    )
    parser.add_argument("--json", metavar="FILE", help="write all results there, updated after every case")
    parser.add_argument(
        "--plot", metavar="FILE.svg", help="draw one type and number of channels of the files --from instead"
    )
    parser.add_argument("--from", metavar="FILE.json", nargs="+", dest="files", help="what --json wrote")
    parser.add_argument("--title", help="of the picture (the processor, type and channels)")
    options = parser.parse_args(arguments)
    if min(*options.size, *options.radius, *options.channels, options.runs, options.threads) < 1:
        parser.error("sizes, radii, channels, runs and threads are from 1 on")
    if options.plot and not (options.files and len(options.type) == len(options.channels) == 1):
        parser.error("--plot needs --from, one --type and one of --channels")
    if "all" in options.peers or "none" in options.peers:
        options.peers = list(PEERS) if "all" in options.peers else []
    return options


def timed(work):
    begin, processor_begin = time.perf_counter(), time.process_time()
    result = work()
    return Run(time.perf_counter() - begin, time.process_time() - processor_begin, result)


def truth(case, source, window):
    """The expected result in one window, computed in f64."""
    *offsets, rows, cols = window
    around = [
        np.clip(np.arange(first - case.radius, first + count + case.radius), 0, limit - 1)
        for first, count, limit in zip(offsets, (rows, cols), source.shape)
    ]
    part = source[np.ix_(*around)].astype(np.float64)
    for axis in (1, 0):
        part = np.lib.stride_tricks.sliding_window_view(part, len(case.taps), axis) @ case.taps
    return np.rint(part) if case.integer else part


class Measurement:
    """Measures all contenders on the same pair of arrays, for one type and number of channels."""

    def __init__(self, options, contenders, report, case):
        self.options, self.contenders, self.report = options, contenders, report
        self.copy = Copy(options.threads)
        self.source = np.resize(random_values(case), (case.rows, case.cols, case.channels))
        self.target = np.empty_like(self.source)

    def poison(self):
        self.target.view(np.uint8).fill(POISON)

    def projected(self, peer, case):
        """Estimated seconds of a run, from a run over the first rows."""
        part = dataclasses.replace(case, rows=max(1, case.rows // PROBE))
        return (
            timed(peer.prepare(part, self.source[: part.rows], self.target[: part.rows])).seconds
            * case.rows
            / part.rows
        )

    def first_run(self, peer, case, windows, references):
        """The function to run, the first run's times and the maximum difference. If the peer is too slow,
        reports that and returns None."""
        projected = self.projected(peer, case)
        if projected > self.options.slowest:
            self.report.skip(peer.name, case, f"would take some {projected:.0f} s")
            return None
        self.poison()
        work = peer.prepare(case, self.source, self.target)
        run = timed(work)
        results = [run.result[row : row + rows, col : col + cols] for row, col, rows, cols in windows]
        return work, run._replace(result=None), greatest_difference(results, references)

    def case(self, case):
        windows = case.windows(whole=case.pixels <= SMALL_PIXELS)
        references = [truth(case, self.source, window) for window in windows]
        works, runs, differences = {}, {}, {}
        for peer in self.contenders:
            if case.type not in peer.types:
                continue
            try:
                first = self.first_run(peer, case, windows, references)
            except Exception as error:  # one contender does not stop the others
                self.report.failed(peer.name, case, error)
                continue
            if first:
                work, run, differences[peer] = first
                if run.seconds > self.options.seconds:
                    runs[peer] = [run]
                else:
                    runs[peer], works[peer] = [], work
        self.report_results(case, self.run_in_rotation(case, works, runs), runs, differences)

    def run_in_rotation(self, case, works, runs):
        """Appends to the runs of each contender, removes contenders that fail, and returns the runs of the
        copy."""
        copies = []
        for iteration in range(self.options.runs + 1):
            copies.append(timed(lambda: self.copy(self.source, self.target, None))._replace(result=None))
            for peer, work in (
                list(works.items()) if iteration > 0 else ()
            ):  # the first round warms up the copy; the contenders have already run
                try:
                    runs[peer].append(timed(work)._replace(result=None))
                except Exception as error:
                    self.report.failed(peer.name, case, error)
                    del works[peer], runs[peer]
        return copies[1:]

    def report_results(self, case, copies, runs, differences):
        limit = statistics.median(run.seconds for run in copies)
        ours = next(
            (
                statistics.median(run.seconds for run in found)
                for peer, found in runs.items()
                if peer.name == "sepconv"
            ),
            None,
        )
        self.report.row(figures(case, "copy", copies, limit))
        for peer, found in runs.items():
            record = figures(case, peer.name, found, limit)
            self.report.row(
                {
                    **record,
                    "ratio_to_sepconv": ours and record["seconds"] / ours,
                    "greatest_difference": differences[peer],
                    "bound": peer.bound(case),
                    "agrees": differences[peer] <= peer.bound(case),
                }
            )


def figures(case, name, runs, copy_seconds):
    """The statistics of a list of runs for the JSON file."""
    seconds = [run.seconds for run in runs]
    median = statistics.median(seconds)
    return {
        "peer": name,
        "rows": case.rows,
        "cols": case.cols,
        "type": case.type,
        "channels": case.channels,
        "radius": case.radius,
        "runs": len(runs),
        "seconds": median,
        "min_seconds": min(seconds),
        "greatest_seconds": max(seconds),
        "spread": (max(seconds) - min(seconds)) / 2 / median,
        "processors": sum(run.processor_seconds for run in runs) / sum(seconds),
        "pixels_per_second": case.pixels / median,
        "bytes_per_second": 2 * case.image_bytes / median,
        "share_of_copy": copy_seconds / median,
    }


class Report:
    """Writes the table to standard output and the JSON file, both updated after every case."""

    def __init__(self, options, contenders, missing):
        self.file, self.rows, self.skipped = options.json, [], []
        self.head = {
            "program": "tests/peers/conv.py",
            "kind": "peers",
            "date": datetime.date.today().isoformat(),
            "device": f"{processor_name()}, {options.threads} threads",
            "border": BORDER,
            "runs": options.runs,
            "missing": missing,
            "peers": {peer.name: {"version": peer.version, "note": peer.note} for peer in contenders},
        }
        print(
            f"{self.head['device']}, {self.head['date']}; {' x '.join(map(str, options.size))}, border {BORDER}; medians of "
            f"{options.runs} runs in turns, +- is half of maximum minus minimum"
        )
        for peer in contenders:
            print(f"- {peer.name} {peer.version}: {peer.note}")
        print(f"\n| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}", flush=True)

    def row(self, record):
        self.rows.append(record)
        ratio, difference = record.get("ratio_to_sepconv"), record.get("greatest_difference")
        cells = (
            record["type"],
            record["channels"],
            record["radius"],
            record["peer"]
            + (f", {record['bytes_per_second'] / 1e9:.1f} GB/s" if record["peer"] == "copy" else ""),
            f"{record['seconds'] * 1e3:.4g}",
            "one run" if record["runs"] == 1 else f"{record['spread']:.0%}",
            f"{record['pixels_per_second'] / 1e6:.4g}",
            f"{record['share_of_copy']:.3f}",
            "" if ratio is None else f"{ratio:.2f}",
            ""
            if difference is None
            else f"{difference:.2g}" + ("" if record["agrees"] else f" **over {record['bound']:.2g}**"),
        )
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
        self.save()

    def failed(self, name, case, error):
        self.skip(name, case, f"failed: {error!r}"[:300], failed=True)

    def skip(self, name, case, reason, failed=False):
        self.skipped.append(
            {
                "peer": name,
                "type": case.type,
                "channels": case.channels,
                "radius": case.radius,
                "reason": reason,
                "failed": failed,
            }
        )
        print(
            f"- {name}, {case.type}, {case.channels} channels, radius {case.radius}: {reason}",
            file=sys.stderr,
            flush=True,
        )
        self.save()

    def save(self):
        if self.file:
            with open(self.file, "w", encoding="utf-8") as file:
                json.dump({**self.head, "measured": self.rows, "skipped": self.skipped}, file, indent=1)

    def close(self):
        """Prints geometric means, busy processors and missing peers; returns the exit code."""
        print()
        for name, kind in dict.fromkeys((row["peer"], row["type"]) for row in self.rows):
            ratios = [
                row["ratio_to_sepconv"]
                for row in self.rows
                if (row["peer"], row["type"]) == (name, kind) and row.get("ratio_to_sepconv")
            ]
            if ratios and name != "sepconv":
                print(
                    f"{kind}: sepconv is faster than {name} by {min(ratios):.2f} to {max(ratios):.2f}, "
                    f"{statistics.geometric_mean(ratios):.2f} on (geometric) average of {len(ratios)}"
                )
        for name in dict.fromkeys(row["peer"] for row in self.rows):
            mine = [row["processors"] for row in self.rows if row["peer"] == name]
            print(
                f"{name} keeps {statistics.median(mine):.1f} processors busy (median; at most {max(mine):.1f})"
            )
        with block("memory"):
            self.short()
        print()
        if self.head["missing"]:
            print(f"Not there, so left out: {', '.join(self.head['missing'])}")
        for entry in self.skipped:
            print(
                f"Skipped: {entry['peer']}, {entry['type']}, {entry['channels']} channels, radius {entry['radius']}: {entry['reason']}"
            )
        wrong = [row for row in self.rows if not row.get("agrees", True)]
        print(f"{len(self.rows)} measured, {len(wrong)} differ, {len(self.skipped)} skipped")
        return 1 if wrong or any(entry["failed"] for entry in self.skipped) else 0

    def short(self):
        """Prints the short table: sepconv in Mpix/s, the peers as sepconv's speed-up; a row per contender, a
        column per radius."""
        shape = self.rows[0]
        versions = {
            name.split()[0]: peer["version"] for name, peer in self.head["peers"].items() if name != "sepconv"
        }
        peers = ", ".join(f"{name} {version}" for name, version in versions.items())
        print(
            f"{self.head['date']}, {self.head['device']}; {shape['cols']} x {shape['rows']}, border {BORDER}, medians of up to "
            f"{self.head['runs']} runs in turns; {peers}\n"
        )
        radii = list(dict.fromkeys(row["radius"] for row in self.rows))
        print(f"| radius | {' | '.join(map(str, radii))} | mean |\n|{'---|' * (len(radii) + 2)}")
        for kind, channels, name in dict.fromkeys(
            (row["type"], row["channels"], row["peer"]) for row in self.rows if row["peer"] != "copy"
        ):
            mine = {
                row["radius"]: row
                for row in self.rows
                if (row["type"], row["channels"], row["peer"]) == (kind, channels, name)
            }
            ratios = [row["ratio_to_sepconv"] for row in mine.values() if row.get("ratio_to_sepconv")]
            relative = name != "sepconv" and ratios
            figures = [
                f"{row['ratio_to_sepconv']:.1f}" if relative else f"{row['pixels_per_second'] / 1e6:.0f}"
                for row in mine.values()
            ]
            cells = dict(zip(mine, figures, strict=True))
            print(
                f"| {kind}{f' x {channels}' * (channels > 1)}: {'faster than ' * bool(relative)}{name}{', Mpix/s' * (not relative)} "
                f"| {' | '.join(cells.get(radius, '') for radius in radii)} | {f'{statistics.geometric_mean(ratios):.1f}' if relative else ''} |"
            )


def contenders_of(options):
    """The installed contenders, sepconv first, and the names of the missing ones."""
    found, missing = [], []
    for name, make in [
        ("sepconv", lambda threads: Sepconv(threads, options.library)),
        *((name, PEERS[name]) for name in options.peers),
    ]:
        try:
            found.append(make(options.threads))
        except (ImportError, OSError) as error:
            missing.append(f"{name} ({error})")
    return found, missing


def picture_of(options):
    """An SVG of Mpix/s over the radius, both logarithmic, in the style of docs/tools/conv_plot.py. The
    dashed line is the copy."""
    documents = [conv_plot.read(path) for path in options.files]
    series = conv_plot.series_of(documents, options.type[0], options.channels[0])
    if not series:
        raise ValueError(f"nothing was measured for {options.type[0]} of {options.channels[0]} channels")
    series = {
        name: [(radius, rate * 1e3) for radius, rate in points] for name, (_, points) in series.items()
    }  # Gpix/s to Mpix/s
    copy = series.pop("copy")
    limit = statistics.median(rate for _, rate in copy)
    title = (
        options.title
        or f"{documents[0]['device']}, {options.type[0]}, {options.channels[0]} channel{'s' * (options.channels[0] > 1)}"
    )
    picture = conv_plot.Picture(
        title,
        [radius for radius, _ in copy],
        [limit, *(rate for points in series.values() for _, rate in points)],
    )
    picture.path([(copy[0][0], limit), (copy[-1][0], limit)], "#000", 1.5, ' stroke-dasharray="6 4"')
    picture.entry("copy", "#000", "dashes")
    for name, points in series.items():
        picture.series(name, points, COLOURS[name], sweep=False)
    return picture.svg(title).replace("Gpix/s", "Mpix/s")


def main(arguments=None):
    options = parse_options(arguments)
    if options.plot:
        try:
            pathlib.Path(options.plot).write_text(picture_of(options), encoding="utf-8")
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.exit(
                f"conv.py: the picture could not be drawn: {error!r}; give files that it wrote with --json"
            )
        return 0
    contenders, missing = contenders_of(options)
    if not contenders or contenders[0].name != "sepconv":
        sys.exit(f"conv.py: there is nothing to measure: {missing[0]}")
    report = Report(options, contenders, missing)
    cols, rows = options.size
    for kind in options.type:
        for channels in options.channels:
            cases = [Case(rows, cols, channels, kind, radius, BORDER, 0.0) for radius in options.radius]
            measurement = Measurement(options, contenders, report, cases[0])
            for case in cases:
                measurement.case(case)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
