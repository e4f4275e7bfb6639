"""Where a task's rows come from: the hub, a local folder or the packaged sample.

``LMMS_EVAL_FINANCE_DATA`` decides:

- unset: the benchmark's hub data set at its default revision (``hub@REVISION`` pins another);
- a folder: one subfolder per benchmark, each split a JSONL file with images beside it or parquet;
- ``sample``: the packaged sample.

`locate` settles this once per benchmark and split, validates the rows, and hands
the host a ``dataset_path`` and ``dataset_kwargs`` for the same YAML in all cases.
"""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_eval_finance import settings

# Named here too: whoever asks for rows gets these errors.
from lmms_eval_finance.data.jsonl import DataError as DataError
from lmms_eval_finance.data.jsonl import read_jsonl as read_jsonl
from lmms_eval_finance.data.row_hash import canonical, row_hash
from lmms_eval_finance.data.schemas import Benchmark, Column, Fault, Schema, benchmark

if TYPE_CHECKING:
    import datasets

SAMPLE = Path(__file__).parent / "sample"
_BATCH = 1000


@dataclass(frozen=True)
class Source:
    """Where the rows of one split are.

    Attributes:
        kind: `hub`, `folder` or `sample`.
        location: hub id or folder.
        revision: the hub revision's commit hash; empty for local data.
        rows_hash: SHA-256 over the rows in canonical JSON, images left out; first 12 digits.
        count: number of rows.
        path, kwargs: what `datasets.load_dataset` takes (`path` and further arguments).
    """

    benchmark: str
    split: str
    kind: str
    location: str
    revision: str
    rows_hash: str
    count: int
    path: str
    kwargs: Mapping[str, Any]

    @property
    def fingerprint(self) -> str:
        """The part that decides whether two scores are on the same data.

        It is the hash of the rows: the same rows from the hub, a folder or another
        machine compare.
        """
        return f"{self.benchmark}/{self.split}@{self.rows_hash}"

    def provenance(self) -> dict[str, Any]:
        """Plain JSON for result files; machine paths are left out."""
        return {
            "benchmark": self.benchmark,
            "split": self.split,
            "kind": self.kind,
            "location": self.location if self.kind == "hub" else "",
            "revision": self.revision,
            "rows_hash": self.rows_hash,
            "rows": self.count,
        }

    def load(self) -> datasets.Dataset:
        """The rows as a data set, images undecoded until read."""
        import datasets

        return datasets.load_dataset(self.path, **self.kwargs)[self.split]


def locate(name: str, split: str) -> Source:
    """Find and validate the rows of one split as the settings say.

    Raises:
        DataError: the data cannot be reached or have faults of schema; the message says what to do.
        KeyError: there is no such benchmark or split.
    """
    return _locate(name, split, settings.value("DATA"))


@functools.lru_cache(maxsize=64)
def _locate(name: str, split: str, setting: str | None) -> Source:
    about = benchmark(name)
    if split not in about.splits:
        raise KeyError(f"{about.title} has no split {split!r}; it has {', '.join(about.splits)}")
    if setting is None or setting == "hub" or setting.startswith("hub@"):
        revision = (setting or "").partition("@")[2] or None
        return _on_hub(about, split, revision)
    if setting == "sample":
        return _in_folder(about, split, "sample", SAMPLE / name)
    root = Path(setting).expanduser()
    if not root.is_dir():
        raise DataError(
            f"LMMS_EVAL_FINANCE_DATA={setting}: no such folder (use a folder, `sample`, `hub` or `hub@REVISION`)"
        )
    if not (root / name).is_dir():
        raise DataError(
            f"LMMS_EVAL_FINANCE_DATA={setting}: it has no subfolder {name!r} for {about.title}; {about.how_to_get}"
        )
    return _in_folder(about, split, "folder", root / name)


# -- local files --------------------------------------------------------------------------------


def split_files(folder: Path, split: str) -> list[Path]:
    """The files of a split: ``SPLIT.jsonl``, or parquet in the layouts that hub downloads have."""
    jsonl = folder / f"{split}.jsonl"
    if jsonl.is_file():
        return [jsonl]
    for pattern in (
        f"{split}.parquet",
        f"{split}-*.parquet",
        f"{split}/*.parquet",
        f"data/{split}-*.parquet",
    ):
        found = sorted(folder.glob(pattern))
        if found:
            return found
    return []


