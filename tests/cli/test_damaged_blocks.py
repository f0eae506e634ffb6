"""TIFFs whose blocks or tables contradict the directory: an error, or the same pixels under every plan; never
earlier contents of memory."""

import io
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from PIL import Image

from cli_support import fails, image

ROWS, COLS, HIGH = 48, 64, 16
PIXELS = image(ROWS, COLS)
PLANS = (
    ["--slots", "3", "--threads", "1"],
    ["--band-rows", "16", "--slots", "1"],
    ["--band-rows", "32", "--slots", "2", "--threads", "2"],
)


def tiff(strips, compression, rows=ROWS, rows_per_strip=HIGH, offsets=None, counts=None, predictor=1):
    """A little-endian TIFF of u8 strips; `offsets` or `counts` may give tables shorter than the number of
    strips."""
    content = bytearray(b"II*\0\0\0\0\0")
    positions = []
    for strip in strips:
        positions.append(len(content))
        content += strip + b"\0" * (len(strip) % 2)
    offsets = positions if offsets is None else positions[:offsets]
    counts = [len(strip) for strip in strips][: len(strips) if counts is None else counts]

    def table(values):
        if len(values) == 1:
            return 1, values[0]
        content.extend(struct.pack(f"<{len(values)}I", *values))
        return len(values), len(content) - 4 * len(values)

    entries = [
        (256, 4, 1, COLS),
        (257, 4, 1, rows),
        (258, 3, 1, 8),
        (259, 3, 1, compression),
        (262, 3, 1, 1),
        (273, 4, *table(offsets)),
        (277, 3, 1, 1),
        (278, 4, 1, rows_per_strip),
        (279, 4, *table(counts)),
        (317, 3, 1, predictor),
    ]
    struct.pack_into("<I", content, 4, len(content))
    return bytes(
        content
        + struct.pack("<H", len(entries))
        + b"".join(struct.pack("<HHII", *entry) for entry in entries)
        + bytes(4)
    )


def strips_encoded_by(encode):
    return [encode(PIXELS[row : row + HIGH]) for row in range(0, ROWS, HIGH)]


def deflate(pixels):
    return zlib.compress(pixels.tobytes())


def stored(data):
    """A deflate stream of one stored block, which libdeflate does not start to copy if the output is too
    small."""
    return (
        b"\x78\x01"
        + b"\x01"
        + struct.pack("<HH", len(data), len(data) ^ 0xFFFF)
        + data
        + struct.pack(">I", zlib.adler32(data))
    )


def jpeg(pixels):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=95)
    return file.getvalue()


def outcomes(sepconv, content):
    """The result of each plan: the file's bytes, or its error."""
    (sepconv.folder / "in.tif").write_bytes(content)
    results = []
    for plan in PLANS:
        process = subprocess.run(
            [*sepconv.command, "run", "in.tif", "out.npy", "--quiet", "--force", *plan],
            cwd=sepconv.folder,
            capture_output=True,
            text=True,
        )
        assert process.returncode in (0, 1), process.stderr
        results.append(
            (sepconv.folder / "out.npy").read_bytes() if process.returncode == 0 else process.stderr
        )
    return results


def refused(sepconv, content, *words):
    for result in outcomes(sepconv, content):
        assert (
            isinstance(result, str) and result.count("\n") == 1 and all(word in result for word in words)
        ), result


def read_as(sepconv, content, expected):
    for result in outcomes(sepconv, content):
        assert isinstance(result, bytes), result
        assert np.array_equal(np.load(io.BytesIO(result)), expected)


def test_whole_files_are_read(sepconv):
    read_as(sepconv, tiff(strips_encoded_by(deflate), 8), PIXELS)
    read_as(sepconv, tiff(strips_encoded_by(lambda p: stored(p.tobytes())), 8), PIXELS)
    read_as(sepconv, tiff(strips_encoded_by(np.ndarray.tobytes), 1), PIXELS)


@pytest.mark.parametrize("predictor", [1, 2])
@pytest.mark.parametrize("missing", [1, 64, 1023])
def test_a_stream_of_fewer_bytes_than_its_block_is_refused(sepconv, predictor, missing):
    strips = strips_encoded_by(deflate)
    strips[1] = zlib.compress(PIXELS[HIGH : 2 * HIGH].tobytes()[:-missing])
    refused(sepconv, tiff(strips, 8, predictor=predictor), "damaged")


@pytest.mark.parametrize("make", [stored, zlib.compress], ids=["stored", "searched"])
@pytest.mark.parametrize("more", [1, 300, 5000])
def test_a_stream_of_more_bytes_than_its_block_fills_the_block(sepconv, make, more):
    """Bytes after a block's pixels are ignored, as by libtiff; all bytes before them are used."""
    strips = strips_encoded_by(deflate)
    strips[1] = make(PIXELS[HIGH : 2 * HIGH].tobytes() + bytes(more))
    read_as(sepconv, tiff(strips, 8), PIXELS)


