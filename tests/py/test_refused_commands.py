"""Commands that run a program refuse in a sentence what they cannot do, and write nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.py import choosing
from tests.py.choosing import batch, good_step, parameters
from tests.py.commands import call

IN = "step.jax_export --inputs"
BF16 = "--recipe bf16 --budget wide<=1"
REFUSED: dict[str, tuple[int, str]] = {
    f"blame {IN} x.npz --recipe fp9": (2, "no recipe is named 'fp9'"),
    f"blame {IN} x.npz --recipe propagate": (1, "the recipe propagate quantizes no matmul"),
    f"blame {IN} x.npz --recipe unit --runs 1": (2, "1 runs are too few"),
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
    f"compare {IN} x.npz -o out.json --steps 0": (2, "0 steps"),
    f"compare {IN} x.npz -o out.json --seeds 0": (2, "0 seeds"),
    f"compare {IN} x.npz -o out.json --carry all": (2, "'all'"),
    f"compare {IN} x.npz -o out.json --snr good": (2, "'good'"),
    f"compare {IN} x.npz -o out.json --recipes ,": (2, "no recipes"),
    f"compare {IN} number.npz --recipes bf16": (2, "the inputs have no array for the argument"),
    f"stats {IN} x.npz -o out.json --values *tahn*": (2, "matches no float value"),
    f"stats {IN} x.npz -o out.json --steps 0": (2, "0 steps"),
    f"stats {IN} x.npz -o out.json --set matmul.smallest=4": (2, "and there is no --recipe"),
    f"stats {IN} x.npz -o out.json --recipe fp9": (2, "fp9"),
    f"stats {IN} x.npz -o out.json --carry all": (2, "'all'"),
}
"""Lines, with the code that they exit with and a part of the message."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program, its inputs, and inputs with one fault each."""
    folder = tmp_path_factory.mktemp("refused")
    choosing.write(good_step, folder)
    named = {f"params['{name}']": array for name, array in parameters().items()}
    x, y = batch()
    np.savez(folder / "shape.npz", **named, x=x[:3], y=y)
    np.savez(folder / "dtype.npz", **named, x=x.astype(np.complex64), y=y)
    np.savez(folder / "number.npz", **named, x=x)
    return folder


@pytest.mark.parametrize("line", REFUSED)
def test_a_command_refuses_in_a_sentence(
    folder: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir())
    code, message = REFUSED[line]
    done = call(*line.split(), code=code)
    assert message in done.output
    assert "Traceback" not in done.output
    assert sorted(path.name for path in folder.iterdir()) == before
