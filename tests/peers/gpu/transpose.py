#!/usr/bin/env python3
"""sepconv's transpositions beside other GPU libraries: the same tensors, in place in device memory, on one stream of one process.

    transpose.py [--case TYPE:SHAPE:AXES ...] [--peers cupy,torch] [--runs 20] [--json FILE]

A case is such as f32:16384x16384:1,0 or u8:8192x8192x3:2,0,1; axes as numpy.transpose has them. Times are medians by CUDA events;
before, every result is compared with NumPy's in planes of the result. "copy" is device memory read and written at the rate that this GPU reaches
with nothing else to do, measured first. Prints Markdown. Exit code 0: all that ran agree; 1: something differs or sepconv failed;
2: bad options; 77: no GPU.
"""

import argparse
import ctypes
import datetime
import json
import statistics
import sys

NO_GPU = 77
TYPES = ("u8", "u16", "f32", "f64")
CASES = ["f32:16384x16384:1,0", "u8:16384x16384:1,0", "u16:16384x16384:1,0", "f64:16384x16384:1,0", "f32:16381x16411:1,0",
         "u8:16384x16384x3:1,0,2", "u8:8192x8192x3:2,0,1", "u8:3x8192x8192:1,2,0", "f32:8192x8192x3:2,0,1", "f32:3x8192x8192:1,2,0",
         "f32:2048x2048x64:2,0,1", "f32:64x2048x2048:1,2,0"] + [
         f"f32:1024x1024x1024:{axes}" for axes in ("0,1,2", "0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0")]
PLANES = 24  # of a result that are compared
PERIOD = (1 << 22) + 7  # elements after which a source repeats, no multiple of a row


def parse_case(text):
    try:
        kind, shape, axes = text.split(":")
        shape, axes = tuple(map(int, shape.split("x"))), tuple(map(int, axes.split(",")))
        if kind in TYPES and len(shape) in (2, 3) and sorted(axes) == list(range(len(shape))) and min(shape) > 0:
            return kind, shape, axes
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text} is not TYPE:SHAPE:AXES, such as u8:4096x4096x3:2,0,1")


def parse_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", type=parse_case, nargs="+", default=list(map(parse_case, CASES)), help="TYPE:SHAPE:AXES")
    parser.add_argument("--peers", default="cupy,torch", help="(%(default)s); none for sepconv alone")
    parser.add_argument("--runs", type=int, default=20, help="(%(default)s)")
    parser.add_argument("--device", type=int, default=0, help="GPU (%(default)s)")
    parser.add_argument("--library", help="libpeers_gpu.so (searched for beside this program and in the builds release and dev)")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args(arguments)
    options.peers = [] if options.peers == "none" else options.peers.split(",")
    return options


def fail(text, status):
    print(f"transpose.py: {text}", file=sys.stderr)
    return status


class Tensors:
    """A random source and a target of a case in device memory."""

    def __init__(self, device, case):
        from gpu_library import DTYPES, Array
        import numpy as np

        kind, self.shape, self.axes = case
        self.device, self.dtype, self.np = device, np.dtype(DTYPES[kind]), np
        self.result_shape = tuple(self.shape[axis] for axis in self.axes)
        elements = int(np.prod(self.shape))
        random = np.random.default_rng(7)
        self.values = random.integers(0, 256, PERIOD * self.dtype.itemsize, np.uint8).view(self.dtype)
        if self.dtype.kind == "f":  # no NaN, which is not equal to itself
            self.values = random.random(PERIOD, self.dtype)
        self.source = Array(device, 1, elements, 1, self.dtype)
        self.target = Array(device, 1, elements, 1, self.dtype)
        self.source.shape, self.target.shape = self.shape, self.result_shape  # as others see them
        self.source.repeat(self.values)
        self.nbytes = self.source.nbytes

    def poison(self):
        self.target.fill(0xFF)

    def differing(self, pointer):
        """Elements that are not NumPy's, in planes of the result along its first axis: the first, the last, and some between."""
        from gpu_library import download

        np = self.np
        strides = np.cumprod((1, *self.shape[:0:-1]))[::-1]  # in elements
        plane_shape = self.result_shape[1:]
        inner = sum(np.arange(size).reshape(-1, *[1] * (len(plane_shape) - k - 1)) * strides[axis]
                    for k, (size, axis) in enumerate(zip(plane_shape, self.axes[1:], strict=True)))
        last = self.result_shape[0] - 1
        planes = {0, last, *np.random.default_rng(3).integers(0, last + 1, PLANES - 2).tolist()}
        count, wrong = int(np.prod(plane_shape)), 0
        for plane in planes:
            expected = self.values[(inner + plane * strides[self.axes[0]]) % PERIOD]
            actual = download(self.device, pointer + plane * count * self.dtype.itemsize, count * self.dtype.itemsize, (0, 0, 1, count), 1,
                              self.dtype)
            wrong += int(np.count_nonzero(actual.reshape(plane_shape) != expected))
        return wrong

    def free(self):
        self.source.free()
        self.target.free()


class Sepconv:
    name, note, version = "sepconv", "permute_cuda", ""

    def __init__(self, device):
        self.device = device

    def prepare(self, tensors):
        library, stream = self.device.library, self.device.stream
        shape = (ctypes.c_int64 * 3)(*(*tensors.shape, 1)[:3])
        axes = (ctypes.c_int * 3)(*(*tensors.axes, 2)[:3])

        def run(_):
            library.check(library.permute(shape, axes, tensors.dtype.itemsize, tensors.source.pointer, tensors.target.pointer, stream))

        return run

    def release(self):
        pass


