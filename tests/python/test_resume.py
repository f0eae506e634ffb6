"""Results computed in several runs, identical to one run: sepconv.run(resume=, discard=, part=), create_only
and finish."""

import errno
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import sepconv as sc

CHAIN = sc.gaussian(3, border="wrap") | sc.abs()
KINDS = [
    ("out.npy", {}),
    ("out.tif", {"compress": "deflate", "tile": 64}),
    ("out.zarr", {"tile": 64, "shard": 128}),
    ("out.tif", {"pyramid": True, "tile": 64}),
]


def name_of(value):
    return "-".join([value[0], *value[1]]) if isinstance(value, tuple) else None


def file_contents(path):
    path = pathlib.Path(path)
    return (
        {str(item.relative_to(path)): item.read_bytes() for item in sorted(path.rglob("*")) if item.is_file()}
        if path.is_dir()
        else path.read_bytes()
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("in.npy", (np.random.default_rng(5).random((700, 500)) * 60000).astype("u2"))
    return tmp_path


def whole(name, options):
    sc.run("in.npy", "whole-" + name, CHAIN, progress=False, band_rows=64, **options)
    return file_contents("whole-" + name)


def run(name, options, **more):
    return sc.run("in.npy", name, CHAIN, progress=False, **options, **more)


class Stopped(Exception):
    pass


def stop_at(fraction):
    def report_progress(done, pixels):
        if done >= fraction * pixels:
            raise Stopped

    return report_progress


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_what_was_stopped_is_gone_on_with(folder, kind):
    name, options = kind
    expected = whole(name, options)
    with pytest.raises(Stopped):
        sc.run("in.npy", name, CHAIN, progress=stop_at(1), resume=True, band_rows=64, **options)
    assert os.path.isdir(name + ".partial") and not os.path.exists(name)
    with pytest.warns(
        sc.FileWarning, match="has a part of a result .*resume=True continues it, and discard=True removes it"
    ):
        sc.run("in.npy", name, "abs", progress=False, overwrite=True, **options)
    with pytest.warns(sc.FileWarning, match="resumes"):
        report = run(name, options, resume=True, overwrite=True)
    assert report.device and file_contents(name) == expected and not os.path.exists(name + ".partial")


KILLED = """
import sepconv as sc
sc.run("in.npy", "out.zarr", ["gaussian:sigma=3,border=wrap", "abs"], progress=False, resume=True, tile=64, band_rows=64)
"""


def test_what_was_killed_is_gone_on_with(folder):
    np.save("in.npy", (np.random.default_rng(5).random((3000, 2000)) * 60000).astype("u2"))
    expected = whole("out.zarr", {"tile": 64})
    run_ = subprocess.Popen([sys.executable, "-c", KILLED])
    journal = pathlib.Path("out.zarr.partial/journal")
    while run_.poll() is None and not (journal.exists() and b" done " in journal.read_bytes()):
        time.sleep(0.001)
    run_.send_signal(signal.SIGKILL)
    run_.wait()
    if os.path.exists("out.zarr"):
        pytest.skip("it could not be killed before its end")
    with pytest.warns(sc.FileWarning, match="resumes"):
        run("out.zarr", {"tile": 64}, resume=True)
    assert file_contents("out.zarr") == expected


def test_discard_begins_anew(folder):
    for more in ({"resume": True}, {}):
        with pytest.raises(Stopped):
            sc.run("in.npy", "out.npy", CHAIN, progress=stop_at(1), resume=True, band_rows=64)
        with pytest.raises(ValueError, match="another chain|the chain"):
            sc.run("in.npy", "out.npy", "abs", progress=False, resume=True)
        with pytest.raises(FileNotFoundError):
            sc.run("no.npy", "out.npy", "abs", progress=False, discard=True, **more)
        assert os.path.isdir("out.npy.partial")  # nothing is discarded for a run that cannot start
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sc.run("in.npy", "out.npy", "abs", progress=False, discard=True, **more)
        assert not os.path.exists("out.npy.partial")
        assert np.array_equal(np.load("out.npy"), np.load("in.npy"))
        os.unlink("out.npy")


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_parts_are_the_whole(folder, kind):
    name, options = kind
    expected = whole(name, options)
    assert sc.create_only("in.npy", name, CHAIN, band_rows=64, **options) >= 3
    with pytest.raises(FileExistsError):
        sc.create_only("in.npy", name, CHAIN, band_rows=64, **options)
    assert sc.create_only("in.npy", name, CHAIN, band_rows=64, discard=True, **options) >= 3
    calls = []
    for part in ((3, 3), "1/3"):
        sc.run(
            "in.npy",
            name,
            CHAIN,
            progress=lambda done, pixels: calls.append((done, pixels)),
            part=part,
            **options,
        )
    assert calls and calls[-1][0] == calls[-1][1] < 700 * 500
    with pytest.raises(OSError, match="is not complete") as missing:
        sc.finish(name)
    assert missing.value.errno == errno.ENODATA
    run(name, options, part=[2, 3])
    assert sc.finish(name) is None
    assert file_contents(name) == expected and not os.path.exists(name + ".partial")
    with pytest.raises(OSError, match="nothing to finish"):
        sc.finish(name)


def test_what_a_result_will_not_have_is_said_when_it_is_begun(folder):
    np.save("in.npy", np.zeros((8, 300, 200), "u1"))
    with pytest.warns(sc.FileWarning, match="chunk"):
        sc.create_only("in.npy", "out.zarr", "abs", axes="zyx", tile={"z": 4, "y": 64, "x": 64})


@pytest.mark.parametrize(
    "wrong, error",
    [
        ({"part": (0, 2)}, ValueError),
        ({"part": (3, 2)}, ValueError),
        ({"part": "x"}, ValueError),
        ({"part": 3}, ValueError),
        ({"part": (1.5, 2)}, TypeError),
        ({"part": "\u0661/\u0662"}, ValueError),
        ({"part": (True, 2)}, ValueError),
        ({"part": (1, 2), "resume": True}, ValueError),
        ({"part": (1, 2), "discard": True}, ValueError),
        ({"resume": "yes"}, TypeError),
        ({"discard": 3}, TypeError),
        ({"resume": True, "plan": "{}"}, ValueError),
        ({"part": (1, 2)}, ValueError),
    ],
)
def test_what_is_none_of_these_is_refused(folder, wrong, error):
    with pytest.raises(error):
        sc.run("in.npy", "out.npy", CHAIN, progress=False, **wrong)
    assert not os.path.exists("out.npy") and not os.path.exists("out.npy.partial")


@pytest.mark.parametrize(
    "ends",
    [(np.zeros((5, 5), "f4"), "out.npy"), ("in.npy", np.zeros((700, 500), "u2"))],
    ids=["array", "into-array"],
)
def test_only_files_are_gone_on_with(folder, ends):
    for options in ({"resume": True}, {"part": (1, 2)}, {"discard": True}):
        with pytest.raises(TypeError, match="give paths"):
            sc.run(*ends, CHAIN, progress=False, **options)
    with pytest.raises(TypeError, match="give paths"):
        sc.create_only(*ends, CHAIN)
    with pytest.raises(TypeError, match="is not a path"):
        sc.finish(np.zeros(3))
    with pytest.raises(ValueError, match="name of the result .* is missing"):
        sc.finish("")


def test_what_is_somebody_elses_is_not_discarded(folder):
    os.mkdir("out.npy.partial")
    pathlib.Path("out.npy.partial/result.csv").write_text("precious")
    for call in (
        lambda: run("out.npy", {}, discard=True),
        lambda: run("out.npy", {}, discard=True, resume=True),
        lambda: sc.create_only("in.npy", "out.npy", CHAIN, discard=True),
    ):
        with pytest.raises(OSError, match="not a partial result, with result.csv in it"):
            call()
    assert os.listdir("out.npy.partial") == ["result.csv"] and not os.path.exists("out.npy")


def test_the_document_is_what_happens(folder, monkeypatch):
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs/parts.md").read_text()
    sc.run("in.npy", "scan.tif", progress=False)
    names = {"sc": sc, "chain": CHAIN}
    exec(re.search(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1], names)  # noqa: S102
    assert names["most"] == 11 and file_contents("parts.tif") == file_contents("resumed.tif")


def test_a_chain_with_pixels_in_memory_is_refused(folder):
    """In another process the address is invalid or points to other pixels."""
    chain = CHAIN | sc.subtract(np.full((700, 500), 3, "u2"))
    for call in (
        lambda: sc.run("in.npy", "out.npy", chain, resume=True),
        lambda: sc.create_only("in.npy", "out.npy", chain),
    ):
        with pytest.raises(
            ValueError, match=r"an image in memory in its chain \(subtract\).* write it to a file"
        ) as refused:
            call()
        assert "0x" not in str(refused.value)
    assert [item.name for item in folder.iterdir()] == ["in.npy"]
    sc.run("in.npy", "out.npy", chain, progress=False)
