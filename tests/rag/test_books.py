"""Books of every kind that can be read, and of every kind that cannot."""

from __future__ import annotations

import contextlib

import pytest

from lmms_eval_finance.rag.books import Page, UnreadableBook, books_in, read_pages


def test_a_pdf_is_read_page_by_page(make_pdf, tmp_path):
    file = make_pdf(
        tmp_path / "book.pdf",
        [["The current yield of a bond is its coupon", "divided by its price."], [], ["Échéance à 5 ans"]],
    )
    pages = read_pages(file)
    assert [page.number for page in pages] == [1, 3]
    assert (
        " ".join(pages[0].text.split()) == "The current yield of a bond is its coupon divided by its price."
    )
    assert pages[1].text == "Échéance à 5 ans"


def test_words_cut_at_the_end_of_a_line_are_joined(make_pdf, tmp_path):
    pages = read_pages(make_pdf(tmp_path / "book.pdf", [["the amorti-", "zation of a loan"]]))
    assert "amortization of a loan" in " ".join(pages[0].text.split())
    text = tmp_path / "book.txt"
    text.write_text("the amorti-\nzation; a long-\n  term bond; 5 -\n3", encoding="utf-8")
    assert read_pages(text)[0].text == "the amortization; a longterm bond; 5 -\n3"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_in_unicode(tmp_path, encoding):
    file = tmp_path / "book.md"
    file.write_bytes("# 净现值\r\nÉchéance\x07".encode(encoding))
    assert read_pages(file) == [Page(None, "# 净现值\nÉchéance")]


def test_form_feeds_are_pages(tmp_path):
    file = tmp_path / "book.txt"
    file.write_text("one\ftwo\f\f four ", encoding="utf-8")
    assert read_pages(file) == [Page(1, "one"), Page(2, "two"), Page(4, "four")]


def truncated(content):
    return content[: len(content) // 3]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.pdf", b"", "damaged"),
        ("a.pdf", b"%PDF-1.7\n garbage", "damaged"),
        ("a.pdf", bytes(range(256)) * 20, "damaged"),
        ("a.pdf", b"<html>not a PDF</html>", "damaged"),
        ("a.txt", b"", "no text"),
        ("a.txt", b" \n\t ", "no text"),
        ("a.txt", "Échéance".encode("latin-1"), "UTF-8"),
        ("a.txt", b"a\0b", "not text"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, name, content, why):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(UnreadableBook, match=why):
        read_pages(file)


def test_a_pdf_without_text_is_said(make_pdf, tmp_path):
    with pytest.raises(UnreadableBook, match="scan"):
        read_pages(make_pdf(tmp_path / "scan.pdf", [[], []]))


def test_a_damaged_pdf_never_breaks_out(make_pdf, tmp_path):
    whole = make_pdf(tmp_path / "whole.pdf", [["text"] * 5] * 3).read_bytes()
    for cut in range(0, len(whole), 97):
        file = tmp_path / "cut.pdf"
        file.write_bytes(whole[:cut] + b"\xff" * 9 + whole[cut + 60 :])
        with contextlib.suppress(UnreadableBook):
            assert read_pages(file)


def test_books_are_found_in_subfolders_and_hidden_ones_are_not(tmp_path):
    for name in (
        "b.PDF",
        "sub/a.md",
        "c.docx",
        ".hidden/d.txt",
        ".e.txt",
        "sub/.rag-index/passages.txt",
        "z.txt",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("x")
    assert [path.relative_to(tmp_path).as_posix() for path in books_in(tmp_path)] == [
        "b.PDF",
        "sub/a.md",
        "z.txt",
    ]
