"""Twelve kinds of pictures in every output format, copied, blurred and reduced: the result is that of Pillow,
SciPy and tifffile, or one message says why not."""

import json
import re
import struct
import subprocess

import numpy as np
import PIL.Image
import pytest
import scipy.ndimage
import tifffile
from reference import stored
from zarr_folder import read_array

SHAPE = (24, 32)
STAGES = {"copy": [], "blur": ["box:radius=1"], "reduce": ["reduce:factor=2"]}
PICTURES = ["png", "jpg", "bmp", "pnm"]
FORMATS = [*PICTURES, "tif", "npy", "raw", "zarr"]


def write_tiff(path, values, bits, photometric, *, extra=(), table=None, mask=None, planar=False):
    """An uncompressed TIFF of one strip per plane, according to TIFF 6.0; samples of odd widths are packed,
    the most significant bit first."""
    planes = values[:, :, None] if values.ndim == 2 else values
    rows, cols, channels = planes.shape

    def packed(samples):
        if bits in (8, 16):
            return samples.astype(f"<u{bits // 8}").tobytes()
        lines = samples.reshape(rows, -1).astype(np.uint16)
        ones = (lines[:, :, None] >> np.arange(bits - 1, -1, -1)) & 1
        return np.packbits(ones.reshape(rows, -1).astype(np.uint8), axis=1).tobytes()

    strips = [packed(planes[:, :, i]) for i in range(channels)] if planar else [packed(planes)]
    pages = [
        (
            strips,
            {
                256: [cols],
                257: [rows],
                258: [bits] * channels,
                259: [1],
                262: [photometric],
                277: [channels],
                278: [rows],
                284: [2 if planar else 1],
                **({338: list(extra)} if extra else {}),
                **({320: list(table)} if table is not None else {}),
            },
        )
    ]
    if mask is not None:
        pages.append(
            (
                [np.packbits(mask, axis=1).tobytes()],
                {254: [4], 256: [cols], 257: [rows], 258: [1], 259: [1], 262: [4], 277: [1], 278: [rows]},
            )
        )
    data, positions = bytearray(b"II*\0\0\0\0\0"), []
    for strips, tags in pages:
        tags[273], tags[279] = [], [len(strip) for strip in strips]
        for strip in strips:
            tags[273].append(len(data))
            data += strip + b"\0" * (len(strip) % 2)
        entries = b""
        for tag in sorted(tags):
            kind, letter = (4, "I") if tag in (254, 273, 279) else (3, "H")
            value = struct.pack(f"<{len(tags[tag])}{letter}", *tags[tag])
            if len(value) > 4:
                at = len(data)
                data += value + b"\0" * (len(value) % 2)
                value = struct.pack("<I", at)
            entries += struct.pack("<HHI", tag, kind, len(tags[tag])) + value.ljust(4, b"\0")
        positions.append(len(data))
        data += struct.pack("<H", len(tags)) + entries + b"\0\0\0\0"
    struct.pack_into("<I", data, 4, positions[0])
    for position, following in zip(positions, positions[1:]):
        struct.pack_into(
            "<I", data, position + 2 + 12 * struct.unpack_from("<H", data, position)[0], following
        )
    path.write_bytes(data)


def waves(greatest, channels=1):
    """Values that change slowly, over the whole range."""
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    planes = [0.5 + 0.5 * np.sin(x / (5 + c) + c) * np.cos(y / (7 - c)) for c in range(channels)]
    return np.rint(np.stack(planes, 2) * greatest).astype(np.int64).squeeze()


