"""The stage gemm compared with NumPy's product of the whole image: both sides, every type, channels, chains,
and any division into bands."""

import numpy as np
import pytest
import scipy.ndimage as ndi
from reference import DTYPES, random_image, stored


def small_integers(shape, dtype, limit, seed=0):
    return (
        np.random.default_rng(seed)
        .integers(-limit if np.dtype(dtype).kind != "u" else 0, limit, shape, endpoint=True)
        .astype(dtype)
    )


def saved(sepconv, name, matrix):
    np.save(sepconv.folder / name, matrix)
    return name


def on_the_right(image, matrix):
    """Columns and channels of a row form one row of the product."""
    return image.reshape(image.shape[0], -1).astype(np.float64) @ matrix.astype(np.float64)


def on_the_left(matrix, image):
    """Each channel is a separate matrix."""
    return np.tensordot(matrix.astype(np.float64), image.astype(np.float64), axes=(1, 0))


@pytest.mark.parametrize("matrix_type", [np.float32, np.float64])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())
def test_small_integers_are_exact(sepconv, dtype, channels, matrix_type):
    image = small_integers((37, 29, channels), dtype, 9)
    right = saved(sepconv, "right.npy", small_integers((29 * channels, 31), matrix_type, 4, seed=1))
    left = saved(sepconv, "left.npy", small_integers((23, 37), matrix_type, 4, seed=2))
    given = image if channels > 1 else image[:, :, 0]
    expected = stored(on_the_right(image, np.load(sepconv.folder / right)), dtype)
    np.testing.assert_array_equal(sepconv.filter(given, f"gemm:file={right}"), expected)
    expected = stored(on_the_left(np.load(sepconv.folder / left), given), dtype)
    np.testing.assert_array_equal(sepconv.filter(given, f"gemm:file={left},side=left"), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_any_numbers(sepconv, dtype):
    """NumPy adds in another order: both errors are at most k rounding units of the sum of magnitudes."""
    image, matrix = random_image((70, 500), dtype), random_image((500, 90), dtype, seed=1)
    actual = sepconv.filter(image, f"gemm:file={saved(sepconv, 'b.npy', matrix)}")
    bound = 500 * np.finfo(dtype).eps * (np.abs(image.astype(np.float64)) @ np.abs(matrix.astype(np.float64)))
    assert actual.dtype == dtype
    assert (np.abs(actual - image.astype(np.float64) @ matrix.astype(np.float64)) <= bound).all()
    actual = sepconv.filter(
        image, f"gemm:side=left,file={saved(sepconv, 'a.npy', random_image((80, 70), dtype, seed=2))}"
    )
    left = np.load(sepconv.folder / "a.npy").astype(np.float64)
    bound = 70 * np.finfo(dtype).eps * (np.abs(left) @ np.abs(image.astype(np.float64)))
    assert (np.abs(actual - left @ image) <= bound).all()


def test_in_chains_with_convolution_and_transposes(sepconv):
    image = random_image((61, 47))
    right = saved(sepconv, "right.npy", random_image((47, 40), seed=1))
    left = saved(sepconv, "left.npy", random_image((33, 61), seed=2))
    b, a = np.load(sepconv.folder / right), np.load(sepconv.folder / left)

    def blur(x):
        return ndi.gaussian_filter(x, 1.5, mode="mirror")

    chains = {
        ("gaussian:sigma=1.5", f"gemm:file={right}", "gaussian:sigma=1.5"): blur(blur(image) @ b),
        ("gaussian:sigma=1.5", f"gemm:file={left},side=left", "gaussian:sigma=1.5"): blur(a @ blur(image)),
        (f"gemm:file={left},side=left", f"gemm:file={right}", "abs"): np.abs(a @ image @ b),
        (f"gemm:file={right}", "transpose", "gaussian:sigma=1.5"): blur((image @ b).T),
    }
    for stages, expected in chains.items():
        for options in [
            (),
            ("--band-rows", 7),
            ("--band-rows", 5, "--band-cols", 16, "--slots", 1),
            ("--threads", 1),
        ]:
            actual = sepconv.filter(image, *stages, options=options)
            np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    b = random_image((61, 20), seed=3)
    actual = sepconv.filter(image, "transpose", f"gemm:file={saved(sepconv, 'turned.npy', b)}", "transpose")
    np.testing.assert_allclose(actual, (image.T @ b).T, rtol=0, atol=1e-11 * np.abs(actual).max())


def test_transposes_around_a_product_of_three_channels(sepconv):
    image = small_integers((19, 13, 3), np.uint8, 9)
    right = saved(sepconv, "right.npy", small_integers((19 * 3, 11), np.float32, 3, seed=1))
    left = saved(sepconv, "left.npy", small_integers((17, 13), np.float32, 3, seed=2))
    transposed = image.transpose(1, 0, 2)
    cast = "cast:type=i16"
    expected = on_the_right(transposed, np.load(sepconv.folder / right))
    np.testing.assert_array_equal(sepconv.filter(image, cast, "transpose", f"gemm:file={right}"), expected)
    np.testing.assert_array_equal(
        sepconv.filter(image, cast, "transpose", f"gemm:file={right}", "transpose"), expected.T
    )
    expected = on_the_left(np.load(sepconv.folder / left), transposed)
    np.testing.assert_array_equal(
        sepconv.filter(image, cast, "transpose", f"gemm:file={left},side=left"), expected
    )
    np.testing.assert_array_equal(
        sepconv.filter(image, cast, "transpose", f"gemm:file={left},side=left", "transpose"),
        expected.transpose(1, 0, 2),
    )


def test_a_matrix_of_one_row_or_column(sepconv):
    image = small_integers((20, 1), np.float32, 9)
    row = saved(sepconv, "row.npy", np.arange(5, dtype=np.float32))
    np.testing.assert_array_equal(
        sepconv.filter(image, f"gemm:file={row}"), image @ np.arange(5, dtype=np.float32)[None]
    )
    ones = saved(sepconv, "ones.npy", np.ones((1, 20), np.float64))
    np.testing.assert_array_equal(
        sepconv.filter(image, f"gemm:file={ones},side=left"), image.sum(0, keepdims=True)
    )


@pytest.mark.parametrize(
    "matrix, words",
    [
        (np.ones((9, 4), np.float32), ["9 rows x 4 columns", "20 rows x 30 columns", "30 rows"]),
        (np.ones((30, 4), np.uint8), ["bad.npy", "f32 or f64"]),
        (np.ones((30, 4, 2), np.float32), ["bad.npy", "a matrix has two"]),
    ],
)
def test_a_matrix_that_does_not_fit(sepconv, matrix, words):
    np.save(sepconv.folder / "in.npy", random_image((20, 30), np.float32))
    process = sepconv("run", "in.npy", "out.npy", f"gemm:file={saved(sepconv, 'bad.npy', matrix)}", status=2)
    assert process.stderr.count("\n") == 1 and all(word in process.stderr for word in words), process.stderr
    assert not (sepconv.folder / "out.npy").exists()


def test_a_matrix_that_is_not_there(sepconv):
    np.save(sepconv.folder / "in.npy", random_image((20, 30), np.float32))
    process = sepconv("run", "in.npy", "out.npy", "gemm:file=none.npy", status=1)
    assert "none.npy" in process.stderr and process.stderr.count("\n") == 1
