"""Alpha of pictures is a weight: colours are multiplied by it, filtered, and divided by the filtered alpha.
Compared with NumPy, SciPy, Pillow and libvips."""

import json

import numpy as np
import PIL.Image
import pytest
import scipy.ndimage as ndi
import tifffile
from reference import BORDERS, correlate, stored

TAPS = [1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16]
KINDS = [
    (np.uint8, 4),
    (np.uint8, 2),
    (np.uint16, 4),
    (np.uint16, 2),
    (np.int16, 4),
    (np.float32, 4),
    (np.float64, 2),
]
RUNS = (["--threads", 1], ["--band-rows", 8, "--threads", 2], ["--reference"])


def opaque_value(dtype):
    return np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else 1


def picture(shape, dtype=np.uint8, channels=4, seed=3, soft=True):
    """Random colours, also where alpha is 0: transparent in a disk, soft around it, and opaque elsewhere."""
    rng = np.random.default_rng(seed)
    top = opaque_value(dtype)
    pixels = (rng.random((*shape, channels)) * top).astype(dtype)
    y, x = np.indices(shape)
    distance = np.maximum(np.hypot(y - shape[0] / 2, x - shape[1] / 2) - 9, 0)
    alpha = np.clip(distance / 6, 0, 1) if soft else distance > 0
    alpha = alpha * np.where(rng.random(shape) < 0.05, rng.random(shape) if soft else 0, 1)
    pixels[..., -1] = stored(alpha * top, dtype)
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


def weighed(pixels, means):
    """`means` of each channel in double precision; colours are multiplied by alpha and divided by its
    mean."""
    values, top = pixels.astype(np.float64), opaque_value(pixels.dtype)
    weights = np.maximum(values[..., -1:], 0) / top
    result = np.stack(
        [
            means(channel)
            for channel in np.moveaxis(
                np.concatenate([values[..., :-1] * weights, values[..., -1:]], -1), -1, 0
            )
        ],
        -1,
    )
    return straight(result, pixels.dtype)


def straight(made, dtype):
    alpha = stored(made[..., -1:], dtype)
    with np.errstate(all="ignore"):
        colours = made[..., :-1] / (made[..., -1:] / opaque_value(dtype))
    return np.where(alpha > 0, np.concatenate([colours, made[..., -1:]], -1), 0)


def assert_picture(actual, expected, tolerance=1e-3):
    """Within half a unit of an integer; where alpha is nearly 0, quotients of colours are less exact."""
    dtype = actual.dtype
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        far = np.abs(actual - np.clip(expected, limits.min, limits.max))
        near = 0.5 + tolerance + limits.max * 2e-6
        edge = np.abs(expected[..., -1] - 0.5) < 1e-3
        assert far[~edge].max() <= near
    else:
        relative = {np.dtype(np.float32): 2e-5, np.dtype(np.float64): 1e-11}[dtype]
        valid = expected[..., -1] > 1e-3
        np.testing.assert_allclose(actual[valid], expected[valid], rtol=relative, atol=relative)
        np.testing.assert_allclose(actual[..., -1], expected[..., -1], rtol=0, atol=relative)


def run(sepconv, *stages, runs=RUNS, source="in.tif", **options):
    """The result, checked to be the same for any division into bands."""
    results = []
    for cut in runs:
        sepconv("run", source, "out.tif", *stages, *cut, "--quiet", "--force", **options)
        results.append(tifffile.imread(sepconv.folder / "out.tif"))
    assert len({result.tobytes() for result in results}) == 1
    return results[0]


@pytest.mark.parametrize("dtype, channels", KINDS)
@pytest.mark.parametrize("soft", [True, False], ids=["soft", "hard"])
def test_filters(sepconv, dtype, channels, soft):
    pixels = picture((61, 83), dtype, channels, soft=soft)
    write(sepconv.folder / "in.tif", pixels)
    text = sepconv("plan", "in.tif", "out.tif", "binomial:radius=2").stdout
    assert f"alpha (channel {channels - 1}) is a weight, because the image is a picture" in text
    box = np.full(7, 1 / 7)
    for stages, means in [
        (["binomial:radius=2"], lambda x: correlate(x, TAPS, TAPS)),
        (["convolve:row=0.25;0.5;0.25".replace(";", ",")], lambda x: correlate(x, [0.25, 0.5, 0.25], None)),
        (["gaussian:sigma=2", "transpose"], lambda x: ndi.gaussian_filter(x, 2, mode="mirror").T),
        (["box:radius=3"], lambda x: correlate(x, box, box)),
        (
            ["binomial:radius=2", "binomial:radius=2"],
            lambda x: correlate(correlate(x, TAPS, TAPS), TAPS, TAPS),
        ),
    ]:
        assert_picture(run(sepconv, *stages), weighed(pixels, means))


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("value", [0, 200])
def test_borders(sepconv, border, value):
    """Pixels outside are premultiplied colours: 0 is transparent."""
    if border != "constant" and value != 0:
        pytest.skip("a value is for constant")
    pixels = picture((24, 31))
    write(sepconv.folder / "in.tif", pixels)
    stage = f"binomial:radius=2,border={border}" + (f",value={value}" if border == "constant" else "")
    assert_picture(run(sepconv, stage), weighed(pixels, lambda x: correlate(x, TAPS, TAPS, border, value)))


