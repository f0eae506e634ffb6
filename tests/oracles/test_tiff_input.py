"""TIFF files of tifffile and libvips are read correctly for any layout, byte order, codec and page."""

import numpy as np
import pytest
import tifffile
from reference import DTYPES, random_image
from tiff_tools import vips_tiff

LAYOUTS = {"strips": {"rowsperstrip": 7}, "one strip": {"rowsperstrip": 83}, "tiles": {"tile": (32, 16)}}


def smooth_image(shape, dtype):
    """Values suited to predictors and JPEG, over most of the type's range."""
    rows, cols = np.mgrid[: shape[0], : shape[1]]
    wave = np.sin(rows / 9) * np.cos(cols / 7)
    wave = (
        np.stack([wave * (1 - channel / 10) for channel in range(shape[2])], axis=2)
        if len(shape) == 3
        else wave
    )
    if not np.issubdtype(dtype, np.integer):
        return wave.astype(dtype)
    limits = np.iinfo(dtype)
    return (limits.min + (wave + 1) / 2 * (limits.max - limits.min)).astype(dtype)


def copied(sepconv, source, *options):
    sepconv("run", source, "copy.npy", "--quiet", "--force", *options)
    return np.load(sepconv.folder / "copy.npy")


@pytest.mark.parametrize("bigtiff", [False, True], ids=["classic", "big"])
@pytest.mark.parametrize("byteorder", "<>", ids=["little", "big-endian"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("compression", [None, "zlib"])
def test_layouts(sepconv, layout, byteorder, bigtiff, compression):
    for dtype in DTYPES.values():
        for shape in ((83, 61), (83, 61, 3)):
            image = random_image(shape, dtype)
            with tifffile.TiffWriter(sepconv.folder / "in.tif", byteorder=byteorder, bigtiff=bigtiff) as tif:
                photometric = "rgb" if len(shape) == 3 else "minisblack"
                tif.write(image, photometric=photometric, compression=compression, metadata=None, **layout)
            np.testing.assert_array_equal(copied(sepconv, "in.tif"), image)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("channels", [2, 3, 5])
def test_planar(sepconv, layout, channels):
    image = random_image((83, 61, channels), np.uint16)
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        np.moveaxis(image, -1, 0),
        planarconfig="separate",
        photometric="minisblack",
        metadata=None,
        **layout,
    )
    np.testing.assert_array_equal(copied(sepconv, "in.tif"), image)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16], ids=["u8", "u16"])
def test_horizontal_predictor_of_tifffile(sepconv, dtype):
    image = smooth_image((83, 61, 3), dtype)
    tifffile.imwrite(
        sepconv.folder / "in.tif", image, photometric="rgb", compression="zlib", predictor=True, tile=(16, 16)
    )
    np.testing.assert_array_equal(copied(sepconv, "in.tif"), image)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32], ids=["u8", "u16", "f32"])
@pytest.mark.parametrize("codec", ["lzw", "deflate", "zstd", "packbits"])
@pytest.mark.parametrize("tile", [True, False], ids=["tiles", "strips"])
def test_codecs_of_libvips(sepconv, codec, dtype, tile):
    image = smooth_image((97, 131, 3), dtype)
    plain = sepconv.folder / "plain.tif"
    tifffile.imwrite(plain, image, photometric="rgb")
    predictors = (
        ["none", "float" if dtype == np.float32 else "horizontal"] if codec != "packbits" else ["none"]
    )
    layout = {"tile": True, "tile_width": 32, "tile_height": 16} if tile else {}
    for predictor in predictors:
        vips_tiff(plain, sepconv.folder / "in.tif", compression=codec, predictor=predictor, **layout)
        np.testing.assert_array_equal(copied(sepconv, "in.tif"), image)


def test_jpeg_in_tiff(sepconv):
    """Lossy, so compared with libvips' decoding of the same file."""
    tifffile.imwrite(sepconv.folder / "plain.tif", smooth_image((97, 131, 3), np.uint8), photometric="rgb")
    layout = {"tile": True, "tile_width": 32, "tile_height": 32}
    vips_tiff(sepconv.folder / "plain.tif", sepconv.folder / "in.tif", compression="jpeg", Q=90, **layout)
    vips_tiff(sepconv.folder / "in.tif", sepconv.folder / "decoded.tif", compression="none")
    expected = tifffile.imread(sepconv.folder / "decoded.tif").astype(int)
    assert np.abs(copied(sepconv, "in.tif").astype(int) - expected).max() <= 1


def test_pages(sepconv):
    images = [random_image((20 + page, 30), dtype, page) for page, dtype in enumerate(DTYPES.values())]
    with tifffile.TiffWriter(sepconv.folder / "in.tif") as tif:
        for image in images:
            tif.write(image, photometric="minisblack", metadata=None)
    for page, image in enumerate(images):
        np.testing.assert_array_equal(copied(sepconv, "in.tif", "--page", page), image)


def test_tiles_that_were_never_written_are_zeros(sepconv):
    """GDAL leaves offset and byte count 0 for such tiles."""
    image = np.zeros((64, 64), np.uint16)
    image[:32] = random_image((32, 64), np.uint16)
    path = sepconv.folder / "in.tif"
    tifffile.imwrite(path, random_image((64, 64), np.uint16), tile=(32, 32), metadata=None)
    with tifffile.TiffFile(path, mode="r+b") as tif:
        tags = tif.pages[0].tags
        offsets, counts = tags["TileOffsets"].value, tags["TileByteCounts"].value
        tif.pages[0].parent.filehandle.seek(offsets[0])
        tif.pages[0].parent.filehandle.write(image[:32, :32].tobytes() + image[:32, 32:].tobytes())
        tags["TileOffsets"].overwrite((*offsets[:2], 0, 0))
        tags["TileByteCounts"].overwrite((*counts[:2], 0, 0))
    np.testing.assert_array_equal(copied(sepconv, "in.tif"), image)
