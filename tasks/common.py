"""What the hooks of every benchmark share: guarded scoring, aggregation, outcome rates."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec

from loguru import logger

from lmms_eval_finance.metrics import finscore
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record

Arguments = ParamSpec("Arguments")
Doc = Mapping[str, Any]

NOT_AN_ANSWER = (Outcome.UNREADABLE, Outcome.EMPTY, Outcome.REFUSED, Outcome.TRUNCATED)
"""Outcomes of the model's doing that say no answer was given, for every task."""


def records_of(items: Iterable[Mapping[str, Any]]) -> list[Record]:
    """The records behind what `process_results` returned under a metric, sorted by id.

    Items arrive interleaved from several processes, so a fixed order comes first.
    """
    records = [Record.from_json(item.get("record", item)) for item in items]
    return sorted(records, key=lambda record: record.id)


def composite(figure: Callable[[Sequence[Record]], float | None]) -> Callable[[list[Any]], float | None]:
    """A function of records as the host's aggregation over ``{"record": ...}`` items."""

    @functools.wraps(figure)
    def aggregate(items: list[Any]) -> float | None:
        return figure(records_of(items))

    # The host inspects the signature of an aggregation and would follow the wrapped one.
    del aggregate.__wrapped__  # type: ignore[attr-defined]
    return aggregate


def mean(items: list[float]) -> float | None:
    """The mean of plain numbers, whatever their order; None for none."""
    return finscore._mean(items)


def accuracy(items: list[Any]) -> float | None:
    """The mean score over records, and the closing line where some could not be scored."""
    records = records_of(items)
    report_unscored(records)
    return finscore.accuracy(records)


def report_unscored(records: Sequence[Record]) -> None:
    """One line in the log for items that left numerator and denominator, by outcome."""
    unscored = Counter(record.outcome.value for record in records if not record.outcome.scored)
    if unscored:
        listed = ", ".join(f"{count} {outcome}" for outcome, count in sorted(unscored.items()))
        logger.warning(f"{sum(unscored.values())} of {len(records)} items could not be scored: {listed}")


def outcome_rates(record: Record, outcomes: Sequence[Outcome] = NOT_AN_ANSWER) -> dict[str, float]:
    """``rate_<outcome>`` of one record: 1.0 for the outcome it has, 0.0 for the others."""
    return {f"rate_{outcome.value}": float(record.outcome is outcome) for outcome in outcomes}


def guarded(
    score: Callable[Arguments, Record], fallback: Callable[Arguments, Record]
) -> Callable[Arguments, Record]:
    """Scoring that never raises: the host would retry for seconds, then lose the whole run.

    A fault of ours on one item is logged with its traceback and the item becomes
    what `fallback` makes of it.
    """

    @functools.wraps(score)
    def scored(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Record:
        try:
            return score(*args, **kwargs)
        except Exception:
            logger.exception("scoring failed on an item; it is counted as unreadable")
            return fallback(*args, **kwargs)

    return scored
