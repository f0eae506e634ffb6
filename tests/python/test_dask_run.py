"""Files filtered by the workers of a cluster, in real processes over TCP: identical to one run, also if
workers die."""

import contextlib
import fcntl
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import sepconv as sc

distributed = pytest.importorskip("distributed")

from sepconv._dask_parts import Result  # noqa: E402
from sepconv import dask as ours  # noqa: E402

BLUR = sc.gaussian(4, border="wrap")


def image(shape=(1300, 900), dtype="u2"):
    return (np.random.default_rng(5).random(shape) * 60000).astype(dtype)


def start_cluster(workers):
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0"
    )


@pytest.fixture(scope="module")
def client():
    with start_cluster(2) as cluster, distributed.Client(cluster) as client_:
        yield client_


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def created_result(source, sink, chain, options, planning, wanted):
    result = Result(str(source), str(sink), chain, options)
    result.begin(planning, wanted)
    return result


def file_contents(path):
    path = pathlib.Path(path)
    return (
        {
            str(path_.relative_to(path)): path_.read_bytes()
            for path_ in sorted(path.rglob("*"))
            if path_.is_file()
        }
        if path.is_dir()
        else path.read_bytes()
    )


def check(source, sink, chain, parts=12, **options):
    """Checks that the result is identical to that of one run, and that no other files remain."""
    report = ours.run(source, sink, chain, parts=parts, progress=False, **options)
    assert sum(report.workers.values()) == report.parts
    single_run = "alone-" + sink
    sc.run(source, single_run, chain, progress=False, **options)
    assert file_contents(sink) == file_contents(single_run)
    assert not pathlib.Path(sink + ".partial").exists()
    for path_ in (sink, single_run):
        shutil.rmtree(path_) if os.path.isdir(path_) else os.unlink(path_)
    return report


FILES = [
    ("out.npy", {}),
    ("out.raw", {}),
    ("out.zarr", dict(tile=128)),
    ("out.zarr", dict(tile=(64, 128), shard=(256, 384))),
    ("out.zarr", dict(zarr=2, tile=200, compress="zstd")),
    ("out.tif", {}),
    ("out.tif", dict(tile=128)),
    ("out.tif", dict(tile=128, compress="deflate")),
]


@pytest.mark.parametrize(
    "dtype, sink, options",
    [*(("u2", *one) for one in FILES), ("i4", *FILES[0]), ("i4", *FILES[2]), ("i4", *FILES[-1])],
)
def test_a_result_has_the_bytes_of_one_run(client, folder, sink, options, dtype):
    np.save("in.npy", image(dtype=dtype))
    assert check("in.npy", sink, BLUR, **options).parts > 3
    check("in.npy", sink, sc.reduce(3) | sc.gaussian(1), **options)


def test_a_client_that_remembers_no_workers(client, folder, monkeypatch):
    """A client sometimes refreshes its cached workers, without their names."""
    monkeypatch.setattr(type(client), "scheduler_info", lambda *_, **__: {"workers": {}})
    np.save("in.npy", image())
    assert check("in.npy", "out.npy", BLUR).parts > 3


