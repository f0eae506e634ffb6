"""Images through standard input and output: `run - -`. Output to a pipe is identical to a file, in bounded
memory; operations that a stream cannot support are refused with an alternative."""

import io
import json
import os
import resource
import subprocess

import numpy as np
import pytest
import tifffile

from conftest import BINARY
from cli_support import fails, image, in_terminal, listing, one_sentence, source

FAILED, WRONG_USAGE, INTERRUPTED, READER_GONE = 1, 2, 130, 141
BLUR = "gaussian:sigma=2"


def piped(sepconv, data, *arguments, status=0):
    """Runs a command with these bytes as standard input. Returns its standard output as bytes, and its
    messages."""
    process = subprocess.run([BINARY, *arguments], cwd=sepconv.folder, input=data, capture_output=True)
    assert process.returncode == status, process.stderr
    return process.stdout, process.stderr.decode()


def shell(sepconv, line):
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", f'sepconv() {{ "{BINARY}" "$@"; }}\n{line}'],
        cwd=sepconv.folder,
        capture_output=True,
    )


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize("dtype", ["u1", "<u2", ">u2", "<f4", ">f4", "<f8", "<i4", "<f2", "?", "<c8", "<u4"])
def test_npy_is_the_file_of_a_run(sepconv, dtype):
    pixels = image(rows=211, cols=67).astype(dtype)
    np.save(sepconv.folder / "in.npy", pixels)
    sepconv("run", "in.npy", "out.npy", BLUR, "-q")
    expected = (sepconv.folder / "out.npy").read_bytes()
    data = (sepconv.folder / "in.npy").read_bytes()
    for more in ([], ["--band-rows", "7"], ["--slots", "1", "--threads", "1"], ["--reference"]):
        found, messages = piped(sepconv, data, "run", "-", "-", BLUR, *more)
        assert found == expected, more
        assert "at the peak" in messages or more == ["--reference"]
    piped(sepconv, data, "run", "-", "from.npy", BLUR, "-q")
    assert (sepconv.folder / "from.npy").read_bytes() == expected
    assert piped(sepconv, b"", "run", "in.npy", "-", BLUR, "-q") == (expected, "")


@pytest.mark.parametrize(
    "axes, shape",
    [("yxc", (30, 20, 3)), ("zyx", (5, 30, 20)), ("tzyxc", (2, 3, 9, 8, 2)), ("xy"[::-1], (1, 1))],
)
def test_npy_of_several_images(sepconv, axes, shape):
    pixels = np.random.default_rng(1).integers(0, 65536, shape).astype(np.uint16)
    np.save(sepconv.folder / "in.npy", pixels)
    sepconv("run", "in.npy", "out.npy", BLUR, "--axes", axes, "-q")
    found, _ = piped(sepconv, npy(pixels), "run", "-", "-", BLUR, "--axes", axes, "-q")
    assert found == (sepconv.folder / "out.npy").read_bytes()
    if axes == "zyx":
        found, _ = piped(sepconv, npy(pixels), "run", "-", "-", BLUR, "--axes", axes, "-q", "--page", "1-3")
        sepconv("run", "in.npy", "out.npy", BLUR, "--axes", axes, "-q", "--page", "1-3", "--force")
        assert found == (sepconv.folder / "out.npy").read_bytes()


def test_a_filter_along_z(sepconv):
    """Planes are read and written in order."""
    pixels = np.random.default_rng(2).integers(0, 256, (23, 11, 13), np.uint8)
    np.save(sepconv.folder / "in.npy", pixels)
    for more in ([], ["--band-rows", "3"]):
        sepconv(
            "run",
            "in.npy",
            "out.npy",
            "gaussian:sigma=1,sigma_z=1.5",
            "--axes",
            "zyx",
            "-q",
            "--force",
            *more,
        )
        found, _ = piped(
            sepconv,
            npy(pixels),
            "run",
            "-",
            "-",
            "gaussian:sigma=1,sigma_z=1.5",
            "--axes",
            "zyx",
            "-q",
            *more,
        )
        assert found == (sepconv.folder / "out.npy").read_bytes()


