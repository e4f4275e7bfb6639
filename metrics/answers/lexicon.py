"""Word lists, written as text."""

from __future__ import annotations

__all__ = ["words"]


def words(text: str) -> frozenset[str]:
    """The words of a text, for look-up.

    >>> sorted(words("is are"))
    ['are', 'is']
    """
    return frozenset(text.split())
