"""FAMMA (arXiv 2410.04526): from row to request to records.

The YAML files name hooks as ``<hook>__<split>``, for instance
``process_results__release_basic_txt``; ``process_docs`` and ``process_singles`` decide
whether a doc is a context with all its sub-questions or one question.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lmms_eval_finance import prompts
from lmms_eval_finance.data import images, sources
from lmms_eval_finance.data.schemas import famma as schema
from lmms_eval_finance.judging import panel as panels
from lmms_eval_finance.judging.items import JudgeItem, judged_record_fields, resolve
from lmms_eval_finance.metrics import answers, outcomes
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Json, Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.tasks import common, judged
from lmms_eval_finance.tasks.common import Doc
from lmms_eval_finance.tasks.famma import rows as famma_rows
from lmms_eval_finance.tasks.famma.rows import questions_of

if TYPE_CHECKING:
    from PIL import Image

VERSION = "1"
LANGUAGE_CODES = {"english": "en", "chinese": "zh", "french": "fr"}

_PLACEHOLDER = re.compile(r"<image_(\d)>", re.IGNORECASE)
_TYPE_NAMES = {"multiple_choice": "multiple choice", "open": "open question"}

process_docs = famma_rows.contexts
process_singles = famma_rows.singles


@dataclass(frozen=True)
class Variant:
    """One split asked with the standard prompt; `ask` says whether docs are contexts or questions."""

    split: str
    ask: str = "context"

    # -- requests -------------------------------------------------------------------------------

    def prompt(self, doc: Doc) -> str:
        """The whole request, with a mark (`_mark`) at the place of each image."""
        questions = questions_of(dict(doc))
        # The context belongs to all: a later sub-question may bring an image that it mentions.
        shared = {
            number: index for question in reversed(questions) for number, index in question["images"].items()
        }
        return prompts.load("famma").render(
            context=_marked(doc["context"], shared),
            questions="\n\n".join(map(_question_text, questions)),
            keys=", ".join(f'"{key_of(question)}"' for question in questions),
            language=questions[0]["language"].capitalize(),
        )

    def doc_to_text(self, doc: Doc) -> str:
        """The request as one text; images stand beside it and are referred to by number."""
        return "".join(part if isinstance(part, str) else f"[image {part + 1}]" for part in self._parts(doc))

    def doc_to_visual(self, doc: Doc) -> list[Image.Image]:
        """The doc's images in the order of their numbers, each once."""
        stored = doc.get("images") or []
        return [images.to_rgb(stored[index]) for index in self._image_order(doc)]

    def doc_to_messages(self, doc: Doc) -> list[dict[str, Any]]:
        """One user turn with each image at the place where the text mentions it.

        Images that are never mentioned come first, in order.
        """
        pictures = [images.content(image) for image in self.doc_to_visual(doc)]
        parts = self._parts(doc)
        mentioned = {part for part in parts if isinstance(part, int)}
        content = [picture for number, picture in enumerate(pictures) if number not in mentioned]
        shown: set[int] = set()
        for part in parts:
            if isinstance(part, str):
                if part.strip():
                    content.append({"type": "text", "text": part})
            elif part in shown:
                content.append({"type": "text", "text": f"[image {part + 1}, shown above]"})
            else:
                shown.add(part)
                content.append(pictures[part])
        return [{"role": "user", "content": content}]

    def _image_order(self, doc: Doc) -> list[int]:
        """Indices into the doc's images in the order of their numbers: unmentioned first, then by mention."""
        mentions = [part for part in _split(self.prompt(doc)) if isinstance(part, int)]
        first_mentions = list(dict.fromkeys(mentions))
        rest = [index for index in range(len(doc.get("images") or [])) if index not in first_mentions]
        return rest + first_mentions

    def _parts(self, doc: Doc) -> list[str | int]:
        """The request split at its placeholders; images as their number from 0."""
        numbers = {index: number for number, index in enumerate(self._image_order(doc))}
        return [part if isinstance(part, str) else numbers[part] for part in _split(self.prompt(doc))]

    # -- records --------------------------------------------------------------------------------

    def process_results(self, doc: Doc, results: Sequence[Any]) -> dict[str, Any]:
        """The records of all sub-questions of one doc and the figures that the host aggregates."""
        response = common.text_of(results[0])
        questions = questions_of(dict(doc))
        replies = answers.read_json_answers(response, [key_of(question) for question in questions])
        records = [_guarded(self, question, replies, response, doc["context"]) for question in questions]
        return common.grouped([figures(record) for record in records])

    def record(self, question: Doc, replies: answers.JsonAnswers, response: str, context: str) -> Record:
        """Score one sub-question."""
        key = key_of(question)
        answer = replies.answers[key]
        if answer is None and len(replies.answers) == 1 and not replies.truncated:
            answer = response  # a single question answered in prose
        choice = question["type"] == "multiple_choice"
        released = question["answers"] or ""
        gold = schema.unmasked(released) if self.split in schema.MASKED_SPLITS else released
        item = JudgeItem(
            id=question["question_id"],
            preset="famma_choice" if choice else "famma",
            question=question["question"] or "",
            gold=gold.strip(),
            answer=answer or "",
            context=context,
            explanation=replies.explanations.get(key, ""),
            options=tuple(lettered(question["options"])),
            language=LANGUAGE_CODES.get(question["language"].lower(), "en"),
            question_type="choice" if choice else "open",
        )
        settled = _settled(item, answer, replies.truncated, response)
        if settled is None:
            record = (
                _choice_record(item)
                if choice
                else judged.judged_record(item, answer or "", labels={}, cluster="")
            )
        else:
            record = Record(
                id=item.id,
                outcome=settled,
                score=0.0 if settled.scored else None,
                gold=item.gold,
                prediction=answer,
                reason=settled.value,
                details=judged_record_fields(item, rule={}),
            )
        if self.split in schema.MASKED_SPLITS:
            record = _masked(record, released)
        return replace(
            record,
            response=response,
            labels=labels(question),
            cluster=question["question_id"].rsplit("_", 2)[0],
            signature=str(self.signature()),
            details={**record.details, "matched_by": replies.matched_by.get(key, "")},
        )

    def signature(self) -> Signature:
        """What has to agree before two scores of this task compare."""
        judges = "+".join(
            dict.fromkeys((judged.judge_signature("famma"), judged.judge_signature("famma_choice")))
        )
        return _signature(self, sources.locate("famma", self.split).fingerprint, judges)


