"""From records to the numbers in the host's table, for tasks and groups.

The host gives a group's aggregation nothing but the numbers of its tasks, so those numbers
carry along what a group needs: over how many items they are (`Mean`), which column of the
paper's tables they belong to (`Part`), or the answers themselves (`WeightedF1`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from loguru import logger

from lmms_eval_finance.metrics import accuracy as sets
from lmms_eval_finance.metrics.detection import MatchCounts, SealScores, scores_from_counts, seal_map
from lmms_eval_finance.metrics.fields import FieldCounts
from lmms_eval_finance.metrics.intervals import interval
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.tasks import common, judged
from lmms_eval_finance.tasks.cfmme import coordinates, scoring
from lmms_eval_finance.tasks.common import Mean

SOURCES = {"HUST-CELL": "hust_cell", "Baidu-FEST": "baidu_fest", "CMB2017": "cmb2017"}
"""Source of an information extraction document -> its name in metrics."""

Answers = Counter[tuple[str, str | None]]


# -- one record's share in each metric ---------------------------------------------------------------


def of_record(split: str, record: Record, *, study: bool = False) -> dict[str, Any]:
    """Metric -> what the host collects for one record.

    Args:
        split: the record's split.
        record: the whole record; it stands under the split's first metric.
        study: whether the task is a variant that stands outside the groups.
    """
    brief = common.Brief(record)
    figures: dict[str, Any] = {FIRST[split]: record.to_json(), "standard_error": brief}
    figures |= common.outcome_rates(record, _RATED[split])
    if record.score is not None:
        figures |= _OF_SPLIT[split](record, brief)
        if split in _KNOWLEDGE:
            figures |= {"knowledge_accuracy": record.score, "knowledge_weighted_f1": brief}
        if split in (*_KNOWLEDGE, "qa"):
            figures |= common.errata_figures(record)
            figures |= {} if study else {"question_answering_average": record.score}
    return figures


_KNOWLEDGE = ("subject", "certification")
FIRST = {
    "subject": "accuracy",
    "certification": "accuracy",
    "qa": "accuracy",
    "seal_detection": "image_f1",
    "seal_recognition": "1_ned",
    "table_recognition": "teds",
    "formula_recognition": "cdm",
    "information_extraction": "document_f1",
}
"""The metric of each split that averages the records' scores, under which the whole record stands."""


_RATED = {
    **dict.fromkeys(FIRST, (*common.NOT_AN_ANSWER, Outcome.TIMED_OUT, Outcome.GOLD_UNUSABLE)),
    **dict.fromkeys(_KNOWLEDGE, (*common.NOT_AN_ANSWER, Outcome.GOLD_UNUSABLE)),
    "qa": (*judged.RATED, Outcome.GOLD_UNUSABLE),
}


def _knowledge(record: Record, brief: Mapping[str, Any]) -> dict[str, Any]:
    named = {"answers": "{}_answer", "images": "{}_image", "options": "option_{}"}
    parts = {
        f"accuracy_{name.format(record.labels[label])}": record.score
        for label, name in named.items()
        if label in record.labels
    }
    return {"weighted_f1": brief, **parts}


def _questions(record: Record, brief: Mapping[str, Any]) -> dict[str, Any]:
    form = "open" if record.labels["question_type"] == "open" else "choice"
    figures: dict[str, Any] = {f"accuracy_{form}": record.score}
    if record.labels.get("image_type") in ("table", "candlestick", "shareholding", "statistical"):
        figures[f"accuracy_{record.labels['image_type']}"] = record.score
    return figures


def _detection(record: Record, brief: Mapping[str, Any]) -> dict[str, Any]:
    boxes = {"boxes": {"gold": record.gold, "predicted": record.prediction}}
    by_counts = (
        "map",
        "map50",
        "ap_company",
        "ap_personal",
        "f1",
        "f1_50",
        "invalid_boxes",
        "perception_average",
    )
    by_boxes = ("coco_map", "coco_ap_company", "coco_ap_personal", "perception_average_reference")
    return {**dict.fromkeys(by_counts, brief), **dict.fromkeys(by_boxes, boxes)}


