"""sepconv transpose and the stage transpose compared with numpy.transpose and SciPy."""

import itertools

import numpy as np
import pytest
import scipy.ndimage as ndi
import tifffile
from reference import random_image

PERMUTATIONS = list(itertools.permutations(range(3)))
SHAPES = [
    (3, 4, 5),
    (1, 7, 9),
    (64, 1, 33),
    (17, 31, 1),
    (1, 1, 50),
    (5, 128, 130),
    (200, 3, 70),
    (70, 90, 3),
]
CUTS = [
    [],
    ["--max-memory", "300K"],
    ["--band-rows", 3, "--band-cols", 5],
    ["--threads", 1, "--slots", 1, "--band-rows", 7, "--band-cols", 64],
]


def permutation_text(permutation):
    return ",".join(map(str, permutation))


def transposed(sepconv, array, permutation, *options, source="in.npy", result="out.npy"):
    if source == "in.npy":
        np.save(sepconv.folder / source, array)
    sepconv(
        "transpose", source, result, "--perm", permutation_text(permutation), "--quiet", "--force", *options
    )
    path = sepconv.folder / result
    return np.load(path) if result.endswith(".npy") else tifffile.imread(path)


@pytest.mark.parametrize("permutation", PERMUTATIONS, ids=permutation_text)
@pytest.mark.parametrize(
    "dtype", ["u1", "<u2", "<i2", ">f4", "<f8", "<c16", "<c8", "<i8", "?", "<f2", ">u4", "<M8[s]"]
)
def test_every_permutation_of_every_element(sepconv, permutation, dtype):
    random = np.random.default_rng(7)
    for shape, cut in zip(SHAPES, itertools.cycle(CUTS)):
        array = random.integers(0, 200, shape).astype(dtype)
        actual = transposed(sepconv, array, permutation, *cut)
        expected = array.transpose(permutation)
        assert actual.shape == expected.shape
        # Pixel types are stored in this machine's byte order, all others in the source's.
        assert actual.dtype == (expected.dtype.newbyteorder("=") if dtype == ">f4" else expected.dtype)
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("permutation", PERMUTATIONS, ids=permutation_text)
@pytest.mark.parametrize("layout", ["strips", "tiles", "deflate"])
@pytest.mark.parametrize("result", ["out.npy", "out.tif"])
def test_images_as_rows_columns_channels(sepconv, permutation, layout, result):
    for shape, dtype, cut in [
        ((130, 70, 4), "u1", []),
        ((37, 53, 3), "u2", CUTS[2]),
        ((300, 17, 3), "f4", ["--max-memory", "8M"]),
    ]:
        image = random_image(shape, np.dtype(dtype).type)
        storage = {
            "strips": {},
            "tiles": {"tile": (32, 48)},
            "deflate": {"compression": "zlib", "rowsperstrip": 7},
        }[layout]
        tifffile.imwrite(
            sepconv.folder / "in.tif", image, photometric="minisblack", planarconfig="contig", **storage
        )
        actual = transposed(sepconv, None, permutation, *cut, source="in.tif", result=result)
        np.testing.assert_array_equal(np.squeeze(actual), np.squeeze(image.transpose(permutation)))


@pytest.mark.parametrize(
    "cut",
    [
        [],
        ["--max-memory", "2M"],
        ["--band-cols", 5001, "--threads", 1],
        ["--band-rows", 3, "--band-cols", 70000],
    ],
    ids=lambda cut: " ".join(map(str, cut)) or "default",
)
def test_short_rows_and_long_pixels(sepconv, cut):
    """Shapes whose permutations consist of several transpositions, also of runs
    (pipeline/stages/permutation_steps.hpp)."""
    random = np.random.default_rng(1)
    for shape, dtype, permutation in [
        ((30011, 3, 2), "u1", (2, 1, 0)),
        ((20000, 5, 7), "<c16", (2, 1, 0)),
        ((3, 2, 1100003), "u1", (1, 0, 2)),
        ((2, 3, 70001), "<c16", (1, 0, 2)),
        ((7, 5, 150000), "<i8", (1, 0, 2)),
    ]:
        array = random.integers(0, 200, shape).astype(dtype)
        np.testing.assert_array_equal(
            transposed(sepconv, array, permutation, *cut), array.transpose(permutation)
        )