def _in_folder(about: Benchmark, split: str, kind: str, folder: Path) -> Source:
    schema = about.splits[split]
    files = split_files(folder, split)
    if not files:
        raise DataError(
            f"{folder}: no rows for the split {split!r} of {about.title} (looked for {split}.jsonl and "
            f"{split}*.parquet); {about.how_to_get}"
        )
    if files[0].suffix == ".jsonl":
        rows = list(read_jsonl(files[0]))
        faults = schema.faults(rows, str(files[0])) or _unusable_images(schema, rows, files[0])
        _refuse(faults, about)
        rows_hash = row_hash(rows, schema)
        files = [_as_parquet(rows, schema, folder, f"{about.name}-{split}-{rows_hash}")]
        count = len(rows)
    else:
        rows_hash, count = _check_parquet(about, schema, files)
    if not count:
        raise DataError(f"{folder}: the split {split!r} of {about.title} has no rows")
    return Source(
        benchmark=about.name,
        split=split,
        kind=kind,
        location=str(folder),
        revision="",
        rows_hash=rows_hash,
        count=count,
        path="parquet",
        kwargs={"data_files": {split: [str(file) for file in files]}},
    )


def _unusable_images(schema: Schema, rows: list[dict[str, Any]], file: Path) -> list[Fault]:
    faults = []
    for number, row in enumerate(rows, start=1):
        for column in schema.media:
            value = row.get(column)
            for name in [value] if isinstance(value, str) else value or []:
                if not (file.parent / name).is_file():
                    faults.append(Fault(str(file), number, column, f"there is no file {name}"))
                elif not (file.parent / name).resolve().is_relative_to(file.parent.resolve()):
                    faults.append(Fault(str(file), number, column, f"{name} lies outside the folder"))
                elif problem := _image_problem(file.parent / name):
                    faults.append(Fault(str(file), number, column, f"{name} {problem}"))
        if len(faults) >= 20:
            break
    return faults


