"""Stacks filtered along z compared with SciPy on the whole array."""

import numpy as np
import pytest
import tifffile
from scipy import ndimage

MODES = {
    "reflect101": "mirror",
    "reflect": "reflect",
    "replicate": "nearest",
    "wrap": "wrap",
    "constant,value=7": "constant",
}


def volume(shape, dtype):
    random = np.random.default_rng(sum(shape))
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def filtered(sepconv, array, *stages, axes="zyx"):
    np.save(sepconv.folder / "in.npy", array)
    sepconv("run", "in.npy", "out.npy", "cast:type=f64", *stages, "--axes", axes, "--force", "--quiet")
    return np.load(sepconv.folder / "out.npy").reshape(array.shape)  # one plane is stored as an image


@pytest.mark.parametrize("border", MODES)
@pytest.mark.parametrize("shape", [(1, 9, 11), (7, 1, 5), (5, 33, 20), (40, 17, 13)])
def test_gaussian(sepconv, shape, border):
    array = volume(shape, np.float32)
    got = filtered(sepconv, array, f"gaussian:sigma=1.3,sigma_y=2,sigma_z=2.5,border={border}")
    want = ndimage.gaussian_filter(array.astype(float), (2.5, 2, 1.3), mode=MODES[border], cval=7)
    np.testing.assert_allclose(got, want, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.float64])
def test_boxes_and_derivatives(sepconv, dtype):
    array = volume((12, 19, 23), dtype)
    exact = array.astype(float)
    got = filtered(sepconv, array, "box:radius=2,radius_y=1,radius_z=3,border=reflect")
    np.testing.assert_allclose(got, ndimage.uniform_filter(exact, (7, 3, 5)), rtol=1e-10, atol=1e-8)
    got = filtered(sepconv, array, "erode:radius=2,radius_y=1,radius_z=3,border=reflect")
    np.testing.assert_array_equal(got, ndimage.grey_erosion(array, (7, 3, 5)))
    got = filtered(sepconv, array, "dilate:radius=0,radius_z=2,border=replicate")
    np.testing.assert_array_equal(got, ndimage.grey_dilation(array, (5, 1, 1), mode="nearest"))
    got = filtered(sepconv, array, "sobel:axis=z,border=reflect")
    np.testing.assert_allclose(got, ndimage.sobel(exact, 0), rtol=1e-10, atol=1e-8)
    got = filtered(sepconv, array, "gaussian:sigma=1,sigma_z=2,order_z=1,border=replicate")
    np.testing.assert_allclose(
        got, ndimage.gaussian_filter(exact, (2, 1, 1), order=(1, 0, 0), mode="nearest"), rtol=1e-9, atol=1e-7
    )


SCIPYS = {
    "opening": ndimage.grey_opening,
    "closing": ndimage.grey_closing,
    "tophat": ndimage.white_tophat,
    "blackhat": ndimage.black_tophat,
}


@pytest.mark.parametrize("limits", [["--band-rows", "3"], ["--max-memory", "3M"]], ids=str)
@pytest.mark.parametrize("border", MODES)
@pytest.mark.parametrize("name", SCIPYS)
def test_openings_and_closings(sepconv, name, border, limits):
    for shape in [(1, 9, 11), (7, 1, 5), (12, 19, 23), (40, 17, 13)]:
        array = volume(shape, np.float32)
        for radius, radius_y, radius_z in [(2, 1, 3), (0, 0, 1), (1, 4, 0)]:
            got = filtered(
                sepconv,
                array,
                f"{name}:radius={radius},radius_y={radius_y},radius_z={radius_z},border={border}",
                *limits,
            )
            want = SCIPYS[name](
                array.astype(float),
                (2 * radius_z + 1, 2 * radius_y + 1, 2 * radius + 1),
                mode=MODES[border],
                cval=7,
            )
            np.testing.assert_array_equal(got, want)


