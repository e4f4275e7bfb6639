from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from lmms_eval_finance.cli import main
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.runs import errors
from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.runs.review import add_decision

KINDS = list(errors.TAXONOMIES["famma"])


def record(
    number,
    *,
    language="english",
    difficulty="easy",
    right=False,
    gold="10",
    prediction="12",
    kind="open",
    outcome=None,
):
    outcome = outcome or (Outcome.CORRECT if right else Outcome.WRONG)
    return Record(
        id=f"{language}_{number}",
        outcome=outcome,
        score=float(right) if outcome.scored else None,
        labels={"language": language, "difficulty": difficulty},
        gold=gold,
        prediction=prediction,
        response=prediction,
        signature="task:famma",
        details={
            "question": f"How much is {number}?",
            "question_type": kind,
            "language": "en",
            "judge_preset": "famma",
            "rule": {},
        },
    )


def pool(per_cell=60):
    return [
        ("famma", record(f"{difficulty}_{number}", language=language, difficulty=difficulty))
        for language in ("english", "chinese", "french")
        for difficulty in ("easy", "medium", "hard")
        for number in range(per_cell)
    ]


class TestDraw:
    def test_the_papers_marginals(self):
        drawn = errors.draw(pool(), 100, 0, errors.PAPER_STRATA)
        assert len(drawn) == 100
        languages = Counter(item.labels["language"] for _, item in drawn)
        difficulties = Counter(item.labels["difficulty"] for _, item in drawn)
        for found, wanted in ((languages, "language"), (difficulties, "difficulty")):
            for value, count in errors.PAPER_STRATA[wanted].items():
                assert abs(found[value] - count) <= 2

    def test_cells_that_lack_errors_are_filled_from_others(self):
        few = [item for item in pool() if item[1].labels["language"] == "english"]
        drawn = errors.draw(few, 100, 0, errors.PAPER_STRATA)
        assert len(drawn) == 100 == len({item.id for _, item in drawn})

    def test_the_same_whatever_the_order_and_another_with_another_seed(self):
        shuffled = pool()
        random.Random(1).shuffle(shuffled)
        first = errors.draw(pool(), 50, 0, errors.PAPER_STRATA)
        assert errors.draw(shuffled, 50, 0, errors.PAPER_STRATA) == first
        assert errors.draw(pool(), 50, 1, errors.PAPER_STRATA) != first

    def test_only_errors_and_never_more_than_there_are(self):
        items = [
            ("t", record(1, right=True)),
            ("t", record(2)),
            ("t", record(3, outcome=Outcome.JUDGE_FAILED)),
        ]
        assert [item.id for _, item in errors.draw(items, 100, 0)] == ["english_2"]

    def test_proportional(self):
        items = pool(10) + [("famma", record(f"more_{n}")) for n in range(90)]
        drawn = errors.draw(items, 60, 0)
        found = Counter((item.labels["language"], item.labels["difficulty"]) for _, item in drawn)
        assert found["english", "easy"] == pytest.approx(60 * 100 / 180, abs=1)


@pytest.mark.parametrize(
    ("gold", "prediction", "cause"),
    [
        ("10", "10.3", "near-miss"),
        ("10", "1000", "scale or unit slip"),
        ("5%", "5", "scale or unit slip"),
        ("$5.1 million", "5.1 billion dollars", "scale or unit slip"),
        ("-10", "10", "sign slip"),
        ("10", "37", "unclear"),
        ("10", "no number", "unclear"),
        ("0", "3", "unclear"),
        ("duration risk", "credit risk", "unclear"),
    ],
)
def test_what_rules_can_tell(gold, prediction, cause):
    assert errors.rule_cause(record(1, gold=gold, prediction=prediction)) == cause


def test_rules_on_options_and_silence():
    assert errors.rule_cause(record(1, kind="choice")) == "wrong option"
    assert errors.rule_cause(record(1, outcome=Outcome.TRUNCATED)) == "no answer"


@pytest.fixture
def run(tmp_path):
    """A saved run of ten errors and two right answers."""
    folder = tmp_path / "model"
    folder.mkdir()
    rows = [record(n, difficulty=("easy", "hard")[n % 2]) for n in range(10)] + [
        record(n, right=True) for n in (10, 11)
    ]
    write(folder, rows)
    return folder


