"""lit configuration: every `.mlir` file below this folder is one test.

A test pipes the file through one pass pipeline or one subcommand and FileCheck reads the result::

    // RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-verify)' | %filecheck %s

`%scalify-opt` and `%scalify-hlo` start the command line of this checkout, not an installed one.
Each start costs a good part of a second: one RUN line, unless the test is about two commands. The
tests of pytest start commands as forks of one process; see `forked.py`.
"""

import os
import sys
from pathlib import Path

import lit.formats
from jaxlib.mlir.dialects import stablehlo

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

config.name = "scalify-hlo"
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = str(HERE)
config.test_exec_root = str(ROOT / "build" / "lit")

config.environment["PYTHONPATH"] = os.pathsep.join(
    [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
)
config.environment["NO_COLOR"] = "1"

if hasattr(stablehlo, "CollectiveReduceOp"):
    config.available_features.add("collective_reduce")

PYTHON = f"'{sys.executable}'"
if "SCALIFY_LIT_SERVER" in os.environ:
    config.environment["SCALIFY_LIT_SERVER"] = os.environ["SCALIFY_LIT_SERVER"]
    PYTHON += f" -I -S '{HERE / 'forked.py'}'"
MAIN = f"{PYTHON} -m scalify_hlo"
config.substitutions += [
    ("%scalify-opt", f"{MAIN} opt"),
    ("%scalify-hlo", MAIN),
    ("%filecheck", f"{PYTHON} -m filecheck"),
]
