"""The packaged sample of Multimodal Finance Eval: drawn by its script, in the importer's layout."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PIL import Image

from lmms_eval_finance.data.importers import mfe_rows
from lmms_eval_finance.data.schemas.mfe import BENCHMARK, SCHEMA, options

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "lmms_eval_finance" / "data" / "sample" / "mfe"


def rows(split: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{split}.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_mfe_sample", ROOT / "scripts" / "draw_mfe_sample.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_rows_are_what_the_script_writes(script: ModuleType) -> None:
    drawn = script.rows()
    assert {split: rows(split) for split in BENCHMARK.splits} == drawn
    manifest = json.loads((FOLDER / "manifest.json").read_text("utf-8"))
    assert manifest["content_hash"] == mfe_rows.content_hash(drawn)
    assert manifest["counts"] == {split: len(kept) for split, kept in drawn.items()}


def test_every_task_and_question_type_is_there_without_a_fault() -> None:
    everything = [row for split in BENCHMARK.splits for row in rows(split)]
    assert len(everything) >= 20
    assert {row["question_type"] for row in everything} == {"open", "yes_no", "true_false", "choice"}
    assert [row["turn"] for row in rows("conversation")] == [1, 2, 3, 4, 5]
    for split in BENCHMARK.splits:
        assert not SCHEMA.faults(rows(split), split)
        assert not [fault for row in rows(split) for fault in SCHEMA.content_faults(row)]
    for row in rows("conversation"):
        assert [letter for letter, _ in options(row["question"])] == ["A", "B", "C", "D"]


def test_the_columns_are_those_of_an_import(shared_dir: Path) -> None:
    imported = mfe_rows.read_release(shared_dir / "data" / "multimodal_finance_eval")
    for split in BENCHMARK.splits:
        assert [list(row) for row in rows(split)[:1]] == [list(row) for row in imported[split][:1]]


def test_images_are_there_small_and_legible() -> None:
    used = Counter(
        row[column] for split in BENCHMARK.splits for row in rows(split) for column in ("image", "image_144")
    )
    assert {FOLDER / name for name in used if name} == set(FOLDER.glob("images/*/*"))
    assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) < 300_000
    for small in FOLDER.glob("images/72dpi/*"):
        with Image.open(small) as one, Image.open(FOLDER / "images" / "144dpi" / f"{small.stem}.png") as two:
            assert two.size == (2 * one.width, 2 * one.height)
            assert one.convert("L").getextrema() <= (40, 255)


def test_golds_follow_from_what_is_drawn(script: ModuleType) -> None:
    fund = {year: values[0] for year, values in script.PERFORMANCE.items()}
    golds = {row["question"]: row["answer"] for split in BENCHMARK.splits for row in rows(split)}
    assert golds["Quelle a été la pire année du fonds ?"] == min(fund, key=lambda year: fund[year])
    assert golds["Combien de fois la performance du fonds a-t-elle dépassé 7 % ?"] == str(
        sum(value > 7 for value in fund.values())
    )
    assert golds["Quelle a été la performance du fonds en 2021 ?"] == f"{fund['2021']} %".replace(".", ",")
    assert sum(share for share, _ in script.ALLOCATION.values()) == 100
    invested = 20_000 * (1 - 0.03)
    chosen = [dict(options(row["question"]))[row["answer"]] for row in rows("conversation")]
    assert chosen[1] == f"{invested:,.0f} €".replace(",", " ")
    assert chosen[2] == f"{invested * 0.0165:.2f} €".replace(".", ",")


def test_no_real_fund_can_have_the_isin_codes(script: ModuleType) -> None:
    for code in script.ISIN.values():
        digits = "".join(str(int(character, 36)) for character in code)
        doubled = [int(d) * (2 if place % 2 else 1) for place, d in enumerate(reversed(digits))]
        assert sum(value // 10 + value % 10 for value in doubled) % 10 != 0
