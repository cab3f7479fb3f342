"""Selection of the matmuls that a recipe quantizes, with a reason for each of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import is_small
from scalify_hlo.casts.matmuls import Matmul, Site, roles_of
from scalify_hlo.casts.strategy import Formats
from scalify_hlo.dataflow.matmuls import ACTIVATION, GRADIENT, OTHER, WEIGHT
from scalify_hlo.dataflow.sizes import Extent
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import Remark, UsageError, nearest
from scalify_hlo.ir.contraction import RAGGED_DOT
from scalify_hlo.ir.formats import element_type, is_complex, is_real
from scalify_hlo.ir.locations import remark
from scalify_hlo.ir.patterns import hint_of_tags, is_like_any
from scalify_hlo.ir.traits import CONVOLUTIONS, DOTS
from scalify_hlo.recipes.effects import MISSING
from scalify_hlo.recipes.formats import OPERANDS
from scalify_hlo.recipes.loading import asked_settings, own_settings
from scalify_hlo.recipes.model import KEEP, NONE, Recipe
from scalify_hlo.report.model import MatmulReport, Wide


class Selection:
    """Chooses formats for the operands of matmuls.

    Args:
        recipe: The recipe.

    Attributes:
        sites: The selection by name.
    """

    def __init__(self, recipe: Recipe) -> None:
        self._recipe, self._target = recipe.matmul, recipe.target
        self._ragged = recipe.platform.ragged
        self._gpu = recipe.platform.gpu
        self._blocks = recipe.scaling.kind == "block"
        self._in_f32 = recipe.matmul.narrow and not recipe.scaling.propagated
        self._fitted = self._gpu or recipe.scaling.kind in _FITTED
        self.sites = Sites(recipe)

    def of(self, op: ir.OpView, extent: Extent) -> Matmul:
        """Returns a matmul that has roles, with the decision on it."""
        roles = roles_of(op)
        matmul = Matmul(op, extent, roles)
        formats = self._formats(op, roles)
        matmul.wide = self._wide(matmul, formats)
        matmul.formats = formats if matmul.wide is None else None
        return matmul

    def _formats(self, op: ir.OpView, roles: Sequence[str]) -> Formats:
        """Returns the formats of the operands of a matmul; both of a convolution have the same.

        StableHLO has convolutions of two f8 types since version 1.20, and files are written at
        older ones. Gradients fall with the loss, by more than E4M3 has room for, so that both
        operands have the format of gradients. They have that of the other operand if scales follow
        the loss, or on a GPU, where no other kernels are known.
        """
        lhs, rhs = (getattr(self._recipe, role) for role in roles)
        if op.operation.name not in CONVOLUTIONS or GRADIENT not in roles:
            return lhs, rhs
        shared = (lhs, rhs)[roles.index(GRADIENT) ^ self._fitted]
        return (shared, shared) if is_small(lhs) and is_small(rhs) else (lhs, rhs)

    def _wide(self, matmul: Matmul, formats: Formats) -> Wide | None:
        """Returns the reason why a matmul stays wide; None if it gets formats."""
        op, roles = matmul.op, matmul.roles
        if not self.sites.selects(Site.of(op)):
            return EXCLUDED
        own = [str(element_type(value.type)) for value in list(op.operands)[:2]]
        if all(map(is_small, own)) and (self._blocks or own != [*formats]):
            return OWN
        wide = self._types(op) or self._role(op, roles, formats)
        for mark, reason in ((attributes.FIRST, FIRST), (attributes.LAST, LAST)):
            if wide is None and mark in op.attributes:
                return reason
        if wide is None and any(map(is_small, formats)):
            wide = self._small(op, roles, formats, matmul.extent)
        return wide

    def _types(self, op: ir.OpView) -> Wide | None:
        types = [value.type for value in list(op.operands)[:2]]
        if all(map(is_real, types)):
            return FAR if self._in_f32 and any(map(_is_f64, types)) else None
        return COMPLEX if any(map(is_complex, types)) else NO_FLOATS

    def _role(self, op: ir.OpView, roles: Sequence[str], formats: Formats) -> Wide | None:
        if KEEP in formats:
            kept = roles[formats.index(KEEP)]
            reason = f"the recipe keeps the format of each {kept}"
            return Wide(KEPT.kind, reason, chosen=True, option=f"matmul.{kept}")
        if op.attributes[attributes.PART].value == OTHER:
            return NEITHER
        dot = self._gpu or op.operation.name not in CONVOLUTIONS
        return E5M2_PAIR if dot and all(f.startswith(_E5M2) for f in formats) else None

    def _small(
        self, op: ir.OpView, roles: Sequence[str], formats: Formats, extent: Extent
    ) -> Wide | None:
        """Returns the reason why a matmul does not take operands of 8 bits; None if it does."""
        if self._blocks and (wide := _without_blocks(op)) is not None:
            return wide
        if op.operation.name in CONVOLUTIONS:
            if self._gpu and {*roles} == {ACTIVATION, GRADIENT}:
                return WEIGHT_GRADIENT
            if formats[0] != formats[1]:
                return TWO_TYPES
        if op.operation.name == RAGGED_DOT and not self._ragged:
            reason = f"the target {self._target!r} is not known to take f8 operands"
            return Wide("ragged", reason, option="target")
        if attributes.VOCABULARY in op.attributes and not self._recipe.vocabulary:
            return VOCABULARY
        return _unknown(extent, roles) or self._below(extent, roles)

    def _below(self, extent: Extent, roles: Sequence[str]) -> Wide | None:
        """Returns the reason if M, N or K is below the recipe's bound; else None."""
        least_m, least_n, least_k = self._recipe.smallest
        if extent.k.below(least_k):
            return _too_small("contracted size", least_k)
        weight = _weight(roles)
        for side, size in enumerate((extent.m, extent.n)):
            least = least_n if weight in (None, side) else least_m
            if size.below(least):
                return _too_small(f"free size of its {roles[side]}", least)
        return None