@pytest.mark.parametrize("dtype", ["u1", ">u2"])
@pytest.mark.parametrize("channels", [1, 3])
def test_portable_maps(sepconv, dtype, channels):
    pixels = image(rows=41, cols=29, channels=channels).astype(dtype)
    kind, ending = (5, "pgm") if channels == 1 else (6, "ppm")
    data = f"P{kind}\n# made by hand\n29 41\n{255 if dtype == 'u1' else 65535}\n".encode() + pixels.tobytes()
    (sepconv.folder / f"in.{ending}").write_bytes(data)
    sepconv("run", f"in.{ending}", f"out.{ending}", BLUR, "-q")
    found, messages = piped(sepconv, data, "run", "-", "-", BLUR, "-q")
    assert found == (sepconv.folder / f"out.{ending}").read_bytes() and messages == ""
    sepconv("run", f"in.{ending}", "out.npy", "cast:type=f32", BLUR, "-q")
    assert (
        piped(sepconv, data, "run", "-", "-", "cast:type=f32", BLUR, "-q", "--format", "npy")[0]
        == (sepconv.folder / "out.npy").read_bytes()
    )


def test_portable_maps_of_another_greatest_value(sepconv):
    for greatest, dtype in ((100, "u1"), (1000, ">u2")):
        data = f"P5 9 7 {greatest}\n".encode() + np.arange(63).astype(dtype).tobytes()
        (sepconv.folder / "in.pgm").write_bytes(data)
        sepconv("run", "in.pgm", "out.pgm", "abs", "-q", "--force")
        found, messages = piped(sepconv, data, "run", "-", "-", "abs")
        assert (
            found == (sepconv.folder / "out.pgm").read_bytes() and f"0 to {greatest} are scaled" in messages
        )
    assert "maximum value" in one_sentence(
        piped(sepconv, b"P5 2 1 100\n\x05\x65", "run", "-", "out.npy", status=FAILED)[1]
    )


def test_raw(sepconv):
    pixels = image(rows=31, cols=17, channels=2, dtype=np.int16)
    found, _ = piped(
        sepconv, b"head" + pixels.astype(">i2").tobytes(), "run", "-", "-", "abs", "--raw", "17x31x2:i16be:4"
    )
    assert np.array_equal(
        np.frombuffer(found, np.int16).reshape(31, 17, 2), np.where(pixels == -32768, 32767, np.abs(pixels))
    )
    np.save(sepconv.folder / "in.npy", pixels)
    assert (
        piped(sepconv, b"", "run", "in.npy", "-", "--axes", "yxc", "--format", "raw")[0] == pixels.tobytes()
    )


def test_programs_in_a_pipe(sepconv):
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        image(rows=500, cols=300, dtype=np.uint16),
        compression="deflate",
        tile=(64, 64),
    )
    process = shell(
        sepconv,
        f"cat in.tif > /dev/null; sepconv run in.tif - {BLUR} -q | sepconv run - - sobel:axis=x cast:type=i16 -q | sepconv run - out.tif abs -q",
    )
    assert (process.returncode, process.stderr) == (
        0,
        b"warning: resolution, description, software of the source are not kept: NPY cannot store them\n",
    )
    (
        sepconv("run", "in.tif", "a.npy", BLUR),
        sepconv("run", "a.npy", "b.npy", "sobel:axis=x", "cast:type=i16"),
        sepconv("run", "b.npy", "expected.tif", "abs"),
    )
    assert (sepconv.folder / "out.tif").read_bytes() == (sepconv.folder / "expected.tif").read_bytes()


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_what_only_looks(sepconv, dtype):
    """info, stats and compare report the same for a stream as for a file with its bytes."""
    pixels = image(rows=50, cols=40, channels=3, dtype=dtype)
    np.save(sepconv.folder / "in.npy", pixels)
    says = lambda data, *arguments, status=0: piped(sepconv, data, *arguments, status=status)[0].decode()
    report, expected = (
        json.loads(says(npy(pixels), "info", "-", "--json")),
        json.loads(sepconv("info", "in.npy", "--json").stdout),
    )
    assert report["file"] == "-" and report["pages"][0]["layout"] == expected["pages"][0]["layout"]
    assert [report["pages"][0][key] for key in ("rows", "cols", "channels", "type")] == [
        50,
        40,
        3,
        "f32" if dtype == np.float32 else "u16",
    ]
    assert says(npy(pixels), "stats", "-") == sepconv("stats", "in.npy").stdout
    report, expected = (
        json.loads(says(npy(pixels), "stats", "-", "--json")),
        json.loads(sepconv("stats", "in.npy", "--json").stdout),
    )
    if dtype == np.float32:
        assert all(channel["histogram"].pop("counts") is None for channel in report["channels"])
        assert all(sum(channel["histogram"].pop("counts")) == 2000 for channel in expected["channels"])
        assert "second pass" in one_sentence(
            piped(sepconv, npy(pixels), "stats", "-", "--histogram", status=WRONG_USAGE)[1]
        )
    assert {**report, "file": "in.npy"} == expected
    assert (
        says(npy(pixels), "compare", "-", "in.npy")
        == says(npy(pixels), "compare", "in.npy", "-")
        == sepconv("compare", "in.npy", "in.npy").stdout
    )
    other = pixels.copy()
    other[49, 39, 2] += 1
    assert "row 49" in says(npy(other), "compare", "in.npy", "-", status=1)
    assert "both" in one_sentence(piped(sepconv, npy(pixels), "compare", "-", "-", status=2)[1])


