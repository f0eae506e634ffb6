"""Results computed in several runs, identical to one run: --resume after SIGKILL, --part and finish."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
import tifffile

from conftest import BINARY
from cli_support import fails, image, listing, mounted, one_sentence, source, unmount

CHAIN = ["gaussian:sigma=9", "--band-rows", "64"]
KINDS = [
    ("out.raw", []),
    ("out.npy", []),
    ("out.tif", []),
    ("out.tif", ["--tile", "64", "--bigtiff=yes"]),
    ("out.tif", ["--planar"]),
    ("out.tif", ["--compress", "deflate"]),
    ("out.tif", ["--compress", "zstd", "--tile", "64", "--bigtiff=yes"]),
    ("out.zarr", []),
    ("out.zarr", ["--chunk", "32", "--shard", "128"]),
    ("out.zarr", ["--zarr", "2"]),
]
WITH_LEVELS = [
    ("out.tif", ["--pyramid"]),
    ("out.tif", ["--pyramid", "--tile", "64", "--compress", "deflate"]),
    ("out.zarr", ["--pyramid", "--chunk", "64"]),
    ("out.zarr", ["--pyramid", "--chunk", "32", "--shard", "128"]),
]
ODD_LEVELS = [
    ("out.tif", ["--pyramid", "--planar", "--tile", "48", "--compress", "zstd"]),
    ("out.zarr", ["--pyramid", "--chunk", "50"]),
    ("out.tif", ["--pyramid", "--tile", "80", "--compress", "deflate"]),
    ("out.zarr", ["--pyramid", "--zarr", "2", "--chunk", "70x33"]),
    ("out.tif", ["--cog", "--compress", "none"]),
]
NAMES = lambda value: "-".join([value[0], *value[1]]) if isinstance(value, tuple) else None


def run_identifier(partial):
    """The identifier in the names of a run's files, from the first line of its journal."""
    return (partial / "journal").read_text().split(" ", 3)[2]


def result_in(partial):
    return partial / f"result-{run_identifier(partial)}"


def content(path):
    """The bytes of a file, or of all files of a folder by name."""
    if path.is_dir():
        return {
            str(file.relative_to(path)): file.read_bytes()
            for file in sorted(path.rglob("*"))
            if file.is_file()
        }
    return path.read_bytes()


@pytest.fixture
def scan(sepconv):
    sepconv("generate", "in.tif", "--size", "1500x1400", "--channels", "2", "--quiet")
    return "in.tif"


def whole(sepconv, source, name, options):
    """The result of one run."""
    sepconv("run", source, f"whole-{name}", *CHAIN, *options, "--quiet")
    return content(sepconv.folder / f"whole-{name}")


def begin(sepconv, *arguments):
    return subprocess.Popen(
        [BINARY, "run", *arguments, "--quiet"], cwd=sepconv.folder, stderr=subprocess.PIPE, text=True
    )


def kill_when(run, reached):
    """Kills the process as soon as the condition holds, unless it ends before."""
    while run.poll() is None and not reached():
        time.sleep(0.001)
    run.kill()
    run.communicate()


def records(folder):
    """The number of completed pixels in the journal."""
    try:
        lines = (folder / "journal").read_text().splitlines()
    except FileNotFoundError:  # not begun, or complete and removed
        return []
    return [
        json.loads(line.split(" ", 3)[3])["pixels"]
        for line in lines
        if line[9:13] == "done" and line.endswith("}")
    ]


@pytest.mark.parametrize("kind", KINDS + WITH_LEVELS, ids=NAMES)
def test_a_run_that_was_killed_is_gone_on_with(sepconv, scan, kind):
    name, options = kind
    expected = whole(sepconv, scan, name, options)
    partial = sepconv.folder / f"{name}.partial"
    for count in (2, 5, 9):
        kill_when(
            begin(sepconv, scan, name, *CHAIN, *options, "--resume"), lambda: len(records(partial)) >= count
        )
    if not (sepconv.folder / name).exists():
        assert not records(partial) or "not complete" in one_sentence(sepconv("info", name, status=1).stderr)
        process = sepconv("run", scan, name, *CHAIN, *options, "--resume")
        assert not records(partial) or "resumes" in process.stderr
    assert content(sepconv.folder / name) == expected
    if partial.exists():  # killed before its end
        assert "was complete" in sepconv("info", name).stderr
        assert "is complete" in sepconv("run", scan, name, *CHAIN, *options, "--resume").stderr
    assert not partial.exists() and not [left for left in listing(sepconv.folder) if "sepconv-" in left]


def say_complete(journal, result):
    line = f"complete {result.stat().st_size if result.is_file() else -1}"
    before = int(journal.read_text().splitlines()[-1][:8], 16)
    with open(journal, "a") as file:
        file.write(f"{crc32c(line.encode(), before):08x} {line}\n")


