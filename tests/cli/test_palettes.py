"""Colour tables of TIFFs: ramps and ImageJ's LUTs are intensities; all other tables are classes."""

import numpy as np
import PIL.Image
import pytest
import scipy.ndimage as ndi
import tifffile

from cli_support import fails, image

IMAGEJ = "ImageJ=1.54f\nmin=0.0\nmax=255.0\n"
STEPS = np.arange(256, dtype=np.uint16)
DICE = np.random.default_rng(3)


def table(red=0, green=0, blue=0):
    return np.stack([np.broadcast_to(channel, 256) for channel in (red, green, blue)]).astype(np.uint16)


GREY = table(*[257 * STEPS] * 3)
CLASSES = np.zeros((3, 256), np.uint16)
CLASSES[:, :5] = DICE.integers(0, 65536, (3, 5))
FIRE = np.stack(
    [
        np.interp(STEPS, [0, 96, 255], [0, 65535, 65535]),
        np.interp(STEPS, [0, 96, 192, 255], [0, 20000, 65535, 65535]),
        np.interp(STEPS, [0, 64, 128, 160, 255], [8000, 45000, 0, 0, 65535]),
    ]
).astype(np.uint16)
OVERLAY = GREY.copy()
OVERLAY[:, 0], OVERLAY[:, 255] = (0, 0, 65535), (65535, 0, 0)
INTENSITIES = {
    "grey": GREY,
    "grey by 256": table(*[256 * STEPS] * 3),
    "bytes": table(*[STEPS] * 3),
    "inverted": GREY[:, ::-1].copy(),
    "green": table(green=257 * STEPS),
    "windowed": table(*[np.clip(400 * STEPS.astype(int) - 9000, 0, 65535)] * 3),
    "fire": FIRE,
    "range indicator": OVERLAY,
}


def write(path, values, colours, **others):
    tifffile.imwrite(path, values, photometric="palette", colormap=colours, **{"metadata": None, **others})


def read_colours(path):
    with tifffile.TiffFile(path) as file:
        return file.pages[0].colormap


@pytest.mark.parametrize("name", INTENSITIES)
def test_ramps_are_intensities_and_their_table_goes_along(sepconv, name):
    values = image(40, 50)
    write(sepconv.folder / "in.tif", values, INTENSITIES[name])
    assert sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1", "--quiet").stderr == ""
    assert (
        np.abs(
            tifffile.imread(sepconv.folder / "out.tif")
            - ndi.gaussian_filter(values.astype(float), 1, mode="mirror")
        ).max()
        <= 0.51
    )
    expected = INTENSITIES[name] * (257 if name == "bytes" else 1)
    assert np.array_equal(read_colours(sepconv.folder / "out.tif"), expected)


@pytest.mark.parametrize("description, taken", [(IMAGEJ, True), (None, False), ("a camera", False)])
def test_any_table_of_imagej_is_a_lut(sepconv, description, taken):
    glasbey = DICE.integers(0, 65536, (3, 256), dtype=np.uint16)
    write(sepconv.folder / "in.tif", image(), glasbey, description=description)
    if taken:
        sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1", "--quiet")
        assert np.array_equal(read_colours(sepconv.folder / "out.tif"), glasbey)
    else:
        assert "classes by its colour table" in fails(
            sepconv, "run", "in.tif", "out.tif", "gaussian:sigma=1", status=2
        )


def test_pages_of_imagej_behind_the_first_have_luts_too(sepconv):
    values = np.stack([image(20, 30, seed=i) for i in range(3)])
    glasbey = DICE.integers(0, 65536, (3, 256), dtype=np.uint16)
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as file:
        for i, plane in enumerate(values):
            file.write(
                plane,
                photometric="palette",
                colormap=glasbey,
                metadata=None,
                description="ImageJ=1.54f\nimages=3\nslices=3\n" if i == 0 else None,
            )
    sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        assert len(file.pages) == 3 and all(np.array_equal(page.colormap, glasbey) for page in file.pages)


