"""Typical small images, and TIFFs converted to their formats: none is shown as a different picture, and all
losses are reported."""

import json
import resource
import zlib

import numpy as np
import PIL.Image
import PIL.ImageCms
import PIL.PngImagePlugin
import pytest
import tifffile

from cli_support import fails, image, one_sentence
from test_real_files import STACK, only, warnings
from test_threads import limited


def with_photometric(path, values, photometric):
    """As tifffile writes it, except for the tag."""
    kind = "minisblack" if values.ndim == 2 else "rgb" if values.shape[2] == 3 else "separated"
    tifffile.imwrite(path, values, photometric=kind, metadata=None)
    with tifffile.TiffFile(path, mode="r+b") as file:
        file.pages[0].tags[262].overwrite(photometric)


@pytest.mark.parametrize(
    "photometric, channels, words",
    [
        (8, 3, "CIE L*a*b*"),
        (9, 3, "ICC L*a*b*"),
        (10, 3, "ITU L*a*b*"),
        (34892, 3, "neither intensities nor colours"),
    ],
)
@pytest.mark.parametrize("stage", [[], ["box:radius=1"]])
def test_what_a_small_format_would_show_as_another_picture_is_refused(
    sepconv, photometric, channels, words, stage
):
    with_photometric(sepconv.folder / "in.tif", image(channels=channels), photometric)
    for result in ["out.png", "out.jpg", "out.bmp", "out.ppm"]:
        sentence = fails(sepconv, "run", "in.tif", result, *stage, status=2)
        assert words in sentence and ".tif" in sentence
    sepconv("run", "in.tif", "out.tif", *stage, "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        assert file.pages[0].photometric == (2 if photometric == 34892 else photometric)
    if photometric == 34892:
        only(warnings(sepconv, "in.tif", "other.tif"), "34892", "not carried along")


@pytest.mark.parametrize(
    "extra, words",
    [(["unspecified"], "channel 4 is not alpha"), (["assocalpha"], None), (["unassalpha"], None)],
)
def test_a_fourth_channel_that_is_no_alpha_is_not_shown_as_such(sepconv, extra, words):
    values = image(channels=4)
    tifffile.imwrite(sepconv.folder / "in.tif", values, photometric="rgb", extrasamples=extra, metadata=None)
    if words:
        sentence = fails(sepconv, "run", "in.tif", "out.png", status=2)
        assert words in sentence and ".tif" in sentence
        return
    assert warnings(sepconv, "in.tif", "out.png") == []
    with PIL.Image.open(sepconv.folder / "out.png") as written:
        assert written.mode == "RGBA" and np.array_equal(np.asarray(written)[..., 3], values[..., 3])
        colours = (
            values[..., :3]
            if extra == ["unassalpha"]
            else np.minimum(255, np.floor(values[..., :3] * 255.0 / np.maximum(values[..., 3:], 1) + 0.5))
            * (values[..., 3:] > 0)
        )
        assert np.array_equal(np.asarray(written)[..., :3], colours)


@pytest.mark.parametrize(
    "name, channels, left",
    [("out.jpg", 4, 3), ("out.jpg", 2, 1), ("out.bmp", 4, 3), ("out.png", 5, 4), ("out.pgm", 3, 1)],
)
def test_the_way_out_of_too_many_channels_is_named_and_leads_out(sepconv, name, channels, left):
    values = image(channels=channels)
    np.save(sepconv.folder / "in.npy", values)
    sentence = fails(sepconv, "run", "in.npy", name, "--axes", "yxc", status=2)
    stage = sentence.split("leave channels out with ")[1]
    sepconv("run", "in.npy", name, stage, "--axes", "yxc", "--quiet")
    if not name.endswith(".jpg"):
        with PIL.Image.open(sepconv.folder / name) as written:
            assert np.array_equal(np.asarray(written).reshape(*values.shape[:2], left), values[..., :left])


def test_a_fourth_channel_of_which_nothing_is_known_is_said_to_become_alpha(sepconv):
    np.save(sepconv.folder / "in.npy", image(channels=4))
    reported_warnings = warnings(sepconv, "in.npy", "out.png")
    assert len(reported_warnings) == 1 and "channel 4 becomes alpha" in reported_warnings[0]


def write_animation(path):
    frames = [PIL.Image.fromarray(frame) for frame in STACK]
    frames[0].save(path, save_all=True, append_images=frames[1:])


def test_an_animation_is_not_taken_for_its_first_image(sepconv):
    write_animation(sepconv.folder / "in.png")
    for command, status in (
        (["run", "in.png", "out.png"], 1),
        (["stats", "in.png"], 1),
        (["compare", "in.png", "in.png"], 2),
    ):
        sentence = fails(sepconv, *command, status=status)
        assert "holds 5 images" in sentence and "--page 0" in sentence
    only(warnings(sepconv, "in.png", "out.png", "--page", "0"), "5 images", "animation")
    with PIL.Image.open(sepconv.folder / "out.png") as written:
        assert np.array_equal(np.asarray(written), STACK[0]) and getattr(written, "n_frames", 1) == 1
    fails(sepconv, "run", "in.png", "other.png", "--page", "1", status=1)
    assert "5 images" in sepconv("info", "in.png").stdout
    info = json.loads(sepconv("info", "in.png", "--json").stdout)
    assert info["images"] == 5
    only(info["pages"][0]["warnings"], "animation")


def test_further_images_behind_a_jpeg_are_counted(sepconv):
    frames = [PIL.Image.fromarray(frame) for frame in STACK[:2]]
    frames[0].save(sepconv.folder / "in.mpo", save_all=True, append_images=frames[1:])
    (sepconv.folder / "in.mpo").rename(sepconv.folder / "in.jpg")
    only(warnings(sepconv, "in.jpg", "out.npy"), "2 images", "first")
    assert "2 images" in sepconv("info", "in.jpg").stdout


@pytest.mark.parametrize("name", ["in.png", "in.jpg"])
def test_info_shows_what_comes_along_with_a_small_image(sepconv, name):
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "maker"
    profile = PIL.ImageCms.ImageCmsProfile(PIL.ImageCms.createProfile("sRGB")).tobytes()
    PIL.Image.fromarray(image(channels=3)).save(
        sepconv.folder / name, dpi=(300, 72), exif=exif, icc_profile=profile
    )
    text = sepconv("info", name).stdout
    assert "300 x 72 per inch" in text and "6 (kept, not applied)" in text and f"{len(profile)} bytes" in text
    page = json.loads(sepconv("info", name, "--json").stdout)["pages"][0]
    assert page["facts"]["resolution"] == "300 x 72 per inch"
    assert page["warnings"] == []
    assert [line.split(maxsplit=1)[1] for line in text.splitlines() if line.startswith("  warning ")] == page[
        "warnings"
    ]


@pytest.mark.parametrize("name", ["in.png", "in.jpg", "in.bmp", "in.ppm"])
def test_colours_of_a_small_image_are_known_to_be_that(sepconv, name):
    PIL.Image.fromarray(image(channels=3)).save(sepconv.folder / name)
    sepconv("run", name, "out.tif", "cast:type=f32", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as result:
        assert result.pages[0].photometric == tifffile.PHOTOMETRIC.RGB


def test_compare_says_what_it_does_not_read(sepconv):
    write_animation(sepconv.folder / "a.png")
    PIL.Image.fromarray(STACK[0]).save(sepconv.folder / "b.png")
    process = sepconv("compare", "a.png", "b.png", "--page", "0", "--json")
    result = json.loads(process.stdout)
    assert result["equal"]
    assert process.stderr == f"warning: {only(result['warnings'], 'a.png: ', 'animation')}\n"
    assert sepconv("compare", "a.png", "b.png", "--page", "0", "--quiet").stderr == process.stderr
    assert sepconv("stats", "a.png", "--page", "0", "-q").stderr == process.stderr.replace("a.png: ", "")


@pytest.mark.parametrize("result", ["out.png", "out.bmp"])
def test_the_resolution_of_a_bmp_goes_along(sepconv, result):
    PIL.Image.fromarray(STACK[0]).save(sepconv.folder / "in.bmp", dpi=(300, 300))
    assert warnings(sepconv, "in.bmp", result) == []
    with PIL.Image.open(sepconv.folder / result) as written:
        assert np.array_equal(np.asarray(written), STACK[0])
        assert written.info["dpi"] == pytest.approx((300, 300), rel=1e-4)


def test_a_text_that_is_no_utf8_is_latin1_in_a_png(sepconv):
    content = "caf\xe9".encode("latin-1") + b"\0"
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        STACK[0],
        metadata=None,
        software=False,
        extratags=[(270, 2, len(content), content)],
    )
    sepconv("run", "in.tif", "out.png", "--quiet")
    with PIL.Image.open(sepconv.folder / "out.png") as written:
        assert written.text == {"Description": "caf\xe9"} and not isinstance(
            written.text["Description"], PIL.PngImagePlugin.iTXt
        )


@pytest.mark.parametrize("rows, said", [(1, "no plan fits"), (2**31 - 1, "cannot be compressed")])
def test_the_length_of_rows_that_a_png_claims_takes_no_memory(sepconv, rows, said):
    """A row of 2^31 - 1 pixels of one bit, compressed like zeros, and more rows than possible."""

    def chunk(name, data):
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    deflate = zlib.compressobj(9)
    stream = (
        b"".join(deflate.compress(bytes(2**24)) for _ in range(16))
        + deflate.compress(b"\0")
        + deflate.flush()
    )
    header = (2**31 - 1).to_bytes(4, "big") + rows.to_bytes(4, "big") + bytes([1, 0, 0, 0, 0])
    (sepconv.folder / "in.png").write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", stream) + chunk(b"IEND", b"")
    )
    done = limited(
        sepconv.folder,
        ["run", "in.png", "out.npy", "abs", "--max-memory", "64M"],
        {resource.RLIMIT_AS: 2**30},
    )
    assert done.returncode == 1 and one_sentence(done.stderr) and said in done.stderr


@pytest.mark.parametrize(
    "times, said", [(1, "Too much image data"), (16, "its compressed data exceed its pixels by far")]
)
def test_what_is_compressed_behind_the_last_row_of_a_png_ends(sepconv, times, said):
    """It can be a thousand times larger: decoding it up to its checksum takes long."""

    def chunk(name, data):
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    rows, behind = bytes(51 * 50), bytes(1 << 25)
    coder = zlib.compressobj(9)
    stream = coder.compress(rows)
    for _ in range(times):
        stream += coder.compress(behind)
    header = (50).to_bytes(4, "big") * 2 + bytes([8, 0, 0, 0, 0])
    chunks = (
        chunk(b"IHDR", header)
        + chunk(b"IDAT", stream + coder.flush())
        + chunk(b"tEXt", b"Comment\0" + b"c" * (1 << 19))
        + chunk(b"IEND", b"")
    )
    (sepconv.folder / "in.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunks)
    assert said in fails(sepconv, "run", "in.png", "out.npy", "--quiet", status=1)
