"""From file to file by the workers of a cluster: a task makes a part of the result, and no pixel goes from worker to worker."""

import os
import threading
import time
from importlib.metadata import version
from typing import NamedTuple

from sepconv import _dask_parts, _opening, _options, files
from sepconv._chain import Chain
from sepconv._progress import shown

_LEFT_OUT = ("plan", "region", "cog", "big_tiff", "planar", "no_predictor")
_TAKEN = {name: option for name, option in _options.RUN.items() if name not in _LEFT_OUT}
_PARTS_OF_WORKER = 8  # so that workers are done at about one time, and little is done again
_turn = threading.Lock()  # a part has all of its worker's threads and memory


class Made(NamedTuple):
    """What `run` has done: parts, seconds, and how many parts each worker has made."""

    parts: int
    wall_seconds: float
    workers: dict


def _made(job, result, part, of_version):
    """In a worker."""
    from distributed import get_worker

    if version("sepconv") != of_version:
        raise RuntimeError(f"the worker has sepconv {version('sepconv')}, and the client {of_version}; install one version everywhere")
    worker = get_worker()
    options = dict(job.options)
    options.setdefault("threads", worker.state.nthreads)
    limit = getattr(getattr(worker, "memory_manager", None), "memory_limit", None)
    if limit:
        options.setdefault("max_memory", limit // 4)
    own = _dask_parts.Job(job.source, job.chain, options, job.stamp, job.folder)
    with _turn:
        own.check()
        files_of, said = result.make(own, part)
        own.check()
    return worker.address, files_of, said


def _client(client):
    import distributed

    if client is None:
        try:
            client = distributed.get_client()
        except ValueError:
            raise ValueError("there is no client of a cluster; start one, distributed.Client(), or give client=") from None
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise TypeError(f"client={client!r} is no distributed.Client, or an asynchronous one; give one that waits")
    return client


def _paths(source, sink, options):
    source, options = _opening.source_of(source, options) if _options.is_path(source) or isinstance(source, _opening.OpenedFile) else (None, options)
    if source is None or not _options.is_path(sink):
        raise TypeError("workers open source and sink by themselves: give paths; dask arrays go through sepconv.dask.apply")
    return os.path.abspath(source), os.path.abspath(_options.path(sink)).rstrip("/"), options


def _make_all(client, job, result, parts, told):
    """Parts of a worker that was lost are made again, by Dask."""
    from distributed import as_completed

    pixels = [(part.rows[1] - part.rows[0]) * (part.cols[1] - part.cols[0]) * (part.images[1] - part.images[0] if part.images else 1) for part in parts]
    futures = client.map(_made, [job] * len(parts), [result] * len(parts), parts, [version("sepconv")] * len(parts), pure=False, key="sepconv-part")
    size, done, workers, made, said = dict(zip((one.key for one in futures), pixels)), 0, {}, [], {}
    try:
        if told:
            told(0, sum(pixels))
        for future in as_completed(futures):
            address, files_of, sentences = future.result()
            workers[address] = workers.get(address, 0) + 1
            made.append(files_of)
            said.update(dict.fromkeys(sentences))
            done += size[future.key]
            if told:
                told(done, sum(pixels))
    except BaseException:
        client.cancel(futures, force=True)
        raise
    return workers, made, list(said)


@_options.declared(_TAKEN)
def run(source, sink, chain=(), *, client=None, parts=None, progress=True, **options):
    """Filters an image, or all images of a file, by the workers of a cluster: what `sepconv.run` makes, byte for byte.

    The result is cut into parts, whole chunks or shards of a Zarr or rows of an NPY or raw file, which no two share. Each is a task: it reads its part of the
    source and what the chain needs around it, and writes its part of the result, both by their paths, which every worker has to see. A worker makes one part at
    a time, with all its threads, within `max_memory`, and on its GPU where `device` says so or 'auto' finds that faster. Dask gives the parts of a worker that
    was lost to others. Until it is complete the result lies in the folder ``SINK.parts``; where a run fails it goes.

    Parameters
    ----------
    source : path or Image
    sink : path
        that ends in ``.zarr``, ``.npy`` or ``.raw``
    chain : Chain, str or iterable of str
    client : distributed.Client, optional
        left out: the current one
    parts : int, optional
        about so many; left out: 8 a worker
    progress : bool or callable
        as that of `sepconv.run`; it is told of whole parts
    max_memory : int or str, optional
        of each worker; left out: a quarter of what Dask lets it have
    threads : int, optional
        of each worker; left out: as many as Dask gives it
    **options
        as those of `sepconv.run`. Smaller levels are not made

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
    chain = chain if isinstance(chain, Chain) else Chain(chain)
    if options.get("pyramid"):
        raise ValueError("smaller levels are not made in parts; leave pyramid out, and make them of the result with sepconv.run")
    _options.settings_of(_TAKEN, options)
    client = _client(client)
    workers = client.nthreads()
    if not workers:
        raise ValueError("the cluster has no workers; start some, or wait for them (client.wait_for_workers(1))")
    wanted = _PARTS_OF_WORKER * len(workers) if parts is None else _options.whole(1)("parts", parts)
    options = {name: value for name, value in options.items() if value is not None} | ({"pyramid": False} if sink.endswith(".zarr") else {})
    threads = options.get("threads") or min(workers.values())
    planned = files.plan(source, sink, chain, **{**options, "device": "cpu", "threads": threads})  # and says what the result will not have
    plan = planned.to_dict()
    overwrite = options.pop("overwrite", False)
    _dask_parts.check_free(sink, overwrite)
    folder = sink + ".parts"
    try:
        os.mkdir(folder)
    except FileExistsError:
        raise FileExistsError(f"{folder} is there already: another run makes this result, or one was killed; remove the folder if none does") from None
    try:
        job = _dask_parts.Job(source, chain, options, _dask_parts.stamp_of(source), folder)
        result = _dask_parts.begin(job, plan, sink)
        spec = plan["specs"][-1]
        all_parts = _dask_parts.parts_of((spec["rows"], spec["cols"]), result.blocks, result.images, wanted)
        with shown(progress) as told:
            by_worker, made, said = _make_all(client, job, result, all_parts, told)
        result.check(made)
        _dask_parts.check_free(sink, overwrite)
        _dask_parts.give_name(result.place, sink)
    finally:
        _dask_parts.remove(folder)
    _opening.warn([one for one in said if one not in planned.warnings])
    return Made(len(all_parts), time.perf_counter() - began, by_worker)
