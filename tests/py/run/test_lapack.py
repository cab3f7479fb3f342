"""Programs with custom calls whose kernels jax loads late: decompositions of matrices."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

from tests.py.shared.commands import python

WHITEN = {
    "eigh": lambda m: jnp.linalg.eigh(m)[1],
    "svd": lambda m: jnp.linalg.svd(m)[0],
    "qr": lambda m: jnp.linalg.qr(m)[0],
    "cholesky": jnp.linalg.cholesky,
    "solve": lambda m: jnp.linalg.solve(m, m),
    "eig": lambda m: jnp.linalg.eig(m)[0].real[None],
    "tridiagonal": lambda m: jax.lax.linalg.tridiagonal(m)[0],
    "hessenberg": lambda m: jax.lax.linalg.hessenberg(m)[0],
}
RUNS = """
import sys
from pathlib import Path
import numpy as np
from scalify_hlo import _compat
from scalify_hlo.program.program import read_program
from scalify_hlo.run.runner import compile_module
for path in sys.argv[1:]:
    module = read_program(Path(path).read_bytes()).module
    (found,) = compile_module(module)([np.load("x.npy")])
    np.testing.assert_allclose(found, np.load(path.replace("export", "npy")), rtol=1e-3, atol=1e-3)
"""


@pytest.mark.slow
def test_they_run_in_a_process_that_has_not_run_jax(tmp_path: Path) -> None:
    x = np.random.default_rng(0).standard_normal((8, 8), np.float32)
    np.save(tmp_path / "x.npy", x)
    files = []
    for name, whiten in WHITEN.items():
        function = jax.jit(lambda x, whiten=whiten: whiten(x @ x.T + 8 * jnp.eye(8)) @ x)
        files.append(f"{name}.export")
        (tmp_path / files[-1]).write_bytes(export.export(function)(x).serialize())
        np.save(tmp_path / f"{name}.npy", function(x))
    python("-c", RUNS, *files, cwd=tmp_path)