def test_a_worker_without_the_package_is_named(folder):
    """And the run does not wait for it."""
    np.save("in.npy", image())
    with distributed.Client(
        n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as client_without_package:
        client_without_package.run(eval, "__import__('sys').modules.__setitem__('sepconv', None)")
        with pytest.raises(
            RuntimeError,
            match=r"^the worker tcp://\S+ cannot import sepconv .*; install sepconv \S+ where it runs$",
        ):
            ours.run("in.npy", "out.npy", BLUR, client=client_without_package, progress=False)
    assert not pathlib.Path("out.npy.partial").exists()


def test_a_transposed_zarr(client, folder):
    np.save("in.npy", image())
    sc.run("in.npy", "in.zarr", tile=100, progress=False)
    check("in.zarr", "out.zarr", sc.transpose() | BLUR)
    check("in.zarr", "out.zarr", sc.transpose() | BLUR, shard=400)


STACKS = [
    ((5, 300, 200), "zyx", "out.npy", {}),
    ((5, 300, 200), "zyx", "out.tif", {}),
    ((5, 300, 200), "zyx", "out.ome.tif", dict(tile=64, compress="deflate", pyramid=True)),
    ((5, 300, 200), "zyx", "out.zarr", dict(tile=64, pyramid=True)),
    ((2, 3, 300, 200), "tcyx", "out.zarr", dict(tile=128, shard=256)),
    ((300, 200, 3), "yxc", "out.npy", {}),
    ((300, 200, 3), "yxc", "out.zarr", dict(tile=128)),
]


@pytest.mark.parametrize("shape, axes, sink, options", STACKS)
def test_stacks_and_channels(client, folder, shape, axes, sink, options):
    np.save("in.npy", image(shape))
    report = check("in.npy", sink, BLUR, axes=axes, **options)
    assert report.parts >= (1 if axes == "yxc" else shape[0])
    if shape[0] == 5:
        check("in.npy", sink, BLUR, axes=axes, page="z=1-3", **options)
        check("in.npy", sink, BLUR, axes=axes, region=np.s_[64:200, :150], parts=2, **options)


@pytest.mark.parametrize(
    "sink, options",
    [
        ("out.zarr", dict(tile=64)),
        ("out.zarr", dict(tile=64, shard=256)),
        ("out.tif", dict(tile=64)),
        ("out.tif", dict(tile=64, compress="deflate")),
    ],
)
def test_smaller_levels(client, folder, sink, options):
    np.save("in.npy", image())
    assert check("in.npy", sink, BLUR, pyramid=True, **options).parts > 3


def test_missing_pixels_and_metadata(client, folder):
    array = image(dtype="f4")
    array[100:400, 300:700] = np.nan
    np.save("in.npy", array)
    sc.run("in.npy", "in.tif", progress=False)
    check("in.tif", "out.zarr", sc.gaussian(3), nodata=7, tile=256)
    with pytest.warns(sc.files.FileWarning, match="NaN") as warnings_:  # once, although many parts report it
        check("in.tif", "out.npy", sc.gaussian(3, nodata="fill"), nodata=7)
    # including the warning of the single run
    assert len([warning for warning in warnings_ if "contains NaN" in str(warning.message)]) == 2


@pytest.mark.parametrize("workers", [1, 4])
def test_any_number_of_workers(folder, workers):
    np.save("in.npy", image())
    with start_cluster(workers) as cluster, distributed.Client(cluster):
        assert check("in.npy", "out.zarr", BLUR, parts=None, tile=64).parts == 6
        assert check("in.npy", "out.zarr", BLUR, parts=8 * workers, tile=64).parts == (
            7 if workers == 1 else 21
        )


class Killer(distributed.WorkerPlugin):
    """Kills the first worker whose part reaches this state: while it computes, or when the part is computed
    but not yet reported."""

    def __init__(self, state, mark):
        self.state, self.mark = state, str(mark)

    def transition(self, key, start, finish, **_):
        if "sepconv-part" in str(key) and finish == self.state:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
                os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("state, sink", [("executing", "out.zarr"), ("memory", "out.npy")])
def test_parts_of_a_killed_worker_are_made_by_others(folder, state, sink):
    np.save("in.npy", image())
    with start_cluster(2) as cluster, distributed.Client(cluster) as client:
        before = set(client.nthreads())
        client.register_plugin(Killer(state, folder / "killed"))
        check("in.npy", sink, BLUR, **(dict(tile=64) if sink == "out.zarr" else {}))
        assert (folder / "killed").exists() and before - set(client.nthreads())


@contextlib.contextmanager
def hosts(count):
    """Network namespaces on a bridge, each acting as a separate host."""
    names = [f"sepconv{os.getpid()}n{i}" for i in range(count)]
    bridge = f"sc{os.getpid()}b"[-15:]
    run = lambda command: subprocess.run(command.split(), check=True, capture_output=True)  # noqa: E731
    try:
        run(f"ip link add {bridge} type bridge")
        run(f"ip addr add 10.213.7.1/24 dev {bridge}")
        run(f"ip link set {bridge} up")
        for i, name in enumerate(names):
            run(f"ip netns add {name}")
            run(f"ip link add sc{os.getpid()}v{i} type veth peer name eth0 netns {name}")
            run(f"ip link set sc{os.getpid()}v{i} master {bridge} up")
            run(f"ip -n {name} addr add 10.213.7.{i + 2}/24 dev eth0")
            run(f"ip -n {name} link set lo up")
            run(f"ip -n {name} link set eth0 up")
        yield names
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network namespaces here: {error}")
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        subprocess.run(["ip", "link", "del", bridge], capture_output=True)


@pytest.mark.slow
@pytest.mark.parametrize("sink", ["out.npy", "out.zarr"])
def test_separate_hosts_one_of_which_is_lost(folder, sink):
    """A worker is killed in the middle of a part, as seen over a network."""
    with hosts(3) as names, contextlib.ExitStack() as cleanup:
        np.save("in.npy", image((4000, 3000)))
        with (
            distributed.LocalCluster(n_workers=0, host="10.213.7.1", dashboard_address=":0") as cluster,
            distributed.Client(cluster) as client,
        ):
            for name in names:
                worker = subprocess.Popen(
                    [
                        "ip",
                        "netns",
                        "exec",
                        name,
                        sys.executable,
                        "-m",
                        "distributed.cli.dask_worker",
                        cluster.scheduler_address,
                        "--nthreads",
                        "1",
                        "--no-nanny",
                        "--no-dashboard",
                    ],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parent)},
                )
                cleanup.callback(worker.wait)
                cleanup.callback(worker.kill)
            client.wait_for_workers(3, timeout=60)
            assert len({address.partition("//")[2].partition(":")[0] for address in client.nthreads()}) == 3
            client.register_plugin(Killer("executing", folder / "killed"))
            report = check("in.npy", sink, BLUR, parts=40, **(dict(tile=256) if sink == "out.zarr" else {}))
            assert (folder / "killed").exists() and len(client.nthreads()) == 2 and report.parts > 10


