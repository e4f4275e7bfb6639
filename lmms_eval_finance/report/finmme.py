"""FinMME's tables 3 to 5, in per cent, the runs above the published rows, and breakdowns by the other labels."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_eval_finance.report import published
from lmms_eval_finance.report.models import (
    Models,
    Round,
    breakdown,
    cell,
    of_slice,
    of_task,
    own_row,
    published_row,
    run_marks,
    tasks_of,
    values,
    with_tasks,
)
from lmms_eval_finance.report.table import Cell, Table
from lmms_eval_finance.runs.figures import LEVELS, TYPES

TASK = "finmme_finscore"
ITEMS = 11_099
READING = "read by the authors' scorer, which misreads letters and numbers, and asked in another wording"
RELEASED = "follows the released scorer: compare with FinScore (released), not with equation 4"

LABELS = {
    "asset_class": "FinMME: asset classes",
    "data_class": "FinMME: chart classes",
    "data_subclass": "FinMME: chart subclasses",
    "main_domain": "FinMME: main domains",
}
# Column of table 4 -> the knowledge domains that begin so, whatever the data call them.
DOMAINS = {
    "Energy": ("energ",),
    "Estate": ("real estate", "estate"),
    "Deriva.": ("deriv",),
    "Meteri.": ("mater", "meter"),
    "Macroe.": ("macro",),
    "Assets": ("asset",),
    "Strate.": ("strat",),
    "Fixed.": ("fixed",),
    "Equity": ("equit",),
    "Indust.": ("indus",),
    "TMT": ("tmt", "technology", "telecom"),
    "Trans.": ("trans",),
    "Financial": ("financ", "bank"),
    "Consum.": ("consum",),
    "Pharma": ("pharm", "health", "medic"),
    "Others": ("other",),
}


def tables(models: Models) -> list[Table]:
    """All tables that the runs allow."""
    found: list[Table] = []
    if with_tasks(models, [TASK]):
        found += [table3(models), table4(models)]
        if any(len(passes) > 1 for passes in with_tasks(models, [TASK]).values()):
            found.append(table5(models))
        found += [breakdown(models, TASK, label, title) for label, title in LABELS.items()]
    found.append(wordings(models))
    return [table for table in found if len(table.columns) > 1 and table.rows]


def _marked(model: str, passes: Sequence[Round], task: str) -> Cell:
    return own_row(model, passes, run_marks([passes[0][task]], {task: ITEMS}))


def table3(models: Models) -> Table:
    """Table 3: accuracy by cognitive level and question type, their average, the FinScores.

    Columns whose labels the data lack stay empty. `Avg.` needs all six; `types` is the mean
    of the three question types.
    """
    rows: list[list[Cell]] = [
        [_marked(model, passes, TASK), *_figures(passes, TASK)]
        for model, passes in with_tasks(models, [TASK]).items()
    ]
    kinds = ["run"] * len(rows)
    for model in published.load("finmme")["models"]:
        name, printed = model["name"], model["table3"]
        shown = [published.cell("finmme", "table 3", name, value, printed[value]) for _, value in _COLUMNS]
        average = published.cell("finmme", "table 3", name, "average", printed["average"])
        finscore = published.cell("finmme", "table 3", name, "finscore", printed["finscore"], [RELEASED])
        rows.append([published_row(name, [READING]), *shown, average, None, None, None, finscore])
        kinds.append("published")
    return Table("FinMME, table 3", ["model", *_names()], rows, kinds=kinds)


def wordings(models: Models) -> Table:
    """The figures of table 3 for other wordings of the prompt and other pictures."""
    rows: list[list[Cell]] = [
        [_marked(model, passes, task), task, *_figures(passes, task)]
        for task in tasks_of(models, "finmme")
        if task != TASK
        for model, passes in with_tasks(models, [task]).items()
    ]
    columns = ["model", "task", *_names()]
    return Table("FinMME: other wordings and pictures", columns, rows, kinds=["run"] * len(rows))


_COLUMNS = (*LEVELS, *TYPES)


def _names() -> list[str]:
    names = [value.replace("_", " ") for _, value in _COLUMNS]
    return [*names, "Avg.", "types", "FinScore", "FinScore (gold n)", "FinScore (released)"]


def _figures(passes: Sequence[Round], task: str) -> list[Cell]:
    figures = ("average", "average_types", "finscore", "finscore_gold_n", "finscore_released")
    return [
        *(cell(passes, of_slice(task, label, value)) for label, value in _COLUMNS),
        *(cell(passes, of_task(task, name)) for name in figures),
    ]


def table4(models: Models) -> Table:
    """Table 4: accuracy by knowledge domain, domains of the data under the paper's columns where they match."""
    own = with_tasks(models, [TASK])
    present = values(own, TASK, "knowledge_domain")
    places = {domain: _column(domain) for domain in present}
    others = [domain for domain in present if places[domain] is None]
    columns = [*DOMAINS, *others]
    rows: list[list[Cell]] = []
    for model, passes in own.items():
        shown: list[Cell] = []
        for column in columns:
            domain = next((name for name in present if (places[name] or name) == column), column)
            shown.append(cell(passes, of_slice(TASK, "knowledge_domain", domain)))
        rows.append([_marked(model, passes, TASK), *shown])
    kinds = ["run"] * len(rows)
    for entry in published.load("finmme")["models"]:
        figures = [entry["table4"].get(column) for column in columns]
        rows.append([published_row(entry["name"], [READING]), *figures])
        kinds.append("published")
    title = "FinMME, table 4: knowledge domains"
    return Table(title, ["model", *columns], rows, kinds=kinds, plots=("radar", "heatmap"))


def _column(domain: str) -> str | None:
    """The paper's column of a domain."""
    words = domain.lower().strip()
    return next((column for column, starts in DOMAINS.items() if words.startswith(starts)), None)


def table5(models: Models) -> Table:
    """Table 5: mean and standard deviation (of the sample, n - 1) over several runs of a model.

    `types` is the mean of the three question types; the paper's average is that of six columns.
    """
    rows: list[list[Cell]] = [
        [
            _marked(model, passes, TASK),
            str(len(passes)),
            *(cell(passes, of_slice(TASK, label, value)) for label, value in TYPES),
            cell(passes, of_task(TASK, "average")),
            cell(passes, of_task(TASK, "average_types")),
        ]
        for model, passes in with_tasks(models, [TASK]).items()
        if len(passes) > 1
    ]
    kinds = ["run"] * len(rows)
    for entry in published.load("finmme")["models"]:
        if "table5" in entry:
            name, figures = entry["name"], entry["table5"]
            shown = [
                published.cell("finmme", "table 5", name, column, figures[column])
                for column in (*(value for _, value in TYPES), "average")
            ]
            rows.append([published_row(name, [READING]), "5", *shown, None])
            kinds.append("published")
    names = [value.replace("_", " ") for _, value in TYPES]
    columns = ["model", "runs", *names, "Avg.", "types"]
    return Table("FinMME, table 5: repeated runs", columns, rows, kinds=kinds)
