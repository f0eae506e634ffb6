"""Every convolving stage compared with scipy.ndimage or its formula in NumPy: values, types, borders,
orientation."""

import re

import numpy as np
import pytest
import scipy.ndimage as ndi
from reference import BORDERS, DTYPES, assert_close, correlate, random_image

# One pixel, sizes below the radius, primes, and one that is divided into several bands and tiles.
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


@pytest.mark.parametrize(
    "keys, scipy_keys", [("truncate=2.7", {"truncate": 2.7}), ("radius=5", {"radius": 5})]
)
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
    actual = sepconv.filter(image, f"convolve:row={row},col={col},border={border}{value}")
    assert_close(actual, correlate(image, ASYMMETRIC_ROW, ASYMMETRIC_COL, border, -3), np.float64)


def test_flipped_taps_are_convolved(sepconv):
    image = random_image((20, 30))
    actual = sepconv.filter(image, "convolve:row=0.5,-1.25,2.0,0.75,0.125,flip=true")
    assert_close(actual, ndi.convolve1d(image, ASYMMETRIC_ROW, axis=1, mode="mirror"), np.float64)


def test_taps_from_a_file(sepconv):
    image = random_image((20, 30))
    taps = sepconv.folder / "taps.txt"
    taps.write_text("# row taps, column taps\n0.5 -1.25 2.0 0.75 0.125\n1.0, 0.5, -0.25\n")
    actual = sepconv.filter(image, f"convolve:file={taps}")
    assert_close(actual, correlate(image, ASYMMETRIC_ROW, ASYMMETRIC_COL), np.float64)


@pytest.mark.parametrize("radius", [1, 30, 400])
def test_large_radius(sepconv, radius):
    image = random_image((64, 97))
    expected = ndi.uniform_filter(image, 2 * radius + 1, mode="mirror")
    actual = sepconv.filter(image, f"box:radius={radius}")
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-11)  # SciPy's running sum is less exact


def pascal(radius):
    return np.poly1d([0.5, 0.5]) ** (2 * radius)


DIFFERENCE = [-1, 0, 1]
FORMULAE = {
    "gaussian:sigma=2,sigma_y=5": lambda x: ndi.gaussian_filter(x, (5, 2), mode="mirror"),
    "gaussian:sigma=2,sigma_y=5,truncate=2.5": lambda x: ndi.gaussian_filter(
        x, (5, 2), mode="mirror", truncate=2.5
    ),
    "gaussian:sigma=2,order=2,border=replicate": lambda x: ndi.gaussian_filter(x, 2, order=2, mode="nearest"),
    "gaussian:sigma=1.5,sigma_y=3,order=3,order_y=1": lambda x: ndi.gaussian_filter(
        x, (3, 1.5), order=(1, 3), mode="mirror"
    ),
    "gaussian:sigma=1.5,order=0,order_y=3": lambda x: ndi.gaussian_filter(
        x, 1.5, order=(3, 0), mode="mirror"
    ),
    "gaussian:sigma=2,order=1,order_y=0,flip=true": lambda x: (
        -ndi.gaussian_filter(x, 2, order=(0, 1), mode="mirror")
    ),
    "gaussian:sigma=2,radius=3,radius_y=9": lambda x: ndi.gaussian_filter1d(
        ndi.gaussian_filter1d(x, 2, axis=1, mode="mirror", radius=3), 2, axis=0, mode="mirror", radius=9
    ),
    "gaussian:sigma=2,radius_y=3": lambda x: ndi.gaussian_filter1d(
        ndi.gaussian_filter1d(x, 2, axis=1, mode="mirror"), 2, axis=0, mode="mirror", radius=3
    ),
    "box:radius=1,radius_y=4": lambda x: ndi.uniform_filter(x, (9, 3), mode="mirror"),
    "box:radius=3,radius_y=0": lambda x: ndi.uniform_filter(x, (1, 7), mode="mirror"),
    "binomial:radius=1,radius_y=3": lambda x: correlate(x, pascal(1).c, pascal(3).c),
    "gradient:operator=gaussian,sigma=1.3,sigma_y=4": lambda x: ndi.gaussian_gradient_magnitude(
        x, (4, 1.3), mode="mirror"
    ),
    "gaussian_laplace:sigma=2,sigma_y=3": lambda x: ndi.gaussian_laplace(x, (3, 2), mode="mirror"),
    "dog:sigma=1,sigma_y=2,sigma2=1.6,sigma2_y=4": lambda x: blur(x, (2, 1)) - blur(x, (4, 1.6)),
    "dog:sigma=1,sigma_y=2,sigma2=3": lambda x: blur(x, (2, 1)) - blur(x, 3),
    "unsharp:sigma=1.5,sigma_y=3,amount=0.8": lambda x: x + 0.8 * (x - blur(x, (3, 1.5))),
    "binomial:radius=3": lambda x: correlate(x, pascal(3).c, pascal(3).c),
    "sobel:axis=x": lambda x: ndi.sobel(x, axis=1, mode="mirror"),
    "sobel:axis=y,border=reflect": lambda x: ndi.sobel(x, axis=0, mode="reflect"),
    "scharr:axis=x": lambda x: correlate(x, DIFFERENCE, [3, 10, 3]),
    "scharr:axis=y": lambda x: correlate(x, [3, 10, 3], DIFFERENCE),
    "derivative:axis=x": lambda x: correlate(x, DIFFERENCE, None),
    "derivative:order=2,axis=y": lambda x: correlate(x, None, [1, -2, 1]),
    # (1 + z)(z - 1)^3, as built by OpenCV's getDerivKernels
    "derivative:order=3,axis=x": lambda x: correlate(x, np.convolve([1, 1], np.poly([1, 1, 1]))[::-1], None),
    "gradient": lambda x: np.hypot(ndi.sobel(x, 1, mode="mirror"), ndi.sobel(x, 0, mode="mirror")),
    "gradient:operator=scharr": lambda x: np.hypot(
        correlate(x, DIFFERENCE, [3, 10, 3]), correlate(x, [3, 10, 3], DIFFERENCE)
    ),
    "gradient:operator=gaussian,sigma=1.3": lambda x: ndi.gaussian_gradient_magnitude(x, 1.3, mode="mirror"),
    "gaussian_laplace:sigma=2": lambda x: ndi.gaussian_laplace(x, 2, mode="mirror"),
    "dog:sigma=1,sigma2=1.6": lambda x: blur(x, 1) - blur(x, 1.6),
    "unsharp:sigma=1.5,amount=0.8": lambda x: x + 0.8 * (x - blur(x, 1.5)),
    "unsharp:sigma=1.5,amount=2,threshold=0.5": lambda x: np.where(
        np.abs(x - blur(x, 1.5)) >= 0.5, x + 2 * (x - blur(x, 1.5)), x
    ),
}


