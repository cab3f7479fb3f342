"""Random programs: rules that are right one by one are right together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scalify_hlo.recipe import Recipe
from tests.py.judge import Array, assert_invariant, run_plain

TYPE = "tensor<3x3xf32>"
ROW = "tensor<3xf32>"
ONE = "tensor<f32>"
MASK = "tensor<3x3xi1>"
ARGUMENTS = 3
REACH = 50
"""Values of programs lie within 2^±REACH, so that no factor takes them out of f32."""

BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum")
UNARY = ("negate", "abs", "tanh", "sign", "exponential")
CONSTANTS = ("0.0", "1.0", "-0.3", "3.0e3", "2.5e-4", "0xFF800000")
TEXTS = {
    "constant": "%{r} = stablehlo.constant dense<{constant}> : " + TYPE,
    "transpose": f"%{{r}} = stablehlo.transpose %{{a}}, dims = [1, 0] : ({TYPE}) -> {TYPE}",
    "dot": f"%{{r}} = stablehlo.dot_general %{{a}}, %{{b}}, contracting_dims = [1] x [0] "
    f": ({TYPE}, {TYPE}) -> {TYPE}",
    "root": f"""%{{r}}_abs = stablehlo.abs %{{a}} : {TYPE}
  %{{r}} = stablehlo.sqrt %{{r}}_abs : {TYPE}""",
    "select": f"""%{{r}}_p = stablehlo.compare LT, %{{a}}, %{{b}} : ({TYPE}, {TYPE}) -> {MASK}
  %{{r}} = stablehlo.select %{{r}}_p, %{{b}}, %{{c}} : {MASK}, {TYPE}""",
    "sum": f"""%{{r}}_i = stablehlo.constant dense<0.0> : {ONE}
  %{{r}}_s = stablehlo.reduce(%{{a}} init: %{{r}}_i) applies stablehlo.add across dimensions = [1]
    : ({TYPE}, {ONE}) -> {ROW}
  %{{r}} = stablehlo.broadcast_in_dim %{{r}}_s, dims = [0] : ({ROW}) -> {TYPE}""",
    "max": f"""%{{r}}_i = stablehlo.constant dense<0xFF800000> : {ONE}
  %{{r}}_s = stablehlo.reduce(%{{a}} init: %{{r}}_i) applies stablehlo.maximum
    across dimensions = [0] : ({TYPE}, {ONE}) -> {ROW}
  %{{r}} = stablehlo.broadcast_in_dim %{{r}}_s, dims = [1] : ({ROW}) -> {TYPE}""",
    "if": f"""%{{r}}_e = stablehlo.slice %{{a}} [0:1, 1:2] : ({TYPE}) -> tensor<1x1xf32>
  %{{r}}_f = stablehlo.reshape %{{r}}_e : (tensor<1x1xf32>) -> {ONE}
  %{{r}}_z = stablehlo.constant dense<0.0> : {ONE}
  %{{r}}_p = stablehlo.compare LT, %{{r}}_f, %{{r}}_z : ({ONE}, {ONE}) -> tensor<i1>
  %{{r}} = "stablehlo.if"(%{{r}}_p) ({{{{
    %{{r}}_t = stablehlo.{{inner}} %{{b}}, %{{c}} : {TYPE}
    stablehlo.return %{{r}}_t : {TYPE}
  }}}}, {{{{
    %{{r}}_t = stablehlo.add %{{b}}, %{{a}} : {TYPE}
    stablehlo.return %{{r}}_t : {TYPE}
  }}}}) : (tensor<i1>) -> {TYPE}""",
    "while": f"""%{{r}}_z = stablehlo.constant dense<{{constant}}> : {TYPE}
  %{{r}}_n = stablehlo.constant dense<2> : tensor<i32>
  %{{r}}_1 = stablehlo.constant dense<1> : tensor<i32>
  %{{r}}_w:4 = stablehlo.while(%{{r}}_a = %{{a}}, %{{r}}_s = %{{r}}_z, %{{r}}_o = %{{r}}_z,
    %{{r}}_i = %{{r}}_1) : {TYPE}, {TYPE}, {TYPE}, tensor<i32>
  cond {{{{
    %{{r}}_p = stablehlo.compare LE, %{{r}}_i, %{{r}}_n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %{{r}}_p : tensor<i1>
  }}}} do {{{{
    %{{r}}_b = stablehlo.{{inner}} %{{r}}_a, %{{b}} : {TYPE}
    %{{r}}_t = stablehlo.add %{{r}}_s, %{{r}}_b : {TYPE}
    %{{r}}_u = func.call @mix(%{{r}}_t, %{{c}}) : ({TYPE}, {TYPE}) -> {TYPE}
    %{{r}}_j = stablehlo.add %{{r}}_i, %{{r}}_1 : tensor<i32>
    stablehlo.return %{{r}}_b, %{{r}}_u, %{{r}}_s, %{{r}}_j : {TYPE}, {TYPE}, {TYPE}, tensor<i32>
  }}}}
  %{{r}}_x = stablehlo.maximum %{{r}}_w#1, %{{r}}_w#2 : {TYPE}
  %{{r}} = stablehlo.subtract %{{r}}_x, %{{r}}_w#0 : {TYPE}""",
    "call": f"%{{r}} = call @mix(%{{a}}, %{{b}}) : ({TYPE}, {TYPE}) -> {TYPE}",
    **{op: f"%{{r}} = stablehlo.{op} %{{a}}, %{{b}} : {TYPE}" for op in BINARY},
    **{op: f"%{{r}} = stablehlo.{op} %{{a}} : {TYPE}" for op in UNARY},
}
CALLEE = f"""
func.func private @mix(%a: {TYPE}, %b: {TYPE}) -> {TYPE} {{
  %0 = stablehlo.multiply %a, %b : {TYPE}
  %1 = stablehlo.subtract %0, %a : {TYPE}
  return %1 : {TYPE}
}}"""


