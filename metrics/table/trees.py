"""Table trees: what readers produce and edit-distance engines take."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from lmms_eval_finance.metrics.outcomes import Outcome


class TedsLimit(Exception):
    """There is no score for a pair; `outcome` says what the item counts as.

    Attributes:
        outcome: `Outcome.TIMED_OUT` where the prediction is over a cap or the pair over its time
            (scored 0), `Outcome.GOLD_UNUSABLE` where the gold is over a cap or holds no table
            (not scored).
    """

    def __init__(self, message: str, outcome: Outcome = Outcome.TIMED_OUT) -> None:
        super().__init__(message)
        self.outcome = outcome


@dataclass(slots=True, eq=False)
class Node:
    """One node of an ordered tree.

    Attributes:
        label: renaming between unequal labels costs 1.
        text: content of a leaf, one character a token; between equal labels renaming costs the
            Levenshtein distance over the greater length.
        children: in document order.
    """

    label: Hashable
    text: str = ""
    children: list[Node] = field(default_factory=list)

    def count(self) -> int:
        """Number of nodes, this one and all below it.

        >>> Node("tr", children=[Node("td"), Node("td")]).count()
        3
        """
        nodes = [self]
        for node in nodes:
            nodes += node.children
        return len(nodes)


@dataclass(frozen=True, slots=True)
class Table:
    """A table as a tree.

    Attributes:
        root: the table element.
        size: number of elements below the root, those inside cells included: TEDS' denominator.
    """

    root: Node
    size: int
