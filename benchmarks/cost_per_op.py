"""Rewriting cost of one op, from programs of 1,000 ops to programs of 100,000.

Then that of one argument, in functions of up to 100,000 arguments that become data and scale.
"""

import statistics
import sys
from collections.abc import Callable
from functools import partial

from benchmarks.common import SIGNATURES, Row, arguments, gpt2_step, report, rewritten, timed
from benchmarks.rewrite_time import parse_clone_print
from examples import gpt2
from examples.side_by_side import op_names

LAYERS = (1, 4, 15, 50, 150)
ARGUMENTS = (1_000, 10_000, 100_000)
BOUND = 1.5
"""The largest program's cost per op over the smallest's: flat, but for what memory costs."""


def cost(function: Callable[[str], str], text: str, rounds: int) -> float:
    """Median time of a function of the program's text, in microseconds an op."""
    seconds = statistics.median(timed(partial(function, text)) for _ in range(rounds))
    return seconds / len(op_names(text)) * 1e6


def doubled(count: int) -> str:
    """A function that returns the double of each of its arguments."""
    type_ = "tensor<4xf32>"
    arguments = ", ".join(f"%a{i}: {type_}" for i in range(count))
    types = ", ".join([type_] * count)
    body = "\n".join(f"%r{i} = stablehlo.add %a{i}, %a{i} : {type_}" for i in range(count))
    results = ", ".join(f"%r{i}" for i in range(count))
    return f"func.func @main({arguments}) -> ({types}) {{\n{body}\nreturn {results} : {types}\n}}"


def pairs(rounds: int) -> list[Row]:
    """The cost of an argument that is a pair."""
    rewrite = partial(rewritten, signature="scaled")
    found = []
    for count in ARGUMENTS:
        seconds = [timed(partial(rewrite, doubled(count))) for _ in range(rounds)]
        found.append(statistics.median(seconds) / count * 1e6)
    rows = [
        Row(f"scaled: microseconds an argument, {count:,} arguments", each, form=".1f")
        for count, each in zip(ARGUMENTS, found, strict=True)
    ]
    return [*rows, Row("scaled: most arguments over fewest", found[-1] / found[0], BOUND)]


def main() -> int:
    """Varies the number of layers and of arguments; nothing is compiled."""
    options = arguments(__doc__ or "", rounds=3)
    texts = [gpt2_step(gpt2.Config(layers=layers)) for layers in LAYERS]
    functions: dict[str, Callable[[str], str]] = {"parse + clone + print": parse_clone_print}
    functions |= {name: partial(rewritten, signature=name) for name in SIGNATURES}
    rows = []
    for name, function in functions.items():
        function(texts[0])
        costs = [cost(function, text, options.rounds) for text in texts]
        for text, each in zip(texts, costs, strict=True):
            what = f"{name}: microseconds an op, {len(op_names(text)):,} ops"
            rows += [Row(what, each, form=".1f")]
        bound = BOUND if name in SIGNATURES else None
        rows += [Row(f"{name}: largest program over smallest", costs[-1] / costs[0], bound)]
    rows += pairs(options.rounds)
    return report(f"Rewriting cost per op, medians of {options.rounds} runs", rows)


if __name__ == "__main__":
    sys.exit(main())
