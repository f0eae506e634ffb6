"""median, percentile and rank compared with scipy.ndimage: equal values; with missing pixels compared with
NumPy, window by window."""

import numpy as np
import pytest
import scipy.ndimage as ndi
from reference import BORDERS, DTYPES, random_image

SHAPES = [(1, 1), (1, 9), (3, 2), (37, 53), (211, 307)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("radius, radius_y", [(1, 1), (2, 2), (5, 1), (0, 4), (9, 12)])
def test_median(sepconv, shape, border, radius, radius_y):
    image = random_image(shape, np.uint8)
    value = ",value=7" if border == "constant" else ""
    actual = sepconv.filter(image, f"median:radius={radius},radius_y={radius_y},border={border}{value}")
    expected = ndi.median_filter(image, (2 * radius_y + 1, 2 * radius + 1), mode=BORDERS[border], cval=7)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())
@pytest.mark.parametrize(
    "stage, function",
    [
        ("median:radius=3", lambda x: ndi.median_filter(x, (7, 7, 1), mode="mirror")),
        (
            "percentile:percent=12.5,radius=2,radius_y=4,border=replicate",
            lambda x: ndi.percentile_filter(x, 12.5, (9, 5, 1), mode="nearest"),
        ),
        (
            "percentile:percent=100,size=4x6",
            lambda x: ndi.percentile_filter(x, 100, (6, 4, 1), mode="mirror"),
        ),
        (
            "rank:rank=-3,radius=1,origin=-1,origin_y=1,border=wrap",
            lambda x: ndi.rank_filter(x, -3, (3, 3, 1), mode="wrap", origin=(1, -1, 0)),
        ),
        (
            "rank:rank=17,size=3x20,origin_y=9,border=reflect",
            lambda x: ndi.rank_filter(x, 17, (20, 3, 1), mode="reflect", origin=(9, 0, 0)),
        ),
        ("median:radius=14", lambda x: ndi.median_filter(x, (29, 29, 1), mode="mirror")),
    ],
)
def test_types_and_channels(sepconv, dtype, stage, function):
    image = random_image((41, 67, 3), dtype)
    np.testing.assert_array_equal(sepconv.filter(image, stage), function(image))


def test_a_border_that_the_type_does_not_have(sepconv):
    image = random_image((20, 30), np.uint8)
    expected = ndi.median_filter(image.astype("f8"), 5, mode="constant", cval=7.5)
    np.testing.assert_array_equal(
        sepconv.filter(image, "median:radius=2,border=constant,value=7.5"), np.rint(expected)
    )


def ranked(image, missing, radius, of, policy):
    """The value of rank int((2 of N + 1) n / (2 N)) of the n valid pixels; NaN is missing."""
    values = np.where(missing, np.nan, image.astype("f8"))
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(values, radius, "reflect"), (2 * radius + 1,) * 2
    )
    windows = np.sort(windows.reshape(*image.shape, -1), axis=-1)  # NaN last
    area, valid = windows.shape[-1], np.isfinite(windows).sum(-1)
    rank = (2 * of(area) + 1) * valid // (2 * area)
    result = np.take_along_axis(windows, np.maximum(rank, 0)[..., None], -1)[..., 0]
    result[valid == 0] = np.nan
    if policy == "propagate":
        result[valid < area] = np.nan
    if policy == "ignore":
        result[missing] = np.nan
    return result


@pytest.mark.parametrize(
    "dtype, nodata",
    [(np.uint8, 9), (np.uint16, 9), (np.int16, -3), (np.float32, -9999), (np.float64, np.nan)],
)
@pytest.mark.parametrize("policy", ["ignore", "fill", "propagate"])
@pytest.mark.parametrize(
    "stage, of",
    [
        ("median:radius=2", lambda n: n // 2),
        ("percentile:percent=80,radius=3", lambda n: int(n * 0.8)),
        ("rank:rank=0,radius=1", lambda n: 0),
    ],
)
def test_missing_pixels(sepconv, dtype, nodata, policy, stage, of):
    random = np.random.default_rng(6)
    image = random.integers(20, 250, (61, 83)).astype(dtype)
    missing = random.random(image.shape) < 0.1
    missing[10:30, 20:50] = True
    image[missing] = nodata
    radius = int(stage[-1])
    actual = sepconv.filter(image, f"{stage},nodata={policy}", options=("--nodata", nodata))
    expected = ranked(image, missing, radius, of, policy)
    gone = np.isnan(expected)
    assert gone.any() and not gone.all()
    np.testing.assert_array_equal(np.where(gone, 0, expected), np.where(gone, 0, actual))
    np.testing.assert_array_equal(actual[gone], np.full(gone.sum(), nodata, dtype))


def test_nan_that_nobody_declared_makes_its_windows_nan(sepconv):
    image = random_image((40, 50), np.float32)
    image[20, 30] = np.nan
    actual = sepconv.filter(image, "median:radius=2")
    expected = ndi.median_filter(np.nan_to_num(image), 5, mode="mirror")
    expected[18:23, 28:33] = np.nan
    np.testing.assert_array_equal(actual, expected)
