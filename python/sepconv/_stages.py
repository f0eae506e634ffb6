"""A function for each stage, generated from the keys that the library declares."""

import inspect
import keyword
import os

from sepconv import (
    _sepconv,
)  # imported first: it reports that a subinterpreter cannot import it; NumPy's message does not

import numpy as np

from sepconv import _arrays, _xarray_names, _options, _dtypes
from sepconv._chain import Chain

_ANNOTATIONS = {
    "number": "float",
    "integer": "int",
    "flag": "bool",
    "numbers": "Sequence[float]",
    "path": "str | PathLike[str]",
    "size": "tuple[int, int] | str",
    "image": "str | PathLike[str] | ArrayLike",
    "chain": "Chain | str",
    "text": "str | ArrayLike",  # rows of numbers, or a text
}
_VALUES = {"number": float, "integer": int, "flag": lambda text: text == "true", "choice": str}


def _text(kind, value):
    """The text of a value for the library, which reports invalid values."""
    if kind == "flag":
        return str(value).lower()
    if kind in ("path", "image"):
        return os.fsdecode(value)
    if kind == "chain":
        return value if isinstance(value, str) and value.startswith("[") else f"[{value}]"
    if isinstance(value, str):
        return str(value)
    if kind == "size":
        rows, cols = value
        return f"{cols}x{rows}"
    if kind == "text":  # rows of numbers
        return repr(np.asarray(value, float).tolist())
    if kind == "numbers":
        return ",".join(repr(float(number)) for number in value)
    return repr(float(value)) if kind == "number" else str(value)


def _pixels(array, axes):
    """An array as rows, columns and channels, with the images of a stack one below another, and the axes that
    count them. Copied only if the library cannot address it."""
    axes = _xarray_names.letters_of(array) if axes is None else axes
    pixels = np.asarray(array)
    _dtypes.check(pixels.dtype)
    if pixels.dtype.kind == "c":
        raise TypeError(
            "an array of complex numbers cannot stand beside an image; give its real or imaginary part"
        )
    if (pixels.ndim not in (2, 3) and axes is None) or 0 in pixels.shape:
        raise ValueError(
            f"an array of shape {pixels.shape} is not an image; give rows x columns, rows x columns x channels, or a stack with its axes="
        )
    others = []
    if axes is not None:
        names = _arrays.axis_letters(pixels.shape, axes)
        others = [(name, size) for name, size in zip(names, pixels.shape) if name not in "yxc"]
        image = _arrays.image_shape(names, pixels.shape)
        pixels = pixels.transpose(_arrays.image_axis_order(names)).reshape(-1, *image[1:])
    if _dtypes.native(pixels.dtype) not in _dtypes.PIXELS:
        pixels = _dtypes.widened(pixels)
    pixels = pixels.astype(_dtypes.native(pixels.dtype), copy=False)
    return _arrays.ready(pixels if pixels.ndim == 3 else pixels[..., None], 3), others


def _annotation(key):
    return (
        f"Literal[{', '.join(map(repr, key['choices']))}]"
        if key["type"] == "choice"
        else _ANNOTATIONS[key["type"]]
    )


def _parameter(key, first):
    is_positional = first or key["needed"] or key["name"] == "high"  # clamp(0, 200)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if is_positional else inspect.Parameter.KEYWORD_ONLY
    default = inspect.Parameter.empty
    if not key["needed"]:
        default = _VALUES[key["type"]](key["default"]) if key["default"] and key["type"] in _VALUES else None
    name = key["name"] + "_" * keyword.iskeyword(key["name"])
    annotation = _annotation(key) + (" | None" if default is None else "")
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _signature(keys):
    """A signature in which the first key and the required keys are also positional."""
    parameters = [_parameter(key, key is keys[0]) for key in keys]
    parameters.sort(key=lambda one: (one.kind, one.default is not inspect.Parameter.empty))
    return inspect.Signature(parameters, return_annotation=Chain)


def _literal(kind, text):
    """A text value as a Python literal."""
    if kind == "size":
        return "({1}, {0})".format(*text.split("x"))
    return {
        "numbers": f"[{text.replace(',', ', ')}]",
        "flag": text.capitalize(),
        "choice": repr(text),
        "path": repr(text),
        "chain": repr(text),
        "text": repr(text),
    }.get(kind, text)


def _example(stage):
    """The declared example as a doctest."""
    kinds, given = {key["name"]: key["type"] for key in stage["keys"]}, {}
    for token in filter(None, stage["example"].partition(":")[2].split(",")):
        key, equals, value = token.partition("=")
        if equals:
            last, given[key] = key, value
        else:
            given[last] += "," + token
    call = ", ".join(f"{key}={_literal(kinds[key], value)}" for key, value in given.items())
    skip = "  # doctest: +SKIP" if "path" in (kinds[key] for key in given) else "  # doctest: +ELLIPSIS"
    return [
        ">>> import sepconv as sc",
        f">>> sc.{stage['name']}({call}){skip}",
        f"Chain('{stage['name']}...')",
    ]


def _key_description(key):
    more = {
        "size": "; here (rows, cols), or such a text",
        "image": "; here an array of rows x columns, or rows x columns x channels, or with `axes` a stack, too, which is to stay as it is",
    }
    return f"    {key['help']}{more.get(key['type'], '')}"


def _docstring(stage, signature):
    lines = [stage["help"][:1].upper() + stage["help"][1:] + ".", ""]
    if stage["keys"]:
        by_name = {key["name"]: key for key in stage["keys"]}
        lines += ["Parameters", "----------"]
        for parameter in signature.parameters.values():
            lines += [
                f"{parameter.name} : {parameter.annotation}",
                _key_description(by_name[parameter.name.rstrip("_")]),
            ]
        lines.append("")
    lines += ["Returns", "-------", "Chain", "    of this one stage", ""]
    lines += [
        "Raises",
        "------",
        "ValueError",
        "    for values that cannot be",
        "",
        "Examples",
        "--------",
        *_example(stage),
        "",
    ]
    return "\n".join(lines)


def _function(stage):
    kinds = {key["name"]: key["type"] for key in stage["keys"]}
    former_names = {key["former_name"]: key["name"] for key in stage["keys"] if key["former_name"]}
    signature = _signature(stage["keys"])

    def make(*args, **kwargs):
        kwargs = _options.with_current_names(kwargs, former_names)
        given = {name.rstrip("_"): value for name, value in signature.bind(*args, **kwargs).arguments.items()}
        given = {name: value for name, value in given.items() if value is not None}
        images = [
            (name, *_pixels(given.pop(name), given.get("axes")))
            for name in list(given)
            if kinds[name] == "image" and not isinstance(given[name], (str, bytes, os.PathLike))
        ]
        pairs = [(name, _options.encodable(_text(kinds[name], value))) for name, value in given.items()]
        return Chain._of(_sepconv.make_stage(stage["name"], pairs, images))

    make.__name__ = make.__qualname__ = stage["name"]
    make.__module__ = "sepconv"
    make.__signature__ = signature
    make.__doc__ = _docstring(stage, signature)
    return make


_STAGES = _sepconv.stages()
_FUNCTIONS = {stage["name"]: _function(stage) for stage in _STAGES}
FORMER_NAMES = {stage["former_name"]: stage["name"] for stage in _STAGES if stage["former_name"]}
globals().update(_FUNCTIONS)
__all__ = list(_FUNCTIONS)
