"""Casts of values whose predicted sizes can't be trusted: measured, bounded, or left wide."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as sh
from scalify_hlo.api import make_options
from scalify_hlo.errors import InputError
from scalify_hlo.program.program import read_text
from scalify_hlo.program.rewriting import rewrite_program
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.report.model import Report
from tests.py.shared import judge
from tests.py.shared.judge import interpreted, program_of, propagated, unrecorded

SIZE = 64
X = jax.random.normal(jax.random.key(0), (SIZE, SIZE))
W = jax.random.normal(jax.random.key(1), (SIZE, SIZE))
ORTHOGONAL = jnp.linalg.qr(X)[0]


def turn(x: jax.Array) -> jax.Array:
    """A turn of Newton-Schulz, as Muon takes it."""
    a = x @ x.T
    return 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x


def unrolled(x: jax.Array) -> jax.Array:
    x = x / jnp.linalg.norm(x)
    for _ in range(5):
        x = turn(x)
    return x


def called(x: jax.Array) -> jax.Array:
    x = x / jnp.linalg.norm(x)
    for _ in range(5):
        x = jax.jit(turn)(x)
    return x


def looped(x: jax.Array) -> jax.Array:
    return jnp.asarray(jax.lax.fori_loop(0, 5, lambda _, x: turn(x), x / jnp.linalg.norm(x)))


def powers(x: jax.Array) -> jax.Array:
    """Numbers whose size is not predicted well."""
    x = 1 + x / 8
    for _ in range(4):
        x = x * x
    return x


def logistic_map(x: jax.Array) -> jax.Array:
    x = jax.nn.sigmoid(x)
    for _ in range(16):
        x = 3.5 * x * (1 - x)
    return x


IDIOMS = (unrolled, called, looped, powers, logistic_map)


def text(function: Callable[[jax.Array], jax.Array]) -> str:
    program = program_of(lambda x, w: function(x) @ w, X, W)
    return str(program.mlir_module())


def rewritten(source: str, recipe: str, **settings: object) -> Report:
    options = make_options(recipe=recipe, settings=settings, input_scale={"*": 1.0})
    return rewrite_program(read_text(source), options)[1]


def operand(function: Callable[[jax.Array], jax.Array], recipe: str, **settings: object) -> Any:
    """The error of the operand of the last matmul: its product with the unit matrix."""
    unit = jnp.eye(SIZE)
    program = program_of(lambda x, w: function(x) @ w, X, unit)
    result = sh.rewrite(program, recipe=recipe, settings=settings).call(X, unit)
    return np.asarray(result)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "how", "done", "share"),
    [
        *((recipe, "measure", "measured at run time", 4) for recipe in ("fp16", "fp8", "unit")),
        *((recipe, "bounded", "its scale is bounded", 8) for recipe in ("fp16", "fp8")),
    ],
)
@pytest.mark.parametrize("idiom", IDIOMS)
def test_untrusted_operands_are_not_flushed(
    idiom: Any, recipe: str, how: str, done: str, share: int
) -> None:
    report = rewritten(text(idiom), recipe, untrusted=how)
    assert report.untrusted
    assert all(done in place.remark.message for place in report.untrusted)
    assert {place.remark for place in report.untrusted} <= set(report.remarks)
    found = operand(idiom, recipe, untrusted=how)
    assert np.isfinite(found).all()
    assert np.count_nonzero(found) > found.size // share  # of the 16th powers, as in any cast


@pytest.mark.parametrize("idiom", [powers, logistic_map])
def test_measured_operands_are_as_good_as_their_format(idiom: Any) -> None:
    exact = np.asarray(idiom(X))
    for recipe, bound in (("fp16", 2.0**-10), ("fp8", 2.0**-4), ("unit", 2.0**-4)):
        error = np.abs(operand(idiom, recipe) - exact)
        assert np.sqrt(np.mean(error**2)) <= bound * np.sqrt(np.mean(exact**2))


def test_bounded_operands_take_no_statistic() -> None:
    settings = {"untrusted": "bounded"}
    source = sh.rewrite(text(powers), recipe="fp8", settings=settings, input_scale={"*": 1.0})
    assert "stablehlo.reduce" not in source


def test_steps_train_without_a_statistic_if_sizes_are_bounded() -> None:
    """The recipe `munit-scaling` says so, for models whose sizes it could predict."""
    weights = jax.random.normal(jax.random.key(2), (2, SIZE, SIZE)) / 8

    def loss(weights: jax.Array) -> jax.Array:
        return jnp.square(powers(X @ weights[0]) @ weights[1] - W).mean()

    def step(weights: jax.Array) -> tuple[jax.Array, jax.Array]:
        error, gradient = jax.value_and_grad(loss)(weights)
        return weights - gradient / 5000, error

    program = program_of(step, weights)
    scales = sh.measured_scales(program, weights)
    made, report = sh.rewrite(program, recipe="munit-scaling", input_scale=scales, report=True)
    assert report.statistics == 0
    assert {"its scale is bounded" in place.remark.message for place in report.untrusted} == {True}
    errors = []
    for call in (jax.jit(step), jax.jit(made.call)):
        found = weights
        for _ in range(20):
            found, error = call(found)
        errors.append(float(error))
    assert errors[0] < float(loss(weights)) / 8
    assert errors[1] == pytest.approx(errors[0], rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("idiom", IDIOMS)
@pytest.mark.parametrize("recipe", ["fp16", "fp8"])
def test_wide_operands_stay_as_they_are(idiom: Any, recipe: str) -> None:
    report = rewritten(text(idiom), recipe, untrusted="wide")
    assert any("it stays wide" in remark.message for remark in report.remarks)
    assert report.narrowed < rewritten(text(idiom), recipe).narrowed
    source = sh.rewrite(text(idiom), recipe=recipe, settings={"untrusted": "wide"})
    assert "scalify." not in unrecorded(source)


def test_what_is_trusted_is_left_alone() -> None:
    def block(x: jax.Array) -> jax.Array:
        return jax.nn.softmax(x @ W) @ jax.nn.gelu(x @ W)

    for recipe in ("fp16", "fp8", "unit"):
        for how in ("measure", "bounded", "wide"):
            assert not rewritten(text(block), recipe, untrusted=how).remarks


def test_strict_refuses_what_is_not_trusted() -> None:
    options = replace(make_options(recipe="fp8", input_scale={"*": 1.0}), strict=True)
    with pytest.raises(InputError, match="predicted size"):
        rewrite_program(read_text(text(powers)), options)


@pytest.mark.parametrize("declared", [-4, 0, 4])
def test_the_models_own_casts_apply_scales_first(declared: int) -> None:
    """Four squarings are predicted to leave f16, although values near 1 do not."""

    def squared(a: jax.Array) -> jax.Array:
        for _ in range(4):
            a = a @ a
        return a.astype(jnp.float16)

    program = program_of(squared, ORTHOGONAL)
    same = propagated(program, input_scale={"*": 2.0**declared})
    (found,), (expected,) = (interpreted(each, ORTHOGONAL) for each in (same, program))
    np.testing.assert_array_equal(found, expected)


def test_bounded_functions_leave_near_unit() -> None:
    """An incomplete gamma function is between 0 and 1, whatever the scales of its arguments."""
    x = np.random.default_rng(0).uniform(0.1, 3, SIZE).astype(np.float16)
    y = np.random.default_rng(1).uniform(0.1, 3, SIZE).astype(np.float16)
    program = program_of(jax.scipy.special.gammainc, x, y)
    scaled = propagated(program, signature="scaled")
    pairs = [
        sh.ScaledArray(v / np.float16(2.0**k), jnp.float32(2.0**k)) for v, k in ((x, -7), (y, -12))
    ]
    result = scaled.call(*pairs)
    assert 2.0**-4 <= float(result.scale) <= 2.0**4
    np.testing.assert_allclose(sh.asarray(result), program.call(x, y), rtol=2e-3)


def test_sums_with_constants_keep_the_constants_near_unit() -> None:
    """Horner's scheme: at the scale of the product, constants would move away in each turn."""

    def polynomial(x: jax.Array) -> jax.Array:
        y = jnp.zeros_like(x)
        for _ in range(16):
            y = y * x * x + 0.5
        return y

    program = program_of(polynomial, X)
    rewritten = propagated(str(program.mlir_module()), input_scale={"*": 2.0**-4})
    constants = [
        abs(float(part.partition(">")[0]))
        for part in rewritten.split("dense<")[1:]
        if "xf32" in part.partition("\n")[0]
    ]
    assert max(constants) <= 2.0**12


