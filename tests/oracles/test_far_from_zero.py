"""Deviations far from 0, where the mean of squares minus the square of the mean is inexact: compared with
NumPy after subtracting the offset."""

import itertools
import json

import numpy as np
import pytest

from reference import BORDERS

PADS = {
    "replicate": "edge",
    "reflect": "symmetric",
    "reflect101": "reflect",
    "constant": "constant",
    "wrap": "wrap",
}
OFFSETS = [1e6, 3e9, -1e12, 1e15]  # minus them, the values are small integers


def windows(image, radii, border):
    extended = np.pad(image, [(r, r) for r in radii], PADS[border])
    return np.lib.stride_tricks.sliding_window_view(extended, [2 * r + 1 for r in radii])


def near(shape, seed=5):
    return np.rint(np.random.default_rng(seed).normal(0, 8, shape))


def moments(image, radii, border):
    """The deviation of each window, and the pixel minus the mean, divided by it."""
    seen = windows(image, radii, border)
    axes = tuple(range(image.ndim, 2 * image.ndim))
    with np.errstate(all="ignore"):
        mean = np.nanmean(seen, axis=axes)
        deviation = np.sqrt(np.nanmean((seen - mean.reshape(mean.shape + (1,) * image.ndim)) ** 2, axis=axes))
        return deviation, (image - mean) / deviation


@pytest.mark.parametrize("border", sorted(set(BORDERS) - {"constant"}))
def test_std_and_normalize_are_exact_for_any_offset(sepconv, border):
    image = near((61, 83))
    for offset, (radius, radius_y) in zip(OFFSETS, itertools.cycle([(3, 3), (9, 2)])):
        deviation, contrast = moments(image, (radius_y, radius), border)
        keys = f"radius={radius},radius_y={radius_y},border={border}"
        whole = sepconv.filter(image + offset, f"stddev:{keys}")
        np.testing.assert_allclose(whole, deviation, rtol=1e-9)
        np.testing.assert_allclose(
            sepconv.filter(image + offset, f"local_normalize:{keys}"), contrast, atol=1e-9
        )
        parts = sepconv.filter(image + offset, f"stddev:{keys}", options=("--band-rows", 7, "--threads", 2))
        np.testing.assert_array_equal(parts, whole)


@pytest.mark.parametrize(
    "dtype, offset",
    [
        (np.uint32, 4_294_960_000),
        (np.int32, -2_147_480_000),
        (np.uint16, 65400),
        (np.float32, 1.6e7),
        (np.int64, 1 << 52),
    ],
)
def test_types_at_the_end_of_what_they_hold(sepconv, dtype, offset):
    image = near((40, 50))
    actual = sepconv.filter((image + offset).astype(dtype), "stddev:radius=2", "cast:type=f64")
    np.testing.assert_allclose(actual, moments(image, (2, 2), "reflect101")[0], rtol=1e-6)


@pytest.mark.parametrize("offset", [0, 1e9, 1e15])
def test_missing_pixels_have_no_part(sepconv, offset):
    image = near((40, 50))
    image[np.random.default_rng(1).random(image.shape) < 0.3] = np.nan
    image[:12, :12] = np.nan
    actual = sepconv.filter(image + offset, "stddev:radius=2,nodata=fill", options=("--nodata", "nan"))
    np.testing.assert_allclose(actual, moments(image, (2, 2), "reflect101")[0], rtol=1e-9, atol=1e-12)


def test_an_edge_between_two_offsets(sepconv):
    image = near((40, 60))
    far = image + np.where(np.arange(60) < 30, 0, 1e9)
    actual, expected = sepconv.filter(far, "stddev:radius=2"), moments(image, (2, 2), "reflect101")[0]
    np.testing.assert_allclose(actual[:, :28], expected[:, :28], rtol=1e-9)
    np.testing.assert_allclose(actual[:, 32:], expected[:, 32:], rtol=1e-9)


def test_flat_areas_have_no_deviation(sepconv):
    image = np.full((50, 60), 0.1, np.float32)
    image[20, 30] = 7
    actual = sepconv.filter(image, "stddev:radius=4")
    seen = windows(image.astype(np.float64), (4, 4), "reflect101")
    np.testing.assert_array_equal(actual == 0, (seen == seen[..., :1, :1]).all(axis=(2, 3)))
    np.testing.assert_allclose(actual, seen.std(axis=(2, 3)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype, top", [(np.uint8, 255), (np.uint16, 65535), (np.int16, -32000)])
def test_whole_numbers_have_the_same_bits_in_any_type(sepconv, dtype, top):
    image = np.full((90, 110), top, dtype)
    image[70:, 80:] -= np.random.default_rng(2).integers(0, 3, (20, 30)).astype(dtype)
    for stage in ["stddev:radius=3", "stddev:radius=24", "local_normalize:radius=24"]:
        expected = sepconv.filter(image, stage, "cast:type=f64")
        np.testing.assert_array_equal(
            sepconv.filter(image.astype(np.float32), stage, "cast:type=f64"), expected
        )
        np.testing.assert_array_equal(sepconv.filter(image.T, "transpose", stage, "cast:type=f64"), expected)


@pytest.mark.parametrize("border", ["reflect101", "wrap", "replicate"])
def test_volumes(sepconv, border):
    volume = near((7, 20, 24))
    for offset in [0, 3e9, 1e15]:
        np.save(sepconv.folder / "in.npy", volume + offset)
        results = {}
        for name in ["stddev", "local_normalize"]:
            stage = f"{name}:radius=2,radius_y=1,radius_z=1,border={border}"
            sepconv("run", "in.npy", f"{name}.npy", stage, "--axes", "zyx", "--quiet", "--force")
            results[name] = np.load(sepconv.folder / f"{name}.npy")
        deviation, contrast = moments(volume, (1, 1, 2), border)
        np.testing.assert_allclose(results["stddev"], deviation, rtol=1e-9)
        np.testing.assert_allclose(results["local_normalize"], contrast, atol=1e-9)


@pytest.mark.parametrize("offset", [1e9, 1e15])
def test_stats_of_a_file(sepconv, offset):
    image = near((700, 301))
    np.save(sepconv.folder / "in.npy", image + offset)
    (channel,) = json.loads(sepconv("stats", "in.npy", "--json").stdout)["channels"]
    assert channel["deviation"] == pytest.approx(image.std(), rel=1e-9)
    assert channel["mean"] == pytest.approx(offset + image.mean(), rel=1e-15)
