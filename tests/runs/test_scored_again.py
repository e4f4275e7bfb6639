"""Scoring again: the run's own records where nothing changed, and what errata, votes and decisions change."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lmms_eval_finance.judging.items import Vote
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.runs import rescore
from lmms_eval_finance.runs.journal import write_lines
from lmms_eval_finance.runs.read import Sample
from lmms_eval_finance.runs.rescore import scored_again
from lmms_eval_finance.runs.review import add_decision
from lmms_eval_finance.settings import SettingError
from lmms_eval_finance.tasks import registry

ERRATA = "LMMS_EVAL_FINANCE_ERRATA"


def again(run, skipped=None):
    return [record for one in scored_again(run, skipped) for record in one.records]


def by_id(run):
    return {record.id: record for record in again(run)}


def before(run):
    return [record for _, record in run.records()]


@pytest.fixture
def corrections(tmp_path, varied):
    """corrections(task) -> an errata file that gives every second item another item's gold."""

    def write(task):
        found = registry.find(task)
        records = [record for sample in varied(task) for record in sample.records]
        golds = [str(record.details.get("released_gold", record.gold)) for record in records]
        rows = [
            {
                "benchmark": found.benchmark,
                "task": found.split,
                "id": record.id,
                "released": gold,
                "corrected": golds[number - 1],
                "evidence": "a test",
                "date": "2026-01-02",
            }
            for number, (record, gold) in enumerate(zip(records, golds, strict=True))
            if number % 2 and golds[number - 1] != gold
        ]
        path = tmp_path / f"{task}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def test_nothing_changes_where_nothing_changed(any_task, varied, save_run, monkeypatch):
    run = save_run({any_task: varied(any_task)})
    # neither the data nor the convention of the run are needed
    monkeypatch.delenv("LMMS_EVAL_FINANCE_DATA")
    monkeypatch.delenv("LMMS_EVAL_FINANCE_COORDINATES")
    assert len(before(run)) > 1
    assert [record.to_json() for record in again(run)] == [record.to_json() for record in before(run)]


CORRECTED = [
    "finmme_finscore",
    "famma",
    "mfe_text",
    "mfe_table",
    "mfe_conversation",
    "cfmme_subject",
    "cfmme_qa",
]


@pytest.mark.parametrize("task", CORRECTED)
def test_errata_later_are_errata_in_the_run(task, varied, save_run, corrections, monkeypatch):
    """Both ways: a run on released golds becomes one on corrected golds, and the other way round."""
    path = corrections(task)
    on_released = save_run({task: varied(task)}, model="released")
    monkeypatch.setenv(ERRATA, str(path))
    on_corrected = save_run({task: varied(task)}, model="corrected")
    assert before(on_released) != before(on_corrected)
    assert again(on_released) == before(on_corrected)
    assert again(on_corrected) == before(on_corrected)
    monkeypatch.setenv(ERRATA, "0")
    assert again(on_corrected) == before(on_released)
    monkeypatch.delenv(ERRATA)
    assert again(on_corrected) == before(on_corrected)
    assert again(on_released) == before(on_released)


def test_boxes_can_be_read_by_another_convention(varied, save_run, monkeypatch):
    in_pixels = save_run({"cfmme_seal_detection": varied("cfmme_seal_detection")}, model="pixels")
    monkeypatch.setenv("LMMS_EVAL_FINANCE_COORDINATES", "thousand")
    as_thousand = save_run({"cfmme_seal_detection": varied("cfmme_seal_detection")}, model="thousand")
    assert again(in_pixels) == before(as_thousand)
    assert before(in_pixels) != before(as_thousand)


# -- votes and decisions ------------------------------------------------------------------------------


