"""Several images into a folder: `run IN... -o DIR STAGE...`. Names are kept, a failure does not stop the
others, and conflicts are refused before anything is read."""

import json
import os
import re
import signal
import subprocess

import numpy as np
import pytest
import tifffile

from conftest import BINARY
from cli_support import fails, image, listing

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130
BLUR = "gaussian:sigma=2"


@pytest.fixture
def images(sepconv):
    for name, rows in (("a", 40), ("b", 50), ("c", 60)):
        tifffile.imwrite(sepconv.folder / f"{name}.tif", image(rows=rows, cols=70, seed=rows))
    return ["a.tif", "b.tif", "c.tif"]


def test_each_is_what_a_run_of_its_own_makes(sepconv, images):
    process = sepconv("run", *images, "-o", "out/", BLUR, "transpose")
    assert process.stdout == ""
    rows = [line.split() for line in process.stderr.splitlines()]
    assert [row[0] for row in rows[:3]] == [f"out/{name}" for name in images] and rows[0][1:4] == [
        "40",
        "x",
        "70",
    ]
    assert process.stderr.splitlines()[-1].startswith("3 of 3 images made in ")
    for name in images:
        sepconv("run", name, "one.tif", BLUR, "transpose", "--force")
        assert (sepconv.folder / "out" / name).read_bytes() == (sepconv.folder / "one.tif").read_bytes()


@pytest.mark.parametrize(
    "words, stages",
    [
        (["a.tif", "b.tif", "-o", "out"], []),
        (["a.tif", "b.tif", "--output-dir", "out", BLUR], [BLUR]),
        (["a.tif", "--threads", "1", "b.tif", "-o", "out", BLUR, "-q", "abs"], [BLUR, "abs"]),
        (["a.tif", "b.tif", "-oout", "abs"], ["abs"]),
        (["--", "a.tif", "b.tif"], None),
        (["a.tif", "b.tif", "--output-dir=out", "abs", "--slots", "1"], ["abs"]),
    ],
    ids=lambda value: " ".join(value or []),
)
def test_the_option_parts_images_from_stages(sepconv, images, words, stages):
    if stages is None:  # without it the second word is OUT, as usual
        assert "b.tif: it exists already" in fails(sepconv, "run", *words, status=FAILED)
        return
    sepconv("run", *words)
    assert listing(sepconv.folder / "out") == ["a.tif", "b.tif"]
    sepconv("run", "b.tif", "one.tif", *stages)
    assert (sepconv.folder / "out/b.tif").read_bytes() == (sepconv.folder / "one.tif").read_bytes()


def test_an_image_may_be_called_like_a_stage(sepconv):
    np.save(sepconv.folder / "abs.npy", image())
    (sepconv.folder / "abs.npy").rename(sepconv.folder / "abs")
    sepconv("run", "abs", "-o", "out", "abs", "--format", "npy")
    assert listing(sepconv.folder / "out") == ["abs.npy"]


def test_one_failure_does_not_stop_the_rest(sepconv, images):
    (sepconv.folder / "b.tif").write_bytes(b"II*\0damaged")
    process = sepconv("run", "a.tif", "b.tif", "missing.tif", "c.tif", "-o", "out", BLUR, status=FAILED)
    assert listing(sepconv.folder / "out") == ["a.tif", "c.tif"]
    assert [line.split(" ")[0] for line in process.stderr.splitlines()[:2]] == ["sepconv:", "sepconv:"]
    assert re.findall(r"out/(\S+)  +failed", process.stderr) == ["b.tif", "missing.tif"]
    assert "2 of 4 images made in" in process.stderr and process.stderr.endswith("2 failed\n")
    quiet = sepconv("run", "a.tif", "b.tif", "-o", "out", "-q", "--force", status=FAILED)
    assert quiet.stderr.startswith("sepconv: b.tif: holds no image") and quiet.stderr.count("\n") == 1
    repeated = sepconv(
        "run", "a.tif", "c.tif", "-o", "out", status=FAILED
    ).stderr  # existing results are kept
    assert repeated.count("exists already") == 2 and "--force" in repeated


def test_the_folder_is_named_once(sepconv, images):
    process = sepconv("run", "a.tif", "-o", "x", BLUR, "-o", "y", status=WRONG_USAGE)
    assert "stands twice" in process.stderr and not {"x", "y"} & set(listing(sepconv.folder))


def test_reports_as_json(sepconv, images):
    (sepconv.folder / "b.tif").write_bytes(b"")
    process = sepconv("run", *images, "-o", "out", BLUR, "--json", status=FAILED)
    first, second, third = json.loads(process.stdout)
    assert (first["input"], first["output"], third["output"]) == ("a.tif", "out/a.tif", "out/c.tif")
    assert first["report"]["plan"]["bands"] >= 1 and "error" not in first
    assert "b.tif" in second["error"] and "report" not in second
    assert process.stderr.count("\n") == 1 and process.stderr.startswith("sepconv: ")


