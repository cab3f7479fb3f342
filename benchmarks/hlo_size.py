"""StableHLO ops and optimized HLO instructions of a rewritten training step, over the original."""

import sys
from dataclasses import replace

from benchmarks.common import Row, arguments, gpt2_step, report, versions
from examples.demo import CONFIG
from examples.side_by_side import op_names
from examples.xla import Executable

BOUNDS = {"same": 1.2, "scaled": 1.7}


def main() -> int:
    """Compiles each version once and compares sizes."""
    options = arguments(__doc__ or "", layers=CONFIG.layers)
    texts = versions(gpt2_step(replace(CONFIG, layers=options.layers)))
    ops = {name: len(op_names(text)) for name, text in texts.items()}
    size = {name: Executable(text).instructions for name, text in texts.items()}
    rows = [Row("original: StableHLO ops", ops["original"], form=",.0f")]
    rows += [Row("original: optimized HLO instructions", size["original"], form=",.0f")]
    for name, bound in BOUNDS.items():
        rows += [Row(f"{name}: StableHLO ops over original", ops[name] / ops["original"])]
        grown = size[name] / size["original"]
        rows += [Row(f"{name}: optimized HLO instructions over original", grown, bound)]
    return report(f"Size, GPT-2 AdamW step, {options.layers} layers, XLA CPU", rows)


if __name__ == "__main__":
    sys.exit(main())
