from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.metrics.formula.source import clean


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("$x$", "x"),
        ("$$x$$", "x"),
        (r"\(x\)", "x"),
        (r"\[x\]", "x"),
        (r"\(x\)。", "x"),
        ("```latex\nx\n```", "x"),
        ("```\n$$x$$\n```", "x"),
        ("```latex\nx", "x"),
        ("Here it is:\n```latex\n\\[x\\]\n```\nDone.", "x"),
        (r"The price is \[x\] as shown, not \(y\).", "x"),
        ("<think>maybe $y$</think>$x$", "x"),
        ("$$a$$ and $$b$$", r"a \\ b"),
        (r"\[x", "x"),
        ("$$x", "x"),
        (r"净利润 $=a-b$", "净利润  =a-b"),
        (r"x\\[2pt]y", r"x\\[2pt]y"),
        ("x = $5", "x = $5"),
        (r"\$5", r"\$5"),
        ("100%", r"100\%"),
        (r"100\%", r"100\%"),
        (r"a\\%", r"a\\\%"),
        ("（Ａ）＝１００％", r"(A)=100\%"),
        ("￥5", "¥5"),
        (r"\text{b\'en\'efice fran\c{c}ais}", r"\text{bénéfice français}"),
        ("e\u0301", "é"),
        ("\u200bx\x00\ufeff", "x"),
        ("\ud800", "?"),
        ("", ""),
        ("$$$$", ""),
        ("```", ""),
    ],
)
def test_clean(text: str, latex: str) -> None:
    assert clean(text) == latex


@given(st.text(alphabet="\\$[]()`%{}'ce x＄％～\n", max_size=40))
def test_clean_takes_anything(text: str) -> None:
    cleaned = clean(text)
    assert cleaned == cleaned.strip()
    assert not set(cleaned) & set("＄％～\n")


@pytest.mark.parametrize("piece", [r"\[", "$$", "$", "`", "```", r"\(", "%", r"\'", "<think>", "\\", r"\[\)"])
def test_clean_takes_long_texts(piece: str) -> None:
    assert len(clean(piece * 20_000)) <= len(piece) * 40_000
