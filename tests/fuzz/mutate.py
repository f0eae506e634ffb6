#!/usr/bin/env python3
"""Damages small valid files by seed, runs sepconv and the reference programs of the formats on them, and
reports violated requirements.

mutate.py BINARY --count N | --seconds S [--seed SEED] [--only INDEX] [--findings FOLDER]
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import tempfile
import time

import reference_decoders
import make_seeds
import mutations
import check_one

BATCH = 25


def mutant_name(seed_name):
    return "mutant." + seed_name.rpartition(".")[2]


def make_mutant(seeds, seed, index):
    """The name, bytes and description of a damaged file, determined by the arguments alone."""
    random_source = random.Random(f"{seed} {index}")
    endings = sorted({name.rpartition(".")[2] for name, _ in seeds})
    ending = random_source.choice(["tif"] * len(endings) + endings)  # half of all are TIFF
    name, valid = random_source.choice([pair for pair in seeds if pair[0].endswith("." + ending)])
    data, changes = mutations.mutant(random_source, ending, valid)
    return mutant_name(name), data, f"{name}: {', '.join(changes)}"


def examine(binary, name, data):
    """Returns (whether sepconv filtered it, complaints)."""
    with tempfile.TemporaryDirectory(prefix="sepconv-mutant-") as folder:
        pathlib.Path(folder, name).write_bytes(data)
        result = check_one.Trial(binary, folder, name)
        refused = reference_decoders.refusal(folder, name) if result.accepted else None
        if refused is not None:
            judge, why = refused
            result.complain(f"reads what {judge} refuses: {without_numbers(why)}", why)
        elif pathlib.Path(folder, reference_decoders.TIFF_COPY).exists():
            result.check_copy(reference_decoders.TIFF_COPY)
        return result.accepted, result.complaints


def examine_batch(binary, seeds, seed, indices):
    findings, accepted = [], 0
    for index in indices:
        name, data, origin = make_mutant(seeds, seed, index)
        good, complaints = examine(binary, name, data)
        accepted += good
        findings += [(index, name, data, origin, complaint) for complaint in complaints]
    return len(indices), accepted, findings


def batches(options):
    """Yields batches of indices: a single one, a given number, or until the time is over."""
    if options.only is not None:
        yield [options.only]
        return
    end = time.monotonic() + options.seconds if options.seconds else None
    index = 0
    while time.monotonic() < end if end else index < options.count:
        stop = index + BATCH if end else min(index + BATCH, options.count)
        yield range(index, stop)
        index = stop


def run(options):
    """Returns (mutants, how many of them sepconv filtered, findings)."""
    seeds = make_seeds.image_seeds()
    tried = accepted = 0
    findings = []
    workers = os.cpu_count()
    with check_one.small_processes(workers) as pool:
        pending = set()
        source = batches(options)
        while True:
            while len(pending) < workers and (indices := next(source, None)):
                pending.add(pool.submit(examine_batch, options.binary, seeds, options.seed, indices))
            if not pending:
                return tried, accepted, sorted(findings)
            done, pending = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for batch in done:
                counts = batch.result()
                tried, accepted, findings = tried + counts[0], accepted + counts[1], findings + counts[2]


def without_numbers(text):
    return re.sub(r"0x[0-9a-f]+|[0-9]+", "#", text)


def report(options, findings):
    """Prints a paragraph per kind of finding, the most frequent first, and saves the smallest file of
    each."""
    kinds = collections.defaultdict(list)
    for finding in findings:
        kinds[finding[1].rpartition(".")[2], finding[4][0]].append(finding)
    for (ending, kind), group in sorted(kinds.items(), key=lambda item: -len(item[1])):
        index, _, data, origin, (_, details) = min(group, key=lambda finding: len(finding[2]))
        kept = pathlib.Path(options.findings, f"{options.seed}-{index}.{ending}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(data)
        print(
            f"{ending}: {kind} ({len({finding[0] for finding in group})} files)\n    {kept} ({origin})\n    {details.strip()!r}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--findings", default="build/fuzz/findings")
    options = parser.parse_args()
    tried, accepted, findings = run(options)
    report(options, findings)
    print(
        f"{tried} mutants of seed {options.seed}: {accepted} filtered, {tried - accepted} refused, {len(findings)} findings"
    )
    return bool(findings)


if __name__ == "__main__":
    raise SystemExit(main())
