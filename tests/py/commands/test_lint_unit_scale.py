"""The lint of unit scale names what departs, by how much, and the function that mends it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from scalify_hlo import unit
from scalify_hlo.api import make_options
from scalify_hlo.cli.inspected import Inspected
from scalify_hlo.cli.matmul_table import Selection
from scalify_hlo.commands.lint.model import Finding
from scalify_hlo.program.program import read_text
from tests.py.commands.test_lint import text_of
from tests.py.shared.judge import shaped

WIDTH, ROWS, CLASSES, KEYS = 64, 512, 256, 32


def found(
    function: Callable[..., Any], *types: Any, sizes: Mapping[str, float] | None = None
) -> list[Finding]:
    options = make_options("propagate", "same", sizes, {})
    findings = Inspected.of(read_text(text_of(function, *types)), options, Selection()).findings
    return [each for each in findings if each.lint == "unit-scale"]


def texts(function: Callable[..., Any], *types: Any, **given: Any) -> list[str]:
    return [each.message for each in found(function, *types, **given)]


def octaves(messages: list[str], start: str) -> float:
    """Returns the octaves that the only message with a text tells after it."""
    (message,) = [each for each in messages if start in each]
    tail = message[message.index(start) + len(start) :]
    told = re.search(r"2\^(-?[\d.]+)", tail)
    assert told is not None
    return float(told[1])


def normal(number: int, *shape: int) -> jax.Array:
    return jax.random.normal(jax.random.key(number), shape)


def log_rms(value: Any) -> float:
    return math.log2(float(jnp.sqrt(jnp.mean(jnp.square(value)))))


# A plain MLP, and the same of unit-scaled ops.


def mlp(params: Any, x: jax.Array, labels: jax.Array) -> Any:
    x = jax.nn.gelu(x @ params["up"], approximate=False)
    log_p = jax.nn.log_softmax(x @ params["head"])
    return -jnp.mean(jnp.take_along_axis(log_p, labels[:, None], 1))


def unit_mlp(params: Any, x: jax.Array, labels: jax.Array) -> Any:
    x = unit.gelu(unit.linear(x, params["up"]))
    return unit.cross_entropy(unit.linear(x, params["head"], constraint=None), labels)


OF_MLP = (
    {"up": shaped(WIDTH, WIDTH), "head": shaped(WIDTH, CLASSES)},
    shaped(ROWS, WIDTH),
    shaped(ROWS, dtype=jnp.int32),
)


def test_a_plain_mlp() -> None:
    findings = found(jax.grad(mlp), *OF_MLP)
    first = mlp.__code__.co_firstlineno
    assert [each.message.partition(";")[0] for each in findings] == [
        "the gradient of this cross entropy has rms 2^-13",
        "the result of this matmul has rms 2^3 (a sum of 64 products), the gradient of its weight "
        "2^4.5 (a sum of 512 products), the gradient of its input 2^4 (a sum of 256 products)",
        "the result of this matmul has rms 2^3 (a sum of 64 products), the gradient of its weight "
        "2^4.5 (a sum of 512 products)",
        "the result of this gelu has rms 2^-0.6, the gradient of its input 2^-0.6",
    ]
    assert [each.message.partition("; ")[2] for each in findings] == [
        "unit.cross_entropy multiplies it by 2^13",
        *["unit.linear divides by sqrt(64)"] * 2,
        "unit.gelu multiplies by 1.7",
    ]
    lines = [re.search(rf'{Path(__file__).name}":(\d+):', each.location) for each in findings]
    numbers = [int(line[1]) - first for line in lines if line is not None]
    assert numbers == [2, 2, 1, 1]


def test_a_unit_scaled_mlp_has_no_finding() -> None:
    assert texts(jax.grad(unit_mlp), *OF_MLP) == []
    assert texts(unit_mlp, *OF_MLP) == []


def test_the_worst_comes_first() -> None:
    def model(x: jax.Array, narrow: jax.Array, wide: jax.Array) -> Any:
        small = x[:, :4] @ narrow
        return small, x @ wide

    messages = texts(model, shaped(8, WIDTH), shaped(4, 4), shaped(WIDTH, 4))
    assert [octaves(messages[i : i + 1], "rms") for i in range(2)] == [3.0, 1.0]


# Factors of the author, and declared sizes.


def test_factors_after_a_matmul_count() -> None:
    types = shaped(8, WIDTH), shaped(WIDTH, WIDTH)
    assert texts(lambda x, w: x @ w / jnp.sqrt(64.0), *types) == []
    assert texts(lambda x, w: 0.125 * (x @ w), *types) == []
    (message,) = texts(lambda x, w: 0.5 * (x @ w), *types)
    assert message.startswith("the result of this matmul has rms 2^2 (a sum of 64 products)")


def test_factors_of_the_author_are_those_of_the_gradients_too() -> None:
    seed = normal(4, WIDTH, WIDTH)

    def model(weights: Any, x: jax.Array) -> jax.Array:
        for w in weights:
            x = x @ w / math.sqrt(WIDTH)
        return jnp.sum(x * seed)

    assert texts(jax.grad(model), [seed] * 3, seed) == []


def test_declared_sizes_are_taken() -> None:
    types = shaped(8, WIDTH), shaped(WIDTH, WIDTH)
    (message,) = texts(lambda x, w: x @ w, *types, sizes={"w": 2.0**-3})
    assert message == "w has rms 2^-3; unit.linear and unit.conv take weights of rms 1"
    messages = texts(lambda x, w: x @ w, *types, sizes={"x": 16.0})
    assert messages[0] == "the input of this matmul has rms 2^4; unit.scaled multiplies it by 2^-4"
    assert messages[1].startswith("the result of this matmul has rms 2^3 ")


def test_what_no_function_of_unit_does_is_found_where_it_is_read() -> None:
    def model(x: jax.Array, w: jax.Array) -> jax.Array:
        return jnp.square(8 * x) @ w * 0.125

    (finding,) = found(model, shaped(8, WIDTH), shaped(WIDTH, WIDTH))
    told = "the input of this matmul has rms 2^6; unit.scaled multiplies it by 2^-6"
    assert finding.message == told


# A plain transformer against what it computes, and the same of unit-scaled ops.


def norm(x: jax.Array, gain: jax.Array, bias: jax.Array) -> jax.Array:
    centered = x - jnp.mean(x, -1, keepdims=True)
    return centered * jax.lax.rsqrt(jnp.mean(centered**2, -1, keepdims=True) + 1e-5) * gain + bias


def block(p: Any, x: jax.Array) -> Any:
    z = norm(x, p["gain"], p["bias"])
    q, k, v = (z @ p[name] for name in "qkv")
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(WIDTH)
    mixed = jax.nn.softmax(scores) @ v
    x = x + mixed @ p["out"]
    hidden = jax.nn.silu(x @ p["up"])
    return x + hidden @ p["down"]


def transformer(params: Any, tokens: jax.Array) -> Any:
    x = params["table"][tokens]
    for p in params["blocks"]:
        x = block(p, x)
    return jnp.mean(x)


def unit_block(p: Any, x: jax.Array) -> Any:
    z, skip = unit.residual_split(x)
    z = unit.layer_norm(z, p["gain"], p["bias"])
    q, k, v = (unit.linear(z, p[name]) for name in "qkv")
    x = unit.residual_add(unit.linear(unit.attention(q, k, v, causal=True), p["out"]), skip)
    z, skip = unit.residual_split(x, 0.2)
    z = unit.silu(unit.linear(z, p["up"]))
    return unit.residual_add(unit.linear(z, p["down"]), skip, 0.2)


def unit_transformer(params: Any, tokens: jax.Array) -> Any:
    x = unit.embedding(tokens, params["table"])
    for p in params["blocks"]:
        x = unit_block(p, x)
    return unit.cross_entropy(unit.linear(x, params["table"].T, constraint=None), tokens)


BLOCK = dict.fromkeys(("q", "k", "v", "out"), shaped(WIDTH, WIDTH))
BLOCK |= {"gain": shaped(WIDTH), "bias": shaped(WIDTH)}
BLOCK |= {"up": shaped(WIDTH, 4 * WIDTH), "down": shaped(4 * WIDTH, WIDTH)}
OF_TRANSFORMER = (
    {"table": shaped(CLASSES, WIDTH), "blocks": [BLOCK, BLOCK]},
    shaped(4, KEYS, dtype=jnp.int32),
)


def test_a_plain_transformer() -> None:
    findings = found(jax.grad(transformer), *OF_TRANSFORMER)
    first = block.__code__.co_firstlineno
    attention = [each for each in findings if "attention" in each.message]
    (line,) = [re.search(r'":(\d+):', each.location) for each in attention]
    assert line is not None
    assert int(line[1]) == first + 4
    messages = [each.message for each in findings]
    told = "attention has rms 2^-1.8 (a mean over 32 keys); unit.attention multiplies by sqrt(32/e)"
    assert told in attention[0].message
    assert octaves(messages, "the gradient of the table has rms") == -0.5
    assert octaves(messages, "the result of this silu has rms") == pytest.approx(-0.8, abs=0.11)
    assert octaves(messages, "the gradient of a bias or gain has rms") == 3.5
    adds = [each for each in messages if each.startswith("the result of this residual add")]
    assert len(adds) == 2
    assert "2^0.5 (a sum of 2 values); unit.residual_add" in adds[0]
    assert sum("the gradient of this loss" in each for each in messages) == 1


def test_a_unit_scaled_transformer_has_no_finding() -> None:
    assert texts(jax.grad(unit_transformer), *OF_TRANSFORMER) == []


def test_a_unit_scaled_training_step_has_no_finding() -> None:
    def step(params: Any, tokens: jax.Array) -> Any:
        gradients = jax.grad(unit_transformer)(params, tokens)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)

    assert texts(step, *OF_TRANSFORMER) == []


# Sizes as they are told against those that are computed.


def mean_of_squares(f: Callable[..., Any], *inputs: jax.Array) -> Any:
    """Returns the result of a function, and the gradient of its inputs for a unit normal one."""
    y, vjp = jax.vjp(f, *inputs)
    return y, vjp(normal(99, *y.shape))


def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    return jax.nn.softmax(q @ k.T / math.sqrt(WIDTH)) @ v


def test_attention_has_the_size_that_is_told() -> None:
    inputs = [normal(i, ROWS, WIDTH) for i in range(3)]
    told = octaves(texts(attention, *inputs), "attention has rms")
    y, gradients = mean_of_squares(attention, *inputs)
    for value in (y, *gradients):
        assert log_rms(value) == pytest.approx(told, abs=0.25)


@pytest.mark.parametrize("name", ["silu", "relu"])
def test_activations_have_the_sizes_that_are_told(name: str) -> None:
    f, seed = getattr(jax.nn, name), normal(7, ROWS, WIDTH)

    def model(x: jax.Array, w: jax.Array) -> jax.Array:
        return jnp.sum(f(x @ w / math.sqrt(WIDTH)) @ w / math.sqrt(WIDTH) * seed)

    x, w = normal(0, ROWS, WIDTH), normal(1, WIDTH, WIDTH)
    messages = texts(jax.grad(model, (0, 1)), x, w)
    y, (gradient,) = mean_of_squares(f, x)
    assert octaves(messages, f"the result of this {name} has rms") == pytest.approx(
        log_rms(y), abs=0.1
    )
    (message,) = [each for each in messages if f"this {name}" in each]
    told = octaves([message], "the gradient of its input")
    assert told == pytest.approx(log_rms(gradient), abs=0.1)


def test_the_gradient_of_a_cross_entropy_has_the_size_that_is_told() -> None:
    labels = jax.random.randint(jax.random.key(3), (ROWS,), 0, CLASSES)

    def of(logits: jax.Array) -> jax.Array:
        log_p = jax.nn.log_softmax(logits)
        return -jnp.mean(jnp.take_along_axis(log_p, labels[:, None], 1))

    def model(x: jax.Array, w: jax.Array) -> jax.Array:
        return of(x @ w / math.sqrt(WIDTH))

    x, w = normal(0, ROWS, WIDTH), normal(1, WIDTH, CLASSES)
    told = octaves(texts(jax.grad(model), x, w), "the gradient of this cross entropy has rms")
    assert told == pytest.approx(log_rms(jax.grad(of)(normal(2, ROWS, CLASSES))), abs=0.3)


def convolved(x: jax.Array, kernel: jax.Array) -> jax.Array:
    form = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=form)


def test_a_convolution_and_its_gradients_have_the_sizes_that_are_told() -> None:
    seed = normal(5, 4, 16, 16, 8)

    def model(kernels: Any, x: jax.Array) -> jax.Array:
        for kernel in kernels:
            x = convolved(x, kernel)
        return jnp.sum(x * seed)

    x, kernel = normal(0, 4, 16, 16, 8), normal(1, 3, 3, 8, 32)
    messages = texts(jax.grad(model), [kernel, normal(2, 3, 3, 32, 8)], x)
    y, (_, of_kernel) = mean_of_squares(convolved, x, kernel)
    told = [each for each in messages if "convolution has rms" in each]
    assert len(told) == 1
    assert octaves(told, "the result of this convolution has rms") == pytest.approx(3.1, abs=0.1)
    assert "unit.conv divides by sqrt(72)" in told[0]
    assert octaves(told, "the gradient of its weight") == pytest.approx(log_rms(of_kernel), abs=0.2)
    assert log_rms(y) == pytest.approx(math.log2(72) / 2, abs=0.2)


def test_a_softmax_that_is_no_attention() -> None:
    (message,) = texts(jax.nn.softmax, shaped(ROWS, 128))
    told = "the result of this softmax has rms 2^-7 (128 probabilities); unit.softmax multiplies"
    assert message.startswith(told)
    assert texts(unit.softmax, shaped(ROWS, 128)) == []


# Programs that are no models.


@pytest.mark.parametrize(
    "function",
    [jnp.exp, jnp.sort, lambda x: x + x**3, lambda x: x @ x.T / 8, lambda x: x[0] * jnp.sum(x)],
)
def test_other_programs_have_no_finding(function: Callable[..., Any]) -> None:
    assert texts(function, shaped(WIDTH, WIDTH)) == []


def test_layers_in_a_loop_are_found_once() -> None:
    def model(x: jax.Array, weights: jax.Array) -> jax.Array:
        step = partial(lambda x, w: (jnp.tanh(x @ w), None))
        return jax.lax.scan(step, x, weights)[0]

    messages = texts(model, shaped(8, WIDTH), shaped(3, WIDTH, WIDTH))
    assert sum("this matmul has rms 2^3 (a sum of 64 products)" in each for each in messages) == 1


def test_a_program_of_symbolic_sizes() -> None:
    n = jax.export.symbolic_shape("n")[0]
    type_ = jax.ShapeDtypeStruct((n, n), np.float32)
    assert all("a sum of products" in each for each in texts(lambda x: x @ x, type_))
