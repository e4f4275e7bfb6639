"""A way of asking one split of FAMMA: the hooks that the host calls for each doc."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lmms_eval_finance import prompts
from lmms_eval_finance.data import errata, sources
from lmms_eval_finance.metrics.records import Json, Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.tasks import common, judged, rescoring
from lmms_eval_finance.tasks.common import Doc
from lmms_eval_finance.tasks.famma.requests import Request, material
from lmms_eval_finance.tasks.famma.scoring import Scorer, doc_of, grouped_figures

if TYPE_CHECKING:
    from PIL import Image

VERSION = "1"
_EXTRA = ("trace", "passages")


@dataclass(frozen=True)
class Variant:
    """One split asked in one request for each doc; `ask` says whether docs are contexts or questions."""

    split: str
    ask: str = "context"

    # -- requests -------------------------------------------------------------------------------

    def request(self, doc: Doc) -> Request:
        """The whole request."""
        return Request.of(prompts.load("famma").render(**material(doc)), doc)

    def doc_to_text(self, doc: Doc) -> str:
        """The request as one text; images stand beside it and are referred to by number."""
        return self.request(doc).text

    def doc_to_visual(self, doc: Doc) -> list[Image.Image]:
        """The doc's images in the order of their numbers, each once."""
        return self.request(doc).pictures(doc)

    def doc_to_messages(self, doc: Doc) -> list[dict[str, Any]]:
        """One user turn with each image where the text mentions it; unmentioned ones come first."""
        return [{"role": "user", "content": self.request(doc).content(doc)}]

    # -- records --------------------------------------------------------------------------------

    def process_results(self, doc: Doc, results: Sequence[Any]) -> dict[str, Any]:
        """The records of all sub-questions of one doc and the figures that the host aggregates."""
        return self.score(doc, common.text_of(results[0]), {})

    def score(self, doc: Doc, response: str, details: Mapping[str, Json]) -> dict[str, Any]:
        """The figures of the doc's records; `details` goes into each record."""
        return grouped_figures(Scorer(self.split, str(self.signature()), details).records(doc, response))

    def rescore(self, records: Sequence[Record], corrections: errata.Errata | None) -> list[Record]:
        """The records of one doc scored again from what they hold (`tasks.rescoring`)."""
        if any("question" not in record.details or "key" not in record.details for record in records):
            return list(records)
        saved = {record.id: record for record in records}
        scorer = Scorer(
            self.split,
            "",
            {name: records[0].details[name] for name in _EXTRA if name in records[0].details},
            ask=lambda item: rescoring.saved_votes(saved[item.id])(item),
            on_gold=lambda split, identity, _, score: rescoring.on_gold(
                saved[identity], corrections, split, score
            ),
        )
        scored = scorer.records(doc_of(records), common.text_of(records[0].response))
        return [
            rescoring.carried(old, new, version=VERSION, **rescoring.scored_under(old, corrections))
            for old, new in zip(records, scored, strict=True)
        ]

    def signature(self) -> Signature:
        """What has to agree before two scores of this task compare."""
        return _signature(
            self,
            sources.locate("famma", self.split).fingerprint,
            errata.load("famma").version,
            judged.judge_signature("famma"),
            judged.judge_signature("famma_choice"),
        ).with_fields(**self.options())

    def templates(self) -> Sequence[str]:
        """Names of the prompts that the model sees."""
        return ["famma"]

    def options(self) -> dict[str, str]:
        """Further fields of the signature."""
        return {}


@functools.lru_cache(maxsize=64)
def _signature(variant: Variant, data: str, corrections: str, judge: str, choice_judge: str) -> Signature:
    templates = [prompts.load(name) for name in variant.templates()]
    return Signature.of(
        task=f"famma_{variant.split}",
        version=VERSION,
        data=data,
        prompt="+".join(f"{template.name}@{template.hash}" for template in templates),
        ask=variant.ask,
        errata=corrections or "no",
        judge="+".join(dict.fromkeys((judge, choice_judge))),
    )
