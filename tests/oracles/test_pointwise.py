"""Stages that need one pixel each, and the rounding on storing, compared with NumPy."""

import numpy as np
import pytest
from reference import DTYPES, assert_close, random_image, stored

FORMULAE = {
    "scale:factor=1.7,offset=-20": lambda x: 1.7 * x - 20,
    "clamp:low=-3,high=77": lambda x: np.clip(x, -3, 77),
    "abs": np.abs,
    "threshold:at=60,above=200,below=10": lambda x: np.where(x > 60, 200.0, 10.0),
}


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())
@pytest.mark.parametrize("stage", FORMULAE)
def test_formula(sepconv, stage, dtype):
    image = random_image((31, 45, 3), dtype)
    assert_close(sepconv.filter(image, stage), FORMULAE[stage](image.astype(np.float64)), dtype)


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_cast_rounds_half_to_even_and_saturates(sepconv, source, target):
    image = random_image((20, 20), DTYPES[source], seed=1)
    if source.startswith("f"):  # ties, and values beyond every range
        image = (np.arange(-400, 400, dtype=DTYPES[source]).reshape(20, 40) / 2) * np.array(
            [[1], [500]] * 10, DTYPES[source]
        )
    actual = sepconv.filter(image, f"cast:type={target}")
    np.testing.assert_array_equal(actual, stored(image, DTYPES[target]))


def test_not_a_number_and_infinity(sepconv):
    image = np.array([[np.nan, np.inf, -np.inf, 1.5]], np.float32)
    np.testing.assert_array_equal(sepconv.filter(image, "cast:type=u8"), [[0, 255, 0, 2]])
    np.testing.assert_array_equal(sepconv.filter(image, "abs"), [[np.nan, np.inf, np.inf, 1.5]])


def test_matrix_mixes_channels(sepconv):
    image = random_image((31, 45, 3), np.float32)
    matrix = random_image((2, 4), np.float64, seed=9)
    np.save(sepconv.folder / "matrix.npy", matrix)
    actual = sepconv.filter(image, "mix_channels:file=matrix.npy")
    assert_close(actual, image.astype(np.float64) @ matrix[:, :3].T + matrix[:, 3], np.float32)


def test_matrix_to_grey(sepconv):
    image = random_image((31, 45, 3), np.uint8)
    actual = sepconv.filter(image, "mix_channels:values=0.299,0.587,0.114")
    assert_close(actual.reshape(31, 45), image.astype(np.float64) @ [0.299, 0.587, 0.114], np.uint8)


def test_one_rounding_at_the_end_of_a_chain(sepconv):
    image = random_image((31, 45), np.uint8)
    actual = sepconv.filter(image, "scale:factor=0.001", "scale:factor=1000")
    np.testing.assert_array_equal(actual, image)
