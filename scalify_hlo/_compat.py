"""The only file that uses private names of jax and jaxlib, or depends on their versions.

jaxlib's MLIR bindings are imported here (`jax._src.lib.mlir` is the same package under another
name). jax is imported only in the functions that need it, so that the command line starts fast.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, func, sdy, stablehlo

if TYPE_CHECKING:
    import jax

    TreeDef: TypeAlias = jax.tree_util.PyTreeDef

__all__ = ["chlo", "func", "ir", "passmanager", "sdy", "stablehlo"]

Buffer: TypeAlias = bytes | mmap.mmap

_CALLEES = ("callee", "decomposition")
_DIGITS = 16
_BUILTIN_NODES = (type(None), tuple, list, dict)


def new_context() -> ir.Context:
    """Returns a context with the dialects that an exported program may use, and no others."""
    context = ir.Context()
    # Passes are written in Python and gain nothing from threads. Without threads, forks are safe
    # and diagnostics have a fixed order.
    context.enable_multithreading(False)
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    context.load_all_available_dialects()
    return context


def default_platform() -> str | None:
    """Returns the platform of `jax.default_device`, such as ``cpu``; None without one."""
    import jax

    device: Any = jax.config.jax_default_device  # type: ignore[attr-defined]
    return None if device is None else str(getattr(device, "platform", device))


def load_mhlo(context: ir.Context) -> None:
    """Loads MHLO into a context, and registers its passes with MLIR's PassManager."""
    mhlo = import_module("jaxlib.mlir.dialects.mhlo")
    mhlo.register_mhlo_dialect(context)
    mhlo.register_mhlo_passes()


def register_passes() -> None:
    """Registers StableHLO's passes with MLIR's PassManager."""
    stablehlo.register_stablehlo_passes()


def _export() -> Any:
    return import_module("jax._src.export._export")


def _schema() -> Any:
    return import_module("jax._src.export.serialization_generated")


def is_serializable(node: type) -> bool:
    """Whether jax.export can serialize a type of pytree nodes."""
    return node in _BUILTIN_NODES or node in _export().serialization_registry


def is_registered_name(name: str) -> bool:
    """Whether jax.export has a pytree node registered for a name in a file."""
    return name in _export().deserialization_registry


def forget_name(name: str) -> None:
    """Frees a name for another pytree node; the node that had it is still written under it."""
    _export().deserialization_registry.pop(name, None)


def register_node(
    node: type,
    name: str,
    *,
    serialize: Callable[[Any], bytes],
    deserialize: Callable[[bytes], Any],
    build: Callable[[Any, Sequence[Any]], Any],
) -> None:
    """Registers a pytree node with jax.export, without jax's check that the name is free.

    Args:
        node: The type of the node.
        name: The name of the node in files.
        serialize: Serializes the auxiliary data of a node.
        deserialize: Reads the auxiliary data of a node.
        build: Makes a node of its auxiliary data and its children.
    """
    _export().serialization_registry[node] = (name, serialize)
    _export().deserialization_registry[name] = (node, deserialize, build)


def serialized_artifacts(data: Buffer) -> list[tuple[int, int]]:
    """Start and stop, in bytes, of each StableHLO artifact in a jax.export file, vjps last."""
    import numpy as np

    start = np.frombuffer(data, np.uint8).ctypes.data
    arrays = [e.MlirModuleSerializedAsNumpy() for e in _orders(data)]
    return [(a.ctypes.data - start, a.ctypes.data - start + a.size) for a in arrays]


def pytrees(data: Buffer) -> list[Any]:
    """Returns the roots of the pytrees in a jax.export file, as tables of the flatbuffer."""
    trees = [tree for e in _orders(data) for tree in (e.InTree(), e.OutTree())]
    return [tree for tree in trees if tree is not None]


def node_name(tree: Any) -> str:
    """Returns the name of a pytree node in a jax.export file; empty for a built-in one."""
    is_custom = tree.Kind() == _schema().PyTreeDefKind.custom
    return str(tree.CustomName().decode()) if is_custom else ""


