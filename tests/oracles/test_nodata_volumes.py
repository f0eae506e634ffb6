"""Missing pixels of stacks filtered along z: compared with normalized sums of the valid pixels by SciPy on
the whole array."""

import functools

import numpy as np
import pytest
import scipy.ndimage as ndi
from reference import BORDERS, stored

SHAPES = [(1, 9, 11), (7, 1, 5), (5, 33, 20), (24, 17, 13)]
BINOMIAL = np.array([1, 4, 6, 4, 1]) / 16


def gaussian_taps(sigma):
    radius = int(4 * sigma + 0.5)
    taps = np.exp(-(np.arange(-radius, radius + 1) ** 2) / (2 * sigma**2))
    return taps / taps.sum()


def ones(radius):
    return np.ones(2 * radius + 1) / (2 * radius + 1)


# The stages, and their taps along z, y and x.
FILTERS = {
    "gaussian:sigma=0.6,sigma_y=1,sigma_z=1.3": [gaussian_taps(1.3), gaussian_taps(1), gaussian_taps(0.6)],
    "box:radius=2,radius_y=1,radius_z=3": [ones(3), ones(1), ones(2)],
    "box:radius=0,radius_z=1": [ones(1), ones(0), ones(0)],
    "binomial:radius=2,radius_y=0,radius_z=1": [np.array([1, 2, 1]) / 4, ones(0), BINOMIAL],
    "convolve:z=1,2,3": [np.array([1, 2, 3]), ones(0), ones(0)],
    "convolve:row=1,4,6,4,1,col=-0.25,2,0.5,z=0.5,1,3": [
        np.array([0.5, 1, 3]),
        np.array([-0.25, 2, 0.5]),
        np.array([1, 4, 6, 4, 1]),
    ],
}


def values_with_holes(shape, dtype=np.float64, share=0.2, seed=5):
    """Values around 100, and the mask of missing ones: single pixels, a block and some whole planes."""
    random = np.random.default_rng(seed)
    missing = random.random(shape) < share
    missing[shape[0] // 3 : shape[0] // 3 + 6] |= shape[0] > 6
    missing[:, shape[1] // 2 :, shape[2] // 2 :] |= shape[1] > 20
    return random.normal(100, 20, shape).astype(dtype), missing


def passes(volume, taps, border, values):
    """Filters along z and then within planes, each with its value beyond a constant border; the plane is
    extended once, before its row pass."""
    volume = ndi.correlate1d(volume, taps[0], 0, mode=BORDERS[border], cval=values[0])
    margin, mode = 0, BORDERS[border]
    if border == "constant":
        margin, mode = max(map(len, taps[1:])) // 2, "nearest"
        volume = np.pad(volume, ((0, 0), (margin, margin), (margin, margin)), constant_values=values[1])
    volume = ndi.correlate1d(ndi.correlate1d(volume, taps[2], 2, mode=mode), taps[1], 1, mode=mode)
    return volume[:, margin : volume.shape[1] - margin, margin : volume.shape[2] - margin]


def valid_mean(values, missing, taps, border, value, policy):
    sums = passes(np.where(missing, 0, values.astype(np.float64)), taps, border, (value, value))
    weights = passes(1.0 - missing, taps, border, (1, taps[0].sum()))
    total = functools.reduce(lambda product, one: product * one.sum(), taps, 1.0)
    with np.errstate(all="ignore"):
        result = np.where(weights > 1e-9 * total, sums * (total / weights), np.nan)
    return np.where(missing, np.nan, result) if policy == "ignore" else result


def extreme(values, missing, name, sizes, border, value, policy):
    function, nothing = {"erode": (ndi.minimum_filter, np.inf), "dilate": (ndi.maximum_filter, -np.inf)}[name]
    result = function(
        np.where(missing, nothing, values.astype(np.float64)), sizes, mode=BORDERS[border], cval=value
    )
    result[result == nothing] = np.nan
    return np.where(missing, np.nan, result) if policy == "ignore" else result


def window_values(values, missing, name, *of):
    policy = of[-1]
    first, second = {"opening": ("erode", "dilate"), "tophat": ("erode", "dilate")}.get(
        name, ("dilate", "erode")
    )
    between = extreme(values, missing, first, *of)
    result = extreme(between, np.isnan(between), second, *of)
    values = np.where(missing, np.nan, values)
    return {"tophat": values - result, "blackhat": result - values}.get(name, result)


def run(sepconv, array, *arguments):
    np.save(sepconv.folder / "in.npy", array)
    sepconv("run", "in.npy", "out.npy", *arguments, "--axes", "zyx", "--force", "--quiet")
    return np.load(sepconv.folder / "out.npy").reshape(array.shape)  # one plane is stored as an image


def assert_alike(actual, expected, rtol):
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(expected))
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=100 * rtol)


