"""Arguments of the functions of files: paths, open images, arrays and objects that can be sliced."""

import os
import sys
import warnings

from sepconv import _array_io, _options, _sepconv


class FileWarning(UserWarning):
    """What a result does not have of its source, or what of a file is not what it seems."""


def warn(sentences):
    """At the line that called the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "sepconv":
        level, frame = level + 1, frame.f_back
    for sentence in sentences:
        warnings.warn(sentence, FileWarning, stacklevel=level)


class OpenedFile:
    """A file by its path, and the options that it was opened with."""

    def __init__(self, path, options):
        self.path, self.options = _options.path(path), options
        self._at = os.path.abspath(self.path)
        self._file = self._file_identity()

    def _file_identity(self):
        try:
            found = os.stat(self._at)
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    def check(self):
        if self._file_identity() != self._file:
            raise OSError(f"{self.path} was replaced or changed since it was opened; open it again")


def source_of(source, options, suffix=""):
    """What the extension module opens, and the options with those that an Image was opened with."""
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
            raise ValueError(f"{name}= is for files, and the sink is none; leave it out")
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
    """What the extension module opens, with what settings, and the options that are not of opening it."""
    source, options = source_of(source, options, suffix)
    of_source = {name: options[name + suffix] for name in _options.OPEN if name + suffix in options}
    of_source.update((name, options[name]) for name in _options.MISSING if name in options)
    others = {
        name: value
        for name, value in options.items()
        if not name.endswith(suffix) or name.removesuffix(suffix) not in _options.OPEN
    }
    return source, _options.settings_of({**_options.OPEN, **_options.MISSING}, of_source), others


def with_resolved_region(source, options, chain):
    """The options with a region that says where it begins and ends: slices may count from the end of the
    result's rows and columns, or go up to it."""
    region = options.get("region")
    is_open = (
        isinstance(region, tuple)
        and len(region) == 2
        and all(isinstance(one, slice) for one in region)
        and any(one.stop is None or one.stop < 0 or (one.start or 0) < 0 for one in region)
    )
    if not is_open:
        return options
    opening = {
        name: value for name, value in options.items() if name in _options.OPEN or name in _options.MISSING
    }
    facts = _sepconv.open_set(
        source, _options.settings_of({**_options.OPEN, **_options.MISSING}, opening)
    ).facts
    sides = chain._native.result_spec((facts["rows"], facts["cols"], facts["channels"], facts["type"]))[:2]
    return {**options, "region": tuple(slice(*one.indices(side)) for one, side in zip(region, sides))}


def open_set(source, options, suffix=""):
    """The extension module's set, and the options that are not of opening it."""
    source, settings, others = source_and_settings(source, options, suffix)
    return _sepconv.open_set(source, settings), others
