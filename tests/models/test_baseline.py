"""The offline baseline without text recognition: requests, structure, questions and answers."""

from __future__ import annotations

import json
import random
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

np = pytest.importorskip("numpy")
pytest.importorskip("cv2")

from lmms_eval_finance import prompts  # noqa: E402
from lmms_eval_finance.models.baseline import (  # noqa: E402
    answers,
    chart,
    evidence,
    fields,
    formula,
    grid,
    lines,
    ocr,
    request,
    seals,
    series,
    sorts,
    spans,
    words,
)
from lmms_eval_finance.models.baseline.ocr import Fragment  # noqa: E402
from lmms_eval_finance.models.baseline.request import Kind, Question  # noqa: E402
from lmms_eval_finance.settings import SettingError  # noqa: E402

# -- requests ----------------------------------------------------------------------------------------

FINMME = {
    "instruction": "Exactly one option is right. Choose it.",
    "answer_form": "X, where X is the letter of the option",
    "caption": "Revenue of Arvel.",
    "passages": "Two plants opened in 2020.",
    "unit": "",
    "question": "In which year was revenue highest?",
    "options": "A: 2019\nB: 2020",
}


@pytest.mark.parametrize("template", ["finmme", "finmme_a", "finmme_b", "finmme_c", "cfmme_choice"])
def test_a_choice_is_found_in_every_wording(template):
    read = request.read_text(prompts.load(template).render(**FINMME, table=""))
    (question,) = read.questions
    assert (read.kind, question.text) == (Kind.QUESTION, FINMME["question"])
    assert question.options == {"A": "2019", "B": "2020"}
    assert not question.multiple
    assert read.wants_line


@pytest.mark.parametrize("template", ["finmme", "finmme_a", "finmme_b", "finmme_c"])
def test_a_number_is_asked_for(template):
    values = FINMME | {
        "instruction": "The answer is a number.",
        "options": "",
        "unit": "USD million",
        "answer_form": "X, where X is a plain number without its unit",
        "question": "What was revenue in 2020?",
    }
    (question,) = request.read_text(prompts.load(template).render(**values)).questions
    assert question.text == values["question"]
    assert question.numeric


def test_material_stands_before_the_question():
    text = prompts.load("mfe").render(
        context="Frais d'entrée : 2 %.\n\nDevise : EUR", question="Quelle devise ?"
    )
    read = request.read_text(f"{text}\n\nAnswer:")
    assert read.questions[0].text == "Quelle devise ?"
    assert "Devise : EUR" in read.context
    assert "Frais d'entrée" in read.context
    assert "Answer the question" not in read.context
    assert not read.wants_line


