"""Training steps that are spread over eight devices in the usual ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

Tree = Any
Step = Callable[..., Tree]

BATCH, LENGTH, WIDTH, HIDDEN = 8, 4, 16, 32


def attend(params: Tree, x: jax.Array) -> Tree:
    """Attention with one head, behind an RMS norm."""
    h = x * lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
    q, k, v = (h @ params[name] for name in ("q", "k", "v"))
    weights = jax.nn.softmax(jnp.einsum("bid,bjd->bij", q, k) / WIDTH**0.5)
    return jnp.einsum("bij,bjd->bid", weights, v) @ params["o"]


def loss(params: Tree, x: jax.Array, y: jax.Array) -> jax.Array:
    """The mean squared error of a transformer block."""
    h = x + attend(params, x)
    h = h + jnp.tanh(h @ params["up"]) @ params["down"]
    return jnp.mean((h - y) ** 2)


def step(params: Tree, x: jax.Array, y: jax.Array) -> Tree:
    """One step of gradient descent."""
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    return value, jax.tree.map(lambda p, g: p - 0.125 * g, params, gradients)


def inputs() -> Tree:
    """Parameters and a batch."""
    rng = np.random.default_rng(0)
    shapes = dict.fromkeys("qkvo", (WIDTH, WIDTH)) | {
        "up": (WIDTH, HIDDEN),
        "down": (HIDDEN, WIDTH),
    }
    params = {
        name: (rng.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)
        for name, shape in shapes.items()
    }
    x, y = (rng.standard_normal((BATCH, LENGTH, WIDTH)).astype(np.float32) for _ in range(2))
    return params, x, y


@dataclass(frozen=True)
class Case:
    """A step that is spread over a mesh of devices.

    Attributes:
        name: Of the case.
        spread: Makes the step for a mesh.
        params: How each parameter is placed.
        batch: How the batch is.
        plain: What the step means on one device.
        arguments: Makes its arguments.
        places: How they are placed, if not as parameters and a batch of two arrays.
    """

    name: str
    spread: Callable[[Mesh, Case], Any]
    params: dict[str, P]
    batch: P
    plain: Step = step
    arguments: Callable[[], Tree] = inputs
    places: Tree = None

    def placed(self) -> Tree:
        """How the arguments are placed."""
        return self.places or (self.params, self.batch, self.batch)


def by_compiler(mesh: Mesh, case: Case) -> Step:
    """The compiler finds what is to be exchanged."""
    results = P(), case.params
    return jax.jit(
        step,
        in_shardings=shardings(mesh, case.placed()),
        out_shardings=shardings(mesh, results),
    )


def _per_device(function: Step, mesh: Mesh, case: Case) -> Step:
    return jax.jit(
        jax.shard_map(
            function,
            mesh=mesh,
            in_specs=case.placed(),
            out_specs=(P(), case.params),
            check_vma=False,
        ),
        in_shardings=shardings(mesh, case.placed()),
    )


def by_mean_of_gradients(mesh: Mesh, case: Case) -> Step:
    """Data parallel: each device has a part of the batch, gradients are averaged."""

    def function(params: Tree, x: jax.Array, y: jax.Array) -> Tree:
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        value, gradients = lax.pmean((value, gradients), ("d", "t"))
        return value, jax.tree.map(lambda p, g: p - 0.125 * g, params, gradients)

    return _per_device(function, mesh, case)


def by_gathering(mesh: Mesh, case: Case) -> Step:
    """FSDP: parameters are gathered for use, gradients are scattered as they are summed."""
    axes = ("d", "t")

    def function(params: Tree, x: jax.Array, y: jax.Array) -> Tree:
        whole = jax.tree.map(lambda p: lax.all_gather(p, axes, tiled=True), params)
        value, gradients = jax.value_and_grad(loss)(whole, x, y)
        count = mesh.size
        parts = jax.tree.map(lambda g: lax.psum_scatter(g, axes, tiled=True) / count, gradients)
        new = jax.tree.map(lambda p, g: p - 0.125 * g, params, parts)
        return lax.pmean(value, axes), new

    return _per_device(function, mesh, case)


def by_parts_of_products(mesh: Mesh, case: Case) -> Step:
    """Tensor parallel: each device has some columns of a weight and the rows of the next."""

    @partial(jax.custom_vjp)
    def enter(x: jax.Array) -> jax.Array:
        return x

    enter.defvjp(lambda x: (x, None), lambda _, g: (lax.psum(g, "t"),))

    @partial(jax.custom_vjp)
    def leave(x: jax.Array) -> Tree:
        return lax.psum(x, "t")

    leave.defvjp(lambda x: (lax.psum(x, "t"), None), lambda _, g: (g,))

    def part_loss(params: Tree, x: jax.Array, y: jax.Array) -> jax.Array:
        h = enter(x)
        h = h * lax.rsqrt(jnp.mean(h * h, axis=-1, keepdims=True) + 1e-6)
        q, k, v = (h @ params[name] for name in ("q", "k", "v"))
        scores = leave(jnp.einsum("bid,bjd->bij", q, k))
        weights = enter(jax.nn.softmax(scores / WIDTH**0.5))
        h = x + leave(jnp.einsum("bij,bjd->bid", weights, v) @ params["o"])
        h = h + leave(jnp.tanh(enter(h) @ params["up"]) @ params["down"])
        return jnp.mean((h - y) ** 2)

    def function(params: Tree, x: jax.Array, y: jax.Array) -> Tree:
        value, gradients = jax.value_and_grad(part_loss)(params, x, y)
        value, gradients = lax.pmean((value, gradients), "d")
        return value, jax.tree.map(lambda p, g: p - 0.125 * g, params, gradients)

    return _per_device(function, mesh, case)


def rolled(params: Tree, x: jax.Array, y: jax.Array) -> Tree:
    """Products with parts of the batch that other devices have; nothing like training."""
    parts = x.reshape(4, BATCH // 4, LENGTH, WIDTH)
    before = jnp.roll(parts, 1, axis=0).at[0].set(0).reshape(x.shape)
    mixed = before @ params["q"] + y @ params["k"]
    top = jnp.max(mixed.reshape(parts.shape), axis=0)
    return jnp.sum(top), jax.tree.map(lambda p: p * 0.5, params)


def by_exchange(mesh: Mesh, case: Case) -> Step:
    """A ring that is open at its end, transpositions between devices, and a maximum."""

    def function(params: Tree, x: jax.Array, y: jax.Array) -> Tree:
        before = lax.ppermute(x, "d", [(i, i + 1) for i in range(3)])
        columns = lax.all_to_all(y, "d", split_axis=2, concat_axis=0, tiled=True)
        back = lax.all_to_all(columns, "d", split_axis=0, concat_axis=2, tiled=True)
        top = lax.pmax(before @ params["q"] + back @ params["k"], "d")
        return jnp.sum(top), jax.tree.map(lambda p: p * 0.5, params)

    return _per_device(function, mesh, case)


_NAMES = ("q", "k", "v", "o", "up", "down")
_COPIES = dict.fromkeys(_NAMES, P())
_COLUMNS = dict.fromkeys(_NAMES, P(None, "t")) | dict.fromkeys(("o", "down"), P("t", None))

CASES = (
    Case("data parallel", by_compiler, _COPIES, P(("d", "t"))),
    Case("tensor parallel", by_compiler, _COLUMNS, P("d")),
    Case("FSDP", by_compiler, dict.fromkeys(_NAMES, P(("d", "t"))), P(("d", "t"))),
    Case("data parallel, shard_map", by_mean_of_gradients, _COPIES, P(("d", "t"))),
    Case("tensor parallel, shard_map", by_parts_of_products, _COLUMNS, P("d")),
    Case("FSDP, shard_map", by_gathering, dict.fromkeys(_NAMES, P(("d", "t"))), P(("d", "t"))),
    Case("exchange, shard_map", by_exchange, _COPIES, P("d"), plain=rolled),
)


def shardings(mesh: Mesh, specs: Tree) -> Tree:
    is_spec = partial(jax.tree.map, lambda spec: NamedSharding(mesh, spec))
    return is_spec(specs, is_leaf=lambda spec: isinstance(spec, P))
