"""--device auto and the predictions of plans at the command line; tests/gpu/auto.py on any machine."""

import json
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).parents[1] / "gpu" / "auto.py"


def plan(sepconv, *arguments):
    return json.loads(sepconv("plan", "in.npy", "out.npy", *arguments, "--json").stdout)


def test_a_plan_says_what_it_predicts_and_why_the_device(sepconv):
    sepconv("generate", "in.npy", "--size", "300x200")
    found = plan(sepconv, "gaussian:sigma=2")
    assert any(note.endswith(": the CPU computes") for note in found["notes"])
    predicted = found["predicted_seconds"]
    assert set(predicted) == {"total", "start", "read", "upload", "decode", "compute", "download", "write"}
    assert predicted["total"] >= max(predicted["read"], predicted["compute"], predicted["write"]) > 0
    assert not any(
        "the CPU computes" in note for note in plan(sepconv, "gaussian:sigma=2", "--device", "cpu")["notes"]
    )
    assert "predicted  0." in sepconv("plan", "in.npy", "out.npy", "gaussian:sigma=2").stdout


def test_prediction_stands_beside_what_was_measured(sepconv):
    sepconv("generate", "in.npy", "--size", "300x200")
    process = sepconv(
        "run", "in.npy", "out.npy", "gaussian:sigma=2", "--stats", "stats.json", "--device", "cpu", "-v"
    )
    stats = json.loads((sepconv.folder / "stats.json").read_text())
    assert stats["plan"]["predicted_seconds"]["total"] > 0
    assert "\n  predicted: 0." in process.stderr


def test_a_gpu_that_is_not_there_is_refused_by_its_flag(sepconv):
    sepconv("generate", "in.npy", "--size", "30x20")
    assert (
        "--device cuda:99: "
        in sepconv("run", "in.npy", "out.npy", "abs", "--device", "cuda:99", status=2).stderr
    )


def test_the_script_measures_each_job_and_holds_auto_against_the_better_device(sepconv):
    command = [
        sys.executable,
        SCRIPT,
        "--program",
        sepconv.command[0],
        "--folder",
        sepconv.folder,
        "--scale",
        "64",
        "--runs",
        "1",
        "--json",
    ]
    process = subprocess.run(command, capture_output=True, text=True)
    rows = json.loads(process.stdout)
    assert len({row["job"] for row in rows}) == len(rows) > 20
    for row in rows:
        assert row["ratio"] > 0 and row["auto"] in row["measured"]
        assert set(row["predicted"]) == set(row["measured"]) - {"auto"}
    errors = [
        max(predicted / row["measured"][device], row["measured"][device] / predicted)
        for row in rows
        for device, predicted in row["predicted"].items()
    ]

    def share_within(factor):
        return sum(error <= factor for error in errors) / len(errors)

    holds = max(row["ratio"] for row in rows) <= 1.05 and share_within(1.5) >= 0.9 and share_within(2.5) == 1
    assert process.returncode == (0 if holds else 1)
