#!/usr/bin/env python3
"""Draws the output of tests/peers/gpu/conv.py --json as an SVG picture: Gpix/s over the radius, both
logarithmic.

    docs/tools/conv_plot.py sweep.json > radii.svg
    docs/tools/conv_plot.py sweep.json peers.json --type f32 --channels 1 --title "One H200" -o radii.svg

A sweep (--sweep) is a line; other measurements are points joined by a thin line. The dashed line is the
roofline of the first file: the minimum of device copy and multiply-adds. Several sweeps are labelled with
their designs. Needs only Python's standard library."""

import argparse
import json
import math
import sys
from xml.sax.saxutils import escape, quoteattr

COLOURS = {
    "sepconv": "#4e79a7",
    "CuPy": "#f28e2b",
    "PyTorch": "#e15759",
    "PyTorch tuned": "#b3343a",
    "cuCIM": "#59a14f",
    "CV-CUDA": "#b07aa1",
    "OpenCV CUDA": "#9c755f",
    "NPP": "#76b7b2",
    "NPP gauss": "#2f7f7a",
}
OTHER_COLOURS = ["#7f7f7f", "#edc948", "#1f4e79", "#bdbdbd"]
DEVICE_LIMIT = "roofline"

WIDTH, HEIGHT = 900, 560
LEFT, RIGHT, TOP, BOTTOM = 80, 190, 60, 60  # of the axes' rectangle, from the picture's edges
LEGEND_LINE = 22


def read(path):
    """The parsed document. Raises ValueError if it has no measurements."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if not document["measured"]:
        raise ValueError(f"{path} has no measurements")
    return document


def series_of(documents, kind, channels):
    """{name: (is a sweep, [(radius, pixels per second)] by radius)} for one pixel type and number of
    channels, sepconv first."""
    designs = {document["design"] for document in documents if document["kind"] == "sweep"}
    series = {}
    for document in documents:
        sweep = document["kind"] == "sweep"
        has_sepconv_sweep = any(
            sweep_name(other, designs) == "sepconv" for other in documents if other["kind"] == "sweep"
        )
        for row in document["measured"]:
            if row["type"] != kind or row["channels"] != channels:
                continue
            name = sweep_name(document, designs) if sweep else row["peer"]
            if name == "sepconv" and not sweep and has_sepconv_sweep:
                continue  # the line of the sweep shows it
            series.setdefault(name, (sweep, {}))[1][row["radius"]] = row["pixels_per_second"]
    ordered = sorted(series.items(), key=lambda entry: (not entry[0].startswith("sepconv"), not entry[1][0]))
    return {name: (sweep, sorted(points.items())) for name, (sweep, points) in ordered}


def sweep_name(document, designs):
    """The label of a sweep: includes the design if there are several."""
    return "sepconv" if len(designs) == 1 else f"sepconv {document['design'].replace('_', ' ')}"


def roofline(document, kind, channels, radii):
    """[(radius, pixels per second)] of the roofline."""
    limits = document["limits"]
    element_bytes = {"u8": 1, "u16": 2, "i16": 2, "f32": 4, "f64": 8}[kind]
    fma = limits["fma_f64_per_second" if kind == "f64" else "fma_f32_per_second"]
    copy = limits["copy_bytes_per_second"] / (2 * element_bytes * channels)
    bend = (fma / (2 * copy * channels) - 1) / 2  # where both limits are equal
    first, last = min(radii), max(radii)
    inside = [bend] if first < bend < last else []
    return [
        (radius, min(copy, fma / (2 * (2 * radius + 1) * channels)))
        for radius in [first, *inside, *spread(max(first, bend), last)]
    ]


def spread(first, last):
    """Numbers from first to last, dense enough that straight lines look like a curve on a logarithmic
    axis."""
    if last <= first:
        return [last]
    count = 1 + math.ceil(8 * math.log2(last / first))
    return [first * (last / first) ** (i / count) for i in range(count + 1)]


class Axis:
    """A logarithmic axis: values from low to high at positions from begin to end."""

    def __init__(self, low, high, begin, end):
        self.low, self.high, self.begin, self.end = low, high, begin, end

    def at(self, value):
        fraction = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + fraction * (self.end - self.begin)

    def ticks(self, factors):
        """Powers of ten, and their multiples by `factors`, within the axis."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        values = [10**power * factor for power in range(first, last + 1) for factor in factors]
        return [value for value in values if self.low * 0.999 <= value <= self.high * 1.001]


