"""What XLA makes of the FP8 matmuls of a training step on an H200, with no GPU present.

    uv sync --extra cuda
    python -m benchmarks.gpu_kernels                   # jax 0.10, that is Python 3.11
    python -m benchmarks.gpu_kernels --no-algorithm    # jax 0.12

The GPT-2 step of the demonstration is rewritten with a recipe and compiled for the description of
an H200; the kernels of the optimized HLO are read, not run. Each f8 dot should be one call of
cuBLASLt's FP8 matmul. With static scales, which `same` has, no kernel should be there for scales
alone: neither one that computes scalars, nor one that multiplies a tensor by a scalar and does
nothing else. The original has some of both (Adam's corrections of bias, the mean of the loss),
which are subtracted.

A dot says by its algorithm that it wants such a kernel. jax 0.12 hands programs to plugins at a
version of StableHLO, twelve weeks old, that has no algorithms of E4M3; `--no-algorithm` takes them
off the rewritten program and tells XLA to leave matmuls to libraries instead.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import scalify_hlo
from benchmarks.common import NO_SITES, SIGNATURES, Row, gpt2_step, report
from benchmarks.targets import H200, compile_for, use_no_device
from examples.demo import CONFIG
from scalify_hlo._compat import ir, new_context
from scalify_hlo.targets.description import Target

FP8_MATMUL = "__cublas$lt$matmul$f8"

LIBRARIES = {"xla_gpu_enable_triton_gemm": False}
"""Without an algorithm, XLA would time its own kernels against cuBLASLt's, or just take its own."""

Instruction: TypeAlias = Any
"""An `HloInstruction`."""

NO_KERNEL = frozenset(
    {"Parameter", "Constant", "Tuple", "GetTupleElement", "Bitcast", "While", "Conditional", "Call"}
)
"""Opcodes that launch nothing themselves."""

TENSOR = 1 << 14
"""Elements of the smallest tensors that are told from partial results of reductions."""

PLACES = frozenset({"Parameter", "Constant", "Broadcast", "Bitcast", "Tuple", "Reshape"})
"""What stands in a kernel beside the work it does."""


@dataclass(frozen=True)
class Kernels:
    """What an optimized module launches.

    Attributes:
        launched: all kernels and calls of libraries.
        fp8_matmuls: calls of cuBLASLt's FP8 matmul.
        transposed: kernels that only transpose f8, as Hopper's FP8 matmul wants its operands.
        scalars: kernels that compute floats of rank 0 from nothing larger.
        factors: kernels that only multiply tensors by scalars.
        reducing: kernels that read tensors and leave nothing of their size, such as a statistic.
    """

    launched: int
    fp8_matmuls: int
    transposed: int
    scalars: int
    factors: int
    reducing: int


def kernels(module: Any) -> Kernels:
    """Reads an optimized `HloModule`."""
    bodies = {body.name: body.instructions() for body in module.computations()}
    every = [
        (instruction, bodies.get(called(instruction), [instruction]))
        for computation in module.make_nonfusion_computations()
        for instruction in computation.instructions()
        if opcode(instruction) not in NO_KERNEL
    ]
    return Kernels(
        len(every),
        sum(FP8_MATMUL in instruction.to_string() for instruction, _ in every),
        sum(only_transposes(instruction, body) for instruction, body in every),
        sum(only_scalars(instruction) for instruction, _ in every),
        sum(only_factors(instruction, body) for instruction, body in every),
        sum(only_reduces(instruction, body) for instruction, body in every),
    )


def opcode(instruction: Instruction) -> str:
    """The opcode as HLO's own enumeration spells it, such as ``GetTupleElement``."""
    return instruction.opcode.name.removeprefix("k")


def called(instruction: Instruction) -> str:
    """The computation that a fusion calls."""
    found = re.search(r", calls=%?([\w.\-]+)", instruction.to_string())
    return found[1] if found and opcode(instruction) == "Fusion" else ""


def shapes(instruction: Instruction) -> list[str]:
    """The shapes of an instruction's results, such as ``f32[4,8]``."""
    result = instruction.to_string().partition(" = ")[2]
    leaves = result[: result.index(")")] if result.startswith("(") else result.split(" ")[0]
    return re.findall(r"\w+\[[\d,]*\]", leaves)


def only_scalars(instruction: Instruction) -> bool:
    """Whether floats of rank 0 are computed, from scalars."""
    scalar = all(
        s.endswith("[]") for v in (instruction, *instruction.operands()) for s in shapes(v)
    )
    return scalar and any(re.match("b?f", s) for s in shapes(instruction))


