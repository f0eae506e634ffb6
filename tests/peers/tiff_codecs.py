#!/usr/bin/env python3
"""File to file through TIFF's codecs: sepconv, libvips and GDAL, with a filter and as a plain copy.

    tests/peers/tiff_codecs.py [--codecs deflate,zstd,lzw,jpeg] [--size 16384] [--radius 8] [--runs 3]
        [--folder FOLDER] [--sepconv PROGRAM]

All use the same taps; the plain copy shows the cost of the codec alone. Prints two Markdown tables,
compressed results of an uncompressed image and uncompressed results of a compressed image, then the short
tables for docs/benchmarks.md (docs/tools/put_blocks.py inserts them). libvips and GDAL are timed by
file_peer.py. JPEG means RGB pixels in YCbCr tiles, as slide scanners write them; the other codecs store
grey pixels with the horizontal predictor. Every result is compared with sepconv's; wrong results are listed
at the end, and the exit code is 1. A program that is not installed is left out and listed."""

import collections
import datetime
import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from gdal_filter import filter_vrt
from tiff_vips import FILE_PEER, ROOT, block, cpu_name, file_options, integer_taps, run_once, write_taps

sys.path.insert(0, str(ROOT / "tests/peers/gpu"))
from option_types import words  # noqa: E402

TILE = 512
LOSSLESS = ("deflate", "zstd", "lzw")
QUALITY = 89  # the maximum at which libvips writes YCbCr 4:2:0 as the others do; from 90 on it writes RGB without subsampling
STAGE = "convolve:file=taps.txt,border=replicate"
# Maximum accepted difference of a filtered result. libvips uses 8-bit taps with vector instructions: the
# difference was 3 from radius 6 on, but up to 9 at radii 2 to 4, which counts as wrong here.
ROUNDING = {"sepconv": 0, "libvips": 4, "GDAL": 1}
MEAN = 1.5  # maximum mean difference; libvips 8.18 had 1.06
JPEG_MEAN = 2  # GDAL's internal libjpeg upsamples chroma differently: 1.47

SEPCONV_CODECS = {
    "none": "none",
    "deflate": "deflate:6",
    "zstd": "zstd:9",
    "lzw": "lzw",
    "jpeg": f"jpeg:{QUALITY}",
}
VIPS_CODECS = {
    "none": {"compression": "none"},
    "deflate": {
        "compression": "deflate",
        "predictor": "horizontal",
    },  # no level option: zlib's default level 6
    "zstd": {"compression": "zstd", "level": 9, "predictor": "horizontal"},
    "lzw": {"compression": "lzw", "predictor": "horizontal"},
    "jpeg": {"compression": "jpeg", "Q": QUALITY},
}
GDAL_CODECS = {
    "none": {"COMPRESS": "NONE"},
    "deflate": {"COMPRESS": "DEFLATE", "ZLEVEL": 6, "PREDICTOR": 2},
    "zstd": {"COMPRESS": "ZSTD", "ZSTD_LEVEL": 9, "PREDICTOR": 2},
    "lzw": {"COMPRESS": "LZW", "PREDICTOR": 2},
    "jpeg": {"COMPRESS": "JPEG", "JPEG_QUALITY": QUALITY, "PHOTOMETRIC": "YCBCR"},
}

Case = collections.namedtuple("Case", "title source_codec result_codec channels source")
Contender = collections.namedtuple("Contender", "name peer filtered command output")
Run = collections.namedtuple("Run", "seconds processors peak_bytes output_bytes")
Limit = collections.namedtuple(
    "Limit", "reference greatest mean"
)  # maximum accepted difference from a reference file
Difference = collections.namedtuple("Difference", "greatest mean")


def sepconv_command(program, source, target, codec, filtered):
    stages = [STAGE] if filtered else []
    return [
        program,
        "run",
        source,
        target,
        *stages,
        "--compress",
        SEPCONV_CODECS[codec],
        "--device",
        "cpu",
        "--quiet",
    ]


