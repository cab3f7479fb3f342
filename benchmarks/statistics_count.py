"""How many statistics recipes take at run time: the reductions that a rewrite adds to a step.

    python -m benchmarks.statistics_count                    # all models
    python -m benchmarks.statistics_count gpt2-12 vit-flax
    python -m benchmarks.statistics_count --baseline DIR     # and with the sources in DIR
    python -m benchmarks.statistics_count --baseline DIR --shares

Each line is a training step of a model under one recipe: `unit` with the signature `same` and the
measured scales of the inputs, `fp8` and `fp8-state` with the signature `scaled`. `all` counts every
`reduce` op that the step runs more than the original, `apart` those that are left where no weight
and no moment is kept in f16 or f8 or rescaled: the statistics of activations and gradients.

Bounds for `apart`: under `unit` 0, or 1 for twelve layers and more; for transformers under `fp8`
and `fp8-state` 2 for each layer, 1 for the last normalization, and 1 for BERT's head. With a
baseline, which is a directory with other sources of scalify_hlo, no model may have more than with
those. Models of packages that are not installed are left out.

The report of each rewrite, and of one of the forward pass, is compared with the program: it has to
list each matmul once, as often as it is called, with a reason if it is wide and with the scales of
its operands if it is not, and to tell the statistics that were counted.
With `--shares`, each line is a recipe under which less of the matmuls' FLOPs is narrow than with
the baseline, of all recipes in both signatures; there should be none.
Exit code 1 if a bound is missed or a report is wrong.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import scalify_hlo
from benchmarks.models import listing, reductions
from benchmarks.models.__main__ import MODELS, each, make
from benchmarks.models.measure import Export, export
from scalify_hlo.recipes.toml import preset_names

APART: Mapping[str, str] = {
    "state.weight": "f32",
    "state.first_moment": "f32",
    "state.second_moment": "f32",
    "state_gradients.statistic": "none",
    "state_rescale.statistic": "none",
}
"""Settings under which no weight and no moment is narrow or rescaled."""

RECIPES = ("unit", "fp8", "fp8-state")

_SAME = 1e-9
"""The difference of two shares that are equal."""

FORWARD = ("fp8", "fp8-current")
"""The recipes whose reports on forward passes are looked at."""

LAYERS: Mapping[str, int] = {
    "bert": 4,
    "gpt2": 4,
    "gpt2-jax": 4,
    "gpt2-jax-12": 12,
    "llama": 4,
    "t5": 4,
    "vit": 4,
    "vit-flax": 4,
}
"""The transformers, with how many layers each has."""

HEADS = frozenset({"bert"})
"""Those of them that normalize once more before the logits."""

DEEP = 12
"""From how many layers on `unit` may take one statistic."""

STATE = ("fp8", "fp8-state")
"""The recipes that take statistics of gradients: two for each layer and one for the last norm."""


def most(name: str, recipe: str) -> int | None:
    """The most statistics apart from state; None for models that a baseline alone bounds."""
    layers = LAYERS.get(name)
    if recipe in STATE:
        return None if layers is None else 2 * layers + 1 + (name in HEADS)
    return int(layers is not None and layers >= DEEP)


def requests(exported: Export, program: Path) -> list[dict[str, Any]]:
    """What to count of a model: for each recipe all statistics, and those apart from state."""
    program.write_text(exported.text, encoding="utf-8")
    scales = scalify_hlo.measured_scales(exported.text, *exported.arguments)
    found: list[dict[str, Any]] = []
    for recipe in RECIPES:
        one: dict[str, Any] = {"program": str(program), "recipe": recipe, "signature": "scaled"}
        apart = dict(APART)
        if recipe == "unit":
            one |= {"signature": "same", "input_scale": scales}
            apart = {key: value for key, value in apart.items() if not key.startswith("state.")}
        found += [one, {**one, "settings": apart}]
    return found


def _with_powers(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request whose input scales are powers of two: older sources take no others."""
    scales: Mapping[str, float] = request.get("input_scale", {})
    powers = {name: 2.0 ** round(math.log2(scale)) for name, scale in scales.items()}
    return {**request, "input_scale": powers} if powers else dict(request)


def counted_with(sources: str, file: Path, *flags: str) -> list[Any]:
    """The counts, or the shares, that other sources of scalify_hlo come to.

    Raises:
        SystemExit: They cannot.
    """
    child = subprocess.run(
        [sys.executable, "-P", reductions.__file__, *flags, str(file)],
        env={**os.environ, "PYTHONPATH": str(Path(sources).resolve())},
        capture_output=True,
        check=False,
        text=True,
    )
    if child.returncode:
        raise SystemExit(f"the sources in {sources} cannot count: {child.stderr[-2000:]}")
    counts: list[Any] = json.loads(child.stdout)
    return counts


