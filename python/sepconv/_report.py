"""Plans and reports of runs: as text and in notebooks, with a timeline of the steps."""

import html
import json
import os
from typing import NamedTuple

_COLOURS = {
    "read": "#4c78a8",
    "upload": "#b279a2",
    "decode": "#b5872f",
    "compute": "#f58518",
    "encode": "#3aa6a6",
    "download": "#e45756",
    "write": "#54a24b",
}
_MAX_DRAWN_SPANS = 2000  # maximum number of spans in a timeline: with more, each is narrower than a pixel


class Span(NamedTuple):
    """An interval in which a step processed a band, or, for band -1, closed the result's file. In seconds
    since the start of the run."""

    step: str
    band: int
    begin: float
    end: float
    bytes: int


class Plan:
    """The plan of a run: bands, slots, bytes, peak memory, predicted times.

    Plans compare by value, can be saved as `text` and pickled, and are executed by ``sepconv.run(...,
    plan=plan)``.

    Parameters
    ----------
    text : str
        JSON, from ``plan.text`` or from ``sepconv plan --json``

    Attributes
    ----------
    text : str
    description : str
        human-readable text
    warnings, notes : list of str
        metadata that the result loses, and the reasons for the plan
    """

    def __init__(self, text, description="", warnings=(), notes=()):
        self.text, self.description, self.warnings, self.notes = (
            text,
            description,
            list(warnings),
            list(notes),
        )

    def to_dict(self):
        """The parsed JSON."""
        return json.loads(self.text)

    def __eq__(self, other):
        return self.text == other.text if isinstance(other, Plan) else NotImplemented

    def __hash__(self):
        return hash(self.text)

    def __str__(self):
        return self.description or self.text

    def __repr__(self):
        return f"<sepconv.Plan\n{self}>"

    def _repr_html_(self):
        return f"<pre>{html.escape(str(self))}</pre>"


class Report:
    """The report of a run. As text it is the program's summary; in a notebook a table with a timeline.

    Attributes
    ----------
    wall_seconds, startup_seconds : float
        seconds of the whole run, and until its first band
    device : str
        the device that computed
    bottleneck : str
        the step with the maximum busy time
    steps : list of dict
        name, busy_seconds, hidden_seconds (while another step was busy), bytes, operations
    timeline : list of Span
        the intervals in which each step processed each band
    warnings : list of str
        metadata that the result loses; each was also a Python warning
    plan : Plan or None
        the plan that was run; None for a matrix product

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> image = np.zeros((100, 200), np.float32)
    >>> report = sc.run(image, np.empty_like(image), sc.gaussian(2), band_rows=50, device="cpu", progress=False)
    >>> [step["name"] for step in report.steps], sum(span.step == "compute" for span in report.timeline)
    (['read', 'compute', 'write'], 2)
    """

    def __init__(self, native):
        self._native = native
        self.wall_seconds, self.startup_seconds = native.wall_seconds, native.startup_seconds
        self.device, self.bottleneck = native.device, native.bottleneck
        self.steps, self.warnings = native.steps, native.warnings
        self._texts = None

    @property
    def plan(self):
        return Plan(self._native.plan) if hasattr(self._native, "plan") else None

    @property
    def timeline(self):
        return [Span(*span) for span in self._native.spans]

    def _text(self, which):
        if self._texts is None:  # measures the machine's rates, some tenths of a second
            self._texts = self._native.texts()
        return self._texts[which]

    def to_dict(self):
        """The data of the program's ``--stats``, described in docs/formats.md."""
        return json.loads(self._text(1))

    def save_trace(self, path):
        """Writes the timeline as Chrome trace JSON for Perfetto and chrome://tracing.

        Raises
        ------
        OSError
            if the file cannot be written
        """
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(self._native.trace)

    def __str__(self):
        return self._text(0)

    def __repr__(self):
        return f"<sepconv.Report: {self.wall_seconds:.2f} s, {self.device}, bottleneck: {self.bottleneck}>"

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{html.escape(step['name'])}</td><td>{step['busy_seconds']:.3f} s</td><td>{_per_second(step, 'bytes') / 1e6:.0f}</td>"
            f"<td>{100 * _per_second(step, 'hidden_seconds'):.0f} %</td></tr>"
            for step in self.steps
        )
        said = "".join(f"<p>warning: {html.escape(warning)}</p>" for warning in self.warnings)
        return (
            f"<div><p>{self.wall_seconds:.2f} s; {html.escape(self.device)}; bottleneck: {html.escape(self.bottleneck)}</p>"
            f"<table><thead><tr><th>step</th><th>busy</th><th>MB/s</th><th>hidden</th></tr></thead><tbody>{rows}</tbody></table>"
            f"{_timeline_svg(self.timeline, self.wall_seconds)}{said}</div>"
        )


def _per_second(step, fact):
    return step[fact] / step["busy_seconds"] if step["busy_seconds"] > 0 else 0


def _timeline_svg(spans, seconds):
    """An SVG timeline with a row for each step and a bar for each band."""
    steps = list(dict.fromkeys(span.step for span in spans))
    seconds = max([seconds, 1e-9, *(span.end for span in spans)])
    longest = sorted(spans, key=lambda span: span.begin - span.end)[:_MAX_DRAWN_SPANS]
    bars = "".join(
        f'<rect x="{90 + 600 * span.begin / seconds:.2f}" y="{4 + 22 * steps.index(span.step)}" width="{max(600 * (span.end - span.begin) / seconds, 0.3):.2f}" '
        f'height="18" fill="{_COLOURS.get(span.step.split()[0], "#9d9d9d")}"><title>{html.escape(span.step)}, band {span.band}: '
        f"{1e3 * (span.end - span.begin):.2f} ms</title></rect>"
        for span in longest
    )
    names = "".join(
        f'<text x="0" y="{17 + 22 * place}" font-size="12">{html.escape(step)}</text>'
        for place, step in enumerate(steps)
    )
    left_out = (
        f"<p>the {len(longest)} longest of {len(spans)} intervals are drawn</p>"
        if len(longest) < len(spans)
        else ""
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="700" height="{8 + 22 * len(steps) + 14}" role="img">{names}{bars}'
        f'<text x="690" y="{20 + 22 * len(steps)}" font-size="11" text-anchor="end">{seconds:.3f} s</text></svg>{left_out}'
    )
