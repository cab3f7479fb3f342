"""The command line of mutation testing: `python -m tools.mutation`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult

from tools.mutation import results, worker
from tools.mutation.covering import Covering, cover
from tools.mutation.judge import Judge, Limits
from tools.mutation.mutant import BUILD, Mutant
from tools.mutation.sampling import configuration, mutant_of, sample, work_items

SESSION = BUILD / "session.sqlite"
_SETTINGS = configuration()
_SAMPLE = _SETTINGS["sample"]


@click.group()
def main() -> None:
    """Sample mutants, and run the tests that cover the line of each."""


@main.command("cover")
@click.argument("tests", nargs=-1)
def cover_command(tests: tuple[str, ...]) -> None:
    """Note which lines each test runs; with TESTS, add those of these tests."""
    sys.exit(cover(tests))


@main.command()
@click.option("--seed", default=_SAMPLE["seed"], show_default=True)
@click.option("--count", default=_SAMPLE["mutants"], show_default=True)
def draw(seed: int, count: int) -> None:
    """Draw a sample of mutants, which `run` takes."""
    BUILD.mkdir(parents=True, exist_ok=True)
    SESSION.unlink(missing_ok=True)
    database = WorkDB(SESSION, WorkDB.Mode.create)
    items = work_items(database, _SETTINGS)
    drawn = list(sample(items, seed, count))
    database.clear()
    database.add_work_items(item for item, _ in drawn)
    results.write_drawn(seed, len(items), [mutant for _, mutant in drawn])
    click.echo(f"{len(drawn)} mutants of {len(items)}")


@main.command()
@click.option("--survivors", is_flag=True, help="Run those that have survived, too.")
@click.option("--pending/--no-pending", default=True, help="Run those that have no result.")
@click.argument("tests", nargs=-1)
def run(survivors: bool, pending: bool, tests: tuple[str, ...]) -> None:
    """Run the tests of each mutant that has no result yet; with TESTS, no other tests."""
    database = WorkDB(SESSION, WorkDB.Mode.open)
    worker.warm()
    limits = Limits(tuple(_SAMPLE["budgets"]), _SETTINGS["timeout"])
    covering = Covering(tests)
    judge = Judge(covering, limits)
    judge.vouch("scalify_hlo/errors.py", [t for t in covering.seconds if ".mlir::" in t])
    todo = list(_todo(database, survivors, pending))
    for number, item in enumerate(todo, 1):
        mutant = mutant_of(item)
        if mutant is None:
            raise click.ClickException(f"the sources have changed since the draw: {item}")
        outcome = judge.outcome(mutant)
        database.set_result(item.job_id, _result(mutant, outcome))
        click.echo(f"{number}/{len(todo)} {results.line(mutant, outcome)}")


@main.command()
def report() -> None:
    """Write the result file; exit with 1 if too many mutants survived."""
    database = WorkDB(SESSION, WorkDB.Mode.open)
    items = {item.job_id: item for item in database.work_items}
    ended = []
    for job, result in database.results:
        mutant = mutant_of(items[job])
        if mutant is not None:
            ended.append((mutant, results.parsed(result.output)))
    sys.exit(results.report(ended))


def _todo(database: WorkDB, survivors: bool, pending: bool) -> Iterator[WorkItem]:
    """Yields the items to run; survivors that are named as equivalent are not."""
    if pending:
        yield from database.pending_work_items
    if survivors:
        named = results.equivalents()
        items = {item.job_id: item for item in database.work_items}
        for job, result in list(database.results):
            survived = result.test_outcome == TestOutcome.SURVIVED
            mutant = mutant_of(items[job]) if survived else None
            if mutant is not None and mutant.key not in named:
                yield items[job]


def _result(mutant: Mutant, outcome: worker.Outcome) -> WorkResult:
    """Returns what the database keeps of an outcome."""
    survived = outcome.verdict == "survived"
    return WorkResult(
        worker_outcome=WorkerOutcome.NORMAL,
        output=results.printed(outcome),
        test_outcome=TestOutcome.SURVIVED if survived else TestOutcome.KILLED,
        diff=f"- {mutant.original}\n+ {mutant.mutated}",
    )


if __name__ == "__main__":
    main()
