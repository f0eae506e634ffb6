"""Arguments of functions that read and write files: paths, open images, arrays and sliceable objects."""

import os
import sys
import warnings

from sepconv import _array_io, _options, _sepconv


class FileWarning(UserWarning):
    """Warns that the result loses metadata of its source, or that a file is inconsistent."""


def warn(messages):
    """Warns at the caller's line outside of the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "sepconv":
        level, frame = level + 1, frame.f_back
    for message in messages:
        warnings.warn(message, FileWarning, stacklevel=level)


class OpenedFile:
    """A file's path and the options with which it was opened."""

    def __init__(self, path, options):
        self.path, self.options = _options.path(path), options
        self._at = os.path.abspath(self.path)
        self._file = self._file_identity()

    def _file_identity(self):
        try:
            status = os.stat(self._at)
        except OSError:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def check(self):
        if self._file_identity() != self._file:
            raise OSError(f"{self.path} was replaced or changed since it was opened; open it again")


def source_of(source, options, suffix=""):
    """The source for the extension module, and the options, including those with which an Image was
    opened."""
    if isinstance(source, OpenedFile):
        source.check()
        both = sorted({name for name in source.options if name + suffix in options})
        if both:
            raise ValueError(
                f"{both[0] + suffix}= was given to sepconv.open and is given again; give it once"
            )
        return source.path, {**{name + suffix: value for name, value in source.options.items()}, **options}
    if _options.is_path(source):
        return _options.path(source), options
    for name in ("page", "level", "raw", "missing_chunks"):
        if options.get(name + suffix):
            raise ValueError(f"{name + suffix}= is for files; slice the array instead")
    axes = options.get("axes" + suffix)
    return _array_io.Source(source, axes), {
        name: value for name, value in options.items() if name != "axes" + suffix
    }


def sink_of(sink, options):
    if _options.is_path(sink):
        return _options.path(sink)
    for name in _options.LAYOUT:
        if options.get(name) and name != "overwrite":
            raise ValueError(f"{name}= is for files, and the sink is not a file; leave it out")
    return _array_io.Sink(sink)


def opened_source_and_sink(source, sink, options):
    source, options = source_of(source, options)
    sink = sink_of(sink, options)
    if isinstance(sink, _array_io.Sink):
        _array_io.check_no_shared_memory(source, sink)
    elif isinstance(source, _array_io.Source):
        source.warn_of_lost_attributes()
    return source, sink, options


def source_and_settings(source, options, suffix):
    """The source for the extension module, the settings to open it, and the remaining options."""
    source, options = source_of(source, options, suffix)
    open_options = {name: options[name + suffix] for name in _options.OPEN if name + suffix in options}
    open_options.update((name, options[name]) for name in _options.MISSING if name in options)
    others = {
        name: value
        for name, value in options.items()
        if not name.endswith(suffix) or name.removesuffix(suffix) not in _options.OPEN
    }
    return source, _options.settings_of({**_options.OPEN, **_options.MISSING}, open_options), others


def with_resolved_region(source, options, chain):
    """The options with explicit begin and end of `region`: a slice may count from the end of the rows and
    columns, or be open-ended."""
    region = options.get("region")
    is_open = (
        isinstance(region, tuple)
        and len(region) == 2
        and all(isinstance(one, slice) for one in region)
        and any(one.stop is None or one.stop < 0 or (one.start or 0) < 0 for one in region)
    )
    if not is_open:
        return options
    open_options = {
        name: value for name, value in options.items() if name in _options.OPEN or name in _options.MISSING
    }
    facts = _sepconv.open_set(
        source, _options.settings_of({**_options.OPEN, **_options.MISSING}, open_options)
    ).facts
    sides = chain._native.result_spec((facts["rows"], facts["cols"], facts["channels"], facts["type"]))[:2]
    return {**options, "region": tuple(slice(*one.indices(side)) for one, side in zip(region, sides))}


def open_set(source, options, suffix=""):
    """The extension module's image set, and the options that do not concern opening."""
    source, settings, others = source_and_settings(source, options, suffix)
    return _sepconv.open_set(source, settings), others
