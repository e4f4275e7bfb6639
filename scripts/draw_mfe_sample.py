"""Draws the packaged sample of Multimodal Finance Eval: invented funds, every task and question type.

Run ``python scripts/draw_mfe_sample.py``; it needs the DejaVu fonts. The rows are the same every
time; pixels may differ between versions of Pillow and of the fonts.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from lmms_eval_finance.data.importers.mfe import JPEG_QUALITY, Manifest, write_manifest
from lmms_eval_finance.data.importers.mfe_rows import PARTS, Row, content_hash, jsonl
from lmms_eval_finance.data.schemas.mfe import SCHEMA

FOLDER = Path(__file__).parents[1] / "lmms_eval_finance" / "data" / "sample" / "mfe"
BLUE, RUST, GREEN, GOLD, GREY = "#1f3f77", "#b5502a", "#4d7d36", "#b08a1e", "#e4e7ec"

FUND = "Horizon Céleste Équilibre"
BOND = "Boréal Rendement 2031"
# The check digits are wrong on purpose: no real fund can have these codes.
ISIN = {"R": "FR0099810010", "I": "FR0099810020", "RH": "FR0099810038"}


class Page:
    """A white page measured in points, drawn at a scale (1 is 72 dpi)."""

    def __init__(self, width: int, height: int, scale: int) -> None:
        self.scale = scale
        self.image = Image.new("RGB", (width * scale, height * scale), "white")
        self.draw = ImageDraw.Draw(self.image)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 9,
        *,
        bold: bool = False,
        fill: str = "black",
        anchor: str = "la",
    ) -> None:
        name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
        font = ImageFont.truetype(name, size * self.scale)
        self.draw.text((x * self.scale, y * self.scale), text, fill=fill, font=font, anchor=anchor)

    def box(self, left: float, top: float, right: float, bottom: float, **style: Any) -> None:
        self.draw.rectangle([value * self.scale for value in (left, top, right, bottom)], **style)

    def line(self, *points: float, fill: str = "black") -> None:
        self.draw.line([value * self.scale for value in points], fill=fill, width=self.scale)

    def table(
        self, left: float, top: float, widths: list[int], rows: list[list[str]], height: float = 20
    ) -> None:
        for number, row in enumerate(rows):
            x, y = left, top + number * height
            for width, cell in zip(widths, row, strict=True):
                self.box(x, y, x + width, y + height, outline="black", fill=BLUE if number == 0 else None)
                colour = "white" if number == 0 else "black"
                self.text(x + 5, y + height / 2, cell, 8, bold=number == 0, fill=colour, anchor="lm")
                x += width


def share_classes(scale: int) -> Image.Image:
    page = Page(500, 150, scale)
    page.text(10, 8, f"{FUND} : caractéristiques des parts", 11, bold=True, fill=BLUE)
    page.table(
        10,
        30,
        [40, 100, 50, 130, 85, 75],
        [
            ["Part", "Code ISIN", "Devise", "Souscription initiale", "Frais d’entrée", "Frais courants"],
            ["R", ISIN["R"], "EUR", "1 part", "3,00 % max.", "1,85 % TTC"],
            ["I", ISIN["I"], "EUR", "100 000 EUR", "Néant", "0,95 % TTC"],
            ["RH", ISIN["RH"], "CHF", "1 part", "3,00 % max.", "1,90 % TTC"],
        ],
    )
    page.text(10, 120, "Affectation des sommes distribuables : capitalisation pour toutes les parts.", 8)
    page.text(10, 133, "La part I est réservée aux investisseurs institutionnels.", 8)
    return page.image


def scenarios(scale: int) -> Image.Image:
    page = Page(470, 165, scale)
    page.text(10, 8, "Scénarios de performance", 11, bold=True, fill=BLUE)
    page.text(10, 26, "Période de détention recommandée : 5 ans. Exemple d’investissement : 10 000 EUR", 8)
    page.table(
        10,
        42,
        [110, 85, 80, 95, 80],
        [
            ["Scénario", "Sortie : 1 an", "Rendement", "Sortie : 5 ans", "Rendement"],
            ["Tensions", "4 870 EUR", "-51,3 %", "5 640 EUR", "-10,8 %"],
            ["Défavorable", "8 250 EUR", "-17,5 %", "9 020 EUR", "-2,0 %"],
            ["Intermédiaire", "10 460 EUR", "4,6 %", "12 690 EUR", "4,9 %"],
            ["Favorable", "13 120 EUR", "31,2 %", "15 780 EUR", "9,6 %"],
        ],
    )
    page.text(10, 149, "Il n’existe aucun rendement minimal garanti.", 8, bold=True)
    return page.image


PERFORMANCE = {
    "2019": (12.4, 11.0),
    "2020": (-3.8, -2.9),
    "2021": (9.6, 10.2),
    "2022": (-14.2, -12.8),
    "2023": (7.5, 6.9),
    "2024": (5.1, 5.3),
}


def performance(scale: int) -> Image.Image:
    page = Page(480, 230, scale)
    page.text(10, 8, "Performances passées", 11, bold=True, fill=BLUE)
    zero, unit = 98, 4.8
    for mark in range(-20, 16, 5):
        y = zero - mark * unit
        page.line(45, y, 470, y, fill="black" if mark == 0 else GREY)
        page.text(41, y, f"{mark} %", 7, anchor="rm")
    for number, (year, values) in enumerate(PERFORMANCE.items()):
        middle = 82 + number * 70
        for side, (value, colour) in enumerate(zip(values, (BLUE, RUST), strict=True)):
            left = middle - 24 + side * 25
            end = zero - value * unit
            page.box(left, min(zero, end), left + 22, max(zero, end), fill=colour)
            label = f"{value:.1f} %".replace(".", ",")
            page.text(left + 11, end + (-3 if value > 0 else 3), label, 6, anchor="ms" if value > 0 else "mt")
        page.text(middle, 203, year, 8, anchor="mm")
    for left, colour, name in ((70, BLUE, f"{FUND}, part R"), (280, RUST, "Indice de référence")):
        page.box(left, 214, left + 9, 223, fill=colour)
        page.text(left + 14, 218, name, 8, anchor="lm")
    return page.image


ALLOCATION = {"Actions": (42, BLUE), "Obligations": (35, RUST), "Monétaire": (15, GREEN), "Or": (8, GOLD)}


def allocation(scale: int) -> Image.Image:
    page = Page(330, 170, scale)
    page.text(10, 8, f"{BOND} : répartition de l’actif", 10, bold=True, fill=BLUE)
    start = -90.0
    circle = [value * scale for value in (20, 32, 146, 158)]
    for number, (name, (share, colour)) in enumerate(ALLOCATION.items()):
        page.draw.pieslice(circle, start, start + 3.6 * share, fill=colour, outline="white")
        start += 3.6 * share
        top = 50 + 24 * number
        page.box(180, top, 192, top + 12, fill=colour)
        page.text(200, top + 6, f"{name} : {share} %", 9, anchor="lm")
    return page.image


def checkboxes(scale: int) -> Image.Image:
    page = Page(400, 200, scale)
    page.text(10, 8, "Instruments dérivés utilisés", 11, bold=True, fill=BLUE)
    groups = {
        "Nature des marchés d’intervention :": {"réglementés": 1, "organisés": 1, "de gré à gré": 0},
        "Risques sur lesquels le gérant désire intervenir :": {
            "action": 1,
            "taux": 0,
            "change": 1,
            "crédit": 0,
        },
    }
    y = 30.0
    for title, boxes in groups.items():
        page.text(10, y, title)
        for name, checked in boxes.items():
            y += 16
            page.box(30, y, 39, y + 9, outline="black")
            if checked:
                page.line(30, y, 39, y + 9)
                page.line(39, y, 30, y + 9)
            page.text(48, y + 4.5, f"{name} ;", anchor="lm")
        y += 24
    return page.image


def costs(scale: int) -> Image.Image:
    page = Page(500, 235, scale)
    page.text(10, 8, "Coûts au fil du temps", 11, bold=True, fill=BLUE)
    page.text(10, 26, "Nous supposons que 10 000 EUR sont investis.", 8)
    page.table(
        10,
        42,
        [180, 150, 150],
        [
            ["", "Si vous sortez après 1 an", "Si vous sortez après 5 ans"],
            ["Coûts totaux", "485 EUR", "1 530 EUR"],
            ["Incidence des coûts annuels", "4,9 %", "2,6 % chaque année"],
        ],
    )
    page.text(10, 112, "Composition des coûts", 10, bold=True, fill=BLUE)
    page.table(
        10,
        128,
        [180, 150, 150],
        [
            ["Coûts", "Taux", "Montant après 1 an"],
            ["Coûts d’entrée", "3,00 % au maximum", "300 EUR"],
            ["Coûts de sortie", "Néant", "0 EUR"],
            ["Frais de gestion (par an)", "1,65 %", "165 EUR"],
            ["Coûts de transaction (par an)", "0,20 %", "20 EUR"],
        ],
        height=18,
    )
    page.text(10, 222, "Ces montants ne tiennent pas compte de votre situation fiscale personnelle.", 8)
    return page.image


PAGES: dict[str, Callable[[int], Image.Image]] = {
    "table_1.1": share_classes,
    "table_1.2": scenarios,
    "chart_1.1": performance,
    "chart_2.1": allocation,
    "special_case_1.1": checkboxes,
    "conversation_1.1": costs,
}

KID = f"""Informations clés pour l'investisseur
Ce document fournit des informations essentielles aux investisseurs de ce fonds. Il ne s'agit pas d'un document promotionnel.

