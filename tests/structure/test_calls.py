"""No call goes up either: what an object of the library or of bench/ leaves undefined is not defined by a
room above it. (An include cannot tell, because a lower room may declare what only a higher one defines.) Read
from the objects of the build whose program is tested."""

import pathlib
import re
import shutil
import subprocess

import pytest
from test_layers import BELOW, NAME, ROOT, SOURCES, may_include, room

from conftest import BINARY

BUILD = BINARY.parent.parent
OBJECTS = {
    re.sub(r"CMakeFiles/[^/]+\.dir/", "", str(p.relative_to(BUILD)))[:-2]: p for p in BUILD.rglob("*.o")
}
OF_SOURCES = {path: OBJECTS[path] for path in map(NAME, SOURCES) if path in OBJECTS and room(path) != "app"}


def symbols(path):
    """Names that the object defines for others (templates and inline functions, which many do, apart), and
    those that it needs."""
    lines = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines()
    kinds = [(line[17:18], line[19:]) for line in lines]
    return {name for kind, name in kinds if kind in "TDBR"}, {name for kind, name in kinds if kind == "U"}


@pytest.mark.skipif(
    not shutil.which("nm") or not OF_SOURCES, reason="no nm, or no objects beside the program"
)
def test_no_object_needs_what_only_a_room_above_it_defines():
    # sepconv/ has headers only, what calls app/ links with none of the tests, and python/ is compiled for the
    # wheel.
    assert {room(path) for path in OF_SOURCES} >= set(BELOW) - {"sepconv", "app", "python"}
    found = {path: symbols(file) for path, file in OF_SOURCES.items()}
    home = {name: room(path) for path, (defined, _) in found.items() for name in defined}
    upward = {
        (path, name)
        for path, (_, needed) in found.items()
        for name in needed
        if name in home and home[name] not in may_include(room(path))
    }
    assert not upward
