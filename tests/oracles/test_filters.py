"""Every convolving stage against scipy.ndimage or its formula written in NumPy: values, types, borders, orientation."""

import numpy as np
import pytest
import scipy.ndimage as ndi
from reference import BORDERS, DTYPES, assert_close, correlate, random_image

# One pixel, sizes below the radius, primes, and one that is cut into several bands and tiles.
SHAPES = [(1, 1), (1, 9), (3, 2), (37, 53), (211, 307)]

ASYMMETRIC_ROW = [0.5, -1.25, 2.0, 0.75, 0.125]
ASYMMETRIC_COL = [1.0, 0.5, -0.25]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("sigma", [0.4, 2.5, 7])
def test_gaussian(sepconv, shape, border, sigma):
    image = random_image(shape)
    value = ",value=0.7" if border == "constant" else ""
    actual = sepconv.filter(image, f"gaussian:sigma={sigma},border={border}{value}")
    assert_close(actual, ndi.gaussian_filter(image, sigma, mode=BORDERS[border], cval=0.7), np.float64)


@pytest.mark.parametrize("keys, scipy_keys", [("truncate=2.7", {"truncate": 2.7}), ("radius=5", {"radius": 5})])
def test_gaussian_radius(sepconv, keys, scipy_keys):
    image = random_image((40, 50))
    expected = ndi.gaussian_filter(image, 1.9, mode="mirror", **scipy_keys)
    assert_close(sepconv.filter(image, f"gaussian:sigma=1.9,{keys}"), expected, np.float64)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())
def test_types_and_channels(sepconv, dtype, channels):
    image = random_image((61, 47, channels), dtype)
    expected = ndi.gaussian_filter(image.astype(np.float64), (1.5, 1.5, 0), mode="mirror")
    actual = sepconv.filter(image if channels > 1 else image[:, :, 0], "gaussian:sigma=1.5")
    assert_close(actual.reshape(image.shape), expected, dtype)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_taps_are_correlated(sepconv, shape, border):
    image = random_image(shape)
    row, col = (",".join(map(str, taps)) for taps in (ASYMMETRIC_ROW, ASYMMETRIC_COL))
    value = ",value=-3" if border == "constant" else ""
    actual = sepconv.filter(image, f"taps:row={row},col={col},border={border}{value}")
    assert_close(actual, correlate(image, ASYMMETRIC_ROW, ASYMMETRIC_COL, border, -3), np.float64)


def test_flipped_taps_are_convolved(sepconv):
    image = random_image((20, 30))
    actual = sepconv.filter(image, "taps:row=0.5,-1.25,2.0,0.75,0.125,flip=true")
    assert_close(actual, ndi.convolve1d(image, ASYMMETRIC_ROW, axis=1, mode="mirror"), np.float64)


def test_taps_from_a_file(sepconv):
    image = random_image((20, 30))
    taps = sepconv.folder / "taps.txt"
    taps.write_text("# row taps, column taps\n0.5 -1.25 2.0 0.75 0.125\n1.0, 0.5, -0.25\n")
    actual = sepconv.filter(image, f"taps:file={taps}")
    assert_close(actual, correlate(image, ASYMMETRIC_ROW, ASYMMETRIC_COL), np.float64)


@pytest.mark.parametrize("radius", [1, 30, 400])
def test_large_radius(sepconv, radius):
    image = random_image((64, 97))
    expected = ndi.uniform_filter(image, 2 * radius + 1, mode="mirror")
    actual = sepconv.filter(image, f"box:radius={radius}")
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-11)  # SciPy's running sum drifts more than ours


def pascal(radius):
    return np.poly1d([0.5, 0.5]) ** (2 * radius)


DIFFERENCE = [-1, 0, 1]
FORMULAE = {
    "binomial:radius=3": lambda x: correlate(x, pascal(3).c, pascal(3).c),
    "sobel:axis=x": lambda x: ndi.sobel(x, axis=1, mode="mirror"),
    "sobel:axis=y,border=reflect": lambda x: ndi.sobel(x, axis=0, mode="reflect"),
    "scharr:axis=x": lambda x: correlate(x, DIFFERENCE, [3, 10, 3]),
    "scharr:axis=y": lambda x: correlate(x, [3, 10, 3], DIFFERENCE),
    "derivative:axis=x": lambda x: correlate(x, DIFFERENCE, None),
    "derivative:order=2,axis=y": lambda x: correlate(x, None, [1, -2, 1]),
    # (1 + z)(z - 1)^3, as OpenCV's getDerivKernels builds it
    "derivative:order=3,axis=x": lambda x: correlate(x, np.convolve([1, 1], np.poly([1, 1, 1]))[::-1], None),
    "gradient": lambda x: np.hypot(ndi.sobel(x, 1, mode="mirror"), ndi.sobel(x, 0, mode="mirror")),
    "gradient:operator=scharr": lambda x: np.hypot(
        correlate(x, DIFFERENCE, [3, 10, 3]), correlate(x, [3, 10, 3], DIFFERENCE)
    ),
    "gradient:operator=gaussian,sigma=1.3": lambda x: ndi.gaussian_gradient_magnitude(x, 1.3, mode="mirror"),
    "log:sigma=2": lambda x: ndi.gaussian_laplace(x, 2, mode="mirror"),
    "dog:sigma=1,sigma2=1.6": lambda x: blur(x, 1) - blur(x, 1.6),
    "unsharp:sigma=1.5,amount=0.8": lambda x: x + 0.8 * (x - blur(x, 1.5)),
    "unsharp:sigma=1.5,amount=2,threshold=0.5": lambda x: np.where(
        np.abs(x - blur(x, 1.5)) >= 0.5, x + 2 * (x - blur(x, 1.5)), x
    ),
}


def blur(image, sigma):
    return ndi.gaussian_filter(image, sigma, mode="mirror")


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (101, 83)])
@pytest.mark.parametrize("stage", FORMULAE)
def test_formula(sepconv, stage, shape):
    image = random_image(shape, seed=3)
    assert_close(sepconv.filter(image, stage), FORMULAE[stage](image), np.float64)


def test_each_stage_of_a_chain_extends_its_own_input(sepconv):
    image = random_image((45, 33))
    actual = sepconv.filter(
        image, "gaussian:sigma=3,border=reflect", "sobel:axis=x,border=replicate", "abs", "box:radius=6,border=constant"
    )
    expected = np.abs(ndi.sobel(ndi.gaussian_filter(image, 3, mode="reflect"), axis=1, mode="nearest"))
    expected = correlate(expected, np.full(13, 1 / 13), np.full(13, 1 / 13), "constant")
    assert_close(actual, expected, np.float64)
