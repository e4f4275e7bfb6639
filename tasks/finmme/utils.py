"""FinMME (ACL 2025, arXiv 2505.24714): from row to request to record.

The YAML files name hooks as ``<hook>__<variant>``, for instance
``process_results__prompt_a``; `VARIANTS` says how each variant asks.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lmms_eval_finance import prompts
from lmms_eval_finance.data import errata, images, selection, sources
from lmms_eval_finance.data.schemas.finmme import LABEL_COLUMNS
from lmms_eval_finance.metrics import answers, finscore, numbers, outcomes
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.replies import infrastructure_error
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.tasks import common, rescoring
from lmms_eval_finance.tasks.common import Doc

if TYPE_CHECKING:
    import datasets
    from PIL import Image

VERSION = "1"

INSTRUCTIONS = {
    "single_choice": "Exactly one option is right. Choose it.",
    "multiple_choice": "One or more options are right. Choose every option that is right and no other.",
    "numerical": "The answer is a number.",
}
ANSWER_FORMS = {
    "single_choice": "X, where X is the letter of the option",
    "multiple_choice": "X, where X is the letters of the options, separated by commas",
    "numerical": "X, where X is a plain number without its unit",
}

_OPTION = re.compile(r"^\s*[(（]?([A-Na-n])\s*[:：.)）、．]\s*(.*)$")
_LETTERS = "ABCDEFGHIJKLMN"


@dataclass(frozen=True)
class Variant:
    """One way of asking: the prompt template, the image's place, the image's preparation.

    `released_image` shrinks the image into 1024 x 1024 and sends it through JPEG at
    quality 80, as the authors' scorer does.
    """

    prompt: str = "finmme"
    image_first: bool = False
    released_image: bool = False

    def doc_to_text(self, doc: Doc) -> str:
        """The prompt of one row."""
        question_type = _question_type(doc)
        return prompts.load(self.prompt).render(
            instruction=INSTRUCTIONS[question_type],
            answer_form=ANSWER_FORMS[question_type],
            caption=_text(doc, "verified_caption"),
            passages=_text(doc, "related_sentences"),
            unit=_text(doc, "unit") if question_type == "numerical" else "",
            question=_text(doc, "question_text"),
            options="" if question_type == "numerical" else _text(doc, "options"),
        )

    def doc_to_visual(self, doc: Doc) -> list[Image.Image]:
        """The row's image, ready for any model."""
        image = images.to_rgb(doc["image"])
        if self.released_image:
            image = images.as_jpeg(images.shrink(image, side=1024), quality=80)
        return [image]

    def doc_to_messages(self, doc: Doc) -> list[dict[str, Any]]:
        """One user turn with text and image in the variant's order."""
        text = {"type": "text", "text": self.doc_to_text(doc)}
        picture = [images.content(image) for image in self.doc_to_visual(doc)]
        return [{"role": "user", "content": [*picture, text] if self.image_first else [text, *picture]}]

    def process_results(self, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
        """The record of one response and the figures that the host aggregates."""
        corrections = errata.load("finmme")
        signature = str(self._signed(corrections))
        return as_metrics(_guarded_record(doc, common.text_of(results[0]), signature, corrections))

    def rescore(self, records: Sequence[Record], corrections: errata.Errata | None) -> list[Record]:
        """The record of one response scored again from what it holds (`tasks.rescoring`)."""
        return [_rescored(record, corrections) for record in records]

    def signature(self) -> Signature:
        """What has to agree before two scores of this task compare."""
        return self._signed(errata.load("finmme"))

    def _signed(self, corrections: errata.Errata) -> Signature:
        return _signature(self, sources.locate("finmme", "train").fingerprint, corrections.version)


@functools.lru_cache(maxsize=64)
def _signature(variant: Variant, data: str, corrections: str) -> Signature:
    template = prompts.load(variant.prompt)
    return Signature.of(
        task="finmme",
        version=VERSION,
        data=data,
        prompt=f"{template.name}@{template.hash}",
        image=f"{'first' if variant.image_first else 'last'}/{'1024-jpeg80' if variant.released_image else 'as-is'}",
        errata=corrections or "no",
    )


VARIANTS = {
    "default": Variant(),
    "prompt_a": Variant(prompt="finmme_a"),
    "prompt_b": Variant(prompt="finmme_b"),
    "prompt_c": Variant(prompt="finmme_c"),
    "image_first": Variant(image_first=True),
    "released_image": Variant(released_image=True),
}


def __getattr__(name: str) -> Any:
    hook, _, variant = name.partition("__")
    if variant not in VARIANTS or hook.startswith("_"):
        raise AttributeError(name)
    return getattr(VARIANTS[variant], hook)


def process_docs(rows: datasets.Dataset) -> datasets.Dataset:
    """The rows the settings ask for."""
    return selection.restrict(rows, list(map(str, rows["id"][:])), "FinMME")


def doc_to_target(doc: Doc) -> str:
    """The gold as released."""
    return _text(doc, "answer")


# -- from response to record -----------------------------------------------------------------------


def record(doc: Doc, response: str, signature: str = "", corrections: errata.Errata | None = None) -> Record:
    """Score one response.

    `score` is 1.0 for an exactly right answer: the same set of letters, or a number
    within the row's absolute tolerance. What the selection scores of FinScore need
    stands in `parts` (`metrics.finscore`). `corrections` spares looking up which errata are in use.
    """
    return common.on_both_golds(
        errata.load("finmme") if corrections is None else corrections,
        "train",
        str(doc["id"]),
        _text(doc, "answer"),
        lambda gold: _scored_on(doc, response, gold, signature),
    )


def _scored_on(doc: Doc, response: str, gold: str, signature: str) -> Record:
    details = _details(doc)
    question_type, tolerance, unit = details["question_type"], details["tolerance"], details["unit"] or None
    options = parse_options(details["options"])
    said = "" if infrastructure_error(response) else response  # an error code is no number
    if question_type == "numerical":
        compared = numbers.compare_numbers(
            gold, said, unit=unit, tolerance=tolerance, context=details["question_text"]
        )
        correct = int(compared.matches)
        number = compared.stated
        readable_gold = bool(correct or numbers.parse_gold_values(gold))
        # A match without one stated number (a range, say) still says what was answered.
        prediction: Any = number.text if number is not None else gold if correct else None
        selected, gold_size = int(prediction is not None), 1
    else:
        gold_letters = answers.parse_gold_letters(gold, options) or frozenset()
        letters = answers.extract_letters(said, options, multiple=question_type == "multiple_choice")
        readable_gold = bool(gold_letters)
        prediction = None if letters is None else sorted(letters)
        correct, selected = len(gold_letters & (letters or frozenset())), len(letters or ())
        gold_size = len(gold_letters)
    exact = correct == gold_size and selected == gold_size
    if not readable_gold:
        outcome = Outcome.GOLD_UNUSABLE
    elif prediction is None:
        outcome = outcomes.of_unreadable(response)
    else:
        outcome = Outcome.CORRECT if exact else Outcome.WRONG
    released = _text(doc, "answer")
    return Record(
        id=str(doc["id"]),
        outcome=outcome,
        score=float(exact) if outcome.scored else None,
        labels=labels(doc),
        cluster=_cluster(doc),
        parts={
            "correct": correct,
            "incorrect": selected - correct,
            "options": len(options),
            "gold_letters": gold_size,
            "released_correct": float(finscore.released_match(said, released, question_type, tolerance)),
            "released_multiple": float(question_type == "multiple_choice" and len(released) > 1),
        },
        gold=gold,
        prediction=prediction,
        response=response,
        signature=signature,
        details=details,
    )


def _details(doc: Doc) -> dict[str, Any]:
    """What scoring takes from a row beside its gold."""
    return {
        "question_type": _question_type(doc),
        "question_text": _text(doc, "question_text"),
        "options": _text(doc, "options"),
        "unit": _text(doc, "unit"),
        "tolerance": float(doc.get("tolerance") or 0.0),
    }


def _rescored(record: Record, corrections: errata.Errata | None) -> Record:
    doc = {**record.details, "id": record.id, "answer": rescoring.released_gold(record)}
    if "question_type" not in doc:
        return record
    response = common.text_of(record.response)
    return rescoring.again(
        record, corrections, "train", lambda gold: _scored_on(doc, response, gold, ""), version=VERSION
    )


def _unscorable(
    doc: Doc, response: str, signature: str = "", corrections: errata.Errata | None = None
) -> Record:
    """The record of an item on which scoring itself failed."""
    return Record(
        id=str(doc["id"]),
        outcome=Outcome.UNREADABLE,
        score=0.0,
        labels=labels(doc),
        cluster=_cluster(doc),
        parts=dict.fromkeys(
            ("correct", "incorrect", "options", "gold_letters", "released_correct", "released_multiple"), 0.0
        ),
        gold=_text(doc, "answer"),
        response=response,
        signature=signature,
        details=_details(doc),
    )


_guarded_record = common.guarded(record, _unscorable)

COMPOSITES = (
    "finscore",
    "finscore_gold_n",
    "domain_score",
    "hallucination_rate",
    "finscore_released",
    "finscore_released_parser",
    "domain_score_released",
    "hallucination_rate_released",
    "average",
    "average_types",
)


def as_metrics(scored: Record) -> dict[str, Any]:
    """What the host gets for one record: the whole record once, and what each figure needs."""
    brief = common.Brief(scored)
    figures: dict[str, Any] = {"accuracy": scored.to_json(), **dict.fromkeys(COMPOSITES, brief)}
    figures |= common.outcome_rates(scored) | common.errata_figures(scored)
    if scored.score is not None:
        values = (scored.labels.get(label) for label in ("question_type", "cognitive_level"))
        figures |= {f"accuracy_{value}": scored.score for value in values if value in _COLUMNS}
    return figures


_COLUMNS = frozenset(finscore.QUESTION_TYPES + finscore.COGNITIVE_LEVELS)


def labels(doc: Doc) -> dict[str, str]:
    """The labels of a row that are present, under the names of `LABEL_COLUMNS`."""
    found = {"question_type": _question_type(doc)}
    if _text(doc, "knowledge_domain"):
        found["knowledge_domain"] = _text(doc, "knowledge_domain")
    for label, candidates in LABEL_COLUMNS.items():
        for name in candidates:
            if doc.get(name):
                value = _text(doc, name)
                found[label] = _cognitive_level(value) if label == "cognitive_level" else value
                break
    return found


def parse_options(text: str) -> dict[str, str]:
    """Letter -> text from the one string that holds a line per option.

    Lines without a letter continue the option before them; when no line has one, the
    lines are lettered in order.

    >>> parse_options("A: Q1\\nB. Foo\\nbar")
    {'A': 'Q1', 'B': 'Foo bar'}
    """
    options: dict[str, str] = {}
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    letter = ""
    for line in lines:
        found = _OPTION.match(line)
        if found and found[1].upper() not in options:
            letter = found[1].upper()
            options[letter] = found[2].strip()
        elif letter:
            options[letter] = f"{options[letter]} {line}".strip()
    return options or dict(zip(_LETTERS, lines, strict=False))


@functools.lru_cache(maxsize=64)
def _cognitive_level(value: str) -> str:
    """The level under the name `metrics.finscore` knows, whatever spelling the release uses."""
    words = value.lower().replace("_", " ").replace("-", " ")
    for level in finscore.COGNITIVE_LEVELS:
        if level.split("_")[0][:6] in words:
            return level
    return value


def _question_type(doc: Doc) -> str:
    """The question type; an unknown one is asked and scored as what its row looks like."""
    question_type = _text(doc, "question_type").lower().replace("-", "_").replace(" ", "_")
    if question_type in finscore.QUESTION_TYPES:
        return question_type
    return "multiple_choice" if _text(doc, "options") else "numerical"


def _cluster(doc: Doc) -> str:
    """Questions on one chart share its caption; without one each question stands alone."""
    return _text(doc, "verified_caption") or str(doc["id"])


def _text(doc: Doc, column: str) -> str:
    value = doc.get(column)
    return "" if value is None else str(value).strip()


# -- the host's aggregations -----------------------------------------------------------------------

accuracy = common.accuracy
mean = common.mean
total = common.total
agg_finscore = common.composite(finscore.finscore)
agg_finscore_gold_n = common.composite(functools.partial(finscore.finscore, n="gold_letters"))
agg_domain_score = common.composite(finscore.domain_score)
agg_hallucination_rate = common.composite(finscore.hallucination_rate)
agg_finscore_released = common.composite(finscore.finscore_released)
agg_finscore_released_parser = common.composite(
    functools.partial(finscore.finscore_released, released_parser=True)
)
agg_domain_score_released = common.composite(finscore.released_domain_score)
agg_hallucination_rate_released = common.composite(finscore.released_hallucination_rate)
agg_average = common.composite(finscore.average)
agg_average_types = common.composite(finscore.average_types)
