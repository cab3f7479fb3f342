"""The roles of the state of optax's optimizers, and of whole training programs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import jax
import jax.numpy as jnp
import optax
import optax.contrib
import pytest

from scalify_hlo.dialect import attributes
from scalify_hlo.errors import Remark
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.passes.signature import SignaturePass
from tests.py.dataflow.test_roles import exported
from tests.py.dataflow.test_state_roles import argument_roles, names_of
from tests.py.shared import optimizer_programs as programs
from tests.py.shared.judge import main_of, parse, shaped
from tests.py.shared.optimizer_programs import FIRST, NEITHER, SECOND

WEIGHT = "weight"
ADAM = {"mu": FIRST, "nu": SECOND}
TRACE = {"trace": FIRST}
contrib = optax.contrib
SCHEDULE = optax.warmup_cosine_decay_schedule(0.0, 1e-3, 10, 100)


def roles(first: str = "", second: str = "", neither: str = "", weight: str = "") -> dict[str, str]:
    """The roles of leaves of state; a number that tensors are multiplied with may be a weight."""
    kinds = {FIRST: first, SECOND: second, NEITHER: neither, WEIGHT: weight}
    return {name: role for role, names in kinds.items() for name in names.split()}


OPTAX: Mapping[str, tuple[Any, dict[str, str]]] = {
    "adabelief": (optax.adabelief(1e-3), ADAM),
    "adadelta": (optax.adadelta(1e-3), roles(second="e_g", neither="e_x")),
    "adafactor": (optax.adafactor(1e-3, min_dim_size_to_factor=4), roles(second="v_row v_col v")),
    "adafactor-momentum": (
        optax.adafactor(1e-3, min_dim_size_to_factor=4, momentum=0.9),
        roles(second="v_row v_col v", neither="ema"),
    ),
    "adagrad": (optax.adagrad(1e-3), roles(second="sum_of_squares")),
    "adam": (optax.adam(1e-3), ADAM),
    "adamax": (optax.adamax(1e-3), roles(first="mu nu")),
    "adamaxw": (optax.adamaxw(1e-3), roles(first="mu nu")),
    "adamw": (optax.adamw(SCHEDULE), ADAM),
    "adamw-bf16": (optax.adamw(1e-3, mu_dtype=jnp.bfloat16), ADAM),
    "adan": (optax.adan(1e-3), roles(first="m v", second="n", neither="g")),
    "amsgrad": (optax.amsgrad(1e-3), ADAM | roles(second="nu_max")),
    "fromage": (optax.fromage(1e-3), {}),
    "lamb": (optax.lamb(1e-3), ADAM),
    "lars": (optax.lars(1e-3), TRACE),
    "lion": (optax.lion(1e-3), roles(first="mu")),
    "nadam": (optax.nadam(1e-3), ADAM),
    "nadamw": (optax.nadamw(1e-3), ADAM),
    "noisy_sgd": (optax.noisy_sgd(1e-3, key=0), {}),
    "novograd": (optax.novograd(1e-3), ADAM),
    "optimistic_adam_v2": (
        optax.optimistic_adam_v2(1e-3),
        ADAM | roles(neither="previous_gradient"),
    ),
    "optimistic_gradient_descent": (
        optax.optimistic_gradient_descent(1e-3),
        roles(neither="previous_gradient"),
    ),
    "polyak_sgd": (optax.polyak_sgd(1.0), {}),
    "radam": (optax.radam(1e-3), ADAM),
    "rmsprop": (optax.rmsprop(1e-3), roles(second="nu")),
    "rmsprop-momentum": (optax.rmsprop(1e-3, momentum=0.9), roles(second="nu", neither="trace")),
    "rmsprop-centered": (
        optax.rmsprop(1e-3, momentum=0.9, centered=True),
        ADAM | roles(neither="trace"),
    ),
    "rprop": (optax.rprop(1e-3), roles(neither="step_sizes prev_updates")),
    "sgd": (optax.sgd(1e-3), {}),
    "momentum": (optax.sgd(1e-3, momentum=0.9), TRACE),
    "nesterov": (optax.sgd(1e-3, momentum=0.9, nesterov=True), TRACE),
    "sign_sgd": (optax.sign_sgd(1e-3), {}),
    "signum": (optax.signum(1e-3), roles(first="ema")),
    # Its maxima over rows and columns are no sums; those of vectors are sums of squares.
    "sm3": (optax.sm3(1e-3), {"mu": f"{NEITHER}|{SECOND}", "nu": NEITHER}),
    "yogi": (optax.yogi(1e-3), ADAM),
    "acprop": (contrib.acprop(1e-3), ADAM),
    "ademamix": (contrib.ademamix(1e-3), roles(first="m1 m2", second="nu")),
    "adopt": (contrib.adopt(1e-3), roles(second="nu", neither="mu")),
    "cocob": (
        contrib.cocob(),
        roles(first="cumulative_gradients scale subgradients reward", neither="init_particles"),
    ),
    "dadapt_adamw": (
        contrib.dadapt_adamw(1e-3),
        roles(first="exp_avg grad_sum", second="exp_avg_sq", neither="estim_lr numerator_weighted"),
    ),
    "dog": (contrib.dog(1e-3), roles(second="sum_sq_norm_grads", neither="init_params max_dist")),
    "dowg": (
        contrib.dowg(1e-3),
        roles(second="weighted_sq_norm_grads", neither="init_params estim_sq_dist"),
    ),
    "galore": (contrib.galore(1e-3, rank=4), ADAM | roles(neither="projector")),
    "madgrad": (contrib.madgrad(1e-3), roles(first="s", second="grad_sum_sq", neither="x0")),
    "momo": (contrib.momo(1e-3), roles(first="exp_avg", neither="barf lb")),
    "momo_adam": (
        contrib.momo_adam(1e-3),
        roles(first="exp_avg", second="exp_avg_sq", neither="barf lb"),
    ),
    "muon": (contrib.muon(1e-3), ADAM | roles(neither="ns_coeffs")),
    "prodigy": (
        contrib.prodigy(1e-3),
        roles(
            first="exp_avg grad_sum numerator_weighted",
            second="exp_avg_sq",
            neither="params0",
            weight="estim_lr",
        ),
    ),
    "sam": (
        contrib.sam(
            optax.sgd(0.1, momentum=0.9),
            optax.chain(contrib.normalize(), optax.sgd(0.05)),
            sync_period=2,
        ),
        TRACE | roles(weight="cache"),
    ),
    "schedule_free_adamw": (contrib.schedule_free_adamw(1e-3), roles(second="nu", neither="z")),
    "schedule_free_sgd": (contrib.schedule_free_sgd(1e-3), roles(first="z")),
    "simplified_ademamix": (
        contrib.simplified_ademamix(1e-3, b1=0.9, alpha=0.1),
        roles(first="m", second="n"),
    ),
    "accumulated": (optax.MultiSteps(optax.adam(1e-3), 4), ADAM | roles(first="acc_grads")),
    "accumulated updates": (
        optax.chain(optax.adam(1e-3), optax.apply_every(4)),
        ADAM | roles(neither="grad_acc"),
    ),
    "averaged updates": (
        optax.chain(optax.adam(1e-3), optax.ema(0.9)),
        ADAM | roles(neither="ema"),
    ),
    "centralized": (optax.chain(optax.centralize(), optax.adam(1e-3)), ADAM),
    "clipped": (optax.chain(optax.clip(1.0), optax.adam(1e-3)), ADAM),
    "clipped adaptively": (optax.chain(optax.adaptive_grad_clip(1.0), optax.adam(1e-3)), ADAM),
    "clipped by blocks": (optax.chain(optax.clip_by_block_rms(1.0), optax.adam(1e-3)), ADAM),
    "clipped by norm": (optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3)), ADAM),
    "coupled decay": (optax.chain(optax.add_decayed_weights(1e-3), optax.adam(1e-3)), ADAM),
    "finite": (optax.apply_if_finite(optax.adam(1e-3), 4), ADAM),
    "flat": (optax.flatten(optax.adam(1e-3)), ADAM),
    "injected": (optax.inject_hyperparams(optax.adam)(1e-3), ADAM),
    "masked": (optax.masked(optax.adam(1e-3), lambda tree: {k: k > "f" for k in tree}), ADAM),
    "normalized": (optax.chain(contrib.normalize(), optax.sgd(0.1, momentum=0.9)), TRACE),
    "normalized updates": (
        optax.chain(optax.normalize_by_update_norm(), optax.sgd(0.1, momentum=0.9)),
        TRACE,
    ),
    "plateau": (
        optax.chain(optax.adam(1e-3), contrib.reduce_on_plateau()),
        ADAM | roles(neither="best_value avg_value"),
    ),
    "positive": (optax.chain(optax.adam(1e-3), optax.keep_params_nonnegative()), ADAM),
}

NOT_HERE: Mapping[str, str] = {
    "_deprecated_dpsgd": "is dpsgd",
    "dpsgd": "takes gradients of each example",
    "lbfgs": "keeps a history of gradients, which is no average",
    "optimistic_adam": "is an old name of optimistic_adam_v2",
    "scale_by_learning_rate": "is no optimizer of its own",
    "scale_by_madgrad": "is a part of madgrad",
    "scale_by_rprop": "is a part of rprop",
    "sophia": "takes the loss as a function, to differentiate it again",
}
"""The functions that look like optimizers and are not among these, and why."""

WITH_VALUE = {"momo", "momo_adam", "plateau", "polyak_sgd"}


def trained(optimizer: Any, *, with_value: bool = False) -> Callable[..., Any]:
    def step(params: Any, state: Any, ids: jax.Array, labels: jax.Array) -> Any:
        value, gradients = jax.value_and_grad(programs.loss)(params, ids, labels)
        more = {"value": value} if with_value else {}
        updates, state = optimizer.update(gradients, state, params, **more)
        return optax.apply_updates(params, updates), state, value

    return step


def tensor_of(name: str) -> str:
    """The tensor that a leaf is of, as in ``state[0].mu['up']``."""
    return str(re.findall(r"\.(\w+)", name)[-1])


def assert_state_roles(name: str, text: str, *, stripped: bool) -> None:
    """Each tensor of the state of an optimizer has its role, but for placeholders."""
    wanted, found = OPTAX[name][1], dict[str, set[str]]()
    roles = argument_roles(text, stripped=stripped)
    for argument, type_, role in zip(names_of(text), types_of(text), roles, strict=True):
        if argument.startswith("params"):
            assert role == WEIGHT, argument
        elif argument.startswith("state") and "f" in type_[6:] and type_ != "tensor<1xf32>":
            found.setdefault(tensor_of(argument), set()).add(role)
    assert {k: found[k] for k in wanted} == {k: set(r.split("|")) for k, r in wanted.items()}
    rest = {tensor: roles for tensor, roles in found.items() if tensor not in wanted}
    assert all(roles == {NEITHER} for roles in rest.values()), rest


def types_of(text: str) -> list[str]:
    module = parse(text)
    return [str(type_) for type_ in attributes.function_type(main_of(module)).inputs]


@pytest.mark.slow
@pytest.mark.parametrize("stripped", [False, True], ids=["names", "stripped"])
@pytest.mark.parametrize("name", OPTAX)
def test_state_of_optax_has_the_roles_of_its_degrees(name: str, *, stripped: bool) -> None:
    """Without names, shapes tell nothing either: all are square."""
    optimizer = OPTAX[name][0]
    params = programs.squares() if stripped else programs.params()
    step = trained(optimizer, with_value=name in WITH_VALUE)
    arguments = params, jax.eval_shape(optimizer.init, params), *programs.batch()
    assert_state_roles(name, exported(step, arguments), stripped=stripped)


@pytest.mark.parametrize("module", [optax, contrib], ids=["optax", "contrib"])
def test_all_optimizers_of_optax_are_tested(module: Any) -> None:
    names = {name for name in dir(module) if is_optimizer(getattr(module, name))}
    assert names
    assert names - OPTAX.keys() - NOT_HERE.keys() == set()


def is_optimizer(function: Any) -> bool:
    """Whether a function takes a learning rate first and gives an optimizer."""
    if not inspect.isfunction(function):
        return False
    signature = inspect.signature(function)
    first = next(iter(signature.parameters), "")
    return first == "learning_rate" and "GradientTransformation" in str(signature.return_annotation)


def remarks_of(name: str, signature: Literal["same", "scaled"], roles: RolesPass) -> list[Remark]:
    optimizer, params = OPTAX[name][0], programs.params()
    state = jax.eval_shape(optimizer.init, params)
    module = parse(exported(trained(optimizer), (params, state, *programs.batch())))
    passes = [NormalizePass(), SignaturePass(signature), roles]
    return run_passes(module, passes).remarks


def test_state_that_is_no_moment_is_a_remark_where_moments_are_narrow() -> None:
    roles = RolesPass(narrow_state=True)
    (remark,) = remarks_of("rmsprop-momentum", "scaled", roles)
    assert remark.op == "func.func"
    assert remark.message == (
        "keeps the format of state[2].trace['bias'] and 4 more: neither first nor second moments"
    )
    assert "state[2].trace['bias']" in remark.location


@pytest.mark.parametrize("name", ["adamw", "lion", "muon", "accumulated", "clipped by norm"])
def test_moments_are_no_remark(name: str) -> None:
    assert not remarks_of(name, "scaled", RolesPass(narrow_state=True))


@pytest.mark.parametrize(("signature", "narrow"), [("same", True), ("scaled", False)])
def test_state_that_stays_as_it_is_is_no_remark(
    signature: Literal["same", "scaled"], *, narrow: bool
) -> None:
    roles = RolesPass(narrow_state=narrow)
    assert not remarks_of("rmsprop-momentum", signature, roles)


def test_declared_moments_are_no_remark() -> None:
    """The recipe may say what the program does not."""
    roles = RolesPass(first_moment=("*.trace*",), narrow_state=True)
    assert not remarks_of("rmsprop-momentum", "scaled", roles)


def roles_of_step(step: Any, state: Any) -> dict[str, set[str]]:
    """The roles of each part of a state over all weights, which are such themselves."""
    text = exported(step, (programs.params(), state, *programs.batch()))
    for stripped in (False, True):
        found: dict[str, set[str]] = {}
        for name, role in zip(names_of(text), argument_roles(text, stripped=stripped), strict=True):
            if name.startswith("state"):
                found.setdefault(name.split("'")[1], set()).add(role)
            elif name.startswith("params"):
                assert role == WEIGHT
    return found


def inner_steps(params: Any, batch: Any) -> Any:
    """Two steps of SGD."""
    for _ in range(2):
        gradients = jax.grad(programs.loss)(params, *batch)
        params = jax.tree.map(lambda p, g: p - 0.01 * g, params, gradients)
    return params


def adam_steps(params: Any, state: Any, batch: Any) -> Any:
    """Two steps of Adam, in a loop."""

    def turn(carry: Any, _: None) -> tuple[Any, None]:
        params, mu, nu = carry
        gradients = jax.grad(programs.loss)(params, *batch)
        mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mu, gradients)
        nu = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, nu, gradients)
        new = jax.tree.map(lambda p, m, v: p - 0.01 * m / (jnp.sqrt(v) + 1e-8), params, mu, nu)
        return (new, mu, nu), None

    return jax.lax.scan(turn, (params, state["mu"], state["nu"]), length=2)[0]


def outer_step(params: Any, new: Any, momentum: Any) -> tuple[Any, Any]:
    """DiLoCo's: Nesterov momentum of the difference that inner steps make."""
    change = jax.tree.map(lambda p, q: p - q, params, new)
    momentum = jax.tree.map(lambda m, d: 0.9 * m + d, momentum, change)
    moved = jax.tree.map(lambda p, m, d: p - 0.7 * (0.9 * m + d), params, momentum, change)
    return moved, momentum


