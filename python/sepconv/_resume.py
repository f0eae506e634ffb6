"""Results computed in several runs: --resume, --discard, --create-only, --part and finish of the program."""

import re

from sepconv import _inputs, _options, _sepconv
from sepconv._chain import Chain

_CREATE_OPTIONS = {name: option for name, option in _options.RUN.items() if name != "plan"}


def _part(part):
    """Part and count from (3, 16), or from the program's '3/16'."""
    match = re.fullmatch(r"([0-9]+)/([0-9]+)", part) if isinstance(part, str) else None
    sides = (
        [int(one) for one in match.groups()]
        if match
        else list(part)
        if isinstance(part, (tuple, list))
        else []
    )
    if (
        len(sides) != 2
        or any(isinstance(one, bool) for one in sides)
        or not _options.whole(1)("part", sides[0]) <= _options.whole(1)("part", sides[1])
    ):
        raise ValueError(f"part={part!r} is not a part; give (3, 16) for the third of sixteen, or '3/16'")
    return sides


def _check_paths(word, source, sink):
    if not isinstance(source, str) or not isinstance(sink, str):
        raise TypeError(f"{word} works with files only; give paths, or leave it out")


def run(source, sink, chain, settings, resume, discard, part, report):
    """Runs with the arguments of `files.run`."""
    resume, discard = _options.flag("resume", resume), _options.flag("discard", discard)
    if not resume and part is None:
        if discard:
            _check_paths("discard=", source, sink)
        return _sepconv.run(source, sink, chain, settings, discard, report)
    word = "resume=" if resume else "part="
    _check_paths(word, source, sink)
    if "plan" in settings:
        raise ValueError(f"{word} uses the plan with which it began; leave plan= out")
    if part is None:
        return _sepconv.resume(source, sink, chain, settings, discard, report)
    if resume or discard:
        raise ValueError(
            f"part= computes a part of a result of create_only(); leave {'resume' if resume else 'discard'}= out"
        )
    return _sepconv.run_part(source, sink, chain, settings, *_part(part), report)


@_options.declared(_CREATE_OPTIONS)
def create_only(source, sink, chain=(), *, discard=False, **options):
    """Creates a result that several processes compute in parts, on any machines with a shared file system, as
    by ``sepconv run --create-only``. Reads no pixels.

    Then ``run(source, sink, chain, part=(k, n))`` for each k from 1 to n, in any order or in parallel,
    computes the parts. `finish` completes the result, which is identical to that of one run. Until then it is
    in the folder ``SINK.partial``.

    Parameters
    ----------
    source, sink : path or Image, path
    chain : Chain, str or iterable of str
    discard : bool
        remove an unfinished result once this run can start
    **options
        as for `run`; `overwrite` and the layout apply to all parts

    Returns
    -------
    int
        the maximum number of parts; a smaller `band_rows` permits more

    Raises
    ------
    TypeError, ValueError, OSError, MemoryError
        as for `run`, and if the format of `sink` cannot be written in parts
    FileExistsError
        if an unfinished result exists

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> np.save("scan.npy", np.eye(64, dtype=np.float32))
    >>> sc.create_only("scan.npy", "blurred.npy", sc.gaussian(2), band_rows=16)
    4
    >>> for k in (1, 2):
    ...     report = sc.run("scan.npy", "blurred.npy", sc.gaussian(2), part=(k, 2), progress=False)
    >>> sc.finish("blurred.npy")
    """
    source, sink, options = _inputs.opened_source_and_sink(source, sink, options)
    _check_paths("create_only()", source, sink)
    chain = chain if isinstance(chain, Chain) else Chain(chain)
    settings = _options.settings_of(_CREATE_OPTIONS, _inputs.with_resolved_region(source, options, chain))
    part_count = []
    _inputs.warn(
        _sepconv.create_parts(
            source,
            sink,
            chain._native,
            settings,
            _options.flag("discard", discard),
            _options.MOST,
            part_count,
        )
    )
    return part_count[0]


def finish(sink):
    """Completes a result that was created by `create_only` and computed by ``run(..., part=)``, as by
    ``sepconv finish``.

    Checks that all parts are complete, and gives the result its name. Can be interrupted, killed, and
    repeated.

    Parameters
    ----------
    sink : path

    Raises
    ------
    OSError
        if parts are missing (errno.ENODATA, with their names), or if the result cannot be renamed; computed
        parts are kept
    ValueError
        if the source has changed

    Warns
    -----
    FileWarning
        for metadata that the result loses
    """
    if not _options.is_path(sink):
        raise TypeError(f"{sink!r} is not a path; only files are made in parts")
    _inputs.warn(_sepconv.finish_parts(_options.path(sink), ""))
