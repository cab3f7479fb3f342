"""The command `scalify-hlo`, which imports a subcommand when it is called."""

from __future__ import annotations

import errno
import importlib
import os
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import click

from scalify_hlo.cli import console
from scalify_hlo.errors import ScalifyError, UsageError, nearest
from scalify_hlo.storage import files
from scalify_hlo.storage.interrupts import STATUS
from scalify_hlo.version import __version__

_SUMMARY = re.compile(r'"""`scalify-hlo ([a-z-]+)`: (.*)"""')
"""The first line of the file of a command."""
_NAME = "scalify-hlo"
_DEBUG = "SCALIFY_HLO_DEBUG"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@cache
def _summaries() -> Mapping[str, str]:
    """Returns what each command does, from the first lines of the files, which are not imported."""
    found: dict[str, str] = {}
    for path in Path(__file__).parent.glob("*.py"):
        with path.open(encoding="utf-8") as file:
            if summary := _SUMMARY.match(file.readline()):
                found[summary[1]] = summary[2][:1].upper() + summary[2][1:]
    first = sorted(found, key=lambda name: (name != "rewrite", name))
    return {name: found[name] for name in first}


class Commands(click.Group):
    """A command group that imports a command on first use, and prints errors with locations."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of the commands; see `click.Group`."""
        del ctx
        return list(_summaries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports and returns a command, or None if it is unknown; see `click.Group`."""
        del ctx
        if cmd_name not in _summaries():
            return None
        from scalify_hlo.cli.command import COMMANDS

        importlib.import_module(f"scalify_hlo.cli.{cmd_name.replace('-', '_')}")
        return COMMANDS[cmd_name]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(_summaries().items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Prints the help if nothing is given, whose lines an error would escape."""
        if not args:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(UsageError.exit_code)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolves a command; see `click.Group`. The error for an unknown one suggests others."""
        if args and args[0] not in _summaries() and not args[0].startswith("-"):
            raise UsageError(
                f"no command is named {args[0]!r}{nearest(args[0], _summaries())}",
                hint=f"the commands are: {', '.join(_summaries())}",
            )
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the command line.

        It exits with 0, 1 on input errors, 2 on usage errors, or 130 after an interrupt.
        """
        kwargs["standalone_mode"] = False
        kwargs["prog_name"] = _NAME
        # This hides XLA's log messages on the machine, which are not diagnostics of a program.
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        # NumPy's linear algebra needs no threads here, and with threads it is not safe to fork.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        _open_standard_streams()
        sys.exit(_run(lambda: super(Commands, self).main(*args, **kwargs)))


def _run(call: Any) -> int:
    try:
        code = call()
    except ScalifyError as error:
        console.report_error(error)
        return error.exit_code
    except click.ClickException as error:
        return _report_usage(error)
    except (click.Abort, KeyboardInterrupt):
        return STATUS
    except BrokenPipeError:
        # The reader of the output is gone. The rest is discarded, so that the exit does not fail.
        files.discard_output()
        return 1
    except OSError as error:
        return _report_full(error) if error.errno in _FULL else _report_defect(error)
    except Exception as error:
        return _report_defect(error)
    return code if isinstance(code, int) else 0


def _open_standard_streams() -> None:
    """Opens the null device for standard streams that are closed.

    Otherwise the next file to be opened would get the number of such a stream, and native code that
    prints to standard error would write to it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _report_usage(error: click.ClickException) -> int:
    from scalify_hlo.cli.command import HELP

    message = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else _NAME
    hint = HELP.format(command)
    console.report_error(UsageError(message[:1].lower() + message[1:], hint=hint))
    return error.exit_code


def _report_full(error: OSError) -> int:
    """Reports a full disk while click itself prints, such as the help of a command."""
    refused = files.unwritable_output(error)
    console.report_error(refused)
    return refused.exit_code


def _report_defect(error: Exception) -> int:
    if os.environ.get(_DEBUG):
        raise error
    lines = str(error).strip().splitlines() or [""]
    console.report_error(
        ScalifyError(
            f"this is a defect of scalify-hlo: {type(error).__name__}: {lines[0]}",
            hint=f"please report it, with the traceback that {_DEBUG}=1 shows",
        )
    )
    return 1


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name=_NAME)
def main() -> None:
    """Rewrite StableHLO programs so that float tensors are represented by data and scales.

    Programs are MLIR text or bytecode, StableHLO portable artifacts, jax.export files or
    SavedModels, recognized by content; - is standard input or output.
    """
