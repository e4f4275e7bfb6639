"""Every figure of a task with its interval, from sums over its records.

The figures are those of the task's metric table, computed the same way; so a run that is
read back gives the numbers that the host printed. Only COCO's mAP is no function of sums
and has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from lmms_eval_finance.metrics import finscore
from lmms_eval_finance.metrics.detection import Box, MatchCounts, SealScores, scores_from_counts
from lmms_eval_finance.metrics.fields import FieldCounts
from lmms_eval_finance.metrics.intervals import ClusterSums, Interval
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.settings import SettingError
from lmms_eval_finance.tasks import registry
from lmms_eval_finance.tasks.cfmme.figures import FIRST, SOURCES

Totals = Mapping[Hashable, float]
Figure = Callable[[Totals], "float | None"]

N, SCORE, ALL = "n", "score", "all"
"""Names of sums: of the records that are scored, of their scores, of all records."""
MOST_VALUES = 500
"""Labels of more values break nothing down: they are ids in all but name."""
_MOST_SUMS, _LARGEST = 20_000, 100_000_000


def sums(task: str, records: Sequence[Record]) -> ClusterSums:
    """The sums over a task's records from which all its figures follow.

    Beside `N`, `SCORE` and `ALL`: ``("n", label, value)`` and ``("score", label, value)`` for each label,
    ``("outcome", name)``, ``("part", name)`` for `Record.parts` of scored records, and what FinScore and the
    weighted F1 take.

    Raises:
        SettingError: see `item_parts` and `bounded`.
    """
    return ClusterSums(
        bounded(task, [item_parts(task, record) for record in records]),
        [record.cluster or record.id for record in records],
    )


def bounded(task: str, parts: list[dict[Hashable, float]]) -> list[dict[Hashable, float]]:
    """The parts of items, where their sums fit into memory.

    Raises:
        SettingError: there are so many names that only a damaged file can have them.
    """
    names = len(set().union(*parts))
    if names > _MOST_SUMS or names * len(parts) > _LARGEST:
        raise SettingError(
            f"{task}: {names:,} different labels and parts in {len(parts):,} items are too many to sum up: "
            "its sample file is damaged"
        )
    return parts


def with_few_values(records: Sequence[Record]) -> list[Record]:
    """The records without labels of more than `MOST_VALUES` values."""
    values: dict[str, set[str]] = {}
    for record in records:
        for label, value in record.labels.items():
            values.setdefault(label, set()).add(value)
    many = {label for label, found in values.items() if len(found) > MOST_VALUES}
    if not many:
        return list(records)
    return [
        replace(record, labels={label: value for label, value in record.labels.items() if label not in many})
        for record in records
    ]


def item_parts(task: str, record: Record) -> dict[Hashable, float]:
    """What one record adds to `sums`.

    Raises:
        SettingError: the record lacks parts that those of the task have.
    """
    found = registry.find(task)
    special = _PARTS.get(found.benchmark if found else "", _no_parts)
    try:
        return {**_parts(record), **dict(special(record))}
    except KeyError as error:
        raise SettingError(
            f"{task}: the item {record.id!r} has no part {error}: its sample file is damaged or another task's"
        ) from None


def joint(records: Mapping[str, Sequence[Record]]) -> ClusterSums:
    """The sums over several tasks at once, each name after the key of its task, for figures over tasks.

    Tasks that share a cluster (a page) are resampled together.

    >>> from lmms_eval_finance.metrics.outcomes import Outcome
    >>> found = joint({"a": [Record("1", Outcome.CORRECT, 1.0)], "b": [Record("1", Outcome.WRONG, 0.0)]})
    >>> found.totals["a", SCORE], found.totals["b", SCORE], found.totals["b", N]
    (1.0, 0.0, 1.0)
    """
    parts: list[dict[Hashable, float]] = []
    clusters: list[str] = []
    for key, of_task in records.items():
        for record in of_task:
            found = {**_parts(record), **dict(_class_parts(record))}
            parts.append({(key, name): number for name, number in found.items()})
            clusters.append(record.cluster or f"{key}/{record.id}")
    return ClusterSums(parts, clusters)


def _parts(record: Record) -> dict[Hashable, float]:
    found: dict[Hashable, float] = {ALL: 1.0, ("outcome", record.outcome.value): 1.0}
    if record.score is None:
        return found
    found[N], found[SCORE] = 1.0, record.score
    for name, value in record.labels.items():
        found[N, name, value], found[SCORE, name, value] = 1.0, record.score
    for name, number in record.parts.items():
        found["part", name] = number
    if "score_on_released_gold" in record.parts:
        found["n", "on released"] = 1.0
    return found


def figures(task: str, found: ClusterSums, records: Sequence[Record] = ()) -> dict[str, Interval]:
    """The task's figures by name, those that the records allow, in the order of its metric table.

    Args:
        task: the task's name.
        found: from `sums`.
        records: needed for COCO's mAP alone.
    """
    intervals = {name: found.interval(figure) for name, figure in figures_of(task, found.totals)}
    about = registry.find(task)
    if about is not None and about.split == "seal_detection" and records:
        intervals |= _coco(records)
    return {name: interval for name, interval in intervals.items() if interval is not None}


def primary(task: str) -> str:
    """The name of the figure that is the mean over the records' scores.

    >>> primary("mfe_text"), primary("cfmme_table_recognition")
    ('accuracy', 'teds')
    """
    found = registry.find(task)
    return FIRST[found.split] if found and found.benchmark == "cfmme" else "accuracy"


def figures_of(task: str, totals: Totals) -> Iterator[tuple[str, Figure]]:
    """Names and functions of the figures that these sums allow."""
    found = registry.find(task)
    mean = _ratio(SCORE, N)
    yield primary(task), mean
    if found is not None:
        yield from _FIGURES[found.benchmark](found.split, totals)
    if totals.get(("n", "on released")):
        yield (
            "accuracy_on_released_gold",
            _ratio(("part", "score_on_released_gold"), ("n", "on released")),
        )
        yield "errata_changed", lambda sums: sums.get(("part", "errata"))
    for outcome in Outcome:
        if totals.get(("outcome", outcome.value)):
            yield f"rate_{outcome.value}", _ratio(("outcome", outcome.value), ALL)


def _ratio(numerator: Hashable, denominator: Hashable) -> Figure:
    def figure(sums: Totals) -> float | None:
        below = sums.get(denominator, 0.0)
        return sums.get(numerator, 0.0) / below if below else None

    return figure


def _part(name: str) -> Figure:
    return _ratio(("part", name), N)


def _slice(label: str, value: str) -> Figure:
    return _ratio((SCORE, label, value), (N, label, value))


def _by(label: str, totals: Totals, name: str = "accuracy_{}") -> Iterator[tuple[str, Figure]]:
    """A figure for each value of a label that occurs."""
    values = [key[2] for key in totals if isinstance(key, tuple) and len(key) == 3 and key[:2] == (N, label)]
    for value in sorted(map(str, values)):
        yield name.format(value), _slice(label, value)


def _product(one: Figure, other: Figure) -> Figure:
    def figure(sums: Totals) -> float | None:
        first, second = one(sums), other(sums)
        return None if first is None or second is None else first * (1 - second)

    return figure


def _no_parts(record: Record) -> Iterable[tuple[Hashable, float]]:
    return ()


# -- FinMME ------------------------------------------------------------------------------------------


def _finmme_parts(record: Record) -> Iterator[tuple[Hashable, float]]:
    if record.score is None or "released_correct" not in record.parts:
        return
    domain = record.labels.get("knowledge_domain", "")
    yield ("domain n", domain), 1.0
    yield ("options", domain), finscore.selection_score(record)
    yield ("gold_letters", domain), finscore.selection_score(record, "gold_letters")
    yield "wrong share", finscore.wrong_share(record)
    yield ("released", domain), record.score
    yield ("released parser", domain), record.parts["released_correct"]
    if record.parts["released_multiple"]:
        yield "multiple n", 1.0
        yield ("multiple wrong", "released"), 1.0 - record.score
        yield ("multiple wrong", "released parser"), 1.0 - record.parts["released_correct"]


def _over_domains(kind: str, totals: Totals) -> Figure:
    """The mean over knowledge domains of the mean in each; the released scorer knows no unnamed domain."""
    domains = [key[1] for key in totals if isinstance(key, tuple) and len(key) == 2 and key[0] == kind]
    keys = [
        ((kind, domain), ("domain n", domain))
        for domain in domains
        if domain or not kind.startswith("released")
    ]

    def figure(sums: Totals) -> float | None:
        means = [sums[above] / sums[below] for above, below in keys if sums[below]]
        return math.fsum(means) / len(means) if means else None

    return figure


def _released_rate(kind: str) -> Figure:
    rate = _ratio(("multiple wrong", kind), "multiple n")
    return lambda sums: rate(sums) or (0.0 if sums.get(N) else None)


def _mean_of(label_values: Sequence[tuple[str, str]]) -> Figure:
    slices = [_slice(label, value) for label, value in label_values]

    def figure(sums: Totals) -> float | None:
        means = [found for one in slices if (found := one(sums)) is not None]
        return math.fsum(means) / len(means) if len(means) == len(slices) else None

    return figure


TYPES = [("question_type", name) for name in finscore.QUESTION_TYPES]
LEVELS = [("cognitive_level", name) for name in finscore.COGNITIVE_LEVELS]


def _finmme(split: str, totals: Totals) -> Iterator[tuple[str, Figure]]:
    hallucination = _ratio("wrong share", N)
    domain, gold_n, released, parser = (
        _over_domains(kind, totals) for kind in ("options", "gold_letters", "released", "released parser")
    )
    yield "finscore", _product(domain, hallucination)
    yield "finscore_gold_n", _product(gold_n, hallucination)
    yield "domain_score", domain
    yield "hallucination_rate", hallucination
    yield "finscore_released", _product(released, _released_rate("released"))
    yield "finscore_released_parser", _product(parser, _released_rate("released parser"))
    yield "domain_score_released", released
    yield "hallucination_rate_released", _released_rate("released")
    yield "average", _mean_of([*LEVELS, *TYPES])
    yield "average_types", _mean_of(TYPES)
    yield from ((f"accuracy_{value}", _slice(label, value)) for label, value in (*TYPES, *LEVELS))


# -- FAMMA and Multimodal Finance Eval ---------------------------------------------------------------


def _famma_parts(record: Record) -> Iterator[tuple[Hashable, float]]:
    pair = [record.labels.get(name) for name in ("language", "difficulty")]
    if record.score is not None and all(pair):
        value = "_".join(map(str, pair))
        yield (N, "language_difficulty", value), 1.0
        yield (SCORE, "language_difficulty", value), record.score


def _famma(split: str, totals: Totals) -> Iterator[tuple[str, Figure]]:
    for label in ("language", "difficulty", "question_type", "language_difficulty"):
        yield from _by(label, totals)


def _mfe(split: str, totals: Totals) -> Iterator[tuple[str, Figure]]:
    yield from _by("question_type", totals)


# -- CFMME -------------------------------------------------------------------------------------------


def _cfmme_parts(record: Record) -> Iterator[tuple[Hashable, float]]:
    yield from _class_parts(record)
    yield from _document_parts(record)


def _class_parts(record: Record) -> Iterator[tuple[Hashable, float]]:
    """The letters of choices as classes, for the weighted F1."""
    if "read_letters" not in record.parts or record.score is None:
        return
    gold, read = record.parts["gold_letters"], record.parts["read_letters"]
    yield ("gold class", gold), 1.0
    yield ("read class", read), 1.0
    if gold == read:
        yield ("both classes", gold), 1.0


def weighted_f1(sums: Totals) -> float | None:
    """F1 of each answer as a class, weighted by how often it is the gold answer."""
    parts = []
    for key, gold in sums.items():
        if isinstance(key, tuple) and key[0] == "gold class":
            both = sums.get(("both classes", key[1]), 0.0)
            parts.append(2 * gold * both / (gold + sums.get(("read class", key[1]), 0.0)) if gold else 0.0)
    total = math.fsum(gold for key, gold in sums.items() if isinstance(key, tuple) and key[0] == "gold class")
    return math.fsum(parts) / total if total else None


def _seals(figure: Callable[[SealScores], float | None], sums: Totals) -> float | None:
    if not sums.get(N):
        return None
    parts = {
        str(key[1]): number for key, number in sums.items() if isinstance(key, tuple) and key[0] == "part"
    }
    return figure(scores_from_counts([MatchCounts.from_parts(parts)]))


def seal_map(sums: Totals) -> float | None:
    """The order-free mAP from a seal detection task's sums."""
    return _seals(lambda scores: scores.map, sums)


