"""The classes of seals and the names that models give them.

The two classes are ``company`` and ``personal`` (CFMME). A label is reduced first:
width, case, accents, a trailing number, and the words for *seal* itself are taken
away; then it is looked up in `SYNONYMS`. A label that is not in the list is a class of
its own under its reduced name: it equals only a gold label that reads the same.
"""

from __future__ import annotations

import re
import unicodedata

SYNONYMS: dict[str, tuple[str, ...]] = {
    "company": (
        *("company", "companies", "corporate", "corporation", "enterprise", "business", "firm"),
        *("organization", "organisation", "organizational", "institution", "institutional", "official"),
        *("common", "finance", "financial", "contract", "invoice", "unit"),
        *("公司", "企业", "单位", "机构", "组织", "法人单位", "公司企业", "单位公", "公", "公司公", "企业公"),
        *("财务专用", "合同专用", "发票专用", "业务专用", "财务", "合同", "发票", "业务"),
        *("企業", "單位", "機構", "財務專用", "合同專用", "發票專用", "財務", "發票"),
        *("entreprise", "societe", "compagnie", "organisme", "organisation", "institution", "officiel"),
        *("professionnel", "commercial"),
    ),
    "personal": (
        *("personal", "person", "individual", "private", "people", "human", "name", "signature"),
        *("legal representative", "legal person", "representative"),
        *("个人", "私人", "私", "人名", "姓名", "名", "个人名", "法人", "法人代表", "法定代表人", "签名"),
        *("個人", "個人名", "法定代表", "簽名"),
        *("personnel", "personnelle", "personne", "individuel", "individuelle", "particulier", "prive"),
        *("representant legal", "nom", "nominatif"),
    ),
}

_SEAL_WORDS = frozenset(
    (
        *("seal", "seals", "stamp", "stamps", "chop", "chops", "mark", "imprint", "type", "class", "label"),
        *("sceau", "sceaux", "cachet", "cachets", "tampon", "tampons", "timbre", "timbres"),
        *("box", "boxes", "bbox", "bboxes", "coordinates", "position"),
        *("the", "a", "of", "s", "de", "du", "d", "des", "la", "le", "les", "l", "un", "une"),
    )
)
_CHINESE_SEAL = re.compile(r"(?:的)?(?:印章|图章|圖章|印鉴|印鑑|印|章)(?:类型|类|類)?$")
_TRAILING_NUMBER = re.compile(r"(?<=[^\W\d_])\s*\d{1,4}$")
_NO_WORD = re.compile(r"[\W_]+")


def reduced(label: str) -> str:
    """The label without width, case, accents, punctuation, trailing number and words for *seal*."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", label.strip()[:200]).casefold())
    text = "".join(character for character in text if not unicodedata.combining(character))
    text = _TRAILING_NUMBER.sub("", _NO_WORD.sub(" ", text).strip())
    words = text.split()
    text = " ".join([word for word in words if word not in _SEAL_WORDS] or words)
    return _CHINESE_SEAL.sub("", text) or text


_CLASS_OF = {reduced(name): canonical for canonical, names in SYNONYMS.items() for name in names}


def canonical_label(label: str | None) -> str | None:
    """The class that a label names: ``company``, ``personal``, or its own reduced text.

    Several words of the list that name one class are that class. None for no label or one
    without letters and digits.

    >>> [canonical_label(label) for label in ("Company Seal", "个人印章", "cachet de l'entreprise", "QR code")]
    ['company', 'personal', 'company', 'qr code']
    """
    if label is None:
        return None
    name = reduced(label)
    if name in _CLASS_OF:
        return _CLASS_OF[name]
    classes = {_CLASS_OF.get(word) for word in name.split()}
    if len(classes) == 1 and None not in classes:
        return classes.pop()
    return name or None


_IN_PROSE = re.compile(
    r"\b(?:compan(?:y|ies)|corporat(?:e|ion)|enterprise|business|personal|individual|private|official|"
    r"entreprise|soci[eé]t[eé]|personnel(?:le)?|individuel(?:le)?|particulier)\b"
    r"|公司|企业|企業|单位|單位|公章|(?:财务|財務|合同|发票|發票)(?:专用|專用)?章|个人|個人|私章|私人|名章|法人",
    re.IGNORECASE,
)


def labels_in(text: str) -> list[str]:
    """The names of seal classes in a piece of prose, in order.

    >>> labels_in("one company seal and a 个人章")
    ['company', '个人']
    """
    return _IN_PROSE.findall(text)
