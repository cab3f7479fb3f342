"""The matmuls of a program as `inspect --matmuls` lists them: selected, sorted and marked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scalify_hlo.cli import console
from scalify_hlo.errors import UsageError, nearest, place_of_text
from scalify_hlo.ir.patterns import TAGS, hint_of_tags
from scalify_hlo.report.matmuls import MatmulReport

ROLES: Final = (*TAGS, "activation", "weight", "gradient")
"""The values of ``--role``: tags of matmuls, and roles of their operands."""

SORTS: Final[Mapping[str, Callable[[MatmulReport], tuple[float | str, ...]]]] = {
    "program": lambda _: (),
    "name": lambda m: (m.name,),
    "size": lambda m: (-(m.flops or 0),),
    "calls": lambda m: (-m.calls,),
    "part": lambda m: (m.part, *m.roles),
    "source": lambda m: (m.location,),
    "trust": lambda m: (-uncertainty_of(m),),
}
"""The keys of ``--sort``: largest first by size and calls, least trusted scale first by trust."""

_SHORT: Final = {"activation": "act", "gradient": "grad"}
_MARK: Final = "out"


@dataclass(frozen=True)
class Selection:
    """The matmuls that are asked for.

    Attributes:
        names: Patterns of sites, one of which has to match; all sites if empty.
        roles: Parts and roles, all of which it has to have.
        wide: Whether only those that stay wide are asked for.
        sort: The key of `SORTS` that orders them.
        exclude: Patterns as ``matmul.exclude`` would have them.
    """

    names: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    wide: bool = False
    sort: str = "program"
    exclude: tuple[str, ...] = ()

    @property
    def given(self) -> bool:
        """Whether anything is asked for."""
        return self != Selection()

    def of(self, matmuls: Sequence[MatmulReport]) -> list[MatmulReport]:
        """Returns the matmuls that are asked for, in order.

        Raises:
            UsageError: A pattern matches no matmul of the program.
        """
        for option, patterns in (("--name", self.names), ("--exclude", self.exclude)):
            for pattern in patterns:
                _require_match(option, pattern, matmuls)
        return sorted(filter(self._has, matmuls), key=SORTS[self.sort])

    def _has(self, matmul: MatmulReport) -> bool:
        named = not self.names or _matches(self.names, matmul)
        of_role = all(_has_role(matmul, role) for role in self.roles)
        return named and of_role and (matmul.wide is not None or not self.wide)

    def excludes(self, matmul: MatmulReport) -> bool:
        """Whether a pattern of `exclude` matches a matmul."""
        return _matches(self.exclude, matmul)


def _matches(patterns: Sequence[str], matmul: MatmulReport) -> bool:
    return any(map(matmul.is_matched, patterns))


def _require_match(option: str, pattern: str, matmuls: Sequence[MatmulReport]) -> None:
    if any(_matches([pattern], matmul) for matmul in matmuls):
        return
    known = dict.fromkeys(name for matmul in matmuls for name in matmul.names)
    raise UsageError(
        f"{option} {pattern!r} matches no matmul{nearest(pattern, known)}",
        hint="`scalify-hlo inspect --matmuls` lists the names; patterns match the name of a layer "
        f"or of its weight, and * stands for any characters{hint_of_tags(pattern)}",
    )


def _has_role(matmul: MatmulReport, role: str) -> bool:
    return role in (*matmul.tags, *matmul.roles)


def uncertainty_of(matmul: MatmulReport) -> float:
    """Returns the uncertainty of the least trusted operand of a matmul; 0 if sizes are known."""
    return max((scale.uncertainty for scale in matmul.scales if scale is not None), default=0.0)


def listed(
    matmuls: Sequence[MatmulReport],
    shown: Sequence[MatmulReport],
    selection: Selection,
    name: str,
    most: int = 0,
) -> Iterator[str]:
    """Yields the lines on matmuls, and the reasons of those that stay wide.

    Args:
        matmuls: All matmuls of the program.
        shown: The ones that are asked for, in order.
        selection: What is asked for.
        name: The name of the program in locations without a file.
        most: How many rows to print; 0 for all.
    """
    some, every = (sum(each.calls for each in listed) for listed in (shown, matmuls))
    count = str(every) if some == every else f"{some} of {every}"
    rows = [_row(matmul, name) for matmul in shown]
    header: tuple[str, ...] = _HEADER
    if selection.exclude:
        header = ("", *header)
        marks = (_MARK if selection.excludes(matmul) else "" for matmul in shown)
        rows = [(mark, *row) for mark, row in zip(marks, rows, strict=True)]
    title = f"matmuls ({count})" if matmuls else "matmuls: none"
    yield from console.titled(title, header, rows, most, less=_LESS)
    if shown:
        yield from (*_reasons(shown), *_excluded(matmuls, selection))


_HEADER: Final = ("part", "operands", "M x N x K", "n", "formats", "scale", "where")
_LESS: Final = ("n", "part", "operands")


def _row(matmul: MatmulReport, name: str) -> tuple[str, ...]:
    source = os.path.basename(place_of_text(matmul.location, name)).rsplit(":", 1)[0]
    return (
        matmul.part,
        " x ".join(_SHORT.get(role, role) for role in matmul.roles if role),
        _size(matmul),
        str(matmul.calls),
        _formats(matmul),
        _scale(matmul),
        " ".join(filter(None, (source, matmul.name))),
    )


def _size(matmul: MatmulReport) -> str:
    batch = str(matmul.extent.batch)
    return str(matmul.extent) if batch == "1" else f"{batch} of {matmul.extent}"


def _formats(matmul: MatmulReport) -> str:
    lhs, rhs = (format_.removeprefix("f8").removesuffix("FN") for format_ in matmul.formats[:2])
    return lhs if lhs == rhs else f"{lhs} x {rhs}"


def _scale(matmul: MatmulReport) -> str:
    """Returns the scale of the least trusted operand, or the reason why the matmul is wide."""
    if matmul.wide is not None:
        return f"wide: {matmul.wide.kind}"
    scales = [scale for scale in matmul.scales if scale is not None]
    if not scales:
        return ""
    return str(max(scales, key=lambda scale: (scale.octaves is not None, scale.uncertainty)))


def _reasons(matmuls: Sequence[MatmulReport]) -> Iterator[str]:
    """Yields a line for each reason why some of the matmuls stay wide."""
    reasons: dict[tuple[str, str], int] = {}
    for matmul in matmuls:
        if matmul.wide is not None:
            key = matmul.wide.kind, matmul.wide.reason
            reasons[key] = reasons.get(key, 0) + matmul.calls
    for (kind, reason), count in reasons.items():
        yield f"{count} wide: {kind}: {reason}"


def _excluded(matmuls: Sequence[MatmulReport], selection: Selection) -> Iterator[str]:
    """Yields a line on what the patterns of ``--exclude`` would take out."""
    if not selection.exclude:
        return
    out = [matmul for matmul in matmuls if selection.excludes(matmul)]
    count, total = (sum(m.calls for m in some) for some in (out, matmuls))
    narrow = sum(matmul.calls for matmul in out if matmul.wide is None)
    patterns = ",".join(selection.exclude)
    yield (
        f"--set matmul.exclude='{patterns}' takes out {count} of {total} matmuls, {narrow} of them "
        "in low precision now"
    )
