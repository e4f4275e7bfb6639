"""TEDS against the engines in use, in one run: the `apted` package and the host's own TEDS.

    python benchmarks/table.py [--repeats 5] [--pairs 400]

The peers get the better of every doubt: apted is timed on trees that are built already, with
rapidfuzz for its costs, and this package from text to score. Each figure is the least of the
repeats, taken in turn, so that other work on the machine hits both sides. The host's TEDS needs
`pip install distance editdistance Levenshtein` and is left out without them.
"""

from __future__ import annotations

import argparse
import importlib
import random
import resource
import time
from collections.abc import Callable

from apted import APTED, Config
from rapidfuzz.distance import Levenshtein

from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.table import teds, teds_batch
from lmms_eval_finance.metrics.table.elements import TagCodes
from lmms_eval_finance.metrics.table.port import read_table
from lmms_eval_finance.metrics.table.trees import Node

ITEMS = [
    "货币资金",
    "应收账款",
    "存货",
    "固定资产",
    "无形资产",
    "短期借款",
    "应付账款",
    "营业收入",
    "营业成本",
    "销售费用",
    "净利润",
    "未分配利润",
]
COLUMNS = ["项目", "附注", "2023年12月31日", "2022年12月31日", "本期金额", "上期金额", "期末余额", "期初余额"]


class Costs(Config):
    def rename(self, node1: Node, node2: Node) -> float:
        if node1.label != node2.label:
            return 1.0
        return Levenshtein.normalized_distance(node1.text, node2.text)


def statement(rows: int, columns: int, rng: random.Random) -> list[list[str]]:
    """The cells of a financial statement, as HTML, row by row; a tenth of them span two columns."""
    table = [[f"<td>{COLUMNS[column % len(COLUMNS)]}</td>" for column in range(columns)]]
    for _ in range(rows - 1):
        row, width = [f"<td>{rng.choice(ITEMS)}</td>"], 1
        while width < columns:
            span = 2 if width + 1 < columns and rng.random() < 0.1 else 1
            attribute = ' colspan="2"' if span == 2 else ""
            row.append(f"<td{attribute}>{rng.uniform(-1e9, 1e10):,.2f}</td>")
            width += span
        table.append(row)
    return table


def misread(table: list[list[str]], rng: random.Random) -> list[list[str]]:
    """The table as a fair model reads it: every tenth cell wrong by a digit, a row and some cells lost."""
    rows = [list(row) for row in table]
    for row in rows[1:]:
        for index, cell in enumerate(row):
            if rng.random() < 0.1:
                position = rng.randrange(cell.index(">") + 1, cell.rindex("<"))
                row[index] = cell[:position] + rng.choice("0123456789") + cell[position + 1 :]
        if rng.random() < 0.1:
            row.pop(rng.randrange(len(row)))
    del rows[rng.randrange(1, len(rows))]
    return rows


def to_html(rows: list[list[str]]) -> str:
    head, *body = ("<tr>" + "".join(row) + "</tr>" for row in rows)
    table = f"<table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"
    return f"<html><body>{table}</body></html>"


def pair(rows: int, columns: int, rng: random.Random) -> tuple[str, str]:
    gold = statement(rows, columns, rng)
    return to_html(gold), to_html(misread(gold, rng))


def least(repeats: int, *calls: Callable[[], float]) -> list[tuple[float, float]]:
    """For each call its least time in seconds and its value; calls take turns of a fifth of a second or one run."""
    times = [[float("inf"), 0.0] for _ in calls]
    for _ in range(repeats):
        for record, call in zip(times, calls, strict=True):
            until = time.perf_counter() + 0.2
            while True:
                start = time.perf_counter()
                record[1] = call()
                end = time.perf_counter()
                record[0] = min(record[0], end - start)
                if end >= until:
                    break
    return [(seconds, value) for seconds, value in times]


def against_apted(rows: int, columns: int, repeats: int) -> None:
    gold, pred = pair(rows, columns, random.Random(rows))
    codes = TagCodes()
    trees = [read_table(text, codes) for text in (gold, pred)]
    assert trees[0] is not None
    assert trees[1] is not None
    roots = trees[0].root, trees[1].root
    size = max(trees[0].size, trees[1].size)
    (ours, value), (theirs, cost) = least(
        repeats,
        lambda: teds(gold, pred, variant="pubtabnet"),
        lambda: APTED(*roots, Costs()).compute_edit_distance(),
    )
    assert abs(value - (1 - cost / size)) < 1e-9
    report(rows, columns, ours, "apted", theirs)


def against_host(task: str, rows: int, columns: int, repeats: int) -> None:
    try:
        host = importlib.import_module(f"lmms_eval.tasks.{task}")
    except ImportError as error:
        print(f"the host's {task} is left out: {error}")
        return
    gold, pred = pair(rows, columns, random.Random(rows))
    (ours, value), (theirs, other) = least(
        repeats,
        lambda: teds(gold, pred, variant="pubtabnet"),
        lambda: host.TEDS().evaluate(pred, gold),
    )
    assert abs(value - other) < 1e-9
    report(rows, columns, ours, f"host ({task.partition('.')[0]})", theirs)


def report(rows: int, columns: int, ours: float, name: str, theirs: float) -> None:
    figures = f"{ours * 1e3:8.1f} ms   {name:18} {theirs * 1e3:9.1f} ms"
    print(f"{rows:4} x {columns:<3} {figures}   {theirs / ours:6.0f} times")


def batch(count: int) -> None:
    rng = random.Random(0)
    pairs = [pair(rng.randint(4, 40), rng.randint(3, 8), rng) for _ in range(count)]
    assert not any(isinstance(score, Outcome) for score in teds_batch(pairs))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        teds_batch(pairs)
        seconds = min(seconds, time.perf_counter() - start)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{count} pairs of 4 to 40 rows and 3 to 8 columns: {seconds:.2f} s in one process")
    print(
        f"peak memory after them {before / 1024:.0f} MiB, after three times as many more {after / 1024:.0f} MiB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=400)
    args = parser.parse_args()
    batch(args.pairs)
    for rows, columns in ((10, 6), (20, 8), (40, 8)):
        against_apted(rows, columns, args.repeats)
    against_host("mdpbench.teds_metric", 30, 8, args.repeats)
    against_host("ocrbench_v2.TEDS_metric", 30, 8, 1)


if __name__ == "__main__":
    main()
