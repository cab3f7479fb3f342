"""What the rescaling sites of a recipe cost: the step with them, over the same without.

python -m benchmarks.sites                # fp8, two sites for each layer
python -m benchmarks.sites --rounds 5
"""

import sys
from dataclasses import replace
from functools import partial

import scalify_hlo
from benchmarks.common import NO_SITES, Row, arguments, gpt2_step, interleaved, ratio, report
from examples import data, gpt2
from examples.demo import CONFIG
from examples.xla import Executable, flat
from scalify_hlo.api import make_options
from scalify_hlo.program.program import read_text
from scalify_hlo.program.rewriting import rewrite_program

BOUNDS = {"compile time": 1.1, "HLO instructions": None, "step time": 1.03}
WARM_UP = 3
STEPS = 10
"""Steps that are timed for each compilation."""


def main() -> int:
    """Compiles and runs both turn by turn."""
    options = arguments(__doc__ or "", layers=CONFIG.layers, rounds=11)
    config = replace(CONFIG, layers=options.layers)
    text = gpt2_step(config)
    texts = {
        name: scalify_hlo.rewrite(text, recipe="fp8", signature="scaled", settings=settings)
        for name, settings in (("without", NO_SITES), ("with", {}))
    }
    compilers = {name: partial(Executable, text) for name, text in texts.items()}
    made = {name: compiler() for name, compiler in compilers.items()}
    seconds = interleaved(compilers, options.rounds)
    state = scalify_hlo.as_scaled_array(gpt2.state(config, gpt2.ADAMW))
    batch = next(data.batches(config.batch, config.sequence, 1))
    steps = {n: partial(e, e.stored(flat(state, batch))) for n, e in made.items()}
    interleaved(steps, WARM_UP)
    ran = interleaved(steps, STEPS * options.rounds)
    _, report_ = rewrite_program(read_text(text), make_options("fp8", "scaled"))
    figures = {
        "compile time": ratio(seconds, "with", "without"),
        "HLO instructions": made["with"].instructions / made["without"].instructions,
        "step time": ratio(ran, "with", "without"),
    }
    rows = [Row("sites for each layer", (len(report_.sites) - 1) / options.layers, 2)]
    rows += [Row(f"{n}, over that without sites", figures[n], b) for n, b in BOUNDS.items()]
    return report(f"Rescaling sites of fp8, GPT-2 AdamW step, {options.layers} layers", rows)


if __name__ == "__main__":
    sys.exit(main())