def test_a_tiff_in_strips_is_decoded_once(sepconv):
    image = random_image((700, 900, 3), np.uint8)
    tifffile.imwrite(sepconv.folder / "in.tif", image, compression="zlib", rowsperstrip=13)
    plan = sepconv(
        "transpose", "in.tif", "out.npy", "--perm", "2,1,0", "--max-memory", "4M", "--dry-run"
    ).stdout
    assert f"read       {image.nbytes / 2**20:.2f} MiB" in plan


def test_planes_and_back(sepconv):
    """The motivating use: channel planes of a network's result, and the original image."""
    image = random_image((61, 83, 3), np.float32)
    planes = transposed(sepconv, image, (2, 0, 1), result="planes.npy")
    assert planes.shape == (3, 61, 83)
    sepconv("transpose", "planes.npy", "back.tif", "--perm", "1,2,0", "--quiet")
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "back.tif"), image)


def test_rows_and_columns_by_default(sepconv):
    for shape in [(40, 70), (40, 70, 3)]:
        image = random_image(shape, np.uint16)
        np.save(sepconv.folder / "in.npy", image)
        sepconv("transpose", "in.npy", "out.npy", "--quiet", "--force")
        np.testing.assert_array_equal(np.load(sepconv.folder / "out.npy"), image.swapaxes(0, 1))
    sepconv("transpose", "in.npy", "same.npy", "--perm", "0,1", "--quiet")
    np.testing.assert_array_equal(np.load(sepconv.folder / "same.npy"), image)


def test_the_stage_in_a_chain(sepconv):
    image = random_image((71, 53, 3), np.uint8)
    np.testing.assert_array_equal(sepconv.filter(image, "transpose"), image.swapaxes(0, 1))
    np.testing.assert_array_equal(sepconv.filter(image, "transpose", "transpose"), image)
    turned = image.swapaxes(0, 1).astype(np.float64)
    expected = ndi.correlate1d(
        ndi.correlate1d(turned, [1, 2, 4], axis=1, mode="mirror"), [3, 0, 1, -2, 1], axis=0, mode="mirror"
    )
    taps = "convolve:row=1,2,4,col=3,0,1,-2,1"
    for cut in CUTS:
        cut = [word for word in cut if word != "300K" and word != "--max-memory"]
        np.testing.assert_array_equal(
            sepconv.filter(image, "transpose", taps, "cast:type=f32", options=cut), expected
        )
        back = sepconv.filter(image, "transpose", taps, "transpose", "cast:type=f32", options=cut)
        np.testing.assert_array_equal(back, expected.swapaxes(0, 1))


@pytest.mark.parametrize("text", ["0,1,1", "0,1,3", "1,2", "2,1,0,3", "", "a,b,c"])
def test_what_is_no_permutation(sepconv, text):
    np.save(sepconv.folder / "in.npy", random_image((4, 5, 3), np.uint8))
    process = sepconv("transpose", "in.npy", "out.npy", "--perm", text, status=2)
    assert ("2,0,1" if text else "--perm has no value") in process.stderr and not (
        sepconv.folder / "out.npy"
    ).exists()


