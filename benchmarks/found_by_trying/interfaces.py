"""Points 18 to 22: interfaces."""

import re
import subprocess
import sys
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

import scalify_hlo
from benchmarks.found_by_trying.checks import (
    Check,
    command,
    expect,
    exported,
    folder,
    quiet,
    refused,
    require,
    text_of,
)
from scalify_hlo import ScalifyError


def _orders() -> None:
    square = exported(jnp.square, jnp.ones(4))
    program = scalify_hlo.rewrite(square, recipe="propagate", signature="scaled")
    with folder() as path:
        file = path / "squared"
        file.write_bytes(scalify_hlo.serialize(program))
        for imports in ("import scalify_hlo, jax", "import jax, scalify_hlo"):
            code = f"{imports}; scalify_hlo.deserialize(open({str(file)!r}, 'rb').read())"
            subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def _states() -> None:
    state = optax.adam(1e-3).init({"w": jnp.ones(4)})
    program = exported(lambda s: s, state)
    found = scalify_hlo.deserialize(scalify_hlo.serialize(program)).call(state)
    before, after = (str(jax.tree.structure(tree)) for tree in (state, found))
    require(before == after, f"it is {after}")


def _rules() -> None:
    wrong: Any = 42
    refused(lambda: scalify_hlo.register_rule("stablehlo.sine", wrong), ScalifyError, "sine")


def _options_of_scalify() -> None:
    x = jnp.ones((4, 4))
    scalify_hlo.scalify(jnp.matmul, input_scale={"*": 0.5})(x, x)
    mapped = jax.vmap(scalify_hlo.scalify(jnp.square))
    said = "vmap"
    try:
        mapped(scalify_hlo.as_scaled_array(x))
    except Exception as error:
        said = str(error)
    require("vmap" in said, f"it does not say what to do: {said}")


def _names() -> None:
    model = nn.MultiHeadDotProductAttention(num_heads=2)
    x = jnp.ones((2, 32, 64))
    params = model.init(jax.random.key(0), x)
    text = text_of(model.apply, params, x)
    with quiet():
        settings = {"matmul.exclude": ["*attention*"]}
        _, report = scalify_hlo.rewrite(text, recipe="fp8", settings=settings, report=True)
    require(all(matmul.wide and matmul.wide.chosen for matmul in report.matmuls), "some are narrow")
    with folder() as path:
        file = path / "mine.toml"
        file.write_text('base = "fp8"\n[matmuls]\nweight = "f8E4M3FN"\n')
        refused(
            lambda: scalify_hlo.load_recipe(str(file)), ScalifyError, "matmul.weight", "mine.toml:3"
        )
    refused(lambda: scalify_hlo.load_recipe("fp8", {"matmul.weight": "e4m4"}), ScalifyError, "e4m3")


def _targets() -> None:
    x = jax.ShapeDtypeStruct((64, 64), jnp.float32)
    text = text_of(jnp.matmul, x, x)
    for target in ("tpu", "iree", "portable"):  # newer jaxlibs hold none for GPUs either
        with quiet():
            found = scalify_hlo.rewrite(text, recipe="fp8", settings={"target": target})
        require(not re.search(r"algorithm\s*=", found), f"{target} is told an algorithm")


def _again() -> None:
    text = text_of(jnp.square, jnp.ones(4))
    once = command("rewrite", "-", "--input-scale", "*=2^-4", text=text).stdout
    expect(command("rewrite", "-", text=once), 1, "--again")
    expect(command("rewrite", "-", "--signature", "scaled", "--again", text=once), 0)


CHECKS = {
    18: [
        Check("files with pairs are read in any order of imports", _orders),
        Check("states of optax are serialized", _states),
    ],
    19: [
        Check("wrong rules are named", _rules),
        Check("scalify takes input scales, and vmap works or says why not", _options_of_scalify),
    ],
    20: [Check("names match in any case, and mistakes are named", _names)],
    21: [Check("targets decide about algorithms", _targets)],
    22: [Check("programs are not rewritten twice unless asked", _again)],
}
