"""FinMME through the real host: figures worked by hand, and what the host's files keep."""

from __future__ import annotations

import json
from fractions import Fraction as F

import pytest

from lmms_eval_finance.cli import main
from lmms_eval_finance.data import sources
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.tasks.finmme import utils

pytestmark = pytest.mark.host

TASK = "finmme_finscore"


@pytest.fixture(scope="module")
def run(run_host):
    return run_host(
        *("--model", "dummy", "--model_args", "response=Answer: A", "--tasks", f"{TASK},finmme_prompts")
    )


# The model says A to everything. Single choices with gold A: items 5, 9 and 26 of 10. Multiple choices:
# of the golds A,C,D / CD / "B, C" / AC / "A, B" / A,C / A,C with 4, 4, 4, 3, 3, 3, 3 options, A is one right
# selection in all but the second and third. The 9 numbers are unreadable and select nothing.
SELECTION = {
    "Consumer": [0, 0, 0, F(1, 4)],
    "Fixed income": [1, 0, 0, 0, 0, F(1, 3)],
    "Macroeconomics": [0],
    "Energy": [1, 0, 0],
    "Strategy": [0, 0, F(1, 3)],
    "Materials": [0, 0, F(1, 3)],
    "Real estate": [0, 0, F(1, 3)],
    "Others": [0, 0, 1],
}
WRONG_SHARES = F(7 + 2, 26)


def test_figures_on_the_sample_are_those_worked_by_hand(run):
    figures = run.figures(TASK)
    domain_score = sum(F(sum(scores)) / len(scores) for scores in SELECTION.values()) / 8
    assert figures["domain_score"] == pytest.approx(float(domain_score))
    assert figures["hallucination_rate"] == pytest.approx(float(WRONG_SHARES))
    assert figures["finscore"] == pytest.approx(float(domain_score * (1 - WRONG_SHARES)))
    assert figures["accuracy"] == pytest.approx(3 / 26)
    assert figures["accuracy_single_choice"] == pytest.approx(3 / 10)
    assert figures["accuracy_multiple_choice"] == 0
    assert figures["average_types"] == pytest.approx(3 / 10 / 3)
    assert figures["rate_unreadable"] == pytest.approx(9 / 26)
    # Exact matches alone, and every multiple choice with a gold of several characters is wrong.
    assert figures["domain_score_released"] == pytest.approx((1 / 6 + 1 / 3 + 1 / 3) / 8)
    assert figures["hallucination_rate_released"] == 1
    assert figures["finscore_released"] == 0
    # With n the number of gold letters: 1/3, 1/2, 1/2, 1/2, 1/2 instead of 1/4, 1/3, 1/3, 1/3, 1/3.
    gold_n = (F(1, 12) + F(3, 2) / 6 + 0 + F(1, 3) + F(1, 6) + F(1, 6) + F(1, 6) + F(1, 3)) / 8
    assert figures["finscore_gold_n"] == pytest.approx(float(gold_n * (1 - WRONG_SHARES)))


def test_the_spread_over_three_wordings_comes_with_one_command(run):
    group = run.results["groups"]["finmme_prompts"]
    single = [run.figures(f"finmme_prompt_{letter}")["finscore"] for letter in "abc"]
    assert group["finscore,none"] == pytest.approx(max(single) - min(single))


def test_what_process_results_returns_survives_the_sample_file(run, monkeypatch):
    """Value for value what the hook gives for the same row and response, read back from the host's file."""
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    rows = {str(row["id"]): row for row in sources.locate("finmme", "train").load().remove_columns("image")}
    samples = run.samples(TASK)
    assert len(samples) == len(rows)
    for sample in samples:
        row = rows[sample["accuracy"]["id"]]
        given = utils.process_results__default(row, ["Answer: A"])
        assert {name: sample[name] for name in given} == json.loads(json.dumps(given))


def test_runs_are_read_back(run):
    found = [record for task, record in open_run(run.folder / "out").records() if task == TASK]
    assert len(found) == 26
    assert all(isinstance(record, Record) for record in found)


def test_tables_from_the_saved_run(run, capsys):
    assert main(["tables", str(run.folder / "out")]) == 0
    out = capsys.readouterr().out
    assert "FinMME, table 3" in out
    assert "asset classes" in out
    assert "| 30.00 |" in out


def test_ids_restrict_the_task(run_host):
    few = run_host(
        *("--model", "dummy", "--model_args", "response=Answer: A", "--tasks", TASK),
        env={"LMMS_EVAL_FINANCE_IDS": "5,9,1"},
    )
    assert sorted(sample["accuracy"]["id"] for sample in few.samples(TASK)) == ["1", "5", "9"]
    assert few.figures(TASK)["accuracy"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("LMMS_EVAL_FINANCE_DATA", "/nowhere", "no such folder"),
        ("LMMS_EVAL_FINANCE_IDS", "no-such-id", "lists no id of FinMME"),
    ],
)
def test_a_wrong_setting_is_one_message_before_any_generation(run_host, setting, value, message):
    done = run_host(*("--model", "dummy", "--tasks", TASK), env={setting: value})
    assert done.code != 0
    assert done.output.count("lmms-eval-finance: ") == 1
    assert message in done.output
    assert "Traceback" not in done.output
    assert not list(done.folder.glob("out/**/*_results.json"))
