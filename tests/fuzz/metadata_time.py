"""The processor time for metadata grows linearly with their size: for each kind, four times the size takes
less than nine times as long, unless the process's own time dominates. Sizes up to 100 MB succeed quickly or
are refused with a limit."""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from conftest import BINARY
from metadata_bombs import BOMBS, write_bomb

MEGABYTE = 1 << 20
NOTICED_SECONDS = 1.0


def processor_seconds(folder, name, stages):
    """The minimum processor time of two runs of `info` and one stage."""
    seconds = []
    for _ in range(2):
        total = 0.0
        for command in (
            ["info", name],
            ["run", name, "out.npy", *(stages or ["abs"]), "--quiet", "--force", "--threads", "1"],
        ):
            run = subprocess.Popen(
                [BINARY, *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
            assert run.returncode in (0, 1, 2), (command, run.returncode)
            total += usage.ru_utime
        seconds.append(total)
    return min(seconds)


@pytest.mark.parametrize("kind", BOMBS)
def test_time_grows_with_the_size(tmp_path, kind):
    taken = []
    for size in (MEGABYTE, 4 * MEGABYTE, 100 * MEGABYTE):
        folder = tmp_path / str(size)
        folder.mkdir()
        name, *stages = write_bomb(kind, folder, size)
        taken.append(processor_seconds(folder, name, stages))
        print(f"{kind}: {size // MEGABYTE} MB {taken[-1]:.2f} s", flush=True)
    small, large, huge = taken
    assert large < max(NOTICED_SECONDS, 9 * small), taken
    assert huge < max(10 * NOTICED_SECONDS, 60 * large), taken
