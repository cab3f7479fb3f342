"""The report of a rewrite, for callers of `rewrite` and for `scalify-hlo inspect`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated, Final, NamedTuple, TypeAlias

from scalify_hlo.algebra.limits import GIVEN_BOUND
from scalify_hlo.algebra.scale import AnyScale, Scaled, ScaleInfo
from scalify_hlo.errors import Remark
from scalify_hlo.report.matmuls import ASSUMED
from scalify_hlo.report.matmuls import MatmulReport as MatmulReport
from scalify_hlo.report.matmuls import Wide as Wide
from scalify_hlo.report.totals import BOUNDS, STATE_ROLES, StateBytes, Totals
from scalify_hlo.results.kinds import Count, Microseconds, Several, one_of, rounded
from scalify_hlo.results.model import keys
from scalify_hlo.results.shown import Shown
from scalify_hlo.rules.reported_scales import CastScale
from scalify_hlo.rules.scale_rewriter import Untrusted


@keys("name type paired scale=known_scale")
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
        packed: Whether it is a moment with a scale for each block.
        carried: Whether it is a result that replaces an argument in the next call.
    """

    name: str
    type: str
    paired: bool
    info: ScaleInfo
    moved: tuple[int, ...] = ()
    bound: int = GIVEN_BOUND
    packed: bool = False
    carried: bool = False

    @property
    def scaled(self) -> bool:
        """Whether the value is scaled."""
        return isinstance(self.info, Scaled)

    @property
    def scale(self) -> str:
        """The scale as text: ``2^-4``, ``s0``, ``any``, ``blocks`` or ``unscaled``."""
        if self.packed:
            return "blocks"
        if not isinstance(self.info, Scaled):
            return "unscaled" if self.info is None else str(self.info)
        return str(self.info.scale if self.info.decayed else self.info.normalized)

    @property
    def known_scale(self) -> str | None:
        """Its scale; null if it is unscaled."""
        return self.scale if self.scaled or self.packed else None


MEASURED: Final = "inputs"
"""The kind of the sites that are inputs whose sizes are measured: those that `inputs.verify` names,
and those without a scale."""


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
    statistic: Annotated[str, one_of(["l1", "l2", "max"])]
    every: Several


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


class StateReport(NamedTuple):
    """The state of delayed scales, which is the last three arguments and results of a program.

    Attributes:
        names: The names of the tensors with scales, in the order of the arrays of the state.
        length: The length of the amax history, in steps.
    """

    names: tuple[str, ...]
    length: int


_Speed: TypeAlias = Annotated[float, rounded(4, minimum=0)]


@keys("target us=seconds us_in_bf16=before speedup speedup_with_launches speedup_reached")
class Estimate(NamedTuple):
    """The estimated time of a rewritten program on a device, against the original in bf16.

    Attributes:
        target: The name of the device.
        seconds: The time of the program.
        before: The time of the original in bf16.
        speedup_with_launches: The ratio of both, with 2 µs for each kernel.
        speedup_reached: The same at the speeds that kernels reached on the device; None if none
            were timed there.
    """

    target: str
    seconds: Microseconds
    before: Microseconds
    speedup_with_launches: _Speed
    speedup_reached: _Speed | None = None

    @property
    def speedup(self) -> _Speed:
        """The time of the original over that of the program."""
        return self.before / self.seconds


