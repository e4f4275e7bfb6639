from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from lmms_eval_finance.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs" / "score.md"
MEASURES = {
    "table": ("html", "<table><tr><td>1</td></tr></table>", []),
    "boxes": ("boxes", [{"bbox": [1, 2, 3, 4], "label": "company"}], ["--convention", "absolute"]),
    "text": ("text", "abc", []),
    "fields": ("fields", {"a": "x"}, []),
    "formula": ("latex", "x+1", []),
}


def documented() -> list[object]:
    files: dict[str, str] = {}
    examples = []
    for name, kind, body in re.findall(
        r"(?:`([\w.-]+)`:\n\n)?```(jsonl|console)\n(.*?)\n```(?=\n)", DOCS.read_text("utf-8"), re.DOTALL
    ):
        if kind == "jsonl":
            files[name] = body
        else:
            command, _, output = body.partition("\n")
            examples.append(pytest.param(dict(files), command, output, id=command.split()[3]))
    return examples


@pytest.mark.parametrize(("files", "command", "output"), documented())
def test_documented_examples_run(
    files: dict[str, str],
    command: str,
    output: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, body in files.items():
        (tmp_path / name).write_text(body + "\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    prompt, program, *arguments = shlex.split(command)
    assert (prompt, program) == ("$", "lmms-eval-finance")
    assert main(arguments) == 0
    assert capsys.readouterr().out.rstrip("\n") == output


def test_every_measure_has_an_example() -> None:
    assert {example.id for example in documented()} == set(MEASURES)  # type: ignore[attr-defined]


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def score(measure: str, gold: Path, pred: Path, *more: str) -> int:
    return main(["score", measure, "--gold", str(gold), "--pred", str(pred), *MEASURES[measure][2], *more])


@pytest.mark.parametrize("measure", MEASURES)
def test_perfect_empty_and_written(measure: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    column, value, _ = MEASURES[measure]
    gold = write(tmp_path / "gold.jsonl", {"id": 1, column: value}, {"id": "二", column: value})
    right = value if isinstance(value, str | dict) else json.dumps(value)
    pred = write(tmp_path / "pred.jsonl", {"id": "二", "prediction": right}, {"id": "1", "prediction": right})
    out = tmp_path / "out.json"
    assert score(measure, gold, pred, "-o", str(out)) == 0
    printed = capsys.readouterr().out
    written = json.loads(out.read_text("utf-8"))
    first = next(iter(written["scores"]))
    assert written["scores"][first] == 1
    assert printed.startswith(first)
    assert "signature" in printed
    assert [item["id"] for item in written["items"]] == ["1", "二"]
    assert (written["interval"]["low"], written["interval"]["high"]) == (1, 1)
    empty = write(tmp_path / "empty.jsonl", {"id": 1, "prediction": None}, {"id": "二", "prediction": ""})
    assert score(measure, gold, empty, "--json") == 0
    assert json.loads(capsys.readouterr().out)["scores"][first] == 0


def refused(capsys: pytest.CaptureFixture[str], measure: str, gold: Path, pred: Path, *more: str) -> str:
    assert score(measure, gold, pred, *more) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    [line] = captured.err.splitlines()
    return line


@pytest.mark.parametrize("measure", MEASURES)
def test_faults_of_the_files_are_one_line(
    measure: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    column, value, _ = MEASURES[measure]
    gold = write(tmp_path / "gold.jsonl", {"id": "a", column: value}, {"id": "b", column: value})
    pred = write(tmp_path / "pred.jsonl", {"id": "a", "prediction": ""}, {"id": "b", "prediction": ""})
    bad = tmp_path / "bad.jsonl"

    def says(text: str | bytes | list[object]) -> str:
        if isinstance(text, list):
            write(bad, *text)
        else:
            bad.write_bytes(text.encode() if isinstance(text, str) else text)
        return refused(capsys, measure, gold, bad)

    assert "none.jsonl: cannot be read (No such file" in refused(
        capsys, measure, tmp_path / "none.jsonl", pred
    )
    assert "cannot be read (Is a directory" in refused(capsys, measure, gold, tmp_path)
    assert "bad.jsonl, line 2: not JSON" in says('{"id": "a", "prediction": ""}\n{"id": \n')
    assert "bad.jsonl, line 1: not a JSON object" in says("[1]\n")
    assert "bad.jsonl: not UTF-8" in says(b"\xff\xfe\n")
    assert "bad.jsonl: has no rows" in says("\n\n")
    assert "not usable JSON" in says('{"id": ' + "9" * 5000 + "}")
    assert "not usable JSON" in says('{"id": ' + "[" * 100_000)
    assert "row 1: needs an 'id'" in says([{"prediction": ""}])
    assert "row 1: needs an 'id'" in says([{"id": True, "prediction": ""}])
    assert "row 2 (id '1'): the id stands in the file twice" in says(
        [{"id": 1, "prediction": ""}, {"id": "1"}]
    )
    assert "row 1 (id 'a'): has no 'prediction'; its keys are id, answer" in says([{"id": "a", "answer": ""}])
    assert "no row for 1 of 2 ids of the other file ('b')" in says([{"id": "a", "prediction": ""}])
    more = [{"id": id, "prediction": ""} for id in "abcdef"]
    assert "gold.jsonl: no row for 4 of 6 ids of the other file ('c', 'd', 'e', ...)" in says(more)
    assert f"has no '{column}'" in refused(capsys, measure, pred, gold)
    assert "cannot be written" in refused(capsys, measure, gold, pred, "-o", str(tmp_path / "no" / "x.json"))


@pytest.mark.parametrize(
    ("measure", "gold", "pred", "more", "message"),
    [
        ("table", {"html": 1}, {"prediction": ""}, [], "gold.jsonl, row 1 (id 'a'): 'html' must be a text, not int"),
        ("table", {"html": ""}, {"prediction": []}, [], "pred.jsonl, row 1 (id 'a'): 'prediction' must be a text"),
        ("text", {"text": "x"}, {"prediction": 1}, [], "'prediction' must be a text, not int"),
        ("fields", {"fields": []}, {"prediction": ""}, [], "'fields' must be an object, not list"),
        ("fields", {"fields": {}}, {"prediction": 1}, [], "'prediction' must be a text or an object"),
        ("fields", {"fields": {}, "keys": "a"}, {"prediction": ""}, [], "'keys' must be a list of texts"),
        ("boxes", {"boxes": {}}, {"prediction": ""}, [], "'boxes' must be a list of"),
        ("boxes", {"boxes": [[1, 2, 3, 4]]}, {"prediction": ""}, [], "'boxes' must be a list of"),
        ("boxes", {"boxes": [{"bbox": [1, 2, 3]}]}, {"prediction": ""}, [], "'boxes' must be a list of"),
        ("boxes", {"boxes": [{"bbox": [1, 2, 3, 10**400]}]}, {"prediction": ""}, [], "'boxes' must be a list of"),
        ("boxes", {"boxes": [{"bbox": [1, 2, 3, 4], "label": 1}]}, {"prediction": ""}, [], "'boxes' must be"),
        ("boxes", {"boxes": []}, {"prediction": ""}, ["--convention", "unit"], "needs 'image_size' as [width, height]"),
        ("boxes", {"boxes": [], "image_size": [0, 5]}, {"prediction": ""}, ["--convention", "auto"], "needs 'image_size'"),
        ("boxes", {"boxes": [], "image_size": [float("inf"), 5]}, {"prediction": ""}, ["--convention", "unit"], "needs 'image_size'"),
        ("boxes", {"boxes": [], "image_size": [9, 9]}, {"prediction": ""}, ["--convention", "model_absolute"], "pred.jsonl, row 1 (id 'a'): needs 'model_image_size'"),
    ],
)  # fmt: skip
def test_faults_of_the_columns_are_one_line(
    measure: str,
    gold: dict[str, object],
    pred: dict[str, object],
    more: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    golds = write(tmp_path / "gold.jsonl", {"id": "a", **gold})
    preds = write(tmp_path / "pred.jsonl", {"id": "a", **pred})
    assert message in refused(capsys, measure, golds, preds, *more)


def test_a_missing_converter_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from lmms_eval_finance.metrics import text

    monkeypatch.setitem(__import__("sys").modules, "opencc", None)
    text._simplifier.cache_clear()
    gold = write(tmp_path / "gold.jsonl", {"id": "a", "text": "x"})
    pred = write(tmp_path / "pred.jsonl", {"id": "a", "prediction": "x"})
    assert "lmms-eval-finance[chinese]" in refused(capsys, "text", gold, pred, "--simplify")
    text._simplifier.cache_clear()


@pytest.mark.parametrize(
    "arguments", [["score"], ["score", "formulae"], ["score", "boxes", "--gold", "x", "--pred", "y"]]
)
def test_wrong_usage_exits_with_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


def test_unusable_gold_leaves_the_mean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = MEASURES["table"][1]
    gold = write(tmp_path / "gold.jsonl", {"id": "a", "html": table}, {"id": "b", "html": "no table"})
    pred = write(tmp_path / "pred.jsonl", {"id": "a", "prediction": table}, {"id": "b", "prediction": table})
    assert score("table", gold, pred, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["scores"] == {"TEDS": 1.0, "S-TEDS": 1.0, "tables": 1, "gold_unusable": 1}
    assert [item["outcome"] for item in result["items"]] == [None, "gold_unusable"]


def test_odd_labels_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = write(
        tmp_path / "gold.jsonl", {"id": "\ud800", "boxes": [{"bbox": [1, 2, 3, 4], "label": "\ud800x"}]}
    )
    pred = write(tmp_path / "pred.jsonl", {"id": "\ud800", "prediction": "[[1,2,3,4]]"})
    assert score("boxes", gold, pred) == 0
    assert score("boxes", gold, pred, "-o", str(tmp_path / "out.json")) == 0
    assert "AP x" in capsys.readouterr().out
