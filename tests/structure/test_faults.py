"""The tests that docs/faults.md names exist."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = re.findall(
    r"^\| (.+) \| `(tests/.+?)` \| (.+) \|$", (ROOT / "docs/faults.md").read_text(), re.MULTILINE
)


def names_in(path):
    pattern = r'TEST_CASE\(\s*"((?:[^"\\]|\\.)+)"' if path.suffix == ".cpp" else r"^def (test_\w+)\("
    return re.findall(pattern, path.read_text(), re.MULTILINE)


def test_every_row_is_one_of_these():
    rows = [line for line in (ROOT / "docs/faults.md").read_text().splitlines() if line.startswith("| ")]
    heads = [line for line in rows if line.startswith("| promise | tests in | names |")]
    assert len(rows) == len(ROWS) + len(heads) and len(ROWS) > 30


@pytest.mark.parametrize("promise, file, names", ROWS, ids=[row[0][:60] for row in ROWS])
def test_tests_of_a_promise_exist(promise, file, names):
    existing = names_in(ROOT / file) if (ROOT / file).exists() else []
    missing = [name for name in re.findall(r"`([^`]+)`", names) if name not in existing]
    assert names.startswith("`") and not missing
