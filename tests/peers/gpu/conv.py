#!/usr/bin/env python3
"""sepconv's convolution kernels and those of other GPU libraries: same taps, border, data and stream.

    conv.py [--size 16384x16384] [--radius 1,2,4,8] [--type f32,u8] [--channels 1,3] [--peers cupy,torch]
            [--json FILE]
    conv.py --sweep [RADII] --json FILE    # sepconv alone over many radii, for docs/tools/conv_plot.py

All libraries run in one process. Times are medians by CUDA events; results are compared before anything is
timed. "copy" is the rate of reading and writing device memory on the otherwise idle GPU; "roofline" is the
smaller of that and the multiply-add rate. Both are measured first. Prints Markdown. Exit code 0: all that ran
agree; 1: a result differs or sepconv failed; 2: invalid options; 77: no GPU."""

import argparse
import datetime
import json
import math
import sys
import time

from option_types import numbers, words

NO_GPU = 77
DESIGNS = ("automatic", "two_passes", "fused")
TYPES = ("f32", "u8", "u16", "f64")
BORDERS = ("replicate", "reflect101", "reflect", "constant")
DEFAULT_PEERS = "python,python-ndimage,cupy,torch,cucim,cvcuda,opencv,npp,npp-gauss"
SWEEP = "1-500"


def sizes(text):
    """Parses COLSxROWS, as sepconv's --size, or several separated by commas."""
    found = [tuple(map(int, part.split("x"))) for part in text.split(",")]
    if any(len(size) != 2 or min(size) < 1 for size in found):
        raise argparse.ArgumentTypeError(f"{text} is not COLSxROWS")
    return found


