"""Time and memory of a training step with the flags of `bisect-nan`, over those without.

    python -m benchmarks.nan_cost                            # GPT-2 small, one sequence of 512
    python -m benchmarks.nan_cost --layers 2 --width 256 --vocab 512 --sequence 128

The step and the same step with flags of all its values run in turn on XLA CPU, in one process.
Times are processor times of a step, as other work on the machine changes the others; memory is that
of arguments, results and temporaries. Exit code 1 if a bound is missed.
"""

import sys
import time

from benchmarks.common import Row, report
from benchmarks.stats_cost import small_step
from scalify_hlo._compat import CpuProgram, compile_on_cpu
from scalify_hlo.commands.nan.find_nan import Instrumented
from scalify_hlo.commands.stats.numbering import inline_numbered, number_ops
from scalify_hlo.program.program import read_text

TIME, MEMORY = 3.0, 2.0
"""The most that flags may cost, as ratios."""


def main() -> int:
    """Prints the costs."""
    config, text, values, rounds = small_step(__doc__ or "")
    start = time.process_time()
    module = read_text(text).module
    number_ops(module, "step")
    inline_numbered(module, "step")
    flagging = Instrumented(module, "step")
    flagged = flagging.flag()
    building = time.process_time() - start
    compiled: dict[str, CpuProgram] = {}
    seconds: dict[str, list[float]] = {"step": [], "flags": []}
    compiling: dict[str, float] = {}
    for name, program in (("step", text), ("flags", flagging.module.operation.get_asm())):
        start = time.process_time()
        compiled[name] = compile_on_cpu(program)
        compiling[name] = time.process_time() - start
    for turn in range(rounds + 1):
        for name, run in compiled.items():
            start = time.process_time()
            run(values)
            if turn:
                seconds[name].append(time.process_time() - start)
    step, flags = (min(each) for each in seconds.values())
    return report(
        f"Flags of GPT-2 ({config.layers} layers, width {config.width}, "
        f"{config.batch} x {config.sequence} tokens)",
        [
            Row("values with flags", sum(len(ids) for ids, _ in flagged.blocks), form=".0f"),
            Row("step, s", step),
            Row("with flags, s", flags),
            Row("time", flags / step, TIME),
            Row("memory", compiled["flags"].memory / compiled["step"].memory, MEMORY),
            Row("instrumentation, s", building),
            Row("compilation, s", compiling["step"]),
            Row("compilation with flags, s", compiling["flags"]),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
