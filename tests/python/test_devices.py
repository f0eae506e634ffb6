"""Arrays on a GPU: CuPy, PyTorch and JAX if a GPU exists; else on the simulated GPU, if the extension module
contains it (tests/python/simulated), with fake libraries that implement what sepconv uses."""

import importlib.util
import os
import sys
import types

import numpy as np
import pytest

import sepconv as sc
from sepconv import _sepconv, ndimage

SIMULATED = os.environ.get("SEPCONV_PYTHON_GPU") == "simulated"


class CupyAdapter:
    """Creates and reads arrays of a library."""

    def __init__(self):
        import cupy

        cupy.zeros(1)
        self.xp = cupy
        self.to, self.back = cupy.asarray, cupy.asnumpy
        self.type = cupy.ndarray


class TorchAdapter:
    def __init__(self):
        import torch

        torch.zeros(1, device="cuda")
        self.to, self.back = (
            lambda array: torch.from_numpy(np.array(array)).cuda(),
            lambda array: array.cpu().numpy(),
        )
        self.type = torch.Tensor


class JaxAdapter:
    def __init__(self):
        import jax

        jax.config.update("jax_enable_x64", True)
        assert jax.devices()[0].platform == "gpu"
        self.to, self.back, self.type = jax.numpy.asarray, np.asarray, jax.Array


class Simulated:
    def __init__(self, name):
        import fake_gpu_libraries as fake

        fake.install()
        self.type = {"cupy": fake.CupyArray, "torch": fake.Tensor, "jax": fake.JaxArray}[name]
        self.stream = fake.STREAM

    def to(self, array):
        return self.type(np.array(array, order="K"))

    def back(self, array):
        _sepconv.synchronize(self.stream)
        return array.host.copy()


@pytest.fixture(params=["cupy", "torch", "jax"])
def library(request):
    if SIMULATED:
        return Simulated(request.param)
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    try:
        return {"cupy": CupyAdapter, "torch": TorchAdapter, "jax": JaxAdapter}[request.param]()
    except Exception as error:  # each reports a missing GPU differently
        pytest.skip(f"{request.param} has no GPU here: {error}")


def image(shape=(40, 50), dtype="f4"):
    return (np.random.default_rng(1).random(shape) * 200).astype(dtype)


def test_volumes(library):
    """Chains along z, with the axis z at any position, equal the host's results."""
    chain = sc.gaussian(1, sigma_z=2) | sc.opening(1, radius_z=1) | sc.reduce(2)
    for axes, shape in (("zyx", (6, 40, 50)), ("tzyxc", (2, 5, 20, 30, 3)), ("zcyx", (6, 2, 20, 30))):
        array = image(shape)
        expected = chain(array, axes=axes)
        np.testing.assert_array_equal(library.back(chain(library.to(array), axes=axes)), expected)
    with pytest.raises(ValueError, match="name the array's axis z"):
        chain(library.to(image()))


def test_empty_volumes(library):
    if library.type.__name__ == "JaxArray":
        pytest.skip("what stands for JAX has no empty arrays")
    assert tuple(sc.erode(1, radius_z=1)(library.to(image((0, 4, 5))), axes="zyx").shape) == (0, 4, 5)


def test_filters_are_cached_within_the_scratch_limit(library, monkeypatch):
    from sepconv import _devices

    monkeypatch.setattr(_devices, "_MAX_SCRATCH_BYTES", 1 << 16)
    for sigma in (1, 2, 3, 4):
        library.back(sc.gaussian(sigma, sigma_z=1)(library.to(image((6, 40, 50))), axes="zyx"))
    assert len(_devices._filters) == 1


def test_volumes_into_an_array(library):
    if library.type.__name__ in ("JaxArray", "Array"):
        pytest.skip("nobody writes into its arrays")
    chain, array = sc.erode(1, radius_z=1), image((6, 40, 50))
    out = library.to(np.zeros_like(array))
    assert chain(library.to(array), out, axes="zyx") is out
    np.testing.assert_array_equal(library.back(out), chain(array, axes="zyx"))


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8"])
def test_a_chain_has_the_bytes_of_the_cpu_and_the_library_of_its_input(library, dtype):
    chain = sc.gaussian(1.5) | sc.sobel("x") | sc.abs()
    result = chain(library.to(image(dtype=dtype)))
    assert isinstance(result, library.type) and np.array_equal(
        library.back(result), chain(image(dtype=dtype))
    )


