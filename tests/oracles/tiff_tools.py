"""TIFF files by other programs: tifffile, and libvips and libtiff's tools for codecs that it does not
support."""

import subprocess

import tifffile


def vips_tiff(source, target, **options):
    """Copies a TIFF with libvips, with its tiffsave options."""
    flags = [
        f"--{key.replace('_', '-')}" + ("" if value is True else f"={value}")
        for key, value in options.items()
    ]
    subprocess.run(["vips", "tiffsave", source, target, *flags], check=True, capture_output=True)


def read_tiff(path):
    """The pixels of the first page as read by tifffile, or of a plain copy by libtiff's tiffcp if tifffile
    lacks the codec."""
    try:
        return tifffile.imread(path, key=0)
    except ValueError:
        plain = path.with_suffix(".plain.tif")
        subprocess.run(["tiffcp", "-c", "none", f"{path},0", plain], check=True, capture_output=True)
        return tifffile.imread(plain)
