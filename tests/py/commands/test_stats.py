"""Statistics of the values of programs, against NumPy's on the same values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import export, lax

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.api import collect_stats
from scalify_hlo.casts.encoding import dtype_of
from scalify_hlo.commands.calibrate.calibration import calibrate
from scalify_hlo.commands.stats import run
from scalify_hlo.commands.stats.encodings import encoding_of, tally
from scalify_hlo.commands.stats.prepare import Programs, Selection
from scalify_hlo.commands.stats.record import COLUMNS, StatsRecord, ValueStats
from scalify_hlo.errors import UsageError
from scalify_hlo.program.given import readable
from scalify_hlo.program.program import read_text
from tests.py.devices import eight_devices, sharded_stats
from tests.py.shared.judge import normals, program_of, shaped, stablehlo_of
from tests.py.shared.stats_reference import (
    PLANTED,
    Array,
    assert_is,
    assert_octaves,
    classes,
    planted,
)

DTYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E3M4": ml_dtypes.float8_e3m4,
}


FOLDED = ("stablehlo.broadcast_in_dim", "stablehlo.multiply")


def find(record: StatsRecord, op: str, number: int = 0, variant: int = 0) -> ValueStats:
    """The n-th value that is made by an op, or of a kind."""
    values = record.variants[variant].values
    return [v for v in values if op in (v.op.removeprefix("stablehlo."), v.kind)][number]


def of_text(text: str, *arrays: Any, **options: Any) -> StatsRecord:
    return collect_stats(text, [list(arrays)], **options)


def of_function(function: Any, *arguments: Any, **options: Any) -> StatsRecord:
    exported = program_of(function, *arguments)
    return collect_stats(exported, [arguments], **options)


def of_argument(values: Array) -> ValueStats:
    """The statistics of an argument that a program returns."""
    (element,) = (name for name, dtype in DTYPES.items() if dtype == values.dtype)
    x = f"tensor<{'x'.join([*map(str, values.shape), element])}>"
    record = of_text(f"func.func @main(%x: {x}) -> {x} {{ return %x : {x} }}", values)
    return find(record, "argument")


@pytest.mark.parametrize("name", DTYPES)
def test_an_argument_of_each_dtype(name: str) -> None:
    values = planted((9, 25), DTYPES[name])
    stats = of_argument(values)
    assert_is(stats, values)
    assert_octaves(stats, values)


@pytest.mark.parametrize("dtype", ["float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"])
def test_an_argument_of_fewer_than_eight_bits(dtype: str) -> None:

    format_ = next(f for f in FORMATS.values() if f.name != "tf32" and dtype_of(f.name) == dtype)
    encoding = encoding_of(format_)
    assert encoding is not None
    numbers = np.arange(-(2**format_.bits) // 2, 2**format_.bits // 2) * format_.smallest
    values = numbers.astype(getattr(ml_dtypes, dtype))
    found = tally(values, encoding)
    expected = classes(values)
    assert found.classes == tuple(expected[name] for name in PLANTED)
    assert encoding.number(found.amax) == np.abs(values.astype(float)).max()


@pytest.mark.parametrize(
    "values",
    [
        # Magnitudes whose squares leave f64, and subnormals alone.
        np.array([1e300, -2e305, 1e-300, 5e-324, 0, 1.5]),
        np.array([1e-300, 5e-324, 3e-310, 0, 0, 0]),
        np.array([1e-40, -3e-42, 1e-45], np.float32),
    ],
)
def test_magnitudes_at_the_ends_of_a_format(values: Array) -> None:
    assert_is(of_argument(values), values)


def test_the_histogram_of_a_large_value_is_of_a_strided_sample() -> None:
    values = np.ldexp(np.float32(1), np.arange(1 << 18) % 8 - 4).astype(np.float32)
    histogram = of_argument(values).histogram
    assert 1 << 16 <= histogram.sample < values.size
    assert sum(histogram.counts) == histogram.sample


def test_complex_values_count_both_parts() -> None:
    parts = planted((2, 40))
    values = (parts[0] + 0j).astype(np.complex64)
    values.imag = parts[1]
    stats = find(of_function(lambda x: x, values), "argument")
    assert stats.dtype == "complex<f32>"
    assert_is(stats, np.stack([values.real, values.imag]))


def test_constants_and_values_with_the_magnitudes_of_others() -> None:
    text = """func.func @main(%x: tensor<3x4xf32>) -> tensor<2x4x3xf32> {
      %c = stablehlo.constant dense<[1.0, -2.0, 0.0, 0x7F800000]> : tensor<4xf32>
      %s = stablehlo.constant dense<3.0> : tensor<3x4xbf16>
      %n = stablehlo.negate %x : tensor<3x4xf32>
      %t = stablehlo.transpose %n, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
      %b = stablehlo.broadcast_in_dim %t, dims = [1, 2] : (tensor<4x3xf32>) -> tensor<2x4x3xf32>
      return %b : tensor<2x4x3xf32>
    }"""
    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    record = of_text(text, x)
    assert_is(find(record, "constant"), np.array([1, -2, 0, np.inf], np.float32))
    assert_is(find(record, "constant", 1), np.full((3, 4), 3, ml_dtypes.bfloat16))
    assert find(record, "negate").same_as == "arg0"
    assert_is(find(record, "transpose"), x.T)
    assert_is(find(record, "broadcast_in_dim"), np.stack([x.T, x.T]))


@pytest.mark.parametrize("turns", ["pooled", "each"])
def test_values_in_a_scan(turns: str) -> None:
    x = np.stack([planted((40,), seed=i) for i in range(3)])
    x[1, 0] = 1.0

    def step(x: jax.Array) -> Any:
        return lax.scan(lambda c, row: (c + 1.0, row * 0.5), jnp.float32(0), x)

    record = of_function(step, x, turns=turns)
    halves = [v for v in record.variants[0].values if v.op == "stablehlo.multiply"]
    (stats,) = halves
    assert stats.inside == ("stablehlo.while",)
    assert "test_stats.py:" in stats.location
    rows = [(row * np.float32(0.5)).astype(np.float32) for row in x]
    if turns == "pooled":
        assert list(stats.turns) == [3]
        assert_is(stats, _flushed(np.stack(rows)))
    else:
        assert stats.slots == 3
        assert list(stats.turns) == [1, 1, 1]
        for number, row in enumerate(rows):
            assert_is(stats, _flushed(row), number)
    carry = [v for v in record.variants[0].values if v.kind == "carry" and v.shape == ()]
    assert sum(carry[-1].count) == 3


def _flushed(values: Array) -> Array:
    """XLA on CPUs flushes the subnormal results of arithmetic."""
    tiny = np.finfo(np.float32).smallest_normal
    return np.where(np.abs(values) < tiny, np.float32(0), values)


def test_values_of_a_called_function_have_the_names_of_its_calls() -> None:
    @jax.jit
    def inner(x: jax.Array) -> jax.Array:
        return x[::-1]

    x = planted((50,))

    def step(x: jax.Array) -> Any:
        with jax.named_scope("first"):
            a = inner(x)
        with jax.named_scope("second"):
            return a, inner(a[:40])

    record = of_function(step, x)
    first, second = (find(record, "reverse", i) for i in range(2))
    assert_is(first, x[::-1])
    assert_is(second, x[::-1][:40][::-1])
    assert "first" in first.name
    assert "second" in second.name
    assert first.id != second.id


@pytest.mark.parametrize("taken", [True, False])
def test_values_of_a_branch(taken: bool) -> None:
    x = planted((50,))

    def step(x: jax.Array, flag: jax.Array) -> Any:
        return lax.cond(flag, lambda v: v[::-1], lambda v: jnp.concatenate([v, v])[:50], x)

    record = of_function(step, x, np.bool_(taken))
    reverse, double = find(record, "reverse"), find(record, "concatenate")
    ran, idle = (reverse, double) if taken else (double, reverse)
    assert_is(ran, x if taken else np.concatenate([x, x]))
    assert list(ran.turns) == [1]
    assert list(idle.turns) == [0]
    assert all(getattr(idle, name) == (0,) for name in COLUMNS)
    assert idle.histogram.sample == 0


def test_a_loop_whose_turns_are_not_known_is_pooled() -> None:
    def step(x: jax.Array, n: jax.Array) -> Any:
        return lax.fori_loop(0, n, lambda _, v: jnp.sort(v), x)

    record = of_function(step, planted((50,))[:40], np.int32(4), turns="each")
    stats = find(record, "sort")
    assert list(stats.turns) == [4]
    assert "not known" in record.remarks[0]


def test_a_sharded_step() -> None:
    """Statistics are those of all devices; each value is in parts."""
    found = eight_devices.run(sharded_stats.main)
    values = planted((16, 8))
    for name, count in classes(values).items():
        assert found["columns"][name] == [count], name
    assert found["turns"] == [1]
    assert found["shape"] == [4, 4]
    assert found["sample"] == values.size
    assert found["operands"] > 0


def test_integers_and_tokens_are_passed_on() -> None:
    text = """
    func.func @main(%i: tensor<3xi32>, %x: tensor<3xf32>) -> (tensor<3xi32>, tensor<3xf32>) {
      %t = stablehlo.create_token : !stablehlo.token
      %f = stablehlo.convert %i : (tensor<3xi32>) -> tensor<3xf32>
      %y = stablehlo.add %f, %x : tensor<3xf32>
      return %i, %y : tensor<3xi32>, tensor<3xf32>
    }"""
    record = of_text(text, np.array([1, 2, 3], np.int32), np.array([1, 0, -3], np.float32))
    assert [v.op for v in record.variants[0].values] == [
        "",
        "stablehlo.convert",
        "stablehlo.add",
    ]
    assert find(record, "add").zeros == (1,)


def test_symbolic_shapes_are_refined_by_the_inputs() -> None:
    b = export.symbolic_shape("b")[0]
    exported = program_of(lambda x: jnp.tanh(x @ x.T @ x).sum(0), shaped(b, 3))
    samples = [(np.ones((5, 3), np.float32),)]
    record = collect_stats(exported, samples, profile=calibrate(exported, samples))
    assert find(record, "tanh").shape == (5, 3)
    assert find(record, "argument").name == "x"
    with pytest.raises(UsageError, match="other shapes"):
        collect_stats(exported, [*samples, (np.ones((6, 3), np.float32),)], steps=2)


def descent(params: dict[str, jax.Array], x: jax.Array) -> Any:
    def loss(params: dict[str, jax.Array]) -> jax.Array:
        return ((jnp.tanh(x @ params["w"]) @ params["v"]) ** 2).mean()

    grads = jax.grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.3 * g, params, grads)


def parameters() -> dict[str, Array]:
    rng = np.random.default_rng(1)
    w, v = rng.standard_normal((16, 32)) / 4, rng.standard_normal((32, 32)) / 8
    return {"w": w.astype(np.float32), "v": v.astype(np.float32)}


def given() -> tuple[Any, dict[str, Array], Array]:
    """A program, and what it takes."""
    params, (batch,) = parameters(), batches(1)
    return program_of(descent, params, batch), params, batch


def batches(count: int) -> list[Array]:
    return normals(*[(32, 16)] * count, seed=2)


@pytest.mark.parametrize("carry", [True, False])
def test_steps_take_batches_in_turn_and_carry_state(carry: bool) -> None:
    """The numbers are small integers, so that the sums are exact."""

    def step(params: Any, x: Any) -> Any:
        return {"w": params["w"] + x.T @ x}

    rng = np.random.default_rng(2)
    params, *given = rng.integers(-8, 8, (3, 16, 16)).astype(np.float32)
    exported = program_of(step, {"w": params}, given[0])
    samples = [({"w": params}, batch) for batch in given]
    record = collect_stats(exported, samples, steps=3, carry=carry)
    assert record.steps == (0, 1, 2)
    stats = {v.name: v for v in record.variants[0].values if v.kind == "argument"}
    state = {"w": params}
    for number in range(3):
        assert_is(stats["params['w']"], state["w"], number)
        assert_is(stats["x"], given[number % 2], number)
        state = step(state, given[number % 2]) if carry else state


@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_delayed_scales_are_measured_by_steps_on_the_inputs(signature: str) -> None:
    """In the first step, f8 has the data that it has with scales of the step itself."""
    params, (batch,) = parameters(), batches(1)
    exported = export.export(jax.jit(descent))(params, batch)
    casts: list[list[tuple[float, ...]]] = []
    for recipe in ("fp8-delayed", "fp8-current"):
        options: dict[str, Any] = {"recipe": recipe, "settings": {"matmul.smallest": 16}}
        record = collect_stats(
            exported, [(params, batch)], steps=2, carry=True, signature=signature, **options
        )
        values = record.variants[1].values
        assert record.steps == (0, 1)
        assert all(np.isfinite(value.amax).all() for value in values)
        narrow = [v for v in values if v.dtype.startswith("f8")]
        casts.append([v.amax for v in narrow if v.op == "stablehlo.convert"])
    delayed, current = casts
    assert len(delayed) == len(current) >= 6
    assert [first for first, _ in delayed] == [first for first, _ in current]
    assert all(amax <= 57344 for pair in delayed for amax in pair)


def test_a_step_without_state_has_none_to_carry() -> None:
    exported = program_of(lambda x: x.sum(), np.ones(3, np.float32))
    with pytest.raises(UsageError, match="no result of the program"):
        collect_stats(exported, [(np.ones(3, np.float32),)], steps=2, carry=True)


@pytest.mark.slow  # Not for its time: the fast tests run without XLA's optimizations.
@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_a_rewrite_has_the_same_values_as_data_and_scales(signature: str) -> None:
    """Under `propagate`, data times scale are the original's values, bit for bit.

    XLA rounds both alike only if it fuses both alike, as it does with its default optimizations.
    """
    exported, params, batch = given()
    record = collect_stats(
        exported,
        [(params, batch)],
        recipe="propagate",
        signature=signature,
        input_scale={"*": 2.0**-3} if signature == "same" else None,
        steps=2,
        carry=True,
    )
    pairs = [pair for pair in record.beside() if None not in pair]
    without = [old.op for old, new in record.beside() if new is None and old is not None]
    # Constants are folded, and the products of gradients with one take up the rescaling as well.
    assert set(without) <= {"stablehlo.constant", *FOLDED}
    assert without.count("stablehlo.multiply") <= 2
    shifted = 0
    for original, rewritten in pairs:
        assert original is not None
        assert rewritten is not None
        assert rewritten.scales is not None
        for step, scale in enumerate(rewritten.scales):
            if scale is None:
                assert rewritten.amax[step] == 0
                continue
            shifted += scale != 0
            for name in ("rms", "amax", "smallest"):
                found, expected = (getattr(one, name)[step] for one in (rewritten, original))
                assert found * 2.0**scale == pytest.approx(expected, rel=1e-6), rewritten.id
    assert shifted > len(pairs) / 2


def test_casts_of_a_recipe_are_values_of_the_rewrite_only() -> None:
    exported, params, batch = given()
    record = collect_stats(
        exported, [(params, batch)], recipe="fp8", settings={"matmul.smallest": 16}
    )
    added = [new for old, new in record.beside() if old is None and new is not None]
    assert {"f8E4M3FN", "f8E5M2"} <= {value.dtype for value in added}
    assert record.variants[1].recipe.startswith("scalify-hlo")
    assert all(v.scales is None for v in record.variants[0].values)


def test_values_are_selected_by_name() -> None:
    exported, params, batch = given()
    record = collect_stats(exported, [(params, batch)], values="*tanh")
    assert [v.op for v in record.variants[0].values] == ["stablehlo.tanh"]
    record = collect_stats(exported, [(params, batch)], values="params['w']")
    assert [v.name for v in record.variants[0].values] == ["params['w']"]
    with pytest.raises(UsageError, match=r"matches no float value \(did you mean 'tanh'"):
        collect_stats(exported, [(params, batch)], values="tahn")


def test_no_samples_are_refused() -> None:
    samples: Sequence[Any] = []
    with pytest.raises(UsageError, match="no inputs"):
        collect_stats("func.func @main(%x: tensor<f32>) { return }", samples)


def test_values_without_a_line_have_no_location() -> None:
    """A name stack alone is no source location."""
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %a = stablehlo.negate %x : tensor<4xf32> loc("jit(step)/neg")
      %b = stablehlo.exponential %a : tensor<4xf32> loc("jit(step)/exp"("model.py":3:5))
      return %b : tensor<4xf32>
    }
    """
    record = collect_stats(text, [[np.ones(4, np.float32)]])
    found = {value.op: value.location for value in record.variants[0].values}
    assert found["stablehlo.negate"] == ""
    assert found["stablehlo.exponential"] == "model.py:3:5"


