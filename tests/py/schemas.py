"""Checks JSON values against the schemas of the package, by the keywords that these use."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

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
    *("enum", "const", "minimum", "maximum", "oneOf", "$ref"),
}


def schema(name: str) -> dict[str, Any]:
    text = resources.files("scalify_hlo.report").joinpath(f"schemas/{name}.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def faults(value: Any, name: str) -> list[str]:
    """Where a value does not fit a schema of the package."""
    return faults_by(value, schema(name))


def faults_by(value: Any, root: dict[str, Any]) -> list[str]:
    """Where a value does not fit a schema."""
    return _faults(value, root, root, "$")


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
