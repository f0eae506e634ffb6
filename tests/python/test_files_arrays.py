"""Arrays and sliceable objects as source and sink of sc.run: h5py, zarr, np.memmap, and user-defined
objects."""

import traceback

import numpy as np
import pytest

import sepconv as sc

CHAIN = "gaussian:sigma=1.5 | scale:factor=2"

pytestmark = pytest.mark.filterwarnings("ignore::sepconv.FileWarning")


@pytest.fixture(autouse=True)
def in_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def pixels(shape=(150, 130), dtype="u2", seed=1):
    return (np.random.default_rng(seed).random(shape) * 100).astype(dtype)


class H5pyAdapter:
    def __init__(self):
        self.module = pytest.importorskip("h5py", reason="h5py is not installed")
        self.file = self.module.File("all.h5", "w")

    def filled(self, array, chunks=None):
        return self.file.create_dataset("source", data=array, chunks=chunks)

    def empty(self, shape, dtype, chunks=None):
        return self.file.create_dataset("sink", shape, dtype, chunks=chunks)


class ZarrAdapter:
    def __init__(self):
        self.module = pytest.importorskip("zarr", reason="zarr is not installed")

    def filled(self, array, chunks=None):
        result = self.empty(array.shape, array.dtype, chunks, "source.zarr")
        result[...] = array
        return result

    def empty(self, shape, dtype, chunks=None, name="sink.zarr"):
        return self.module.create_array(store=name, shape=shape, dtype=dtype, chunks=chunks or "auto")


class MemmapAdapter:
    def filled(self, array, chunks=None):
        np.save("source.npy", array)
        return np.load("source.npy", mmap_mode="r")

    def empty(self, shape, dtype, chunks=None):
        return np.lib.format.open_memmap("sink.npy", "w+", dtype, shape)


