from __future__ import annotations

import json
import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.metrics import finscore as f
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record


def item(
    identity,
    question_type="single_choice",
    *,
    correct=0,
    incorrect=0,
    options=4,
    gold=1,
    domain="Energy",
    level=None,
    gold_text="A",
    released=None,
    outcome=None,
):
    exact = correct == gold and incorrect == 0
    if outcome is None:
        outcome = Outcome.CORRECT if exact else Outcome.WRONG if correct + incorrect else Outcome.UNREADABLE
    labels = {"question_type": question_type}
    if domain:
        labels["knowledge_domain"] = domain
    if level:
        labels["cognitive_level"] = level
    return Record(
        id=str(identity),
        outcome=outcome,
        score=float(exact) if outcome.scored else None,
        labels=labels,
        parts={
            "correct": correct,
            "incorrect": incorrect,
            "options": options,
            "gold_letters": gold,
            "released_correct": float(exact if released is None else released),
            "released_multiple": float(question_type == "multiple_choice" and len(gold_text) > 1),
        },
    )


# Worked by hand. Energy: single right (1), multiple 2 of 2 gold among 4 options (2/4 = 0.5; by gold 1),
# multiple 1 right + 1 wrong (max(0, 1/4 - 1/2) = 0; by gold 1/2 - 1/2 = 0). Bonds: number wrong (0),
# single unreadable (0), multiple 2 right + 1 wrong of 3 gold among 5 (2/5 - 1/3 = 1/15; by gold 2/3 - 1/3 = 1/3).
BY_HAND = [
    item(1, correct=1),
    item(2, "multiple_choice", correct=2, gold=2, gold_text="A,C"),
    item(3, "multiple_choice", correct=1, incorrect=1, gold=2, gold_text="AC"),
    item(4, "numerical", incorrect=1, options=0, domain="Bonds"),
    item(5, domain="Bonds"),
    item(6, "multiple_choice", correct=2, incorrect=1, options=5, gold=3, domain="Bonds", gold_text="A,B,C"),
]


class TestByHand:
    def test_domain_scores(self):
        assert f.domain_score(BY_HAND) == pytest.approx(((1 + 0.5 + 0) / 3 + (0 + 0 + 1 / 15) / 3) / 2)

    def test_hallucination_rate(self):
        assert f.hallucination_rate(BY_HAND) == pytest.approx((0 + 0 + 1 / 2 + 1 + 0 + 1 / 3) / 6)

    def test_finscore(self):
        score, rate = (1.5 / 3 + (1 / 15) / 3) / 2, (1 / 2 + 1 + 1 / 3) / 6
        assert f.finscore(BY_HAND) == pytest.approx(score * (1 - rate))

    def test_finscore_with_n_the_number_of_gold_letters(self):
        score, rate = ((1 + 1 + 0) / 3 + (1 / 3) / 3) / 2, (1 / 2 + 1 + 1 / 3) / 6
        assert f.finscore(BY_HAND, "gold_letters") == pytest.approx(score * (1 - rate))

    def test_released(self):
        # Exact: 1, 2 right in Energy (2/3), none in Bonds (0); 1 of 3 multi-letter golds right.
        assert f.released_domain_score(BY_HAND) == pytest.approx(1 / 3)
        assert f.released_hallucination_rate(BY_HAND) == pytest.approx(2 / 3)
        assert f.finscore_released(BY_HAND) == pytest.approx(1 / 3 * 1 / 3)

    def test_released_parser(self):
        read_wrongly = [item(1, correct=1, released=False), item(2, correct=1)]
        assert f.finscore_released(read_wrongly) == 1.0
        assert f.finscore_released(read_wrongly, released_parser=True) == 0.5

    def test_released_drops_items_without_a_domain(self):
        records = [item(1, correct=1), item(2, incorrect=1, domain=None)]
        assert f.released_domain_score(records) == 1.0
        assert f.domain_score(records) == 0.5

    def test_averages(self):
        assert f.average_types(BY_HAND) == pytest.approx(statistics.fmean([1 / 2, 1 / 3, 0]))
        assert f.average(BY_HAND) is None
        labelled = [
            item(n, t, correct=1, level=level)
            for n, (t, level) in enumerate(zip(f.QUESTION_TYPES, f.COGNITIVE_LEVELS, strict=True))
        ]
        assert f.average(labelled) == 1.0

    def test_what_is_not_scored_counts_nowhere(self):
        extra = item(9, "multiple_choice", incorrect=3, outcome=Outcome.GOLD_UNUSABLE, gold_text="AB")
        for figure in (f.finscore, f.finscore_released, f.hallucination_rate, f.domain_score, f.accuracy):
            assert figure([*BY_HAND, extra]) == figure(BY_HAND)

    def test_nothing_left_is_none(self):
        for figure in (
            f.finscore,
            f.finscore_released,
            f.hallucination_rate,
            f.accuracy,
            f.average,
            f.average_types,
        ):
            assert figure([]) is None


