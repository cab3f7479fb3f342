"""Pages of statistics for tests: of a small record, of many rows, and of hostile names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from scalify_hlo.commands.stats.record import (
    COLUMNS,
    OctaveCounts,
    OperandStats,
    StatsRecord,
    ValueStats,
    VariantStats,
    load_stats,
)

SAMPLE = Path(__file__).with_name("stats_sample.json")
HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=alert(1)>'\"{{data}}"

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = os.environ.get("BROWSER_FOR_TESTS") or next(filter(None, map(shutil.which, BROWSERS)), "")
"""A Chromium; empty if there is none on the machine."""


def sample() -> StatsRecord:
    """A record of a training step and its rewrite, of three steps."""
    return load_stats(SAMPLE)


def hostile() -> StatsRecord:
    """The sample with names that are markup."""
    record = sample()

    def renamed(value: ValueStats) -> ValueStats:
        inside = (HOSTILE,) * len(value.inside)
        return replace(value, name=HOSTILE, location=f"{HOSTILE}:1:2", op=HOSTILE, inside=inside)

    def of_operand(operand: OperandStats) -> OperandStats:
        return replace(operand, name=HOSTILE, role=HOSTILE, location=HOSTILE)

    variants = tuple(
        VariantStats(HOSTILE, HOSTILE, tuple(map(renamed, variant.values)))
        for variant in record.variants
    )
    operands = tuple(map(of_operand, record.operands))
    return StatsRecord(
        HOSTILE, record.hash, record.steps, record.turns, variants, operands, (HOSTILE,)
    )


def large(count: int) -> StatsRecord:
    """A record of so many values in two variants, each of three records."""
    names = ("original", "fp8")
    variants = tuple(
        VariantStats(name, "", tuple(_value(i, shift) for i in range(count)))
        for name, shift in zip(names, (0, 9), strict=True)
    )
    return StatsRecord("large", "0" * 32, (0, 1, 2), "pooled", variants)


def _value(number: int, shift: int) -> ValueStats:
    counts = tuple(1 + (number * 7 + i * i) % 4096 for i in range(30))
    columns: dict[str, Any] = dict.fromkeys(COLUMNS, (0.0,) * 3)
    columns |= {"turns": (1.0,) * 3, "count": (65536.0,) * 3}
    columns |= {"rms": (0.123456, 0.2, 0.3), "amax": (number + 0.5,) * 3, "smallest": (1e-9,) * 3}
    return ValueStats(
        f"{number}.0", "result", "stablehlo.multiply",
        f"jit(step)/jvp(Transformer)/layer_{number // 40}/attention/mul{number}",
        f"model.py:{number % 900}:11", "forward", "", (), "f32", (256, 256), "", None, 1,
        **columns, scales=(float(shift), float(number % 5), 1.0),
        histogram=OctaveCounts(-28 + shift, counts, 1 << 16),
    )  # fmt: skip


def opened(page: str, folder: Path, *, script: str = "", size: str = "1280,900") -> tuple[str, str]:
    """Opens a page in the browser.

    Args:
        page: The page.
        folder: Where files are written.
        script: What is run in the page after it is drawn, without its policy.
        size: The size of the window, in pixels.

    Returns:
        The document after that, and what the browser wrote to its console.
    """
    if script:
        page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
        page = page.replace("</body>", f"<script>{script}</script></body>")
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    options += [f"--user-data-dir={folder / 'profile'}", f"--window-size={size}"]
    command = [BROWSER, *options, "--timeout=10000", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    lines = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, "\n".join(lines)
