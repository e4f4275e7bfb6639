"""Search terms of three languages."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.rag.words import terms, token_count


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Les obligations sont actualisées", "l’obligation est actualisée"),
        ("à l'échéance", "échéances"),
        ("LE TAUX D'INTÉRÊT EST ÉLEVÉ", "le taux d’interet est eleve"),
        ("discounted cash flows", "The DISCOUNTING of a cash flow"),
        ("the tax losses", "a tax loss"),
        ("净现值", "净现值"),
        ("ＮＰＶ ratio", "npv Ratio"),
        ("the hedger’s hedges", "hedge the hedgers"),
    ],
)
def test_the_same_word_is_the_same_term(one, other):
    assert set(terms(one)) <= set(terms(other)) | {"cash", "flow"}
    assert set(terms(one)) & set(terms(other))


def test_chinese_is_read_in_pairs():
    assert terms("远期汇率") == ["远期", "期汇", "汇率"]
    assert terms("利") == ["利"]
    assert terms("用NPV计算5年") == ["用", "npv", "计算", "5", "年"]


def test_amounts_and_little_words_are_no_terms():
    assert terms("The price of it is $1,250.50 or 5.25% in 2023") == ["price", "2023"]
    assert terms("le prix de la part est de 3,00 €") == ["prix", "part"]


@given(st.text(max_size=300))
def test_any_text_has_terms_and_a_size(text):
    assert all(term and not term.isspace() for term in terms(text))
    assert terms(text) == terms(text.upper().lower()) or any(
        sign.upper().lower() != sign.lower() for sign in text
    )
    assert 0 <= token_count(text) <= len(text)


@pytest.mark.parametrize(
    "text", ["a" * 10_000, "净" * 10_000, "1," * 5000, "l'" * 5000, "é" * 10_000, " " * 10_000]
)
def test_hostile_texts_are_read_fast(text):
    started = time.perf_counter()
    terms(text)
    assert time.perf_counter() - started < 5