def test_only_the_last_turn_is_answered_and_earlier_answers_are_no_evidence():
    opening = prompts.load("mfe").render(context="Devise : EUR", question="Quelle devise ?\nA. EUR\nB. USD")
    messages = [
        {"role": "user", "content": [{"type": "text", "text": opening}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Answer: B"}]},
        {"role": "user", "content": [{"type": "text", "text": "Et la part B ?\nA. oui\nB. non\n\nAnswer:"}]},
    ]
    read = request.read(messages)
    assert read.questions[0].text == "Et la part B ?"
    assert read.questions[0].options == {"A": "oui", "B": "non"}
    assert read.context == "Devise : EUR"
    as_text = f"{opening}\n\nAnswer: B\n\nQuestion: Et la part B ?\nA. oui\nB. non\n\nAnswer:"
    assert request.read_text(as_text).questions == read.questions
    assert request.read_text(as_text).context == read.context


def test_several_questions_are_told_apart():
    text = prompts.load("famma").render(
        context="A bond pays 5 %.",
        questions="Question q1 (multiple choice):\nWhich?\nA. Bond\nB. Share\n\nQuestion q2.5 (open question):\nHow much?",
        keys='"q1", "q2.5"',
        language="English",
    )
    read = request.read_text(text)
    assert read.kind is Kind.QUESTIONS
    assert [question.key for question in read.questions] == ["q1", "q2.5"]
    assert read.questions[0].options == {"A": "Bond", "B": "Share"}
    assert read.questions[1].text == "How much?"
    assert read.questions[1].options == {}
    assert read.context == "A bond pays 5 %."


@pytest.mark.parametrize(
    ("template", "values", "kind"),
    [
        ("cfmme_seal_detection", {"coordinates": ""}, Kind.BOXES),
        ("cfmme_seal_recognition", {}, Kind.SEAL),
        ("cfmme_table_recognition", {"pages": ""}, Kind.HTML),
        ("cfmme_formula_recognition", {}, Kind.LATEX),
        ("cfmme_information_extraction", {"keys": '"a", "b c"', "open": ""}, Kind.FIELDS),
    ],
)
def test_other_forms_of_answers_are_recognised(template, values, kind):
    read = request.read_text(prompts.load(template).render(**values))
    assert read.kind is kind
    assert read.keys == (("a", "b c") if kind is Kind.FIELDS else ())


@pytest.mark.parametrize(
    ("sentence", "scale"),
    [("from 0 to 1000", 1000.0), ("fractions from 0 to 1", 1.0), ("in pixels", 0.0), ("", 0.0)],
)
def test_boxes_come_in_the_unit_that_is_asked_for(sentence, scale):
    text = prompts.load("cfmme_seal_detection").render(coordinates=sentence)
    assert request.read_text(text).scale == scale


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_some_request(text):
    read = request.read_text(text)
    assert isinstance(read.kind, Kind)
    assert read.kind is not Kind.QUESTION or len(read.questions) == 1


@pytest.mark.parametrize(
    "piece", ["A. x\n", "Question: ", "keys: ", " \n", '"', "Question q1 (x): ", "<table><tr>"]
)
def test_long_requests_are_read_in_bounded_time(piece):
    started = time.perf_counter()
    request.read_text(piece * (200_000 // len(piece)))
    assert time.perf_counter() - started < 5


# -- words and questions -----------------------------------------------------------------------------


def test_negation_is_part_of_a_word():
    assert words.stems("commission non acquise") != words.stems("commission acquise")
    assert words.stems("non acquise") == words.stems("non acquises")


@pytest.mark.parametrize(
    ("question", "turn", "sort"),
    [
        ("Y a-t-il des frais de sortie ?", "yes_no", None),
        ("Le fonds peut-il investir en actions ou en obligations ?", "yes_no", None),
        ("Ce fonds est-il géré activement ou passivement ?", "either", None),
        ("Vrai ou faux : le fonds est fermé.", "true_false", None),
        ("Le dépositaire est établi à Dublin.", "true_false", None),
        ("Is the fund open?", "yes_no", None),
        ("基金是否收取赎回费？", "yes_no", None),
        ("À quelle date le fonds a-t-il été lancé ?", "open", "date"),
        ("Quel est le code ISIN de la part C ?", "open", "isin"),
        ("Quels sont les frais d'entrée maximum ?", "open", "percent"),
        ("Quelle est l'assiette des frais de gestion ?", "open", None),
        ("Quelle autorité supervise la société, dont le capital est de 3 M€ ?", "open", "authority"),
        ("Quelle est la devise du fonds ?", "open", "currency"),
        ("Combien de parts le fonds propose-t-il ?", "open", "count"),
        ("Quel est l'indice de référence pour les performances ?", "open", "index"),
        ("Where is the company located?", "open", "address"),
        ("How long is the holding period?", "open", "duration"),
        ("Which year had the best return?", "open", "year"),
        ("2023年净利润是多少万元？", "open", "amount"),
        ("毛利率为多少？", "open", "percent"),
        ("该基金的管理人是谁？", "open", "fund"),
    ],
)
def test_questions_are_turned_and_sorted(question, turn, sort):
    assert sorts.turn_of(question) == turn
    if turn == "open":
        found = sorts.sort_of(question)
        assert (found.name if found else None) == sort


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("isin", "Part I : FR0010083634 ou LU 0505784883", ["FR0010083634", "LU 0505784883"]),
        ("date", "créé le 14 mars 2008, agréé le 15/12/2009", ["14 mars 2008", "15/12/2009"]),
        ("duration", "de 3 à 5 ans minimum, préavis de cinq jours", ["3 à 5 ans minimum", "cinq jours"]),
        ("percent", "Frais d'entrée 3,00 % maximum", ["3,00 %"]),
        ("percent", "Néant", ["Néant"]),
        ("currency", "en dollars américains (USD) ou 欧元", ["dollars américains", "USD", "欧元"]),
        ("risk", "1 2 3* 4 5 6 7", ["3"]),
        ("risk", "classe de risque 4 sur 7", ["classe de risque 4 sur 7"]),
        ("email", "écrire à aide@fonds-exemple.fr.", ["aide@fonds-exemple.fr"]),
        ("site", "voir www.exemple.fr/fonds ou exemple.lu", ["www.exemple.fr/fonds", "exemple.lu"]),
        ("phone", "tél. (+352) 46 66 67-1", ["(+352) 46 66 67-1"]),
        ("directive", "au sens de la directive 2009/65/CE", ["2009/65/CE"]),
        ("index", "l'indice MSCI World Net Total Return, en euros", ["MSCI World Net Total Return"]),
        ("company", "géré par Valmy-Orion Gestion S.A. à Paris", ["Valmy-Orion Gestion S.A.", "Paris"]),
        ("amount", "（万元）", []),
    ],
)
def test_stretches_of_each_form_are_found(name, text, found):
    sort = next(sort for sort in sorts.SORTS if sort.name == name)
    assert [span.text for span in sort.find(text, "fr")] == found


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="aAéÉ 0189.,%€$/-*()年万FR:;'\n", max_size=120))
def test_stretches_lie_in_their_text(text):
    for sort in sorts.SORTS:
        for span in sort.find(text, "fr") if sort.find else ():
            assert span.text.strip() in text
            assert 0 <= span.start < span.end <= len(text)


