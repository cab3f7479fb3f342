"""The last matmuls: projections to a vocabulary, and those inside of other ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import scalify_hlo
from scalify_hlo.dataflow import vocabulary
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.passes.summary import summary
from scalify_hlo.report.model import MatmulReport
from tests.py.layers.test_layers import gpt2_text
from tests.py.shared.judge import body_of, parse, shaped, stablehlo_of

TOKENS, WIDTH, INNER, WORDS = 6, 16, 64, 64

Params = dict[str, Any]
Model = Callable[[Params, jax.Array], Any]


def hidden(params: Params, tokens: jax.Array) -> Any:
    """One layer; its inner weights have the shapes of the embedding's, either way around."""
    x = params["embedding"][tokens]
    return x + jnp.tanh(x @ params["up"]) @ params["down"]


def tied(params: Params, tokens: jax.Array) -> Any:
    return hidden(params, tokens) @ params["embedding"].T


def untied(params: Params, tokens: jax.Array) -> Any:
    return hidden(params, tokens) @ params["head"]


def half_precision(params: Params, tokens: jax.Array) -> Any:
    params = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
    return untied(params, tokens).astype(jnp.float32)


def checkpointed(params: Params, tokens: jax.Array) -> Any:
    return jax.checkpoint(hidden)(params, tokens) @ params["head"]


def in_chunks(params: Params, tokens: jax.Array) -> Any:
    chunks = hidden(params, tokens).reshape(2, -1, WIDTH)
    return lax.map(lambda h: h @ params["head"], chunks).reshape(-1, WORDS)


MODELS = (tied, untied, half_precision, checkpointed, in_chunks)


def arguments(words: int = WORDS) -> tuple[Any, Any]:
    f32 = jnp.float32
    shapes = {
        "embedding": (words, WIDTH),
        "up": (WIDTH, INNER),
        "down": (INNER, WIDTH),
        "head": (WIDTH, words),
    }
    params = {name: jax.ShapeDtypeStruct(shape, f32) for name, shape in shapes.items()}
    return params, shaped(TOKENS, dtype=jnp.int32)


def training(model: Model) -> Callable[..., Any]:
    """A step that learns to repeat its tokens."""

    def loss(params: Params, tokens: jax.Array) -> jax.Array:
        likely = jax.nn.log_softmax(model(params, tokens))
        return -jnp.mean(jnp.take_along_axis(likely, tokens[:, None], -1))

    def step(params: Params, tokens: jax.Array) -> Any:
        gradients = jax.grad(loss)(params, tokens)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)

    return step


def matmuls(text: str) -> list[MatmulReport]:
    return run_passes(parse(text), [NormalizePass(), RolesPass()]).matmuls


@pytest.mark.parametrize("model", MODELS)
def test_the_head_is_the_same_matmul_in_training_and_inference(model: Model) -> None:
    inference = matmuls(stablehlo_of(model, *arguments()))
    assert [m.vocabulary for m in inference] == [False, False, True]
    trained = [m for m in matmuls(stablehlo_of(training(model), *arguments())) if m.vocabulary]
    assert sorted(m.part for m in trained) == ["backward", "backward", "forward"]
    assert trained[0].extent == inference[-1].extent


def test_a_classifier_has_no_vocabulary() -> None:
    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        return jax.nn.logsumexp(x @ w)

    types = [shaped(*shape) for shape in ((32, 100), (8, 32))]
    assert not any(m.vocabulary for m in matmuls(stablehlo_of(jax.grad(loss), *types)))


@pytest.mark.parametrize(("width", "found"), [(1024, True), (1025, False)])
def test_far_more_outputs_than_inputs_make_a_vocabulary(width: int, *, found: bool) -> None:
    types = [shaped(*shape) for shape in ((4, width), (width, 8192))]
    assert [m.vocabulary for m in matmuls(stablehlo_of(lambda x, w: x @ w, *types))] == [found]


def test_positions_that_are_looked_up_are_no_vocabulary() -> None:
    """The shape is that of the table, the other way around; another matmul takes the result."""

    def model(positions: jax.Array, up: jax.Array, down: jax.Array, i: jax.Array) -> jax.Array:
        return jax.nn.gelu(positions[i] @ up, approximate=False) @ down

    f32 = [shaped(*shape) for shape in ((64, 16), (16, 64), (64, 16))]
    index = shaped(4, dtype=jnp.int32)
    assert not any(m.vocabulary for m in matmuls(stablehlo_of(model, *f32, index)))


@pytest.mark.parametrize("model", [tied, untied])
@pytest.mark.parametrize("recipe", ["fp8-current", "fp8"])
def test_the_summary_says_that_the_vocabulary_stays_wide(model: Model, recipe: str) -> None:
    for function, count in ((model, 1), (training(model), 3)):
        text = stablehlo_of(function, *arguments())
        settings = {"matmul.smallest": 1}
        _, report = scalify_hlo.rewrite(text, recipe=recipe, settings=settings, report=True)
        assert f"; {count} wide: vocabulary (" in summary(report)


def test_only_what_may_be_a_vocabulary_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[object] = []
    is_last = vocabulary.Projections._is_last

    def noting(self: vocabulary.Projections, matmul: Any) -> bool:
        followed.append(matmul)
        return is_last(self, matmul)

    monkeypatch.setattr(vocabulary.Projections, "_is_last", noting)
    assert sum(m.vocabulary for m in matmuls(gpt2_text(3))) == 3
    assert not followed  # its head is tied


SQUARE = shaped(32, 32)

LAST: dict[str, Callable[..., Any]] = {
    "in a call": lambda x, w: jax.jit(lambda y: y @ w)(jnp.tanh(x @ w)) + 1.0,
    "in a loop": lambda x, w: jax.lax.fori_loop(0, 3, lambda _, y: jnp.tanh(y @ w), x @ w) + 1.0,
    "in a branch": lambda x, w: jax.lax.cond(
        x[0, 0] > 0, lambda y: y @ w, lambda y: y - 1.0, jnp.tanh(x @ w)
    ),
}


@pytest.mark.parametrize("function", LAST.values(), ids=LAST)
def test_the_last_matmul_may_be_inside_of_another_op(function: Callable[..., Any]) -> None:
    found = matmuls(stablehlo_of(function, SQUARE, SQUARE))
    assert [matmul.roles for matmul in found] == [("activation", "weight")] * 2


def test_a_narrow_matmul_may_take_what_another_makes() -> None:
    """Its operand was a convert back to f32, which goes with its last use."""
    text = stablehlo_of(lambda x, v, w: x @ v @ w, *[SQUARE] * 3)
    module = parse(scalify_hlo.rewrite(text, recipe="bf16"))
    names = [op.operation.name for op in body_of(module).operations]
    first, second = (i for i, name in enumerate(names) if name == "stablehlo.dot_general")
    assert "stablehlo.convert" not in names[first + 1 : second]
