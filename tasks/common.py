"""What the hooks of every benchmark share: guarded scoring, aggregation, outcome rates."""

from __future__ import annotations

import ast
import contextlib
import functools
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ParamSpec

from loguru import logger

from lmms_eval_finance.data.errata import Errata
from lmms_eval_finance.metrics import finscore
from lmms_eval_finance.metrics.intervals import mean_interval
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record

Arguments = ParamSpec("Arguments")
Doc = Mapping[str, Any]

NOT_AN_ANSWER = (
    Outcome.UNREADABLE,
    Outcome.EMPTY,
    Outcome.REFUSED,
    Outcome.TRUNCATED,
    Outcome.REQUEST_FAILED,
)
"""Outcomes that say no answer was given, for every task."""


def text_of(response: Any) -> str:
    """A response as clean text; what is not text is none.

    A lone surrogate would make the host drop the whole sample file.

    >>> text_of("ok\\ud800"), text_of(None)
    ('ok?', '')
    """
    return response.encode("utf-8", "replace").decode("utf-8") if isinstance(response, str) else ""


_TEXT = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_TUPLE_OF_TEXTS = re.compile(rf"\({_TEXT}(?:,|(?:, {_TEXT})+)\)")


def texts_of_rounds(response: Any) -> list[str]:
    """The replies of all rounds to one doc as clean texts.

    Some wrappers of the host give a tuple of replies, which it hands on as Python writes it.

    >>> texts_of_rounds(["a", None]), texts_of_rounds("a"), texts_of_rounds("('a', 'b')")
    (['a', ''], ['a'], ['a', 'b'])
    """
    if isinstance(response, str) and _TUPLE_OF_TEXTS.fullmatch(response):
        with contextlib.suppress(
            SyntaxError, ValueError
        ):  # an escape that means nothing: no tuple of the host's
            response = ast.literal_eval(response)
    rounds = response if isinstance(response, (list, tuple)) else [response]
    return list(map(text_of, rounds))


class Brief(dict[str, Any]):
    """What a composite metric gets of an item: a record without its texts, in sample files its id alone.

    The whole record stands there once, under the task's first metric; a dozen composites need not
    repeat it. Between processes it travels without the texts, too.

    >>> from lmms_eval_finance.metrics.outcomes import Outcome
    >>> brief = Brief(Record(id="1", outcome=Outcome.WRONG, score=0.0, response="long"))
    >>> brief, brief.record.outcome
    ({'record': '1'}, <Outcome.WRONG: 'wrong'>)
    """

    __slots__ = ("record",)
    record: Record

    def __init__(self, record: Record) -> None:
        super().__init__(record=record.id)
        self.record = record

    def __reduce__(self) -> tuple[Any, ...]:
        return _brief, (self.record.brief(),)


def _brief(data: Mapping[str, Any]) -> Brief:
    return Brief(Record.from_json(data))


def records_of(items: Iterable[Mapping[str, Any]]) -> list[Record]:
    """The records behind what `process_results` returned under a metric, sorted by id.

    Items arrive interleaved from several processes, so a fixed order comes first.
    """
    records = [
        part.record if isinstance(part, Brief) else Record.from_json(part)
        for item in items
        for part in item.get("items", (item,))
    ]
    records.sort(key=_BY_ID)
    return records


_BY_ID = operator.attrgetter("id")


def composite(figure: Callable[[Sequence[Record]], float | None]) -> Callable[[list[Any]], float | None]:
    """A function of records as the host's aggregation over what stands under a metric (`records_of`)."""

    @functools.wraps(figure)
    def aggregate(items: list[Any]) -> float | None:
        return figure(records_of(items))

    # The host inspects the signature of an aggregation and would follow the wrapped one.
    del aggregate.__wrapped__
    return aggregate


class Mean(float):
    """A mean that remembers over how many items it was taken, for means of groups."""

    n: int

    def __new__(cls, value: float, n: int) -> Mean:
        """The mean `value` of `n` items."""
        made = super().__new__(cls, value)
        made.n = n
        return made


