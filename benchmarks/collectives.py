"""Bytes in collectives of FP8 programs on eight described devices, over those of bf16.

    pip install "scalify-hlo[cuda]"
    python -m benchmarks.collectives                # every model by every recipe
    python -m benchmarks.collectives --model fsdp   # one of them

A stack of gated MLPs is trained with its weights divided among the devices (`fsdp`), with the
columns and rows of its weights on different devices (`tensor`), the same with its layers in a loop
(`scan`) or with its tokens divided between matmuls (`sequence`), and as a program for one device
that gathers its weights itself (`explicit`). XLA compiles the program and its rewrites for eight
H200, and the results of all collectives are counted by their format. Nothing is run.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

import scalify_hlo
from benchmarks.roofline_models import Shape, rms_norm, stack_loss, swiglu_shapes
from scalify_hlo.program.program import read_program
from scalify_hlo.targets.compiling import compile_program
from scalify_hlo.targets.description import load_target
from scalify_hlo.targets.hlo import read_hlo
from scalify_hlo.targets.kernels import kernels_of
from scalify_hlo.targets.roofline import work_of

DEVICES = 8
LAYERS, WIDTH, HIDDEN, TOKENS = 2, 2048, 8192, 16384
BOUNDS = {"fsdp": 0.75, "tensor": 1.0, "scan": 1.0, "sequence": 0.75, "explicit": 0.75}
"""The most bytes in collectives over those of bf16.

