"""reduce and resize compared with Pillow, and with libvips where it computes the same."""

import shutil
import subprocess

import numpy as np
import pytest
import tifffile
from reference import DTYPES, assert_close, random_image

pytest.importorskip("PIL", reason="Pillow is not installed")
from PIL import Image, ImageOps  # noqa: E402

FILTERS = {
    "linear": Image.Resampling.BILINEAR,
    "cubic": Image.Resampling.BICUBIC,
    "lanczos3": Image.Resampling.LANCZOS,
    "box": Image.Resampling.BOX,
    "nearest": Image.Resampling.NEAREST,
}
# Columns x rows: smaller, much smaller, larger, one side only, both ways, equal.
SIZES = [(50, 31), (3, 2), (1, 1), (300, 211), (151, 40), (97, 200), (20, 171), (97, 83)]


def pillow(image, size, name):
    """In Pillow's mode F: sums in f64, rounded to f32 after each pass."""
    return np.asarray(Image.fromarray(image.astype(np.float32)).resize(size, FILTERS[name]))


def comparable(shape, size, name):
    """Rows and columns of the result to compare. sepconv counts pixels in the middle between two cells of
    `box` to the first; Pillow's rounding decides between one, both and none."""

    def inside(length, result):
        on_edge = lambda i: 0 < i < result < length and (2 * i * length) % (2 * result) == result
        return [i for i in range(result) if name != "box" or not (on_edge(i) or on_edge(i + 1))]

    return np.ix_(inside(shape[0], size[1]), inside(shape[1], size[0]))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", FILTERS)
def test_floating(sepconv, name, size):
    image = random_image((83, 97), np.float32)
    actual = sepconv.filter(image, f"resize:size={size[0]}x{size[1]},filter={name}")
    positions = comparable(image.shape, size, name)
    np.testing.assert_allclose(actual[positions], pillow(image, size, name)[positions], rtol=0, atol=4e-6)


@pytest.mark.parametrize("shape", [(83, 97), (83, 97, 3)])
@pytest.mark.parametrize("name", FILTERS)
def test_bytes(sepconv, name, shape):
    """Pillow rounds and saturates between the passes: without saturation the difference is at most one
    unit."""
    image = random_image(shape, np.uint8)
    if name in ("cubic", "lanczos3"):
        image = image // 2 + np.uint8(64)
    for size in SIZES:
        actual = sepconv.filter(image, f"resize:size={size[0]}x{size[1]},filter={name}")
        expected = np.asarray(Image.fromarray(image).resize(size, FILTERS[name]))
        assert actual.shape == expected.shape
        assert np.abs(actual.astype(int) - expected)[comparable(shape, size, name)].max(initial=0) <= 1, size


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", [(83, 97), (83, 97, 3), (1, 3), (90, 99)])
def test_area_weighs_by_shares(sepconv, shape, size):
    transform = pytest.importorskip("skimage.transform", reason="scikit-image is not installed")
    image = random_image(shape, np.float64)
    actual = sepconv.filter(image, f"resize:size={size[0]}x{size[1]},filter=area")
    expected = transform.resize_local_mean(
        image, size[::-1], channel_axis=2 if image.ndim == 3 else None, preserve_range=True
    )
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(actual.mean(axis=(0, 1)), image.mean(axis=(0, 1)), rtol=0, atol=1e-13)


@pytest.mark.parametrize("by", [0.5, 0.37, 1.5, 3])
@pytest.mark.parametrize("shape", [(83, 97), (5, 3), (1, 1)])
def test_by_a_factor_is_pillows_scale(sepconv, by, shape):
    image = random_image(shape, np.float32)
    actual = sepconv.filter(image, f"resize:scale={by},filter=cubic")
    size = [max(1, round(by * side)) for side in reversed(shape)]
    assert actual.shape == tuple(reversed(size))
    np.testing.assert_allclose(actual, pillow(image, size, "cubic"), rtol=0, atol=4e-6)
    if by * min(shape) >= 1:
        assert ImageOps.scale(Image.fromarray(image), by).size == tuple(size)


