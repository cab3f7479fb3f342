"""Times of FP8 programs on the GPU of this machine, against the same in bf16.

    python -m benchmarks.gpu                       # all; one GPU of 80 GB, no network
    python -m benchmarks.gpu --model swiglu        # one model
    python -m benchmarks.gpu --profile             # and the time of the kernels, by cause
    python -m benchmarks.gpu --device cpu --small  # the benchmark's own logic

Each model is exported in bf16, rewritten by each recipe, and run by turns with its original; times
are medians. The estimate of the roofline for the same compiled programs stands beside. `ceiling`
has the matmuls of the model `swiglu` alone, from operands that are f8 before. It is the most that
FP8 could give there. The figures of a model are kept as soon as they are there. Where no GPU can be
used, the benchmark says so and ends with 0.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.layout import Format, Layout

import scalify_hlo
from benchmarks.gpu_profile import NO_COMMAND_BUFFERS, by_class, instruction_times, of_kernels
from benchmarks.roofline_models import MODELS, Model, Shape, swiglu, swiglu_shapes
from scalify_hlo.recipes.formats import DEVICES
from scalify_hlo.recipes.toml import preset_names
from scalify_hlo.targets.description import Target, load_target
from scalify_hlo.targets.hlo import read_hlo
from scalify_hlo.targets.kernels import kernels_of
from scalify_hlo.targets.roofline import work_of

RESULTS = Path(__file__).parent / "results" / "gpu.json"
ORIGINAL, CEILING = "bf16", "ceiling"
RECIPES = ("fp8", "unit", "fp8-current", "fp8-delayed")
STATIC_RECIPES = ("fp8", "unit")
STATIC = {"signature": "same", "input_scale": {"*": 2.0**-4}}
"""The scales of inputs, for recipes that predict others from them: all inputs have this rms."""
BOUND = 1.6
"""The least speed of the SwiGLU layer over bf16 on an H200, by the best recipe."""
TOKENS = 1000
"""The tokens that are drawn from, which are fewer than the words of any vocabulary."""
WARM_UP, CALLS = 3, 5
FULL, SMALL = (8192, 4096, 14336), (64, 32, 96)
"""Tokens, width and hidden width of the SwiGLU layer."""

Run = Callable[[], Any]


def layer_step(layer: Any, x: jax.Array, cotangent: jax.Array) -> Any:
    """A SwiGLU layer forward and backward: nine matmuls."""
    result, backward = jax.vjp(swiglu, layer, x)
    return result, backward(cotangent)


def layer_arguments(sizes: tuple[int, int, int], dtype: jnp.dtype) -> tuple[Any, ...]:
    """The weights, the input and the gradient of the output."""
    tokens, width, hidden = sizes
    x = Shape((tokens, width), dtype)
    return swiglu_shapes(width, hidden, dtype), x, x


def models(*, small: bool) -> dict[str, Model]:
    """The models by name: the layer, and those of `benchmarks.roofline`."""
    sizes = SMALL if small else FULL
    layer = Model(layer_step, partial(layer_arguments, sizes), "one layer of {} x {} x {}")
    return {"swiglu": layer, **MODELS}


def ceiling_step(pairs: list[tuple[jax.Array, jax.Array]], *, algorithm: bool) -> list[jax.Array]:
    """Matmuls alone, whose operands both have the dimension that is summed over last."""
    preset = jax.lax.DotAlgorithmPreset.ANY_F8_ANY_F8_F32_FAST_ACCUM
    dot = partial(
        jax.lax.dot_general,
        dimension_numbers=(((1,), (1,)), ((), ())),
        preferred_element_type=jnp.bfloat16,
        precision=preset if algorithm and pairs[0][0].dtype.itemsize == 1 else None,
    )
    return [dot(a, b) for a, b in pairs]


def ceiling_arguments(sizes: tuple[int, int, int], dtype: Any) -> tuple[Any, ...]:
    """The operands of the nine matmuls of a SwiGLU layer, forward and backward."""
    m, k, n = sizes
    shapes = [(m, n, k), (m, n, k), (m, k, n)]
    shapes += [each for m, n, k in shapes for each in ((m, k, n), (k, n, m))]
    return ([(Shape((m, k), dtype), Shape((n, k), dtype)) for m, n, k in shapes],)


def arrays(shapes: Any) -> Any:
    """Random arrays like those of training, as the speed of a GPU depends on what it multiplies.

    Floats have an rms of 2^-4. Those in f32, which are moments of an optimizer or scales, are not
    negative, and scalars are 1. Integers are tokens, labels or counts of steps.
    """

    def made(number: int, leaf: Any) -> jax.Array:
        key = jax.random.key(number)
        if not leaf.shape:
            return jnp.ones((), leaf.dtype)
        if not jnp.issubdtype(leaf.dtype, jnp.floating):
            return jax.random.randint(key, leaf.shape, 0, TOKENS, leaf.dtype)
        drawn = (jax.random.normal(key, leaf.shape, jnp.bfloat16) / 16).astype(leaf.dtype)
        return jnp.abs(drawn) if leaf.dtype == jnp.float32 else drawn

    leaves, tree = jax.tree.flatten(shapes)
    return jax.tree.unflatten(tree, [made(i, leaf) for i, leaf in enumerate(leaves)])


@dataclass(frozen=True)
class Way:
    """The options with which programs are rewritten.

    Attributes:
        where: the platform.
        target: the device by which matmuls are chosen; None for all that a recipe names.
        recipes: the recipes.
        settings: settings of all of them.
        optimize: as of `scalify_hlo.rewrite`.
    """

    where: str
    target: str | None = None
    recipes: Sequence[str] = RECIPES
    settings: Mapping[str, object] = field(default_factory=dict)
    optimize: bool = False

    def rewritten(self, model: Model, recipe: str) -> jax.export.Exported:
        """The program of a model by a recipe; one that decodes takes its weights in f8."""
        how: dict[str, Any] = dict(STATIC) if recipe in STATIC_RECIPES else {}
        how["settings"] = dict(self.settings)
        if model.free_layouts:
            weights = {"state.weight": "f8E4M3FN"}
            how = {"signature": "scaled", "settings": how["settings"] | weights}
        exported = model.export("bfloat16", self.where)
        how |= {"target": self.target, "optimize": self.optimize}
        new, _ = scalify_hlo.rewrite(exported, recipe=recipe, **how, report=True)
        return new


@dataclass(frozen=True)
class Program:
    """A compiled program.

    Attributes:
        run: a call of it on arrays of its own. State is not donated, so that it can run again.
        hlo: its optimized HLO.
        compile_s: the seconds that XLA needed for it, with trials of kernels on the device.
        temporaries: the bytes of its temporary memory.
    """

    run: Run
    hlo: str
    compile_s: float
    temporaries: int


def compiled(model: Model, exported: jax.export.Exported, flags: Mapping[str, bool]) -> Program:
    """Compiles a program for the device."""
    inputs = jax.tree.unflatten(exported.in_tree, exported.in_avals)
    args, kwargs = inputs
    how: dict[str, Any] = {}
    if model.free_layouts:
        free = Format(Layout.AUTO)
        how = {"in_shardings": free, "out_shardings": free, "donate_argnums": model.donated}
    lowered = jax.jit(exported.call, **how).lower(*args, **kwargs)
    start = time.perf_counter()
    made = lowered.compile(compiler_options=dict(flags) or None)
    seconds = time.perf_counter() - start
    args, kwargs = arrays(inputs)
    run: Run = partial(made, *args, **kwargs)
    if model.free_layouts:
        run = with_state(made, jax.device_put(args, made.input_formats[0]), model.donated)
    memory = made.memory_analysis()
    temporaries = memory.temp_size_in_bytes if memory is not None else 0
    return Program(run, made.as_text() or "", seconds, temporaries)


def with_state(made: Any, args: tuple[Any, ...], donated: tuple[int, ...]) -> Run:
    """A call that gives the last results of the donated argument to the next, as decoding does."""
    (place,) = donated
    given = list(args)

    def run() -> Any:
        result = made(*given)
        given[place] = result[1]
        return result[0]

    return run


def programs(
    name: str, model: Model, way: Way, sizes: tuple[int, int, int]
) -> Iterator[tuple[str, Callable[[], jax.export.Exported]]]:
    """The programs of a model, by the label of each; they are made when they are called."""
    yield ORIGINAL, partial(model.export, "bfloat16", way.where)
    for recipe in way.recipes:
        yield recipe, partial(way.rewritten, model, recipe)
    if name != "swiglu":
        return
    for label, dtype in ((f"{CEILING} bf16", jnp.bfloat16), (CEILING, jnp.float8_e4m3fn)):
        step = jax.jit(partial(ceiling_step, algorithm=way.where == "cuda"))
        shapes = ceiling_arguments(sizes, dtype)
        yield label, partial(jax.export.export(step, platforms=(way.where,)), *shapes)


def measured(runs: Mapping[str, Run], rounds: int) -> dict[str, list[float]]:
    """The seconds of a call in each round; who goes first changes from round to round."""
    for run in runs.values():
        for _ in range(WARM_UP):
            jax.block_until_ready(run())
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    names = list(runs)
    for turn in range(rounds):
        first = turn % len(names)
        for name in (*names[first:], *names[:first]):
            start = time.perf_counter()
            results = [runs[name]() for _ in range(CALLS)]
            jax.block_until_ready(results)
            seconds[name].append((time.perf_counter() - start) / CALLS)
            del results
    return seconds


def figures(times: list[float], program: Program, target: Target, *, profile: bool) -> Any:
    """The time of a program, with quartiles, and its estimate in microseconds."""
    kernels = list(kernels_of(read_hlo(program.hlo)))
    work = work_of(kernels, target)
    low, middle, high = (1e6 * q for q in statistics.quantiles(times, n=4))
    found = {
        "us": round(middle, 2),
        "quartiles_us": [round(low, 2), round(high, 2)],
        "estimate_us": round(1e6 * (work.seconds or 0), 2),
        "estimate_with_launches_us": round(1e6 * (work.seconds_with_launches or 0), 2),
        "estimate_reached_us": round(1e6 * (work.seconds_reached or 0), 2),
        "launches": work.launches,
        "f8_share": work.f8_share,
        "compile_s": round(program.compile_s, 2),
        "temporaries": program.temporaries,
    }
    if profile:
        measured_kernels = instruction_times(program.run)
        found["classes"] = by_class(kernels, measured_kernels, target)
        found["kernels"] = of_kernels(kernels, measured_kernels, target)
    return found


def of_model(name: str, model: Model, options: argparse.Namespace, target: Target) -> Any:
    """The figures of all programs of a model; the error of one that cannot run."""
    sizes = SMALL if options.small else FULL
    settings = {"matmul.vocabulary": True} if options.vocabulary else {}
    chosen = target.name if options.chosen else None
    way = Way(options.device, chosen, options.recipe, settings, options.optimize)
    made, found = dict[str, Program](), dict[str, Any]()
    flags = model.flags if way.where == "cuda" else {}
    for label, make in programs(name, model, way, sizes):
        print(f"compiling {name} {label}", file=sys.stderr, flush=True)
        try:
            made[label] = compiled(model, make(), flags)
        except Exception as error:  # XLA's errors have many types
            found[label] = {"error": " ".join(str(error).split())[:400]}
    times = measured({label: program.run for label, program in made.items()}, options.rounds)
    for label, program in made.items():
        found[label] = figures(times[label], program, target, profile=options.profile)
    return {"programs": found, "says": model.says.format(*sizes)}


def base_of(label: str) -> str:
    """The label of the program in bf16 that another is compared with."""
    return f"{CEILING} bf16" if label.startswith(CEILING) else ORIGINAL


def rows(record: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """For each program its model, label and time, and its speed over bf16, as run and estimated."""
    for name, model in record["models"].items():
        for label, entry in model["programs"].items():
            base = model["programs"].get(base_of(label), {"error": "no original"})
            if "error" in entry or "error" in base:
                yield name, label, entry.get("error", base.get("error", ""))[:60], "", "", ""
                continue
            times = (f"{entry[key]:,.0f}" for key in ("us", "estimate_us"))
            speeds = (f"{speed(entry, base, key):.2f}" for key in ("us", "estimate_us"))
            yield name, label, *times, *speeds


def speed(entry: Mapping[str, Any], base: Mapping[str, Any], key: str) -> float:
    """The time of the original over that of a program; NaN without one."""
    return base[key] / entry[key] if entry[key] else float("nan")


def show(record: Mapping[str, Any]) -> None:
    """Prints the times, the estimates and the speeds over bf16."""
    print(f"{record['device']}, medians of {record['rounds']} rounds of {CALLS} calls")
    header = ("model", "program", "us", "estimate", "speed", "estimate")
    table = [header, *rows(record)]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))


def missed(record: Mapping[str, Any]) -> bool:
    """Whether no recipe reaches the bound of the SwiGLU layer on an H200."""
    if record["target"] != "h200" or "swiglu" not in record["models"] or record["small"]:
        return False
    entries = record["models"]["swiglu"]["programs"]
    base = entries.get(ORIGINAL, {})
    good = [entries[r] for r in RECIPES if "us" in entries.get(r, {}) and "us" in base]
    best = max((speed(entry, base, "us") for entry in good), default=0.0)
    print(f"SwiGLU layer, best recipe: {best:.2f} of bf16's speed; at least {BOUND} is wanted")
    return best < BOUND


def versions() -> dict[str, str]:
    """The versions of Python and of all that compiles or runs the programs."""
    names = [f"jax-cuda{n}-{part}" for n in (12, 13) for part in ("plugin", "pjrt")]
    found = {"python": platform.python_version()}
    for name in ("scalify-hlo", "jax", "jaxlib", *names, "nvidia-cublas-cu12", "nvidia-cublas"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def target_of(kind: str) -> Target:
    """The description of a device by XLA's name of its kind; that of an H200 for any other."""
    names = [name for name in DEVICES if name in kind.lower().replace(" ", "")]
    return load_target(names[0] if names else "h200")


