"""Every option with a numeric value refuses invalid ones in one short message that names the option."""

import re
import subprocess

import numpy as np
import pytest

from conftest import BINARY
from cli_support import fails, image, one_sentence

TYPED = ["0", "-1", "99999999999999999999", "x", "1-3", "", "1" * 500]
COMMANDS = {
    "run": (["in.npy", "out.npy"], ["--force", "--quiet"]),
    "plan": (["in.npy", "out.npy"], []),
    "transpose": (["in.npy", "out.npy"], ["--dry-run"]),
    "gemm": (["a.npy", "a.npy", "out.npy"], ["--dry-run", "--c", "a.npy"]),
    "preview": (["in.npy"], ["-o", "view.png", "--force"]),
    "info": (["in.npy"], []),
    "stats": (["in.npy"], []),
    "compare": (["in.npy", "in.npy"], []),
    "generate": (["out.npy"], ["--force", "--size", "16x16"]),
    "bench conv": ([], ["--size", "16x16", "--radius", "1", "--runs", "3", "--device", "cpu"]),
    "bench gemm": ([], ["--size", "8,8,8", "--runs", "3", "--device", "cpu"]),
    "bench run": ([], ["--size", "16x16", "--radius", "1", "--runs", "1", "--device", "cpu"]),
    "bench transpose": ([], ["--size", "16x16", "--size3", "2,2,2", "--runs", "3", "--device", "cpu"]),
}
# The non-numeric types in the help.
WORDS = re.compile(r"FILE|DIR|.*\|.*(?<!ROWSxCOLS)$")


def without(options, name):
    """The options without one that may not be given twice."""
    if name not in options:
        return options
    at = options.index(name)
    return options[:at] + options[at + (1 if name in ("--force", "--quiet", "--dry-run") else 2) :]


def numeric_options(sepconv, command):
    help_text = sepconv(*command.split(), "--help").stdout
    matches = re.findall(r"^  (?:-\w,)?(--[\w-]+) (?!Excludes:|Needs:)(\S+)", help_text, re.MULTILINE)
    return [(name, value) for name, value in matches if not WORDS.fullmatch(value)]


@pytest.mark.parametrize("command", COMMANDS)
def test_numbers(sepconv, command):
    np.save(sepconv.folder / "in.npy", image(rows=16, cols=16))
    np.save(sepconv.folder / "a.npy", image(rows=16, cols=16, dtype=np.float32))
    files, options = COMMANDS[command]
    numeric = numeric_options(sepconv, command)
    assert numeric
    for name, _ in numeric:
        needed = (
            ["--conflicts"] if (command, name) == ("bench transpose", "--tile") else without(options, name)
        )
        for typed in TYPED:
            arguments = [
                *command.split(),
                *files,
                *needed,
                *([f"{name}={typed}"] if typed.startswith("-") else [name, typed]),
            ]
            process = subprocess.run([BINARY, *arguments], cwd=sepconv.folder, capture_output=True, text=True)
            if name.startswith("--page") and typed == "1-3":  # pages that this file does not have
                assert process.returncode in (1, 2) and re.search(
                    "page 1-3 (of|does not apply)|has no page 3", one_sentence(process.stderr)
                ), process.stderr
                continue
            assert process.returncode in ((2,) if typed == "x" else (0, 2)), (arguments, process.stderr)
            if process.returncode == 2:
                message = one_sentence(process.stderr)
                assert name in message and len(message) < 300, message


def test_the_numbers_are_all_there(sepconv):
    names = {name for command in COMMANDS for name, _ in numeric_options(sepconv, command)}
    assert {
        "--page",
        "--page-b",
        "--page-c",
        "--threads",
        "--slots",
        "--band-rows",
        "--band-cols",
        "--max-memory",
        "--max-device-memory",
        "--tile",
        "--raw",
        "--channels",
        "--size",
        "--seed",
        "--tolerance",
        "--alpha",
        "--beta",
        "--radius",
        "--runs",
        "--tiled-radius",
        "--size3",
        "--perm",
    } <= names


