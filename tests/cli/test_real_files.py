"""Typical files: stacks, levels, masks, nodata, private tags. Everything that a result loses is reported, and
everything that it declares is true."""

import json
import struct

import numpy as np
import pytest
import tifffile

from cli_support import fails, image

STACK = np.stack([image(48, 64, seed=seed) for seed in range(5)])
STATISTICS = '<GDALMetadata>\n  <Item name="AREA_OR_POINT">Area</Item>\n  <Item name="STATISTICS_MAXIMUM" sample="0">255</Item>\n</GDALMetadata>\n'


def warnings(sepconv, *arguments):
    """The warnings of `plan`, checked to be those of `run` in its summary and its JSON."""
    plan = sepconv("plan", *arguments).stdout
    planned = [line.split(maxsplit=1)[1] for line in plan.splitlines() if line.startswith("warning")]
    process = sepconv("run", *arguments, "--stats", "stats.json")
    assert json.loads((sepconv.folder / "stats.json").read_text())["plan"]["warnings"] == planned
    for warning in planned:
        assert f"warning: {warning}\n" in process.stderr
    return planned


def only(lines, *words):
    """The only line of `lines` that contains all words."""
    found = [line for line in lines if all(word in line for word in words)]
    assert len(found) == 1, lines
    return found[0]


def write_ome(path):
    tifffile.imwrite(path, STACK, ome=True, metadata={"axes": "ZYX"})


def write_imagej(path):
    tifffile.imwrite(path, STACK, imagej=True)


def write_shaped(path):
    tifffile.imwrite(path, STACK, photometric="minisblack")


def write_plain(path):
    with tifffile.TiffWriter(path) as writer:
        for page in STACK:
            writer.write(page, metadata=None, contiguous=False)


@pytest.mark.parametrize("write", [write_ome, write_imagej, write_shaped, write_plain])
def test_what_takes_one_image_does_not_take_the_first_of_a_stack(sepconv, write):
    write(sepconv.folder / "in.tif")
    np.save(sepconv.folder / "b.npy", np.ones((64, 2), np.float32))
    for command in (
        ["transpose", "in.tif", "out.tif", "--perm", "2,0,1"],
        ["gemm", "in.tif", "b.npy", "out.npy"],
    ):
        sentence = fails(sepconv, *command, status=1)
        assert "holds 5 images" in sentence and "--page" in sentence


@pytest.mark.parametrize("write", [write_ome, write_imagej, write_shaped, write_plain])
@pytest.mark.parametrize("page", [0, 3])
def test_a_page_that_is_named_is_filtered_and_described_as_what_it_is(sepconv, write, page):
    write(sepconv.folder / "in.tif")
    reported_warnings = warnings(sepconv, "in.tif", "out.tif", "--page", page)
    with tifffile.TiffFile(sepconv.folder / "out.tif") as result:
        assert len(result.pages) == 1 and len(result.series) == 1
        # a description of five images would make five of it
        assert result.series[0].shape == STACK[page].shape
        assert np.array_equal(result.asarray(), STACK[page])
    assert reported_warnings == []


def test_info_lists_the_images_and_says_that_all_are_taken(sepconv):
    write_plain(sepconv.folder / "in.tif")
    text = sepconv("info", "in.tif").stdout
    assert "5 pages" in text and "5 images (page 5)" in text and "--page" in text
    facts = json.loads(sepconv("info", "in.tif", "--json").stdout)
    assert facts["page_count"] == 5 and facts["images"] == 5
    item = json.loads(sepconv("info", "in.tif", "--page", "3", "--json").stdout)
    assert item["page_count"] == 5 and item["pages"] == [facts["pages"][3]]


def test_a_stack_behind_one_directory_is_not_taken_for_one_image(sepconv):
    """As by ImageJ above 4 GB."""
    content = bytearray(b"II*\0\0\0\0\0") + STACK.tobytes()
    description = b"ImageJ=1.53t\nimages=5\nslices=5\n\0"
    described_at = len(content)
    content += description + b"\0" * (len(description) % 2)
    struct.pack_into("<I", content, 4, len(content))
    rows, cols = STACK[0].shape
    entries = [
        (256, 4, 1, cols),
        (257, 4, 1, rows),
        (258, 3, 1, 8),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (270, 2, len(description), described_at),
        (273, 4, 1, 8),
        (277, 3, 1, 1),
        (278, 4, 1, rows),
        (279, 4, 1, rows * cols),
    ]
    content += (
        struct.pack("<H", len(entries))
        + b"".join(struct.pack("<HHII", *entry) for entry in entries)
        + bytes(4)
    )
    (sepconv.folder / "in.tif").write_bytes(content)
    assert warnings(sepconv, "in.tif", "out.tif") == []
    assert np.array_equal(tifffile.imread(sepconv.folder / "out.tif"), STACK)
    sepconv("run", "in.tif", "one.tif", "--page", "3", "--quiet")
    assert np.array_equal(tifffile.imread(sepconv.folder / "one.tif"), STACK[3])
    content[8 + len(STACK.tobytes()) : 8 + len(STACK.tobytes()) + len(description)] = description.replace(
        b"=5", b"=9"
    )
    (sepconv.folder / "in.tif").write_bytes(content)
    assert "counts several images" in fails(sepconv, "run", "in.tif", "new.tif", "abs", status=1)


