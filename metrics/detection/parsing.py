r"""Boxes out of whatever a model writes, from the text and the image sizes alone.

The answer is looked for where it stands out most: in an answer wrapper (``<answer>``,
``<|begin_of_box|>``), in ``\boxed{}``, after a *final answer* heading, in code fences,
then anywhere. In each of these, the first kind that gives a box is read: grounding tags
(``<box>``, ``<|box_start|>``, ``<|det|>``), JSON, coordinates in prose. Thinking blocks
are cut out before anything else.

Every box that a response claims is kept, also reversed, empty, NaN or incomplete ones
(missing coordinates are NaN), so that a score can count them. Only a box that the text
breaks off in is left out.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from lmms_eval_finance.metrics.detection import keys
from lmms_eval_finance.metrics.detection.boxes import Box
from lmms_eval_finance.metrics.detection.conventions import Size, guess_convention, scale_of
from lmms_eval_finance.metrics.detection.keys import Coordinates, coordinates_of, folded
from lmms_eval_finance.metrics.detection.labels import SYNONYMS, canonical_label, labels_in
from lmms_eval_finance.metrics.json_reading import fenced_blocks, find_json, without_escaping
from lmms_eval_finance.metrics.normalise import boxed_contents, narrow, strip_reasoning


def parse_boxes(
    text: str,
    *,
    image_size: Size,
    model_image_size: Size | None = None,
    convention: str,
) -> list[Box]:
    """The boxes that a response claims, in pixels of the image, in the order of the text.

    Args:
        text: the response.
        image_size: width and height in pixels of the image that the gold boxes refer to.
        model_image_size: width and height of the image as the model saw it, after its
            own resizing; needed for ``model_absolute``.
        convention: what the model's numbers mean: ``absolute`` (pixels of the image),
            ``model_absolute`` (pixels of the resized image), ``thousand`` (0 to 1000),
            ``unit`` (0 to 1), or ``auto`` (see `guess_convention`).

    Returns:
        Boxes as stated: not sorted, clipped or deduplicated. Empty for a response without any.

    Raises:
        ValueError: an unknown convention, or a size that is missing or not positive.

    >>> parse_boxes('[{"bbox_2d": [100, 200, 300, 400], "label": "company"}]',
    ...             image_size=(500, 1000), convention="thousand")
    [Box(xyxy=(50.0, 200.0, 150.0, 400.0), label='company')]
    >>> parse_boxes("There is no seal.", image_size=(500, 1000), convention="absolute")
    []
    """
    if convention != "auto":  # a wrong setting shows before any answer is read
        scale_of(convention, image_size, model_image_size)
    boxes = _read(text)
    if convention == "auto":
        convention = guess_convention([box.xyxy for box in boxes], image_size, model_image_size)
    x, y = scale_of(convention, image_size, model_image_size)

    def scaled(left: float, top: float, right: float, bottom: float) -> Coordinates:
        return left * x, top * y, right * x, bottom * y

    return [replace(box, xyxy=scaled(*box.xyxy)) for box in boxes]


_BRACKETS = str.maketrans("【】〔〕〈〉、", "[][]<>,")
_WRAPPER = re.compile(
    r"<answer>(.*?)(?:</answer>|\Z)|<\|begin_of_box\|>(.*?)(?:<\|end_of_box\|>|\Z)", re.DOTALL | re.IGNORECASE
)
_FINAL = re.compile(
    r"final (?:answer|result|output|detection|box)(?:e?s)?\b|(?:réponse|résultats?) fina(?:le?|ux)\b"
    r"|最终(?:答案|检测结果|结果|输出|坐标)",
    re.IGNORECASE,
)


def _read(text: str) -> list[Box]:
    text = without_escaping(narrow(strip_reasoning(text)).translate(_BRACKETS))
    wrapped = [match[1] or match[2] or "" for match in _WRAPPER.finditer(text)]
    text = ("\n".join(wrapped) if wrapped else text).strip()
    after_final = text[last.end() :] if (last := _last(_FINAL, text)) else ""
    for part in ("\n".join(boxed_contents(text)), after_final):
        if boxes := _boxes_in(part):
            return boxes
    blocks = fenced_blocks(text)
    boxes = [box for block in blocks for box in _boxes_in(block)]
    if boxes or any(next(find_json(block), None) for block in blocks):
        return boxes
    return _boxes_in(text)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


class _Placed(NamedTuple):
    """A box and the range of the text that it was read from."""

    box: Box
    start: int
    end: int


def _boxes_in(text: str) -> list[Box]:
    for reader in (_in_tags, _in_json, _in_brackets, _in_names, _in_lines):
        if placed := list(reader(text)):
            return _labelled(text, placed)
    return []


# --- grounding tags

_TAG = re.compile(
    r"<\|?(?:box_start|box|bbox|bbox_2d|bounding_?box|det|quad_start|quad)(?=[\s|/>])([^<>]{0,300})>([^<]*)",
    re.I,
)
_REFERENCE = re.compile(r"<\|?(?:object_ref_start|ref|p)\|?>([^<]{1,200})", re.I)
_ATTRIBUTE_LABEL = re.compile(r"\b(?:label|class|type|category)\s*=\s*[\"']([^\"']{1,100})")


def _in_tags(text: str) -> Iterator[_Placed]:
    for tag in _TAG.finditer(text):
        source = f"{tag[1]} {tag[2]}"
        label = named[1] if (named := _ATTRIBUTE_LABEL.search(tag[1])) else None
        for box in _in_string(source, label, is_quad="quad" in tag[0][:8]):
            if tag.end() < len(text) or not _incomplete(box):
                yield _Placed(box, tag.start(), tag.end())


def _in_string(text: str, label: str | None, *, is_quad: bool = False) -> Iterator[Box]:
    """The boxes of a text that holds nothing but boxes."""
    named = [placed.box for placed in _in_names(text)]
    if named:
        yield from (replace(box, label=label) for box in named)
    else:
        yield from _from_numbers(_numbers_in(text), label, claimed=True, is_quad=is_quad)


# --- JSON; objects are tuples of (key, value) here, so that equal keys are all kept


def _in_json(text: str) -> Iterator[_Placed]:
    found = list(find_json(text, object_pairs_hook=tuple))
    placed = [(part, list(_walk(part.value, None, claimed=False))) for part in found]
    if placed and not found[-1].closed and (boxes := placed[-1][1]) and _incomplete(boxes[-1]):
        boxes.pop()  # the text breaks off here
    # boxes in objects are the answer; bare lists beside them are talk about it
    if any(boxes for part, boxes in placed if _holds_object(part.value)):
        placed = [(part, boxes) for part, boxes in placed if _holds_object(part.value)]
    for part, boxes in placed:
        yield from (_Placed(box, part.start, part.end) for box in boxes)


def _holds_object(value: Any) -> bool:
    return isinstance(value, tuple) or any(isinstance(item, tuple) for item in value)


def _walk(value: Any, label: str | None, *, claimed: bool, is_quad: bool = False) -> Iterator[Box]:
    """All boxes of a JSON value.

    Args:
        value: what `find_json` gave, objects as tuples of pairs.
        label: what the surroundings say the boxes show.
        claimed: whether the value is said to be a box or boxes, so that numbers which
            make no box are an invalid box.
        is_quad: whether eight numbers are the four corners of one box.
    """
    if isinstance(value, tuple):
        yield from _walk_object(value, label)
    elif isinstance(value, list):
        yield from _walk_list(value, label, claimed=claimed, is_quad=is_quad)
    elif isinstance(value, str) and (claimed or _NUMERIC_TEXT.fullmatch(value)):
        yield from _in_string(value, label, is_quad=is_quad)


def _walk_object(pairs: Sequence[tuple[str, Any]], outer: str | None) -> Iterator[Box]:
    members = [(folded(key), key, value) for key, value in pairs]
    stated = _stated_label(members)
    label = stated or outer
    labels = _parallel_labels(members)
    whole = _box_of_names(members)
    if whole is not None:
        yield Box(whole, label)
    inherited = label if canonical_label(label) in SYNONYMS else outer
    for name, key, value in members:
        is_box = name in keys.BOX_KEYS or name in keys.BOXES_KEYS or name in keys.POLYGON_KEYS
        if name in keys.NOT_BOXES or (whole is not None and is_box):
            continue
        if labels and isinstance(value, list) and len(value) == len(labels) and name not in keys.LABEL_KEYS:
            for item, own in zip(value, labels, strict=True):
                yield from _walk(item, own, claimed=True, is_quad=True)
        elif is_box:
            yield from _walk(value, label, claimed=True, is_quad=name not in keys.BOXES_KEYS)
        elif name in keys.SIZE_BOX_KEYS:
            yield from (_from_size(box) for box in _walk(value, label, claimed=True))
        elif stated or name in keys.CONTAINER_KEYS or name in keys.LABEL_KEYS:
            yield from _walk(value, inherited, claimed=False)
        elif name not in keys.EDGES and name not in keys.CORNERS:
            # a key that is neither structure nor part of a box says what its boxes show
            is_class = canonical_label(key) in SYNONYMS
            yield from _walk(value, key, claimed=is_class and isinstance(value, list))


def _from_size(box: Box) -> Box:
    """The box whose last two coordinates are a width and a height."""
    left, top, width, height = box.xyxy
    return replace(box, xyxy=(left, top, left + width, top + height))


def _parallel_labels(members: Sequence[tuple[str, str, Any]]) -> list[str] | None:
    """The labels of an object that lists labels and boxes side by side."""
    for name, _, value in members:
        if name in keys.LABEL_KEYS and isinstance(value, list) and len(value) > 1:
            texts = [item for item in value if isinstance(item, str)]
            return texts if len(texts) == len(value) else None
    return None


def _stated_label(members: Sequence[tuple[str, str, Any]]) -> str | None:
    """What an object says that it shows: a known class if there is one, else the likeliest key's text."""
    stated: dict[str, str] = {}
    for name, _, value in members:
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if name in keys.LABEL_KEYS and isinstance(value, str | int) and not isinstance(value, bool):
            stated.setdefault(name, str(value))
    ordered = [stated[name] for name in keys.LABEL_KEYS if stated.get(name, "").strip()]
    known = (label for label in ordered if canonical_label(label) in SYNONYMS)
    return next(known, ordered[0] if ordered else None)


