"""Messages of the library name the library's options. The program and the Python package have their own name
for each option."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
LIBRARY = [
    path
    for path in sorted(
        p for folder in ("core", "io", "kernels", "pipeline") for p in (ROOT / folder).rglob("*")
    )
    if path.suffix in (".cpp", ".hpp", ".cu", ".cuh", ".h")
]
TABLES = [
    ROOT / "pipeline" / "job" / name
    for name in ("option_names.cpp", "output_option_table.cpp", "run_option_table.cpp")
]


def literals(path):
    lines = (line for line in path.read_text().splitlines() if not line.lstrip().startswith("//"))
    return [literal for line in lines for literal in LITERAL.findall(line)]


def test_no_sentence_of_the_library_names_a_flag_of_the_program():
    match = [
        (path.name, literal)
        for path in LIBRARY
        if path not in TABLES
        for literal in literals(path)
        if re.search(r"(^|[\s(\"'])--[a-z]", literal)
    ]
    assert match == []


def test_each_option_that_the_library_names_has_a_flag():
    named = {
        name
        for path in LIBRARY
        for literal in literals(path)
        for name in re.findall(
            r"[A-Z]\w*(?:Options|Request)::\w+(?: = (?:true|false|error|fill|white))?", literal
        )
    }
    declared = {
        member
        for path in TABLES
        for member in re.findall(r'\{"(\w+::[\w =]+)",\s+"--[^"]+",\s+"\w[^"]*"', path.read_text())
    }
    assert named and named <= declared
