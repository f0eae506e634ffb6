#!/usr/bin/env python3
"""Small valid files, one per feature of a format. The program make_seeds.py CORPUS_FOLDER writes the seed
corpora of the fuzz targets."""

import gzip
import io
import itertools
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

import numpy as np
import PIL.Image
import PIL.ImageCms
import tifffile

ROWS, COLS = 45, 37  # not multiples of any tile, strip or band size


def image(dtype, channels=1, rows=ROWS, cols=COLS):
    values = np.arange(rows * cols * channels, dtype=np.float64).reshape(rows, cols, channels) % 2039
    return (values if channels > 1 else values[:, :, 0]).astype(dtype)


# ---- TIFF: types by tifffile, layouts and codecs by libtiff's tiffcp ----

TYPES = {"u8": "u1", "u16": "u2", "i16": "i2", "f32": "f4", "f64": "f8"}
TILES = ("-t", "-w", "16", "-l", "32")
LAYOUTS = {
    "tiles": TILES,
    "strips": ("-s", "-r", "16"),
    "strip": ("-s", "-r", str(ROWS)),
    "planar": ("-s", "-r", "16", "-p", "separate"),
    "planar tiles": (*TILES, "-p", "separate"),
    "big-endian": (*TILES, "-B"),
    "BigTIFF": ("-s", "-r", "16", "-8"),
    "big-endian BigTIFF": (*TILES, "-B", "-8"),
    "lsb first": ("-s", "-r", "16", "-f", "lsb2msb"),
}
INTEGERS, FLOATS = {"u8", "u16", "i16"}, {"f32", "f64"}
# tiffcp's names of the codecs, and the types that they support.
CODECS = {
    "none": set(TYPES),
    "lzw": set(TYPES),
    "lzw:2": INTEGERS,
    "zip:p1": set(TYPES),
    "zip:2:p9": INTEGERS,
    "zip:3": FLOATS,
    "zip:s0": {"u8", "f32"},
    "zstd": set(TYPES),
    "zstd:2": INTEGERS,
    "zstd:3": FLOATS,
    "packbits": set(TYPES),
    "jpeg": {"u8"},
    "jpeg:r": {"u8"},
}
GEO_KEYS = (1, 1, 0, 2, 1024, 0, 1, 1, 1025, 0, 1, 1)
METADATA = (
    (33550, "d", 3, (0.5, 0.5, 0.0), True),
    (33922, "d", 6, (0.0, 0.0, 0.0, 440720.0, 3751320.0, 0.0), True),
    (34735, "H", len(GEO_KEYS), GEO_KEYS, True),
    (34675, "B", 400, bytes(range(200)) * 2, True),
    (42112, "s", 0, "<GDALMetadata>" + 300 * "<Item/>" + "</GDALMetadata>", True),
    (42113, "s", 0, "-9999", True),
)


def tiff_bytes(pixels, metadata=(), planar=False, **options):
    stream = io.BytesIO()
    with tifffile.TiffWriter(stream, byteorder=options.pop("byteorder", "<")) as tif:
        options["photometric"] = "rgb" if pixels.ndim == 3 else "minisblack"
        if planar:
            pixels, options["planarconfig"] = np.moveaxis(pixels, 2, 0), "separate"
        tif.write(pixels, metadata=None, extratags=metadata, **options)
    return stream.getvalue()


