"""The README's library example writes a file identical to the program's."""

import subprocess

import pytest
import tifffile

from conftest import BINARY

EXAMPLE = BINARY.parent / "example_readme"


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the examples are not built beside the program")
def test_the_readmes_example_is_sepconv_run(sepconv):
    subprocess.run([EXAMPLE], cwd=sepconv.folder, check=True, capture_output=True)
    with tifffile.TiffFile(sepconv.folder / "scan.tif") as scan:
        page = scan.pages[0]
        assert page.is_tiled and page.compression == tifffile.COMPRESSION.ADOBE_DEFLATE
        assert {33550, 270, 282} <= {tag.code for tag in page.tags}  # GeoTIFF's, description, resolution
    sepconv("run", "scan.tif", "by-program.tif", "gaussian:sigma=2.5", "--max-memory", "256M", "--quiet")
    sepconv("transpose", "scan.tif", "turned-by-program.tif", "--max-memory", "256M", "--quiet")
    bytes_of = lambda name: (sepconv.folder / name).read_bytes()
    assert bytes_of("out.tif") == bytes_of("by-program.tif") != bytes_of("scan.tif")
    assert bytes_of("turned.tif") == bytes_of("turned-by-program.tif")
