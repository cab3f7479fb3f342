"""The examples run."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples import data, demo, gpt2, stats_page

pytestmark = pytest.mark.slow

CONFIG = gpt2.Config(layers=2, width=32, heads=2, sequence=16, vocab=data.VOCAB, batch=2)


def test_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"CONFIG": CONFIG, "FOLDER": tmp_path, "STEPS": 3}.items():
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