@pytest.mark.parametrize("dtype, channels", [(np.uint8, 4), (np.uint16, 2), (np.float32, 4)])
@pytest.mark.parametrize(
    "stage, size, name",
    [
        ("resize:size=41x30,filter=linear", (41, 30), "BILINEAR"),
        ("resize:size=41x30,filter=box", (41, 30), "BOX"),
        ("resize:size=120x95,filter=cubic", (120, 95), "BICUBIC"),
        ("resize:size=33x52,filter=lanczos3", (33, 52), "LANCZOS"),
        ("reduce:factor=2", (42, 31), "BOX"),
    ],
)
def test_sizes_beside_pillow(sepconv, dtype, channels, stage, size, name):
    pixels = picture((62, 84), dtype, channels)
    write(sepconv.folder / "in.tif", pixels)
    resampling = getattr(PIL.Image.Resampling, name)
    means = lambda x: np.asarray(
        PIL.Image.fromarray(x.astype(np.float32)).resize(size, resampling), np.float64
    )  # noqa: E731
    actual, expected = run(sepconv, stage), weighed(pixels, means)
    if np.issubdtype(
        dtype, np.integer
    ):  # Lanczos's weights of both signs give alpha of nearly 0, and the quotients are inexact
        expected = np.clip(expected, 0, np.iinfo(dtype).max)
        solid = expected[..., -1] > opaque_value(dtype) / 50
        assert np.abs(actual[solid] - expected[solid]).max() <= 0.51 + np.iinfo(dtype).max * 1e-5
        assert np.abs(actual[..., -1] - expected[..., -1]).max() <= 0.51 + np.iinfo(dtype).max * 1e-5
    else:
        solid = expected[..., -1] > 0.02
        np.testing.assert_allclose(actual[solid], expected[solid], rtol=1e-4, atol=1e-4)


def on_white(pixels):
    values = pixels.astype(float)
    return values[..., :-1] * values[..., -1:] / 255 + 255 - values[..., -1:]


def test_a_cut_out_on_white_beside_pillow_and_libvips(sepconv):
    """A disk with a soft rim stored as transparent black, and pixels like a photograph's."""
    y, x = np.mgrid[:64, :64] - 31.5
    alpha = np.clip((24 - np.hypot(x, y)) / 6 * 255, 0, 255).astype(np.uint8)
    disk = np.dstack([np.where(alpha > 60, 230, 0)] * 3 + [alpha]).astype(np.uint8)
    for pixels in (disk, picture((64, 64))):
        image = PIL.Image.fromarray(pixels)
        image.save(sepconv.folder / "in.png")
        for stage, expected in [
            ("reduce:factor=2", image.reduce(2)),
            ("reduce:factor=4", image.reduce(4)),
            ("resize:size=20x20", image.resize((20, 20), PIL.Image.Resampling.BILINEAR)),
        ]:  # for negative taps Pillow clips premultiplied colours before the division
            sepconv("run", "in.png", "out.png", stage, "--quiet", "--force")
            result = np.asarray(PIL.Image.open(sepconv.folder / "out.png"))
            assert result.shape == np.asarray(expected).shape
            assert np.abs(on_white(result) - on_white(np.asarray(expected))).max() <= 2.5, stage
    pyvips = pytest.importorskip("pyvips")
    image = pyvips.Image.new_from_file(str(sepconv.folder / "in.png")).premultiply()
    for stage, expected in [
        ("gaussian:sigma=2", image.gaussblur(2, precision="float", min_ampl=0.0003)),
        ("reduce:factor=2", image.shrink(2, 2)),
    ]:
        sepconv(
            "run",
            "in.png",
            "out.png",
            stage + (",border=replicate" if "gaussian" in stage else ""),
            "--quiet",
            "--force",
        )
        result = np.asarray(PIL.Image.open(sepconv.folder / "out.png"))
        assert np.abs(on_white(result) - on_white(expected.unpremultiply().numpy())).max() <= 2, stage


