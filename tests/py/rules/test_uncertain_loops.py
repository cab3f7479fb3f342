"""Trust in the predicted sizes of values that loops carry."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as sh
from scalify_hlo.api import make_options
from scalify_hlo.program.program import read_text
from scalify_hlo.program.rewriting import rewrite_program
from tests.py.shared.judge import program_of, stablehlo_of

WIDTH, LAYERS = 16, 3
KEYS = jax.random.split(jax.random.key(0), 10)
X = jax.random.normal(KEYS[0], (8, WIDTH))
U = jax.random.normal(KEYS[1], (WIDTH, WIDTH)) / 4


def stacked(layers: int) -> dict[str, jax.Array]:
    """The weights of layers, each kind in one array."""

    def drawn(key: jax.Array, *shape: int) -> jax.Array:
        return jnp.asarray(jax.random.normal(key, (layers, *shape)) / np.sqrt(shape[0]))

    return {
        "gain": 0.5 + drawn(KEYS[2], WIDTH) / 8,
        "scale": 0.5 + drawn(KEYS[8], WIDTH) / 8,
        "key": drawn(KEYS[9], WIDTH, WIDTH),
        "in": drawn(KEYS[3], WIDTH, 4 * WIDTH),
        "out": drawn(KEYS[4], 4 * WIDTH, WIDTH),
        "query": drawn(KEYS[5], WIDTH, WIDTH),
        "value": drawn(KEYS[6], WIDTH, WIDTH),
        "mixed": drawn(KEYS[7], WIDTH, WIDTH),
    }


def normalized(x: jax.Array, gain: jax.Array | float = 1.0) -> jax.Array:
    centred = x - x.mean(-1, keepdims=True)
    return gain * centred * jax.lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-6)


def layer(x: jax.Array, w: dict[str, jax.Array]) -> tuple[jax.Array, None]:
    """A layer of a transformer."""
    h = normalized(x, w["gain"])
    scores = jax.nn.softmax((h @ w["query"]) @ (h @ w["key"]).T / np.sqrt(WIDTH))
    x = x + scores @ (h @ w["value"]) @ w["mixed"]
    return x + jax.nn.gelu(normalized(x, w["scale"]) @ w["in"]) @ w["out"], None


def loss(w: dict[str, jax.Array], x: jax.Array, u: jax.Array) -> jax.Array:
    """Of layers in a loop."""
    x, _ = jax.lax.scan(layer, x, w)
    return -jnp.mean(jax.nn.log_softmax(normalized(x) @ u)[:, 0])


def test_layers_in_a_loop_are_trusted() -> None:
    """Errors in sizes that layers normalize again, or that were saved, aren't those of inputs."""
    arguments = (stacked(LAYERS), X, U)
    text = stablehlo_of(jax.grad(loss), *arguments)
    scales = sh.measured_scales(text, *jax.tree.leaves(arguments))
    options = make_options(recipe="unit", input_scale=scales)
    assert not rewrite_program(read_text(text), options)[1].untrusted


def products(w: jax.Array, x: jax.Array) -> Any:
    """A running product with slices of one argument; each turn's is an operand too."""

    def turn(x: jax.Array, factor: jax.Array) -> tuple[jax.Array, jax.Array]:
        x = x * factor
        return x, x @ jnp.eye(WIDTH)

    last, turns = jax.lax.scan(turn, x, w)
    return last @ jnp.eye(WIDTH), turns


@pytest.mark.parametrize("turns", [2, 3, 12])
@pytest.mark.parametrize("exponent", [-8, 8])
def test_products_of_slices_of_one_argument_are_not_trusted(turns: int, exponent: int) -> None:
    """A scale that is declared wrong makes each turn wrong by the same factor."""
    w = jnp.exp2(jax.random.uniform(KEYS[2], (turns, WIDTH), minval=-0.5, maxval=0.5))
    program = program_of(products, w, X)
    scales = {"w": 2.0**exponent, "x": 1.0}
    source = sh.rewrite(program, recipe="unit", input_scale=scales)
    for found, exact in zip(source.call(w, X), products(w, X), strict=True):
        error = np.sqrt(np.mean(np.square(found - exact)) / np.mean(np.square(exact)))
        assert error < 2.0**-4