def zstd_frame(data, zeros=0):
    """A frame that requests a window of 128 MiB without a content size: a block of `data`, and zeros, of
    which 128 KiB take four bytes."""
    sizes = [min(1 << 17, zeros - at) for at in range(0, zeros, 1 << 17)]
    blocks = [(len(data), 0, data), *((size, 1, b"\0") for size in sizes)]
    heads = [(size << 3 | kind << 1 | (i + 1 == len(blocks))) for i, (size, kind, _) in enumerate(blocks)]
    return b"\x28\xb5\x2f\xfd\0\x88" + b"".join(
        struct.pack("<I", head)[:3] + bytes_ for head, (_, _, bytes_) in zip(heads, blocks)
    )


def deflate_of_zeros(data, times):
    """A stream of `data` and this many MiB of zeros, with a wrong checksum: decoding it to the end takes
    long."""
    coder = zlib.compressobj(9)
    head = coder.compress(data) + coder.flush(zlib.Z_FULL_FLUSH)
    return head + (coder.compress(bytes(1 << 20)) + coder.flush(zlib.Z_FULL_FLUSH)) * times + b"\3\0\0\0\0\0"


FAR_MORE = {
    "zstd": (50000, lambda data: zstd_frame(data, 1 << 31)),
    "deflate": (8, lambda data: deflate_of_zeros(data, 20)),
}


@pytest.mark.parametrize("codec", FAR_MORE)
def test_a_stream_of_far_more_than_its_block_is_refused(sepconv, codec):
    compression, encode = FAR_MORE[codec]
    strips = [PIXELS[row : row + HIGH].tobytes() for row in range(0, ROWS, HIGH)]
    whole = [zstd_frame(strip) if codec == "zstd" else zlib.compress(strip) for strip in strips]
    read_as(sepconv, tiff(whole, compression), PIXELS)
    content = tiff([whole[0], encode(strips[1]), whole[2]], compression)
    refused(
        sepconv, content, "cannot decode block 1", "the file is damaged", "holds far more than its pixels"
    )
    assert len(set(outcomes(sepconv, content))) == 1


# Starts the program from a small process, because the system counts the peak of the process that calls exec.
PRINT_PEAK = "import os, subprocess, sys; done = subprocess.Popen(sys.argv[1:]); print(os.wait4(done.pid, 0)[2].ru_maxrss)"


@pytest.mark.parametrize("zeros", [1 << 18, 200 << 20])
def test_windows_of_frames_that_hold_more_than_their_blocks_take_no_memory(sepconv, zeros):
    strips = [zstd_frame(PIXELS[row : row + HIGH].tobytes(), zeros) for row in range(0, ROWS, HIGH)]
    (sepconv.folder / "in.tif").write_bytes(tiff(strips, 50000))
    command = [
        *sepconv.command,
        "run",
        "in.tif",
        "out.npy",
        "--quiet",
        "--max-memory",
        "32M",
        "--threads",
        "3",
    ]
    peak = subprocess.run(
        [sys.executable, "-S", "-c", PRINT_PEAK, *command], cwd=sepconv.folder, capture_output=True, text=True
    ).stdout
    assert int(peak) << 10 < (32 + 48) << 20
    assert (sepconv.folder / "out.npy").exists() == (zeros < 1 << 19)


def test_a_block_that_is_too_long_may_be_none_that_is_damaged(sepconv):
    """Any number of empty deflate blocks: libtiff reads them."""
    strips = strips_encoded_by(deflate)
    padded = b"\x78\x01" + b"\0\0\0\xff\xff" * 20000 + strips[1][2:]
    assert zlib.decompress(padded) == PIXELS[HIGH : 2 * HIGH].tobytes()
    refused(
        sepconv,
        tiff([strips[0], padded, strips[2]], 8),
        "block 1 takes",
        "more than the limit of a block; rewrite the file",
    )


def test_a_wrong_checksum_is_refused(sepconv):
    strips = strips_encoded_by(deflate)
    strips[1] = strips[1][:-1] + bytes([strips[1][-1] ^ 1])
    refused(sepconv, tiff(strips, 8), "damaged")


def test_a_jpeg_smaller_than_its_block_is_refused(sepconv):
    strips = strips_encoded_by(jpeg)
    for smaller in (PIXELS[HIGH : HIGH + 8], np.ascontiguousarray(PIXELS[HIGH : 2 * HIGH, :32])):
        refused(sepconv, tiff([strips[0], jpeg(smaller), strips[2]], 7), "its JPEG holds", "damaged")


def test_a_jpeg_larger_than_its_block_is_refused_but_at_the_end(sepconv):
    strips = strips_encoded_by(jpeg)
    refused(sepconv, tiff([strips[0], jpeg(PIXELS[HIGH : 3 * HIGH]), strips[2]], 7), "its JPEG holds")
    filled_up = jpeg(np.vstack([PIXELS[2 * HIGH : 2 * HIGH + 8], PIXELS[:8]]))
    for result in outcomes(sepconv, tiff([*strips[:2], filled_up], 7, rows=ROWS - 8)):
        assert isinstance(result, bytes), result