def _text(record: Record, brief: Mapping[str, Any]) -> dict[str, Any]:
    score = record.score
    return {"exact": float(score == 1.0), "perception_average": score, "perception_average_reference": score}


def _table(record: Record, brief: Mapping[str, Any]) -> dict[str, Any]:
    figures = {name: value for name, value in record.parts.items() if name != "teds"}
    pages = {"single": "one_page", "multiple": "two_pages"}.get(record.labels.get("images", ""))
    return {
        **figures,
        **({f"teds_{pages}": record.score} if pages else {}),
        "perception_average": record.score,
        "perception_average_reference": record.parts["teds_pubtabnet"],
    }


def _formula(record: Record, brief: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "exprate_cdm": record.parts["exact"],
        f"cdm_{record.labels['script']}": record.score,
        "cdm_reference": record.parts["cdm_reference"],
        "exprate_cdm_reference": record.parts["exact_reference"],
        "perception_average": record.score,
        "perception_average_reference": record.parts["cdm_reference"],
    }


def _fields(record: Record, brief: Mapping[str, Any]) -> dict[str, Any]:
    names = ["f1", "precision", "recall", f"f1_{record.labels['extraction']}", "f1_donut"]
    source = SOURCES.get(record.labels.get("subset", ""))
    names += [f"f1_{source}"] if source else []
    return dict.fromkeys([*names, "perception_average", "perception_average_reference"], brief)


_OF_SPLIT: Mapping[str, Callable[[Record, Mapping[str, Any]], dict[str, Any]]] = {
    "subject": _knowledge,
    "certification": _knowledge,
    "qa": _questions,
    "seal_detection": _detection,
    "seal_recognition": _text,
    "table_recognition": _table,
    "formula_recognition": _formula,
    "information_extraction": _fields,
}


# -- numbers that carry what their group needs -------------------------------------------------------


class Part(Mean):
    """A mean that belongs to a column of a published table, for means over columns."""

    column: str

    @classmethod
    def of(cls, mean: Mean, column: str) -> Part:
        """The same mean with its column."""
        made = cls(mean, mean.n)
        made.column = column
        return made


class WeightedF1(float):
    """A weighted F1 that remembers how often each pair of gold and read letters occurred."""

    answers: Answers

    @classmethod
    def over(cls, answers: Answers) -> WeightedF1 | None:
        """The weighted F1 of these answers; None for none."""
        pairs = list(answers.elements())
        value = sets.weighted_f1([gold for gold, _ in pairs], [read for _, read in pairs])
        if value is None:
            return None
        made = cls(value)
        made.answers = answers
        return made


def mean_score(items: list[Any]) -> Mean | None:
    """The mean of the records' scores, and the closing line where some could not be scored."""
    value = common.accuracy(items)
    scored = sum(record.outcome.scored for record in common.records_of(items))
    return None if value is None else Mean(value, scored)


def knowledge_part(items: list[Any]) -> Part | None:
    """A mean that belongs to the column of knowledge questions."""
    mean = common.mean(items)
    return None if mean is None else Part.of(mean, "knowledge")


def application_part(items: list[Any]) -> Part | None:
    """A mean that belongs to the column of application questions."""
    mean = common.mean(items)
    return None if mean is None else Part.of(mean, "application")


def weighted_f1(items: list[Any]) -> WeightedF1 | None:
    """Weighted F1 over the answers as sets of letters."""
    answers: Answers = Counter()
    for record in common.records_of(items):
        gold = scoring.letters_of(record.parts["gold_letters"])
        read = scoring.letters_of(record.parts["read_letters"])
        answers["".join(gold or ()), None if read is None else "".join(read)] += 1
    return WeightedF1.over(answers)


def pooled_weighted_f1(figures: list[Any], sizes: list[int], weight_by_size: bool) -> WeightedF1 | None:
    """A group's weighted F1 over all answers of its tasks together."""
    answers: Answers = Counter()
    for figure in figures:
        if isinstance(figure, WeightedF1):
            answers += figure.answers
    return WeightedF1.over(answers)


