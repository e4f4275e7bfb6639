"""Fragments of text in reading order: lines, and texts that stand together."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from lmms_eval_finance.models.baseline.ocr import Fragment


def median_height(fragments: Sequence[Fragment]) -> float:
    """The usual height of a line in pixels; 10 where there is none."""
    return statistics.median([one.height for one in fragments]) if fragments else 10.0


def text_lines(fragments: Sequence[Fragment]) -> list[list[Fragment]]:
    """Fragments side by side as lines, from top to bottom, each from left to right."""
    lines: list[list[Fragment]] = []
    for fragment in sorted(fragments, key=lambda one: (one.middle[1], one.left)):
        last = lines[-1] if lines else []
        if last:
            middle = statistics.fmean(one.middle[1] for one in last)
            height = min(fragment.height, statistics.median([one.height for one in last]))
            if abs(fragment.middle[1] - middle) < 0.5 * height:
                last.append(fragment)
                continue
        lines.append([fragment])
    return [sorted(line, key=lambda one: one.left) for line in lines]


def _is_wide(character: str) -> bool:
    return "\u2e80" <= character <= "\uffef"


def join(fragments: Sequence[Fragment]) -> str:
    """The fragments as one text: blanks between them, none between Chinese characters, hyphens at line ends undone."""
    text = ""
    for line in text_lines(fragments):
        for fragment in line:
            if not text:
                text = fragment.text
            elif _is_wide(text[-1]) and _is_wide(fragment.text[0]):
                text += fragment.text
            elif (
                fragment is line[0]
                and len(text) > 2
                and text[-1] == "-"
                and text[-2].isalpha()
                and fragment.text[0].islower()
            ):
                text = text[:-1] + fragment.text
            else:
                text += " " + fragment.text
    return text


def blocks(fragments: Sequence[Fragment]) -> list[list[Fragment]]:
    """Lines below each other that share most of their width, as paragraphs in reading order."""
    height = median_height(fragments)
    found: list[list[Fragment]] = []
    for fragment in sorted(fragments, key=lambda one: (one.top, one.left)):
        home = None
        for block in reversed(found):
            last = block[-1]
            near = -0.5 * height < fragment.top - last.bottom < 0.9 * height
            shared = min(last.right, fragment.right) - max(last.left, fragment.left)
            alike = 0.6 < fragment.height / max(last.height, 1) < 1.6
            if (
                near
                and alike
                and shared > 0.5 * min(last.width, fragment.width)
                and abs(fragment.left - last.left) < 4 * height
            ):
                home = block
                break
        if home is None:
            found.append([fragment])
        else:
            home.append(fragment)
    return found
