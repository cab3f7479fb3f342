"""Small architectures and their losses, for `benchmarks.small_programs`.

Each function returns a loss, which takes parameters and inputs, and its parameters. Inputs have
`BATCH` rows and `WIDTH` columns.
"""

from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

Array = np.ndarray[Any, np.dtype[np.float32]]
Loss = Callable[[Any, jax.Array], jax.Array]
"""Takes parameters and inputs."""

Model = tuple[Loss, Any]
"""A loss and its parameters."""

WIDTH, BATCH = 64, 32

_SEQUENCES = (4, 8, WIDTH)
"""The inputs as sequences."""

MODELS: dict[str, Callable[[], Model]] = {}
"""The architectures by name."""


def registered(function: Callable[[], Model]) -> Callable[[], Model]:
    """Registers an architecture in `MODELS` under its name."""
    MODELS[function.__name__] = function
    return function


def normal(seed: int, *shape: int, divisor: float | None = None) -> Array:
    """Normal numbers over a divisor, which is by default the root of the number of rows."""
    numbers = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return numbers / np.float32(np.sqrt(shape[-2]) if divisor is None else divisor)


def square(seed: int) -> Array:
    """A square weight."""
    return normal(seed, WIDTH, WIDTH)


def ones() -> Array:
    """Gains."""
    return np.ones(WIDTH, np.float32)


def perceptron(
    weights: list[Array], x: jax.Array, activation: Callable[[jax.Array], jax.Array] = nn.relu
) -> jax.Array:
    """A multilayer perceptron without biases."""
    for weight in weights[:-1]:
        x = activation(x @ weight)
    return x @ weights[-1]


def unit(x: jax.Array) -> jax.Array:
    """Rows over their Euclidean norms."""
    return x / jnp.linalg.norm(x, axis=-1, keepdims=True)


def projected(weights: Iterable[Array], x: jax.Array) -> list[jax.Array]:
    """The inputs as sequences, times each weight."""
    sequences = x.reshape(_SEQUENCES)
    return [sequences @ weight for weight in weights]


@registered
def deep_relu() -> Model:
    """Twelve layers of ReLUs without normalization."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        return jnp.mean(perceptron(parameters, x) ** 2)

    return loss, [square(seed) for seed in range(12)]


@registered
def deep_gelu() -> Model:
    """Ten layers of GELUs with He's initialization."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        return jnp.mean(jnp.abs(perceptron(parameters, x, nn.gelu)))

    return loss, [normal(seed, WIDTH, WIDTH, divisor=np.sqrt(WIDTH / 2)) for seed in range(10)]


@registered
def residual() -> Model:
    """Eight residual blocks without normalization."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        for up, down in parameters:
            x = x + nn.gelu(x @ up) @ down
        return jnp.mean(x**2)

    return loss, [(square(seed), square(seed + 50)) for seed in range(8)]


@registered
def siren() -> Model:
    """A SIREN: sines with large first weights."""
    first = normal(0, WIDTH, WIDTH, divisor=1) * 30 / WIDTH

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        return jnp.mean((perceptron(parameters, x, jnp.sin) - 1) ** 2)

    return loss, [first, *(square(seed) * 2.4 for seed in range(1, 4)), normal(9, WIDTH, 8)]


@registered
def pinn() -> Model:
    """A physics-informed network: the loss has the gradients by each input."""

    def value(parameters: Any, x: jax.Array) -> jax.Array:
        return perceptron(parameters, x, jnp.tanh)[0]

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        slopes = jax.vmap(jax.grad(value, 1), (None, 0))(parameters, x)
        return jnp.mean((jnp.sum(slopes**2, -1) - 1) ** 2)

    return loss, [square(0), square(1), normal(2, WIDTH, 1)]


@registered
def gradient_penalty() -> Model:
    """The critic of a Wasserstein GAN with a penalty of its gradients."""

    def total(x: jax.Array, parameters: Any) -> jax.Array:
        return jnp.sum(perceptron(parameters, x, nn.silu))

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        norms = jnp.linalg.norm(jax.grad(total)(x, parameters), axis=-1)
        return jnp.mean(perceptron(parameters, x, nn.silu)) + 10 * jnp.mean((norms - 1) ** 2)

    return loss, [square(0), square(1), normal(2, WIDTH, 1)]


@registered
def maml() -> Model:
    """MAML: the loss after a step of gradient descent."""

    def inner(parameters: Any, x: jax.Array) -> jax.Array:
        return jnp.mean((perceptron(parameters, x) - x) ** 2)

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        slopes = jax.grad(inner)(parameters, x)
        moved = [old - 0.1 * slope for old, slope in zip(parameters, slopes, strict=True)]
        return inner(moved, x[::-1])

    return loss, [square(0), square(1)]


@registered
def attention() -> Model:
    """Softmax attention with a residual and without normalization."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        query, key, value = projected(parameters[:3], x)
        weights = nn.softmax(query @ key.swapaxes(1, 2) / 8)
        return jnp.mean((x.reshape(_SEQUENCES) + (weights @ value) @ parameters[3]) ** 2)

    return loss, [square(seed) for seed in range(4)]


