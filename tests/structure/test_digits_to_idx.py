"""docs/examples/digits_to_idx.py on a generated file in scikit-learn's format: the IDX files contain every
digit."""

import gzip
import pathlib
import struct
import subprocess
import sys

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "docs/examples/digits_to_idx.py"


def run(*arguments):
    return subprocess.run([sys.executable, TOOL, *map(str, arguments)], capture_output=True, text=True)


def line(number):
    """A digit that is identified by its number in its first two pixels."""
    return [number // 17, number % 17, *[16] * 62, number % 10]


def write_csv(path, lines):
    path.write_bytes(gzip.compress("".join(",".join(map(str, values)) + "\n" for values in lines).encode()))
    return path


def read_idx(folder, name):
    images, labels = (
        (folder / f"{name}-images-idx3-ubyte").read_bytes(),
        (folder / f"{name}-labels-idx1-ubyte").read_bytes(),
    )
    magic, count, rows, cols = struct.unpack(">4I", images[:16])
    assert (magic, rows, cols) == (0x803, 8, 8) and len(images) == 16 + count * 64
    assert struct.unpack(">2I", labels[:8]) == (0x801, count) and len(labels) == 8 + count
    return [(images[16 + 64 * i : 80 + 64 * i], labels[8 + i]) for i in range(count)]


def test_every_digit_is_in_one_of_the_parts(tmp_path):
    source = write_csv(tmp_path / "digits.csv.gz", [line(i) for i in range(101)])
    process = run(tmp_path / "made/here", "--csv", source)
    assert process.returncode == 0 and "81 images to learn from, 20 held out" in process.stdout
    train, held_out = read_idx(tmp_path / "made/here", "train"), read_idx(tmp_path / "made/here", "t10k")
    assert (len(train), len(held_out)) == (81, 20)
    numbers = []
    for pixels, label in train + held_out:
        assert pixels[2:] == bytes([255] * 62)  # 16 is white
        numbers.append(round(pixels[0] * 16 / 255) * 17 + round(pixels[1] * 16 / 255))
        assert label == numbers[-1] % 10
    assert sorted(numbers) == list(range(101)) and numbers != sorted(numbers)


def test_the_same_files_every_time(tmp_path):
    source = write_csv(tmp_path / "digits.csv.gz", [line(i) for i in range(50)])
    for folder in ("a", "b"):
        assert run(tmp_path / folder, "--csv", source).returncode == 0
    for name in (
        "train-images-idx3-ubyte",
        "train-labels-idx1-ubyte",
        "t10k-images-idx3-ubyte",
        "t10k-labels-idx1-ubyte",
    ):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize(
    "values", [line(3)[:-1], [*line(3)[:-1], 10], [17, *line(3)[1:]], [-1, *line(3)[1:]], ["x", *line(3)[1:]]]
)
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, values):
    process = run(tmp_path / "out", "--csv", write_csv(tmp_path / "bad.csv.gz", [line(1), values]))
    assert (
        process.returncode == 1
        and "bad.csv.gz is damaged" in process.stderr
        and len(process.stderr.splitlines()) == 1
    )
    assert not (tmp_path / "out").exists()


def test_truncated_and_missing_files_are_refused_in_one_sentence(tmp_path):
    source = write_csv(tmp_path / "cut.csv.gz", [line(i) for i in range(50)])
    source.write_bytes(source.read_bytes()[:-20])
    for path in (source, tmp_path / "none.csv.gz", TOOL):
        process = run(tmp_path / "out", "--csv", path)
        assert (
            process.returncode == 1 and path.name in process.stderr and len(process.stderr.splitlines()) == 1
        )
