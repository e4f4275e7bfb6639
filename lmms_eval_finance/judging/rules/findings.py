"""What one comparison found, and with what reason."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Finding"]


class Finding(NamedTuple):
    """Right (True), wrong (False) or open (None), and why."""

    verdict: bool | None
    reason: str
