"""The wheel contains the licence of every bundled library, and no licence incompatible with Apache-2.0."""

import importlib.metadata
import json
import re

import pytest

FILES = importlib.metadata.files("sepconv") or []
LIBRARIES = [file.name for file in FILES if ".so" in file.name and file.parts[0] == "sepconv.libs"]


@pytest.fixture(autouse=True)
def _of_a_wheel():
    if not LIBRARIES:
        pytest.skip("this package is no repaired wheel: it has no libraries inside")


def licence_of(library):
    name = re.sub(r"-[0-9a-f]{8}\.so.*", "", library)
    return [file for file in FILES if file.name == f"{name}.txt" and "licenses" in file.parts]


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_has_its_licence(library):
    (file,) = licence_of(library)
    assert len(file.read_text()) > 500


def test_none_is_under_the_gpl():
    assert not [library for library in LIBRARIES if "jbig" in library]
    expression = importlib.metadata.metadata("sepconv")["License-Expression"]
    assert "libtiff" in expression
    for term in expression.split(" AND "):
        assert "GPL" not in term or "GCC-exception" in term


def test_the_bill_of_materials_names_licences():
    (bom,) = [json.loads(file.read_text()) for file in FILES if file.name.endswith(".cdx.json")]
    parts = [part for part in bom["components"] if part["name"] != "sepconv"]
    assert len(parts) >= len(LIBRARIES)
    assert all(part["licenses"][0]["expression"] for part in parts)


def test_licence_files_are_named_in_the_metadata():
    named = set(importlib.metadata.metadata("sepconv").get_all("License-File"))
    assert named == {
        "/".join(file.parts[file.parts.index("licenses") + 1 :]) for file in FILES if "licenses" in file.parts
    }
