"""A result that several processes compute, each some parts, in the folder SINK.partial."""

import os
import time
from dataclasses import dataclass, field

from sepconv import _inputs, _options, _sepconv

_BUSY_TIMEOUT_SECONDS = 60  # for a worker that lost its task but still computes a part


@dataclass(frozen=True)
class Result:
    source: str
    sink: str
    chain: object
    options: dict
    progress: list = field(
        default_factory=list
    )  # once begun: the number of parts, and the identifier of the run

    def begin(self, planning, part_count, discards=False):
        _sepconv.create_parts(
            self.source,
            self.sink,
            self.chain._native,
            _options.settings_of(_options.RUN, planning),
            discards,
            part_count,
            self.progress,
        )

    @property
    def parts(self):
        return range(1, self.progress[0] + 1)

    @property
    def run(self):
        return self.progress[1] if self.progress else ""

    def exists(self):
        """Whether this run's unfinished result exists. Another client may have discarded it and begun
        another."""
        return bool(self.progress) and _sepconv.partial_run(self.sink) == self.run

    @property
    def folder(self):
        return _sepconv.partial_folder(self.sink)

    def run_part(self, part, options, check_cancelled=lambda: None):
        """Computes a part. `check_cancelled` is called repeatedly and stops the part by raising."""
        if not os.path.isdir(self.folder):
            raise FileNotFoundError(
                f"{self.folder} is not there: it was discarded or finished meanwhile, or is not visible here; every worker must see source and result under the same names"
            )
        report = _sepconv.run_wanted_part(
            self.source,
            self.sink,
            self.chain._native,
            _options.settings_of(_options.RUN, {**self.options, **options}),
            part,
            len(self.parts),
            check_cancelled,
        )
        return list(report.warnings)

    def finish(self):
        _retry_while_busy(lambda: _sepconv.finish_parts(self.sink, self.run))

    def discard(self):
        """Removes the unfinished result, if it exists. Warns if another client's result, or a part that a
        worker locks for too long, remains."""
        if not self.progress:
            return
        try:
            discarded = _retry_while_busy(
                lambda: self.exists() and _sepconv.discard_parts(self.sink, self.run)
            )
            if not discarded and os.path.isdir(self.folder):
                _inputs.warn([f"{self.folder} remains: it belongs to another run"])
        except (OSError, KeyboardInterrupt) as error:
            _inputs.warn(
                [f"{self.folder} stays: {error or 'interrupted while a worker was still computing it'}"]
            )


def _retry_while_busy(action):
    """Runs the action as soon as no worker locks the folder."""
    deadline = time.monotonic() + _BUSY_TIMEOUT_SECONDS
    while True:
        try:
            return action()
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
