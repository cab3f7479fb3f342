"""`scalify-hlo compile`: compile a program for a described device, and estimate its time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import Compiling
from scalify_hlo.recipes.fields import Count, option

_HLO: Final = "optimized.hlo"
_REPORT: Final = "report.json"


@command("scalify-hlo compile step.jax_export --target h200 -o compiled")
class Compile(Compiling):
    """Compile the program IN for a device that need not be there.

    The optimized HLO and a report go to a folder, which is written whole or not at all: memory,
    floating-point operations by format, bytes, kernels by cause, and an estimate of the time by a
    roofline. XLA compiles in a process of its own. All targets but cpu need an extra: install
    scalify-hlo[cuda] or scalify-hlo[tpu].

    Attributes:
        output: The folder for optimized.hlo and report.json.
        devices: How many devices the program is for; by default as many as it says.
    """

    output: str = option(metavar="DIR", short="-o")
    devices: Count | None = None

    def run(self) -> None:
        """See `Command.run`."""
        from scalify_hlo.results.model import content, dump
        from scalify_hlo.storage.files import require_folder, write_folder
        from scalify_hlo.targets.compiling import compile_program, require_fits
        from scalify_hlo.targets.record import CompileRecord, Program

        device = self.device()
        require_folder(self.output, frozenset({_HLO, _REPORT}))
        source = self.sized(self.program)
        with console.progress("Compiling") as progress:
            compiled = compile_program(
                source.module,
                device,
                name=source.name,
                devices=self.devices,
                timeout=self.timeout,
                free_layouts=self.free_layouts,
                progress=progress,
            )
        require_fits(compiled, device, source.name)
        record = CompileRecord(Program.of(compiled, device))
        report = dump(record, source.name)
        write_folder(self.output, {_HLO: compiled.hlo, _REPORT: report})
        lines = _lines(content(record, source.name))
        console.echo(self.text(record, lines, source.name))


def _lines(record: dict[str, Any]) -> Iterator[str]:
    """Yields the facts of a report, one on a line, and the kernels by cause."""
    rows = [(name, text) for name, text in _facts(record) if text]
    yield from (*console.table(("what", record["target"]), rows), "")
    causes = [
        (cause, f"{share['launches']:,}", _mib(share["bytes"]), _time(share["us"]))
        for cause, share in record["causes"].items()
        if share["launches"]
    ]
    yield from console.table(("kernels", "launches", "bytes", "estimate"), causes)


def _facts(record: dict[str, Any]) -> list[tuple[str, str]]:
    memory, estimate = record["memory"], record["estimate"]
    flops = {key: f"{count:.4g} ({key})" for key, count in record["flops"].items()}
    collectives = [f"{_mib(count)} ({key})" for key, count in record["collectives"].items()]
    share = record["f8_share"]
    return [
        ("devices", str(record["devices"])),
        ("compile time", f"{record['compile_s']:.1f} s"),
        ("memory", _mib(memory["peak"])),
        ("of it temporaries", _mib(memory["temporaries"])),
        ("matmul flops", ", ".join(flops.values()) or "none"),
        ("f8 share of them", "" if share is None else f"{100 * share:.1f} %"),
        ("bytes moved", _mib(record["bytes"]["read"] + record["bytes"]["written"])),
        ("in collectives", ", ".join(collectives)),
        ("kernels", f"{record['launches']:,}"),
        ("estimated time", _time(estimate["us"])),
        (
            f"with {estimate['us_of_a_launch']:g} µs for each kernel",
            _time(estimate["us_with_launches"]),
        ),
        ("at the speeds that kernels reached", _time(estimate["us_reached"])),
        ("loops counted once", str(record["loops_of_unknown_length"] or "")),
    ]


def _mib(count: int) -> str:
    return f"{count / 2**20:,.2f} MiB"


def _time(microseconds: float | None) -> str:
    return "" if microseconds is None else f"{microseconds:,.1f} µs"
