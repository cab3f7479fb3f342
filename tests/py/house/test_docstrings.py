"""Docstrings: those of the public API state arguments, results, errors and units."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

import scalify_hlo
from tests.py.house.test_docs import COINED

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "scalify_hlo"

Documented = ast.Module | ast.ClassDef | ast.FunctionDef
Docstring = tuple[ast.AST, str]
"""A docstring, after the node that it documents."""

QUESTION = ("How", "They", "What", "When", "Where", "Which", "Who", "Why")
"""Openings after which a reader has to find out what the docstring is about."""

POWER_OF_TWO = re.compile(r"power of two|powers of two|2\^|log2|rms|`ScaledArray`|ScaledArrays")
"""The unit of a scale, or the measure that it follows from."""


@dataclass(frozen=True)
class Public:
    """A public function, method or class, with the name of the API that it belongs to."""

    name: str
    node: ast.FunctionDef | ast.ClassDef
    module: ast.Module


def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def every_docstring(tree: ast.Module) -> Iterator[Docstring]:
    """Yields the docstrings of a file, those of constants included."""
    for node in ast.walk(tree):
        docstring = ast.get_docstring(node) if isinstance(node, Documented) else None
        if docstring:
            yield node, docstring
        body = getattr(node, "body", None)
        for one, following in pairwise(body if isinstance(body, list) else []):
            text = following.value if isinstance(following, ast.Expr) else None
            if isinstance(one, ast.Assign | ast.AnnAssign) and isinstance(text, ast.Constant):
                yield one, str(text.value)


def opens_badly(node: ast.AST, docstring: str) -> bool:
    """Whether a docstring opens with a question that is no answer of yes or no."""
    word = docstring.split()[0].rstrip(",.:")
    if word == "Whether":
        return not returns_a_bool(node)
    return word in QUESTION


def returns_a_bool(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef) or node.returns is None:
        return False
    return ast.unparse(node.returns).split("[")[0] in ("bool", "TypeGuard", "TypeIs")


@pytest.mark.parametrize("room", sorted({file.parent for file in PACKAGE.rglob("*.py")}))
def test_no_docstring_opens_with_a_question(room: Path) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}: {docstring.splitlines()[0]}"
        for file in sorted(room.glob("*.py"))
        for node, docstring in every_docstring(parsed(file))
        if opens_badly(node, docstring)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ('def f() -> int:\n    """How many there are."""', True),
        ('def f() -> bool:\n    """Whether there are any."""', False),
        ('def f() -> int | None:\n    """Whether there are any."""', True),
        ('def f() -> int:\n    """Returns the number of them."""', False),
        ('class F:\n    """What there is."""', True),
        ('F = 1\n"""What there is."""', True),
        ('"""How many there are."""', True),
    ],
)
def test_a_question_is_noticed(source: str, wrong: bool) -> None:
    ((node, docstring),) = every_docstring(ast.parse(source))
    assert opens_badly(node, docstring) is wrong


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda f: f.stem)
def test_words_are_those_of_the_field(file: Path) -> None:
    found = [word for _, text in every_docstring(parsed(file)) for word in COINED.findall(text)]
    assert not found


def public_definitions() -> Iterator[Public]:
    """Yields the functions and classes of `scalify_hlo.__all__`, and the methods of the classes."""
    for name, home in scalify_hlo._HOMES.items():
        place = PACKAGE.joinpath(*home.split("."))
        files = [place / f"{name}.py", *sorted((place / name).glob("*.py"))]
        if modules := [parsed(file) for file in files if file.exists()]:
            for module in modules:
                yield from methods(name, module, module)
            continue
        module = parsed(place.with_suffix(".py"))
        for node in module.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
                yield Public(name, node, module)
                if isinstance(node, ast.ClassDef):
                    yield from methods(name, node, module)


def methods(name: str, node: ast.ClassDef | ast.Module, module: ast.Module) -> Iterator[Public]:
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
            yield Public(f"{name}.{member.name}", member, module)


PUBLIC = {public.name: public for public in public_definitions()}
EVERY_PUBLIC = pytest.mark.parametrize("public", PUBLIC.values(), ids=PUBLIC)


def test_every_public_name_is_found_or_is_a_constant() -> None:
    constants = {"__version__", "PASSES", "RULES"}
    assert {name.split(".")[0] for name in PUBLIC} == set(scalify_hlo.__all__) - constants


def sections(docstring: str) -> dict[str, str]:
    """Returns the sections of a docstring in Google style; the summary has no title."""
    parts = re.split(r"^([A-Z]\w+):\n", docstring, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def entries(section: str) -> dict[str, str]:
    """Returns the text of each entry of a section such as Args, by name."""
    found = re.split(r"^    (\*{0,2}\w+): ", section, flags=re.MULTILINE)
    return {name.strip("*"): text for name, text in zip(found[1::2], found[2::2], strict=True)}


def fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yields the public fields of a dataclass, with their annotations."""
    for member in node.body:
        if isinstance(member, ast.AnnAssign):
            name = ast.unparse(member.target)
            if not name.startswith("_"):
                yield name, ast.unparse(member.annotation)


