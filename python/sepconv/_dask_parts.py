"""A result that processes make together, each its parts, which are the library's."""

import os
import time
from dataclasses import dataclass, field

from sepconv import _opening, _options, _sepconv

_SECONDS_FOR_OTHERS = 60  # for a worker that was given up, and is at work on a part still


@dataclass(frozen=True)
class Result:
    source: str
    sink: str
    chain: object
    options: dict
    counts: list = field(default_factory=list)  # of parts: one from when it is begun on

    def begin(self, planning, wanted, discards=False):
        _sepconv.create_parts(self.source, self.sink, self.chain._native, _options.settings_of(_options.RUN, planning), discards, wanted, self.counts)

    @property
    def parts(self):
        return range(1, self.counts[0] + 1)

    @property
    def folder(self):
        return _sepconv.partial_folder(self.sink)

    def make(self, part, options, go_on=lambda: None):
        """`go_on` is called all the while, and ends it by what it raises."""
        if not os.path.isdir(self.folder):
            raise FileNotFoundError(f"{self.folder} is not there; source and result have to lie where every worker sees them by the same names")
        report = _sepconv.run_wanted_part(self.source, self.sink, self.chain._native, _options.settings_of(_options.RUN, {**self.options, **options}), part, len(self.parts), go_on)
        return list(report.warnings)

    def finish(self):
        _when_alone(lambda: _sepconv.finish_parts(self.sink))

    def discard(self):
        """Removes what is there of it, if it is begun; says so where a worker holds it for too long."""
        if not self.counts:
            return
        try:
            _when_alone(lambda: _sepconv.discard_parts(self.sink))
        except (OSError, KeyboardInterrupt) as error:
            _opening.warn([f"{self.folder} stays: {error or 'interrupted while a worker was at work on it still'}"])


def _when_alone(done):
    """As soon as no worker holds the folder."""
    until = time.monotonic() + _SECONDS_FOR_OTHERS
    while True:
        try:
            return done()
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
