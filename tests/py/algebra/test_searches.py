"""Searches reach each thing once, in order, up to a limit."""

from __future__ import annotations

from collections.abc import Mapping

from scalify_hlo.algebra.search import Search

GRAPH: Mapping[str, str] = {"a": "bc", "b": "d", "c": "de", "d": "a", "e": "", "f": "a"}


def test_each_is_reached_once_and_the_last_found_comes_first() -> None:
    search = Search("a", GRAPH.__getitem__)
    assert "".join(search) == "acedb"
    assert not search.ended


def test_the_nearest_may_come_first() -> None:
    assert "".join(Search("fa", GRAPH.__getitem__, nearest=True)) == "fabcde"


def test_a_limit_ends_a_search_that_has_more() -> None:
    search = Search("a", GRAPH.__getitem__, limit=4)
    assert "".join(search) == "ac"
    assert search.ended
    found = Search("e", GRAPH.__getitem__, limit=1)
    assert list(found) == []
    assert found.ended


def test_searches_that_share_what_they_found() -> None:
    seen: dict[str, None] = {}
    groups = ["".join(Search(start, GRAPH.__getitem__, seen=seen)) for start in "dbf"]
    assert groups == ["daceb", "", "f"]
    assert Search("a", GRAPH.__getitem__).to_end().found == dict.fromkeys("abcde")
