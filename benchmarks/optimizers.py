"""Trains small models with many optimizers under recipes, and checks scales, state and losses.

    python -m benchmarks.optimizers                              # all: about 40 minutes
    python -m benchmarks.optimizers --seeds 1 --steps 60         # a first look
    python -m benchmarks.optimizers --optimizer sgd,adamw --model mlp --recipe fp8-state
    python -m benchmarks.optimizers --resume                     # leaves out what is done

Each line is one optimizer, model and recipe, with the worst figure over all seeds and steps:

narrow-rms    |log2| of the rms of the data of state in 16 bits or fewer: at most 8
narrow-full   elements of it that are infinite, NaN or the largest of their format: none
wide-rms      octaves by which data of f32 state are further from unit than the value: at most 8
scales        scales of state that are zero, infinite or NaN: none
operands      share of saturated elements of a matmul's narrow operand in one step: at most 0.1 %
moments       error of the amax of a moment after one step, of the f32 update from the same decoded
              state and gradients: at most 10 %, and 27 % for moments with scales of blocks
loss          mean of the last tenth of all losses and of all seeds less that of f32, over the
              initial loss: at most 2 %, or f32's own spread when its first parameters are nudged
first-losses  under `propagate`, relative difference of each of the first 20 losses: at most 1e-5,
              or, if it is at most that where XLA fuses nothing, f32's own spread when its first
              parameters are nudged by a unit in the last place
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.optimizer_models import MODELS
from benchmarks.optimizer_rules import OPTIMIZERS

RECIPES = ("propagate", "fp16-state", "fp8", "fp8-state", "fp8-state8")

FOLDER = Path("build/bench/optimizers")
"""Where a row of each case is kept, for `--resume`, by default."""

_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
"""XLA flags of workers, so that each uses one core."""

_COSTS = {"linear": 1, "mlp": 2, "lstm": 6, "gpt2": 40}
"""Relative times of a step, so that what takes long begins first."""

Case = tuple[str, str, str]
"""An optimizer, a model and a recipe."""

Result = dict[str, Any]
"""A row as JSON: the case, `error` or `figures`, and the seconds it took."""


def measure(
    optimizer: str, model: str, recipes: Sequence[str], options: argparse.Namespace
) -> list[Result]:
    """Runs the recipes of one optimizer and model, and writes a file for each; for workers.

    Args:
        optimizer: A name in `OPTIMIZERS`.
        model: A name in `MODELS`.
        recipes: Names of presets.
        options: As given on the command line; 0 steps are those of the optimizer.

    Returns:
        The rows.
    """
    from benchmarks.optimizer_runs import Original

    original = Original(optimizer, model, options.steps or OPTIMIZERS[optimizer].steps)
    results = []
    for recipe in recipes:
        start = time.perf_counter()
        case = (optimizer, model, recipe)
        result: Result = {"case": case, "seeds": options.seeds, "steps": options.steps}
        try:
            result["figures"] = _figures(original, recipe, options.seeds)
        except Exception as error:
            result["error"] = f"{type(error).__name__}: {error}".splitlines()[0]
        result["seconds"] = time.perf_counter() - start
        _file(case, options).write_text(json.dumps(result))
        results.append(result)
    return results


def _figures(original: Any, recipe: str, seeds: int) -> Result:
    from benchmarks.optimizer_checks import figures
    from benchmarks.optimizer_runs import Rewritten

    rewritten = Rewritten(original, recipe)
    traces = {seed: rewritten.train(seed) for seed in range(seeds)}
    found = figures(original, rewritten, traces, recipe)
    return {name: {**asdict(f), "holds": f.holds} for name, f in found.items()}


def _file(case: Case, options: argparse.Namespace) -> Path:
    folder: Path = options.folder
    return folder / f"{'-'.join(case)}.json"


def line(result: Result) -> str:
    """One row of the table."""
    name = " ".join(result["case"])
    if "error" in result:
        return f"{name}: NO: {result['error']}"
    shown = " ".join(f"{n} {_shown(n, f['value'])}" for n, f in result["figures"].items())
    failed = failures(result)
    verdict = f"NO: {', '.join(failed)}" if failed else "OK"
    return f"{name}: {shown}: {verdict} ({result['seconds']:.0f} s)"


def _shown(name: str, value: float) -> str:
    if name in ("operands", "moments", "loss"):
        return f"{value:.2%}"
    return f"{value:.1e}" if name == "first-losses" else f"{value:.3g}"


def failures(result: Result) -> list[str]:
    """The checks that do not hold."""
    if "error" in result:
        return ["error"]
    return [name for name, figure in result["figures"].items() if not figure["holds"]]


def _details(result: Result) -> Iterator[str]:
    for name in failures(result):
        figure = result.get("figures", {}).get(name)
        if figure is not None:
            yield f"    {name}: {_shown(name, figure['value'])} at {figure['where']}"


def _named(known: Sequence[str]) -> Any:
    def names(text: str) -> list[str]:
        chosen = text.split(",")
        for name in chosen:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return chosen

    return names


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, known in (("optimizer", OPTIMIZERS), ("model", MODELS), ("recipe", RECIPES)):
        parser.add_argument(
            f"--{name}",
            type=_named(list(known)),
            default=list(known),
            metavar="NAMES",
            help=f"with commas between them, of {', '.join(known)}; all by default",
        )
    parser.add_argument("--steps", type=int, default=0, help="1000 or 200 by default")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of rows: %(default)s")
    parser.add_argument("--resume", action="store_true", help="keep the rows of earlier runs")
    return parser.parse_args()


def _done(case: Case, options: argparse.Namespace) -> Result | None:
    """The row of an earlier run with as many seeds and steps."""
    file = _file(case, options)
    if not (options.resume and file.exists()):
        return None
    result: Result = json.loads(file.read_text())
    same = (result["seeds"], result["steps"]) == (options.seeds, options.steps)
    return result if same else None


def _results(options: argparse.Namespace) -> Iterator[Result]:
    """Rows as they come."""
    work: dict[tuple[str, str], list[str]] = {}
    for case in product(options.optimizer, options.model, options.recipe):
        result = _done(case, options)
        if result is not None:
            yield result
        else:
            work.setdefault(case[:2], []).append(case[2])
    order = sorted(work, key=lambda pair: -_COSTS[pair[1]] * OPTIMIZERS[pair[0]].steps)
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        futures = [pool.submit(measure, *pair, work[pair], options) for pair in order]
        for future in as_completed(futures):
            yield from future.result()


def main() -> int:
    """Runs the cases, prints a line for each and a summary; 1 if a bound is missed."""
    options = _options()
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_ONE_THREAD}".strip()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    options.folder.mkdir(parents=True, exist_ok=True)
    results = []
    for result in _results(options):
        results.append(result)
        print(line(result), *_details(result), sep="\n", flush=True)
    missed: dict[str, list[str]] = {}
    for result in results:
        for name in failures(result):
            missed.setdefault(name, []).append(" ".join(result["case"]))
    count = sum(bool(failures(result)) for result in results)
    print(f"\n{len(results) - count} of {len(results)} hold")
    for name, cases in missed.items():
        print(f"{name}, {len(cases)}: {'; '.join(sorted(cases))}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
