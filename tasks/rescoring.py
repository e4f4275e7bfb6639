"""Scoring again what a run saved: from a record's response, gold and details, without data and without a model.

Each benchmark's variants have a hook `rescore` beside `process_results`: the records of one
doc in, the same records scored by today's code out. Nothing changes where nothing changed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lmms_eval_finance.data.errata import Errata
from lmms_eval_finance.judging import rules
from lmms_eval_finance.judging.items import JudgeItem, Vote, as_text
from lmms_eval_finance.metrics.masking import unmasked
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.tasks import common

if TYPE_CHECKING:
    from lmms_eval_finance.tasks.judged import Ask


def released_gold(record: Record) -> str:
    """The gold as the benchmark released it, whatever gold the record was scored on."""
    return as_text(record.details.get("released_gold", record.gold))


def again(
    record: Record,
    corrections: Errata | None,
    split: str,
    score: Callable[[str], Record],
    **fields: str,
) -> Record:
    """The record that `score` gives for the gold in use, with what only the data know taken over.

    Args:
        record: as the run left it.
        corrections: the errata to use; None keeps the golds that the run used.
        split: under which the errata list the item.
        score: from a gold to a record.
        fields: of the signature that follow from the scoring; those it lacks are left out.
    """
    scored = on_gold(record, corrections, split, score)
    return carried(record, scored, **fields, **scored_under(record, corrections))


def on_gold(record: Record, corrections: Errata | None, split: str, score: Callable[[str], Record]) -> Record:
    """What `score` gives for the gold in use, and for the released one beside it (`common.on_gold`)."""
    released = released_gold(record)
    if corrections is None:
        gold, with_errata = as_text(record.gold), _field(record, "errata") not in ("", "no")
    else:
        gold, with_errata = corrections.gold(split, record.id, released), bool(corrections.version)
    scored = common.on_gold(gold, released, with_errata, score)
    if corrections is None and record.details.get("votes") and "score_on_released_gold" in record.parts:
        # it may rest on votes about the other gold, which the record does not hold
        kept = {"score_on_released_gold": record.parts["score_on_released_gold"]}
        scored = replace(scored, parts={**scored.parts, **kept})
    return scored


def scored_under(record: Record, corrections: Errata | None) -> dict[str, str]:
    """The fields of the signature that say under which errata and rules a record is scored again."""
    fields = {} if corrections is None else {"errata": corrections.version or "no"}
    if _field(record, "judge").startswith("rules-"):
        fields["judge"] = f"rules-{rules.VERSION}"
    return fields


def _field(record: Record, name: str) -> str:
    return _fields(record.signature).get(name, "")


def carried(record: Record, scored: Record, **fields: str) -> Record:
    """`scored` with what only the data know taken over from `record`: labels, cluster, most of the signature."""
    return replace(
        scored,
        labels={**record.labels, **scored.labels},
        cluster=record.cluster,
        response=record.response,
        signature=_signed(record.signature, tuple(fields.items())),
    )


# All items of a task have one signature or a few.
@functools.lru_cache(maxsize=256)
def _signed(signature: str, fields: tuple[tuple[str, str], ...]) -> str:
    """The signature with those of the fields replaced that it has."""
    found = Signature.parse(signature)
    named = dict(found.fields)
    return str(found.with_fields(**{name: value for name, value in fields if name in named}))


@functools.lru_cache(maxsize=256)
def _fields(signature: str) -> dict[str, str]:
    return dict(Signature.parse(signature).fields)


def saved_votes(record: Record) -> Ask:
    """The votes that the record holds, as far as they hold for the gold that is asked about.

    Votes that read an option hold for any gold, verdicts for that of the record alone.
    """
    votes = [Vote.from_json(vote) for vote in _listed(record.details.get("votes")) if isinstance(vote, dict)]
    gold = as_text(record.gold)
    if record.details.get("gold_masked") is True:
        gold = unmasked(gold)

    def ask(item: JudgeItem) -> Sequence[Vote]:
        if item.preset.endswith("_choice"):
            return [
                replace(vote, verdict=vote.verdict if vote.verdict is None else vote.choice == item.gold)
                for vote in votes
            ]
        return votes if item.gold.strip() == gold.strip() else ()

    return ask


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
