"""TIFF files by programs that are not sepconv: tifffile, and for the codecs it cannot do alone libvips and
libtiff's tools."""

import subprocess

import tifffile


def vips_tiff(source, target, **options):
    """Copies a TIFF by libvips, with its tiffsave options."""
    flags = [
        f"--{key.replace('_', '-')}" + ("" if value is True else f"={value}")
        for key, value in options.items()
    ]
    subprocess.run(["vips", "tiffsave", source, target, *flags], check=True, capture_output=True)


def read_tiff(path):
    """The pixels of the first page as tifffile gives them, where it lacks the codec those of a plain copy by
    libtiff's tiffcp."""
    try:
        return tifffile.imread(path, key=0)
    except ValueError:
        plain = path.with_suffix(".plain.tif")
        subprocess.run(["tiffcp", "-c", "none", f"{path},0", plain], check=True, capture_output=True)
        return tifffile.imread(plain)
