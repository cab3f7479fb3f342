"""Random words from `rng_bit_generator`, with a key of the step or of the data.

The algorithm is THREE_FRY: the bits are those of Threefry-2x32 (Salmon et al., 2011) on every
backend. With DEFAULT, each backend has bits of its own. A word of 64 bits is drawn for each
element, of which the second half is taken. XLA computes it from the index of the element alone, in
the fusion that rounds. For words of 32 bits, and with PHILOX, it concatenates several results of
each counter. XLA for GPUs writes all words to memory for that.

The key is a word that differs from step to step, and the number of the tensor in the program. The
word is the count of steps, where the program has one. Ops in loops, branches, functions and bodies
of single devices do not see it. There, and without a count, the word is a hash of the tensor, so
that no key has to be carried into them.
"""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.noise import WORD
from scalify_hlo.analysis.step_count import step_count
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.quantize.blocks.bitwise import Bitwise
from scalify_hlo.quantize.blocks.hashes import hash_of_tensor
from scalify_hlo.rules import emit

FIRST_WEIGHT: Final = 1 << (WORD - 1)
"""The number of the first weight; operands of matmuls are numbered from 0."""


class Steps:
    """The words that differ from step to step.

    Args:
        module: The module, of whose entry function an argument may count steps.
    """

    def __init__(self, module: ir.Operation) -> None:
        main = main_function(module)
        self._count = step_count(main) if main is not None else None

    def word(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """Returns a ui32 of rank 0: the count of steps where it is seen, else a hash of a tensor.

        Args:
            value: An f32 tensor of static shape.
            at: The op before which it is computed.
        """
        if self._count is not None and at.block == self._count.owner:
            return emit.convert(self._count, ir.IntegerType.get_unsigned(WORD), at)
        build = Bitwise(at, value.type)
        return hash_of_tensor(build.cast(build.bits, value), at)


def random_words(word: ir.Value, number: int, build: Bitwise) -> ir.Value:
    """Returns a random ui32 for each element, all of whose bits are as likely 0 as 1.

    The state of the generator is a key, ``word + 2^32 number``, and a counter, which is 0.

    Args:
        word: A ui32 of rank 0 that differs from step to step.
        number: The number of the tensor in the program.
        build: The builder, for the shape of the tensor.
    """
    at, unsigned = build.at, ir.IntegerType.get_unsigned
    where = emit.before(at)
    one, four, pairs = (
        ir.RankedTensorType.get(shape, unsigned(WORD)) for shape in ([1], [4], [2, 2])
    )
    counter = emit.integers(ir.RankedTensorType.get([2], unsigned(WORD)), 0, at)
    words = [emit.reshape(word, one, at), emit.integers(one, number, at), counter]
    words = emit.op(
        at,
        "stablehlo.concatenate",
        [four],
        words,
        {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)},
    ).result
    state = ir.RankedTensorType.get([2], unsigned(2 * WORD))
    start = build.cast(state, emit.reshape(words, pairs, at))
    double = ir.RankedTensorType.get(build.bits.shape, unsigned(2 * WORD))
    drawn = emit.op(
        at,
        "stablehlo.rng_bit_generator",
        [state, double],
        [start],
        {"rng_algorithm": stablehlo.RngAlgorithmAttr.get("THREE_FRY")},
    ).results[1]
    high = emit.elementwise(
        "stablehlo.shift_right_logical", drawn, emit.integers(double, WORD, at), **where
    )
    return emit.convert(high, unsigned(WORD), at)
