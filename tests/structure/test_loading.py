"""Code is never loaded from the current folder, neither by a path in a binary nor by an environment
variable."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np
import pytest

from conftest import BINARY

BUILD = BINARY.parent.parent
NOBODY = 65534


def elf_files(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.suffix != ".o":
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def search_paths(path):
    """The entries of RPATH and RUNPATH."""
    entries = []
    for line in subprocess.run(
        ["readelf", "--dynamic", "--wide", path], capture_output=True, text=True, check=True
    ).stdout.splitlines():
        if "(RPATH)" in line or "(RUNPATH)" in line:
            entries += line[line.index("[") + 1 : line.rindex("]")].split(":")
    return entries


def check_search_paths(folder):
    paths = {path: search_paths(path) for path in elf_files(folder)}
    wrong = {
        path.name: entries
        for path, entries in paths.items()
        if not all(entry.startswith(("/", "$ORIGIN")) for entry in entries)
    }
    assert not wrong, "empty and relative entries are the current folder to the loader"
    return paths


def test_no_built_file_looks_in_the_current_folder():
    programs = check_search_paths(BINARY.parent)
    check_search_paths(BUILD / "lib")
    assert programs[BINARY] == ["$ORIGIN/../lib"]  # so the test could have failed


def test_no_installed_file_looks_in_the_current_folder(tmp_path):
    subprocess.run(["cmake", "--install", BUILD, "--prefix", tmp_path], check=True, capture_output=True)
    assert tmp_path / "bin/sepconv" in check_search_paths(tmp_path)


@pytest.mark.parametrize("name", ["libhwy.so.1", "libtiff.so.6", "libcuda.so.1"])
def test_a_library_in_the_current_folder_is_left_alone(tmp_path, name):
    (tmp_path / name).write_text("no library")
    process = subprocess.run(
        [BINARY, "devices"],
        cwd=tmp_path,
        env=dict(os.environ, LD_DEBUG="libs"),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    tried = [line.split("trying file=")[1] for line in process.stderr.splitlines() if "trying file=" in line]
    assert tried and all(path.startswith("/") for path in tried), tried
    assert not any(path.startswith(str(tmp_path)) for path in tried)


@pytest.mark.parametrize("name", ["blas.so", "./blas.so", "libopenblas.so.0"])
def test_a_library_is_named_from_the_root_on(sepconv, name, monkeypatch):
    np.save(sepconv.folder / "a.npy", np.ones((4, 4)))
    monkeypatch.setenv("SEPCONV_OPENBLAS", name)
    message = sepconv("gemm", "a.npy", "a.npy", "out.npy", "--device", "cpu", status=2).stderr
    assert f"SEPCONV_OPENBLAS is {name}, which is relative to the current folder" in message


def test_a_setuid_program_ignores_environment_variables():
    if os.geteuid() != 0:
        pytest.skip("only root can make a program that runs as another user")
    with tempfile.TemporaryDirectory() as name:  # pytest's folder is accessible only to its user
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip("this file system knows no setuid")
        program = folder / "sepconv"
        shutil.copy(BINARY, program)
        np.save(folder / "a.npy", np.ones((4, 4)))
        command = [program, "gemm", "a.npy", "a.npy", "out.npy", "--device", "cpu", "--force", "--quiet"]
        environment = {"SEPCONV_OPENBLAS": "blas.so"}
        for mode, is_used in ((0o755, True), (0o4755, False), (0o2755, False)):
            program.chmod(mode)
            process = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                user=NOBODY,
                group=NOBODY,
            )
            assert ("SEPCONV_OPENBLAS is blas.so" in process.stderr) == is_used, (oct(mode), process.stderr)
