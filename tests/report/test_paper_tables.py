"""The papers' tables: averages over tasks as the host's groups have them, marks, repeated runs."""

from __future__ import annotations

import statistics

import pytest

from lmms_eval_finance.report import cfmme, famma, mfe
from lmms_eval_finance.report.models import rounds
from lmms_eval_finance.report.paper import paper_tables
from lmms_eval_finance.report.summary import TaskSummary
from lmms_eval_finance.runs import predictions
from lmms_eval_finance.runs.errors import ErrorItem
from lmms_eval_finance.tasks import registry
from lmms_eval_finance.tasks.cfmme import figures as cfmme_figures
from lmms_eval_finance.tasks.registry import _load, settings_of

ANSWERS = [
    "A",
    "B",
    "Answer: A, C",
    "Oui",
    "12",
    "",
    "<table><tr><td>1</td></tr></table>",
    "x^2",
    '{"a": "1"}',
]


@pytest.fixture
def samples(monkeypatch):
    """samples(task, seed) -> the records of a run over the packaged sample."""
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    monkeypatch.setenv("LMMS_EVAL_FINANCE_COORDINATES", "absolute")

    def records(task, seed=0):
        found = registry.find(task)
        given = {}
        for doc in predictions._docs(found):
            for number, question in enumerate(predictions._questions(found, doc)):
                gold = next(
                    (
                        question[name]
                        for name in ("answers", "answer", "html", "latex", "fields", "boxes")
                        if question.get(name)
                    ),
                    "",
                )
                right = (len(given) + number + seed) % 3 > 0
                identity = str(question.get("question_id", question.get("id")))
                given[identity] = str(gold) if right else ANSWERS[(len(given) + seed) % len(ANSWERS)]
        return [record for one in predictions.score_predictions(found, given) for record in one.records]

    return records


def models(*runs, name="m"):
    return rounds((name, TaskSummary.of(task, records)) for run in runs for task, records in run.items())


def own(table, make, row=0):
    assert table.kinds[row] == "run"
    return {column: make.value(cell) for column, cell in zip(table.columns, table.rows[row], strict=True)}


def group_figures(group, collected):
    """A group's figures from its tasks' records, through the aggregations that the YAML names.

    Args:
        group: path of the group's file below the tasks.
        collected: task -> list of what process_results gave for each record.
    """
    config = settings_of(registry.FOLDER / group)
    found = {}
    for entry in config["aggregate_metric_list"]:
        metric = entry["metric"]
        figures = []
        for task in config["task"]:
            about = settings_of(registry.FOLDER / group.split("/")[0] / f"{task}.yaml")
            names = {one["metric"]: one["aggregation"] for one in about["metric_list"]}
            values = [one[metric] for one in collected[task] if metric in one]
            if metric in names and values:
                figures.append(_load(names[metric])(values))
        found[metric] = _load(entry["aggregation"])(figures, [1] * len(figures), True)
    return found


MFE = [f"mfe_{split}" for split in mfe.COUNTS]


def test_mfes_averages_are_those_of_the_group(samples, make):
    runs = {task: samples(task) for task in MFE}
    collected = {
        task: [registry.find(task).process_results.__self__._figures(record) for record in records]
        for task, records in runs.items()
    }
    expected = group_figures("mfe/mfe.yaml", collected)
    found = own(mfe.table2(models(runs)), make)
    assert found["average as printed"] == pytest.approx(100 * expected["average_as_printed"])
    assert found["macro mean"] == pytest.approx(100 * expected["average_macro"])
    assert found["item-weighted mean"] == pytest.approx(100 * expected["average_items"])
    assert found["text"] == pytest.approx(100 * statistics.fmean(one.score for one in runs["mfe_text"]))


def test_mfes_averages_need_every_task(samples, make):
    runs = {task: samples(task) for task in MFE if task != "mfe_table_yn_tf"}
    found = own(mfe.table2(models(runs)), make)
    assert found["average as printed"] is None
    assert found["macro mean"] is not None


def test_mfes_published_rows_stand_as_printed_and_corrected(samples, make):
    table = mfe.table2(models({"mfe_text": samples("mfe_text")}))
    rows = {make.value(row[0]): row for row in table.rows}
    printed, corrected = rows["Qwen3-VL-32B (published)"], rows["Qwen3-VL-32B (corrected)"]
    place = list(table.columns).index
    assert (make.value(printed[place("conversation")]), make.value(corrected[place("conversation")])) == (
        58.5,
        86.2,
    )
    assert printed[place("conversation")].marks == [mfe.DIALOGUE]
    assert printed[place("table")].marks == [mfe.TABLE]
    assert make.value(rows["Pixtral-Large-124B (published)"][place("reworded")]) is None
    assert mfe.MISSING in rows["Pixtral-Large-124B (published)"][place("average as printed")].marks


