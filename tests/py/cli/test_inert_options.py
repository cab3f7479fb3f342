"""An option of a command that can do nothing is refused, or told, as the page of commands says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import jax
import jax.export
import numpy as np
import pytest

from scalify_hlo.cli.main import main
from tests.py.shared import commands
from tests.py.shared.commands import call
from tests.py.shared.judge import program_of
from tools.inert_options import ALWAYS, INERT

IN, X = "step.export", "--inputs x.npz"
CHECK = f"check {IN} fp8.export"
STATS, NAN = f"stats {IN} {X} -o out.json", f"bisect-nan {IN} {X}"
COMPARE = f"compare {IN} {X} --recipes fp8-current"
BLAME, SEARCH = f"blame {IN} {X} --recipe", f"search {IN} {X} --budget wide<=1 --recipe"
REWRITE = f"rewrite {IN} -o out.export --recipe"
OPT = f"opt {IN} --pass-pipeline=scalify-normalize --verify-diagnostics"
LINES = (
    f"{REWRITE} fp8 --entry inner",
    f"{STATS} --signature scaled",
    f"{NAN} --input-scale x=2",
    f"{STATS} --set matmul.smallest=4",
    f"explain {IN} --target cpu --profile p.json",
    f"{STATS} --residuals auto",
    f"{STATS} --dim b=16",
    f"stats {IN} -o out.json --dim b=16",
    "check sym.export sym.export --dim b=16 --dim c=2",
    f"{REWRITE} fp8 --input-scale z=2^2",
    "rewrite int.export -o out.export --recipe fp8 --input-scale i=2^2",
    f"{CHECK} --input-scale x=2",
    f"{REWRITE} bf16 --input-values x.npz",
    f"{REWRITE} fp8 --input-values more.npz",
    f"calibrate {IN} -o out.json --inputs more.npz",
    f"{REWRITE} fp8-current --optimize",
    f"{REWRITE} fp8 --residuals auto",
    f"{REWRITE} propagate --target h200",
    f"{BLAME} propagate",
    f"{SEARCH} propagate",
    f"{REWRITE} fp8 --set scaling.margin=2",
    f"{BLAME} fp8-current --profile p.json",
    f"{CHECK} --profile p.json",
    f"{CHECK} --per-value --profile p.json",
    f"check {IN} {IN} --per-value",
    f"{STATS} {X}",
    f"{CHECK} {X} {X}",
    f"{NAN} --carry state",
    f"{COMPARE} --within 0.1",
    f"{COMPARE} --steps 2",
    f"{COMPARE} --seeds 2",
    f"{CHECK} --steps 2",
    f"{CHECK} --steps 2 {X} --seed 1",
    f"{CHECK} --steps 2 {X} --scale 2",
    f"{CHECK} --steps 2 {X} --rtol 1",
    f"{CHECK} --steps 2 {X} --max-ulp 1",
    f"{CHECK} --steps 2 {X} --min-snr 1",
    f"{CHECK} --steps 2 {X} --per-value",
    f"{CHECK} --steps 2 {X} --input-scale x=2",
    f"{CHECK} {X} --seed 1",
    f"{CHECK} --scale 2^2",
    f"{COMPARE} --format json --rows 3",
    f"inspect {IN} --format json --arguments",
    f"inspect {IN} --format json --matmuls",
    f"inspect {IN} --format json --lint",
    f"inspect {IN} --format json --sites",
    f"inspect {IN} --recipe propagate --sites",
    f"inspect {IN} --name z",
    f"inspect {IN} --exclude z",
    f"inspect {IN} --role wgrad",
    f"inspect {IN} --wide",
    f"{STATS} --values z",
    f"compile {IN} --target cpu -o out --free-layouts",
    f"compile {IN} --target cpu -o out --devices 4",
    f"explain {IN} --target cpu --recipe fp8 --against {IN}",
    "rules --format json --markdown",
    "recipes fp8 --markdown",
    "recipes coat --literature",
    "recipes --all",
    "recipes --set compute=bf16",
    f"{OPT} --mlir-print-debuginfo",
    f"{OPT} --output out.mlir",
)
"""A line for each option of each condition, in their order."""
CONDITIONS = [(each, option) for each in INERT for option in each.options]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inert")
    commands.write(folder)
    x, i = np.load(folder / "x.npz")["x"], np.arange(4, dtype=np.int32)
    np.savez(folder / "more.npz", x=x, w=x, z=x)
    rows = jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 32"), np.float32)
    (folder / "sym.export").write_bytes(program_of(commands.step, rows, x).serialize())
    (folder / "int.export").write_bytes(program_of(lambda i, x: x[i] @ x, i, x).serialize())
    call("calibrate", folder / IN, "--inputs", folder / "x.npz", "-o", folder / "p.json", code=0)
    return folder


@pytest.mark.parametrize("number", range(len(CONDITIONS)), ids=lambda n: CONDITIONS[n][1])
def test_an_option_without_effect_is_told(
    folder: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    condition, option = CONDITIONS[number]
    assert option in LINES[number]
    done = call(*LINES[number].split(), code=condition.code)
    assert condition.told in done.output
    if condition.code:
        error, note = done.stderr.splitlines()[-2:]
        assert "error: " in error
        assert "note: " in note


def test_every_option_is_in_the_table() -> None:
    context = click.Context(main)
    every = [main.get_command(context, name) for name in main.list_commands(context)]
    known = {
        param.opts[-1]
        for command in every
        if command is not None
        for param in command.params
        if isinstance(param, click.Option)
    }
    listed = {option for each in INERT for option in each.options}
    others = Counter(" ".join(ALWAYS).split())
    assert listed | others.keys() == known
    assert listed.isdisjoint(others)
    assert others.most_common(1)[0][1] == 1
    assert len(LINES) == len(CONDITIONS)
