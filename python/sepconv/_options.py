"""Options of functions on files, with the names of the program's options. Values are Python's or the
program's texts, and are converted for the extension module."""

import functools
import inspect
import math
import operator
import os
import re

from sepconv import _sepconv

MAX_BYTES = 1 << 62
MOST = (1 << 31) - 1  # limit of all counts


def _size(name, value):
    """A number of bytes from an int or a text like '2G', '256M' and '1.5GiB' in binary units."""
    found = re.fullmatch(r"\s*([0-9.]+(?:e[+-]?\d+)?)\s*([KMGT]?)(?:i?B)?\s*", str(value), re.IGNORECASE)
    try:
        bytes_ = float(found[1]) * 1024 ** ("KMGT".index(found[2].upper()) + 1 if found[2] else 0)
    except (TypeError, ValueError):
        bytes_ = math.nan
    if not 1 <= bytes_ <= MAX_BYTES:
        raise ValueError(
            f"{name}={value!r} is not a size from 1 byte to 4 EiB; write it like '256M', '1.5G' or 4 << 30"
        )
    return int(bytes_)


def whole(least):
    def convert(name, value):
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"{name}={value!r} is not a whole number") from None
        if not least <= number <= MOST:
            raise ValueError(f"{name}={value!r} is not a whole number from {least} to {MOST}")
        return number

    return convert


def flag(name, value):
    if value not in (True, False):
        raise TypeError(f"{name}={value!r} is neither True nor False")
    return bool(value)


def _pyramid(name, value):
    if value in ("nearest", "none"):
        return value
    return "auto" if flag(name, value) else "none"


def _yes_no(name, value):
    return "yes" if flag(name, value) else "no"


def _text(name, value):
    if not isinstance(value, str) or not value:
        raise TypeError(f"{name}={value!r} is not text")
    return encodable(value)


def arithmetic(name, value):
    if not isinstance(value, str) or value not in ("f32", "f64"):
        raise ValueError(f"{name}={value!r} is unknown; there are 'f32' and 'f64'")
    return value


def _number(name, value):
    return float(value)


def _tile(name, value):
    """N, rows and columns, 'ROWSxCOLS', or sizes by axis name, as {"z": 16} or 'z=16,512x512'. 0 means
    strips, or no shards."""
    if isinstance(value, dict) and value:
        value = ",".join(f"{axis}={whole(1)(f'{name}[{axis!r}]', size)}" for axis, size in value.items())
    if isinstance(value, str) and "=" in value:
        return value
    if isinstance(value, str) and re.fullmatch(r"\d+(x\d+)?", value):
        value = [int(side) for side in value.split("x")]
    sides = list(value) if isinstance(value, (tuple, list)) else [value]
    if len(sides) not in (1, 2) or isinstance(value, str):
        raise ValueError(
            f"{name}={value!r} is not a size; give 512, (512, 256) for rows and columns, or 0 for none"
        )
    rows, cols = (whole(0)(name, side) for side in (sides[0], sides[-1]))
    return str(rows) if rows == cols else f"{rows}x{cols}"


def _zarr(name, value):
    if value not in (2, 3):
        raise ValueError(f"{name}={value!r} is not a version of Zarr; there are 2 and 3")
    return str(value)


def _region(name, value):
    """A rectangle from slices of rows and columns, or 'COLSxROWS+COL+ROW'."""
    if isinstance(value, str):
        found = re.fullmatch(r"(\d+)x(\d+)\+(\d+)\+(\d+)", value)
        if found:
            cols, rows, col, row = map(int, found.groups())
            return tuple(whole(0)(name, number) for number in (row, col, rows, cols))
    elif (
        isinstance(value, tuple)
        and len(value) == 2
        and all(isinstance(axis_slice, slice) and axis_slice.step in (None, 1) for axis_slice in value)
    ):
        try:
            (row, row_end), (col, col_end) = (
                (operator.index(axis_slice.start or 0), operator.index(axis_slice.stop))
                for axis_slice in value
            )
            if 0 <= row < row_end and 0 <= col < col_end:
                return tuple(whole(0)(name, number) for number in (row, col, row_end - row, col_end - col))
        except TypeError:
            pass
    raise ValueError(
        f"{name}={value!r} is not a region; give np.s_[2048:2816, 4096:5120], rows then columns, or '1024x768+4096+2048'"
    )


def _raw(name, value):
    """A raw layout from 'COLSxROWS[xCHANNELS]:TYPE[:OFFSET]'."""
    found = re.fullmatch(r"(\d+)x(\d+)(?:x(\d+))?:(\w+?)(be)?(?::(\d+))?", str(value))
    if not found:
        raise ValueError(
            f"{name}={value!r} is not a raw layout; write COLSxROWS[xCHANNELS]:TYPE[:OFFSET] like '4096x2048x3:u16:512'"
        )
    cols, rows, channels, kind, big, offset = found.groups()
    return (
        *(whole(1)(name, int(one)) for one in (rows, cols, channels or 1)),
        kind,
        bool(big),
        min(int(offset or 0), MAX_BYTES),
    )


def _page(name, value):
    """A page from a number, or some images of a file from a text like '0-9' or 'c=1'."""
    text = str(value)
    return {"page": whole(0)(name, int(text))} if text.isdecimal() else {"select": _text(name, value)}


def _missing_chunks(name, value):
    if value not in ("error", "fill"):
        raise ValueError(f"{name}={value!r} is unknown; use 'error' or 'fill'")
    return value