def left_when_killed_at_its_end(sepconv, scan, name, options):
    """Creates the state after a run was killed when its result had its name. Returns the result's bytes."""
    partial, kept = sepconv.folder / f"{name}.partial", sepconv.folder / "kept"
    for _ in range(20):
        kill_when(begin(sepconv, scan, name, *CHAIN, *options, "--resume"), lambda: records(partial))
        if not (sepconv.folder / name).exists():
            break
        (shutil.rmtree if name.endswith("zarr") else os.unlink)(sepconv.folder / name)
    else:
        pytest.skip("it could not be killed before its end")
    shutil.copytree(partial, kept)
    sepconv("run", scan, name, *CHAIN, *options, "--resume", "--quiet")
    kept.rename(partial)
    (shutil.rmtree if name.endswith("zarr") else os.unlink)(result_in(partial))
    say_complete(partial / "journal", sepconv.folder / name)
    return content(sepconv.folder / name)


@pytest.mark.parametrize("kind", [KINDS[1], KINDS[6], WITH_LEVELS[3]], ids=NAMES)
def test_a_run_that_was_killed_when_its_result_had_its_name_is_complete(sepconv, scan, kind):
    name, options = kind
    expected = left_when_killed_at_its_end(sepconv, scan, name, options)
    partial = sepconv.folder / f"{name}.partial"
    left = sepconv.folder / "left"
    shutil.copytree(partial, left)
    for force in ([], ["--force"]):
        before = (sepconv.folder / name).stat().st_ino
        said = sepconv("run", scan, name, *CHAIN, *options, *force, "--resume").stderr
        assert f"{name} is complete" in said and "0 pixels" not in said
        assert (
            content(sepconv.folder / name) == expected
            and (sepconv.folder / name).stat().st_ino == before
            and not partial.exists()
        )
        shutil.copytree(left, partial)
    # Another request does not match the result, and a modified result is not accepted.
    assert "exists already" in one_sentence(
        sepconv("run", scan, name, "gaussian:sigma=8", *options, "--resume", status=1).stderr
    )
    assert not partial.exists() and content(sepconv.folder / name) == expected
    shutil.copytree(left, partial)
    sepconv("run", scan, name, "abs", *options, "--discard", "--force", "--quiet")
    shutil.copytree(left, partial)
    other = content(sepconv.folder / name)
    assert other != expected
    assert "exists already" in one_sentence(
        sepconv("run", scan, name, *CHAIN, *options, "--resume", status=1).stderr
    )
    assert content(sepconv.folder / name) == other


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_killed_at_any_time(sepconv, scan, seed):
    chance = random.Random(seed)
    name, options = chance.choice(KINDS + WITH_LEVELS)
    expected = whole(sepconv, scan, name, options)
    for _ in range(chance.randrange(1, 5)):
        if (sepconv.folder / name).exists():
            break
        end = time.monotonic() + chance.uniform(0, 0.4)
        kill_when(begin(sepconv, scan, name, *CHAIN, *options, "--resume"), lambda: time.monotonic() > end)
    if not (sepconv.folder / name).exists():
        sepconv("run", scan, name, *CHAIN, *options, "--resume", "--quiet")
    assert content(sepconv.folder / name) == expected


@pytest.mark.parametrize("name", ["out.npy", "out.tif", "out.zarr"])
def test_stacks_are_gone_on_with(sepconv, name):
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        np.stack([image(600, 500, seed=i) for i in range(5)]),
        metadata={"axes": "ZYX"},
    )
    options = ["--compress", "deflate"] if name == "out.tif" else []
    expected = whole(sepconv, "in.tif", name, options)
    partial = sepconv.folder / f"{name}.partial"
    for count in (3, 20):
        kill_when(
            begin(sepconv, "in.tif", name, *CHAIN, *options, "--resume"),
            lambda: len(records(partial)) >= count,
        )
    if not (sepconv.folder / name).exists():
        sepconv("run", "in.tif", name, *CHAIN, *options, "--resume", "--quiet")
    assert content(sepconv.folder / name) == expected


@pytest.fixture
def partial_result(sepconv, scan):
    """A partial result of out.tif."""
    for _ in range(20):
        kill_when(
            begin(sepconv, scan, "out.tif", *CHAIN, "--resume"),
            lambda: records(sepconv.folder / "out.tif.partial"),
        )
        if not (sepconv.folder / "out.tif").exists():
            return sepconv
        (sepconv.folder / "out.tif").unlink()
    pytest.skip("it could not be killed before its end")


@pytest.mark.parametrize(
    "stages, options, what",
    [
        (["gaussian:sigma=8"], [], "another chain"),
        (["gaussian:sigma=9"], ["--compress", "deflate"], "--compress: not given then, and deflate now"),
        (["gaussian:sigma=9"], ["--tile", "64x32"], "--tile: not given then, and 64x32 now"),
        (["gaussian:sigma=9"], ["--pyramid"], "--pyramid: not given then, and given now"),
        (["gaussian:sigma=9"], ["--bigtiff=yes"], "--bigtiff=yes: not given"),
        (["gaussian:sigma=9"], ["--bigtiff=no"], "--bigtiff=no: not given"),
        (["gaussian:sigma=9"], ["--planar"], "--planar: not given"),
        (["gaussian:sigma=9"], ["--band-rows", "32"], "bands of 1500 x 64"),
        (
            ["gaussian:sigma=9"],
            ["--region", "100x1400+0+0"],
            "--region: 1500x1400+0+0 then, and 100x1400+0+0 now",
        ),
        (["gaussian:sigma=9"], ["--arithmetic", "f64"], "another arithmetic"),
        (["gaussian:sigma=9"], ["--nodata", "3"], "--nodata: not given then, and 3 now"),
    ],
)
def test_another_request_is_refused(partial_result, stages, options, what):
    message = fails(
        partial_result, "run", "in.tif", "out.tif", *stages, *options, "--resume", "--quiet", status=2
    )
    assert what in message and "out.tif.partial" in message and "discard" in message


