"""Sliceable objects are accessed only from the calling thread, which may hold locks and thread-bound
resources."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import sepconv as sc

PATIENCE_SECONDS = 60

pytestmark = pytest.mark.filterwarnings("ignore::sepconv.FileWarning")


@pytest.fixture(autouse=True)
def in_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def pixels(shape=(900, 700), dtype="u2", seed=1):
    return (np.random.default_rng(seed).random(shape) * 100).astype(dtype)


class ThreadBound:
    """Raises if it is used from another thread."""

    def __init__(self, array):
        self.array, self.thread, self.calls = array, threading.get_ident(), 0

    def _check_thread(self):
        assert threading.get_ident() == self.thread, "asked in another thread"
        self.calls += 1
        return self.array

    shape = property(lambda self: self._check_thread().shape)
    dtype = property(lambda self: self._check_thread().dtype)
    chunks = property(lambda self: self._check_thread() is None)

    def __getitem__(self, key):
        return self._check_thread()[key]

    def __setitem__(self, key, values):
        self._check_thread()[key] = values


CALLS = {
    "run": lambda source, sink: sc.run(
        source, sink, "gaussian:sigma=2", axes="zyx", band_rows=50, progress=False
    ),
    "plan": lambda source, sink: sc.plan(source, sink, "gaussian:sigma=2", axes="zyx"),
    "stats": lambda source, sink: sc.stats(source, axes="zyx", progress=False),
    "compare": lambda source, sink: sc.compare(source, sink, axes="zyx", axes_b="zyx", progress=False),
}


@pytest.mark.parametrize("call", CALLS)
def test_objects_are_asked_in_the_calling_thread_alone(call):
    stack = pixels((3, 90, 70))
    source, sink = ThreadBound(stack), ThreadBound(stack.copy())
    source.calls = sink.calls = 0
    CALLS[call](source, sink)
    assert source.calls and (sink.calls or call == "stats")
    if call == "run":
        assert np.array_equal(sink.array, sc.gaussian(2)(stack, axes="zyx"))


def test_matrices_are_asked_in_the_calling_thread_alone():
    a, b = pixels((90, 80), "f4"), pixels((80, 70), "f4", 2)
    product = ThreadBound(np.empty((90, 70), "f4"))
    sc.gemm(ThreadBound(a), ThreadBound(b), product, progress=False)
    np.testing.assert_allclose(product.array, a @ b, rtol=1e-5)


@pytest.mark.parametrize("from_file", [False, True])
def test_a_lock_that_the_caller_holds_is_no_hindrance(from_file):
    lock = threading.RLock()

    class Locked(ThreadBound):
        def _check_thread(self):
            if not lock.acquire(timeout=PATIENCE_SECONDS):
                raise RuntimeError("the lock was not to be had")
            try:
                return super()._check_thread()
            finally:
                lock.release()

    array = pixels()
    np.save("in.npy", array)
    sink = Locked(np.empty_like(array))
    with lock:
        sc.run(
            "in.npy" if from_file else Locked(array), sink, "gaussian:sigma=2", band_rows=50, progress=False
        )
    assert np.array_equal(sink.array, sc.gaussian(2)(array))


H5PY = """
import h5py, numpy as np, sepconv as sc
with h5py.File("in.h5", "w") as file, h5py.File("out.h5", "w") as made:
    for name in "ab":
        file.create_dataset(name, data=np.full((300, 200), ord(name), "u1"), chunks=(64, 64))
    def filtered(name, dataset):
        sc.run(dataset, made.create_dataset(name, (300, 200), "u1", chunks=(64, 64)), "gaussian:sigma=2", band_rows=64, progress=False)
    file.visititems(filtered)
    print(*(int(made[name][...].sum()) == 300 * 200 * ord(name) for name in "ab"))
"""


def test_h5py_visits_and_filters():
    pytest.importorskip("h5py", reason="h5py is not installed")
    process = subprocess.run(
        [sys.executable, "-c", H5PY], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert (process.stdout, process.stderr) == ("True True\n", "")


def test_a_run_within_a_piece_of_another_run():
    """The outer run requests no piece meanwhile."""
    array, busy = pixels((600, 500)), []

    class Nesting(ThreadBound):
        def __getitem__(self, key):
            assert not busy
            busy.append(key)
            part = np.empty_like(self.array[key])
            sc.run(ThreadBound(self.array[key]), ThreadBound(part), "abs", band_rows=7, progress=False)
            busy.pop()
            return part

        def __setitem__(self, key, values):
            assert not busy
            super().__setitem__(key, values)

    sink = Nesting(np.empty_like(array))
    sc.run(Nesting(array), sink, "gaussian:sigma=2", band_rows=20, progress=False)
    assert np.array_equal(sink.array, sc.gaussian(2)(array))


def test_several_threads_each_ask_their_own():
    array, wrong = pixels(), []
    expected = sc.gaussian(2)(array)

    def work():
        for _ in range(5):
            sink = ThreadBound(np.empty_like(array))
            sc.run(ThreadBound(array), sink, "gaussian:sigma=2", band_rows=40, progress=False)
            if not np.array_equal(sink.array, expected):
                wrong.append(threading.get_ident())

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_has_failed_once_is_asked_no_more():
    asked = []

    class Failing(ThreadBound):
        chunks = (64, 64)  # a band consists of many pieces

        def __getitem__(self, key):
            asked.append(key)
            raise LookupError("lost")

        def __setitem__(self, key, values):
            asked.append(key)
            raise LookupError("lost")

    array, wide = pixels(), pixels((130, 90000), "f4")
    for ends in ((Failing(wide), ThreadBound(wide.copy())), (wide, Failing(wide.copy()))):
        with pytest.raises(LookupError, match="^lost$"):
            sc.run(*ends, "abs", max_memory="2G", progress=False)
        assert len(asked) == 1
        asked.clear()
    sink = ThreadBound(np.empty_like(array))
    sc.run(ThreadBound(array), sink, "abs", progress=False)  # the failure affected only that run
    assert np.array_equal(sink.array, array)


STOPPED = """
import sys, threading, numpy as np, sepconv as sc
class Piece:
    shape, dtype = (4000, 4000), np.dtype("u1")
    def __getitem__(self, key):
        if key[0].start > 1000:
            print("asked", flush=True)
            threading.Event().wait(60)
        return np.zeros([one.stop - one.start for one in key], "u1")
try:
    sc.run(Piece(), "out.tif", "abs", band_rows=100, progress=False)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_an_interrupt_ends_a_piece_that_waits():
    run = subprocess.Popen(
        [sys.executable, "-c", STOPPED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert run.stdout.readline() == "asked\n"
    run.send_signal(signal.SIGINT)
    out, error = run.communicate(timeout=PATIENCE_SECONDS - 10)  # before the piece would arrive
    assert (out, error) == ("interrupted\n", "")
    assert os.listdir(".") == []
