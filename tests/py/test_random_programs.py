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
    "constant": "%{r} = stablehlo.constant dense<{c}> : " + TYPE,
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

    def text(self, number: int) -> str:
        """The step as the one that makes value `number`."""
        c = self.constant if self.op == "constant" else f"v{self.c % number}"
        a, b = f"v{self.a % number}", f"v{self.b % number}"
        return TEXTS[self.op].format(r=f"v{number}", a=a, b=b, c=c)


numbers = st.integers(0, 11)
steps = st.lists(
    st.builds(
        Step, st.sampled_from(sorted(TEXTS)), numbers, numbers, numbers, st.sampled_from(CONSTANTS)
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


@settings(max_examples=150)
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
