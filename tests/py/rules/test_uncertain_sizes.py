"""Values whose sizes only run time knows are not flushed by casts that guess them."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as sh
from tests.py.shared import judge
from tests.py.shared.judge import interpreted, program_of, propagated

pytestmark = pytest.mark.slow

SIZE = 64
X = jax.random.normal(jax.random.key(0), (SIZE, SIZE))
UNIT = jnp.eye(SIZE)
RECIPES = ("fp8", "fp16", "unit")


def power(x: jax.Array) -> jax.Array:
    """Of about 2^-48, measured by the matmul that reads it."""
    y = (x * 2.0**-3) ** 4
    y = y * y
    return (y * y) @ (UNIT * 2.0**-3) * 8.0


def large_power(x: jax.Array) -> jax.Array:
    """Of about 2^80, far above what scales of statistics are kept within elsewhere."""
    y = (1 + x / 16) ** 8 * 2.0**9
    y = y * y
    return (y * y) * (y * y) * 2.0**8


def small_power(x: jax.Array) -> jax.Array:
    y = (1 + x / 16) ** 8 * 2.0**-9
    y = y * y
    return (y * y) * (y * y) * 2.0**-8


def clamped(x: jax.Array) -> jax.Array:
    return jnp.maximum(power(x), -1.0)


def selected(x: jax.Array) -> jax.Array:
    return jnp.where(x > -9.0, power(x), 1.0)


def branched(x: jax.Array) -> jax.Array:
    return jnp.asarray(jax.lax.cond(x[0, 0] < 99.0, power, lambda x: x, x))


def carried(x: jax.Array) -> jax.Array:
    return jnp.asarray(jax.lax.fori_loop(0, 1, lambda *_: power(x), jnp.ones_like(x)))


def rounded(x: jax.Array) -> jax.Array:
    return jnp.asarray(jax.lax.reduce_precision(power(x), 8, 10))


def ramp(x: jax.Array) -> jax.Array:
    return x[:1] * 0 + jax.lax.iota(jnp.float32, SIZE)[:, None] * 2.0**-14


def tiny_table(x: jax.Array) -> jax.Array:
    return x[:1] * 0 + np.random.RandomState(0).randn(SIZE, SIZE).astype(np.float32) * 2.0**-30


def product_of_all(x: jax.Array) -> jax.Array:
    return jnp.cumprod(jnp.abs(x) * 0.5 + 0.25, axis=0)[12:16]


def mapped(x: jax.Array) -> jax.Array:
    return jnp.asarray(jax.lax.map(lambda v: jnp.exp(-v * v * 0.01 - 16.0), x))


FUNCTIONS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "sin": jnp.sin,
    "tan": jnp.tan,
    "asin": jnp.arcsin,
    "atan": jnp.arctan,
    "expm1": jnp.expm1,
    "log1p": jnp.log1p,
    "erf": jax.lax.erf,
    "tanh": jnp.tanh,
    "asinh": jnp.arcsinh,
    "atanh": jnp.arctanh,
    "erf_inv": jax.lax.erf_inv,
}


def gains(x: jax.Array) -> jax.Array:
    for _ in range(40):
        x = x * 0.75
    return x


def divided(x: jax.Array) -> jax.Array:
    for _ in range(40):
        x = x / 1.4
    return x


PROGRAMS = (
    *(
        large_power,
        small_power,
        clamped,
        selected,
        branched,
        carried,
        rounded,
        ramp,
        tiny_table,
        product_of_all,
        mapped,
    ),
    *(gains, divided),
)


M = f"tensor<{SIZE}x{SIZE}xf32>"
SQUARE = f"%s = stablehlo.multiply %a, %a : {M}"
SCALED = f"%k = stablehlo.constant dense<0.7> : {M}\n%s = stablehlo.multiply %a, %k : {M}"
LOOPS = {
    "squares of another carry": (0, 6, 1, "LT", SQUARE, "%b, %s"),
    "products of two carries": (0, 7, 1, "LT", f"%s = stablehlo.multiply %a, %b : {M}", "%b, %s"),
    "inverse squares": (
        *(0, 4, 1, "LT", f"{SQUARE}\n%q = stablehlo.divide %one, %s : {M}", "%q, %b"),
    ),
    "from a negative number on": (-30, 0, 1, "LT", SCALED, "%s, %b"),
    "downwards": (30, 0, -1, "GT", SCALED, "%s, %b"),
    "in steps": (0, 60, 2, "LT", SCALED, "%s, %b"),
    "handed on": (0, 30, 1, "LT", SCALED, "%s, %a"),
}


def looping(start: int, limit: int, step: int, direction: str, body: str, ends: str) -> str:
    return f"""func.func @main(%x: {M}, %unit: {M}) -> {M} {{
  %start = stablehlo.constant dense<{start}> : tensor<i32>
  %limit = stablehlo.constant dense<{limit}> : tensor<i32>
  %step = stablehlo.constant dense<{step}> : tensor<i32>
  %one = stablehlo.constant dense<1.0> : {M}
  %r:3 = stablehlo.while(%i = %start, %a = %x, %b = %x) : tensor<i32>, {M}, {M} cond {{
    %c = stablehlo.compare {direction}, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %j = stablehlo.add %i, %step : tensor<i32>
    {body}
    stablehlo.return %j, {ends} : tensor<i32>, {M}, {M}
  }}
  %d = stablehlo.dot_general %r#2, %unit, contracting_dims=[1]x[0] : ({M}, {M}) -> {M}
  %e = stablehlo.dot_general %r#1, %unit, contracting_dims=[1]x[0] : ({M}, {M}) -> {M}
  %f = stablehlo.add %d, %e : {M}
  return %f : {M}
}}"""


def error(
    function: Callable[[jax.Array], jax.Array], x: jax.Array, recipe: str, scale: Any
) -> float:
    """The error of a matmul's operand, relative to its rms."""
    exported = program_of(lambda x, unit: function(x) @ unit, x, UNIT)
    scales = {"x": scale, "unit": 1.0}
    result = sh.rewrite(exported, recipe=recipe, input_scale=scales).call(x, UNIT)
    with jax.default_matmul_precision("highest"):
        exact = np.asarray(function(x), np.float64)
    return float(np.sqrt(np.mean((np.asarray(result) - exact) ** 2) / np.mean(exact**2)))


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_sizes_that_nothing_tells_are_measured(program: Any, recipe: str) -> None:
    assert error(program, X, recipe, 1.0) < 0.12


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_small_values(name: str, recipe: str) -> None:
    assert error(FUNCTIONS[name], X * 2.0**-14, recipe, 2.0**-14) < 0.12


