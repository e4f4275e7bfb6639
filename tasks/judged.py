"""Open answers: scored by rules, by language judges where they are configured, by a person later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lmms_eval_finance.judging import panel as panels
from lmms_eval_finance.judging import rules
from lmms_eval_finance.judging.items import JudgeItem, Vote, judged_record_fields, resolve
from lmms_eval_finance.metrics import outcomes
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Json, Record
from lmms_eval_finance.tasks import common

RATED = (*common.NOT_AN_ANSWER, Outcome.UNDECIDED, Outcome.JUDGE_FAILED)
"""Outcomes whose rates stand in the table of a judged task."""


Ask = Callable[[JudgeItem], Sequence[Vote]]
"""The votes of language judges on an item; none where none are set."""


def ask_panel(item: JudgeItem) -> Sequence[Vote]:
    """The votes of the judges in use."""
    panel = panels.shared_panel()
    return panels.judge_items([item], panel)[0] if panel else ()


def judge_signature(preset: str) -> str:
    """The judges in use as one field of a signature: the rules, or the panel and its prompts."""
    panel = panels.shared_panel()
    return f"rules-{rules.VERSION}" if panel is None else panel.signature(preset)


def judged_record(
    item: JudgeItem,
    response: str,
    *,
    labels: Mapping[str, str],
    cluster: str,
    signature: str = "",
    details: Mapping[str, Json] | None = None,
    ask: Ask = ask_panel,
) -> Record:
    """Judge one answer (`item.answer`, read from `response`) and keep what led to the verdict.

    An answer that says nothing (empty, refused, cut off) is settled without a judge, a
    blank gold is `gold_unusable`. The item's id becomes the record's. `ask` gets the votes.
    """
    settled = Outcome.GOLD_UNUSABLE if not item.gold.strip() else outcomes.without_answer(response)
    rule: dict[str, Json] = {}
    votes: Sequence[Vote] = ()
    score: float | None
    if settled is None:
        judgement = rules.judge(
            item.question,
            item.gold,
            item.answer,
            language=item.language,
            question_type=item.question_type,
            options=list(item.options) or None,
            unit=item.unit or None,
        )
        rule = {"verdict": judgement.verdict, "reason": judgement.reason}
        votes = ask(item)
        outcome, score, reason = resolve(rule, [vote.to_json() for vote in votes])
    else:
        outcome, score, reason = settled, 0.0 if settled.scored else None, settled.value
    return Record(
        id=item.id,
        outcome=outcome,
        score=score,
        labels=labels,
        cluster=cluster,
        gold=item.gold,
        prediction=item.answer,
        response=response,
        reason=reason,
        signature=signature,
        details={**judged_record_fields(item, rule=rule, votes=votes), **(details or {})},
    )
