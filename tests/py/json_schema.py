"""Checks JSON against a JSON Schema, for the keywords that the package's own schemas use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "null": type(None),
    "boolean": bool,
}
_KNOWN = {
    *(
        "$schema",
        "$defs",
        "title",
        "description",
        "$ref",
        "type",
        "const",
        "enum",
        "oneOf",
        "required",
    ),
    *("properties", "additionalProperties", "items", "minItems", "minimum", "maximum"),
}


def faults(
    value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$"
) -> Iterator[str]:
    """Yields a sentence for each place where a value is not what a schema asks for."""
    assert not schema.keys() - _KNOWN, f"{at}: keywords {schema.keys() - _KNOWN}"
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        yield from faults(value, root["$defs"][name], root, at)
    if "type" in schema and not _is_of(value, schema["type"]):
        yield f"{at} is a {type(value).__name__}, and not a {schema['type']}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{at} is {value!r}, and not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at} is {value!r}, and not one of {schema['enum']}"
    if "oneOf" in schema:
        fitting = sum(not list(faults(value, one, root, at)) for one in schema["oneOf"])
        if fitting != 1:
            yield f"{at} fits {fitting} schemas"
    if isinstance(value, (int, float)) and not schema.get("minimum", value) <= value <= schema.get(
        "maximum", value
    ):
        yield f"{at} is {value}"
    if isinstance(value, dict):
        yield from _of_object(value, schema, root, at)
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{at} has {len(value)} items"
        for i, item in enumerate(value):
            yield from faults(item, schema.get("items", {}), root, f"{at}[{i}]")


def _of_object(
    value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], at: str
) -> Iterator[str]:
    known = schema.get("properties", {})
    yield from (f"{at} has no {name}" for name in schema.get("required", ()) if name not in value)
    for name, item in value.items():
        if name in known:
            yield from faults(item, known[name], root, f"{at}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{at} has {name}"
        elif isinstance(other := schema.get("additionalProperties"), dict):
            yield from faults(item, other, root, f"{at}.{name}")


def _is_of(value: Any, types: Any) -> bool:
    names = types if isinstance(types, list) else [types]
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _TYPES[name]) for name in names)
