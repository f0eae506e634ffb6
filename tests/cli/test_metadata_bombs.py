"""Metadata with many small items: every command completes, or ends with a warning or one message, within
bounded memory. tests/fuzz/metadata_time.py measures how time grows with their size."""

import os
import subprocess

import pytest

from cli_support import listing
from conftest import BINARY
from metadata_bombs import BOMBS, write_bomb

MEGABYTE = 1 << 20
PATIENCE_SECONDS = 300
# docs/zarr.md and docs/formats.md state the memory for metadata in addition to the limit.
MAX_RESIDENT = 400 * MEGABYTE


def outcome(folder, *arguments):
    """Returns the exit code, the output, and the peak memory."""
    with open(folder / "said", "w+") as messages:
        run = subprocess.Popen(
            [BINARY, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=messages, text=True
        )
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        return run.returncode, messages.read(), usage.ru_maxrss * 1024


@pytest.mark.parametrize("kind", BOMBS)
def test_metadata_of_many_small_things(tmp_path, kind):
    name, *more = write_bomb(kind, tmp_path, 2 * MEGABYTE)
    before = listing(tmp_path)
    out = (
        "out.zarr" if kind.startswith(("zarr", "ome-zarr")) else "out.npy" if kind == "journal" else "out.tif"
    )
    stages = [word for word in more if not word.startswith("--") and not word.endswith(".json")]
    options = [word for word in more if word not in stages]
    for command in (
        ["info", name],
        ["plan", name, out, *(stages or ["abs"])],
        ["run", name, out, *(stages or ["abs"]), *options, "--max-memory", "64M", "--quiet"],
    ):
        if command[0] == "plan" and options:
            continue
        code, messages, resident = outcome(tmp_path, *command)
        assert code in (0, 1, 2), (command, code, messages)
        assert code == 0 or messages.splitlines()[-1].startswith("sepconv: "), messages
        assert len(messages) < 10_000, messages[:1000]
        assert resident < MAX_RESIDENT, (command, resident // MEGABYTE)
        if code != 0:
            assert set(listing(tmp_path)) - {"said"} == set(before), "a failed command left something"


@pytest.mark.parametrize(
    "kind, megabytes, limit",
    [
        ("gdal-open-items", 12, "400000 elements"),
        ("ome-channels", 12, "400000 elements"),
        ("ome-depth", 1, "64 levels"),
        ("zarr2-depth", 1, "64 levels"),
        ("zarr2-lists", 12, "1000000 values"),
        ("zarr3-attributes", 20, "1000000 values"),
        ("plan", 15, "1000000 values"),
    ],
)
def test_a_limit_is_named(tmp_path, kind, megabytes, limit):
    name, *more = write_bomb(kind, tmp_path, megabytes * MEGABYTE)
    _, messages, _ = outcome(tmp_path, "run", name, "out.npy", *more, *([] if more else ["abs"]), "--quiet")
    assert limit in messages, messages[:1000]
