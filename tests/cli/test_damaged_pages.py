"""One damaged page among others: one message names it, the others are read by their numbers, and all losses
are reported."""

import struct

import numpy as np
import pytest
import tifffile

from cli_support import fails, image

STACK = np.stack([image(30, 40, seed=seed) for seed in range(4)])
WIDTH, LENGTH, BITS, COMPRESSION, OFFSETS, SAMPLES, ROWS_PER_STRIP = 256, 257, 258, 259, 273, 277, 278


def write(path, planes):
    with tifffile.TiffWriter(path) as writer:
        for plane in planes:
            writer.write(plane, metadata=None, contiguous=False)


def set_tag(path, page, code, value):
    with tifffile.TiffFile(path) as tif:
        tag = tif.pages[page].tags[code]
    content = bytearray(path.read_bytes())
    struct.pack_into("<H" if int(tag.dtype) == 3 else "<I", content, tag.valueoffset, value)
    path.write_bytes(content)


@pytest.mark.parametrize("code", [WIDTH, LENGTH, BITS, SAMPLES])
@pytest.mark.parametrize("page", [0, 2])
def test_a_page_of_nothing(sepconv, page, code):
    """No rows, columns, bits or channels."""
    path = sepconv.folder / "in.tif"
    write(path, STACK)
    set_tag(path, page, code, 0)
    sentence = fails(sepconv, "run", "in.tif", "out.tif", "abs", status=1)
    assert (
        "not of one size and type" in sentence and f"from page {page} on" in sentence and "--page" in sentence
    )
    assert f"page {page} is damaged" in fails(
        sepconv, "run", "in.tif", "out.tif", "abs", "--page", page, status=1
    )
    sepconv("info", "in.tif")
    sepconv("run", "in.tif", "one.tif", "abs", "--page", 1, "--quiet")
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "one.tif"), STACK[1])


@pytest.mark.parametrize("code", [WIDTH, LENGTH, BITS, SAMPLES])
def test_the_only_page_of_nothing(sepconv, code):
    path = sepconv.folder / "in.tif"
    write(path, STACK[:1])
    set_tag(path, 0, code, 0)
    assert "damaged" in fails(sepconv, "run", "in.tif", "out.tif", "abs", status=1)


def test_beside_a_damaged_first_page_the_others_are_read(sepconv):
    path = sepconv.folder / "in.tif"
    write(path, STACK)
    set_tag(path, 0, ROWS_PER_STRIP, 0)
    assert "page 0 is damaged" in fails(sepconv, "run", "in.tif", "out.tif", "abs", status=1)
    for text, expected in (("2", STACK[2:3]), ("1-3", STACK[1:])):
        sepconv("run", "in.tif", "out.tif", "--page", text, "--force", "--quiet")
        np.testing.assert_array_equal(
            tifffile.imread(sepconv.folder / "out.tif", key=range(len(expected))).reshape(expected.shape),
            expected,
        )


@pytest.fixture
def thousand(sepconv):
    path = sepconv.folder / "in.tif"
    write(path, [np.full((8, 9), i % 255, np.uint8) for i in range(1000)])
    return path


@pytest.mark.parametrize(
    "code, value, words",
    [
        (COMPRESSION, 7777, "compression 7777"),
        (OFFSETS, 10**9, "truncated or damaged"),
        (ROWS_PER_STRIP, 0, "is damaged"),
    ],
)
def test_of_a_thousand_pages_the_damaged_one_is_named(sepconv, thousand, code, value, words):
    set_tag(thousand, 500, code, value)
    sentence = fails(sepconv, "run", "in.tif", "out.tif", "abs", status=1)
    assert words in sentence and "page 500" in sentence
    assert not (sepconv.folder / "out.tif").exists()
    sepconv("run", "in.tif", "rest.tif", "--page", "501-999", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "rest.tif") as remainder:
        assert len(remainder.pages) == 499 and remainder.pages[0].asarray()[0, 0] == 501 % 255