def test_progress_is_told_before_the_program_is_compiled() -> None:
    told: list[tuple[int, int]] = []
    program = readable(stablehlo_of(jnp.sin, np.ones(4, np.float32)))
    request = run.Request(steps=2)
    run.collect_stats(program, [[np.ones(4)]], request, None, lambda *parts: told.append(parts))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def measured(step: Any, *arguments: Any) -> tuple[int, int]:
    """The numbers of calls and of functions that measure the values of a program."""
    text = stablehlo_of(step, *arguments)
    prepared = Programs(read_text(text).module, "step", Selection()).original
    asm: str = prepared.module.operation.get_asm(enable_debug_info=False)
    reduced, scattered = asm.count("stablehlo.reduce("), asm.count('"stablehlo.scatter"(')
    assert reduced == scattered
    calls = re.findall(r"call @measure_\d+_\d+_\w*\(.*inlineable = \"false\"", asm)
    return len(calls), reduced


def test_values_of_one_size_are_measured_together() -> None:
    def step(x: jax.Array, y: jax.Array) -> Any:
        for _ in range(10):
            x, y = jnp.sin(x), jnp.cos(y)
        return x, y

    x, other = np.ones((4, 6), np.float32), np.ones((6, 4), np.float32)
    assert measured(step, x, other) == (1, 1)
    assert measured(step, x, other.astype(np.float16)) == (2, 2)


def test_tables_of_one_type_share_a_function() -> None:
    """XLA compiles a kernel once for values of about one size, however many there are."""

    def step(x: jax.Array, y: jax.Array) -> Any:
        for _ in range(10):
            x, y = jnp.sin(x), jnp.cos(y)
        return x, y

    assert measured(step, np.ones(24, np.float32), np.ones(5, np.float32)) == (2, 1)
    assert measured(step, np.ones((300, 1000), np.float32), np.ones(9, np.float32))[1] == 2


def test_large_values_are_measured_by_themselves() -> None:
    def step(x: jax.Array) -> jax.Array:
        return jnp.cos(jnp.sin(x))

    assert measured(step, np.ones((3000, 1000), np.float32)) == (3, 1)
    assert measured(step, np.ones((300, 100), np.float32)) == (1, 1)
