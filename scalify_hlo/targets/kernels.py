"""The kernels that an optimized program launches: what each computes, moves and is for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from scalify_hlo.algebra.limits import FEW_ADJACENT
from scalify_hlo.results.kinds import Count, one_of
from scalify_hlo.results.model import keys
from scalify_hlo.targets.hlo import Computation, Instruction, Module, Shape
from scalify_hlo.targets.products import (
    CONVOLUTION,
    FORMATS,
    bytes_exchanged,
    bytes_read,
    bytes_written,
    products,
)

_KNOWN: Final = re.compile(r'"known_trip_count":\{"n":"?(\d+)')
_SAME: Final = ("copy", "bitcast", "convert")


def turns(loop: Instruction) -> int | None:
    """Returns the number of turns of a ``while`` instruction; None if it is not known."""
    if found := _KNOWN.search(loop.attributes):
        return int(found[1])
    condition, body, operands = loop.called("condition"), loop.called("body"), loop.sources
    if condition is None or body is None or len(operands) != 1:
        return None
    compared = condition.root.sources
    if condition.root.text("direction") != "LT" or len(compared) != 2:
        return None
    place = _place(compared[0])
    first = _constant(_element(operands[0], place))
    step = _step(_element(body.root, place))
    bound = _constant(compared[1])
    if first is None or step is None or bound is None:
        return None
    return max(-(-(bound - first) // step), 0)


def _place(counter: Instruction) -> int:
    """Returns the place of a counter among the values of a loop; -1 if it is none of them."""
    return int(counter.text("index") or -1) if counter.opcode == "get-tuple-element" else -1


def _element(values: Instruction, place: int) -> Instruction | None:
    elements = values.sources
    known = values.opcode == "tuple" and 0 <= place < len(elements)
    return elements[place] if known else None


def _unmoved(value: Instruction | None) -> Instruction | None:
    """Returns the instruction of which a value is a copy."""
    while value is not None and value.opcode in _SAME:
        value = next(iter(value.sources), None)
    return value


def _constant(value: Instruction | None) -> int | None:
    value = _unmoved(value)
    if value is None or value.opcode != "constant" or not value.operands[0].isdecimal():
        return None
    return int(value.operands[0])


def _step(value: Instruction | None) -> int | None:
    """Returns the constant that is added to a counter; None if anything else is done to it."""
    value = _unmoved(value)
    if value is None or value.opcode != "add":
        return None
    steps = map(_constant, value.sources)
    return next((step for step in steps if step), None)


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


def cause_of(instruction: Instruction, *, computes_products: bool) -> str:
    """Returns the cause of a kernel, one of `CAUSES`.

    Args:
        instruction: The instruction that is launched.
        computes_products: Whether it computes matmuls or convolutions.
    """
    if computes_products:
        return "gemm"
    if instruction.opcode.removesuffix("-start") in COLLECTIVES:
        return COLLECTIVE
    operands = [shape for each in instruction.sources for shape in each.shapes]
    if all(shape.size <= 1 for shape in (*operands, *instruction.shapes)):
        return "scalar"
    body = list(_work(instruction))
    if _is_amax(body, operands, instruction.shapes):
        return "amax"
    opcodes = {each.opcode for each in body}
    # Elements that are only copied keep their order in memory.
    layouts = {shape.layout for shape in (*instruction.shapes[:1], *operands[:1])}
    if operands and opcodes <= _MOVES and ("transpose" in opcodes or len(layouts) > 1):
        return "transpose"
    narrow = any(s.element.startswith(("f4", "f8")) for s in instruction.shapes)
    casts = "convert" in opcodes and (narrow or opcodes <= _CONVERSIONS | _MOVES)
    return "cast" if casts else "other"


def _work(instruction: Instruction) -> Iterator[Instruction]:
    """Yields the instructions that a kernel computes."""
    body = instruction.body
    for each in body.instructions if body else (instruction,):
        if each.opcode not in _PLACES:
            yield each


def _is_amax(body: list[Instruction], operands: list[Shape], results: tuple[Shape, ...]) -> bool:
    """Whether a kernel reduces a tensor to its largest magnitude, or to a few for its parts.

    Sums of partial maxima, by which a large reduction ends, have no magnitudes: they are maxima of
    which a single one is the result.
    """
    if not any(map(_takes_maximum, body)):
        return False
    read = max((shape.size for shape in operands), default=0)
    largest = max((shape.size for shape in results), default=0)
    magnitudes = any(each.opcode == "abs" for each in body)
    return _MUCH_SMALLER * largest <= read and (magnitudes or largest == 1)


def _takes_maximum(instruction: Instruction) -> bool:
    applied = instruction.called("to_apply") if instruction.opcode == "reduce" else None
    return applied is not None and "maximum" in {i.opcode for i in applied.instructions}


_KIND: Final = re.compile(r'"kind":"(__\w+)"')
_BRANCHES: Final = re.compile(r"branch_computations=\{([^}]*)\}")
_NO_KERNEL: Final = frozenset(
    {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "opt-barrier"}
    | {"partition-id", "replica-id", "add-dependency", "domain"}
)
_DONE: Final = ("-done", "-update")
_SCALE: Final = "f8e8m0fnu"


_LIBRARIES: Final[Mapping[str, str]] = {
    "__cublas$lt": "cuBLASLt",
    "__cublas$": "cuBLAS",
    "__cudnn$": "cuDNN",
    "__triton": "Triton",
}
"""The names of libraries by the starts of XLA's names of their kernels."""


