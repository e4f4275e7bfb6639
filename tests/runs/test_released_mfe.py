"""Table 2 of Multimodal Finance Eval from released answers, against the print and against a direct count."""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.cli import main
from lmms_eval_finance.data import errata
from lmms_eval_finance.runs import released_mfe
from lmms_eval_finance.runs.released_mfe import ModelFigures, Rate, ReleasedTables, released_tables
from lmms_eval_finance.runs.released_mfe_answers import TASKS, Answer, read_answers
from lmms_eval_finance.runs.released_mfe_page import BEGIN, END, render_markdown, write_page
from lmms_eval_finance.settings import SettingError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def release(shared_dir: Path) -> Path:
    return shared_dir / "data" / "multimodal_finance_eval"


@pytest.fixture(scope="module")
def answers_folder(release: Path) -> Path:
    return release / "released_predictions"


@pytest.fixture(scope="module")
def tables(release: Path, answers_folder: Path) -> ReleasedTables:
    return released_tables(answers_folder, release)


@pytest.fixture(scope="module")
def published(shared_dir: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (shared_dir / "published" / "multimodal_finance_eval.json").read_text("utf-8")
    )
    return found


# -- against the print ----------------------------------------------------------------------------


def test_the_packaged_figures_are_the_published_ones(published: dict[str, Any]) -> None:
    own = {entry["name"]: entry for entry in released_mfe.published()["models"]}
    for row in published["table2_accuracy_percent"]:
        assert own[row["model"]]["table2"] == {name: value for name, value in row.items() if name != "model"}
    for ours, theirs in {
        "table_all": "authors_368_item_table_accuracy_percent",
        "table_yn_tf": "reworded_yes_no_percent_not_printed",
        "conversation_realigned": "conversation_realigned_letter_match_percent",
    }.items():
        assert {name: entry["not_printed"][ours] for name, entry in own.items()} == published[theirs]
    for name in ("judges", "table1_counts", "notes"):
        assert released_mfe.published()[name] == published[name]


def test_every_printed_cell_is_met(tables: ReleasedTables, published: dict[str, Any]) -> None:
    printed = {row["model"]: row for row in published["table2_accuracy_percent"]}
    assert [found.name for found in tables.models] == [
        "Qwen3-VL-8B",
        "Gemma-3-12B",
        "Pixtral-12B",
        "Qwen3-VL-32B",
    ]
    for found in tables.models:
        for column in released_mfe.PRINTED:
            rate = found.released[column]
            assert rate is not None
            assert f"{rate.percent:.1f}" == f"{printed[found.name][column]:.1f}", (found.name, column)
        assert f"{found.average_as_printed:.1f}" == f"{printed[found.name]['average']:.1f}"


def test_the_unprinted_figures_are_met(tables: ReleasedTables, published: dict[str, Any]) -> None:
    for found in tables.models:
        for rate, name in (
            (found.corrected["table"], "authors_368_item_table_accuracy_percent"),
            (found.released["table_yn_tf"], "reworded_yes_no_percent_not_printed"),
            (found.corrected["conversation"], "conversation_realigned_letter_match_percent"),
        ):
            assert rate is not None
            assert f"{rate.percent:.1f}" == f"{published[name][found.name]:.1f}", (found.name, name)
        assert found.corrected["table"] == Rate(found.corrected["table"].right, 368)  # type: ignore[union-attr]


# -- against a direct count -----------------------------------------------------------------------


def _lines(path: Path) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        entry = json.loads(line)
        rows[entry["task"]].append(entry)
    return rows


def _file(answers_folder: Path, found: ModelFigures) -> Path:
    return answers_folder / f"{found.model.replace('/', '__')}.jsonl"


def test_votes_are_counted(tables: ReleasedTables, answers_folder: Path) -> None:
    for found in tables.models:
        rows = _lines(_file(answers_folder, found))
        for column, task in released_mfe.PRINTED.items():
            counted = rows[task][:120] if column == "table" else rows[task]
            right = sum(list(row["votes"].values()).count(True) >= 2 for row in counted)
            assert found.released[column] == Rate(right, len(counted))


