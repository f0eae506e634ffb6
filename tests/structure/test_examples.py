"""Every C++ example in a document or header is part of a program that is compiled and run, or of the code
itself."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
HEADERS = sorted(
    p for folder in ("sepconv", "core", "io", "kernels", "pipeline") for p in (ROOT / folder).rglob("*.hpp")
)
# Examples for users must be in programs for users; examples for a part of sepconv may also be in the code
# that calls it, and its tests.
PROGRAMS = [
    *(ROOT / "docs" / "examples").glob("*.c*"),
    *(
        p
        for folder in ("tests", "app", "core", "io", "kernels", "pipeline")
        for p in (ROOT / folder).rglob("*.cpp")
    ),
]


def normalized_code(text):
    """Code without comments and line breaks."""
    return " ".join(re.sub(r"//.*", "", text).split())


def examples():
    for path in DOCUMENTS:
        for block in re.findall(r"```(?:cpp|c\+\+|cuda)\n(.*?)```", path.read_text(), re.S):
            yield path, block
    for path in HEADERS:
        # In a comment, code is indented by three spaces; a sentence ends it.
        for lines in re.findall(r"(?:^[ \t]*///? {3}[^ \n].*\n(?:^[ \t]*///?\n)*)+", path.read_text(), re.M):
            code = re.sub(r"^[ \t]*///? ?", "", lines, flags=re.M)
            if re.search(r"\(.*\).*;\s*(//.*)?$", code, re.M):
                yield path, code


EXAMPLES = list(examples())


def test_there_are_examples():
    assert len({path for path, _ in EXAMPLES}) >= 5


@pytest.mark.parametrize(
    "path, code", EXAMPLES, ids=[f"{p.relative_to(ROOT)}-{i}" for i, (p, _) in enumerate(EXAMPLES)]
)
def test_an_example_is_compiled_and_run(path, code):
    programs = [normalized_code(p.read_text()) for p in PROGRAMS]
    for part in re.split(r"\n\s*\n|\n(?=#)", code):
        expected = normalized_code(part)
        assert not expected or any(expected in program for program in programs), (
            f"{path.name} shows what no program has:\n{part}"
        )
