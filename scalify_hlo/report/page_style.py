"""HTML pages that load nothing else: their head, their policy, and the colors that all share."""

from __future__ import annotations

import hashlib
import html
from base64 import b64encode
from importlib.resources import files

from scalify_hlo.errors import shown


def escape(text: str) -> str:
    """Returns text as HTML, with the characters escaped that print nothing; see `shown`."""
    return html.escape(shown(text))


def page(title: str, style: str, body: str, script: str = "") -> str:
    """Returns a page, which needs no other file and no network.

    Args:
        title: The title, as text.
        style: The CSS that only this page has.
        body: The HTML of the body.
        script: The only script that a browser runs. Styles that it sets are allowed.
    """
    colors = files("scalify_hlo.report").joinpath("colors.css").read_text("utf-8")
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    runs = f"script-src 'sha256-{digest}'; " if script else ""
    policy = f"default-src 'none'; {runs}style-src 'unsafe-inline'; base-uri 'none'; "
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta '
        f'http-equiv="Content-Security-Policy" content="{policy}form-action \'none\'">\n'
        f"<title>{escape(title)}</title>\n<style>\n{colors}{style}</style>\n</head>\n"
        f"<body>\n{body}</body>\n</html>\n"
    )
