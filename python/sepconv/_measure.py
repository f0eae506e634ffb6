"""Statistics of images and the differences of two, from files and from what is sliced."""

import html
from typing import NamedTuple

from sepconv import _sepconv
from sepconv._progress import of_part


class ChannelStats(NamedTuple):
    """Of one channel. Values that are no numbers and missing pixels are counted and left out of everything else."""

    count: int
    nan_count: int
    missing_count: int
    min: float
    max: float
    mean: float
    deviation: float
    histogram_low: float
    histogram_high: float
    histogram: list


class Stats:
    """Statistics of the images of a file; a table in a notebook.

    Attributes
    ----------
    images : list of list of ChannelStats
        of each image its channels
    channels : list of ChannelStats
        of the only image
    """

    def __init__(self, images):
        self.images = images

    @property
    def channels(self):
        if len(self.images) != 1:
            raise ValueError(f"there are {len(self.images)} images; take one of Stats.images")
        return self.images[0]

    def _rows(self):
        for place, channels in enumerate(self.images):
            for channel, stats in enumerate(channels):
                yield ([place] if len(self.images) > 1 else []) + [channel, *(stats[:3]), *(f"{value:.8g}" if stats.count else "-" for value in stats[3:7])]

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
    """An element that differs, and its values."""

    row: int
    col: int
    channel: int
    a: float
    b: float


class Comparison(NamedTuple):
    """How far two images are from each other, or all images of two files."""

    equal: bool  # within the tolerance
    elements: int
    different: int
    max_difference: float
    mean_difference: float
    psnr_db: float
    first: "Difference | None"  # in the order of rows
    first_image: "int | None"  # that it is of

    def __bool__(self):
        raise TypeError("a comparison is neither true nor false; ask for its .equal")


def stats_of(native, options, told):
    images, said = [], []
    for raster in range(native.count):
        channels, warnings = native.stats(raster, options, of_part(told, raster, native.count))
        images.append([ChannelStats(**one) for one in channels])
        said += [warning for warning in warnings if warning not in said]
    return Stats(images), said


def comparison_of(a, b, tolerance, options, told):
    images = [_sepconv.compare(a, b, raster, tolerance, options, of_part(told, raster, a.count)) for raster in range(a.count)]
    total = _sepconv.total_of(images)
    first_image = next((place for place, one in enumerate(images) if one.first), None)
    first = Difference(*total.first) if total.first else None
    made = Comparison(total.different == 0, total.elements, total.different, total.max_difference, total.mean_difference, total.psnr_db, first, first_image)
    return made, list(dict.fromkeys([*a.facts["warnings"], *b.facts["warnings"]]))
