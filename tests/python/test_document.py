"""The examples of docs/python.md and docs/python-pictures.md run with the shown results."""

import doctest
import pathlib
import re

import numpy as np
import pytest

import sepconv as sc

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
START = DOCUMENT.parent / "start"


def test_its_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(DOCUMENT), module_relative=False)
    assert result.attempted > 15 and result.failed == 0


def test_the_page_to_start_with_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(START / "python.md"), module_relative=False)
    assert result.attempted > 10 and result.failed == 0


def test_an_exposure_in_fits(tmp_path, monkeypatch):
    """The Python code of docs/start/astronomy.md; tests/docs creates its data with the code of the page."""
    fits = pytest.importorskip("astropy.io.fits")
    monkeypatch.chdir(tmp_path)
    sky = np.random.default_rng(1).random((60, 80), np.float32)
    sky[20:22] = np.nan
    fits.writeto("sky.fits", sky)
    exec(
        re.search(r"^```python\n(.*?)^```", (START / "astronomy.md").read_text(), re.DOTALL | re.MULTILINE)[
            1
        ],
        {},
    )  # noqa: S102
    expected = sc.dog(1, 12, nodata="fill")(sky)
    assert np.array_equal(np.load("sources.npy"), expected) and np.isfinite(expected).all()


def test_its_pictures_are_what_the_code_makes(tmp_path, monkeypatch):
    """Except for two grey values of the sharpened image: the last bits of numpy's exponential depend on the
    processor."""
    monkeypatch.chdir(tmp_path)
    text = (DOCUMENT.parent / "python-pictures.md").read_text()
    namespace = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, namespace)  # noqa: S102
    shown = re.findall(r"\]\((images/python-\w+\.png)\)", text)
    assert len(shown) == len(list(tmp_path.glob("*.png"))) == 4
    for path in shown:
        result, stored = (
            np.asarray(sc.open(file)) for file in (tmp_path / path.split("-")[1], DOCUMENT.parent / path)
        )
        assert np.abs(result.astype(int) - stored).max() <= 2, path
