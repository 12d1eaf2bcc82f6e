"""The benchmark of a device runs: `python -m benchmarks --device cuda`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
RUN = [sys.executable, "-m", "benchmarks", "--device", "cuda", "--size", "small", "--seconds", "0.001", "--peers", "none"]

sys.path.append(str(ROOT))


def run(*arguments, **environment):
    environment = {**os.environ, **environment}
    return subprocess.run([*RUN, *arguments], cwd=ROOT, capture_output=True, text=True, env=environment, check=False)


def test_rows(tmp_path):
    output = tmp_path / "figures.json"
    done = run("kmeans", "sum", "mean_3x1e7_axis1", "--output", str(output))
    assert done.returncode == 0, done.stderr
    rows = {row["row"]: row for row in json.loads(output.read_text())["rows"]}
    assert set(rows) == {"copy", "read", "kmeans", "sum", "mean_3x1e7_axis1"}
    assert all(row["seconds"] > 0 and not row["problem"] for row in rows.values()), rows
    for name in ("kmeans", "sum"):
        assert rows[name]["verdict"] == "same bits" and rows[name]["ceiling"] > 0
        assert rows[name]["launches"] >= 1 and rows[name]["bytes_up"] == rows[name]["bytes_down"] == 0
    assert all(name in done.stdout for name in rows)


def test_no_device():
    done = run("kmeans", ACCEL_CUDA_DRIVER="/nowhere/libcuda.so.1")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("no CUDA device to measure: ")


@pytest.fixture(scope="module")
def hand():
    from benchmarks.device.contestants import Hand
    from benchmarks.device.driver import DriverError

    try:
        return Hand()
    except DriverError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("count", [8, 100, 129, 257, 1000, 12345, 300_001])
def test_hand_written_sum_has_bits_of_numpy(hand, count):
    from benchmarks.device.rows import all_rows

    x = np.random.default_rng(count).standard_normal(count)
    hand.make(all_rows()["sum"], [hand.put(x)])()
    assert hand.result.numpy()[0] == np.sum(x)


@pytest.mark.parametrize("columns", [5, 256, 1000])
def test_hand_written_softmax(hand, columns):
    x = np.random.default_rng(columns).standard_normal((3, columns)).astype(np.float32)
    launch, result = hand.kernels.softmax_rows(hand.put(x))
    launch()
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(result.numpy(), e / e.sum(axis=1, keepdims=True), rtol=1e-5)