@pytest.mark.parametrize(
    "piece", ["1 ", "A. ", "12 rue B ", "a.", "(1", "FR0 ", "S.A. ", "une à ", "1* ", "年万", "MSCI "]
)
def test_hostile_texts_are_searched_in_bounded_time(piece):
    text = piece * (10_000 // len(piece))
    for sort in sorts.SORTS:
        if sort.find is not None:
            started = time.perf_counter()
            sort.find(text, "fr")
            assert time.perf_counter() - started < 0.5, sort.name


# -- tables ------------------------------------------------------------------------------------------


def fragment(text, left, top, width=None, height=12):
    return Fragment(text, left, top, left + (width or 7 * len(text)), top + height)


def ruled(rows, columns=(0, 100, 200, 300), row_height=40, skip=(), colour="black"):
    """A drawn grid and texts for its slots; `skip` holds edges that are not drawn: (row, column, "right" | "below")."""
    image = Image.new("RGB", (columns[-1] + 20, row_height * len(rows) + 20), "white")
    draw = ImageDraw.Draw(image)
    for row in range(len(rows)):
        top, bottom = 10 + row * row_height, 10 + (row + 1) * row_height
        for column in range(len(columns) - 1):
            left, right = 10 + columns[column], 10 + columns[column + 1]
            draw.line((left, 10, right, 10), fill=colour)
            draw.line((10, top, 10, bottom), fill=colour)
            if (row, column, "right") not in skip:
                draw.line((right, top, right, bottom), fill=colour)
            if (row, column, "below") not in skip:
                draw.line((left, bottom, right, bottom), fill=colour)
    texts = [
        fragment(text, 20 + columns[column], 24 + row * row_height)
        for row, cells in enumerate(rows)
        for column, text in enumerate(cells)
        if text
    ]
    return np.asarray(image), texts


def html(rows):
    return (
        "<table>"
        + "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
        + "</table>"
    )


@pytest.mark.parametrize("colour", ["black", "#999999"])
def test_ruled_tables_become_html(colour):
    rows = [["Part", "Frais", "Devise"], ["A", "1 %", "EUR"], ["B & C", "2 %", "USD"]]
    image, texts = ruled(rows, colour=colour)
    rows[2][0] = "B &amp; C"
    assert grid.table_of(image, texts).to_html() == html(rows)


def test_cells_span_where_no_line_parts_them():
    rows = [["Région", "Ventes", ""], ["", "2022", "2023"], ["Nord", "1", "2"]]
    image, texts = ruled(rows, skip={(0, 1, "right"), (0, 0, "below")})
    assert grid.table_of(image, texts).to_html() == (
        '<table><tr><td rowspan="2">Région</td><td colspan="2">Ventes</td></tr><tr><td>2022</td><td>2023</td></tr>'
        "<tr><td>Nord</td><td>1</td><td>2</td></tr></table>"
    )


def test_a_dark_heading_is_parted_like_the_rows_below_it():
    rows = [["Part", "Frais", "Devise"], ["A", "1 %", "EUR"], ["B", "2 %", "USD"]]
    image, texts = ruled(rows)
    image = image.copy()
    image[11:50, 11:310] = (31, 78, 121)
    assert grid.table_of(image, texts).to_html() == html(rows)
    texts[0:3] = [fragment("Parts et frais du fonds en 2024", 40, 24)]
    assert grid.table_of(image, texts).to_html().startswith('<table><tr><td colspan="3">Parts')


def test_a_text_that_touches_a_line_does_not_hide_it():
    rows = [["Part", "Frais", "Devise"], ["A", "1 %", "EUR"]]
    image, texts = ruled(rows)
    wide = [Fragment(one.text, one.left - 11, one.top - 14, one.right, one.bottom) for one in texts]
    assert grid.table_of(image, wide).to_html() == html(rows)


def test_letters_are_no_lines():
    """A text's own strokes, even of a wide dash, must not part a cell."""
    image, texts = ruled([["a", "b", "c"], ["d", "e", "f"]])
    image = image.copy()
    image[30:32, 22:80] = 0  # an underlined text
    table = grid.table_of(image, texts)
    assert table.shape == (2, 3)


def test_white_space_makes_columns_where_there_are_no_lines():
    rows = [["Part", "Frais", "Devise"], ["A", "1 %", "EUR"], ["B", "2 %", "USD"]]
    texts = [
        fragment(cell, 10 + 120 * column, 10 + 25 * row)
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
    ]
    blank = np.full((100, 400, 3), 255, dtype=np.uint8)
    assert grid.table_of(blank, texts).to_html() == html(rows)


def test_horizontal_lines_gather_the_lines_of_a_row():
    image = Image.new("RGB", (400, 200), "white")
    for y in (10, 50, 100, 150):
        ImageDraw.Draw(image).line((10, y, 390, y), fill="black")
    texts = [fragment("Frais", 20, 20), fragment("Taux", 220, 20)]
    for row, (name, rest, value) in enumerate(
        [("Frais de gestion", "financière", "2 %"), ("Frais de", "mouvement", "0 %")]
    ):
        texts += [
            fragment(name, 20, 56 + 50 * row),
            fragment(rest, 20, 74 + 50 * row),
            fragment(value, 220, 56 + 50 * row),
            fragment("max", 220, 74 + 50 * row),
        ]
    assert grid.table_of(np.asarray(image), texts).to_html() == html(
        [["Frais", "Taux"], ["Frais de gestion financière", "2 % max"], ["Frais de mouvement", "0 % max"]]
    )


def test_a_table_goes_on_on_the_next_page():
    first = grid.from_html(html([["a", "b"], ["1", "2"]]))
    second = grid.from_html(html([["3", "4"]]))
    assert first.below(second).to_html() == html([["a", "b"], ["1", "2"], ["3", "4"]])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.lists(st.text(alphabet="ab<&1 %", max_size=5), min_size=1, max_size=4), min_size=1, max_size=4
    )
)
def test_html_comes_back_as_it_was(rows):
    table = grid.Grid(
        [
            grid.Cell(row, column, said=" ".join(text.split()))
            for row, cells in enumerate(rows)
            for column, text in enumerate(cells)
        ]
    )
    back = grid.from_html(table.to_html())
    assert [(cell.row, cell.column, cell.text) for cell in back.cells] == [
        (cell.row, cell.column, cell.text) for cell in table.cells
    ]


