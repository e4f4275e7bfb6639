"""What the numbers of a model's boxes mean in cfmme_seal_detection, stated before it is asked.

The task's YAML takes `BY_MODEL` (as `KWARGS`) as its `lmms_eval_specific_kwargs`: the host picks the entry of
its ``--model``, else `default`. ``LMMS_EVAL_FINANCE_COORDINATES`` overrules it, for models behind
a server or with other pixel limits. The prompt asks for what is in use, every record and the
signature name it, and `contradiction` says when the answers look like something else.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lmms_eval_finance import settings
from lmms_eval_finance.metrics.detection import CONVENTIONS, Box, guess_convention
from lmms_eval_finance.metrics.detection.conventions import scale_of

Size = tuple[int, int]

BY_MODEL: dict[str, dict[str, str]] = {
    "default": {"coordinates": "thousand"},
    # Qwen2.5-VL answers in pixels of its resized picture; the limits are those of the host's wrappers.
    "qwen2_5_vl": {"coordinates": "model_absolute:28,200704,1605632"},
    "qwen2_5_vl_interleave": {"coordinates": "model_absolute:28,200704,200704"},
}
"""Entry of ``--model`` -> what its wrapper's models are asked for."""

_ASKED = MappingProxyType(
    {
        "thousand": (
            "Give coordinates as whole numbers from 0 to 1000: x from the left edge (0) to the right edge (1000) "
            "of the page, y from its top edge (0) to its bottom edge (1000)."
        ),
        "unit": (
            "Give coordinates as fractions from 0 to 1: x from the left edge (0) to the right edge (1) of the page, "
            "y from its top edge (0) to its bottom edge (1)."
        ),
        "absolute": (
            "Give coordinates in pixels from the top left corner of the page, which is {width} pixels wide and "
            "{height} pixels high."
        ),
        "auto": "",
    }
)


def __getattr__(name: str) -> Any:
    if name != "KWARGS":
        raise AttributeError(name)
    # A fresh copy each time: the host writes into what it is given.
    return {model: dict(kwargs) for model, kwargs in BY_MODEL.items()}


@dataclass(frozen=True)
class Coordinates:
    """One convention of `metrics.detection.CONVENTIONS`, with the resizing that ``model_absolute`` needs.

    Attributes:
        convention: its name.
        patch: both sides of the resized picture are multiples of it.
        fewest, most: limits of the resized picture's number of pixels.
    """

    convention: str
    patch: int = 28
    fewest: int = 0
    most: int = 0

    @classmethod
    def parse(cls, text: str) -> Coordinates:
        """Read ``thousand``, ``unit``, ``absolute``, ``auto`` or ``model_absolute:PATCH,FEWEST,MOST``.

        Raises:
            SettingError: the text is none of these.

        >>> Coordinates.parse("model_absolute:28,3136,1003520").model_size((2000, 1000))
        (1400, 700)
        """
        name, _, limits = text.strip().partition(":")
        try:
            numbers = [int(number) for number in limits.split(",")] if limits else []
        except ValueError:
            numbers = []
        if name == "model_absolute" and len(numbers) == 3 and numbers[0] > 0 and 0 < numbers[1] <= numbers[2]:
            return cls(name, *numbers)
        if name in CONVENTIONS and name != "model_absolute" and not limits:
            return cls(name)
        raise settings.SettingError(
            f"coordinates {text!r}: use thousand (0 to 1000), unit (0 to 1), absolute (pixels), auto, or "
            "model_absolute:PATCH,FEWEST,MOST (pixels of the resized picture, for instance model_absolute:28,3136,12845056)"
        )

    def __str__(self) -> str:
        return f"{self.convention}:{self.patch},{self.fewest},{self.most}" if self.most else self.convention

    def model_size(self, page: Size) -> Size | None:
        """The picture's size after the model's own resizing; None where it does not matter.

        Sides are rounded to multiples of the patch, and the whole is scaled into the limits, as
        the Qwen2-VL family does.
        """
        if not self.most:
            return None
        width, height = (max(self.patch, round(side / self.patch) * self.patch) for side in page)
        if width * height > self.most:
            shrink = math.sqrt(self.most / (page[0] * page[1]))
            width, height = (
                max(self.patch, math.floor(side * shrink / self.patch) * self.patch) for side in page
            )
        elif width * height < self.fewest:
            grow = math.sqrt(self.fewest / (page[0] * page[1]))
            width, height = (math.ceil(side * grow / self.patch) * self.patch for side in page)
        return width, height

    def asked(self, page: Size) -> str:
        """The sentence of the prompt that states the convention; empty for ``auto``."""
        width, height = self.model_size(page) or page
        named = "absolute" if self.convention == "model_absolute" else self.convention
        return _ASKED[named].replace("{width}", str(width)).replace("{height}", str(height))

    def in_pixels(self, stated: Sequence[Box], page: Size) -> tuple[list[Box], str]:
        """Boxes in pixels of the page, and the convention they were read by."""
        resized = self.model_size(page)
        convention = self.convention
        if convention == "auto":
            convention = guess_convention([box.xyxy for box in stated], page)
        across, down = scale_of(convention, page, resized)
        scaled = [
            Box(
                (box.xyxy[0] * across, box.xyxy[1] * down, box.xyxy[2] * across, box.xyxy[3] * down),
                box.label,
            )
            for box in stated
        ]
        return scaled, convention


