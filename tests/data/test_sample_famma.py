"""The packaged sample of FAMMA: drawn by its script, every kind of row there is."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from PIL import Image

from lmms_eval_finance.data.importers.famma_options import read_options
from lmms_eval_finance.data.schemas.famma import BENCHMARK, IMAGES, MASKED_SPLITS, SUBFIELDS, question_type
from lmms_eval_finance.metrics.masking import unmasked

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "lmms_eval_finance" / "data" / "sample" / "famma"


def rows(split):
    return [json.loads(line) for line in (FOLDER / f"{split}.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def script():
    path = ROOT / "scripts" / "draw_famma_sample.py"
    spec = importlib.util.spec_from_file_location("draw_famma_sample", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_rows_are_what_the_script_writes(script):
    assert {split: rows(split) for split in BENCHMARK.splits} == script.rows()
    assert {path.name for path in (FOLDER / "images").iterdir()} == set(script.pictures())


def test_no_row_has_a_fault_but_the_missing_golds():
    for split, schema in BENCHMARK.splits.items():
        assert not schema.faults(rows(split), split)
        empty = {column.name: None for column in schema.columns}
        faults = {fault for row in rows(split) for fault in schema.content_faults({**empty, **row})}
        assert faults == ({("answers", "is empty (not scored)")} if split == "test" else set())


def test_every_kind_of_question_is_there():
    basic = rows("release_basic")
    contexts = defaultdict(list)
    for row in basic:
        contexts[row["language"], row["main_question_id"]].append(row)
    assert len(basic) >= 18
    assert len(contexts) == 8
    assert {language for language, _ in contexts} == {"english", "chinese", "french"}
    assert {row["subfield"] for row in basic} == set(SUBFIELDS)
    assert {row["image_type"] for row in basic} == {"table", "chart", "screenshot"}
    for language in ("english", "chinese", "french"):
        kept = [row for row in basic if row["language"] == language]
        assert {question_type(row["question_type"]) for row in kept} == {"multiple_choice", "open"}
        assert {row["topic_difficulty"] for row in kept} == {"easy", "medium", "hard"}
    for members in contexts.values():  # as in the release
        assert len({row["question_type"] for row in members}) == 1
    counts = {len([name for name in IMAGES if row[name]]) for row in basic}
    assert {0, 1, 2, 4, 7} == counts


def test_images_are_placed_everywhere_and_one_is_used_twice():
    basic = rows("release_basic")
    for place in ("context", "question"):
        assert any("<image_" in row[place] for row in basic)
    assert any("<image_" in option for row in basic for option in row["options"])
    assert any(row["image_1"] and not re.search("<image", row["context"] + row["question"]) for row in basic)
    used = Counter(
        (row["main_question_id"], row["language"], row["image_1"]) for row in basic if row["image_1"]
    )
    assert max(used.values()) > 1
    modes = {path.suffix: Image.open(path).mode for path in (FOLDER / "images").iterdir()}
    assert modes[".jpg"] == "CMYK"
    assert {Image.open(path).mode for path in (FOLDER / "images").glob("*.png")} >= {
        "P",
        "RGBA",
        "LA",
        "L",
        "1",
        "RGB",
    }


def test_it_is_small():
    assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) < 400_000


def test_masked_golds_are_those_of_the_script(script):
    live = [row["answers"] for row in script.live()]
    for split in MASKED_SPLITS:
        masked = [row["answers"] for row in rows(split)]
        assert not set(masked) & set(live)
        assert list(map(unmasked, masked)) == live


def test_the_text_splits_show_no_image():
    for split in ("release_basic_txt", "release_livepro_txt"):
        for row in rows(split):
            assert not any(row[name] for name in IMAGES)
        assert any("<ocr>" in row["context"] for row in rows(split))


def test_the_early_release_differs_in_schema():
    early = rows("validation")
    assert all(isinstance(row["options"], str) and isinstance(row["sub_question_id"], str) for row in early)
    assert {row["question_type"] for row in early} == {"Multiple-Choice", "open question"}
    assert any(read_options(row["options"]) for row in early)
    assert all(row["answers"] is None for row in rows("test"))


def test_golds_follow_from_what_is_drawn(script):
    answers = {}
    for row in [*script.basic(), *script.live()]:
        letter = row["answers"].strip(". ").upper()
        options = {chr(65 + place): text for place, text in enumerate(row["options"])}
        answers[row["question"]] = re.sub(r"^[A-D][.)] ", "", options[letter]) if options else row["answers"]
    sheet = script.BALANCE
    assert (
        float(answers["What is the current ratio?"]) == sheet["Current assets"] / sheet["Current liabilities"]
    )
    quick = (sheet["Current assets"] - sheet["of which inventory"]) / sheet["Current liabilities"]
    assert float(answers["What is the quick ratio?"]) == quick
    assert answers["What is the return on equity?"] == f"{sheet['Net income'] / sheet['Equity']:.0%}"
    assert answers["What is its price?"].endswith(f"{1000 / 1.1**2:.2f}")
    mean, deviation = script.FUNDS["Fund A"]
    assert float(answers["What is the Sharpe ratio of Fund A in <image_1>?"]) == (mean - 3) / deviation
    short = next(text for question, text in answers.items() if question.startswith("By how much"))
    assert short.startswith(str(mean - script.YEAR["Fund A"]))
    sectors = script.SECTORS
    assert answers["Which sector did best?"] == max(sectors, key=sectors.__getitem__)
    assert answers["What is the mean of the seven returns?"] == f"{sum(sectors.values()) / 7:.2f}%"
    revenue = list(script.REVENUE.values())
    growth = {
        year: after / before
        for (before, after), year in zip(itertools.pairwise(revenue), list(script.REVENUE)[1:], strict=True)
    }
    assert answers["2022年营业收入增长了多少?"] == f"{growth['2022年'] - 1:.0%}"
    assert answers["哪一年的增长率最高?"] == max(growth, key=growth.__getitem__)
    assert answers["2021年至2024年营业收入共增加多少?"] == f"{(revenue[-1] - revenue[0]) / 100:.2f}亿元"
    assert answers["企业每年应付多少利息?"] == f"{800 * 0.045:.0f}万元"
    assert answers["Quel est son point mort ?"] == "54 €"
    assert answers["Quel est son rendement courant ?"] == f"{100 * 60 / 960:.2f} %".replace(".", ",")
    assert answers["What will the next dividend be?"] == f"${2 * 1.05:.2f}"
    assert answers["What is the share worth?"] == f"${2 * 1.05 / (0.09 - 0.05):.2f}"
    assert answers["远期升水率是多少?"] == f"{7.344 / 7.2 - 1:.0%}"