@pytest.mark.parametrize(
    "markup", ["", "<table>", "<tr><td>", "<table><tr><td rowspan=999999999 colspan=-1>x</table>", "<" * 5000]
)
def test_broken_html_is_a_table_or_none(markup):
    found = grid.from_html(markup)
    assert found is None or found.shape[0] < 200


def test_random_scraps_of_text_are_laid_out_whatever_they_are():
    random_places = random.Random(1)
    for _ in range(30):
        texts = [
            Fragment("x", left, top, left + random_places.uniform(0, 90), top + random_places.uniform(0, 30))
            for left, top in (
                (random_places.uniform(0, 300), random_places.uniform(0, 200))
                for _ in range(random_places.randint(0, 25))
            )
        ]
        noise = np.asarray(
            [[[random_places.choice((0, 255))] * 3 for _ in range(60)] for _ in range(40)], dtype=np.uint8
        )
        table = grid.table_of(noise, texts)
        assert table is None or table.to_html().startswith("<table>")
        chart.values_of(noise, texts)
        assert sum(len(line) for line in lines.text_lines(texts)) == len(texts)
        assert sum(len(block) for block in lines.blocks(texts)) == len(texts)


# -- charts and series -------------------------------------------------------------------------------


def drawn_bars(values, labels, colours=("#1f4e79", "#c55a11")):
    """A bar chart of one or two series with values over (or, below zero, under) the bars."""
    image = Image.new("RGB", (90 * len(labels) + 20, 260), "white")
    draw = ImageDraw.Draw(image)
    texts = [fragment(label, 40 + 90 * place, 235) for place, label in enumerate(labels)]
    for number, row in enumerate(values):
        for place, value in enumerate(row):
            left = 30 + 90 * place + 32 * number
            end = 140 - 8 * value
            draw.rectangle((left, min(140, end), left + 26, max(140, end)), fill=colours[number])
            top = end - 16 if value >= 0 else end + 4
            texts.append(Fragment(f"{value} %", left, top, left + 26, top + 12))
    if len(values) > 1:
        for number, name in enumerate(("Fonds", "Indice")):
            draw.rectangle((40 + 120 * number, 6, 50 + 120 * number, 16), fill=colours[number])
            texts.append(fragment(name, 54 + 120 * number, 5))
    return np.asarray(image), texts


