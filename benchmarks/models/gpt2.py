"""GPT-2 of Hugging Face's transformers (Flax)."""

from functools import partial
from typing import Any

import jax
from transformers import FlaxGPT2LMHeadModel, GPT2Config

from benchmarks.models.model import ADAMW, Case, Model, drawn, integers, trained
from examples.training import cross_entropy

VOCAB, BATCH, SEQUENCE = 96, 2, 16
CONFIG = GPT2Config(vocab_size=VOCAB, n_positions=SEQUENCE, n_embd=32, n_layer=4, n_head=2)


def parameters(module: Any) -> Any:
    """Random parameters of a model of the package that reads tokens."""
    initialize = partial(module.init_weights, input_shape=(1, SEQUENCE))
    return drawn(jax.eval_shape(initialize, jax.random.PRNGKey(0)))


def language_model(module: Any) -> Model:
    """A model of the package that predicts the next token, trained with AdamW."""
    params = parameters(module)
    tokens, labels = (integers(VOCAB, BATCH, SEQUENCE, seed=s) for s in range(2))

    def forward(params: Any, tokens: jax.Array) -> jax.Array:
        return module(tokens, params=params).logits

    def loss(params: Any, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        return cross_entropy(forward(params, tokens), labels)

    return Model(Case(forward, (params, tokens)), trained(loss, ADAMW, params, tokens, labels))


def gpt2() -> Model:
    """Four layers, tanh GELU, tied embedding."""
    return language_model(FlaxGPT2LMHeadModel(CONFIG, _do_init=False))
