"""What a rewrite did, for callers, `inspect` and remarks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.diagnostics import Remark
from scalify_hlo.roles.listing import Listing
from scalify_hlo.roles.sizes import Extent
from scalify_hlo.rules.split import Untrusted
from scalify_hlo.scale import GENERATOR_BOUND, Any, Form, Scaled


class ValueReport(NamedTuple):
    """One argument or result of the program.

    Attributes:
        name: Its path, such as ``params['w']``.
        type: Its MLIR type before the rewrite.
        paired: Whether it became data and scale.
        form: What is known of it.
        moved: For a result that a caller may give as an argument again: the arguments that it may
            be whose scale is a part of its own. Over many calls it would leave any range.
        bound: For such a result: log2 of how far from 1 the scales of these may be.
    """

    name: str
    type: str
    paired: bool
    form: Form
    moved: tuple[int, ...] = ()
    bound: int = GENERATOR_BOUND

    @property
    def scaled(self) -> bool:
        """Whether a scale reached it."""
        return isinstance(self.form, Scaled)

    @property
    def scale(self) -> str:
        """The scale as text: ``2^-4``, ``s0``, ``any`` or ``unscaled``."""
        if not isinstance(self.form, Scaled):
            return "unscaled" if self.form is None else str(self.form)
        return str(self.form.scale if self.form.decayed else self.form.settled)


class Wide(NamedTuple):
    """Why a matmul keeps the formats that it has.

    Attributes:
        kind: A word or two for it, by which a summary counts.
        reason: The reason, as it follows ``stays wide: ``.
        chosen: Whether the recipe leaves it out on purpose. What it does not is a fall-back, of
            which the user is told.
        hint: What to do about a fall-back.
    """

    kind: str
    reason: str
    chosen: bool = False
    hint: str = "matmul.exclude leaves it out on purpose"


@dataclass(frozen=True, slots=True)
class MatmulReport:
    """One matmul or convolution of the program.

    Attributes:
        name: Its name stack, where the program has it.
        op: The name of the op.
        location: The source location, as MLIR prints it.
        part: ``forward``, ``backward`` or ``other``.
        roles: The roles of its operands.
        certainty: What the roles were read off: ``names``, ``data flow`` or ``habit``.
        vocabulary: Whether it projects to a vocabulary, or is the backward of one that does.
        extent: M, N and K.
        calls: How often it stands in the program, all calls of its function counted.
        formats: Those of its operands and of its result: as the program has them, and once a
            recipe was applied, as the matmul has them then.
        wide: Why it keeps its formats; None if it takes narrow operands, or no recipe was applied.
    """

    name: str
    op: str
    location: str
    part: str
    roles: tuple[str, str]
    certainty: str
    vocabulary: bool
    extent: Extent
    calls: int
    formats: tuple[str, str, str]
    wide: Wide | None = None


class SiteReport(NamedTuple):
    """One dynamic rescaling that a recipe put into the program.

    Attributes:
        kind: What of the recipe asked for it, such as ``norm_gradients``.
        name: The name stack of what it rescales, where the program has it.
        statistic: ``l2``, ``l1`` or ``max``.
        every: It acts in each of so many steps.
    """

    kind: str
    name: str
    statistic: str
    every: int


class LayerReport(NamedTuple):
    """One layer, as one call of its function makes it.

    Attributes:
        name: What it is: ``layer_norm``, ``gelu`` ...
        part: ``forward`` or ``backward``.
        where: The name stack of the op that ends it, where the program has it.
        gradient: For the forward part, what is known of the gradient of its input: ``alone``, or
            ``with others`` where it is found only after others are added; empty if not at all.
    """

    name: str
    part: str
    where: str
    gradient: str


class ScalingState(NamedTuple):
    """The state of delayed scales, which is the last three arguments and results of a program.

    Attributes:
        names: The tensors that have scales, in the order of its arrays.
        length: How many steps it looks back on.
    """

    names: tuple[str, ...]
    length: int


class ResultMarks(NamedTuple):
    """The attributes of results of ``main`` before and after they were marked as state.

    Attributes:
        before: As they were; None if there were none.
        after: As they are, unless a pass changed them since.
        names: The names of the results.
    """

    before: ir.Attribute | None
    after: ir.Attribute | None
    names: list[str]


@dataclass
class Report:
    """What a rewrite did.

    Attributes:
        arguments: The arguments of ``main``, as they were.
        results: The results of ``main``, as they were; their sizes are followed to the end only
            where ops are annotated.
        remarks: What the user should know, such as ops that had to be unscaled around.
        values: How many float results of ops are ``static``, ``dynamic``, ``any`` or
            ``unscaled``; counted only where forms are annotated.
        ops: How often each op occurs in the program, as it was.
        matmuls: The matmuls and their roles, where roles were asked for, and what a recipe did with
            each, where one was applied.
        recipe: The name of the recipe, where a whole rewrite was asked for.
        roles: The roles of arguments by their names, where roles were asked for.
        listing: The ops of ``main``, as long as all passes add and erase none, or list them again.
        result_marks: What was said of state on results, where roles were asked for.
        layers: The layers, where they were asked for.
        marked: The names of the ops that layers were marked on; None where no pass looked for them.
        casts: How many casts a recipe put into the program that propagation is to reach; once it
            looked for them, how many it did not.
        markers: How many markers the program has, or was given.
        observed: The names of the operands whose sizes and scales the program returns, if asked.
        untrusted: The casts of data whose predicted size could not be trusted.
        tensors: The names of each tensor of which the program returns a histogram, if asked.
        sites: The rescalings that a recipe put in.
        scaling_state: That of delayed scales, if the program was given one.
        narrowed: How many matmuls were given operands of low precision.
        given_up: How often each op read values at scale 1 although an operand was scaled.
        dense: Whether a constant has elements of its own, as far as the ops were counted.
        plain_calls: Whether functions are named only by calls outside of regions, as far as the
            ops were counted.
    """

    arguments: list[ValueReport] = field(default_factory=list)
    results: list[ValueReport] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    values: Counter[str] = field(default_factory=Counter)
    ops: Counter[str] = field(default_factory=Counter)
    given_up: Counter[str] = field(default_factory=Counter)
    narrowed: int = 0
    scaling_state: ScalingState | None = None
    casts: int = 0
    markers: int = 0
    observed: list[str] = field(default_factory=list)
    untrusted: list[Untrusted] = field(default_factory=list)
    tensors: list[tuple[str, ...]] = field(default_factory=list)
    sites: list[SiteReport] = field(default_factory=list)
    matmuls: list[MatmulReport] = field(default_factory=list)
    recipe: str = ""
    roles: dict[str, str] = field(default_factory=dict)
    listing: Listing | None = None
    result_marks: ResultMarks | None = None
    layers: list[LayerReport] = field(default_factory=list)
    marked: set[str] | None = None
    dense: bool = False
    plain_calls: bool = True


def kind_of(form: Form) -> str:
    """What a value counts as in `Report.values`."""
    if isinstance(form, Scaled):
        return "static" if form.scale.static else "dynamic"
    return "any" if isinstance(form, Any) else "unscaled"