@registered
def linear_attention() -> Model:
    """Linear attention, with ELUs for kernels."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        query, key, value = projected(parameters[:3], x)
        query, key = nn.elu(query) + 1, nn.elu(key) + 1
        state, keys = key.swapaxes(1, 2) @ value, jnp.sum(key, 1, keepdims=True)
        totals = jnp.sum(query * keys, -1, keepdims=True) + 1e-6
        return jnp.mean(((query @ state) / totals @ parameters[3]) ** 2)

    return loss, [square(seed) for seed in range(4)]


@registered
def post_norm() -> Model:
    """Four residual blocks, each followed by a layer normalization."""
    target = normal(77, BATCH, WIDTH, divisor=1)

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        for up, down, gain in parameters:
            x = x + nn.relu(x @ up) @ down
            centered = gain * (x - x.mean(-1, keepdims=True))
            x = centered / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return jnp.mean((x - target) ** 2)  # The mean of x**2 is a constant.

    return loss, [(square(seed), square(seed + 50), ones()) for seed in range(4)]


@registered
def swiglu() -> Model:
    """Four SwiGLU blocks, each after an RMS normalization."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        for gate, up, down, gain in parameters:
            normed = gain * x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)
            x = x + (nn.silu(normed @ gate) * (normed @ up)) @ down
        return jnp.mean(x**2)

    seeds = range(4)
    return loss, [(square(i), square(i + 50), square(i + 70), ones()) for i in seeds]


@registered
def runge_kutta() -> Model:
    """A neural ODE: ten steps of a Runge-Kutta method in a loop."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        def slope(x: jax.Array) -> jax.Array:
            return jnp.tanh(x @ parameters[0]) @ parameters[1]

        def step(x: jax.Array, _: None) -> tuple[jax.Array, None]:
            k1 = slope(x)
            k2 = slope(x + 0.05 * k1)
            k3 = slope(x + 0.05 * k2)
            k4 = slope(x + 0.1 * k3)
            return x + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        return jnp.mean(lax.scan(step, x, None, length=10)[0] ** 2)

    return loss, [square(0), square(1)]


@registered
def weight_norm() -> Model:
    """Three layers with weight normalization."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        for direction, gain in parameters:
            x = nn.relu(x @ (gain * direction / jnp.linalg.norm(direction, axis=0)))
        return jnp.mean(x)

    return loss, [(square(seed), ones()) for seed in range(3)]


