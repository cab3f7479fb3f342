"""The papers of the recipes of the literature, and what a rewrite does of them.

The file of such a recipe begins with comments: its effect in a sentence, and then a paragraph for
each of the labels `LABELS`. A paragraph ends at the next label, or at the first line of options.
The first label may be left out, and a baseline may leave out the others.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from scalify_hlo.recipes.toml import literature_names, preset_text

LABELS: Final = ("Paper", "Kept wide", "Reproduced", "Not reproduced")
"""The labels of the paragraphs, in this order."""

BASELINE: Final = "Baseline"
"""The label of a recipe that papers compare theirs with, and which is worse on purpose."""

_LABEL: Final = re.compile(rf"({'|'.join((*LABELS, BASELINE))}): ")


class Source(NamedTuple):
    """The paper of a recipe.

    Attributes:
        paper: Its title and number, or the library, and the place in it.
        kept_wide: What the recipe does not quantize.
        reproduced: What the recipe does as the paper says.
        not_reproduced: What a rewrite does not do, or does in another way.
        baseline: What the recipe is compared with, if it is a baseline, which may flush and
            overflow more than its formats need; otherwise empty.
    """

    paper: str
    kept_wide: str
    reproduced: str
    not_reproduced: str
    baseline: str = ""


def source_of(name: str) -> Source | None:
    """Returns the paper of a recipe; None if it is a preset.

    Args:
        name: The name of a recipe.

    Raises:
        ValueError: A label is missing in the file of the recipe.
    """
    if name not in literature_names():
        return None
    found: dict[str, str] = {}
    label = LABELS[0]
    for line in preset_text(name).splitlines()[1:]:
        if not line.startswith("#"):
            break
        text = line.removeprefix("#").strip()
        if begun := _LABEL.match(text):
            label, text = begun[1], text[begun.end() :]
        if text:
            found[label] = f"{found[label]} {text}" if label in found else text
    missing = [each for each in LABELS if each not in found]
    if missing and BASELINE not in found:
        raise ValueError(f"{name}.toml has no comment {missing[0]!r}")
    return Source(*(found.get(each, "") for each in (*LABELS, BASELINE)))
