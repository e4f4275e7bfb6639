"""How errors spread in dialogues: the same turns answered after one's own answers and after gold ones.

A turn comes "after a first error" when an earlier turn of its dialogue was answered wrongly
in the run with the model's own answers. Later turns may be harder as such, so the accuracy of
the very same turns with gold answers before them stands beside it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from lmms_eval_finance.metrics.intervals import ClusterSums, Interval
from lmms_eval_finance.metrics.records import Record

OWN, GOLD = "own answers", "gold answers"
BEFORE, AFTER = "no error before", "after a first error"


class Propagation:
    """The figures of one model, all with intervals over dialogues.

    Args:
        own: records of turns whose earlier turns hold the model's own answers.
        gold: records of the same turns after gold answers; may be empty.

    >>> from lmms_eval_finance.metrics.outcomes import Outcome
    >>> def turn(number, right):
    ...     outcome = Outcome.CORRECT if right else Outcome.WRONG
    ...     return Record(str(number), outcome, float(right), {"dialogue": "1", "turn": str(number)})
    >>> found = Propagation([turn(1, True), turn(2, False), turn(3, False)], [turn(n, True) for n in (1, 2, 3)])
    >>> found.accuracy(OWN, BEFORE).estimate, found.accuracy(OWN, AFTER).estimate, found.gap().estimate
    (0.5, 0.0, 0.6666666666666666)
    """

    def __init__(self, own: Sequence[Record], gold: Sequence[Record]) -> None:
        places = _places(own)
        scored = {OWN: _scores(own), GOLD: _scores(gold)}
        parts: list[dict[Hashable, float]] = []
        clusters: list[str] = []
        for kind, scores in scored.items():
            for identity in scores.keys() & places.keys():
                turn, place, dialogue = places[identity]
                names = ["all", place, _turn(turn)]
                names += ["both"] if all(identity in other for other in scored.values()) else []
                parts.append({("n", kind, name): 1.0 for name in names})
                parts[-1] |= {("score", kind, name): scores[identity] for name in names}
                clusters.append(dialogue)
        self._sums = ClusterSums(parts, clusters)
        self.turns = sorted({turn for turn, _, _ in places.values()})
        """Numbers of the turns that occur."""

    def accuracy(self, kind: str, place: str = "all") -> Interval | None:
        """The accuracy with `OWN` or `GOLD` answers, over all turns, those `BEFORE` or `AFTER`."""
        return self._sums.ratio(("score", kind, place), ("n", kind, place))

    def at_turn(self, kind: str, turn: int) -> Interval | None:
        """The accuracy at one turn."""
        return self.accuracy(kind, _turn(turn))

    def count(self, kind: str, place: str = "all") -> int:
        """The number of scored turns behind `accuracy`."""
        return int(self._sums.totals.get(("n", kind, place), 0))

    def gap(self) -> Interval | None:
        """Accuracy with gold answers minus accuracy with own answers, over the turns scored in both."""

        def difference(sums: Mapping[Hashable, float]) -> float | None:
            n = sums.get(("n", OWN, "both"), 0.0)
            own, gold = (sums.get(("score", kind, "both"), 0.0) for kind in (OWN, GOLD))
            return (gold - own) / n if n else None

        return self._sums.interval(difference)


def _turn(number: int) -> str:
    return f"turn {number}"


def _scores(records: Sequence[Record]) -> dict[str, float]:
    return {record.id: record.score for record in records if record.score is not None}


def _places(records: Sequence[Record]) -> dict[str, tuple[int, str, str]]:
    """Id -> number of the turn, whether an error lies before it, and its dialogue."""
    dialogues: dict[str, list[tuple[int, Record]]] = {}
    for record in records:
        turn = record.labels.get("turn", "")
        if "dialogue" in record.labels and turn.isascii() and turn.isdigit() and len(turn) < 9:
            dialogues.setdefault(record.labels["dialogue"], []).append((int(turn), record))
    found = {}
    for name, turns in dialogues.items():
        place = BEFORE
        for number, record in sorted(turns, key=lambda turn: (turn[0], turn[1].id)):
            found[record.id] = number, place, name
            if record.score is not None and record.score < 1.0:
                place = AFTER
    return found