def test_another_source_is_refused(partial_result):
    with open(partial_result.folder / "in.tif", "r+b") as file:
        file.seek(6000)
        file.write(b"x")
    message = fails(partial_result, "run", "in.tif", "out.tif", *CHAIN, "--resume", status=2)
    assert (
        "another source" in message
        and len(re.findall(r"changed \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9} UTC", message)) == 2
    )
    sepconv = partial_result
    expected = whole(sepconv, "in.tif", "out.tif", [])
    sepconv("run", "in.tif", "out.tif", *CHAIN, "--resume", "--discard", "--quiet")
    assert content(sepconv.folder / "out.tif") == expected


def test_other_memory_and_threads_are_not(partial_result):
    expected = whole(partial_result, "in.tif", "out.tif", [])
    partial_result(
        "run",
        "in.tif",
        "out.tif",
        "gaussian:sigma=9",
        "--threads",
        "1",
        "--slots",
        "1",
        "--max-memory",
        "64M",
        "--resume",
        "--quiet",
    )
    assert content(partial_result.folder / "out.tif") == expected


def test_what_was_changed_is_made_again(partial_result):
    expected = whole(partial_result, "in.tif", "out.tif", [])
    with open(result_in(partial_result.folder / "out.tif.partial"), "r+b") as file:
        file.truncate(5000)
    assert "are computed again" in partial_result("run", "in.tif", "out.tif", *CHAIN, "--resume").stderr
    assert content(partial_result.folder / "out.tif") == expected


def test_a_line_that_is_not_whole_ends_the_journal(partial_result):
    expected = whole(partial_result, "in.tif", "out.tif", [])
    with open(partial_result.folder / "out.tif.partial/journal", "ab") as file:
        file.write(b"12345678 done x {")
    assert "what follows it" not in partial_result("run", "in.tif", "out.tif", *CHAIN, "--resume").stderr
    assert content(partial_result.folder / "out.tif") == expected


def crc32c(data, before=0):
    sum = before ^ 0xFFFFFFFF
    for byte in data:
        sum ^= byte
        for _ in range(8):
            sum = sum >> 1 ^ (0x82F63B78 if sum & 1 else 0)
    return sum ^ 0xFFFFFFFF


def rewrite(journal, change):
    """Changes lines and updates their checksums."""
    text, sum = "", 0
    for line in journal.read_text().splitlines():
        line = change(line[9:])
        sum = crc32c(line.encode(), sum)
        text += f"{sum:08x} {line}\n"
    journal.write_text(text)


def test_another_versions_is_refused_and_named(partial_result):
    rewrite(
        partial_result.folder / "out.tif.partial/journal",
        lambda line: line.replace('"journal":6', '"journal":5'),
    )
    assert "another version" in fails(
        partial_result, "run", "in.tif", "out.tif", *CHAIN, "--resume", status=2
    )
    assert "another version" in one_sentence(partial_result("info", "out.tif", status=1).stderr)
    assert "another version" in partial_result("run", "in.tif", "out.tif", "abs").stderr
    partial_result("run", "in.tif", "out.tif", *CHAIN, "--resume", "--discard", "--force", "--quiet")
    assert listing(partial_result.folder) == ["in.tif", "out.tif"]


@pytest.mark.parametrize(
    "old, new",
    [
        ('"bands":[[0', '"bands":[[-1'),
        ('"bands":[[0', '"bands":[[7,5],[0'),
        ('"raster":0', '"raster":3'),
        ('"raster":0', '"raster":-1'),
        ('"state":', '"stat":'),
        ('"pixels":', '"pixels":1'),
        ('"segment":""', '"segment":"../in.tif"'),
    ],
)
def test_an_edited_journal_is_not_believed(partial_result, old, new):
    expected = whole(partial_result, "in.tif", "out.tif", [])
    rewrite(
        partial_result.folder / "out.tif.partial/journal",
        lambda line: line.replace(old, new, 1) if line.startswith("done") else line,
    )
    process = subprocess.run(
        [BINARY, "run", "in.tif", "out.tif", *CHAIN, "--resume", "--quiet"],
        cwd=partial_result.folder,
        capture_output=True,
        text=True,
    )
    if process.returncode == 0:
        assert content(partial_result.folder / "out.tif") == expected
    else:
        assert "discard" in one_sentence(process.stderr) and process.returncode == 1


