"""Documents refer only to existing files, folders and documents; README's figures are those of
docs/benchmarks.md."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "data").rglob("*.md")])
# A path below a folder of the tree; a{b,c} as in a shell.
PATHS = re.compile(
    r"(?<![\w/.-])(?:app|bench|cmake|core|data|docs|io|kernels|pipeline|python|sepconv|tests|decisions|measurements)/[\w/.{},*-]*[\w}*/]"
)
BLOCK = re.compile(r"^<!-- ([\w -]+) -->\n(.*?)^<!-- /\1 -->\n", re.MULTILINE | re.DOTALL)
UNITS = r"(?:s|ms|MiB|GB/s|[GM]pix/s|times)\b"
EXCEPTIONS = {
    "pipeline/stages/invert.cpp": "the reader of adding-a-stage.md writes it",
    "pipeline/stage.hpp": "decision 14 ended it",
}
NAME = lambda p: str(p.relative_to(ROOT))


def expanded(path):
    """Expands a/{b,c} to a/b and a/c."""
    match = re.match(r"(.*?)\{(.*?)\}(.*)", path)
    return (
        [
            expansion
            for alternative in match[2].split(",")
            for expansion in expanded(match[1] + alternative + match[3])
        ]
        if match
        else [path]
    )


def exists(path):
    """Whether the path exists, also without its suffix, or as the number of a decision."""
    folders = [ROOT, ROOT / "docs"]
    return any(list(folder.glob(end)) for folder in folders for end in (path, path + ".*", path + "-*.md"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAME)
def test_links_have_targets(document):
    """Links must lead to existing files, or to pictures that the page's own commands create (tests/docs)."""
    text = document.read_text()
    created = set(
        re.findall(
            r"(?<=\s)[\w.-]+\.png\b",
            "".join(re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)),
        )
    )
    links = re.findall(r"\]\((?!\w+:)([^)#\s]+)", text)
    assert not [link for link in links if link not in created and not (document.parent / link).exists()]


@pytest.mark.parametrize("document", [p for p in DOCUMENTS if p.name != "CHANGELOG.md"], ids=NAME)
def test_paths_that_are_named_are_in_the_tree(document):
    text = re.sub(r"\]\([^)]*\)", "]", document.read_text())
    named = {path for named in PATHS.findall(text) for path in expanded(named.rstrip("/"))}
    assert not [path for path in named - set(EXCEPTIONS) if not exists(path)]


def test_how_it_works_names_files():
    assert len(PATHS.findall((ROOT / "docs/how-it-works.md").read_text())) > 20


def test_every_folder_of_the_map_is_there_with_the_files_to_start_at():
    rows = re.findall(
        r"^\| `([\w/]+/)` \| .* \| (.*) \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE
    )
    assert len(rows) > 5
    assert not [
        folder + file
        for folder, files in rows
        for file in re.findall(r"`(.+?)`", files)
        if not (ROOT / folder / file).exists()
    ]


def test_the_version_is_that_of_the_documents():
    version = re.search(
        r"^project\(sepconv VERSION ([\d.]+) ", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE
    )[1]
    # The first version in the changelog is that of the wheels and packages of this tree.
    section = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert re.fullmatch(re.escape(version) + r" - (in development|\d{4}-\d\d-\d\d)", section)
    assert f'"sepconv": "{version}"' in (ROOT / "docs/formats.md").read_text()
    minor = version.rpartition(".")[0]
    assert set(
        re.findall(r"find_package\(sepconv ([\d.]+)", (ROOT / "tests/consumer/CMakeLists.txt").read_text())
    ) == {minor}


def test_readme_has_the_figures_of_the_benchmarks():
    """A block in both files is identical, and every other figure with a unit is in both."""
    readme, benchmarks = ((ROOT / name).read_text() for name in ("README.md", "docs/benchmarks.md"))
    benchmark_blocks = dict(BLOCK.findall(benchmarks))
    readme_blocks = dict(BLOCK.findall(readme))
    assert readme_blocks and all(benchmark_blocks[name] == block for name, block in readme_blocks.items())
    speed = re.search(r"^## Speed\n(.*?)^## ", BLOCK.sub("", readme), re.MULTILINE | re.DOTALL)[1]
    figures = [
        figure_text
        for match in re.findall(rf"((?:\d[\d.]* (?:to|and) )?\d[\d.]*) {UNITS}|(\d\.\d+ to \d\.\d+)", speed)
        for figure_text in match
        if figure_text
    ]
    assert len(figures) > 3
    numbers = set(re.findall(r"\d+(?:\.\d+)?", benchmarks))
    assert not [
        figure
        for figure in figures
        for number in re.findall(r"\d+(?:\.\d+)?", figure)
        if number not in numbers
    ]
