"""Results of the reference programs for a file. If one refuses a file that sepconv reads, sepconv invents
pixels."""

import os
import re
import subprocess

import numpy as np
import PIL.Image


def run_reference(command, folder):
    """Returns the exit status and stderr."""
    process = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    return process.returncode, process.stderr.decode(errors="replace").strip()


def tiffcp(folder, name):
    """libtiff, for the page that sepconv reads. Creates a plain copy for a further comparison. tiffcp reports
    errors of libjpeg but continues."""
    status, message = run_reference(["tiffcp", "-m", "256", "-c", "none", f"{name},0", TIFF_COPY], folder)
    warns = lambda line: "Warning, " in line or line.endswith("and thus tag is not read from file.")
    refusal = "\n".join(
        line for line in message.splitlines() if not warns(line) or re.search(SHORT_TABLE, line)
    )
    return refusal if status or re.search("^JPEGLib: ", refusal, re.MULTILINE) else None


def djpeg(folder, name):
    """libjpeg-turbo: exits with 2 after warnings about truncated or invalid data."""
    status, message = run_reference(["djpeg", "-outfile", "judged.ppm", name], folder)
    return message if status else None


def pnmtopng(folder, name):
    """netpbm"""
    status, message = run_reference(["pnmtopng", name], folder)
    return message if status else None


def bmptopnm(folder, name):
    """netpbm"""
    status, message = run_reference(["bmptopnm", "-quiet", name], folder)
    return message if status else None


def pillow(folder, name):
    try:
        with PIL.Image.open(os.path.join(folder, name)) as picture:
            picture.load()
    except Exception as error:  # any exception of its decoders
        return repr(error)


def numpy(folder, name):
    try:
        np.load(os.path.join(folder, name), allow_pickle=False)
    except Exception as error:
        return repr(error)


TIFF_COPY = "copied-by-tiffcp.tif"
SHORT_TABLE = r'Incorrect count for "(Strip|Tile)(Offsets|ByteCounts)"'
REFERENCES = {
    "tif": [tiffcp],
    "jpg": [djpeg],
    "png": [pillow],
    "bmp": [pillow, bmptopnm],
    "pnm": [pnmtopng],
    "npy": [numpy],
}

# Refusals of a reference program for files that sepconv reads on purpose: the complete message, and the
# reason.
CANNOT_READ = r"\n.*Error, can't read (strip|tile|scanline).*"
EXCEPTIONS = {
    r"(Corrupt JPEG data: \d+ extraneous bytes before marker 0x..\s*)+": "libjpeg passes over them and loses no pixel",
    r"Warning: unknown JFIF revision number .*": "a number that no pixel depends on",
    r"TIFFFill(Strip|Tile): .*nvalid (strip|tile) byte count ?0?, (strip|tile) \d+\."
    + CANNOT_READ: "a block with offset and byte count 0 was never written, as GDAL leaves them: zeros (docs/formats.md)",
    r"PackBitsDecode: Not enough data for scanline \d+\..*can't read scanline.*": "tiffcp decodes row by row, and here a run goes on in the next row; the block as a whole is there",
    r'TIFFFetchStripThing: Incompatible type for "StripByteCounts"\.': "of one strip with no byte count that can be read, libtiff takes what follows its offset, and sepconv decodes all of it",
    r"ValueError\('not enough image data'\)": "of run lengths of a BMP Pillow passes over rows without any, and over the last of an odd number of single pixels in half bytes",
    r"bmptopnm: .*This program does not process deltas\..*": "pixels that run lengths pass over have the palette's first colour (docs/formats.md)",
    r"bmptopnm: .*Premature end of row\..*": "the same",
    r"bmptopnm: Unexpected end of input file": "of run lengths netpbm wants the mark of their end, also where all rows are there; Pillow judges other ends",
    r"OSError\('Unsupported BMP bitfields layout'\)": "Pillow takes a few masks, and sepconv any that are in one piece each",
    r".*Error, image raster scan line size is too large\.": "a limit of tiffcp for tiles wider than the image",
}


def refusal(folder, name):
    """The reference program that refuses the file, and its message; None if all accept it."""
    for reference in REFERENCES[name.rpartition(".")[2]]:
        message = reference(folder, name)
        if message is not None and not any(
            re.fullmatch(pattern, message, re.DOTALL) for pattern in EXCEPTIONS
        ):
            return reference.__name__, message
    return None
