"""Fields of a receipt, an invoice or a card as names and values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rapidfuzz import fuzz

from lmms_eval_finance.models.baseline.lines import text_lines
from lmms_eval_finance.models.baseline.ocr import Fragment

_PAIR = re.compile(r"^\s*([^:：\d][^:：]{0,24}?)\s*[:：]\s*(.*)$")
_MONEY = r"[-+]?(?:[¥￥$€£][ ]?\d[\d,]*(?:\.\d{1,2})?|\d[\d,]*\.\d{1,2}|\d[\d,]*(?=[ ]?(?:元|EUR|USD)))(?:[ ]?(?:元|EUR|USD))?"
_FORMS: Sequence[tuple[re.Pattern[str], re.Pattern[str]]] = tuple(
    (re.compile(name, re.IGNORECASE), re.compile(form))
    for name, form in (
        (r"有效期|expir|valid", r"\b\d{2}[ ]?/[ ]?\d{2,4}\b"),
        (
            r"日期|时间|date|time",
            r"\d{4}[-年./]\d{1,2}[-月./]\d{1,2}日?(?:[ ]?\d{1,2}:\d{2}(?::\d{2})?)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}",
        ),
        (r"卡号|card.?number|card.?no", r"(?:\d{4}[ ]?){3,4}\d{1,4}"),
        (r"税率|rate", r"\d+(?:\.\d+)?[ ]?%"),
        (r"号码|单号|编号|代码|票号|number|\bno\b|code", r"\b[A-Z0-9][A-Z0-9-]{3,24}\b"),
        (r"电话|phone|tel", r"\+?\d[\d -]{5,18}\d"),
        (r"合计|金额|总额|总计|税额|价|amount|total|price|sum", _MONEY),
        (r"卡种|卡类型|card.?type", r"借记卡|信用卡|贷记卡|储蓄卡|debit|credit"),
        (r"银行|bank", r"[一-鿿]{2,12}银行|\w+ bank"),
        (r"名称|店名|公司|商户|name|company|store|merchant", r"[一-鿿（）()A-Za-z0-9&' .]{3,40}"),
    )
)
_TOTALS = re.compile(r"合计|小计|总计|总额|应收|实收|total|subtotal|sum|tax|change|cash", re.IGNORECASE)
_TITLES = re.compile(
    r"^(?:品名|名称|商品|数量|单价|金额|小计|规格|单位|item|qty|quantity|price|amount|description)$",
    re.IGNORECASE,
)


def extract(fragments: Sequence[Fragment], keys: Sequence[str]) -> dict[str, Any]:
    """The fields of a document: those of the given names (empty where nothing is found), else all that are named on it.

    Args:
        fragments: the document's texts.
        keys: the names; empty for an open extraction.
    """
    lines = text_lines(fragments)
    if keys:
        return {key: _value(key, keys, lines) for key in keys}
    found: dict[str, Any] = {}
    table, rows = _goods(lines)
    for number, line in enumerate(lines):
        if number in table:
            continue
        for name, value in _pairs(line):
            found.setdefault(name, value)
    if rows:
        found["商品" if any(ord(name[0]) > 0x2E80 for name in rows[0]) else "items"] = rows
    return found


def _pairs(line: Sequence[Fragment]) -> list[tuple[str, str]]:
    """Names and values on a line: ``name: value`` in one text, or a text that ends with a colon and the next."""
    pairs = []
    waiting = ""
    for one in line:
        for part in re.split(r"[ ]{2,}", one.text):
            found = _PAIR.match(part)
            if found and found[2]:
                pairs.append((found[1], found[2].strip()))
                waiting = ""
            elif found:
                waiting = found[1]
            elif waiting:
                pairs.append((waiting, part.strip()))
                waiting = ""
    texts = [one.text for one in line]
    if not pairs and len(texts) == 2 and re.fullmatch(_MONEY, texts[1]) and not re.match(r"\d", texts[0]):
        pairs.append((texts[0], texts[1]))
    return pairs


def _goods(lines: Sequence[Sequence[Fragment]]) -> tuple[set[int], list[dict[str, str]]]:
    """The rows below a line of column titles, as long as they fill the columns; the numbers of those lines."""
    for start, line in enumerate(lines):
        titles = [one for one in line if _TITLES.match(one.text.strip())]
        if len(titles) < 2:
            continue
        used, rows = {start}, []
        for number in range(start + 1, len(lines)):
            cells: dict[str, str] = {}
            for one in lines[number]:
                title = min(
                    titles, key=lambda head: min(abs(head.left - one.left), abs(head.right - one.right))
                )
                cells[title.text] = f"{cells.get(title.text, '')} {one.text}".strip()
            if len(cells) < len(titles) or _TOTALS.match(lines[number][0].text):
                break
            used.add(number)
            rows.append(cells)
        if rows:
            return used, rows
    return set(), []


def _value(key: str, keys: Sequence[str], lines: Sequence[Sequence[Fragment]]) -> str:
    """The value beside, after or below the name; else whatever has the form that the name suggests."""
    form = next((form for name, form in _FORMS if name.search(key)), None)
    named = _named(key, keys, lines)
    if named:
        shaped = form.search(named) if form is not None else None
        return (shaped[0] if shaped else named).strip()
    if form is None:
        return ""
    for line in lines:
        for one in line:
            found = form.search(one.text)
            if found:
                return found[0].strip()
    return ""


def _named(key: str, keys: Sequence[str], lines: Sequence[Sequence[Fragment]]) -> str:
    """What stands after the name, right of it or below it, where the name or one much like it is printed."""
    best, best_score = "", 70.0
    for number, line in enumerate(lines):
        for place, one in enumerate(line):
            label, _, rest = one.text.replace("：", ":").partition(":")
            score = fuzz.ratio(label.strip(), key)
            if key in label:
                score = max(score, 75 + 20 * len(key) / len(label))
            elif len(label.strip()) > 1 and label.strip() in key:
                score = max(score, 66 + 20 * len(label.strip()) / len(key))
            value = rest.strip()
            if not value and place + 1 < len(line) and not _is_title(line[place + 1].text, keys):
                value = line[place + 1].text
            if not value and number + 1 < len(lines):
                near = min(lines[number + 1], key=lambda other: abs(other.middle[0] - one.middle[0]))
                value = near.text if abs(near.middle[0] - one.middle[0]) < one.width else ""
            if value and score > best_score:
                best, best_score = value, score
    return best


def _is_title(text: str, keys: Sequence[str]) -> bool:
    """Whether a text is the name of another field."""
    return _TITLES.match(text.strip()) is not None or any(
        fuzz.ratio(text.strip(" :："), key) > 85 for key in keys
    )