def test_a_recipe_file_sets_it(tmp_path: Any) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('base = "fp8"\nuntrusted = "bounded"\n')
    assert sh.load_recipe(str(file)).untrusted == "bounded"


def test_narrow_operands_of_a_wide_product_keep_their_scales() -> None:
    text = """
    func.func @main(%a: tensor<4x4xf16>) -> tensor<4x4xf32> {
      %p = stablehlo.multiply %a, %a : tensor<4x4xf16>
      %0 = stablehlo.dot_general %p, %p, contracting_dims = [1] x [0]
        : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }"""
    (found,) = judge.run_scaled(text, [np.ones((4, 4), np.float16)], [9])
    assert isinstance(found, judge.Pair)
    np.testing.assert_array_equal(found.value, np.full((4, 4), 2.0**38, np.float32))


def test_wide_formats_are_never_measured() -> None:
    text = """
    func.func @main(%a: tensor<32x32xf32>, %e: tensor<32x32xf32>) -> tensor<32x32xf32> {
      %p = stablehlo.power %a, %e : tensor<32x32xf32>
      %0 = stablehlo.dot_general %p, %a, contracting_dims = [1] x [0]
        : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      return %0 : tensor<32x32xf32>
    }"""
    _, report = judge.rewritten(text, "same", recipe=load_recipe("bf16"))
    assert not report.untrusted