def test_an_ordinary_run_and_info_say_that_it_is_there(partial_result):
    message = one_sentence(partial_result("info", "out.tif", status=1).stderr)
    assert "gaussian:sigma=9" in message and "in.tif" in message and "--resume" in message
    assert "out.tif.partial" in partial_result("run", "in.tif", "out.tif", "abs").stderr
    assert "out.tif.partial" in partial_result("info", "out.tif").stderr
    partial_result("run", "in.tif", "out.tif", "abs", "--force", "--discard", "--quiet")
    assert listing(partial_result.folder) == ["in.tif", "out.tif"]


def test_two_at_once_are_refused(partial_result):
    run = begin(partial_result, "in.tif", "out.tif", *CHAIN, "--resume")
    run.send_signal(signal.SIGSTOP)
    try:
        for _ in range(2):
            other = subprocess.run(
                [BINARY, "run", "in.tif", "out.tif", *CHAIN, "--resume"],
                cwd=partial_result.folder,
                capture_output=True,
                text=True,
            )
            if "another process" in other.stderr:
                return
            run.send_signal(signal.SIGCONT)  # it had not started
            time.sleep(0.02)
            run.send_signal(signal.SIGSTOP)
        assert other.returncode == 0 or "exists already" in other.stderr
    finally:
        run.kill()
        run.communicate()


@pytest.mark.parametrize(
    "name, options", [("out.png", []), ("out.jpg", []), ("out.tif", ["--cog", "--compress", "deflate"])]
)
def test_what_is_written_as_a_whole_is_refused(sepconv, name, options):
    np.save(sepconv.folder / "in.npy", image())
    assert "cannot be made in several runs" in fails(
        sepconv, "run", "in.npy", name, *options, "--resume", status=2
    )


def test_a_folder_of_somebody_elses_is_left_alone(sepconv, source):
    (sepconv.folder / "out.npy.partial").mkdir()
    (sepconv.folder / "out.npy.partial/mine").write_text("x")
    for option in ("--resume", "--discard", "--create-only"):
        assert "not a partial result" in fails(sepconv, "run", source, "out.npy", option, status=1)
    assert (sepconv.folder / "out.npy.partial/mine").read_text() == "x"


@pytest.mark.parametrize(
    "name, link", [("out.npy", ""), ("out.npy", "result"), ("out.zarr", "result"), ("out.npy", "journal")]
)
def test_no_link_leads_elsewhere(sepconv, source, name, link):
    """In a folder that other users may write to, they may have created it."""
    partial, victim = sepconv.folder / f"{name}.partial", sepconv.folder / ("folder" if not link else "file")
    sepconv("run", source, name, "abs", "--create-only", "--quiet")
    if link == "result":
        link = result_in(partial).name
    if link:
        victim.write_text("mine")
        if link == "journal":
            victim.write_text((partial / "journal").read_text())
        (partial / link).unlink(missing_ok=True)
    else:
        partial.rename(victim)
    (partial / link).symlink_to(victim)
    before = content(victim)
    process = subprocess.run(
        [
            BINARY,
            "run",
            source,
            name,
            "abs",
            *(["--part", "1/1"] if link != "journal" else ["--create-only"]),
        ],
        cwd=sepconv.folder,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 1 and one_sentence(process.stderr)
    assert content(victim) == before


@pytest.mark.parametrize(
    "name, options",
    [("out.npy", []), ("out.tif", ["--compress", "deflate"]), ("out.zarr", ["--chunk", "64"])],
)
def test_a_full_disk_is_gone_on_with(sepconv, scan, name, options):
    small = sepconv.folder / "small"
    expected = whole(sepconv, scan, name, options)
    size = len(expected) if isinstance(expected, bytes) else sum(map(len, expected.values()))
    if not mounted(f"size={size // 2}", small):
        pytest.skip("mounting a small file system needs root")
    try:
        said = sepconv("run", scan, f"small/{name}", *CHAIN, *options, "--resume", "--quiet", status=1).stderr
        assert "free" in said or "space" in said
        began = bool(records(small / f"{name}.partial"))
        assert began or name == "out.npy", "what has its size beforehand is not begun"
        subprocess.run(["mount", "-o", "remount,size=32m", small], check=True)
        said = sepconv("run", scan, f"small/{name}", *CHAIN, *options, "--resume").stderr
        assert ("resumes" in said) == began
        assert content(small / name) == expected
    finally:
        unmount(small)


def create(sepconv, name, options):
    sepconv("run", "in.tif", name, *CHAIN, *options, "--create-only", "--quiet")


def part(sepconv, name, options, which, status=0):
    return sepconv(
        "run", "in.tif", name, "gaussian:sigma=9", *options, "--part", which, "--quiet", status=status
    )


def max_parts(sepconv, name, options):
    said = sepconv("plan", "in.tif", name, *CHAIN, *options, "--parts", "99999", status=2).stderr
    return int(re.search(r"in 1 to (\d+)", said)[1])


@pytest.mark.parametrize("kind", KINDS + WITH_LEVELS + ODD_LEVELS, ids=NAMES)
def test_parts_are_the_whole(sepconv, scan, kind):
    name, options = kind
    expected = whole(sepconv, scan, name, options)
    create(sepconv, name, options)
    count = min(5, max_parts(sepconv, name, options))
    assert count > 1
    order = list(range(1, count + 1))
    random.Random(7).shuffle(order)
    for k in order[1:]:
        part(sepconv, name, options, f"{k}/{count}")
    message = one_sentence(sepconv("finish", name, status=1).stderr)
    assert "is not complete" in message and not (sepconv.folder / name).exists()
    # One that is killed, one that is run twice concurrently, and one repeated.
    kill_when(
        begin(sepconv, scan, name, "gaussian:sigma=9", *options, "--part", f"{order[0]}/{count}"),
        lambda: True,
    )
    for run in [
        begin(sepconv, scan, name, "gaussian:sigma=9", *options, "--part", f"{order[0]}/{count}")
        for _ in range(2)
    ]:
        assert run.wait() == 0, run.stderr.read()
    part(sepconv, name, options, f"{order[-1]}/{count}")
    sepconv("finish", name)
    assert content(sepconv.folder / name) == expected
    assert not (sepconv.folder / f"{name}.partial").exists()


STACKS = [
    ("out.npy", []),
    ("out.tif", []),
    ("out.tif", ["--compress", "deflate", "--tile", "64", "--pyramid"]),
    ("out.ome.tif", ["--tile", "64", "--pyramid"]),
    ("out.zarr", ["--chunk", "64", "--pyramid"]),
    ("out.zarr", ["--chunk", "32", "--shard", "128", "--pyramid"]),
]


@pytest.mark.parametrize("kind", STACKS, ids=NAMES)
def test_parts_of_stacks_are_the_whole(sepconv, kind):
    """Parts that end inside of images and at their ends; all images are divided equally."""
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        np.stack([image(600, 500, seed=i) for i in range(5)]),
        metadata={"axes": "ZYX"},
    )
    name, options = kind
    expected = whole(sepconv, "in.tif", name, options)
    maximum = max_parts(sepconv, name, options)
    for count in {3, min(7, maximum)}:
        create(sepconv, name, options)
        for k in range(count, 0, -1):
            if k == 2:
                assert "are missing" in one_sentence(sepconv("finish", name, status=1).stderr)
            part(sepconv, name, options, f"{k}/{count}")
        sepconv("finish", name)
        assert content(sepconv.folder / name) == expected
        (shutil.rmtree if name.endswith("zarr") else os.unlink)(sepconv.folder / name)


