"""Files that are open: what they hold, and parts of their pixels."""

import math
import operator
import os

import numpy as np

from sepconv import _inputs, _options, _sepconv, _dtypes

_STORED = {"bool": "?", "f16": "f2", "complex64": "c8", "complex128": "c16"}


class Image(_inputs.OpenedFile):
    """An image file, or the images of one, as an array that is read where it is sliced: ``sepconv.open``
    makes it.

    Attributes
    ----------
    shape : tuple of int
        other axes, rows, columns, and channels if there are several
    dtype : numpy.dtype
        of the file's elements
    axes : tuple of str
        their names: ``("z", "y", "x")``; ``"page"`` where nothing says what is counted
    chunks : tuple of int
        what the file stores in one piece: slices of whole rows and columns of them decode none twice an image
    metadata : dict
        of the first image, what there is of resolution (x, y, unit), orientation, icc_profile, description,
        software, date, artist, copyright, nodata, epsg
    layout : str
        how the pixels are stored
    warnings : list of str
        what of the file is not read, or is not what it seems

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("stack.npy", np.arange(24, dtype=np.uint8).reshape(2, 3, 4))
    >>> with sc.open("stack.npy", axes="zyx") as image:
    ...     image[1, :, -1].tolist(), image.nbytes
    ([15, 19, 23], 24)
    """

    def __init__(self, path, options):
        super().__init__(path, options)
        self._native, self._opens = self._open(), False
        facts = self._native.facts
        self._pixels = _dtypes.DTYPES[facts["type"]]
        self.dtype = _dtype_of(facts["stored"], self._pixels)
        self._channels = facts["channels"]
        self._parts = 2 if self.dtype in _dtypes.PARTS else 1
        channels = self._channels // self._parts
        several = channels > 1
        self.axes = (*(name for name, _ in facts["axes"]), "y", "x", *(["c"] if several else []))
        outer = tuple(size for _, size in facts["axes"])
        self.shape = (*outer, facts["rows"], facts["cols"], *([channels] if several else []))
        rows, cols = (min(side, whole) for side, whole in zip(facts["block"], (facts["rows"], facts["cols"])))
        together = facts["together"]
        self.chunks = (
            *(min(together.get(name, 1), size) for name, size in facts["axes"]),
            rows,
            cols,
            *([min(together.get("c", channels), channels)] if several else []),
        )
        self.metadata, self.layout, self.warnings = facts["metadata"], facts["layout"], facts["warnings"]

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    nbytes = property(lambda self: self.size * self.dtype.itemsize)

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        sides = " x ".join(f"{name} {side}" for name, side in zip(self.axes, self.shape))
        return f"<sepconv.Image {os.fsdecode(self.path)!r}: {sides}, {self.dtype}, {self.layout}>"

    def _open(self):
        return _sepconv.open_set(
            self.path, _options.settings_of({**_options.OPEN, **_options.MISSING}, self.options)
        )

    def __getstate__(self):
        """The file by its whole path, which another process opens when it reads of it."""
        return {
            **self.__dict__,
            "path": self._at,
            "_native": None,
            "_opens": self._opens or self._native is not None,
        }

    def __setstate__(self, state):
        self.__dict__.update(state)
        there = self._file_identity()
        if there and self._file and there[2:] == self._file[2:]:  # machines have other numbers for a file
            self._file = there

    def close(self):
        """Gives the file back; nothing can be read any more."""
        self._native, self._opens = None, False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("the pixels of a file are read into an array of their own; copy=False cannot be")
        made = self[...]
        return made if dtype is None else made.astype(dtype, copy=False)

    def __getitem__(self, key):
        """A part as an array, by integers, slices and an ellipsis as NumPy has them; only its rows and
        columns are read."""
        if self._opens:
            self.check()
            self._native, self._opens = self._open(), False
        if self._native is None:
            raise ValueError(f"{os.fsdecode(self.path)} has been closed; open it again")
        ranges, dropped = _ranges(key, self.shape)
        count = self.ndim - 2 - (self.axes[-1] == "c")
        outer, (rows, cols) = ranges[:count], ranges[count : count + 2]
        channels = ranges[count + 2] if len(ranges) > count + 2 else range(1)
        made = np.empty([len(one) for one in (*outer, rows, cols, channels)], self.dtype)
        self.check()
        if made.size:
            for place in np.ndindex(*(len(one) for one in outer)):
                position = [one[at] for one, at in zip(outer, place)]
                raster = int(np.ravel_multi_index(position, self.shape[:count])) if count else 0
                self._read(raster, rows, cols, channels, made[place])
            self.check()
        made = made if len(ranges) > count + 2 else made[..., 0]
        return made[tuple(0 if axis in dropped else slice(None) for axis in range(self.ndim))]

    def _read(self, raster, rows, cols, channels, made):
        """Steps are taken of the rectangle that they are in."""
        (row, row_end), (col, col_end) = ((min(one), max(one) + 1) for one in (rows, cols))
        whole = (row_end - row, col_end - col, self._channels)
        direct = (
            made.shape == whole
            and self.dtype == self._pixels
            and rows.step == cols.step == channels.step == 1
        )
        pixels = made if direct else np.empty(whole, self._pixels)
        self._native.read(raster, row, col, pixels)
        if direct:
            return
        if self._parts == 2:
            pixels = pixels.view(self.dtype)
        part = pixels[np.ix_(np.subtract(rows, row), np.subtract(cols, col), channels)]
        np.copyto(made, part, casting="unsafe")  # values that the file has as elements of this type


