"""Small models of kinds that are not plain: every command takes them.

They have complex values, one head, odd ranks, empty tensors, gathers, loops, decompositions, typed
keys, no matmuls, no arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax

from tests.py.shared.judge import program_of

Function = Callable[..., Any]

RNG = np.random.default_rng(0)
KEY = jax.random.key(0)


def _normal(*shape: int, dtype: Any = np.float32) -> Any:
    return jnp.asarray(RNG.standard_normal(shape).astype(dtype))


X, W, V = _normal(8, 16), _normal(16, 16), _normal(16, 16)
Z = lax.complex(_normal(8, 8), _normal(8, 8))
IDS = jnp.asarray(RNG.integers(0, 8, (4, 5)).astype(np.int32))


def _loss(function: Function) -> Function:
    """The gradients of the mean square of a function's result, in all its float arguments."""

    def loss(*arguments: Any) -> Any:
        return jnp.mean(jnp.square(jnp.abs(function(*arguments))))

    def step(*arguments: Any) -> Any:
        floats = [i for i, a in enumerate(arguments) if jnp.issubdtype(a.dtype, jnp.floating)]
        return jax.value_and_grad(loss, floats)(*arguments)

    return step


def _spectral(x: Any, w: Any) -> Any:
    """A Fourier layer."""
    return jnp.fft.irfft(jnp.fft.rfft(x @ w) * (0.5 + 1j), n=16)


def _attention(x: Any, query: Any, key: Any, value: Any) -> Any:
    """Attention with one head."""
    scores = jnp.einsum("btd,bsd->bts", x @ query, x @ key) / 4
    return jax.nn.softmax(scores) @ (x @ value)


def _heads(x: Any, w: Any, heads: int = 4) -> Any:
    split = (x @ w).reshape(2, 8, heads, 16 // heads)
    scores = jnp.einsum("bthd,bshd->bhts", split, split)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), split)


def _dropout(x: Any, w: Any, key: Any) -> Any:
    kept = jax.random.bernoulli(key, 0.5, x.shape)
    return jnp.where(kept, x, 0) @ w


def _recurrent(x: Any, w: Any) -> Any:
    return lax.scan(lambda h, row: (jnp.tanh(h @ w + row),) * 2, jnp.zeros(16), x)[1]


def _until(x: Any, w: Any) -> Any:
    return lax.while_loop(
        lambda c: (jnp.max(jnp.abs(c[1])) < 50) & (c[0] < 5),
        lambda c: (c[0] + 1, c[1] @ w),
        (0, x),
    )[1]


def _rotated(x: Any, w: Any) -> Any:
    """Rotary positions by complex numbers, in a loop that adds a complex constant."""
    turned = lax.fori_loop(0, 3, lambda _, z: z * (0.6 + 0.8j) + (0.1 - 0.2j), x + 0j)
    return jnp.real(turned) @ w


def _whiten(x: Any, w: Any) -> Any:
    """Shampoo's root of a matrix."""
    values, vectors = jnp.linalg.eigh(w @ w.T + jnp.eye(16))
    return x @ (vectors * values**-0.25) @ vectors.T


def _normalized_flow(x: Any, w: Any) -> Any:
    return jnp.linalg.slogdet(w)[1] + x @ jnp.linalg.inv(w + 8 * jnp.eye(16))


def _newton_schulz(w: Any) -> Any:
    w = w / jnp.linalg.norm(w)
    for _ in range(3):
        w = 1.5 * w - 0.5 * w @ w.T @ w
    return w


def _both(x: Any, w: Any) -> Any:
    return jax.nn.softmax(x) / jnp.sum(jnp.kron(x[0], x[0])) @ w


def _convolved(x: Any, w: Any) -> Any:
    return lax.conv_general_dilated(x, w, (1, 1), "SAME")


def _experts(x: Any, w: Any) -> Any:
    return lax.ragged_dot(x, w, jnp.asarray([3, 0, 5], np.int32))


def _switched(x: Any, w: Any, ids: Any) -> Any:
    branches = (lambda a: a @ w, lambda a: jnp.sin(a @ w), lambda a: a * 2)
    return lax.switch(ids[0, 0], branches, x)


def _updated(cache: Any, x: Any, ids: Any) -> Any:
    return lax.dynamic_update_slice(cache, x[:1], (ids[0, 0], 0)) @ cache.T


def _magnitudes(x: Any, y: Any) -> Any:
    return jnp.abs(lax.complex(x, y) @ Z)


def _bessel(x: Any) -> Any:
    return jax.scipy.special.i0e(x) + jax.scipy.special.gammaln(jnp.abs(x) + 1)


