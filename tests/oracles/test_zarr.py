"""Zarr arrays of zarr-python 3 and TensorStore are read, and they read ours, with equal bits; skipped if
these are not installed; `./dev test` installs them for its part `wheel`."""

import itertools
import json
import math
import warnings

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3", reason="zarr-python 3 is not installed")
tensorstore = pytest.importorskip("tensorstore", reason="tensorstore is not installed")
numcodecs = pytest.importorskip("numcodecs", reason="numcodecs is not installed")
from zarr import codecs  # noqa: E402

warnings.filterwarnings("ignore", module="zarr")  # about codecs that version 3 does not name yet

TYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
# The sides and chunks of arrays of 1 to 5 axes; chunks do not divide sides.
SHAPES = {
    "x": ((45,), (20,)),
    "yx": ((37, 45), (16, 20)),
    "zyx": ((5, 37, 45), (2, 16, 20)),
    "czyx": ((2, 5, 37, 45), (1, 2, 16, 20)),
    "tczyx": ((3, 2, 4, 17, 19), (2, 1, 3, 8, 7)),
}
SPARSE = {
    "bool": True,
    "int8": -3,
    "uint16": 7,
    "int64": -(2**50),
    "float16": math.nan,
    "float32": math.inf,
    "float64": -0.0,
    "complex64": complex(1, math.nan),
}


def random_values(shape, dtype, seed=1):
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind in "iu":  # values that f64 represents
        minimum, maximum = max(np.iinfo(dtype).min, -(2**53)), min(np.iinfo(dtype).max, 2**53)
        return random.integers(minimum, maximum, shape, dtype.newbyteorder("="), endpoint=True).astype(dtype)
    values = random.normal(size=shape)
    return (values + 1j * random.normal(size=shape) if dtype.kind == "c" else values).astype(dtype)


