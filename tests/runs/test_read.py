from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.runs import read
from lmms_eval_finance.runs.read import open_run, read_records
from lmms_eval_finance.settings import SettingError

DATE = "20260102_030405"


def test_records_come_back_whole_and_in_order(write_run, make):
    records = [make.judged(number, "correct", context="été 市盈率") for number in range(5)]
    folder = write_run({"mfe_text": records, "mfe_chart": [make.judged(9)]})
    run = open_run(folder)
    assert list(run.samples) == ["mfe_chart", "mfe_text"]
    assert list(run.records()) == [
        ("mfe_chart", make.judged(9)),
        *(("mfe_text", record) for record in records),
    ]


def test_several_records_of_one_document(write_run, make):
    records = [make.judged(1), make.judged(2)]
    folder = write_run({"famma": [[record.to_json() for record in records]]})
    assert [record.id for _, record in open_run(folder).records()] == ["1", "2"]


def test_other_tasks_are_passed_over(write_run, make):
    folder = write_run({"mfe_text": [make.judged(1)]})
    (folder / f"{DATE}_samples_other.jsonl").write_text(
        '{"doc_id": 0, "exact_match": 1.0, "l": [], "d": {"id": 1}}\n'
    )
    assert [task for task, _ in open_run(folder).records()] == ["mfe_text"]


def test_every_way_to_name_a_run(write_run, make, tmp_path):
    folder = write_run({"mfe_text": [make.judged(1)]})
    for path in (
        folder,
        folder.parent,
        folder / f"{DATE}_results.json",
        folder / f"{DATE}_samples_mfe_text.jsonl",
    ):
        run = open_run(path)
        assert (run.folder, run.date) == (folder, DATE)
    assert run.results.is_file()
    assert run.companion("review") == folder / f"{DATE}_review.jsonl"


def test_a_choice_of_runs_has_to_be_made(write_run, make):
    write_run({"mfe_text": [make.judged(1)]})
    folder = write_run({"mfe_text": [make.judged(1)]}, date="20270101_000000")
    with pytest.raises(SettingError, match=r"holds 2 runs; name one of\n.*20260102_030405_results\.json"):
        open_run(folder)
    assert open_run(folder / "20270101_000000_results.json").date == "20270101_000000"
    write_run({"mfe_text": [make.judged(1)]}, model="other")
    with pytest.raises(SettingError, match="holds 3 runs"):
        open_run(folder.parent)


def test_paths_that_mean_no_run(tmp_path, write_run, make):
    with pytest.raises(SettingError, match="no such file or folder"):
        open_run(tmp_path / "absent")
    with pytest.raises(SettingError, match="--output_path"):
        open_run(tmp_path)
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(SettingError, match="is no"):
        open_run(tmp_path / "x.json")
    (tmp_path / f"{DATE}_results.json").write_text("{}")
    with pytest.raises(SettingError, match="--log_samples"):
        open_run(tmp_path)


def line(**changes):
    record = {"id": "1", "outcome": "correct", "score": 1.0, "details": {}}
    return json.dumps({"accuracy": {**record, **changes}}).encode()


