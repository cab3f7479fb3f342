"""Checks JSON values against the schemas of the package, by the keywords that these use."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}
_KEYWORDS = {
    *("$schema", "$defs", "$ref", "title", "description", "type", "properties", "required"),
    *("additionalProperties", "items", "minItems", "maxItems", "enum", "const", "oneOf"),
    *("minimum", "maximum"),
}


def schema(name: str) -> Schema:
    text = resources.files("scalify_hlo.report").joinpath(f"schemas/{name}.json").read_text()
    found: Schema = json.loads(text)
    return found


def faults(value: Any, name: str) -> list[str]:
    """Where a value does not fit a schema of the reports."""
    return faults_by(value, schema(name))


def faults_by(value: Any, root: Schema) -> list[str]:
    """Where a value does not fit a schema."""
    return list(_faults(value, root, root, "$"))


def assert_fits_alone(whole: Any, root: Schema, *others: tuple[tuple[Any, ...], Any]) -> None:
    """A value fits a schema, and does not with another part, which a path leads to."""
    assert not faults_by(whole, root)
    for path, value in others:
        broken = at = copy.deepcopy(whole)
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        assert faults_by(broken, root), path


def undescribed(root: Schema, page: Path) -> set[str]:
    """The keys of a schema that a page of the documentation does not name."""
    parts = [root, *root["$defs"].values()]
    keys = {key for part in parts for key in part.get("properties", ())}
    return keys - set(re.findall(r"`([a-z_0-9]+)`", page.read_text()))


def _faults(value: Any, rule: Schema, root: Schema, at: str) -> Iterator[str]:
    assert not rule.keys() - _KEYWORDS, f"{at}: keywords {rule.keys() - _KEYWORDS}"
    if "$ref" in rule:
        yield from _faults(value, root["$defs"][rule["$ref"].removeprefix("#/$defs/")], root, at)
    if "type" in rule and not _has_type(value, rule["type"]):
        yield f"{at} is a {type(value).__name__}, and not a {rule['type']}"
        return
    if "const" in rule and value != rule["const"]:
        yield f"{at} is {value!r}, and not {rule['const']!r}"
    if "enum" in rule and value not in rule["enum"]:
        yield f"{at} is {value!r}, and not one of {rule['enum']}"
    if "oneOf" in rule:
        fitting = sum(not list(_faults(value, one, root, at)) for one in rule["oneOf"])
        if fitting != 1:
            yield f"{at} fits {fitting} schemas"
    if isinstance(value, (int, float)):
        if not rule.get("minimum", value) <= value <= rule.get("maximum", value):
            yield f"{at} is {value}"
    elif isinstance(value, dict):
        yield from _of_object(value, rule, root, at)
    elif isinstance(value, list):
        if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
            yield f"{at} has {len(value)} items"
        for i, item in enumerate(value):
            yield from _faults(item, rule.get("items", {}), root, f"{at}[{i}]")


def _of_object(value: dict[str, Any], rule: Schema, root: Schema, at: str) -> Iterator[str]:
    known = rule.get("properties", {})
    others = rule.get("additionalProperties", True)
    yield from (f"{at} has no {name}" for name in rule.get("required", ()) if name not in value)
    for name, item in value.items():
        if name in known:
            yield from _faults(item, known[name], root, f"{at}.{name}")
        elif isinstance(others, dict):
            yield from _faults(item, others, root, f"{at}.{name}")
        elif not others:
            yield f"{at} has {name}"


def _has_type(value: Any, types: str | list[str]) -> bool:
    names = [types] if isinstance(types, str) else types
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _TYPES[name]) for name in names)
