"""Every command that prints a result prints it as JSON, with the name of a format and a version."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import click
import pytest

from scalify_hlo.cli.main import main
from scalify_hlo.schemas import MODELS
from tests.py.shared.commands import PROGRAM, RUNS, call, write
from tests.py.shared.schemas import faults, keys_of

OUT: Final = "out.json"
JSON: Final = ("--format", "json")
CALLS: Final[dict[str, tuple[str, ...]]] = {
    "rewrite": (*RUNS["rewrite"], "-o", "o.export", "--report", OUT),
    "check": (*RUNS["check"], "--per-value", *JSON),
    "calibrate": RUNS["calibrate"],
    "stats": RUNS["stats"],
    "bisect-nan": (*RUNS["bisect-nan"], *JSON),
    "compare": (*RUNS["compare"], *JSON),
    "blame": (*RUNS["blame"], *JSON),
    "search": (*RUNS["search"], *JSON),
    "compile": (*RUNS["compile"], "-o", "compiled", *JSON),
    "explain": (*RUNS["explain"], *JSON),
    "inspect": (*RUNS["inspect"], *JSON),
    "rules": ("add", *JSON),
    "recipes": ("fp8", "--all", *JSON),
}
"""For each command, options with which it writes JSON."""

WITHOUT_JSON: Final = {"opt", "state"}
"""The commands whose only result is a program, or arrays."""


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("json")
    write(folder)
    return folder


def test_every_command_is_here() -> None:
    assert CALLS.keys() | WITHOUT_JSON == set(main.list_commands(click.Context(main)))


@pytest.mark.parametrize("name", CALLS)
def test_a_command_writes_json_of_a_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(folder)
    arguments = CALLS[name]
    done = call(name, *arguments)
    assert not done.exit_code, done.output
    content = json.loads(Path(OUT).read_text() if OUT in arguments else done.stdout)
    assert content["format"].startswith("scalify-hlo")
    assert isinstance(content["version"], int)
    assert not faults(content, name)
    for key in ("format", "version"):
        assert faults(content | {key: "another"}, name)
        assert faults({k: v for k, v in content.items() if k != key}, name)


def test_every_json_has_a_schema_and_a_place_in_the_page() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reports.md").read_text("utf-8")
    assert CALLS.keys() == MODELS.keys()
    for name in CALLS:
        assert f"| `{name}" in page


PAGES: Final = {
    "stats": "stats",
    "bisect-nan": "nan",
    "compare": "compare",
    "blame": "compare",
    "search": "compare",
}


@pytest.mark.parametrize(("name", "page"), PAGES.items())
def test_a_page_describes_every_key(name: str, page: str) -> None:
    text = (Path(__file__).parents[3] / "docs" / f"{page}.md").read_text("utf-8")
    assert keys_of(name) <= set(re.findall(r"`([a-z_0-9]+)`", text))


def test_a_failed_check_is_written_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    done = call("check", *RUNS["check"], "--per-value", "--rtol", "1e-7", *JSON)
    assert done.exit_code == 1
    content = json.loads(done.stdout)
    assert not faults(content, "check")
    assert not content["passed"]
    assert not content["results"][0]["passed"]
    assert content["limits"]["rtol"] == 1e-7
    assert content["limits"]["min_snr_db"] is None
    values = content["values"]
    assert {each["op"] for each in values["parted"]} >= {"stablehlo.dot_general"}
    assert values["compared"] - values["within"] == len(values["parted"])
    assert "results are not within" in done.stderr


def test_a_check_has_the_bound_of_the_recipe(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    content = json.loads(call("check", *RUNS["check"], "--per-value", *JSON).stdout)
    inside = content["values"]["limits"]
    assert content["limits"]["casts"] == inside["casts"] == {"f8E4M3FN": 2}
    assert content["limits"]["min_snr_db"] == pytest.approx(28.9 - 3 - 6, abs=0.1)
    assert inside["min_snr_db"] == pytest.approx(content["limits"]["min_snr_db"] - 6.02, abs=0.01)
    assert content["rewritten"]["rewrites"]
    assert not content["original"]["rewrites"]


@pytest.mark.parametrize("backend", ["xla", "interpreter"])
def test_equal_results_are_exact(
    folder: Path, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    monkeypatch.chdir(folder)
    done = call("check", PROGRAM, PROGRAM, "--backend", backend, *JSON)
    content = json.loads(done.stdout)
    assert not faults(content, "check")
    (result,) = content["results"]
    assert result["snr_db"] == "exact"
    assert result["relative_error"] == result["max_ulp"] == 0
    assert content["limits"]["epsilons"] == 64
    assert content["values"] is None


def test_lists_have_every_rule_and_recipe() -> None:
    rules = json.loads(call("rules", *JSON).stdout)
    assert not faults(rules, "rules")
    assert {"stablehlo.add", "chlo.erf"} <= {each["op"] for each in rules["rules"]}
    recipes = json.loads(call("recipes", *JSON).stdout)
    assert not faults(recipes, "recipes")
    options = {each["name"]: each["options"] for each in recipes["recipes"]}
    assert not options["propagate"]
    assert options["fp8"]["matmul.weight"] == "f8E4M3FN"
    assert {"unit", "fp8-delayed"} <= options.keys()


def test_settings_are_in_a_recipe() -> None:
    done = call("recipes", "fp8", "--set", "matmul.exclude=head,*embed*", *JSON)
    (recipe,) = json.loads(done.stdout)["recipes"]
    assert recipe["options"]["matmul.exclude"] == ["head", "*embed*"]


@pytest.mark.parametrize("name", ["rules", "recipes"])
def test_one_form_at_a_time(name: str) -> None:
    done = call(name, "--markdown", *JSON)
    assert done.exit_code == 2
    assert "--markdown and --format json are different forms" in done.stderr
