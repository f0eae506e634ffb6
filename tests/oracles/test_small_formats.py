"""PNG, JPEG, PNM and BMP compared with Pillow: equal pixels and metadata, and files that one refuses the
other refuses, too."""

import json
import struct

import numpy as np
import PIL.Image
import PIL.ImageCms
import PIL.ImageDraw
import pytest
import tifffile
from reference import random_image

SHAPE = (37, 53)
ORIENTATION = 0x0112


def copied(sepconv, source):
    sepconv("run", source, "copy.npy", "--quiet", "--force")
    return np.load(sepconv.folder / "copy.npy")


def warnings(sepconv, source, result, *words):
    return json.loads(sepconv("plan", source, result, *words, "--json").stdout)["warnings"]


def smooth(channels=1):
    rows, cols = np.mgrid[: SHAPE[0], : SHAPE[1]]
    planes = [127 + 100 * np.sin(rows / (5 + plane)) * np.cos(cols / 7) for plane in range(channels)]
    return np.stack(planes, axis=2).astype(np.uint8).squeeze()


def palette_image():
    image = PIL.Image.fromarray(random_image(SHAPE, np.uint8) % 50, "P")
    image.putpalette(random_image((150,), np.uint8, 1).tobytes())
    return image


def noise(dtype=np.uint8, channels=1):
    return PIL.Image.fromarray(random_image(SHAPE if channels == 1 else (*SHAPE, channels), dtype))


# Image, Pillow's options, and the mode for reading.
PNG_KINDS = {
    "1 bit": (lambda: PIL.Image.fromarray(random_image(SHAPE, np.uint8) > 127), {}, "L"),
    "grey": (noise, {}, "L"),
    "grey, well packed": (noise, {"optimize": True}, "L"),
    "grey, one transparent": (noise, {"transparency": 3}, "L"),
    "grey 16": (lambda: noise(np.uint16), {}, None),
    "grey alpha": (lambda: PIL.Image.fromarray(random_image((*SHAPE, 2), np.uint8), "LA"), {}, "RGBA"),
    "palette": (palette_image, {}, "RGB"),
    "palette of 6 bits": (palette_image, {"bits": 6}, "RGB"),
    "palette, one transparent": (palette_image, {"transparency": 3}, "RGBA"),
    "rgb": (lambda: noise(channels=3), {}, "RGB"),
    "rgb, one transparent": (lambda: noise(channels=3), {"transparency": (1, 2, 3)}, "RGBA"),
    "rgba": (lambda: noise(channels=4), {}, "RGBA"),
}


@pytest.mark.parametrize("kind", PNG_KINDS)
def test_png(sepconv, kind):
    make, options, mode = PNG_KINDS[kind]
    make().save(sepconv.folder / "in.png", **options)
    with PIL.Image.open(sepconv.folder / "in.png") as read:
        expected = np.asarray(read.convert(mode) if mode else read)
    np.testing.assert_array_equal(copied(sepconv, "in.png"), expected)


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"quality": 30, "subsampling": 2},
        {"subsampling": 1},
        {"subsampling": 0, "optimize": True},
        {"progressive": True},
    ],
    ids=str,
)
def test_jpeg(sepconv, mode, options):
    """Both use the same libjpeg, so the bits are equal."""
    channels = {"L": 1, "RGB": 3, "CMYK": 4}[mode]
    PIL.Image.fromarray(smooth(channels), mode).save(sepconv.folder / "in.jpg", **options)
    with PIL.Image.open(sepconv.folder / "in.jpg") as image:
        expected = np.asarray(image.convert("RGB") if mode == "CMYK" else image)
    np.testing.assert_array_equal(copied(sepconv, "in.jpg"), expected)


@pytest.mark.parametrize("name, mode", [("in.pbm", "1"), ("in.pgm", "L"), ("in.ppm", "RGB"), ("in.pgm", "I")])
def test_pnm(sepconv, name, mode):
    values = {"1": smooth() > 127, "L": smooth(), "RGB": smooth(3), "I": smooth().astype(np.int32) * 257}[
        mode
    ]
    PIL.Image.fromarray(values).save(sepconv.folder / name)
    expected = (
        values.astype(np.uint16)
        if mode == "I"
        else np.where(values, 255, 0).astype(np.uint8)
        if mode == "1"
        else values
    )
    np.testing.assert_array_equal(copied(sepconv, name), expected)


