"""Files of several images: all are filtered, and tifffile reads the axes that the result declares."""

import json
import struct

import numpy as np
import pytest
import tifffile

ROWS, COLS = 37, 45


def random_stack(*sizes, dtype=np.uint16, seed=1):
    random = np.random.default_rng(seed)
    shape = (*sizes, ROWS, COLS)
    if np.issubdtype(dtype, np.integer):
        return random.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    return random.random(shape).astype(dtype)


def filtered(sepconv, stack, *stages):
    """Filters plane by plane, as single images."""
    planes = stack.reshape(-1, *stack.shape[-2:])
    results = [sepconv.filter(plane, *stages) for plane in planes]
    return np.stack(results).reshape(*stack.shape[:-2], *results[0].shape)


def only_series(path):
    with tifffile.TiffFile(path) as file:
        assert len(file.series) == 1
        return file.series[0].axes, file.series[0].asarray()


OME = {
    "PhysicalSizeX": 0.25,
    "PhysicalSizeXUnit": "µm",
    "PhysicalSizeY": 0.5,
    "PhysicalSizeYUnit": "µm",
    "PhysicalSizeZ": 2.0,
    "Channel": {"Name": ["DAPI", "GFP", "mCherry"]},
}


def write_ome(path, stack, axes, **options):
    tifffile.imwrite(path, stack, ome=True, metadata={"axes": axes + "YX", **OME}, **options)


def ome_pixels(path):
    """The attributes of the only Pixels, and the names of its channels."""
    from xml.etree import ElementTree

    with tifffile.TiffFile(path) as file:
        root = ElementTree.fromstring(file.ome_metadata)
    (pixels,) = root.iter("{http://www.openmicroscopy.org/Schemas/OME/2016-06}Pixels")
    return pixels.attrib, [child.get("Name") for child in pixels if child.tag.endswith("Channel")]


@pytest.mark.parametrize("axes", ["TCZ", "CTZ", "ZCT", "TZC", "CZ", "T"])
def test_ome_tiff_in_any_order_of_its_axes(sepconv, axes):
    sizes = {"T": 2, "C": 3, "Z": 4}
    stack = random_stack(*(sizes[axis] for axis in axes))
    write_ome(sepconv.folder / "in.ome.tif", stack, axes)
    sepconv("run", "in.ome.tif", "out.ome.tif", "box:radius=1", "cast:type=f32")
    found, values = only_series(sepconv.folder / "out.ome.tif")
    assert found == axes + "YX"
    np.testing.assert_array_equal(values, filtered(sepconv, stack, "box:radius=1", "cast:type=f32"))
    pixels, names = ome_pixels(sepconv.folder / "out.ome.tif")
    assert pixels["Type"] == "float" and [pixels["Size" + a] for a in "XY"] == [str(COLS), str(ROWS)]
    assert float(pixels["PhysicalSizeX"]) == 0.25 and float(pixels["PhysicalSizeY"]) == 0.5
    assert names == (["DAPI", "GFP", "mCherry"] if "C" in axes else names)


def test_a_selection_keeps_its_axes_and_names(sepconv):
    stack = random_stack(2, 3, 4)
    write_ome(sepconv.folder / "in.ome.tif", stack, "TCZ")
    for text, expected, axes, channels in (
        ("c=1", stack[:, 1], "TZYX", ["GFP"]),
        ("z=1-2,t=1", stack[1, :, 1:3], "CZYX", ["DAPI", "GFP", "mCherry"]),
        ("z=3,t=0,c=2", stack[0, 2, 3], "YX", ["mCherry"]),
        ("5", stack[0, 1, 1], "YX", ["GFP"]),
    ):
        sepconv("run", "in.ome.tif", "out.ome.tif", "--page", text, "--force", "--quiet")
        found, values = only_series(sepconv.folder / "out.ome.tif")
        assert found == axes
        np.testing.assert_array_equal(values, expected)
        assert ome_pixels(sepconv.folder / "out.ome.tif")[1] == channels
    plan = sepconv("plan", "in.ome.tif", "new.tif", "--page", "c=1").stdout
    assert "8 (t 2, z 4), one at a time" in plan