def _image_problem(file: Path) -> str:
    """Why a file's header is not that of an image, '' where it is; the picture itself is not decoded."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(file):
            return ""
    except UnidentifiedImageError:
        return "is no image that can be read"
    except Image.DecompressionBombError as error:
        return f"is too large ({error})"
    except (OSError, ValueError, SyntaxError) as error:
        return f"cannot be read ({error})"


def _refuse(faults: list[Fault], about: Benchmark) -> None:
    if faults:
        listed = "\n  ".join(map(str, faults))
        raise DataError(
            f"{about.title}: the rows do not fit the schema; the first {len(faults)} faults:\n  {listed}\n"
            f"`lmms-eval-finance data check {about.name}` checks again without loading a model"
        )


def _as_parquet(rows: list[dict[str, Any]], schema: Schema, folder: Path, name: str) -> Path:
    """Write validated rows as parquet with exact types into the cache; images stay where they are.

    Reading JSON is left to this module because the host's reader guesses types, hides the
    faulty line and retries on errors.
    """
    import datasets
    import pyarrow.parquet

    place = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:8]
    images = "".join(f"{row.get(column)}" for row in rows for column in schema.media)
    files = hashlib.sha256(images.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    target = cache_folder() / f"{name}-{files}-{place}.parquet"
    if target.is_file():
        return target
    columns = [column for column in schema.columns if any(column.name in row for row in rows)]
    features = datasets.Features({column.name: _feature(column) for column in columns})
    table = {
        column.name: [_stored(row.get(column.name), column, folder) for row in rows] for column in columns
    }
    arrow = pyarrow.table(
        {
            column: pyarrow.array(values, type=features.arrow_schema.field(column).type)
            for column, values in table.items()
        },
        schema=features.arrow_schema,
    )
    # Several processes may do this at once: each writes its own file, the last rename wins.
    try:
        handle, scratch = tempfile.mkstemp(dir=target.parent, suffix=".tmp")
        os.close(handle)
        pyarrow.parquet.write_table(arrow, scratch)
        os.replace(scratch, target)
    except OSError as error:
        raise _unwritable(target.parent, error) from error
    return target


def _feature(column: Column) -> Any:
    import datasets

    text = datasets.Value("string")
    return {
        "text": text,
        "integer": datasets.Value("int64"),
        "number": datasets.Value("float64"),
        "texts": datasets.Sequence(text),
        # Nested values keep their own types as JSON text; tasks read them with `json.loads`.
        "options": text,
        "choices": text,
        "boxes": text,
        "object": text,
        "image": datasets.Image(),
        "images": datasets.Sequence(datasets.Image()),
    }[column.kind]


def _stored(value: Any, column: Column, folder: Path) -> Any:
    def image(name: str) -> dict[str, Any]:
        return {"bytes": None, "path": str((folder / name).resolve())}

    if value is None:
        return None
    if column.kind == "integer":
        return int(str(value))
    if column.kind == "number":
        return float(value)
    if column.is_nested and column.kind != "texts":
        return canonical(value, column)
    if column.kind == "image":
        return image(value)
    if column.kind == "images":
        return [image(name) for name in value]
    return value


def cache_folder() -> Path:
    """The folder for derived files; ``XDG_CACHE_HOME`` moves it. It can be deleted at any time.

    Raises:
        DataError: it cannot be made.
    """
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "lmms-eval-finance"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return folder


def _unwritable(folder: Path, error: OSError) -> DataError:
    return DataError(f"{folder}: cannot be written ({error}); XDG_CACHE_HOME=/another/folder moves it")


def _check_parquet(about: Benchmark, schema: Schema, files: list[Path]) -> tuple[str, int]:
    """Validate parquet files without reading image columns; (hash of the rows, their number)."""
    import pyarrow
    import pyarrow.parquet

    try:
        opened = [pyarrow.parquet.ParquetFile(file) for file in files]
    except (OSError, pyarrow.ArrowException) as error:
        raise DataError(f"{files[0].parent}: not readable as parquet ({error})") from error
    for file, parquet in zip(files, opened, strict=True):
        missing = schema.missing(parquet.schema_arrow.names)
        _refuse([Fault(str(file), None, column, "is missing") for column in missing], about)

    def rows() -> Iterator[dict[str, Any]]:
        for parquet in opened:
            names = [
                column.name
                for column in schema.columns
                if not column.is_media and column.name in parquet.schema_arrow.names
            ]
            for batch in parquet.iter_batches(batch_size=_BATCH, columns=names):
                yield from batch.to_pylist()

    texts = list(rows())
    _refuse(schema.faults(texts, str(files[0]), skip_media=True), about)
    return row_hash(texts, schema), len(texts)


# -- the hub ------------------------------------------------------------------------------------


def _on_hub(about: Benchmark, split: str, revision: str | None) -> Source:
    schema = about.splits[split]
    if about.hub is None:
        raise DataError(
            f"{about.title} has no copy on the hub; {about.how_to_get}. "
            f"To try the packaged sample: LMMS_EVAL_FINANCE_DATA=sample"
        )
    commit = _hub_commit(about, revision)
    import datasets

    kwargs = {"revision": commit}
    try:
        splits = datasets.load_dataset(about.hub, **kwargs)
    except (
        Exception
    ) as error:  # many libraries take part in a download; every failure is the same to the user
        raise _unreachable(about, error) from error
    if split not in splits:
        raise DataError(
            f"{about.title}: {about.hub} has no split {split!r} at revision {commit[:12]}, only "
            f"{', '.join(map(str, splits))}; {about.how_to_get}"
        )
    rows = splits[split]
    missing = schema.missing(rows.column_names)
    source = f"{about.hub}@{commit[:12]}/{split}"
    _refuse([Fault(source, None, column, "is missing") for column in missing], about)
    texts = rows.remove_columns([name for name in schema.media if name in rows.column_names])
    _refuse(schema.faults(texts, source, skip_media=True), about)
    return Source(
        benchmark=about.name,
        split=split,
        kind="hub",
        location=about.hub,
        revision=commit,
        rows_hash=row_hash(texts, schema),
        count=len(rows),
        path=about.hub,
        kwargs=kwargs,
    )


def _hub_commit(about: Benchmark, revision: str | None) -> str:
    """The commit hash behind a revision: asked from the hub, else read from its local cache."""
    import huggingface_hub
    from huggingface_hub.constants import HF_HUB_CACHE

    assert about.hub is not None
    try:
        found = huggingface_hub.HfApi().dataset_info(about.hub, revision=revision, timeout=10).sha
        return str(found)
    except Exception as error:  # offline, blocked, unknown revision: the cache may still have it
        cached = Path(HF_HUB_CACHE) / f"datasets--{about.hub.replace('/', '--')}"
        reference = cached / "refs" / (revision or "main")
        if reference.is_file():
            return reference.read_text(encoding="utf-8").strip()
        if revision and (cached / "snapshots" / revision).is_dir():
            return revision
        raise _unreachable(about, error) from error


def _unreachable(about: Benchmark, error: Exception) -> DataError:
    return DataError(
        f"{about.title}: the hub data set {about.hub} cannot be reached ({type(error).__name__}) and is not in the "
        f"local cache. With network access: unset HF_HUB_OFFLINE and run again, or `lmms-eval-finance data fetch "
        f"{about.name}`. With a copy on disk: LMMS_EVAL_FINANCE_DATA=/folder that has a subfolder {about.name}/. "
        f"To try the packaged sample: LMMS_EVAL_FINANCE_DATA=sample"
    )