def parse_options(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="\n".join(__doc__.splitlines()[5:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--size", type=sizes, default="16384x16384", help="COLSxROWS, several with commas (%(default)s)"
    )
    parser.add_argument(
        "--radius", type=numbers, default="1,2,4,8,16,32,80", help="such as 1,4,8-16,32-64/8 (%(default)s)"
    )
    parser.add_argument(
        "--type", type=words(TYPES), default="f32", help=f"of {','.join(TYPES)} (%(default)s)"
    )
    parser.add_argument("--channels", type=numbers, default="1", help="(%(default)s)")
    parser.add_argument(
        "--border",
        choices=BORDERS,
        default="replicate",
        help="NPP has only %(default)s, PyTorch no reflect (%(default)s)",
    )
    parser.add_argument(
        "--value", type=float, default=0.0, help="beyond the edges with --border constant (%(default)s)"
    )
    parser.add_argument(
        "--design", choices=DESIGNS, default="automatic", help="of sepconv's kernels (%(default)s)"
    )
    parser.add_argument(
        "--peers", default=DEFAULT_PEERS, help="(%(default)s); also torch-tuned; none for sepconv alone"
    )
    parser.add_argument(
        "--sweep",
        type=numbers,
        nargs="?",
        const=SWEEP,
        metavar="RADII",
        help=f"sepconv alone over these radii ({SWEEP})",
    )
    parser.add_argument("--runs", type=int, help="times a case is measured (20; 7 with --sweep)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=2.0,
        help="fewer runs where they would take longer than this (%(default)s)",
    )
    parser.add_argument(
        "--check",
        choices=["windows", "whole"],
        default="windows",
        help="compare in windows at corners, edges and inside, or everywhere (%(default)s)",
    )
    parser.add_argument("--device", type=int, default=0, help="GPU (%(default)s)")
    parser.add_argument(
        "--library",
        help="libpeers_gpu.so (searched for beside this program and in the builds release and dev)",
    )
    parser.add_argument("--json", metavar="FILE", help="write all results there, updated after every case")
    options = parser.parse_args(arguments)
    options.runs = options.runs or (7 if options.sweep else 20)
    options.peers = [] if options.sweep or options.peers == "none" else options.peers.split(",")
    options.radius = options.sweep or options.radius
    return options


def fail(text, status):
    print(f"conv.py: {text}", file=sys.stderr)
    return status


class Report:
    """Writes the table to standard output and the JSON file, both updated after every case."""

    HEADER = (
        "peer",
        "type",
        "ch",
        "radius",
        "ms",
        "+-",
        "Gpix/s",
        "of copy",
        "of roofline",
        "sepconv is faster by",
        "greatest difference",
    )

    def __init__(self, options, device, limits):
        self.options, self.rows, self.skipped = options, [], []
        self.head = {
            "program": "tests/peers/gpu/conv.py",
            "date": datetime.date.today().isoformat(),
            "device": device.name,
            "l2_bytes": device.l2_bytes,
            "limits": limits.report(),
            "border": options.border,
            "design": options.design,
            "kind": "sweep" if options.sweep else "peers",
            "runs": options.runs,
            "peers": {},
        }
        print(
            f"{device.name}, {self.head['date']}; copy {limits.copy / 1e12:.2f} TB/s (read + written), multiply-adds a second: "
            f"{limits.fma_f32 / 1e12:.1f} T in f32, {limits.fma_f64 / 1e12:.1f} T in f64; border {options.border}; medians of up to "
            f"{options.runs} runs, +- is half of maximum minus minimum",
            flush=True,
        )

    def peer(self, name, version, note):
        self.head["peers"][name] = {"version": version, "note": note}
        print(f"- {name} {version}: {note}", flush=True)

    def size(self, cols, rows):
        print(f"\n{cols} x {rows}\n\n| {' | '.join(self.HEADER)} |\n|{'---|' * len(self.HEADER)}", flush=True)

    def row(self, record):
        self.rows.append(record)
        ratio = "" if record.get("ratio_to_sepconv") is None else f"{record['ratio_to_sepconv']:.2f}"
        cells = (
            record["peer"],
            record["type"],
            record["channels"],
            record["radius"],
            f"{record['seconds'] * 1e3:.4g}",
            f"{record['spread']:.1%}",
            f"{record['pixels_per_second'] / 1e9:.4g}",
            f"{record['share_of_copy']:.3f}",
            f"{record['share_of_roofline']:.3f}",
            ratio,
            f"{record['greatest_difference']:.2g}"
            + ("" if record["agrees"] else f" **over {record['bound']:.2g}**"),
        )
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
        self.save()

    def skip(self, peer, reason, **where):
        """Reports a case that was not measured; `where` identifies the case and is empty for all cases of a
        peer."""
        self.skipped.append({"peer": peer, "reason": reason, **where})
        place = "".join(
            f", {key} {value}" for key, value in where.items() if key in ("type", "channels", "radius")
        )
        print(f"- {peer}{place}: {reason}", file=sys.stderr if where else sys.stdout, flush=True)
        self.save()

    def save(self):
        if self.options.json:
            with open(self.options.json, "w", encoding="utf-8") as file:
                json.dump({**self.head, "measured": self.rows, "skipped": self.skipped}, file, indent=1)

    def close(self):
        """Prints geometric means; returns the exit code."""
        print()
        for name in self.head["peers"]:
            ratios = [
                row["ratio_to_sepconv"]
                for row in self.rows
                if row["peer"] == name and row.get("ratio_to_sepconv")
            ]
            if ratios and name != "sepconv":
                mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
                print(
                    f"sepconv is faster than {name} by {min(ratios):.2f} to {max(ratios):.2f}, {mean:.2f} on (geometric) average of {len(ratios)}"
                )
        wrong = [row for row in self.rows if not row["agrees"]]
        failed = [entry for entry in self.skipped if entry["peer"] == "sepconv" and entry.get("failed")]
        print(f"{len(self.rows)} measured, {len(wrong)} differ, {len(self.skipped)} skipped")
        return 1 if wrong or failed or not self.rows else 0


def main(arguments=None):
    options = parse_options(arguments)
    begun = time.monotonic()
    try:
        import gpu_library
        import gpu_measure
        import gpu_peers
    except ImportError as error:
        return fail(f"{error}; it needs NumPy for the Python that runs it", 2)
    unknown = [name for name in options.peers if name not in gpu_peers.PEERS]
    if unknown:
        return fail(f"no peer is called {unknown[0]}: there are {', '.join(gpu_peers.PEERS)}", 2)
    try:
        library = gpu_library.open_library(options.library, lambda: gpu_peers.import_early(options.peers))
    except gpu_library.LibraryNotFound as error:
        return fail(str(error), 2)
    if library.devices() == 0:
        print("skipped: no GPU")
        return NO_GPU
    try:
        status = gpu_measure.measure_all(options, library, Report)
    except gpu_library.GpuError as error:
        return fail(str(error), 1)
    print(f"{time.monotonic() - begun:.0f} s in all")
    return status


if __name__ == "__main__":
    sys.exit(main())
