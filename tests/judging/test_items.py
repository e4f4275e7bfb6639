from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.judging.items import (
    JudgeItem,
    JudgeRequired,
    Vote,
    judged_record_fields,
    majority,
    require_judged,
    resolve,
)
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record

RIGHT, WRONG, UNSURE = (
    {"verdict": verdict, "reason": "r"} for verdict in ("correct", "incorrect", "undecided")
)
YES, NO, FAILED = (
    {"judge": "j", "verdict": verdict, "reason": "HTTP 500"} for verdict in (True, False, None)
)
verdicts = st.lists(st.sampled_from([True, False, None]), max_size=9)


@given(verdicts)
def test_a_majority_is_more_than_half_of_all_that_were_asked(values):
    found = majority([{"verdict": value} for value in values])
    counts = {value: sum(other is value for other in values) for value in (True, False)}
    expected = [value for value in counts if counts[value] > len(values) / 2]
    assert found is (expected[0] if expected else None)


@given(verdicts, st.randoms())
def test_the_order_of_votes_does_not_matter(values, random):
    shuffled = random.sample(values, len(values))
    assert majority([{"verdict": v} for v in values]) is majority([{"verdict": v} for v in shuffled])


@pytest.mark.parametrize(
    ("rule", "votes", "review", "outcome"),
    [
        (RIGHT, [], None, Outcome.CORRECT),
        (WRONG, [], None, Outcome.WRONG),
        (UNSURE, [], None, Outcome.UNDECIDED),
        (None, [], None, Outcome.UNDECIDED),
        # judges before the rule, even when they fail: no silent change of the judge
        (RIGHT, [NO], None, Outcome.WRONG),
        (WRONG, [YES, YES, NO], None, Outcome.CORRECT),
        (RIGHT, [YES, NO], None, Outcome.JUDGE_FAILED),
        (RIGHT, [YES, FAILED, FAILED], None, Outcome.JUDGE_FAILED),
        (UNSURE, [YES, YES, FAILED], None, Outcome.CORRECT),
        (RIGHT, [FAILED], None, Outcome.JUDGE_FAILED),
        # a person before everybody
        (RIGHT, [YES], "incorrect", Outcome.WRONG),
        (WRONG, [FAILED], "correct", Outcome.CORRECT),
        (UNSURE, [], "correct", Outcome.CORRECT),
        (UNSURE, [], "skip", Outcome.UNDECIDED),
    ],
)
def test_a_person_before_the_judges_before_the_rule(rule, votes, review, outcome):
    found, score, reason = resolve(rule, votes, review)
    assert found is outcome
    assert score == {Outcome.CORRECT: 1.0, Outcome.JUDGE_FAILED: None}.get(outcome, 0.0)
    assert reason


def choice(letters, verdict):
    return {"judge": "j", "verdict": verdict, "choice": letters}


@pytest.mark.parametrize(
    ("rule", "votes", "review", "outcome"),
    [
        ({**RIGHT, "choice": "B"}, [choice("C", False)], None, Outcome.CORRECT),
        ({**RIGHT, "choice": "B"}, [choice("", None)], None, Outcome.CORRECT),
        ({**WRONG, "choice": "C"}, [choice("B", True)], None, Outcome.WRONG),
        ({**WRONG, "choice": "C"}, [choice("B", True)], "correct", Outcome.CORRECT),
        ({**UNSURE, "choice": None}, [choice("B", True)], None, Outcome.CORRECT),
        ({**UNSURE, "choice": None}, [choice("C", False)], None, Outcome.WRONG),
        ({**UNSURE, "choice": None}, [choice("", False)], None, Outcome.UNREADABLE),
        ({**UNSURE, "choice": None}, [choice("", None)], None, Outcome.JUDGE_FAILED),
        ({**UNSURE, "choice": None}, [], None, Outcome.UNREADABLE),
    ],
)
def test_language_extraction_fills_the_gaps_of_the_rule(rule, votes, review, outcome):
    assert resolve(rule, votes, review)[0] is outcome


def test_every_combination_gives_a_record_that_stands():
    rules = [None, {}, {"verdict": 5}, RIGHT, WRONG, UNSURE, {**UNSURE, "choice": None}]
    votes = [YES, NO, FAILED, {}, choice("", None), {"verdict": "true"}]
    reviews = [None, "correct", "incorrect", "skip", "nonsense"]
    for rule, one, two, review in itertools.product(rules, votes, votes, reviews):
        for chosen in ([], [one], [one, two]):
            outcome, score, reason = resolve(rule, chosen, review)
            assert Record("1", outcome, score, reason=reason).outcome is outcome


def test_fields_lead_back_to_the_item():
    item = JudgeItem(
        "7",
        "famma",
        "Combien ?",
        "1,5 %",
        "0.015",
        context="c",
        explanation="e",
        unit="%",
        options=("A. 1", "B. 2"),
        language="fr",
        question_type="choice",
    )
    votes = [Vote("a", True, reply="Correct"), Vote("b", None, "HTTP 500"), Vote("c", False, choice="B")]
    details = judged_record_fields(item, rule=WRONG, votes=votes, images=["i.png"], review="odd")
    details = json.loads(json.dumps(details))
    record = Record("7", Outcome.WRONG, 0.0, gold=item.gold, prediction="else", details=details)
    assert JudgeItem.from_record(record) == item
    assert details["votes"][0] == {"judge": "a", "verdict": True, "reply": "Correct"}
    assert details["votes"][1] == {"judge": "b", "verdict": None, "reason": "HTTP 500"}
    assert details["votes"][2] == {"judge": "c", "verdict": False, "choice": "B"}


@pytest.mark.parametrize("outcome", list(Outcome))
def test_settled_outcomes_are_sent_to_no_judge(outcome):
    record = Record("1", outcome, 0.0 if outcome.scored else None, details={"judge_preset": "mfe"})
    settled = {"empty", "refused", "truncated", "timed_out", "gold_unusable", "request_failed"}
    assert (JudgeItem.from_record(record) is None) == (outcome.value in settled)


@pytest.mark.parametrize("details", [{}, {"judge_preset": None}, {"judge_preset": 3}])
def test_records_without_a_preset_are_not_judged(details):
    assert JudgeItem.from_record(Record("1", Outcome.WRONG, 0.0, details=details)) is None


def test_odd_details_are_read_as_texts():
    details = {"judge_preset": "mfe", "question": 5, "options": [1, None], "context": ["é"]}
    item = JudgeItem.from_record(Record("1", Outcome.WRONG, 0.0, gold=0.05, prediction=None, details=details))
    assert (item.question, item.options, item.context, item.gold, item.answer) == (
        "5",
        ("1", ""),
        '["é"]',
        "0.05",
        "",
    )


def test_failures_are_an_error_only_on_demand(monkeypatch):
    monkeypatch.delenv("LMMS_EVAL_FINANCE_REQUIRE_JUDGE", raising=False)
    require_judged(5, 10)
    monkeypatch.setenv("LMMS_EVAL_FINANCE_REQUIRE_JUDGE", "1")
    require_judged(0, 10)
    with pytest.raises(JudgeRequired, match="failed on 5 of 10 items"):
        require_judged(5, 10)
