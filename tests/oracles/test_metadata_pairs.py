"""Axes, pixel sizes, steps along z and t, and channels of a source are kept in a result of any format, or a
warning reports the loss; stages that rescale change the numbers. Read by tifffile and Pillow, and directly as
JSON and XML."""

import json
import struct
import xml.etree.ElementTree

import numpy as np
import pytest

tifffile = pytest.importorskip("tifffile")
Image = pytest.importorskip("PIL.Image")

ROWS, COLS = 48, 64
X, Y, Z, STEP = 0.5, 0.25, 2.0, 1.5  # micrometres, seconds
NAMES = ["DAPI", "GFP"]
MICROMETRES = {
    "µm": 1,
    "um": 1,
    "micron": 1,
    "micrometer": 1,
    "m": 1e6,
    "meter": 1e6,
    "cm": 1e4,
    "centimeter": 1e4,
    "in": 25400,
    "inch": 25400,
    "mm": 1e3,
}
SECONDS = {"s": 1, "sec": 1, "second": 1, "ms": 1e-3, "millisecond": 1e-3}


def pixels(*counts, channels=1):
    shape = (*counts, ROWS, COLS, *([channels] if channels > 1 else []))
    return np.random.default_rng(3).integers(1, 200, shape).astype(np.uint8)


# ---- sources: each writes a file and returns its name and its metadata


def per_centimetre(x=X, y=Y):
    return {"resolution": (1e4 / x, 1e4 / y), "resolutionunit": "CENTIMETER"}


def plain_tiff(folder):
    tifffile.imwrite(folder / "plain.tif", pixels(), metadata=None, tile=(16, 16), **per_centimetre())
    return "plain.tif", {"x": X, "y": Y}


def plain_pages(folder):
    tifffile.imwrite(
        folder / "pages.tif", pixels(4), metadata=None, photometric="minisblack", **per_centimetre()
    )
    return "pages.tif", {"x": X, "y": Y}


def imagej(folder):
    tifffile.imwrite(
        folder / "ij.tif",
        pixels(2, 3, 2),
        imagej=True,
        resolution=(1 / X, 1 / Y),
        metadata={"axes": "TZCYX", "unit": "um", "spacing": Z, "finterval": STEP},
    )
    return "ij.tif", {"x": X, "y": Y, "z": Z, "t": STEP, "axes": {"t": 2, "z": 3, "c": 2}}


def ome_tiff(folder):
    metadata = {
        "axes": "TCZYX",
        "PhysicalSizeX": X,
        "PhysicalSizeY": Y,
        "PhysicalSizeZ": Z,
        "TimeIncrement": STEP,
        "Channel": {"Name": NAMES},
    }
    tifffile.imwrite(folder / "in.ome.tif", pixels(2, 2, 3), photometric="minisblack", metadata=metadata)
    return "in.ome.tif", {"x": X, "y": Y, "z": Z, "t": STEP, "c": NAMES, "axes": {"t": 2, "z": 3, "c": 2}}


def shaped(folder):
    tifffile.imwrite(
        folder / "shaped.tif",
        pixels(2, 3),
        photometric="minisblack",
        metadata={"axes": "TZYX"},
        **per_centimetre(),
    )
    return "shaped.tif", {"x": X, "y": Y, "axes": {"t": 2, "z": 3}}


def shaped_with_sizes(folder):
    """OME-XML input that tifffile writes as JSON, because the name does not end in .ome.tif."""
    metadata = {
        "axes": "TCZYX",
        "PhysicalSizeX": X,
        "PhysicalSizeY": Y,
        "PhysicalSizeZ": Z,
        "TimeIncrement": STEP,
        "Channel": {"Name": NAMES},
    }
    tifffile.imwrite(folder / "sizes.tif", pixels(2, 2, 3), photometric="minisblack", metadata=metadata)
    return "sizes.tif", {"x": X, "y": Y, "z": Z, "t": STEP, "c": NAMES, "axes": {"t": 2, "z": 3, "c": 2}}


APERIO = "Aperio Image Library v11.2.1 \r\n64x48 [0,0 64x48] (16x16) JPEG/RGB Q=30|AppMag = 20|StripeWidth = 2040|MPP = 0.5000|Left = 25.7|OriginalWidth = 64"


