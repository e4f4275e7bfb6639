"""Draws the packaged CFMME sample: invented companies, persons, seals and figures, every task and kind of item.

Run ``python scripts/draw_cfmme_sample.py``; it needs the font WenQuanYi Zen Hei (Debian:
``apt-get install fonts-wqy-zenhei``), which is not packaged. The rows are the same every time;
pixels may differ between versions of Pillow and of the font. `subset` names the benchmark's
sources and exams because items are made after their kind; nothing is taken from them. The card
numbers fail the Luhn check, so no card has them.
"""

from __future__ import annotations

import itertools
import json
import math
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

FOLDER = Path(__file__).parents[1] / "lmms_eval_finance" / "data" / "sample" / "cfmme"
FONT = "wqy-zenhei.ttc"
RED, UP, DOWN, BLUE, GREY = "#c8281e", "#c8281e", "#1f8a4c", "#2b5c9e", "#d8dce2"
COLOURS = ("#2b5c9e", "#c96a2a", "#5a8f3d", "#b89320", "#7a4d9e")
Picture = Image.Image


def font(size: float) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(FONT, size)


def sheet(width: int, height: int) -> tuple[Picture, ImageDraw.ImageDraw]:
    image = Image.new("RGB", (width, height), "white")
    return image, ImageDraw.Draw(image)


def write(draw: ImageDraw.ImageDraw, x: float, y: float, text: str, size: float = 14, **style: Any) -> None:
    draw.text((x, y), text, font=font(size), **{"fill": "black", "anchor": "la", **style})


# -- charts ------------------------------------------------------------------------------------------


def bars(title: str, unit: str, series: dict[str, list[float]], ticks: list[str]) -> Picture:
    image, draw = sheet(460, 270)
    write(draw, 230, 8, title, 15, anchor="ma")
    write(draw, 10, 34, f"单位：{unit}", 11)
    top = max(value for values in series.values() for value in values)
    width = 400 / len(ticks)
    for place, tick in enumerate(ticks):
        for number, values in enumerate(series.values()):
            bar = width * 0.7 / len(series)
            left = 40 + place * width + number * bar
            height = 150 * values[place] / top
            draw.rectangle((left, 225 - height, left + bar - 2, 225), fill=COLOURS[number])
            write(draw, left + bar / 2 - 1, 222 - height, f"{values[place]:g}", 10, anchor="ms")
        write(draw, 40 + place * width + width * 0.35, 230, tick, 11, anchor="ma")
    for number, name in enumerate(series):
        draw.rectangle((110 + 130 * number, 252, 120 + 130 * number, 262), fill=COLOURS[number])
        write(draw, 125 + 130 * number, 257, name, 11, anchor="lm")
    draw.line((36, 225, 448, 225), fill="black")
    return image


def lines(
    title: str,
    unit: str,
    series: dict[str, list[float]],
    ticks: list[str],
    *,
    size: tuple[int, int] = (460, 270),
    figures: bool = True,
) -> Picture:
    image, draw = sheet(*size)
    width, height = size
    write(draw, width / 2, 8, title, 15 if width > 300 else 12, anchor="ma")
    if unit:
        write(draw, 10, 34, f"单位：{unit}", 11)
    values = [value for row in series.values() for value in row]
    low, high = min(values), max(values)
    bottom, rise = height - 42, height - 110
    for number, (name, row) in enumerate(series.items()):
        points = [
            (36 + (width - 76) * place / (len(row) - 1), bottom - rise * (value - low) / ((high - low) or 1))
            for place, value in enumerate(row)
        ]
        draw.line(points, fill=COLOURS[number], width=2)
        for (x, y), value in zip(points, row, strict=True):
            draw.ellipse((x - 2, y - 2, x + 2, y + 2), fill=COLOURS[number])
            if figures:
                write(draw, x, y - 5, f"{value:g}", 10, fill=COLOURS[number], anchor="ms")
        if len(series) > 1:
            write(draw, 120 + 130 * number, height - 8, name, 11, fill=COLOURS[number], anchor="ls")
    for place, tick in enumerate(ticks):
        write(draw, 36 + (width - 76) * place / (len(ticks) - 1), bottom + 6, tick, 10, anchor="ma")
    draw.line((26, bottom + 3, width - 20, bottom + 3), fill="black")
    return image


def pie(title: str, shares: dict[str, float]) -> Picture:
    image, draw = sheet(400, 230)
    write(draw, 200, 8, title, 15, anchor="ma")
    start = -90.0
    for number, (name, share) in enumerate(shares.items()):
        draw.pieslice((20, 40, 200, 220), start, start + 3.6 * share, fill=COLOURS[number], outline="white")
        start += 3.6 * share
        draw.rectangle((225, 60 + 28 * number, 237, 72 + 28 * number), fill=COLOURS[number])
        write(draw, 245, 66 + 28 * number, f"{name}  {share:g}%", 13, anchor="lm")
    return image