def _device(name, value):
    if value == "auto":
        return {"choose_device": True}
    found = re.fullmatch(r"cpu|cuda(?::(\d+(?:,\d+)*))?", str(value))
    if not found:
        raise ValueError(
            f"{name}={value!r} is unknown; use 'auto', 'cpu', 'cuda', or GPUs by number like 'cuda:0,1'"
        )
    devices = [] if value == "cpu" else [whole(0)(name, int(one)) for one in (found[1] or "0").split(",")]
    if len(set(devices)) < len(devices):
        raise ValueError(f"{name}={value!r} names a GPU twice")
    return {"choose_device": False, "devices": devices}


def _nodata(name, value):
    return {"no_nodata": True} if isinstance(value, str) and value == "none" else {"nodata": float(value)}


def _nodata_bands(name, value):
    if value not in ("each", "all"):
        raise ValueError(f"{name}={value!r} is unknown; use 'each' or 'all'")
    return {"nodata_of_all": value == "all"}


def _to_8bit(name, value):
    """A bool, or the two values that become 0 and 255."""
    if isinstance(value, bool):
        return "auto"
    try:
        low, high = map(float, value)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}={value!r} is neither True nor the two values that become 0 and 255, like (0, 4095)"
        ) from None
    return f"{low!r}:{high!r}"


def _alpha(name, value):
    if value not in ("weight", "mask"):
        raise ValueError(f"{name}={value!r} is unknown; use 'weight' or 'mask'")
    return {name: value}


def _plan(name, value):
    return _text(name, getattr(value, "text", value))


#: Options to open a source. An Image keeps those with which it was opened.
OPEN = {
    "page": (None, _page),
    "level": (0, whole(0)),
    "axes": (None, _text),
    "raw": (None, _raw),
    "missing_chunks": (None, _missing_chunks),
}
MISSING = {"nodata": (None, _nodata), "nodata_bands": ("each", _nodata_bands)}
#: Options for missing pixels and alpha in chains.
PIXEL_HANDLING = {**MISSING, "alpha": (None, _alpha), "dst_nodata": (None, _number)}
LIMITS = {
    "max_memory": (None, _size),
    "device": ("auto", _device),
    "max_device_memory": (None, _size),
    "threads": (0, whole(0)),
    "slots": (0, whole(0)),
    "band_rows": (0, whole(0)),
    "band_cols": (0, whole(0)),
}
ARITHMETIC = {"arithmetic": (None, arithmetic)}
#: Defaults and converters of the options that are neither bool nor text.
_OUTPUT = {
    "tile": (None, _tile),
    "shard": (None, _tile),
    "zarr": (None, _zarr),
    "pyramid": (None, _pyramid),
    "bigtiff": (None, _yes_no),
    "to_8bit": (False, _to_8bit),
}


def _output_options(for_pictures):
    return {
        name: _OUTPUT.get(name, (False, flag) if is_flag else (None, _text))
        for name, is_flag, is_picture in _sepconv.output_options()
        if is_picture == for_pictures
    }


LAYOUT = _output_options(for_pictures=False)
PICTURE = {"orient": (False, flag), **_output_options(for_pictures=True)}
RUN = {
    **LIMITS,
    **ARITHMETIC,
    **OPEN,
    "region": (None, _region),
    **PIXEL_HANDLING,
    **LAYOUT,
    **PICTURE,
    "plan": (None, _plan),
}


#: Options that a plan fixes.
PLANNED = _sepconv.options_fixed_by_plan()


#: Option names of version 0.2 and their current names.
FORMER_NAMES = _sepconv.former_option_names()


def with_current_names(given, former_names):
    """Arguments under their current names. TypeError for one given under both names."""
    if repeated := [old for old, new in former_names.items() if old in given and new in given]:
        raise TypeError(f"{repeated[0]} is the former name of {former_names[repeated[0]]}; give one of them")
    return {former_names.get(name, name): value for name, value in given.items()}


def settings_of(table, given):
    """The dict for the extension module, without options at their default. TypeError for an unknown
    option."""
    for name in given:
        if name not in table:
            raise TypeError(f"there is no option {name!r}; the options are {', '.join(table)}")
    non_default = {name: value for name, value in given.items() if not _is_default(value, table[name][0])}
    again = [name for name in PLANNED if name in non_default] if "plan" in non_default else []
    if again:
        raise ValueError(f"{again[0]}= is already fixed by the plan; leave it out, or the plan")
    settings = {}
    for name, value in non_default.items():
        converted = table[name][1](name, value)
        settings.update(converted if isinstance(converted, dict) else {name: converted})
    return settings


def _is_default(value, default):
    return value is default or (
        type(value) is type(default) and isinstance(value, (str, int)) and value == default
    )


def declared(table):
    """Decorates a function with **options: its signature lists the options of `table`. Former names are
    accepted."""

    def decorate(function):
        explicit = [
            parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is not parameter.VAR_KEYWORD
        ]
        names = {parameter.name for parameter in explicit}
        former_names = {old: new for old, new in FORMER_NAMES.items() if new in names | table.keys()}
        from_table = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, (default, _) in table.items()
            if name not in names
        ]

        @functools.wraps(function)
        def with_names(*args, **options):
            return function(*args, **with_current_names(options, former_names))

        with_names.__signature__ = inspect.Signature([*explicit, *from_table])
        return with_names

    return decorate


def is_path(end):
    return isinstance(end, (str, bytes, os.PathLike))


def encodable(text):
    """`text`. ValueError for lone surrogates and NUL characters, which the extension module cannot
    represent."""
    text.encode()
    if "\0" in text:
        raise ValueError(f"{text!r} has a zero character; leave it out")
    return text


def path(end):
    """The path as text. ValueError for a NUL character."""
    name = os.fsdecode(os.fsencode(end))
    if "\0" in name:
        raise ValueError(f"{name!r} has a zero character, which no name of a file has; leave it out")
    return name