@functools.lru_cache(maxsize=64)
def _signature(variant: Variant, data: str, judges: str) -> Signature:
    template = prompts.load("famma")
    return Signature.of(
        task=f"famma_{variant.split}",
        version=VERSION,
        data=data,
        prompt=f"{template.name}@{template.hash}",
        ask=variant.ask,
        judge=judges,
    )


VARIANTS = {
    **{split: Variant(split) for split in schema.BENCHMARK.splits},
    "single": Variant("release_basic", ask="question"),
}


def __getattr__(name: str) -> Any:
    hook, _, variant = name.partition("__")
    if variant not in VARIANTS or hook.startswith("_"):
        raise AttributeError(name)
    return getattr(VARIANTS[variant], hook)


def _unscorable(
    variant: Variant, question: Doc, replies: answers.JsonAnswers, response: str, context: str
) -> Record:
    """The record of an answer on which scoring itself failed."""
    return Record(
        id=question["question_id"],
        outcome=Outcome.UNREADABLE,
        score=0.0,
        labels=labels(question),
        cluster=question["question_id"].rsplit("_", 2)[0],
        response=response,
    )


_guarded = common.guarded(Variant.record, _unscorable)


def _settled(item: JudgeItem, answer: str | None, truncated: bool, response: str) -> Outcome | None:
    """The outcome of a sub-question that nobody has to judge; None if somebody has to."""
    if not item.gold:
        return Outcome.GOLD_UNUSABLE
    if answer is None:
        return Outcome.TRUNCATED if truncated else outcomes.of_unreadable(response)
    return outcomes.without_answer(answer)


def _choice_record(item: JudgeItem) -> Record:
    """The record of a multiple choice: the option by rule and, where judges are set, by their reading too."""
    options = {option[0]: option[2:].strip() for option in item.options}
    gold = answers.parse_gold_letters(item.gold, options)
    letters = answers.extract_letters(item.answer, options, multiple=len(gold or "") > 1)
    rule: dict[str, Json] = {"verdict": "undecided", "reason": "no option can be read", "choice": None}
    if letters is not None:
        right = letters == gold
        rule = {
            "verdict": "correct" if right else "incorrect",
            "reason": "the option's letters compared",
            "choice": "".join(sorted(letters)),
        }
    panel = panels.shared_panel()
    votes = panels.judge_items([item], panel)[0] if panel else []
    if gold is None:
        outcome, score, reason = Outcome.GOLD_UNUSABLE, None, "the gold names no option"
    else:
        outcome, score, reason = resolve(rule, [vote.to_json() for vote in votes])
    return Record(
        id=item.id,
        outcome=outcome,
        score=score,
        gold=item.gold,
        prediction=item.answer if letters is None else "".join(sorted(letters)),
        reason=reason,
        details=judged_record_fields(item, rule=rule, votes=votes),
    )


