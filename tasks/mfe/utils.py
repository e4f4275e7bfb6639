"""Multimodal Finance Eval (arXiv 2602.10384): from row to request to record.

The YAML files name hooks as ``<hook>__<variant>``, for instance
``process_results__table_144dpi``; `VARIANTS` says which split a variant asks and how.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lmms_eval_finance import prompts
from lmms_eval_finance.data import errata, images, selection, sources
from lmms_eval_finance.data.schemas.mfe import options
from lmms_eval_finance.judging.items import JudgeItem
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.tasks import common, delivery, judged, rescoring
from lmms_eval_finance.tasks.common import Doc

if TYPE_CHECKING:
    import datasets
    from PIL import Image

VERSION = "1"
CUE = "Answer:"

FIRST_TABLES = 120
"""Table 2 of the paper counts the first 120 of the 368 table items."""


@dataclass(frozen=True)
class Variant:
    """One way of asking a split: single questions, or dialogues with gold or own earlier answers."""

    split: str
    dpi: int = 72
    history: str = "none"

    # -- requests -------------------------------------------------------------------------------

    def doc_to_visual(self, doc: Doc) -> list[Image.Image]:
        """The page at the variant's resolution; no image for text items."""
        page = doc.get("image" if self.dpi == 72 else f"image_{self.dpi}")
        return [] if page is None else [images.to_rgb(page)]

    def doc_to_text(self, doc: Doc) -> str:
        """The whole request as one text that ends with the cue; earlier turns stand in it."""
        turns = _turns(doc)
        return self._as_text(doc, turns, [_gold_turn(turn) for turn in turns[:-1]])

    def doc_to_text_before_cue(self, doc: Doc) -> str:
        """The same without the cue, for a host that begins the assistant's turn with it."""
        return self.doc_to_text(doc).removesuffix(CUE).rstrip()

    def doc_to_messages(self, doc: Doc) -> list[dict[str, Any]]:
        """The request as chat messages; earlier turns are turns of their own."""
        turns = _turns(doc)
        return self._as_messages(doc, turns, [_gold_turn(turn) for turn in turns[:-1]])

    def dialogue_to_text(
        self,
        doc: Doc,
        lmms_eval_specific_kwargs: object = None,
        round_idx: int = 0,
        previous_output: Sequence[str] = (),
        previous_round_info: object = None,
    ) -> Any:
        """The host's multi-round protocol for wrappers that take texts.

        The first round is a text; later ones are (images, text, ended, outputs, info).
        """
        turns = _turns(doc)
        if round_idx == 0:
            return self._as_text(doc, turns[:1], [])
        if round_idx >= len(turns):
            return None, "", True, list(previous_output), None
        text = self._as_text(doc, turns[: round_idx + 1], [answer_of(output) for output in previous_output])
        return self.doc_to_visual(doc), text, False, list(previous_output), None

    def dialogue_to_messages(
        self,
        doc: Doc,
        round_idx: int = 0,
        previous_output: Sequence[str] = (),
        previous_round_info: object = None,
    ) -> Any:
        """The same for wrappers that take messages: later rounds are (messages, ended, outputs, info)."""
        turns = _turns(doc)
        if round_idx >= len(turns):
            return [], True, list(previous_output), None
        messages = self._as_messages(
            doc, turns[: round_idx + 1], [answer_of(output) for output in previous_output][:round_idx]
        )
        return messages if round_idx == 0 else (messages, False, list(previous_output), None)

    def _opening(self, doc: Doc, question: str) -> str:
        return prompts.load("mfe").render(context=doc.get("context") or "", question=question)

    def _as_text(self, doc: Doc, turns: Sequence[Doc], answers: Sequence[str]) -> str:
        parts = [self._opening(doc, turns[0]["question"])]
        for turn, answer in zip(turns[1:], answers, strict=True):
            parts += [f"{CUE} {answer}", f"Question: {turn['question']}"]
        return "\n\n".join([*parts, CUE])

    def _as_messages(self, doc: Doc, turns: Sequence[Doc], answers: Sequence[str]) -> list[dict[str, Any]]:
        first = [images.content(page) for page in self.doc_to_visual(doc)]
        questions = [self._opening(doc, turns[0]["question"]), *(turn["question"] for turn in turns[1:])]
        prefill = delivery.current.prefill
        messages: list[dict[str, Any]] = []
        for number, question in enumerate(questions):
            last = number == len(questions) - 1
            text = question if prefill or not last else f"{question}\n\n{CUE}"
            content = [*(first if number == 0 else []), {"type": "text", "text": text}]
            messages.append({"role": "user", "content": content})
            if not last:
                messages.append(_assistant(f"{CUE} {answers[number]}"))
            elif prefill:
                messages.append(_assistant(CUE))
        return messages

    # -- records --------------------------------------------------------------------------------

    def process_results(self, doc: Doc, results: Sequence[Any]) -> dict[str, Any]:
        """The record of one response and the figures that the host aggregates."""
        record = _guarded(self, _turns(doc)[-1], common.text_of(results[0]))
        return self._figures(record) | {"accuracy": record.to_json()}

    def process_dialogue(self, doc: Doc, results: Sequence[Any]) -> dict[str, Any]:
        """The records of all turns of one dialogue; a turn the model never answered is empty."""
        turns, texts = _turns(doc), common.texts_of_rounds(results[0])
        texts += [""] * (len(turns) - len(texts))
        records = [_guarded(self, turn, text) for turn, text in zip(turns, texts, strict=False)]
        return common.grouped([self._figures(record) | {"accuracy": record.to_json()} for record in records])

    def _figures(self, record: Record) -> dict[str, Any]:
        figures: dict[str, Any] = {"standard_error": common.Brief(record)}
        figures |= common.outcome_rates(record, judged.RATED) | common.errata_figures(record)
        if record.score is None:
            return figures
        kind = record.labels["question_type"]
        figures[f"accuracy_{kind}"] = record.score
        if self.split != "table" or int(record.id) <= FIRST_TABLES:
            figures["average_as_printed"] = record.score
        if self.split != "table_yn_tf":
            figures["average_macro"] = record.score
            figures["average_items"] = record.score
        return figures

    def record(self, turn: Doc, response: str) -> Record:
        """Score one response to one question."""
        row = {**turn}
        return common.on_both_golds(
            errata.load("mfe"),
            self.split,
            str(row["id"]),
            str(row["answer"]),
            lambda gold: self._scored_on(row, response, gold, str(self.signature())),
        )

    def rescore(self, records: Sequence[Record], corrections: errata.Errata | None) -> list[Record]:
        """The records of one doc scored again from what they hold (`tasks.rescoring`)."""
        return [self._rescored(record, corrections) for record in records]

    def _rescored(self, record: Record, corrections: errata.Errata | None) -> Record:
        row = {**record.details, "id": record.id, "cluster": record.cluster}
        if "question" not in row:
            return record
        response, ask = common.text_of(record.response), rescoring.saved_votes(record)
        return rescoring.again(
            record,
            corrections,
            self.split,
            lambda gold: self._scored_on(row, response, gold, "", ask),
            version=VERSION,
        )

    def _scored_on(
        self, row: Doc, response: str, gold: str, signature: str, ask: judged.Ask = judged.ask_panel
    ) -> Record:
        return judged.judged_record(
            JudgeItem(
                id=str(row["id"]),
                preset="mfe",
                question=row["question"],
                gold=gold.strip(),
                answer=answer_of(response),
                context=row.get("context") or "",
                options=tuple(f"{letter}. {text}" for letter, text in options(row["question"])),
                language="fr",
                question_type=row["question_type"],
            ),
            response,
            labels=self._labels(row),
            cluster=row.get("cluster") or _cluster(row),
            signature=signature,
            ask=ask,
        )

    def _labels(self, row: Doc) -> dict[str, str]:
        names = ("question_type", "context_size", "type", "domain", "dialogue", "turn")
        return {name: str(row[name]) for name in names if row.get(name) not in (None, "")}

    def signature(self) -> Signature:
        """What has to agree before two scores of this task compare."""
        return _signature(
            self,
            sources.locate("mfe", self.split).fingerprint,
            errata.load("mfe").version,
            delivery.current.messages,
            delivery.current.prefill,
            judged.judge_signature("mfe"),
        )