def compare_shares(name: str, baseline: str) -> bool:
    """Prints the recipes under which less of a model is narrow than before; says if none is."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program.mlir")
        program.write_text(export(make(name).case("train")).text, encoding="utf-8")
        wanted = [
            {"program": str(program), "recipe": recipe, "signature": signature}
            for recipe in preset_names()
            for signature in ("same", "scaled")
        ]
        file = Path(folder, "requests.json")
        file.write_text(json.dumps(wanted), encoding="utf-8")
        before = counted_with(baseline, file, "--shares")
        after = [reductions.share(request) for request in wanted]
    held = True
    for request, old, new in zip(wanted, before, after, strict=True):
        if old is not None and (new is None or new < old - _SAME):
            held = False
            print(f"{name:22}{request['recipe']:16}{request['signature']:8}{old:.4f} -> {new}")
    print(f"{name:22}{len(after) - after.count(None)} rewrites compared", flush=True)
    return held


def measure(name: str, baseline: str) -> bool:
    """Prints a line for each recipe of a model; says whether its bounds hold."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = requests(export(make(name).case("train")), Path(folder, "program.mlir"))
        counts = [reductions.added(request) for request in wanted]
        wrong = _wrong_reports(name, wanted, counts)
        before: list[int] | None = None
        if baseline:
            file = Path(folder, "requests.json")
            file.write_text(json.dumps(list(map(_with_powers, wanted))), encoding="utf-8")
            before = counted_with(baseline, file)
    held = [
        _line(name, recipe, counts[i : i + 2], None if before is None else before[i : i + 2])
        for recipe, i in zip(RECIPES, range(0, len(counts), 2), strict=True)
    ]
    for fault in wrong:
        print(f"{name:22}{fault}", flush=True)
    return all(held) and not wrong


def _wrong_reports(name: str, wanted: Sequence[dict[str, Any]], counts: Sequence[int]) -> list[str]:
    """Returns the faults of the reports of the rewrites of a model."""
    found: list[str] = []
    for request, count in zip(wanted, counts, strict=True):
        options = dict(request)
        text = Path(options.pop("program")).read_text(encoding="utf-8")
        found += [f"{options['recipe']}: {f}" for f in listing.faults(options, text, count)]
    text = export(make(name).case("forward")).text
    for recipe in FORWARD:
        added = reductions.reductions(scalify_hlo.rewrite(text, recipe=recipe))
        taken = added - reductions.reductions(text)
        found += [
            f"forward, {recipe}: {f}" for f in listing.faults({"recipe": recipe}, text, taken)
        ]
    return found


def _line(name: str, recipe: str, counts: Sequence[int], before: Sequence[int] | None) -> bool:
    """Prints the counts under one recipe; says whether they hold."""
    bound, (all_, apart) = most(name, recipe), counts
    holds = (bound is None or apart <= bound) and (before is None or apart <= before[1])
    was = ("-", "-") if before is None else before
    allowed = "-" if bound is None else bound
    print(
        f"{name:22}{recipe:11}{all_:>8}{was[0]:>8}{apart:>8}{was[1]:>8}{allowed:>8}"
        f"{'' if holds else '   MISSED'}",
        flush=True,
    )
    return holds


def main() -> int:
    """Counts for the models that are named, or for all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    parser.add_argument("--baseline", default="", metavar="DIR", help="other sources to compare")
    parser.add_argument("--shares", action="store_true", help="compare narrow FLOPs instead")
    options = parser.parse_args()
    if options.shares and not options.baseline:
        parser.error("--shares needs --baseline DIR")
    if unknown := [name for name in options.names if name not in MODELS]:
        parser.error(f"no model is named {unknown[0]!r}; the models are: {', '.join(MODELS)}")
    warnings.filterwarnings("ignore")
    if options.shares:
        compared = each(options.names, partial(compare_shares, baseline=options.baseline))
        return int(not all(compared.values()))
    print(
        f"{'model (train)':22}{'recipe':11}{'all':>6}{'before':>8}{'apart':>8}{'before':>8}", end=""
    )
    print(f"{'at most':>9}")
    held = each(options.names, partial(measure, baseline=options.baseline))
    missed = [name for name, holds in held.items() if not holds]
    print(f"bounds missed: {', '.join(missed) or 'none'}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
