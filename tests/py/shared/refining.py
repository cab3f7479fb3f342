"""Programs of unknown sizes, made static for the interpreter."""

from __future__ import annotations

import io
from collections.abc import Sequence

from jaxlib import _jax

from scalify_hlo._compat import ir, passmanager, register_passes
from tests.py.programs.dynamic import inputs
from tests.py.shared.judge import Array, evaluate

_REFINE = "builtin.module(stablehlo-refine-arguments{types=TYPES})"
_CANONICALIZE = "builtin.module(func.func(stablehlo-canonicalize-dynamism))"


def refined(module: ir.Module, arrays: Sequence[Array]) -> ir.Module:
    """The program with static shapes, those of its arguments being the arrays'."""
    register_passes()
    with module.context, ir.Location.unknown():
        types = [
            ir.RankedTensorType.get(array.shape, type_.element_type)
            for array, type_ in zip(arrays, inputs(module), strict=True)
        ]
        pipeline = _REFINE.replace("TYPES", ",".join(map(str, types)))
        passmanager.PassManager.parse(pipeline).run(module.operation)
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        static = _jax.mlir.refine_polymorphic_shapes(
            mlir_module=buffer.getvalue(),
            enable_shape_assertions=True,
            validate_static_shapes=True,
            enable_shardy=True,
        )
        module = ir.Module.parse(static)
        passmanager.PassManager.parse(_CANONICALIZE).run(module.operation)
        return module


def evaluate_refined(module: ir.Module, arrays: Sequence[Array]) -> list[Array]:
    """Runs `main` on the interpreter, which needs static shapes."""
    return evaluate(refined(module, arrays), arrays)
