"""How many statistics recipes take at run time: the reductions that a rewrite adds to a step.

    python -m benchmarks.statistics_count                    # all models
    python -m benchmarks.statistics_count gpt2-12 vit-flax
    python -m benchmarks.statistics_count --baseline DIR     # and with the sources in DIR

Each line is a training step of a model under one recipe: `unit` with the signature `same` and the
measured scales of the inputs, `fp8` and `fp8-state` with the signature `scaled`. `all` counts every
`reduce` op that the step runs more than the original, `apart` those that are left where no weight
and no moment is kept in f16 or f8 or rescaled: the statistics of activations and gradients.

Bounds for `apart`: under `unit` 0, or 1 for twelve layers and more; under `fp8` and `fp8-state` 2
for each layer of a transformer, and 1 for its last normalisation. With a baseline, which is a
directory with other sources of scalify_hlo, no model may have more than with those. Models of
packages that are not installed are left out. Exit code 1 if a bound is missed.
"""

import argparse
import json
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
from benchmarks.models import reductions
from benchmarks.models.__main__ import MODELS, each, make
from benchmarks.models.measure import Export, export

APART: Mapping[str, str] = {
    "state.weight": "f32",
    "state.first_moment": "f32",
    "state.second_moment": "f32",
    "state_gradients.statistic": "none",
    "state_rescale.statistic": "none",
}
"""Settings under which no weight and no moment is narrow or rescaled."""

RECIPES = ("unit", "fp8", "fp8-state")

NORMS = {
    "resnet-flax": 9,
}
"""How many normalisations a model has, the gradients of which are rescaled under `fp8`."""


def requests(exported: Export, program: Path) -> list[dict[str, Any]]:
    """What to count of a model: for each recipe all statistics, and those apart from state."""
    program.write_text(exported.text, encoding="utf-8")
    scales = scalify_hlo.measured_scales(exported.text, *exported.arguments)
    found: list[dict[str, Any]] = []
    for recipe in RECIPES:
        one: dict[str, Any] = {"program": str(program), "recipe": recipe, "signature": "scaled"}
        if recipe == "unit":
            one |= {"signature": "same", "input_scale": scales}
        found += [one, {**one, "settings": dict(APART)}]
    return found


def counted_with(sources: str, file: Path) -> list[int]:
    """The counts that other sources of scalify_hlo come to.

    Raises:
        SystemExit: They cannot.
    """
    child = subprocess.run(
        [sys.executable, "-P", reductions.__file__, str(file)],
        env={**os.environ, "PYTHONPATH": str(Path(sources).resolve())},
        capture_output=True,
        check=False,
        text=True,
    )
    if child.returncode:
        raise SystemExit(f"the sources in {sources} cannot count: {child.stderr[-2000:]}")
    counts: list[int] = json.loads(child.stdout)
    return counts


def measure(name: str, baseline: str) -> bool:
    """Prints a line for a model; says whether its bounds hold."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = requests(export(make(name).case("train")), Path(folder, "program.mlir"))
        counts = [reductions.added(request) for request in wanted]
        before: Sequence[int | None] = [None] * len(counts)
        if baseline:
            file = Path(folder, "requests.json")
            file.write_text(json.dumps(wanted), encoding="utf-8")
            before = counted_with(baseline, file)
    most = [bound(name, request["recipe"]) for request in wanted]
