"""The kernels that an optimized program launches: what each computes, moves and is for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from scalify_hlo.algebra.limits import FEW_ADJACENT
from scalify_hlo.results.kinds import Count, one_of
from scalify_hlo.results.model import keys
from scalify_hlo.targets.causes import CAUSES, COLLECTIVE, cause_of
from scalify_hlo.targets.hlo import Computation, Instruction, Module, Shape
from scalify_hlo.targets.products import CONVOLUTION, FORMATS, products
from scalify_hlo.targets.traffic import bytes_exchanged, bytes_read, bytes_written
from scalify_hlo.targets.turns import turns

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
    return list(_launched(module.entry, module, 1))


def unknown_loops(module: Module) -> int:
    """Returns the number of loops of which XLA does not know the number of turns."""
    return sum(
        instruction.opcode == "while" and turns(instruction, computation, module) is None
        for computation in module.computations.values()
        for instruction in computation.instructions
    )


def _launched(inside: Computation, module: Module, times: int) -> Iterator[Kernel]:
    for instruction in inside.instructions:
        opcode = instruction.opcode
        if opcode in _NO_KERNEL or opcode.endswith(_DONE) or _allocates(instruction):
            continue
        if opcode == "while":
            count = turns(instruction, inside, module)
            yield from _of_loop(instruction, module, times * (1 if count is None else count))
        elif opcode == "conditional":
            yield from _of_branches(instruction, module, times)
        elif (called := _called(instruction, module)) is not None:
            yield from _launched(called, module, times)
        else:
            yield _kernel(instruction, inside, module, times)


def _allocates(instruction: Instruction) -> bool:
    """Whether a call reserves memory, and computes nothing."""
    return instruction.quoted("custom_call_target") == "AllocateBuffer"


def _of_loop(loop: Instruction, module: Module, times: int) -> Iterator[Kernel]:
    for key in ("condition", "body"):
        if computation := module.computations.get(loop.text(key)):
            yield from _launched(computation, module, times)


def _of_branches(choice: Instruction, module: Module, times: int) -> list[Kernel]:
    found = _BRANCHES.search(choice.attributes)
    names = re.findall(r"[\w.\-]+", found[1]) if found else []
    names = names or [choice.text(f"{which}_computation") for which in ("true", "false")]
    branches = [module.computations[name] for name in names if name in module.computations]
    launched = (list(_launched(branch, module, times)) for branch in branches)
    return max(launched, key=lambda ks: sum(k.times * k.bytes for k in ks), default=[])


def _called(instruction: Instruction, module: Module) -> Computation | None:
    """Returns the computation that a call or the start of an asynchronous op runs."""
    key = {"call": "to_apply", "async-start": "calls"}.get(instruction.opcode)
    return module.computations.get(instruction.text(key)) if key else None


def _kernel(instruction: Instruction, inside: Computation, module: Module, times: int) -> Kernel:
    flops: dict[str, int] = {}
    computed = list(products(instruction, inside, module))
    for product in computed:
        flops[product.format] = flops.get(product.format, 0) + product.flops
    read = bytes_read(instruction, inside, module)
    written = bytes_written(instruction, inside, module)
    cause = cause_of(instruction, inside, module, bool(flops))
    return Kernel(
        name=instruction.name,
        op_name=instruction.quoted("op_name"),
        products=tuple(dict.fromkeys(product.op_name for product in computed)),
        sources=() if all(p.op_name for p in computed) else _sources(instruction, inside, module),
        kernel=_kernel_name(instruction),
        cause=cause,
        times=times,
        flops={key: flops[key] for key in FORMATS if key in flops},
        read=read,
        written=written,
        exchanged=bytes_exchanged(instruction) if cause == COLLECTIVE else 0,
        result=_first(instruction).element,
        few=_writes_few(instruction, module),
    )


def _writes_few(instruction: Instruction, module: Module) -> bool:
    """Whether a transpose of a fusion has few adjacent numbers in one of its results."""
    body = module.body(instruction)
    opcodes = {instruction.opcode} if body is None else {i.opcode for i in body.instructions}
    return "transpose" in opcodes and any(
        1 < shape.adjacent <= FEW_ADJACENT < shape.size for shape in instruction.shapes
    )


def _sources(instruction: Instruction, inside: Computation, module: Module) -> tuple[str, ...]:
    """Returns the names of the ops that made the E8M0 operands of an instruction, each once."""
    operands = (each for each in inside.operands(instruction) if _first(each).element == _SCALE)
    makers = (_maker(each, inside, module) for each in operands)
    return tuple(dict.fromkeys(each.quoted("op_name") for each in makers))


def _maker(instruction: Instruction, inside: Computation, module: Module) -> Instruction:
    """Returns the instruction that makes a value, which may be one of the results of a fusion."""
    index = None
    while instruction.opcode in ("bitcast", "copy", "get-tuple-element"):
        if instruction.opcode == "get-tuple-element":
            index = int(instruction.text("index"))
        (instruction,) = inside.operands(instruction)
    body = module.body(instruction)
    if body is None:
        return instruction
    made = body.root
    if index is not None and made.opcode == "tuple":
        made = body.operands(made)[index]
    return made


def _kernel_name(instruction: Instruction) -> str:
    if target := instruction.quoted("custom_call_target"):
        return target
    found = _KIND.search(instruction.attributes)
    return found[1] if found else instruction.opcode


def _first(instruction: Instruction) -> Shape:
    return instruction.shapes[0] if instruction.shapes else Shape("token", (), "")