def _box_of_names(members: Sequence[tuple[str, str, Any]]) -> Coordinates | None:
    """The box that an object's own edges or corners make."""
    edges: dict[str, float] = {}
    corners: dict[str, tuple[float, float]] = {}
    for name, _, value in members:
        number = _number(value)
        if name in keys.EDGES and number is not None:
            edges[keys.EDGES[name]] = number
        elif name in keys.CORNERS and (point := _point(value)):
            corners[keys.CORNERS[name]] = point
    if len(corners) == 2:
        return (*corners["first"], *corners["second"])
    return coordinates_of(edges)


def _walk_list(value: list[Any], label: str | None, *, claimed: bool, is_quad: bool) -> Iterator[Box]:
    while len(value) == 1 and isinstance(value[0], list):  # brackets around brackets say nothing
        value, claimed, is_quad = value[0], True, True
    numbers = _as_numbers(value)
    if numbers is not None:
        yield from _from_numbers(numbers, label, claimed=claimed, is_quad=is_quad)
        return
    points = [_point(item) for item in value]
    if len(points) > 1 and None not in points:
        yield Box(_hull([point for point in points if point]), label)
        return
    words = [item for item in value if isinstance(item, str) and _number(item) is None]
    rest = [item for item in value if not any(item is word for word in words)]
    if len(words) == 1 and not _numbers_in(words[0]):  # a label beside its box
        coordinates = _as_numbers(rest)
        if coordinates is not None and len(coordinates) >= 4:
            yield from _from_numbers(coordinates, words[0], claimed=True, is_quad=is_quad)
            return
        if len(rest) == 1 and isinstance(rest[0], list | tuple):
            yield from _walk(rest[0], words[0], claimed=True, is_quad=True)
            return
    for item in value:
        yield from _walk(item, label, claimed=isinstance(item, list), is_quad=True)