def _dtype_of(stored, pixels):
    """NumPy has no types of odd widths: those are what holds them."""
    try:
        dtype = np.dtype(_STORED.get(stored) or f"{stored[0]}{int(stored[1:]) // 8}")
    except (TypeError, ValueError):
        return pixels
    return dtype if stored in _STORED or int(stored[1:]) % 8 == 0 else pixels


def _ranges(key, shape):
    """A range for each axis, and the axes that are dropped."""
    key = key if isinstance(key, tuple) else (key,)
    ellipses = [place for place, one in enumerate(key) if one is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if ellipses:
        at = ellipses[0]
        key = (*key[:at], *[slice(None)] * (len(shape) - len(key) + 1), *key[at + 1 :])
    if len(key) > len(shape):
        raise IndexError(f"too many indices: the image has {len(shape)} axes and {len(key)} were given")
    key = (*key, *[slice(None)] * (len(shape) - len(key)))
    ranges, dropped = [], set()
    for axis, (one, side) in enumerate(zip(key, shape)):
        if isinstance(one, slice):
            ranges.append(range(side)[one])
        else:
            at = _place(one, axis, side)
            ranges.append(range(at, at + 1))
            dropped.add(axis)
    return ranges, dropped


def _place(key, axis, side):
    """Of an integer, from the end on where it is negative."""
    try:
        index = operator.index(key)
    except TypeError:
        raise IndexError(
            "parts of files are taken by integers, slices and an ellipsis; make an array of the whole (numpy.asarray) for others"
        ) from None
    if not -side <= index < side:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {side}")
    return index % side


def open(
    path, *, page=None, level=0, axes=None, raw=None, missing_chunks=None, nodata=None, nodata_bands="each"
):
    """Opens an image file: its headers only. Parts are read where it is sliced, all of it by `numpy.asarray`.

    Parameters
    ----------
    path : path
        TIFF, NPY, raw, PNG, JPEG, PNM or BMP
    page, level, axes, raw, missing_chunks, nodata, nodata_bands
        as those of `run`; a mask is read as alpha, or as the nodata value, unless nodata is ``'none'``

    Returns
    -------
    Image

    Raises
    ------
    FileNotFoundError, PermissionError, OSError
        for a file that cannot be read
    ValueError, TypeError
        for options that its format does not have

    Warns
    -----
    FileWarning
        for what of the file is not read

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("scan.npy", np.arange(12, dtype=np.uint8).reshape(3, 4))
    >>> image = sc.open("scan.npy")
    >>> image.shape, image.axes, image[1:, ::2].tolist()
    ((3, 4), ('y', 'x'), [[4, 6], [8, 10]])
    """
    given = {
        "page": page,
        "level": level,
        "axes": axes,
        "raw": raw,
        "missing_chunks": missing_chunks,
        "nodata": nodata,
        "nodata_bands": nodata_bands,
    }
    image = Image(
        path,
        {
            name: value
            for name, value in given.items()
            if value is not None and (name, value) not in (("level", 0), ("nodata_bands", "each"))
        },
    )
    _inputs.warn(image.warnings)
    return image
