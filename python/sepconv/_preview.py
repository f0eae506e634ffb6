"""Previews: the result of a chain as a small picture, before a long run."""

import struct
import zlib

import numpy as np

from sepconv import _array_io, _inputs, _options, _sepconv
from sepconv._chain import Chain


class Preview:
    """A picture of a chain's result on a level of an image's pyramid or on a detail; displayed in a notebook.

    Attributes
    ----------
    pixels : ndarray of uint8
        rows x columns, x 3 for RGB, x 4 with alpha if pixels are missing
    level : int
        level of the pyramid
    scale : float
        pixels of the image per pixel of the level, along a side
    notes : list of str
        a description of the picture, and differences from the result of a run

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("scan.npy", np.arange(12, dtype=np.uint8).reshape(3, 4))
    >>> sc.preview("scan.npy", "scale:factor=10").pixels[0].tolist()
    [0, 10, 20, 30]
    """

    def __init__(self, pixels, level, scale, notes):
        self.pixels, self.level, self.scale, self.notes = pixels, level, scale, notes

    def __repr__(self):
        return f"<sepconv.Preview: {self.notes[0]}>"

    def _repr_png_(self):
        rows, cols, *channels = self.pixels.shape
        kind = {(): 0, (3,): 2, (4,): 6}[tuple(channels)]
        filtered = np.zeros((rows, 1 + self.pixels[0].size), np.uint8)  # filter type 0 (none) in each row
        filtered[:, 1:] = self.pixels.reshape(rows, -1)
        chunk = lambda name, data: (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )
        return (
            b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", cols, rows, 8, kind, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(filtered.tobytes(), 1))
            + chunk(b"IEND", b"")
        )


_PREVIEW = {
    name: option
    for name, option in _options.RUN.items()
    if name
    in (
        "page",
        "axes",
        "raw",
        "missing_chunks",
        "region",
        "nodata",
        "nodata_bands",
        "alpha",
        "max_memory",
        "threads",
    )
}


@_options.declared(_PREVIEW)
def preview(path, chain=(), *, size=1024, level=None, **options):
    """The result of a chain on a level of an image's pyramid or on a detail, within a fraction of a second
    for any image size, as by ``sepconv preview``.

    Parameters
    ----------
    path : path or Image
        the first of several images, or `page`
    chain : Chain, str or iterable of str
        default: the image itself. On a level, lengths (sigma, radius) are divided by the level's scale
    size : int
        maximum length of the picture's longer side
    level : int, optional
        default: the smallest level that fills the picture; without levels a detail from the middle, at full
        resolution
    region : tuple of slice or str, optional
        of the result, in pixels at full resolution
    page, axes, raw, missing_chunks, nodata, nodata_bands, alpha, max_memory, threads
        as for `run`

    Returns
    -------
    Preview

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as for `run`; ValueError for a region outside of the result

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("scan.npy", np.zeros((300, 400), np.uint16))
    >>> sc.preview("scan.npy", sc.gaussian(8), size=100)
    <sepconv.Preview: all of 400 x 300 pixels, at full resolution>
    """
    source, given = _inputs.source_of(path, options)
    if isinstance(source, _array_io.Source):
        raise TypeError("previews are of files; call the chain on a part of the array")
    level = given.pop("level", level)
    size = _options.whole(1)("size", size)
    level = None if level is None else _options.whole(0)("level", level)
    chain = chain if isinstance(chain, Chain) else Chain(chain)
    settings = _options.settings_of(_PREVIEW, _inputs.with_resolved_region(source, given, chain))
    pixels, shape, level, scale, notes = _sepconv.preview(source, chain._native, settings, size, level)
    return Preview(np.frombuffer(pixels, np.uint8).reshape(shape).copy(), level, scale, notes)