def cells(image, down, across, weights=lambda factor: np.ones(factor), before=lambda factor: 0):
    """Weighted means of windows of cells along both sides, of the valid pixels."""
    for axis, factor in ((1, across), (0, down)):
        taps = weights(factor)
        length = image.shape[axis]
        means = []
        for first in range(0, length, factor):
            window = np.arange(first - before(factor), first - before(factor) + len(taps))
            inside = (window >= 0) & (window < length)
            part = np.take(image, window[inside], axis)
            means.append(np.average(part, axis, taps[inside]))
        image = np.stack(means, axis)
    return image


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())
@pytest.mark.parametrize("factor", [(1, 1), (2, 2), (3, 5), (7, 1), (100, 100)])
def test_reduce(sepconv, factor, dtype):
    image = random_image((83, 97, 3), dtype)
    across, down = factor
    text = f"factor={across}" if across == down else f"factor={across},factor_y={down}"
    values = image.astype(np.float64)
    assert_close(sepconv.filter(image, f"reduce:{text}"), cells(values, down, across), dtype)
    box = lambda n: np.ones(n)
    smooth = cells(
        values, down, across, lambda n: np.convolve(np.convolve(box(n), box(n)), box(n)), lambda n: n - 1
    )
    assert_close(sepconv.filter(image, f"reduce:{text},filter=binomial"), smooth, dtype)


@pytest.mark.parametrize("factor", [2, 3, 8])
def test_reduce_is_pillows(sepconv, factor):
    image = random_image((83, 97), np.float32)
    expected = np.asarray(Image.fromarray(image).reduce(factor))
    np.testing.assert_allclose(sepconv.filter(image, f"reduce:factor={factor}"), expected, rtol=0, atol=2e-6)
    image = random_image((83, 97, 3), np.uint8)
    expected = np.asarray(Image.fromarray(image).reduce(factor))
    difference = np.abs(sepconv.filter(image, f"reduce:factor={factor}").astype(int) - expected)
    assert difference.max() <= 1  # Pillow rounds halves up


@pytest.mark.skipif(shutil.which("vips") is None, reason="libvips' program is not installed")
@pytest.mark.parametrize(
    "command, stage",
    [
        (["shrink", "4", "4"], "reduce:factor=4"),
        (["reduce", "4", "4", "--kernel", "lanczos3"], "resize:scale=0.25,filter=lanczos3"),
        (["reduce", "4", "4", "--kernel", "linear"], "resize:scale=0.25,filter=linear"),
    ],
)
def test_libvips(sepconv, command, stage):
    image = random_image((160, 240), np.float32)
    tifffile.imwrite(sepconv.folder / "in.tif", image, metadata=None)
    subprocess.run(["vips", command[0], "in.tif", "vips.tif", *command[1:]], cwd=sepconv.folder, check=True)
    expected = tifffile.imread(sepconv.folder / "vips.tif")
    actual = sepconv.filter(image, stage)
    assert actual.shape == expected.shape
    # libvips replicates the edge beyond the image; its weights are f64.
    inside = (slice(4, -4), slice(4, -4))
    np.testing.assert_allclose(actual[inside], expected[inside], rtol=0, atol=2e-6)


def test_chains_of_scales_are_the_whole_images(sepconv):
    image = random_image((311, 257, 2), np.uint16)
    chain = [
        "gaussian:sigma=1.5",
        "reduce:factor=3",
        "transpose",
        "resize:scale=1.7,filter=lanczos3",
        "sobel:axis=x",
    ]
    streamed = sepconv.filter(image, *chain, options=["--band-rows", "7", "--device", "cpu"])
    np.testing.assert_array_equal(streamed, sepconv.filter(image, *chain, options=["--reference"]))


