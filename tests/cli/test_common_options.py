"""Options common to all commands: help, -q, -v, -n, --json; and their effect on a terminal: progress and
colours."""

import json
import re
import subprocess

import numpy as np
import pytest
import tifffile

from conftest import BINARY
from cli_support import fails, image, in_terminal, listing, one_sentence, source

FAILED, WRONG_USAGE = 1, 2
PROGRESS = re.compile(rb"\r\x1b\[K *\d+ %  \d+ Mpix/s  \d+ MB/s  \d+:\d\d left")


def commands(sepconv):
    return re.findall(r"^  ([a-z]+) ", sepconv("help").stdout.split("Subcommands:")[1], re.MULTILINE)


def test_help_says_all_and_the_option_what_fits_on_two_lines(sepconv):
    assert sepconv("help").stdout == sepconv("--help").stdout
    found = commands(sepconv)
    assert len(found) > 12 and "help" in found
    for words in [[name] for name in found] + [["bench", "conv"]]:
        long, short = sepconv("help", *words).stdout, sepconv(*words, "--help").stdout
        flags = [re.findall(r"^  (-\S+)", text, re.MULTILINE) for text in (long, short)]
        assert (
            short
            and flags[0] == flags[1]
            and len(long) >= len(short)
            and long.splitlines()[:2] == short.splitlines()[:2]
        )
        assert all(len(line) <= 100 for line in short.splitlines() if line.startswith(" " * 30))
    short = sepconv("run", "--help").stdout
    assert re.findall(
        r"^  (-\S+)", short[short.index("\nOptions:") : short.index("\nOutput:")], re.MULTILINE
    ) == ["-h,--help"]  # every other one has a group
    assert (
        len(sepconv("run", "--help").stdout.splitlines()) <= 125
        and "Excludes" not in sepconv("help", "run").stdout
    )


def test_help_of_what_is_no_command(sepconv):
    assert "no command 'frob'; the commands are finish, " in fails(
        sepconv, "help", "frob", status=WRONG_USAGE
    ).replace("run, ", "")
    assert "the commands are " in fails(sepconv, "help", "bench", "frob", status=WRONG_USAGE)
    assert "sepconv run has no commands of its own" in fails(
        sepconv, "help", "run", "gaussian", status=WRONG_USAGE
    )


def test_short_names(sepconv, source):
    assert sepconv("run", source, "out.npy", "-q").stderr == ""
    assert "bottleneck" in sepconv("run", source, "out.npy", "-v", "--force").stderr
    said = sepconv("run", source, "out.npy", "-qv", "--force").stderr
    assert said and "bottleneck" not in said


@pytest.mark.parametrize("name", ["-n", "--dry-run"])
def test_dry_run_is_plan(sepconv, source, name):
    words = [source, "out.npy", "gaussian:sigma=2", "--band-rows", "32", "--max-memory", "256M"]
    # The limit and its rates are measured by each command; a busy machine gives others.
    output = [
        [
            line.replace("; rough, since the machine is busy", "")
            for line in sepconv(*command).stdout.splitlines()
            if not line.startswith("limit ")
        ]
        for command in (["run", *words, name], ["plan", *words])
    ]
    assert output[0] == output[1] != []
    assert sepconv("run", *words, name, "--json").stdout == sepconv("plan", *words, "--json").stdout
    assert listing(sepconv.folder) == ["in.npy"]
    sepconv("run", *words)
    for command in (["run", *words, name], ["plan", *words]):  # both fail like the run
        process = sepconv(*command, status=FAILED)
        assert "bands" in process.stdout and "exists" in one_sentence(process.stderr)


def test_dry_run_of_a_plan(sepconv, source):
    words = [source, "out.npy", "gaussian:sigma=2"]
    (sepconv.folder / "plan.json").write_text(sepconv("plan", *words, "--json", "--band-rows", "16").stdout)
    assert (
        json.loads(sepconv("run", *words, "--plan", "plan.json", "-n", "--json").stdout)["band"]["rows"] == 16
    )