VOLUMES = [
    ("out.npy", []),
    ("out.tif", []),
    ("out.ome.tif", ["--compress", "deflate", "--tile", "64", "--pyramid"]),
    ("out.zarr", ["--chunk", "32", "--shard", "128", "--pyramid"]),
]


@pytest.mark.parametrize("kind", VOLUMES, ids=NAMES)
def test_volumes_in_several_runs_are_the_whole(sepconv, kind):
    """Two volumes of 12 planes filtered along z: killed and continued, and in parts that end within them."""
    name, options = kind
    chain = ["gaussian:sigma=2,sigma_z=1"]
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        np.stack([image(170, 150, seed=i) for i in range(24)]).reshape(2, 12, 170, 150),
        metadata={"axes": "TZYX"},
    )
    sepconv("run", "in.tif", f"whole-{name}", *chain, *options, "--quiet")
    expected = content(sepconv.folder / f"whole-{name}")
    partial = sepconv.folder / f"{name}.partial"
    for count in (3, 14):
        kill_when(
            begin(sepconv, "in.tif", name, *chain, *options, "--band-rows", "1", "--resume"),
            lambda: len(records(partial)) >= count,
        )
    if not (sepconv.folder / name).exists():
        sepconv("run", "in.tif", name, *chain, *options, "--resume", "--quiet")
    assert content(sepconv.folder / name) == expected
    (shutil.rmtree if name.endswith("zarr") else os.unlink)(sepconv.folder / name)
    sepconv("run", "in.tif", name, *chain, *options, "--band-rows", "1", "--create-only", "--quiet")
    for k in (4, 2, 5, 1, 3):
        assert "are missing" in one_sentence(sepconv("finish", name, status=1).stderr)
        sepconv("run", "in.tif", name, *chain, *options, "--part", f"{k}/5", "--quiet")
    sepconv("finish", name)
    assert content(sepconv.folder / name) == expected


@pytest.mark.parametrize("kind", [KINDS[5], *WITH_LEVELS[1:]], ids=NAMES)
def test_parts_of_different_cuts_are_the_whole(sepconv, scan, kind):
    name, options = kind
    expected = whole(sepconv, scan, name, options)
    create(sepconv, name, options)
    for which in ("1/2", "3/4", "4/4", "2/3"):
        part(sepconv, name, options, which)
    sepconv("finish", name)
    assert content(sepconv.folder / name) == expected


