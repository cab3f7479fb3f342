"""Members of a sweep or ensemble, and experts, share no scale: none changes the others."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.traits import MATMULS
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.text import run_pipeline
from tests.py.shared.judge import decibels, parse, program_of, shaped, stablehlo_of

WIDTH, ROWS, MEMBERS = 32, 48, 3
BAD = 1
"""The member that diverges."""

USUAL = 13.0
"""The least signal-to-noise ratio of FP8, in dB."""


class Case(NamedTuple):
    """A program with members.

    Attributes:
        fn: Takes the arguments, and returns a pytree of tensors that have the members first.
        arguments: The arguments, with the members first in `state`.
        state: The number of arguments that have members.
        members: The number of members.
    """

    fn: Callable[..., Any]
    arguments: tuple[Any, ...]
    state: int = 1
    members: int = MEMBERS


def loss(w: Any, x: Any, y: Any) -> Any:
    hidden = jax.nn.gelu(x @ w["in"])
    hidden = jax.nn.gelu(hidden @ w["mid"])
    return jnp.mean((hidden @ w["out"] - y) ** 2)


def sgd(w: Any, rate: Any, x: Any, y: Any) -> Any:
    value, gradient = jax.value_and_grad(loss)(w, x, y)
    return jax.tree.map(lambda p, g: p - rate * g, w, gradient), value


def adam(w: Any, m: Any, v: Any, x: Any, y: Any) -> Any:
    value, gradient = jax.value_and_grad(loss)(w, x, y)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, gradient)
    v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, gradient)
    new = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), w, m, v)
    return new, m, v, value


def attending(w: Any, x: Any, y: Any) -> Any:
    """The gradients of a model in which two activations are multiplied."""

    def loss_of(w: Any) -> Any:
        q, k, v = x @ w["in"], x @ w["mid"], x @ w["out"]
        return jnp.mean((jax.nn.softmax(q @ k.T / WIDTH**0.5) @ v - y) ** 2)

    return jax.grad(loss_of)(w)


def experts(w: Any, x: Any) -> Any:
    """The gradients of experts, each of which has its share of the rows."""

    def loss_of(w: Any) -> Any:
        hidden = jax.nn.relu(jnp.einsum("ecd,edf->ecf", x.reshape(4, -1, WIDTH), w["in"]))
        return jnp.mean(jnp.einsum("ecf,efd->ecd", hidden, w["out"]) ** 2, (1, 2)).sum()

    return jax.grad(loss_of)(w)


def dispatched(w: Any, x: Any, gates: Any) -> Any:
    """The gradients of experts, whose results are summed after each took some of the rows."""

    def loss(w: Any) -> Any:
        rows = jnp.einsum("te,td->etd", gates, x)
        hidden = jax.nn.relu(jnp.einsum("etd,edf->etf", rows, w["in"]))
        each = jnp.einsum("etf,efd->etd", hidden, w["out"])
        return jnp.mean(jnp.sum(each * gates.T[:, :, None], 0) ** 2)

    return jax.grad(loss)(w)


def convolved(w: Any, x: Any) -> Any:
    """The gradients of a network of convolutions, one of which has groups."""

    def loss(w: Any) -> Any:
        kinds, hidden = ("NHWC", "HWIO", "NHWC"), x.reshape(2, 4, -1, WIDTH)
        for name, count in (("in", 1), ("mid", 1), ("groups", 2)):
            kernel = w[name].reshape(1, 3, WIDTH // count, WIDTH)
            hidden = jax.lax.conv_general_dilated(
                hidden, kernel, (1, 1), "SAME", dimension_numbers=kinds, feature_group_count=count
            )
            hidden = jax.nn.gelu(hidden) if count == 1 else jax.nn.relu(hidden)
        return jnp.mean((hidden.mean((1, 2)) @ w["out"]) ** 2)

    return jax.grad(loss)(w)


def normal(seed: int, *shape: int, size: float = 1.0) -> Any:
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape) * size, jnp.float32)


def weights(*names: str, members: int = MEMBERS) -> Any:
    shape = (members, WIDTH, WIDTH)
    return {name: normal(i, *shape, size=WIDTH**-0.5) for i, name in enumerate(names)}


LAYERS = weights("in", "mid", "out")
KERNELS = {
    "in": normal(0, MEMBERS, 3, WIDTH, WIDTH, size=(3 * WIDTH) ** -0.5),
    "mid": normal(1, MEMBERS, 3, WIDTH, WIDTH, size=(3 * WIDTH) ** -0.5),
    "groups": normal(2, MEMBERS, 3, WIDTH // 2, WIDTH, size=(1.5 * WIDTH) ** -0.5),
    "out": LAYERS["out"],
}
X, Y = normal(8, ROWS, WIDTH), normal(9, ROWS, WIDTH)
RATES = jnp.asarray([0.1, 0.1, 0.3], jnp.float32)
FIRST = jax.tree.map(lambda w: 1e-3 * w, LAYERS)
SECOND = jax.tree.map(lambda w: jnp.full_like(w, 1e-4), LAYERS)

CASES = {
    "sweep": Case(jax.vmap(sgd, in_axes=(0, 0, None, None)), (LAYERS, RATES, X, Y), 2),
    "ensemble": Case(
        jax.vmap(sgd), (LAYERS, RATES, normal(8, MEMBERS, ROWS, WIDTH), jnp.stack([Y] * 3)), 4
    ),
    "adam": Case(jax.vmap(adam, in_axes=(0, 0, 0, None, None)), (LAYERS, FIRST, SECOND, X, Y), 3),
    "attention": Case(jax.vmap(attending, in_axes=(0, None, None)), (LAYERS, X, Y)),
    "convolutions": Case(jax.vmap(convolved, in_axes=(0, None)), (KERNELS, X)),
    "experts": Case(experts, (weights("in", "out", members=4), X), 1, 4),
}
BROKEN = (2.0**20, np.inf, np.nan)
"""The factors of the weights of one member."""


def broken(case: Case, value: float) -> tuple[Any, ...]:
    """Returns the arguments, in which one member's weights are large, infinite or NaN."""

    def spoil(w: Any) -> Any:
        return w.at[BAD].multiply(value)

    first, *others = case.arguments
    return (jax.tree.map(spoil, first), *others)


