"""Patterns of names: no regard to case, and brackets stand for themselves."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo.api import make_options, rewrite_program
from scalify_hlo.dialect.patterns import is_like, is_like_any
from scalify_hlo.io.program import read_text


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


def scales(names: tuple[str, str], pattern: str) -> dict[str, str]:
    """The scales of two arguments if a pattern has 2^-5."""

    def f(params: dict[str, jax.Array]) -> jax.Array:
        return params[names[0]] @ params[names[1]]

    weights = dict.fromkeys(names, jnp.ones((32, 32)))
    text = str(jax.export.export(jax.jit(f))(weights).mlir_module())
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