BROKEN = {
    "torn": (b'{"accuracy": {"id": "7"', "not JSON"),
    "bytes": (b'{"a": "\xff"}', "not UTF-8"),
    "a list": (b"[1]", "not a JSON object"),
    "depth": (b'{"a":' * 100_000, "recursion|not JSON"),
    "unknown outcome": (line(outcome="fine"), "fine"),
    "score too large": (line(score=2), "outside"),
    "nan": (line().replace(b"1.0", b"NaN"), "score of the wrong kind"),
    "score is a text": (line(score="1"), "not a record"),
    "score against outcome": (line(score=None), "outcome correct with score None"),
    "a number beyond all floats": (line().replace(b"1.0", b"1" * 400), "score of the wrong kind"),
    "id is a number": (line(id=1), "id of the wrong kind"),
    "id is a list": (line(id=[]), "id of the wrong kind"),
    "details is a list": (line(details=[]), "details of the wrong kind"),
    "twice": (line(id="0"), "'0' stands twice"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_broken_lines_are_named_or_counted(tmp_path, fault):
    broken, message = BROKEN[fault]
    path = tmp_path / f"{DATE}_samples_t.jsonl"
    path.write_bytes(line(id="0") + b"\n\n" + broken + b"\n" + line(id="9") + b"\n")
    with pytest.raises(SettingError, match=message) as caught:
        list(read_records(path))
    assert f"{path}:3: " in str(caught.value)
    assert "--skip-broken" in str(caught.value)
    assert len(str(caught.value)) < 1000
    skipped = []
    assert [record.id for record in read_records(path, skipped)] == ["0", "9"]
    assert len(skipped) == 1


def test_a_line_without_end_is_not_held_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(read, "LONGEST_LINE", 1000)
    path = tmp_path / f"{DATE}_samples_t.jsonl"
    path.write_bytes(b"x" * 5000 + b"\n" + line() + b"\n" + b"y" * 5000)
    skipped = []
    assert [record.id for record in read_records(path, skipped)] == ["1"]
    assert [text.split(": ")[0][-2:] for text in skipped] == [":1", ":3"]


@given(st.binary(max_size=300))
def test_any_bytes_give_records_or_are_left_out(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("run") / f"{DATE}_samples_t.jsonl"
    path.write_bytes(data)
    skipped = []
    assert all(isinstance(record, Record) for record in read_records(path, skipped))
    assert all(text.startswith(str(path)) for text in skipped)


def test_streaming(tmp_path):
    """The first record is there before the rest of the file is read."""
    path = tmp_path / f"{DATE}_samples_t.jsonl"
    path.write_bytes(line() + b"\n" + b"broken\n")
    records = read_records(path)
    assert next(records).outcome is Outcome.CORRECT
    with pytest.raises(SettingError):
        next(records)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", 7),
        ("cluster", None),
        ("reason", ["x"]),
        ("signature", 1),
        ("score", "1.0"),
        ("score", True),
        ("score", float("nan")),
        ("labels", ["x"]),
        ("labels", {"a": 1}),
        ("parts", {"a": "1"}),
        ("parts", {"a": float("inf")}),
        ("parts", None),
        ("details", "x"),
    ],
)
def test_fields_of_another_kind_are_named(write_run, make, name, value):
    run = open_run(write_run({"mfe_text": [{**make.judged(1, "correct").to_json(), name: value}]}))
    with pytest.raises(
        SettingError, match=rf"samples_mfe_text\.jsonl:1: not a record: {name} of the wrong kind"
    ):
        list(run.records())


def test_the_model_is_named_by_the_host_or_its_folder(write_run, make):
    folder = write_run({"mfe_text": [make.judged(1)]})
    results = folder / f"{DATE}_results.json"
    for about, name in (
        ({"model_name": "org/m", "config": {"model": "vllm"}}, "org/m"),
        ({"model_name": "", "config": {"model": "dummy"}}, "dummy"),
        ({"config": "x"}, folder.name),
        ({"model_name": " \n\u202e"}, folder.name),
        ({"model_name": "a\nb\u202e\ud800\u2028c\x1b[0m 模型"}, "a b c [0m 模型"),
        ({}, folder.name),
    ):
        results.write_text(json.dumps(about))
        assert open_run(folder).model == name
    for text in ("nonsense", "[]", "[" * 9999):
        results.write_text(text)
        with pytest.raises(SettingError, match=r"results\.json"):
            _ = open_run(folder).model
    results.unlink()
    assert open_run(folder).model == folder.name


def test_all_runs_of_a_folder(write_run, make):
    write_run({"mfe_text": [make.judged(1)]})
    folder = write_run({"mfe_text": [make.judged(1)]}, date="20270101_000000")
    (folder / "20280101_000000_results.json").write_text("{}")  # run without --log_samples
    assert [run.date for run in read.open_runs(folder.parent)] == [DATE, "20270101_000000"]
    with pytest.raises(SettingError, match="has no sample files"):
        read.open_runs(folder / "20280101_000000_results.json")


@pytest.mark.parametrize(
    "fault", ["a link out", "a link to itself", "a link to nowhere", "a device", "a folder"]
)
@pytest.mark.parametrize("name", ["samples_mfe_text.jsonl", "results.json", "verdicts.jsonl"])
def test_a_run_has_no_files_outside_its_folder(write_run, make, tmp_path, name, fault):
    folder = write_run({"mfe_text": [make.judged(1)]})
    path = folder / f"{DATE}_{name}"
    outside = tmp_path / "other.jsonl"
    outside.write_bytes(path.read_bytes() if path.exists() else b"{}")
    path.unlink(missing_ok=True)
    targets = {"a link out": outside, "a link to itself": path, "a device": "/dev/zero"}
    if fault == "a folder":
        path.mkdir()
    else:
        path.symlink_to(targets.get(fault, tmp_path / "nowhere"))

    def read_all():
        run = open_run(folder)
        return run.about, run.companion("verdicts")

    with pytest.raises(SettingError, match=rf"^\S+{name}: is no file of this folder"):
        read_all()


def test_a_run_in_a_linked_folder_is_one(write_run, make, tmp_path):
    folder = write_run({"mfe_text": [make.judged(1)]})
    (tmp_path / "link").symlink_to(folder)
    (folder / f"{DATE}_samples_mfe_chart.jsonl").symlink_to(folder / f"{DATE}_samples_mfe_text.jsonl")
    assert list(open_run(tmp_path / "link").samples) == ["mfe_chart", "mfe_text"]
