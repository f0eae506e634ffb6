"""Filters files on the workers of a cluster. Each task computes a part of the result; workers exchange no
pixels."""

import contextlib
import errno
import math
import os
import threading
import time
from importlib.metadata import version
from typing import NamedTuple

from sepconv import _inputs, _options, files
from sepconv._chain import Chain
from sepconv._dask_parts import Result
from sepconv._progress import shown

_RUN_OPTIONS = {name: option for name, option in _options.RUN.items() if name != "plan"}
# many parts per worker, so that all workers finish at about the same time and a lost part costs little
_PARTS_PER_WORKER = 8
_MIN_BAND_ROWS = 256  # bands of fewer rows mostly read and compute the halo
_worker_lock = threading.Lock()  # a part uses all threads and memory of its worker


class Made(NamedTuple):
    """The result of `run`: the number of parts, seconds, and parts per worker."""

    parts: int
    wall_seconds: float
    workers: dict[str, int]


class _PartCancelled(Exception):
    pass


def _run_part(result, part, options, client_version):
    """Computes a part on a worker. A cancelled part stops after the current band, so that it blocks no other
    task."""
    from distributed import get_worker

    if version("sepconv") != client_version:
        raise RuntimeError(
            f"the worker has sepconv {version('sepconv')}, and the client {client_version}; install one version everywhere"
        )
    worker = get_worker()
    key = worker.get_current_task()

    def check_cancelled():
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise _PartCancelled("the part was cancelled")

    with _worker_lock:
        check_cancelled()
        try:
            return worker.address, result.run_part(
                part, {"threads": worker.state.nthreads, **options}, check_cancelled
            )
        except FileNotFoundError as error:
            raise FileNotFoundError(f"{error} (on the worker {worker.address})") from None


def _client(client):
    import distributed

    if client is None:
        try:
            client = distributed.get_client()
        except ValueError:
            raise ValueError(
                "there is no client of a cluster; start one, distributed.Client(), or give client="
            ) from None
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise TypeError(
            f"client={client!r} is not a distributed.Client, or an asynchronous one; give one that waits"
        )
    if client.status == "closed":
        raise ValueError("the client is closed; start another, distributed.Client()")
    return client


def _check_workers(client):
    """Uses built-in functions only: a worker without the package would crash on the first function of
    sepconv, and Dask would then send it to the next worker."""
    for address, found in client.run(eval, "__import__('sepconv').__version__", on_error="return").items():
        if isinstance(found, Exception):
            raise RuntimeError(
                f"the worker {address} cannot import sepconv ({found}); install sepconv {version('sepconv')} where it runs"
            )


def _paths(source, sink, options):
    source, options = (
        _inputs.source_of(source, options)
        if _options.is_path(source) or isinstance(source, _inputs.OpenedFile)
        else (None, options)
    )
    if source is None or not _options.is_path(sink):
        raise TypeError(
            "workers open source and sink by themselves: give paths; dask arrays go through sepconv.dask.apply"
        )
    return os.path.abspath(source), os.path.abspath(_options.path(sink)).rstrip("/"), options


