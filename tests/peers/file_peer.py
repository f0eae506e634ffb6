#!/usr/bin/env python3
"""One operation of libvips or GDAL from file to file, in a separate process.

    file_peer.py libvips SOURCE RESULT OPTIONS [TAPS PRECISION]
        convsep, or a copy without TAPS; OPTIONS: arguments of tiffsave as JSON
    file_peer.py gdal SOURCE RESULT OPTIONS
        a copy; filters if SOURCE is a VRT with filters
    file_peer.py libvips|gdal
        name and version

The libraries' packages on PyPI contain no programs, so this script stands in for them. Prints as JSON the
seconds from opening the source to the finished result, the CPU seconds of that time, and the peak resident
bytes before it and in all. The start of Python and of the library counts in neither time."""

import importlib
import json
import pathlib
import re
import sys
import time


def libvips(pyvips):
    def operation(source, result, options, taps=None, precision=None):
        image = pyvips.Image.new_from_file(source)
        if taps:
            image = image.convsep(pyvips.Image.new_from_file(taps), precision=precision)
        image.tiffsave(result, **options)

    return "libvips " + ".".join(str(pyvips.version(part)) for part in range(3)), operation


def gdal(rasterio):
    copy = importlib.import_module("rasterio.shutil").copy
    return f"GDAL {rasterio.__gdal_version__}", lambda source, result, options: copy(
        source, result, driver="GTiff", **options
    )


PEERS = {"libvips": ("pyvips", libvips), "gdal": ("rasterio", gdal)}


def peak_bytes():
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())[1])


def main(name, source=None, result=None, options="{}", *more):
    module, peer = PEERS[name]
    version, operation = peer(importlib.import_module(module))
    if not source:
        print(version)
        return
    before = peak_bytes()
    begin, processor_begin = time.monotonic(), time.process_time()
    try:
        operation(source, result, json.loads(options), *more)
    except Exception as error:  # each library has its own
        sys.exit(f"file_peer.py: {name} could not make {result} of {source}: {error}")
    seconds, processor_seconds = time.monotonic() - begin, time.process_time() - processor_begin
    print(
        json.dumps(
            {
                "seconds": seconds,
                "processor_seconds": processor_seconds,
                "before_bytes": before,
                "peak_bytes": peak_bytes(),
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
