"""Scales and levels of regions with known units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from scalify_hlo._compat import ir, passmanager, register_passes
from scalify_hlo.transforms.chlo import expand
from tests.py.rules.test_regions import MAP, REDUCE, REGIONS, arrays_for, check, text_of
from tests.py.shared.judge import Array, assert_invariant, evaluate, parse, rewritten

READING = {
    "convert to fewer bits of exponent": REGIONS["convert"],
    "reduce precision to fewer bits of exponent": (
        "%r = stablehlo.reduce_precision %a, format = e8m23 : $s"
    ),
    "an op with a region that reads from outside of it": (
        "p = GT a zero;"
        '%r = "stablehlo.if"(%p) ({; %t = stablehlo.sine %b : $s; stablehlo.return %t : $s; }, {;'
        "stablehlo.return %half : $s; }) : ($s_i1) -> $s"
    ),
}
READING |= {
    "a sum with a narrower number": (
        "%0 = stablehlo.convert %a : ($s) -> tensor<f32>;"
        "%q = stablehlo.convert %0 : (tensor<f32>) -> $s; r = add q b"
    ),
    "a sum with a number of less precision": (
        "%q = stablehlo.reduce_precision %a, format = e8m23 : $s; r = add q b"
    ),
    "a sum with a root": "s = abs a; q = sqrt s; r = add q b",
    "a sum with a wave": "q = sine a; r = add q b",
}


def check_map(text: str) -> None:
    check(text, 3, [(4,), (4,), (4,), ()], (2, -1, 1, 2), (True,) * 4)


@pytest.mark.parametrize("name", READING)
def test_reads_values(name: str) -> None:
    text = text_of(MAP, [READING[name], "return r"], 4)
    _, report = rewritten(text, "scaled")
    assert [remark.op for remark in report.remarks] == ["stablehlo.map"]
    check_map(text)


CONVERSIONS = {
    ("f32", "f64"): True,
    ("f16", "bf16"): True,
    ("f16", "f8E5M2"): True,
    ("bf16", "f16"): False,
    ("f64", "f32"): False,
    ("f8E4M3FN", "f8E4M3B11FNUZ"): False,  # more small numbers, fewer large ones
    ("f8E4M3B11FNUZ", "f8E4M3FN"): False,  # more large numbers, fewer small ones
    ("f32", "i32"): False,
}
"""Types, and whether a conversion from one to the other keeps all exponents."""


@pytest.mark.parametrize(("types", "keeps"), CONVERSIONS.items())
def test_a_conversion_keeps_the_scale_if_it_keeps_all_exponents(
    types: tuple[str, str], keeps: bool
) -> None:
    source, target = types
    text = f"""
