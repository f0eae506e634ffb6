"""Reading and writing arrays and objects that are sliced like arrays (h5py, zarr, np.memmap)."""

from collections.abc import Mapping

import numpy as np

from sepconv import _arrays, _chunk_cache, _array_namespace, _xarray_names, _aliasing, _dtypes

_COPIES_PER_BLOCK = 4  # kCopiesOfPiece in python/src/array_io.cpp
_GIVE = "give a path, an array, or what has shape and dtype and is sliced like one"


def _kind(end):
    package = _array_namespace.package_name(end)
    return f"a {type(end).__name__}" if package == "builtins" else f"a {package} {type(end).__name__}"


def _check_kind(end, what):
    """TypeError for objects that look like arrays but are not one dense array."""
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


def _as_sliceable(end, what):
    """An in-memory array as NumPy array; any other sliceable object unchanged. TypeError or ValueError
    otherwise."""
    _check_kind(end, what)
    if isinstance(end, np.ndarray):
        made = np.asarray(end)  # removes the indexing of subclasses
    elif all(hasattr(end, name) for name in ("shape", "dtype", "__getitem__")) and isinstance(
        end.dtype, np.dtype
    ):
        made = end
    elif what == "source":
        made = _as_numpy(end)
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


def _as_numpy(source):
    try:
        array = np.asarray(source)
    except ValueError:  # lists of different lengths
        array = None
    if array is None or array.ndim == 0 or array.dtype.kind in "OUS":
        raise TypeError(f"{_kind(source)} is not an array of numbers here; {_GIVE}")
    return array


def _uniform_chunks(sizes, count):
    """The chunk size along each axis if all chunks have one size, else None. `sizes` has one size per axis
    (h5py, zarr) or all of them (Dask)."""
    sizes = tuple(sizes) if isinstance(sizes, (tuple, list)) else ()
    sizes = tuple(
        chunk_size[0]
        if isinstance(chunk_size, tuple)
        and chunk_size
        and len(set(chunk_size[:-1])) < 2
        and chunk_size[-1] <= chunk_size[0]
        else chunk_size
        for chunk_size in sizes
    )
    return (
        sizes
        if len(sizes) == count
        and all(isinstance(chunk_size, (int, np.integer)) and chunk_size > 0 for chunk_size in sizes)
        else None
    )


def _element(dtype):
    """Kind and bits of an element type that is not a pixel type, else None."""
    return None if dtype in _dtypes.PIXELS else (dtype.kind, 8 * dtype.itemsize)


def _description(array, chunks):
    if isinstance(array, np.ndarray):
        return "an array in memory"
    return _kind(array) + (f" in chunks of {' x '.join(map(str, chunks))}" if chunks else "")


class _ArrayEndpoint:
    """Axes follow the rules of NPY files: a final c means channels; axes other than y, x and c count
    images."""

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
        """The index of a rectangle of an image."""
        sizes = [self.array.shape[axis] for axis in self.outer]
        position = np.unravel_index(raster, sizes) if sizes else ()
        key = [{"y": rows, "x": cols}.get(name, slice(None)) for name in self.names]
        for axis, index in zip(self.outer, position):
            key[axis] = int(index)
        return tuple(key)

    def _image(self, values):
        """The pixels with axes in the order rows, columns, channels."""
        letters = [self.names[axis] for axis in self.inner]
        values = values.transpose([letters.index(name) for name in "yxc" if name in letters])
        if "y" not in letters:
            values = values[None]
        return values if self.channels else values[..., None]

    def memory(self, raster):
        """An image as a view of the array's memory if its elements are pixels, else None."""
        if (
            not isinstance(self.array, np.ndarray)
            or self.array.dtype not in _dtypes.PIXELS
            or not self.array.dtype.isnative
        ):
            return None
        image = self._image(np.asarray(self.array[self._at(raster, slice(None), slice(None))]))
        return image if _arrays.ready(image, 3) is image else None

    def _blocks(self, chunks, image_bytes, max_source_extent, how):
        """Rows, columns and images of a block (each block contains a part of all buffered images), and
        warnings about chunks that are processed several times."""
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
            max_source_extent
            // max(image_bytes + _COPIES_PER_BLOCK * image_bytes * rows * cols // pixels, 1),
        )
        if layers.images > 1:
            self.layers = layers
        warning = (
            f"{_description(self.array, chunks)} is {how} {layers.times} times, because images that share chunks are buffered {layers.images} at a time; "
            "a larger max_memory has room for more"
        )
        return (rows, cols, layers.images), [warning] if layers.times > 1 else []