def test_dialogues_are_realigned(tables: ReleasedTables, answers_folder: Path, release: Path) -> None:
    turns = json.loads(
        (release / "dataset_json" / "Q&A_finance.dataset_calculs_conversation.json").read_text("utf-8")
    )
    order = sorted(range(65), key=lambda place: turns[place]["Element_id"])
    assert sum(place != number for number, place in enumerate(order)) == 20
    for found in tables.models:
        rows = _lines(_file(answers_folder, found))

        def letter(text: str) -> str | None:
            match = re.match(r"\s*\(?([A-D])\b", text)
            return match and match[1]

        own = [row["prediction"] for row in rows["calculs_conversation"]]
        gold = [turn["Answer"] for turn in turns]
        assert found.corrected["conversation"] == Rate(
            sum(letter(own[number]) == gold[place] for number, place in enumerate(order)), 65
        )


def test_means_are_over_the_six_tasks(tables: ReleasedTables) -> None:
    for found in tables.models:
        for rates in (found.corrected, found.amended):
            six = [rates[name] for name in released_mfe.PRINTED]
            assert [rate.n for rate in six if rate] == [501, 368, 128, 65, 65, 22]
            assert released_mfe.macro(rates) == pytest.approx(sum(100 * r.right / r.n for r in six if r) / 6)
            assert released_mfe.weighted(rates) == pytest.approx(100 * sum(r.right for r in six if r) / 1149)


def test_corrected_golds_move_what_they_should(tables: ReleasedTables, answers_folder: Path) -> None:
    for found in tables.models:
        votes = {row["id"]: row for row in _lines(_file(answers_folder, found))["NER"]}
        # All four models give the launch date as the context has it, and no judge agreed.
        assert "novembre 2014" in votes["165"]["prediction"]
        assert not any(votes["165"]["votes"].values())
        before, after = found.corrected["text"], found.amended["text"]
        assert before
        assert after
        gained, lost = found.changed["text"]
        assert gained >= 1
        assert after.right == before.right + gained - lost
        assert found.changed["special_case"] == (0, 0)
        # Turn 29: the justification contradicts the gold, and every model chose what it says.
        one, two = found.corrected["conversation_gold"], found.amended["conversation_gold"]
        assert one
        assert two
        assert two.right == one.right + 1


# -- the other layout -----------------------------------------------------------------------------


def _as_csv(answers_folder: Path, release: Path, folder: Path) -> None:
    """The repository's layout, written from the JSONL and the data."""
    files = {
        "NER": "NER",
        "tables": "tables",
        "tables_yn_tf": "tables_yn_tf_paraphrase",
        "charts": "charts",
        "special_cases": "special_cases",
        "calculs_conversation": "calculs_conversation",
        "calculs_conversation_gold": "calculs_conversation",
    }
    (folder / "results").mkdir(parents=True)
    for path in answers_folder.glob("*.jsonl"):
        for task, rows in _lines(path).items():
            entries = json.loads(
                (release / "dataset_json" / f"Q&A_finance.dataset_{files[task]}.json").read_text("utf-8")
            )
            shown = "context" if task == "NER" else "file"
            for judge in ("", *rows[0]["votes"]):
                name = f"{task}:{path.stem}{':' + judge if judge else ''}.csv"
                with (folder / "results" / name).open("w", encoding="utf-8", newline="") as file:
                    table = csv.writer(file)
                    table.writerow(
                        ["id", shown, "question", "answer", "prediction", *(["evaluation"] if judge else [])]
                    )
                    for row, entry in zip(rows, entries, strict=True):
                        source = entry.get("Context (LLM input)", entry.get("Element_filename(input)"))
                        vote = [row["votes"][judge]] if judge else []
                        table.writerow(
                            [row["id"], source, entry["Question"], entry["Answer"], row["prediction"], *vote]
                        )


def test_the_repository_layout_gives_the_same_figures(
    tables: ReleasedTables, answers_folder: Path, release: Path, tmp_path: Path
) -> None:
    _as_csv(answers_folder, release, tmp_path)
    assert read_answers(tmp_path) == read_answers(answers_folder) == read_answers(tmp_path / "results")
    assert released_tables(tmp_path, release) == tables


def test_columns_without_released_answers_stay_empty(
    answers_folder: Path, release: Path, tmp_path: Path
) -> None:
    source = answers_folder / "Qwen__Qwen3-VL-8B-Instruct.jsonl"
    lines = source.read_text("utf-8").splitlines()
    for name, dropped in (("Org__One.jsonl", "tables_yn_tf"), ("Org__T|wo.jsonl", "charts")):
        kept = [line for line in lines if json.loads(line)["task"] != dropped]
        (tmp_path / name).write_text("\n".join(kept), encoding="utf-8")
    one, two = released_tables(tmp_path, release).models
    assert one.name == "Org/One"
    assert one.printed == {}
    assert one.released["table_yn_tf"] is one.amended["table_yn_tf"] is None
    columns = [one.released[name] for name in released_mfe.PRINTED]
    assert one.average_as_printed == pytest.approx(sum(rate.percent for rate in columns if rate) / 7)
    assert two.released["chart"] is two.average_as_printed is released_mfe.macro(two.corrected) is None
    text = render_markdown(released_tables(tmp_path, release))
    assert "| Org/T\\|wo |" in text
    assert "of the 0 printed" not in text


