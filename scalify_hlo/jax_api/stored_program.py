"""Programs that keep state or weights in other formats than they compute in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.export
import numpy as np

from scalify_hlo import _compat
from scalify_hlo.errors import UsageError
from scalify_hlo.jax_api.scaled_array import ScaledArray


def scaled_node(logical: np.dtype[Any] | None = None, power: int | None = None) -> _compat.TreeDef:
    """Returns the tree of one ScaledArray.

    Args:
        logical: The dtype in which the program computes; None if it is the dtype of the data.
        power: See `ScaledArray`.
    """
    node: _compat.TreeDef = jax.tree.structure(ScaledArray(0, 0, logical, power))
    return node


@dataclass(frozen=True)
class StoredProgram(jax.export.Exported):
    """An Exported that keeps state in other formats than it computes in.

    If state is in another format, the error of `call` says how to convert it.
    """

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the program; see `jax.export.Exported.call`.

        Raises:
            UsageError: State is not in the formats in which the program keeps it.
        """
        given: Any = jax.tree.structure((args, kwargs))
        if given != self.in_tree and _without_logical(given) == _without_logical(self.in_tree):
            raise UsageError(
                f"{self.fun_name!r} keeps state in other formats than it is given in",
                hint="scalify_hlo.scaled_state(program, (params, opt_state)) makes it so",
            )
        call: Any = super().call
        return call(*args, **kwargs)


def _without_logical(tree: _compat.TreeDef) -> _compat.TreeDef:
    """Returns a tree whose ScaledArrays have no logical dtypes."""
    node = tree.node_data()
    if node is None:
        return tree
    if node[0] is ScaledArray:
        return scaled_node()
    return _compat.make_tree(node, [_without_logical(child) for child in tree.children()])


def stored_program(exported: jax.export.Exported) -> jax.export.Exported:
    """Returns a program whose `call` says how to convert state that is in another format."""
    return StoredProgram(**_compat.field_values(exported))


def keeps_formats(exported: jax.export.Exported) -> bool:
    """Whether an argument of a program is stored in another format than its logical dtype."""
    tree: Any = exported.in_tree
    return bool(tree != _without_logical(tree))
