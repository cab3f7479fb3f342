"""Random steps whose forward pass keeps less: the same values in the interpreter, bit for bit.

python -m benchmarks.residual_steps [--programs N] [--seed N]
"""

from __future__ import annotations

import click

from tests.py.shared.residual_steps import same_values


@click.command()
@click.option("--programs", default=2000, show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(programs: int, seed: int) -> None:
    """Prints how many of the steps keep less, and those with other values."""
    less, wrong = 0, list[int]()
    for number in range(seed, seed + programs):
        try:
            less += same_values(number)
        except AssertionError as error:
            wrong.append(number)
            click.echo(f"seed {number}: {error}")
    click.echo(f"{programs} steps, {less} of which keep less: {len(wrong)} have other values")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
