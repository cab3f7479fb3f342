"""The scopes of users in the name stacks of jax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dataflow.matmuls import Walk
from scalify_hlo.dataflow.names import layer_in, scopes_of, shown_name
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.functions import main_function
from tests.py.shared.judge import parse, stablehlo_of

STACKS = {
    "": "",
    "jit(gated)/dot_general": "",
    "jit(gated)/jvp(layer0)/gate/dot_general": "layer0/gate",
    "jit(f)/transpose(jvp(dot_general))": "",
    "jit(f)/jvp(jit(dense))/in/dot_general": "in",
    "jit(f)/vmap(transpose(jvp(mlp)))/dot_general": "mlp",
    "jit(f)/transpose(jvp(vmap(a)))/jvp(vmap(a))/checkpoint/gate/dot_general": "a/gate",
    "jit(f)/transpose(jvp(a))/vmap(jvp(a))/vmap()/checkpoint/rematted_computation/g/dot": "a/g",
    "jit(f)/transpose(jvp(a/b))/c/jvp(a/b)/c/checkpoint/gate/dot_general": "a/b/c/gate",
    "jit(f)/transpose(jvp(outer))/jvp(inner)/dot_general": "outer/inner",
    "jit(f)/jvp(a)/jvp(a)/dot_general": "a/a",
    "jit(f)/transpose(jvp(a))/a/jvp(a)/a/checkpoint/a/dot_general": "a/a/a",
    "jit(f)/jvp(stack)/while/body/closed_call/blk/dot_general": "stack/blk",
    "jit(f)/jvp(stack)/while/body/eval_jaxpr/while/cond/dot_general": "stack",
    "jit(f)/transpose(jvp(x))/cond/branch_1_fun/yes/conv_general_dilated": "x/yes",
    "jit(f)/jvp(body)/cond/while/dot_general": "body/cond/while",
    "jit(f)/jvp(a(b))/dot_general": "a(b)",
    "jit(f)/jvp(a(b/dot_general": "a(b",
    "model/dense/MatMul": "model/dense/MatMul",
}


@pytest.mark.parametrize("stack", STACKS)
def test_scopes_are_those_of_the_user(stack: str) -> None:
    assert scopes_of(stack).path == STACKS[stack]


def test_subscripts_of_an_einsum_are_no_scope() -> None:
    found = scopes_of("jit(f)/transpose(jvp(attn))/BTNH,BSNH->BNTS/dot_general")
    assert found == ("attn", "BTNH BSNH->BNTS")


@pytest.mark.parametrize("text", ["(/", "jvp(", "jvp(a)/", "transpose(jvp(a))/", "remat/", ")"])
def test_a_long_name_takes_no_longer_than_its_length(text: str) -> None:
    scopes_of(text * 100_000)


def scoped(scope: str, f: Callable[..., Any]) -> Callable[..., Any]:
    def g(*arguments: Any) -> Any:
        with jax.named_scope(scope):
            return f(*arguments)

    return g


def block(w: Any, x: Any) -> Any:
    return jnp.tanh(jnp.tanh(x @ w["up"]) @ w["down"])


def looped(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda w, x: lax.fori_loop(0, 2, lambda _, x: f(w, x), x)


def scanned(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda w, x: lax.scan(lambda x, w: (f(w, x), None), x, jax.tree.map(twice, w))[0]


def twice(w: Any) -> Any:
    return jnp.stack([w, w])


def branching(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda w, x: lax.cond(jnp.sum(x) > 0, f, lambda w, x: f(w, -x), w, x)


@jax.custom_vjp
def custom(w: Any, x: Any) -> Any:
    return x @ w


def custom_forward(w: Any, x: Any) -> Any:
    return x @ w, (w, x)


def custom_backward(kept: Any, y: Any) -> Any:
    return kept[1].T @ y, y @ kept[0].T


custom.defvjp(custom_forward, custom_backward)

INNER = scoped("mlp", block)
MODELS: dict[str, Callable[..., Any]] = {
    "plain": INNER,
    "remat": jax.checkpoint(INNER),
    "jit": jax.jit(INNER),
    "jit-remat": jax.jit(jax.checkpoint(INNER)),
    "remat-jit": jax.checkpoint(jax.jit(INNER)),
    "fori": looped(INNER),
    "scan": scanned(INNER),
    "scan-remat": scanned(jax.checkpoint(INNER)),
    "remat-scan": jax.checkpoint(scanned(jax.checkpoint(INNER))),
    "cond": branching(INNER),
    "vmap": jax.vmap(INNER, (None, 0)),
    "vmap-remat": jax.vmap(jax.checkpoint(INNER), (None, 0)),
    "custom": scoped("mlp", lambda w, x: custom(w["down"], custom(w["up"], x))),
}


def names_in(f: Callable[..., Any], *arguments: Any) -> list[str]:
    """The name stacks of the matmuls of a program, with those of the calls around them."""
    module = parse(stablehlo_of(f, *arguments)).operation
    main = main_function(module)
    assert main is not None
    with module.context:
        walk = Walk(functions_in(module))
        walk.main(main, ModuleIndex(module).list_ops(main.regions[0].blocks[0]).ops)
    return [matmul.name for matmul in walk.matmuls]


@pytest.mark.parametrize("name", MODELS)
def test_a_layer_has_one_name_in_all_passes(name: str) -> None:
    """In jax of any version, the function that is differentiated, and jitted, is no scope."""

    def mlp(w: Any, x: Any) -> Any:
        return jax.grad(lambda w: jnp.sum(scoped("layer0", MODELS[name])(w, x) ** 2))(w)

    w, x = {"up": jnp.ones((4, 8)), "down": jnp.ones((8, 4))}, jnp.ones((2, 4))
    found = names_in(mlp, w, x)
    assert len(found) > 4
    assert {scopes_of(each).path for each in found} == {"layer0/mlp"}


@pytest.mark.parametrize("stack", STACKS)
def test_names_of_ops_have_no_part_that_jax_adds(stack: str) -> None:
    banned = ("closed_call", "checkpoint", "rematted", "jit(", "jvp(", "transpose(", "while/body")
    assert not any(each in shown_name(stack) for each in banned)


def test_names_of_ops_keep_their_scopes_and_primitives() -> None:
    stack = "jit(f)/transpose(jvp(stack))/while/body/closed_call/checkpoint/blk/add_any"
    assert shown_name(stack) == "stack/blk/add_any"
    assert layer_in(stack) == "stack/blk"
    assert layer_in("jit(f)/closed_call/mul") == ""
    assert shown_name("remat2") == ""
