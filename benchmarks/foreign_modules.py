"""Modules of other repositories: how many are rewritten, and why others are not.

    python -m benchmarks.foreign_modules CHECKOUT [CHECKOUT ...]   # git directories
    python -m benchmarks.foreign_modules ~/shardy --refused 20

Each `.mlir` file of the newest commit is split at ``// -----``. A module counts if jax's own
parser takes it, if all its ops are of StableHLO, CHLO, MHLO, func or sdy, if all its functions have
a body, and if it has a public function of tensors. It is rewritten by `propagate`, by each of these
as the entry. Other modules that are parsed are counted beside it. A refusal is one sentence
(`InputError` or `UsageError`); anything else is a crash.

Bounds: 98 % of the modules that count are rewritten, and no crash. Exit code 1 if one is missed.
"""

import argparse
import json
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO

import scalify_hlo
from benchmarks.common import Row, report
from scalify_hlo._compat import func, ir, load_mhlo, new_context
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.ir.functions import is_private
from scalify_hlo.program.sandbox import fork

TAKEN = frozenset({"stablehlo", "chlo", "mhlo", "func", "sdy", "builtin"})
LEAST = 0.98
SECONDS = 20
"""The most that the parser may take."""

LONGEST = 1 << 22
"""The most bytes of a file that is read."""


@dataclass
class Counts:
    """The modules of a repository.

    Attributes:
        commit: The commit.
        rewritten: How many are rewritten.
        refused: How often each sentence refuses one.
        crashed: The files and errors of others.
        other: How many have ops of other dialects.
    """

    commit: str
    rewritten: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    crashed: list[str] = field(default_factory=list)
    other: int = 0

    @property
    def counted(self) -> int:
        """The modules that count."""
        return self.rewritten + self.refused.total() + len(self.crashed)


def git(folder: Path, *words: str) -> str:
    """The output of git in a directory."""
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=True)
    return done.stdout.decode(errors="replace")


def modules(folder: Path) -> Iterator[tuple[str, str]]:
    """Yields the name and the text of each module of the newest commit."""
    for line in git(folder, "ls-tree", "-rl", "HEAD").splitlines():
        (*_, size), name = line.split("\t")[0].split(), line.split("\t")[1]
        if name.endswith(".mlir") and size.isdigit() and int(size) <= LONGEST:
            for number, part in enumerate(git(folder, "show", f"HEAD:{name}").split("// -----")):
                yield f"{name}#{number}", part


def entries(text: str) -> list[str] | None:
    """The public functions of a module, none of other dialects; None if jax's parser refuses it."""
    context = new_context()
    load_mhlo(context)
    try:
        with context, ir.Location.unknown():
            module = ir.Module.parse(text)
    except (ir.MLIRError, ValueError):
        return None
    dialects, names = set[str](), list[str]()

    def visit(op: ir.Operation) -> ir.WalkResult:
        dialects.add(op.name.partition(".")[0])
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for op in module.body.operations:
        if isinstance(op, func.FuncOp) and op.is_external:
            return []
        if isinstance(op, func.FuncOp) and not is_private(op):
            types = (*op.type.inputs, *op.type.results)
            if not any(str(type_).startswith(("memref", "vector")) for type_ in types):
                names.append(op.sym_name.value)
    return names if dialects <= TAKEN else []


def write_entries(text: str, out: BinaryIO) -> None:
    """Writes the entries of a module as JSON."""
    out.write(json.dumps(entries(text)).encode())


def measure(folder: Path) -> Counts:
    """Rewrites each module of a repository."""
    counts = Counts(git(folder, "rev-parse", "--short=12", "HEAD").strip())
    for name, text in modules(folder):
        _, written = fork(partial(write_entries, text), SECONDS)
        found = json.loads(written) if written else None  # None where jaxlib's parser crashes
        if found is None:
            continue
        counts.other += not found
        for entry in found:
            try:
                scalify_hlo.rewrite(text, recipe="propagate", entry=entry)
                counts.rewritten += 1
            except (InputError, UsageError) as error:
                counts.refused[str(error).splitlines()[0].split("error: ")[-1]] += 1
            except Exception as error:
                counts.crashed.append(f"{name} {entry}: {type(error).__name__}: {error}")
    return counts


def main() -> int:
    """Measures the checkouts that are named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="CHECKOUT")
    parser.add_argument("--refused", type=int, default=5, help="sentences printed for each")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    total = Counts("")
    print(f"{'repository':32}{'commit':14}{'count':>7}{'rewritten':>11}{'others':>8}")
    for folder in options.folders:
        own = measure(folder)
        name = folder.parent.name if folder.name == "repo" else folder.name
        print(f"{name:32}{own.commit:14}{own.counted:>7}{own.rewritten:>11}{own.other:>8}")
        for sentence, count in own.refused.most_common(options.refused):
            print(f"    {count:>5}  {sentence[:120]}")
        for crash in own.crashed:
            print(f"    CRASH  {crash[:160]}", flush=True)
        total.rewritten += own.rewritten
        total.refused += own.refused
        total.crashed += own.crashed
    share = 1 - total.rewritten / max(total.counted, 1)
    rows = [
        Row("modules, by entry", total.counted, form=".0f"),
        Row("share that is not rewritten", share, 1 - LEAST),
        Row("crashes", len(total.crashed), 0, ".0f"),
    ]
    return report("Modules of other repositories", rows)


if __name__ == "__main__":
    sys.exit(main())
