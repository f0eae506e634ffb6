# Made by tests/python/make_stubs.py.
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any, NamedTuple, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sepconv._chain import Chain

__all__ = ["ChannelStats", "Comparison", "Difference", "FileWarning", "Image", "Plan", "Report", "Span", "Stats", "compare", "gemm", "open", "plan", "run", "stats", "transpose"]

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

class Span(NamedTuple):
    step: str
    band: int
    begin: float
    end: float
    bytes: int

class ChannelStats(NamedTuple):
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
    images: list[list[ChannelStats]]
    @property
    def channels(self) -> list[ChannelStats]: ...

class Difference(NamedTuple):
    row: int
    col: int
    channel: int
    a: float
    b: float

class Comparison(NamedTuple):
    equal: bool
    elements: int
    different: int
    max_difference: float
    mean_difference: float
    psnr_db: float
    first: Difference | None
    first_image: int | None

class Plan:
    text: str
    description: str
    warnings: list[str]
    notes: list[str]
    def __init__(self, text: str, description: str = ..., warnings: Iterable[str] = ..., notes: Iterable[str] = ...) -> None: ...
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
    def __array__(self, dtype: DTypeLike | None = ..., copy: bool | None = ...) -> NDArray[Any]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Image: ...
    def __exit__(self, *_: object) -> None: ...

def run(source: Source, sink: Sink, chain: Chain | str | Iterable[str] = ..., *, progress: bool | Callable[[int, int], object] | None = ..., max_memory: int | str | None = ..., device: str = ..., max_device_memory: int | str | None = ..., threads: int = ..., slots: int = ..., band_rows: int = ..., band_cols: int = ..., arithmetic: str | None = ..., page: int | str | None = ..., level: int = ..., axes: str | None = ..., raw: str | None = ..., region: tuple[slice, slice] | str | None = ..., nodata: float | str | None = ..., result_nodata: float | None = ..., compress: str | None = ..., tile: int | tuple[int, int] | str | None = ..., planar: bool = ..., no_predictor: bool = ..., pyramid: bool | None = ..., cog: bool = ..., big_tiff: bool | None = ..., overwrite: bool = ..., durable: bool = ..., plan: Plan | str | None = ...) -> Report: ...
def plan(source: Source, sink: Sink, chain: Chain | str | Iterable[str] = ..., *, max_memory: int | str | None = ..., device: str = ..., max_device_memory: int | str | None = ..., threads: int = ..., slots: int = ..., band_rows: int = ..., band_cols: int = ..., arithmetic: str | None = ..., page: int | str | None = ..., level: int = ..., axes: str | None = ..., raw: str | None = ..., region: tuple[slice, slice] | str | None = ..., nodata: float | str | None = ..., result_nodata: float | None = ..., compress: str | None = ..., tile: int | tuple[int, int] | str | None = ..., planar: bool = ..., no_predictor: bool = ..., pyramid: bool | None = ..., cog: bool = ..., big_tiff: bool | None = ..., overwrite: bool = ..., durable: bool = ...) -> Plan: ...
@overload
def transpose() -> Chain: ...
@overload
def transpose(source: Source, sink: Sink, perm: Sequence[int] = ..., *, progress: bool | Callable[[int, int], object] | None = ..., max_memory: int | str | None = ..., device: str = ..., max_device_memory: int | str | None = ..., threads: int = ..., slots: int = ..., band_rows: int = ..., band_cols: int = ..., arithmetic: str | None = ..., page: int | str | None = ..., level: int = ..., axes: str | None = ..., raw: str | None = ..., compress: str | None = ..., tile: int | tuple[int, int] | str | None = ..., planar: bool = ..., no_predictor: bool = ..., pyramid: bool | None = ..., cog: bool = ..., big_tiff: bool | None = ..., overwrite: bool = ..., durable: bool = ...) -> Report: ...
@overload
def gemm(file: str | PathLike[str], *, side: str = ...) -> Chain: ...
@overload
def gemm(a: Source, b: Source, sink: Sink, *, alpha: float = ..., beta: float | None = ..., add: Source | None = ..., trans_a: bool = ..., trans_b: bool = ..., progress: bool | Callable[[int, int], object] | None = ..., max_memory: int | str | None = ..., device: str = ..., max_device_memory: int | str | None = ..., threads: int = ..., slots: int = ..., band_rows: int = ..., band_cols: int = ..., page: int | str | None = ..., level: int = ..., axes: str | None = ..., raw: str | None = ..., page_b: int | str | None = ..., level_b: int = ..., axes_b: str | None = ..., raw_b: str | None = ..., page_c: int | str | None = ..., level_c: int = ..., axes_c: str | None = ..., raw_c: str | None = ..., compress: str | None = ..., tile: int | tuple[int, int] | str | None = ..., planar: bool = ..., no_predictor: bool = ..., pyramid: bool | None = ..., cog: bool = ..., big_tiff: bool | None = ..., overwrite: bool = ..., durable: bool = ...) -> Report: ...
def open(path: Path, *, page: int | str | None = ..., level: int = ..., axes: str | None = ..., raw: str | None = ..., nodata: float | str | None = ...) -> Image: ...
def stats(source: Source, *, progress: bool | Callable[[int, int], object] | None = ..., max_memory: int | str | None = ..., device: str = ..., max_device_memory: int | str | None = ..., threads: int = ..., slots: int = ..., band_rows: int = ..., band_cols: int = ..., arithmetic: str | None = ..., page: int | str | None = ..., level: int = ..., axes: str | None = ..., raw: str | None = ..., nodata: float | str | None = ...) -> Stats: ...
def compare(a: Source, b: Source, *, tolerance: float = ..., progress: bool | Callable[[int, int], object] | None = ..., max_memory: int | str | None = ..., threads: int = ..., slots: int = ..., band_rows: int = ..., band_cols: int = ..., arithmetic: str | None = ..., page: int | str | None = ..., level: int = ..., axes: str | None = ..., raw: str | None = ..., page_b: int | str | None = ..., level_b: int = ..., axes_b: str | None = ..., raw_b: str | None = ..., nodata: float | str | None = ...) -> Comparison: ...
