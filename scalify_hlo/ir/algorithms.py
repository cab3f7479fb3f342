"""The dot algorithms of matmuls with f8 operands."""

from __future__ import annotations

from functools import cache

from scalify_hlo._compat import func, ir, new_context, stablehlo
from scalify_hlo.ir.contraction import dot_numbers
from scalify_hlo.ir.formats import element_of


def dot_algorithm(lhs: str, rhs: str, *, imprecise: bool) -> ir.Attribute | None:
    """Returns the dot algorithm with which XLA calls an FP8 kernel.

    Args:
        lhs: Format of the left operand.
        rhs: Format of the right operand.
        imprecise: Whether products may be accumulated with less precision than f32, as in forward
            matmuls.

    Returns:
        The attribute. None if jax could not pass such a program to its plugins: it serializes
        programs for them at the StableHLO version of twelve weeks ago, which for jaxlib 0.12 has no
        algorithms on E4M3.
    """
    if not _travels(lhs, rhs):
        return None
    return _algorithm(lhs, rhs, imprecise=imprecise)


def swapped_algorithm(algorithm: ir.Attribute) -> ir.Attribute:
    """Returns the algorithm of a matmul for that of the swapped operands."""
    given = stablehlo.DotAlgorithm(algorithm)
    return stablehlo.DotAlgorithm.get(
        given.rhs_precision_type,
        given.lhs_precision_type,
        given.accumulation_type,
        given.rhs_component_count,
        given.lhs_component_count,
        given.num_primitive_operations,
        given.allow_imprecise_accumulation,
    )


def _algorithm(lhs: str, rhs: str, *, imprecise: bool) -> ir.Attribute:
    left, right = map(element_of, (lhs, rhs))
    return stablehlo.DotAlgorithm.get(left, right, ir.F32Type.get(), 1, 1, 1, imprecise)


@cache
def _travels(lhs: str, rhs: str) -> bool:
    """Whether a matmul with the algorithm can be serialized for plugins, which is tried once."""
    requirement = stablehlo.StablehloCompatibilityRequirement.WEEK_12
    version = stablehlo.get_version_from_compatibility_requirement(requirement)
    context = new_context()
    handler = context.attach_diagnostic_handler(lambda _: True)  # Errors are expected here.
    with context, ir.Location.unknown():
        try:
            stablehlo.serialize_portable_artifact(_program(lhs, rhs), version)
        except ValueError:
            return False
        finally:
            handler.detach()
    return True


def _program(lhs: str, rhs: str) -> ir.Module:
    """Returns a module with one matmul."""
    module = ir.Module.create()
    left, right = (ir.RankedTensorType.get([16, 16], element_of(f)) for f in (lhs, rhs))
    result = ir.RankedTensorType.get([16, 16], ir.F32Type.get())
    with ir.InsertionPoint(module.body):
        main = func.FuncOp("main", ([left, right], [result]))
        block = main.add_entry_block()
    with ir.InsertionPoint(block):
        numbers = dot_numbers([1], [0])
        dot = ir.Operation.create(
            "stablehlo.dot_general",
            results=[result],
            operands=list(block.arguments),
            attributes={
                "dot_dimension_numbers": numbers,
                "algorithm": _algorithm(lhs, rhs, imprecise=False),
            },
        )
        func.ReturnOp(dot.results)
    return module