def _without_blocks(op: ir.OpView) -> Wide | None:
    """Returns the reason why a matmul takes no operands with block scales; None if it does."""
    if op.operation.name not in DOTS:
        return NO_BLOCKS
    shapes = (value.type.has_static_shape for value in list(op.operands)[:2])
    return None if all(shapes) else BLOCK_SIZES


def _unknown(extent: Extent, roles: Sequence[str]) -> Wide | None:
    """Returns the reason if K, or the free size of a weight, is not known; else None."""
    if not extent.k.known:
        return CONTRACTED
    weight = _weight(roles)
    return None if weight is None or (extent.m, extent.n)[weight].known else WEIGHT_SIZE


def _weight(roles: Sequence[str]) -> int | None:
    """Returns the number of the operand that is a weight; the second if both are."""
    return max((side for side, role in enumerate(roles) if role == WEIGHT), default=None)


def _too_small(what: str, least: int) -> Wide:
    hint = "matmul.smallest sets the least M, N and K; matmul.exclude leaves it out on purpose"
    return Wide("too small", f"the {what} is below {least}", hint=hint, option="matmul.smallest")


def _is_f64(type_: ir.Type) -> bool:
    return isinstance(type_.element_type, ir.F64Type)


def fall_backs(main: ir.OpView, recipe: str, matmuls: Sequence[MatmulReport]) -> list[Remark]:
    """Returns the remarks on matmuls that stay wide although the recipe does not leave them out.

    Args:
        main: The entry function.
        recipe: The name of the recipe.
        matmuls: The matmuls of the program, after the recipe was applied.

    Returns:
        A remark if no matmul is quantized, unless options leave out all, and then a remark on each
        such matmul.
    """
    left = [(matmul, matmul.wide) for matmul in matmuls if matmul.wide is not None]
    told = [
        Remark(f"stays wide: {wide.reason}", matmul.location, matmul.op, wide.hint, matmul.label)
        for matmul, wide in left
        if not wide.chosen
    ]
    asked = all(wide.kind in (EXCLUDED.kind, KEPT.kind) for _, wide in left)
    if len(left) < len(matmuls) or (matmuls and asked):
        return told
    count = f"all {len(left)} matmuls stay" if len(left) > 1 else "its only matmul stays"
    found = f"{count} wide" if left else "the program has none"
    message = f"the recipe {recipe} quantizes no matmul: {found}"
    listed = "`scalify-hlo inspect --recipe R --wide` lists them with reasons, and so does --report"
    return [remark(main, message, listed if left else NONE_ASKED), *told]


