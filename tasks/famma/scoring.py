"""From a reply to the records of a doc's sub-questions, and from records to the figures of table 2."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from loguru import logger

from lmms_eval_finance.data import errata
from lmms_eval_finance.data.schemas import famma as schema
from lmms_eval_finance.judging import panel as panels
from lmms_eval_finance.judging.items import JudgeItem, judged_record_fields, resolve
from lmms_eval_finance.metrics import answers, outcomes
from lmms_eval_finance.metrics.masking import unmasked
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Json, Record
from lmms_eval_finance.tasks import common, judged, rescoring
from lmms_eval_finance.tasks.common import Doc
from lmms_eval_finance.tasks.famma.requests import lettered
from lmms_eval_finance.tasks.famma.rows import questions_of

_LANGUAGE_CODES = {"english": "en", "chinese": "zh", "french": "fr"}


Score = Callable[[str], Record]


def _with_errata(split: str, identity: str, released: str, score: Score) -> Record:
    return common.on_both_golds(errata.load("famma"), split, identity, released, score)


@dataclass(frozen=True)
class Scorer:
    """Scores the replies to docs of one split.

    Attributes:
        split: of FAMMA; decides whether golds are masked and which errata apply.
        signature: what has to agree before two scores compare.
        details: goes into every record of the doc (trace, passages).
        ask: gets the votes of language judges.
        on_gold: takes split, id, released gold and a function from gold to record; decides on the gold.
    """

    split: str
    signature: str
    details: Mapping[str, Json]
    ask: judged.Ask = judged.ask_panel
    on_gold: Callable[[str, str, str, Score], Record] = _with_errata

    def records(self, doc: Doc, response: str) -> list[Record]:
        """The records of all sub-questions of a doc; never raises."""
        questions = questions_of(doc)
        replies = answers.read_json_answers(response, [question["key"] for question in questions])
        unanswered = _unanswered(replies, response)

        def record(question: Doc) -> Record:
            try:
                return self._record(question, replies, unanswered, response, doc["context"])
            except Exception as error:
                # A traceback may show the values in hand, which for some splits nobody is to see.
                logger.error(
                    f"scoring failed on {question['question_id']} ({type(error).__name__}); "
                    "it is counted as unreadable"
                )
                return self._finished(
                    Record(question["question_id"], Outcome.UNREADABLE, 0.0), question, response
                )

        if self.ask is not judged.ask_panel or panels.shared_panel() is None or len(questions) == 1:
            return [record(question) for question in questions]
        with ThreadPoolExecutor(len(questions)) as pool:  # judges answer side by side
            return list(pool.map(record, questions))

    def _record(
        self,
        question: Doc,
        replies: answers.JsonAnswers,
        unanswered: Outcome,
        response: str,
        context: str,
    ) -> Record:
        key, released = question["key"], question["answers"]
        answer = replies.answers[key]
        if answer is None and len(replies.answers) == 1 and not replies.truncated:
            answer = response  # a single question answered in prose
        masked = self.split in schema.MASKED_SPLITS
        choice = question["type"] == "multiple_choice"
        item = JudgeItem(
            id=question["question_id"],
            preset="famma_choice" if choice else "famma",
            question=question["question"],
            gold=(unmasked(released) if masked else released).strip(),
            answer=answer or "",
            context=context,
            explanation=replies.explanations.get(key, ""),
            options=tuple(lettered(question["options"])) if choice else (),
            language=_LANGUAGE_CODES.get(question["language"].strip().lower(), "en"),
            question_type="choice" if choice else "open",
            masked=masked,
        )
        settled = unanswered if answer is None else outcomes.without_answer(answer)
        score = _choice_record if choice else _open_record
        if masked:
            record = score(item, settled, self.ask)
            rule = record.details.get("rule")
            shown = (
                {name: value for name, value in rule.items() if name != "reason"}
                if isinstance(rule, dict)
                else {}
            )
            record = replace(
                record, gold=released, reason=record.outcome.value, details={**record.details, "rule": shown}
            )
        else:
            record = self.on_gold(
                self.split,
                item.id,
                item.gold,
                lambda gold: score(replace(item, gold=gold), settled, self.ask),
            )
        matched = {"matched_by": replies.matched_by[key]} if key in replies.matched_by else {}
        return self._finished(replace(record, details={**record.details, **matched}), question, response)

    def _finished(self, record: Record, question: Doc, response: str) -> Record:
        images = {"images": question["image_rows"]} if question["image_rows"] else {}
        return replace(
            record,
            response=response,
            labels=labels(question),
            cluster=question["cluster"],
            signature=self.signature,
            details={**record.details, **images, "key": question["key"], **self.details},
        )


def _unanswered(replies: answers.JsonAnswers, response: str) -> Outcome:
    """The outcome of sub-questions to which a reply gives no answer."""
    if replies.truncated:
        return Outcome.TRUNCATED
    answered = [given is not None for given in replies.answers.values()]
    return Outcome.EMPTY if any(answered) else outcomes.of_unreadable(response)


def _unjudged(item: JudgeItem, outcome: Outcome, reason: str) -> Record:
    return Record(
        item.id,
        outcome,
        0.0 if outcome.scored else None,
        gold=item.gold,
        prediction=item.answer or None,
        reason=reason,
        details=judged_record_fields(item, rule={}),
    )


def _open_record(item: JudgeItem, settled: Outcome | None, ask: judged.Ask) -> Record:
    if not item.gold:
        return _unjudged(item, Outcome.GOLD_UNUSABLE, "no gold")
    if settled is not None:
        return _unjudged(item, settled, settled.value)
    return judged.judged_record(item, item.answer, labels={}, cluster="", ask=ask)


def _choice_record(item: JudgeItem, settled: Outcome | None, ask: judged.Ask) -> Record:
    """The record of a multiple choice: the option by rule and, where judges are set, by their reading too."""
    gold = answers.parse_gold_letters(item.gold, item.options)
    letters = None
    if settled is None:
        letters = answers.extract_letters(item.answer, item.options, multiple=len(gold or "") > 1)
    choice = None if letters is None else "".join(sorted(letters))
    if gold is None:
        why = "the gold names no option" if item.gold else "no gold"
        return replace(_unjudged(item, Outcome.GOLD_UNUSABLE, why), prediction=choice or item.answer or None)
    if settled is not None:
        return _unjudged(item, settled, settled.value)
    rule: dict[str, Json] = {"verdict": "undecided", "reason": "no option can be read", "choice": choice}
    if letters is not None:
        rule |= {
            "verdict": "correct" if letters == gold else "incorrect",
            "reason": "the option's letters compared",
        }
    votes = ask(replace(item, gold="".join(sorted(gold))))
    outcome, score, reason = resolve(rule, [vote.to_json() for vote in votes])
    return Record(
        item.id,
        outcome,
        score,
        gold=item.gold,
        prediction=choice or item.answer,
        reason=reason,
        details=judged_record_fields(item, rule=rule, votes=votes),
    )


# -- saved records -----------------------------------------------------------------------------------


def doc_of(records: Sequence[Record]) -> dict[str, str]:
    """As much of a doc as scoring takes, from the records of all its sub-questions."""
    questions = [_question_of(record) for record in records]
    context = str(records[0].details.get("context", ""))
    return {"context": context, "questions": json.dumps(questions, ensure_ascii=False)}


def _question_of(record: Record) -> dict[str, Any]:
    details, known = record.details, record.labels
    return {
        "question_id": record.id,
        "key": details["key"],
        "question": details["question"],
        "answers": rescoring.released_gold(record),
        "options": details.get("options", []),
        "type": known["question_type"],
        "topic_difficulty": known.get("difficulty", ""),
        "arithmetic": known.get("arithmetic") == "yes",
        **{name: known.get(name, "") for name in ("language", "subfield", "image_type")},
        "cluster": record.cluster,
        "image_rows": details.get("images", []),
    }


# -- figures -----------------------------------------------------------------------------------------


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
    return {name: str(value).strip().lower() for name, value in found.items() if value.strip()}


_COLUMNS = frozenset(
    [
        *schema.LANGUAGES,
        *schema.DIFFICULTIES,
        "multiple_choice",
        "open",
        *(f"{language}_{difficulty}" for language in schema.LANGUAGES for difficulty in schema.DIFFICULTIES),
    ]
)


def figures(record: Record) -> dict[str, Any]:
    """What the host gets for one record: accuracy overall and under each label of table 2."""
    found: dict[str, Any] = {"accuracy": record.to_json(), "standard_error": common.Brief(record)}
    found |= common.outcome_rates(record, judged.RATED) | common.errata_figures(record)
    if record.score is None:
        return found
    language, difficulty = record.labels.get("language"), record.labels.get("difficulty")
    names = [language, difficulty, record.labels["question_type"], f"{language}_{difficulty}"]
    return found | {f"accuracy_{name}": record.score for name in names if name in _COLUMNS}


def grouped_figures(records: Sequence[Record]) -> dict[str, Any]:
    """The figures of all sub-questions of one doc."""
    return common.grouped([figures(record) for record in records])
