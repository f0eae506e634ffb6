"""Masks stay masks: pages of a TIFF that hide pixels of any type, mask and world files next to an image, and
nodata values of all channels."""

import json

import numpy as np
import pytest
import tifffile

SHAPE = (150, 131)
TYPES = [np.uint8, np.uint16, np.int16, np.uint32, np.int32]
PLACE = [(33550, "d", 3, (2.0, 2.0, 0.0), True), (33922, "d", 6, (0.0, 0.0, 0.0, 1000.0, 2000.0, 0.0), True)]


def hidden_pixels(shape=SHAPE):
    hidden = np.random.default_rng(3).random(shape) < 0.1
    hidden[40:60, 20:90] = True
    return hidden


def write_masked(path, image, hidden, **options):
    with tifffile.TiffWriter(path) as tif:
        tif.write(
            image,
            metadata=None,
            photometric="rgb" if image.ndim == 3 else "minisblack",
            extratags=PLACE,
            **options,
        )
        tif.write(~hidden, subfiletype=4, photometric="mask", metadata=None)


def scene(dtype, channels=1, seed=1):
    image = np.random.default_rng(seed).integers(1, 250, (*SHAPE, channels)).astype(dtype)
    return image[..., 0] if channels == 1 else image


def masked_pages(path):
    """The images of a file, each with the pixels that its mask hides."""
    with tifffile.TiffFile(path) as tif:
        pages = list(tif.pages)
        assert [page.subfiletype for page in pages] == [0, 4] + [1, 5] * (len(pages) // 2 - 1)
        assert all(int(page.photometric) == 4 for page in pages[1::2])
        return [(image.asarray(), mask.asarray() == 0) for image, mask in zip(pages[::2], pages[1::2])]


def assert_gdal_sees(path, hidden):
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")
    with rasterio.open(path) as file:
        np.testing.assert_array_equal(file.dataset_mask() == 0, hidden)
        for band in range(1, file.count + 1):
            np.testing.assert_array_equal(file.read(band, masked=True).mask, hidden)
        for level, factor in enumerate(file.overviews(1)):
            with rasterio.open(path, overview_level=level) as smaller:
                assert smaller.dataset_mask().shape == (
                    -(-hidden.shape[0] // factor),
                    -(-hidden.shape[1] // factor),
                )


def blurred(image, hidden):
    """The mean of the valid pixels in 3 x 3."""
    sums, counts = np.zeros(image.shape), np.zeros(image.shape[:2])
    valid = np.pad(~hidden, 1, mode="reflect").astype(float)
    padded = np.pad(image.astype(float), [(1, 1), (1, 1)] + [(0, 0)] * (image.ndim - 2), mode="reflect")
    for row in range(3):
        for col in range(3):
            part = (slice(row, row + image.shape[0]), slice(col, col + image.shape[1]))
            weight = valid[part]
            counts += weight
            sums += padded[part] * (weight if image.ndim == 2 else weight[..., None])
    with np.errstate(all="ignore"):
        return sums / (counts if image.ndim == 2 else counts[..., None])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tile": (32, 48), "compression": "zlib"},
        {"rowsperstrip": 5, "compression": "zlib"},
        {"tile": (16, 16)},
    ],
    ids=["plain", "tiles", "strips", "plain-tiles"],
)
@pytest.mark.parametrize("dtype, channels", [(dtype, 1) for dtype in TYPES] + [(np.uint8, 3), (np.int16, 3)])
def test_a_mask_stays_a_mask(sepconv, dtype, channels, options):
    image, hidden = scene(dtype, channels), hidden_pixels()
    write_masked(sepconv.folder / "in.tif", image, hidden, **options)
    process = sepconv("run", "in.tif", "out.tif", "box:radius=1", "--band-rows", 48)
    assert "mask" not in process.stderr
    [(result, missing)] = masked_pages(sepconv.folder / "out.tif")
    assert result.dtype == dtype and result.shape == image.shape
    np.testing.assert_array_equal(missing, hidden)
    assert np.abs(result - blurred(image, hidden))[~hidden].max() <= 0.5001
    assert (result[hidden] == 0).all()
    assert_gdal_sees(sepconv.folder / "out.tif", hidden)
    for how in (["--reference"], ["--max-memory", "24M", "--threads", 2], ["--threads", 1]):
        sepconv("run", "in.tif", "again.tif", "box:radius=1", *how, "--quiet", "--force")
        assert (sepconv.folder / "again.tif").read_bytes() == (sepconv.folder / "out.tif").read_bytes()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "stages",
    [
        ["cast:type=f32"],
        ["cast:type=f64"],
        ["stddev:radius=2"],
        ["gaussian:sigma=1", "cast:type=i16"],
        ["median:radius=1"],
        ["clamp:low=3,high=200"],
        ["scale:factor=0.5"],
    ],
    ids=" ".join,
)
def test_whatever_is_made_of_it(sepconv, dtype, stages):
    image, hidden = scene(dtype), hidden_pixels()
    write_masked(sepconv.folder / "in.tif", image, hidden)
    sepconv("run", "in.tif", "out.tif", *stages, "--quiet")
    [(result, missing)] = masked_pages(sepconv.folder / "out.tif")
    assert result.ndim == 2
    np.testing.assert_array_equal(missing, hidden)
    assert_gdal_sees(sepconv.folder / "out.tif", hidden)


