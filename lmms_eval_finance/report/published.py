"""The papers' tables as data, and an audit that recomputes what can be recomputed.

`Check`s compare a printed figure with what the paper's own figures give; those that fail are
the misprints that tables mark.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from lmms_eval_finance.data.schemas import BENCHMARKS, benchmark
from lmms_eval_finance.report.table import Cell, Marked, Table

Figures = Mapping[str, Any]


@functools.cache
def load(name: str) -> Figures:
    """The published figures of a benchmark, as packaged.

    Raises:
        KeyError: there is no such benchmark.
    """
    if name not in BENCHMARKS:
        raise KeyError(name)
    text = (files("lmms_eval_finance.data") / "published" / f"{name}.json").read_text(encoding="utf-8")
    found: Figures = json.loads(text)
    return found


@dataclass(frozen=True)
class Check:
    """A printed figure and what the paper's own figures give.

    Attributes:
        table: where it is printed, such as "table 3".
        row, column: of the table.
        printed, computed: both figures, in the paper's unit.
        tolerance: how far rounding may take them apart.
        why: how it was computed, or what else speaks against the figure.
    """

    table: str
    row: str
    column: str
    printed: float
    computed: float
    tolerance: float
    why: str

    @property
    def holds(self) -> bool:
        """Whether the two agree.

        >>> Check("table 1", "a", "b", 1.5, 1.49, 0.01, "").holds
        True
        """
        return abs(self.printed - self.computed) <= self.tolerance + 1e-9

    @property
    def mark(self) -> str:
        """What a footnote says where it does not hold."""
        return f"fails its check: {self.why} gives {self.computed:.2f}"


@functools.cache
def audit(name: str) -> Sequence[Check]:
    """All checks of a benchmark's published figures, in the order of the tables."""
    return list(_AUDITS[name](load(name)))


def misprints(name: str) -> dict[tuple[str, str, str], str]:
    """(table, row, column) -> footnote, for each printed figure that fails its check."""
    return {(one.table, one.row, one.column): one.mark for one in audit(name) if not one.holds}


def cell(name: str, table: str, row: str, column: str, value: Any, marks: Sequence[str] = ()) -> Cell:
    """A published figure as a cell: [mean, spread] or a number, marked where it is a misprint."""
    found = misprints(name).get((table, row, column))
    mean, spread = value if isinstance(value, (list, tuple)) else (value, None)
    notes = [*([found] if found else []), *(marks if mean is not None else ())]
    return Marked(mean, spread=spread, marks=notes) if notes or spread is not None else mean


def audit_table(name: str) -> Table:
    """The audit as a table: every check that fails, and how many hold for each column."""
    checks = audit(name)
    failing = [one for one in checks if not one.holds]
    rows: list[list[Cell]] = [
        [one.table, one.row, one.column, one.printed, one.computed, one.why] for one in failing
    ]
    held: dict[str, int] = {}
    for one in checks:
        held[one.table] = held.get(one.table, 0) + one.holds
    totals = {table: sum(one.table == table for one in checks) for table in held}
    listed = ", ".join(f"{table} {held[table]} of {totals[table]}" for table in held)
    noted = load(name).get("notes", ())
    return Table(
        f"{benchmark(name).title}: audit of the published figures",
        ["table", "row", "column", "printed", "computed", "from"],
        rows,
        note=" ".join([f"Checks that hold: {listed}.", *(f"{note[0].upper()}{note[1:]}." for note in noted)]),
    )


def tables(name: str) -> list[Table]:
    """The published tables as they are printed, misprints marked."""
    return list(_TABLES[name](load(name)))


def _plain(name: str, table: str, title: str, rows: Sequence[tuple[str, Figures]], digits: int = 2) -> Table:
    """A table whose rows hold their columns by name."""
    columns = list(dict.fromkeys(column for _, figures in rows for column in figures))
    lines: list[list[Cell]] = [
        [row, *(cell(name, table, row, column, figures.get(column)) for column in columns)]
        for row, figures in rows
    ]
    shown = [column.replace("_", " ") for column in columns]
    return Table(title, ["model", *shown], lines, digits, kinds=["published"] * len(lines))


