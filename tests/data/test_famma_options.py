from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.data.importers.famma_options import read_options
from lmms_eval_finance.metrics.answers import extract_letters, parse_gold_letters

TEXTS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
    .map(str.strip)
    .filter(bool),
    min_size=2,
    max_size=6,
)


@given(TEXTS)
def test_every_print_of_a_list_gives_the_list_back(options: list[str]) -> None:
    assert read_options(options) == options
    assert read_options(str(options)) == options
    assert read_options(str(np.array(options, dtype=object))) == options
    assert read_options(repr(np.array(options, dtype=object))) == options
    assert read_options(str([np.str_(option) for option in options])) == options
    assert read_options(
        json.dumps([option.replace("\\", "/") for option in options], ensure_ascii=False)
    ) == [option.replace("\\", "/") for option in options]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (None, []),
        ("", []),
        ("nan", []),
        (float("nan"), []),
        ("[]", []),
        ("['A. x' 'B. y']", ["A. x", "B. y"]),
        ("['A. x' 'B. y'\n 'C. z']", ["A. x", "B. y", "C. z"]),
        ("['A. x', 'B. y']", ["A. x", "B. y"]),
        ('["A. it\'s x" "B. y"]', ["A. it's x", "B. y"]),
        ("['A. \"x\"' 'B. y\\'s']", ['A. "x"', "B. y's"]),
        ("A. x\nB. y", ["A. x", "B. y"]),
        ("A. x; B. y", ["A. x", "B. y"]),
        ("A. x B. y", ["A. x", "B. y"]),
        ("only one", ["only one"]),
        ("[1, 2]", ["1", "2"]),
        (("A. x", "B. y"), ["A. x", "B. y"]),
        (7, ["7"]),
    ],
)
def test_cells(cell: object, expected: list[str]) -> None:
    assert read_options(cell) == expected  # type: ignore[arg-type]


@given(st.text())
def test_every_cell_gives_a_list(cell: str) -> None:
    assert all(
        isinstance(option, str) and option for option in read_options(cell) if cell.strip() == cell != ""
    )


def test_every_multiple_choice_of_the_release_reads(shared_dir: Path) -> None:
    with (shared_dir / "data" / "famma" / "release_basic_txt_english.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        rows = [row for row in csv.DictReader(file) if row["question_type"].startswith("multiple")]
    assert len(rows) == 782
    for row in rows:
        options = read_options(row["options"])
        letters = "ABCDEFGH"[: len(options)]
        assert [option[:2] for option in options] == [f"{letter}." for letter in letters], row["question_id"]
        assert 2 <= len(options) <= 6
        gold = parse_gold_letters(row["answers"], options)
        assert gold is not None, row["question_id"]
        assert gold == frozenset(row["answers"].strip(". ").upper())
        # and the gold, however stated, is read back from a reply
        (letter,) = gold
        text = options[letters.index(letter)]
        for reply in (
            f"The answer is {letter}.",
            text,
            f"**{text}**",
            f"\\boxed{{{letter}}}",
            f"So ({letter.lower()}) it is.",
        ):
            assert extract_letters(reply, options) == gold, (row["question_id"], reply)