def test_answers_to_other_rows_are_left_uncorrected(
    answers_folder: Path, release: Path, tmp_path: Path
) -> None:
    lines = (answers_folder / "google__gemma-3-12b-it.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "google__gemma-3-12b-it.jsonl").write_text(
        "\n".join(line for line in lines if '"task": "calculs_conversation", "row": 64' not in line), "utf-8"
    )
    found = released_tables(tmp_path, release)
    (model,) = found.models
    assert model.corrected["conversation"] is None
    assert model.corrected["conversation_gold"] is not None
    assert any("calculs_conversation" in note for note in found.notes)


def test_without_data_only_votes_are_counted(answers_folder: Path, tables: ReleasedTables) -> None:
    bare = released_tables(answers_folder)
    assert [found.released for found in bare.models] == [found.released for found in tables.models]
    assert all(found.corrected["conversation"] is None for found in bare.models)
    assert all(
        found.corrected["table"] == full.corrected["table"]
        for found, full in zip(bare.models, tables.models, strict=True)
    )
    assert "without the benchmark's data" in bare.notes[0]
    assert render_markdown(bare)


def test_imported_data_and_a_checkout_serve_alike(
    answers_folder: Path, release: Path, tables: ReleasedTables, tmp_path: Path
) -> None:
    from lmms_eval_finance.data.importers.mfe_rows import jsonl, read_release

    (tmp_path / "mfe").mkdir()
    for split, rows in read_release(release).items():
        (tmp_path / "mfe" / f"{split}.jsonl").write_bytes(jsonl(rows))
    assert (
        released_tables(answers_folder, tmp_path)
        == released_tables(answers_folder, tmp_path / "mfe")
        == tables
    )


def test_figures_are_plain_json(tables: ReleasedTables) -> None:
    plain = json.loads(json.dumps(tables.to_json()))
    first = plain["models"][0]
    assert first["corrected"]["conversation"] == {"right": 51, "n": 65, "percent": 100 * 51 / 65}
    assert first["macro_corrected"] == pytest.approx(released_mfe.macro(tables.models[0].corrected))


# -- the command ----------------------------------------------------------------------------------


def test_the_command_prints_or_writes_the_figures(
    answers_folder: Path,
    release: Path,
    tables: ReleasedTables,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LMMS_EVAL_FINANCE_DATA", raising=False)
    command = ["rescore", "--benchmark", "mfe", "--released", str(answers_folder)]
    assert main([*command, "--data", str(release)]) == 0
    assert capsys.readouterr().out.strip() == render_markdown(tables).strip()
    assert main([*command, "--data", str(release), "--markdown", str(tmp_path / "page.md")]) == 0
    assert render_markdown(tables) in (tmp_path / "page.md").read_text("utf-8")
    capsys.readouterr()
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    assert main(command) == 0
    assert "without the benchmark's data" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [[], ["--benchmark", "mfe"], ["--released", "x"], ["run", "--benchmark", "mfe", "--released", "x"]],
)
def test_the_command_says_what_it_takes(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rescore", *arguments]) == 2
    assert "--benchmark mfe --released FOLDER" in capsys.readouterr().err


# -- one thing wrong ------------------------------------------------------------------------------


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a__b.jsonl", "", "no released answers"),
        ("a__b.jsonl", "{", "line 1: not JSON"),
        ("a__b.jsonl", '{"task": "NER", "row": "0"}', "`row` is '0'"),
        ("a__b.jsonl", '{"task": "NER", "row": true}', "`row` is True"),
        ("a__b.jsonl", '{"task": "NER", "row": 1}', "do not run from 0"),
        ("a__b.jsonl", '{"task": "NER", "row": 0, "votes": {"x": "yes"}}', "`votes`"),
        ("a__b.jsonl", '{"task": "NER", "row": 0}\n{"task": "NER", "row": 0}', "second answer"),
        ("a__b.jsonl", '{"task": "poems", "row": 0}', "no released answers"),
        ("results/NER:a__b.csv", "id,question\n1,?\n", "'prediction' is missing"),
        ("results/NER:a__b:x.csv", "id,prediction\n1,Oui\n", "'evaluation' is missing"),
        ("results/NER:a__b:x.csv", "id,prediction,evaluation\n1,Oui,maybe\n", "neither True nor False"),
        ("results/NER:a__b:x.csv", "", "'id' is missing"),
        ("results/NER:a__b:x.csv", "id,prediction,evaluation\n", "no released answers"),
    ],
)
def test_broken_answers_are_named(tmp_path: Path, name: str, text: str, said: str) -> None:
    _write(tmp_path / name, text)
    with pytest.raises(SettingError) as caught:
        read_answers(tmp_path)
    assert said in str(caught.value)


