"""Sums of gradients of which eight devices have parts: what they add up, and its numbers."""

from __future__ import annotations

import re
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

import scalify_hlo
from scalify_hlo.casts.partial_sums import PartialSums
from tests.py.devices.eight_devices import mesh, places
from tests.py.shared.fp8_numpy import F32, quantized

SIZES = ((0, 0), (-20, 0), (0, 9), (12, -6), (-100, 60))
"""log2 of the second gradient and of its weight, over the others."""


def step(weights: list[Any], x: Any, cotangents: list[Any]) -> Any:
    """The gradients of some weights, and of the activation that they all multiply."""

    def loss(weights: Any, x: Any) -> Any:
        pairs = zip(weights, cotangents, strict=True)
        return sum(jnp.sum((x @ w) * ct) for w, ct in pairs)

    return jax.grad(loss, (0, 1))(weights, x)


def looped(stacked: dict[str, Any], x: Any) -> Any:
    """The gradients of gated layers in a loop, and of their input."""

    def loss(stacked: dict[str, Any], x: Any) -> Any:
        def layer(x: Any, weights: dict[str, Any]) -> tuple[Any, None]:
            y = jnp.tanh(x)
            hidden = jax.nn.silu(y @ weights["gate"]) * (y @ weights["up"])
            return x + hidden @ weights["down"], None

        return jnp.mean(jax.lax.scan(layer, x, stacked)[0] ** 2)

    return jax.grad(loss, (0, 1))(stacked, x)


def compare_in_a_loop(recipe: str, on: Mesh) -> None:
    """Compares with gradients that are scaled before they are added."""
    rng = np.random.default_rng(1)
    sizes = {"gate": (2, 64, 128), "up": (2, 64, 128), "down": (2, 128, 64)}
    stacked = {name: (0.1 * rng.standard_normal(s)).astype(F32) for name, s in sizes.items()}
    given = stacked, rng.standard_normal((128, 64)).astype(F32)
    columns, rows, whole = places(on, (None, None, "d"), (None, "d"), ())
    specs = {"gate": columns, "up": columns, "down": rows}, whole
    new = rewritten(recipe, given, specs, looped)
    with mock.patch.object(PartialSums, "join", return_value=0):
        old = rewritten(recipe, given, specs, looped)
    assert adds_matmuls(new), recipe
    assert not adds_matmuls(old) or recipe == "fp8-calibrated", recipe
    exact = jax.tree.leaves(looped(*given))
    errors = [
        sum(float(np.linalg.norm(a - b)) for a, b in zip(found, exact, strict=True))
        for found in (results(each, given, specs, on) for each in (new, old))
    ]
    assert errors[0] <= 1.02 * errors[1], (recipe, errors)


def arrays(gradient: int, weight: int) -> tuple[Any, ...]:
    """Three weights, an activation and three gradients; the second of each is of another size."""
    rng = np.random.default_rng(0)
    sizes = [(0, 0), (gradient, weight), (0, 0)]
    weights = [np.ldexp(rng.standard_normal((32, 64)), w).astype(F32) for _, w in sizes]
    cotangents = [np.ldexp(rng.standard_normal((128, 64)), g).astype(F32) for g, _ in sizes]
    return weights, rng.standard_normal((128, 32)).astype(F32), cotangents


def rewritten(recipe: str, given: tuple[Any, ...], specs: Any, of: Any = step) -> Any:
    """The program by a recipe, its weights and gradients divided."""
    exported = jax.export.export(jax.jit(of, in_shardings=specs))(*given)
    how: dict[str, Any] = {}
    if recipe == "fp8-calibrated":
        how["profile"] = scalify_hlo.calibrate(exported, [given])
    return scalify_hlo.rewrite(exported, recipe=recipe, report=True, **how)[0]


def results(new: Any, given: tuple[Any, ...], specs: Any, on: Mesh) -> list[Any]:
    """The four gradients of a second step.

    The state of delayed scales begins with an empty history; the first step returns the next one.
    """
    flat = jax.tree.leaves(jax.tree.map(jax.device_put, given, specs))
    avals = new.in_avals[len(flat) :]
    state = [np.full(aval.shape, aval.ndim == 1, aval.dtype) for aval in avals]
    added = jax.device_put(state, *places(on, ()))
    for _ in range(2):
        args, kwargs = jax.tree.unflatten(new.in_tree, [*flat, *added])
        leaves = jax.tree.leaves(jax.jit(new.call)(*args, **kwargs))
        added = leaves[4:]
    found = [np.asarray(leaf) for leaf in leaves[:4]]
    assert found[-1].shape == given[1].shape
    return found


def adds_matmuls(program: Any) -> bool:
    """Whether a program adds two matmuls, without scales between."""
    text = program.mlir_module()
    matmuls = set(re.findall(r"(%\d+) = stablehlo.dot_general", text))
    added = re.findall(r"stablehlo.add (%\d+), (%\d+)", text)
    return any(matmuls.issuperset(pair) for pair in added)


def expected(given: tuple[Any, ...]) -> Any:
    """The gradient of the activation by the formulas of `scalify_hlo.casts.partial_sums`."""
    weights, _, cotangents = given
    pairs = zip(weights, cotangents, strict=True)
    casts = [(quantized(w, "f8E4M3FN"), quantized(g, "f8E5M2")) for w, g in pairs]
    scale = max(ws.item() * gs.item() for (_, ws), (_, gs) in casts)
    total = 0.0
    for ((data, mine), (like, _)), gradient in zip(casts, cotangents, strict=True):
        narrow = (gradient * F32(mine.item() / scale)).astype(like.dtype)
        total = total + narrow.astype(np.float64) @ data.astype(np.float64).T
    return total * scale


def main(recipe: str) -> None:
    """Compares with NumPy, and with gradients that are scaled before they are added."""
    on = mesh(d=8)
    columns, whole = places(on, (None, "d"), ())
    compare_in_a_loop(recipe, on)
    for sizes in SIZES:
        given = arrays(*sizes)
        specs = ([columns] * 3, whole, [columns] * 3)
        new = rewritten(recipe, given, specs)
        with mock.patch.object(PartialSums, "join", return_value=0):
            old = rewritten(recipe, given, specs)
        found, before = (results(each, given, specs, on) for each in (new, old))
        for a, b in zip(found[:-1], before[:-1], strict=True):
            most = np.abs(np.asarray(b, np.float64)).max(initial=0)
            told = f"{recipe}, {sizes}"
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * most, err_msg=told)
        assert adds_matmuls(new), (recipe, sizes)
        # Equal static scales are moved behind the sum by a later pass.
        assert not adds_matmuls(old) or recipe == "fp8-calibrated", (recipe, sizes)
        if recipe != "fp8-calibrated":
            wanted = expected(given)
            bound = 1e-6 * np.abs(wanted).max()
            np.testing.assert_allclose(found[-1], wanted, rtol=1e-5, atol=bound)
        weights, _, cotangents = given
        pairs = zip(weights, cotangents, strict=True)
        exact = sum(g.astype(np.float64) @ w.astype(np.float64).T for w, g in pairs)
        errors = [np.linalg.norm(each[-1] - exact) for each in (found, before)]
        assert errors[0] <= 1.02 * errors[1], (recipe, sizes, errors)
