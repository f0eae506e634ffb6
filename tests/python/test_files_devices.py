"""Files filtered on a GPU, real or simulated (tests/python/simulated). The results are identical to the
CPU's."""

import os

import numpy as np
import pytest

import sepconv as sc


@pytest.fixture(autouse=True)
def on_a_gpu(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    image = np.zeros((8, 8), "f4")
    try:
        sc.run(image, np.empty_like(image), "abs", device="cuda", progress=False)
    except (ValueError, RuntimeError) as error:
        pytest.skip(f"no GPU here: {error}")


class Sliced:
    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, key):
        return self.array[key]

    def __setitem__(self, key, values):
        self.array[key] = values


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8", "i4"])
def test_the_bytes_are_the_cpus(dtype):
    stack = (np.random.default_rng(1).random((2, 300, 200)) * 100).astype(dtype)
    np.save("in.npy", stack)
    chain = sc.gaussian(2.5) | sc.abs()
    sc.run("in.npy", "cpu.tif", chain, axes="zyx", device="cpu", progress=False)
    report = sc.run("in.npy", "gpu.tif", chain, axes="zyx", device="cuda", band_rows=50, progress=False)
    assert "cuda:0" in report.device and {"upload", "download"} <= {step["name"] for step in report.steps}
    assert open("gpu.tif", "rb").read() == open("cpu.tif", "rb").read()
    source, sink = Sliced(stack), Sliced(np.empty_like(stack))
    sc.run(
        source, sink, chain, axes="zyx", device="cuda", max_device_memory="64M", band_rows=50, progress=False
    )
    assert np.array_equal(sink.array, np.asarray(sc.open("cpu.tif")))


def test_what_is_raised_on_the_way_ends_the_run():
    class Broken(Sliced):
        def __setitem__(self, key, values):
            raise LookupError("lost")

    image = np.ones((900, 300), "f4")
    with pytest.raises(LookupError, match="lost"):
        sc.run(image, Broken(image.copy()), "abs", device="cuda", band_rows=50, progress=False)
    assert os.listdir(".") == []
