"""Common kinds of arrays as source and sink: each works or is refused with a message that names an
alternative."""

import copy
import io
import pickle
import subprocess
import sys

import numpy as np
import pytest

import sepconv as sc

A = (np.random.default_rng(1).random((200, 150)) * 100).astype("u2")
BLURRED = sc.gaussian(2)(A)


@pytest.fixture(autouse=True)
def in_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def module(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


def blurred(source, **options):
    out = np.zeros((200, 150), "u2")
    sc.run(source, out, "gaussian:sigma=2", progress=False, **options)
    return out


def refused(error, sentence, *ends):
    with pytest.raises(error, match=sentence) as caught:
        sc.run(*ends, "gaussian:sigma=2", progress=False)
    assert "\n" not in str(caught.value)


class Group(dict):
    pass


class GroupOfZarr:
    def keys(self):
        return ["a"]

    def __getitem__(self, name):
        return A


class Sparse:
    shape, dtype = A.shape, A.dtype

    def todense(self):
        return A

    def __getitem__(self, key):
        return A[key]

    __setitem__ = None


class Unknown:
    dtype = A.dtype

    def __init__(self, shape):
        self.shape = shape

    def __getitem__(self, key):
        return A[key]


class Graph(Unknown):
    def __dask_graph__(self):
        return {}


@pytest.mark.parametrize("end", [{"a": A}, Group(a=A), GroupOfZarr()], ids=["dict", "mapping", "group"])
def test_groups_are_refused(end):
    refused(TypeError, "holds arrays by their names; give one of them as the source", end, "out.npy")
    refused(TypeError, "holds arrays by their names; give one of them as the sink", A, end)


def test_sparse_and_masked_arrays_are_refused():
    refused(TypeError, "is sparse, and every pixel of the source is read", Sparse(), "out.npy")
    refused(TypeError, "is sparse, and every pixel of the sink is read", A, Sparse())
    refused(TypeError, "mask would be lost", np.ma.array(A), "out.npy")
    refused(TypeError, "mask would be lost", A, np.ma.array(A))
    refused(TypeError, "is sparse", module("scipy.sparse").csr_array(A), "out.npy")
    refused(TypeError, "is sparse", A, module("scipy.sparse").lil_array(A.shape, dtype="u2"))


@pytest.mark.parametrize("shape", [(), None, (float("nan"), 150)], ids=str)
def test_shapes_that_are_none_are_refused(shape):
    refused(ValueError, "is .*, and no image's; give one whose sizes are known", Unknown(shape), "out.npy")
    refused(ValueError, "the shape of the source, a numpy ndarray, is \\(\\)", np.array(3), "out.npy")


@pytest.mark.parametrize(
    "end",
    [
        [[1, 2], [3]],
        [A, A[:3]],
        ["a.tif", "b.tif"],
        (row for row in A),
        iter(A),
        map(int, "1"),
        {1, 2},
        None,
        3,
        object(),
        io.BytesIO(b"x"),
    ],
    ids=[
        "ragged",
        "ragged arrays",
        "names",
        "generator",
        "iterator",
        "map",
        "set",
        "None",
        "number",
        "object",
        "stream",
    ],
)
def test_what_is_no_array_of_numbers_is_refused(end):
    refused(
        TypeError,
        "is not an array of numbers here; give a path, an array, or what has shape and dtype and is sliced",
        end,
        "out.npy",
    )
    refused(TypeError, "is not a sink; give a path, an array", A, end)


def test_what_numpy_makes_arrays_of_is_a_source():
    assert np.array_equal(blurred(memoryview(A)), BLURRED)
    out = np.empty((2, 3), "i8")
    sc.run([[1, 2, 3], [4, 5, 6]], out, progress=False)
    assert out.tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(A)
    assert np.array_equal(blurred(matrix), BLURRED)


def test_zarr_with_a_fill_value():
    zarr = module("zarr")
    source, sink = (
        zarr.create_array(store=f"{name}.zarr", shape=A.shape, chunks=(64, 64), dtype="u2", fill_value=7)
        for name in ("in", "out")
    )
    source[:100] = A[:100]
    sc.run(source, sink, "gaussian:sigma=2", progress=False)
    assert np.array_equal(
        sink[...], sc.gaussian(2)(np.where(np.arange(200)[:, None] < 100, A, 7).astype("u2"))
    )
    group = zarr.open_group("group.zarr", mode="w")
    refused(TypeError, "a zarr Group holds arrays by their names", group, "out.npy")
    refused(TypeError, "a zarr Group holds arrays by their names", A, group)


def test_h5py_with_scale_and_offset_and_what_is_no_array_of_it():
    h5py = module("h5py")
    with h5py.File("a.h5", "w") as file:
        source = file.create_dataset("in", data=A.astype("i4"), scaleoffset=0, chunks=(64, 64))
        sink = file.create_dataset("out", A.shape, "i4", scaleoffset=0, chunks=(64, 64))
        sc.run(source, sink, "gaussian:sigma=2", progress=False)
        assert np.array_equal(sink[...], BLURRED)
        refused(TypeError, "a h5py File holds arrays by their names", file, "out.npy")
        refused(
            ValueError,
            "a h5py Dataset, is None",
            file.create_dataset("none", data=h5py.Empty("f4")),
            "out.npy",
        )
        refused(
            TypeError,
            "cannot be filtered",
            file.create_dataset("compound", data=np.zeros((4, 5), [("a", "u2")])),
            "out.npy",
        )


def test_dask_arrays_are_sources_and_no_sinks():
    refused(
        TypeError,
        "would hold all of the result in its graph; give a path or an array of zarr",
        A,
        Graph(A.shape),
    )
    dask = module("dask.array")
    for chunks in ((64, 64), ((50, 100, 50), (70, 80))):
        assert np.array_equal(blurred(dask.from_array(A, chunks=chunks)), BLURRED)
    array = dask.from_array(A, chunks=(64, 64))
    refused(ValueError, "compute_chunk_sizes", array[array[:, 0] > 20], "out.npy")
    refused(TypeError, "a dask Array would hold all of the result", A, dask.zeros(A.shape, dtype="u2"))


class Labelled(Unknown):
    """Imitates xarray's DataArray."""

    def __init__(self, values, dims, **beside):
        super().__init__(values.shape)
        self.values, self.dims = values, dims
        vars(self).update(beside)

    def __getitem__(self, key):
        return self.values[key]


def labelled(kind, values, dims, attrs):
    return (
        module("xarray").DataArray(values, dims=dims, attrs=attrs)
        if kind == "xarray"
        else Labelled(values, dims, attrs=attrs, coords={})
    )


@pytest.mark.parametrize("kind", ["own", "xarray"])
def test_names_of_axes_are_heeded_and_labels_that_are_lost_are_said(kind, recwarn):
    assert np.array_equal(blurred(labelled(kind, A.T.copy(), ("x", "y"), {"a": 1})), BLURRED)
    assert np.array_equal(blurred(labelled(kind, A, ("lat", "lon"), {})), BLURRED)
    sc.run(
        labelled(kind, np.stack([A, A]), ("z", "y", "x"), {}), "out.npy", "gaussian:sigma=2", progress=False
    )
    assert np.array_equal(np.load("out.npy"), [BLURRED, BLURRED])
    assert not recwarn
    with pytest.warns(
        sc.FileWarning, match=r"^the attrs of an? \w+ \w+ are not in the result, which has its values$"
    ):
        report = sc.run(
            labelled(kind, A, ("y", "x"), {"units": "m"}), "other.npy", "gaussian:sigma=2", progress=False
        )
    assert len(report.warnings) == 1


def test_views_of_tifffile():
    tifffile, zarr = module("tifffile"), module("zarr")
    tifffile.imwrite("in.tif", A, tile=(64, 64))
    store = tifffile.imread("in.tif", aszarr=True)
    with store:
        refused(TypeError, "is not an array of numbers here", store, "out.npy")
        view = zarr.open(store, mode="r")
        assert np.array_equal(blurred(view), BLURRED)
        with pytest.raises(PermissionError, match="read-only"):
            sc.run(A, view, progress=False)


def test_an_open_image_goes_to_another_process(tmp_path):
    """The other process reads the file. If the file has changed, the read fails, not the transfer."""
    np.save("a.npy", A)
    with sc.open("a.npy", axes="yx") as image:
        for other in (
            pickle.loads(pickle.dumps(image)),
            copy.copy(image),
            pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(image)))),
        ):
            assert (
                other.shape == image.shape
                and other.metadata == image.metadata
                and np.array_equal(other[3:9, -5:], A[3:9, -5:])
                and np.array_equal(blurred(other), BLURRED)
            )
        sent = pickle.dumps(image)
        program = "import pickle, sys; print(int(pickle.load(sys.stdin.buffer)[7, 9]))"
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        process = subprocess.run(
            [sys.executable, "-c", program], input=sent, capture_output=True, cwd=elsewhere, check=True
        )
        assert int(process.stdout) == A[7, 9]
    for missing in (pickle.loads(pickle.dumps(image)), copy.copy(image)):
        with pytest.raises(ValueError, match="has been closed"):
            missing[0]
    np.save("a.npy", A[::-1][:50])
    other = pickle.loads(sent)
    with pytest.raises(OSError, match="replaced or changed"):
        other[0]
    (tmp_path / "a.npy").unlink()
    with pytest.raises(OSError, match="replaced or changed|No such file"):
        pickle.loads(sent)[0]


@pytest.mark.parametrize(
    "region", [np.s_[-30:, :], np.s_[:, -20:-5], np.s_[:40, 10:], np.s_[20:-20, :50], np.s_[-1000:, 0:1]]
)
@pytest.mark.parametrize("chain", [(), "gaussian:sigma=2", "transpose", "reduce:factor=2 | transpose"])
def test_a_region_may_count_from_the_end(region, chain):
    chain = sc.Chain(chain)
    np.save("a.npy", A)
    expected = chain(A) if len(chain) else A
    for source in ("a.npy", A, sc.open("a.npy")):
        sc.run(source, "b.npy", chain, region=region, progress=False, overwrite=True)
        assert np.array_equal(np.load("b.npy"), expected[region])
        assert (
            sc.plan(source, "b.npy", chain, region=region).to_dict()["specs"][-1]["rows"] == expected.shape[0]
        )
    assert sc.preview("a.npy", chain, region=region).pixels.size
    for wrong in (np.s_[5:5, :], np.s_[::-1, :], np.s_[::2, :], np.s_[:, -5:-8], np.s_[300:, :]):
        with pytest.raises(ValueError, match="is not a region"):
            sc.run("a.npy", "b.npy", chain, region=wrong, progress=False, overwrite=True)