func.func @main(%x: tensor<4x{source}>) -> tensor<4x{target}> {{
  %0 = "stablehlo.map"(%x) <{{dimensions = array<i64: 0>}}> ({{
  ^bb0(%a: tensor<{source}>):
    %1 = stablehlo.convert %a : (tensor<{source}>) -> tensor<{target}>
    stablehlo.return %1 : tensor<{target}>
  }}) : (tensor<4x{source}>) -> tensor<4x{target}>
  return %0 : tensor<4x{target}>
}}"""
    _, report = rewritten(text, "scaled")
    assert [result.scale for result in report.results] == ["s0" if keeps else "unscaled"]
    assert bool(report.remarks) != keeps


def test_integers_are_made_of_values() -> None:
    convert = "%i = stablehlo.convert %a : ($s) -> $i; %r = stablehlo.convert %i : ($i) -> $s"
    text = text_of(MAP, [convert, "return r"], 4).replace("$i", "tensor<i32>")
    check_map(text)


FORMS = {
    "zero and inf fit any scale together": ("s = maximum zero inf; r = add a s", "s0"),
    "so does a product with zero": ("s = multiply a zero; r = minimum s inf", "any"),
    "the last unknown follows from the others": ("s = multiply a b; r = add s c", "s0*s1"),
    "the unit of a quotient": ("s = divide a b; r = maximum s c", "s0*s1^-1"),
    "a root of a square": ("s = multiply a a; r = sqrt s", "s0"),
    "a fourth power": ("s = multiply a a; r = multiply s s", "s0^4"),
    "a fifth power, which data cannot follow": (
        "s = multiply a a; t = multiply s s; r = multiply t a",
        "unscaled",
    ),
    "a fifth power of several": (
        "s = multiply a a; t = multiply s s; u = multiply t a; r = multiply u b",
        "unscaled",
    ),
}
"""Regions of a map, and the scale of its result."""


@pytest.mark.parametrize("name", FORMS)
def test_the_scale_of_a_result_is_what_its_unit_says(name: str) -> None:
    region, scale = FORMS[name]
    text = text_of(MAP, [region, "return r"], 4)
    _, report = rewritten(text, "scaled")
    assert [result.scale for result in report.results] == [scale]
    assert bool(report.remarks) == (scale == "unscaled")
    check_map(text)


def test_a_result_that_is_read_next_is_not_moved_before() -> None:
    """Arguments are at hand at scale 1, so a sum of them that is read takes no factor at all."""
    text = text_of(MAP, ["r = add a b", "return r"], 4)
    read = text.replace("return %0", "%1 = stablehlo.exponential %0 : tensor<4xf64>\n  return %1")
    module, _ = rewritten(read, "same", input_scale={"arg0": 8.0, "arg1": 0.5})
    assert "stablehlo.multiply" not in str(module)


def test_it_is_the_result_of_the_operands_that_counts() -> None:
    """Of two reductions in one op, one is read at scale 1 and takes no factor."""
    text = text_of(REDUCE, ["r = add a c; s = maximum b d", "return r s"], 2)
    text = text.replace("%captured: tensor<f64>", "%i: tensor<f64>").replace(
        "%y, %zero,", "%y, %i,"
    )
    ends = """%1 = stablehlo.FIRST %0#0 : tensor<f64>
  %2 = stablehlo.SECOND %0#1 : tensor<f64>
  return %1, %2"""
    text = text.replace("return %0#0, %0#1", ends)
    scales = {"arg0": 8.0, "arg1": 8.0, "arg2": 0.5, "arg3": 0.5}
    for first, second in (("exponential", "negate"), ("negate", "exponential")):
        one = text.replace("FIRST", first).replace("SECOND", second)
        module, _ = rewritten(one, "same", input_scale=scales)
        assert str(module).count("stablehlo.multiply") == 3


@pytest.mark.parametrize("op", ["multiply", "divide"])
def test_a_product_that_meets_a_constant_brings_one_factor_to_the_other(op: str) -> None:
    """It has no unit, and its factors have: they are units of each other."""
    text = text_of(MAP, [f"s = {op} a b; r = add s half", "return r"], 4)
    _, report = rewritten(text, "scaled")
    assert not report.remarks
    assert [result.scale for result in report.results] == ["unscaled"]
    check_map(text)


_LEVELS = """
func.func @main(%x: tensor<256x4xf32>, %y: tensor<1024x4xf32>, %p: $b) -> (RESULTS) {
  %start = stablehlo.constant dense<0.0> : $s
  %low = stablehlo.constant dense<0xFF800000> : $s
  %zeros = stablehlo.constant dense<0.0> : $n
  %four = stablehlo.reduce(%x init: %start) applies stablehlo.add across dimensions = [0]
    : (tensor<256x4xf32>, $s) -> $n
  %five = stablehlo.reduce(%y init: %start) applies stablehlo.add across dimensions = [0]
    : (tensor<1024x4xf32>, $s) -> $n
  %none = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [0]
    : (tensor<256x4xf32>, $s) -> $n
  STATEMENTS
}"""
_LOOP = """%0 = stablehlo.while(%a = FIRST) : $n
  cond {
    stablehlo.return %p : $b
  } do {
    stablehlo.return NEXT : $n
  }
  return %0 : $n"""


def _loop(first: str, following: str) -> str:
    return _LOOP.replace("FIRST", first).replace("NEXT", following)


LEVELS = {
    "of sums": ("return %four, %five, %none : $n, $n, $n", "2^4*s0 2^5*s1 s0"),
    "of a power": (
        """%1 = stablehlo.reshape %four : ($n) -> tensor<2x2xf32>
  %one = stablehlo.constant dense<1.0> : $s
  %0 = stablehlo.reduce(%1 init: %one) applies stablehlo.multiply across dimensions = [0]
    : (tensor<2x2xf32>, $s) -> tensor<2xf32>
  return %0 : tensor<2xf32>""",
        "2^8*s0^2",
    ),
    "of what a region computes of sums": (
        """%0 = "stablehlo.map"(%four, %five) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: $s, %b: $s):
    %1 = stablehlo.multiply %a, %a : $s
    %2 = stablehlo.divide %1, %b : $s
    stablehlo.return %2 : $s
  }) : ($n, $n) -> $n
  return %0 : $n""",
        "2^3*s0^2*s1^-1",
    ),
    "of either branch: the one nearest to unit": (
        """%0:2 = "stablehlo.if"(%p) ({
    stablehlo.return %four, %four : $n, $n
  }, {
    stablehlo.return %none, %zeros : $n, $n
  }) : ($b) -> ($n, $n)
  return %0#0, %0#1 : $n, $n""",
        "s0 2^4*s0",
    ),
    "of a loop: the larger one of its start's and its body's": (_loop("%none", "%four"), "2^4*s0"),
    "of a loop that starts with a sum": (_loop("%four", "%none"), "2^4*s0"),
    "of a loop whose body ends with zeros": (_loop("%four", "%zeros"), "2^4*s0"),
    "of a loop that starts with zeros": (_loop("%zeros", "%five"), "2^5*s1"),
    "of a loop of zeros alone": (_loop("%zeros", "%a"), "any"),
}
"""Statements, and the scales with which their results are near unit, as far as rules know."""


