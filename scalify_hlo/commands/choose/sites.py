"""The sites of a program: its matmuls by the names that recipes have for them."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.casts.selection import EXCLUDED
from scalify_hlo.commands.choose.operand_errors import LHS, RESULT, RHS, CastError
from scalify_hlo.commands.stats.numbering import number_of
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError, place_of_text
from scalify_hlo.ir.patterns import is_matmul_like
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.program.artifact import copy_module
from scalify_hlo.program.wellformed import located
from scalify_hlo.report.matmuls import MatmulReport
from scalify_hlo.results.decibels import decibels
from scalify_hlo.results.kinds import Count, Decibels, Part
from scalify_hlo.results.model import keys

_WIDE = 32
"""The bits of an element of a format without an entry, such as an integer."""


@keys("site=name location part operands calls formats")
@dataclass(frozen=True, slots=True)
class Site:
    """The matmuls that have one name, so that a recipe includes or excludes them together.

    Attributes:
        name: The name, which is a pattern for ``matmul.exclude`` that matches no other site.
        names: The names that patterns match.
        tags: What patterns may have after ``@``.
        part: ``forward``, ``backward`` or ``other``.
        operands: The roles of the operands.
        location: The source location, as ``file:line:column``.
        calls: The number of its matmuls.
        formats: The formats of the operands.
        narrow: Whether a matmul of the site is quantized.
    """

    name: str
    names: tuple[str, ...]
    tags: tuple[str, ...]
    part: Part
    operands: tuple[str, str]
    location: str
    calls: Count
    formats: tuple[str, str]
    narrow: bool

    @property
    def source(self) -> str:
        """The name of the source file and the line."""
        return os.path.basename(self.location).rsplit(":", 1)[0]

    def is_matched(self, pattern: str) -> bool:
        """Whether a pattern of a recipe matches the site, as `casts.selection` has it."""
        return is_matmul_like(pattern, self.names, self.tags)


def sites_of(matmuls: Iterable[MatmulReport], program: str) -> list[Site]:
    """Returns the sites of a rewritten program, in program order.

    Args:
        matmuls: Its matmuls.
        program: The name of the program in locations without a file.
    """
    groups: dict[str, list[MatmulReport]] = {}
    for matmul in matmuls:
        groups.setdefault(matmul.name, []).append(matmul)
    return [_site(group, program) for group in groups.values()]


def left_wide(matmuls: Iterable[MatmulReport], sites: Container[str]) -> list[MatmulReport]:
    """Returns the matmuls of a rewrite in which some sites, given by name, are excluded."""
    return [
        replace(each, wide=EXCLUDED) if each.wide is None and each.name in sites else each
        for each in matmuls
    ]


def require_sites(sites: Sequence[Site], recipe: str, program: str) -> None:
    """Checks that a recipe quantizes matmuls.

    Args:
        sites: The sites that it quantizes.
        recipe: Its name.
        program: The name of the program.

    Raises:
        InputError: There is none.
    """
    if not sites:
        raise InputError(
            f"the recipe {recipe} quantizes no matmul of the program",
            location=program,
            hint="`scalify-hlo inspect --recipe R --wide` lists the matmuls with reasons",
        )


def _site(group: Sequence[MatmulReport], program: str) -> Site:
    first = next((each for each in group if each.wide is None), group[0])
    return Site(
        first.name,
        first.names,
        tuple(first.tags),
        first.part,
        first.roles,
        place_of_text(first.location, program),
        sum(each.calls for each in group),
        first.formats[:2],
        any(each.wide is None for each in group),
    )


@keys("*site lhs_db=operands.0 rhs_db=operands.1 snr_db")
@dataclass(frozen=True, slots=True)
class SiteError:
    """The errors that a site makes by the casts of its operands.

    Attributes:
        site: The site.
        operands: The signal-to-noise ratio of the cast of each operand in dB; None if it is not
            cast in the program, as a constant or an argument in low precision.
        snr_db: That of the result, against the matmul of the same operands without casts.
    """

    site: Site
    operands: tuple[Decibels | None, Decibels | None]
    snr_db: Decibels


def site_errors(
    sites: Iterable[Site], casts: Mapping[tuple[str, str], CastError]
) -> list[SiteError]:
    """Returns the errors of the sites with casts, the largest first.

    Args:
        sites: The sites of a rewritten program.
        casts: The errors of matmuls and of their operands, by site and value.
    """
    known = {place: decibels(error.ratio) for place, error in casts.items()}
    found = [
        SiteError(site, (known.get((site.name, LHS)), known.get((site.name, RHS))), snr_db)
        for site in sites
        if (snr_db := known.get((site.name, RESULT))) is not None
    ]
    return sorted(found, key=lambda error: error.snr_db)


def operand_bits(matmuls: Iterable[MatmulReport]) -> float | None:
    """Returns the mean bits of an element of matmul operands; None without matmuls.

    Matmuls count by their floating-point operations, or by calls if the size of one is unknown.
    """
    every = list(matmuls)
    flops = [matmul.flops for matmul in every]
    sized = None not in flops and any(flops)
    weights = [m.flops if sized and m.flops else 0 if sized else m.calls for m in every]
    total = sum(weights)
    if not total:
        return None
    bits = (sum(map(_bits, matmul.formats[:2])) / 2 for matmul in every)
    return sum(b * weight for b, weight in zip(bits, weights, strict=True)) / total


def share_of_bits(matmuls: Iterable[MatmulReport], most: int) -> float | None:
    """Returns the share of matmuls whose operands have at most some bits; None without matmuls."""
    every = list(matmuls)
    total = sum(matmul.calls for matmul in every)
    if not total:
        return None
    small = (m.calls for m in every if all(_bits(f) <= most for f in m.formats[:2]))
    return sum(small) / total


def _bits(format_: str) -> int:
    return FORMATS[format_].bits if format_ in FORMATS else _WIDE


class Named(NamedTuple):
    """The names of a program's arguments and matmuls.

    Attributes:
        roles: The roles of arguments by their names.
        sites: The site of each matmul by the number of its op.
        rewritten: The same for matmuls of a rewrite. One of swapped operands has the number of the
            transpose whose place it takes.
        matmuls: The matmuls, in the formats of the program.
    """

    roles: dict[str, str]
    sites: dict[int, str]
    rewritten: dict[int, str]
    matmuls: list[MatmulReport]


def named_sites(base: ir.Module, name: str) -> Named:
    """Returns the roles of arguments, and the sites of matmuls.

    Args:
        base: The module, whose ops are numbered.
        name: Its name in errors.
    """
    module = copy_module(base)
    with located(name):
        report = run_passes(module, [RolesPass()])
    sites: dict[int, str] = {}
    moved: dict[int, int] = {}
    with module.context:
        for op in ops_in(module.operation, where=lambda op: attributes.SITE in op.attributes):
            number = number_of(op)
            if number is None:
                continue
            sites[number] = attributes.texts(op.attributes[attributes.SITE])[0]
            users = [use.owner.operation for use in op.results[0].uses]
            transposes = (number_of(user) for user in users if user.name == "stablehlo.transpose")
            moved.update((each, number) for each in transposes if each is not None)
    rewritten = sites | {each: sites[number] for each, number in moved.items()}
    return Named(report.roles, sites, rewritten, report.matmuls)
