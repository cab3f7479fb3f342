"""Runs the tests of a mutant, and checks that what fails is the mutant's doing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tools.mutation import worker
from tools.mutation.covering import Covering, about, choose
from tools.mutation.mutant import ROOT, Mutant
from tools.mutation.worker import Outcome

# With fewer tests of a line than this, others of its module are run, too.
_FEW = 20
# Seconds of CPU time for the tests without the mutant.
_PATIENCE = 600


@dataclass(frozen=True)
class Limits:
    """The time that tests may take, in seconds.

    Attributes:
        budgets: What the tests take without the mutant: the first, then those that are run if the
            mutant has survived these, and so on.
        timeout: CPU time after which the tests of a mutant are ended, at least five times what
            they take without it.
    """

    budgets: tuple[float, ...]
    timeout: float


class Judge:
    """Runs the tests of mutants.

    A test that fails counts only if it passes without the mutant, in a child of the same kind.
    """

    def __init__(self, covering: Covering, limits: Limits) -> None:
        self._covering = covering
        self._limits = limits
        self._sound: set[str] = set()
        self._unsound: set[str] = set()

    def vouch(self, file: str, tests: Iterable[str]) -> None:
        """Runs tests without a mutant, so that failures of these count at once.

        Args:
            file: The path of any module.
            tests: The tests.
        """
        module, text = file.removesuffix(".py").replace("/", "."), (ROOT / file).read_text()
        ran = worker.run(module, text, list(tests), _PATIENCE, to_the_end=True)
        self._sound.update(ran.passed)

    def outcome(self, mutant: Mutant) -> Outcome:
        """Runs tests that cover the line, then more of them, and if these are few, others."""
        tests = self._covering.tests(mutant.file, mutant.lines)
        outcome = self._outcome(mutant, tests)
        if outcome.verdict == "survived" and len(tests) < _FEW:
            outcome = self._outcome(mutant, self._covering.others(mutant.file, mutant.lines))
        return outcome

    def _outcome(self, mutant: Mutant, tests: list[str]) -> Outcome:
        """Runs some tests for each budget, as long as none fails."""
        outcome = Outcome("survived")
        for budget in self._limits.budgets:
            first = about(mutant.file)
            chosen = choose(tests, self._covering.seconds, budget, first) if tests else []
            if chosen:
                outcome = self._run(mutant, chosen)
            if outcome.verdict != "survived":
                break
            tests = [test for test in tests if test not in set(chosen)]
        return outcome

    def _run(self, mutant: Mutant, tests: Iterable[str]) -> Outcome:
        """Runs tests, again without those that fail without the mutant, too."""
        while chosen := [test for test in tests if test not in self._unsound]:
            outcome = worker.run(mutant.module, mutant.source, chosen, self._seconds(chosen))
            if outcome.verdict == "survived" or self._is_vouched(mutant, chosen, outcome):
                return outcome
        return Outcome("survived")

    def _seconds(self, tests: Iterable[str]) -> float:
        """Returns the CPU time after which a child is ended: well more than its tests take."""
        return max(self._limits.timeout, 5 * sum(self._covering.seconds[test] for test in tests))

    def _is_vouched(self, mutant: Mutant, chosen: list[str], outcome: Outcome) -> bool:
        """Whether the tests that decided pass without the mutant; runs them if this is unknown."""
        end = chosen.index(outcome.failed[0]) + 1 if outcome.failed else len(chosen)
        deciding = set(outcome.failed or chosen)
        if deciding <= self._sound:
            return True
        text = (ROOT / mutant.file).read_text(encoding="utf-8")
        without = worker.run(mutant.module, text, chosen[:end], _PATIENCE, to_the_end=True)
        self._sound.update(without.passed)
        unsound = set(chosen[:end]) - set(without.passed)
        self._unsound |= unsound
        for test in sorted(unsound):
            print(f"does not pass without a mutant, left out: {test}\n{without.output}")
        return not unsound & deciding
