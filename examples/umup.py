"""u-µP and µnit Scaling in `scalify_hlo.unit`: the best learning rate does not move with the width.

    python -m examples.umup                        # widths 16 and 64, some ten seconds on a CPU
    python -m examples.umup 64 128 256 512 --post  # wider, with the norms of µnit Scaling

Rules of u-µP (arXiv 2407.17465): multipliers and learning rates of table 2 with the embedding rule
of section 4.4, the hyperparameters of section 4.3, and the residual scheme of appendix G.2. Rules
of µnit Scaling (arXiv 2502.05967): a norm at the end of each branch, one share for all branches.
"""

import argparse
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from examples.training import Params, cross_entropy
from scalify_hlo import unit

VOCAB, HEAD, BATCH, SEQUENCE = 64, 16, 16, 32


class Config(NamedTuple):
    """A model: its size, and the hyperparameters of u-µP, whose defaults are 1 at any size.

    Attributes:
        width: Of activations; heads have 16 numbers.
        depth: Of layers, each an attention and an FFN.
        umup: Whether the rules are applied; else a plain model of the standard parametrization.
        post: Whether branches end in a norm, as in µnit Scaling, and not begin with one.
        share: With `post`, tau: the share of each branch in the variance of a sum.
        attention: Multiplies the logits of attention (alpha_attn-softmax).
        activation: Multiplies the input of activations (alpha_ffn-act).
        residual: The weight of branches against the embedding (alpha_res).
        loss: Multiplies the logits of the loss (alpha_loss-softmax).
    """

    width: int
    depth: int = 1
    umup: bool = True
    post: bool = False
    share: float = 0.3
    attention: float = 1.0
    activation: float = 1.0
    residual: float = 1.0
    loss: float = 1.0


def init(config: Config, seed: int = 1) -> Params:
    """Draws weights of variance 1, or of 1 / fan-in for the standard parametrization."""
    width, random = config.width, np.random.default_rng(seed)
    shapes = {"qkv": (width, 3 * width), "out": (width, width)}
    shapes |= {"up": (width, 4 * width), "down": (4 * width, width)}

    def weight(*shape: int, spread: float = 1.0) -> Any:
        return random.normal(0, spread, shape).astype(np.float32)

    def linear(*shape: int) -> Any:
        return weight(*shape, spread=1.0 if config.umup else shape[0] ** -0.5)

    layers = [{n: linear(*shape) for n, shape in shapes.items()} for _ in range(config.depth)]
    tables = [weight(VOCAB, width) for _ in range(2)]
    return {"embed": tables, "layers": layers, "head": linear(width, VOCAB)}


def rates(params: Params, config: Config) -> Params:
    """Returns the learning rate of each weight over that of the optimizer (table 2, for Adam).

    fan-out^(-1/2) for embeddings, fan-in^(-1/2) for hidden weights, and 1 for the head; those on
    residual branches are divided by the root of the number of branches.
    """
    branches = 2 * config.depth

    def rate(path: Any, weight: jax.Array) -> float:
        if not config.umup or path[0].key == "head":
            return 1.0
        embeds = path[0].key == "embed"
        return weight.shape[1] ** -0.5 if embeds else (weight.shape[0] * branches) ** -0.5

    return jax.tree_util.tree_map_with_path(rate, params)


def scale_by_rates(config: Config) -> optax.GradientTransformation:
    """An optax transform that multiplies the update of each weight by its rate."""
    return optax.stateless(lambda u, _: jax.tree.map(jnp.multiply, u, rates(u, config)))


def shares(config: Config) -> list[float]:
    """Returns tau of each branch: fixed, or by depth so that all weigh the same (appendix G.2)."""
    ratio = config.residual**2
    running = [ratio / (config.depth + n * ratio) for n in range(1, 2 * config.depth + 1)]
    return [config.share] * len(running) if config.post else running


