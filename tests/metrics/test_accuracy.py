from __future__ import annotations

import warnings
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.metrics.accuracy import set_accuracy, weighted_f1

SET = st.sets(st.sampled_from("ABCD"), min_size=1).map("".join)
PAIRS = st.lists(st.tuples(SET, st.none() | SET | st.just("")), min_size=1, max_size=12)


def naive_weighted_f1(pairs: list[tuple[str, str | None]]) -> float:
    """From the definition: per-class F1, weighted by the class's share of the golds."""
    golds = ["".join(sorted(gold)) for gold, _ in pairs]
    preds = [pred if pred is None else "".join(sorted(pred)) for _, pred in pairs]
    total = 0.0
    for label, support in Counter(golds).items():
        hits = sum(gold == pred == label for gold, pred in zip(golds, preds, strict=True))
        total += support * 2 * hits / (support + preds.count(label))
    return total / len(golds)


@given(PAIRS)
def test_weighted_f1_is_its_definition(pairs: list[tuple[str, str | None]]) -> None:
    golds, preds = [gold for gold, _ in pairs], [pred for _, pred in pairs]
    assert weighted_f1(golds, preds) == pytest.approx(naive_weighted_f1(pairs))


@given(PAIRS)
def test_order_and_identity(pairs: list[tuple[str, str | None]]) -> None:
    golds, preds = [gold for gold, _ in pairs], [pred for _, pred in pairs]
    assert set_accuracy(golds, preds) == set_accuracy(golds[::-1], preds[::-1])
    assert weighted_f1(golds, preds) == pytest.approx(weighted_f1(golds[::-1], preds[::-1]))
    assert set_accuracy(golds, golds) == 1
    assert weighted_f1(golds, golds) == pytest.approx(1)
    assert set_accuracy(golds, preds) == sum(set(g) == set(p or "") for g, p in pairs) / len(pairs)


@pytest.mark.parametrize(
    ("golds", "preds", "accuracy", "f1"),
    [
        (["AB"], ["BA"], 1, 1),
        (["AB"], ["A"], 0, 0),
        (["AB"], ["ABC"], 0, 0),
        (["A"], [None], 0, 0),
        (["A"], [""], 0, 0),
        (["A", "B"], ["A", None], 1 / 2, 1 / 2),
        # A: P 1, R 1/2; B: P 1/2, R 1
        (["A", "A", "B"], ["A", "B", "B"], 2 / 3, 2 / 3),
        # an unreadable answer harms its own class alone, a wrong one also that of the letter it gives
        (["A", "A", "B"], ["A", None, "B"], 2 / 3, (2 * 2 / 3 + 1) / 3),
    ],
)
def test_known_values(golds: list[str], preds: list[str | None], accuracy: float, f1: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set_accuracy(golds, preds) == pytest.approx(accuracy)
        assert weighted_f1(golds, preds) == pytest.approx(f1)


def test_nothing_to_score_and_unequal_lengths() -> None:
    assert set_accuracy([], []) is weighted_f1([], []) is None
    for function in (set_accuracy, weighted_f1):
        with pytest.raises(ValueError, match="1 gold answers but 2"):
            function(["A"], ["A", "B"])
