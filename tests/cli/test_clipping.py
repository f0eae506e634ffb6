"""Values outside the range of the result's type are reported: possible ones in the plan, the actual number in
the warnings of the run."""

import re

import numpy as np
import pytest
import scipy.ndimage as ndi
import tifffile


@pytest.fixture
def image(sepconv):
    values = np.random.default_rng(0).integers(0, 256, (30, 40)).astype(np.uint8)
    np.save(sepconv.folder / "in.npy", values)
    return values


def warnings(sepconv, *stages):
    return sepconv("run", "in.npy", "out.npy", *stages, "--quiet", "--force").stderr


def notes(sepconv, *stages):
    return sepconv("plan", "in.npy", "other.npy", *stages).stdout


SIGNED = {
    "sobel:axis=x": lambda a: ndi.sobel(a, axis=1, mode="mirror"),
    "gaussian_laplace:sigma=2": lambda a: ndi.gaussian_laplace(a, 2, mode="mirror"),
    "dog:sigma=1,sigma2=3": lambda a: (
        ndi.gaussian_filter(a, 1, mode="mirror") - ndi.gaussian_filter(a, 3, mode="mirror")
    ),
    "subtract:chain=gaussian:sigma=3": lambda a: a - ndi.gaussian_filter(a, 3, mode="mirror"),
    "scale:factor=-1": lambda a: -a,
    "scale:factor=2,offset=-100": lambda a: 2 * a - 100,
    "mix_channels:values=1.5,-20": lambda a: 1.5 * a - 20,
}


@pytest.mark.parametrize("stage", SIGNED)
def test_the_share_of_values_that_are_lost_is_said_with_the_way_out(sepconv, image, stage):
    expected = SIGNED[stage](image.astype(float))
    reported_warnings = warnings(sepconv, stage)
    assert "which u8 does not hold" in reported_warnings
    shares = {"below": (expected < -0.5).mean(), "above": (expected > 255.5).mean()}
    for word, fraction in shares.items():
        match = re.search(rf"([\d.e-]+) % (?:of the values are )?{word}", reported_warnings)
        assert (match is None) == (fraction == 0)
        assert match is None or float(match[1]) == pytest.approx(100 * fraction, rel=0.06)
    assert "u8 holds 0 to 255" in notes(sepconv, stage)
    cast = re.search(r"cast:type=\w+", reported_warnings)[0]
    assert warnings(sepconv, stage, cast) == "" and "u8 holds" not in notes(sepconv, stage, cast)
    np.testing.assert_allclose(np.load(sepconv.folder / "out.npy"), expected, atol=0.51)


@pytest.mark.parametrize(
    "stage",
    [
        "gaussian:sigma=2",
        "median:radius=1",
        "erode:radius=2",
        "stddev:radius=2",
        "abs",
        "transpose",
        "blend:chain=box:radius=2,alpha=0.5",
        "sobel:axis=x|abs|scale:factor=0.25",
    ],
)
def test_nothing_is_said_of_what_the_type_holds(sepconv, image, stage):
    assert warnings(sepconv, *stage.split("|")) == ""
    assert "u8 holds" not in notes(sepconv, *stage.split("|"))


@pytest.mark.parametrize(
    "stages, words",
    [
        (["cast:type=u8"], "u8"),
        (["cast:type=u8", "cast:type=f32"], "u8"),
        (["cast:type=u8", "scale:factor=1"], "u8"),
        (["cast:type=u8", "median:radius=1"], "u8"),
        (["cast:type=u8", "transpose"], "u8"),
        (["cast:type=u8", "stretch:low=0,high=255,type=u16"], "u8"),
        (["cast:type=u8", "reduce:factor=2", "cast:type=u16"], "u8"),
        (["cast:type=i16"], "i16"),
    ],
)
@pytest.mark.parametrize("alpha", [None, "unassalpha", "assocalpha"])
def test_a_cast_anywhere_in_a_chain(sepconv, stages, words, alpha):
    """The plan and the run report what it saturates; the alternative that the warning names keeps all
    values."""
    values = np.random.default_rng(0).integers(0, 65536, (30, 40, 4) if alpha else (30, 40)).astype(np.uint16)
    extra = {"photometric": "rgb", "extrasamples": [alpha]} if alpha else {}
    tifffile.imwrite(sepconv.folder / "in.tif", values, metadata=None, **extra)

    def said(stages):
        plan = sepconv("plan", "in.tif", "other.tif", *stages).stdout
        return sepconv("run", "in.tif", "out.tif", *stages, "--quiet", "--force").stderr, plan

    run, plan = said(stages)
    fraction = float(
        re.search(rf"([\d.]+) % of the values are above \d+, which {words} does not hold", run)[1]
    )
    top = 255 if words == "u8" else 32767
    assert alpha == "assocalpha" or fraction == pytest.approx(100 * (values > top).mean(), abs=3)
    assert f"{words} holds" in plan
    other, given = re.search(r"(cast:type=\w+) in place of (cast:type=\w+) keeps them", run).groups()
    assert given == stages[0] and "does not hold" not in said([other])[0]


