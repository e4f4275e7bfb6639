"""Runs as the host writes them."""

from __future__ import annotations

import json
import random

import pytest

from lmms_eval_finance.judging.items import JudgeItem, judged_record_fields, resolve
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.runs import predictions
from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.runs.save import SavedRun
from lmms_eval_finance.tasks import registry

DATE = "20260102_030405"
SIGNATURE = "task:mfe|data:mfe/mfe_text@abc|judge:rule"


def judged(number, verdict="undecided", *, gold=None, answer=None, votes=(), preset="mfe", **fields):
    """An open answer's record as the tasks write it."""
    gold = gold or f"gold {number}"
    answer = answer or f"answer {number}"
    item = JudgeItem(str(number), preset, f"Question {number}?", gold, answer, **fields)
    rule = {"verdict": verdict, "reason": "a test"}
    outcome, score, reason = resolve(rule, [vote.to_json() for vote in votes])
    return Record(
        str(number),
        outcome,
        score,
        labels={"question_type": "open"},
        cluster=f"context {number}",
        gold=gold,
        prediction=answer,
        response=f"Answer: {answer}",
        reason=reason,
        signature=SIGNATURE,
        details=judged_record_fields(item, rule=rule, votes=votes),
    )


def empty(number):
    return Record(str(number), Outcome.EMPTY, 0.0, signature=SIGNATURE, details={"judge_preset": "mfe"})


@pytest.fixture
def write_run(tmp_path):
    """Write records as sample files of one run and return its folder."""

    def write_run(tasks, date=DATE, model="model"):
        folder = tmp_path / "out" / model
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{date}_results.json").write_text(json.dumps({"results": {}}))
        for task, records in tasks.items():
            lines = [
                {
                    "doc_id": number,
                    "target": "x",
                    "filtered_resps": ["y"],
                    "accuracy": record if isinstance(record, (dict, list)) else record.to_json(),
                    "accuracy_open": 1.0,
                    "score": {"record": {"id": "1", "outcome": "correct", "score": 1.0}},
                }
                for number, record in enumerate(records)
            ]
            path = folder / f"{date}_samples_{task}.jsonl"
            path.write_text(
                "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines),
                encoding="utf-8",
                errors="surrogatepass",
            )
        return folder

    return write_run


@pytest.fixture
def make():
    """Builders of records: `make.judged`, `make.empty`."""
    return type("Make", (), {"judged": staticmethod(judged), "empty": staticmethod(empty)})


# -- runs over the packaged samples, with every kind of response -------------------------------------

ODD = ["", "I'm sorry, but I can't read this chart.", "<think>First, the rev", "¿?", "null", "Answer: ", "[]"]
GUESSES = ["A", "B", "C", "D", "A, C", "12.5", "1 234,56 €", "Oui", "Non", "$5.1 billion", "[[1, 2, 3]]"]


def varied_predictions(task, seed=0, right=0.5):
    """A prediction for each item of a task: right ones, near misses, guesses and broken ones."""
    rng = random.Random(f"{seed} {task.name}")
    found = {}
    for doc in predictions._docs(task):
        for question in predictions._questions(task, doc):
            columns = ("answers", "answer", "html", "latex", "fields", "boxes")
            gold = next((str(question[name]) for name in columns if question.get(name)), "")
            kind = rng.random()
            if kind < right:
                said = gold if len(gold) > 30 else f"Answer: {gold}"
            elif kind < right + 0.15:
                said = rng.choice(ODD)
            elif len(gold) > 8 and kind < right + 0.3:
                place = rng.randrange(len(gold))
                said = f"{gold[:place]}7{gold[place + 1 :]}"
            else:
                said = f"Answer: {rng.choice(GUESSES)}"
            found[str(question.get("question_id", question.get("id")))] = said
    return found


TASKS = [
    *("finmme_finscore", "famma", "famma_single", "famma_txt", "famma_livepro", "famma_test"),
    *("mfe_text", "mfe_table", "mfe_table_yn_tf", "mfe_chart", "mfe_special_case"),
    *("mfe_conversation", "mfe_conversation_gold"),
    *("cfmme_subject", "cfmme_certification", "cfmme_qa", "cfmme_qa_table_html", "cfmme_seal_detection"),
    *("cfmme_seal_recognition", "cfmme_table_recognition", "cfmme_formula_recognition"),
    "cfmme_information_extraction",
]


@pytest.fixture(params=TASKS)
def any_task(request):
    """One task after another, each kind of scoring among them."""
    return request.param


@pytest.fixture
def varied(monkeypatch):
    """varied(task, seed) -> the samples of a run of that task over the packaged sample."""
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    monkeypatch.setenv("LMMS_EVAL_FINANCE_COORDINATES", "absolute")

    def varied(task, seed=0):
        found = registry.find(task)
        return predictions.score_predictions(found, varied_predictions(found, seed))

    return varied


@pytest.fixture
def save_run(tmp_path):
    """save_run({task: samples}, model, date) -> the run, in a folder of its own."""

    def save(tasks, model="model", date=DATE, about=None):
        with SavedRun(tmp_path / "out", model, date) as saved:
            for task, samples in tasks.items():
                for sample in samples:
                    saved.add(task, sample, sample.records)
            return open_run(saved.finish({}, about or {}))

    return save
