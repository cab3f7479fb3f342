"""BERT of Hugging Face's transformers (Flax): masked language model, exact GELU, dropout."""

from functools import partial
from typing import Any

import jax
from transformers import BertConfig, FlaxBertForMaskedLM

from benchmarks.models.model import ADAMW, Case, Model, drawn, integers, trained
from examples.training import cross_entropy

VOCAB, BATCH, SEQUENCE = 96, 2, 16
CONFIG = BertConfig(
    vocab_size=VOCAB,
    hidden_size=32,
    num_hidden_layers=4,
    num_attention_heads=2,
    intermediate_size=64,
    max_position_embeddings=SEQUENCE,
)


def bert(**options: Any) -> Model:
    """Four layers; training drops out activations at a tenth."""
    module = FlaxBertForMaskedLM(CONFIG, _do_init=False, **options)
    shapes = jax.eval_shape(partial(module.init_weights, input_shape=(1, SEQUENCE)), _key())
    params = drawn(shapes)
    tokens, labels = (integers(VOCAB, BATCH, SEQUENCE, seed=s) for s in range(2))
    mask = (integers(8, BATCH, SEQUENCE, seed=2) > 0).astype("int32")

    def forward(params: Any, tokens: jax.Array, mask: jax.Array) -> jax.Array:
        return module(tokens, attention_mask=mask, params=params).logits

    def loss(params: Any, tokens: jax.Array, mask: jax.Array, labels: jax.Array, key: Any) -> Any:
        logits = module(
            tokens, attention_mask=mask, params=params, dropout_rng=key, train=True
        ).logits
        return cross_entropy(logits, labels)

    return Model(
        Case(forward, (params, tokens, mask)),
        trained(loss, ADAMW, params, tokens, mask, labels, _key()),
    )


def _key() -> jax.Array:
    return jax.random.PRNGKey(0)
