"""Verdicts: own labelled replies, properties, and the limits on hostile input."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.judging.verdicts import parse_verdict

CASES = [json.loads(line) for line in (Path(__file__).parent / "data/verdicts.jsonl").open(encoding="utf-8")]
OPPOSITE = {True: False, False: True, None: None}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["reply"][:40])
def test_labelled_replies(case: dict) -> None:
    assert parse_verdict(case["reply"]) is case["verdict"]


def test_the_three_languages_and_all_outcomes_are_covered() -> None:
    assert len(CASES) >= 350
    for verdict in (True, False, None):
        assert sum(case["verdict"] is verdict for case in CASES) >= 40
    assert sum(any("一" <= sign <= "鿿" for sign in case["reply"]) for case in CASES) >= 50
    assert sum("réponse" in case["reply"].lower() for case in CASES) >= 20


def test_handed_cases(shared_dir: Path) -> None:
    rows = map(json.loads, (shared_dir / "cases/answers.jsonl").open(encoding="utf-8"))
    verdicts = {
        row["id"]: (parse_verdict(row["prediction"]), row["expected"])
        for row in rows
        if row["kind"] == "judge_verdict"
    }
    assert verdicts
    assert {key: pair for key, pair in verdicts.items() if pair[0] is not pair[1]} == {}


@given(st.text(max_size=400))
def test_any_text_has_a_verdict_or_none(text: str) -> None:
    assert parse_verdict(text) in (True, False, None)


FILLERS = st.text(alphabet="aeimotu 123.%\n", max_size=200)


@given(
    FILLERS,
    st.sampled_from(["Verdict: ", "**Verdict**: ", "最终判断：", "Verdict final : ", "Final verdict = "]),
)
def test_a_final_verdict_line_decides_whatever_comes_before(filler: str, label: str) -> None:
    for word, expected in (
        ("Correct", True),
        ("incorrect", False),
        ("不正确", False),
        ("faux", False),
        ("yes", True),
    ):
        assert parse_verdict(f"{filler}\n{label}{word}") is expected


@given(
    st.sampled_from(["correct", "right", "accurate", "acceptable"]),
    st.sampled_from(["is", "was judged", "is considered"]),
)
def test_negation_turns_a_verdict_round(word: str, verb: str) -> None:
    assert parse_verdict(f"The answer {verb} {word}.") is True
    assert parse_verdict(f"I do not think that: the answer {verb} not {word}.") is False
    auxiliary, _, participle = verb.partition(" ")
    assert parse_verdict(f"The answer {auxiliary}n't {participle} {word}.") is False


@given(st.booleans(), st.sampled_from(["correct", "match", "is_correct", "equivalent", "Verdict"]))
def test_json_fields_survive_fences_and_company(value: bool, key: str) -> None:
    plain = json.dumps({key: value, "reason": "the sign is wrong, the unit is correct"})
    for reply in (
        plain,
        f"```json\n{plain}\n```",
        f"Here it is:\n{plain}\nDone.",
        plain[:-1],
        repr({key: value}),
    ):
        assert parse_verdict(reply) is value


@given(st.sampled_from([case for case in CASES if case["verdict"] is not None]))
def test_thinking_before_the_reply_changes_nothing(case: dict) -> None:
    thinking = "<think>The answer is incorrect. No, it is correct. Verdict: no</think>\n"
    if "think>" not in case["reply"]:
        assert parse_verdict(thinking + case["reply"]) is case["verdict"]
    assert parse_verdict("<think>" + case["reply"].replace("think>", "")) is None


HOSTILE = [
    "correct ",
    "not ",
    " 正确",
    "正确",
    '{"',
    '"a":',
    "(",
    "is the correct answer ",
    "\\boxed{",
    "verdict: ",
    "yes?",
    "n't ",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_replies_are_bounded(unit: str) -> None:
    reply = (unit * 100_000)[:100_000]
    start = time.process_time()
    parse_verdict(reply)
    assert time.process_time() - start < 2  # a backtracking pattern would take minutes