def deciding(matmuls: Iterable[MatmulReport]) -> str:
    """Returns the argument that decides that no matmul is quantized, as text.

    Args:
        matmuls: The matmuls of the program, all of which stay wide.
    """
    options = Counter[str]()
    for matmul in matmuls:
        if matmul.wide is not None and matmul.wide.option:
            options[matmul.wide.option] += matmul.calls
    return f"--set {options.most_common(1)[0][0]}=... changes this" if options else NONE_ASKED


def without_operands(
    main: ir.OpView, recipe: Recipe, matmuls: Sequence[MatmulReport]
) -> Iterator[Remark]:
    """Yields a remark for each option on matmuls that the program does not have.

    A format may leave matmuls wide, which is an effect. Options of blocks need quantized ones.

    Args:
        main: The entry function.
        recipe: The recipe. Options of its preset are exempt.
        matmuls: The matmuls of the program, after the recipe was applied.
    """
    quantized = [matmul for matmul in matmuls if matmul.wide is None]
    if not quantized:
        return  # A remark says so already.
    missing = {
        key
        for key, roles in _ON_OPERANDS.items()
        if not any(
            roles <= {*matmul.roles} for matmul in (matmuls if key in OPERANDS else quantized)
        )
    }
    if recipe.matmul.vocabulary and not any(matmul.vocabulary for matmul in matmuls):
        missing.add("matmul.vocabulary")
    if recipe.blocks.hadamard == "all":
        missing.discard("blocks.hadamard")
    yield from without_effect(main, recipe, missing)


def without_effect(main: ir.OpView, recipe: Recipe, missing: Container[str]) -> Iterator[Remark]:
    """Yields a remark for each option that was asked for and found nothing in a program.

    Args:
        main: The entry function.
        recipe: The recipe. Options of its preset are exempt.
        missing: The options, and tables of options, that found nothing.
    """
    for key, value in asked_settings(recipe).items():
        if value == NONE:
            continue  # It switches something off.
        table = key.partition(".")[0]
        found = next((each for each in (key, table) if each in missing and each in MISSING), None)
        if found is not None:
            yield remark(main, f"{key} has no effect: {MISSING[found]}", f"leave out {key}")


_ON_OPERANDS: Final[Mapping[str, frozenset[str]]] = {
    **{f"matmul.{role}": frozenset({role}) for role in (ACTIVATION, WEIGHT, GRADIENT)},
    "scaling.weight_scales": frozenset({WEIGHT}),
    "blocks.gradient_rounding": frozenset({GRADIENT}),
    "blocks.activation_rounding": frozenset({ACTIVATION, GRADIENT}),
    "blocks.hadamard": frozenset({ACTIVATION, GRADIENT}),
}
"""The roles of operands that a matmul has if an option has an effect on it."""

_E5M2: Final = "f8E5M2"
"""No matmul, and no kernel of GPUs, multiplies two operands of this format, or of its variants."""

_FITTED: Final = ("current", "delayed", "calibrated")
"""The kinds of scales that follow from the numbers of each operand."""

_STATIC: Final = "export the program with that size; matmul.exclude leaves it out on purpose"

NONE_ASKED: Final = "--recipe propagate asks for none"
"""The argument of a rewrite for programs in which nothing can be quantized."""

