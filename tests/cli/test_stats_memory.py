"""The memory limit of `stats` includes the histograms of images with many channels."""

import os
import subprocess

import numpy as np


def peak(sepconv, *arguments):
    with subprocess.Popen(
        [*sepconv.command, *arguments], cwd=sepconv.folder, stdout=subprocess.DEVNULL
    ) as program:
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    assert program.returncode == 0
    return usage.ru_maxrss << 10


def test_counts_of_many_channels(sepconv):
    image = np.random.default_rng(0).integers(0, 60000, (16, 16, 100)).astype(np.uint16)
    np.save(sepconv.folder / "many.npy", image)
    np.save(sepconv.folder / "one.npy", image[:, :, :1])
    more = [
        peak(sepconv, "stats", name, "--axes", "yxc", "--max-memory", "64M", "--threads", "1")
        for name in ("one.npy", "many.npy")
    ]
    assert more[1] - more[0] < 64 << 20
