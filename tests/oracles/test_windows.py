"""Minimum, maximum, mean and deviation of windows compared with scipy.ndimage and NumPy: values, types,
borders, missing pixels."""

import numpy as np
import pytest
import scipy.ndimage as ndi
from reference import BORDERS, DTYPES, assert_close, random_image

# One pixel, sizes below the radius, primes, and one that is divided into several bands and tiles.
SHAPES = [(1, 1), (1, 9), (3, 2), (37, 53), (211, 307)]
SCIPYS = {
    "erode": ndi.grey_erosion,
    "dilate": ndi.grey_dilation,
    "opening": ndi.grey_opening,
    "closing": ndi.grey_closing,
    "tophat": ndi.white_tophat,
    "blackhat": ndi.black_tophat,
}


def window(name, radius, radius_y, border, value=7):
    return f"{name}:radius={radius},radius_y={radius_y},border={border}" + (
        f",value={value}" if border == "constant" else ""
    )


def extended(image, radius, radius_y, border, value=7):
    mode = {
        "replicate": "edge",
        "reflect": "symmetric",
        "reflect101": "reflect",
        "constant": "constant",
        "wrap": "wrap",
    }[border]
    return np.pad(
        image,
        ((radius_y, radius_y), (radius, radius)),
        mode,
        **({"constant_values": value} if border == "constant" else {}),
    )


def deviation(image, radius, radius_y, border):
    views = np.lib.stride_tricks.sliding_window_view(
        extended(image.astype(np.float64), radius, radius_y, border), (2 * radius_y + 1, 2 * radius + 1)
    )
    return views.std(axis=(2, 3))


@pytest.mark.parametrize("name", SCIPYS)
@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_morphology_is_scipys_to_the_bit(sepconv, name, border, shape):
    image = random_image(shape)
    for radius, radius_y in [(1, 1), (4, 9), (30, 0)]:
        expected = SCIPYS[name](image, size=(2 * radius_y + 1, 2 * radius + 1), mode=BORDERS[border], cval=7)
        np.testing.assert_array_equal(sepconv.filter(image, window(name, radius, radius_y, border)), expected)


@pytest.mark.parametrize("name", SCIPYS)
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())
def test_types_and_channels(sepconv, name, dtype, channels):
    image = random_image((61, 47, channels), dtype)
    wide = image.astype(np.int64) if np.issubdtype(dtype, np.integer) else image
    expected = SCIPYS[name](wide, size=(5, 7, 1), mode="reflect")
    if np.issubdtype(dtype, np.integer):
        expected = np.clip(expected, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
    actual = sepconv.filter(
        image if channels > 1 else image[:, :, 0], f"{name}:radius=3,radius_y=2,border=reflect"
    )
    np.testing.assert_array_equal(actual.reshape(image.shape), expected)


@pytest.mark.parametrize("radius", [1, 2, 8, 100, 1000])
def test_radii_beyond_the_image(sepconv, radius):
    image = random_image((64, 97), np.float32)
    np.testing.assert_array_equal(
        sepconv.filter(image, f"erode:radius={radius}"),
        ndi.grey_erosion(image, size=2 * radius + 1, mode="mirror"),
    )
    mean = ndi.uniform_filter(image.astype(np.float64), 2 * radius + 1, mode="mirror")
    assert_close(sepconv.filter(image, f"box:radius={radius}"), mean, np.float32)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())
def test_deviations(sepconv, border, dtype):
    image = random_image((37, 53), dtype)
    for radius, radius_y in [(1, 1), (6, 2), (40, 0)]:
        assert_close(
            sepconv.filter(image, window("stddev", radius, radius_y, border)),
            deviation(image, radius, radius_y, border),
            dtype,
        )


