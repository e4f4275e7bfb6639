"""Edit distance by the `apted` package, the field's usual engine: slow, and a check on our own."""

from __future__ import annotations

import time

from apted import APTED, Config
from rapidfuzz.distance import Levenshtein

from lmms_eval_finance.metrics.table.trees import Node, TedsLimit

MAX_PAIRS = 1_000_000
"""Most pairs of nodes; the package takes about a minute and 300 MB for so many."""


class _Costs(Config):  # type: ignore[misc]
    """Renaming costs of `Node` (insertions and deletions cost 1 by default), and the clock.

    The package has no limit of its own, but makes its values and asks for costs through here in
    every loop that matters.
    """

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline

    def valuecls(self, value: float = 0) -> int:
        self._check()
        return int(value)

    def rename(self, node1: Node, node2: Node) -> float:
        self._check()
        if node1.label != node2.label:
            return 1.0
        return Levenshtein.normalized_distance(node1.text, node2.text)

    def _check(self) -> None:
        if time.monotonic() > self.deadline:
            raise TedsLimit("the time limit has passed")


def apted_distance(first: Node, second: Node, *, deadline: float = float("inf")) -> float:
    """As `distance.tree_edit_distance`, by `apted`.

    Raises:
        TedsLimit: the deadline has passed, or there are too many pairs of nodes.

    >>> apted_distance(Node("tr", children=[Node("td", "12")]), Node("tr", children=[Node("td", "13")]))
    0.5
    """
    if first.count() * second.count() > MAX_PAIRS:
        raise TedsLimit(f"more than {MAX_PAIRS:,} pairs of nodes, too many for apted")
    return float(APTED(first, second, _Costs(deadline)).compute_edit_distance())
