"""The layers depend in one direction: bench/program -> app -> pipeline -> sepconv/{kernels, io} -> core, and inside
the pipeline measure, report and gemm -> run -> job -> plan -> stages -> chain -> machine. So plan, which
computes bands and buffers, cannot include job, which opens files and decides what is planned. Includes name paths in
the tree."""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BELOW = {
    "bench/program": ["app", "bench"],
    "app": ["pipeline/report", "pipeline/measure", "pipeline/gemm"],
    "python": ["pipeline/report", "pipeline/measure", "pipeline/gemm"],
    "bench": ["kernels", "core"],
    "pipeline/report": ["pipeline/run"],
    "pipeline/measure": ["pipeline/run"],
    "pipeline/gemm": ["pipeline/run"],
    "pipeline/run": ["pipeline/job"],
    "pipeline/job": ["pipeline/plan"],
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
is_program = lambda p: layer_of(NAME(p)) in ("app", "bench/program")


def layer_of(path):
    """The longest key of BELOW that contains the path."""
    return max((key for key in BELOW if path.startswith(key + "/")), key=len, default=None)


def may_include(key):
    """All layers below this one, and the layer itself."""
    layers = {key}
    for below in BELOW.get(key, [key]):
        layers |= may_include(below) if below in BELOW else {below}
    return layers


@pytest.mark.parametrize("path", SOURCES, ids=NAME)
def test_includes_name_paths_and_point_down(path):
    own = layer_of(NAME(path))
    for included in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
        sibling = (path.parent / included).resolve()
        target = sibling if sibling.exists() else ROOT / included
        assert target.exists(), f"{included} is not a path in the tree"
        target_layer = layer_of(NAME(target))
        if own in (None, "app", "python"):
            continue
        if target_layer is None:
            continue
        assert target_layer in may_include(own), f"{own}/ must not include {included}"


@pytest.mark.skipif(shutil.which("clang-format") is None, reason="no clang-format")
def test_sources_are_formatted():
    """./dev format formats them."""
    files = subprocess.run(
        ["git", "ls-files", "*.cpp", "*.hpp", "*.h", "*.cu", "*.cuh"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    process = subprocess.run(["clang-format", "--dry-run", *files], cwd=ROOT, capture_output=True, text=True)
    unformatted = sorted(
        set(
            re.findall(
                r"^(\S+?):\d+:\d+: warning: code should be clang-formatted", process.stderr, re.MULTILINE
            )
        )
    )
    assert process.returncode == 0 and not unformatted, "./dev format"


@pytest.mark.parametrize("path", [p for p in SOURCES if not is_program(p)], ids=NAME)
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


@pytest.mark.parametrize("path", [p for p in SOURCES if is_program(p) and p.stem != "console"], ids=NAME)
def test_the_program_prints_through_its_console(path):
    """app/console.* escapes control characters for terminals; no output may bypass it."""
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
    """Free functions at the left margin, each with its parameter types."""
    parameters = lambda listed: tuple(
        re.sub(r"\s*(?:\b\w+)?\s*(?:=.*)?$", "", parameter.strip(), count=1)
        for parameter in listed.split(",")
        if parameter.strip()
    )
    return {(name, parameters(listed)) for name, listed in FUNCTION.findall(text)}


@pytest.mark.parametrize(
    "path", [p for p in SOURCES if p.suffix == ".cpp" and p.relative_to(ROOT).parts[0] in LIBRARY], ids=NAME
)
def test_private_functions_do_not_hide_those_of_headers(path):
    """Most presets compile the files of a folder as one: the next file would call a private function instead
    of the header's."""
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
    """The package includes only the public header, so that a wheel can be built with an installed sepconv."""
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