@registered
def lora() -> Model:
    """LoRA: a weight and the product of two small ones, the second of which is zero."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        weight, down, up = parameters
        return jnp.mean((x @ weight + 2 * (x @ down) @ up) ** 2)

    return loss, [square(0), normal(1, WIDTH, 4), np.zeros((4, WIDTH), np.float32)]


@registered
def hypernetwork() -> Model:
    """A hypernetwork: a layer whose weights another layer computes, for each row."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        weights = (x @ parameters[0]).reshape(BATCH, WIDTH, 8)
        return jnp.mean((jnp.einsum("bdk,bd->bk", weights, x) @ parameters[1]) ** 2)

    return loss, [normal(0, WIDTH, WIDTH * 8, divisor=8), normal(1, 8, WIDTH)]


@registered
def graph_network() -> Model:
    """Three layers of message passing on a random graph."""
    sources = np.random.default_rng(5).integers(0, BATCH, 128)
    targets = np.random.default_rng(6).integers(0, BATCH, 128)

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        for weight in parameters:
            x = nn.relu(jax.ops.segment_sum((x @ weight)[sources], targets, BATCH))
        return jnp.mean(x**2)

    return loss, [square(seed) for seed in range(3)]


@registered
def convolutions() -> Model:
    """Two convolutions, a pooling and a softmax."""
    layout, window = ("NHWC", "HWIO", "NHWC"), (1, 2, 2, 1)

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        x = x.reshape(8, 8, 8, 4)
        for kernel in parameters[:2]:
            convolved = lax.conv_general_dilated(
                x, kernel, (1, 1), "SAME", dimension_numbers=layout
            )
            x = nn.relu(convolved)
        pooled = lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID").mean((1, 2))
        return -jnp.mean(nn.log_softmax(pooled @ parameters[2])[:, 0])

    first, second = normal(0, 3, 3, 4, 16, divisor=6), normal(1, 3, 3, 16, 16, divisor=12)
    return loss, [first, second, normal(2, 16, 8)]


