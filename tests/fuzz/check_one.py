"""Checks sepconv on one damaged file. Each violated requirement is reported as a line of text."""

import concurrent.futures
import multiprocessing
import os
import pathlib
import resource
import subprocess
import tempfile
import threading

MIB = 1 << 20
CPU_SECONDS = 20
WALL_SECONDS = 600  # for deadlocks; not a measure of speed
# The memory limit of each command, and the allowance for code, libraries, stacks and the allocator.
CEILINGS = {"tif": 64 * MIB, "npy": 64 * MIB}
OTHER_CEILING, PROGRAM = 128 * MIB, 64 * MIB
PLANS = (["--band-rows", "16", "--slots", "1", "--threads", "2"], ["--slots", "3", "--threads", "1"])


def small_processes(workers=None):
    """A pool of processes without the imports of the parent process, which would count as memory of their
    commands."""
    return concurrent.futures.ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("forkserver")
    )


class Outcome:
    """Exit status (negative: a signal), stdout, stderr, and the peak of the resident set."""

    def __init__(self, command, folder):
        with tempfile.TemporaryFile() as stdout_file, tempfile.TemporaryFile() as stderr_file:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=stdout_file,
                stderr=stderr_file,
                preexec_fn=limit_processor_time,
            )
            timer = threading.Timer(WALL_SECONDS, process.kill)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = self.status = os.waitstatus_to_exitcode(status)
            self.stdout, self.stderr = whole_text(stdout_file), whole_text(stderr_file)
        self.peak_bytes = usage.ru_maxrss * 1024  # at least that of this process: see small_processes()


def whole_text(file):
    file.seek(0)
    return file.read().decode(errors="replace")


def limit_processor_time():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def violations(outcome, ceiling):
    """Yields (kind, details) of each violated requirement."""
    if outcome.status < 0:
        yield f"dies of signal {-outcome.status}", f"9 and 24: of {CPU_SECONDS} s of processor time"
    elif outcome.status not in (0, 1, 2):
        yield f"ends with {outcome.status}", outcome.stderr[-400:]
    elif outcome.status == 0 and not all(
        line.startswith("warning: ") for line in outcome.stderr.splitlines()
    ):
        yield "succeeds and complains", outcome.stderr[:400]
    elif outcome.status and not (
        outcome.stderr.startswith("sepconv: ") and outcome.stderr.find("\n") == len(outcome.stderr) - 1
    ):
        yield "fails without one sentence", outcome.stderr[:400]
    if outcome.peak_bytes > ceiling + PROGRAM:
        yield (
            "takes too much memory",
            f"{outcome.peak_bytes // MIB} MiB under a ceiling of {ceiling // MIB} MiB",
        )


class Trial:
    """Runs sepconv on `name` in `folder`, which contains nothing else. `.complaints` then lists (kind,
    details) of each violation, and `.accepted` tells whether the file was filtered."""

    def __init__(self, binary, folder, name):
        self.binary, self.folder, self.name = binary, folder, name
        self.ceiling = CEILINGS.get(name.rpartition(".")[2], OTHER_CEILING)
        self.complaints = []
        self.options = ["--max-memory", str(self.ceiling), "--quiet", "--page", "0"]
        self.layout = self.sepconv("info", name).stdout
        self.sepconv("stats", name, *self.options, "--threads", "2")
        good = [
            self.filter(name, f"out-{index}.tif", *self.options, *plan) for index, plan in enumerate(PLANS)
        ]
        self.accepted = any(good)
        if all(good):
            self.check_equal("out-0.tif", "out-1.tif", "makes two images under two plans")
        elif self.accepted:
            self.complain("succeeds under one plan only", " ".join(PLANS[good.index(True)]))
        if " images (" in self.layout:
            self.filter_all()

    def filter_all(self):
        """Filters all images of a file with several. They may be refused, but equally under both plans, and
        not by stats alone."""
        options = [option for option in self.options if option not in ("--page", "0")]
        self.sepconv("stats", self.name, *options)
        good = [
            self.filter(self.name, f"all-{index}.tif", *options, *plan) for index, plan in enumerate(PLANS)
        ]
        if all(good):
            self.check_equal("all-0.tif", "all-1.tif", "makes two stacks under two plans")
        elif any(good):
            self.complain("filters all images under one plan only", " ".join(PLANS[good.index(True)]))

    def complain(self, kind, details):
        self.complaints.append((kind, details))

    def sepconv(self, command, *arguments, output=None):
        """Runs a command and returns its outcome. It may create the file `made` on success, and no other
        file."""
        before = set(os.listdir(self.folder))
        outcome = Outcome([self.binary, command, *arguments], self.folder)
        for kind, details in violations(outcome, self.ceiling):
            self.complain(kind, f"{command}: {details}")
        expected_files = {output} if output and outcome.status == 0 else set()
        if set(os.listdir(self.folder)) ^ before != expected_files:
            self.complain("leaves files", f"{command}: {os.listdir(self.folder)}")
        return outcome

    def filter(self, source, target, *options):
        return self.sepconv("run", source, target, "box:radius=2", *options, output=target).status == 0

    def check_equal(self, first, second, kind):
        if pathlib.Path(self.folder, first).read_bytes() != pathlib.Path(self.folder, second).read_bytes():
            outcome = Outcome([self.binary, "compare", first, second], self.folder)
            if outcome.status:
                self.complain(kind, outcome.stdout + outcome.stderr)

    def check_copy(self, copy):
        """Checks that `copy`, tiffcp's copy of the file, is filtered to the same image."""
        if "deflate" in self.layout or "PackBits" in self.layout:
            # for streams that are too long, tiffcp 4.5 leaves the end of a deflate block unchanged, and cuts
            # runs at the end of a row
            return
        if "tiles of" in self.layout and "in separate planes" in self.layout:
            return  # tiffcp mixes up their bytes if samples have more than one
        options = [*self.options, "--nodata", "none"]  # tiffcp copies the page but not its mask
        if self.filter(self.name, "out.npy", *options) and self.filter(copy, "copy.npy", *options):
            self.check_equal("out.npy", "copy.npy", "reads other pixels than tiffcp")
