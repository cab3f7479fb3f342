"""The lints, and a run of all of them on a program."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.commands.lint.exponentials import exponentials
from scalify_hlo.commands.lint.formats import epsilons, infinities, long_sums
from scalify_hlo.commands.lint.model import Finding, Lint, Subject
from scalify_hlo.commands.lint.programs import left_wide, recast_weights, undeclared_scales
from scalify_hlo.commands.lint.unit_scale import departures
from scalify_hlo.dataflow.depth import levels_of
from scalify_hlo.dataflow.matmuls import WEIGHT
from scalify_hlo.dataflow.names import FORWARD
from scalify_hlo.deep import run_deep
from scalify_hlo.ir.functions import entry
from scalify_hlo.ir.patterns import matches
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.recipes.toml import parse_input_scale
from scalify_hlo.report.matmuls import MatmulReport
from scalify_hlo.report.model import MEASURED, Report
from scalify_hlo.transforms.inlining import inline_calls

LINTS: Final = (
    Lint(
        "f32-in-bf16",
        "A matmul takes f32 operands, and most matmuls of the program take bf16 or f16.",
        "cast both operands, as with x.astype(jnp.bfloat16); with "
        "preferred_element_type=jnp.float32 the sum stays in f32",
        left_wide,
    ),
    Lint(
        "epsilon",
        "An epsilon that guards a division, a root or a logarithm is 0 in its format.",
        "take an epsilon that the format has, or compute what it guards in f32",
        epsilons,
    ),
    Lint(
        "infinity-in-f8",
        "An infinite constant, or one beyond the range, is cast to a format of 8 bits.",
        "clamp before the cast, or mask with a number that the format has",
        infinities,
    ),
    Lint(
        "long-sum",
        "A sum in 16 bits or fewer has more terms than its format can count.",
        "sum in f32, as with jnp.sum(x, dtype=jnp.float32), or preferred_element_type=jnp.float32 "
        "of a matmul",
        long_sums,
    ),
    Lint(
        "exp-in-f16",
        "An exponential in f16 has an operand that nothing bounds.",
        "subtract the maximum of the operand first, as jax.nn.softmax does, or compute it in f32",
        exponentials,
    ),
    Lint(
        "recast-weight",
        "A program without a backward pass casts a weight in each call.",
        "pass the weights in FP8, by state.weight and the signature scaled, or close over them "
        "when you export the program: a recipe casts constants while it rewrites",
        recast_weights,
    ),
    Lint(
        "undeclared-scale",
        "A program measures an input in each call, since no one declared its scale.",
        "declare it with --input-scale 'PATTERN=2^k' or inputs.scale in the recipe, or measure it "
        "with --input-values F.npz",
        undeclared_scales,
    ),
    Lint(
        "unit-scale",
        "A result or a gradient departs from unit scale at initialization, by its predicted size.",
        "write it with the function of scalify_hlo.unit that is named, and draw weights with "
        "variance 1; sizes are predicted for inputs of rms 1, or as they are declared",
        departures,
    ),
)
"""The lints, in the order in which their findings are shown."""

_EVERY: Final = "scalify.lint"
"""The mark of all ops, so that all calls are inlined."""


def lint(
    module: ir.Module, options: Options, report: Report, original: ir.Module | None
) -> list[Finding]:
    """Returns what the lints find in a program.

    Args:
        module: The program as a rewrite leaves it. Calls are inlined in it.
        options: The options of the rewrite.
        report: The report of the rewrite.
        original: The program before the rewrite; None if that was a rewritten program too.
    """
    with module.context:
        levels = levels_of(module.operation)
    return run_deep(lambda: _findings(module, options, report, original), levels)


def _findings(
    module: ir.Module, options: Options, report: Report, original: ir.Module | None
) -> list[Finding]:
    with module.context, ir.Location.unknown():
        subject = replace(_subject(module.operation, options, report), original=original)
        return [
            Finding(each.name, place.message, place.location, place.name, each.cure)
            for each in LINTS
            for place in each.check(subject)
        ]


def _subject(module: ir.Operation, options: Options, report: Report) -> Subject:
    """Returns the subject of the lints."""
    mark = ir.UnitAttr.get()
    for op in _ops_in(module):
        op.attributes[_EVERY] = mark
    inline_calls(module, (_EVERY,))
    main, matmuls = entry(module), report.matmuls
    return Subject(
        main=main,
        ops=_ops_in(main.operation),
        matmuls=matmuls,
        arguments=report.arguments,
        weights={_weight_of(m) for m in matmuls if WEIGHT in m.roles} - {""},
        trains=bool(report.roles) or any(m.part != FORWARD for m in matmuls),
        rewritten=options.recipe.narrow,
        undeclared=_undeclared(options, report),
        original=None,
        options=options,
    )


def _weight_of(matmul: MatmulReport) -> str:
    """Returns the name of the argument that is the weight of a matmul."""
    return matmul.arguments[matmul.roles.index(WEIGHT)]


def _undeclared(options: Options, report: Report) -> list[str]:
    """Returns the arguments that are measured, since no one declared their scale."""
    measured = {site.name for site in report.sites if site.kind == MEASURED}
    patterns = [*options.recipe.inputs.verify]
    patterns += [parse_input_scale(text)[0] for text in options.declared]
    return [
        value.name
        for i, value in enumerate(report.arguments)
        if value.name in measured
        and not any(matches(pattern, value.name, i) for pattern in patterns)
    ]


def _ops_in(parent: ir.Operation) -> list[ir.Operation]:
    """Returns the ops inside another, except functions and modules, in program order."""
    functions = ("func.func", "builtin.module")
    return ops_in(parent, where=lambda op: op.name not in functions, outer_first=True)
