"""Bytes that a kernel reads from the memory of its device and writes to it.

An operand is read once. Of an operand that is only sliced or gathered from, the slices are read,
also if a fusion converts it before. An update in place reads and writes the size of the update.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scalify_hlo.ir import traits
from scalify_hlo.targets.hlo import Computation, Instruction, Module, Shape
from scalify_hlo.targets.products import CONVOLUTION, GEMM

_VIEWS: Final = ("bitcast", "reshape")
_SLICES: Final = ("dynamic-slice", "slice", "gather")
_UPDATED: Final = ("dynamic-update-slice", "scatter")
_ELEMENTWISE: Final = frozenset(
    name.removeprefix("stablehlo.").replace("_", "-")
    for name in traits.ELEMENTWISE | traits.ROUNDS | traits.LOGICAL | {"stablehlo.compare"}
)
"""Opcodes whose results have an element for each element of their operands."""
_WORKSPACE: Final = ("s8", "u8")
_COPY: Final = "copy-start"
_WITH_OPERANDS: Final = (
    "all-gather-start",
    "all-to-all-start",
    "collective-permute-start",
    "reduce-scatter-start",
)
"""Starts of collectives whose result is a tuple of the operands, the results and more."""


def bytes_read(instruction: Instruction, inside: Computation, module: Module) -> int:
    """Returns the bytes that an instruction reads.

    Args:
        instruction: The instruction.
        inside: The computation of the instruction.
        module: The module.
    """
    body = module.body(instruction)
    total = 0
    for number, operand in enumerate(inside.operands(instruction)):
        if not all(shape.in_main_memory for shape in operand.shapes):
            continue
        whole = _size(operand.shapes)
        if body is not None and number in body.parameters:
            total += _read_inside(body.parameters[number], body, whole)
        else:
            size = sum(shape.size for shape in operand.shapes)
            total += _of_elements(whole, size, _read_by(instruction, number, inside, size))
    return total


def bytes_written(instruction: Instruction, inside: Computation, module: Module) -> int:
    """Returns the bytes that an instruction writes; arguments as for `bytes_read`."""
    body = module.body(instruction)
    if instruction.opcode == _COPY:
        return _size(instruction.shapes[:1])
    if body is None:
        return _written_by(instruction, inside, _results(instruction))
    roots = body.operands(body.root) if body.root.opcode == "tuple" else [body.root]
    if len(roots) != len(instruction.shapes):
        return _size(instruction.shapes)
    pairs = zip(roots, instruction.shapes, strict=True)
    return sum(_written_by(_origin(root, body), body, (shape,)) for root, shape in pairs)


def bytes_exchanged(instruction: Instruction) -> int:
    """Returns the bytes of the results of a collective, in whatever memory they are."""
    return sum(shape.bytes for shape in _results(instruction))


def _size(shapes: Iterable[Shape]) -> int:
    return sum(shape.bytes for shape in shapes if shape.in_main_memory)


def _results(instruction: Instruction) -> tuple[Shape, ...]:
    """Returns the results without operands and workspaces, which some instructions return too."""
    if instruction.opcode in _WITH_OPERANDS:
        count = len(instruction.operands)
        return instruction.shapes[count : 2 * count]
    target = instruction.quoted("custom_call_target")
    shapes = instruction.shapes
    library = target.startswith((GEMM, CONVOLUTION))
    has_workspace = library and len(shapes) > 1 and shapes[-1].element in _WORKSPACE
    return shapes[:-1] if has_workspace else shapes


def _read_inside(parameter: Instruction, body: Computation, whole: int) -> int:
    """Returns the bytes of a parameter that the instructions of a fusion read."""
    size = sum(shape.size for shape in parameter.shapes)
    return _of_elements(whole, size, _elements_read(parameter, body, size, set()))


def _of_elements(whole: int, size: int, elements: int) -> int:
    """Returns the bytes of some elements of an array, of which the whole has some bytes."""
    return whole * min(elements, size) // size if size else 0


def _elements_read(value: Instruction, body: Computation, size: int, seen: set[str]) -> int:
    """Returns how many elements of a value the instructions of a fusion read.

    Of a value that is computed element by element, a fusion computes those that are read.

    Args:
        value: The value.
        body: The computation of the fusion.
        size: The number of its elements.
        seen: The names of the values that were counted before.
    """
    if value is body.root:
        return size
    total = 0
    for user in body.users[value.name]:
        if user.opcode not in _VIEWS and user.opcode not in _ELEMENTWISE:
            total += _read_by(user, user.operands.index(value.name), body, size)
        elif user.name not in seen:
            seen.add(user.name)
            total += _elements_read(user, body, size, seen)
    return total


def _read_by(user: Instruction, number: int, inside: Computation, size: int) -> int:
    """Returns how many elements of one of its operands an instruction reads."""
    if number > 0:
        return size
    if user.opcode in _SLICES:
        return sum(shape.size for shape in user.shapes)
    if user.opcode == "dynamic-update-slice":
        return 0
    if user.opcode == "scatter":
        return sum(shape.size for shape in _update(user, inside))
    return size


def _written_by(instruction: Instruction, inside: Computation, shapes: tuple[Shape, ...]) -> int:
    if instruction.opcode in _UPDATED:
        return min(sum(shape.bytes for shape in _update(instruction, inside)), _size(shapes))
    return _size(shapes)


def _origin(value: Instruction, body: Computation) -> Instruction:
    """Returns the instruction of which a value is a view."""
    while value.opcode in _VIEWS and (operands := body.operands(value)):
        value = operands[0]
    return value


def _update(instruction: Instruction, inside: Computation) -> tuple[Shape, ...]:
    """Returns the updates of a scatter or a dynamic-update-slice."""
    operands = inside.operands(instruction)
    place = 1 if instruction.opcode == "dynamic-update-slice" else -1
    return operands[place].shapes if len(operands) > 1 else ()
