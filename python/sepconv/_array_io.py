"""Reading from and writing to arrays and whatever is sliced like one (h5py, zarr, np.memmap)."""

from collections.abc import Mapping

import numpy as np

from sepconv import _arrays, _chunk_cache, _array_namespace, _xarray_names, _aliasing, _dtypes

_COPIES_OF_BLOCK = 4  # kCopiesOfPiece in python/src/array_io.cpp
_GIVE = "give a path, an array, or what has shape and dtype and is sliced like one"


def _kind(end):
    package = _array_namespace.package_of(end)
    return f"a {type(end).__name__}" if package == "builtins" else f"a {package} {type(end).__name__}"


def _check_kind(end, what):
    """TypeError for what would be taken for an array and is none, or more than one."""
    if isinstance(end, np.ma.MaskedArray):
        raise TypeError(
            f"a masked array's mask would be lost; give the data of the {what} with nodata=, or with NaN where values are missing"
        )
    if isinstance(end, Mapping) or (hasattr(type(end), "keys") and not hasattr(type(end), "__array__")):
        raise TypeError(f"{_kind(end)} holds arrays by their names; give one of them as the {what}")
    if hasattr(type(end), "todense") or hasattr(type(end), "toarray"):
        raise TypeError(
            f"{_kind(end)} is sparse, and every pixel of the {what} is read or written; give a dense array"
        )


def _shaped(end, what):
    """An array in memory as NumPy's, and what is sliced as it is. TypeError or ValueError for what is
    neither."""
    _check_kind(end, what)
    if isinstance(end, np.ndarray):
        made = np.asarray(end)  # without what a subclass makes of indices
    elif all(hasattr(end, name) for name in ("shape", "dtype", "__getitem__")) and isinstance(
        end.dtype, np.dtype
    ):
        made = end
    elif what == "source":
        made = _array_of(end)
    elif hasattr(end, "__dlpack__"):
        made = np.from_dlpack(end)
    else:
        raise TypeError(f"{_kind(end)} is not a sink; {_GIVE}, of the result's shape and type")
    if not made.shape or not all(
        isinstance(side, (int, np.integer)) and 0 <= side < 1 << 63 for side in made.shape
    ):
        raise ValueError(
            f"the shape of the {what}, {_kind(made)}, is {made.shape}, and no image's; give one whose sizes are known (dask: compute_chunk_sizes())"
        )
    return made


def _array_of(source):
    try:
        made = np.asarray(source)
    except ValueError:  # of lists of several lengths
        made = None
    if made is None or made.ndim == 0 or made.dtype.kind in "OUS":
        raise TypeError(f"{_kind(source)} is not an array of numbers here; {_GIVE}")
    return made


def _one_size(sizes, count):
    """Of chunks along each axis, of sizes as h5py and zarr have them, or of all of them, as Dask does; None
    where they are not of one size."""
    sizes = tuple(sizes) if isinstance(sizes, (tuple, list)) else ()
    sizes = tuple(
        one[0] if isinstance(one, tuple) and one and len(set(one[:-1])) < 2 and one[-1] <= one[0] else one
        for one in sizes
    )
    return (
        sizes
        if len(sizes) == count and all(isinstance(one, (int, np.integer)) and one > 0 for one in sizes)
        else None
    )


def _element(dtype):
    """Kind and bits where elements are not pixels."""
    return None if dtype in _dtypes.PIXELS else (dtype.kind, 8 * dtype.itemsize)


def _described(array, chunks):
    if isinstance(array, np.ndarray):
        return "an array in memory"
    return _kind(array) + (f" in chunks of {' x '.join(map(str, chunks))}" if chunks else "")


