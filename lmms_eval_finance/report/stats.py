"""A benchmark's data set tables from its data: counts by label, mean lengths."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lmms_eval_finance.data import sources
from lmms_eval_finance.data.schemas import benchmark
from lmms_eval_finance.data.schemas import famma as famma_schema
from lmms_eval_finance.data.schemas.finmme import LABEL_COLUMNS
from lmms_eval_finance.report.table import Cell, Table

Rows = Sequence[Mapping[str, Any]]

_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_]+|[^\w\s]")
TOKENIZER = "tokens are runs of letters and digits, single Chinese characters and punctuation marks"


def tokens(text: str) -> int:
    """The number of tokens of a text, as `TOKENIZER` says.

    >>> tokens("EBIT rose 3.5%."), tokens("净利润上升")
    (7, 5)
    """
    return len(_TOKEN.findall(text))


def stats(name: str) -> list[Table]:
    """The data set tables of a benchmark, over the splits that the settings lead to.

    Splits that are not at hand are named in a note of the first table.

    Raises:
        KeyError: there is no such benchmark.
        DataError: no split is at hand; the message is that of the first.
    """
    about = benchmark(name)
    splits: dict[str, Rows] = {}
    absent: dict[str, sources.DataError] = {}
    for split, schema in about.splits.items():
        try:
            rows = sources.locate(name, split).load()
        except sources.DataError as error:
            absent[split] = error
            continue
        splits[split] = list(
            rows.remove_columns([column for column in schema.media if column in rows.column_names])
        )
    if not splits:
        raise next(iter(absent.values()))
    counts = Table(
        f"{about.title}: items",
        ["split", "items"],
        [[split, float(len(rows))] for split, rows in splits.items()],
        digits=0,
        note=f"Not at hand: {', '.join(absent)}." if absent else "",
    )
    return [counts, *_TABLES[name](splits)]


def cross(
    title: str,
    rows: Iterable[Mapping[str, Any]],
    down: Callable[[Mapping[str, Any]], str],
    across: Callable[[Mapping[str, Any]], str],
    order: Sequence[str] = (),
) -> Table:
    """Counts of rows by two labels, with totals; columns in the given order, others after them."""
    found = Counter((down(row), across(row)) for row in rows)
    columns = sorted(
        {column for _, column in found}, key=lambda name: (name not in order, _place(name, order), name)
    )
    labels = sorted({label for label, _ in found})
    counts = [[float(found[label, column]) for column in columns] for label in labels]
    totals = [sum(of_column) for of_column in zip(*counts, strict=True)]
    lines: list[list[Cell]] = [
        [label, *of_label, sum(of_label)]
        for label, of_label in zip([*labels, "total"], [*counts, totals], strict=True)
    ]
    return Table(title, ["", *columns, "total"], lines, digits=0)


def _place(name: str, order: Sequence[str]) -> int:
    return list(order).index(name) if name in order else len(order)


def mean_tokens(title: str, groups: Mapping[str, Iterable[str]]) -> Table:
    """The mean number of tokens of the texts in each group."""
    lines: list[list[Cell]] = []
    for label, texts in groups.items():
        lengths = [tokens(text) for text in texts]
        if lengths:
            lines.append([label, sum(lengths) / len(lengths)])
    return Table(title, ["", "mean tokens"], lines, note=f"Tokenizer: {TOKENIZER}.")


def _label(column: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda row: str(row.get(column) or "(none)").strip().lower()


def _finmme(splits: Mapping[str, Rows]) -> list[Table]:
    rows = splits["train"]
    found = [cross("FinMME: question types", rows, _label("question_type"), lambda _: "items")]
    columns = ["knowledge_domain", *(name for names in LABEL_COLUMNS.values() for name in names)]
    present = [name for name in columns if any(row.get(name) for row in rows)]
    return found + [cross(f"FinMME: {name}", rows, _label(name), _label("question_type")) for name in present]


def _famma(splits: Mapping[str, Rows]) -> list[Table]:
    found = []
    for split, rows in splits.items():
        difficulty = _label("topic_difficulty")
        found += [
            cross(f"FAMMA {split}: table 1, difficulty by language", rows, _label("language"), difficulty,
                  famma_schema.DIFFICULTIES),
            cross(f"FAMMA {split}: question types", rows, lambda row: famma_schema.question_type(row["question_type"]),
                  _label("language")),
            mean_tokens(f"FAMMA {split}: table 7, mean tokens of question and context",
                        {label: [_asked(row) for row in rows if _label("subfield")(row) == label]
                         for label in sorted({_label("subfield")(row) for row in rows})}),
            cross(f"FAMMA {split}: table 8, subfields by difficulty", rows, _label("subfield"), difficulty,
                  famma_schema.DIFFICULTIES),
        ]  # fmt: skip
    return found


def _asked(row: Mapping[str, Any]) -> str:
    return f"{row['context'] or ''}\n{row['question'] or ''}"


def _mfe(splits: Mapping[str, Rows]) -> list[Table]:
    rows = [row for of_split in splits.values() for row in of_split]
    return [
        cross(
            "Multimodal Finance Eval: table 1, question types", rows, _label("question_type"), _label("task")
        ),
        cross(
            "Multimodal Finance Eval: table 1, context sizes", rows, _label("context_size"), _label("task")
        ),
        mean_tokens(
            "Multimodal Finance Eval: mean tokens of questions",
            {split: [row["question"] for row in of_split] for split, of_split in splits.items()},
        ),
    ]


def _cfmme(splits: Mapping[str, Rows]) -> list[Table]:
    return [
        cross(f"CFMME {split}: image types by subset", rows, _label("subset"), _label("image_type"))
        for split, rows in splits.items()
    ]


_TABLES = {"finmme": _finmme, "famma": _famma, "mfe": _mfe, "cfmme": _cfmme}
