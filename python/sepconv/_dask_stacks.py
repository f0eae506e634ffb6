"""Stacks of images that processes make together, each its parts, which are no parts of the library's: whole chunks or shards of a Zarr, whole rows of an NPY
file."""

import contextlib
import dataclasses
import io
import json
import os
import re
import shutil
import uuid
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sepconv import _options, _sepconv, files


class Part(NamedTuple):
    """Begin and end of its rows and columns, and of its images along the first of the other axes; None: all."""

    rows: tuple
    cols: tuple
    images: tuple | None = None


def parts_of(sides, blocks, images, wanted):
    """Of rows and columns, and of images that are counted, so that no two have pixels of one block: about as many as are wanted, if there are so many."""
    groups = [None]
    if images is not None:
        groups = _cut(images[0], images[1], wanted)
    rows = _cut(sides[0], blocks[0], -(-wanted // len(groups)))
    cols = _cut(sides[1], blocks[1], -(-wanted // (len(groups) * len(rows))))
    return [Part(row, col, group) for group in groups for row in rows for col in cols]


def _cut(side, block, wanted):
    """None is smaller than a block: what is left over goes to the last."""
    step = max(side // block // wanted, 1) * block
    begins = list(range(0, side - block + 1, step)) or [0]
    return list(zip(begins, [*begins[1:], side]))


@dataclass(frozen=True)
class Job:
    """What every part is made of, with paths from the root on."""

    source: str
    chain: object
    options: dict
    stamp: tuple
    folder: str

    def check(self):
        """OSError unless the source is what it was, and the folder is seen."""
        if not os.path.isdir(self.folder):
            raise FileNotFoundError(f"{self.folder} is not there; source and result have to lie where every worker sees them by the same names")
        if stamp_of(self.source) != self.stamp:
            raise OSError(f"{self.source} was replaced or changed since the run began; run it again")

    def run(self, part, sink, **more):
        options = {**self.options, "region": tuple(slice(*ends) for ends in (part.rows, part.cols)), **more}
        return _sepconv.run(self.source, sink, self.chain._native, _options.settings_of(_options.RUN, options), None)


def stamp_of(path):
    """By which a file is known again. Of a folder those of its metadata."""
    made = []
    for one in (path, *(os.path.join(path, name) for name in ("zarr.json", ".zarray", ".zgroup"))):
        with contextlib.suppress(OSError):
            found = os.stat(one)
            made.append((found.st_ino, 0, 0) if os.path.isdir(one) else (found.st_ino, found.st_size, found.st_mtime_ns))
    return tuple(made)


def _json(*path):
    try:
        with open(os.path.join(*path), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def _layout_of(place, array):
    """What an array's metadata say but its shape."""
    meta = _json(place, array, "zarr.json") or _json(place, array, ".zarray")
    if meta is None:
        raise FileNotFoundError(f"{place} is not there; another has given the result its name, or removed it")
    return {name: value for name, value in meta.items() if name not in ("shape", "attributes")}


_METADATA = {"zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"}


@dataclass(frozen=True)
class ZarrResult:
    """A part is a Zarr of its own, whose files become the result's by a new name."""

    place: str
    array: str  # its folder in the result
    blocks: tuple  # rows and columns of a file
    dims: tuple  # of rows and columns
    of_images: tuple | None  # dimension, name and positions of the first other axis, and how many are in a file
    layout: dict

    @classmethod
    def begin(cls, job, plan):
        place = os.path.join(job.folder, "result.zarr")
        _sepconv.create_without_pixels(job.source, place, job.chain._native, _options.settings_of(_options.RUN, {**job.options, "device": "cpu"}))
        if os.path.isdir(os.path.join(place, "1")):
            raise ValueError("smaller levels are not made in parts; give pyramid=False, and make them of the result with sepconv.run")
        ome = _json(place, "0", "zarr.json") or _json(place, "0", ".zarray")
        meta = ome or _json(place, "zarr.json") or _json(place, ".zarray")
        attributes = (_json(place, ".zattrs") or {}).get("multiscales") if ome else None
        names = [axis["name"] for axis in attributes[0]["axes"]] if attributes else list(meta.get("dimension_names") or ())
        others = [axis["name"] for axis in plan["axes"]]
        if not {"y", "x"} <= set(names):
            names = [*others, "y", "x"]
        files_of = meta["chunks"] if "chunks" in meta else meta["chunk_grid"]["configuration"]["chunk_shape"]
        shards = [one["configuration"] for one in meta.get("codecs", ()) if one["name"] == "sharding_indexed"]
        dims = names.index("y"), names.index("x")
        chunk = [(shards[0]["chunk_shape"] if shards else files_of)[dim] for dim in dims]
        layout = {"tile": tuple(chunk)}
        if shards:
            layout["shard"] = tuple(files_of[dim] for dim in dims)
        of_images = None
        if others and others[0] in names and "page" not in job.options:
            dim = names.index(others[0])
            of_images = dim, others[0], plan["axes"][0]["size"], files_of[dim]
        return cls(place, "0" if ome else "", tuple(files_of[dim] for dim in dims), dims, of_images, layout)

    @property
    def images(self):
        """How many there are, and how many are in a file."""
        return self.of_images and self.of_images[2:]

    def make(self, job, part):
        """Names and sizes of the files that it has made, and what is to be said of it."""
        made = os.path.join(job.folder, f"part-{uuid.uuid4().hex}.zarr")
        more = dict(self.layout)
        shift = dict(zip(self.dims, (ends[0] // block for ends, block in zip((part.rows, part.cols), self.blocks))))
        if part.images is not None:
            dim, name, _, block = self.of_images
            more["page"] = f"{name}={part.images[0]}-{part.images[1] - 1}"
            shift[dim] = part.images[0] // block
        try:
            report = job.run(part, made, **more)
            if _layout_of(made, self.array) != _layout_of(self.place, self.array):
                raise RuntimeError(f"a part of {self.place} is not laid out like it; give tile and shard, or make it with sepconv.run")
            found = [(folder, name) for folder, _, names in os.walk(os.path.join(made, self.array)) for name in names if name not in _METADATA]
            return [self._moved(made, *one, shift) for one in found], list(report.warnings)
        finally:
            shutil.rmtree(made, ignore_errors=True)
            with contextlib.suppress(OSError):
                os.rmdir(job.folder)  # of a run that has ended: it has a result in it as long as one goes on

    def _moved(self, made, folder, name, shift):
        root = os.path.join(made, self.array)
        key = os.path.relpath(os.path.join(folder, name), root)
        places = iter(range(len(key)))
        key_there = re.sub(r"\d+", lambda found: str(int(found[0]) + shift.get(next(places), 0)), key)
        there = os.path.join(self.place, self.array, key_there)
        size = os.stat(os.path.join(folder, name)).st_size
        if os.path.isdir(os.path.join(self.place, self.array)):
            os.makedirs(os.path.dirname(there), exist_ok=True)
        os.replace(os.path.join(folder, name), there)
        return os.path.join(self.array, key_there), size

    def check(self, made):
        """OSError where a part's files are not there any more."""
        for name, size in (one for files_of in made for one in files_of):
            if not os.path.exists(there := os.path.join(self.place, name)) or os.stat(there).st_size != size:
                raise OSError(f"{there}, which a worker has written, is not there as it was; source and result have to lie where every worker sees them by the same names")


class _Rows:
    """Rows of a file from the first on, each image of which has so many; a sink of `sepconv.run`."""

    def __init__(self, file, result, first, count):
        self.file, self.result, self.first = file, result, first
        self.dtype, self.shape = np.dtype(result.dtype), tuple(count if axis == result.axis else side for axis, side in enumerate(result.shape))

    def __getitem__(self, key):
        raise TypeError("a result is only written")

    def __setitem__(self, key, values):
        axis, (sides, item) = self.result.axis, (self.result.shape, self.dtype.itemsize)
        image = int(np.ravel_multi_index(key[:axis], sides[:axis])) if axis else 0
        rows, cols = key[axis], key[axis + 1]
        pixel = item * int(np.prod(sides[axis + 2 :], dtype=np.int64))
        values = np.ascontiguousarray(values, self.dtype)
        pieces = [(rows.start, values)] if cols.stop - cols.start == sides[axis + 1] else [(rows.start + i, row) for i, row in enumerate(values)]
        for row, piece in pieces:
            at = self.result.offset + ((image * sides[axis] + self.first + row) * sides[axis + 1] + cols.start) * pixel
            left = memoryview(piece.reshape(-1).view("u1"))
            while left:
                done = os.pwrite(self.file, left, at)
                left, at = left[done:], at + done


@dataclass(frozen=True)
class RowsResult:
    """Parts write their rows where these lie."""

    place: str
    shape: tuple
    axis: int  # of rows
    dtype: str
    offset: int

    blocks, images = (1, 1 << 62), None

    @classmethod
    def begin(cls, job, plan):
        first = os.path.join(job.folder, "first.npy")  # which says type and axes
        job.run(Part((0, 1), (0, plan["specs"][-1]["cols"])), first, device="cpu")
        small = np.load(first, mmap_mode="r")
        axis = len(plan["axes"])
        shape = (*small.shape[:axis], plan["specs"][-1]["rows"], *small.shape[axis + 1 :])
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": np.lib.format.dtype_to_descr(small.dtype), "fortran_order": False, "shape": shape})
        made = cls(os.path.join(job.folder, "result"), shape, axis, small.dtype.str, len(header.getvalue()))
        os.unlink(first)
        with open(made.place, "xb") as file:
            file.write(header.getvalue())
            file.truncate(made.offset + int(np.prod(shape, dtype=np.int64)) * small.dtype.itemsize)
        return made

    def make(self, job, part):
        file = os.open(self.place, os.O_WRONLY | os.O_CLOEXEC)
        try:
            options = {name: value for name, value in job.options.items() if name not in _options.LAYOUT}
            sink = files._opening.sink_of(_Rows(file, self, part.rows[0], part.rows[1] - part.rows[0]), {})
            report = Job(job.source, job.chain, options, job.stamp, job.folder).run(part, sink)
            if job.options.get("durable"):
                os.fdatasync(file)
            return [], list(report.warnings)
        finally:
            os.close(file)

    def check(self, made):
        """Every part that returned has written its rows."""


@dataclass(frozen=True)
class Stack:
    """What `_dask_run` has of it."""

    job: Job
    result: object
    sink: str
    parts: list

    @classmethod
    def begin(cls, source, sink, chain, options, plan, wanted):
        """ValueError for a file that no parts are written to."""
        ending, spec, folder = os.path.splitext(sink)[1].lower(), plan["specs"][-1], sink + ".partial"
        if ending not in (".zarr", ".npy"):
            raise ValueError(f"{sink} is not written in parts: of several images workers make .zarr and .npy together; make one of these, or name an image with page")
        if "region" in options:
            raise ValueError("region= is not for several images in parts; name one with page, or leave the region out")
        os.mkdir(folder)
        try:
            job = Job(source, chain, {name: value for name, value in options.items() if name != "overwrite"}, stamp_of(source), folder)
            result = ZarrResult.begin(job, plan) if ending == ".zarr" else RowsResult.begin(job, plan)
            return cls(job, result, sink, parts_of((spec["rows"], spec["cols"]), result.blocks, result.images, wanted))
        except BaseException:
            remove(folder)
            raise

    def make(self, part, options):
        self.job.check()
        made = self.result.make(dataclasses.replace(self.job, options={**self.job.options, **options}), part)
        self.job.check()
        return made

    def finish(self, made):
        self.result.check(made)
        give_name(self.result.place, self.sink)
        remove(self.job.folder)

    def discard(self):
        remove(self.job.folder)


def remove(folder):
    """Under another name first, where workers that have not ended yet do not find it."""
    gone = f"{folder}-{uuid.uuid4().hex}"
    with contextlib.suppress(OSError):
        os.rename(folder, gone)
    shutil.rmtree(gone, ignore_errors=True)


def give_name(place, sink):
    """What is complete gets its name; what had that goes with the folder of the parts."""
    if os.path.isdir(sink):
        os.rename(sink, place + "-before")
    os.rename(place, sink)
