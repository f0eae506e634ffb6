"""Documents name what there is: files, folders and each other; and README's figures are those of
docs/benchmarks.md."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "data").rglob("*.md")])
# A folder of the tree and what follows it, a{b,c} as a shell has it.
PATHS = re.compile(
    r"(?<![\w/.-])(?:app|bench|cmake|core|data|docs|io|kernels|pipeline|python|sepconv|tests|decisions|measurements)/[\w/.{},*-]*[\w}*/]"
)
BLOCK = re.compile(r"^<!-- ([\w -]+) -->\n(.*?)^<!-- /\1 -->\n", re.MULTILINE | re.DOTALL)
UNITS = r"(?:s|ms|MiB|GB/s|[GM]pix/s|times)\b"
NOT_THERE = {
    "pipeline/stages/invert.cpp": "the reader of adding-a-stage.md writes it",
    "pipeline/stage.hpp": "decision 14 ended it",
}
NAME = lambda p: str(p.relative_to(ROOT))


def spelled_out(path):
    """a/{b,c} is a/b and a/c."""
    found = re.match(r"(.*?)\{(.*?)\}(.*)", path)
    return (
        [one for word in found[2].split(",") for one in spelled_out(found[1] + word + found[3])]
        if found
        else [path]
    )


def there(path):
    """Also without its ending, as an include of several, and a decision by its number."""
    folders = [ROOT, ROOT / "docs"]
    return any(list(folder.glob(end)) for folder in folders for end in (path, path + ".*", path + "-*.md"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAME)
def test_links_lead_somewhere(document):
    """To what is there, or to a picture that the page's own commands make (tests/docs)."""
    text = document.read_text()
    made = set(
        re.findall(
            r"(?<=\s)[\w.-]+\.png\b",
            "".join(re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)),
        )
    )
    links = re.findall(r"\]\((?!\w+:)([^)#\s]+)", text)
    assert not [link for link in links if link not in made and not (document.parent / link).exists()]


@pytest.mark.parametrize("document", [p for p in DOCUMENTS if p.name != "CHANGELOG.md"], ids=NAME)
def test_paths_that_are_named_are_in_the_tree(document):
    text = re.sub(r"\]\([^)]*\)", "]", document.read_text())
    named = {path for named in PATHS.findall(text) for path in spelled_out(named.rstrip("/"))}
    assert not [path for path in named - set(NOT_THERE) if not there(path)]


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
    # One version, one content: what the changelog lists first is what a wheel or a package of this tree says
    # that it is.
    section = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert re.fullmatch(re.escape(version) + r" - (in development|\d{4}-\d\d-\d\d)", section)
    assert f'"sepconv": "{version}"' in (ROOT / "docs/formats.md").read_text()
    minor = version.rpartition(".")[0]
    assert set(
        re.findall(r"find_package\(sepconv ([\d.]+)", (ROOT / "tests/consumer/CMakeLists.txt").read_text())
    ) == {minor}


def test_readme_has_the_figures_of_the_benchmarks():
    """A block that both have is the same in both, and every other figure with a unit stands there too."""
    readme, benchmarks = ((ROOT / name).read_text() for name in ("README.md", "docs/benchmarks.md"))
    theirs = dict(BLOCK.findall(benchmarks))
    ours = dict(BLOCK.findall(readme))
    assert ours and all(theirs[name] == block for name, block in ours.items())
    speed = re.search(r"^## Speed\n(.*?)^## ", BLOCK.sub("", readme), re.MULTILINE | re.DOTALL)[1]
    figures = [
        word
        for words in re.findall(rf"((?:\d[\d.]* (?:to|and) )?\d[\d.]*) {UNITS}|(\d\.\d+ to \d\.\d+)", speed)
        for word in words
        if word
    ]
    assert len(figures) > 3
    numbers = set(re.findall(r"\d+(?:\.\d+)?", benchmarks))
    assert not [
        figure
        for figure in figures
        for number in re.findall(r"\d+(?:\.\d+)?", figure)
        if number not in numbers
    ]
