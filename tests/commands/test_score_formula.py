from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmms_eval_finance.cli import main


def files(folder: Path, *pairs: tuple[str | None, str | None]) -> list[str]:
    for name, column, part in (("gold", "latex", 0), ("pred", "prediction", 1)):
        rows = [json.dumps({"id": i, column: pair[part]}) for i, pair in enumerate(pairs)]
        folder.joinpath(name).write_text("\n".join(rows), encoding="utf-8")
    return ["score", "formula", "--gold", str(folder / "gold"), "--pred", str(folder / "pred")]


def test_figures_and_outcomes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = files(
        tmp_path,
        ("x+y", "$x+y$"),
        (r"\sigma^2", r"\sigma_2"),
        ("x", None),
        (r"\frac{", "x"),
        ("x", r"\frac{"),
    )
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["scores"] == {
        "CDM F1": 0.375,
        "ExpRate@CDM": 0.25,
        "precision": 0.375,
        "recall": 0.375,
        "formulas": 4,
        "correct": 1,
        "partial": 1,
        "empty": 1,
        "gold_unusable": 1,
        "unreadable": 1,
    }
    assert found["items"][3] == {
        "id": "3",
        "f1": None,
        "precision": None,
        "recall": None,
        "exact": False,
        "outcome": "gold_unusable",
    }
    assert main([*arguments, "--variant", "reference"]) == 0
    assert "variant:reference" in capsys.readouterr().out


def test_nothing_left_to_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(files(tmp_path, (r"\frac{", "x"))) == 0
    assert "nothing scored" in capsys.readouterr().out


def test_page(tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    assert main([*files(tmp_path, ("x", "<y>")), "--html", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "<y>" not in text
    assert 'class="miss"' in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "tex"], "--variant reference"),
        (["--engine", "tex", "--variant", "reference", "--html", "x"], "leave out --engine tex"),
        (["--html", "/nowhere/x.html"], "cannot be written"),
    ],
)
def test_wrong_usage_is_one_line(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*files(tmp_path, ("x", "x")), *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
