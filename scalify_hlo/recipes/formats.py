"""The formats of a recipe: their spellings, and which options, targets and matmuls allow them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import HADAMARD
from scalify_hlo.errors import nearest
from scalify_hlo.recipes.fields import Values, string
from scalify_hlo.recipes.toml import Setting

KEEP = "keep"
"""The value of a format option that keeps the format of the program."""

AUTO = "auto"
"""The value of the option `compute` with which the target decides."""

F8 = tuple(name for name in FORMATS if name.startswith("f8"))
MICRO = ("f4E2M1FN",)
"""The formats of fewer than 8 bits that recipes take. They need block scales."""
SMALL = (*F8, *MICRO)
ANY = (KEEP, "f32", "bf16", "f16", *F8)
WIDE = (KEEP, "f32", "bf16", "f16")
OPERANDS = ("matmul.activation", "matmul.weight", "matmul.gradient")
"""The options for the operands of matmuls. Any two of them can be multiplied with each other."""
BY_NAME = ("state.weight", "state.first_moment", "state.second_moment", "state.frozen")
"""The options that take other formats for the arguments whose names match patterns."""
FNUZ = ("f8E4M3FNUZ", "f8E5M2FNUZ")
"""The FNUZ formats of AMD, which no hardware multiplies by other formats."""
E5M2 = ("f8E5M2", "f8E5M2FNUZ")


@dataclass(frozen=True)
class Platform:
    """A target as recipes see it.

    Attributes:
        lacks: The f8 and f4 formats that it lacks. CPUs convert all formats to f32. AMD's GPUs have
            the FNUZ formats, newer ones those of the OCP. For ``any`` nothing is known to be
            lacking. StableHLO has the formats that ``portable`` lacks since version 1.7 or 1.9.
        gpu: Whether it is a GPU.
        cuda: Whether it is one of NVIDIA.
        device: Whether it is one kind of GPU, of which `scalify_hlo/targets/data` says how fast it
            is.
        accelerator: Whether users run a model on it in bf16 if not in FP8.
        algorithms: Whether its FP8 matmuls have a dot algorithm, which other compilers refuse.
        turns: Whether its kernels may read both f8 operands along the summed dimension alone, so
            that others are transposed. Programs for any target do not pay for that on a CPU.
        ragged: Whether its compiler is known to support ragged matmuls of f8 operands.
    """

    lacks: tuple[str, ...] = ()
    gpu: bool = False
    cuda: bool = False
    device: bool = False
    accelerator: bool = False
    algorithms: bool = False
    turns: bool = False
    ragged: bool = False


_ROCM = Platform(gpu=True, accelerator=True, algorithms=True)
_CUDA = replace(
    _ROCM, lacks=("f8E4M3", "f8E4M3B11FNUZ", "f8E3M4", *FNUZ), cuda=True, turns=True, ragged=True
)

PLATFORMS: Mapping[str, Platform] = {
    "any": Platform(algorithms=True, ragged=True),
    "cpu": Platform(),
    "gpu": _CUDA,
    "rocm": _ROCM,
    "tpu": Platform(("f8E4M3", "f8E3M4", *FNUZ), accelerator=True, ragged=True),
    "iree": Platform(("f8E4M3", "f8E4M3B11FNUZ", "f8E3M4", *MICRO)),
    "portable": Platform(("f8E4M3", "f8E3M4", *MICRO)),
    "l40s": replace(_CUDA, device=True),
    "rtx4090": replace(_CUDA, device=True),
    "h100": replace(_CUDA, device=True),
    "h200": replace(_CUDA, device=True),
    "b200": replace(_CUDA, device=True, turns=False),
}
"""The targets, with the facts that recipes depend on."""

DEVICES = sorted(name for name, platform in PLATFORMS.items() if platform.device)
"""The targets that are one kind of GPU."""

SHORT = {
    "e4m3": ("f8E4M3FN", "f8E4M3FNUZ"),
    "e5m2": ("f8E5M2", "f8E5M2FNUZ"),
}
"""Short names: the second format for the target ``rocm``, and the first for all others."""
_ALIASES = (
    {
        "fp16": "f16",
        "float16": "f16",
        "half": "f16",
        "bfloat16": "bf16",
        "fp32": "f32",
        "float32": "f32",
    }
    | {
        spelling: name
        for name in F8
        for spelling in (name.lower().replace("f8", "float8_"), name.lower().removeprefix("f8"))
        if spelling not in SHORT
    }
    | dict.fromkeys(("e2m1", "e2m1fn", "float4_e2m1fn", "fp4"), MICRO[0])
)


@dataclass(frozen=True, eq=False)
class Formats(Values):
    """The formats that an option takes, by any of their names; `resolve` checks them."""

    @classmethod
    def of(cls, *allowed: str) -> Formats:
        """Returns some formats."""
        return cls("a string", string, names=allowed)

    @classmethod
    def by_name(cls, *allowed: str) -> Formats:
        """Returns some formats, with others for the tensors whose names match patterns."""
        return cls("a format, or a table of patterns and formats", _by_name, names=allowed)


REST: Final = "*"
"""The pattern of the format of all tensors that match no other pattern."""


def by_pattern(text: str) -> dict[str, str]:
    """Returns the formats of an option by pattern, with that of `REST` first.

    Args:
        text: ``FORMAT``, ``PATTERN=FORMAT``, or several with commas between them. Without a format
            for the rest, it is `KEEP`.
    """
    found = {REST: KEEP}
    for part in text.split(","):
        pattern, _, format_ = part.strip().rpartition("=")
        pattern = pattern.strip() or REST
        if pattern != REST:
            found.pop(pattern, None)  # The last one counts.
        found[pattern] = format_.strip()
    return found


def formats_in(*texts: str) -> set[str]:
    """Returns the formats that options name, for the rest and by patterns."""
    return {format_ for text in texts for format_ in by_pattern(text).values()}


def _by_name(value: object) -> str | None:
    """Returns formats by pattern as one text."""
    if not isinstance(value, Mapping):
        return string(value)
    parts = [value[REST]] if REST in value else []
    for pattern, format_ in value.items():
        if string(pattern) is None or string(format_) is None or "," in pattern or not pattern:
            return None
        if pattern != REST:
            parts.append(f"{pattern}={format_}")
    return ", ".join(parts) or None


def canonical(name: str, target: str) -> str:
    """Returns the MLIR name of a format from any spelling; unknown names are returned unchanged."""
    lower = name.lower()
    if lower in SHORT:
        return SHORT[lower][target == "rocm"]
    known = {format_.lower(): format_ for format_ in (*FORMATS, KEEP)}
    return known.get(_ALIASES.get(lower, lower).lower(), name)


def spellings(name: str) -> list[str]:
    """Returns the other accepted names of a format."""
    return [
        *(s for s, names in SHORT.items() if name in names),
        *(s for s, n in _ALIASES.items() if n == name),
    ]


def resolve(
    settings: Mapping[str, Setting], places: Mapping[str, tuple[str, ...]]
) -> dict[str, str]:
    """Returns the formats of a recipe by option, with their MLIR names.

    Args:
        settings: A setting for each option, with values that were read.
        places: The formats that each option for one accepts.

    Raises:
        ScalifyError: A name is not a format, the option or the target does not allow the format,
            or two operand formats cannot be multiplied.
    """
    target = settings["target"]
    formats = {key: _formats(settings[key], allowed, target) for key, allowed in places.items()}
    _check_scales(settings, target)
    _check_blocks({key: formats[key] for key in OPERANDS}, settings)
    _check_hadamard(settings)
    if formats["compute"] == "f16" and settings["scaling.kind"].value == "block":
        raise _later(settings["compute"], settings["scaling.kind"]).error(
            "'compute' is f16, which has too little range for block scales",
            "set compute=bf16, or leave it out",
        )
    for a, b in combinations(OPERANDS, 2):
        for message, hint in _clashes((a, formats[a]), (b, formats[b])):
            raise _later(settings[a], settings[b], target).error(message, hint)
    return formats


def named_formats(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """Returns the operand formats that `scaling.fp8_format` sets and no later setting replaces."""
    named = settings["scaling.fp8_format"]
    formats = _NAMED.get(str(named.value))
    if formats is None:
        return {}
    return {
        key: replace(named, key=key, value=format_)
        for key, format_ in zip(OPERANDS, formats, strict=True)
        if settings[key].value == KEEP or _later(settings[key], named) is named
    }


_NAMED = {"HYBRID": ("e4m3", "e4m3", "e5m2"), "E4M3": ("e4m3", "e4m3", "e4m3")}
"""The formats of activations, weights and gradients by Transformer Engine's names for them."""


