"""Coverage-guided fuzzing of the JSON reader and the field scores (needs `pip install atheris`).

    python benchmarks/fuzz/fuzz_fields.py [-max_total_time=300] [CORPUS_FOLDER]

Arguments go to libFuzzer; by default no input may take 5 s or 1 GB. A finding is an exception,
a limit, or a broken promise: a score outside [0, 1], a document that differs from itself, or an
agreement that depends on which side is the gold.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["lmms_eval_finance.metrics"]):
    from lmms_eval_finance.metrics.fields import count_fields
    from lmms_eval_finance.metrics.json_reading import read_json_object
    from lmms_eval_finance.metrics.text import ned_similarity

GOLD = {"date": "2024-01-05", "total": "1,234.50", "items": [{"name": "tea", "price": 3}, {"name": "cake"}]}
SEEDS = [
    json.dumps(GOLD),
    "```json\n{'date': '2024年1月5日', 'items': [{\"name\": “tea”, price: 3.0,},]",
    '{"a": {"b": [[1, 2], {"c": null}]}, "a": ["", 0, False]} // done',
    '<think>{"a": 1}</think>{"total": ￥1，234．50, "x": "the "big" one"}',
]


def one_input(data: bytes) -> None:
    # the first byte says where the second document begins, in parts of 256
    at = 1 + len(data) * (data[0] if data else 0) // 256
    first, second = data[1:at].decode("utf-8", "replace"), data[at:].decode("utf-8", "replace")
    documents = [read_json_object(text) for text in (first, second)]
    for document in documents:
        json.dumps(document)
        assert count_fields(GOLD, document).f1 <= 1
    one, other = documents
    for variant in ("default", "donut"):
        counts = count_fields(one or {}, other or {}, variant=variant)
        back = count_fields(other or {}, one or {}, variant=variant)
        assert 0 <= counts.matched <= min(counts.gold, counts.predicted), counts
        assert (back.matched, back.gold, back.predicted) == (counts.matched, counts.predicted, counts.gold)
        itself = count_fields(one or {}, one or {}, variant=variant)
        assert itself.over_limit or itself.f1 == 1, itself
    assert 0 <= ned_similarity(first, second) <= 1


def main() -> None:
    limits = ["-timeout=5", "-rss_limit_mb=1024", "-max_len=20000"]
    seeds = Path(tempfile.mkdtemp())
    for number, seed in enumerate(SEEDS):
        (seeds / str(number)).write_bytes(b"\x80" + seed.encode())
    atheris.Setup([sys.argv[0], *limits, *sys.argv[1:], str(seeds)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
