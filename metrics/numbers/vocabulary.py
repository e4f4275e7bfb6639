"""Word lists, written as text."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text as a set.

    >>> sorted(words("table figure"))
    ['figure', 'table']
    """
    return frozenset(text.split())
