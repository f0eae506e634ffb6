"""add, subtract, multiply, divide, min, max and blend compared with NumPy: equal bits, with a second image of
any type that has the same size or repeats, anywhere in a chain; and with the result of a chain on the input,
compared with SciPy."""

import json

import numpy as np
import pytest
import scipy.ndimage as ndi
import tifffile
from reference import DTYPES, correlate, random_image, stored

WORDS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "min": np.minimum,
    "max": np.maximum,
    "blend": lambda x, y: 0.75 * x + 0.25 * y,
}
TYPES = [(one, other) for one in DTYPES for other in DTYPES]


def stage(word, rest):
    return f"{word}:{'alpha=0.25,' if word == 'blend' else ''}{rest}"


def joined(word, image, second):
    """In f64 if either is f64; else in f32, as NumPy for each single operation."""
    wide = np.float64 if np.float64 in (image.dtype, second.dtype) else np.float32
    with np.errstate(all="ignore"):
        if word == "blend":  # a product and a sum in one rounding: exact in f64 for f32
            return (0.75 * image.astype("f8") + wide(0.25) * second.astype(wide)).astype(wide)
        return WORDS[word](image.astype(wide), second.astype(wide))


def as_type(values, dtype):
    """As stored: NaN becomes 0 in an integer type."""
    return stored(
        np.nan_to_num(values, nan=0, posinf=np.inf, neginf=-np.inf)
        if np.issubdtype(dtype, np.integer)
        else values,
        dtype,
    )


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("one, other", TYPES)
def test_every_pair_of_types(sepconv, word, one, other):
    image, second = random_image((37, 53), DTYPES[one]), random_image((37, 53), DTYPES[other], 1)
    second[3:6, 4:9] = 0
    image[4, 5] = 0  # 0 / 0, and x / 0 around it
    np.save(sepconv.folder / "second.npy", second)
    actual = sepconv.filter(image, stage(word, "file=second.npy"), options=("--band-rows", 7))
    expected = as_type(joined(word, image, second), DTYPES[one])
    if word == "blend" and DTYPES[one] == np.float64:
        return np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-11)  # NumPy rounds it twice
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("shape", [(1, 1), (1, 53), (37, 1), (37, 53)])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("ending", ["tif", "zarr", "png", "raw"])
def test_what_repeats(sepconv, shape, channels, ending):
    image, second = random_image((37, 53, 3), np.uint16), random_image((*shape, channels), np.uint16, 1)
    tifffile.imwrite(
        sepconv.folder / "second.tif",
        second if channels > 1 else second[..., 0],
        **({"photometric": "rgb"} if channels > 1 else {}),
    )
    if ending == "raw":
        name = f"second_{shape[1]}x{shape[0]}x{channels}_u16.raw"
        (sepconv.folder / name).write_bytes(second.tobytes())
    else:
        name = f"second.{ending}"
        if ending != "tif":
            sepconv("run", "second.tif", name, "--quiet")
    actual = sepconv.filter(image, f"subtract:file={name}", "cast:type=f32", options=("--band-rows", 8))
    np.testing.assert_array_equal(actual, image.astype("f4") - second)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--band-rows", 5),
        ("--band-rows", 9, "--band-cols", 20),
        ("--threads", 3, "--slots", 1, "--band-rows", 1),
        ("--reference",),
    ],
)
def test_anywhere_in_a_chain(sepconv, options):
    """Two of them, between filters with halos, of a compressed tiled file and of a row."""
    image, dark, flat = (
        random_image((101, 67), np.uint8),
        random_image((101, 67), np.uint8, 1),
        random_image((1, 67), np.float32, 2) + 5,
    )
    tifffile.imwrite(sepconv.folder / "dark.tif", dark, tile=(16, 32), compression="zlib")
    np.save(sepconv.folder / "flat.npy", flat)
    chain = [
        "box:radius=4",
        "subtract:file=dark.tif",
        "gaussian:sigma=2,border=wrap",
        "divide:file=flat.npy",
        "box:radius=3,radius_y=9,border=reflect",
        "cast:type=f32",
    ]
    actual = sepconv.filter(image, *chain, options=options)
    box = lambda radius: np.full(2 * radius + 1, 1 / (2 * radius + 1))
    expected = correlate(image, box(4), box(4)) - dark
    expected = ndi.gaussian_filter(expected, 2, mode="wrap") / flat
    expected = correlate(expected, box(3), box(9), "reflect")
    np.testing.assert_allclose(actual, expected, rtol=0, atol=2e-4)
    np.testing.assert_array_equal(actual, sepconv.filter(image, *chain))