def test_physical_sizes_follow_the_scale(sepconv):
    stack = random_stack(3)
    write_ome(sepconv.folder / "in.ome.tif", stack, "C")
    sepconv("run", "in.ome.tif", "half.ome.tif", "resize:size=90x37")
    pixels, _ = ome_pixels(sepconv.folder / "half.ome.tif")
    assert (
        float(pixels["PhysicalSizeX"]) == 0.125
        and float(pixels["PhysicalSizeY"]) == 0.5
        and pixels["SizeX"] == "90"
    )
    sepconv("run", "in.ome.tif", "turned.ome.tif", "transpose")
    pixels, _ = ome_pixels(sepconv.folder / "turned.ome.tif")
    assert (
        float(pixels["PhysicalSizeX"]) == 0.5
        and float(pixels["PhysicalSizeY"]) == 0.25
        and pixels["SizeX"] == str(ROWS)
    )
    np.testing.assert_array_equal(only_series(sepconv.folder / "turned.ome.tif")[1], stack.swapaxes(1, 2))
    sepconv("run", "in.ome.tif", "part.ome.tif", "--region", "20x10+5+7")
    pixels, _ = ome_pixels(sepconv.folder / "part.ome.tif")
    assert float(pixels["PhysicalSizeX"]) == 0.25 and (pixels["SizeX"], pixels["SizeY"]) == ("20", "10")
    np.testing.assert_array_equal(only_series(sepconv.folder / "part.ome.tif")[1], stack[:, 7:17, 5:25])


@pytest.mark.parametrize("axes", ["TZC", "ZC", "Z", "T", "C"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_imagej_hyperstacks(sepconv, axes, dtype):
    sizes = {"T": 2, "C": 3, "Z": 4}
    stack = random_stack(*(sizes[axis] for axis in axes), dtype=dtype)
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        stack,
        imagej=True,
        resolution=(4, 4),
        metadata={"axes": axes + "YX", "unit": "um", "spacing": 2.0},
    )
    sepconv("run", "in.tif", "out.tif", "box:radius=1")
    found, values = only_series(sepconv.folder / "out.tif")
    assert found == axes + "YX"
    np.testing.assert_array_equal(values, filtered(sepconv, stack, "box:radius=1"))
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        assert (
            file.is_imagej and file.imagej_metadata["unit"] == "um" and file.imagej_metadata["spacing"] == 2.0
        )
        assert file.imagej_metadata["images"] == np.prod([sizes[axis] for axis in axes])


@pytest.mark.parametrize("big_endian", [False, True])
def test_a_stack_behind_one_directory(sepconv, big_endian):
    """As by ImageJ above 4 GB."""
    stack = random_stack(6)
    order = ">" if big_endian else "<"
    pixels = stack.astype(order + "u2").tobytes()
    description = b"ImageJ=1.53t\nimages=6\nslices=3\nframes=2\nhyperstack=true\n\0"
    entries = [
        (256, 4, 1, COLS),
        (257, 4, 1, ROWS),
        (258, 3, 1, 16),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (270, 2, len(description), 200),
        (273, 4, 1, 512),
        (277, 3, 1, 1),
        (278, 4, 1, ROWS),
        (279, 4, 1, ROWS * COLS * 2),
    ]
    content = (
        (b"MM\0*" if big_endian else b"II*\0")
        + struct.pack(order + "I", 8)
        + struct.pack(order + "H", len(entries))
    )
    for tag, kind, count, value in entries:
        content += struct.pack(order + "HHI", tag, kind, count)
        content += struct.pack(order + "I", value) if kind != 3 else struct.pack(order + "HH", value, 0)
    content = (content + bytes(4)).ljust(200, b"\0") + description
    (sepconv.folder / "in.tif").write_bytes(content.ljust(512, b"\0") + pixels)
    sepconv("run", "in.tif", "out.tif", "box:radius=2")
    found, values = only_series(sepconv.folder / "out.tif")
    assert found == "TZYX"
    np.testing.assert_array_equal(values, filtered(sepconv, stack, "box:radius=2").reshape(2, 3, ROWS, COLS))
    sepconv("run", "in.tif", "one.tif", "--page", "t=1,z=2", "--quiet")
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "one.tif"), stack[5])


