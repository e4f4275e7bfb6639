"""The tables of the error analysis: shares of kinds (FAMMA figure 6), top kinds by label (tables 3, 4), remedies (5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from lmms_eval_finance.report.table import Cell, Table
from lmms_eval_finance.runs.errors import TAXONOMIES, ErrorItem


def shares(items: Sequence[ErrorItem], taxonomy: str) -> Table:
    """Figure 6: the share of each kind among the items that have one."""
    kinds = Counter(item.kind for item in items if item.kind)
    total = sum(kinds.values())
    rows: list[list[Cell]] = [
        [kind, float(kinds[kind]), _share(kinds[kind], total)] for kind in TAXONOMIES[taxonomy]
    ]
    confirmed = sum(item.confirmed for item in items)
    note = f"{total} of {len(items)} errors have a kind; a person confirmed {confirmed}."
    return Table("Kinds of errors (figure 6)", ["kind", "items", "%"], rows, digits=1, note=note)


def causes(items: Sequence[ErrorItem]) -> Table:
    """What the rules tell of the errors, without any judge."""
    found = Counter(item.rule for item in items)
    rows: list[list[Cell]] = [[cause, float(n), _share(n, len(items))] for cause, n in found.most_common()]
    return Table("What rules can tell", ["cause", "items", "%"], rows, digits=1)


def top_kinds(items: Sequence[ErrorItem], label: str, title: str, top: int = 2) -> Table:
    """Tables 3 and 4: the most frequent kinds within each value of a label, with their shares."""
    groups: dict[str, Counter[str]] = {}
    for item in items:
        if item.kind and label in item.labels:
            groups.setdefault(item.labels[label], Counter())[item.kind] += 1
    rows: list[list[Cell]] = []
    for value in sorted(groups):
        total = sum(groups[value].values())
        ranked = sorted(groups[value].items(), key=lambda pair: (-pair[1], pair[0]))[:top]
        rows += [[value, kind, float(count), _share(count, total)] for kind, count in ranked]
    return Table(title, [label, "kind", "items", "%"], rows, digits=1)


def remedies(
    items: Sequence[ErrorItem], corrected: Mapping[str, Sequence[ErrorItem]], taxonomy: str
) -> Table:
    """Table 5: how many of the errors each remedy answers rightly, by kind."""
    kinds = [*TAXONOMIES[taxonomy], ""]
    names = [kind or "(no kind)" for kind in kinds]
    rows: list[list[Cell]] = [["errors", float(len(items)), *_counts(items, kinds)]]
    rows += [[name, float(len(found)), *_counts(found, kinds)] for name, found in corrected.items()]
    return Table("Errors corrected by each remedy (table 5)", ["", "total", *names], rows, digits=0)


def _counts(items: Sequence[ErrorItem], kinds: Sequence[str]) -> list[float]:
    found = Counter(item.kind for item in items)
    return [float(found[kind]) for kind in kinds]


def _share(count: int, total: int) -> float | None:
    return 100 * count / total if total else None
