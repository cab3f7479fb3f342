"""The suffix of an output file chooses its kind."""

from __future__ import annotations

from pathlib import Path

import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo.program.program import Kind, read_program
from tests.py.shared.commands import call
from tests.py.shared.judge import program_of

SUFFIXES = {
    ".mlir": Kind.TEXT,
    ".mlirbc": Kind.BYTECODE,
    ".vhlo": Kind.ARTIFACT,
    ".export": Kind.EXPORTED,
    ".jax_export": Kind.EXPORTED,
    ".bin": None,
    "": None,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[Kind, Path]:
    exported = program_of(lambda x: x @ x, jnp.ones((32, 32)))
    folder = tmp_path_factory.mktemp("kinds")
    made = {Kind.EXPORTED: folder / "in.export", Kind.TEXT: folder / "in.mlir"}
    made[Kind.EXPORTED].write_bytes(scalify_hlo.serialize(exported))
    made[Kind.TEXT].write_text(exported.mlir_module())
    for suffix in (".mlirbc", ".vhlo"):
        made[SUFFIXES[suffix] or Kind.TEXT] = path = folder / f"in{suffix}"
        call("rewrite", made[Kind.TEXT], "--recipe", "propagate", "-o", path, code=0)
    return made


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("given", [Kind.EXPORTED, Kind.TEXT, Kind.BYTECODE, Kind.ARTIFACT])
def test_an_output_is_of_the_kind_of_its_suffix(
    files: dict[Kind, Path], given: Kind, suffix: str, tmp_path: Path
) -> None:
    out = tmp_path / f"out{suffix}"
    wanted = SUFFIXES[suffix] or given
    code = 0 if wanted is not Kind.EXPORTED or given is Kind.EXPORTED else 2
    done = call("rewrite", files[given], "-o", out, "--again", code=code)
    if code:
        assert "name the file .mlir, .mlirbc or .vhlo" in done.stderr
        assert not out.exists()
        return
    read = read_program(out.read_bytes())
    assert read.kind is wanted
    assert "f8E4M3FN" in str(read.module)


def test_a_version_belongs_to_an_artifact(files: dict[Kind, Path], tmp_path: Path) -> None:
    how = ("rewrite", files[Kind.TEXT], "--target-version", "current", "-o")
    assert "name the file .vhlo" in call(*how, tmp_path / "out.mlir", code=2).stderr
    call(*how, tmp_path / "out.vhlo", code=0)