@pytest.mark.parametrize(
    "sizes, shape_of_planes",
    [((5,), "grey"), ((2,), "grey"), ((2, 3), "grey"), ((4,), "rgb"), ((2, 3, 2), "grey")],
)
def test_shaped_stacks(sepconv, sizes, shape_of_planes):
    rgb = shape_of_planes == "rgb"
    stack = np.random.default_rng(2).integers(0, 255, (*sizes, ROWS, COLS, *([3] if rgb else [])), np.uint8)
    tifffile.imwrite(sepconv.folder / "in.tif", stack, photometric="rgb" if rgb else "minisblack")
    sepconv("run", "in.tif", "out.tif", "cast:type=f32")
    _, values = only_series(sepconv.folder / "out.tif")
    np.testing.assert_array_equal(values, stack.astype(np.float32))


def test_shaped_stacks_with_named_axes_and_planes_of_channels(sepconv):
    stack = np.random.default_rng(3).integers(0, 255, (4, 3, ROWS, COLS), np.uint8)
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        stack,
        photometric="rgb",
        planarconfig="separate",
        metadata={"axes": "ZSYX"},
    )
    sepconv("run", "in.tif", "out.tif", "clamp:low=0,high=255")
    _, values = only_series(sepconv.folder / "out.tif")
    np.testing.assert_array_equal(values, stack)


@pytest.mark.parametrize(
    "options", [{}, {"compression": "zlib"}, {"tile": (16, 32), "compression": "zlib", "predictor": True}]
)
def test_plain_pages(sepconv, options):
    stack = random_stack(7)
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as writer:
        for i, page in enumerate(stack):
            writer.write(page, metadata=None, contiguous=False, description=f"page {i}", **options)
    sepconv("run", "in.tif", "out.tif", "box:radius=1")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        assert [page.description for page in file.pages] == [f"page {i}" for i in range(7)]
        values = np.stack([page.asarray() for page in file.pages])
    np.testing.assert_array_equal(values, filtered(sepconv, stack, "box:radius=1"))
    for text, part in (("3", stack[3:4]), ("2-5", stack[2:6])):
        sepconv("run", "in.tif", "part.tif", "--page", text, "--force", "--quiet")
        np.testing.assert_array_equal(
            tifffile.imread(sepconv.folder / "part.tif", key=range(len(part))).reshape(part.shape), part
        )


def test_ten_thousand_pages_take_no_walk_each(sepconv):
    stack = np.random.default_rng(4).integers(0, 255, (10000, 8, 16), np.uint8)
    tifffile.imwrite(sepconv.folder / "in.tif", stack, photometric="minisblack", metadata=None)
    sepconv("run", "in.tif", "out.tif", "scale:factor=1", "--threads", 1, "--quiet")
    np.testing.assert_array_equal(tifffile.imread(sepconv.folder / "out.tif"), stack)


def test_pages_stored_otherwise_get_plans_of_their_own(sepconv):
    stack = random_stack(3)
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as writer:
        writer.write(stack[0], metadata=None, contiguous=False)
        writer.write(stack[1], metadata=None, compression="zlib", tile=(16, 16))
        writer.write(stack[2], metadata=None, compression="zlib", rowsperstrip=4)
    sepconv("run", "in.tif", "out.tif", "box:radius=1")
    np.testing.assert_array_equal(
        tifffile.imread(sepconv.folder / "out.tif", key=range(3)), filtered(sepconv, stack, "box:radius=1")
    )


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--reference"],
        ["--threads", "1", "--band-rows", "5"],
        ["--compress", "deflate", "--tile", "16"],
        ["--bigtiff=yes"],
    ],
)
def test_however_it_is_run_the_planes_are_the_same(sepconv, options):
    stack = random_stack(2, 3)
    write_ome(sepconv.folder / "in.ome.tif", stack, "ZC")
    sepconv("run", "in.ome.tif", "out.ome.tif", "gaussian:sigma=1.5", "--quiet", *options)
    np.testing.assert_array_equal(
        only_series(sepconv.folder / "out.ome.tif")[1], filtered(sepconv, stack, "gaussian:sigma=1.5")
    )


def test_a_plan_is_for_its_stack(sepconv):
    stack = random_stack(2, 3)
    write_ome(sepconv.folder / "in.ome.tif", stack, "ZC")
    (sepconv.folder / "plan.json").write_text(
        sepconv("plan", "in.ome.tif", "out.ome.tif", "box:radius=1", "--json").stdout
    )
    sepconv("run", "in.ome.tif", "out.ome.tif", "--plan", "plan.json", "--stats", "stats.json", "--quiet")
    np.testing.assert_array_equal(
        only_series(sepconv.folder / "out.ome.tif")[1], filtered(sepconv, stack, "box:radius=1")
    )
    stats = json.loads((sepconv.folder / "stats.json").read_text())
    assert stats["rasters"] == 6 and stats["pixels"] == stack.size
    assert (
        "rasters"
        in sepconv(
            "run", "in.ome.tif", "new.ome.tif", "--plan", "plan.json", "--page", "c=0", status=2
        ).stderr
    )