@dataclass
class Report(Shown):
    """The report of a rewrite.

    Attributes:
        arguments: The arguments of ``main`` before the rewrite.
        results: The results of ``main`` before the rewrite. All their sizes are predicted only if
            ops are annotated.
        remarks: Messages for the user, such as on ops that have no scaled form.
        values: The number of float results of ops that are ``static``, ``dynamic``, ``any`` or
            ``unscaled``; counted only if ops are annotated.
        ops: The number of occurrences of each op before the rewrite.
        given_up: For each op, how often it read values at scale 1 although an operand was scaled.
        narrowed: The number of matmuls whose operands are quantized.
        statistics: The number of statistics that the program computes at run time: reductions of a
            tensor to its amax, rms or mean magnitude. A statistic in a function counts once for
            each call, and one in a loop counts once.
        state_bytes: The bytes of the state of a training step that are kept between steps; None if
            the recipe changes no format of state.
        casts: The scales of the casts of matmul operands, if a report was asked for.
        scaling_state: The state of delayed scales; None if the program has none.
        markers: The number of markers in the program, inserted ones included.
        untrusted: The casts of data whose predicted size is too uncertain.
        tensors: The names of each tensor of which the program returns a histogram, if asked for.
        sites: The dynamic rescalings that a recipe inserted.
        matmuls: The matmuls with their roles, if roles were asked for, and their formats.
        averages: The number of averages of weights that keep their formats, as they move too slowly
            to be rounded to the format of weights.
        optimized: The number of scatters that became selects, if the program was to be optimized.
        ordered: The number of matmuls whose dimensions are in another order, for GPUs.
        kept_before: The bytes that loops kept for the backward pass, where they keep others now.
        kept_after: The bytes that these loops keep now.
        kept_rounded: The number of values that are kept rounded for the backward pass.
        compute: The format of the rest of the model, if the recipe changes it.
        recipe: The name of the recipe; empty unless a whole rewrite was asked for.
        quantizes: Whether the recipe quantizes matmuls.
        baseline: The effect of a baseline of the literature, in words; empty for other recipes.
        kept: The number of results that keep their old values in a step whose gradients are not
            finite, if the recipe skips such steps; None for other recipes.
        roles: The roles of arguments by their names, if roles were asked for.
        layers: The layers, if they were asked for.
        estimate: The estimated time on a device, if ``rewrite --target`` made one.
    """

    DUMP = "passes.summary.dump_report"
    LINES = "cli.rewrite.lines"
    ROWS = "matmuls"

    arguments: list[ValueReport] = field(default_factory=list)
    results: list[ValueReport] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    values: Counter[str] = field(default_factory=Counter)
    ops: Counter[str] = field(default_factory=Counter)
    given_up: Counter[str] = field(default_factory=Counter)
    narrowed: int = 0
    statistics: int = 0
    state_bytes: StateBytes | None = None
    casts: list[CastScale] = field(default_factory=list)
    scaling_state: StateReport | None = None
    markers: int = 0
    untrusted: list[Untrusted] = field(default_factory=list)
    tensors: list[tuple[str, ...]] = field(default_factory=list)
    sites: list[SiteReport] = field(default_factory=list)
    matmuls: list[MatmulReport] = field(default_factory=list)
    averages: Count = 0
    optimized: Count = 0
    ordered: Count = 0
    kept_before: Count = 0
    kept_after: Count = 0
    kept_rounded: Count = 0
    compute: Annotated[str, one_of(["bf16", "f16"])] | None = None
    recipe: str = ""
    quantizes: bool = False
    baseline: str = ""
    kept: int | None = None
    roles: dict[str, str] = field(default_factory=dict)
    layers: list[LayerReport] = field(default_factory=list)
    estimate: Estimate | None = None

    def __repr__(self) -> str:
        counts = f"matmuls={len(self.matmuls)}, narrowed={self.narrowed}"
        return f"Report(recipe={self.recipe!r}, {counts}, remarks={len(self.remarks)})"

    @property
    def has_scales(self) -> bool:
        """Whether the program has scales: of arguments or results, or of markers."""
        values = (*self.arguments, *self.results)
        return bool(self.markers) or any(value.scaled or value.paired for value in values)

    @property
    def totals(self) -> Totals:
        """The numbers of matmuls, their shares in low precision, statistics and bytes of state."""
        assumed = {
            scale.argument
            for matmul in self.matmuls
            for scale in matmul.scales
            if scale is not None and scale.origin == ASSUMED
        }
        carried = any(role in STATE_ROLES for role in self.roles.values())
        kept = StateBytes(1, 1) if carried else None
        return Totals.of(
            self.matmuls,
            statistics=self.statistics,
            state=self.state_bytes or kept,
            remarks=len(self.remarks),
            assumed=len(assumed),
        )

    def require(self, bounds: str) -> None:
        """Checks bounds on the totals of a rewrite.

        Args:
            bounds: The bounds, such as ``narrow>=0.9,statistics<=2``; see ``rewrite --require``.

        Raises:
            InputError: One does not hold.
            UsageError: A name is unknown, or the text is not of that form.
        """
        BOUNDS.check(self.totals, BOUNDS.parse(bounds), f"recipe {self.recipe}")


def kind_of(info: ScaleInfo) -> str:
    """Returns the key of `Report.values` under which a value is counted."""
    if isinstance(info, Scaled):
        return "static" if info.scale.static else "dynamic"
    return "any" if isinstance(info, AnyScale) else "unscaled"
