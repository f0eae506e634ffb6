"""The caller declares the axes of the pages of a TIFF (--axes), and selects images of OME-XML with different
shapes (--page s=1): pixels compared with SciPy, descriptions with tifffile."""

import xml.etree.ElementTree

import numpy as np
import pytest
import scipy.ndimage
import tifffile

ROWS, COLS = 20, 24
DEEP = "gaussian:sigma=1,sigma_z=1"


def stack(*counts, seed=0):
    return np.random.default_rng(seed).integers(0, 5000, (*counts, ROWS, COLS)).astype(np.uint16)


def blurred(values):
    return scipy.ndimage.gaussian_filter(values.astype(float), 1, mode="mirror")


def messages_of_run(run):
    return run.stdout + run.stderr


def ome_pixels(path):
    root = xml.etree.ElementTree.fromstring(tifffile.TiffFile(path).ome_metadata.encode())
    return [
        dict(pixels.attrib, names=[c.get("Name") for c in pixels if c.tag.endswith("}Channel")])
        for image in root
        for pixels in image
        if pixels.tag.endswith("}Pixels")
    ]


def write(path, values, kind):
    options = {
        "plain": {"metadata": None, "photometric": "minisblack"},
        "shaped": {"photometric": "minisblack"},
        "ImageJ": {
            "imagej": True,
            "resolution": (4, 2),
            "metadata": {"axes": "TYX", "unit": "um", "finterval": 3},
        },
        "OME": {
            "ome": True,
            "photometric": "minisblack",
            "metadata": {"axes": "TYX", "PhysicalSizeX": 0.25, "PhysicalSizeY": 0.5, "TimeIncrement": 3},
        },
    }
    tifffile.imwrite(path, values, **options[kind])


@pytest.mark.parametrize("result", ["out.tif", "out.ome.tif", "out.npy"])
@pytest.mark.parametrize("kind", ["plain", "shaped", "ImageJ", "OME"])
def test_pages_are_the_planes_that_the_caller_says(sepconv, kind, result):
    values = stack(6)
    write(sepconv.folder / "in.tif", values, kind)
    words = messages_of_run(sepconv("run", "in.tif", result, DEEP, "--axes", "zyx"))
    assert ("its description says that images lie along t 6" in words) == (kind in ("ImageJ", "OME")), words
    if result.endswith("npy"):
        made = np.load(sepconv.folder / result)
    else:
        with tifffile.TiffFile(sepconv.folder / result) as tif:
            assert tif.series[0].axes == "ZYX"
            made = tif.asarray()
    assert np.abs(made - blurred(values)).max() < 1


def test_sizes_stay_and_steps_of_other_axes_fall(sepconv):
    for kind in ("ImageJ", "OME"):
        write(sepconv.folder / "in.tif", stack(6), kind)
        sepconv("run", "in.tif", "out.ome.tif", "--axes", "zyx", "--quiet", "--force")
        (pixels,) = ome_pixels(sepconv.folder / "out.ome.tif")
        assert (float(pixels["PhysicalSizeX"]), float(pixels["PhysicalSizeY"])) == pytest.approx((0.25, 0.5))
        assert "TimeIncrement" not in pixels and (pixels["SizeZ"], pixels["SizeT"]) == ("6", "1")
    write(sepconv.folder / "in.tif", stack(6), "ImageJ")
    sepconv("run", "in.tif", "out.tif", "--axes", "zyx", "--quiet", "--force")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        assert (
            tif.imagej_metadata["slices"] == 6
            and tif.imagej_metadata["unit"] == "um"
            and not {"frames", "finterval"} & set(tif.imagej_metadata)
        )


def test_several_axes_are_named_in_the_order_of_the_file(sepconv):
    tifffile.imwrite(
        sepconv.folder / "in.tif", stack(2, 3), photometric="minisblack"
    )  # tifffile stores only the shape
    sepconv("run", "in.tif", "out.ome.tif", "--axes", "czyx", "--quiet")
    (pixels,) = ome_pixels(sepconv.folder / "out.ome.tif")
    assert (pixels["SizeC"], pixels["SizeZ"], pixels["DimensionOrder"]) == ("2", "3", "XYZCT")
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "out.ome.tif"), stack(2, 3))
    sepconv("run", "in.tif", "out.tif", "--axes", "qzyx", "--quiet")
    assert tifffile.TiffFile(sepconv.folder / "out.tif").series[0].axes == "QZYX"


def test_an_order_that_imagej_does_not_have_is_said_by_another_description(sepconv):
    tifffile.imwrite(sepconv.folder / "in.tif", stack(2, 3), imagej=True, metadata={"axes": "TZYX"})
    assert "the description is left out" in messages_of_run(
        sepconv("run", "in.tif", "out.tif", "--axes", "ztyx")
    )
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        assert not tif.is_imagej and tif.series[0].axes == "ZTYX" and tif.series[0].shape[:2] == (2, 3)


