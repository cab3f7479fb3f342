"""Programs in short: statements without the types that follow from those of their operands.

A program is a line of arguments, such as ``x y: 4x3, i: i32``, and lines of statements, which
semicolons separate: ``c = const 0.5 : 4x3; p = LT x y; z = select p x c; return z``. An op has its
operands, its attributes behind a comma, and the type of its result behind a colon if this is not
that of its first operand. ``s = reduce add x z, dimensions = [0] : 3`` is a sum. A line with ``%``
or a brace is StableHLO as it is. ``def f(x: 4x3)`` begins another function. Lines
behind ``r:2 = while a = x, i = zero: LT i n`` are the body of a loop, up to what it returns.

A type is one of MLIR, a placeholder such as ``$mn``, an element, or the sizes of a tensor, of f32
if its element is not said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_TYPE = r"(?:![\w.]+(?![\w.<])|[\w.!]+<(?:[^<>]|<[^<>]*>)*>|(?:[\w?]|\$\{\w+\}|\$\w+)+)"
_SIZE = r"(?:\d+|\?|\$\{\w+\})"
_SHORT = re.compile(r"return( [\w#]+)*|\w+(:\d+)? = (const .+|(call )?[A-Za-z][\w.]* [\w#]+[^%]*)")
_SIGNED = {"call", "compare", "dot", "dot_general", "reduce", "transpose"}
"""Ops that are written with the types of their operands and results, also where these are one."""
_LOOP = re.compile(r"( *)(\w+(?::\d+)?) = while (.*): (\w+ \w+ \w+)")
_SIGNATURE = re.compile(rf"(?:^|[ :>])(\((?:{_TYPE}(?:, )?)*\)|{_TYPE}(?:, {_TYPE})*)$")


def mlir(text: str) -> str:
    """A program that is written in short."""
    arguments, *lines = text.strip("\n").split("\n")
    return "\n".join(_functions(f"def main({arguments.strip()})", lines))


def full(type_: str) -> str:
    """A type as MLIR writes it."""
    if re.fullmatch(rf"(?:{_SIZE}x)*{_SIZE}", type_):
        return f"tensor<{type_}xf32>"
    return f"tensor<{type_}>" if re.fullmatch(rf"(?:{_SIZE}x)*(?:u?i|b?f)\d\w*", type_) else type_


def _functions(header: str, lines: Sequence[str]) -> Iterator[str]:
    rest = list(lines)
    while header:
        ends = (i for i, line in enumerate(rest) if line.lstrip().startswith("def "))
        end = next(ends, len(rest))
        ((name, arguments),) = re.findall(r"def (\w+)\((.*)\)", header)
        types = dict(_arguments(arguments))
        taken = ", ".join(f"%{each}: {type_}" for each, type_ in types.items())
        made = list(statements(rest[:end], types))
        (results,) = re.findall(r"^ *return .* : (.*)$", "\n".join(made).partition("\n}")[0], re.M)
        listed = f"({results})" if len(re.findall(_TYPE, results)) > 1 else results
        kind = "" if name == "main" else "private "
        yield f"func.func {kind}@{name}({taken}) -> {listed} {{"
        yield from made
        yield "}"
        header, rest = "".join(rest[end : end + 1]), rest[end + 1 :]


def _arguments(text: str) -> Iterator[tuple[str, str]]:
    for names, type_ in re.findall(rf"([\w ]+): ({_TYPE})", text):
        yield from ((name, full(type_)) for name in names.split())


def statements(lines: Sequence[str], types: dict[str, str]) -> Iterator[str]:
    """Lines as StableHLO.

    Args:
        lines: Lines in short or not.
        types: The types of values by name, to which those that are made are added.
    """
    depth, begun, loops = 0, list[str](), list[tuple[int, str]]()
    for line in lines:
        if loop := _LOOP.fullmatch(line):
            depth += 1
            loops.append((depth, loop[1]))
            yield from _loop(loop, types)
            continue
        if not all(_SHORT.fullmatch(each.strip()) for each in line.split(";")):
            depth += line.count("{") - line.count("}")
            _note(line, types, begun)
            yield line
            continue
        indentation = line[: len(line) - len(line.lstrip())]
        for statement in line.split(";"):
            yield indentation + _statement(statement.strip(), types, inside=depth > 0)
        if loops and loops[-1][0] == depth and re.search(r"(?:^|;) *return\b", line):
            depth -= 1
            yield f"{loops.pop()[1]}}}"


def _loop(loop: re.Match[str], types: dict[str, str]) -> Iterator[str]:
    """The lines of a loop up to its body."""
    indentation, made, carries, compared = loop.groups()
    pairs = [each.split(" = ") for each in carries.split(", ")]
    types.update({name: types[start] for name, start in pairs})
    carried = [types[name] for name, _ in pairs]
    _define(made.partition(":")[0], ", ".join(carried), types)
    starts = ", ".join(f"%{name} = %{start}" for name, start in pairs)
    yield f"{indentation}%{made} = stablehlo.while({starts}) : {', '.join(carried)}"
    yield f"{indentation}cond {{"
    yield _statement(f"goes_on = {compared}", types, inside=True)
    yield _statement("return goes_on", types, inside=True)
    yield f"{indentation}}} do {{"


def _note(line: str, types: dict[str, str], begun: list[str]) -> None:
    """Notes the types of the results of an op, and of the arguments of a block or a loop.

    Args:
        line: A line of StableHLO.
        types: Takes the types.
        begun: The results of ops whose types are on a later line.
    """
    types.update(re.findall(rf"%(\w+): ({_TYPE})", line))
    carried = re.findall(r"%(\w+) = %([\w#]+)", line)
    types.update({name: types[start] for name, start in carried if start in types})
    if results := re.match(r" *((?:%\w+(?:, )?)+)(?::\d+)? = ", line):
        begun.append(" ".join(re.findall(r"\w+", results[1])))
    ends = re.match(r'[%{}:]|(?!"|[a-z.]*return).* -> ', line.strip()) and _SIGNATURE.search(line)
    if ends and begun:
        _define(begun.pop(), ends[1], types)


def _define(names: str, listed: str, types: dict[str, str]) -> None:
    made = re.findall(_TYPE, listed)
    given = names.split()
    several = [f"{names}#{i}" for i in range(len(made))] if len(given) == 1 < len(made) else given
    types.update(zip(several, made, strict=False))


def _statement(statement: str, types: dict[str, str], *, inside: bool) -> str:
    made, _, type_ = statement.partition(" : ")
    if made.startswith("return"):
        names = made.split()[1:]
        values = ", ".join(f"%{name}" for name in names)
        listed = ", ".join(types[name] for name in names)
        return f"{'stablehlo.' * inside}return {values} : {listed}"
    name, _, (op, *words) = (*made.partition(" = ")[:2], made.partition(" = ")[2].split(" "))
    result = ", ".join(full(each) for each in type_.strip("()").split(", "))
    if op == "const":
        types[name] = result
        return f"%{name} = stablehlo.constant dense<{' '.join(words)}> : {result}"
    operands, comma, attributes = " ".join(words).partition(",")
    names = operands.split()
    called = names.pop(0) if op in ("call", "reduce") else ""
    taken = [types[each] for each in names]
    values = ", ".join(f"%{each}" for each in names) + comma + attributes
    result = result or taken[op in ("select", "clamp")]
    if op.isupper():
        values, op, result = f"{op}, {values}", "compare", _boolean(taken[0])
    elif op == "select":
        taken.pop()
    plain = not type_ and op not in _SIGNED and len(set(taken)) == 1
    several = len(re.findall(_TYPE, result)) > 1
    signature = f"({', '.join(taken)}) -> {f'({result})' if several else result}"
    if op in ("complex", "select"):
        signature = result if op == "complex" else ", ".join(taken)
    elif plain:
        signature = taken[0]
    _define(name.partition(":")[0], result, types)
    if op == "reduce":
        each, start = names
        applied = f"(%{each} init: %{start}) applies stablehlo.{called} across{attributes}"
        return f"%{name} = stablehlo.reduce{applied} : {signature}"
    if called:
        return f"%{name} = func.call @{called}({values}) : {signature}"
    return f"%{name} = {'' if '.' in op else 'stablehlo.'}{op} {values} : {signature}"


def _boolean(type_: str) -> str:
    if type_.startswith("$"):
        return f"{type_.partition('_')[0]}_i1"
    return re.sub(r"(?<=[<x])[a-z]\w*>$", "i1>", type_)
