from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.signature import Signature

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def records(draw):
    outcome = draw(st.sampled_from(Outcome))
    return Record(
        id=draw(st.text()),
        outcome=outcome,
        score=draw(st.floats(0, 1)) if outcome.scored else None,
        labels=draw(st.dictionaries(st.text(), st.text(), max_size=3)),
        cluster=draw(st.text()),
        parts=draw(st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False), max_size=3)),
        gold=draw(json_values),
        prediction=draw(json_values),
        response=draw(st.text() | st.lists(st.text())),
        details=draw(st.dictionaries(st.text(), json_values, max_size=3)),
    )


@given(records())
def test_a_record_survives_json(record):
    assert Record.from_json(json.loads(json.dumps(record.to_json()))) == record


@given(records())
def test_the_brief_form_holds_what_figures_need(record):
    brief = Record.from_json(record.brief())
    assert (brief.id, brief.outcome, brief.score, brief.parts) == (
        record.id,
        record.outcome,
        record.score,
        record.parts,
    )


@pytest.mark.parametrize(
    ("outcome", "score"),
    [(Outcome.CORRECT, None), (Outcome.JUDGE_FAILED, 0.0), (Outcome.PARTIAL, 1.5), (Outcome.WRONG, -0.1)],
)
def test_outcome_and_score_have_to_agree(outcome, score):
    with pytest.raises(ValueError, match="item 1"):
        Record(id="1", outcome=outcome, score=score)


@pytest.mark.parametrize("data", [{}, {"id": "1", "outcome": "great"}, {"id": "1"}])
def test_what_is_no_record_is_refused(data):
    with pytest.raises(ValueError, match=r"record|Outcome"):
        Record.from_json(data)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.text(), max_size=5))
def test_a_signature_survives_its_text(fields):
    signature = Signature.of(**fields)
    again = Signature.parse(str(signature))
    assert again == signature
    assert again.differences(signature) == {}