def test_stats_and_compare_go_over_all_images(sepconv):
    stack = random_stack(2, 3)
    write_ome(sepconv.folder / "a.ome.tif", stack, "ZC")
    changed = stack.copy()
    changed[1, 2, 5, 6] ^= 1
    write_ome(sepconv.folder / "b.ome.tif", changed, "ZC")
    images = json.loads(sepconv("stats", "a.ome.tif", "--json").stdout)["images"]
    assert [(image["at"]["z"], image["at"]["c"]) for image in images] == [
        (z, c) for z in range(2) for c in range(3)
    ]
    np.testing.assert_allclose(
        [image["channels"][0]["mean"] for image in images], stack.reshape(6, -1).mean(axis=1)
    )
    process = sepconv("compare", "a.ome.tif", "b.ome.tif", "--json", status=1)
    result = json.loads(process.stdout)
    assert (
        result["different"] == 1
        and result["elements"] == stack.size
        and [image["equal"] for image in result["images"]] == [True] * 5 + [False]
    )
    assert sepconv("compare", "a.ome.tif", "a.ome.tif").stdout.startswith("equal")
    assert (
        "6 images (z 2, c 3)"
        in sepconv("compare", "a.ome.tif", "a.ome.tif", "--page-b", "z=0", status=1).stderr
    )
    assert sepconv("compare", "a.ome.tif", "b.ome.tif", "--page", "z=0", "--page-b", "z=0").stdout.startswith(
        "equal"
    )


def test_other_formats_say_which_hold_several(sepconv):
    write_ome(sepconv.folder / "in.ome.tif", random_stack(2, 3), "ZC")
    sentence = sepconv("run", "in.ome.tif", "out.png", status=2).stderr
    assert "cannot hold 6 images (z 2, c 3)" in sentence and ".tif" in sentence and "--page" in sentence


def test_a_new_ome_tiff_says_what_it_holds(sepconv):
    """For an image, and for a stack of pages without further description."""
    stack = random_stack(5, dtype=np.uint8)
    np.save(sepconv.folder / "in.npy", stack[0])
    sepconv("run", "in.npy", "one.ome.tif")
    pixels, _ = ome_pixels(sepconv.folder / "one.ome.tif")
    assert [pixels["Size" + axis] for axis in "XYZCT"] == [str(COLS), str(ROWS), "1", "1", "1"] and pixels[
        "Type"
    ] == "uint8"
    tifffile.imwrite(sepconv.folder / "in.tif", stack, photometric="minisblack", metadata=None)
    assert "the axis page is written as z" in sepconv("run", "in.tif", "out.ome.tif").stderr
    found, values = only_series(sepconv.folder / "out.ome.tif")
    assert found == "ZYX"
    np.testing.assert_array_equal(values, stack)


def test_pages_written_one_by_one_keep_their_own_descriptions(sepconv):
    stack = random_stack(4, dtype=np.uint8)
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as writer:
        for i, plane in enumerate(stack):
            writer.write(
                plane, photometric="minisblack", contiguous=False, metadata={"axes": "YX", "number": i}
            )
    sepconv("run", "in.tif", "out.tif", "reduce:factor=2")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        assert [json.loads(page.description)["number"] for page in file.pages] == [0, 1, 2, 3]
        assert all(json.loads(page.description)["shape"] == list(page.shape) for page in file.pages)


def test_an_imagej_description_of_one_page_is_that_of_this_page(sepconv):
    stack = random_stack(3, dtype=np.uint8)
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as writer:
        for i, plane in enumerate(stack):
            writer.write(
                plane,
                photometric="minisblack",
                contiguous=False,
                metadata=None,
                description="ImageJ=1.53t\nunit=um\n" if i == 0 else None,
            )
    sepconv("run", "in.tif", "out.tif")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        assert "unit=um" in file.pages[0].description and len(file.pages) == 3
        np.testing.assert_array_equal(np.stack([page.asarray() for page in file.pages]), stack)