class _End:
    """Axes by the rules of NPY files: a last c are channels, others than y and x count images."""

    def __init__(self, array, names):
        self.array, self.layers = array, None
        self.names = names
        self.channels = names[-1] == "c"
        self.outer = [
            axis
            for axis, name in enumerate(names)
            if name not in "yx" and not (name == "c" and axis == len(names) - 1)
        ]
        self.inner = [axis for axis in range(len(names)) if axis not in self.outer]

    def _side(self, name):
        return self.array.shape[self.names.index(name)] if name in self.names else 1

    def _at(self, raster, rows, cols):
        """The key of a part of an image."""
        sizes = [self.array.shape[axis] for axis in self.outer]
        position = np.unravel_index(raster, sizes) if sizes else ()
        key = [{"y": rows, "x": cols}.get(name, slice(None)) for name in self.names]
        for axis, index in zip(self.outer, position):
            key[axis] = int(index)
        return tuple(key)

    def _image(self, values):
        """Such a part with its axes as rows, columns and channels."""
        letters = [self.names[axis] for axis in self.inner]
        values = values.transpose([letters.index(name) for name in "yxc" if name in letters])
        if "y" not in letters:
            values = values[None]
        return values if self.channels else values[..., None]

    def memory(self, raster):
        """An image where it lies in memory as pixels, or None."""
        if (
            not isinstance(self.array, np.ndarray)
            or self.array.dtype not in _dtypes.PIXELS
            or not self.array.dtype.isnative
        ):
            return None
        image = self._image(np.asarray(self.array[self._at(raster, slice(None), slice(None))]))
        return image if _arrays.ready(image, 3) is image else None

    def _blocks(self, chunks, image_bytes, max_source_extent, how):
        """Rows and columns of a block; images that are held, as each block has a part of them; and what is to
        be said of what is not held."""
        if chunks is None:
            return (1, 1, 1), []
        rows, cols = (
            min(chunks[self.names.index(name)], self._side(name)) if name in self.names else 1
            for name in "yx"
        )
        pixels = max(self._side("y") * self._side("x"), 1)
        layers = _chunk_cache.Layers(
            self,
            chunks,
            max_source_extent // max(image_bytes + _COPIES_OF_BLOCK * image_bytes * rows * cols // pixels, 1),
        )
        if layers.images > 1:
            self.layers = layers
        said = (
            f"{_described(self.array, chunks)} is {how} {layers.times} times, as images that share chunks are held {layers.images} at a time; "
            "a greater max_memory has room for more"
        )
        return (rows, cols, layers.images), [said] if layers.times > 1 else []


class Source(_End):
    def __init__(self, array, axes):
        array = _shaped(array, "source")
        super().__init__(
            array, _arrays.names_of(array.shape, _xarray_names.letters_of(array) if axes is None else axes)
        )
        self.said, self.nodata = [], _xarray_names.nodata_of(array)
        _dtypes.check(array.dtype)
        self.dtype = _dtypes.native(array.dtype)

    def facts(self, max_source_extent):
        """For open_source() in python/src/array_io.cpp."""
        parts = 2 if self.dtype in _dtypes.PARTS else 1
        pixels = _dtypes.COMPUTED_AS[self.dtype]
        rows, cols, channels = (
            self._side("y"),
            self._side("x"),
            self._side("c") * parts if self.channels else parts,
        )
        chunks = _one_size(getattr(self.array, "chunks", None), len(self.names))
        blocks, said = self._blocks(
            chunks, rows * cols * channels * pixels.itemsize, max_source_extent, "read"
        )
        outer = [(self.names[axis], self.array.shape[axis]) for axis in self.outer]
        return (
            rows,
            cols,
            channels,
            _dtypes.PIXELS[pixels],
            outer,
            _element(self.dtype),
            blocks,
            _described(self.array, chunks),
            self.said + said,
            self.nodata,
        )

    def say_what_files_lack(self):
        """Warns that the attributes and coordinates of the array are lost."""
        lost = [
            name
            for name in ("attrs", "coords")
            if isinstance(found := getattr(self.array, name, None), Mapping)
            and set(found) - {*_xarray_names.MISSING}
        ]
        self.said = (
            [f"the {' and '.join(lost)} of {_kind(self.array)} are not in the result, which has its values"]
            if lost
            else []
        )

    def read(self, raster, row, col, out):
        try:
            rows, cols, _ = out.shape
            key = self._at(raster, slice(row, row + rows), slice(col, col + cols))
            values = self._image(self.asked(key) if self.layers is None else self.layers[key])
            if self.dtype in _dtypes.PARTS:
                values = np.ascontiguousarray(values, self.dtype).view(_dtypes.PARTS[self.dtype])
            elif self.dtype in _dtypes.HOLDERS:
                values = _dtypes.widened(values)
            np.copyto(out, values, casting="same_kind")
        finally:
            del out  # its memory ends with the run, and the traceback of an error keeps what a frame has

    def asked(self, key):
        """What the array gives, if that is what it said it would."""
        values = self.array[key]
        if np.ma.is_masked(values):
            raise TypeError(
                f"{_described(self.array, None)} gives masked arrays, whose mask would be lost; have it give its values (netCDF4: "
                "set_auto_mask(False)), and say which are missing with nodata="
            )
        values = np.asarray(values)
        shape = tuple(
            len(range(side)[one]) for one, side in zip(key, self.array.shape) if isinstance(one, slice)
        )
        if values.shape != shape:
            raise ValueError(
                f"{_described(self.array, None)} gave an array of shape {values.shape} where {shape} was asked for"
            )
        if _dtypes.native(values.dtype) != self.dtype:
            raise TypeError(
                f"{_described(self.array, None)} gave an array of {values.dtype}, and its dtype is {self.dtype}"
            )
        return values


