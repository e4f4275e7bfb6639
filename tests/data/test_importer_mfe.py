"""The importer of Multimodal Finance Eval, on the real release and on releases with one thing wrong."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import os
import shutil
import socket
import tarfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lmms_eval_finance.data.importers import mfe, mfe_rows
from lmms_eval_finance.data.sources import DataError

COUNTS = {"text": 501, "table": 368, "table_yn_tf": 120, "chart": 128, "special_case": 22, "conversation": 65}


@pytest.fixture(scope="session")
def checkout(shared_dir: Path) -> Path:
    return shared_dir / "data" / "multimodal_finance_eval"


@pytest.fixture(scope="session")
def imported(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "mfe"
    mfe.import_release(checkout, folder)
    return folder


def rows(folder: Path, split: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{split}.jsonl").read_text("utf-8").splitlines()]


def released(checkout: Path, split: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((checkout / mfe_rows.PARTS[split].file).read_text("utf-8"))
    return entries


# -- the real release -----------------------------------------------------------------------------


def test_every_split_has_the_released_rows_in_order_with_all_their_text(
    checkout: Path, imported: Path
) -> None:
    same = {
        "question": ["Question"],
        "document": ["Filename", "Document"],
        "type": ["Type"],
        "entity": ["Named Entities"],
        "domain": ["Domain"],
        "justification": ["Justification"],
        "context": ["Context (LLM input)"],
        "difficulty": ["Difficulty_level"],
        "form": ["Element_form"],
        "multiple_answers": ["Multiple_answers_possible"],
        "deduced": ["Answer to be deduced and not a part of text"],
        "llm_answer": ["LLM Answer"],
        "original_question": ["Original Question"],
        "element_file": ["Element_filename(input)"],
        "element_as_released": ["Element_id"],
        "page": ["Page_origin"],
        "document_id": ["Document_id"],
        "id": ["id"],
        "answer": ["Answer"],
    }
    carried_otherwise = {
        "Question_type",
        "Context size",
        "Input_Context_Size",
        "Validated by a human",
        "Doc_id",
    }
    for split, count in COUNTS.items():
        before, after = released(checkout, split), rows(imported, split)
        assert len(before) == len(after) == count
        assert all(set(row) == set(after[0]) for row in after)
        for entry, row in zip(before, after, strict=True):
            known = {name for names in same.values() for name in names} | carried_otherwise
            assert set(entry) <= known
            for column, names in same.items():
                value = next((entry[name] for name in names if name in entry), None)
                assert (row[column] or "") == ("" if value is None else value) or row[column] == str(value)
    assert {entry["Doc_id"] for entry in released(checkout, "text")} == {"-"}


def test_question_types_and_context_sizes_are_counted_as_table_1_has_them(
    imported: Path, shared_dir: Path
) -> None:
    published = json.loads((shared_dir / "published" / "multimodal_finance_eval.json").read_text("utf-8"))
    names = {"open": "open", "yes_no": "yes_no", "true_false": "true_false", "multiple_choice": "choice"}
    for printed, counts in published["table1_counts"]["question_type"].items():
        for split, count in counts.items():
            kinds = Counter(row["question_type"] for row in rows(imported, split))
            assert kinds[names[printed]] == count
    sizes = {split: Counter(row["context_size"] for row in rows(imported, split)) for split in COUNTS}
    for printed, counts in published["table1_counts"]["context_type"].items():
        # Table 1 has the two chart rows the wrong way round: 73 pages of the release say "+ small txt".
        name = {
            "document_wise_kid": "document",
            "chart": "chart_and_small_text",
            "chart_and_small_text": "chart",
        }.get(printed, printed)
        assert {split: sizes[split][name] for split in counts} == counts


def test_damaged_dialogue_ids_are_joined_and_turns_numbered_in_file_order(imported: Path) -> None:
    turns = rows(imported, "conversation")
    assert Counter(row["dialogue"] for row in turns) == {
        **dict.fromkeys(("1.1", "2.1", "3.1", "4.1", "5.1", "6.1"), 10),
        "7.1": 5,
    }
    assert len({row["element_as_released"] for row in turns}) == 9
    for dialogue in {row["dialogue"] for row in turns}:
        own = [row for row in turns if row["dialogue"] == dialogue]
        assert [row["turn"] for row in own] == list(range(1, len(own) + 1))
        assert [int(row["id"]) for row in own] == sorted(int(row["id"]) for row in own)
        assert len({row["image"] for row in own}) == 1


def test_pages_are_drawn_at_both_resolutions(imported: Path) -> None:
    files = sorted((imported / "images" / "72dpi").iterdir())
    assert len(files) == len(list((imported / "images" / "144dpi").iterdir())) == 90
    for file in files:
        with (
            Image.open(file) as small,
            Image.open(imported / "images" / "144dpi" / f"{file.stem}.png") as large,
        ):
            assert small.format == "JPEG"
            assert small.mode == large.mode == "RGB"
            assert all(abs(2 * a - b) <= 2 for a, b in zip(small.size, large.size, strict=True))
            assert small.convert("L").getextrema()[0] < 128 < 200 < small.convert("L").getextrema()[1]
    used = {
        row[column] for split in COUNTS for row in rows(imported, split) for column in ("image", "image_144")
    }
    assert used - {None} == {str(file.relative_to(imported)) for file in imported.glob("images/*/*")}
    assert all(row["image"] is None for row in rows(imported, "text"))


def test_the_manifest_says_what_is_there(imported: Path) -> None:
    manifest = json.loads((imported / "manifest.json").read_text("utf-8"))
    assert manifest["counts"] == COUNTS
    assert manifest["dialogues"] == 7
    digest = hashlib.sha256()
    for split in COUNTS:
        digest.update(split.encode() + b"\n" + (imported / f"{split}.jsonl").read_bytes())
    assert manifest["content_hash"] == digest.hexdigest() == mfe_rows.RELEASE.content_hash


def test_a_second_import_replaces_the_first(checkout: Path, tmp_path: Path) -> None:
    small = _small_checkout(checkout, tmp_path / "release")
    release = _release_of(small)
    target = tmp_path / "data" / "mfe"
    first = mfe.import_release(small, target, release=release)
    (target / "stray.txt").write_text("from before")
    assert mfe.import_release(small, target, release=release) == first
    assert not (target / "stray.txt").exists()
    assert [path.name for path in target.parent.iterdir()] == ["mfe"]


# -- one thing wrong ------------------------------------------------------------------------------


def _small_checkout(checkout: Path, folder: Path) -> Path:
    """The first two rows of every split with their pages."""
    for split, part in mfe_rows.PARTS.items():
        file = folder / part.file
        file.parent.mkdir(parents=True, exist_ok=True)
        entries = released(checkout, split)[:2]
        file.write_text(json.dumps(entries), encoding="utf-8")
        for entry in entries:
            if part.pages:
                page = Path("raw_documents") / part.pages / entry["Element_filename(input)"]
                (folder / page).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(checkout / page, folder / page)
    return folder


def _release_of(folder: Path) -> mfe_rows.Release:
    splits = mfe_rows.read_release(folder)
    return mfe_rows.Release(
        "0000000", {split: len(rows) for split, rows in splits.items()}, mfe_rows.content_hash(splits)
    )


@pytest.fixture
def small(checkout: Path, tmp_path: Path) -> Path:
    return _small_checkout(checkout, tmp_path / "release")


def _edit(folder: Path, split: str, row: int, **changes: Any) -> None:
    file = folder / mfe_rows.PARTS[split].file
    entries = json.loads(file.read_text("utf-8"))
    entries[row].update({name.replace("__", " "): value for name, value in changes.items()})
    file.write_text(json.dumps(entries), encoding="utf-8")


def _refused(folder: Path, target: Path, release: mfe_rows.Release | None = None) -> str:
    before = set(target.parent.rglob("*")) if target.parent.exists() else set()
    with pytest.raises(DataError) as caught:
        mfe.import_release(folder, target, release=release or mfe_rows.RELEASE)
    assert (set(target.parent.rglob("*")) if target.parent.exists() else set()) == before
    return str(caught.value)


def test_not_a_checkout(tmp_path: Path) -> None:
    assert "no folder dataset_json" in _refused(tmp_path, tmp_path / "data" / "mfe")
    assert "fetch mfe" in _refused(tmp_path / "absent", tmp_path / "data" / "mfe")


def test_a_missing_file_is_named(small: Path, tmp_path: Path) -> None:
    (small / mfe_rows.PARTS["chart"].file).unlink()
    assert "Q&A_finance.dataset_charts.json" in _refused(small, tmp_path / "data" / "mfe")


@pytest.mark.parametrize("content", [b"", b"[", b"\xff\xfe\x00", b"{}", b"[1]", b"null", b"[" * 100_000])
def test_a_broken_file_is_named(small: Path, tmp_path: Path, content: bytes) -> None:
    (small / mfe_rows.PARTS["text"].file).write_bytes(content)
    assert "Q&A_finance.dataset_NER.json" in _refused(small, tmp_path / "data" / "mfe")


@pytest.mark.parametrize(
    ("split", "changes", "said"),
    [
        ("table", {"Element_id": "x"}, "element id is 'x'"),
        ("table", {"Element_id": float("nan")}, "element id is nan"),
        ("chart", {"Element_id": True}, "element id is True"),
        ("chart", {"Element_filename(input)": "../../secret.pdf"}, "not the name of a PDF"),
        ("chart", {"Element_filename(input)": "/etc/passwd"}, "not the name of a PDF"),
        ("text", {"Answer": None}, "answer is None"),
        ("text", {"Answer": ["a"]}, "answer is ['a']"),
        ("text", {"Context__size": "Huge"}, "context size is 'Huge'"),
        ("table", {"Question_type": "Essay"}, "question type is 'Essay'"),
        ("text", {"Question": {"fr": "?"}}, "is not text"),
        ("special_case", {"Page_origin": "three"}, "page is 'three'"),
        ("special_case", {"id": 1}, "id 1 is there twice"),
    ],
)
def test_an_odd_value_is_named_with_its_row(
    small: Path, tmp_path: Path, split: str, changes: dict[str, Any], said: str
) -> None:
    _edit(small, split, 1, **changes)
    message = _refused(small, tmp_path / "data" / "mfe")
    assert f"{mfe_rows.PARTS[split].file}, row 2: " in message.replace("\\", "/")
    assert said in message


def test_a_missing_column_is_named(small: Path, tmp_path: Path) -> None:
    file = small / mfe_rows.PARTS["conversation"].file
    entries = json.loads(file.read_text("utf-8"))
    del entries[1]["Answer"]
    file.write_text(json.dumps(entries), encoding="utf-8")
    message = _refused(small, tmp_path / "data" / "mfe")
    assert "row 2: the column 'Answer' is missing" in message


def test_scattered_turns_are_refused(small: Path, tmp_path: Path) -> None:
    file = small / mfe_rows.PARTS["conversation"].file
    first, second = json.loads(file.read_text("utf-8"))
    other = {**second, "id": 3, "Element_id": 2.1}
    file.write_text(json.dumps([first, other, {**second, "Element_id": 1.09999999999999}]), encoding="utf-8")
    assert "dialogue 1.1 do not stand together" in _refused(small, tmp_path / "data" / "mfe")


def test_wrong_counts_and_changed_rows_are_refused(small: Path, tmp_path: Path) -> None:
    assert "has 2 rows, the release 501" in _refused(small, tmp_path / "data" / "mfe")
    release = _release_of(small)
    _edit(small, "chart", 0, Answer="Peut-être")
    assert "the rows differ from the release" in _refused(small, tmp_path / "data" / "mfe", release)


def test_missing_and_broken_pages_are_named(small: Path, tmp_path: Path) -> None:
    release = _release_of(small)
    page = next((small / "raw_documents" / "dataset_charts").iterdir())
    page.write_bytes(b"%PDF-1.7 not really")
    assert page.name in _refused(small, tmp_path / "data" / "mfe", release)
    page.unlink()
    message = _refused(small, tmp_path / "data" / "mfe", release)
    assert page.name in message
    assert "missing" in message


def _files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_interrupted_import_leaves_nothing(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = _release_of(small)
    target = tmp_path / "data" / "mfe"
    mfe.import_release(small, target, release=release)
    before = _files(target.parent)
    saved = 0

    def save(self: Image.Image, *args: Any, **kwargs: Any) -> None:
        nonlocal saved
        saved += 1
        if saved > 3:
            raise KeyboardInterrupt
        original(self, *args, **kwargs)

    original = Image.Image.save
    monkeypatch.setattr(Image.Image, "save", save)
    with pytest.raises(KeyboardInterrupt):
        mfe.import_release(small, target, release=release)
    with pytest.raises(KeyboardInterrupt):
        mfe.import_release(small, target.with_name("other"), release=release)
    assert _files(target.parent) == before


def test_the_earlier_import_survives_when_the_new_one_cannot_take_its_place(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = _release_of(small)
    target = tmp_path / "data" / "mfe"
    mfe.import_release(small, target, release=release)
    before = _files(target.parent)

    def replace(source: Path, destination: Path) -> None:
        if Path(source).name == "new":
            raise PermissionError("held by another program")
        original(source, destination)

    original = os.replace
    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(DataError, match="held by another program"):
        mfe.import_release(small, target, release=release)
    assert _files(target.parent) == before


def test_foreign_files_are_never_replaced(small: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")
    assert "holds other files" in _refused(small, target)
    assert (target / "thesis.tex").read_text() == "years of work"
    assert "is not a folder" in _refused(small, target / "thesis.tex")
    assert "cannot be written" in _refused(small, target / "thesis.tex" / "mfe", _release_of(small))


# -- downloads ------------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    folder = tmp_path / "www"
    folder.mkdir()
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *args: Handler(*args, directory=str(folder))
    ) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_address[1]}"
        httpd.shutdown()


def _archive(folder: Path, file: Path) -> None:
    with tarfile.open(file, "w:gz") as archive:
        archive.add(folder, arcname="Scribe_finance-72717f4")
        for name in ("Scribe_finance-72717f4/dataset_json/../../../evil.json", "/dataset_json/evil.json"):
            entry = tarfile.TarInfo(name)
            entry.size = 2
            archive.addfile(entry, io.BytesIO(b"[]"))
        link = tarfile.TarInfo("Scribe_finance-72717f4/dataset_json/link.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)


def test_a_download_is_imported(small: Path, tmp_path: Path, server: str) -> None:
    _archive(small, tmp_path / "www" / "release.tar.gz")
    target = tmp_path / "data" / "mfe"
    manifest = mfe.fetch_release(target, url=f"{server}/release.tar.gz", release=_release_of(small))
    assert manifest.counts == dict.fromkeys(COUNTS, 2)
    assert rows(target, "chart")[0]["answer"] == "Oui"
    assert not list(tmp_path.rglob("evil.json"))


def test_downloads_that_cannot_be_used_say_so(tmp_path: Path, server: str) -> None:
    target = tmp_path / "data" / "mfe"
    (tmp_path / "www" / "text.tar.gz").write_text("moved")
    with pytest.raises(DataError, match="not a readable archive"):
        mfe.fetch_release(target, url=f"{server}/text.tar.gz")
    with pytest.raises(DataError, match=r"404.*data import mfe FOLDER"):
        mfe.fetch_release(target, url=f"{server}/absent.tar.gz")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        closed = listener.getsockname()[1]
    with pytest.raises(DataError, match="is there a network connection"):
        mfe.fetch_release(target, url=f"http://127.0.0.1:{closed}/release.tar.gz")
    assert not target.parent.exists()


# -- ids ------------------------------------------------------------------------------------------


@given(document=st.integers(1, 99), element=st.integers(1, 9), drift=st.integers(-50, 50))
def test_ids_survive_the_drift_of_a_spreadsheet(document: int, element: int, drift: int) -> None:
    name = f"{document}.{element}"
    assert mfe_rows.repaired_id(float(name) + drift * 1e-14) == name == mfe_rows.repaired_id(name)