def test_a_truncated_stack_of_tifffile_is_read_whole(sepconv):
    stack = random_stack(2, 3)
    tifffile.imwrite(
        sepconv.folder / "in.tif", stack, photometric="minisblack", metadata={"axes": "ZCYX"}, truncate=True
    )
    with tifffile.TiffFile(sepconv.folder / "in.tif") as file:
        assert len(file.pages) == 1
    sepconv("run", "in.tif", "out.tif")
    found, values = only_series(sepconv.folder / "out.tif")
    assert found == "ZCYX"
    np.testing.assert_array_equal(values, stack)


def test_each_image_of_a_stack_is_transposed(sepconv):
    stack = random_stack(2, 3)
    write_ome(sepconv.folder / "in.ome.tif", stack, "ZC")
    sepconv("transpose", "in.ome.tif", "out.ome.tif")
    found, values = only_series(sepconv.folder / "out.ome.tif")
    assert found == "ZCYX"
    np.testing.assert_array_equal(values, stack.swapaxes(2, 3))
    assert (
        "6 (z 2, c 3), one at a time" in sepconv("transpose", "in.ome.tif", "new.ome.tif", "--dry-run").stdout
    )


def said(run):
    return run.stdout + run.stderr


def test_what_ome_xml_tells_of_channels_falls_with_a_word(sepconv):
    stack = np.random.default_rng(2).integers(0, 255, (ROWS, COLS, 3), np.uint8)
    told = {"axes": "YXS", "Channel": {"Name": ["colours"]}}
    tifffile.imwrite(sepconv.folder / "in.ome.tif", stack, ome=True, photometric="rgb", metadata=told)
    words = "states about channels and planes (names, colours, wavelengths, places) is left out"
    assert words in said(
        sepconv("plan", "in.ome.tif", "out.ome.tif", "mix_channels:rows=2,values=1,0,0,0,1,0")
    )
    assert words in said(
        sepconv("run", "in.ome.tif", "out.ome.tif", "mix_channels:rows=2,values=1,0,0,0,1,0")
    )
    assert words not in said(sepconv("run", "in.ome.tif", "same.ome.tif", "box:radius=1"))
    assert ome_pixels(sepconv.folder / "same.ome.tif")[1] == ["colours"]
    write_ome(sepconv.folder / "stack.ome.tif", random_stack(3), "C")
    assert words not in said(sepconv("run", "stack.ome.tif", "part.ome.tif", "box:radius=1", "--page", "c=1"))


def test_what_ome_xml_tells_of_samples_falls_with_a_word_where_a_mask_becomes_one_more(sepconv):
    xml = (
        '<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels ID="Pixels:0" DimensionOrder="XYCZT" Type="uint8" SizeX="45" SizeY="37" '
        'SizeC="3" SizeZ="1" SizeT="1"><Channel ID="Channel:0:0" Name="r" SamplesPerPixel="1"/><Channel ID="Channel:0:1" Name="g" SamplesPerPixel="1"/>'
        '<Channel ID="Channel:0:2" Name="b" SamplesPerPixel="1"/><TiffData/></Pixels></Image></OME>'
    )
    for masked in (False, True):
        with tifffile.TiffWriter(sepconv.folder / "in.ome.tif") as tif:
            tif.write(np.ones((ROWS, COLS, 3), np.uint8), photometric="rgb", metadata=None, description=xml)
            if masked:
                tif.write(np.ones((ROWS, COLS), bool), subfiletype=4, metadata=None, photometric="mask")
        run = said(sepconv("run", "in.ome.tif", "out.ome.tif", "--force"))
        assert ("states about channels and planes" in run) == masked
        names = ome_pixels(sepconv.folder / "out.ome.tif")[1]
        assert ("g" in names) == (not masked)


def test_a_trace_says_of_which_image_a_band_is(sepconv):
    write_ome(sepconv.folder / "in.ome.tif", random_stack(2, 3), "ZC")
    sepconv(
        "run",
        "in.ome.tif",
        "out.ome.tif",
        "box:radius=1",
        "--page",
        "z=1",
        "--trace",
        "trace.json",
        "--band-rows",
        16,
        "--quiet",
    )
    events = json.loads((sepconv.folder / "trace.json").read_text())["traceEvents"]
    computed = [
        (event["args"]["image"], event["args"]["band"])
        for event in events
        if event["ph"] == "X" and event["cat"] == "compute"
    ]
    assert sorted(computed) == [(image, band) for image in range(3) for band in range(3)]


