"""Departures of a model from unit scale at initialization, and the functions that mend them.

Sizes are predicted as the recipe `unit` predicts them, from inputs of rms 1 or of the declared one.
An op that departs counts as mended for the ops after it, so that each finding is about one op.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import LINT_OCTAVES
from scalify_hlo.algebra.scale import Scaled
from scalify_hlo.commands.lint.model import Place, Subject
from scalify_hlo.commands.lint.unit_ops import (
    Finder,
    Kind,
    Watched,
    loss_of,
    source_of,
    weights_of,
)
from scalify_hlo.commands.lint.values import CARRIES
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dataflow.names import name_of, shown_name
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import place_of_text
from scalify_hlo.ir.functions import entry, maker
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.through import behind
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import Options, run_passes
from scalify_hlo.passes.recognize import RecognizePass
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.program.artifact import copy_module
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.report.model import Report
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.scaling.propagation import Propagation
from scalify_hlo.transforms.inlining import inline_calls

_PREDICTING: Final = "unit"
"""The recipe whose prediction of sizes is taken."""

_READ: Final = "input"
_INPUT: Final = "the input of this {}"
_GRADIENT: Final = "the gradient that this {} reads"
_LOSS: Final = "the gradient of this {}"


class _Departure(NamedTuple):
    """An op whose result departs from unit scale, by octaves."""

    op: Watched
    octaves: float


def departures(subject: Subject) -> Iterator[Place]:
    """Yields the departures from unit scale, one for each kind and line, the worst first."""
    if subject.original is None:
        return
    found = sorted(_Walk(subject.original, subject.options).found, key=lambda d: -abs(d.octaves))
    lines: dict[tuple[str, str], list[_Departure]] = {}
    for each in found:
        line = place_of_text(each.op.location, "").rpartition(":")[0]
        lines.setdefault((each.op.kind.noun, line), []).append(each)
    for some in lines.values():
        yield Place(_sentence(some), some[0].op.location, shown_name(some[0].op.name))


def _sentence(some: Sequence[_Departure]) -> str:
    """Returns a sentence on the departures of a line, its results before its gradients."""
    worst: dict[str, _Departure] = {}
    for each in sorted(some, key=lambda each: each.op.backward):
        worst.setdefault(each.op.kind.what, each)
    clauses: list[str] = []
    for what, (op, octaves) in worst.items():
        has = " has rms" if not clauses else ""
        why = f" ({op.kind.why})" if op.kind.why else ""
        clauses.append(f"{what.format(op.kind.noun)}{has} {_power(octaves)}{why}")
    return f"{', '.join(clauses)}; {next(iter(worst.values())).op.kind.cure}"


def _power(octaves: float) -> str:
    return f"2^{octaves:.1f}".removesuffix(".0")


class _Walk:
    """A prediction of the sizes of a program, which notes departures.

    Args:
        original: The program, which is not changed.
        options: The options of the rewrite, which may declare sizes of inputs.

    Attributes:
        found: The departures, in program order.
    """

    def __init__(self, original: ir.Module, options: Options) -> None:
        self.found: list[_Departure] = []
        self._watched: list[Watched] = []
        self._lost = False
        module = copy_module(original)
        run_passes(module, [NormalizePass()])
        with module.context, ir.Location.unknown():
            for op in _ops(module.operation):
                op.attributes[attributes.VALUE_NUMBER] = attributes.integer(0)
            inline_calls(module.operation, (attributes.VALUE_NUMBER,), named=True)
        marking = replace(options, signature="same", pairs_in=None).marking
        marking = replace(marking, every=True, measures=False, verify=(), blocks=())
        roles = RolesPass.of(options.recipe, options.cotangents)
        run_passes(module, [marking, roles, RecognizePass(True, inputs=True)])
        with module.context, ir.Location.unknown():
            self._number(module.operation)
            asked = load_recipe(_PREDICTING), ModuleIndex(), Report()
            Propagation(module.operation, *asked, watch=self._watch).main(entry(module))

    def _number(self, module: ir.Operation) -> None:
        """Notes the ops to watch, and numbers them."""
        main, finder = entry(module), Finder()
        ops = _ops(main.operation)
        for op in ops:
            watched = finder.watched(op)
            if watched is None:
                del op.attributes[attributes.VALUE_NUMBER]
                continue
            op.attributes[attributes.VALUE_NUMBER] = attributes.integer(len(self._watched))
            self._watched.append(watched)
        names, marks = attributes.argument_names(main), attributes.argument_attributes(main)
        for argument, op in weights_of(ops, main.regions[0].blocks[0]):
            size = attributes.size(marks[argument.arg_number]) or 0.0
            if abs(size) > LINT_OCTAVES:
                kind = Kind("weight", names[argument.arg_number], cure=_WEIGHTS)
                self.found.append(_Departure(_at(op, kind), size))

    def _watch(self, op: ir.Operation, rewriter: ScaleRewriter) -> None:
        """Notes a departure, and sets the size that the result has without it."""
        info = rewriter.info(op.results[0])
        if rewriter.notes.trial or not (isinstance(info, Scaled) and info.scale.static):
            return
        watched = self._watched[ir.IntegerAttr(op.attributes[attributes.VALUE_NUMBER]).value]
        kind, after, trusted, *_ = watched
        sizes = [rewriter.size(rewriter.info(value)) for value in op.operands]
        size = rewriter.size(info)
        if kind.operand is not None:
            size = sizes[kind.operand] + kind.gain
        elif not kind.cure:
            size = min(size, max(0.0, *sizes)) if kind.expected is None else kind.expected - after
        for index in kind.inputs:
            source, apart = source_of(op.operands[index], kind.gain), sizes[index] - kind.gain
            if self._departs(watched, apart, maker(behind(source, CARRIES))):
                size -= apart
                _resize(source, 0.0, rewriter)
                _resize(op.operands[index], kind.gain, rewriter)
        if (
            kind.cure
            and kind.expected is not None
            and self._departs(watched, size - kind.expected, op)
        ):
            size = kind.expected
        if kind.cure and (trusted or abs(size + after) > LINT_OCTAVES):
            if not trusted:
                self.found.append(_Departure(watched, size + after))
            size = -after
        _resize(op.results[0], size, rewriter)

    def _departs(self, reader: Watched, size: float, made: ir.Operation | None) -> bool:
        """Returns whether an input departs, and notes it: no op that is watched made it so.

        Args:
            reader: The op that reads it. The first gradient that departs is that of the loss.
            size: log2 of the rms of the input.
            made: The op at whose line it is noted; None if it is an argument.
        """
        if abs(size) <= LINT_OCTAVES:
            return False
        noun, function = _READ, "unit.scaled"
        what = (_GRADIENT if reader.backward else _INPUT).format(reader.kind.noun)
        if reader.backward and not self._lost and made is not None:
            (noun, function), what, self._lost = loss_of(made), _LOSS, True
        kind = Kind(noun, what, cure=f"{function} multiplies it by {_power(-size)}")
        told = _at(made, kind, reader.backward) if made else reader._replace(kind=kind)
        self.found.append(_Departure(told, size))
        return True


_WEIGHTS: Final = "unit.linear and unit.conv take weights of rms 1"


def _at(op: ir.Operation, kind: Kind, backward: bool = False) -> Watched:
    """Returns an op as the place of a departure."""
    return Watched(kind, 0.0, False, backward, source_location(op.location), name_of(op))


def _resize(value: ir.Value, size: float, rewriter: ScaleRewriter) -> None:
    """Sets log2 of the rms of a value."""
    info = rewriter.info(value)
    if isinstance(info, Scaled) and info.scale.static:
        rewriter.assume(value, info._replace(level=size - info.scale.exponent))


def _ops(parent: ir.Operation) -> list[ir.Operation]:
    functions = ("func.func", "builtin.module")
    return ops_in(parent, where=lambda op: op.name not in functions, outer_first=True)
