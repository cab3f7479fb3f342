"""`scalify` of a function that a library of modules compiles updates the modules as before."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

import scalify_hlo as jsa
from scalify_hlo import UsageError
from scalify_hlo.frontend import module_jit
from tests.py.devices import eight_devices, sharded_modules

X = jnp.ones((32, 64))


def modules() -> tuple[Any, Any]:
    model = nnx.Linear(64, 64, rngs=nnx.Rngs(0))
    return model, nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)


def train(model: Any, optimizer: Any, x: Any, factor: float) -> Any:
    loss, gradient = nnx.value_and_grad(lambda m: factor * jnp.mean(m(x) ** 2))(model)
    optimizer.update(model, gradient)
    return loss


@pytest.mark.parametrize("recipe", [None, "fp8", "fp8-current"])
@pytest.mark.parametrize("options", [{}, {"graph": False}])
def test_modules_of_flax_are_updated(recipe: Any, options: Any) -> None:
    compiled = nnx.jit(train, static_argnums=3, **options)
    scaled = jsa.scalify(compiled, recipe=recipe)
    (model, optimizer), (other, others) = modules(), modules()
    for _ in range(2):
        expected = compiled(other, others, X, 2.0)
        np.testing.assert_allclose(scaled(model, optimizer, X, 2.0), expected, rtol=2e-2)
    assert int(optimizer.step[...]) == 2
    np.testing.assert_allclose(model.kernel[...], other.kernel[...], atol=1e-3)
    np.testing.assert_allclose(model.bias[...], other.bias[...], atol=1e-3)


def test_methods_of_flax() -> None:
    class Model(nnx.Module):
        def __init__(self) -> None:
            self.count = nnx.Param(jnp.zeros(()))

        @nnx.jit
        def step(self, x: Any) -> Any:
            self.count[...] += 1
            return x * 2

    model = Model()
    assert jsa.scalify(model.step)(jnp.float32(4)) == 8
    assert model.count[...] == 1


@pytest.mark.slow
def test_shardings_and_donation_of_flax_are_kept() -> None:
    found = eight_devices.run(sharded_modules.main)
    assert [each["donated"] for each in found] == [False, False, True, True, False, False]
    for each in found:
        assert each["same"]
        assert each["devices"] == 8
        assert each["difference"] < 2e-3
        assert each["loss"] < 2e-2


def test_modules_of_equinox_keep_what_is_no_array() -> None:
    eqx = pytest.importorskip("equinox")
    model = eqx.nn.MLP(64, 64, 64, 1, activation=jnp.tanh, key=jax.random.key(0))

    def step(model: Any, x: Any, name: str) -> Any:
        assert name == "sgd"
        loss, gradient = eqx.filter_value_and_grad(lambda m: jnp.mean(jax.vmap(m)(x) ** 2))(model)
        return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, gradient)), loss

    compiled = eqx.filter_jit(step)
    scaled = jsa.scalify(compiled, recipe="fp8-current")
    (model_8, loss_8), (model_32, loss_32) = (f(model, X, "sgd") for f in (scaled, compiled))
    np.testing.assert_allclose(loss_8, loss_32, rtol=5e-2)
    assert model_8.activation is jnp.tanh
    weight_8, weight_32 = (m.layers[0].weight for m in (model_8, model_32))
    np.testing.assert_allclose(weight_8, weight_32, atol=1e-2)


def test_an_unknown_version_of_a_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = nnx.jit(lambda module: module)
    monkeypatch.setitem(module_jit._COMPILED, type(compiled).__module__, "renamed")
    with pytest.raises(UsageError, match=r"does not know how flax\.nnx") as caught:
        jsa.scalify(compiled)
    assert str(caught.value.location).startswith(__file__)


@pytest.mark.slow
def test_shardings_of_jax_jit_place_the_arguments() -> None:
    found = eight_devices.run(sharded_modules.unplaced)
    assert found == [[8, True, records] for _ in range(3) for records in (1, 1, 2)]
