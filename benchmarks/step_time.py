"""Time of a rewritten training step on XLA CPU, over the original's."""

import sys
from dataclasses import replace
from functools import partial

import scalify_hlo
from benchmarks.common import Row, arguments, gpt2_step, interleaved, ratio, report, versions
from examples import data, gpt2
from examples.demo import CONFIG
from examples.xla import Executable, flat

BOUNDS = {"same": 1.03, "scaled": 1.08}
WARM_UP = 3


def main() -> int:
    """Runs the versions turn by turn on one state and one batch."""
    options = arguments(__doc__ or "", layers=CONFIG.layers, rounds=100)
    config = replace(CONFIG, layers=options.layers)
    state = gpt2.state(config, gpt2.ADAMW)
    batch = next(data.batches(config.batch, config.sequence, 1))
    inputs = {"original": state, "same": state, "scaled": scalify_hlo.as_scaled_array(state)}
    steps = {
        name: partial(Executable(text), flat(inputs[name], batch))
        for name, text in versions(gpt2_step(config)).items()
    }
    interleaved(steps, WARM_UP)
    seconds = interleaved(steps, options.rounds)
    rows = [Row("original: seconds", sorted(seconds["original"])[options.rounds // 2])]
    rows += [
        Row(f"{name} over original", ratio(seconds, name), bound) for name, bound in BOUNDS.items()
    ]
    title = f"Step time, GPT-2 AdamW step, {options.layers} layers, XLA CPU"
    return report(f"{title}, medians of {options.rounds} interleaved runs", rows)


if __name__ == "__main__":
    sys.exit(main())
