"""Programs that return statistics: of the original, and of its rewrite."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.casts.matmuls import NamedOperand, marked_matmuls, named_operands
from scalify_hlo.commands.stats.instrument import Instrumented, Sampler, instrument
from scalify_hlo.commands.stats.measures import RowSampler
from scalify_hlo.commands.stats.numbering import inline_numbered, number_ops
from scalify_hlo.commands.stats.record import OperandStats
from scalify_hlo.commands.stats.values import Scan, Watched, name_and_place
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.structure import structural_hash
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.ir.patterns import is_like
from scalify_hlo.ir.value_map import ValueMap, ValueSet, erase
from scalify_hlo.passes.legalize import LegalizePass
from scalify_hlo.passes.pipeline import Options, rewrite_module, run_passes
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.program.artifact import copy_module
from scalify_hlo.program.record import described
from scalify_hlo.program.wellformed import located
from scalify_hlo.report.model import Report
from scalify_hlo.rules.probes import Probed, probed, probes_of

ORIGINAL: Final = "original"


@dataclass
class Prepared:
    """A program that returns statistics.

    Attributes:
        name: ``original``, or the name of the recipe.
        recipe: The rewrite in words; empty for the original.
        module: The program.
        instrumented: The meaning of its further results.
        operands: The operands of which it returns samples, without the effects of formats, and the
            key of the sample of each.
        report: The report of the rewrite; None for the original.
    """

    name: str
    recipe: str
    module: ir.Module
    instrumented: Instrumented
    operands: list[tuple[OperandStats, str]]
    report: Report | None = None

    @property
    def scaled(self) -> bool:
        """Whether the values have scales."""
        return self.report is not None


@dataclass(frozen=True)
class Selection:
    """The values of which statistics are wanted.

    Attributes:
        pattern: A pattern of name stacks, argument names and ids.
        each_turn: Whether each turn of a loop has a record of its own.
    """

    pattern: str = "*"
    each_turn: bool = False

    def of(self, values: Sequence[Watched], operands: Sequence[NamedOperand]) -> list[Watched]:
        """Returns the values that match, and those from which their statistics are taken.

        Args:
            values: The values.
            operands: The operands of matmuls, which also match by the names of these.

        Raises:
            UsageError: No value matches.
        """
        if self.pattern == "*":
            return list(values)
        taken = ValueSet(each.value for each in operands if is_like(self.pattern, each.name))
        wanted = {one.id for one in values if one.value in taken}
        found = self.matching(values, wanted)
        if not found:
            names = dict.fromkeys(n for one in values for n in (one.name, *one.name.split("/")))
            raise UsageError(
                f"{self.pattern!r} matches no float value{nearest(self.pattern, names)}",
                hint="patterns are of argument names and of name stacks, as in '*attention*'",
            )
        return found

    def matching(self, values: Sequence[Watched], ids: Collection[str]) -> list[Watched]:
        """Returns the values that match or have one of some ids, and those that they depend on."""
        wanted = set(ids)
        for one in reversed(values):
            if one.id in wanted or self.matches(one):
                wanted |= {one.id} if one.source is None else {one.id, one.source.id}
        return [one for one in values if one.id in wanted]

    def matches(self, one: Watched) -> bool:
        """Whether the pattern is one of a value."""
        return any(is_like(self.pattern, name) for name in (one.name, one.id))


class Programs:
    """Makes programs that return statistics from one program.

    Args:
        module: The program, of static shapes. It is edited.
        name: Its name in diagnostics.
        selection: The values of which statistics are wanted.
        hash_: The hash by which a profile knows the program, whose shapes may have been symbolic;
            by default that of the module.

    Attributes:
        hash: This hash.
    """

    def __init__(self, module: ir.Module, name: str, selection: Selection, hash_: str = "") -> None:
        self._module, self._name, self._selection = module, name, selection
        self.hash = hash_ or structural_hash(module)
        number_ops(module, name)
        self._samplers: dict[str, dict[str, Sampler]] = {}
        self._roles: Mapping[str, str] = {}
        self._operands: list[tuple[OperandStats, str]] = []
        self._prepared = self._prepare_original()

    @property
    def original(self) -> Prepared:
        """The original with statistics."""
        return self._prepared

    @property
    def numbered(self) -> ir.Module:
        """A copy of the program with numbered ops."""
        return copy_module(self._module)

    def rewritten(self, options: Options) -> Prepared:
        """Returns the rewrite with statistics.

        Args:
            options: The options of the rewrite.

        Raises:
            InputError: The program cannot be rewritten.
            UsageError: The options do not fit the program.
        """
        module = self.numbered
        with located(self._name):
            report = rewrite_module(module, self.probing(options))
        return self.instrument_rewrite(module, report, options)

    def probing(self, options: Options) -> Options:
        """Returns the options of a rewrite of `numbered` that inserts probes.

        Args:
            options: The options of a rewrite of the program as it was given.

        Raises:
            InputError: The profile is of another program.
        """
        return replace(for_module(options, self.hash, self._module), probe=True)

    def instrument_rewrite(self, module: ir.Module, report: Report, options: Options) -> Prepared:
        """Returns a rewrite of `numbered`, which has probes, with statistics.

        Args:
            module: The rewrite, which is edited.
            report: The report of the rewrite.
            options: The options of the rewrite.
        """
        with module.context, ir.Location.unknown():
            main = inline_numbered(module, self._name)
            scales = take_probes(main)
            ids = _argument_ids(main, report)
            scan = Scan(main, self._name, self._roles, ids)
            values = [v for v in scan.values() if _is_of_values(v, scales)]
            kept = {one.id for one in values}
            for one in values:
                if one.source is not None and one.source.id not in kept:
                    one.source, one.factor = None, 1
            chosen = self._chosen(values)
            done = self._instrument(main, chosen, scan, scales)
        return Prepared(
            options.recipe.name, described(options), module, done, self._operands, report
        )

    def _prepare_original(self) -> Prepared:
        module = copy_module(self._module)
        with located(self._name):
            self._roles = run_passes(module, [RolesPass()]).roles
        with module.context, ir.Location.unknown():
            main = inline_numbered(module, self._name)
            scan = Scan(main, self._name, self._roles)
            every = named_operands(marked_matmuls(main))
            operands = [each for each in every if each.value.type.has_static_shape]
            values = self._selection.of(scan.values(), operands)
            self._find_operands(operands, values)
            done = self._instrument(main, values, scan, None)
        with located(self._name):
            run_passes(module, [LegalizePass()])
        return Prepared(ORIGINAL, "", module, done, self._operands)

    def _find_operands(self, operands: Sequence[NamedOperand], values: Collection[Watched]) -> None:
        """Lists the operands of matmuls whose values are wanted."""
        known = ValueMap((one.value, one) for one in values)
        for operand in operands:
            one = known.get(operand.value)
            if one is None or not one.size:
                continue
            sampler = RowSampler(one.shape, operand.summed)
            key = f"{one.id} over {operand.summed}"
            self._samplers.setdefault(one.id, {})[key] = sampler
            op, (_, place) = operand.op.name, name_and_place(operand.op, self._name)
            part, role, contracted = operand.part, operand.role, operand.contracted
            found = OperandStats(operand.name, one.id, op, place, part, role, contracted, 0, ())
            self._operands.append((found, key))

    def _chosen(self, values: list[Watched]) -> list[Watched]:
        """Returns the wanted values of a rewrite: those of the original, and those that match."""
        if self._selection.pattern == "*":
            return values
        ids = {one.id for one in self._prepared.instrumented.values}
        return self._selection.matching(values, ids)

    def _instrument(
        self, main: ir.OpView, values: list[Watched], scan: Scan, scales: ValueMap[Probed] | None
    ) -> Instrumented:
        each = self._selection.each_turn
        done = instrument(main, values, self._samplers, scales, each_turn=each)
        if scan.dynamic:
            done.remarks.append(f"{scan.dynamic} values of dynamic shape are not measured")
        return done


def for_module(options: Options, hash_: str, module: ir.Module) -> Options:
    """Returns the options of a rewrite of a program that was made of another one.

    Args:
        options: The options for the other program.
        hash_: The structural hash of the other program.
        module: The program.

    Raises:
        InputError: The profile is not of the other program.
    """
    if options.profile is None:
        return options
    options.profile.require(hash_)
    return replace(options, profile=replace(options.profile, program=structural_hash(module)))


def _is_of_values(one: Watched, scales: ValueMap[Probed]) -> bool:
    """Whether a value of a rewrite is data: of the original, at another scale, or in a cast.

    Other values that a rewrite adds are scalar factors and statistics.
    """
    in_cast = one.cast or not one.encoding.format.wide
    return bool(one.numbered or one.value in scales or in_cast)


def take_probes(main: ir.OpView) -> ValueMap[Probed]:
    """Erases the probes of a rewrite, and returns the scales of its values.

    Args:
        main: The entry function of the rewrite.
    """
    probes = probes_of(main)
    scales = ValueMap(probed(op) for op in probes)
    for op in probes:
        erase(op)
    return scales


def _argument_ids(main: ir.OpView, report: Report) -> list[str | None]:
    """Returns the ids of the arguments of a rewrite: scales and state of the rewriter have none."""
    ids: list[str | None] = []
    for number, argument in enumerate(report.arguments):
        ids += [f"arg{number}", None] if argument.paired else [f"arg{number}"]
    count = len(attributes.function_type(main).inputs)
    return [*ids, *[None] * (count - len(ids))]
