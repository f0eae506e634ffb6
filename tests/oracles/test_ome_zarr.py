"""OME-Zarr: files of zarr-python are read with their axes, levels and names; results are valid for
ome-zarr-models, and their coordinates correct. Skipped if these are not installed; `./dev test` installs them
for its part `wheel`."""

import json
import shutil
import subprocess

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3", reason="zarr-python 3 is not installed")
models = pytest.importorskip("ome_zarr_models", reason="ome-zarr-models is not installed")
tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")

SIZES = {"t": 2, "c": 3, "z": 4, "y": 60, "x": 83}
TYPES = {"t": "time", "c": "channel"}
UNITS = {"t": "second", "z": "micrometer", "y": "micrometer", "x": "micrometer"}
SCALES = {"t": 0.1, "c": 1, "z": 2.0, "y": 0.5, "x": 0.25}
CHANNELS = [
    {
        "label": name,
        "color": color,
        "window": {"min": 0, "max": 65535, "start": 10, "end": 200},
        "active": True,
    }
    for name, color in (("DAPI", "0000FF"), ("GFP", "00FF00"), ("mCherry", "FF0000"))
]


def random_values(axes, dtype="uint16", seed=1):
    return np.random.default_rng(seed).integers(0, 60000, [SIZES[axis] for axis in axes]).astype(dtype)


