"""XLA compile time of a rewritten training step, over the original's."""

import sys
from dataclasses import replace
from functools import partial

from benchmarks.common import Row, arguments, gpt2_step, interleaved, ratio, report, versions
from examples.demo import CONFIG
from examples.xla import Executable

BOUNDS = {
    "same": 1.2,
    "scaled": 1.5,
    "fp8 same": 1.35,
    "fp8 scaled": None,
    "unit same": 1.2,
    "fp8-current": 1.5,
    "fp8-delayed": 1.5,
    "mxfp8": 2.0,
    "fp8-block": 2.0,
    "nvfp4": 2.0,
}


def main() -> int:
    """Compiles the versions turn by turn; a round that only warms XLA up is not counted."""
    options = arguments(__doc__ or "", layers=CONFIG.layers, rounds=11)
    texts = versions(gpt2_step(replace(CONFIG, layers=options.layers)), BOUNDS)
    Executable(texts["original"])
    compilers = {name: partial(Executable, text) for name, text in texts.items()}
    seconds = interleaved(compilers, options.rounds)
    rows = [Row("original: seconds", sorted(seconds["original"])[options.rounds // 2])]
    rows += [
        Row(f"{name} over original", ratio(seconds, name), bound) for name, bound in BOUNDS.items()
    ]
    title = f"Compile time, GPT-2 AdamW step, {options.layers} layers, XLA CPU"
    return report(f"{title}, medians of {options.rounds} interleaved runs", rows)


if __name__ == "__main__":
    sys.exit(main())
