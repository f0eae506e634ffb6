"""A result that processes make together, each its parts, which are the library's."""

import os
import time
from dataclasses import dataclass, field

from sepconv import _inputs, _options, _sepconv

_SECONDS_FOR_OTHERS = 60  # for a worker that was given up, and is at work on a part still


@dataclass(frozen=True)
class Result:
    source: str
    sink: str
    chain: object
    options: dict
    begun: list = field(
        default_factory=list
    )  # from when it is begun on how many parts there are, and the run that makes them

    def begin(self, planning, wanted, discards=False):
        _sepconv.create_parts(
            self.source,
            self.sink,
            self.chain._native,
            _options.settings_of(_options.RUN, planning),
            discards,
            wanted,
            self.begun,
        )

    @property
    def parts(self):
        return range(1, self.begun[0] + 1)

    @property
    def run(self):
        return self.begun[1] if self.begun else ""

    def is_there(self):
        """Another client may have discarded it and begun one of its own."""
        return bool(self.begun) and _sepconv.partial_run(self.sink) == self.run

    @property
    def folder(self):
        return _sepconv.partial_folder(self.sink)

    def make(self, part, options, go_on=lambda: None):
        """`go_on` is called all the while, and ends it by what it raises."""
        if not os.path.isdir(self.folder):
            raise FileNotFoundError(
                f"{self.folder} is not there: it was discarded or finished meanwhile, or is not seen here; source and result have to lie where every worker sees them by the same names"
            )
        report = _sepconv.run_wanted_part(
            self.source,
            self.sink,
            self.chain._native,
            _options.settings_of(_options.RUN, {**self.options, **options}),
            part,
            len(self.parts),
            go_on,
        )
        return list(report.warnings)

    def finish(self):
        _when_alone(lambda: _sepconv.finish_parts(self.sink, self.run))

    def discard(self):
        """Removes the unfinished result, if there is one; says what stays: another's, or what a worker holds
        for too long."""
        if not self.begun:
            return
        try:
            is_gone = _when_alone(lambda: self.is_there() and _sepconv.discard_parts(self.sink, self.run))
            if not is_gone and os.path.isdir(self.folder):
                _inputs.warn([f"{self.folder} stays: it is not what was begun here any more"])
        except (OSError, KeyboardInterrupt) as error:
            _inputs.warn(
                [f"{self.folder} stays: {error or 'interrupted while a worker was at work on it still'}"]
            )


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
