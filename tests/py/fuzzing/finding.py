"""The findings of fuzzing."""

from __future__ import annotations


class FindingError(Exception):
    """Something that must not be.

    Args:
        kind: In a few words, the same for findings alike.
        message: All that is known of it.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message
