"""The SVG of a trace: well-formed, with one lane per step in the pipeline's order, and each span at its
time."""

import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "docs/tools/timeline_svg.py"
SVG = "{http://www.w3.org/2000/svg}"
LEFT, RIGHT = 110, 880  # of the lanes, in SVG units


def span(track, band, begin_us, length_us):
    return {
        "ph": "X",
        "pid": 1,
        "tid": 1,
        "name": f"{track} {band}",
        "cat": track,
        "ts": begin_us,
        "dur": length_us,
        "args": {"band": band, "bytes": 1},
    }


def write_trace(path, spans):
    meta = {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "sepconv"}}
    path.write_text(json.dumps({"displayTimeUnit": "ms", "traceEvents": [meta, *spans]}))
    return path


def draw(*arguments):
    process = subprocess.run(
        [sys.executable, TOOL, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    return ElementTree.fromstring(process.stdout)


def lanes(picture):
    """[(track, [the rectangles of its bands])] from top to bottom."""
    return [
        (g.get("data-track"), g.findall(f"{SVG}rect"))
        for g in picture.iter(f"{SVG}g")
        if g.get("class") == "lane"
    ]


@pytest.fixture
def trace(tmp_path):
    # 2000 us from the begin of the first span to the end of the last, in arbitrary order, with an origin
    # other than 0.
    return write_trace(
        tmp_path / "run.json",
        [
            span("write", 1, 2500, 500),
            span("read", 0, 1000, 500),
            span("compute", 0, 1500, 400),
            span("read", 1, 1500, 250),
            span("<odd>", 0, 1000, 100),
            span("upload", 0, 1500, 10),
            span("download", 0, 1900, 10),
        ],
    )


def test_lanes_are_in_the_pipelines_order(trace):
    assert [track for track, _ in lanes(draw(trace))] == [
        "read",
        "upload",
        "compute",
        "download",
        "write",
        "<odd>",
    ]


def test_spans_are_where_their_time_says(trace):
    drawn = dict(lanes(draw(trace)))
    scale = (RIGHT - LEFT) / 2000  # SVG units per microsecond
    for track, index, begin, length in [
        ("read", 0, 0, 500),
        ("read", 1, 500, 250),
        ("compute", 0, 500, 400),
        ("write", 0, 1500, 500),
    ]:
        assert float(drawn[track][index].get("x")) == pytest.approx(LEFT + begin * scale, abs=0.01)
        assert float(drawn[track][index].get("width")) == pytest.approx(length * scale, abs=0.01)


def test_neighbouring_bands_differ_in_colour(trace):
    first, second = dict(lanes(draw(trace)))["read"]
    assert first.get("fill") != second.get("fill")


def test_stacked_traces_share_one_axis(trace, tmp_path):
    short = write_trace(tmp_path / "short.json", [span("read", 0, 0, 1000)])
    picture = draw("--label", "1 slot", trace, "--label", "3 slots", short, "--title", "Slots & bands")
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert texts[0] == "Slots & bands" and "1 slot: 2.0 ms" in texts and "3 slots: 1.0 ms" in texts
    assert texts.count("time in ms") == 1 and "2.0" in texts
    track, (only,) = lanes(picture)[-1]
    assert track == "read" and float(only.get("width")) == pytest.approx((RIGHT - LEFT) / 2)


def test_a_real_trace(sepconv):
    sepconv("generate", "in.tif", "--size", "600x500", "--quiet")
    sepconv(
        "run", "in.tif", "out.tif", "gaussian:sigma=1", "--band-rows", 64, "--trace", "run.json", "--quiet"
    )
    drawn = dict(lanes(draw(sepconv.folder / "run.json")))
    assert set(drawn) >= {"read", "compute", "write"} and len(drawn["compute"]) == 8  # 500 rows


@pytest.mark.parametrize("text", ["", "{}", '{"traceEvents": []}', '{"traceEvents": [{"ph": "X"}]}'])
def test_invalid_traces_are_refused_in_one_sentence(tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    process = subprocess.run([sys.executable, TOOL, tmp_path / "bad.json"], capture_output=True, text=True)
    assert (
        process.returncode == 1
        and process.stderr.startswith("timeline_svg.py: a trace could not be drawn")
        and not process.stdout
    )