def test_overviews_masks_and_levels_that_are_not_read_are_named(sepconv):
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as writer:
        writer.write(STACK[0], tile=(32, 32), subifds=1, metadata=None)
        writer.write(STACK[0][::2, ::2], tile=(32, 32), subfiletype=1, metadata=None)
        writer.write(STACK[0][::4, ::4], tile=(16, 16), subfiletype=1, metadata=None)
        writer.write(STACK[0] > 100, tile=(32, 32), subfiletype=4, metadata=None)
    reported_warnings = warnings(sepconv, "in.tif", "out.tif", "box:radius=1")
    assert not [line for line in reported_warnings if "mask" in line]
    with tifffile.TiffFile(
        sepconv.folder / "out.tif"
    ) as result:  # levels are created again if the source has some
        assert [(page.subfiletype, page.shape) for page in result.pages] == [
            (0, (48, 64)),
            (4, (48, 64)),
            (1, (24, 32)),
            (5, (24, 32)),
        ]
    text = sepconv("info", "in.tif").stdout
    for word in ("level 2: 16 x 12", "page 2 is not an image of these: mask"):
        assert word in text


GEO = [
    (33550, "d", 3, (2.0, 2.0, 0.0)),
    (33922, "d", 6, (0.0, 0.0, 0.0, 500000.0, 4000000.0, 0.0)),
    (42112, "s", 0, STATISTICS),
    (42113, "s", 0, "-9999"),
    (50844, "d", 92, tuple(float(i) for i in range(92))),
]


@pytest.fixture
def satellite(sepconv):
    """A scene with missing pixels, statistics and rational polynomial coefficients."""
    values = np.random.default_rng(1).random((40, 56)).astype(np.float32)
    values[4:9, 5:17] = -9999
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        values,
        tile=(16, 32),
        metadata=None,
        extratags=[*GEO, (65000, "s", 0, "private")],
    )
    return values


def read_tags(path):
    with tifffile.TiffFile(path) as file:
        return {tag.code: tag.value for tag in file.pages[0].tags}


def test_a_filter_keeps_missing_pixels_and_leaves_statistics_out(sepconv, satellite):
    reported_warnings = warnings(sepconv, "in.tif", "out.tif", "gaussian:sigma=1")
    assert not [line for line in reported_warnings if "nodata" in line]
    only(reported_warnings, "statistics", "left out")
    only(reported_warnings, "65000")
    tags = read_tags(sepconv.folder / "out.tif")
    assert tags[42113] == "-9999" and "STATISTICS" not in tags[42112] and "AREA_OR_POINT" in tags[42112]
    assert tags[33550] == GEO[0][3] and tags[50844] == GEO[4][3]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("place", [(0, 0), (0, 1023), (0, 1024), (40, 1030), (99, 1039)])
def test_nan_that_is_spread_is_said(sepconv, dtype, place):
    """Missing pixels that no tag declares: detected when they are read, under any plan."""
    values = np.random.default_rng(2).random((100, 1040)).astype(dtype)
    np.save(sepconv.folder / "whole.npy", values)
    values[place] = np.nan
    np.save(sepconv.folder / "in.npy", values)

    def spread(name, *arguments):
        sepconv("run", name, "out.npy", *arguments, "--force", "--stats", "stats.json")
        return [
            line
            for line in json.loads((sepconv.folder / "stats.json").read_text())["plan"]["warnings"]
            if "NaN" in line
        ]

    for rows in ("1", "7", "100"):
        only(spread("in.npy", "box:radius=2", "--band-rows", rows), "the source contains NaN")
    assert spread("in.npy", "abs") == [] and spread("whole.npy", "box:radius=2") == []
    assert not np.isnan(np.load(sepconv.folder / "out.npy")).any()
    whole = sepconv("run", "in.npy", "out.npy", "box:radius=2", "--reference", "--force").stderr
    only(whole.splitlines(), "warning: the source contains NaN")


