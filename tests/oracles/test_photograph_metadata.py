"""EXIF, XMP and IPTC of photographs compared with Pillow and tifffile: metadata that are kept, metadata that
are updated, and rotation."""

import io
import json
import struct

import numpy as np
import PIL.Image
import PIL.IptcImagePlugin
import PIL.PngImagePlugin
import pytest
import tifffile

ROWS, COLS = 24, 40
XMP = b"""<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" tiff:Orientation="%d" dc:source="a field"/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""
CAPTION = b"\x1c\x02\x78\x00\x07in town"  # data set 2:120 of IPTC's IIM


def picture(channels=3):
    y, x = np.mgrid[:ROWS, :COLS]
    return np.stack([5 * x, 9 * y, 3 * (x + y) % 256], 2).astype(np.uint8)[..., :channels].squeeze()


def tiff_of(orientation, tags=lambda data: []):
    """A little-endian TIFF with EXIF directories; `tags` returns additional (tag, type, count, bytes) of the
    first. Without any it is EXIF."""
    data = bytearray(b"II*\0\0\0\0\0")

    def directory(tags):
        entries = b""
        for tag, kind, count, value in sorted(tags):
            if len(value) > 4:
                data.extend(b"\0" * (len(data) % 2))
                at = len(data)
                data.extend(value)
                value = struct.pack("<I", at)
            entries += struct.pack("<HHI", tag, kind, count) + value.ljust(4, b"\0")
        data.extend(b"\0" * (len(data) % 2))
        at = len(data)
        data.extend(struct.pack("<H", len(tags)) + entries + b"\0\0\0\0")
        return at

    text = lambda tag, words: (tag, 2, len(words) + 1, words.encode() + b"\0")
    number = lambda tag, value: (tag, 4, 1, struct.pack("<I", value))
    photo = directory(
        [
            text(0x9003, "2026:11:26 10:00:00"),
            (0x829A, 5, 1, struct.pack("<II", 1, 125)),
            number(0xA002, COLS),
            number(0xA003, ROWS),
            (0x927C, 7, 15, b"note of a maker"),
        ]
    )
    position = directory([text(1, "N"), (2, 5, 3, struct.pack("<6I", 51, 1, 30, 1, 0, 1))])
    first = directory(
        [
            text(0x010F, "a maker"),
            text(0x0110, "a model"),
            (0x0112, 3, 1, struct.pack("<H", orientation)),
            text(0x0132, "2026:11:27 05:00:00"),
            number(0x8769, photo),
            number(0x8825, position),
            *tags(data),
        ]
    )
    struct.pack_into("<I", data, 4, first)
    return bytes(data)


def image_tags(xmp):
    """The tags of an uncompressed RGB image, with the pixels appended to the data."""

    def tags(data):
        data.extend(b"\0" * (len(data) % 2))
        at = len(data)
        data.extend(picture().tobytes())
        number = lambda tag, value: (tag, 4, 1, struct.pack("<I", value))
        return [
            number(256, COLS),
            number(257, ROWS),
            (258, 3, 3, struct.pack("<HHH", 8, 8, 8)),
            number(259, 1),
            number(262, 2),
            number(273, at),
            number(277, 3),
            number(278, ROWS),
            number(279, ROWS * COLS * 3),
            (700, 1, len(xmp), xmp),
            (33723, 7, len(CAPTION), CAPTION),
        ]

    return tags


def write(path, orientation=1):
    image = PIL.Image.fromarray(picture())
    xmp = XMP % orientation
    exif = b"Exif\0\0" + tiff_of(orientation)
    if path.suffix == ".jpg":
        image.save(path, quality=95, subsampling=0, exif=exif)
        content = path.read_bytes()
        packet = b"http://ns.adobe.com/xap/1.0/\0" + xmp
        resource = (
            b"Photoshop 3.0\0"
            + b"8BIM\x04\x04\0\0"
            + struct.pack(">I", len(CAPTION))
            + CAPTION
            + b"\0" * (len(CAPTION) % 2)
        )
        added = b"".join(
            b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
            for marker, data in ((0xE1, packet), (0xED, resource))
        )
        path.write_bytes(content[:2] + added + content[2:])
    elif path.suffix == ".png":
        info = PIL.PngImagePlugin.PngInfo()
        info.add_itxt("XML:com.adobe.xmp", xmp.decode())
        image.save(path, exif=exif, pnginfo=info)
    else:
        path.write_bytes(tiff_of(orientation, image_tags(xmp)))


def found(path):
    """The texts and numbers of a result."""
    with PIL.Image.open(path) as image:
        if path.suffix != ".tif":  # its pixels are rotated then, and the orientation is removed
            image.load()
        exif = image.getexif()
        photo, position = exif.get_ifd(0x8769), exif.get_ifd(0x8825)
        iptc = PIL.IptcImagePlugin.getiptcinfo(image) or {}
        xmp = image.info.get("XML:com.adobe.xmp") or (
            image.tag_v2.get(700, b"") if path.suffix == ".tif" else b""
        )
        size = image.size
    if path.suffix == ".tif":  # Pillow reads IPTC as bytes, and libtiff stores it as 32-bit numbers
        with tifffile.TiffFile(path) as file:
            tag = file.pages[0].tags.get(33723)
            record = (
                b""
                if tag is None
                else tag.value
                if isinstance(tag.value, bytes)
                else np.array(tag.value, "<u4").tobytes()
            )
        iptc = {(2, 120): b"in town"} if record.startswith(CAPTION) else {}
    if path.suffix == ".jpg":
        content = path.read_bytes()
        at = content.find(b"http://ns.adobe.com/xap/1.0/\0")
        xmp = content[at + 29 : at + 2000] if at >= 0 else b""
    xmp = xmp.encode() if isinstance(xmp, str) else bytes(xmp)
    return {
        "maker": exif.get(0x010F),
        "model": exif.get(0x0110),
        "orientation": exif.get(0x0112, 1),
        "taken": photo.get(0x9003),
        "exposure": float(photo.get(0x829A, 0)),
        "sides": (photo.get(0xA002), photo.get(0xA003)),
        "north": position.get(1),
        "latitude": tuple(map(float, position.get(2, ()))),
        "caption": iptc.get((2, 120)),
        "source": b"a field" in xmp,
        "xmp says": next((value for value in range(1, 9) if b'Orientation="%d"' % value in xmp), None),
        "size": size,
        "note": photo.get(0x927C),
    }


@pytest.mark.parametrize("result", ["out.jpg", "out.png", "out.tif"])
@pytest.mark.parametrize("source", ["in.jpg", "in.png", "in.tif"])
def test_exif_xmp_and_iptc_go_along(sepconv, source, result):
    write(sepconv.folder / source, 6)
    assert found(sepconv.folder / source)["taken"], "the source is as it is meant to be"
    output = " ".join(
        json.loads(sepconv("plan", source, result, "reduce:factor=2", "--json").stdout)["warnings"]
    )
    sepconv("run", source, result, "reduce:factor=2", "--quiet")
    kept = found(sepconv.folder / result)
    assert (
        kept["maker"] == "a maker"
        and kept["model"] == "a model"
        and kept["orientation"] == 6
        and kept["taken"] == "2026:11:26 10:00:00"
    )
    assert (
        kept["exposure"] == pytest.approx(1 / 125)
        and kept["north"] == "N"
        and kept["latitude"] == (51, 30, 0)
    )
    assert kept["size"] == (COLS // 2, ROWS // 2) == kept["sides"]
    assert kept["source"] and kept["xmp says"] == 6
    if source != "in.png":
        assert kept["caption"] == b"in town" if result != "out.png" else "IPTC" in output
    if "tif" not in source + result:
        assert kept["note"] == b"note of a maker"
    else:
        assert kept["note"] is None and "maker note" in output


def upright(stored, orientation):
    """TIFF 6.0: the positions of the first stored row and column."""
    transposed = stored.swapaxes(0, 1)
    return {
        1: stored,
        2: stored[:, ::-1],
        3: stored[::-1, ::-1],
        4: stored[::-1],
        5: transposed,
        6: transposed[:, ::-1],
        7: transposed[::-1, ::-1],
        8: transposed[::-1],
    }[orientation]


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(
    "source, result", [("in.png", "out.png"), ("in.tif", "out.jpg"), ("in.jpg", "out.tif")]
)
def test_a_photograph_is_turned_upright_when_asked(sepconv, source, result, orientation):
    write(sepconv.folder / source, orientation)
    sepconv("run", source, result, "--orient", "--quiet")
    with PIL.Image.open(sepconv.folder / source) as image:
        expected = upright(picture() if source == "in.tif" else np.asarray(image), orientation).astype(float)
    with PIL.Image.open(sepconv.folder / result) as image:
        shown = np.asarray(image.convert("RGB"), float)
    assert shown.shape == expected.shape and np.abs(shown - expected).max() <= (
        0 if result != "out.jpg" else 40
    )
    kept = found(sepconv.folder / result)
    assert kept["orientation"] == 1 and kept["sides"] == expected.shape[1::-1] and kept["xmp says"] == 1
    sepconv("run", source, "whole.png", "gaussian:sigma=1", "--orient", "--quiet", "--reference")
    sepconv("run", source, "bands.png", "gaussian:sigma=1", "--orient", "--quiet", "--band-rows", "7")
    assert (sepconv.folder / "whole.png").read_bytes() == (sepconv.folder / "bands.png").read_bytes()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_transposition_of_a_turned_photograph_is_that_of_what_is_seen(sepconv, orientation):
    from PIL import ImageOps

    write(sepconv.folder / "in.png", orientation)
    sepconv("run", "in.png", "out.png", "transpose", "--quiet")
    with PIL.Image.open(sepconv.folder / "in.png") as image:
        seen = np.asarray(ImageOps.exif_transpose(image))
    with PIL.Image.open(sepconv.folder / "out.png") as image:
        repeated = np.asarray(ImageOps.exif_transpose(image))
    assert np.array_equal(repeated, seen.transpose(1, 0, 2))


def test_a_thumbnail_falls(sepconv):
    thumbnail = io.BytesIO()
    PIL.Image.fromarray(picture()[::4, ::4]).save(thumbnail, "JPEG")
    exif = (
        b"Exif\0\0"
        + b"II*\0\x08\0\0\0"
        + struct.pack("<HHHIII", 1, 0x010F, 2, 8, 56, 26)
        + struct.pack("<HHHIIHHIII", 2, 0x201, 4, 1, 64, 0x202, 4, 1, len(thumbnail.getvalue()), 0)
        + b"a maker\0"
        + thumbnail.getvalue()
    )
    PIL.Image.fromarray(picture()).save(sepconv.folder / "in.jpg", exif=exif)
    sepconv("run", "in.jpg", "out.jpg", "reduce:factor=2", "--quiet")
    content = (sepconv.folder / "out.jpg").read_bytes()
    assert content.count(b"\xff\xd8\xff") == 1 and found(sepconv.folder / "out.jpg")["maker"] == "a maker"


def test_a_plan_of_what_is_turned_is_run_as_it_is(sepconv):
    write(sepconv.folder / "in.jpg", 6)
    plan = sepconv("plan", "in.jpg", "out.png", "gaussian:sigma=1", "--orient", "--json").stdout
    (sepconv.folder / "plan.json").write_text(plan)
    sepconv("run", "in.jpg", "out.png", "--orient", "--plan", "plan.json", "--quiet")
    sepconv("run", "in.jpg", "again.png", "gaussian:sigma=1", "--orient", "--quiet")
    assert (sepconv.folder / "out.png").read_bytes() == (sepconv.folder / "again.png").read_bytes()


@pytest.mark.parametrize("bigtiff", [False, True])
@pytest.mark.parametrize("layout", [[], ["--cog"], ["--pyramid", "--compress", "zstd"]])
def test_exif_of_every_kind_of_tiff(sepconv, bigtiff, layout):
    write(sepconv.folder / "in.jpg", 3)
    sepconv("run", "in.jpg", "out.tif", *layout, *(["--bigtiff=yes"] if bigtiff else []), "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        tags = file.pages[0].tags
        assert (
            tags[34665].value["DateTimeOriginal"] == "2026:11:26 10:00:00"
            and tags[34853].value["GPSLatitudeRef"] == "N"
        )
    sepconv("run", "out.tif", "again.jpg", "--quiet")
    assert found(sepconv.folder / "again.jpg")["taken"] == "2026:11:26 10:00:00"