def bordered(stage, border):
    return f"{stage},border={border}" + (",value=90" if border == "constant" else "")


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("stage", FILTERS)
def test_sums_over_weights(sepconv, stage, border):
    for shape in SHAPES:
        values, missing = values_with_holes(shape)
        for policy in ("ignore", "fill"):
            got = run(
                sepconv,
                np.where(missing, np.nan, values),
                f"{bordered(stage, border)},nodata={policy}",
                "--band-rows",
                5,
            )
            assert_alike(got, valid_mean(values, missing, FILTERS[stage], border, 90, policy), 1e-11)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("name", ["erode", "dilate", "opening", "closing", "tophat", "blackhat"])
def test_windows_of_what_is_there(sepconv, name, border):
    policies = ("ignore",) if name.endswith("hat") else ("ignore", "fill")
    for shape in SHAPES:
        values, missing = values_with_holes(shape)
        for policy in policies:
            stage = bordered(f"{name}:radius=1,radius_y=2,radius_z=1", border)
            got = run(
                sepconv, np.where(missing, np.nan, values), f"{stage},nodata={policy}", "--band-rows", 5
            )
            of = ((3, 5, 3), border, 90, policy)
            want = (
                extreme(values, missing, name, *of)
                if name in ("erode", "dilate")
                else window_values(values, missing, name, *of)
            )
            np.testing.assert_array_equal(got, want)


def deviations(values, missing, border, policy):
    """Deviations of 5 x 3 x 7 values, and the filters of their squares."""
    taps = [ones(3), ones(1), ones(2)]
    mean = valid_mean(values, missing, taps, border, 90, policy)
    return mean, np.sqrt(np.maximum(valid_mean(values**2, missing, taps, border, 90**2, policy) - mean**2, 0))


@pytest.mark.parametrize("border", BORDERS)
def test_what_is_made_of_several_filters(sepconv, border):
    narrow, wide = [gaussian_taps(1)] * 3, [gaussian_taps(1.5), gaussian_taps(2), gaussian_taps(2)]
    for shape in SHAPES:
        values, missing = values_with_holes(shape)
        given = np.where(missing, np.nan, values)
        for policy in ("ignore", "fill"):
            blurred = [valid_mean(values, missing, taps, border, 90, policy) for taps in (narrow, wide)]
            got = run(
                sepconv,
                given,
                bordered("dog:sigma=1,sigma_z=1,sigma2=2,sigma2_z=1.5", border) + f",nodata={policy}",
                "--band-rows",
                5,
            )
            assert_alike(got, blurred[0] - blurred[1], 1e-11)
            got = run(
                sepconv,
                given,
                bordered("stddev:radius=2,radius_y=1,radius_z=3", border) + f",nodata={policy}",
                "--band-rows",
                5,
            )
            mean, deviation = deviations(values, missing, border, policy)
            assert_alike(got, deviation, 1e-7)
        blurred = valid_mean(values, missing, narrow, border, 90, "ignore")
        got = run(
            sepconv,
            given,
            bordered("unsharp:sigma=1,sigma_z=1,amount=2", border),
            "--nodata",
            "nan",
            "--max-memory",
            "3M",
        )
        assert_alike(got, given + 2 * (given - blurred), 1e-11)
        got = run(
            sepconv,
            given,
            bordered("local_normalize:radius=2,radius_y=1,radius_z=3,min_std=1", border),
            "--nodata",
            "nan",
        )
        assert_alike(got, (given - mean) / np.maximum(deviation, 1), 1e-7)


@pytest.mark.parametrize(
    "stage",
    [
        "gaussian:sigma=1,sigma_z=1",
        "box:radius=2,radius_z=2",
        "closing:radius=1,radius_z=1",
        "tophat:radius=2,radius_z=1",
    ],
)
@pytest.mark.parametrize(
    "dtype, nodata", [(np.uint8, 7), (np.uint16, 65535), (np.float32, -9999), (np.float32, np.nan)]
)
def test_what_a_source_declares_is_left_out(sepconv, dtype, nodata, stage):
    values, missing = values_with_holes((24, 17, 13))
    values = stored(values, dtype)
    missing |= values == nodata
    given = np.where(missing, dtype(nodata), values)
    got = run(sepconv, given, f"{stage},border=reflect", "--nodata", nodata)
    assert got.dtype == dtype
    valid = ~(np.isnan(got) if np.isnan(nodata) else got == dtype(nodata))
    np.testing.assert_array_equal(valid, ~missing)
    if stage.startswith(("gaussian", "box")):
        taps = [gaussian_taps(1)] * 3 if stage.startswith("gaussian") else [ones(2)] * 3
        want = valid_mean(values, missing, taps, "reflect", 0, "ignore")
    else:
        sizes = (3, 3, 3) if stage.startswith("closing") else (3, 5, 5)
        want = window_values(values, missing, stage.partition(":")[0], sizes, "reflect", 0, "ignore")
    near = (
        1e-4 if dtype == np.float32 else 1.001 if nodata == 7 else 0.501
    )  # excluding the value that marks missing pixels
    assert np.abs(got[valid].astype(float) - want[valid]).max() <= near