@pytest.mark.parametrize(
    "sink, shape",
    [
        ("out.npy", (1300, 900)),
        ("out.zarr", (1300, 900)),
        ("out.npy", (3, 400, 300)),
        ("out.zarr", (3, 400, 300)),
    ],
)
def test_a_part_computed_twice_or_late_is_harmless(folder, sink, shape):
    """As by a worker that was considered lost but is still running."""
    np.save("in.npy", image(shape))
    options = {**({"tile": 128} if sink == "out.zarr" else {}), **({"axes": "zyx"} if len(shape) > 2 else {})}
    arguments = str(folder / "in.npy"), str(folder / sink), BLUR, options
    result = created_result(*arguments, {**options, "band_rows": 128}, 5)
    parts = list(result.parts)
    for part in [*parts, parts[1], parts[0]]:
        result.run_part(part, {})
    result.finish()
    before = file_contents(sink)
    sc.run("in.npy", "alone-" + sink, BLUR, progress=False, **options)
    assert before == file_contents("alone-" + sink)
    with pytest.raises(OSError, match="is not there"):
        result.run_part(parts[0], {})
    assert file_contents(sink) == before and not (folder / (sink + ".partial")).exists()


@pytest.mark.parametrize("inputs", ["file", "array"])
def test_files_of_a_chain_are_the_clients_in_workers_that_are_elsewhere(client, folder, inputs):
    """A file that a worker cannot see is an error of its task: the worker survives."""
    from dask import array as da

    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "taps.txt").write_text("0 3 0\n")
    (folder / "taps.txt").write_text("1 1 1\n")
    before = client.run(os.getcwd)
    client.run(os.chdir, str(elsewhere))
    try:
        array = image().astype("f4")
        np.save("in.npy", array)
        chain = sc.convolve(file="taps.txt") | sc.scale(factor=0.25)
        expected = chain(array)

        def make(chain):
            if inputs == "array":
                return ours.apply(chain, da.from_array(array, chunks=500)).compute(scheduler=client)
            ours.run("in.npy", "out.npy", chain, parts=4, progress=False, overwrite=True)
            return np.load("out.npy")

        assert np.array_equal(make(chain), expected)
        loaded = pickle.loads(pickle.dumps(chain))
        (folder / "taps.txt").unlink()
        with pytest.raises((OSError, ValueError), match="taps.txt"):
            loaded(array)
        workers = set(client.nthreads())
        with pytest.raises((OSError, ValueError), match="taps.txt"):
            make(chain)
        assert set(client.nthreads()) == workers and not os.path.exists("out.npy.partial")
    finally:
        for worker, path in before.items():
            client.run(os.chdir, path, workers=[worker])