def only_factors(instruction: Instruction, body: Sequence[Instruction]) -> bool:
    """Whether nothing is done but to multiply something as large as the result by scalars."""
    work = [one for one in body if opcode(one) not in PLACES]
    sizes = {size(s) for one in body if opcode(one) == "Parameter" for s in shapes(one)}
    products = all(
        opcode(one) in ("Multiply", "Divide") and any(map(is_splat, one.operands())) for one in work
    )
    return bool(work) and products and {size(s) for s in shapes(instruction)} <= sizes - {1}


def only_transposes(instruction: Instruction, body: Sequence[Instruction]) -> bool:
    """Whether f8 data are moved and nothing else."""
    work = {opcode(one) for one in body} - PLACES
    return work <= {"Transpose", "Copy"} and bool(work) and "f8" in shapes(instruction)[0]


def only_reduces(instruction: Instruction, body: Sequence[Instruction]) -> bool:
    """Whether a tensor is reduced, and no result is nearly as large.

    Sums of partial results, by which a large reduction is ended, read no tensor.
    """
    if not any(opcode(one) == "Reduce" for one in body):
        return False
    taken = [one for one in body if opcode(one) == "Parameter"] or list(instruction.operands())
    read = max((size(s) for one in taken for s in shapes(one)), default=0)
    return read >= TENSOR and 8 * max(map(size, shapes(instruction))) <= read


def is_splat(instruction: Instruction) -> bool:
    """Whether all elements are the same scalar."""
    while opcode(instruction) in ("Broadcast", "Bitcast", "Reshape"):
        (instruction,) = instruction.operands()
    return size(shapes(instruction)[0]) == 1


def size(shape: str) -> int:
    """The number of elements of a shape."""
    product = 1
    for extent in re.findall(r"\d+", shape[shape.index("[") :]):
        product *= int(extent)
    return product


def f8_dots(text: str) -> int:
    """How many dots of StableHLO text have f8 operands."""
    with new_context():
        module = ir.Module.parse(text)  # whose ops live no longer than it
        return sum(all("xf8" in str(v.type) for v in op.operands) for op in dots(module))


def without_algorithms(text: str) -> str:
    """StableHLO text whose dots ask for no algorithm."""
    with new_context():
        module = ir.Module.parse(text)
        for op in dots(module):
            if "algorithm" in op.attributes:
                del op.attributes["algorithm"]
        return str(module)


def dots(module: ir.Module) -> list[ir.Operation]:
    """The dots of all functions, each counted once."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "stablehlo.dot_general":
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def rows(
    signature: str, text: str, target: Target, original: Kernels, *, sites: bool
) -> Iterator[Row]:
    """What is said of one rewriting; only static scales have a bound on their arithmetic."""
    wanted, found = f8_dots(text), kernels(compile_for(target, text))
    bound = 0 if signature == "same" and not sites else None
    yield Row(f"{signature}: f8 dots", wanted, form=".0f")
    yield Row(
        f"{signature}: of them cuBLASLt FP8 (%)", 100 * found.fp8_matmuls / wanted, form=".1f"
    )
    yield Row(f"{signature}: f8 dots of other kernels", wanted - found.fp8_matmuls, 0, ".0f")
    scalars, factors = found.scalars - original.scalars, found.factors - original.factors
    yield Row(f"{signature}: more kernels that compute scalars", scalars, bound, ".0f")
    yield Row(f"{signature}: more kernels that only multiply by one", factors, bound, ".0f")
    yield Row(f"{signature}: kernels that only transpose f8", found.transposed, form=".0f")
    yield Row(f"{signature}: kernels over the original's", found.launched / original.launched)


def main() -> int:
    """Compiles the original and its rewritings; 1 if a bound is missed, 2 if XLA can't compile."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=CONFIG.layers)
    parser.add_argument("--width", type=int, default=CONFIG.width)
    parser.add_argument("--recipe", default="fp8")
    parser.add_argument("--no-algorithm", action="store_true")
    parser.add_argument("--sites", action="store_true", help="keep the recipe's rescalings")
    options = parser.parse_args()
    target = replace(H200, flags={**H200.flags, **LIBRARIES}) if options.no_algorithm else H200
    use_no_device()
    source = gpt2_step(replace(CONFIG, layers=options.layers, width=options.width))
    try:
        original = kernels(compile_for(target, source))
        table = [Row("original: kernels", original.launched, form=".0f")]
        for signature, how in SIGNATURES.items():
            settings = {} if options.sites else NO_SITES
            text = scalify_hlo.rewrite(source, recipe=options.recipe, settings=settings, **how)
            text = without_algorithms(text) if options.no_algorithm else text
            table += rows(signature, text, target, original, sites=options.sites)
    except (RuntimeError, NotImplementedError) as error:
        print(f"XLA can't compile for an H200: {str(error)[:400]}", file=sys.stderr)
        return 2
    what = f"{options.layers} layers, width {options.width}, {options.recipe}"
    return report(f"H200, GPT-2 AdamW step, {what}", table)


if __name__ == "__main__":
    sys.exit(main())
