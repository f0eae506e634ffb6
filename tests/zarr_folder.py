"""Zarr in folders, written and read without a library of it: chunks that are stored as they are, or by zlib.
For tests that need no more, and to have a second opinion."""

import itertools
import json
import pathlib
import zlib

import numpy as np


def chunks_of(shape, chunks):
    """Positions, and what of the array lies there."""
    for position in itertools.product(*(range(-(-side // chunk)) for side, chunk in zip(shape, chunks))):
        yield (
            position,
            tuple(
                slice(i * chunk, min((i + 1) * chunk, side))
                for i, chunk, side in zip(position, chunks, shape)
            ),
        )


def write_array(path, values, chunks, version=3, gzip=False, fill=0, attributes=None, names=None):
    path = pathlib.Path(path)
    path.mkdir(parents=True, exist_ok=True)
    values = np.asarray(values)
    if version == 2:
        (path / ".zarray").write_text(
            json.dumps(
                {
                    "zarr_format": 2,
                    "shape": values.shape,
                    "chunks": chunks,
                    "dtype": values.dtype.str,
                    "order": "C",
                    "filters": None,
                    "fill_value": fill,
                    "compressor": {"id": "gzip", "level": 1} if gzip else None,
                    "dimension_separator": "/",
                }
            )
        )
        (path / ".zattrs").write_text(json.dumps(attributes or {}))
    else:
        codecs = [
            {"name": "bytes", "configuration": {"endian": "little"}},
            *([{"name": "gzip", "configuration": {"level": 1}}] if gzip else []),
        ]
        metadata = {
            "zarr_format": 3,
            "node_type": "array",
            "shape": values.shape,
            "data_type": values.dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
            "chunk_key_encoding": {"name": "default"},
            "fill_value": fill,
            "codecs": codecs,
            "attributes": attributes or {},
        }
        if names:
            metadata["dimension_names"] = names
        (path / "zarr.json").write_text(json.dumps(metadata))
    for position, part in chunks_of(values.shape, chunks):
        chunk = np.full(chunks, fill, values.dtype)
        inside = values[part]
        chunk[tuple(slice(0, side) for side in inside.shape)] = inside
        packer = zlib.compressobj(1, wbits=31)
        name = path.joinpath(*(["c"] if version == 3 else []), *map(str, position))
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_bytes(packer.compress(chunk.tobytes()) + packer.flush() if gzip else chunk.tobytes())


def read_array(path):
    """Of either version; of no other codecs than gzip and zlib."""
    path = pathlib.Path(path)
    if (path / "zarr.json").exists():
        metadata = json.loads((path / "zarr.json").read_text())
        first, *codecs = metadata["codecs"]
        assert first["name"] == "bytes" and {codec["name"] for codec in codecs} <= {"gzip"}
        dtype = np.dtype(metadata["data_type"])
        if dtype.itemsize > 1:
            dtype = dtype.newbyteorder("<" if first["configuration"]["endian"] == "little" else ">")
        chunks = metadata["chunk_grid"]["configuration"]["chunk_shape"]
        assert metadata["chunk_key_encoding"]["name"] == "default"
        name_of = lambda position: (
            metadata["chunk_key_encoding"]
            .get("configuration", {})
            .get("separator", "/")
            .join(["c", *map(str, position)])
        )
        packed, shape, fill = bool(codecs), metadata["shape"], metadata["fill_value"]
    else:
        metadata = json.loads((path / ".zarray").read_text())
        assert (
            metadata["order"] == "C"
            and not metadata["filters"]
            and (metadata["compressor"] or {"id": "zlib"})["id"] in ("gzip", "zlib")
        )
        dtype, chunks, shape, fill = (
            np.dtype(metadata["dtype"]),
            metadata["chunks"],
            metadata["shape"],
            metadata["fill_value"] or 0,
        )
        name_of = lambda position: metadata.get("dimension_separator", ".").join(map(str, position))
        packed = metadata["compressor"] is not None
    values = np.full(shape, fill, dtype)
    for position, part in chunks_of(shape, chunks):
        if not (path / name_of(position)).exists():
            continue
        content = (path / name_of(position)).read_bytes()
        chunk = np.frombuffer(zlib.decompress(content, wbits=47) if packed else content, dtype).reshape(
            chunks
        )
        values[part] = chunk[tuple(slice(0, side) for side in values[part].shape)]
    return values