records = st.lists(
    st.builds(
        lambda n, t, c, i, d: item(
            n, t, correct=min(c, 3), incorrect=min(i, 5 - min(c, 3)), options=5, gold=3, domain=d
        ),
        st.integers(),
        st.just("multiple_choice"),
        st.integers(0, 3),
        st.integers(0, 2),
        st.sampled_from(["x", "y", ""]),
    ),
    min_size=1,
    max_size=12,
)


@given(records, st.randoms())
def test_range_and_order(rows, shuffler: random.Random):
    shuffled = list(rows)
    shuffler.shuffle(shuffled)
    for figure in (f.finscore, f.finscore_released, f.hallucination_rate, f.domain_score):
        value = figure(rows)
        assert value is None or 0 <= value <= 1
        assert value == figure(shuffled)
    assert f.finscore(rows) <= f.finscore(rows, "gold_letters") + 1e-12


@given(st.integers(1, 5), st.integers(0, 4))
def test_a_perfect_answer(gold, more):
    perfect = item(1, "multiple_choice", correct=gold, gold=gold, options=gold + more)
    assert f.selection_score(perfect, "gold_letters") == 1
    assert f.selection_score(perfect) == gold / (gold + more)
    assert f.wrong_share(perfect) == 0


@pytest.mark.parametrize(
    ("response", "question_type", "reading"),
    [
        ("Answer: A, C", "multiple_choice", {"A"}),  # the blank ends the run
        ("Answer: A,C", "multiple_choice", {"A", "C"}),
        ("Answer: Both", "single_choice", {"B", "H"}),  # letters of a word
        ("answer : **d**", "single_choice", {"D"}),
        ("The answer is B", "single_choice", set()),  # no colon, nothing read
        ("Answer: $\\boxed{B}$", "single_choice", {"B"}),
        ("Answer: A\nwait, Answer: B", "single_choice", {"A"}),  # the first, not the last
        ("Answer: 1.2e3", "numerical", 1.23),
        ("Answer: (3.4)", "numerical", 3.4),
        ("Answer: 3,4", "numerical", 34.0),
        ("Answer: 12%", "numerical", 12.0),
        ("Answer: 5-7", "numerical", None),
        ("Answer: 1,234.5", "numerical", 1234.5),
        ("Answer: -", "numerical", None),
        ("", "numerical", None),
    ],
)
def test_the_released_reading_with_its_faults(response, question_type, reading):
    assert f.released_reading(response, question_type) == reading


@pytest.mark.parametrize(
    ("response", "gold", "question_type", "tolerance", "right"),
    [
        ("Answer: A, C", "A, C", "multiple_choice", 0, False),
        ("Answer: A,C", "AC", "multiple_choice", 0, True),
        ("", "", "single_choice", 0, True),  # nothing against nothing
        ("Answer: 3.4", "(3.4)", "numerical", 0, True),
        ("Answer: 3.5", "3.4", "numerical", 0.05, False),
        ("Answer: 3.45", "3.4", "numerical", 0.06, True),
        ("Answer: x", "3.4", "numerical", 9, False),
    ],
)
def test_the_released_match(response, gold, question_type, tolerance, right):
    assert f.released_match(response, gold, question_type, tolerance) is right


class TestPublished:
    """What the printed tables say about the arithmetic, misprints named."""

    MISPRINTED_AVERAGES = ("Qwen2-VL 7B", "DeepSeekVL-2 Small")

    @pytest.fixture
    def published(self, shared_dir):
        return json.loads((shared_dir / "published" / "finmme.json").read_text(encoding="utf-8"))

    def test_the_average_is_the_mean_of_six_columns(self, published):
        for row in published["table3"]["rows"]:
            columns = {name: row[name] / 100 for name in f.QUESTION_TYPES + f.COGNITIVE_LEVELS}
            recomputed = 100 * f._mean_of_all(columns, f.COGNITIVE_LEVELS + f.QUESTION_TYPES)
            agrees = math.isclose(recomputed, row["average"], abs_tol=0.0101)
            assert agrees != (row["model"] in self.MISPRINTED_AVERAGES), row["model"]

    def test_published_finscores_imply_the_released_rate(self, published):
        """FinScore / mean domain score = 1 - P_H of 0.07 to 0.38: no reading of equation 3 gives that."""
        # The two tables spell some names differently but list the models in the same order.
        shares = {}
        for row, cells in zip(published["table3"]["rows"], published["table4"]["rows"], strict=True):
            domains = statistics.fmean(cells[name] for name in published["table4"]["columns"])
            shares[row["model"]] = row["finscore"] / domains
            # Equation 3 counts a wrong single choice or number as 1, a right one as 0, so 1 - P_H would
            # be near the accuracy; the printed figures imply far less.
            assert shares[row["model"]] < 0.75 * row["average"] / 100
        assert min(shares.values()) == pytest.approx(0.07, abs=0.01)
        assert max(shares.values()) == pytest.approx(0.38, abs=0.01)
