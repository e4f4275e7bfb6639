"""Predictions of other tools: what is read, what is refused, and that scores are those of a run."""

from __future__ import annotations

import json

import pytest

from lmms_eval_finance.cli import main
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.runs.predictions import read_predictions, score_predictions
from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.settings import SettingError
from lmms_eval_finance.tasks import registry


@pytest.fixture(autouse=True)
def sample(monkeypatch):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")


@pytest.fixture
def write(tmp_path):
    def write(*rows):
        path = tmp_path / "theirs.jsonl"
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return write


def test_values_that_are_no_text_become_one(write):
    rows = [
        {"id": 1, "prediction": "A"},
        {"id": "2", "prediction": 12.5},
        {"id": "3", "prediction": None},
        {"id": "4", "prediction": [{"bbox": [1, 2, 3, 4], "label": "公章"}]},
        {"id": "5", "prediction": "\ud800", "more": "passed over"},
    ]
    assert list(read_predictions(write(*rows)).values()) == [
        "A",
        "12.5",
        "",
        '[{"bbox": [1, 2, 3, 4], "label": "公章"}]',
        "\ud800",
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["nonsense"], "line 1: not JSON"),
        (["[1]"], "line 1: not a JSON object"),
        ([{"id": "1"}], r"entry 1: needs the keys id .* and prediction; prediction missing"),
        ([{"id": None, "prediction": "A"}], "id is neither"),
        ([{"id": ["1"], "prediction": "A"}], "id is neither"),
        (
            [{"id": "1", "prediction": "A"}, {"id": 1, "prediction": "B"}],
            "entry 2: a second prediction .* '1'",
        ),
        ([], "holds no predictions"),
    ],
)
def test_files_that_are_none(write, rows, message):
    with pytest.raises(SettingError, match=message):
        read_predictions(write(*rows))


def test_there_is_no_such_file(tmp_path):
    with pytest.raises(SettingError, match="no such file"):
        read_predictions(tmp_path / "none.jsonl")


def texts(task, right=None):
    ids = [record.id for record in records(task, None)]
    return dict.fromkeys(ids, right or "Answer: A")


def records(task, predictions, **options):
    found = registry.find(task)
    if predictions is None:
        from lmms_eval_finance.runs.predictions import _docs, _members

        predictions = {identity: "" for doc in _docs(found) for identity in _members(found, doc)}
    samples = score_predictions(found, predictions, **options)
    return [record for sample in samples for record in sample.records]


def test_the_signature_says_that_the_asking_is_unknown():
    (signature,) = {record.signature for record in records("finmme_finscore", None)}
    assert "prompt:unknown|image:unknown" in signature
    assert "data:finmme/train@" in signature
    (signature,) = {record.signature for record in records("mfe_conversation", None)}
    for field in ("prompt", "dpi", "history", "prefill"):
        assert f"{field}:unknown" in signature


def test_every_item_needs_a_prediction_unless_part_is_asked_for():
    predictions = texts("finmme_finscore")
    missing = predictions.popitem()[0]
    with pytest.raises(
        SettingError, match=rf"1 of 26 items of finmme_finscore have no prediction.*'{missing}'"
    ):
        records("finmme_finscore", predictions)
    assert len(records("finmme_finscore", predictions, partial=True)) == 25


def test_ids_of_something_else_are_refused():
    with pytest.raises(SettingError, match=r"2 predictions are for ids that mfe_text does not have, .*'x'"):
        records("mfe_text", {**texts("mfe_text"), "x": "A", "y": "B"})


def test_sub_questions_have_their_own_or_one_for_all():
    one_by_one = records("famma", texts("famma", "B"))
    letters = [record.prediction for record in one_by_one if "options" in record.details]
    assert set(letters) == {"B"}
    first = "english_1_1_s1"
    whole = json.dumps({"q1": {"answer": "B", "explanation": "2.4"}, "q2": {"answer": "A"}})
    found = {record.id: record for record in records("famma", {first: whole}, partial=True)}
    assert found[first].prediction == "B"
    assert found[first].details["explanation"] == "2.4"
    assert [record.outcome for record in found.values()][2] is Outcome.EMPTY


def test_turns_of_a_dialogue_are_items():
    found = records("mfe_conversation", texts("mfe_conversation", "Answer: A"))
    assert len(found) == 5
    assert {record.prediction for record in found} == {"A"}
    assert [record.score for record in found] == [float(record.gold == "A") for record in found]


@pytest.mark.parametrize("task", ["famma_rag", "famma_dynamic_cot"])
def test_ways_of_asking_that_other_tools_cannot_have(task):
    with pytest.raises(SettingError, match="asks in a way of its own"):
        records(task, {"x": "A"})


def test_boxes_need_their_convention(monkeypatch):
    with pytest.raises(SettingError, match="LMMS_EVAL_FINANCE_COORDINATES=absolute"):
        records("cfmme_seal_detection", {"x": "[]"})
    monkeypatch.setenv("LMMS_EVAL_FINANCE_COORDINATES", "absolute")
    assert len(records("cfmme_seal_detection", None)) == 6


def test_judges_are_not_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_JUDGES", str(tmp_path / "none.toml"))
    assert len(records("mfe_text", texts("mfe_text"))) == 8


def test_the_command_scores_and_saves(write, tmp_path, capsys):
    path = write(*({"id": name, "prediction": text} for name, text in texts("mfe_text", "Oui").items()))
    arguments = ["--benchmark", "mfe", "--task", "mfe_text", "--predictions", str(path)]
    assert main(["rescore", *arguments, "-o", str(tmp_path / "runs"), "--model", "org/other tool"]) == 0
    out = capsys.readouterr().out
    assert "mfe_text: 8 of 8 items scored" in out
    run = open_run(tmp_path / "runs")
    assert run.model == "org/other tool"
    assert len(list(run.records())) == 8
    assert run.about["results"]["mfe_text"]["accuracy,none"] == 0.0
    assert main(["rescore", str(tmp_path / "runs")]) == 0
    assert "against the run: the same" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name one of: RUN"),
        (["x", "--predictions", "y"], "name one of: RUN"),
        (["--predictions", "y"], "--predictions needs --task; there are"),
        (["--predictions", "y", "--task", "mfe"], "no task 'mfe'; there are"),
        (
            ["--predictions", "y", "--task", "mfe_text", "--benchmark", "cfmme"],
            "no task 'mfe_text'; there are cfmme",
        ),
        (["--released", "y"], "released answers are read of one benchmark"),
    ],
)
def test_what_the_command_refuses(arguments, message, capsys):
    assert main(["rescore", *arguments]) == 2
    assert message in capsys.readouterr().err