class CuPy(Sepconv):
    name, note = "CuPy", "copyto of the transposed view"

    def __init__(self, device):
        super().__init__(device)
        import cupy
        self.cupy, self.version = cupy, cupy.__version__
        cupy.cuda.Device(device.index).use()
        self.stream = cupy.cuda.ExternalStream(device.stream)

    def prepare(self, tensors):
        source, target = self.cupy.asarray(tensors.source).transpose(tensors.axes), self.cupy.asarray(tensors.target)

        def run(_):
            with self.stream:
                self.cupy.copyto(target, source)

        return run


class Torch(Sepconv):
    name, note = "PyTorch", "copy_ of the permuted view, as contiguous() does"

    def __init__(self, device):
        super().__init__(device)
        import torch
        if not torch.cuda.is_available():
            raise ImportError("PyTorch sees no GPU")
        self.torch, self.version = torch, torch.__version__
        torch.cuda.set_device(device.index)
        self.stream = torch.cuda.ExternalStream(device.stream, device=device.index)

    def prepare(self, tensors):
        torch = self.torch
        place = torch.device("cuda", self.device.index)
        source = torch.as_tensor(tensors.source, device=place).permute(tensors.axes)
        target = torch.as_tensor(tensors.target, device=place)

        def run(_):
            with torch.inference_mode(), torch.cuda.stream(self.stream):
                target.copy_(source)

        return run


PEERS = {"cupy": CuPy, "torch": Torch}


def measured(device, peer, tensors, options):
    """Seconds of each run, and how many elements differ."""
    tensors.poison()
    run = peer.prepare(tensors)
    run(0)
    wrong = tensors.differing(tensors.target.pointer)
    device.seconds(run, 2)
    once = min(device.seconds(run, 2))
    calls = max(1, min(50, round(1e-3 / max(once, 1e-6))))
    return device.seconds(run, options.runs, calls=calls), wrong


def measure_all(options, library):
    import gpu_case
    import gpu_library

    device = gpu_library.Device(library, options.device)
    limits = gpu_case.Limits(device)
    date = datetime.date.today().isoformat()
    print(f"{device.name}, {date}; copy {limits.copy / 1e12:.2f} TB/s (read + written); medians of {options.runs} runs, +- is half of greatest "
          "less least")
    found, skipped = [Sepconv(device)], []
    for name in options.peers:
        try:
            found.append(PEERS[name](device))
        except ImportError as error:
            skipped.append(name)
            print(f"- {name}: {error}")
    for peer in found:
        print(f"- {peer.name} {peer.version}: {peer.note}")
    print("\n| case | program | ms | +- | GB/s | of copy | sepconv is faster by |\n|---|---|---|---|---|---|---|")
    rows, wrong = [], 0
    for case in options.case:
        tensors = Tensors(device, case)
        label = f"{case[0]} {'x'.join(map(str, case[1]))} ({','.join(map(str, case[2]))})"
        for peer in found:
            seconds, differing = measured(device, peer, tensors, options)
            median = statistics.median(seconds)
            rate = 2 * tensors.nbytes / median
            ours = rows[-1]["sepconv_seconds"] if peer is not found[0] else median
            rows.append({"case": label, "program": peer.name, "seconds": median, "spread": (max(seconds) - min(seconds)) / 2 / median,
                         "bytes_per_second": rate, "share_of_copy": rate / limits.copy, "sepconv_seconds": ours, "differing": differing})
            wrong += differing > 0
            print(f"| {label} | {peer.name} | {median * 1e3:.4g} | {rows[-1]['spread']:.1%} | {rate / 1e9:.0f} | {rate / limits.copy:.3f} | "
                  f"{median / ours:.2f} |" + (f" **{differing} elements differ**" if differing else ""), flush=True)
        tensors.free()
    print(f"\n{len(rows)} measured, {wrong} differ")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"program": "tests/peers/gpu/transpose.py", "date": date, "device": device.name, "runs": options.runs,
                       "limits": limits.report(), "missing": skipped, "measured": rows}, file, indent=1)
    return 1 if wrong else 0


def main(arguments=None):
    options = parse_options(arguments)
    unknown = [name for name in options.peers if name not in PEERS]
    if unknown:
        return fail(f"no peer is called {unknown[0]}: there are {', '.join(PEERS)}", 2)
    try:
        import gpu_library
        import gpu_peers
    except ImportError as error:
        return fail(f"{error}; it needs NumPy for the Python that runs it", 2)
    path = options.library or gpu_library.find_library()
    if path is None:
        return fail(f"{gpu_library.NAME} was found nowhere: build the target peers_gpu with a CUDA toolkit, or name it with --library", 2)
    gpu_peers.import_early(options.peers)
    try:
        library = gpu_library.Library(path)
    except (OSError, AttributeError) as error:
        return fail(f"{path} cannot be loaded ({error}): build the target peers_gpu anew", 2)
    if library.devices() == 0:
        print("skipped: no GPU")
        return NO_GPU
    try:
        return measure_all(options, library)
    except gpu_library.GpuError as error:
        return fail(str(error), 1)


if __name__ == "__main__":
    sys.exit(main())