def _from_numbers(
    numbers: Sequence[float], label: str | None, *, claimed: bool, is_quad: bool
) -> Iterator[Box]:
    """The boxes of a flat row of numbers; a claimed row that makes none is an invalid box."""
    count = len(numbers)
    if is_quad and count >= 6 and count % 2 == 0:
        yield Box(_hull([(numbers[i], numbers[i + 1]) for i in range(0, count, 2)]), label)
    elif count and count % 4 == 0:
        for i in range(0, count, 4):
            yield Box((numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]), label)
    elif count == 5 and 0 <= numbers[4] <= 1:  # a confidence follows
        yield Box((numbers[0], numbers[1], numbers[2], numbers[3]), label)
    elif claimed and count > 1:
        left, top, right, bottom = (
            (*numbers, math.nan, math.nan, math.nan)[:4] if count < 4 else [math.nan] * 4
        )
        yield Box((left, top, right, bottom), label)


def _hull(points: Sequence[tuple[float, float]]) -> Coordinates:
    """Two points are corners as stated; more are the outline of one box."""
    if len(points) == 2:
        return (*points[0], *points[1])
    if any(math.isnan(x) or math.isnan(y) for x, y in points):
        return (math.nan,) * 4
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _incomplete(box: Box) -> bool:
    return any(math.isnan(coordinate) for coordinate in box.xyxy)


