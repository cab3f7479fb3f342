"""The report of a rewrite, for callers of `rewrite` and for `scalify-hlo inspect`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from scalify_hlo.algebra.limits import GIVEN_BOUND
from scalify_hlo.algebra.scale import AnyScale, Scaled, ScaleInfo
from scalify_hlo.analysis.sizes import Extent
from scalify_hlo.errors import Remark
from scalify_hlo.rules.scale_rewriter import Untrusted


class ValueReport(NamedTuple):
    """One argument or result of the program.

    Attributes:
        name: The pytree path, such as ``params['w']``.
        type: The MLIR type before the rewrite.
        paired: Whether it became data and scale.
        info: The scale information after the rewrite.
        moved: For a result that may be an argument of the next call: the arguments of which the
            scales are factors of its own. Over many calls, its scale could leave any range.
        bound: For such a result: the bound on ``|log2|`` of the scales of these arguments.
    """

    name: str
    type: str
    paired: bool
    info: ScaleInfo
    moved: tuple[int, ...] = ()
    bound: int = GIVEN_BOUND

    @property
    def scaled(self) -> bool:
        """Whether the value is scaled."""
        return isinstance(self.info, Scaled)

    @property
    def scale(self) -> str:
        """The scale as text: ``2^-4``, ``s0``, ``any`` or ``unscaled``."""
        if not isinstance(self.info, Scaled):
            return "unscaled" if self.info is None else str(self.info)
        return str(self.info.scale if self.info.decayed else self.info.normalized)


class Wide(NamedTuple):
    """The reason why a matmul is not quantized.

    Attributes:
        kind: A short name of the reason, by which a summary counts.
        reason: The reason, as the text that follows ``stays wide: ``.
        chosen: Whether the recipe excludes the matmul on purpose. Otherwise it is a fallback, and
            the user gets a remark.
        hint: What to do about a fallback.
    """

    kind: str
    reason: str
    chosen: bool = False
    hint: str = "matmul.exclude leaves it out on purpose"


@dataclass(frozen=True, slots=True)
class MatmulReport:
    """One matmul or convolution of the program.

    Attributes:
        name: The name stack, if the program has it.
        op: The name of the op.
        location: The source location, as MLIR prints it.
        part: ``forward``, ``backward`` or ``other``.
        roles: The roles of the operands.
        certainty: The evidence for the roles: ``names``, ``data flow``, or ``habit`` if only a
            habit of jax decides between two readings.
        vocabulary: Whether it projects to a vocabulary, or is the backward of such a matmul.
        extent: M, N and K, in elements.
        calls: The number of its occurrences in the program, with each call of its function counted.
        formats: The formats of its operands and of its result, after a recipe was applied if one
            was.
        wide: The reason why it is not quantized; None if it is, or if no recipe was applied.
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


MEASURED: Final = "inputs.measure"
"""The kind of the sites that are inputs whose scales are measured; the key of the option."""


class SiteReport(NamedTuple):
    """One dynamic rescaling that a recipe inserted into the program.

    Attributes:
        kind: The table of the recipe that asks for it, such as ``norm_gradients``.
        name: The name stack of the rescaled value, if the program has it.
        statistic: ``l2``, ``l1`` or ``max``.
        every: The interval in steps: the value is rescaled in steps that are multiples of it.
    """

    kind: str
    name: str
    statistic: str
    every: int


class LayerReport(NamedTuple):
    """One layer, in one call of its function.

    Attributes:
        name: The kind of layer: ``layer_norm``, ``gelu`` ...
        part: ``forward`` or ``backward``.
        where: The name stack of its last op, if the program has it.
        gradient: For the forward part, whether the gradient of its input is found: ``alone``,
            ``with others`` if only a sum with other gradients is found, or empty if not at all.
    """

    name: str
    part: str
    where: str
    gradient: str


class ScalingState(NamedTuple):
    """The state of delayed scales, which is the last three arguments and results of a program.

    Attributes:
        names: The names of the tensors with scales, in the order of the arrays of the state.
        length: The length of the amax history, in steps.
    """

    names: tuple[str, ...]
    length: int


@dataclass
class Report:
    """The report of a rewrite.

    Attributes:
        arguments: The arguments of ``main`` before the rewrite.
        results: The results of ``main`` before the rewrite. All their sizes are predicted only if
            ops are annotated.
        remarks: Messages for the user, such as on ops that have no scaled form.
        values: The number of float results of ops that are ``static``, ``dynamic``, ``any`` or
            ``unscaled``; counted only if ops are annotated.
        ops: The number of occurrences of each op before the rewrite.
        matmuls: The matmuls with their roles, if roles were asked for, and their formats.
        recipe: The name of the recipe; empty unless a whole rewrite was asked for.
        roles: The roles of arguments by their names, if roles were asked for.
        layers: The layers, if they were asked for.
        markers: The number of markers in the program, inserted ones included.
        observed: The names of operands whose sizes and scales the program returns, if asked for.
        untrusted: The casts of data whose predicted size is too uncertain.
        tensors: The names of each tensor of which the program returns a histogram, if asked for.
        sites: The dynamic rescalings that a recipe inserted.
        scaling_state: The state of delayed scales; None if the program has none.
        narrowed: The number of matmuls whose operands are quantized.
        given_up: For each op, how often it read values at scale 1 although an operand was scaled.
    """

    arguments: list[ValueReport] = field(default_factory=list)
    results: list[ValueReport] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    values: Counter[str] = field(default_factory=Counter)
    ops: Counter[str] = field(default_factory=Counter)
    given_up: Counter[str] = field(default_factory=Counter)
    narrowed: int = 0
    scaling_state: ScalingState | None = None
    markers: int = 0
    observed: list[str] = field(default_factory=list)
    untrusted: list[Untrusted] = field(default_factory=list)
    tensors: list[tuple[str, ...]] = field(default_factory=list)
    sites: list[SiteReport] = field(default_factory=list)
    matmuls: list[MatmulReport] = field(default_factory=list)
    recipe: str = ""
    roles: dict[str, str] = field(default_factory=dict)
    layers: list[LayerReport] = field(default_factory=list)


def kind_of(info: ScaleInfo) -> str:
    """The key of `Report.values` under which a value is counted."""
    if isinstance(info, Scaled):
        return "static" if info.scale.static else "dynamic"
    return "any" if isinstance(info, AnyScale) else "unscaled"