class Picture:
    def __init__(self, title, radii, rates):
        high, low = max(rates) * 1.3, min(rates) / 1.3
        last = max(max(radii), min(radii) * 2)
        self.x = Axis(min(radii) / 1.1, last * 1.1, LEFT, WIDTH - RIGHT)
        self.y = Axis(low / 1e9, high / 1e9, HEIGHT - BOTTOM, TOP)
        self.parts, self.legend = [], 0
        self.text(WIDTH / 2, 28, title, anchor="middle", size=17, extra=' font-weight="bold"')
        self.axes()

    def text(self, x, y, text, anchor="start", size=12, extra=""):
        self.parts.append(
            f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" font-size="{size}"{extra}>{escape(text)}</text>'
        )

    def line(self, x1, y1, x2, y2, style):
        self.parts.append(f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" {style}/>')

    def axes(self):
        grid = 'stroke="#000" stroke-opacity="0.15"'
        for radius in self.x.ticks((1, 2, 5)):
            x = self.x.at(radius)
            self.line(x, TOP, x, HEIGHT - BOTTOM, grid)
            self.text(x, HEIGHT - BOTTOM + 18, f"{radius:g}", anchor="middle")
        for rate in self.y.ticks((1, 2, 5)):
            y = self.y.at(rate)
            self.line(LEFT, y, WIDTH - RIGHT, y, grid)
            self.text(LEFT - 8, y + 4, f"{rate:g}", anchor="end")
        self.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18, "radius", anchor="middle", size=13)
        middle = (TOP + HEIGHT - BOTTOM) / 2
        self.text(
            24, middle, "Gpix/s", anchor="middle", size=13, extra=f' transform="rotate(-90 24 {middle:.2f})"'
        )

    def path(self, points, colour, width, extra=""):
        places = " ".join(f"{self.x.at(radius):.2f},{self.y.at(rate / 1e9):.2f}" for radius, rate in points)
        self.parts.append(
            f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="{width}"{extra}/>'
        )

    def series(self, name, points, colour, sweep):
        self.parts.append(f'<g class="series" data-name={quoteattr(name)}>')
        self.path(points, colour, 2 if sweep else 1)
        for radius, rate in [] if sweep else points:
            self.parts.append(
                f'<circle cx="{self.x.at(radius):.2f}" cy="{self.y.at(rate / 1e9):.2f}" r="4" fill="{colour}">'
                f"<title>{escape(name)}, radius {radius}: {rate / 1e9:.4g} Gpix/s</title></circle>"
            )
        self.parts.append("</g>")
        self.entry(name, colour, "" if sweep else "dot")

    def limit(self, points):
        self.parts.append(f'<g class="series" data-name="{DEVICE_LIMIT}">')
        self.path(points, "#000", 1.5, ' stroke-dasharray="6 4"')
        self.parts.append("</g>")
        self.entry(DEVICE_LIMIT, "#000", "dashes")

    def entry(self, name, colour, kind):
        """A line of the legend, to the right of the axes."""
        x, y = WIDTH - RIGHT + 16, TOP + 10 + self.legend * LEGEND_LINE
        dashes = ' stroke-dasharray="6 4"' if kind == "dashes" else ""
        self.line(x, y, x + 26, y, f'stroke="{colour}" stroke-width="2"{dashes}')
        if kind == "dot":
            self.parts.append(f'<circle cx="{x + 13}" cy="{y}" r="4" fill="{colour}"/>')
        self.text(x + 34, y + 4, name)
        self.legend += 1

    def svg(self, title):
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
            'font-family="Helvetica, Arial, sans-serif">'
        )
        return "\n".join(
            [
                head,
                f"<title>{escape(title)}</title>",
                '<rect width="100%" height="100%" fill="#fff"/>',
                *self.parts,
                "</svg>\n",
            ]
        )


def draw(documents, kind, channels, title):
    """The SVG of the measurements of one pixel type and number of channels. Raises ValueError if none
    exist."""
    series = series_of(documents, kind, channels)
    if not series:
        raise ValueError(f"nothing was measured for {kind} of {channels} channels")
    radii = [radius for _, points in series.values() for radius, _ in points]
    limit = roofline(documents[0], kind, channels, radii)
    rates = [rate for _, points in series.values() for _, rate in points] + [rate for _, rate in limit]
    picture = Picture(title, radii, rates)
    picture.limit(limit)
    others = iter(OTHER_COLOURS * (1 + len(series)))
    for name, (sweep, points) in series.items():
        picture.series(name, points, COLOURS.get(name) or next(others), sweep)
    return picture.svg(title)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file that conv.py --json wrote")
    parser.add_argument(
        "--type", default="f32", choices=["u8", "u16", "i16", "f32", "f64"], help="pixel type (%(default)s)"
    )
    parser.add_argument("--channels", type=int, default=1, help="(%(default)s)")
    parser.add_argument("--title", help="(the device, type and channels)")
    parser.add_argument("-o", "--output", help="file to write (standard output)")
    options = parser.parse_args(arguments)
    try:
        documents = [read(path) for path in options.files]
        title = (
            options.title
            or f"{documents[0]['device']}, {options.type}, {options.channels} channel{'s' * (options.channels > 1)}"
        )
        picture = draw(documents, options.type, options.channels, title)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        sys.exit(
            f"conv_plot.py: the picture could not be drawn: {error!r}; give files that tests/peers/gpu/conv.py --json wrote"
        )
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(picture)
    else:
        sys.stdout.write(picture)


if __name__ == "__main__":
    main()