def _orders(data: Buffer) -> Iterator[Any]:
    """Yields the program in a jax.export file, then its vjp, the vjp's vjp, and so on."""
    exported = _schema().Exported.GetRootAs(data)
    while exported is not None:
        yield exported
        exported = exported.Vjp()


def export_callbacks(fn: Any, lower: Callable[..., Any], **options: Any) -> Any:
    """Exports a function; `lower` lowers the primitives that call Python, and takes them first."""
    from jax._src import callback as cb
    from jax._src import debugging as debug

    calling = cb.pure_callback_p, cb.io_callback_p, debug.debug_callback_p, debug.debug_print_p
    rules = tuple((each, partial(lower, each)) for each in calling)
    return _export().export(fn, **options, _override_lowering_rules=rules)


def replace_exported(
    exported: jax.export.Exported,
    *,
    arguments: Sequence[int],
    results: Sequence[int],
    vjp: Callable[[jax.export.Exported], jax.export.Exported] | None,
    **changes: Any,
) -> jax.export.Exported:
    """Returns an Exported with other contents; its sharding fields are permuted to match.

    Args:
        exported: The Exported to start from.
        arguments: For each new flat argument, the index of the old one whose sharding it has, or
            -1 for none.
        results: For each new flat result, the index of the old one whose sharding it has, or -1.
        vjp: Makes the new vjp; None if there is none.
        **changes: New values of public fields.
    """
    for field in fields(exported):
        # The names and number of these fields differ between jax versions. Each has one entry per
        # value.
        if field.name.endswith(("_shardings", "_shardings_hlo")) and not field.name.startswith(
            "_has"
        ):
            indices = arguments if field.name.lstrip("_").startswith("in_") else results
            old = getattr(exported, field.name)
            changes[field.name] = tuple(old[i] if i >= 0 else None for i in indices)
    return replace(exported, **changes, _get_vjp=vjp)


def with_module(
    exported: jax.export.Exported, artifact: bytes, vjp: jax.export.Exported | None
) -> jax.export.Exported:
    """Returns an Exported with another serialized module and a given vjp."""
    get_vjp = None if vjp is None else lambda _: vjp
    return replace(exported, mlir_module_serialized=artifact, _get_vjp=get_vjp)


def symbols_of(shape: Sequence[Any]) -> set[str]:
    """Returns the names of the symbolic sizes in the shape of an aval."""
    return {each for size in shape if not isinstance(size, int) for each in size._get_vars()}


