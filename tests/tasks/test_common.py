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


@pytest.mark.parametrize(
    "travel",
    [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy, lambda one: json.loads(json.dumps(one))],
)
def test_a_brief_travels_without_the_texts_and_reads_back_the_same(travel: Any) -> None:
    here = [Brief(record) for record in RECORDS]
    there = travel(here)
    assert [type(one) for one in there] == [dict, dict]
    assert there == here
    assert b"long" not in pickle.dumps(here)
    for one, other in zip(records_of(here), records_of(there), strict=True):
        assert one.brief() == other.brief()


def test_records_come_in_the_order_of_their_ids_whatever_holds_them() -> None:
    items = [Brief(RECORDS[0]), {"items": [RECORDS[1].to_json()]}]
    assert [record.id for record in records_of(items)] == ["1", "2"]
    assert records_of(items[::-1]) == records_of(items)
