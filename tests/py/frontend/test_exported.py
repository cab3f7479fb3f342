"""An Exported is rewritten as a whole, and its files are read by any process."""

from __future__ import annotations

import enum
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax import export

import scalify_hlo as jsa
from examples.training import training_step
from scalify_hlo import (
    InputError,
    ScaledArray,
    UsageError,
    as_scaled_array,
    asarray,
    register_for_export,
    serialize,
)
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from scalify_hlo.jax_api.stored_arrays import scaled_node
from scalify_hlo.program.exported import ScaledVjp
from scalify_hlo.program.leaves import pair_tree
from tests.py.shared import samples
from tests.py.shared.commands import call, python
from tests.py.shared.judge import assert_all_close, program_of, propagated, shaped

CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-6}


def same_tree(a: Any, b: Any) -> bool:
    return bool(a == b)


def leaves(tree: Any) -> list[Any]:
    return jax.tree.leaves(asarray(tree))


def assert_close(actual: Any, expected: Any) -> None:
    for a, b in zip(leaves(actual), leaves(expected), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), **CLOSE)


def gradient(call: Any) -> Any:
    params, x, index = samples.arguments()
    return jax.grad(lambda p, x: asarray(call(p, x, index)[0]), argnums=(0, 1))(params, x)


def test_same_keeps_the_signature_and_the_numbers() -> None:
    old = samples.exported()
    new = propagated(old, input_scale={"*w*": 2.0**-3, "x": 4.0})
    assert new.in_avals == old.in_avals
    assert new.out_avals == old.out_avals
    assert same_tree(new.in_tree, old.in_tree)
    assert same_tree(new.out_tree, old.out_tree)
    assert new.mlir_module_serialized != old.mlir_module_serialized
    assert_close(new.call(*samples.arguments()), old.call(*samples.arguments()))


def test_the_vjp_of_same_is_rewritten_with_the_scales_of_its_arguments() -> None:
    old = samples.exported()
    new = propagated(old, input_scale={"params['w']": 2.0**-3})
    assert "1.250000e-01" in new.vjp().mlir_module() or "8.000000e+00" in new.vjp().mlir_module()
    assert_close(gradient(new.call), gradient(old.call))


def test_scaled_makes_pairs_of_floats_and_only_of_them() -> None:
    new = propagated(samples.exported(), signature="scaled")
    shapes = [a.str_short() for a in new.in_avals]
    assert shapes == ["float32[4]", "float32[]", "float32[4,4]", "float32[]", "float32[8,4]",
                      "float32[]", "int32[]"]  # fmt: skip
    scaled = as_scaled_array(samples.arguments())
    assert same_tree(new.in_tree, jax.tree.structure((scaled, {})))
    assert new.module_kept_var_idx == tuple(range(7))
    loss, index = new.call(*scaled)
    assert is_scaled_array(loss)
    assert index.dtype == jnp.int32
    assert_close((loss, index), samples.exported().call(*samples.arguments()))


@pytest.mark.slow
def test_gradients_through_scaled() -> None:
    old = samples.exported()
    new = propagated(old, signature="scaled")

    def call(*arguments: Any) -> Any:
        return new.call(*as_scaled_array(arguments))

    assert_close(gradient(call), gradient(old.call))


def test_the_vjp_of_scaled_takes_and_gives_scaled_cotangents() -> None:
    old = samples.exported()
    new = propagated(old, signature="scaled")
    arguments = samples.arguments()
    cotangents = (jnp.float32(24.0), np.zeros((), jax.dtypes.float0))
    flat = jax.tree.leaves(arguments)
    expected = old.vjp().call(*flat, *cotangents)
    vjp = new.vjp()
    assert isinstance(vjp, ScaledVjp)
    actual = vjp.call(*as_scaled_array(flat), *as_scaled_array(cotangents[:1]), cotangents[1])
    assert [is_scaled_array(g) for g in actual] == [True, True, True, False]
    assert_close(actual[:3], expected[:3])
    _, pull = jax.vjp(new.call, *as_scaled_array(arguments))
    pulled = pull((ScaledArray(jnp.float32(3.0), jnp.float32(8.0)), cotangents[1]))
    assert_close(jax.tree.leaves(asarray(pulled))[:3], expected[:3])