@pytest.mark.parametrize(
    "stage",
    [
        "erode:radius_z=1",
        "opening:radius_z=1",
        "tophat:radius_z=1",
        "subtract:chain=[opening:radius_z=1]",
        "dog:sigma=1,sigma_z=1,sigma2=2,sigma2_z=2",
    ],
)
def test_the_plan_says_that_missing_pixels_are_left_out(sepconv, stage):
    np.save(sepconv.folder / "in.npy", values_with_holes((5, 9, 9), np.float32)[0])
    said = sepconv("plan", "in.npy", "out.npy", stage, "--axes", "zyx", "--nodata", "nan").stdout
    [line] = [line for line in said.splitlines() if line.startswith("lowered to")]
    assert "nodata=ignore" in line


def test_nothing_missing_has_the_bits_of_the_plain_filter(sepconv):
    values, _ = values_with_holes((24, 17, 13), np.float32)
    for stage in FILTERS:
        for border in BORDERS:
            plain = run(sepconv, values, bordered(stage, border))
            for policy in ("ignore", "fill"):
                np.testing.assert_array_equal(
                    run(sepconv, values, f"{bordered(stage, border)},nodata={policy}"), plain
                )
                item = values.copy()
                item[0, 0, 0] = np.nan  # the whole tile is then computed with weights
                got = run(sepconv, item, f"{bordered(stage, border)},nodata={policy}", "--reference")
                reach = len(FILTERS[stage][0]) // 2 + 1  # planes that it does not affect
                np.testing.assert_array_equal(got[reach : 24 - reach], plain[reach : 24 - reach])


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_any_plan_gives_the_same_bits(sepconv, dtype, border):
    values, missing = values_with_holes((31, 40, 50), dtype, share=0.001)
    missing[:, :, :20], missing[:9], missing[20:25] = False, False, True
    values[missing] = 7
    for stages in (
        [
            *map(
                lambda stage: bordered(stage, border),
                ("gaussian:sigma=1,sigma_z=1.5", "dilate:radius=1,radius_z=2"),
            )
        ],
        [
            bordered("box:radius=1,radius_z=3", border) + ",nodata=fill",
            bordered("tophat:radius=1,radius_z=1", border),
        ],
        [
            bordered("dog:sigma=1,sigma2=2,sigma_z=2,sigma2_z=1", border),
            bordered("stddev:radius=1,radius_z=1", border),
        ],
        [f"subtract:chain=[{bordered('binomial:radius_z=1', border)}]", bordered("sobel:axis=z", border)],
    ):
        whole = run(sepconv, values, *stages, "--nodata", 7, "--reference").tobytes()
        for cut in (
            [],
            ["--band-rows", 1],
            ["--band-rows", 4],
            ["--band-rows", 13],
            ["--max-memory", "3M", "--threads", 3],
        ):
            assert run(sepconv, values, *stages, "--nodata", 7, *cut).tobytes() == whole, (stages, cut)


def test_what_cannot_do_without_a_pixel_is_refused(sepconv):
    np.save(sepconv.folder / "in.npy", np.zeros((4, 5, 6), np.float32))
    for stage in (
        "gaussian_laplace:sigma=1,sigma_z=1,nodata=ignore",
        "gradient:axes=xyz,nodata=ignore",
        "sobel:axis=z,nodata=ignore",
    ):
        assert (
            "it is one of propagate"
            in sepconv("run", "in.npy", "out.npy", stage, "--axes", "zyx", status=2).stderr
        )
    for stage in (
        "gaussian:sigma=1,sigma_z=1,order_z=1,nodata=fill",
        "convolve:row=1,2,1,z=-1,0,1,nodata=ignore",
    ):
        assert (
            "use nodata=propagate"
            in sepconv("run", "in.npy", "out.npy", stage, "--axes", "zyx", status=2).stderr
        )


def test_derivatives_along_z_are_missing_wherever_they_touch_what_is(sepconv):
    values, missing = values_with_holes((24, 17, 13), share=0.01)
    got = run(sepconv, np.where(missing, np.nan, values), "sobel:axis=z,border=reflect", "--nodata", "nan")
    np.testing.assert_array_equal(np.isnan(got), ndi.maximum_filter(missing, 3))
    want = ndi.sobel(values, 0)
    np.testing.assert_allclose(got[~np.isnan(got)], want[~np.isnan(got)], atol=1e-10)


def test_a_plan_says_what_is_left_out(sepconv):
    np.save(sepconv.folder / "in.npy", np.zeros((4, 5, 6), np.float32))
    said = sepconv(
        "plan", "in.npy", "out.npy", "box:radius=1,radius_z=1", "sobel:axis=z", "--axes", "zyx", "--nodata", 0
    ).stdout
    assert "nodata=ignore" in said and "nodata=propagate" in said
