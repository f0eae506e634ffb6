"""Cases of transpositions in the form TYPE:SHAPE:AXES, with the axes of numpy.transpose. Needs only the
standard library."""

import argparse
import dataclasses

TYPES = ("u8", "u16", "f32", "f64")


@dataclasses.dataclass(frozen=True)
class PermuteCase:
    type: str
    shape: tuple
    axes: tuple

    def __str__(self):
        return f"{self.type} {'x'.join(map(str, self.shape))} ({','.join(map(str, self.axes))})"

    @property
    def three_axes(self):
        """Shape and axes extended to three axes, as the library's functions need them."""
        return (*self.shape, 1)[:3], (*self.axes, 2)[:3]


def parse_case(text):
    try:
        kind, shape, axes = text.split(":")
        case = PermuteCase(kind, tuple(map(int, shape.split("x"))), tuple(map(int, axes.split(","))))
        axes_fit = len(case.shape) in (2, 3) and sorted(case.axes) == list(range(len(case.shape)))
        if kind in TYPES and axes_fit and min(case.shape) > 0:
            return case
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text} is not TYPE:SHAPE:AXES, such as u8:4096x4096x3:2,0,1")