def test_a_value_beyond_beside_the_nodata_value(sepconv, image):
    """0 marks missing pixels, so lower values become 1."""
    reported_warnings = warnings(sepconv, "scale:factor=1,offset=-100", "--nodata", "5", "--dst-nodata", "0")
    assert re.search("below 0, which u8 does not hold: they become 1 ", reported_warnings)
    actual = np.load(sepconv.folder / "out.npy")
    np.testing.assert_array_equal(actual, np.where(image == 5, 0, np.maximum(image.astype(int) - 100, 1)))


def test_the_way_out_of_a_stretch(sepconv):
    np.save(
        sepconv.folder / "in.npy", np.random.default_rng(0).integers(-500, 500, (30, 40)).astype(np.int16)
    )
    for stages in (["stretch:low=0,high=400,type=u8"], ["--to-8bit=0:400"], ["--to-8bit"]):
        said = sepconv("run", "in.npy", "out.npy", *stages, "--quiet", "--force").stderr
        assert "which u8 does not hold" in said and "--to-8bit=LOW:HIGH" in said and "cast:" not in said
    assert (
        "does not hold"
        not in sepconv("run", "in.npy", "out.npy", "--to-8bit=-500:500", "--quiet", "--force").stderr
    )


def test_values_that_all_are_rounded_to_one(sepconv, image):
    reported_warnings = warnings(sepconv, "gradient", "scale:factor=0.0001")
    assert "all sampled values are rounded to 0" in reported_warnings and "cast:type=f32" in reported_warnings
    assert warnings(sepconv, "gradient", "scale:factor=0.0001", "cast:type=f32") == ""


def test_few_whole_numbers_are_left_of_fractions(sepconv, image):
    np.save(sepconv.folder / "in.npy", image.astype(np.int16))
    for stage in ("local_normalize:radius=5", "scale:factor=0.02"):
        reported_warnings = warnings(sepconv, stage)
        assert (
            re.search(r"all sampled values are rounded to whole numbers from -?\d+ to \d+", reported_warnings)
            and "cast:type=f32 at the end keeps them" in reported_warnings
        )
        assert warnings(sepconv, stage, "cast:type=f32") == ""
    assert warnings(sepconv, "threshold:at=100,above=3") == ""


def test_samples_of_a_large_image(sepconv):
    values = np.random.default_rng(1).integers(0, 65536, (700, 900)).astype(np.uint16)
    np.save(sepconv.folder / "in.npy", values)
    reported_warnings = warnings(sepconv, "sobel:axis=y", "--band-rows", "100")
    fraction = float(re.search(r"([\d.]+) % of the values are below 0", reported_warnings)[1])
    assert fraction == pytest.approx(50, abs=4) and "cast:type=f32" in reported_warnings


def test_integers_of_other_types(sepconv):
    np.save(
        sepconv.folder / "in.npy", np.random.default_rng(2).integers(0, 1 << 32, (30, 40), dtype=np.uint32)
    )
    assert "which u32 does not hold" in warnings(sepconv, "sobel:axis=x")


def test_clamp_with_one_side(sepconv, image):
    np.testing.assert_array_equal(sepconv.filter(image, "clamp:low=100"), np.maximum(image, 100))
    np.testing.assert_array_equal(sepconv.filter(image, "clamp:high=100"), np.minimum(image, 100))
    assert "it or high must be given" in sepconv("run", "in.npy", "out.npy", "clamp", status=2).stderr


