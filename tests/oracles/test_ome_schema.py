"""OME-XML of results validated by ome-types; skipped if it is not installed."""

import numpy as np
import pytest
import tifffile
from reference import random_image

ome_types = pytest.importorskip("ome_types", reason="ome-types is not installed")

SIZES = {"T": 2, "C": 3, "Z": 4}
# The pixel size in the result.
CHAINS = {
    ("gaussian:sigma=1",): (0.25, 0.5),
    ("reduce:factor=2",): (0.5, 1.0),
    ("resize:size=33x71",): (0.25 * 80 / 33, 0.5 * 60 / 71),
    ("transpose",): (0.5, 0.25),
    ("reduce:factor=3", "transpose"): (1.5, 0.75),
    ("--region", "20x10+3+4"): (0.25, 0.5),
    ("--pyramid", "--tile", "16"): (0.25, 0.5),
    ("--page", "0"): (0.25, 0.5),
    ("gaussian:sigma=1", "--page", "0"): (0.25, 0.5),
}


def ome_pixels(path):
    with tifffile.TiffFile(path) as tif:
        ome_types.validate_xml(tif.ome_metadata)
        pixels = ome_types.from_xml(tif.ome_metadata, validate=True).images[0].pixels
        sizes = dict(zip(tif.series[0].axes, tif.series[0].shape))
        assert (sizes["X"], sizes["Y"]) == (pixels.size_x, pixels.size_y)
        assert len(tif.pages) * sizes.get("S", 1) == pixels.size_z * pixels.size_c * pixels.size_t
    return pixels


@pytest.mark.parametrize("chain", CHAINS, ids=" ".join)
@pytest.mark.parametrize("axes", ["", "Z", "C", "CZ", "TCZ", "ZCT"])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "float32", "complex64"])
def test_results_are_valid(sepconv, dtype, axes, chain):
    shape = (*(SIZES[axis] for axis in axes), 60, 80)
    described = {
        "axes": axes + "YX",
        "PhysicalSizeX": 0.25,
        "PhysicalSizeY": 0.5,
        "PhysicalSizeXUnit": "mm",
        "Plane": {"PositionX": [1.0] * int(np.prod(shape[:-2]))},
    }
    if "C" in axes:
        described["Channel"] = {"Name": ["DAPI", "GFP", "mCherry"]}
    tifffile.imwrite(
        sepconv.folder / "in.ome.tif",
        random_image(shape, np.float32 if dtype == "complex64" else dtype).astype(dtype),
        ome=True,
        metadata=described,
    )
    sepconv("run", "in.ome.tif", "out.ome.tif", *chain, "--quiet")
    pixels = ome_pixels(sepconv.folder / "out.ome.tif")
    assert (pixels.physical_size_x, pixels.physical_size_y) == pytest.approx(CHAINS[chain])


@pytest.mark.parametrize("axes", ["yx", "yxc", "zyx", "czyx", "tcyx"])
def test_arrays_become_valid(sepconv, axes):
    np.save(
        sepconv.folder / "in.npy", random_image([{"y": 60, "x": 80}.get(axis, 3) for axis in axes], np.uint16)
    )
    sepconv("run", "in.npy", "out.ome.tif", "--axes", axes, "--quiet")
    ome_pixels(sepconv.folder / "out.ome.tif")
