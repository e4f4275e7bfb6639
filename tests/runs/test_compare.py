"""Comparing runs: tests against hand-computed cases and naive forms, refusal of what does not compare."""

from __future__ import annotations

import csv
import itertools
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_eval_finance.cli import main
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.runs.compare import RESAMPLES, compare, holm, mcnemar
from lmms_eval_finance.runs.figures import figures, sums

SIGNATURE = "task:t|data:d|prompt:p"


def records(scores, cluster=lambda number: str(number), **more):
    found = []
    for number, score in enumerate(scores):
        outcome = Outcome.JUDGE_FAILED if score is None else Outcome.CORRECT if score else Outcome.WRONG
        labels = {"kind": "odd" if number % 2 else "even", "all": "same"}
        found.append(
            Record(
                str(number),
                outcome,
                score,
                labels,
                cluster(number),
                signature=SIGNATURE,
                prediction="x",
                **more,
            )
        )
    return found


def test_only_items_scored_in_both_count():
    found = compare("t", records([1.0, 0.0, None, 1.0]), records([0.0, 0.0, 1.0])[::-1])
    assert [one.id for one, _ in found.pairs] == ["0", "1"]
    assert (found.only_first, found.only_second) == (1, 1)
    line = found.overall()
    assert (line.items, line.first, line.second, line.better, line.worse) == (2, 0.5, 0.0, 0, 1)


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (6, 0, 2 / 64),
        # 2 * (1 + 10 + 45) / 1024
        (8, 2, 112 / 1024),
        (5, 5, 1.0),
    ],
)
def test_mcnemar_by_hand(better, worse, p):
    assert mcnemar(better, worse) == pytest.approx(p)
    assert mcnemar(worse, better) == pytest.approx(p)


def test_holm_by_hand():
    # Holm (1979): 0.005 * 4, 0.01 * 3, 0.03 * 2, 0.04 * 1, made monotone
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([None, 0.2]) == [None, 0.2]
    assert holm([]) == []


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=8))
def test_holm_against_closed_testing(values):
    """The corrected value is the largest Bonferroni p of all families that hold the hypothesis."""
    tested = [place for place, value in enumerate(values) if value is not None]
    families = [f for size in range(1, len(tested) + 1) for f in itertools.combinations(tested, size)]
    for place, corrected in enumerate(holm(values)):
        if values[place] is None:
            assert corrected is None
        else:
            largest = max(min(1.0, len(f) * min(values[i] for i in f)) for f in families if place in f)
            assert corrected == pytest.approx(largest)


def test_the_bootstrap_draws_whole_clusters():
    draw = random.Random(0)
    first = [float(draw.random() < 0.5) for _ in range(200)]
    second = [float(draw.random() < 0.6) for _ in range(200)]
    pairs = list(zip(first, second, strict=True))
    apart = compare("t", records(first), records(second)).overall()

    def together(number):
        return str(number // 10)

    grouped = compare("t", records(first, together), records(second, together)).overall()
    for line, size in ((apart, 1), (grouped, 10)):
        clusters = [[b - a for a, b in pairs[start : start + size]] for start in range(0, 200, size)]
        generator = np.random.default_rng(1)
        naive = [
            np.mean(
                [
                    value
                    for place in generator.integers(0, len(clusters), len(clusters))
                    for value in clusters[place]
                ]
            )
            for _ in range(RESAMPLES)
        ]
        assert line.difference.estimate == pytest.approx(np.mean(second) - np.mean(first))
        assert line.difference.low == pytest.approx(np.quantile(naive, 0.025), abs=0.02)
        assert line.difference.high == pytest.approx(np.quantile(naive, 0.975), abs=0.02)
        far = 2 * min(np.mean(np.array(naive) <= 0), np.mean(np.array(naive) >= 0))
        assert line.bootstrap_p == pytest.approx(min(1, far), abs=0.05)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=5, max_size=60))
def test_the_other_way_round_is_the_mirror_image(pairs):
    first, second = (records([float(pair[side]) for pair in pairs]) for side in (0, 1))
    there, back = compare("t", first, second).overall(), compare("t", second, first).overall()
    assert there.difference.estimate == pytest.approx(-back.difference.estimate)
    assert there.difference.low == pytest.approx(-back.difference.high)
    assert (there.better, there.worse, there.mcnemar_p) == (back.worse, back.better, back.mcnemar_p)
    assert there.bootstrap_p == back.bootstrap_p
    assert 0 < there.bootstrap_p <= 1


def test_slices_are_corrected_together():
    first = records([0.0] * 20)
    second = records([float(number % 2) for number in range(20)])
    lines = compare("t", first, second).slices()
    # a label with one value is no slice
    assert [(line.label, line.value, line.items) for line in lines] == [
        ("kind", "even", 10),
        ("kind", "odd", 10),
    ]
    even, odd = lines
    assert odd.mcnemar_p == pytest.approx(2 / 1024)
    assert odd.mcnemar_holm == pytest.approx(4 / 1024)
    assert even.mcnemar_holm == 1.0
    assert compare("t", first[:8], second[:8]).slices() == []