def shape_at(shape: Sequence[Any], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Returns the shape of an aval at values of its symbolic sizes."""
    import jax

    with jax.enable_x64(True):  # Otherwise sizes would be of 32 bits.
        return tuple(n if isinstance(n, int) else int(n._evaluate(sizes)) for n in shape)


def make_tree(node: tuple[type, Any], children: Sequence[TreeDef]) -> TreeDef:
    """Returns a tree with one node at its root, without making an object of its type.

    jaxlib takes a namedtuple that was registered, as in jax's example libraries, for a plain one.
    """
    from jax._src import tree_util

    plain = node[0] is tuple or not issubclass(node[0], tuple)
    entry: Any = None if plain else tree_util._registry.get(node[0])
    if entry is None:
        make: Callable[..., TreeDef] = tree_util.PyTreeDef.from_node_data_and_children
        return make(tree_util.default_registry, node, children)
    objects = [child.unflatten([0] * child.num_leaves) for child in children]
    return tree_util.tree_structure(entry.from_iter(node[1], objects))


def jit_options(fn: Any, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Returns options of `jax.jit` of a jitted function; empty ones of other functions."""
    return [getattr(getattr(fn, "_jit_info", None), name, ()) for name in names]


def captured_values(traced: jax.stages.Traced) -> list[Any]:
    """Returns the values of an outer trace that a traced function captures."""
    return list(traced._consts)


def result_types(traced: jax.stages.Traced) -> list[Any]:
    """Returns the avals of the flat results of a traced function."""
    return list(traced.jaxpr.out_avals)


def flat_function(traced: jax.stages.Traced) -> Callable[..., Sequence[Any]]:
    """Returns a traced function as one of its captured values and then its flat arguments."""
    return _FlatFunction(traced.jaxpr)


@dataclass(frozen=True, slots=True)
class _FlatFunction:
    """Runs a jaxpr. Two such functions are equal if their jaxprs are."""

    jaxpr: Any

    def __call__(self, *values: Any) -> Sequence[Any]:
        from jax.extend.core import jaxpr_as_fun

        return list(jaxpr_as_fun(self.jaxpr)(*values))


class CpuProgram:
    """A program that is compiled for one CPU device.

    Args:
        loaded: The executable.
        device: The device.
    """

    def __init__(self, loaded: Any, device: Any) -> None:
        self._loaded, self._device = loaded, device

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """Returns the flat list of results for a flat list of arguments, both arrays."""
        import jax

        with jax.enable_x64(True):  # Otherwise 64-bit arrays would become 32-bit arrays.
            placed = [jax.device_put(a, self._device) for a in arguments]
        return list(jax.block_until_ready(self._loaded.execute(placed)))

    @property
    def memory(self) -> int:
        """The bytes of arguments, results and temporaries, of which results may share some."""
        stats = self._loaded.get_compiled_memory_stats()
        used: int = stats.argument_size_in_bytes + stats.output_size_in_bytes
        return used + stats.temp_size_in_bytes - stats.alias_size_in_bytes  # type: ignore[no-any-return]


def compile_on_cpu(text: str) -> CpuProgram:
    """Compiles a program, which is MLIR text, with XLA for one CPU device.

    Raises:
        ValueError: XLA cannot compile the program.
    """
    from jax.extend import backend
    from jaxlib import xla_client

    _initialize_kernels()
    client: Any = backend.get_backend("cpu")
    device = client.local_devices()[0]
    try:
        loaded: Any = client.compile_and_load(
            text, xla_client.DeviceList((device,)), xla_client.CompileOptions()
        )
    except Exception as error:
        raise ValueError(str(error)) from error
    return CpuProgram(loaded, device)


def _initialize_kernels() -> None:
    """Loads the kernels of the CPU that jax loads late, such as LAPACK's.

    Their custom calls are registered, and are null pointers until then. jax does the same before
    it compiles an Exported.
    """
    _export()._ensure_backends_initialized(("cpu",))


@dataclass(frozen=True, slots=True)
class Optimized:
    """A program as XLA compiles it.

    Attributes:
        text: The optimized HLO.
        arguments: The bytes of the arguments on one device.
        results: The bytes of the results.
        aliased: The bytes of results that are in the memory of arguments.
        temporaries: The bytes of all other values.
        code: The bytes of the machine code.
        compiler: The version of the compiler.
    """

    text: str
    arguments: int
    results: int
    aliased: int
    temporaries: int
    code: int
    compiler: str


def described_devices(platform: str, topology: Mapping[str, Any], count: int) -> list[Any]:
    """Returns devices to compile for: local CPU devices, or described ones.

    Args:
        platform: The platform of XLA.
        topology: The arguments of jax's description of a topology; empty for local devices.
        count: How many devices are needed.

    Raises:
        RuntimeError: XLA's compiler for the platform cannot be loaded.
    """
    import jax
    from jax.experimental import topologies

    if topology:
        group: Any = topologies.get_topology_desc(platform=platform, **topology)
        return list(group.devices)[:count]
    jax.config.update("jax_num_cpu_devices", count)
    return list(jax.local_devices(backend=platform))[:count]


def compile_module(
    module: bytes, devices: Sequence[Any], replicas: int, flags: Mapping[str, Any]
) -> Optimized:
    """Compiles a program for devices that need not be there.

    Args:
        module: The program as MLIR bytecode.
        devices: The devices, as `described_devices` returns them.
        replicas: How many copies of the program run; each has an equal part of the devices.
        flags: Options of XLA.

    Raises:
        RuntimeError: XLA cannot compile the program.
    """
    import numpy as np
    from jaxlib import xla_client

    ids = np.array([device.id for device in devices]).reshape(replicas, -1)
    options = xla_client.CompileOptions()
    options.num_replicas, options.num_partitions = ids.shape
    options.device_assignment = xla_client.DeviceAssignment.create(ids)
    options.executable_build_options.use_spmd_partitioning = True
    options.executable_build_options.use_shardy_partitioner = True
    options.env_option_overrides = list(flags.items())
    client = devices[0].client
    # Described devices cannot load a program, and some versions can compile for the CPU only so.
    local = client.platform == "cpu"
    compiling = client.compile_and_load if local else client.compile
    if local:
        _initialize_kernels()
    with new_context():
        parsed = ir.Module.parse(module)
        compiled = compiling(parsed, xla_client.DeviceList(tuple(devices)), options)
    stats = compiled.get_compiled_memory_stats()
    return Optimized(
        text="\n".join(each.to_string() for each in compiled.hlo_modules()),
        arguments=stats.argument_size_in_bytes,
        results=stats.output_size_in_bytes,
        aliased=stats.alias_size_in_bytes,
        temporaries=stats.temp_size_in_bytes,
        code=stats.generated_code_size_in_bytes,
        compiler=" ".join(str(client.platform_version).split()),
    )


def refine_shapes(program: bytes) -> bytes:
    """Refines all shapes of a program from the static shapes of its arguments.

    The shape assertions of jax.export are checked.

    Args:
        program: A program whose arguments have static shapes, as MLIR bytecode.

    Returns:
        The refined program, as MLIR bytecode.

    Raises:
        ValueError: A shape assertion does not hold, or a shape is still dynamic.
    """
    from jaxlib import _jax

    mlir: Any = _jax.mlir
    try:
        refined: bytes = mlir.refine_polymorphic_shapes(
            mlir_module=program,
            enable_shape_assertions=True,
            validate_static_shapes=True,
            enable_shardy=True,
        )
    except Exception as error:
        raise ValueError(str(error)) from error
    return refined


def private_function(
    ctx: Any,
    key: Hashable,
    name: str,
    arguments: Sequence[ir.Type],
    results: Sequence[ir.Type],
    body: Callable[[Sequence[ir.Value]], Sequence[ir.Value]],
    *,
    named_by_content: bool = False,
) -> str:
    """Adds a private function to the module that jax is lowering, once for each key.

    Args:
        ctx: The context that jax gives a lowering rule.
        key: Identifies the function in its module.
        name: The name of the function, which is made unique.
        arguments: The types of the arguments.
        results: The types of the results.
        body: Builds the body from the arguments, and returns the values to return.
        named_by_content: Whether a hash of the function is added to its name. Two functions of one
            name then do the same, also in different modules.

    Returns:
        The symbol name of the function.
    """
    module = ctx.module_context
    cached = module.cached_primitive_lowerings
    key = (__name__, key)
    if key not in cached:
        with ir.InsertionPoint.at_block_begin(module.module.body):
            function = func.FuncOp(name, (list(arguments), list(results)), visibility="private")
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            func.ReturnOp(list(body(list(block.arguments))))
        if named_by_content:
            name = f"{name}.{_digest(function, module.symbol_table)}"
            function.attributes["sym_name"] = ir.StringAttr.get(name)
        module.symbol_table.insert(function)
        cached[key] = function.name.value
    return str(cached[key])


def _digest(function: func.FuncOp, symbols: ir.SymbolTable) -> str:
    """Returns a hash of a function and of all functions that it calls."""
    digest, seen = hashlib.sha256(), set[str]()

    def add(body: ir.Operation) -> None:
        digest.update(body.get_asm(enable_debug_info=False).encode())
        body.walk(visit)

    def visit(op: ir.Operation) -> ir.WalkResult:
        for name in _CALLEES:
            if name in op.attributes:
                symbol = ir.FlatSymbolRefAttr(op.attributes[name]).value
                if symbol not in seen:
                    seen.add(symbol)
                    add(symbols[symbol].operation)
        return ir.WalkResult.ADVANCE

    add(function.operation)
    return digest.hexdigest()[:_DIGITS]


def call_function(
    symbol: str, operands: Sequence[ir.Value], results: Sequence[ir.Type]
) -> func.CallOp:
    """Inserts a call of a function, by its symbol, at the current insertion point."""
    return func.CallOp(list(results), ir.FlatSymbolRefAttr.get(symbol), list(operands))
