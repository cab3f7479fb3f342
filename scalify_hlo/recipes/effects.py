"""The conditions under which an option of a recipe has an effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from scalify_hlo.recipes.formats import DEVICES, KEEP, OPERANDS, SMALL, formats_in


class Need(NamedTuple):
    """A condition on a recipe, which the option `needs` of a field names.

    Attributes:
        met: Whether a recipe meets the condition, given the name of the table of the option.
        reason: The reason why a recipe does not, as a clause; it may format fields of the recipe,
            and the name of the table.
        cure: The change that meets the condition, as an imperative sentence.
    """

    met: Callable[[Any, str], bool]
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


RESCALES: Final = (
    "norm_gradients",
    "state_gradients",
    "matmul_operands",
    "state_rescale",
    "sites",
)
"""The tables of rescalings."""


def _operands(recipe: Any) -> list[str]:
    return [getattr(recipe.matmul, key.partition(".")[2]) for key in OPERANDS]


def _takes_percentile(recipe: Any, _: str) -> bool:
    methods = [recipe.scaling.method, *(m.rpartition("=")[2] for m in recipe.scaling.methods)]
    return recipe.scaling.kind == "calibrated" and "percentile" in methods


def of_kinds(*kinds: str) -> Need:
    """Returns the condition that the scales of operands are of one of some kinds."""
    return Need(
        lambda recipe, _: recipe.scaling.kind in kinds,
        "scaling.kind is {0.scaling.kind}",
        f"set scaling.kind={' or '.join(kinds)}, or leave the option out",
    )


NARROW: Final = Need(
    lambda recipe, _: recipe.matmul.narrow,
    "the recipe keeps the formats of all matmul operands",
    f"set {', '.join(OPERANDS)}, or start from a preset such as fp8",
)
F8: Final = Need(
    lambda recipe, _: not set(SMALL).isdisjoint(_operands(recipe)),
    "the recipe gives no matmul f8 or f4 operands",
    f"set {', '.join(OPERANDS)} to f8 formats, or start from a preset such as fp8",
)
DEVICE: Final = Need(
    lambda recipe, _: recipe.platform.device and not set(SMALL).isdisjoint(_operands(recipe)),
    "the target {0.target} has no estimate, or the recipe gives no matmul f8 or f4 operands",
    f"set target to {', '.join(DEVICES)}, or leave the option out",
)
CASTS: Final = Need(
    lambda recipe, _: recipe.narrow,
    "the recipe changes no format",
    "set the formats of matmul, state or compute, or leave the option out",
)
DATA: Final = Need(
    lambda recipe, _: recipe.narrow_data,
    "the recipe casts no data with propagated scales",
    "set formats and leave scaling.kind at propagated, or leave the option out",
)
ROLES: Final = Need(
    lambda recipe, _: recipe.narrow or recipe.rescales,
    "the recipe changes no format and rescales nothing",
    "set formats or a rescaling, or leave the option out",
)
RESCALED: Final = Need(
    lambda recipe, table: (
        getattr(recipe, table).statistic != "none"
        or (table == "state_rescale" and recipe.state.narrow)
    ),
    "{1}.statistic is none",
    "set {1}.statistic, or leave the option out",
)
SITES: Final = Need(
    lambda recipe, _: bool(recipe.sites.names),
    "sites.names is empty",
    "name ops with sites.names, or leave the option out",
)
MOMENTS: Final = Need(
    lambda recipe, _: bool(
        formats_in(recipe.state.first_moment, recipe.state.second_moment).intersection(SMALL)
    ),
    "the recipe stores no moments in f8",
    "set state.first_moment or state.second_moment to e4m3 or e5m2, or leave the option out",
)
WEIGHTS: Final = Need(
    lambda recipe, _: not formats_in(recipe.state.weight) <= {KEEP, "f32"},
    "state.weight is {0.state.weight}, and no weights are rounded to fewer bits",
    "set state.weight to bf16, f16 or an f8 format, or leave the option out",
)
STEPS: Final = Need(
    lambda recipe, _: any(getattr(recipe, table).every > 1 for table in RESCALES),
    "no rescaling has an `every` above 1",
    "set `every` of a rescaling, or leave the option out",
)
PERCENTILE: Final = Need(
    _takes_percentile,
    "no calibrated scale is a percentile",
    "set scaling.kind=calibrated and scaling.method=percentile, or leave the option out",
)
ROUNDED: Final = Need(
    lambda recipe, _: recipe.scaling.kind == "block" and recipe.blocks.scale == "e8m0",
    "the recipe has no block scales that are powers of two",
    "set scaling.kind=block and blocks.scale=e8m0, or leave the option out",
)
LOSS_SCALED: Final = Need(
    lambda recipe, _: recipe.loss_scale.kind != "none",
    "loss_scale.kind is none",
    "set loss_scale.kind=constant or automatic, or leave the option out",
)
AUTOMATIC: Final = Need(
    lambda recipe, _: recipe.loss_scale.kind == "automatic",
    "loss_scale.kind is {0.loss_scale.kind}",
    "set loss_scale.kind=automatic, or leave the option out",
)
SAVED: Final = Need(
    lambda recipe, _: recipe.activations.saved == "f8",
    "activations.saved is {0.activations.saved}",
    "set activations.saved=f8, or leave the option out",
)
CUT: Final = Need(
    lambda recipe, _: recipe.residuals != "keep",
    "residuals is keep",
    "set residuals=auto, or leave the option out",
)
PAIRS: Final = Need(
    lambda _, __: False,
    "with the signature same, arguments and state have the formats of the program",
    "give the signature scaled, with which they are data and scale, or leave the option out",
)
"""The condition of options of arguments and state that are pairs: the signature is ``scaled``."""

MISSING: Final = {
    "norm_gradients": "no gradient of a normalization is found",
    "state_gradients": "no gradient of state is found",
    "matmul_operands": "the program has no matmul with known roles",
    "state_rescale": "the program returns no state that it takes as data and scale",
    "state.gradient": "no gradient of state is found",
    "activations": "no pass keeps a value for a later one that only elementwise ops read",
    "loss_scale": "no loss with gradients is found",
    "matmul.vocabulary": "no matmul projects to a vocabulary",
    "matmul.activation": "no matmul multiplies an activation",
    "matmul.weight": "no matmul multiplies a weight",
    "matmul.gradient": "no matmul multiplies a gradient",
    "scaling.weight_scales": "no quantized matmul multiplies a weight",
    "blocks.gradient_rounding": "no quantized matmul multiplies a gradient",
    "blocks.activation_rounding": "no quantized matmul multiplies an activation and a gradient",
    "blocks.hadamard": "no quantized matmul multiplies an activation and a gradient",
}
"""For options that ask for something, and tables of them, the reason if a program has none of it.

Other options decide about what a program may or may not have, such as `saturate`.
"""
