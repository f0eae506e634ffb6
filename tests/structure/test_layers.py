"""The arrows of the architecture point one way: app -> bench -> pipeline -> sepconv/{kernels, io} -> core,
and inside the pipeline from measure, report and gemm over run, plan, stages and chain to machine. An include
names a path that is in the tree."""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BELOW = {
    "app": ["bench", "pipeline/report", "pipeline/measure", "pipeline/gemm"],
    "python": ["pipeline/report", "pipeline/measure", "pipeline/gemm"],
    "bench": ["kernels", "core"],
    "pipeline/report": ["pipeline/run"],
    "pipeline/measure": ["pipeline/run"],
    "pipeline/gemm": ["pipeline/run"],
    "pipeline/run": ["pipeline/plan"],
    "pipeline/plan": ["pipeline/stages"],
    "pipeline/stages": ["pipeline/chain"],
    "pipeline/chain": ["pipeline/machine", "io"],
    "pipeline/machine": ["kernels", "io"],
    "sepconv": ["pipeline/report", "pipeline/measure", "pipeline/gemm"],
    "kernels": ["core"],
    "io": ["core"],
    "core": [],
}
LIBRARY = {"core", "io", "kernels", "pipeline"}
SUFFIXES = {".hpp", ".cpp", ".h", ".cu", ".cuh"}
SOURCES = [
    p
    for folder in ("app", "bench", "core", "io", "kernels", "pipeline", "python", "sepconv")
    for p in sorted((ROOT / folder).rglob("*"))
    if p.suffix in SUFFIXES
]
NAME = lambda p: str(p.relative_to(ROOT))


def room(path):
    """The longest key of BELOW that the path is in."""
    return max((key for key in BELOW if path.startswith(key + "/")), key=len, default=None)


def may_include(key):
    """Every room that lies below this one, itself with them."""
    found = {key}
    for below in BELOW.get(key, [key]):
        found |= may_include(below) if below in BELOW else {below}
    return found


@pytest.mark.parametrize("path", SOURCES, ids=NAME)
def test_includes_name_paths_and_point_down(path):
    own = room(NAME(path))
    for included in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
        beside = (path.parent / included).resolve()
        target = beside if beside.exists() else ROOT / included
        assert target.exists(), f"{included} is not a path in the tree"
        theirs = room(NAME(target))
        if own in (None, "app", "python"):
            continue
        if theirs is None:
            continue
        assert theirs in may_include(own), f"{own}/ must not include {included}"


@pytest.mark.skipif(shutil.which("clang-format") is None, reason="no clang-format")
def test_sources_are_formatted():
    """./dev format does it."""
    files = subprocess.run(
        ["git", "ls-files", "*.cpp", "*.hpp", "*.h", "*.cu", "*.cuh"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    ran = subprocess.run(["clang-format", "--dry-run", *files], cwd=ROOT, capture_output=True, text=True)
    unformatted = sorted(
        set(re.findall(r"^(\S+?):\d+:\d+: warning: code should be clang-formatted", ran.stderr, re.MULTILINE))
    )
    assert ran.returncode == 0 and not unformatted, "./dev format"


@pytest.mark.parametrize("path", [p for p in SOURCES if p.relative_to(ROOT).parts[0] != "app"], ids=NAME)
def test_only_the_program_prints_and_exits(path):
    code = re.sub(r"//.*", "", path.read_text())
    for word in (
        "std::cout",
        "std::cerr",
        "printf(",
        "fmt::print",
        "std::exit",
        "std::abort",
        "std::terminate",
    ):
        assert word not in code.replace("snprintf(", ""), f"{word} belongs into app/"


@pytest.mark.parametrize(
    "path", [p for p in SOURCES if p.relative_to(ROOT).parts[0] == "app" and p.stem != "console"], ids=NAME
)
def test_the_program_prints_through_its_console(path):
    """app/console.* shows as escapes what would act on a terminal; nothing may go past it."""
    code = re.sub(r'//.*|"(\\.|[^"\\\n])*"', "", path.read_text())
    past = re.findall(
        r"\b(?:stdout|stderr|STD\w+_FILENO|cout|cerr|clog|fmt::print|\w*printf|fwrite|f?puts|f?putc|putchar|perror)\b"
        r"|\bwrite\(\s*[012]\b|stdout_\w*sinks?|stderr_\w*sink\w*|ostream_sink\w*",
        code,
    )
    assert not past, f"{past}: print through app/console.hpp"


@pytest.mark.parametrize("path", [p for p in SOURCES if p.suffix != ".cuh"], ids=NAME)
def test_files_stay_readable(path):
    assert len(path.read_text().splitlines()) <= 320, "cut it in two: a file has one purpose"


FUNCTION = re.compile(
    r"^(?!return|using|namespace|template|static_assert|#|//|\s)[\w:<>,&*\[\] ]+[ &*>](\w+)\(([^()]*)\)",
    re.MULTILINE,
)


def functions(text):
    """Free functions at the left margin, each with the types of its parameters."""
    parameters = lambda listed: tuple(
        re.sub(r"\s*(?:\b\w+)?\s*(?:=.*)?$", "", one.strip(), count=1)
        for one in listed.split(",")
        if one.strip()
    )
    return {(name, parameters(listed)) for name, listed in FUNCTION.findall(text)}


@pytest.mark.parametrize(
    "path", [p for p in SOURCES if p.suffix == ".cpp" and p.relative_to(ROOT).parts[0] in LIBRARY], ids=NAME
)
def test_what_is_private_to_a_file_is_not_what_a_header_declares(path):
    """The files of a folder are compiled as one in most presets: a private function would be called by the
    next file instead of the header's."""
    headers = {
        function
        for p in SOURCES
        if p.suffix == ".hpp" and p.relative_to(ROOT).parts[0] in LIBRARY
        for function in functions(p.read_text())
    }
    assert ("number_of", ("std::string_view",)) in headers
    private = re.findall(
        r"^namespace \{\n(.*?)^\}  // namespace$", path.read_text(), re.MULTILINE | re.DOTALL
    )
    assert not {function for block in private for function in functions(block)} & headers


def test_the_python_package_uses_what_is_installed():
    """Its sources name the one header for users, so that a wheel can be made with an installed sepconv."""
    sources = [p for p in SOURCES if p.relative_to(ROOT).parts[0] == "python"]
    included = {
        name
        for path in sources
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)
    }
    assert sources and included <= {
        "bindings.hpp",
        "calling_thread.hpp",
        "files.hpp",
        "images.hpp",
        "interruptible.hpp",
        "without_gil.hpp",
        "sepconv/sepconv.hpp",
    }
