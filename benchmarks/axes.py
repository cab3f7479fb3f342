"""A training step on eight devices: explicit, auto and manual axes tell the rewrite the same.

    python -m benchmarks.axes

Two blocks of an MLP behind an RMS norm are trained with AdamW, with weights and state divided over
the axis of data (fsdp), over that of the model (tp), or over both. Each step is rewritten with the
signature scaled. Roles of arguments, formats of state and of matmuls are compared with those of the
step on one device, and so are the losses of some steps.

Exit code 1 if anything differs, or a loss by more than 2 % of the first.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

os.environ["XLA_FLAGS"] = (
    f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
)

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, reshard
from jax.sharding import PartitionSpec as P

import scalify_hlo
from benchmarks.common import Row, report

WIDTH, HIDDEN, BATCH, LAYERS = 64, 128, 64, 2
STEPS: Final = 20
BOUND: Final = 0.02
RECIPES: Final = ("fp8-current", "fp8", "unit", "fp8-state8")
AXES: Final = ("explicit", "auto", "manual")
LAYOUTS: Final = ("fsdp", "tp", "both")
OPTIMIZER: Final = optax.adamw(3e-3)

Tree = Any


def has_data(layout: str) -> bool:
    """Whether weights are divided over the axis of data."""
    return layout in ("fsdp", "both")


def has_model(layout: str) -> bool:
    """Whether weights are divided over the axis of the model."""
    return layout in ("tp", "both")


def spec(layout: str, name: str) -> P:
    """Returns how a parameter is divided."""
    data, model = "data" if has_data(layout) else None, "model" if has_model(layout) else None
    return P(data, model) if name == "up" else P(model, data) if name == "down" else P()


class Moves(NamedTuple):
    """Exchanges between devices.

    Attributes:
        weight: Returns a weight whole along the axis of data, by its name.
        product: Multiplies two matrices that are divided along the summed dimension, if any is.
    """

    weight: Callable[[str, jax.Array], jax.Array]
    product: Callable[[jax.Array, jax.Array], jax.Array]


def loss(params: Tree, x: jax.Array, y: jax.Array, moves: Moves) -> jax.Array:
    """The mean squared error of the blocks on some rows."""
    for layer in params:
        h = x * lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * layer["gain"]
        h = jax.nn.gelu(h @ moves.weight("up", layer["up"]))
        x = x + moves.product(h, moves.weight("down", layer["down"]))
    return jnp.mean((x - y) ** 2)


def step_of(loss: Callable[..., jax.Array]) -> Callable[..., Tree]:
    """Returns a step of training."""

    def step(state: Tree, x: jax.Array, y: jax.Array) -> Tree:
        params, moments = state
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        updates, moments = OPTIMIZER.update(gradients, moments, params)
        return (optax.apply_updates(params, updates), moments), value

    return step


def start() -> Tree:
    """Returns the state before the first step."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray[Any, Any]:
        return (rng.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)

    params = [
        {
            "gain": np.ones(WIDTH, np.float32),
            "up": normal(WIDTH, HIDDEN),
            "down": normal(HIDDEN, WIDTH),
        }
        for _ in range(LAYERS)
    ]
    return params, OPTIMIZER.init(params)


def batch(number: int) -> tuple[Tree, Tree]:
    """Returns the rows of a step, and what they should become."""
    x = np.random.default_rng(number).standard_normal((BATCH, WIDTH)).astype(np.float32)
    return x, np.roll(x, 1, axis=1) * 2


def specs_of(layout: str, state: Tree) -> Tree:
    """Returns how each leaf of the state is divided."""

    def of(path: Tree, leaf: Tree) -> P:
        return spec(layout, path[-1].key) if np.ndim(leaf) else P()

    return jax.tree.map_with_path(of, state)


NONE: Final = Moves(lambda _, w: w, jnp.matmul)


def explicit(mesh: Mesh, layout: str) -> Moves:
    """Moves by the types of values."""
    model = "model" if has_model(layout) else None
    specs = {"up": P(None, model), "down": P(model, None)}
    return Moves(
        lambda name, w: reshard(w, NamedSharding(mesh, specs[name])),
        lambda x, w: jnp.matmul(x, w, out_sharding=NamedSharding(mesh, P("data", None))),
    )


