"""Runs every benchmark in a process of its own; exit code 1 if any bound is missed."""

import subprocess
import sys

BENCHMARKS = (
    "losses",
    "exactness",
    "rewrite_time",
    "start",
    "cost_per_op",
    "compile_ratio",
    "hlo_size",
    "step_time",
    "scale_arithmetic",
    "propagation",
    "f16_range",
)


def run(name: str) -> bool:
    """Runs one benchmark and says whether its bounds hold."""
    print(f"\n$ python -m benchmarks.{name}", flush=True)
    return subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode == 0


def main() -> int:
    """Runs all, also after one has failed."""
    missed = [name for name in BENCHMARKS if not run(name)]
    print(f"\nbounds missed: {', '.join(missed) or 'none'}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
