"""A function in scaled form is exported for the platform on which it is traced."""

from __future__ import annotations

import jax
import jax.numpy as jnp

import scalify_hlo
from scalify_hlo import _compat
from scalify_hlo.frontend import scalified


def test_the_platform_of_the_default_device() -> None:
    assert _compat.default_platform() is None
    assert scalified._platforms() is None
    with jax.default_device(jax.devices("cpu")[0]):
        assert _compat.default_platform() == "cpu"
        assert scalified._platforms() == ("cpu",)


def test_a_function_runs_on_the_default_device() -> None:
    run = scalify_hlo.scalify(lambda x: x @ x, recipe="propagate")
    x = jnp.ones((4, 4))
    with jax.default_device(jax.devices("cpu")[0]):
        assert (run(x) == 4).all()
    assert (run(x) == 4).all()