def test_momentum_of_outer_steps_is_no_average_of_weights() -> None:
    def step(params: Any, state: Any, *batch: jax.Array) -> Any:
        params, m = outer_step(params, inner_steps(params, batch), state["m"])
        return params, {"m": m}

    assert roles_of_step(step, {"m": programs.params()}) == {"m": {FIRST}}


def test_momentum_of_outer_steps_of_adam_is_neither() -> None:
    def step(params: Any, state: Any, *batch: jax.Array) -> Any:
        new, mu, nu = adam_steps(params, state, batch)
        params, m = outer_step(params, new, state["m"])
        return params, {"m": m, "mu": mu, "nu": nu}

    state = dict.fromkeys(("m", "mu", "nu"), programs.params())
    assert roles_of_step(step, state) == {"m": {NEITHER}, "mu": {FIRST}, "nu": {SECOND}}


@pytest.mark.parametrize("root", [jnp.sqrt, lambda v: v**0.5], ids=["sqrt", "power"])
def test_roots_of_second_moments_are_of_degree_1(root: Any) -> None:
    """What is stored is as large as gradients, not as their squares."""

    def step(params: Any, state: Any, *batch: jax.Array) -> Any:
        gradients = jax.grad(programs.loss)(params, *batch)
        size = jax.tree.map(
            lambda s, g: root(0.999 * s * s + 0.001 * g * g), state["size"], gradients
        )
        new = jax.tree.map(lambda p, g, s: p - 0.01 * g / (s + 1e-8), params, gradients, size)
        return new, {"size": size}

    assert roles_of_step(step, {"size": programs.params()}) == {"size": {FIRST}}