def test_behind_a_transpose_and_another_size(sepconv):
    image, second = random_image((40, 60), np.uint8), random_image((30, 20), np.uint8, 1)
    np.save(sepconv.folder / "second.npy", second)
    actual = sepconv.filter(
        image,
        "reduce:factor=2",
        "transpose",
        "subtract:file=second.npy",
        "cast:type=i16",
        options=("--band-rows", 7),
    )
    expected = image.reshape(20, 2, 30, 2).mean((1, 3)).T - second
    np.testing.assert_array_equal(actual, np.rint(expected))


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("radius", [1, 4])
def test_tophat_of_an_opening(sepconv, dtype, radius):
    image = random_image((91, 83), dtype)
    window = f"radius={radius}"
    actual = sepconv.filter(
        image, f"subtract:chain=[rank:rank=0,{window} | rank:rank=-1,{window}]", options=("--band-rows", 13)
    )
    np.testing.assert_array_equal(actual, ndi.white_tophat(image, 2 * radius + 1, mode="mirror"))


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("border, mode", [("reflect101", "mirror"), ("wrap", "wrap")])
def test_its_own_blur(sepconv, word, border, mode):
    image = random_image((64, 49), np.float64) + 3
    blurred = ndi.gaussian_filter(image, 3, mode=mode)
    actual = sepconv.filter(
        image,
        stage(word, f"chain=[gaussian:sigma=3,border={border} | scale:factor=2]"),
        options=("--band-rows", 11),
    )
    np.testing.assert_allclose(actual, WORDS[word](image, 2 * blurred), rtol=1e-12)


NODATA = [(np.uint8, 255), (np.int16, -7), (np.float32, -9999), (np.float64, np.nan)]


def image_with_holes(path, dtype, nodata, seed):
    """An image, and the mask of its missing pixels."""
    random = np.random.default_rng(seed)
    image = random.integers(1, 100, (41, 57)).astype(dtype)
    missing = random.random(image.shape) < 0.2
    image[missing] = nodata
    tifffile.imwrite(path, image, extratags=[(42113, "s", 0, str(nodata), True)])
    return image, missing


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("dtype, nodata", NODATA)
def test_missing_where_either_is(sepconv, word, dtype, nodata):
    image, gone = image_with_holes(sepconv.folder / "in.tif", dtype, nodata, 1)
    second, gone_there = image_with_holes(sepconv.folder / "second.tif", np.int16, -99, 2)
    sepconv("run", "in.tif", "out.tif", stage(word, "file=second.tif"), "--quiet", "--band-rows", 9)
    actual = tifffile.imread(sepconv.folder / "out.tif")
    missing = gone | gone_there
    np.testing.assert_array_equal(actual[missing], np.array(nodata, dtype))
    valid = as_type(joined(word, image, second), dtype)[~missing]
    if not np.isnan(nodata):
        valid = np.where(valid == nodata, np.array(254 if nodata == 255 else nodata + 1, dtype), valid)
    np.testing.assert_array_equal(actual[~missing], valid)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_missing_in_the_second_alone(sepconv, dtype):
    """The result declares the second image's value, and later filters exclude those pixels."""
    image = random_image((41, 57), dtype)
    tifffile.imwrite(sepconv.folder / "in.tif", image)
    second, missing = image_with_holes(sepconv.folder / "second.tif", np.uint8, 0, 2)
    sepconv("run", "in.tif", "out.tif", "max:file=second.tif", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        assert file.pages[0].tags[42113].value == "0"
        actual = file.asarray()
    expected = np.maximum(image, second)
    if dtype == np.uint8:
        expected[expected == 0] = 1
    expected[missing] = 0
    np.testing.assert_array_equal(actual, expected)
    sepconv("run", "in.tif", "plain.tif", "max:file=second.tif", "--nodata", "none", "--quiet")
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "plain.tif"), np.maximum(image, second))


def test_a_value_that_the_result_does_not_have(sepconv):
    np.save(sepconv.folder / "in.npy", random_image((41, 57), np.uint8))
    image_with_holes(sepconv.folder / "second.tif", np.float32, -9999, 2)
    said = sepconv("run", "in.npy", "out.tif", "subtract:file=second.tif", status=2).stderr
    assert "no such value" in said
    sepconv("run", "in.npy", "out.tif", "subtract:file=second.tif", "--dst-nodata", 0, "--quiet")


@pytest.mark.parametrize("alone", [False, True])
def test_stacks(sepconv, alone):
    """One plane for all, or a stack of the same length."""
    stack, second = (
        random_image((3, 40, 30), np.uint8),
        random_image((1 if alone else 3, 40, 30), np.uint8, 1),
    )
    tifffile.imwrite(sepconv.folder / "in.tif", stack, photometric="minisblack")
    tifffile.imwrite(sepconv.folder / "second.tif", second, photometric="minisblack")
    sepconv(
        "run", "in.tif", "out.tif", "subtract:file=second.tif", "cast:type=i16", "--quiet", "--band-rows", 9
    )
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "out.tif"), stack.astype("i2") - second)


def test_a_stack_of_another_length_is_refused(sepconv):
    tifffile.imwrite(sepconv.folder / "in.tif", random_image((3, 40, 30), np.uint8), photometric="minisblack")
    tifffile.imwrite(
        sepconv.folder / "second.tif", random_image((2, 40, 30), np.uint8), photometric="minisblack"
    )
    assert (
        "give as many, or one for all"
        in sepconv("run", "in.tif", "out.tif", "subtract:file=second.tif", status=2).stderr
    )


