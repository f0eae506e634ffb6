"""Chains of stages that are called on arrays."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload

from numpy.typing import ArrayLike, NDArray

from sepconv import _arrays, _options, _sepconv


class OnGpu(Protocol):
    """An array on a GPU."""

    def __dlpack_device__(self) -> tuple[Any, Any]: ...


class HasStream(Protocol):
    """A stream object of another library."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


GpuArray = TypeVar("GpuArray", bound=OnGpu)


class Chain:
    """Stages applied one after another, in one pass.

    Each stage sees its own input extended by its own border; values stay in the arithmetic type (f32, or f64
    where the input, the result or a ``cast`` is f64) from stage to stage and are rounded once, at the end.
    Immutable; equal chains are equal and have one hash, and a chain can be pickled.

    Parameters
    ----------
    stages : str or iterable of str
        As the program ``sepconv run`` takes them, or several joined by ``|``: ``"gaussian:sigma=2.5 | abs"``.
        None is the chain that copies. Brackets group the keys of one stage: ``"subtract:chain=[box:radius=9 |
        abs]"``.

    Raises
    ------
    ValueError
        for an invalid stage, key or value

    Examples
    --------
    >>> import sepconv as sc
    >>> sc.Chain("gaussian:sigma=2 | abs") == sc.gaussian(2) | sc.abs()
    True
    >>> sc.Chain(["scale:factor=2", "abs"])
    Chain('scale:factor=2,offset=0 | abs')
    """

    __slots__ = ("_native", "_texts")

    def __init__(self, stages: str | Iterable[str] = ()) -> None:
        if isinstance(stages, str):
            stages = _sepconv.split_chain(_options.encodable(stages))
        texts = list(stages)
        if not all(isinstance(text, str) for text in texts):
            raise TypeError(
                f"a chain is made of texts, such as 'gaussian:sigma=2 | abs' or ['scale:factor=2', 'abs'], and not of {stages!r}"
            )
        self._native = _sepconv.parse([_options.encodable(text) for text in texts])
        self._texts = tuple(self._native.texts)

    @classmethod
    def _of(cls, native: Any) -> "Chain":
        chain = cls.__new__(cls)
        chain._native = native
        chain._texts = tuple(native.texts)
        return chain

    def _transposed(self) -> "Chain | None":
        """The chain that gives the same bits on a transposed image, or None."""
        native = self._native.turned
        return None if native is None else Chain._of(native)

    def __or__(self, other: "Chain") -> "Chain":
        return Chain._of(self._native | other._native) if isinstance(other, Chain) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self._texts == other._texts if isinstance(other, Chain) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __reduce__(self) -> tuple[Any, ...]:
        if any(_sepconv.in_memory in text for text in self._texts):
            raise TypeError(
                "a chain with an array beside the image cannot be pickled; give the stage a file of it"
            )
        return Chain._unpickled, (self._with_absolute_paths(),)

    @classmethod
    def _unpickled(cls, texts: tuple[str, ...]) -> "Chain":
        """Files that the chain names are read on first use: a process that cannot see them reports it when it
        computes."""
        chain = cls.__new__(cls)
        chain._texts = texts
        return chain

    if not TYPE_CHECKING:  # type checkers would accept any name

        def __getattr__(self, name):
            if name != "_native":
                raise AttributeError(f"a Chain has no {name!r}")
            self._native = _sepconv.parse([_options.encodable(text) for text in self._texts])
            return self._native

    def _with_absolute_paths(self) -> tuple[str, ...]:
        """The stage texts with absolute paths."""
        return tuple(map(_sepconv.with_absolute_paths, self._texts))

    def __str__(self) -> str:
        return " | ".join(self._texts)

    def __repr__(self) -> str:
        return f"Chain({str(self)!r})"

    @overload
    def __call__(
        self,
        array: ArrayLike,
        out: NDArray[Any] | None = None,
        *,
        axes: str | None = None,
        arithmetic: Literal["f32", "f64"] | None = None,
        threads: int = 0,
        stream: None = None,
    ) -> NDArray[Any]: ...
    @overload
    def __call__(
        self,
        array: GpuArray,
        out: GpuArray | None = None,
        *,
        axes: str | None = None,
        arithmetic: Literal["f32", "f64"] | None = None,
        threads: int = 0,
        stream: int | HasStream | None = None,
    ) -> GpuArray: ...
    def __call__(
        self,
        array: Any,
        out: Any = None,
        *,
        axes: str | None = None,
        arithmetic: Literal["f32", "f64"] | None = None,
        threads: int = 0,
        stream: Any = None,
    ) -> Any:
        """Applies the chain to an array, or to each image of one.

        Parameters
        ----------
        array : array_like, or an array on a GPU
            rows x columns, rows x columns x channels (up to 4), or as `axes` says; any strides and byte
            order. u8, u16, i16, f32 and f64 are used directly; bool, other integers, f16 and complex numbers
            are computed in a wider type and converted back.
        out : ndarray, optional
            the output: of the result's shape and type, not overlapping `array`
        axes : str, optional
            a letter for each axis: ``y`` and ``x`` are an image's rows and columns, ``c`` its channels, every
            other letter counts images: ``"tzyx"``
        arithmetic : {'f32', 'f64'}, optional
            type in which values are computed; default: as described above
        threads : int
            maximum number of threads; 0: all processors that this process may use
        stream : int or object with ``__cuda_stream__``, optional
            for an array on a GPU (CuPy, PyTorch, JAX, or any with DLPack or ``__cuda_array_interface__``):
            the stream on which the work is enqueued; default: the current stream of its library. The call
            does not wait for it.

        Returns
        -------
        ndarray, or an array of the library of `array`
            `out`, or a new array

        Raises
        ------
        TypeError
            if `array` is not an array of numbers
        ValueError
            if the chain does not accept the shape or type, or if `out` does not fit, is read-only or overlaps
        MemoryError
            if memory is insufficient

        Examples
        --------
        >>> import numpy as np
        >>> import sepconv as sc
        >>> sc.box(1)(np.array([[0, 0, 0], [0, 9, 0], [0, 0, 0]], np.uint8), axes="yx").tolist()
        [[4, 2, 4], [2, 1, 2], [4, 2, 4]]
        """
        return _arrays.apply(self, array, out, axes, arithmetic, threads, stream)
