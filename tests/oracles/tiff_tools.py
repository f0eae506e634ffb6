"""TIFF files by programs that are not sepconv: tifffile, and libvips for the codecs that tifffile cannot do alone."""

import subprocess

import tifffile


def vips_tiff(source, target, **options):
    """Copies a TIFF by libvips, with its tiffsave options."""
    flags = [f"--{key.replace('_', '-')}" + ("" if value is True else f"={value}") for key, value in options.items()]
    subprocess.run(["vips", "tiffsave", source, target, *flags], check=True, capture_output=True)


def read_tiff(path, page=0):
    """The pixels as tifffile gives them, or, where it lacks the codec, those of a plain copy by libvips."""
    try:
        return tifffile.imread(path, key=page)
    except ValueError:
        plain = path.with_suffix(".plain.tif")
        vips_tiff(f"{path}[page={page}]", plain, compression="none")
        return tifffile.imread(plain)