def mean_of_columns(figures: list[Any], sizes: list[int], weight_by_size: bool) -> float | None:
    """A group's mean over the columns of a published table, tasks of one column pooled first.

    A figure without a column is a column of its own. None where one is missing: a mean over
    fewer columns would be another measure.
    """
    columns: dict[Any, list[tuple[float, int]]] = {}
    for number, figure in enumerate(figures):
        if not isinstance(figure, float):
            return None
        of_column = columns.setdefault(getattr(figure, "column", number), [])
        of_column.append((float(figure), getattr(figure, "n", 1)))
    means = [
        math.fsum(figure * n for figure, n in column) / sum(n for _, n in column)
        for column in columns.values()
    ]
    return math.fsum(means) / len(means) if means else None


# -- aggregations of single tasks --------------------------------------------------------------------


def _scores(records: Sequence[Record]) -> SealScores:
    return scores_from_counts(
        MatchCounts.from_parts(record.parts) for record in records if record.outcome.scored
    )


def _seal_map(items: list[Any]) -> SealScores:
    """COCO's scores of boxes in pixels."""
    boxes = [item["boxes"] for item in items]
    return seal_map(
        [scoring.as_boxes(item["gold"]) for item in boxes],
        [scoring.as_boxes(item["predicted"]) for item in boxes],
    )


def image_f1(items: list[Any]) -> Mean | None:
    """The mean F1 of single pages; warns where the boxes speak against the convention in use."""
    details = [record.details for record in common.records_of(items) if "stated" in record.details]
    evidence = coordinates.contradiction(details)
    if evidence:
        logger.warning(
            f"seal detection: {evidence}. The boxes were read as {details[0]['coordinates']}; if the model means "
            "something else, set LMMS_EVAL_FINANCE_COORDINATES (see docs/cfmme.md). The gold was not looked at"
        )
    return mean_score(items)


def _counted(figure: Callable[[SealScores], float | None]) -> Callable[[list[Any]], float | None]:
    return common.composite(lambda records: figure(_scores(records)))


seal_map_figure = _counted(lambda scores: scores.map)
seal_map50 = _counted(lambda scores: scores.map50)
ap_company = _counted(lambda scores: scores.ap.get("company"))
ap_personal = _counted(lambda scores: scores.ap.get("personal"))
seal_f1 = _counted(lambda scores: scores.f1)
seal_f1_50 = _counted(lambda scores: scores.f1_50)
invalid_boxes = _counted(lambda scores: float(scores.counts.invalid))


def coco_map(items: list[Any]) -> float | None:
    """COCO's mAP."""
    return _seal_map(items).coco_map


def coco_ap_company(items: list[Any]) -> float | None:
    """COCO's AP of company seals."""
    return _seal_map(items).coco_ap.get("company")


def coco_ap_personal(items: list[Any]) -> float | None:
    """COCO's AP of personal seals."""
    return _seal_map(items).coco_ap.get("personal")


def _pooled(records: Sequence[Record], prefix: str = "") -> FieldCounts:
    names = [f"{prefix}{name}" for name in ("matched", "gold", "predicted")]
    scored = [record for record in records if record.outcome.scored]
    return FieldCounts(*(int(sum(record.parts[name] for record in scored)) for name in names))


field_f1 = common.composite(lambda records: _pooled(records).f1 if records else None)
field_precision = common.composite(lambda records: _pooled(records).precision if records else None)
field_recall = common.composite(lambda records: _pooled(records).recall if records else None)
field_f1_donut = common.composite(lambda records: _pooled(records, "donut_").f1 if records else None)


def _standard_error(
    figure: Callable[[Sequence[Record]], float | None], resamples: int
) -> Callable[[list[Any]], float | None]:
    """The standard error of a composite figure by the clustered bootstrap."""

    def aggregate(items: list[Any]) -> float | None:
        records = [record for record in common.records_of(items) if record.outcome.scored]
        found = interval(records, figure, [record.cluster for record in records], resamples=resamples)
        return found.standard_error if found else None

    return aggregate


# Adding up the counts of all pages takes milliseconds: fewer resamples keep the wait short.
map_standard_error = _standard_error(lambda records: _scores(records).map, 200)
field_standard_error = _standard_error(lambda records: _pooled(records).f1, 1000)