def halved(values):
    """Means of 2 x 2, as sepconv's reduce computes them for integers."""
    rows, cols = values.shape[-2:]
    padded = np.full((*values.shape[:-2], rows + rows % 2, cols + cols % 2), np.nan, np.float64)
    padded[..., :rows, :cols] = values
    blocks = padded.reshape(*values.shape[:-2], padded.shape[-2] // 2, 2, padded.shape[-1] // 2, 2)
    return np.rint(np.nanmean(blocks, axis=(-3, -1))).astype(values.dtype)


def ome_attributes(axes, levels, version, scales=SCALES, name="cells", translation=None, **more):
    datasets = []
    for level in range(levels):
        transformations = [
            {"type": "scale", "scale": [scales[a] * (2**level if a in "yx" else 1) for a in axes]}
        ]
        if translation or level:
            transformations.append(
                {
                    "type": "translation",
                    "translation": [
                        (translation or {}).get(a, 0) + (scales[a] * (2**level - 1) / 2 if a in "yx" else 0)
                        for a in axes
                    ],
                }
            )
        datasets.append({"path": str(level), "coordinateTransformations": transformations})
    item = {
        "name": name,
        "axes": [
            {"name": a, "type": TYPES.get(a, "space"), **({"unit": UNITS[a]} if a in UNITS else {})}
            for a in axes
        ],
        "datasets": datasets,
    }
    all = {"multiscales": [item | ({"version": "0.4"} if version == "0.4" else {})], **more}
    if "c" in axes:
        all["omero"] = {"channels": CHANNELS}
    return all if version == "0.4" else {"ome": {"version": "0.5", **all}}


def write_ome(path, values, axes, version="0.5", levels=2, **options):
    format = 2 if version == "0.4" else 3
    group = zarr.create_group(
        path, zarr_format=format, overwrite=True, attributes=ome_attributes(axes, levels, version, **options)
    )
    for level in range(levels):
        names = {"dimension_names": list(axes)} if format == 3 else {}
        group.create_array(
            str(level),
            shape=values.shape,
            chunks=(*[1] * (values.ndim - 2), 32, 40),
            dtype=values.dtype,
            **names,
        )[...] = values
        values = halved(values)
    return group


def ome_metadata(path):
    """The validated metadata of an image as JSON, with its version."""
    group = zarr.open_group(path, mode="r")
    version = "0.5" if "ome" in group.attrs else "0.4"
    image = (models.v05 if version == "0.5" else models.v04).Image.from_zarr(group)
    for dataset in image.datasets[0] if isinstance(image.datasets[0], (tuple, list)) else []:
        assert dataset.path in group
    attributes = dict(group.attrs)
    return (attributes["ome"] if version == "0.5" else attributes), version, group


def transforms_by_level(ome):
    """Scale and translation of every level, by axis."""
    (item,) = ome["multiscales"]
    axes = [axis["name"] for axis in item["axes"]]
    positions = []
    for dataset in item["datasets"]:
        scale, *translation = dataset["coordinateTransformations"]
        shift = translation[0]["translation"] if translation else [0] * len(axes)
        positions.append({axis: (s, t) for axis, s, t in zip(axes, scale["scale"], shift)})
    return axes, positions


def read(sepconv, name, *options):
    sepconv("run", name, "read.npy", "--quiet", "--force", *options)
    return np.load(sepconv.folder / "read.npy")


@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("axes", ["yx", "zyx", "cyx", "tyx", "czyx", "tczyx"])
def test_images_are_read_with_their_levels(sepconv, axes, version):
    values = random_values(axes)
    write_ome(sepconv.folder / "in.zarr", values, axes, version)
    np.testing.assert_array_equal(read(sepconv, "in.zarr"), values)
    np.testing.assert_array_equal(read(sepconv, "in.zarr", "--level", "1"), halved(values))
    np.testing.assert_array_equal(read(sepconv, "in.zarr/1"), halved(values))
    assert "its levels are 0 to 1" in sepconv("run", "in.zarr", "no.npy", "--level", "2", status=1).stderr
    if "c" in axes:
        np.testing.assert_array_equal(
            read(sepconv, "in.zarr", "--page", "c=1"), np.take(values, 1, axes.index("c"))
        )


@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("axes", ["yx", "zyx", "cyx", "czyx", "tczyx"])
def test_a_result_is_valid_and_lies_where_its_pixels_do(sepconv, axes, version):
    values = random_values(axes)
    begins = {"y": 7.0, "x": -3.0}
    write_ome(sepconv.folder / "in.zarr", values, axes, version, translation=begins)
    sepconv("run", "in.zarr", "out.zarr", "reduce:factor=2", "--pyramid", "--tile", "16", "--quiet")
    ome, found_version, group = ome_metadata(sepconv.folder / "out.zarr")
    assert found_version == version
    named, positions = transforms_by_level(ome)
    assert named == list(axes) and len(positions) == 3  # 30 x 42, 15 x 21, 8 x 11
    expected = halved(values)
    for level, position in enumerate(positions):
        np.testing.assert_array_equal(group[str(level)][...], expected)
        factor = 2 ** (level + 1)
        for axis in axes:
            scale = SCALES[axis] * (factor if axis in "yx" else 1)
            shift = begins.get(axis, 0) + (SCALES[axis] * (factor - 1) / 2 if axis in "yx" else 0)
            assert position[axis] == pytest.approx((scale, shift)), (level, axis)
        expected = halved(expected)
    assert ome["multiscales"][0]["name"] == "cells"
    assert [axis.get("unit") for axis in ome["multiscales"][0]["axes"]] == [UNITS.get(axis) for axis in axes]
    if "c" in axes:
        assert ome["omero"]["channels"] == CHANNELS


def test_a_selection_and_a_region_say_where_they_begin(sepconv):
    values = random_values("tczyx")
    write_ome(sepconv.folder / "in.zarr", values, "tczyx")
    sepconv("run", "in.zarr", "out.zarr", "--page", "c=1-2,z=3,t=1", "--region", "30x20+8+6", "--quiet")
    ome, _, group = ome_metadata(sepconv.folder / "out.zarr")
    axes, (position, *_) = transforms_by_level(ome)
    assert position["y"] == pytest.approx((0.5, 3)) and position["x"] == pytest.approx((0.25, 2))
    assert [c["label"] for c in ome["omero"]["channels"]] == ["GFP", "mCherry"]
    np.testing.assert_array_equal(group["0"][...].reshape(2, 20, 30), values[1, 1:, 3, 6:26, 8:38])
    if "z" in axes:
        assert position["z"] == pytest.approx((2, 6))


def test_levels_of_the_source_are_made_by_default(sepconv):
    write_ome(sepconv.folder / "in.zarr", random_values("yx"), "yx", levels=3)
    sepconv("run", "in.zarr", "out.zarr", "--quiet")
    ome, _, group = ome_metadata(sepconv.folder / "out.zarr")
    assert len(ome["multiscales"][0]["datasets"]) > 1
    sepconv("run", "in.zarr", "flat.zarr", "--pyramid", "none", "--quiet")
    ome, _, group = ome_metadata(sepconv.folder / "flat.zarr")
    assert len(ome["multiscales"][0]["datasets"]) == 1


def write_tiff(path, values, axes, **more):
    metadata = {
        "axes": axes.upper(),
        "PhysicalSizeX": 0.25,
        "PhysicalSizeXUnit": "µm",
        "PhysicalSizeY": 0.5,
        "PhysicalSizeYUnit": "µm",
        "PhysicalSizeZ": 2.0,
        "PhysicalSizeZUnit": "µm",
        "TimeIncrement": 0.1,
        "TimeIncrementUnit": "s",
        **more,
    }
    if "c" in axes:
        metadata["Channel"] = {"Name": [c["label"] for c in CHANNELS], "Color": [65535, 16711935, -16776961]}
    tifffile.imwrite(path, values, ome=True, metadata=metadata)


@pytest.mark.parametrize("axes", ["yx", "zyx", "cyx", "czyx", "tczyx", "zcyx", "ctyx"])
def test_ome_tiff_there_and_back(sepconv, axes):
    values = random_values(axes)
    write_tiff(sepconv.folder / "in.ome.tif", values, axes, Name="cells")
    sepconv("run", "in.ome.tif", "mid.zarr", "--pyramid", "--tile", "32", "--quiet")
    ome, version, group = ome_metadata(sepconv.folder / "mid.zarr")
    assert version == "0.5"
    named, positions = transforms_by_level(ome)
    in_order = sorted(axes, key="tczyx".index)
    stored = group["0"][...]
    np.testing.assert_array_equal(
        stored.reshape([SIZES[a] for a in in_order]), np.transpose(values, [axes.index(a) for a in in_order])
    )
    for axis in set(axes) - {"c"}:
        assert positions[0][axis] == pytest.approx((SCALES[axis], 0)), axis
    if "c" in axes:
        assert [c["label"] for c in ome["omero"]["channels"]] == [c["label"] for c in CHANNELS]
        assert [c["color"] for c in ome["omero"]["channels"]] == [c["color"] for c in CHANNELS]
    sepconv("run", "mid.zarr", "out.ome.tif", "--compress", "none", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.ome.tif") as file:
        series = file.series[0]
        np.testing.assert_array_equal(
            series.asarray().reshape([SIZES[a] for a in in_order]),
            stored.reshape([SIZES[a] for a in in_order]),
        )
        xml = file.ome_metadata
    for said in (
        'PhysicalSizeX="0.25"',
        'PhysicalSizeXUnit="µm"',
        'PhysicalSizeY="0.5"',
        *(['PhysicalSizeZ="2"'] if "z" in axes else []),
        *(['Name="GFP"'] if "c" in axes else []),
    ):
        assert said in xml


def test_imagej_and_plain_tiffs_and_arrays(sepconv):
    stack = random_values("zyx")
    tifffile.imwrite(
        sepconv.folder / "ij.tif",
        stack,
        imagej=True,
        resolution=(4, 2),
        metadata={"axes": "ZYX", "spacing": 3.5, "unit": "um"},
    )
    sepconv("run", "ij.tif", "ij.zarr", "--quiet")
    ome, _, group = ome_metadata(sepconv.folder / "ij.zarr")
    axes, (position, *_) = transforms_by_level(ome)
    assert axes == ["z", "y", "x"] and [position[a][0] for a in axes] == pytest.approx([3.5, 0.5, 0.25])
    assert {axis["unit"] for axis in ome["multiscales"][0]["axes"]} == {"micrometer"}
    np.testing.assert_array_equal(group["0"][...], stack)

    tifffile.imwrite(
        sepconv.folder / "plain.tif", stack[0], resolution=(100, 50), resolutionunit="CENTIMETER"
    )
    sepconv("run", "plain.tif", "plain.zarr", "--quiet")
    ome, _, _ = ome_metadata(sepconv.folder / "plain.zarr")
    axes, (position, *_) = transforms_by_level(ome)
    assert [position[a][0] for a in axes] == pytest.approx([0.02, 0.01])

    np.save(sepconv.folder / "in.npy", stack)
    sepconv("run", "in.npy", "npy.zarr", "--axes", "tyx", "--quiet")
    ome, _, group = ome_metadata(sepconv.folder / "npy.zarr")
    assert transforms_by_level(ome)[0] == ["t", "y", "x"] and "unit" not in ome["multiscales"][0]["axes"][1]
    np.testing.assert_array_equal(group["0"][...], stack)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("kind", ["tiff", "planar", "png"])
def test_colours_become_channels(sepconv, kind, version):
    rgb = np.random.default_rng(3).integers(0, 255, (60, 83, 3), np.uint8)
    name = "in.png" if kind == "png" else "in.tif"
    if kind == "png":
        tifffile.imwrite(sepconv.folder / "made.tif", rgb, photometric="rgb")
        sepconv("run", "made.tif", name, "--quiet")
    else:
        tifffile.imwrite(
            sepconv.folder / name,
            np.moveaxis(rgb, 2, 0) if kind == "planar" else rgb,
            photometric="rgb",
            planarconfig="separate" if kind == "planar" else "contig",
        )
    sepconv("run", name, "out.zarr", "--pyramid", "--tile", "32", "--zarr", version, "--quiet")
    ome, _, group = ome_metadata(sepconv.folder / "out.zarr")
    assert transforms_by_level(ome)[0] == ["c", "y", "x"]
    expected = np.moveaxis(rgb, 2, 0)
    for level in range(len(ome["multiscales"][0]["datasets"])):
        np.testing.assert_array_equal(group[str(level)][...], expected)
        expected = halved(expected)
    assert [c["color"] for c in ome["omero"]["channels"]] == ["FF0000", "00FF00", "0000FF"]


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_labels_plates_and_wells(sepconv, version):
    values = random_values("yx")
    write_ome(sepconv.folder / "in.zarr", values, "yx", version)
    group = zarr.open_group(sepconv.folder / "in.zarr", mode="r+")
    labels = group.create_group("labels")
    labels.attrs.update(
        {"labels": ["cells"]} if version == "0.4" else {"ome": {"version": "0.5", "labels": ["cells"]}}
    )
    label = (values % 7).astype("uint32")
    write_ome(sepconv.folder / "in.zarr/labels/cells", label, "yx", version)
    inner = zarr.open_group(sepconv.folder / "in.zarr/labels/cells", mode="r+")
    inner.attrs.update(
        {"image-label": {}} if version == "0.4" else {"ome": {**inner.attrs["ome"], "image-label": {}}}
    )
    np.testing.assert_array_equal(read(sepconv, "in.zarr/labels/cells"), label)
    np.testing.assert_array_equal(read(sepconv, "in.zarr/labels"), label)
    assert "labels" in sepconv("info", "in.zarr").stdout

    plate = zarr.create_group(sepconv.folder / "plate.zarr", zarr_format=2 if version == "0.4" else 3)
    messages = {
        "plate": {
            "columns": [{"name": "1"}, {"name": "2"}],
            "rows": [{"name": "A"}],
            "version": version,
            "wells": [
                {"path": "A/1", "rowIndex": 0, "columnIndex": 0},
                {"path": "A/2", "rowIndex": 0, "columnIndex": 1},
            ],
        }
    }
    plate.attrs.update(messages if version == "0.4" else {"ome": {"version": "0.5", **messages}})
    for well in ("A/1", "A/2"):
        result = plate.create_group(well)
        messages = {"well": {"images": [{"path": "0"}, {"path": "1"}], "version": version}}
        result.attrs.update(messages if version == "0.4" else {"ome": {"version": "0.5", **messages}})
        for field in (0, 1):
            write_ome(sepconv.folder / f"plate.zarr/{well}/{field}", values + field, "yx", version)
    np.testing.assert_array_equal(read(sepconv, "plate.zarr/A/2/1"), values + 1)
    assert "like plate.zarr/A/1/0: A/1, A/2" in sepconv("run", "plate.zarr", "no.npy", status=1).stderr
    sepconv("run", "plate.zarr/A/2/1", "field.zarr", "gaussian:sigma=1", "--quiet")
    assert ome_metadata(sepconv.folder / "field.zarr")[1] == version
    assert "0, 1" in sepconv("run", "plate.zarr/A/2", "no.npy", status=1).stderr
    assert "holds 2 wells of a plate" in sepconv("info", "plate.zarr").stdout


def with_labels(folder, version, levels=2):
    values = random_values("czyx")
    write_ome(folder / "in.zarr", values, "czyx", version, levels)
    group = zarr.open_group(folder / "in.zarr", mode="r+")
    labels = group.create_group("labels")
    labels.attrs.update(
        {"labels": ["cells"]} if version == "0.4" else {"ome": {"version": "0.5", "labels": ["cells"]}}
    )
    label = (values[0] % 7).astype("uint32")
    write_ome(folder / "in.zarr/labels/cells", label, "zyx", version, levels)
    inner = zarr.open_group(folder / "in.zarr/labels/cells", mode="r+")
    messages = {
        "image-label": {
            "source": {"image": "../../"},
            "colors": [{"label-value": 1, "rgba": [255, 0, 0, 255]}],
        }
    }
    inner.attrs.update(messages if version == "0.4" else {"ome": {**inner.attrs["ome"], **messages}})
    return label


def test_a_group_of_labels_without_a_version_gets_one(sepconv):
    """As by ome-zarr-py 0.18."""
    with_labels(sepconv.folder, "0.5")
    labels = zarr.open_group(sepconv.folder / "in.zarr/labels", mode="r+")
    labels.attrs.put({"ome": {"labels": ["cells"]}, "mine": 5})
    (sepconv.folder / "in.zarr/labels/notes.txt").write_text("what is there goes along")
    before = contents(sepconv.folder / "in.zarr/labels")
    sepconv("run", "in.zarr", "out.zarr", "--quiet")
    result = zarr.open_group(sepconv.folder / "out.zarr/labels", mode="r")
    assert models.v05.Labels.from_zarr(result) and dict(result.attrs) == {
        "ome": {"version": "0.5", "labels": ["cells"]},
        "mine": 5,
    }
    after = contents(sepconv.folder / "out.zarr/labels")
    changed = {path for path in before if after[path] != before[path]}
    assert after.keys() == before.keys() and [str(path) for path in changed] == ["zarr.json"]


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_label_images_go_along_where_pixels_stay(sepconv, version):
    label = with_labels(sepconv.folder, version)
    before = contents(sepconv.folder / "in.zarr/labels")
    for chain in [], ["gaussian:sigma=2"], ["abs", "--page", "c=1"], ["transpose", "transpose"]:
        said = sepconv("run", "in.zarr", "out.zarr", *chain, "--force").stderr
        assert "label images" not in said and contents(sepconv.folder / "out.zarr/labels") == before
    _, _, group = ome_metadata(sepconv.folder / "out.zarr")
    models_of = models.v04 if version == "0.4" else models.v05
    np.testing.assert_array_equal(group["labels/cells/0"][...], label)
    assert models_of.ImageLabel.from_zarr(group["labels/cells"]) and models_of.Labels.from_zarr(
        group["labels"]
    )


@pytest.mark.parametrize("pyramid", [[], ["--pyramid=none"]])
@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_label_images_become_those_of_the_other_version_and_of_fewer_levels(sepconv, version, pyramid):
    label = with_labels(sepconv.folder, version)
    labels = zarr.open_group(sepconv.folder / "in.zarr/labels", mode="r+")
    labels.attrs["mine"] = 5
    if version == "0.5":  # 0.4 does not have shards and a checksum
        labels.create_array(
            "cells/1",
            shape=(4, 30, 42),
            shards=(2, 32, 42),
            chunks=(1, 16, 21),
            dtype="u4",
            dimension_names=list("zyx"),
            overwrite=True,
        )[...] = halved(label)
    smaller = labels["cells/1"][...]
    for options in ["--zarr", "2"], ["--zarr", "3"]:
        changes = (version == "0.4") != (options[1] == "2")
        planned = sepconv("plan", "in.zarr", "out.zarr", *options, *pyramid, "--force").stdout
        said = sepconv("run", "in.zarr", "out.zarr", "gaussian:sigma=1", *options, *pyramid, "--force").stderr
        for text in planned, said:
            assert "label images are left out" not in text
            assert ("label images are re-encoded" in text) == changes and (
                "label images are copied with their first levels only" in text
            ) == (bool(pyramid) and not changes)
        ome, result, group = ome_metadata(sepconv.folder / "out.zarr")
        assert result == ("0.4" if options[1] == "2" else "0.5") and group["labels"].attrs["mine"] == 5
        models_of = models.v04 if result == "0.4" else models.v05
        assert models_of.Labels.from_zarr(group["labels"]) and models_of.ImageLabel.from_zarr(
            group["labels/cells"]
        )
        inside = dict(group["labels/cells"].attrs)
        inside = inside if result == "0.4" else inside["ome"]
        assert inside["image-label"]["colors"] == [{"label-value": 1, "rgba": [255, 0, 0, 255]}]
        assert transforms_by_level(inside)[1][0] == {"z": (2.0, 0), "y": (0.5, 0), "x": (0.25, 0)}
        assert (
            sorted(group["labels/cells"].array_keys())
            == [str(level) for level in range(len(inside["multiscales"][0]["datasets"]))]
            == (["0"] if pyramid else ["0", "1"])
        )
        np.testing.assert_array_equal(group["labels/cells/0"][...], label)
        if not pyramid:
            np.testing.assert_array_equal(group["labels/cells/1"][...], smaller)


def metadata_nodes(folder, consolidated):
    group = zarr.open_group(folder, mode="r", use_consolidated=consolidated)
    assert (group.metadata.consolidated_metadata is not None) == bool(consolidated)
    return {
        name: (node.metadata.to_dict() | {"consolidated_metadata": None})
        for name, node in group.members(max_depth=None)
    }


@pytest.mark.parametrize("runs", ["once", "parts", "resume"])
@pytest.mark.parametrize("version, result", [("0.4", 2), ("0.4", 3), ("0.5", 3), ("0.5", 2)])
def test_consolidated_metadata_go_along(sepconv, version, result, runs):
    with_labels(sepconv.folder, version)
    run = ["run", "in.zarr", "out.zarr", "--pyramid", "--zarr", result]
    sepconv(*run, "--quiet")
    nodes = metadata_nodes(sepconv.folder / "out.zarr", False)
    assert {"0", "1", "labels"} <= set(nodes)
    with pytest.raises(ValueError):
        zarr.open_group(sepconv.folder / "out.zarr", mode="r", use_consolidated=True)
    zarr.consolidate_metadata(sepconv.folder / "in.zarr")
    if runs == "parts":
        sepconv(*run, "--force", "--create-only")
        for part in "1/2", "2/2":
            sepconv(*run, "--force", "--part", part)
        sepconv("finish", "out.zarr")
    else:
        sepconv(*run, "--force", "--quiet", *(["--resume"] if runs == "resume" else []))
    assert (
        metadata_nodes(sepconv.folder / "out.zarr", True)
        == metadata_nodes(sepconv.folder / "out.zarr", False)
        == nodes
    )
    assert read(sepconv, "out.zarr").shape == read(sepconv, "in.zarr").shape


def test_consolidated_metadata_of_a_group_around(sepconv):
    """As by bioformats2raw: an image in a named group."""
    group = zarr.create_group(sepconv.folder / "in.zarr", zarr_format=2)
    write_ome(sepconv.folder / "in.zarr/image", random_values("yx"), "yx", version="0.4")
    zarr.consolidate_metadata(group.store)
    for name in "in.zarr", "in.zarr/image":
        sepconv("run", name, "out.zarr", "--force", "--quiet")
        assert (sepconv.folder / "out.zarr/.zmetadata").exists() == (name == "in.zarr")
        metadata_nodes(sepconv.folder / "out.zarr", name == "in.zarr")


@pytest.mark.parametrize("version", [2, 3])
def test_a_result_in_a_group_with_consolidated_metadata(sepconv, version):
    group = zarr.create_group(sepconv.folder / "in.zarr", zarr_format=version)
    group.create_array("a", shape=(9, 9), dtype="u1")[...] = 3
    for said in False, True:
        if said:
            zarr.consolidate_metadata(group.store)
        warning = sepconv("run", "in.zarr/a", "in.zarr/b.zarr", "--force").stderr
        assert ("in.zarr are consolidated, and readers that use them see no b.zarr" in warning) == said


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_a_version_with_a_suffix_is_the_one_before_it(sepconv, version):
    """As by spatialdata ("0.5-dev-spatialdata"), whose transformations lead to its own coordinate systems."""
    with_labels(sepconv.folder, version)
    for name in "in.zarr", "in.zarr/labels/cells":
        group = zarr.open_group(sepconv.folder / name, mode="r+")
        messages = dict(group.attrs)
        ome = messages if version == "0.4" else messages["ome"]
        (ome["multiscales"][0] if version == "0.4" else ome)["version"] = version + "-dev-spatialdata"
        if name == "in.zarr":
            ome["multiscales"][0]["coordinateTransformations"] = [
                {"type": "scale", "scale": [1, 1, 1, factor], "output": {"name": system}}
                for factor, system in ((3, "global"), (7, "aligned"))
            ]
        group.attrs.put(messages)
    process = sepconv("run", "in.zarr", "out.zarr", "--quiet")
    assert (
        f"OME-Zarr {version}-dev-spatialdata is read as {version}, and" in process.stderr
        and "coordinateTransformations but the first" in process.stderr
    )
    for name in "out.zarr", "out.zarr/labels/cells":
        ome, written, _ = ome_metadata(sepconv.folder / name)
        assert written == version
        assert ome["multiscales"][0].get("version", ome.get("version")) == version
    assert transforms_by_level(ome_metadata(sepconv.folder / "out.zarr")[0])[1][0]["x"][0] == 3 * SCALES["x"]


def test_levels_that_label_images_have_not(sepconv):
    with_labels(sepconv.folder, "0.5", levels=1)
    said = sepconv("run", "in.zarr", "out.zarr", "--pyramid", "--chunk", "16").stderr
    assert (
        "label images are left out (cells)" in said
        and len(ome_metadata(sepconv.folder / "out.zarr")[0]["multiscales"][0]["datasets"]) == 4
    )
    assert "label images" not in sepconv("run", "in.zarr", "out.zarr", "--chunk", "16", "--force").stderr
    zarr.open_group(sepconv.folder / "in.zarr/labels/cells", mode="r+").create_array(
        "0",
        shape=(4, 60, 83),
        chunks=(4, 60, 83),
        dtype="u4",
        filters=[zarr.codecs.TransposeCodec(order=(1, 0, 2))],
        overwrite=True,
    )
    said = sepconv("run", "in.zarr", "out.zarr", "--zarr", "2", "--force").stderr
    assert (
        "label images are left out (cells)" in said
        and "an order that Zarr 2 does not support" in said
        and not (sepconv.folder / "out.zarr/labels").exists()
    )


def test_label_images_are_said_to_be_left_out(sepconv):
    with_labels(sepconv.folder, "0.5")
    shutil.make_archive(sepconv.folder / "in.zarr", "zip", sepconv.folder / "in.zarr")
    for source, sink, *options in [
        ("in.zarr", "out.zarr", "transpose"),
        ("in.zarr", "out.zarr", "reduce:factor=2"),
        ("in.zarr", "out.zarr", "--region", "20x20+1+1"),
        ("in.zarr", "out.zarr", "--page", "z=1-2"),
        ("in.zarr", "out.zarr", "--level", "1"),
        ("in.zarr", "out.tif"),
        ("in.zarr.zip", "out.zarr"),
    ]:
        for command in ("plan", "run"):
            process = sepconv(command, source, sink, *options, "--force")
            assert (process.stdout + process.stderr).count("label images are left out (cells)") == 1, (
                sink,
                options,
            )
        assert not (sepconv.folder / "out.zarr/labels").exists()


def test_label_images_that_are_no_files(sepconv):
    with_labels(sepconv.folder, "0.5")
    (sepconv.folder / "secret").write_text("mine")
    for target in "../../../secret", "/dev/zero":
        (sepconv.folder / "in.zarr/labels/cells/more").symlink_to(target)
        error = sepconv("run", "in.zarr", "out.zarr", status=1).stderr
        assert "more" in error and error.count("\n") == 1 and not (sepconv.folder / "out.zarr").exists()
        (sepconv.folder / "in.zarr/labels/cells/more").unlink()
    assert sorted(path.name for path in sepconv.folder.iterdir()) == ["in.zarr", "secret"]


@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("pyramid", [True, False])
def test_chunks_of_several_positions_are_kept(sepconv, version, pyramid):
    values = random_values("tczyx")
    group = zarr.create_group(
        sepconv.folder / "in.zarr",
        zarr_format=2 if version == "0.4" else 3,
        attributes=ome_attributes("tczyx", 1, version),
    )
    group.create_array("0", shape=values.shape, chunks=(1, 2, 3, 32, 40), dtype="uint16")[...] = values
    sepconv(
        "run",
        "in.zarr",
        "out.zarr",
        "gaussian:sigma=1",
        "--quiet",
        *(["--pyramid", "--chunk", "16"] if pyramid else []),
    )
    sepconv(
        "run",
        "in.zarr",
        "each.zarr",
        "gaussian:sigma=1",
        "--quiet",
        "--chunk",
        "c=1,z=1,16",
        *(["--pyramid"] if pyramid else []),
    )
    ome, _, out = ome_metadata(sepconv.folder / "out.zarr")
    each = zarr.open_group(sepconv.folder / "each.zarr", mode="r")
    for dataset in ome["multiscales"][0]["datasets"]:
        assert out[dataset["path"]].chunks[:3] == (1, 2, 3) and each[dataset["path"]].chunks[:3] == (1, 1, 1)
        np.testing.assert_array_equal(out[dataset["path"]][...], each[dataset["path"]][...])
    assert len(ome["multiscales"][0]["datasets"]) == (4 if pyramid else 1)


def test_colours_in_one_chunk_stay_in_one(sepconv):
    values = random_values("cyx")
    picture = [
        {"label": name, "color": color, "window": CHANNELS[0]["window"]}
        for name, color in (("red", "FF0000"), ("green", "00FF00"), ("blue", "0000FF"))
    ]
    attributes = ome_attributes("cyx", 1, "0.5")
    attributes["ome"]["omero"]["channels"] = picture
    group = zarr.create_group(sepconv.folder / "in.zarr", attributes=attributes)
    group.create_array("0", shape=values.shape, chunks=(3, 32, 40), dtype="uint16")[...] = values
    sepconv("run", "in.zarr", "out.zarr", "--quiet")
    _, _, out = ome_metadata(sepconv.folder / "out.zarr")
    assert out["0"].chunks == (3, 32, 40)
    np.testing.assert_array_equal(out["0"][...], values)


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_images_in_zip_files(sepconv, version):
    values = random_values("czyx")
    write_ome(sepconv.folder / "in.zarr", values, "czyx", version)
    shutil.make_archive(sepconv.folder / "in.zarr", "zip", sepconv.folder / "in.zarr")
    np.testing.assert_array_equal(read(sepconv, "in.zarr.zip"), values)
    np.testing.assert_array_equal(read(sepconv, "in.zarr.zip", "--level", "1"), halved(values))
    np.testing.assert_array_equal(read(sepconv, "in.zarr.zip/1"), halved(values))
    sepconv("run", "in.zarr.zip/1", "out.zarr", "--quiet")
    ome, _, _ = ome_metadata(sepconv.folder / "out.zarr")
    assert transforms_by_level(ome)[1][0]["y"] == pytest.approx((1, 0.25))


@pytest.mark.parametrize("axes", ["yx", "cyx", "zyx", "tczyx", "rgb"])
def test_levels_in_shards(sepconv, axes):
    values = random_values("yx" if axes == "rgb" else axes)
    if axes == "rgb":
        values = np.stack([values, values // 2, values // 3])
        tifffile.imwrite(sepconv.folder / "in.tif", np.moveaxis(values, 0, 2), photometric="rgb")
    else:
        write_ome(sepconv.folder / "in.tif", values, axes)
    sepconv("run", "in.tif", "out.zarr", "--pyramid", "--chunk", "16", "--shard", "32x48", "--quiet")
    ome, _, group = ome_metadata(sepconv.folder / "out.zarr")
    for dataset in ome["multiscales"][0]["datasets"]:
        np.testing.assert_array_equal(group[dataset["path"]][...], values)
        assert group[dataset["path"]].shards is not None and group[dataset["path"]].chunks[-1] <= 16
        values = halved(values)


def test_several_images_are_listed(sepconv):
    root = zarr.create_group(
        sepconv.folder / "in.zarr", zarr_format=2, attributes={"bioformats2raw.layout": 3}
    )
    root.create_group("OME")
    write_ome(sepconv.folder / "in.zarr/0", random_values("yx"), "yx", "0.4")
    np.testing.assert_array_equal(read(sepconv, "in.zarr"), random_values("yx"))
    write_ome(sepconv.folder / "in.zarr/1", random_values("yx"), "yx", "0.4")
    error = sepconv("run", "in.zarr", "no.npy", status=1).stderr
    assert "holds 2 images" in error and "0, 1" in error and error.count("\n") == 1


@pytest.mark.parametrize("change", ["path", "axes", "version", "scale", "missing level", "axis count"])
def test_damaged_metadata_are_one_sentence(sepconv, change):
    write_ome(sepconv.folder / "in.zarr", random_values("yx"), "yx")
    name = sepconv.folder / "in.zarr/zarr.json"
    metadata = json.loads(name.read_text())
    ome = metadata["attributes"]["ome"]
    item = ome["multiscales"][0]
    if change == "path":
        item["datasets"][0]["path"] = "../../etc"
    if change == "axes":
        item["axes"] = item["axes"][::-1]
    if change == "version":
        ome["version"] = "9.9"
    if change == "scale":
        item["datasets"][0]["coordinateTransformations"][0]["scale"] = [1]
    if change == "missing level":
        item["datasets"][1]["path"] = "5"
    if change == "axis count":
        item["axes"].insert(0, {"name": "z", "type": "space"})
        for dataset in item["datasets"]:
            for transformation in dataset["coordinateTransformations"]:
                transformation[transformation["type"]].insert(0, 1)
    name.write_text(json.dumps(metadata))
    error = sepconv("run", "in.zarr", "no.npy", status=1).stderr
    assert "in.zarr" in error and error.count("\n") == 1
    assert not (sepconv.folder / "no.npy").exists()
    np.testing.assert_array_equal(read(sepconv, "in.zarr/0"), random_values("yx"))  # read as a plain array


@pytest.mark.parametrize("kind", ["interleaved", "planar", "stack", "levels inside"])
def test_an_ome_tiff_of_colours_is_an_image_with_three_channels(sepconv, kind):
    rgb = np.random.default_rng(3).integers(0, 255, (4, 60, 83, 3), np.uint8)[
        slice(None) if kind == "stack" else 0
    ]
    metadata = {
        "axes": "ZYXS" if kind == "stack" else "SYX" if kind == "planar" else "YXS",
        "PhysicalSizeX": 0.25,
        "PhysicalSizeXUnit": "µm",
        "PhysicalSizeY": 0.5,
        "PhysicalSizeYUnit": "µm",
    }
    with tifffile.TiffWriter(sepconv.folder / "slide.ome.tif", ome=True) as file:
        options = {"photometric": "rgb", "planarconfig": "separate" if kind == "planar" else "contig"}
        file.write(
            np.moveaxis(rgb, -1, -3) if kind == "planar" else rgb,
            tile=(32, 48),
            metadata=metadata,
            subifds=1 if kind == "levels inside" else 0,
            **options,
        )
        if kind == "levels inside":
            file.write(rgb[::2, ::2], subfiletype=1, tile=(32, 48), **options)
    said = sepconv("run", "slide.ome.tif", "slide.zarr", "--pyramid", "--chunk", "32").stderr
    assert "OME-Zarr does not support" not in said and "left out" not in said
    ome, _, group = ome_metadata(sepconv.folder / "slide.zarr")
    axes, positions = transforms_by_level(ome)
    assert (
        axes == list("tczyx")
        and len(positions) == 3
        and group["0"].shape == (1, 3, 4 if kind == "stack" else 1, 60, 83)
    )
    assert (positions[0]["y"][0], positions[0]["x"][0]) == pytest.approx((0.5, 0.25))
    expected = np.moveaxis(rgb, -1, 0)
    for level in range(3):
        np.testing.assert_array_equal(group[str(level)][...].reshape(expected.shape), expected)
        expected = halved(expected)
    assert [(c["label"], c["color"]) for c in ome["omero"]["channels"]] == [
        ("red", "FF0000"),
        ("green", "00FF00"),
        ("blue", "0000FF"),
    ]
    sepconv("run", "slide.zarr", "back.ome.tif", "--quiet")  # and once more
    sepconv("run", "back.ome.tif", "again.zarr", "--quiet")
    ome, _, group = ome_metadata(sepconv.folder / "again.zarr")
    np.testing.assert_array_equal(np.squeeze(group["0"][...]), np.moveaxis(rgb, -1, 0))
    assert transforms_by_level(ome)[1][0]["x"][0] == pytest.approx(0.25)


@pytest.mark.parametrize("axes, named", [("CYXS", True), ("TCZYXS", False)])
def test_colours_beside_channels_lie_behind_each_other(sepconv, axes, named):
    values = np.random.default_rng(3).integers(
        0, 255, [{"C": 2, "S": 3}.get(axis, SIZES.get(axis.lower())) for axis in axes], np.uint8
    )
    names = {"Channel": {"Name": ["stained", "not"]}} if named else {}
    tifffile.imwrite(
        sepconv.folder / "in.ome.tif", values, photometric="rgb", metadata={"axes": axes, **names}
    )
    c = axes.index("C")
    expected = np.moveaxis(values, -1, c + 1)
    expected = expected.reshape(*expected.shape[:c], 6, *expected.shape[c + 2 :])
    for chunk, shard, *options in [
        (1, None),
        (1, None, "--pyramid", "--chunk", "16"),
        (3, None, "--chunk", "c=3,16"),
        (1, 6, "--chunk", "16", "--shard", "c=6,32", "--threads", "3"),
        (1, 4, "--chunk", "16", "--shard", "c=4,32"),
        (1, None, "--chunk", "c=2,16", "--zarr", "2"),
        (1, 1, "--shard", "c=6,512", "--resume"),
    ]:
        said = sepconv("run", "in.ome.tif", "out.zarr", "--force", *options).stderr
        ome, _, group = ome_metadata(sepconv.folder / "out.zarr")
        found = group["0"]
        assert (found.chunks[1], found.shards and found.shards[1]) == (
            chunk,
            shard,
        ) and "OME-Zarr does not support" not in said
        assert ("a chunk holds one channel in place of 2" in said) == ("c=2,16" in options) and (
            "a shard holds one image in place of c 6" in said
        ) == ("--resume" in options)
        np.testing.assert_array_equal(found[...].reshape(expected.shape), expected)
        if "--pyramid" in options:
            np.testing.assert_array_equal(
                group["1"][...].reshape(*expected.shape[:-2], 30, 42), halved(expected)
            )
        first, second = ("stained", "not") if named else ("0", "1")
        assert [(channel["label"], channel["color"]) for channel in ome["omero"]["channels"]] == [
            (f"{image} {colour}", rgb)
            for image in (first, second)
            for colour, rgb in (("red", "FF0000"), ("green", "00FF00"), ("blue", "0000FF"))
        ]
    np.testing.assert_array_equal(np.squeeze(read(sepconv, "out.zarr")), expected)  # where they are images


@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("named", [True, False])
def test_levels_of_label_images_have_labels(sepconv, version, named):
    values = random_values("zyx", "uint32") // 100
    write_ome(sepconv.folder / "in.zarr/labels/cells", values, "zyx", version)
    inner = zarr.open_group(sepconv.folder / "in.zarr/labels/cells", mode="r+")
    if not named:  # the group that contains it makes it one
        zarr.create_group(sepconv.folder / "in.zarr/labels", zarr_format=2 if version == "0.4" else 3)
    else:
        inner.attrs.update(
            {"image-label": {}} if version == "0.4" else {"ome": {**inner.attrs["ome"], "image-label": {}}}
        )
    for options in [], ["--pyramid", "--chunk", "16", "--threads", "3"]:
        sepconv("run", "in.zarr/labels/cells", "out.zarr", "--force", "--quiet", *options)
        ome, _, group = ome_metadata(sepconv.folder / "out.zarr")
        expected, datasets = values, ome["multiscales"][0]["datasets"]
        assert ome["multiscales"][0]["type"] == "nearest" and len(datasets) == (4 if options else 3)
        for dataset in datasets:
            np.testing.assert_array_equal(group[dataset["path"]][...], expected)
            expected = expected[:, ::2, ::2]
    sepconv("run", "in.zarr/labels/cells", "out.tif", "--pyramid", "--quiet")
    sepconv("run", "out.tif", "level.npy", "--level", "1", "--quiet")
    np.testing.assert_array_equal(np.squeeze(np.load(sepconv.folder / "level.npy")), values[:, ::2, ::2])
    sepconv(
        "run", "in.zarr/labels/cells", "means.zarr", "box:radius=1", "--quiet"
    )  # values that are not labels any more
    assert ome_metadata(sepconv.folder / "means.zarr")[0]["multiscales"][0]["type"] == "mean"


def kind_of_levels(sepconv, source, *options):
    sepconv("run", source, "kind.zarr", "--force", "--quiet", *options)
    ome, _, group = ome_metadata(sepconv.folder / "kind.zarr")
    first, second = group["0"][...], group["1"][...]
    kind = ome["multiscales"][0]["type"]
    np.testing.assert_array_equal(second, first[..., ::2, ::2] if kind == "nearest" else halved(first))
    assert (kind == "nearest") == ("image-label" in ome)
    return kind


def test_what_a_label_image_is(sepconv):
    """Determined by its own metadata, or by a group that lists it or is called labels; not by the name of a
    folder or the spelling of a path."""
    folder = sepconv.folder
    write_ome(folder / "labels/cells", random_values("yx"), "yx")
    assert kind_of_levels(sepconv, "labels/cells") == "mean"
    zarr.create_group(folder / "labels", zarr_format=3)
    shutil.copytree(folder / "labels", folder / "masks")
    (folder / "link").symlink_to("labels/cells")
    for name in (
        "labels/cells",
        "labels/cells/",
        "./labels/../labels/cells",
        "link",
        "labels/cells/0",
        str(folder / "labels/cells"),
    ):
        assert kind_of_levels(sepconv, name, "--pyramid", "--chunk", "16") == "nearest", name
    subprocess.run(
        [sepconv.command[0], "run", "cells", "../inside.zarr", "--quiet"], cwd=folder / "labels", check=True
    )
    assert ome_metadata(folder / "inside.zarr")[0]["multiscales"][0]["type"] == "nearest"
    assert kind_of_levels(sepconv, "masks/cells") == "mean"
    zarr.open_group(folder / "masks", mode="r+").attrs.put({"ome": {"version": "0.5", "labels": ["cells"]}})
    assert kind_of_levels(sepconv, "masks/cells") == "nearest"
    shutil.make_archive(folder / "masks", "zip", folder / "masks")
    assert kind_of_levels(sepconv, "masks.zip/cells") == "nearest"


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_a_label_image_stays_one_while_its_values_are_moved(sepconv, version):
    label = with_labels(sepconv.folder, version)
    colors = [{"label-value": 1, "rgba": [255, 0, 0, 255]}]
    source = "in.zarr/labels/cells"
    for sink, options in (
        ("a.zarr", ["--chunk", "16", "--pyramid"]),
        ("b.zarr", ["--zarr", "3" if version == "0.4" else "2"]),
        ("c.zarr", ["transpose", "--region", "20x30+4+2"]),
    ):
        process = sepconv("run", source, sink, *options)
        assert "image-label" not in process.stderr
        ome, written, group = ome_metadata(sepconv.folder / sink)
        assert (
            ome["image-label"]["colors"] == colors
            and "source" not in ome["image-label"]
            and ome["image-label"].get("version") == ("0.4" if written == "0.4" else None)
        )
        assert (
            set(np.unique(group["1"][...])) <= set(np.unique(label))
            and ome["multiscales"][0]["type"] == "nearest"
        )
        source = sink
    assert (
        sepconv("run", source, "d.zarr", "gaussian:sigma=1").stderr.count("object labels (image-label") == 1
    )
    assert "image-label" not in ome_metadata(sepconv.folder / "d.zarr")[0]
    assert sepconv("run", source, "d.tif").stderr.count("object labels (image-label") == 1


def test_what_lies_beside_an_image_is_said(sepconv):
    with_labels(sepconv.folder, "0.4")
    folder = sepconv.folder / "in.zarr"
    zarr.create_group(folder / "tables", zarr_format=2)
    (folder / ".hidden").mkdir()
    labels = zarr.open_group(folder / "labels", mode="r+")
    labels.attrs["labels"] = ["cells", "nuclei"]
    for command in "plan", "run":
        process = sepconv(command, "in.zarr", "out.zarr")
        said = process.stdout + process.stderr
        assert said.count("other members of the image's group are left out: tables\n") == 1
        assert said.count("lists label images that do not exist: nuclei\n") == 1
    shutil.rmtree(folder / "labels/cells")
    process = sepconv("run", "in.zarr", "none.zarr")
    assert (
        "label images that do not exist: cells, nuclei" in process.stderr
        and not (sepconv.folder / "none.zarr/labels").exists()
    )
    around = zarr.create_group(
        sepconv.folder / "around.zarr", zarr_format=2, attributes={"bioformats2raw.layout": 3}
    )
    write_ome(sepconv.folder / "around.zarr/0", random_values("yx"), "yx", "0.4")
    around.create_group("OME")
    assert "left out: OME\n" in sepconv("run", "around.zarr", "one.zarr").stderr


def test_an_image_below_plain_groups_is_an_image(sepconv):
    def group(*names, **attributes):
        folder = sepconv.folder.joinpath("in.zarr", *names)
        folder.mkdir(exist_ok=True)
        (folder / "zarr.json").write_text(
            json.dumps({"zarr_format": 3, "node_type": "group", "attributes": attributes})
        )

    group(tool="spatial")
    group("images", of="images")
    write_ome(sepconv.folder / "in.zarr/images/a", random_values("yx"), "yx")
    process = sepconv("run", "in.zarr", "out.zarr")
    assert "attributes of the group are left out: of, tool\n" in process.stderr
    (axes, positions), (expected_axes, expected) = (
        transforms_by_level(ome_metadata(sepconv.folder / name)[0])
        for name in ("out.zarr", "in.zarr/images/a")
    )
    assert axes == expected_axes and positions[:2] == expected
    sepconv("run", "in.zarr", "one.npy", "--level", "1")
    assert np.load(sepconv.folder / "one.npy").shape == (30, 42)
    write_ome(sepconv.folder / "in.zarr/images/b", random_values("yx"), "yx")
    table = zarr.create_array(sepconv.folder / "in.zarr/table", shape=(2,), dtype=str)  # not read by sepconv
    table[...] = ["x", "y"]
    assert (
        "of several arrays or images; name one of them: images/a, images/b, table"
        in sepconv("run", "in.zarr", "b.npy", status=1).stderr
    )


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_the_channel_of_an_image_without_that_axis_keeps_its_name(sepconv, version):
    omero = {"channels": CHANNELS[:1]}
    group = write_ome(sepconv.folder / "in.zarr", random_values("zyx"), "zyx", version)
    attributes = dict(group.attrs)
    (attributes if version == "0.4" else attributes["ome"])["omero"] = omero
    group.attrs.put(attributes)
    sepconv("run", "in.zarr", "out.zarr")
    assert ome_metadata(sepconv.folder / "out.zarr")[0]["omero"]["channels"] == CHANNELS[:1]
    omero["channels"] = CHANNELS
    group.attrs.put(attributes)
    assert (
        "names and colours of channels are left out"
        in sepconv("run", "in.zarr", "out.zarr", "--force").stderr
    )


def test_what_is_null_is_not_there(sepconv):
    group = write_ome(sepconv.folder / "in.zarr", random_values("zyx"), "zyx")
    group.attrs.put({"ome": group.attrs["ome"] | {"omero": None, "image-label": None, "labels": None}})
    sepconv("run", "in.zarr", "out.zarr", "--quiet")
    assert "image-label" not in ome_metadata(sepconv.folder / "out.zarr")[0]


def test_axes_of_an_image_are_its_own(sepconv):
    write_ome(sepconv.folder / "in.zarr", random_values("zyx"), "zyx")
    for name in "in.zarr", "in.zarr/0":
        assert (
            "the OME-Zarr metadata of" in sepconv("run", name, "out.zarr", "--axes", "yxz", status=2).stderr
        )


def write_series(path, axes, shape):
    with tifffile.TiffWriter(path, ome=True) as tif:
        for i, values in enumerate(np.random.default_rng(1).integers(0, 9, (3, *shape)).astype("u1")):
            tif.write(
                values,
                photometric="minisblack",
                metadata={
                    "axes": axes,
                    "Name": f"pos{i}",
                    "PhysicalSizeX": 0.1 * (i + 1),
                    "PhysicalSizeY": 0.1,
                },
            )


def test_series_that_differ_are_said_to_become_one_image(sepconv):
    write_series(sepconv.folder / "in.ome.tif", "ZYX", (2, 60, 83))
    said = sepconv("run", "in.ome.tif", "out.zarr").stderr
    assert said.count('are the first one\'s ("pos0")') == 1 and "--page s=1 takes the second alone" in said
    ome, _, _ = ome_metadata(sepconv.folder / "out.zarr")
    assert [axis["name"] for axis in ome["multiscales"][0]["axes"]] == ["s", "z", "y", "x"]
    single_run = sepconv("run", "in.ome.tif", "one.zarr", "--page", "s=1")
    assert "first one" not in single_run.stderr
    ome, _, _ = ome_metadata(sepconv.folder / "one.zarr")
    assert ome["multiscales"][0]["name"] == "pos1" and transforms_by_level(ome)[1][0]["x"] == (0.2, 0)


def test_series_beside_channels_are_no_axes_of_an_ome_zarr(sepconv):
    """It has channels, or an axis that OME-Zarr cannot name: https://ngff.openmicroscopy.org/0.5/#axes-md"""
    write_series(sepconv.folder / "in.ome.tif", "CYX", (2, 60, 83))
    said = sepconv("run", "in.ome.tif", "out.zarr").stderr
    assert (
        "OME-Zarr does not support the axes of the result (c 2, s 3, y 60, x 83)" in said
        and "--page s=0 takes one image; the result is a plain array" in said
    )
    assert zarr.open_array(sepconv.folder / "out.zarr").shape == (3, 1, 1, 2, 60, 83)
    assert (
        "leave smaller levels (--pyramid) out"
        in sepconv("run", "in.ome.tif", "no.zarr", "--pyramid", status=2).stderr
    )
    sepconv("run", "in.ome.tif", "one.zarr", "--page", "s=1", "--quiet")
    ome, _, _ = ome_metadata(sepconv.folder / "one.zarr")
    assert [axis["name"] for axis in ome["multiscales"][0]["axes"]] == list("tczyx")


def test_channels_that_become_pages_of_a_plain_tiff_are_said(sepconv):
    write_ome(sepconv.folder / "in.zarr", random_values("cyx"), "cyx")
    assert "the 3 channels are pages" in sepconv("run", "in.zarr", "out.tif").stderr
    assert "are pages" not in sepconv("run", "in.zarr", "out.ome.tif").stderr
    assert "are pages" not in sepconv("run", "in.zarr", "one.tif", "--page", "c=1").stderr


def test_one_of_several_series_is_an_ome_zarr(sepconv):
    values = random_values("czyx")
    with tifffile.TiffWriter(sepconv.folder / "in.ome.tif", ome=True) as file:
        for name in "AB":
            file.write(
                values,
                metadata={"axes": "CZYX", "PhysicalSizeX": 0.5, "PhysicalSizeXUnit": "µm", "Name": name},
                photometric="minisblack",
            )
            values = values + 1
    for select, expected in ("s=1", values - 1), ("s=0,z=2", (values - 2)[:, 2:3]):
        process = sepconv("run", "in.ome.tif", "out.zarr", "--page", select, "--force")
        assert "OME-Zarr does not support" not in process.stderr
        axes, positions = transforms_by_level(ome_metadata(sepconv.folder / "out.zarr")[0])
        assert axes == list("tczyx") and positions[0]["x"][0] == 0.5
        np.testing.assert_array_equal(
            zarr.open_group(sepconv.folder / "out.zarr", mode="r")["0"][0], expected
        )


def test_pages_of_an_image_keep_its_sizes(sepconv):
    values = random_values("czyx")
    write_ome(sepconv.folder / "in.zarr", values, "czyx")
    process = sepconv("run", "in.zarr", "out.zarr", "--page", "1-5")
    assert "kept its name and the sizes of pixels along y and x" in process.stderr
    (item,) = ome_metadata(sepconv.folder / "out.zarr")[0]["multiscales"]
    assert [axis["name"] for axis in item["axes"]] == ["page", "y", "x"] and [
        axis.get("unit") for axis in item["axes"]
    ] == [None, "micrometer", "micrometer"]
    assert (
        item["datasets"][0]["coordinateTransformations"][0]["scale"] == [1, 0.5, 0.25]
        and item["name"] == "cells"
    )
    np.testing.assert_array_equal(
        zarr.open_group(sepconv.folder / "out.zarr", mode="r")["0"][...],
        values.reshape(-1, *values.shape[2:])[1:6],
    )


def test_labels_as_ome_zarr_py_writes_them(sepconv):
    label = with_labels(sepconv.folder, "0.5")
    zarr.open_group(sepconv.folder / "in.zarr/labels", mode="r+").attrs.put({"ome": {"labels": ["cells"]}})
    np.testing.assert_array_equal(read(sepconv, "in.zarr/labels"), label)
    sepconv("run", "in.zarr", "out.zarr", "--quiet")
    np.testing.assert_array_equal(
        zarr.open_array(sepconv.folder / "out.zarr/labels/cells/0", mode="r")[...], label
    )


def test_a_result_among_its_sources_labels_takes_none_of_itself_along(sepconv):
    with_labels(sepconv.folder, "0.5")
    before = contents(sepconv.folder / "in.zarr/labels")
    other = sepconv.folder / "in.zarr/labels/.other.zarr.sepconv-1"
    other.mkdir()
    (other / ".sepconv-unfinished").touch()
    begun = sepconv.folder / "in.zarr/labels/begun.zarr.partial"  # only created
    begun.mkdir()
    (begun / "journal").touch()
    for options in [], ["--force"], ["--force", "--resume"]:
        sepconv("run", "in.zarr", "in.zarr/labels/new.zarr", "gaussian:sigma=1", "--quiet", *options)
        assert contents(sepconv.folder / "in.zarr/labels/new.zarr/labels") == before


def test_what_a_result_has_not_is_said(sepconv):
    write_ome(sepconv.folder / "in.zarr", random_values("cyx"), "cyx")
    group = zarr.open_group(sepconv.folder / "in.zarr", mode="r+")
    ome = group.attrs["ome"]
    ome["multiscales"][0]["axes"][1]["orientation"] = {"type": "anatomical", "value": "left-to-right"}
    ome["multiscales"][0]["mine"] = ome["more"] = ome["multiscales"][0]["datasets"][1]["yours"] = 1
    group.attrs.put({"ome": ome, "kept": 5})
    group["0"].attrs["exposure"] = 7
    for command in "plan", "run":
        process = sepconv(command, "in.zarr", "out.zarr", "--force")
        said = process.stdout + process.stderr
        for lost in (
            "orientation of axis y",
            "mine",
            "more",
            "yours of level 1",
            "attributes of the array are left out: exposure",
        ):
            assert said.count(lost) == 1, lost
    assert zarr.open_group(sepconv.folder / "out.zarr", mode="r").attrs["kept"] == 5


def test_windows_are_those_of_the_values(sepconv):
    write_ome(sepconv.folder / "in.zarr", random_values("cyx"), "cyx")
    for chain, kept in (
        (["gaussian:sigma=2"], True),
        (["transpose"], True),
        (["scale:factor=0.0039", "cast:type=u8"], False),
        (["scale:factor=0.5"], False),
        (["gaussian:sigma=1", "sobel"], False),
    ):
        said = sepconv("run", "in.zarr", "out.zarr", *chain, "--force").stderr
        channels = ome_metadata(sepconv.folder / "out.zarr")[0]["omero"]["channels"]
        assert ("(window) is left out" in said) != kept and [c["label"] for c in channels] == [
            c["label"] for c in CHANNELS
        ]
        maximum = 255 if "cast:type=u8" in chain else 65535
        assert all(
            c["window"]
            == (CHANNELS[0]["window"] if kept else {"min": 0, "max": maximum, "start": 0, "end": maximum})
            for c in channels
        )


def test_a_stage_that_mixes_channels_finds_one_in_each_image(sepconv):
    write_ome(sepconv.folder / "in.zarr", random_values("cyx"), "cyx")
    for command in "plan", "run":
        process = sepconv(command, "in.zarr", "out.zarr", "mix_channels:values=1,1", "--force")
        assert "the 3 of axis c are images of their own" in process.stdout + process.stderr
        assert (
            "permute the array so that c is behind y and x (sepconv transpose --perm), and they are in one pixel"
            in process.stdout + process.stderr
        )


def test_texts_name_what_is_wrong(sepconv):
    write_ome(sepconv.folder / "in.zarr", random_values("yx"), "yx")
    group = zarr.open_group(sepconv.folder / "in.zarr", mode="r+")
    ome = group.attrs["ome"]
    group.attrs["ome"] = {**ome, "multiscales": ome["multiscales"] * 2}
    assert (
        "holds 2 images; name one of their arrays: 0, 0"
        in sepconv("run", "in.zarr", "no.npy", status=1).stderr
    )
    group.attrs["ome"] = {**ome, "version": "0.4"}
    assert (
        'are of version 0.4, and in "ome" 0.5 is read' in sepconv("run", "in.zarr", "no.npy", status=1).stderr
    )