def filtered(values, stage):
    """In floating point, for each channel separately."""
    values = np.asarray(values, float)
    if stage == "blur":
        return scipy.ndimage.uniform_filter(values, (3, 3) + (1,) * (values.ndim - 2), mode="mirror")
    if stage == "reduce":
        rows, cols = SHAPE
        return values.reshape(rows // 2, 2, cols // 2, 2, *values.shape[2:]).mean((1, 3))
    return values


def cmyk_as_rgb(values):
    """As displayed by Pillow."""
    return np.array(PIL.Image.fromarray(np.rint(values).astype(np.uint8), "CMYK").convert("RGB"), float)


def with_alpha(values, stage, weights=None):
    """Colours are means of visible colours, as in Pillow and libvips: multiplied by alpha, filtered, divided
    by it."""
    weights = values[:, :, 3:] * 1.0 if weights is None else weights
    seen = filtered(weights, stage)
    colours = filtered(values[:, :, :3] * weights, stage) / np.where(seen > 0, seen, 1)
    return np.concatenate([colours, filtered(values[:, :, 3:], stage)], 2)


class Kind:
    """The source of a picture and the expected results. `shown`: filtered values as displayed, from 0 to 255
    or to `shown_max`; `data`: as in an array; `refusals`: words of the message with which a format refuses
    it."""

    def __init__(self, make, values, shown=None, data=None, shown_max=255, refusals=None, options=()):
        self.make, self.values, self.shown_max, self.refusals, self.options = (
            make,
            values,
            shown_max,
            refusals or {},
            list(options),
        )
        self.shown = shown or (lambda values: values)
        self.data = data or (lambda values: values)


def packed(bits):
    values, maximum = waves(2**bits - 1), 255 if bits <= 8 else 65535
    return Kind(
        lambda path: write_tiff(path, values, bits, 1),
        values,
        shown=lambda values: values * (maximum / (2**bits - 1)),
        shown_max=maximum,
        refusals={"jpg": "stretch:", "bmp": "stretch:"} if bits == 16 else None,
    )


def ycbcr(path):
    PIL.Image.fromarray(waves(255, 3).astype(np.uint8)).save(path, compression="jpeg", quality=95)


def read_back(path):
    with PIL.Image.open(path) as image:
        return np.array(image.convert("RGB"), float)


SOFT = np.concatenate([waves(255, 3), waves(255)[:, :, None]], 2)
HARD = np.concatenate([waves(255, 3), np.where(waves(255) > 120, 255, 0)[:, :, None]], 2)
VISIBLE = waves(255) > 60
LAB = np.concatenate([waves(255)[:, :, None], waves(120, 3)[:, :, 1:] - 60], 2)
RAMP = [value * 257 for value in range(256)] * 3
TABLE = np.random.default_rng(3).integers(0, 65536, 768).tolist()
ALPHA = {name: "background" for name in ("jpg", "bmp", "pnm")}

KINDS = {
    "1 bit": packed(1),
    "4 bits": packed(4),
    "8 bits": packed(8),
    "12 bits": packed(12),
    "16 bits": packed(16),
    "table of colours": Kind(
        lambda path: write_tiff(path, waves(255), 8, 3, table=TABLE),
        waves(255),
        refusals=dict.fromkeys(FORMATS, "colour table"),
    ),
    "table of greys": Kind(
        lambda path: write_tiff(path, waves(255), 8, 3, table=RAMP),
        waves(255),
        refusals=dict.fromkeys(FORMATS, "colour table"),
    ),
    "soft alpha": Kind(lambda path: write_tiff(path, SOFT, 8, 2, extra=[2]), SOFT, refusals=ALPHA),
    "hard alpha": Kind(lambda path: write_tiff(path, HARD, 8, 2, extra=[2]), HARD, refusals=ALPHA),
    "mask": Kind(
        lambda path: write_tiff(path, waves(255, 3), 8, 2, mask=VISIBLE), waves(255, 3), refusals=ALPHA
    ),
    "CMYK": Kind(lambda path: write_tiff(path, waves(255, 4), 8, 5), waves(255, 4), shown=cmyk_as_rgb),
    "CMYK in planes": Kind(
        lambda path: write_tiff(path, waves(255, 4), 8, 5, planar=True), waves(255, 4), shown=cmyk_as_rgb
    ),
    "Lab": Kind(
        lambda path: write_tiff(path, LAB % 256, 8, 8),
        LAB,
        data=lambda values: values + [0, 128, 128],
        refusals=dict.fromkeys(PICTURES, "L*a*b*"),
    ),
    "0 is white": Kind(
        lambda path: write_tiff(path, waves(255), 8, 0), waves(255), shown=lambda values: 255 - values
    ),
    "1 bit, 0 is white": Kind(
        lambda path: write_tiff(path, waves(1), 1, 0), waves(1), shown=lambda values: 255 - 255 * values
    ),
    "YCbCr": Kind(ycbcr, None),
    "YCbCr, not as JPEG": Kind(
        lambda path: write_tiff(path, waves(255, 3), 8, 6), None, refusals=dict.fromkeys(FORMATS, "YCbCr")
    ),
}
ODD = {"soft alpha", "hard alpha", "mask"}


def read_result(path, kind, shape):
    """Reads a result with other software; a TIFF as it is stored, and one that sepconv does not decode like
    Pillow."""
    if path.suffix == ".npy":
        return np.load(path).astype(float)
    if path.suffix == ".zarr":
        values = read_array(
            path if json.loads((path / "zarr.json").read_text())["node_type"] == "array" else path / "0"
        )
        return (
            values.transpose(1, 2, 0) if values.ndim == 3 and values.shape[0] in (3, 4) else values
        ).astype(float)
    if path.suffix == ".raw":
        words = path.name.rsplit("_", 2)
        return (
            np.fromfile(path, words[2].removesuffix(".raw").replace("u8", "u1").replace("u16", "<u2"))
            .astype(float)
            .reshape(shape)
        )
    if path.suffix == ".tif" and kind != "YCbCr":
        values = tifffile.imread(path, key=0)
        if kind == "Lab":  # a* and b* are signed
            return np.concatenate(
                [values[..., :1].astype(float), values[..., 1:].view(np.int8).astype(float)], 2
            )
        return (np.moveaxis(values, 0, 2) if kind == "CMYK in planes" else values).astype(float)
    with PIL.Image.open(path) as image:
        return np.array(image).astype(float)


def result_name(kind, name, stage, channels):
    rows, cols = (side // (2 if stage == "reduce" else 1) for side in SHAPE)
    if name == "raw":
        type_name = "u16" if kind in ("12 bits", "16 bits") else "u8"
        return f"out_{cols}x{rows}x{channels}_{type_name}.raw"
    return "out." + {"pnm": "pgm" if channels == 1 else "ppm"}.get(name, name)


class Tries:
    """Runs the program and records failures."""

    def __init__(self, sepconv):
        self.sepconv, self.folder, self.sentence = sepconv, sepconv.folder, ""

    def __call__(self, *words):
        process = subprocess.run(
            [*self.sepconv.command, *map(str, words)], cwd=self.folder, capture_output=True, text=True
        )
        self.sentence = process.stderr
        assert process.returncode in (0, 1, 2), process
        if process.returncode:
            assert process.stderr.startswith("sepconv: ") and process.stderr.count("\n") == 1, process.stderr
        return process


def expected(kind, name, stage, it, sepconv):
    """The displayed or stored values of the result."""
    if kind == "YCbCr":
        return filtered(read_back(sepconv.folder / "in.tif"), stage)
    values = (
        with_alpha(it.values, stage) if kind in ("soft alpha", "hard alpha") else filtered(it.values, stage)
    )
    if kind == "12 bits" and name in ("jpg", "bmp"):  # from u8 only
        return values * (255 / 4095)
    if name in PICTURES or (name == "tif" and kind in ("1 bit", "4 bits")):
        return it.shown(values)
    if name == "tif" and kind == "1 bit, 0 is white":
        return values * 255
    return values if name == "tif" else it.data(values)


def check_alpha(kind, name, stage, found, wanted, visible):
    """Compares colours where pixels are visible, and alpha, unchanged or filtered."""
    if kind == "mask" and found.shape[-1] == 3:  # the mask is a separate page
        found = np.concatenate([found, np.full((*found.shape[:2], 1), 255)], 2)
    seen = visible if kind == "mask" else wanted[:, :, 3] > 127
    inner = scipy.ndimage.binary_erosion(seen, iterations=2) if stage != "copy" else seen
    assert inner.sum() > 5
    as_mask = with_alpha(SOFT, stage, (SOFT[:, :, 3:] > 0) * 1.0)  # visible pixels have full weight
    rules = [wanted, as_mask] if kind == "soft alpha" else [wanted]
    assert min(np.abs(found[inner][:, :3] - rule[inner][:, :3]).max() for rule in rules) <= 1
    if kind == "soft alpha":
        assert np.abs(found[inner][:, 3] - wanted[inner][:, 3]).max() <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_matrix(sepconv, kind):
    it = KINDS[kind]
    it.make(sepconv.folder / "in.tif")
    tries = Tries(sepconv)
    for name in FORMATS:
        for stage, words in STAGES.items():
            channels = (
                3
                if it.values is None
                else 1
                if it.values.ndim == 2
                else it.values.shape[2] + (kind == "mask")
            )
            shown_channels = 3 if kind.startswith("CMYK") and name in PICTURES else channels
            result = result_name(kind, name, stage, shown_channels)
            done = tries(
                "run",
                "in.tif",
                result,
                *words,
                "--quiet",
                "--force",
                *(["--compress", "none"] if name == "zarr" else []),
            )
            cell = f"{kind} to {name}, {stage}: {done.stderr}"
            if done.returncode:
                assert name in it.refusals and it.refusals[name] in done.stderr, cell
                continue
            wanted = expected(kind, name, stage, it, sepconv)
            actual = read_result(
                sepconv.folder / result,
                kind,
                wanted.shape if kind != "mask" else (*wanted.shape[:2], channels),
            )
            if kind in ODD:
                visible = filtered(VISIBLE * 1.0, stage) >= 0.999 if kind == "mask" else None
                check_alpha(kind, name, stage, actual, wanted, visible)
                continue
            assert actual.shape == wanted.shape, cell
            difference = np.abs(actual - wanted)
            lossy = name == "jpg" or (name == "tif" and kind == "YCbCr")
            if lossy:
                assert difference.mean() < 6 and difference.max() < 90, cell
            else:
                assert difference.max() <= (
                    0.5001 if stage == "copy" or not kind.startswith("CMYK") else 1.01
                ), cell


@pytest.mark.parametrize(
    "kind, name",
    [
        (kind, name)
        for kind, it in KINDS.items()
        for name, words in it.refusals.items()
        if words in ("stretch:", "background")
    ],
)
def test_the_way_out_that_a_refusal_names_leads_out(sepconv, kind, name):
    it = KINDS[kind]
    it.make(sepconv.folder / "in.tif")
    done = Tries(sepconv)("run", "in.tif", result_name(kind, name, "copy", 3 if kind in ODD else 1))
    assert done.returncode
    words = [word.rstrip(",;") for word in done.stderr.split()]
    for way in (word for word in words if word.startswith(("stretch:", "--background", "--to-8bit"))):
        sepconv(
            "run",
            "in.tif",
            result_name(kind, name, "copy", 3 if kind in ODD else 1),
            way,
            "--quiet",
            "--force",
        )
        with PIL.Image.open(
            sepconv.folder / result_name(kind, name, "copy", 3 if kind in ODD else 1)
        ) as image:
            found = np.array(image.convert("RGB"), float)
        if kind in ODD:
            alpha = VISIBLE[:, :, None] * 1.0 if kind == "mask" else it.values[:, :, 3:] / 255
            wanted = it.values[:, :, :3] * alpha + 255 * (1 - alpha)
        else:
            wanted = np.repeat((it.values * (255 / 65535))[:, :, None], 3, 2)
        assert np.abs(found - wanted).mean() < 4, way


def test_what_is_shown_otherwise_is_said(sepconv):
    write_tiff(sepconv.folder / "in.tif", waves(15), 4, 0)
    output = json.loads(sepconv("plan", "in.tif", "out.png", "--json").stdout)["warnings"]
    assert any("0 to 15 are shown as 0 to 255" in item for item in output) and any(
        "0 is white" in item for item in output
    )
    sepconv("run", "in.tif", "kept.tif", "cast:type=u8", "--quiet")
    assert np.array_equal(tifffile.imread(sepconv.folder / "kept.tif"), waves(15))


@pytest.mark.parametrize("bits", [1, 4, 8, 12])
def test_a_chain_that_sets_its_range_is_not_inverted(sepconv, bits):
    """0 is white in the source: cast, scale and threshold refer to the result's numbers, and the stage that
    the warning names inverts them."""
    top = 2**bits - 1
    values = waves(top)
    write_tiff(sepconv.folder / "in.tif", values, bits, 0)

    def made(*stages):
        messages = sepconv("run", "in.tif", "out.png", *stages, "--quiet", "--force").stderr
        with PIL.Image.open(sepconv.folder / "out.png") as image:
            return np.array(image).astype(np.int64), messages

    for stages, wanted in (
        (["cast:type=u8"], np.minimum(values, 255)),
        (["threshold:at=0.5,above=200,below=3"], np.where(values > 0, 200, 3)),
        (["scale:factor=1,offset=1"], stored(values + 1.0, np.uint8 if bits <= 8 else np.uint16)),
    ):
        found, messages = made(*stages)
        np.testing.assert_array_equal(found, wanted)
        way = re.search(r"stretch:low=(\d+),high=0,type=u\d+", messages)
        inverted, messages = made(*stages, way[0])
        maximum, low = 65535 if "u16" in way[0] else 255, int(way[1])
        expected = np.clip((low - wanted.astype(float)) * maximum / low, 0, maximum)
        assert np.abs(inverted - expected).max() <= 0.5 + maximum * 1e-6
        assert "0 is white" not in messages


def test_a_mask_is_no_value_beyond(sepconv):
    values = np.stack([waves(4000)] * 3, 2)
    write_tiff(
        sepconv.folder / "in.tif", values, 16, 2, mask=np.arange(values[:, :, 0].size).reshape(SHAPE) % 3 > 0
    )
    for name in ("out.png", "out.tif"):
        assert "does not hold" not in sepconv("run", "in.tif", name, "--to-8bit=0:6000", "--quiet").stderr


def test_what_computes_on_inks_is_said(sepconv):
    PIL.Image.fromarray(np.stack([waves(200)] * 3, 2).astype(np.uint8)).convert("CMYK").save(
        sepconv.folder / "in.tif"
    )
    for stage, computes in (
        ("scale:factor=1.4", True),
        ("erode:radius=1", True),
        ("box:radius=1", False),
        ("transpose", False),
    ):
        assert (
            "computes on inks" in sepconv("run", "in.tif", "out.png", stage, "--quiet", "--force").stderr
        ) == computes