def write(folder, rows, task="famma"):
    lines = [json.dumps({"doc_id": n, "accuracy": row.to_json()}) for n, row in enumerate(rows)]
    (folder / f"20261129_samples_{task}.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "20261129_results.json").write_text("{}")


def judges(tmp_path, server, count=1):
    tables = "".join(
        f'[[judge]]\nname = "j{n}"\nmodel = "m{n}"\nbase_url = "{server.url}"\n' for n in range(count)
    )
    path = tmp_path / "judges.toml"
    path.write_text(f'cache = "{tmp_path}/cache.sqlite"\n{tables}')
    return path


def test_without_judges_the_rules_speak_alone(run, capsys):
    assert main(["errors", str(run)]) == 0
    out = capsys.readouterr().out
    assert "| near-miss |" not in out
    assert "| unclear | 10.0 | 100.0 |" in out
    assert "figure 6" not in out


def test_kinds_come_from_judges_and_stand_in_the_tables(run, tmp_path, openai_server, capsys):
    openai_server.reply = lambda body: "Option: C" if "student" in str(body) else "?"
    assert main(["errors", str(run), "--judges", str(judges(tmp_path, openai_server))]) == 0
    out = capsys.readouterr().out
    assert "| numerical inaccuracy | 10.0 | 100.0 |" in out
    assert "10 of 10 errors have a kind; a person confirmed 0." in out
    assert "| english | numerical inaccuracy |" in out
    prompt = openai_server.requests[0].text
    assert "C. numerical inaccuracy: the method is right" in prompt
    assert len(openai_server.requests) == 10


def test_a_panel_has_to_agree_and_garbage_is_no_kind(run, tmp_path, openai_server):
    replies = {"m0": "Option: A", "m1": "Option: B", "m2": "who knows"}
    openai_server.reply = lambda body: replies[body["model"]]
    assert main(["errors", str(run), "--judges", str(judges(tmp_path, openai_server, 3))]) == 0
    items = errors.load(open_run(run))
    assert {item.kind for item in items} == {""}
    assert [vote["kind"] for vote in items[0].votes] == [KINDS[0], KINDS[1], ""]
    replies["m1"] = "Option: A"
    (tmp_path / "cache.sqlite").unlink()
    assert main(["errors", str(run), "--judges", str(judges(tmp_path, openai_server, 3))]) == 0
    assert {item.kind for item in errors.load(open_run(run))} == {KINDS[0]}


def test_a_persons_decision_stands_above_the_judges(run, capsys):
    assert main(["errors", str(run)]) == 0
    found = open_run(run)
    first = errors.load(found)[0]
    add_decision(found, (first.task, first.id), KINDS[3], kind=errors.ERROR_DECISIONS)
    again = errors.load(found)[0]
    assert (again.kind, again.confirmed) == (KINDS[3], True)
    assert main(["errors", str(run)]) == 0  # drawing anew keeps what was decided
    assert "a person confirmed 1." in capsys.readouterr().out


def test_remedies_are_counted_by_kind(run, tmp_path, openai_server, capsys):
    openai_server.reply = "Option: D"
    assert main(["errors", str(run), "--judges", str(judges(tmp_path, openai_server))]) == 0
    remedy = tmp_path / "remedied"
    remedy.mkdir()
    write(remedy, [record(n, right=n < 4) for n in range(12)], task="famma_rag")
    capsys.readouterr()
    assert main(["errors", "compare", str(run), str(remedy), "--csv"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[1].startswith(",total,")
    assert rows[2].split(",")[:2] == ["errors", "10.0"]
    assert rows[3].split(",")[:2] == ["famma_rag", "4.0"]
    assert rows[3].split(",")[2 + KINDS.index("domain knowledge gaps")] == "4.0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "{run}"], "at least one remedied run"),
        (["compare", "{run}", "{run}"], "no analysis yet"),
        (["{run}", "{run}"], "name one run"),
        (["{run}", "--sample", "0"], "at least one error"),
        (["/nowhere"], "no such file"),
    ],
)
def test_wrong_usage_is_one_message(run, capsys, arguments, message):
    assert main(["errors", *(argument.format(run=run) for argument in arguments)]) == 2
    assert message in capsys.readouterr().err
