"""Duplicated information in debian/ agrees with its source: `dev` for the packages that a build needs, CMake
for the version and the packages of the library."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTROL = (ROOT / "debian/control").read_text()
# Not needed for packages: tests and a compiler cache.
NOT_NEEDED = {"ccache", "catch2"}
# Needed only to build the library: header-only packages and tools, which users of the library do not need.
ONLY_TO_BUILD = {"debhelper-compat", "g++", "cmake", "ninja-build", "pkg-config", "libcli11-dev"}


def packages(field, text):
    package_list = re.search(rf"^{field}: (.*(?:\n .*)*)", text, re.MULTILINE)[1]
    return {
        re.match(r"[\w+.-]+", package.strip())[0]
        for package in package_list.split(",")
        if "${" not in package or "binary" in package
    }


def test_packages_are_built_with_what_builds_need():
    named = set(re.search(r'BUILD_PACKAGES="(.*?)"', (ROOT / "dev").read_text(), re.DOTALL)[1].split())
    assert packages("Build-Depends", CONTROL) == (named - NOT_NEEDED) | {"debhelper-compat"}


def test_a_program_with_the_static_library_has_what_that_needs():
    development = CONTROL[CONTROL.index("Package: libsepconv-dev") :]
    assert (
        packages("Depends", development) - {"libsepconv0.3"}
        == packages("Build-Depends", CONTROL) - ONLY_TO_BUILD
    )


def test_the_library_has_its_version_in_its_name():
    """Below 1.0 every minor version may change the interface and therefore has its own package."""
    version = re.search(
        r"^project\(sepconv VERSION (\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE
    )[1]
    assert set(re.findall(r"libsepconv(\d[\d.]*)", CONTROL)) == {version}
    assert (ROOT / f"debian/libsepconv{version}.install").exists()


def test_headers_say_the_version():
    text = (ROOT / "core/version.hpp").read_text()
    version = re.search(
        r"^project\(sepconv VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE
    )[1]
    assert ".".join(re.findall(r"VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)) == version
    assert f'SEPCONV_VERSION_STRING "{version}"' in text


def test_headers_that_a_format_needs_are_installed():
    page = (ROOT / "docs/adding-a-format.md").read_text()
    table = page[page.index("| header in") : page.index("## What a format promises")]
    offered = {f"io/{name}" for name in re.findall(r"`([\w/]+\.hpp)`", table)}
    assert len(offered) > 7 and offered <= set(
        re.findall(r'^#include "([^"]+)"', (ROOT / "sepconv/format.hpp").read_text(), re.MULTILINE)
    )