def worst(case: Case, wanted: Any, found: Any) -> float:
    """Returns the least signal-to-noise ratio of a member that did not diverge, in dB."""
    ratios = []
    for want, got in zip(jax.tree.leaves(wanted), jax.tree.leaves(found), strict=True):
        for member in range(case.members):
            if member != BAD:
                signal, result = (np.asarray(each, np.float64)[member] for each in (want, got))
                assert np.isfinite(result).all()
                ratios.append(decibels(signal, result))
    return float(min(ratios))


def updates(case: Case, results: Any, arguments: tuple[Any, ...]) -> Any:
    """Returns results, with the difference from the old weights for new ones."""
    if len(case.arguments) <= 3:
        return results
    new, *others = results
    return (jax.tree.map(jnp.subtract, new, arguments[0]), *others)


def exported(case: Case) -> Any:
    return program_of(case.fn, *case.arguments)


def run(new: Any, arguments: tuple[Any, ...]) -> Any:
    """Calls a program, with the settled state of delayed scales if it has one."""
    if len(new.in_avals) == len(jax.tree.leaves(arguments)):
        return new.call(*arguments)
    state = scalify_hlo.init_scaling_state(new, *arguments)
    return new.call(*arguments, state)[0]


RECIPES = ("fp8-current", "fp8-delayed", "fp8", "unit", "fp16", "bf16", "mxfp8", "fp8-block")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("recipe", RECIPES)
def test_others_are_as_accurate_as_usual(name: str, recipe: str) -> None:
    case = CASES[name]
    new, original = scalify_hlo.rewrite(exported(case), recipe=recipe), jax.jit(case.fn)
    for value in BROKEN:
        arguments = broken(case, value)
        found = updates(case, run(new, arguments), arguments)
        assert worst(case, updates(case, original(*arguments), arguments), found) > USUAL


@pytest.mark.parametrize("name", ["ensemble", "experts"])
def test_members_in_f16_stay_finite(name: str) -> None:
    """Products of data with scales of their own leave the range of f16, and a remark says so."""
    case, settings = CASES[name], {"compute": "f16"}
    new, report = scalify_hlo.rewrite(exported(case), recipe="fp16", settings=settings, report=True)
    told = [remark.message for remark in report.remarks]
    assert told.count("members share the predicted scales of their matmuls") == 1
    assert all(np.isfinite(each).all() for each in jax.tree.leaves(run(new, case.arguments)))


