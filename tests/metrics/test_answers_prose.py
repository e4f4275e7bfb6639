"""Answers to several sub-questions that a reply gives in prose."""

from __future__ import annotations

import pytest

from lmms_eval_finance.metrics.answers import extract_json_answers

PROSE = [
    ("The answer to q1 is B. The answer to q2 is C. The answer to q3 is $984.10.", ["B", "C", "$984.10"]),
    (
        "For question q1, the answer is B.\nFor question q2, the answer is C.\nFor question q3: D",
        ["B", "C", "D"],
    ),
    (
        "### Question q1\nIt floats, so B.\n\n### Question q2\nC\n\n### Question q3\n5%",
        ["It floats, so B", "C", "5%"],
    ),
    ("q1 is B, q2 is C and q3 is D.", ["B", "C", "D"]),
    ("B is the answer to q1.", ["B", None, None]),
    ("My answers are: q1 B, q2 C, q3 D.", ["B", "C", "D"]),
    ("The first answer is B. The second answer is C. The third answer is D.", ["B", "C", "D"]),
    ("La réponse à q1 est B. La réponse à q2 est C.", ["B", "C", None]),
    ("I cannot answer question 7.", [None, None, None]),
    ("The table shows three firms.", [None, None, None]),
]


@pytest.mark.parametrize(("text", "expected"), PROSE)
def test_answers_in_prose(text: str, expected: list[str | None]) -> None:
    assert list(extract_json_answers(text, ["q1", "q2", "q3"]).values()) == expected


def test_prose_goes_to_the_question_it_is_about() -> None:
    said = extract_json_answers("第1题选B。第2题的答案是C。", ["q1", "q2"])
    assert "B" in (said["q1"] or "")
    assert "C" not in (said["q1"] or "")
    assert "C" in (said["q2"] or "")


@pytest.mark.parametrize(
    "text",
    [
        "the " * 2500,
        "q1" * 5000,
        "q1 " * 3000,
        " " * 10_000,
        "the answer to " * 700,
        "q1 is 1.1.1." * 800,
        "q1 " + "and " * 2400,
        "第" * 9000,
    ],
)
def test_hostile_prose_ends(text: str) -> None:
    assert set(extract_json_answers(text, [f"q{number}" for number in range(1, 19)])) == {
        f"q{number}" for number in range(1, 19)
    }
