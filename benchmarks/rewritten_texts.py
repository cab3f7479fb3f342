"""Rewrites programs and prints a digest of each text, for `benchmarks.same_texts`.

    python -m benchmarks.rewritten_texts REQUESTS

REQUESTS is a JSON file: a list of objects with a `name`, the text of a `program`, its `recipes`,
the path of a `profile` or nothing, and other `options` of `scalify_hlo.rewrite`. A JSON object is
printed: for each name, recipe and signature the digest of the text, or the name of the error if the
rewrite was refused or crashed.
Only public functions of scalify_hlo are used: other versions run this file too, with their
directory first in PYTHONPATH.
"""

import hashlib
import json
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import scalify_hlo

SIGNATURES = ("same", "scaled")
REFUSED = "refused"
"""The start of the digest of a rewrite that was refused."""

CRASHED = "crashed"
"""The start of the digest of a rewrite that failed with an error of another kind."""


def digest(text: str, **options: Any) -> str:
    """Returns the digest of a rewritten program; `REFUSED` or `CRASHED`, and the error."""
    try:
        rewritten = scalify_hlo.rewrite(text, **options)
    except scalify_hlo.ScalifyError as error:
        return f"{REFUSED}: {type(error).__name__}"
    except Exception as error:
        return f"{CRASHED}: {type(error).__name__}"
    return hashlib.sha256(rewritten.encode()).hexdigest()


def digests(request: Mapping[str, Any]) -> dict[str, str]:
    """The digests of one program."""
    extra = dict(request["options"])
    if request["profile"]:
        extra["profile"] = scalify_hlo.load_profile(request["profile"])
    return {
        f"{request['name']}, {recipe}, {signature}": digest(
            request["program"], recipe=recipe, signature=signature, **extra
        )
        for recipe in request["recipes"]
        for signature in SIGNATURES
    }


def main() -> int:
    """Rewrites all programs of a file."""
    warnings.filterwarnings("ignore")
    found: dict[str, str] = {}
    for request in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        found |= digests(request)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
