#!/usr/bin/env python3
"""Damages small valid files by seed, gives them to sepconv and to their formats' own programs, and says where
a promise broke.

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
    """Its file name and bytes, which depend on nothing but these arguments."""
    dice = random.Random(f"{seed} {index}")
    endings = sorted({name.rpartition(".")[2] for name, _ in seeds})
    ending = dice.choice(["tif"] * len(endings) + endings)  # half of all are TIFF
    name, valid = dice.choice([pair for pair in seeds if pair[0].endswith("." + ending)])
    data, changes = mutations.mutant(dice, ending, valid)
    return mutant_name(name), data, f"{name}: {', '.join(changes)}"


def examine(binary, name, data):
    """(whether sepconv filtered it, complaints)"""
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
    """Of indices: one, as many as were asked for, or on until the time is over."""
    if options.only is not None:
        yield [options.only]
        return
    end = time.monotonic() + options.seconds if options.seconds else None
    index = 0
    while time.monotonic() < end if end else index < options.count:
        last = index + BATCH if end else min(index + BATCH, options.count)
        yield range(index, last)
        index = last


def run(options):
    """(mutants, how many of them sepconv filtered, findings)"""
    seeds = make_seeds.image_seeds()
    tried = accepted = 0
    findings = []
    workers = os.cpu_count()
    with check_one.small_processes(workers) as pool:
        waiting = set()
        source = batches(options)
        while True:
            while len(waiting) < workers and (indices := next(source, None)):
                waiting.add(pool.submit(examine_batch, options.binary, seeds, options.seed, indices))
            if not waiting:
                return tried, accepted, sorted(findings)
            done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for batch in done:
                counts = batch.result()
                tried, accepted, findings = tried + counts[0], accepted + counts[1], findings + counts[2]


def without_numbers(text):
    return re.sub(r"0x[0-9a-f]+|[0-9]+", "#", text)


def report(options, findings):
    """A paragraph each kind of finding, the most frequent first; the smallest file of each is kept."""
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
