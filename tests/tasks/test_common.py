"""What the hooks of all benchmarks share."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.tasks.common import Brief, records_of

RECORDS = [
    Record("2", Outcome.CORRECT, 1.0, {"type": "a"}, "x", {"n": 1.0}, gold="G", response="long"),
    Record("1", Outcome.JUDGE_FAILED, None, {}, "x", gold="G", response="long"),
]


@pytest.mark.parametrize("travel", [lambda ones: pickle.loads(pickle.dumps(ones)), copy.deepcopy])
def test_a_brief_travels_without_the_texts_and_counts_the_same(travel: Any) -> None:
    here = [Brief(record) for record in RECORDS]
    there = travel(here)
    assert b"long" not in pickle.dumps(here)
    for one, other in zip(records_of(here), records_of(there), strict=True):
        assert one.brief() == other.brief()


def test_a_brief_stands_in_sample_files_as_the_id() -> None:
    assert json.loads(json.dumps(Brief(RECORDS[0]))) == {"record": "2"}


def test_records_come_in_the_order_of_their_ids_whatever_holds_them() -> None:
    items = [Brief(RECORDS[0]), {"items": [RECORDS[1].to_json()]}]
    assert [record.id for record in records_of(items)] == ["1", "2"]
    assert records_of(items[::-1]) == records_of(items)