def field_f1(sums: Totals) -> float | None:
    """The pooled F1 from an information extraction task's sums."""
    return _fields(lambda counts: counts.f1, "", sums)


def _fields(figure: Callable[[FieldCounts], float], prefix: str, sums: Totals) -> float | None:
    if not sums.get(N):
        return None
    counts = [int(sums.get(("part", f"{prefix}{name}"), 0)) for name in ("matched", "gold", "predicted")]
    return figure(FieldCounts(*counts))


def _field_slices(totals: Totals) -> Iterator[tuple[str, Figure]]:
    named = {("subset", value): f"f1_{name}" for value, name in SOURCES.items()}
    named |= {("extraction", value): f"f1_{value}" for value in ("open", "constrained")}
    for (label, value), name in named.items():
        if totals.get((N, label, value)):
            yield name, partial(_field_slice, label, value)


def _field_slice(label: str, value: str, sums: Totals) -> float | None:
    counts = [int(sums.get(("fields", label, value, name), 0)) for name in ("matched", "gold", "predicted")]
    return FieldCounts(*counts).f1 if sums.get((N, label, value)) else None


def _document_parts(record: Record) -> Iterator[tuple[Hashable, float]]:
    if record.score is None or "matched" not in record.parts or "donut_matched" not in record.parts:
        return
    for label in ("subset", "extraction"):
        if label in record.labels:
            for name in ("matched", "gold", "predicted"):
                yield ("fields", label, record.labels[label], name), record.parts[name]