@pytest.mark.parametrize("name", CASES)
def test_a_profile_has_the_scales_of_members(name: str) -> None:
    case, program = CASES[name], exported(CASES[name])
    original = jax.jit(case.fn)
    for value in BROKEN:
        arguments = broken(case, value)
        profile = scalify_hlo.calibrate(program, [arguments])
        new, report = scalify_hlo.rewrite(program, profile=profile, report=True)
        found = updates(case, run(new, arguments), arguments)
        assert worst(case, updates(case, original(*arguments), arguments), found) > USUAL
        assert not [each for each in report.remarks if "members share" in each.message]


def sizes_of(count: int, rows: Any) -> tuple[Any, Any, Any]:
    """A program of members whose weights have the sizes 1, 2, 4 ..., with its arguments."""
    w, x = normal(0, count, WIDTH, WIDTH), normal(1, ROWS, WIDTH)
    w = w * 2.0 ** (jnp.arange(count) % 16)[:, None, None]
    step = jax.vmap(lambda w, x: jnp.tanh(x @ w["a"]), in_axes=(0, None))
    shapes = ({"a": w}, shaped(rows, WIDTH))
    return program_of(step, *shapes), w, x


def test_statistics_of_members_are_those_of_their_slices() -> None:
    program, w, x = sizes_of(5, ROWS)
    tensors = scalify_hlo.calibrate(program, [({"a": w}, x)]).tensors
    found = {name[-2]: each for name, each in tensors.items() if name.endswith("]")}
    assert len(found) == 5
    for number, each in found.items():
        member = np.asarray(w[int(number)], np.float64)
        assert each.amax == np.abs(member).max()
        assert each.count == member.size
        np.testing.assert_allclose(each.rms, np.sqrt(np.mean(member**2)), rtol=1e-6)


def test_members_with_a_symbolic_batch_have_the_scales_of_a_profile() -> None:
    (rows,) = jax.export.symbolic_shape("n")
    program, w, x = sizes_of(5, rows)
    profile = scalify_hlo.calibrate(program, [({"a": w}, x)])
    new, report = scalify_hlo.rewrite(program, profile=profile, report=True)
    assert not [each for each in report.remarks if "members share" in each.message]
    case = Case(lambda *_: None, ({"a": w}, x), members=5)
    assert worst(case, program.call(*case.arguments), new.call(*case.arguments)) > USUAL


def test_more_members_than_a_profile_has_share_a_scale() -> None:
    program, w, x = sizes_of(65, ROWS)
    profile = scalify_hlo.calibrate(program, [({"a": w}, x)])
    assert not [name for name in profile.tensors if name.endswith("]")]
    _, report = scalify_hlo.rewrite(program, profile=profile, report=True)
    assert [each for each in report.remarks if "members share" in each.message]


def test_members_that_share_the_scales_of_a_profile_are_told() -> None:
    program = exported(CASES["ensemble"])
    profile = scalify_hlo.calibrate(program, [CASES["ensemble"].arguments])
    kept = {name: each for name, each in profile.tensors.items() if not name.endswith("]")}
    shared = dataclasses.replace(profile, tensors=kept)
    _, report = scalify_hlo.rewrite(program, profile=shared, report=True)
    told = [remark.message for remark in report.remarks]
    assert told.count("members share the scales of the profile") == 1


def by_channels(w: Any, x: Any) -> Any:
    kinds = ("NHC", "HIO", "NHC")
    return jax.lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=kinds)


@pytest.mark.parametrize("shared", [True, False])
def test_channels_of_members_have_scales(shared: bool) -> None:
    """Small channels of a kernel keep their accuracy if each has a scale, in each member."""
    kernel, image = KERNELS["in"].at[..., 3].multiply(2.0**-16), normal(5, MEMBERS, 2, 12, WIDTH)
    fn = jax.vmap(lambda w, x: by_channels(w["in"], x), in_axes=(0, None if shared else 0))
    case = Case(fn, ({"in": kernel}, image[0] if shared else image))
    assert all(map(any, members_of(fn, *case.arguments)))
    settings = {"scaling.weight_scales": "channel"}
    new = scalify_hlo.rewrite(exported(case), recipe="fp8-current", settings=settings)
    wanted, found = (np.asarray(call(*case.arguments))[..., 3] for call in (fn, new.call))
    assert worst(case, wanted, found) > 25


