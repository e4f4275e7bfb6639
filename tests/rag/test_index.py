"""The index of a folder of books: what it finds, when it is reused, what it refuses."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from lmms_eval_finance.cli import main
from lmms_eval_finance.rag import index as indices
from lmms_eval_finance.rag.index import NAME, Options, build, open_index
from lmms_eval_finance.rag.words import token_count
from lmms_eval_finance.settings import SettingError

# What a reader of the book would look up, and the start of the passage that has the answer.
ENGLISH = {
    "What does Macaulay duration measure?": "Macaulay duration is the weighted average",
    "How is a put-call parity relation stated?": "Put-call parity says",
    "Which ratio divides excess return by standard deviation?": "The Sharpe ratio is",
    "How much should a dividend growing at a constant rate be worth?": "The Gordon growth model",
    "current assets less inventory over current liabilities": "The quick ratio",
    "Why would a fund write covered calls?": "A covered call earns",
    "When is the net present value of a project negative?": "A project whose internal rate of return",
    "What happens to the price of a bond when yields rise?": "Bond prices fall",
    "How do forward exchange rates follow from interest rates in two currencies?": "Covered interest parity",
    "What is systematic risk that diversification cannot remove?": "Beta measures",
}
FRENCH = {
    "Comment calcule-t-on le rendement courant d'une obligation ?": "Le rendement courant",
    "À quel cours l'acheteur d'un call atteint-il son point mort ?": "Le seuil de rentabilité d'un call",
    "Qu'est-ce que l'amortissement degressif des immobilisations ?": "L’amortissement dégressif",
    "frais prélevés lors de la souscription d'une part de fonds": "Les droits d’entrée",
    "Quel ratio compare les dettes aux capitaux propres ?": "Le levier financier",
}
CHINESE = {
    "净现值如何计算?": "净现值等于",
    "远期汇率高于即期汇率时称为什么?": "远期升水",
    "市盈率是什么?": "市盈率是",
    "企业用自有资金与借款的比例叫什么?": "资产负债率",
    "债券的久期与利率风险有什么关系?": "久期越长",
}
BOOK = {
    "Macaulay duration is the weighted average": "time until the cash flows of a bond are received.",
    "Put-call parity says": "that a call plus the present value of the strike equals a put plus the share.",
    "The Sharpe ratio is": "the excess return of a portfolio over the risk-free rate, divided by its standard deviation.",
    "The Gordon growth model": "values a share whose dividends grow at a constant rate for ever.",
    "The quick ratio": "takes inventories out of the current assets before they are divided by current liabilities.",
    "A covered call earns": "the premium of an option written on shares that the fund holds.",
    "A project whose internal rate of return": "lies below the cost of capital has a negative net present value.",
    "Bond prices fall": "when yields go up, the more so the longer the bond.",
    "Covered interest parity": "ties the forward exchange rate to the spot rate and to interest rates in both currencies.",
    "Beta measures": "the systematic risk that remains in a diversified portfolio.",
    "Le rendement courant": "d’une obligation rapporte le coupon annuel au prix.",
    "Le seuil de rentabilité d'un call": "est le prix d’exercice augmenté de la prime payée ; l’acheteur y atteint son point mort.",
    "L’amortissement dégressif": "répartit le coût d’une immobilisation en annuités décroissantes.",
    "Les droits d’entrée": "sont des frais que le fonds prélève à la souscription des parts.",
    "Le levier financier": "rapporte l’endettement aux capitaux propres.",
    "净现值等于": "未来现金流的现值之和减去初始投资。",
    "远期升水": "指远期汇率高于即期汇率。",
    "市盈率是": "股价与每股收益之比。",
    "资产负债率": "表示企业借款与自有资金的比例。",
    "久期越长": "债券的利率风险越大。",
}  # fmt: skip
OFF_TOPIC = (
    "The history of the stock exchange begins with merchants who met under a tree.",
    "Central banks publish their decisions on interest rates eight times a year.",
    "Investors read annual reports for their notes as much as for their figures.",
    "Accounting standards differ between countries and change over time.",
    "La bourse de Paris fut fondée au dix-huitième siècle.",
    "Les investisseurs lisent les rapports annuels avec attention.",
    "证券交易所的历史可以追溯到几百年前。",
    "投资者应当仔细阅读年度报告。",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory, make_pdf):
    """Books of two kinds and three languages, a passage to a page, and a damaged one."""
    folder = tmp_path_factory.mktemp("library")
    passages = [f"{head} {text}" for head, text in BOOK.items()]
    plain = [text for text in (*passages, *OFF_TOPIC) if text.isprintable()]
    latin = [text for text in plain if all(ord(sign) < 256 or sign == "’" for sign in text)]
    rest = [text for text in plain if text not in latin]
    make_pdf(
        folder / "finance.pdf",
        [[text[at : at + 80] for at in range(0, len(text), 80)] for text in latin[::2]],
    )
    (folder / "more.md").write_text("\f".join(latin[1::2]), encoding="utf-8")
    (folder / "中文").mkdir()
    (folder / "中文" / "财务.txt").write_text("\f".join(rest), encoding="utf-8")
    (folder / "broken.pdf").write_bytes((folder / "finance.pdf").read_bytes()[:400])
    return folder


@pytest.fixture(scope="module")
def built(library):
    report = build(library, Options())
    return report, open_index(library)


def test_the_answer_is_found_and_mostly_first(built):
    """20 questions worded otherwise than the book, in three languages: 20 among the first three, 17 first."""
    first = among = 0
    questions = {**ENGLISH, **FRENCH, **CHINESE}
    missed = []
    for question, wanted in questions.items():
        found = [passage.text for passage in built[1].search([question], 10_000)]
        first += found[:1] != [] and found[0].startswith(wanted)
        if any(text.startswith(wanted) for text in found[:3]):
            among += 1
        else:
            missed.append((question, found[:3]))
    assert among == len(questions) == 20, missed
    assert first >= 17


def test_what_was_read_kept_and_skipped_is_reported(built):
    report, index = built
    assert sorted(report.read) == ["finance.pdf", "more.md", "中文/财务.txt"]
    assert list(report.skipped) == ["broken.pdf"]
    assert "damaged" in report.skipped["broken.pdf"]
    assert report.passages == len(index.passages) >= 28
    assert index.hash == report.hash


def test_passages_carry_source_and_page(built):
    (best, *_) = built[1].search(["Macaulay duration"])
    assert best.place == "finance.pdf, page 1"


def test_questions_take_turns_within_the_budget(built):
    index = built[1]
    queries = ["Macaulay duration of a bond", "市盈率是什么"]
    found = index.search(queries, 60)
    assert sum(token_count(passage.text) + token_count(passage.place) for passage in found) <= 60
    assert [passage.text[:3] for passage in found[:2]] == ["Mac", "市盈率"]
    assert index.search(queries, 1) == []
    everything = index.search(queries, 10_000)
    assert len(set(everything)) == len(everything) > len(found)


def test_a_question_without_a_known_term_finds_nothing(built):
    for query in ("", "xyzzy plugh", "?!", "\0", "the of and"):
        assert built[1].search([query]) == []
    assert built[1].search([]) == []


class TestReuse:
    @pytest.fixture
    def folder(self, tmp_path):
        for name in ("a.txt", "b.txt"):
            (tmp_path / name).write_text(f"Duration and book {name}.")
        build(tmp_path, Options())
        return tmp_path

    def state(self, folder):
        return {path: path.stat().st_mtime_ns for path in (folder / NAME).rglob("*")}

    def test_an_index_that_is_up_to_date_is_left_alone(self, folder):
        before = self.state(folder)
        report = build(folder, Options())
        assert (report.changed, report.read, report.kept) == (False, [], ["a.txt", "b.txt"])
        assert self.state(folder) == before

    def test_only_what_changed_is_read_again(self, folder):
        old = open_index(folder).hash
        (folder / "b.txt").write_text("Now about convexity.")
        (folder / "c.txt").write_text("A new book on swaps.")
        with pytest.raises(SettingError, match=r"out of date .*b\.txt.*rag index"):
            open_index(folder)
        report = build(folder, Options())
        assert (report.changed, report.read, report.kept) == (True, ["b.txt", "c.txt"], ["a.txt"])
        index = open_index(folder)
        assert index.hash == report.hash != old
        assert [passage.source for passage in index.search(["convexity"])] == ["b.txt"]

    def test_a_book_that_is_gone_is_gone_from_the_index(self, folder):
        (folder / "a.txt").unlink()
        with pytest.raises(SettingError, match="out of date"):
            open_index(folder)
        build(folder, Options())
        assert {passage.source for passage in open_index(folder).passages} == {"b.txt"}

    def test_a_new_date_alone_changes_nothing(self, folder):
        old = open_index(folder).hash
        os.utime(folder / "a.txt", (1, 1))
        assert open_index(folder).hash == old
        assert not build(folder, Options()).changed

    def test_a_copy_elsewhere_is_the_same_index(self, folder, tmp_path_factory):
        copy = tmp_path_factory.mktemp("copy") / "books"
        shutil.copytree(folder, copy)
        assert open_index(copy).hash == open_index(folder).hash

    def test_options_are_part_of_the_hash(self, folder):
        hashes = {
            build(folder, options).hash for options in (Options(), Options(size=100), Options(budget=900))
        }
        assert len(hashes) == 3
        assert open_index(folder).options.budget == 900

    @pytest.mark.parametrize("damage", ["index.json", "passages.jsonl", "bm25/params.index.json", "bm25"])
    def test_a_damaged_index_is_said_and_mended(self, folder, damage):
        target = folder / NAME / damage
        shutil.rmtree(target) if target.is_dir() else target.write_text("{")
        with pytest.raises(SettingError, match="rag index"):
            open_index(folder)
        build(folder, Options())
        assert open_index(folder).search(["duration"])

    def test_an_index_of_another_version_is_refused_and_replaced(self, folder):
        manifest = json.loads((folder / NAME / "index.json").read_text())
        (folder / NAME / "index.json").write_text(json.dumps({**manifest, "version": 0}))
        with pytest.raises(SettingError, match="another version"):
            open_index(folder)
        assert build(folder, Options()).read == ["a.txt", "b.txt"]
        open_index(folder)


class TestRefusals:
    def test_no_folder_no_books_no_text(self, tmp_path):
        with pytest.raises(SettingError, match="no such folder"):
            build(tmp_path / "nowhere", Options())
        with pytest.raises(SettingError, match="no PDF, text or Markdown"):
            build(tmp_path, Options())
        (tmp_path / "a.pdf").write_bytes(b"x")
        with pytest.raises(SettingError, match=r"none of its books can be used: a\.pdf is damaged"):
            build(tmp_path, Options())

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            (Options(size=0), "at least"),
            (Options(size=300, budget=200), "at most"),
            (Options(method="dense"), "model on disk"),
            (Options(method="dense", model="/nowhere"), "model on disk"),
            (Options(model="x"), "--method dense"),
        ],
    )
    def test_options_that_cannot_be(self, tmp_path, options, why):
        (tmp_path / "a.txt").write_text("text")
        with pytest.raises(SettingError, match=why):
            build(tmp_path, options)

    def test_a_missing_library_names_the_extra(self, tmp_path, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "Stemmer", None)
        (tmp_path / "a.txt").write_text("text")
        with pytest.raises(SettingError, match=r"lmms-eval-finance\[rag\]"):
            build(tmp_path, Options())

    def test_the_setting_names_an_indexed_folder(self, tmp_path, monkeypatch):
        monkeypatch.delenv("LMMS_EVAL_FINANCE_RAG", raising=False)
        with pytest.raises(SettingError, match="LMMS_EVAL_FINANCE_RAG=FOLDER"):
            indices.configured()
        monkeypatch.setenv("LMMS_EVAL_FINANCE_RAG", str(tmp_path))
        with pytest.raises(SettingError, match="is not indexed"):
            indices.configured()


def test_the_commands(library, capsys):
    assert main(["rag", "index", str(library)]) == 0
    said = capsys.readouterr().out
    assert "skipped broken.pdf: is damaged" in said
    assert "LMMS_EVAL_FINANCE_RAG=" in said
    assert main(["rag", "search", str(library), "What does Macaulay duration measure?"]) == 0
    assert capsys.readouterr().out.startswith("[1] finance.pdf, page 1\nMacaulay duration is")
    assert main(["rag", "search", str(library), "xyzzy"]) == 0
    assert "no passage" in capsys.readouterr().out
    assert main(["rag", "index", str(library / "中文" / "财务.txt")]) == 2


def test_search_by_meaning_with_a_model_on_disk(tmp_path):
    """A model made on the spot: words of one topic share a direction."""
    models = pytest.importorskip("sentence_transformers.models")
    import numpy as np
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    words = ["[UNK]", "bond", "coupon", "yield", "share", "dividend", "equity"]
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    weights = np.array([[0.01, 0.01], *[[1, 0]] * 3, *[[0, 1]] * 3], dtype="float32")
    module = models.StaticEmbedding(tokenizer, embedding_weights=weights)
    SentenceTransformer(modules=[module], device="cpu").save(str(tmp_path / "model"))
    books = tmp_path / "books"
    books.mkdir()
    (books / "a.txt").write_text("a coupon of a bond")
    (books / "b.txt").write_text("a dividend of a share")
    options = Options(method="dense", model=str(tmp_path / "model"))
    first = build(books, options)
    index = open_index(books)
    assert [passage.source for passage in index.search(["yield"], 12)] == ["a.txt"]
    assert [passage.source for passage in index.search(["equity"], 12)] == ["b.txt"]
    assert first.hash != build(books, Options()).hash
    (tmp_path / "model" / "modules.json").write_text("[")
    with pytest.raises(SettingError, match="no sentence-transformers model"):
        build(books, options)