@keys("name op_name kernel cause times flops read written")
@dataclass(frozen=True, slots=True)
class Kernel:
    """An instruction of a program that a device runs as a kernel or as a call of a library.

    Attributes:
        name: The name of the instruction.
        op_name: The name of the op of the source, as XLA keeps it; empty without one.
        products: The names of the ops of its matmuls and convolutions, each once.
        sources: The names of the ops that made the scales of blocks that it reads, if a matmul in
            it has no name: XLA drops those of composites that it has a kernel for.
        kernel: The opcode, the target of a custom call, or the kind of a custom fusion.
        cause: A member of `causes.CAUSES`.
        times: How often a run of the program launches it.
        flops: Floating-point operations of its matmuls and convolutions, by class of formats.
        read: The bytes that it reads.
        written: The bytes that it writes.
        exchanged: The bytes of the results of a collective; 0 for other kernels.
        result: The element type of its first result.
        few: Whether it transposes a tensor to an order in which few numbers are adjacent.
    """

    name: str
    op_name: str
    products: tuple[str, ...]
    sources: tuple[str, ...]
    kernel: str
    cause: Annotated[str, one_of(CAUSES)]
    times: Count
    flops: Mapping[str, int]
    read: Count
    written: Count
    exchanged: int
    result: str
    few: bool = False

    @property
    def bytes(self) -> int:
        """The bytes that a launch moves."""
        return self.read + self.written

    @property
    def label(self) -> str:
        """Its library and the classes of its formats, as in ``cuBLASLt f8``."""
        names = (label for start, label in _LIBRARIES.items() if self.kernel.startswith(start))
        return " ".join([next(names, "XLA"), *self.flops])

    @property
    def convolves(self) -> bool:
        """Whether it is a convolution of cuDNN."""
        return self.kernel.startswith(CONVOLUTION)


def kernels_of(module: Module) -> list[Kernel]:
    """Returns the kernels of a module, those of loops with the number of their turns.

    The turns of a loop count once if XLA does not know how many there are. Of the branches of a
    conditional, the one that moves most bytes is taken.

    Args:
        module: The optimized module.
    """
    return list(_launched(module.entry, 1))


def unknown_loops(module: Module) -> int:
    """Returns the number of loops of which XLA does not know the number of turns."""
    return sum(
        instruction.opcode == "while" and turns(instruction) is None
        for computation in module.computations.values()
        for instruction in computation.instructions
    )


