"""Hooks the tasks into lmms-eval: the only file that touches host internals."""

from __future__ import annotations


def register() -> list[object]:
    """Return model manifests (none yet)."""
    return []
