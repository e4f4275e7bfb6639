"""Stands for `data.sources` in an exported task: the host loads the rows, nothing is left to find."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """The rows of one split, known by name alone."""

    benchmark: str
    split: str

    @property
    def fingerprint(self) -> str:
        """The part of a signature that names the data.

        >>> locate("finmme", "train").fingerprint
        'finmme/train'
        """
        return f"{self.benchmark}/{self.split}"


def locate(name: str, split: str) -> Source:
    """The source of a benchmark's split."""
    return Source(name, split)
