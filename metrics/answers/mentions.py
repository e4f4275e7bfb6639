"""Where a reply names an option: by letter, by a list of letters, or by an option's text."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple, TypeVar

from lmms_eval_finance.metrics.answers.lexicon import words
from lmms_eval_finance.metrics.answers.options import AFTER_A, OptionSet, amount_of, flattened, truth_value
from lmms_eval_finance.metrics.answers.text import lowered

__all__ = ["Mention", "find_mentions", "mentions_elsewhere", "read_list", "read_text"]

# A reply that names options more often than this answers nothing; its ends are read.
_MOST, _FIRST = 150, 30


class Mention(NamedTuple):
    """Options named in one breath.

    Attributes:
        start, end: the span in the reply, an option's own text beside its letter included.
        letters: what is named; a capital that is no option's letter stands as itself.
        by_text: named by text alone.
        needs_cue: too weak to count unless the sentence says that it is the answer
            (a small letter in running text, letters run together, a capital outside the options).
        alternatives: the letters are joined by 'or'.
    """

    start: int
    end: int
    letters: frozenset[str]
    by_text: bool = False
    needs_cue: bool = False
    alternatives: bool = False


# ---- a text that is nothing but letters --------------------------------------------

_LIST_TOKEN = re.compile(r"[lL]'|[A-Za-z]+|[^\sA-Za-z]")
_JOINING = words("and et also plus l' option options choice choices letter") | frozenset(
    ",;/&+|、()[]{}\"'.:*-–~<>和与及並并且以及还有$!\x02\x03"
)
_OR = frozenset(["or", "ou", "或"])


def read_list(text: str, options: OptionSet) -> Mention | None:
    """A text that consists of letters alone, however listed; None if anything else stands in it.

    >>> from lmms_eval_finance.metrics.answers.options import option_set
    >>> options = option_set(["w", "x", "y"])
    >>> sorted(read_list("[a], (C).", options).letters), read_list("C is right", options)
    (['A', 'C'], None)
    """
    letters: set[str] = set()
    alternatives = False
    for token in _LIST_TOKEN.findall(text):
        low, high = token.lower(), token.upper()
        if len(token) == 1 and "A" <= high <= "Z":
            letters.add(high)
        elif low in _OR:
            alternatives = True
        elif low in _JOINING:
            continue
        elif options.labels.issuperset(high) and _is_run(token):
            letters.update(high)
        else:
            return None
    return Mention(0, len(text), frozenset(letters), alternatives=alternatives) if letters else None


def _is_run(token: str) -> bool:
    """Letters run together: each once, and small ones in order, since they could be a word."""
    return len(set(token)) == len(token) and (token.isupper() or list(token) == sorted(token))


def read_text(text: str, options: OptionSet) -> str:
    """The letter of the option whose text, with or without its letter, is the whole text; '' if none is.

    >>> from lmms_eval_finance.metrics.answers.options import option_set
    >>> read_text("(B) AA-", option_set(["A+", "AA-"]))
    'B'
    """
    flat = flattened(lowered(text)).strip(_EDGES)
    for letter, own in options.texts.items():
        if len(own) > 1 and flat.endswith(own):
            before = flat[: -len(own)]
            if not before or ((label := _OWN_LABEL.fullmatch(before)) and label[1] == letter.lower()):
                return letter
    return ""


_EDGES = " .,;:!。'\"()[]{}\x02\x03"
_OWN_LABEL = re.compile(r"([a-z])[)\]]? ?[.:、-]? ?\(?")


# ---- all mentions ------------------------------------------------------------------


def find_mentions(reply: str, low: str, options: OptionSet) -> list[Mention]:
    """All mentions of options in a prepared reply, in order, lists joined to one mention.

    Args:
        reply: text from `prepare`.
        low: `lowered(reply)`.
        options: the item's options.
    """
    mentions = _letter_mentions(reply, low, options)
    texts = _text_mentions(low, options)
    if texts:
        mentions = _letters_beside_texts(_without_overlap(texts + mentions), low)
    return _joined(_ends(mentions), reply, low) if len(mentions) > 1 else mentions


def mentions_elsewhere(reply: str, low: str, line: int, options: OptionSet) -> bool:
    """Whether an option may be named by letter before a line that starts at `line`, or by text anywhere.

    Args:
        reply: text from `prepare`.
        low: `lowered(reply)`.
        line: a position in both.
        options: the item's options.
    """
    return bool(
        options.capitals.search(reply, 0, line)
        or options.smalls.search(reply, 0, line)
        or _text_mentions(low, options)
    )


# ---- by letter ---------------------------------------------------------------------

_NEXT_WORD = re.compile(r" ([a-z']+)")
# The same for I, the pronoun.
_AFTER_I = words("is and or because since as et ou car parce est seems")
# 'class A', 'fund B', 'C shares' name a thing, not an option.
_THINGS_BEFORE = words(
    "class classes series type types company companies firm firms fund funds bond bonds stock stocks"
    " market markets portfolio portfolios project projects investment investments plan plans tranche"
    " exhibit figure table appendix grade rating rated share shares part panel column row country bank"
    " asset assets manager client investor product strategy machine scenario case model group division"
    " region security note point party city area variant section year step vitamin hepatitis schedule form team"
    " player level layer societe entreprise fonds classe categorie obligation action actions portefeuille"
    " projet annexe tableau graphique banque pays actif produit strategie partie titre investissement"
)
_THINGS_AFTER = re.compile(
    r"(?: (?:and|or|et|ou|&) [a-z])? (?:shares?|class|stocks?|bonds?|rated|rating|series|curve|tranche|units)(?![a-z])"
    r"| ?(?:股|轮|公司|产品|基金|债券|方案|项目|类|级|银行|国|企业|证券|投资|客户|部门|点|轴|列|行|栏)"
)
_THINGS_BEFORE_ZH = (
    "公司", "基金", "股票", "债券", "方案", "产品", "组合", "资产", "情景", "附录", "附件", "企业", "银行", "国家",
    "投资者", "机器", "策略", "部门", "项目", "证券", "图", "表", "类", "型", "级", "国", "点",
)  # fmt: skip
_OPENING, _CLOSING = frozenset("([{\"'<\x02"), frozenset(")]}\"'>\x03")
_LABEL_GAP = re.compile(r"[)\]\"'.:,\x03]{0,4}(?: ?[-:=(\"'→]{1,3})? ?[\"'(]?")


def _letter_mentions(reply: str, low: str, options: OptionSet) -> list[Mention]:
    spans = [match.span() for match in options.capitals.finditer(reply)]
    if smalls := [(match.start() + 1, match.end()) for match in options.smalls.finditer(reply)]:
        spans = sorted(spans + smalls)
    if len(spans) > _MOST:
        spans = _ends(spans)
    found: list[Mention] = []
    name_end = -_NAMES_APART  # where the last letter ended that was part of a name
    for start, end in spans:
        token = reply[start:end]
        letter = token.upper()
        before, after = reply[start - 1 : start], reply[end : end + 1]
        own_text = options.texts.get(letter)
        if own_text and (gap := _LABEL_GAP.match(low, end)) and low.startswith(own_text, gap.end()):
            found.append(Mention(start, gap.end() + len(own_text), frozenset(letter)))
            continue
        bracketed = before in _OPENING and after in _CLOSING
        if not bracketed:
            if (token == "A" or token == "I") and after == " " and _is_word_here(low, end, token):
                continue
            listed = start - name_end < _NAMES_APART and _only_joins(low[name_end:start])
            if (listed and "\n" not in low[name_end:start]) or _in_a_name(reply, low, start, end, options):
                name_end = end
                continue
        needs_cue = False
        if len(token) > 1:
            needs_cue = True
            if len(set(token)) < len(token):
                continue
        elif letter not in options.labels:
            needs_cue = True
            if not _POINTED_AT.search(low, max(0, start - 12), start):
                continue
        elif token != letter and not bracketed:
            needs_cue = not (after in _AFTER_LABEL and (start == 0 or before in _BEFORE_LABEL))
        found.append(Mention(start, end, frozenset(token.upper()), needs_cue=needs_cue))
    return found


_NAMES_APART = 12
_BEFORE_LABEL, _AFTER_LABEL = frozenset("\n*-("), frozenset(").:")


def _is_word_here(low: str, end: int, token: str) -> bool:
    """Whether a capital A or I before a blank is the article or the pronoun."""
    word = _NEXT_WORD.match(low, end)
    return word is not None and len(word[1]) > 1 and word[1] not in (AFTER_A if token == "A" else _AFTER_I)


Item = TypeVar("Item")


def _ends(items: Iterable[Item]) -> list[Item]:
    """The first and the last of many items; those between are never held."""
    iterator = iter(items)
    first = list(islice(iterator, _FIRST))
    return first + list(deque(iterator, maxlen=_MOST - _FIRST)) if len(first) == _FIRST else first


# A capital outside the options is read (as an answer that is none) only where something points at it.
_POINTED_AT = re.compile(
    r"(?:[:(\[\"'=\x02选是为案]|\b(?:is|est|option|answer|choice|letter|reponse|choose|pick|select)) ?[(\"'\[]*\Z|\b[a-z][)\"']?(?: ?[,;&/、] ?| and | et | or | ou )\Z"
)


def _in_a_name(reply: str, low: str, start: int, end: int, options: OptionSet) -> bool:
    """P/E, R&D, A-share, U.S., A+, A$, fund A, C shares: the letter belongs to something longer."""
    before, after = reply[start - 1 : start], reply[end : end + 1]
    if before in _TYING and _ties(reply[max(0, start - 3) : start - 1], before, options):
        return True
    if after in _TYING and _ties(reply[end + 1 : end + 3][::-1], after, options):
        return True
    if (after == " " or after > _CHINESE_FROM) and _THINGS_AFTER.match(low, end):
        return True
    if before > _CHINESE_FROM:
        return low.endswith(_THINGS_BEFORE_ZH, 0, start)
    context = low[max(0, start - 16) : start].rstrip(" (\"'").replace("'", " ")
    return context[context.rfind(" ") + 1 :] in _THINGS_BEFORE


_TYING = frozenset("/&-'.+$")
_CHINESE_FROM = "\u2e80"


def _ties(neighbour: str, sign: str, options: OptionSet) -> bool:
    """Whether a sign ties a letter to its neighbour (two characters, the nearer one last)."""
    near, far = neighbour[-1:], neighbour[:-1]
    if (
        sign == "$" or (sign == near == "+") or (sign in "+-" and (not near or near in ",.;)"))
    ):  # 630 A$, rated A+
        return sign != "-" or near != ""
    if not (near.isalnum() and near.isascii()):
        return False
    alone = not far.isalnum()
    if sign == ".":  # U.S. is a name, A.C a list
        return alone and near.upper() not in options.keys
    return sign == "'" or not (alone and near.upper() in options.keys)


# ---- by text -----------------------------------------------------------------------

_NUMBER = re.compile(
    r"(?<![\w.,])(?:[-+] ?)?(?:[$€£¥] ?)?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+|,\d{1,2})?(?!\w|[.,]\d)"
)


def _text_mentions(low: str, options: OptionSet) -> list[Mention]:
    if options.amounts:
        amounts = (
            (match.span(), letter)
            for match in _NUMBER.finditer(low)
            if (letter := options.amounts.get(amount_of(match[0]) or ""))
        )
        return [
            Mention(start, end, frozenset(letter), by_text=True) for (start, end), letter in _ends(amounts)
        ]
    flat = flattened(low)
    found: list[Mention] = []
    for letter, text in options.texts.items():
        if text and text in flat and truth_value(text) is None:
            for at in _ends(_places(text, flat)):
                found.append(Mention(at, at + len(text), frozenset(letter), by_text=True))
    if options.series:
        pattern, tails = options.series
        for match in _ends(pattern.finditer(flat)):
            letters = frozenset(tails[tail] for tail in re.findall(r"\w+", match[1]) if tail in tails)
            either = bool(_OR_WORD.search(match[1]))
            found.append(Mention(match.start(), match.end(), letters, by_text=True, alternatives=either))
    return found


def _places(text: str, flat: str) -> Iterator[int]:
    """Where a text stands alone in another."""
    at = flat.find(text)
    while at >= 0:
        end = at + len(text)
        if _stands_alone(flat, at, end):
            yield at
        at = flat.find(text, end)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a span is no part of a longer word or number."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if _is_word(text[start]) and (_is_word(before) or (before in tuple(".,-") and text[start].isdigit())):
        return False
    if not _is_word(text[end - 1]):
        return True
    if text[end - 1].isdigit() and (
        after == "%" or (after in tuple(".,") and text[end + 1 : end + 2].isdigit())
    ):
        return False
    return not _is_word(after)


def _is_word(character: str) -> bool:
    return character.isalnum() and character < _CHINESE_FROM  # Chinese has no blanks between words


def _without_overlap(mentions: list[Mention]) -> list[Mention]:
    """The longest mention at each place, in order."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda one: (one.start, -one.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
        elif mention.end - mention.start > kept[-1].end - kept[-1].start:
            kept[-1] = mention
    return kept


