"""Files of a small image with metadata of a given size, made of many small things: one writer for each kind
of metadata."""

import json
import pathlib
import struct
import zlib

ROWS, COLS = 20, 24
PIXELS = bytes(range(240)) * 2


def many(piece, size):
    """So many pieces as have this size; `{}` in one is its number."""
    if "{}" not in piece:
        return piece * max(1, size // len(piece))
    return "".join(piece.replace("{}", str(i)) for i in range(max(1, size // (len(piece) + 4))))


def tiff(path, tags):
    """A TIFF of the image with these tags: number, type (2 text, 7 bytes), content."""
    entries = [
        (256, 3, COLS),
        (257, 3, ROWS),
        (258, 3, 8),
        (259, 3, 1),
        (262, 3, 1),
        (273, 4, 8),
        (277, 3, 1),
        (278, 3, ROWS),
        (279, 4, len(PIXELS)),
    ]
    behind, at = b"", 8 + len(PIXELS)
    fields = [
        (number, kind, 1, struct.pack("<I" if kind == 4 else "<HH", *((value,) if kind == 4 else (value, 0))))
        for number, kind, value in entries
    ]
    for number, kind, content in tags:
        fields.append((number, kind, len(content), struct.pack("<I", at + len(behind))))
        behind += content + b"\0" * (len(content) % 2)
    directory = at + len(behind)
    body = b"".join(
        struct.pack("<HHI", number, kind, count) + value for number, kind, count, value in sorted(fields)
    )
    path.write_bytes(
        b"II*\0"
        + struct.pack("<I", directory)
        + PIXELS
        + behind
        + struct.pack("<H", len(fields))
        + body
        + b"\0" * 4
    )
    return [path.name]


def text_tag(number, begin, piece, end):
    def write(folder, size):
        return tiff(folder / "in.tif", [(number, 2, (begin + many(piece, size) + end).encode() + b"\0")])

    return write


def described(text):
    """A TIFF with a description that is made by a function of the size."""
    return lambda folder, size: tiff(folder / "in.tif", [(270, 2, text(size).encode() + b"\0")])


OME = (
    '<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels ID="P" DimensionOrder="XYCZT" Type="uint8" '
    f'SizeX="{COLS}" SizeY="{ROWS}" SizeZ="1" SizeC="1" SizeT="1">'
)


def jpeg(folder, marker, content, size):
    """A JPEG of one grey block, with segments of a kind in front."""
    head = b"\xff\xd8" + b"".join(
        [b"\xff" + bytes([marker]) + struct.pack(">H", len(content) + 2) + content]
        * max(1, size // (len(content) + 4))
    )
    quantizer = b"\xff\xdb\0\x43\0" + b"\x10" * 64
    frame = b"\xff\xc0\0\x0b\x08\0\x08\0\x08\x01\x01\x11\0"
    huffman = (
        b"\xff\xc4\0\x14\0"
        + bytes([1] + [0] * 15)
        + b"\0"
        + b"\xff\xc4\0\x14\x10"
        + bytes([1] + [0] * 15)
        + b"\0"
    )
    (folder / "in.jpg").write_bytes(
        head + quantizer + frame + huffman + b"\xff\xda\0\x08\x01\x01\0\0\x3f\0" + b"\x3f" + b"\xff\xd9"
    )
    return ["in.jpg"]


def exif(entries):
    fields = b"".join(struct.pack("<HHII", 0x9000 + i % 4000, 3, 1, i) for i in range(entries))
    return b"Exif\0\0II*\0\x08\0\0\0" + struct.pack("<H", entries) + fields + b"\0" * 4


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(folder, chunks):
    rows = b"".join(b"\0" + PIXELS[row * COLS : (row + 1) * COLS] for row in range(ROWS))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", COLS, ROWS, 8, 0, 0, 0, 0))
    (folder / "in.png").write_bytes(
        b"\x89PNG\r\n\x1a\n" + head + chunks + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )
    return ["in.png"]


def pnm(folder, size):
    (folder / "in.pgm").write_bytes(
        b"P5\n" + many("#a\n", size).encode() + f"{COLS} {ROWS} 255\n".encode() + PIXELS
    )
    return ["in.pgm"]


def npy(folder, size):
    head = (
        f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({ROWS}, {COLS}), {many(' ', size)}}}\n".encode()
    )
    (folder / "in.npy").write_bytes(b"\x93NUMPY\x02\0" + struct.pack("<I", len(head)) + head + PIXELS)
    return ["in.npy"]


def world_file(folder, size):
    names = tiff(folder / "in.tif", [])
    (folder / "in.tfw").write_text(many("1.5\n", size))
    return names


def zarr(version, attributes="{}", group=None, beside=None):
    """An array of the image with attributes that are made by a function of the size; in a `group`, if one is
    given."""

    def write(folder, size):
        root = folder / "in.zarr"
        array = root / "0" if group else root
        array.mkdir(parents=True)
        of_array = attributes(size) if callable(attributes) else attributes
        if version == 2:
            (array / ".zarray").write_text(
                json.dumps(
                    {
                        "zarr_format": 2,
                        "shape": [ROWS, COLS],
                        "chunks": [ROWS, COLS],
                        "dtype": "|u1",
                        "order": "C",
                        "fill_value": 0,
                        "compressor": None,
                        "filters": None,
                    }
                )
            )
            (array / ".zattrs").write_text(of_array)
            (array / "0.0").write_bytes(PIXELS)
            if group:
                (root / ".zgroup").write_text('{"zarr_format": 2}')
                (root / ".zattrs").write_text(group(size))
        else:
            said = {
                "zarr_format": 3,
                "node_type": "array",
                "shape": [ROWS, COLS],
                "data_type": "uint8",
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [ROWS, COLS]}},
                "chunk_key_encoding": {"name": "default"},
                "fill_value": 0,
                "codecs": [{"name": "bytes"}],
            }
            (array / "zarr.json").write_text(json.dumps(said)[:-1] + f', "attributes": {of_array}}}')
            (array / "c/0").mkdir(parents=True)
            (array / "c/0/0").write_bytes(PIXELS)
            if group:
                (root / "zarr.json").write_text(group(size))
        if beside:
            (root / ".zmetadata").write_text(beside(size))
        return ["in.zarr"]

    return write


def members(size):
    return "{" + many('"k{}": 0, ', size) + '"last": 1}'


NGFF = (
    '"multiscales": [{"version": "0.4", "axes": [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}], '
    '"datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1, 1]}]}]}]'
)


def ngff(more):
    return zarr(2, group=lambda size: "{" + NGFF + ", " + more(size) + "}")


def argument(name, stage, text):
    """A file of numbers that a stage reads."""

    def write(folder, size):
        (folder / name).write_text(text(size))
        return [*npy(folder, 1), stage]

    return write


def plan(folder, size):
    (folder / "plan.json").write_text(members(size))
    return [*npy(folder, 1), "--plan", "plan.json"]


def journal(folder, size):
    (folder / "out.npy.partial").mkdir()
    (folder / "out.npy.partial/journal").write_text("00000000 begin " + members(size) + "\n")
    return [*npy(folder, 1), "--resume"]


# Arguments of the program: the input, and a stage or an option where they are not only that.
BOMBS = {
    "gdal-open-items": text_tag(42112, "<GDALMetadata>", "<Item>", "</Item></GDALMetadata>"),
    "gdal-items": text_tag(
        42112, "<GDALMetadata>", '<Item name="STATISTICS_{}">1</Item>\n', "</GDALMetadata>"
    ),
    "gdal-other-items": text_tag(
        42112,
        "<GDALMetadata>",
        '<Item name="A">1</Item>',
        '<Item name="STATISTICS_1">1</Item></GDALMetadata>',
    ),
    "gdal-attributes": text_tag(42112, "<GDALMetadata><Item ", 'a{}="" ', "/></GDALMetadata>"),
    "gdal-comments": text_tag(42112, "<GDALMetadata>", "<!---->", "</GDALMetadata>"),
    "ome-channels": described(
        lambda size: OME + many('<Channel ID="C:{}"/>', size) + "</Pixels></Image></OME>"
    ),
    "ome-planes": described(lambda size: OME + many('<TiffData IFD="0"/>', size) + "</Pixels></Image></OME>"),
    "ome-images": described(
        lambda size: (
            many(OME, 1)
            + "</Pixels></Image>"
            + many(OME[OME.index("<Image") :] + "</Pixels></Image>", size)
            + "</OME>"
        )
    ),
    "ome-depth": described(
        lambda size: OME + "<a>" * (size // 7) + "</a>" * (size // 7) + "</Pixels></Image></OME>"
    ),
    "ome-attributes": described(
        lambda size: OME[:-1] + " " + many('a{}="" ', size) + "></Pixels></Image></OME>"
    ),
    "imagej-lines": described(lambda size: "ImageJ=1.54\nimages=1\n" + many("k{}=0\n", size)),
    "imagej-slices": described(lambda size: "ImageJ=1.54\n" + many("min=0\n", size)),
    "shaped-members": described(lambda size: f'{{"shape": [{ROWS}, {COLS}], ' + members(size)[1:]),
    "shaped-equal-members": described(
        lambda size: f'{{"shape": [{ROWS}, {COLS}], ' + many('"k": 0, ', size) + '"k": 1}'
    ),
    "shaped-list": described(lambda size: f'{{"shape": [{ROWS}, {COLS}], "a": [' + many("[],", size) + "0]}"),
    "shaped-depth": described(lambda size: f'{{"shape": [{ROWS}, {COLS}], "a": ' + many("[", size) + "}"),
    "tiff-icc": lambda folder, size: tiff(folder / "in.tif", [(34675, 7, many("acsp", size).encode())]),
    "tiff-xmp": lambda folder, size: tiff(folder / "in.tif", [(700, 7, many("<a/>", size).encode())]),
    "jpeg-exif": lambda folder, size: jpeg(folder, 0xE1, exif(4000), size),
    "jpeg-icc": lambda folder, size: jpeg(folder, 0xE2, b"ICC_PROFILE\0\x01\x01" + b"a" * 20, size),
    "jpeg-comments": lambda folder, size: jpeg(folder, 0xFE, b"", size),
    "png-texts": lambda folder, size: png(folder, chunk(b"tEXt", b"Comment\0a") * (size // 21 + 1)),
    "png-icc": lambda folder, size: png(
        folder, chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(100 * size), 1))
    ),
    "png-exif": lambda folder, size: png(folder, chunk(b"eXIf", exif(min(65535, size // 12))[6:])),
    "pnm-comments": pnm,
    "npy-header": npy,
    "world-file": world_file,
    "zarr2-attributes": zarr(2, members),
    "zarr2-lists": zarr(2, lambda size: '{"a": [' + many("{},", size).replace("{}", "[]") + "0]}"),
    "zarr2-depth": zarr(2, lambda size: '{"a": ' + many("[", size)),
    "zarr2-long-numbers": zarr(2, lambda size: '{"a": [' + many("1{}00000000000000000000,", size) + "0]}"),
    "zarr2-consolidated": zarr(
        2, group=lambda size: "{}", beside=lambda size: '{"metadata": ' + members(size) + "}"
    ),
    "zarr3-attributes": zarr(3, members),
    "zarr3-consolidated": zarr(
        3,
        group=lambda size: (
            '{"zarr_format": 3, "node_type": "group", "attributes": {}, "consolidated_metadata": {"metadata": '
            + members(size)
            + "}}"
        ),
    ),
    "ome-zarr-attributes": ngff(lambda size: '"other": 0, ' + members(size)[1:-1]),
    "ome-zarr-omero": ngff(
        lambda size: (
            '"omero": {"channels": [' + many('{"label": ""},', size) + '{}], "k": ' + members(size) + "}"
        )
    ),
    "ome-zarr-label": ngff(lambda size: '"image-label": ' + members(size)),
    "ome-zarr-images": zarr(
        2,
        group=lambda size: (
            "{"
            + NGFF[:-1]
            + ", "
            + many(NGFF[NGFF.index("[") + 1 : -1] + ", ", size)[:-2]
            + "], "
            + members(size)[1:]
        ),
    ),
    "taps": argument("taps.txt", "convolve:file=taps.txt", lambda size: many("1 ", size)),
    "matrix": argument("matrix.txt", "mix_channels:file=matrix.txt", lambda size: many("1\n", size)),
    "plan": plan,
    "journal": journal,
}


def write_bomb(kind, folder, size):
    """Makes the files of a kind in a folder. The arguments of a run behind its input, which is the first."""
    return BOMBS[kind](pathlib.Path(folder), size)