@pytest.mark.parametrize(
    "stages, expected",
    [
        ([], lambda v: v),
        (["transpose"], lambda v: v.T),
        (["median:radius=1"], lambda v: ndi.median_filter(v, 3, mode="mirror")),
        (["resize:scale=0.5,filter=nearest"], lambda v: v[1::2, 1::2]),
        (["reduce:factor=2,filter=nearest"], lambda v: v[1::2, 1::2]),
        (["resize:scale=3,filter=nearest"], lambda v: v.repeat(3, 0).repeat(3, 1)),
    ],
)
def test_classes_are_moved_and_chosen_with_their_table(sepconv, stages, expected):
    values = image(64, 96) % 5
    write(sepconv.folder / "in.tif", values, CLASSES)
    assert sepconv("run", "in.tif", "out.tif", *stages, "--quiet").stderr == ""
    assert np.array_equal(tifffile.imread(sepconv.folder / "out.tif"), expected(values))
    assert np.array_equal(read_colours(sepconv.folder / "out.tif"), CLASSES)


@pytest.mark.parametrize(
    "stage",
    [
        "gaussian:sigma=1",
        "reduce:factor=2",
        "resize:scale=0.5",
        "sobel:axis=x",
        "tophat:radius=2",
        "stddev:radius=1",
    ],
)
def test_classes_have_no_means_and_the_way_out_works(sepconv, stage):
    write(sepconv.folder / "in.tif", image(64, 96) % 5, CLASSES)
    message = fails(sepconv, "run", "in.tif", "out.tif", stage, status=2)
    assert "cast:type=f32" in message and "median" in message
    assert (
        "the colour table is left out"
        in sepconv("run", "in.tif", "out.tif", "cast:type=f32", stage, "--quiet").stderr
    )


def test_classes_become_numbers_by_a_threshold(sepconv):
    write(sepconv.folder / "in.tif", image(64, 96) % 5, CLASSES)
    assert (
        "the colour table is left out"
        in sepconv("run", "in.tif", "out.tif", "threshold:at=2", "gaussian:sigma=1", "--quiet").stderr
    )
    assert read_colours(sepconv.folder / "out.tif") is None


