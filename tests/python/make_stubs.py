"""Writes what mypy knows of functions that are made at run time, or whose results are of their input's library: `python tests/python/make_stubs.py`,
with the package that has them in the path. test_types.py says when that is due."""

import inspect
import pathlib

from sepconv import _stages, ndimage

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "python" / "sepconv"
NOTE = "# Made by tests/python/make_stubs.py.\n"

TYPES = {
    "sigma": "float | Sequence[float]", "order": "int | Sequence[int]", "mode": "str | Sequence[str]", "cval": "complex", "truncate": "float",
    "radius": "int | Sequence[int] | None", "axes": "int | Sequence[int] | None", "threads": "int", "stream": "int | HasStream | None", "axis": "int",
    "size": "int | Sequence[int]", "origin": "int | Sequence[int]", "weights": "ArrayLike", "derivative": "Callable[..., Any]",
    "derivative2": "Callable[..., Any]", "extra_arguments": "tuple[Any, ...]", "extra_keywords": "dict[str, Any] | None", "kwargs": "Any",
}
OF_ONE_AXIS = {"sigma": "float", "order": "int", "mode": "str", "radius": "int | None", "size": "int", "origin": "int"}


def parameters(signature, types):
    """As they stand in a stub: defaults are `...`."""
    words, starred = [], False
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        name = "**" + one.name if one.kind is one.VAR_KEYWORD else one.name
        words.append(f"{name}: {types[one.name]}" + ("" if one.default is one.empty else " = ..."))
    return ", ".join(words)


def stages():
    lines = [NOTE + "from collections.abc import Sequence", "from os import PathLike", "", "from sepconv._chain import Chain", "",
             "__all__ = [" + ", ".join(f'"{name}"' for name in _stages.__all__) + "]", ""]
    for name in _stages.__all__:
        signature = inspect.signature(getattr(_stages, name))
        lines.append(f"def {name}({parameters(signature, {key: one.annotation for key, one in signature.parameters.items()})}) -> Chain: ...")
    return "\n".join(lines) + "\n"


def functions():
    lines = [NOTE + "from collections.abc import Callable, Sequence", "from typing import Any, overload", "", "from numpy.typing import ArrayLike, DTypeLike, NDArray", "",
             "from sepconv._chain import GpuArray, HasStream", "", "__all__ = [" + ", ".join(f'"{name}"' for name in ndimage.__all__) + "]", ""]
    for name in ndimage.__all__:
        signature = inspect.signature(getattr(ndimage, name))
        types = dict(TYPES, **(OF_ONE_AXIS if name.endswith("1d") else {}))
        for array, output, result in (("ArrayLike", "NDArray[Any] | DTypeLike | None", "NDArray[Any]"), ("GpuArray", "GpuArray | DTypeLike | None", "GpuArray")):
            lines += ["@overload", f"def {name}({parameters(signature, dict(types, input=array, output=output))}) -> {result}: ..."]
    return "\n".join(lines) + "\n"


def stubs():
    return {"_stages.pyi": stages(), "ndimage.pyi": functions()}


if __name__ == "__main__":
    for file, text in stubs().items():
        (FOLDER / file).write_text(text)