def parameters(node: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Yields the parameters of a function other than ``self``, with their annotations."""
    args = node.args
    names = (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg)
    for argument in names:
        if argument is not None and argument.arg not in ("self", "cls"):
            yield argument.arg, ast.unparse(argument.annotation) if argument.annotation else ""


def documented(public: Public) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Returns the names that a docstring has to explain, and its entries."""
    parts = sections(ast.get_docstring(public.node) or "")
    if isinstance(public.node, ast.FunctionDef):
        return list(parameters(public.node)), entries(parts.get("Args", ""))
    if is_dataclass(public.node):
        return list(fields(public.node)), entries(parts.get("Attributes", ""))
    init = next((m for m in public.node.body if getattr(m, "name", "") == "__init__"), None)
    names = list(parameters(init)) if isinstance(init, ast.FunctionDef) else []
    return names, entries(parts.get("Args", ""))


def is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(d) for d in node.decorator_list)


def is_property(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(d).endswith("property") for d in node.decorator_list)


@EVERY_PUBLIC
def test_every_parameter_is_explained_and_typed(public: Public) -> None:
    names, explained = documented(public)
    assert [name for name, _ in names] == list(explained)
    assert all(annotation for _, annotation in names)


@EVERY_PUBLIC
def test_results_are_explained(public: Public) -> None:
    node = public.node
    if isinstance(node, ast.ClassDef):
        return
    assert node.returns is not None, "it has no annotation of its result"
    parts = sections(ast.get_docstring(node) or "")
    nothing = ast.unparse(node.returns) in ("None", "NoReturn")
    short = is_property(node) or parts[""].startswith("Returns ")
    assert nothing or short or "Returns" in parts or "Yields" in parts


def raised(public: Public) -> set[str]:
    """Returns the errors that a function raises, itself or in functions of its module."""
    helpers = {n.name: n for n in public.module.body if isinstance(n, ast.FunctionDef)}
    seen, found, waiting = set[str](), set[str](), [public.node]
    while waiting:
        for part in executed(waiting.pop()):
            if isinstance(part, ast.Raise) and isinstance(part.exc, ast.Call):
                found.add(ast.unparse(part.exc.func).split(".")[-1])
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
                callee = helpers.get(part.func.id)
                if callee is not None and callee.name not in seen:
                    seen.add(callee.name)
                    waiting.append(callee)
    return found


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes of a function without those of lambdas, which others call."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.Lambda):
            yield from executed(child)


ERRORS = {"InputError", "UsageError"}


@EVERY_PUBLIC
def test_errors_are_explained(public: Public) -> None:
    if isinstance(public.node, ast.ClassDef):
        return
    parts = sections(ast.get_docstring(public.node) or "")
    named = set(entries(parts.get("Raises", "")))
    assert raised(public) & ERRORS <= named


@EVERY_PUBLIC
def test_scales_have_their_unit(public: Public) -> None:
    """A scale is a power of two; what is an array of them, or their rms, says so."""
    _, explained = documented(public)
    for name, text in explained.items():
        if re.search(r"(^|_)scales?$", name):
            assert POWER_OF_TWO.search(text), f"{name} does not say what a scale is"
