"""Every cell of the report on a matmul is what the rewritten program has."""

from __future__ import annotations

from typing import Any, Final

import pytest

from examples import gpt2
from scalify_hlo.dataflow.sizes import Extent, Sizes
from scalify_hlo.dialect.matmul_names import number_at
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.scaled_dot import is_scaled_dot
from scalify_hlo.ir.traits import MATMULS
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.report.matmuls import MatmulReport
from scalify_hlo.report.model import Report
from tests.py.shared.judge import parse, stablehlo_of
from tests.py.shared.role_models import Model
from tests.py.shared.role_models import Sizes as ModelSizes
from tests.py.shared.role_programs import MODELS

SIZES: Final = ModelSizes(32, 32, 64, 32, 16, 2, 32, 2)
RECIPES: Final[dict[str, dict[str, object]]] = {
    "fp8-current": {},
    "fp8-delayed": {"scaling.amax_history_len": 2},
    "fp8": {"matmul.exclude": ["*0*"]},
    "fp16": {"matmul.output": "f16"},
    "mxfp8": {"matmul.smallest": 1},
}
CONFIG: Final = gpt2.Config(layers=2, width=32, heads=2, sequence=32, vocab=64, batch=2)
GPT2: Final = Model("gpt2", lambda _: (gpt2.adamw_step, gpt2.abstract_state(CONFIG, gpt2.ADAMW)))
SCALES: Final = ("fp8-current", "fp8-delayed")
"""The recipes whose scales are of single operands."""
BROADCAST, REDUCE, CONSTANT = "stablehlo.broadcast_in_dim", "stablehlo.reduce", "constant"
NEAR: Final = 60
"""The ops around a cast that may apply its scale."""


def rewritten(model: Model, recipe: str) -> tuple[Report, dict[int | None, list[Any]], Any]:
    """The report, and the ops of the rewritten program by the numbers of matmuls."""
    function, arguments = model.build(SIZES)
    module, settings = parse(stablehlo_of(function, *arguments)), RECIPES[recipe]
    if "matmul.exclude" in settings and model.name != "transformer":
        settings = {}
    options = Options(load_recipe(recipe, settings), named=True, listed=True)
    report = rewrite_module(module, options)
    found: dict[int | None, list[Any]] = {}
    for op in ops_in(module.operation):
        if op.name in MATMULS or is_scaled_dot(op, op.name):
            found.setdefault(number_at(op.location), []).append(op)
    for number, ops in found.items():  # The dots in the decompositions of composites.
        whole = [op for op in ops if is_scaled_dot(op, op.name)]
        found[number] = whole or ops
    return report, found, module


def operands(op: Any) -> frozenset[str]:
    """The formats of the operands, which a rewrite may swap."""
    return frozenset(str(op.operands[i].type.element_type) for i in (0, 1))


def own(op: Any) -> str:
    """The format of the result of an op."""
    return str(op.results[0].type.element_type)


def result(op: Any, rounded: str) -> str:
    """The format of the result, or that to which the recipe rounds it after it is scaled."""
    todo = [op.results[0]]
    for value in todo if rounded != own(op) else ():
        for user in (use.owner.operation for use in value.uses):
            if user.name == "stablehlo.convert":
                return own(user)
            todo += [v for v in user.results if v not in todo]
    return own(op)


def sizes(extent: Extent) -> tuple[list[str], str, str]:
    """M and N, which are swapped with the operands, K and the batch."""
    return sorted(map(str, extent[:2])), str(extent.k), str(extent.batch)


def scale_of(operand: Any) -> str:
    """The source of the scale of a cast operand: the first scalar that is no constant."""
    todo, seen = [operand], 0
    while todo and seen < NEAR:
        value, seen = todo.pop(0), seen + 1
        if is_block(value.owner) or value.owner.operation.name in MATMULS:
            continue
        op = value.owner.operation
        source = source_of(op.operands[0]) if op.name == BROADCAST else CONSTANT
        if source != CONSTANT:
            return source
        todo += op.operands
    return CONSTANT


def source_of(value: Any) -> str:
    """Of what a scalar is made: of a reduction, of state that is an argument, or of constants."""
    if value.type.rank:
        return CONSTANT
    todo, names, arguments = [value], set[str](), False
    for value in todo:
        arguments = arguments or is_block(value.owner)
        if not is_block(value.owner):
            names.add(value.owner.operation.name)
            todo += [v for v in value.owner.operands if v not in todo]
            if value.owner.operation.name == REDUCE:
                return "measured"
    return "delayed" if arguments else CONSTANT


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("model", [GPT2, *MODELS], ids=lambda model: model.name)
def test_the_report_has_what_the_program_has(model: Model, recipe: str) -> None:
    report, found, module = rewritten(model, recipe)
    by_number: dict[int, list[MatmulReport]] = {}
    for matmul in report.matmuls:
        by_number.setdefault(matmul.number, []).append(matmul)
    assert by_number.keys() - {-1} == found.keys() - {None}
    for number, matmuls in by_number.items():
        ops = found[number] if number >= 0 else []
        told = {(frozenset(each.formats[:2]), each.formats[2]) for each in matmuls}
        rounded = str(RECIPES[recipe].get("matmul.output", ""))
        has = {(operands(op), result(op, rounded) if rounded else own(op)) for op in ops}
        assert told == has or number < 0, matmuls
        known = Sizes()
        if not any(is_scaled_dot(op, op.name) for op in ops):
            extents = {str(sizes(known.of(op.opview))) for op in ops}
            assert {str(sizes(each.extent)) for each in matmuls} == extents or number < 0, matmuls
        for each in matmuls:
            assert (each.wide is None) == (None not in each.scales)
    del module


@pytest.mark.parametrize("recipe", SCALES)
@pytest.mark.parametrize("model", MODELS[:8], ids=lambda model: model.name)
def test_scales_come_from_where_the_report_says(model: Model, recipe: str) -> None:
    report, found, module = rewritten(model, recipe)
    for matmul in report.matmuls:
        if matmul.wide is None:
            told = sorted(each.origin for each in matmul.scales if each is not None)
            for op in found[matmul.number]:
                assert sorted(map(scale_of, [op.operands[0], op.operands[1]])) == told, matmul
    del module