def logits(params: Params, tokens: jax.Array, config: Config) -> jax.Array:
    """Scores of the next token, of the last two tokens, float of shape (batch, sequence, VOCAB)."""
    linear = unit.linear if config.umup else jnp.matmul
    silu = unit.silu if config.umup else jax.nn.silu
    before = jnp.roll(tokens, 1, -1)
    embed = unit.embedding if config.umup else lambda tokens, table: table[tokens]
    pair = [embed(t, table) for t, table in zip((tokens, before), params["embed"], strict=True)]
    x = unit.weighted_add(pair, (1, 1), cut=config.umup)

    def attention(layer: Params, x: jax.Array) -> jax.Array:
        qkv = linear(x, layer["qkv"]).reshape(*x.shape[:-1], 3, -1, HEAD)
        q, k, v = jnp.moveaxis(qkv, (-3, -2), (0, 2))
        mixed = unit.attention(config.attention * q, k, v, causal=True)
        return linear(jnp.moveaxis(mixed, 1, 2).reshape(x.shape), layer["out"])

    def ffn(layer: Params, x: jax.Array) -> jax.Array:
        return linear(silu(config.activation * linear(x, layer["up"])), layer["down"])

    branches = [partial(f, layer) for layer in params["layers"] for f in (attention, ffn)]
    for branch, tau in zip(branches, shares(config), strict=True):
        z, skip = unit.residual_split(x, tau)
        z = unit.rms_norm(branch(z)) if config.post else branch(unit.rms_norm(z))
        x = unit.residual_add(z, skip, tau)
    x = unit.rms_norm(x)
    if not config.umup:
        return x @ params["head"]
    y = unit.linear(x, params["head"], constraint=None)
    return config.loss * unit.identity(y, config.width**-0.5, 1.0)  # 1 / fan-in forward.


def data(steps: int, seed: int = 0) -> Any:
    """Draws tokens, each made of the two before by a network, int32 (steps, BATCH, SEQUENCE)."""
    random = np.random.default_rng(seed)
    first, second, out = (random.normal(size=(VOCAB, 8)) for _ in range(3))
    scores = 2 * np.tanh(first[:, None] + second) @ out.T
    tokens = random.integers(0, VOCAB, (SEQUENCE, steps, BATCH))
    for t in range(2, SEQUENCE):
        noisy = scores[tokens[t - 2], tokens[t - 1]] + random.gumbel(size=(steps, BATCH, VOCAB))
        tokens[t] = noisy.argmax(-1)
    return np.moveaxis(tokens, 0, -1).astype(np.int32)


@partial(jax.jit, static_argnames="config")
def train(rate: float, params: Params, tokens: Any, config: Config) -> jax.Array:
    """Trains by Adam, a step for each batch, and returns the mean loss of the last quarter."""
    optimizer = optax.chain(optax.adam(rate, b2=0.95), scale_by_rates(config))
    entropy = unit.cross_entropy if config.umup else cross_entropy

    def loss(params: Params, tokens: jax.Array) -> jax.Array:
        return entropy(logits(params, tokens[:, :-1], config)[:, 1:], tokens[:, 2:])

    def step(state: Any, tokens: jax.Array) -> tuple[Any, jax.Array]:
        params, moments = state
        value, gradients = jax.value_and_grad(loss)(params, tokens)
        updates, moments = optimizer.update(gradients, moments, params)
        return (optax.apply_updates(params, updates), moments), value

    _, losses = jax.lax.scan(step, (params, optimizer.init(params)), tokens)
    return jnp.mean(losses[-(len(tokens) // 4) :])


def sweep(config: Config, exponents: Iterable[int], steps: int = 64) -> dict[int, float]:
    """Returns the loss at each learning rate 2^exponent."""
    params, tokens = init(config), data(steps)
    return {e: float(train(2.0**e, params, tokens, config)) for e in exponents}


def main() -> None:
    """Prints the loss at each learning rate, and the best one, for each width."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("widths", nargs="*", type=int, default=[16, 64])
    parser.add_argument("--post", action="store_true", help="norms at the end of branches")
    parser.add_argument("--steps", type=int, default=64)
    given = parser.parse_args()
    for name, umup, exponents in (("u-µP", True, range(-3, 2)), ("standard", False, range(-8, -3))):
        for width in given.widths:
            losses = sweep(Config(width, umup=umup, post=given.post), exponents, given.steps)
            row = "  ".join(f"2^{e} {loss:.2f}" for e, loss in losses.items())
            print(
                f"{name} {width}: best 2^{min(losses, key=losses.__getitem__)}; {row}", flush=True
            )


if __name__ == "__main__":
    main()