def test_judges_must_have_seen_the_same_answers(tmp_path: Path) -> None:
    _write(tmp_path / "results" / "NER:a__b:x.csv", "id,prediction,evaluation\n1,Oui,True\n2,Non,False\n")
    _write(tmp_path / "results" / "NER:a__b:y.csv", "id,prediction,evaluation\n1,Oui,True\n3,Non,False\n")
    with pytest.raises(SettingError, match="ids differ"):
        read_answers(tmp_path)


def test_a_judge_that_did_not_answer_has_no_vote(tmp_path: Path) -> None:
    _write(tmp_path / "results" / "NER:a__b:x.csv", "id,prediction,evaluation\n1.0,Oui,true\n2,Non,\n")
    assert read_answers(tmp_path) == {
        "a/b": {"NER": [Answer("1", "Oui", {"x": True}), Answer("2", "Non", {})]}
    }
    assert Answer("2", "Non", {}).right is None
    (model,) = released_tables(tmp_path).models
    assert model.released["text"] == Rate(1, 1)


def test_missing_folders_and_other_data_are_named(answers_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no such folder"):
        released_tables(tmp_path / "absent")
    with pytest.raises(SettingError, match="data import mfe FOLDER"):
        released_tables(answers_folder, tmp_path)
    _write(tmp_path / "mfe" / "conversation.jsonl", '{"id": "1"}')
    with pytest.raises(SettingError, match="import the benchmark again"):
        released_tables(answers_folder, tmp_path)


# -- properties -----------------------------------------------------------------------------------


@given(st.permutations(range(12)))
def test_realigning_undoes_the_order_of_generation(ids: list[int]) -> None:
    turns = [{"element_as_released": f"{number // 3}.{number % 3}"} for number in ids]
    generated = sorted(range(len(turns)), key=lambda place: float(turns[place]["element_as_released"]))
    answers = [Answer(str(place), "") for place in generated]
    assert [answer.id for answer in released_mfe.realigned(turns, answers)] == [str(n) for n in range(12)]


@given(st.lists(st.booleans(), max_size=5))
def test_a_majority_is_more_than_half(votes: list[bool]) -> None:
    named = {str(number): vote for number, vote in enumerate(votes)}
    assert Answer("1", "", named).right is ((votes.count(True) > votes.count(False)) if votes else None)


def test_the_tasks_are_the_released_ones(answers_folder: Path) -> None:
    assert {task for found in read_answers(answers_folder).values() for task in found} == set(TASKS)


# -- the page -------------------------------------------------------------------------------------


def test_the_page_in_docs_is_current(tables: ReleasedTables) -> None:
    page = (ROOT / "docs" / "multimodal_finance_eval.md").read_text("utf-8")
    current = render_markdown(tables)
    assert page.partition(BEGIN)[2].partition(END)[0].strip() == current.strip(), (
        f"write it again:{current[:200]}"
    )


def test_the_page_counts_its_corrections(tables: ReleasedTables) -> None:
    text = render_markdown(tables)
    assert "28 of the 28 printed cells" in text
    assert len(tables.corrections) == len(errata.read(errata.FOLDER / "mfe.jsonl").corrections)
    assert f"errata {tables.errata_version}" in text


def test_figures_go_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    write_page(page, "one")
    page.write_text("# Title\n\n" + page.read_text("utf-8") + "\nEnd.\n", encoding="utf-8")
    write_page(page, "two")
    assert page.read_text("utf-8") == f"# Title\n\n{BEGIN}\n\ntwo\n\n{END}\n\nEnd.\n"
    with pytest.raises(SettingError, match="no marks"):
        write_page(_write(tmp_path / "other.md", "# Mine"), "three")
    assert (tmp_path / "other.md").read_text("utf-8") == "# Mine"
    with pytest.raises(SettingError, match="cannot be written"):
        write_page(tmp_path / "absent" / "page.md", "four")
