"""Elements that are not pixels: read as a type that represents them, computed in it, and converted back.
Compared with NumPy, SciPy and tifffile."""

import itertools
import json
import struct
import subprocess

import numpy as np
import PIL.Image
import pytest
import scipy.ndimage as ndi
import tifffile
from reference import stored

INTEGERS = ["i1", "u4", "i4", "u8", "i8"]
TYPES = ["?", *INTEGERS, "f2", "c8", "c16"]


def elements(shape, dtype, seed=0):
    """Values over the range of the type; for 64 bits those that f64 represents."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = random.integers(limits.min, limits.max, shape, dtype.newbyteorder("="), endpoint=True)
        return (values // 4096 * 4096 if dtype.itemsize == 8 else values).astype(dtype)
    values = random.normal(size=shape) * 100
    return (values + 1j * random.normal(size=shape) if dtype.kind == "c" else values).astype(dtype)


def copied(sepconv, source, result="copy.npy", *options):
    sepconv("run", source, result, "--quiet", "--force", *options)
    return (
        np.load(sepconv.folder / result)
        if result.endswith(".npy")
        else tifffile.imread(sepconv.folder / result)
    )


def assert_same(actual, expected):
    assert actual.dtype == expected.dtype.newbyteorder("=")
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("byteorder", "<>")
def test_a_copy_of_an_array_has_its_type(sepconv, dtype, byteorder):
    for shape in ((1, 1), (1, 37), (61, 1), (83, 61), (83, 61, 3)):
        image = elements(shape, np.dtype(dtype).newbyteorder(byteorder))
        np.save(sepconv.folder / "in.npy", image)
        assert_same(copied(sepconv, "in.npy"), image)


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "i4", "f2", "f8", "c8"])
def test_fortran_order_is_read_as_the_transposition_that_it_is(sepconv, dtype):
    for shape in ((1, 1), (1, 37), (61, 1), (83, 61), (83, 61, 3), (700, 301), (301, 700, 2)):
        image = (
            elements(shape, dtype)
            if dtype not in ("u1", "i2", "f8")
            else (np.arange(np.prod(shape)) % 251).reshape(shape).astype(dtype)
        )
        np.save(sepconv.folder / "in.npy", np.asfortranarray(image))
        assert_same(copied(sepconv, "in.npy"), image)
        assert_same(copied(sepconv, "in.npy", "bands.npy", "--band-rows", 7, "--threads", 2), image)
        rows, cols = max(1, shape[0] // 2), max(1, shape[1] // 3)
        part = copied(
            sepconv, "in.npy", "part.npy", "--region", f"{cols}x{rows}+{shape[1] - cols}+{shape[0] - rows}"
        )
        assert_same(part, image[shape[0] - rows :, shape[1] - cols :])


def test_fortran_order_is_said_and_every_command_takes_it(sepconv):
    image = elements((40, 30), "f8")
    np.save(sepconv.folder / "c.npy", image)
    np.save(sepconv.folder / "f.npy", np.asfortranarray(image))
    assert "Fortran order" in sepconv("info", "f.npy").stdout
    sepconv("compare", "c.npy", "f.npy")
    for command in (
        ["run", "IN", "OUT", "gaussian:sigma=2", "--quiet", "--force"],
        ["gemm", "IN", "IN", "OUT", "--trans-b", "--quiet", "--force"],
    ):
        results = []
        for name in ("c.npy", "f.npy"):
            sepconv(*[{"IN": name, "OUT": "out.npy"}.get(word, word) for word in command])
            results.append(np.load(sepconv.folder / "out.npy"))
        np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("dtype", ["i4", "f4", "c16"])
def test_axes_of_arrays_in_fortran_order_are_permuted(sepconv, axes, dtype):
    array = elements((13, 7, 5), dtype)
    np.save(sepconv.folder / "in.npy", np.asfortranarray(array))
    sepconv("transpose", "in.npy", "out.npy", "--perm", ",".join(map(str, axes)), "--quiet", "--force")
    assert_same(np.load(sepconv.folder / "out.npy"), array.transpose(axes))
    np.save(sepconv.folder / "in.npy", np.asfortranarray(array[:, :, 0]))
    sepconv("transpose", "in.npy", "out.npy", "--quiet", "--force")
    assert_same(np.load(sepconv.folder / "out.npy"), array[:, :, 0].T)


@pytest.mark.parametrize("dtype", [*INTEGERS, "f2"])
def test_a_filter_is_computed_in_what_holds_the_type_and_rounded_once(sepconv, dtype):
    image = elements((83, 61), dtype)
    result = sepconv.filter(image, "gaussian:sigma=1.5")
    expected = ndi.gaussian_filter(image.astype(np.float64), 1.5, mode="mirror")
    assert result.dtype == image.dtype
    if np.dtype(dtype).kind == "f":
        np.testing.assert_allclose(result, expected.astype(dtype), rtol=2e-3, atol=1e-2)
    else:
        error = np.abs(result.astype(np.float64) - expected).max()
        assert (
            error <= 0.5 + 1e-6 * 128 if dtype == "i1" else error <= 0.5 + 1e-11 * float(np.iinfo(dtype).max)
        )


@pytest.mark.parametrize("dtype", [*INTEGERS, "?", "f2"])
def test_integers_are_rounded_half_to_even_and_saturate(sepconv, dtype):
    image = elements((33, 65), dtype, 3)
    values = image.astype(np.float64)
    if dtype == "?":
        assert_same(sepconv.filter(image, "scale:factor=3"), image)
        assert_same(sepconv.filter(image, "scale:factor=0.5"), np.zeros_like(image))
        return
    with np.errstate(over="ignore"):
        assert_same(sepconv.filter(image, "scale:factor=0.5"), stored(values * 0.5, np.dtype(dtype)))
        if np.dtype(dtype).itemsize < 8:
            assert_same(sepconv.filter(image, "scale:factor=1000"), stored(values * 1000, np.dtype(dtype)))
            return
    limits = np.iinfo(dtype)
    result = sepconv.filter(image, "scale:factor=1000")
    assert (result[values * 1000 >= float(limits.max)] == limits.max).all() and (result == limits.max).any()
    assert (result[values * 1000 <= float(limits.min)] == limits.min).all()


def test_half_precision_is_rounded_to_even_like_numpy(sepconv):
    random = np.random.default_rng(5)
    values = np.concatenate(
        [
            np.ldexp(random.random(60000), random.integers(-28, 18, 60000)),
            [65519.99, 65520, 2**-24, 2**-25, 0, 1e-8, np.inf, np.nan],
        ]
    )
    values = values.astype(np.float32).reshape(-1, 8)
    # A scale of f16 whose product is exact in f32, so that only storing rounds.
    factor = np.float32(1) + np.float32(2) ** -11
    with np.errstate(over="ignore"):
        half = values.astype(np.float16)
        expected = (half.astype(np.float32) * factor).astype(np.float16)
    result = sepconv.filter(half, f"scale:factor={float(factor)!r}")
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_an_integer_that_has_no_number_is_an_error_that_says_where(sepconv, dtype):
    image = np.zeros((40, 30, 3), dtype)
    image[17, 29, 2] = 2**53 + 1
    np.save(sepconv.folder / "c.npy", image)
    np.save(sepconv.folder / "f.npy", np.asfortranarray(image))
    tifffile.imwrite(
        sepconv.folder / "strips.tif", image, photometric="minisblack", planarconfig="contig", metadata=None
    )
    tifffile.imwrite(
        sepconv.folder / "planes.tif",
        np.moveaxis(image, 2, 0),
        photometric="minisblack",
        planarconfig="separate",
        compression="zlib",
        tile=(16, 16),
        metadata=None,
    )
    for name in ("c.npy", "f.npy", "strips.tif", "planes.tif"):
        said = sepconv("run", name, "out.npy", "box:radius=1", "--quiet", status=1).stderr
        assert "row 17, column 29, channel 2" in said and "2^53" in said and name in said
        assert not (sepconv.folder / "out.npy").exists()
    image[17, 29, 2] = 2**53 + 2
    np.save(sepconv.folder / "c.npy", image)
    assert_same(copied(sepconv, "c.npy"), image)


def test_a_cast_decides(sepconv):
    image = elements((20, 30), "i4")
    assert_same(sepconv.filter(image, "cast:type=u8"), stored(image.astype(np.float64), np.dtype(np.uint8)))
    assert_same(sepconv.filter(image, "cast:type=f64"), image.astype(np.float64))
    complex_image = elements((20, 30), "c8")
    assert_same(sepconv.filter(complex_image, "cast:type=f64"), complex_image.astype(np.complex128))
    assert "not linear" in sepconv("run", "filter-in.npy", "out.npy", "cast:type=i16", status=2).stderr


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("shape", [(61, 47), (61, 47, 3)])
def test_complex_numbers_are_filtered_by_their_parts(sepconv, dtype, shape):
    image = elements(shape, dtype)
    np.save(sepconv.folder / "in.npy", image)
    for stages in (
        ["gaussian:sigma=2"],
        ["sobel:axis=x"],
        ["gaussian_laplace:sigma=1.5"],
        ["unsharp:sigma=1"],
        ["reduce:factor=2"],
        ["transpose", "scale:factor=0.5"],
        ["gaussian:sigma=1,border=wrap"],
    ):
        whole = sepconv.filter(image, *stages)
        assert whole.dtype == image.dtype
        for part in ("real", "imag"):
            np.testing.assert_array_equal(
                getattr(whole, part), sepconv.filter(np.ascontiguousarray(getattr(image, part)), *stages)
            )


@pytest.mark.parametrize(
    "stage",
    [
        "abs",
        "clamp:low=0,high=1",
        "threshold:at=1",
        "gradient",
        "mix_channels:values=1,0,0,1",
        "scale:offset=1",
        "box:radius=1,border=constant,value=2",
        "unsharp:sigma=1,threshold=1",
        "cast:type=u8",
    ],
)
def test_what_is_not_linear_in_the_parts_is_refused(sepconv, stage):
    np.save(sepconv.folder / "in.npy", elements((20, 30), "c8"))
    for whole in ([], ["--reference"]):
        said = sepconv("run", "in.npy", "out.npy", stage, "--quiet", *whole, status=2).stderr
        assert "complex64" in said and "real and imaginary" in said and stage.split(":")[0] in said


def test_what_a_format_does_not_hold_is_said(sepconv):
    np.save(sepconv.folder / "labels.npy", elements((20, 30), "u4"))
    for name in ("out.png", "out.raw"):
        said = sepconv("run", "labels.npy", name, status=2).stderr
        assert "u32" in said and ".tif or .npy" in said and "cast" in said
    sepconv("run", "labels.npy", "out.png", "cast:type=u16", "--quiet")
    mask = elements((20, 30), "?")
    np.save(sepconv.folder / "mask.npy", mask)
    assert "its bool are written as u8" in sepconv("plan", "mask.npy", "mask.tif").stdout
    assert "values from 0 to 1 are shown as 0 to 255" in sepconv("plan", "mask.npy", "mask.png").stdout
    for name in ("out.png", "out.tif"):
        sepconv("run", "mask.npy", name, "--quiet", "--force")
    assert_same(tifffile.imread(sepconv.folder / "out.tif"), mask.astype(np.uint8))
    assert_same(np.asarray(PIL.Image.open(sepconv.folder / "out.png")), mask.astype(np.uint8) * 255)


def test_both_types_are_said(sepconv):
    np.save(sepconv.folder / "in.npy", elements((20, 30), "i4"))
    assert "i32, computed as f64" in sepconv("info", "in.npy").stdout
    assert sepconv("plan", "in.npy", "out.npy").stdout.count("1 channel of i32, computed as f64") == 2
    assert sepconv("plan", "in.npy", "out.npy", "cast:type=f32").stdout.count("computed as f64") == 1
    np.save(sepconv.folder / "in.npy", elements((20, 30, 3), "c8"))
    tifffile.imwrite(
        sepconv.folder / "described.tif", elements((20, 30), "c8")
    )  # from tifffile's own description, which has precedence
    assert "1 channel, complex64" in sepconv("info", "described.tif").stdout
    sepconv("run", "described.tif", "out.npy", "box:radius=1", "--quiet", "--force")
    assert "3 channels, complex64, computed as two channels of f32" in sepconv("info", "in.npy").stdout


def test_compare_knows_the_types(sepconv):
    image = elements((20, 30), "u4")
    np.save(sepconv.folder / "a.npy", image)
    np.save(sepconv.folder / "b.npy", np.where(image > 0, image - 1, 1).astype("u4"))
    np.save(sepconv.folder / "c.npy", image.astype("f8"))
    figures = json.loads(sepconv("compare", "a.npy", "b.npy", "--json", status=1).stdout)
    assert figures["psnr_db"] == pytest.approx(20 * np.log10(2**32 - 1))
    said = sepconv("compare", "a.npy", "c.npy", status=2).stderr
    assert "30 x 20 x 1 u32" in said and "30 x 20 x 1 f64" in said


# ---- TIFF ----

LAYOUTS = {"strips": {"rowsperstrip": 7}, "one strip": {"rowsperstrip": 83}, "tiles": {"tile": (32, 16)}}
REGION = ("--region", "31x40+17+23")


def cut(image):
    return image[23:63, 17:48]


@pytest.mark.parametrize("dtype", ["i1", "u4", "i4", "u8", "i8", "f2", "c8", "c16"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("compression", [None, "zlib"])
def test_tiff_is_read_whatever_its_layout(sepconv, dtype, layout, compression):
    for shape, byteorder in (
        ((83, 61), "<"),
        ((83, 61), ">"),
        ((83, 61, 3), ">"),
        ((3, 83, 61), "<"),
        ((2, 83, 61), ">"),
    ):
        planar = shape[-1] == 61 and len(shape) == 3
        image = elements(shape, dtype)
        with tifffile.TiffWriter(sepconv.folder / "in.tif", byteorder=byteorder) as tif:
            tif.write(
                image,
                photometric="minisblack",
                planarconfig="separate" if planar else "contig" if len(shape) == 3 else None,
                compression=compression,
                metadata=None,
                **layout,
            )
        expected = np.moveaxis(image, 0, 2) if planar else image
        assert_same(copied(sepconv, "in.tif"), expected)
        assert_same(copied(sepconv, "in.tif", "part.npy", *REGION), cut(expected))


@pytest.mark.parametrize("dtype", ["i1", "u4", "i4", "u8", "i8", "f2", "c8", "c16"])
def test_tiff_is_written(sepconv, dtype):
    for shape in ((83, 61), (83, 61, 3)):
        image = elements(shape, dtype)
        np.save(sepconv.folder / "in.npy", image)
        for options in (
            (),
            ("--tile", "32x16"),
            ("--compress", "deflate"),
            ("--compress", "deflate", "--tile", "16", "--planar"),
            ("--planar",),
            ("--compress", "lzw", "--no-predictor"),
            ("--compress", "zstd"),
        ):
            sepconv("run", "in.npy", "out.tif", "--quiet", "--force", "--band-rows", 17, *options)
            assert_same(copied(sepconv, "out.tif"), image)
            if options[:2] in (("--compress", "lzw"), ("--compress", "zstd")):
                continue  # codecs that tifffile lacks
            if "--compress" in options and dtype == "f2":
                continue  # and a predictor
            read = tifffile.imread(sepconv.folder / "out.tif")
            assert_same(
                np.moveaxis(read, 0, -1) if "--planar" in options and len(shape) == 3 else read, image
            )


@pytest.mark.parametrize("dtype", ["i1", "u4", "i4", "u8", "i8"])
def test_horizontal_predictors_are_undone(sepconv, dtype):
    image = elements((83, 61, 3), dtype)
    tifffile.imwrite(
        sepconv.folder / "plain.tif", image, photometric="minisblack", planarconfig="contig", metadata=None
    )
    for codec, order in itertools.product(("zip:2", "lzw:2", "zstd:2"), ("-L", "-B")):
        subprocess.run(
            ["tiffcp", "-c", codec, order, "-t", "-w", "16", "-l", "32", "plain.tif", "in.tif"],
            cwd=sepconv.folder,
            check=True,
        )
        assert_same(copied(sepconv, "in.tif"), image)


def test_floating_point_predictors_are_undone(sepconv):
    image = elements((83, 61, 3), "f2")
    np.save(sepconv.folder / "in.npy", image)
    # written with libtiff's predictor, read by sepconv and by libtiff
    for codec in ("deflate", "lzw", "zstd"):
        sepconv("run", "in.npy", "out.tif", "--compress", codec, "--quiet", "--force")
        assert "floating-point" in sepconv("info", "out.tif").stdout
        assert_same(copied(sepconv, "out.tif"), image)
        subprocess.run(["tiffcp", "-c", "none", "out.tif", "plain.tif"], cwd=sepconv.folder, check=True)
        assert_same(tifffile.imread(sepconv.folder / "plain.tif"), image)


def packed(values, bits):
    """Rows of packed samples, the most significant bit first; each row is padded to whole bytes."""
    rows = values.reshape(values.shape[0], -1).astype(np.uint32)
    spread = rows[:, :, None] >> np.arange(bits - 1, -1, -1, dtype=np.uint32) & 1
    return np.packbits(spread.astype(np.uint8).reshape(len(rows), -1), axis=1)


def packed_tiff(
    path,
    values,
    bits,
    byteorder="<",
    rows_per_strip=None,
    tile=None,
    planar=False,
    photometric=1,
    fill_order=1,
):
    rows, cols = values.shape[:2]
    channels = 1 if values.ndim == 2 else values.shape[2]
    planes = [values[..., i] for i in range(channels)] if planar else [values]
    blocks = []
    for plane in planes:
        if tile:
            edges = [(0, -rows % tile[0]), (0, -cols % tile[1])] + [(0, 0)] * (plane.ndim - 2)
            whole = np.pad(plane, edges)
            blocks += [
                packed(whole[r : r + tile[0], c : c + tile[1]], bits).tobytes()
                for r in range(0, rows, tile[0])
                for c in range(0, cols, tile[1])
            ]
        else:
            blocks += [
                packed(plane[r : r + rows_per_strip], bits).tobytes() for r in range(0, rows, rows_per_strip)
            ]
    if fill_order == 2:
        reverse = np.packbits(
            np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)[:, ::-1], axis=1
        )[:, 0]
        blocks = [reverse[np.frombuffer(block, np.uint8)].tobytes() for block in blocks]
    offsets = np.cumsum([8] + [len(block) for block in blocks])
    content = (
        (b"II*\0" if byteorder == "<" else b"MM\0*")
        + struct.pack(byteorder + "I", offsets[-1])
        + b"".join(blocks)
    )
    lists = [("I", offsets[:-1]), ("I", [len(block) for block in blocks]), ("H", [bits] * channels)]
    tables, begin = b"", 0
    entries = [
        (256, 4, cols),
        (257, 4, rows),
        (258, 3, lists[2]),
        (259, 3, 1),
        (262, 3, photometric),
        (266, 3, fill_order),
        (277, 3, channels),
        (284, 3, 2 if planar else 1),
    ]
    entries += (
        [(322, 4, tile[1]), (323, 4, tile[0]), (324, 4, lists[0]), (325, 4, lists[1])]
        if tile
        else [(273, 4, lists[0]), (278, 4, rows_per_strip), (279, 4, lists[1])]
    )
    begin = len(content) + 2 + 12 * len(entries) + 4
    directory = struct.pack(byteorder + "H", len(entries))
    for tag, kind, value in sorted(entries, key=lambda entry: entry[0]):
        form, numbers = value if isinstance(value, tuple) else ({3: "H", 4: "I"}[kind], [value])
        data = struct.pack(f"{byteorder}{len(numbers)}{form}", *numbers)
        if len(data) > 4:
            field = struct.pack(byteorder + "I", begin + len(tables))
            tables += data + bytes(len(data) % 2)
        else:
            field = data.ljust(4, b"\0")
        directory += struct.pack(byteorder + "HHI", tag, kind, len(numbers)) + field
    path.write_bytes(content + directory + bytes(4) + tables)


@pytest.mark.parametrize("bits", [1, 2, 4, 10, 12, 14])
@pytest.mark.parametrize("byteorder", "<>")
def test_packed_samples(sepconv, bits, byteorder):
    dtype = np.uint8 if bits <= 8 else np.uint16
    path = sepconv.folder / "in.tif"
    for shape in ((83, 61), (83, 61, 3), (1, 1), (5, 8)):
        image = np.random.default_rng(bits).integers(0, 2**bits, shape).astype(dtype)
        for layout in ({"rows_per_strip": 7}, {"rows_per_strip": shape[0]}, {"tile": (16, 32)}):
            for planar, fill_order in itertools.product({False, len(shape) == 3}, (1, 2)):
                packed_tiff(path, image, bits, byteorder, planar=planar, fill_order=fill_order, **layout)
                assert_same(copied(sepconv, "in.tif"), image)
                if shape[0] == 83:
                    assert_same(copied(sepconv, "in.tif", "part.npy", *REGION), cut(image))


@pytest.mark.parametrize("bits", [1, 12])
@pytest.mark.parametrize("codec", ["lzw", "zip", "packbits", "zstd"])
def test_packed_samples_are_decoded(sepconv, bits, codec):
    image = (
        np.random.default_rng(bits)
        .integers(0, 2**bits, (83, 61, 3))
        .astype(np.uint8 if bits == 1 else np.uint16)
    )
    for values in (image, image[:, :, 0]):
        packed_tiff(sepconv.folder / "plain.tif", values, bits, rows_per_strip=7)
        for flags in (["-s", "-r", "11"], ["-t", "-w", "32", "-l", "16"]):
            subprocess.run(
                ["tiffcp", "-c", codec, *flags, "plain.tif", "in.tif"], cwd=sepconv.folder, check=True
            )
            assert_same(copied(sepconv, "in.tif"), values)
            assert_same(copied(sepconv, "in.tif", "part.npy", *REGION), cut(values))


@pytest.mark.parametrize("photometric", [0, 1])
def test_a_mask_of_single_bits_becomes_bytes_which_is_said(sepconv, photometric):
    mask = elements((83, 61), "?")
    packed_tiff(sepconv.folder / "in.tif", mask, 1, rows_per_strip=8, photometric=photometric)
    plan = sepconv("plan", "in.tif", "out.tif").stdout
    assert "1 channel of u1, computed as u8" in plan and "values from 0 to 1 are shown as 0 to 255" in plan
    assert_same(copied(sepconv, "in.tif", "out.tif"), mask.astype(np.uint8) * 255)
    with tifffile.TiffFile(sepconv.folder / "out.tif") as tif:
        assert tif.pages[0].photometric == photometric


def test_a_description_of_bits_says_what_is_written(sepconv):
    mask = elements((30, 40), "?")
    tifffile.imwrite(
        sepconv.folder / "in.ome.tif",
        np.stack([mask, ~mask]),
        photometric="minisblack",
        metadata={"axes": "ZYX"},
    )
    sepconv("run", "in.ome.tif", "out.ome.tif", "--quiet")
    with tifffile.TiffFile(sepconv.folder / "out.ome.tif") as tif:
        assert 'Type="uint8"' in tif.ome_metadata
        np.testing.assert_array_equal(tif.asarray(), np.stack([mask, ~mask]).astype(np.uint8))


def test_a_predictor_of_what_has_none_is_refused(sepconv):
    packed_tiff(sepconv.folder / "in.tif", elements((8, 8), "?"), 1, rows_per_strip=8)
    subprocess.run(["tiffcp", "-c", "lzw", "in.tif", "lzw.tif"], cwd=sepconv.folder, check=True)
    subprocess.run(["tiffset", "-s", "317", "2", "lzw.tif"], cwd=sepconv.folder, check=True)
    assert "predictor 2 with u1" in sepconv("info", "lzw.tif", status=1).stderr
