"""Additional contents of a file are read if named and reported if not; a description that does not fit is
ignored."""

import json
import signal
import subprocess
import time

import numpy as np
import pytest
import tifffile

from cli_support import fails, image, listing
from conftest import BINARY

STACK = np.stack([image(48, 64, seed=seed) for seed in range(6)])
BIG = image(192, 256)


def reported_warnings(sepconv, *arguments):
    """The warnings of a successful run."""
    process = sepconv("run", *arguments, "--force")
    return [line.split("warning: ", 1)[1] for line in process.stderr.splitlines() if "warning: " in line]


def write_pyramid(path, kind):
    """Three levels of two images, each with a quarter of the pixels of the one before."""
    levels = [[plane[::step, ::step] for step in (1, 2, 4)] for plane in (BIG, BIG[::-1])]
    with tifffile.TiffWriter(path) as writer:
        for full, *smaller in levels:
            if kind == "sub-directories":
                writer.write(full, tile=(32, 32), subifds=2, metadata=None)
                for level in smaller:
                    writer.write(level, tile=(32, 32), subfiletype=1, metadata=None)
            else:
                writer.write(full, tile=(32, 32), metadata=None)
                for level in smaller:
                    writer.write(level, tile=(32, 32), subfiletype=1, metadata=None)
    return levels


@pytest.mark.parametrize("kind", ["sub-directories", "overviews"])
def test_levels_are_read_by_their_number_and_are_no_images(sepconv, kind):
    levels = write_pyramid(sepconv.folder / "in.tif", kind)
    for level in range(3):
        sepconv("run", "in.tif", "out.tif", "--level", level, "--force", "--quiet", "--pyramid", "none")
        assert np.array_equal(
            tifffile.imread(sepconv.folder / "out.tif", key=(0, 1)),
            np.stack([image[level] for image in levels]),
        )
        sepconv("run", "in.tif", "one.tif", "--level", level, "--page", "page=1", "--force", "--quiet")
        assert np.array_equal(tifffile.imread(sepconv.folder / "one.tif"), levels[1][level])
    assert "has no level 3; its levels are 0 to 2" in fails(
        sepconv, "run", "in.tif", "new.tif", "--level", "3", status=1
    )
    facts = json.loads(sepconv("info", "in.tif", "--json").stdout)
    assert facts["levels"] == [{"rows": 96, "cols": 128}, {"rows": 48, "cols": 64}] and facts["axes"] == [
        {"name": "page", "size": 2}
    ]


