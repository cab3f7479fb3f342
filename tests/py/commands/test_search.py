"""`search`: the costs of sites, and the recipe that leaves the worst wide at a budget."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import scalify_hlo
from examples.training import cross_entropy
from scalify_hlo.cli.search import some_points
from scalify_hlo.commands.choose.bench import Bench
from scalify_hlo.commands.choose.front import Front, Point, efficient, parse_budget
from scalify_hlo.commands.choose.model import Search
from scalify_hlo.commands.choose.operand_errors import RESULT, CastError
from scalify_hlo.commands.choose.sensitivity import (
    GRADIENTS,
    LOSS,
    RATIO,
    Backward,
    Energy,
    Sensitivity,
)
from scalify_hlo.commands.choose.sites import Site, sites_of
from scalify_hlo.dataflow.sizes import Extent, Size
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.ir.patterns import VOCABULARY
from scalify_hlo.report.matmuls import MatmulReport
from tests.py.shared import choosing
from tests.py.shared.choosing import batch, good_step, loss_of, parameters, planted_step
from tests.py.shared.commands import call
from tests.py.shared.judge import program_of

PAGE = Path(__file__).resolve().parents[3] / "docs" / "compare.md"
PLANTED = "planted@forward"


def searched(step: Any, budget: str, recipe: Any = "fp8-current", **options: Any) -> Search:
    program = choosing.exported(step)
    return scalify_hlo.search(program, [(parameters(), *batch())], recipe, budget, **options)


@cache
def planted() -> Search:
    return searched(planted_step, "narrow>=0.9")


def test_a_planted_site_is_the_first_that_is_left_wide() -> None:
    found = planted()
    first = found.sites[0]
    assert first.site.name == PLANTED
    assert first.effect == LOSS
    assert first.cost > 2 * found.sites[1].cost
    assert [site.name for site in found.left_out] == [PLANTED]
    assert [each.site.name for each in found.sites if each.wide] == [PLANTED]
    assert found.result.matmul.exclude == (PLANTED,)
    assert found.effect.narrow == pytest.approx(10 / 11)
    assert found.chosen.narrow == found.effect.narrow
    rest = found.whole_cost**2 - first.cost**2
    assert found.chosen.cost == pytest.approx(math.sqrt(rest))
    worst = [each.worst(outputs=False) for each in (found.whole, found.effect)]
    assert worst[0] is not None
    assert worst[1] is not None
    assert worst[1].snr_db > worst[0].snr_db + 9


def test_the_found_recipe_can_be_read_and_meets_the_budget(tmp_path: Path) -> None:
    found = planted()
    path = tmp_path / "better.toml"
    path.write_text(found.toml)
    assert scalify_hlo.load_recipe(path) == found.result
    (tmp_path / "part.toml").write_text(f'base = "fp8-current"\n{found.fragment}')
    assert scalify_hlo.load_recipe(tmp_path / "part.toml") == found.result
    _, report = scalify_hlo.rewrite(choosing.exported(planted_step), recipe=path, report=True)
    assert [each.name for each in report.matmuls if each.wide is not None] == [PLANTED]


def test_the_front_ends_where_nothing_costs() -> None:
    points = planted().front
    assert points[0].wide == 0
    assert points[-1].cost == 0
    assert [each.wide for each in points] == sorted({each.wide for each in points})
    assert [each.cost for each in points] == sorted((p.cost for p in points), reverse=True)
    assert planted().chosen in points


def test_a_finer_format_of_gradients_is_tried_on_request() -> None:
    found = searched(good_step, "wide<=1", formats=True)
    assert [each.name for each in found.formats] == ["f8E5M2", "f8E4M3FN"]
    coarse, fine = found.formats
    assert fine.cost < coarse.cost
    assert (coarse.taken, fine.taken) == (False, True)
    assert found.result.matmul.gradient == "f8E4M3FN"
    assert 'gradient = "f8E4M3FN"' in found.fragment
    assert planted().result.matmul.gradient == "f8E5M2"
    assert [each.name for each in planted().formats] == ["f8E5M2"]


def test_the_given_recipe_is_returned_at_its_own_share() -> None:
    found = searched(good_step, "wide<=0")
    assert found.result == found.base
    assert found.chosen.cost == found.whole_cost


def test_recipes_of_wider_formats_have_costs_too() -> None:
    found = searched(good_step, "narrow>=0.8", "bf16")
    assert [each.name for each in found.formats] == ["bf16"]
    assert len(found.left_out) == 2
    assert 0 < found.chosen.cost < 1e-3


def vocabulary_step(params: Any, tokens: Any, *, scope: str = "head") -> Any:
    """A step of a model that looks rows up in a table, and projects to it."""

    def loss(params: Any) -> Any:
        h = jnp.tanh(params["table"][tokens[:-1]] @ params["layer"])
        with jax.named_scope(scope) if scope else nullcontext():
            logits = h @ params["table"].T
        return cross_entropy(logits, tokens[1:])

    value, gradients = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), value


def vocabulary_program(scope: str = "head") -> tuple[Any, Any]:
    """Returns the program of `vocabulary_step`, and its inputs."""
    rng = np.random.default_rng(0)
    params = {"table": rng.standard_normal((64, 32), np.float32), "layer": np.eye(32) / 2}
    sample = jax.tree.map(np.float32, params), rng.integers(0, 64, 33).astype(np.int32)
    step = partial(vocabulary_step, scope=scope)
    return program_of(step, *sample), sample


def test_matmuls_of_a_vocabulary_are_searched_if_the_budget_needs_them() -> None:
    program, sample = vocabulary_program()

    def found(budget: str) -> Search:
        return scalify_hlo.search(program, [sample], "fp8-current", budget)

    everything = found("narrow>=1")
    assert everything.whole.narrow is not None
    assert everything.whole.narrow < 1
    assert everything.result.matmul.vocabulary
    assert "vocabulary = true" in everything.fragment
    assert everything.effect.narrow == 1
    assert everything.left_out == ()
    same = found(f"narrow>={everything.whole.narrow}")
    assert same.chosen.cost <= same.whole_cost < everything.chosen.cost
    assert not same.result.matmul.vocabulary
    assert not any(VOCABULARY in each.site.tags for each in same.sites)


def test_a_matmul_of_a_vocabulary_is_told_from_others_in_its_scope() -> None:
    program, sample = vocabulary_program(scope="")
    found = scalify_hlo.search(program, [sample], "fp8-current", "narrow>=1")
    sites = [each.site for each in found.sites if each.site.name.endswith("@wgrad")]
    assert [each.calls for each in sites] == [1, 1]
    (projection,) = [each for each in sites if VOCABULARY in each.tags]
    out = {"matmul.vocabulary": True, "matmul.exclude": [projection.name]}
    report = scalify_hlo.rewrite(program, recipe="fp8-current", settings=out, report=True)[1]
    (wide,) = [each for each in report.matmuls if each.wide is not None]
    assert wide.vocabulary
    assert wide.name == projection.name


def test_programs_without_a_loss_are_searched_by_noise() -> None:
    w = parameters()["first"]
    program = program_of(lambda x, w, v: jnp.tanh(x @ w) @ v, batch()[0], w, w)
    found = scalify_hlo.search(program, [(batch()[0], w, w)], "fp8-current", "narrow>=0.5")
    assert found.loss is None
    assert {each.effect for each in found.sites} == {RATIO}
    for each in found.sites:
        assert each.cost == pytest.approx(10 ** (-each.snr_db / 20))
    assert [site.name for site in found.left_out] == [found.sites[0].site.name]


def test_a_function_that_is_called_with_two_names_has_costs() -> None:
    layer = jax.jit(lambda h, w: jnp.tanh(h @ w))

    def model(x: Any, w: Any) -> Any:
        with jax.named_scope("one"):
            h = layer(x, w)
        with jax.named_scope("two"):
            return layer(h, w)

    w, x = parameters()["first"], batch()[0]
    program = program_of(model, x, w)
    found = scalify_hlo.search(program, [(x, w)], "fp8-current", "narrow>=0")
    assert all(each.cost > 0 for each in found.sites)
    assert [each.calls for each in (site.site for site in found.sites)] == [2]
    assert found.effect.narrow == 0


def matmul(name: str, calls: int = 1, size: int = 64) -> MatmulReport:
    extent = Extent(Size(size), Size(size), Size(size))
    return replace(_one_matmul(), names=(name,), calls=calls, extent=extent)


@cache
def _one_matmul() -> MatmulReport:
    x, y = batch()
    program = program_of(lambda x, y: x @ y, x, y)
    _, report = scalify_hlo.rewrite(program, recipe="fp8-current", report=True)
    one: MatmulReport = report.matmuls[0]
    return one


def front(
    matmuls: Sequence[MatmulReport], costs: Sequence[float], budget: str
) -> tuple[Front, list[Site]]:
    sites = sites_of(matmuls, "p")
    amounts = {site.name: cost for site, cost in zip(sites, costs, strict=True)}
    return Front(matmuls, sites, amounts, parse_budget(budget), "f8E5M2"), sites


def left(found: Front) -> tuple[str, ...] | None:
    point = found.chosen()
    return None if point is None else tuple(name.removesuffix("@forward") for name in point.left)


def test_the_worst_for_its_size_is_left_wide_first() -> None:
    matmuls = [matmul("a"), matmul("b", calls=4), matmul("c"), matmul("d")]
    costs = [2.0, 3.0, 4.0, 0.0]
    found, _ = front(matmuls, costs, "narrow>=0.7")
    # One call of b has a square of 9 / 4; after c and a, the budget has no room for its four calls.
    assert [point.wide for point in found.points] == [0, 1, 2, 6]
    assert [point.cost**2 for point in found.points] == pytest.approx([29.0, 13.0, 9.0, 0.0])
    assert left(found) == ("c", "a")
    assert left(front(matmuls, costs, "narrow>=0")[0]) == ("c", "a", "b")
    assert left(front(matmuls, costs, "wide<=1")[0]) == ("c",)
    assert left(front(matmuls, costs, "wide<1")[0]) == ()
    assert left(front(matmuls, costs, "narrow>1")[0]) is None


def test_smaller_sites_fill_the_budget() -> None:
    matmuls = [matmul("a"), matmul("b", calls=3), matmul("c"), matmul("d", calls=5)]
    assert left(front(matmuls, [4.0, 9.0, 1.0, 0.5], "narrow>=0.8")[0]) == ("a", "c")


def test_budgets_of_operations_count_these() -> None:
    matmuls = [matmul("a", size=128), matmul("b"), matmul("c")]
    costs = [4.0, 1.0, 0.9]
    assert left(front(matmuls, costs, "narrow>=0.6")[0]) == ("a",)
    assert left(front(matmuls, costs, "narrow-flops>=0.8")[0]) == ("b", "c")


def test_points_that_cost_as_much_with_less_are_dropped() -> None:
    def point(wide: int, cost: float, flops: float | None = None) -> Point:
        return Point((), "f8E5M2", wide, 1 - wide / 4, flops, cost)

    budget = parse_budget("narrow>=0.5")
    points = [point(2, 1.0), point(0, 3.0), point(1, 3.0), point(1, 2.0), point(3, 1.5)]
    assert [each.wide for each in efficient(points, budget)] == [0, 1, 2]
    by_flops = [point(0, 3.0, 0.5), point(2, 1.0, 0.75), point(1, 2.0, 1.0)]
    kept = efficient(by_flops, parse_budget("narrow-flops>=0.5"))
    assert [each.wide for each in kept] == [1, 2]
    assert [each.wide for each in some_points(points, points[1], 2)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("narow>=0.9", "no quantity is named 'narow' (did you mean 'narrow'"),
        ("narrow=0.9", "'narrow=0.9' is not a requirement"),
        ("narrow<=0.9", "narrow<=0.9 is not a budget"),
        ("wide>=2", "wide>=2 is not a budget"),
        ("narrow>=0.9,statistics<=2", "statistics<=2 is not a budget"),
        ("", "'' is not a requirement"),
    ],
)
def test_budgets_that_cannot_be_read_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        parse_budget(text)


def test_budgets_that_cannot_be_met_are_refused() -> None:
    with pytest.raises(InputError, match=r"narrow>=1\.5 is required, and the share of .* is 1\n"):
        searched(good_step, "narrow>=1.5")
    with pytest.raises(InputError, match="the recipe propagate quantizes no matmul"):
        searched(good_step, "narrow>=0.5", "propagate")


def test_progress_ends_with_the_last_program() -> None:
    told: list[tuple[int, int]] = []
    searched(
        good_step,
        "wide<=1",
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(2, 3), (3, 3)]


def test_the_command_prints_as_many_rows_as_asked_for(tmp_path: Path) -> None:
    program, inputs = choosing.write(planted_step, tmp_path)
    given = ("--inputs", inputs, "--recipe", "fp8-current", "--budget", "narrow>=0.9")
    done = call("search", program, *given, "--rows", "4", code=0)
    assert sum("choosing.py:" in line for line in done.stdout.splitlines()) == 4


def sensitivity(step: Callable[..., Any], *sample: Any) -> tuple[Bench, Sensitivity]:
    """The measurements of a step, with the bench."""
    bench = Bench(program_of(step, *sample), [sample])
    return bench, Sensitivity(bench.sites, bench.energies(), bench.backward(), 1.0)


def by_site(bench: Bench) -> Mapping[str, Energy]:
    energies = bench.energies()
    return {site: energies[number] for number, site in bench.sites.items()}


def test_energies_are_those_of_the_tensors() -> None:
    x, y = batch()
    bench = Bench(program_of(lambda x, y: x @ y, x, y), [(x, y)])
    (energy,) = bench.energies().values()
    values = [np.asarray(each, np.float64) for each in (x, y)]
    squares = [float(np.sum(each**2)) for each in (*values, values[0] @ values[1])]
    assert [*energy.operands, energy.result] == pytest.approx(squares, rel=1e-5)
    assert energy.count == x.size


def test_energies_of_turns_and_of_calls_add_up() -> None:
    x, _ = batch()

    def loop(x: Any) -> Any:
        return lax.scan(lambda c, _: (c @ c / 64, None), x, None, length=3)[0]

    inner = jax.jit(lambda x: x @ x)
    (turns,) = by_site(Bench(program_of(loop, x), [(x,)])).values()
    (calls,) = by_site(Bench(program_of(lambda x: inner(x) + inner(x + 1), x), [(x,)])).values()
    assert turns.count == 3 * x.size
    assert calls.count == 2 * x.size
    energy = [float(np.sum(np.asarray(each, np.float64) ** 2)) for each in (x, x + 1)]
    assert calls.operands[0] == pytest.approx(sum(energy), rel=1e-5)


def test_the_gradient_of_a_result_is_found_in_the_backward_pass() -> None:
    bench, _ = sensitivity(good_step, parameters(), *batch())
    backward, energies = bench.backward(), bench.energies()
    assert len(backward.cotangents) == 4
    assert len(backward.weights) == 4
    assert len(backward.activations) == 3

    def after(offset: Any) -> Any:
        """The loss, with an offset at the result of the second layer."""
        params, (x, y) = parameters(), batch()
        h = jnp.tanh(jnp.tanh(x @ params["first"]) @ params["second"] + offset)
        h = jnp.tanh(h @ params["planted"] / jnp.sqrt(1e-3 + _mean_square(h @ params["planted"])))
        return jnp.mean((jnp.tanh(h @ params["fourth"]) - y) ** 2)

    offset = np.zeros((choosing.WIDTH, choosing.WIDTH), np.float32)
    assert float(after(offset)) == pytest.approx(float(loss_of(parameters(), *batch())), rel=1e-5)
    gradient = np.asarray(jax.grad(after)(offset), np.float64)
    (number,) = (n for n, site in bench.sites.items() if site == "second@forward")
    source, side = backward.cotangents[number]
    assert energies[source].operands[side] == pytest.approx(np.sum(gradient**2), rel=1e-4)
    # The cost of the site is the rms of the change of the loss by noise of random signs.
    ratio = 2.0**-9
    cost = Sensitivity(bench.sites, energies, backward, 2.0)._effects(number, ratio, 0.0)[LOSS]
    size = math.sqrt(ratio * energies[number].result / offset.size)
    rng = np.random.default_rng(0)
    signs = rng.choice([-1, 1], (512, *offset.shape)).astype(np.float32)
    changes = np.asarray(jax.vmap(lambda z: jax.jvp(after, (offset,), (z * size,))[1])(signs))
    assert 2 * cost == pytest.approx(math.sqrt(np.mean(changes**2)), rel=0.1)


def _mean_square(h: Any) -> Any:
    return jnp.mean(h**2, axis=-1, keepdims=True)


def test_recomputed_matmuls_have_the_gradient_of_the_first() -> None:
    w, x = parameters()["first"], batch()[0]

    def loss(w: Any, x: Any) -> Any:
        return jnp.mean(jax.checkpoint(lambda h: jnp.tanh(jnp.tanh(h @ w) @ w))(x) ** 2)

    bench, found = sensitivity(lambda w, x: jax.value_and_grad(loss)(w, x), w, x)
    forward = [n for n, site in bench.sites.items() if site == "w@forward"]
    assert len(forward) > 2
    for number in forward[:2]:  # The others are computed again.
        assert found._effects(number, 0.1, 0.1).keys() == {LOSS, GRADIENTS}


def test_costs_of_gradients_are_shares_of_their_noise() -> None:
    energies = {i: Energy((1.0, 1.0), 2.0**i, 4.0) for i in range(4)}
    backward = Backward({0: (1, 0)}, frozenset({1, 2}), {3: (0, 1), 4: (5, 0)})
    energies |= {4: Energy((1.0, 1.0), 2.0, 4.0), 5: Energy((12.0, 1.0), 1.0, 4.0)}
    found = Sensitivity({}, energies, backward, 2.0)
    found = replace(found, decrease=0.25)
    effects = [found._effects(number, 0.5, 0.125) for number in (1, 2, 3, 4)]
    assert all(effect.keys() == {GRADIENTS} for effect in effects)
    shares = [2 / 6, 4 / 6, 8 / 32, 24 / 32]
    expected = [0.25 * share * (0.125 + 0.5 / 2) for share in shares]
    assert [effect[GRADIENTS] for effect in effects] == pytest.approx(expected)
    assert found._effects(9, 0.25, 0.0) == {RATIO: 0.5}
    for loss in (None, 0.0, math.inf):
        assert Sensitivity({}, energies, backward, loss)._effects(0, 0.25, 0.0) == {RATIO: 0.5}


def test_the_part_of_an_error_along_the_data() -> None:
    assert CastError(4.0, 1.0, -2.0).growth == 0.5
    assert CastError(4.0, 1.0, 0.0).growth == 0.0
    assert CastError(4.0, 1.0, math.nan).growth == 0.5
    assert CastError(math.inf, 1.0, 0.0).growth == math.inf
    assert CastError(0.0, 0.0, 0.0).growth == 0.0


def test_errors_of_results_change_the_loss_and_gradients() -> None:
    energies = {i: Energy((1.0, 3.0), 2.0**i, 4.0) for i in range(4)}
    found = Sensitivity({}, energies, Backward({0: (2, 0), 1: (3, 1)}), 2.0, 0.25)
    first, second = (found._effects(number, 0.5, 0.125) for number in (0, 1))
    noise = [0.25 * share * (0.125 + 0.5 / 2) for share in (1 / 7, 6 / 7)]
    assert first == pytest.approx({LOSS: math.sqrt(0.5 / 4) / 2, GRADIENTS: noise[0]})
    assert second == pytest.approx({LOSS: math.sqrt(0.5 * 6 / 4) / 2, GRADIENTS: noise[1]})


def test_costs_of_matmuls_add_up_as_squares() -> None:
    energies = {i: Energy((1.0, 3.0), 2.0**i, 4.0) for i in range(4)}
    backward = Backward({0: (2, 0), 1: (3, 1)})
    found = Sensitivity({0: "a", 1: "a"}, energies, backward, 2.0, 0.25)
    cost = found.costs({("a", RESULT): CastError(1.0, 0.5, 0.25)})["a"]
    effects = [found._effects(number, 0.5, 0.25) for number in (0, 1)]
    squares = [amount**2 for each in effects for amount in each.values()]
    assert cost.amount == pytest.approx(math.sqrt(sum(squares)))


def decrease(step: Any) -> float | None:
    return Bench(choosing.exported(step), [(parameters(), *batch())]).decrease


def test_what_a_step_takes_away_is_that_of_two_steps() -> None:
    after, before = good_step(parameters(), *batch())
    _, then = good_step(after, *batch())
    assert decrease(good_step) == pytest.approx(1 - float(then) / float(before), rel=1e-4)
    assert decrease(lambda *given: given) is None

    def shifted(params: Any, x: Any, y: Any) -> Any:
        params, loss = good_step(params, x, y)
        return params, loss - 2 * before  # For example, a log-likelihood.

    assert decrease(shifted) == pytest.approx(decrease(good_step), rel=1e-3)


def test_what_a_step_takes_away_may_be_unknown() -> None:
    def gradients(params: Any, x: Any, y: Any) -> Any:
        return jax.value_and_grad(loss_of)(params, x, y)

    def frozen(params: Any, x: Any, y: Any) -> Any:
        return params, loss_of(params, x, y)

    def diverging(params: Any, x: Any, y: Any) -> Any:
        params, loss = good_step(params, x, y)
        return jax.tree.map(lambda leaf: leaf * jnp.inf, params), loss

    assert [decrease(step) for step in (gradients, frozen, diverging)] == [None] * 3
