"""Two runs compared item by item: paired bootstrap over clusters, McNemar, correction over slices, flips.

Only items that are scored in both count. Runs whose signatures differ do not compare; what
differs is stated, and whoever compares them anyway gets it on every line.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmms_eval_finance.metrics.intervals import ClusterSums, Interval
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.runs.figures import bounded, figures_of, item_parts, with_few_values

RESAMPLES = 2000
SMALLEST_SLICE = 5
"""Slices of fewer items are not tested, nor is anything by the bootstrap over fewer clusters."""


@dataclass(frozen=True)
class Line:
    """One comparison.

    Attributes:
        label, value: the slice; both empty for all items.
        items: scored in both runs.
        first, second: the mean scores.
        difference: second minus first, with its interval by the paired bootstrap over clusters.
        bootstrap_p: two-sided, from the same resamples; None for fewer than `SMALLEST_SLICE` clusters.
        better, worse: items whose score rose or fell.
        mcnemar_p: of the exact test on those; None where scores are no right or wrong.
        bootstrap_holm, mcnemar_holm: corrected over all slices of the task.
    """

    label: str
    value: str
    items: int
    first: float
    second: float
    difference: Interval
    bootstrap_p: float | None
    better: int
    worse: int
    mcnemar_p: float | None
    bootstrap_holm: float | None = None
    mcnemar_holm: float | None = None


@dataclass(frozen=True)
class Comparison:
    """One task of two runs.

    Attributes:
        task: its name.
        pairs: the records of the items scored in both, in order of their ids.
        only_first, only_second: numbers of items that one run alone scored.
        differing: fields of the signatures that differ, with both values.
    """

    task: str
    pairs: Sequence[tuple[Record, Record]]
    only_first: int
    only_second: int
    differing: Mapping[str, tuple[str, str]]

    def overall(self) -> Line:
        """The comparison over all items.

        Raises:
            ValueError: there is no item in both.
        """
        return _line("", "", self.pairs)

    def slices(self) -> list[Line]:
        """A comparison for each value of each label that has `SMALLEST_SLICE` items, p values corrected by Holm."""
        groups: dict[tuple[str, str], list[tuple[Record, Record]]] = {}
        for pair in self.pairs:
            for label, value in pair[0].labels.items():
                groups.setdefault((label, value), []).append(pair)
        sizes: dict[str, int] = {}
        for label, _ in groups:
            sizes[label] = sizes.get(label, 0) + 1
        lines = [
            _line(label, value, pairs)
            for (label, value), pairs in sorted(groups.items())
            if len(pairs) >= SMALLEST_SLICE and sizes[label] > 1
        ]
        bootstrap = holm([line.bootstrap_p for line in lines])
        mcnemar = holm([line.mcnemar_p for line in lines])
        return [
            replace(line, bootstrap_holm=one, mcnemar_holm=other)
            for line, one, other in zip(lines, bootstrap, mcnemar, strict=True)
        ]

    def figures(self) -> dict[str, tuple[float, float, Interval]]:
        """Every figure of the task over the items in both: first, second, difference with its interval."""
        parts: list[dict[Hashable, float]] = []
        for pair in self.pairs:
            merged: dict[Hashable, float] = {}
            for run, record in enumerate(pair):
                merged |= {(run, name): number for name, number in item_parts(self.task, record).items()}
            parts.append(merged)
        clusters = [_cluster(pair) for pair in self.pairs]
        sums = ClusterSums(bounded(self.task, parts), clusters, resamples=RESAMPLES)
        of_run = [_of_run(run, sums.totals) for run in (0, 1)]
        found = {}
        names = [dict(figures_of(self.task, totals)) for totals in of_run]
        for name in names[0].keys() & names[1].keys():
            values = [names[run][name](of_run[run]) for run in (0, 1)]
            first, second = values
            if first is None or second is None:
                continue
            # one figure on both sides: which sums it looks at may depend on the run
            difference = sums.interval(
                lambda totals, name=name: _difference(  # type: ignore[misc]
                    names[0][name](_of_run(0, totals)), names[1][name](_of_run(1, totals))
                )
            )
            if difference is not None:
                found[name] = first, second, difference
        return {name: found[name] for name in names[0] if name in found}

    def flips(self) -> Iterator[tuple[Record, Record]]:
        """The items whose score differs."""
        return (pair for pair in self.pairs if pair[0].score != pair[1].score)


def compare(task: str, first: Sequence[Record], second: Sequence[Record]) -> Comparison:
    """Pair two runs' records of a task."""
    ones, others = (
        {record.id: record for record in with_few_values(records) if record.score is not None}
        for records in (first, second)
    )
    shared = sorted(ones.keys() & others.keys())
    pairs = [(ones[identity], others[identity]) for identity in shared]
    differing: dict[str, tuple[str, str]] = {}
    for signatures in {(one.signature, other.signature) for one, other in pairs}:
        mine, theirs = map(Signature.parse, signatures)
        differing |= mine.differences(theirs)
    return Comparison(task, pairs, len(ones) - len(shared), len(others) - len(shared), differing)


def _line(label: str, value: str, pairs: Sequence[tuple[Record, Record]]) -> Line:
    if not pairs:
        raise ValueError("no item is scored in both runs")
    scores = [(one.score or 0.0, other.score or 0.0) for one, other in pairs]
    parts: list[Mapping[Hashable, float]] = [{"d": other - one, "n": 1.0} for one, other in scores]
    clusters = [_cluster(pair) for pair in pairs]
    sums = ClusterSums(parts, clusters, resamples=RESAMPLES)
    difference = sums.ratio("d", "n")
    assert difference is not None
    better = sum(other > one for one, other in scores)
    worse = sum(other < one for one, other in scores)
    binary = all(score in (0.0, 1.0) for pair in scores for score in pair)
    return Line(
        label=label,
        value=value,
        items=len(pairs),
        first=sum(one for one, _ in scores) / len(scores),
        second=sum(other for _, other in scores) / len(scores),
        difference=difference,
        bootstrap_p=None if len(set(clusters)) < SMALLEST_SLICE else _two_sided(sums),
        better=better,
        worse=worse,
        mcnemar_p=mcnemar(better, worse) if binary else None,
    )


def _cluster(pair: tuple[Record, Record]) -> str:
    return pair[0].cluster or pair[0].id


def _two_sided(sums: ClusterSums) -> float:
    """Twice the share of resampled differences on the far side of 0, the sample itself counted in."""
    resampled = sums.resampled[:, list(sums.totals).index("d")]
    lower, upper = int(np.sum(resampled <= 0)), int(np.sum(resampled >= 0))
    return min(1.0, 2 * (min(lower, upper) + 1) / (len(resampled) + 1))


def mcnemar(better: int, worse: int) -> float:
    """The exact two-sided McNemar test: how likely so uneven a split of flips is by chance.

    >>> mcnemar(0, 0), mcnemar(5, 0), round(mcnemar(8, 2), 6)
    (1.0, 0.0625, 0.109375)
    """
    if not better + worse:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(min(better, worse), better + worse).pvalue)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """P values corrected by Holm's step-down method (1979); None stays None and is no test.

    >>> holm([0.01, 0.04, 0.03, None])
    [0.03, 0.06, 0.06, None]
    """
    tested = sorted((value, place) for place, value in enumerate(values) if value is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (value, place) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * value))
        corrected[place] = largest
    return corrected


def _of_run(run: int, totals: Mapping[Hashable, float]) -> dict[Hashable, float]:
    return {key[1]: number for key, number in totals.items() if isinstance(key, tuple) and key[0] == run}


def _difference(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else second - first