def candles(title: str, days: list[tuple[str, float, float, float, float]]) -> Picture:
    """Candlesticks of (day, open, high, low, close): red and hollow up, green and filled down."""
    image, draw = sheet(520, 300)
    write(draw, 260, 8, title, 15, anchor="ma")
    write(
        draw, 260, 30, "红色空心为阳线，绿色实心为阴线；每根上方为最高价，下方为最低价（元）", 10, anchor="ma"
    )
    low = min(day[3] for day in days)
    scale = 180 / (max(day[2] for day in days) - low)
    step = 460 / len(days)
    for place, (name, opened, highest, lowest, closed) in enumerate(days):
        x = 45 + step * (place + 0.5)
        y = {value: 260 - (value - low) * scale for value in (opened, highest, lowest, closed)}
        colour = UP if closed > opened else DOWN
        draw.line((x, y[highest], x, y[lowest]), fill=colour, width=2)
        draw.rectangle(
            (x - 9, y[max(opened, closed)], x + 9, y[min(opened, closed)]),
            fill="white" if closed > opened else colour,
            outline=colour,
            width=2,
        )
        write(draw, x, y[highest] - 4, f"{highest:.2f}", 9, anchor="ms")
        write(draw, x, y[lowest] + 3, f"{lowest:.2f}", 9, anchor="ma")
        write(draw, x, 282, name, 10, anchor="ma")
    return image


def holdings(title: str, boxes: list[tuple[str, float, float]], links: list[tuple[int, int, str]]) -> Picture:
    """A shareholding chart: boxes (name, centre x, top y) and links (owner, owned, share)."""
    image, draw = sheet(500, 290)
    write(draw, 250, 8, title, 15, anchor="ma")
    for owner, owned, share in links:
        (_, x1, y1), (_, x2, y2) = boxes[owner], boxes[owned]
        draw.line((x1, y1 + 34, x2, y2), fill="black", width=1)
        write(
            draw,
            (x1 + x2) / 2 + 6,
            (y1 + 34 + y2) / 2,
            share,
            12,
            fill=BLUE,
            anchor="lm",
            stroke_width=2,
            stroke_fill="white",
        )
    for name, x, y in boxes:
        half = 8 + 6.5 * len(name)
        draw.rectangle((x - half, y, x + half, y + 34), outline="black", fill="#eef3fa")
        write(draw, x, y + 17, name, 13, anchor="mm")
    return image


# -- tables: one description gives the picture and the HTML -----------------------------------------


@dataclass(frozen=True)
class Cell:
    text: str
    across: int = 1
    down: int = 1


Rows = list[list[Cell]]


def cells(*rows: list[str | Cell]) -> Rows:
    return [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]


def html(rows: Rows) -> str:
    def tag(cell: Cell) -> str:
        spans = (f' colspan="{cell.across}"' if cell.across > 1 else "") + (
            f' rowspan="{cell.down}"' if cell.down > 1 else ""
        )
        return f"<td{spans}>{cell.text}</td>"

    return "<table>" + "".join(f"<tr>{''.join(map(tag, row))}</tr>" for row in rows) + "</table>"


def table(rows: Rows, widths: list[int], title: str = "", *, height: int = 28) -> Picture:
    top = 34 if title else 8
    image, draw = sheet(sum(widths) + 17, top + height * len(rows) + 9)
    if title:
        write(draw, image.width / 2, 8, title, 14, anchor="ma")
    taken: set[tuple[int, int]] = set()
    for line, row in enumerate(rows):
        column = 0
        for cell in row:
            while (line, column) in taken:
                column += 1
            taken |= {(line + d, column + a) for d in range(cell.down) for a in range(cell.across)}
            left, upper = 8 + sum(widths[:column]), top + line * height
            right, lower = left + sum(widths[column : column + cell.across]), upper + cell.down * height
            draw.rectangle((left, upper, right, lower), outline="black")
            write(draw, (left + right) / 2, (upper + lower) / 2, cell.text, 13, anchor="mm")
    return image


# -- seals -------------------------------------------------------------------------------------------

SCALE = 3
Seal = Picture  # mode RGBA, cut to the ink


def blank(side: int) -> tuple[Picture, ImageDraw.ImageDraw]:
    image = Image.new("RGBA", (side * SCALE, side * SCALE))
    return image, ImageDraw.Draw(image)