def _names_by_shape(shape, count):
    """A letter for each axis of a sink, by the shapes that one may have for a result of this shape, which has
    `count` other axes."""
    outer = "".join(chr(ord("A") + place) for place in range(count))
    several = len(shape) > count + 2
    names = {shape: outer + ("yxc" if several else "yx")}
    if not several:
        names[(*shape, 1)] = outer + "yxc"
    if shape[0] == 1 and not outer:
        names.setdefault(shape[1:], "xc" if several else "x")
    return names


class Sink(_End):
    """Has its axes in the order of an NPY file of the result: others, rows, columns, channels."""

    def __init__(self, array):
        array = _shaped(array, "sink")
        if getattr(array, "__dask_graph__", lambda: None)() is not None:
            raise TypeError(
                f"{_kind(array)} would hold all of the result in its graph; give a path or an array of zarr, and make one of that (dask.array.from_zarr)"
            )
        if isinstance(array, np.ndarray) and not array.flags.writeable:
            raise ValueError("the sink is read-only; give an array that can be written to")
        self.array = array

    def begin(self, rows, cols, channels, kind, axes, stored, max_source_extent):
        """Blocks, description and warnings, for sink_of() in python/src/array_io.cpp."""
        dtype = np.dtype(
            f"{stored[0]}{stored[1] // 8}"
            if stored and stored[0] != "b"
            else "?"
            if stored
            else _dtypes.DTYPES[kind]
        )
        image_bytes = rows * cols * channels * _dtypes.DTYPES[kind].itemsize
        channels //= 2 if dtype in _dtypes.PARTS else 1
        shape = (*(size for _, size in axes), rows, cols) + ((channels,) if channels > 1 else ())
        names, array, given = _names_by_shape(shape, len(axes)), self.array, tuple(self.array.shape)
        if given not in names or _dtypes.native(array.dtype) != dtype:
            raise ValueError(
                f"the result is {shape} of {dtype}, and the sink is {given} of {array.dtype}; give one of that shape and type"
            )
        super().__init__(array, names[given])
        self.dtype = dtype
        chunks = _one_size(getattr(array, "shards", None) or getattr(array, "chunks", None), len(given))
        blocks, said = self._blocks(chunks, image_bytes, max_source_extent, "written anew")
        return blocks, _described(array, chunks), said

    def write(self, raster, row, col, pixels):
        rows, cols, _ = pixels.shape
        key = self._at(raster, slice(row, row + rows), slice(col, col + cols))
        try:
            values = self._values(pixels)
            if "y" not in self.names:
                values = values[0]
            (self.layers or self.array)[key] = values if self.channels else values[..., 0]
        finally:
            del pixels  # as in read()
            values = None

    def _values(self, pixels):
        """Of a copy, where what has __setitem__ may keep it: the memory is used again."""
        if self.dtype in _dtypes.PARTS:
            return pixels.astype(_dtypes.PARTS[self.dtype], copy=True).view(self.dtype)
        if self.dtype in _dtypes.PIXELS:
            return pixels.copy() if self.layers is None and not isinstance(self.array, np.ndarray) else pixels
        values = np.empty(pixels.shape, self.dtype)
        _dtypes.store(pixels, values)
        return values


def check_apart(source, sink):
    """Arrays of the same memory, or a file and a mapping of it: bands of the result would be read as the
    source."""
    both = source.array if isinstance(source, Source) else source, sink.array
    if isinstance(both[0], str | bytes):
        same = isinstance(both[1], np.ndarray) and _aliasing.of_one_file(
            both[0], _aliasing.mapped_file(both[1])
        )
    elif all(isinstance(one, np.ndarray) for one in both):
        same = _aliasing.share_memory(*both)
    else:
        same = both[0] is both[1] or (
            type(both[0]) is type(both[1]) and (both[0] == both[1]) is True
        )  # h5py's of one dataset are equal
    if same:
        raise ValueError("the source and the sink share memory; give the result an array of its own")
