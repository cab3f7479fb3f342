"""Roles are those that programs have by construction, with jax's name stacks and without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from scalify_hlo._compat import ir
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.base import Pass
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.quantize_matmuls import QuantizeMatmulsPass
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.report.model import MatmulReport
from tests.py.shared import role_models, role_programs
from tests.py.shared.judge import parse, program_of, stablehlo_of
from tests.py.shared.role_models import DISTINCT, SQUARE, Sizes
from tests.py.shared.role_programs import HIGHER, MODELS

SIZES = {"distinct": DISTINCT, "square": SQUARE}
BY_NAME = {model.name: model for model in MODELS}
EVERY_MODEL = pytest.mark.parametrize("name", BY_NAME)
EVERY_SIZE = pytest.mark.parametrize("sizes", SIZES)
EVERY_NAMING = pytest.mark.parametrize("stripped", [False, True], ids=["names", "stripped"])
GRADIENTS = ("gradient", "gradient")


def exported(function: Callable[..., Any], arguments: Any) -> str:
    return stablehlo_of(function, *arguments)


@cache
def model_text(name: str, sizes: str) -> str:
    return exported(*BY_NAME[name].build(SIZES[sizes]))


def with_roles(
    text: str, *, stripped: bool, cotangents: int = 0, more: tuple[Pass, ...] = ()
) -> tuple[ir.Module, list[MatmulReport]]:
    module = parse(text)
    first: list[Pass | str] = ["strip-debuginfo"] if stripped else []
    passes = [*first, NormalizePass(), RolesPass(cotangents=cotangents), *more]
    return module, run_passes(module, passes).matmuls


def counted(matmuls: list[MatmulReport]) -> dict[str, int]:
    """In the form of `Model.counts`."""
    counts = Counter[str]()
    for m in matmuls:
        counts[f"{m.part[0]} {''.join(sorted(role[0] for role in m.roles))}"] += m.calls
    return dict(counts)


def matmuls_of(name: str, sizes: str, *, stripped: bool) -> list[MatmulReport]:
    text, cotangents = model_text(name, sizes), BY_NAME[name].cotangents
    return with_roles(text, stripped=stripped, cotangents=cotangents)[1]


@pytest.mark.slow
@EVERY_NAMING
@EVERY_SIZE
@EVERY_MODEL
def test_roles_are_those_of_the_model(name: str, sizes: str, *, stripped: bool) -> None:
    matmuls = matmuls_of(name, sizes, stripped=stripped)
    assert counted(matmuls) == BY_NAME[name].counts
    assert sum(m.vocabulary for m in matmuls) == BY_NAME[name].vocabulary


@EVERY_SIZE
@EVERY_MODEL
def test_data_flow_tells_what_names_tell(name: str, sizes: str) -> None:
    with_names = matmuls_of(name, sizes, stripped=False)
    without = matmuls_of(name, sizes, stripped=True)
    for told, found in zip(with_names, without, strict=True):
        assert (told.use, told.roles) == (found.use, found.roles), told.name
        assert told.vocabulary == found.vocabulary
    both = zip(with_names, without, strict=True)
    weights = {(a.names[-1], b.names[-1]) for a, b in both if b.names[-1].startswith("arg")}
    assert len({a for a, _ in weights}) == len(weights) == len({b for _, b in weights})
    assert {m.certainty for m in with_names} <= {"names", "data flow", "habit"}
    assert "names" not in {m.certainty for m in without}


@pytest.mark.parametrize("name", [m.name for m in MODELS if m.name not in ("custom", "cnn")])
def test_gradients_are_where_jax_puts_them(name: str) -> None:
    """Its transpose rule of dot_general has the cotangent first."""
    for matmul in matmuls_of(name, "square", stripped=True):
        if matmul.part == "backward":
            assert matmul.roles[0] == "gradient"


def test_gradients_may_be_second() -> None:
    roles = Counter(m.roles for m in matmuls_of("custom", "square", stripped=True))
    assert roles["activation", "gradient"] == 3
    assert roles["weight", "gradient"] == 2


@EVERY_NAMING
@pytest.mark.parametrize("sizes", SIZES)
def test_what_only_looks_backward_is_called_a_habit(sizes: str, *, stripped: bool) -> None:
    matmuls = matmuls_of("autoencoder-inference", sizes, stripped=stripped)
    assert [m.certainty for m in matmuls] == ["data flow", "habit"]


@EVERY_NAMING
@EVERY_SIZE
def test_vjps_of_exports_are_backward(sizes: str, *, stripped: bool) -> None:
    s = SIZES[sizes]

    def logits(params: Any, tokens: jax.Array) -> Any:
        options = role_programs.Options(tied=True)
        return role_programs.transformer(params, tokens, options, s.heads)

    params = role_programs.transformer_params(s, role_programs.Options(tied=True))
    tokens = role_models.labels(s.batch, s.sequence)
    primal = program_of(logits, params, tokens)
    text = str(primal.vjp().mlir_module())
    matmuls = with_roles(text, stripped=stripped, cotangents=1)[1]
    counts = counted(matmuls)
    assert counts["b ag"] == role_programs.ATTENTION["b ag"]
    assert counts["b gw"] == role_programs.ATTENTION["b gw"]
    assert {key[0] for key in counts} == {"f", "b"}


# Derivatives that are not the first


def narrow_pairs(module: ir.Module) -> list[tuple[str, ...]]:
    """The types of operands of all matmuls."""
    found = ops_in(module.operation, {"stablehlo.dot_general"})
    return [tuple(str(v.type.element_type) for v in op.operands) for op in found]


def higher_text(function: Callable[..., Any], sizes: str) -> str:
    s = SIZES[sizes]
    return exported(function, (role_models.mlp_params(s), *role_models.mlp_batch(s)))


def hessian_text(sizes: str) -> str:
    s = SIZES[sizes]
    params = role_models.mlp_params(s)
    arguments = params, params, *role_models.mlp_batch(s)
    return exported(role_models.hessian_product, arguments)


@pytest.mark.slow
@EVERY_NAMING
@EVERY_SIZE
@pytest.mark.parametrize("number", range(len(HIGHER) + 1))
def test_two_gradients_never_meet_in_low_precision(
    number: int, sizes: str, *, stripped: bool
) -> None:
    text = higher_text(HIGHER[number], sizes) if number < len(HIGHER) else hessian_text(sizes)
    lowered = QuantizeMatmulsPass(
        load_recipe("fp8", ["matmul.smallest=1", "matmul.vocabulary=true"])
    )
    module, matmuls = with_roles(text, stripped=stripped, more=(lowered,))
    products = [m.part for m in matmuls if m.roles == GRADIENTS]
    assert all(part == "other" for part in products)
    assert products or number != HIGHER.index(role_models.gradient_of_gradient)
    pairs = narrow_pairs(module)
    assert ("f8E5M2", "f8E5M2") not in pairs
    assert any("f8" in first for first, _ in pairs)


@EVERY_SIZE
def test_forward_derivatives_have_no_gradients(sizes: str) -> None:
    text = higher_text(role_models.jacobian_forward, sizes)
    for stripped in (False, True):
        assert counted(with_roles(text, stripped=stripped)[1]) == {"f aw": 5}


@EVERY_SIZE
@pytest.mark.parametrize(
    "function",
    [role_models.saliency, role_models.jacobian_backward, role_models.gradient_penalty],
    ids=lambda function: function.__name__,
)
def test_data_flow_that_differs_from_names_is_called_a_habit(
    function: Callable[..., Any], sizes: str
) -> None:
    """Where no weight gets a gradient, a backward pass could be layers with tied weights."""
    text = higher_text(function, sizes)
    names, flow = (with_roles(text, stripped=stripped)[1] for stripped in (False, True))
    for told, found in zip(names, flow, strict=True):
        if told.part == "backward" and "activation" in told.roles:
            assert (told.part, told.roles) == (
                found.part,
                found.roles,
            ) or found.certainty == "habit"
    assert any(m.certainty == "habit" for m in flow)
    assert all(m.certainty == "names" for m in names)


# State


def test_many_uses_of_a_weight_take_linear_time() -> None:
    """A recurrent net that is written out uses one weight hundreds of times."""
    s = Sizes(steps=120)

    def loss(params: Any, xs: jax.Array, y: jax.Array) -> jax.Array:
        h = jnp.zeros((xs.shape[1], params["h"].shape[0]))
        for t in range(120):
            h = role_models.cell(params, h, xs[t])
        return role_models.cross_entropy(h @ params["out"], y)

    text = exported(role_models.sgd(loss), role_models.rnn_arguments(s))
    for stripped in (False, True):
        counts = counted(with_roles(text, stripped=stripped)[1])
        assert counts == {"f aw": 241, "b ag": 241, "b gw": 120}