@registered
def diffusion() -> Model:
    """A denoiser: the mean squared error of predicted noise."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        noise, kept = normal(7, BATCH, WIDTH, divisor=1), jnp.linspace(0.01, 0.99, BATCH)[:, None]
        noisy = jnp.sqrt(kept) * x + jnp.sqrt(1 - kept) * noise
        return jnp.mean((perceptron(parameters, noisy, nn.silu) - noise) ** 2)

    return loss, [square(0), square(1)]


@registered
def coupling_flow() -> Model:
    """A normalizing flow of four affine couplings."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        kept, moved = jnp.split(x, 2, -1)
        log_determinant = jnp.zeros(BATCH)
        for stretch, shift in parameters:
            logs = jnp.tanh(kept @ stretch)
            moved = moved * jnp.exp(logs) + kept @ shift
            log_determinant = log_determinant + logs.sum(-1)
            kept, moved = moved, kept
        return jnp.mean(0.5 * (kept**2 + moved**2).sum(-1) - log_determinant)

    def half(seed: int) -> Array:
        return normal(seed, WIDTH // 2, WIDTH // 2) * 0.5

    return loss, [(half(seed), half(seed + 9)) for seed in range(4)]


@registered
def vq_vae() -> Model:
    """A VQ-VAE: the nearest entries of a codebook, with straight-through gradients."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        encoder, codebook, decoder = parameters
        z = nn.relu(x @ encoder)
        squares = (z**2).sum(-1, keepdims=True)
        nearest = jnp.argmin(squares - 2 * z @ codebook.T + (codebook**2).sum(-1), -1)
        code = codebook[nearest]
        decoded = (z + lax.stop_gradient(code - z)) @ decoder
        codebook_loss = jnp.mean((lax.stop_gradient(z) - code) ** 2)
        commitment = jnp.mean((z - lax.stop_gradient(code)) ** 2)
        return jnp.mean((decoded - x) ** 2) + codebook_loss + 0.25 * commitment

    return loss, [square(0), normal(1, 32, WIDTH, divisor=1), square(2)]


@registered
def delta_rule() -> Model:
    """DeltaNet: a recurrence whose state the delta rule changes."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        query, key, value, rates = projected(parameters, x)
        turns = (query, unit(key), value, nn.sigmoid(rates))
        first = jnp.zeros((4, WIDTH, WIDTH))
        results = lax.scan(_delta_step, first, tuple(turn.swapaxes(0, 1) for turn in turns))[1]
        return jnp.mean(results**2)

    return loss, [*(square(seed) for seed in range(3)), normal(3, WIDTH, 1)]


def _delta_step(state: jax.Array, turn: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
    """A turn of `delta_rule`."""
    query, key, value, rate = turn
    error = value - jnp.einsum("bij,bj->bi", state, key)
    state = state + rate[..., None] * error[..., None] * key[:, None]
    return state, jnp.einsum("bij,bj->bi", state, query)


@registered
def kernel_regression() -> Model:
    """Regression with a Gaussian kernel of learned features."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        features = x @ parameters[0]
        distances = ((features[:, None] - features[None]) ** 2).sum(-1) / WIDTH
        return jnp.mean((jnp.exp(-distances) @ parameters[1]) ** 2)

    return loss, [square(0), normal(1, BATCH, 8, divisor=1)]


@registered
def ppo() -> Model:
    """PPO: a clipped policy and a value, with large returns."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        hidden = jnp.tanh(x @ parameters[0])
        chosen = nn.log_softmax(hidden @ parameters[1])[:, 0]
        ratio = jnp.exp(chosen - lax.stop_gradient(chosen) - 0.1)
        advantages = normal(5, BATCH, divisor=1)
        policy = -jnp.mean(jnp.minimum(ratio * advantages, jnp.clip(ratio, 0.8, 1.2) * advantages))
        return policy + 0.5 * jnp.mean(((hidden @ parameters[2])[:, 0] - 100 * advantages) ** 2)

    return loss, [square(0), normal(1, WIDTH, 8), normal(2, WIDTH, 1)]


@registered
def film() -> Model:
    """FiLM: features that a condition multiplies and shifts."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        features, scaling, shift, last = parameters
        condition = x[::-1]
        changed = (x @ features) * (1 + condition @ scaling) + condition @ shift
        return jnp.mean((nn.relu(changed) @ last) ** 2)

    return loss, [square(seed) for seed in range(4)]


@registered
def highway() -> Model:
    """Six layers of a highway network."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        for weight, gate in parameters:
            opened = nn.sigmoid(x @ gate - 1)
            x = opened * nn.relu(x @ weight) + (1 - opened) * x
        return jnp.mean(x**2)

    return loss, [(square(seed), square(seed + 20)) for seed in range(6)]


@registered
def cosine_classifier() -> Model:
    """A softmax of cosines between features and classes."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        features, classes = unit(nn.relu(x @ parameters[0])), unit(parameters[1])
        return -jnp.mean(nn.log_softmax(30 * features @ classes.T)[:, 0])

    return loss, [square(0), normal(1, 100, WIDTH, divisor=1)]


@registered
def bilinear() -> Model:
    """The product of two projections, and a layer."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        first, second, last = parameters
        return jnp.mean((((x @ first) * (x @ second)) @ last) ** 2)

    return loss, [square(0), square(1), normal(2, WIDTH, 8)]


@registered
def polynomial_features() -> Model:
    """Regression on powers of the inputs."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        return jnp.mean((perceptron(parameters, jnp.concatenate([x, x**2, x**3], -1)) - 1) ** 2)

    return loss, [normal(0, WIDTH * 3, WIDTH), normal(1, WIDTH, 1)]


@registered
def log_sum_exp() -> Model:
    """A layer, and a product of matrices of exponentials that is computed from logarithms."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        terms = (x @ parameters[0])[:, None] + parameters[1][None]
        return jnp.mean(nn.logsumexp(terms, -1) ** 2)

    return loss, [square(0), square(1)]
