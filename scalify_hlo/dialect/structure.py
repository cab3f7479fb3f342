"""Tells programs apart by what they compute: a hash that knows no names and no weights.

It is of ops, types, attributes, and what takes what. Left out are locations, names of functions,
arguments and results, where values are placed, and the elements of large constants. So text,
bytecode, a portable artifact and the Exported of one program have the same one, and so has the
program with other weights in it.
"""

from __future__ import annotations

import hashlib
import math
from typing import Final

from scalify_hlo._compat import ir

_DIGITS: Final = 32
_LARGE: Final = 16
"""Elements from which on a constant counts by its type."""

_LEFT_OUT: Final = frozenset(
    {"sym_name", "sym_visibility", "arg_attrs", "res_attrs", "sdy.sharding"}
)
_FOREIGN: Final = ("jax.", "mhlo.", "scalify.", "xla.")
_SYMBOLS: Final = frozenset({"callee", "decomposition", "called_computations"})


def structural_hash(module: ir.Module) -> str:
    """The hash of a module, as it was read: passes change it.

    Returns:
        32 hexadecimal digits, the same in each process.
    """
    with module.context:
        structure = _Structure(module)
        module.operation.walk(structure.visit, ir.WalkOrder.PRE_ORDER)
        return structure.digest()


class _Structure:
    """Writes down a module op by op, with numbers for its values, blocks and functions."""

    def __init__(self, module: ir.Module) -> None:
        names = [
            op.attributes["sym_name"].value
            for op in module.body.operations
            if op.operation.name == "func.func"
        ]
        self._functions = {name: str(number) for number, name in enumerate(names)}
        self._values: dict[ir.Value, int] = {}
        self._blocks: dict[ir.Block, int] = {}
        self._texts: dict[ir.Attribute | ir.Type, str] = {}
        self._lines: list[str] = []

    def digest(self) -> str:
        """The hash of what was written down."""
        return hashlib.sha256("\n".join(self._lines).encode()).hexdigest()[:_DIGITS]

    def visit(self, op: ir.Operation) -> ir.WalkResult:
        """Writes down an op; what is in its regions follows."""
        if op.name == "builtin.module":
            return ir.WalkResult.ADVANCE
        place = self._blocks.get(op.block, 0)
        operands = [self._number(value) for value in op.operands]
        results = [self._text(value.type) for value in op.results]
        for value in op.results:
            self._number(value)
        self._lines.append(f"{place} {op.name} {operands} {results} {self._attributes(op)}")
        for region in op.regions:
            self._enter(region)
        return ir.WalkResult.ADVANCE

    def _enter(self, region: ir.Region) -> None:
        for block in region.blocks:
            self._blocks[block] = len(self._blocks) + 1
            types = [self._text(argument.type) for argument in block.arguments]
            for argument in block.arguments:
                self._number(argument)
            self._lines.append(f"block {types}")

    def _number(self, value: ir.Value) -> int:
        return self._values.setdefault(value, len(self._values))

    def _attributes(self, op: ir.Operation) -> list[str]:
        found = []
        for name, attribute in op.attributes.items():
            if name in _LEFT_OUT or name.startswith(_FOREIGN):
                continue
            if name in _SYMBOLS:
                text = self._symbols(attribute)
            elif op.name == "stablehlo.constant":
                text = self._constant(attribute)
            else:
                text = self._text(attribute)
            found.append(f"{name}={text}")
        return sorted(found)

    def _symbols(self, attribute: ir.Attribute) -> str:
        named = attribute if isinstance(attribute, ir.ArrayAttr) else [attribute]
        symbols = [ir.FlatSymbolRefAttr(symbol).value for symbol in named]
        return " ".join(self._functions.get(symbol, symbol) for symbol in symbols)

    def _constant(self, attribute: ir.Attribute) -> str:
        type_ = attribute.type
        small = math.prod(type_.shape) <= _LARGE
        dense = isinstance(attribute, ir.DenseElementsAttr)
        return self._text(attribute if dense and (small or attribute.is_splat) else type_)

    def _text(self, part: ir.Attribute | ir.Type) -> str:
        if part not in self._texts:
            self._texts[part] = str(part)
        return self._texts[part]