@pytest.mark.parametrize("recipe", ["fp8", "unit"])
@pytest.mark.parametrize("name", LOOPS)
def test_loops_whose_carries_run_away(name: str, recipe: str) -> None:
    text = looping(*LOOPS[name])
    x = np.asarray(0.25 + 0.05 * jax.random.uniform(jax.random.key(1), X.shape), np.float32)
    arguments = [x, np.asarray(UNIT)]
    (exact,) = judge.evaluate_with_xla(judge.parse(text), arguments)
    scales = {"arg0": 0.25, "arg1": 1.0}
    rewritten = sh.rewrite(text, recipe=recipe, input_scale=scales)
    (found,) = judge.evaluate_with_xla(judge.parse(rewritten), arguments)
    exact, found = (np.asarray(value, np.float64) for value in (exact, found))
    assert np.linalg.norm(found - exact) < 0.12 * np.linalg.norm(exact)


SERIES = np.zeros(15, np.float32)
SERIES[::-2] = [(-1.0) ** n / math.factorial(2 * n) for n in range(8)]


def expanded(x: jax.Array, coefficients: jax.Array) -> jax.Array:
    """Coefficients that are 36 octaves apart, each taken from a table that is an argument."""
    total = jnp.zeros_like(x)
    coefficients = jnp.stack([coefficients[number] for number in range(len(SERIES))])
    for number in range(len(SERIES)):
        total = total * x + coefficients[number]
    return total


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("exponent", [-8, 0, 8])
def test_elements_of_uneven_constants(recipe: str, exponent: int) -> None:
    def called(x: jax.Array) -> jax.Array:
        return jnp.asarray(jax.jit(expanded)(x, jnp.asarray(SERIES)))

    assert error(called, X, recipe, 2.0**exponent) < 0.12


def squares(x: jax.Array) -> jax.Array:
    for _ in range(5):
        x = x * x
    return x


def test_calls_know_how_uncertain_f16_data_are() -> None:
    """Scales where a function is called are those where its ops stand in its caller."""
    x = (1 + X / 16).astype(jnp.float16)

    def called(x: jax.Array) -> jax.Array:
        square = jax.jit(lambda y: y * y)
        for _ in range(5):
            x = square(x)
        return x

    plain, calling = (program_of(function, x) for function in (squares, called))
    for exponent in range(-4, 5):
        scales = {"x": 2.0**exponent}
        (expected,) = interpreted(propagated(plain, input_scale=scales), x)
        (found,) = interpreted(propagated(calling, input_scale=scales), x)
        assert np.array_equal(found, expected), exponent


def test_loops_whose_condition_compares_what_it_computes() -> None:
    text = looping(*LOOPS["in steps"]).replace(
        "%c = stablehlo.compare LT, %i,",
        "%k = stablehlo.add %i, %i : tensor<i32>\n%c = stablehlo.compare LT, %k,",
    )
    assert "f8E4M3FN" in sh.rewrite(text, recipe="fp8", input_scale={"arg0": 1.0, "arg1": 1.0})
