"""Agreement coefficients against published tables, scikit-learn and naive formulas."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from lmms_eval_finance.judging.agreement import (
    agreement,
    all_agreements,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    raw_agreement,
    table,
)


def spread(counts):
    """A row of counts per category as a row of ratings."""
    return [category for category, count in enumerate(counts) for _ in range(count)]


def two_raters(both, first_only, second_only, neither):
    return [(1, 1)] * both + [(1, 0)] * first_only + [(0, 1)] * second_only + [(0, 0)] * neither


# 10 subjects, 14 raters, 5 categories: the worked example of Fleiss' kappa, kappa 0.210
FLEISS = [
    (0, 0, 0, 0, 14),
    (0, 2, 6, 4, 2),
    (0, 0, 3, 5, 6),
    (0, 3, 9, 2, 0),
    (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0),
    (3, 2, 6, 3, 0),
    (2, 5, 3, 2, 2),
    (6, 5, 2, 1, 0),
    (0, 2, 2, 3, 7),
]
# 12 units, 4 raters, 5 categories, missing ratings (Gwet's handbook): raw 0.8182, AC1 0.7754
GWET = [
    (1, 1, None, 1),
    (2, 2, 3, 2),
    (3, 3, 3, 3),
    (3, 3, 3, 3),
    (2, 2, 2, 2),
    (1, 2, 3, 4),
    (4, 4, 4, 4),
    (1, 1, 2, 1),
    (2, 2, 2, 2),
    (None, 5, 5, 5),
    (None, None, 1, 1),
    (None, None, 3, None),
]


def test_published_examples():
    assert fleiss_kappa([spread(counts) for counts in FLEISS]) == pytest.approx(0.20993, abs=1e-5)
    assert raw_agreement(GWET) == pytest.approx(0.81818, abs=1e-5)
    assert gwet_ac1(GWET) == pytest.approx(0.77544, abs=1e-5)
    # two raters, by hand: 20 + 15 of 50 agree, chance (25 x 30 + 25 x 20) / 50^2 = 0.5
    assert cohen_kappa(*zip(*two_raters(20, 5, 10, 15), strict=True)) == pytest.approx(0.4)


def test_the_paradox_that_ac1_avoids():
    """118 + 0 of 125 agree on a lopsided table (Gwet 2002): kappa below 0, AC1 0.94."""
    ratings = two_raters(118, 5, 2, 0)
    assert raw_agreement(ratings) == pytest.approx(118 / 125)
    assert cohen_kappa(*zip(*ratings, strict=True)) == pytest.approx(-0.0234, abs=1e-4)
    assert gwet_ac1(ratings) == pytest.approx(0.9408, abs=1e-4)


rating = st.sampled_from(["a", "b", "c", None])
tables = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.tuples(*[rating] * width), min_size=1, max_size=12)
)


def mean(values):
    return sum(values) / len(values) if values else None


def naive_raw(ratings):
    shares = []
    for row in ratings:
        given_ = [value for value in row if value is not None]
        pairs = list(combinations(given_, 2))
        if pairs:
            shares.append(mean([one == other for one, other in pairs]))
    return mean(shares)


def naive_chance(ratings):
    """Observed agreement and category shares, subject by subject."""
    rows = [[value for value in row if value is not None] for row in ratings]
    rows = [row for row in rows if row]
    names = {value for row in rows for value in row}
    return {name: mean([row.count(name) / len(row) for row in rows]) for name in names}


def naive_fleiss(ratings):
    complete = [row for row in ratings if None not in row]
    if not complete:
        return None
    chance = sum(share**2 for share in naive_chance(complete).values())
    return None if chance > 1 - 1e-12 else (naive_raw(complete) - chance) / (1 - chance)


def naive_ac1(ratings):
    observed = naive_raw(ratings)
    if observed is None:
        return None
    shares = naive_chance(ratings)
    chance = sum(share * (1 - share) for share in shares.values()) / (max(2, len(shares)) - 1)
    return (observed - chance) / (1 - chance)


def same(one, other):
    return one == other if one is None or other is None else one == pytest.approx(other, abs=1e-9)


@given(tables)
def test_naive_formulas_give_the_same(ratings):
    assert same(raw_agreement(ratings), naive_raw(ratings))
    assert same(fleiss_kappa(ratings), naive_fleiss(ratings))
    assert same(gwet_ac1(ratings), naive_ac1(ratings))


@given(st.lists(st.tuples(rating, rating), min_size=1, max_size=30))
def test_cohen_is_that_of_scikit_learn(ratings):
    both = [row for row in ratings if None not in row]
    found = cohen_kappa(*zip(*ratings, strict=True))
    if not both or len({value for row in both for value in row}) == 1:
        assert found is None
    else:
        assert found == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)), abs=1e-9)


@given(tables, st.randoms())
def test_order_of_subjects_and_raters_does_not_matter(ratings, rng):
    columns = rng.sample(range(len(ratings[0])), len(ratings[0]))
    shuffled = [tuple(row[column] for column in columns) for row in rng.sample(ratings, len(ratings))]
    for coefficient in (raw_agreement, fleiss_kappa, gwet_ac1):
        assert same(coefficient(ratings), coefficient(shuffled))


@given(tables)
def test_ranges_and_full_agreement(ratings):
    for coefficient in (raw_agreement, fleiss_kappa, gwet_ac1):
        value = coefficient(ratings)
        assert value is None or -1 - 1e-9 <= value <= 1 + 1e-9
    alike = [(row[0], row[0]) for row in ratings if row[0] is not None]
    if alike:
        assert raw_agreement(alike) == 1
        assert gwet_ac1(alike) == pytest.approx(1)
        assert fleiss_kappa(alike) in (None, pytest.approx(1))


@pytest.mark.parametrize("ratings", [[], [(None, None)], [(1, None)], [(None, 1), (1, None)]])
def test_nothing_to_compare(ratings):
    found = agreement(ratings, ["a", "b"], range(len(ratings)))
    assert (found.n, found.raw, found.kappa, found.ac1) == (0, None, None, None)


def test_intervals_cover_the_truth_as_often_as_they_say():
    """Two raters that agree with probability 0.8 on items in clusters of 3."""
    rng = random.Random(0)
    inside = 0
    for trial in range(100):
        ratings, clusters = [], []
        for cluster in range(60):
            for _ in range(3):
                first = rng.random() < 0.5
                ratings.append((first, first if rng.random() < 0.8 else not first))
                clusters.append(cluster)
        found = agreement(ratings, "ab", clusters, resamples=200, seed=trial).raw
        inside += found.low <= 0.8 <= found.high
    assert 85 <= inside <= 100


def test_intervals_are_seeded_and_know_clusters():
    rng = random.Random(1)
    ratings = [(1, int(rng.random() < 0.7)) for _ in range(200)]
    single = agreement(ratings, "ab", range(200))
    assert single == agreement(ratings, "ab", range(200))
    # every item ten times, as one cluster: the estimate stays and so does its uncertainty
    tenfold = [row for row in ratings for _ in range(10)]
    clustered = agreement(tenfold, "ab", [number for number in range(200) for _ in range(10)])
    assert clustered.raw.estimate == pytest.approx(single.raw.estimate)
    assert clustered.raw.low == pytest.approx(single.raw.low)
    assert agreement(tenfold, "ab", range(2000)).raw.low > clustered.raw.low


def test_all_groups_of_a_panel():
    rng = random.Random(2)
    truth = [rng.random() < 0.6 for _ in range(300)]
    votes = [
        {
            name: value if rng.random() < 0.9 else None if rng.random() < 0.2 else not value
            for name in ("x", "y", "z")
        }
        for value in truth
    ]
    rule = [value if rng.random() < 0.8 else None for value in truth]
    found = {
        "/".join(group.raters): group for group in all_agreements(votes, rule, range(300), resamples=100)
    }
    assert list(found) == ["x/y", "x/z", "y/z", "x/y/z", "rule/x", "rule/y", "rule/z", "rule/majority"]
    both = [(vote["x"], vote["y"]) for vote in votes if None not in (vote["x"], vote["y"])]
    assert found["x/y"].n == len(both)
    assert found["x/y"].kappa.estimate == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)))
    assert found["rule/majority"].raw.estimate > found["rule/x"].raw.estimate
    text = table(list(found.values()))
    assert text.count("\n") == 1 + len(found)
    assert "nan" not in text
    assert not math.isnan(found["x/y/z"].ac1.low)


def test_one_judge_alone_has_nobody_to_agree_with():
    assert all_agreements([{"x": True}], [None], [0]) == []
    assert [group.raters for group in all_agreements([{"x": True}], [True], [0])] == [("rule", "x")]