def test_dry_run_of_products_and_permutations(sepconv, source):
    np.save(sepconv.folder / "a.npy", np.eye(8, dtype=np.float32))
    assert "memory" in sepconv("gemm", "a.npy", "a.npy", "out.npy", "-n").stdout
    assert "memory" in sepconv("transpose", source, "out.npy", "-n").stdout
    assert json.loads(sepconv("transpose", source, "out.npy", "-n", "--json").stdout)["bands"] >= 1
    assert listing(sepconv.folder) == ["a.npy", "in.npy"]


@pytest.mark.parametrize(
    "command",
    [
        ["run", "in.npy", "out.npy", "gaussian:sigma=2"],
        ["transpose", "in.npy", "out.npy"],
        ["gemm", "a.npy", "a.npy", "out.npy"],
    ],
    ids=lambda command: command[0],
)
def test_the_report_as_json(sepconv, source, command):
    np.save(sepconv.folder / "a.npy", np.eye(8, dtype=np.float32))
    process = sepconv(*command, "--json", "--stats", "stats.json", "--max-memory", "256M")
    report = json.loads(process.stdout)
    assert report["wall_seconds"] > 0 and report["plan"] and process.stderr == ""
    assert process.stdout == (sepconv.folder / "stats.json").read_text()
    assert (
        json.loads(sepconv(*command, "--json", "-q", "--force", "--max-memory", "256M").stdout)["plan"]
        == report["plan"]
    )
    for other in ("--stats", "--trace"):
        message = fails(sepconv, *command, "--json", "--force", other, "-", status=WRONG_USAGE)
        assert "standard output" in message and "--json" in message


def test_the_report_as_json_leaves_warnings_where_people_read(sepconv):
    np.save(sepconv.folder / "in.npy", image(channels=4))  # its fourth channel becomes alpha
    process = sepconv("run", "in.npy", "out.png", "--json")
    warnings = json.loads(process.stdout)["plan"]["warnings"]
    assert warnings and process.stderr == "".join(f"warning: {one}\n" for one in warnings)
    assert sepconv("run", "in.npy", "out.png", "--json", "-q", "--force").stderr == process.stderr


def test_quiet_drops_progress_and_summary_and_no_warning(sepconv):
    np.save(sepconv.folder / "in.npy", image(channels=4))  # its fourth channel becomes alpha
    np.save(sepconv.folder / "square.npy", np.eye(8, dtype=np.float32))
    for command in (
        ["run", "in.npy", "out.png"],
        ["run", "in.npy", "out.png", "--reference"],
        ["run", "in.npy", "-o", "to", "--format", "png"],
        ["transpose", "in.npy", "out.png"],
        ["generate", "out.png", "--size", "40x30", "--channels", "4"],
        ["gemm", "square.npy", "square.npy", "out.zarr", "--compress", "zstd:fast"],
    ):
        loud, quiet = (sepconv(*command, "--force", *options).stderr for options in ([], ["-q"]))
        messages = [line.strip() for line in loud.splitlines() if line.strip().startswith("warning: ")]
        assert messages and quiet.splitlines() == messages, command
    assert sepconv(
        "gemm", "square.npy", "square.npy", "out.zarr", "--compress", "zstd:fast", "--force", "--json"
    ).stderr.startswith("warning: zstd:fast hardly")


def test_colours_are_for_terminals_that_want_them(sepconv, source):
    wrong = [BINARY, "run", source, "out.npy", "gauss"]
    red = b"\x1b[1;31msepconv:\x1b[0m "
    for variables, coloured in (
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ):
        written, status = in_terminal(wrong, sepconv.folder, **variables)
        assert status == WRONG_USAGE and written.startswith(red if coloured else b"sepconv: "), (
            variables,
            written,
        )