def test_a_learning_rate_that_gradients_change_is_no_moment() -> None:
    def step(params: Any, state: Any, *batch: jax.Array) -> Any:
        gradients = jax.grad(programs.loss)(params, *batch)
        dots = jax.tree.map(jnp.vdot, gradients, state["last"])
        rate = state["rate"] + 1e-3 * jax.tree.reduce(jnp.add, dots)
        new = jax.tree.map(lambda p, g: p - rate * g, params, gradients)
        return new, {"rate": rate, "last": gradients}

    state = {"rate": shaped(), "last": programs.params()}
    assert roles_of_step(step, state) == {"rate": {NEITHER}, "last": {NEITHER}}


def test_statistics_of_batches_are_no_remark() -> None:
    """They are of the model, and no state of an optimizer."""

    def step(w: jax.Array, mean: jax.Array, x: jax.Array) -> Any:
        def loss(w: jax.Array) -> tuple[jax.Array, jax.Array]:
            h = x @ w
            return jnp.mean((h - h.mean(0)) ** 4), h.mean(0)

        g, now = jax.grad(loss, has_aux=True)(w)
        return w - 0.1 * g, 0.9 * mean + 0.1 * now

    arguments = shaped(8, 6), shaped(6), shaped(4, 8)
    module = parse(exported(step, arguments))
    passes = [NormalizePass(), SignaturePass("scaled"), RolesPass(narrow_state=True)]
    assert not run_passes(module, passes).remarks
