"""Features, guided, local_range, math and kernels, compared with NumPy, SciPy and scikit-image."""

import numpy as np
import pytest
import scipy.ndimage as ndi
import tifffile
from reference import BORDERS, assert_close, random_image, stored
from skimage import feature

SHAPES = [(1, 1), (1, 9), (3, 2), (37, 53), (211, 307)]
BORDER_NAMES = [*BORDERS]


def matrix_eigenvalues(xx, xy, yy):
    """The larger and the smaller one."""
    matrix = np.stack([np.stack([xx, xy], -1), np.stack([xy, yy], -1)], -1)
    return np.moveaxis(np.linalg.eigvalsh(matrix)[..., ::-1], -1, 0)


def hessian(image, sigma, border):
    def derivative(order):
        return ndi.gaussian_filter(image.astype("f8"), sigma, order=order, mode=BORDERS[border])

    return derivative((0, 2)), derivative((1, 1)), derivative((2, 0))


def structure_tensor(image, sigma, border):
    mode = BORDERS[border]
    x, y = (ndi.sobel(image.astype("f8"), axis=axis, mode=mode) for axis in (1, 0))
    return tuple(ndi.gaussian_filter(product, sigma, mode=mode) for product in (x * x, x * y, y * y))


TENSORS = {"hessian": hessian, "structure_tensor": structure_tensor}


@pytest.mark.parametrize("border", BORDER_NAMES)
@pytest.mark.parametrize("name", [*TENSORS])
def test_tensors(sepconv, name, border):
    for shape in SHAPES:
        image = random_image(shape, seed=3)
        elements = dict(zip(("xx", "xy", "yy"), TENSORS[name](image, 1.5, border)))
        larger, smaller = matrix_eigenvalues(*elements.values())
        stage = f"{name}:sigma=1.5,border={border}"
        for element, expected in elements.items():
            result = sepconv.filter(image, f"{stage},element={element}")
            np.testing.assert_allclose(result, expected, atol=1e-11, err_msg=element)
        for number, expected in ((1, larger), (2, smaller)):
            result = sepconv.filter(image, f"{stage},eigenvalue={number}")
            np.testing.assert_allclose(result, expected, atol=1e-11)
        if name == "hessian":
            expected = elements["xx"] * elements["yy"] - elements["xy"] ** 2
            np.testing.assert_allclose(
                sepconv.filter(image, f"{stage},determinant=true"), expected, atol=1e-11
            )
        else:
            total = larger + smaller
            expected = np.where(total > 0, (larger - smaller) / np.where(total > 0, total, 1), 0) ** 2
            np.testing.assert_allclose(sepconv.filter(image, f"{stage},coherence=true"), expected, atol=1e-9)


def test_a_flat_image_has_no_coherence(sepconv):
    flat = np.full((20, 30), 7.0)
    assert (sepconv.filter(flat, "structure_tensor:sigma=2,coherence=true") == 0).all()


def test_the_structure_tensor_is_that_of_scikit_image(sepconv):
    image = random_image((60, 70), seed=4)
    yy, xy, xx = feature.structure_tensor(image, sigma=2, mode="mirror", order="rc")
    for element, expected in (("xx", xx), ("xy", xy), ("yy", yy)):
        result = sepconv.filter(image, f"structure_tensor:sigma=2,element={element}")
        # scikit-image's Sobel filter is a quarter of SciPy's in some versions.
        factor = (result * expected).sum() / (expected * expected).sum()
        np.testing.assert_allclose(factor, round(factor), rtol=1e-9)
        np.testing.assert_allclose(result, factor * expected, atol=1e-9)


@pytest.mark.parametrize("ridges", ["bright", "dark"])
@pytest.mark.parametrize("border", BORDER_NAMES)
def test_tubeness(sepconv, border, ridges):
    image = random_image((61, 83), seed=5)
    expected = np.zeros(image.shape)
    for sigma in (1, 2.5):
        larger, smaller = matrix_eigenvalues(*hessian(image, sigma, border))
        across = larger if ridges == "dark" else -smaller
        expected = np.maximum(expected, sigma**2 * np.maximum(across, 0))
    result = sepconv.filter(image, f"sato:sigmas=1,2.5,truncate=4,ridges={ridges},border={border}")
    np.testing.assert_allclose(result, expected, atol=1e-11)


@pytest.mark.parametrize("border", BORDER_NAMES)
def test_guided_filter(sepconv, border):
    def mean(values):
        return ndi.uniform_filter(values, 7, mode=BORDERS[border])

    image = random_image((61, 83), seed=6)
    local = mean(image)
    variance = mean(image * image) - local * local
    gain = variance / (variance + 0.3)
    expected = mean(gain) * image + mean(local - gain * local)
    result = sepconv.filter(image, f"guided:radius=3,eps=0.3,border={border}")
    np.testing.assert_allclose(result, expected, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32])