def test_a_sigma_of_0_leaves_an_axis_alone(sepconv, image):
    for stage, sigma in [
        ("gaussian:sigma=2,sigma_y=0", (0, 2)),
        ("gaussian:sigma=0,sigma_y=2", (2, 0)),
        ("gaussian:sigma=0", 0),
    ]:
        expected = ndi.gaussian_filter(image.astype(np.float64), sigma, mode="mirror")
        np.testing.assert_allclose(sepconv.filter(image.astype(np.float64), stage), expected, rtol=1e-12)
    said = sepconv("run", "in.npy", "out.npy", "gaussian:sigma=2,sigma_y=0,order=1", status=2).stderr
    assert "order_y=0" in said


def test_a_ceiling_at_which_bands_repeat_each_other(sepconv):
    np.save(sepconv.folder / "in.npy", np.random.default_rng(3).random((900, 900)).astype(np.float32))
    stage = "box:radius=100"
    minimum = re.search(
        r"raise --max-memory to (\d+K)",
        sepconv(
            "plan", "in.npy", "other.npy", stage, "--max-memory", "1K", "--threads", "1", status=1
        ).stderr,
    )[1]
    said = sepconv("plan", "in.npy", "other.npy", stage, "--max-memory", minimum, "--threads", "1").stdout
    better = re.search(r"raise --max-memory to (\d+K)", said)[1]
    assert (
        "memory is short: bands"
        not in sepconv("plan", "in.npy", "other.npy", stage, "--max-memory", better, "--threads", "1").stdout
    )


def test_alpha_that_saturates_or_vanishes(sepconv):
    """Alpha keeps its numbers if colours are scaled and cast: the consequences are reported, and stretch
    keeps its fraction."""
    values = np.random.default_rng(0).integers(30000, 40000, (30, 40, 4)).astype(np.uint16)
    tifffile.imwrite(
        sepconv.folder / "in.tif", values, metadata=None, photometric="rgb", extrasamples=["unassalpha"]
    )
    said = lambda *words: sepconv("run", "in.tif", "out.tif", *words, "--quiet", "--force").stderr
    assert "becomes opaque; the stage stretch" in said("scale:factor=0.00389105", "cast:type=u8")
    assert "alpha is" not in said("stretch:low=0,high=65535,type=u8") and "alpha is" not in said(
        "gaussian:sigma=1"
    )
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        (values // 257).astype(np.uint8),
        metadata=None,
        photometric="rgb",
        extrasamples=["unassalpha"],
    )
    assert "nearly transparent; the stage stretch" in said("cast:type=u16")
    assert "all sampled values are rounded" in said("scale:factor=0.003")


def test_the_cast_that_limits_is_named(sepconv):
    np.save(
        sepconv.folder / "in.npy", np.random.default_rng(0).integers(-30000, 30000, (30, 40)).astype(np.int16)
    )
    assert (
        "below 0, which u16 does not hold"
        in (reported_warnings := warnings(sepconv, "cast:type=u16", "cast:type=i16"))
        and "cast:type=i16 in place of cast:type=u16" in reported_warnings
    )
    np.save(
        sepconv.folder / "in.npy", np.random.default_rng(0).integers(0, 60000, (30, 40)).astype(np.uint16)
    )
    assert (
        "above 32767, which i16 does not hold"
        in (reported_warnings := warnings(sepconv, "cast:type=i16", "cast:type=u16"))
        and "cast:type=u16 in place of cast:type=i16" in reported_warnings
    )


@pytest.mark.parametrize("chain", ["gaussian_laplace:sigma=2", "subtract:chain=gaussian:sigma=20"])
def test_shares_of_small_images_are_of_all_values(sepconv, chain):
    """A bright square on a slope: a grid of samples sees mostly the slope."""
    values = np.add.outer(np.arange(300), np.arange(400)) * 20
    values[150:175, 210:240] += 40000
    np.save(sepconv.folder / "in.npy", values.astype(np.uint16))
    sepconv("run", "in.npy", "signed.npy", chain, "cast:type=f64")
    fraction = 100 * (np.load(sepconv.folder / "signed.npy") < -0.5).mean()
    said = sepconv("run", "in.npy", "out.npy", chain).stderr
    assert abs(float(re.search(r"([\d.]+) % of the values are below 0", said)[1]) - fraction) <= 0.5
