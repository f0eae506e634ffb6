"""The plot of conv.py's measurements: well-formed SVG, with each point and the roofline at the expected
position."""

import json
import math
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "docs/tools/conv_plot.py"
SVG = "{http://www.w3.org/2000/svg}"
COPY, FMA = 4e12, 30e12


def document(kind, rows, design="automatic"):
    """`rows` of (peer, type, radius, pixels per second)."""
    return {
        "kind": kind,
        "design": design,
        "device": "A & B",
        "limits": {"copy_bytes_per_second": COPY, "fma_f32_per_second": FMA, "fma_f64_per_second": FMA / 2},
        "measured": [
            {"peer": peer, "type": pixel, "channels": 1, "radius": radius, "pixels_per_second": rate}
            for peer, pixel, radius, rate in rows
        ],
    }


def sweep(rates, design="automatic", pixel="f32"):
    return document("sweep", [("sepconv", pixel, radius, rate) for radius, rate in rates.items()], design)


@pytest.fixture
def draw(tmp_path):
    def draw_documents(*documents, options=()):
        files = []
        for i, content in enumerate(documents):
            files.append(tmp_path / f"{i}.json")
            files[-1].write_text(json.dumps(content))
        process = subprocess.run(
            [sys.executable, TOOL, *map(str, files), *options], capture_output=True, text=True, check=True
        )
        return ElementTree.fromstring(process.stdout)

    return draw_documents


def series(picture):
    """{name: (points of its line, centres of its dots)} in drawing order."""
    series_by_name = {}
    for group in picture.iter(f"{SVG}g"):
        if group.get("class") == "series":
            line = [
                tuple(map(float, point.split(",")))
                for point in group.find(f"{SVG}polyline").get("points").split()
            ]
            dots = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in group.findall(f"{SVG}circle")]
            series_by_name[group.get("data-name")] = (line, dots)
    return series_by_name


def test_a_sweep_is_a_line_and_peers_are_dots(draw):
    peers = document(
        "peers",
        [
            ("sepconv", "f32", 1, 4e11),
            ("CuPy", "f32", 4, 2e10),
            ("CuPy", "f32", 1, 4e10),
            ("CuPy", "u8", 1, 1e9),
        ],
    )
    drawn = series(draw(sweep({1: 4e11, 10: 2e11, 100: 4e10}), peers))
    assert list(drawn) == ["roofline", "sepconv", "CuPy"]
    line, dots = drawn["sepconv"]
    assert len(line) == 3 and not dots
    assert drawn["CuPy"][0] == drawn["CuPy"][1] and len(drawn["CuPy"][1]) == 2


def test_both_axes_are_logarithmic(draw):
    line, _ = series(draw(sweep({1: 4e11, 10: 4e10, 100: 4e9})))["sepconv"]
    (x0, y0), (x1, y1), (x2, y2) = line
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.02) and y1 - y0 == pytest.approx(y2 - y1, abs=0.02)
    assert x0 < x1 and y0 < y1  # larger radii to the right, lower rates further down


@pytest.mark.parametrize("pixel, element_bytes, fma", [("f32", 4, FMA), ("f64", 8, FMA / 2)])
def test_the_roofline_is_the_smaller_of_both_limits(draw, pixel, element_bytes, fma):
    rates = {radius: min(COPY / (2 * element_bytes), fma / (2 * (2 * radius + 1))) for radius in (1, 500)}
    drawn = series(draw(sweep(rates, pixel=pixel), options=["--type", pixel]))
    limit, sweep_line = drawn["roofline"][0], drawn["sepconv"][0]
    assert limit[0] == pytest.approx(sweep_line[0], abs=0.02) and limit[-1] == pytest.approx(
        sweep_line[-1], abs=0.02
    )
    bend = (fma / (2 * COPY / (2 * element_bytes)) - 1) / 2
    x = sweep_line[0][0] + (sweep_line[1][0] - sweep_line[0][0]) * math.log(bend) / math.log(500)
    flat = [point for point in limit if point[1] == pytest.approx(limit[0][1], abs=0.02)]
    assert max(point[0] for point in flat) == pytest.approx(x, abs=0.05)


def test_sweeps_of_several_designs_have_names(draw):
    drawn = series(draw(sweep({1: 4e11, 2: 3e11}, "fused"), sweep({1: 2e11, 2: 2e11}, "two_passes")))
    assert list(drawn) == ["roofline", "sepconv fused", "sepconv two passes"]


def test_one_point_alone_can_be_drawn(draw):
    assert "CuPy" in series(draw(document("peers", [("CuPy", "f32", 8, 2e10)])))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"measured": []}', '{"measured": [{"type": "u8"}]}'])
def test_invalid_measurements_are_refused_in_one_sentence(tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    process = subprocess.run([sys.executable, TOOL, tmp_path / "bad.json"], capture_output=True, text=True)
    assert (
        process.returncode == 1
        and process.stderr.startswith("conv_plot.py: the picture could not be drawn")
        and not process.stdout
    )
