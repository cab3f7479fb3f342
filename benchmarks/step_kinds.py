"""Training steps in the forms that programs have: sharded, rematerialized, with stacked layers.

They are exported from shapes; eight devices are described, and none is needed.
"""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import export, lax
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

WIDTH, LAYERS, BATCH = 16, 3, 32
ADAM = optax.adam(1e-3)


def _layer(x: jax.Array, w: jax.Array) -> jax.Array:
    return x + jnp.tanh(x @ w)


def _loss(weights: Any, x: jax.Array) -> jax.Array:
    for w in weights:
        x = _layer(x, w)
    return jnp.mean(x**2)


def _checkpointed(weights: Any, x: jax.Array) -> jax.Array:
    for w in weights:
        x = jax.checkpoint(_layer)(x, w)
    return jnp.mean(x**2)


def _scanned(weights: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.mean(lax.scan(lambda x, w: (_layer(x, w), None), x, weights)[0] ** 2)


def _constrained(weights: Any, x: jax.Array) -> jax.Array:
    for w in weights:
        x = lax.with_sharding_constraint(_layer(x, w), P("data", None))
    return jnp.mean(x**2)


def _step(loss: Callable[..., jax.Array]) -> Callable[..., Any]:
    def step(weights: Any, state: Any, x: jax.Array) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights, x)
        updates, state = ADAM.update(gradients, state, weights)
        return optax.apply_updates(weights, updates), state, value

    return step


def _by_hand(mesh: AbstractMesh) -> Callable[..., Any]:
    def step(weights: Any, state: Any, x: jax.Array) -> Any:
        value, gradients = jax.value_and_grad(_loss)(weights, x)
        updates, state = ADAM.update(lax.pmean(gradients, "data"), state, weights)
        return optax.apply_updates(weights, updates), state, lax.pmean(value, "data")

    inputs = (P(), P(), P("data", None))
    return jax.shard_map(step, mesh=mesh, in_specs=inputs, out_specs=P(), check_vma=False)


def _mesh(axes: AxisType) -> AbstractMesh:
    return AbstractMesh((4, 2), ("data", "model"), axis_types=(axes, axes))


def _arguments(
    *, mesh: AbstractMesh | None = None, batch: Any = BATCH, stacked: bool = False
) -> tuple[Any, ...]:
    def shaped(shape: tuple[Any, ...], *axes: str | None) -> Any:
        sharding = NamedSharding(mesh, P(*axes)) if mesh is not None else None
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)

    if stacked:
        weights: Any = shaped((LAYERS, WIDTH, WIDTH), None, None, None)
    else:
        weights = [shaped((WIDTH, WIDTH), None, None) for _ in range(LAYERS)]
    state = jax.eval_shape(ADAM.init, weights)
    return weights, state, shaped((batch, WIDTH), "data", None)


def kinds() -> Iterator[tuple[str, str]]:
    """Yields the name of each kind, and a program of it."""

    def exported(step: Callable[..., Any], arguments: tuple[Any, ...]) -> export.Exported:
        return export.export(jax.jit(step))(*arguments)

    plain = exported(_step(_loss), _arguments())
    yield "plain", plain.mlir_module()
    yield "rematerialized", exported(_step(_checkpointed), _arguments()).mlir_module()
    yield "stacked", exported(_step(_scanned), _arguments(stacked=True)).mlir_module()
    (batch,) = export.symbolic_shape("b")
    yield "symbolic", exported(_step(_loss), _arguments(batch=batch)).mlir_module()
    weights, _, x = _arguments()
    yield "vjp", exported(_loss, (weights, x)).vjp().mlir_module()
    for axes, loss in ((AxisType.Explicit, _loss), (AxisType.Auto, _constrained)):
        mesh = _mesh(axes)
        with jax.sharding.use_abstract_mesh(mesh):
            step = exported(_step(loss), _arguments(mesh=mesh))
        yield f"{axes.name.lower()} axes", step.mlir_module()
    mesh = _mesh(AxisType.Auto)
    yield "shard_map", exported(_by_hand(mesh), _arguments(mesh=mesh)).mlir_module()
