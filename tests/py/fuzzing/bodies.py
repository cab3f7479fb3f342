"""Random bodies of regions over scalars: those of reductions, sorts, scatters and maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

UNARY = ("negate", "abs", "sqrt", "rsqrt", "sign", "sine")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder")
CONSTANTS = ("zero", "inf", "nan", "half", "captured")
"""Values from outside of the region; `captured` is any scalar."""

_ORDERS = ("GT", "EQ", "LTt")


@dataclass(frozen=True)
class Body:
    """Statements over arguments, for `lines`, and the names of the values they make."""

    statements: tuple[str, ...]
    names: tuple[str, ...]


def draw_body(random: Random, arguments: str, most: int) -> Body:
    """A body of up to so many statements; each argument is a letter."""
    names, statements = list(arguments), []
    for number in range(random.randint(1, most)):
        kind = random.choice((*BINARY, *BINARY, *UNARY, "select", "clamp"))
        values = (*names, *names, *CONSTANTS)
        operands = [random.choice(values) for _ in range(_arity(kind))]
        if kind == "select":
            compared = f"{random.choice(values)} {random.choice(values)}"
            statements.append(f"p{number} = {random.choice(_ORDERS)} {compared}")
            operands.insert(0, f"p{number}")
        if kind == "remainder" and "nan" in operands:
            kind = "add"  # the interpreter gives NaN of any sign
        statements.append(f"v{number} = {kind} {' '.join(operands)}")
        names.append(f"v{number}")
    return Body(tuple(statements), tuple(names))


def _arity(kind: str) -> int:
    return 3 if kind == "clamp" else 1 if kind in UNARY else 2


def order_by(body: Body) -> list[str]:
    """The comparator of a sort by the last value of a body; arguments of others end in ``_``."""
    last = body.names[-1]
    # A NaN's sign is not said anywhere; zeros of both signs are one.
    end = [
        f"n{value} = NE {value} {value}; k{value} = select n{value} nan {value};"
        f"z{value} = add k{value} zero"
        for value in (last, f"{last}_")
    ]
    order = (f"less = LTt z{last} z{last}_", "return_bool less")
    return [*body.statements, *map(_mirrored, body.statements), *end, *order]


def _mirrored(statement: str) -> str:
    """The same of the other element."""
    result, _, op, *operands = statement.split()
    others: Sequence[str] = [name if name in CONSTANTS else f"{name}_" for name in operands]
    return f"{result}_ = {op} {' '.join(others)}"
