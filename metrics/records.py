"""The record: everything known about one scored item, in plain JSON types.

Hooks return records, the host writes them to its sample files, and every table,
report and re-scoring starts from them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from lmms_eval_finance.metrics.outcomes import Outcome

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


@dataclass(frozen=True, slots=True)
class Record:
    """One scored item.

    Attributes:
        id: the item's id in its benchmark, unique within a task.
        outcome: why the score is what it is.
        score: in [0, 1]; None exactly when the outcome is not scored (`Outcome.scored`).
        labels: what the item is counted under in breakdowns (name -> value), present labels only.
        cluster: the context or image that the item shares with others; the unit of resampling.
        parts: further figures of the item that composite metrics are computed from.
        gold: the gold answer as released.
        prediction: what was read from the response; None when nothing could be read.
        response: the model's raw text (for conversations the list of turns).
        reason: one short phrase that says how the score came about.
        signature: the comparability signature of the score, as text.
        details: whatever else re-scoring needs (question, options, unit, verdicts, ...).

    >>> record = Record(id="1", outcome=Outcome.CORRECT, score=1.0, labels={"type": "single"}, gold="A")
    >>> Record.from_json(record.to_json()) == record
    True
    """

    id: str
    outcome: Outcome
    score: float | None
    labels: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    gold: Json = None
    prediction: Json = None
    response: Json = None
    reason: str = ""
    signature: str = ""
    details: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.score is None) is self.outcome.scored:
            raise ValueError(f"outcome {self.outcome.value} with score {self.score!r} (item {self.id})")
        if self.score is not None and not 0.0 <= self.score <= 1.0:
            raise ValueError(f"score {self.score!r} is outside [0, 1] (item {self.id})")

    def brief(self) -> dict[str, Any]:
        """The part that breakdowns and composite metrics need, without texts.

        >>> Record(id="1", outcome=Outcome.WRONG, score=0.0, gold="long text").brief()
        {'id': '1', 'outcome': 'wrong', 'score': 0.0, 'cluster': '', 'labels': {}, 'parts': {}}
        """
        return {
            "id": self.id,
            "outcome": self.outcome.value,
            # Absent, not null, where nothing was scored: the host's standard errors choke on null.
            **({} if self.score is None else {"score": self.score}),
            "cluster": self.cluster,
            "labels": self.labels,
            "parts": self.parts,
        }

    def to_json(self) -> dict[str, Any]:
        """The whole record in plain JSON types, as it stands in sample files."""
        return {
            **self.brief(),
            "gold": self.gold,
            "prediction": self.prediction,
            "response": self.response,
            "reason": self.reason,
            "signature": self.signature,
            "details": self.details,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Record:
        """Read a record (whole or brief) back; unknown keys are ignored.

        Raises:
            ValueError: a required key is missing or an outcome is unknown.
        """
        try:
            # Spelled out: every figure of a run starts here, once for each of its items.
            return cls(
                data["id"],
                _OUTCOMES[data["outcome"]],
                data.get("score"),
                data.get("labels") or {},
                data.get("cluster", ""),
                data.get("parts") or {},
                data.get("gold"),
                data.get("prediction"),
                data.get("response"),
                data.get("reason", ""),
                data.get("signature", ""),
                data.get("details") or {},
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a record: {error}") from error