def with_votes(samples, *verdicts):
    """The samples as a run has them in which judges voted on every open answer that reached them."""
    votes = [Vote(f"judge {number}", verdict).to_json() for number, verdict in enumerate(verdicts)]

    def voted(record):
        if not record.details.get("rule"):
            return record
        outcome, score, reason = rescore.resolve(record.details["rule"], votes)
        return replace(
            record, outcome=outcome, score=score, reason=reason, details={**record.details, "votes": votes}
        )

    return [Sample([voted(record) for record in one.records], one.prompt, one.metric) for one in samples]


def test_votes_of_the_run_stand(varied, save_run):
    run = save_run({"mfe_text": with_votes(varied("mfe_text"), True, True, False)})
    assert sum(record.reason.startswith("judges") for record in before(run)) > 3
    assert again(run) == before(run)


def test_votes_on_another_gold_do_not_count(varied, save_run, corrections, monkeypatch):
    run = save_run({"mfe_text": with_votes(varied("mfe_text"), True, True)})
    monkeypatch.setenv(ERRATA, str(corrections("mfe_text")))
    for old, new in zip(before(run), again(run), strict=True):
        if new.gold == old.gold:
            assert (new.score, new.reason, new.details["votes"]) == (
                old.score,
                old.reason,
                old.details["votes"],
            )
        else:
            assert new.details["votes"] == []
            assert not new.reason.startswith("judges")


def test_readings_of_an_option_hold_for_any_gold(varied, save_run, corrections, monkeypatch):
    samples = varied("famma_single")
    read = Vote("judge", True, choice="B").to_json()
    samples = [
        Sample(
            [
                replace(record, details={**record.details, "votes": [read]})
                if record.details.get("rule", {}).get("choice", "") is None
                else record
                for record in one.records
            ],
            one.prompt,
            one.metric,
        )
        for one in samples
    ]
    run = save_run({"famma_single": samples})
    asked = [record for record in again(run) if record.details["votes"]]
    for record in asked:
        right = str(record.gold).strip(" .()").upper() == "B"
        assert record.score == float(right)
        assert record.details["votes"][0]["verdict"] is right


def test_a_verdicts_file_and_decisions_count(varied, save_run):
    run = save_run({"mfe_text": varied("mfe_text")})
    rows = [record for record in before(run) if record.details.get("rule")]
    first, second = rows[0], rows[1]
    votes = [Vote("judge", False).to_json()]
    write_lines(
        run.companion("verdicts"),
        [{"task": "mfe_text", "id": first.id, "judges": "one@1234", "votes": votes}],
    )
    add_decision(run, ("mfe_text", second.id), "correct")
    found = by_id(run)
    assert found[first.id].outcome is Outcome.WRONG
    assert found[first.id].reason == "judges: incorrect by 1 of 1"
    assert "judge:one@1234" in found[first.id].signature
    assert (found[second.id].score, found[second.id].reason) == (1.0, "person: correct")
    others = [record for record in before(run) if record.id not in (first.id, second.id)]
    assert [found[record.id] for record in others] == others


def test_a_decision_on_another_gold_does_not_count(varied, save_run, corrections, monkeypatch):
    run = save_run({"mfe_text": varied("mfe_text")})
    for record in before(run):
        add_decision(run, ("mfe_text", record.id), "correct")
    assert all(record.score == 1.0 for record in again(run))
    monkeypatch.setenv(ERRATA, str(corrections("mfe_text")))
    for old, new in zip(before(run), again(run), strict=True):
        assert (new.reason == "person: correct") == (new.gold == old.gold)


# -- files as they come -------------------------------------------------------------------------------


def test_several_processes_give_the_same(varied, save_run, monkeypatch):
    samples = varied("finmme_finscore")
    many = [
        Sample([replace(record, id=f"{copy}-{record.id}") for record in one.records], "", one.metric)
        for copy in range(30)
        for one in samples
    ]
    run = save_run({"finmme_finscore": many})
    alone = again(run)
    monkeypatch.setattr(rescore, "_LARGE", 0)
    assert again(run) == alone == before(run)


