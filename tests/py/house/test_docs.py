"""The pages of the documentation: what they show runs, and what they list is all there is."""

from __future__ import annotations

import re
from pathlib import Path

import jax
import pytest

import scalify_hlo
from tests.py.shared.judge import propagated
from tools import api_page, cli_page, files_page, pages, targets_page

SITE = (pages.ROOT / "mkdocs.yml").read_text()
EVERY = sorted(path.name for path in pages.DOCS.glob("*.md"))
_LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")


def masked(page: str) -> str:
    """A page without its numbers, whose last digits depend on the version of XLA.

    The name that jax gives to the body of a loop depends on its version too.
    """
    return re.sub(r"[ -]+", " ", _NUMBER.sub("#", page).replace("/eval_jaxpr/", "/closed_call/"))


_NUMBER = re.compile(r"(?<![\w.])[+-]?\d(?:[\d.,]*\d)?(?:e[+-]?\d+)?")


def numbers(page: str) -> list[float]:
    """The numbers of a page."""
    found = (number.replace(",", "") for number in _NUMBER.findall(page))
    return [float(each) for each in found if each.count(".") < 2]


@pytest.mark.slow
@pytest.mark.parametrize("name", pages.PAGES)
def test_what_a_page_shows_runs(name: str, tmp_path: Path) -> None:
    file = pages.ROOT / name
    page = file.read_text()
    found = pages.run(page, file.name, tmp_path)
    assert masked(found) == masked(page), "run `make docs`"
    if jax.__version__.startswith(pages.WRITTEN_WITH):  # CPUs differ in their last digits.
        assert numbers(found) == pytest.approx(numbers(page), rel=1e-3), "run `make docs`"


def test_other_words_are_no_numbers() -> None:
    assert masked("loss  0.25, in 3 steps") == masked("loss 1.5e-7, in 12 steps")
    assert masked("loss 0.25 in f16") != masked("loss 0.25 in f32")


def test_the_rewrite_shown_is_the_rewrite_done() -> None:
    before, after = pages.blocks((pages.DOCS / "concepts.md").read_text(), "mlir")
    assert before == (pages.ROOT / "examples" / "layer.mlir").read_text()
    assert propagated(before, signature="scaled").strip() == after.strip()


def test_a_page_that_shows_another_output_is_noticed(tmp_path: Path) -> None:
    page = "```python\nprint(1)\n```\n\n```text\n2\n```\n"
    assert pages.run(page, "page.md", tmp_path) == page.replace("2", "1")


def test_a_command_that_fails_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"page\.md:1: .*cannot read the file"):
        pages.run("```sh\nscalify-hlo rewrite absent.mlir -o out\n```\n", "page.md", tmp_path)


def test_the_command_line_page_has_every_option() -> None:
    assert (pages.DOCS / "cli.md").read_text() == cli_page.page(), "run `make docs`"


def test_the_page_of_targets_has_every_target() -> None:
    assert targets_page.PAGE.read_text() == targets_page.page(), "run `make docs`"


def test_the_page_of_files_has_every_file() -> None:
    assert files_page.PAGE.read_text() == files_page.page(), "run `make docs`"


def test_the_api_page_has_every_public_name() -> None:
    assert (pages.DOCS / "api.md").read_text() == api_page.page(), "run `make docs`"
    listed = [name for names in api_page.GROUPS.values() for name in names]
    assert sorted([*listed, "__version__"]) == sorted(scalify_hlo.__all__)


@pytest.mark.parametrize("name", EVERY)
def test_a_page_begins_with_a_box(name: str) -> None:
    assert pages.box((pages.DOCS / name).read_text()), "begin it with `Do this:` and a few lines"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EVERY if f"docs/{name}" not in pages.PAGES])
def test_the_box_of_a_page_runs(name: str, tmp_path: Path) -> None:
    """That of other pages runs with the page."""
    pages.run(pages.box((pages.DOCS / name).read_text()), name, tmp_path)


def test_a_page_without_a_box_is_noticed() -> None:
    box = "# Page\n\nOne paragraph.\n\nDo this, in a checkout:\n\n```sh\nscalify-hlo rules\n```\n"
    assert pages.box(f"{box}\nMore.\n") == box
    for old, new in (("Do this", "Do"), ("One", "## One\n\nOne"), ("```sh", "```text")):
        assert not pages.box(box.replace(old, new))
    assert not pages.box(box.replace("rules\n", "rules\n" * 7))


@pytest.mark.parametrize("name", EVERY)
def test_pages_are_in_the_site(name: str) -> None:
    assert f": {name}\n" in SITE
    assert name == "index.md" or f"]({name})" in (pages.DOCS / "index.md").read_text()


@pytest.mark.parametrize(
    "name", [*EVERY, "../README.md", "../ARCHITECTURE.md", "../CONTRIBUTING.md"]
)
def test_links_lead_somewhere(name: str) -> None:
    page = (pages.DOCS / name).resolve()
    for target, anchor in _LINK.findall(page.read_text()):
        file = page.parent / target if target else page
        assert file.exists(), target
        if anchor:
            assert anchor in _anchors(file.read_text()), f"{target}#{anchor}"


WRITTEN = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "benchmarks/README.md"]
EVERY_TEXT = pytest.mark.parametrize("name", [*WRITTEN, *(f"docs/{name}" for name in EVERY)])
LONGEST = 30
"""The most words of a sentence; what is in backquotes is one word."""

COINED = re.compile(
    r"\b(bring|brings|brought|bear|bears|born|settle|settles|settled|owe|owes|owed|leftovers?|doubt\w*)\b",
    re.IGNORECASE,
)


def sentences(page: str) -> list[str]:
    """The sentences of a page without its blocks, those of list items and of cells too."""
    text = re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^    [^* ].*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`]*`", "code", re.sub(r"\]\([^)]*\)", "]", text))
    parts = re.split(r"\n\s*\n|\n(?=[*#-] |\d\. )|\|", text)
    return [s for part in parts for s in re.split(r"(?<=[.:;?!])\s+", " ".join(part.split()))]


@EVERY_TEXT
def test_sentences_are_short(name: str) -> None:
    found = sentences((pages.ROOT / name).read_text())
    assert len(found) > 5
    long = [s for s in found if len(re.findall(r"[A-Za-z][\w'-]*", s)) > LONGEST]
    assert not long, "\n".join(long)


@EVERY_TEXT
def test_words_are_those_of_the_field(name: str) -> None:
    assert not COINED.findall((pages.ROOT / name).read_text())


def test_a_long_sentence_is_noticed() -> None:
    page = f"Short one.\n\n* {'word ' * (LONGEST + 1)}\n"
    assert [len(s.split()) for s in sentences(page)][-1] > LONGEST


def _anchors(page: str) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    return {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}