def test_levels_of_ome_pyramids_have_their_own_pixel_size(sepconv):
    with tifffile.TiffWriter(sepconv.folder / "in.ome.tif", ome=True) as writer:
        stack = np.stack([BIG, BIG[::-1], BIG[:, ::-1]])
        writer.write(
            stack,
            subifds=1,
            tile=(32, 32),
            metadata={"axes": "CYX", "PhysicalSizeX": 0.5, "PhysicalSizeXUnit": "µm"},
        )
        writer.write(stack[:, ::2, ::2], subfiletype=1, tile=(32, 32))
    sepconv("run", "in.ome.tif", "out.ome.tif", "--level", "1", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.ome.tif") as result:
        assert result.series[0].axes == "CYX" and np.array_equal(result.asarray(), stack[:, ::2, ::2])
        assert 'PhysicalSizeX="1"' in result.ome_metadata and 'SizeX="128"' in result.ome_metadata


def test_only_what_has_levels_takes_one(sepconv):
    np.save(sepconv.folder / "in.npy", BIG)
    assert "levels" in fails(sepconv, "run", "in.npy", "out.npy", "--level", "1", status=1)
    tifffile.imwrite(sepconv.folder / "in.tif", BIG)
    assert "full image only" in fails(sepconv, "run", "in.tif", "out.tif", "--level", "1", status=1)


def test_masks_are_no_images(sepconv):
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as writer:
        for plane in STACK[:3]:
            writer.write(plane, metadata=None, contiguous=False)
            writer.write(plane > 9, subfiletype=4, metadata=None)
    lines = reported_warnings(sepconv, "in.tif", "out.tif")
    assert not [line for line in lines if "mask" in line]
    with tifffile.TiffFile(sepconv.folder / "out.tif") as result:
        assert np.array_equal(np.stack([page.asarray() for page in result.pages[::2]]), STACK[:3])
        assert np.array_equal(
            np.stack([page.asarray() for page in result.pages[1::2]]), np.where(STACK[:3] > 9, 255, 0)
        )
    others = json.loads(sepconv("info", "in.tif", "--json").stdout)["others"]
    assert others == [{"page": page, "what": "mask"} for page in (1, 3, 5)]


def write_slide(path):
    """As by Aperio's scanners: the scan, its thumbnail, a level, a label and a macro."""
    with tifffile.TiffWriter(path) as writer:
        writer.write(
            BIG,
            tile=(32, 32),
            metadata=None,
            description="Aperio Image Library v1\n256x192 [0,0 256x192] (32x32)|AppMag = 20",
        )
        writer.write(
            BIG[::8, ::8],
            metadata=None,
            description="Aperio Image Library v1\n256x192 -> 32x24 - |AppMag = 20",
        )
        writer.write(
            BIG[::4, ::4],
            tile=(32, 32),
            metadata=None,
            description="Aperio Image Library v1\n256x192 (32x32) -> 64x48",
        )
        writer.write(
            BIG[:40, :50], metadata=None, subfiletype=1, description="Aperio Image Library v1\nlabel 50x40"
        )
        writer.write(
            BIG[:40, :90], metadata=None, subfiletype=9, description="Aperio Image Library v1\nmacro 90x40"
        )


def test_of_a_slide_the_scan_is_filtered_and_the_rest_is_named(sepconv):
    write_slide(sepconv.folder / "in.svs.tif")
    lines = reported_warnings(sepconv, "in.svs.tif", "out.tif")
    assert np.array_equal(tifffile.imread(sepconv.folder / "out.tif"), BIG)
    for page, name in ((1, "thumbnail"), (3, "label"), (4, "macro")):
        assert [line for line in lines if f"page {page} ({name})" in line], lines
    sepconv("run", "in.svs.tif", "level.tif", "--level", "1", "--quiet")
    assert np.array_equal(tifffile.imread(sepconv.folder / "level.tif"), BIG[::4, ::4])
    sepconv("run", "in.svs.tif", "label.tif", "--page", "3", "--quiet")
    assert np.array_equal(tifffile.imread(sepconv.folder / "label.tif"), BIG[:40, :50])


def test_pages_that_are_unlike_are_an_error_that_names_them(sepconv):
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as writer:
        for plane in (*STACK[:3], BIG):
            writer.write(plane, metadata=None, contiguous=False)
    sentence = fails(sepconv, "run", "in.tif", "out.tif", "abs", status=1)
    assert (
        "3 of 64 x 48" in sentence
        and "1 of 256 x 192" in sentence
        and "page 3 on" in sentence
        and "--page" in sentence
    )
    for text, expected in (("0-2", STACK[:3]), ("3", BIG)):
        sepconv("run", "in.tif", "out.tif", "--page", text, "--force", "--quiet")
        assert np.array_equal(
            tifffile.imread(sepconv.folder / "out.tif", key=range(3) if text == "0-2" else 0), expected
        )
    assert "not of one size" in fails(sepconv, "run", "in.tif", "new.tif", "--page", "2-3", status=1)
    assert "has no page 4" in fails(sepconv, "run", "in.tif", "new.tif", "--page", "3-4", status=1)


def described(path, xml, planes=STACK, name="a"):
    with tifffile.TiffWriter(path) as writer:
        for i, plane in enumerate(planes):
            writer.write(plane, metadata=None, contiguous=False, description=xml if i == 0 else None)


OME = """<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" UUID="urn:uuid:00000000-0000-0000-0000-000000000001">
<Image ID="Image:0" Name="cells"><Pixels ID="Pixels:0" DimensionOrder="XYZCT" Type="uint8" SizeX="64" SizeY="48" SizeZ="{z}" SizeC="{c}" SizeT="1">
<Channel ID="Channel:0:0" SamplesPerPixel="1" Name="one"/><Channel ID="Channel:0:1" SamplesPerPixel="1" Name="two"/>{data}</Pixels></Image>{more}</OME>"""


def test_planes_lie_where_tiffdata_say(sepconv):
    """Channels one after another in the file, although the order of dimensions has slices there."""
    positions = "".join(
        f'<TiffData IFD="{2 * z + c}" FirstZ="{z}" FirstC="{c}" PlaneCount="1"/>'
        for c in range(2)
        for z in range(3)
    )
    described(sepconv.folder / "in.ome.tif", OME.format(z=3, c=2, data=positions, more=""))
    sepconv("run", "in.ome.tif", "out.ome.tif", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.ome.tif") as result:
        assert result.series[0].axes == "CZYX" and "UUID" not in result.ome_metadata
        assert np.array_equal(result.asarray(), STACK.reshape(3, 2, 48, 64).swapaxes(0, 1))
    sepconv("run", "in.ome.tif", "c1.ome.tif", "--page", "c=1", "--quiet")
    assert np.array_equal(tifffile.imread(sepconv.folder / "c1.ome.tif"), STACK[1::2])


@pytest.mark.parametrize(
    "xml, words",
    [
        (OME.format(z=3, c=2, data="<TiffData/>", more="")[:-40], "damaged"),
        (OME.format(z=4, c=2, data="<TiffData/>", more=""), "planes for which there are no pages"),
        (OME.format(z=3, c=2, data='<TiffData IFD="7"/>', more=""), "planes for which there are no pages"),
        (OME.format(z=3, c=0, data="<TiffData/>", more=""), "invalid"),
        (OME.format(z=99999999999, c=99999999999, data="<TiffData/>", more=""), "invalid"),
        (OME.format(z=3, c=2, data="<TiffData/>", more="").replace('SizeX="64"', 'SizeX="65"'), "65 x 48"),
        (OME.format(z=3, c=2, data="<TiffData/>", more="").replace("XYZCT", "XYZCC"), "invalid"),
        ("<OME " + "<a>" * 5000, "damaged"),
        ("<OME>" + "<a>" * 5000 + "</a>" * 5000 + "</OME>", "deeper"),
        ("<OME/>", "no image"),
        ("ImageJ=1.5\nimages=7\nslices=7\n", "counts 7 images and it has 6"),
        ("ImageJ=1.5\nimages=99999999999999999999\n", "invalid"),
        ("ImageJ=1.5\nimages=6\nslices=4\n", "contradicts"),
        ('{"shape": [5, 48, 64]}', "counts 5 images and it has 6"),
        ('{"shape": [6, 48, 65]}', "another shape"),
        ('{"shape": [6, -48, 64]}', "damaged"),
        ('{"shape": ' + "[" * 1000, "damaged"),
    ],
)
def test_a_description_that_does_not_fit_is_left_out_and_its_pages_are_pages(sepconv, xml, words):
    described(sepconv.folder / "in.tif", xml)
    lines = reported_warnings(sepconv, "in.tif", "out.tif")
    assert [line for line in lines if words in line and "one by one" in line], lines
    with tifffile.TiffFile(sepconv.folder / "out.tif") as result:
        assert not result.is_ome and not result.is_imagej and not result.is_shaped
        assert np.array_equal(np.stack([page.asarray() for page in result.pages]), STACK)


OTHER = '<TiffData IFD="0" FirstZ="{0}" PlaneCount="1"><UUID FileName="b.ome.tif">urn:uuid:00000000-0000-0000-0000-000000000002</UUID></TiffData>'


@pytest.mark.parametrize(
    "xml, words",
    [
        (OME.format(z=3, c=2, data=OTHER.format(0), more=""), "several files"),
        (
            '<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><BinaryOnly MetadataFile="a.companion.ome" UUID="urn:uuid:1"/></OME>',
            "another file",
        ),
        (
            OME.format(
                z=3,
                c=1,
                data='<TiffData IFD="0" PlaneCount="3"/>',
                more='<Image ID="Image:1" Name="more"><Pixels ID="Pixels:1" DimensionOrder="XYZCT" Type="uint8" SizeX="64" SizeY="48" SizeZ="1" SizeC="1" SizeT="1">'
                '<TiffData IFD="3"/></Pixels></Image>',
            ),
            "several sizes",
        ),
    ],
)
def test_descriptions_of_more_than_this_files_stack_are_errors(sepconv, xml, words):
    described(sepconv.folder / "in.tif", xml)
    sentence = fails(sepconv, "run", "in.tif", "out.tif", "abs", status=1)
    assert words in sentence and "--page" in sentence
    sepconv("run", "in.tif", "out.tif", "--page", "2", "--quiet")
    assert np.array_equal(tifffile.imread(sepconv.folder / "out.tif"), STACK[2])


def test_images_of_equal_shape_are_a_series(sepconv):
    planes = STACK.reshape(2, 3, 48, 64)
    with tifffile.TiffWriter(sepconv.folder / "in.ome.tif", ome=True) as writer:
        for series in planes:
            writer.write(series, metadata={"axes": "ZYX"}, photometric="minisblack")
    sepconv("run", "in.ome.tif", "out.ome.tif", "box:radius=1", "cast:type=f32")
    with tifffile.TiffFile(sepconv.folder / "out.ome.tif") as result:
        assert [series.shape for series in result.series] == [(3, 48, 64)] * 2
    sepconv("run", "in.ome.tif", "one.ome.tif", "--page", "s=1,z=0-1", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "one.ome.tif") as result:
        assert len(result.series) == 1 and np.array_equal(result.asarray(), planes[1, :2])


def test_a_label_beside_the_slide_in_ome_is_named(sepconv):
    with tifffile.TiffWriter(sepconv.folder / "in.ome.tif", ome=True) as writer:
        writer.write(STACK, metadata={"axes": "ZYX", "Name": "slide"}, photometric="minisblack")
        writer.write(BIG, metadata={"axes": "YX", "Name": "label image"}, photometric="minisblack")
    lines = reported_warnings(sepconv, "in.ome.tif", "out.ome.tif")
    assert [line for line in lines if "page 6 (label image) is not read" in line], lines
    with tifffile.TiffFile(sepconv.folder / "out.ome.tif") as result:
        assert len(result.series) == 1 and np.array_equal(result.asarray(), STACK)


@pytest.mark.parametrize("text", ["x", "c=", "3-1", "1,2", "c=1,c=2", "-1", "1.5"])
def test_what_is_no_page(sepconv, text):
    assert "is not a page" in fails(sepconv, "run", "in.tif", "out.tif", f"--page={text}", status=2)


def test_a_run_that_breaks_off_leaves_nothing(sepconv):
    """A page with damaged pixels after intact ones."""
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as writer:
        for plane in STACK:
            writer.write(plane, metadata=None, contiguous=False, compression="zlib")
    with tifffile.TiffFile(sepconv.folder / "in.tif") as file:
        offset = file.pages[4].dataoffsets[0]
    content = bytearray((sepconv.folder / "in.tif").read_bytes())
    content[offset : offset + 40] = b"x" * 40
    (sepconv.folder / "in.tif").write_bytes(content)
    fails(sepconv, "run", "in.tif", "out.tif", "box:radius=1", "--quiet", status=1)


def test_a_run_that_is_stopped_between_images_leaves_nothing(sepconv):
    """Stopped after the first of many: the temporary file exists and is removed."""
    stack = np.random.default_rng(1).integers(0, 255, (400, 300, 300), np.uint8)
    tifffile.imwrite(sepconv.folder / "in.tif", stack, photometric="minisblack", metadata=None)
    running = subprocess.Popen(
        [BINARY, "run", "in.tif", "out.tif", "gaussian:sigma=8", "--quiet", "--threads", "1"],
        cwd=sepconv.folder,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # ignored if these tests run in the background
    while running.poll() is None and not any(name != "in.tif" for name in listing(sepconv.folder)):
        time.sleep(0.005)
    time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    assert running.wait(60) == 130
    assert listing(sepconv.folder) == ["in.tif"]


def test_of_pages_that_are_named_nothing_is_said_of_others(sepconv):
    write_slide(sepconv.folder / "in.tif")
    assert not [
        line
        for line in reported_warnings(sepconv, "in.tif", "out.tif", "--page", "0")
        if "is not read;" in line and "page" in line.split()[0]
    ]


def test_pages_of_no_channels_are_damage(sepconv):
    described(sepconv.folder / "in.tif", OME.format(z=3, c=2, data="<TiffData/>", more=""))
    with tifffile.TiffFile(sepconv.folder / "in.tif", mode="r+b") as file:
        for page in file.pages:
            page.tags[277].overwrite(0)
    assert "SamplesPerPixel" in fails(sepconv, "run", "in.tif", "out.tif", "abs", status=1)


def test_a_plan_is_for_images_stored_alike(sepconv):
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as writer:
        writer.write(STACK[0], metadata=None, contiguous=False)
        writer.write(STACK[1], metadata=None, compression="zlib", tile=(16, 16))
    (sepconv.folder / "plan.json").write_text(
        sepconv("plan", "in.tif", "out.tif", "box:radius=1", "--json").stdout
    )
    sentence = fails(sepconv, "run", "in.tif", "out.tif", "--plan", "plan.json", "--quiet", status=2)
    assert "at page=1, which is tiles of 16 x 16" in sentence


def test_info_of_a_level_and_of_no_selection(sepconv):
    write_pyramid(sepconv.folder / "in.tif", "overviews")
    (page,) = json.loads(sepconv("info", "in.tif", "--level", "2", "--json").stdout)["pages"]
    assert (page["rows"], page["cols"]) == (48, 64)
    (page,) = json.loads(sepconv("info", "in.tif", "--page", "3", "--level", "1", "--json").stdout)["pages"]
    assert (page["page"], page["rows"]) == (3, 96)
    assert "by its number" in fails(sepconv, "info", "in.tif", "--page", "page=1", status=2)
