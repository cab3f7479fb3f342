"""Patterns of names: no regard to case, and brackets stand for themselves."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo.api import make_options
from scalify_hlo.errors import UsageError
from scalify_hlo.ir.patterns import is_like, is_like_any, is_matmul_like, tags_of
from scalify_hlo.program.program import read_text
from scalify_hlo.program.rewriting import rewrite_program
from tests.py.shared.judge import program_of, stablehlo_of


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("*attention*", "Block_0/MultiHeadDotProductAttention_0/query"),
        ("*ATTENTION*", "block/self_attention"),
        ("params['w']", "params['W']"),
        ("params[*]", "params['kernel']"),
        ("x?", "X1"),
    ],
)
def test_matches(pattern: str, name: str) -> None:
    assert is_like(pattern, name)
    assert is_like_any(pattern, ["other", name])


@pytest.mark.parametrize(
    ("pattern", "name"), [("attention", "self_attention"), ("[ab]", "a"), ("w", "w1")]
)
def test_does_not_match(pattern: str, name: str) -> None:
    assert not is_like(pattern, name)


NAMES = "Encoder/Mlp_0", "params['w@a']"
DGRAD = tags_of("dgrad", ["gradient", "weight"], vocabulary=False)
WGRAD = tags_of("wgrad", ["gradient", "activation"], vocabulary=True)
SCORES = tags_of("forward", ["activation", "activation"], vocabulary=False)


@pytest.mark.parametrize(
    ("pattern", "tags", "expected"),
    [
        ("encoder/mlp_0", DGRAD, True),
        ("encoder", DGRAD, False),
        ("mlp_0", DGRAD, False),
        ("encoder/*", DGRAD, True),
        ("*mlp*@dgrad", DGRAD, True),
        ("*mlp*@DGRAD", DGRAD, True),
        ("*mlp*@dgrad", WGRAD, False),
        ("*mlp*@wgrad", WGRAD, True),
        ("*mlp*@backward", WGRAD, True),
        ("*mlp*@backward@wgrad", WGRAD, True),
        ("*mlp*@forward", DGRAD, False),
        ("*attention*@dgrad", DGRAD, False),
        ("params['w@a']", DGRAD, True),
        ("params['w@a']@dgrad", DGRAD, True),
        ("params['w@a']@wgrad", DGRAD, False),
        ("*@a']", SCORES, True),
        ("*@product", SCORES, True),
        ("*@product", WGRAD, False),
        ("*@product", DGRAD, False),
        ("*@vocabulary", WGRAD, True),
        ("*@vocabulary", DGRAD, False),
        ("*@weight", DGRAD, False),
        ("@dgrad", DGRAD, False),
        ("", DGRAD, False),
    ],
)
def test_tags_after_a_name(pattern: str, tags: list[str], expected: bool) -> None:
    assert is_matmul_like(pattern, NAMES, tags) is expected


def layer(w: jax.Array, x: jax.Array) -> jax.Array:
    with jax.named_scope("mlp"):
        return jnp.sum(jnp.tanh(jnp.tanh(x) @ w))


@pytest.mark.parametrize(
    ("exclude", "wide"),
    [
        ("*mlp*", {0, 1, 2}),
        ("mlp", {0, 1, 2}),
        ("w", {0, 1, 2}),
        ("*mlp*@wgrad", {1}),
        ("mlp@dgrad", {2}),
        ("*mlp*@backward", {1, 2}),
        ("w@forward,w@dgrad,mlp@wgrad", {0, 1, 2}),
    ],
)
def test_backward_matmuls_are_told_apart(exclude: str, wide: set[int]) -> None:
    array = jnp.ones((32, 32))
    program = program_of(jax.grad(layer, (0, 1)), array, array)
    settings = {"matmul.exclude": exclude}
    _, report = scalify_hlo.rewrite(program, recipe="fp8-current", settings=settings, report=True)
    assert [each.roles for each in report.matmuls] == [
        ("activation", "weight"),
        ("gradient", "activation"),
        ("gradient", "weight"),
    ]
    assert {i for i, each in enumerate(report.matmuls) if each.wide is not None} == wide
    # What is not excluded is included by the others.
    settings = {"matmul.include": exclude}
    _, report = scalify_hlo.rewrite(program, recipe="fp8-current", settings=settings, report=True)
    assert {i for i, each in enumerate(report.matmuls) if each.wide is None} == wide


def test_an_unknown_tag_is_told_from_the_known_ones() -> None:
    array = jnp.ones((32, 32))
    program = program_of(layer, array, array)
    with pytest.raises(UsageError, match="@weight' matches no matmul") as caught:
        scalify_hlo.rewrite(program, recipe="fp8", settings={"matmul.exclude": "*mlp*@weight"})
    assert "what follows @ is one of: forward, dgrad, wgrad" in str(caught.value.hint)
    with pytest.raises(UsageError, match="matches no matmul") as caught:
        scalify_hlo.rewrite(program, recipe="fp8", settings={"matmul.exclude": "*none*"})
    assert "@" not in str(caught.value.hint)


def scales(names: tuple[str, str], pattern: str) -> dict[str, str]:
    """The scales of two arguments if a pattern has 2^-5."""

    def f(params: dict[str, jax.Array]) -> jax.Array:
        return params[names[0]] @ params[names[1]]

    weights = dict.fromkeys(names, jnp.ones((32, 32)))
    text = stablehlo_of(f, weights)
    options = make_options("propagate", "same", {pattern: 2.0**-5}, {})
    _, report = rewrite_program(read_text(text), options)
    return {value.name: value.scale for value in report.arguments}


@pytest.mark.parametrize("pattern", ["params['kernel']", "*KERNEL*"])
def test_arguments_are_found_whatever_their_case(pattern: str) -> None:
    found = scales(("Kernel", "Bias"), pattern)
    assert found == {"params['Bias']": "unscaled", "params['Kernel']": "2^-5"}


def test_a_name_as_it_is_written_counts_first() -> None:
    assert scales(("w", "W"), "params['w']") == {"params['W']": "unscaled", "params['w']": "2^-5"}
    assert set(scales(("w", "W"), "params['?']").values()) == {"2^-5"}


def test_a_name_that_nothing_has_is_an_error() -> None:
    with pytest.raises(scalify_hlo.UsageError, match="matches no float argument"):
        scales(("Kernel", "Bias"), "params['gain']")
