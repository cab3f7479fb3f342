"""Whether one rewritten program computes the same on a GPU as on a CPU.

    python -m benchmarks.gpu_parity

Each program is exported once, for both platforms, and rewritten once. A GPU sums in another order,
and multiplies f32 in TF32. So losses of a small GPT-2 are compared with those of the CPU beside the
same difference of the original. Weights that are rounded at random are compared bit by bit.
Where no GPU can be used, it says so and ends with 0.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import scalify_hlo
from benchmarks.gpu import device, versions
from benchmarks.search_gap import Training, language_model
from examples import data, gpt2

RESULTS = Path(__file__).parent / "results" / "gpu_parity.json"
CONFIG = gpt2.Config(layers=1, width=128, heads=2, sequence=64, vocab=data.VOCAB, batch=8)
STATIC = {"signature": "same", "input_scale": {"*": 2.0**-4}}
SMALLEST = {"matmul.smallest": 1}
RECIPES: Mapping[str, Mapping[str, Any]] = {
    "propagate": STATIC,
    "fp8": {**STATIC, "settings": SMALLEST},
    "unit": {**STATIC, "settings": SMALLEST},
    "fp8-current": {"settings": SMALLEST},
    "mxfp8": {"settings": SMALLEST},
    "fp8-block": {"settings": SMALLEST},
    "nvfp4": {"settings": SMALLEST},
}
PLATFORMS = ("cpu", "cuda")
SIZE, DRAWS = 1024, 4
"""The rows and columns of a weight, and how often it is rounded."""
STEPS, BOUND = 10, 0.02
"""The steps of training, and the largest relative difference of a loss that is allowed."""


def losses(run: Any, training: Training, where: Any) -> list[float]:
    """The losses of training on a device."""
    found = []
    with jax.default_device(where):
        state: Any = jax.device_put(training.state(0), where)
        for batch in training.batches(0, STEPS):
            *state, loss = run(*state, *jax.device_put(batch, where))
            found.append(float(loss))
    return found


def difference(program: jax.export.Exported, training: Training, devices: Any) -> float:
    """The largest relative difference of a loss on two devices."""
    run = jax.jit(program.call)
    cpu, gpu = (losses(run, training, where) for where in devices)
    return max(abs(a - b) / abs(a) for a, b in zip(cpu, gpu, strict=True))


def training_rows(devices: Any) -> dict[str, Any]:
    """The difference of losses by recipe."""
    training = language_model(CONFIG)
    sample = (*training.state(0), *next(training.batches(0, 1)))
    original = jax.export.export(jax.jit(training.step), platforms=PLATFORMS)(*sample)
    found: dict[str, Any] = {"original": difference(original, training, devices)}
    for recipe, how in RECIPES.items():
        try:
            made = scalify_hlo.rewrite(original, recipe=recipe, **how)
            found[recipe] = difference(made, training, devices)
        except Exception as error:  # XLA's errors have many types
            found[recipe] = " ".join(str(error).split())[:400]
        print(f"losses, {recipe}: {found[recipe]}", flush=True)
    return found


def weight_step(weight: Any, count: Any, change: Any) -> Any:
    """A step of one subtraction, whose f32 result is the same everywhere."""
    return weight - change, count + 1


def rounded_rows(devices: Any) -> dict[str, Any]:
    """The number of stored weights that differ after updates with stochastic rounding."""
    settings = {"state.weight": "bf16", "state.weight_rounding": "stochastic"}
    made, found = scalify_hlo.scalify(weight_step, recipe="propagate", settings=settings), []
    for where in devices:
        run = jax.jit(made)
        with jax.default_device(where):
            state: Any = scalify_hlo.as_scaled_array(jnp.ones((SIZE, SIZE))), jnp.int32(5)
            change = jax.random.normal(jax.random.key(0), (SIZE, SIZE)) * 2.0**-10
            for _ in range(DRAWS):
                state = run(*state, change)
            found.append(np.asarray(state[0].data.astype(jnp.float32)))
    moved = int(np.sum(found[0] != 1))
    return {"weights that differ": int(np.sum(found[0] != found[1])), "weights that moved": moved}


def main() -> int:
    """Runs all on both devices; 1 if anything differs by more than it may."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", choices=PLATFORMS, default="cuda", help="cpu: with itself")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
    found = device(options.device)
    if isinstance(found, str):
        print(f"no GPU can be used, so nothing is measured: {found}")
        return 0
    devices = (jax.devices("cpu")[0], found)
    record = {"device": found.device_kind, "versions": versions()}
    record |= {"rounding": rounded_rows(devices)}
    print(record["rounding"], flush=True)
    record["losses"] = training_rows(devices)
    options.output.write_text(json.dumps(record, indent=1) + "\n")
    bad = [v for v in record["losses"].values() if not isinstance(v, float) or v > BOUND]
    return int(bool(bad) or record["rounding"]["weights that differ"] > 0)


if __name__ == "__main__":
    sys.exit(main())