def test_axes(library):
    blur = sc.gaussian(1.5)
    for shape, axes in [
        ((5, 20, 30), "zyx"),
        ((20, 30, 3), "yxc"),
        ((3, 20, 30), "cyx"),
        ((30,), "x"),
        ((20, 30, 4), "yxz"),
    ]:
        result = blur(library.to(image(shape)), axes=axes)
        assert result.shape == shape and np.array_equal(library.back(result), blur(image(shape), axes=axes))
    assert library.back(sc.mix_channels(values=[1, 2, 3], rows=3)(library.to(image()))).shape == (40, 50, 3)


def test_scipys_functions(library):
    array = image((6, 30, 20))
    for call in [
        lambda a: ndimage.gaussian_filter(a, 1.5),
        lambda a: ndimage.gaussian_filter(a, 1, axes=(1,)),
        lambda a: ndimage.sobel(a, 0),
        lambda a: ndimage.uniform_filter(a, 3, output=np.float64),
        lambda a: ndimage.correlate1d(a, [1, 2, 3], 0, mode="constant", cval=2),
    ]:
        result, expected = library.back(call(library.to(array))), call(array)
        assert result.dtype == expected.dtype and np.array_equal(result, expected)


def test_combined_functions(library):
    if library.type.__name__ == "JaxArray":
        pytest.skip("the JAX that is made for this test does no sums")
    for call in [
        lambda a: ndimage.laplace(a),
        lambda a: ndimage.gaussian_laplace(a, 1),
        lambda a: ndimage.gaussian_gradient_magnitude(a, 1),
        lambda a: ndimage.white_tophat(a, 5, output=np.uint8),
        lambda a: ndimage.black_tophat(a, 3),
    ]:
        array = image() + np.float32(1000)
        assert np.allclose(library.back(call(library.to(array))), call(array), rtol=1e-6, atol=1e-2)


def test_out(library):
    if "Jax" in library.type.__name__ or library.type.__name__ == "Array":
        pytest.skip("nobody writes into JAX's arrays")
    out = library.to(np.zeros((40, 50), "f4"))
    assert sc.box(2)(library.to(image()), out=out) is out and np.array_equal(
        library.back(out), sc.box(2)(image())
    )
    assert ndimage.sobel(library.to(image()), output=out) is out and np.array_equal(
        library.back(out), ndimage.sobel(image())
    )
    with pytest.raises(ValueError, match="give one that fits"):
        sc.box(2)(library.to(image()), out=library.to(np.zeros((50, 40), "f4")))


def test_views_are_made_dense_by_their_library(library):
    transposed = library.to(image()).T if not SIMULATED else library.type(image().T)
    assert np.array_equal(library.back(sc.sobel("x")(transposed)), sc.sobel("x")(image().T))


@pytest.mark.parametrize("given", ["handle", "object"])
def test_a_stream_of_the_callers(library, given):
    class StreamOfCaller:
        def __init__(self, handle):
            self.handle = handle

        def __cuda_stream__(self):
            return 0, self.handle

    stream = _sepconv.make_stream(0)
    array = library.to(image())
    result = sc.box(3)(array, stream=stream.handle if given == "handle" else StreamOfCaller(stream.handle))
    _sepconv.synchronize(stream)
    assert np.array_equal(library.back(result), sc.box(3)(image()))


@pytest.mark.skipif(SIMULATED, reason="there are no graphs there")
def test_calls_go_into_a_graph():
    """Captured once and launched on other pixels; also the first call, which creates its filter."""
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    try:
        stream = cupy.cuda.Stream(non_blocking=True)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"cupy has no GPU here: {error}")
    chain = sc.gaussian(2.25) | sc.sobel("x")
    array, out, blurred = cupy.asarray(image()), cupy.empty((40, 50), "f4"), cupy.empty((40, 50), "f4")
    for _ in range(2):
        with stream:
            stream.synchronize()
            stream.begin_capture()
            chain(array, out=out)
            ndimage.gaussian_filter(array, 1.75, output=blurred)
            graph = stream.end_capture()
    for factor in (1, 3):
        array[...] = cupy.asarray(image() * np.float32(factor))
        cupy.cuda.Device().synchronize()
        graph.launch(stream)
        stream.synchronize()
        assert np.array_equal(cupy.asnumpy(out), chain(image() * np.float32(factor)))
        assert np.array_equal(
            cupy.asnumpy(blurred), ndimage.gaussian_filter(image() * np.float32(factor), 1.75)
        )


def test_invalid_calls_are_refused(library):
    with pytest.raises(TypeError, match="not filtered on a GPU"):
        sc.abs()(library.to(image(dtype="i4")))
    with pytest.raises(TypeError, match="__cuda_stream__"):
        sc.abs()(library.to(image()), stream="no")
    with pytest.raises(ValueError, match="finite"):
        ndimage.gaussian_filter(library.to(image()), 1, mode="constant", cval=float("nan"))


