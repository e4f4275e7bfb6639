from __future__ import annotations

import errno
import io
import json
import shutil
import struct
import zlib

import datasets
import pytest
from PIL import Image

from lmms_eval_finance.cli import main
from lmms_eval_finance.data import sources
from lmms_eval_finance.data.schemas import BENCHMARKS, MAX_FAULTS, Column, Schema, benchmark
from lmms_eval_finance.tasks import yaml_names

GOOD = {
    "id": 1,
    "image": "images/a.png",
    "question_text": "How much?",
    "question_type": "single_choice",
    "options": "A: 1\nB: 2",
    "answer": "A",
    "unit": None,
    "tolerance": None,
    "verified_caption": None,
    "related_sentences": None,
    "knowledge_domain": "Energy",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A local data folder whose rows a test writes with `write`."""
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "finmme" / "images").mkdir(parents=True)
    Image.new("RGB", (40, 30), "red").save(tmp_path / "finmme" / "images" / "a.png")
    sources._locate.cache_clear()
    yield tmp_path / "finmme"
    sources._locate.cache_clear()


def write(folder, *rows):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / "train.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _header_of_png(width, height):
    """A PNG of which only the size is there."""
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", b""))
    parts = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    ]
    return b"".join([b"\x89PNG\r\n\x1a\n", *parts])


def test_a_folder_of_jsonl_and_images(folder):
    write(folder, GOOD, {**GOOD, "id": 2})
    source = sources.locate("finmme", "train")
    rows = source.load()
    assert (source.kind, source.count, len(rows)) == ("folder", 2, 2)
    assert rows[0]["image"].size == (40, 30)
    assert rows[1]["options"] == GOOD["options"]
    assert rows[0]["unit"] is None


def test_parquet_of_the_same_rows_has_the_same_fingerprint(folder):
    write(folder, GOOD, {**GOOD, "id": 2, "tolerance": 0.5, "unit": "%"})
    from_jsonl = sources.locate("finmme", "train")
    rows = from_jsonl.load()
    (folder / "train.jsonl").unlink()
    rows.to_parquet(str(folder / "train-00000-of-00001.parquet"))
    sources._locate.cache_clear()
    from_parquet = sources.locate("finmme", "train")
    assert from_parquet.fingerprint == from_jsonl.fingerprint
    assert from_parquet.load()[1]["image"].size == (40, 30)


def test_changed_content_changes_the_fingerprint(folder):
    write(folder, GOOD)
    before = sources.locate("finmme", "train").fingerprint
    write(folder, {**GOOD, "answer": "B"})
    sources._locate.cache_clear()
    assert sources.locate("finmme", "train").fingerprint != before


@pytest.mark.parametrize(
    ("rows", "messages"),
    [
        ([{k: v for k, v in GOOD.items() if k != "answer"}], ["row 1, column answer: is missing"]),
        ([GOOD, {**GOOD, "id": "x"}], ["row 2, column id: is 'x', not a whole number"]),
        ([GOOD, {**GOOD, "id": None}], ["row 2, column id: is empty"]),
        ([GOOD, GOOD], ["row 2, column id: repeats the id of row 1 (1)"]),
        ([{**GOOD, "tolerance": "wide"}], ["column tolerance: is 'wide', not a number"]),
        ([{**GOOD, "options": ["A", "B"]}], ["column options: is ['A', 'B'], not text"]),
        ([{**GOOD, "image": "images/b.png"}], ["column image: there is no file images/b.png"]),
        ([{**GOOD, "image": 3}], ["column image: is 3, not an image"]),
        ([GOOD, "{broken"], ["line 2: not JSON"]),
        ([GOOD, "[1]"], ["line 2: not a JSON object"]),
        (
            [{**GOOD, "id": "x", "question_text": None}, {**GOOD, "answer": 5}],
            [
                "row 1, column id",
                "row 1, column question_text: is empty",
                "row 2, column answer: is 5, not text",
            ],
        ),
        ([], ["has no rows"]),
    ],
)
def test_each_fault_of_schema_names_file_row_and_column(folder, rows, messages):
    write(folder, *rows)
    with pytest.raises(sources.DataError) as caught:
        sources.locate("finmme", "train")
    for message in messages:
        assert message in str(caught.value)
    assert "finmme" in str(caught.value)


def test_the_first_twenty_faults_come_together(folder):
    write(folder, *({**GOOD, "id": f"x{number}"} for number in range(100)))
    with pytest.raises(sources.DataError) as caught:
        sources.locate("finmme", "train")
    assert str(caught.value).count("not a whole number") == MAX_FAULTS


@pytest.mark.parametrize("cache", ["file", "file/below"])
def test_a_cache_that_cannot_be_written_is_named_with_what_moves_it(folder, tmp_path, monkeypatch, cache):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / cache))
    write(folder, GOOD)
    with pytest.raises(sources.DataError, match=r"cannot be written .*XDG_CACHE_HOME"):
        sources.locate("finmme", "train")


def test_a_full_disk_is_named_with_what_moves_the_cache(folder, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    write(folder, GOOD)
    with pytest.raises(sources.DataError, match=r"No space left on device.*XDG_CACHE_HOME"):
        sources.locate("finmme", "train")


def test_an_image_outside_the_folder_is_refused(folder):
    (folder.parent / "secret.png").write_bytes((folder / "images" / "a.png").read_bytes())
    write(folder, {**GOOD, "image": "../secret.png"})
    with pytest.raises(sources.DataError, match="outside the folder"):
        sources.locate("finmme", "train")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not an image", "images/b.png is no image that can be read"),
        (b"", "images/b.png is no image that can be read"),
        (_header_of_png(30_000, 30_000), "images/b.png is too large"),
    ],
    ids=["text", "empty", "huge"],
)
def test_a_file_that_is_no_image_is_found_before_the_run(folder, content, message):
    (folder / "images" / "b.png").write_bytes(content)
    write(folder, GOOD, {**GOOD, "id": 2, "image": "images/b.png"})
    with pytest.raises(sources.DataError, match="row 2, column image: " + message):
        sources.locate("finmme", "train")


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_split_is_the_same_from_parquet(name, tmp_path, monkeypatch):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    (tmp_path / name).mkdir()
    splits = benchmark(name).splits
    found = {split: sources.locate(name, split) for split in splits}
    for split, source in found.items():
        source.load().to_parquet(tmp_path / name / f"{split}.parquet")
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", str(tmp_path))
    for split, source in found.items():
        assert sources.locate(name, split).fingerprint == source.fingerprint


def test_parquet_without_a_column(folder):
    datasets.Dataset.from_list([{"id": 1}]).to_parquet(str(folder / "train.parquet"))
    with pytest.raises(sources.DataError, match="column image: is missing"):
        sources.locate("finmme", "train")


def test_parquet_that_is_none(folder):
    (folder / "train.parquet").write_bytes(b"not parquet at all")
    with pytest.raises(sources.DataError, match="not readable as parquet"):
        sources.locate("finmme", "train")


def test_a_folder_without_rows_or_without_the_benchmark(folder, monkeypatch):
    with pytest.raises(sources.DataError, match=r"looked for train\.jsonl"):
        sources.locate("finmme", "train")
    shutil.rmtree(folder)
    sources._locate.cache_clear()
    with pytest.raises(sources.DataError, match="no subfolder 'finmme'"):
        sources.locate("finmme", "train")
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", str(folder / "nowhere"))
    with pytest.raises(sources.DataError, match="no such folder"):
        sources.locate("finmme", "train")


def test_an_unreachable_hub_is_an_error_that_says_what_helps(monkeypatch, tmp_path):
    monkeypatch.delenv("LMMS_EVAL_FINANCE_DATA", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    sources._locate.cache_clear()
    with pytest.raises(sources.DataError) as caught:
        sources.locate("finmme", "train")
    for help_text in ("luojunyu/FinMME", "data fetch finmme", "LMMS_EVAL_FINANCE_DATA=sample"):
        assert help_text in str(caught.value)


def test_a_split_that_a_revision_lacks_is_named_and_the_others_are_fetched(monkeypatch, capsys):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    splits = {name: sources.locate("famma", name).load() for name in ("release_basic", "release_livepro")}
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "hub@abc")
    monkeypatch.setattr(sources, "_hub_commit", lambda about, revision: "abc")
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: splits)
    with pytest.raises(
        sources.DataError, match=r"no split 'test' at revision abc, only release_basic, release_livepro"
    ):
        sources.locate("famma", "test")
    assert main(["data", "fetch", "famma"]) == 1
    said = capsys.readouterr()
    assert "release_basic: 19 rows" in said.out
    assert "parquet files" in said.err


def test_yaml_names_turn_a_fault_into_one_message(monkeypatch):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "/nowhere/at/all")
    with pytest.raises(SystemExit, match="no such folder"):
        _ = yaml_names.path__finmme__train
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    assert yaml_names.path__finmme__train == "parquet"
    assert yaml_names.kwargs__finmme__train["data_files"].keys() == {"train"}
    assert yaml_names.source__finmme__train["kind"] == "sample"
    assert "/" not in yaml_names.source__finmme__train["location"]
    with pytest.raises(AttributeError):
        _ = yaml_names.something_else


def test_reading_does_not_decode_images(folder, monkeypatch):
    write(folder, *({**GOOD, "id": number} for number in range(50)))
    decoded = []
    original = datasets.Image.decode_example
    monkeypatch.setattr(
        datasets.Image,
        "decode_example",
        lambda *args, **kwargs: decoded.append(1) or original(*args, **kwargs),
    )
    rows = sources.locate("finmme", "train").load()
    assert decoded == []
    _ = rows[7]["image"]
    assert len(decoded) == 1


def test_nested_and_many_image_columns(tmp_path):
    schema = Schema(
        [Column("id", "text"), Column("images", "images"), Column("boxes", "boxes"), Column("keys", "texts")]
    )
    Image.new("L", (3, 3)).save(tmp_path / "x.png")
    rows = [
        {
            "id": "1",
            "images": ["x.png", "x.png"],
            "boxes": [{"bbox": [0, 0, 1, 1], "label": "company"}],
            "keys": ["a"],
        },
        {"id": "2", "images": [], "boxes": None, "keys": None},
    ]
    assert schema.faults(rows, "f") == []
    path = sources._as_parquet(rows, schema, tmp_path, "test-nested")
    loaded = datasets.load_dataset("parquet", data_files={"t": [str(path)]}, cache_dir=str(tmp_path / "c"))[
        "t"
    ]
    assert [image.size for image in loaded[0]["images"]] == [(3, 3), (3, 3)]
    assert json.loads(loaded[0]["boxes"]) == rows[0]["boxes"]
    assert "not a list of {bbox" in str(schema.faults([{**rows[0], "boxes": [{"bbox": [1]}]}], "f")[0])


class TestCommand:
    def test_check_lists_faults_of_content_apart(self, folder, capsys):
        write(folder, GOOD, {**GOOD, "id": 2, "answer": None}, {**GOOD, "id": 3, "question_type": "essay"})
        assert main(["data", "check", "finmme"]) == 0
        out = capsys.readouterr().out
        assert "train: 3 rows" in out
        assert "faults of content (scored as released): 2" in out
        assert "(id 2)" in out

    def test_check_of_a_broken_set_exits_with_1(self, folder, capsys):
        write(folder, {**GOOD, "id": "x"})
        assert main(["data", "check", "finmme"]) == 1
        assert "not a whole number" in capsys.readouterr().out

    def test_check_of_an_unknown_split(self, folder, capsys):
        assert main(["data", "check", "finmme", "--split", "dev"]) == 2
        assert "no split 'dev'" in capsys.readouterr().err


def test_every_packaged_sample_fits_its_schema(monkeypatch):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    found = [name for name in BENCHMARKS if (sources.SAMPLE / name).is_dir()]
    assert "finmme" in found
    for name in found:
        assert main(["data", "check", name]) == 0


def test_images_of_every_kind_open(monkeypatch):
    from lmms_eval_finance.data.images import to_rgb

    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    sizes = set()
    for row in sources.locate("finmme", "train").load():
        image = to_rgb(row["image"])
        assert image.mode == "RGB"
        assert min(image.size) >= 28
        image.save(io.BytesIO(), "PNG")
        sizes.add(image.size)
    assert (8000, 40) in sizes
    assert (28, 28) in sizes
