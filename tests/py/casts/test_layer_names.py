"""Patterns of matmuls: a layer or a weight is all of its matmuls, and a name is exactly its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import scalify_hlo
from scalify_hlo.report.matmuls import MatmulReport
from tests.py.shared.judge import stablehlo_of
from tests.py.shared.role_models import DISTINCT, Model
from tests.py.shared.role_programs import MODELS

WIDTH = 32
SMALL = {"matmul.smallest": 1, "matmul.vocabulary": True, "matmul.last_wide": 0}


def matmuls(text: str, *exclude: str) -> list[MatmulReport]:
    settings: dict[str, object] = {**SMALL, "matmul.exclude": list(exclude)}
    return scalify_hlo.rewrite(text, recipe="fp8-current", settings=settings, report=True)[
        1
    ].matmuls


def left_out(text: str, *exclude: str) -> list[str]:
    found = [each for each in matmuls(text, *exclude) if each.wide is not None]
    assert {each.wide.kind for each in found if each.wide} <= {"excluded"}
    return [each.name for each in found]


def scoped(scope: str, f: Callable[..., Any], *arguments: Any) -> Any:
    with jax.named_scope(scope):
        return f(*arguments)


def gated(w: Any, x: Any) -> Any:
    gate = scoped("gate", lambda: jax.nn.sigmoid(x @ w["g"]))
    return jnp.tanh(gate * scoped("up", lambda: x @ w["u"]))


def step(model: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a step of training whose name is that of a scope."""

    def gate(p: Any, x: Any) -> Any:
        gradients = jax.grad(lambda p: jnp.mean(model(p, x) ** 2))(p)
        return jax.tree.map(lambda p, g: p - 0.1 * g, p, gradients)

    return gate


def layers(block: Callable[..., Any]) -> Callable[..., Any]:
    def model(p: Any, x: Any) -> Any:
        for i, w in enumerate(p):
            x = scoped(f"layer{i}", block, w, x)
        return x

    return model


X = jnp.ones((WIDTH, WIDTH))
LAYERS = [dict.fromkeys("gu", X) for _ in range(2)]
USES = {"forward", "dgrad", "wgrad"}


@pytest.mark.parametrize("block", [gated, jax.checkpoint(gated), jax.jit(gated)])
def test_a_layer_is_all_of_its_matmuls(block: Any) -> None:
    text = stablehlo_of(step(layers(block)), LAYERS, X)
    every = matmuls(text)
    assert {each.names for each in every} == {
        (f"layer{i}/{name}", f"p[{i}]['{name[0]}']") for i in range(2) for name in ("gate", "up")
    }
    one = sorted(each.name for each in every if each.names[0] == "layer1/gate")
    assert {*one} == {f"layer1/gate@{use}" for use in USES}
    assert sorted(left_out(text, "layer1/gate")) == one
    assert sorted(left_out(text, "p[1]['g']")) == one
    wide = {*left_out(text, "LAYER1/*@wgrad", "layer0/gate@forward")}
    assert wide == {"layer1/gate@wgrad", "layer1/up@wgrad", "layer0/gate@forward"}
    both = {each.name for each in every if "gate" in each.name}
    assert {*left_out(text, "*gate*")} == both
    with pytest.raises(scalify_hlo.UsageError, match="'layer1' matches no matmul"):
        left_out(text, "layer1")


def test_turns_of_a_loop_have_the_name_of_their_layer() -> None:
    def model(p: Any, x: Any) -> Any:
        block = jax.checkpoint(lambda x, w: (gated(w, x), None))
        return scoped("stack", lambda: lax.scan(block, x, p)[0])

    weights = dict.fromkeys("gu", jnp.ones((3, WIDTH, WIDTH)))
    text = stablehlo_of(step(model), weights, X)
    for pattern in ("stack/gate", "p['g']"):
        assert {*left_out(text, pattern)} == {f"stack/gate@{use}" for use in USES}


def attention(p: Any, x: Any) -> Any:
    q, k, v = x @ p["q"], x @ p["k"], x @ p["v"]
    return jax.nn.softmax(q @ k.T) @ v @ p["o"]


def in_scopes(p: Any, x: Any) -> Any:
    q, k, v = (scoped(name, lambda name=name: x @ p[name]) for name in "qkv")
    mixed = jnp.einsum("qk,kd->qd", jax.nn.softmax(jnp.einsum("qd,kd->qk", q, k)), v)
    return scoped("o", lambda: mixed @ p["o"])


WEIGHTS = dict.fromkeys("qkvo", X)
PRODUCTS = "attn qd kd->qk", "attn qk kd->qd"


def test_gradients_of_weights_that_read_one_activation_are_told_apart() -> None:
    """By their own gradients, as names do not tell."""
    f = step(lambda p, x: attention({name: p[name] for name in "qkvo"}, jnp.sin(x * p["s"])))
    text = stablehlo_of(f, {**WEIGHTS, "s": X}, X)
    module = text.splitlines()
    assert not any("named_scope" in line for line in module)
    for name in "qkvo":
        assert {*left_out(text, f"p['{name}']")} == {f"p['{name}']@{use}" for use in USES}


