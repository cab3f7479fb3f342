"""Short statements as the text of StableHLO regions."""

from __future__ import annotations

from collections.abc import Sequence


def lines(statements: str) -> str:
    """Statements such as ``r = add a b``, ``p = LT a b`` or ``return r``, as StableHLO's text.

    Directions of comparisons with a ``t`` are in the total order.
    """
    return "\n    ".join(map(_line, statements.split(";")))


def _line(statement: str) -> str:
    if "%" in statement or "}" in statement:
        return statement.strip()
    result, *words = statement.replace("=", " ").split()
    if result == "return_bool":
        return f"stablehlo.return {_values(words)} : $s_i1"
    if result == "return":
        return f"stablehlo.return {_values(words)} : {', '.join('$s' for _ in words)}"
    op, *operands = words
    if op.isupper() or op[:-1].isupper():
        order = "TOTALORDER" if op.endswith("t") else "FLOAT"
        compared = f"{op.removesuffix('t')}, {_values(operands)}, {order}"
        return f"%{result} = stablehlo.compare {compared} : ($s, $s) -> $s_i1"
    kind = "$s_i1, $s" if op == "select" else "$s_i1" if op in ("and", "or") else "$s"
    return f"%{result} = stablehlo.{op} {_values(operands)} : {kind}"


def _values(names: Sequence[str]) -> str:
    return ", ".join(f"%{name}" for name in names)
