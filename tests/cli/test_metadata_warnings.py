"""Individual tags, byte by byte: each tag that a result loses is reported, and all others are unchanged."""

import io
import json
import struct
import zlib

import numpy as np
import PIL.Image
import pytest
import tifffile

from cli_support import fails, image

ROWS, COLS = 20, 30
ASCII, SHORT, LONG, RATIONAL, UNDEFINED, DOUBLE = 2, 3, 4, 5, 7, 12
CODES = {ASCII: "B", SHORT: "H", LONG: "I", RATIONAL: "I", UNDEFINED: "B", DOUBLE: "d"}


def tiff(pixels, photometric, *tags):
    """A little-endian TIFF of one strip; `tags` are (tag, type, values), with alternating numerators and
    denominators for rationals."""
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    entries = [
        (256, LONG, [pixels.shape[1]]),
        (257, LONG, [pixels.shape[0]]),
        (258, SHORT, [8] * channels),
        (259, SHORT, [1]),
        (262, SHORT, [photometric]),
        (273, LONG, [8]),
        (277, SHORT, [channels]),
        (278, LONG, [pixels.shape[0]]),
        (279, LONG, [pixels.size]),
        *tags,
    ]
    content = bytearray(b"II*\0\0\0\0\0") + pixels.tobytes() + bytes(pixels.size % 2)
    directory = struct.pack("<H", len(entries))
    for tag, kind, values in sorted(entries):
        data = struct.pack(f"<{len(values)}{CODES[kind]}", *values)
        position = data.ljust(4, b"\0")
        if len(data) > 4:
            position = struct.pack("<I", len(content))
            content += data + bytes(len(data) % 2)
        directory += struct.pack("<HHI", tag, kind, len(values) // (2 if kind == RATIONAL else 1)) + position
    struct.pack_into("<I", content, 4, len(content))
    return bytes(content + directory + bytes(4))


def reported_warnings(sepconv, content, *arguments, result="out.tif"):
    """The warnings of a run, checked to be those of its plan."""
    (sepconv.folder / "in.tif").write_bytes(content)
    plan = sepconv("plan", "in.tif", result, *arguments, "--force").stdout
    sepconv("run", "in.tif", result, *arguments, "--force", "--quiet", "--stats", "stats.json")
    warnings = json.loads((sepconv.folder / "stats.json").read_text())["plan"]["warnings"]
    (sepconv.folder / "stats.json").unlink()
    warnings = [warning for warning in warnings if "does not hold" not in warning]  # reported from the pixels
    assert all(warning in plan for warning in warnings)
    return warnings


def read_tags(path):
    with tifffile.TiffFile(path) as file:
        return {tag.code: tag.value for tag in file.pages[0].tags}


def test_a_file_with_nothing_unusual_has_nothing_said(sepconv):
    usual = [
        (274, SHORT, [1]),
        (282, RATIONAL, [300, 1]),
        (283, RATIONAL, [300, 1]),
        (296, SHORT, [2]),
        (305, ASCII, b"a program\0"),
        (315, ASCII, b"\0"),
        (33432, ASCII, b"someone\0\0\0"),
    ]
    assert reported_warnings(sepconv, tiff(image(ROWS, COLS), 1, *usual)) == []
    assert reported_warnings(sepconv, tiff(image(ROWS, COLS, 4), 5, (332, SHORT, [1]))) == []
    assert (
        reported_warnings(sepconv, tiff(image(ROWS, COLS, 3), 2, (532, RATIONAL, [0, 1, 255, 1] * 3))) == []
    )


@pytest.mark.parametrize("result, again", [("out.tif", "copy.tif")])
def test_what_sepconv_writes_with_jpeg_it_reads_without_a_word(sepconv, result, again):
    np.save(sepconv.folder / "in.npy", image(ROWS, COLS, 3))
    sepconv("run", "in.npy", result, "--compress", "jpeg", "--quiet")
    assert read_tags(sepconv.folder / result)[532]
    assert "warning" not in sepconv("plan", result, again, "--compress", "none").stdout


SEPARATED = "mix_channels:rows=3,values=1,0,0,0,0,1,0,0,0,0,1,0"


@pytest.mark.parametrize(
    "photometric, channels, stage, words",
    [
        (0, 2, "mix_channels:rows=3,values=1,0,1,0,1,0", "0 is white"),
        (0, 1, "mix_channels:rows=3,values=1,1,1", "0 is white"),
        (5, 4, SEPARATED, "CMYK"),
        (5, 4, "mix_channels:rows=1,values=0,0,0,1", "CMYK"),
        (9, 3, "mix_channels:rows=1,values=1,0,0", "ICC L*a*b*"),
        (10, 3, "mix_channels:rows=1,values=1,0,0", "ITU L*a*b*"),
        (34892, 3, "mix_channels:rows=1,values=1,0,0", "neither intensities nor colours"),
    ],
)
def test_a_meaning_that_falls_with_the_channels_is_named(sepconv, photometric, channels, stage, words):
    tags = [(338, SHORT, [2])] if channels == 2 else []
    warnings = reported_warnings(
        sepconv, tiff(image(ROWS, COLS, channels), photometric, *tags), stage, result="out.png"
    )
    assert any(
        words in warning and "left out: the channels of the result are not the source's" in warning
        for warning in warnings
    ), warnings


@pytest.mark.parametrize("photometric, channels", [(1, 1), (1, 2), (2, 3)])
def test_a_meaning_that_every_picture_has_falls_without_a_word(sepconv, photometric, channels):
    values = ",".join(["1"] * channels)
    assert (
        reported_warnings(
            sepconv,
            tiff(image(ROWS, COLS, channels), photometric),
            f"mix_channels:rows={2 if channels == 1 else 1},values={values}"
            + (",1" if channels == 1 else ""),
        )
        == []
    )


def test_zero_stays_white_where_one_channel_is_left(sepconv):
    content = tiff(image(ROWS, COLS, 2), 0, (338, SHORT, [2]))
    warnings = reported_warnings(sepconv, content, "mix_channels:values=1,0")
    assert read_tags(sepconv.folder / "out.tif")[262] == 0 and not any(
        "white" in warning for warning in warnings
    )
    sepconv("run", "in.tif", "positive.png", "mix_channels:values=1,0", "--quiet")
    with PIL.Image.open(sepconv.folder / "positive.png") as shown:
        assert np.array_equal(np.asarray(shown), 255 - tifffile.imread(sepconv.folder / "out.tif"))


@pytest.mark.parametrize(
    "channels, tags", [(4, [(332, SHORT, [2])]), (3, [(332, SHORT, [2]), (334, SHORT, [3])]), (3, [])]
)
def test_inks_that_are_not_cmyk_do_not_become_cmyk(sepconv, channels, tags):
    warnings = reported_warnings(sepconv, tiff(image(ROWS, COLS, channels), 5, *tags))
    assert any("photometric interpretation 5 is not carried along" in warning for warning in warnings), (
        warnings
    )
    for tag, _, _ in tags:
        assert any(f"not carried along: " in warning and str(tag) in warning for warning in warnings), (
            warnings
        )
    assert read_tags(sepconv.folder / "out.tif")[262] != 5
    assert "other than CMYK" in sepconv("info", "in.tif").stdout


@pytest.mark.parametrize(
    "tag",
    [
        (532, RATIONAL, [15, 1, 235, 1] * 3),
        (274, SHORT, [9]),
        (282, RATIONAL, [300, 1]),
        (283, RATIONAL, [300, 1]),
        (296, SHORT, [2]),
        (297, SHORT, [3, 5]),
        (33550, RATIONAL, [2, 1, 2, 1, 0, 1]),
        (33922, RATIONAL, [0, 1] * 6),
        (42113, DOUBLE, [-9999.0]),
        (42112, SHORT, [1, 2, 3]),
    ],
    ids=lambda tag: str(tag[:2]),
)
@pytest.mark.parametrize("stage", [[], ["box:radius=1"]])
def test_a_tag_that_is_neither_applied_nor_carried_is_named(sepconv, tag, stage):
    warnings = reported_warnings(sepconv, tiff(image(ROWS, COLS, 3), 2, tag), *stage)
    assert len(warnings) == 1 and f"not carried along: {tag[0]}" in warnings[0], warnings
    assert tag[0] not in read_tags(sepconv.folder / "out.tif")


@pytest.mark.parametrize("unit", [0, 4])
def test_a_resolution_of_no_known_unit_is_not_one_per_inch(sepconv, unit):
    resolution = [(282, RATIONAL, [300, 1]), (283, RATIONAL, [300, 1]), (296, SHORT, [unit])]
    warnings = reported_warnings(sepconv, tiff(image(ROWS, COLS), 1, *resolution))
    assert len(warnings) == 1 and all(str(tag) in warnings[0] for tag in (282, 283, 296)), warnings
    assert not {282, 283, 296} & read_tags(sepconv.folder / "out.tif").keys()
    assert reported_warnings(sepconv, tiff(image(ROWS, COLS), 1, *resolution[:2])) == []
    assert read_tags(sepconv.folder / "out.tif")[282] == (300, 1)  # without a unit, inch is assumed


@pytest.mark.parametrize("tag", [270, 305, 306, 315, 33432])
def test_a_text_that_is_cut_at_a_zero_byte_is_named(sepconv, tag):
    warnings = reported_warnings(sepconv, tiff(image(ROWS, COLS), 1, (tag, ASCII, b"photographer\0editor\0")))
    assert len(warnings) == 1 and f"first zero byte: {tag}" in warnings[0], warnings
    assert read_tags(sepconv.folder / "out.tif")[tag] == "photographer"
    assert (
        reported_warnings(sepconv, tiff(image(ROWS, COLS), 1, (tag, ASCII, b"photographer" + bytes(9000))))
        == []
    )


def test_a_geotiff_text_goes_along_to_the_last_byte_or_is_named(sepconv):
    for tag in (34737, 42112, 42113):
        warnings = reported_warnings(sepconv, tiff(image(ROWS, COLS), 1, (tag, ASCII, b"one|\0two|\0")))
        content = (sepconv.folder / "out.tif").read_bytes()
        assert b"one|" in content
        assert (b"one|\0two|\0" in content) == (warnings == []), (tag, warnings)


def arrays(*several):
    file = io.BytesIO()
    for values in several:
        np.save(file, values)
    return file.getvalue()


@pytest.mark.parametrize(
    "behind, words",
    [
        (arrays(image(3, 4)), "another array follows"),
        (b"x", "1 byte after the array is not read"),
        (b"\x93NUMP", "5 bytes after the array are not read"),
        (bytes(1000), "1000 bytes after the array are not read"),
    ],
)
def test_what_follows_an_array_is_said_by_every_command(sepconv, behind, words):
    values = image(ROWS, COLS)
    (sepconv.folder / "in.npy").write_bytes(arrays(values) + behind)
    np.save(sepconv.folder / "alone.npy", values)
    for command in (
        ["run", "in.npy", "out.npy", "abs"],
        ["plan", "in.npy", "other.npy"],
        ["info", "in.npy"],
        ["stats", "in.npy"],
        ["compare", "in.npy", "alone.npy"],
        ["transpose", "in.npy", "turned.npy"],
    ):
        process = sepconv(*command)
        assert words in process.stdout + process.stderr, command
        single_run = [name.replace("in.npy", "alone.npy") for name in command]
        process = sepconv(*single_run, *(["--force"] if command[0] in ("run", "transpose") else []))
        assert (
            "behind" not in process.stdout + process.stderr
            and "follows" not in process.stdout + process.stderr
        )
    assert np.array_equal(np.load(sepconv.folder / "out.npy"), values)


# Messages, each in a case in which it is wrong and in one in which it is right.


def messages_of_command(sepconv, *arguments):
    return sepconv("run", *arguments, "--force", "--quiet").stderr


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize(
    "photometric, meaning",
    [("rgb", ["unassalpha"]), ("minisblack", ["unspecified", "unspecified", "unassalpha"])],
)
def test_alpha_that_a_png_has_is_not_said_to_be_lost(sepconv, dtype, photometric, meaning):
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        image(ROWS, COLS, 4, dtype),
        photometric=photometric,
        planarconfig="contig",
        extrasamples=meaning,
        metadata=None,
    )
    assert messages_of_command(sepconv, "in.tif", "out.png") == ""
    assert "meaning of further channels (alpha)" in messages_of_command(sepconv, "in.tif", "out.npy")


