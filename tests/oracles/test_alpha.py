"""Alpha as a mask, and masks, determine the missing pixels: compared with a NumPy reference in double
precision. Alpha as a weight: test_alpha_weight.py."""

import json

import numpy as np
import PIL.Image
import pytest
import tifffile
from reference import correlate, stored

TAPS = [1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16]
STAGE = "binomial:radius=2"


def picture(shape, dtype, channels, seed=3, opaque=None):
    """Colours and, as last channel, alpha: 0 in a block and at single pixels, mostly opaque elsewhere."""
    rng = np.random.default_rng(seed)
    top = np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else 1
    pixels = (rng.random((*shape, channels)) * top).astype(dtype)
    alpha = np.full(shape, top if opaque is None else opaque, dtype)
    alpha[: shape[0] // 4] = (rng.random((shape[0] // 4, shape[1])) * top).astype(dtype)
    alpha[shape[0] // 2 : shape[0] // 2 + 9, 3:25] = 0
    alpha[rng.random(shape) < 0.05] = 0
    pixels[..., -1] = alpha
    return pixels


def write(path, pixels, alpha="unassalpha", **options):
    colours = pixels.shape[-1] - 1
    tifffile.imwrite(
        path,
        pixels,
        photometric="rgb" if colours == 3 else "minisblack",
        planarconfig="contig",
        extrasamples=[alpha],
        metadata=None,
        **options,
    )


def means(pixels, hidden, policy="ignore", taps=TAPS):
    """Normalized means of the valid pixels, per channel; NaN is missing."""
    result = []
    weights = correlate(1.0 - hidden, taps, taps, "reflect101")
    for channel in np.moveaxis(pixels.astype(np.float64), -1, 0):
        sums = correlate(np.where(hidden, 0, channel), taps, taps, "reflect101")
        with np.errstate(all="ignore"):
            mean = np.where(weights > 1e-12, sums / weights, np.nan)
        result.append(mean if policy == "fill" else np.where(hidden, np.nan, mean))
    return np.stack(result, -1)


def assert_alpha_result(actual, expected):
    """Within one unit of an integer, and hidden where NaN is expected."""
    hidden = np.isnan(expected[..., 0])
    np.testing.assert_array_equal(actual[..., -1] == 0, hidden)
    assert (actual[hidden] == 0).all()
    if np.issubdtype(actual.dtype, np.integer):
        assert (
            np.abs(actual[~hidden] - expected[~hidden]).max()
            <= 0.5 + 1e-3 + np.iinfo(actual.dtype).max * 1e-6
        )
    else:
        np.testing.assert_allclose(actual[~hidden], expected[~hidden], rtol=1e-5)


@pytest.mark.parametrize(
    "dtype, channels",
    [(np.uint8, 4), (np.uint8, 2), (np.uint16, 4), (np.int16, 2), (np.float32, 4), (np.float64, 2)],
)
@pytest.mark.parametrize("policy", ["ignore", "fill"])
@pytest.mark.parametrize("alpha", ["unassalpha", "assocalpha"])
def test_what_alpha_hides_is_left_out(sepconv, dtype, channels, policy, alpha):
    pixels = picture((61, 83), dtype, channels)
    write(sepconv.folder / "in.tif", pixels, alpha)
    text = sepconv("plan", "in.tif", "out.tif", STAGE, "--alpha", "mask").stdout
    assert f"that alpha (channel {channels - 1}) hides are missing" in text
    outputs = set()
    for options in (["--threads", 1], ["--band-rows", 8, "--threads", 2], ["--reference"]):
        sepconv(
            "run",
            "in.tif",
            "out.tif",
            f"{STAGE},nodata={policy}",
            "--alpha",
            "mask",
            *options,
            "--quiet",
            "--force",
        )
        outputs.add(tifffile.imread(sepconv.folder / "out.tif").tobytes())
    assert len(outputs) == 1
    assert_alpha_result(
        tifffile.imread(sepconv.folder / "out.tif"), means(pixels, pixels[..., -1] == 0, policy)
    )


def test_derivatives_propagate_and_leave_alpha_as_it_is(sepconv):
    pixels = picture((50, 60), np.uint8, 4)
    write(sepconv.folder / "in.tif", pixels)
    assert (
        "other stages leave it as it is"
        in sepconv("plan", "in.tif", "out.tif", "sobel:axis=x", "--alpha", "mask").stdout
    )
    for options in ([], ["--reference"], ["--band-rows", 7, "--threads", 1]):
        sepconv("run", "in.tif", "out.tif", "sobel:axis=x", "--alpha", "mask", *options, "--quiet", "--force")
        result = tifffile.imread(sepconv.folder / "out.tif")
        hidden = pixels[..., -1] == 0
        touched = correlate(hidden.astype(float), np.ones(3), np.ones(3), "reflect101") > 0.5
        np.testing.assert_array_equal(result[..., 3], np.where(touched, 0, pixels[..., 3]))
        assert (result[touched] == 0).all()
        colours = correlate(pixels[..., 0].astype(float), [-1, 0, 1], [1, 2, 1], "reflect101")
        np.testing.assert_array_equal(result[~touched][:, 0], stored(colours, np.uint8)[~touched])


def test_stages_of_one_pixel_and_unsharp_leave_alpha_as_it_is(sepconv):
    pixels = picture((40, 50), np.uint8, 4)
    write(sepconv.folder / "in.tif", pixels)
    valid = pixels[..., -1] > 0
    alpha = pixels[..., 3]
    for stages, colours in [
        (["cast:type=u16"], pixels),
        (["cast:type=f32"], pixels),
        (["scale:factor=-1,offset=255"], 255 - pixels),
        (["clamp:low=9,high=99"], np.clip(pixels, 9, 99)),
        (["abs", "transpose", "threshold:at=99", "transpose"], np.where(pixels > 99, 1, 0)),
        (["unsharp:sigma=2"], None),
    ]:
        sepconv("run", "in.tif", "out.tif", *stages, "--quiet", "--force")
        result = tifffile.imread(sepconv.folder / "out.tif")
        np.testing.assert_array_equal(result[..., 3], alpha)
        if colours is not None:
            np.testing.assert_array_equal(result[valid][:, :3], colours[valid][:, :3])
    floats = np.dstack([np.random.default_rng(1).random((20, 30, 3)), np.full((20, 30), 255)]).astype(
        np.float32
    )
    write(sepconv.folder / "floats.tif", floats)  # as written by warping programs
    sepconv("run", "floats.tif", "out.tif", "scale:factor=2", "gradient", "--quiet", "--force")
    assert (tifffile.imread(sepconv.folder / "out.tif")[..., 3] == 255).all()


def test_what_is_there_stays_there(sepconv):
    """An alpha of 0.3 would be stored as 0."""
    pixels = np.full((20, 20, 4), 100, np.uint8)
    pixels[..., 3] = 1
    pixels[::2, ::2, 3] = 0
    write(sepconv.folder / "in.tif", pixels)
    sepconv("run", "in.tif", "out.tif", "resize:size=41x37", "--alpha", "mask", "--quiet")
    result = tifffile.imread(sepconv.folder / "out.tif")
    assert (result[result[..., 3] > 0][:, :3] == 100).all() and (result[..., 3] <= 1).all()
    tiny = np.full((9, 9, 2), 1e-30, np.float32)
    write(sepconv.folder / "tiny.tif", tiny)
    sepconv("run", "tiny.tif", "tiny-out.tif", "convolve:row=1e-30", "--quiet")
    assert (tifffile.imread(sepconv.folder / "tiny-out.tif")[..., 1] > 0).all()


def test_alpha_and_a_nodata_value(sepconv):
    pixels = picture((50, 60), np.uint8, 4)
    pixels[20:24, 10:50, 0] = 7
    write(sepconv.folder / "in.tif", pixels, extratags=[(42113, "s", 0, "7", True)])
    sepconv("run", "in.tif", "out.tif", STAGE, "--quiet")
    result = tifffile.imread(sepconv.folder / "out.tif")
    hidden = pixels[..., 3] == 0
    for channel in range(3):
        missing = hidden | (pixels[..., channel] == 7)
        expected = means(pixels[..., channel : channel + 1], missing)[..., 0]
        np.testing.assert_array_equal(result[..., channel] == 7, missing)
        near = np.abs(result[..., channel][~missing] - expected[~missing])
        moved = result[..., channel][~missing] == 8  # would have been 7
        assert near[~moved].max() <= 0.501 and (near[moved] <= 1.501).all()
    np.testing.assert_array_equal(result[..., 3] == 0, hidden)


@pytest.mark.parametrize(
    "stage, words",
    [("mix_channels:values=1,0,0,0,0,1,0,0,0,0,1,0,rows=3", "mixes it"), (None, "alpha is ignored")],
)
def test_alpha_that_is_not_honoured_is_said(sepconv, stage, words):
    pixels = picture((30, 40), np.uint8, 4)
    write(sepconv.folder / "in.tif", pixels)
    run = sepconv("run", "in.tif", "out.tif", *([stage, STAGE] if stage else [STAGE, "--nodata", "none"]))
    assert words in run.stderr + run.stdout
    expected = stored(correlate(pixels[..., 0].astype(float), TAPS, TAPS, "reflect101"), np.uint8)
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "out.tif")[..., 0], expected)


