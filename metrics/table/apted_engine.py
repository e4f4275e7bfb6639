"""Edit distance by the `apted` package, the field's usual engine: slow, and a check on our own."""

from __future__ import annotations

import time

from apted import APTED, Config
from rapidfuzz.distance import Levenshtein

from lmms_eval_finance.metrics.table.trees import Node, TedsLimit


class _Costs(Config):  # type: ignore[misc]
    """Renaming costs of `Node`; insertions and deletions cost 1 by default."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline

    def rename(self, node1: Node, node2: Node) -> float:
        """The only place that the package calls again and again, so the clock is looked at here."""
        if time.monotonic() > self.deadline:
            raise TedsLimit("the time limit has passed")
        if node1.label != node2.label:
            return 1.0
        return Levenshtein.normalized_distance(node1.text, node2.text)


def apted_distance(first: Node, second: Node, *, deadline: float = float("inf")) -> float:
    """As `distance.tree_edit_distance`, by `apted` 1.0.3, which errs on some unusual trees.

    >>> apted_distance(Node("tr", children=[Node("td", "12")]), Node("tr", children=[Node("td", "13")]))
    0.5
    """
    return float(APTED(first, second, _Costs(deadline)).compute_edit_distance())