@pytest.mark.parametrize("where", ["before", "itself", "nowhere"])
def test_of_a_thousand_pages_whose_chain_breaks_the_first_are_read(sepconv, thousand, where):
    with tifffile.TiffFile(thousand) as tif:
        own, before = tif.pages[500].offset, tif.pages[3].offset
    content = bytearray(thousand.read_bytes())
    (count,) = struct.unpack_from("<H", content, own)
    struct.pack_into(
        "<I", content, own + 2 + 12 * count, {"before": before, "itself": own, "nowhere": 10**9}[where]
    )
    thousand.write_bytes(content)
    sentence = fails(sepconv, "run", "in.tif", "out.tif", "abs", status=1)
    assert "broken after page 500" in sentence and "--page" in sentence
    sepconv("run", "in.tif", "out.tif", "--page", "0-500", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        assert len(tif.pages) == 501


def test_a_thousand_pages_that_are_all_unlike_are_one_sentence(sepconv):
    write(sepconv.folder / "in.tif", [np.zeros((8 + i, 9), np.uint8) for i in range(1000)])
    sentence = fails(sepconv, "run", "in.tif", "out.tif", "abs", status=1)
    assert "holds 1000 images that are not of one size and type" in sentence and len(sentence) < 600


@pytest.mark.parametrize("shape", [(0, 32), (32, 0), (50, 7)], ids=str)
def test_an_overview_that_is_none_is_named(sepconv, shape):
    path = sepconv.folder / "in.tif"
    with tifffile.TiffWriter(path) as writer:
        writer.write(image(64, 64), metadata=None)
        writer.write(image(*(side or 32 for side in shape)), metadata=None, subfiletype=1)
    for code, side in ((LENGTH, shape[0]), (WIDTH, shape[1])):
        if side == 0:
            set_tag(path, 1, code, 0)
    said = sepconv("run", "in.tif", "out.tif", "abs").stderr
    assert (
        f"page 1 (overview of none, an image of {shape[1]} x {shape[0]} pixels of 1 x 8 bits) is not read"
        in said
    )
    text = sepconv("info", "in.tif").stdout
    assert text.count("page 1 is not an image of these") == 1 and "level 1" not in text


@pytest.mark.parametrize("shape", [(1, 700), (700, 1), (2, 700), (700, 3)], ids=str)
def test_levels_of_narrow_images_are_levels(sepconv, shape):
    np.save(sepconv.folder / "in.npy", image(*shape))
    sepconv("run", "in.npy", "in.tif", "--pyramid", "--tile", 64, "--quiet")
    assert "left" not in sepconv("run", "in.tif", "out.tif", "abs").stderr
    for name in ("in.tif", "out.tif"):
        text = sepconv("info", name).stdout
        assert "level 4" in text and "overview of none" not in text


def test_a_description_that_is_damaged_anywhere_costs_no_page(sepconv):
    """Bytes of OME-XML and of ImageJ's lines replaced or truncated, with a fixed random seed."""
    random = np.random.default_rng(5)
    path = sepconv.folder / "in.tif"
    for kind, trial in [(kind, trial) for kind in ("ome", "imagej") for trial in range(40)]:
        tifffile.imwrite(path, STACK.reshape(2, 2, 30, 40), metadata={"axes": "ZCYX"}, **{kind: True})
        with tifffile.TiffFile(path) as tif:
            tag = tif.pages[0].tags[270]
        content = bytearray(path.read_bytes())
        for position in random.integers(0, tag.count - 1, random.choice([1, 2, 5, 20])):
            content[tag.valueoffset + position] = random.choice([0, *b'<"9&', random.integers(1, 256)])
        if trial % 5 == 0:
            cut = random.integers(0, tag.count - 1)
            content[tag.valueoffset + cut : tag.valueoffset + tag.count - 1] = bytes(int(tag.count) - 1 - cut)
        path.write_bytes(content)
        sepconv("run", "in.tif", "out.tif", "abs", "--force", "--quiet")
        with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
            assert sorted(page.asarray().tobytes() for page in tif.pages) == sorted(
                plane.tobytes() for plane in STACK
            )
