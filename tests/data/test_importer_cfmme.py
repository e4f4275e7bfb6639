from __future__ import annotations

import json
import shutil

import pytest
from PIL import Image

from lmms_eval_finance.cli import main
from lmms_eval_finance.data import check, sources
from lmms_eval_finance.data.importers.cfmme import import_release
from lmms_eval_finance.data.importers.folders import MANIFEST
from lmms_eval_finance.data.sources import SAMPLE, DataError

ROW = {
    "id": "1",
    "task": "subject",
    "subset": "金融学",
    "images": ["pages/a.png"],
    "question": "选择",
    "options": ["一", "二"],
    "answer": "A",
}


@pytest.fixture
def release(tmp_path):
    """release(rows, ...) -> a folder with them and one image."""

    def make(*rows, name="rows.jsonl"):
        folder = tmp_path / "release"
        (folder / "pages").mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (40, 30)).save(folder / "pages" / "a.png")
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / name).write_text(text, encoding="utf-8")
        return folder

    return make


def test_the_import_can_be_run_and_compares_with_its_source(tmp_path, monkeypatch):
    manifest = import_release(SAMPLE / "cfmme", tmp_path / "data" / "cfmme")
    assert sum(manifest.counts.values()) == 50
    assert "not the counts of the paper" in str(manifest)
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    expected = {split: sources.locate("cfmme", split).fingerprint for split in manifest.counts}
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", str(tmp_path / "data"))
    reports = list(check.check("cfmme"))
    assert [report.problem for report in reports] == [""] * 8
    assert {report.split: report.source.fingerprint for report in reports} == expected
    assert not any(report.content for report in reports)
    # once more over itself, with the same result
    assert import_release(SAMPLE / "cfmme", tmp_path / "data" / "cfmme") == manifest


def test_rows_of_several_files_go_where_their_task_says(release, tmp_path):
    release({**ROW, "id": 7}, name="one.jsonl")
    folder = release(
        {**ROW, "task": "cfmme_subject", "id": "8"},
        {**ROW, "task": "formula_recognition", "latex": "x"},
        name="two.jsonl",
    )
    manifest = import_release(folder, tmp_path / "cfmme")
    assert manifest.counts == {"subject": 2, "formula_recognition": 1}
    assert manifest.images == 1
    rows = [
        json.loads(line)
        for line in (tmp_path / "cfmme" / "subject.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [row["id"] for row in rows] == ["7", "8"]
    assert json.loads((tmp_path / "cfmme" / MANIFEST).read_text(encoding="utf-8"))["benchmark"] == "cfmme"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "unknown"}, "column task: is 'unknown', none of subject"),
        ({"id": None}, "column id: is empty"),
        ({"question": 5}, "column question: is 5, not text"),
        ({"options": "A"}, "column options: is 'A', not a list of texts or of image numbers"),
        ({"options": [0, 1]}, r"names image 1 of 1 \(counted from 0\)"),
        ({"options": [0, "b"]}, "not a list of texts or of image numbers"),
        ({"options": [-1]}, "not a list of texts or of image numbers"),
        ({"images": []}, "column images: is empty"),
        ({"images": "pages/a.png"}, "column images: is 'pages/a.png', not a list of images"),
        ({"images": ["pages/b.png"]}, "there is no image file pages/b.png"),
        ({"images": ["../outside.png"]}, "outside"),
        ({"images": ["rows.jsonl"]}, "there is no image file rows.jsonl"),
        ({"images": ["broken.png"]}, "broken.png cannot be read as an image"),
        (
            {"task": "seal_detection", "boxes": [{"bbox": [1, 2, 3], "label": "company"}]},
            "not a list of {bbox",
        ),
        ({"task": "information_extraction", "fields": ["a"]}, "not a JSON object"),
        ({"task": "information_extraction", "fields": {}, "keys": "a"}, "not a list of texts"),
        ({"task": "table_recognition"}, "column html: is missing"),
    ],
)
def test_a_fault_names_file_row_and_column_and_leaves_nothing(release, tmp_path, change, message):
    folder = release(ROW, {**ROW, "id": "2", **change})
    (folder / "broken.png").write_bytes(b"\x89PNG no")
    Image.new("RGB", (9, 9)).save(tmp_path / "outside.png")
    with pytest.raises(DataError, match=message):
        import_release(folder, tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_faults_are_told_in_one_message_by_the_command(release, tmp_path, capsys):
    folder = release(ROW, {**ROW, "answer": 3})
    assert main(["data", "import", "cfmme", str(folder), "-o", str(tmp_path / "data")]) == 2
    printed = capsys.readouterr().err
    assert "rows.jsonl, row 2, column answer: is 3, not text" in printed
    assert "rows.jsonl, row 2, column id: repeats the id of row 1" in printed


@pytest.mark.parametrize("source", ["nowhere", "empty", "inside"])
def test_places_that_cannot_be_used(release, tmp_path, source):
    folder = release(ROW)
    (tmp_path / "empty").mkdir()
    if source == "inside":
        shutil.copytree(folder, tmp_path / "data" / "old")
        (tmp_path / "data" / MANIFEST).write_text("{}")
        with pytest.raises(DataError, match="which the import replaces"):
            import_release(tmp_path / "data" / "old", tmp_path / "data")
        assert (tmp_path / "data" / "old" / "rows.jsonl").is_file()
    else:
        with pytest.raises(DataError, match=r"no such folder|no \*\.jsonl"):
            import_release(tmp_path / source, tmp_path / "data")


def test_content_faults_are_listed_and_scored_as_released(release, tmp_path, monkeypatch):
    question = {**ROW, "question_type": "essay"}
    folder = release(
        {**question, "id": "1", "answer": "C"},
        {**ROW, "id": "2", "options": None, "answer": "A"},
        {**ROW, "id": "3", "answer": ""},
        {**ROW, "id": "4", "options": ["x", "x"]},
        {**ROW, "id": "5", "options": None, "answer": "√"},
        {**ROW, "id": "6", "task": "qa", "image_type": "map"},
        {**ROW, "id": "7", "task": "qa", "image_type": "table", "options": None},
        {"id": "8", "task": "seal_detection", "subset": "s", "images": ["pages/a.png"],
         "boxes": [{"bbox": [9, 9, 1, 1], "label": "dragon"}]},
        {"id": "9", "task": "information_extraction", "subset": "s", "images": ["pages/a.png"],
         "fields": {"a": "1", "b": "2"}, "keys": ["a"]},
    )  # fmt: skip
    import_release(folder, tmp_path / "data" / "cfmme")
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", str(tmp_path / "data"))
    found = {
        str(fault).partition(", column ")[2] for report in check.check("cfmme") for fault in report.content
    }
    for expected in (
        "question_type: is 'essay', none of single_choice, multiple_choice, true_false, open (id 1)",
        "answer: is 'C' for 2 options (id 1)",
        "options: is empty and the answer is neither true nor false (id 2)",
        "answer: is empty (not scored) (id 3)",
        "options: holds the same option twice (id 4)",
        "image_type: is 'map', none of table, candlestick, shareholding, statistical (id 6)",
        "html: is empty for a table (left out of cfmme_qa_table_html) (id 7)",
        "boxes: holds [9, 9, 1, 1], which encloses nothing (id 8)",
        "boxes: holds the label 'dragon', none of company, personal (id 8)",
        "keys: lacks b, which the fields hold (not scored) (id 9)",
    ):
        assert expected in found, found
    assert not any("(id 5)" in fault for fault in found)