def _of_models(published: Figures, table: str) -> list[tuple[str, Figures]]:
    return [(model["name"], model[table]) for model in published["models"] if table in model]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


# -- FinMME ------------------------------------------------------------------------------------------

_SIX = (
    "comprehensive_understanding",
    "fine_grained_perception",
    "analysis_and_reasoning",
    "single_choice",
    "multiple_choice",
    "numerical",
)


def _audit_finmme(published: Figures) -> Iterator[Check]:
    models = {model["name"]: model for model in published["models"]}
    for name, model in models.items():
        mean = _mean([model["table3"][column] for column in _SIX])
        yield Check(
            "table 3", name, "average", model["table3"]["average"], mean, 0.01, "the mean of the six columns"
        )
    for name, model in models.items():
        for column, (mean, _) in model.get("table5", {}).items():
            yield Check(
                "table 5", name, column, mean, model["table3"][column], 0.005, f"table 3's row of {name}"
            )


def _finmme(published: Figures) -> Iterator[Table]:
    yield _plain("finmme", "table 3", "FinMME, table 3", _of_models(published, "table3"))
    yield _plain("finmme", "table 4", "FinMME, table 4: knowledge domains", _of_models(published, "table4"))
    yield _plain("finmme", "table 5", "FinMME, table 5: five runs, mean and standard deviation",
                 _of_models(published, "table5"))  # fmt: skip


# -- FAMMA -------------------------------------------------------------------------------------------

LANGUAGES = ("english", "chinese", "french")
DIFFICULTIES = ("easy", "medium", "hard")


def _audit_famma(published: Figures) -> Iterator[Check]:
    counts, estimate = published["counts"], published["human_estimate"]
    by_difficulty = counts["difficulty"]
    for model in published["models"]:
        for language, row in model["table2"].items():
            if language == "all":
                weights = by_difficulty
            else:
                weights = dict(zip(DIFFICULTIES, published["table8_totals"][language], strict=True))
            total = sum(weights.values())
            mean = sum(row[name] * weights[name] for name in DIFFICULTIES) / total
            place = model["name"] if language == "all" else f"{model['name']}, {language}"
            yield Check(
                "table 2",
                place,
                "overall",
                row["overall"],
                mean,
                0.1,
                "its difficulties weighted by their counts",
            )
    for name, total in (("multiple_choice", "open"), ("validation", "test")):
        both = counts if name in counts else counts["splits"]
        yield Check(
            "table 1", f"{name} and {total}", "total", counts["total"], both[name] + both[total], 0, "the sum"
        )
    for label in ("difficulty", "language", "image_type", "subfield"):
        yield Check(
            "table 1", label, "total", counts["total"], sum(counts[label].values()), 0, "the sum of its parts"
        )
    yield from _audit_famma_table8(published)
    for remedy, parts in _of_models(published, "table5")[0][1].items():
        kinds = sum(count for kind, count in parts.items() if kind != "total")
        yield Check("table 5", remedy, "total", parts["total"], kinds, 0, "the sum of its kinds")
    said, overall = (
        published["in_the_text"],
        {model["name"]: model["table2"]["all"] for model in published["models"]},
    )
    for name, key in (
        ("Human", "human_overall"),
        ("GPT-4o", "GPT-4o_overall"),
        ("Claude-35-Sonnet", "Claude-35-Sonnet_overall"),
    ):
        yield Check("text", name, "overall", said[key], overall[name]["overall"], 0.005, "table 2")
    shares = _of_models(published, "figure6")[0][1]
    yield Check(
        "text",
        "ambiguous answers",
        "share",
        said["ambiguous_answer_share"],
        shares["ambiguous answer generation"],
        0.05,
        "figure 6",
    )
    weighted = sum(estimate[name] * by_difficulty[name] for name in DIFFICULTIES) / sum(
        by_difficulty.values()
    )
    for key, place in (("overall_appendix_b1", "appendix B.1"), ("overall_section_4_1", "section 4.1")):
        yield Check(
            place,
            "CFA-based estimate",
            "overall",
            estimate[key],
            weighted,
            0.05,
            "its difficulties weighted by their counts",
        )