def test_what_cannot_be(sepconv):
    np.save(sepconv.folder / "complex.npy", np.ones((4, 5, 3), np.complex128))
    assert "end the name in .npy" in sepconv("transpose", "complex.npy", "out.tif", status=2).stderr
    np.save(sepconv.folder / "four.npy", np.ones((2, 3, 4, 5)))
    assert "numpy.reshape" in sepconv("transpose", "four.npy", "out.npy", status=1).stderr
    np.save(sepconv.folder / "text.npy", np.array([["a" * 40]]))
    assert "numpy.astype" in sepconv("transpose", "text.npy", "out.npy", status=1).stderr
    np.save(sepconv.folder / "in.npy", np.ones((4, 5, 3), np.uint8))
    np.save(sepconv.folder / "empty.npy", np.ones((4, 0, 3), np.uint8))
    assert "(4, 0, 3) as |u1 has no elements" in sepconv("transpose", "empty.npy", "out.npy", status=1).stderr
    for shape in ["(5, 7)", f"({2**33 + 1}, {2**31}, 2)"]:
        header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
        (sepconv.folder / "cut.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00" + header.encode() + bytes(100))
        assert (
            f"{shape} as <i8 needs"
            in sepconv("transpose", "cut.npy", "out.npy", "--perm", "2,0,1", status=1).stderr
        )
    assert "both input and output" in sepconv("transpose", "in.npy", "in.npy", "--force", status=2).stderr
    assert (
        "which contradicts its name"
        in sepconv("transpose", "in.npy", "out_4x5x3_u8.raw", "--perm", "2,0,1", status=2).stderr
    )
    assert (
        "smallest ceiling" in sepconv("transpose", "in.npy", "out.npy", "--max-memory", "1K", status=1).stderr
    )
    assert not list(sepconv.folder.glob("out*"))


def test_the_plan_says_how(sepconv):
    np.save(sepconv.folder / "in.npy", random_image((300, 200, 3), np.uint8))
    text = sepconv("transpose", "in.npy", "out.npy", "--perm", "2,0,1", "--dry-run").stdout
    assert "rows of the source become columns of the result" in text
    text = sepconv("plan", "in.npy", "out.npy", "transpose", "box:radius=2", "transpose").stdout
    assert "lowered to box:radius=2,border=reflect101 (columns first)" in text
    assert not (sepconv.folder / "out.npy").exists()


def test_resolution_turns_with_the_image(sepconv):
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        random_image((40, 60), np.uint8),
        resolution=(300, 150),
        resolutionunit="INCH",
        description="leaf",
    )
    for arguments in (["transpose", "in.tif", "out.tif"], ["run", "in.tif", "out.tif", "transpose"]):
        sepconv(*arguments, "--quiet", "--force")
        with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
            tags = file.pages[0].tags
            assert tags["XResolution"].value == (150, 1) and tags["YResolution"].value == (300, 1)
            assert tags["ImageDescription"].value == "leaf"


def test_tiles_of_a_result_make_sense(sepconv):
    """Tiles are transposed with the image; planes of many channels get other tiles, because tiles of the
    source's size would be gigabytes; moved pixels are not compressed as JPEG."""
    image = random_image((600, 700, 3), np.uint8)
    np.save(sepconv.folder / "image.npy", image)
    sepconv("run", "image.npy", "in.tif", "--tile", "256x128", "--compress", "jpeg", "--quiet")
    sepconv("run", "in.tif", "seen.npy", "--quiet")
    sepconv("transpose", "in.tif", "turned.tif", "--quiet")
    sepconv("transpose", "in.tif", "planes.tif", "--perm", "2,0,1", "--quiet", "--max-memory", "64M")
    seen = np.load(sepconv.folder / "seen.npy")
    with tifffile.TiffFile(sepconv.folder / "turned.tif") as file:
        page = file.pages[0]
        assert (page.tilelength, page.tilewidth) == (
            128,
            256,
        ) and page.compression == tifffile.COMPRESSION.ADOBE_DEFLATE
    with tifffile.TiffFile(sepconv.folder / "planes.tif") as file:
        page = file.pages[0]
        assert not page.is_tiled or page.tilelength * page.tilewidth * 700 <= 4 << 20
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "turned.tif"), seen.swapaxes(0, 1))
    np.testing.assert_array_equal(
        tifffile.imread(sepconv.folder / "planes.tif").reshape(3, 600, 700), seen.transpose(2, 0, 1)
    )