def test_what_keeps_mfe_runs_from_being_compared(samples, monkeypatch):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_ERRATA", "1")
    summary = TaskSummary.of("mfe_table", samples("mfe_table"))
    marks = mfe.marks([summary])
    assert marks[0] == "not the published figures' items: mfe_table 6 of 368"
    assert marks[1].startswith("on corrected golds (errata ")
    assert marks[2:] == [
        "predictions of another tool: how the questions were asked is unknown",
        "judged by rules, not by language models",
    ]


def test_tasks_that_rules_judged_are_named_where_models_judged_others(make):
    def marks(**judges):
        models = make.models(
            {
                task: [[make.scored(1, 1, signature=f"task:{task}|prefill:assistant|judge:{judge}")]]
                for task, judge in judges.items()
            }
        )
        return [mark for mark in mfe.marks(list(models["m"][0].values())) if mark.startswith("judged")]

    panel = "llama-3.3-70b+qwen3-32b+gemma-3-27b"
    assert marks(mfe_text=panel, mfe_table=panel) == []
    assert marks(mfe_text="rules-1", mfe_table="rules-1") == ["judged by rules, not by language models"]
    assert marks(mfe_text=panel, mfe_table="rules-1") == [
        "judged by rules, not by language models: mfe_table"
    ]
    assert marks(mfe_text="gpt-9", mfe_table="rules-1") == [
        "judged by rules, not by language models: mfe_table",
        "judged by other models than the paper's three",
    ]


CFMME = [f"cfmme_{split}" for split in cfmme.COUNTS]


def test_cfmmes_averages_are_those_of_the_group(samples, make):
    runs = {task: samples(task) for task in CFMME}
    collected = {
        task: [cfmme_figures.of_record(registry.find(task).split, record) for record in records]
        for task, records in runs.items()
    }
    expected = group_figures("cfmme/cfmme.yaml", collected)
    tables = {table.title: table for table in cfmme.tables(models(runs))}
    found = own(tables["CFMME, table 3: question answering"], make)
    assert found["average"] == pytest.approx(100 * expected["question_answering_average"])
    assert found["knowledge accuracy"] == pytest.approx(100 * expected["knowledge_accuracy"])
    assert found["knowledge weighted F1"] == pytest.approx(100 * expected["knowledge_weighted_f1"])
    found = own(tables["CFMME, table 4: recognition, detection and extraction"], make)
    assert found["average"] == pytest.approx(100 * expected["perception_average"])
    found = own(tables["CFMME, table 11: mAP by class of seal"], make)
    assert set(found) == {"model", "company", "personal"}


def test_cfmmes_tables_by_orientation_and_form(samples, make):
    runs = {
        "cfmme_qa": samples("cfmme_qa"),
        "cfmme_qa_rot90": samples("cfmme_qa", 1),
        "cfmme_qa_table_html": samples("cfmme_qa_table_html"),
    }
    tables = {table.title: table for table in cfmme.tables(models(runs))}
    turned = own(tables["CFMME, table 6: orientation"], make)
    assert turned["180°"] is None
    assert turned["90°"] == pytest.approx(100 * statistics.fmean(one.score for one in runs["cfmme_qa_rot90"]))
    form = own(tables["CFMME, table 5: tables as image and as HTML"], make)
    asked = {record.id for record in runs["cfmme_qa_table_html"]}
    on_tables = [record.score for record in runs["cfmme_qa"] if record.id in asked]
    assert form["table as image"] == pytest.approx(100 * statistics.fmean(on_tables))


def test_fammas_table_2_by_language_and_difficulty(samples, make):
    records = samples("famma")
    table = famma.table2(models({"famma": records}))
    by_language = {row[1]: row for row, kind in zip(table.rows, table.kinds, strict=True) if kind == "run"}
    chosen = [
        one.score
        for one in records
        if one.labels["language"] == "english" and one.labels["difficulty"] == "easy"
    ]
    assert make.value(by_language["english"][3]) == pytest.approx(100 * statistics.fmean(chosen))
    assert make.value(by_language["all"][2]) == pytest.approx(
        100 * statistics.fmean(one.score for one in records)
    )
    assert any("rules" in mark for mark in by_language["all"][0].marks)
    human = next(row for row in table.rows if make.value(row[0]) == "Human (published)")
    assert human[2].marks == ["fails its check: its difficulties weighted by their counts gives 56.55"]


