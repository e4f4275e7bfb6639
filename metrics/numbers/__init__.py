"""Numbers in English, French and Chinese answers: found, read and compared."""

from .compare import Comparison, compare_numbers, numbers_match, parse_number
from .dates import DateSpan, find_dates
from .gold import parse_gold_values
from .mentions import find_numbers
from .number import Number
from .question import parse_unit
from .roles import Role
from .units import Unit

__all__ = [
    "Comparison",
    "DateSpan",
    "Number",
    "Role",
    "Unit",
    "compare_numbers",
    "find_dates",
    "find_numbers",
    "numbers_match",
    "parse_gold_values",
    "parse_number",
    "parse_unit",
]
