"""scalify-roles: writes the roles of matmuls, arguments and gradients as attributes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.casts.selection import IN_COMPOSITE, UNREACHED
from scalify_hlo.dataflow.index import LISTING, ModuleIndex
from scalify_hlo.dataflow.linear_layers import Linear, Outer, outer_layers
from scalify_hlo.dataflow.matmul_names import MatmulName, layer_of, named_matmuls
from scalify_hlo.dataflow.matmuls import ACTIVATION, GRADIENT, OTHER, WEIGHT, Matmul, Walk
from scalify_hlo.dataflow.members import Members
from scalify_hlo.dataflow.names import FORWARD, name_of
from scalify_hlo.dataflow.origins import Origin
from scalify_hlo.dataflow.sizes import Sizes
from scalify_hlo.dataflow.state import State, state_of
from scalify_hlo.dataflow.vocabulary import Projections
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import Remark, UsageError, nearest
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.formats import are_floats
from scalify_hlo.ir.functions import callee_of, terminator
from scalify_hlo.ir.locations import remark, source_location
from scalify_hlo.ir.patterns import matches
from scalify_hlo.ir.scaled_dot import is_scaled_dot
from scalify_hlo.ir.traits import CALLS, MATMULS
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.base import MainPass, missed
from scalify_hlo.recipes.fields import Share
from scalify_hlo.recipes.loading import FIRST_WIDE, LAST_WIDE, asked_settings
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.model import MatmulReport, Report, Wide
from scalify_hlo.report.records import formats_of

FIRST, SECOND = "first_moment", "second_moment"
_COMPOSITE: Final = "stablehlo.composite"
_MISSED: Final = "may have arguments and matmuls without a role, since {}"
_UNROLL: Final = "unroll the loop or inline the function; {}=0 quantizes them on purpose"
_OUTER: Final = {
    FIRST_WIDE: (attributes.FIRST, "first", "later"),
    LAST_WIDE: (attributes.LAST, "last", "earlier"),
}
_DECLARE: Final = "declare roles of arguments with [inputs] in the recipe"


@dataclass(frozen=True)
class RolesPass(MainPass):
    """Finds the roles of values.

    Attributes:
        weight: See `scalify_hlo.recipes.model.Inputs`.
        first_moment: See `scalify_hlo.recipes.model.Inputs`.
        second_moment: See `scalify_hlo.recipes.model.Inputs`.
        activation: See `scalify_hlo.recipes.model.Inputs`.
        gradient: See `scalify_hlo.recipes.model.Inputs`.
        cotangents: The number of the last arguments that are cotangents, as in a vjp.
        narrow_state: Whether moments are cast. If so, a remark names the optimizer state that is
            not cast, as it is neither a first nor a second moment.
        first_wide: The share of the linear layers whose matmuls are marked as the first ones; see
            `scalify_hlo.recipes.model.MatmulOptions`.
        last_wide: As `first_wide`, for the last ones.
        vocabulary: Whether projections to a vocabulary count as linear layers.
        told: The shares of which a remark says that they mark no layer.
    """

    name: ClassVar[str] = "scalify-roles"
    preserves: ClassVar[frozenset[str]] = frozenset({LISTING})
    weight: tuple[str, ...] = ()
    first_moment: tuple[str, ...] = ()
    second_moment: tuple[str, ...] = ()
    activation: tuple[str, ...] = ()
    gradient: tuple[str, ...] = ()
    cotangents: int = 0
    narrow_state: bool = False
    first_wide: Share = 0.0
    last_wide: Share = 0.0
    vocabulary: bool = False
    told: tuple[str, ...] = ()

    @classmethod
    def of(cls, recipe: Recipe, cotangents: int) -> RolesPass:
        """Returns the pass for a recipe.

        Args:
            recipe: The recipe.
            cotangents: See the attribute `cotangents`.
        """
        inputs, matmul = recipe.inputs, recipe.matmul
        return cls(
            *(inputs.weight, inputs.first_moment, inputs.second_moment),
            *(inputs.activation, inputs.gradient, cotangents),
            narrow_state=recipe.state.narrow,
            first_wide=matmul.first_wide if matmul.narrow else 0.0,
            last_wide=matmul.last_wide if matmul.narrow else 0.0,
            vocabulary=matmul.vocabulary or not matmul.small,
            told=tuple(key for key in (FIRST_WIDE, LAST_WIDE) if key in asked_settings(recipe)),
        )

    def edit(self, main: ir.OpView, index: ModuleIndex, report: Report) -> None:
        """See `MainPass.edit`."""
        module = main.operation.parent
        block = main.regions[0].blocks[0]
        types = [argument.type for argument in block.arguments]
        floats = are_floats(types)
        names = attributes.argument_names(main)
        declared = self._declared_roles(names, floats)
        functions = functions_in(module)
        listing = index.list_ops(block)
        listing.note_formats()
        walk = Walk(functions)
        walk.main(main, listing.ops, [i for i, role in declared.items() if role == GRADIENT])
        # The gradients that a vjp returns are not state, although weights may be part of them. Nor
        # is a value with the size of a batch, although a model may return it in its shape.
        static = [isinstance(t, ir.RankedTensorType) and t.has_static_shape for t in types]
        kept = [both == (True, True) for both in zip(floats, static, strict=True)]
        state = State() if self.cotangents else state_of(main, kept, trains=walk.trains)
        report.remarks += missed(main.operation, _MISSED, walk.ended | state.ended, _DECLARE)
        moments = dict.fromkeys(state.first, FIRST) | dict.fromkeys(state.second, SECOND)
        roles = moments | dict.fromkeys(state.weights, WEIGHT) | declared
        report.roles |= {names[i]: role for i, role in roles.items()}
        if self.narrow_state and state.neither:
            report.remarks += _kept_wide(main, names, state.neither - roles.keys())
        known = {i: role for i, role in roles.items() if role in (ACTIVATION, WEIGHT)}
        marks = _RoleMarks(known, names, report, Projections(walk))
        marks.mark_all(walk.matmuls)
        members = marks.mark_members(module, walk.matmuls)
        alone = {i for i in roles if members.independent(block.arguments[i])}
        _mark_state(main, roles, state, alone)
        weights = {number for number, role in roles.items() if role == WEIGHT} - alone
        gradients = [v for number, v in state.gradients.items() if number in weights]
        for value in gradients:
            attributes.mark_gradient(value)
        marked = [value.owner.operation for value in gradients]
        marked += [matmul.op.operation for matmul in walk.matmuls]
        listing.touch(marked)
        listing.with_roles = {op.name for op in marked}
        report.remarks += self._mark_outer(main, walk.matmuls, marks)
        walk.release()
        listed = sum(matmul.op in MATMULS for matmul in report.matmuls)
        report.matmuls += _not_reached(functions, index.ops, listed)

    def _mark_outer(
        self, main: ir.OpView, matmuls: Sequence[Matmul], marks: _RoleMarks
    ) -> Iterator[Remark]:
        """Marks the matmuls of the first and last linear layers; yields remarks on the others."""
        wide = [matmul for matmul in matmuls if not _is_scaled(matmul)]
        for key, share in ((FIRST_WIDE, self.first_wide), (LAST_WIDE, self.last_wide)):
            if share:
                linear = marks.linear(wide, vocabulary=self.vocabulary)
                found = outer_layers(wide, linear, share, first=key == FIRST_WIDE)
                yield from self._marked(main, key, share, found)

    def _marked(self, main: ir.OpView, key: str, share: float, found: Outer) -> Iterator[Remark]:
        """Marks the matmuls of outer linear layers; yields a remark if some are not marked."""
        mark, which, others = _OUTER[key]
        for op in found.matmuls:
            op.attributes[mark] = ir.UnitAttr.get()
        count = f"{found.total} linear layer{'s' * (found.total != 1)}"
        if found.shared is not None:
            missing = found.asked - found.found
            message = (
                f"{key} cannot leave {missing} of the {which} {found.asked} of {count} wide: "
                f"turns of a loop, or calls of a function, share their matmuls with {others} ones"
            )
            yield remark(found.shared, message, _UNROLL.format(key))
        elif key in self.told and not found.found:
            message = f"{key} has no effect: {share:g} of {count} is less than one"
            yield remark(main, message, f"leave out {key}")

    def _declared_roles(self, names: list[str], floats: list[bool]) -> dict[int, str]:
        """Returns the roles of arguments that the recipe declares, and those of cotangents."""
        roles: dict[int, str] = {}
        if self.cotangents:
            numbers = range(len(names))[-self.cotangents :]
            roles |= {i: GRADIENT for i in numbers if floats[i]}
        for role in (WEIGHT, FIRST, SECOND, ACTIVATION, GRADIENT):
            for pattern in getattr(self, role):
                found = [i for i, n in enumerate(names) if floats[i] and matches(pattern, n, i)]
                if not found:
                    raise UsageError(
                        f"inputs.{role} {pattern!r} matches no float argument"
                        f"{nearest(pattern, names)}",
                        hint="`scalify-hlo inspect --arguments` lists arguments with their names",
                    )
                roles |= dict.fromkeys(found, role)
        return roles


class _RoleMarks:
    """Writes the roles of matmuls on their ops.

    Args:
        known: The roles of arguments that are operands of matmuls.
        names: The names of arguments.
        report: The report, which gets a line for each matmul.
        projections: The matmuls that project to a vocabulary.
    """

    def __init__(
        self, known: dict[int, str], names: list[str], report: Report, projections: Projections
    ) -> None:
        self._known, self._names, self._report = known, names, report
        self._roles: dict[Origin, str] = {}
        self._marked: ValueMap[tuple[str, ...]] = ValueMap()
        self._vocabulary: set[Matmul] = set()
        self._projections = projections
        self._numbers: ValueMap[int] = ValueMap()
        self._sizes = Sizes()

    def mark_all(self, matmuls: Sequence[Matmul]) -> None:
        """Marks all matmuls, except one whose calls have different roles.

        A matmul of operands with block scales is narrow already: it is in the report, without marks
        by which a recipe would quantize it.
        """
        linear = self.linear(matmuls, vocabulary=True)
        names = named_matmuls(matmuls, linear, self._weight_name)
        marks: dict[int, tuple[Matmul, tuple[str, ...]]] = {}
        for matmul, name in zip(matmuls, names, strict=True):
            roles = self._operand_roles(matmul)
            weight = roles.index(WEIGHT) if WEIGHT in roles else None
            if self._projections.has(matmul, weight) or matmul.partner in self._vocabulary:
                self._vocabulary.add(matmul)
            result, mark = matmul.op.results[0], (matmul.part, *roles)
            if self._marked.setdefault(result, mark) != mark:
                mark = self._marked[result] = (OTHER, *roles)
            name = name._replace(use=OTHER) if mark[0] == OTHER else name
            marks[self._record(matmul, name, roles)] = matmul, mark
        for number, (matmul, written) in marks.items():
            if not _is_scaled(matmul):
                _write(matmul, written, self._report.matmuls[number], number)

    def linear(self, matmuls: Iterable[Matmul], *, vocabulary: bool) -> Iterator[Linear]:
        """Yields the forward matmuls with weights.

        Args:
            matmuls: Matmuls that were marked.
            vocabulary: Whether those that project to a vocabulary are among them.
        """
        for matmul in matmuls:
            roles = self._operand_roles(matmul)
            counts = vocabulary or matmul not in self._vocabulary
            if matmul.part == FORWARD and WEIGHT in roles and counts:
                yield Linear(matmul, max(side for side in (0, 1) if roles[side] == WEIGHT))

    def mark_members(self, module: ir.Operation, matmuls: Sequence[Matmul]) -> Members:
        """Marks the matmuls whose operands have members or experts, and returns their analysis."""
        weights = {number for number, role in self._known.items() if role == WEIGHT}
        members = Members(module, matmuls, self._operand_role, weights, self._names)
        for op in [matmul.op for matmul in matmuls]:
            dims = members.dims(op)
            if dims is not None:
                arrays = [ir.DenseI64ArrayAttr.get(each) for each in dims]
                op.attributes[attributes.MEMBERS] = ir.ArrayAttr.get(arrays)
                if members.independent(op.results[0]):
                    op.attributes[attributes.INDEPENDENT] = ir.UnitAttr.get()
        return members

    def _record(self, matmul: Matmul, name: MatmulName, roles: tuple[str, str]) -> int:
        """Adds a matmul to the report, or counts another call of it, and returns its number."""
        op, found = matmul.op, self._report.matmuls
        number = self._numbers.setdefault(op.results[0], len(found))
        vocabulary = matmul in self._vocabulary
        turns, exact = matmul.frame.turns
        if number < len(found):
            known = found[number]
            vocabulary = vocabulary or known.vocabulary
            calls = known.calls + 1
            found[number] = replace(
                known,
                use=name.use,
                vocabulary=vocabulary,
                calls=calls,
                turns=known.turns + (turns - known.turns) / calls,
                unknown_turns=known.unknown_turns or not exact,
            )
            return number
        found.append(
            MatmulReport(
                name.names,
                op.operation.name,
                source_location(op.location),
                name.use,
                roles,
                matmul.certainty,
                vocabulary,
                self._sizes.of(op),
                1,
                formats_of(op),
                arguments=self._arguments(matmul),
                number=number,
                turns=turns,
                unknown_turns=not exact,
            )
        )
        return number

    def _operand_roles(self, matmul: Matmul) -> tuple[str, str]:
        lhs, rhs = (self._operand_role(matmul, side) for side in (0, 1))
        return lhs, rhs

    def _operand_role(self, matmul: Matmul, side: int) -> str:
        if matmul.gradients[side]:
            return GRADIENT
        origin, other = matmul.origins[side], matmul.origins[1 - side]
        if origin not in self._roles:
            self._roles[origin] = self._role_of(origin, other, side)
        return self._roles[origin]

    def _role_of(self, origin: Origin, other: Origin, side: int) -> str:
        """Returns the number of the operand that is a weight.

        A weight is an argument or a constant; the other operand is computed. If both operands are
        arguments or constants, the weight is the only constant, or otherwise the second operand.
        """
        if origin.argument in self._known:
            return self._known[origin.argument]
        if origin.argument is None and not origin.constant:
            return ACTIVATION
        given = other.argument is not None or other.constant
        declared = self._known.get(other.argument) if other.argument is not None else None
        if declared is not None:
            return ACTIVATION if declared == WEIGHT else WEIGHT
        if given and origin.constant != other.constant:
            return WEIGHT if origin.constant else ACTIVATION
        return WEIGHT if side == 1 or not given else ACTIVATION

    def _weight_name(self, matmul: Matmul) -> str:
        """Returns the name of the weight of a matmul; empty if it has none, or one without name."""
        arguments, roles = self._arguments(matmul), self._operand_roles(matmul)
        weights = [name for name, role in zip(arguments, roles, strict=True) if role == WEIGHT]
        return weights[-1] if weights else ""

    def _arguments(self, matmul: Matmul) -> tuple[str, str]:
        """Returns the names of the operands that are arguments; empty for other operands."""
        numbers = [origin.argument for origin in matmul.origins]
        lhs, rhs = ("" if n is None else self._names[n] for n in numbers)
        return lhs, rhs


def _not_reached(
    functions: Mapping[str, ir.OpView], ops: Counter[str], listed: int
) -> list[MatmulReport]:
    """Returns the matmuls that the walk does not reach, such as those in conditions of loops."""
    if sum(ops[name] for name in MATMULS) == listed:
        return []
    found = list[tuple[ir.OpView, Wide]]()
    reasons = {"main": UNREACHED}

    def called_in(name: str) -> Iterator[str]:
        for op in ops_in(functions[name]):
            if op.name in MATMULS and attributes.ROLES not in op.attributes:
                found.append((op.opview, reasons[name]))
            elif op.name in CALLS and not is_scaled_dot(op, op.name):
                callee = callee_of(op)
                inside = IN_COMPOSITE if op.name == _COMPOSITE else reasons[name]
                if callee in functions:
                    reasons.setdefault(callee, inside)
                    yield callee

    Search(["main"], called_in).to_end()
    sizes = Sizes()
    return [
        MatmulReport(
            (layer_of(name_of(op), op.operation.name).shown({}),),
            op.operation.name,
            source_location(op.location),
            OTHER,
            ("", ""),
            "",
            False,
            sizes.of(op),
            1,
            formats_of(op),
            reason,
        )
        for op, reason in found
    ]


def _is_scaled(matmul: Matmul) -> bool:
    """Whether the operands of a matmul have block scales."""
    return is_scaled_dot(matmul.op.operation, matmul.op.operation.name)


def _write(matmul: Matmul, mark: tuple[str, ...], known: MatmulReport, number: int) -> None:
    part, *roles = mark
    op = matmul.op
    op.attributes[attributes.PART] = ir.StringAttr.get(part)
    op.attributes[attributes.ROLES] = ir.ArrayAttr.get([ir.StringAttr.get(r) for r in roles])
    op.attributes[attributes.SITE] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n in known.site])
    op.attributes[attributes.MATMUL] = attributes.integer(number)
    if known.vocabulary:
        op.attributes[attributes.VOCABULARY] = ir.UnitAttr.get()


def _mark_state(
    main: ir.OpView, roles: Mapping[int, str], state: State, alone: Container[int]
) -> None:
    """Writes the roles of arguments, and on results the state that they are.

    Args:
        main: The entry function.
        roles: The roles of arguments by number.
        state: The state of the program.
        alone: The numbers of the arguments with independent members.
    """
    marked = _of_state(main, roles, state, alone)
    given = attributes.argument_attributes(main)
    for number, own in marked.items():
        given[number] |= own
    attributes.set_argument_attributes(main, given)
    marks = attributes.result_attributes(main)
    for number, own in marked.items():
        if number in state.results:
            carries = {attributes.CARRIES: attributes.integer(number)}
            marks[state.results[number]] |= own | carries
    attributes.set_result_attributes(main, marks)


def _kept_wide(main: ir.OpView, names: list[str], neither: Iterable[int]) -> list[Remark]:
    """Returns a remark on optimizer state that is neither moment, if there is any."""
    marks, arguments = attributes.argument_attributes(main), main.regions[0].blocks[0].arguments
    numbers = [number for number in sorted(neither) if attributes.PAIR in marks[number]]
    if not numbers:
        return []
    first, more = numbers[0], f" and {len(numbers) - 1} more" if len(numbers) > 1 else ""
    message = f"keeps the format of {names[first]}{more}: neither first nor second moments"
    return [Remark(message, source_location(arguments[first].location), main.operation.name)]


def _of_state(
    main: ir.OpView, roles: Mapping[int, str], state: State, alone: Container[int]
) -> dict[int, attributes.Attributes]:
    """Returns the attributes of each argument that has a role, and of the result that it is."""
    block, found = main.regions[0].blocks[0], dict[int, attributes.Attributes]()
    returned = terminator(block).operands
    for number, role in roles.items():
        found[number] = {attributes.ROLE: ir.StringAttr.get(role)}
        if number in alone:
            found[number][attributes.INDEPENDENT] = ir.UnitAttr.get()
        result = state.results.get(number) if role == WEIGHT else None
        if result is not None and returned[result] != block.arguments[number]:
            how = attributes.AVERAGE if number in state.averages else GRADIENT
            found[number][attributes.UPDATED] = ir.StringAttr.get(how)
    return found