def _launched(inside: Computation, times: int) -> Iterator[Kernel]:
    for instruction in inside.instructions:
        opcode = instruction.opcode
        allocates = instruction.quoted("custom_call_target") == "AllocateBuffer"
        if opcode in _NO_KERNEL or opcode.endswith(_DONE) or allocates:
            continue
        if opcode == "while":
            count = turns(instruction)
            for key in ("condition", "body"):
                if computation := instruction.called(key):
                    yield from _launched(computation, times * (1 if count is None else count))
        elif opcode == "conditional":
            yield from _of_branches(instruction, times)
        elif (called := _called(instruction)) is not None:
            yield from _launched(called, times)
        else:
            yield _kernel(instruction, times)


def _of_branches(choice: Instruction, times: int) -> list[Kernel]:
    found = _BRANCHES.search(choice.attributes)
    names = re.findall(r"[\w.\-]+", found[1]) if found else []
    names = names or [choice.text(f"{which}_computation") for which in ("true", "false")]
    known = choice.inside.computations
    launched = (list(_launched(known[name], times)) for name in names if name in known)
    return max(launched, key=lambda ks: sum(k.times * k.bytes for k in ks), default=[])


def _called(instruction: Instruction) -> Computation | None:
    """Returns the computation that a call or the start of an asynchronous op runs."""
    key = {"call": "to_apply", "async-start": "calls"}.get(instruction.opcode)
    return instruction.called(key) if key else None


def _kernel(instruction: Instruction, times: int) -> Kernel:
    flops: dict[str, int] = {}
    computed = list(products(instruction))
    for product in computed:
        flops[product.format] = flops.get(product.format, 0) + product.flops
    cause = cause_of(instruction, computes_products=bool(flops))
    return Kernel(
        name=instruction.name,
        op_name=instruction.quoted("op_name"),
        products=tuple(dict.fromkeys(product.op_name for product in computed)),
        sources=() if all(p.op_name for p in computed) else _sources(instruction),
        kernel=_kernel_name(instruction),
        cause=cause,
        times=times,
        flops={key: flops[key] for key in FORMATS if key in flops},
        read=bytes_read(instruction),
        written=bytes_written(instruction),
        exchanged=bytes_exchanged(instruction) if cause == COLLECTIVE else 0,
        result=_first(instruction).element,
        few=_writes_few(instruction),
    )


def _writes_few(instruction: Instruction) -> bool:
    """Whether a transpose of a fusion has few adjacent numbers in one of its results."""
    body = instruction.body
    opcodes = {instruction.opcode} if body is None else {i.opcode for i in body.instructions}
    return "transpose" in opcodes and any(
        1 < shape.adjacent <= FEW_ADJACENT < shape.size for shape in instruction.shapes
    )


def _sources(instruction: Instruction) -> tuple[str, ...]:
    """Returns the names of the ops that made the E8M0 operands of an instruction, each once."""
    operands = (each for each in instruction.sources if _first(each).element == _SCALE)
    return tuple(dict.fromkeys(_maker(each).quoted("op_name") for each in operands))


def _maker(instruction: Instruction) -> Instruction:
    """Returns the instruction that makes a value, which may be one of the results of a fusion."""
    index = None
    while instruction.opcode in ("bitcast", "copy", "get-tuple-element"):
        if instruction.opcode == "get-tuple-element":
            index = int(instruction.text("index"))
        (instruction,) = instruction.sources
    body = instruction.body
    if body is None:
        return instruction
    made = body.root
    if index is not None and made.opcode == "tuple":
        made = made.sources[index]
    return made


def _kernel_name(instruction: Instruction) -> str:
    if target := instruction.quoted("custom_call_target"):
        return target
    found = _KIND.search(instruction.attributes)
    return found[1] if found else instruction.opcode


def _first(instruction: Instruction) -> Shape:
    return instruction.shapes[0] if instruction.shapes else Shape("token", (), "")
