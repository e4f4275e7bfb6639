from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.metrics.normalise import (
    boxed_contents,
    narrow,
    normalise_text,
    strip_markup,
    strip_reasoning,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no tags < 3", "no tags < 3"),
        ("<think>x</think>B", "B"),
        ("<THINK>\nx\n</Think>\n\nB", "\n\nB"),
        ("x</think>B", "B"),
        ("B<think>x", "B"),
        ("<think>x", ""),
        ("<think>a<think>b</think>c</think>d", "d"),
        ("<think>a <think> b</think>d", "d"),
        ("<think>1</think>A<think>2</think>B", "AB"),
        ("[THINK]a[/THINK]B", "B"),
        ("◁think▷a◁/think▷B", "B"),
        ("<|begin_of_thought|>a<|end_of_thought|>B", "B"),
        ("<reasoning>a</reasoning>B", "B"),
    ],
)
def test_reasoning_is_cut(text: str, expected: str) -> None:
    assert strip_reasoning(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**42**", "42"),
        ("***42***", "42"),
        ("__42__", "42"),
        ("*42*", "42"),
        ("_42_", "42"),
        ("~~41~~ 42", "41 42"),
        ("`42`", "42"),
        ("```\n42\n```", "42"),
        ("```json\n42\n```", "42"),
        ("# 42", "42"),
        ("> 42", "42"),
        ("> > **42**", "42"),
        ("[42](http://x.org)", "42"),
        ("<b>42</b>", "42"),
        ('<span style="x">42</span>', "42"),
        ("<answer>42</answer>", "42"),
        ("4<br>2", "4\n2"),
        ("1&nbsp;234&#8239;567", "1 234 567"),
        ("&minus;3", "−3"),
        ("<|im_start|>42<|im_end|></s>", "42"),
        ("2*3*4", "2*3*4"),
        ("10**6", "10**6"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("a_b_c", "a_b_c"),
        ("x < 3 and y > 4", "x < 3 and y > 4"),
        ("* 25%", "* 25%"),
        ("４２　％", "42 %"),
        ("a\u200b\u00adb", "ab"),
        ("a\r\nb\tc", "a\nb c"),
        ("", ""),
    ],
)
def test_markup_and_width_are_evened_out(text: str, expected: str) -> None:
    assert normalise_text(text) == expected


@given(st.text())
def test_total_and_stable(text: str) -> None:
    strip_reasoning(text)
    strip_markup(text)
    boxed_contents(text)
    assert len(narrow(text)) == len(text)
    assert narrow(narrow(text)) == narrow(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\boxed{42}", ["42"]),
        (r"\boxed {a{b}c} d", ["a{b}c"]),
        (r"\boxed{1} \fbox{2}", ["1", "2"]),
        (r"\boxed{\boxed{1}}", [r"\boxed{1}"]),
        (r"\boxed{50\% \}", [r"50\% \}"]),
        ("boxed{1}", []),
    ],
)
def test_boxes(text: str, expected: list[str]) -> None:
    assert boxed_contents(text) == expected