def test_axes_that_the_description_has_change_nothing(sepconv):
    write(sepconv.folder / "in.tif", stack(6), "OME")
    sepconv("run", "in.tif", "one.tif", "--quiet")
    assert "warning" not in messages_of_run(sepconv("run", "in.tif", "other.tif", "--axes", "tyx", "--quiet"))
    assert (sepconv.folder / "one.tif").read_bytes() == (sepconv.folder / "other.tif").read_bytes()


@pytest.mark.parametrize(
    "axes, words",
    [
        ("tzyx", "2 letters before yx"),
        ("zxy", "must be the last axes"),
        ("yx", "0 letters"),
        ("zyxc", "one channel"),
        ("zzyx", "repeated"),
        ("ZYX", "from a to z"),
    ],
)
def test_axes_that_do_not_fit_are_an_error(sepconv, axes, words):
    write(sepconv.folder / "in.tif", stack(6), "plain")
    message = sepconv(
        "run", "in.tif", "out.tif", "--axes", axes, status=1 if "letters" in words else 2
    ).stderr
    assert words in message and "write a letter for each" in message


def test_pages_that_nothing_names_are_planes_with_a_word(sepconv):
    values = stack(6)
    write(sepconv.folder / "in.tif", values, "plain")
    assert "--axes zyx" in messages_of_run(sepconv("run", "in.tif", "out.tif", DEEP))
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        assert tif.series[0].axes == "ZYX" and np.abs(tif.asarray() - blurred(values)).max() < 1
    assert "nothing says" not in messages_of_run(
        sepconv("run", "in.tif", "out.tif", "gaussian:sigma=1", "--force")
    )


def write_series(path, **options):
    """Three images: with different planes, size and type."""
    images = [stack(3, 2), stack(5, seed=1)[:, :10, :12], stack(2, seed=2).astype(np.float32)]
    told = [
        {"axes": "ZCYX", "Name": "cells", "PhysicalSizeX": 0.5, "Channel": {"Name": ["a", "b"]}},
        {"axes": "ZYX", "Name": "nuclei", "PhysicalSizeX": 0.125, "PhysicalSizeZ": 3},
        {"axes": "TYX", "Name": "floats", "TimeIncrement": 7},
    ]
    with tifffile.TiffWriter(path, ome=True) as tif:
        for values, metadata in zip(images, told):
            tif.write(values, photometric="minisblack", metadata=metadata, **options)
    return images


def test_images_of_several_sizes_are_read_one_at_a_time(sepconv):
    images = write_series(sepconv.folder / "in.ome.tif")
    message = sepconv("run", "in.ome.tif", "no.tif", status=1).stderr
    assert "3 images (series) of several sizes or types" in message and "--page s=0" in message
    info = sepconv("info", "in.ome.tif").stdout
    assert "series s=1: 12 x 10 pixels, z 5, uint16" in info and '"nuclei"' in info
    for index, (values, axes) in enumerate(zip(images, ("ZCYX", "ZYX", "TYX"))):
        sepconv("run", "in.ome.tif", "out.tif", "--page", f"s={index}", "--quiet", "--force")
        with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
            assert (
                len(tif.series) == 1
                and tif.series[0].axes == axes
                and tif.series[0].name == ["cells", "nuclei", "floats"][index]
            )
            np.testing.assert_array_equal(tif.asarray(), values)
    sepconv("run", "in.ome.tif", "out.tif", "--page", "s=1", DEEP, "--quiet", "--force")
    (pixels,) = ome_pixels(sepconv.folder / "out.tif")
    assert float(pixels["PhysicalSizeX"]) == 0.125 and float(pixels["PhysicalSizeZ"]) == 3
    assert np.abs(tifffile.imread(sepconv.folder / "out.tif") - blurred(images[1])).max() < 1
    assert "has no s=3" in sepconv("run", "in.ome.tif", "no.tif", "--page", "s=3", status=1).stderr


def test_a_part_of_one_of_several_images(sepconv):
    images = write_series(sepconv.folder / "in.ome.tif")
    sepconv("run", "in.ome.tif", "out.tif", "--page", "s=0,c=1,z=1-2", "--quiet")
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "out.tif"), images[0][1:3, 1])
    assert ome_pixels(sepconv.folder / "out.tif")[0]["names"] == ["b"]


def test_pages_by_their_numbers_keep_the_axes_of_their_image(sepconv):
    images = write_series(sepconv.folder / "in.ome.tif")
    for pages, want, axes in (
        ("7-9", images[1][1:4], "ZYX"),
        ("2-5", images[0][1:3], "ZCYX"),
        ("12", images[2][1], "YX"),
    ):
        words = messages_of_run(sepconv("run", "in.ome.tif", "out.tif", "--page", pages, "--force"))
        assert "without the axes" not in words
        with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
            assert tif.is_ome and tif.series[0].axes == axes
            np.testing.assert_array_equal(tif.asarray(), want)
    assert "images differently" in messages_of_run(
        sepconv("run", "in.ome.tif", "out.tif", "--page", "1-2", "--force")
    )  # two planes with one channel each
    sepconv("run", "in.ome.tif", "out.tif", "--page", "6-10", DEEP, "--force", "--quiet")
    assert np.abs(tifffile.imread(sepconv.folder / "out.tif") - blurred(images[1])).max() < 1
