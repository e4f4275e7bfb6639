"""From a response to the record of one item: letters, short answers, boxes, texts, tables, formulas, fields.

Each function takes the doc, the response, the gold as text and the signature. The record's
`score` is what the task's first metric averages; what its composite metrics need stands in
`parts`, what re-scoring needs beyond `gold` and `response` in `details`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from lmms_eval_finance.data.schemas import cfmme as schema
from lmms_eval_finance.judging.items import JudgeItem
from lmms_eval_finance.metrics import answers, formula, outcomes, table
from lmms_eval_finance.metrics.detection import (
    Box,
    MatchCounts,
    count_matches,
    parse_boxes,
    scores_from_counts,
)
from lmms_eval_finance.metrics.fields import FieldCounts, count_fields
from lmms_eval_finance.metrics.json_reading import find_json, read_json_object
from lmms_eval_finance.metrics.normalise import strip_reasoning
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Json, Record
from lmms_eval_finance.metrics.replies import infrastructure_error
from lmms_eval_finance.metrics.text import evened, ned_similarity
from lmms_eval_finance.metrics.transcript import transcribed
from lmms_eval_finance.tasks import judged
from lmms_eval_finance.tasks.cfmme import coordinates
from lmms_eval_finance.tasks.common import Doc

_CJK = ("\u3400", "\u9fff")


def labels(doc: Doc) -> dict[str, str]:
    """What every item is counted under, as far as it is known."""
    found = {name: str(doc[name]) for name in ("subset", "image_type") if doc.get(name)}
    if doc.get("image_count"):
        found["images"] = "single" if doc["image_count"] == 1 else "multiple"
    return found


def _record(doc: Doc, response: str, gold: Json, signature: str, **more: Any) -> Record:
    more = {"labels": labels(doc), **more}
    return Record(
        id=str(doc["id"]),
        cluster=str(doc.get("cluster") or doc["id"]),
        gold=gold,
        response=response,
        signature=signature,
        **more,
    )


def _graded(score: float, settled: Outcome | None) -> tuple[Outcome, float]:
    """Outcome and score of a similarity in [0, 1]; 0 for a response that says nothing."""
    if settled is not None:
        return settled, 0.0
    return (Outcome.CORRECT if score == 1.0 else Outcome.PARTIAL if score else Outcome.WRONG), score


def _settled(response: str, *, answered: bool) -> Outcome | None:
    """What settles a response without a look at the gold; nothing does where it holds an answer.

    A message that a request failed holds none, whatever its form: HTML, JSON, a bracket.
    """
    return None if answered and not infrastructure_error(response) else outcomes.without_answer(response)


def doc_of(record: Record) -> dict[str, Any]:
    """As much of a record's row as scoring takes, as far as the record holds it.

    The gold is that which the record was scored on, as text.
    """
    details = record.details
    doc: dict[str, Any] = {"id": record.id, "cluster": record.cluster, "gold": _gold_text(record)}
    if "page" in details:
        return {**doc, "page": json.dumps(details["page"])}
    if "question" in details:
        options = details.get("options")
        shown = list(options.values()) if isinstance(options, dict) else []
        if record.labels.get("options") == "images":
            shown = [int(str(name).removeprefix("image ")) - 1 for name in shown]
        return {
            **doc,
            "task": "qa",
            "question": details["question"],
            "options": shown,
            "question_type": record.labels.get("question_type"),
        }
    return {**doc, "keys": details["keys"]} if "keys" in details else doc


def _gold_text(record: Record) -> str:
    if isinstance(record.gold, (dict, list)):
        unusable = record.outcome is Outcome.GOLD_UNUSABLE and not record.gold
        return "" if unusable else json.dumps(record.gold, ensure_ascii=False)
    return "" if record.gold is None else str(record.gold)


# -- questions ---------------------------------------------------------------------------------------


def lettered(doc: Doc) -> dict[str, str]:
    """Letter -> option as the prompt shows it; an option that is an image goes by its number from 1.

    >>> lettered({"options": ["5%", "6%"]}), lettered({"options": [1, 2]})
    ({'A': '5%', 'B': '6%'}, {'A': 'image 2', 'B': 'image 3'})
    """
    options = schema.choices(doc)
    shown = (f"image {option + 1}" if isinstance(option, int) else option.strip() for option in options)
    return dict(zip(schema.LETTERS, shown, strict=False))


def letters_as_number(letters: Iterable[str] | None) -> float:
    """A set of letters as one number, for `Record.parts`: a bit per letter, -1 for None.

    >>> letters_as_number("AC"), letters_of(5.0), letters_as_number(None), letters_of(-1.0)
    (5.0, ['A', 'C'], -1.0, None)
    """
    return (
        -1.0 if letters is None else float(sum(1 << schema.LETTERS.index(letter) for letter in set(letters)))
    )


def letters_of(number: float) -> list[str] | None:
    """Read `letters_as_number` back."""
    if number < 0:
        return None
    return [letter for place, letter in enumerate(schema.LETTERS) if int(number) >> place & 1]


def gold_letters(gold: str, options: Mapping[str, str]) -> frozenset[str]:
    """The letters of a gold answer; empty where it names no option."""
    said = schema.truth(gold)
    truths = {schema.truth(text): letter for letter, text in options.items()}
    if said is not None and len(options) == 2 and said in truths:
        return frozenset(truths[said])
    found = answers.parse_gold_letters(gold, options) or frozenset()
    return frozenset(found) if set(found) <= set(options) else frozenset()


def question(
    doc: Doc, response: str, gold: str, signature: str, ask: judged.Ask = judged.ask_panel
) -> Record:
    """A question with options by its letters, one without by the rules and, where set, by judges."""
    return (
        _choice(doc, response, gold, signature)
        if schema.choices(doc)
        else _open(doc, response, gold, signature, ask)
    )


def _choice(doc: Doc, response: str, gold: str, signature: str) -> Record:
    options, kind = lettered(doc), schema.question_type(doc)
    right = gold_letters(gold, options)
    multiple = kind not in ("single_choice", "true_false")
    failed = infrastructure_error(response)
    read = None if failed else answers.extract_letters(response, options, multiple=multiple)
    if not right:
        outcome = Outcome.GOLD_UNUSABLE
    elif read is None:
        outcome = outcomes.of_unreadable(response)
    else:
        outcome = Outcome.CORRECT if read == right else Outcome.WRONG
    as_images = any(isinstance(option, int) for option in schema.choices(doc))
    return _record(
        doc,
        response,
        gold,
        signature,
        outcome=outcome,
        score=float(outcome is Outcome.CORRECT) if outcome.scored else None,
        labels={
            "question_type": kind,
            "answers": "multiple" if len(right) > 1 else "single",
            "options": "images" if as_images else "texts",
            **labels(doc),
        },
        parts={"gold_letters": letters_as_number(right), "read_letters": letters_as_number(read)},
        prediction=None if read is None else "".join(sorted(read)),
        details={"question": doc["question"], "options": dict(options), "multiple": multiple},
    )


def _open(doc: Doc, response: str, gold: str, signature: str, ask: judged.Ask) -> Record:
    return judged.judged_record(
        JudgeItem(
            id=str(doc["id"]),
            preset="cfmme",
            question=doc["question"],
            gold=gold,
            answer=strip_reasoning(response).strip(),
            language="zh",
        ),
        response,
        labels={"question_type": "open", **labels(doc)},
        cluster=str(doc.get("cluster") or doc["id"]),
        signature=signature,
        ask=ask,
    )


# -- seals -------------------------------------------------------------------------------------------


def page_size(doc: Doc) -> tuple[int, int]:
    """Width and height of the page in pixels, from the column that `rows.prepared` adds."""
    width, height = json.loads(doc["page"])
    return width, height


def as_boxes(rows: Iterable[Mapping[str, Any]]) -> list[Box]:
    """Boxes from the form in which golds and records hold them; null edges become NaN."""
    return [
        Box(tuple(math.nan if edge is None else float(edge) for edge in row["bbox"]), row["label"])  # type: ignore[arg-type]
        for row in rows
    ]


def _as_rows(boxes: Iterable[Box]) -> list[Json]:
    return [{"bbox": _edges(box), "label": box.label} for box in boxes]


def _edges(box: Box) -> list[Json]:
    return [edge if math.isfinite(edge) else None for edge in box.xyxy]


def seal_boxes(
    doc: Doc,
    response: str,
    gold: str,
    signature: str,
    convention: coordinates.Coordinates | None = None,
) -> Record:
    """Boxes; the score of one page is its F1 averaged over the IoU thresholds .5 to .95."""
    page, convention = page_size(doc), convention or coordinates.in_use()
    stated = parse_boxes(response, image_size=page, convention="absolute")
    boxes, read_as = convention.in_pixels(stated, page)
    answered = bool(stated) or next(find_json(response), None) is not None
    settled = _settled(response, answered=answered)
    expected: list[Any] = schema.nested(gold) if gold else []
    counts = count_matches(as_boxes(expected), boxes)
    outcome, score = _graded(scores_from_counts([counts]).f1 or 0.0, settled)
    if outcome is Outcome.WRONG and not answered:
        outcome = outcomes.of_unreadable(response)
    if not gold:
        outcome, counts = Outcome.GOLD_UNUSABLE, MatchCounts()
    return _record(
        doc,
        response,
        expected,
        signature,
        outcome=outcome,
        score=score if outcome.scored else None,
        parts=counts.to_parts(),
        prediction=_as_rows(boxes),
        details={
            "coordinates": str(convention),
            "read_as": read_as,
            "page": list(page),
            "stated": [_edges(box) for box in stated],
        },
    )


def seal_text(doc: Doc, response: str, gold: str, signature: str) -> Record:
    """1-NED of the text of a seal."""
    # A gold that itself looks wrapped must still equal its own echo.
    text = response if evened(response) == evened(gold) else transcribed(response)
    similarity = ned_similarity(gold, text)
    outcome, score = _graded(similarity, None if similarity == 1.0 else outcomes.without_answer(response))
    if not gold.strip():
        outcome = Outcome.GOLD_UNUSABLE
    return _record(
        doc,
        response,
        gold,
        signature,
        outcome=outcome,
        score=score if outcome.scored else None,
        prediction=text,
    )


# -- tables and formulas -----------------------------------------------------------------------------


_TEDS: tuple[tuple[str, bool, table.Variant], ...] = (
    ("teds", False, "default"),
    ("s_teds", True, "default"),
    ("teds_pubtabnet", False, "pubtabnet"),
    ("s_teds_pubtabnet", True, "pubtabnet"),
)


def table_html(doc: Doc, response: str, gold: str, signature: str) -> Record:
    """TEDS of a table; S-TEDS and the values of the common port stand in `parts`."""
    answered = "<t" in response.lower() or "|" in response
    settled = _settled(response, answered=answered)
    parts: dict[str, float] = {}
    failed: dict[str, Outcome] = {}
    for name, structure_only, variant in _TEDS:
        try:
            value = table.teds(gold, response, structure_only=structure_only, variant=variant)
        except table.TedsLimit as limit:
            value, failed[name] = 0.0, limit.outcome
        parts[name] = value if settled is None else 0.0
    outcome, score = _graded(parts["teds"], settled)
    if outcome is Outcome.WRONG and not answered:
        outcome = outcomes.of_unreadable(response)
    outcome = failed.get("teds", outcome)
    return _record(
        doc,
        response,
        gold,
        signature,
        outcome=outcome,
        score=score if outcome.scored else None,
        parts=parts,
    )


def formula_latex(doc: Doc, response: str, gold: str, signature: str) -> Record:
    """CDM of a formula; exact match and the values of the released implementation's rules in `parts`."""
    text = strip_reasoning(response)
    default = formula.cdm(gold, text)
    reference = formula.cdm(gold, text, variant="reference")
    settled = None if default.exact else outcomes.without_answer(response)
    outcome = settled if settled is not None and default.outcome.scored else default.outcome
    says = settled is None
    return _record(
        doc,
        response,
        gold,
        signature,
        outcome=outcome,
        score=(default.f1 or 0.0) * says if outcome.scored else None,
        labels={
            "script": "chinese" if any(_CJK[0] <= character <= _CJK[1] for character in gold) else "symbols",
            **labels(doc),
        },
        parts={
            "exact": float(default.exact and says),
            "cdm_reference": (reference.f1 or 0.0) * says,
            "exact_reference": float(reference.exact and says),
        },
        prediction=text.strip(),
    )


