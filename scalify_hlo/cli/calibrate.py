"""The command `scalify-hlo calibrate`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from scalify_hlo.cli import console
from scalify_hlo.cli.options import inputs_option, output_option, quiet_option, read, read_arrays
from scalify_hlo.storage.files import (
    STREAM,
    display_name,
    read_file,
    require_writable,
    same_file,
    write_file,
)

if TYPE_CHECKING:
    from scalify_hlo.profile.model import Profile


@click.command(
    name="calibrate",
    epilog="Example: scalify-hlo calibrate model.mlir --inputs a.npz -o profile.json",
)
@click.argument("program", metavar="IN")
@inputs_option("A sample", " Repeat it for more samples.", required=True)
@output_option
@click.option(
    "--merge", metavar="PROFILE", multiple=True, help="Add the samples of an earlier profile."
)
@quiet_option
def command(
    program: str, inputs: Sequence[str], output: str, merge: Sequence[str], quiet: bool
) -> None:
    """Run the program IN on samples and write a profile of the operands of its matmuls.

    The program runs with XLA on the CPU. The profile is JSON. It has the largest magnitude, the
    rms and a histogram of each operand of a matmul or a convolution.
    """
    if [program, *inputs, *merge].count(STREAM) > 1:
        same_file(STREAM, STREAM)
    require_writable(output)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    from scalify_hlo.profile.file import dump_profile, parse_profile
    from scalify_hlo.run.calibration import Calibration

    earlier = [parse_profile(read_file(path), display_name(path)) for path in merge]
    calibration = Calibration(read(program))
    for path, profile in zip(merge, earlier, strict=True):
        profile.require(calibration.program, display_name(path))
    with console.progress("Calibrating", quiet=quiet) as progress:
        for done, path in enumerate(inputs):
            progress(done, len(inputs))
            calibration.add(read_arrays(path), path)
    if not quiet:
        console.report_remarks(calibration.remarks, display_name(program))
    write_file(output, dump_profile(_merged(calibration.profile(), earlier)))


def _merged(profile: Profile, earlier: Sequence[Profile]) -> Profile:
    for other in earlier:
        profile = profile.merge(other)
    return profile
