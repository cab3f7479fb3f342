"""Prints docs/cli.md: the reference of the command line, from the options of its commands."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from scalify_hlo.cli.main import main
from tools.inert_options import section

_INTRODUCTION = """\
# Command line

The commands of `scalify-hlo` with their options, written by `make docs` from the commands
themselves. `scalify-hlo COMMAND --help` prints the same text.

Do this, in a checkout:

```sh
scalify-hlo rewrite examples/step.mlir -o step.fp8.mlir --recipe fp8-current
scalify-hlo inspect examples/step.mlir --matmuls
scalify-hlo check examples/step.mlir step.fp8.mlir
```

Programs are MLIR text or bytecode, StableHLO portable artifacts, jax.export files, or the files
or folders of SavedModels, and are recognized by content. `-` is standard input or output. An output
file is written only if the command succeeds, and then as a whole. Errors, remarks and the summary
of a rewrite are written to standard error. Work of more than two seconds has a progress bar, if
standard error is a terminal.

Regions and calls may nest up to 1,500 levels, and a stream may have 2 GiB. Strings have to be
UTF-8, except in `backend_config`. A program beyond these limits is refused with an error.

| exit status | meaning |
|---|---|
| 0 | The command succeeded. |
| 1 | There is an error in the input, or `check` found a difference. |
| 2 | There is an error in the command line. |
| 130 | The command was interrupted. Output files are as they were before. |

`NO_COLOR=1` turns colors off. Tables have the width of the terminal, or 80 columns in a pipe, and
`COLUMNS=200` sets another. `SCALIFY_HLO_DEBUG=1` shows the traceback of an unexpected error.
"""

_EXAMPLE = "Example: "


def page() -> str:
    """Returns the page."""
    context = click.Context(main, info_name="scalify-hlo", **main.context_settings)
    lines = [_INTRODUCTION]
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        if command is not None and not command.hidden:
            lines += _section(command, click.Context(command, context, info_name=name))
    return "\n".join([*lines, *section()])


def _section(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yields the lines on one command: usage, help, options and example."""
    usage = " ".join((context.command_path, *command.collect_usage_pieces(context)))
    yield from (f"## {context.info_name}", "", f"    {usage}", "")
    yield from (inspect.cleandoc(command.help or ""), "")
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    yield from ("| option | effect |", "|---|---|")
    for option in (*options, command.get_help_option(context)):
        record = option and option.get_help_record(context)
        if record:
            yield _row(f"`{record[0]}`", record[1])
    example = (command.epilog or "").removeprefix(_EXAMPLE)
    yield from ("", "Example:", "", f"    {example}", "") if example else ("",)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    click.echo(page(), nl=False)