def test_range(sepconv, dtype):
    image = random_image((61, 83), dtype, seed=7)
    for border in BORDER_NAMES:
        expected = ndi.maximum_filter(image, (5, 7), mode=BORDERS[border]).astype("f8") - ndi.minimum_filter(
            image, (5, 7), mode=BORDERS[border]
        )
        result = sepconv.filter(image, f"local_range:radius=3,radius_y=2,border={border}")
        np.testing.assert_array_equal(result, stored(expected, dtype))


EXPRESSIONS = {
    "(b2-b1)/(b2+b1)": lambda x: (x[..., 1] - x[..., 0]) / (x[..., 1] + x[..., 0]),
    "(x-20)*1.5": lambda x: (x - 20) * 1.5,
    "[where(b1>=b3,max(b1,b2),-b3)]": lambda x: np.where(
        x[..., 0] >= x[..., 2], np.maximum(x[..., 0], x[..., 1]), -x[..., 2]
    ),
    "sqrt(abs(b1))-2*(b2!=b3)": lambda x: np.sqrt(np.abs(x[..., 0])) - 2 * (x[..., 1] != x[..., 2]),
    "[min(x,b1)/-3]": lambda x: np.minimum(x, x[..., :1]) / -3,
}


@pytest.mark.parametrize("expression", [*EXPRESSIONS])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64])
def test_math(sepconv, expression, dtype):
    image = random_image((37, 301, 3), dtype, seed=8)
    arithmetic = np.float64 if dtype == np.float64 else np.float32
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = EXPRESSIONS[expression](image.astype(arithmetic))
    kind = "f64" if arithmetic == np.float64 else "f32"
    result = sepconv.filter(image, f"math:expr={expression}", f"cast:type={kind}")
    np.testing.assert_array_equal(result.reshape(expected.shape), expected.astype(arithmetic))


def test_math_leaves_missing_pixels_out(sepconv):
    image = random_image((20, 30, 2), np.float32, seed=9)
    image[3, 4, 0] = image[5, 6, 1] = np.nan
    result = sepconv.filter(image, "math:expr=b1*2").reshape(20, 30)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(image[..., 0]))
    filled = sepconv.filter(image, "math:expr=[where(isnan(b1),-1,b1)]").reshape(20, 30)
    np.testing.assert_array_equal(filled, np.where(np.isnan(image[..., 0]), -1, image[..., 0]))


KERNELS = {
    "one": np.array([[2.0]]),
    "laplace": np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0.0]]),
    "wide": np.random.default_rng(1).normal(size=(3, 11)),
    "tall": np.random.default_rng(2).uniform(size=(9, 5)),
    "ring": np.hypot(*np.mgrid[-6:7, -6:7]).round() == 5,
}


def text_of(kernel):
    return "[" + ",".join("[" + ",".join(f"{weight:.17g}" for weight in row) + "]" for row in kernel) + "]"


@pytest.mark.parametrize("name", [*KERNELS])
@pytest.mark.parametrize("border", BORDER_NAMES)
def test_any_kernel(sepconv, border, name):
    kernel = KERNELS[name].astype("f8")
    kernel /= np.abs(kernel).sum()
    stage = f"correlate:kernel={text_of(kernel)},border={border}"
    for shape in SHAPES:
        for dtype in (np.uint8, np.float32, np.float64):
            image = random_image(shape, dtype, seed=3)
            wanted = image.astype("f8")
            expected = ndi.correlate(wanted, kernel, mode=BORDERS[border])
            assert_close(sepconv.filter(image, stage), expected, dtype)
            expected = ndi.convolve(wanted, kernel, mode=BORDERS[border])
            assert_close(sepconv.filter(image, stage + ",flip=true"), expected, dtype)


def test_a_kernel_from_a_file_and_a_transposed_image(sepconv, tmp_path):
    kernel = KERNELS["tall"]
    np.save(tmp_path / "kernel.npy", kernel)
    image = random_image((90, 71, 3), seed=4)
    expected = np.stack([ndi.correlate(image[..., c], kernel, mode="mirror") for c in range(3)], -1)
    by_file = sepconv.filter(image, f"correlate:file={tmp_path}/kernel.npy")
    np.testing.assert_allclose(by_file, expected, atol=1e-12)
    turned = sepconv.filter(
        np.ascontiguousarray(image.transpose(1, 0, 2)), "transpose", f"correlate:kernel={text_of(kernel)}"
    )
    np.testing.assert_array_equal(turned, by_file)


