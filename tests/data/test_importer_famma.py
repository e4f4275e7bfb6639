"""csv copies of FAMMA: the real one whole, and every fault as one message."""

from __future__ import annotations

import csv
import json
from collections import Counter

import pytest

from lmms_eval_finance.cli import main
from lmms_eval_finance.data import sources
from lmms_eval_finance.data.importers.famma import import_release
from lmms_eval_finance.data.sources import DataError

ROW = {
    "question_id": "chinese_1_1_r3",
    "idx": "0",
    "context": "见表。",
    "question": "多少?",
    "options": "['A. 1'\n 'B. 2']",
    "image_1": "",
    "image_type": "table",
    "answers": "B",
    "explanation": "",
    "topic_difficulty": "easy",
    "question_type": "multiple-choice",
    "subfield": "economics",
    "language": "chinese",
    "main_question_id": "1",
    "sub_question_id": "1",
    "is_arithmetic": "1",
    "release": "release_livepro_txt",
}


def write(path, *rows):
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_the_real_release(shared_dir, tmp_path, monkeypatch, capsys):
    assert main(["data", "import", "famma", str(shared_dir / "data/famma"), "-o", str(tmp_path)]) == 0
    assert "1378 questions (1378 in release_basic_txt)" in capsys.readouterr().out
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", str(tmp_path))
    rows = sources.locate("famma", "release_basic_txt").load()
    assert len(rows) == 1378
    options = [json.loads(options) for options in rows["options"]]
    assert Counter(bool(each) for each in options) == {True: 782, False: 596}
    assert all(row["context"] for row in rows)
    assert main(["data", "check", "famma", "--split", "release_basic_txt"]) == 0
    assert "faults of content" not in capsys.readouterr().out


def test_rows_of_several_files_go_to_their_splits(tmp_path):
    folder = tmp_path / "csv"
    folder.mkdir()
    write(folder / "a.csv", ROW, {**ROW, "question_id": "chinese_1_2_r3", "sub_question_id": "2"})
    write(folder / "b.csv", {**ROW, "release": "release_basic_txt", "answers": ""})
    said = import_release(folder, tmp_path / "out")
    assert said == "FAMMA: 3 questions (2 in release_livepro_txt, 1 in release_basic_txt)"
    lines = (tmp_path / "out/release_livepro_txt.jsonl").read_text("utf-8").splitlines()
    row = json.loads(lines[0])
    assert row["options"] == ["A. 1", "B. 2"]
    assert row["explanation"] is None
    assert "image_1" not in row
    # a second import replaces the first whole
    write(folder / "b.csv", ROW | {"question_id": "other"})
    import_release(folder / "b.csv", tmp_path / "out")
    assert not (tmp_path / "out/release_basic_txt.jsonl").exists()


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([{name: value for name, value in ROW.items() if name != "language"}], "no column language"),
        ([{**ROW, "release": "r9"}], "row 1: release 'r9' is none of"),
        ([ROW, {**ROW, "release": ""}], "row 2: release '' is none of"),
        ([ROW, ROW], "row 2: question_id chinese_1_1_r3 stands twice"),
        ([{**ROW, "release": "release_basic"}], "row 1: release_basic has images"),
    ],
)
def test_faults(tmp_path, rows, why):
    with pytest.raises(DataError, match=why):
        import_release(write(tmp_path / "a.csv", *rows), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_other_files_and_places(tmp_path):
    with pytest.raises(DataError, match="neither a csv file nor a folder"):
        import_release(tmp_path / "nowhere", tmp_path / "out")
    with pytest.raises(DataError, match="neither a csv file nor a folder"):
        import_release(tmp_path, tmp_path / "out")
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00rubbish")
    with pytest.raises(DataError, match=r"cannot be read as csv|no column"):
        import_release(tmp_path / "a.csv", tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/notes.txt").write_text("mine")
    with pytest.raises(DataError, match="holds other files"):
        import_release(write(tmp_path / "b.csv", ROW), tmp_path / "full")
