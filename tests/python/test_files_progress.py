"""Display of runs, their progress, and their interruption."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

import numpy as np
import pytest

import sepconv as sc
from sepconv import _report

PATIENCE_SECONDS = 120


@pytest.fixture(autouse=True)
def in_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def pixels(shape=(1500, 700), dtype="u2", seed=1):
    return (np.random.default_rng(seed).random(shape) * 100).astype(dtype)


def test_a_report_is_a_table_and_a_timeline():
    np.save("in.npy", pixels())
    report = sc.run("in.npy", "out.npy", sc.gaussian(2), band_rows=100, device="cpu", progress=False)
    assert [step["name"] for step in report.steps] == ["read", "compute", "write"] and report.bottleneck in (
        "read",
        "compute",
        "write",
    )
    assert len([span for span in report.timeline if span.step == "compute"]) == 15
    assert all(0 <= span.begin <= span.end <= report.wall_seconds + 0.01 for span in report.timeline)
    shown = report._repr_html_()
    tree = xml.etree.ElementTree.fromstring(shown)
    assert [cell.text for cell in tree.iter("th")] == ["step", "busy", "MB/s", "hidden"] and len(
        list(tree.iter("tr"))
    ) == 4
    assert len(re.findall("<rect ", shown)) == len(report.timeline)
    assert "bottleneck" in repr(report) and "of limit" in str(report)
    assert report.to_dict()["pixels"] == 1500 * 700 and report.to_dict()["plan"] == report.plan.to_dict()
    report.save_trace("trace.json")
    named = (
        {
            event["args"]["name"]
            for event in json.load(open("trace.json"))["traceEvents"]
            if event["ph"] == "M"
        }
        if os.path.getsize("trace.json")
        else set()
    )
    assert {"read", "compute", "write"} <= named


def test_each_step_of_a_timeline_has_a_colour_of_its_own():
    steps = [
        "read",
        "upload cuda:0",
        "decode cuda:0",
        "compute cuda:0",
        "encode cuda:0",
        "download cuda:0",
        "write",
    ]
    spans = [
        _report.Span(step, 0, 0.1 * position, 0.1 * position + 0.1, 1) for position, step in enumerate(steps)
    ]
    colours = set(re.findall('<rect [^>]*fill="(#[0-9a-f]{6})"', _report._timeline_svg(spans, 1)))
    assert len(colours) == len(steps) and "#9d9d9d" not in colours


def test_warnings_in_a_report_are_escaped():
    tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
    tifffile.imwrite("in<b>.tif", pixels(), description="a scan", metadata=None)
    with pytest.warns(sc.FileWarning):
        report = sc.run("in<b>.tif", "out.npy", progress=False)
    xml.etree.ElementTree.fromstring(report._repr_html_())


def test_progress_is_told_to_a_function_in_the_calling_thread():
    import threading

    calls = []
    stack = pixels((3, 900, 800), "f4")
    sc.run(
        stack,
        np.empty_like(stack),
        sc.gaussian(20),
        axes="zyx",
        band_rows=20,
        threads=1,
        device="cpu",
        progress=lambda done, pixels: calls.append((threading.get_ident(), done, pixels)),
    )
    assert {thread for thread, _, _ in calls} == {threading.get_ident()} and {
        pixels for _, _, pixels in calls
    } == {stack.size}
    assert [done for _, done, _ in calls] == sorted(done for _, done, _ in calls) and calls[-1][
        1
    ] == stack.size
    calls.clear()
    sc.stats(stack, axes="zyx", progress=lambda done, pixels: calls.append((done, pixels)))
    assert calls[-1][0] == calls[-1][1] and [done for done, _ in calls] == sorted(done for done, _ in calls)

    def refuse(done, pixels):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sc.run(
            stack,
            "out.tif",
            sc.gaussian(200),
            axes="zyx",
            band_rows=20,
            threads=1,
            device="cpu",
            progress=refuse,
        )
    assert os.listdir(".") == []


@pytest.mark.parametrize("shape, axes", [((300, 200), "yx"), ((3, 300, 200), "zyx")])
@pytest.mark.parametrize("sink", ["out.tif", "out.npy"])
def test_progress_that_raises_in_its_last_call_leaves_nothing(shape, axes, sink):
    calls = []

    def refuse(done, pixels):
        calls.append((done, pixels))
        if done == pixels:
            raise RuntimeError("not like that")

    array = pixels(shape)
    for source in (array, array.astype(array.dtype.newbyteorder(">"))):
        with pytest.raises(RuntimeError, match="not like that"):
            sc.run(source, sink, "abs", axes=axes, progress=refuse)
        assert calls[-1] == (array.size, array.size) and os.listdir(".") == []
    a = np.ones((80, 80), "f4")
    with pytest.raises(RuntimeError, match="not like that"):
        sc.gemm(a, a, sink, progress=refuse)
    assert os.listdir(".") == []
    sc.run(array, sink, "abs", axes=axes, progress=lambda done, pixels: calls.append((done, pixels)))
    assert calls[-1] == (array.size, array.size) and os.listdir(".") == [sink]


def test_progress_is_shown_by_tqdm(monkeypatch):
    auto = pytest.importorskip("tqdm.auto", reason="tqdm is not installed")
    result = []

    class Bar(auto.tqdm):
        def __init__(self, **keywords):
            super().__init__(**{**keywords, "disable": False, "file": open(os.devnull, "w")})
            result.append(self)

    monkeypatch.setattr(auto, "tqdm", Bar)
    sc.run(pixels(), "out.npy", "abs")
    assert len(result) == 1 and result[0].n == result[0].total == 1500 * 700


LONG = """
import numpy as np, sepconv as sc, sys
class Slow:
    shape, dtype = (30000, 3000), np.dtype('u1')
    def __getitem__(self, key):
        print('reads', flush=True)
        return np.zeros([one.stop - one.start for one in key], 'u1')