@pytest.mark.parametrize("recipe", ["fp8-current", "fp8-delayed", "unit", "fp16"])
def test_members_of_convolutions_with_a_symbolic_batch(recipe: str) -> None:
    def gradients(w: Any, x: Any) -> Any:
        def loss(w: Any) -> Any:
            hidden = jax.nn.gelu(by_channels(w["in"], x))
            return jnp.mean(jax.nn.gelu(by_channels(w["mid"], hidden)) ** 2)

        return jax.grad(loss)(w)

    fn = jax.jit(jax.vmap(gradients, in_axes=(0, None)))
    kernels, image = {name: KERNELS[name] for name in ("in", "mid")}, normal(5, 4, 12, WIDTH)
    case = Case(fn, (kernels, image))
    (batch,) = jax.export.symbolic_shape("batch")
    shapes = jax.eval_shape(lambda *given: given, *case.arguments)
    symbolic = shaped(batch, *image.shape[1:], dtype=image.dtype)
    new = scalify_hlo.rewrite(jax.export.export(fn)(shapes[0], symbolic), recipe=recipe)
    given = broken(case, 2.0**20)
    assert worst(case, fn(*given), run(new, given)) > USUAL


@pytest.mark.parametrize("recipe", ["fp8-current", "fp8", "unit", "mxfp8"])
def test_experts_whose_results_are_summed(recipe: str) -> None:
    """One that is large does not flush the others, whether sizes are measured or predicted."""
    gates = jnp.eye(4)[jnp.arange(len(X)) % 4]
    case = Case(dispatched, (weights("in", "out", members=4), X, gates), 1, 4)
    new, arguments = scalify_hlo.rewrite(exported(case), recipe=recipe), broken(case, 2.0**20)
    assert worst(case, case.fn(*arguments), run(new, arguments)) > 13


@pytest.mark.parametrize("name", ["sweep", "ensemble", "experts"])
def test_common_factors_of_e4m3_scales(name: str) -> None:
    """In FP4, the others are as accurate as if no member diverged."""
    case = CASES[name]
    settings = {"matmul.last_wide": 0}
    new, original = scalify_hlo.rewrite(exported(case), recipe="nvfp4", settings=settings), case.fn
    usual, given = new.call(*case.arguments), broken(case, 2.0**20)
    found, wanted = new.call(*given), jax.jit(original)(*given)
    assert worst(case, wanted, found) > worst(case, wanted, usual) - 0.1


def test_common_factors_are_in_the_order_of_the_result() -> None:
    """The batching dimensions of an operand may be in another order than those of the result."""

    def fn(v: Any, m: Any) -> Any:
        return jnp.einsum("bi,bj,ij->bi", v, v, m)

    rng = np.random.default_rng(0)
    v, m = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=(4, 4)).astype(np.float32)
    program = program_of(fn, v, m)
    settings = {"matmul.smallest": 1}
    found = scalify_hlo.rewrite(program, recipe="nvfp4", settings=settings).call(v, m)
    assert np.abs(found - fn(v, m)).max() < 0.2 * np.abs(fn(v, m)).max()


@pytest.mark.parametrize("name", ["sweep", "adam", "experts"])
@pytest.mark.parametrize("recipe", ["fp8-current", "fp8", "unit", "fp16-state", "fp8-state8"])
def test_others_are_as_accurate_as_usual_in_pairs(name: str, recipe: str) -> None:
    """State that is stored in pairs is updated again, after one member has diverged."""
    case = CASES[name]
    new = scalify_hlo.scalify(case.fn, recipe=recipe)
    given, original = broken(case, 2.0**20), jax.jit(case.fn)
    wanted, pairs = original(*given), scalify_hlo.as_scaled_array(given[0])
    found = new(pairs, *given[1:])
    if name in ("sweep", "adam"):
        states, others = found[:-1], given[len(found) - 1 :]
        wanted = original(*map(scalify_hlo.asarray, states), *others)
        found = new(*states, *others)
    assert worst(case, wanted, scalify_hlo.asarray(found)) > USUAL


def members_of(fn: Callable[..., Any], *arguments: Any) -> list[list[list[int]]]:
    """Returns the dimensions with members of both operands of each matmul."""
    module = parse(stablehlo_of(fn, *arguments))
    with module.context:
        run_pipeline(module, "scalify-normalize,scalify-roles")
        return [
            [list(ir.DenseI64ArrayAttr(side)) for side in op.attributes.get(attributes.MEMBERS, ())]
            for op in ops_in(module.operation, MATMULS)
        ]


