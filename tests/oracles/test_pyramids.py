"""Levels computed in the same pass as the image: means of 2 x 2 of the level before, read by tifffile and
libvips."""

import subprocess

import numpy as np
import pytest
import tifffile
from reference import random_image
from tiff_tools import read_tiff


def halved(image):
    """Means of cells of 2 x 2, of the existing pixels at the edges, in float64, rounded half to even for
    integers."""
    rows, cols = image.shape[:2]
    sums = np.zeros(((rows + 1) // 2, (cols + 1) // 2) + image.shape[2:])
    counts = np.zeros_like(sums)
    for row in (0, 1):
        for col in (0, 1):
            part = image[row::2, col::2]
            sums[: part.shape[0], : part.shape[1]] += part
            counts[: part.shape[0], : part.shape[1]] += 1
    means = sums / counts
    return np.rint(means) if image.dtype.kind in "iu" else means


def plain(path, level):
    """A level's pixels, copied without compression by libtiff if tifffile lacks the codec."""
    with tifffile.TiffFile(path) as tif:
        try:
            return tif.pages[level].asarray()
        except ValueError:
            copy = path.with_suffix(".plain.tif")
            subprocess.run(["tiffcp", "-c", "none", f"{path},{level}", copy], check=True, capture_output=True)
            return tifffile.imread(copy)


def check_levels(images, least):
    assert max(images[-1].shape[:2]) <= least < max(images[-2].shape[:2])
    for larger, smaller in zip(images, images[1:]):
        expected = halved(larger)
        assert smaller.shape == expected.shape and smaller.dtype == larger.dtype
        np.testing.assert_allclose(smaller, expected, rtol=0, atol=0 if larger.dtype.kind in "iu" else 1e-4)


@pytest.mark.parametrize("compress", ["none", "deflate:1", "zstd", "lzw"])
@pytest.mark.parametrize("shape", [(700, 333), (65, 1500, 3), (1, 3000), (2999, 1)], ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_levels_are_overviews(sepconv, dtype, shape, compress):
    np.save(sepconv.folder / "in.npy", random_image(shape, dtype))
    options = ["--compress", compress, "--tile", 128, "--quiet", "--axes", "yxc" if len(shape) == 3 else "yx"]
    sepconv("run", "in.npy", "out.tif", "gaussian:sigma=2", "--pyramid", *options)
    sepconv("run", "in.npy", "plain.tif", "gaussian:sigma=2", *options)
    path = sepconv.folder / "out.tif"
    with tifffile.TiffFile(path) as tif:
        assert [page.subfiletype for page in tif.pages] == [0] + [1] * (len(tif.pages) - 1)
        count = len(tif.pages)
        if min(shape[:2]) > 1:  # tifffile expects both sides to shrink
            assert len(tif.series) == 1 and len(tif.series[0].levels) == count
    images = [plain(path, level) for level in range(count)]
    np.testing.assert_array_equal(images[0], read_tiff(sepconv.folder / "plain.tif"))
    check_levels(images, 128)


@pytest.mark.parametrize(
    "options", [["--band-rows", 64, "--slots", 1], ["--threads", 3], ["--max-memory", "12M"]], ids=str
)
def test_levels_do_not_depend_on_the_plan(sepconv, options):
    np.save(sepconv.folder / "in.npy", random_image((1500, 1100), np.uint8))
    run = [
        "run",
        "in.npy",
        "out.tif",
        "gaussian:sigma=2",
        "--pyramid",
        "--compress",
        "deflate:1",
        "--tile",
        64,
        "--force",
        "--quiet",
    ]
    levels = []
    for given in ([], options):
        sepconv(*run, *given)
        with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
            levels.append([page.asarray() for page in tif.pages])
    assert len(levels[0]) == len(levels[1]) == 6
    for item, other in zip(*levels):
        np.testing.assert_array_equal(item, other)


def test_a_stack_has_levels_in_sub_directories(sepconv):
    """As OME-TIFF requires: its pages are only the planes."""
    stack = np.stack(
        [[random_image((300, 260), np.uint16, seed=2 * z + c) for c in range(2)] for z in range(3)]
    )
    tifffile.imwrite(sepconv.folder / "in.ome.tif", stack, metadata={"axes": "ZCYX"}, tile=(64, 64))
    sepconv("run", "in.ome.tif", "out.ome.tif", "gaussian:sigma=1", "--pyramid", "--quiet")
    sepconv(
        "run", "out.ome.tif", "again.ome.tif", "abs", "--quiet"
    )  # levels are created if the source has them
    sepconv("run", "out.ome.tif", "none.ome.tif", "abs", "--pyramid", "none", "--quiet")
    for name, count in [("out", 4), ("again", 4), ("none", 1)]:
        with tifffile.TiffFile(sepconv.folder / f"{name}.ome.tif") as tif:
            assert len(tif.pages) == 6 and len(tif.series) == 1 and tif.series[0].axes == "ZCYX"
            levels = [level.asarray() for level in tif.series[0].levels]
        assert len(levels) == count and levels[0].shape == (3, 2, 300, 260)
        for z, c in np.ndindex(3, 2):
            if count > 1:
                check_levels([level[z, c] for level in levels], 64)


def test_levels_are_read_alone(sepconv):
    np.save(sepconv.folder / "in.npy", random_image((700, 333), np.uint8))
    sepconv("run", "in.npy", "out.tif", "--pyramid", "--tile", 64, "--quiet")
    for level, expected in enumerate(plain(sepconv.folder / "out.tif", i) for i in range(5)):
        sepconv("run", "out.tif", "level.npy", "--level", level, "--quiet", "--force")
        np.testing.assert_array_equal(np.load(sepconv.folder / "level.npy"), expected)


def test_libvips_reads_the_levels(sepconv):
    np.save(sepconv.folder / "in.npy", random_image((700, 333), np.uint8))
    sepconv("run", "in.npy", "out.tif", "--pyramid", "--tile", 64, "--compress", "deflate", "--quiet")
    path = sepconv.folder / "out.tif"
    subprocess.run(
        ["vips", "copy", f"{path}[page=2]", sepconv.folder / "two.tif"], check=True, capture_output=True
    )
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "two.tif"), plain(path, 2))


def test_where_levels_cannot_be(sepconv):
    np.save(sepconv.folder / "in.npy", random_image((700, 333), np.uint8))
    assert (
        "--pyramid means nothing for NPY" in sepconv("run", "in.npy", "out.npy", "--pyramid", status=2).stderr
    )
    assert (
        "--pyramid takes nothing, nearest or none"
        in sepconv("run", "in.npy", "out.tif", "--pyramid=all", status=2).stderr
    )
    sepconv("run", "in.npy", "levels.tif", "--pyramid", "--tile", 64, "--quiet")
    said = sepconv("run", "levels.tif", "out.png").stderr
    assert "the smaller levels are not kept: PNG holds the full image only" in said


def test_levels_of_what_is_made_and_multiplied(sepconv):
    sepconv("generate", "made.tif", "--size", "700x333", "--tile", 64, "--pyramid")
    check_levels([plain(sepconv.folder / "made.tif", level) for level in range(5)], 64)
    rng = np.random.default_rng(3)
    np.save(sepconv.folder / "a.npy", rng.random((300, 40), np.float32))
    np.save(sepconv.folder / "b.npy", rng.random((40, 260), np.float32))
    sepconv("gemm", "a.npy", "b.npy", "c.tif", "--tile", 64, "--pyramid")
    check_levels([plain(sepconv.folder / "c.tif", level) for level in range(4)], 64)


@pytest.mark.parametrize("options", [[], ["--bigtiff=yes"], ["--tile", 64], ["--planar"]], ids=str)
@pytest.mark.parametrize("compress", ["none", "deflate:1"])
def test_cloud_optimized(sepconv, compress, options):
    """Directories first, the image's directly after GDAL's ghost area; then the pixels, beginning with the
    smallest level, all in order."""
    np.save(sepconv.folder / "in.npy", random_image((1100, 1333, 3), np.uint8))
    common = [
        "--compress",
        compress,
        "--tile",
        64 if "--tile" in options else 512,
        "--quiet",
        *[o for o in options if o not in ("--tile", 64)],
    ]
    sepconv("run", "in.npy", "cog.tif", "gaussian:sigma=1", "--cog", *common)
    sepconv("run", "in.npy", "plain.tif", "gaussian:sigma=1", "--pyramid", *common)
    with (
        tifffile.TiffFile(sepconv.folder / "cog.tif") as cog,
        tifffile.TiffFile(sepconv.folder / "plain.tif") as plain_levels,
    ):
        assert len(cog.pages) == len(plain_levels.pages) > 1
        for level in range(len(cog.pages)):
            np.testing.assert_array_equal(
                plain(sepconv.folder / "cog.tif", level), plain(sepconv.folder / "plain.tif", level)
            )
        start = 16 if cog.is_bigtiff else 8
        head = (sepconv.folder / "cog.tif").read_bytes()[start:300]
        line, remainder = head.split(b"\n", 1)
        size = int(line.removeprefix(b"GDAL_STRUCTURAL_METADATA_SIZE=").removesuffix(b" bytes"))
        assert remainder.startswith(b"LAYOUT=IFDS_BEFORE_DATA\n") and remainder[size - 2 : size] == b"\n "
        end = start + len(line) + 1 + size
        offsets = [page.offset for page in cog.pages]
        assert offsets[0] == end + end % 2 and offsets == sorted(offsets)
        blocks = [list(page.dataoffsets) for page in cog.pages]
        assert all(offset == sorted(offset) for offset in blocks)
        assert max(offsets) < blocks[-1][0]
        for larger, smaller in zip(blocks, blocks[1:]):
            assert smaller[-1] < larger[0]
        last = cog.pages[0]
        assert (sepconv.folder / "cog.tif").stat().st_size >= last.dataoffsets[-1] + last.databytecounts[-1]


@pytest.mark.parametrize(
    "layout", [["--tile", 128], ["--tile", 0], ["--cog"]], ids=["tiles", "strips", "COG"]
)
def test_bytes_do_not_depend_on_the_plan(sepconv, layout):
    np.save(sepconv.folder / "in.npy", random_image((1700, 1500), np.uint8))
    results = set()
    for ceiling in (["--max-memory", "30M"], ["--max-memory", "300M"], ["--band-rows", 256]):
        sepconv(
            "run",
            "in.npy",
            "out.tif",
            "gaussian:sigma=1",
            "--pyramid",
            "--compress",
            "deflate:1",
            *layout,
            *ceiling,
            "--quiet",
            "--force",
        )
        results.add((sepconv.folder / "out.tif").read_bytes())
    assert len(results) == 1


def test_a_transposition_of_a_pyramid_is_one(sepconv):
    image = random_image((600, 433, 3), np.uint8)
    np.save(sepconv.folder / "in.npy", image)
    sepconv("run", "in.npy", "in.tif", "--pyramid", "--axes", "yxc", "--quiet")
    for options in ([], ["--cog"], ["--pyramid"]):
        sepconv("transpose", "in.tif", "out.tif", *options, "--quiet", "--force")
        with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
            levels = [page.asarray() for page in tif.pages]
        np.testing.assert_array_equal(levels[0], image.swapaxes(0, 1))
        check_levels(levels, 512)
    assert (
        "the smaller levels are not kept"
        in sepconv("transpose", "in.tif", "out.tif", "--perm", "0,2,1", "--force").stderr
    )
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "out.tif"), image.swapaxes(1, 2))
    assert (
        "permute without --pyramid and --cog"
        in sepconv("transpose", "in.tif", "new.tif", "--perm", "0,2,1", "--pyramid", status=2).stderr
    )