def test_a_missing_part_is_named(folder):
    np.save("in.npy", image())
    result = created_result(str(folder / "in.npy"), str(folder / "out.npy"), BLUR, {}, {"band_rows": 100}, 5)
    for part in [*result.parts][:-1]:
        result.run_part(part, {})
    with pytest.raises(OSError, match="not complete"):
        result.finish()
    result.discard()
    assert os.listdir() == ["in.npy"]


def test_progress_is_reported_per_part(client, folder):
    np.save("in.npy", image())
    calls = []
    report = ours.run(
        "in.npy", "out.npy", BLUR, parts=6, progress=lambda done, pixels: calls.append((done, pixels))
    )
    assert (
        len(calls) == report.parts + 1
        and calls[0] == (0, 1300 * 900)
        and calls[-1] == (1300 * 900, 1300 * 900)
        and calls == sorted(calls)
    )


def test_a_result_is_replaced_only_where_that_is_asked_for(client, folder):
    np.save("in.npy", image())
    for sink in ("out.npy", "out.zarr"):
        ours.run("in.npy", sink, "abs", progress=False)
        before = file_contents(sink)
        with pytest.raises(FileExistsError, match="overwrite=True"):
            ours.run("in.npy", sink, BLUR, progress=False)
        assert file_contents(sink) == before
        ours.run("in.npy", sink, BLUR, progress=False, overwrite=True)
        assert file_contents(sink) != before
    assert sorted(os.listdir()) == ["in.npy", "out.npy", "out.zarr"]


def replace_file(path, array):
    """Replaces a file atomically: a concurrent reader sees one version or the other, never a truncated
    file."""
    np.save("new-" + path, array)
    os.replace("new-" + path, path)


def interrupted(done, _):
    if done:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    "given, kind, words",
    [
        (
            dict(progress=lambda *_: replace_file("in.npy", image()[::-1])),
            (OSError, ValueError),
            "change|another|copy it again",
        ),
        (
            dict(
                progress=lambda *_: replace_file("stack.npy", image((3, 300, 200))[::-1]),
                source="stack.npy",
                axes="zyx",
            ),
            (OSError, ValueError),
            "change|another|copy it again",
        ),
        (dict(progress=interrupted), KeyboardInterrupt, None),
        (dict(max_memory=100), MemoryError, "100"),
        (dict(sink="out.png"), (ValueError, OSError), "cannot be made in several runs"),
        (dict(sink=np.zeros((1300, 900), "u2")), TypeError, "give paths"),
        (dict(source=np.zeros((3, 3))), TypeError, "give paths"),
        (dict(source="no.npy"), FileNotFoundError, "no.npy"),
        (dict(chain="gausian:sigma=2"), ValueError, "did you mean"),
        (dict(plan="{}"), TypeError, "no option"),
        (dict(parts=0), ValueError, "parts"),
        (dict(client=3), TypeError, "Client"),
        (dict(sink="no/out.npy"), OSError, "no"),
    ],
)
def test_failures_leave_no_files(client, folder, given, kind, words):
    np.save("in.npy", image())
    np.save("stack.npy", image((3, 300, 200)))
    given = {"source": "in.npy", "sink": "out.npy", "chain": BLUR, "progress": False, "parts": 9, **given}
    with pytest.raises(kind, match=words):
        ours.run(**given)
    for _ in range(100):  # cancelled tasks need time to end
        if sorted(os.listdir()) == ["in.npy", "stack.npy"]:
            break
        time.sleep(0.1)
    assert sorted(os.listdir()) == ["in.npy", "stack.npy"]


