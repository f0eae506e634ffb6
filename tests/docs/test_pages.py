"""The pages of docs/start do what they say, and README's first picture is what its first commands make."""

import io
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import skimage.data
import tifffile
from PIL import Image

from conftest import BINARY, ROOT

sys.path.insert(0, str(ROOT / "docs/tools"))
from run_page import BLOCK, run_page  # noqa: E402

PAGES = sorted((ROOT / "docs/start").glob("*.md"))
PICTURE = ROOT / "docs/images/first.jpg"


@pytest.fixture(autouse=True)
def with_the_program(monkeypatch):
    monkeypatch.setenv("SEPCONV_BINARY", str(BINARY))
    monkeypatch.setenv("PATH", f"{ROOT / 'tests/docs/bin'}:{os.environ['PATH']}")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.stem not in ("python", "cpp")], ids=lambda page: page.stem
)
def test_a_page_does_what_it_says(page, tmp_path):
    """Those of Python and C++ are run where these are installed: tests/python/test_document.py,
    tests/consumer/run.sh."""
    text = page.read_text()
    said = run_page(text, tmp_path)
    assert len(said) == len(re.findall("^```sh$", text, re.MULTILINE)) >= 3
    for picture in re.findall(r"!\[[^\]]*\]\(([\w.-]+)\)", text):
        assert np.asarray(Image.open(tmp_path / picture)).std() > 5, picture


def test_a_command_that_fails_is_noticed(tmp_path):
    with pytest.raises(RuntimeError, match="there is no command"):
        run_page("```sh\nsepconv nonsense | cat\n```\n", tmp_path)


def test_no_block_is_left_out():
    """A block that is neither run nor made a file is one that somebody else runs."""
    for page in PAGES:
        text = page.read_text()
        assert len(re.findall("^```", text, re.MULTILINE)) == 2 * len(BLOCK.findall(text)), page
        assert {language for language, title, _ in BLOCK.findall(text) if not title} <= {"sh", "python"}, page


def first_picture(folder):
    """Scan and results of README's first commands, side by side, at half their size."""
    tifffile.imwrite(folder / "scan.tif", skimage.data.immunohistochemistry()[:480, :480], photometric="rgb")
    commands = BLOCK.search((ROOT / "README.md").read_text())[0]
    run_page(commands, folder)
    halves = []
    for name in ("scan", "smooth", "edges", "sharp"):
        subprocess.run(
            [BINARY, "run", f"{name}.tif", f"{name}.npy", "reduce:factor=2", "--page", "0", "--quiet"],
            cwd=folder,
            check=True,
        )
        halves.append(np.load(folder / f"{name}.npy"))
    return np.hstack(halves)


def save(pixels, file):
    Image.fromarray(pixels).save(file, format="JPEG", quality=80, optimize=True)


def test_the_first_picture_is_of_the_first_commands(tmp_path):
    """But for what other builds of libjpeg make of it. To create it again: this file as a program."""
    made = io.BytesIO()
    save(first_picture(tmp_path), made)
    difference = np.abs(np.asarray(Image.open(made), float) - np.asarray(Image.open(PICTURE), float))
    assert difference.shape == (240, 960, 3) and difference.mean() < 0.5


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        save(first_picture(pathlib.Path(name)), PICTURE)
