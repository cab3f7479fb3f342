"""Temporaries of a decoder's training step under FP8 recipes, over those of the original.

    pip install "scalify-hlo[cuda]"
    python -m benchmarks.residuals                                 # every kind by every recipe
    python -m benchmarks.residuals --kind scan-mlp --recipe unit   # one of them
    python -m benchmarks.residuals --layers 2 --width 512          # a smaller one
    python -m benchmarks.residuals --set activations.saved=f8      # with an option of the recipe
    python -m benchmarks.residuals --estimate                      # the estimated time as well
    python -m benchmarks.residuals --target cpu                    # scanned MLPs in f32, on the CPU

The decoder has 8 layers of width 2048, plain attention, and 8192 tokens in bf16. Its layers are in
a loop (`scan`), in a row (`unrolled`) or in a loop with `jax.checkpoint` (`scan-remat`); kinds with
`-mlp` have no attention. XLA compiles each step for a description of the device. On the CPU, jax
compiles it in this process, in f32 and under `propagate`. Nothing is run. `scalify-hlo explain
--memory` lists what is in memory at the peak.

The estimated time is over that of the same recipe with `residuals=keep`. The bounds hold for the
sizes above. The exit status is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import scalify_hlo
from benchmarks.common import SIGNATURES, Row, report
from scalify_hlo.program.program import read_program
from scalify_hlo.targets.compiling import compile_program
from scalify_hlo.targets.description import load_target
from scalify_hlo.targets.record import Program

BOUNDS = {
    "scan": 0.65,
    "scan-mlp": 0.45,
    "unrolled": 0.80,
    "unrolled-mlp": 0.90,
    "scan-remat": 1.00,
}
"""The most temporaries over those of the original, by the kind of the step."""
ROUNDED_BOUNDS = {
    "scan": 0.45,
    "scan-mlp": 0.33,
    "unrolled": 0.65,
    "unrolled-mlp": 0.75,
    "scan-remat": 0.80,
}
"""The same with `activations.saved=f8`."""
RECIPES = ("unit", "fp8-current", "fp8-delayed")
STATIC = ("fp8", "unit")
"""The recipes that predict scales from those of the inputs."""
CPU = "cpu"
CPU_BOUND = 0.60
TIME_BOUND = 1.02
OF_MLP = ("gate", "up", "down", "norm2")
HEAD = 128
"""The width of a head of attention."""
GIB = 2**30

Weights = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """The sizes of a decoder.

    Attributes:
        layers: The number of layers.
        width: The width of the model.
        batch: The number of sequences.
        time: The tokens of a sequence.
        dtype: The dtype of weights and inputs.
    """

    layers: int
    width: int
    batch: int
    time: int
    dtype: Any

    def shape(self, *dims: int) -> jax.ShapeDtypeStruct:
        """An array of the dtype, without its numbers."""
        return jax.ShapeDtypeStruct(dims, self.dtype)

    def weights(self, kind: str) -> Weights:
        """The weights of all layers."""
        count, width, hidden = self.layers, self.width, self.width * 11 // 4
        square, up = self.shape(count, width, width), self.shape(count, width, hidden)
        down, gain = self.shape(count, hidden, width), self.shape(count, width)
        every = {**dict.fromkeys("qkvo", square), "gate": up, "up": up, "down": down}
        every |= {"norm1": gain, "norm2": gain}
        return {name: each for name, each in every.items() if "mlp" not in kind or name in OF_MLP}


def rms_norm(x: jax.Array, gain: jax.Array) -> jax.Array:
    """Root mean square normalization, computed in f32."""
    y = x.astype(jnp.float32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5)).astype(x.dtype) * gain


def mlp(x: jax.Array, w: Weights) -> tuple[jax.Array, None]:
    """A gated MLP with its normalization."""
    h = rms_norm(x, w["norm2"])
    return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], None


def block(x: jax.Array, w: Weights) -> tuple[jax.Array, None]:
    """A layer: attention and MLP."""
    batch, time, width = x.shape
    heads = max(width // HEAD, 1)
    h = rms_norm(x, w["norm1"])
    q, k, v = ((h @ w[n]).reshape(batch, time, heads, width // heads) for n in "qkv")
    scores = jnp.einsum("bthd,bshd->bhts", q, k).astype(jnp.float32) / math.sqrt(width // heads)
    scores = jnp.where(jnp.tril(jnp.ones((time, time), bool)), scores, -1e30)
    probabilities = jax.nn.softmax(scores, -1).astype(x.dtype)
    mixed = jnp.einsum("bhts,bshd->bthd", probabilities, v).reshape(batch, time, width)
    return mlp(x + mixed @ w["o"], w)


def step(kind: str, weights: Weights, x: jax.Array) -> Weights:
    """A step of gradient descent."""
    layer = mlp if "mlp" in kind else block
    layer = jax.checkpoint(layer) if "remat" in kind else layer

    def loss(weights: Weights) -> jax.Array:
        y = x
        if "unrolled" in kind:
            for i in range(weights["gate"].shape[0]):
                y, _ = layer(y, jax.tree.map(lambda w, i=i: w[i], weights))
        else:
            y, _ = lax.scan(layer, x, weights)
        return jnp.mean(y.astype(jnp.float32) ** 2)

    return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, jax.grad(loss)(weights))


def exported(kind: str, sizes: Sizes, platform: str) -> jax.export.Exported:
    """A step whose weights are donated."""
    x = sizes.shape(sizes.batch, sizes.time, sizes.width)
    jitted = jax.jit(partial(step, kind), donate_argnums=0)
    return jax.export.export(jitted, platforms=(platform,))(sizes.weights(kind), x)


def compiled(program: jax.export.Exported, target: str) -> tuple[int, float]:
    """The bytes of temporaries of a program that is compiled for a device, and its seconds."""
    if target == CPU:
        given = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in program.in_avals]
        specs, _ = jax.tree.unflatten(program.in_tree, given)
        compiled = jax.jit(program.call, donate_argnums=0).lower(*specs).compile()
        analysis: Any = compiled.memory_analysis()
        return int(analysis.temp_size_in_bytes), math.nan
    module = read_program(program.mlir_module_serialized, "step").module
    made = compile_program(module, load_target(target), name="step", timeout=900.0)
    return made.temporaries, Program.of(made, load_target(target)).work.seconds or math.nan


def rewritten(
    program: jax.export.Exported, recipe: str, settings: Mapping[str, Any]
) -> jax.export.Exported:
    """The rewrite of a program; recipes with static scales take all inputs at one scale."""
    how = SIGNATURES["same"] if recipe in STATIC else {}
    asked = {"residuals": "auto", **settings}
    return scalify_hlo.rewrite(program, recipe=recipe, settings=asked, **how)


def measured(options: argparse.Namespace, kinds: list[str], recipes: list[str]) -> Iterator[Row]:
    """The temporaries of each kind by each recipe, over those of the original."""
    dtype = jnp.float32 if options.target == CPU else jnp.bfloat16
    sizes = Sizes(options.layers, options.width, options.batch, options.time, dtype)
    asked = dict(map(option, options.set))
    bounds = ROUNDED_BOUNDS if asked.get("activations.saved") == "f8" else BOUNDS
    for kind in kinds:
        original = exported(kind, sizes, load_target(options.target).platform)
        base, _ = compiled(original, options.target)
        print(f"{kind}: {base / GIB:.2f} GiB in {jnp.dtype(dtype).name}", file=sys.stderr)
        for recipe in recipes:
            size, time = compiled(rewritten(original, recipe, asked), options.target)
            print(f"{kind}, {recipe}: {size / GIB:.2f} GiB", file=sys.stderr, flush=True)
            bound = CPU_BOUND if options.target == CPU else bounds[kind]
            yield Row(f"{kind}, {recipe}", size / base, bound, ".2f")
            if options.estimate:
                kept = rewritten(original, recipe, {**asked, "residuals": "keep"})
                _, before = compiled(kept, options.target)
                yield Row(f"{kind}, {recipe}, time", time / before, TIME_BOUND, ".3f")


def option(text: str) -> tuple[str, Any]:
    """The name and the value of an option of the recipe; a value is JSON or a word."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def main() -> int:
    """Measures and prints the table; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kind", nargs="+", choices=BOUNDS, help="default: all, on a CPU scan-mlp")
    parser.add_argument("--recipe", nargs="+", help="default: some of FP8, on a CPU propagate")
    parser.add_argument("--target", default="h200")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--time", type=int, default=2048)
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", help="options of the recipe"
    )
    parser.add_argument("--estimate", action="store_true", help="the estimated time as well")
    options = parser.parse_args()
    os.environ.update({"JAX_PLATFORMS": "cpu", "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"})
    on_cpu = options.target == CPU
    kinds = options.kind or (["scan-mlp"] if on_cpu else list(BOUNDS))
    recipes = options.recipe or (["propagate"] if on_cpu else list(RECIPES))
    title = f"temporaries over those of the original, {options.target}"
    return report(title, list(measured(options, kinds, recipes)))


if __name__ == "__main__":
    sys.exit(main())