def can_lock(folder, operation):
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def interrupt_when(condition):
    """Sends SIGINT, as Ctrl-C does."""

    def watch():
        while True:
            with contextlib.suppress(FileNotFoundError):
                if condition():
                    return os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.001)

    threading.Thread(target=watch, daemon=True).start()


@pytest.mark.parametrize("sink", ["out.npy", "out.zarr"])
@pytest.mark.parametrize("when", ["begun", "at work"])
def test_ctrl_c_ends_parts_after_the_current_band(client, folder, sink, when):
    """Parts of a minute and more: the client does not wait for them, and they leave no files."""
    np.lib.format.open_memmap("in.npy", "w+", "f4", (40000, 2000))
    partial = sink + ".partial"
    interrupt_when(
        lambda: (
            os.path.isdir(partial)
            and (when == "begun" or not can_lock(partial, fcntl.LOCK_EX) and can_lock(partial, fcntl.LOCK_SH))
        )
    )
    with warnings.catch_warnings(), pytest.raises(KeyboardInterrupt):
        warnings.simplefilter("error", sc.FileWarning)  # e.g. that the folder remains
        ours.run(
            "in.npy",
            sink,
            sc.percentile(30, size=(251, 251)),
            parts=2,
            band_rows=16,
            progress=False,
            **({"tile": 16} if sink == "out.zarr" else {}),
        )
    assert os.listdir() == ["in.npy"]
    np.save("in.npy", image())
    check("in.npy", sink, BLUR)


def test_a_client_that_is_closed_is_named(folder):
    np.save("in.npy", image())
    with distributed.Client(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as closed:
        pass
    with pytest.raises(ValueError, match="client is closed"):
        ours.run("in.npy", "out.npy", BLUR, client=closed)


@pytest.mark.parametrize(
    "sink, options",
    [
        ("out.npy", {}),
        ("out.ome.tif", dict(tile=64, compress="deflate", pyramid=True)),
        ("out.zarr", dict(tile=64, shard=128)),
    ],
)
def test_volumes(client, folder, sink, options):
    np.save("in.npy", image((20, 150, 170)))
    assert check("in.npy", sink, sc.gaussian(2, sigma_z=1), axes="zyx", parts=5, **options).parts == 5


def test_a_run_that_was_killed_is_named(client, folder):
    np.save("in.npy", image())
    created_result(str(folder / "in.npy"), str(folder / "out.npy"), BLUR, {}, {}, 2)
    with pytest.raises(FileExistsError, match="out.npy.partial is there already: .* one was killed"):
        ours.run("in.npy", "out.npy", BLUR, progress=False)
    ours.run("in.npy", "out.npy", BLUR, progress=False, discard=True)
    np.testing.assert_array_equal(np.load("out.npy"), BLUR(image()))
    assert not (folder / "out.npy.partial").exists()


def finishing_fails(monkeypatch, error):
    def fails(*_):
        raise error

    monkeypatch.setattr("sepconv._sepconv.finish_parts", fails)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), MemoryError("no memory")])
def test_computed_parts_are_kept_if_only_the_last_step_fails(client, folder, monkeypatch, error):
    np.save("in.npy", image())
    with monkeypatch.context() as patched:
        finishing_fails(patched, error)
        with (
            pytest.warns(
                sc.FileWarning,
                match="all parts are made and stay in .*out.npy.partial: the command sepconv finish",
            ),
            pytest.raises(type(error)),
        ):
            ours.run("in.npy", "out.npy", BLUR, progress=False)
    assert sorted(os.listdir()) == ["in.npy", "out.npy.partial"]
    Result(str(folder / "in.npy"), str(folder / "out.npy"), BLUR, {}).finish()
    sc.run("in.npy", "alone.npy", BLUR, progress=False)
    assert file_contents("out.npy") == file_contents("alone.npy") and not os.path.exists("out.npy.partial")