def svs(folder):
    with tifffile.TiffWriter(folder / "slide.svs") as tif:
        tif.write(pixels(channels=3), photometric="rgb", tile=(16, 16), metadata=None, description=APERIO)
        tif.write(
            pixels(channels=3)[::4, ::4],
            photometric="rgb",
            metadata=None,
            description="Aperio Image Library v11.2.1 \n64x48 -> 16x12 - |AppMag = 20|MPP = 0.5000",
        )
    return "slide.svs", {"x": 0.5, "y": 0.5}


def geotiff(folder):
    tags = [
        (33550, "d", 3, (X * 1e-6, Y * 1e-6, 0.0), True),
        (33922, "d", 6, (0.0, 0.0, 0.0, 440720.0, 3751320.0, 0.0), True),
        (34735, "H", 8, (1, 1, 0, 1, 1024, 0, 1, 1), True),
    ]
    tifffile.imwrite(folder / "geo.tif", pixels(), metadata=None, extratags=tags)
    return "geo.tif", {"x": X, "y": Y}


def write_zarr(path, array, version, attributes, names=None):
    """An array of one chunk, in a group if there are attributes."""
    inner = path / "0" if attributes else path
    inner.mkdir(parents=True)
    chunk = inner / ("c/" * (version == 3) + "/".join("0" * array.ndim))
    chunk.parent.mkdir(parents=True)
    chunk.write_bytes(array.tobytes())
    if version == 2:
        (inner / ".zarray").write_text(
            json.dumps(
                {
                    "zarr_format": 2,
                    "shape": array.shape,
                    "chunks": array.shape,
                    "dtype": "|u1",
                    "compressor": None,
                    "filters": None,
                    "order": "C",
                    "fill_value": 0,
                    "dimension_separator": "/",
                }
            )
        )
        if attributes:
            (path / ".zgroup").write_text('{"zarr_format": 2}')
            (path / ".zattrs").write_text(json.dumps(attributes))
        return
    (inner / "zarr.json").write_text(
        json.dumps(
            {
                "zarr_format": 3,
                "node_type": "array",
                "shape": array.shape,
                "data_type": "uint8",
                "fill_value": 0,
                "attributes": {},
                "codecs": [{"name": "bytes"}],
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": array.shape}},
                "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                **({"dimension_names": names} if names else {}),
            }
        )
    )
    if attributes:
        (path / "zarr.json").write_text(
            json.dumps({"zarr_format": 3, "node_type": "group", "attributes": attributes})
        )