def vips_command(source, target, codec, filtered):
    save = {**VIPS_CODECS[codec], "tile": True, "tile_width": TILE, "tile_height": TILE, "bigtiff": True}
    return [
        *FILE_PEER,
        "libvips",
        source,
        target,
        json.dumps(save),
        *(["taps.mat", "integer"] if filtered else []),
    ]


def gdal_command(source, target, codec, filtered):
    options = {
        **GDAL_CODECS[codec],
        "TILED": "YES",
        "BLOCKXSIZE": TILE,
        "BLOCKYSIZE": TILE,
        "NUM_THREADS": "ALL_CPUS",
        "BIGTIFF": "IF_SAFER",
    }
    return [*FILE_PEER, "gdal", "filter.vrt" if filtered else source, target, json.dumps(options)]


def output_of(command):
    """The standard output of a command; empty if it does not exist or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def find_peers(program):
    """The commands and versions of the installed programs, and the names of the others."""
    everyone = {
        "sepconv": (functools.partial(sepconv_command, program), output_of([program, "--version"])),
        "libvips": (vips_command, output_of([*FILE_PEER, "libvips"])),
        "GDAL": (gdal_command, output_of([*FILE_PEER, "gdal"])),
    }
    if not everyone["sepconv"][1]:
        raise SystemExit(f"does not start: {program}")
    installed = {name: (command, version.strip()) for name, (command, version) in everyone.items() if version}
    return installed, [name for name in everyone if name not in installed]


def cases(codecs):
    """The cases with compressed results, then those with compressed sources."""
    channels = {codec: 3 if codec == "jpeg" else 1 for codec in codecs}
    return (
        [Case(codec, "none", codec, channels[codec], "plain.tif") for codec in codecs],
        [Case(codec, codec, "none", channels[codec], "source.tif") for codec in codecs],
    )


def contenders(peers, case):
    result = []
    for filtered in (True, False):
        for peer, (command, _) in peers.items():
            output = f"{peer}-{'filtered' if filtered else 'copied'}.tif"
            name = peer if filtered else f"{peer}, copy only"
            result.append(
                Contender(
                    name, peer, filtered, command(case.source, output, case.result_codec, filtered), output
                )
            )
    return result


def prepare(folder, case, size, taps, program):
    """Writes the source; plain.tif, its pixels uncompressed; and filtered.tif, their filtered result."""

    def make(command):
        subprocess.run(command, cwd=folder, check=True)

    sepconv = functools.partial(sepconv_command, program)
    write_taps(folder, taps)
    (folder / "filter.vrt").write_text(
        filter_vrt(case.source, size, size, case.channels, "Byte", taps / sum(taps), relative=True)
    )
    first = "photograph.tif" if case.source_codec == "jpeg" else "plain.tif"
    shape = ["--size", f"{size}x{size}", "--channels", str(case.channels), "--tile", str(TILE)]
    make([program, "generate", first, *shape, "--pattern", "natural", "--quiet"])
    if case.source_codec != "none":
        make(sepconv(first, case.source, case.source_codec, False))
    if first != "plain.tif":
        make(sepconv(case.source, "plain.tif", "none", False))
        (folder / first).unlink()
    make(sepconv("plain.tif", "filtered.tif", "none", True))


def measured(contender, folder):
    """One run; None if it fails."""
    run = run_once(contender, folder)
    if run is None:
        return None
    size = (folder / contender.output).stat().st_size
    return Run(run.seconds, run.processor_seconds / run.seconds, run.peak_bytes, size)


def limit_of(case, contender):
    """The accepted difference. sepconv's pixels must be exact except after JPEG compression. Other programs
    round differently, which JPEG amplifies, and may decode JPEG differently."""
    truth = "filtered.tif" if contender.filtered else "plain.tif"
    is_sepconv = contender.peer == "sepconv"
    if case.result_codec == "jpeg":
        loss = 2 if contender.filtered else 6
        return (
            Limit(truth, 255, loss)
            if is_sepconv
            else Limit(contender.output.replace(contender.peer, "sepconv"), 255, 1.5)
        )
    if case.source_codec == "jpeg" and not is_sepconv:
        return Limit(truth, 255, JPEG_MEAN)
    return Limit(truth, ROUNDING[contender.peer] if contender.filtered else 0, MEAN)


def difference(folder, program, one, other):
    done = subprocess.run(
        [program, "compare", one, other, "--tolerance", "255", "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        return None
    found = json.loads(done.stdout)
    return Difference(found["max_difference"], found["mean_difference"])


def difference_error(folder, program, one, limit):
    """A description of the error of a result; None if it is within the limit."""
    found = difference(folder, program, one, limit.reference)
    if found is None:
        return f"{one} cannot be compared with {limit.reference}"
    if found.greatest > limit.greatest or found.mean > limit.mean:
        return (
            f"{one} is {found.greatest:g} at most and {found.mean:.3g} on average from {limit.reference}, "
            f"allowed {limit.greatest} and {limit.mean}"
        )
    return None


def difference_errors(folder, program, peers, case, everyone):
    """Compares all results with sepconv's, and sepconv's compressed results as decoded by the last other
    program (GDAL, which supports every codec). Returns descriptions of the errors."""
    found = [
        difference_error(folder, program, contender.output, limit_of(case, contender))
        for contender in everyone
    ]
    decoder_command = next(
        (command for name, (command, _) in reversed(peers.items()) if name != "sepconv"), None
    )
    for contender in everyone:
        if decoder_command and contender.peer == "sepconv" and case.result_codec != "none":
            read = decoder_command(contender.output, "witness.tif", "none", False)
            subprocess.run(
                read, cwd=folder, stdout=subprocess.DEVNULL
            )  # if it fails, the file does not exist
            limit = (
                Limit(contender.output, 255, JPEG_MEAN)
                if case.result_codec == "jpeg"
                else Limit(contender.output, 0, 0)
            )
            found.append(difference_error(folder, program, "witness.tif", limit))
            (folder / "witness.tif").unlink(missing_ok=True)
    return [words for words in found if words]


def run_case(folder, case, peers, arguments):
    """The runs of every contender that supports the case, descriptions of errors, and the names of failed
    contenders."""
    program = arguments.sepconv
    prepare(folder, case, arguments.size, integer_taps(arguments.radius), program)
    everyone = contenders(peers, case)
    working = [
        contender for contender in everyone if measured(contender, folder)
    ]  # warm-up: page cache, clocks, results to compare
    failed = [contender.name for contender in everyone if contender not in working]
    if any(name.startswith("sepconv") for name in failed):
        raise SystemExit(f"{case.title}: sepconv failed")
    wrong = difference_errors(folder, program, peers, case, working)
    for contender in working:
        (folder / contender.output).unlink()
    os.sync()  # otherwise the disk would be written during the runs
    results = [(contender, []) for contender in working]
    for _ in range(arguments.runs):  # in rotation, so that drift of the machine affects all equally
        for contender, runs in results:
            run = measured(contender, folder)
            if run is None:
                raise SystemExit(f"{case.title}: {contender.name} failed in a later run")
            runs.append(run)
            (folder / contender.output).unlink()
    return results, wrong, failed


def median(runs, field):
    return statistics.median(getattr(run, field) for run in runs)


def head_of(everyone, arguments):
    versions = ", ".join(version for _, version in everyone.values())
    return (
        f"{datetime.date.today()}, {cpu_name()}, load {os.getloadavg()[0]:.1f} before, {versions}: "
        f"{arguments.size} x {arguments.size} u8, tiles of {TILE}, radius {arguments.radius}, {arguments.runs} runs in turns; "
        f"deflate 6, zstd 9, lzw: grey, horizontal predictor; jpeg: RGB as YCbCr 4:2:0 of quality {QUALITY}."
    )


def print_table_head(title):
    print(
        f"\n{title}:\n\n| codec | program | median s | least to greatest s | Mpix/s | processors busy | peak RSS MiB | result MB "
        "| sepconv is faster by |\n|---|---|---|---|---|---|---|---|---|",
        flush=True,
    )


def print_rows(case, results, pixels):
    ours = {
        contender.filtered: median(runs, "seconds")
        for contender, runs in results
        if contender.peer == "sepconv"
    }
    for contender, runs in results:
        seconds = [run.seconds for run in runs]
        middle = statistics.median(seconds)
        peak = max(run.peak_bytes for run in runs) / (1 << 20)
        faster = "" if contender.peer == "sepconv" else f"{middle / ours[contender.filtered]:.1f}"
        print(
            f"| {case.title} | {contender.name} | {middle:.2f} | {min(seconds):.2f} to {max(seconds):.2f} | {pixels / middle / 1e6:.0f} "
            f"| {median(runs, 'processors'):.2f} | {peak:.0f} | {runs[-1].output_bytes / 1e6:.1f} | {faster} |",
            flush=True,
        )


def print_short(table, pixels):
    """Prints Mpix/s and busy processors of the filters: a row per program, a column per codec and
    direction."""
    columns = list(dict.fromkeys(column for column, _ in table))
    print(f"\n| Mpix/s (processors busy) | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    for peer in dict.fromkeys(peer for _, peer in table):
        cells = [table.get((column, peer)) for column in columns]
        words = [
            f"{pixels / median(runs, 'seconds') / 1e6:.0f} ({median(runs, 'processors'):.1f})" if runs else ""
            for runs in cells
        ]
        print(f"| {peer} | {' | '.join(words)} |")


def main():
    everything = (*LOSSLESS, "jpeg")
    parser = file_options(__doc__, runs=3)
    parser.add_argument("--codecs", type=words(everything), default=",".join(everything))
    arguments = parser.parse_args()
    arguments.sepconv = arguments.sepconv.resolve()
    os.environ.update(VIPS_CONCURRENCY=str(len(os.sched_getaffinity(0))), GDAL_NUM_THREADS="ALL_CPUS")

    peers, missing = find_peers(arguments.sepconv)
    head = head_of(peers, arguments)
    print(head, flush=True)
    notes = [f"Left out, not installed: {name}" for name in missing]
    faults, short = [], {}
    unsupported = collections.defaultdict(
        set
    )  # peers that cannot write a codec do not have to read it: libvips would return invented pixels
    titles = ("Uncompressed in, filtered and compressed out", "Compressed in, filtered and uncompressed out")
    for title, group in zip(titles, cases(arguments.codecs)):
        print_table_head(title)
        for case in group:
            with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
                working = {
                    peer: command for peer, command in peers.items() if peer not in unsupported[case.title]
                }
                results, wrong, failed = run_case(pathlib.Path(name), case, working, arguments)
            print_rows(case, results, arguments.size**2)
            column = f"{case.title} {'in' if case.result_codec == 'none' else 'out'}"
            short.update(
                {(column, contender.peer): runs for contender, runs in results if contender.filtered}
            )
            notes += [
                f"Left out, cannot write it: {peer} ({title}, {case.title})"
                for peer in peers
                if peer in unsupported[case.title]
            ]
            notes += [f"Left out, failed: {name} ({title}, {case.title})" for name in failed]
            unsupported[case.title].update(name.partition(",")[0] for name in failed)
            faults += [f"WRONG ({title}, {case.title}): {words}" for words in wrong]
    with block("codecs"):
        print(head)
        print_short(short, arguments.size**2)
    print("\n" + "\n".join([*notes, *(faults or ["All results agree."])]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
