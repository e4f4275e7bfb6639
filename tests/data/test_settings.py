from __future__ import annotations

import json

import datasets
import numpy as np
import pytest
from PIL import Image

from lmms_eval_finance.data import errata, images, selection
from lmms_eval_finance.settings import SettingError, flag

FIX = {
    "benchmark": "mfe",
    "task": "chart",
    "id": "7",
    "released": "0.05",
    "corrected": "5 %",
    "evidence": "5,00 %",
    "date": "2026-11-29",
}


class TestErrata:
    @pytest.fixture
    def file(self, tmp_path, monkeypatch):
        path = tmp_path / "fixes.jsonl"
        monkeypatch.setenv("LMMS_EVAL_FINANCE_ERRATA", str(path))
        errata._read.cache_clear()
        return path

    def test_off_by_default(self, monkeypatch):
        monkeypatch.delenv("LMMS_EVAL_FINANCE_ERRATA", raising=False)
        assert errata.load("mfe") == errata.Errata()

    def test_a_file_of_ones_own_serves_its_benchmark_only(self, file):
        file.write_text(json.dumps(FIX) + "\n")
        assert errata.load("mfe").gold("chart", "7", "0.05") == "5 %"
        assert errata.load("famma").corrections == {}
        assert len(errata.load("mfe").version) == 8

    def test_a_gold_that_has_changed_since_is_left_alone(self, file):
        file.write_text(json.dumps(FIX))
        assert errata.load("mfe").gold("chart", "7", "0.06") == "0.06"

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            ([{**FIX, "evidence": None}], "entry 1: evidence missing or not text"),
            ([FIX, FIX], "entry 2: a second correction of chart/7"),
            (["nonsense"], "not a JSON object"),
        ],
    )
    def test_faults_name_the_entry(self, file, lines, message):
        file.write_text("\n".join(map(json.dumps, lines)))
        with pytest.raises(SettingError, match=message):
            errata.load("mfe")

    def test_a_missing_file_and_a_wrong_word(self, file, monkeypatch):
        with pytest.raises(SettingError, match="no such errata file"):
            errata.load("mfe")
        monkeypatch.setenv("LMMS_EVAL_FINANCE_ERRATA", "maybe")
        with pytest.raises(SettingError, match="neither yes nor no"):
            errata.load("mfe")

    def test_every_packaged_file_can_be_read(self):
        for path in errata.FOLDER.glob("*.jsonl"):
            if "reviewed" not in path.stem:
                found = errata.read(path)
                assert {fix.benchmark for fix in found.corrections.values()} <= {path.stem}
                assert all(
                    fix.released != fix.corrected and fix.evidence for fix in found.corrections.values()
                )


class TestSelection:
    rows = datasets.Dataset.from_dict({"id": [1, 2, 3]})

    def restricted(self, monkeypatch, setting):
        monkeypatch.setenv("LMMS_EVAL_FINANCE_IDS", setting)
        return selection.restrict(self.rows, ["1", "2", "3"], "Demo")["id"]

    def test_unset_keeps_all(self, monkeypatch):
        assert list(self.restricted(monkeypatch, "")) == [1, 2, 3]

    def test_listed_ids_in_data_order(self, monkeypatch):
        assert list(self.restricted(monkeypatch, "3, 1,99")) == [1, 3]

    def test_a_file_of_ids(self, monkeypatch, tmp_path):
        (tmp_path / "ids").write_text("2\n\n")
        assert list(self.restricted(monkeypatch, f"@{tmp_path}/ids")) == [2]

    @pytest.mark.parametrize(
        ("setting", "message"),
        [("99", "lists no id of Demo"), ("@/no/file", "cannot be read"), (",", "lists no id")],
    )
    def test_nothing_left_is_an_error(self, monkeypatch, setting, message):
        with pytest.raises(SystemExit, match=message):
            self.restricted(monkeypatch, setting)


def test_a_flag_takes_usual_words(monkeypatch):
    for word, expected in {"1": True, "Yes": True, "off": False, "": False}.items():
        monkeypatch.setenv("LMMS_EVAL_FINANCE_DEMO", word)
        assert flag("DEMO") is expected


class TestImages:
    @pytest.mark.parametrize(
        "mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "I", "I;16", "F"]
    )
    def test_every_mode_becomes_rgb(self, mode):
        assert images.to_rgb(Image.new(mode, (30, 40))).mode == "RGB"

    def test_transparency_lies_on_white(self):
        assert images.to_rgb(Image.new("RGBA", (30, 30), (255, 0, 0, 0))).getpixel((5, 5)) == (255, 255, 255)
        palette = Image.new("P", (30, 30), 0)
        palette.info["transparency"] = 0
        assert images.to_rgb(palette).getpixel((0, 0)) == (255, 255, 255)

    def test_deep_grey_keeps_its_shades(self):
        ramp = Image.fromarray(np.linspace(0, 65535, 900).reshape(30, 30).astype(np.uint16))
        shades = np.asarray(images.to_rgb(ramp))[..., 0]
        assert shades.min() == 0
        assert shades.max() == 255
        assert 100 < shades.mean() < 155

    def test_rotation_stored_in_exif_is_undone(self):
        image = Image.new("RGB", (60, 30))
        image.getexif()[274] = 6
        assert images.to_rgb(image).size == (30, 60)

    def test_shrinking_never_enlarges(self):
        assert images.shrink(Image.new("RGB", (10, 20)), side=100).size == (10, 20)
        assert max(images.shrink(Image.new("RGB", (3000, 20)), side=100).size) == 100
        assert images.as_jpeg(Image.new("RGB", (10, 20), "red"), quality=80).size == (10, 20)
