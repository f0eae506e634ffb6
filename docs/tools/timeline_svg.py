#!/usr/bin/env python3
"""Draws the output of `sepconv run --trace` as an SVG picture: a lane per step, a block per band, time from
left to right.

    docs/tools/timeline_svg.py run.json > run.svg
    docs/tools/timeline_svg.py --label "1 slot" s1.json --label "3 slots" s3.json --title "Slots" -o slots.svg

Several traces are stacked on a common time axis. Bands of even and odd number have different shades to
distinguish neighbours. Needs only Python's standard library."""

import argparse
import json
import math
import sys
from xml.sax.saxutils import escape

ORDER = ["read", "upload", "compute", "download", "write"]
# (even, odd) bands; the even shades are those of kernels/cuda/profiler_range.cpp.
COLOURS = {
    "read": ("#4e79a7", "#9dbbdb"),
    "upload": ("#f28e2b", "#f9c48d"),
    "compute": ("#59a14f", "#a5d39d"),
    "download": ("#b07aa1", "#d9b9d0"),
    "write": ("#e15759", "#f2a9aa"),
}
OTHER = ("#7f7f7f", "#bdbdbd")

WIDTH, LEFT, RIGHT = 900, 110, 20
LANE, GAP = 26, 6  # height of a lane, and the gap below it
HEADING, TITLE, AXIS = 26, 40, 44


def read_trace(path):
    """The spans of a trace: (track, band, begin, end), in ms since the first span. Raises ValueError if there
    are none."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    spans = [
        (e["cat"], e["args"].get("band", 0), e["ts"] / 1e3, (e["ts"] + e["dur"]) / 1e3)
        for e in events
        if e["ph"] == "X"
    ]
    if not spans:
        raise ValueError(f"{path} has no spans")
    start = min(begin for _, _, begin, _ in spans)
    return [(track, band, begin - start, end - start) for track, band, begin, end in spans]


def step_of(track):
    """The step of a track: "upload" for "upload" and for "upload 1" of a second GPU."""
    return track.split(" ")[0].split(":")[0]


def lanes_of(spans):
    """The tracks in the order of the pipeline's steps; unknown steps last."""
    tracks = {track for track, _, _, _ in spans}
    return sorted(tracks, key=lambda t: (ORDER.index(step_of(t)) if step_of(t) in ORDER else len(ORDER), t))


def tick_step(length):
    """A round number of ms that gives 5 to 12 ticks on an axis of this length."""
    power = 10 ** math.floor(math.log10(length / 5))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if length / (power * factor) <= 12)


class Picture:
    """An SVG document, built from top to bottom."""

    def __init__(self, length_ms):
        self.scale = (WIDTH - LEFT - RIGHT) / length_ms
        self.length_ms = length_ms
        self.parts = []
        self.y = 0

    def x(self, ms):
        return LEFT + ms * self.scale

    def text(self, x, y, text, anchor="start", size=13, extra=""):
        self.parts.append(
            f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" font-size="{size}"{extra}>{escape(text)}</text>'
        )

    def heading(self, text):
        self.text(LEFT, self.y + 18, text, extra=' font-weight="bold"')
        self.y += HEADING

    def lane(self, track, spans):
        colours = COLOURS.get(step_of(track), OTHER)
        self.text(LEFT - 8, self.y + LANE * 0.68, track, anchor="end")
        self.parts.append(
            f'<rect x="{LEFT}" y="{self.y}" width="{WIDTH - LEFT - RIGHT}" height="{LANE}" fill="#f4f4f4"/>'
        )
        self.parts.append(f'<g class="lane" data-track="{escape(track, {chr(34): "&quot;"})}">')
        for _, band, begin, end in spans:
            width = max((end - begin) * self.scale, 0.4)  # minimum width, so that each span is visible
            self.parts.append(
                f'<rect class="band" x="{self.x(begin):.2f}" y="{self.y}" width="{width:.2f}" height="{LANE}" '
                f'fill="{colours[band % 2]}"><title>{escape(track)} {band}: {begin:.3f} to {end:.3f} ms</title></rect>'
            )
            if width >= 16 + 7 * len(str(band)):
                self.text(
                    self.x(begin) + width / 2,
                    self.y + LANE * 0.66,
                    str(band),
                    anchor="middle",
                    size=11,
                    extra=' fill="#222"',
                )
        self.parts.append("</g>")
        self.y += LANE + GAP

    def axis(self, top):
        step = tick_step(self.length_ms)
        digits = max(
            0, -math.floor(math.log10(step)) + (1 if step / 10 ** math.floor(math.log10(step)) == 2.5 else 0)
        )
        for i in range(int(self.length_ms / step + 1e-9) + 1):
            x = self.x(i * step)
            self.parts.append(
                f'<line x1="{x:.2f}" y1="{top}" x2="{x:.2f}" y2="{self.y}" stroke="#000" stroke-opacity="0.15"/>'
            )
            self.text(x, self.y + 16, f"{i * step:.{digits}f}", anchor="middle", size=11)
        self.text((LEFT + WIDTH - RIGHT) / 2, self.y + 34, "time in ms", anchor="middle", size=12)
        self.y += AXIS


def draw(traces, title):
    """The SVG of [(label, spans)]; a label may be empty."""
    picture = Picture(max(end for _, spans in traces for _, _, _, end in spans) or 1.0)
    picture.text(WIDTH / 2, 26, title, anchor="middle", size=17, extra=' font-weight="bold"')
    picture.y = TITLE
    for label, spans in traces:
        if label:
            picture.heading(f"{label}: {max(end for _, _, _, end in spans):.1f} ms")
        for track in lanes_of(spans):
            picture.lane(track, [span for span in spans if span[0] == track])
    picture.axis(TITLE)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {picture.y}" width="{WIDTH}" height="{picture.y}" '
        'font-family="Helvetica, Arial, sans-serif">'
    )
    return "\n".join(
        [
            head,
            f"<title>{escape(title)}</title>",
            '<rect width="100%" height="100%" fill="#fff"/>',
            *picture.parts,
            "</svg>\n",
        ]
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", nargs="+", metavar="TRACE", help="a file that sepconv run --trace wrote")
    parser.add_argument(
        "--label",
        action="append",
        default=[],
        help="heading of a trace; as many as there are traces, in their order",
    )
    parser.add_argument("--title", default="What each step did when")
    parser.add_argument("-o", "--output", help="file to write (standard output)")
    options = parser.parse_intermixed_args(arguments)
    if options.label and len(options.label) != len(options.traces):
        parser.error(
            f"{len(options.label)} labels for {len(options.traces)} traces: give one to each or to none"
        )
    try:
        labels = options.label or (options.traces if len(options.traces) > 1 else [""])
        picture = draw(
            [(label, read_trace(path)) for label, path in zip(labels, options.traces)], options.title
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(
            f"timeline_svg.py: a trace could not be drawn: {error!r}; give files that sepconv run --trace wrote"
        )
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(picture)
    else:
        sys.stdout.write(picture)


if __name__ == "__main__":
    main()
