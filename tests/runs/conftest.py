"""Runs as the host writes them."""

from __future__ import annotations

import json

import pytest

from lmms_eval_finance.judging.items import JudgeItem, judged_record_fields, resolve
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record

DATE = "20260102_030405"
SIGNATURE = "task:mfe|data:mfe/mfe_text@abc|judge:rule"


def judged(number, verdict="undecided", *, gold=None, answer=None, votes=(), preset="mfe", **fields):
    """An open answer's record as the tasks write it."""
    gold = gold or f"gold {number}"
    answer = answer or f"answer {number}"
    item = JudgeItem(str(number), preset, f"Question {number}?", gold, answer, **fields)
    rule = {"verdict": verdict, "reason": "a test"}
    outcome, score, reason = resolve(rule, [vote.to_json() for vote in votes])
    return Record(
        str(number),
        outcome,
        score,
        labels={"question_type": "open"},
        cluster=f"context {number}",
        gold=gold,
        prediction=answer,
        response=f"Answer: {answer}",
        reason=reason,
        signature=SIGNATURE,
        details=judged_record_fields(item, rule=rule, votes=votes),
    )


def empty(number):
    return Record(str(number), Outcome.EMPTY, 0.0, signature=SIGNATURE, details={"judge_preset": "mfe"})


@pytest.fixture
def write_run(tmp_path):
    """Write records as sample files of one run and return its folder."""

    def write_run(tasks, date=DATE, model="model"):
        folder = tmp_path / "out" / model
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{date}_results.json").write_text(json.dumps({"results": {}}))
        for task, records in tasks.items():
            lines = [
                {
                    "doc_id": number,
                    "target": "x",
                    "filtered_resps": ["y"],
                    "accuracy": record if isinstance(record, (dict, list)) else record.to_json(),
                    "accuracy_open": 1.0,
                    "score": {"record": {"id": "1", "outcome": "correct", "score": 1.0}},
                }
                for number, record in enumerate(records)
            ]
            path = folder / f"{date}_samples_{task}.jsonl"
            path.write_text(
                "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines),
                encoding="utf-8",
                errors="surrogatepass",
            )
        return folder

    return write_run


@pytest.fixture
def make():
    """Builders of records: `make.judged`, `make.empty`."""
    return type("Make", (), {"judged": staticmethod(judged), "empty": staticmethod(empty)})