def test_levels(sepconv):
    for dtype, alpha in ((np.uint8, "unassalpha"), (np.uint16, "unassalpha"), (np.uint8, "assocalpha")):
        pixels = picture((128, 96), dtype)
        write(sepconv.folder / "in.tif", pixels, alpha, tile=(16, 16))
        for name, options in (
            ("out.tif", ["--pyramid"]),
            ("in-parts.tif", ["--pyramid", "--create-only", "--band-rows", 16]),
        ):
            sepconv("run", "in.tif", name, *options, "--quiet", "--force")
        for part in (1, 2):
            sepconv("run", "in.tif", "in-parts.tif", "--pyramid", "--part", f"{part}/2", "--quiet")
        sepconv("finish", "in-parts.tif")
        levels = [
            [page.asarray() for page in tifffile.TiffFile(sepconv.folder / name).pages]
            for name in ("out.tif", "in-parts.tif")
        ]
        assert all((a == b).all() for a, b in zip(*levels))
        previous = pixels
        for level in levels[0][1:]:
            cells = lambda x: x.reshape(x.shape[0] // 2, 2, x.shape[1] // 2, 2).mean((1, 3))  # noqa: E731
            expected = (
                weighed(previous, cells)
                if alpha == "unassalpha"
                else np.stack([cells(previous[..., c].astype(float)) for c in range(4)], -1)
            )
            assert_picture(level, expected)
            previous = level


@pytest.mark.parametrize("dtype, channels", [(np.uint8, 4), (np.uint16, 2), (np.float32, 4)])
def test_colours_that_are_multiplied_already(sepconv, dtype, channels):
    pixels = picture((40, 52), dtype, channels)
    top = opaque_value(dtype)
    pixels[..., :-1] = stored(pixels[..., :-1] * (pixels[..., -1:] / top), dtype)
    write(sepconv.folder / "in.tif", pixels, "assocalpha")
    assert (
        "colours are multiplied by alpha in the source, and also in the result"
        in sepconv("plan", "in.tif", "out.tif", "binomial:radius=2").stdout
    )
    result = run(sepconv, "binomial:radius=2")
    assert_picture(
        result, np.stack([correlate(pixels[..., c].astype(float), TAPS, TAPS) for c in range(channels)], -1)
    )
    assert tifffile.TiffFile(sepconv.folder / "out.tif").pages[0].extrasamples == (1,)
    inverted = run(sepconv, f"scale:factor=-1,offset={top}")  # colours that are not premultiplied
    valid = pixels[..., -1] > 0
    with np.errstate(all="ignore"):
        expected = (top - pixels[..., :-1] / (pixels[..., -1:] / top)) * (pixels[..., -1:] / top)
    np.testing.assert_allclose(
        inverted[valid][:, :-1], np.maximum(expected[valid], 0), atol=0.51 if top > 1 else 1e-5
    )
    np.testing.assert_array_equal(inverted[..., -1], pixels[..., -1])
    assert (inverted[~valid] == 0).all()


def test_stages_that_make_no_means_leave_alpha_and_take_what_is_above_0(sepconv):
    pixels = picture((40, 50))
    write(sepconv.folder / "in.tif", pixels)
    hidden = pixels[..., 3] == 0
    single_run = pixels.astype(float)
    single_run[hidden] = np.nan
    for stage, colours in [
        ("cast:type=f32", pixels),
        ("scale:factor=-1,offset=255", 255.0 - pixels),
        ("clamp:low=9,high=99", np.clip(pixels, 9, 99)),
        ("threshold:at=99", np.where(pixels > 99, 1, 0)),
        (
            "erode:radius=1",
            np.stack(
                [
                    ndi.minimum_filter(np.where(hidden, 300, pixels[..., c]), 3, mode="mirror")
                    for c in range(4)
                ],
                -1,
            ),
        ),
        ("median:radius=1", None),
    ]:
        result = run(sepconv, stage)
        np.testing.assert_array_equal(result[..., 3], pixels[..., 3])
        assert (result[hidden] == 0).all()
        if colours is not None:
            np.testing.assert_array_equal(result[~hidden][:, :3], colours[~hidden][:, :3])
    said = sepconv("plan", "in.tif", "new.tif", "median:radius=1").stdout
    assert (
        "stages that do not average leave alpha unchanged" in said
        and "all count equally whose alpha is above 0" in said
    )
    assert "leave alpha unchanged" not in sepconv("plan", "in.tif", "new.tif", "gaussian:sigma=1").stdout


def test_chains_of_both(sepconv):
    pixels = picture((45, 50))
    write(sepconv.folder / "in.tif", pixels)
    blurred = weighed(pixels, lambda x: correlate(x, TAPS, TAPS))
    exact = pixels.astype(float)
    weights = exact[..., 3:] / 255
    sums = np.stack(
        [
            correlate(c, TAPS, TAPS)
            for c in np.moveaxis(np.concatenate([exact[..., :3] * weights, exact[..., 3:]], -1), -1, 0)
        ],
        -1,
    )
    with np.errstate(all="ignore"):
        means = sums[..., :3] / (sums[..., 3:] / 255)
    assert_picture(
        run(sepconv, "binomial:radius=2", "scale:factor=0.5,offset=9"),
        np.where(
            stored(sums[..., 3:], np.uint8) > 0, np.concatenate([means * 0.5 + 9, sums[..., 3:]], -1), 0
        ),
    )
    result = run(sepconv, "scale:factor=0.5,offset=9", "binomial:radius=2")
    assert_picture(
        result,
        np.where(blurred[..., 3:] > 0, np.concatenate([blurred[..., :3] * 0.5 + 9, blurred[..., 3:]], -1), 0),
    )
    # The subtracted mean is weighted by alpha, also in unsharp.
    valid = pixels[..., 3] > 0
    for stage, expected in [
        ("subtract:chain=[binomial:radius=2]", exact[..., :3] - means),
        ("unsharp:sigma=1,amount=0.7", None),
    ]:
        result = run(sepconv, stage, "cast:type=f32")
        np.testing.assert_array_equal(result[..., 3], pixels[..., 3])
        assert (result[~valid] == 0).all()
        if expected is None:
            gaussians = np.stack(
                [
                    ndi.gaussian_filter(c, 1, mode="mirror")
                    for c in np.moveaxis(np.concatenate([exact[..., :3] * weights, weights], -1), -1, 0)
                ],
                -1,
            )
            with np.errstate(all="ignore"):
                expected = exact[..., :3] + 0.7 * (exact[..., :3] - gaussians[..., :3] / gaussians[..., 3:])
        np.testing.assert_allclose(result[valid][:, :3], expected[valid], atol=2e-3)


@pytest.mark.parametrize("cast", ["u16", "i16", "f32", "f64"])
def test_results_of_another_type(sepconv, cast):
    """Numbers are unchanged, for alpha as for colours."""
    pixels = picture((30, 44))
    write(sepconv.folder / "in.tif", pixels)
    result = run(sepconv, "binomial:radius=2", f"cast:type={cast}")
    expected = weighed(pixels, lambda x: correlate(x, TAPS, TAPS))
    valid = expected[..., 3] > 0.6
    np.testing.assert_allclose(result[valid], expected[valid], atol=2e-3 if cast.startswith("f") else 0.51)


def test_an_opaque_picture_has_the_plain_filters_pixels(sepconv):
    for dtype in (np.uint8, np.uint16):
        pixels = picture((50, 60), dtype)
        pixels[..., 3] = opaque_value(dtype)
        write(sepconv.folder / "in.tif", pixels)
        tifffile.imwrite(sepconv.folder / "rgb.tif", pixels[..., :3], photometric="rgb")
        for stage in ("gaussian:sigma=1.5", "reduce:factor=3", "resize:size=33x47,filter=lanczos3"):
            result = run(sepconv, stage)
            assert (result[..., 3] == opaque_value(dtype)).all()
            assert np.abs(result[..., :3].astype(int) - run(sepconv, stage, source="rgb.tif")).max() <= 1


GEO = [(33550, "d", 3, (1.0, 1.0, 0.0), True), (33922, "d", 6, (0.0, 0.0, 0.0, 5.0, 6.0, 0.0), True)]


@pytest.mark.parametrize(
    "options, stage, weight, why",
    [
        (
            {},
            "binomial:radius=2",
            True,
            "because the image is a picture, without georeference or nodata value",
        ),
        ({"extratags": GEO}, "binomial:radius=2", False, "because the file has a georeference"),
        (
            {"extratags": [(42113, "s", 0, "7", True)]},
            "binomial:radius=2",
            False,
            "because pixels of value 7 are missing, too",
        ),
        ({}, "binomial:radius=2,nodata=ignore", False, "' says what becomes of missing pixels"),
        (
            {},
            "subtract:chain=[abs | box:radius=1,nodata=fill]",
            False,
            "' says what becomes of missing pixels",
        ),
    ],
)
def test_which_rule_and_why(sepconv, options, stage, weight, why):
    pixels = picture((40, 50))
    write(sepconv.folder / "in.tif", pixels, **options)
    said = sepconv("plan", "in.tif", "out.tif", stage).stdout
    assert why in said and ("is a weight" in said) == weight and ("a mask and no weight" in said) != weight
    by_itself = run(sepconv, stage)
    np.testing.assert_array_equal(by_itself, run(sepconv, stage, "--alpha", "weight" if weight else "mask"))
    if "nodata=" in stage:
        error = sepconv("run", "in.tif", "out.tif", stage, "--alpha", "weight", "--force", status=2).stderr
        assert "--alpha requests alpha as a weight, but '" in error and "leave one of the two out" in error
        return
    other = run(sepconv, stage, "--alpha", "mask" if weight else "weight")
    assert (other != by_itself).any()
    assert (
        "because --alpha says so"
        in sepconv("plan", "in.tif", "new.tif", stage, "--alpha", "mask" if weight else "weight").stdout
    )
    hidden = pixels[..., 3] == 0
    assert (((other if weight else by_itself)[..., 3] == 0) == hidden).all()  # a mask keeps its edges
    assert ((by_itself if weight else other)[..., 3][hidden] > 0).any()


def test_alpha_by_hand_beside_nodata_values(sepconv):
    pixels = picture((40, 50))
    write(sepconv.folder / "in.tif", pixels, extratags=[(42113, "s", 0, "7", True)])
    process = sepconv("run", "in.tif", "out.tif", "binomial:radius=2", "--alpha", "weight")
    assert "the nodata value 7 is left out, because alpha is a weight" in process.stdout + process.stderr
    assert_picture(
        tifffile.imread(sepconv.folder / "out.tif"), weighed(pixels, lambda x: correlate(x, TAPS, TAPS))
    )
    error = sepconv(
        "run", "in.tif", "out.tif", "box", "--alpha", "weight", "--nodata", 9, "--force", status=2
    ).stderr
    assert "pixels of value 9 are missing, too; leave one of the two out" in error
    assert (
        "have no meaning"
        in sepconv(
            "run", "in.tif", "out.tif", "box", "--alpha", "mask", "--nodata", "none", "--force", status=2
        ).stderr
    )
    tifffile.imwrite(sepconv.folder / "grey.tif", pixels[..., 0])
    process = sepconv("run", "grey.tif", "out.tif", "box", "--alpha", "weight", "--force")
    assert "--alpha changes nothing, because no channel is alpha" in process.stdout + process.stderr


def test_a_mask_page_is_a_mask(sepconv):
    pixels = picture((40, 50))
    mask = np.random.default_rng(9).random((40, 50)) > 0.2
    for colours, extra, words in (
        (pixels[..., :3], {}, "the mask of the result hides what is missing"),
        (
            pixels,
            {"extrasamples": ["unassalpha"]},
            "a mask and no weight, because the file stores it as a mask",
        ),
    ):
        with tifffile.TiffWriter(sepconv.folder / "in.tif") as tif:
            tif.write(colours, photometric="rgb", metadata=None, **extra)
            tif.write(mask, subfiletype=4, photometric="mask", metadata=None)
        assert words in sepconv("plan", "in.tif", "out.tif", "box").stdout


def test_a_plan_and_parts_carry_the_rule(sepconv):
    pixels = picture((64, 50))
    write(sepconv.folder / "in.tif", pixels)
    for rule in ("weight", "mask"):
        (sepconv.folder / "plan.json").write_text(
            sepconv(
                "plan", "in.tif", "planned.tif", "gaussian:sigma=2", "--alpha", rule, "--json", "--force"
            ).stdout
        )
        assert (
            json.loads((sepconv.folder / "plan.json").read_text())["asked"]["missing"]["alpha_rule"] == rule
        )
        expected = run(sepconv, "gaussian:sigma=2", "--alpha", rule)
        sepconv("run", "in.tif", "planned.tif", "--plan", "plan.json", "--quiet", "--force")
        np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "planned.tif"), expected)
        chain = ["gaussian:sigma=2", "--alpha", rule]
        sepconv(
            "run", "in.tif", "parts.tif", *chain, "--create-only", "--band-rows", 16, "--quiet", "--force"
        )
        other = sepconv(
            "run",
            "in.tif",
            "parts.tif",
            "gaussian:sigma=2",
            "--alpha",
            "mask" if rule == "weight" else "weight",
            "--part",
            "1/2",
            status=2,
        )
        assert "--alpha" in other.stderr
        for part in (1, 2):
            sepconv("run", "in.tif", "parts.tif", *chain, "--part", f"{part}/2", "--quiet")
        sepconv("finish", "parts.tif")
        np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "parts.tif"), expected)


