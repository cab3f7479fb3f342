"""`scalify-hlo recipes`: list the recipes, or print one as a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import WithMarkdown, WithSettings
from scalify_hlo.errors import UsageError
from scalify_hlo.recipes.effects import MISSING, PAIRS
from scalify_hlo.recipes.fields import Values, option
from scalify_hlo.recipes.formats import ANY, F8, MICRO, PLATFORMS, spellings
from scalify_hlo.recipes.loading import (
    OPTIONS,
    dump_recipe,
    idle_under_same,
    load_recipe,
    settings_of,
)
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.recipes.sources import BASELINE, LABELS, Source, source_of
from scalify_hlo.recipes.toml import (
    literature_names,
    preset_names,
    preset_text,
    recipe_names,
    to_literal,
)
from scalify_hlo.results.model import Kind, result


@command("scalify-hlo recipes fp8 --set matmul.smallest=64 > mine.toml")
class Recipes(WithMarkdown, WithSettings):
    """List the recipes, or print one as a TOML file that --recipe takes.

    NAME is a recipe of the list, or of --literature. FILE is the path of a TOML file, which has a
    separator in it, or ends in .toml. A file may start from a recipe, as in base = "fp8". With
    --format json, each recipe has its options, without those at their defaults unless --all is
    given.

    Attributes:
        all: Print options at their defaults too.
        literature: List the recipes of papers and libraries, with what each keeps wide, reproduces
            and does not reproduce.
    """

    recipe: str | None = option(None, metavar="[NAME|FILE]", argument=True)
    all: bool = False
    literature: bool = False

    def run(self) -> None:
        """See `Command.run`."""
        if self.recipe is None and (self.settings or (self.all and self.form == "text")):
            raise UsageError(
                "there is no recipe to print",
                hint="name one, as in `scalify-hlo recipes propagate --all`",
            )
        if self.recipe is not None and (self.markdown or self.literature):
            listing = "page" if self.markdown else "list"
            raise UsageError(f"the {listing} has all recipes", hint="leave out the name of one")
        every = literature_names() if self.literature else preset_names()
        names = every if self.recipe is None else [self.recipe]
        loaded = {name: load_recipe(name, self.keyed) for name in names}
        listed = []
        for name, recipe in loaded.items():
            options = settings_of(recipe, whole=self.all)
            effect = _first_line(name) if name in recipe_names() else None
            given = str(options.pop("name"))
            listed.append(ListedRecipe(given, effect, options, source_of(name)))
        console.echo(self.text(RecipeList(listed), list(self._lines(loaded))))

    def _lines(self, loaded: Mapping[str, Recipe]) -> Iterable[str]:
        """Returns the lines of the output as text."""
        if self.recipe is not None:
            return dump_recipe(loaded[self.recipe], whole=self.all).rstrip("\n").split("\n")
        if self.markdown:
            made = "\n".join(_literature()) if self.literature else page()
            return made.rstrip("\n").split("\n")
        if self.literature:
            return _sources(loaded)
        rows = [(name, _first_line(name)) for name in loaded]
        return console.described(("recipe", "effect"), rows)


_VALUE = Kind(
    {
        "oneOf": [
            {"type": ["string", "number", "boolean"]},
            {"type": "array", "items": {"type": ["string", "number"]}},
        ]
    }
)


class ListedRecipe(NamedTuple):
    """A recipe.

    Attributes:
        name: Its name, or that of the recipe from which a file starts.
        effect: Its effect in a sentence; None for a file.
        options: Its options by key.
        source: The paper that it is from; None for a preset or a file.
    """

    name: str
    effect: str | None
    options: dict[str, Annotated[Any, _VALUE]]
    source: Source | None


@result("scalify-hlo recipes", version=1)
class RecipeList(NamedTuple):
    """Recipes and their options."""

    recipes: list[ListedRecipe]


_INTRODUCTION = """\
# Recipes

