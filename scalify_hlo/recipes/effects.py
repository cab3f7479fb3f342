"""The conditions under which an option of a recipe has an effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from scalify_hlo.recipes.formats import OPERANDS, SMALL
from scalify_hlo.recipes.model import DEVICES, KEEP, NONE, Recipe


class Need(NamedTuple):
    """A condition on a recipe.

    Attributes:
        met: Whether a recipe meets the condition.
        reason: The reason why a recipe does not, as a clause; it may format fields of the recipe.
        cure: The change that meets the condition, as an imperative sentence.
    """

    met: Callable[[Recipe], bool]
    reason: str
    cure: str


class Idle(NamedTuple):
    """An option without effect.

    Attributes:
        key: The key of the option, such as ``scaling.margin``.
        reason: The reason why the option has no effect, as a clause.
        cure: The change that would give it an effect, as an imperative sentence.
    """

    key: str
    reason: str
    cure: str

    @property
    def message(self) -> str:
        """The message of an error about the option."""
        return f"{self.key} has no effect: {self.reason}"


def idle(recipe: Recipe) -> Iterator[Idle]:
    """Yields the options that have no effect in a recipe, whatever their values."""
    yield from _unmet(recipe, NEEDS)


def idle_under_same(recipe: Recipe) -> Iterator[Idle]:
    """Yields the options that have no effect with the signature ``same``."""
    yield from _unmet(recipe, dict.fromkeys(OF_PAIRS, _PAIRS))


def _unmet(recipe: Recipe, needs: Mapping[str, Need]) -> Iterator[Idle]:
    for key, need in needs.items():
        if not need.met(recipe):
            yield Idle(key, need.reason.format(recipe), need.cure)


def _operands(recipe: Recipe) -> list[str]:
    return [getattr(recipe.matmul, key.partition(".")[2]) for key in OPERANDS]


def _takes_percentile(recipe: Recipe) -> bool:
    methods = [recipe.scaling.method, *(m.rpartition("=")[2] for m in recipe.scaling.methods)]
    return recipe.scaling.kind == "calibrated" and "percentile" in methods


def _counts_steps(recipe: Recipe) -> bool:
    tables = (*_RESCALES, "state_rescale", "sites")
    return any(getattr(recipe, table).every > 1 for table in tables)


def _of_kinds(*kinds: str) -> Need:
    return Need(
        lambda recipe: recipe.scaling.kind in kinds,
        "scaling.kind is {0.scaling.kind}",
        f"set scaling.kind={' or '.join(kinds)}, or leave the option out",
    )


def _rescaling(table: str) -> Need:
    return Need(
        lambda recipe: getattr(recipe, table).statistic != NONE,
        f"{table}.statistic is none",
        f"set {table}.statistic, or leave the option out",
    )


_RESCALES: Final = ("norm_gradients", "state_gradients", "matmul_operands")

_NARROW: Final = Need(
    lambda recipe: recipe.matmul.narrow,
    "the recipe keeps the formats of all matmul operands",
    f"set {', '.join(OPERANDS)}, or start from a preset such as fp8",
)
_F8: Final = Need(
    lambda recipe: not set(SMALL).isdisjoint(_operands(recipe)),
    "the recipe gives no matmul f8 or f4 operands",
    f"set {', '.join(OPERANDS)} to f8 formats, or start from a preset such as fp8",
)
_DEVICE: Final = Need(
    lambda recipe: recipe.target in DEVICES and not set(SMALL).isdisjoint(_operands(recipe)),
    "the target {0.target} has no estimate, or the recipe gives no matmul f8 or f4 operands",
    f"set target to {', '.join(sorted(DEVICES))}, or leave the option out",
)
_CASTS: Final = Need(
    lambda recipe: recipe.narrow,
    "the recipe changes no format",
    "set the formats of matmul, state or compute, or leave the option out",
)
_DATA: Final = Need(
    lambda recipe: recipe.narrow_data,
    "the recipe casts no data with propagated scales",
    "set formats and leave scaling.kind at propagated, or leave the option out",
)
_ROLES: Final = Need(
    lambda recipe: recipe.narrow or recipe.rescales,
    "the recipe changes no format and rescales nothing",
    "set formats or a rescaling, or leave the option out",
)
_SITES: Final = Need(
    lambda recipe: bool(recipe.sites.names),
    "sites.names is empty",
    "name ops with sites.names, or leave the option out",
)
_STATE: Final = Need(
    lambda recipe: recipe.state.narrow or recipe.state_rescale.statistic != NONE,
    "the recipe rescales no state",
    "set state_rescale.statistic, or keep state in f16 or f8, which is always rescaled",
)
_MOMENTS: Final = Need(
    lambda recipe: bool(
        {recipe.state.first_moment, recipe.state.second_moment}.intersection(SMALL)
    ),
    "the recipe stores no moments in f8",
    "set state.first_moment or state.second_moment to e4m3 or e5m2, or leave the option out",
)
_WEIGHTS: Final = Need(
    lambda recipe: recipe.state.weight not in (KEEP, "f32"),
    "state.weight is {0.state.weight}, and no weights are rounded to fewer bits",
    "set state.weight to bf16, f16 or an f8 format, or leave the option out",
)
_STEPS: Final = Need(
    _counts_steps,
    "no rescaling has an `every` above 1",
    "set `every` of a rescaling, or leave the option out",
)
_PERCENTILE: Final = Need(
    _takes_percentile,
    "no calibrated scale is a percentile",
    "set scaling.kind=calibrated and scaling.method=percentile, or leave the option out",
)
_ROUNDED: Final = Need(
    lambda recipe: recipe.scaling.kind == "block" and recipe.blocks.scale == "e8m0",
    "the recipe has no block scales that are powers of two",
    "set scaling.kind=block and blocks.scale=e8m0, or leave the option out",
)
_PAIRS: Final = Need(
    lambda _: False,
    "with the signature same, arguments and state have the formats of the program",
    "give the signature scaled, with which they are data and scale, or leave the option out",
)

NEEDS: Final[Mapping[str, Need]] = {
    "saturate": _CASTS,
    "predict": _DATA,
    "untrusted": _DATA,
    "matmul.output": _NARROW,
    "matmul.smallest": _F8,
    "matmul.vocabulary": _F8,
    "matmul.last_wide": _NARROW,
    "matmul.slower": _DEVICE,
    "matmul.include": _NARROW,
    "matmul.exclude": _NARROW,
    "scaling.kind": _NARROW,
    "scaling.margin": _of_kinds("current", "delayed", "calibrated"),
    "scaling.power_2_scale": _of_kinds("current", "delayed"),
    "scaling.amax_history_len": _of_kinds("delayed"),
    "scaling.amax_compute_algo": _of_kinds("delayed"),
    "scaling.interval": _of_kinds("delayed"),
    "scaling.weight_scales": _of_kinds("current", "calibrated"),
    "scaling.batch": _of_kinds("current", "delayed"),
    "scaling.method": _of_kinds("calibrated"),
    "scaling.methods": _of_kinds("calibrated"),
    "scaling.percentile": _PERCENTILE,
    "blocks.size": _of_kinds("block"),
    "blocks.scale": _of_kinds("block"),
    "blocks.rounding": _ROUNDED,
    "blocks.weight": _of_kinds("block"),
    "blocks.gradient_rounding": _of_kinds("block"),
    "blocks.hadamard": _of_kinds("block"),
    "state.moment_scales": _MOMENTS,
    "state.weight_rounding": _WEIGHTS,
    "inputs.weight": _ROLES,
    "inputs.first_moment": _ROLES,
    "inputs.second_moment": _ROLES,
    "inputs.activation": _ROLES,
    "inputs.gradient": _ROLES,
    "inputs.step": _STEPS,
    "inputs.verify": _DATA,
    **{f"{table}.{key}": _rescaling(table) for table in _RESCALES for key in ("rounding", "every")},
    "state_rescale.rounding": _STATE,
    "state_rescale.every": _STATE,
    "sites.names": _rescaling("sites"),
    "sites.statistic": _SITES,
    "sites.rounding": _SITES,
    "sites.every": _SITES,
}
"""The condition of each option; options that are not listed always have an effect."""

OF_PAIRS: Final = (
    "state.weight",
    "state.first_moment",
    "state.second_moment",
    "state.moment_scales",
    "state.weight_rounding",
    "state_rescale.statistic",
    "state_rescale.rounding",
    "state_rescale.every",
    "inputs.blocks",
)
"""The options of arguments and state that are pairs."""
