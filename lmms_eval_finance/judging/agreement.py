"""How far judges agree: raw, Cohen, Fleiss and Gwet's AC1, with bootstrap intervals.

Ratings are a list of subjects (items), each a list with one category per rater; None
where a rater gave none. Chance-corrected coefficients are 1 for full agreement, 0 for
what chance explains, and negative below that; they are undefined (None) where nothing is
left to correct, such as raters that only ever used one and the same category (Cohen,
Fleiss). Right and wrong answers are rarely balanced: kappa then falls although raters
agree (Feinstein and Cicchetti 1990), which AC1 does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lmms_eval_finance.judging.items import majority
from lmms_eval_finance.metrics.intervals import Interval

Ratings: TypeAlias = "Sequence[Sequence[Hashable | None]]"
Array: TypeAlias = "NDArray[np.float64]"
# Figures of each subject (subjects x figures), and the coefficient of their totals (... x figures -> ...):
# resampling then only adds up rows.
_Parts: TypeAlias = "tuple[Array, Callable[[Array], Array]]"


def raw_agreement(ratings: Ratings) -> float | None:
    """The mean share of agreeing pairs of raters, over subjects with at least two ratings; in [0, 1].

    >>> raw_agreement([[1, 1, 0], [1, 1, 1]])
    0.6666666666666666
    """
    return _whole(_raw(ratings))


def cohen_kappa(first: Sequence[Hashable | None], second: Sequence[Hashable | None]) -> float | None:
    """Cohen's kappa of two raters on the subjects that both rated (Cohen 1960); in [-1, 1].

    >>> cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    return _whole(_cohen(list(zip(first, second, strict=True))))


def fleiss_kappa(ratings: Ratings) -> float | None:
    """Fleiss' kappa of any number of raters (Fleiss 1971), over subjects that all of them rated; in [-1, 1].

    >>> round(fleiss_kappa([[1, 1, 1], [0, 0, 0], [1, 1, 0]]), 2)
    0.55
    """
    return _whole(_fleiss(ratings))


def gwet_ac1(ratings: Ratings, categories: int | None = None) -> float | None:
    """Gwet's AC1 (Gwet 2008), missing ratings allowed as in its general form (Gwet 2014); in [-1, 1].

    Args:
        ratings: a category for each subject and rater; None for missing.
        categories: how many raters could choose from; default: those that occur, at least 2.

    >>> gwet_ac1([[1, 1], [1, 1], [1, 1]])
    1.0
    """
    return _whole(_ac1(ratings, categories))


@dataclass(frozen=True)
class Agreement:
    """Coefficients of a group of raters on n subjects that at least two of them rated.

    `kappa` is Cohen's for two raters and Fleiss' for more. None: undefined.
    """

    raters: tuple[str, ...]
    n: int
    raw: Interval | None
    kappa: Interval | None
    ac1: Interval | None