def test_a_loop_that_counts_in_four_bits() -> None:
    text = """
    func.func @main(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i4>
      %one = stablehlo.constant dense<1> : tensor<i4>
      %three = stablehlo.constant dense<3> : tensor<i4>
      %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i4>, tensor<32x32xf32>
      cond {
        %c = stablehlo.compare LT, %i, %three : (tensor<i4>, tensor<i4>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i4>
        %z = stablehlo.dot_general %y, %y, contracting_dims = [1] x [0]
          : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
        stablehlo.return %j, %z : tensor<i4>, tensor<32x32xf32>
      }
      return %0#1 : tensor<32x32xf32>
    }"""
    judge.rewritten(text, "same", recipe=load_recipe("fp8"))


@pytest.mark.parametrize("recipe", ["propagate", "fp8", "fp16", "unit"])
def test_scales_of_squares_of_squares_have_no_more_factors_than_ops(recipe: str) -> None:
    """The power of the scale doubles with each; it took as many factors as the power is high."""

    def squared(x: jax.Array) -> jax.Array:
        for _ in range(40):
            x = x * x
        return x

    x = jnp.where(jnp.arange(64) % 2, -1.0, 1.0)
    program = sh.rewrite(program_of(squared, x), recipe=recipe, signature="scaled")
    assert program.mlir_module().count("stablehlo.multiply") < 40 * 8
    result = program.call(sh.as_scaled_array(x, 0.25))
    np.testing.assert_array_equal(np.asarray(sh.asarray(result)), np.ones(64))


def convolved(x: jax.Array, kernels: jax.Array) -> jax.Array:
    """The loss of convolutions with normalizations of batches between them."""
    for kernel in kernels:
        x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=LAYOUT)
        x = (x - x.mean((0, 1, 2))) * jax.lax.rsqrt(x.var((0, 1, 2)) + 1e-5)
        x = jax.nn.relu6(x)
    return jnp.square(x).mean()


LAYOUT = ("NHWC", "HWIO", "NHWC")


def test_gradients_in_few_exponents_are_measured_once() -> None:
    """They become smaller as the loss falls, all of them by as much; E5M2 has room for that."""
    few = {"matmul.gradient": "e4m3"}
    images = jax.random.normal(jax.random.key(0), (4, 8, 8, 16))
    kernels = jax.random.normal(jax.random.key(1), (4, 3, 3, 16, 16)) / 12
    program = program_of(lambda k, x: jax.grad(convolved, 1)(x, k), kernels, images)
    text = str(program.mlir_module())
    for settings in (few, {"target": "gpu"}):
        report = rewritten(text, "unit", **settings)
        assert (report.statistics, report.untrusted) == (1, [])
        assert rewritten(text, "unit", untrusted="bounded", **settings).statistics == 0
    assert rewritten(text, "unit").statistics == 0
    layers = program_of(jax.grad(lambda w, x: jnp.square(x @ w @ w.T).mean()), W, X)
    assert rewritten(str(layers.mlir_module()), "unit").statistics == 0
    assert rewritten(str(layers.mlir_module()), "unit", **few).statistics == 1
