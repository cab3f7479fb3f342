"""Tells weights from activations where both operands of a matmul are arguments.

`scalify-roles` takes the second one to be the weight, which is right for ``x @ w``, and wrong for
``w @ x``. The format of an argument is the caller's concern, so that more evidence is needed to
change it: the argument is declared; or it is a leaf of a pytree, as ``params['w']`` is, and the
other operand is not; or a matmul with a computed operand reads another leaf of its pytree.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import Remark
from scalify_hlo.report.matmuls import MatmulReport

_DECLARE: Final = "declare weights with inputs.weight, and activations with inputs.activation"
_ROOT: Final = re.compile(r"[\[.]")


class CertainWeights:
    """The weights of a program of which more is known than their place.

    Args:
        matmuls: All matmuls of the program, with the names of the arguments that they read.
        declared: The names of the arguments that the recipe declares to be weights, or that are
            weights of a training step.

    Attributes:
        declared: See the argument.
    """

    def __init__(self, matmuls: Sequence[MatmulReport], declared: Collection[str]) -> None:
        self._arguments = {matmul.number: matmul.arguments for matmul in matmuls}
        self.declared = declared
        self._pytrees = {
            _root(name)
            for pair in self._arguments.values()
            for name, other in (pair, pair[::-1])
            if name and not other
        }

    def has(self, op: ir.OpView, side: int) -> bool:
        """Whether an operand that is taken to be a weight is one.

        Args:
            op: A matmul with marks of `scalify-roles`.
            side: The number of the operand.
        """
        name, other = self._names(op, side)
        if not (name and other) or name in self.declared:
            return True
        root, other_root = _root(name), _root(other)
        if root == other_root:
            return False
        return root in self._pytrees or (root != name and other_root == other)

    def kept(self, op: ir.OpView, side: int) -> tuple[str, Remark] | None:
        """Returns the name of a weight that is not stored, and a remark on it.

        Args:
            op: A matmul that reads it, with marks of `scalify-roles`.
            side: The number of the operand.

        Returns:
            None if it is no argument, or is declared, so that it is stored in any case.
        """
        name, other = self._names(op, side)
        if not name or name in self.declared:
            return None
        reason = f"{name} or {other} may be the weight"
        if self.has(op, side):
            reason = "it is no pair that only quantized matmuls read"
        message = f"casts {name} in each call, as {reason}"
        return name, Remark(message, str(op.location), op.operation.name, _DECLARE)

    def _names(self, op: ir.OpView, side: int) -> tuple[str, str]:
        if attributes.MATMUL not in op.attributes:
            return "", ""
        number: int = ir.IntegerAttr(op.attributes[attributes.MATMUL]).value
        pair = self._arguments.get(number, ("", ""))  # The passes may run one by one.
        return pair[side], pair[1 - side]


def _root(name: str) -> str:
    """Returns the positional argument that a leaf such as ``params['w']`` is in."""
    return _ROOT.split(name, maxsplit=1)[0]
