"""Commands that run a program refuse in a sentence what they cannot do, and write nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import scalify_hlo
from tests.py.shared import choosing
from tests.py.shared.choosing import batch, good_step, parameters
from tests.py.shared.commands import call

IN = "step.jax_export --inputs"
REWRITE = "rewrite step.jax_export -o out.json"
BF16 = "--recipe bf16 --budget wide<=1"
REFUSED: dict[str, tuple[int, str]] = {
    f"blame {IN} x.npz --recipe fp9": (2, "no recipe is named 'fp9'"),
    f"blame {IN} x.npz --recipe propagate": (1, "the recipe propagate quantizes no matmul"),
    f"blame {IN} x.npz --recipe unit --runs 1": (2, "at least 5, and not 1"),
    f"blame {IN} x.npz --recipe unit -o better.json": (2, "does not end in .toml"),
    f"blame {IN} x.npz --recipe unit --inputs x.npz": (2, "there are inputs of 2 steps"),
    f"blame {IN} x.npz": (2, "--recipe"),
    f"search {IN} x.npz --recipe fp9 --budget narrow>=0.5": (2, "no recipe is named 'fp9'"),
    f"search {IN} x.npz --recipe unit": (2, "--budget"),
    f"search {IN} x.npz --recipe unit --budget narrow": (2, "'narrow' is not a requirement"),
    f"search {IN} x.npz --recipe propagate --budget wide<=1": (1, "quantizes no matmul"),
    f"search {IN} x.npz --recipe bf16 --budget wide<0": (1, "wide<0 is required, and the number"),
    f"search {IN} x.npz {BF16} -o a.json": (2, "does not end in .toml"),
    f"search {IN} x.npz {BF16} --inputs x.npz": (2, "inputs of 2 steps"),
    f"search {IN} shape.npz {BF16}": (2, "'x' is float32[3, 64]"),
    f"search {IN} dtype.npz {BF16}": (2, "'x' is complex64"),
    f"search {IN} number.npz {BF16}": (2, "for the argument 'y'"),
    f"compare {IN} x.npz -o out.json --recipes fp9": (2, "no recipe is named 'fp9'"),
    f"compare {IN} x.npz -o out.json --steps 0": (2, "--steps takes a whole number"),
    f"compare {IN} x.npz -o out.json --seeds 0": (2, "--seeds takes a whole number"),
    f"compare {IN} x.npz -o out.json --carry all": (2, "'all'"),
    f"compare {IN} x.npz -o out.json --snr good": (2, "'good'"),
    f"compare {IN} x.npz -o out.json --recipes ,": (2, "no recipes"),
    f"compare {IN} number.npz --recipes bf16": (2, "the inputs have no array for the argument"),
    f"stats {IN} x.npz -o out.json --values *tahn*": (2, "matches no float value"),
    f"stats {IN} x.npz -o out.json --steps 0": (2, "--steps takes a whole number"),
    f"stats {IN} x.npz -o out.json --set matmul.smallest=4": (2, "and there is no --recipe"),
    f"stats {IN} x.npz -o out.json --recipe fp9": (2, "fp9"),
    f"stats {IN} x.npz -o out.json --carry all": (2, "'all'"),
    f"stats {IN} x.npz --turns eahc": (2, "(did you mean 'each'?)"),
    f"stats {IN} shape.npz": (2, "for 'x' is float32[3, 64], and the argument float32[64"),
    f"stats {IN} number.npz": (2, "no array for the argument 'y'"),
    f"stats {IN} more.npz": (2, "'z', which is no argument"),
    f"stats {IN} x.npz -o stats.htm": (2, "cannot be written as .htm (did you mean '.html'?)"),
    f"stats {IN} x.npz -o stats.pdf": (2, "statistics cannot be written as .pdf"),
    f"check {IN} number.npz step.jax_export": (2, "no array for the argument 'y'"),
    f"check {IN} shape.npz step.jax_export": (2, "the array for 'x' is float32[3, 64]"),
    f"check {IN} more.npz step.jax_export": (2, "'z', which is no argument"),
    f"check {IN} x.npz step.jax_export --per-value": (2, "records no rewrites"),
    f"check {IN} x.npz step.jax_export --per-value --profile none.json": (1, "none.json"),
    f"check {IN} x.npz step.jax_export --seed -1": (2, "a whole number, at least 0, and not '-1'"),
    f"check {IN} x.npz step.jax_export --rtol inf": (2, "a finite number, and not 'inf'"),
    "compile step.jax_export --target h20 -o out": (1, "is named 'h20' (did you mean 'h200'"),
    "inspect step.jax_export --exclude *haed*": (2, "--exclude '*haed*' matches no matmul"),
    "inspect step.jax_export --name params['frist']": (2, "did you mean \"params['first']\""),
    "inspect step.jax_export --role wieght": (2, "(did you mean 'weight'?)"),
    "inspect step.jax_export --sort sizes": (2, "'sizes' is not a value of --sort"),
    "inspect step.jax_export --format yaml": (2, "'yaml' is not a value of --format"),
    f"bisect-nan {IN} x.npz --steps 0": (2, "--steps takes a whole number"),
    f"bisect-nan {IN} x.npz --only nans": (2, "nans"),
    f"bisect-nan {IN} x.npz --set matmul.smallest=4": (2, "there is no --recipe"),
    f"bisect-nan {IN} x.npz --recipe fp9": (2, "fp9"),
    "bisect-nan none.mlir --inputs none.npz --carry state": (2, "no result of the program is an"),
    f"bisect-nan {IN} shape.npz": (2, "for 'x' is float32[3, 64], and the argument float32[64"),
    "explain step.jax_export --target h20": (1, "is named 'h20' (did you mean 'h200'"),
    "explain step.jax_export --target cpu --set compute=bf16": (2, "--set is for a rewrite"),
    "explain step.jax_export --target cpu --signature scaled": (2, "--signature is for a rewrite"),
    "explain step.jax_export --target cpu --recipe propagate": (2, "quantizes no matmul"),
    "explain step.jax_export --target cpu --recipe fp8 --against x": (2, "IN is the original"),
    "explain step.jax_export --target cpu --check speed": (2, "'speed' is not a requirement"),
    "calibrate step.jax_export -o out.json --dim b": (2, "--dim b has no size from 1"),
    f"calibrate {IN} 0.npz -o out.json": (1, "0.npz: error: cannot read the file"),
    f"calibrate {IN} text.json -o out.json": (1, "text.json: error: this is not an .npz file"),
    f"calibrate {IN} shape.npz -o out.json": (2, "shape.npz: error: the array for 'x' is float3"),
    f"calibrate {IN} x.npz -o out.json --merge text.json": (
        1,
        "text.json: error: this is not a JS",
    ),
    f"calibrate {IN} x.npz -o out.json --merge other.json": (1, "other.json: error: this is a pro"),
    f"calibrate {IN} x.npz -o out.json --merge none.json": (1, "none.json: error: cannot read"),
    f"calibrate {IN} - -o out.json --merge -": (2, "only one of the inputs can be standard"),
    f"calibrate {IN} x.npz -o no/where.json": (1, "cannot write the output"),
    f"{REWRITE} --input-values shape.npz": (2, "the array for 'x' is float32[3, 64]"),
    f"{REWRITE} --input-values number.npz": (2, "no array for the argument 'y'"),
    f"{REWRITE} --input-values more.npz": (2, "an array 'z', which is no argument"),
    f"{REWRITE} --input-values text.json": (1, "not an .npz file of arrays"),
    f"{REWRITE} --profile none.json": (1, "none.json: error: cannot read the file"),
    f"{REWRITE} --profile text.json": (1, "text.json: error: this is not a JSON"),
    f"{REWRITE} --profile half.json": (1, "half.json: error: "),
    f"{REWRITE} --profile other.json": (1, "error: this is a profile of another program"),
    f"{REWRITE} --recipe fp8-calibrated": (2, "error: the recipe fp8-calibrated takes its"),
    f"{REWRITE} --profile p.json --set scaling.methods=*=x": (2, "gives no method"),
    f"{REWRITE} --profile p.json --set scaling.methods=no=mse": (2, "matches no operand"),
    f"{REWRITE} --profile p.json --set scaling.method=no": (2, "is not a value of"),
}
"""Lines, with the code that they exit with and a part of the message."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program, its inputs and its profile, and inputs and profiles with one fault each."""
    folder = tmp_path_factory.mktemp("refused")
    choosing.write(good_step, folder)
    named = {f"params['{name}']": array for name, array in parameters().items()}
    x, y = batch()
    np.savez(folder / "shape.npz", **named, x=x[:3], y=y)
    np.savez(folder / "dtype.npz", **named, x=x.astype(np.complex64), y=y)
    np.savez(folder / "number.npz", **named, x=x)
    np.savez(folder / "more.npz", **named, x=x, y=y, z=y)
    (folder / "none.mlir").write_text("func.func @main(%x: tensor<2xf32>) { return }")
    np.savez(folder / "none.npz", x[0, :2])
    profile = scalify_hlo.calibrate(choosing.exported(good_step), [(parameters(), x, y)])
    text = scalify_hlo.dump_profile(profile)
    (folder / "p.json").write_text(text)
    (folder / "half.json").write_text(text.replace("amax", "max"))
    (folder / "other.json").write_text(text.replace(profile.program, "0" * 32))
    (folder / "text.json").write_text("no")
    (folder / "out.json").write_text("as it was")
    return folder


@pytest.mark.parametrize("line", REFUSED)
def test_a_command_refuses_in_a_sentence(
    folder: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir())
    code, message = REFUSED[line]
    done = call(*line.split(), code=code)
    error, note = done.stderr.splitlines()
    assert message in error
    assert "note: " in note
    assert sorted(path.name for path in folder.iterdir()) == before
    assert (folder / "out.json").read_text() == "as it was"
