"""NPY arrays of any axes: every image is filtered, and the result has the remaining axes. Compared with SciPy
image by image."""

import itertools

import numpy as np
import pytest
import scipy.ndimage as ndi
import tifffile

LENGTHS = {"t": 2, "z": 3, "c": 2, "k": 2, "y": 31, "x": 23}


def random_array(axes, dtype, seed=0):
    shape = [LENGTHS[letter] for letter in axes]
    return np.random.default_rng(seed).integers(0, 200, shape).astype(dtype)


def in_order(array, axes):
    """The axes in the order of a result: other axes, rows, columns, channels."""
    last = "c" if axes.endswith("c") else ""
    expected = [letter for letter in axes if letter not in "yx" + last] + ["y", "x"] + list(last)
    return array.transpose([axes.index(letter) for letter in expected])


def blurred(array, axes):
    """Along rows and columns only, in f64."""
    ordered = in_order(array, axes)
    sigma = [0.0] * ordered.ndim
    first = ordered.ndim - (3 if axes.endswith("c") else 2)
    sigma[first] = sigma[first + 1] = 1.5
    return ndi.gaussian_filter(ordered.astype(np.float64), sigma, mode="mirror")


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("axes", ["zyx", "yzx", "yxz", "cyx", "tzyx", "tkzyxc", "ytxc", "xzy"])
def test_every_image_is_filtered(sepconv, axes, order):
    for dtype in ("u1", "f4", "i4"):
        array = random_array(axes, dtype)
        np.save(sepconv.folder / "in.npy", np.asarray(array, order=order))
        sepconv("run", "in.npy", "copy.npy", "--axes", axes, "--quiet", "--force")
        copy = np.load(sepconv.folder / "copy.npy")
        assert copy.dtype == array.dtype
        np.testing.assert_array_equal(copy, in_order(array, axes))
        sepconv(
            "run",
            "in.npy",
            "out.npy",
            "gaussian:sigma=1.5",
            "--axes",
            axes,
            "--quiet",
            "--force",
            "--band-rows",
            9,
        )
        result = np.load(sepconv.folder / "out.npy")
        assert result.dtype == array.dtype
        tolerance = 1e-3 if dtype == "f4" else 0.5 + 1e-4
        assert np.abs(result - blurred(array, axes)).max() <= tolerance


def test_a_selection_leaves_axes_out_as_an_index_does(sepconv):
    array = random_array("tzyxc", "u2")
    np.save(sepconv.folder / "in.npy", array)
    for page, index in (
        ("t=1", np.s_[1]),
        ("z=2,t=0", np.s_[0, 2]),
        ("z=1-2", np.s_[:, 1:3]),
        ("t=0,z=0-1", np.s_[0, 0:2]),
        ("4", np.s_[1, 1]),
    ):
        sepconv("run", "in.npy", "out.npy", "--axes", "tzyxc", "--page", page, "--quiet", "--force")
        np.testing.assert_array_equal(np.load(sepconv.folder / "out.npy"), array[index])
    for page, words in (("z=3", "z"), ("k=0", "k"), ("6", "page 6")):
        assert (
            words
            in sepconv(
                "run", "in.npy", "no.npy", "--axes", "tzyxc", "--page", page, "--quiet", status=1
            ).stderr
        )
        assert not (sepconv.folder / "no.npy").exists()


def test_one_image_of_any_file_is_an_array_of_two_axes(sepconv):
    tifffile.imwrite(sepconv.folder / "in.ome.tif", random_array("yx", "u1"), photometric="minisblack")
    sepconv("run", "in.ome.tif", "out.npy", "--quiet")
    np.testing.assert_array_equal(np.load(sepconv.folder / "out.npy"), random_array("yx", "u1"))


def test_another_type_and_shape_of_each_image(sepconv):
    array = random_array("zyx", "i4")
    np.save(sepconv.folder / "in.npy", array)
    sepconv(
        "run",
        "in.npy",
        "out.npy",
        "transpose",
        "cast:type=f32",
        "--axes",
        "zyx",
        "--quiet",
        "--region",
        "20x10+3+5",
    )
    result = np.load(sepconv.folder / "out.npy")
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, array.transpose(0, 2, 1)[:, 5:15, 3:23])


def test_complex_images_of_a_stack(sepconv):
    array = (random_array("zyx", "f8") + 1j * random_array("zyx", "f8", 1)).astype("c16")
    np.save(sepconv.folder / "in.npy", array)
    sepconv("run", "in.npy", "out.npy", "gaussian:sigma=1.5", "--axes", "zyx", "--quiet")
    result = np.load(sepconv.folder / "out.npy")
    assert result.dtype == array.dtype
    np.testing.assert_allclose(
        result, blurred(array.real, "zyx") + 1j * blurred(array.imag, "zyx"), atol=1e-9
    )