@pytest.mark.parametrize("large", [0, 10**9])
def test_broken_lines_are_named_or_left_out(varied, save_run, monkeypatch, large):
    monkeypatch.setattr(rescore, "_LARGE", large)
    run = save_run({"mfe_text": varied("mfe_text")})
    path = run.samples["mfe_text"]
    good = path.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in good.splitlines()]
    lines[0]["accuracy"]["id"] = "damaged"
    lines[0]["accuracy"]["details"] |= {"options": 7, "question": ["?"]}
    path.write_text(f"{good}nonsense\n\n{good.splitlines()[2]}\n{json.dumps(lines[0])}\n", encoding="utf-8")
    count = len(lines)
    with pytest.raises(SettingError, match=rf"mfe_text\.jsonl:{count + 1}: not JSON.*--skip-broken"):
        again(run)
    skipped = []
    assert len(again(run, skipped)) == count
    assert [line.split(": ", 1)[1].split(" (")[0] for line in skipped] == [
        "not JSON: Expecting value: line 1 column 1",
        f"the item '{lines[2]['accuracy']['id']}' stands twice",
        "its records cannot be scored again",
    ]


def test_records_that_lack_what_scoring_takes_are_left_as_they_are(write_run, make):
    from lmms_eval_finance.runs.read import open_run

    bare = [make.empty(1), make.judged(2, "correct")]
    run = open_run(write_run({"mfe_text": bare[:1], "finmme_finscore": bare[:1], "someones_task": bare}))
    assert again(run) == before(run)


def test_a_wrong_setting_is_one_error(varied, save_run, monkeypatch):
    run = save_run({"cfmme_seal_detection": varied("cfmme_seal_detection")})
    monkeypatch.setenv("LMMS_EVAL_FINANCE_COORDINATES", "furlongs")
    with pytest.raises(SettingError, match="LMMS_EVAL_FINANCE_COORDINATES"):
        again(run, [])
    monkeypatch.setenv("LMMS_EVAL_FINANCE_COORDINATES", "absolute")
    monkeypatch.setenv(ERRATA, "/nowhere.jsonl")
    with pytest.raises(SettingError, match="there is no such errata file"):
        again(save_run({"mfe_text": varied("mfe_text")}, model="other"))


def test_half_a_run_is_not_left_behind(varied, save_run, tmp_path, capsys):
    from lmms_eval_finance.cli import main

    run = save_run({"mfe_text": varied("mfe_text")})
    with run.samples["mfe_text"].open("a") as file:
        file.write("nonsense\n")
    arguments = ["rescore", str(run.folder), "-o", str(tmp_path / "new")]
    assert main(arguments) == 2
    assert "not JSON" in capsys.readouterr().err
    assert not list((tmp_path / "new").rglob("*.json*"))
    assert main([*arguments, "--skip-broken"]) == 0
    assert main([*arguments, "--skip-broken"]) == 2
    assert "exists already" in capsys.readouterr().err


def test_undecided_items_can_be_left_out(write_run, make, capsys):
    from lmms_eval_finance.cli import main

    folder = write_run({"someones": [make.judged(1, "correct"), make.judged(2, "undecided")]})
    assert main(["rescore", str(folder)]) == 0
    assert "accuracy        0.5000" in capsys.readouterr().out
    assert main(["rescore", str(folder), "--without-undecided"]) == 0
    out = capsys.readouterr().out
    assert "accuracy      1.0000" in out
    assert "1 undecided left out" in out
    assert "undecided:left out" in out


def test_a_folder_of_several_runs_is_scored_as_a_whole(varied, save_run, tmp_path, capsys):
    from lmms_eval_finance.cli import main

    folder = save_run({"mfe_text": varied("mfe_text", 1)}, model="a").folder.parent
    save_run({"mfe_table": varied("mfe_table", 1)}, model="b")
    assert main(["rescore", str(folder), "-o", str(tmp_path / "new")]) == 0
    out = capsys.readouterr().out
    assert out.index("# a, ") < out.index("mfe_text: ") < out.index("# b, ") < out.index("mfe_table: ")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"a", "b"}