def test_what_follows_the_last_pixel_of_a_jpeg_is_its_end(sepconv):
    """libjpeg refuses other data there; libtiff reports that and treats the block as decoded."""
    strips = strips_encoded_by(jpeg)
    middle, end = strips[1][:-2], strips[1][-2:]
    scan = middle[middle.index(b"\xff\xda") :]
    frame = middle[middle.index(b"\xff\xc0") :]
    ends = [
        b"\xff\xd8",
        b"\xff\xd8" + end,
        b"\xff\x02",
        b"\xff\xc3",
        b"\xff\xf0",
        scan + end,
        frame + end,
        strips[1],
        b"\xff\xc4\0\x04ab" + end,
    ]
    for wrong in [*ends, b"", b"\xff\xd0"]:
        refused(
            sepconv,
            tiff([strips[0], middle + wrong, strips[2]], 7),
            "cannot decode block 1",
            "the file is damaged",
        )
    expected = np.vstack([np.asarray(Image.open(io.BytesIO(strip))) for strip in strips])
    for right in (
        end,
        end + b"what follows",
        b"\xff\xfe\0\x04ab" + end,
        b"\xff" + end,
        b"\0\0\0" + end,
    ):  # a comment, and padding
        read_as(sepconv, tiff([strips[0], middle + right, strips[2]], 7), expected)
    later_version = strips[1].replace(b"JFIF\0\1", b"JFIF\0\2", 1)
    assert later_version != strips[1]
    read_as(sepconv, tiff([strips[0], later_version, strips[2]], 7), expected)


@pytest.mark.parametrize("compression, encode", [(1, np.ndarray.tobytes), (8, deflate)])
@pytest.mark.parametrize("tables", [{"offsets": 2}, {"counts": 2}, {"offsets": 1, "counts": 1}])
def test_tables_shorter_than_the_image_are_damage_and_no_holes(sepconv, compression, encode, tables):
    refused(sepconv, tiff(strips_encoded_by(encode), compression, **tables), "damaged", "table")


@pytest.mark.parametrize("compression, encode", [(1, np.ndarray.tobytes), (8, deflate)])
def test_tables_of_strips_that_stand_for_those_of_tiles_are_no_shorter(sepconv, compression, encode):
    """libtiff treats them as tiles if the file has a tile length."""
    content = bytearray(tiff(strips_encoded_by(encode), compression))
    entries = struct.unpack_from("<I", content, 4)[0]
    struct.pack_into("<H", content, entries, 11)
    content[-4:] = struct.pack("<HHII", 323, 4, 1, 2) + bytes(4)
    refused(sepconv, bytes(content), "table", "3 entries for 24 blocks", "damaged")


def test_an_image_higher_than_its_strips_is_damage(sepconv):
    refused(sepconv, tiff(strips_encoded_by(deflate), 8, rows=ROWS + HIGH), "damaged")


@pytest.mark.parametrize("compression, encode", [(1, np.ndarray.tobytes), (8, deflate)])
@pytest.mark.parametrize("block", range(3))
def test_a_block_beyond_the_end_is_refused_by_plan_and_run(sepconv, compression, encode, block):
    """Before any output is created: the tables show it."""
    whole = bytearray(tiff(strips_encoded_by(encode), compression))
    offsets = struct.unpack_from("<I", whole, whole.index(struct.pack("<HHI", 273, 4, 3)) + 8)[0]
    struct.pack_into("<I", whole, offsets + 4 * block, len(whole) - 5)
    (sepconv.folder / "in.tif").write_bytes(whole)
    messages = {
        fails(sepconv, *command, status=1)
        for command in (["plan", "in.tif", "out.npy"], ["run", "in.tif", "out.npy"], ["info", "in.tif"])
    }
    assert len(messages) == 1 and f"block {block} should lie at bytes {len(whole) - 5}" in messages.pop()


def test_byte_counts_that_libtiff_does_not_believe_are_refused(sepconv):
    """If the counts of the first two strips differ, libtiff replaces them by ones that are too small, unless
    the last strip is complete."""

    def with_first(counts_rows, more):
        strips = [PIXELS[row : min(row + HIGH, counts_rows)].tobytes() for row in range(0, counts_rows, HIGH)]
        return tiff([strips[0] + bytes(more), *strips[1:]], 1, rows=counts_rows)

    refused(sepconv, with_first(ROWS - 3, 2), "strips 0 and 1", "1026 and 1024 bytes", "damaged")
    read_as(sepconv, with_first(ROWS - 3, 0), PIXELS[:-3])
    read_as(sepconv, with_first(ROWS, 2), PIXELS)


def test_only_strips_of_no_place_and_no_bytes_are_holes(sepconv):
    whole = bytearray(tiff(strips_encoded_by(np.ndarray.tobytes), 1))
    offsets, counts = (
        struct.unpack_from("<I", whole, whole.index(struct.pack("<HHI", tag, 4, 3)) + 8)[0]
        for tag in (273, 279)
    )
    struct.pack_into("<I", whole, counts + 4, 0)
    refused(sepconv, bytes(whole), "damaged")
    struct.pack_into("<I", whole, offsets + 4, 0)
    expected = PIXELS.copy()
    expected[HIGH : 2 * HIGH] = 0
    read_as(sepconv, bytes(whole), expected)
