"""Results as JSON: a model names its keys, and the annotations of its attributes say the rest.

A model is a dataclass or a named tuple. `keys` names the keys of its JSON object, with the
attributes that they have; without it, all fields are keys. `result` makes it the output of a
command. An annotation such as `Count` is a type with a `Kind`: a JSON Schema, and how values are
written.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from scalify_hlo.results.decibels import written

Write: TypeAlias = Callable[[Any, str], Any]
Keys: TypeAlias = "list[tuple[str, str, Keys | None]]"
"""The name of each key, the path to its attribute, and the keys of the object that is there."""
C = TypeVar("C", bound=type)

_hints = cache(partial(get_type_hints, include_extras=True))


def _same(value: Any, _: str) -> Any:
    return value


@dataclass(frozen=True, eq=False)
class Kind:
    """The form of a value in JSON.

    Attributes:
        schema: Its JSON Schema, or what it adds to that of the annotated type. The schema of an
            object has the name of the model as its title.
        write: Makes the JSON value of a value, and of the name of the program for locations.
    """

    schema: Mapping[str, Any]
    write: Write = _same


_KEYS: Final[dict[type, tuple[Keys, Mapping[str, Kind]]]] = {}
_RESULTS: Final[dict[type, tuple[str, int, int, tuple[str, ...]]]] = {}
"""The format, the version, the indentation and the lists with lines of each `result`."""
_KINDS: Final[dict[Any, Kind]] = {
    Any: Kind({}),
    str: Kind({"type": "string"}),
    int: Kind({"type": "integer"}),
    bool: Kind({"type": "boolean"}),
    float: Kind({"type": "number"}),
    NoneType: Kind({"type": "null"}),
}


def keys(text: str, **kinds: Kind) -> Callable[[C], C]:
    """Names the keys of the JSON object of a model.

    Args:
        text: The keys with spaces between. ``key=path.to.attribute`` has an attribute of another
            name, where a number is an index and ``.`` is the model. ``key(...)`` is an object with
            some keys of the attribute, and ``key=(...)`` one with keys of this model. ``*key``
            stands for all keys of the object.
        kinds: The kinds of keys that do not follow from annotations.

    Example:
        >>> @keys("label=name size=(rows columns)")
        ... @dataclass
        ... class Table:
        ...     name: str
        ...     rows: int
        ...     columns: int
        >>> kind_of(Table).write(Table("t", 2, 3), "")
        {'label': 't', 'size': {'rows': 2, 'columns': 3}}
    """

    def describe(model: C) -> C:
        _KEYS[model] = _parsed(iter(re.findall(r"[^\s()]+|[()]", text))), kinds
        return model

    return describe


def result(
    format_: str, version: int, *, indent: int = 1, lines: tuple[str, ...] = ()
) -> Callable[[C], C]:
    """Makes a model the output of a command.

    Args:
        format_: The name of the format.
        version: Its version, which changes if a key is removed or changes its meaning.
        indent: The spaces by which a level is indented.
        lines: The keys of lists with a line for each object; all else is on one line then.
    """

    def describe(model: C) -> C:
        _RESULTS[model] = format_, version, indent, lines
        return model

    return describe


def register(model: type, kind: Kind) -> None:
    """Sets the kind of a type that has no keys."""
    _KINDS[model] = kind


def _parsed(tokens: Iterator[str]) -> Keys:
    """Returns the keys up to the next closing bracket; those in brackets belong to the last one."""
    found: Keys = []
    for token in tokens:
        if token == ")":
            break
        if token == "(":
            name, path, _ = found.pop()
            found.append((name, path, _parsed(tokens)))
            continue
        name, equals, path = token.partition("=")
        found.append((name, path if equals else name.removeprefix("*"), None))
    return found


def dump(model: Any, name: str = "<program>") -> str:
    """Returns a result as JSON text.

    Args:
        model: An instance of a model with a `result`.
        name: The name of the program in source locations without a file.
    """
    _, _, indent, lines = _RESULTS[type(model)]
    whole = content(model, name)
    if lines:
        return f"{_lined(whole, lines)}\n"
    return json.dumps(whole, indent=indent, allow_nan=False) + "\n"


def _lined(whole: dict[str, Any], lines: tuple[str, ...]) -> str:
    """Returns an object as text, with a line for each object of some lists."""
    text, between = "{", ""
    for key, value in whole.items():
        if key in lines:
            items = ",\n".join(_lined(each, lines) for each in value)
            text += f'{between}"{key}": [\n{items}\n]'
            between = ",\n"
        else:
            text += f'{between}"{key}": {json.dumps(value, allow_nan=False)}'
            between = ", "
    return f"{text}}}"


def content(model: Any, name: str = "<program>") -> dict[str, Any]:
    """Returns a result as an object of JSON; see `dump`."""
    hint: Any = type(model)
    format_, version, *_ = _RESULTS[hint]
    return {"format": format_, "version": version, **kind_of(hint).write(model, name)}


def schema_of(model: type) -> dict[str, Any]:
    """Returns the JSON Schema of a model with a `result`."""
    hint: Any = model
    format_, version, *_ = _RESULTS[hint]
    own = kind_of(hint).schema
    head = {"format": {"const": format_}, "version": {"const": version}}
    return {
        **own,
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format_,
        "required": [*head, *own["required"]],
        "properties": {**head, **own["properties"]},
    }


@cache
def kind_of(hint: Any) -> Kind:
    """Returns the kind of the values of an annotation."""
    return _kind(hint, _object)


def _kind(hint: Any, model: Callable[[type], Kind]) -> Kind:
    """Returns the kind of an annotation, given a function for the models in it."""
    if hint in _KINDS:
        return _KINDS[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is None:
        return model(hint)
    if origin is Annotated:
        base, own = _kind(inner[0], model), inner[1]
        write = base.write if own.write is _same else own.write
        return Kind({**base.schema, **own.schema}, write)
    if origin in (Union, UnionType):
        return _either({each: _kind(each, model) for each in inner})
    if issubclass(origin, Mapping):
        return _mapping(_kind(inner[1], model))
    count = len(inner) if origin is tuple and ... not in inner else 0
    return _list(_kind(inner[0], model), count)


def _mapping(each: Kind) -> Kind:
    schema = {"type": "object", "additionalProperties": each.schema}
    return Kind(schema, lambda found, name: {k: each.write(v, name) for k, v in found.items()})


def _list(each: Kind, count: int) -> Kind:
    """Returns the kind of a list of values; the count is 0 for a list of any length."""
    bounds = {"minItems": count, "maxItems": count} if count else {}
    schema = {"type": "array", "items": each.schema, **bounds}
    if each.write is _same:
        return Kind(schema, lambda values, _: list(values))
    return Kind(schema, lambda values, name: [each.write(value, name) for value in values])


def _either(kinds: dict[Any, Kind]) -> Kind:
    """Returns the kind of values of several models, or of values that may be None."""
    null = kinds.pop(NoneType, None)
    if null is None:
        schemas = [kind.schema for kind in kinds.values()]
        return Kind({"oneOf": schemas}, lambda value, name: kinds[type(value)].write(value, name))
    (kind,) = kinds.values()
    schema = kind.schema
    if schema.keys() & {"enum", "oneOf", "properties"}:
        schema = {"oneOf": [null.schema, schema]}
    else:
        types = schema["type"]
        known = [types] if isinstance(types, str) else types
        schema = {**schema, "type": list(dict.fromkeys([*known, "null"]))}
    return Kind(schema, lambda value, name: None if value is None else kind.write(value, name))


def _object(model: type) -> Kind:
    """Returns the kind of a model."""
    own, kinds = _KEYS.get(model, ([(name, name, None) for name in _hints(model)], {}))
    kind = _with_keys(model, own, kinds)
    return Kind({**kind.schema, "title": model.__name__}, kind.write)


def _with_keys(model: type, own: Keys, kinds: Mapping[str, Kind]) -> Kind:
    """Returns the kind of an object with some keys of a model."""
    properties: dict[str, Any] = {}
    entries: list[tuple[str, str, Kind]] = []
    for key, path, inner in own:
        hint, about = (None, "") if key in kinds else _annotation(model, path)
        if inner is None:
            kind = kinds.get(key) or kind_of(hint)
        else:
            kind = _kind(hint, partial(_with_keys, own=inner, kinds=kinds))
        entries.append((key, path, kind))
        if key.startswith("*"):
            properties |= kind.schema["properties"]
        else:
            properties[key] = {**kind.schema, "description": about} if about else kind.schema

    def write(value: Any, name: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, path, kind in entries:
            written = kind.write(at(value, path), name)
            if key.startswith("*"):
                found |= written
            else:
                found[key] = written
        return found

    closed = {"required": list(properties), "additionalProperties": False}
    return Kind({"type": "object", "properties": properties, **closed}, write)


def loaded(hint: Any, entry: Any) -> Any:
    """Returns a value that was written as JSON, of a model whose keys are its fields.

    Raises:
        KeyError: A key is missing.
        TypeError: An object or a list is missing.
    """
    inner = [each for each in get_args(hint) if each is not NoneType]
    if entry is None or hint in _KINDS:
        return entry
    if get_origin(hint) is tuple:
        return tuple(loaded(inner[0], each) for each in entry)
    if inner:
        return loaded(inner[0], entry)
    return hint(**{name: loaded(each, entry[name]) for name, each in _hints(hint).items()})


def at(value: Any, path: str) -> Any:
    """Returns the attribute at a path; None if the path leads through None."""
    for part in filter(None, path.split(".")):
        if value is None:
            return None
        value = value[int(part)] if part.isdigit() else getattr(value, part)
    return value


def headers(columns: str) -> tuple[str, ...]:
    """Returns the names of the columns of a table; see `cells`."""
    return tuple(head.replace("_", " ") for head, _, _ in _columns(columns))


def cells(model: Any, columns: str) -> tuple[str, ...]:
    """Returns a row of a table.

    Args:
        model: The model of the row.
        columns: The columns with spaces between. ``name=path:spec`` is the attribute at a path, as
            `format` writes it, and ``-`` for None. The spec ``dB`` is for ratios in decibels, and
            that of a truth value is the text of a true one.

    Example:
        >>> cells(0.25, "share=.:.0%")
        ('25%',)
    """
    return tuple(_cell(at(model, path), spec) for _, path, spec in _columns(columns))


@cache
def _columns(columns: str) -> list[tuple[str, str, str]]:
    """Returns the name, the path and the format of each column."""
    tokens = (token.partition(":") for token in columns.split())
    named = ((*name.partition("="), spec) for name, _, spec in tokens)
    return [(head, path or head, spec) for head, _, path, spec in named]


def mebibytes(count: int) -> str:
    """Returns a number of bytes in MiB."""
    return f"{count / 2**20:,.1f}"


def microseconds(seconds: float | None) -> str:
    """Returns a number of seconds in microseconds; nothing if it is not known.

    It has one decimal, or two digits if it is less than one.
    """
    if seconds is None:
        return ""
    short = 0 < seconds * 1e6 < 1
    return f"{seconds * 1e6:.2g}" if short else f"{seconds * 1e6:,.1f}"


def _cell(value: Any, spec: str) -> str:
    if spec == "us":
        return microseconds(value)
    if value is None:
        return "-"
    if spec == "MiB":
        return mebibytes(value)
    if isinstance(value, bool):
        return spec if value else ""
    return written(value) if spec == "dB" else format(value, spec)


def _annotation(model: Any, path: str) -> tuple[Any, str]:
    """Returns the annotation of the attribute at a path, and its description."""
    hint, about, optional = model, "", False
    for part in filter(None, path.split(".")):
        if get_origin(hint) in (Union, UnionType):
            (hint,) = (each for each in get_args(hint) if each is not NoneType)
            optional = True
        if part.isdigit():
            hint = get_args(hint)[int(part)]
            continue
        found = inspect.getattr_static(hint, part, None)
        if isinstance(found, property | cached_property):
            getter = found.fget if isinstance(found, property) else found.func
            about = (inspect.getdoc(getter) or "").partition("\n")[0]
            hint = _hints(getter)["return"]
        else:
            about = attributes_of(hint).get(part, "")
            hint = _hints(hint)[part]
    return (hint | None if optional else hint), about


def attributes_of(model: type) -> dict[str, str]:
    """Returns the descriptions of attributes by name, from the docstring of a class."""
    section = (inspect.getdoc(model) or "").partition("Attributes:\n")[2]
    found = re.finditer(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", section, re.MULTILINE)
    return {match[1]: " ".join(match[2].split()).replace("``", "`") for match in found}
