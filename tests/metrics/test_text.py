from __future__ import annotations

import sys
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.metrics.text import evened, ned_scores, ned_similarity

TEXT = st.text(max_size=30) | st.text("公司章ab 1２（(\n\u3000", max_size=30)


def naive_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
    return row[-1]


@given(TEXT, TEXT)
def test_agrees_with_the_definition(gold: str, pred: str) -> None:
    longer = max(len(gold), len(pred))
    expected = 1 - naive_distance(gold, pred) / longer if longer else 1.0
    assert ned_similarity(gold, pred, normalise=False) == pytest.approx(expected)


@given(TEXT, TEXT, st.booleans())
def test_range_symmetry_identity(gold: str, pred: str, normalise: bool) -> None:
    value = ned_similarity(gold, pred, normalise=normalise)
    assert 0 <= value <= 1
    assert value == ned_similarity(pred, gold, normalise=normalise)
    assert ned_similarity(gold, gold, normalise=normalise) == 1
    assert (value == 1) == ((evened(gold) == evened(pred)) if normalise else (gold == pred))


@given(TEXT)
def test_evening_is_done_once(text: str) -> None:
    assert evened(evened(text)) == evened(text)
    assert ned_similarity(text, evened(text)) == 1


@pytest.mark.parametrize(
    ("gold", "pred", "plain", "normalised"),
    [
        ("", "", 1, 1),
        ("", "公司", 0, 0),
        ("公司", "", 0, 0),
        (" ", "", 0, 1),
        ("ABC", "ABD", 2 / 3, 2 / 3),
        # nine characters, one of them full-width: .889 becomes 1
        ("北京甲公司（12)", "北京甲公司(12)", 8 / 9, 1),
        ("北京某某公司", "北京 某某\n公司", 6 / 8, 1),
        ("ACME Ltd", "ACME  Ltd", 8 / 9, 1),
        ("ACME Ltd", "ACMELtd", 7 / 8, 7 / 8),
        ("Ａ①㈱", "A1(株)", 0, 1),
        ("é", "e\u0301", 0, 1),
        ("公\u200b司", "公司", 2 / 3, 1),
        # an indel similarity would give .5
        ("ab", "ba", 0, 0),
        ("ab", "ac", 0.5, 0.5),
        ("abcd", "wxyz", 0, 0),
        # dividing by the gold's length would give -4
        ("a", "bcdef", 0, 0),
        ("か゛", "が", 0, 1),
        ("Case", "case", 3 / 4, 3 / 4),
    ],
)
def test_known_values(gold: str, pred: str, plain: float, normalised: float) -> None:
    assert ned_similarity(gold, pred, normalise=False) == pytest.approx(plain)
    assert ned_similarity(gold, pred) == pytest.approx(normalised)


def test_traditional_and_simplified() -> None:
    pytest.importorskip("opencc", reason="the extra `chinese` is not installed")
    assert ned_similarity("臺灣銀行財務專用章", "台湾银行财务专用章", simplify=True) == 1
    assert ned_similarity("財務專用章", "财务专用章") == pytest.approx(0.4)
    assert ned_scores(["發票"], ["发票"], simplify=True).macro == 1
    assert ned_similarity("\ud800", "a", simplify=True) == 0


def test_a_missing_converter_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from lmms_eval_finance.metrics import text

    monkeypatch.setitem(sys.modules, "opencc", None)
    text._simplifier.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'lmms-eval-finance\[chinese\]'"):
        ned_similarity("a", "b", simplify=True)
    text._simplifier.cache_clear()


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6))
def test_means(pairs: list[tuple[str, str]]) -> None:
    golds, preds = map(list, zip(*pairs, strict=True))
    scores = ned_scores(golds, preds)
    values = [ned_similarity(*pair) for pair in pairs]
    assert scores.macro == pytest.approx(fsum(values) / len(values))
    assert scores.exact == sum(value == 1 for value in values) / len(values)
    assert scores.count == len(pairs)
    assert scores.corpus is not None
    assert min(values) - 1e-12 <= scores.corpus <= max(values) + 1e-12
    assert ned_scores(golds[::-1], preds[::-1]) == scores


def test_nothing_to_score() -> None:
    scores = ned_scores([], [])
    assert (scores.macro, scores.corpus, scores.exact, scores.count) == (None, None, None, 0)
    assert ned_scores([""], [""]).corpus == 1
    with pytest.raises(ValueError, match="1 gold texts but 0"):
        ned_scores(["a"], [])


@pytest.mark.parametrize(
    "text",
    ["a" + "\u0301\u0327" * 50_000, "\ufdfa" * 20_000, "\ud800" * 100, "\x00" * 100_000, " " * 100_000],
)
def test_hostile_texts_are_scored(text: str) -> None:
    # quadratic normalisation would show here as many seconds
    assert 0 <= ned_similarity("公司", text) <= 1