def test_a_kernel_leaves_missing_pixels_out(sepconv):
    kernel = KERNELS["tall"]
    image = random_image((60, 70), seed=5)
    image[10:13, 20:40] = image[30, 30] = np.nan
    valid = ~np.isnan(image)
    total = ndi.correlate(np.where(valid, image, 0), kernel, mode="nearest")
    weight = ndi.correlate(valid.astype("f8"), kernel, mode="nearest") / kernel.sum()
    stage = f"correlate:kernel={text_of(kernel)},border=replicate"
    filled = total / weight
    np.testing.assert_allclose(sepconv.filter(image, stage + ",nodata=fill"), filled, atol=1e-12)
    expected = np.where(valid, filled, np.nan)
    np.testing.assert_allclose(sepconv.filter(image, stage + ",nodata=ignore"), expected, atol=1e-12)
    missing = np.isnan(sepconv.filter(image, stage + ",nodata=propagate"))
    np.testing.assert_array_equal(missing, ndi.binary_dilation(~valid, np.ones((9, 5))))


def test_a_kernel_as_a_sum_of_separable_ones(sepconv):
    y, x = np.mgrid[-7:8, -7:8] / 3.0
    kernel = np.exp(-(x**2) - y**2) * (1 - x**2 - y**2)  # rank 2
    image = random_image((90, 71), seed=6)
    stage = f"correlate:kernel={text_of(kernel)}"
    exact = ndi.correlate(image, kernel, mode="mirror")
    np.testing.assert_allclose(sepconv.filter(image, stage), exact, atol=1e-12)
    np.testing.assert_allclose(sepconv.filter(image, stage + ",terms=2,tolerance=1e-12"), exact, atol=1e-11)
    rough = sepconv.filter(image, stage + ",terms=1,tolerance=1")
    left, values, right = np.linalg.svd(kernel)
    one = values[0] * np.outer(left[:, 0], right[0])
    np.testing.assert_allclose(rough, ndi.correlate(image, one, mode="mirror"), atol=1e-11)
    refused = sepconv("run", "in.npy", "out.npy", stage + ",terms=1", status=2).stderr
    assert "take more terms" in refused


def test_a_flat_image_has_no_ridges(sepconv):
    flat = np.full((60, 70), 30000.0)
    assert sepconv.filter(flat, "sato:sigmas=1,2,3").max() < 0.01


def test_scales_do_not_hide_missing_pixels(sepconv):
    image = random_image((60, 70), seed=7)
    image[30, 30] = np.nan
    one = sepconv.filter(image, "sato:sigmas=2,0.5,truncate=4")
    other = sepconv.filter(image, "sato:sigmas=0.5,2,truncate=4")
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(np.isnan(one), ndi.binary_dilation(np.isnan(image), np.ones((17, 17))))


FEATURES = [
    "structure_tensor:sigma=1,eigenvalue=1",
    "structure_tensor:sigma=1,coherence=true",
    "hessian:sigma=1,determinant=true",
    "sato:sigmas=1,2",
    "correlate:kernel=[[1,2,1],[2,4,2],[1,2,1]],terms=1",
]


@pytest.mark.parametrize("stage", FEATURES)
def test_what_propagates_by_default_is_what_the_key_says(sepconv, stage):
    image = random_image((40, 50), np.float32, seed=8)
    image[7, 9] = image[30, 31] = np.nan
    plain = sepconv.filter(image, stage)
    assert 0 < np.isnan(plain).sum() < image.size
    for more in ("", ",nodata=propagate"):
        declared = sepconv.filter(image, stage + more, options=["--nodata", "nan"])
        np.testing.assert_array_equal(declared, plain)


def test_a_sum_of_separable_kernels_is_weighted_by_alpha(sepconv, tmp_path):
    image = np.random.default_rng(9).integers(0, 256, (60, 70, 4)).astype(np.uint8)
    tifffile.imwrite(tmp_path / "in.tif", image, photometric="rgb", extrasamples=["unassalpha"])
    kernel = "[[0.0625,0.125,0.0625],[0.125,0.25,0.125],[0.0625,0.125,0.0625]]"
    for name, stage in {
        "exact": f"correlate:kernel={kernel}",
        "sum": f"correlate:kernel={kernel},terms=1",
    }.items():
        sepconv("run", "in.tif", f"{name}.tif", stage, "--quiet")
    exact, total = (tifffile.imread(tmp_path / f"{name}.tif").astype(int) for name in ("exact", "sum"))
    assert np.abs(exact - total).max() <= 1


def test_math_of_each_channel_keeps_alpha(sepconv, tmp_path):
    image = np.random.default_rng(10).integers(0, 256, (20, 30, 4)).astype(np.uint8)
    tifffile.imwrite(tmp_path / "in.tif", image, photometric="rgb", extrasamples=["unassalpha"])
    sepconv("run", "in.tif", "math.tif", "math:expr=255-x", "--quiet")
    sepconv("run", "in.tif", "scale.tif", "scale:factor=-1,offset=255", "--quiet")
    result = tifffile.imread(tmp_path / "math.tif")
    np.testing.assert_array_equal(result, tifffile.imread(tmp_path / "scale.tif"))
    np.testing.assert_array_equal(result[..., 3], image[..., 3])