@pytest.mark.parametrize("dtype", ["u2", "f4"])
def test_dask_arrays_of_blocks_on_a_gpu(library, dtype):
    """Blocks stay on the GPU, and are identical to those of the whole array."""
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    if library.type.__module__.partition(".")[0] != "cupy":
        pytest.skip("dask has no arrays of it")
    from sepconv import dask as lazy

    whole = image((40, 50), dtype)
    source = da.from_array(whole, chunks=((7, 1, 32), (20, 30))).map_blocks(
        library.to, meta=library.to(whole[:0, :0])
    )
    results = [
        (lazy.apply(chain, source), chain(whole))
        for chain in (
            sc.gaussian(2, border="wrap") | sc.sobel("x"),
            sc.box(40, border="wrap"),
            sc.transpose() | sc.gaussian(1.5),
        )
    ]
    for mode in ("wrap", "reflect"):
        results += [
            (lazy.gaussian_filter(source, 2, mode=mode), ndimage.gaussian_filter(whole, 2, mode=mode)),
            (lazy.gaussian_laplace(source, 9, mode=mode), ndimage.gaussian_laplace(whole, 9, mode=mode)),
        ]
    for result, expected in results:
        assert (
            isinstance(result._meta, library.type)
            and result.dtype == expected.dtype
            and result.shape == expected.shape
        )
        for (row, col), block in np.ndenumerate(result.to_delayed()):
            actual = block.compute(scheduler="synchronous")
            rows, cols = (
                slice(sum(item[:at]), sum(item[: at + 1])) for item, at in zip(result.chunks, (row, col))
            )
            assert isinstance(actual, library.type) and np.array_equal(
                library.back(actual), expected[rows, cols]
            )


CALLS = [
    lambda a: sc.box(2)(a),
    lambda a: ndimage.gaussian_filter(a, 1.5),
    lambda a: ndimage.sobel(a, output=np.int16),
    lambda a: ndimage.laplace(a),
    lambda a: ndimage.gaussian_laplace(a, 1),
    lambda a: ndimage.correlate1d(input=a, weights=[1, 2]),
]


@pytest.mark.skipif(SIMULATED, reason="there JAX is another")
@pytest.mark.parametrize("name", ["jax", "torch"])
def test_arrays_of_these_libraries_in_the_hosts_memory(name):
    library = pytest.importorskip(name, reason=f"{name} is not installed")
    if name == "jax":
        kind, to = library.Array, lambda array: library.device_put(array, library.devices("cpu")[0])
    else:
        kind, to = library.Tensor, library.from_numpy
    for call in CALLS:
        result = call(to(image()))
        assert (
            isinstance(result, kind)
            and np.array_equal(np.asarray(result), call(image()))
            and np.asarray(result).dtype == call(image()).dtype
        )


class ArrayOfAnotherLibrary:
    """An array in host memory that supports only DLPack."""

    def __init__(self, host):
        self.host = host

    def __dlpack_device__(self):
        return self.host.__dlpack_device__()

    def __dlpack__(self, **keywords):
        return self.host.__dlpack__(**keywords)


def test_arrays_of_any_library_that_takes_dlpack(monkeypatch):
    monkeypatch.setattr(ArrayOfAnotherLibrary, "__module__", "another.arrays")
    array = ArrayOfAnotherLibrary(image())
    for call in CALLS:
        assert type(call(array)) is np.ndarray  # while no library exists that could receive it
    monkeypatch.setitem(
        sys.modules,
        "another",
        types.SimpleNamespace(from_dlpack=lambda result: ArrayOfAnotherLibrary(np.from_dlpack(result))),
    )
    for call in CALLS:
        result = call(array)
        assert type(result) is ArrayOfAnotherLibrary and np.array_equal(result.host, call(image()))
    out = ArrayOfAnotherLibrary(np.zeros((40, 50), "f4"))
    assert ndimage.sobel(array, output=out) is out and np.array_equal(out.host, ndimage.sobel(image()))


def test_arrays_of_other_devices_are_refused(monkeypatch):
    def refused(self, **_):
        raise BufferError("it is on another device")

    monkeypatch.setattr(ArrayOfAnotherLibrary, "__dlpack__", refused)
    for call in CALLS:
        with pytest.raises(TypeError, match="not an array in the host's memory.*it is on another device"):
            call(ArrayOfAnotherLibrary(image()))


def test_a_stream_is_for_a_gpu():
    with pytest.raises(TypeError, match="on a GPU"):
        sc.abs()(image(), stream=1)
    with pytest.raises(TypeError, match="on a GPU"):
        ndimage.gaussian_filter(image(), 1, stream=1)
