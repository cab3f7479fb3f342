"""Tells programs apart by what they compute: a hash that knows no names and no weights.

It is of ops, types, attributes, and what takes what. Left out are locations, names of functions,
arguments and results, where values are placed, and the elements of large constants. So text,
bytecode, a portable artifact and the Exported of one program have the same one, and so has the
program with other weights in it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
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
        structure.block(module.body)
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
        self._blocks = 0
        self._texts: dict[ir.Attribute | ir.Type, str] = {}
        self._lists: dict[ir.Type, str] = {}
        self._lines: list[str] = []

    def digest(self) -> str:
        """The hash of what was written down."""
        return hashlib.sha256("\n".join(self._lines).encode()).hexdigest()[:_DIGITS]

    def block(self, block: ir.Block, place: int = 0) -> None:
        """Writes down the ops of a block, each with what is in its regions after it.

        Args:
            block: The block.
            place: Its number.
        """
        numbers, note = self._values, self._lines.append
        for view in block.operations:
            op = view.operation
            name, results = op.name, op.results
            operands = [numbers.setdefault(value, len(numbers)) for value in op.operands]
            types = [value.type for value in results]
            for value in results:
                numbers.setdefault(value, len(numbers))
            note(f"{place} {name} {operands} {self._listed(types)} {self._attributes(op, name)}")
            regions = op.regions
            if len(regions):
                inner = [(b, self._enter(b)) for region in regions for b in region.blocks]
                for each in inner:
                    self.block(*each)

    def _enter(self, block: ir.Block) -> int:
        """Writes down that there is a block, and gives it a number."""
        self._blocks += 1
        types = [self._text(argument.type) for argument in block.arguments]
        for argument in block.arguments:
            self._values.setdefault(argument, len(self._values))
        self._lines.append(f"block {types}")
        return self._blocks

    def _listed(self, types: Sequence[ir.Type]) -> str:
        """Types as a list of their texts; most ops have one result, of a few types."""
        if len(types) != 1:
            return str([self._text(type_) for type_ in types])
        known = self._lists.get(types[0])
        if known is None:
            known = self._lists[types[0]] = str([self._text(types[0])])
        return known

    def _attributes(self, op: ir.Operation, op_name: str) -> list[str]:
        present = op.attributes
        if not len(present):
            return []
        found = []
        for name, attribute in present.items():
            if name in _LEFT_OUT or name.startswith(_FOREIGN):
                continue
            if name in _SYMBOLS:
                text = self._symbols(attribute)
            elif op_name == "stablehlo.constant":
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
        text = self._texts.get(part)
        if text is None:
            text = self._texts[part] = str(part)
        return text