class TestDimensions:
    @pytest.mark.parametrize("last", [jnp.square, lambda y: y], ids=["squared", "linear"])
    def test_of_shared_data(self, last: Callable[[Any], Any]) -> None:
        """The first layer has no batch dimension, and with a linear loss no matmul has one."""

        def layers(w: Any, x: Any) -> Any:
            return jax.grad(lambda w: last(jnp.tanh(x @ w["a"]) @ w["b"]).sum())(w)

        w = {"a": normal(0, 5, 16, 24), "b": normal(1, 5, 24, 16)}
        found = members_of(jax.vmap(layers, in_axes=(0, None)), w, normal(2, 8, 16))
        squared = [[[], [0]], [[1], [0]], [[0], [1]], [[0], [0]], [[0], []]]
        linear = [[[], [0]], [[], [1]], [[], [0]], [[1], []]]
        assert found == (squared if last is jnp.square else linear)

    def test_of_activations_of_one_layer(self) -> None:
        """No weight has a batch dimension, and that of two activations is one of members."""
        found = members_of(*CASES["attention"][:1], *CASES["attention"].arguments)
        assert all(map(any, found))

    def test_of_experts(self) -> None:
        """A matmul that sums over experts has none."""

        def routed(w: Any, x: Any, rows: Any) -> Any:
            each = jnp.einsum("tec,td->ecd", rows, x)
            hidden = jax.nn.relu(jnp.einsum("ecd,edf->ecf", each, w["in"]))
            return jnp.einsum("tec,ecf->tf", rows, hidden)

        w = {"in": normal(0, 4, 16, 24)}
        found = members_of(routed, w, normal(1, 20, 16), normal(2, 20, 4, 5))
        assert found == [[[1], []], [[0], [0]], []]

    def test_batch_and_heads_have_none(self) -> None:
        def attention(w: Any, x: Any) -> Any:
            q, k, v = (jnp.einsum("td,dhk->thk", x, w[name]) for name in "qkv")
            p = jax.nn.softmax(jnp.einsum("thk,shk->hts", q, k))
            return jnp.einsum("hts,shk,hkd->td", p, v, w["o"])

        w = {name: normal(0, 16, 2, 8) for name in "qkv"} | {"o": normal(1, 2, 8, 16)}
        fn = jax.vmap(attention, in_axes=(None, 0))
        found = members_of(jax.grad(lambda w, x: (fn(w, x) ** 2).sum()), w, normal(2, 3, 12, 16))
        assert found
        assert not any(found)

    def test_groups_of_features_have_none(self) -> None:
        """Those of a convolution or a normalization are no members."""

        def layer(w: Any, x: Any) -> Any:
            kinds = ("NHC", "HIO", "NHC")
            x = jax.lax.conv_general_dilated(
                x[None], w["in"], (1,), "SAME", dimension_numbers=kinds, feature_group_count=4
            )
            x = x.reshape(-1, 4, 4)
            x = ((x - x.mean(-1, keepdims=True)) * w["gain"]).reshape(1, -1, 16)
            return jax.lax.conv_general_dilated(
                x, w["out"], (1,), "SAME", dimension_numbers=kinds
            ).mean((0, 1))

        w = {"in": normal(0, 3, 4, 16), "out": normal(1, 3, 16, 16), "gain": normal(2, 4, 4)}
        fn = jax.vmap(layer, in_axes=(None, 0))
        found = members_of(jax.grad(lambda w, x: (fn(w, x) ** 2).sum()), w, normal(2, 3, 12, 16))
        assert found
        assert not any(found)

    def test_of_convolutions(self) -> None:
        """Image and kernel have as many members as groups; the first layer reads data of all."""
        case = CASES["convolutions"]
        found = members_of(case.fn, *case.arguments)
        assert found[:3] == [[[], [3]], [[3], [3]], [[6], [6]]]
        assert all(found)

    def test_queries_keys_and_values_as_arguments_have_none(self) -> None:
        def attention(q: Any, k: Any, v: Any) -> Any:
            p = jax.nn.softmax(jnp.einsum("bqk,bsk->bqs", q, k))
            return jnp.einsum("bqs,bsk->bqk", p, v)

        given = [normal(i, 3, 8, 16) for i in range(3)]
        assert not any(members_of(attention, *given))
        assert not any(members_of(lambda batch: attention(*batch), given))
