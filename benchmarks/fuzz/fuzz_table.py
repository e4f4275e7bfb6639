"""Coverage-guided fuzzing of the table readers and TEDS (needs `pip install atheris`).

    python benchmarks/fuzz/fuzz_table.py [-max_total_time=300] [CORPUS_FOLDER]

Arguments go to libFuzzer; by default no input may take 5 s or 1 GB. A finding is an exception,
a limit, or a broken promise: a score outside [0, 1], a table that differs from itself, a score
that depends on the order of the two tables, or engines that disagree by more than rounding.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["lmms_eval_finance.metrics"]):
    from lmms_eval_finance.metrics.outcomes import Outcome
    from lmms_eval_finance.metrics.table import teds_batch

GOLD = (
    "<table><thead><tr><th>项目</th><th colspan=2>2023</th></tr></thead><tbody>"
    "<tr><td>货币<b>资金</b></td><td rowspan=2>1,234.00</td><td></td></tr></tbody></table>"
)
SEEDS = [
    GOLD,
    f"```html\n{GOLD}\n```",
    f"<think>{GOLD}</think>Sure: <html><body>{GOLD}</body></html>",
    f'<?xml version="1.0" encoding="utf-8"?><html><head></head><body>{GOLD}',
    "| a | **b** |\n|---|:-:|\n| 1 \\| 2 | &nbsp;<br>x |",
    '<table><tr><td colspan="2px">1<td rowspan="">２</table><table><tbody><tr><th>3',
    "<tr><td><table><tr><td>1</td> x</tr></table><unk>y</td></tr><!-- <table> -->",
    "<table><caption>c</caption><colgroup><col></colgroup><tfoot><tr><td/>&amp;&#8212;</table>",
]


def one_input(data: bytes) -> None:
    structure_only = bool(data and data[0] & 1)
    pred = data[1:].decode("utf-8", "replace")
    pairs = [(GOLD, pred), (pred, GOLD), (pred, pred)]
    score, mirrored, itself = teds_batch(pairs, structure_only=structure_only)
    if isinstance(score, float):
        assert 0 <= score <= 1
        if isinstance(mirrored, float):
            assert abs(score - mirrored) < 1e-9
    assert itself in (1.0, Outcome.GOLD_UNUSABLE), itself
    ported = teds_batch(pairs[:1], structure_only=structure_only, variant="pubtabnet")[0]
    assert not isinstance(ported, float) or ported <= 1
    if len(pred) < 500:
        for variant, value in (("default", score), ("pubtabnet", ported)):
            other = teds_batch(
                pairs[:1], structure_only=structure_only, variant=variant, engine="apted", time_limit=2
            )[0]
            if isinstance(other, float) and isinstance(value, float):
                assert abs(other - value) < 1e-9, (other, value)


def main() -> None:
    limits = ["-timeout=5", "-rss_limit_mb=1024", "-max_len=20000"]
    seeds = Path(tempfile.mkdtemp())
    for number, seed in enumerate(SEEDS):
        (seeds / str(number)).write_bytes(b"\0" + seed.encode())
    atheris.Setup([sys.argv[0], *limits, *sys.argv[1:], str(seeds)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
