"""StableHLO's own test programs, rewritten, run and compared with what they should give.

The programs and the harness that runs them are not part of this repository: `--suite DIR`, or the
variable SCALIFY_CONFORMANCE, names the folder that holds `conformance.py`. Each program is run
unrewritten and under each signature; scales differ from argument to argument. A program whose
inputs a format cannot hold at 2^k, or not their squares (f16 at 2^20, say), runs at the nearest
2^k at which it can.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.common import WIDTH

ROOT = Path(__file__).resolve().parents[1]
SUITE = Path(os.environ.get("SCALIFY_CONFORMANCE", ROOT / "conformance"))
EXPONENTS = (-20, -7, 0, 7, 20)
STEP = -1
"""The harness gives argument i the scale 2^(k + STEP*(i mod 4))."""
SUITES = ("testdata", "interpret")
BACKENDS = {"xla": "", "interp": "interp_"}
"""How the harness prefixes what it says of each backend."""
LEAST_EQUAL = 99.7
"""Percentage of float programs whose bits must be those of the unrewritten one, interpreted."""

REASONS = {
    r"cbrt": "libm's cbrt rounds differently at another scale",
}
"""Why a program is not bit-equal on the interpreter, by a pattern of its name."""

Record = Mapping[str, Any]
Records = dict[str, Record]


@dataclass(frozen=True)
class Run:
    """One pass of the harness over the programs.

    Attributes:
        name: What the table calls it.
        rewriter: Function of `benchmarks.conformance_adapter`; empty to rewrite nothing.
        exponent: log2 of the first argument's scale where arguments are data and scale.
    """

    name: str
    rewriter: str = ""
    exponent: int | None = None


BASELINE = Run("unrewritten")


def runs(exponents: Sequence[int]) -> list[Run]:
    """What the programs are put through."""
    scaled = [Run(f"scaled, X_s = 2^{k}", "scaled", k) for k in exponents]
    return [Run("same", "same"), Run("same, inputs at 2^-4", "split"), *scaled]


class Harness:
    """The harness in its folder.

    Args:
        folder: Where `conformance.py` and the programs are.
        jobs: How many processes run programs.
        only: Pattern of the files to run; all if None.
    """

    def __init__(self, folder: Path, jobs: int, only: str | None = None) -> None:
        self._folder, self._jobs, self._only = folder, jobs, only
        self._script = folder / "conformance.py"

    def run(self, run: Run, nearest: Mapping[str, int]) -> Records:
        """Runs every program.

        Args:
            run: What with.
            nearest: The exponents of the programs that do not run at the one asked for.
        """
        if run.exponent is None:
            return self._pass(run, None, ())
        groups: dict[int, list[str]] = defaultdict(list)
        for unit, exponent in nearest.items():
            groups[exponent].append(unit)
        records: Records = {}
        for exponent, units in groups.items():
            records |= self._pass(run, exponent, units)
        return records

    def _pass(self, run: Run, exponent: int | None, units: Sequence[str]) -> Records:
        with tempfile.TemporaryDirectory() as folder:
            out, manifest = Path(folder, "out.json"), Path(folder, "units.json")
            command = [sys.executable, str(self._script), "--suite", ",".join(SUITES)]
            command += ["--jobs", str(self._jobs), "--backends", ",".join(BACKENDS)]
            command += ["--out", str(out), "--failures", str(Path(folder, "failures.json"))]
            if run.rewriter:
                command += ["--rewriter", f"benchmarks.conformance_adapter:{run.rewriter}"]
                command += ["--pythonpath", str(ROOT)]
            if exponent is not None:
                manifest.write_text(json.dumps(list(units)))
                command += ["--signature", "paired", "--manifest", str(manifest)]
                command += [f"--scale-exp={exponent}", f"--scale-step={STEP}"]
            if self._only:
                command += ["--filter", self._only]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            return {record["id"]: record for record in json.loads(out.read_text())}

    def inputs(self) -> dict[str, list[list[Any]]]:
        """The inputs of each program that has some: arguments of one or more functions."""
        harness = _load(self._script)
        worker = harness.Worker(_HARNESS_OPTIONS)
        found = {}
        for unit in harness.list_units(str(self._folder), SUITES, self._only):
            text = Path(unit["path"]).read_text()
            chunk = re.split(r"^// -----.*$", text, flags=re.M)[unit["chunk"]]
            try:
                entries = worker.extract(harness.preprocess_checks(chunk))
            except Exception:
                continue  # The harness itself says which programs it cannot take.
            found[unit["id"]] = [e["args"] for e in entries if not e.get("parallel")]
        return found


_HARNESS_OPTIONS = argparse.Namespace(
    platform="cpu", rewriter=None, pythonpath=None, hoist=True, const_inputs=False
)


def _load(script: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location("conformance_harness", script)
    if specification is None or specification.loader is None:
        raise ImportError(f"{script} is no Python file")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def representable(entries: Sequence[Sequence[Any]], exponent: int) -> bool:
    """Whether X / X_s, times X_s, is X again for each argument, with room for products."""
    return all(
        _survives(np.asarray(array), exponent + STEP * (i % 4))
        for arguments in entries
        for i, array in enumerate(arguments)
    )


def _survives(array: np.ndarray[Any, Any], exponent: int) -> bool:
    if array.dtype.kind == "c":
        return _survives(array.real, exponent) and _survives(array.imag, exponent)
    if array.dtype.kind not in "fV":
        return True
    with np.errstate(all="ignore"):
        wide = array.astype(np.float64)
        data = (wide * 2.0**-exponent).astype(array.dtype).astype(np.float64)
        kept = (data * 2.0**exponent == wide) | np.isnan(wide)
    ends = ml_dtypes.finfo(array.dtype)
    size, before = np.abs(data), np.abs(wide)
    low = (size > 0) & (size < float(ends.smallest_normal)) & (before > size)
    high = np.isfinite(wide) & (size > float(ends.max) ** 0.5) & (before < size)
    return bool(kept.all() and not (low | high).any())


def nearest_exponents(inputs: Mapping[str, list[list[Any]]], exponent: int) -> dict[str, int]:
    """For each program the exponent nearest to one asked for at which its inputs are kept."""
    towards_zero = range(exponent, 0, -1) if exponent > 0 else range(exponent, 0)
    return {
        unit: next((k for k in towards_zero if representable(entries, k)), 0)
        for unit, entries in inputs.items()
    }


@dataclass(frozen=True)
class Outcome:
    """What a run showed on one backend.

    Attributes:
        run: The run.
        backend: Its backend.
        programs: How many programs the backend runs unrewritten.
        rewritten: How many of them were rewritten.
        ran: How many of the rewritten ones ran.
        matched: Of those that match unrewritten, how many match, and of how many.
        equal: Of those with float values, how many have the same bits, and of how many.
        faults: What is wrong, by program.
    """

    run: Run
    backend: str
    programs: int
    rewritten: int
    ran: int
    matched: tuple[int, int]
    equal: tuple[int, int]
    faults: Mapping[str, str]

    @property
    def holds(self) -> bool:
        """Whether everything is as it must be."""
        exact = self.backend != "interp" or percent(*self.equal) >= LEAST_EQUAL
        complete = self.programs == self.rewritten == self.ran
        unexplained = any(why.startswith("UNEXPLAINED") for why in self.faults.values())
        return complete and self.matched[0] == self.matched[1] and exact and not unexplained

    def cells(self) -> Iterator[str]:
        """A row of the table."""
        yield from (self.run.name, self.backend, str(self.programs))
        yield f"{percent(self.rewritten, self.programs):.1f}"
        yield f"{percent(self.ran, self.programs):.1f}"
        for part, whole in (self.matched, self.equal):
            yield f"{percent(part, whole):.1f} ({part}/{whole})"
        yield "yes" if self.holds else "NO"


def percent(part: int, whole: int) -> float:
    """Percentage, 100 of nothing."""
    return 100 * part / whole if whole else 100.0


def judge(run: Run, backend: str, baseline: Records, records: Records) -> Outcome:
    """Compares a run with the unrewritten programs."""
    key = BACKENDS[backend]
    units = [u for u, b in baseline.items() if b.get(f"{key}ran") and _runs(records.get(u, {}))]
    ran = [u for u in units if records[u].get(f"{key}ran")]
    matching = [u for u in units if baseline[u].get(f"{key}strict")]
    floats = [u for u in ran if _has_floats(baseline[u])]
    faults = {}
    for unit in units:
        if why := _fault(unit, key, baseline[unit], records[unit]):
            faults[unit] = why
    return Outcome(
        run,
        backend,
        len(units),
        sum(bool(records[u].get("rewritten")) for u in units),
        len(ran),
        (sum(bool(records[u].get(f"{key}strict")) for u in matching), len(matching)),
        (sum(bool(records[u].get(f"{key}bitexact_vs_original")) for u in floats), len(floats)),
        faults,
    )


def _runs(record: Record) -> bool:
    """Whether the harness can feed a program, or says that it cannot feed pairs to many devices."""
    return bool(record) and "paired signature for parallel" not in str(record)


def _has_floats(record: Record) -> bool:
    return any(re.search(r"b?f\d|complex", type_) for type_ in record.get("types", ()))


def _fault(unit: str, key: str, before: Record, after: Record) -> str | None:
    if not after.get("rewritten") or not after.get(f"{key}ran"):
        return f"UNEXPLAINED: {after.get(f'{key}error') or after.get('error')}"
    mismatch = before.get(f"{key}strict") and not after.get(f"{key}strict")
    if not mismatch and after.get(f"{key}bitexact_vs_original"):
        return None
    ulps = after.get(f"{key}max_ulp_vs_original")
    for pattern, reason in REASONS.items():
        if re.search(pattern, unit) and not mismatch:
            return f"{reason} ({ulps} ulp)"
    if key != BACKENDS["interp"] and not mismatch:
        return f"XLA fuses and orders the rewritten program differently ({ulps} ulp)"
    return f"UNEXPLAINED: {ulps} ulp; {after.get(f'{key}why', '')}"


def show(outcomes: Sequence[Outcome]) -> None:
    """Prints the table, and below it each program that differs."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH + 20)
    table = Table("run", "backend", title="StableHLO's test programs, %", title_justify="left")
    for name in ("programs", "rewritten", "run", "matching", "bit-equal", "holds"):
        table.add_column(name, justify="right")
    for outcome in outcomes:
        table.add_row(*outcome.cells())
    console.print(table)
    for outcome in outcomes:
        for unit, why in sorted(outcome.faults.items()):
            print(f"{outcome.run.name}, {outcome.backend}: {unit}: {why}")


def main() -> int:
    """Runs everything; exit code 1 if a bound is missed, 2 if there is no suite."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--suite", type=Path, default=SUITE, help="folder of the harness")
    parser.add_argument("--jobs", type=int, default=2, help="processes that run programs")
    parser.add_argument("--filter", help="pattern of the files to run")
    parser.add_argument("--exponents", type=int, nargs="*", default=EXPONENTS, metavar="K")
    options = parser.parse_args()
    if not (options.suite / "conformance.py").is_file():
        print(f"error: no conformance.py in {options.suite}", file=sys.stderr)
        print("note: name its folder with --suite, or in SCALIFY_CONFORMANCE", file=sys.stderr)
        return 2
    harness = Harness(options.suite.resolve(), options.jobs, options.filter)
    inputs = harness.inputs()
    baseline = harness.run(BASELINE, {})
    outcomes = []
    for run in runs(options.exponents):
        nearest = {} if run.exponent is None else nearest_exponents(inputs, run.exponent)
        records = harness.run(run, nearest)
        outcomes += [judge(run, backend, baseline, records) for backend in BACKENDS]
    show(outcomes)
    return int(not all(outcome.holds for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