@pytest.mark.parametrize("text", [False, True], ids=["binary", "text"])
@pytest.mark.parametrize("greatest", [1, 3, 15, 100, 255, 256, 1023, 65534])
def test_pnm_of_fewer_values(sepconv, greatest, text):
    dtype = np.dtype(">u2" if greatest > 255 else "u1")
    values = (random_image(SHAPE, np.uint16) % (greatest + 1)).astype(dtype)
    header = f"P{2 if text else 5}\n{SHAPE[1]} {SHAPE[0]}\n{greatest}\n".encode()
    pixels = (" ".join(map(str, values.ravel())) + "\n").encode() if text else values.tobytes()
    (sepconv.folder / "in.pgm").write_bytes(header + pixels)
    limit = 65535 if greatest > 255 else 255
    expected = np.floor(values.astype(np.int64) * limit / greatest + 0.5)
    np.testing.assert_array_equal(copied(sepconv, "in.pgm"), expected)
    reported_warnings = warnings(sepconv, "in.pgm", "out.npy")
    assert reported_warnings == (
        [] if greatest == limit else [f"values of 0 to {greatest} are scaled to 0 to {limit}"]
    )


BMP_KINDS = {
    "1 bit": lambda: PIL.Image.fromarray(random_image(SHAPE, np.uint8) > 127),
    "grey": noise,
    "palette": palette_image,
    "rgb": lambda: noise(channels=3),
    "rgba": lambda: noise(channels=4),
}


@pytest.mark.parametrize("kind", BMP_KINDS)
def test_bmp(sepconv, kind):
    BMP_KINDS[kind]().save(sepconv.folder / "in.bmp")
    with PIL.Image.open(sepconv.folder / "in.bmp") as read:
        expected = np.asarray(read.convert("L" if kind in ("1 bit", "grey") else "RGB"))
    np.testing.assert_array_equal(copied(sepconv, "in.bmp"), expected)


def bmp_file(bits, compression, before_pixels, pixels, shape, colours=0):
    offset = 54 + len(before_pixels)
    header = struct.pack(
        "<IiiHHIIiiII", 40, shape[1], shape[0], 1, bits, compression, len(pixels), 0, 0, colours, 0
    )
    return b"BM" + struct.pack("<IHHI", offset + len(pixels), 0, 0, offset) + header + before_pixels + pixels


@pytest.mark.parametrize("masks", [(), (0x7C00, 0x03E0, 0x001F), (0xF800, 0x07E0, 0x001F)], ids=str)
def test_bmp_of_16_bits(sepconv, masks):
    """All possible values. Pillow truncates, sepconv rounds."""
    values = np.arange(1 << 16, dtype="<u2").reshape(256, 256)
    content = bmp_file(
        16, 3 if masks else 0, struct.pack(f"<{len(masks)}I", *masks), values.tobytes(), values.shape
    )
    (sepconv.folder / "in.bmp").write_bytes(content)
    found = copied(sepconv, "in.bmp")
    exact = np.stack(
        [(values.astype(np.int64) & mask) * 255 / mask for mask in masks or (0x7C00, 0x03E0, 0x001F)], axis=2
    )[::-1]
    np.testing.assert_array_equal(found, np.floor(exact + 0.5))
    with PIL.Image.open(sepconv.folder / "in.bmp") as read:
        np.testing.assert_array_equal(np.asarray(read), np.floor(exact))


