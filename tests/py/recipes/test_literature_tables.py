"""The ingredients of recipes of the literature in emitted programs, by the tables of the papers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo import load_recipe
from scalify_hlo._compat import ir
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.recipes.sources import source_of
from scalify_hlo.recipes.toml import literature_names
from tests.py.shared.emitted import (
    BATCH,
    MIDDLE,
    SEQUENCE,
    SHAPES,
    WIDTH,
    Matmul,
    by_kind,
    element_of,
    matmuls,
    rewritten,
    step,
)
from tests.py.shared.judge import main_of, parse, program_of

# The tables of the papers.


class Blocks(NamedTuple):
    """The blocks of a format.

    Attributes:
        size: The number of terms in a block.
        square: Whether those of weights are squares.
        scale: The element type of their scales.
    """

    size: int
    square: bool
    scale: str


class Said(NamedTuple):
    """The ingredients of a recipe in its paper, or in the documentation of its library.

    Attributes:
        forward: The format of activations and weights.
        gradient: The format of gradients in matmuls.
        wide: The kinds of matmuls that stay wide.
        blocks: The blocks of scales, if there are any.
        rows: The kinds of matmuls in which data and weights have a scale for each row.
        random: The number of operands that are rounded at random, by kinds of matmuls.
        mixed: The kinds of matmuls whose operands get a Hadamard transform.
        exact: Whether scales are exact, and no powers of two.
        measured: Whether scales follow from the operand.
    """

    forward: str
    gradient: str
    wide: str = "head product"
    blocks: Blocks | None = None
    rows: Mapping[str, str] = {}
    random: Mapping[str, int] = {}
    mixed: str = ""
    exact: bool = False
    measured: bool = True


E4M3, E5M2, E2M1, E8M0 = "f8E4M3FN", "f8E5M2", "f4E2M1FN", "f8E8M0FNU"
ALL_ROWS: Final = {"forward": "data weight", "dgrad": "data weight", "wgrad": "data"}
TABLE: Final = {
    # Figure 6: FP8 in Fprop, Dgrad and Wgrad. Section 3.3.2: tiles of 1 x 128, blocks of 128 x 128.
    "deepseek-v3": Said(E4M3, E4M3, blocks=Blocks(128, square=True, scale="f32")),
    # E4M3 for all tensors, blocks of 32 with scales in E8M0.
    "nvidia-mxfp8": Said(E4M3, E4M3, blocks=Blocks(32, square=False, scale=E8M0)),
    "ocp-mxfp8": Said(E4M3, E4M3, blocks=Blocks(32, square=False, scale=E8M0)),
    # Section 4: 16 elements with scales in E4M3, 16 x 16 of weights, Hadamard transforms of inputs
    # of Wgrad, stochastic rounding of gradients alone.
    "nvidia-nvfp4": Said(
        E2M1,
        E2M1,
        blocks=Blocks(16, square=True, scale=E4M3),
        random={"dgrad": 1, "wgrad": 1},
        mixed="wgrad",
    ),
    # Algorithm 1: MXFP4 with Hadamard transforms forward and backward, stochastic backward.
    "quartet": Said(
        E2M1,
        E2M1,
        blocks=Blocks(32, square=False, scale=""),
        random={"dgrad": 1, "wgrad": 2},
        mixed="forward dgrad wgrad",
    ),
    # Abstract: NVFP4, round to nearest forward, stochastic in backward and update.
    "fp4-all-the-way": Said(
        E2M1,
        E2M1,
        blocks=Blocks(16, square=False, scale=E4M3),
        random={"dgrad": 1, "wgrad": 2},
    ),
    # Section 2 and MS-AMP: E4M3 forward, E5M2 for gradients of outputs, a scale for each tensor.
    "fp8-lm": Said(E4M3, E5M2),
    # `fabit` and `fwbit` are E4M3, `bobit` is E5M2; linear layers have a scale for each tensor.
    "coat": Said(E4M3, E5M2),
    # All hidden linear layers in FP8, E4M3 forward and E5M2 backward.
    "munit-scaling": Said(E4M3, E5M2, measured=False),
    "u-mup-fp8": Said(E4M3, E5M2, measured=False),
    # `Format.HYBRID`, and a scaling factor of FP8_MAX / amax.
    "te-delayed": Said(E4M3, E5M2, measured=False),
    "te-current": Said(E4M3, E5M2, exact=True),
    # The table of recipes: tensorwise has E5M2 gradients, rowwise E4M3 and powers of two.
    "torchao-tensorwise": Said(E4M3, E5M2, exact=True),
    "torchao-rowwise": Said(E4M3, E4M3, rows=ALL_ROWS),
    # output = input (axiswise) @ weight (axiswise); grad_input = grad_output (axiswise) @ weight
    # (tensorwise); grad_weight in high precision.
    "torchao-rowwise-gw-hp": Said(
        E4M3,
        E4M3,
        "head product wgrad",
        rows={"forward": "data weight", "dgrad": "data"},
        exact=True,
    ),
    # `bwd_qtype` None; axes that are not contracted are channelwise.
    "qwix": Said(E4M3, "", "head dgrad wgrad", rows={"forward": "data weight"}, exact=True),
    # `fwd_bits=8, dlhs_bits=8, drhs_bits=None`, calibration along contracting axes.
    "aqt": Said(E4M3, E4M3, "head wgrad", rows=ALL_ROWS, exact=True),
    # Section 3: E4M3 for weights and activations, E5M2 for gradients, all inputs of GEMMs.
    "micikevicius-2022": Said(E4M3, E5M2, "head"),
    # Abstract: 1.4.3 for activations and weights, 1.5.2 for gradients.
    "noune-2022": Said("f8E4M3FNUZ", "f8E5M2FNUZ", "head", measured=False),
}
TRAINING: Final = ("forward", "dgrad", "wgrad")
TOKENS: Final = BATCH * SEQUENCE
NAMES: Final = sorted(TABLE)


def named() -> list[str]:
    every = {name: source_of(name) for name in literature_names()}
    return [name for name, source in every.items() if source is not None and not source.baseline]


def test_every_recipe_is_in_the_table() -> None:
    assert sorted(named()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_operands_have_the_formats_of_the_source(name: str) -> None:
    said, kinds = TABLE[name], by_kind(name)
    assert [len(kinds[kind]) for kind in TRAINING] == [12, 12, 12]
    for kind, found in kinds.items():
        wide = [matmul for matmul in found if matmul.lhs.wide or matmul.rhs.wide]
        if kind in said.wide.split():
            assert len(wide) == len(found), kind
            continue
        # NVFP4 leaves the last of twelve layers wide. Those of Qwix are the forward products.
        outer = {"nvidia-nvfp4": 1, "qwix": 8 if kind == "product" else 0}.get(name, 0)
        assert len(wide) == outer, kind
        if kind in TRAINING:
            gradient = {said.gradient} if kind != "forward" else set()
            narrow = [{*matmul.formats} for matmul in found if matmul not in wide]
            assert narrow == [{said.forward} | gradient] * len(narrow), kind


def narrow_matmuls(name: str) -> list[Matmul]:
    found = [matmul for matmul in matmuls(name) if matmul.kind in TRAINING]
    return [matmul for matmul in found if not matmul.lhs.wide]


@pytest.mark.parametrize("name", [name for name in NAMES if TABLE[name].measured])
def test_scales_have_the_blocks_and_rows_of_the_source(name: str) -> None:
    said, weights = TABLE[name], {math.prod(shape) for shape in SHAPES.values()}
    for matmul in narrow_matmuls(name):
        assert matmul.scales == ("" if said.blocks is None else said.blocks.scale)
        for operand in (matmul.lhs, matmul.rhs):
            weight = matmul.kind != "wgrad" and operand.elements in weights
            if said.blocks is not None:
                rows, terms = operand.shape
                height = said.blocks.size if weight and said.blocks.square else 1
                assert operand.scale == (-(-rows // height), -(-terms // said.blocks.size))
            elif ("weight" if weight else "data") in said.rows.get(matmul.kind, ""):
                # The sizes of the result and of tokens give the size that is not summed over.
                free = matmul.elements // TOKENS if weight else TOKENS
                free = operand.elements // TOKENS if matmul.kind == "wgrad" else free
                assert math.prod(operand.scale) == free
            else:
                assert operand.scale == ()


@pytest.mark.parametrize("name", NAMES)
def test_rounding_and_transforms_are_where_the_source_has_them(name: str) -> None:
    said = TABLE[name]
    for matmul in narrow_matmuls(name):
        both = matmul.lhs, matmul.rhs
        assert sum(each.random for each in both) == said.random.get(matmul.kind, 0)
        assert all(each.mixed == (matmul.kind in said.mixed.split()) for each in both)
        assert all(each.exact == said.exact for each in both)


def test_the_rounding_of_scales_is_that_of_each_specification() -> None:
    """Of an amax of 500, 448 is the largest number: 2 is the least scale that saturates nothing."""
    x = np.zeros((32, 32), np.float32)
    x[0, 0] = 500.0
    found = {}
    for name in ("nvidia-mxfp8", "ocp-mxfp8"):
        program = scalify_hlo.rewrite(
            program_of(jnp.matmul, x, np.eye(32, dtype=np.float32)),
            recipe=load_recipe(name, {"matmul.exclude": [], "inputs.weight": ["*1"]}),
        )
        found[name] = float(program.call(x, np.eye(32, dtype=np.float32))[0, 0])
    assert found == {"nvidia-mxfp8": 512.0, "ocp-mxfp8": 448.0}


@pytest.mark.parametrize("name", ["munit-scaling", "u-mup-fp8", "noune-2022"])
def test_static_scales_take_no_statistic(name: str) -> None:
    def amaxes(program: jax.export.Exported) -> int:
        return str(program.mlir_module()).count("stablehlo.abs")

    assert amaxes(rewritten("te-current", signature="scaled")) > amaxes(step())
    assert amaxes(rewritten(name, signature="scaled")) == amaxes(step())


def test_one_bias_holds_for_all_gradients() -> None:
    """A scale of 2^-16 for each: they are 2^16 times as large in the format."""
    for matmul in narrow_matmuls("noune-2022"):
        for operand in (matmul.lhs, matmul.rhs):
            assert (operand.size == 2.0**16) == (operand.format == "f8E5M2FNUZ")


def test_the_first_and_the_last_layers_of_nvfp4_stay_wide() -> None:
    """Of 62 blocks, the first 2 and the last 8: of 48 linear layers, 1 and 6."""
    found = [matmul for matmul in matmuls("nvidia-nvfp4", 8) if matmul.kind == "forward"]
    assert [matmul.lhs.wide for matmul in found] == [True] + [False] * 41 + [True] * 6
    backward = [matmul for matmul in matmuls("nvidia-nvfp4", 8) if matmul.kind in TRAINING[1:]]
    assert sum(matmul.lhs.wide for matmul in backward) == 14


# Between steps.


STATE: Final = {
    "deepseek-v3": ("float32", "bfloat16", "bfloat16"),
    "fp8-lm": ("float16", "float8_e4m3fn", "float16"),
    "coat": ("float32", "float8_e4m3fn", "float8_e4m3fn"),
}
"""Section 3.3.2 of DeepSeek-V3, section 2.2 of FP8-LM, and section 4 of COAT: the dtypes of master
weights, first moments and second moments."""


@pytest.mark.parametrize("name", NAMES)
def test_state_is_stored_as_the_source_says(name: str) -> None:
    expected = STATE.get(name, ("float32",) * 3)
    program = rewritten(name, signature="scaled")
    (params, optimizer, *_), _ = jax.tree.unflatten(program.in_tree, program.in_avals)
    found = [tree["blocks"][1]["up"].data for tree in (params, optimizer[0].mu, optimizer[0].nu)]
    assert tuple(str(each.dtype) for each in found) == expected
    if name == "coat":  # A scale for each 128 numbers.
        scale = optimizer[0].mu["blocks"][1]["up"].scale
        assert scale.shape == (WIDTH, MIDDLE // 128)


def test_gradients_of_weights_are_e4m3_in_fp8_lm() -> None:
    """Each of 12 matrices, and those of the head and the embedding; no matmul reads them."""
    module = parse(rewritten("fp8-lm").mlir_module())
    casts = ops_in(main_of(module), where=lambda op: op.name == "stablehlo.convert")
    stored = [op for op in casts if element_of(op.results[0].type) == E4M3 and not _is_operand(op)]
    assert len(stored) == 14


def _is_operand(op: ir.Operation) -> bool:
    readers = [use.owner.operation.name for use in op.results[0].uses]
    return "stablehlo.optimization_barrier" not in readers


def test_the_history_of_transformer_engine_has_1024_steps() -> None:
    found = {tuple(aval.shape) for aval in rewritten("te-delayed").in_avals}
    # In each block, 4 activations, 6 weights and 6 gradients.
    assert {shape for shape in found if shape[:1] == (1024,)} == {(1024, 32)}