def test_nan_that_the_nodata_value_names_is_nothing_to_warn_of(sepconv):
    values = np.zeros((20, 30), np.float32)
    values[3, 4] = np.nan
    tifffile.imwrite(sepconv.folder / "in.tif", values, metadata=None, extratags=[(42113, "s", 0, "nan")])
    assert warnings(sepconv, "in.tif", "out.tif", "box:radius=1") == []
    result = tifffile.imread(sepconv.folder / "out.tif")
    assert (
        np.isnan(result[3, 4])
        and np.isnan(result).sum() == 1
        and read_tags(sepconv.folder / "out.tif")[42113] == "nan"
    )


@pytest.mark.parametrize("whole", [[], ["--reference"]])
def test_plain_arithmetic_on_missing_pixels_is_said_and_leaves_their_value_out(sepconv, satellite, whole):
    messages = sepconv(
        "run", "in.tif", "out.tif", "gaussian:sigma=1", "--nodata", "none", *whole
    ).stderr.splitlines()
    only(messages, "nodata value -9999", "as if they were values", "no nodata value")
    assert 42113 not in read_tags(sepconv.folder / "out.tif")


def test_a_copy_keeps_nodata_and_statistics(sepconv, satellite):
    reported_warnings = warnings(sepconv, "in.tif", "out.tif")
    assert [line for line in reported_warnings if "65000" not in line] == []
    tags = read_tags(sepconv.folder / "out.tif")
    assert tags[42113] == "-9999" and "STATISTICS_MAXIMUM" in tags[42112]


def test_a_part_has_no_statistics_of_the_whole(sepconv, satellite):
    reported_warnings = warnings(sepconv, "in.tif", "out.tif", "--region", "20x10+3+5")
    only(reported_warnings, "statistics", "left out")
    assert "STATISTICS" not in read_tags(sepconv.folder / "out.tif")[42112]


def test_scale_and_offset_of_values_that_change_are_spoken_of(sepconv):
    xml = '<GDALMetadata>\n  <Item name="SCALE" sample="0" role="scale">0.0001</Item>\n  <Item name="OFFSET" sample="0" role="offset">-0.1</Item>\n</GDALMetadata>\n'
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        np.ones((40, 56), np.uint16),
        metadata=None,
        extratags=[(42112, "s", 0, xml)],
    )
    only(
        warnings(sepconv, "in.tif", "out.tif", "scale:factor=0.0001,offset=-0.1", "cast:type=f32"),
        "scale and offset",
        "not means",
    )
    assert "0.0001" in read_tags(sepconv.folder / "out.tif")[42112]
    assert "scale" not in sepconv("run", "in.tif", "copy.tif").stderr


def test_what_is_rearranged_keeps_nodata_and_not_its_place(sepconv, satellite):
    messages = sepconv("transpose", "in.tif", "out.tif", "--perm", "2,0,1").stderr.splitlines()
    only(messages, "GeoTIFF tags", "left out")
    tags = read_tags(sepconv.folder / "out.tif")
    assert tags[42113] == "-9999" and 33550 not in tags and 50844 not in tags


@pytest.mark.parametrize("name", ["out.npy", "out.raw"])
def test_a_format_without_room_for_metadata_says_what_it_drops(sepconv, satellite, name):
    reported_warnings = warnings(sepconv, "in.tif", name)
    line = only(reported_warnings, "not kept")
    assert "nodata" in line and "GeoTIFF" in line


def test_tiles_that_tiff_does_not_have_are_said_to_become_others(sepconv):
    """Some writers create them, and libtiff reads them."""
    values = image(50, 70)
    tiles = [
        np.pad(values[r : r + 20, c : c + 24], ((0, 20 - min(20, 50 - r)), (0, 24 - min(24, 70 - c))))
        for r in range(0, 50, 20)
        for c in range(0, 70, 24)
    ]
    content = bytearray(b"II*\0") + bytes(4) + b"".join(tile.tobytes() for tile in tiles)
    tables = len(content)
    content += struct.pack(f"<{len(tiles)}I", *(8 + 480 * i for i in range(len(tiles)))) + struct.pack(
        f"<{len(tiles)}I", *[480] * len(tiles)
    )
    struct.pack_into("<I", content, 4, len(content))
    entries = [
        (256, 4, 1, 70),
        (257, 4, 1, 50),
        (258, 3, 1, 8),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (277, 3, 1, 1),
        (322, 4, 1, 24),
        (323, 4, 1, 20),
        (324, 4, len(tiles), tables),
        (325, 4, len(tiles), tables + 4 * len(tiles)),
    ]
    content += (
        struct.pack("<H", len(entries))
        + b"".join(struct.pack("<HHII", *entry) for entry in entries)
        + bytes(4)
    )
    (sepconv.folder / "in.tif").write_bytes(content)
    only(warnings(sepconv, "in.tif", "out.tif"), "32 x 32", "24 x 20", "multiples of 16")
    assert np.array_equal(tifffile.imread(sepconv.folder / "out.tif"), values)


