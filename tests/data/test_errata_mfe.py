"""The reviewed golds of Multimodal Finance Eval: complete, consistent, and backed by what they quote."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from lmms_eval_finance.data import errata
from lmms_eval_finance.data.importers import mfe_rows

CORRECTED = errata.FOLDER / "mfe.jsonl"
REVIEWED = errata.FOLDER / "mfe_reviewed.jsonl"
FAULTS = {
    "percentage turned into a fraction",
    "day and month swapped",
    "date in spreadsheet notation",
    "stray characters",
    "incomplete",
    "not in the context",
    "contradicts the page",
    "contradicts its own justification",
    "a dash for an answer that the context states",
    "the year instead of the figure asked for",
    "oui for a true/false question",
    "English for a French yes/no question",
}


def entries(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def released(shared_dir: Path) -> dict[tuple[str, str], dict[str, Any]]:
    splits = mfe_rows.read_release(shared_dir / "data" / "multimodal_finance_eval")
    return {(split, row["id"]): row for split, rows in splits.items() for row in rows}


def place(entry: dict[str, Any]) -> tuple[str, str]:
    return entry["task"], entry["id"]


def test_the_files_are_well_formed() -> None:
    assert len(errata.read(CORRECTED).corrections) == len(entries(CORRECTED)) == 53
    for entry in entries(CORRECTED):
        assert set(entry) == {*errata.KEYS, "where", "fault"}
        assert entry["fault"] in FAULTS
        assert entry["corrected"].strip() == entry["corrected"] != entry["released"]
    for entry in entries(REVIEWED):
        assert entry["verdict"] in ("right", "kept")
        assert (entry["verdict"] == "right") or entry["note"]
    both = Counter(place(entry) for file in (CORRECTED, REVIEWED) for entry in entries(file))
    assert both.most_common(1)[0][1] == 1
    assert all(
        entry["where"] in ("context", "page", "image", "justification") for entry in entries(CORRECTED)
    )


def test_every_number_and_date_among_the_golds_was_read(
    released: dict[tuple[str, str], dict[str, Any]],
) -> None:
    odd = {key: row["answer_type"] for key, row in released.items() if row["answer_type"] != "text"}
    assert Counter("date" if kind == "date" else "number" for kind in odd.values()) == {
        "number": 73,
        "date": 11,
    }
    read = {place(entry) for file in (CORRECTED, REVIEWED) for entry in entries(file)}
    assert set(odd) <= read
    # No date came through a spreadsheet in its own notation, and no percentage as one.
    assert {key for key, kind in odd.items() if kind in ("date", "number")} <= {
        place(entry) for entry in entries(CORRECTED)
    }


def test_released_golds_are_quoted_exactly(released: dict[tuple[str, str], dict[str, Any]]) -> None:
    for file in (CORRECTED, REVIEWED):
        for entry in entries(file):
            assert entry["released"] == released[place(entry)]["answer"]


def test_dates_are_the_released_ones_with_day_and_month_exchanged() -> None:
    months = {"novembre": 11}
    for entry in entries(CORRECTED):
        if entry["fault"] not in ("day and month swapped", "date in spreadsheet notation"):
            continue
        year, month, day = map(int, entry["released"][:10].split("-"))
        own_day, own_month, own_year = re.split(r"[/ -]", entry["corrected"])
        read = (int(own_day), months.get(own_month) or int(own_month), int(own_year))
        assert read == (month, day, year)
        assert (entry["fault"] == "day and month swapped") == (month != day)


def test_percentages_are_the_released_fractions() -> None:
    for entry in entries(CORRECTED):
        if entry["fault"] == "percentage turned into a fraction":
            percentage = float(entry["corrected"].rstrip("% ").replace(",", "."))
            assert percentage == pytest.approx(100 * float(entry["released"]))


def _folded(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).replace("\ufffe", "").replace("’", "'").replace("‘", "'")
    return re.sub(r"\s+", " ", text).strip().casefold()


def test_quotations_stand_where_they_are_said_to(
    released: dict[tuple[str, str], dict[str, Any]], shared_dir: Path
) -> None:
    """The parts of a quotation are joined by " … "; what was read off a drawn page cannot be searched for."""
    pages: dict[Path, str] = {}
    searched = 0
    for entry in entries(CORRECTED) + entries(REVIEWED):
        row = released[place(entry)]
        if entry["where"] == "image":
            assert row["image"]
            continue
        if entry["where"] == "page":
            folder = shared_dir / "data" / "multimodal_finance_eval" / "raw_documents"
            pdf = folder / str(mfe_rows.PARTS[row["task"]].pages) / row["element_file"]
            if pdf not in pages:
                pages[pdf] = _folded(pypdfium2.PdfDocument(pdf)[0].get_textpage().get_text_range())
            source = pages[pdf]
        else:
            source = _folded(row[entry["where"]])
        for part in entry["evidence"].split(" … "):
            assert _folded(part) in source, entry
        searched += 1
    assert searched > 80


def test_the_corrected_gold_is_used_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert errata.load("mfe").gold("text", "3", "0.05") == "0.05"
    monkeypatch.setenv("LMMS_EVAL_FINANCE_ERRATA", "1")
    corrections = errata.load("mfe")
    assert corrections.version
    assert corrections.gold("text", "3", "0.05") == "5.00%"
    assert corrections.gold("text", "165", "2014-06-11T00:00:00") == "06 novembre 2014"
    assert corrections.gold("text", "12", "1989") == "1989"