def manual(layout: str) -> Moves:
    """Moves by collectives."""
    dims = {"up": 0, "down": 1}

    def weight(name: str, w: jax.Array) -> jax.Array:
        return lax.all_gather(w, "data", axis=dims[name], tiled=True) if has_data(layout) else w

    def product(x: jax.Array, w: jax.Array) -> jax.Array:
        return lax.psum(x @ w, "model") if has_model(layout) else x @ w

    return Moves(weight, product)


def divided(axes: str, layout: str) -> tuple[Any, Tree]:
    """Returns a step on the devices, and the places of its arguments."""
    kind = AxisType.Explicit if axes == "explicit" else AxisType.Auto
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(kind,) * 2)
    specs = specs_of(layout, start()), P("data"), P("data")
    places = jax.tree.map(lambda s: NamedSharding(mesh, s), specs)
    if axes == "manual":
        mean = lambda p, x, y: lax.pmean(loss(p, x, y, manual(layout)), "data")  # noqa: E731
        step = jax.shard_map(step_of(mean), mesh=mesh, in_specs=specs, out_specs=(specs[0], P()))
    else:
        moves = explicit(mesh, layout) if axes == "explicit" else NONE
        step = step_of(lambda p, x, y: loss(p, x, y, moves))
    results = places[0], NamedSharding(mesh, P())
    return jax.jit(step, in_shardings=places, out_shardings=results), places


class Outcome(NamedTuple):
    """The report of a rewritten step, and its losses.

    Attributes:
        roles: The roles of arguments, by name.
        state: The formats of the arguments.
        matmuls: How many matmuls there are of each part, with its operands and formats.
        losses: The losses of the steps.
    """

    roles: dict[str, str]
    state: list[str]
    matmuls: Counter[tuple[Any, ...]]
    losses: list[float]


def outcome(step: Any, places: Tree, recipe: str) -> Outcome:
    """Rewrites a step, and runs it."""
    places = places or (None, None, None)
    exported = jax.export.export(step)(*jax.device_put((start(), *batch(0)), places))
    program, told = scalify_hlo.rewrite(exported, recipe=recipe, signature="scaled", report=True)
    state, losses = scalify_hlo.scaled_state(program, (jax.device_put(start(), places[0]),))[0], []
    call = jax.jit(program.call)
    for number in range(STEPS):
        rows = scalify_hlo.as_scaled_array(jax.device_put(batch(number), places[1:]))
        state, value = call(state, *rows)
        losses.append(float(scalify_hlo.asarray(value)))
    matmuls = Counter(
        (m.part, *sorted(zip(m.roles, m.formats[:2], strict=True))) for m in told.matmuls
    )
    return Outcome(told.roles, [str(a.dtype) for a in program.in_avals], matmuls, losses)


def differences(one: Outcome, many: Outcome) -> list[str]:
    """Returns what differs, and what the losses differ by if it is too much."""
    found = [
        f"{name}: {getattr(one, name)} and {getattr(many, name)}"
        for name in ("roles", "state", "matmuls")
        if getattr(one, name) != getattr(many, name)
    ]
    apart = max(abs(a - b) for a, b in zip(one.losses, many.losses, strict=True))
    if not apart <= BOUND * one.losses[0]:
        found.append(f"losses apart by {apart / one.losses[0]:.1%} of the first")
    return found


def main() -> int:
    """Compares all axes, layouts and recipes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--recipe", nargs="+", choices=RECIPES, default=RECIPES)
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    wrong = 0
    for recipe in given.recipe:
        one = outcome(jax.jit(step_of(lambda p, x, y: loss(p, x, y, NONE))), None, recipe)
        for layout in LAYOUTS:
            for axes in AXES:
                found = differences(one, outcome(*divided(axes, layout), recipe))
                wrong += bool(found)
                print(f"{recipe:12} {layout:5} {axes:9}", *(found or ["as on one device"]))
    return report("Axes", [Row("steps that differ", wrong, 0, ".0f")])


if __name__ == "__main__":
    sys.exit(main())