_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?(?![\d.]*\d)",
    re.ASCII,
)
_NUMBER_WORD = re.compile(
    r"\s*([-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30}|nan|inf(?:inity)?))\s*(?:px|像素)?\s*", re.I
)
_NUMERIC_TEXT = re.compile(r"[\d\s.,;()\[\]+-]*")


def _numbers_in(text: str) -> list[float]:
    return [float(number) for number in _NUMBER.findall(text)]


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and (match := _NUMBER_WORD.fullmatch(value)):
        return float(match[1])
    return None


def _as_numbers(value: Any) -> list[float] | None:
    """A list of nothing but numbers, as floats."""
    if not isinstance(value, list):
        return None
    numbers = [_number(item) for item in value]
    return None if None in numbers else [number for number in numbers if number is not None]


def _point(value: Any) -> tuple[float, float] | None:
    if isinstance(value, tuple):
        named = {folded(key): _number(member) for key, member in value}
        x, y = named.get("x"), named.get("y")
    elif isinstance(value, str):
        numbers = _numbers_in(value)
        x, y = numbers if len(numbers) == 2 else (None, None)
    else:
        numbers = _as_numbers(value) or []
        x, y = numbers if len(numbers) == 2 else (None, None)
    return None if x is None or y is None else (x, y)


# --- prose

_GROUP = re.compile(r"[(\[<]([^()\[\]<>]{3,120})[)\]>]")
_GROUP_CHARACTERS = frozenset("0123456789.,;+-eE pxX\t\n")
_BETWEEN_CORNERS = re.compile(r"[^.。!?！？\d]{0,60}")


def _in_brackets(text: str) -> Iterator[_Placed]:
    """``(10, 20, 110, 220)``, and ``(10, 20)`` followed by ``(110, 220)``."""
    groups = []
    for match in _GROUP.finditer(text):
        if _GROUP_CHARACTERS.issuperset(match[1]) and len(numbers := _numbers_in(match[1])) in (2, 4):
            groups.append((numbers, match.start(), match.end()))
    position = 0
    while position < len(groups):
        numbers, start, end = groups[position]
        position += 1
        if len(numbers) == 2 and position < len(groups):
            others, next_start, next_end = groups[position]
            if len(others) == 2 and _BETWEEN_CORNERS.fullmatch(text, end, next_start):
                numbers, end = [*numbers, *others], next_end
                position += 1
        if len(numbers) == 4:
            yield _Placed(Box((numbers[0], numbers[1], numbers[2], numbers[3])), start, end)


_NAMED_NUMBER = re.compile(
    r"(?<![A-Za-z])((?:(?:top|bottom|left|right)[_ -]?(?:left|right|top|bottom)[_ -]?)?[xy]"
    r"(?:[_ -]?(?:min|max|left|right|top|bottom|start|end|cent(?:er|re)|[0-2]))?"
    r"|c[xy]|(?:center|centre|min|max|start|end)[_ -]?[xy]|left|top|right|bottom|width|height|w|h"
    r"|gauche|haut|droite|bas|largeur|hauteur|[左上右下]|[宽高]度?)"
    r"[\"'\s]{0,3}[:=>为是][\"'\s]{0,3}(" + _NUMBER.pattern + ")",
    re.IGNORECASE,
)


def _in_names(text: str) -> Iterator[_Placed]:
    """``x1=10, y1=20, x2=110, y2=220`` and its like."""
    named: dict[str, float] = {}
    start = 0
    for match in _NAMED_NUMBER.finditer(text):
        role = keys.EDGES.get(folded(match[1]))
        if role is None:
            continue
        if role in named:
            named.clear()
        if not named:
            start = match.start()
        named[role] = float(match[2])
        coordinates = coordinates_of(named)
        if coordinates is not None:
            yield _Placed(Box(coordinates), start, match.end())
            named.clear()