_TEXT_GAP = re.compile(
    r"[\"',.:]{0,2} ?[-:=→]{0,2} ?(?:option |choice |选项)?[(\[\"']?|[\"']? ?(?:is |, )?(?:option |choice )\(?"
)


def _letters_beside_texts(mentions: list[Mention], low: str) -> list[Mention]:
    """A text with its own letter after it ('debt ratio (C)'), or a letter before another's text: the letter counts."""
    kept: list[Mention] = []
    for mention in mentions:
        last = kept[-1] if kept else None
        if last and last.by_text and not mention.by_text:
            if last.letters == mention.letters and _TEXT_GAP.fullmatch(low, last.end, mention.start):
                kept[-1] = mention._replace(start=last.start, needs_cue=False)
                continue
        elif (
            last
            and mention.by_text
            and _is_label(last)
            and _LABEL_GAP.fullmatch(low, last.end, mention.start)
        ):
            kept[-1] = last._replace(end=mention.end)
            continue
        kept.append(mention)
    return kept


def _is_label(mention: Mention) -> bool:
    return not (mention.by_text or mention.needs_cue) and len(mention.letters) == 1


# ---- lists -------------------------------------------------------------------------

_GAP_TOKEN = re.compile(
    r"as well as|along with|together with|ainsi que|[a-z]+'?|[\n ]\(?\d{1,2}[.)]|选项|还是选?|或者?选?|还有|.",
    re.DOTALL,
)
_JOINERS = (
    frozenset(" \n,;/&+|、()[]\"'*.:-\x02\x03和与及以并且或项跟同")
    | words(
        "选项 还是 或者 还有 and et also plus or ou nor ni either soit vs the option options choice choices statement"
        " statements l' la reponse reponses"
    )
    | {"as well as", "along with", "together with", "ainsi que"}
)
_AND = re.compile(r"(?<![a-z])(?:and|et|or|ou|as well as|ainsi que)(?![a-z])|[&+、和与及或]")
_OR_WORD = re.compile(r"(?<![a-z])(?:or|ou|soit|either)(?![a-z])|或|还是")
_STOP = re.compile(
    r"[:.](?! ?(?:[,;)\"'\n\x03]|and\b|et\b|or\b|ou\b))(?<![a-z]\.(?=[a-z]))|(?<! )-(?! )(?![a-z])"
)
_THROUGH = re.compile(r"[)\"'. ]*(?:through|thru|~|至|到)[(\"' ]*")
_SINGULAR_VERB = re.compile(
    r"[)\"']? (?:is|isn't|was|wasn't|has|does|doesn't|can|cannot|could|would|measures|shows|represents|relates|refers"
    r"|describes|reflects|means|est|etait|represente|mesure|designe|correspond|concerne)(?![a-z])"
)


