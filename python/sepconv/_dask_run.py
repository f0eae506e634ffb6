"""From file to file by the workers of a cluster: a task makes a part of the result, and no pixel goes from
worker to worker."""

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
_PARTS_PER_WORKER = 8  # so that workers are done at about one time, and little is done again
_MIN_BAND_ROWS = 256  # of a band: lower ones would mostly read and compute what others do, too
_turn = threading.Lock()  # a part has all of its worker's threads and memory


class Made(NamedTuple):
    """What `run` has done: parts, seconds, and how many parts each worker has made."""

    parts: int
    wall_seconds: float
    workers: dict


class _PartCancelled(Exception):
    pass


def _run_part(result, part, options, of_version):
    """In a worker. A part that is wanted no more ends with the band at hand, so that what runs holds nobody
    up."""
    from distributed import get_worker

    if version("sepconv") != of_version:
        raise RuntimeError(
            f"the worker has sepconv {version('sepconv')}, and the client {of_version}; install one version everywhere"
        )
    worker = get_worker()
    key = worker.get_current_task()

    def go_on():
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise _PartCancelled("the part is wanted no more")

    with _turn:
        go_on()
        try:
            return worker.address, result.run_part(part, {"threads": worker.state.nthreads, **options}, go_on)
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
    """By built-in functions: a worker without the package ends with the first of its functions that it is
    sent, and Dask sends that to the next one."""
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


def _make_all(client, result, options, pixels, told):
    """Parts of a worker that was lost are made again, by Dask."""
    from distributed import as_completed

    count = len(result.parts)
    futures = client.map(
        _run_part,
        *zip(*((result, part, options, version("sepconv")) for part in result.parts)),
        pure=False,
        key="sepconv-part",
    )
    workers, said = {}, {}
    try:
        if told:
            told(0, pixels)
        for future in as_completed(futures):
            address, sentences = future.result()
            workers[address] = workers.get(address, 0) + 1
            said.update(dict.fromkeys(sentences))
            if told:
                told(pixels * sum(workers.values()) // count, pixels)
    except BaseException:
        with contextlib.suppress(Exception):  # of a client that was closed, which has given them up
            client.cancel(futures, force=True)
        raise
    return workers, list(said)


def _limits(client):
    """How many workers there are, the threads of the one that has fewest, and a quarter of the least memory
    that Dask lets one have; None: of what is free."""
    workers = client.sync(client.scheduler.identity)[
        "workers"
    ].values()  # asked of the scheduler: what the client remembers names no workers at times
    if not workers:
        raise ValueError(
            "the cluster has no workers; start some, or wait for them (client.wait_for_workers(1))"
        )
    memory = [one.get("memory_limit") for one in workers]
    return len(workers), min(one["nthreads"] for one in workers), min(memory) // 4 if all(memory) else None


def _finish(result):
    """What is made is worth more than a folder that is gone: where it is the disk or the memory that refused,
    another try may do."""
    try:
        result.finish()
    except (OSError, MemoryError, KeyboardInterrupt) as error:
        if (
            getattr(error, "errno", None) == errno.ENODATA
        ):  # of a part there is not what it made: no try will do
            result.discard()
            raise
        if result.exists():
            _inputs.warn(
                [
                    f"all parts are made and stay in {result.folder}: the command sepconv finish {result.sink} completes the result"
                ]
            )
        raise
    except ValueError:  # the source is another now
        result.discard()
        raise


@_options.declared(_RUN_OPTIONS)
def run(source, sink, chain=(), *, client=None, parts=None, discard=False, progress=True, **options):
    """Filters an image, or all images of a file, by the workers of a cluster: what `sepconv.run` makes, byte
    for byte.

    The result is cut into parts that share no chunk, shard, tile or row. Each is a task: it reads its part of
    the source and what the chain needs around it, and writes its part of the result, both by their paths,
    which every worker has to see. A worker makes one part at a time, with all its threads, within
    `max_memory`, and on its GPU where `device` says so or 'auto' finds that faster. Dask gives the parts of a
    worker that was lost to others. Until it is complete the result lies in the folder ``SINK.partial``; where
    a part fails it goes, and where all are made and only the last step fails it stays.

    Parameters
    ----------
    source : path or Image
    sink : path
        a TIFF, Zarr, NPY or raw file
    chain : Chain, str or iterable of str
    client : distributed.Client, optional
        left out: the current one
    parts : int, optional
        maximum number of parts; left out: 8 a worker
    discard : bool
        remove an unfinished result, as of a client that was killed, and start over
    progress : bool or callable
        as that of `sepconv.run`; it is told of whole parts
    max_memory : int or str, optional
        of each worker; left out: a quarter of what Dask lets the smallest have
    threads : int, optional
        of each worker; left out: as many as Dask gives it
    **options
        as those of `sepconv.run`

    Returns
    -------
    Made
        with `parts`, `wall_seconds`, and how many parts each of the `workers` has made

    Raises
    ------
    TypeError, ValueError, OSError, MemoryError
        as `sepconv.run`, and for a sink that is not made in parts
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
    planned = files.plan(source, sink, chain, **planning)  # and says what the result will not have
    plan, spec = planned.to_dict(), planned.to_dict()["specs"][-1]
    images = math.prod(axis["size"] for axis in plan["axes"])
    if plan["bands"] * images < wanted:
        planning.setdefault("band_rows", max(spec["rows"] * images // wanted, 1 if parts else _MIN_BAND_ROWS))
    result = Result(source, sink, chain, options)
    try:
        result.begin(planning, wanted, _options.flag("discard", discard))
        with shown(progress) as told:
            by_worker, said = _make_all(client, result, options, images * spec["rows"] * spec["cols"], told)
    except BaseException:
        result.discard()
        raise
    _finish(result)
    _inputs.warn([one for one in said if one not in planned.warnings])
    return Made(len(result.parts), time.perf_counter() - began, by_worker)