@pytest.mark.parametrize("dtype", ["u1", "i4", "f2", "c8", "?"])
def test_from_an_array_to_a_stack_of_pages_and_back(sepconv, dtype):
    array = (
        random_array("tzyx", "u1" if dtype == "?" else dtype)
        if dtype != "?"
        else random_array("tzyx", "u1") > 100
    )
    np.save(sepconv.folder / "in.npy", array)
    for name in ("out.tif", "tiles.tif"):
        sepconv(
            "run",
            "in.npy",
            name,
            "--axes",
            "tzyx",
            "--quiet",
            "--force",
            *(["--tile", 16, "--compress", "deflate"] if name == "tiles.tif" else []),
        )
        pages = (
            np.stack([tifffile.imread(sepconv.folder / name, key=i) for i in range(6)])
            if not (name == "tiles.tif" and dtype == "f2")
            else None
        )
        if pages is not None:  # tifffile lacks its predictor
            np.testing.assert_array_equal(pages.reshape(array.shape), array)
        sepconv("run", name, "back.npy", "--quiet", "--force")
        back = np.load(sepconv.folder / "back.npy")
        assert back.dtype == (np.uint8 if dtype == "?" else array.dtype)
        np.testing.assert_array_equal(back.reshape(array.shape), array)


def test_ome_types_are_those_of_the_result(sepconv):
    for dtype, ome in (
        ("i1", "int8"),
        ("u4", "uint32"),
        ("i4", "int32"),
        ("c8", "complex"),
        ("c16", "double-complex"),
    ):
        array = random_array("zyx", dtype)
        np.save(sepconv.folder / "in.npy", array)
        sepconv("run", "in.npy", "out.ome.tif", "--axes", "zyx", "--quiet", "--force")
        with tifffile.TiffFile(sepconv.folder / "out.ome.tif") as tif:
            assert f'Type="{ome}"' in tif.ome_metadata and 'SizeC="1"' in tif.ome_metadata
            np.testing.assert_array_equal(tif.asarray(), array)
    tifffile.imwrite(
        sepconv.folder / "halves.ome.tif",
        random_array("zyx", "u1"),
        photometric="minisblack",
        metadata={"axes": "ZYX"},
    )
    description = tifffile.TiffFile(sepconv.folder / "halves.ome.tif").ome_metadata.replace("uint8", "float")
    tifffile.imwrite(
        sepconv.folder / "halves.tif",
        random_array("zyx", "f2"),
        photometric="minisblack",
        description=description,
        metadata=None,
    )
    assert "OME-XML has no type f16" in sepconv("plan", "halves.tif", "halves-out.tif").stdout
    for dtype in ("f2", "i8"):
        np.save(sepconv.folder / "in.npy", random_array("zyx", dtype))
        said = sepconv("run", "in.npy", "no.ome.tif", "--axes", "zyx", "--quiet", status=2).stderr
        assert "OME-XML has no type" in said and not (sepconv.folder / "no.ome.tif").exists()


def test_what_an_array_is_must_be_said(sepconv):
    for shape in ((3, 31, 23), (2, 3, 31, 23), (31, 23, 5)):
        np.save(sepconv.folder / "in.npy", np.zeros(shape, "u1"))
        assert "--axes" in sepconv("run", "in.npy", "out.npy", status=1).stderr
    np.save(sepconv.folder / "in.npy", np.zeros((3, 31, 23), "u1"))
    said = sepconv("run", "in.npy", "out.png", "--axes", "zyx", status=2).stderr
    assert "3 images" in said and ".npy" in said
    for axes in ("zy", "zyxc", "zyxx", "zax", "z,y,x"):
        assert (
            "--axes"
            in sepconv(
                "run", "in.npy", "out.npy", "--axes", axes, status=1 if axes in ("zyxc",) else 2
            ).stderr
            or axes == "zyxc"
        )


def test_axes_are_said(sepconv):
    np.save(sepconv.folder / "in.npy", random_array("tzyx", "u1"))
    info = sepconv("info", "in.npy", "--axes", "tzyx").stdout
    assert "t 2, z 3" in info or "tzyx" in info
    plan = sepconv("plan", "in.npy", "out.npy", "--axes", "tzyx").stdout
    assert "t 2, z 3" in plan
    np.save(sepconv.folder / "turned.npy", random_array("ytzx", "u1"))
    assert "ytzx is written as tzyx" in sepconv("plan", "turned.npy", "out.npy", "--axes", "ytzx").stdout


def test_a_large_array_in_fortran_order_and_a_small_ceiling(sepconv):
    array = np.random.default_rng(1).random((3, 1500, 2100), np.float32)
    np.save(sepconv.folder / "in.npy", np.asfortranarray(array))
    sepconv("run", "in.npy", "out.npy", "--axes", "zyx", "--quiet", "--max-memory", "8M")
    np.testing.assert_array_equal(np.load(sepconv.folder / "out.npy"), array)


def test_stats_and_compare_take_every_image(sepconv):
    array = random_array("zyx", "i4")
    np.save(sepconv.folder / "c.npy", array)
    np.save(sepconv.folder / "f.npy", np.asfortranarray(array))
    sepconv("compare", "c.npy", "f.npy", "--axes", "zyx", "--axes-b", "zyx")
    array[2, 30, 22] += 1
    np.save(sepconv.folder / "other.npy", array)
    assert (
        "different elements   1 of"
        in sepconv("compare", "c.npy", "other.npy", "--axes", "zyx", "--axes-b", "zyx", status=1).stdout
    )
