"""Signatures: what has to agree before two scores may be compared.

In the manner of sacreBLEU: short ``key:value`` fields joined by ``|``. Versions,
dates and model arguments are provenance; they stand beside a signature and never
decide a comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

_RESERVED = str.maketrans({"|": "/", ":": "=", "\n": " "})


@dataclass(frozen=True)
class Signature:
    """The fields that decide whether two scores compare, in a fixed order.

    >>> signature = Signature.of(metric="finscore", version="1", data="finmme/train@ab12", errata="no")
    >>> str(signature)
    'metric:finscore|version:1|data:finmme/train@ab12|errata:no'
    >>> Signature.parse(str(signature)) == signature
    True
    """

    fields: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, **fields: str) -> Signature:
        """A signature of these fields; separators within values are replaced."""
        return cls(tuple((name, str(value).translate(_RESERVED)) for name, value in fields.items()))

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Read a signature back from its text; pieces without a colon are kept with an empty value."""
        pairs = (piece.partition(":") for piece in text.split("|") if piece)
        return cls(tuple((name, value) for name, _, value in pairs))

    def with_fields(self, **fields: str) -> Signature:
        """A copy with some fields replaced or added at the end."""
        return Signature.of(**{**dict(self.fields), **fields})

    def differences(self, other: Signature) -> Mapping[str, tuple[str, str]]:
        """Fields that differ, with both values; a missing field counts as empty.

        >>> Signature.of(a="1", b="2").differences(Signature.of(a="1", c="3"))
        {'b': ('2', ''), 'c': ('', '3')}
        """
        mine, theirs = dict(self.fields), dict(other.fields)
        return {
            name: (mine.get(name, ""), theirs.get(name, ""))
            for name in dict.fromkeys([*mine, *theirs])
            if mine.get(name, "") != theirs.get(name, "")
        }

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        return "|".join(f"{name}:{value}" for name, value in self.fields)
