"""The man pages as displayed by man: one for every command, with all texts of its help, and one for the
stages."""

import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

from cli_support import image
from conftest import BINARY


def help_of(command):
    return subprocess.run([BINARY, *command, "--help"], capture_output=True, text=True, check=True).stdout


def commands(command=()):
    """The program and, recursively, every command listed by help."""
    listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", help_of(command), re.MULTILINE)
    names = re.findall(r"^  (\w+)", listed[1], re.MULTILINE) if listed else []
    return [command] + [item for name in names for item in commands((*command, name))]


def plain(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    folder = tmp_path_factory.mktemp("man")
    for program in (BINARY, BINARY.with_name("sepconv-bench")):
        subprocess.run([program, "manual", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def shown(manual):
    """man's output for a page, in one line without formatting, checked for warnings."""
    if shutil.which("man") is None:
        pytest.skip("man is not installed")

    def show(name):
        process = subprocess.run(
            ["man", "--warnings", "-E", "UTF-8", "-l", str(next(manual.glob(f"man*/{name}")))],
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "LC_ALL": "C.UTF-8",
                "MANWIDTH": "2000",
                "MAN_KEEP_FORMATTING": "",
                "GROFF_NO_SGR": "1",
            },
        )
        assert (process.returncode, process.stderr) == (0, "")
        return plain(re.sub(".\b", "", process.stdout))

    return show


def test_every_command_has_its_page(manual):
    expected = {"-".join(("sepconv", *command)) + ".1" for command in commands()}
    assert len(expected) > 15
    assert {path.name for path in (manual / "man1").iterdir()} == expected
    assert [path.name for path in (manual / "man7").iterdir()] == ["sepconv-stages.7"]


def test_pages_have_what_help_says_of_options(shown):
    seen = 0
    for command in commands():
        page = shown("-".join(("sepconv", *command)) + ".1")
        # One option per line: its names, its value, and its description, which may continue below.
        text = re.split(r"^(?:Subcommands|Stages|Formats|Example)", help_of(command), flags=re.MULTILINE)[0]
        options = re.findall(r"^  (-\S+)(.*(?:\n {10,}.*)*)", text, re.MULTILINE)
        assert options
        for names, remainder in options:
            for name in re.sub(r"\[=.*\]", "", names).split(","):
                assert re.search(rf"(?<!\S){re.escape(name)}(?!\w)", page), (command, name)
            words = re.split(r"\s{2,}", remainder)[-1]
            assert words and words in page, (command, names, words)
            seen += 1
    assert seen > 150


def test_stages_have_their_keys(sepconv, shown):
    page = shown("sepconv-stages.7")
    for stage in json.loads(sepconv("stages", "--json").stdout)["stages"]:
        said = sepconv("stages", stage["name"]).stdout
        assert plain(said.splitlines()[0].partition(": ")[2]) in page
        keys = re.findall(r"^  (\w+)= +(.*)$", said, re.MULTILINE)
        assert [name for name, _ in keys] == [key["name"] for key in stage["keys"]]
        for name, words in keys:
            assert re.search(rf"{name}=\w+ {re.escape(plain(words))}", page), (stage["name"], name)


def examples_of(command):
    return re.findall(r"^Example:  (.*)$", help_of(command), re.MULTILINE)


@pytest.mark.parametrize(
    "command", [one for one in commands() if one[:1] not in (("bench",), ("devices",))], ids=" ".join
)  # these measure for seconds
def test_examples_do_what_they_say(sepconv, command):
    """Runs the examples in order in a folder with their input files."""
    tifffile = pytest.importorskip("tifffile")
    for seed, name in enumerate(("scan.tif", "dark.tif")):
        tifffile.imwrite(sepconv.folder / name, image(300, 400, dtype=np.uint16, seed=seed), tile=(64, 64))
    for name in ("out.tif", "expected.tif") if command == ("compare",) else ():
        sepconv("run", "scan.tif", name, "gaussian:sigma=2", "-q")
    tifffile.imwrite(
        sepconv.folder / "stack.ome.tif",
        np.stack([image(60, 80, seed=i) for i in range(5)]),
        metadata={"axes": "ZYX"},
        ome=True,
    )
    for name in "ab":
        np.save(sepconv.folder / f"{name}.npy", np.random.default_rng(1).random((30, 20), np.float32))
    np.save(sepconv.folder / "chw.npy", image(300, 400, 3).transpose(2, 0, 1).copy())
    assert examples_of(command)
    for line in examples_of(command):
        process = subprocess.run(
            ["bash", "-o", "pipefail", "-c", f'sepconv() {{ "{BINARY}" "$@"; }}\n{line}'],
            cwd=sepconv.folder,
            capture_output=True,
            text=True,
        )
        assert process.returncode in ((0, 141) if "info -" in line else (0,)), (
            line,
            process.stderr,
        )  # reading only the header closes the pipe early


def test_examples_are_in_the_pages(shown):
    for command in commands():
        page = shown("-".join(("sepconv", *command)) + ".1")
        found = examples_of(command)
        assert found and all(plain(item) in page.partition(" EXAMPLES ")[2] for item in found), command


def test_nothing_lacks_its_words(sepconv):
    """A page, a help or a completion would show an empty line."""
    for stage in json.loads(sepconv("stages", "--json").stdout)["stages"]:
        assert stage["words"] and stage["example"]
        assert not [key["name"] for key in stage["keys"] if not key["words"]], stage["name"]
    for command in commands():
        for begun in ("", "-"):
            lines = sepconv("completion", "bash", "--", *command, begun).stdout.splitlines()[1:]
            assert not [
                line
                for line in lines
                if command[-1:] != ("completion",) and not line.partition(" -- ")[2] and line.startswith("-")
            ], command


def test_the_command_that_writes_them_is_not_offered(sepconv):
    assert "manual" not in sepconv("--help").stdout
    assert "manual" not in sepconv("completion", "bash", "--", "m").stdout
    assert "manual" not in sepconv("nonsense", status=2).stderr