def test_channels_of_which_nothing_is_said_lose_nothing(sepconv):
    (sepconv.folder / "in.tif").write_bytes(tiff(image(ROWS, COLS, 5), 2, (338, SHORT, [0, 0])))
    assert messages_of_command(sepconv, "in.tif", "out.npy") == ""


def test_gdal_s_metadata_are_no_geotiff_tags(sepconv):
    (sepconv.folder / "in.tif").write_bytes(tiff(image(ROWS, COLS), 1, (42112, ASCII, GDAL_SCALE)))
    assert (
        messages_of_command(sepconv, "in.tif", "out.npy")
        == "warning: GDAL's metadata of the source are not kept: NPY cannot store them\n"
    )


def test_nan_needs_no_nodata_value(sepconv):
    values = image(ROWS, COLS, dtype=np.float32)
    values[3, 4] = np.nan
    np.save(sepconv.folder / "in.npy", values)
    assert messages_of_command(sepconv, "in.npy", "out.npy", "box:radius=1", "--nodata", "nan") == ""
    assert np.isnan(np.load(sepconv.folder / "out.npy")).sum() == 1
    np.save(sepconv.folder / "in.npy", image(ROWS, COLS))
    assert "nodata value" in messages_of_command(
        sepconv, "in.npy", "out.npy", "box:radius=1", "--nodata", "7"
    )


