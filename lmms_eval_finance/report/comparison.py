"""Comparisons of two runs as tables; runs that do not compare say so on every line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lmms_eval_finance.metrics.intervals import Interval
from lmms_eval_finance.report.table import Cell, Marked, Table
from lmms_eval_finance.runs.compare import SMALLEST_SLICE, Comparison, Line

_NOTE = (
    "Scores in per cent, differences in points (second minus first) with 95% intervals by the paired bootstrap over "
    "clusters. p: bootstrap (clusters drawn as a whole) and exact McNemar (items as independent); Holm: corrected over "
    f"the slices of this table. Slices of fewer than {SMALLEST_SLICE} items are left out."
)


def tables(comparison: Comparison, names: tuple[str, str]) -> list[Table]:
    """The comparison overall and by slice, then by every figure of the task."""
    marks = differing(comparison.differing)
    head = [
        "slice",
        "items",
        *names,
        "difference",
        "better",
        "worse",
        "bootstrap p",
        "bootstrap p, Holm",
        "McNemar p",
        "McNemar p, Holm",
    ]
    lines = [comparison.overall(), *comparison.slices()]
    shown = Table(
        f"{comparison.task}: {names[1]} against {names[0]}",
        head,
        [_row(line, marks) for line in lines],
        note=f"{_items(comparison)} {_NOTE}",
        key=f"compare {comparison.task}",
    )
    figures: list[list[Cell]] = [
        [Marked(name, marks=marks), first, second, _interval(difference, 1)]
        for name, (first, second, difference) in comparison.figures().items()
    ]
    every = Table(
        f"{comparison.task}: every figure",
        ["figure", *names, "difference"],
        figures,
        digits=4,
        key=f"compare figures {comparison.task}",
    )
    return [shown, every]


def differing(fields: Mapping[str, tuple[str, str]]) -> list[str]:
    """The mark for runs that do not compare; none for runs that do."""
    if not fields:
        return []
    listed = "; ".join(
        f"{name} {one or '(none)'} against {other or '(none)'}" for name, (one, other) in fields.items()
    )
    return [f"does not compare: {listed}"]


def flips(comparison: Comparison, names: tuple[str, str]) -> Table:
    """The items whose score differs, with what each run answered."""
    rows: list[list[Cell]] = []
    for one, other in comparison.flips():
        rose = (other.score or 0.0) > (one.score or 0.0)
        answers = [str(record.prediction) if record.prediction is not None else "" for record in (one, other)]
        scores = [record.score for record in (one, other)]
        outcomes = [record.outcome.value for record in (one, other)]
        rows.append([comparison.task, one.id, "better" if rose else "worse", *scores, *outcomes, *answers])
    columns = [
        "task",
        "id",
        "change",
        *(f"{what}, {name}" for what in ("score", "outcome", "answer") for name in names),
    ]
    return Table(f"{comparison.task}: items that changed", columns, rows)


def _items(comparison: Comparison) -> str:
    alone = [count for count in (comparison.only_first, comparison.only_second) if count]
    count = len(comparison.pairs)
    text = f"{count:,} {'item is' if count == 1 else 'items are'} scored in both runs"
    return f"{text}, {sum(alone):,} in one alone." if alone else f"{text}."


def _row(line: Line, marks: Sequence[str]) -> list[Cell]:
    name = f"{line.label}: {line.value}" if line.label else "all"
    tests = (line.bootstrap_p, line.bootstrap_holm, line.mcnemar_p, line.mcnemar_holm)
    return [
        Marked(name, marks=marks),
        f"{line.items:,}",
        100 * line.first,
        100 * line.second,
        _interval(line.difference, 100),
        str(line.better),
        str(line.worse),
        *("" if test is None else f"{test:.4f}" for test in tests),
    ]


def _interval(difference: Interval, scale: float) -> Cell:
    low, high = (None if bound is None else scale * bound for bound in (difference.low, difference.high))
    return Marked(scale * difference.estimate, low=low, high=high)