EXCLUDED: Final = Wide(
    "excluded",
    "matmul.include and matmul.exclude leave it out",
    chosen=True,
    option="matmul.exclude",
)
VOCABULARY: Final = Wide(
    "vocabulary", "it projects to a vocabulary", chosen=True, option="matmul.vocabulary"
)
OWN: Final = Wide("narrow already", "the program has its operands in 8 bits", chosen=True)
FIRST, LAST = (
    Wide(
        f"of the {which} layers",
        f"it is one of the {which} linear layers, or a backward matmul of one "
        f"(matmul.{which}_wide)",
        chosen=True,
        option=f"matmul.{which}_wide",
    )
    for which in ("first", "last")
)
NO_FLOATS: Final = Wide("of no floats", "its operands are not floats", chosen=True)
COMPLEX: Final = Wide("complex", "its operands are complex")
FAR: Final = Wide(
    "f64",
    "its operands are f64, and the scales of the recipe are f32",
    hint="scaling.kind=propagated quantizes it; matmul.exclude leaves it out on purpose",
    option="scaling.kind",
)
NEITHER: Final = Wide(
    "neither forward nor backward",
    "both operands are gradients, or the roles differ between the calls of its function",
)
E5M2_PAIR: Final = Wide("E5M2 x E5M2", "no hardware multiplies E5M2 with E5M2")
TWO_TYPES: Final = Wide(
    "convolution of two formats",
    "no convolution has two element types before StableHLO 1.20",
    hint="give activations and weights one format to quantize it; "
    "matmul.exclude leaves it out on purpose",
    option="matmul.weight",
)
WEIGHT_GRADIENT: Final = Wide(
    "convolution for the gradient of a weight",
    "GPUs have no FP8 kernel for the gradient of a convolution's weight",
    hint="matmul.exclude leaves it out on purpose",
)
CONTRACTED: Final = Wide("of unknown size", "its contracted size is not known", hint=_STATIC)
WEIGHT_SIZE: Final = Wide("of unknown size", "the size of its weight is not known", hint=_STATIC)
NO_BLOCKS: Final = Wide(
    "without block scales",
    "only matmuls of two tensors have block scales: no convolutions and no ragged matmuls",
    hint="scaling.kind=current quantizes it; matmul.exclude leaves it out on purpose",
    option="scaling.kind",
)
BLOCK_SIZES: Final = Wide(
    "of unknown size", "operands with block scales need a static shape", hint=_STATIC
)
UNTRUSTED: Final = Wide(
    "untrusted",
    "the predicted size of an operand is not trusted",
    chosen=True,
    option="untrusted",
)
UNREACHED: Final = Wide(
    "not reached", "it is in the condition of a loop, or in a function that no call reaches"
)
IN_COMPOSITE: Final = Wide(
    "in a composite",
    "it is in the decomposition of a composite, which is kept",
    hint="a ragged_dot of static shape is quantized; matmul.exclude leaves it out on purpose",
)
KEPT: Final = Wide("kept", "the recipe quantizes no matmul", chosen=True)


# Selection of the sites of a program by name.


class Sites:
    """The patterns of a recipe, and the sites that they match.

    A pattern matches a site if it matches a name of its layer or of its weight. It may end in tags;
    see `is_matmul_like`.

    Args:
        recipe: The recipe.
    """

    def __init__(self, recipe: Recipe) -> None:
        matmul = recipe.matmul
        self._patterns = {"matmul.include": matmul.include, "matmul.exclude": matmul.exclude}
        self._own, self._asked = own_settings(recipe), asked_settings(recipe)
        self._names: dict[str, None] = {}
        self._matched: set[str] = set()

    def selects(self, site: Site) -> bool:
        """Whether a site is included, and not excluded."""
        self._names.update(dict.fromkeys(site.names))
        included, excluded = (
            [pattern for pattern in patterns if site.is_matched(pattern)]
            for patterns in self._patterns.values()
        )
        self._matched.update(included, excluded)
        return bool(included) and not excluded

    def refuse_unmatched(self) -> None:
        """Checks that every pattern matches a site, but those of the preset of the recipe.

        Raises:
            UsageError: A pattern matches no site.
        """
        for key, pattern in self._without_site():
            if key in self._own:
                raise UsageError(
                    f"{key} {pattern!r} matches no matmul{nearest(pattern, list(self._names))}",
                    hint="`scalify-hlo inspect --matmuls` lists the matmuls; patterns are of "
                    f"the names of their layers and weights{hint_of_tags(pattern)}",
                )

    def unmatched(self, main: ir.OpView) -> Iterator[Remark]:
        """Yields a remark for each option of a recipe whose patterns all match no site.

        Args:
            main: The entry function.
        """
        missing: dict[str, list[str]] = {}
        for key, pattern in self._without_site():
            missing.setdefault(key, []).append(repr(pattern))
        for key, patterns in missing.items():
            if key in self._asked and len(patterns) == len(self._patterns[key]):
                message = f"{key} matches no matmul: {' or '.join(patterns)}"
                yield remark(main, message, f"set {key} to names of layers of the program")

    def _without_site(self) -> Iterator[tuple[str, str]]:
        """Yields the patterns that match no site, with their options."""
        for key, patterns in self._patterns.items():
            for pattern in patterns:
                if pattern not in self._matched and pattern != "*":
                    yield key, pattern


def matching(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Returns the patterns that match one of the names."""
    return [pattern for pattern in patterns if is_like_any(pattern, names)]
