"""Calls respect the layers, too: no object of the library or of bench/ needs a symbol that a layer above it
defines. Includes cannot prove this, because a lower layer may declare what a higher one defines. Reads the
objects of the build whose program is tested."""

import pathlib
import re
import shutil
import subprocess

import pytest
from test_layers import BELOW, NAME, ROOT, SOURCES, may_include, layer_of

from conftest import BINARY

PROGRAMS = {"app", "bench/program"}
BUILD = BINARY.parent.parent
OBJECTS = {
    re.sub(r"CMakeFiles/[^/]+\.dir/", "", str(p.relative_to(BUILD)))[:-2]: p for p in BUILD.rglob("*.o")
}
OBJECT_OF_SOURCE = {
    path: OBJECTS[path] for path in map(NAME, SOURCES) if path in OBJECTS and layer_of(path) not in PROGRAMS
}


def symbols(path):
    """The symbols that an object defines (without templates and inline functions, which many objects define),
    and those that it needs."""
    lines = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines()
    kinds = [(line[17:18], line[19:]) for line in lines]
    return {name for kind, name in kinds if kind in "TDBR"}, {name for kind, name in kinds if kind == "U"}


@pytest.mark.skipif(
    not shutil.which("nm") or not OBJECT_OF_SOURCE, reason="no nm, or no objects beside the program"
)
def test_no_object_needs_a_symbol_of_a_layer_above():
    # sepconv/ has only headers, callers of the programs are in no test, and python/ is compiled for the wheel.
    assert {layer_of(path) for path in OBJECT_OF_SOURCE} >= set(BELOW) - {"sepconv", "python"} - PROGRAMS
    symbols_of = {path: symbols(file) for path, file in OBJECT_OF_SOURCE.items()}
    layer_of_symbol = {name: layer_of(path) for path, (defined, _) in symbols_of.items() for name in defined}
    upward = {
        (path, name)
        for path, (_, needed) in symbols_of.items()
        for name in needed
        if name in layer_of_symbol and layer_of_symbol[name] not in may_include(layer_of(path))
    }
    assert not upward
