#!/usr/bin/env python3
"""Writes the handwritten digits that scikit-learn's package carries as the four IDX files of which MNIST
consists, for example_mlp.

    docs/examples/digits_to_idx.py FOLDER

1797 images of 8 x 8 pixels, a fifth of them held out (t10k-*). They are shuffled by a fixed seed, so the
files are the same everywhere. Needs the package (python3-sklearn, or scikit-learn from PyPI) for its data
only, and nothing but Python's standard library."""

import argparse
import csv
import gzip
import importlib.util
import pathlib
import random
import struct
import sys

SIDE = 8
WHITE = 16  # maximum value of the package's data; MNIST's is 255
# also searched by a Python other than Debian's
DEBIAN = pathlib.Path("/usr/lib/python3/dist-packages/sklearn")


def package_csv():
    """The path of the package's file. Raises ValueError if it does not exist."""
    spec = importlib.util.find_spec("sklearn")
    folders = [pathlib.Path(folder) for folder in spec.submodule_search_locations or []] if spec else []
    for folder in [*folders, DEBIAN]:
        if (folder / "datasets/data/digits.csv.gz").is_file():
            return folder / "datasets/data/digits.csv.gz"
    raise ValueError(
        "scikit-learn's package is not there; install python3-sklearn, or say where its digits.csv.gz is with --csv"
    )


def read_digits(path):
    """[(pixels, label)]: each line of the file contains the pixels, row by row, and the digit. Raises
    ValueError if the file is damaged."""
    try:
        with gzip.open(path, "rt", encoding="ascii", newline="") as file:
            lines = [[int(float(text)) for text in line] for line in csv.reader(file)]
    except (EOFError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    for number, line in enumerate(lines, 1):
        if len(line) != SIDE * SIDE + 1 or not all(0 <= value <= WHITE for value in line) or line[-1] > 9:
            raise ValueError(
                f"{path} is damaged: line {number} is not {SIDE * SIDE} values from 0 to {WHITE} and a digit"
            )
    return [(line[:-1], line[-1]) for line in lines]


def write_idx(folder, name, digits):
    """Writes NAME-images-idx3-ubyte and NAME-labels-idx1-ubyte: a magic number and the sizes, big-endian,
    then one byte per element."""
    images = bytes(round(value * 255 / WHITE) for pixels, _ in digits for value in pixels)
    (folder / f"{name}-images-idx3-ubyte").write_bytes(
        struct.pack(">4I", 0x803, len(digits), SIDE, SIDE) + images
    )
    (folder / f"{name}-labels-idx1-ubyte").write_bytes(
        struct.pack(">2I", 0x801, len(digits)) + bytes(label for _, label in digits)
    )


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", type=pathlib.Path, metavar="FOLDER", help="where the files go; made if it is not there"
    )
    parser.add_argument(
        "--csv",
        type=pathlib.Path,
        metavar="FILE",
        help="the package's digits.csv.gz (looked for where packages are)",
    )
    options = parser.parse_args(arguments)
    try:
        digits = read_digits(options.csv or package_csv())
        random.Random(1).shuffle(digits)
        held_out = len(digits) // 5
        options.folder.mkdir(parents=True, exist_ok=True)
        write_idx(options.folder, "t10k", digits[:held_out])
        write_idx(options.folder, "train", digits[held_out:])
    except (OSError, ValueError) as error:
        print(f"digits_to_idx.py: {error}", file=sys.stderr)
        return 1
    print(f"{len(digits) - held_out} images to learn from, {held_out} held out, in {options.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
