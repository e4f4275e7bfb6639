"""What is judged, what judges said, and how an outcome follows: the convention of judged records.

A task whose answers are judged writes records (`metrics.records.Record`) in which

- `gold` is the gold answer and `prediction` the answer as read from the response (a text), and
- `details` holds the fields that `judged_record_fields` returns::

    judge_preset    famma | famma_choice | mfe | cfmme: the prompt that language judges get
    question        the question's text
    question_type   open | yes_no | true_false | choice
    language        en | fr | zh, of the question
    rule            {"verdict": "correct" | "incorrect" | "undecided", "reason": text}, from the rule
                    judge; for choice also "choice": the letters read, such as "B" or "AC" (None: none)
    votes           list of `Vote.to_json()`, one for each language judge; empty where none is set
    context?        what the question refers to
    options?        list of texts with their letters ("A. Fixed")
    unit?           the unit of the answer
    explanation?    the model's own explanation, for judges that see it
    answer?         the text that judges are shown where it is not `prediction`, such as the raw reply
                    of a choice that the rule could not read
    gold_masked?    true where `gold` is base64 text as released: judges get it in clear, records,
                    rule reasons and votes never show it
    images?         ids of the data rows whose images the review shows; default: the record's own id
    review?         why a person should look at the item, where the task itself knows

`resolve` turns rule verdict, votes and a person's decision into outcome and score.
Whether a record is judged at all shows in the key `judge_preset`; answers whose outcome is
settled without a judge (empty, refused, timed out, gold_unusable ...) are never sent to one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmms_eval_finance import settings
from lmms_eval_finance.metrics.masking import unmasked
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Json, Record

JUDGEABLE = frozenset(
    {
        Outcome.CORRECT,
        Outcome.PARTIAL,
        Outcome.WRONG,
        Outcome.UNREADABLE,
        Outcome.UNDECIDED,
        Outcome.JUDGE_FAILED,
    }
)
"""Outcomes that a judge or a person may change."""

CORRECT, INCORRECT, UNDECIDED = "correct", "incorrect", "undecided"
_OPTIONAL = ("context", "unit", "explanation", "answer")


@dataclass(frozen=True)
class JudgeItem:
    """One answer to be judged.

    Attributes:
        id: unique among the items of one call.
        preset: names the prompt and the way its reply is read (`panel.PRESETS`).
        question, gold, answer: texts; `answer` is what the model said.
        context, explanation, unit, options: shown to judges whose prompt has a place for them.
        language: of the question, en | fr | zh.
        question_type: open | yes_no | true_false | choice.
        masked: the benchmark masks its golds: `gold` is in clear here, and what a judge replied is not kept.
    """

    id: str
    preset: str
    question: str
    gold: str
    answer: str
    context: str = ""
    explanation: str = ""
    unit: str = ""
    options: tuple[str, ...] = ()
    language: str = "en"
    question_type: str = "open"
    masked: bool = False

    @classmethod
    def from_record(cls, record: Record) -> JudgeItem | None:
        """The item of a judged record; None for a record that no judge is to see.

        >>> details = {"judge_preset": "mfe", "question": "Which currency?"}
        >>> record = Record("1", Outcome.UNDECIDED, 0.0, gold="EUR", prediction="euro", details=details)
        >>> JudgeItem.from_record(record).answer
        'euro'
        """
        details = record.details
        preset = details.get("judge_preset")
        if not isinstance(preset, str) or record.outcome not in JUDGEABLE:
            return None
        options = details.get("options")
        masked = details.get("gold_masked") is True
        return cls(
            id=record.id,
            preset=preset,
            question=as_text(details.get("question")),
            gold=unmasked(as_text(record.gold)) if masked else as_text(record.gold),
            answer=as_text(details.get("answer", record.prediction)),
            context=as_text(details.get("context")),
            explanation=as_text(details.get("explanation")),
            unit=as_text(details.get("unit")),
            options=tuple(as_text(option) for option in options) if isinstance(options, list) else (),
            language=as_text(details.get("language", "en")),
            question_type=as_text(details.get("question_type", "open")),
            masked=masked,
        )


@dataclass(frozen=True)
class Vote:
    """What one language judge said about one item.

    Attributes:
        judge: its name in judges.toml.
        verdict: right, wrong, or None when the judge failed.
        reason: why there is no verdict; empty otherwise.
        reply: what the judge wrote, shortened.
        choice: for presets that read an option instead of a verdict, its letters ("" for none);
            None for all others.
    """

    judge: str
    verdict: bool | None
    reason: str = ""
    reply: str = ""
    choice: str | None = None

    def to_json(self) -> dict[str, Json]:
        """Plain JSON, without the fields that say nothing."""
        vote: dict[str, Json] = {"judge": self.judge, "verdict": self.verdict}
        if self.reason:
            vote["reason"] = self.reason
        if self.reply:
            vote["reply"] = self.reply
        if self.choice is not None:
            vote["choice"] = self.choice
        return vote

    @classmethod
    def from_json(cls, vote: Mapping[str, Any]) -> Vote:
        """Read `to_json` back; what is no vote fails as one.

        >>> Vote.from_json({"judge": "a", "verdict": True}) == Vote("a", True)
        True
        """
        verdict, choice = vote.get("verdict"), vote.get("choice")
        return cls(
            judge=as_text(vote.get("judge")),
            verdict=verdict if isinstance(verdict, bool) else None,
            reason=as_text(vote.get("reason")),
            reply=as_text(vote.get("reply")),
            choice=choice if isinstance(choice, str) else None,
        )


def judged_record_fields(
    item: JudgeItem,
    *,
    rule: Mapping[str, Json],
    votes: Sequence[Vote] = (),
    images: Sequence[str] = (),
    review: str = "",
) -> dict[str, Json]:
    """The `details` of a judged record, so that it can be judged, reviewed and re-scored later.

    >>> item = JudgeItem("1", "mfe", "Which currency?", "EUR", "euro", language="fr")
    >>> fields = judged_record_fields(item, rule={"verdict": "correct", "reason": "same currency"})
    >>> sorted(fields)
    ['answer', 'judge_preset', 'language', 'question', 'question_type', 'rule', 'votes']
    """
    fields: dict[str, Json] = {
        "judge_preset": item.preset,
        "question": item.question,
        "question_type": item.question_type,
        "language": item.language,
        "rule": dict(rule),
        "votes": [vote.to_json() for vote in votes],
    }
    fields.update({name: getattr(item, name) for name in _OPTIONAL if getattr(item, name)})
    if item.options:
        fields["options"] = list(item.options)
    if item.masked:
        fields["gold_masked"] = True
    if images:
        fields["images"] = list(images)
    if review:
        fields["review"] = review
    return fields


def majority(votes: Sequence[Mapping[str, Any]]) -> bool | None:
    """The verdict of more than half of all judges that were asked; None for a tie or too many failures.

    >>> majority([{"verdict": True}, {"verdict": True}, {"verdict": None}])
    True
    >>> majority([{"verdict": True}, {"verdict": False}]) is None
    True
    """
    for verdict in (True, False):
        if 2 * sum(vote.get("verdict") is verdict for vote in votes) > len(votes):
            return verdict
    return None


def resolve(
    rule: Mapping[str, Any] | None,
    votes: Sequence[Mapping[str, Any]] = (),
    review: str | None = None,
) -> tuple[Outcome, float | None, str]:
    """Outcome, score and reason of a judged item: a person before the judges before the rule.

    Where language judges only read which option an answer names (`Vote.choice`), the rule's own
    reading stands as far as there is one, and theirs fills its gaps.

    Args:
        rule: `verdict` and `reason` of the rule judge, None where it was not asked.
        votes: of all language judges that were asked, as `Vote.to_json()`.
        review: a person's decision, "correct" or "incorrect"; anything else is none.

    >>> resolve({"verdict": "incorrect", "reason": "12 is not 13"})
    (<Outcome.WRONG: 'wrong'>, 0.0, 'rule: 12 is not 13')
    >>> resolve({"verdict": "undecided", "reason": "no rule fits"})[0]
    <Outcome.UNDECIDED: 'undecided'>
    >>> resolve(None, [{"judge": "a", "verdict": None, "reason": "HTTP 500"}])
    (<Outcome.JUDGE_FAILED: 'judge_failed'>, None, 'a: HTTP 500')
    """
    rule = rule or {}
    ruled = {CORRECT: True, INCORRECT: False}.get(str(rule.get("verdict")))
    by_rule = f"rule: {rule.get('reason') or rule.get('verdict') or 'not asked'}"
    if review in (CORRECT, INCORRECT):
        return _scored(review == CORRECT, f"person: {review}")
    reading = any(vote.get("choice") is not None for vote in votes)
    if votes and not (reading and ruled is not None):
        agreed = majority(votes)
        if agreed is None:
            return Outcome.JUDGE_FAILED, None, _why_no_majority(votes)
        if reading and not any(vote.get("choice") for vote in votes):
            return Outcome.UNREADABLE, 0.0, "judges: the answer names no option"
        backing = sum(vote.get("verdict") is agreed for vote in votes)
        return _scored(agreed, f"judges: {CORRECT if agreed else INCORRECT} by {backing} of {len(votes)}")
    if ruled is None:
        return Outcome.UNREADABLE if "choice" in rule else Outcome.UNDECIDED, 0.0, by_rule
    return _scored(ruled, by_rule)


def _scored(correct: bool, reason: str) -> tuple[Outcome, float, str]:
    return (Outcome.CORRECT, 1.0, reason) if correct else (Outcome.WRONG, 0.0, reason)


def _why_no_majority(votes: Sequence[Mapping[str, Any]]) -> str:
    failed = [f"{vote.get('judge')}: {vote.get('reason')}" for vote in votes if vote.get("verdict") is None]
    return "; ".join(failed) or f"the {len(votes)} judges are tied"


class JudgeRequired(RuntimeError):
    """Judges failed on items although ``LMMS_EVAL_FINANCE_REQUIRE_JUDGE`` is set."""


def closing_line(failed: int, total: int) -> str:
    """The one line at the end of a run that says on how many items the judges failed.

    >>> closing_line(3, 1200)
    'judges: asked about 1,200 items, failed on 3 of them (judge_failed: not scored, in no mean)'
    """
    line = f"judges: asked about {total:,} items, failed on {failed:,} of them"
    return f"{line} (judge_failed: not scored, in no mean)" if failed else line


def require_judged(failed: int, total: int) -> None:
    """Stop a run in which judges failed, if ``LMMS_EVAL_FINANCE_REQUIRE_JUDGE=1`` asks for it.

    Raises:
        JudgeRequired: `failed` is not 0 and the variable is set.
    """
    if failed and settings.flag("REQUIRE_JUDGE"):
        raise JudgeRequired(
            f"LMMS_EVAL_FINANCE_REQUIRE_JUDGE is set and judges failed on {failed:,} of {total:,} items: "
            "`lmms-eval-finance judge RUN` asks again, for the failed ones only"
        )


def as_text(value: Json) -> str:
    """A JSON value as the text that judges and people read; None is empty.

    >>> as_text("é"), as_text(None), as_text(["é", 1])
    ('é', '', '["é", 1]')
    """
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
