"""Options of functions on files, with the names of the program's options. Values are Python's or the
program's texts. The extension module gets texts and bools."""

import functools
import inspect
import numbers
import operator
import os

from sepconv import _sepconv

MOST = (1 << 31) - 1  # limit of all counts


def _index(name, value):
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} is not a whole number") from None


def whole(least):
    def convert(name, value):
        number = _index(name, value)
        if not least <= number <= MOST:
            raise ValueError(f"{name}={value!r} is not a whole number from {least} to {MOST}")
        return number

    return convert


def flag(name, value):
    if value not in (True, False):
        raise TypeError(f"{name}={value!r} is neither True nor False")
    return bool(value)


def _integer(name, value):
    return str(_index(name, value))


def _number(name, value):
    return encodable(value) if isinstance(value, str) else repr(float(value))


def _text(name, value):
    is_number = isinstance(value, numbers.Number) and not isinstance(value, bool)
    if not is_number and not isinstance(value, str) or value == "":
        raise TypeError(f"{name}={value!r} is not text")
    return encodable(str(value))


def arithmetic(name, value):
    if not isinstance(value, str) or value not in ("f32", "f64"):
        raise ValueError(f"{name}={value!r} is unknown; there are 'f32' and 'f64'")
    return value


def _pyramid(name, value):
    if value in ("nearest", "none"):
        return value
    return "auto" if flag(name, value) else "none"


def _yes_no(name, value):
    return "yes" if flag(name, value) else "no"


def _tile(name, value):
    """N, rows and columns, 'ROWSxCOLS', or sizes by axis name, as {"z": 16} or 'z=16,512x512'. 0 means
    strips, or no shards."""
    if isinstance(value, dict) and value:
        value = ",".join(f"{axis}={whole(1)(f'{name}[{axis!r}]', size)}" for axis, size in value.items())
    if isinstance(value, str):
        return encodable(value)
    sides = list(value) if isinstance(value, (tuple, list)) else [value]
    if len(sides) not in (1, 2):
        raise ValueError(
            f"{name}={value!r} is not a size; give 512, (512, 256) for rows and columns, or 0 for none"
        )
    rows, cols = (whole(0)(name, side) for side in (sides[0], sides[-1]))
    return str(rows) if rows == cols else f"{rows}x{cols}"


def _region(name, value):
    """A rectangle from slices of rows and columns, or 'COLSxROWS+COL+ROW'."""
    if isinstance(value, str):
        return encodable(value)
    try:
        rows, cols = value
        row, row_end = operator.index(rows.start or 0), operator.index(rows.stop)
        col, col_end = operator.index(cols.start or 0), operator.index(cols.stop)
    except (AttributeError, TypeError, ValueError):
        row, row_end = 0, 0
    if (
        not 0 <= row < row_end
        or not 0 <= col < col_end
        or rows.step not in (None, 1)
        or cols.step not in (None, 1)
    ):
        raise ValueError(
            f"{name}={value!r} is not a region; give np.s_[2048:2816, 4096:5120], rows then columns, or '1024x768+4096+2048'"
        )
    return f"{col_end - col}x{row_end - row}+{col}+{row}"


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


def _plan(name, value):
    text = getattr(value, "text", value)
    if not isinstance(text, str):
        raise TypeError(f"{name}={value!r} is not text")
    return _text(name, text)


#: Defaults, and converters to text, by kind of value.
_KINDS = {"flag": (False, flag), "integer": (0, _integer), "number": (None, _number), "text": (None, _text)}
#: The same of options whose values in Python are of several types, or that have another default.
_VALUES = {
    "device": ("auto", _text),
    "nodata_bands": ("each", _text),
    "region": (None, _region),
    "tile": (None, _tile),
    "shard": (None, _tile),
    "pyramid": (None, _pyramid),
    "bigtiff": (None, _yes_no),
    "to_8bit": (False, _to_8bit),
}


def _group(name):
    return {
        keyword: _VALUES.get(keyword, _KINDS[kind])
        for keyword, kind in _sepconv.options_by_group()[name].items()
    }


def _without(table, *names):
    return {name: entry for name, entry in table.items() if name not in names}


#: Options to open a source. An Image keeps those with which it was opened.
OPEN = _group("open")
#: Options for missing pixels and alpha in chains.
PIXEL_HANDLING = _group("missing")
MISSING = _without(PIXEL_HANDLING, "alpha", "dst_nodata")
LIMITS = _without(_group("plan"), "arithmetic", "region")
ARITHMETIC = {"arithmetic": (None, arithmetic)}
LAYOUT = _group("layout")
PICTURE = _group("picture")
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
        settings[name] = table[name][1](name, value)
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