source = {'path': 'in.raw', 'sliced': Slow(), 'array': np.zeros((30000, 3000), 'u1')}[sys.argv[1]]
options = dict(raw='3000x30000:u8') if sys.argv[1] == 'path' else {}
try:
    sc.run(source, 'out.tif', sc.gaussian(200), threads=1, max_memory='200M', device='cpu', progress=lambda done, all: print('runs', flush=True), **options)
except KeyboardInterrupt:
    print('interrupted', flush=True)
    raise SystemExit(7)
"""


@pytest.mark.parametrize("source", ["path", "sliced", "array"])
def test_an_interrupt_stops_a_run_and_leaves_nothing(source, tmp_path):
    with open("in.raw", "wb") as file:
        file.truncate(3000 * 30000)  # sparse
    run = subprocess.Popen(
        [sys.executable, "-c", LONG, source],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + PATIENCE_SECONDS
    while "runs" not in run.stdout.readline():
        assert run.poll() is None and time.monotonic() < deadline
    assert any(name.startswith(".out.tif") for name in os.listdir("."))
    run.send_signal(signal.SIGINT)
    begin = time.monotonic()
    out, error = run.communicate(timeout=PATIENCE_SECONDS)
    assert run.returncode == 7 and "interrupted" in out, error
    assert os.listdir(".") == ["in.raw"]
    assert time.monotonic() - begin < 0.5 + 4.5  # half a second on an idle machine


def test_eight_threads_run_and_read_files_at_once():
    from concurrent.futures import ThreadPoolExecutor

    stack = pixels((4, 200, 150))
    np.save("in.npy", stack)
    image = sc.open("in.npy", axes="zyx")

    def work(number):
        sc.run("in.npy", f"{number}.npy", sc.gaussian(1), axes="zyx", progress=False)
        return all(np.array_equal(image[z, 10:90, 5:70], stack[z, 10:90, 5:70]) for z in (0, 3, 1, 2) * 10)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    assert len({open(f"{number}.npy", "rb").read() for number in range(8)}) == 1
