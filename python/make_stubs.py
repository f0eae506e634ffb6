"""Writes the type stubs of functions that are created at run time, or whose results are of their input's
library: `make_stubs.py MODULE FOLDER`, where MODULE is the built extension module. The wheel's build calls
it."""

import importlib.metadata
import importlib.util
import inspect
import pathlib
import re
import sys

MODULE, FOLDER = map(pathlib.Path, sys.argv[1:])
# The package's sources are in one folder, and its extension module is still in another.
sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("sepconv._sepconv", MODULE)
sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules[spec.name])
importlib.metadata.version = lambda _: ""  # the wheel has no metadata yet

from sepconv import _options, _separable, _stages, dask, files, ndimage  # noqa: E402

NOTE = "# Made by make_stubs.py.\n"

TYPES = {
    "sigma": "float | Sequence[float]",
    "order": "int | Sequence[int]",
    "mode": "Mode | Sequence[Mode]",
    "cval": "complex",
    "truncate": "float",
    "radius": "int | Sequence[int] | None",
    "axes": "int | Sequence[int] | None",
    "threads": "int",
    "stream": "int | HasStream | None",
    "axis": "int",
    "footprint": "ArrayLike | None",
    "structure": "ArrayLike | None",
    "size": "int | Sequence[int]",
    "origin": "int | Sequence[int]",
    "weights": "ArrayLike",
    "derivative": "Callable[..., Any]",
    "derivative2": "Callable[..., Any]",
    "extra_arguments": "tuple[Any, ...]",
    "extra_keywords": "dict[str, Any] | None",
    "kwargs": "Any",
    "rank": "int",
    "percentile": "float",
}
MODE = f"Mode: TypeAlias = Literal[{', '.join(map(repr, _separable.BORDERS))}]"
SINGLE_AXIS_TYPES = {
    "sigma": "float",
    "order": "int",
    "mode": "Mode",
    "radius": "int | None",
    "size": "int",
    "origin": "int",
}


def parameters(signature, types):
    """The parameters of a stub, with their defaults."""
    texts, starred = [], False
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not starred:
            texts.append("*")
            starred = True
        name = "**" + one.name if one.kind is one.VAR_KEYWORD else one.name
        optional = " | None" if one.default is None and "None" not in types[one.name] else ""
        texts.append(
            f"{name}: {types[one.name]}{optional}"
            + ("" if one.default is one.empty else f" = {one.default!r}")
        )
    return ", ".join(texts)


def documented(line, documented_object):
    """The stub of a function or a class with its docstring, which editors show also for objects created at
    run time."""
    body = inspect.getdoc(documented_object).replace("\\", "\\\\").splitlines()
    words = "\n".join(["    " + item if item else "" for item in (f'"""{body[0]}', *body[1:])])
    return f"{line.removesuffix(' ...')}\n{words}" + ('"""' if len(body) == 1 else '\n    """')


def stage_stubs():
    lines = [
        NOTE + "from collections.abc import Sequence",
        "from os import PathLike",
        "from typing import Literal",
        "",
        "from numpy.typing import ArrayLike",
        "",
        "from sepconv._chain import Chain",
        "",
        "__all__ = [" + ", ".join(f'"{name}"' for name in _stages.__all__) + "]",
        "",
    ]
    for name in _stages._FUNCTIONS:
        stage = getattr(_stages, name)
        signature = inspect.signature(stage)
        lines.append(
            documented(
                f"def {name}({parameters(signature, {key: one.annotation for key, one in signature.parameters.items()})}) -> Chain: ...",
                stage,
            )
        )
    return "\n".join(lines) + "\n"


