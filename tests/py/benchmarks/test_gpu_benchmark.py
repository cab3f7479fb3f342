"""The benchmark of real GPUs: its logic on a CPU, and that it ends well where there is no GPU."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from benchmarks import gpu, gpu_convolutions, gpu_parity, gpu_profile
from scalify_hlo.targets.description import load_target


def record(target: str, **speeds: float) -> dict[str, Any]:
    def entry(us: float) -> dict[str, Any]:
        return {"us": us, "estimate_us": 2 * us}

    programs: dict[str, Any] = {gpu.ORIGINAL: entry(100.0)}
    programs |= {name.replace("_", "-"): entry(100.0 / speed) for name, speed in speeds.items()}
    return {"target": target, "small": False, "models": {"swiglu": {"programs": programs}}}


def test_the_speed_is_over_bf16() -> None:
    made = record("h200", unit=1.5)
    made["models"]["swiglu"]["programs"]["fp8"] = {"error": "refused"}
    found = list(gpu.rows(made))
    assert found[1] == ("swiglu", "unit", "67", "133", "1.50", "1.50")
    assert found[2] == ("swiglu", "fp8", "refused", "", "", "")


def test_an_h200_has_a_bound() -> None:
    assert gpu.missed(record("h200", unit=1.5, fp8_current=1.4))
    assert not gpu.missed(record("h200", unit=1.4, fp8_current=1.61))
    assert not gpu.missed(record("h100", unit=1.0))
    assert gpu.missed({**record("h200"), "models": {"swiglu": {"programs": {}}}})


def test_devices_are_known_by_the_names_of_xla() -> None:
    assert gpu.target_of("NVIDIA H100 80GB HBM3").name == "h100"
    assert gpu.target_of("NVIDIA H200").name == "h200"
    assert gpu.target_of("NVIDIA GeForce RTX 4090").name == "rtx4090"


def test_arrays_are_like_those_of_training() -> None:
    shapes = [
        jax.ShapeDtypeStruct(*leaf)
        for leaf in (
            ((64, 64), jnp.bfloat16),
            ((64,), jnp.float32),
            ((9,), jnp.int32),
            ((), jnp.int32),
        )
    ]
    weight, moment, tokens, step = gpu.arrays(shapes)
    assert 0.05 < float(jnp.std(weight.astype(jnp.float32))) < 0.08
    assert float(moment.min()) >= 0
    assert 0 <= int(tokens.min()) < int(tokens.max()) < gpu.TOKENS
    assert int(step) == 1


def test_without_a_gpu_nothing_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(gpu, "device", lambda _: "there is none")
    out = tmp_path / "out.json"
    monkeypatch.setattr(sys, "argv", ["gpu", "--output", str(out)])
    assert gpu.main() == 0
    assert capsys.readouterr().out == "no GPU can be used, so nothing is measured: there is none\n"
    assert not out.exists()


def test_a_target_has_the_shares_that_were_measured() -> None:
    record = json.loads(gpu_profile.RESULTS.read_text())
    target = load_target(record["target"])
    measured = gpu_profile.shares(record)
    assert measured.keys() <= target.reached.keys()
    for key, share in measured.items():
        assert abs(share - target.share(key)) < 0.1, key


def test_a_target_has_the_shares_of_convolutions_that_were_measured() -> None:
    rows = json.loads(gpu_convolutions.RESULTS.read_text())["rows"]
    target = load_target("h200")
    narrow = statistics.median(row["f8_share"]["bfloat16"] for row in rows)
    wide = statistics.median(row["bf16_share"] for row in rows)
    assert abs(narrow - target.share("f8_convolution")) < 0.1
    assert abs(wide - target.share("bf16_convolution")) < 0.1


def test_a_target_has_the_share_of_transposes_to_few_adjacent_numbers() -> None:
    found = json.loads((gpu.RESULTS.parent / "gpu_few_adjacent.json").read_text())["kernels"]
    share = sum(k["estimate_us"] for k in found) / sum(k["us"] for k in found)
    assert abs(share - load_target("h200").share("transpose_few")) < 0.02


def test_without_a_gpu_no_convolution_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu_convolutions, "device", lambda _: "there is none")
    assert gpu_convolutions.main() == 0
    assert capsys.readouterr().out == "no GPU can be used, so nothing is measured: there is none\n"


def test_the_results_are_of_an_h200_that_reached_the_bound() -> None:
    record = json.loads(gpu.RESULTS.read_text())
    assert record["target"] == "h200"
    assert not gpu.missed(record)
    assert {"jax", "jaxlib", "nvidia-cublas"} <= record["versions"].keys()


@pytest.mark.slow
def test_a_cpu_is_on_a_par_with_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    monkeypatch.setattr(sys, "argv", ["gpu_parity", "--device", "cpu", "--output", str(out)])
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert gpu_parity.main() == 0
    made = json.loads(out.read_text())
    assert made["rounding"]["weights that differ"] == 0 < made["rounding"]["weights that moved"]
    assert set(made["losses"]) == {"original", *gpu_parity.RECIPES}
    assert not any(made["losses"].values())


@pytest.mark.slow
def test_every_program_of_the_layer_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    words = ["gpu", "--device", "cpu", "--small", "--rounds", "2", "--model", "swiglu", "--profile"]
    monkeypatch.setattr(sys, "argv", [*words, "--output", str(out)])
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert gpu.main() == 0
    made = json.loads(out.read_text())
    programs = made["models"]["swiglu"]["programs"]
    assert list(programs) == ["bf16", *gpu.RECIPES, "ceiling bf16", "ceiling"]
    assert not any("error" in entry for entry in programs.values())
    assert all(entry["us"] > 0 and entry["estimate_us"] > 0 for entry in programs.values())
    assert all(sum(e["us"] for e in p["classes"].values()) > 0 for p in programs.values())
    assert {"jax", "jaxlib", "python"} <= made["versions"].keys()