def test_a_part_that_was_changed_is_not_finished(sepconv, scan):
    create(sepconv, "out.npy", [])
    for k in (1, 2):
        part(sepconv, "out.npy", [], f"{k}/2")
    with open(result_in(sepconv.folder / "out.npy.partial"), "r+b") as file:
        file.truncate(file.seek(0, 2) - 28)  # between samples
    assert "missing or were changed" in one_sentence(sepconv("finish", "out.npy", status=1).stderr)
    part(sepconv, "out.npy", [], "1/2"), part(sepconv, "out.npy", [], "2/2")
    sepconv("finish", "out.npy")
    assert content(sepconv.folder / "out.npy") == whole(sepconv, scan, "out.npy", [])


def test_a_folder_that_changes_meanwhile_is_not_finished(sepconv, scan):
    """Parts do not list all its names."""
    sepconv("run", scan, "in.zarr", "--chunk", "256", "--quiet")
    sepconv("run", "in.zarr", "out.npy", *CHAIN, "--create-only", "--quiet")
    chunk = max(sepconv.folder.glob("in.zarr/**/[0-9]*"), key=lambda path: path.is_file())
    chunk.write_bytes(chunk.read_bytes())
    sepconv("run", "in.zarr", "out.npy", "gaussian:sigma=9", "--part", "1/1", "--quiet")
    message = one_sentence(sepconv("finish", "out.npy", status=2).stderr)
    assert "another source" in message and not (sepconv.folder / "out.npy").exists()


@pytest.mark.parametrize("kind", [STACKS[2], STACKS[5]], ids=NAMES)
def test_finish_is_killed_and_goes_on(sepconv, scan, kind):
    name, options = kind
    expected = whole(sepconv, scan, name, options)
    create(sepconv, name, options)
    for k in (1, 2):
        part(sepconv, name, options, f"{k}/2")
    partial = sepconv.folder / f"{name}.partial"
    for after in (0, 0.005, 0.02):
        end = time.monotonic() + after
        kill_when(
            subprocess.Popen([BINARY, "finish", name], cwd=sepconv.folder, stderr=subprocess.PIPE, text=True),
            lambda: time.monotonic() > end,
        )
    if not (sepconv.folder / name).exists():
        sepconv("finish", name)
    assert content(sepconv.folder / name) == expected


@pytest.mark.parametrize(
    "name, options, stays",
    [
        ("out.tif", ["--compress", "zstd"], False),
        ("out.npy", [], False),
        ("out.zarr", [], False),
        ("out.tif", [], True),
    ],
)
def test_parts_of_what_replaces_another_are_safe_until_it_is_finished(sepconv, scan, name, options, stays):
    """Before the first part is run, and for a compressed TIFF until the end, only parts exist."""
    sepconv("run", scan, name, "abs", "--quiet")
    old, expected = content(sepconv.folder / name), whole(sepconv, scan, name, options)
    sepconv("run", scan, name, *CHAIN, *options, "--force", "--create-only", "--quiet")
    for result in ("1/2", "2/2"):
        if result == "2/2" or not stays:
            assert "made in parts" in fails(
                sepconv, "run", scan, name, *CHAIN, *options, "--resume", "--force", status=2
            )
        said = sepconv("info", name).stderr
        assert "--part and finish continue it" in said and "complete" not in said
        part(sepconv, name, options, result)
    assert content(sepconv.folder / name) == old
    sepconv("finish", name)
    assert content(sepconv.folder / name) == expected and not (sepconv.folder / f"{name}.partial").exists()


def left_by_a_killed_finish(sepconv, name):
    """The state after the rename: the folder contains everything except the renamed result."""
    partial = sepconv.folder / f"{name}.partial"
    shutil.copytree(partial, sepconv.folder / "copy")
    sepconv("finish", name)
    (sepconv.folder / "copy").rename(partial)
    if result_in(partial).exists():
        (shutil.rmtree if name.endswith("zarr") else os.unlink)(result_in(partial))
    say_complete(partial / "journal", sepconv.folder / name)


@pytest.mark.parametrize("kind", [("out.npy", []), ("out.zarr", ["--chunk", "256"])], ids=NAMES)
def test_finish_that_was_killed_when_all_was_done_is_done(sepconv, scan, kind):
    name, options = kind
    expected = whole(sepconv, scan, name, options)
    partial = sepconv.folder / f"{name}.partial"
    for then in ("finish", "finish that was removing", "create", "part"):
        create(sepconv, name, options)
        part(sepconv, name, options, "1/1")
        left_by_a_killed_finish(sepconv, name)
        if then == "finish that was removing":
            for log in partial.glob("part-*"):
                log.unlink()
        assert content(sepconv.folder / name) == expected
        assert "is complete; --discard removes it" in sepconv("info", name).stderr.replace(
            "was complete", "is complete"
        )
        if then.startswith("finish"):
            assert "is complete" in sepconv("finish", name).stderr
            assert not partial.exists() and content(sepconv.folder / name) == expected
            assert "nothing to finish" in one_sentence(sepconv("finish", name, status=1).stderr)
        (shutil.rmtree if name.endswith("zarr") else os.unlink)(sepconv.folder / name)
        if then == "part":
            assert "was complete" in one_sentence(part(sepconv, name, options, "1/1", status=1).stderr)
        if then == "create":
            sepconv("run", scan, name, *CHAIN, *options, "--create-only", "--discard", "--quiet")
        sepconv("run", scan, name, "abs", "--discard", "--quiet")
        assert not partial.exists()
        (shutil.rmtree if name.endswith("zarr") else os.unlink)(sepconv.folder / name)