def test_imagej_s_display_range_falls_with_a_word(sepconv):
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        random_stack(3),
        imagej=True,
        metadata={"axes": "ZYX", "min": 3.0, "max": 9.0},
    )
    assert "of ImageJ's description are left out: min, max" in said(
        sepconv("run", "in.tif", "out.tif", "box:radius=1")
    )
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        assert "min" not in file.imagej_metadata and file.imagej_metadata["slices"] == 3
    assert "left out" not in said(sepconv("run", "in.tif", "copy.tif"))
    with tifffile.TiffFile(sepconv.folder / "copy.tif") as file:
        assert file.imagej_metadata["min"] == 3.0


@pytest.mark.parametrize(
    "page, channels",
    [
        ("t=1", [0, 1, 2]),
        ("c=1", [1]),
        ("c=1-2", [1, 2]),
        ("z=2", [0, 1, 2]),
        ("c=2,t=1,z=1", [2]),
        ("t=0", [0, 1, 2]),
    ],
)
def test_imagej_s_luts_and_display_ranges_are_those_of_the_selected_channels(sepconv, page, channels):
    """They are in the first page, whichever page is selected: compared with tifffile."""
    stack = np.random.default_rng(4).integers(0, 4096, (2, 4, 3, 20, 30)).astype(np.uint16)
    luts = [
        np.stack(
            [
                np.arange(256, dtype=np.uint8) if row == channel else np.zeros(256, np.uint8)
                for row in range(3)
            ]
        )
        for channel in range(3)
    ]
    ranges = [10.0, 100.0, 20.0, 200.0, 30.0, 300.0]
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        stack,
        imagej=True,
        metadata={"axes": "TZCYX", "mode": "composite", "LUTs": luts, "Ranges": [ranges]},
    )
    sepconv("run", "in.tif", "out.tif", "--page", page)
    with tifffile.TiffFile(sepconv.folder / "out.tif") as file:
        told = file.imagej_metadata
        found = told["LUTs"] if len(channels) > 1 else [told["LUTs"]]
        assert len(found) == len(channels) and all((a == luts[c]).all() for a, c in zip(found, channels))
        assert list(told["Ranges"]) == [ranges[2 * c + i] for c in channels for i in range(2)]
        assert (told.get("mode") == "composite") == (len(channels) > 1)


@pytest.mark.parametrize(
    "counts, fits",
    [
        ("images=2\nchannels=2\nslices=2", False),
        ("images=2\nslices=2", True),
        ("images=2\nchannels=3\nslices=2", True),
    ],
)
def test_imagej_s_counts_that_do_not_agree_are_no_axes(sepconv, counts, fits):
    """Except those of the channels of RGB pages."""
    channels = 3 if "channels=3" in counts else 1
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as writer:
        for plane in random_stack(2, channels, dtype=np.uint8):
            writer.write(
                np.moveaxis(plane, 0, -1).squeeze(),
                photometric="rgb" if channels == 3 else "minisblack",
                metadata=None,
                contiguous=False,
                description=f"ImageJ=1.53t\n{counts}\n",
            )
    run = said(sepconv("run", "in.tif", "out.tif"))
    assert ("contradicts itself: it counts 2 images, and z 2, c 2" in run) == (not fits)
    assert [axis["name"] for axis in json.loads(sepconv("info", "in.tif", "--json").stdout)["axes"]] == (
        ["z"] if fits else ["page"]
    )


@pytest.mark.parametrize("description", ["ImageJ", "shaped"])
def test_a_name_of_ome_tiff_makes_one_of_other_descriptions(sepconv, description):
    stack = random_stack(4, 3)
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        stack,
        imagej=description == "ImageJ",
        photometric="minisblack",
        metadata={"axes": "ZCYX"},
    )
    assert "description" not in said(sepconv("run", "in.tif", "out.ome.tif"))  # it contained nothing else
    found, values = only_series(sepconv.folder / "out.ome.tif")
    assert found == "ZCYX"
    np.testing.assert_array_equal(values, stack)
    pixels, _ = ome_pixels(sepconv.folder / "out.ome.tif")
    assert [pixels["Size" + axis] for axis in "XYZCT"] == [str(COLS), str(ROWS), "4", "3", "1"]
