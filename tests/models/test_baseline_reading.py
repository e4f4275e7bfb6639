"""The offline baseline on drawn pictures, with text recognition: reading, keeping, hostile pictures, no network."""

from __future__ import annotations

import json
import math
import socket

import pytest
from PIL import Image, ImageDraw, ImageFont

pytest.importorskip("rapidocr", reason="the extra baseline is not installed")
np = pytest.importorskip("numpy")

from lmms_eval_finance.models.baseline import model, ocr, page, seals  # noqa: E402
from lmms_eval_finance.models.baseline.request import Kind, Question, Request  # noqa: E402


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    page._page.cache_clear()


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("the model asks the network for something")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def drawn(text, size=(420, 120)):
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).text((20, 40), text, fill="black", font=ImageFont.load_default(18))
    return image


def table_picture():
    image = Image.new("RGB", (420, 130), "white")
    draw = ImageDraw.Draw(image)
    rows = [("Class", "Fee", "Currency"), ("Alpha", "1.25%", "EUR"), ("Beta", "0.75%", "USD")]
    for row, cells in enumerate(rows):
        for column, text in enumerate(cells):
            left, top = 5 + 135 * column, 5 + 40 * row
            draw.rectangle((left, top, left + 135, top + 40), outline="black")
            draw.text((left + 12, top + 10), text, fill="black", font=ImageFont.load_default(18))
    return image, rows


def asked(kind, image=None, *questions, **more):
    return Request(kind, questions, images=() if image is None else (image,), **more)


def test_a_line_is_read():
    found = page.read(drawn("Entry fee 3.00")).fragments
    assert [one.text for one in found] == ["Entry fee 3.00"]
    assert found[0].left == pytest.approx(20, abs=8)
    assert found[0].middle[1] == pytest.approx(50, abs=8)


def test_a_table_is_read_and_answers_questions():
    image, rows = table_picture()
    cells = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    assert (
        model.respond(asked(Kind.HTML, image))
        == f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
    )
    fee = Question("What is the fee of class Beta?")
    assert model.respond(asked(Kind.QUESTION, image, fee)) == "0.75%"
    lined = asked(Kind.QUESTION, image, Question("Which class has the highest fee?"), wants_line=True)
    assert model.respond(lined) == "Answer: Alpha"


def ring_seal(text, side=420):
    """A round red seal with its text along the upper arc and a line in the middle."""
    image = Image.new("RGB", (side, side), "white")
    draw = ImageDraw.Draw(image)
    draw.ellipse((6, 6, side - 7, side - 7), outline="#c8281e", width=8)
    radius = side / 2 - 52
    for number, letter in enumerate(text):
        turn = math.radians(-125 + 250 * number / (len(text) - 1))
        tile = Image.new("L", (60, 60), 0)
        ImageDraw.Draw(tile).text((30, 30), letter, fill=255, font=ImageFont.load_default(42), anchor="mm")
        tile = tile.rotate(-math.degrees(turn), resample=Image.Resampling.BICUBIC)
        at = (
            round(side / 2 + radius * math.sin(turn) - 30),
            round(side / 2 - radius * math.cos(turn) - 30),
        )
        image.paste("#c8281e", at, tile)
    draw.text(
        (side / 2, side * 0.62), "CONTRACT", fill="#c8281e", font=ImageFont.load_default(34), anchor="mm"
    )
    return image


@pytest.mark.parametrize("size", [420, 210])
def test_a_round_seal_is_read_around_and_in_the_middle(size):
    seal = ring_seal("ORBISTRADINGLTD").resize((size, size))
    assert model.respond(asked(Kind.SEAL, seal)) == "ORBISTRADINGLTDCONTRACT"


def test_an_oval_seal_is_read_too():
    seal = ring_seal("ORBISTRADINGLTD").resize((420, 300))
    assert model.respond(asked(Kind.SEAL, seal)) == "ORBISTRADINGLTDCONTRACT"


