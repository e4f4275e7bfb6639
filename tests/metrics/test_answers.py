from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lmms_eval_finance.metrics.answers import (
    extract_letters,
)

CORPUS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data" / "letters.json").read_text(encoding="utf-8")
)
OPTIONS: dict[str, Any] = CORPUS["options"]
BONDS = OPTIONS["en"]
STATEMENTS = OPTIONS["five"]


@pytest.mark.parametrize(("options", "multiple", "text", "expected"), CORPUS["cases"])
def test_the_letters_that_a_careful_person_reads(
    options: str, multiple: bool, text: str, expected: list[str] | None
) -> None:
    letters = extract_letters(text, OPTIONS[options], multiple=multiple)
    assert (None if letters is None else sorted(letters)) == expected
