"""Results in several runs with source, result and stage files in various locations, and with files from other
sources between them."""

import os
import shutil
import subprocess

import numpy as np
import pytest

from conftest import BINARY
from cli_support import fails, image, listing, one_sentence
from test_resume import begin, content, kill_when, records, run_identifier

CHAIN = ["gaussian:sigma=3", "--band-rows", "16"]


@pytest.mark.parametrize("place", ["in.zarr/new.zarr", "in.zarr/new.tif", "in.zarr/labels/new.zarr"])
def test_a_result_within_its_source_is_gone_on_with_and_finished(sepconv, place):
    """The source's folder changes, but nothing that belongs to the source."""
    np.save(sepconv.folder / "in.npy", image(1500, 1400))
    sepconv("run", "in.npy", "in.zarr", "--chunk", "256", "--quiet")
    (sepconv.folder / place).parent.mkdir(exist_ok=True)
    out, partial = sepconv.folder / place, sepconv.folder / f"{place}.partial"
    sepconv("run", "in.zarr", f"whole{out.suffix}", *CHAIN, "--quiet")
    expected = content(sepconv.folder / f"whole{out.suffix}")
    kill_when(begin(sepconv, "in.zarr", place, *CHAIN, "--resume"), lambda: records(partial))
    if not out.exists():
        sepconv("run", "in.zarr", place, *CHAIN, "--resume", "--quiet")
    assert content(out) == expected and not partial.exists()
    (shutil.rmtree if out.is_dir() else os.unlink)(out)
    sepconv("run", "in.zarr", place, *CHAIN, "--create-only", "--quiet")
    for k in "12":
        sepconv("run", "in.zarr", place, CHAIN[0], "--part", f"{k}/2", "--quiet")
    sepconv("finish", place, "--quiet")
    assert content(out) == expected and not partial.exists()


@pytest.mark.parametrize(
    "stage",
    ["subtract:file=dark.npy", "convolve:file=taps.txt", "subtract:chain=[convolve:file=taps.txt | abs]"],
)
def test_finish_finds_the_files_of_stages_from_another_folder(sepconv, stage):
    np.save(sepconv.folder / "in.npy", image(300, 200))
    np.save(sepconv.folder / "dark.npy", image(300, 200, seed=3))
    (sepconv.folder / "taps.txt").write_text("1 2 1\n")
    elsewhere = sepconv.folder / "elsewhere"
    elsewhere.mkdir()
    sepconv("run", "in.npy", "whole.npy", stage, "--quiet")
    sepconv("run", "in.npy", "elsewhere/out.npy", stage, "--band-rows", "16", "--create-only", "--quiet")
    for k in "12":
        sepconv("run", "in.npy", "elsewhere/out.npy", stage, "--part", f"{k}/2", "--quiet")
    np.save(elsewhere / "dark.npy", image(300, 200, seed=4))
    (elsewhere / "taps.txt").write_text("1 5 1\n")
    other = subprocess.run(
        [BINARY, "run", "../in.npy", "out.npy", stage, "--part", "1/2"],
        cwd=elsewhere,
        capture_output=True,
        text=True,
    )
    assert other.returncode == 2 and "another" in one_sentence(other.stderr)
    subprocess.run([BINARY, "finish", "out.npy"], cwd=elsewhere, check=True)
    assert content(elsewhere / "out.npy") == content(sepconv.folder / "whole.npy")


def test_parts_do_not_look_at_all_names_of_a_second_image(sepconv):
    np.save(sepconv.folder / "in.npy", image(300, 200))
    sepconv("run", "in.npy", "dark.zarr", "--chunk", "64", "--quiet")
    job = ["in.npy", "out.npy", "subtract:file=dark.zarr"]
    sepconv("run", *job, "--band-rows", "16", "--create-only", "--quiet")
    (sepconv.folder / "dark.zarr/more").write_text("x")
    sepconv("run", *job, "--part", "1/1", "--quiet")
    assert "another file of a stage" in one_sentence(sepconv("finish", "out.npy", status=2).stderr)
    (sepconv.folder / "dark.zarr/more").unlink()
    sepconv("finish", "out.npy", "--quiet")


