"""The arrows of the architecture point one way: app -> pipeline -> kernels and io -> core."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAY_INCLUDE = {
    "core": {"core"},
    "io": {"io", "core"},
    "kernels": {"kernels", "core"},
    "pipeline": {"pipeline", "io", "kernels", "core"},
    "app": {"app", "pipeline", "io", "kernels", "core"},
}
SOURCES = [p for folder in MAY_INCLUDE for p in sorted((ROOT / folder).rglob("*")) if p.suffix in {".hpp", ".cpp", ".h", ".cu"}]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_includes_point_down(path):
    layer = path.relative_to(ROOT).parts[0]
    for included in re.findall(r'#include "sepconv/(\w+)/', path.read_text()):
        assert included in MAY_INCLUDE[layer], f"{layer}/ must not include {included}/"


@pytest.mark.parametrize("path", [p for p in SOURCES if p.relative_to(ROOT).parts[0] != "app"], ids=lambda p: str(p.relative_to(ROOT)))
def test_only_the_program_prints_and_exits(path):
    code = re.sub(r"//.*", "", path.read_text())
    for word in ("std::cout", "std::cerr", "printf(", "fmt::print", "std::exit", "std::abort", "std::terminate"):
        assert word not in code.replace("snprintf(", ""), f"{word} belongs into app/"


@pytest.mark.parametrize("path", [p for p in SOURCES if p.relative_to(ROOT).parts[0] == "app" and p.stem != "console"],
                         ids=lambda p: str(p.relative_to(ROOT)))
def test_the_program_prints_through_its_console(path):
    """app/console.* shows as escapes what would act on a terminal; nothing may go past it."""
    code = re.sub(r'//.*|"(\\.|[^"\\\n])*"', "", path.read_text())
    past = re.findall(r"\b(?:stdout|stderr|STD\w+_FILENO|cout|cerr|clog|fmt::print|\w*printf|fwrite|f?puts|f?putc|putchar|perror)\b"
                      r"|\bwrite\(\s*[012]\b|stdout_\w*sinks?|stderr_\w*sink\w*|ostream_sink\w*", code)
    assert not past, f"{past}: print through app/console.hpp"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_stay_readable(path):
    assert len(path.read_text().splitlines()) <= 320, "cut it in two: a file has one purpose"
