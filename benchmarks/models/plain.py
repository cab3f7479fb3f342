"""GPT-2 in plain JAX, the model of the examples, at two depths."""

import jax

from benchmarks.models.model import ADAMW, Case, Model, drawn, integers, trained
from examples import gpt2

VOCAB, BATCH, SEQUENCE, WIDTH = 96, 2, 16, 32


def gpt2_jax(layers: int = 4) -> Model:
    """Predicts the next token; trained with AdamW."""
    config = gpt2.Config(layers, WIDTH, 2, SEQUENCE, VOCAB, BATCH)
    params = drawn(jax.eval_shape(lambda key: gpt2.init(key, config), jax.random.key(0)))
    tokens = integers(VOCAB, BATCH, SEQUENCE + 1)
    return Model(
        Case(gpt2.logits, (params, tokens[:, :-1])), trained(gpt2.loss, ADAMW, params, tokens)
    )


def gpt2_jax_12() -> Model:
    """The same with twelve layers, as many as the smallest that was published."""
    return gpt2_jax(12)
