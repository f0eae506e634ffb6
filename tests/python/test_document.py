"""docs/python.md shows what happens."""

import doctest
import pathlib

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_its_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = doctest.testfile(str(DOCUMENT), module_relative=False)
    assert ran.attempted > 15 and ran.failed == 0