def _make_all(client, result, options, pixels, report):
    """Computes all parts. Dask recomputes the parts of a lost worker."""
    from distributed import as_completed

    count = len(result.parts)
    futures = client.map(
        _run_part,
        *zip(*((result, part, options, version("sepconv")) for part in result.parts)),
        pure=False,
        key="sepconv-part",
    )
    workers, warnings = {}, {}
    try:
        if report:
            report(0, pixels)
        for future in as_completed(futures):
            address, part_warnings = future.result()
            workers[address] = workers.get(address, 0) + 1
            warnings.update(dict.fromkeys(part_warnings))
            if report:
                report(pixels * sum(workers.values()) // count, pixels)
    except BaseException:
        with contextlib.suppress(Exception):  # a closed client has already cancelled them
            client.cancel(futures, force=True)
        raise
    return workers, list(warnings)


def _limits(client):
    """The number of workers, the minimum number of threads of a worker, and a quarter of the minimum memory
    limit; None if a worker has no limit."""
    workers = client.sync(client.scheduler.identity)[
        "workers"
    ].values()  # asked of the scheduler: the client's cached identity sometimes lacks the workers
    if not workers:
        raise ValueError(
            "the cluster has no workers; start some, or wait for them (client.wait_for_workers(1))"
        )
    memory = [worker.get("memory_limit") for worker in workers]
    return (
        len(workers),
        min(worker["nthreads"] for worker in workers),
        min(memory) // 4 if all(memory) else None,
    )


def _finish(result):
    """Completes the result. Computed parts are kept if the disk or the memory failed, because another attempt
    may succeed."""
    try:
        result.finish()
    except (OSError, MemoryError, KeyboardInterrupt) as error:
        if (
            getattr(error, "errno", None) == errno.ENODATA
        ):  # a part is incomplete or changed: a retry cannot succeed
            result.discard()
            raise
        if result.exists():
            _inputs.warn(
                [
                    f"all parts are made and stay in {result.folder}: the command sepconv finish {result.sink} completes the result"
                ]
            )
        raise
    except ValueError:  # the source has changed
        result.discard()
        raise


@_options.declared(_RUN_OPTIONS)
def run(source, sink, chain=(), *, client=None, parts=None, discard=False, progress=True, **options):
    """Filters an image, or all images of a file, on the workers of a cluster. The result is identical to that
    of `sepconv.run`.

    The result is divided into parts that share no chunk, shard, tile or row. Each part is a task: it reads
    its part of the source with the halo and writes its part of the result. Every worker must be able to
    access both paths. A worker computes one part at a time, with all its threads, within `max_memory`, and on
    its GPU if `device` names one or 'auto' finds it faster. Dask reassigns the parts of a lost worker. The
    unfinished result is in the folder ``SINK.partial``. It is removed if a part fails, and kept if only the
    last step fails.

    Parameters
    ----------
    source : path or Image
    sink : path
        a TIFF, Zarr, NPY or raw file
    chain : Chain, str or iterable of str
    client : distributed.Client, optional
        default: the current client
    parts : int, optional
        maximum number of parts; default: 8 per worker
    discard : bool
        remove an unfinished result, for example of a killed client, and start again
    progress : bool or callable
        as for `sepconv.run`; updated after each part
    max_memory : int or str, optional
        for each worker; default: a quarter of the minimum memory limit of Dask's workers
    threads : int, optional
        for each worker; default: the number that Dask assigns to it
    **options
        as for `sepconv.run`

    Returns
    -------
    Made
        with `parts`, `wall_seconds`, and in `workers` the number of parts of each worker

    Raises
    ------
    TypeError, ValueError, OSError, MemoryError
        as for `sepconv.run`, and if the format of `sink` cannot be written in parts
    """
    began = time.perf_counter()
    source, sink, options = _paths(source, sink, options)
    options = {name: value for name, value in options.items() if value is not None}
    chain = Chain((chain if isinstance(chain, Chain) else Chain(chain))._with_absolute_paths())
    options = _inputs.with_resolved_region(source, options, chain)
    _options.settings_of(_RUN_OPTIONS, options)
    client = _client(client)
    workers, threads, memory = _limits(client)
    _check_workers(client)
    if memory is not None:
        options.setdefault("max_memory", memory)
    planning = {"threads": threads, **options, "device": "cpu"}
    wanted = _PARTS_PER_WORKER * workers if parts is None else _options.whole(1)("parts", parts)
    planned = files.plan(source, sink, chain, **planning)  # also warns about what the result loses
    plan, spec = planned.to_dict(), planned.to_dict()["specs"][-1]
    images = math.prod(axis["size"] for axis in plan["axes"])
    if plan["bands"] * images < wanted:
        planning.setdefault("band_rows", max(spec["rows"] * images // wanted, 1 if parts else _MIN_BAND_ROWS))
    result = Result(source, sink, chain, options)
    try:
        result.begin(planning, wanted, _options.flag("discard", discard))
        with shown(progress) as report:
            parts_by_worker, warnings = _make_all(
                client, result, options, images * spec["rows"] * spec["cols"], report
            )
    except BaseException:
        result.discard()
        raise
    _finish(result)
    _inputs.warn([one for one in warnings if one not in planned.warnings])
    return Made(len(result.parts), time.perf_counter() - began, parts_by_worker)