def ome_zarr(folder, version):
    axes = [
        {"name": "t", "type": "time", "unit": "second"},
        {"name": "c", "type": "channel"},
        *({"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"),
    ]
    scale = {"type": "scale", "scale": [STEP, 1, Z, Y, X]}
    multiscale = {
        "name": "cells",
        "axes": axes,
        "datasets": [{"path": "0", "coordinateTransformations": [scale]}],
    }
    window = {"min": 0, "max": 255, "start": 0, "end": 255}
    channels = {"channels": [{"label": name, "color": "00FF00", "window": window} for name in NAMES]}
    if version == 2:
        attributes = {"multiscales": [multiscale | {"version": "0.4"}], "omero": channels}
    else:
        attributes = {"ome": {"version": "0.5", "multiscales": [multiscale], "omero": channels}}
    write_zarr(folder / "ome.zarr", pixels(2, 2, 3), version, attributes, list("tczyx"))
    return "ome.zarr", {"x": X, "y": Y, "z": Z, "t": STEP, "c": NAMES, "axes": {"t": 2, "z": 3, "c": 2}}


def ome_zarr_4(folder):
    return ome_zarr(folder, 2)


def ome_zarr_5(folder):
    return ome_zarr(folder, 3)


def plain_zarr(folder):
    write_zarr(folder / "plain.zarr", pixels(2, 3), 3, {}, list("tzyx"))
    return "plain.zarr", {"axes": {"t": 2, "z": 3}}


def npy(folder):
    np.save(folder / "in.npy", pixels(2, 3))
    return "in.npy", {"axes": {"t": 2, "z": 3}, "options": ["--axes", "tzyx"]}


def picture(name, **options):
    def write(folder):
        Image.fromarray(pixels(channels=3)).save(folder / name, dpi=(200, 100), **options)
        return name, {"x": 25400 / 200, "y": 25400 / 100}

    write.__name__ = name.split(".")[1]
    return write


SOURCES = [
    plain_tiff,
    plain_pages,
    imagej,
    ome_tiff,
    shaped,
    shaped_with_sizes,
    svs,
    geotiff,
    ome_zarr_4,
    ome_zarr_5,
    plain_zarr,
    npy,
    picture("in.png"),
    picture("in.jpg", quality=95),
    picture("in.bmp"),
]


# ---- results: metadata found by a reader


def size(value, unit, units):
    return float(value) * units[unit] if unit in units else None


def known_from_ome(xml):
    root = xml_root(xml)
    images = [node for node in root if node.tag.endswith("}Image")]
    found = next(node for node in images[0] if node.tag.endswith("}Pixels"))
    known = {"axes": {axis: int(found.get("Size" + axis.upper())) for axis in "tzc"}}
    for axis in "xyz":
        if found.get("PhysicalSize" + axis.upper()):
            known[axis] = size(
                found.get("PhysicalSize" + axis.upper()),
                found.get(f"PhysicalSize{axis.upper()}Unit", "µm"),
                MICROMETRES,
            )
    if found.get("TimeIncrement"):
        known["t"] = size(found.get("TimeIncrement"), found.get("TimeIncrementUnit", "s"), SECONDS)
    known["c"] = [channel.get("Name") for channel in found if channel.tag.endswith("}Channel")]
    return known


def xml_root(text):
    return xml.etree.ElementTree.fromstring(text.encode())


def known_from_tiff(path):
    with tifffile.TiffFile(path) as tif:
        page = tif.pages[0]
        tags = {tag.code: tag.value for tag in page.tags.values()}
        if tif.is_ome:
            return known_from_ome(tif.ome_metadata)
        known = {
            "axes": {
                axis.lower(): length
                for axis, length in zip(tif.series[0].axes, tif.series[0].shape)
                if axis in "TZC"
            }
        }
        unit = MICROMETRES.get({2: "inch", 3: "cm"}.get(int(tags.get(296, 2))))
        if tif.is_imagej:
            told = tif.imagej_metadata
            unit = MICROMETRES.get(told.get("unit"), unit)
            known |= {axis: told[key] for axis, key in (("z", "spacing"), ("t", "finterval")) if key in told}
        if tif.is_shaped and "PhysicalSizeX" in (tif.shaped_metadata or [{}])[0]:
            told = tif.shaped_metadata[0]
            known |= {
                axis: told[key]
                for axis, key in (
                    ("x", "PhysicalSizeX"),
                    ("y", "PhysicalSizeY"),
                    ("z", "PhysicalSizeZ"),
                    ("t", "TimeIncrement"),
                )
            }
            return known | {"c": told["Channel"]["Name"]}
        if 282 in tags and unit:
            known |= {axis: unit / (tags[code][0] / tags[code][1]) for axis, code in (("x", 282), ("y", 283))}
        elif 33550 in tags:
            known |= {"x": tags[33550][0] * 1e6, "y": tags[33550][1] * 1e6}
        elif 34264 in tags:  # the sides of a pixel as vectors, one per column
            known |= {
                axis: np.hypot(tags[34264][column], tags[34264][4 + column]) * 1e6
                for column, axis in enumerate("xy")
            }
        return known


def known_from_zarr(path):
    group = json.loads(
        next(path / name for name in ("zarr.json", ".zattrs") if (path / name).exists()).read_text()
    )
    meta = group.get("attributes", group)
    meta = meta.get("ome", meta)
    if "multiscales" not in meta:  # an array
        names = group.get("dimension_names") or group["_ARRAY_DIMENSIONS"]
        shape = group.get("shape") or json.loads((path / ".zarray").read_text())["shape"]
        return {"axes": {name: length for name, length in zip(names, shape) if name in "tzc"}}
    image = meta["multiscales"][0]
    scales = next(
        item["scale"] for item in image["datasets"][0]["coordinateTransformations"] if item["type"] == "scale"
    )
    array = path / image["datasets"][0]["path"]
    shape = json.loads(
        next(array / name for name in ("zarr.json", ".zarray") if (array / name).exists()).read_text()
    )["shape"]
    known = {"axes": {}}
    for axis, scale, length in zip(image["axes"], scales, shape):
        name = axis["name"]
        if name in "tzc":
            known["axes"][name] = length
        if "unit" in axis:
            known[name] = size(scale, axis["unit"], SECONDS if name == "t" else MICROMETRES)
    if "omero" in meta:
        known["c"] = [channel["label"] for channel in meta["omero"]["channels"]]
    return known


def known_from_picture(path):
    with Image.open(path) as image:
        density, unit = image.info.get("dpi"), 25400
        if "jfif_density" in image.info:
            density, unit = image.info["jfif_density"], {1: 25400, 2: 1e4}.get(image.info["jfif_unit"])
    return (
        {"x": unit / float(density[0]), "y": unit / float(density[1])}
        if unit and density and density[0]
        else {}
    )


def known_from(path):
    if path.suffix == ".tif":
        return known_from_tiff(path)
    if path.suffix == ".zarr":
        return known_from_zarr(path)
    return {} if path.suffix in (".npy",) else known_from_picture(path)


RESULTS = {
    "out.tif": [],
    "out.ome.tif": [],
    "out.zarr": [],
    "out4.zarr": ["--zarr", "2"],
    "out.npy": [],
    "out.png": [],
    "out.jpg": [],
    "out.bmp": [],
}
HOLDS_STACKS = (".tif", ".zarr", ".npy")

# Words of the warnings about losses.
LOST = {
    "x": ["sizes of pixels", "resolution", "GeoTIFF tags"],
    "y": ["sizes of pixels", "resolution", "GeoTIFF tags"],
    "z": ["distance of planes", "counts other images", "sizes of pixels and names of channels are left out"],
    "t": ["time step", "counts other images", "sizes of pixels and names of channels are left out"],
    "c": ["names of channels", "names and colours of channels", "counts other images"],
}


def check(known, told, said, scales, where):
    for fact, words in LOST.items():
        if fact not in told:
            continue
        want = told[fact] * scales.get(fact, 1) if fact != "c" else told[fact]
        found = known.get(fact)
        arrived = (
            found == want if fact == "c" else found is not None and found == pytest.approx(want, rel=6e-3)
        )
        assert arrived or (found in (None, [None] * len(NAMES)) and any(word in said for word in words)), (
            f"{where}: {fact} is {found} and should be {want}; said was: {said}"
        )
        if arrived and fact in "xy" and found is not None:
            assert not any(f"{word} of the source is not kept" in said for word in words), f"{where}: {said}"


STAGES = {
    "copy": ([], {}),
    "blur": (["gaussian:sigma=1"], {}),
    "reduce": (["reduce:factor=2"], {"x": 2, "y": 2}),
    "resize": (["resize:size=32x12"], {"x": 2, "y": 4}),
    "region": (["--region", "32x16+8+4"], {}),
    "transpose": (["transpose"], {"x": Y / X, "y": X / Y}),
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
def test_what_is_known_arrives_or_is_said_to_be_lost(sepconv, source, stage):
    name, told = source(sepconv.folder)
    arguments, scales = STAGES[stage]
    if stage == "transpose" and "x" in told:
        scales = {"x": told["y"] / told["x"], "y": told["x"] / told["y"]}
    counts = told.get("axes", {})
    for result, options in RESULTS.items():
        item = not result.endswith(HOLDS_STACKS) and (counts or source is plain_pages)
        plane = ["--page", ",".join(f"{axis}=0" for axis in counts) or "0"] if item else []
        process = sepconv(
            "run", name, result, *arguments, *options, *plane, *told.get("options", []), "--force"
        )
        said = process.stderr + process.stdout
        check(known_from(sepconv.folder / result), told, said, scales, f"{name} to {result}, {stage}")


@pytest.mark.parametrize(
    "source",
    [imagej, ome_tiff, shaped, ome_zarr_4, ome_zarr_5, plain_zarr, npy],
    ids=lambda source: source.__name__,
)
def test_axes_arrive(sepconv, source):
    name, told = source(sepconv.folder)
    for result, options in RESULTS.items():
        if not result.endswith((".tif", ".zarr")):
            continue
        sepconv(
            "run", name, result, "gaussian:sigma=1", *options, *told.get("options", []), "--quiet", "--force"
        )
        axes = known_from(sepconv.folder / result)["axes"]
        assert {axis: length for axis, length in axes.items() if length > 1} == told["axes"], result


def test_levels_have_sizes_of_their_own(sepconv):
    """--level 1 of files with levels: numbers are the level's."""
    for make in (plain_tiff, svs, ome_tiff, ome_zarr_5):
        name, told = make(sepconv.folder)
        levels = "levels.zarr" if name.endswith(".zarr") else "levels.tif"
        sepconv("run", name, levels, "--pyramid", "--tile", "16", "--quiet", "--force")
        for result in ("out.ome.tif", "out.zarr", "out.tif"):
            sepconv("run", levels, result, "--level", "1", "--quiet", "--force")
            known = known_from(sepconv.folder / result)
            assert (known["x"], known["y"]) == pytest.approx((2 * told["x"], 2 * told["y"]), rel=1e-5), (
                name,
                result,
            )


@pytest.mark.parametrize("axes, shape", [("YX", ()), ("ZYX", (3,)), ("TCYX", (2, 3)), ("YXS", ())])
@pytest.mark.parametrize(
    "layout",
    [["--pyramid"], ["--pyramid", "--planar"], ["--cog"], ["--pyramid", "--compress", "deflate"]],
    ids=" ".join,
)
def test_levels_of_what_tifffile_wrote_are_read_by_tifffile(sepconv, axes, shape, layout, caplog):
    if "--cog" in layout and shape:
        pytest.skip("a Cloud Optimized GeoTIFF holds one image")
    values = pixels(*shape, channels=3 if axes.endswith("S") else 1)
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        values,
        tile=(16, 16),
        photometric="rgb" if axes.endswith("S") else "minisblack",
        metadata={"axes": axes},
    )
    sepconv("run", "in.tif", "out.tif", "--tile", "16", *layout, "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        series = tif.series[0]
        planar = "--planar" in layout and axes.endswith("S")
        assert tif.shaped_metadata and series.axes == ("SYX" if planar else axes)
        levels = [
            level.shape for item in tif.series for level in item.levels
        ]  # tifffile lists some as series, also of its own files
        assert levels[1:3] == [
            tuple(np.array(series.shape) // [f if a in "YX" else 1 for a in series.axes]) for f in (2, 4)
        ]
        assert np.array_equal(np.moveaxis(tif.asarray(), 0, -1) if planar else tif.asarray(), values)
    assert not caplog.records


def test_no_reader_takes_a_result_for_an_svs_that_is_not_laid_out_as_one(sepconv):
    svs(sepconv.folder)
    for layout, is_svs in (([], True), (["--pyramid"], False), (["--tile", "0"], False)):
        sepconv("run", "slide.svs", "out.tif", "reduce:factor=2", "--quiet", "--force", *layout)
        with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
            assert tif.is_svs == is_svs and len(tif.series) == 1
            assert (
                "MPP = 1|" in tif.pages[0].description + "|"
                and "AppMag = 10" in tif.pages[0].description
                and "OriginalWidth" not in tif.pages[0].description
            )
        sepconv(
            "run", "out.tif", "again.tif", "reduce:factor=2", "--quiet", "--force"
        )  # also if it begins differently
        with tifffile.TiffFile(sepconv.folder / "again.tif") as tif:
            assert "MPP = 2|" in tif.pages[0].description + "|"


def test_sizes_of_a_scan_are_not_those_of_its_thumbnail(sepconv):
    svs(sepconv.folder)
    assert (
        "MPP and AppMag of the page's description are left out"
        in sepconv("run", "slide.svs", "out.tif", "--page", "1").stderr
    )
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        assert "MPP" not in tif.pages[0].description


def test_a_text_that_states_the_size_of_a_pixel_falls_when_pixels_have_another(sepconv):
    tifffile.imwrite(sepconv.folder / "in.tif", pixels(), metadata=None, description="PixelSize=0.5 um")
    for stage, stays in (("gaussian:sigma=1", True), ("transpose", True), ("reduce:factor=2", False)):
        said = sepconv("run", "in.tif", "out.tif", stage, "--force").stderr
        with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
            assert (tif.pages[0].description == "PixelSize=0.5 um") == stays
        assert ("it states sizes of pixels" in said) == (not stays)