def test_repeated_runs_show_the_spread_that_each_paper_shows(samples, make):
    first, second = samples("famma"), samples("famma", 1)
    accuracies = [statistics.fmean(one.score for one in run) for run in (first, second)]
    (row, *_) = famma.table2(models({"famma": first}, {"famma": second})).rows
    assert make.value(row[0]) == "m (2 runs)"
    assert row[2].value == pytest.approx(100 * statistics.fmean(accuracies))
    # FAMMA: standard error; CFMME and FinMME: standard deviation
    assert row[2].spread == pytest.approx(100 * statistics.stdev(accuracies) / 2**0.5)
    first, second = samples("cfmme_subject"), samples("cfmme_subject", 1)
    accuracies = [statistics.fmean(one.score for one in run) for run in (first, second)]
    tables = {
        table.title: table
        for table in cfmme.tables(models({"cfmme_subject": first}, {"cfmme_subject": second}))
    }
    cell = tables["CFMME, table 9: knowledge questions by source"].rows[0][1]
    assert cell.spread == pytest.approx(100 * statistics.stdev(accuracies))


def test_fammas_error_tables_take_the_analysis(samples, make):
    records = samples("famma")
    remedied = list(samples("famma", 1))
    wrong = [one for one in records if one.score == 0.0]
    kinds = ["numerical inaccuracy", "domain knowledge gaps"]
    items = [ErrorItem("famma", one.id, one.labels, "unclear", kinds[n % 2]) for n, one in enumerate(wrong)]
    tables = {
        table.title: table
        for table in famma.tables(models({"famma": records, "famma_rag": remedied}), {"m": items})
    }
    remedies = own(tables["FAMMA, table 5: errors that remedies correct"], make)
    right = {one.id for one in remedied if one.score == 1.0}
    assert remedies["errors"] == str(len(items))
    assert remedies["corrected"] == len(right & {one.id for one in items})
    assert remedies["numerical inaccuracy"] == len(right & {one.id for one in items if one.kind == kinds[0]})
    table3 = tables["FAMMA, table 3: top kinds of errors by language"]
    assert "run" in table3.kinds
    assert "published" in table3.kinds


def test_dialogues_have_their_tables(samples, make):
    runs = {task: samples(task) for task in ("mfe_conversation", "mfe_conversation_gold")}
    tables = {table.title: table for table in mfe.tables(models(runs))}
    by_turn = tables["Multimodal Finance Eval: dialogues by turn"]
    assert [row[1] for row in by_turn.rows] == ["own answers", "gold answers"]
    spread = own(tables["Multimodal Finance Eval: error propagation"], make)
    both = [
        statistics.fmean(one.score for one in runs[task])
        for task in ("mfe_conversation_gold", "mfe_conversation")
    ]
    assert spread["gold minus own"] == pytest.approx(100 * (both[0] - both[1]))


def test_labels_with_many_values_show_the_frequent_ones(make):
    records = [make.scored(n, 1.0, {"type": f"v{n if n > 60 else n % 3}"}) for n in range(200)]
    (table,) = [t for t in mfe.tables(make.models({"mfe_text": [records]})) if t.title.endswith("by type")]
    assert len(table.columns) == 41
    assert {"v0", "v1", "v2"} <= set(table.columns)
    assert table.note == "The 40 most frequent of 142 values."


def test_only_benchmarks_that_occur_have_tables(make):
    assert paper_tables(make.models({"someones": [[make.scored(1, 1.0)]]})) == {}
    assert list(paper_tables(make.models({"mfe_text": [[make.scored(1, 1.0)]]}))) == ["mfe"]


def test_items_that_are_not_scored_are_in_no_mean(make):
    found = make.models({"mfe_text": [[make.scored(1, 1.0), make.scored(2, None)]]})
    assert own(mfe.table2(found), make)["text"] == 100
    found = make.models({"mfe_text": [[make.scored(2, None)]]})
    assert own(mfe.table2(found), make)["text"] is None


def test_rounds_join_tasks_and_split_repeats():
    def summary(task):
        return TaskSummary.of(task, [])

    found = rounds([("m", summary(task)) for task in ("a", "b", "a", "c", "a")])
    assert [sorted(one) for one in found["m"]] == [["a", "b", "c"], ["a"], ["a"]]


def test_grouping_keeps_models_apart():
    found = rounds([("m", TaskSummary.of("a", [])), ("n", TaskSummary.of("a", []))])
    assert {model: len(passes) for model, passes in found.items()} == {"m": 1, "n": 1}
