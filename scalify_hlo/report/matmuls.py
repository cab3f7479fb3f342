"""The entry of a report on one matmul or convolution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, NamedTuple, TypeAlias

from scalify_hlo.dataflow.matmuls import WEIGHT
from scalify_hlo.dataflow.names import FORWARD, layer_in
from scalify_hlo.dataflow.sizes import Extent, Size
from scalify_hlo.errors import Remark, name_of_text, place_of_text
from scalify_hlo.ir.patterns import MARK, is_matmul_like, part_of_use, tags_of
from scalify_hlo.results.kinds import Count, Part, Several, Words, one_of, rounded
from scalify_hlo.results.model import Kind, keys, kind_of, register

Location: TypeAlias = Annotated[str, Kind({}, place_of_text)]
"""A source location as MLIR prints it, which is written as ``file:line:column``."""
Role: TypeAlias = Annotated[str, one_of(["activation", "weight", "gradient", ""])]
register(Size, Kind({"type": ["integer", "null"]}, lambda s, _: s.least if s.known else None))
keys(
    "message location op hint layer",
    location=kind_of(Location),
    hint=kind_of(Words),
    layer=kind_of(Words),
)(Remark)

DECLARED: Final = "declared"
ASSUMED: Final = "assumed"
MEASURED: Final = "measured"
STORED: Final = "stored"
CONSTANT: Final = "constant"
PROGRAM: Final = "program"
PROFILE: Final = "profile"
STATED: Final = "stated"
UNSCALED: Final = "none"

ORIGINS: Final = {
    DECLARED: "the operand is an argument whose scale was declared or measured beforehand",
    ASSUMED: "the operand is an argument without a declared scale, which is assumed to be 1",
    "predicted": "from the predicted size of the operand",
    "propagated": "from a scale that the program takes or computes elsewhere",
    MEASURED: "from a statistic of the operand, which the program takes at run time",
    "delayed": "from the amax of the operand in past steps",
    PROFILE: "from a profile",
    STATED: "that of `scaling.exponents`",
    CONSTANT: "from the elements of the operand, which is a constant of the program",
    STORED: "that of the argument, which the caller passes in that format",
    UNSCALED: "1: the recipe casts values as they are",
    PROGRAM: "1: the program has the operand in that format",
}
"""The origins of scales of operands."""


_CLOSE: Final = 0.5
"""The share of the room of a format above which a size is uncertain."""


_LEAST_ROOM: Final = 1
"""The room, in octaves, that is assumed for the formats with the least range."""


@keys("origin scale octaves room argument")
class OperandScale(NamedTuple):
    """The scale at which an operand of a matmul is quantized.

    Attributes:
        origin: The origin of the scale, a key of `ORIGINS`.
        scale: The scale as text, such as ``2^-4`` or ``s0``; empty if it is not known as one.
        octaves: For a scale that is declared, assumed, predicted or propagated: the standard
            deviation of log2 of the size of the operand, in octaves. The smaller it is, the more
            the scale can be trusted. None for other origins.
        room: The number of octaves by which the size may be wrong without a loss of accuracy. It is
            None if `octaves` is.
        remark: The remark on the cast of the operand; empty if there is none.
        argument: The name of the argument that the operand is; empty if it is computed.
    """

    origin: Annotated[str, one_of(ORIGINS)]
    scale: Words = ""
    octaves: Annotated[float, rounded(3)] | None = None
    room: int | None = None
    remark: str = ""
    argument: Words = ""

    @property
    def uncertainty(self) -> float:
        """The uncertainty of the size as a share of the room of the format; 0 if it is known."""
        if self.octaves is None or self.room is None:
            return 0.0
        return self.octaves / max(self.room, _LEAST_ROOM)

    @property
    def warning(self) -> str:
        """The reason why the scale may be wrong, as a sentence; empty if there is none."""
        if self.origin == ASSUMED:
            return f"no one declared the scale of {self.argument}, which is taken to be 1"
        octaves, room = self.octaves, self.room
        if octaves is None or self.uncertainty <= _CLOSE or self.remark:
            return ""
        return f"the predicted size may be off by 2^±{octaves:.1f}, and the format holds 2^±{room}"

    def __str__(self) -> str:
        return self.origin if self.octaves is None else f"{self.origin} ±{self.octaves:.1f}"


@keys("kind reason chosen")
class Wide(NamedTuple):
    """The reason why a matmul is not quantized.

    Attributes:
        kind: A short name of the reason, by which a summary counts.
        reason: The reason, as the text that follows ``stays wide: ``.
        chosen: Whether the recipe excludes the matmul on purpose. Otherwise it is a fallback, and
            the user gets a remark.
        hint: What to do about a fallback.
        option: The option of the recipe that decides this; empty if none does.
    """

    kind: str
    reason: str
    chosen: bool = False
    hint: str = "matmul.exclude leaves it out on purpose"
    option: str = ""


@keys(
    "name names op location part operands=roles certainty vocabulary m=extent.m n=extent.n "
    "k=extent.k batch=extent.batch calls flops formats=(lhs=formats.0 rhs=formats.1 "
    "result=formats.2) scales=(lhs=scales.0 rhs=scales.1) statistics wide"
)
@dataclass(frozen=True, slots=True)
class MatmulReport:
    """One matmul or convolution of the program.

    Attributes:
        names: The names of its layer and of its weight, which patterns match. That by which it is
            shown comes first.
        op: The name of the op.
        location: The source location, as MLIR prints it.
        use: What it computes for its layer: ``forward``, ``dgrad``, ``wgrad`` or ``other``.
        roles: The roles of the operands.
        certainty: The evidence for the roles: ``names``, ``data flow``, or ``habit`` if only a
            habit of jax decides between two readings.
        vocabulary: Whether it projects to a vocabulary, or is the backward of such a matmul.
        extent: M, N and K, in elements.
        calls: The number of its occurrences in the program, with each call of its function counted.
        formats: The formats of its operands and of its result, after a recipe was applied if one
            was.
        wide: The reason why it is not quantized; None if it is, or if no recipe was applied.
        arguments: For each operand, the name of the argument of the program that it is; empty if
            it is computed.
        scales: The scales of the operands, which are powers of two, if it is quantized and the
            report was asked for.
        number: Its number in the program; -1 if no call, loop or branch leads to it.
        turns: The number of turns of the loops around it, the mean over its calls.
        unknown_turns: Whether the length of a loop around it is not known, and counts as one turn.
    """

    names: tuple[str, ...]
    op: str
    location: Location
    use: str
    roles: tuple[Role, Role]
    certainty: Annotated[str, one_of(["names", "data flow", "habit", ""])]
    vocabulary: bool
    extent: Extent
    calls: Several
    formats: tuple[str, str, str]
    wide: Wide | None = None
    arguments: tuple[str, str] = ("", "")
    scales: tuple[OperandScale | None, OperandScale | None] = (None, None)
    number: int = -1
    turns: float = 1.0
    unknown_turns: bool = False

    @property
    def flops(self) -> int | None:
        """The number of floating-point operations of all its calls; None if a size is unknown."""
        sizes = self.extent
        if not all(size.known for size in sizes):
            return None
        product = 2 * self.calls
        for size in sizes:
            product *= size.least
        return product

    @property
    def statistics(self) -> Count:
        """The number of its operands that are measured at run time."""
        return sum(scale is not None and scale.origin == MEASURED for scale in self.scales)

    @property
    def is_layer(self) -> bool:
        """Whether it is a layer: a forward matmul or convolution by a weight."""
        return self.part == FORWARD and WEIGHT in self.roles

    @property
    def label(self) -> str:
        """The name of its layer."""
        return self.names[0]

    @property
    def name(self) -> str:
        """The name, which matches it as a pattern, and others only if they have the same name."""
        return f"{self.label}{MARK}{self.use}"

    @property
    def part(self) -> Part:
        """The part of the program: ``forward``, ``backward`` or ``other``."""
        return part_of_use(self.use)

    @property
    def site(self) -> tuple[str, ...]:
        """The name, and all names that patterns match, as passes have them on the op."""
        return self.name, *self.names

    @property
    def tags(self) -> list[str]:
        """The tags that patterns may have after ``@``."""
        return tags_of(self.use, self.roles, vocabulary=self.vocabulary)

    def is_matched(self, pattern: str) -> bool:
        """Returns whether a pattern of a recipe matches it.

        Args:
            pattern: The pattern, as in ``matmul.include`` and ``matmul.exclude``.

        Returns:
            True if it matches.
        """
        return is_matmul_like(pattern, self.names, self.tags)


@keys("*matmul remarks warnings")
class MatmulEntry(NamedTuple):
    """A matmul, and the remarks of the report on it."""

    matmul: MatmulReport
    told: Sequence[str]

    @property
    def remarks(self) -> list[str]:
        """The requests that the rewrite could not meet."""
        scales = [scale.remark for scale in self.matmul.scales if scale is not None]
        told = self.told if self.matmul.wide is not None else ()
        return list(dict.fromkeys([*told, *filter(None, scales)]))

    @property
    def warnings(self) -> list[str]:
        """The reason for which the scale of an operand may be wrong."""
        scales = [scale.warning for scale in self.matmul.scales if scale is not None]
        return list(dict.fromkeys(filter(None, scales)))


def matmul_entries(matmuls: Sequence[MatmulReport], remarks: Iterable[Remark]) -> list[MatmulEntry]:
    """Returns each matmul with the remarks on it.

    Args:
        matmuls: The matmuls.
        remarks: The remarks of the report, some of which are on matmuls.
    """
    known: dict[tuple[str, str], list[str]] = {}
    for remark in remarks:
        known.setdefault((remark.location, remark.op), []).append(remark.message)
    return [MatmulEntry(each, known.get((each.location, each.op), [])) for each in matmuls]


def with_layers(remarks: Iterable[Remark], matmuls: Iterable[MatmulReport]) -> list[Remark]:
    """Returns remarks with the names of the layers that their ops are part of.

    Args:
        remarks: The remarks.
        matmuls: The matmuls of the program. Casts of an operand have the location of its matmul.
    """
    labels: dict[str, dict[str, None]] = {}
    for matmul in matmuls:
        labels.setdefault(matmul.location, {})[matmul.label] = None

    def layer_of(remark: Remark) -> str:
        first, *others = labels.get(remark.location) or [layer_in(name_of_text(remark.location))]
        return f"{first} and {len(others)} more" if others else first

    return [replace(each, layer=each.layer or layer_of(each)) for each in remarks]