@pytest.mark.parametrize("typed, threads", [("010", 10), ("+2", 2), ("1", 1)])
def test_whole_numbers_are_decimal(sepconv, typed, threads):
    np.save(sepconv.folder / "in.npy", image(rows=16, cols=16))
    assert (
        f'"threads": {threads},' in sepconv("plan", "in.npy", "out.npy", "--threads", typed, "--json").stdout
    )


def options_of(sepconv, command):
    """Every name of every option, and the type of its value as help prints it; "" for a flag."""
    lines = re.findall(
        r"^  (-[\w,-]+)(\[=\S+| \S+)?(?:  |\n|$)", sepconv(*command.split(), "--help").stdout, re.MULTILINE
    )
    return [(name, value.strip()) for names, value in lines for name in names.split(",")]


ALL_COMMANDS = [*COMMANDS, "report", "finish", "devices", "stages", "completion"]


@pytest.mark.parametrize("command", ALL_COMMANDS)
def test_an_equals_sign_has_a_value_after_it(sepconv, command):
    """The next argument is never the value of "--name=", a flag has no value, and "-o" needs no "="."""
    np.save(sepconv.folder / "in.npy", image(rows=16, cols=16))
    np.save(sepconv.folder / "a.npy", image(rows=16, cols=16, dtype=np.float32))
    files, _ = COMMANDS.get(command, (["in.npy"] if command == "report" else [], []))
    options = options_of(sepconv, command)
    assert ("--help", "") in options
    for name, value in options:
        for typed in ("", "no", "1"):
            if value and typed and name.startswith("--"):
                continue
            message = fails(sepconv, *command.split(), f"{name}={typed}", *files, status=2)
            if not value:
                assert message == f"{name} takes no value; remove '={typed}'"
            elif not typed:
                assert message == f"{name}= has no value; write one after it"
                message = fails(sepconv, *command.split(), name, "", *files, status=2)
                assert message == f"{name} has no value; write one after it"
            else:
                assert message == f"{name}={typed} has a '=' too many; write {name} {typed}"


def test_the_options_with_an_equals_sign_are_all_there(sepconv):
    found = {option for command in ALL_COMMANDS for option in options_of(sepconv, command)}
    assert {
        ("--output-dir", "DIR"),
        ("--pyramid", "[=nearest|none]"),
        ("--to-8bit", "[=LOW:HIGH]"),
        ("--cog", ""),
        ("--json", ""),
        ("-q", ""),
        ("-o", "FILE"),
    } <= found


@pytest.mark.parametrize(
    "words, message",
    [
        (["a.npy", "in.npy", "box", "--output-dir=", "box"], "--output-dir= has no value"),
        (
            ["in.npy", "out.tif", "--big-tiff=no"],
            "--big-tiff takes no value; its present name is --bigtiff=yes",
        ),
        (["in.npy", "out.tif", "--classic-tiff="], "takes no value; its present name is --bigtiff=no"),
        (["in.npy", "out.tif", "--whole=yes"], "--reference takes no value"),
        (["in.npy", "out.tif", "-qv=1"], "-v takes no value"),
    ],
)
def test_an_equals_sign_of_run(sepconv, words, message):
    np.save(sepconv.folder / "in.npy", image(rows=16, cols=16))
    np.save(sepconv.folder / "a.npy", image(rows=16, cols=16))
    assert message in fails(sepconv, "run", *words, status=2)


@pytest.mark.parametrize("word", ["--whole", "--whole=3", "--into=box", "--add"])
def test_a_former_name_that_the_command_never_had_is_named_as_it_was_typed(sepconv, word):
    np.save(sepconv.folder / "in.npy", image(rows=16, cols=16))
    message = fails(sepconv, "plan", "in.npy", "out.npy", word, status=2)
    assert word in message and "--reference" not in message and "--output-dir" not in message


def test_words_after_two_hyphens_are_no_options(sepconv):
    assert "--output-dir=" in fails(sepconv, "run", "--", "--output-dir=", "out.npy", status=1)
    sepconv("completion", "bash", "--", "run", "in.npy", "--output-dir=")
    np.save(sepconv.folder / "in.npy", image(rows=16, cols=16))
    sepconv("preview", "in.npy", "-qoview=1.png")
    assert (sepconv.folder / "view=1.png").exists()
