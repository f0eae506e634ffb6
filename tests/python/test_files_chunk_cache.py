"""Volumes in chunks of several images: each chunk is read and written once if max_memory suffices; otherwise
a warning says how often."""

import numpy as np
import pytest

import sepconv as sc


@pytest.fixture(autouse=True)
def in_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def pixels(shape, dtype="u1", seed=1):
    return (np.random.default_rng(seed).random(shape) * 100).astype(dtype)


class CountingArray:
    """Counts the reads and writes of each chunk."""

    def __init__(self, array, chunks):
        self.array, self.shape, self.dtype, self.chunks = array, array.shape, array.dtype, chunks
        counts = [-(-side // chunk) for side, chunk in zip(array.shape, chunks)]
        self.read, self.written, self.kept = np.zeros(counts, int), np.zeros(counts, int), []

    def _count(self, counts, key):
        ends = [
            (item.start or 0, side if item.stop is None else item.stop)
            if isinstance(item, slice)
            else (item, item + 1)
            for item, side in zip(key, self.shape)
        ]
        counts[
            tuple(slice(begin // chunk, -(-end // chunk)) for (begin, end), chunk in zip(ends, self.chunks))
        ] += 1

    def __getitem__(self, key):
        self._count(self.read, key)
        return self.array[key]

    def __setitem__(self, key, values):
        self._count(self.written, key)
        self.kept.append((key, values))
        self.array[key] = values


CASES = [
    ("zyx", (20, 90, 70), (8, 32, 32)),
    ("tzyx", (2, 9, 40, 50), (1, 4, 16, 16)),
    ("zcyx", (9, 2, 40, 50), (4, 1, 16, 16)),
    ("tzyx", (5, 6, 40, 50), (2, 3, 16, 16)),
    ("zyxc", (7, 40, 50, 3), (3, 16, 16, 3)),
    ("xzy", (40, 9, 50), (16, 4, 16)),
]


@pytest.mark.parametrize("axes, shape, chunks", CASES)
@pytest.mark.parametrize("dtype", ["u1", "f4", "i4", "c8", ">u2"])
def test_chunks_are_read_and_written_once(axes, shape, chunks, dtype):
    array = pixels(shape, dtype)
    inner = "yxc" if axes.endswith("c") else "yx"
    order = [axes.index(name) for name in axes if name not in inner] + [axes.index(name) for name in inner]
    expected = np.empty([shape[axis] for axis in order], array.dtype.newbyteorder("="))
    sc.run(array, expected, "gaussian:sigma=2", axes=axes, progress=False)
    source, sink = (
        CountingArray(array, chunks),
        CountingArray(np.zeros_like(expected), tuple(chunks[axis] for axis in order)),
    )
    sc.run(source, sink, "gaussian:sigma=2", axes=axes, progress=False, max_memory="256M")
    assert np.array_equal(sink.array, expected)
    assert (source.read == 1).all() and (sink.written == 1).all() and not sink.read.any()
    assert all(np.array_equal(values, sink.array[key]) for key, values in sink.kept), (
        "what was handed out has been used again"
    )


def test_chunks_of_bands_that_end_within_them():
    array = pixels((12, 300, 70))
    source, sink = CountingArray(array, (5, 64, 64)), CountingArray(np.zeros_like(array), (5, 50, 70))
    sc.run(source, sink, "gaussian:sigma=2", axes="zyx", band_rows=50, progress=False)
    assert np.array_equal(sink.array, sc.gaussian(2)(array, axes="zyx"))
    assert (sink.written == 1).all() and source.read.max() < 5


def test_what_there_is_no_room_for_is_said():
    array = pixels((16, 1024, 1024))
    source, sink = CountingArray(array, (16, 64, 64)), CountingArray(np.zeros_like(array), (16, 64, 64))
    options = {"axes": "zyx", "device": "cpu", "progress": False}
    with pytest.warns(sc.FileWarning) as reported_warnings:
        report = sc.run(source, sink, "gaussian:sigma=2", max_memory="34M", **options)
    sentences = [str(warning.message) for warning in reported_warnings]
    assert any(
        "is read 2 times, because images that share chunks are buffered 8 at a time; a larger max_memory"
        in item
        for item in sentences
    )
    assert any("is rewritten 2 times" in item for item in sentences)
    assert np.array_equal(sink.array, sc.gaussian(2)(array, axes="zyx"))
    assert (source.read == 2).all() and (sink.written == 2).all()
    plan = sc.plan(source, sink, "gaussian:sigma=2", axes="zyx", device="cpu", max_memory="256M")
    assert (
        plan.warnings == []
        and plan.to_dict()["memory_bytes"]["source"] >= array.nbytes
        and plan.to_dict()["memory_bytes"]["sink"] >= array.nbytes
    )
    with pytest.warns(sc.FileWarning) as reported_warnings:
        plan = sc.plan(source, sink, "gaussian:sigma=2", axes="zyx", device="cpu", max_memory="34M")
    assert [str(warning.message) for warning in reported_warnings] == plan.warnings == sentences
    assert (
        report.plan.to_dict()["memory_bytes"]["total"] == plan.to_dict()["memory_bytes"]["total"] <= 34 << 20
    )
    sink.written[...] = 0
    with pytest.warns(sc.FileWarning):
        sc.run(source, sink, plan=plan, axes="zyx", progress=False)
    assert (sink.written == 2).all()


def test_a_volume_of_zarr_goes_to_a_file_and_back():
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    array = pixels((40, 100, 90), "u2")
    source = zarr.create_array(store="in.zarr", shape=array.shape, chunks=(16, 32, 32), dtype="u2")
    source[...] = array
    sink = zarr.create_array(
        store="out.zarr", shape=array.shape, chunks=(8, 16, 16), shards=(16, 32, 32), dtype="u2"
    )
    sc.run(source, "volume.npy", "gaussian:sigma=2", axes="zyx", progress=False)
    sc.run("volume.npy", sink, "scale:factor=2", axes="zyx", progress=False)
    assert np.array_equal(sink[...], 2 * sc.gaussian(2)(array, axes="zyx"))


def test_statistics_of_a_volume_read_its_chunks_once():
    array = pixels((20, 90, 70))
    source = CountingArray(array, (8, 32, 32))
    assert sc.stats(source, axes="zyx", progress=False).images[19][0].mean == pytest.approx(array[19].mean())
    assert (source.read == 1).all()


def test_parts_of_a_layer_are_of_nearly_one_size():
    """9 of 10 fit: two parts of 5 instead of 9 and 1."""
    array = pixels((25, 1024, 1024))
    source = CountingArray(array, (10, 512, 512))
    out = np.empty_like(array)
    with pytest.warns(
        sc.FileWarning, match="is read 2 times, because images that share chunks are buffered 5 at a time"
    ):
        sc.run(source, out, "abs", axes="zyx", max_memory="76M", device="cpu", progress=False)
    assert (
        np.array_equal(out, array)
        and source.read[:2].min() == source.read.max() == 2
        and (source.read[2] == 1).all()
    )


@pytest.mark.filterwarnings("ignore::sepconv.FileWarning")
@pytest.mark.parametrize("chunks", [(32, 300, 300), (32, 32, 32), (2, 100, 300)], ids=str)
def test_the_smallest_ceiling_that_is_named_will_do(chunks):
    array = pixels((64, 300, 300), "f4")
    source, sink = CountingArray(array, chunks), CountingArray(np.zeros_like(array), chunks)
    with pytest.raises(MemoryError, match=r"raise max_memory to \d+K$") as refused:
        sc.plan(source, sink, "gaussian:sigma=2", axes="zyx", max_memory="1M", device="cpu")
    minimum = str(refused.value).rpartition(" ")[2]
    sc.run(source, sink, "gaussian:sigma=2", axes="zyx", max_memory=minimum, device="cpu", progress=False)
    assert np.array_equal(sink.array, sc.gaussian(2)(array, axes="zyx"))
