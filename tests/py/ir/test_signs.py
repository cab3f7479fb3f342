"""Signs of values follow from the ops that make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from scalify_hlo.rules.read_sizes import sign_of
from tests.py.shared.judge import body_of, parse, stablehlo_of


@pytest.mark.parametrize(
    ("function", "sign"),
    [
        (jnp.abs, 1),
        (lambda x: -jnp.abs(x), -1),
        (lambda x: x * x, 1),
        (lambda x: jnp.exp(x) * -2.0, -1),
        (lambda x: -jnp.exp(x).T / 3, -1),
        (lambda _: jnp.arange(4.0) * -0.1, -1),
        (lambda x: -jnp.abs(x) * -jnp.exp(x), 1),
        (lambda x: x, 0),
        (lambda x: x * jnp.abs(x), 0),
        (jnp.sin, 0),
    ],
)
def test_sign_of_result(function: Callable[[Any], Any], sign: int) -> None:
    text = stablehlo_of(function, np.ones((4, 4), np.float32))
    module = parse(text)
    assert sign_of(body_of(module).operations[-1].operands[0]) == sign
