"""The causes of kernels: a matmul, an amax, a scalar, a transpose, a cast, or anything else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scalify_hlo.targets.hlo import Computation, Instruction, Module, Shape

CAUSES: Final = ("gemm", "collective", "scalar", "amax", "transpose", "cast", "other")
"""The causes of kernels.

``gemm`` computes matmuls or convolutions; ``scalar`` computes arrays of one element from others;
``amax`` finds the largest magnitudes of a tensor; ``transpose`` moves the elements of a tensor and
computes nothing; ``cast`` converts to a format of 8 bits or fewer, or converts and scales only.
"""
COLLECTIVE: Final = "collective"
"""The cause of kernels that move data between devices."""
COLLECTIVES: Final = frozenset(
    {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"}
    | {"collective-broadcast", "ragged-all-to-all"}
)
"""The opcodes that move data between devices."""

_PLACES: Final = frozenset(
    {"parameter", "constant", "broadcast", "bitcast", "reshape", "tuple", "get-tuple-element"}
)
_MOVES: Final = frozenset({"transpose", "copy"})
_CONVERSIONS: Final = frozenset({"convert", "multiply", "divide", "clamp", "maximum", "minimum"})
_MUCH_SMALLER: Final = 8


def cause_of(
    instruction: Instruction, inside: Computation, module: Module, computes_products: bool
) -> str:
    """Returns the cause of a kernel, one of `CAUSES`.

    Args:
        instruction: The instruction that is launched.
        inside: The computation of the instruction.
        module: The module.
        computes_products: Whether it computes matmuls or convolutions.
    """
    if computes_products:
        return "gemm"
    if instruction.opcode.removesuffix("-start") in COLLECTIVES:
        return COLLECTIVE
    operands = [shape for each in inside.operands(instruction) for shape in each.shapes]
    if all(shape.size <= 1 for shape in (*operands, *instruction.shapes)):
        return "scalar"
    body = list(_work(instruction, module))
    if _is_amax(body, operands, instruction.shapes, module):
        return "amax"
    opcodes = {each.opcode for each in body}
    if operands and opcodes <= _MOVES and _reorders(opcodes, operands, instruction.shapes):
        return "transpose"
    narrow = any(s.element.startswith(("f4", "f8")) for s in instruction.shapes)
    casts = "convert" in opcodes and (narrow or opcodes <= _CONVERSIONS | _MOVES)
    return "cast" if casts else "other"


def _reorders(opcodes: set[str], operands: list[Shape], results: tuple[Shape, ...]) -> bool:
    """Whether moved elements get another order in memory, and are not only copied."""
    return "transpose" in opcodes or results[0].layout != operands[0].layout


def _work(instruction: Instruction, module: Module) -> Iterator[Instruction]:
    """Yields the instructions that a kernel computes."""
    body = module.body(instruction)
    for each in body.instructions if body else (instruction,):
        if each.opcode not in _PLACES:
            yield each


def _is_amax(
    body: list[Instruction],
    operands: list[Shape],
    results: tuple[Shape, ...],
    module: Module,
) -> bool:
    """Whether a kernel reduces a tensor to its largest magnitude, or to a few for its parts.

    Sums of partial maxima, by which a large reduction ends, have no magnitudes: they are maxima of
    which a single one is the result.
    """
    if not any(_takes_maximum(each, module) for each in body):
        return False
    read = max((shape.size for shape in operands), default=0)
    largest = max((shape.size for shape in results), default=0)
    magnitudes = any(each.opcode == "abs" for each in body)
    return _MUCH_SMALLER * largest <= read and (magnitudes or largest == 1)


def _takes_maximum(instruction: Instruction, module: Module) -> bool:
    if instruction.opcode != "reduce":
        return False
    applied = module.computations.get(instruction.text("to_apply"))
    return applied is not None and "maximum" in {i.opcode for i in applied.instructions}
