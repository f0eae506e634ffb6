#!/usr/bin/env python3
"""Writes the seed corpora of the fuzz targets: make_seeds.py CORPUS_FOLDER. Small files, one a feature of a format."""

import io
import itertools
import pathlib
import sys

import numpy as np
import PIL.Image
import tifffile


def image(dtype, channels=1, rows=20, cols=24):
    values = np.arange(rows * cols * channels, dtype=np.float64).reshape(rows, cols, channels)
    return (values if channels > 1 else values[:, :, 0]).astype(dtype)


def tiff_seeds():
    layouts = ({"tile": (16, 16)}, {"rowsperstrip": 7}, {"rowsperstrip": 20})
    for byteorder, bigtiff, layout in itertools.product("<>", (False, True), layouts):
        for dtype, compression, channels in (("u1", None, 1), ("u2", "zlib", 3), ("f4", "zlib", 1), ("f8", None, 2)):
            planar = {"planarconfig": "separate"} if channels == 2 else {}
            pixels = np.moveaxis(image(dtype, channels), -1, 0) if planar else image(dtype, channels)
            photometric = "rgb" if channels == 3 else "minisblack"
            yield tiff_bytes(pixels, byteorder, bigtiff, photometric=photometric, compression=compression, **planar, **layout)
    for compression in ("tiff_lzw", "packbits", "jpeg", "tiff_adobe_deflate"):  # codecs that tifffile cannot write alone
        yield pil_bytes(image("u1", 3), "TIFF", compression=compression)


def tiff_bytes(pixels, byteorder, bigtiff, **options):
    stream = io.BytesIO()
    with tifffile.TiffWriter(stream, byteorder=byteorder, bigtiff=bigtiff) as tif:
        tif.write(pixels, metadata=None, description="seed", resolution=(300, 300), **options)
    return stream.getvalue()


def pil_bytes(pixels, name, **options):
    stream = io.BytesIO()
    PIL.Image.fromarray(pixels).save(stream, name, **options)
    return stream.getvalue()


def npy_seeds():
    for dtype in ("<u1", "<u2", ">u2", "<i2", "<f4", ">f8"):
        for pixels in (image(dtype), image(dtype, 3), np.asfortranarray(image(dtype))):
            stream = io.BytesIO()
            np.lib.format.write_array(stream, pixels, version=(2, 0) if dtype == "<f4" else None)
            yield stream.getvalue()


def small_image_seeds():
    for name in ("PNG", "JPEG", "PPM", "BMP"):
        yield pil_bytes(image("u1"), name)
        yield pil_bytes(image("u1", 3), name)
    yield pil_bytes(image("u1", 4), "PNG")
    yield pil_bytes(image("u2"), "PNG")
    yield pil_bytes(image("u1", 3), "JPEG", progressive=True)
    yield b"P5 # comment\n4 2\n65535\n" + bytes(16)


STAGES = """gaussian:sigma=2.5|gaussian:sigma=1,radius=3,border=constant,value=-1.5|gaussian:sigma=1e9|box:radius=4|binomial:radius=2
sobel:axis=x|scharr:axis=y|derivative:order=2,axis=y,radius=3|gradient:operator=gaussian,sigma=1|log:sigma=2|dog:sigma=1,sigma2=1.6
unsharp:sigma=1.5,amount=0.8,threshold=2|taps:row=-1,0,1,col=1,2,1,flip=true|matrix:values=0.299,0.587,0.114|matrix:rows=2,values=1,2,3,4
scale:by=2,add=1|cast:type=f32|clamp:low=0,high=1|abs|threshold:at=128|gausian|box:radios=1|taps:row=nan|,:=""".replace("\n", "|").split("|")


def main(folder):
    corpora = {
        "fuzz_tiff": tiff_seeds(),
        "fuzz_npy": npy_seeds(),
        "fuzz_small_image_header": small_image_seeds(),
        "fuzz_stage_text": (stage.encode() for stage in STAGES),
    }
    for target, seeds in corpora.items():
        corpus = pathlib.Path(folder, target)
        corpus.mkdir(parents=True, exist_ok=True)
        for index, seed in enumerate(seeds):
            (corpus / f"seed-{index:03}").write_bytes(seed)


if __name__ == "__main__":
    main(sys.argv[1])
