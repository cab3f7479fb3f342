"""Checks JSON values against the schemas of the package, by the keywords that these use."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from scalify_hlo import json_schema

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}
_NOTES = {"$schema", "title", "description", "$defs"}
_KEYWORDS = _NOTES | {
    *("type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems"),
    *("enum", "const", "minimum", "maximum", "oneOf", "$ref", "propertyNames"),
}


def faults(value: Any, command: str) -> list[str]:
    """Where a value does not fit the schema of what a command writes."""
    root = json_schema(command)
    return _faults(value, root, root, "$")


def changed(whole: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of a JSON value with another value at a path."""
    found = at = copy.deepcopy(whole)
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return found


def keys_of(command: str) -> set[str]:
    """The keys of all objects that a command writes, those of mappings excepted."""
    return set(_keys(json_schema(command)))


def _keys(rule: Any) -> Iterator[str]:
    if isinstance(rule, dict):
        yield from rule.get("properties", ())
        for each in rule.values():
            yield from _keys(each)
    elif isinstance(rule, list):
        for each in rule:
            yield from _keys(each)


def _faults(value: Any, rule: dict[str, Any], root: dict[str, Any], path: str) -> list[str]:
    unknown = rule.keys() - _KEYWORDS
    assert not unknown, f"{path}: the schema has {unknown}, which is not checked"
    if "$ref" in rule:
        return _faults(value, root["$defs"][rule["$ref"].removeprefix("#/$defs/")], root, path)
    if "oneOf" in rule:
        fits = [not _faults(value, each, root, path) for each in rule["oneOf"]]
        return [] if fits.count(True) == 1 else [f"{path}: {value!r} fits {fits.count(True)}"]
    if "const" in rule and value != rule["const"]:
        return [f"{path}: {value!r} is not {rule['const']!r}"]
    if "enum" in rule and value not in rule["enum"]:
        return [f"{path}: {value!r} is none of {rule['enum']}"]
    if "type" in rule and not _has_type(value, rule["type"]):
        return [f"{path}: {value!r} is no {rule['type']}"]
    if isinstance(value, (int, float)):
        return _of_number(value, rule, path)
    if isinstance(value, dict):
        return _of_object(value, rule, root, path)
    return _of_array(value, rule, root, path) if isinstance(value, list) else []


def _of_number(value: float, rule: dict[str, Any], path: str) -> list[str]:
    low, high = rule.get("minimum", value), rule.get("maximum", value)
    return [] if low <= value <= high else [f"{path}: {value} is not from {low} to {high}"]


def _has_type(value: Any, types: str | list[str]) -> bool:
    names = [types] if isinstance(types, str) else types
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _TYPES[name]) for name in names)


def _of_object(
    value: dict[str, Any], rule: dict[str, Any], root: dict[str, Any], path: str
) -> list[str]:
    known = rule.get("properties", {})
    others = rule.get("additionalProperties", True)
    found = [f"{path}: {key} is missing" for key in rule.get("required", ()) if key not in value]
    names = rule.get("propertyNames", {})
    found += [fault for key in value for fault in _faults(key, names, root, f"{path}.{key}")]
    for key, inner in value.items():
        if key in known:
            found += _faults(inner, known[key], root, f"{path}.{key}")
        elif isinstance(others, dict):
            found += _faults(inner, others, root, f"{path}.{key}")
        elif not others:
            found.append(f"{path}: {key} is not expected")
    return found


def _of_array(value: list[Any], rule: dict[str, Any], root: dict[str, Any], path: str) -> list[str]:
    if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
        return [f"{path}: {len(value)} items"]
    each = rule.get("items", {})
    return [f for i, item in enumerate(value) for f in _faults(item, each, root, f"{path}[{i}]")]