GDAL_SCALE = b'<GDALMetadata>\n  <Item name="SCALE" sample="0" role="scale">0.1</Item>\n  <Item name="OFFSET" sample="0" role="offset">-5</Item>\n</GDALMetadata>\n\0'


@pytest.mark.parametrize(
    "stages, holds",
    [
        ([], True),
        (["gaussian:sigma=1"], True),
        (["box:radius=1", "reduce:factor=2"], True),
        (["median:radius=1"], True),
        (["erode:radius=1"], True),
        (["gaussian:sigma=1", "cast:type=f32"], True),
        (["transpose"], True),
        (["stddev:radius=1"], False),
        (["gradient"], False),
        (["scale:factor=2"], False),
        (["gaussian:sigma=1,order=1"], False),
        (["tophat:radius=2"], False),
    ],
)
def test_scale_and_offset_are_spoken_of_where_they_do_not_hold(sepconv, stages, holds):
    (sepconv.folder / "in.tif").write_bytes(tiff(image(ROWS, COLS), 1, (42112, ASCII, GDAL_SCALE)))
    assert ("scale and offset" in messages_of_command(sepconv, "in.tif", "out.tif", *stages)) is not holds


def test_tags_of_imagej_are_called_by_what_they_are(sepconv):
    damaged = [(50838, LONG, [12, 99]), (50839, ASCII, b"no header here\0")]
    assert "50838 (ImageJ's display ranges, LUTs, labels, regions)" in " ".join(
        reported_warnings(sepconv, tiff(image(ROWS, COLS), 1, *damaged))
    )


