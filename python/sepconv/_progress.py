"""How far a run is: by tqdm where it is installed, or to a function of the caller's."""

import contextlib


def _bar():
    try:
        from tqdm import asyncio, auto
    except ImportError:
        return None
    # Its text on a terminal only, else it would fill a log; a notebook's widget says of no stream that it is
    # a terminal.
    in_notebook = auto.tqdm is not asyncio.tqdm
    return auto.tqdm(unit="pix", unit_scale=True, leave=False, disable=False if in_notebook else None)


@contextlib.contextmanager
def shown(progress):
    """What the extension module tells of pixels done, all pixels, and bytes read and written; or None."""
    if progress is None or progress is False:
        yield None
    elif callable(progress):
        yield lambda done, pixels, *_: progress(done, pixels)
    elif progress is not True:
        raise TypeError(
            f"progress={progress!r} is neither True, False nor a function of pixels done and pixels"
        )
    elif (bar := _bar()) is not None:
        with bar:
            yield lambda done, pixels, *_: (setattr(bar, "total", pixels), bar.update(done - bar.n))
    else:
        yield None


def part_progress(told, place, count):
    """Progress of the part at `place` of `count` equal parts, as progress of the whole."""
    return told and (lambda done, pixels, *others: told(place * pixels + done, count * pixels, *others))