_IMAGES, _KERNELS = (2, 3, 6, 6), (4, 3, 3, 3)
MODELS: dict[str, tuple[Function, Sequence[Any]]] = {
    "one head": (_attention, (_normal(2, 8, 16), W, V, W)),
    "gradients of one head": (_loss(_attention), (_normal(2, 8, 16), W, V, W)),
    "four heads": (_loss(_heads), (_normal(2, 8, 16), W)),
    "one head of several": (lambda x, w: _heads(x, w, 1), (_normal(2, 8, 16), W)),
    "fourier": (_spectral, (X, W)),
    "gradients of fourier": (_loss(_spectral), (X, W)),
    "transforms in two dimensions": (lambda x: jnp.abs(jnp.fft.fft2(x)), (X,)),
    "complex matmul": (lambda z: jnp.abs(z @ z.conj().T), (Z,)),
    "complex results": (lambda z, x: (z @ z, z + 1j, x * 2), (Z, X)),
    "gradients of magnitudes": (_loss(_magnitudes), (X[:, :8],) * 2),
    "complex constants in a loop": (_rotated, (X, W)),
    "complex power": (lambda z: jnp.real(z**2.0 + (1 + 2j) ** z), (Z,)),
    "rank five": (lambda x: jnp.einsum("abcde,abcfe->abcdf", x, x), (_normal(2, 1, 3, 4, 5),)),
    "rank zero": (lambda a, b: (jnp.sin(a) * b, jnp.where(a > b, a, b)), (X[0, 0], W[0, 0])),
    "sizes of one": (_loss(lambda x, w: x @ w), (_normal(1, 1), _normal(1, 1))),
    "vectors": (lambda x, y: (jnp.dot(x, y), jnp.outer(x, x)), (X[0], W[0])),
    "empty rows": (lambda x, w: jnp.concatenate([x, x @ w]), (X[:0], W)),
    "empty sums": (lambda x, w: x @ w, (X[:, :0], W[:0])),
    "gathers": (_loss(lambda w, i: w[i] @ w.T), (X, IDS)),
    "scatters": (lambda x, i: x.at[i].add(1.5) @ x.T, (X, IDS)),
    "a cache": (_updated, (X, _normal(8, 16), IDS)),
    "recurrent": (_loss(_recurrent), (X, W)),
    "until large": (_until, (X, W)),
    "a loop of no turn": (lambda x, w: lax.fori_loop(0, 0, lambda _, a: a @ w, x), (X, W)),
    "switched": (_switched, (X, W, IDS)),
    "dropout": (_loss(_dropout), (X, W, KEY)),
    "many keys": (lambda keys, w: jax.vmap(lambda k: jax.random.normal(k, (16,)))(keys) @ w,
                  (jax.random.split(KEY, 3), W)),
    "eigh": (_whiten, (X, W)),
    "svd and qr": (lambda w: (jnp.linalg.svd(w)[1], jnp.linalg.qr(w)[0] @ w), (W,)),
    "cholesky": (_loss(lambda w, x: jnp.linalg.cholesky(w @ w.T + jnp.eye(16)) @ x.T), (W, X)),
    "determinant and inverse": (_normalized_flow, (X, W)),
    "newton-schulz": (_newton_schulz, (W,)),
    "outer product beside softmax": (_both, (X, W)),
    "convolution": (_loss(_convolved), (_normal(*_IMAGES), _normal(*_KERNELS))),
    "ragged experts": (_experts, (X, _normal(3, 16, 16))),
    "vmapped members": (jax.vmap(_loss(lambda x, w: x @ w)), (_normal(3, 4, 8), _normal(3, 8, 8))),
    "sorted": (lambda x: (jnp.sort(x), jnp.argsort(x), lax.top_k(x, 3)[0] @ X[:3]), (X,)),
    "cumulative": (lambda x, w: jnp.cumsum(x) + jnp.cumprod(x @ w, 1)[0, 0], (X, W)),
    "integers": (lambda i: (i @ i.T, i.astype(jnp.int8)), (IDS,)),
    "booleans": (lambda x: (x > 0, jnp.isnan(x), jnp.all(x > 1)), (X,)),
    "half": (_loss(lambda x, w: x @ w), (X.astype(jnp.float16), W.astype(jnp.float16))),
    "eighths": (lambda x, w: jnp.dot(x, w, preferred_element_type=np.float32),
                (X.astype(jnp.float8_e4m3fn), W.astype(jnp.float8_e5m2))),
    "scale formats": (lambda x, s: x @ W * s.astype(np.float32),
                      (X, X[0].astype(jnp.float8_e8m0fnu))),
    "special functions": (_bessel, (X,)),
    "no arguments": (lambda: jnp.arange(12.0).reshape(3, 4) @ jnp.ones((4, 2)), ()),
    "a constant": (lambda: jnp.float32(3), ()),
    "its argument": (lambda x: x, (X,)),
    "infinities": (lambda x, w: jnp.where(x > 0, x, -jnp.inf) @ w, (X, W)),
}  # fmt: skip
"""Functions with their arguments."""

PLAIN = frozenset(
    {"one head", "four heads", "one head of several", "complex matmul", "complex results",
     "rank five", "rank zero", "sizes of one", "vectors", "gathers",
     "scatters", "a cache", "recurrent", "until large", "switched", "newton-schulz", "half",
     "outer product beside softmax", "vmapped members", "no arguments",
     "a constant", "its argument", "infinities", "complex constants in a loop", "integers",
     "gradients of magnitudes", "gradients of one head"}
)  # fmt: skip
"""Those that the interpreter runs: it has all ops of theirs, and takes no empty tensor."""

BY_XLA = frozenset({"convolution"})
"""Those that only XLA runs: the interpreter aborts the process at the gradient of a kernel."""


def exported(number: int) -> tuple[str, export.Exported]:
    """Returns the name of a model, and its program."""
    name = sorted(MODELS)[number]
    function, arguments = MODELS[name]
    return name, program_of(function, *arguments)