def test_a_product_over_whole_sides_has_no_places_that_alpha_could_hide(sepconv):
    pixels = picture((24, 20), np.float32, 4)
    write(sepconv.folder / "in.tif", pixels)
    matrix = np.random.default_rng(5).standard_normal((24, 24)).astype(np.float32)
    np.save(sepconv.folder / "m.npy", matrix)
    run = sepconv("run", "in.tif", "out.tif", "gemm:file=m.npy,side=left")
    assert "over whole sides" in run.stderr + run.stdout
    np.testing.assert_allclose(
        tifffile.imread(sepconv.folder / "out.tif"),
        np.einsum("ij,jkc->ikc", matrix, pixels),
        rtol=1e-4,
        atol=1e-5,
    )


@pytest.mark.parametrize("alpha", ["unassalpha", "assocalpha"])
def test_levels_and_reductions(sepconv, alpha):
    """Alpha contains the fraction of valid pixels in a cell, unless colours are multiplied by it."""
    pixels = picture((128, 96), np.uint8, 4)
    write(sepconv.folder / "in.tif", pixels, alpha, tile=(16, 16))
    sepconv("run", "in.tif", "out.tif", "--pyramid", "--alpha", "mask", "--quiet")
    sepconv("run", "in.tif", "half.tif", "reduce:factor=2", "--alpha", "mask", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        level = tif.pages[1].asarray()
    np.testing.assert_array_equal(level, tifffile.imread(sepconv.folder / "half.tif"))
    cells = pixels.reshape(64, 2, 48, 2, 4).astype(float)
    valid = cells[..., 3:] > 0
    counts = valid.sum(axis=(1, 3))
    expected = np.where(valid, cells, 0).sum(axis=(1, 3)) / np.where(counts > 0, counts, np.nan)
    if alpha == "unassalpha":
        expected[..., 3] *= counts[..., 0] / 4
    assert_alpha_result(level, expected)


@pytest.mark.parametrize(
    "stage, size",
    [("reduce:factor=2", (40, 30)), ("resize:size=33x51", (33, 51)), ("resize:size=150x100", (150, 100))],
)
@pytest.mark.parametrize("rule", ["weight", "mask"])
def test_alpha_of_another_scale_is_pillows(sepconv, rule, stage, size):
    pixels = np.full((60, 80, 4), 100, np.uint8)
    pixels[..., 3] = random_mask((60, 80)) * 255
    write(sepconv.folder / "in.tif", pixels)
    sepconv("run", "in.tif", "out.tif", stage, "--alpha", rule, "--quiet")
    result = tifffile.imread(sepconv.folder / "out.tif")
    expected = np.asarray(
        PIL.Image.fromarray(pixels[..., 3]).resize(
            size, PIL.Image.Resampling.BOX if "reduce" in stage else PIL.Image.Resampling.BILINEAR
        )
    )
    assert np.abs(result[..., 3].astype(int) - expected).max() <= 1
    assert (result[result[..., 3] > 0][:, :3] == 100).all()
    for chain in (
        [stage],
        [stage, "transpose"],
        ["transpose", stage],
        ["gaussian:sigma=1", stage, "scale:factor=0.5"],
    ):
        sepconv(
            "run", "in.tif", "streamed.tif", *chain, "--alpha", rule, "--band-rows", 7, "--quiet", "--force"
        )
        sepconv("run", "in.tif", "whole.tif", *chain, "--alpha", rule, "--reference", "--quiet", "--force")
        np.testing.assert_array_equal(
            tifffile.imread(sepconv.folder / "streamed.tif"), tifffile.imread(sepconv.folder / "whole.tif")
        )


def test_statistics_and_comparison_leave_hidden_pixels_out(sepconv):
    for dtype in (np.uint8, np.float32):
        pixels = picture((40, 50), dtype, 4)
        write(sepconv.folder / "a.tif", pixels)
        hidden = pixels[..., 3] == 0
        facts = json.loads(sepconv("stats", "a.tif", "--json").stdout)["channels"]
        for channel, stats in enumerate(facts):
            assert (
                stats["count"] == (~hidden).sum()
                and stats["missing_count"] == hidden.sum()
                and stats["nan_count"] == 0
            )
            assert stats["max"] == pixels[~hidden][:, channel].max()
        other = pixels.copy()
        other[hidden, :3] = 1
        write(sepconv.folder / "b.tif", other)
        sepconv("compare", "a.tif", "b.tif")
        sepconv("compare", "a.tif", "b.tif", "--nodata", "none", status=1)
        other[tuple(np.argwhere(~hidden)[0])] = 0
        write(sepconv.folder / "b.tif", other)
        sepconv("compare", "a.tif", "b.tif", status=1)


# Masks in separate pages.


def write_mask(tif, mask, of_level=False):
    """Writes single bits as GDAL does; make_masks() converts the tags of other masks, which tifffile does not
    write."""
    if mask.dtype == bool:
        tif.write(mask, subfiletype=5 if of_level else 4, photometric="mask", metadata=None)
    else:
        tif.write(
            mask,
            subfiletype=3 if of_level else 2,
            photometric="minisblack" if mask.ndim == 2 else "rgb",
            metadata=None,
        )


def make_masks(path):
    with tifffile.TiffFile(path, mode="r+b") as tif:
        for page in tif.pages:
            if page.subfiletype in (2, 3):
                page.tags[254].overwrite(page.subfiletype + 2)


def write_masked(path, image, mask, levels=0, bits=True, **options):
    stored_mask = mask if bits else (mask * 255).astype(np.uint8)
    with tifffile.TiffWriter(path) as tif:
        tif.write(image, metadata=None, **options)
        write_mask(tif, stored_mask)
        for level in range(1, levels + 1):
            tif.write(image[:: 2**level, :: 2**level], subfiletype=1, metadata=None, **options)
            write_mask(tif, stored_mask[:: 2**level, :: 2**level], of_level=True)
    make_masks(path)


def with_mask(path, index=0):
    """A page with its mask as an additional channel of the same type: 0 or 255."""
    with tifffile.TiffFile(path) as tif:
        image, mask = tif.pages[index], tif.pages[index + 1]
        assert mask.subfiletype == 4 and int(mask.photometric) == 4
        pixels = image.asarray().reshape(*image.shape[:2], -1)
        return np.concatenate([pixels.astype(np.int64), mask.asarray()[..., None]], -1)


def random_mask(shape):
    mask = np.random.default_rng(9).random(shape) > 0.1
    mask[shape[0] // 3 : shape[0] // 2, 5:20] = False
    return mask


@pytest.mark.parametrize("bits", [True, False], ids=["bits", "bytes"])
@pytest.mark.parametrize(
    "dtype, channels, options",
    [
        (np.uint8, 1, {}),
        (np.uint8, 3, {"tile": (32, 48), "compression": "zlib"}),
        (np.uint16, 3, {"rowsperstrip": 5}),
        (np.int16, 1, {"compression": "zlib"}),
    ],
)
def test_masks_of_integers_hide_pixels(sepconv, bits, dtype, channels, options):
    shape = (75, 62)
    image = (np.random.default_rng(2).random((*shape, channels)) * 250 + 1).astype(dtype)
    mask = random_mask(shape)
    write_masked(
        sepconv.folder / "in.tif",
        image if channels > 1 else image[..., 0],
        mask,
        levels=1,
        bits=bits,
        photometric="rgb" if channels == 3 else "minisblack",
        **options,
    )
    process = sepconv("run", "in.tif", "out.tif", STAGE, "--band-rows", 32)
    assert "mask" not in process.stderr
    result = with_mask(sepconv.folder / "out.tif")
    np.testing.assert_array_equal(result[..., -1] > 0, mask)
    assert_alpha_result(result, means(np.concatenate([image, np.where(mask, 255, 0)[..., None]], -1), ~mask))
    sepconv("run", "in.tif", "level.tif", "--level", 1, "--quiet")  # the level has its own mask
    level = with_mask(sepconv.folder / "level.tif")
    np.testing.assert_array_equal(level[..., :-1], image[::2, ::2])
    np.testing.assert_array_equal(level[..., -1] > 0, mask[::2, ::2])
    sepconv("run", "in.tif", "part.tif", STAGE, "--region", "40x31+9+17", "--quiet")
    np.testing.assert_array_equal(with_mask(sepconv.folder / "part.tif"), result[17:48, 9:49])
    process = sepconv("run", "in.tif", "plain.tif", STAGE, "--nodata", "none", "--region", "62x75+0+0")
    assert "mask is left out" in process.stdout + process.stderr
    plain = tifffile.imread(sepconv.folder / "plain.tif").reshape(*shape, channels)
    np.testing.assert_array_equal(
        plain[..., 0], stored(correlate(image[..., 0].astype(float), TAPS, TAPS, "reflect101"), dtype)
    )


@pytest.mark.parametrize("nodata", [None, "-5"])
def test_masks_of_floating_images_become_their_value(sepconv, nodata):
    image = np.random.default_rng(2).random((75, 62)).astype(np.float32)
    mask = random_mask(image.shape)
    if nodata:
        image[0, :9] = -5
    write_masked(
        sepconv.folder / "in.tif",
        image,
        mask,
        photometric="minisblack",
        **({"extratags": [(42113, "s", 0, nodata, True)]} if nodata else {}),
    )
    sepconv("run", "in.tif", "out.tif", STAGE, "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        result = tif.pages[0].asarray()
        assert tif.pages[0].tags[42113].value.strip("\0 ") == (nodata or "nan")
    missing = ~mask | (image == -5)
    np.testing.assert_array_equal(result == -5 if nodata else np.isnan(result), missing)
    np.testing.assert_allclose(
        result[~missing], means(image[..., None], missing)[..., 0][~missing], rtol=1e-5
    )
    facts = json.loads(sepconv("stats", "in.tif", "--json").stdout)["channels"][0]
    assert facts["missing_count"] == missing.sum()


def test_a_mask_beside_alpha(sepconv):
    pixels = picture((40, 50), np.uint8, 4)
    mask = random_mask((40, 50))
    write_masked(sepconv.folder / "in.tif", pixels, mask, photometric="rgb", extrasamples=["unassalpha"])
    sepconv("run", "in.tif", "out.tif", STAGE, "--quiet")
    assert_alpha_result(
        tifffile.imread(sepconv.folder / "out.tif"), means(pixels, ~mask | (pixels[..., 3] == 0))
    )


def test_masks_of_a_stack(sepconv):
    images = np.random.default_rng(2).integers(1, 250, (3, 40, 50), dtype=np.uint8)
    masks = [random_mask((40, 50)), np.ones((40, 50), bool), ~random_mask((40, 50))]
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as tif:
        for image, mask in zip(images, masks):
            tif.write(image, metadata=None, photometric="minisblack")
            write_mask(tif, mask)
    sepconv("run", "in.tif", "out.tif", STAGE, "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        assert len(tif.pages) == 6
    for index, (image, mask) in enumerate(zip(images, masks)):
        pixels = np.stack([image, np.where(mask, 255, 0)], -1)
        assert_alpha_result(with_mask(sepconv.folder / "out.tif", 2 * index), means(pixels, ~mask))


def test_masks_that_are_none(sepconv):
    image = np.random.default_rng(2).integers(1, 250, (40, 50), dtype=np.uint8)
    for mask, status, words in [
        (np.ones((20, 50), bool), 0, "mask of another size"),
        (np.ones((40, 50), np.uint16), 1, "the mask of page 0 does not have its size"),
        (np.ones((40, 50, 3), np.uint8), 1, "the mask of page 0 does not have its size"),
    ]:
        with tifffile.TiffWriter(sepconv.folder / "in.tif") as tif:
            tif.write(image, metadata=None, photometric="minisblack")
            write_mask(tif, mask)
        make_masks(sepconv.folder / "in.tif")
        run = sepconv("run", "in.tif", "out.tif", "abs", "--force", status=status)
        assert words in run.stdout + run.stderr
        sepconv("run", "in.tif", "out.tif", "--nodata", "none", "--quiet", "--force")
        np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "out.tif"), image)


def test_info_says_which_channel_is_alpha_and_which_page_a_mask(sepconv):
    for dtype, channels, alpha in ((np.uint8, 4, 3), (np.uint8, 3, None), (np.complex64, 4, None)):
        options = {"extrasamples": ["unassalpha"]} if channels == 4 else {}
        write_masked(
            sepconv.folder / "in.tif",
            np.ones((40, 50, channels), dtype),
            random_mask((40, 50)),
            photometric="rgb",
            **options,
        )
        pages = json.loads(sepconv("info", "in.tif", "--json").stdout)["pages"]
        assert [(page["alpha"], page["mask"]) for page in pages] == [(alpha, True), (None, False)]
        text = sepconv("info", "in.tif").stdout.split("page 1: 50 x 40")[0]
        assert ("alpha                channel 3" in text) == (
            alpha is not None
        ) and "mask                 page 1" in text
    assert not json.loads(sepconv("info", "in.tif", "--page", "1", "--json").stdout)["pages"][0]["mask"]


@pytest.mark.parametrize("order, spare", [("MI", 1), ("IMM", 1), ("MIMM", 2), ("IMIM", 0)])
def test_masks_that_no_image_has_are_named(sepconv, order, spare):
    """M and I: pages that are masks and images."""
    image = np.random.default_rng(2).integers(1, 250, (40, 50), dtype=np.uint8)
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as tif:
        for page in order:
            if page == "M":
                write_mask(tif, random_mask((40, 50)))
            else:
                tif.write(image, metadata=None, photometric="minisblack", contiguous=False)
    make_masks(sepconv.folder / "in.tif")
    words = {0: "", 1: "a mask is not read: the second", 2: "2 masks are not read: the second"}[spare]
    for command in (("run", "in.tif", "out.tif", STAGE), ("info", "in.tif")):
        run = sepconv(*command)
        assert words in run.stdout + run.stderr and ("not read: the second" in run.stdout + run.stderr) == (
            spare > 0
        )


def test_a_mask_that_one_page_has_and_another_has_not(sepconv):
    images = np.random.default_rng(2).integers(1, 250, (2, 40, 50), dtype=np.uint8)
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as tif:
        for image, masked in zip(images, (True, False)):
            tif.write(image, metadata=None, photometric="minisblack", contiguous=False)
            if masked:
                write_mask(tif, random_mask((40, 50)))
    for options, pages in [([], [0, 1]), (["--page", "2"], [1])]:
        sepconv("run", "in.tif", "out.tif", *options, "--quiet", "--force")
        result = np.stack([with_mask(sepconv.folder / "out.tif", 2 * index) for index in range(len(pages))])
        np.testing.assert_array_equal(result[..., 0], images[pages])
        np.testing.assert_array_equal(result[-1, ..., 1], 255)
    sepconv("run", "in.tif", "out.tif", "--nodata", "none", "--quiet", "--force")
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "out.tif"), images)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_masks_of_larger_integers(sepconv, dtype):
    image = np.random.default_rng(2).integers(1, 250, (40, 50)).astype(dtype)
    mask = random_mask((40, 50))
    write_masked(sepconv.folder / "in.tif", image, mask, photometric="minisblack")
    sepconv("run", "in.tif", "out.tif", "--quiet")
    assert tifffile.imread(sepconv.folder / "out.tif", key=0).dtype == dtype
    result = with_mask(sepconv.folder / "out.tif")
    np.testing.assert_array_equal(result[..., 0], image)
    np.testing.assert_array_equal(result[..., 1] > 0, mask)
    expected = means(np.stack([image, np.where(mask, 255, 0)], -1), ~mask)
    for stages in ([STAGE], [STAGE, "cast:type=f64"]):
        sepconv("run", "in.tif", "new.tif", *stages, "--quiet", "--force")
        result = with_mask(sepconv.folder / "new.tif")
        np.testing.assert_array_equal(result[..., 1] > 0, mask)
        assert np.abs(result[..., 0] - expected[..., 0])[mask].max() <= (0.501 if len(stages) == 1 else 1.001)


