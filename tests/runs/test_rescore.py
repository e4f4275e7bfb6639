from __future__ import annotations

import pytest

from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.runs.judge import Verdict
from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.runs.rescore import rescored, rescored_record
from lmms_eval_finance.runs.review import add_decision, load_decisions
from lmms_eval_finance.settings import SettingError

YES = Verdict([{"judge": "a", "verdict": True}], "model-a,mfe@1234")
NO = Verdict([{"judge": "a", "verdict": False}], "model-a,mfe@1234")
FAILED = Verdict([{"judge": "a", "verdict": None, "reason": "HTTP 500"}], "model-a,mfe@1234")


def test_nothing_changes_without_verdicts_and_decisions(write_run, make):
    records = [make.judged(1, "correct"), make.judged(2), make.empty(3)]
    run = open_run(write_run({"mfe_text": records}))
    assert [record for _, record in rescored(run)] == records


def test_votes_change_outcome_reason_and_signature(make):
    record = make.judged(1, "incorrect")
    changed = rescored_record(record, YES, None)
    assert (changed.outcome, changed.score) == (Outcome.CORRECT, 1.0)
    assert changed.reason == "judges: correct by 1 of 1"
    assert "judge:model-a,mfe@1234" in changed.signature
    assert changed.signature.count("judge:") == 1
    assert changed.details["votes"] == YES.votes
    assert rescored_record(record, FAILED, None).score is None
    # the same verdict again changes nothing further
    assert rescored_record(changed, YES, None) == changed


@pytest.mark.parametrize("outcome", list(Outcome))
def test_settled_outcomes_change_by_a_person_only(outcome):
    record = Record("1", outcome, 0.0 if outcome.scored else None, details={"judge_preset": "mfe"})
    judgeable = outcome.value in {"correct", "partial", "wrong", "unreadable", "undecided", "judge_failed"}
    assert (rescored_record(record, YES, None) == record) is not judgeable
    assert rescored_record(record, NO, "correct").score == 1.0


def test_a_persons_decisions_win_and_can_be_withdrawn(write_run, make):
    run = open_run(write_run({"mfe_text": [make.judged(n, "correct") for n in range(3)]}))
    add_decision(run, ("mfe_text", "0"), "incorrect")
    add_decision(run, ("mfe_text", "1"), "incorrect")
    add_decision(run, ("mfe_text", "1"), "skip")
    add_decision(run, ("mfe_chart", "2"), "incorrect")  # another task's item 2
    scores = [record.score for _, record in rescored(run)]
    assert scores == [0.0, 1.0, 1.0]
    assert load_decisions(run) == {("mfe_text", "0"): "incorrect", ("mfe_chart", "2"): "incorrect"}


def test_a_decision_that_is_none(write_run, make):
    run = open_run(write_run({"mfe_text": [make.judged(1)]}))
    add_decision(run, ("mfe_text", "1"), "perhaps")
    with pytest.raises(
        SettingError, match=r"'perhaps' on 1 of mfe_text is no decision \(use correct, incorrect, skip\)"
    ):
        load_decisions(run)