def device(name: str) -> Any:
    """A device of a platform, or the reason why there is none."""
    try:
        return jax.devices(name)[0]
    except RuntimeError as error:
        return " ".join(str(error).split())


def main() -> int:
    """Measures, writes the figures and prints them; 1 if an H200 misses the bound."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", nargs="+", default=["swiglu", "stack", "gpt2"])
    parser.add_argument("--recipe", nargs="+", choices=preset_names(), default=list(RECIPES))
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--small", action="store_true", help="the layer alone, at small sizes")
    parser.add_argument("--chosen", action="store_true", help="matmuls by what pays on the device")
    parser.add_argument("--optimize", action="store_true", help="with faster ops of the same value")
    parser.add_argument("--vocabulary", action="store_true", help="with the vocabulary's matmul")
    parser.add_argument("--profile", action="store_true", help="the times of kernels too")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--output", type=Path, help=f"default: {RESULTS.name} if a GPU is used")
    options = parser.parse_args()
    known = models(small=options.small)
    if unknown := set(options.model) - known.keys():
        parser.error(f"no model {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if options.device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
    elif options.profile:
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {NO_COMMAND_BUFFERS}"
    found = device(options.device)
    if isinstance(found, str):
        print(f"no GPU can be used, so nothing is measured: {found}")
        return 0
    output = options.output or (RESULTS if options.device == "cuda" else None)
    record = measure({n: known[n] for n in options.model}, options, found, output)
    show(record)
    return int(missed(record))


def measure(
    chosen: Mapping[str, Model], options: argparse.Namespace, found: Any, output: Path | None
) -> Any:
    """The figures of models on a device, and what made them; they are written model by model."""
    target = target_of(found.device_kind)
    record = {
        "device": found.device_kind,
        "compiler": " ".join(found.client.platform_version.split()),
        "target": target.name,
        "measured": datetime.date.today().isoformat(),
        "versions": versions(),
        "rounds": options.rounds,
        "small": options.small,
        "chosen": options.chosen,
        "optimize": options.optimize,
        "vocabulary": options.vocabulary,
        "models": (measured_models := dict[str, Any]()),
    }
    with jax.default_device(found):
        for name, model in chosen.items():
            measured_models[name] = of_model(name, model, options, target)
            if output is not None:
                output.write_text(json.dumps(record, indent=1) + "\n")
    return record


if __name__ == "__main__":
    sys.exit(main())
