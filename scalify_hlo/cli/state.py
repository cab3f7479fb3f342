"""`scalify-hlo state`: convert a checkpoint to the arguments of a rewritten program."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import WithEntry, WithOutput, WithQuiet
from scalify_hlo.recipes.fields import option
from scalify_hlo.storage.files import display_name

if TYPE_CHECKING:
    from scalify_hlo.frontend.checkpoint import Summary
    from scalify_hlo.program.arrays import StoredArray
    from scalify_hlo.program.program import Program


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

    CHECKPOINT may also be a safetensors file, or a folder that orbax's StandardCheckpointer wrote:
    params.w is then params['w'], and so is w if only one argument ends so. The suffix of the output
    chooses its kind: .safetensors, .orbax for a folder, and .npz for others.

    With --inverse, CHECKPOINT has state as REWRITTEN takes it, and the output is a checkpoint of
    the original: data times scale, in the dtype in which the program computes, or in f32 if its
    file does not say. State of delayed scales is left out, and a line says so.

    Attributes:
        partial: Accept a checkpoint that has some leaves of a pytree, and not others.
        inverse: Convert state of REWRITTEN back to a checkpoint of the original.
    """

    rewritten: str = option(metavar="REWRITTEN", argument=True, reads=True)
    checkpoint: str = option(metavar="CHECKPOINT", argument=True, reads=True)
    partial: bool = False
    inverse: bool = False

    def run(self) -> None:
        """See `Command.run`."""
        console.refuse_terminal(self.output)
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        from scalify_hlo.frontend.checkpoint import Summary
        from scalify_hlo.program.checkpoint_files import save_checkpoint

        program = self.read_from(self.rewritten)
        summary = Summary(0)
        with console.progress("Converting", quiet=self.quiet) as progress:
            convert = self._restored if self.inverse else self._converted
            save_checkpoint(self.output, convert(program, summary, progress))
        if not self.quiet:
            console.report_summary(str(summary))

    def _converted(
        self, program: Program, summary: Summary, progress: Callable[[int, int], None]
    ) -> Iterable[tuple[str, Any]]:
        """Returns the arguments of the rewritten program from a checkpoint of the original."""
        from scalify_hlo.frontend.checkpoint import (
            converted,
            given_arguments,
            original_arguments,
        )

        name, arguments = display_name(self.checkpoint), original_arguments(program)
        known = [argument.name for argument in arguments]
        positions = [f"arr_{i}" for i in range(len(known))]
        arrays = self._read_arrays(program, known, positions)
        summary.total = len(arguments)
        given = given_arguments(arguments, arrays, name, partial=self.partial)
        return converted(given, name, summary, progress)

    def _restored(
        self, program: Program, summary: Summary, progress: Callable[[int, int], None]
    ) -> Iterable[tuple[str, Any]]:
        """Returns a checkpoint of the original from arguments of the rewritten program."""
        from scalify_hlo.frontend.checkpoint import original_arguments
        from scalify_hlo.frontend.restored import names_of, restored, stored_arguments
        from scalify_hlo.program.tensors import interface

        name, arguments = display_name(self.checkpoint), original_arguments(program)
        described = interface(program.module, program.name, dynamic=True)
        scaling = [described.arguments[i].name for i in described.state]
        left_out = [*scaling, *(f"arr_{i}" for i in described.state)]
        positions = [f"arr_{i}" for i in range(len(described.arguments))]
        arrays = self._read_arrays(program, [*names_of(arguments), *scaling], positions)
        summary.total = len(arguments)
        dropped = len(arrays.keys() & set(left_out))
        if dropped and not self.quiet:
            console.report_summary(
                f"{name}: note: the scaling state ({dropped} array{'s' * (dropped > 1)}) is left "
                "out: the original has none"
            )
        stored = stored_arguments(arguments, arrays, left_out, name, partial=self.partial)
        return restored(stored, name, summary, progress)

    def _read_arrays(
        self, program: Program, known: list[str], positions: list[str]
    ) -> dict[str, StoredArray]:
        """Returns the arrays of the checkpoint, without those that the program does not read."""
        from scalify_hlo.program.checkpoint_files import read_checkpoint
        from scalify_hlo.run.given import arrays_unread, ignored

        arrays = read_checkpoint(self.checkpoint, known)
        unread = arrays_unread([*known, *positions], program.exported, arrays)
        if unread and not self.quiet:
            console.report_summary(f"{display_name(self.checkpoint)}: note: {ignored(unread)}")
        return {key: array for key, array in arrays.items() if key not in unread}