def finish(image: Picture, turn: float = 0) -> Seal:
    turned = image.rotate(turn, resample=Image.Resampling.BICUBIC, expand=True)
    small = turned.resize((turned.width // SCALE, turned.height // SCALE), Image.Resampling.LANCZOS)
    cut = small.crop(small.getchannel("A").point(lambda level: 255 * (level > 60)).getbbox())
    cut.putalpha(cut.getchannel("A").point(lambda level: int(level * 0.88)))  # paper shows through ink
    return cut


def around(
    image: Picture,
    text: str,
    centre: tuple[float, float],
    radii: tuple[float, float],
    size: int,
    spread: float,
    *,
    middle: float = -90,
) -> None:
    """Text along an ellipse, `spread` degrees in all, its middle at the top unless told otherwise."""
    fine = [math.radians(middle + spread * (step / 720 - 0.5)) for step in range(721)]
    points = [(centre[0] + radii[0] * math.cos(t), centre[1] + radii[1] * math.sin(t)) for t in fine]
    lengths = [0.0]
    for first, second in itertools.pairwise(points):
        lengths.append(lengths[-1] + math.dist(first, second))
    for place, character in enumerate(text):
        wanted = lengths[-1] * place / max(len(text) - 1, 1)
        step = min(range(721), key=lambda index: abs(lengths[index] - wanted))
        angle, (x, y) = fine[step], points[step]
        # upright on the normal of the ellipse
        normal = math.degrees(math.atan2(math.sin(angle) / radii[1], math.cos(angle) / radii[0]))
        glyph = Image.new("RGBA", (size * 2, size * 2))
        ImageDraw.Draw(glyph).text((size, size), character, font=font(size), fill=RED, anchor="mm")
        glyph = glyph.rotate(-90 - normal, resample=Image.Resampling.BICUBIC)
        image.alpha_composite(glyph, (round(x - size), round(y - size)))


def star(draw: ImageDraw.ImageDraw, x: float, y: float, radius: float) -> None:
    points = [
        (
            x + (radius if tip % 2 == 0 else radius * 0.39) * math.sin(math.pi * tip / 5),
            y - (radius if tip % 2 == 0 else radius * 0.39) * math.cos(math.pi * tip / 5),
        )
        for tip in range(10)
    ]
    draw.polygon(points, fill=RED)


def oval(ring: str, below: str, *, width: int = 150, height: int = 150, turn: float = 0) -> Seal:
    """A round or oval seal: text around, a star or none, a line below."""
    image, draw = blank(max(width, height))
    side = max(width, height) * SCALE
    x, y, a, b = side / 2, side / 2, width * SCALE / 2 - 4, height * SCALE / 2 - 4
    draw.ellipse((x - a, y - b, x + a, y + b), outline=RED, width=10)
    size = round(side * (0.115 if width == height else 0.095))
    around(
        image,
        ring,
        (x, y),
        (a - size * 0.95, b - size * 0.95),
        size,
        min(280 if width == height else 240, 24 * len(ring)),
    )
    if width == height:
        star(draw, x, y - side * 0.02, side * 0.13)
    draw.text(
        (x, y + b * (0.42 if width == height else 0.15)), below, font=font(side * 0.09), fill=RED, anchor="mm"
    )
    return finish(image, turn)


def square(text: str, *, side: int = 90, turn: float = 0) -> Seal:
    """A square name seal, read from top right in columns."""
    image, draw = blank(side)
    full = side * SCALE
    draw.rectangle((6, 6, full - 7, full - 7), outline=RED, width=12)
    size = round(full * 0.37)
    places = [(0.72, 0.29), (0.72, 0.71), (0.28, 0.29), (0.28, 0.71)]
    for character, (x, y) in zip(text, places, strict=True):
        draw.text((x * full, y * full), character, font=font(size), fill=RED, anchor="mm")
    return finish(image, turn)


def triangle(ring: str, below: str, *, side: int = 170) -> Seal:
    image, draw = blank(side)
    full = side * SCALE
    draw.polygon([(full / 2, 8), (full - 8, full - 60), (8, full - 60)], outline=RED, width=10)
    around(
        image, ring, (full / 2, full * 0.62), (full * 0.24, full * 0.27), round(full * 0.085), 23 * len(ring)
    )
    draw.text((full / 2, full * 0.74), below, font=font(full * 0.085), fill=RED, anchor="mm")
    return finish(image)


def rhombus(ring: str, below: str, *, side: int = 180) -> Seal:
    image, draw = blank(side)
    full = side * SCALE
    middle = full / 2
    draw.polygon([(middle, 8), (full - 8, middle), (middle, full - 8), (8, middle)], outline=RED, width=10)
    around(
        image, ring, (middle, middle * 1.06), (full * 0.25, full * 0.25), round(full * 0.085), 23 * len(ring)
    )
    draw.text((middle, middle * 1.12), below, font=font(full * 0.09), fill=RED, anchor="mm")
    return finish(image)


def on_paper(seal: Seal, *, margin: int = 12) -> Picture:
    paper = Image.new("RGBA", (seal.width + 2 * margin, seal.height + 2 * margin), "#fdfbf6")
    paper.alpha_composite(seal, (margin, margin))
    return paper.convert("RGB")


def letter(
    title: str,
    body: list[str],
    seals: list[tuple[Seal, int, int, str]],
    *,
    size: tuple[int, int] = (560, 760),
) -> tuple[Picture, list[dict[str, Any]]]:
    """A document page with seals (picture, left, top, class) and the boxes of their ink."""
    paper = Image.new("RGBA", size, "white")
    draw = ImageDraw.Draw(paper)
    write(draw, size[0] / 2, 40, title, 22, anchor="ma")
    for number, line in enumerate(body):
        write(draw, 55, 100 + 32 * number, line, 15)
    boxes = []
    for seal, left, top, label in seals:
        paper.alpha_composite(seal, (left, top))
        boxes.append({"bbox": [left, top, left + seal.width, top + seal.height], "label": label})
    return paper.convert("RGB"), boxes


# -- formulas: a picture and the height of its baseline ----------------------------------------------


@dataclass(frozen=True)
class Ink:
    image: Picture
    baseline: int


def word(text: str, size: int = 34, *, slanted: bool = False) -> Ink:
    name = (
        ("DejaVuSerif-Italic.ttf" if slanted else "DejaVuSerif.ttf")
        if text.isascii() or not any(c >= "\u4e00" for c in text)
        else FONT
    )
    face = ImageFont.truetype(name, size)
    _, top, right, bottom = face.getbbox(text, anchor="ls")
    image = Image.new("L", (math.ceil(right) + 2, math.ceil(bottom - top) + 4))
    ImageDraw.Draw(image).text((0, -top + 2), text, font=face, fill=255, anchor="ls")
    return Ink(image, round(-top) + 2)


def row(*parts: Ink | str, size: int = 34) -> Ink:
    inks = [
        part if isinstance(part, Ink) else word(part, size, slanted=part.isalpha() and part.isascii())
        for part in parts
    ]
    above = max(ink.baseline for ink in inks)
    below = max(ink.image.height - ink.baseline for ink in inks)
    image = Image.new("L", (sum(ink.image.width + 6 for ink in inks), above + below))
    x = 0
    for ink in inks:
        image.paste(255, (x, above - ink.baseline), ink.image)
        x += ink.image.width + 6
    return Ink(image, above)


def fraction(upper: Ink, lower: Ink) -> Ink:
    width = max(upper.image.width, lower.image.width) + 12
    image = Image.new("L", (width, upper.image.height + lower.image.height + 14))
    image.paste(255, ((width - upper.image.width) // 2, 0), upper.image)
    image.paste(255, ((width - lower.image.width) // 2, upper.image.height + 14), lower.image)
    ImageDraw.Draw(image).rectangle((0, upper.image.height + 6, width, upper.image.height + 8), fill=255)
    return Ink(image, upper.image.height + 18)


def scripts(base: Ink, upper: Ink | None = None, lower: Ink | None = None) -> Ink:
    widest = max(ink.image.width for ink in (upper, lower) if ink)
    above = max(base.baseline, (upper.image.height + base.baseline * 2 // 5) if upper else 0)
    below = max(base.image.height - base.baseline, (lower.image.height - 6) if lower else 0)
    image = Image.new("L", (base.image.width + widest, above + below))
    image.paste(255, (0, above - base.baseline), base.image)
    if upper:
        image.paste(255, (base.image.width, above - base.baseline * 2 // 5 - upper.image.height), upper.image)
    if lower:
        image.paste(255, (base.image.width, above - 6), lower.image)
    return Ink(image, above)


def limits(sign: str, upper: str, lower: str) -> Ink:
    middle, top, bottom = word(sign, 52), word(upper, 20), word(lower, 20)
    width = max(ink.image.width for ink in (middle, top, bottom))
    image = Image.new("L", (width, sum(ink.image.height for ink in (middle, top, bottom))))
    y = 0
    for ink in (top, middle, bottom):
        image.paste(255, ((width - ink.image.width) // 2, y), ink.image)
        y += ink.image.height
    return Ink(image, top.image.height + middle.image.height - 14)


def root(inside: Ink) -> Ink:
    image = Image.new("L", (inside.image.width + 30, inside.image.height + 10))
    image.paste(255, (26, 10), inside.image)
    bottom = image.height - 2
    ImageDraw.Draw(image).line(
        [(0, bottom * 0.6), (8, bottom * 0.55), (16, bottom), (26, 3), (image.width, 3)], fill=255, width=3
    )
    return Ink(image, inside.baseline + 10)


def printed(ink: Ink) -> Picture:
    page = Image.new("L", (ink.image.width + 40, ink.image.height + 40), 255)
    page.paste(0, (20, 20), ink.image)
    return page.convert("RGB")


def small(text: str, *, slanted: bool = False) -> Ink:
    return word(text, 22, slanted=slanted)


# -- documents ---------------------------------------------------------------------------------------


def receipt(
    shop: str, facts: list[tuple[str, str]], goods: list[tuple[str, str, str]], total: str
) -> Picture:
    image, draw = sheet(320, 150 + 26 * (len(facts) + len(goods)))
    write(draw, 160, 12, shop, 18, anchor="ma")
    y = 46
    for name, value in facts:
        write(draw, 20, y, f"{name}：{value}", 13)
        y += 24
    draw.line((16, y + 4, 304, y + 4), fill="black")
    for line in (("品名", "数量", "金额"), *goods):
        y += 12
        for text, x, anchor in zip(line, (20, 205, 300), ("la", "ma", "ra"), strict=True):
            write(draw, x, y, text, 13, anchor=anchor)
        y += 14
    draw.line((16, y + 12, 304, y + 12), fill="black")
    write(draw, 20, y + 22, "合计", 15)
    write(draw, 300, y + 22, total, 15, anchor="ra")
    return image


def invoice(fields: dict[str, str], goods: str) -> Picture:
    image, draw = sheet(600, 330)
    write(draw, 300, 14, "示例省增值税电子普通发票（样张）", 20, anchor="ma", fill="#8a4b1f")
    draw.rectangle((20, 80, 580, 310), outline="#8a4b1f")
    write(draw, 400, 44, f"发票号码：{fields['发票号码']}", 12)
    write(draw, 400, 62, f"开票日期：{fields['开票日期']}", 12)
    write(draw, 30, 92, f"购买方名称：{fields['购买方名称']}", 14)
    for y in (122, 216, 252):
        draw.line((20, y, 580, y), fill="#8a4b1f")
    for text, x in (("货物或应税劳务名称", 30), ("金额", 330), ("税率", 420), ("税额", 500)):
        write(draw, x, 130, text, 13)
    for text, x in ((goods, 30), (fields["金额"], 330), (fields["税率"], 420), (fields["税额"], 500)):
        write(draw, x, 160, text, 13)
    write(draw, 30, 226, f"价税合计（小写）：{fields['价税合计']}", 14)
    write(draw, 30, 268, f"销售方名称：{fields['销售方名称']}", 14)
    return image


def card(fields: dict[str, str], colour: str) -> Picture:
    digits = fields["卡号"].replace(" ", "")
    assert not luhn(digits), "an invented card number must fail the Luhn check"
    image, draw = sheet(420, 262)
    draw.rounded_rectangle((4, 4, 416, 258), 18, fill=colour)
    write(draw, 28, 24, fields["银行名称"], 24, fill="white")
    write(draw, 392, 30, fields["卡种"], 16, fill="white", anchor="ra")
    draw.rounded_rectangle((28, 84, 78, 120), 6, fill="#d9c27a")
    write(draw, 28, 146, fields["卡号"], 29, fill="white")
    write(draw, 392, 216, f"有效期 {fields['有效期']}", 15, fill="white", anchor="ra")
    write(draw, 28, 216, "样卡 SPECIMEN", 15, fill="white")
    return image


def luhn(digits: str) -> bool:
    """Whether a card number passes the check that issued ones pass."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


# -- rows --------------------------------------------------------------------------------------------


class Sample:
    """Rows by split, and the pictures they name."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.pictures: dict[str, Picture] = {}

    def add(self, split: str, subset: str, images: list[Picture], image_type: str, **more: Any) -> None:
        rows = self.rows.setdefault(split, [])
        identity = f"{split}-{len(rows) + 1}"
        names = []
        for image in images:
            known = next((name for name, picture in self.pictures.items() if picture is image), None)
            name = known or f"images/{identity}{'abcdef'[len(names)] if len(images) > 1 else ''}.png"
            self.pictures[name] = image
            names.append(name)
        rows.append(
            {
                "id": identity,
                "task": split,
                "subset": subset,
                "images": names,
                "image_type": image_type,
                **more,
            }
        )

    def save(self) -> None:
        shutil.rmtree(FOLDER, ignore_errors=True)
        (FOLDER / "images").mkdir(parents=True)
        for name, picture in self.pictures.items():
            picture.quantize(24, dither=Image.Dither.NONE).save(FOLDER / name, optimize=True)
        for split, rows in self.rows.items():
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (FOLDER / f"{split}.jsonl").write_text(text, encoding="utf-8")


def questions(sample: Sample) -> None:
    curve = lines(
        "即期利率曲线", "%", {"利率": [2.1, 2.5, 2.8, 3.0, 3.1]}, ["1年", "2年", "3年", "4年", "5年"]
    )
    sample.add(
        "subject", "金融学", [curve], "折线图",
        question="根据图中的即期利率曲线，下列说法正确的是（ ）。",
        options=["曲线向下倾斜", "曲线向上倾斜", "5年期利率低于1年期利率", "各期限利率相等"],
        answer="B", question_type="single_choice",
    )  # fmt: skip
    cash = table(
        cells(["年份", "0", "1", "2", "3"], ["现金流（万元）", "-100", "40", "50", "60"]),
        [130, 70, 70, 70, 70],
        "项目现金流量表",
    )
    sample.add(
        "subject", "财务管理", [cash], "表格",
        question="根据现金流量表，下列说法正确的有（ ）。",
        options=["初始投资为100万元", "未折现的净现金流合计为50万元", "静态回收期为3年", "第3年现金流最大", "各年现金流均为正"],
        answer="ABD", question_type="multiple_choice",
    )  # fmt: skip
    shapes = [
        lines(title, "", {"y": values}, ["短期", "中期", "长期"], size=(190, 150), figures=False)
        for title, values in (
            ("曲线一", [1, 2, 3.0]),
            ("曲线二", [3, 2, 1.0]),
            ("曲线三", [2, 3, 2.0]),
            ("曲线四", [2, 2, 2.0]),
        )
    ]
    sample.add(
        "subject", "经济学", shapes, "选项图",
        question="收益率曲线倒挂（短期利率高于长期利率且单调下降）对应下列哪幅图？（ ）",
        options=[0, 1, 2, 3], answer="B",
    )  # fmt: skip
    balance = table(
        cells(
            ["项目", "期末余额（万元）"], ["资产总计", "500"], ["负债合计", "300"], ["所有者权益合计", "200"]
        ),
        [170, 170],
        "资产负债表（简）",
    )
    sample.add(
        "subject", "会计学", [balance], "表格", question="判断：根据报表，该企业期末资产负债率为60%。",
        options=None, answer="√",
    )  # fmt: skip
    first = bars("甲公司营业收入", "亿元", {"收入": [12, 15, 18]}, ["2021", "2022", "2023"])
    second = bars("乙公司营业收入", "亿元", {"收入": [20, 19, 17]}, ["2021", "2022", "2023"])
    sample.add(
        "subject", "统计学", [first, second], "柱状图",
        question="两图分别为甲、乙公司的营业收入。2023年营业收入较高的是（ ）。",
        options=["甲公司", "乙公司", "两者相同"], answer="A", question_type="single_choice",
    )  # fmt: skip
    premium = pie("某险企保费结构", {"寿险": 55, "健康险": 25, "意外险": 12, "其他": 8})
    sample.add(
        "subject", "保险学", [premium], "饼图", question="健康险保费占比超过三分之一。",
        options=["对", "错"], answer="B", question_type="true_false",
    )  # fmt: skip

    assets = bars(
        "各类基金规模", "万亿元", {"规模": [2.6, 7.9, 11.2, 4.3]}, ["股票型", "债券型", "货币型", "混合型"]
    )
    sample.add(
        "certification", "基金从业资格", [assets], "柱状图", question="图中规模最大的基金类型是（ ）。",
        options=["股票型", "债券型", "货币型", "混合型"], answer="C", question_type="single_choice",
    )  # fmt: skip
    sample.add(
        "certification", "证券从业资格", [assets], "柱状图", question="规模小于5万亿元的基金类型有（ ）。",
        options=["股票型", "债券型", "货币型", "混合型"], answer="A、D", question_type="multiple_choice",
    )  # fmt: skip
    payoff = lines("到期损益", "元", {"损益": [-3, -3, -3, 2, 7]}, ["90", "95", "100", "105", "110"])
    sample.add(
        "certification", "期货从业资格", [payoff], "折线图",
        question="图为某期权持有者的到期损益，横轴为标的价格（元）。下列说法正确的有（ ）。",
        options=["最大亏损为3元", "这是看涨期权多头", "标的价格为110元时盈利7元", "标的价格为95元时盈利", "这是看跌期权多头"],
        answer="ABC",
    )  # fmt: skip
    loans = table(
        cells(["贷款分类", "余额（亿元）"], ["正常", "920"], ["关注", "50"], ["次级", "15"], ["可疑", "10"], ["损失", "5"]),
        [150, 150], "贷款五级分类",
    )  # fmt: skip
    sample.add(
        "certification", "银行从业资格", [loans], "表格", question="该行不良贷款率为（ ）。",
        options=["1%", "2%", "3%", "8%"], answer="C", question_type="single_choice",
    )  # fmt: skip
    sample.add(
        "certification", "银行从业资格", [loans], "表格", question="判断：关注类贷款属于不良贷款。",
        options=None, answer="错误", question_type="true_false",
    )  # fmt: skip
    trends = [
        lines(title, "", {"y": values}, ["t1", "t2", "t3", "t4"], size=(190, 150), figures=False)
        for title, values in (("图1", [1, 2, 3, 4.0]), ("图2", [4, 3, 2, 1.0]), ("图3", [1, 3, 2, 4.0]))
    ]
    sample.add(
        "certification", "注册会计师", [cash, *trends], "表格与选项图",
        question="表中第1年至第3年的现金流呈现何种走势？请选择对应的示意图。（ ）", options=[1, 2, 3], answer="A",
    )  # fmt: skip

    days = [
        ("3-04", 10.2, 10.9, 10.0, 10.7), ("3-05", 10.7, 11.4, 10.6, 11.2), ("3-06", 11.2, 11.5, 10.5, 10.6),
        ("3-07", 10.6, 11.0, 10.3, 10.9), ("3-08", 10.9, 12.1, 10.8, 11.9), ("3-11", 11.9, 12.4, 11.1, 11.3),
    ]  # fmt: skip
    kline = candles("样本股份日K线", days)
    sample.add(
        "qa", "K线图", [kline], "candlestick", question="图中收阴线的日期有哪些？",
        options=["3-04和3-05", "3-06和3-11", "3-07和3-08", "3-06和3-08"], answer="B", question_type="single_choice",
    )  # fmt: skip
    sample.add(
        "qa",
        "K线图",
        [kline],
        "candlestick",
        question="图中的最高价是多少元？",
        options=None,
        answer="12.40元",
    )
    chart = holdings(
        "样本集团股权结构",
        [("林某某", 120, 45), ("远山投资", 370, 45), ("样本控股", 190, 135), ("样本集团", 250, 230)],
        [(0, 2, "60%"), (1, 2, "40%"), (2, 3, "80%"), (1, 3, "20%")],
    )
    sample.add(
        "qa",
        "股权图",
        [chart],
        "shareholding",
        question="远山投资直接持有样本集团多少股份？",
        options=None,
        answer="20%",
    )
    sample.add(
        "qa", "股权图", [chart], "shareholding", question="林某某间接持有样本集团的股份比例为（ ）。",
        options=["60%", "48%", "80%", "32%"], answer="B",
    )  # fmt: skip
    imports = bars(
        "进出口额", "亿元", {"进口": [310, 280, 350], "出口": [360, 400, 420]}, ["一季度", "二季度", "三季度"]
    )
    sample.add(
        "qa", "统计图", [imports], "statistical", question="下列季度中顺差最大的是（ ）。",
        options=["一季度", "二季度", "三季度"], answer="B", question_type="single_choice",
    )  # fmt: skip
    sample.add(
        "qa",
        "统计图",
        [imports],
        "statistical",
        question="三季度的出口额比进口额多多少？",
        options=None,
        answer="70亿元",
    )
    ratios = cells(
        ["指标", Cell("2022年", 2), Cell("2023年", 2)],
        ["", "上半年", "下半年", "上半年", "下半年"],
        ["营业收入（万元）", "820", "905", "960", "1,120"],
        ["净利润（万元）", "61", "74", "80", "95"],
        ["资产负债率", "52.1%", "50.8%", "49.5%", "47.2%"],
    )
    picture = table(ratios, [150, 80, 80, 80, 80], "主要财务指标")
    sample.add(
        "qa",
        "表格",
        [picture],
        "table",
        question="2023年下半年的净利润是多少万元？",
        options=None,
        answer="95万元",
        html=html(ratios),
    )
    sample.add(
        "qa", "表格", [picture], "table", question="关于资产负债率，下列说法正确的有（ ）。",
        options=["逐期下降", "2022年上半年最高", "2023年下半年高于50%", "2023年下半年为47.2%"], answer="ABD",
        question_type="multiple_choice", html=html(ratios),
    )  # fmt: skip


def seals(sample: Sample) -> None:
    company = oval("云岭示例贸易有限公司", "合同专用章")
    other = oval("青川样本投资有限公司", "财务专用章", turn=12)
    egg = oval("海棠样本会计师事务所", "报告专用章", width=170, height=120)
    name, second = square("林某某印"), square("周某之印", side=70, turn=-7)
    body = ["甲方：云岭示例贸易有限公司", "乙方：青川样本投资有限公司", "双方就货物买卖事宜达成如下协议：", "一、乙方向甲方采购货物一批。",
            "二、价款为人民币壹拾万元整。", "三、本合同一式两份，双方各执一份。", "四、本合同自双方盖章之日起生效。"]  # fmt: skip
    pages = [
        ("买卖合同", body, [(company, 70, 520, "company"), (other, 330, 530, "company")]),
        ("授权委托书", ["兹委托林某某办理开户事宜。", "委托单位：云岭示例贸易有限公司", "法定代表人："],
         [(company, 300, 330, "company"), (name, 160, 170, "personal")]),
        ("收款收据", ["今收到青川样本投资有限公司货款", "人民币伍万元整。", "经办人："], [(second, 140, 200, "personal")]),
        ("审计报告（摘录）", ["我们审计了样本集团的财务报表。", "我们认为，报表在所有重大方面公允反映", "了样本集团的财务状况。"],
         [(egg, 330, 420, "company"), (name, 90, 560, "personal"), (second, 220, 570, "personal")]),
        ("对账单", ["截至2024年3月31日，余额为8,250.00元。", "请核对后盖章寄回。"], [(other, 200, 300, "company")]),
        ("股东会决议", ["会议一致同意增资方案。", "股东签章："],
         [(name, 80, 260, "personal"), (second, 240, 270, "personal"), (company, 370, 480, "company")]),
    ]  # fmt: skip
    for title, lines_of_text, stamped in pages:
        page, boxes = letter(title, lines_of_text, stamped)
        sample.add("seal_detection", "合同与票据", [page], "文档", boxes=boxes)
    crops = [
        ("圆形", company, "云岭示例贸易有限公司合同专用章"),
        ("圆形", other, "青川样本投资有限公司财务专用章"),
        ("椭圆形", egg, "海棠样本会计师事务所报告专用章"),
        ("方形", name, "林某某印"),
        ("三角形", triangle("样本库房", "验讫章"), "样本库房验讫章"),
        ("菱形", rhombus("示例质检中心", "合格"), "示例质检中心合格"),
    ]
    for shape, seal, text in crops:
        sample.add("seal_recognition", "印章", [on_paper(seal)], shape, answer=text)


def tables(sample: Sample) -> None:
    one = [
        ("资产负债表（节选）", [150, 100, 100], cells(
            ["项目", "期末", "期初"], ["货币资金", "1,200", "980"], ["应收账款", "560", "610"], ["存货", "430", "395"])),
        ("分部收入", [90, 90, 90, 90], cells(
            [Cell("地区", 1, 2), Cell("收入（万元）", 2), Cell("占比", 1, 2)], ["2022", "2023"], ["华东", "310", "352", "44%"],
            ["华南", "205", "248", "31%"], ["其他", "190", "200", "25%"])),
        ("利率表", [110, 110, 110], cells(
            [Cell("品种", 1, 2), Cell("年利率", 2)], ["一年", "三年"], ["定期存款", "1.50%", "1.95%"], [Cell("大额存单", 1, 2), "1.70%", "2.15%"],
            ["1.75%", "2.20%"])),
        ("前三大股东", [60, 160, 90], cells(
            ["序号", "股东名称", "持股比例"], ["1", "样本控股有限公司", "41.20%"], ["2", "远山投资", "12.05%"], ["3", "林某某", "3.30%"],
            [Cell("合计", 2), "56.55%"])),
    ]  # fmt: skip
    for title, widths, rows in one:
        sample.add("table_recognition", "年报", [table(rows, widths, title)], "单页", html=html(rows))
    two = [
        ([150, 90, 90], cells(["项目", "本期", "上期"], ["营业收入", "960", "820"], ["营业成本", "610", "540"], ["销售费用", "72", "66"],
            ["管理费用", "88", "81"], ["营业利润", "190", "133"], ["净利润", "152", "108"]), 4),
        ([90, 110, 110], cells(["日期", "摘要", "金额"], ["3-01", "期初余额", "5,000.00"], ["3-08", "货款收入", "3,200.00"], ["3-15", "支付租金", "-1,500.00"],
            ["3-28", "利息", "12.50"], [Cell("期末余额", 2), "6,712.50"]), 3),
    ]  # fmt: skip
    for widths, rows, cut in two:
        pages = [table(rows[:cut], widths), table(rows[cut:], widths)]
        sample.add("table_recognition", "年报", pages, "跨页", html=html(rows))


def formulas(sample: Sample) -> None:
    power = scripts(row("(1+", "r", ")"), small("n", slanted=True))
    found: list[tuple[Ink, str]] = [
        (row("PV", "=", fraction(row("FV"), power)), r"PV=\frac{FV}{(1+r)^n}"),
        (
            row("NPV", "=", limits("∑", "n", "t=0"), fraction(scripts(row("C"), None, small("t", slanted=True)), scripts(row("(1+", "r", ")"), small("t", slanted=True)))),
            r"NPV=\sum_{t=0}^{n}\frac{C_t}{(1+r)^t}",
        ),
        (
            row(scripts(row("σ"), None, small("p", slanted=True)), "=", root(row(scripts(row("w"), small("2")), scripts(row("σ"), small("2"))))),
            r"\sigma_p=\sqrt{w^2\sigma^2}",
        ),
        (row("毛利率", "=", fraction(row("营业收入", "−", "营业成本"), row("营业收入"))), r"\text{毛利率}=\frac{\text{营业收入}-\text{营业成本}}{\text{营业收入}}"),
        (row("流动比率", "=", fraction(row("流动资产"), row("流动负债"))), r"\text{流动比率}=\frac{\text{流动资产}}{\text{流动负债}}"),
        (row("市盈率", "=", fraction(row("P"), row("每股收益"))), r"\text{市盈率}=\frac{P}{\text{每股收益}}"),
    ]  # fmt: skip
    for ink, latex in found:
        kind = "含中文" if "text" in latex else "纯符号"
        sample.add("formula_recognition", "教材", [printed(ink)], kind, latex=latex)


def documents(sample: Sample) -> None:
    shops = [
        ("樱桃街便利店", [("单号", "0031"), ("日期", "2024-03-05"), ("收银员", "02")], [("矿泉水", "2", "4.00"), ("面包", "1", "6.50")], "10.50"),
        ("海风面馆", [("台号", "8"), ("日期", "2024-04-18")], [("牛肉面", "2", "36.00"), ("凉菜", "1", "8.00"), ("茶", "2", "4.00")], "48.00"),
    ]  # fmt: skip
    for shop, facts, goods, total in shops:
        fields = {
            "店名": shop, **dict(facts),
            "商品": [{"品名": name, "数量": count, "金额": price} for name, count, price in goods], "合计": total,
        }  # fmt: skip
        sample.add(
            "information_extraction",
            "HUST-CELL",
            [receipt(shop, facts, goods, total)],
            "receipt",
            fields=fields,
            keys=None,
        )
    invoices = [
        ("*餐饮服务*餐费", {"发票号码": "00000017", "开票日期": "2024年03月05日", "购买方名称": "青川样本投资有限公司",
         "金额": "300.00", "税率": "6%", "税额": "18.00", "价税合计": "¥318.00", "销售方名称": "海风示例餐饮店"}),
        ("*纸制品*打印纸", {"发票号码": "00000042", "开票日期": "2024年05月20日", "购买方名称": "云岭示例贸易有限公司",
         "金额": "1,000.00", "税率": "13%", "税额": "130.00", "价税合计": "¥1,130.00", "销售方名称": "示例文具有限公司"}),
    ]  # fmt: skip
    for goods, fields in invoices:
        sample.add(
            "information_extraction",
            "Baidu-FEST",
            [invoice(fields, goods)],
            "invoice",
            fields=fields,
            keys=list(fields),
        )
    cards = [
        (
            {"银行名称": "示例银行", "卡种": "借记卡", "卡号": "6200 0000 1234 5670", "有效期": "08/30"},
            "#274b7a",
        ),
        (
            {"银行名称": "样本商业银行", "卡种": "信用卡", "卡号": "4000 0012 3456 7893", "有效期": "11/29"},
            "#7a2737",
        ),
    ]
    for fields, colour in cards:
        sample.add(
            "information_extraction",
            "CMB2017",
            [card(fields, colour)],
            "bank card",
            fields=fields,
            keys=list(fields),
        )


def main() -> None:
    sample = Sample()
    for part in (questions, seals, tables, formulas, documents):
        part(sample)
    sample.save()
    print({split: len(rows) for split, rows in sample.rows.items()}, f"{len(sample.pictures)} pictures")


if __name__ == "__main__":
    main()
