"""A result that processes make together, each its parts, which are the library's."""

import contextlib
import fcntl
import os
import shutil
import time
import uuid
from dataclasses import dataclass

from sepconv import _options, _sepconv

_SECONDS_FOR_OTHERS = 60  # for a worker that was given up, and is at work on a part still


@dataclass(frozen=True)
class Result:
    source: str
    sink: str
    chain: object
    options: dict
    parts: range

    @classmethod
    def begin(cls, source, sink, chain, options, planning, wanted):
        count = _sepconv.create_parts(source, sink, chain._native, _options.settings_of(_options.RUN, planning), wanted)
        return cls(source, sink, chain, options, range(1, count + 1))

    @property
    def folder(self):
        return folder_of(self.sink)

    def make(self, part, options):
        if not os.path.isdir(self.folder):
            raise FileNotFoundError(f"{self.folder} is not there; source and result have to lie where every worker sees them by the same names")
        report = _sepconv.run_part(self.source, self.sink, self.chain._native, _options.settings_of(_options.RUN, {**self.options, **options}), part, len(self.parts))
        return list(report.warnings)

    def finish(self):
        _when_alone(lambda: _sepconv.finish_parts(self.sink))

    def discard(self):
        with contextlib.suppress(OSError):
            folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                _when_alone(lambda: fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB))  # workers share it, as the library has it
            finally:
                os.close(folder)
        self._remove()

    def _remove(self):
        """Under another name first, where workers that have not ended yet do not find it."""
        gone = f"{self.folder}-{uuid.uuid4().hex}"
        with contextlib.suppress(OSError):
            os.rename(self.folder, gone)
        shutil.rmtree(gone, ignore_errors=True)


def folder_of(sink):
    return os.path.realpath(sink) + ".partial"


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
