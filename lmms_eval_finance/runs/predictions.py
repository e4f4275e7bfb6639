"""Scores of predictions that another tool made: lines of {"id", "prediction"}, for any task.

The data are those that the settings lead to. How the questions were asked is unknown, and the
signature says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmms_eval_finance import settings
from lmms_eval_finance.data import sources
from lmms_eval_finance.data.jsonl import read_jsonl
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.runs.read import Sample, records_in
from lmms_eval_finance.settings import SettingError
from lmms_eval_finance.tasks.cfmme import coordinates
from lmms_eval_finance.tasks.famma import variant as famma_variant
from lmms_eval_finance.tasks.registry import Task

UNKNOWN = "unknown"
_ASKED = ("prompt", "image", "dpi", "history", "prefill", "ask", "steps", "index")
"""Fields of signatures that say how a question was asked."""


def read_predictions(path: Path) -> dict[str, str]:
    """The predictions of a JSONL file by id; what is no text (a list of boxes, a number) becomes JSON text.

    Raises:
        SettingError: the file cannot be read, or a line lacks a key or repeats an id.
    """
    if not path.is_file():
        raise SettingError(f"{path}: no such file")
    found: dict[str, str] = {}
    for number, row in enumerate(read_jsonl(path), 1):
        missing = [key for key in ("id", "prediction") if key not in row]
        if missing or not isinstance(row["id"], (str, int)):
            raise SettingError(
                f"{path}, entry {number}: needs the keys id (a text or number) and prediction; "
                f"{' and '.join(missing) + ' missing' if missing else 'id is neither'}"
            )
        identity, prediction = str(row["id"]), row["prediction"]
        if identity in found:
            raise SettingError(f"{path}, entry {number}: a second prediction for the id {identity!r}")
        if not isinstance(prediction, str):
            prediction = "" if prediction is None else json.dumps(prediction, ensure_ascii=False)
        found[identity] = prediction
    if not found:
        raise SettingError(f"{path}: holds no predictions")
    return found


def score_predictions(task: Task, predictions: Mapping[str, str], *, partial: bool = False) -> list[Sample]:
    """The records of a task's items for these predictions, one sample for each doc of the task.

    Each scored item has its own prediction: a turn of a dialogue, a sub-question of a context. A
    context's sub-questions may instead have one, under the id of the first, which holds the reply to all.

    Args:
        task: the task.
        predictions: from `read_predictions`.
        partial: score what has a prediction instead of asking for all.

    Raises:
        SettingError: an id is not of this task, or an item has no prediction.
    """
    _check(task)
    docs = list(_docs(task))
    members = [_members(task, doc) for doc in docs]
    known = {identity for ids in members for identity in ids}
    strange = [identity for identity in predictions if identity not in known]
    if strange:
        raise SettingError(
            f"{len(strange):,} predictions are for ids that {task.name} does not have, for instance "
            f"{', '.join(map(repr, strange[:3]))}; its ids look like {', '.join(map(repr, sorted(known)[:3]))}"
        )
    responses = [_response(task, doc, ids, predictions) for doc, ids in zip(docs, members, strict=True)]
    missing = [
        identity
        for ids, response in zip(members, responses, strict=True)
        if response is None
        for identity in ids
        if identity not in predictions
    ]
    if missing and not partial:
        raise SettingError(
            f"{len(missing):,} of {len(known):,} items of {task.name} have no prediction, for instance "
            f"{', '.join(map(repr, missing[:3]))} (--partial scores the others alone)"
        )
    with settings.unset("JUDGES"):
        return [
            _sample(task, doc, response)
            for doc, response in zip(docs, responses, strict=True)
            if response is not None
        ]


def _check(task: Task) -> None:
    hooks = getattr(task.process_results, "__self__", None)
    if task.benchmark == "famma" and type(hooks) is not famma_variant.Variant:
        raise SettingError(f"{task.name} asks in a way of its own: score predictions as famma or famma_txt")
    if task.split == "seal_detection" and coordinates.configured() is None:
        raise SettingError(
            "say what the numbers of the boxes mean: LMMS_EVAL_FINANCE_COORDINATES=absolute (pixels), thousand, or unit"
        )


def _docs(task: Task) -> Iterator[dict[str, Any]]:
    """The task's docs without their images."""
    try:
        docs = task.process_docs(sources.locate(task.benchmark, task.split).load())
    except SystemExit as error:  # how the hooks stop the host
        raise SettingError(str(error).removeprefix("lmms-eval-finance: ")) from error
    images = [name for name, feature in docs.features.items() if "Image(" in repr(feature)]
    yield from docs.remove_columns(images)


def _questions(task: Task, doc: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The scored items of a doc: sub-questions of a context, turns of a dialogue, or the doc itself."""
    column = "questions" if task.benchmark == "famma" else "turns" if _is_dialogue(task) else ""
    found: list[dict[str, Any]] = json.loads(doc[column]) if column else [dict(doc)]
    return found


def _is_dialogue(task: Task) -> bool:
    return ".process_dialogue__" in task.scoring


def _members(task: Task, doc: Mapping[str, Any]) -> list[str]:
    return [str(question.get("question_id", question.get("id"))) for question in _questions(task, doc)]


def _response(
    task: Task, doc: Mapping[str, Any], ids: Sequence[str], predictions: Mapping[str, str]
) -> str | list[str] | None:
    """What `process_results` takes as the response to a doc; None where predictions are missing."""
    given = [identity for identity in ids if identity in predictions]
    if len(given) < len(ids):
        whole = task.benchmark == "famma" and given == [doc["id"]]
        return predictions[given[0]] if whole else None
    found = [predictions[identity] for identity in ids]
    if task.benchmark == "famma" and len(ids) > 1:
        keys = [question["key"] for question in _questions(task, doc)]
        answers = {key: {"answer": answer} for key, answer in zip(keys, found, strict=True)}
        return json.dumps(answers, ensure_ascii=False)
    return found if _is_dialogue(task) else found[0]


def _sample(task: Task, doc: Mapping[str, Any], response: str | list[str]) -> Sample:
    collected = task.process_results(doc, [response])
    metric, records = next((name, found) for name, value in collected.items() if (found := records_in(value)))
    return Sample([_otherwise_asked(record) for record in records], "", metric)


def _otherwise_asked(record: Record) -> Record:
    signature = Signature.parse(record.signature)
    asked = {name: UNKNOWN for name, _ in signature.fields if name in _ASKED}
    return replace(record, signature=str(signature.with_fields(**asked)))