def test_parts_and_turns(sepconv):
    image, hidden = scene(np.int16, 3), hidden_pixels()
    write_masked(sepconv.folder / "in.tif", image, hidden, tile=(32, 32))
    sepconv("run", "in.tif", "part.tif", "--region", "40x31+9+17", "--quiet")
    [(result, missing)] = masked_pages(sepconv.folder / "part.tif")
    np.testing.assert_array_equal(result[~missing], image[17:48, 9:49][~missing])
    np.testing.assert_array_equal(missing, hidden[17:48, 9:49])
    for command in (["run", "in.tif", "turned.tif", "transpose"], ["transpose", "in.tif", "turned.tif"]):
        sepconv(*command, "--force", "--quiet")
        [(result, missing)] = masked_pages(sepconv.folder / "turned.tif")
        np.testing.assert_array_equal(missing, hidden.T)
        np.testing.assert_array_equal(result[~missing], image.transpose(1, 0, 2)[~missing])
    sepconv("run", "in.tif", "small.tif", "reduce:factor=2", "--quiet")
    [(result, missing)] = masked_pages(sepconv.folder / "small.tif")
    padded = np.pad(hidden, [(0, 0), (0, 1)], constant_values=True)
    np.testing.assert_array_equal(missing, padded.reshape(75, 2, 66, 2).all((1, 3)))
    assert_gdal_sees(sepconv.folder / "small.tif", missing)


@pytest.mark.parametrize(
    "option",
    [["--pyramid"], ["--cog"], ["--cog", "--compress", "none"], ["--pyramid", "--compress", "none"]],
    ids=" ".join,
)
@pytest.mark.parametrize("dtype, channels", [(np.uint8, 3), (np.int16, 1), (np.uint32, 1)])
def test_levels_have_masks(sepconv, dtype, channels, option):
    image, hidden = scene(dtype, channels), hidden_pixels()
    write_masked(sepconv.folder / "in.tif", image, hidden, compression="zlib")
    sepconv("run", "in.tif", "out.tif", "--tile", 32, *option, "--quiet")
    levels = masked_pages(sepconv.folder / "out.tif")
    assert len(levels) == 4
    np.testing.assert_array_equal(levels[0][1], hidden)
    for (_, larger), (_, smaller) in zip(levels, levels[1:]):
        padded = np.pad(larger, [(0, larger.shape[0] % 2), (0, larger.shape[1] % 2)], constant_values=True)
        np.testing.assert_array_equal(
            smaller, padded.reshape(smaller.shape[0], 2, smaller.shape[1], 2).all((1, 3))
        )
    assert_gdal_sees(sepconv.folder / "out.tif", hidden)
    sepconv("run", "in.tif", "again.tif", "--tile", 32, *option, "--band-rows", 64, "--threads", 1, "--quiet")
    assert (sepconv.folder / "again.tif").read_bytes() == (sepconv.folder / "out.tif").read_bytes()
    sepconv("run", "out.tif", "back.tif", "--level", 1, "--pyramid", "none", "--quiet")
    [(result, missing)] = masked_pages(sepconv.folder / "back.tif")
    np.testing.assert_array_equal(missing, levels[1][1])
    np.testing.assert_array_equal(result, levels[1][0])
    if "--cog" in option:
        cogeo = pytest.importorskip("rio_cogeo", reason="rio-cogeo is not installed")
        assert cogeo.cog_validate(str(sepconv.folder / "out.tif"), strict=True) == (True, [], [])


