"""`scalify-hlo recipes`."""

from __future__ import annotations

import click

from scalify_hlo.cli import console


@click.command(name="recipes", epilog="Example: scalify-hlo recipes")
def command() -> None:
    """Show the recipes, with the values of their options."""
    from scalify_hlo.recipe import PRESETS, describe

    rows = [(name, describe(recipe)) for name, recipe in PRESETS.items()]
    click.echo(console.table(("recipe", "options"), rows))