def test_deviations_of_large_values(sepconv):
    """docs/maths.md: with q = |mean| / deviation the relative error of the variance is about q^2 2^-50."""
    image = random_image((60, 70)) + 1e5
    expected = deviation(image, 4, 4, "reflect101")
    np.testing.assert_allclose(sepconv.filter(image, "stddev:radius=4"), expected, rtol=1e10 * 2.0**-50)
    small = image.astype(np.float32)
    np.testing.assert_allclose(
        sepconv.filter(small, "stddev:radius=4"), deviation(small, 4, 4, "reflect101"), rtol=1e10 * 2.0**-50
    )
    assert (sepconv.filter(np.full((9, 9), 3.7), "stddev:radius=2") < 1e-7).all()


@pytest.mark.parametrize("least", [0, 0.9])
def test_contrast(sepconv, least):
    image = random_image((40, 50))
    image[5:20, 5:20] = 2
    mean, deviates = ndi.uniform_filter(image, 7, mode="mirror"), deviation(image, 3, 3, "reflect101")
    result = sepconv.filter(image, f"local_normalize:radius=3,min_std={least}")
    varied = deviates > 1e-6
    np.testing.assert_allclose(
        result[varied], (image - mean)[varied] / np.maximum(deviates, least)[varied], rtol=1e-9, atol=1e-9
    )
    assert (result[8:17, 8:17] == 0).all()


def test_a_constant_stays_what_it_is(sepconv):
    for dtype, value in [(np.uint8, 255), (np.uint16, 40000), (np.float32, 0.125), (np.float64, 0.125)]:
        image = np.full((50, 60), value, dtype)
        np.testing.assert_array_equal(
            sepconv.filter(image, "box:radius=1"), image
        )  # sums of such values are exact
        np.testing.assert_allclose(sepconv.filter(image, "box:radius=20"), image, rtol=1e-6)


@pytest.mark.parametrize("policy", ["ignore", "fill", "propagate"])
@pytest.mark.parametrize("radius", [1, 5, 40])
def test_means_of_the_largest_values_are_finite(sepconv, radius, policy):
    """The sum exceeds f32."""
    image = random_image((37, 53), np.float32) + np.float32(2)
    image *= np.float32(3e38) / image.max()
    image[5:7, 9] = np.finfo(np.float32).min
    mean = ndi.uniform_filter(image.astype(np.float64), 2 * radius + 1, mode="mirror")
    np.testing.assert_allclose(
        sepconv.filter(image, f"box:radius={radius},nodata={policy}"), mean, rtol=1e-6, atol=1e32
    )
    np.testing.assert_array_equal(
        sepconv.filter(image * np.float32(2.0**-100), f"box:radius={radius},nodata={policy}"),
        sepconv.filter(image, f"box:radius={radius},nodata={policy}") * np.float32(2.0**-100),
    )


@pytest.mark.parametrize("policy", ["ignore", "fill", "propagate"])
@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("name", ["erode", "dilate", "opening", "box", "stddev"])
def test_missing_pixels(sepconv, name, border, policy):
    image = random_image((41, 67))
    image[np.random.default_rng(3).random(image.shape) < 0.2] = np.nan
    image[20:30, 20:30] = np.nan

    def of(values, numpys):
        views = np.lib.stride_tricks.sliding_window_view(extended(values, 3, 2, border), (5, 7)).reshape(
            *image.shape, -1
        )
        missing = np.isnan(views)
        empty = missing.all(-1) if policy != "propagate" else missing.any(-1)
        result = np.where(empty, np.nan, numpys(np.where(empty[..., None], 0, views), axis=-1))
        return np.where(np.isnan(values), np.nan, result) if policy == "ignore" else result

    steps = {
        "erode": [np.nanmin],
        "dilate": [np.nanmax],
        "opening": [np.nanmin, np.nanmax],
        "box": [np.nanmean],
        "stddev": [np.nanstd],
    }[name]
    expected = image
    for step in steps:
        expected = of(expected, step)
    actual = sepconv.filter(image, f"{window(name, 3, 2, border)},nodata={policy}")
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)