def _joined(mentions: list[Mention], reply: str, low: str) -> list[Mention]:
    """Neighbours that only list signs separate become one mention."""
    kept = [mentions[0]]
    last = mentions[0]  # the neighbour itself, where kept[-1] may be a whole list
    for mention in mentions[1:]:
        if _belong_together(last, mention, reply, low):
            gap = low[last.end : mention.start]
            letters = kept[-1].letters | mention.letters
            if len(last.letters) == len(mention.letters) == 1 and _THROUGH.fullmatch(gap):
                letters |= {chr(code) for code in range(ord(min(last.letters)), ord(min(mention.letters)))}
            kept[-1] = Mention(
                kept[-1].start,
                mention.end,
                letters,
                by_text=mention.by_text,
                needs_cue=kept[-1].needs_cue or mention.needs_cue,
                alternatives=kept[-1].alternatives or mention.alternatives or bool(_OR_WORD.search(gap)),
            )
        else:
            kept.append(mention)
        last = mention
    return kept


def _only_joins(gap: str) -> bool:
    """Whether lowered text between two mentions is nothing but 'and', commas and the like."""
    return all(token in _JOINERS or token[0] in "\n 还或" for token in _GAP_TOKEN.findall(gap))


def _belong_together(last: Mention, mention: Mention, reply: str, low: str) -> bool:
    if mention.start - last.end > 26 or last.by_text != mention.by_text:
        return False
    gap = low[last.end : mention.start]
    if _THROUGH.fullmatch(gap):
        return True
    if not _only_joins(gap):
        return False
    if "\n" in gap:
        return "\x03\n" not in gap and _alone_on_line(last, reply) and _alone_on_line(mention, reply)
    if _STOP.search(low, last.end, mention.start):
        return False
    return bool(_AND.search(gap)) or not _SINGULAR_VERB.match(low, mention.end)


def _alone_on_line(mention: Mention, reply: str) -> bool:
    """Whether nothing but bullets, brackets and stops stands beside the mention on its line."""
    start = reply.rfind("\n", 0, mention.start) + 1
    end = reply.find("\n", mention.end)
    before, after = reply[start : mention.start], reply[mention.end : end if end >= 0 else len(reply)]
    return (
        len(before) < 12
        and not before.strip(" *-([{\"'\x02.)0123456789")
        and not after.strip(" )]}\"'.,;:\x03")
    )