def ranked(array, window, mode, rank):
    """SciPy's functions are not used where a window may wrap around the array more than once."""
    pads = [(side // 2, side - 1 - side // 2) for side in window]
    padded = np.pad(
        array,
        pads,
        {"mirror": "reflect", "reflect": "symmetric", "nearest": "edge"}.get(mode, mode),
        **({"constant_values": 7} if mode == "constant" else {}),
    )
    return np.sort(np.lib.stride_tricks.sliding_window_view(padded, window).reshape(*array.shape, -1))[
        ..., rank
    ]


@pytest.mark.parametrize("limits", [["--band-rows", "3"], ["--max-memory", "3M"]], ids=str)
@pytest.mark.parametrize("border", MODES)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_ranks(sepconv, dtype, border, limits):
    for shape in [(1, 9, 11), (7, 1, 5), (12, 19, 23)]:
        array = volume(shape, dtype)
        for rank, window in [(13, (3, 3, 3)), (4, (2, 3, 4)), (61, (9, 1, 8)), (200, (5, 7, 9))]:
            stage = f"rank:rank={rank},size={window[2]}x{window[1]},size_z={window[0]},border={border}"
            np.testing.assert_array_equal(
                filtered(sepconv, array, stage, *limits), ranked(array, window, MODES[border], rank)
            )


def test_medians_and_percentiles(sepconv):
    array = volume((9, 20, 30), np.float32)
    got = filtered(sepconv, array, "median:radius=2,radius_y=1,radius_z=1,border=reflect")
    np.testing.assert_array_equal(got, ndimage.median_filter(array, (3, 3, 5)))
    got = filtered(sepconv, array, "percentile:percent=20,radius=3,radius_z=2,border=replicate")
    np.testing.assert_array_equal(got, ndimage.percentile_filter(array, 20, (5, 7, 7), mode="nearest"))


def beyond(border):
    return {"mode": MODES.get(border, "constant"), "cval": 0 if border.endswith("=0") else 7}


def gaussian(array, sigma, border, **more):
    return ndimage.gaussian_filter(array, sigma, **beyond(border), **more)


def deviations(array, size, border):
    mean, squares = (
        ndimage.uniform_filter(item, size, mode=beyond(border)["mode"], cval=cval)
        for item, cval in ((array, 7), (array**2, 49))
    )
    return np.sqrt(np.maximum(squares - mean**2, 0))


def unsharp(array, border):
    detail = array - gaussian(array, (1.5, 1, 0.7), border)
    return np.where(np.abs(detail) >= 0.3, array + 0.8 * detail, array)


def contrast(array, size, border):
    return (array - ndimage.uniform_filter(array, size, **beyond(border))) / np.maximum(
        deviations(array, size, border), 0.5
    )


JOINED = {
    "dog:sigma=0.7,sigma_y=1,sigma_z=1.5,sigma2=2,sigma2_z=1": lambda array, border: (
        gaussian(array, (1.5, 1, 0.7), border) - gaussian(array, (1, 2, 2), border)
    ),
    "dog:sigma=1,sigma_z=1,sigma2=1.5,sigma2_z=3,radius=2,radius_z=4": lambda array, border: (
        gaussian(array, 1, border, radius=(4, 2, 2))
        - gaussian(array, (3, 1.5, 1.5), border, radius=(4, 2, 2))
    ),
    "unsharp:sigma=0.7,sigma_y=1,sigma_z=1.5,amount=0.8,threshold=0.3": unsharp,
    "gaussian_laplace:sigma=0.7,sigma_y=1,sigma_z=1.5": lambda array, border: ndimage.gaussian_laplace(
        array, (1.5, 1, 0.7), **beyond(border)
    ),
    "gradient:axes=xyz": lambda array, border: ndimage.generic_gradient_magnitude(
        array, ndimage.sobel, **beyond(border)
    ),
    "gradient:axes=xyz,operator=gaussian,sigma=0.7,sigma_y=1,sigma_z=1.5": lambda array, border: (
        ndimage.gaussian_gradient_magnitude(array, (1.5, 1, 0.7), **beyond(border))
    ),
    "gradient:axes=xyz,operator=gaussian,sigma=1,radius_z=2": lambda array, border: np.sqrt(
        sum(
            gaussian(array, 1, border, order=order, radius=(2, 4, 4)) ** 2
            for order in ((1, 0, 0), (0, 1, 0), (0, 0, 1))
        )
    ),
    "stddev:radius=1,radius_y=2,radius_z=3": lambda array, border: deviations(array, (7, 5, 3), border),
    "local_normalize:radius=1,radius_z=1,min_std=0.5": lambda array, border: contrast(
        array, (3, 3, 3), border
    ),
}


@pytest.mark.parametrize("border", MODES)
@pytest.mark.parametrize("stage", JOINED)
def test_what_is_made_of_several_filters(sepconv, stage, border):
    if border.startswith("constant") and stage.startswith(("gaussian_laplace", "gradient")):
        border = "constant,value=0"  # the border of a derivative depends on the order of axes
    for shape in [(1, 9, 11), (7, 1, 5), (12, 19, 23), (40, 17, 13)]:
        array = volume(shape, np.float32)
        want = JOINED[stage](array.astype(float), border)
        for limits in (["--band-rows", "3"], ["--max-memory", "3M"]):
            np.testing.assert_allclose(
                filtered(sepconv, array, f"{stage},border={border}", *limits),
                want,
                atol=1e-7 if stage[0] in "sn" else 1e-12,
            )


def passes(array, *taps):
    """Correlations along z, y and x, in SciPy's order, beyond a constant border of 7."""
    for axis, line in enumerate(taps):
        array = ndimage.correlate1d(array, line, axis, mode="constant", cval=7)
    return array


# SciPy's results, and whether those here differ near a constant border (docs/maths.md).
NEAR_A_CONSTANT = {
    "gaussian:sigma=1,sigma_z=1": (lambda array: gaussian(array, 1, ""), False),
    "derivative:axis=y,radius=1": (lambda array: passes(array, [1], [-1, 0, 1], [1]), False),
    "derivative:axis=z,radius=1": (lambda array: passes(array, [-1, 0, 1], [1], [1]), False),
    "gaussian:sigma=1,sigma_z=1,order_z=1": (lambda array: gaussian(array, 1, "", order=(1, 0, 0)), False),
    "gaussian:sigma=1,sigma_z=1,order_y=1": (lambda array: gaussian(array, 1, "", order=(0, 1, 0)), True),
    "gaussian_laplace:sigma=1,sigma_z=1": (
        lambda array: ndimage.gaussian_laplace(array, 1, mode="constant", cval=7),
        True,
    ),
    "gradient:axes=xyz": (
        lambda array: ndimage.generic_gradient_magnitude(array, ndimage.sobel, mode="constant", cval=7),
        True,
    ),
    "gradient:axes=xyz,operator=gaussian,sigma=1,sigma_z=1": (
        lambda array: ndimage.gaussian_gradient_magnitude(array, 1, mode="constant", cval=7),
        True,
    ),
    "sobel:axis=z": (lambda array: ndimage.sobel(array, 0, mode="constant", cval=7), True),
    "scharr:axis=z": (lambda array: passes(array, [-1, 0, 1], [3, 10, 3], [3, 10, 3]), True),
    "convolve:row=1,2,3,col=1,1,2,z=1,1,1": (
        lambda array: passes(array, [1, 1, 1], [1, 1, 2], [1, 2, 3]),
        True,
    ),
}


@pytest.mark.parametrize("stage", NEAR_A_CONSTANT)
def test_the_order_of_axes_changes_results_near_a_constant_border(sepconv, stage):
    """One side suffices."""
    array = volume((21, 23, 25), np.float32).astype(float)
    of_scipy, differs = NEAR_A_CONSTANT[stage]
    got = filtered(sepconv, array, f"{stage},border=constant,value=7")
    changed = np.abs(got - of_scipy(array)) > 1e-9
    sides = sum(np.minimum(at, size - 1 - at) < 5 for at, size in zip(np.indices(array.shape), array.shape))
    assert not changed[sides == 0].any() and changed[sides == 1].any() == differs


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_what_is_made_of_several_filters_of_integers(sepconv, dtype):
    array = volume((12, 19, 23), dtype)
    for stage, of in JOINED.items():
        np.save(sepconv.folder / "in.npy", array)
        sepconv("run", "in.npy", "out.npy", f"{stage},border=reflect", "--axes", "zyx", "--force", "--quiet")
        want = of(array.astype(float), "reflect")
        maximum = np.iinfo(dtype).max
        assert (
            np.abs(np.load(sepconv.folder / "out.npy") - np.clip(want, 0, maximum)).max()
            <= 0.5 + 2e-6 * maximum
        ), stage


def test_what_is_made_of_several_filters_needs_the_second_along_z(sepconv):
    np.save(sepconv.folder / "in.npy", volume((4, 5, 6), np.float32))
    said = sepconv(
        "run", "in.npy", "out.npy", "dog:sigma=1,sigma_z=1,sigma2=2", "--axes", "zyx", status=2
    ).stderr
    assert "sigma2_z" in said


def test_a_chain_of_its_own_along_z(sepconv):
    array = volume((2, 9, 20, 30), np.float32)
    got = filtered(
        sepconv, array, "subtract:chain=[gaussian:sigma=1,sigma_z=2,border=wrap | abs]", axes="tzyx"
    )
    want = array - np.abs(ndimage.gaussian_filter(array.astype(float), (0, 2, 1, 1), mode="wrap"))
    np.testing.assert_allclose(got, want, atol=1e-12)


def test_each_position_of_other_axes_is_a_volume_by_itself(sepconv):
    array = volume((2, 6, 3, 14, 15), np.uint16)  # t z c y x: c changes faster than z
    got = filtered(sepconv, array, "gaussian:sigma=1,sigma_z=1", axes="tzcyx")
    want = ndimage.gaussian_filter(array.astype(float), (0, 1, 0, 1, 1), mode="mirror")
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_an_ome_tiff_stays_one(sepconv):
    array = volume((2, 9, 30, 40), np.uint16)
    tifffile.imwrite(sepconv.folder / "in.ome.tif", array, metadata={"axes": "CZYX", "PhysicalSizeZ": 2.0})
    sepconv(
        "run", "in.ome.tif", "out.ome.tif", "gaussian:sigma=1.5,sigma_z=2", "--max-memory", "4M", "--quiet"
    )
    with tifffile.TiffFile(sepconv.folder / "out.ome.tif") as file:
        assert file.series[0].axes == "CZYX" and "PhysicalSizeZ" in file.ome_metadata
        got = file.asarray()
    want = ndimage.gaussian_filter(array.astype(float), (0, 2, 1.5, 1.5), mode="mirror")
    assert np.abs(got - want).max() <= 0.5 + 1 / 64  # f32 arithmetic, one rounding