def test_tiles_are_smaller_where_each_pixel_is_made_of_many(sepconv):
    sepconv("generate", "in.tif", "--size", "4000x3000", "--tile", 256, "--compress", "deflate", "--quiet")
    process = sepconv("run", "in.tif", "out.tif", "reduce:factor=40")
    assert (
        "tiles of 128 x 128 where the source has tiles of 256 x 256: each pixel is made of 1600 bytes"
        in process.stderr
    )
    assert (
        "strips where the source has tiles"
        in sepconv("plan", "in.tif", "strips.tif", "reduce:factor=600").stdout
    )
    page = tifffile.TiffFile(sepconv.folder / "out.tif").pages[0]
    assert page.shape == (75, 100) and (page.tilelength, page.tilewidth) == (128, 128)
    assert (
        "tiles of"
        not in sepconv("run", "in.tif", "out.tif", "reduce:factor=40", "--tile", "256", "--force").stderr
    )
    sepconv("run", "in.tif", "out.tif", "reduce:factor=40", "--tile", "0", "--force")
    assert tifffile.TiffFile(sepconv.folder / "out.tif").pages[0].rowsperstrip == 4194304 // (1600 * 100)


def test_a_plan_of_another_scale_is_run_from_its_text(sepconv):
    np.save(sepconv.folder / "in.npy", random_image((311, 257, 3), np.uint8))
    chain = ["reduce:factor=3,factor_y=2,filter=binomial", "transpose", "resize:size=200x333,filter=cubic"]
    text = sepconv(
        "plan", "in.npy", "out.npy", *chain, "--band-rows", "64", "--band-cols", "50", "--json"
    ).stdout
    (sepconv.folder / "plan.json").write_text(text)
    sepconv("run", "in.npy", "out.npy", "--plan", "plan.json")
    sepconv("run", "in.npy", "whole.npy", *chain, "--reference")
    assert (sepconv.folder / "out.npy").read_bytes() == (sepconv.folder / "whole.npy").read_bytes()
    assert np.load(sepconv.folder / "out.npy").shape == (333, 200, 3)
    sepconv("run", "in.npy", "part.npy", *chain, "--region", "60x40+30+100")
    np.testing.assert_array_equal(
        np.load(sepconv.folder / "part.npy"), np.load(sepconv.folder / "out.npy")[100:140, 30:90]
    )


@pytest.mark.parametrize(
    "text",
    [
        "reduce:factor=4096",
        "reduce:factor=1500,filter=binomial",
        "resize:size=7x1,filter=linear",
        "resize:scale=0.0003",
    ],
)
def test_sums_of_thousands_of_terms_do_not_drift(sepconv, text):
    """A constant image, for which f32 sums lose more than a unit."""
    for shape in ((2, 30001), (30001, 2)):
        if "size=" in text and shape[0] != 2:
            continue
        image = np.full(shape, 21846, np.uint16)
        assert np.all(sepconv.filter(image, text) == 21846)


@pytest.mark.parametrize("fit", [(50, 50), (300, 40), (1, 9), (97, 83), (7, 700)])
def test_fit_keeps_the_proportions(sepconv, fit):
    image = random_image((83, 97), np.uint8, seed=9)
    result = sepconv.filter(image, f"resize:fit={fit[0]}x{fit[1]}")
    scale = min(fit[0] / 97, fit[1] / 83)
    size = max(1, round(scale * 97)), max(1, round(scale * 83))
    assert result.shape == size[::-1] and (size[0] == fit[0] or size[1] == fit[1])
    np.testing.assert_array_equal(result, sepconv.filter(image, f"resize:size={size[0]}x{size[1]}"))
    turned = sepconv.filter(np.ascontiguousarray(image.T), "transpose", f"resize:fit={fit[0]}x{fit[1]}")
    np.testing.assert_array_equal(turned, result)
