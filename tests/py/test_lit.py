"""Runs the lit suite from pytest, one item per folder of `.mlir` files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIT = ROOT / "tests" / "lit"
FOLDERS = sorted({file.parent.relative_to(LIT) for file in LIT.rglob("*.mlir")})
LIT_MAIN = "import sys; from lit.main import main; sys.exit(main())"


def lit_files(folder: Path) -> list[str]:
    return sorted(str(file) for file in (LIT / folder).glob("*.mlir"))


def run_lit(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LIT_MAIN, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def jobs() -> str:
    """Under xdist the folders already run side by side."""
    return "1" if "PYTEST_XDIST_WORKER" in os.environ else str(os.cpu_count() or 1)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.as_posix())
def test_lit(folder: Path) -> None:
    run = run_lit("-j", jobs(), "-v", *lit_files(folder))
    if run.returncode:
        again = f"lit -v {(LIT / folder).relative_to(ROOT)}"
        pytest.fail(f"{run.stdout}{run.stderr}\nto run this folder alone: {again}", pytrace=False)


def test_lit_fails_where_filecheck_fails(tmp_path: Path) -> None:
    (tmp_path / "lit.cfg.py").write_text(
        f"lit_config.load_config(config, {str(LIT / 'lit.cfg.py')!r})\n"
        f"config.test_source_root = config.test_exec_root = {str(tmp_path)!r}\n"
    )
    (tmp_path / "wrong.mlir").write_text("// RUN: echo no | %filecheck %s\n// CHECK: yes\n")
    run = run_lit("-v", str(tmp_path))
    assert run.returncode == 1
    assert "Couldn't match" in run.stdout
