from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.metrics.transcript import transcribed

SEAL = "北京某某贸易有限公司财务专用章"


@pytest.mark.parametrize(
    "response",
    [
        SEAL,
        f"  {SEAL}\n",
        f"**{SEAL}**",
        f"“{SEAL}”",
        f'"{SEAL}"',
        f"「{SEAL}」",
        f"```\n{SEAL}\n```",
        f"```text\n{SEAL}\n```",
        f"Answer: {SEAL}",
        f"答案：{SEAL}",
        f"印章文字：{SEAL}",
        f"印章上的文字是：“{SEAL}”",
        f"图中印章的文字识别结果如下：\n{SEAL}",
        f"The text on the seal is: {SEAL}",
        f"The seal reads: “{SEAL}”",
        f"<think>round, red</think>\n{SEAL}",
        f"round, red</think>{SEAL}",
        f"<answer>{SEAL}</answer>",
        f"<ANSWER>{SEAL}</ANSWER>",
        f"\\boxed{{{SEAL}}}",
        f'{{"text": "{SEAL}"}}',
        f'{{"印章文字": "{SEAL}", "形状": "圆形"}}',
        f'```json\n{{"seal_text": "{SEAL}"}}\n```',
        f'["{SEAL}"]',
    ],
)
def test_wrappers_go(response):
    assert transcribed(response) == SEAL


@pytest.mark.parametrize(
    "text",
    [
        "编号：123",
        "“一”与“二”",
        "公司内容：甲",
        '{"a": "x", "b": "y"}',
        "[1, 2]",
        "印章：",
        "It is a red seal of some company",
        "(2024)第5号",
        "A",
        "",
    ],
)
def test_what_may_be_the_text_itself_stays(text):
    assert transcribed(text) == text


def test_a_list_of_lines_is_joined():
    assert transcribed('["某某公司", "财务专用章"]') == "某某公司\n财务专用章"


@given(st.text(alphabet=st.characters(whitelist_categories=["Lo", "Nd"]), min_size=1, max_size=40))
def test_plain_text_is_left_alone(text):
    assert transcribed(text) == text


@given(st.text(max_size=200) | st.text(alphabet='“”"{}[]<>`*_:：答案印章文字\\boxedanswer/ \n', max_size=200))
def test_any_text_gives_a_text(text):
    assert isinstance(transcribed(text), str)


@pytest.mark.parametrize(
    "part", ["<answer>", "```", "“", "\\boxed{", "印章的文字", "the final ", "{", '["', "*", "</think>"]
)
def test_time_stays_linear(part):
    text = (part * 10_000)[:10_000]
    longer = text * 4
    transcribed(text)
    times = []
    for sample in (text, longer):
        start = time.process_time()
        transcribed(sample)
        times.append(time.process_time() - start)
    assert times[1] < 12 * times[0] + 0.05
