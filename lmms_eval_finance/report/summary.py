"""One task of one run in figures: every figure with its interval, outcomes, signature, what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lmms_eval_finance.metrics.intervals import ClusterSums, Interval
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.runs import dialogues
from lmms_eval_finance.runs.figures import figures, sums, with_few_values


@dataclass(frozen=True)
class TaskSummary:
    """A task's figures.

    Attributes:
        task: its name.
        records: of all items that count here.
        sums: over the records.
        figures: by name, in the order of the task's metric table.
        outcomes: how often each occurs.
        signatures: those of the records, the most frequent first.
        changed: items that became better or worse, and whose gold changed; None without an earlier state.
        left_out: undecided items that were left out as asked.
    """

    task: str
    records: Sequence[Record]
    sums: ClusterSums
    figures: Mapping[str, Interval]
    outcomes: Mapping[Outcome, int]
    signatures: Sequence[str]
    changed: Mapping[str, int] | None = None
    left_out: int = field(default=0)

    @classmethod
    def of(
        cls,
        task: str,
        records: Sequence[Record],
        before: Sequence[Record] | None = None,
        *,
        without_undecided: bool = False,
    ) -> TaskSummary:
        """Summarise records; `before` are the same items as they were.

        With `without_undecided`, items that the rule judge could not decide are in no figure.
        """
        changed = None if before is None else _changes(before, records)
        counted = with_few_values(
            [record for record in records if not (without_undecided and record.outcome is Outcome.UNDECIDED)]
        )
        totals = sums(task, counted)
        return cls(
            task=task,
            records=counted,
            sums=totals,
            figures=figures(task, totals, counted),
            outcomes=Counter(record.outcome for record in records),
            signatures=_signatures(counted, without_undecided),
            changed=changed,
            left_out=len(records) - len(counted),
        )

    @property
    def scored(self) -> int:
        """The number of scored records."""
        return sum(record.outcome.scored for record in self.records)


def _signatures(records: Iterable[Record], without_undecided: bool) -> list[str]:
    found = Counter(record.signature for record in records if record.signature)
    names = [name for name, _ in found.most_common()]
    if without_undecided:
        return [str(Signature.parse(name).with_fields(undecided="left out")) for name in names]
    return names


def _changes(before: Sequence[Record], records: Sequence[Record]) -> dict[str, int]:
    found = dict.fromkeys(("better", "worse", "outcome", "gold"), 0)
    for old, new in zip(before, records, strict=True):
        found["better"] += (new.score or 0.0) > (old.score or 0.0)
        found["worse"] += (new.score or 0.0) < (old.score or 0.0)
        found["outcome"] += new.outcome is not old.outcome
        found["gold"] += new.gold != old.gold
    return found


def summary_text(tasks: Sequence[TaskSummary]) -> str:
    """The summaries as plain text for a terminal."""
    parts = [_task_text(task) for task in tasks]
    by_name = {task.task: task for task in tasks}
    for name, task in by_name.items():
        gold = by_name.get(f"{name}_gold")
        if name.endswith("_conversation"):
            parts.append(_propagation_text(task, gold))
    return "\n".join(parts)


def _task_text(task: TaskSummary) -> str:
    left_out = f", {task.left_out:,} undecided left out" if task.left_out else ""
    lines = [f"{task.task}: {task.scored:,} of {len(task.records):,} items scored{left_out}"]
    width = max((len(name) for name in task.figures), default=0)
    lines += [f"  {name:{width}}  {_interval_text(figure)}" for name, figure in task.figures.items()]
    counts = sorted(task.outcomes.items(), key=lambda entry: (-entry[1], entry[0].value))
    lines.append("  outcomes: " + ", ".join(f"{outcome.value} {count:,}" for outcome, count in counts))
    if task.changed is not None:
        lines.append(f"  against the run: {_changed_text(task.changed)}")
    lines += [f"  {signature}" for signature in task.signatures]
    return "\n".join(lines) + "\n"


def _interval_text(figure: Interval) -> str:
    if figure.low is None or figure.high is None:
        return f"{figure.estimate:.4f}"
    return f"{figure.estimate:.4f}  [{figure.low:.4f}, {figure.high:.4f}]"


def _changed_text(changed: Mapping[str, int]) -> str:
    if not any(changed.values()):
        return "the same"
    return (
        f"{changed['better']:,} better, {changed['worse']:,} worse, {changed['outcome']:,} with another outcome, "
        f"{changed['gold']:,} on another gold"
    )


def _propagation_text(own: TaskSummary, gold: TaskSummary | None) -> str:
    found = dialogues.Propagation(own.records, gold.records if gold else ())
    rows = [(f"turn {turn}", [found.at_turn(kind, turn) for kind in _KINDS]) for turn in found.turns]
    rows += [(place, [found.accuracy(kind, place) for kind in _KINDS]) for place in _PLACES]
    lines = ["error propagation", f"  {'':22}{'own answers':28}gold answers"]
    lines += [
        f"  {name:22}{_cell(own_figure):28}{_cell(gold_figure)}" for name, (own_figure, gold_figure) in rows
    ]
    gap = found.gap()
    if gap is not None:
        lines.append(f"  {'gold minus own':22}{_cell(gap)}")
    return "\n".join(lines) + "\n"


_KINDS = (dialogues.OWN, dialogues.GOLD)
_PLACES = (dialogues.BEFORE, dialogues.AFTER)


def _cell(figure: Interval | None) -> str:
    return "" if figure is None else _interval_text(figure)