def test_values_beside_bars_become_a_table():
    image, texts = drawn_bars([[3, -2, 5]], ["2019", "2020", "2021"])
    table = chart.values_of(image, texts)
    (found,) = series.of_grids([table])
    assert [(label, float(number.written)) for label, number in found.points] == [
        ("2019", 3),
        ("2020", -2),
        ("2021", 5),
    ]


def test_bars_belong_to_the_series_of_their_colour():
    image, texts = drawn_bars([[3, -2, 5], [1, 4, -6]], ["2019", "2020", "2021"])
    rows = {
        one.name: [float(number.written) for _, number in one.points]
        for one in series.of_grids([chart.values_of(image, texts)])
    }
    assert rows["Fonds"] == [3, -2, 5]
    assert rows["Indice"] == [1, 4, -6]


TABLE = grid.from_html(
    html([["Part", "Frais", "Encours"], ["A", "1,5 %", "300"], ["B", "0,9 %", "120"], ["C", "2,1 %", "80"]])
)
CHART = grid.from_html(
    html([["", "2019", "2020", "2021"], ["Revenue", "320", "355", "410"], ["Costs", "300", "310", "330"]])
)


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("Quelle part a les frais les plus élevés ?", "C"),
        ("Quelle part a les frais les moins élevés ?", "B"),
        ("Quelle part a l'encours le plus important ?", "A"),
        ("In which year was revenue highest?", "2021"),
        ("Which year had the lowest costs?", "2019"),
        ("What is revenue in 2020?", None),
    ],
)
def test_extremes_are_named_by_their_label(question, label):
    found = series.extreme(question, series.of_grids([TABLE, CHART]))
    assert (found[0] if found else None) == label