@pytest.mark.parametrize("name", LEVELS)
def test_levels(name: str) -> None:
    statements, scales = LEVELS[name]
    types = statements.rpartition(" : ")[2]
    text = _LEVELS.replace("STATEMENTS", statements).replace("RESULTS", types)
    text = text.replace("$n", "tensor<4xf32>").replace("$b", "tensor<i1>")
    _, report = rewritten(text.replace("$s", "tensor<f32>"), "scaled")
    assert [result.scale for result in report.results] == scales.split()


def _calls(depth: int, starts: Sequence[int]) -> str:
    """A map whose region calls functions that call the next one, so many deep from number 0 on."""
    names = ["a", *(f"v{number}" for number in range(len(starts)))]
    inner = "\n    ".join(
        f"%{name} = func.call @f{start}(%{before}) : ($s) -> $s"
        for start, before, name in zip(starts, names, names[1:], strict=False)
    )
    functions = "".join(
        f"""
func.func private @f{number}(%a: $s) -> $s {{
  %0 = func.call @f{number + 1}(%a) : ($s) -> $s
  return %0 : $s
}}"""
        for number in range(depth - 1)
    )
    last = f"""
func.func private @f{depth - 1}(%a: $s) -> $s {{
  %0 = stablehlo.abs %a : $s
  return %0 : $s
}}"""
    return text_of(MAP + functions + last, [inner, f"return {names[-1]}"], 4)


@pytest.mark.parametrize(
    ("depth", "starts", "reads"),
    [
        (8, [0], False),
        (9, [0], True),
        (9, [8, 8, 7, 1], False),
        (9, [8, 8, 7, 0], True),
        (2, [0] * 9, False),
    ],
)
def test_functions_are_looked_into_to_a_depth(
    depth: int, starts: Sequence[int], reads: bool
) -> None:
    text = _calls(depth, starts)
    _, report = rewritten(text, "scaled")
    assert bool(report.remarks) == reads
    check_map(text)


@pytest.mark.parametrize(("carries", "kept"), [(4, True), (5, False)])
def test_a_chain_of_carries_that_start_with_zeros(carries: int, kept: bool) -> None:
    """Each round of trying the body finds the scale of one more."""
    names = [f"a{i}" for i in range(carries)]
    starts = ", ".join(f"%{name} = %zeros" for name in names)
    ends = ", ".join(f"%{name}" for name in ("x", *names[:-1]))
    types = ", ".join("$n" for _ in names)
    results = ", ".join(f"%0#{i}" for i in range(carries))
    text = f"""
func.func @main(%x: $n, %n: tensor<i32>) -> ({types}) {{
  %zeros = stablehlo.constant dense<0.0> : $n
  %one = stablehlo.constant dense<1> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %0:{carries + 1} = stablehlo.while({starts}, %i = %none) : {types}, tensor<i32>
  cond {{
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }} do {{
    %1 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return {ends}, %1 : {types}, tensor<i32>
  }}
  return {results} : {types}
}}""".replace("$n", "tensor<4xf64>")
    _, report = rewritten(text, "scaled")
    assert [result.scaled for result in report.results] == [True] * 4 + [kept] * (carries - 4)
    for turns in (0, 2, 6):
        data = [*arrays_for(turns, [(4,)]), np.asarray(turns, np.int32)]
        assert_invariant(text, data, (3, 0))


_SCAN = """
func.func @main(%x: tensor<5x4xf64>, %y: $n) -> (tensor<5x4xf64>, $n) {
  %0:2 = "chlo.scan"(%x, %y) ({
  ^bb0(%a: $n, %b: $n):
    %1 = stablehlo.add %a, %b : $n
    %2 = stablehlo.negate %1 : $n
    "stablehlo.return"(%2, %1) : ($n, $n) -> ()
  }) {
    dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<5x4xf64>, $n) -> (tensor<5x4xf64>, $n)
  return %0#0, %0#1 : tensor<5x4xf64>, $n
}""".replace("$n", "tensor<4xf64>")


def evaluate_scan(module: ir.Module, arrays: Sequence[Array]) -> list[Array]:
    """Runs a program whose expansion may have ops that the interpreter lacks."""
    register_passes()
    with module.context:
        expand(module.operation)
        pipeline = "builtin.module(func.func(stablehlo-legalize-deprecated-ops))"
        passmanager.PassManager.parse(pipeline).run(module.operation)
    return evaluate(module, arrays)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_is_what_numpy_makes_of_it(reverse: bool) -> None:
    text = _SCAN.replace("is_reverse = false", f"is_reverse = {str(reverse).lower()}")
    x, y = arrays_for(0, [(5, 4), (4,)])
    every, last = evaluate_scan(parse(text), [x, y])
    order = slice(None, None, -1 if reverse else 1)
    sums = np.cumsum(np.concatenate([y[None], x[order]]), axis=0)[1:]
    np.testing.assert_array_equal(last, sums[-1])
    np.testing.assert_array_equal(every, -sums[order])
    assert_invariant(text, [x, y], (2, -1), run=evaluate_scan)
