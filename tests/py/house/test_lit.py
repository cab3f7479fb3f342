"""Runs the lit suite from pytest, one item per folder of `.mlir` files."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
LIT = ROOT / "tests" / "lit"
FOLDERS = sorted({file.parent.relative_to(LIT) for file in LIT.rglob("*.mlir")})
LIT_MAIN = "import sys; from lit.main import main; sys.exit(main())"
SERVE = "import sys; sys.path.insert(0, 'tests/lit'); import forked; forked.serve(sys.argv[1])"


def lit_files(folder: Path) -> list[str]:
    return sorted(str(file) for file in (LIT / folder).glob("*.mlir"))


def run_lit(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LIT_MAIN, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def jobs() -> str:
    """Under xdist the folders already run side by side."""
    return "1" if "PYTEST_XDIST_WORKER" in os.environ else str(os.cpu_count() or 1)


@pytest.fixture(scope="module", autouse=True)
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A process whose forks run the commands of lit files, as imports take most of their time."""
    path = str(tmp_path_factory.mktemp("server") / "socket")
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
    }
    command = [sys.executable, "-c", SERVE, path]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, env=environment, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SCALIFY_LIT_SERVER", path)
            yield


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