@functools.lru_cache(maxsize=128)
def _signature(
    variant: Variant, data: str, corrections: str, messages: bool, prefill: bool, judge: str
) -> Signature:
    template = prompts.load("mfe")
    history = variant.history if variant.history == "none" or messages else f"{variant.history}-as-text"
    return Signature.of(
        task=f"mfe_{variant.split}",
        version=VERSION,
        data=data,
        prompt=f"{template.name}@{template.hash}",
        dpi="none" if variant.split == "text" else str(variant.dpi),
        history=history,
        prefill="message" if prefill else "cue",
        errata=corrections or "no",
        judge=judge,
    )


_SINGLE = ("text", "table", "table_yn_tf", "chart", "special_case")
VARIANTS = {
    **{split: Variant(split) for split in _SINGLE},
    **{f"{split}_144dpi": Variant(split, dpi=144) for split in _SINGLE if split != "text"},
    "conversation_gold": Variant("conversation", history="gold"),
    "conversation_gold_144dpi": Variant("conversation", dpi=144, history="gold"),
    "conversation": Variant("conversation", history="own"),
    "conversation_144dpi": Variant("conversation", dpi=144, history="own"),
}


def __getattr__(name: str) -> Any:
    hook, _, variant = name.partition("__")
    if variant not in VARIANTS or hook.startswith("_"):
        raise AttributeError(name)
    return getattr(VARIANTS[variant], hook)