def assert_same(found, expected):
    """Compares bits, for any byte order."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape and found.dtype.newbyteorder("=") == expected.dtype.newbyteorder("=")
    plain = lambda array: np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)).view(
        np.uint8
    )
    np.testing.assert_array_equal(plain(found), plain(expected))


def make(path, values, chunks, version=3, order="C", big=False, **options):
    dtype = values.dtype.newbyteorder(">" if big else "<")
    if version == 2:
        options["order"] = order
    else:
        options["serializer"] = codecs.BytesCodec(
            endian=None if dtype.itemsize == 1 else "big" if big else "little"
        )
        if order == "F":
            options["filters"] = [codecs.TransposeCodec(order=tuple(reversed(range(values.ndim))))]
    options.setdefault("compressors", None)
    result = zarr.create_array(
        path,
        shape=values.shape,
        chunks=chunks,
        dtype=dtype if version == 2 else values.dtype,
        zarr_format=version,
        overwrite=True,
        **options,
    )
    result[...] = values
    return result


def files_in(folder):
    return [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]


def same_files(a, b):
    return sorted(files_in(a)) == sorted(files_in(b)) and all(
        (a / name).read_bytes() == (b / name).read_bytes() for name in files_in(a)
    )


def read_by_sepconv(sepconv, name="in.zarr", *options):
    sepconv("run", name, "read.npy", "--quiet", "--force", *options)
    return np.load(sepconv.folder / "read.npy")


def read_by_both(path, values, is_lz4=False):
    assert_same(zarr.open_array(path, mode="r")[...], values)
    if is_lz4:
        return  # TensorStore supports lz4 only within blosc
    driver = "zarr3" if (path / "zarr.json").exists() else "zarr"
    assert_same(
        tensorstore.open({"driver": driver, "kvstore": f"file://{path}/"}).result().read().result(), values
    )


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("dtype", TYPES)
def test_types_byte_orders_and_orders_of_elements(sepconv, dtype, version):
    shape, chunks = SHAPES["yx"]
    values = random_values(shape, dtype)
    for order, big in itertools.product("CF", (False, True) if values.dtype.itemsize > 1 else (False,)):
        result = make(sepconv.folder / "in.zarr", values, chunks, version, order, big)
        assert_same(read_by_sepconv(sepconv), values)
        sepconv("run", "in.zarr", "out.zarr", "--quiet", "--force")
        read_by_both(sepconv.folder / "out.zarr", values)
        ours = zarr.open_array(sepconv.folder / "out.zarr", mode="r").metadata.to_dict()
        reference = result.metadata.to_dict()
        for kept in (
            "zarr_format",
            "dtype",
            "data_type",
            "chunks",
            "chunk_grid",
            "chunk_key_encoding",
            "dimension_separator",
            "order",
            "fill_value",
        ):
            assert ours.get(kept) == reference.get(kept), kept
        if version == 3:
            assert [codec["name"] for codec in ours["codecs"]] == [
                codec["name"] for codec in reference["codecs"]
            ]
        if version == 3 and values.dtype.itemsize > 1:
            assert next(codec for codec in ours["codecs"] if codec["name"] == "bytes")["configuration"][
                "endian"
            ] == ("big" if big else "little")


BLOSC = [
    (name, shuffle)
    for name in ("lz4", "lz4hc", "blosclz", "zlib", "zstd")
    for shuffle in ("noshuffle", "shuffle", "bitshuffle")
]
CODECS3 = {
    "none": None,
    "zstd": codecs.ZstdCodec(level=3),
    "zstd-checksum": codecs.ZstdCodec(level=1, checksum=True),
    "gzip": codecs.GzipCodec(level=4),
    "crc32c": codecs.Crc32cCodec(),
    "zstd+crc32c": [codecs.ZstdCodec(), codecs.Crc32cCodec()],
    **{
        f"blosc-{name}-{shuffle}": codecs.BloscCodec(cname=name, shuffle=shuffle, clevel=5)
        for name, shuffle in BLOSC
    },
}
CODECS2 = {
    "none": None,
    "zlib": numcodecs.Zlib(4),
    "gzip": numcodecs.GZip(4),
    "zstd": numcodecs.Zstd(3),
    "lz4": numcodecs.LZ4(),
    **{
        f"blosc-{name}-{shuffle}": numcodecs.Blosc(
            cname=name, shuffle=("noshuffle", "shuffle", "bitshuffle").index(shuffle), clevel=5
        )
        for name, shuffle in BLOSC
    },
}


@pytest.mark.parametrize("version, codec", [(2, name) for name in CODECS2] + [(3, name) for name in CODECS3])
def test_codecs(sepconv, version, codec):
    for axes, dtype in (("yx", "uint16"), ("tczyx", "float32")):
        shape, chunks = SHAPES[axes]
        values = (random_values(shape, "float32") * 5).astype(dtype)  # smaller when compressed
        make(
            sepconv.folder / "in.zarr",
            values,
            chunks,
            version,
            compressors=(CODECS2 if version == 2 else CODECS3)[codec],
        )
        assert_same(read_by_sepconv(sepconv, "in.zarr", "--axes", axes).reshape(shape), values)
        sepconv("run", "in.zarr", "out.zarr", "--axes", axes, "--quiet", "--force")
        read_by_both(sepconv.folder / "out.zarr", values, is_lz4=codec == "lz4")
        if version == 3:
            said = sepconv(
                "run", "in.zarr", "out.zarr", "--axes", axes, "--zarr", 2, "--quiet", "--force"
            ).stderr
            read_by_both(sepconv.folder / "out.zarr", values)
            assert ("chunks have the checksum of zstd, and the metadata do not say it" in said) == (
                codec == "zstd-checksum"
            )


BY_TENSORSTORE = [
    {"id": "zlib", "level": 4},
    {"id": "zstd", "level": 2},
    {"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2},
    None,
    [{"name": "gzip", "configuration": {"level": 4}}],
    [{"name": "zstd", "configuration": {"level": 2}}, {"name": "crc32c"}],
    [{"name": "blosc", "configuration": {"cname": "lz4", "clevel": 3, "shuffle": "bitshuffle"}}],
    [],
]


@pytest.mark.parametrize("axes, order", [("x", "C"), *itertools.product(list(SHAPES)[1:], "CF")])
@pytest.mark.parametrize("coding", BY_TENSORSTORE, ids=str)
def test_what_tensorstore_wrote(sepconv, axes, coding, order):
    shape, chunks = SHAPES[axes]
    values = random_values(shape, "uint16")
    spec = {
        "driver": "zarr3" if isinstance(coding, list) else "zarr",
        "kvstore": f"file://{sepconv.folder}/in.zarr/",
        "create": True,
        "metadata": {"shape": shape},
    }
    if isinstance(coding, list):
        transposed = (
            [{"name": "transpose", "configuration": {"order": list(range(len(shape)))[::-1]}}]
            if order == "F"
            else []
        )
        spec["metadata"] |= {
            "data_type": "uint16",
            "codecs": [*transposed, {"name": "bytes", "configuration": {"endian": "big"}}, *coding],
            "dimension_names": list(axes),
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        }
    else:
        spec["metadata"] |= {"dtype": ">u2", "chunks": chunks, "compressor": coding, "order": order}
    tensorstore.open(spec).result().write(values).result()
    assert_same(read_by_sepconv(sepconv, "in.zarr", "--axes", axes).reshape(shape), values)
    if axes != "x":
        sepconv("run", "in.zarr", "out.zarr", "--axes", axes, "--quiet")
        read_by_both(sepconv.folder / "out.zarr", values)


@pytest.mark.parametrize("version", [2, 3])
def test_transpose_and_gemm_take_arrays(sepconv, version):
    values = random_values((11, 37, 45), "float32")
    names = {"dimension_names": list("zyx")} if version == 3 else {}
    make(sepconv.folder / "a.zarr", values, (4, 16, 20), version, **names)
    for perm in ((2, 0, 1), (0, 2, 1), (2, 1, 0)):
        sepconv(
            "transpose",
            "a.zarr",
            "turned.zarr",
            "--axes",
            "yxc",
            "--perm",
            ",".join(map(str, perm)),
            "--force",
            "--quiet",
        )
        read_by_both(sepconv.folder / "turned.zarr", values.transpose(perm))
    make(sepconv.folder / "left.zarr", values[0], (16, 20), version, "F")
    make(sepconv.folder / "right.zarr", values[1], (16, 20), version)
    sepconv("gemm", "left.zarr", "right.zarr", "product.zarr", "--trans-b", "--quiet")
    product = zarr.open_array(sepconv.folder / "product.zarr/0", mode="r")[...]
    np.testing.assert_allclose(
        product, values[0].astype("f8") @ values[1].astype("f8").T, rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("lacked", ["bz2", "delta", "fixedscaleoffset", "lzma"])
def test_a_codec_that_is_lacked_is_named(sepconv, lacked):
    values = random_values((8, 9), "int32")
    options = (
        {"compressors": numcodecs.BZ2()}
        if lacked == "bz2"
        else {"compressors": numcodecs.LZMA()}
        if lacked == "lzma"
        else {
            "filters": [
                numcodecs.Delta(dtype="<i4")
                if lacked == "delta"
                else numcodecs.FixedScaleOffset(offset=0, scale=1, dtype="<i4")
            ]
        }
    )
    make(sepconv.folder / "in.zarr", values, (4, 4), 2, **options)
    error = sepconv("run", "in.zarr", "out.npy", status=1).stderr
    assert lacked in error and error.count("\n") == 1
    assert not (sepconv.folder / "out.npy").exists()


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("axes", SHAPES)
def test_shapes(sepconv, axes, version):
    shape, chunks = SHAPES[axes]
    values = random_values(shape, "uint16")
    names = (
        {"dimension_names": list(axes)} if version == 3 else {"attributes": {"_ARRAY_DIMENSIONS": list(axes)}}
    )
    for order in "CF":
        result = make(sepconv.folder / "in.zarr", values, chunks, version, order, **names)
        assert_same(read_by_sepconv(sepconv).reshape(shape), values)
        if axes == "x":
            continue  # a result has rows
        said = sepconv("run", "in.zarr", "out.zarr", "--verbose", "--force").stderr
        assert ("are buffered on the disk" in said) == (math.prod(chunks[:-2]) > 1)
        read_by_both(sepconv.folder / "out.zarr", values)
        out = zarr.open_array(sepconv.folder / "out.zarr", mode="r")
        assert out.chunks == result.chunks
        assert sorted(files_in(sepconv.folder / "out.zarr")) == sorted(files_in(sepconv.folder / "in.zarr"))
        assert (
            (out.metadata.dimension_names == tuple(axes))
            if version == 3
            else (out.attrs["_ARRAY_DIMENSIONS"] == list(axes))
        )


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "complex64"])
def test_an_array_without_axes_is_an_image_of_one_pixel(sepconv, dtype, version):
    result = zarr.create_array(
        sepconv.folder / "in.zarr", shape=(), dtype=dtype, zarr_format=version, fill_value=7
    )
    # a chunk that is not stored, and a stored chunk
    for expected, options in (7, ["--missing-chunks", "fill"]), (3, []):
        for command in "plan", "run":
            process = sepconv(command, "in.zarr", "out.zarr", "--force", *options)
            assert "an array of no axes is written as yx" in process.stdout + process.stderr
        read_by_both(sepconv.folder / "out.zarr", np.full((1, 1), expected, dtype))
        result[...] = 3
    assert_same(read_by_sepconv(sepconv), np.full((1, 1), 3, dtype))
    assert sepconv("info", "in.zarr").stdout


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("dtype", SPARSE)
def test_fill_values_and_holes(sepconv, dtype, version):
    shape, chunks = SHAPES["yx"]
    fill = SPARSE[dtype]
    result = zarr.create_array(
        sepconv.folder / "in.zarr",
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        zarr_format=version,
        fill_value=fill,
    )
    result[16:32, 20:40] = random_values((16, 20), dtype)
    result[0:16, 0:20] = np.full((16, 20), fill, dtype)  # stored or not
    values = result[...]
    assert_same(read_by_sepconv(sepconv), values)
    said = sepconv("run", "in.zarr", "out.zarr").stderr
    read_by_both(sepconv.folder / "out.zarr", values)
    chunk_files = [
        p
        for p in (sepconv.folder / "out.zarr").rglob("*")
        if p.is_file() and not p.name.startswith((".z", "zarr.json"))
    ]
    would_be_missing = version == 2 and means_missing(fill)
    assert len(chunk_files) == (9 if would_be_missing else 2)  # the others are not stored, except the first
    assert ("the fill value is null in place of" in said) == would_be_missing


def means_missing(fill):
    """Whether readers treat the fill value as missing. In version 2 with names of axes, xarray, GDAL and
    sepconv do for all values but zero, for which xarray and GDAL alone do. NaN is NaN for readers that treat
    it as a value."""
    return not isinstance(fill, (bool, complex)) and fill != 0 and not math.isnan(fill)


def fill_in(path):
    return json.loads((path / ".zarray").read_text())["fill_value"]


def set_fill(path, fill):
    name = path / ("zarr.json" if (path / "zarr.json").exists() else ".zarray")
    name.write_text(json.dumps(json.loads(name.read_text()) | {"fill_value": fill}))


@pytest.mark.parametrize("dtype", TYPES)
def test_a_fill_value_that_is_none_is_zero(sepconv, dtype):
    result = zarr.create_array(
        sepconv.folder / "in.zarr", shape=(8, 9), chunks=(4, 4), dtype=dtype, zarr_format=2, fill_value=None
    )
    result[:4] = 1
    set_fill(sepconv.folder / "in.zarr", None)
    expected = np.zeros((8, 9), dtype)
    expected[:4] = 1
    assert_same(read_by_sepconv(sepconv), expected)
    assert "fill value           null" in sepconv("info", "in.zarr").stdout
    for version, chunks in (
        (2, 6),
        (3, 3),
    ):  # the meaning of null for chunks that are not stored is undefined: all are stored
        said = sepconv("run", "in.zarr", "out.zarr", "--zarr", version, "--force").stderr
        assert "3 of its 6 chunks are not stored" in said and "in place of" not in said
        read_by_both(sepconv.folder / "out.zarr", expected)
        assert version == 3 or fill_in(sepconv.folder / "out.zarr") is None
        assert (
            len(
                [
                    name
                    for name in files_in(sepconv.folder / "out.zarr")
                    if not name.name.startswith((".z", "zarr.json"))
                ]
            )
            == chunks
        )


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float32", "complex64"])
def test_zero_is_no_missing_pixel_of_version_2(sepconv, dtype):
    """As a fill value, xarray and GDAL would treat it as missing."""
    values = random_values((8, 9), "uint8").astype(dtype)
    values[:4] = 0
    make(sepconv.folder / "three.zarr", values, (4, 4), dimension_names=["y", "x"])
    make(sepconv.folder / "two.zarr", values, (4, 4), 2, fill_value=0)
    np.save(sepconv.folder / "in.npy", values)
    for source, said, fill in ("three.zarr", True, True), ("two.zarr", False, False), ("in.npy", False, True):
        process = sepconv("run", source, "out.zarr", "--zarr", 2, "--force", "--chunk", "4")
        assert ("the fill value is null in place of" in process.stderr) == said
        out = sepconv.folder / "out.zarr" / ("0" if source == "in.npy" else "")
        read_by_both(out, values)
        assert (fill_in(out) is None) == (
            fill and source != "in.npy"
        )  # OME-Zarr has no missing pixels, and its readers do not expect any
        assert len([name for name in files_in(out) if not name.name.startswith(".z")]) == (
            6 if source == "three.zarr" else 4
        )  # the first of only zeros is stored


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float32"])
def test_xarray_sees_what_it_has_written(sepconv, dtype):
    """Without _FillValue it writes null except for floating-point elements."""
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    values = np.array([[0, 1, 2], [3, 0, 5], [0, 7, 8]]).astype(dtype)
    xarray.Dataset({"m": (("y", "x"), values)}).to_zarr(sepconv.folder / "in.zarr", zarr_format=2)
    make(sepconv.folder / "three.zarr", values, (3, 3), dimension_names=["y", "x"])
    for source, version in ("in.zarr/m", 2), ("in.zarr/m", 3), ("three.zarr", 2):
        zarr.open_group(sepconv.folder / "out.zarr", mode="w", zarr_format=version)
        sepconv("run", source, "out.zarr/m.zarr", "--zarr", version, "--quiet")
        seen = xarray.open_zarr(sepconv.folder / "out.zarr", consolidated=False)["m.zarr"]
        assert_same(seen.values, values)


FILLS = [
    ("float32", "0x7fc00001"),
    ("float32", "0xffc00000"),
    ("float64", "0x7ff8000000000001"),
    ("complex64", ["0x7fc00001", "-Infinity"]),
    ("complex128", [1.5, "NaN"]),
    ("bool", True),
    ("float16", 0.1),
    ("float32", 0.1),
    ("float64", 1e-320),
    ("float32", -0.0),
    ("float32", "NaN"),
    ("float64", "-Infinity"),
    ("int64", -(2**63)),
    ("uint64", 2**63),
    ("int8", -128),
]


def holds_fill_first(path, values):
    return values.dtype == bool and bool(zarr.open_array(path, mode="r").fill_value) == bool(values[0, 0])


@pytest.mark.parametrize("dtype, fill", FILLS, ids=str)
def test_fill_values_are_written_for_the_version(sepconv, dtype, fill):
    made = zarr.create_array(
        sepconv.folder / "in.zarr",
        shape=(8, 9),
        chunks=(4, 4),
        dtype=dtype,
        config={"write_empty_chunks": True},
    )
    made[:4] = np.zeros((4, 9)) if dtype == "bool" else np.ones((4, 9), dtype)
    set_fill(sepconv.folder / "in.zarr", fill)
    values = zarr.open_array(sepconv.folder / "in.zarr", mode="r")[...]
    is_bits = "0x" in str(fill)
    for source, result, version in (
        ("in.zarr", "3.zarr", 3),
        ("in.zarr", "2.zarr", 2),
        ("2.zarr", "22.zarr", 2),
        ("2.zarr", "23.zarr", 3),
    ):
        said = sepconv("run", source, result, "--zarr", version).stderr
        read_by_both(sepconv.folder / result, values)
        assert ("the fill value is NaN in place of" in said) == (is_bits and result == "2.zarr"), said
        would_be_missing = (
            result != "3.zarr"
            and "NaN" not in str(fill)
            and not is_bits
            and (result != "23.zarr" or fill is not True)
        )
        chunks = [
            name
            for name in files_in(sepconv.folder / result)
            if not name.name.startswith((".z", "zarr.json"))
        ]
        assert len(chunks) == (
            6
            if (is_bits and result != "3.zarr") or would_be_missing
            else 4
            if holds_fill_first(sepconv.folder / result, values)
            else 3
        )  # the others are not stored, except the first


# As by xarray: a floating-point number is 8 bytes in base64.
NODATA = [
    ("int16", -9999, -9999, -9999),
    ("float32", -9999.0, "AAAAAICHw8A=", "AAAAAICHw8A="),
    ("float32", -9999.0, -9999, "AAAAAICHw8A="),
    ("float64", math.nan, "AAAAAAAA+H8=", "AAAAAAAA+H8="),
    ("float32", math.nan, "NaN", "AAAAAAAA+H8="),
    ("uint8", 0, 0, 0),
]


@pytest.mark.parametrize("dtype, nodata, said, result", NODATA, ids=str)
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("attribute", ["_FillValue", "missing_value"])
def test_missing_pixels_are_those_that_attributes_name(
    sepconv, dtype, nodata, said, result, version, attribute
):
    values = np.full((40, 50), 100, dtype)
    values[10:14, 10:20] = nodata
    hole = np.zeros((40, 50), bool)
    hole[10:14, 10:20] = True
    make(sepconv.folder / "in.zarr", values, (16, 20), version, attributes={attribute: said, "units": "m"})
    for options in (
        [],
        ["gaussian:sigma=2"],
        ["gaussian:sigma=2", "--zarr", 5 - version],
        ["gaussian:sigma=2", "--pyramid"],
    ):
        sepconv("run", "in.zarr", "out.zarr", "--force", *options)
        out = zarr.open_array(sepconv.folder / "out.zarr" / ("0" if "--pyramid" in options else ""), mode="r")
        expected = np.where(hole, nodata, 100).astype(dtype)
        np.testing.assert_allclose(out[...], expected, atol=1e-3)
        assert out.attrs["_FillValue"] == result and "missing_value" not in out.attrs
        assert ("units" in out.attrs) == ("--pyramid" not in options)
        if out.metadata.zarr_format == 2:  # xarray treats it as missing
            np.testing.assert_equal(float(out.fill_value), float(nodata))
        np.testing.assert_allclose(
            read_by_sepconv(sepconv, "out.zarr", "gaussian:sigma=0.3"), expected, atol=1e-3
        )  # and sepconv does
    sepconv("run", "in.zarr", "wide.zarr", "cast:type=f64")
    assert isinstance(
        zarr.open_array(sepconv.folder / "wide.zarr", mode="r").attrs["_FillValue"], str
    )  # otherwise xarray opens nothing
    sepconv("run", "in.zarr", "none.zarr", "gaussian:sigma=2", "--nodata", "none")
    assert "_FillValue" not in zarr.open_array(sepconv.folder / "none.zarr", mode="r").attrs


def test_a_fill_value_beside_names_of_axes_is_that_of_missing_pixels(sepconv):
    values = np.full((40, 50), 100, "int16")
    values[10:14, 10:20] = -9999
    for names in {}, {"_ARRAY_DIMENSIONS": ["lat", "lon"]}:
        make(sepconv.folder / "in.zarr", values, (16, 20), 2, fill_value=-9999, attributes=names)
        assert (
            set(np.unique(read_by_sepconv(sepconv, "in.zarr", "gaussian:sigma=2"))) == {-9999, 100}
        ) == bool(names)
    said = sepconv("run", "in.zarr", "out.zarr", "gaussian:sigma=2", "--nodata", "none").stderr
    assert "the fill value is null in place of -9999" in said


def test_attributes_of_missing_pixels_that_are_not_heeded_are_said(sepconv):
    for attributes, sentence in (
        ({"_FillValue": 300}, "the attribute _FillValue 300 is ignored: it is not a value of u8 pixels"),
        ({"_FillValue": [1]}, "_FillValue [1] is ignored"),
        ({"_FillValue": 1, "missing_value": 2}, "missing_value 2 is ignored: pixels of 1 are missing"),
    ):
        make(sepconv.folder / "in.zarr", random_values((8, 9), "uint8"), (4, 4), attributes=attributes)
        assert sentence in sepconv("run", "in.zarr", "out.zarr", "--force").stderr
        out = dict(zarr.open_array(sepconv.folder / "out.zarr", mode="r").attrs)
        assert out == attributes
    make(sepconv.folder / "in.zarr", random_values((8, 9), "uint8"), (4, 4), attributes={"scale_factor": 0.1})
    assert "scale_factor" not in sepconv("run", "in.zarr", "out.zarr", "--force").stderr
    assert "scale_factor" not in sepconv("run", "in.zarr", "out.zarr", "--force", "gaussian:sigma=1").stderr
    assert (
        "scale_factor and add_offset are for the source's values"
        in sepconv("run", "in.zarr", "out.zarr", "--force", "stddev:radius=1").stderr
    )


def test_the_nodata_value_of_a_tiff_is_the_arrays(sepconv):
    tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        random_values((600, 30), "float32"),
        extratags=[(42113, 2, 5, "-9999", True)],
    )
    said = sepconv("run", "in.tif", "out.zarr", "--pyramid").stderr
    assert "nodata" not in said
    for level in "0", "1":
        array = zarr.open_array(sepconv.folder / "out.zarr" / level, mode="r")
        assert array.attrs["_FillValue"] == "AAAAAICHw8A=" and array.fill_value == -9999
    sepconv("run", "out.zarr", "back.tif")
    with tifffile.TiffFile(sepconv.folder / "back.tif") as tiff:
        assert tiff.pages[0].tags[42113].value.strip("\0 ") == "-9999"


def test_numbers_that_json_has_not_are_texts_and_said(sepconv):
    attributes = {
        "_FillValue": math.nan,
        "list": [math.inf, -math.inf, 2],
        "uid": 12345678901234567890123,
        "least": -(2**63) - 1,
        "kept": [2**63, 0.1, 'NaN " Infinity,'],
        "z": {"a": None},
    }
    expected = attributes | {
        "_FillValue": "NaN",
        "list": ["Infinity", "-Infinity", 2],
        "uid": "12345678901234567890123",
        "least": str(-(2**63) - 1),
    }
    for version in 2, 3:
        zarr.create_array(
            sepconv.folder / "in.zarr",
            shape=(8, 9),
            dtype="u1",
            zarr_format=version,
            overwrite=True,
            attributes=attributes,
        )[...] = 1
        for command in "plan", "run":
            process = sepconv(command, "in.zarr", "out.zarr", "--force")
            assert (
                "are written as strings: " in process.stdout + process.stderr
                and "NaN" in process.stdout + process.stderr
            )
        # TensorStore reads only standard JSON
        read_by_both(sepconv.folder / "out.zarr", np.ones((8, 9), "u1"))
        assert {
            name: value
            for name, value in zarr.open_array(sepconv.folder / "out.zarr", mode="r").attrs.items()
            if name != "_ARRAY_DIMENSIONS"
        } == expected
        assert "as texts" not in sepconv("run", "out.zarr", "again.zarr", "--force").stderr


@pytest.mark.parametrize(
    "shape, names, kept",
    [
        ((3, 20, 30), ["time", "lat", "lon"], True),
        ((20, 30), ["row", "column"], True),
        ((1, 20, 30), ["t", "y", "x"], True),
        ((1, 1, 3, 20, 30), list("tczyx"), True),
        ((20, 30, 1), ["y", "x", "c"], True),
        ((20, 30, 3), ["height", "width", "rgb"], True),
        ((2, 20, 30, 4), ["z", "lat", "lon", "band"], True),
        ((1, 20, 30, 1), ["q", "y", "x", "bands"], True),
        ((30,), ["lon"], False),
        ((20, 30, 2), ["lat", "lon", "time"], False),
    ],
)
@pytest.mark.parametrize("version", [2, 3])
def test_axes_stay_or_are_said(sepconv, shape, names, kept, version):
    values = random_values(shape, "uint16")
    options = {"dimension_names": names} if version == 3 else {"attributes": {"_ARRAY_DIMENSIONS": names}}
    make(sepconv.folder / "in.zarr", values, tuple(min(side, 16) for side in shape), version, **options)
    said = sepconv("run", "in.zarr", "out.zarr", "abs").stderr
    assert ("is written as" in said) != kept
    out = zarr.open_array(sepconv.folder / "out.zarr", mode="r")
    found = list(out.metadata.dimension_names) if version == 3 else out.attrs["_ARRAY_DIMENSIONS"]
    if kept:
        assert found == names and out.chunks == tuple(min(side, 16) for side in shape)
        read_by_both(sepconv.folder / "out.zarr", values)
    else:
        assert sorted(set(found) - {"y"}) == sorted(names) and out.size == values.size
    said = sepconv("run", "in.zarr", "turned.zarr", "transpose").stderr
    found = zarr.open_array(sepconv.folder / "turned.zarr", mode="r").shape
    assert ("are called y and x" in said) == (not set(names) >= {"x", "y"})
    plain = lambda result, side: sorted(result) == sorted(side)
    assert plain([n for n in found if n > 1], [n for n in shape if n > 1])


def test_chunks_along_an_axis_of_one_position(sepconv):
    values = random_values((5, 40, 50), "uint16")
    make(sepconv.folder / "in.zarr", values, (1, 16, 16), dimension_names=list("zyx"))
    for option in "--chunk", "--shard":
        said = sepconv("run", "in.zarr", "out.zarr", "--page", "z=1", option, "z=16,32x32", "--force").stderr
        assert f"a {option[2:]} holds no 16 positions of axis z" in said
        read_by_both(sepconv.folder / "out.zarr", values[1])
    make(sepconv.folder / "in.zarr", values[:1], (1, 16, 16), dimension_names=list("zyx"))
    sepconv("run", "in.zarr", "out.zarr", "--chunk", "z=16,32x32", "--force")
    assert zarr.open_array(sepconv.folder / "out.zarr", mode="r").chunks == (16, 32, 32)
    read_by_both(sepconv.folder / "out.zarr", values[:1])
    make(sepconv.folder / "in.zarr", values[0], (16, 16), dimension_names=["lat", "lon"])
    for axis in "z", "lat":
        assert (
            f"no axis {axis}" in sepconv("run", "in.zarr", "no.zarr", "--chunk", f"{axis}=2", status=2).stderr
        )


def test_shards_that_nobody_could_read_are_not_written(sepconv):
    result = zarr.create_array(sepconv.folder / "in.zarr", shape=(8192, 8192), chunks=(512, 512), dtype="u1")
    result[:1] = 1
    error = sepconv("run", "in.zarr", "out.zarr", "--chunk", "1", "--shard", "8192", status=2).stderr
    assert (
        "more than 16777216 chunks" in error
        and error.count("\n") == 1
        and not (sepconv.folder / "out.zarr").exists()
    )


@pytest.mark.parametrize("codec", ["zlib", "lz4"])
def test_codecs_of_version_2_become_those_of_version_3(sepconv, codec):
    values = (random_values((37, 45), "float32") * 5).astype("uint16")
    make(sepconv.folder / "in.zarr", values, (16, 20), 2, compressors=CODECS2[codec])
    said = sepconv("run", "in.zarr", "out.zarr", "--zarr", "3").stderr
    assert f"in place of {codec}: Zarr 3 has none" in said
    read_by_both(sepconv.folder / "out.zarr", values)
    assert [
        c["name"] for c in zarr.open_array(sepconv.folder / "out.zarr", mode="r").metadata.to_dict()["codecs"]
    ] == ["bytes", "gzip" if codec == "zlib" else "blosc"]


def test_all_bits_of_halves_are_kept(sepconv):
    values = np.arange(65536, dtype=np.uint16).view(np.float16).reshape(256, 256)
    for version in 2, 3:
        make(sepconv.folder / "in.zarr", values, (100, 100), version)
        sepconv("run", "in.zarr", "out.zarr", "--force", "--quiet")
        read_by_both(sepconv.folder / "out.zarr", values)


@pytest.mark.parametrize("version, separator", [(2, "."), (2, "/"), (3, "."), (3, "/")])
def test_separators(sepconv, version, separator):
    shape, chunks = SHAPES["yx"]
    values = random_values(shape, "uint8")
    for name in ("v2",) if version == 2 else ("v2", "default"):
        result = make(
            sepconv.folder / "in.zarr",
            values,
            chunks,
            version,
            chunk_key_encoding={"name": name, "separator": separator},
        )
        assert_same(read_by_sepconv(sepconv), values)
        sepconv("run", "in.zarr", "out.zarr", "--quiet", "--force")
        read_by_both(sepconv.folder / "out.zarr", values)
        keys_of = lambda array: [
            array.metadata.to_dict().get(key) for key in ("dimension_separator", "chunk_key_encoding")
        ]
        assert keys_of(zarr.open_array(sepconv.folder / "out.zarr", mode="r")) == keys_of(result)
        sepconv("run", "in.zarr", "out.zarr", "--zarr", 5 - version, "--quiet", "--force")
        read_by_both(sepconv.folder / "out.zarr", values)
        assert keys_of(zarr.open_array(sepconv.folder / "out.zarr", mode="r")) == (
            ["/", None] if version == 3 else [None, {"name": "default", "configuration": {"separator": "/"}}]
        )


@pytest.mark.parametrize("where", ["start", "end"])
@pytest.mark.parametrize("codec", ["none", "zstd", "zstd-checksum", "blosc-lz4-bitshuffle", "gzip", "crc32c"])
@pytest.mark.parametrize("axes", ["yx", "zyx", "tczyx"])
def test_shards(sepconv, axes, codec, where):
    shape, chunks = SHAPES[axes]
    values = random_values(shape, "uint16")
    values[..., :20, :20] = 0  # parts that are not stored
    values.flat[-1] = 9
    shards = tuple(2 * side for side in chunks)
    coding = codecs.ShardingCodec(
        chunk_shape=chunks,
        codecs=[codecs.BytesCodec(endian="little"), *([CODECS3[codec]] if CODECS3[codec] else [])],
        index_location=where,
    )
    result = zarr.create_array(
        sepconv.folder / "in.zarr",
        shape=shape,
        chunks=shards,
        dtype="uint16",
        serializer=coding,
        compressors=None,
        filters=None,
        dimension_names=list(axes),
    )
    result[...] = values
    assert_same(read_by_sepconv(sepconv), values)
    sepconv("run", "in.zarr", "out.zarr", "--quiet")
    read_by_both(sepconv.folder / "out.zarr", values)
    out = zarr.open_array(sepconv.folder / "out.zarr", mode="r")
    (ours,), (reference,) = out.metadata.codecs, result.metadata.codecs
    assert (
        ours.codecs == reference.codecs
        and ours.chunk_shape == reference.chunk_shape
        and ours.index_location == reference.index_location
    )
    fits = [-(-side // chunk) * chunk for side, chunk in zip(shape, chunks)]
    assert out.shards == tuple(
        min(pair) for pair in zip(shards, fits)
    )  # none is larger than the existing chunks
    sepconv("run", "in.zarr", "again.zarr", "--threads", "3", "--quiet")
    assert same_files(sepconv.folder / "out.zarr", sepconv.folder / "again.zarr")


def test_shards_in_shards(sepconv):
    values = random_values((40, 48), "uint16")
    inner = {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": [4, 8],
            "codecs": [
                {"name": "bytes", "configuration": {"endian": "little"}},
                {"name": "zstd", "configuration": {"level": 1}},
            ],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
        },
    }
    spec = {
        "driver": "zarr3",
        "kvstore": f"file://{sepconv.folder}/in.zarr/",
        "create": True,
        "metadata": {
            "shape": [40, 48],
            "data_type": "uint16",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [16, 32]}},
            "codecs": [
                {
                    "name": "sharding_indexed",
                    "configuration": {
                        "chunk_shape": [8, 16],
                        "codecs": [inner],
                        "index_codecs": [
                            {"name": "bytes", "configuration": {"endian": "little"}},
                            {"name": "crc32c"},
                        ],
                    },
                }
            ],
        },
    }
    tensorstore.open(spec).result().write(values).result()
    assert_same(read_by_sepconv(sepconv), values)
    assert "shards" not in sepconv("run", "in.zarr", "out.tif").stderr
    for said in (sepconv("plan", "in.zarr", "out.zarr").stdout, sepconv("run", "in.zarr", "out.zarr").stderr):
        assert "shards hold chunks where the source's hold shards of chunks" in said
    read_by_both(sepconv.folder / "out.zarr", values)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("order", "CF")
def test_a_filter_keeps_chunks_of_several_images(sepconv, version, order):
    values = random_values((3, 7, 37, 45), "uint16")
    values[:2, :4, :16, :20] = 7  # chunks that are not stored
    names = (
        {"dimension_names": list("tzyx")}
        if version == 3
        else {"attributes": {"_ARRAY_DIMENSIONS": list("tzyx")}}
    )
    result = make(sepconv.folder / "in.zarr", values, (2, 4, 16, 20), version, order, fill_value=7, **names)
    sepconv("run", "in.zarr", "each.zarr", "--chunk", "t=1,z=1", "gaussian:sigma=2", "--quiet")
    expected = zarr.open_array(sepconv.folder / "each.zarr", mode="r")
    assert expected.chunks == (1, 1, 16, 20)
    for threads in "1", "3":
        sepconv(
            "run",
            "in.zarr",
            "out.zarr",
            "gaussian:sigma=2",
            "--threads",
            threads,
            "--band-rows",
            "16",
            "--force",
            "--quiet",
        )
        assert zarr.open_array(sepconv.folder / "out.zarr", mode="r").chunks == result.chunks
        read_by_both(sepconv.folder / "out.zarr", expected[...])
    sepconv("run", "in.zarr", "same.zarr", "--quiet")
    more = set(files_in(sepconv.folder / "same.zarr")) - set(files_in(sepconv.folder / "in.zarr"))
    assert len(more) == 1 and set(files_in(sepconv.folder / "in.zarr")) < set(
        files_in(sepconv.folder / "same.zarr")
    )  # the first chunk


@pytest.mark.parametrize(
    "chunk, shard, chunks, shards",
    [
        ("z=2,16", None, (1, 2, 16, 16), None),
        ("t=3,z=9,y=16,x=24", None, (3, 9, 16, 24), None),
        ("16x24", "z=4,32x48", (1, 1, 16, 24), (1, 4, 32, 48)),
        ("t=2,z=2,16x24", "t=2,z=8", (2, 2, 16, 24), (2, 8, 16, 24)),
        ("z=3,16", "z=4,30", (1, 3, 16, 16), (1, 6, 32, 32)),
    ],
)
@pytest.mark.parametrize("dtype", ["uint8", "int32", "complex64"])
def test_chunks_and_shards_along_all_axes(sepconv, dtype, chunk, shard, chunks, shards):
    values = random_values((3, 7, 37, 45), dtype)
    make(sepconv.folder / "in.zarr", values, (1, 1, 37, 45), dimension_names=list("tzyx"))
    sepconv("run", "in.zarr", "out.zarr", "--chunk", chunk, *(["--shard", shard] if shard else []), "--quiet")
    out = zarr.open_array(sepconv.folder / "out.zarr", mode="r")
    assert out.chunks == chunks and out.shards == shards
    read_by_both(sepconv.folder / "out.zarr", values)


def test_channels_keep_their_chunks(sepconv):
    values = random_values((4, 37, 45, 5), "uint16")
    make(sepconv.folder / "in.zarr", values, (3, 16, 20, 2), dimension_names=list("zyxc"))
    sepconv("run", "in.zarr", "out.zarr", "--quiet")
    assert zarr.open_array(sepconv.folder / "out.zarr", mode="r").chunks == (3, 16, 20, 2)
    read_by_both(sepconv.folder / "out.zarr", values)


@pytest.mark.parametrize(
    "chunk",
    [
        "z",
        "z=",
        "z=0",
        "=3",
        "z=2,z=3",
        "y=3",
        "16,16",
        "z=2,16,y=16,x=16",
        "z=99999999999999999999",
        "16x",
        "-3",
    ],
)
def test_shapes_of_chunks_that_are_none(sepconv, chunk):
    np.save(sepconv.folder / "in.npy", random_values((3, 37, 45), "uint8"))
    for option in "--chunk", "--shard":
        error = sepconv("run", "in.npy", "out.zarr", "--axes", "zyx", option, chunk, status=2).stderr
        assert (
            error.count("\n") == 1 and "not a shape" in error and not (sepconv.folder / "out.zarr").exists()
        )


def test_axes_that_a_result_has_not_and_ceilings_that_chunks_do_not_fit(sepconv):
    values = random_values((40, 300, 400), "uint16")
    make(sepconv.folder / "in.zarr", values, (40, 300, 400), dimension_names=list("zyx"))
    error = sepconv("run", "in.zarr", "out.zarr", "--chunk", "t=2", status=2).stderr
    assert "no axis t" in error and "z, y, x" in error and error.count("\n") == 1
    for option in "--chunk", "--shard":
        error = sepconv("run", "in.zarr", "out.zarr", option, "z=2147483647,2147483647", status=2).stderr
        assert "more than 1024 GiB" in error and error.count("\n") == 1
    assert "means nothing for" in sepconv("run", "in.zarr", "out.tif", "--chunk", "z=2", status=2).stderr
    said = sepconv("plan", "in.zarr", "out.zarr", "--max-memory", "40M", "--threads", "1").stdout
    assert "a chunk holds one image in place of z 40: more do not fit the ceiling" in said
    sepconv("run", "in.zarr", "out.zarr", "--max-memory", "40M", "--threads", "1", "--quiet")
    assert zarr.open_array(sepconv.folder / "out.zarr", mode="r").chunks == (1, 300, 400)
    read_by_both(sepconv.folder / "out.zarr", values)


@pytest.mark.parametrize("version", [2, 3])
def test_elements_of_another_size_are_shuffled_by_theirs(sepconv, version):
    values = np.add.outer(np.arange(100), np.arange(120)).astype("u1")
    blosc = (
        numcodecs.Blosc(cname="lz4", shuffle=2)
        if version == 2
        else codecs.BloscCodec(cname="lz4", shuffle="bitshuffle", typesize=1)
    )
    make(sepconv.folder / "in.zarr", values, (100, 120), version, compressors=blosc)
    sepconv("run", "in.zarr", "out.zarr", "gaussian:sigma=2", "cast:type=f32", "--quiet")
    sepconv("run", "in.zarr", "copy.zarr", "--quiet")
    chunk = next(
        name
        for name in files_in(sepconv.folder / "out.zarr")
        if not name.name.startswith((".z", "zarr.json"))
    )
    assert [(sepconv.folder / name / chunk).read_bytes()[3] for name in ("copy.zarr", "out.zarr")] == [
        1,
        4,
    ]  # typesize in blosc's header
    if version == 3:
        assert zarr.open_array(sepconv.folder / "out.zarr", mode="r").compressors[0].typesize == 4


@pytest.mark.parametrize(
    "codec", [numcodecs.Zlib(level=-1), numcodecs.GZip(level=6), numcodecs.LZ4(acceleration=0)], ids=str
)
def test_settings_that_a_codec_leaves_to_its_library(sepconv, codec):
    values = random_values((37, 45), "uint16")
    make(sepconv.folder / "in.zarr", values, (16, 20), 2, compressors=codec)
    metadata = json.loads((sepconv.folder / "in.zarr/.zarray").read_text())
    if codec.codec_id == "gzip":
        metadata["compressor"]["level"] = -1
    if codec.codec_id == "lz4":
        metadata["compressor"]["acceleration"] = -3
    (sepconv.folder / "in.zarr/.zarray").write_text(json.dumps(metadata))
    assert_same(read_by_sepconv(sepconv), values)
    sepconv("run", "in.zarr", "out.zarr", "--quiet")
    read_by_both(sepconv.folder / "out.zarr", values, codec.codec_id == "lz4")


def test_names_of_axes_that_are_not_there_are_said(sepconv):
    for names, is_heeded in (["y"], False), (["lat", "lon"], True):
        make(
            sepconv.folder / "in.zarr",
            random_values((8, 9), "u1"),
            (4, 4),
            2,
            attributes={"_ARRAY_DIMENSIONS": names},
        )
        said = sepconv("run", "in.zarr", "out.zarr", "--force").stderr
        assert ("the attribute _ARRAY_DIMENSIONS is ignored" in said) != is_heeded


def test_chunks_that_are_too_large_to_be_kept_are_said_to_be(sepconv):
    zarr.create_array(sepconv.folder / "in.zarr", shape=(8192, 8192), chunks=(4096, 8192), dtype="f4")[
        0, 0
    ] = 1
    sentence = (
        "chunks of 512 x 512 where the source has chunks of 4096 x 8192: those would be more than 64 MiB"
    )
    assert sentence in sepconv("plan", "in.zarr", "out.zarr", "gaussian:sigma=1").stdout
    assert (
        "where the source has"
        not in sepconv("plan", "in.zarr", "out.zarr", "gaussian:sigma=1", "--chunk", "4096x8192").stdout
    )


def test_a_group_says_much_of_what_is_below(sepconv):
    group = zarr.create_group(sepconv.folder / "in.zarr")
    values = random_values((8, 9), "u1")
    group.create_array("a", shape=(8, 9), chunks=(8, 9), dtype="u1")[...] = values
    name = sepconv.folder / "in.zarr/zarr.json"
    metadata = json.loads(name.read_text())
    for mebibytes, is_read in (20, True), (65, False):
        name.write_text(
            json.dumps(metadata | {"consolidated_metadata": {"metadata": {"a": "x" * (mebibytes << 20)}}})
        )
        if is_read:
            assert_same(read_by_sepconv(sepconv), values)
        else:
            assert "name an array or an image in it" in sepconv("run", "in.zarr", "b.npy", status=1).stderr
            assert_same(read_by_sepconv(sepconv, "in.zarr/a"), values)


def test_chunks_are_counted_with_those_of_all_channels(sepconv):
    make(
        sepconv.folder / "in.zarr",
        random_values((64, 64, 3), "u1"),
        (16, 64, 1),
        attributes={},
        dimension_names=["y", "x", "c"],
    )
    text = sepconv("plan", "in.zarr", "out.zarr", "gaussian:sigma=1").stdout
    assert (
        "12 chunks of the image are touched, each once" in text
        and "every source row is read and decoded once" in text
    )
    make(
        sepconv.folder / "in.zarr",
        random_values((4, 64, 64), "u1"),
        (4, 64, 64),
        dimension_names=["z", "y", "x"],
    )
    text = sepconv("plan", "in.zarr", "out.zarr", "gaussian:sigma=1").stdout
    assert (
        "1 chunk of the image is touched, for each image that shares them\n" in text
        and "read and decoded once" not in text
    )


@pytest.mark.parametrize("version", [2, 3])
def test_groups_and_consolidated_metadata(sepconv, version):
    root = zarr.create_group(sepconv.folder / "in.zarr", zarr_format=version, attributes={"about": "a root"})
    values = random_values((37, 45), "float32")
    for name in ("a/b/first", "a/second"):
        root.create_array(name, shape=values.shape, chunks=(16, 20), dtype="f4", attributes={"of": name})[
            ...
        ] = values
    zarr.consolidate_metadata(sepconv.folder / "in.zarr", zarr_format=version)
    assert_same(read_by_sepconv(sepconv, "in.zarr/a/b/first"), values)
    assert_same(read_by_sepconv(sepconv, "in.zarr/a/second"), values)
    error = sepconv("run", "in.zarr", "out.npy", status=1).stderr
    assert "first" in error or "a" in error
    sepconv("run", "in.zarr/a/second", "out.zarr", "--quiet")
    assert zarr.open_array(sepconv.folder / "out.zarr", mode="r").attrs["of"] == "a/second"


@pytest.mark.parametrize("axes", SHAPES)
@pytest.mark.parametrize("compressed", [False, True])
def test_zip_stores(sepconv, axes, compressed):
    import zipfile

    shape, chunks = SHAPES[axes]
    values = random_values(shape, "int16")
    with zarr.storage.ZipStore(
        sepconv.folder / "in.zarr.zip",
        mode="w",
        compression=zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED,
    ) as store:
        zarr.create_array(store, shape=shape, chunks=chunks, dtype="int16", dimension_names=list(axes))[
            ...
        ] = values
    assert_same(read_by_sepconv(sepconv, "in.zarr.zip").reshape(shape), values)


def test_damage_in_a_shard_of_a_zip_file_is_seen(sepconv):
    import zipfile

    values = random_values((37, 45), "uint8")
    with zarr.storage.ZipStore(sepconv.folder / "in.zarr.zip", mode="w") as store:
        zarr.create_array(
            store, shape=values.shape, chunks=(8, 8), shards=(16, 48), compressors=None, dtype="uint8"
        )[...] = values
    assert_same(read_by_sepconv(sepconv, "in.zarr.zip"), values)
    whole = (sepconv.folder / "in.zarr.zip").read_bytes()
    with zipfile.ZipFile(sepconv.folder / "in.zarr.zip") as file:
        shard = file.getinfo("c/0/0")
    begin = whole.find(values[:8, :8].tobytes(), shard.header_offset)
    for at in begin, begin + 7:
        damaged = bytearray(whole)
        damaged[at] ^= 1
        (sepconv.folder / "in.zarr.zip").write_bytes(damaged)
        for options in [], ["--region", "4x4+0+0"]:
            error = sepconv("run", "in.zarr.zip", "out.npy", *options, status=1).stderr
            assert "CRC-32" in error and "c/0/0" in error and error.count("\n") == 1
        assert_same(
            read_by_sepconv(sepconv, "in.zarr.zip", "--region", "40x8+0+20"), values[20:28, :40]
        )  # of another shard
