"""Eight concurrent threads, signals, and processes forked after use."""

import _thread
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import sepconv as sc
from sepconv import ndimage


def test_eight_threads_filter_at_once():
    random = np.random.default_rng(1)
    arrays = [random.random((150 + i, 200)).astype("f4") for i in range(8)]
    chain = sc.gaussian(2) | sc.abs()
    expected = [(chain(array), ndimage.gaussian_filter(array, 1 + i / 8)) for i, array in enumerate(arrays)]
    wrong = []

    def work(i):
        for _ in range(50):
            result = chain(arrays[i]), ndimage.gaussian_filter(arrays[i], 1 + i / 8)
            if not all(map(np.array_equal, result, expected[i])):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_many_images_side_by_side_have_the_bytes_of_one():
    stack = np.random.default_rng(1).random((30, 120, 140)).astype("f4")
    blur = sc.gaussian(2.5)
    assert np.array_equal(blur(stack, axes="zyx"), np.stack([blur(image) for image in stack]))
    assert np.array_equal(blur(stack, axes="zyx", threads=1), blur(stack, axes="zyx", threads=5))


def test_the_gil_is_free_while_a_call_computes():
    """Another thread continues to count during the call."""
    array = np.random.default_rng(1).random((1500, 1500))
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        time.sleep(0.05)
        before, begin = counted[0], time.perf_counter()
        ndimage.gaussian_filter(array, 40, threads=1)
        during, seconds = counted[0] - before, time.perf_counter() - begin
    finally:
        done.set()
        thread.join()
    assert during > seconds / 0.0005 / 20


@pytest.fixture
def interrupts():
    """SIGINT is ignored if these tests run in the background of a script."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_a_long_call():
    array = np.zeros((4000, 4000))
    timer = threading.Timer(0.3, _thread.interrupt_main)
    begin = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100):  # the current call ends, not a later one
            ndimage.gaussian_filter(array, 300, threads=1)
    assert time.perf_counter() - begin < 0.3 + 1.5  # half a second on an idle machine


def forked_work(array):
    return ndimage.gaussian_filter(array, 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_that_is_forked_after_use_computes():
    array = np.random.default_rng(1).random((600, 700))
    expected = forked_work(array)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert all(
            np.array_equal(result, expected) for result in pool.map(forked_work, [array] * 4, chunksize=1)
        )


SUBINTERPRETER = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
MAIN
name = interpreters.create()
ran = interpreters.run_string(name, '''
import warnings
warnings.simplefilter("ignore")
try:
    import sepconv
except ImportError as error:
    print(error, flush=True)
''')
interpreters.destroy(name)
import sepconv, numpy
print(sepconv.box(1)(numpy.ones((3, 3))).sum())
"""


@pytest.mark.parametrize("before", ["", "import sepconv"])
def test_a_subinterpreter_cannot_import_and_the_main_one_goes_on(before):
    pytest.importorskip(
        "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters",
        reason="no subinterpreters here",
    )
    process = subprocess.run(
        [sys.executable, "-c", SUBINTERPRETER.replace("MAIN", before)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode == 0 and re.fullmatch(r".*subinterpreter.*\n9.0\n", process.stdout), (
        process.stdout + process.stderr
    )


def test_importing_takes_nothing_but_numpy():
    code = "import sys, sepconv; print([name for name in ('scipy', 'torch', 'cupy', 'jax', 'tqdm') if name in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


@pytest.mark.parametrize(
    "call",
    [
        "sc.gaussian(200)(a)",
        "sc.run(a, 'out.tif', 'gaussian:sigma=200', progress=False)",
        "sc.ndimage.gaussian_filter(a, 300)",
        "sc.run(a, 'out.tif', 'gaussian:sigma=200', progress=lambda done, all: None)",
        "sc.run(Sliced(), 'out.tif', 'gaussian:sigma=200', band_rows=20, progress=False)",
    ],
)
def test_the_interpreter_ends_while_a_daemon_thread_computes(tmp_path, call):
    script = f"""
import threading, numpy as np, sepconv as sc
a, begun = np.zeros((3000, 3000), 'f4'), threading.Event()
class Sliced:
    shape, dtype = a.shape, a.dtype
    def __getitem__(self, key):
        return a[key]
def work():
    begun.set()
    {call}
threading.Thread(target=work, daemon=True).start()
begun.wait()
threading.Event().wait(0.2)
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] in (
        [],
        ["out.tif"],
    )  # the latter if it finished in time


@pytest.mark.parametrize("side", [3, 50, 1500])
@pytest.mark.parametrize(
    "call",
    [
        "sc.gaussian(1)(a)",
        "sc.ndimage.gaussian_filter(a, 1)",
        "sc.run(a, np.empty_like(a), 'abs', progress=False)",
        "sc.run(Sliced(), np.empty_like(a), 'abs', progress=False)",
    ],
)
def test_the_interpreter_ends_while_daemon_threads_call_again_and_again(call, side):
    script = f"""
import threading, time, numpy as np, sepconv as sc
a = np.zeros(({side}, {side}), 'f4')
class Sliced:
    shape, dtype = a.shape, a.dtype
    def __getitem__(self, key):
        return a[key]
def work():
    while True:
        {call}
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        assert (ended.returncode, ended.stderr) == (0, "")