def test_a_scene_of_three_bands_stays_one(sepconv):
    image, hidden = scene(np.uint8, 3), hidden_pixels()
    write_masked(sepconv.folder / "in.tif", image, hidden)
    sepconv("run", "in.tif", "grey.tif", "mix_channels:values=0.3,0.6,0.1", "--quiet")
    [(result, missing)] = masked_pages(sepconv.folder / "grey.tif")
    np.testing.assert_array_equal(missing, hidden)
    assert np.abs(result - image @ [0.3, 0.6, 0.1])[~hidden].max() <= 0.5001
    assert (
        "the image has 3 channels"
        in sepconv("run", "in.tif", "no.tif", "mix_channels:values=1,2", status=2).stderr
    )
    tifffile.imwrite(sepconv.folder / "dark.tif", np.full_like(image, 1))
    sepconv("run", "in.tif", "dark-off.tif", "subtract:file=dark.tif", "--quiet")
    [(result, missing)] = masked_pages(sepconv.folder / "dark-off.tif")
    np.testing.assert_array_equal(result[~hidden], image[~hidden] - 1)
    np.testing.assert_array_equal(missing, hidden)


@pytest.mark.parametrize(
    "result, name", [(np.nan, "out.tif"), (-9999, "out.tif"), (-9999, "out.npy"), (-9999, "out.zarr")]
)
def test_a_value_in_the_place_of_a_mask(sepconv, result, name):
    image, hidden = scene(np.int16, 3), hidden_pixels()
    write_masked(sepconv.folder / "in.tif", image, hidden, compression="zlib")
    stages = ["box:radius=1"] + (["cast:type=f32"] if np.isnan(result) else [])
    sepconv("run", "in.tif", name, *stages, "--dst-nodata", result, "--quiet")
    if name == "out.zarr":
        sepconv("run", name, "again.npy", "--quiet")
        name = "again.npy"
    if name.endswith("npy"):
        values = np.load(sepconv.folder / name)
        values = values if values.shape[-1] == 3 else np.moveaxis(values, 0, -1)
    else:
        with tifffile.TiffFile(sepconv.folder / name) as tif:
            assert len(tif.pages) == 1 and float(tif.pages[0].tags[42113].value) == pytest.approx(
                result, nan_ok=True
            )
            values = tif.pages[0].asarray()
        assert_gdal_sees(sepconv.folder / name, hidden)
    assert values.shape == image.shape
    np.testing.assert_array_equal(
        np.isnan(values) if np.isnan(result) else values == result, np.repeat(hidden[..., None], 3, -1)
    )
    assert np.abs(values - blurred(image, hidden))[~hidden].max() <= 0.5001


@pytest.mark.parametrize(
    "dtype, channels", [(np.int16, 4), (np.float32, 4), (np.int32, 2), (np.uint8, 3), (np.float64, 2)]
)
def test_alpha_that_gdal_takes_for_no_mask_has_one_beside_it(sepconv, dtype, channels):
    image, hidden = scene(dtype, channels), hidden_pixels()
    image[..., -1] = np.where(hidden, 0, 100)
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        image,
        photometric="rgb" if channels == 4 else "minisblack",
        planarconfig="contig",
        extrasamples=["unassalpha"] if channels != 3 else ["unspecified", "unassalpha"],
        metadata=None,
        extratags=PLACE,
    )
    sepconv("run", "in.tif", "out.tif", "--quiet")
    [(result, missing)] = masked_pages(sepconv.folder / "out.tif")
    assert result.shape == image.shape
    np.testing.assert_array_equal(missing, hidden)
    np.testing.assert_array_equal(result[..., -1] == 0, hidden)
    assert_gdal_sees(sepconv.folder / "out.tif", hidden)


def test_formats_without_masks_have_alpha_which_is_said(sepconv):
    image, hidden = scene(np.uint8, 3), hidden_pixels()
    write_masked(sepconv.folder / "in.tif", image, hidden)
    for name, what in (
        ("out.png", "PNG has no masks"),
        ("out.zarr", "Zarr has no masks"),
        ("out.ome.tif", "no place for a page that is a mask"),
    ):
        said = sepconv("run", "in.tif", name).stderr
        assert "the mask of the source is alpha, channel 3, of the result" in said and what in said
        sepconv("run", name, "back.npy", "--quiet", "--force")
        values = np.load(sepconv.folder / "back.npy")
        values = values if values.shape[-1] == 4 else np.moveaxis(values, 0, -1)
        np.testing.assert_array_equal(values[..., 3], np.where(hidden, 0, 255))


