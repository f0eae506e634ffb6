"""zstd:fast: read by libtiff, by the program zstd, by tifffile with imagecodecs and by zarr-python, if these
are installed, and its size."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from test_deflate import IMAGES, sample_image
from tiff_tools import read_tiff


def compressed_size(sepconv, compression, *options, name="out.tif"):
    sepconv("run", "in.npy", name, "--quiet", "--force", "--compress", compression, *options)
    return (
        sum(file.stat().st_size for file in (sepconv.folder / name).rglob("*"))
        if name.endswith("zarr")
        else (sepconv.folder / name).stat().st_size
    )


def pixel_types_of_image(image):
    yield "u8", image
    yield "u16", np.rint(4095 * (image / 255) ** 2.2).astype(np.uint16)  # like a camera of 12 bits
    yield "f32", image.astype(np.float32) / np.float32(255)
    yield "mask", (image > 127).astype(np.uint8)


@pytest.mark.parametrize("name", IMAGES[::3])
def test_libtiff_reads_it_and_it_is_hardly_larger_than_deflate_fast(sepconv, name):
    for kind, image in pixel_types_of_image(sample_image(name)):
        np.save(sepconv.folder / "in.npy", image)
        for tile in (0, 128, 256):
            minimum = compressed_size(sepconv, "deflate:fast", "--tile", tile)
            result = compressed_size(sepconv, "zstd:fast", "--tile", tile)
            assert result <= (1.05 if kind != "mask" else 1.3) * minimum + 2000
            np.testing.assert_array_equal(read_tiff(sepconv.folder / "out.tif"), image)


@pytest.mark.skipif(shutil.which("zstd") is None, reason="the program zstd is not installed")
@pytest.mark.parametrize("version", [2, 3])
def test_the_program_zstd_reads_chunks(sepconv, version):
    image = sample_image("camera.png")
    np.save(sepconv.folder / "in.npy", image)
    sepconv(
        "run",
        "in.npy",
        "out.zarr",
        "--quiet",
        "--force",
        "--compress",
        "zstd:fast",
        "--chunk",
        128,
        "--zarr",
        version,
    )
    chunks = [
        path for path in (sepconv.folder / "out.zarr").rglob("*") if path.is_file() and path.name[0].isdigit()
    ]
    assert len(chunks) == 16
    for path in chunks:
        row, col = (int(part) for part in path.relative_to(sepconv.folder / "out.zarr").parts[-2:])
        found = subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout
        np.testing.assert_array_equal(
            np.frombuffer(found, np.uint8).reshape(128, 128),
            image[128 * row : 128 * row + 128, 128 * col : 128 * col + 128],
        )


@pytest.mark.parametrize("name", ["astronaut.png", "horse.png"])
def test_imagecodecs_reads_tiles(sepconv, name):
    pytest.importorskip("imagecodecs", reason="imagecodecs is not installed")
    import tifffile

    for _, image in pixel_types_of_image(sample_image(name)):
        np.save(sepconv.folder / "in.npy", image)
        compressed_size(sepconv, "zstd:fast", "--tile", 128)
        np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "out.tif"), image)


@pytest.mark.parametrize("options", [("--zarr", 2), ("--zarr", 3), ("--zarr", 3, "--shard", 256)], ids=str)
def test_zarr_python_reads_chunks_and_shards(sepconv, options):
    zarr = pytest.importorskip("zarr", minversion="3", reason="zarr-python 3 is not installed")
    for _, image in pixel_types_of_image(sample_image("camera.png")):
        np.save(sepconv.folder / "in.npy", image)
        compressed_size(sepconv, "zstd:fast", "--chunk", 128, *options, name="out.zarr")
        group = zarr.open_group(sepconv.folder / "out.zarr", mode="r")
        (key,) = list(group.array_keys())
        np.testing.assert_array_equal(np.asarray(group[key]), image)


@pytest.mark.parametrize("name", ["out.tif", "out.zarr"])
def test_plan_says_it(sepconv, name):
    np.save(sepconv.folder / "in.npy", sample_image("camera.png"))
    text = sepconv("plan", "in.npy", name, "--compress", "zstd:fast").stdout
    assert "zstd without search" in text
    plan = json.loads(sepconv("plan", "in.npy", name, "--compress", "zstd:fast", "--json").stdout)
    assert "zstd without search" in json.dumps(plan)
