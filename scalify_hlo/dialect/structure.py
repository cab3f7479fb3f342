"""A structural hash of a program, which does not depend on names and weights.

It covers ops, types, attributes, and the operands of each op. It does not cover locations, the
names of functions, arguments and results, shardings, and the elements of large constants. So text,
bytecode, a portable artifact and the Exported of one program have the same hash, and so has the
same program with other weights in its constants.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import count
from typing import Final, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import HASHED_ELEMENTS
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.formats import is_complex
from scalify_hlo.ir.functions import main_function, terminator
from scalify_hlo.ir.value_map import ValueMap

_CONSTANT: Final = "stablehlo.constant"
_DIGITS: Final = 32
_LEFT_OUT: Final = frozenset(
    {"sym_name", "sym_visibility", "arg_attrs", "res_attrs", "sdy.sharding"}
)
_FOREIGN: Final = ("jax.", "mhlo.", "scalify.", "xla.")
_SYMBOLS: Final = frozenset({"callee", "decomposition", "called_computations"})


Named: TypeAlias = tuple[str, ir.Operation]
"""An op with its name."""

Attribute: TypeAlias = tuple[str, ir.Attribute | str]
"""The name of an attribute, with the attribute or what it says in the hash."""


def structural_hash(module: ir.Module, main: Sequence[Named] = ()) -> str:
    """Returns the hash of a module. Passes change it, so it is taken right after reading.

    Args:
        module: The module.
        main: The ops of its function ``main`` without the terminator, if they were listed.

    Returns:
        32 hexadecimal digits, which are the same in every process.
    """
    with module.context:
        structure, listed = _Structure(module), main_function(module.operation) if main else None
        for function in module.body.operations:
            if listed is not None and function == listed and len(function.regions[0].blocks) == 1:
                structure.function(function.operation, main)
            else:
                function.operation.walk(structure.visit, ir.WalkOrder.PRE_ORDER)
        return structure.digest()


class _Structure:
    """Encodes a module op by op, with numbers for values, functions and kinds of ops.

    Most ops are of a few kinds. Each kind is converted to text once.
    """

    def __init__(self, module: ir.Module) -> None:
        names = functions_in(module.operation)
        self._functions = {name: str(number) for number, name in enumerate(names)}
        self._values: ValueMap[int] = ValueMap()
        self._kinds: dict[tuple[Hashable, ...], int] = {}
        self._texts: defaultdict[str, int] = defaultdict(count().__next__)
        self._written: list[int] = []
        self._write = self._written.extend

    def digest(self) -> str:
        """Returns the hash of the encoding."""
        digest = hashlib.sha256("\n".join(self._texts).encode())
        digest.update(struct.pack(f"<{len(self._written)}q", *self._written))
        return digest.hexdigest()[:_DIGITS]

    def function(self, function: ir.Operation, ops: Sequence[Named]) -> None:
        """Encodes a function of one block, whose ops before the terminator are listed."""
        block = function.regions[0].blocks[0]
        self._op(function.name, function, len(ops) + 1)
        end = terminator(block)
        for name, op in (*ops, (end.name, end)):
            if self._op(name, op):
                self._inside(op)

    def visit(self, op: ir.Operation) -> ir.WalkResult:
        """Encodes an op; the ops in its regions follow it."""
        self._op(op.name, op)
        return ir.WalkResult.ADVANCE

    def _inside(self, op: ir.Operation) -> None:
        """Encodes the ops in the regions of an op."""
        for region in op.regions:
            for block in region.blocks:
                for inner in block.operations:
                    inner.operation.walk(self.visit, ir.WalkOrder.PRE_ORDER)

    def _op(self, name: str, op: ir.Operation, length: int | None = None) -> bool:
        """Encodes an op without those in its regions.

        Args:
            name: The name of the op.
            op: The op.
            length: The number of ops in its only block, if it is known.

        Returns:
            Whether the op has regions.
        """
        results, operands, numbers = op.results, op.operands, self._values
        # Lists of the bindings are slow to iterate over.
        made = [results[i] for i in range(len(results))]
        read = [operands[i] for i in range(len(operands))]
        known = self._kind(name, [value.type for value in made], _attributes(name, op))
        self._write((known, len(read)))
        self._write([numbers.setdefault(value, len(numbers)) for value in read])
        for value in made:
            numbers.setdefault(value, len(numbers))
        regions = op.regions
        nests = len(regions) > 0
        if nests:
            self._enter(regions, length)
        return nests

    def _kind(
        self,
        name: str,
        types: Sequence[ir.Type],
        attributes: Sequence[Attribute],
    ) -> int:
        """Returns the number of a kind of ops or of blocks.

        Comparing handles of types and attributes is fast; printing them is slow.
        """
        kind = name, *types, *attributes
        known = self._kinds.get(kind)
        if known is None:
            known = self._kinds[kind] = self._described(name, types, attributes)
        return known

    def _enter(self, regions: Sequence[ir.Region], length: int | None) -> None:
        """Encodes the blocks in the regions of an op, with their arguments and their lengths."""
        self._write((len(regions),))
        for region in regions:
            blocks = list(region.blocks)
            self._write((len(blocks),))
            for block in blocks:
                arguments = list(block.arguments)
                kind = self._kind("block", [value.type for value in arguments], ())
                self._write((kind, len(block.operations) if length is None else length))
                for value in arguments:
                    self._write((self._values.setdefault(value, len(self._values)),))

    def _described(
        self,
        name: str,
        types: Iterable[ir.Type],
        attributes: Iterable[Attribute],
    ) -> int:
        """Returns the number of a kind of ops or of blocks, by its name, types and attributes."""
        found = sorted(
            f"{key}={self._attribute(name, key, attribute)}"
            for key, attribute in attributes
            if key not in _LEFT_OUT and not key.startswith(_FOREIGN)
        )
        return self._texts[f"{name} {list(map(str, types))} {found}"]

    def _attribute(self, op_name: str, name: str, attribute: ir.Attribute | str) -> str:
        if isinstance(attribute, str):
            return attribute
        if name in _SYMBOLS:
            return self._symbols(attribute)
        return _constant(attribute) if op_name == _CONSTANT else str(attribute)

    def _symbols(self, attribute: ir.Attribute) -> str:
        named = attribute if isinstance(attribute, ir.ArrayAttr) else [attribute]
        symbols = [ir.FlatSymbolRefAttr(symbol).value for symbol in named]
        return " ".join(self._functions.get(symbol, symbol) for symbol in symbols)


def _attributes(name: str, op: ir.Operation) -> Sequence[Attribute]:
    """Returns the attributes of an op.

    The bindings cannot read the elements of complex constants, which are printed instead.
    """
    if name != _CONSTANT or not is_complex(op.results[0].type):
        return list(attributes.all_of(op).items())
    bare = op.clone(ip=False)
    others = [key for key in bare.attributes if key != "value"]
    for key in others:
        del bare.attributes[key]
    text = bare.get_asm(large_elements_limit=HASHED_ELEMENTS, enable_debug_info=False)
    return [("value", text), *((key, op.attributes[key]) for key in others)]


def _constant(attribute: ir.Attribute) -> str:
    type_ = attribute.type
    small = math.prod(type_.shape) <= HASHED_ELEMENTS
    dense = isinstance(attribute, ir.DenseElementsAttr)
    return str(attribute if dense and (small or attribute.is_splat) else type_)
