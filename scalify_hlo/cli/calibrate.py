"""`scalify-hlo calibrate`: run a program on samples, and write statistics of its matmuls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import WithOutput, WithQuiet, WithRemarks
from scalify_hlo.cli.running import WithInputs
from scalify_hlo.recipes.fields import option
from scalify_hlo.storage.files import display_name, read_file, write_file

if TYPE_CHECKING:
    from scalify_hlo.profile.model import Profile


@command("scalify-hlo calibrate model.mlir --inputs a.npz -o profile.json")
class Calibrate(WithInputs, WithOutput, WithQuiet, WithRemarks):
    """Run the program IN on samples and write a profile of the operands of its matmuls.

    The program runs with XLA on the CPU. The profile is JSON. It has the largest magnitude, the
    rms and a histogram of each operand of a matmul or a convolution.

    Attributes:
        inputs: A sample: arrays by argument name, or arr_0, arr_1 ...; by default, one is made up.
            Repeat it for more samples.
        merge: Add the samples of an earlier profile.
    """

    merge: tuple[str, ...] = option((), metavar="PROFILE", reads=True)

    def run(self) -> None:
        """See `Command.run`."""
        from scalify_hlo.commands.calibrate.calibration import Calibration
        from scalify_hlo.profile.file import dump_profile, parse_profile

        earlier = [parse_profile(read_file(path), display_name(path)) for path in self.merge]
        source = self.read()
        samples = self.arrays(source)
        calibration = Calibration(source)
        for profile in earlier:
            profile.require(calibration.program)
        with console.progress("Calibrating", quiet=self.quiet) as progress:
            for done, sample in enumerate(samples):
                progress(done, len(samples))
                calibration.add(sample, self.inputs[done] if self.inputs else "the inputs")
        if not self.quiet:
            name = display_name(self.program)
            console.report_remarks(calibration.remarks, name, verbose=self.verbose)
        write_file(self.output, dump_profile(_merged(calibration.profile(), earlier)))


def lines(profile: Profile, rows: int) -> Iterator[str]:
    """Yields a line on each tensor of a profile, the largest first.

    Args:
        profile: The profile.
        rows: How many rows the table has; 0 for all.
    """
    yield f"{profile.name}: {profile.samples} sample{'s' * (profile.samples != 1)}"
    named = sorted(profile.tensors.items(), key=lambda item: -item[1].amax)
    cells = [(f"{t.amax:.4g}", f"{t.rms:.4g}", str(t.count), name) for name, t in named]
    yield from console.table(("amax", "rms", "count", "operand"), cells, rows)


def _merged(profile: Profile, earlier: Sequence[Profile]) -> Profile:
    for other in earlier:
        profile = profile.merge(other)
    return profile
