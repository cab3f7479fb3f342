"""Signal to noise of a normal distribution in low precision, over the scale of the distribution.

    python -m benchmarks.snr_over_scale                      # the table
    python -m benchmarks.snr_over_scale --plot snr.png       # and the curves, with Matplotlib

Numbers with standard deviation 2^k are cast with saturation and without scales; INT8 has steps with
which its largest number is that of E4M3. These are figures 2 and A.1 of "Unit Scaling" (Blake et
al., 2023).
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.common import Row, report
from benchmarks.figures import draw_curves
from scalify_hlo.commands.stats.formats import TARGETS, Target

EXPONENTS = range(-30, 21)
SAMPLE = 1 << 16
NAMES = {"f8E4M3FN": "FP8 E4M3", "f8E5M2": "FP8 E5M2", "f16": "FP16", "i8": "INT8"}
NEAR_BEST = 3.0
"""The dB by which a ratio may be below the best and still count as near it."""

Curves = Mapping[str, Sequence[float]]


def ratio(data: np.ndarray, target: Target, step: float) -> float:
    """Signal to noise of a cast of magnitudes over a step, in dB."""
    scaled = np.minimum(data / np.float32(step), np.float32(target.largest))
    noise = np.square(target.cast(scaled).astype(np.float64) * step - data).sum()
    return float(10 * np.log10(np.square(data, dtype=np.float64).sum() / noise))


def measured() -> Curves:
    """The ratio of each format for each exponent."""
    normal = np.abs(np.random.default_rng(0).standard_normal(SAMPLE)).astype(np.float32)
    e4m3 = TARGETS[0].largest
    steps = {t.name: e4m3 / t.largest if t.integer else 1.0 for t in TARGETS}
    return {
        NAMES[t.name]: [ratio(np.ldexp(normal, k), t, steps[t.name]) for k in EXPONENTS]
        for t in TARGETS
    }


def main() -> int:
    """Prints the table, and draws the curves if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the curves too")
    options = parser.parse_args()
    curves = measured()
    if options.plot:
        axes = "log2 of the standard deviation", "signal to noise (dB)"
        draw_curves(options.plot, curves, EXPONENTS, axes, dashed="INT8")
    rows = []
    for name, values in curves.items():
        near = sum(value >= max(values) - NEAR_BEST for value in values)
        rows += [Row(f"{name}: best (dB)", max(values), form=".1f")]
        rows += [Row(f"{name}: octaves within 3 dB of it", near, form=".0f")]
    return report(
        "Signal to noise of a normal distribution, standard deviations 2^-30 to 2^20", rows
    )


if __name__ == "__main__":
    sys.exit(main())
