"""Words in names and comments, as CONTRIBUTING.md asks for. Limits may be lowered, not raised."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("app", "bench", "core", "io", "kernels", "pipeline", "python", "sepconv")
SOURCES = [
    path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".cpp", ".hpp", ".h", ".cu", ".cuh"}
]
PYTHON = [path for folder in (*FOLDERS, "tests", "docs") for path in sorted((ROOT / folder).rglob("*.py"))]
COMMENTS = [comment for path in SOURCES for comment in re.findall(r"//+<?[ \t]*(.*)", path.read_text())]
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PROSE = "\n".join(re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(), flags=re.S) for path in GUIDES)


def test_constants_have_a_maximum_or_a_minimum():
    assert [
        name
        for path in SOURCES
        for name in re.findall(r"\bk(?:Most|Least|Longest|Deepest|Greatest|Fewest)\w*", path.read_text())
    ] == []


def test_no_comment_begins_with_of():
    assert [comment for comment in COMMENTS if comment.startswith("Of ")] == []


@pytest.mark.parametrize(
    "words, in_comments, in_guides",
    [
        ("anew", 0, 0),
        ("beside", 0, 0),
        ("as it lies", 0, 0),
        ("which is said", 3, 1),
        ("goes on with", 1, 2),
        ("so many", 1, 0),
        ("is none", 87, 6),
        ("what is there", 16, 12),
        ("whoever", 18, 7),
    ],
)
def test_private_words_become_fewer(words, in_comments, in_guides):
    pattern = re.compile(rf"\b{words}\b", re.IGNORECASE)
    assert sum(len(pattern.findall(comment)) for comment in COMMENTS) <= in_comments
    assert len(pattern.findall(PROSE)) <= in_guides


def test_python_has_110_columns():
    """Except for long string literals."""
    wide = [line for path in PYTHON for line in path.read_text().splitlines() if len(line) > 110]
    assert len(wide) <= 208


def test_the_glossary_has_the_terms_in_order():
    terms = re.findall(r"^\| ([a-z][\w ]*) \|", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)[1:]
    assert len(terms) >= 30 and terms == sorted(terms) and len(set(terms)) == len(terms)