def test_boxes_come_in_the_unit_that_is_asked_for():
    sheet = Image.new("RGB", (800, 1000), "white")
    sheet.paste(ring_seal("ORBISTRADINGLTD").resize((200, 200)), (400, 500))
    for scale, expected in (
        (1000.0, [503, 503, 746, 697]),
        (1.0, [0.504, 0.503, 0.746, 0.697]),
        (0.0, [403, 503, 597, 697]),
    ):
        (found,) = json.loads(model.respond(asked(Kind.BOXES, sheet, scale=scale)))
        assert found["label"] == "company"
        assert found["bbox_2d"] == pytest.approx(expected, rel=0.01)
    large = sheet.resize((4000, 5000))
    (found,) = json.loads(model.respond(asked(Kind.BOXES, large, scale=0.0)))
    assert found["bbox_2d"] == pytest.approx([2015, 2515, 2985, 3485], rel=0.01)
    assert (
        json.loads(model.respond(asked(Kind.BOXES, Image.new("RGB", (200, 200), "white"), scale=1.0))) == []
    )


def test_a_fraction_is_read_as_latex():
    image = Image.new("RGB", (300, 140), "white")
    draw = ImageDraw.Draw(image)
    large = ImageFont.load_default(40)
    draw.text((20, 45), "R =", fill="black", font=large)
    draw.line((110, 70, 240, 70), fill="black", width=3)
    draw.text((130, 12), "a + b", fill="black", font=large)
    draw.text((150, 85), "2c", fill="black", font=large)
    assert model.respond(asked(Kind.LATEX, image)).replace(" ", "") == r"R=\frac{a+b}{2c}"


# -- keeping -----------------------------------------------------------------------------------------


def test_what_was_read_is_kept_on_disk_and_read_again(tmp_path, monkeypatch):
    image, _ = table_picture()
    first = model.respond(asked(Kind.HTML, image))
    (kept,) = tmp_path.rglob("*-text.json")
    page._page.cache_clear()
    monkeypatch.setattr(ocr, "recognise", lambda pixels: pytest.fail("read twice"))
    assert model.respond(asked(Kind.HTML, image)) == first
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for broken in ("", "[[1", '{"a": 1}', "[[1, 2]]"):
        kept.write_text(broken, encoding="utf-8")
        page._page.cache_clear()
        assert model.respond(asked(Kind.HTML, image)) == first, broken
        assert json.loads(kept.read_text(encoding="utf-8"))


def test_readings_do_not_hang_on_what_was_read_before():
    image, _ = table_picture()
    first = page.read(image).fragments
    page.read(drawn("Something else altogether", (500, 90))).fragments  # noqa: B018
    assert ocr.recognise(page.read(image).pixels) == list(first)


def test_an_unwritable_disk_costs_no_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(page.tempfile, "mkstemp", lambda **options: (_ for _ in ()).throw(OSError("full")))
    assert [one.text for one in page.read(drawn("Entry fee")).fragments] == ["Entry fee"]


def test_a_cache_folder_that_cannot_be_made_costs_no_answers(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [one.text for one in page.read(drawn("Entry fee")).fragments] == ["Entry fee"]


def test_the_engine_reports_to_nobody(monkeypatch):
    switched_off = []
    monkeypatch.setattr("onnxruntime.disable_telemetry_events", lambda: switched_off.append(True))
    ocr._engine.__wrapped__(detect=False)
    assert switched_off


# -- hostile pictures --------------------------------------------------------------------------------


def pictures():
    noise = np.random.default_rng(0).integers(0, 256, (120, 160, 3), dtype=np.uint8)
    return {
        "pixel": Image.new("RGB", (1, 1)),
        "strip": Image.new("RGB", (900, 2), "white"),
        "tower": Image.new("L", (3, 700), 0),
        "huge": Image.new("1", (3200, 2600), 1),
        "red": Image.new("RGB", (300, 300), "#c8281e"),
        "noise": Image.fromarray(noise),
        "clear": Image.new("RGBA", (60, 60), (0, 0, 0, 0)),
    }


@pytest.mark.parametrize("name", pictures())
def test_every_picture_gets_an_answer_of_every_form(name):
    image = pictures()[name]
    for kind in Kind:
        questions = (Question("What is the fee?", key="q1"),)
        reply = model.respond(Request(kind, questions, "", (image,), keys=("fee",), scale=1000.0))
        assert isinstance(reply, str)
        if kind in (Kind.BOXES, Kind.FIELDS, Kind.QUESTIONS):
            json.loads(reply)


def test_a_request_without_a_picture_gets_an_answer():
    for kind in Kind:
        assert isinstance(model.respond(asked(kind, None, Question("What?", key="q1"))), str)


def test_a_seal_without_red_is_read_from_what_is_dark():
    grey = ring_seal("ORBISTRADINGLTD").convert("L").convert("RGB")
    assert seals.read(np.asarray(grey)) == "ORBISTRADINGLTDCONTRACT"
