"""The host's command line, where ``--model dummy`` says something else to each request.

Run as ``python replying_host.py --model dummy ...`` or under ``accelerate launch``.
"""

from __future__ import annotations

import hashlib
import sys
from typing import Any

from lmms_eval.models.simple.dummy import Dummy

REPLIES = (
    *("A", "Answer: B", "The answer is (C).", "D", "A, B", "Oui", "Faux", "对"),
    *("12.5", "3,4 %", "about 1,200 million", "2023-12-31", "I cannot read the image.", "", "???"),
    '{"1": {"answer": "A", "explanation": "so"}, "2": {"answer": "B"}}',
    '[{"bbox_2d": [100, 100, 400, 400], "label": "circle"}]',
    "<table><tr><td>1</td><td>2</td></tr></table>",
    r"\frac{a}{b}",
    '{"date": "2023-12-31", "amount": "100"}',
)


def generate_until(self: Dummy, requests: list[Any]) -> list[str]:
    return [reply(request.arguments[0], request.arguments[-3]) for request in requests]


def reply(text: str, doc_id: int) -> str:
    digest = hashlib.sha256(f"{doc_id} {text}".encode()).digest()
    return REPLIES[int.from_bytes(digest[:4], "big") % len(REPLIES)]


Dummy.generate_until = generate_until

if __name__ == "__main__":
    from lmms_eval.__main__ import cli_evaluate

    sys.argv[0] = "lmms-eval"
    cli_evaluate()