def ndimage_stubs():
    lines = [
        NOTE + "from collections.abc import Callable, Sequence",
        "from typing import Any, Literal, TypeAlias, overload",
        "",
        "from numpy.typing import ArrayLike, DTypeLike, NDArray",
        "",
        "from sepconv._chain import GpuArray, HasStream",
        "",
        "__all__ = [" + ", ".join(f'"{name}"' for name in ndimage.__all__) + "]",
        "",
        MODE,
        "",
    ]
    for name in ndimage.__all__:
        signature = inspect.signature(getattr(ndimage, name))
        types = dict(TYPES, **(SINGLE_AXIS_TYPES if name.endswith("1d") else {}))
        for array, output, result in (
            ("ArrayLike", "NDArray[Any] | DTypeLike | None", "NDArray[Any]"),
            ("GpuArray", "GpuArray | DTypeLike | None", "GpuArray"),
        ):
            lines += [
                "@overload",
                documented(
                    f"def {name}({parameters(signature, dict(types, input=array, output=output))}) -> {result}: ...",
                    getattr(ndimage, name),
                ),
            ]
    return "\n".join(lines) + "\n"


OPTIONS = {
    "max_memory": "int | str | None",
    "max_device_memory": "int | str | None",
    "device": "str",
    "arithmetic": "Literal['f32', 'f64'] | None",
    "page": "int | str | None",
    "axes": "str | None",
    "raw": "str | None",
    "missing_chunks": "Literal['error', 'fill'] | None",
    "region": "tuple[slice, slice] | str | None",
    "nodata": "float | str | None",
    "nodata_bands": "Literal['each', 'all']",
    "alpha": "Literal['weight', 'mask'] | None",
    "dst_nodata": "float | None",
    "tile": "int | tuple[int, int] | dict[str, int] | str | None",
    "shard": "int | tuple[int, int] | dict[str, int] | str | None",
    "zarr": "int | None",
    "pyramid": "bool | str | None",
    "bigtiff": "bool | None",
    "plan": "Plan | str | None",
    "level": "int",
    "threads": "int",
    "slots": "int",
    "band_rows": "int",
    "band_cols": "int",
    "orient": "bool",
    "to_8bit": "bool | tuple[float, float]",
}
for options in (_options.LAYOUT, _options.PICTURE):
    for name, (default, _) in options.items():
        OPTIONS.setdefault(name, "str | None" if default is None else "bool")
OPTIONS.update({f"{name}_{letter}": OPTIONS[name] for letter in "bc" for name in _options.OPEN})
FILE_TYPES = dict(
    OPTIONS,
    source="Source",
    sink="Sink",
    a="Source",
    b="Source",
    c="Source | None",
    chain="Chain | str | Iterable[str]",
    progress="bool | Callable[[int, int], object] | None",
    perm="Sequence[int]",
    beta="float | None",
    trans_a="bool",
    trans_b="bool",
    path="Path",
    tolerance="float",
    size="int",
    resume="bool",
    discard="bool",
    part="tuple[int, int] | str | None",
)
RESULTS = {
    "run": "Report",
    "create_only": "int",
    "finish": "None",
    "plan": "Plan",
    "transpose": "Report",
    "gemm": "Report",
    "open": "Image",
    "stats": "Stats",
    "compare": "Comparison",
    "preview": "Preview",
}
CLASSES = """
Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]

class Sliceable(Protocol):
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...
    def __getitem__(self, key: Any, /) -> Any: ...

class Settable(Sliceable, Protocol):
    def __setitem__(self, key: Any, values: Any, /) -> None: ...

Source: TypeAlias = "Path | Image | Sliceable | ArrayLike"
Sink: TypeAlias = "Path | Settable | NDArray[Any]"

class FileWarning(UserWarning): ...

class Stats:
    images: list[list[ChannelStats]]
    @property
    def channels(self) -> list[ChannelStats]: ...

class Preview:
    pixels: NDArray[np.uint8]
    level: int
    scale: float
    notes: list[str]

class Plan:
    text: str
    description: str
    warnings: list[str]
    notes: list[str]
    def __init__(self, text: str, description: str = "", warnings: Iterable[str] = (), notes: Iterable[str] = ()) -> None: ...
    def to_dict(self) -> dict[str, Any]: ...

class Report:
    wall_seconds: float
    startup_seconds: float
    device: str
    bottleneck: str
    steps: list[dict[str, Any]]
    warnings: list[str]
    @property
    def plan(self) -> Plan | None: ...
    @property
    def timeline(self) -> list[Span]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def save_trace(self, path: str | PathLike[str]) -> None: ...

class Image:
    path: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    axes: tuple[str, ...]
    chunks: tuple[int, ...]
    metadata: dict[str, Any]
    layout: str
    warnings: list[str]
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any) -> NDArray[Any]: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Image: ...
    def __exit__(self, *_: object) -> None: ...
"""