def test_what_cannot_be_cloud_optimized(sepconv):
    np.save(sepconv.folder / "in.npy", random_image((700, 333), np.uint8))
    for options in (["--tile", 0], ["--pyramid", "none"]):
        assert (
            "a Cloud Optimized GeoTIFF has tiles and levels"
            in sepconv("run", "in.npy", "out.tif", "--cog", *options, status=2).stderr
        )
    assert "--cog means nothing for NPY" in sepconv("run", "in.npy", "out.npy", "--cog", status=2).stderr
    tifffile.imwrite(sepconv.folder / "stack.tif", np.zeros((3, 20, 30), np.uint8), photometric="minisblack")
    assert "holds one image and not 3" in sepconv("run", "stack.tif", "out.tif", "--cog", status=2).stderr
    sepconv("run", "stack.tif", "out.tif", "--cog", "--page", 1, "--quiet")
    assert sorted(path.name for path in sepconv.folder.iterdir()) == ["in.npy", "out.tif", "stack.tif"]


@pytest.mark.parametrize("shape", [(50, 60), (600, 700, 3), (513, 1025)])
@pytest.mark.parametrize("codec", ["deflate", "zstd"])
def test_cloud_optimized_for_rio_cogeo(sepconv, codec, shape):
    cogeo = pytest.importorskip("rio_cogeo.cogeo", reason="rio-cogeo is not installed")
    np.save(sepconv.folder / "in.npy", random_image(shape, np.uint8))
    sepconv(
        "run",
        "in.npy",
        "out.tif",
        "gaussian:sigma=1",
        "--cog",
        "--compress",
        codec,
        "--axes",
        "yxc"[: len(shape)],
        "--quiet",
    )
    assert cogeo.cog_validate(str(sepconv.folder / "out.tif"), strict=True, quiet=True) == (True, [], [])