def _masked(record: Record, released: str) -> Record:
    """The record with the gold as released (masked) and nothing that tells it in clear."""
    hidden = {name: value for name, value in record.details.items() if name != "rule"}
    rule = record.details.get("rule")
    if isinstance(rule, dict):
        hidden["rule"] = {name: value for name, value in rule.items() if name != "reason"}
    return replace(record, gold=released, reason=record.outcome.value, details=hidden)


def labels(question: Doc) -> dict[str, str]:
    """What a sub-question is counted under; labels the release leaves empty are absent."""
    found = {
        "language": question["language"],
        "difficulty": question["topic_difficulty"],
        "question_type": question["type"],
        "subfield": question["subfield"],
        "image_type": question["image_type"],
        "arithmetic": "yes" if question["arithmetic"] else "no",
    }
    return {name: str(value).strip().lower() for name, value in found.items() if value}


def figures(record: Record) -> dict[str, Any]:
    """What the host gets for one record: accuracy overall and under each label of table 2."""
    found: dict[str, Any] = {"accuracy": record.to_json(), "standard_error": {"record": record.brief()}}
    found |= common.outcome_rates(record, judged.RATED)
    if record.score is None:
        return found
    language, difficulty = record.labels.get("language"), record.labels.get("difficulty")
    names = [language, difficulty, record.labels["question_type"]]
    if language and difficulty:
        names.append(f"{language}_{difficulty}")
    return found | {f"accuracy_{name}": record.score for name in names if name in _COLUMNS}


_COLUMNS = frozenset(
    [
        *schema.LANGUAGES,
        *schema.DIFFICULTIES,
        "multiple_choice",
        "open",
        *(f"{language}_{difficulty}" for language in schema.LANGUAGES for difficulty in schema.DIFFICULTIES),
    ]
)


def doc_to_target(doc: Doc) -> str:
    """The golds as released, in order; masked ones stay masked."""
    return "\n".join(str(question["answers"] or "") for question in questions_of(dict(doc)))


accuracy = common.accuracy
standard_error = common.standard_error
mean = common.mean


# -- texts ---------------------------------------------------------------------------------------


def key_of(question: Mapping[str, Any]) -> str:
    """The key under which the answer to a sub-question is asked for."""
    return f"q{question['sub']}"


def lettered(options: Sequence[str]) -> list[str]:
    """Options with their letters; those that carry them already stay as they are.

    >>> lettered(["Fixed", "Floating"]), lettered(["A. Fixed", "B) Floating"])
    (['A. Fixed', 'B. Floating'], ['A. Fixed', 'B) Floating'])
    """
    marked = [
        re.match(rf"\s*[(]?{letter}\s*[.):、．：]", option)
        for letter, option in zip(_LETTERS, options, strict=False)
    ]
    if options and all(marked):
        return [option.strip() for option in options]
    return [f"{letter}. {option.strip()}" for letter, option in zip(_LETTERS, options, strict=False)]


_LETTERS = "ABCDEFGHIJ"


def _question_text(question: Mapping[str, Any]) -> str:
    head = f"Question {key_of(question)} ({_TYPE_NAMES[question['type']]}):"
    options = lettered(question["options"]) if question["type"] == "multiple_choice" else []
    text = "\n".join([head, question["question"] or "", *options])
    return _marked(text, question["images"])


def _mark(index: int) -> str:
    """Stands for an image in a request; no text of the data or of a template holds NUL."""
    return f"\0{index}\0"


def _marked(text: str, numbered: Mapping[str, int]) -> str:
    """The text with a mark for each placeholder that has an image; others stay as text."""
    return _PLACEHOLDER.sub(
        lambda found: _mark(numbered[found[1]]) if found[1] in numbered else found[0], text.replace("\0", "")
    )


def _split(text: str) -> list[str | int]:
    """The pieces of a marked text: texts and indices of images, in order."""
    return [int(piece) if place % 2 else piece for place, piece in enumerate(text.split("\0"))]