def test_parts_and_what_is_gone_on_with(sepconv):
    image, hidden = scene(np.int16, 3), hidden_pixels()
    write_masked(sepconv.folder / "in.tif", image, hidden)
    options = ["box:radius=2", "--tile", 16, "--pyramid", "--band-rows", 32, "--compress", "deflate"]
    sepconv("run", "in.tif", "whole.tif", *options, "--quiet")
    sepconv("run", "in.tif", "parts.tif", *options, "--create-only", "--quiet")
    for part in range(3):
        sepconv("run", "in.tif", "parts.tif", *options, "--part", f"{part + 1}/3", "--quiet")
    sepconv("finish", "parts.tif", "--quiet")
    for item, other in zip(
        masked_pages(sepconv.folder / "whole.tif"), masked_pages(sepconv.folder / "parts.tif")
    ):
        np.testing.assert_array_equal(item[0], other[0])
        np.testing.assert_array_equal(item[1], other[1])


# Files next to an image.


def write_mask_beside(path, hidden, flags=2):
    items = "".join(f'  <Item name="INTERNAL_MASK_FLAGS_{band}">{flags}</Item>\n' for band in (1, 2, 3))
    xml = f"<GDALMetadata>\n{items}</GDALMetadata>"
    tifffile.imwrite(
        path,
        np.where(hidden, 0, 255).astype(np.uint8),
        photometric="minisblack",
        metadata=None,
        extratags=[(42112, "s", 0, xml, True)],
    )


@pytest.mark.parametrize("name", ["in.tif", "in.png"])
def test_a_mask_beside_the_file(sepconv, name):
    image, hidden = scene(np.uint8, 3), hidden_pixels()
    if name == "in.tif":
        tifffile.imwrite(sepconv.folder / name, image, photometric="rgb", metadata=None, extratags=PLACE)
    else:
        PIL = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
        PIL.fromarray(image).save(sepconv.folder / name)
    write_mask_beside(sepconv.folder / (name + ".msk"), hidden)
    assert_gdal_sees(sepconv.folder / name, hidden)
    assert ".msk" not in sepconv("run", name, "out.tif", "box:radius=1").stderr
    [(result, missing)] = masked_pages(sepconv.folder / "out.tif")
    np.testing.assert_array_equal(missing, hidden)
    assert np.abs(result - blurred(image, hidden))[~hidden].max() <= 0.5001
    assert json.loads(sepconv("info", name, "--json").stdout)["pages"][0]["mask"]
    said = sepconv("run", name, "plain.tif", "--nodata", "none").stderr
    assert f"{name}.msk next to it is not read" in said
    with tifffile.TiffFile(sepconv.folder / "plain.tif") as tif:
        assert len(tif.pages) == 1 and np.array_equal(tif.pages[0].asarray(), image)


def test_a_file_beside_it_that_is_no_mask_is_said_to_be_none(sepconv):
    image, hidden = scene(np.uint8, 3), hidden_pixels()
    tifffile.imwrite(sepconv.folder / "in.tif", image, photometric="rgb", metadata=None)
    for what in ("flags", "size", "bytes"):
        write_mask_beside(
            sepconv.folder / "in.tif.msk",
            hidden[:-1] if what == "size" else hidden,
            flags=0 if what == "flags" else 2,
        )
        if what == "bytes":
            (sepconv.folder / "in.tif.msk").write_bytes(b"none")
        assert "in.tif.msk next to it is not read: " in sepconv("run", "in.tif", "out.tif", "--force").stderr
        np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "out.tif"), image)


WORLDS = [
    ("2\n0\n0\n-3\n501\n900\n", (2, 0, 500, 0, -3, 901.5)),
    ("2,5\n\n0.5\n0.25\n-3\n501\n900\n", (2.5, 0.25, 499.625, 0.5, -3, 901.25)),
    ("2\n0\n0\n3\n501\n900\n", (2, 0, 500, 0, 3, 898.5)),
]


