"""Books as pages of text: PDF, plain text and Markdown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = (".pdf", ".txt", ".md", ".markdown")

# A word broken at the end of a line; PDFium writes U+0002 for hyphen and line break together.
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])(?:[-\u00ad\u2010]\s*\n|\x02)\s*(?=[^\W\d_])")


class UnreadableBook(Exception):
    """A book that cannot be used; the text says why."""


@dataclass(frozen=True)
class Page:
    """One page; `number` counts from 1 and is None where a file has no pages."""

    number: int | None
    text: str


def books_in(folder: Path) -> list[Path]:
    """The files of a folder and its subfolders that can be books, sorted; hidden ones are passed over."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def read_pages(path: Path) -> list[Page]:
    """The pages of a book that have text.

    Raises:
        UnreadableBook: the file is damaged, protected, no text, or holds none.
    """
    try:
        found = list(_pdf_pages(path) if path.suffix.lower() == ".pdf" else _text_pages(path))
    except OSError as error:
        raise UnreadableBook(f"cannot be read ({error.strerror or error})") from error
    pages = [page for page in found if page.text]
    if not pages:
        raise UnreadableBook("holds no text (a scan without a text layer, or an empty file)")
    return pages


def _text_pages(path: Path) -> Iterator[Page]:
    content = path.read_bytes()
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableBook("is not UTF-8 text: convert it first") from error
    if "\0" in text:
        raise UnreadableBook("is not text")
    pages = text.split("\f")
    for number, page in enumerate(pages, start=1):
        yield Page(number if len(pages) > 1 else None, _clean(page))


def _pdf_pages(path: Path) -> Iterator[Page]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        reason = str(error)
        protected = "password" in reason.lower()
        why = "is protected by a password" if protected else f"is damaged or no PDF ({reason.rstrip('.')})"
        raise UnreadableBook(why) from error
    try:
        for number in range(len(document)):
            try:
                page = document[number]
                textpage = page.get_textpage()
                text = textpage.get_text_bounded()
                textpage.close()
                page.close()
            except pypdfium2.PdfiumError:
                continue  # one damaged page does not cost the book
            yield Page(number + 1, _clean(text))
    finally:
        document.close()


def _clean(text: str) -> str:
    """The text composed, words joined that a line break cut, without control and unassigned characters."""
    text = _BROKEN_WORD.sub("", unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")))
    kept = (sign if sign == "\n" or unicodedata.category(sign)[0] != "C" else " " for sign in text)
    return "".join(kept).strip()