@pytest.mark.parametrize(
    ("question", "result"),
    [
        ("By how much did revenue rise from 2019 to 2021?", 90),
        ("By how many per cent did revenue grow from 2019 to 2020?", 100 * (355 / 320 - 1)),
        ("What is the total revenue of the three years?", 1085),
        ("What was the average revenue?", 1085 / 3),
        ("By how much was Revenue more than Costs in 2021?", 80),
        ("What was the revenue in 2020?", None),
    ],
)
def test_results_are_worked_out(question, result):
    found = series.worked_out(question, series.of_grids([CHART]))
    assert found == (None if result is None else pytest.approx(result))


def test_entries_are_counted():
    assert series.count("Combien de parts le tableau a-t-il ?", [TABLE]) == 3
    assert series.count("Combien de chats y a-t-il ?", [TABLE]) is None


# -- answers -----------------------------------------------------------------------------------------

FRENCH = """Informations clés pour l'investisseur
Horizon Céleste, part R (code ISIN : FR0099810010)
Ce fonds commun de placement est géré par Valmy-Orion Gestion S.A.
Le fonds est géré activement. Sa devise de référence est l'euro.
Durée de placement recommandée : supérieure à 5 ans.
Frais ponctuels
Frais d'entrée        3,00 % maximum
Frais de sortie        Néant
Frais courants        1,85 % TTC
Dépositaire : Banque du Belvédère S.A. Ce fonds est agréé en France et réglementé par l'Autorité des marchés financiers.
Le fonds a été créé le 14 mars 2008."""
ENGLISH = (
    "Revenue was $355 million in 2020. The fund was launched on 3 May 2011 in Ireland. There is no exit fee."
)
CHINESE = "样本集团2023年净利润为95万元，2022年净利润为74万元。总部位于云岭市。本公司不收取赎回费。"


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        (FRENCH, "Quels sont les frais d'entrée ?", "3,00 %"),
        (FRENCH, "Quels sont les frais de sortie ?", "Néant"),
        (FRENCH, "Quels sont les frais courants ?", "1,85 %"),
        (FRENCH, "Quel est le code ISIN de la part R ?", "FR0099810010"),
        (FRENCH, "Quel est le dépositaire du fonds ?", "Banque du Belvédère S.A."),
        (FRENCH, "Quelle société gère le fonds ?", "Valmy-Orion Gestion S.A."),
        (FRENCH, "Quelle autorité réglemente ce fonds ?", "Autorité des marchés financiers"),
        (FRENCH, "À quelle date le fonds a-t-il été créé ?", "14 mars 2008"),
        (FRENCH, "Quelle est la devise du fonds ?", "euro"),
        (FRENCH, "Quelle est la durée de placement recommandée ?", "5 ans"),
        (FRENCH, "Y a-t-il des frais de sortie ?", "Non"),
        (FRENCH, "Y a-t-il des frais d'entrée ?", "Oui"),
        (FRENCH, "Vrai ou faux : les frais d'entrée sont supérieurs à 2 %.", "Vrai"),
        (FRENCH, "Vrai ou faux : les frais d'entrée sont supérieurs à 4 %.", "Faux"),
        (FRENCH, "Le fonds investit-il dans des éoliennes sibériennes ?", "Non"),
        (ENGLISH, "What was revenue in 2020?", "$355 million"),
        (ENGLISH, "When was the fund launched?", "3 May 2011"),
        (ENGLISH, "Is there an exit fee?", "No"),
        (CHINESE, "2023年净利润是多少？", "95万元"),
        (CHINESE, "公司是否收取赎回费？", "否"),
    ],
)
def test_answers_are_looked_up(text, question, expected):
    found = answers.answer(Question(question), evidence.Evidence(evidence.from_text(text)))
    assert expected in found
    assert len(found) <= len(expected) + 30


