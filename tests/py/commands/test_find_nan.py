"""The op that makes the first NaN or infinity: in plain steps, loops, branches and calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import scalify_hlo
from scalify_hlo.api import find_nan, rewrite
from scalify_hlo.commands.nan.nan_report import NanReport, NonFiniteOp, ValueRange, dump_nan_report
from scalify_hlo.errors import UsageError
from tests.py.devices import eight_devices, sharded_nan
from tests.py.shared import commands
from tests.py.shared.judge import normal, normals, program_of
from tests.py.shared.planted import line
from tests.py.shared.schemas import faults
from tests.py.shared.stats_reference import Array, planted

F32 = np.float32


def f32(values: Any) -> Array:
    """An array of f32."""
    return np.asarray(values, F32)


def of(function: Callable[..., Any], *arguments: Any, **options: Any) -> NanReport:
    exported = program_of(function, *arguments)
    return find_nan(exported, [arguments], **options)


def first(report: NanReport) -> NonFiniteOp:
    assert report.first is not None
    return report.first


def assert_range(found: ValueRange, values: Array) -> None:
    """Asserts that a range is that of an array."""
    wide = values.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    ends = (found.smallest, found.largest)
    assert ends == ((finite.min(), finite.max()) if finite.size else (None, None))
    counts = (found.zeros, found.infinities, found.nans)
    assert counts == ((wide == 0).sum(), np.isinf(wide).sum(), np.isnan(wide).sum())


def test_an_overflow_in_a_plain_step() -> None:
    def step(x: jax.Array) -> jax.Array:
        big = jnp.exp(x * 2)  # overflow in a plain step
        return big.sum() - 1

    x = f32([1, -3, 60, 50])
    report = of(step, x)
    found = first(report)
    assert found.kind == "infinity"
    assert found.sentence == "stablehlo.exponential makes 2 infinities from finite operands"
    assert line("overflow in a plain step", __file__) in found.location
    assert found.name.endswith("exp")
    assert_range(found.operands[0], x * 2)
    assert found.result.infinities == 2
    assert report.origins == (found,)
    assert report.infinite_results == ("result",)


def test_a_nan_of_infinities_comes_with_the_op_that_made_these() -> None:
    def step(x: jax.Array) -> jax.Array:
        e = jnp.exp(x)  # the numerator
        return e / e.sum()  # the quotient

    overflow, quotient = of(step, f32([1, 100, 2])).origins
    assert line("the numerator", __file__) in overflow.location
    assert line("the quotient", __file__) in quotient.location
    assert quotient.sentence == "stablehlo.divide makes 1 NaN from infinities"
    (only,) = of(step, f32([1, 100, 2]), only="nan").origins
    assert only == quotient


SENTENCES: dict[str, tuple[Callable[..., Any], *tuple[Any, ...]]] = {
    "stablehlo.divide makes 1 NaN from finite operands": (
        lambda x, y: x / y,
        [0, 1, 2],
        [0, 2, 2],
    ),
    "stablehlo.convert makes 1 NaN from finite operands": (
        lambda x: x.astype(jnp.float8_e4m3fn).astype(jnp.float32),
        [1, 1000],
    ),
    "from a constant": (lambda x: jnp.linalg.cholesky(x).sum(), [[1, 0], [0, -1]]),
    "the argument 'x' has 1 NaN": (lambda x, y: jnp.tanh(x) * y, [1, np.nan], [1, 1]),
    "the argument 'x' has 1 infinity": (lambda x, y: x * y, [1, np.inf], [1, 1]),
    "stablehlo.multiply makes": (lambda x, y: x * y, [1, np.inf], [1, 0]),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_says_what_is_not_finite(sentence: str) -> None:
    function, *arguments = SENTENCES[sentence]
    found = first(of(function, *map(f32, arguments)))
    assert sentence in found.sentence
    assert (found.source == "constant") == ("constant" in sentence)
    assert (found.operands == ()) == ("argument" in sentence)
    if "divide" in sentence:
        assert [each.zeros for each in found.operands] == [1, 1]


def test_the_turn_of_a_scan() -> None:
    rows = f32([[1, 2], [3, 4], [0, -2], [5, -1]])

    def step(x: jax.Array) -> Any:
        def body(total: jax.Array, row: jax.Array) -> Any:
            return total + jnp.log(row).sum(), row  # a logarithm in a scan

        return lax.scan(body, jnp.float32(0), x)

    infinity, nan = of(step, rows[:, :1]).first, first(of(step, rows))
    assert infinity is not None
    assert infinity.kind == "infinity"
    assert line("a logarithm in a scan", __file__) in nan.location
    (turn,) = nan.loops
    assert (turn.turn, turn.turns) == (2, 4)
    assert_range(nan.operands[0], rows[2])


def test_each_loop_around_has_its_turn() -> None:
    def step(x: jax.Array) -> Any:
        def outer(c: jax.Array, i: jax.Array) -> Any:
            def inner(d: jax.Array, j: jax.Array) -> Any:
                return d / jnp.where((i == 1) & (j == 3), 0.0, 1.0), d  # in two loops

            return lax.scan(inner, c, jnp.arange(5))

        return lax.scan(outer, x, jnp.arange(3))

    found = first(of(step, f32([1, -2])))
    assert line("in two loops", __file__) in found.location
    assert [(each.turn, each.turns) for each in found.loops] == [(1, 3), (3, 5)]
    assert found.kind == "infinity"


def test_an_op_early_in_the_body_of_a_loop_may_come_second() -> None:
    """The logarithm is before the root in the program, and after it in time."""

    def step(x: jax.Array) -> Any:
        def body(c: Any, _: Any) -> Any:
            a, b = c
            return (jnp.log(b), jnp.sqrt(a)), b  # two ops

        return lax.scan(body, (x, x + 2), None, length=4)

    found = first(of(step, f32([-1.0]), only="nan"))
    assert (found.op, found.loops[0].turn) == ("stablehlo.sqrt", 0)
    found = first(of(step, f32([0.5]), only="nan"))
    assert found.loops[0].turn > 0


def test_a_loop_whose_number_of_turns_is_not_known() -> None:
    def step(x: jax.Array, n: jax.Array) -> Any:
        return lax.fori_loop(0, n, lambda _, v: v * 1e20, x)

    found = first(of(step, f32([1, 2]), np.int32(6)))
    assert (found.loops[0].turn, found.loops[0].turns) == (1, None)
    assert_range(found.operands[0], f32([1, 2]) * f32(1e20))


@pytest.mark.parametrize("taken", [True, False])
def test_a_branch_counts_if_it_is_taken(taken: bool) -> None:
    def step(x: jax.Array, flag: jax.Array) -> Any:
        return lax.cond(flag, lambda v: jnp.sqrt(v), lambda v: jnp.log(v), x)

    found = first(of(step, f32([-1]), np.bool_(taken)))
    assert found.op == ("stablehlo.sqrt" if taken else "stablehlo.log")


def test_a_called_function_has_the_name_of_the_call() -> None:
    @jax.jit
    def inner(x: jax.Array) -> jax.Array:
        return jnp.log(x)  # in a called function

    def step(x: jax.Array) -> Any:
        with jax.named_scope("first"):
            a = inner(x)
        with jax.named_scope("second"):
            return inner(a)

    found = first(of(step, f32([0.5, 2])))
    assert line("in a called function", __file__) in found.location
    assert "second" in found.name
    assert "first" not in found.name


def test_an_op_of_jax_in_a_called_function_has_the_line_of_the_call() -> None:
    def step(x: jax.Array, y: jax.Array) -> Any:
        return jnp.where(x > 0, y, jnp.nan)  # a choice

    found = first(of(step, f32([0.5, -2]), f32([-1, 2])))
    assert found.op == "stablehlo.select"
    assert line("a choice", __file__) in found.location


def test_a_backward_pass() -> None:
    def loss(x: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
        return (x * a * b).sum()

    arguments = f32([1e-30]), f32([1e30]), f32([1e20])
    assert of(loss, *arguments).first is None
    found = first(of(jax.grad(loss), *arguments))
    assert found.part == "backward"
    assert found.kind == "infinity"


def test_a_sharded_step() -> None:
    found = eight_devices.run(sharded_nan.main)
    assert found["sentence"].startswith("stablehlo.log makes 1 NaN from finite operands")
    assert line("planted", sharded_nan.__file__) in found["location"]
    assert found["device"] == 5
    assert (found["smallest"], found["largest"]) == (-2.0, 1.0)
    assert found["shape"] == [4, 4]
    assert found["looped"]["loops"] == [2]
    assert found["looped"]["device"] == 5


def test_the_infinities_of_a_mask_are_meant() -> None:
    def step(x: jax.Array) -> jax.Array:
        masked = jnp.where(jnp.tri(2, dtype=bool), x, -jnp.inf)
        return jax.nn.softmax(masked, -1) @ x

    report = of(jax.grad(lambda x: step(x).sum()), f32([[1, 2], [3, 4]]))
    assert report.first is None
    assert not report.elsewhere
    scores = of(lambda x: jnp.where(x > 0, x, -jnp.inf), f32([1, -2]))
    assert scores.first is None
    assert scores.infinite_results == ("result",)


def test_a_row_of_a_mask_without_elements() -> None:
    def step(x: jax.Array) -> jax.Array:
        return jax.nn.softmax(jnp.where(x > 9, x, -jnp.inf))  # all masked

    (found,) = of(step, f32([1, 2])).origins
    assert found.sentence == "stablehlo.subtract makes 2 NaN from infinities"
    assert line("all masked", __file__) in found.location


def test_an_overflow_before_a_mask() -> None:
    def step(x: jax.Array) -> jax.Array:
        scores = (x @ x).astype(jnp.float16)
        masked = jnp.where(jnp.tri(2, dtype=bool), scores, -jnp.inf)
        return jax.nn.softmax(masked, -1)

    overflow, nan = of(step, f32([[1, 2], [300, 400]])).origins
    assert overflow.op == "stablehlo.convert"
    assert_range(overflow.operands[0], f32([[601, 802], [120300, 160600]]))
    assert nan.op == "stablehlo.subtract"


def test_elements_that_flow_to_no_result() -> None:
    def step(x: jax.Array) -> jax.Array:
        return jnp.where(x == 0, 0.0, x * jnp.log(x))

    report = of(step, f32([0, 1, 2]))
    assert report.first is None
    assert report.step is None
    assert report.elsewhere[0].op == "stablehlo.log"
    assert report.elsewhere[0].result.smallest is None
    report = of(step, f32([0, 1, 2]), anywhere=True)
    assert report.step == 0
    assert report.elsewhere[0].operands[0].zeros == 1


def test_a_finite_program() -> None:
    report = of(lambda x: jnp.exp(x).sum(), f32([1, 2]))
    assert report.first is None
    assert report.elsewhere == ()
    assert report.summary == "all 1 float results are finite"


DTYPES = [F32, np.float64, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]


@pytest.mark.parametrize("dtype", [*DTYPES, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz])
def test_the_range_of_each_dtype(dtype: Any) -> None:
    values = planted((40,), dtype)
    name = {"float8_e4m3fn": "f8E4M3FN", "float8_e4m3fnuz": "f8E4M3FNUZ"}.get(values.dtype.name)
    name = name or {"bfloat16": "bf16", "float8_e5m2": "f8E5M2"}.get(values.dtype.name)
    x = f"tensor<40x{name or f'f{8 * values.itemsize}'}>"
    report = find_nan(f"func.func @main(%x: {x}) -> {x} {{ return %x : {x} }}", [[values]])
    assert first(report).kind == "nan"
    assert_range(first(report).result, values)


def test_complex_values() -> None:
    found = first(of(lambda x: x / (x - x), np.array([1 + 2j, 3j], np.complex64)))
    assert found.op == "stablehlo.divide"
    assert found.operands[0].largest == 3
    assert found.operands[0].zeros == 1


def test_integers_have_no_range() -> None:
    found = first(of(lambda x, i: jnp.take(x, i), f32([1, 2]), np.array([0, 9], np.int32)))
    assert found.source == "constant"
    assert found.operands[0].dtype == "i1"
    assert found.operands[0].smallest is None


def descent(w: jax.Array, x: jax.Array) -> Any:
    return w - 1e3 * jax.grad(lambda w: ((x @ w) ** 2).mean())(w)  # diverges


def test_steps_end_at_the_first_that_is_not_finite() -> None:
    w, x = np.ones((3, 2), F32), np.ones((4, 3), F32)
    exported = program_of(descent, w, x)
    report = find_nan(exported, [(w, x)], steps=100, carry=True)
    state, count = jnp.asarray(w), 0
    while jnp.isfinite(state).all():
        state, count = jax.jit(descent)(state, x), count + 1
    assert report.step == count - 1
    assert report.steps == count
    assert line("diverges", __file__) in first(report).location
    assert find_nan(exported, [(w, x)], steps=100).first is None


@pytest.mark.parametrize("recipe", ["propagate", "unit", "fp8-current", "fp8-delayed"])
def test_a_rewrite_is_searched(recipe: str) -> None:
    x, w = normals(*[(32, 32)] * 2)
    x[3, 4] = -60

    def step(x: jax.Array, w: jax.Array) -> jax.Array:
        return jnp.log(x @ jnp.ones_like(w) + 40) @ w  # of a rewrite

    exported = program_of(step, x, w)
    found = first(find_nan(exported, [(x, w)], recipe=recipe, steps=2))
    assert line("of a rewrite", __file__) in found.location
    assert found.op == "stablehlo.log"


@pytest.mark.parametrize("recipe", ["propagate", "fp8-current", "fp8-delayed"])
def test_a_rewritten_program_takes_the_inputs_of_its_original(recipe: str) -> None:
    x = normal(32, 32) * 8

    def step(x: jax.Array) -> jax.Array:
        return jnp.log(x @ x.T - 1e3)  # of a file

    exported = program_of(step, x)
    scaled = rewrite(exported, recipe=recipe, signature="scaled")
    found = first(find_nan(scaled.serialize(), [{"x": x}]))
    assert line("of a file", __file__) in found.location


def test_options_that_are_not_possible_are_refused() -> None:
    text = "func.func @main(%x: tensor<f32>) { return }"
    with pytest.raises(UsageError, match="steps takes a whole number, at least 1"):
        find_nan(text, [[f32(0)]], steps=0)
    with pytest.raises(UsageError, match="did you mean 'nan'"):
        find_nan(text, [[f32(0)]], only="nans")
    with pytest.raises(UsageError, match="no inputs"):
        find_nan(text, [])


PAGE = Path(__file__).resolve().parents[3] / "docs" / "nan.md"


def step(w: jax.Array, x: jax.Array) -> Any:
    def body(c: jax.Array, row: jax.Array) -> Any:
        return c + jnp.log(row), c

    return lax.scan(body, w, x)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    w, x = np.ones(2, np.float32), np.ones((3, 2), np.float32)
    x[1, 0] = -4.0
    program, inputs = tmp_path / "step.jax_export", tmp_path / "x.npz"
    program.write_bytes(program_of(step, w, x).serialize())
    np.savez(inputs, w=w, x=x)
    return str(program), str(inputs)


run = partial(commands.call, "bisect-nan")


def test_a_finite_program_is_one_line(files: tuple[str, str], tmp_path: Path) -> None:
    program, _ = files
    inputs = tmp_path / "ones.npz"
    np.savez(inputs, w=np.ones(2, np.float32), x=np.ones((3, 2), np.float32))
    done = run(program, "--inputs", inputs, code=0)
    assert done.output == "all 2 float results are finite\n"


def test_json_is_the_report_of_the_function(files: tuple[str, str]) -> None:
    program, inputs = files
    done = run(program, "--inputs", inputs, "--format", "json", code=1)
    whole = json.loads(done.stdout)
    assert not faults(whole, "bisect-nan")
    exported = scalify_hlo.deserialize(Path(program).read_bytes())
    with np.load(inputs) as arrays:
        report = find_nan(exported, [dict(arrays)])
    expected = json.loads(dump_nan_report(report))
    assert {**whole, "program": ""} == {**expected, "program": ""}


def test_reports_without_an_op_fit_the_schema() -> None:
    text = "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"
    for value in (0.0, np.inf, np.nan):
        whole = json.loads(dump_nan_report(find_nan(text, [[np.float32(value)]])))
        assert not faults(whole, "bisect-nan")
    wrong = {**whole, "version": 2}
    assert faults(wrong, "bisect-nan")