def test_axes_and_raw_of_what_only_looks(sepconv):
    pixels = image(rows=50, cols=40, channels=3)
    np.save(sepconv.folder / "in.npy", pixels)
    of_file = sepconv("stats", "in.npy", "--axes", "zyx").stdout
    assert piped(sepconv, npy(pixels), "stats", "-", "--axes", "zyx")[0].decode() == of_file
    assert json.loads(piped(sepconv, npy(pixels), "info", "-", "--axes", "zyx", "--json")[0])["axes"] == [
        {"name": "z", "size": 50}
    ]
    assert (
        piped(sepconv, pixels.tobytes(), "stats", "-", "--raw", "40x50x3:u8")[0].decode()
        == sepconv("stats", "in.npy", "--axes", "yxc").stdout
    )


def test_memory_is_bounded(sepconv):
    rows, cols = 40000, 8192  # 312 MiB through 32 MiB
    line = (
        f"head -c {rows * cols} /dev/zero | sepconv run - - box:radius=3 --raw {cols}x{rows}:u8 --max-memory 32M -q --json 2>&1 >/dev/null | cat; "
        f"head -c {rows * cols} /dev/zero | sepconv run - - box:radius=3 --raw {cols}x{rows}:u8 --max-memory 32M -q | wc -c"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    process = shell(sepconv, line)
    assert process.stdout.splitlines()[-1].split()[-1] == str(rows * cols).encode()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert peak == before or peak < 160 << 10  # KiB; includes the program itself and its libraries


@pytest.mark.parametrize(
    "data, arguments, said",
    [
        (b"", [], "it is empty"),
        (b"\x89PNG\r\n\x1a\n0000", [], "--raw"),
        (npy(image())[:-1], [], "1 more bytes are expected"),
        (npy(image())[:50], [], "are expected"),
        (npy(image()) + b"x", [], "continues after the image"),
        (bytes(99), ["--raw", "10x10:u8"], "1 more bytes"),
        (bytes(101), ["--raw", "10x10:u8"], "continues after"),
        (npy(np.asfortranarray(image())), [], "ascontiguousarray"),
        (b"P2 2 2 9\n1 2 3 4\n", [], "P5 and P6"),
        (b"P4 8 1\n\x00", [], "P5 and P6"),
        (b"P5 0 1 255\n", [], "0 pixels"),
        (npy(np.array(["a", "b"])), [], "dtype"),
        (b"\x93NUMPY\x09\x00\x10\x00{}", [], "version"),
    ],
    ids=range(13),
)
def test_what_is_no_image_in_order(sepconv, data, arguments, said):
    _, stderr = piped(sepconv, data, "run", "-", "out.npy", *arguments, "-q", status=FAILED)
    assert said in one_sentence(stderr) and "standard input" in stderr
    assert listing(sepconv.folder) == []


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["run", "-", "-", "gaussian:sigma=2,border=wrap"], "image file"),
        (["run", "-", "out.npy", "--region", "4x4+1+1"], "--region"),
        (["run", "-", "-", "--level", "1"], "level"),
        (["run", "-", "-", "cast:type=f32", "--format", "ppm"], "npy"),
        (["run", "-", "-", "--format", "tif"], "npy, raw or ppm"),
        (["run", "-", "-", "--compress", "zstd"], "leave them out"),
        (["run", "-", "-", "--pyramid"], "leave them out"),
        (["run", "-", "out.npy", "--format", "npy"], "leave it out"),
        (["run", "-", "out.tif", "--resume"], "files"),
        (["run", "-", "-", "--part", "1/2"], "files"),
        (["run", "-", "-", "--json"], "--stats FILE"),
        (["run", "-", "-", "--trace", "-"], "standard output"),
        (["run", "-", "-", "transpose", "--max-memory", "1M"], "--max-memory"),
    ],
    ids=lambda value: " ".join(value[1:]) if isinstance(value, list) else "",
)
def test_what_a_stream_cannot_do(sepconv, arguments, said):
    data = npy(image(rows=3000, cols=900))
    stdout, stderr = piped(
        sepconv,
        data,
        *arguments,
        status=FAILED if "--level" in arguments or "transpose" in arguments else WRONG_USAGE,
    )
    assert said in one_sentence(stderr) and stdout == b"" and listing(sepconv.folder) == []


