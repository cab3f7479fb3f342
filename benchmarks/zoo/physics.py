"""A neural ODE of diffrax, and an equivariant net of e3nn-jax."""

from typing import Any

import diffrax
import e3nn_jax as e3nn
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from benchmarks.models.model import Training
from benchmarks.zoo.equinox_nets import trained
from benchmarks.zoo.tasks import BATCH, key, learned

TIMES, POINTS = 8, 6


def ode(seed: int = 0) -> Training:
    """Learns the flow of a damped rotation from its trajectories, in steps of Heun's method."""
    model = eqx.nn.MLP(2, 2, 64, 2, jax.nn.softplus, key=key(seed))
    times = jnp.linspace(0.0, 2.0, TIMES)

    def batch(number: int) -> tuple[Any, ...]:
        start = np.random.default_rng(number).uniform(-1, 1, (BATCH, 2))
        angle, left = 1.5 * np.asarray(times), np.exp(-0.3 * np.asarray(times))
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) * left
        return (np.einsum("ijt,bj->bti", turn, start).astype(np.float32),)

    def flow(model: Any, start: jax.Array) -> jax.Array:
        return diffrax.diffeqsolve(
            diffrax.ODETerm(lambda _, y, f: f(y)),
            diffrax.Heun(),
            0.0,
            2.0,
            0.1,
            start,
            args=model,
            saveat=diffrax.SaveAt(ts=times),
            max_steps=32,
            throw=False,
        ).ys

    def loss(model: Any, paths: jax.Array) -> jax.Array:
        return jnp.mean((jax.vmap(flow, (None, 0))(model, paths[:, 0]) - paths) ** 2)

    return trained(model, loss, batch)


def points(seed: int = 0) -> Training:
    """Learns the energy of point clouds with spherical harmonics and tensor products."""
    hidden = e3nn.Irreps("32x0e + 16x1o")
    layers = [e3nn.flax.Linear(irreps) for irreps in (hidden, hidden, e3nn.Irreps("1x0e"))]

    def energy(params: Any, places: jax.Array, *, start: bool = False) -> Any:
        offsets = places[:, None] - places[None]
        radius = jnp.sqrt(jnp.sum(offsets**2, -1) + 1e-3)[..., None]
        harmonics = e3nn.spherical_harmonics("0e + 1o + 2e", e3nn.IrrepsArray("1o", offsets), True)
        shells = jnp.exp(-((radius - jnp.linspace(0.0, 3.0, 8)) ** 2))
        x = e3nn.tensor_product(e3nn.IrrepsArray("8x0e", shells), harmonics)
        made = []
        for i, layer in enumerate(layers):
            if start:
                made.append(layer.init(jax.random.fold_in(key(seed), i), x))
            x = layer.apply(made[i] if start else params[i], x)
            if i < 2:
                x = e3nn.norm_activation(x, [jax.nn.silu, jax.nn.sigmoid])
        return made if start else x.array.sum((0, 1, 2)) / POINTS

    def batch(number: int) -> tuple[Any, ...]:
        places = np.random.default_rng(number).standard_normal((BATCH, POINTS, 3))
        distance = np.linalg.norm(places[:, :, None] - places[:, None], axis=-1)
        return places.astype(np.float32), np.exp(-distance).sum((1, 2)).astype(np.float32)

    def loss(params: Any, places: jax.Array, wanted: jax.Array) -> jax.Array:
        found = jax.vmap(energy, (None, 0))(params, places)
        return jnp.mean((found - wanted) ** 2)

    params = energy(None, jnp.asarray(batch(0)[0][0]), start=True)
    return learned(loss, params, batch, optax.adam(1e-2))
