"""Measures all requested cases: first sepconv, checked against the CPU's engine, then each peer, checked
against sepconv."""

import math
import sys
import traceback

from gpu_case import Case, Images, Limits, bound, figures, greatest_difference
from gpu_library import Device, Filter, GpuError, download
from gpu_peers import PEERS, Peer, Unsupported

SHORT_SECONDS = 1e-3  # minimum duration of a sample
MAX_CALLS = 50


class Sepconv(Peer):
    name = "sepconv"
    note = "kernels/conv, compared with the CPU's engine bit by bit"
    version = ""

    def __init__(self, device, design):
        super().__init__(device)
        self.design, self.filter = design, None

    def prepare(self, case, pairs):
        self.pairs = pairs
        self.filter = Filter(self.device, case, self.design)
        return lambda i: self.filter.enqueue(*pairs[i % len(pairs)])

    def release(self):
        super().release()
        if self.filter:
            self.filter.free()
        self.filter = None


def timed(device, run, options):
    """Seconds of each run, after warm-up runs. A sample consists of several calls if one is too short to
    measure."""
    once = min(device.seconds(run, 2))
    calls = max(1, min(MAX_CALLS, math.ceil(SHORT_SECONDS / max(once, 1e-6))))
    runs = max(3, min(options.runs, int(options.seconds / (once * calls))))
    if once < options.seconds / 10:
        device.seconds(run, 2, calls=calls)
    return device.seconds(run, runs, calls=calls)


class Measurement:
    """Measures cases on one device."""

    def __init__(self, options, device, report, limits):
        self.options, self.device, self.report, self.limits = options, device, report, limits
        self.sepconv = Sepconv(device, options.design)
        report.peer(self.sepconv.name, self.sepconv.version, self.sepconv.note)
        self.peers = [peer for name in options.peers if (peer := self.create_peer(name))]

    def create_peer(self, name):
        """The peer of this name. If it is not installed or does not work here, reports that and returns
        None."""
        try:
            peer = PEERS[name](self.device)
        except (ImportError, Unsupported) as error:
            self.report.skip(PEERS[name].name, f"{error}")
        except Exception as error:  # a broken installation may raise anything
            self.report.skip(PEERS[name].name, f"did not start: {error!r}")
        else:
            self.report.peer(peer.name, peer.version, peer.note)
            return peer
        return None

    def windows_of(self, peer, case, pairs, run):
        """The peer's result of the first image as host arrays, one per window. Unwritten pixels contain the
        poison."""
        run(0)
        pointer = peer.result(0)
        pitch_bytes = pairs[0][0].pitch_bytes
        return [
            download(self.device, pointer, pitch_bytes, rect, case.channels, case.dtype)
            for rect in case.windows(self.options.check == "whole")
        ]

    def figures_of(self, peer, case, images, expected):
        """The record of one peer and case, and its windows; `expected()` returns the windows to compare
        with."""
        images.poison()
        run = None
        try:
            run = peer.prepare(case, images.pairs)
            results = self.windows_of(peer, case, images.pairs, run)
            difference = greatest_difference(results, expected())
            limit = 0 if peer is self.sepconv else bound(case, peer.integer_bound)
            times = timed(self.device, run, self.options)
        finally:
            del run  # frees the peer's memory that it references
            peer.release()
        record = {
            "peer": peer.name,
            "rows": case.rows,
            "cols": case.cols,
            "type": case.type,
            "channels": case.channels,
            "radius": case.radius,
            "design": self.options.design if peer is self.sepconv else None,
            **figures(case, self.limits, times),
            "buffers": len(images.pairs),
            "greatest_difference": difference,
            "bound": limit,
            "agrees": difference <= limit,
        }
        return record, results

    def guarded(self, peer, case, work):
        """The result of `work`. If it fails, reports that and returns None, so that the other peers
        continue."""
        where = {
            "rows": case.rows,
            "cols": case.cols,
            "type": case.type,
            "channels": case.channels,
            "radius": case.radius,
        }
        try:
            return work()
        except Unsupported as error:
            self.report.skip(peer.name, str(error), **where)
        except GpuError as error:  # a design requested by name need not support every filter
            self.report.skip(peer.name, str(error), failed=self.options.design == "automatic", **where)
        except Exception as error:
            if not isinstance(error, MemoryError):
                traceback.print_exc(limit=-3, file=sys.stderr)
            lines = str(error).strip().splitlines() or [""]
            self.report.skip(
                peer.name, f"failed: {type(error).__name__}: {lines[0][:300]}", failed=True, **where
            )
        return None

    def case(self, case, images):
        def on_host():
            return [
                self.sepconv.filter.on_host(images.pairs[0][0], rect)
                for rect in case.windows(self.options.check == "whole")
            ]

        sepconv_result = self.guarded(
            self.sepconv, case, lambda: self.figures_of(self.sepconv, case, images, on_host)
        )
        if sepconv_result is None:
            return
        self.report.row({**sepconv_result[0], "ratio_to_sepconv": 1.0})
        for peer in self.peers:
            peer_result = self.guarded(
                peer, case, lambda peer=peer: self.figures_of(peer, case, images, lambda: sepconv_result[1])
            )
            if peer_result:
                self.report.row(
                    {
                        **peer_result[0],
                        "ratio_to_sepconv": peer_result[0]["seconds"] / sepconv_result[0]["seconds"],
                    }
                )

    def images(self, case):
        """The images of a case; None after a reported failure."""
        return self.guarded(self.sepconv, case, lambda: Images(self.device, case))


def measure_all(options, library, make_report):
    """Measures every case of the options and returns the exit code. Raises GpuError if the device is
    unusable."""
    device = Device(library, options.device)
    limits = Limits(device)
    report = make_report(options, device, limits)
    measurement = Measurement(options, device, report, limits)
    for cols, rows in options.size:
        report.size(cols, rows)
        for kind in options.type:
            for channels in options.channels:
                cases = [
                    Case(rows, cols, channels, kind, radius, options.border, options.value)
                    for radius in options.radius
                ]
                images = measurement.images(cases[0])
                if images is None:
                    continue
                try:
                    for case in cases:
                        measurement.case(case, images)
                finally:
                    images.free()
    return report.close()