def in_table(table):
    return evidence.Evidence(evidence.from_grid(table), [table])


def test_cells_answer_by_row_and_column():
    known = in_table(TABLE)
    assert answers.answer(Question("Quels sont les frais de la part B ?"), known) == "0,9 %"
    assert answers.answer(Question("Quel est le montant de l'encours de la part C ?"), known) == "80"
    assert answers.answer(Question("Quelle part a les frais les plus élevés ?"), known) == "C"
    assert answers.answer(Question("What was the revenue in 2020?", numeric=True), in_table(CHART)) == "355"


def test_options_are_chosen_by_what_is_found():
    known = in_table(CHART)
    options = {"A": "300", "B": "355", "C": "410"}
    assert answers.answer(Question("What was the revenue in 2020?", options), known) == "B"
    years = {"A": "2019", "B": "2020", "C": "2021"}
    assert answers.answer(Question("In which year was revenue highest?", years), known) == "C"
    above = Question("In which years was revenue above 330?", years, multiple=True)
    assert answers.answer(above, known) == "B, C"
    verdict = {"A": "错", "B": "对"}
    told = evidence.Evidence(evidence.from_text(CHINESE))
    assert answers.answer(Question("公司收取赎回费。", verdict), told) == "A"


@settings(max_examples=100, deadline=None)
@given(
    st.text(max_size=80),
    st.text(max_size=200),
    st.dictionaries(st.sampled_from("ABCD"), st.text(max_size=20), max_size=4),
)
def test_anything_is_answered(question, text, options):
    known = evidence.Evidence(evidence.from_text(text))
    found = answers.answer(Question(question, options), known)
    assert isinstance(found, str)
    if options:
        assert set(found.split(", ")) <= set(options)


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"w{number}" for number in range(25_000)) + "\n\nQuestion: What is the fee of w7?",
        "x " * 30_000 + "\n\nQuestion: " + " ".join(f"w{number}" for number in range(3_000)) + "?",
        "fee. " * 20_000
        + "\n\nQuestion: Which?\n"
        + "\n".join(f"{letter}. {letter * 3} fee " * 50 for letter in "ABCDEFGHIJKLMN"),
        "<table>" + "<tr><td rowspan=99 colspan=99>1</td></tr>" * 3_000 + "\n\nQuestion: highest?",
        "年万比率" * 20_000 + "\n\nQuestion: 净利润是多少？",
        "\0" * 5_000 + "Question: \0?",
    ],
    ids=["words", "question", "options", "spans", "hanzi", "nul"],
)
def test_hostile_requests_are_answered_in_bounded_time(text):
    from lmms_eval_finance.models.baseline import model

    started = time.perf_counter()
    assert isinstance(model.respond(request.read_text(text)), str)
    assert time.perf_counter() - started < 10


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(FRENCH.split("\n")), min_size=1, max_size=6),
    st.sampled_from(["Quels sont les frais ?", "Oui ?"]),
)
def test_fit_is_a_share_and_sorted(chosen, question):
    matches = evidence.Evidence(evidence.from_text("\n".join(chosen))).matches(question)
    scores = [match.score for match in matches]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 + 1e-9 for score in scores)


# -- fields, seals, formulas -------------------------------------------------------------------------


def test_fields_are_found_beside_after_and_below_their_names():
    document = [
        fragment("发票号码：00000017", 10, 10),
        fragment("开票日期：2024年03月05日", 300, 10),
        fragment("金额", 10, 60, 40),
        fragment("税率", 120, 60, 40),
        fragment("300.00", 8, 90, 44),
        fragment("6%", 128, 90, 20),
        fragment("合计", 10, 140, 40),
        fragment("¥318.00", 120, 140, 60),
    ]
    keys = ("发票号码", "开票日期", "金额", "税率", "价税合计", "备注")
    assert fields.extract(document, keys) == {
        "发票号码": "00000017",
        "开票日期": "2024年03月05日",
        "金额": "300.00",
        "税率": "6%",
        "价税合计": "¥318.00",
        "备注": "",
    }


