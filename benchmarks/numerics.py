"""Signal to noise of one matmul in low precision, for inputs of any scale.

    python -m benchmarks.numerics                             # the table
    python -m benchmarks.numerics --plot docs/numerics.svg    # and the curves

Both operands of x @ w are 2^k times noise, and k goes over `EXPONENTS`: under `scaled` they are
given as data near unit and scale 2^k, under `same` as values with --input-scale 2^k. The noise of
the result is its distance from the f64 product. Beside it stand the best that the formats can do
with any one power of two for each operand, found by search, and a saturating cast without scales.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

import scalify_hlo
from benchmarks.common import Row, export_text, report
from benchmarks.plot import Curve, draw
from examples.xla import Executable, flat

M, K, N = 256, 512, 256
EXPONENTS = range(-20, 21, 2)
SEARCHED = range(-24, 25)
"""Exponents of the scales among which the best is looked for; both operands are near unit then."""

BELOW_BEST = 1.0
SPREAD = 0.5
"""Bounds in dB: how far below the format's best, and how far apart over the scales."""

Array = np.ndarray[Any, Any]
Noise = Callable[[np.random.Generator, tuple[int, int]], Array]

INPUTS: Mapping[str, Noise] = {
    "normal": lambda random, shape: random.standard_normal(shape),
    "heavy-tailed": lambda random, shape: random.standard_t(3, shape),
}
"""Noise; the heavy tails are Student's t of 3 degrees, whose fourth moment is infinite."""


@dataclass(frozen=True)
class Site:
    """A matmul as a recipe sees it.

    Attributes:
        recipe: the preset.
        formats: what it makes of the operands.
        settings: options over the preset, which say what the arguments are.
    """

    recipe: str
    formats: tuple[Any, Any]
    settings: Mapping[str, object] = field(default_factory=dict)


GRADIENT = {"inputs.gradient": ["x"]}
SITES = {
    "fp16": Site("fp16", (np.float16, np.float16)),
    "fp8": Site("fp8", (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fn)),
    "fp8 backward": Site("fp8", (ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn), GRADIENT),
}
SIGNATURES = ("scaled", "same")


@dataclass(frozen=True)
class Figures:
    """Signal to noise of one site with one kind of input, in dB.

    Attributes:
        best: that of the best scales.
        plain: without scales, for each exponent.
        measured: for each signature, for each exponent.
    """

    best: float
    plain: Sequence[float]
    measured: Mapping[str, Sequence[float]]

    def rows(self, what: str) -> Iterator[Row]:
        """What the table says, with bounds."""
        yield Row(f"{what}: best of the format (dB)", self.best, form=".2f")
        kept = sum(value >= self.best - BELOW_BEST for value in self.plain)
        share = 100 * kept / len(self.plain)
        yield Row(f"{what}: plain cast, scales as good (%)", share, form=".0f")
        for signature, values in self.measured.items():
            below, spread = self.best - min(values), max(values) - min(values)
            yield Row(f"{what}, {signature}: below best (dB)", below, BELOW_BEST, ".3f")
            yield Row(f"{what}, {signature}: max - min (dB)", spread, SPREAD, ".3f")


def snr(result: Array, exact: Array) -> float:
    """Power of a signal over that of its noise, in dB; -inf where the result is not finite."""
    if not np.isfinite(result).all():
        return -np.inf
    noise = np.square(result - exact).sum()
    return float(10 * np.log10(np.square(exact).sum() / noise)) if noise else np.inf


def rounded(values: Array, format_: Any, exponent: int = 0) -> Array:
    """Values divided by 2^exponent, saturated, rounded to a format, and multiplied again."""
    largest = float(ml_dtypes.finfo(format_).max)
    data = np.clip(np.ldexp(values, -exponent), -largest, largest)
    return np.ldexp(data.astype(format_).astype(np.float64), exponent)


def best(x: Array, w: Array, formats: tuple[Any, Any]) -> float:
    """The best signal to noise with one power of two for each operand, products summed in f64.

    The noises of the operands add, so that one is searched after the other.
    """
    exact = x @ w
    lhs = max((rounded(x, formats[0], e) for e in SEARCHED), key=lambda r: snr(r @ w, exact))
    return max(snr(lhs @ rounded(w, formats[1], e), exact) for e in SEARCHED)


def rewritten(site: Site, **options: Any) -> Executable:
    """The matmul rewritten and compiled."""

    def matmul(x: jax.Array, w: jax.Array) -> jax.Array:
        return x @ w

    shapes = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((M, K), (K, N))]
    text = export_text(matmul, *shapes)
    settings = dict(site.settings)
    return Executable(scalify_hlo.rewrite(text, recipe=site.recipe, settings=settings, **options))


def run_scaled(site: Site, x: Array, w: Array) -> Iterator[Array]:
    """The result for each exponent, which is in the scales of the arguments only."""
    program = rewritten(site, signature="scaled")
    for k in EXPONENTS:
        scale = np.float32(2.0**k)
        data, result_scale = program(flat([x, scale, w, scale]))
        yield np.asarray(data, np.float64) * float(result_scale)


def run_same(site: Site, x: Array, w: Array) -> Iterator[Array]:
    """The result for each exponent, which is in the values and in the program."""
    for k in EXPONENTS:
        program = rewritten(site, input_scale={"*": 2.0**k})
        (result,) = program(flat([np.ldexp(x, k), np.ldexp(w, k)]))
        yield np.asarray(result, np.float64)


RUNS = {"scaled": run_scaled, "same": run_same}


def figures(site: Site, noise: Noise, signatures: Sequence[str] = SIGNATURES) -> Figures:
    """Measures one site with one kind of input."""
    random = np.random.default_rng(0)
    x, w = (noise(random, shape).astype(np.float32) for shape in ((M, K), (K, N)))
    wide = x.astype(np.float64), w.astype(np.float64)
    exact = wide[0] @ wide[1]
    plain = [
        snr(np.matmul(*(rounded(np.ldexp(v, k), f) for v, f in operands)), np.ldexp(exact, 2 * k))
        for operands in [list(zip(wide, site.formats, strict=True))]
        for k in EXPONENTS
    ]
    measured = {
        name: [
            snr(result, np.ldexp(exact, 2 * k))
            for k, result in zip(EXPONENTS, RUNS[name](site, x, w), strict=True)
        ]
        for name in signatures
    }
    return Figures(best(*wide, site.formats), plain, measured)


def curves(results: Mapping[str, Figures]) -> Iterator[Curve]:
    """What the plot shows: of each site what was measured, and dashed what a plain cast does."""
    for index, (name, one) in enumerate(results.items()):
        yield Curve(name, list(EXPONENTS), one.measured["scaled"], index)
        yield Curve(f"{name}, plain cast", list(EXPONENTS), one.plain, index, dashed=True)


def main() -> int:
    """Prints the table, draws the curves if asked to; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the curves too")
    options = parser.parse_args()
    results = {
        kind: {name: figures(site, noise) for name, site in SITES.items()}
        for kind, noise in INPUTS.items()
    }
    if options.plot:
        panels = {f"{kind} inputs": list(curves(found)) for kind, found in results.items()}
        axes = "scale of both operands, 2^k", "signal to noise (dB)"
        options.plot.write_text(draw(panels, axes))
    rows = [
        row
        for kind, found in results.items()
        for name, one in found.items()
        for row in one.rows(f"{name}, {kind}")
    ]
    return report(f"Signal to noise of x[{M},{K}] @ w[{K},{N}], scales 2^-20 to 2^20", rows)


if __name__ == "__main__":
    sys.exit(main())
