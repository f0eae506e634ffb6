"""Stacks above 4 GB in ImageJ's layout, with one directory: read and written under a small memory limit."""

import json
import shutil
import struct

import pytest
import tifffile

pytestmark = pytest.mark.slow

SIDE, PLANES = 24000, 8
FREE_DISK = 12 << 30
MARK = 12345


@pytest.fixture
def folder(tmp_path):
    """Removes the gigabytes as soon as the test ends."""
    if shutil.disk_usage(tmp_path).free < FREE_DISK:
        pytest.skip(f"less than {FREE_DISK >> 30} GiB of disk are free")
    yield tmp_path
    shutil.rmtree(tmp_path)


def write_imagej(path):
    """A sparse file in which each plane contains its number at one position."""
    description = b"ImageJ=1.53t\nimages=%d\nslices=%d\n\0" % (PLANES, PLANES)
    entries = [
        (256, 4, 1, SIDE),
        (257, 4, 1, SIDE),
        (258, 3, 1, 8),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (270, 2, len(description), 200),
        (273, 4, 1, 512),
        (277, 3, 1, 1),
        (278, 4, 1, SIDE),
        (279, 4, 1, SIDE * SIDE),
    ]
    content = (
        b"II*\0"
        + struct.pack("<I", 8)
        + struct.pack("<H", len(entries))
        + b"".join(struct.pack("<HHII", *entry) for entry in entries)
        + bytes(4)
    )
    with open(path, "wb") as file:
        file.write(content.ljust(200, b"\0") + description)
        for plane in range(PLANES):
            file.seek(512 + plane * SIDE * SIDE + MARK)
            file.write(bytes([plane + 1]))
        file.truncate(512 + PLANES * SIDE * SIDE)


@pytest.mark.parametrize("option", ["--bigtiff=no", "--bigtiff=yes"])
def test_an_imagej_stack_above_4_gb(sepconv, folder, option):
    write_imagej(folder / "in.tif")
    process = sepconv("run", "in.tif", "out.tif", option, "--max-memory", "64M", "--stats", "stats.json")
    assert json.loads((folder / "stats.json").read_text())["peak_rss_bytes"] < 64 << 20
    assert ("only the first image has a directory" in process.stderr) == (option == "--bigtiff=no")
    with tifffile.TiffFile(folder / "out.tif") as result:
        assert result.is_bigtiff == (option == "--bigtiff=yes") and len(result.pages) == (
            1 if option == "--bigtiff=no" else PLANES
        )
        assert result.series[0].shape == (PLANES, SIDE, SIDE) and result.series[0].kind == "imagej"
    planes = tifffile.memmap(folder / "out.tif", mode="r")
    assert [planes.reshape(PLANES, -1)[plane, MARK] for plane in range(PLANES)] == list(range(1, PLANES + 1))
    assert not planes.reshape(PLANES, -1)[:, MARK + 1 : MARK + 100000].any()
    assert "equal" in sepconv("compare", "in.tif", "out.tif", "--max-memory", "64M").stdout
