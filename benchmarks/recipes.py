"""Trains the demo model under every preset, from one export in f32, and compares the losses.

    python -m benchmarks.recipes                       # all presets, 300 steps, three seeds
    python -m benchmarks.recipes fp16 fp8 --steps 50 --seeds 1
    python -m benchmarks.recipes fp8 propagate --no-plain
    python -m benchmarks.recipes --nudged --no-plain   # how much is chance
    python -m benchmarks.recipes unit unit:compute=keep --no-plain  # with another setting
    python -m benchmarks.recipes fp8 fp16 --plot losses.png

All contenders begin with the same parameters and see the same batches. Presets that predict sizes
run with the signature `same` and input scales measured from the first state, the others with
`scaled`. The original is plain f32;
`plain f16` is the same model and optimizer in f16 throughout, without scales and without loss
scaling, as it diverges or underflows. A gap is that of the mean loss of the last steps. The gap of
`propagate`, which computes the same in f32 and differs by what XLA fuses, is how much of it is
chance: training amplifies last bits. So is that of `nudged`, which is f32 as well, but begins with
parameters that are rounded once to the precision of E4M3. Chance evens out over seeds, and bounds
are those of means.
"""

import argparse
import statistics
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import scalify_hlo
from benchmarks.common import Row, export_text, first_scales, predicts, report
from benchmarks.figures import draw_curves
from examples import data, gpt2
from examples.demo import CONFIG
from examples.side_by_side import Contender, train
from examples.xla import flat, state_bytes
from scalify_hlo.recipes.loading import load_recipe

BOUNDS = {
    "fp16": 0.01,
    "fp16-state": 0.05,
    "fp8": 0.06,
    "fp8-state": 0.06,
    "fp8-state8": 0.06,
    "fp8-current": 0.06,
    "fp8-delayed": 0.06,
    "fp8-calibrated": 0.06,
    "unit": 0.06,
    "bf16": None,
}
"""How far the loss may be from that of f32: the gaps of table 3 of the Scalify paper."""

MARGIN = 3
"""log2 of how much larger than in the first step values may be with calibrated scales."""

STATE_BOUNDS = {"fp16-state": 0.84, "fp8-state": 0.51, "fp8-state8": 0.36}
"""Bytes of what is held between steps, of those of the f32 program."""

FOLDER = Path("build/bench/recipes")
PLAIN = "plain f16"
NUDGED = "nudged"
_E4M3_MANTISSA = 4
"""Bits of the mantissa of E4M3, the one that is not stored included."""
_TOKENS = jax.ShapeDtypeStruct((CONFIG.batch, CONFIG.sequence + 1), jnp.int32)


def contenders(
    names: Sequence[str], *, plain: bool = False, nudged: bool = False, seed: int = 0
) -> list[Contender]:
    """Exports once, rewrites for each preset, and compiles."""
    state = gpt2.state(CONFIG, gpt2.ADAMW, seed)
    made = [_original("f32", state)]
    source = made[0].path.read_text()
    for name in names:
        path = FOLDER / f"{name.replace(':', '-')}.mlir"
        path.write_text(rewritten(name, source, state, seed))
        if predicts(preset_of(name)):
            made.append(Contender(name, path, state))
        elif by_operand(name):
            first = (*state, next(data.batches(CONFIG.batch, CONFIG.sequence, 1, seed)))
            made.append(Contender(name, path, state, carried=scaling_state(name, first)))
        else:
            made.append(Contender(name, path, state, scalify_hlo.as_scaled_array))
    if nudged:
        made.append(_original(NUDGED, jax.tree.map(_rounded, state)))
    if plain:
        made.append(_original(PLAIN, jax.tree.map(_half, state)))
    return made


def by_operand(name: str) -> bool:
    """Whether scales belong to single operands: then state is f32, without scales."""
    return not load_recipe(preset_of(name)).scaling.propagated


def preset_of(name: str) -> str:
    """The preset of a contender, whose name may end in settings: ``unit:compute=keep``."""
    return name.partition(":")[0]


def settings_of(name: str) -> dict[str, str]:
    """The settings in the name of a contender."""
    return dict(pair.split("=", 1) for pair in name.split(":")[1:])


def rewritten(name: str, source: str, state: Any, seed: int) -> str:
    """The step under a preset; what its scales are measured from is the first batch of a seed."""
    preset, settings = preset_of(name), settings_of(name)
    rewrite = partial(scalify_hlo.rewrite, source, recipe=preset)
    if predicts(preset):
        scales = first_scales(source, state, np.zeros(_TOKENS.shape, _TOKENS.dtype))
        return rewrite(input_scale=scales, settings=settings)
    if by_operand(name):
        first = (*state, next(data.batches(CONFIG.batch, CONFIG.sequence, 1, seed)))
        seen_by = seen(preset, source, first)
        return rewrite(**{**seen_by, "settings": settings | seen_by.get("settings", {})})
    return rewrite(signature="scaled", settings=settings)