def test_second_order_gradients() -> None:
    old = program_of(lambda x: jnp.sum(x**3), jnp.ones(3))
    x = jnp.arange(3.0)
    for new in (propagated(old), propagated(old, input_scale={"x": 4.0})):
        hessian = jax.grad(lambda x, f=new: jnp.sum(jax.grad(f.call)(x)))(x)
        np.testing.assert_allclose(hessian, 6 * x)


@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_arguments_that_the_module_dropped(signature: str) -> None:
    def f(unused: jax.Array, x: jax.Array, also: jax.Array, y: jax.Array) -> jax.Array:
        del unused, also
        return x - y

    arguments = (jnp.ones(3), jnp.arange(2.0), jnp.ones(5), jnp.ones(2))
    old = program_of(f, *arguments)
    assert old.module_kept_var_idx == (1, 3)
    new = propagated(old, signature=signature)
    given = arguments if signature == "same" else as_scaled_array(arguments)
    assert new.module_kept_var_idx == ((1, 3) if signature == "same" else (2, 3, 6, 7))
    assert_close(new.call(*given), f(*arguments))
    read = export.deserialize(bytearray(serialize(new, vjp_order=1)))
    assert_close(read.call(*given), f(*arguments))


@pytest.mark.slow
@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_symbolic_shapes_are_kept(signature: str) -> None:
    (n,) = export.symbolic_shape("n")
    shape = shaped(n, 4)
    old = program_of(lambda x: jnp.tanh(x).sum(0) / x.shape[0], shape)
    new = propagated(old, signature=signature)
    assert new.in_avals[0].shape == old.in_avals[0].shape
    for size in (1, 5):
        x = jnp.ones((size, 4)) * 0.5
        given = x if signature == "same" else as_scaled_array(x)
        assert_close(new.call(given), old.call(x))


def test_more_than_one_platform() -> None:
    old = export.export(jax.jit(lambda x: x * 2), platforms=("cpu", "cuda"))(jnp.ones(3))
    new = propagated(old, signature="scaled")
    assert new.platforms == ("cpu", "cuda")
    assert_close(new.call(as_scaled_array(jnp.ones(3))), jnp.full(3, 2.0))


def test_keys_and_other_dtypes_stand_aside() -> None:
    def f(key: jax.Array, x: jax.Array, on: jax.Array) -> jax.Array:
        return jnp.where(on, x + jax.random.normal(key, x.shape, x.dtype), 0)

    arguments = (jax.random.key(1), jnp.ones(4, jnp.bfloat16), jnp.array(True))
    old = program_of(f, *arguments)
    new = propagated(old, signature="scaled")
    assert_close(new.call(*as_scaled_array(arguments)), f(*arguments))


def test_keyword_arguments() -> None:
    old = program_of(lambda x, *, y: {"r": x - y}, jnp.ones(2), y=jnp.ones(2))
    new = propagated(old, signature="scaled")
    scaled = as_scaled_array(jnp.arange(2.0))
    assert_close(new.call(scaled, y=scaled)["r"], jnp.zeros(2))


@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_files_hold_the_vjp_too(signature: str) -> None:
    new = propagated(samples.exported(), signature=signature)
    read = export.deserialize(bytearray(serialize(new, vjp_order=1)))
    assert same_tree(read.in_tree, new.in_tree)
    given = samples.arguments() if signature == "same" else as_scaled_array(samples.arguments())
    assert_close(read.call(*given), new.call(*given))
    assert read.vjp().in_avals == new.vjp().in_avals
    with pytest.raises(ValueError, match="No VJP"):
        export.deserialize(bytearray(serialize(new))).vjp()


def test_calls_work_inside_jit() -> None:
    new = propagated(samples.exported(), signature="scaled")
    outer = jax.jit(lambda arguments: asarray(new.call(*as_scaled_array(arguments))))
    assert_close(outer(samples.arguments()), samples.exported().call(*samples.arguments()))


def test_pairs_in_a_tree() -> None:
    tree = jax.tree.structure({"a": (0, None), "b": [0, 0]})
    half = np.dtype(np.float16)
    paired = pair_tree(tree, [scaled_node(), None, scaled_node(half)])
    first, second = ScaledArray(0, 0), ScaledArray(0, 0, half)
    assert same_tree(paired, jax.tree.structure({"a": (first, None), "b": [0, second]}))