A recipe says which values a rewrite casts, to which formats, and where their scales come from. It
is the name of a preset, or a TOML file, with options set over it. `make docs` writes this page from
the presets and the docstrings.

Do this, in a checkout:

```sh
scalify-hlo recipes fp8 --set state.weight=keep
scalify-hlo rewrite examples/step.mlir -o fp8.mlir --recipe fp8 --set matmul.exclude=head
```

What `recipes` prints is a recipe file. A file is named in place of a preset:

    scalify-hlo recipes fp8 --set state.weight=keep > mine.toml
    scalify-hlo rewrite step.mlir -o scaled.mlir --recipe mine.toml

Without a recipe, `rewrite` and `inspect` take `fp8-current`, or `fp8-calibrated` with a profile.
`scalify` takes `propagate`.

In Python, `rewrite(program, recipe="fp8", settings={"matmul.exclude": ["head"]})`, and
`load_recipe` and `dump_recipe` read and write recipes.

A file sets the options below, and may start from a preset:

```toml
base = "fp8"

[matmul]
exclude = ["head", "*embed*"]
```

With `--set`, and as text in Python, the items of a list are separated by commas.

The formats of weights and moments in the table `state` may differ from tensor to tensor, by the
names of arguments: `params['base']['kernel']`, its path `params/base/kernel`, or the end of that. A
format by itself is that of all others. The last pattern that matches counts.

```toml
[state]
weight."base/*" = "e4m3"
weight."*" = "bf16"
```

On the command line, `--set 'state.weight."base/*"=e4m3'` adds a pattern to the recipe, and
in Python `settings={'state.weight."base/*"': "e4m3"}` does.

An option that has no effect is refused, with a note that says which other option it needs. Examples
are `scaling.margin` if scales propagate, and a format of `state` with the signature `same`. Options
that a preset sets are exempt: another option may leave them without effect.
"""

_LABELS = (*LABELS, BASELINE)

_LITERATURE = """\
## Recipes of the literature

These recipes are those of papers and libraries, as far as a rewrite can do what they do. Their
names are taken wherever those of presets are, also as the `base` of a file:

```sh
scalify-hlo recipes --literature
scalify-hlo rewrite examples/step.mlir -o deepseek.mlir --recipe deepseek-v3
```

Each file says what the recipe keeps wide, what of the source it reproduces, and what it does not.
Formats of state need `--signature scaled`. If a program lacks what such a recipe names, such as
an optimizer, attention or enough layers, a remark says so. A baseline is what papers compare their
recipes with. It may flush and overflow where other recipes do not.

The comparison of FP8 with INT8 in Graphcore's post on unit scaling has no recipe: it is of
inference, and recipes have no integer formats.
"""

_WITHOUT_EFFECT = """\
## Options without effect

What you set yourself, on the command line, in a file or in Python, has an effect, or you are told.
An option that another option leaves without effect is refused, with what would give it one:
"""

_REMARKED = """
A pattern that matches nothing is refused, too. If a pattern matches a tensor that cannot take its
format, a remark names both. An option that asks for something that a program
does not have is a remark, `... has no effect: ...`, and an error with `--strict`:
"""

_FORMATS = """\
## Formats

Names are those of StableHLO, in any case, or one of the other spellings. `keep` is the format that
the program has. `e4m3` and `e5m2` are the variants of the target: AMD's FNUZ formats with
`target=rocm`, and the OCP formats otherwise. Newer GPUs of AMD have the OCP formats too; use their
full names.

Activations, weights and gradients are multiplied with each other. So either all three are f8, or
none is. FNUZ formats are multiplied with FNUZ formats only. No two formats are E5M2, for which
there is no hardware. Other combinations are refused, and so is a format that the target lacks.
"""

_TARGETS = """\
## Targets

On GPUs, XLA needs the attribute `algorithm` on a matmul of f8 operands. Other compilers refuse the
attribute.