def test_an_array_that_may_be_a_stack_is_not_taken_for_channels(sepconv):
    np.save(sepconv.folder / "in.npy", STACK)  # 5 x 48 x 64
    for command in (["run", "in.npy", "out.npy", "abs"], ["stats", "in.npy"]):
        assert "--axes yxc or zyx" in fails(sepconv, *command, status=1)
    sepconv("run", "in.npy", "out.npy", "abs", "--axes", "yxc", "--quiet")
    assert np.array_equal(np.load(sepconv.folder / "out.npy"), STACK)
    for axes, status in (("zyz", 2), ("zax", 2), ("ZYX", 2), ("yx", 1), ("", 2)):
        fails(sepconv, "run", "in.npy", "other.npy", "abs", f"--axes={axes}", status=status)
    np.save(sepconv.folder / "colour.npy", np.ascontiguousarray(STACK.transpose(1, 2, 0)))
    fails(sepconv, "run", "colour.npy", "other.npy", "abs", status=1)  # 48 x 64 x 5
    np.save(sepconv.folder / "colour.npy", np.ascontiguousarray(STACK.transpose(1, 2, 0)[:, :, :4]))
    sepconv("run", "colour.npy", "other.npy", "abs", "--quiet")


def test_axes_are_for_what_may_hold_several_images(sepconv):
    np.save(sepconv.folder / "in.npy", STACK[0])
    sepconv("run", "in.npy", "in.png", "--quiet")
    assert "one image of rows and columns" in fails(
        sepconv, "run", "in.png", "out.tif", "abs", "--axes", "yx", status=2
    )


@pytest.mark.parametrize("tag", [34377, 34675, 65000, 270])
@pytest.mark.parametrize("megabytes", [40, 900])
def test_tags_that_are_too_large_are_left_out_and_take_no_memory(sepconv, tag, megabytes):
    """The file needs a few KiB on disk: the tag's value was never written."""
    values = image(64, 64)
    count = megabytes << 20
    content = bytearray(b"II*\0" + struct.pack("<I", 8 + values.size)) + values.tobytes()
    kind = 2 if tag == 270 else 7
    entries = [
        (256, 4, 1, 64),
        (257, 4, 1, 64),
        (258, 3, 1, 8),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (273, 4, 1, 8),
        (277, 3, 1, 1),
        (278, 4, 1, 64),
        (279, 4, 1, values.size),
        (tag, kind, count, 1 << 16),
    ]
    content += (
        struct.pack("<H", len(entries))
        + b"".join(struct.pack("<HHII", *entry) for entry in sorted(entries))
        + bytes(4)
    )
    with open(sepconv.folder / "in.tif", "wb") as file:
        file.write(content)
        file.truncate((1 << 16) + count)
    reported_warnings = warnings(sepconv, "in.tif", "out.tif", "box:radius=1", "--max-memory", "64M")
    only(reported_warnings, "too large", str(tag))
    assert json.loads((sepconv.folder / "stats.json").read_text())["peak_rss_bytes"] < 64 << 20
    assert tag not in read_tags(sepconv.folder / "out.tif")


def test_tags_up_to_the_bound_go_along(sepconv):
    profile = bytes(range(256)) * (1 << 14)  # 4 MiB
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        image(64, 64),
        metadata=None,
        extratags=[(34675, "B", len(profile), profile)],
    )
    assert warnings(sepconv, "in.tif", "out.tif", "box:radius=1", "--max-memory", "64M") == []
    assert read_tags(sepconv.folder / "out.tif")[34675] == profile


def test_a_chain_of_pages_that_leads_nowhere_is_not_taken_for_one_page(sepconv):
    write_plain(sepconv.folder / "in.tif")
    content = (sepconv.folder / "in.tif").read_bytes()
    with tifffile.TiffFile(sepconv.folder / "in.tif") as file:
        second = file.pages[1].offset
    (sepconv.folder / "cut.tif").write_bytes(content[: second + 1])
    assert "broken" in fails(sepconv, "run", "cut.tif", "out.tif", "abs", status=1)
    sepconv("run", "cut.tif", "out.tif", "abs", "--page", "0", "--quiet")
    assert np.array_equal(tifffile.imread(sepconv.folder / "out.tif"), STACK[0])


def test_one_image_behind_its_thumbnail_is_the_one_that_is_meant(sepconv):
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as writer:
        writer.write(STACK[0][::4, ::4], subfiletype=1, metadata=None)
        writer.write(STACK[0], metadata=None)
    sepconv("run", "in.tif", "out.tif", "abs", "--quiet")
    assert np.array_equal(tifffile.imread(sepconv.folder / "out.tif"), STACK[0])
