"""Accuracy and weighted F1 over answers that are sets of letters, as CFMME reports them.

The whole set is the answer: one letter too many or too few is wrong. For the F1 the
sorted set is a class label (`AC` is a class of its own) and an unreadable answer is one
class more, as scikit-learn's `f1_score(average="weighted")` sees them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Letters = Iterable[str]


def answer_label(letters: Letters | None) -> str:
    """The class label of an answer: its letters sorted, each once; `unreadable` for None.

    >>> answer_label("CA"), answer_label(["A", "C", "A"]), answer_label(None)
    ('A,C', 'A,C', 'unreadable')
    """
    return "unreadable" if letters is None else ",".join(sorted(set(letters)))


def set_accuracy(golds: Sequence[Letters], preds: Sequence[Letters | None]) -> float | None:
    """Share of answers that are exactly the gold set, in [0, 1]; None without answers.

    Args:
        golds: the letters of each gold answer, in any order.
        preds: the letters of each predicted answer; None where none could be read.

    Raises:
        ValueError: the two differ in length.

    >>> set_accuracy(["A", "BD", "C"], ["A", "DB", None])
    0.6666666666666666
    """
    labels = _labels(golds, preds)
    return sum(gold == pred for gold, pred in labels) / len(labels) if labels else None


def weighted_f1(golds: Sequence[Letters], preds: Sequence[Letters | None]) -> float | None:
    """F1 of each gold label, weighted by its frequency, in [0, 1]; None without answers.

    Args and errors as in `set_accuracy`.

    >>> round(weighted_f1(["A", "A", "B"], ["A", "B", "B"]), 4)
    0.6667
    """
    from sklearn.metrics import f1_score  # slow to import, and it brings pandas along where that is installed

    labels = _labels(golds, preds)
    if not labels:
        return None
    gold, pred = zip(*labels, strict=True)
    return float(f1_score(gold, pred, average="weighted", zero_division=0))


def _labels(golds: Sequence[Letters], preds: Sequence[Letters | None]) -> list[tuple[str, str]]:
    if len(golds) != len(preds):
        raise ValueError(f"{len(golds)} gold answers but {len(preds)} predictions")
    return [(answer_label(gold), answer_label(pred)) for gold, pred in zip(golds, preds, strict=True)]
