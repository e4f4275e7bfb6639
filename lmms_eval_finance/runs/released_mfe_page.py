"""The figures of `released_mfe` as Markdown, and the page in which they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lmms_eval_finance.data import errata
from lmms_eval_finance.runs.released_mfe import (
    PRINTED,
    REWORDED,
    ModelFigures,
    Rate,
    Rates,
    ReleasedTables,
    macro,
    published,
    weighted,
)
from lmms_eval_finance.settings import SettingError

BEGIN = "<!-- figures: begin; what stands from here to the end mark is written by the command below -->"
END = "<!-- figures: end -->"
COMMAND = (
    "lmms-eval-finance rescore --benchmark mfe --released RELEASED_ANSWERS --data DATA "
    "--markdown docs/multimodal_finance_eval.md"
)

_TITLES = {
    "text": "Text",
    "table": "Tables",
    REWORDED: "Reworded",
    "chart": "Charts",
    "special_case": "Special",
    "conversation_gold": "Conv., gold",
    "conversation": "Conv.",
}
_CORRECTED = {**_TITLES, "conversation": "Conv., realigned"}


def render_markdown(tables: ReleasedTables) -> str:
    """All tables with what they show, as Markdown."""
    sections = [
        _as_printed(tables.models),
        _corrected(
            tables.models, "Corrected: all tables, dialogues realigned", lambda found: found.corrected
        ),
    ]
    if tables.corrections:
        sections += [
            _corrected(
                tables.models,
                f"Corrected, on the corrected golds (errata {tables.errata_version})",
                lambda found: found.amended,
            ),
            _effect(tables.models, tables.corrections),
            _corrections(tables.corrections),
        ]
    if tables.notes:
        sections.append("\n".join(f"- {note}" for note in tables.notes))
    return "\n\n".join([f"    {COMMAND}", *sections])


def write_page(path: Path, figures: str) -> None:
    """Put figures between the marks of a page, or start a page with them.

    Raises:
        SettingError: the file cannot be written, or is something else than such a page.
    """
    try:
        page = path.read_text(encoding="utf-8") if path.exists() else f"{BEGIN}\n{END}\n"
        before, begin, rest = page.partition(BEGIN)
        _, end, after = rest.partition(END)
        if not (begin and end):
            raise SettingError(f"{path}: has no marks to put the figures between; choose a new file")
        path.write_text(f"{before}{BEGIN}\n\n{figures}\n\n{END}{after}", encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: cannot be written ({error})") from error


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(head)
    lines = [titles, ["---"] + ["---:"] * (len(titles) - 1), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _percent(rate: Rate | None) -> str:
    return _number(rate.percent if rate else None)


def _as_printed(models: Sequence[ModelFigures]) -> str:
    met = cells = 0
    rows = []
    for found in models:
        row = []
        for name in (*PRINTED, "average"):
            rate = None if name == "average" else found.released[name]
            value = found.average_as_printed if name == "average" else rate.percent if rate else None
            printed = found.printed.get(name)
            same = printed is None or (value is not None and f"{value:.1f}" == f"{printed:.1f}")
            cells += printed is not None
            met += printed is not None and same
            row.append(_number(value) if same else f"{_number(value) or '–'} (printed {printed:.1f})")
        rows.append([_cell(found.name), *row[:-1], _percent(found.released[REWORDED]), row[-1]])
    absent = [
        entry["name"]
        for entry in published()["models"]
        if entry["name"] not in {found.name for found in models}
    ]
    text = f"{met} of the {cells} printed cells of these models are met to the last digit." if cells else ""
    if absent:
        text = f"{text} No answers were found of {', '.join(absent)}.".strip()
    head = ["Model", *(_TITLES[name] for name in PRINTED), "Reworded (not printed)", "Average"]
    return f"### Table 2 as printed\n\n{text}\n\n{_table(head, rows)}"


def _corrected(models: Sequence[ModelFigures], title: str, rates: Callable[[ModelFigures], Rates]) -> str:
    names = [name for name in _CORRECTED if any(rates(found).get(name) for found in models)]
    rows = [
        [
            _cell(found.name),
            *(_percent(rates(found).get(name)) for name in names),
            _gap(rates(found)),
            _number(macro(rates(found))),
            _number(weighted(rates(found))),
        ]
        for found in models
    ]
    sizes: dict[str, int] = {}
    for found in models:
        sizes.update({name: rate.n for name in names if (rate := rates(found).get(name))})
    head = [f"{_CORRECTED[name]} ({sizes[name]})" for name in names]
    return f"### {title}\n\n{_table(['Model', *head, 'Gap', 'Macro', 'Weighted'], rows)}"


def _gap(rates: Rates) -> str:
    gold, own = rates.get("conversation_gold"), rates.get("conversation")
    return f"{gold.percent - own.percent:+.1f}" if gold and own else ""


def _effect(models: Sequence[ModelFigures], corrections: Sequence[errata.Correction]) -> str:
    splits = [split for split in _TITLES if any(split in found.changed for found in models)]
    counts: dict[str, int] = {}
    for fix in corrections:
        counts[fix.task] = counts.get(fix.task, 0) + 1
    rows = [
        [
            _cell(found.name),
            *(_change(found.changed.get(split)) for split in splits),
            str(found.undecided),
        ]
        for found in models
    ]
    head = [f"{_TITLES[split]} ({counts.get(split, 0)} golds)" for split in splits]
    return (
        "### What the corrected golds change\n\nAnswers that become right / wrong; the rules leave the last column "
        f"undecided, so that its votes stand.\n\n{_table(['Model', *head, 'Undecided'], rows)}"
    )


def _change(change: tuple[int, int] | None) -> str:
    return "" if change is None else f"+{change[0]} / -{change[1]}"


def _corrections(corrections: Sequence[errata.Correction]) -> str:
    rows = [
        [fix.task, fix.id, *(_cell(text) for text in (fix.released, fix.corrected, fix.evidence))]
        for fix in corrections
    ]
    return "### Corrected golds\n\n" + _table(
        ["Split", "Id", "Released", "Corrected", "Evidence"], rows
    ).replace("---:", "---")


def _cell(text: str) -> str:
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= 90 else text[:87] + "…"
