"""The MLIR bindings of jaxlib: the only file that touches their private names.

jaxlib alone is imported here, never jax, so that the command line starts fast.
`jax._src.lib.mlir` is the same package under another name.
"""

from __future__ import annotations

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, func, sdy, stablehlo

__all__ = [
    "chlo",
    "func",
    "ir",
    "new_context",
    "passmanager",
    "register_passes",
    "sdy",
    "stablehlo",
]


def new_context() -> ir.Context:
    """A context that knows the dialects an exported program may use, and no others."""
    context = ir.Context()
    # Passes are Python, so threads would only make forks and the order of diagnostics unsafe.
    context.enable_multithreading(False)
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    context.load_all_available_dialects()
    return context


def register_passes() -> None:
    """Makes StableHLO's own passes known to MLIR's PassManager."""
    stablehlo.register_stablehlo_passes()
