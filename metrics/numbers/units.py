"""Units: what one written number is worth, and of which kind it is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

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
            of two different dimensions other than "" are never equal, percent and plain are.
        currencies: ISO 4217 codes that the written sign can mean; empty when none is named.
        symbolic: whether a currency is named by a sign or code (`$`, `EUR`), not by a word.
        name: the unit as written, lower case, when it is not known here (`shares`).
    """

    scale: Fraction = ONE
    size: Fraction = ONE
    dimension: str = ""
    currencies: frozenset[str] = frozenset()
    symbolic: bool = False
    name: str = ""

    @property
    def factor(self) -> Fraction:
        """What a written 1 is worth in base units."""
        return self.scale * self.size

    @property
    def bare(self) -> bool:
        """Whether nothing is said beside the number."""
        return self.scale == 1 and not self.dimension

    def joined(self, other: Unit) -> Unit:
        """Both beside one number: `million` joined with `USD`."""
        return Unit(
            scale=self.scale * other.scale,
            size=self.size * other.size,
            dimension=self.dimension or other.dimension,
            currencies=(self.currencies & other.currencies) or self.currencies or other.currencies,
            symbolic=self.symbolic or other.symbolic,
            name=self.name or other.name,
        )

    def contradicts(self, other: Unit) -> bool:
        """Whether no number can be in both units: percent against dollars, euros against dollars."""
        if self.currencies and other.currencies and not self.currencies & other.currencies:
            return True
        return bool(self.dimension and other.dimension and self.dimension != other.dimension)


BARE = Unit()