def test_scores_that_are_no_right_or_wrong_have_no_mcnemar():
    line = compare("t", records([0.5, 1.0, 0.2]), records([0.6, 1.0, 0.1])).overall()
    assert line.mcnemar_p is None
    assert (line.better, line.worse) == (1, 1)
    assert line.bootstrap_p is None  # three clusters are too few


def test_signatures_that_differ_are_found():
    other = [replace(record, signature="task:t|data:d|prompt:q|errata:no") for record in records([1.0, 0.0])]
    found = compare("t", records([1.0, 0.0]), other)
    assert found.differing == {"prompt": ("p", "q"), "errata": ("", "no")}
    assert compare("t", records([1.0]), records([0.0])).differing == {}


def test_figures_are_those_of_each_run(varied):
    runs = [
        [record for sample in varied("finmme_finscore", seed) for record in sample.records] for seed in (1, 2)
    ]
    found = compare("finmme_finscore", *runs).figures()
    for place, of_run in enumerate(runs):
        expected = figures("finmme_finscore", sums("finmme_finscore", of_run))
        for name, figure in found.items():
            assert figure[place] == pytest.approx(expected[name].estimate), name
    for first, second, difference in found.values():
        assert difference.estimate == pytest.approx(second - first)
    assert {"finscore", "accuracy", "average"} <= set(found)


# -- the command --------------------------------------------------------------------------------------


def test_the_command(varied, save_run, tmp_path, capsys):
    first = save_run({"mfe_text": varied("mfe_text", 1), "mfe_table": varied("mfe_table", 1)}, model="a")
    second = save_run({"mfe_text": varied("mfe_text", 2), "mfe_chart": varied("mfe_chart", 2)}, model="b")
    flips = tmp_path / "flips.csv"
    assert main(["compare", str(first.folder), f"new={second.folder}", "--flips", str(flips)]) == 0
    out = capsys.readouterr().out
    assert "**mfe_text: new against a**" in out
    assert "mfe_table" not in out
    assert "8 items are scored in both runs." in out
    scores = {
        place: {record.id: record.score for _, record in run.records()}
        for place, run in enumerate((first, second))
    }
    changed = {row["id"]: row["change"] for row in csv.DictReader(flips.open(encoding="utf-8"))}
    expected = {
        identity: "better" if scores[1][identity] > score else "worse"
        for identity, score in scores[0].items()
        if identity in scores[1]
        and scores[1][identity] != score
        and identity in {r.id for s in varied("mfe_text", 1) for r in s.records}
    }
    assert changed == expected


def test_what_does_not_compare_is_refused_or_marked(varied, save_run, monkeypatch, capsys):
    first = save_run({"mfe_table": varied("mfe_table", 1)}, model="a")
    monkeypatch.setenv("LMMS_EVAL_FINANCE_ERRATA", "1")
    second = save_run({"mfe_table": varied("mfe_table", 1)}, model="b")
    arguments = ["compare", str(first.folder), str(second.folder)]
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert "mfe_table: does not compare: errata no against" in err
    assert "--anyway" in err
    assert main([*arguments, "--anyway"]) == 0
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if line.startswith("| ") and "[" in line]
    assert lines
    assert all(" ᵃ |" in line.split("|", 2)[1] + "|" for line in lines)
    assert main([*arguments, "--anyway", "--csv"]) == 0
    rows = [row for row in csv.reader(capsys.readouterr().out.splitlines()) if len(row) > 5]
    assert all("does not compare" in row[-1] or row[-1] == "marks" for row in rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--task", "mfe_chart"], "no task mfe_chart in both runs; they share mfe_text"),
        ([], ""),
    ],
)
def test_tasks_that_are_not_there(varied, save_run, capsys, options, message):
    first = save_run({"mfe_text": varied("mfe_text", 1)}, model="a")
    second = save_run({"mfe_text": varied("mfe_text", 2)}, model="b")
    assert main(["compare", str(first.folder), str(second.folder), *options]) == (2 if message else 0)
    assert message in capsys.readouterr().err


def test_runs_without_common_items(varied, save_run, capsys):
    first = save_run({"mfe_text": varied("mfe_text")}, model="a")
    second = save_run({"mfe_table": varied("mfe_table")}, model="b")
    assert main(["compare", str(first.folder), str(second.folder)]) == 2
    assert "share no scored item" in capsys.readouterr().err


def test_a_folder_with_a_run_for_each_task_is_one_run(varied, save_run, capsys):
    first = save_run({"mfe_text": varied("mfe_text", 1), "mfe_table": varied("mfe_table", 1)}, model="a")
    second = save_run({"mfe_text": varied("mfe_text", 2)}, model="b")
    save_run({"mfe_table": varied("mfe_table", 2)}, model="b", date="20270101_000000")
    assert main(["compare", str(first.folder), str(second.folder)]) == 0
    out = capsys.readouterr().out
    assert "**mfe_text: b against a**" in out
    assert "**mfe_table: b against a**" in out
    save_run({"mfe_table": varied("mfe_table", 3)}, model="b", date="20280101_000000")
    assert main(["compare", str(first.folder), str(second.folder)]) == 2
    assert "holds 3 runs; name one of" in capsys.readouterr().err