@pytest.mark.parametrize("big", [[], ["--bigtiff=yes"]])
def test_what_was_cloud_optimized_and_is_no_more_is_said(sepconv, big):
    np.save(sepconv.folder / "in.npy", random_image((600, 700), np.uint8))
    sepconv("run", "in.npy", "cog.tif", "--cog", "--quiet", *big)
    messages = "the source is a Cloud Optimized GeoTIFF, and the result is none: --cog makes one"
    assert messages in sepconv("plan", "cog.tif", "out.tif").stdout
    assert messages in sepconv("plan", "cog.tif", "out.tif", "--pyramid").stdout
    for target, options in {"out.tif": ["--cog"], "out.zarr": [], "out.png": []}.items():
        assert messages not in sepconv("plan", "cog.tif", target, *options).stdout
    sepconv("run", "cog.tif", "plain.tif", "--quiet")
    assert "Cloud" not in sepconv("plan", "plain.tif", "out.tif").stdout


@pytest.mark.parametrize("options", [{"imagej": True}, {}], ids=["ImageJ", "shaped"])
def test_levels_of_a_described_stack_lie_inside_of_its_images(sepconv, options):
    """Pages between its planes would not match the description."""
    stack = np.random.default_rng(3).integers(0, 60000, (3, 600, 700), dtype=np.uint16)
    tifffile.imwrite(sepconv.folder / "in.tif", stack, photometric="minisblack", **options)
    sepconv("run", "in.tif", "out.tif", "abs", "--pyramid", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        assert len(tif.pages) == 3 and all(len(page.pages) >= 1 for page in tif.pages)
        np.testing.assert_array_equal(tif.asarray(), stack)
