"""run --trace: the requirements of the trace event format
(docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU), and agreement with the summary.
Also queries Perfetto, if PyPI's `perfetto` is installed and its trace_processor_shell, which no package index
has, is in PATH."""

import collections
import json
import shutil

import numpy as np
import pytest

from cli_support import image

NEEDED = {
    "X": {"name", "cat", "ts", "dur", "pid", "tid", "args"},
    "C": {"name", "ts", "pid", "args"},
    "M": {"name", "pid", "args"},
    "i": {"name", "ts", "pid", "tid", "s"},
}


@pytest.fixture
def traced(sepconv):
    """The trace of a run of three images, and its statistics."""
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        np.stack([image(600, 800, seed=i) for i in range(3)]),
        photometric="minisblack",
        tile=(64, 64),
    )
    sepconv(
        "run",
        "in.tif",
        "out.tif",
        "gaussian:sigma=2",
        "--band-rows",
        64,
        "--device",
        "cpu",
        "--compress",
        "deflate",
        "--quiet",
        "--trace",
        "trace.json",
        "--stats",
        "stats.json",
    )
    return [json.loads((sepconv.folder / name).read_text()) for name in ("trace.json", "stats.json")]


def slices(trace):
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


def counters(trace):
    """{name: [(seconds, value)] in order}"""
    found = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "C":
            (value,) = event["args"].values()
            found[event["name"]].append((event["ts"] / 1e6, value))
    return found


def union(intervals):
    length, end = 0, float("-inf")
    for begin, until in sorted(intervals):
        length += max(0, until - max(begin, end))
        end = max(end, until)
    return length


def test_events_have_what_the_format_asks_for(traced):
    trace, _ = traced
    for event in trace["traceEvents"]:
        assert NEEDED[event["ph"]] <= set(event), event
        assert event["pid"] == 1 and event.get("ts", 0) >= 0 and event.get("dur", 0) >= 0
    named = {
        event["tid"]: event["args"]["name"]
        for event in trace["traceEvents"]
        if event["name"] == "thread_name"
    }
    assert sorted(named.values()) == ["compute", "read", "write"] and {
        item["tid"] for item in slices(trace)
    } == set(named)
    assert all(named[item["tid"]] == item["cat"] for item in slices(trace))


def test_slices_are_named_by_their_step_and_do_not_overlap_on_a_thread(traced):
    trace, stats = traced
    assert {one["name"] for one in slices(trace)} == {"read", "compute", "write", "close"}
    of = collections.Counter((one["name"], one["args"]["image"]) for one in slices(trace))
    assert {of[step, i] for step in ("compute", "write") for i in range(3)} == {stats["plan"]["bands"]}
    assert [of["close", i] for i in range(3)] == [1, 1, 1] and all(
        ("band" in one["args"]) == (one["name"] != "close") for one in slices(trace)
    )
    ends = collections.defaultdict(float)
    for one in sorted(slices(trace), key=lambda one: one["ts"]):
        assert one["ts"] >= ends[one["tid"]] - 1e-3
        ends[one["tid"]] = one["ts"] + one["dur"]


def test_slices_give_the_busy_times_of_the_summary(traced):
    trace, stats = traced
    for step in stats["steps"]:
        found = (
            union(
                (item["ts"], item["ts"] + item["dur"])
                for item in slices(trace)
                if item["cat"] == step["name"]
            )
            / 1e6
        )
        assert found == pytest.approx(step["busy_seconds"], abs=1e-9)
        assert (
            sum(item["args"]["bytes"] for item in slices(trace) if item["cat"] == step["name"])
            == step["bytes"]
        )


def test_counters_are_of_memory_rates_and_queues(traced):
    trace, stats = traced
    found = counters(trace)
    assert set(found) == {
        "resident memory",
        "read rate",
        "compute rate",
        "write rate",
        "waiting for compute",
        "waiting for write",
    }
    assert [[pytest.approx(seconds), value] for seconds, value in found["resident memory"]] == stats["memory"]
    for name in ("waiting for compute", "waiting for write"):
        values = [value for _, value in found[name]]
        assert values[-1] == 0 and 1 <= max(values) <= stats["plan"]["slots"] and min(values) >= 0
    for name in ("read", "compute", "write"):
        assert found[name + " rate"][-1][1] == 0 and max(value for _, value in found[name + " rate"]) > 0


def test_plan_and_command_are_in_it(traced):
    trace, stats = traced
    event = next(event for event in trace["traceEvents"] if event["ph"] == "i")
    assert event["args"] == trace["otherData"] and trace["otherData"]["plan"] == stats["plan"]
    assert "sepconv run in.tif out.tif gaussian:sigma=2 --band-rows 64" in trace["otherData"]["command"]


@pytest.mark.skipif(shutil.which("trace_processor_shell") is None, reason="no trace_processor_shell")
def test_perfetto_gives_the_busy_times_of_the_summary(traced, sepconv):
    processor = pytest.importorskip("perfetto.trace_processor")
    _, stats = traced
    config = processor.TraceProcessorConfig(bin_path=shutil.which("trace_processor_shell"))
    with processor.TraceProcessor(trace=str(sepconv.folder / "trace.json"), config=config) as opened:
        rows = opened.query(
            "select thread.name as step, sum(slice.dur) as busy from slice join thread_track on slice.track_id = thread_track.id "
            "join thread using (utid) where slice.dur > 0 group by thread.name"
        )
        busy = {row.step: row.busy / 1e9 for row in rows}
        assert busy == {
            step["name"]: pytest.approx(step["busy_seconds"], abs=1e-4) for step in stats["steps"]
        }
        assert [
            row.value
            for row in opened.query(
                "select count(*) as value from stats where severity = 'error' and value > 0"
            )
        ] == [0]