All that `tensor` and `scan` exchange are parts of sums, which have all their digits in no narrower
format. The largest magnitudes of tensors are exchanged too, and take less than `SCALARS`.
"""
SCALARS = 0.001
ORIGINAL = "original"
RECIPES = ("unit", "fp8", "fp8-current", "fp8-delayed")
STATIC = {"signature": "same", "input_scale": {"*": 2.0**-4}}
AXIS = "d"
ROWS, COLUMNS, WHOLE = PartitionSpec(AXIS), PartitionSpec(None, AXIS), PartitionSpec()


def mesh() -> AbstractMesh:
    """The devices, none of which need be there."""
    return AbstractMesh((DEVICES,), (AXIS,), axis_types=(AxisType.Auto,))


def layer_specs(specs: Mapping[str, PartitionSpec]) -> list[dict[str, PartitionSpec]]:
    """The division of the weights of the layers among devices."""
    return [{"norm": WHOLE, **specs}] * LAYERS


def layers() -> list[dict[str, Any]]:
    """The shapes of the weights."""
    dtype = jnp.dtype("bfloat16")
    return [{"norm": Shape((WIDTH,), dtype), **swiglu_shapes(WIDTH, HIDDEN, dtype)}] * LAYERS


def train(
    gradient: Callable[..., Any], specs: Any, batch: PartitionSpec, weights: Any = None
) -> jax.export.Exported:
    """A step of gradient descent, whose new weights are divided like the old ones."""

    def step(params: Any, x: jax.Array) -> Any:
        gradients = gradient(params, x)
        return jax.tree.map(lambda p, g: p - (1e-2 * g).astype(p.dtype), params, gradients)

    place = partial(jax.tree.map, partial(NamedSharding, mesh()))
    shardings = place(specs)
    jitted = jax.jit(
        step,
        in_shardings=(shardings, NamedSharding(mesh(), batch)),
        out_shardings=shardings,
        donate_argnums=0,
    )
    x = Shape((TOKENS, WIDTH), jnp.bfloat16)
    weights = layers() if weights is None else weights
    return jax.export.export(jitted, platforms=("cuda",))(weights, x)


def fsdp() -> jax.export.Exported:
    """Weights and tokens divided among the devices, and gathered by the partitioner."""
    return train(jax.grad(stack_loss), layer_specs({"gate": ROWS, "up": ROWS, "down": ROWS}), ROWS)


def tensor() -> jax.export.Exported:
    """The hidden units of each layer divided among the devices."""
    return train(
        jax.grad(stack_loss), layer_specs({"gate": COLUMNS, "up": COLUMNS, "down": ROWS}), WHOLE
    )


def scan() -> jax.export.Exported:
    """As `tensor`, with the layers in a loop."""

    def loss(stacked: Any, x: jax.Array) -> jax.Array:
        def layer(x: jax.Array, weights: Any) -> tuple[jax.Array, None]:
            normal = rms_norm(weights["norm"], x)
            hidden = jax.nn.silu(normal @ weights["gate"]) * (normal @ weights["up"])
            return x + hidden @ weights["down"], None

        x, _ = jax.lax.scan(layer, x, stacked)
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    wide = {name: PartitionSpec(None, None, AXIS) for name in ("gate", "up")}
    specs = {"norm": WHOLE, **wide, "down": PartitionSpec(None, AXIS)}
    stacked = {name: Shape((LAYERS, *leaf.shape), leaf.dtype) for name, leaf in layers()[0].items()}
    return train(jax.grad(loss), specs, WHOLE, stacked)


def sequence() -> jax.export.Exported:
    """As `tensor`, with the tokens divided between matmuls, and gathered before them."""
    rows, columns, whole = (NamedSharding(mesh(), spec) for spec in (ROWS, COLUMNS, WHOLE))
    place: Callable[..., jax.Array] = jax.lax.with_sharding_constraint

    def loss(params: Any, x: jax.Array) -> jax.Array:
        for layer in params:
            normal = place(place(rms_norm(layer["norm"], x), rows), whole)
            gate, up = (place(normal @ layer[name], columns) for name in ("gate", "up"))
            x = place(x + place(place(jax.nn.silu(gate) * up, columns) @ layer["down"], rows), rows)
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    specs = layer_specs({"gate": COLUMNS, "up": COLUMNS, "down": ROWS})
    return train(jax.grad(loss), specs, ROWS)


def explicit() -> jax.export.Exported:
    """As `fsdp`, with collectives that the program states: a gather of each weight."""
    specs = layer_specs({"gate": ROWS, "up": ROWS, "down": ROWS})

    def local(params: Any, x: jax.Array) -> jax.Array:
        for layer in params:
            whole = {
                name: jax.lax.all_gather(layer[name], AXIS, axis=0, tiled=True)
                for name in ("gate", "up", "down")
            }
            normal = rms_norm(layer["norm"], x)
            hidden = jax.nn.silu(normal @ whole["gate"]) * (normal @ whole["up"])
            x = x + hidden @ whole["down"]
        return jax.lax.pmean(jnp.mean(jnp.square(x.astype(jnp.float32))), AXIS)

    gradient = jax.shard_map(jax.grad(local), mesh=mesh(), in_specs=(specs, ROWS), out_specs=specs)
    return train(gradient, specs, ROWS)


MODELS: Mapping[str, Callable[[], jax.export.Exported]] = {
    "fsdp": fsdp,
    "tensor": tensor,
    "scan": scan,
    "sequence": sequence,
    "explicit": explicit,
}


def collectives(exported: jax.export.Exported, name: str, kept: str | None) -> dict[str, int]:
    """The bytes of the results of collectives by format, in the program of a device."""
    target = load_target("h200")
    module = read_program(exported.mlir_module_serialized, name).module
    compiled = compile_program(module, target, name=name)
    if kept is not None:
        with open(kept, "w", encoding="utf-8") as file:
            file.write(compiled.hlo)
    return work_of(list(kernels_of(read_hlo(compiled.hlo))), target).collectives


def rewritten(exported: jax.export.Exported, recipe: str) -> jax.export.Exported:
    """The program by a recipe."""
    if recipe == ORIGINAL:
        return exported
    how: Mapping[str, Any] = STATIC if recipe in ("fp8", "unit") else {}
    return scalify_hlo.rewrite(exported, recipe=recipe, report=True, **how)[0]


def rows(options: argparse.Namespace) -> Iterator[tuple[str, str, float, dict[str, int]]]:
    """For each model and recipe, the bytes over those of bf16, and the bytes by format."""
    for model in options.model:
        base = None
        for recipe in (ORIGINAL, *options.recipe):
            kept = f"{options.keep}/{model}-{recipe}.hlo" if options.keep else None
            found = collectives(rewritten(MODELS[model](), recipe), f"{model} {recipe}", kept)
            base = sum(found.values()) if base is None else base
            yield model, recipe, sum(found.values()) / base, found


def main() -> int:
    """Prints a line for each model and recipe; 1 if one misses the bound."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--recipe", nargs="+", choices=RECIPES, default=list(RECIPES))
    parser.add_argument("--keep", help="a folder for the optimized HLO")
    options = parser.parse_args()
    os.environ.update({"JAX_PLATFORMS": "cpu", "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"})
    missed = False
    for model, recipe, ratio, found in rows(options):
        late = recipe != ORIGINAL and ratio > BOUNDS[model] + SCALARS
        missed |= late
        parts = ", ".join(f"{key} {count / 2**20:,.1f}" for key, count in sorted(found.items()))
        verdict = f"  above {BOUNDS[model]}" if late else ""
        print(f"{model:9} {recipe:12} {ratio:5.2f}  MiB: {parts}{verdict}", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
