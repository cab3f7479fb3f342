"""`scalify-hlo explain`: show what a compiler makes of each matmul, and its estimated time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import Compiling, WithOptionalRewrite, WithRows
from scalify_hlo.errors import UsageError
from scalify_hlo.recipes.fields import option
from scalify_hlo.results.model import cells, headers, mebibytes, microseconds
from scalify_hlo.storage.files import form_of, write_file

if TYPE_CHECKING:
    from scalify_hlo.commands.explain.memory import Memory
    from scalify_hlo.commands.explain.model import ExplainedMatmul, Explanation
    from scalify_hlo.targets.description import Target

_HEADER = ("matmul", "M x N x K", "formats", "kernel", "µs", "in bf16")
_LESS = ("M x N x K", "in bf16")


@command("scalify-hlo explain step.jax_export --recipe fp8-current --target h200")
class Explain(Compiling, WithOptionalRewrite, WithRows):
    """Show what XLA makes of each matmul of the program IN on a device that need not be there.

    With --recipe, IN is rewritten and compared with itself in bf16: all its matmuls and most other
    values, if it has matmuls of f32. Without, IN is compiled as it is, and compared with ORIGINAL
    in bf16 if that is given.

    Each matmul and convolution is listed with the formats of its operands and its result, or the
    reason why it stays wide; the kernel that XLA chose; and its estimated time. Then follow the
    shares of floating-point operations in FP8 kernels, the kernels by cause, memory, the estimated
    time against bf16, and warnings. Estimates are a roofline: the sum over kernels of the time of
    their matmuls at the peak, or of their bytes at the bandwidth, whichever is longer.

    With --memory, a table has what the program holds at its peak of memory, the largest first:
    arguments, state, results, residuals, gradients, temporaries and workspaces of libraries. A
    residual is a value of the forward pass that the backward pass reads, with its first reader
    there. Then follow the bytes of each kind, beside those of the original in bf16.

    With --check, the command fails unless all bounds hold. A bound is a name, one of >=, <=, ==, >
    and <, and a number. The names are speedup, speedup-with-launches (2 µs for each kernel),
    fp8-flops, kernels, temporaries, memory, collectives and compile-time, which are over those of
    bf16, and fallbacks and warnings, which are numbers.

    Attributes:
        against: The original of IN, if IN was rewritten before.
        memory: List what is in memory at the peak.
        check: Fail unless these bounds hold, as in 'fp8-flops>=0.95,speedup>=1.2'.
        output: Write everything: JSON, or .html for a page.
    """

    against: str | None = option(None, metavar="ORIGINAL", reads=True)
    memory: bool = False
    check: str | None = option(None, metavar="BOUNDS")
    output: str | None = option(None, metavar="OUT", short="-o", writes=True)

    def run(self) -> None:
        """See `Command.run`."""
        from scalify_hlo.commands.explain.page import explain_page
        from scalify_hlo.commands.explain.record import CHECKS, ExplainRecord, dump_explanation

        device = self.device()
        required = CHECKS.parse(self.check)
        forms = {".json": dump_explanation, ".html": explain_page}
        form = form_of(self.output, "an explanation", forms)
        explained, name = self._explained(device)
        if self.output is not None:
            write_file(self.output, form(explained, name))
        console.echo(self.text(ExplainRecord(explained), lines(explained, self.rows), name))
        CHECKS.check(explained, required, name)

    def _explained(self, device: Target) -> tuple[Explanation, str]:
        """Returns the explanation of the program, and its name."""
        from scalify_hlo.commands.explain.compiled import CompileOptions, explain_module
        from scalify_hlo.commands.explain.device import chosen_target

        settings = self.keyed
        if self.recipe is not None:
            settings |= chosen_target(device, self.recipe, settings)
        options = self.optional(settings)
        if options is not None and self.against is not None:
            raise UsageError(
                "with --recipe, IN is the original", hint="leave out --against or --recipe"
            )
        source = self.sized(self.program)
        original = None if self.against is None else self.sized(self.against).module
        with console.progress("Compiling") as progress:
            how = CompileOptions(device, self.timeout, self.free_layouts, self.memory)
            explained = explain_module(source, how, options, against=original, progress=progress)
        return explained, source.name


def lines(explained: Explanation, rows: int) -> Iterator[str]:
    """Yields the matmuls that take the most time, and what is known of the whole program."""
    from scalify_hlo.commands.explain.model import BEFORE_COLUMNS, CAUSE_COLUMNS
    from scalify_hlo.commands.explain.record import warnings_of

    largest = sorted(explained.matmuls, key=lambda m: (-(m.seconds or 0), -(m.matmul.flops or 0)))
    yield from (*console.table(_HEADER, map(_row, largest), rows, less=_LESS), "")
    columns = " ".join([CAUSE_COLUMNS, *([BEFORE_COLUMNS] if explained.original else [])])
    causes = [cells(each, columns) for each in explained.causes]
    yield from (*console.table(headers(columns), causes), "")
    yield from console.table(("", explained.target.name), _facts(explained))
    if explained.memory is not None:
        yield from _memory(explained.memory, explained.memory_in_bf16, rows)
    yield from _warnings(warnings_of(explained), rows)


def _memory(memory: Memory, before: Memory | None, rows: int) -> Iterator[str]:
    """Yields what is in memory at the peak, and the bytes of each kind."""
    from scalify_hlo.commands.explain.memory import HELD_COLUMNS

    held = [cells(each, HELD_COLUMNS) for each in memory.grouped]
    title = "in memory at the peak"
    yield from console.titled(title, headers(HELD_COLUMNS), held, rows, less=("at",))
    sizes = [each for each in (memory, before) if each is not None]
    kinds = [kind for kind in memory.kinds if any(each.kinds[kind] for each in sizes)]
    totals = [(kind, *(mebibytes(each.kinds[kind]) for each in sizes)) for kind in kinds]
    totals.append(("all", *(mebibytes(each.bytes) for each in sizes)))
    yield from ("", *console.table(("kind", "MiB", "in bf16")[: 1 + len(sizes)], totals))


def _warnings(warnings: Iterable[str], rows: int) -> Iterator[str]:
    """Yields the first warning of each kind, with the number of others."""
    kinds: dict[str, list[str]] = {}
    for warning in warnings:
        kinds.setdefault(warning.rpartition(": ")[2] if rows else warning, []).append(warning)
    if kinds:
        yield ""
    for first, *others in list(kinds.values())[: rows // 3 or None]:
        yield f"warning: {first}{f' (and {len(others)} more)' if others else ''}"
    if rows and len(kinds) > rows // 3:
        yield f"{len(kinds) - rows // 3} more kinds of warnings; --rows 0 prints all"


def _row(each: ExplainedMatmul) -> tuple[str, ...]:
    matmul, wide = each.matmul, each.matmul.wide
    lhs, rhs, result = matmul.formats
    formats = f"{lhs} {rhs} -> {result}" + (f" ({wide.kind})" if wide else "")
    count = f" ({matmul.calls} calls)" if matmul.calls > 1 else ""
    times = microseconds(each.seconds), microseconds(each.before)
    return (matmul.name + count, str(matmul.extent), formats, each.labels, *times)


def _facts(explained: Explanation) -> Iterator[tuple[str, str]]:
    program, original = explained.program, explained.original
    yield "multiplies without a conversion", ", ".join(explained.target.native)
    for part, share in explained.shares():
        of = "all matmuls" if part == "all" else part
        yield f"FP8 share of {of}", f"{100 * share:.1f} %"
    if program.work.seconds is not None:
        before = microseconds(original.work.seconds) if original else ""
        yield "estimated time", _beside(microseconds(program.work.seconds), before, "µs")
    for name, ratio in (
        ("speed over bf16", explained.speedup),
        ("with 2 µs for each kernel", explained.speedup_with_launches),
        ("at the speeds that kernels reached", explained.speedup_reached),
    ):
        if ratio is not None:
            yield name, f"{ratio:.2f}"
    made, old = program.compiled, original.compiled if original else None
    for name, attribute in (("memory", "peak"), ("of it temporaries", "temporaries")):
        before = mebibytes(getattr(old, attribute)) if old else ""
        yield name, _beside(mebibytes(getattr(made, attribute)), before, "MiB")
    yield "compile time", _beside(f"{made.seconds:.1f}", f"{old.seconds:.1f}" if old else "", "s")
    for element, count in program.work.collectives.items():
        yield f"in collectives of {element}", f"{mebibytes(count)} MiB"


def _beside(new: str, old: str, unit: str) -> str:
    return f"{new} {unit}" + (f" ({old} in bf16)" if old else "")