def _audit_famma_table8(published: Figures) -> Iterator[Check]:
    cells = published["table8_easy_medium_hard"]
    for language in LANGUAGES:
        for place, difficulty in enumerate(DIFFICULTIES):
            total = sum((row[language] or [0, 0, 0])[place] for row in cells.values())
            printed = published["table8_totals"][language][place]
            yield Check("table 8", language, difficulty, printed, total, 0, "the sum over subfields")
    for subfield, row in cells.items():
        total = sum(itertools.chain.from_iterable(row[language] or [] for language in LANGUAGES))
        yield Check(
            "table 7", subfield, "count", published["counts"]["subfield"][subfield], total, 0, "table 8"
        )


def _famma(published: Figures) -> Iterator[Table]:
    rows: list[list[Cell]] = []
    for model in published["models"]:
        for language, figures in model["table2"].items():
            place = model["name"] if language == "all" else f"{model['name']}, {language}"
            errors = figures.get("standard_error", {})
            pairs = {name: [figures[name], errors.get(name)] for name in ("overall", *DIFFICULTIES)}
            rows.append(
                [place, *(cell("famma", "table 2", place, name, pair) for name, pair in pairs.items())]
            )
    kinds = ["published"] * len(rows)
    yield Table(
        "FAMMA, table 2: accuracy, standard error over three runs",
        ["model", "overall", *DIFFICULTIES],
        rows,
        kinds=kinds,
    )
    for table, label in (("table3", "language"), ("table4", "difficulty")):
        yield top_kinds(published, table, label)
    remedies = _of_models(published, "table5")[0][1]
    yield _plain(
        "famma", "table 5", "FAMMA, table 5: corrected of 100 errors", list(remedies.items()), digits=0
    )
    shares: list[list[Cell]] = [
        [kind, share] for kind, share in _of_models(published, "figure6")[0][1].items()
    ]
    yield Table(
        "FAMMA, figure 6: kinds of GPT-4o's errors",
        ["kind", "%"],
        shares,
        1,
        kinds=["published"] * len(shares),
    )


def top_kinds(published: Figures, table: str, label: str) -> Table:
    """Table 3 or 4: the two most frequent kinds of GPT-4o's errors for each value of a label."""
    (found,) = (figures for _, figures in _of_models(published, table))
    rows: list[list[Cell]] = [
        [value, kind, share] for value, kinds in found.items() for kind, share in kinds.items()
    ]
    title = f"FAMMA, table {table[-1]}: top kinds of GPT-4o's errors by {label}"
    return Table(title, [label, "kind", "%"], rows, kinds=["published"] * len(rows))


# -- Multimodal Finance Eval -------------------------------------------------------------------------

MFE_COLUMNS = ("text", "table", "chart", "conversation_gold", "conversation", "special_case")


def _audit_mfe(published: Figures) -> Iterator[Check]:
    for model in published["models"]:
        row, unprinted = model["table2"], model["not_printed"]
        seven = [*(row[name] for name in MFE_COLUMNS), unprinted["table_yn_tf"] or 0.0]
        # Seven rounded columns: their mean is off by up to 0.05, and is rounded itself.
        yield Check("table 2", model["name"], "average", row["average"], _mean(seven), 0.1,
                    "the mean of seven columns, the reworded items the seventh")  # fmt: skip
        yield Check("table 2", model["name"], "table", row["table"], unprinted["table_all"], 0.05,
                    "the authors' votes over all 368 items (printed: the first 120)")  # fmt: skip
        yield Check("table 2", model["name"], "conversation", row["conversation"], unprinted["conversation_realigned"], 0.05,
                    "each answer scored on its own question")  # fmt: skip
    for part in ("question_type", "context_type"):
        for task, total in published["table1_counts"]["total"].items():
            counted = sum(row.get(task, 0) for row in published["table1_counts"][part].values())
            yield Check("table 1", part.replace("_", " "), task, total, counted, 0, "the sum of its parts")


