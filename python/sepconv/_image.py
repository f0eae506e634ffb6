"""Image files opened for reading: properties, and pixels by slicing."""

import math
import operator
import os

import numpy as np

from sepconv import _inputs, _options, _sepconv, _dtypes

_STORED = {"bool": "?", "f16": "f2", "complex64": "c8", "complex128": "c16"}


class Image(_inputs.OpenedFile):
    """An image file, or the images of one, as an array that is read when sliced. Created by ``sepconv.open``.

    Attributes
    ----------
    shape : tuple of int
        other axes, rows, columns, and channels if more than one
    dtype : numpy.dtype
        type of the file's elements
    axes : tuple of str
        names of the axes: ``("z", "y", "x")``; ``"page"`` for an unnamed axis
    chunks : tuple of int
        the unit in which the file stores pixels: slices of whole chunks decode each chunk once per image
    metadata : dict
        of the first image, those that it has: resolution (x, y, unit), orientation, icc_profile, description,
        software, date, artist, copyright, nodata, epsg
    layout : str
        how the pixels are stored
    warnings : list of str
        parts of the file that are not read, and inconsistencies

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
        has_channels = channels > 1
        self.axes = (*(name for name, _ in facts["axes"]), "y", "x", *(["c"] if has_channels else []))
        outer = tuple(size for _, size in facts["axes"])
        self.shape = (*outer, facts["rows"], facts["cols"], *([channels] if has_channels else []))
        rows, cols = (
            min(side, image_side) for side, image_side in zip(facts["block"], (facts["rows"], facts["cols"]))
        )
        shared_chunks = facts["together"]
        self.chunks = (
            *(min(shared_chunks.get(name, 1), size) for name, size in facts["axes"]),
            rows,
            cols,
            *([min(shared_chunks.get("c", channels), channels)] if has_channels else []),
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
        """The state with the absolute path. Another process opens the file on its first read."""
        return {
            **self.__dict__,
            "path": self._at,
            "_native": None,
            "_opens": self._opens or self._native is not None,
        }

    def __setstate__(self, state):
        self.__dict__.update(state)
        identity = self._file_identity()
        # the inode number of a file differs between machines
        if identity and self._file and identity[2:] == self._file[2:]:
            self._file = identity

    def close(self):
        """Closes the file. Later reads raise ValueError."""
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
        """A part as an array, indexed by integers, slices and an ellipsis as in NumPy. Only its rows and
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
        result = np.empty([len(axis_range) for axis_range in (*outer, rows, cols, channels)], self.dtype)
        self.check()
        if result.size:
            for step in np.ndindex(*(len(axis_range) for axis_range in outer)):
                location = [axis_range[index] for axis_range, index in zip(outer, step)]
                raster = int(np.ravel_multi_index(location, self.shape[:count])) if count else 0
                self._read(raster, rows, cols, channels, result[step])
            self.check()
        result = result if len(ranges) > count + 2 else result[..., 0]
        return result[tuple(0 if axis in dropped else slice(None) for axis in range(self.ndim))]

    def _read(self, raster, rows, cols, channels, out):
        """Reads a rectangle. With steps, reads the bounding rectangle and selects from it."""
        (row, row_end), (col, col_end) = (
            (min(axis_range), max(axis_range) + 1) for axis_range in (rows, cols)
        )
        whole = (row_end - row, col_end - col, self._channels)
        direct = (
            out.shape == whole and self.dtype == self._pixels and rows.step == cols.step == channels.step == 1
        )
        pixels = out if direct else np.empty(whole, self._pixels)
        self._native.read(raster, row, col, pixels)
        if direct:
            return
        if self._parts == 2:
            pixels = pixels.view(self.dtype)
        part = pixels[np.ix_(np.subtract(rows, row), np.subtract(cols, col), channels)]
        np.copyto(out, part, casting="unsafe")  # the values originate from elements of this type


def _dtype_of(stored, pixels):
    """The NumPy type of the stored elements. Odd bit widths have none and give the pixel type."""
    try:
        dtype = np.dtype(_STORED.get(stored) or f"{stored[0]}{int(stored[1:]) // 8}")
    except (TypeError, ValueError):
        return pixels
    return dtype if stored in _STORED or int(stored[1:]) % 8 == 0 else pixels


def _ranges(key, shape):
    """A range for each axis, and the axes to drop."""
    key = key if isinstance(key, tuple) else (key,)
    ellipses = [position for position, item in enumerate(key) if item is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if ellipses:
        index = ellipses[0]
        key = (*key[:index], *[slice(None)] * (len(shape) - len(key) + 1), *key[index + 1 :])
    if len(key) > len(shape):
        raise IndexError(f"too many indices: the image has {len(shape)} axes and {len(key)} were given")
    key = (*key, *[slice(None)] * (len(shape) - len(key)))
    ranges, dropped = [], set()
    for axis, (item, side) in enumerate(zip(key, shape)):
        if isinstance(item, slice):
            ranges.append(range(side)[item])
        else:
            index = _checked_index(item, axis, side)
            ranges.append(range(index, index + 1))
            dropped.add(axis)
    return ranges, dropped


def _checked_index(key, axis, side):
    """The index of an integer; negative integers count from the end."""
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
    """Opens an image file. Reads only its headers; pixels are read by slicing, or all by `numpy.asarray`.

    Parameters
    ----------
    path : path
        TIFF, NPY, raw, PNG, JPEG, PNM or BMP
    page, level, axes, raw, missing_chunks, nodata, nodata_bands
        as for `run`; a mask is read as alpha, or as the nodata value, unless nodata is ``'none'``

    Returns
    -------
    Image

    Raises
    ------
    FileNotFoundError, PermissionError, OSError
        if the file cannot be read
    ValueError, TypeError
        for options that the format does not support

    Warns
    -----
    FileWarning
        for parts of the file that are not read

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