_noted: str = BY_MODEL["default"]["coordinates"]


def note(kwargs: Mapping[str, Any] | None) -> Coordinates:
    """Take the convention from what the host hands to doc_to_text, and keep it for scoring.

    process_results never sees the model, but always runs after the prompts were made.
    """
    global _noted
    if kwargs and isinstance(kwargs.get("coordinates"), str):
        _noted = kwargs["coordinates"]
    return in_use()


def in_use() -> Coordinates:
    """The convention in use: the setting, else what was noted last.

    Raises:
        SettingError: it is none.
    """
    return configured() or _parsed(_noted)


def configured() -> Coordinates | None:
    """The convention that ``LMMS_EVAL_FINANCE_COORDINATES`` names; None when it is unset.

    Raises:
        SettingError: it names none.
    """
    setting = settings.value("COORDINATES")
    try:
        return None if setting is None else _parsed(setting)
    except settings.SettingError as error:
        raise settings.SettingError(f"{settings.PREFIX}COORDINATES: {error}") from error


_parsed = functools.lru_cache(maxsize=16)(Coordinates.parse)


# -- evidence against it -----------------------------------------------------------------------------

_SLACK = 1.02
_TELLING, _SHARE = 10, 0.1
"""So many answers that could tell, and so large a share of them, make a warning."""


def contradiction(answers: Sequence[Mapping[str, Any]]) -> str:
    """What in a run's boxes speaks against the convention they were read by; empty if nothing does.

    Looks at the numbers as written and at the sizes of the pages, never at the gold.

    Args:
        answers: for each answer `stated` (boxes as [x1, y1, x2, y2] before any conversion, null
            for a number that is missing), `page` and `coordinates`, as records have them in `details`.
    """
    with_boxes = [(answer, _reach(answer["stated"])) for answer in answers]
    readable = [(answer, reach) for answer, reach in with_boxes if reach is not None]
    if not readable:
        return ""
    coordinates = Coordinates.parse(str(readable[0][0]["coordinates"]))
    name = coordinates.convention
    if name == "auto":
        return _mixed(answers)
    total = len(readable)
    limits = []
    for answer, _ in readable:
        page = (int(answer["page"][0]), int(answer["page"][1]))
        limits.append(
            {"thousand": (1000, 1000), "unit": (1, 1)}.get(name, coordinates.model_size(page) or page)
        )
    beyond = sum(
        reach[0] > limit[0] * _SLACK or reach[1] > limit[1] * _SLACK
        for (_, reach), limit in zip(readable, limits, strict=True)
    )
    if beyond >= max(2, _SHARE * total):
        return f"{beyond} of {total} answers have a coordinate beyond what {coordinates} allows"
    fractions = sum(max(reach) < 2 for _, reach in readable)
    if name != "unit" and 2 * fractions > total:
        return f"{fractions} of {total} answers have all coordinates below 2, as fractions (unit) would be"
    if name == "thousand":
        # On a small page pixels cannot exceed its sides, thousandths can and soon do.
        small = [(answer["page"], reach) for answer, reach in readable if max(answer["page"]) <= 800]
        if len(small) >= _TELLING and all(
            reach[0] <= page[0] * _SLACK and reach[1] <= page[1] * _SLACK for page, reach in small
        ):
            return (
                f"on all {len(small)} pages of at most 800 pixels the boxes lie within the page's pixels, as "
                "pixels (absolute) would"
            )
    elif name != "unit":
        large = [reach for (_, reach), limit in zip(readable, limits, strict=True) if min(limit) >= 1300]
        if len(large) >= _TELLING and all(max(reach) <= 1000 for reach in large):
            return (
                f"on all {len(large)} pages of 1300 pixels or more no coordinate exceeds 1000, as in thousand"
            )
    return ""


def _mixed(answers: Sequence[Mapping[str, Any]]) -> str:
    readings = [str(answer["read_as"]) for answer in answers if _reach(answer["stated"]) is not None]
    counts = {reading: readings.count(reading) for reading in sorted(set(readings))}
    if len(counts) < 2:
        return ""
    listed = ", ".join(f"{count} as {reading}" for reading, count in counts.items())
    return f"auto read the answers in more than one way ({listed}): name the convention"


def _reach(stated: Sequence[Sequence[float | None]]) -> tuple[float, float] | None:
    """The largest x and y of the boxes; None without a whole box."""
    whole = [[float(edge) for edge in box if edge is not None] for box in stated]
    whole = [box for box in whole if len(box) == 4 and all(map(math.isfinite, box))]
    if not whole:
        return None
    return max(max(box[0], box[2]) for box in whole), max(max(box[1], box[3]) for box in whole)
