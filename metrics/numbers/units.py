"""Units: what one written number is worth, and of which kind it is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

ONE = Fraction(1)

PERCENT = "percent"
MONEY = "money"


@dataclass(frozen=True)
class Unit:
    """What stands beside a number: a scale word, a unit, a currency, or several of them.

    Attributes:
        scale: the multiplier that only shortens writing (thousand, million, 亿).
        size: what one unit is worth in the base of its dimension (a percent is 1/100 of
            one, a cent 1/100 of a currency unit, a year 12 months).
        dimension: "" for a plain number, else `percent`, `money` or a physical one; numbers
            of two different dimensions are never equal, a plain one can equal any.
        currencies: ISO 4217 codes that the written sign can mean; empty when none is named.
        symbolic: whether a currency is named by a sign or code (`$`, `EUR`), not by a word.
        long_scale: whether the scale is a word that is worth a thousand times less in English.
    """

    scale: Fraction = ONE
    size: Fraction = ONE
    dimension: str = ""
    currencies: frozenset[str] = frozenset()
    symbolic: bool = False
    long_scale: bool = False

    @cached_property
    def factor(self) -> Fraction:
        """What a written 1 is worth in base units."""
        return self.scale * self.size

    @cached_property
    def bare(self) -> bool:
        """Whether nothing is said beside the number."""
        return self.scale == 1 and not self.dimension

    def joined(self, other: Unit) -> Unit:
        """Both beside one number: `million` joined with `USD`."""
        if self is BARE:
            return other
        if other is BARE:
            return self
        return Unit(
            scale=self.scale * other.scale,
            size=self.size * other.size,
            dimension=self.dimension or other.dimension,
            currencies=(self.currencies & other.currencies) or self.currencies or other.currencies,
            symbolic=self.symbolic or other.symbolic,
            long_scale=self.long_scale or other.long_scale,
        )

    def contradicts(self, other: Unit) -> bool:
        """Whether no number can be in both units: percent against dollars, euros against dollars."""
        if self.currencies and other.currencies and not self.currencies & other.currencies:
            return True
        return bool(self.dimension and other.dimension and self.dimension != other.dimension)


BARE = Unit()