def created_by_another_process(sink, chain, parts_to_run, **options):
    """Creates the result again, as another process would, as soon as no worker locks it."""
    while True:
        try:
            sc.create_only("in.npy", sink, chain, discard=True, band_rows=64, **options)
            break
        except BlockingIOError:
            time.sleep(0.002)
    if parts_to_run:
        sc.run("in.npy", sink, chain, part=(1, parts_to_run), progress=False, **options)


@pytest.mark.parametrize("made", [0, 2, 1], ids=["begun", "a part", "all"])
def test_a_client_discards_and_finishes_only_what_it_has_begun(folder, made):
    np.save("in.npy", image())
    result = created_result(str(folder / "in.npy"), str(folder / "out.npy"), BLUR, {}, {}, 2)
    created_by_another_process("out.npy", sc.abs(), made)
    before = file_contents("out.npy.partial")
    with pytest.raises(OSError, match="it is of another run, and is left alone"):
        result.finish()
    with pytest.warns(sc.FileWarning, match="out.npy.partial remains: it belongs to another run"):
        result.discard()
    assert file_contents("out.npy.partial") == before
    for part in (1, 2):
        sc.run("in.npy", "out.npy", sc.abs(), part=(part, 2), progress=False)
    sc.finish("out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), image())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result.discard()
    assert sorted(os.listdir()) == ["in.npy", "out.npy"]


@pytest.mark.parametrize("when", [0.1, 1], ids=["at work", "all made"])
@pytest.mark.parametrize("chain", [BLUR, sc.abs()], ids=["same", "other"])
def test_a_result_created_meanwhile_by_another_is_left_alone(client, folder, when, chain):
    np.save("in.npy", image())
    seen = []

    def create_again(done, pixels):
        if done >= when * pixels and not seen:
            seen.append(created_by_another_process("out.npy", chain, 1))

    with warnings.catch_warnings(record=True) as warnings_, pytest.raises((OSError, ValueError)):
        warnings.simplefilter("always")
        ours.run("in.npy", "out.npy", BLUR, parts=12, band_rows=64, progress=create_again)
    assert not [warning for warning in warnings_ if "all parts are made" in str(warning.message)]
    Result(
        str(folder / "in.npy"), str(folder / "out.npy"), chain, {}
    ).finish()  # waits for workers that are ending
    np.testing.assert_array_equal(np.load("out.npy"), chain(image()))
    assert sorted(os.listdir()) == ["in.npy", "out.npy"]


def test_a_result_that_cannot_be_completed_is_removed(client, folder):
    """A part with missing bytes: the folder would block the next run, and a later finish could not complete
    it."""
    np.save("in.npy", image())

    def damage_result(done, pixels):
        if done == pixels:
            [part_file] = pathlib.Path("out.npy.partial").glob("result-*")
            os.truncate(part_file, 1000)

    with warnings.catch_warnings(), pytest.raises(OSError, match="not complete.* or were changed"):
        warnings.simplefilter("error", sc.FileWarning)
        ours.run("in.npy", "out.npy", BLUR, progress=damage_result)
    assert os.listdir() == ["in.npy"]
    check("in.npy", "out.npy", BLUR)


def test_discard_waits_for_a_busy_worker_and_then_warns(folder, monkeypatch):
    monkeypatch.setattr("sepconv._dask_parts._BUSY_TIMEOUT_SECONDS", 0.3)
    np.save("in.npy", image())
    result = created_result(str(folder / "in.npy"), str(folder / "out.npy"), BLUR, {}, {}, 2)
    descriptor = os.open(result.folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    with pytest.warns(sc.FileWarning, match="another process is working"):
        result.discard()
    with pytest.raises(BlockingIOError):
        result.finish()
    with pytest.raises(BlockingIOError):  # its writes must not reach another result
        created_result(str(folder / "in.npy"), str(folder / "out.npy"), sc.abs(), {}, {}, 2)
    assert os.path.isdir(result.folder)
    os.close(descriptor)
    result.discard()
    assert os.listdir() == ["in.npy"]


def test_without_a_cluster(folder):
    np.save("in.npy", image())
    program = "import sepconv.dask as ours\ntry:\n    ours.run('in.npy', 'out.npy')\nexcept ValueError as error:\n    print(error)"
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "distributed.Client()" in process.stdout