def _mfe(published: Figures) -> Iterator[Table]:
    yield _plain(
        "mfe", "table 2", "Multimodal Finance Eval, table 2", _of_models(published, "table2"), digits=1
    )
    yield _plain(
        "mfe",
        "",
        "Multimodal Finance Eval, from the released votes, not printed",
        _of_models(published, "not_printed"),
        digits=1,
    )
    for part in ("question_type", "context_type"):
        rows = list(published["table1_counts"][part].items())
        yield _plain(
            "mfe",
            "table 1",
            f"Multimodal Finance Eval, table 1: items by {part.replace('_', ' ')}",
            rows,
            digits=0,
        )


# -- CFMME -------------------------------------------------------------------------------------------


def _audit_cfmme(published: Figures) -> Iterator[Check]:
    counts = published["counts"]
    for model in published["models"]:
        name = model["name"]
        if "table3" in model:
            row = model["table3"]
            mean = _mean([row["knowledge_accuracy"][0], row["application_accuracy"][0]])
            yield Check(
                "table 3", name, "average", row["average"], mean, 0.011, "the mean of both accuracies"
            )
        if "table9" in model and "table3" in model:
            both = {split: model["table9"][f"{split}_accuracy"][0] for split in ("subject", "certification")}
            pooled = sum(both[split] * counts[split] for split in both) / sum(counts[split] for split in both)
            yield Check("table 3", name, "knowledge_accuracy", model["table3"]["knowledge_accuracy"][0], pooled, 0.011,
                        "table 9 weighted by its counts")  # fmt: skip
        if "table4" in model:
            row = model["table4"]
            mean = _mean([row[column][0] for column in ("seal_1_ned", "teds", "cdm", "map", "ie_f1")])
            yield Check(
                "table 4",
                name,
                "average",
                row["average"],
                mean,
                0.011,
                "the mean of 1-NED, TEDS, CDM, mAP and F1",
            )
        if "table11" in model and "table4" in model:
            mean = _mean([pair[0] for pair in model["table11"].values()])
            yield Check(
                "table 4",
                name,
                "map",
                model["table4"]["map"][0],
                mean,
                0.011,
                "the mean of table 11's two classes",
            )
        for column, value in model.get("table5", {}).items():
            yield Check(
                "table 5",
                name,
                column,
                value,
                100 * round(1.32 * value) / 132,
                0.011,
                "the nearest share of 132 items",
            )
    splits = ("subject", "certification", "seal_detection", "information_extraction", "seal_recognition",
              "table_recognition", "formula_recognition", "question_answering")  # fmt: skip
    yield Check(
        "table 2",
        "all",
        "total",
        counts["total"],
        sum(counts[split] for split in splits),
        0,
        "the sum of its tasks",
    )
    yield Check("table 2", "table recognition", "total", counts["table_recognition"],
                counts["table_single_page"] + counts["table_two_pages"], 0, "tables of one page and of two")  # fmt: skip
    yield Check("table 2", "formula recognition", "total", counts["formula_recognition"],
                counts["formula_symbols_only"] + counts["formula_with_chinese"], 0, "the sum of its parts")  # fmt: skip
    yield Check(
        "table 2",
        "question answering",
        "total",
        counts["question_answering"],
        sum(counts["qa"].values()),
        0,
        "the sum of its parts",
    )
    yield Check(
        "table 2",
        "information extraction",
        "total",
        counts["information_extraction"],
        sum(counts["ie"].values()),
        0,
        "the sum of its parts",
    )


CFMME_TITLES: Mapping[str, str] = {
    "table3": "CFMME, table 3: question answering",
    "table4": "CFMME, table 4: recognition, detection and extraction",
    "table5": "CFMME, table 5: tables as image and as HTML",
    "table6": "CFMME, table 6: orientation",
    "table9": "CFMME, table 9: knowledge questions by source",
    "table10": "CFMME, table 10: information extraction by source",
    "table11": "CFMME, table 11: mAP by class of seal",
}


def _cfmme(published: Figures) -> Iterator[Table]:
    for table, title in CFMME_TITLES.items():
        yield _plain("cfmme", f"table {table[5:]}", title, _of_models(published, table))


_AUDITS = {"finmme": _audit_finmme, "famma": _audit_famma, "mfe": _audit_mfe, "cfmme": _audit_cfmme}
_TABLES = {"finmme": _finmme, "famma": _famma, "mfe": _mfe, "cfmme": _cfmme}