@pytest.mark.parametrize("second", [(6, 30, 40), (30, 40), (1, 40), (1, 1)], ids=str)
@pytest.mark.parametrize("times", [1, 2])
def test_volumes(sepconv, second, times):
    """Between filters along z, with a stack of the same axes or one image for every plane."""
    volume, other = (
        random_image((times, 6, 30, 40), np.float32),
        random_image((times, *second) if len(second) == 3 else second, np.float32, 1),
    )
    tifffile.imwrite(sepconv.folder / "in.ome.tif", volume, metadata={"axes": "TZYX"}, ome=True)
    tifffile.imwrite(
        sepconv.folder / "second.ome.tif",
        other,
        metadata={"axes": "TZYX" if len(second) == 3 else "YX"},
        ome=True,
    )
    chain = [
        "gaussian:sigma=1,sigma_z=1",
        "subtract:file=second.ome.tif",
        "box:radius=2,radius_z=1",
        "max:chain=gaussian:sigma=2",
    ]
    sepconv("run", "in.ome.tif", "out.ome.tif", *chain, "--quiet", "--band-rows", 1)
    expected = np.stack(
        [
            ndi.uniform_filter(
                ndi.gaussian_filter(one, 1, mode="mirror") - (other[t] if len(second) == 3 else other),
                (3, 5, 5),
                mode="mirror",
            )
            for t, one in enumerate(volume.astype("f8"))
        ]
    )
    expected = np.maximum(expected, ndi.gaussian_filter(expected, (0, 0, 2, 2), mode="mirror"))
    np.testing.assert_allclose(
        tifffile.imread(sepconv.folder / "out.ome.tif").reshape(expected.shape), expected, atol=1e-5
    )


def test_alpha_stays_as_it_is(sepconv):
    image = random_image((20, 30, 4), np.uint8)
    image[..., 3] = np.where(image[..., 3] < 60, 0, image[..., 3])
    tifffile.imwrite(sepconv.folder / "in.tif", image, photometric="rgb", extrasamples=["unassalpha"])
    flat = random_image((20, 30), np.float32, 1) + 3
    np.save(sepconv.folder / "flat.npy", flat)
    sepconv("run", "in.tif", "out.tif", "divide:file=flat.npy", "--quiet")
    actual = tifffile.imread(sepconv.folder / "out.tif")
    expected = as_type(joined("divide", image[..., :3], flat[..., None]), np.uint8)
    expected[image[..., 3] == 0] = 0
    np.testing.assert_array_equal(actual[..., 3], image[..., 3])
    np.testing.assert_array_equal(actual[..., :3], expected)


def test_the_plan_names_it(sepconv):
    np.save(sepconv.folder / "in.npy", random_image((100, 50), np.uint8))
    np.save(sepconv.folder / "dark.npy", random_image((100, 50), np.uint16))
    words = ["plan", "in.npy", "out.npy", "subtract:file=dark.npy", "box:radius=3"]
    said = sepconv(*words).stdout
    assert "read for subtract:file=dark.npy, NPY" in said
    plan = json.loads(sepconv(*words, "--json").stdout)
    assert plan["second_images"][0]["bytes_read"] == 100 * 50 * 2


def test_f32_does_not_stand_for_what_a_second_image_of_f64_lacks(sepconv):
    """In f32 -9998.9999 is -9999."""
    second = np.array([[-9999.0, -9998.9999]])
    tifffile.imwrite(sepconv.folder / "d.tif", second, extratags=[(42113, 2, 0, "-9999", True)])
    np.save(sepconv.folder / "in.npy", np.array([[1, 2]], np.float32))
    result = sepconv("run", "in.npy", "out.npy", "subtract:file=d.tif", "--arithmetic", "f32", status=2)
    assert "compute in f64" in result.stderr
    sepconv("run", "in.npy", "out.npy", "subtract:file=d.tif")
    np.testing.assert_array_equal(
        np.load(sepconv.folder / "out.npy"), np.array([[-9999, 10000.9999]], np.float32)
    )


def test_one_image_serves_all_planes_of_a_volume_with_another_axis_faster_than_z(sepconv):
    volume, dark = random_image((2, 3, 2, 9, 11), np.uint16), random_image((9, 11), np.uint16, 1) // 4
    np.save(sepconv.folder / "v.npy", volume)
    np.save(sepconv.folder / "dark.npy", dark)
    sepconv(
        "run",
        "v.npy",
        "out.npy",
        "subtract:file=dark.npy",
        "gaussian:sigma=1,sigma_z=1",
        "cast:type=f64",
        "--axes",
        "tzcyx",
    )
    want = ndi.gaussian_filter(volume.astype(float) - dark, (0, 1, 0, 1, 1), mode="mirror")
    np.testing.assert_allclose(np.load(sepconv.folder / "out.npy"), want, rtol=1e-9, atol=1e-9)
