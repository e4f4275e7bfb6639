"""Confidence intervals by the clustered bootstrap, for means and for any function of records.

Items that share a context or an image are not independent, so whole clusters are
drawn with replacement (Efron and Tibshirani 1993, chapter 8; Cameron, Gelbach and
Miller 2008). Intervals are percentile intervals.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

Item = TypeVar("Item")

RESAMPLES = 1000
_CHUNK = 4_000_000


@dataclass(frozen=True)
class Interval:
    """An estimate on all items with the bounds of its interval and its standard error.

    `low` and `high` are None where the figure is undefined on too many resamples
    or there are fewer than two clusters.
    """

    estimate: float
    low: float | None
    high: float | None
    standard_error: float | None


def mean_interval(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """The mean of the values with its clustered bootstrap interval; None for no values.

    Args:
        values: one number per item.
        clusters: the cluster of each item, in the same order.
        confidence: in (0, 1).
        resamples: number of bootstrap resamples.
        seed: of the generator; the order of items does not change the result.

    Raises:
        ValueError: the sequences differ in length or `confidence` is outside (0, 1).

    >>> mean_interval([1.0, 1.0, 1.0], ["a", "b", "c"])
    Interval(estimate=1.0, low=1.0, high=1.0, standard_error=0.0)
    """
    _check(values, clusters, confidence)
    if not values:
        return None
    grouped: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        grouped.setdefault(cluster, []).append(value)
    # A fixed order of clusters makes the draws independent of the order of items.
    names = sorted(grouped, key=repr)
    sums = np.array([math.fsum(grouped[name]) for name in names])
    sizes = np.array([len(grouped[name]) for name in names], dtype=float)
    estimate = math.fsum(values) / len(values)
    if len(names) < 2:
        return Interval(estimate, None, None, None)
    generator = np.random.default_rng(seed)
    means = []
    step = max(1, _CHUNK // len(names))
    for start in range(0, resamples, step):
        draws = generator.integers(0, len(names), size=(min(step, resamples - start), len(names)))
        means.append(sums[draws].sum(axis=1) / sizes[draws].sum(axis=1))
    return _interval(estimate, np.concatenate(means), confidence)


def interval(
    items: Sequence[Item],
    statistic: Callable[[Sequence[Item]], float | None],
    clusters: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Any function of items (a composite score) with its clustered bootstrap interval.

    Args:
        items: what the statistic takes, for instance records.
        statistic: a function of a sequence of items that does not depend on their order; None
            where it is undefined (an empty domain, say).
        clusters: the cluster of each item, in the same order.
        confidence: in (0, 1).
        resamples: number of bootstrap resamples; the statistic runs so many times.
        seed: of the generator.

    Returns:
        The interval, or None where the statistic is undefined on all items.

    >>> spread = interval([1.0, 2.0, 3.0, 4.0], max, ["a", "b", "c", "d"], resamples=200)
    >>> spread.estimate, spread.high
    (4.0, 4.0)
    """
    _check(items, clusters, confidence)
    estimate = statistic(items) if items else None
    if estimate is None:
        return None
    grouped: dict[Hashable, list[Item]] = {}
    for item, cluster in zip(items, clusters, strict=True):
        grouped.setdefault(cluster, []).append(item)
    groups = [grouped[name] for name in sorted(grouped, key=repr)]
    if len(groups) < 2:
        return Interval(estimate, None, None, None)
    generator = np.random.default_rng(seed)
    figures = []
    for _ in range(resamples):
        draw = generator.integers(0, len(groups), size=len(groups))
        figure = statistic([item for index in draw for item in groups[index]])
        if figure is not None:
            figures.append(figure)
    if len(figures) < resamples / 2:
        return Interval(estimate, None, None, None)
    return _interval(estimate, np.array(figures), confidence)


def _check(items: Sequence[object], clusters: Sequence[Hashable], confidence: float) -> None:
    if len(items) != len(clusters):
        raise ValueError(f"{len(items)} items but {len(clusters)} clusters")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1")


def _interval(
    estimate: float, figures: np.ndarray[tuple[int], np.dtype[np.float64]], confidence: float
) -> Interval:
    tail = (1 - confidence) / 2
    low, high = np.quantile(figures, [tail, 1 - tail])
    return Interval(
        estimate, float(low), float(high), float(figures.std(ddof=1)) if len(figures) > 1 else None
    )