@pytest.mark.parametrize("text", ["-1.7976931348623157e308", "1e300", "garbage", "", "0x10", "5 6"])
def test_a_mask_beside_a_nodata_value_that_is_none(sepconv, text):
    image = np.full((30, 40), 100, np.float32)
    mask = random_mask((30, 40))
    write_masked(
        sepconv.folder / "in.tif",
        image,
        mask,
        photometric="minisblack",
        extratags=[(42113, "s", 0, text, True)],
    )
    process = sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1")
    assert "is left out" in process.stdout + process.stderr
    np.testing.assert_allclose(
        tifffile.imread(sepconv.folder / "out.tif"), np.where(mask, 100, np.nan), rtol=1e-6
    )


def test_a_level_without_a_mask_of_its_own_is_said(sepconv):
    image = np.random.default_rng(2).integers(1, 250, (64, 64), dtype=np.uint8)
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as tif:
        tif.write(image, metadata=None, photometric="minisblack")
        write_mask(tif, random_mask((64, 64)))
        tif.write(image[::2, ::2], subfiletype=1, metadata=None, photometric="minisblack")
    run = sepconv("run", "in.tif", "out.tif", "--level", 1)
    assert "mask of another size" in run.stdout + run.stderr


def test_a_value_for_what_only_alpha_hides_is_refused(sepconv):
    pixels = picture((40, 50), np.uint8, 4)
    write(sepconv.folder / "in.tif", pixels)
    said = sepconv("run", "in.tif", "out.tif", STAGE, "--dst-nodata", 7, status=2).stderr
    assert (
        "only alpha (channel 3) hides some" in said and "--dst-nodata" in said and "set --nodata too" in said
    )
    sepconv("run", "in.tif", "out.tif", STAGE, "--dst-nodata", 7, "--nodata", 9, "--quiet")