def file_stubs():
    """Functions that are also stages have both signatures."""
    lines = [
        NOTE + "from collections.abc import Callable, Iterable, Sequence",
        "from os import PathLike",
        "from typing import Any, Literal, Protocol, TypeAlias, overload",
        "",
        "import numpy as np",
        "from numpy.typing import ArrayLike, DTypeLike, NDArray",
        "",
        "from sepconv._chain import Chain",
        "from sepconv._measure import ChannelStats, Comparison, Difference",
        "from sepconv._report import Span",
        "",
        "__all__ = [" + ", ".join(f'"{name}"' for name in files.__all__) + "]",
        re.sub(
            r"^class (\w+)(\(\w+\))?:( \.\.\.)?$",
            lambda match: (
                documented(match[0], vars(files)[match[1]]) if match[1] in files.__all__ else match[0]
            ),
            CLASSES,
            flags=re.MULTILINE,
        ),
    ]
    for name in RESULTS:
        function = getattr(files, name)
        stage = getattr(_stages, name, None)
        if stage is not None:
            signature = inspect.signature(stage)
            types = {key: item.annotation for key, item in signature.parameters.items()}
            lines += [
                "@overload",
                documented(f"def {name}({parameters(signature, types)}) -> Chain: ...", stage),
                "@overload",
            ]
        types = dict(FILE_TYPES, path="Path | Image", level="int | None") if name == "preview" else FILE_TYPES
        if name == "gemm":
            types = dict(FILE_TYPES, alpha="float")
        if name in ("create_only", "finish"):
            types = dict(FILE_TYPES, source="Path | Image", sink="Path")
        lines.append(
            documented(
                f"def {name}({parameters(inspect.signature(function), types)}) -> {RESULTS[name]}: ...",
                function,
            )
        )
    return "\n".join(lines) + "\n"


def dask_stubs():
    """The functions of `ndimage` for dask arrays, `apply` and `run`."""
    lines = [
        NOTE + "from collections.abc import Callable, Iterable, Sequence",
        "from os import PathLike",
        "from typing import Any, Literal, TypeAlias",
        "",
        "from dask.array import Array",
        "from distributed import Client",
        "from numpy.typing import ArrayLike, DTypeLike",
        "",
        "from sepconv._chain import Chain",
        "from sepconv._dask_run import Made",
        "from sepconv.files import Image",
        "",
        "__all__ = [" + ", ".join(f'"{name}"' for name in dask.__all__) + "]",
        "",
        "Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]",
        MODE,
    ]
    for name in dask.__all__[1:]:
        types = dict(
            TYPES,
            **(SINGLE_AXIS_TYPES if name.endswith("1d") else {}),
            input="Array",
            output="DTypeLike | None",
        )
        if name in ("apply", "run"):
            types = dict(
                FILE_TYPES,
                source="Path | Image",
                sink="Path",
                array="Array",
                client="Client | None",
                parts="int | None",
            )
        result = "Made" if name == "run" else "Array"
        lines.append(
            documented(
                f"def {name}({parameters(inspect.signature(getattr(dask, name)), types)}) -> {result}: ...",
                getattr(dask, name),
            )
        )
    return "\n".join(lines) + "\n"


FOLDER.mkdir(exist_ok=True)
for module, text in (
    ("_stages", stage_stubs()),
    ("ndimage", ndimage_stubs()),
    ("files", file_stubs()),
    ("dask", dask_stubs()),
):
    (FOLDER / f"{module}.pyi").write_text(text)
