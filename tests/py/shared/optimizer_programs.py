"""Training steps whose optimizers are written out, for tests of the roles of their state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from tests.py.shared import role_models
from tests.py.shared.judge import shaped

Tree: TypeAlias = Any
State: TypeAlias = dict[str, jax.Array]

FIRST, SECOND, NEITHER = "first_moment", "second_moment", ""
B1, B2, EPSILON = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class Optimizer:
    """An optimizer that updates each leaf on its own.

    Attributes:
        update: Takes the gradient, the state and the weight; gives what is subtracted from the
            weight, and the new state.
        roles: The role of each tensor of the state.
        shapes: The shapes of those that are not as large as the weight.
        matrices: Whether it is for matrices only; other weights have SGD then.
    """

    update: Callable[[jax.Array, State, jax.Array], tuple[jax.Array, State]]
    roles: Mapping[str, str]
    shapes: Callable[[tuple[int, ...]], Mapping[str, tuple[int, ...]]] = lambda _: {}
    matrices: bool = False

    def state(self, weight: Any) -> Any:
        """The types of the state of a weight."""
        if self.matrices and len(weight.shape) < 2:
            return {}
        shapes = self.shapes(weight.shape)
        return {name: shaped(*shapes.get(name, weight.shape)) for name in self.roles}

    def step(self, g: jax.Array, state: State, p: jax.Array) -> tuple[jax.Array, State]:
        """A weight and its state after a step."""
        change, state = self.update(g, state, p) if state else (g, state)
        return p - 0.01 * change, state


def params() -> dict[str, Any]:
    """Weights whose gradients are matmuls, sums over a batch, and a scatter."""
    return {
        "bias": shaped(8),
        "gain": shaped(8),
        "head": shaped(8, 10),
        "table": shaped(16, 12),
        "up": shaped(12, 8),
    }


def squares() -> dict[str, Any]:
    """The same where all are of one size."""
    return {name: shaped(*(8 for _ in weight.shape)) for name, weight in params().items()}


def loss(params: Tree, ids: jax.Array, labels: jax.Array) -> jax.Array:
    """A token model with an embedding, a normalization and a head."""
    hidden = role_models.norm(params["table"][ids] @ params["up"])
    active = jax.nn.gelu(hidden * params["gain"] + params["bias"])
    return role_models.cross_entropy(active @ params["head"], labels)


def batch() -> tuple[Any, ...]:
    """Tokens and labels."""
    return role_models.labels(8), role_models.labels(8)


def training(optimizer: Optimizer, clip: Callable[[Tree], Tree] = lambda tree: tree) -> Any:
    """A training step, with gradients that are clipped first."""

    def step(params: Tree, state: Tree, ids: jax.Array, labels: jax.Array) -> Any:
        value, gradients = jax.value_and_grad(loss)(params, ids, labels)
        gradients = clip(gradients)
        new = {k: optimizer.step(gradients[k], state[k], params[k]) for k in params}
        return {k: p for k, (p, _) in new.items()}, {k: s for k, (_, s) in new.items()}, value

    return step


def adam(
    average: Callable[[jax.Array, jax.Array], jax.Array],
    squares: Callable[[jax.Array, jax.Array], jax.Array],
) -> Optimizer:
    """Adam whose moments are updated in a spelling of one's own.

    Args:
        average: Takes the gradient and the first moment; gives the next one.
        squares: The same of the second moment.
    """

    def update(g: jax.Array, state: State, p: jax.Array) -> tuple[jax.Array, State]:
        del p
        m, v = average(g, state["m"]), squares(g, state["v"])
        return m / (jnp.sqrt(v) + EPSILON), {"m": m, "v": v}

    return Optimizer(update, {"m": FIRST, "v": SECOND})


def average(g: jax.Array, m: jax.Array) -> jax.Array:
    """Adam's first moment."""
    return B1 * m + (1 - B1) * g


def moments(g: jax.Array, state: State) -> tuple[jax.Array, jax.Array]:
    """Both of Adam's moments."""
    return average(g, state["m"]), B2 * state["v"] + (1 - B2) * g * g


