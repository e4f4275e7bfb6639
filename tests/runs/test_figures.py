"""Figures of a task: those of the host's table, from sums, with intervals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lmms_eval_finance.metrics.intervals import mean_interval
from lmms_eval_finance.runs.figures import MOST_VALUES, figures, primary, sums, with_few_values
from lmms_eval_finance.settings import SettingError
from lmms_eval_finance.tasks import registry
from lmms_eval_finance.tasks.registry import _load, settings_of

# Only in groups, or not about scores.
ELSEWHERE = {
    *("standard_error", "average_as_printed", "average_macro", "average_items"),
    *("knowledge_accuracy", "knowledge_weighted_f1", "question_answering_average"),
    *("perception_average", "perception_average_reference"),
}


def as_the_host_does(task, samples):
    """Metric -> value through the hooks and aggregations that the YAML names."""
    config = settings_of(registry.FOLDER / registry.find(task).benchmark / f"{task}.yaml")
    collected = {}
    hook = registry.find(task).process_results
    variant = hook.__self__
    for sample in samples:
        for record in sample.records:
            for name, value in metrics_of(task, variant, record).items():
                collected.setdefault(name, []).append(value)
    aggregations = {entry["metric"]: entry["aggregation"] for entry in config["metric_list"]}
    found = {}
    for name, values in collected.items():
        if name in aggregations and name not in ELSEWHERE:
            found[name] = _load(aggregations[name])(values)
    return found


def metrics_of(task, variant, record):
    benchmark = registry.find(task).benchmark
    if benchmark == "finmme":
        from lmms_eval_finance.tasks.finmme.utils import as_metrics

        return as_metrics(record)
    if benchmark == "famma":
        from lmms_eval_finance.tasks.famma.scoring import figures as of_record

        return of_record(record)
    if benchmark == "mfe":
        return {**variant._figures(record), "accuracy": record.to_json()}
    from lmms_eval_finance.tasks.cfmme.figures import of_record

    return of_record(variant.split, record, study=bool(variant.alteration))


def test_they_are_those_of_the_hosts_table(any_task, varied):
    samples = varied(any_task)
    records = [record for sample in samples for record in sample.records]
    found = figures(any_task, sums(any_task, records), records)
    expected = as_the_host_does(any_task, samples)
    for name, value in expected.items():
        if value is not None and (name in found or value):
            assert found[name].estimate == pytest.approx(value, rel=1e-12, abs=0), name
    assert set(found) - set(expected) <= {f"rate_{record.outcome.value}" for record in records}
    assert primary(any_task) in found or not any(record.outcome.scored for record in records)


def test_the_mean_has_the_interval_over_clusters(varied):
    records = [record for sample in varied("mfe_table") for record in sample.records]
    found = figures("mfe_table", sums("mfe_table", records))["accuracy"]
    expected = mean_interval([record.score for record in records], [record.cluster for record in records])
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_errata_stand_in_figures(varied, monkeypatch):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_ERRATA", "1")
    records = [record for sample in varied("mfe_table") for record in sample.records]
    found = figures("mfe_table", sums("mfe_table", records))
    assert found["errata_changed"].estimate == 0
    assert found["accuracy_on_released_gold"] == found["accuracy"]


def test_tasks_of_others_have_their_mean(make):
    found = figures("someones", sums("someones", [make.judged(1, "correct"), make.judged(2, "incorrect")]))
    assert found["accuracy"].estimate == 0.5
    assert "rate_wrong" in found


def test_no_records_have_no_figures():
    for task in ("finmme_finscore", "cfmme_seal_detection", "famma"):
        assert figures(task, sums(task, [])) == {}


@pytest.mark.parametrize(
    "damaged", [7, None, "text", {"a": 1}, [7], [{}], [{"bbox": [1, 2], "label": "a"}],
    [{"bbox": ["x", 1, 1, 1], "label": "a"}], [{"bbox": [1, 2, 3, 10**400], "label": "a"}],
    [{"bbox": [1, 2, 3, 4], "label": {}}]]
)  # fmt: skip
def test_what_is_no_boxes_is_in_no_figure_of_coco(varied, damaged):
    records = [record for sample in varied("cfmme_seal_detection") for record in sample.records]
    name = "cfmme_seal_detection"
    expected = figures(name, sums(name, records[:-2]), records[:-2])["coco_map"]
    records[-1] = replace(records[-1], gold=damaged)
    records[-2] = replace(records[-2], prediction=damaged)
    assert figures(name, sums(name, records), records)["coco_map"] == expected


@pytest.mark.parametrize(
    ("task", "part"), [("finmme_finscore", "incorrect"), ("cfmme_information_extraction", "gold")]
)
def test_records_without_the_parts_of_their_task_are_named(varied, task, part):
    record = varied(task)[0].records[0]
    damaged = replace(record, parts={name: number for name, number in record.parts.items() if name != part})
    with pytest.raises(SettingError, match=f"{task}: the item '{record.id}' has no part '{part}'"):
        sums(task, [damaged])


def test_labels_that_are_ids_break_nothing_down(make):
    records = [
        replace(make.judged(number), labels={"page": f"p{number}", "kind": f"k{number % 2}"})
        for number in range(MOST_VALUES + 1)
    ]
    assert {tuple(record.labels) for record in with_few_values(records)} == {("kind",)}
    assert with_few_values(records[:-1]) == records[:-1]


def test_more_names_than_can_be_summed_are_an_error(make):
    records = [
        replace(make.judged(number, "correct"), parts={f"{number} {n}": 1.0 for n in range(50)})
        for number in range(500)
    ]
    with pytest.raises(
        SettingError, match=r"mfe_text: 25,\d+ different labels and parts in 500 items are too many"
    ):
        sums("mfe_text", records)
