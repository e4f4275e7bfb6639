"""The value type of everything that is read here."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .roles import Role
from .units import BARE, PERCENT, Unit


@dataclass(frozen=True, slots=True)
class Number:
    """One number named by a text.

    Attributes:
        value: in base units: scale words multiplied out, per cent as a fraction of one, cents
            in currency units. From `parse_number` with an item's unit: in that unit.
        text: the stretch of text that names it, sign and unit included.
        start: where that stretch begins in the text.
        end: where it ends.
        written: the number as written beside its unit (25 of `25%`), sign included.
        unit: what stands beside it.
        readings: every reading of `written` that the notation leaves open, `written` first.
        role: what the number does in its text.
        asserted: whether a verb or sign states it (`is`, `=`).
        direction: -1 or 1 where words say that something fell or rose by this number, else 0.
        bound: `<` or `>` where it is a limit that is not reached (`less than`, `plus de`), else "".
        in_range: whether it is one end of a range.
    """

    value: Fraction
    text: str
    start: int
    end: int
    written: Fraction
    unit: Unit = BARE
    readings: tuple[Fraction, ...] = ()
    role: Role = Role.VALUE
    asserted: bool = False
    direction: int = 0
    bound: str = ""
    in_range: bool = False

    @property
    def percent(self) -> bool:
        """Whether it is written in per cent, per mille or basis points."""
        return self.unit.dimension == PERCENT

    @property
    def currencies(self) -> frozenset[str]:
        """The ISO 4217 codes that the written currency can mean."""
        return self.unit.currencies

    def __float__(self) -> float:
        return float(self.value)


def same_amount(one: Number, other: Number) -> bool:
    """Whether two writings mean one amount, up to rounding (`0.0685` and `6.85%`, `16,640.50` and `16,641`)."""
    if _close(one.value, other.value):
        return True
    return one.percent != other.percent and _close(one.written, other.written)


def _close(a: Fraction, b: Fraction) -> bool:
    return abs(a - b) * 200 <= abs(a)
