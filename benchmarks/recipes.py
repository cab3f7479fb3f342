"""Trains the demo model under every preset, from one export in f32, and compares the losses.

    python -m benchmarks.recipes                       # all presets, 300 steps
    python -m benchmarks.recipes fp16 fp8 --steps 50

All contenders begin with the same parameters and see the same batches. The original is plain f32;
`plain f16` is the same model and optimizer in f16 throughout, without scales and without loss
scaling, as it diverges or underflows. A gap is that of the mean loss of the last steps. The gap of
`propagate`, which computes the same in f32 and differs by what XLA fuses, is how much of it is
chance: training amplifies last bits.
"""

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import scalify_hlo
from benchmarks.common import Row, export_text, report
from examples import data, gpt2
from examples.demo import CONFIG
from examples.side_by_side import Contender, train
from examples.xla import state_bytes

BOUNDS = {"fp16": 0.01, "fp16-state": 0.05, "fp8": 0.06, "fp8-state": 0.06, "bf16": None}
"""How far the loss may be from that of f32: the gaps of table 3 of the Scalify paper."""

STATE_BOUNDS = {"fp16-state": 0.84, "fp8-state": 0.51}
"""Bytes of what is held between steps, of those of the f32 program."""

FOLDER = Path("build/bench/recipes")
PLAIN = "plain f16"


def contenders(names: Sequence[str], *, plain: bool, seed: int) -> list[Contender]:
    """Exports once, rewrites for each preset, and compiles."""
    state = gpt2.state(CONFIG, gpt2.ADAMW, seed)
    made = [_original("f32", state)]
    source = made[0].path.read_text()
    for name in names:
        path = FOLDER / f"{name}.mlir"
        path.write_text(scalify_hlo.rewrite(source, recipe=name, signature="scaled"))
        made.append(Contender(name, path, state, scalify_hlo.as_scaled_array))
    if plain:
        made.append(_original(PLAIN, jax.tree.map(_half, state)))
    return made


def _original(name: str, state: Any) -> Contender:
    tokens = jax.ShapeDtypeStruct((CONFIG.batch, CONFIG.sequence + 1), jnp.int32)
    path = FOLDER / f"{name.replace(' ', '-')}.mlir"
    path.write_text(export_text(gpt2.adamw_step, *jax.eval_shape(lambda: state), tokens))
    return Contender(name, path, state)


def _half(leaf: jax.Array) -> jax.Array:
    return leaf.astype(jnp.float16) if leaf.dtype == jnp.float32 else leaf


def final(entry: Contender, last: int) -> float:
    """The mean of the last losses."""
    return statistics.fmean(entry.losses[-last:])


def main() -> int:
    """Trains, and prints a row for each preset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("presets", nargs="*", default=list(BOUNDS))
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--last", type=int, default=50, help="steps whose losses are averaged")
    parser.add_argument("--seed", type=int, default=0, help="of parameters and of batches")
    parser.add_argument("--no-plain", action="store_true", help=f"leave out {PLAIN}")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    entries = contenders(options.presets, plain=not options.no_plain, seed=options.seed)
    batches = data.batches(CONFIG.batch, CONFIG.sequence, options.steps, options.seed)
    for step in train(entries, batches):
        if step % 25 == 0:
            shown = (f"{e.name} {final(e, 25):.4f}" for e in entries)
            print(f"step {step}: {', '.join(shown)}", file=sys.stderr, flush=True)
    base = final(entries[0], options.last)
    full = state_bytes(entries[0].state)
    rows = [Row("f32: loss", base)]
    for entry in entries[1:]:
        gap = final(entry, options.last) - base
        rows.append(Row(f"{entry.name}: loss over f32's", gap, BOUNDS.get(entry.name), ".4f"))
        share = state_bytes(entry.state) / full
        bound = STATE_BOUNDS.get(entry.name)
        rows.append(Row(f"{entry.name}: bytes of state, of f32's", share, bound))
    title = f"GPT-2, {CONFIG.layers} layers, width {CONFIG.width}, {options.steps} steps of AdamW"
    return report(f"{title}; mean of the last {options.last} losses", rows)


if __name__ == "__main__":
    sys.exit(main())