@pytest.mark.parametrize("option", [["--cog"], ["--pyramid"]])
def test_levels_of_classes_are_classes(sepconv, option):
    values = image(256, 200) % 5
    values[values == 2] = 4
    write(sepconv.folder / "in.tif", values, CLASSES)
    assert "of the nearest pixels" in sepconv("plan", "in.tif", "out.tif", *option, "--tile", "32").stdout
    sepconv("run", "in.tif", "out.tif", *option, "--tile", "32", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        assert len(file.pages) > 2
        for i, page in enumerate(file.pages):
            assert np.array_equal(page.asarray(), values[:: 2**i, :: 2**i]) and np.array_equal(
                page.colormap, CLASSES
            )


def test_levels_are_nearest_where_that_is_asked_for(sepconv):
    values = DICE.choice(np.array([10, 20, 80], np.uint8), (100, 90))
    np.save(sepconv.folder / "in.npy", values)
    for words in (["--pyramid", "nearest"], ["--pyramid=nearest"], ["--cog", "--pyramid=nearest"]):
        sepconv("run", "in.npy", "out.tif", *words, "--tile", "32", "--quiet", "--force")
        assert np.array_equal(tifffile.imread(sepconv.folder / "out.tif", key=1), values[::2, ::2])


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("kind", ["classes", "ramp"])
def test_tables_of_every_depth(sepconv, bits, kind):
    values = (image(24, 40, dtype=np.uint16) % min(1 << bits, 4)).astype(
        np.uint16 if bits == 16 else np.uint8
    )
    colours = DICE.integers(0, 65536, (3, 1 << bits), dtype=np.uint16)
    colours[:, :2] = np.array([[60000, 100], [100, 60000], [5, 9]])
    if kind == "ramp":
        colours = np.stack([np.linspace(0, 65535, 1 << bits)] * 3).astype(np.uint16)
    raw = (
        np.packbits(np.unpackbits(values[:, :, None], axis=2)[:, :, 8 - bits :].reshape(24, -1), axis=1)
        if bits < 8
        else values
    )
    tags = [(256, 4, 1, 40), (257, 4, 1, 24)]
    write_tiff(sepconv.folder / "in.tif", raw, bits, colours, tags)
    sepconv("run", "in.tif", "out.tif", "transpose", "--quiet")
    shown = (
        255 // ((1 << bits) - 1) if kind == "ramp" and bits < 8 else 1
    )  # as greys of few bits without a table
    assert np.array_equal(tifffile.imread(sepconv.folder / "out.tif"), values.T * shown)
    if kind == "classes" or bits >= 8:
        assert np.array_equal(read_colours(sepconv.folder / "out.tif")[:, : 1 << bits], colours)
    told = sepconv("info", "in.tif").stdout
    assert f"palette: {'classes' if kind == 'classes' else 'grey ramp'}" in told
    if kind == "ramp":
        sepconv("run", "in.tif", "blurred.tif", "gaussian:sigma=1", "--quiet")
    else:
        fails(sepconv, "run", "in.tif", "blurred.tif", "gaussian:sigma=1", status=2)


def write_tiff(path, raw, bits, colours, tags):
    """A classic TIFF of one strip with packed pixels, which tifffile cannot write."""
    import struct

    data = raw.tobytes()
    entries = sorted(
        [
            *tags,
            (258, 3, 1, bits),
            (259, 3, 1, 1),
            (262, 3, 1, 3),
            (273, 4, 1, 8),
            (277, 3, 1, 1),
            (278, 4, 1, 24),
            (279, 4, 1, len(data)),
            (320, 3, colours.size, 8 + len(data) + len(data) % 2),
        ]
    )
    content = (
        b"II*\0"
        + struct.pack("<I", 8 + len(data) + len(data) % 2 + colours.nbytes)
        + data
        + bytes(len(data) % 2)
        + colours.astype("<u2").tobytes()
    )
    content += (
        struct.pack("<H", len(entries))
        + b"".join(
            struct.pack("<HHI", tag, kind, count) + struct.pack("<I", value)
            for tag, kind, count, value in entries
        )
        + bytes(4)
    )
    path.write_bytes(content)


@pytest.mark.parametrize("ending", ["png", "bmp"])
@pytest.mark.parametrize("colours", [CLASSES, FIRE], ids=["classes", "fire"])
def test_pictures_with_palettes_keep_the_table(sepconv, ending, colours):
    values = image(30, 40) % 5
    write(sepconv.folder / "in.tif", values, colours)
    assert "table" not in sepconv("run", "in.tif", f"out.{ending}", "--quiet").stderr
    shown = PIL.Image.open(sepconv.folder / f"out.{ending}")
    assert shown.mode == "P" and np.array_equal(np.asarray(shown), values)
    assert np.array_equal(np.asarray(shown.convert("RGB")), np.moveaxis((colours >> 8)[:, values], 0, 2))


@pytest.mark.parametrize(
    "ending, colours, falls",
    [
        ("jpg", FIRE, True),
        ("npy", CLASSES, True),
        ("zarr", FIRE, True),
        ("npy", GREY, False),
        ("jpg", GREY, False),
    ],
)
def test_what_has_no_place_for_a_table_is_said(sepconv, ending, colours, falls):
    write(sepconv.folder / "in.tif", image(30, 40) % 5, colours)
    said = sepconv("run", "in.tif", f"out.{ending}", "--quiet").stderr
    assert ("colour table of the source are not kept" in said) is falls and ("table" in said) is falls


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["out.jpg"], "values are classes"),
        (["out.pgm"], "values are classes"),
        (["out2.tif", "--compress", "jpeg"], "JPEG changes pixels"),
    ],
)
def test_classes_do_not_become_pictures_without_their_table(sepconv, arguments, words):
    write(sepconv.folder / "in.tif", image(30, 40) % 5, CLASSES)
    assert words in fails(sepconv, "run", "in.tif", *arguments, status=2)


@pytest.mark.parametrize("ending", ["png", "bmp"])
def test_a_palette_of_greys_is_one_channel(sepconv, ending):
    values = image(30, 40)
    greys = DICE.permutation(256).astype(np.uint8)
    picture = PIL.Image.frombytes("P", (40, 30), values.tobytes())
    picture.putpalette(np.repeat(greys, 3).tobytes())
    picture.save(sepconv.folder / f"in.{ending}")
    sepconv("run", f"in.{ending}", "out.npy", "--quiet")
    assert np.array_equal(np.load(sepconv.folder / "out.npy"), greys[values])


def test_preview_shows_the_colours_of_the_table(sepconv):
    values = image(30, 40) % 5
    write(sepconv.folder / "in.tif", values, CLASSES)
    process = sepconv("preview", "in.tif", "-o", "out.png")
    assert "colours are those of the image's table" in process.stdout + process.stderr
    assert np.array_equal(
        np.asarray(PIL.Image.open(sepconv.folder / "out.png").convert("RGB")),
        np.moveaxis((CLASSES >> 8)[:, values], 0, 2),
    )
    sepconv("preview", "in.tif", "-o", "small.png", "--size", "20")
    small = np.asarray(PIL.Image.open(sepconv.folder / "small.png").convert("RGB")).reshape(-1, 3)
    assert {tuple(pixel) for pixel in small} <= {tuple(colour) for colour in (CLASSES[:, :5] >> 8).T}