@pytest.mark.parametrize("text, place", WORLDS)
@pytest.mark.parametrize(
    "name, world",
    [
        ("in.tif", "in.tfw"),
        ("in.tif", "in.tifw"),
        ("in.tif", "in.wld"),
        ("in.tif", "in.TFW"),
        ("in.png", "in.pgw"),
        ("in.png", "in.pngw"),
        ("in.jpg", "in.jgw"),
    ],
)
def test_world_files(sepconv, name, world, text, place):
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")
    PIL = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    PIL.fromarray(scene(np.uint8, 3)).save(sepconv.folder / name)
    (sepconv.folder / world).write_text(text)
    said = sepconv("run", name, "out.tif", "gaussian:sigma=1").stderr
    assert world not in said
    with rasterio.open(sepconv.folder / name) as source, rasterio.open(sepconv.folder / "out.tif") as result:
        assert tuple(source.transform)[:6] == pytest.approx(place) and tuple(result.transform)[
            :6
        ] == pytest.approx(place)
    sepconv("run", name, "part.tif", "reduce:factor=2", "--region", "20x10+5+3", "--quiet")
    with (
        rasterio.open(sepconv.folder / "out.tif") as whole,
        rasterio.open(sepconv.folder / "part.tif") as part,
    ):
        assert part.transform * (0, 0) == pytest.approx(whole.transform * (10, 6))
        assert part.transform * (1, 1) == pytest.approx(whole.transform * (12, 8))
    assert "georeference of the source is not kept" in sepconv("run", name, "out.png").stderr


def test_world_files_that_say_nothing_or_come_second(sepconv):
    tifffile.imwrite(sepconv.folder / "in.tif", scene(np.uint8), metadata=None)
    for text in ("1\n0\n0\n", "a\nb\n", "0\n0\n0\n0\n1\n1\n"):
        (sepconv.folder / "in.tfw").write_text(text)
        assert "in.tfw next to it is not read" in sepconv("run", "in.tif", "out.tif", "--force").stderr
    tifffile.imwrite(sepconv.folder / "in.tif", scene(np.uint8), metadata=None, extratags=PLACE)
    (sepconv.folder / "in.tfw").write_text(WORLDS[0][0])
    sepconv("run", "in.tif", "out.tif", "--force")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        assert tif.pages[0].tags[33922].value == PLACE[1][3]


# Nodata in all channels.


@pytest.mark.parametrize("options", [{}, {"compression": "zlib", "tile": (32, 32)}], ids=["plain", "tiles"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32])
def test_only_pixels_of_whose_channels_all_have_it(sepconv, dtype, options):
    image, hidden = scene(dtype, 3), hidden_pixels()
    image[::7, ::5, 1] = 0
    image[hidden] = 0
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        image,
        photometric="rgb",
        metadata=None,
        extratags=[*PLACE, (42113, "s", 0, "0", True)],
        **options,
    )
    sepconv("run", "in.tif", "out.tif", "box:radius=1", "--nodata-bands", "all", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        assert len(tif.pages) == 1 and tif.pages[0].tags[42113].value.strip("\0") == "0"
        result = tif.pages[0].asarray()
    assert result.dtype == dtype
    np.testing.assert_array_equal((result == 0).all(-1), hidden)
    assert np.abs(result - blurred(image, hidden))[~hidden].max() <= (0.5001 if dtype != np.float32 else 1e-3)
    sepconv("run", "in.tif", "copy.tif", "--nodata-bands", "all", "--quiet")
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "copy.tif"), image)
    sepconv(
        "run",
        "in.tif",
        "other.npy",
        "--nodata-bands",
        "all",
        "--nodata",
        "0",
        "--dst-nodata",
        "200",
        "--quiet",
    )
    np.testing.assert_array_equal(
        np.load(sepconv.folder / "other.npy"), np.where(hidden[..., None], 200, image)
    )
    sepconv("run", "in.tif", "each.tif", "--nodata-bands", "each", "box:radius=1", "--quiet")
    assert (tifffile.imread(sepconv.folder / "each.tif")[..., 1] == 0).sum() > hidden.sum()


def test_a_pixel_that_is_there_does_not_become_missing(sepconv):
    image = np.full((*SHAPE, 3), 1, np.uint8)
    image[:40] = 0
    tifffile.imwrite(sepconv.folder / "in.tif", image, photometric="rgb", metadata=None)
    sepconv("run", "in.tif", "out.tif", "scale:factor=0.1", "--nodata-bands", "all", "--nodata", 0, "--quiet")
    result = tifffile.imread(sepconv.folder / "out.tif")
    assert (result[:40] == 0).all() and (result[40:] == [1, 0, 0]).all()
    assert (
        "declares no nodata value"
        in sepconv("run", "in.tif", "no.tif", "--nodata-bands", "all", status=2).stderr
    )