def _numbers(items: Iterable[Any]) -> list[float]:
    """Plain numbers out of what `process_results` returned, groups (`grouped`) laid flat."""
    return [number for item in items for number in (item["items"] if isinstance(item, Mapping) else [item])]


def mean(items: list[Any]) -> Mean | None:
    """The mean of plain numbers, whatever their order; None for none."""
    numbers = _numbers(items)
    return Mean(math.fsum(numbers) / len(numbers), len(numbers)) if numbers else None


def total(items: list[Any]) -> float:
    """The sum of plain numbers, whatever their order."""
    return math.fsum(_numbers(items))


def grouped(figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of several scored items of one doc as one: metric -> ``{"items": [...]}``."""
    names = dict.fromkeys(name for one in figures for name in one)
    return {name: {"items": [one[name] for one in figures if name in one]} for name in names}


def pooled_mean(figures: list[Any], sizes: list[int], weight_by_size: bool) -> float | None:
    """A group's mean over all items of its tasks; the host's sizes count docs, so `Mean.n` weighs."""
    means = [figure for figure in figures if isinstance(figure, Mean)]
    items = sum(figure.n for figure in means)
    return math.fsum(figure * figure.n for figure in means) / items if items else None


def plain_mean(figures: list[Any], sizes: list[int], weight_by_size: bool) -> float | None:
    """A group's mean over its tasks, each counting alike; a task without a figure is left out."""
    present = [figure for figure in figures if isinstance(figure, (int, float))]
    return math.fsum(present) / len(present) if present else None


def standard_error(items: list[Any]) -> float | None:
    """The standard error of the mean score by the clustered bootstrap; None for fewer than two clusters."""
    records = [record for record in records_of(items) if record.score is not None]
    found = mean_interval([record.score or 0.0 for record in records], [record.cluster for record in records])
    return found.standard_error if found else None


def spread(figures: list[float | None], sizes: list[int], weight_by_size: bool) -> float | None:
    """Largest minus smallest figure of a group's tasks; the host passes the sizes too."""
    present = [figure for figure in figures if isinstance(figure, (int, float))]
    return max(present) - min(present) if present else None


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


def on_both_golds(
    corrections: Errata, task: str, identity: str, released: str, score: Callable[[str], Record]
) -> Record:
    """The record on the gold that the corrections give (`on_gold`)."""
    gold = corrections.gold(task, identity, released)
    return on_gold(gold, released, bool(corrections.version), score)


def on_gold(gold: str, released: str, with_errata: bool, score: Callable[[str], Record]) -> Record:
    """The record on the gold in use; with errata also what the released gold would have given.

    `parts` then holds `errata` (1.0 where the gold was corrected) and, unless that
    item cannot be scored on it, `score_on_released_gold`. `details` holds `released_gold`
    where it is another text than the record's gold.
    """
    scored = score(gold)
    if released != scored.gold:
        scored = replace(scored, details={**scored.details, "released_gold": released})
    if not with_errata:
        return scored
    on_released = scored if gold == released else score(released)
    both = {"errata": float(gold != released)}
    if on_released.score is not None:
        both["score_on_released_gold"] = on_released.score
    return replace(scored, parts={**scored.parts, **both})


def errata_figures(record: Record) -> dict[str, float]:
    """The metrics `errata_changed` and `accuracy_on_released_gold`; none when errata are not in use."""
    names = {"errata": "errata_changed", "score_on_released_gold": "accuracy_on_released_gold"}
    return {metric: record.parts[part] for part, metric in names.items() if part in record.parts}


def outcome_rates(record: Record, outcomes: Sequence[Outcome] = NOT_AN_ANSWER) -> dict[str, float]:
    """``rate_<outcome>`` of one record: 1.0 for the outcome it has, 0.0 for the others."""
    return {name: float(record.outcome is outcome) for name, outcome in _rate_names(tuple(outcomes))}


@functools.lru_cache(maxsize=32)
def _rate_names(outcomes: tuple[Outcome, ...]) -> list[tuple[str, Outcome]]:
    return [(f"rate_{outcome.value}", outcome) for outcome in outcomes]


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