# -- documents ---------------------------------------------------------------------------------------


def document_fields(doc: Doc, response: str, gold: str, signature: str) -> Record:
    """Fields of a document; the score of one document is its own F1."""
    expected: Any = schema.nested(gold) if gold else {}
    keys = schema.nested(doc.get("keys"))
    read = read_json_object(response)
    counts = count_fields(expected, read, keys)
    donut = count_fields(expected, read, keys, variant="donut")
    outcome, score = _graded(counts.f1, _settled(response, answered=read is not None))
    if outcome is Outcome.WRONG and read is None:
        outcome = outcomes.of_unreadable(response)
    if counts.over_limit:
        outcome, score = Outcome.TIMED_OUT, 0.0
    if not expected:
        outcome, counts, donut = Outcome.GOLD_UNUSABLE, FieldCounts(), FieldCounts()
    return _record(
        doc,
        response,
        expected,
        signature,
        outcome=outcome,
        score=score if outcome.scored else None,
        labels={"extraction": "open" if keys is None else "constrained", **labels(doc)},
        parts={
            "matched": counts.matched,
            "gold": counts.gold,
            "predicted": counts.predicted,
            "donut_matched": donut.matched,
            "donut_gold": donut.gold,
            "donut_predicted": donut.predicted,
        },
        prediction=_plain(read),
        details={"keys": keys},
    )


def _plain(value: Any) -> Json:
    """The value with numbers that JSON does not know as text."""
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
