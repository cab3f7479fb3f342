"""The work of a kernel: its floating-point operations, and the bytes that it moves.

An operand is read once. Of an operand that is only sliced or gathered from, the slices are read,
also if a fusion converts it before. An update in place reads and writes the size of the update.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from scalify_hlo.ir import traits
from scalify_hlo.targets.hlo import Instruction, Shape

GEMM: Final = "__cublas$"
"""The start of the names of matmuls of cuBLAS and cuBLASLt among custom calls."""
CONVOLUTION: Final = "__cudnn$conv"
"""The start of the names of convolutions of cuDNN among custom calls."""
FORMATS: Final = ("f4", "f8", "int8", "f16", "bf16", "f32", "f32_highest", "f64")
"""The classes of formats, the narrowest first.

By default, XLA multiplies f32 in a narrower format: TF32 on GPUs, bf16 on TPUs. A product of
``f32_highest`` asks for the highest precision.
"""

_HIGHEST: Final = re.compile(r"\b(?:highest|HIGHEST)\b")
_LABELS: Final = re.compile(r"dim_labels=(\w+)_(\w+)->(\w+)")
_CLASSES: Final = {
    **{name: name for name in ("f16", "bf16", "f64")},
    **dict.fromkeys(("c128", "complex<f64>"), "f64"),
}
_INTEGERS: Final = ("s8", "u8", "s4", "u4", "i8", "ui8", "i4", "ui4")

_Flops: TypeAlias = Callable[[Instruction, Sequence[Shape]], int]


@dataclass(frozen=True, slots=True)
class Product:
    """A matmul or a convolution.

    Attributes:
        flops: Its floating-point operations; a multiplication and an addition are two.
        format: The class of the formats of its operands, one of `FORMATS`; the wider of two.
        op_name: The name of the op of the source, as XLA keeps it; empty without one.
    """

    flops: int
    format: str
    op_name: str


def products(instruction: Instruction) -> Iterator[Product]:
    """Yields the matmuls and convolutions that an instruction, such as a fusion, computes."""
    flops_of = _FLOPS.get(instruction.opcode)
    if instruction.opcode == "custom-call":
        flops_of = _of_library(instruction.quoted("custom_call_target"))
    operands = [each.shapes[0] for each in instruction.sources if each.shapes]
    if flops_of is not None and len(operands) > 1:
        flops, format_ = flops_of(instruction, operands), _format(instruction, operands[:2])
        yield Product(flops, format_, instruction.quoted("op_name"))
    if body := instruction.body:
        for each in body.instructions:
            yield from products(each)


def _of_library(target: str) -> _Flops | None:
    if target.startswith(GEMM):
        return _dot
    return _convolution if target.startswith(CONVOLUTION) else None


def _dot(instruction: Instruction, operands: Sequence[Shape]) -> int:
    contracted = instruction.listed("lhs_contracting_dims")
    contracted = contracted or instruction.listed("lhs_contracting_dimensions")
    return 2 * instruction.shapes[0].size * math.prod(operands[0].dims[d] for d in contracted)


def _convolution(instruction: Instruction, operands: Sequence[Shape]) -> int:
    """Counts the multiplications of a convolution, without those by padding.

    Labels and window are those of the forward convolution, also in cuDNN's calls for gradients.
    """
    target, result = instruction.quoted("custom_call_target"), instruction.shapes[0]
    image, kernel, output = operands[0], operands[1], result
    if "BackwardInput" in target:
        image, output = result, operands[0]
    elif "BackwardFilter" in target:
        kernel, output = result, operands[1]
    labels = _LABELS.search(instruction.attributes)
    if labels is None:
        return 0
    shapes = zip(labels.groups(), (image, kernel, output), strict=True)
    images, kernels, outputs = (dict(zip(label, s.dims, strict=True)) for label, s in shapes)
    groups = int(instruction.text("batch_group_count") or 1)
    channels = images["b"] // groups * kernels["i"] * outputs["f"]
    windows = _windows(instruction.braced("window"), sum(map(str.isdigit, labels[1])))
    places = (w.places(images[w.dim], kernels[w.dim], outputs[w.dim]) for w in windows)
    flops: int = 2 * channels * math.prod(places)
    return flops


@dataclass(frozen=True, slots=True)
class _Window:
    """The window of a convolution in a spatial dimension, which its label names."""

    dim: str
    stride: int
    low: int
    base: int
    step: int

    def places(self, image: int, kernel: int, output: int) -> int:
        """Counts the pairs of a place in the output and one in the kernel that read the image."""
        last = (image - 1) * self.base
        starts = range(-self.low, output * self.stride - self.low, self.stride)
        return sum(
            0 <= place <= last and place % self.base == 0
            for start in starts
            for place in range(start, start + kernel * self.step, self.step)
        )


def _windows(text: str, rank: int) -> Iterator[_Window]:
    """Yields the windows of the spatial dimensions, as in ``size=3x3 pad=1_1x1_1``."""
    fields = dict(word.split("=", 1) for word in text.split())

    def numbers(key: str, default: int) -> list[int]:
        words = fields[key].split("x") if key in fields else []
        return [int(word.split("_")[0]) for word in words] or [default] * rank

    columns = (
        numbers(key, default)
        for key, default in (("stride", 1), ("pad", 0), ("lhs_dilate", 1), ("rhs_dilate", 1))
    )
    for dim, (stride, low, base, step) in enumerate(zip(*columns, strict=True)):
        yield _Window(str(dim), stride, low, base, step)


_FLOPS: Final[Mapping[str, _Flops]] = {"dot": _dot, "scaled-dot": _dot, "convolution": _convolution}


def _format(instruction: Instruction, operands: Sequence[Shape]) -> str:
    classes = [format_class(each.element) for each in operands]
    widest = max(classes, key=FORMATS.index)
    highest = widest == "f32" and _HIGHEST.search(instruction.attributes)
    return "f32_highest" if highest else widest


def format_class(element: str) -> str:
    """Returns the class of formats of an element type at the default precision.

    Args:
        element: The element type, as HLO or MLIR spells it.
    """
    if element.startswith(("f4", "f8")):
        return element[:2]
    if element in _INTEGERS:
        return "int8"
    return _CLASSES.get(element, "f32")


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


def bytes_read(instruction: Instruction) -> int:
    """Returns the bytes that an instruction reads."""
    body = instruction.body
    total = 0
    for number, operand in enumerate(instruction.sources):
        if not all(shape.in_main_memory for shape in operand.shapes):
            continue
        size = sum(shape.size for shape in operand.shapes)
        if body is not None and number in body.parameters:
            elements = _elements_read(body.parameters[number], size, set())
        else:
            elements = _read_by(instruction, number, size)
        total += _size(operand.shapes) * min(elements, size) // size if size else 0
    return total


def bytes_written(instruction: Instruction) -> int:
    """Returns the bytes that an instruction writes."""
    body = instruction.body
    if instruction.opcode == _COPY:
        return _size(instruction.shapes[:1])
    if body is None:
        return _written_by(instruction, _results(instruction))
    roots = body.root.sources if body.root.opcode == "tuple" else [body.root]
    if len(roots) != len(instruction.shapes):
        return _size(instruction.shapes)
    pairs = zip(roots, instruction.shapes, strict=True)
    return sum(_written_by(_origin(root), (shape,)) for root, shape in pairs)


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


def is_workspace(instruction: Instruction, index: str) -> bool:
    """Whether a result of a call of a library is memory in which the library works.

    Args:
        instruction: The instruction.
        index: The index of the result, as in ``{1}``.
    """
    last = len(instruction.shapes) - 1
    called = instruction.opcode == "custom-call" and last > 0 and index == f"{{{last}}}"
    return called and instruction.shapes[last].element in _WORKSPACE


def _elements_read(value: Instruction, size: int, seen: set[str]) -> int:
    """Returns how many elements of a value the instructions of a fusion read.

    Of a value that is computed element by element, a fusion computes those that are read.

    Args:
        value: The value.
        size: The number of its elements.
        seen: The names of the values that were counted before.
    """
    if value is value.inside.root:
        return size
    total = 0
    for user in value.inside.users[value.name]:
        if user.opcode not in _VIEWS and user.opcode not in _ELEMENTWISE:
            total += _read_by(user, user.operands.index(value.name), size)
        elif user.name not in seen:
            seen.add(user.name)
            total += _elements_read(user, size, seen)
    return total


def _read_by(user: Instruction, number: int, size: int) -> int:
    """Returns how many elements of one of its operands an instruction reads."""
    if number > 0:
        return size
    if user.opcode in _SLICES:
        return sum(shape.size for shape in user.shapes)
    if user.opcode == "dynamic-update-slice":
        return 0
    if user.opcode == "scatter":
        return sum(shape.size for shape in _update(user))
    return size


def _written_by(instruction: Instruction, shapes: tuple[Shape, ...]) -> int:
    if instruction.opcode in _UPDATED:
        return min(sum(shape.bytes for shape in _update(instruction)), _size(shapes))
    return _size(shapes)


def _origin(value: Instruction) -> Instruction:
    """Returns the instruction of which a value is a view."""
    while value.opcode in _VIEWS and (operands := value.sources):
        value = operands[0]
    return value


def _update(instruction: Instruction) -> tuple[Shape, ...]:
    """Returns the updates of a scatter or a dynamic-update-slice."""
    operands = instruction.sources
    place = 1 if instruction.opcode == "dynamic-update-slice" else -1
    return operands[place].shapes if len(operands) > 1 else ()