def _unscorable(variant: Variant, turn: Doc, response: str) -> Record:
    """The record of an answer on which scoring itself failed."""
    return Record(
        id=str(turn["id"]),
        outcome=Outcome.UNREADABLE,
        score=0.0,
        labels=variant._labels(turn),
        gold=str(turn["answer"]),
        response=response,
    )


_guarded = common.guarded(Variant.record, _unscorable)


def answer_of(response: str) -> str:
    """The answer without the cue that some models repeat.

    >>> answer_of(" Answer: 5 %\\n")
    '5 %'
    """
    text = response.strip()
    return text[len(CUE) :].strip() if text.lower().startswith(CUE.lower()) else text


def _assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def _gold_turn(turn: Doc) -> str:
    return str(turn["answer"]).strip()


def _turns(doc: Doc) -> list[Doc]:
    """The turns up to and with the one asked; a single question is its own only turn."""
    return json.loads(doc["turns"]) if doc.get("turns") else [doc]


def _cluster(row: Doc) -> str:
    """What items share: the page, or for text items the extract."""
    if row.get("element"):
        return str(row["element"])
    return hashlib.sha256((row.get("context") or str(row["id"])).encode()).hexdigest()[:8]


# -- rows --------------------------------------------------------------------------------------------


def process_docs(rows: datasets.Dataset) -> datasets.Dataset:
    """The single questions that the settings ask for."""
    return selection.restrict(rows, list(map(str, rows["id"][:])), "Multimodal Finance Eval")


_TURN_COLUMNS = (
    "id",
    "question",
    "answer",
    "question_type",
    "context_size",
    "type",
    "domain",
    "dialogue",
    "turn",
)


def process_turns(rows: datasets.Dataset) -> datasets.Dataset:
    """One doc per turn, with the turns before it in the column `turns` (JSON)."""
    if not delivery.current.messages:
        delivery.warn_of_history_as_text()
    places = _dialogue_places(rows)
    ordered = [place for dialogue in places for place in dialogue]
    texts = _turn_texts(rows)
    histories = [
        json.dumps([texts[place] for place in dialogue[: number + 1]], ensure_ascii=False)
        for dialogue in places
        for number in range(len(dialogue))
    ]
    docs = rows.select(ordered).add_column("turns", histories)
    return selection.restrict(docs, list(map(str, docs["id"][:])), "Multimodal Finance Eval")


def process_dialogues(rows: datasets.Dataset) -> datasets.Dataset:
    """One doc per dialogue, with all its turns in the column `turns` (JSON); its id is the dialogue's."""
    if not delivery.current.messages:
        delivery.warn_of_history_as_text()
    places = _dialogue_places(rows)
    texts = _turn_texts(rows)
    names = [str(texts[dialogue[0]]["dialogue"]) for dialogue in places]
    members = [[str(texts[place]["id"]) for place in dialogue] for dialogue in places]
    places = [places[number] for number in selection.wanted_groups(names, members, "Multimodal Finance Eval")]
    histories = [json.dumps([texts[place] for place in dialogue], ensure_ascii=False) for dialogue in places]
    return rows.select([dialogue[0] for dialogue in places]).add_column("turns", histories)


def _dialogue_places(rows: datasets.Dataset) -> list[list[int]]:
    """Row numbers of each dialogue in the order of its turns; dialogues in order of appearance."""
    dialogues: dict[str, list[int]] = {}
    for place, dialogue in enumerate(rows["dialogue"]):
        dialogues.setdefault(dialogue, []).append(place)
    turns = rows["turn"]
    return [sorted(dialogue, key=lambda place: turns[place]) for dialogue in dialogues.values()]


def _turn_texts(rows: datasets.Dataset) -> list[dict[str, Any]]:
    names = [name for name in (*_TURN_COLUMNS, "element") if name in rows.column_names]
    columns = {name: list(rows[name]) for name in names}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def doc_to_target(doc: Doc) -> str:
    """The gold as released."""
    return str(doc["answer"])


# -- the host's aggregations -----------------------------------------------------------------------

accuracy: Callable[[list[Any]], float | None] = common.accuracy
standard_error = common.standard_error
mean = common.mean
total = common.total