# ImageJ's metadata outside of its description.

RANGES, LUTS = (
    [10.0, 200.0, 5.0, 90.0],
    [
        np.stack([STEPS, 0 * STEPS, 0 * STEPS]).astype(np.uint8),
        np.stack([0 * STEPS, STEPS, 0 * STEPS]).astype(np.uint8),
    ],
)


def hyperstack(path, byteorder="<"):
    values = image(2, 20 * 30).reshape(2, 20, 30)
    tifffile.imwrite(
        path,
        values,
        imagej=True,
        byteorder=byteorder,
        resolution=(40, 40),
        metadata={
            "axes": "CYX",
            "unit": "um",
            "mode": "composite",
            "Ranges": [RANGES],
            "LUTs": LUTS,
            "Labels": ["one", "two"],
            "Overlays": [b"Iout0000"],
        },
    )
    return values


@pytest.mark.parametrize("byteorder", ["<", ">"])
def test_imagej_s_display_ranges_luts_and_labels_go_along(sepconv, byteorder):
    values = hyperstack(sepconv.folder / "in.tif", byteorder)
    assert sepconv("run", "in.tif", "out.tif", "--quiet").stderr == ""
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        assert np.array_equal(file.asarray(), values)
        kept = file.imagej_metadata
    assert (
        list(kept["Ranges"]) == RANGES
        and kept["Labels"] == ["one", "two"]
        and all(np.array_equal(a, b) for a, b in zip(kept["LUTs"], LUTS))
    )


def test_imagej_s_items_fall_with_what_they_are_of_and_are_named(sepconv):
    hyperstack(sepconv.folder / "in.tif")
    said = sepconv("run", "in.tif", "out.tif", "stddev:radius=1", "--quiet").stderr
    assert "ImageJ's display ranges are left out" in said
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        assert len(file.imagej_metadata["LUTs"]) == 2 and "Ranges" not in file.imagej_metadata
    said = sepconv("run", "in.tif", "part.tif", "--region", "5x5+0+0", "--quiet").stderr
    assert "ImageJ's overlay are left out" in said
    assert "ImageJ's" in sepconv("run", "in.tif", "out.zarr", "--quiet").stderr


def test_imagej_s_48_bit_rgb_is_one_image(sepconv):
    values = image(20, 30, 3, np.uint16)
    description = "ImageJ=1.54f\nimages=3\nchannels=3\nmode=composite\nunit=um\n"
    for planar in ("contig", "separate"):
        given = values if planar == "contig" else np.moveaxis(values, 2, 0)
        tifffile.imwrite(
            sepconv.folder / "in.tif",
            given,
            photometric="rgb",
            planarconfig=planar,
            description=description,
            metadata=None,
            resolution=(5, 5),
        )
        assert "3 images" not in sepconv("info", "in.tif").stdout
        assert sepconv("run", "in.tif", "out.tif", "transpose", "--quiet", "--force").stderr == ""
        with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
            got = file.pages[0].asarray()
            assert np.array_equal(
                got if planar == "contig" else np.moveaxis(got, 0, 2), values.swapaxes(0, 1)
            )
            assert "unit=um" in file.pages[0].description


def test_info_does_not_promise_what_run_refuses(sepconv):
    tifffile.imwrite(
        sepconv.folder / "in.tif", image(), description="ImageJ=1.54f\nimages=41\nslices=41\n", metadata=None
    )
    told = sepconv("info", "in.tif").stdout
    assert "take all of them" not in told and "do not follow" in told
    assert "do not follow" in fails(sepconv, "run", "in.tif", "out.tif", status=1)


def test_a_transparency_mask_is_an_image_of_zeros_and_ones(sepconv):
    bits = image(16, 24) > 127
    tifffile.imwrite(sepconv.folder / "in.tif", bits, photometric="mask", metadata=None)
    assert "photometric          transparency mask" in sepconv("info", "in.tif").stdout
    sepconv("run", "in.tif", "out.npy", "--quiet")
    assert np.array_equal(np.load(sepconv.folder / "out.npy"), bits)
