"""The suffix of an output file chooses its kind."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
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
    call("rewrite", files[given], "-o", out, "--again", code=0)
    read = read_program(out.read_bytes())
    assert read.kind is wanted
    assert "f8E4M3FN" in str(read.module)


def test_a_version_belongs_to_an_artifact(files: dict[Kind, Path], tmp_path: Path) -> None:
    how = ("rewrite", files[Kind.TEXT], "--target-version", "current", "-o")
    assert "name the file .vhlo" in call(*how, tmp_path / "out.mlir", code=2).stderr
    call(*how, tmp_path / "out.vhlo", code=0)


class TestExportedOfModules:
    def test_are_called_with_flat_arrays_on_any_platform(self, tmp_path: Path) -> None:
        x, n = np.full((32, 32), 0.5, np.float64), np.arange(3)
        with jax.enable_x64(True):
            step = jax.jit(lambda p, n: (p["w"] @ p["w"], n + 1), donate_argnums=0)
            text = step.lower({"w": x}, n).as_text()
        (tmp_path / "in.mlir").write_text(text.replace("@main", "@step"))
        how = ("rewrite", tmp_path / "in.mlir", "--recipe", "propagate", "-o")
        call(*how, tmp_path / "out.export", code=0)
        made = scalify_hlo.deserialize((tmp_path / "out.export").read_bytes())
        with jax.enable_x64(True):
            product, more = made.call(x, n)
            np.testing.assert_array_equal(product, x @ x)
            np.testing.assert_array_equal(more, n + 1)
        assert list(made.disabled_safety_checks) == [jax.export.DisabledSafetyCheck.platform()]
        call("check", tmp_path / "in.mlir", tmp_path / "out.export", code=0)

    def test_of_one_result_return_it_and_take_pairs(self, tmp_path: Path) -> None:
        text = program_of(lambda x, w: x @ w, jnp.ones((4, 32)), jnp.ones((32, 32))).mlir_module()
        (tmp_path / "in.mlir").write_text(text)
        how = ("rewrite", tmp_path / "in.mlir", "--signature", "scaled", "-o")
        call(*how, tmp_path / "out.export", code=0)
        made = scalify_hlo.deserialize((tmp_path / "out.export").read_bytes())
        pairs = scalify_hlo.scaled_state(made, (jnp.ones((4, 32)), jnp.ones((32, 32))))
        np.testing.assert_array_equal(scalify_hlo.asarray(made.call(*pairs)), np.full((4, 32), 32))

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("func.func @main(%x: tensor<?xf32>) { return }", "has dynamic shapes"),
            ("func.func @main(%x: !stablehlo.token) { return }", "which cannot be fed"),
            (
                'func.func @main(%x: tensor<i32> {jax.global_constant = "_platform_index"}) '
                "{ return }",
                "has arguments that jax itself passes",
            ),
            (
                "module attributes {mhlo.num_partitions = 2 : i32} "
                "{ func.func @main(%x: tensor<4xf32>) { return } }",
                "is for several devices",
            ),
        ],
    )
    def test_say_why_there_are_none(self, tmp_path: Path, text: str, told: str) -> None:
        (tmp_path / "in.mlir").write_text(text)
        out = tmp_path / "out.export"
        how = ("rewrite", tmp_path / "in.mlir", "--recipe", "propagate", "-o", out)
        assert told in call(*how, code=1).stderr
        assert not out.exists()
