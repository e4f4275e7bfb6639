"""The report: what it holds, that it stands alone, and that hostile runs do nothing in a real browser."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from lxml import html

from lmms_eval_finance.cli import main
from lmms_eval_finance.judging.items import JudgeItem, Vote, judged_record_fields
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.report import plots
from lmms_eval_finance.runs.read import Sample
from lmms_eval_finance.runs.save import SavedRun

HOSTILE = [
    "<script>document.title = 'owned'</script>",
    "</script><img src=x onerror=\"document.title='owned'\">",
    "\"'></div><svg onload=document.title='owned'>",
    "javascript:alert(1)",
    "</textarea></style><style>body{display:none}</style>",
    "\u202eright to left",
    "\ud800 lone surrogate",
    "\x00\x1b[31m control",
    "日本語 " * 50 + "x" * 3000,
    "${7*7} {{7*7}} `${document.title='owned'}` $title $data",
    "http://evil.example/",
    "| a | b |\n|---|---|",
]
DATE = "20260102_030405"


def record(number, text, score, kind="open", **more):
    item = JudgeItem(
        str(number),
        "mfe",
        text,
        text,
        text + "!",
        context=text,
        explanation=text,
        options=(text, "b"),
        unit=text,
    )
    votes = [Vote(text, score == 1.0, text, text), Vote("b", None, text)]
    outcome = Outcome.CORRECT if score else Outcome.WRONG
    labels = {"question_type": kind, "context_size": text[:60], "turn": "1"}
    return Record(
        f"{number} {text[:20]}",
        outcome,
        score,
        labels,
        cluster=text,
        gold=text,
        prediction=text + "!",
        response=text,
        reason=text,
        signature="task:mfe_text|version:1|data:mfe/text@0123456789ab|prompt:mfe@01|errata:no|judge:rules-1",
        details=judged_record_fields(item, rule={"verdict": "correct", "reason": text}, votes=votes),
        **more,
    )


TASKS = ("mfe_text", "mfe_conversation", "finmme_finscore", "famma")


def write_runs(folder, models, tasks=TASKS):
    for model, records in models.items():
        with SavedRun(folder, model, DATE) as saved:
            for task in tasks:
                for one in records:
                    saved.add(task, Sample([one], one.response, "accuracy"), [one])
            saved.finish({}, {"config": {"model": model, "model_args": "x=" + HOSTILE[0]}})
    return folder


def hostile_runs(folder, tasks=TASKS):
    first = [record(number, text, float(number % 2)) for number, text in enumerate(HOSTILE)]
    second = [record(number, text, float(number % 3 == 0)) for number, text in enumerate(HOSTILE)]
    return write_runs(folder, {HOSTILE[1]: first, "plain": second}, tasks)


def report(folder, target, *options):
    assert main(["report", str(folder), "-o", str(target), *options]) == 0
    return target / "index.html"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The report over two hostile runs."""
    folder = tmp_path_factory.mktemp("hostile")
    return report(hostile_runs(folder / "out"), folder / "report")


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder with a run of one task, and no plots, which take their time."""
    monkeypatch.setattr(plots, "available", lambda: False)
    return hostile_runs(tmp_path / "out", ["mfe_text"])


def unpacked(page, name):
    text = re.search(rf'id="{name}">([^<]*)<', page.read_text(encoding="utf-8"))[1]
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_it_stands_alone(page):
    tree = html.parse(str(page), html.HTMLParser(encoding="utf-8")).getroot()
    assert not tree.xpath("//link | //iframe | //object | //embed | //base | //form[@action]")
    assert not tree.xpath("//*[@src] | //script[@src]")
    for link in tree.iter("a"):
        assert link.get("href").startswith("#")
    runnable = [element for element in tree.iter("script") if element.get("type") is None]
    assert len(runnable) == 1
    policy = tree.xpath("//meta[@http-equiv]")[0].get("content")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not tree.xpath("//*[@style] | //*[@onload] | //*[@onclick] | //*[@onerror]")
    # every element that a hostile text would have made
    assert not tree.xpath("//img | //textarea")
    assert len(tree.xpath("//style")) == 1


def test_links_and_labels_lead_somewhere(page):
    tree = html.parse(str(page), html.HTMLParser(encoding="utf-8")).getroot()
    ids = [element.get("id") for element in tree.xpath("//*[@id]")]
    assert len(ids) == len(set(ids))
    for name in {link.get("href")[1:] for link in tree.iter("a")}:
        assert name in ids
    for element in tree.xpath("//*[@aria-labelledby]"):
        assert element.get("aria-labelledby") in ids
    assert [heading.tag for heading in tree.xpath("//h1")] == ["h1"]
    assert all(element.get("aria-label") for element in tree.xpath("//*[local-name()='svg']"))


def test_every_item_is_in_it(page):
    index = unpacked(page, "index")
    assert len(index["id"]) == 4 * len(HOSTILE)
    assert index["tasks"] == ["famma", "finmme_finscore", "mfe_conversation", "mfe_text"]
    chunk = unpacked(page, "chunk-0")
    for number, text in enumerate(HOSTILE):
        item = chunk[number]
        assert item["gold"] == text.replace("\ud800", "?")
        own = item["runs"][0]
        assert own["prediction"] == item["gold"] + "!"
        assert own["votes"][0]["judge"] == item["gold"]


def test_tables_are_files_too(page):
    markdown = (page.parent / "report.md").read_text(encoding="utf-8")
    assert "**Multimodal Finance Eval, table 2**" in markdown
    assert "<script" not in markdown
    names = {path.name for path in (page.parent / "tables").iterdir()}
    assert {"main_figures.csv", "outcomes.csv", "finmme_table_3.csv"} <= names
    assert all(re.fullmatch(r"[a-z0-9_]+\.csv", name) for name in names)


def test_a_second_report_replaces_the_first_and_nothing_else(small, tmp_path, capsys):
    page = report(small, tmp_path / "report")
    stray = page.parent / "tables" / "old.csv"
    stray.write_text("x")
    report(small, tmp_path / "report")
    assert not stray.exists()
    other = tmp_path / "documents"
    other.mkdir()
    (other / "thesis.txt").write_text("precious")
    assert main(["report", str(small), "-o", str(other)]) == 2
    assert "holds other files" in capsys.readouterr().err
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]


def test_long_texts_are_shortened_and_say_so(small, tmp_path):
    folder = write_runs(tmp_path / "long", {"m": [record(1, "y" * 100_000, 1.0)]}, ["mfe_text"])
    (item,) = unpacked(report(folder, tmp_path / "report"), "chunk-0")
    assert len(item["gold"]) < 21_000
    assert "80,000 characters are left out" in item["gold"]


def test_masked_golds_stay_masked_in_the_file(varied_runs, tmp_path):
    folder, secrets = varied_runs
    page = report(folder, tmp_path / "report")
    text = page.read_text(encoding="utf-8")
    shown = json.dumps([unpacked(page, f"chunk-{n}") for n in range(text.count('id="chunk-'))])
    for masked, clear in secrets:
        assert masked in shown
        assert f'"gold": "{clear}"' not in shown


@pytest.fixture
def varied_runs(tmp_path, monkeypatch):
    """A run over the masked sample of FAMMA, and its golds masked and in clear."""
    from lmms_eval_finance.metrics.masking import unmasked
    from lmms_eval_finance.runs import predictions
    from lmms_eval_finance.tasks import registry

    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    task = registry.find("famma_livepro")
    given = {name: "A" for doc in predictions._docs(task) for name in predictions._members(task, doc)}
    with SavedRun(tmp_path / "out", "m", DATE) as saved:
        samples = predictions.score_predictions(task, given)
        for sample in samples:
            saved.add(task.name, sample, sample.records)
        saved.finish({}, {})
    golds = [str(one.gold) for sample in samples for one in sample.records]
    return tmp_path / "out", [(gold, unmasked(gold)) for gold in golds]


def test_pictures_come_from_the_data_of_the_run_within_the_budget(tmp_path, monkeypatch):
    from lmms_eval_finance.runs import predictions
    from lmms_eval_finance.tasks import registry

    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    task = registry.find("mfe_chart")
    given = {name: "?" for doc in predictions._docs(task) for name in predictions._members(task, doc)}
    with SavedRun(tmp_path / "out", "m", DATE) as saved:
        for sample in predictions.score_predictions(task, given):
            saved.add(task.name, sample, sample.records)
        saved.finish({}, {})
    page = report(tmp_path / "out", tmp_path / "report")
    text = page.read_text(encoding="utf-8")
    kinds = re.findall(r'id="image-\d+" data-kind="([^"]+)"', text)
    assert kinds
    assert set(kinds) <= {"image/png", "image/jpeg", "image/gif"}
    assert all(item["images"] for item in unpacked(page, "chunk-0"))
    page = report(tmp_path / "out", tmp_path / "report", "--images", "0")
    text = page.read_text(encoding="utf-8")
    assert "data-kind" not in text
    assert "Pictures of 6 items are left out" in text
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", str(tmp_path))
    page = report(tmp_path / "out", tmp_path / "report")
    assert "Pictures of mfe/chart@" in page.read_text(encoding="utf-8")


def test_without_matplotlib_there_are_tables_and_a_note(small, tmp_path, page):
    assert "<svg" in page.read_text(encoding="utf-8")
    text = report(small, tmp_path / "report").read_text(encoding="utf-8")
    assert "they need matplotlib" in text
    assert "<svg" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/nowhere"], "no such file or folder"),
        (["OUT", "--images", "-1"], "give megabytes"),
        (["OUT", "--images", "nan"], "give megabytes"),
        (["OUT", "OUT"], "named twice"),
    ],
)
def test_what_it_refuses(small, tmp_path, capsys, arguments, message):
    arguments = [str(small) if argument == "OUT" else argument for argument in arguments]
    assert main(["report", *arguments, "-o", str(tmp_path / "r")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "r").exists()


def test_runs_of_others_hold_nothing_to_report(tmp_path, capsys):
    folder = write_runs(tmp_path / "out", {"m": []}, ["someones"])
    (folder / "m" / f"{DATE}_samples_mmmu.jsonl").write_text('{"doc_id": 0, "score": 1}\n')
    assert main(["report", str(folder), "-o", str(tmp_path / "r")]) == 2
    assert "no task of this package" in capsys.readouterr().err


def test_names_of_models_are_text_in_markdown(small, tmp_path):
    folder = write_runs(
        tmp_path / "m", {"![x](http://evil.example/x.png) <b>": [record(1, "text", 1.0)]}, ["mfe_text"]
    )
    markdown = (report(folder, tmp_path / "report").parent / "report.md").read_text(encoding="utf-8")
    assert "evil.example" in markdown
    assert not re.search(r"\]\(|<b>", markdown)


def test_names_group_runs(small, tmp_path):
    records = [record(number, f"text {number}", float(number % 2)) for number in range(6)]
    folder = write_runs(tmp_path / "three", {"a": records, "b": records, "c": records}, ["mfe_text"])
    runs = [f"x={folder / 'a'}", f"x={folder / 'b'}", str(folder / "c")]
    assert main(["report", *runs, "-o", str(tmp_path / "report")]) == 0
    markdown = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "| x (2 runs) | mfe_text | 50.00 ± 0.00 | accuracy | 6 of 6 |" in markdown
    index = unpacked(tmp_path / "report" / "index.html", "index")
    assert index["runs"] == ["x (run 1)", "x (run 2)", "c"]
    assert len(index["id"]) == 6


# -- in a browser -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("Chromium or its driver is not installed (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    profile = tmp_path_factory.mktemp("profile")
    for flag in (
        *("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"),
        *("disable-background-networking", "disable-component-update", "disable-sync"),
        *(f"user-data-dir={profile}", "window-size=1280,900"),
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield opened
    opened.quit()


def wait(browser, script):
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        if browser.execute_script(f"return {script}"):
            return
        time.sleep(0.02)
    raise AssertionError(script)


def open_page(browser, page):
    browser.get(page.as_uri())
    wait(browser, "document.body.dataset.ready === 'yes'")


def text_of(browser, name):
    return browser.execute_script("return document.getElementById(arguments[0]).textContent", name)


def choose(browser, name, value):
    browser.execute_script(
        "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
        "s.dispatchEvent(new Event(s.type === 'search' ? 'input' : 'change', {bubbles: true}));",
        name,
        value,
    )


def test_hostile_runs_do_nothing(browser, page):
    open_page(browser, page)
    items = 4 * len(HOSTILE)
    assert text_of(browser, "count") == f"{items} of {items} items"
    for number in range(len(HOSTILE)):
        browser.execute_script(f"document.querySelectorAll('#list button')[{number}].click()")
        wait(browser, f"document.body.dataset.shown === '{number}'")
        shown = text_of(browser, "item")
        expected = HOSTILE[number].replace("\ud800", "?").replace("\x00", "\x00")
        assert expected[:40] in shown
    assert browser.title == "Financial documents: report"
    assert not browser.execute_script(
        "return document.querySelectorAll('#item script, #item svg, #item style').length"
    )
    assert browser.execute_script("return getComputedStyle(document.body).display") == "block"
    assert browser.get_log("browser") == []


def test_filters_find_items(browser, page):
    open_page(browser, page)
    choose(browser, "filter-task", "3")
    wait(
        browser,
        f"document.getElementById('count').textContent === '{len(HOSTILE)} of {4 * len(HOSTILE)} items'",
    )
    # right: odd numbers in the first run, multiples of three in the second
    choose(browser, "filter-run", "0")
    choose(browser, "filter-outcome", "0")
    wait(browser, f"document.getElementById('count').textContent.startsWith('{len(HOSTILE) // 2} of')")
    choose(browser, "filter-run", "")
    choose(browser, "filter-outcome", "")
    browser.execute_script("document.getElementById('filter-differ').click()")
    differ = sum((number % 2) != (number % 3 == 0) for number in range(len(HOSTILE)))
    wait(browser, f"document.getElementById('count').textContent.startsWith('{differ} of')")
    browser.execute_script("document.getElementById('filter-differ').click()")
    choose(browser, "filter-text", "DOCUMENT.TITLE")
    holding = sum("document.title" in text for text in HOSTILE)
    wait(
        browser,
        f"document.getElementById('count').textContent.startsWith('{holding} of {len(HOSTILE)} items hold')",
    )
    browser.execute_script("document.getElementById('filter-reset').click()")
    wait(
        browser,
        f"document.getElementById('count').textContent === '{4 * len(HOSTILE)} of {4 * len(HOSTILE)} items'",
    )


def test_keys_walk_through_the_list_and_links_lead_to_items(browser, page):
    from selenium.webdriver import ActionChains, Keys

    open_page(browser, page)
    ActionChains(browser).click(browser.find_element("css selector", "#list button")).perform()
    wait(browser, "document.body.dataset.shown === '0'")
    ActionChains(browser).send_keys(Keys.ARROW_DOWN).perform()
    wait(browser, "document.body.dataset.shown === '1'")
    assert browser.execute_script("return document.activeElement.dataset.item") == "1"
    ActionChains(browser).send_keys("k").perform()
    wait(browser, "document.body.dataset.shown === '0'")
    browser.get("about:blank")
    browser.get(page.as_uri() + "#item-7")
    wait(browser, "document.body.dataset.shown === '7'")
    assert browser.execute_script("return document.activeElement.id") == "item"


def focused(browser):
    return browser.execute_script(
        "const e = document.activeElement; return e.id || e.dataset.item || e.textContent"
    )


def test_keys_alone_lead_through_list_and_item(browser, page):
    from selenium.webdriver import ActionChains, Keys

    def press(*keys):
        for key in keys:
            ActionChains(browser).send_keys(key).perform()
        return focused(browser)

    open_page(browser, page)
    browser.execute_script("document.getElementById('filter-reset').focus()")
    # one stop for the list, the next one is behind it
    assert press(Keys.TAB) == "0"
    assert press(Keys.TAB) != "1"
    ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
    assert press(Keys.ARROW_DOWN, Keys.ARROW_DOWN) == "1"
    wait(browser, "document.body.dataset.shown === '1'")
    press(Keys.ENTER)
    wait(browser, "document.activeElement.id === 'item'")
    assert press(Keys.TAB) == "Previous item"
    assert press(Keys.TAB) == "Next item"
    press(Keys.ENTER)
    wait(browser, "document.body.dataset.shown === '2' && document.activeElement.id === 'item'")
    assert press(Keys.ESCAPE) == "2"


def test_focus_stays_when_the_last_page_is_reached(browser, small, tmp_path):
    records = [record(number, f"text {number}", 1.0) for number in range(150)]
    folder = write_runs(tmp_path / "pages", {"m": records}, ["mfe_text"])
    open_page(browser, report(folder, tmp_path / "report"))
    browser.execute_script("const b = document.getElementById('page-on'); b.focus(); b.click()")
    assert text_of(browser, "page") == "page 2 of 2"
    assert focused(browser) == "page-back"


def test_what_scrolls_can_be_focused_and_headings_have_an_order(browser, page):
    metrics = {"width": 500, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        open_page(browser, page)
        browser.execute_script(
            "document.querySelectorAll('#list button')[8].click();"
            "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
        )
        wait(browser, "document.body.dataset.shown === '8'")
        browser.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        stuck = (
            "[...document.querySelectorAll('.scroll, .plots, pre, .text')].filter((box) => box.tabIndex < 0 && "
            "(box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1)).length"
        )
        wait(browser, f"{stuck} === 0 && document.querySelectorAll('.scroll[tabindex]').length > 0")
        wait(browser, "document.querySelectorAll('.scroll:not([tabindex])').length > 0")
        levels = browser.execute_script(
            "return [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map((one) => Number(one.tagName[1]))"
        )
        assert all(level <= before + 1 for before, level in pairwise(levels))
        assert {1, 2, 3, 4, 5, 6} == set(levels)
        assert browser.execute_script("return document.querySelectorAll('#item [lang=zh]').length")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_damaged_details_do_not_keep_an_item_shut(browser, small, tmp_path):
    damaged = {
        "votes": [None, 7, [], {"verdict": {}, "judge": [None]}],
        "rule": [1],
        "options": {"A": [None]},
    }
    records = [replace(record(1, "text", 1.0), details={**record(1, "text", 1.0).details, **damaged})]
    folder = write_runs(tmp_path / "damaged", {"m": records}, ["mfe_text"])
    open_page(browser, report(folder, tmp_path / "report"))
    browser.execute_script("document.querySelector('#list button').click()")
    wait(browser, "document.body.dataset.shown === '0'")
    assert "text!" in text_of(browser, "item")


def test_a_list_of_many_runs_counts_them(browser, small, tmp_path):
    runs = {f"m{place}": [record(1, "text", float(place < 2))] for place in range(6)}
    page = report(write_runs(tmp_path / "many", runs, ["mfe_text"]), tmp_path / "report")
    open_page(browser, page)
    assert "2 of 6 correct" in text_of(browser, "list")


def test_twelve_thousand_items_stay_usable(browser, small, tmp_path):
    labels = {"question_type": "open"}
    records = [
        replace(record(number, f"text {number}", float(number % 2)), labels=labels)
        for number in range(12_000)
    ]
    folder = write_runs(tmp_path / "large", {"m": records}, ["mfe_text"])
    page = report(folder, tmp_path / "report")
    open_page(browser, page)
    assert browser.execute_script("return document.querySelectorAll('#list button').length") == 100
    assert browser.execute_script("return document.getElementsByTagName('*').length") < 5000
    choose(browser, "filter-text", "text 11999")
    wait(browser, "document.getElementById('count').textContent === '1 of 12,000 items hold the text'")
    browser.execute_script("document.querySelector('#list button').click()")
    wait(browser, "document.body.dataset.shown === '11999'")
    assert "text 11999!" in text_of(browser, "item")


@pytest.mark.parametrize("width", [360, 1280])
def test_no_page_is_wider_than_the_screen(browser, page, width):
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        open_page(browser, page)
        browser.execute_script("document.querySelectorAll('#list button')[8].click()")
        wait(browser, "document.body.dataset.shown === '8'")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