def test_a_preview_averages_by_alpha(sepconv):
    pixels = np.zeros((64, 64, 4), np.uint8)
    pixels[:, ::2] = 255
    pixels[:, 1::2] = (0, 0, 0, 1)
    write(sepconv.folder / "in.tif", pixels)
    sepconv("preview", "in.tif", "-o", "view.png", "--size", 32)
    seen = np.asarray(PIL.Image.open(sepconv.folder / "view.png"))
    assert (
        seen.shape == (32, 32, 4)
        and seen[..., :3].min() >= 253
        and np.abs(seen[..., 3].astype(int) - 128).max() <= 1
    )


def test_not_numbers_and_infinities_under_alpha_0_do_not_spread(sepconv):
    pixels = picture((30, 40), np.float32)
    clean = pixels.copy()
    hidden = pixels[..., 3] == 0
    assert hidden.sum() > 9
    pixels[hidden, :3] = [np.nan, np.inf, -np.inf]
    write(sepconv.folder / "in.tif", pixels)
    result = run(sepconv, "gaussian:sigma=2")
    write(sepconv.folder / "in.tif", clean)
    np.testing.assert_array_equal(result, run(sepconv, "gaussian:sigma=2"))


@pytest.mark.parametrize("rule", ["weight", "mask"])
@pytest.mark.parametrize("alpha", ["unassalpha", "assocalpha"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.float32, np.float64])
def test_alpha_keeps_its_share_where_a_range_becomes_another(sepconv, dtype, alpha, rule):
    """`--to-8bit` and `stretch`, alone and with stages that compute means: NumPy."""
    pixels = picture((31, 40), dtype)
    pixels[..., :3] = (
        np.minimum(pixels[..., :3], pixels[..., 3:]) if alpha == "assocalpha" else pixels[..., :3]
    )
    pixels[pixels[..., 3] <= 0] = 0
    top = opaque_value(dtype)
    write(sepconv.folder / "in.tif", pixels, alpha)
    chains = [
        (["--to-8bit"], np.uint8),
        ([f"stretch:low=0,high={top},type=u16"], np.uint16),
        ([f"stretch:low=0,high={top},type=f32"], np.float32),
        ([f"stretch:low=0,high={top},type=u8", "gaussian:sigma=0"], np.uint8),
        (["gaussian:sigma=0", f"stretch:low=0,high={top},type=u16", "scale:factor=1"], np.uint16),
    ]
    for stages, to in chains:
        sepconv("run", "in.tif", "out.tif", *stages, "--alpha", rule, "--quiet", "--force")
        result = tifffile.imread(sepconv.folder / "out.tif").astype(np.float64)
        expected = pixels.astype(np.float64) / top * opaque_value(to)
        visible = stored(expected[..., 3:], to) > 0
        tolerance = 0.51 if np.issubdtype(to, np.integer) else 1e-6
        assert np.abs(np.where(visible, result - expected, 0)).max() <= tolerance, (stages, to)


def test_alpha_stays_in_a_png_of_8_bits(sepconv):
    pixels = picture((20, 30), np.uint16)
    write(sepconv.folder / "in.tif", pixels)
    sepconv("run", "in.tif", "out.png", "--to-8bit", "--quiet")
    with PIL.Image.open(sepconv.folder / "out.png") as image:
        assert (
            image.mode == "RGBA" and np.abs(np.asarray(image)[..., 3] - pixels[..., 3] / 257).max() <= 0.501
        )
    sepconv("run", "in.tif", "laid.png", "--to-8bit", "--background", "white", "--quiet")
    with PIL.Image.open(sepconv.folder / "laid.png") as image:
        assert image.mode == "RGB"
    assert (
        "--background changes nothing"
        in sepconv("run", "in.tif", "out.tif", "--background", "white", "--quiet").stderr
    )