def seen(recipe: str, source: str, arguments: Any) -> Mapping[str, Any]:
    """What the first step says of a program, for a recipe of calibrated scales.

    Training goes on for a while with those scales, so they have room for values that grow.
    """
    if load_recipe(recipe).scaling.kind != "calibrated":
        return {}
    profile = scalify_hlo.calibrate(source, [flat(arguments)])
    return {"profile": profile, "settings": {"scaling.margin": MARGIN}}


def scaling_state(name: str, arguments: Any) -> list[jax.Array]:
    """What a recipe of delayed scales carries along, for the first step; nothing for others."""
    if load_recipe(preset_of(name)).scaling.kind != "delayed":
        return []
    step = jax.export.export(jax.jit(gpt2.adamw_step))(*arguments)
    program = scalify_hlo.rewrite(step, recipe=preset_of(name), settings=settings_of(name))
    return flat(scalify_hlo.init_scaling_state(program, *arguments))


def _original(name: str, state: Any) -> Contender:
    path = FOLDER / f"{name.replace(' ', '-')}.mlir"
    path.write_text(export_text(gpt2.adamw_step, *jax.eval_shape(lambda: state), _TOKENS))
    return Contender(name, path, state)


def _half(leaf: jax.Array) -> jax.Array:
    return leaf.astype(jnp.float16) if leaf.dtype == jnp.float32 else leaf


def _rounded(leaf: jax.Array) -> jax.Array:
    """Floats with the mantissa of E4M3, whatever their exponents are."""
    if leaf.dtype != jnp.float32:
        return leaf
    mantissa, exponent = np.frexp(np.asarray(leaf))
    steps = 2.0**_E4M3_MANTISSA
    return jnp.asarray(np.ldexp(np.round(mantissa * steps) / steps, exponent))


def final(entry: Contender, last: int) -> float:
    """The mean of the last losses."""
    return statistics.fmean(entry.losses[-last:])


def trained(options: argparse.Namespace, seed: int) -> list[Contender]:
    """The contenders after training from one seed; the first is the original."""
    plain, nudged = not options.no_plain, options.nudged
    entries = contenders(options.presets, plain=plain, nudged=nudged, seed=seed)
    batches = data.batches(CONFIG.batch, CONFIG.sequence, options.steps, seed)
    for step in train(entries, batches):
        if step % 25 == 0:
            shown = (f"{e.name} {final(e, 25):.4f}" for e in entries)
            print(f"seed {seed}, step {step}: {', '.join(shown)}", file=sys.stderr, flush=True)
    return entries


def draw_losses(runs: Sequence[Sequence[Contender]], path: Path) -> None:
    """Draws the losses of all steps, as means over the seeds."""
    means = {
        entries[0].name: np.mean([entry.losses for entry in entries], axis=0).tolist()
        for entries in zip(*runs, strict=True)
    }
    steps = range(1, len(runs[0][0].losses) + 1)
    draw_curves(path, means, steps, ("step", "loss"))


def main() -> int:
    """Trains, and prints a row for each preset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("presets", nargs="*", metavar="PRESET", help="all by default")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--last", type=int, default=50, help="steps whose losses are averaged")
    parser.add_argument(
        "--seeds", type=int, default=3, help="of parameters and batches; gaps are means over them"
    )
    parser.add_argument("--from-seed", type=int, default=0, help="the first of them")
    parser.add_argument("--no-plain", action="store_true", help=f"leave out {PLAIN}")
    parser.add_argument(
        "--nudged",
        action="store_true",
        help="train f32 from rounded parameters too",
    )
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the losses too")
    options = parser.parse_args()
    if not (options.presets or options.nudged):
        options.presets = list(BOUNDS)
    FOLDER.mkdir(parents=True, exist_ok=True)
    seeds = range(options.from_seed, options.from_seed + options.seeds)
    runs = [trained(options, seed) for seed in seeds]
    if options.plot:
        draw_losses(runs, options.plot)
    bases = [final(run[0], options.last) for run in runs]
    full = state_bytes(runs[0][0].state)
    rows = [Row("f32: loss", statistics.fmean(bases))]
    for entries in zip(*(run[1:] for run in runs), strict=True):
        name = entries[0].name
        gaps = [final(e, options.last) - base for e, base in zip(entries, bases, strict=True)]
        rows.append(
            Row(
                f"{name}: loss over f32's",
                statistics.fmean(gaps),
                BOUNDS.get(preset_of(name)),
                ".4f",
            )
        )
        if len(gaps) > 1:
            each = zip(seeds, gaps, strict=True)
            rows += [Row(f"{name}: seed {seed}", gap, form=".4f") for seed, gap in each]
        share = state_bytes(entries[0].state) / full
        rows.append(
            Row(f"{name}: bytes of state, of f32's", share, STATE_BOUNDS.get(preset_of(name)))
        )
    title = f"GPT-2, {CONFIG.layers} layers, width {CONFIG.width}, {options.steps} steps of AdamW"
    return report(f"{title}; mean of the last {options.last} losses", rows)


if __name__ == "__main__":
    sys.exit(main())