| target | meaning | f8 matmuls with `algorithm` |
|---|---|---|
| `any` | as `gpu`; but as `tpu` for programs that jax.export wrote for TPUs | yes |
| `cpu` | XLA on CPUs, which computes in f32 | no |
| `gpu` | XLA on GPUs of NVIDIA, and on those of AMD with OCP formats | yes |
| `rocm` | XLA on GPUs of AMD with FNUZ formats | yes |
| `tpu` | XLA on TPUs | no |
| `iree` | IREE | no |
| `portable` | any reader of StableHLO from version 1.0 on; ops of CHLO are expanded | no |

"""


def page() -> str:
    """Returns the presets, the options and the formats as Markdown."""
    lines = [_INTRODUCTION, "## Presets", ""]
    for name in preset_names():
        lines += [f"### {name}", "", "```toml", preset_text(name).rstrip(), "```", ""]
    lines += _literature()
    lines += ["## Options", "", "| option | default | values | meaning |", "|---|---|---|---|"]
    for key, each in OPTIONS.items():
        default = f"`{to_literal(each.default)}`"
        lines.append(_row(f"`{key}`", default, _values(each.values), each.about))
    lines += [
        "",
        *_without_effect(),
        _TARGETS,
        _FORMATS,
        "| format | other spellings | lacking on |",
        "|---|---|---|",
    ]
    lines += [_format(name) for name in (*ANY, *MICRO)]
    return "\n".join(lines) + "\n"


def _sources(names: Iterable[str]) -> Iterator[str]:
    """Yields the lines of the list of recipes of the literature."""
    for number, name in enumerate(names):
        source = source_of(name)
        texts = () if source is None else (*source[:4], source.baseline)
        rows = [(label.lower(), text) for label, text in zip(_LABELS, texts, strict=False) if text]
        yield from ("",) if number else ()
        yield from console.described((name, _first_line(name)), rows)


def _literature() -> Iterator[str]:
    """Yields the section on recipes of the literature."""
    yield from (_LITERATURE, "| recipe | source | baseline |", "|---|---|---|")
    for name in literature_names():
        source = source_of(name)
        if source is not None:
            yield _row(f"[`{name}`](#{name})", source.paper, source.baseline)
    yield ""
    for name in literature_names():
        yield from (f"### {name}", "", "```toml", preset_text(name).rstrip(), "```", "")


def _without_effect() -> Iterator[str]:
    """Yields the section on what leaves options without effect, and on what the user then reads."""
    yield _WITHOUT_EFFECT
    needs: dict[str, list[str]] = {}
    for key, each in OPTIONS.items():
        need = each.said("needs")
        if need is not None:
            needs.setdefault(need.cure.partition(", or leave")[0], []).append(f"`{key}`")
    needs.setdefault(PAIRS.cure.partition(", with")[0], []).extend(
        f"`{option.key}`" for option in idle_under_same()
    )
    yield from ("| options | to give them an effect |", "|---|---|")
    yield from (_row(", ".join(dict.fromkeys(keys)), cure) for cure, keys in needs.items())
    yield from (_REMARKED, "| option, or table of options | remark |", "|---|---|")
    yield from (_row(f"`{key}`", reason) for key, reason in MISSING.items())
    yield ""


def _values(values: Values) -> str:
    """Returns the values of an option; formats of 8 and of 4 bits are listed below."""
    small = [
        f"any f{bits} format" for bits, all_ in ((8, F8), (4, MICRO)) if all_[0] in values.names
    ]
    named = [f"`{name}`" for name in values.names if name not in (*F8, *MICRO)]
    return ", ".join(named + small) or values.about


def _format(name: str) -> str:
    lacking = ", ".join(target for target, each in PLATFORMS.items() if name in each.lacks)
    return _row(f"`{name}`", ", ".join(f"`{s}`" for s in spellings(name)), lacking)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _first_line(name: str) -> str:
    return preset_text(name).partition("\n")[0].removeprefix("#").strip()
