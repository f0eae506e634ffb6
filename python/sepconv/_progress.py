"""Progress of a run, displayed by tqdm if installed, or passed to a callback."""

import contextlib


def _bar():
    try:
        from tqdm import asyncio, auto
    except ImportError:
        return None
    # Text only on a terminal, because it would fill a log. A notebook's widget does not report a terminal.
    in_notebook = auto.tqdm is not asyncio.tqdm
    return auto.tqdm(unit="pix", unit_scale=True, leave=False, disable=False if in_notebook else None)


@contextlib.contextmanager
def shown(progress):
    """The callback for the extension module, called with pixels done, all pixels, and bytes read and written;
    or None."""
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


def part_progress(report, index, count):
    """Progress of part `place` of `count` equal parts, as progress of the whole."""
    return report and (lambda done, pixels, *others: report(index * pixels + done, count * pixels, *others))
