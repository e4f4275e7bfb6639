"""Error propagation, checked against counts by hand and against a naive computation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.runs.dialogues import AFTER, BEFORE, GOLD, OWN, Propagation


def turns(*dialogues):
    """Records of dialogues given as texts: r right, w wrong, - not scored."""
    outcomes = {"r": (Outcome.CORRECT, 1.0), "w": (Outcome.WRONG, 0.0), "-": (Outcome.JUDGE_FAILED, None)}
    return [
        Record(f"{name}.{turn}", *outcomes[sign], {"dialogue": str(name), "turn": str(turn)})
        for name, signs in enumerate(dialogues)
        for turn, sign in enumerate(signs, 1)
    ]


def test_figures_by_hand():
    found = Propagation(turns("rrwrw", "wwr", "rr"), turns("rrrrw", "rwr", "rr"))
    assert found.turns == [1, 2, 3, 4, 5]
    assert [found.at_turn(OWN, turn).estimate for turn in found.turns] == pytest.approx(
        [2 / 3, 2 / 3, 1 / 2, 1, 0]
    )
    # no error before: rrw, w, rr; after one: rw, wr
    assert (found.count(OWN, BEFORE), found.count(OWN, AFTER)) == (6, 4)
    assert found.accuracy(OWN, BEFORE).estimate == pytest.approx(4 / 6)
    assert found.accuracy(OWN, AFTER).estimate == pytest.approx(2 / 4)
    # the same turns after gold answers: rw, wr
    assert found.accuracy(GOLD, AFTER).estimate == pytest.approx(2 / 4)
    assert found.accuracy(GOLD).estimate == pytest.approx(8 / 10)
    assert found.gap().estimate == pytest.approx(8 / 10 - 6 / 10)
    assert found.gap().low <= found.gap().estimate <= found.gap().high


def test_turns_that_are_not_scored_are_no_errors():
    found = Propagation(turns("r-r"), turns("rrr"))
    assert found.count(OWN) == 2
    assert found.accuracy(OWN, AFTER) is None
    assert found.gap().estimate == 0
    assert found.gap().low is None  # one dialogue has no spread


def test_without_gold_answers_there_is_no_gap():
    found = Propagation(turns("rw", "ww"), [])
    assert found.gap() is None
    assert found.accuracy(GOLD) is None
    assert found.accuracy(OWN).estimate == 0.25


def test_labels_that_name_no_turn_are_passed_over():
    odd = [
        Record(str(n), Outcome.WRONG, 0.0, {"dialogue": "1", "turn": text}) for n, text in enumerate("x٣-")
    ]
    assert Propagation([*odd, Record("y", Outcome.WRONG, 0.0)], []).turns == []


signs = st.text("rw-", min_size=1, max_size=8)


@given(st.lists(st.tuples(signs, signs), min_size=1, max_size=5))
def test_against_a_naive_computation(pairs):
    own = [one for one, _ in pairs]
    gold = [(other * 8)[: len(one)] for one, other in pairs]
    found = Propagation(turns(*own), turns(*gold))
    after = [
        sign
        for dialogue in own
        for place, sign in enumerate(dialogue)
        if "w" in dialogue[:place] and sign != "-"
    ]
    assert found.count(OWN, AFTER) == len(after)
    if after:
        assert found.accuracy(OWN, AFTER).estimate == pytest.approx(after.count("r") / len(after))
    both = [
        pair
        for one, other in zip(own, gold, strict=True)
        for pair in zip(one, other, strict=True)
        if "-" not in pair
    ]
    if both:
        difference = sum((g == "r") - (o == "r") for o, g in both) / len(both)
        assert found.gap().estimate == pytest.approx(difference)