def test_a_mask_that_gdal_wrote_behind_a_jpeg_is_said(sepconv):
    """GDAL's JPEG driver: the picture, a mask of one bit in a zlib stream, and its offset."""
    path = sepconv.folder / "in.jpg"
    PIL.Image.fromarray(np.full((16, 16, 3), 90, np.uint8)).save(path)
    picture = path.read_bytes()
    path.write_bytes(picture + zlib.compress(bytes(32)) + len(picture).to_bytes(4, "little"))
    for command in (["run", "in.jpg", "out.png"], ["info", "in.jpg"]):
        process = sepconv(*command)
        assert "the mask that GDAL appended to the picture is left out" in process.stdout + process.stderr


def test_a_cmyk_jpeg_becomes_rgb_with_a_word(sepconv):
    PIL.Image.fromarray(np.full((16, 16, 4), 90, np.uint8), "CMYK").save(sepconv.folder / "in.jpg")
    assert "CMYK becomes RGB" in sepconv("run", "in.jpg", "out.png", "--quiet").stderr


def test_offsets_that_no_block_has_are_said(sepconv):
    tifffile.imwrite(sepconv.folder / "in.tif", np.zeros((64, 64), np.uint16), rowsperstrip=8)
    with tifffile.TiffFile(sepconv.folder / "in.tif", mode="r+b") as file:
        file.pages[0].tags["ImageLength"].overwrite(32)
    assert "offsets has 8 entries for 4 blocks" in sepconv("stats", "in.tif").stderr