def test_an_open_extraction_names_what_is_named():
    receipt = [
        fragment("单号：0031", 10, 10),
        fragment("品名", 10, 40, 40),
        fragment("数量", 120, 40, 40),
        fragment("面包", 10, 60, 40),
        fragment("1", 135, 60, 10),
        fragment("合计", 10, 100, 40),
        fragment("6.50", 120, 100, 40),
    ]
    assert fields.extract(receipt, ()) == {
        "单号": "0031",
        "合计": "6.50",
        "商品": [{"品名": "面包", "数量": "1"}],
    }


def page_with_seals():
    image = Image.new("RGB", (600, 800), "white")
    draw = ImageDraw.Draw(image)
    for row in range(10):
        draw.text((40, 40 + 30 * row), "The parties agree to the terms below.", fill="black")
    draw.ellipse((350, 500, 500, 650), outline="#c8281e", width=4)
    draw.text((400, 560), "* ORBIS *", fill="#c8281e")
    draw.rectangle((100, 550, 170, 620), outline="#d04038", width=4)
    draw.text((115, 575), "LIN YI", fill="#d04038")
    draw.line((40, 30, 560, 30), fill="#c8281e", width=2)
    return image


def test_red_marks_are_seals_lines_and_black_letters_are_not():
    found = {seal.label: seal.box for seal in seals.find(np.asarray(page_with_seals()))}
    assert set(found) == {"company", "personal"}
    assert found["company"] == pytest.approx((350, 500, 501, 651), abs=3)
    assert found["personal"] == pytest.approx((100, 550, 171, 621), abs=3)
    assert seals.find(np.asarray(page_with_seals().convert("L").convert("RGB"))) == []


def test_a_ring_is_unrolled_clockwise_from_its_gap():
    """Marks of growing width around a circle stand in that order on the strip, upright."""
    side, count = 400, 6
    image = Image.new("L", (side, side), 255)
    draw = ImageDraw.Draw(image)
    draw.ellipse((2, 2, side - 3, side - 3), outline=0, width=6)
    draw.ellipse((160, 160, 240, 240), fill=0)
    for number in range(count):
        turn = 130 + 280 / (count - 1) * number  # from lower left over the top to lower right
        spread = 2 + 2 * number
        draw.arc((24, 24, side - 25, side - 25), turn - spread, turn + spread, fill=0, width=40)
    strip, middle = seals.unroll(np.asarray(image))
    inked = np.concatenate([[0], (strip < 128).any(axis=0).astype(int), [0]])
    edges = np.flatnonzero(np.diff(inked))
    widths = edges[1::2] - edges[::2]
    assert len(widths) == count
    assert list(widths) == sorted(widths)
    assert strip.shape[0] < strip.shape[1]
    assert (middle < 128).any()
    assert not (middle[:60] < 128).any()


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("毛利率=α×2", r"\text{毛利率}=\alpha \times 2"),
        ("w²≤5%", r"w^{2}\leq 5\%"),
        (r"\input{x}^2", "inputx2"),
        ("", ""),
    ],
)
def test_recognised_text_becomes_latex(text, latex):
    assert formula.escaped(text) == latex


# -- the extra ---------------------------------------------------------------------------------------


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    with pytest.raises(SettingError, match=r"pip install 'lmms-eval-finance\[baseline\]'"):
        ocr.require()


def test_the_answer_to_several_questions_is_json():
    from lmms_eval_finance.models.baseline import model

    asked = request.Request(
        Kind.QUESTIONS,
        (
            Question("What was revenue in 2020?", key="q1"),
            Question("Is there a fee?", {"A": "Yes", "B": "No"}, key="q2"),
        ),
        ENGLISH,
    )
    reply = json.loads(model.respond(asked))
    assert reply["q1"]["answer"] == "$355 million"
    assert reply["q2"]["answer"] == "B"
    assert all(one["explanation"] for one in reply.values())


def test_spans_say_none():
    assert spans.says_none("Aucune commission")
    assert not spans.says_none("1,5 % TTC")
