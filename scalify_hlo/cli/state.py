"""`scalify-hlo state`: convert a checkpoint to the arguments of a rewritten program."""

from __future__ import annotations

import os

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import WithEntry, WithOutput, WithQuiet
from scalify_hlo.program.arrays import read_arrays, save_arrays
from scalify_hlo.recipes.fields import option
from scalify_hlo.storage.files import STREAM, display_name, save_file


@command("scalify-hlo state model.fp8.export weights.npz -o weights.fp8.npz")
class State(WithEntry, WithOutput, WithQuiet):
    """Convert the arrays of CHECKPOINT to arguments of the program REWRITTEN.

    REWRITTEN has the signature scaled: each float argument is data and a scale, and the recipe may
    store the data in another format, such as weights in FP8. CHECKPOINT is an .npz file with
    arguments of the original: arrays by argument name, or arr_0, arr_1 ... It may have only some
    arguments, such as the weights of a model without its inputs.

    The output is an .npz file with the data and scales that scaled_state computes in Python. They
    are in the order of the program, under the names that `inspect REWRITTEN --arguments` lists.
    NumPy loads bf16 and formats of at most 8 bits as raw bytes, which array.view(dtype) reads. If a
    number is beyond the range of the format of its data, the command fails.

    A line on standard error has the number of arguments in each format, the bytes after and before,
    and the largest relative error. That is the largest absolute difference of an array, divided by
    its largest magnitude.

    Attributes:
        partial: Accept a checkpoint that has some leaves of a pytree, and not others.
    """

    rewritten: str = option(metavar="REWRITTEN", argument=True, reads=True)
    checkpoint: str = option(metavar="CHECKPOINT", argument=True, reads=True)
    partial: bool = False

    def run(self) -> None:
        """See `Command.run`."""
        console.refuse_terminal(self.output)
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        from scalify_hlo.frontend.checkpoint import (
            Summary,
            converted,
            given_arguments,
            original_arguments,
        )

        name = display_name(self.checkpoint)
        arguments = original_arguments(self.read_from(self.rewritten))
        stored = read_arrays(self.checkpoint)
        given = given_arguments(arguments, stored, name, partial=self.partial)
        summary = Summary(len(arguments))
        with console.progress("Converting", quiet=self.quiet) as progress:
            arrays = converted(given, name, summary, progress)
            # A stream would have a part of the arrays if a later one overflows.
            whole = list(arrays) if self.output == STREAM else arrays
            save_file(self.output, lambda file: save_arrays(file, whole))
        if not self.quiet:
            console.report_summary(str(summary))
