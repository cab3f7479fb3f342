"""Models of which nothing is declared: gradients, and what sizes that are measured cost.

    python -m benchmarks.undeclared                  # all models, a training step of each
    python -m benchmarks.undeclared gpt2-jax lstm

Each model is rewritten as it comes, and with the measured scales of its inputs declared. A line has
the least signal-to-noise ratio of the gradients of which `fp8-current` keeps 13 dB, the share of
the matmuls' operations that are narrow, the inputs that are measured, and the ops of the rewritten
program over those with scales declared.

Bounds: 13 dB, and under `fp16` the ratio of `bf16` less 5 dB; no smaller share than with scales
declared; no more measured inputs than float ones; 1.25 times the ops. Models of packages that are
not installed are left out. Exit code 1 if a bound is missed.
"""

import argparse
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

import scalify_hlo
from benchmarks.common import Row, report
from benchmarks.models.__main__ import MODELS, each, make
from benchmarks.models.measure import Export, count, export
from benchmarks.models.run import fused
from scalify_hlo.program.program import read_text
from scalify_hlo.program.tensors import Array, interface

REFERENCE = "fp8-current"
RECIPES = ("bf16", "fp16", "fp8", "unit")
"""The recipes with sizes that follow from those of inputs."""

LEAST_SNR, MOST_OPS = 13.0, 1.25

BELOW_BF16 = 5.0
"""The decibels by which a gradient under `fp16` may be worse than under `bf16`: chance, where terms
cancel. f16 has three bits more, so that a larger difference is a scale that is wrong."""


class Line(NamedTuple):
    """The figures of a model under a recipe."""

    snr: float
    lost_share: float
    extra_inputs: int
    ops: float


def gradients(exported: Export, text: str) -> list[Array]:
    """The gradients, as the step adds them to optax's moments: each keeps 0.9 of what it was."""
    types = interface(read_text(exported.text).module, "<program>")
    before = {_MOMENT.search(t.name): i for i, t in enumerate(types.arguments)}
    places = {match.group(): i for match, i in before.items() if match}
    found = []
    for type_, after in zip(types.results, fused(text, exported.arguments), strict=True):
        if match := _MOMENT.search(type_.name):
            old = exported.arguments[places[match.group()]]
            found.append(np.asarray(after, np.float64) - 0.9 * np.asarray(old, np.float64))
    return found


_MOMENT = re.compile(r"\.(mu|trace)\b.*")


def snr(exact: Array, found: Array) -> float:
    """The signal-to-noise ratio in dB."""
    with np.errstate(all="ignore"):
        ratio = np.sum(exact**2) / np.sum((exact - found) ** 2)
    return float(10 * np.log10(ratio)) if ratio else -np.inf


def measure(name: str) -> list[Line]:
    """Prints a line for each recipe."""
    exported = export(make(name).case("train"))
    scales = scalify_hlo.measured_scales(exported.text, *exported.arguments)
    floats = sum(np.issubdtype(a.dtype, np.floating) for a in exported.arguments)
    exact = gradients(exported, exported.text)
    reference = gradients(exported, scalify_hlo.rewrite(exported.text, recipe=REFERENCE))
    kept = [
        i for i, pair in enumerate(zip(exact, reference, strict=True)) if snr(*pair) >= LEAST_SNR
    ]
    return [_line(name, recipe, exported, scales, exact, kept, floats) for recipe in RECIPES]


def _line(
    name: str,
    recipe: str,
    exported: Export,
    scales: Mapping[str, float],
    exact: Sequence[Array],
    kept: Sequence[int],
    floats: int,
) -> Line:
    rewrite = partial(scalify_hlo.rewrite, exported.text, recipe=recipe, report=True)
    (text, plain), (other, told) = rewrite(), rewrite(input_scale=scales)
    found = gradients(exported, text)
    least = min([snr(exact[i], found[i]) for i in kept], default=np.inf)
    share, wanted = (each.totals.flops or 0.0 for each in (plain, told))
    inputs = sum(site.kind == "inputs" for site in plain.sites)
    line = Line(
        least, max(wanted - share, 0.0), max(inputs - floats, 0), count(text) / count(other)
    )
    print(
        f"{name:22}{recipe:6}{least:7.1f} dB of {len(kept):3}/{len(exact):3}, narrow {share:6.1%} "
        f"(declared {wanted:6.1%}), {inputs:3} of {floats:3} inputs, ops {line.ops:.2f}",
        flush=True,
    )
    return line


def main() -> int:
    """Measures the models that are named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    names = parser.parse_args().names
    warnings.filterwarnings("ignore")
    models = [dict(zip(RECIPES, found, strict=True)) for found in each(names, measure).values()]
    lines = [line for model in models for line in model.values()]
    worse = sum(m["fp16"].snr < m["bf16"].snr - BELOW_BF16 for m in models)
    return report(
        "Models of which nothing is declared",
        [
            Row("steps", len(lines), form=".0f"),
            Row("with less than 13 dB", sum(x.snr < LEAST_SNR for x in lines), 0, ".0f"),
            Row("worse under fp16 than under bf16", worse, 0, ".0f"),
            Row("with a smaller narrow share", sum(x.lost_share > 0 for x in lines), 0, ".0f"),
            Row("with too many measured inputs", sum(x.extra_inputs > 0 for x in lines), 0, ".0f"),
            Row("most ops", max([x.ops for x in lines], default=0.0), MOST_OPS),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
