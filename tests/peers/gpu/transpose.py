#!/usr/bin/env python3
"""sepconv's transpositions and those of other GPU libraries: same tensors, in device memory, one stream.

    transpose.py [--case TYPE:SHAPE:AXES ...] [--peers cupy,torch] [--runs 20] [--json FILE]

Examples of a case: f32:16384x16384:1,0 and u8:8192x8192x3:2,0,1; the axes are those of numpy.transpose. All
libraries run in one process. Times are medians by CUDA events. Before the timing, planes of every result are
compared with NumPy's. "copy" is the rate of reading and writing device memory on the otherwise idle GPU,
measured first. Prints Markdown. Exit code 0: all that ran agree; 1: a result differs or sepconv failed; 2:
invalid options; 77: no GPU."""

import argparse
import datetime
import json
import statistics
import sys

from permute_case import parse_case

NO_GPU = 77
CASES = [
    "f32:16384x16384:1,0",
    "u8:16384x16384:1,0",
    "u16:16384x16384:1,0",
    "f64:16384x16384:1,0",
    "f32:16381x16411:1,0",
    "u8:16384x16384x3:1,0,2",
    "u8:8192x8192x3:2,0,1",
    "u8:3x8192x8192:1,2,0",
    "f32:8192x8192x3:2,0,1",
    "f32:3x8192x8192:1,2,0",
    "f32:2048x2048x64:2,0,1",
    "f32:64x2048x2048:1,2,0",
] + [f"f32:1024x1024x1024:{axes}" for axes in ("0,1,2", "0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0")]


def parse_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--case", type=parse_case, nargs="+", default=list(map(parse_case, CASES)), help="TYPE:SHAPE:AXES"
    )
    parser.add_argument("--peers", default="cupy,torch", help="(%(default)s); none for sepconv alone")
    parser.add_argument("--runs", type=int, default=20, help="(%(default)s)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=2.0,
        help="fewer runs where they would take longer than this (%(default)s)",
    )
    parser.add_argument("--device", type=int, default=0, help="GPU (%(default)s)")
    parser.add_argument(
        "--library",
        help="libpeers_gpu.so (searched for beside this program and in the builds release and dev)",
    )
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args(arguments)
    options.peers = [] if options.peers == "none" else options.peers.split(",")
    return options


def fail(text, status):
    print(f"transpose.py: {text}", file=sys.stderr)
    return status


def measured(device, peer, tensors, options):
    """Seconds of each run, and the number of differing elements."""
    import gpu_measure

    tensors.poison()
    run = None
    try:
        run = peer.prepare_tensors(tensors)
        run(0)
        wrong = tensors.differing()
        return gpu_measure.timed(device, run, options), wrong
    finally:
        del run  # frees the peer's memory that it references
        peer.release()


def installed_peers(device, names):
    """sepconv and the peers that work here, and the names of the others. Reports the versions and the
    reasons."""
    import gpu_permute
    import gpu_peers

    found, missing = [gpu_permute.Sepconv(device)], []
    for name in names:
        try:
            found.append(gpu_permute.PEERS[name](device))
        except (ImportError, gpu_peers.Unsupported) as error:
            missing.append(name)
            print(f"- {name}: {error}")
    for peer in found:
        print(f"- {peer.name} {peer.version}: {peer.note}")
    return found, missing


def measure_all(options, library):
    import gpu_case
    import gpu_library
    import gpu_permute

    device = gpu_library.Device(library, options.device)
    limits = gpu_case.Limits(device)
    date = datetime.date.today().isoformat()
    print(
        f"{device.name}, {date}; copy {limits.copy / 1e12:.2f} TB/s (read + written); medians of up to {options.runs} runs, +- is half of "
        "maximum minus minimum"
    )
    peers, missing = installed_peers(device, options.peers)
    print(
        "\n| case | program | ms | +- | GB/s | of copy | sepconv is faster by |\n|---|---|---|---|---|---|---|"
    )
    rows = []
    for case in options.case:
        tensors = gpu_permute.Tensors(device, case)
        for peer in peers:
            seconds, differing = measured(device, peer, tensors, options)
            median = statistics.median(seconds)
            ours = median if peer is peers[0] else rows[-1]["sepconv_seconds"]
            rate = 2 * tensors.nbytes / median
            rows.append(
                {
                    "case": str(case),
                    "program": peer.name,
                    "seconds": median,
                    "spread": (max(seconds) - min(seconds)) / 2 / median,
                    "bytes_per_second": rate,
                    "share_of_copy": rate / limits.copy,
                    "sepconv_seconds": ours,
                    "differing": differing,
                }
            )
            print(
                f"| {case} | {peer.name} | {median * 1e3:.4g} | {rows[-1]['spread']:.1%} | {rate / 1e9:.0f} | {rate / limits.copy:.3f} | "
                f"{median / ours:.2f} |" + (f" **{differing} elements differ**" if differing else ""),
                flush=True,
            )
        tensors.free()
    wrong = sum(row["differing"] > 0 for row in rows)
    print(f"\n{len(rows)} measured, {wrong} differ")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "program": "tests/peers/gpu/transpose.py",
                    "date": date,
                    "device": device.name,
                    "runs": options.runs,
                    "limits": limits.report(),
                    "missing": missing,
                    "measured": rows,
                },
                file,
                indent=1,
            )
    return 1 if wrong else 0


def main(arguments=None):
    options = parse_options(arguments)
    try:
        import gpu_library
        import gpu_peers
        import gpu_permute
    except ImportError as error:
        return fail(f"{error}; it needs NumPy for the Python that runs it", 2)
    unknown = [name for name in options.peers if name not in gpu_permute.PEERS]
    if unknown:
        return fail(f"no peer is called {unknown[0]}: there are {', '.join(gpu_permute.PEERS)}", 2)
    try:
        library = gpu_library.open_library(options.library, lambda: gpu_peers.import_early(options.peers))
    except gpu_library.LibraryNotFound as error:
        return fail(str(error), 2)
    if library.devices() == 0:
        print("skipped: no GPU")
        return NO_GPU
    try:
        return measure_all(options, library)
    except gpu_library.GpuError as error:
        return fail(str(error), 1)


if __name__ == "__main__":
    sys.exit(main())
