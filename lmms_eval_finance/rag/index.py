"""The index of a folder of books: built once, brought up to date when a book changes, searched under a budget.

``FOLDER/.rag-index`` holds ``index.json`` (what the index was made of), ``passages.jsonl`` and the
search structure: BM25 (Robertson and Zaragoza 2009, by bm25s) or the passages' embeddings.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lmms_eval_finance import settings
from lmms_eval_finance.rag.books import UnreadableBook, books_in, read_pages
from lmms_eval_finance.rag.passages import Passage, cut
from lmms_eval_finance.rag.words import check_extra, token_count
from lmms_eval_finance.settings import SettingError

if TYPE_CHECKING:
    import numpy as np

NAME = ".rag-index"
VERSION = 1
"""Goes into the hash: a change of how books are read, cut or searched raises it."""

_CANDIDATES = 50


@dataclass(frozen=True)
class Options:
    """What shapes the passages that a prompt gets; all of it stands in the index's hash.

    Attributes:
        size: most tokens of one passage.
        budget: most tokens of all passages of one prompt together.
        method: `bm25` or `dense`.
        model: folder of a sentence-transformers model, for `dense`.
    """

    size: int = 200
    budget: int = 1500
    method: str = "bm25"
    model: str = ""


class Searcher(Protocol):
    """Scores all passages for a query; higher is better, 0 or less is no match."""

    def scores(self, query: str) -> np.ndarray[Any, Any]:
        """One score for each passage."""


@dataclass(frozen=True)
class Index:
    """An index ready to be searched.

    Attributes:
        passages: all passages.
        options: what it was made with.
        hash: of everything that decides what a query finds.
        searcher: finds passages.
    """

    passages: Sequence[Passage]
    options: Options
    hash: str
    searcher: Searcher

    def search(self, queries: Sequence[str], budget: int | None = None) -> list[Passage]:
        """The passages for one prompt: the best of each query in turn, then the second best, within the budget.

        Args:
            queries: texts; what they share need not be in all of them.
            budget: in tokens, sources included; default: the index's.
        """
        left = self.options.budget if budget is None else budget
        rankings = [self._ranking(query) for query in queries]
        found: dict[int, Passage] = {}
        for rank in range(_CANDIDATES):
            for ranking in rankings:
                if rank < len(ranking) and ranking[rank] not in found:
                    passage = self.passages[ranking[rank]]
                    left -= token_count(passage.text) + token_count(passage.place)
                    if left < 0:
                        return list(found.values())
                    found[ranking[rank]] = passage
        return list(found.values())

    def _ranking(self, query: str) -> list[int]:
        import numpy as np

        scores = self.searcher.scores(query)
        best = np.argsort(-scores, kind="stable")[:_CANDIDATES]
        return [int(place) for place in best if scores[place] > 0]


@dataclass(frozen=True)
class Report:
    """What building an index did.

    Attributes:
        path: the index.
        hash: its hash.
        passages: their number.
        read, kept: books read anew and books whose passages were kept.
        skipped: book -> why it could not be used.
        changed: whether anything was written.
    """

    path: Path
    hash: str
    passages: int
    read: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    changed: bool = True


# -- building ----------------------------------------------------------------------------------------


def build(folder: Path, options: Options, on_book: Callable[[str], object] = lambda name: None) -> Report:
    """Index the books of a folder; books whose content is as before are not read again.

    Args:
        folder: of PDF, text and Markdown files, subfolders included.
        options: how to cut and search.
        on_book: called with the name of each book before it is read.

    Raises:
        SettingError: there is nothing to index, the place cannot be written, or a library or model is missing.
    """
    check_extra()
    _check(options)
    if not folder.is_dir():
        raise SettingError(f"{folder}: no such folder of books")
    books = {path.relative_to(folder).as_posix(): path for path in books_in(folder)}
    if not books:
        raise SettingError(f"{folder}: holds no PDF, text or Markdown file")
    before = _before(folder, options)
    hashes = {name: _hash_of(path) for name, path in books.items()}
    passages: list[Passage] = []
    report = Report(folder / NAME, "", 0)
    files = {}
    for name, path in books.items():
        old = before.files.get(name, {})
        if old.get("sha256") == hashes[name] and name in before.passages:
            found = before.passages[name]
            report.kept.append(name)
        elif old.get("sha256") == hashes[name] and old.get("skipped"):
            found, report.skipped[name] = [], old["skipped"]
        else:
            on_book(name)
            try:
                found = list(cut(name, read_pages(path), options.size))
                report.read.append(name)
            except UnreadableBook as error:
                found, report.skipped[name] = [], str(error)
        passages += found
        state = path.stat()
        files[name] = {"sha256": hashes[name], "size": state.st_size, "modified": state.st_mtime_ns}
        if name in report.skipped:
            files[name]["skipped"] = report.skipped[name]
    if not passages:
        why = "; ".join(f"{name} {reason}" for name, reason in report.skipped.items())
        raise SettingError(f"{folder}: none of its books can be used: {why}")
    model = _model_hash(options)
    digest = _digest(passages, options, model)
    manifest = {
        "version": VERSION,
        "hash": digest,
        "model": model,
        "options": asdict(options),
        "files": files,
        "passages": len(passages),
    }
    changed = digest != before.hash or not _searchable(folder / NAME, options)
    if changed:
        _write(folder, manifest, passages, options)
    elif manifest != before.manifest:
        with contextlib.suppress(OSError):  # new dates alone: without them books are hashed at each start
            (folder / NAME / "index.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    return Report(report.path, digest, len(passages), report.read, report.kept, report.skipped, changed)


def _check(options: Options) -> None:
    if options.method == "dense":
        if not options.model or not Path(options.model).is_dir():
            raise SettingError(
                f"--model {options.model or '(none)'}: no such folder; dense search needs a "
                "sentence-transformers model on disk (nothing is downloaded)"
            )
    elif options.model:
        raise SettingError("--model goes with --method dense")
    if not 20 <= options.size <= options.budget:
        raise SettingError("passages need 20 tokens at least and at most as many as the budget has")


def _hash_of(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return digest.hexdigest()


def _model_hash(options: Options) -> str:
    if options.method != "dense":
        return ""
    files = sorted(path for path in Path(options.model).rglob("*") if path.is_file())
    listed = "".join(f"{path.relative_to(options.model).as_posix()} {_hash_of(path)}\n" for path in files)
    return hashlib.sha256(listed.encode()).hexdigest()[:12]


def _digest(passages: Sequence[Passage], options: Options, model: str) -> str:
    digest = hashlib.sha256(f"{VERSION} {options.size} {options.budget} {options.method} {model}\n".encode())
    for passage in passages:
        digest.update(json.dumps(asdict(passage)).encode() + b"\n")
    return digest.hexdigest()[:12]


@dataclass(frozen=True)
class _Before:
    """What an earlier index offers: its manifest, and the passages of each book if they are cut alike."""

    manifest: Mapping[str, Any] = field(default_factory=dict)
    passages: Mapping[str, list[Passage]] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        return str(self.manifest.get("hash", ""))

    @property
    def files(self) -> Mapping[str, Any]:
        return dict(self.manifest.get("files", {}))


def _before(folder: Path, options: Options) -> _Before:
    try:
        manifest = _manifest(folder / NAME)
        if manifest["version"] != VERSION or manifest["options"]["size"] != options.size:
            return _Before()
        by_book: dict[str, list[Passage]] = {}
        for passage in _passages(folder / NAME):
            by_book.setdefault(passage.source, []).append(passage)
        return _Before(manifest, by_book)
    except SettingError:  # none, or a damaged one: everything is read anew
        return _Before()


def _write(folder: Path, manifest: Mapping[str, Any], passages: Sequence[Passage], options: Options) -> None:
    """Write the index beside the old one and put it in its place when it is whole."""
    scratch = None
    try:
        scratch = Path(tempfile.mkdtemp(prefix=f"{NAME}.", dir=folder))
        new = scratch / "new"
        new.mkdir()
        lines = (json.dumps(asdict(passage), ensure_ascii=False) + "\n" for passage in passages)
        with (new / "passages.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(lines)
        _save_searcher(new, passages, options)
        (new / "index.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        if (folder / NAME).exists():
            os.replace(folder / NAME, scratch / "old")
        os.replace(new, folder / NAME)
    except OSError as error:
        raise SettingError(f"{folder}: the index cannot be written there ({error})") from error
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)


def _searchable(place: Path, options: Options) -> bool:
    try:
        _searcher(place, options)
    except (OSError, ValueError, KeyError):
        return False
    return True


def _save_searcher(place: Path, passages: Sequence[Passage], options: Options) -> None:
    from lmms_eval_finance.rag import bm25, dense

    texts = [passage.text for passage in passages]
    if options.method == "bm25":
        bm25.save(place / "bm25", texts)
    else:
        dense.save(place / "embeddings.npy", texts, Path(options.model))


# -- opening -----------------------------------------------------------------------------------------


def configured() -> Index:
    """The index of the folder that ``LMMS_EVAL_FINANCE_RAG`` names, checked and opened once.

    Raises:
        SettingError: the setting is missing, or its folder has no usable, current index.
    """
    setting = settings.value("RAG")
    if setting is None:
        raise SettingError(
            "retrieval needs LMMS_EVAL_FINANCE_RAG=FOLDER, a folder of books indexed with "
            "`lmms-eval-finance rag index FOLDER`"
        )
    return _opened(setting)


@functools.lru_cache(maxsize=4)
def _opened(setting: str) -> Index:
    return open_index(Path(setting).expanduser())


def open_index(folder: Path) -> Index:
    """Open a folder's index.

    Raises:
        SettingError: there is none, it is damaged, or a book is new, gone or changed since.
    """
    check_extra()
    manifest = _manifest(folder / NAME)
    again = f"run `lmms-eval-finance rag index {folder}` again"
    if manifest["version"] != VERSION:
        raise SettingError(f"{folder}: its index is of another version of this package: {again}")
    changes = changed_books(folder, manifest["files"])
    if changes:
        listed = ", ".join(changes[:5]) + (" ..." if len(changes) > 5 else "")
        raise SettingError(f"{folder}: the index is out of date ({listed}): {again}")
    try:
        options = Options(**manifest["options"])
        _check(options)
        passages = _passages(folder / NAME)
        searcher = _searcher(folder / NAME, options)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SettingError(f"{folder}: its index is damaged ({error}): {again}") from error
    return Index(passages, options, manifest["hash"], searcher)


def _searcher(place: Path, options: Options) -> Searcher:
    from lmms_eval_finance.rag import bm25, dense

    if options.method == "bm25":
        return bm25.Bm25(place / "bm25")
    return dense.Dense(place / "embeddings.npy", Path(options.model))


def changed_books(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Names of books that are new, gone or changed since they were indexed; size and date are looked at first."""
    present = {path.relative_to(folder).as_posix(): path for path in books_in(folder)}
    changed = sorted(present.keys() ^ files.keys())
    for name in sorted(present.keys() & files.keys()):
        state, known = present[name].stat(), files[name]
        untouched = (state.st_size, state.st_mtime_ns) == (known.get("size"), known.get("modified"))
        if not untouched and _hash_of(present[name]) != known.get("sha256"):
            changed.append(name)
    return changed


def _manifest(place: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((place / "index.json").read_text(encoding="utf-8"))
        if not all(isinstance(manifest[name], kind) for name, kind in _MANIFEST.items()):
            raise ValueError("odd values")
        return dict(manifest)
    except FileNotFoundError:
        raise SettingError(
            f"{place.parent}: is not indexed: run `lmms-eval-finance rag index {place.parent}`"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingError(
            f"{place}: is damaged ({error}): run `lmms-eval-finance rag index {place.parent}` again"
        ) from error


_MANIFEST = {"version": int, "hash": str, "options": dict, "files": dict}


def _passages(place: Path) -> list[Passage]:
    try:
        with (place / "passages.jsonl").open(encoding="utf-8") as lines:
            return [Passage(**json.loads(line)) for line in lines]
    except (OSError, ValueError, TypeError) as error:
        raise SettingError(
            f"{place}: is damaged ({error}): run `lmms-eval-finance rag index {place.parent}` again"
        ) from error
