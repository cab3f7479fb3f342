"""Models of Keras' layers on JAX, with Keras' optimizers."""

from typing import Any

import jax
import keras
import numpy as np
from keras import layers

from benchmarks.models.model import Training
from benchmarks.zoo.tasks import BATCH, CLASSES, Batch, images, tokens

VOCAB, LENGTH, WIDTH, FIELDS = 64, 16, 48, 6


def fitted(model: Any, loss: Any, batch: Batch, optimizer: Any = None) -> Training:
    """Trains a built model on ``loss(labels, outputs)`` with the last array of a batch as labels.

    The random state of dropout is among the variables that are carried.
    """
    optimizer = optimizer or keras.optimizers.AdamW(2e-3)
    optimizer.build(model.trainable_variables)

    def step(state: Any, *batch: Any) -> tuple[Any, jax.Array]:
        *inputs, labels = batch
        given = inputs[0] if len(inputs) == 1 else inputs

        def value(trained: Any, kept: Any) -> Any:
            outputs, kept = model.stateless_call(trained, kept, given, training=True)
            return loss(labels, outputs), kept

        trained, kept, own = state
        gradient = jax.value_and_grad(value, has_aux=True)
        (found, kept), gradients = gradient(trained, kept)
        trained, own = optimizer.stateless_apply(own, gradients, trained)
        return (trained, kept, own), found

    groups = (model.trainable_variables, model.non_trainable_variables, optimizer.variables)
    return Training(tuple([v.value for v in group] for group in groups), step, batch)


def classes() -> Any:
    """The cross entropy of labels and logits."""
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def cnn(seed: int = 0) -> Training:
    """Convolutions, BatchNormalization, MaxPool, Dropout, Dense."""
    keras.utils.set_random_seed(seed)
    parts = (
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.BatchNormalization(),
        layers.MaxPool2D(),
        layers.Conv2D(64, 3, activation="relu"),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(64, activation="relu"),
        layers.Dense(CLASSES),
    )
    model = keras.Sequential([keras.Input((12, 12, 4)), *parts])
    return fitted(model, classes(), images(12, 4, noise=2.0))


def separable(seed: int = 0) -> Training:
    """SeparableConv2D and DepthwiseConv2D with swish, and global pooling."""
    keras.utils.set_random_seed(seed)
    parts = (
        layers.Conv2D(32, 3, 2, padding="same"),
        layers.BatchNormalization(),
        layers.Activation("swish"),
        layers.SeparableConv2D(64, 3, padding="same", activation="swish"),
        layers.DepthwiseConv2D(3, padding="same"),
        layers.BatchNormalization(),
        layers.Activation("swish"),
        layers.Conv2D(64, 1),
        layers.GlobalAveragePooling2D(),
        layers.Dense(CLASSES),
    )
    return fitted(keras.Sequential([keras.Input((8, 8, 3)), *parts]), classes(), images())


def autoencoder(seed: int = 0) -> Training:
    """Conv2DTranspose, UpSampling2D, LeakyReLU."""
    keras.utils.set_random_seed(seed)
    parts = (
        layers.Conv2D(32, 3, 2, padding="same"),
        layers.LeakyReLU(),
        layers.Conv2D(64, 3, 2, padding="same"),
        layers.BatchNormalization(),
        layers.LeakyReLU(),
        layers.Conv2DTranspose(32, 3, 2, padding="same"),
        layers.LeakyReLU(),
        layers.UpSampling2D(),
        layers.Conv2D(3, 3, padding="same"),
    )
    pictures = images(noise=0.3)
    model = keras.Sequential([keras.Input((8, 8, 3)), *parts])
    return fitted(model, keras.losses.MeanSquaredError(), lambda i: (pictures(i)[0],) * 2)


def recurrent(seed: int = 0) -> Training:
    """Embedding with a mask of zeros, two directions of LSTM, a GRU."""
    keras.utils.set_random_seed(seed)
    parts = (
        layers.Embedding(VOCAB, WIDTH, mask_zero=True),
        layers.Bidirectional(layers.LSTM(WIDTH, return_sequences=True)),
        layers.GRU(WIDTH),
        layers.Dense(CLASSES),
    )
    words = tokens(VOCAB, LENGTH)

    def batch(number: int) -> tuple[Any, ...]:
        (drawn,) = words(number)
        return drawn, (drawn[:, -1] % CLASSES).astype(np.int32)

    model = keras.Sequential([keras.Input((LENGTH,), dtype="int32"), *parts])
    return fitted(model, classes(), batch, keras.optimizers.Adam(4e-3))


def transformer(seed: int = 0) -> Training:
    """MultiHeadAttention with a causal mask; predicts the next token."""
    keras.utils.set_random_seed(seed)
    given = keras.Input((LENGTH,), dtype="int32")
    places = layers.Embedding(LENGTH, WIDTH)(keras.ops.arange(LENGTH))
    x = layers.Embedding(VOCAB, WIDTH)(given) + places
    for _ in range(2):
        y = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(4, 12, dropout=0.1)(y, y, use_causal_mask=True)
        y = layers.Dense(4 * WIDTH, activation="gelu")(layers.LayerNormalization()(x))
        x = x + layers.Dropout(0.1)(layers.Dense(WIDTH)(y))
    model = keras.Model(given, layers.Dense(VOCAB)(layers.LayerNormalization()(x)))
    words = tokens(VOCAB, LENGTH + 1)
    return fitted(model, classes(), lambda i: (words(i)[0][:, :-1], words(i)[0][:, 1:]))


def clicks(seed: int = 0) -> Training:
    """A click model after DLRM: sparse tables, one-hot fields, products of pairs."""
    keras.utils.set_random_seed(seed)
    numbers, rows = keras.Input((13,)), keras.Input((FIELDS,), dtype="int32")
    day = keras.Input((), dtype="int32")
    dense = layers.Dense(WIDTH, activation="relu")(layers.Dense(64, activation="relu")(numbers))
    tables = [layers.Embedding(500, WIDTH)(rows[:, i]) for i in range(FIELDS)]
    hot = layers.Dense(WIDTH)(layers.CategoryEncoding(7, output_mode="one_hot")(day))
    stack = keras.ops.stack([dense, hot, *tables], 1)
    pairs = layers.Flatten()(layers.Dot(2)([stack, stack]))
    top = layers.Dense(64, activation="relu")(layers.Concatenate()([dense, pairs]))
    model = keras.Model([numbers, rows, day], layers.Dense(1)(top))

    def batch(number: int) -> tuple[Any, ...]:
        rng = np.random.default_rng(number)
        x = rng.lognormal(size=(BATCH, 13)).astype(np.float32)
        rows = np.minimum(rng.zipf(1.3, (BATCH, FIELDS)), 499).astype(np.int32)
        day = rng.integers(0, 7, BATCH).astype(np.int32)
        clicked = (rows[:, 0] < 3) ^ (day > 5) | (x[:, 0] > 3)
        return np.log1p(x), rows, day, clicked[:, None].astype(np.float32)

    return fitted(model, keras.losses.BinaryCrossentropy(from_logits=True), batch)