def test_nothing_is_given_up_for_a_run_that_does_not_begin(partial_result):
    before = content(partial_result.folder / "out.tif.partial")
    for wrong, status in (
        (["no.tif", "out.tif", *CHAIN], 1),
        (["in.tif", "out.tif", "gausian:sigma=9"], 2),
        (["in.tif", "out.tif", "crop:width=1"], 2),
        (["in.tif", "out.tif", *CHAIN, "--max-memory", "1K"], 3),
    ):
        process = subprocess.run(
            [BINARY, "run", *wrong, "--discard", "--resume", "--quiet"],
            cwd=partial_result.folder,
            capture_output=True,
            text=True,
        )
        assert process.returncode != 0 and one_sentence(process.stderr)
        assert content(partial_result.folder / "out.tif.partial") == before


def test_a_pipe_in_its_place_is_not_waited_for(sepconv, scan):
    name, options = WITH_LEVELS[1]
    kill_when(
        begin(sepconv, scan, name, *CHAIN, *options, "--resume"),
        lambda: records(sepconv.folder / f"{name}.partial"),
    )
    if (sepconv.folder / name).exists():
        pytest.skip("it could not be killed before its end")
    rows = sepconv.folder / f"{name}.partial/rows-{run_identifier(sepconv.folder / f'{name}.partial')}"
    rows.unlink(missing_ok=True)
    os.mkfifo(rows)
    process = subprocess.run(
        [BINARY, "run", scan, name, *CHAIN, *options, "--resume", "--quiet"],
        cwd=sepconv.folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert process.returncode == 1 and one_sentence(process.stderr)


def test_what_somebody_put_there_stays(sepconv, scan):
    create(sepconv, "out.npy", [])
    part(sepconv, "out.npy", [], "1/1")
    mine = sepconv.folder / "out.npy.partial/notes.txt"
    mine.write_text("mine")
    sepconv("finish", "out.npy")
    assert mine.read_text() == "mine" and listing(mine.parent) == ["notes.txt"]


def test_parts_that_overlap_and_do_not_meet_are_told_from_missing_ones(sepconv, scan):
    create(sepconv, "out.npy", [])  # 22 bands
    for which in ("1/2", "2/3", "3/3"):
        part(sepconv, "out.npy", [], which)
    message = one_sentence(sepconv("finish", "out.npy", status=1).stderr)
    assert (
        "those from 11 on" in message
        and "in part by bands from 7 on" in message
        and "need the same N" in message
    )
    part(sepconv, "out.npy", [], "1/3")
    sepconv("finish", "out.npy")
    assert content(sepconv.folder / "out.npy") == whole(sepconv, scan, "out.npy", [])


def test_finish_needs_no_memory_for_bands(sepconv):
    """For a machine larger than this one."""
    with open(sepconv.folder / "in.raw", "wb") as file:
        file.truncate(1 << 40)
    raw = ["in.raw", "out.raw", "--raw", f"{1 << 20}x{1 << 20}:u8"]
    sepconv("run", *raw, "abs", "--band-rows", str(1 << 20), "--max-memory", "8T", "--create-only", "--quiet")
    assert "is not complete: of the 1 bands" in one_sentence(sepconv("finish", "out.raw", status=1).stderr)


@pytest.mark.parametrize(
    "name, options",
    [
        ("out.npy", ["--band-rows", "64"]),
        ("out.tif", ["--pyramid", "--band-rows", "1"]),
        ("out.zarr", ["--chunk", "z=4,64x64", "--band-rows", "64"]),
    ],
)
def test_the_plan_of_parts_is_that_of_its_parts(sepconv, name, options):
    np.save(sepconv.folder / "in.npy", np.stack([image(300, 200, seed=i) for i in range(8)]))
    job = ["in.npy", name, "gaussian:sigma=2", "--axes", "zyx", *options]
    most = int(re.search(r"in 1 to (\d+)", sepconv("plan", *job, "--parts", "99999", status=2).stderr)[1])
    partial_result = sepconv("run", *job, "--create-only").stderr
    assert f"of 1 to {most} parts" in partial_result
    assert ("chunk" in partial_result) == (
        name == "out.zarr"
    )  # metadata that it will lose are reported at creation
    cost = [
        line
        for line in sepconv("plan", *job, "--parts", str(most)).stdout.splitlines()
        if line.startswith("parts ")
    ]
    assert cost and cost[0].split()[1] == str(most)
    for k in (1, most):
        sepconv(
            "run",
            "in.npy",
            name,
            "gaussian:sigma=2",
            "--axes",
            "zyx",
            *options[: 2 if name == "out.zarr" else 1 if name == "out.tif" else 0],
            "--part",
            f"{k}/{most}",
            "--quiet",
        )


def test_finish_says_that_it_is_done_unless_it_is_to_be_quiet(sepconv, scan):
    for options, said in ([], ["out.npy is complete"]), (["--quiet"], []):
        create(sepconv, "out.npy", [])
        part(sepconv, "out.npy", [], "1/1")
        process = sepconv("finish", "out.npy", *options)
        assert (
            process.stdout == ""
            and [line for line in process.stderr.splitlines() if not line.startswith("warning: ")] == said
        )
        (sepconv.folder / "out.npy").unlink()


def test_what_is_no_part_is_refused(sepconv, scan):
    assert "is not begun" in fails(sepconv, "run", scan, "out.npy", "--part", "1/2", status=2)
    assert "nothing to finish" in fails(sepconv, "finish", "out.npy", status=1)
    create(sepconv, "out.npy", [])
    for typed in ("0/2", "3/2", "1", "a/b", "1/2/3"):
        assert "--part" in fails(sepconv, "run", scan, "out.npy", f"--part={typed}", status=2)
    assert "cannot be made in 99 parts" in fails(
        sepconv, "run", scan, "out.npy", "gaussian:sigma=9", "--part", "1/99", status=2
    )
    assert "another" in fails(sepconv, "run", scan, "out.npy", "gaussian:sigma=8", "--part", "1/2", status=2)
    assert "is there already" in fails(sepconv, "run", scan, "out.npy", *CHAIN, "--create-only", status=1)
    assert "made in parts" in fails(sepconv, "run", scan, "out.npy", *CHAIN, "--resume", status=2)


def test_a_part_waits_for_no_finish(sepconv, scan):
    """finish locks the result exclusively; it refuses while a part is running."""
    create(sepconv, "out.npy", [])
    descriptor = os.open(sepconv.folder / "out.npy.partial", os.O_RDONLY)
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_SH)
    assert "another process" in one_sentence(sepconv("finish", "out.npy", status=1).stderr)
    part(sepconv, "out.npy", [], "1/2")
    os.close(descriptor)


