from __future__ import annotations

import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_eval_finance.metrics.intervals import ClusterSums, interval, mean_interval


def mean(values):
    return math.fsum(values) / len(values)


samples = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 6)), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(samples)
def test_means_agree_with_the_general_form_and_hold_the_estimate(sample):
    values, clusters = [value for value, _ in sample], [cluster for _, cluster in sample]
    fast = mean_interval(values, clusters, resamples=50)
    general = interval(values, mean, clusters, resamples=50)
    assert fast.estimate == pytest.approx(mean(values))
    assert (fast.low is None) == (len(set(clusters)) < 2)
    if fast.low is not None:
        assert min(values) - 1e-12 <= fast.low <= fast.high <= max(values) + 1e-12
        # The same seed draws the same clusters in both.
        assert general.low == pytest.approx(fast.low)
        assert general.high == pytest.approx(fast.high)
        assert general.standard_error == pytest.approx(fast.standard_error, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(samples, st.randoms())
def test_the_order_of_items_does_not_matter(sample, shuffler: random.Random):
    shuffled = list(sample)
    shuffler.shuffle(shuffled)
    one, two = (mean_interval([v for v, _ in rows], [c for _, c in rows]) for rows in (sample, shuffled))
    assert one.estimate == two.estimate
    assert one.low == (None if two.low is None else pytest.approx(two.low))


def test_it_agrees_with_theory_for_independent_items():
    generator = np.random.default_rng(1)
    values = list(generator.normal(size=400))
    found = mean_interval(values, range(400), resamples=4000)
    theory = statistics.stdev(values) / math.sqrt(400)
    assert found.standard_error == pytest.approx(theory, rel=0.05)
    assert found.high - found.low == pytest.approx(2 * 1.96 * theory, rel=0.07)


def test_items_that_repeat_within_a_cluster_add_no_information():
    values = [0.0, 1.0, 1.0, 0.0, 1.0]
    once = mean_interval(values, range(5), resamples=3000)
    tenfold = mean_interval(
        [v for v in values for _ in range(10)], [c for c in range(5) for _ in range(10)], resamples=3000
    )
    assert tenfold.standard_error == pytest.approx(once.standard_error, rel=0.02)


def test_two_clusters_by_hand():
    # Draws of two clusters of means 0 and 1: 0, 1/2, 1/2, 1 with equal chance.
    found = mean_interval([0.0, 1.0], ["a", "b"], resamples=20000)
    assert (found.low, found.high) == (0.0, 1.0)
    assert found.standard_error == pytest.approx(math.sqrt(1 / 8), rel=0.02)


def test_a_figure_that_is_mostly_undefined_has_no_bounds():
    found = interval(
        [1.0, 2.0, 3.0], lambda items: 1.0 if len(set(items)) == 3 else None, "abc", resamples=200
    )
    assert found.estimate == 1.0
    assert found.low is None


def test_nothing_to_estimate_and_wrong_calls():
    assert mean_interval([], []) is None
    assert interval([], mean, []) is None
    with pytest.raises(ValueError, match="2 items but 1 clusters"):
        mean_interval([1.0, 2.0], ["a"])
    with pytest.raises(ValueError, match="not between 0 and 1"):
        mean_interval([1.0], ["a"], confidence=95)


# -- sums --------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(samples, st.randoms())
def test_sums_give_the_intervals_of_the_general_forms(sample, shuffler: random.Random):
    shuffler.shuffle(sample)
    values, clusters = [value for value, _ in sample], [cluster for _, cluster in sample]
    parts = [{"value": value, "n": 1.0, ("large",): float(value > 0.5)} for value in values]
    sums = ClusterSums(parts, clusters, resamples=50)
    expected = mean_interval(values, clusters, resamples=50)
    assert sums.ratio("value", "n").estimate == expected.estimate
    for found in (sums.ratio("value", "n"), sums.interval(lambda s: s["value"] / s["n"])):
        for name in ("low", "high", "standard_error"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-9)

    def harmonic(mean_value, share):
        return 2 * mean_value * share / (mean_value + share) if mean_value + share else None

    composite = sums.interval(lambda s: harmonic(s["value"] / s["n"], s["large",] / s["n"]))
    general = interval(
        values,
        lambda drawn: harmonic(mean(drawn), mean([value > 0.5 for value in drawn])),
        clusters,
        resamples=50,
    )
    assert (composite is None) == (general is None)
    if composite is not None:
        assert composite.estimate == pytest.approx(general.estimate)
        assert (composite.low is None) == (general.low is None)
        if composite.low is not None:
            assert composite.low == pytest.approx(general.low)
            assert composite.high == pytest.approx(general.high)


def test_sums_without_a_denominator_have_no_ratio():
    sums = ClusterSums([{"n": 1.0}, {"n": 1.0, "rare": 1.0}], ["a", "b"])
    assert sums.ratio("n", "unknown") is None
    assert sums.ratio("unknown", "n").estimate == 0.0
    assert sums.interval(lambda s: None) is None
    # `rare` is there on about three quarters of the resamples, `never` on none
    assert sums.ratio("rare", "rare").low == 1.0
    assert ClusterSums([], []).ratio("n", "n") is None
    assert ClusterSums([{"n": 1.0}], ["a"]).ratio("n", "n").low is None
    rare = ClusterSums([{"n": 1.0, "rare": 1.0}, *[{"n": 1.0}] * 9], list("abcdefghij"))
    assert rare.ratio("rare", "rare").low == 1.0
    with pytest.raises(ValueError, match="1 items but 2 clusters"):
        ClusterSums([{}], ["a", "b"])


def test_a_figure_of_sums_that_is_mostly_undefined_has_no_bounds():
    sums = ClusterSums([{"n": float(number == 0)} for number in range(4)], list("abcd"), resamples=200)
    assert sums.interval(lambda s: 1.0 if s["n"] == 1 else None).low is None
