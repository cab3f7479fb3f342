"""ResNet-50 of keras.applications, on Keras' JAX backend: 50 layers, batch normalization."""

import os
from typing import Any

import jax
import optax

from benchmarks.models.model import SGD, Case, Model, amid_training, drawn, integers, normals
from examples.training import cross_entropy

BATCH, CLASSES, SIZE = 4, 10, 64

LAST_GAIN = 0.01
"""What the last gains of the residual blocks are multiplied with.

Training begins with these gains at 0 (Goyal et al. 2017, §5.1). With gains near 1 the step is
chaotic: a last bit of the first layers grows to 1e-5 of the features, a handful of the last ReLUs
flip, of 16 samples each, and gradients of XLA's own two compilations of the original, with fusion
and without, differ by a tenth.
"""


def resnet50() -> Model:
    """The whole model, on small images; training updates the statistics of the layers too."""
    os.environ["KERAS_BACKEND"] = "jax"
    import keras

    model = keras.applications.ResNet50(
        weights=None, input_shape=(SIZE, SIZE, 3), classes=CLASSES, classifier_activation=None
    )
    params, statistics = (
        drawn({f"{i:03}/{v.path}": v.value for i, v in enumerate(variables)})
        for variables in (model.trainable_variables, model.non_trainable_variables)
    )
    params = {path: LAST_GAIN * v if "_3_bn/gamma" in path else v for path, v in params.items()}
    images, labels = normals(BATCH, SIZE, SIZE, 3), integers(CLASSES, BATCH)

    def apply(params: Any, statistics: Any, images: jax.Array, training: bool) -> Any:
        trained, kept = list(params.values()), list(statistics.values())
        return model.stateless_call(trained, kept, images, training=training)

    def forward(params: Any, statistics: Any, images: jax.Array) -> jax.Array:
        return apply(params, statistics, images, training=False)[0]

    def loss(params: Any, statistics: Any, images: jax.Array, labels: jax.Array) -> Any:
        logits, kept = apply(params, statistics, images, training=True)
        return cross_entropy(logits, labels), kept

    def step(params: Any, state: Any, statistics: Any, images: Any, labels: Any) -> Any:
        gradient = jax.value_and_grad(loss, has_aux=True)
        (value, kept), gradients = gradient(params, statistics, images, labels)
        updates, state = SGD.update(gradients, state, params)
        statistics = dict(zip(statistics, kept, strict=True))
        return optax.apply_updates(params, updates), state, statistics, value

    return Model(
        Case(forward, (params, statistics, images)),
        Case(step, (params, amid_training(SGD, params), statistics, images, labels)),
    )