def agreement(
    ratings: Ratings,
    raters: Sequence[str],
    clusters: Sequence[Hashable],
    *,
    categories: int | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Agreement:
    """All coefficients of these raters, with 95% percentile intervals from a bootstrap over clusters.

    Args:
        ratings: a category for each subject and rater; None for missing.
        raters: their names, in the order of each subject's ratings.
        clusters: what each subject shares with others; whole clusters are drawn with replacement.
        categories: as in `gwet_ac1`.
        resamples: number of bootstrap resamples.
        seed: of the generator.

    >>> found = agreement([[1, 1], [0, 0], [1, 0], [0, 0]], ["a", "b"], "wxyz", resamples=200)
    >>> found.n, found.raw.estimate, found.kappa.estimate
    (4, 0.75, 0.5)
    """
    rated = sum(sum(rating is not None for rating in row) >= 2 for row in ratings)
    kappa = _cohen(ratings) if len(raters) == 2 else _fleiss(ratings)
    raw, kappa_interval, ac1 = (
        _interval(parts, clusters, resamples, seed)
        for parts in (_raw(ratings), kappa, _ac1(ratings, categories))
    )
    return Agreement(tuple(raters), rated, raw, kappa_interval, ac1)


def all_agreements(
    votes: Sequence[Mapping[str, bool | None]],
    rule: Sequence[bool | None],
    clusters: Sequence[Hashable],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Agreement]:
    """Every pair of judges, all of them, the rule against each judge and against their majority.

    Args:
        votes: for each item the verdict of each judge by name (None or absent: failed).
        rule: for each item the rule judge's verdict (None: undecided or not asked).
        clusters: for each item what it shares with others, the unit of resampling.
        resamples: number of bootstrap resamples.
        seed: of the generator.
    """
    names = list(dict.fromkeys(name for vote in votes for name in vote))
    columns: dict[str, list[bool | None]] = {name: [vote.get(name) for vote in votes] for name in names}
    groups: list[tuple[str, ...]] = list(combinations(names, 2))
    if len(names) > 2:
        groups.append(tuple(names))
    if any(verdict is not None for verdict in rule):
        columns["rule"] = list(rule)
        groups += [("rule", name) for name in names]
        if len(names) > 1:
            columns["majority"] = [
                majority([{"verdict": vote.get(name)} for name in names]) for vote in votes
            ]
            groups.append(("rule", "majority"))
    return [
        agreement(
            list(zip(*(columns[name] for name in group), strict=True)),
            group,
            clusters,
            categories=2,
            resamples=resamples,
            seed=seed,
        )
        for group in groups
    ]


def table(agreements: Sequence[Agreement]) -> str:
    """The coefficients as a Markdown table, intervals in brackets."""
    lines = ["| raters | n | raw | Cohen (2) or Fleiss kappa | Gwet AC1 |", "|---|--:|--:|--:|--:|"]
    for found in agreements:
        figures = " | ".join(_shown(figure) for figure in (found.raw, found.kappa, found.ac1))
        lines.append(f"| {' / '.join(found.raters)} | {found.n:,} | {figures} |")
    return "\n".join(lines)


def _shown(figure: Interval | None) -> str:
    if figure is None:
        return "undefined"
    if figure.low is None or figure.high is None:
        return f"{figure.estimate:.3f}"
    return f"{figure.estimate:.3f} [{figure.low:.3f}, {figure.high:.3f}]"


# -- the coefficients, each as figures of subjects and a function of their totals ------------------


def _raw(ratings: Ratings) -> _Parts:
    return _agreeing(_counts(ratings)), lambda totals: _ratio(totals[..., 0], totals[..., 1])


def _cohen(ratings: Ratings) -> _Parts:
    index = _categories(ratings)
    size = len(index)
    joint = np.zeros((len(ratings), size, size))
    for row, (first, second) in enumerate(ratings):
        if first is not None and second is not None:
            joint[row, index[first], index[second]] = 1

    def kappa(totals: Array) -> Array:
        joint = totals.reshape(*totals.shape[:-1], size, size)
        n = totals.sum(axis=-1)
        by_chance = (joint.sum(axis=-1) * joint.sum(axis=-2)).sum(axis=-1)
        return _corrected(_ratio(np.trace(joint, axis1=-2, axis2=-1), n), _ratio(by_chance, n**2))

    return joint.reshape(len(ratings), size * size), kappa


def _fleiss(ratings: Ratings) -> _Parts:
    counts = _counts(ratings)
    raters = max((len(row) for row in ratings), default=0)
    counts = counts * (counts.sum(axis=1, keepdims=True) == raters)

    def kappa(totals: Array) -> Array:
        shares = _ratio(totals[..., 2:], totals[..., 2:].sum(axis=-1, keepdims=True))
        return _corrected(_ratio(totals[..., 0], totals[..., 1]), (shares**2).sum(axis=-1))

    return np.hstack([_agreeing(counts), counts]), kappa


def _ac1(ratings: Ratings, categories: int | None) -> _Parts:
    counts = _counts(ratings)
    choices = max(2, counts.shape[1]) if categories is None else categories
    shares = np.nan_to_num(_ratio(counts, counts.sum(axis=1, keepdims=True)))

    def ac1(totals: Array) -> Array:
        use = _ratio(totals[..., 2:], totals[..., 2:].sum(axis=-1, keepdims=True))
        expected = (use * (1 - use)).sum(axis=-1) / (choices - 1)
        return _corrected(_ratio(totals[..., 0], totals[..., 1]), expected)

    return np.hstack([_agreeing(counts), shares]), ac1


def _categories(ratings: Ratings) -> dict[Hashable, int]:
    names = dict.fromkeys(rating for row in ratings for rating in row if rating is not None)
    return {name: number for number, name in enumerate(names)}


def _counts(ratings: Ratings) -> Array:
    """Subjects by categories: how many raters chose each."""
    index = _categories(ratings)
    counts = np.zeros((len(ratings), len(index)))
    for row, values in enumerate(ratings):
        for value in values:
            if value is not None:
                counts[row, index[value]] += 1
    return counts


def _agreeing(counts: Array) -> Array:
    """For each subject the share of agreeing pairs, and 1 if there is a pair at all (else 0 and 0)."""
    raters = counts.sum(axis=1)
    share = _ratio((counts * (counts - 1)).sum(axis=1), raters * (raters - 1))
    return np.stack([np.nan_to_num(share), raters >= 2], axis=1)


def _ratio(above: Array, below: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, above / below, np.nan)


def _corrected(observed: Array, expected: Array) -> Array:
    return _ratio(observed - expected, 1 - expected)


def _whole(parts: _Parts) -> float | None:
    figures, coefficient = parts
    value = float(coefficient(figures.sum(axis=0)))
    return None if math.isnan(value) else value


def _interval(parts: _Parts, clusters: Sequence[Hashable], resamples: int, seed: int) -> Interval | None:
    """The coefficient with its percentile interval; bounds are None where it is often undefined."""
    figures, coefficient = parts
    estimate = _whole(parts)
    if estimate is None:
        return None
    names = sorted(set(clusters), key=repr)
    rows = {name: row for row, name in enumerate(names)}
    sums = np.zeros((len(names), figures.shape[1]))
    np.add.at(sums, [rows[cluster] for cluster in clusters], figures)
    if len(names) < 2:
        return Interval(estimate, None, None, None)
    generator = np.random.default_rng(seed)
    n = len(names)
    weights = (np.bincount(generator.integers(0, n, n), minlength=n) for _ in range(resamples))
    values = coefficient(np.stack([weight @ sums for weight in weights]))
    values = values[~np.isnan(values)]
    if len(values) < resamples / 2:
        return Interval(estimate, None, None, None)
    low, high = np.quantile(values, [0.025, 0.975])
    return Interval(estimate, float(low), float(high), float(values.std(ddof=1)))