@dataclass(frozen=True)
class Step:
    """An op on earlier values, by number."""

    op: str
    a: int
    b: int
    c: int
    constant: str
    inner: str

    def text(self, number: int) -> str:
        """The step as the one that makes value `number`."""
        a, b, c = (f"v{i % number}" for i in (self.a, self.b, self.c))
        names = {"r": f"v{number}", "a": a, "b": b, "c": c}
        return TEXTS[self.op].format(**names, constant=self.constant, inner=self.inner)


numbers = st.integers(0, 11)
steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(sorted(TEXTS)),
        numbers,
        numbers,
        numbers,
        st.sampled_from(CONSTANTS),
        st.sampled_from(BINARY),
    ),
    min_size=2,
    max_size=9,
)


def program(body: list[Step], returned: list[int]) -> str:
    """The program that returns some of its values."""
    arguments = ", ".join(f"%v{i}: {TYPE}" for i in range(ARGUMENTS))
    lines = [step.text(ARGUMENTS + i) for i, step in enumerate(body)]
    results = ", ".join(f"%v{i}" for i in returned)
    types = ", ".join([TYPE] * len(returned))
    text = "\n  ".join(lines)
    main = (
        f"func.func @main({arguments}) -> ({types}) {{\n  {text}\n  return {results} : {types}\n}}"
    )
    return f"{main}{CALLEE}"


def in_range(arrays: list[Array]) -> bool:
    """Whether all numbers are such that no scale of these programs takes them out of f32."""
    values = np.abs(np.concatenate([a.ravel() for a in arrays]))
    finite = values[np.isfinite(values) & (values != 0)]
    return not finite.size or bool(np.log2(finite.max()) < REACH and np.log2(finite.min()) > -REACH)


@settings(max_examples=200)
@given(
    body=steps,
    seed=st.integers(0, 2**32 - 1),
    exponents=st.lists(st.integers(-6, 6), min_size=ARGUMENTS, max_size=ARGUMENTS),
    pairs=st.lists(st.sampled_from((True, True, False)), min_size=ARGUMENTS, max_size=ARGUMENTS),
    recipe=st.sampled_from((Recipe(), Recipe(meet="max"))),
    also=st.lists(numbers, max_size=2),
)
def test_random_programs(
    body: list[Step],
    seed: int,
    exponents: list[int],
    pairs: list[bool],
    recipe: Recipe,
    also: list[int],
) -> None:
    rng = np.random.default_rng(seed)
    arrays: list[Array] = [rng.standard_normal((3, 3), dtype=np.float32) for _ in range(ARGUMENTS)]
    count = ARGUMENTS + len(body)
    everything = program(body, list(range(count)))
    assume(in_range(run_plain(everything, arrays, exponents)))
    text = program(body, [count - 1, *(i % count for i in also)])
    assert_invariant(text, arrays, exponents, recipe=recipe, pairs=pairs)