class ClusterSums:
    """Additive parts of items, and what they come to when whole clusters are drawn with replacement.

    A figure that is a function of sums over items (a mean, an F1, FinScore) costs as much on a
    resample as on the sums themselves, so that thousands of resamples and hundreds of figures take
    no longer than a few seconds. Means come out as in `mean_interval`.

    Args:
        parts: of each item, name -> number; a missing name is 0.
        clusters: the cluster of each item, in the same order.
        resamples: number of bootstrap resamples.
        seed: of the generator; the order of items does not change the result.

    >>> sums = ClusterSums([{"right": 1, "n": 1}, {"right": 0, "n": 1}, {"right": 1, "n": 1}], ["a", "b", "c"])
    >>> sums.totals
    {'n': 3.0, 'right': 2.0}
    >>> sums.ratio("right", "n") == mean_interval([1.0, 0.0, 1.0], ["a", "b", "c"])
    True
    >>> sums.interval(lambda totals: totals["right"] / totals["n"]) == sums.ratio("right", "n")
    True
    """

    def __init__(
        self,
        parts: Sequence[Mapping[Hashable, float]],
        clusters: Sequence[Hashable],
        *,
        resamples: int = RESAMPLES,
        seed: int = 0,
    ) -> None:
        if len(parts) != len(clusters):
            raise ValueError(f"{len(parts)} items but {len(clusters)} clusters")
        names = sorted(set().union(*parts), key=repr)
        self._names = {name: number for number, name in enumerate(names)}
        self._places = {cluster: number for number, cluster in enumerate(sorted(set(clusters), key=repr))}
        columns: list[list[float]] = [[] for _ in names]
        rows = [[0.0] * len(names) for _ in self._places]
        for part, cluster in zip(parts, clusters, strict=True):
            row = rows[self._places[cluster]]
            for name, number in part.items():
                place = self._names[name]
                columns[place].append(number)
                row[place] += number
        self.totals: dict[Hashable, float] = dict(zip(names, map(math.fsum, columns), strict=True))
        """The sums over all items, exactly rounded."""
        self.items = len(parts)
        self._matrix = np.array(rows).reshape(len(rows), len(names))
        self._resamples, self._seed = resamples, seed

    @functools.cached_property
    def resampled(self) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """The sums on each resample, one row each, columns in the order of `totals`."""
        clusters = len(self._places)
        generator = np.random.default_rng(self._seed)
        rows = []
        step = max(1, _CHUNK // max(1, clusters))
        for start in range(0, self._resamples, step):
            draws = generator.integers(0, clusters, size=(min(step, self._resamples - start), clusters))
            places = draws + clusters * np.arange(len(draws))[:, None]
            times = np.bincount(places.ravel(), minlength=draws.size).reshape(draws.shape)
            rows.append(times.astype(float) @ self._matrix)
        return np.concatenate(rows)

    def ratio(self, numerator: Hashable, denominator: Hashable) -> Interval | None:
        """One sum over another with its interval; None where the denominator is 0 or unknown."""
        below = self.totals.get(denominator, 0.0)
        if not below:
            return None
        estimate = self.totals.get(numerator, 0.0) / below
        if len(self._places) < 2:
            return Interval(estimate, None, None, None)
        unders = self.resampled[:, self._names[denominator]]
        overs = self.resampled[:, self._names[numerator]] if numerator in self._names else 0.0 * unders
        defined = unders != 0
        return self._bounded(estimate, overs[defined] / unders[defined])

    def interval(self, figure: Callable[[Mapping[Hashable, float]], float | None]) -> Interval | None:
        """Any function of the sums with its interval; None where it is None on all items."""
        estimate = figure(self.totals)
        if estimate is None or len(self._places) < 2:
            return None if estimate is None else Interval(estimate, None, None, None)
        figures = [figure(sums) for sums in self._resampled_sums]
        return self._bounded(estimate, np.array([value for value in figures if value is not None]))

    @functools.cached_property
    def _resampled_sums(self) -> list[dict[Hashable, float]]:
        return [dict(zip(self.totals, row, strict=True)) for row in self.resampled.tolist()]

    def _bounded(self, estimate: float, figures: np.ndarray[Any, np.dtype[np.float64]]) -> Interval:
        if len(figures) < self._resamples / 2:
            return Interval(estimate, None, None, None)
        return _interval(estimate, figures, 0.95)
