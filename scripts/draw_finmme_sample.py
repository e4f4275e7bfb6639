"""Draws the packaged FinMME sample: invented companies, invented figures, every odd image kind.

Run ``python scripts/draw_finmme_sample.py``; the output is the same every time.
"""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

FOLDER = Path(__file__).parents[1] / "lmms_eval_finance" / "data" / "sample" / "finmme"
COLOURS = ["#1f4e79", "#c55a11", "#548235", "#7f6000", "#7030a0"]
FONT = ImageFont.load_default(15)


def canvas(title: str, size: tuple[int, int] = (480, 320)) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    draw.text((size[0] // 2, 8), title, fill="black", font=FONT, anchor="ma")
    return image, draw


def bars(title: str, values: dict[str, float], unit: str) -> Image.Image:
    image, draw = canvas(title)
    top = max(values.values())
    width = 400 // len(values)
    for place, (label, value) in enumerate(values.items()):
        left, height = 50 + place * width, int(200 * value / top)
        draw.rectangle((left, 270 - height, left + width * 2 // 3, 270), fill=COLOURS[place % 5])
        draw.text((left + width // 3, 266 - height), f"{value:g}", fill="black", font=FONT, anchor="mb")
        draw.text((left + width // 3, 276), label, fill="black", font=FONT, anchor="ma")
    draw.text((6, 34), unit, fill="black", font=FONT)
    draw.line((40, 270, 470, 270), fill="black")
    return image


def lines(title: str, series: dict[str, list[float]], ticks: list[str]) -> Image.Image:
    image, draw = canvas(title)
    values = [value for row in series.values() for value in row]
    low, high = min(values), max(values)
    for number, (name, row) in enumerate(series.items()):
        points = [
            (60 + 380 * index // (len(row) - 1), int(260 - 190 * (value - low) / (high - low)))
            for index, value in enumerate(row)
        ]
        draw.line(points, fill=COLOURS[number], width=3)
        for point, value in zip(points, row, strict=True):
            draw.text((point[0], point[1] - 4), f"{value:g}", fill=COLOURS[number], font=FONT, anchor="mb")
        draw.text((60 + 130 * number, 34), name, fill=COLOURS[number], font=FONT)
    for index, tick in enumerate(ticks):
        draw.text((60 + 380 * index // (len(ticks) - 1), 276), tick, fill="black", font=FONT, anchor="ma")
    return image


def pie(title: str, shares: dict[str, float]) -> Image.Image:
    image, draw = canvas(title)
    start = -90.0
    for place, (label, share) in enumerate(shares.items()):
        end = start + 3.6 * share
        draw.pieslice((40, 60, 260, 280), start, end, fill=COLOURS[place % 5], outline="white")
        draw.rectangle((290, 80 + 34 * place, 306, 96 + 34 * place), fill=COLOURS[place % 5])
        draw.text((314, 80 + 34 * place), f"{label} {share:g}%", fill="black", font=FONT)
        start = end
    return image


def table(title: str, rows: list[list[str]]) -> Image.Image:
    image, draw = canvas(title)
    for line, row in enumerate(rows):
        for place, cell in enumerate(row):
            draw.rectangle(
                (20 + 110 * place, 50 + 34 * line, 130 + 110 * place, 84 + 34 * line), outline="grey"
            )
            draw.text((26 + 110 * place, 58 + 34 * line), cell, fill="black", font=FONT)
    return image


def rgba(image: Image.Image) -> Image.Image:
    """White turned transparent, as charts cut out of slides are."""
    clear = image.convert("RGBA")
    white = Image.new("L", image.size, 0)
    grey = image.convert("L")
    white.paste(255, mask=grey.point(lambda value: 255 if value < 250 else 0))
    clear.putalpha(white)
    return clear


CHARTS = {
    "revenue.png": bars(
        "Arvel Foods: revenue", {"2019": 320, "2020": 355, "2021": 410, "2022": 398}, "USD million"
    ),
    "rates.png": lines(
        "10-year yields (%)",
        {"Norland": [1.2, 1.6, 2.9, 3.4], "Sudria": [2.1, 2.0, 2.4, 2.2]},
        ["Q1", "Q2", "Q3", "Q4"],
    ),
    "segments_rgba.png": rgba(
        pie("Halden Energy: sales by segment", {"Gas": 42, "Solar": 28, "Wind": 18, "Other": 12})
    ),
    "funds_palette.png": bars("Fund flows by month", {"Jan": 12, "Feb": 7, "Mar": 19}, "EUR billion").convert(
        "P", palette=Image.Palette.ADAPTIVE, colors=16
    ),
    "margins_cmyk.jpg": lines(
        "Orbis Steel: margin (%)", {"EBIT": [9.5, 11.2, 8.1]}, ["2020", "2021", "2022"]
    ).convert("CMYK"),
    "property_rotated.jpg": bars("Office vacancy by city", {"Lorn": 8.4, "Maren": 13.2, "Tiva": 5.1}, "%"),
    "ratings.png": table(
        "Bond ratings",
        [
            ["Issuer", "Rating", "Coupon", "Price"],
            ["Kestrel", "BBB", "4.25%", "98.4"],
            ["Linden", "A", "3.10%", "101.2"],
        ],
    ),
    "pixel.png": Image.new("L", (1, 1), 128),
    "strip.png": Image.new("1", (8000, 40), 1),
}

# (question type, image, question, options, answer, unit, tolerance, caption, sentences, domain, level, asset, data)
C, F, A = "comprehensive understanding", "fine-grained perception", "analysis and reasoning"
ROWS = [
    ("single_choice", "revenue.png", "In which year was revenue highest?", "A: 2019\nB: 2020\nC: 2021\nD: 2022", "C",
     None, None, "Annual revenue of Arvel Foods.", None, "Consumer", F, "equity", "bar"),
    ("numerical", "revenue.png", "What was the revenue in 2020?", None, "355", "USD million", 0.5,
     "Annual revenue of Arvel Foods.", "The firm opened two plants in 2020.", "Consumer", F, "equity", "bar"),
    ("numerical", "revenue.png", "By how many per cent did revenue grow from 2020 to 2021?", None, "15.49", "%", 0.1,
     None, None, "Consumer", A, "equity", "bar"),
    ("multiple_choice", "revenue.png", "Which statements hold?",
     "A: Revenue grew in 2020\nB: Revenue grew in 2022\nC: Revenue fell in 2022\nD: 2019 was the lowest year", "A,C,D",
     None, None, None, "Prices were raised in 2021.", "Consumer", C, "equity", "bar"),
    ("single_choice", "rates.png", "Which country had the higher yield in Q4?", "A. Norland\nB. Sudria", "A",
     None, None, "Ten-year government yields.", None, "Fixed income", F, "bond", "line"),
    ("numerical", "rates.png", "By how many basis points did Norland's yield rise from Q1 to Q4?", None, "220", "bp", 1,
     "Ten-year government yields.", None, "Fixed income", A, "bond", "line"),
    ("multiple_choice", "rates.png", "In which quarters did Norland yield more than Sudria?",
     "A. Q1\nB. Q2\nC. Q3\nD. Q4", "CD", None, None, None, None, "Fixed income", F, "bond", "line"),
    ("single_choice", "rates.png", "Which description fits best?",
     "A. Both rise\nB. Norland rises while Sudria moves sideways\nC. Both fall", "B",
     None, None, None, None, "Macroeconomics", C, "bond", "line"),
    ("single_choice", "segments_rgba.png", "Which segment is the largest?", "A: Gas\nB: Solar\nC: Wind\nD: Other", "A",
     None, None, "Sales by segment.", None, "Energy", F, "equity", "pie"),
    ("numerical", "segments_rgba.png", "What share do solar and wind have together?", None, "46", "%", 0,
     "Sales by segment.", "Renewables are solar and wind.", "Energy", A, "equity", "pie"),
    ("multiple_choice", "segments_rgba.png", "Which segments are renewable?", "A: Gas\nB: Solar\nC: Wind\nD: Other",
     "B, C", None, None, None, None, "Energy", C, "equity", "pie"),
    ("single_choice", "funds_palette.png", "Which month had the weakest flow?", "A: Jan\nB: Feb\nC: Mar", "B",
     None, None, None, None, "Strategy", F, "fund", "bar"),
    ("numerical", "funds_palette.png", "What is the total flow of the three months?", None, "38", "EUR billion", 0.5,
     None, None, "Strategy", A, "fund", "bar"),
    ("multiple_choice", "funds_palette.png", "Which months were above 10 billion?", "A: Jan\nB: Feb\nC: Mar", "AC",
     None, None, "Net flows into funds.", None, "Strategy", F, "fund", "bar"),
    ("single_choice", "margins_cmyk.jpg", "When did the margin peak?", "A: 2020\nB: 2021\nC: 2022", "B",
     None, None, None, None, "Materials", F, "equity", "line"),
    ("numerical", "margins_cmyk.jpg", "By how many percentage points did the margin fall from 2021 to 2022?", None,
     "3.1", "percentage points", 0.05, None, "Energy costs rose in 2022.", "Materials", A, "equity", "line"),
    ("multiple_choice", "margins_cmyk.jpg", "Which statements hold?",
     "A: The margin rose in 2021\nB: The margin stayed above 8%\nC: The margin fell below 8%", "A, B",
     None, None, None, None, "Materials", C, "equity", "line"),
    ("single_choice", "property_rotated.jpg", "Which city has the highest vacancy?", "A: Lorn\nB: Maren\nC: Tiva", "B",
     None, None, None, None, "Real estate", F, "property", "bar"),
    ("numerical", "property_rotated.jpg", "What is the vacancy in Tiva?", None, "5.1", "%", 0.0,
     "Office vacancy.", None, "Real estate", F, "property", "bar"),
    ("multiple_choice", "property_rotated.jpg", "Which cities stay below 10%?", "A: Lorn\nB: Maren\nC: Tiva", "A,C",
     None, None, None, None, "Real estate", F, "property", "bar"),
    ("single_choice", "ratings.png", "Which issuer has the better rating?", "A: Kestrel\nB: Linden", "B",
     None, None, "Two bonds.", None, "Fixed income", C, "bond", "table"),
    ("numerical", "ratings.png", "What is Kestrel's coupon?", None, "4.25", "%", 0.01, "Two bonds.", None,
     "Fixed income", F, "bond", "table"),
    ("multiple_choice", "ratings.png", "Which statements about Linden hold?",
     "A: It trades above par\nB: It has the higher coupon\nC: It is rated A", "A,C",
     None, None, "Two bonds.", None, "Fixed income", A, "bond", "table"),
    ("single_choice", "pixel.png", "Does the picture show a chart?", "A: Yes\nB: No", "B",
     None, None, None, None, "Others", C, "other", "other"),
    ("numerical", "strip.png", "How many series does the picture show?", None, "0", None, None,
     None, None, "Others", F, "other", "other"),
    ("single_choice", "strip.png", "Is the picture empty?", "A: Yes\nB: No", "A",
     None, None, None, None, "Others", C, "other", "other"),
]  # fmt: skip


def main() -> None:
    images = FOLDER / "images"
    images.mkdir(parents=True, exist_ok=True)
    for name, image in CHARTS.items():
        if name == "property_rotated.jpg":
            exif = Image.Exif()
            exif[274] = 6  # stored lying on its side, to be turned upright by the reader
            image.rotate(90, expand=True).save(images / name, quality=85, exif=exif)
        elif name.endswith(".jpg"):
            image.save(images / name, quality=85)
        else:
            image.save(images / name, optimize=True)
    names = ["question_type", "image", "question_text", "options", "answer", "unit", "tolerance", "verified_caption",
             "related_sentences", "knowledge_domain", "cognitive_level", "asset_class", "data_class"]  # fmt: skip
    with (FOLDER / "train.jsonl").open("w", encoding="utf-8") as out:
        for number, values in enumerate(ROWS, start=1):
            row = {"id": number, **dict(zip(names, values, strict=True))}
            row["image"] = f"images/{row['image']}"
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
