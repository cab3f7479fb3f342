"""Files of jax.export that are written and read by any process, whatever it imported first."""

from __future__ import annotations

import enum
import sys
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import scalify_hlo as jsa
from scalify_hlo import InputError, UsageError
from tests.py.shared import samples
from tests.py.shared.commands import python
from tests.py.shared.judge import assert_all_close, program_of, propagated


@pytest.fixture(scope="module")
def scaled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files") / "scaled.jax_export"
    path.write_bytes(jsa.serialize(propagated(samples.exported(), signature="scaled")))
    return path


ORDERS = {
    "scalify_hlo first": "import scalify_hlo, jax",
    "jax first": "import jax, scalify_hlo",
    "jax.export first": "import jax.export, scalify_hlo",
    "jax late": "import scalify_hlo; scalify_hlo.load_recipe(); import jax",
    "jax never": "import scalify_hlo",
    "a submodule of jax": "import scalify_hlo, jax.numpy",
    "jax looked for": "import scalify_hlo, importlib.util as u; u.find_spec('jax'); import jax",
}
READERS = {
    "scalify_hlo": "program = scalify_hlo.deserialize(data)",
    "jax": "program = jax.export.deserialize(bytearray(data))\n"
    "assert jax.__spec__.loader is jax.__loader__\n"
    "assert 'scalify' not in type(jax.__loader__).__module__",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "reader"),
    [(o, r) for o in ORDERS for r in READERS if (o, r) != ("jax never", "jax")],
)
def test_a_scaled_file_is_read_in_any_order(order: str, reader: str, scaled: Path) -> None:
    """JAX reads it as soon as the package is imported."""
    code = (
        f"{ORDERS[order]}\n"
        f"data = open({str(scaled)!r}, 'rb').read()\n"
        f"{READERS[reader]}\n"
        "assert 'ScaledArray' in str(program.in_tree)"
    )
    python("-c", code)


def test_the_package_imports_jax_with_nobody() -> None:
    python("-c", "import sys, scalify_hlo; assert not {'jax', 'numpy'} & set(sys.modules)")


OPTIMIZERS = {
    "adamw": optax.adamw(1e-3),
    "clipped": optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(1e-2, momentum=0.9)),
    "masked": optax.masked(optax.adam(1e-3), {"w": True}),
    "scheduled": optax.inject_hyperparams(optax.adam)(learning_rate=1e-3),
    "accumulated": optax.MultiSteps(optax.adam(1e-3), 2),
    "lion": optax.lion(1e-3),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_states_of_optax_are_written_and_read(name: str, tmp_path: Path) -> None:
    optimizer: Any = OPTIMIZERS[name]
    params = {"w": jnp.ones((3, 3))}

    def step(params: Any, state: Any, x: jax.Array) -> Any:
        gradients = jax.grad(lambda p: jnp.sum((x @ p["w"]) ** 2))(params)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    arguments = params, optimizer.init(params), jnp.ones((2, 3))
    exported = program_of(step, *arguments)
    path = tmp_path / "step"
    for program in (exported, propagated(exported, signature="scaled")):
        path.write_bytes(jsa.serialize(program))
        assert str(jsa.deserialize(path.read_bytes()).in_tree) == str(program.in_tree)
    code = f"import scalify_hlo, optax; scalify_hlo.deserialize(open({str(path)!r}, 'rb').read())"
    python("-c", code)
    found = jsa.deserialize(jsa.serialize(exported)).call(*arguments)
    assert_all_close(found, step(*arguments), rtol=1e-5, atol=1e-6)


class State(NamedTuple):
    x: Any


class Color(enum.Enum):
    RED = 1


class Sentinel:
    """Of which the module has one."""


MISSING = Sentinel()


@jax.tree_util.register_pytree_node_class
class Layer:
    """A node as those of Equinox: with whatever describes it beside the arrays."""

    def __init__(self, x: Any, aux: Any) -> None:
        self.x, self.aux = x, aux

    def tree_flatten(self) -> Any:
        return (self.x,), self.aux

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Any) -> Any:
        return cls(children[0], aux)


def layer_file(aux: Any) -> bytes:
    return jsa.serialize(program_of(lambda layer: layer.x, Layer(1.0, aux)))


@pytest.mark.parametrize(
    "aux",
    [
        *(jax.nn.relu, np.tanh, jnp.dtype("bfloat16"), Color.RED, MISSING, Sentinel),
        *((3, [MISSING]), ("relu", 3, (True, None), 0.5)),
    ],
    ids=["function", "ufunc", "dtype", "member", "sentinel", "class", "nested", "plain"],
)
def test_constants_of_modules_describe_nodes(aux: Any) -> None:
    (layer,) = jax.tree.unflatten(jsa.deserialize(layer_file(aux)).in_tree, [0.0])[0]
    assert layer.aux == aux


class TestMistakes:
    def file(self) -> bytes:
        return jsa.serialize(program_of(lambda s: State(s.x * 2), State(1.0)))

    @pytest.mark.parametrize("module", [__name__, __name__.rpartition(".")[0]])
    def test_a_type_that_no_module_has(self, module: str) -> None:
        name = f"{__name__}.State".encode()
        other = f"{module}.".encode()
        data = self.file().replace(name, (other + b"x" * len(name))[: len(name)])
        with pytest.raises(InputError, match="which no imported module has") as caught:
            jsa.deserialize(data)
        assert "import tests" in str(caught.value.hint)

    def test_a_module_is_not_imported_for_a_file(self) -> None:
        name = f"{__name__}.State".encode()
        data = self.file().replace(
            name, b"this" + b".s" * ((len(name) - 4) // 2) + b"s" * (len(name) % 2)
        )
        with pytest.raises(InputError, match="pytree node this"):
            jsa.deserialize(data)
        assert "this" not in sys.modules

    @pytest.mark.parametrize("data", [b"", b"not a file", bytes(200)])
    def test_what_is_no_file(self, data: bytes) -> None:
        with pytest.raises(InputError, match=r"this jax\.export file is damaged"):
            jsa.deserialize(data)

    def test_every_prefix_of_a_file(self) -> None:
        data = self.file()
        whole = data.rstrip(b"\0")
        for length in [*range(0, len(whole), 97), *range(len(whole) - 20, len(whole) + 1)]:
            with pytest.raises(InputError):
                jsa.deserialize(data[:length])

    @pytest.mark.parametrize("aux", [lambda x: x, Sentinel(), object(), {1: Sentinel()}, 1j])
    def test_what_no_module_has_a_name_for(self, aux: Any) -> None:
        with pytest.raises(UsageError, match="has auxiliary data of type"):
            layer_file(aux)

    def test_a_constant_that_its_module_has_no_more(self) -> None:
        data = layer_file(MISSING).replace(
            b"test_export_files.MISSING", b"test_export_files.missing"
        )
        with pytest.raises(InputError, match=r"names .*\.missing, which no imported module has"):
            jsa.deserialize(data)