_LINE_START = re.compile(r"\s*(?:[-*•|]\s*)*(?:\d{1,3}[.):]\s+|\|?\s*\d{1,3}\s*\|)?\s*")
_BARE_ROW = re.compile(
    r"(?P<before>(?:[^:\n]{0,60}:)?[^\d\n\[({]{0,60}?)(?P<row>(?:"
    + _NUMBER.pattern
    + r"[ \t,;|]{1,5}){3,39}"
    + _NUMBER.pattern
    + r")"
    r"(?P<after>[^\d\n]{0,80})"
)
_ABOUT_BOXES = re.compile(r"seal|stamp|chop|box|coord|sceau|cachet|tampon|章|印|坐标", re.IGNORECASE)


def _in_lines(text: str) -> Iterator[_Placed]:
    """Lines of four bare numbers (or eight, ...), alone or with the name of a class."""
    position = 0
    for line in text.splitlines(keepends=True):
        begin, position = position, position + len(line)
        opening = _LINE_START.match(line)
        skipped = opening.end() if opening else 0
        for offset in dict.fromkeys((skipped, 0)):
            row = _BARE_ROW.fullmatch(line.rstrip("\r\n"), offset)
            words = (row["before"] + row["after"]) if row else ""
            if row and (not re.search(r"\w", words) or labels_in(words) or _ABOUT_BOXES.search(words)):
                start, end = begin + row.start("row"), begin + row.end("row")
                numbers = _numbers_in(row["row"])
                if len(numbers) % 4 == 0:
                    boxes = _from_numbers(numbers, None, claimed=False, is_quad=False)
                    yield from (_Placed(box, start, end) for box in boxes)
                break


# --- labels from the surroundings


def _labelled(text: str, placed: Sequence[_Placed]) -> list[Box]:
    """The boxes, those without a label with the one that the text around them names."""
    first_before, first_after = _around(text, placed, 0)
    label_follows = _only(first_before, last=True) is None and _only(first_after, last=False) is not None
    boxes: list[Box] = []
    previous: str | None = None
    for index, (box, start, _) in enumerate(placed):
        if box.label is None:
            before, after = _around(text, placed, index)
            label = _only(after, last=False) if label_follows else _only(before, last=True)
            gap = text[placed[index - 1].end : start] if index else ""
            if label is None and index and not label_follows and not re.search(r"\w", gap):
                label = previous
            previous = label
            box = replace(box, label=label)
        boxes.append(box)
    return boxes


_STATED = re.compile(
    r"(?:label|class|category|type|类别|标签|类型|étiquette|catégorie)[\"']?[ ]?[:=][ ]?[\"']?([^\n,;\"'}\]]{1,60})",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.,;:。；!?]\s")


def _around(text: str, placed: Sequence[_Placed], index: int) -> tuple[str, str]:
    """The words that may name a box: on the nearest of the three lines before it that names any,
    and behind it on its own line or on a line that states a label."""
    _, start, end = placed[index]
    floor = min(placed[index - 1].end, start) if index else 0
    ceiling = max(placed[index + 1].start, end) if index + 1 < len(placed) else len(text)
    before = text[max(floor, start - 300) : start]
    after = text[end : min(ceiling, end + 100)]
    lines = [line for line in before.split("\n") if re.search(r"\w", line)][-3:]
    naming = [line for line in lines if _STATED.search(line) or labels_in(line) or _REFERENCE.search(line)]
    stated = _STATED.search(after)
    return (naming[-1] if naming else ""), (stated[0] if stated else after.split("\n")[0])


def _only(text: str, *, last: bool) -> str | None:
    """The one class that a piece of text names, or its last or first clause that names any; else None."""
    for pattern in (_REFERENCE, _STATED):
        if stated := _last(pattern, text):
            return stated[1].strip()
    clauses = _CLAUSE.split(text)
    for part in (text, *(reversed(clauses) if last else clauses)):
        names = labels_in(part)
        if len({canonical_label(name) for name in names}) == 1:
            return names[-1]
        if names and part is not text:
            break
    return None
