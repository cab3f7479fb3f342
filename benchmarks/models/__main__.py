"""Rewrites models of other packages, forward and training step, and compares their results.

    python -m benchmarks.models                  # all
    python -m benchmarks.models gpt2 lstm        # some
    python -m benchmarks.models --seeds 5 unet   # with more scales of arguments
    python -m benchmarks.models --backend interpreter lstm

Each rewrite runs with the arguments of the original: `same` with every input declared as 2^-4,
`scaled` with random scales that differ, 2^-6 to 2^6. A difference is the largest one in a result
over the largest magnitude of that result. XLA rounds what it fuses otherwise than what it does not,
and fuses a rewritten program differently, so all is run with fusion and without; `XLA itself` is
the original with fusion against the original without.

Exit code 1 if a rewrite fails, an op is given up that has a scaled form, or results differ by more
than 1e-6 (`same`, without fusion) or 1e-4 (`scaled`, with fusion) where XLA itself does not.
"""

import argparse
import importlib
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from benchmarks.common import SIGNATURES
from benchmarks.models.measure import Export, Rewritten, Runner, count, distance, export, floor
from benchmarks.models.measure import rewrite as rewrite_case
from benchmarks.models.model import Model
from scalify_hlo.run.differences import Difference

T = TypeVar("T")

MODELS = {
    "resnet50": "resnet:resnet50",
    "resnet-flax": "residual:resnet_flax",
    "vit": "vit:vit",
    "vit-flax": "patches:vit_flax",
    "bert": "bert:bert",
    "gpt2": "gpt2:gpt2",
    "gpt2-jax": "plain:gpt2_jax",
    "gpt2-jax-12": "plain:gpt2_jax_12",
    "llama": "llama:llama",
    "llama-equinox": "llama:llama_equinox",
    "t5": "relative:t5",
    "experts": "experts:experts",
    "experts-sorted": "experts:experts_sorted",
    "unet": "unet:unet",
    "unet-flax": "denoiser:unet_flax",
    "lstm": "recurrent:lstm",
    "lstm-unrolled": "recurrent:lstm_unrolled",
    "lstm-equinox": "recurrent:lstm_equinox",
    "mamba": "mamba:mamba",
    "mamba-tree": "mamba:mamba_tree",
    "gru": "loops:gru",
    "bert-checkpoint": "loops:bert_checkpoint",
    "gpt2-scan": "loops:gpt2_scan",
    "gpt2-scan-checkpoint": "loops:gpt2_scan_checkpoint",
    "gpt2-decode": "loops:gpt2_decode",
}
"""The models by name: the module of each, and the function in it that makes it."""

BOUNDS = {("same", "unfused"): 1e-6, ("scaled", "xla"): 1e-4}
"""The largest difference by signature and backend."""

INSTALL = "install the packages of the models with: uv sync --group models"


def make(name: str) -> Model:
    """Makes a model.

    Raises:
        ImportError: Its package is not installed.
    """
    module, _, function = MODELS[name].partition(":")
    made: Model = getattr(importlib.import_module(f"benchmarks.models.{module}"), function)()
    return made


def load(name: str) -> Model:
    """As `make`, for the command line.

    Raises:
        SystemExit: The model's package is not installed.
    """
    try:
        made = make(name)
    except ImportError as error:
        raise SystemExit(f"{name} needs a package that is missing ({error}); {INSTALL}") from None
    return made


def each(names: Sequence[str], measure: Callable[[str], T]) -> dict[str, T]:
    """Measures the models that are named, or all; those that are not installed are left out."""
    found: dict[str, T] = {}
    for name in names or MODELS:
        try:
            found[name] = measure(name)
        except ImportError as error:
            print(f"{name}: left out, as a package is missing ({error}); {INSTALL}", flush=True)
    return found


def measure(name: str, kind: str, backends: Sequence[str], seeds: int) -> bool:
    """Prints a line for each rewrite of a case and each backend; says whether bounds are kept."""
    exported = export(load(name).case(kind))
    runners = {backend: Runner(exported, backend) for backend in backends}
    noise = floor(list(runners.values())) if len(runners) > 1 else 0.0
    print(f"{name} {kind}: {count(exported.text)} ops; XLA itself {noise:.1e}")
    kept = [_measure(exported, s, runners, noise, seeds) for s in SIGNATURES]
    return all(kept)


def _measure(
    exported: Export, signature: str, runners: Mapping[str, Runner], noise: float, seeds: int
) -> bool:
    rewritten = rewrite_case(exported, signature)
    if rewritten.failure:
        print(f"  {signature:7}FAILED {rewritten.failure}", flush=True)
        return False
    print(f"  {signature:7}{describe(rewritten)}")
    holds = not rewritten.avoidable
    for backend, runner in runners.items():
        differences: list[Difference] = []
        for seed in range(seeds if signature == "scaled" else 1):
            differences += runner.compare(rewritten.text, seed)
        worst = max(differences, key=distance)
        bound = max(BOUNDS.get((signature, backend), float("inf")), noise)
        holds &= distance(worst) <= bound
        verdict = "ok" if distance(worst) <= bound else "MISSED"
        place = f"{worst.name}, {worst.type}" if distance(worst) else "all"
        print(f"    {backend:12}{verdict:7}{distance(worst):.1e} ({place})", flush=True)
    return holds


def describe(rewritten: Rewritten) -> str:
    """A rewrite in one line."""
    return (
        f"{count(rewritten.text)} ops, rewritten in {rewritten.seconds:.2f} s, "
        f"no scaled form: {_listed(rewritten.given_up - rewritten.avoidable)}; "
        f"given up: {_listed(rewritten.avoidable)}"
    )


def _listed(counts: Counter[str]) -> str:
    named = (f"{op.partition('.')[2]} {n}" for op, n in counts.most_common())
    return ", ".join(named) or "none"


def main() -> int:
    """Measures the models that are named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    parser.add_argument("--kind", choices=("forward", "train"), help="default: both")
    parser.add_argument(
        "--backend", choices=("xla", "unfused", "interpreter"), help="default: xla and unfused"
    )
    parser.add_argument("--seeds", type=int, default=1, help="draws of the scales of arguments")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in MODELS]:
        parser.error(f"no model is named {unknown[0]!r}; the models are: {', '.join(MODELS)}")
    warnings.filterwarnings("ignore")
    backends = [options.backend] if options.backend else ["xla", "unfused"]
    missed = [
        f"{name} {kind}"
        for name in options.names or MODELS
        for kind in ([options.kind] if options.kind else ["forward", "train"])
        if not measure(name, kind, backends, options.seeds)
    ]
    print(f"bounds missed: {', '.join(missed) or 'none'}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