def optimizer_step() -> tuple[Any, tuple[Any, ...]]:
    tx = optax.adamw(1e-3)
    params = {"w": jnp.ones((3, 3))}
    step = training_step(lambda params, x: jnp.sum((x @ params["w"]) ** 2), tx)
    return step, (params, tx.init(params), jnp.ones((2, 3)))


def test_two_types_of_one_name_are_refused() -> None:
    def local() -> type:
        class Twin(NamedTuple):
            x: Any

        return Twin

    register_for_export(local()(1.0))
    with pytest.raises(UsageError, match="two pytree node types are named"):
        register_for_export(local()(1.0))


@pytest.mark.slow
@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_a_file_with_optax_states_in_a_process_without_optax(
    tmp_path: Path, signature: str
) -> None:
    step, arguments = optimizer_step()
    register_for_export(arguments)
    old = program_of(step, *arguments)
    before, after = tmp_path / "step.jax_export", tmp_path / "out"
    before.write_bytes(serialize(old))
    code = (
        "import sys; sys.modules['optax'] = None; from scalify_hlo.cli.main import main; "
        f"main(['rewrite', {str(before)!r}, '--recipe', 'propagate', "
        f"'--signature', {signature!r}, '-o', {str(after)!r}])"
    )
    python("-c", code)
    new = export.deserialize(bytearray(after.read_bytes()))
    given = arguments if signature == "same" else as_scaled_array(arguments)
    assert same_tree(new.in_tree, jax.tree.structure((given, {})))
    assert_close(new.call(*given), old.call(*arguments))


def test_a_file_with_unknown_nodes_does_not_take_their_names(tmp_path: Path) -> None:
    class State(NamedTuple):
        x: Any

    register_for_export(State(1.0))
    old = program_of(lambda s: State(s.x * 2), State(jnp.ones(2)))
    path = tmp_path / "f"
    name = b"test_a_file_with_unknown_nodes"
    # The same file under a name that this process does not know.
    path.write_bytes(serialize(old).replace(name, name[::-1]))
    for _ in range(2):
        given = ["--recipe", "propagate", "-o", str(path)]
        call("rewrite", path, *given, code=0)
    new = export.deserialize(bytearray(path.read_bytes().replace(name[::-1], name)))
    assert_close(new.call(State(jnp.ones(2))).x, jnp.full(2, 2.0))


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


@pytest.mark.parametrize("tree", [{0: {"x": 2.0}}, {1: {5: 2.0}, 0: 3.0}, [{(0, 1): 2.0}, {}]])
def test_dictionaries_with_keys_that_are_not_strings(tree: Any, tmp_path: Path) -> None:
    """States of flax.nnx have numbers as keys, and jax.export writes none."""
    program = program_of(lambda tree: jax.tree.map(lambda x: 2 * x, tree), tree)
    data = serialize(program)
    read = jsa.deserialize(data)
    assert (read.in_tree, read.out_tree) == (program.in_tree, program.out_tree)
    assert read.call(tree) == jax.tree.map(lambda x: 2 * x, tree)
    (tmp_path / "tree.export").write_bytes(data)
    told = call("inspect", str(tmp_path / "tree.export"), "--arguments").stdout
    assert all(jax.tree_util.keystr(path) in told for path, _ in jax.tree.leaves_with_path(tree))
    with pytest.raises(UsageError, match="keys that are not strings"):
        serialize(program, vjp_order=1)


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

    def test_a_module_imports_nothing_for_a_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As scipy does, which imports scipy.io when it is asked for `io`."""
        lazy = ModuleType("lazy")
        asked: list[str] = []
        monkeypatch.setattr(lazy, "__getattr__", asked.append, raising=False)
        monkeypatch.setitem(sys.modules, "lazy", lazy)
        name = f"{__name__}.State".encode()
        data = self.file().replace(name, b"lazy.io." + b"S" * (len(name) - 8))
        with pytest.raises(InputError, match=r"pytree node lazy\.io\.S"):
            jsa.deserialize(data)
        assert not asked

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
        data = layer_file(MISSING).replace(b"test_exported.MISSING", b"test_exported.missing")
        with pytest.raises(InputError, match=r"names .*\.missing, which no imported module has"):
            jsa.deserialize(data)
