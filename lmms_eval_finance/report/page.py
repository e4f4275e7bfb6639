"""The report: one page that stands alone, and every table as Markdown and CSV beside it.

The page needs no network and runs from disk. Its content security policy allows its own script and
style by their hashes and pictures from within the page, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from string import Template

from lmms_eval_finance import __version__
from lmms_eval_finance.data.schemas import benchmark
from lmms_eval_finance.report import plots
from lmms_eval_finance.report.items import Items, scripts
from lmms_eval_finance.report.table import Table, in_markdown
from lmms_eval_finance.settings import SettingError


@dataclass(frozen=True)
class Report:
    """What a report shows.

    Attributes:
        title, about: the heading and a line below it.
        overview: tables at the top.
        benchmarks: benchmark -> its tables.
        details: tables at the end, folded away: every figure, signatures.
        items: for the browser.
        manifests: name -> what is needed to repeat a run, as text.
    """

    title: str
    about: str
    overview: Sequence[Table]
    benchmarks: Mapping[str, Sequence[Table]]
    details: Sequence[Table]
    items: Items
    manifests: Mapping[str, str]

    def tables(self) -> list[Table]:
        """All tables."""
        return [
            *self.overview,
            *(table for found in self.benchmarks.values() for table in found),
            *self.details,
        ]


def write(report: Report, folder: Path) -> Path:
    """Write the report into a folder and return its page.

    Raises:
        SettingError: the folder cannot be written, or holds something else.
    """
    page = folder / "index.html"
    try:
        if folder.exists() and any(folder.iterdir()) and not page.is_file():
            raise SettingError(f"{folder}: holds other files; choose an empty or new folder")
        (folder / "tables").mkdir(parents=True, exist_ok=True)
        for old in (folder / "tables").glob("*.csv"):
            old.unlink()
        for name, table in _named(report.tables()).items():
            (folder / "tables" / f"{name}.csv").write_text(table.to_csv(), encoding="utf-8", errors="replace")
        text = _encodable(to_markdown(report))
        (folder / "report.md").write_text(text, encoding="utf-8")
        with page.open("w", encoding="utf-8", errors="replace") as file:
            file.writelines(to_html(report))
    except OSError as error:
        raise SettingError(f"{folder}: cannot be written ({error.strerror or error})") from error
    return page


def _named(tables: Sequence[Table]) -> dict[str, Table]:
    """The tables by names of files, each name once."""
    found: dict[str, Table] = {}
    for table in tables:
        name = table.name[:120] or "table"
        number = 2
        while name in found:
            name, number = f"{table.name[:120]}_{number}", number + 1
        found[name] = table
    return found


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def to_markdown(report: Report) -> str:
    """All tables as one Markdown text."""
    parts = [f"# {in_markdown(report.title)}", in_markdown(report.about)]
    parts += [table.to_markdown() for table in report.overview]
    for name, tables in report.benchmarks.items():
        parts += [f"## {benchmark(name).title}", *(table.to_markdown() for table in tables)]
    parts += ["## Details", *(table.to_markdown() for table in report.details)]
    return "\n\n".join(parts) + "\n"


# -- the page ----------------------------------------------------------------------------------------


def to_html(report: Report) -> Iterator[str]:
    """The page in pieces."""
    style, script = _packaged("report.css"), _packaged("report.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    sections = [_section("overview", "Overview", report.overview, drawn=True)]
    sections += [
        _section(name, benchmark(name).title, tables, drawn=True)
        for name, tables in report.benchmarks.items()
    ]
    names = {"overview": "Overview", **{name: benchmark(name).title for name in report.benchmarks}}
    links = {**names, "items": "Items", "details": "Details"}
    filled = Template(_packaged("report.html")).substitute(
        policy=escape(policy),
        title=escape(_clean(report.title)),
        style=style,
        about=escape(_clean(report.about)),
        navigation="".join(f'<a href="#{name}">{escape(text)}</a>' for name, text in links.items()),
        sections="\n".join(sections) + _picture_note(report.items),
        end=_details(report),
        data="\0",
        script=script,
    )
    before, _, after = filled.partition("\0")
    yield before
    yield from scripts(report.items)
    yield after


def _packaged(name: str) -> str:
    return resources.files("lmms_eval_finance.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _section(name: str, title: str, tables: Sequence[Table], *, drawn: bool) -> str:
    inner = "\n".join(_with_plots(table) if drawn else table.to_html() for table in tables)
    return f'<section id="{name}" aria-labelledby="{name}-heading"><h2 id="{name}-heading">{escape(title)}</h2>{_clean(inner)}</section>'


def _with_plots(table: Table) -> str:
    drawings = "".join(plots.plots(table)) if plots.available() else ""
    return table.to_html(f'<div class="plots">{drawings}</div>' if drawings else "")


def _picture_note(items: Items) -> str:
    notes = [f"Pictures of {data or 'items without data'}: {why}." for data, why in items.missing.items()]
    if items.left_out:
        notes.append(
            f"Pictures of {items.left_out:,} items are left out to keep the page small (--images takes megabytes)."
        )
    if not plots.available():
        notes.append("There are no plots: they need matplotlib (pip install 'lmms-eval-finance[report]').")
    return "".join(f'<p class="quiet">{escape(_clean(note))}</p>' for note in notes)


def _details(report: Report) -> str:
    tables = "\n".join(table.to_html() for table in report.details)
    manifests = "".join(
        f"<details><summary>Manifest: {escape(name)}</summary>"
        f'<pre tabindex="0" role="group" aria-label="Manifest: {escape(name)}">{escape(text)}</pre></details>'
        for name, text in report.manifests.items()
    )
    return (
        '<section id="details" aria-labelledby="details-heading"><h2 id="details-heading">Details</h2>'
        f"<details><summary>Every figure, and the signatures</summary>{_clean(tables)}</details>{_clean(manifests)}"
        f'<p class="quiet">Written by lmms-eval-finance {escape(__version__)}.</p></section>'
    )


_CONTROL = re.compile("[\0-\b\v\f\x0e-\x1f\x7f]")


def _clean(text: str) -> str:
    """The text without control characters, which HTML does not allow and one of which parts the page here."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