def test_another_format(sepconv, images):
    sepconv("run", *images, "-o", "out", "cast:type=f32", "--format", "npy")
    assert listing(sepconv.folder / "out") == ["a.npy", "b.npy", "c.npy"]
    assert np.load(sepconv.folder / "out/a.npy").dtype == np.float32
    sepconv("run", "a.tif", "-o", "out", "--format", "zarr")
    sepconv("run", "out/a.zarr/", "-o", "again", "--format", "tif")
    sepconv("compare", "again/a.tif", "a.tif")


def test_what_clashes_is_refused_before_anything_is_read(sepconv, images):
    (sepconv.folder / "sub").mkdir()
    (sepconv.folder / "sub/a.tif").write_bytes((sepconv.folder / "a.tif").read_bytes())
    (sepconv.folder / "a.npy").write_bytes(b"not read")
    (sepconv.folder / "linked").mkdir()
    (sepconv.folder / "linked/b.tif").symlink_to("../c.tif")
    (sepconv.folder / "hard").mkdir()
    (sepconv.folder / "hard/a.tif").hardlink_to(sepconv.folder / "c.tif")
    for words, said in (
        (["a.tif", "sub/a.tif", "-o", "out"], "both become out/a.tif"),
        (["a.tif", "a.tif", "-o", "out"], "both become"),
        (["a.tif", "a.npy", "-o", "out", "--format", "png"], "both become out/a.png"),
        (["a.tif", "b.tif", "-o", "."], "overwrite the input a.tif"),
        (["sub/a.tif", "a.tif", "-o", "sub"], "both become"),
        (["b.tif", "c.tif", "-o", "linked"], "overwrite the input c.tif"),
        (["a.tif", "c.tif", "-o", "hard"], "overwrite the input c.tif"),
    ):
        assert said in fails(sepconv, "run", *words, "--force", status=WRONG_USAGE), words


def test_a_folder_that_holds_an_input_is_not_replaced(sepconv, images):
    sepconv("run", "a.tif", "in.zarr")
    inner = sepconv.folder / "out/in.zarr"
    inner.mkdir(parents=True)
    (sepconv.folder / "a.tif").rename(inner / "a.tif")
    assert "overwrite the input" in fails(
        sepconv, "run", "in.zarr", "out/in.zarr/a.tif", "-o", "out", "--force", status=WRONG_USAGE
    )


@pytest.mark.parametrize(
    "words, said",
    [
        (["-o", "out", "a.tif"], "images before it"),
        (["a.tif", "-o", "out.tif"], "out.tif/"),
        (["a.tif", "-o", "b.tif"], "it is a file"),
        (["a.tif", "-o", ""], "-o has no value"),
        (["a.tif", "-o", "out", "gauss"], "gauss"),
        (["-", "-o", "out"], "-"),
        (["a.tif", "out.tif", "--format", "npy"], "--output-dir"),
        (["a.tif", "-o", "out", "--format", "doc"], "not one of tif, npy"),
        *(
            (["a.tif", "-o", "out", option, *value], "--output-dir")
            for option, *value in (
                ["--trace", "t"],
                ["--report", "r"],
                ["--stats", "s"],
                ["--plan", "p"],
                ["-n"],
                ["--resume"],
                ["--part", "1/2"],
                ["--reference"],
                ["--create-only"],
            )
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_does_not_go_together(sepconv, images, words, said):
    found = fails(sepconv, "run", *words, status=WRONG_USAGE)
    assert said in found and any(mark in found for mark in (";", "--help", ": use "))


def test_a_folder_that_cannot_be_made(sepconv, images):
    assert "nowhere/out" in fails(sepconv, "run", "a.tif", "-o", "nowhere/out", status=FAILED)
    (sepconv.folder / "a.tif").write_bytes(b"")
    sepconv("run", "a.tif", "-o", "out", status=FAILED)
    assert listing(sepconv.folder) == ["a.tif", "b.tif", "c.tif"]  # created unnecessarily, therefore removed


def test_a_stop_ends_all_and_says_what_is_made(sepconv, images):
    with open(sepconv.folder / "big.raw", "wb") as big:
        big.truncate(60000 * 60000)
    run = subprocess.Popen(
        [
            BINARY,
            "run",
            "a.tif",
            "big.raw",
            "b.tif",
            "-o",
            "out",
            "gaussian:sigma=20",
            "--raw",
            "60000x60000:u8",
            "--json",
        ],
        cwd=sepconv.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # ignored if these tests run in the background
    assert (
        "a.tif" in run.stderr.readline()
    )  # too small for its raw shape, reported before the next one starts
    run.send_signal(signal.SIGINT)
    stdout, stderr = run.communicate()
    assert run.returncode == INTERRUPTED and "0 of 3 images made" in stderr
    assert [list(item)[2:] for item in json.loads(stdout)] == [["error"], [], []]
    assert not os.path.exists(sepconv.folder / "out")
