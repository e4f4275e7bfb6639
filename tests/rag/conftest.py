"""A maker of small PDF files."""

from __future__ import annotations

import pytest


def _pdf(pages):
    """A PDF with a line of text for each text of each page, in Helvetica with WinAnsi encoding."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects.append(font)
    kids = []
    for lines in pages:
        drawn = "".join(
            f"1 0 0 1 40 {780 - 16 * number} Tm ({line.replace(chr(92), '').replace('(', '[').replace(')', ']')}) Tj\n"
            for number, line in enumerate(lines)
        )
        stream = f"BT /F1 11 Tf\n{drawn}ET"
        objects.append(f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    content = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(content))
        content += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    start = len(content)
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    content += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    return (
        content + f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    )


@pytest.fixture(scope="session")
def make_pdf():
    """make_pdf(path, pages) -> path; each page is a list of lines."""

    def make(path, pages):
        path.write_bytes(_pdf(pages))
        return path

    return make
