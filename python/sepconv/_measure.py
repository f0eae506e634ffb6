"""Statistics of images and differences of two images, from files and sliceable objects."""

import html
from typing import NamedTuple

from sepconv import _inputs, _options, _sepconv
from sepconv._progress import part_progress, shown


class ChannelStats(NamedTuple):
    """Statistics of one channel. NaN and missing pixels are counted but excluded from all other values."""

    count: int
    nan_count: int
    missing_count: int
    min: float
    max: float
    mean: float
    deviation: float
    histogram_low: float
    histogram_high: float
    histogram: list[int]


class Stats:
    """Statistics of the images of a file; a table in a notebook.

    Attributes
    ----------
    images : list of list of ChannelStats
        the channels of each image
    channels : list of ChannelStats
        the channels, if there is one image

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> sc.stats(np.array([[[1, 2]], [[3, 5]]], np.uint8), axes="zyx", progress=False).images[1][0].mean
    4.0
    """

    def __init__(self, images):
        self.images = images

    @property
    def channels(self):
        if len(self.images) != 1:
            raise ValueError(f"there are {len(self.images)} images; take one of Stats.images")
        return self.images[0]

    def _rows(self):
        for image, channels in enumerate(self.images):
            for channel, stats in enumerate(channels):
                yield ([image] if len(self.images) > 1 else []) + [
                    channel,
                    *(stats[:3]),
                    *(f"{value:.8g}" if stats.count else "-" for value in stats[3:7]),
                ]

    def _names(self):
        return (["image"] if len(self.images) > 1 else []) + ["channel", *ChannelStats._fields[:7]]

    def __repr__(self):
        lines = [self._names(), *self._rows()]
        return "\n".join(" ".join(f"{value!s:>13}" for value in line) for line in lines)

    def _repr_html_(self):
        def line(values, tag):
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(value))}</{tag}>" for value in values) + "</tr>"

        return f"<table><thead>{line(self._names(), 'th')}</thead><tbody>{''.join(line(row, 'td') for row in self._rows())}</tbody></table>"


class Difference(NamedTuple):
    """An element that differs, and its two values."""

    row: int
    col: int
    channel: int
    a: float
    b: float


class Comparison(NamedTuple):
    """The differences of two images, or of all images of two files."""

    equal: bool  # within the tolerance
    elements: int
    different: int
    max_difference: float
    mean_difference: float
    psnr_db: float
    first: "Difference | None"  # in row-major order
    first_image: "int | None"  # the image that contains it

    def __bool__(self):
        raise TypeError("a comparison is neither true nor false; ask for its .equal")


def _stats_of(images, settings, report):
    result, messages = [], []
    for raster in range(images.count):
        channels, warnings = images.stats(raster, settings, part_progress(report, raster, images.count))
        result.append([ChannelStats(*values) for values in channels])
        messages += [warning for warning in warnings if warning not in messages]
    return Stats(result), messages


def _comparison_of(a, b, tolerance, settings, report):
    images = [
        _sepconv.compare(a, b, raster, tolerance, settings, part_progress(report, raster, a.count))
        for raster in range(a.count)
    ]
    total = _sepconv.total_of(images)
    first_image = next((index for index, image in enumerate(images) if image.first), None)
    first = Difference(*total.first) if total.first else None
    comparison = Comparison(
        total.different == 0,
        total.elements,
        total.different,
        total.max_difference,
        total.mean_difference,
        total.psnr_db,
        first,
        first_image,
    )
    return comparison, list(dict.fromkeys([*a.facts["warnings"], *b.facts["warnings"]]))


_HOST_LIMITS = {
    name: option for name, option in _options.LIMITS.items() if name not in ("device", "max_device_memory")
}
_STATS = {**_HOST_LIMITS, **_options.ARITHMETIC, **_options.OPEN, **_options.MISSING}


@_options.declared(_STATS)
def stats(source, *, progress=True, **options):
    """Minimum, maximum, mean, deviation and histogram of every channel, in one pass (two for floating-point
    types), as by ``sepconv stats``.

    Parameters
    ----------
    source : path, Image, array_like, or sliceable
    progress, **options
        as for `run`

    Returns
    -------
    Stats

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as for `run`

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> channel = sc.stats(np.array([[1, 2], [3, 6]], np.uint8), progress=False).channels[0]
    >>> channel.min, channel.max, channel.mean
    (1.0, 6.0, 3.0)
    """
    images, others = _inputs.open_set(source, options)
    settings = _options.settings_of(_STATS, others)
    with shown(progress) as report:
        result, messages = _stats_of(images, settings, report)
    _inputs.warn(messages)
    return result


_COMPARE = {
    **_HOST_LIMITS,
    **_options.ARITHMETIC,
    **_options.OPEN,
    **{name + "_b": option for name, option in _options.OPEN.items()},
    **_options.MISSING,
}


@_options.declared(_COMPARE)
def compare(a, b, *, tolerance=0.0, progress=True, **options):
    """Maximum and mean difference of two images, or of all images of two files, as by ``sepconv compare``.

    Parameters
    ----------
    a, b : path, Image, array_like, or sliceable
        of the same shape and type
    tolerance : float
        differences up to this value count as equal
    progress, **options
        as for `run`; `page_b`, `level_b`, `axes_b`, `raw_b` and `missing_chunks_b` apply to `b`

    Returns
    -------
    Comparison

    Raises
    ------
    OSError, ValueError, TypeError, MemoryError
        as for `run`; ValueError for images of different shapes or types

    Examples
    --------
    >>> import numpy as np
    >>> import sepconv as sc
    >>> made = sc.compare(np.array([[1.0, 2.0]]), np.array([[1.0, 2.5]]), progress=False)
    >>> made.equal, made.max_difference, made.first
    (False, 0.5, Difference(row=0, col=1, channel=0, a=2.0, b=2.5))
    """
    if not tolerance >= 0:
        raise ValueError(f"tolerance={tolerance!r} is not a number of at least 0")
    options_a = {name: value for name, value in options.items() if not name.endswith("_b")}
    options_b = {
        name: value for name, value in options.items() if name.endswith("_b") or name in _options.MISSING
    }
    (first, others), (second, _) = _inputs.open_set(a, options_a), _inputs.open_set(b, options_b, "_b")
    if first.count != second.count:
        raise ValueError(
            f"there are {first.count} images in the first and {second.count} in the second; compare as many"
        )
    settings = _options.settings_of(_COMPARE, others)
    with shown(progress) as report:
        comparison, messages = _comparison_of(first, second, float(tolerance), settings, report)
    _inputs.warn(messages)
    return comparison