@pytest.mark.parametrize("bits", [4, 8])
def test_bmp_of_run_lengths(sepconv, bits):
    """Alternating runs and single pixels; one row ends early."""
    dice, pairs = np.random.default_rng(bits), bits == 4
    runs = bytearray()
    for row in range(SHAPE[0]):
        left = SHAPE[1] - (7 if row == 5 else 0)
        while left:
            count = min(left, int(dice.integers(1, 20)))
            if count % 4 == 0:
                runs += (
                    bytes([0, count])
                    + dice.integers(
                        0, 256 if pairs else 16, count // 2 if pairs else count, dtype=np.uint8
                    ).tobytes()
                )
            else:
                runs += bytes([count, dice.integers(0, 256 if pairs else 16)])
            left -= count
        runs += b"\0\0" if row < SHAPE[0] - 1 else b"\0\1"
    palette = dice.integers(0, 256, 64, dtype=np.uint8).tobytes()
    (sepconv.folder / "in.bmp").write_bytes(bmp_file(bits, 3 - bits // 4, palette, bytes(runs), SHAPE, 16))
    with PIL.Image.open(sepconv.folder / "in.bmp") as read:
        expected = np.asarray(read.convert("RGB"))
    np.testing.assert_array_equal(copied(sepconv, "in.bmp"), expected)


@pytest.mark.parametrize("name", ["out.png", "out.jpg", "out.ppm", "out.pgm", "out.bmp"])
def test_written(sepconv, name):
    image = smooth(1 if name == "out.pgm" else 3)
    np.save(sepconv.folder / "in.npy", image)
    sepconv("run", "in.npy", name, "--quiet")
    with PIL.Image.open(sepconv.folder / name) as written:
        written.load()
        difference = np.abs(np.asarray(written).astype(int) - image)
    assert difference.max() <= (60 if name == "out.jpg" else 0) and difference.mean() < 4


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_written_16_bit_png(sepconv, channels):
    shape = SHAPE if channels == 1 else (*SHAPE, channels)
    np.save(sepconv.folder / "in.npy", random_image(shape, np.uint16))
    sepconv("run", "in.npy", "out.png", "--quiet")
    with PIL.Image.open(sepconv.folder / "out.png") as written:
        written.load()
        assert written.size == SHAPE[::-1]
    np.testing.assert_array_equal(copied(sepconv, "out.png"), random_image(shape, np.uint16))


def read_metadata(path):
    with PIL.Image.open(path) as image:
        image.load()
        return image.info.get("icc_profile"), tuple(image.info["dpi"]), image.getexif()[ORIENTATION]


@pytest.mark.parametrize("result", ["out.png", "out.jpg", "out.tif"])
@pytest.mark.parametrize("source", ["in.png", "in.jpg"])
def test_metadata_goes_along(sepconv, source, result):
    profile = PIL.ImageCms.ImageCmsProfile(PIL.ImageCms.createProfile("sRGB")).tobytes()
    exif = PIL.Image.Exif()
    exif[ORIENTATION] = 6
    PIL.Image.fromarray(smooth(3)).save(
        sepconv.folder / source, icc_profile=profile, dpi=(300, 72), exif=exif
    )
    assert warnings(sepconv, source, result, "gaussian:sigma=1") == []
    sepconv("run", source, result, "gaussian:sigma=1", "--quiet")
    with PIL.Image.open(sepconv.folder / result) as image:
        assert image.size == SHAPE[::-1]  # the orientation is kept, not applied
    kept_profile, dpi, orientation = read_metadata(sepconv.folder / result)
    assert kept_profile == profile and orientation == 6
    assert dpi == pytest.approx((300, 72), rel=2e-4)  # PNG stores integers per metre


def test_texts_of_png(sepconv):
    texts = PIL.PngImagePlugin.PngInfo()
    texts.add_text("Description", "a field in spring")
    texts.add_itxt("Author", "J. Ångström")
    texts.add_text("Comment", "lost")
    PIL.Image.fromarray(smooth()).save(sepconv.folder / "in.png", pnginfo=texts)
    assert warnings(sepconv, "in.png", "out.png") == ["a chunk of PNG is left out: tEXt"]
    sepconv("run", "in.png", "out.png", "--quiet")
    with PIL.Image.open(sepconv.folder / "out.png") as image:
        assert image.text == {"Description": "a field in spring", "Author": "J. Ångström"}


def test_srgb_of_png_stays(sepconv):
    info = PIL.PngImagePlugin.PngInfo()
    info.add(b"sRGB", b"\2")
    PIL.Image.fromarray(smooth(3)).save(sepconv.folder / "in.png", pnginfo=info)
    for chain, channels in (
        ([], "RGB"),
        (["gaussian:sigma=1"], "RGB"),
        (["mix_channels:rows=1,values=0.3,0.6,0.1"], "L"),
    ):
        sepconv("run", "in.png", "out.png", *chain, "--quiet", "--force")
        with PIL.Image.open(sepconv.folder / "out.png") as image:
            assert image.info["srgb"] == 2 and image.mode == channels
    PIL.Image.fromarray(smooth(3)).save(sepconv.folder / "in.png")
    sepconv("run", "in.png", "out.png", "--quiet", "--force")
    with PIL.Image.open(sepconv.folder / "out.png") as image:
        assert "srgb" not in image.info


def test_a_jpeg_that_is_only_copied_is_said_to_change(sepconv):
    once_more = [
        "compressed as JPEG once more, like the source, with quality 90 and 4:2:0: pixels change, beside edges by a hundred of 255; another format loses nothing"
    ]
    PIL.Image.fromarray(smooth(3)).save(sepconv.folder / "in.jpg")
    PIL.Image.fromarray(smooth(3)).save(sepconv.folder / "in.png")
    PIL.Image.fromarray(smooth(3)).save(sepconv.folder / "in.tif", compression="jpeg")
    assert warnings(sepconv, "in.jpg", "out.jpg") == once_more
    # For RGB, as in Pillow's TIFFs, each pixel has its own colour.
    assert warnings(sepconv, "in.tif", "out.jpg") == [
        once_more[0].replace("4:2:0", "4:4:4").replace("a hundred", "tens")
    ]
    assert warnings(sepconv, "in.jpg", "out.png") == warnings(sepconv, "in.png", "out.jpg") == []
    for words in ["gaussian:sigma=1"], ["--compress", "jpeg:95"]:
        assert warnings(sepconv, "in.jpg", "out.jpg", *words) == []


def test_what_a_format_cannot_hold_is_said(sepconv):
    PIL.Image.fromarray(smooth()).save(sepconv.folder / "in.png", dpi=(300, 300))
    assert warnings(sepconv, "in.png", "out.pgm") == [
        "resolution of the source is not kept: PGM cannot store it"
    ]


def is_refused_by_pillow(path):
    try:
        with PIL.Image.open(path) as image:
            image.load()
        return False
    except (OSError, SyntaxError):
        return True


@pytest.mark.parametrize("name", ["in.png", "in.jpg", "in.ppm"])
def test_truncated_files(sepconv, name):
    PIL.Image.fromarray(smooth(3)).save(sepconv.folder / name)
    content = (sepconv.folder / name).read_bytes()
    for part in (0.3, 0.6, 0.9, 0.99):
        (sepconv.folder / name).write_bytes(content[: int(part * len(content))])
        assert is_refused_by_pillow(sepconv.folder / name)
        said = sepconv("run", name, "out.npy", "--quiet", status=1).stderr
        assert name in said and said.count("\n") == 1
    assert not (sepconv.folder / "out.npy").exists()


def test_corrupt_jpeg_is_no_image(sepconv):
    """Zeros in the middle of the data: libjpeg only warns and continues with invented pixels."""
    PIL.Image.fromarray(random_image((200, 300, 3), np.uint8)).save(sepconv.folder / "in.jpg")
    content = bytearray((sepconv.folder / "in.jpg").read_bytes())
    middle = len(content) // 2
    content[middle : middle + 200] = b"\xff\xd9" * 100
    (sepconv.folder / "in.jpg").write_bytes(content)
    said = sepconv("run", "in.jpg", "out.npy", "--quiet", status=1).stderr
    assert "in.jpg" in said and "Corrupt JPEG data" in said and said.count("\n") == 1
    assert not (sepconv.folder / "out.npy").exists()


def page_of_text():
    page = PIL.Image.new("RGB", (640, 480), "white")
    drawing = PIL.ImageDraw.Draw(page)
    for line in range(30):
        drawing.text((8, 16 * line), "the quick brown fox jumps over the lazy dog " * 3, fill="black")
    return page


def test_a_drawn_png_is_no_larger_than_others_write_it(sepconv):
    page_of_text().save(sepconv.folder / "page.png")
    size = {}
    for name, options in {
        "usual": [],
        "fast": ["--compress", "deflate:fast"],
        "best": ["--compress", "deflate:best"],
    }.items():
        sepconv("run", "page.png", f"{name}.png", "--quiet", *options)
        with PIL.Image.open(sepconv.folder / f"{name}.png") as result:
            np.testing.assert_array_equal(result, page_of_text())
        size[name] = (sepconv.folder / f"{name}.png").stat().st_size
    assert size["best"] <= size["usual"] <= 1.05 * (sepconv.folder / "page.png").stat().st_size
    assert size["usual"] < size["fast"] / 2


def test_levels_of_png(sepconv):
    noise().save(sepconv.folder / "a.png")
    assert "PNG with deflate:9" in sepconv("plan", "a.png", "b.png", "--compress", "deflate:best").stdout
    refused = sepconv("run", "a.png", "b.png", "--compress", "deflate:11", status=2)
    assert "PNG has deflate:1 to deflate:9" in refused.stderr
    assert not (sepconv.folder / "b.png").exists()


def jpeg_sampling(path):
    """The sampling factors of the first component in the first frame header."""
    content = path.read_bytes()
    at = max(content.find(b"\xff\xc0"), content.find(b"\xff\xc2"))
    return content[at + 11] >> 4, content[at + 11] & 15


@pytest.mark.parametrize("result", ["out.jpg", "out.tif"])
@pytest.mark.parametrize(
    "given, options, wanted",
    [
        (0, [], (1, 1)),
        (1, [], (2, 1)),
        (2, [], (2, 2)),
        (2, ["--compress", "jpeg:95"], (1, 1)),
        (2, ["--compress", "jpeg:94"], (2, 2)),
        (0, ["--compress", "jpeg:60:420"], (2, 2)),
        (2, ["--compress", "jpeg:100:422"], (2, 1)),
        (None, ["--compress", "jpeg"], (2, 2)),
        (None, ["--compress", "jpeg:90:444"], (1, 1)),
    ],
)
def test_a_jpeg_has_the_colours_of_its_source_or_those_that_are_asked_for(
    sepconv, result, given, options, wanted
):
    source = "in.png" if given is None else "in.jpg" if result == "out.jpg" else "in.tif"
    image = PIL.Image.fromarray(smooth(3)[:32, :48])
    image.save(sepconv.folder / "in.jpg", quality=90, **({} if given is None else {"subsampling": given}))
    image.save(sepconv.folder / "in.png")
    if source == "in.tif":
        with open(sepconv.folder / "in.tif", "wb") as file:
            file.write(tiff_with_jpeg(sepconv.folder / "in.jpg", 48, 32, [(1, 1), (2, 1), (2, 2)][given]))
    sepconv("run", source, result, *options, "--quiet")
    assert jpeg_sampling(sepconv.folder / result) == wanted
    if result == "out.tif":
        with tifffile.TiffFile(sepconv.folder / result) as file:
            assert file.pages[0].tags[530].value == wanted


def tiff_with_jpeg(path, cols, rows, sampling):
    """A TIFF of one strip that contains this JPEG."""
    stream = path.read_bytes()
    entries = [
        (256, 4, 1, cols),
        (257, 4, 1, rows),
        (258, 3, 3, 8 + len(stream)),
        (259, 3, 1, 7),
        (262, 3, 1, 6),
        (273, 4, 1, 8),
        (277, 3, 1, 3),
        (278, 4, 1, rows),
        (279, 4, 1, len(stream)),
        (284, 3, 1, 1),
        (530, 3, 2, sampling[0] | sampling[1] << 16),
    ]
    bits = struct.pack("<HHH", 8, 8, 8)
    head = b"II*\0" + struct.pack("<I", 8 + len(stream) + len(bits))
    return (
        head
        + stream
        + bits
        + struct.pack("<H", len(entries))
        + b"".join(struct.pack("<HHII", *entry) for entry in entries)
        + b"\0\0\0\0"
    )


@pytest.mark.parametrize("quality, most", [(100, 4), (90, 60)])
def test_colours_of_full_resolution_change_little(sepconv, quality, most):
    """Red lines one pixel wide: with one colour for four pixels they change by more than a hundred."""
    image = np.full((64, 64, 3), 255, np.uint8)
    image[8:56:2, 8:56] = 255, 0, 0
    PIL.Image.fromarray(image).save(sepconv.folder / "in.png")
    sepconv("run", "in.png", "out.jpg", "--compress", f"jpeg:{quality}:444", "--quiet")
    with PIL.Image.open(sepconv.folder / "out.jpg") as written:
        assert np.abs(np.asarray(written).astype(int) - image).max() <= most


@pytest.mark.parametrize("source", ["in.jpg", "in.tif"])
def test_bytes_that_belong_to_no_pixel_are_said(sepconv, source):
    PIL.Image.fromarray(smooth(3)[:32, :48]).save(sepconv.folder / "plain.jpg", subsampling=2)
    content = (sepconv.folder / "plain.jpg").read_bytes()
    for added, is_said in (b"", False), (bytes(range(1, 41)), True), (b"\0" * 100, True):
        (sepconv.folder / "in.jpg").write_bytes(content[:-2] + added + content[-2:])
        (sepconv.folder / "in.tif").write_bytes(tiff_with_jpeg(sepconv.folder / "in.jpg", 48, 32, (2, 2)))
        said = sepconv("run", source, "out.npy", "--force").stderr
        assert ("belong to no pixel" in said) == is_said, (added, said)
        assert np.array_equal(
            np.load(sepconv.folder / "out.npy"), np.asarray(PIL.Image.open(sepconv.folder / "plain.jpg"))
        )
