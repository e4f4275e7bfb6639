"""CFMME (ACL 2026, arXiv 2605.29462): from row to request to record.

The YAML files name hooks as ``<hook>__<variant>``, for instance
``process_results__qa_rot90``; `VARIANTS` says which split a variant asks and how.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lmms_eval_finance import prompts, settings
from lmms_eval_finance.data import alterations, errata, images, sources
from lmms_eval_finance.data.schemas import cfmme as schema
from lmms_eval_finance.metrics import formula, table
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.tasks import common, judged, rescoring
from lmms_eval_finance.tasks.cfmme import coordinates, figures, scoring
from lmms_eval_finance.tasks.cfmme.rows import prepared
from lmms_eval_finance.tasks.common import Doc

if TYPE_CHECKING:
    import datasets
    from PIL import Image

VERSION = "1"

QUESTIONS = ("subject", "certification", "qa")
INSTRUCTIONS = {
    "single_choice": "Exactly one option is right. Choose it.",
    "multiple_choice": "More than one option may be right. Choose every option that is right and no other.",
    "choice": "One or more options are right. Choose every option that is right and no other.",
    "true_false": "Decide whether the statement is true or false.",
}
ANSWER_FORMS = {
    "single_choice": "X, where X is the letter of the option",
    "true_false": "X, where X is the letter of the option",
    "multiple_choice": "X, where X is the letters of the options, separated by commas",
    "choice": "X, where X is the letter of the option or, for several, their letters separated by commas",
}
TWO_PAGES = "The table runs over all pictures, in order: give it as one table."
OPEN_EXTRACTION = (
    "Take the names of the fields as keys, as they are printed, or a plain name where none is printed."
)

_GOLD = {
    "seal_detection": "boxes",
    "table_recognition": "html",
    "formula_recognition": "latex",
    "information_extraction": "fields",
}
_SCORE: Mapping[str, Callable[..., Record]] = {
    **dict.fromkeys(QUESTIONS, scoring.question),
    "seal_detection": scoring.seal_boxes,
    "seal_recognition": scoring.seal_text,
    "table_recognition": scoring.table_html,
    "formula_recognition": scoring.formula_latex,
    "information_extraction": scoring.document_fields,
}


@dataclass(frozen=True)
class Variant:
    """One way of asking a split.

    `alteration` is one of `data.alterations.KINDS`, or ``html`` for tables as text instead of
    images; empty as released.
    """

    split: str
    alteration: str = ""

    # -- rows -----------------------------------------------------------------------------------

    def process_docs(self, rows: datasets.Dataset) -> datasets.Dataset:
        """The docs that the settings ask for."""
        if self.split == "seal_detection":
            try:
                coordinates.in_use()
            except settings.SettingError as error:
                raise SystemExit(f"lmms-eval-finance: {error}") from error
        return prepared(rows, page_sizes=self.split == "seal_detection", with_html=self.alteration == "html")

    # -- requests -------------------------------------------------------------------------------

    def doc_to_text(self, doc: Doc, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None) -> str:
        """The prompt of one row."""
        return _template(self, doc).render(**self._values(doc, lmms_eval_specific_kwargs))

    def _values(self, doc: Doc, kwargs: Mapping[str, Any] | None) -> dict[str, str]:
        if self.split in QUESTIONS:
            kind, options = schema.question_type(doc), scoring.lettered(doc)
            values = {
                "question": doc["question"].strip(),
                "table": doc["html"].strip() if self.alteration == "html" else "",
            }
            if not options:
                return values
            return values | {
                "instruction": INSTRUCTIONS[kind if kind in INSTRUCTIONS else "choice"],
                "answer_form": ANSWER_FORMS[kind if kind in ANSWER_FORMS else "choice"],
                "options": "\n".join(f"{letter}. {text}" for letter, text in options.items()),
            }
        if self.split == "seal_detection":
            return {"coordinates": coordinates.note(kwargs).asked(scoring.page_size(doc))}
        if self.split == "table_recognition":
            return {"pages": TWO_PAGES if (doc.get("image_count") or 1) > 1 else ""}
        if self.split == "information_extraction":
            keys = schema.nested(doc.get("keys"))
            asked = "" if keys is None else ", ".join(json.dumps(key, ensure_ascii=False) for key in keys)
            return {"keys": asked, "open": OPEN_EXTRACTION if keys is None else ""}
        return {}

    def doc_to_visual(self, doc: Doc) -> list[Image.Image]:
        """The row's images in order, altered as the variant says; none where a text stands for them."""
        if self.alteration == "html":
            return []
        pictures = [images.to_rgb(image) for image in doc["images"]]
        if not self.alteration:
            return pictures
        return [
            alterations.alter(picture, self.alteration, f"{doc['id']}/{number}")
            for number, picture in enumerate(pictures)
        ]

    def doc_to_messages(
        self, doc: Doc, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """One user turn: the images, each after its number where there are several, then the text."""
        pictures = self.doc_to_visual(doc)
        content: list[dict[str, Any]] = []
        for number, picture in enumerate(pictures, start=1):
            if len(pictures) > 1:
                content.append({"type": "text", "text": f"Image {number}:"})
            content.append(images.content(picture))
        text = self.doc_to_text(doc, lmms_eval_specific_kwargs)
        return [{"role": "user", "content": [*content, {"type": "text", "text": text}]}]

    # -- records --------------------------------------------------------------------------------

    def process_results(self, doc: Doc, results: Sequence[Any]) -> dict[str, Any]:
        """The record of one response and the figures that the host aggregates."""
        record = _guarded(self, doc, common.text_of(results[0]))
        return figures.of_record(self.split, record, study=bool(self.alteration))

    def record(self, doc: Doc, response: str) -> Record:
        """Score one response."""
        gold, signature = _gold(self, doc), str(self.signature(doc))
        score = _SCORE[self.split]
        if self.split not in QUESTIONS:
            return score(doc, response, gold, signature)
        return common.on_both_golds(
            errata.load("cfmme"),
            self.split,
            str(doc["id"]),
            gold,
            lambda corrected: score(doc, response, corrected, signature),
        )

    def rescore(self, records: Sequence[Record], corrections: errata.Errata | None) -> list[Record]:
        """The record of one doc scored again from what it holds (`tasks.rescoring`)."""
        return [self._rescored(record, corrections) for record in records]

    def _rescored(self, record: Record, corrections: errata.Errata | None) -> Record:
        doc, response = scoring.doc_of(record), common.text_of(record.response)
        fields = {"version": VERSION, **_measures(self.split)}
        if self.split in QUESTIONS:
            if "question" not in doc:
                return record
            ask = rescoring.saved_votes(record)
            return rescoring.again(
                record,
                corrections,
                self.split,
                lambda gold: scoring.question(doc, response, gold, "", ask),
                **fields,
            )
        gold = doc["gold"]
        if self.split != "seal_detection":
            return rescoring.carried(record, _SCORE[self.split](doc, response, gold, ""), **fields)
        if "page" not in doc:
            return record
        stated = coordinates.Coordinates.parse(str(record.details["coordinates"]))
        convention = coordinates.configured() or stated
        scored = scoring.seal_boxes(doc, response, gold, "", convention)
        return rescoring.carried(record, scored, **fields, coordinates=str(convention))

    def signature(self, doc: Doc) -> Signature:
        """What has to agree before two scores of this task compare."""
        asked = self.split in QUESTIONS
        return _signature(
            self,
            _template(self, doc).name,
            sources.locate("cfmme", self.split).fingerprint,
            errata.load("cfmme").version if asked else "",
            judged.judge_signature("cfmme") if self.split == "qa" else "",
            str(coordinates.in_use()) if self.split == "seal_detection" else "",
        )


def _template(variant: Variant, doc: Doc) -> prompts.Template:
    if variant.split in QUESTIONS:
        return prompts.load("cfmme_choice" if schema.choices(doc) else "cfmme_open")
    return prompts.load(f"cfmme_{variant.split}")


@functools.lru_cache(maxsize=128)
def _signature(
    variant: Variant, prompt: str, data: str, corrections: str, judge: str, convention: str
) -> Signature:
    template = prompts.load(prompt)
    kind = variant.alteration
    fields = {
        "task": f"cfmme_{variant.split}",
        "version": VERSION,
        "data": data,
        "prompt": f"{template.name}@{template.hash}",
        "image": f"{kind}@{alterations.VERSION}" if kind in alterations.KINDS else kind or "as-is",
        "errata": corrections or "no",
    }
    if judge:
        fields["judge"] = judge
    if convention:
        fields["coordinates"] = convention
    return Signature.of(**fields, **_measures(variant.split))


def _measures(split: str) -> dict[str, str]:
    """Versions of the metrics that have one of their own."""
    if split == "table_recognition":
        return {"teds": table.VERSIONS["default"]}
    if split == "formula_recognition":
        measured = dict(formula.signature().fields)
        return {"cdm": f"{measured['version']}/{measured['engine']}"}
    return {}


VARIANTS = {
    **{split: Variant(split) for split in schema.BENCHMARK.splits},
    **{f"qa_{kind}": Variant("qa", kind) for kind in alterations.TURNS},
    **{f"qa_robust_{kind}": Variant("qa", kind) for kind in alterations.DISTURBANCES},
    "qa_table_html": Variant("qa", "html"),
}


def __getattr__(name: str) -> Any:
    hook, _, variant = name.partition("__")
    if variant not in VARIANTS or hook.startswith("_"):
        raise AttributeError(name)
    return getattr(VARIANTS[variant], hook)


def doc_to_target(doc: Doc) -> str:
    """The gold as released, as text."""
    return next((str(doc[name]) for name in ("answer", *_GOLD.values()) if doc.get(name)), "")


def _gold(variant: Variant, doc: Doc) -> str:
    value = doc.get(_GOLD.get(variant.split, "answer"))
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unscorable(variant: Variant, doc: Doc, response: str) -> Record:
    """The record of an item on which scoring itself failed: as if nothing had been read."""
    try:
        blank = variant.record(doc, "")
    except Exception:  # then it is the gold that cannot be scored
        return Record(
            id=str(doc["id"]),
            outcome=Outcome.GOLD_UNUSABLE,
            score=None,
            labels=scoring.labels(doc),
            gold=_gold(variant, doc),
            response=response,
        )
    outcome = Outcome.UNREADABLE if blank.outcome.scored else blank.outcome
    return replace(blank, outcome=outcome, response=response)


_guarded = common.guarded(Variant.record, _unscorable)