{FUND}, part R (code ISIN : {ISIN["R"]})
Ce fonds commun de placement est géré par Valmy-Orion Gestion S.A.

Objectifs et politique d'investissement
L'objectif du fonds est de dépasser, après déduction des frais, la performance de son indice de référence, composé de 50 % d'actions européennes et de 50 % d'obligations souveraines de la zone euro, sur la durée de placement recommandée. Le fonds est géré activement.
Durée de placement recommandée : supérieure à 5 ans.

Profil de risque et de rendement
1        2        3        4*        5        6        7
Le fonds est classé dans la catégorie 4 en raison de son exposition aux marchés d'actions. La catégorie la plus faible ne signifie pas « sans risque ».

Frais
Frais ponctuels prélevés avant ou après investissement
Frais d'entrée        3,00 % maximum
Frais de sortie        Néant
Frais courants        1,85 % TTC

Informations pratiques
Dépositaire : Banque du Belvédère. Ce fonds est agréé en France et réglementé par l'Autorité des marchés financiers. Les informations clés pour l'investisseur ici fournies sont exactes et à jour au 04/03/2024."""
PARAGRAPH = (
    f"Le compartiment {BOND} a été créé le 15 novembre 2021 pour une durée de 10 ans. Sa devise de référence est le "
    "franc suisse (CHF). Le montant minimum de souscription initiale s'élève à 2,5 millions CHF."
)


def row(split: str, number: int, element: str | None, question: str, answer: str, **more: Any) -> Row:
    """A row in the columns of `data.schemas.mfe`, null where nothing is given."""
    image = f"{'table' if split == 'table_yn_tf' else split}_{element}" if element else None
    given = {
        "id": str(number),
        "task": split,
        "document_id": "1",
        "document": "echantillon.pdf",
        "element": element,
        "element_as_released": element,
        "element_file": f"{image}.pdf" if image else None,
        "page": 1 if image else None,
        "question_type": "open",
        "question": question,
        "answer": answer,
        "answer_type": "text",
        "context_size": {"text": "document", "chart": "chart", "special_case": "medium_text"}.get(
            split, "table"
        ),
        "multiple_answers": "no" if image else None,
        "deduced": "no" if image else None,
        "validated": "yes",
        "image": f"images/72dpi/{image}.jpg" if image else None,
        "image_144": f"images/144dpi/{image}.png" if image else None,
        **more,
    }
    order = [
        "id",
        "task",
        "document_id",
        "document",
        "element",
        "element_as_released",
        "element_file",
        "page",
        "type",
        "entity",
        "question_type",
        "domain",
        "question",
        "answer",
        "answer_type",
        "justification",
        "context",
        "context_size",
        "difficulty",
        "form",
        "multiple_answers",
        "deduced",
        "validated",
        "llm_answer",
        "original_question",
        "dialogue",
        "turn",
        "image",
        "image_144",
    ]
    assert set(order) == {column.name for column in SCHEMA.columns} >= set(given)
    return {name: given.get(name) for name in order}


YES_NO, TRUE_FALSE = {"question_type": "yes_no"}, {"question_type": "true_false"}


def rows() -> dict[str, list[Row]]:
    texts: list[tuple[str, str, dict[str, Any]]] = [
        ("Quel est le nom du fonds décrit dans ce document ?", FUND, {"type": "Dénomination"}),
        ("Quel est le code ISIN de la part R ?", ISIN["R"], {"type": "ISIN"}),
        (
            "Quel est le pourcentage maximal des frais d’entrée ?",
            "3,00 % maximum",
            {"type": "Frais d’entrée"},
        ),
        (
            "À quelle date ces informations clés ont-elles été mises à jour ?",
            "04/03/2024",
            {"type": "Date de dernière mise à jour"},
        ),
        (
            "Dans quelle catégorie de risque le fonds est-il classé ?",
            "4",
            {"type": "ISRR", "answer_type": "integer"},
        ),
        (
            "Quelle est la durée de placement recommandée ?",
            "supérieure à 5 ans",
            {"type": "Durée de placement recommandée"},
        ),
    ]
    paragraphs: list[tuple[str, str, dict[str, Any]]] = [
        ("Quel est le montant minimum de souscription initiale ?", "2,5 millions CHF", {"type": "Montant"}),
        ("Quand le compartiment a-t-il été créé ?", "15 novembre 2021", {"type": "Date de création"}),
    ]
    tables: list[tuple[str, str, str, dict[str, Any]]] = [
        ("1.1", "Quel est le code ISIN de la part I ?", ISIN["I"], {}),
        ("1.1", "Quelles parts sont libellées en euros ?", "R ; I", {"multiple_answers": "yes"}),
        ("1.1", "Des frais d’entrée sont-ils prélevés pour la part I ?", "Non", YES_NO),
        (
            "1.1",
            "Vrai ou Faux : les frais courants de la part RH dépassent ceux de la part R.",
            "Vrai",
            TRUE_FALSE,
        ),
        ("1.2", "Combien obtient-on après 5 ans dans le scénario favorable ?", "15 780 EUR", {}),
        ("1.2", "Quel est le rendement du scénario défavorable sur 5 ans ?", "-2,0 %", {}),
    ]
    reworded: list[tuple[str, str, str, str, dict[str, Any]]] = [
        ("1.1", "Y a-t-il quelque chose à payer pour entrer dans la part I ?", "Non", tables[2][1], YES_NO),
        (
            "1.1",
            "V/F : la part RH coûte chaque année plus cher que la part R.",
            "Vrai",
            tables[3][1],
            TRUE_FALSE,
        ),
    ]
    charts: list[tuple[str, str, str, dict[str, Any]]] = [
        ("1.1", "Quelle a été la performance du fonds en 2021 ?", "9,6 %", {}),
        ("1.1", "Quelle a été la pire année du fonds ?", "2022", {"answer_type": "integer"}),
        ("1.1", "En 2023, le fonds a-t-il dépassé son indice de référence ?", "Oui", YES_NO),
        ("1.1", "Vrai ou Faux : le fonds a progressé chaque année depuis 2019.", "Faux", TRUE_FALSE),
        (
            "1.1",
            "Combien de fois la performance du fonds a-t-elle dépassé 7 % ?",
            "3",
            {"answer_type": "integer"},
        ),
        (
            "2.1",
            "Quelle part de l’actif est placée en obligations ?",
            "35 %",
            {"form": "graphique en camembert"},
        ),
    ]
    specials: list[tuple[str, str, dict[str, Any]]] = [
        (
            "Sur quels risques le gérant désire-t-il intervenir ?",
            "action ; change",
            {"multiple_answers": "yes"},
        ),
        ("Le gérant peut-il intervenir sur des marchés de gré à gré ?", "Non", YES_NO),
    ]
    turns = [
        (
            "Si je place 20 000 €, combien me coûtent au maximum les frais d’entrée ?",
            "B",
            "300 €",
            "600 €",
            "970 €",
            "60 €",
        ),
        (
            "Il me reste donc combien de réellement investi ?",
            "A",
            "19 400 €",
            "20 000 €",
            "19 700 €",
            "19 030 €",
        ),
        (
            "Et sur cette somme, les frais de gestion font combien la première année ?",
            "C",
            "165 €",
            "330 €",
            "320,10 €",
            "38,80 €",
        ),
        (
            "Si je sors au bout d’un an, je paie encore quelque chose pour sortir ?",
            "B",
            "Oui, 1 %",
            "Non, rien",
            "Oui, 0,20 %",
            "On ne peut pas savoir",
        ),
        (
            "Et mes impôts, sont-ils compris dans ces montants ?",
            "C",
            "Oui, entièrement",
            "Seulement la première année",
            "Non, ils ne sont pas pris en compte",
            "Ce n’est pas indiqué",
        ),
    ]
    return {
        "text": [
            row("text", n, None, q, a, context=KID, **more) for n, (q, a, more) in enumerate(texts, start=1)
        ]
        + [
            row("text", n, None, q, a, context=PARAGRAPH, **{**more, "context_size": "medium_text"})
            for n, (q, a, more) in enumerate(paragraphs, start=len(texts) + 1)
        ],
        "table": [row("table", n, e, q, a, **more) for n, (e, q, a, more) in enumerate(tables, start=1)],
        "table_yn_tf": [
            row("table_yn_tf", n, e, q, a, original_question=first, **more)
            for n, (e, q, a, first, more) in enumerate(reworded, start=1)
        ],
        "chart": [
            row("chart", n, e, q, a, **{"form": "histogramme", **more})
            for n, (e, q, a, more) in enumerate(charts, start=1)
        ],
        "special_case": [
            row("special_case", n, "1.1", q, a, **more) for n, (q, a, more) in enumerate(specials, start=1)
        ],
        "conversation": [
            row(
                "conversation",
                turn,
                "1.1",
                "\n".join(
                    [question, *(f"{letter}. {text}" for letter, text in zip("ABCD", texts, strict=True))]
                ),
                answer,
                question_type="choice",
                dialogue="1.1",
                turn=turn,
            )
            for turn, (question, answer, *texts) in enumerate(turns, start=1)
        ],
    }


def main() -> None:
    splits = rows()
    shutil.rmtree(FOLDER, ignore_errors=True)
    digests = {"72dpi": hashlib.sha256(), "144dpi": hashlib.sha256()}
    for resolution in digests:
        (FOLDER / "images" / resolution).mkdir(parents=True)
    for name, draw in PAGES.items():
        files = {
            "72dpi": FOLDER / "images" / "72dpi" / f"{name}.jpg",
            "144dpi": FOLDER / "images" / "144dpi" / f"{name}.png",
        }
        draw(1).save(files["72dpi"], quality=JPEG_QUALITY)
        draw(2).quantize(64).save(files["144dpi"], optimize=True)
        for resolution, file in files.items():
            digests[resolution].update(name.encode() + file.read_bytes())
    for split in PARTS:
        (FOLDER / f"{split}.jsonl").write_bytes(jsonl(splits[split]))
    formats: dict[str, dict[str, Any]] = {
        "72dpi": {"format": "JPEG", "quality": JPEG_QUALITY},
        "144dpi": {"format": "PNG"},
    }
    write_manifest(
        Manifest(
            repository="scripts/draw_mfe_sample.py",
            commit="",
            licence="Apache-2.0; funds and figures are invented",
            counts={split: len(splits[split]) for split in PARTS},
            dialogues=1,
            content_hash=content_hash(splits),
            images={
                name: {**formats[name], "count": len(PAGES), "hash": digest.hexdigest()}
                for name, digest in digests.items()
            },
            renderer=f"Pillow {version('pillow')}, DejaVu Sans",
        ),
        FOLDER,
    )


if __name__ == "__main__":
    main()
