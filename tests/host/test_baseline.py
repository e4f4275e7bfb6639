"""The offline baseline as the host's model, for messages and for texts."""

from __future__ import annotations

import pytest

from lmms_eval_finance.runs.read import open_run

pytest.importorskip("rapidocr", reason="the extra baseline is not installed")
pytestmark = pytest.mark.host

TASKS = ("finmme_finscore", "mfe_table", "mfe_conversation", "cfmme_seal_detection")


def records(run, task):
    return {record.id: record for name, record in open_run(run.folder / "out").records() if name == task}


@pytest.fixture(scope="module")
def by_messages(run_host):
    return run_host("--model", "finance_baseline", "--tasks", ",".join(TASKS), "--limit", "4")


@pytest.fixture(scope="module")
def by_texts(run_host):
    tasks = ("finmme_finscore", "mfe_table", "mfe_conversation")
    return run_host(
        "--model", "finance_baseline", "--tasks", ",".join(tasks), "--limit", "4", "--force_simple"
    )


def test_every_item_is_answered(by_messages):
    for task in TASKS:
        found = records(by_messages, task)
        assert len(found) >= 1, task
        assert all(record.response for record in found.values()), task


def test_charts_and_seals_of_the_sample_are_read(by_messages):
    finmme = records(by_messages, "finmme_finscore")
    assert [finmme[number].score for number in ("1", "2", "3")] == [1.0, 1.0, 1.0]
    assert by_messages.figures("cfmme_seal_detection")["f1_50"] > 0.9


def test_texts_with_images_beside_them_get_the_same_answers(by_messages, by_texts):
    for task in ("finmme_finscore", "mfe_table"):
        theirs = records(by_texts, task)
        assert {name: record.response for name, record in records(by_messages, task).items()} == {
            name: record.response for name, record in theirs.items()
        }
    assert records(by_texts, "mfe_conversation").keys() == records(by_messages, "mfe_conversation").keys()


def test_arguments_that_it_does_not_take_are_refused(run_host):
    run = run_host(
        *(
            "--model",
            "finance_baseline",
            "--model_args",
            "pretrained=x",
            "--tasks",
            "mfe_text",
            "--limit",
            "1",
        )
    )
    assert not list(run.folder.glob("out/**/*_results.json"))
    assert "finance_baseline takes no model_args; remove pretrained" in run.output
    assert "Traceback" not in run.output