@pytest.mark.parametrize(
    "border, mode",
    [
        ("reflect", "reflect"),
        ("reflect101", "mirror"),
        ("replicate", "nearest"),
        ("wrap", "wrap"),
        ("constant", "constant"),
    ],
)
@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (300, 417), (40, 900), (1, 300)])
def test_wide_gaussians_by_cells(sepconv, shape, border, mode):
    """Within the error that a plan states, for an image from 0 to 1; also near the edges, and for an image
    smaller than a cell."""
    image = np.where(random_image(shape) > 0, 1.0, 0.0)
    for sigma, sigma_y in [(8, 8), (11.3, 20), (33.7, 80)]:
        actual = sepconv.filter(
            image,
            f"gaussian:sigma={sigma},sigma_y={sigma_y},method=multirate,border={border}"
            + (",value=0.5" if border == "constant" else ""),
        )
        expected = ndi.gaussian_filter(image, (sigma_y, sigma), mode=mode, cval=0.5, truncate=8)
        assert np.abs(actual - expected).max() < 1e-4


@pytest.mark.parametrize("sigma", [8, 20, 27, 47.3])
def test_a_plan_says_how_far_a_gaussian_by_cells_is_from_the_exact_one(sepconv, sigma):
    """The taps are the responses to single pixels, each in its own channel. The maximum over a cell's pixels
    of the sum of differences is the stated error."""
    count, middle = 801, 400
    np.save(sepconv.folder / "in.npy", np.eye(count)[None])
    stage = f"gaussian:sigma={sigma},method=multirate"
    output = float(
        re.search(
            r"by at most ([0-9.e-]+) in all",
            sepconv("plan", "in.npy", "out.npy", stage, "--axes", "yxc").stdout,
        )[1]
    )
    sepconv("run", "in.npy", "out.npy", stage, "--axes", "yxc")
    taps = np.load(sepconv.folder / "out.npy")[0]
    line = np.zeros(count)
    line[middle] = 1
    exact = ndi.gaussian_filter1d(line, sigma, truncate=8)
    worst = max(np.abs(taps[middle + pixel] - np.roll(exact, pixel)).sum() for pixel in range(30))
    assert abs(output - (1 + worst) ** 2 + 1) < 0.06 * output and output < 1e-4


def blur(image, sigma):
    return ndi.gaussian_filter(image, sigma, mode="mirror")


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (101, 83)])
@pytest.mark.parametrize("stage", FORMULAE)
def test_formula(sepconv, stage, shape):
    image = random_image(shape, seed=3)
    assert_close(sepconv.filter(image, stage), FORMULAE[stage](image), np.float64)


def test_derivatives_rise_where_the_image_does(sepconv):
    rows, cols = np.mgrid[0:40, 0:50].astype(np.float64)
    image = 3 * cols - 2 * rows
    inner = np.s_[12:-12, 12:-12]  # unaffected by the border
    along_x = sepconv.filter(image, "gaussian:sigma=2,order=1,order_y=0")[inner]
    along_y = sepconv.filter(image, "gaussian:sigma=2,order=0,order_y=1")[inner]
    assert np.abs(along_x - 3).max() < 0.01 and np.abs(along_y + 2).max() < 0.01


def test_each_stage_of_a_chain_extends_its_own_input(sepconv):
    image = random_image((45, 33))
    actual = sepconv.filter(
        image,
        "gaussian:sigma=3,border=reflect",
        "sobel:axis=x,border=replicate",
        "abs",
        "box:radius=6,border=constant",
    )
    expected = np.abs(ndi.sobel(ndi.gaussian_filter(image, 3, mode="reflect"), axis=1, mode="nearest"))
    expected = correlate(expected, np.full(13, 1 / 13), np.full(13, 1 / 13), "constant")
    assert_close(actual, expected, np.float64)
