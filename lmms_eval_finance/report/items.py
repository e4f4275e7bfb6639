"""The items of runs for the page's browser: an index that filters need, and the texts in compressed chunks.

What an item holds comes from models and data sets and may be hostile. It goes into the page as
gzip in base64, so none of it is ever read as HTML; the page's script puts it into text nodes.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lmms_eval_finance.judging.items import as_text
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.report.collect import NamedRun
from lmms_eval_finance.report.models import distinct
from lmms_eval_finance.runs.images import ImagesMissing, RowMissing, stored_images
from lmms_eval_finance.runs.rescore import rescored_samples

PER_CHUNK = 100
LONGEST_TEXT = 20_000
_MOST_PARTS = 8
_SHARED = ("question", "context", "options", "unit", "keys")
# Parts that are codes for other functions, not figures for a reader.
_CODES = frozenset({"gold_letters", "read_letters", "options", "released_multiple", "errata"})
_OWN = ("rule", "votes", "explanation", "trace", "passages")
OUTCOMES = [outcome.value for outcome in Outcome]

Picture = tuple[str, str]
"""Kind (such as image/png) and base64 text."""


@dataclass
class Items:
    """Everything the browser shows.

    Attributes:
        runs: their names.
        chunks: base64 text of gzipped JSON, `PER_CHUNK` items each.
        images: the pictures that items show.
        missing: why pictures are not there, by the data they should come from.
        left_out: the number of pictures that the budget left no room for.
    """

    runs: list[str]
    chunks: list[str] = field(default_factory=list)
    images: list[Picture] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    left_out: int = 0
    tasks: list[str] = field(default_factory=list)
    _task: list[int] = field(default_factory=list)
    _ids: list[str] = field(default_factory=list)
    _labels: dict[str, dict[int, int]] = field(default_factory=dict)
    _values: dict[str, dict[str, int]] = field(default_factory=dict)
    _outcomes: list[list[int]] = field(default_factory=list)
    _scores: list[list[float | None]] = field(default_factory=list)

    def index(self) -> str:
        """The index as base64 text of gzipped JSON."""
        count = len(self._ids)
        found = {
            "runs": self.runs,
            "tasks": self.tasks,
            "outcomes": OUTCOMES,
            "labels": {name: list(values) for name, values in self._values.items()},
            "perChunk": PER_CHUNK,
            "task": self._task,
            "id": self._ids,
            "label": {
                name: [places.get(number, -1) for number in range(count)]
                for name, places in self._labels.items()
            },
            "outcome": self._outcomes,
            "score": self._scores,
        }
        return packed(found)

    def __len__(self) -> int:
        return len(self._ids)


def collect(runs: Sequence[NamedRun], *, image_budget: int, skipped: list[str] | None = None) -> Items:
    """The items of all runs; the same task and id in several runs is one item.

    Args:
        runs: from `collect.named_runs`.
        image_budget: so many bytes of pictures go into the page at most, those of items that are not
            answered rightly first.
        skipped: where given, lines that cannot be read are described here and passed over.

    Raises:
        SettingError: a line of a sample file cannot be read.
    """
    items = Items(distinct([named.model for named in runs]))
    items._outcomes = [[] for _ in runs]
    items._scores = [[] for _ in runs]
    pictures = _Pictures(image_budget)
    waiting: list[dict[str, Any]] = []
    tasks = sorted({task for named in runs for task in named.run.samples})
    for task in tasks:
        by_run = [_by_id(named, task, skipped) for named in runs]
        ids = list(dict.fromkeys(identity for one in by_run for identity in one))
        if ids:
            items.tasks.append(task)
        wanted = sorted(ids, key=lambda identity: all(_right(one.get(identity)) for one in by_run))
        shown = {identity: pictures.of(_first(by_run, identity)[0]) for identity in wanted}
        for identity in ids:
            entries = [one.get(identity) for one in by_run]
            _enter(items, len(items.tasks) - 1, identity, entries)
            waiting.append({**_texts(entries), "images": shown[identity]})
            if len(waiting) == PER_CHUNK:
                items.chunks.append(packed(waiting))
                waiting = []
    if waiting:
        items.chunks.append(packed(waiting))
    items.images, items.missing, items.left_out = pictures.found, pictures.missing, pictures.left_out
    return items


Entry = tuple[Record, str]
"""A record and the prompt of its sample."""


def _by_id(named: NamedRun, task: str, skipped: list[str] | None) -> dict[str, Entry]:
    if task not in named.run.samples:
        return {}
    return {
        record.id: (record, prompt)
        for prompt, records in rescored_samples(named.run, task, skipped)
        for record in records
    }


def _first(by_run: Iterable[Mapping[str, Entry]], identity: str) -> Entry:
    return next(one[identity] for one in by_run if identity in one)


def _right(entry: Entry | None) -> bool:
    return entry is None or entry[0].score == 1.0


def _enter(items: Items, task: int, identity: str, entries: Sequence[Entry | None]) -> None:
    """Put one item into the index."""
    number = len(items._ids)
    items._ids.append(identity)
    items._task.append(task)
    labels: dict[str, str] = {}
    for run, entry in enumerate(entries):
        record = entry[0] if entry else None
        items._outcomes[run].append(-1 if record is None else OUTCOMES.index(record.outcome.value))
        items._scores[run].append(None if record is None or record.score is None else round(record.score, 4))
        labels = labels or (dict(record.labels) if record else {})
    for name, value in labels.items():
        values = items._values.setdefault(name, {})
        items._labels.setdefault(name, {})[number] = values.setdefault(value, len(values))


def _texts(entries: Sequence[Entry | None]) -> dict[str, Any]:
    """What all runs share of an item, and what each has of its own where it has another."""
    record, prompt = next(entry for entry in entries if entry)
    shared: dict[str, Any] = {"prompt": prompt, "gold": record.gold}
    shared |= {name: record.details[name] for name in _SHARED if name in record.details}
    options = shared.get("options")
    if isinstance(options, list) and all(as_text(one) in as_text(shared.get("question")) for one in options):
        del shared["options"]  # the question lists them
    if record.details.get("gold_masked") is True:
        shared["masked"] = True
    texts: dict[str, Any] = _cut(shared)
    return {**texts, "runs": [None if entry is None else _own(entry, shared) for entry in entries]}


def _own(entry: Entry, shared: Mapping[str, Any]) -> dict[str, Any]:
    record, prompt = entry
    own: dict[str, Any] = {
        "prediction": record.prediction,
        "response": record.response,
        "reason": record.reason,
        "parts": {name: number for name, number in record.parts.items() if name not in _CODES},
    }
    own |= {name: record.details[name] for name in _OWN if record.details.get(name)}
    if len(record.parts) > _MOST_PARTS:
        own["parts"] = {}
    own |= {} if prompt == shared["prompt"] else {"prompt": prompt}
    own |= {} if record.gold == shared["gold"] else {"gold": record.gold}
    if "released_gold" in record.details:
        own["released"] = record.details["released_gold"]
    kept: dict[str, Any] = _cut(
        {name: value for name, value in own.items() if value not in (None, "", [], {})}
    )
    return kept


def _cut(value: Any) -> Any:
    """The value with long texts shortened in the middle."""
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        half = LONGEST_TEXT // 2
        return f"{value[:half]}\n[… {len(value) - 2 * half:,} characters are left out of the report …]\n{value[-half:]}"
    if isinstance(value, dict):
        return {key: _cut(member) for key, member in value.items()}
    return [_cut(member) for member in value] if isinstance(value, list) else value


def packed(value: Any) -> str:
    """A value as base64 text of gzipped JSON; the same for the same value."""
    text = json.dumps(value, separators=(",", ":"))  # ASCII: lone surrogates stay legal JSON
    return base64.b64encode(gzip.compress(text.encode("ascii"), compresslevel=6, mtime=0)).decode("ascii")


class _Pictures:
    """Pictures taken into the page, each once, as long as there is room."""

    def __init__(self, budget: int) -> None:
        self.found: list[Picture] = []
        self.missing: dict[str, str] = {}
        self.left_out = 0
        self._room = budget
        self._places: dict[str, int | None] = {}

    def of(self, record: Record) -> list[int]:
        """The places of an item's pictures in `found`."""
        data = dict(Signature.parse(record.signature).fields).get("data", "")
        if self._room <= 0 or data in self.missing:
            self.left_out += data not in self.missing
            return []
        listed = record.details.get("images")
        ids = tuple(map(str, listed)) if isinstance(listed, list) else (record.id,)
        try:
            pictures = stored_images(data, ids)
        except RowMissing:
            return []
        except ImagesMissing as error:
            self.missing[data] = str(error)
            return []
        return [place for kind, content in pictures if (place := self._place(kind, content)) is not None]

    def _place(self, kind: str, content: bytes) -> int | None:
        key = hashlib.sha256(content).hexdigest()
        if key not in self._places:
            text = base64.b64encode(content).decode("ascii")
            fits = len(text) <= self._room
            self._places[key] = len(self.found) if fits else None
            if fits:
                self._room -= len(text)
                self.found.append((kind, text))
            else:
                self.left_out += 1
        return self._places[key]


def scripts(items: Items) -> Iterator[str]:
    """The data as elements that no browser runs."""
    yield f'<script type="application/gzip" id="index">{items.index()}</script>\n'
    for number, chunk in enumerate(items.chunks):
        yield f'<script type="application/gzip" id="chunk-{number}">{chunk}</script>\n'
    for number, (kind, text) in enumerate(items.images):
        yield f'<script type="application/base64" id="image-{number}" data-kind="{kind}">{text}</script>\n'
