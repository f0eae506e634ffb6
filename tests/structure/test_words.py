"""The field's words: names and comments that CONTRIBUTING.md asks for. Limits may be lowered, not raised."""

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
    "words",
    [
        "anew",
        "as it lies",
        "beside",
        "goes on with",
        "heeded",
        "is told",
        "ladders?",
        "ladders?",
        "so many",
        "somebody",
        "the greatest",
        "the least",
        "what is there",
        "which is said",
        "whoever",
    ],
)
def test_no_private_words(words):
    found = re.compile(rf"\b{words}\b", re.IGNORECASE)
    assert [comment for comment in COMMENTS if found.search(comment)] == []
    assert found.findall(PROSE) == []


@pytest.mark.parametrize(
    "words, in_comments, in_guides", [("is none", 10, 1), ("at once", 4, 1), ("is no", 7, 7)]
)
def test_clumsy_words_become_fewer(words, in_comments, in_guides):
    found = re.compile(rf"\b{words}\b", re.IGNORECASE)
    assert sum(len(found.findall(comment)) for comment in COMMENTS) <= in_comments
    assert len(found.findall(PROSE)) <= in_guides


def test_python_has_110_columns():
    """But for strings that would be harder to read in pieces."""
    wide = [line for path in PYTHON for line in path.read_text().splitlines() if len(line) > 110]
    assert len(wide) <= 208


def test_the_glossary_has_the_terms_in_order():
    terms = re.findall(r"^\| ([a-z][\w ]*) \|", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)[1:]
    assert len(terms) >= 30 and terms == sorted(terms) and len(set(terms)) == len(terms)