def _cfmme(split: str, totals: Totals) -> Iterator[tuple[str, Figure]]:
    if split in ("subject", "certification"):
        yield "weighted_f1", weighted_f1
        for label, name in {"answers": "accuracy_{}_answer", "images": "accuracy_{}_image"}.items():
            yield from _by(label, totals, name)
        yield from _by("options", totals, "accuracy_option_{}")
    elif split == "qa":
        open_n, open_score = (N, "question_type", "open"), (SCORE, "question_type", "open")
        yield "accuracy_open", _ratio(open_score, open_n)
        yield (
            "accuracy_choice",
            lambda sums: _quotient(
                sums.get(SCORE, 0) - sums.get(open_score, 0), sums.get(N, 0) - sums.get(open_n, 0)
            ),
        )
        yield from _by("image_type", totals)
    elif split == "seal_detection":
        yield "map", seal_map
        yield "map50", partial(_seals, lambda scores: scores.map50)
        yield "ap_company", partial(_seals, lambda scores: scores.ap.get("company"))
        yield "ap_personal", partial(_seals, lambda scores: scores.ap.get("personal"))
        yield "f1", partial(_seals, lambda scores: scores.f1)
        yield "f1_50", partial(_seals, lambda scores: scores.f1_50)
        yield "invalid_boxes", partial(_seals, lambda scores: float(scores.counts.invalid))
    elif split == "seal_recognition":
        yield "exact", _ratio(("outcome", Outcome.CORRECT.value), N)
    elif split == "table_recognition":
        yield from ((name, _part(name)) for name in ("s_teds", "teds_pubtabnet", "s_teds_pubtabnet"))
        for value, name in {"single": "one_page", "multiple": "two_pages"}.items():
            yield f"teds_{name}", _slice("images", value)
    elif split == "formula_recognition":
        yield "exprate_cdm", _part("exact")
        yield from _by("script", totals, "cdm_{}")
        yield "cdm_reference", _part("cdm_reference")
        yield "exprate_cdm_reference", _part("exact_reference")
    elif split == "information_extraction":
        yield "f1", field_f1
        yield "precision", partial(_fields, lambda counts: counts.precision, "")
        yield "recall", partial(_fields, lambda counts: counts.recall, "")
        yield from _field_slices(totals)
        yield "f1_donut", partial(_fields, lambda counts: counts.f1, "donut_")