def _formats(setting: Setting, allowed: tuple[str, ...], target: Setting) -> str:
    """Returns the format of an option, with those by pattern after it."""
    text = str(setting.value)
    given = by_pattern(text) if setting.key in BY_NAME else {REST: text}
    for pattern, name in given.items():
        format_ = given[pattern] = _format(setting, name, allowed, str(target.value))
        _check_target(setting, format_, target)
    parts = [name if pattern == REST else f"{pattern}={name}" for pattern, name in given.items()]
    return ", ".join(parts)


def _format(setting: Setting, given: str, allowed: tuple[str, ...], target: str) -> str:
    name = canonical(given, target)
    if name in allowed:
        return name
    listing = f"it takes: {', '.join(allowed)}"
    if name in FORMATS:
        raise setting.error(f"{setting.key!r} cannot be {name}", listing)
    guess = nearest(given, (*allowed, *SHORT, *_ALIASES))
    raise setting.error(f"{given!r} is not a format for {setting.key!r}{guess}", listing)


def _check_target(setting: Setting, format_: str, target: Setting) -> None:
    lacking = PLATFORMS.get(str(target.value), Platform()).lacks
    if format_ in lacking:
        present = ", ".join(name for name in F8 if name not in lacking)
        raise _later(setting, target).error(
            f"{setting.key!r} is {format_}, a format that the target {target.value!r} lacks",
            f"it has {present}; `e4m3` and `e5m2` stand for what each target has",
        )