def test_progress_has_a_rate_and_the_time_left(sepconv):
    np.save(sepconv.folder / "in.npy", image(rows=600))
    run = [BINARY, "run", "in.npy", "out.npy", "gaussian:sigma=2", "--band-rows", "8", "--force"]
    for variables, words, shown in (
        ({"TERM": "xterm"}, [], True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, [], True),
        ({"TERM": "xterm"}, ["-q"], False),
        ({"TERM": "dumb"}, [], False),
    ):
        written, status = in_terminal([*run, *words], sepconv.folder, **variables)
        assert status == 0 and bool(PROGRESS.search(written)) == shown, written
        assert b"\x1b[K\r" not in written.split(b"Mpix/s; ")[-1]  # the line is erased before the summary


def test_no_stage_offers_what_it_refuses(sepconv):
    """Every treatment of missing pixels in the stage's own example; for taps it depends on their sum."""
    np.save(sepconv.folder / "in.npy", image(24, 32))
    for stage in json.loads(sepconv("stages", "--json").stdout)["stages"]:
        stage["example"] = "convolve:row=1,2,1" if stage["name"] == "convolve" else stage["example"]
        for key in stage["keys"]:
            if key["name"] != "missing":
                continue
            for choice in key["choices"]:
                text = f"{stage['example']}{',' if ':' in stage['example'] else ':'}nodata={choice}"
                process = subprocess.run(
                    [*sepconv.command, "plan", "in.npy", "out.npy", text],
                    cwd=sepconv.folder,
                    capture_output=True,
                    text=True,
                )
                assert "nodata=" not in process.stderr, (text, process.stderr)


def test_a_chain_with_several_keys_stands_in_brackets(sepconv, source):
    for stage in ("add", "subtract", "multiply", "divide", "min", "max", "blend"):
        assert "chain=[" in sepconv("stages", stage).stdout.splitlines()[-1]
    text = "subtract:chain=gaussian:sigma=2,radius=3"
    message = fails(sepconv, "run", source, "out.npy", text, status=2)
    assert "in brackets" in message and "subtract:chain=[gaussian:sigma=8,radius=20]" in message
    sepconv("run", source, "out.npy", "subtract:chain=[gaussian:sigma=2,radius=3]", "--quiet")


@pytest.mark.parametrize(
    "former, current",
    [
        (["--whole"], ["--reference"]),
        (["--durable"], ["--fsync"]),
        (["--big-tiff"], ["--bigtiff=yes"]),
        (["--classic-tiff"], ["--bigtiff", "no"]),
        (["--nodata", "3", "--result-nodata=7"], ["--nodata", "3", "--dst-nodata", "7"]),
        (["scale:by=2,add=1"], ["scale:factor=2,offset=1"]),
        (["resize:to=20x10"], ["resize:size=20x10"]),
        (["resize:by=0.5"], ["resize:scale=0.5"]),
        (["percentile:p=30"], ["percentile:percent=30"]),
        (["box:missing=fill"], ["box:nodata=fill"]),
    ],
    ids=lambda words: " ".join(words),
)
def test_names_of_version_0_2_are_accepted(sepconv, former, current):
    tifffile.imwrite(sepconv.folder / "in.tif", np.arange(1200, dtype=np.uint16).reshape(30, 40))
    for name, words in (("former.tif", former), ("current.tif", current)):
        sepconv("run", "in.tif", name, "abs", *words, "--quiet")
    assert (sepconv.folder / "former.tif").read_bytes() == (sepconv.folder / "current.tif").read_bytes()


def test_the_former_name_of_the_output_folder_is_accepted(sepconv):
    tifffile.imwrite(sepconv.folder / "in.tif", np.ones((30, 40), np.uint8))
    sepconv("run", "in.tif", "--into", "results", "abs", "--quiet")
    assert (sepconv.folder / "results/in.tif").exists()
