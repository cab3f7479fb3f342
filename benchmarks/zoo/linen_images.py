"""Models of images in Flax's linen."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from benchmarks.models.model import Training
from benchmarks.zoo.tasks import ADAMW, BATCH, CLASSES, images, key, labelled, learned, learned_with

WIDTH, HEADS, PATCH = 48, 4, 2


def classifier(module: nn.Module, seed: int, optimizer: Any = ADAMW) -> Training:
    """Trains a module that takes images and ``train``, with batch statistics and dropout."""
    batch = images()
    first = module.init(key(seed), batch(0)[0], train=False)
    variables = {name: first[name] for name in first if name != "params"}

    def loss(params: Any, variables: Any, key: Any, x: Any, labels: Any) -> Any:
        logits, variables = module.apply(
            {"params": params, **variables},
            x,
            train=True,
            rngs={"dropout": key},
            mutable=list(variables),
        )
        return labelled(logits, labels), variables

    return learned_with(loss, first["params"], variables, batch, seed, optimizer)


class Residual(nn.Module):
    """Two convolutions with BatchNorm, beside a shortcut."""

    width: int
    stride: int = 1

    @nn.compact
    def __call__(self, x: Any, train: bool) -> Any:
        """Convolves twice and adds."""
        strides = (self.stride, self.stride)
        y = nn.Conv(self.width, (3, 3), strides, use_bias=False)(x)
        y = nn.relu(nn.BatchNorm(not train)(y))
        y = nn.Conv(self.width, (3, 3), use_bias=False)(y)
        y = nn.BatchNorm(not train, scale_init=nn.initializers.zeros)(y)
        if x.shape != y.shape:
            x = nn.BatchNorm(not train)(nn.Conv(self.width, (1, 1), strides, use_bias=False)(x))
        return nn.relu(x + y)


class ResNet(nn.Module):
    """Three stages of two blocks, the last gains of which begin at zero."""

    @nn.compact
    def __call__(self, x: Any, train: bool) -> Any:
        """Logits of the classes."""
        x = nn.relu(nn.BatchNorm(not train)(nn.Conv(32, (3, 3), use_bias=False)(x)))
        for width, stride in ((32, 1), (32, 1), (64, 2), (64, 1), (96, 2), (96, 1)):
            x = Residual(width, stride)(x, train)
        return nn.Dense(CLASSES)(x.mean((1, 2)))


class MobileNet(nn.Module):
    """Inverted residuals of depthwise and pointwise convolutions, with ReLU6."""

    @nn.compact
    def __call__(self, x: Any, train: bool) -> Any:
        """Logits of the classes."""
        x = nn.relu6(nn.BatchNorm(not train)(nn.Conv(32, (3, 3), use_bias=False)(x)))
        for stride in (1, 2, 1):
            y = nn.Conv(96, (1, 1), use_bias=False)(x)
            y = nn.relu6(nn.BatchNorm(not train)(y))
            y = nn.Conv(96, (3, 3), (stride, stride), feature_group_count=96, use_bias=False)(y)
            y = nn.relu6(nn.BatchNorm(not train)(y))
            y = nn.BatchNorm(not train)(nn.Conv(32, (1, 1), use_bias=False)(y))
            x = x + y if x.shape == y.shape else y
        return nn.Dense(CLASSES)(nn.Dropout(0.2)(x.mean((1, 2)), deterministic=not train))


class Mixer(nn.Module):
    """MLPs over patches and over channels in turn."""

    @nn.compact
    def __call__(self, x: Any, train: bool) -> Any:
        """Logits of the classes."""
        x = nn.Conv(WIDTH, (PATCH, PATCH), (PATCH, PATCH))(x).reshape(BATCH, -1, WIDTH)
        for _ in range(4):
            y = nn.LayerNorm()(x).swapaxes(1, 2)
            y = nn.Dense(x.shape[1])(nn.gelu(nn.Dense(32)(y))).swapaxes(1, 2)
            x = x + nn.Dropout(0.1)(y, deterministic=not train)
            y = nn.Dense(WIDTH)(nn.gelu(nn.Dense(4 * WIDTH)(nn.LayerNorm()(x))))
            x = x + nn.Dropout(0.1)(y, deterministic=not train)
        return nn.Dense(CLASSES, kernel_init=nn.initializers.zeros)(nn.LayerNorm()(x).mean(1))


class ViT(nn.Module):
    """An encoder of patches with a class token and learned positions."""

    @nn.compact
    def __call__(self, x: Any, train: bool) -> Any:
        """Logits of the classes."""
        x = nn.Conv(WIDTH, (PATCH, PATCH), (PATCH, PATCH))(x).reshape(BATCH, -1, WIDTH)
        token = self.param("class_token", nn.initializers.zeros, (1, 1, WIDTH))
        x = jnp.concatenate([jnp.tile(token, (BATCH, 1, 1)), x], 1)
        x = x + self.param("positions", nn.initializers.normal(0.02), (1, x.shape[1], WIDTH))
        x = nn.Dropout(0.1)(x, deterministic=not train)
        for _ in range(3):
            attend = nn.MultiHeadDotProductAttention(HEADS, dropout_rate=0.1)
            x = x + attend(nn.LayerNorm()(x), deterministic=not train)
            y = nn.Dense(WIDTH)(nn.gelu(nn.Dense(4 * WIDTH)(nn.LayerNorm()(x))))
            x = x + nn.Dropout(0.1)(y, deterministic=not train)
        return nn.Dense(CLASSES)(nn.LayerNorm()(x)[:, 0])


class UNet(nn.Module):
    """Max pooling down, transposed convolutions up, and concatenated shortcuts."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """A logit for each pixel."""
        kept = []
        for width in (32, 48):
            x = nn.relu(nn.GroupNorm(8)(nn.Conv(width, (3, 3))(x)))
            kept.append(x)
            x = nn.max_pool(x, (2, 2), (2, 2))
        x = nn.relu(nn.GroupNorm(8)(nn.Conv(64, (3, 3))(x)))
        for skip in reversed(kept):
            x = nn.ConvTranspose(skip.shape[-1], (2, 2), (2, 2))(x)
            x = nn.relu(nn.Conv(skip.shape[-1], (3, 3))(jnp.concatenate([x, skip], -1)))
        return nn.Conv(1, (1, 1))(x)[..., 0]


class Autoencoder(nn.Module):
    """Strided convolutions to a code of 32 numbers, and transposed ones back."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """The image again."""
        y = nn.relu(nn.Conv(32, (3, 3), (2, 2))(x))
        y = nn.relu(nn.Conv(64, (3, 3), (2, 2))(y))
        y = nn.Dense(32)(y.reshape(BATCH, -1))
        y = nn.relu(nn.Dense(2 * 2 * 64)(y)).reshape(BATCH, 2, 2, 64)
        y = nn.relu(nn.ConvTranspose(32, (3, 3), (2, 2))(y))
        return nn.ConvTranspose(x.shape[-1], (3, 3), (2, 2))(y)


def resnet(seed: int = 0) -> Training:
    """A ResNet whose BatchNorm is in training mode."""
    return classifier(ResNet(), seed)


def mobilenet(seed: int = 0) -> Training:
    """Depthwise-separable convolutions."""
    return classifier(MobileNet(), seed)


def mixer(seed: int = 0) -> Training:
    """MLP-Mixer."""
    return classifier(Mixer(), seed)


def vit(seed: int = 0) -> Training:
    """A vision transformer."""
    return classifier(ViT(), seed)


def unet(seed: int = 0) -> Training:
    """Segments what is bright in a smoothed image."""
    module, batch = UNet(), images()

    def loss(params: Any, x: jax.Array, _: jax.Array) -> jax.Array:
        target = nn.avg_pool(x, (3, 3), padding="SAME").mean(-1) > 0
        logits = module.apply(params, x)
        return -jnp.mean(jax.nn.log_sigmoid(jnp.where(target, logits, -logits)))

    return learned(loss, module.init(key(seed), batch(0)[0]), batch)


def autoencoder(seed: int = 0) -> Training:
    """Reconstructs images."""
    module, batch = Autoencoder(), images(noise=0.3)

    def loss(params: Any, x: jax.Array, _: jax.Array) -> jax.Array:
        return jnp.mean((module.apply(params, x) - x) ** 2)

    return learned(loss, module.init(key(seed), batch(0)[0]), batch)
