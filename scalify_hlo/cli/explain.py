"""The command `scalify-hlo explain`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalify_hlo.cli import console
from scalify_hlo.cli.options import (
    format_option,
    layouts_option,
    optional_rewrite,
    read,
    target_option,
    timeout_option,
    to_optional,
)
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.storage.files import STREAM, require_writable, same_file, write_file

if TYPE_CHECKING:
    from scalify_hlo.explaining.model import ExplainedMatmul, Explanation
    from scalify_hlo.io.program import Program
    from scalify_hlo.passes.pipeline import Options
    from scalify_hlo.targets.description import Target

_HEADER = ("matmul", "part", "M x N x K", "formats", "kernel", "µs", "in bf16")


@click.command(
    name="explain",
    epilog="Example: scalify-hlo explain step.jax_export --recipe fp8-current --target h200",
)
@click.argument("program", metavar="IN")
@target_option
@optional_rewrite
@click.option(
    "--against",
    metavar="ORIGINAL",
    help="The original of IN, if IN was rewritten before.",
)
@click.option(
    "--check",
    "checked",
    metavar="BOUNDS",
    help="Fail unless these bounds hold, as in 'fp8-flops>=0.95,speedup>=1.2'.",
)
@layouts_option
@timeout_option
@format_option("Print tables, or everything as JSON.")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="Write everything: JSON, or .html for a page.",
)
def command(
    program: str,
    target: str,
    recipe: str | None,
    signature: str,
    input_scale: Sequence[str],
    settings: Sequence[str],
    profile: str | None,
    against: str | None,
    checked: str | None,
    free_layouts: bool,
    timeout: float,
    form: str,
    output: str | None,
) -> None:
    """Show what XLA makes of each matmul of the program IN on a device that need not be there.

    With --recipe, IN is rewritten and compared with itself in bf16: all its matmuls and most other
    values, if it has matmuls of f32. Without, IN is compiled as it is, and compared with ORIGINAL
    in bf16 if that is given.

    Each matmul and convolution is listed with the formats of its operands and its result, or the
    reason why it stays wide; the kernel that XLA chose; and its estimated time. Then follow the
    shares of floating-point operations in FP8 kernels, the kernels by cause, memory, the estimated
    time against bf16, and warnings. Estimates are a roofline: the sum over kernels of the time of
    their matmuls at the peak, or of their bytes at the bandwidth, whichever is longer.

    With --check, the command fails unless all bounds hold. A bound is a name, one of >=, <=, ==, >
    and <, and a number. The names are speedup, speedup-with-launches (2 µs for each kernel),
    fp8-flops, kernels, temporaries, memory, collectives and compile-time, which are over those of
    bf16, and fallbacks and warnings, which are numbers.
    """
    if [program, against].count(STREAM) > 1:
        same_file(STREAM, STREAM)
    from scalify_hlo.explaining.compiled import explain_module
    from scalify_hlo.explaining.device import chosen_target
    from scalify_hlo.explaining.requirements import check_explanation, parse_checks
    from scalify_hlo.targets.description import load_target, plugin_versions

    device = load_target(target)
    plugin_versions(device)
    requirements = parse_checks(checked) if checked is not None else []
    if recipe is not None:
        given = [setting.partition("=")[0] for setting in settings]
        chosen = chosen_target(device, recipe, given)
        settings = [*settings, *(f"{key}={value}" for key, value in chosen.items())]
    options = to_optional(recipe, signature, input_scale, settings, profile)
    if options is not None and against is not None:
        raise UsageError(
            "with --recipe, IN is the original", hint="leave out --against or --recipe"
        )
    form_of = _form(output)
    source = read(program)
    compiling = partial(explain_module, timeout=timeout, free_layouts=free_layouts)
    explained = _explained(source, against, device, options, compiling)
    if output is not None:
        write_file(output, form_of(explained, source.name))
    _print(explained, source.name, form)
    check_explanation(explained, requirements, source.name)


def _explained(
    source: Program,
    against: str | None,
    device: Target,
    options: Options | None,
    explain: Callable[..., Explanation],
) -> Explanation:
    original = None if against is None else read(against).module
    with console.progress("Compiling") as progress:
        return explain(
            source.module,
            device,
            options,
            against=original,
            name=source.name,
            progress=progress,
        )


def _form(output: str | None) -> Callable[[Explanation, str], str]:
    """Returns the function that makes the text of a file, by the suffix of its name.

    Raises:
        UsageError: The suffix is of another form.
        InputError: The file cannot be written.
    """
    from scalify_hlo.explaining.page import explain_page
    from scalify_hlo.explaining.record import dump_explanation

    forms = {"": dump_explanation, ".json": dump_explanation, ".html": explain_page}
    suffix = Path(output).suffix.lower() if output not in (None, STREAM) else ""
    if suffix not in forms:
        raise UsageError(
            f"an explanation cannot be written as {suffix}{nearest(suffix, forms)}",
            hint="the suffixes of the output are: .json, .html",
        )
    if output is not None:
        require_writable(output)
    return forms[suffix]


def _print(explained: Explanation, name: str, form: str) -> None:
    from scalify_hlo.explaining.record import dump_explanation

    if form == "json":
        console.echo(dump_explanation(explained, name), nl=False)
    else:
        console.echo("\n\n".join(_tables(explained)))


def _tables(explained: Explanation) -> Iterator[str]:
    from scalify_hlo.explaining.warnings import warnings_of

    yield console.table(_HEADER, map(_row, explained.matmuls))
    yield _kernels(explained)
    yield console.table(("", explained.target.name), _facts(explained))
    warnings = [f"warning: {text}" for text in warnings_of(explained)]
    if warnings:
        yield "\n".join(warnings)


def _row(each: ExplainedMatmul) -> tuple[str, ...]:
    from scalify_hlo.explaining.warnings import name_of

    matmul, wide = each.matmul, each.matmul.wide
    lhs, rhs, result = matmul.formats
    formats = f"{lhs} {rhs} -> {result}" + (f" ({wide.kind})" if wide else "")
    kernels = ", ".join(dict.fromkeys(k.label for k in each.kernels)) or "with another"
    count = f" ({matmul.calls} calls)" if matmul.calls > 1 else ""
    return (
        name_of(each) + count,
        each.part,
        str(matmul.extent),
        formats,
        kernels,
        _time(each.seconds),
        _time(each.before),
    )


def _kernels(explained: Explanation) -> str:
    """Returns the kernels by cause, beside those of the original."""
    rows = []
    old = explained.original.work.causes if explained.original else {}
    for cause, share in explained.program.work.causes.items():
        before = old.get(cause)
        if share.launches or (before and before.launches):
            row = [cause, f"{share.launches:,}", _mib(share.bytes), _time(share.seconds)]
            if before:
                row += [f"{before.launches:,}", _mib(before.bytes), _time(before.seconds)]
            rows.append(row)
    header = ["kernels", "number", "MiB", "µs"]
    return console.table([*header, *(["in bf16", "MiB", "µs"] if old else [])], rows)


def _facts(explained: Explanation) -> Iterator[tuple[str, str]]:
    program, original = explained.program, explained.original
    yield "multiplies without a conversion", ", ".join(explained.target.native)
    for part, share in explained.shares():
        of = "all matmuls" if part == "all" else part
        yield f"FP8 share of {of}", f"{100 * share:.1f} %"
    if program.work.seconds is not None:
        before = _time(original.work.seconds) if original else ""
        yield "estimated time", _beside(_time(program.work.seconds), before, "µs")
    for name, ratio in (
        ("speed over bf16", explained.speedup),
        ("with 2 µs for each kernel", explained.speedup_with_launches),
        ("at the speeds that kernels reached", explained.speedup_reached),
    ):
        if ratio is not None:
            yield name, f"{ratio:.2f}"
    made, old = program.compiled, original.compiled if original else None
    for name, attribute in (("memory", "peak"), ("of it temporaries", "temporaries")):
        before = _mib(getattr(old, attribute)) if old else ""
        yield name, _beside(_mib(getattr(made, attribute)), before, "MiB")
    yield "compile time", _beside(f"{made.seconds:.1f}", f"{old.seconds:.1f}" if old else "", "s")
    for element, count in program.work.collectives.items():
        yield f"in collectives of {element}", f"{_mib(count)} MiB"


def _beside(new: str, old: str, unit: str) -> str:
    return f"{new} {unit}" + (f" ({old} in bf16)" if old else "")


def _mib(count: int) -> str:
    return f"{count / 2**20:,.1f}"


def _time(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e6:,.1f}"
