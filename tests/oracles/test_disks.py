"""Minima and maxima over disks compared with scipy.ndimage with a footprint: borders, types, missing pixels,
volumes, bands."""

import numpy as np
import pytest
import scipy.ndimage as ndi
from reference import BORDERS, DTYPES, random_image

SCIPYS = {
    "erode": ndi.grey_erosion,
    "dilate": ndi.grey_dilation,
    "opening": ndi.grey_opening,
    "closing": ndi.grey_closing,
    "tophat": ndi.white_tophat,
    "blackhat": ndi.black_tophat,
}
SHAPES = [(1, 1), (1, 9), (37, 53), (151, 207)]


def disk(radius, radius_y=None):
    """skimage.morphology.disk, or the same with two radii."""
    radius_y = radius if radius_y is None else radius_y
    y, x = np.mgrid[-radius_y : radius_y + 1, -radius : radius + 1]
    return (x * radius_y) ** 2 + (y * radius) ** 2 <= (radius * radius_y) ** 2


def stage(name, radius, radius_y, border, more=""):
    return (
        f"{name}:radius={radius},radius_y={radius_y},shape=disk,border={border}"
        + (",value=7" if border == "constant" else "")
        + more
    )


@pytest.mark.parametrize("radius", range(12))
def test_a_disk_is_that_of_scikit_image(sepconv, radius):
    """All its pixels, as shown by a dilated point."""
    morphology = pytest.importorskip("skimage.morphology")
    image = np.zeros((2 * radius + 3, 2 * radius + 3), np.uint8)
    image[radius + 1, radius + 1] = 1
    result = sepconv.filter(image, f"dilate:radius={radius},shape=disk,border=constant")
    np.testing.assert_array_equal(result[1:-1, 1:-1], morphology.disk(radius))


@pytest.mark.parametrize("name", SCIPYS)
@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_morphology_is_scipys_to_the_bit(sepconv, name, border, shape):
    image = random_image(shape)
    for radius, radius_y in [(1, 1), (2, 2), (9, 9), (4, 7), (8, 0), (0, 5)]:
        expected = SCIPYS[name](image, footprint=disk(radius, radius_y), mode=BORDERS[border], cval=7)
        np.testing.assert_array_equal(sepconv.filter(image, stage(name, radius, radius_y, border)), expected)


@pytest.mark.parametrize("name", SCIPYS)
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())
def test_types_and_channels(sepconv, name, dtype, channels):
    image = random_image((41, 47, channels), dtype)
    wide = image.astype(np.int64) if np.issubdtype(dtype, np.integer) else image
    expected = SCIPYS[name](wide, footprint=disk(4)[:, :, None], mode="reflect")
    if np.issubdtype(dtype, np.integer):
        expected = np.clip(expected, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
    actual = sepconv.filter(
        image if channels > 1 else image[:, :, 0], f"{name}:radius=4,shape=disk,border=reflect"
    )
    np.testing.assert_array_equal(actual.reshape(image.shape), expected)


@pytest.mark.parametrize("radius", [16, 50, 150])
def test_large_disks(sepconv, radius):
    image = random_image((64, 97), np.float32)
    padded = np.pad(image, radius, "wrap")
    expected = np.full_like(image, np.inf)
    # SciPy needs too much memory for footprints of this size
    for down, chord in enumerate(disk(radius).sum(axis=1)):
        least = ndi.minimum_filter1d(padded[down : down + 64], chord, axis=1)
        expected = np.minimum(expected, least[:, radius:-radius])
    np.testing.assert_array_equal(
        sepconv.filter(image, f"erode:radius={radius},shape=disk,border=wrap"), expected
    )


@pytest.mark.parametrize("policy", ["ignore", "fill", "propagate"])
@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("name", ["erode", "dilate", "opening"])
def test_missing_pixels(sepconv, name, border, policy):
    image = random_image((31, 47))
    image[np.random.default_rng(3).random(image.shape) < 0.2] = np.nan
    image[10:20, 20:30] = np.nan
    mode = {
        "replicate": "edge",
        "reflect": "symmetric",
        "reflect101": "reflect",
        "constant": "constant",
        "wrap": "wrap",
    }[border]
    footprint = disk(4, 3)

    def of(values, numpys):
        extended = np.pad(
            values, ((3, 3), (4, 4)), mode, **({"constant_values": 7} if border == "constant" else {})
        )
        views = np.lib.stride_tricks.sliding_window_view(extended, footprint.shape)[..., footprint]
        missing = np.isnan(views)
        empty = missing.all(-1) if policy != "propagate" else missing.any(-1)
        result = np.where(empty, np.nan, numpys(np.where(empty[..., None], 0, views), axis=-1))
        return np.where(np.isnan(values), np.nan, result) if policy == "ignore" else result

    expected = image
    for step in {"erode": [np.nanmin], "dilate": [np.nanmax], "opening": [np.nanmin, np.nanmax]}[name]:
        expected = of(expected, step)
    np.testing.assert_array_equal(
        sepconv.filter(image, stage(name, 4, 3, border, f",nodata={policy}")), expected
    )


@pytest.mark.parametrize("limits", [["--band-rows", "3"], ["--max-memory", "3M"]], ids=str)
@pytest.mark.parametrize("name", SCIPYS)
def test_a_cylinder(sepconv, name, limits):
    """With radius_z, for volumes: the disk in each plane, and a line along z."""
    array = random_image((9, 23, 31), np.float32)
    np.save(sepconv.folder / "in.npy", array)
    sepconv(
        "run",
        "in.npy",
        "out.npy",
        f"{name}:radius=3,radius_z=2,shape=disk,border=reflect",
        "--axes",
        "zyx",
        "--force",
        "--quiet",
        *limits,
    )
    expected = SCIPYS[name](array, footprint=np.repeat(disk(3)[None], 5, axis=0))
    np.testing.assert_array_equal(np.load(sepconv.folder / "out.npy"), expected)


@pytest.mark.parametrize("border", BORDERS)
def test_any_plan_has_the_same_bits(sepconv, border):
    image = random_image((211, 307), np.float32)
    image[50:60, 40:90] = np.nan
    np.save(sepconv.folder / "in.npy", image)
    result = []
    for limits in (
        ["--reference"],
        ["--band-rows", "7"],
        ["--max-memory", "6M", "--threads", "1"],
        ["--max-memory", "8M", "--threads", "2"],
    ):
        sepconv(
            "run",
            "in.npy",
            "out.npy",
            stage("opening", 9, 6, border),
            "tophat:radius=5,shape=disk",
            "gaussian:sigma=1",
            "--force",
            "--quiet",
            *limits,
        )
        result.append(np.load(sepconv.folder / "out.npy"))
    for other in result[1:]:
        np.testing.assert_array_equal(other, result[0])


def test_between_transposes(sepconv):
    image = random_image((60, 90), np.float32)
    between = sepconv.filter(image, "transpose", "closing:radius=7,radius_y=3,shape=disk", "transpose")
    np.testing.assert_array_equal(between, ndi.grey_closing(image, footprint=disk(3, 7), mode="mirror"))


def test_what_is_no_disk_is_refused(sepconv):
    np.save(sepconv.folder / "in.npy", random_image((9, 9)))
    assert (
        "a disk's radius is at most 2047"
        in sepconv("plan", "in.npy", "out.npy", "erode:radius=2048,shape=disk", status=2).stderr
    )
    assert "box, disk" in sepconv("plan", "in.npy", "out.npy", "erode:shape=ball", status=2).stderr