class RecordingSliceable:
    """A user-defined sliceable that records the keys read and keeps the values written."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.read_keys, self.written_values = [], []

    def __getitem__(self, key):
        self.read_keys.append(key)
        return self.array[key]

    def __setitem__(self, key, values):
        self.written_values.append((key, values))
        self.array[key] = values


class CustomAdapter:
    def filled(self, array, chunks=None):
        return RecordingSliceable(array)

    def empty(self, shape, dtype, chunks=None):
        return RecordingSliceable(np.empty(shape, dtype))


KINDS = {"h5py": H5pyAdapter, "zarr": ZarrAdapter, "memmap": MemmapAdapter, "own": CustomAdapter}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]()


@pytest.mark.parametrize(
    "axes, shape, chunks",
    [
        ("yx", (150, 130), (64, 32)),
        ("yxc", (90, 70, 3), (32, 32, 3)),
        ("zyx", (5, 60, 70), (1, 16, 70)),
        ("tyzx", (2, 30, 3, 40), None),
        ("xy", (70, 40), None),
        ("xzy", (30, 4, 50), None),
    ],
)
@pytest.mark.parametrize("dtype", ["u1", "f4", "i4", "?", "c8", ">u2"])
def test_what_is_sliced_gives_what_arrays_give(kind, axes, shape, chunks, dtype):
    array = pixels(shape, dtype)
    chain = sc.Chain(CHAIN)
    sc.run(array, "wanted.npy", chain, axes=axes, progress=False)
    expected = np.load("wanted.npy")
    order = [axes.index(name) for name in axes if name not in "yxc"] + [
        axes.index(name) for name in "yxc" if name in axes
    ]
    by_call = chain(
        array.astype(array.dtype.newbyteorder("=")),
        axes=axes.replace("c", "c") if axes.endswith("c") or "c" not in axes else axes,
    )
    assert np.array_equal(expected, by_call.transpose(order))
    source = kind.filled(array, chunks)
    sc.run(source, "ours.npy", chain, axes=axes, progress=False)
    assert open("ours.npy", "rb").read() == open("wanted.npy", "rb").read()
    sink = kind.empty(
        expected.shape, expected.dtype, chunks if axes == "".join(axes[axis] for axis in order) else None
    )
    sc.run(source, sink, chain, axes=axes, progress=False)
    assert np.array_equal(sink[...], expected)


def test_arrays_in_memory_are_not_copied(monkeypatch):
    """Neither read nor written in pieces: the library uses their addresses."""
    from sepconv import _array_io

    monkeypatch.setattr(_array_io.Source, "read", None), monkeypatch.setattr(_array_io.Sink, "write", None)
    array, out = pixels((150, 140)), np.empty((200, 150), "u2")
    sc.run(array[:, 10:], out[:150, :130], "abs", progress=False)
    assert np.array_equal(out[:150, :130], array[:, 10:])
    stack, result = pixels((3, 50, 60)), np.empty((3, 50, 60), "u2")
    sc.run(stack[::-1], result, "abs", axes="zyx", progress=False)
    assert np.array_equal(result, stack[::-1])


def test_a_subclass_that_copies_what_it_is_asked_for_is_an_array():
    class Copies(np.ndarray):
        def __getitem__(self, key):
            return np.array(super().__getitem__(key))

    array = pixels((400, 300))
    sink = np.empty_like(array)
    sc.run(array.view(Copies), sink.view(Copies), CHAIN, progress=False)
    assert np.array_equal(sink, sc.Chain(CHAIN)(array))


def test_the_gil_is_free_while_a_run_computes():
    import threading
    import time

    array, counted, done = np.zeros((1500, 1500)), [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        time.sleep(0.05)
        before, begin = counted[0], time.perf_counter()
        sc.run(
            RecordingSliceable(array),
            np.empty_like(array),
            sc.gaussian(40),
            threads=1,
            device="cpu",
            progress=False,
        )
        during, seconds = counted[0] - before, time.perf_counter() - begin
    finally:
        done.set()
        thread.join()
    assert during > seconds / 0.0005 / 20


def test_strides_orders_and_rows_of_one(kind):
    for array, axes in (
        (pixels((60, 50)).T, None),
        (pixels((60, 50))[::-1, ::-2], None),
        (np.asfortranarray(pixels((9, 60, 50))), "zyx"),
        (pixels((70,)), None),
        (pixels((1, 70)), None),
        (pixels((60, 50, 4))[..., 1:3], None),
    ):
        out = np.empty(array.shape, array.dtype)
        sc.run(array, out, CHAIN, axes=axes, progress=False)
        expected = sc.Chain(CHAIN)(array, axes=axes)
        assert np.array_equal(out, expected)
        sink = kind.empty(array.shape, array.dtype)
        sc.run(array, sink, CHAIN, axes=axes, progress=False)
        assert np.array_equal(sink[...], expected)
        break_names(kind)


def break_names(kind):
    """The next sink may have the same name."""
    if isinstance(kind, H5pyAdapter):
        del kind.file["sink"]
    elif isinstance(kind, ZarrAdapter):
        import shutil

        shutil.rmtree("sink.zarr")


def test_rows_are_asked_for_once_in_pieces_of_chunks():
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    array = pixels((4000, 3000), "u2")
    file = h5py.File("a.h5", "w")
    dataset = file.create_dataset("a", data=array, chunks=(500, 300))

    class Watched(RecordingSliceable):
        chunks = dataset.chunks

    source, sink = Watched(dataset), RecordingSliceable(np.empty_like(array))
    sc.run(source, sink, "abs", max_memory="72M", device="cpu", progress=False)
    assert np.array_equal(sink.array, array)
    asked = np.zeros((8, 10), int)
    for rows, cols in source.read_keys:
        assert rows.start % 500 == cols.start % 300 == 0 and rows.stop % 500 == cols.stop % 300 == 0
        asked[rows.start // 500 : rows.stop // 500, cols.start // 300 : cols.stop // 300] += 1
    assert len(source.read_keys) > 3 and (asked == 1).all()
    assert all(np.array_equal(values, sink.array[key]) for key, values in sink.written_values), (
        "what was handed out has been used again"
    )


@pytest.mark.parametrize("chunks", [(100, 4000000), (1, 1), (3, 5), (12, 2500000)])
def test_pieces_of_wide_rows_are_parts_of_them(chunks):
    class Wide(RecordingSliceable):
        pass

    array = (np.arange(12 * 4000000, dtype="i8") % 251).astype("u1").reshape(12, 4000000)
    source, sink = Wide(array), Wide(np.empty_like(array))
    source.chunks = sink.chunks = chunks
    sc.run(source, sink, "scale:factor=1,offset=1", max_memory="2G", progress=False)
    assert np.array_equal(sink.array, array + 1)
    assert max(values.nbytes for _, values in sink.written_values) <= max(
        2 * (8 << 20), min(chunks[0], 12) * chunks[1]
    )


def test_chunks_of_one_size_may_be_listed_as_dask_lists_them():
    class Listed(RecordingSliceable):
        chunks = ((64, 64, 22), (130,))

    class Uneven(RecordingSliceable):
        chunks = ((64, 60, 26), (130,))

    for kind, units in ((Listed, 64), (Uneven, 1)):
        sink = kind(np.empty((150, 130), "u2"))
        sc.run(pixels(), sink, "abs", band_rows=10, progress=False)
        assert {key[0].start % units for key, _ in sink.written_values} == {0} and (
            kind is Listed or len(sink.written_values) == 15
        )


def test_chunks_of_a_sink_are_written_once():
    class Chunked(RecordingSliceable):
        chunks = (64, 100)

    sink = Chunked(np.empty((300, 250), "u2"))
    sc.run(pixels((300, 250)), sink, "abs", band_rows=10, progress=False)
    assert all(
        key[0].start % 64 == 0 and (key[0].stop % 64 == 0 or key[0].stop == 300)
        for key, _ in sink.written_values
    )


@pytest.mark.parametrize("max_memory", ["3M", "8M", "64M", "1G"])
def test_pieces_of_what_has_no_chunks_are_not_small(max_memory):
    array = pixels((4000, 3000), "u1")
    source, sink = RecordingSliceable(array), RecordingSliceable(np.empty_like(array))
    plan = sc.plan(source, sink, "gaussian:sigma=4,radius=8", max_memory=max_memory, device="cpu")
    sc.run(source, sink, plan=plan, progress=False)
    assert np.array_equal(sink.array, sc.Chain("gaussian:sigma=4,radius=8")(array))
    cols = plan.to_dict()["band"]["cols"]
    rows = [key[0].stop - key[0].start for key, _ in sink.written_values]
    assert min(rows[:-1], default=4000) >= (256 << 10) // 3000 and cols >= 512
    with pytest.raises(MemoryError, match="raise max_memory to"):
        sc.run(source, sink, "gaussian:sigma=4,radius=8", max_memory="1M", device="cpu", progress=False)


def test_a_zarr_view_of_tifffile_is_a_source():
    tifffile, zarr = (
        pytest.importorskip(name, reason=f"{name} is not installed") for name in ("tifffile", "zarr")
    )
    array = pixels((300, 200))
    tifffile.imwrite("in.tif", array, tile=(64, 64))
    source = zarr.open(tifffile.imread("in.tif", aszarr=True), mode="r")
    out = np.empty_like(array)
    sc.run(source, out, CHAIN, progress=False)
    assert np.array_equal(out, sc.Chain(CHAIN)(array))


@pytest.mark.parametrize(
    "chain",
    [
        "gaussian:sigma=2,border=wrap",
        "transpose | gaussian:sigma=2",
        "reduce:factor=3",
        "resize:size=77x91 | sobel:axis=y",
    ],
)
def test_chains_of_other_shapes_and_periods(kind, chain):
    array = pixels((400, 330), "f4")
    expected = sc.Chain(chain)(array)
    source, sink = kind.filled(array, (64, 50)), kind.empty(expected.shape, expected.dtype, (50, 64))
    sc.run(source, sink, chain, band_rows=30, progress=False)
    assert np.array_equal(sink[...], expected)


def test_a_part_of_the_result_goes_into_an_array_of_its_size():
    array, out = pixels((150, 130)), np.empty((40, 30), "u2")
    sc.run(array, out, CHAIN, region=np.s_[50:90, 20:50], progress=False)
    assert np.array_equal(out, sc.Chain(CHAIN)(array)[50:90, 20:50])


def test_missing_pixels_of_arrays():
    array = pixels((60, 50), "f4")
    array[10:20, 10:20] = -1
    np.save("in.npy", array)
    sc.run("in.npy", "wanted.npy", sc.gaussian(2), nodata=-1, progress=False)
    out = np.empty_like(array)
    sc.run(array, out, sc.gaussian(2), nodata=-1, progress=False)
    assert np.array_equal(out, np.load("wanted.npy")) and (out[10:20, 10:20] == -1).all()


def test_what_an_object_raises_comes_back_and_ends_the_run():
    class Broken(RecordingSliceable):
        def __getitem__(self, key):
            raise LookupError("lost")

        def __setitem__(self, key, values):
            raise LookupError("lost as well")

    array = pixels()
    with pytest.raises(LookupError, match="^lost$"):
        sc.run(Broken(array), "out.tif", progress=False)
    with pytest.raises(LookupError, match="lost as well"):
        sc.run(array, Broken(array.copy()), progress=False)
    with pytest.raises(LookupError, match="^lost$"):
        sc.stats(Broken(array), progress=False)

    class Short(RecordingSliceable):
        def __getitem__(self, key):
            return self.array[key][:-1]

    with pytest.raises(ValueError, match=r"gave an array of shape .* was asked for"):
        sc.run(Short(array), "out.tif", progress=False)

    class Flat(RecordingSliceable):
        def __getitem__(self, key):
            return self.array[key].ravel()

    with pytest.raises(ValueError, match="gave an array of shape"):
        sc.run(Flat(array), "out.tif", progress=False)
    import os

    assert os.listdir(".") == []


def test_ends_that_cannot_be_are_refused():
    array = pixels()
    with pytest.raises(ValueError, match="share memory"):
        sc.run(array, array, "abs", progress=False)
    with pytest.raises(ValueError, match="share memory"):
        sc.run(array[1:], array[:-1], "abs", progress=False)
    own = RecordingSliceable(array)
    with pytest.raises(ValueError, match="share memory"):
        sc.run(own, own, "abs", progress=False)
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File("a.h5", "w") as file:
        file["a"] = array
        with pytest.raises(ValueError, match="share memory"):
            sc.run(file["a"], file["a"], "abs", progress=False)
    locked = np.empty_like(array)
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        sc.run(array, locked, "abs", progress=False)
    with pytest.raises(ValueError, match="53 significant bits"):
        sc.run(np.full((3, 4), 2**63 - 1), "out.npy", progress=False)


def test_masked_pieces_are_refused_and_masks_of_nothing_are_none():
    class Variable:  # like netCDF4's
        def __init__(self, values):
            self.values, self.shape, self.dtype = values, values.shape, values.dtype

        def __getitem__(self, key):
            return np.ma.masked_equal(self.values[key], -9999)

    values = np.ones((40, 50), "f4")
    out = np.empty_like(values)
    sc.run(Variable(values), out, sc.gaussian(2), progress=False)
    np.testing.assert_allclose(out, 1, rtol=1e-6)
    values[10:20, 10:20] = -9999
    for call in (
        lambda: sc.run(Variable(values), out, sc.gaussian(2), progress=False),
        lambda: sc.stats(Variable(values), progress=False),
    ):
        with pytest.raises(TypeError, match="whose mask would be lost"):
            call()


class Failing:
    shape, dtype = (2000, 2000), np.dtype("u1")

    def __getitem__(self, key):
        raise OSError("disk gone")

    def __setitem__(self, key, value):
        raise OSError("disk full")


@pytest.mark.parametrize(
    "ends",
    [lambda: (Failing(), np.empty((2000, 2000), "u1")), lambda: (np.ones((2000, 2000), "u1"), Failing())],
    ids=["source", "sink"],
)
def test_a_traceback_keeps_no_memory_of_the_library(ends):
    """The traceback may be inspected after the run and its buffers have ended."""
    with pytest.raises(OSError, match="disk") as caught:
        sc.run(*ends(), "box:radius=1", progress=False)
    frames = [frame for frame, _ in traceback.walk_tb(caught.tb) if "sepconv" in frame.f_code.co_filename]
    kept = [
        (frame.f_code.co_name, name)
        for frame in frames
        for name, value in frame.f_locals.items()
        if isinstance(value, np.ndarray) and not value.flags.owndata and value.base is None
    ]
    assert kept == [] and {"read", "write"} & {frame.f_code.co_name for frame in frames}


def test_mappings_of_one_file_share_memory():
    image = pixels((300, 200), "u1")
    np.save("image.npy", image)

    def mapped(mode):
        return np.lib.format.open_memmap("image.npy", mode)

    for source in ("image.npy", sc.open("image.npy"), mapped("r")):
        with pytest.raises(ValueError, match="share memory"):
            sc.run(source, mapped("r+"), "abs", progress=False)
    sc.gaussian(20)(mapped("r"), out=mapped("r+"))
    assert np.array_equal(np.load("image.npy"), sc.gaussian(20)(image))
    np.save("image.npy", image)
    sc.ndimage.gaussian_filter(mapped("r"), 20, output=mapped("r+"))
    assert np.array_equal(np.load("image.npy"), sc.ndimage.gaussian_filter(image, 20))