@pytest.mark.parametrize("kind", [KINDS[1], KINDS[6], KINDS[7], KINDS[8]], ids=NAMES)
def test_a_part_that_stands_still_holds_up_no_other(sepconv, scan, kind):
    name, options = kind
    partial = sepconv.folder / f"{name}.partial"
    create(sepconv, name, options)
    still = begin(sepconv, scan, name, "gaussian:sigma=9", *options, "--part", "1/2", "--threads", "1")
    written = lambda: [
        file
        for file in partial.rglob("*")
        if file.is_file() and file.name not in ("journal", ".sepconv-unfinished") and file.stat().st_size
    ]
    while still.poll() is None and not written():
        time.sleep(0.001)
    still.send_signal(signal.SIGSTOP)
    try:
        other = begin(sepconv, scan, name, "gaussian:sigma=9", *options, "--part", "2/2")
        assert other.wait(timeout=60) == 0
        assert still.poll() is None and not list(partial.glob("part-*-0-*[0-9]"))
    finally:
        still.send_signal(signal.SIGCONT)
    assert still.wait() == 0
    sepconv("finish", name, "--quiet")
    assert content(sepconv.folder / name) == whole(sepconv, scan, name, options)


def test_a_lock_of_the_journal_alone_tells_of_another_process(partial_result):
    """As on file systems whose folder locks are local to one machine."""
    import fcntl

    with open(partial_result.folder / "out.tif.partial/journal", "r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "another process" in fails(
            partial_result, "run", "in.tif", "out.tif", *CHAIN, "--resume", status=1
        )
    partial_result("run", "in.tif", "out.tif", *CHAIN, "--resume", "--quiet")


def test_what_has_one_band_is_made_in_one_part(sepconv):
    """For a volume in planes along z, the unit that users know."""
    np.save(sepconv.folder / "in.npy", np.zeros((5, 8, 9), np.float32))
    job = ["in.npy", "out.npy", "gaussian:sigma=1,sigma_z=1", "--axes", "zyx"]
    assert "--part 1/1 makes it" in sepconv("run", *job, "--create-only").stderr
    message = one_sentence(sepconv("run", *job, "--part", "1/4", status=2).stderr)
    assert "in one: its bands are of 5 planes along z of 9 x 8 pixels" in message


def test_no_two_parts_write_to_a_shard(sepconv, scan):
    options = ["--chunk", "32", "--shard", "512"]
    create(sepconv, "out.zarr", options)
    assert "in 1 to 3" in one_sentence(part(sepconv, "out.zarr", options, "1/4", status=2).stderr)
    for k in (1, 2, 3):
        part(sepconv, "out.zarr", options, f"{k}/3")
    sepconv("finish", "out.zarr")
    assert content(sepconv.folder / "out.zarr") == whole(sepconv, scan, "out.zarr", options)


def test_the_plan_says_what_parts_cost(sepconv, scan):
    said = sepconv("plan", scan, "out.npy", *CHAIN, "--parts", "5").stdout
    halo = 2 * 36 * 1500 * 2 * 4  # four parts, the rows above and below their first
    assert "5 of" in said and f"read twice {halo / 1024:.0f} KiB" in said