def _check_scales(settings: Mapping[str, Setting], target: Setting) -> None:
    """Refuses scales of blocks in a format that the target lacks."""
    for key, value, other in (
        ("state.moment_scales", "block", "tensor"),
        ("activations.saved", "f8", "bf16"),
    ):
        if settings[key].value == value and target.value == "portable":
            raise _later(settings[key], target).error(
                f"{key!r} is {value}, and the target 'portable' lacks the format of these scales, "
                "f8E8M0FNU",
                f"set {key}={other}, or another target",
            )


def _check_blocks(formats: Mapping[str, str], settings: Mapping[str, Setting]) -> None:
    """Refuses block scales of operands that are not f8 or f4, and f4 operands without them."""
    kind = settings["scaling.kind"]
    blocks = kind.value == "block"
    for key, format_ in formats.items():
        if format_ in MICRO and not blocks:
            raise _later(settings[key], kind).error(
                f"{key!r} is {format_}, and operands of 4 bits need block scales",
                "set scaling.kind=block, or start from the preset nvfp4",
            )
        if blocks and format_ in WIDE and format_ != KEEP:
            raise _later(settings[key], kind).error(
                f"{key!r} is {format_}, and block scales are for f8 and f4 operands",
                "the preset mxfp8 has f8 operands; scaling.kind=propagated takes others",
            )


def _check_hadamard(settings: Mapping[str, Setting]) -> None:
    """Refuses a Hadamard transform of blocks that it does not divide."""
    transform, size = settings["blocks.hadamard"], settings["blocks.size"]
    if transform.value != "none" and int(str(size.value)) % HADAMARD:
        raise _later(transform, size).error(
            f"'blocks.size' is {size.value}, and 'blocks.hadamard' transforms {HADAMARD} terms",
            f"set blocks.size to a multiple of {HADAMARD}, or leave the transform out",
        )


def _clashes(a: tuple[str, str], b: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """Yields a message and a hint if operands of two roles cannot be multiplied.

    Args:
        a: The key of the first role, and its format.
        b: The key of the second role, and its format.
    """
    (role, format_), (other, its) = a, b
    both = f"{role!r} is {format_} and {other!r} is {its}"
    if (format_ in MICRO) != (its in MICRO):
        yield (
            f"{both}, and a matmul takes two f4 operands or none",
            f"give f4 formats to all of {', '.join(OPERANDS)}, or to none",
        )
    elif (format_ in F8) != (its in F8):
        yield (
            f"{both}, and a matmul takes two f8 operands or none",
            f"give f8 formats to all of {', '.join(OPERANDS)}, or to none",
        )
    elif (format_ in FNUZ) != (its in FNUZ):
        yield (
            f"{both}, and no matmul takes a FNUZ format of AMD with another f8 format",
            "`e4m3` and `e5m2` stand for what the target has: FNUZ with target=rocm",
        )
    elif format_ in E5M2 and its in E5M2:
        yield (
            f"{both}, and no hardware multiplies E5M2 by E5M2",
            "activations and weights are mostly e4m3, and gradients e5m2",
        )


def _later(*settings: Setting) -> Setting:
    """Returns the setting that was given last, which caused the error."""
    return max(settings, key=lambda setting: setting.source)
