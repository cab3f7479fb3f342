"""Models of packages that people use, to be trained on small tasks under recipes; see `__main__`.

`ZOO` lists them. The layers are those of the packages, with their own initial weights. BatchNorm,
dropout, pooling, embeddings and masks are left in. The models of `benchmarks.models` train too.
"""

import importlib
import os
from collections.abc import Mapping

from benchmarks.models.model import Training

# Both packages read their settings when they are imported. By default the errors of Equinox, and
# those of diffrax, are callbacks, which no export takes.
os.environ["KERAS_BACKEND"] = "jax"
os.environ["EQX_ON_ERROR"] = "nan"

ZOO: Mapping[str, tuple[str, str]] = {
    "resnet": ("flax", "linen_images:resnet"),
    "mobilenet": ("flax", "linen_images:mobilenet"),
    "mixer": ("flax", "linen_images:mixer"),
    "vit": ("flax", "linen_images:vit"),
    "unet": ("flax", "linen_images:unet"),
    "autoencoder": ("flax", "linen_images:autoencoder"),
    "masked-lm": ("flax", "linen_sequences:masked_lm"),
    "seq2seq": ("flax", "linen_sequences:seq2seq"),
    "lstm": ("flax", "linen_sequences:labeller"),
    "perceiver": ("flax", "linen_sequences:perceiver"),
    "clip": ("flax", "linen_sequences:clip"),
    "keras-cnn": ("keras", "keras_nets:cnn"),
    "keras-separable": ("keras", "keras_nets:separable"),
    "keras-autoencoder": ("keras", "keras_nets:autoencoder"),
    "keras-recurrent": ("keras", "keras_nets:recurrent"),
    "keras-transformer": ("keras", "keras_nets:transformer"),
    "keras-clicks": ("keras", "keras_nets:clicks"),
    "cnn-equinox": ("equinox", "equinox_nets:cnn"),
    "batchnorm-equinox": ("equinox", "equinox_nets:batchnorm"),
    "regression": ("equinox", "equinox_nets:regression"),
    "gru-equinox": ("equinox", "equinox_nets:gru"),
    "triplet": ("equinox", "equinox_nets:triplet"),
    "ppo": ("equinox", "equinox_nets:ppo"),
    "gan": ("flax", "adversaries:gan"),
    "resnet-haiku": ("dm-haiku", "haiku_nets:resnet"),
    "lstm-haiku": ("dm-haiku", "haiku_nets:lstm"),
    "transformer-haiku": ("dm-haiku", "haiku_nets:transformer"),
    "vq-vae": ("dm-haiku", "haiku_nets:quantized"),
    "dqn": ("dm-haiku", "haiku_nets:dqn"),
    "wide-nnx": ("flax.nnx", "nnx_nets:wide"),
    "gpt-nnx": ("flax.nnx", "nnx_nets:gpt"),
    "cnn-nnx": ("flax.nnx", "nnx_nets:cnn"),
    "vae-nnx": ("flax.nnx", "nnx_nets:vae"),
    "logistic": ("numpyro", "probabilistic:logistic"),
    "bayesian": ("numpyro", "probabilistic:bayesian"),
    "vae-numpyro": ("numpyro", "probabilistic:vae"),
    "gcn": ("jraph", "graphs:convolution"),
    "graph-network": ("jraph", "graphs:interaction"),
    "gat": ("jraph", "graphs:attention"),
    "focal": ("optax", "optax_losses:focal"),
    "poly": ("optax", "optax_losses:poly"),
    "hinge": ("optax", "optax_losses:hinge"),
    "schedule-free": ("optax", "optax_losses:smoothed"),
    "ntxent": ("optax", "optax_losses:pairs"),
    "ctc": ("optax", "optax_losses:ctc"),
    "neural-ode": ("diffrax", "physics:ode"),
    "points": ("e3nn-jax", "physics:points"),
}
"""The package of each model, its module and the function in it: ``(seed) -> Training``."""


def make(name: str, seed: int = 0) -> Training:
    """Makes a model of `ZOO`.

    Args:
        name: Its name.
        seed: Of its first weights.

    Raises:
        ImportError: Its package is not installed.
    """
    module, _, function = ZOO[name][1].partition(":")
    made: Training = getattr(importlib.import_module(f"benchmarks.zoo.{module}"), function)(seed)
    return made