class Source(_ArrayEndpoint):
    def __init__(self, array, axes):
        array = _as_sliceable(array, "source")
        super().__init__(
            array,
            _arrays.axis_letters(array.shape, _xarray_names.letters_of(array) if axes is None else axes),
        )
        self.warnings, self.nodata = [], _xarray_names.nodata_of(array)
        _dtypes.check(array.dtype)
        self.dtype = _dtypes.native(array.dtype)

    def facts(self, max_source_extent):
        """The source's properties, for open_source() in python/src/array_io.cpp."""
        parts = 2 if self.dtype in _dtypes.PARTS else 1
        pixels = _dtypes.COMPUTED_AS[self.dtype]
        rows, cols, channels = (
            self._side("y"),
            self._side("x"),
            self._side("c") * parts if self.channels else parts,
        )
        chunks = _uniform_chunks(getattr(self.array, "chunks", None), len(self.names))
        blocks, warnings = self._blocks(
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
            _description(self.array, chunks),
            self.warnings + warnings,
            self.nodata,
        )

    def warn_of_lost_attributes(self):
        """Warns that the array's attributes and coordinates are lost."""
        lost = [
            name
            for name in ("attrs", "coords")
            if isinstance(found := getattr(self.array, name, None), Mapping)
            and set(found) - {*_xarray_names.MISSING}
        ]
        self.warnings = (
            [f"the {' and '.join(lost)} of {_kind(self.array)} are not in the result, which has its values"]
            if lost
            else []
        )

    def read(self, raster, row, col, out):
        try:
            rows, cols, _ = out.shape
            key = self._at(raster, slice(row, row + rows), slice(col, col + cols))
            values = self._image(self.read_checked(key) if self.layers is None else self.layers[key])
            if self.dtype in _dtypes.PARTS:
                values = np.ascontiguousarray(values, self.dtype).view(_dtypes.PARTS[self.dtype])
            elif self.dtype in _dtypes.WIDENED:
                values = _dtypes.widened(values)
            np.copyto(out, values, casting="same_kind")
        finally:
            del out  # this memory is invalid after the run, but a traceback would keep a reference to it

    def read_checked(self, key):
        """The values at `key`. TypeError or ValueError if their type or shape differs from the array's."""
        values = self.array[key]
        if np.ma.is_masked(values):
            raise TypeError(
                f"{_description(self.array, None)} gives masked arrays, whose mask would be lost; have it give its values (netCDF4: "
                "set_auto_mask(False)), and say which are missing with nodata="
            )
        values = np.asarray(values)
        shape = tuple(
            len(range(side)[index]) for index, side in zip(key, self.array.shape) if isinstance(index, slice)
        )
        if values.shape != shape:
            raise ValueError(
                f"{_description(self.array, None)} gave an array of shape {values.shape} where {shape} was asked for"
            )
        if _dtypes.native(values.dtype) != self.dtype:
            raise TypeError(
                f"{_description(self.array, None)} gave an array of {values.dtype}, and its dtype is {self.dtype}"
            )
        return values


def _names_by_shape(shape, count):
    """The accepted shapes of a sink for a result of this shape, each with its axis letters. `count` axes of
    the result count images."""
    outer = "".join(chr(ord("A") + index) for index in range(count))
    has_channels = len(shape) > count + 2
    names = {shape: outer + ("yxc" if has_channels else "yx")}
    if not has_channels:
        names[(*shape, 1)] = outer + "yxc"
    if shape[0] == 1 and not outer:
        names.setdefault(shape[1:], "xc" if has_channels else "x")
    return names


class Sink(_ArrayEndpoint):
    """Axes in the order of an NPY file of the result: others, rows, columns, channels."""

    def __init__(self, array):
        array = _as_sliceable(array, "sink")
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
        chunks = _uniform_chunks(getattr(array, "shards", None) or getattr(array, "chunks", None), len(given))
        blocks, warnings = self._blocks(chunks, image_bytes, max_source_extent, "rewritten")
        return blocks, _description(array, chunks), warnings

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
        """The pixels in the sink's element type. Copied if __setitem__ may keep a reference: the memory is
        reused."""
        if self.dtype in _dtypes.PARTS:
            return pixels.astype(_dtypes.PARTS[self.dtype], copy=True).view(self.dtype)
        if self.dtype in _dtypes.PIXELS:
            return pixels.copy() if self.layers is None and not isinstance(self.array, np.ndarray) else pixels
        values = np.empty(pixels.shape, self.dtype)
        _dtypes.store(pixels, values)
        return values


def check_no_shared_memory(source, sink):
    """ValueError if source and sink share memory, or one is a mapping of the other's file: the run would read
    bands of the result as source."""
    endpoints = source.array if isinstance(source, Source) else source, sink.array
    if isinstance(endpoints[0], str | bytes):
        same = isinstance(endpoints[1], np.ndarray) and _aliasing.is_same_file(
            endpoints[0], _aliasing.mapped_file(endpoints[1])
        )
    elif all(isinstance(endpoint, np.ndarray) for endpoint in endpoints):
        same = _aliasing.share_memory(*endpoints)
    else:
        same = endpoints[0] is endpoints[1] or (
            type(endpoints[0]) is type(endpoints[1]) and (endpoints[0] == endpoints[1]) is True
        )  # h5py objects of one dataset compare equal
    if same:
        raise ValueError("the source and the sink share memory; give the result an array of its own")