def _quotient(above: float, below: float) -> float | None:
    return above / below if below else None


def _coco(records: Sequence[Record]) -> dict[str, Interval]:
    """COCO's figures over the scored records whose gold and prediction are boxes, as those of the task are."""
    from lmms_eval_finance.metrics import detection

    sides = [(_boxes(record.gold), _boxes(record.prediction)) for record in records if record.outcome.scored]
    pairs = [(gold, predicted) for gold, predicted in sides if gold is not None and predicted is not None]
    scores = detection.seal_map([gold for gold, _ in pairs], [predicted for _, predicted in pairs])
    found = {
        "coco_map": scores.coco_map,
        **{f"coco_ap_{name}": value for name, value in scores.coco_ap.items()},
    }
    return {name: Interval(value, None, None, None) for name, value in found.items() if value is not None}


def _boxes(rows: Any) -> list[Box] | None:
    """A record's boxes; None where a damaged file has something else in their place."""
    from lmms_eval_finance.tasks.cfmme.scoring import as_boxes

    try:
        boxes = as_boxes(rows)
    except (TypeError, ValueError, KeyError, OverflowError):
        return None
    usable = all(len(box.xyxy) == 4 and isinstance(box.label, str | None) for box in boxes)
    return boxes if usable else None


_PARTS: Mapping[str, Callable[[Record], Iterable[tuple[Hashable, float]]]] = {
    "finmme": _finmme_parts,
    "famma": _famma_parts,
    "cfmme": _cfmme_parts,
}
_FIGURES: Mapping[str, Callable[[str, Totals], Iterator[tuple[str, Figure]]]] = {
    "finmme": _finmme,
    "famma": _famma,
    "mfe": _mfe,
    "cfmme": _cfmme,
}
