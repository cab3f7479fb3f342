"""`--optimize`: scatters of single numbers into a constant become selects, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.scipy.special import logsumexp

import scalify_hlo
from scalify_hlo import InputError, dump_report
from scalify_hlo.passes.summary import summary
from tests.py.shared.judge import (
    assert_all_same_bits,
    evaluate,
    parse,
    propagated,
    shaped,
    stablehlo_of,
)

ROWS, CLASSES = (3, 5), 7
LOGITS = shaped(*ROWS, CLASSES)
LABELS = jax.ShapeDtypeStruct(ROWS, jnp.int32)
Loss = Callable[[jax.Array, jax.Array], jax.Array]


def along_axis(x: jax.Array, y: jax.Array) -> jax.Array:
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x), y[..., None], axis=-1))


def of_optax(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(x, y))


def indexed(x: jax.Array, y: jax.Array) -> jax.Array:
    """One index counts up along the rows."""
    rows = jax.nn.log_softmax(x).reshape(-1, CLASSES)
    return -jnp.mean(rows[jnp.arange(len(rows)), y.reshape(-1)])


def indexed_twice(x: jax.Array, y: jax.Array) -> jax.Array:
    """Two indices count up, each along its own dimension, and in the other order."""
    scores = jnp.moveaxis(jax.nn.log_softmax(x), 0, 1)
    rows, columns = jnp.arange(ROWS[1])[:, None], jnp.arange(ROWS[0])[None]
    return -jnp.sum(scores[rows, columns, y.T])


def first_axis(x: jax.Array, y: jax.Array) -> jax.Array:
    scores = jnp.moveaxis(x, -1, 0)
    return jnp.sum(logsumexp(scores, axis=0) - jnp.take_along_axis(scores, y[None], axis=0)[0])


def mapped(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.sum(jax.vmap(jax.vmap(lambda row, label: jnp.tanh(row)[label]))(x, y))


def one_row(x: jax.Array, y: jax.Array) -> jax.Array:
    """A whole window, at an index that depends on an input."""
    return jnp.sum(jnp.sin(jnp.take(x, y[0, :1], axis=1)) ** 2)


def diagonal(x: jax.Array, y: jax.Array) -> jax.Array:
    """Two indices count up along the same dimension of the updates."""
    places = jnp.arange(ROWS[0])
    return jnp.sum(jnp.exp(x[:, : ROWS[0]])[places, places] * y[0, 0])


LOSSES = (
    along_axis,
    of_optax,
    indexed,
    indexed_twice,
    first_axis,
    mapped,
    one_row,
    diagonal,
)


def exported(loss: Loss, labels: Any = LABELS) -> str:
    text: str = stablehlo_of(jax.grad(loss), LOGITS, labels)
    return text


def inputs(low: int = 0, high: int = CLASSES) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    logits = random.standard_normal(LOGITS.shape).astype(np.float32)
    return logits, random.integers(low, high, ROWS, np.int32)


def assert_same_results(one: str, other: str, arrays: Any) -> None:
    assert_all_same_bits(evaluate(parse(one), arrays), evaluate(parse(other), arrays))


def optimized(text: str, **options: Any) -> tuple[str, Any]:
    how: Any = {"recipe": "propagate", "optimize": True, "report": True} | options
    found: tuple[str, Any] = scalify_hlo.rewrite(text, **how)
    return found


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_no_scatter_is_left_and_no_bit_is_changed(loss: Loss) -> None:
    text = exported(loss)
    assert "stablehlo.scatter" in text
    new, report = optimized(text)
    assert "stablehlo.scatter" not in new
    assert report.optimized == text.count('"stablehlo.scatter"(')
    # Indices out of bounds: negative ones count from the end in JAX, and others are dropped.
    for low, high in ((0, CLASSES), (-3 * CLASSES, 3 * CLASSES)):
        arrays = inputs(low, high)
        assert_same_results(new, text, arrays)


@pytest.mark.parametrize("loss", [along_axis, indexed], ids=lambda loss: loss.__name__)
@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_scales_change_no_bit(loss: Loss, signature: str) -> None:
    text = exported(loss)
    scale = {"*": 2.0**5} if signature == "same" else None
    new, _ = optimized(text, signature=signature, input_scale=scale)
    x, y = inputs()
    scaled = [x * np.float32(2.0**-7), np.array(2.0**7, np.float32), y]
    results = evaluate(parse(new), scaled if signature == "scaled" else [x, y])
    if signature == "scaled":
        results = [np.asarray(np.multiply(*results))]
    assert_all_same_bits(results, evaluate(parse(text), (x, y)))


def scatter(body: str, operand: str = "dense<0.0>", updates: str = "tensor<3x1xf32>") -> str:
    """A program of one scatter."""
    return f"""
    func.func @main(%i: tensor<3x1xi8>, %u: {updates}) -> tensor<3x200xf32> {{
      %zero = stablehlo.constant {operand} : tensor<3x200xf32>
      %0 = "stablehlo.scatter"(%zero, %i, %u) <{{scatter_dimension_numbers =
        #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0],
        scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1],
        index_vector_dim = 2>}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        {body}
      }}) : (tensor<3x200xf32>, tensor<3x1xi8>, {updates}) -> tensor<3x200xf32>
      return %0 : tensor<3x200xf32>
    }}""".replace("i8", "i32")


ADD = "%c = stablehlo.add %b, %a : tensor<f32> stablehlo.return %c : tensor<f32>"
WRITE = "stablehlo.return %b : tensor<f32>"
KEEP = "stablehlo.return %a : tensor<f32>"
MOST = "%c = stablehlo.maximum %a, %b : tensor<f32> stablehlo.return %c : tensor<f32>"
TWICE = "%c = stablehlo.add %b, %b : tensor<f32> stablehlo.return %c : tensor<f32>"


@pytest.mark.parametrize("body", [ADD, WRITE])
@pytest.mark.parametrize("operand", ["dense<0.0>", "dense<-0.0>", "dense<1.5>"])
def test_signs_of_zero_and_other_constants(body: str, operand: str) -> None:
    text = scatter(body, operand)
    new, report = optimized(text)
    assert report.optimized == 1
    places = np.array([[0], [-1], [199]], np.int32)
    for number in (0.0, -0.0, np.inf, np.nan):
        arrays = (places, np.full((3, 1), number, np.float32))
        assert_same_results(new, text, arrays)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(scatter(KEEP), id="neither adds nor writes"),
        pytest.param(scatter(MOST), id="maximum"),
        pytest.param(scatter(TWICE), id="adds something else"),
        pytest.param(scatter(ADD, "dense_resource<x>"), id="constant is not read"),
        pytest.param(scatter(ADD).replace("i32", "i8"), id="index has too few bits"),
        pytest.param(
            scatter(ADD, updates="tensor<3x2xf32>").replace("3x1xi32", "3x2xi32"), id="two in a row"
        ),
        pytest.param(exported(lambda x, y: jnp.sum(jnp.sin(x)[0, 0, y[0]])), id="embedding"),
        pytest.param(
            exported(lambda x, y: jnp.sum(jnp.sin(x)[jnp.arange(2), jnp.arange(2), y[0, :2]])),
            id="not all rows",
        ),
    ],
)
def test_other_scatters_are_left(text: str) -> None:
    if "dense_resource" in text:
        text = text.replace("dense_resource<x>", f"dense<{[[0.0] * 199 + [1.0]] * 3}>")
    new, report = optimized(text)
    assert new.count("stablehlo.scatter") == text.count("stablehlo.scatter")
    assert report.optimized == 0
    (remark,) = report.remarks
    assert "--optimize has no effect" in remark.message
    with pytest.raises(InputError, match="--optimize has no effect"):
        propagated(text, optimize=True, strict=True)


def test_two_updates_of_one_element_are_left() -> None:
    """The rows count up along a dimension of which there are two for each class."""
    text = exported(lambda x, y: jnp.sum(jnp.tanh(x)[jnp.zeros(3, int), jnp.arange(3), y[:, 0]]))
    new, report = optimized(text)
    assert report.optimized == 0
    assert_same_results(new, text, inputs())


def test_the_summary_and_the_report_say_so() -> None:
    _, report = optimized(exported(along_axis))
    assert summary(report) == (
        "propagate: the program has no matmul; "
        "nothing is scaled: give --input-scale or --signature scaled; 1 scatter replaced by selects"
    )
    assert json.loads(dump_report(report))["optimized"] == {"scatters": 1, "matmuls": 0}


def test_a_training_step_in_fp8_has_the_same_results() -> None:
    """The select is as the scatter for the roles, the sizes and the casts of a recipe."""

    def loss(w: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
        return of_optax(jnp.tanh(x @ w) @ w, y)

    w, x, y = (
        jax.ShapeDtypeStruct(s, d) for s, d in (((32, 32), "f4"), ((16, 32), "f4"), ((16,), "i4"))
    )
    text = stablehlo_of(jax.value_and_grad(loss), w, x, y)
    random = np.random.default_rng(1)
    arrays = [random.standard_normal(s.shape).astype(np.float32) for s in (w, x)]
    arrays.append(random.integers(0, 32, 16, np.int32))
    for recipe in ("fp8-current", "fp8"):
        plain = scalify_hlo.rewrite(text, recipe=recipe, report=True)
        new = optimized(text, recipe=recipe)
        assert [m.formats for m in new[1].matmuls] == [m.formats for m in plain[1].matmuls]
        assert new[1].statistics == plain[1].statistics
        assert_same_results(new[0], plain[0], arrays)


KINDS = ("window", "batch", "counted", "indexed")


def random_scatter(random: np.random.Generator) -> tuple[str, list[np.ndarray]]:
    """A scatter whose dimensions are each of windows, of batches, counted or indexed."""
    kinds = [*random.choice(KINDS, random.integers(1, 4)), "indexed"]
    random.shuffle(kinds)
    shape = [int(size) for size in random.integers(1, 4, len(kinds))]
    of = {kind: [d for d, k in enumerate(kinds) if k == kind] for kind in KINDS}
    free = [*of["batch"], *of["counted"], *[-1] * int(random.integers(0, 2))]
    random.shuffle(free)
    rows = [1 if d < 0 else shape[d] for d in free]
    indexed = [int(d) for d in random.permutation([*of["counted"], *of["indexed"]])]
    windows = sorted(random.permutation(len(rows) + len(of["window"]))[: len(of["window"])])
    sizes, rest = iter([shape[d] for d in of["window"]]), iter(rows)
    updates = [next(sizes if d in windows else rest) for d in range(len(rows) + len(windows))]
    numbers = jax.lax.ScatterDimensionNumbers(
        update_window_dims=tuple(map(int, windows)),
        inserted_window_dims=tuple(sorted(of["counted"] + of["indexed"])),
        scatter_dims_to_operand_dims=tuple(indexed),
        operand_batching_dims=tuple(of["batch"]),
        scatter_indices_batching_dims=tuple(free.index(d) for d in of["batch"]),
    )

    def program(places: list[jax.Array], numbers_in: jax.Array) -> jax.Array:
        given = iter(places)
        columns = [
            jax.lax.broadcasted_iota(jnp.int32, rows, free.index(d)) if d in free else next(given)
            for d in indexed
        ]
        return jax.lax.scatter_add(
            jnp.zeros(shape), jnp.stack(columns, -1), numbers_in, numbers, mode="drop"
        )

    places = [random.integers(-1, 4, rows).astype(np.int32) for _ in of["indexed"]]
    values = random.standard_normal(updates).astype(np.float32)
    text = stablehlo_of(program, places, values)
    return text, [*places, values]


@pytest.mark.parametrize("seed", range(25))
def test_random_dimensions(seed: int) -> None:
    text, arrays = random_scatter(np.random.default_rng(seed))
    new, report = optimized(text)
    assert report.optimized == 1
    assert_same_results(new, text, arrays)
