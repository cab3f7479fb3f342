"""Whether two versions of scalify_hlo rewrite programs to the same texts, byte for byte.

    git worktree add ../before HEAD~1
    python -m benchmarks.same_texts --baseline ../before
    python -m benchmarks.same_texts --baseline ../before --random 2000 --seed 7

The programs are those of the lit tests, training steps of the examples and of the kinds of
`benchmarks.step_kinds`, and random programs. Each is rewritten under every preset and both
signatures, without debug locations, once by the version that runs this and once by the sources in
DIR; training steps also for each target with `optimize`. `fp8-calibrated` takes a profile that is
calibrated on samples of the training steps. A rewrite that either refuses has to be refused by
both; messages may differ. Rewrites that crash in DIR are counted and not compared.

Exit code 1 if any text differs.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import jax
import numpy as np

import scalify_hlo
from benchmarks import rewritten_texts
from benchmarks.common import export_text
from benchmarks.step_kinds import kinds
from examples import gpt2, mlp
from scalify_hlo.profile.file import dump_profile
from scalify_hlo.recipes.toml import preset_names
from scalify_hlo.targets.description import target_names
from tests.py.fuzzing import programs

ROOT = Path(__file__).resolve().parents[1]
CONFIG = gpt2.Config(layers=2, width=64, heads=4, sequence=16, vocab=1024, batch=8, tied=False)
RANDOM = 400
CALIBRATED = "fp8-calibrated"


@dataclass(frozen=True)
class Request:
    """One program to rewrite in every way.

    Attributes:
        name: How it is called in the table of differences.
        program: Its MLIR text.
        recipes: The presets.
        profile: For `fp8-calibrated`: the path of a profile; empty for none.
        options: Other options of the rewrite.
    """

    name: str
    program: str
    recipes: tuple[str, ...]
    profile: str = ""
    options: dict[str, Any] = field(default_factory=dict)


def lit_programs() -> Iterator[tuple[str, str]]:
    """The inputs of the lit tests, those of split files one by one."""
    for path in sorted((ROOT / "tests/lit").rglob("*.mlir")):
        for number, part in enumerate(path.read_text(encoding="utf-8").split("\n// -----\n")):
            yield f"{path.relative_to(ROOT)}#{number}", part


def random_programs(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """The random programs that `benchmarks.fuzz` draws, but those that JAX cannot export."""
    for number in range(count):
        drawn = programs.draw(Random(f"{seed} program {number}"))
        try:
            yield f"random {number}", drawn.text()
        except (NotImplementedError, TypeError, ValueError):
            continue


def steps() -> Iterator[tuple[str, str, list[np.ndarray[Any, Any]]]]:
    """Training steps of the examples, with one sample of the arguments of each."""
    random = np.random.default_rng(0)
    params = mlp.init(jax.random.key(0))
    images = random.standard_normal((32, 784)).astype(np.float32)
    labels = random.integers(0, 10, 32, np.int32)
    yield _step("mlp", mlp.adam_step, params, mlp.ADAM.init(params), images, labels)
    params, state = gpt2.state(CONFIG, gpt2.ADAMW)
    tokens = random.integers(0, CONFIG.vocab, (CONFIG.batch, CONFIG.sequence + 1), np.int32)
    yield _step("gpt2", gpt2.adamw_step, params, state, tokens)


def _step(
    name: str, step: Callable[..., Any], *arguments: Any
) -> tuple[str, str, list[np.ndarray[Any, Any]]]:
    return name, export_text(step, *arguments), [np.asarray(a) for a in jax.tree.leaves(arguments)]


def requests(folder: Path, random: int, seed: int) -> Iterator[Request]:
    """All there is to rewrite."""
    uncalibrated = tuple(name for name in preset_names() if name != CALIBRATED)
    for name, text in (*lit_programs(), *random_programs(random, seed)):
        yield Request(name, text, uncalibrated)
    for name, text in kinds():
        yield Request(name, text, uncalibrated)
        for target in target_names():
            options = {"target": target, "optimize": True}
            yield Request(f"{name}, {target}", text, uncalibrated, options=options)
    for name, text, sample in steps():
        profile = folder / f"{name}.json"
        profile.write_text(dump_profile(scalify_hlo.calibrate(text, [sample])), encoding="utf-8")
        yield Request(name, text, uncalibrated)
        yield Request(f"{name}, calibrated", text, (CALIBRATED,), str(profile))


def texts_of(sources: Path, file: Path) -> dict[str, str]:
    """The digests of the texts that some sources of scalify_hlo rewrite programs to.

    Raises:
        SystemExit: They cannot.
    """
    child = subprocess.run(
        [sys.executable, "-P", rewritten_texts.__file__, str(file)],
        env={**os.environ, "PYTHONPATH": str(sources)},
        capture_output=True,
        check=False,
        text=True,
    )
    if child.returncode:
        raise SystemExit(f"the sources in {sources} cannot rewrite: {child.stderr[-2000:]}")
    found: dict[str, str] = json.loads(child.stdout)
    return found


def compare(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Returns the rewrites whose texts differ, or that one version refuses.

    A rewrite that crashes in the baseline may have any text.
    """
    crashed = rewritten_texts.CRASHED
    return [n for n in before if before[n] != after[n] and not before[n].startswith(crashed)]


def main() -> int:
    """Compares, and prints what differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--baseline", required=True, metavar="DIR", help="other sources to compare")
    parser.add_argument("--random", type=int, default=RANDOM, metavar="N", help="random programs")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "requests.json")
        wanted = list(requests(Path(folder), options.random, options.seed))
        file.write_text(json.dumps([asdict(request) for request in wanted]), encoding="utf-8")
        both = [Path(options.baseline).resolve(), ROOT]
        with ThreadPoolExecutor() as pool:
            before, after = pool.map(partial(texts_of, file=file), both)
    different = compare(before, after)
    for name in different:
        print(f"differs: {name}")
    refused, crashed = (
        sum(text.startswith(start) for text in before.values())
        for start in (rewritten_texts.REFUSED, rewritten_texts.CRASHED)
    )
    print(
        f"{len(wanted)} programs, {len(before)} rewrites ({refused} refused, {crashed} crashed in "
        f"the baseline): {len(different)} differ"
    )
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
