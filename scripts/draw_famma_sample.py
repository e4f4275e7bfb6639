"""Draws the packaged sample of FAMMA: invented companies, all splits, languages, types and image kinds.

Run ``python scripts/draw_famma_sample.py``; it needs the fonts DejaVu Sans and WenQuanYi Zen Hei.
The rows are the same every time; pixels may differ between versions of Pillow and of the fonts.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from lmms_eval_finance.data.schemas.famma import BENCHMARK, IMAGES

FOLDER = Path(__file__).parents[1] / "lmms_eval_finance" / "data" / "sample" / "famma"
BLUE, RUST, GREY = "#1f3f77", "#b5502a", "#d8dce4"
LATIN, HAN = "DejaVuSans.ttf", "wqy-zenhei.ttc"
Row = dict[str, Any]

# -- what the images show ----------------------------------------------------------------------------

BALANCE = {
    "Current assets": 480,
    "of which inventory": 160,
    "Current liabilities": 200,
    "Total debt": 300,
    "Equity": 600,
    "Net income": 90,
}
FUNDS = {"Fund A": (12, 18), "Fund B": (9, 10)}  # mean return, standard deviation, in percent
YEAR = {"Fund A": 11, "Fund B": 7}
REVENUE = {"2021年": 120, "2022年": 150, "2023年": 180, "2024年": 234}
LOAN = {"本金": "800万元", "年利率": "4.5%(固定)", "期限": "3年", "计息方式": "单利"}
CALL = {"Prix d’exercice": "50 €", "Prime": "4 €", "Échéance": "3 mois"}
BOND = {"Nominal": "1 000 €", "Coupon annuel": "6 %", "Prix": "960 €"}
SECTORS = {"Energy": 8, "Banks": -3, "Software": 12, "Food": 5, "Steel": 0, "Media": 7, "Retail": -6}
DIVIDEND = {"Dividend paid": "$2.00", "Growth": "5%", "Required return": "9%"}
RATE = {"即期汇率": "7.20", "远期汇率": "7.344", "期限": "1年"}


def font(text: str, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(HAN if re.search("[\u4e00-\u9fff]", text) else LATIN, size)


def table(title: str, rows: dict[str, str]) -> Image.Image:
    image = Image.new("RGB", (330, 40 + 26 * len(rows)), "white")
    draw = ImageDraw.Draw(image)
    draw.text((10, 8), title, fill=BLUE, font=font(title, 15))
    for number, (name, value) in enumerate(rows.items()):
        top = 34 + 26 * number
        draw.rectangle((10, top, 320, top + 26), outline="black", fill=GREY if number % 2 else None)
        draw.text((16, top + 13), name, fill="black", font=font(name, 14), anchor="lm")
        draw.text((314, top + 13), value, fill="black", font=font(value, 14), anchor="rm")
    return image


def bars(title: str, values: dict[str, float], unit: str = "") -> Image.Image:
    image = Image.new("RGB", (70 + 75 * len(values), 210), "white")
    draw = ImageDraw.Draw(image)
    draw.text((10, 8), title, fill=BLUE, font=font(title, 15))
    top, low = max(*values.values(), 0), min(*values.values(), 0)
    scale = 120 / (top - low)
    zero = 45 + top * scale
    draw.line((20, zero, image.width - 10, zero), fill="black")
    for number, (name, value) in enumerate(values.items()):
        left = 40 + 75 * number
        end = zero - value * scale
        draw.rectangle((left, min(zero, end), left + 40, max(zero, end)), fill=BLUE if value >= 0 else RUST)
        draw.text(
            (left + 20, min(zero, end) - 3),
            f"{value:g}{unit}",
            fill="black",
            font=font(unit, 13),
            anchor="ms",
        )
        draw.text((left + 20, 186), name, fill="black", font=font(name, 13), anchor="mm")
    return image


def payoff(points: Sequence[tuple[float, float]]) -> Image.Image:
    """A payoff at expiry: price of the share from 30 to 70, result from -20 to 20."""
    image = Image.new("RGB", (200, 130), "white")
    draw = ImageDraw.Draw(image)
    draw.line((20, 65, 190, 65), fill="black")
    draw.line((20, 10, 20, 120), fill="black")
    draw.line([(20 + (x - 30) * 4.2, 65 - y * 2.5) for x, y in points], fill=RUST, width=3)
    for x in (40, 50, 60):
        draw.text((20 + (x - 30) * 4.2, 69), f"{x} €", fill="black", font=font("", 10), anchor="ma")
    return image


def gauge(name: str, value: int) -> Image.Image:
    image = Image.new("RGB", (120, 56), "white")
    draw = ImageDraw.Draw(image)
    draw.text((6, 4), name, fill=BLUE, font=font(name, 14))
    draw.rectangle((6, 28, 114, 50), outline="black", fill=GREY)
    draw.text((60, 39), f"{value:+d}%", fill="black" if value >= 0 else RUST, font=font("", 14), anchor="mm")
    return image


def transparent(image: Image.Image) -> Image.Image:
    """White becomes transparent: on black it would be illegible."""
    rgba = image.convert("RGBA")
    rgba.putalpha(image.convert("L").point(lambda level: 0 if level > 250 else 255))
    return rgba


def pictures() -> dict[str, tuple[Image.Image, str]]:
    """File name -> image and what a text recogniser reads in it."""

    def listed(title: str, rows: dict[str, Any]) -> str:
        return " ".join([title, *(f"{name} {value}" for name, value in rows.items())])

    def drawn(title: str, rows: dict[str, Any]) -> tuple[Image.Image, str]:
        texts = {name: str(value) for name, value in rows.items()}
        return table(title, texts), listed(title, texts)

    def as_bars(title: str, values: dict[str, float], unit: str = "") -> tuple[Image.Image, str]:
        return bars(title, values, unit), listed(
            title, {name: f"{value:g}{unit}" for name, value in values.items()}
        )

    funds = {name: f"mean {mean}%, st. dev. {deviation}%" for name, (mean, deviation) in FUNDS.items()}
    balance, balance_text = drawn("Larkspur Tools, USD million", BALANCE)
    shares, shares_text = drawn("Two funds; risk-free rate 3%", funds)
    year, year_text = as_bars("Return in 2023", dict(YEAR), "%")
    revenue, revenue_text = as_bars("青松软件营业收入(百万元)", dict(REVENUE))
    loan, loan_text = drawn("贷款条款", LOAN)
    call, call_text = drawn("Option d’achat", CALL)
    bond, bond_text = drawn("Obligation Boréal 2031", BOND)
    dividend, dividend_text = drawn("Share of Quillmoor Foods", DIVIDEND)
    rate, rate_text = drawn("美元兑人民币", RATE)
    found = {
        "balance.png": (balance.convert("P", palette=Image.Palette.ADAPTIVE, colors=16), balance_text),
        "funds.png": (shares.convert("L"), shares_text),
        "year.png": (year.convert("P", palette=Image.Palette.ADAPTIVE, colors=16), year_text),
        "revenue.png": (transparent(revenue), revenue_text),
        "loan.jpg": (loan.convert("CMYK"), loan_text),
        "call.png": (call.convert("LA"), call_text),
        "bond.png": (bond.convert("1", dither=Image.Dither.NONE), bond_text),
        "dividend.png": (dividend.convert("P", palette=Image.Palette.ADAPTIVE, colors=16), dividend_text),
        "rate.png": (transparent(rate), rate_text),
        "put.png": (payoff([(30, 16), (50, -4), (70, -4)]), "a falling line, then flat at -4"),
        "long_call.png": (payoff([(30, -4), (50, -4), (70, 16)]), "flat at -4, then a rising line"),
        "short_call.png": (payoff([(30, 4), (50, 4), (70, -16)]), "flat at 4, then a falling line"),
    }
    for name, value in SECTORS.items():
        found[f"{name.lower()}.png"] = (gauge(name, value), f"{name} {value:+d}%")
    return found


# -- questions ---------------------------------------------------------------------------------------


def question(text: str, answer: str, difficulty: str, options: Sequence[str] = (), **more: Any) -> Row:
    kind = "multiple-choice" if options else "open question"
    return {"question": text, "answers": answer, "topic_difficulty": difficulty, "question_type": kind,
            "options": list(options), **more}  # fmt: skip


def context(
    language: str,
    main: int,
    text: str,
    subfield: str,
    questions: Sequence[Row],
    images: Sequence[str] = (),
    image_type: str = "table",
    arithmetic: bool = True,
) -> list[Row]:
    """The rows of one context; `images` are those of all its questions unless one names its own."""
    rows = []
    for number, given in enumerate(questions, start=1):
        names = given.pop("images", images)
        rows.append(
            {
                "question_id": f"{language}_{main}_{number}_s1",
                "context": text,
                "explanation": None,
                "subfield": subfield,
                "language": language,
                "main_question_id": main,
                "sub_question_id": number,
                "is_arithmetic": int(given.pop("arithmetic", arithmetic)),
                "image_type": image_type,
                **given,
                **{
                    column: f"images/{names[place]}" if place < len(names) else None
                    for place, column in enumerate(IMAGES)
                },
            }
        )
    return rows


def basic() -> list[Row]:
    sectors = ", ".join(f"{name} <image_{place}>" for place, name in enumerate(SECTORS, start=1))
    return [
        *context(
            "english", 1, "The year-end figures of Larkspur Tools: <image_1>", "financial statement analysis",
            [
                question("What is the current ratio?", "B", "easy", ["A. 1.6", "B. 2.4", "C. 3.0"]),
                question("What is the quick ratio?", "a.", "easy", ["A. 1.6", "B. 2.4", "C. 3.0"]),
                question("What is the return on equity?", "d", "medium", ["A. 7.5%", "B. 10%", "C. 12.5%", "D. 15%"]),
            ],
            ["balance.png"],
        ),
        *context(
            "english", 2,
            "A zero-coupon bond with a face value of $1,000 matures in two years. It yields 10% a year.", "fixed income",
            [
                question("What is its price?", "Price = $826.45", "easy"),
                question("What is its Macaulay duration?", "2 years", "medium", arithmetic=False),
                question(
                    "Which risk does an investor who holds it to maturity avoid?", "Reinvestment risk", "hard",
                    arithmetic=False,
                ),
            ],
        ),
        *context(
            "english", 3, "Two funds are compared; <image_1> is for all questions.", "portfolio management",
            [
                question("What is the Sharpe ratio of Fund A in <image_1>?", ".50", "hard", images=["funds.png"]),
                question(
                    "By how much did the return of Fund A in <image_2> fall short of its mean in <image_1>?",
                    "1 percentage point", "hard", images=["funds.png", "year.png"],
                ),
            ],
        ),
        *context(
            "english", 4, f"Seven sectors had these returns: {sectors}.", "equity",
            [
                question("Which sector did best?", "C", "easy", ["Energy", "Banks", "Software", "Food"], arithmetic=False),
                question("What is the mean of the seven returns?", "b", "medium", ["2.14%", "3.29%", "4.60%", "5.29%"]),
            ],
            [f"{name.lower()}.png" for name in SECTORS], "screenshot",
        ),
        *context(
            "chinese", 1, "青松软件四年的营业收入如下图所示。<image_1>", "corporate finance",
            [
                question("2022年营业收入增长了多少?", "B", "easy", ["20%", "25%", "30%", "50%"]),
                question("哪一年的增长率最高?", "C", "medium", ["2022年", "2023年", "2024年"]),
                question("2021年至2024年营业收入共增加多少?", "A", "easy", ["1.14亿元", "1.2亿元", "2.34亿元"]),
            ],
            ["revenue.png"], "chart",
        ),
        *context(
            "chinese", 2, "一家企业向银行借款。<image_1>", "economics",
            [
                question("企业每年应付多少利息?", "36万元", "medium"),
                question("这笔贷款的利率是固定利率还是浮动利率?", "固定利率", "hard", arithmetic=False),
            ],
            ["loan.jpg"],
        ),
        *context(
            "french", 1, "Un investisseur achète cette option d’achat : <image_1>", "derivatives",
            [
                question(
                    "Quel graphique montre son résultat à l’échéance ?", "B", "medium",
                    ["A. <image_2>", "B. <image_3>", "C. <image_4>"], arithmetic=False,
                ),
                question("Quel est son point mort ?", "C.", "easy", ["A. 46 €", "B. 50 €", "C. 54 €"]),
            ],
            ["call.png", "put.png", "long_call.png", "short_call.png"],
        ),
        *context(
            "french", 2, "Un investisseur étudie une obligation.", "alternative investments",
            [
                question("Quel est son rendement courant ?", "6,25 %", "hard"),
                question("Quel coupon annuel rapportent dix titres ?", "600 €", "easy"),
            ],
            ["bond.png"],
        ),
    ]  # fmt: skip


def live() -> list[Row]:
    return [
        *context(
            "english", 1, "A share is valued by the dividend discount model. <image_1>", "equity",
            [
                question("What will the next dividend be?", "C", "easy", ["A. $2.00", "B. $2.05", "C. $2.10"]),
                question("What is the share worth?", "A", "hard", ["A. $52.50", "B. $50.00", "C. $23.33"]),
            ],
            ["dividend.png"],
        ),
        *context(
            "chinese", 1, "某银行报出下列汇率。<image_1>", "economics",
            [
                question("远期升水率是多少?", "2%", "medium"),
                question("用1万美元可以即期兑换多少人民币?", "7.2万元", "easy"),
            ],
            ["rate.png"], "screenshot",
        ),
    ]  # fmt: skip


def masked(rows: list[Row]) -> list[Row]:
    return [{**row, "answers": base64.b64encode(row["answers"].encode()).decode()} for row in rows]


def as_text(rows: list[Row], texts: dict[str, str]) -> list[Row]:
    """Rows of the text release: what was read in the images stands at the end of the context."""
    found = []
    for row in rows:
        read = [
            f"<ocr>{column} ocr text: {texts[row[column].removeprefix('images/')]}</ocr>"
            for column in IMAGES
            if row[column]
        ]
        found.append(
            {
                **row,
                "context": " /n ".join([row["context"], *read]),
                **dict.fromkeys(IMAGES),
                "image_type": row["image_type"],
            }
        )
    return found


def early(rows: list[Row], *, golds: bool) -> list[Row]:
    """Rows as the first release had them: options as the text of a list, numbers as text, no arithmetic label."""
    return [
        {
            **{name: value for name, value in row.items() if name not in ("is_arithmetic", "image_type")},
            "options": str(row["options"]) if row["options"] else "",
            "question_type": "Multiple-Choice" if row["options"] else "open question",
            "main_question_id": str(row["main_question_id"]),
            "sub_question_id": str(row["sub_question_id"]),
            "answers": row["answers"] if golds else None,
        }
        for row in rows
    ]


def rows() -> dict[str, list[Row]]:
    texts = {name: text for name, (_, text) in pictures().items()}
    releases = {
        "release_basic": basic(),
        "release_livepro": masked(live()),
        "release_basic_txt": as_text(basic(), texts),
        "release_livepro_txt": as_text(masked(live()), texts),
        "validation": early(basic()[:6] + basic()[15:17], golds=True),
        "test": early(live() + basic()[17:], golds=False),
    }
    for split, found in releases.items():
        for number, row in enumerate(found):
            row.update({"idx": number} | ({"release": split} if split.startswith("release") else {}))
    return releases


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "images").mkdir(parents=True)
    for name, (image, _) in pictures().items():
        image.save(
            FOLDER / "images" / name, **({"quality": 85} if name.endswith("jpg") else {"optimize": True})
        )
    for split, found in rows().items():
        assert split in BENCHMARK.splits
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in found)
        (FOLDER / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