def test_scopes_tell_them_apart_where_no_gradient_does() -> None:
    """The activation is an argument here, so that it has no gradient."""
    text = stablehlo_of(step(lambda p, x: scoped("attn", in_scopes, p, x)), WEIGHTS, X)
    for name in "qkv":
        assert {*left_out(text, f"attn/{name}")} == {f"attn/{name}@forward", f"attn/{name}@wgrad"}
    products = {"attn qd kd->qk", "attn qk kd->qd"}
    assert {*left_out(text, "*@product")} == {
        f"{n}@{u}" for n in products for u in USES - {"wgrad"}
    }
    assert len({*left_out(text, "attn")}) == 4


def test_a_scope_with_several_weights_is_named_with_each() -> None:
    text = stablehlo_of(step(lambda p, x: scoped("attn", attention, p, jnp.sin(x))), WEIGHTS, X)
    names = {each.names[0] for each in matmuls(text)}
    assert names == {*(f"attn p['{name}']" for name in "qkvo"), "attn dot_general"}
    assert {*left_out(text, "attn")} == {each.name for each in matmuls(text)}
    assert {*left_out(text, "attn p['q']")} == {"attn p['q']@forward", "attn p['q']@wgrad"}


def test_calls_of_one_function_share_its_matmul() -> None:
    """So that it has the names of all of them."""
    block = jax.jit(lambda w, x: jnp.tanh(x @ w))
    text = stablehlo_of(layers(block), [X, X], X)
    (shared,) = matmuls(text)
    assert (shared.name, shared.calls) == ("layer0@forward", 2)
    assert shared.names == ("layer0", "p[0]", "layer1", "p[1]")
    assert left_out(text, "layer1") == left_out(text, "p[0]@forward") == [shared.name]


def custom(w: Any, x: Any) -> Any:
    """A layer whose backward pass has another scope."""

    @jax.custom_vjp
    def product(w: Any, x: Any) -> Any:
        return scoped("fwd", lambda: x @ w)

    def forward(w: Any, x: Any) -> Any:
        return product(w, x), (w, x)

    def backward(kept: Any, y: Any) -> Any:
        return scoped("bwd", lambda: (kept[1].T @ y, y @ kept[0].T))

    product.defvjp(forward, backward)
    return product(w, jnp.tanh(product(w, jnp.sin(x))))


def test_the_backward_pass_has_the_name_of_the_forward_one() -> None:
    text = stablehlo_of(step(custom), X, X)
    assert {*left_out(text, "fwd")} == {f"fwd@{use}" for use in USES}
    assert {*left_out(text, "bwd")} == {"fwd@dgrad", "fwd@wgrad"}


def tied(p: Any, x: Any) -> Any:
    hidden = jnp.tanh(scoped("encoder", lambda: x @ p))
    return scoped("decoder", lambda: hidden @ p.T)


def test_layers_of_one_weight_have_their_own_names() -> None:
    text = stablehlo_of(step(lambda p, x: tied(p, jnp.sin(x * p))), X, X)
    assert {*left_out(text, "decoder")} == {f"decoder@{use}" for use in USES}
    assert {*left_out(text, "p")} == {f"{n}@{use}" for n in ("decoder", "encoder") for use in USES}


def mixed(p: Any, x: Any) -> Any:
    """One weight in a scope and outside of it."""
    return scoped("encoder", lambda: x @ p) @ p


PROGRAMS = {
    "mixed": lambda: stablehlo_of(step(mixed), X, X),
    "layers": lambda: stablehlo_of(step(layers(jax.checkpoint(gated))), LAYERS, X),
    "attention": lambda: stablehlo_of(step(attention), WEIGHTS, X),
    "scopes": lambda: stablehlo_of(step(in_scopes), WEIGHTS, X),
    "custom": lambda: stablehlo_of(step(custom), X, X),
    "tied": lambda: stablehlo_of(step(tied), X, X),
    "conv": lambda: stablehlo_of(
        step(lambda p, x: lax.conv_general_dilated(x * p[0], p[1], (1, 1), "SAME")),
        [jnp.ones((2, 4, 8, 8)), jnp.ones((4, 4, 3, 3))],
        np.ones((2, 4, 8, 8), np.float32),
    ),
}


def flat(built: tuple[Any, Any]) -> tuple[Any, ...]:
    function, arguments = built
    return function, *arguments


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_name_leaves_out_the_matmuls_of_this_name(name: str) -> None:
    text = PROGRAMS[name]()
    every = [each.name for each in matmuls(text) if each.wide is None]
    assert len(every) > 1
    for shown in dict.fromkeys(every):
        found = [m.name for m in matmuls(text, shown) if m.wide and m.wide.kind == "excluded"]
        assert found == [each for each in every if each == shown]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_each_name_matches_no_other_matmul(model: Model) -> None:
    every = matmuls(stablehlo_of(*flat(model.build(DISTINCT))))
    for shown in dict.fromkeys(each.name for each in every):
        assert {each.name for each in every if each.is_matched(shown)} == {shown}
