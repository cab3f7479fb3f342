"""Every example's training step trains as before when it is rewritten, and inference infers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import scalify_hlo
from examples import cnn, data, demo, gpt2, mlp, stats_page
from examples.side_by_side import Contender, train
from examples.xla import Executable, flat
from tests.py.shared.judge import propagated, stablehlo_of

pytestmark = pytest.mark.slow

CONFIG = gpt2.Config(layers=2, width=32, heads=2, sequence=16, vocab=data.VOCAB, batch=2)
TOKENS = next(data.batches(CONFIG.batch, CONFIG.sequence, 1))
FEATURES = np.random.default_rng(0).standard_normal((8, 12), dtype=np.float32)
IMAGES = np.random.default_rng(1).standard_normal((4, 8, 8, 3), dtype=np.float32)
SIZES = (12, 16, 10)
STEPS = 3


def gpt2_state(optimizer: Any, tied: bool = True) -> Any:
    config = gpt2.Config(**{**vars(CONFIG), "tied": tied})
    return gpt2.state(config, optimizer)


def mlp_state(optimizer: Any) -> Any:
    params = mlp.init(jax.random.key(0), SIZES)
    return params, optimizer.init(params)


def cnn_state(optimizer: Any) -> Any:
    params, statistics = cnn.init(jax.random.key(0))
    return params, statistics, optimizer.init(params)


def labels(batch: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.arange(len(batch), dtype=np.int32)


def cnn_flat(step: Any) -> Any:
    """(params, statistics, opt_state, x, labels), the state spread as in the other models."""
    return lambda *arguments: step(arguments[:3], *arguments[3:])


MLP_BATCH = (FEATURES, labels(FEATURES))
CNN_BATCH = (IMAGES, labels(IMAGES))
TRAINING = {
    "mlp-sgd": (mlp.sgd_step, partial(mlp_state, mlp.SGD), MLP_BATCH),
    "mlp-momentum": (mlp.momentum_step, partial(mlp_state, mlp.MOMENTUM), MLP_BATCH),
    "mlp-adam": (mlp.adam_step, partial(mlp_state, mlp.ADAM), MLP_BATCH),
    "cnn-momentum": (cnn_flat(cnn.momentum_step), partial(cnn_state, cnn.MOMENTUM), CNN_BATCH),
    "cnn-adam": (cnn_flat(cnn.adam_step), partial(cnn_state, cnn.ADAM), CNN_BATCH),
    "gpt2-sgd": (gpt2.sgd_step, partial(gpt2_state, gpt2.SGD), (TOKENS,)),
    "gpt2-adamw": (gpt2.adamw_step, partial(gpt2_state, gpt2.ADAMW), (TOKENS,)),
    "gpt2-adamw-inf-mask": (gpt2.adamw_step_inf_mask, partial(gpt2_state, gpt2.ADAMW), (TOKENS,)),
    "gpt2-adamw-untied": (gpt2.adamw_step, partial(gpt2_state, gpt2.ADAMW, tied=False), (TOKENS,)),
}


@pytest.mark.parametrize("name", TRAINING)
def test_training(name: str, tmp_path: Path) -> None:
    step, make_state, batch = TRAINING[name]
    state = make_state()
    text = stablehlo_of(step, *state, *batch)
    same = propagated(text, input_scale={"*": 2.0**-4})
    scaled = propagated(text, signature="scaled")
    original, *rewritten = (
        Contender(kind, write(tmp_path / f"{kind}.mlir", program), state, convert)
        for kind, program, convert in (
            ("original", text, lambda tree: tree),
            ("same", same, lambda tree: tree),
            ("scaled", scaled, scalify_hlo.as_scaled_array),
        )
    )
    for _ in train([original, *rewritten], [batch] * STEPS):
        pass
    assert original.losses[-1] < original.losses[0]
    assert [entry.difference(original) < 1e-5 for entry in rewritten] == [True, True]


def test_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"CONFIG": CONFIG, "FOLDER": tmp_path, "STEPS": STEPS}.items():
        monkeypatch.setattr(demo, name, value)
    assert demo.main() == 0
    assert "The losses are equal to 1e-05" in capsys.readouterr().out


def test_stats_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats_page, "CONFIG", CONFIG)
    monkeypatch.setattr(stats_page, "FOLDER", tmp_path)
    assert stats_page.main() == 0
    text = (tmp_path / "stats.html").read_text()
    assert "transpose(jvp())/dot_general" in text
    assert "examples/gpt2.py:" in text


INFERENCE: dict[str, tuple[Any, Callable[[], Any]]] = {
    "mlp": (mlp.inference_step, lambda: (mlp.init(jax.random.key(0), SIZES), FEATURES)),
    "cnn": (cnn.inference_step, lambda: (*cnn.init(jax.random.key(0)), IMAGES)),
    "gpt2": (gpt2.logits, lambda: (gpt2.init(jax.random.key(0), CONFIG), TOKENS[:, 1:])),
}


@pytest.mark.parametrize("name", INFERENCE)
def test_inference(name: str) -> None:
    step, make_arguments = INFERENCE[name]
    arguments = make_arguments()
    text = stablehlo_of(step, *arguments)
    (expected,) = Executable(text)(flat(arguments))
    scaled = Executable(propagated(text, signature="scaled"))
    values, scale = scaled(flat(scalify_hlo.as_scaled_array(arguments)))
    np.testing.assert_allclose(values * scale, expected, rtol=1e-4, atol=1e-6)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path