def tiffcp(folder, options, *sources):
    names = [f"in-{index}.tif" for index in range(len(sources))]
    for name, source in zip(names, sources):
        (folder / name).write_bytes(source)
    subprocess.run(["tiffcp", *options, *names, "out.tif"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
    return (folder / "out.tif").read_bytes()


def tiff_seeds():
    """Every layout with every codec once; the pixel types alternate."""
    types_of_codec = {codec: itertools.cycle(sorted(types)) for codec, types in CODECS.items()}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for (layout, flags), codec in itertools.product(LAYOUTS.items(), CODECS):
            if (layout, codec) in (("planar tiles", "zip:3"), ("planar tiles", "zstd:3")):
                continue  # a predictor of floats
            if "planar" in layout and codec.startswith("jpeg") and (layout, codec) != ("planar", "jpeg:r"):
                continue  # tiffcp cannot write such tiles, and sepconv does not read YCbCr in planes
            pixel_type, planar = next(types_of_codec[codec]), "planar" in layout
            if layout == "planar tiles":
                pixel_type = "u8"  # tiffcp mixes up the bytes of wider samples
            channels = 3 if planar or codec.startswith("jpeg") and layout != "strips" else 1
            source = tiff_bytes(image(TYPES[pixel_type], channels), planar=planar)
            yield f"{layout} {codec} {pixel_type}.tif", tiffcp(folder, (*flags, "-c", codec), source)
        for pixel_type, dtype in TYPES.items():
            compression_options = {"compression": "zlib", "predictor": 2 if pixel_type in INTEGERS else 1}
            yield (
                f"wide planar tiles {pixel_type}.tif",
                tiff_bytes(image(dtype, 3), planar=True, tile=(32, 16), **compression_options),
            )
        for dtype in ("i1", "u4", ">i4", "i8", "f2", ">c8"):
            byteorder, compression_options = (
                "><"[dtype[0] != ">"],
                {"compression": "zlib"} if dtype in ("u4", "f2") else {},
            )
            yield (
                f"elements {dtype.strip('>')}.tif",
                tiff_bytes(image(dtype), byteorder=byteorder, tile=(32, 16), **compression_options),
            )
        yield "bits.tif", tiff_bytes(image("u1") % 2 == 1, rowsperstrip=16)
        described = tiff_bytes(
            image("u1"), METADATA, description="word " * 400, resolution=(300, 300), software="seed"
        )
        yield "metadata.tif", described
        yield "metadata zip.tif", tiffcp(folder, ("-c", "zip", "-r", "16"), described)
        yield (
            "pages.tif",
            tiffcp(
                folder, ("-c", "lzw", *TILES), described, tiff_bytes(image("f4")), tiff_bytes(image("u2", 3))
            ),
        )


def stack_seeds():
    """Stacks of images with each kind of description; also levels and masks."""
    planes = np.stack([image("u1") ^ number for number in range(4)])

    def written(*pages, **options):
        stream = io.BytesIO()
        with tifffile.TiffWriter(stream, **options) as writer:
            for values, write_options in pages:
                writer.write(values, photometric="minisblack", **write_options)
        return stream.getvalue()

    yield (
        "ome.tif",
        written(
            (
                planes.reshape(2, 2, ROWS, COLS),
                {"metadata": {"axes": "CZYX", "PhysicalSizeX": 0.5, "Channel": {"Name": ["a", "b"]}}},
            ),
            ome=True,
        ),
    )
    yield "imagej.tif", written((planes, {"metadata": {"axes": "TYX"}}), imagej=True)
    yield "shaped.tif", written((planes, {}))
    yield (
        "plain.tif",
        written(
            *((plane, {"metadata": None, "contiguous": False, "compression": "zlib"}) for plane in planes)
        ),
    )
    level = {"metadata": None, "tile": (16, 16), "subfiletype": 1}
    yield (
        "levels.tif",
        written(
            (planes[0], {"metadata": None, "tile": (16, 16), "subifds": 1}),
            (planes[0][::2, ::2], level),
            (planes[0][::4, ::4], level),
            (planes[0] > 9, {"metadata": None, "subfiletype": 4}),
        ),
    )
    slide = "Aperio Image Library v1\n70x60"
    yield (
        "slide.tif",
        written(
            (planes[0], {"metadata": None, "tile": (16, 16), "description": slide}),
            (planes[0][:20, :20], {"metadata": None, "description": slide}),
            (planes[0][::2, ::2], {**level, "subfiletype": 0, "description": slide}),
            (
                planes[0][:20, :30],
                {"metadata": None, "subfiletype": 1, "description": slide + " -\nlabel 30x20"},
            ),
        ),
    )


# ---- NPY ----


def npy_seeds():
    for dtype, channels in itertools.product(
        ("<u1", "<u2", ">u2", "<i2", "<f4", ">f8", "?", "<i1", ">u4", "<i8", "<f2", ">c8"), (1, 3)
    ):
        yield f"{dtype.replace('?', 'bool')} {channels}.npy", npy_bytes(image(dtype, channels), None)
    for version in ((2, 0), (3, 0)):
        yield f"version {version[0]}.npy", npy_bytes(image("f4"), version)
    yield "columns first.npy", npy_bytes(np.asfortranarray(image("u1")), None)


def npy_bytes(pixels, version):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, pixels, version=version)
    return stream.getvalue()


# ---- PNG, JPEG, PNM, BMP ----


def pillow(pixels, kind, mode=None, **options):
    stream = io.BytesIO()
    picture = PIL.Image.fromarray(pixels)
    (picture.convert(mode) if mode else picture).save(stream, kind, **options)
    return stream.getvalue()


def interlaced(png):
    """The same image with Adam7 interlacing, by netpbm's pnmtopng."""
    pnm = subprocess.run(["pngtopam"], input=png, capture_output=True, check=True).stdout
    return subprocess.run(["pnmtopng", "-interlace"], input=pnm, capture_output=True, check=True).stdout


def metadata_options():
    """Pillow's options for a resolution, a profile and an orientation."""
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    profile = PIL.ImageCms.ImageCmsProfile(PIL.ImageCms.createProfile("sRGB")).tobytes()
    return {"dpi": (300, 300), "icc_profile": profile, "exif": exif}


def png_seeds():
    for mode in ("1", "L", "P", "LA", "RGB", "RGBA"):
        yield f"{mode}.png", pillow(image("u1", 3), "PNG", mode)
    yield "metadata.png", pillow(image("u1", 3), "PNG", **metadata_options())
    yield "transparent.png", pillow(image("u1", 3), "PNG", "P", bits=4, transparency=3)
    yield "grey 16.png", pillow(image("u2"), "PNG")
    yield "interlaced.png", interlaced(pillow(image("u1", 3), "PNG"))
    yield "interlaced grey.png", interlaced(pillow(image("u1"), "PNG"))


def jpeg_seeds():
    for mode in ("L", "RGB", "CMYK"):
        yield f"{mode}.jpg", pillow(image("u1", 3), "JPEG", mode)
        yield f"progressive {mode}.jpg", pillow(image("u1", 3), "JPEG", mode, progressive=True)
    yield "metadata.jpg", pillow(image("u1", 3), "JPEG", **metadata_options())
    yield "full chroma.jpg", pillow(image("u1", 3), "JPEG", subsampling=0)


def pnm_seeds():
    def text(pixels):
        return (
            b"\n".join(b" ".join(b"%d" % value for value in row) for row in pixels.reshape(ROWS, -1).tolist())
            + b"\n"
        )

    size = b"%d %d\n" % (COLS, ROWS)
    bits = image("u2") % 3 % 2
    yield "bits text.pnm", b"P1\n" + size + text(bits)
    yield "bits.pnm", b"P4 # packed\n" + size + np.packbits(bits, axis=1).tobytes()
    for greatest in (100, 255, 1000, 65535):
        for letter, channels in ((2, 1), (3, 3)):
            pixels = image("u2", channels) % (greatest + 1)
            header = size + b"%d\n" % greatest
            yield f"text {greatest} {channels}.pnm", b"P%d\n" % letter + header + text(pixels)
            packed = pixels.astype("u1" if greatest < 256 else ">u2").tobytes()
            yield f"{greatest} {channels}.pnm", b"P%d\n" % (letter + 3) + header + packed


def run_lengths(bmp):
    """A BMP of 8-bit indices, with each row encoded as runs of one pixel (compression 1)."""
    start, stored = int.from_bytes(bmp[10:14], "little"), (COLS + 3) // 4 * 4
    rows = (bmp[start + row * stored :][:COLS] for row in range(ROWS))
    runs = b"".join(b"".join(b"\1%c" % index for index in row) + b"\0\0" for row in rows) + b"\0\1"
    header = bytearray(bmp[:start])
    header[2:6] = (start + len(runs)).to_bytes(4, "little")
    header[30:38] = (1).to_bytes(4, "little") + len(runs).to_bytes(4, "little")
    return bytes(header) + runs


def bmp_file(bits, compression, before_pixels, pixels, header_bytes=40, colours=0):
    """A BMP with a Windows header; `before_pixels` are the header's bytes after the first 40, the masks and
    the palette."""
    offset = 54 + len(before_pixels)
    header = struct.pack(
        "<IiiHHIIiiII", header_bytes, COLS, ROWS, 1, bits, compression, len(pixels), 2835, 2835, colours, 0
    )
    return b"BM" + struct.pack("<IHHI", offset + len(pixels), 0, 0, offset) + header + before_pixels + pixels


def half_byte_runs():
    """RLE4: each row as runs, single pixels (Pillow 9.4 drops the last of an odd number), and a skipped
    rest."""
    palette = bytes(range(64))
    row = b"\x0a\x12" + b"\0\x08\x12\x34\x56\x78" + b"\x05\x9a\0\x02\x05\0\0\0"
    return bmp_file(4, 2, palette, ROWS * row + b"\0\1", colours=16)


def sixteen_bits(masks=()):
    """Without masks 5 bits per colour."""
    rows = np.pad(image("<u2") * 31, ((0, 0), (0, 1)))
    return bmp_file(
        16, 3 if masks else 0, struct.pack(f"<{len(masks)}I", *masks), rows.astype("<u2").tobytes()
    )


def bmp_with_profile():
    profile = PIL.ImageCms.ImageCmsProfile(PIL.ImageCms.createProfile("sRGB")).tobytes()
    pixels = bytes(COLS * ROWS * 4)
    remainder = struct.pack(
        "<4I4s48xIIII", 0xFF0000, 0xFF00, 0xFF, 0xFF000000, b"DEBM", 4, 124 + len(pixels), len(profile), 0
    )
    return bmp_file(32, 3, remainder, pixels, header_bytes=124) + profile


def bmp_seeds():
    for mode in ("1", "L", "P", "RGB", "RGBA"):
        yield f"{mode}.bmp", pillow(image("u1", 3), "BMP", mode)
    yield "runs.bmp", run_lengths(pillow(image("u1", 3), "BMP", "P"))
    yield "runs of half bytes.bmp", half_byte_runs()
    yield "16 bits.bmp", sixteen_bits()
    yield "16 bits, masks.bmp", sixteen_bits((0xF800, 0x07E0, 0x001F))
    yield "profile.bmp", bmp_with_profile()


STAGES = """gaussian:sigma=2.5|gaussian:sigma=1,radius=3,border=constant,value=-1.5|gaussian:sigma=1e9|box:radius=4|binomial:radius=2
sobel:axis=x|scharr:axis=y|derivative:order=2,axis=y,radius=3|gradient:operator=gaussian,sigma=1|gaussian_laplace:sigma=2|dog:sigma=1,sigma2=1.6
unsharp:sigma=1.5,amount=0.8,threshold=2|convolve:row=-1,0,1,col=1,2,1,flip=true|mix_channels:values=0.299,0.587,0.114|mix_channels:rows=2,values=1,2,3,4
add:chain=gaussian:sigma=1|blend:chain=[box:radius=1,border=wrap],alpha=0.3|max:chain=[min:chain=[abs|scale:factor=2,offset=1|cast:type=f32|clamp:low=0,high=1|abs|threshold:at=128|gausian|box:radios=1|convolve:row=nan|,:=""".replace(
    "\n", "|"
).split("|")


def zarr_seeds():
    """Metadata, a byte 0, and the value of every other key; and a zip file."""
    pixels = image("<u2", rows=8, cols=8)
    plain, half = pixels.tobytes(), pixels[:4, :4].tobytes()
    grid = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [13, 17],
        "data_type": "uint16",
        "fill_value": 7,
        "attributes": {"a": 1},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [8, 8]}},
        "chunk_key_encoding": {"name": "default"},
    }
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    transposed = [
        {"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "bytes", "configuration": {"endian": "big"}},
    ]
    index = struct.pack("<8Q", 0, 32, 32, 32, 2**64 - 1, 2**64 - 1, 0, 32)
    arrays = [
        ({**grid, "codecs": [little]}, plain),
        ({**grid, "codecs": transposed}, plain),
        ({**grid, "codecs": [little, {"name": "gzip"}]}, gzip.compress(plain)),
        ({**grid, "codecs": [little, {"name": "numcodecs.zlib"}]}, zlib.compress(plain)),
        (
            {
                **grid,
                "codecs": [
                    {
                        "name": "sharding_indexed",
                        "configuration": {
                            "chunk_shape": [4, 4],
                            "codecs": [little],
                            "index_codecs": [little],
                        },
                    }
                ],
            },
            half + half + index,
        ),
        (
            {
                "zarr_format": 2,
                "shape": [3, 13, 17],
                "chunks": [2, 8, 8],
                "dtype": ">f4",
                "compressor": {"id": "zlib"},
                "filters": None,
                "order": "F",
                "fill_value": "NaN",
            },
            zlib.compress(bytes(512)),
        ),
    ]
    for metadata, chunk in arrays:
        yield json.dumps(metadata).encode() + b"\0" + chunk
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as members:
        members.writestr("zarr.json", json.dumps(arrays[0][0]))
        members.writestr("c/0/0", plain)
    yield file.getvalue()


AXES = '"axes":[{"name":"c","type":"channel"},{"name":"y","type":"space","unit":"micrometer"},{"name":"x","type":"space"}]'
DATASETS = '"datasets":[{"path":"0","coordinateTransformations":[{"type":"scale","scale":[1,0.5,2]},{"type":"translation","translation":[0,1,2]}]},{"path":"1","coordinateTransformations":[{"type":"scale","scale":[1,1,4]}]}]'
OMERO = '"omero":{"channels":[{"label":"DAPI","color":"0000FF","window":{"min":0,"max":255,"start":3,"end":9},"active":true}],"rdefs":{}}'
NGFF = [
    '{"ome":{"version":"0.5","multiscales":[{"name":"a",%s,%s}],%s}}' % (AXES, DATASETS, OMERO),
    '{"multiscales":[{"version":"0.4",%s,%s}],%s}' % (AXES, DATASETS, OMERO),
    '{"plate":{"wells":[{"path":"A/1"}],"version":"0.4"}}',
    '{"well":{"images":[{"path":"0"}]}}',
    '{"labels":["cells"]}',
    '{"bioformats2raw.layout":3}',
]


def image_seeds():
    """(name, bytes) of files of every format; the name's suffix is the format."""
    return [
        *tiff_seeds(),
        *stack_seeds(),
        *npy_seeds(),
        *png_seeds(),
        *jpeg_seeds(),
        *pnm_seeds(),
        *bmp_seeds(),
    ]


def raw_deflate(data, strategy):
    coder = zlib.compressobj(6, zlib.DEFLATED, -15, 8, strategy)
    return (
        coder.compress(data[: len(data) // 2])
        + coder.flush(zlib.Z_SYNC_FLUSH)
        + coder.compress(data[len(data) // 2 :])
        + coder.flush()
    )


def jpeg_stream_seeds():
    """The expected format of a block, then a stream, or pixels to encode: see fuzz_jpeg.cpp."""
    for subsampling in range(3):
        for options in ({}, {"optimize": True}, {"restart_marker_blocks": 2}):
            stream = io.BytesIO()
            PIL.Image.fromarray(image("u1", 3)).save(stream, "jpeg", subsampling=subsampling, **options)
            yield bytes([1, ROWS - 1, COLS - 1, subsampling, 0, 0, 0, 0, 0, 0]) + stream.getvalue()
    for kind in (0, 2, 4, 8, 16):
        yield bytes([kind, ROWS - 1, COLS - 1, 2, 70, kind, 200, 1, 9, 4]) + image("u1", 3).tobytes()


def main(folder):
    targets = {"tif": "fuzz_tiff", "npy": "fuzz_npy"}
    seeds = [(targets.get(name.rpartition(".")[2], "fuzz_small_image"), seed) for name, seed in image_seeds()]
    seeds += [("fuzz_zarr", seed) for seed in zarr_seeds()]
    seeds += [("fuzz_stage_text", stage.encode()) for stage in STAGES]
    seeds += [("fuzz_ngff", text.encode()) for text in NGFF]
    seeds += [
        (target, bytes([pixel, 16, 16, times]) + image("u1", rows=rows).tobytes())
        for target in ("fuzz_deflate", "fuzz_zstd")
        for pixel in (0, 2)
        for times in (0, 40)
        for rows in (1, 60)
    ]
    seeds += [
        ("fuzz_inflate", raw_deflate(image("u1", rows=rows).tobytes(), strategy))
        for rows in (1, 60)
        for strategy in range(5)
    ]
    seeds += [
        ("fuzz_frames", bytes([codec, level, 0, 0, 9, 4, 30, 1]) + image("u1", rows=rows).tobytes())
        for codec in (0, 1, 4, 5)
        for level in (1, 12)
        for rows in (1, 60)
    ]
    seeds += [("fuzz_jpeg", seed) for seed in jpeg_stream_seeds()]
    for index, (target, seed) in enumerate(seeds):
        corpus = pathlib.Path(folder, target)
        corpus.mkdir(parents=True, exist_ok=True)
        (corpus / f"seed-{index:03}").write_bytes(seed)


if __name__ == "__main__":
    main(sys.argv[1])