def test_another_source_than_that_of_the_beginning_is_none_of_a_part(sepconv):
    np.save(sepconv.folder / "in.npy", image(300, 200))
    np.save(sepconv.folder / "other.npy", image(300, 200, seed=9))
    for name in "in", "other":
        sepconv("run", f"{name}.npy", f"{name}.zarr", "--chunk", "64", "--quiet")
    sepconv("run", "in.zarr", "out.npy", *CHAIN, "--create-only", "--quiet")
    message = fails(sepconv, "run", "other.zarr", "out.npy", CHAIN[0], "--part", "1/2", status=2)
    assert "another source" in message


@pytest.mark.parametrize("options", [["--resume"], ["--create-only"]])
def test_nothing_is_given_up_for_what_is_not_made_in_several_runs(sepconv, options):
    np.save(sepconv.folder / "in.npy", image(300, 200))
    sepconv("run", "in.npy", "out.tif", *CHAIN, "--create-only", "--quiet")
    sepconv("run", "in.npy", "out.tif", CHAIN[0], "--part", "1/2", "--quiet")
    before = content(sepconv.folder / "out.tif.partial")
    message = fails(
        sepconv,
        "run",
        "in.npy",
        "out.tif",
        *CHAIN,
        "--cog",
        "--compress",
        "zstd",
        "--discard",
        *options,
        status=2,
    )
    assert (
        "cannot be made in several runs" in message and content(sepconv.folder / "out.tif.partial") == before
    )
    sepconv("run", "in.npy", "out.tif", *CHAIN, "--discard", *options, "--quiet")
    assert (
        content(sepconv.folder / "out.tif.partial") != before
        if options == ["--create-only"]
        else (sepconv.folder / "out.tif").exists()
    )


@pytest.mark.parametrize("made", ["fifo", "link", "folder"])
def test_what_is_no_record_of_a_part_is_none(sepconv, made):
    """finish does not wait for a pipe and does not follow links."""
    np.save(sepconv.folder / "in.npy", image(300, 200))
    sepconv("run", "in.npy", "out.npy", *CHAIN, "--create-only", "--quiet")
    for k in "12":
        sepconv("run", "in.npy", "out.npy", CHAIN[0], "--part", f"{k}/2", "--quiet")
    partial = sepconv.folder / "out.npy.partial"
    [first, _] = sorted(partial.glob(f"part-{run_identifier(partial)}-*"))
    kept = first.rename(sepconv.folder / "kept")
    if made == "link":
        first.symlink_to(kept)
    else:
        (os.mkfifo if made == "fifo" else os.mkdir)(first)
    messages = subprocess.run(
        [BINARY, "finish", "out.npy"], cwd=sepconv.folder, capture_output=True, text=True, timeout=60
    )
    assert messages.returncode == 1 and "missing or were changed" in one_sentence(messages.stderr)
    first.rmdir() if made == "folder" else first.unlink()
    kept.rename(first)
    sepconv("finish", "out.npy", "--quiet")
    assert listing(sepconv.folder) == ["in.npy", "out.npy"]


def test_what_another_run_of_that_name_has_left_is_none_of_this_one(sepconv):
    """As if it was running on another machine when this one started."""
    np.save(sepconv.folder / "in.npy", image(300, 200))
    partial = sepconv.folder / "out.npy.partial"
    sepconv("run", "in.npy", "out.npy", "gaussian:sigma=5", "--band-rows", "16", "--create-only", "--quiet")
    for k in "12":
        sepconv("run", "in.npy", "out.npy", "gaussian:sigma=5", "--part", f"{k}/2", "--quiet")
    left = {path.name: path.read_bytes() for path in partial.iterdir() if path.name != "journal"}
    sepconv("run", "in.npy", "out.npy", *CHAIN, "--create-only", "--discard", "--quiet")
    for name, data in left.items():
        (partial / name).write_bytes(data)
    assert "are missing" in one_sentence(sepconv("finish", "out.npy", status=1).stderr)
    for k in "12":
        sepconv("run", "in.npy", "out.npy", CHAIN[0], "--part", f"{k}/2", "--quiet")
    for name, data in left.items():
        (partial / name).write_bytes(data)
    sepconv("finish", "out.npy", "--quiet")
    sepconv("run", "in.npy", "whole.npy", CHAIN[0], "--quiet")
    assert (
        content(sepconv.folder / "out.npy") == content(sepconv.folder / "whole.npy") and not partial.exists()
    )