def test_alpha_that_is_no_number_hides_for_compare_too(sepconv):
    pixels = picture((20, 30), np.float32, 2, opaque=1)
    other = pixels.copy()
    pixels[3, 4, 1] = other[3, 4, 1] = np.nan
    other[3, 4, 0] = 5
    for name, image in (("a.tif", pixels), ("b.tif", other)):
        write(sepconv.folder / name, image)
    assert "equal" in sepconv("compare", "a.tif", "b.tif").stdout


def test_compare_counts_what_is_hidden_in_one_image_only(sepconv):
    pixels = picture((40, 50), np.uint8, 4)
    pixels[..., 3] = 255
    hidden = pixels.copy()
    hidden[3, 4:7, 3] = 0
    for name, image in (("a.tif", pixels), ("b.tif", hidden)):
        write(sepconv.folder / name, image)
    text = sepconv("compare", "a.tif", "b.tif", status=1).stdout
    assert (
        "0 elements of A, 12 of B: missing" in text
        and "row 3, column 4, channel 0: " in text
        and " and nan" in text
    )
    facts = json.loads(sepconv("compare", "b.tif", "a.tif", "--json", status=1).stdout)
    assert (facts["missing_in_a"], facts["missing_in_b"], facts["different"], facts["first"]["a"]) == (
        12,
        0,
        12,
        None,
    )
    assert "missing" not in sepconv("compare", "a.tif", "b.tif", "--nodata", "none", status=1).stdout
    assert "missing" not in sepconv("compare", "b.tif", "b.tif").stdout
