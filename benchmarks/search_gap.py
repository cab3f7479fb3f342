"""Trains with recipes that `search` found, and with others at the same share of FP8 matmuls.

    python -m benchmarks.search_gap                    # both models, 200 steps, three seeds
    python -m benchmarks.search_gap gpt2 --share 0.9 --steps 100
    python -m benchmarks.search_gap gpt2 --demo        # at the sizes of the demo model
    python -m benchmarks.search_gap gpt2 --demo --short --steps 30 --seeds 12
    python -m benchmarks.search_gap gpt2 --demo --after 60 --steps 60
    python -m benchmarks.search_gap gpt2 --only search --only "first and last"

All contenders of a seed begin with the same parameters and see the same batches. A gap is the mean
loss of the last steps, less that of f32. The recipes are

* the preset as it is, and the recipe that `search` finds at its share of matmuls in FP8;
* at the share `--share`: the preset with the first and the last layers left wide, as practitioners
  leave them; the preset with sites left wide that are drawn at random, other ones for each seed;
  the recipe that `search` finds; and the one that it finds with `--formats`.

`search` sees one step of another run in f32, after `--at` steps. The table has the mean over seeds
of the gap and of its magnitude, which is how far the loss is from that of f32. The gap of `nudged`,
which is f32 as well, tells how much is chance: its first parameters are rounded to four bits.
Training amplifies any difference, so there are short runs too. Each starts from a state of the run
in f32, and its gap is that of the loss of its fifth step. The table has the mean of these gaps, and
the mean and the median of their magnitudes. The first steps of some seeds amplify a difference by
thousands, and decide the mean; the median does not depend on them. With `--short` there are only
short runs, so that there is time for more seeds. With `--after`, the first steps of all contenders
are in f32, so that a gap does not show how those steps amplify it.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Table

import scalify_hlo
from benchmarks.common import WIDTH
from examples import data, gpt2
from examples.demo import CONFIG
from examples.training import cross_entropy, training_step
from scalify_hlo.commands.choose.sites import Site, sites_of
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import Recipe

SMALL = gpt2.Config(layers=4, width=128, heads=4, sequence=64, vocab=data.VOCAB, batch=8)
SPAN = 5
"""The steps of a short run."""

OTHER_SEED = 1000
"""The seed of the run from which `search` has its inputs."""


LONG = ("gap", "|gap|", "gaps of seeds")
SHORT = ("short gap", "|short gap|", "median")


@dataclass(frozen=True)
class Training:
    """A model that is trained.

    Attributes:
        step: (params, optimizer state, *batch) -> (params, optimizer state, loss).
        state: Returns the first state of a seed.
        batches: Yields a number of batches of a seed.
    """

    step: Callable[..., Any]
    state: Callable[[int], tuple[Any, Any]]
    batches: Callable[[int, int], Iterator[tuple[Any, ...]]]


def language_model(config: gpt2.Config) -> Training:
    """GPT-2 on the text of the standard library, with AdamW."""

    def batches(seed: int, steps: int) -> Iterator[tuple[Any, ...]]:
        for tokens in data.batches(config.batch, config.sequence, steps, seed):
            yield (tokens,)

    return Training(
        gpt2.adamw_step, lambda seed: gpt2.state(config, gpt2.ADAMW, seed), batches
    )  # fmt: skip


def vision_transformer(batch: int = 32) -> Training:
    """The ViT of `benchmarks.models.patches` on noisy pictures of ten patterns, with AdamW."""
    from benchmarks.models.patches import CLASSES, SIZE, VisionTransformer

    module = VisionTransformer()
    shape = (batch, SIZE, SIZE, 3)
    patterns = np.random.default_rng(7).standard_normal((CLASSES, *shape[1:]))

    def loss(params: Any, images: jax.Array, labels: jax.Array) -> jax.Array:
        logits: Any = module.apply(params, images)
        return cross_entropy(logits, labels)

    def state(seed: int) -> tuple[Any, Any]:
        params = module.init(jax.random.key(seed), jnp.zeros(shape))
        return params, gpt2.ADAMW.init(params)

    def batches(seed: int, steps: int) -> Iterator[tuple[Any, ...]]:
        random = np.random.default_rng(seed)
        for _ in range(steps):
            labels = random.integers(0, CLASSES, batch)
            images = patterns[labels] + 4 * random.standard_normal(shape)
            yield images.astype(np.float32), labels.astype(np.int32)

    return Training(training_step(loss, gpt2.ADAMW), state, batches)


def ends(sites: Sequence[Site]) -> list[Site]:
    """Returns sites from both ends of the forward pass to its middle, each with its backward."""
    forward = [site for site in sites if site.part == "forward"]
    count = len(forward)
    order = [i // 2 if i % 2 == 0 else count - 1 - i // 2 for i in range(count)]
    groups = [[forward[i], *_backward(forward[i], sites)] for i in order]
    return list(dict.fromkeys(site for group in groups for site in group))


def _backward(forward: Site, sites: Sequence[Site]) -> list[Site]:
    """Returns the backward sites of the layer of a forward one."""
    return [s for s in sites if s.part == "backward" and s.names == forward.names]


def drawn(seed: int, sites: Sequence[Site]) -> list[Site]:
    """Returns sites in an order that is drawn at random."""
    order = np.random.default_rng(seed).permutation(len(sites))
    return [sites[i] for i in order]


def left_wide(
    program: Any, recipe: Recipe, order: Callable[[Sequence[Site]], list[Site]], share: float
) -> Recipe:
    """Returns a recipe with sites left wide in an order, as many as a share of FP8 allows."""
    report = scalify_hlo.rewrite(program, recipe=recipe, report=True)[1]
    sites = [site for site in sites_of(report.matmuls, "step") if site.narrow]
    total, wide = report.totals.matmuls.total, report.totals.matmuls.total - _narrow(sites)
    patterns: list[str] = []
    for site in order(sites):
        if 1 - (wide + site.calls) / total >= share:
            wide += site.calls
            patterns.append(site.name)
    matmul = replace(recipe.matmul, exclude=(*recipe.matmul.exclude, *patterns))
    return replace(recipe, matmul=matmul)


def _narrow(sites: Sequence[Site]) -> int:
    return sum(site.calls for site in sites)


@dataclass(frozen=True)
class Trajectory:
    """A run.

    Attributes:
        losses: The loss of each step.
        states: The states before the first step, and after each further `SPAN` steps.
    """

    losses: list[float]
    states: list[Any]


def train(run: Any, training: Training, seed: int, steps: int) -> Trajectory:
    """Returns the run of a compiled step."""
    state: Any = training.state(seed)
    found: list[float] = []
    states: list[Any] = []
    for number, batch in enumerate(training.batches(seed, steps)):
        if number % SPAN == 0:
            states.append(state)
        *state, loss = run(*state, *batch)
        found.append(float(loss))
    return Trajectory(found, states)


def short_gaps(
    run: Any, training: Training, seed: int, steps: int, exact: Trajectory
) -> Iterator[float]:
    """Yields the gap at the end of each short run that starts from a state of f32."""
    state: Any = None
    for number, batch in enumerate(training.batches(seed, steps)):
        if number % SPAN == 0:
            state = exact.states[number // SPAN]
        *state, loss = run(*state, *batch)
        if number % SPAN == SPAN - 1:
            yield float(loss) - exact.losses[number]


def inputs_after(run: Any, training: Training, steps: int) -> tuple[Any, ...]:
    """Returns the arguments of a compiled step after some steps of another run."""
    state = training.state(OTHER_SEED)
    *before, last = training.batches(OTHER_SEED, steps + 1)
    for batch in before:
        *state, _ = run(*state, *batch)
    return (*state, *last)


def nudged(training: Training) -> Training:
    """Returns a training whose first parameters are rounded to four bits of mantissa."""

    def state(seed: int) -> tuple[Any, Any]:
        params, rest = training.state(seed)
        return jax.tree.map(lambda leaf: jax.lax.reduce_precision(leaf, 8, 3), params), rest

    return replace(training, state=state)


def continued(run: Any, training: Training, before: int) -> Training:
    """Returns a training that begins after some steps of a compiled step."""

    @cache
    def state(seed: int) -> Any:
        now: Any = training.state(seed)
        for batch in training.batches(seed, before):
            *now, _ = run(*now, *batch)
        return tuple(now)

    def batches(seed: int, steps: int) -> Iterator[tuple[Any, ...]]:
        return islice(training.batches(seed, before + steps), before, None)

    return Training(training.step, state, batches)


def recipes(
    program: Any, inputs: tuple[Any, ...], preset: str, share: float, seeds: int
) -> dict[str, list[Recipe]]:
    """Returns the recipes by name, each for all seeds or one for each seed."""
    given = load_recipe(preset)
    sample = [jax.tree.map(np.asarray, inputs)]
    own = scalify_hlo.rewrite(program, recipe=given, report=True)[1].totals.matmuls
    find = partial(scalify_hlo.search, program, sample, given)
    return {
        preset: [given],
        "search at its share": [find(f"wide<={own.total - own.narrow}").result],
        "first and last": [left_wide(program, given, ends, share)],
        "random": [left_wide(program, given, partial(drawn, seed), share) for seed in range(seeds)],
        "search": [find(f"narrow>={share}").result],
        "search, finer formats": [find(f"narrow>={share}", formats=True).result],
    }


def measure(training: Training, options: argparse.Namespace, console: Console) -> Table:
    """Trains all contenders, and returns the table of gaps."""
    sample = (*training.state(0), *next(training.batches(0, 1)))
    program = jax.export.export(jax.jit(training.step))(*sample)
    original = jax.jit(program.call)
    inputs = inputs_after(original, training, options.at)
    chosen = recipes(program, inputs, options.recipe, options.share, options.seeds)
    training = continued(original, training, options.after)
    seeds, steps = range(options.seeds), options.steps
    exact = [train(original, training, seed, steps) for seed in seeds]
    columns = ("recipe", "FP8", *(() if options.short else LONG), *SHORT)
    table = Table(*columns, title_justify="left")
    table.title = f"f32: {statistics.mean(map(last_loss, exact)):.5f}"

    def add(name: str, fp8: float, runs: Sequence[Any], training: Training) -> None:
        mine = [runs[seed % len(runs)] for seed in seeds]
        cells = [name, f"{fp8:.1%}"]
        if not options.short:
            ends = [last_loss(train(mine[i], training, i, steps)) for i in seeds]
            cells += _cells([ends[i] - last_loss(exact[i]) for i in seeds])
        short = [list(short_gaps(mine[i], training, i, steps, exact[i])) for i in seeds]
        cells += _short_cells(short)
        table.add_row(*cells)
        console.print(*cells, highlight=False)

    if not options.only and not options.short:
        add("f32, nudged", 0.0, [original], nudged(training))
    for name, several in chosen.items():
        if options.only and name not in options.only:
            continue
        rewritten = [scalify_hlo.rewrite(program, recipe=each, report=True) for each in several]
        runs = [jax.jit(each.call) for each, _ in rewritten]
        add(name, rewritten[0][1].totals.matmuls.share or 0.0, runs, training)
    return table


def last_loss(found: Trajectory) -> float:
    """Returns the mean loss of the last fifth of the steps."""
    return statistics.mean(found.losses[-max(len(found.losses) // 5, 1) :])


def _short_cells(gaps: Sequence[Sequence[float]]) -> list[str]:
    every = [gap for each in gaps for gap in each]
    sizes = [abs(gap) for gap in every]
    mean, median = statistics.mean(sizes), statistics.median(sizes)
    return [f"{statistics.mean(every):+.5f}", f"{mean:.5f}", f"{median:.5f}"]


def _cells(gaps: Sequence[float]) -> list[str]:
    mean, size = statistics.mean(gaps), statistics.mean(map(abs, gaps))
    return [f"{mean:+.5f}", f"{size:.5f}", " ".join(f"{gap:+.3f}" for gap in gaps)]


def main() -> int:
    """Trains the models that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_FORMAT)
    parser.add_argument("models", nargs="*", help="gpt2 and vit; both by default")
    parser.add_argument("--recipe", default="fp8-current")
    parser.add_argument("--share", type=float, default=0.8)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--at", type=int, default=50, help="steps before the inputs of search")
    parser.add_argument("--after", type=int, default=0, help="steps in f32 before all runs")
    parser.add_argument("--short", action="store_true", help="no gaps at the end of training")
    parser.add_argument("--only", action="append", metavar="RECIPE", help="a row of the table")
    parser.add_argument("--demo", action="store_true", help="GPT-2 at the sizes of the demo model")
    options = parser.parse_args()
    known: dict[str, Callable[[], Training]] = {
        "gpt2": partial(language_model, CONFIG if options.demo else SMALL),
        "vit": vision_transformer,
    }
    console = Console(width=WIDTH)
    for name in options.models or known:
        if name not in known:
            parser.error(f"no model is named {name!r}; the models are: {', '.join(known)}")
        console.print(f"{name}, {options.steps} steps, {options.seeds} seeds")
        console.print(measure(known[name](), options, Console(stderr=True)))
    return 0


_FORMAT = argparse.RawDescriptionHelpFormatter

if __name__ == "__main__":
    sys.exit(main())
