"""The ops that read a value beside a cast for which it is measured."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.ir.walk import ops_in
from tests.py.rules.test_untrusted import powers
from tests.py.shared.judge import evaluate, parse, program_of

SETTINGS = {"matmul.smallest": 1, "matmul.exclude": ["*wide*"]}


def both(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A quantized matmul of these numbers, and a wide one that ends the program."""
    y = powers(x)
    with jax.named_scope("narrow"):
        first = y @ w
    with jax.named_scope("wide"):
        return first, w - 0.1 * (x.T @ y).T


def followed(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Another quantized matmul reads the result of the wide one."""
    first, second = both(x, w)
    with jax.named_scope("narrow"):
        return first, second @ w


def counted(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A loop reads the result of the wide matmul."""
    first, second = both(x, w)
    return first, jax.lax.fori_loop(0, 2, lambda _, v: v * 0.5, second)


def rounded(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The model itself rounds the result of the wide matmul to f16."""
    first, second = both(x, w)
    return first, second.astype(jnp.float16).astype(jnp.float32)


def returned(x: jax.Array, w: jax.Array) -> tuple[jax.Array, ...]:
    """The program returns the numbers themselves, too."""
    y = powers(x)
    with jax.named_scope("narrow"):
        first = y @ w
    with jax.named_scope("wide"):
        return first, x @ w, y


@pytest.mark.parametrize(
    ("function", "measured"),
    [(both, 0), (returned, 0), (followed, 1), (counted, 1), (rounded, 1)],
)
def test_a_wide_matmul_at_the_end_reads_what_is_not_measured(
    function: Callable[..., tuple[jax.Array, ...]], measured: int
) -> None:
    x, w = np.random.default_rng(0).standard_normal((2, 16, 16)).astype(np.float32)
    exported = program_of(function, x, w)
    text = scalify_hlo.rewrite(str(exported.mlir_module()), recipe="unit", settings=SETTINGS)
    assert factors_of_wide_matmuls(text) == measured
    found, wanted = evaluate(parse(text), [x, w]), function(x, w)
    for one, other in zip(found, wanted, strict=True):
        size = np.sqrt(np.mean(np.square(other)))
        data = np.asarray(one, np.float32)
        np.testing.assert_allclose(data, np.asarray(other), rtol=0.2, atol=0.5 * size)


def factors_of_wide_matmuls(text: str) -> int:
    """The number of operands of wide matmuls that are products with a run-time scale."""
    module, count = parse(text), 0
    for op in ops_in(module.operation, {"stablehlo.dot_general"}):
        values = [v for v in op.operands if isinstance(v.type.element_type, ir.F32Type)]
        count += sum(map(_is_rescaled, values)) if len(values) > 1 else 0
    return count


def _is_rescaled(value: ir.Value) -> bool:
    """Whether a value is a product with a broadcast scalar that is no constant."""
    if isinstance(value.owner, ir.Block) or value.owner.name != "stablehlo.multiply":
        return False
    owners = [each.owner for each in value.owner.operands if not isinstance(each.owner, ir.Block)]
    return any(
        owner.name == "stablehlo.broadcast_in_dim" and not owner.operands[0].type.rank
        for owner in owners
    )