def test_a_transposed_stream_is_made_where_it_fits(sepconv):
    pixels = image(rows=70, cols=30)
    assert np.array_equal(
        np.load(io.BytesIO(piped(sepconv, npy(pixels), "run", "-", "-", "transpose", "-q")[0])), pixels.T
    )


def test_several_images_are_no_portable_map(sepconv):
    message = one_sentence(
        piped(
            sepconv,
            npy(image(channels=3)),
            "run",
            "-",
            "-",
            "--axes",
            "zyx",
            "--format",
            "ppm",
            status=WRONG_USAGE,
        )[1]
    )
    assert "npy" in message and "--page" in message


def test_what_is_lost_is_said(sepconv):
    tifffile.imwrite(
        sepconv.folder / "in.tif",
        image(channels=3),
        software="somebody's",
        photometric="rgb",
        resolution=(300, 300),
    )
    assert (
        "warning" in piped(sepconv, b"", "run", "in.tif", "-")[1]
        or "not kept" in piped(sepconv, b"", "run", "in.tif", "-")[1]
    )
    tifffile.imwrite(sepconv.folder / "inverted.tif", image(), photometric="miniswhite")
    assert "inverted" in piped(sepconv, b"", "run", "inverted.tif", "-", "--format", "ppm")[1]


def test_a_reader_that_goes_away_is_nothing_to_complain_of(sepconv):
    np.save(sepconv.folder / "in.npy", image(rows=4000, cols=4000))
    process = shell(sepconv, f"sepconv run in.npy - {BLUR} | head -c 1000 | wc -c; echo ${{PIPESTATUS[0]}}")
    assert process.stdout.split() == [b"1000", str(READER_GONE).encode()] and process.stderr == b""


def test_a_writer_that_ends_early_is_an_error_of_all_behind_it(sepconv):
    np.save(sepconv.folder / "in.npy", image(rows=4000, cols=400))
    process = shell(
        sepconv,
        "head -c 100000 in.npy | sepconv run - - abs -q | sepconv run - out.npy -q; echo ${PIPESTATUS[@]}",
    )
    assert (
        process.stdout.split() == [b"0", b"1", b"1"]
        and process.stderr.count(b"cannot read standard input: it ") == 2
    )
    assert listing(sepconv.folder) == ["in.npy"]


def test_a_stop_while_nothing_comes(sepconv):
    run = subprocess.Popen(
        [BINARY, "run", "-", "out.npy", "--raw", "64x64:u8"],
        cwd=sepconv.folder,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    run.stdin.write("x" * 64)
    run.stdin.flush()
    while not os.path.exists(f"/proc/{run.pid}/task") or len(os.listdir(f"/proc/{run.pid}/task")) < 3:
        pass  # signals are handled once a second thread exists
    run.terminate()
    assert run.wait() == INTERRUPTED and listing(sepconv.folder) == []


def test_plan_reads_the_header_only(sepconv):
    text = piped(sepconv, npy(image(rows=3000)), "plan", "-", "out.tif", BLUR)[0].decode()
    assert "NPY" in text and "3000" in text
    assert json.loads(piped(sepconv, npy(image()), "run", "-", "-", "-n", "--json")[0])["bands"] >= 1


def test_pixels_are_not_for_terminals(sepconv, source):
    for words, name in (
        (["run", source, "-"], b"standard output"),
        (["run", "-", "out.npy"], b"standard input"),
    ):
        written, status = in_terminal([BINARY, *words], sepconv.folder, TERM="dumb")
        assert status == WRONG_USAGE and name in written and len(written) < 300


def test_a_file_called_so(sepconv, source):
    (sepconv.folder / "-").write_bytes((sepconv.folder / source).read_bytes())
    sepconv("run", "./-", "out.npy", "abs")
    assert (sepconv.folder / "out.npy").exists()