def matrix_power(a: jax.Array, exponent: float) -> Any:
    """The power of a symmetric matrix."""
    values, vectors = jnp.linalg.eigh(a + 1e-6 * jnp.eye(a.shape[0]))
    return (vectors * jnp.maximum(values, 1e-6) ** exponent) @ vectors.T


def newton_schulz(g: jax.Array) -> Any:
    """Muon's orthogonalisation, written out."""
    x = g / (jnp.linalg.norm(g) + 1e-7)
    for _ in range(3):
        a = x @ x.T
        x = 3.4445 * x + (-4.775 * a + 2.0315 * (a @ a)) @ x
    return x


def newton_schulz_loop(g: jax.Array) -> Any:
    """The same in a loop."""

    def turn(_: int, x: jax.Array) -> jax.Array:
        a = x @ x.T
        return 3.4445 * x + (-4.775 * a + 2.0315 * (a @ a)) @ x

    return lax.fori_loop(0, 3, turn, g / (jnp.linalg.norm(g) + 1e-7))


def factors(shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """The shapes of what a Kronecker optimizer keeps of a matrix."""
    rows, columns = shape
    left, right = (rows, rows), (columns, columns)
    return {"l": left, "pl": left, "ql": left, "r": right, "pr": right, "qr": right}


def kron(g: jax.Array, state: State) -> State:
    """The next factors of Shampoo's statistics."""
    return {"l": B2 * state["l"] + g @ g.T, "r": B2 * state["r"] + g.T @ g}


def shampoo(g: jax.Array, state: State, p: jax.Array) -> tuple[jax.Array, State]:
    """Shampoo that computes its inverse roots in each step, with momentum of gradients."""
    del p
    new = {**kron(g, state), "m": B1 * state["m"] + g}
    step = matrix_power(new["l"], -0.25) @ new["m"] @ matrix_power(new["r"], -0.25)
    return step, new


def lazy_shampoo(g: jax.Array, state: State, p: jax.Array) -> tuple[jax.Array, State]:
    """Shampoo that keeps its inverse roots, and averages preconditioned gradients."""
    new = kron(g, state)
    now = p.sum() > 0

    def roots() -> tuple[jax.Array, jax.Array]:
        return matrix_power(new["l"], -0.25), matrix_power(new["r"], -0.25)

    new["pl"], new["pr"] = lax.cond(now, roots, lambda: (state["pl"], state["pr"]))
    new["u"] = B1 * state["u"] + new["pl"] @ g @ new["pr"]
    return new["u"], new


def early_shampoo(g: jax.Array, state: State, p: jax.Array) -> tuple[jax.Array, State]:
    """Shampoo that uses the statistics of the step before."""
    del p
    left, right = (matrix_power(state[name], -0.25) for name in ("l", "r"))
    return left @ g @ right, kron(g, state)


def soap(g: jax.Array, state: State, p: jax.Array) -> tuple[jax.Array, State]:
    """Adam in the eigenbasis of Shampoo's statistics, which QR follows."""
    new = kron(g, state)

    def bases() -> tuple[jax.Array, jax.Array]:
        left, _ = jnp.linalg.qr(new["l"] @ state["ql"])
        right, _ = jnp.linalg.qr(new["r"] @ state["qr"])
        return left, right

    old = state["ql"], state["qr"]
    new["ql"], new["qr"] = lax.cond(p.sum() > 0, bases, lambda: old)
    turned = old[0].T @ g @ old[1]
    new["m"], new["v"] = average(g, state["m"]), B2 * state["v"] + (1 - B2) * turned * turned
    step = (old[0].T @ new["m"] @ old[1]) / (jnp.sqrt(new["v"]) + EPSILON)
    return old[0] @ step @ old[1].T, new


def muon(orthogonalise: Callable[[jax.Array], jax.Array]) -> Any:
    """Muon, with an average of its updates."""

    def update(g: jax.Array, state: State, p: jax.Array) -> tuple[jax.Array, State]:
        del p
        m = B1 * state["m"] + g
        u = B1 * state["u"] + orthogonalise(g + B1 * m)
        return u, {"m": m, "u": u}

    return update


KRONECKER = dict.fromkeys(("l", "r", "pl", "pr", "ql", "qr", "u"), NEITHER)


def kronecker(*names: str, **more: str) -> dict[str, str]:
    """The roles of a Kronecker optimizer's state."""
    return {name: KRONECKER[name] for name in names} | more


MATRIX_OPTIMIZERS: Mapping[str, Optimizer] = {
    "shampoo": Optimizer(shampoo, kronecker("l", "r", m=FIRST), factors, matrices=True),
    "shampoo-lazy": Optimizer(
        lazy_shampoo, kronecker("l", "r", "pl", "pr", "u"), factors, matrices=True
    ),
    "shampoo-early": Optimizer(early_shampoo, kronecker("l", "r"), factors, matrices=True),
    "soap": Optimizer(
        soap, kronecker("l", "r", "ql", "qr", m=FIRST, v=SECOND), factors, matrices=True
    ),
    "muon": Optimizer(muon(newton_schulz), {"m": FIRST, "u": NEITHER}, matrices=True),
    "muon-loop": Optimizer(muon(newton_schulz_loop), {"m": FIRST, "u": NEITHER}, matrices=True),
}


def factored(g: jax.Array, state: State, p: jax.Array) -> tuple[jax.Array, State]:
    """Adafactor's means of squares over rows and columns."""
    del p
    squares = g * g + 1e-30
    rows = B2 * state["rows"] + (1 - B2) * squares.mean(-1)
    columns = B2 * state["columns"] + (1 - B2) * jnp.einsum("ij,ij->j", g, g)
    v = rows[:, None] * columns[None] / rows.mean()
    u = g * lax.rsqrt(v)
    m = B1 * state["m"] + (1 - B1) * u / jnp.maximum(1.0, jnp.sqrt(jnp.mean(u * u)))
    return m, {"rows": rows, "columns": columns, "m": m}


def layerwise(g: jax.Array, state: State, p: jax.Array) -> tuple[jax.Array, State]:
    """NovoGrad: the second moment is a number."""
    v = B2 * state["v"] + (1 - B2) * jnp.sum(g * g)
    m = B1 * state["m"] + g / (jnp.sqrt(v) + EPSILON) + 0.01 * p
    return m, {"v": v, "m": m}


def averaged(g: jax.Array, state: State, p: jax.Array) -> tuple[jax.Array, State]:
    """Adam, and two averages of weights; one of them is an average of the other."""
    m, v = moments(g, state)
    u = m / (jnp.sqrt(v) + EPSILON)
    fast = 0.99 * state["fast"] + 0.01 * (p - 0.01 * u)
    slow = state["slow"] + 0.01 * (fast - state["slow"])
    return u, {"m": m, "v": v, "fast": fast, "slow": slow}


def entangled(g: jax.Array, state: State, p: jax.Array) -> tuple[jax.Array, State]:
    """Each is computed from the other; one is of two degrees."""
    del p
    squares = state["squares"] + g * g * jnp.sign(state["with"])
    mixed = state["with"] + (g + 0.1 * state["squares"])
    return mixed, {"squares": squares, "with": mixed}


def numbers(shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    del shape
    return {"v": ()}


def rows_and_columns(shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {"rows": shape[:1], "columns": shape[1:]}


WRITTEN_OUT: dict[str, Optimizer] = {
    "adafactor": Optimizer(
        factored,
        {"rows": SECOND, "columns": SECOND, "m": NEITHER},
        rows_and_columns,
        matrices=True,
    ),
    "averaged": Optimizer(averaged, {"m": FIRST, "v": SECOND, "fast": "weight", "slow": "weight"}),
    "entangled": Optimizer(entangled, {"squares": SECOND, "with": NEITHER}),
    "novograd": Optimizer(layerwise, {"v": SECOND, "m": FIRST}, numbers),
}
