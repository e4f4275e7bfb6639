"""The sorts of answers that questions ask for: by which words, in which form, near which words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lmms_eval_finance.models.baseline import spans
from lmms_eval_finance.models.baseline.spans import Finder
from lmms_eval_finance.models.baseline.words import fold


@dataclass(frozen=True)
class Sort:
    """A sort of answer.

    Attributes:
        name: what it is called here.
        asked: what a (folded) question for it has in it.
        find: the finder of its form; None for sorts that have none.
        hints: words that stand near such an answer whatever the question's words are.
        certain: whether the form alone tells, so that any such stretch beats none.
    """

    name: str
    asked: re.Pattern[str]
    find: Finder | None = None
    hints: str = ""
    certain: bool = False


def _sort(name: str, asked: str, find: Finder | None = None, hints: str = "", certain: bool = False) -> Sort:
    return Sort(name, re.compile(asked), find, hints, certain)


_COMPANY = (
    r"\bS\.?A\.?S?\b|S\.à|r\.l|\b(?:Ltd|Limited|plc|Inc|SE|AG|GmbH|SCA|NV|N\.A|LLP|LLC|Asset Management|Management|Gestion|Bank|Banque|Services|Securities"
    r"|Company|Investment|Investors|Partners|Capital|Advisors|Associés|Audit)\b|公司|银行"
)
_INDEX = (
    r"(?:MSCI|S&P|(?:EURO )?STOXX|FTSE|Bloomberg|J\.?P\.? ?Morgan|JPM|ICE|Solactive|CAC|SBF|TOPIX|Russell|Nasdaq|NASDAQ|Eonia|EONIA|€STR|ESTER|Dow Jones|Markit|iBoxx|HFRX"
    r"|Barclays|NMX|Ester|LIBOR|Euribor|EURIBOR|SARON|SOFR|SONIA|沪深|上证|恒生|中证)"
    r"(?:[ ®]{0,2}(?:\d+\b(?!\s*%)|[A-ZÀ-Ý(][\w&.()/+®-]*|&|ex-\w+|capitalisé|net|nets?|dividendes|réinvestis|hors|TR|en|euros?)(?:[ ]?%)?)*"
)
_COUNTRY = (
    r"\b(?:Luxembourg|France|Irlande|Ireland|Allemagne|Germany|Belgique|Belgium|Royaume-Uni|United Kingdom|Suisse|Switzerland|Espagne|Spain|Italie|Italy|Pays-Bas|Netherlands"
    r"|États-Unis|Etats-Unis|United States|Japon|Japan|Chine|China|Hong Kong|Singapour|Singapore|Autriche|Austria|Suède|Sweden|Norvège|Danemark|Finlande|Portugal)\b"
)
_CURRENCY = (
    r"\b(?:EUR|USD|GBP|CHF|JPY|CNY|CNH|RMB|HKD|SGD|AUD|NZD|CAD|SEK|NOK|DKK|PLN|BRL|ZAR|euros?|dollars?(?: (?:américains?|US|des États-Unis"
    r"|canadiens?|australiens?|de Hong Kong|de Singapour))?|livres? sterling|francs? suisses?|yens?|renminbi|yuan|roubles?|pounds?(?: sterling)?|Swiss francs?)\b"
    r"|[€$£]|人民币|美元|欧元|港元|日元|英镑"
)
_ADDRESS = (
    r"\b\d+[A-Z]?(?:[ -]\d+)?(?:[ ]?(?:bis|ter))?,?[ ][^.;:()\n]{3,90}?(?:\b[A-Z]{1,2}-?[ ]?\d{4,5}|\b\d{5}|\bDublin \d|\bLond(?:on|res))\b(?:[ ][A-ZÀ-Ý][\w'’-]+(?:[ -]+(?:[A-ZÀ-Ý][\w'’-]+|\d{1,2}\b))*)?"
    r"(?:,?[ -]+(?:France|Luxembourg|Grand-Duché de Luxembourg|Irlande|Ireland|Allemagne|Belgique|Suisse|Royaume-Uni))?"
)
_AUTHORITY = (
    r"\b(?:Autorité|Autoriteit|Commission|Central Bank|Banque [Cc]entrale|Financial|Securities|Prudential|Bundesanstalt|Banco)"
    r"(?:[ ](?:[A-Z][\w'’-]*|d['’]\w+|de|des|du|of|the|et|and|for|la|le|marchés?|financiers?|financières?|contrôle|prudentiel|résolution|surveillance"
    r"|secteur|centrale)\b)*(?:[ ]\([A-Z]{2,6}\))?|\b(?:AMF|CSSF|FCA|SEC|BaFin|FINMA|FSMA|AFM|CBI|ACPR)\b|[一-鿿]{2,12}(?:监督管理委员会|监管局|证监会|银保监会)"
)
_FEES = spans.figures(percent=1.0, money=0.8, bare=0.55)
_SUMS = spans.figures(percent=0.6, money=1.0, bare=0.75)

SORTS: Sequence[Sort] = (
    _sort(
        "email",
        r"\be-?mail|courriel|adresse electronique|邮箱",
        spans.by_pattern(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"),
        "mail",
        True,
    ),
    _sort(
        "phone",
        r"telephone|\bphone\b|电话",
        spans.by_pattern(r"\(?\+?\(?\d{2,3}\)?(?:[ .-]?\(?\d{1,4}\)?){3,6}"),
        "téléphone",
        True,
    ),
    _sort(
        "site",
        r"site (?:internet|web)|\burl\b|adresse (?:internet|web|du site)|site officiel|\bwebsite\b|quel site|网址|网站",
        spans.by_pattern(
            r"(?:https?://|www\.)[\w./%?=&#-]+[\w/]|\b[\w-]+(?:\.[\w-]+)*\.(?:com|fr|lu|eu|org|net|ie|uk|de|cn|be|ch)\b(?:/[\w./-]*)?",
            re.IGNORECASE,
        ),
        "site internet",
        True,
    ),
    _sort(
        "address",
        r"\badresse postale|\badresse\b(?! a\b)|siege social|\bou (?:est|se) (?:situe|trouve|localise|domicilie)|where is .* located|\baddress\b|地址",
        spans.by_pattern(_ADDRESS),
        "siège adresse",
        True,
    ),
    _sort(
        "isin",
        r"\bisin\b|code d.identification|identifiant",
        spans.by_pattern(r"\b[A-Z]{2}[ ]?(?:[A-Z0-9][ ]?){9}\d\b"),
        "isin",
        True,
    ),
    _sort(
        "directive",
        r"\bdirectives?\b|\breglement\b(?!-)|quelle (?:loi|reglementation)",
        spans.by_pattern(
            r"(?:\((?:CE|CEE|UE|EU)\)[ ]?)?(?:n°[ ]?)?\b\d{2,4}/\d{1,4}(?:/(?:CE|CEE|UE|EC|EU)\b|\b(?!/))"
        ),
        "directive règlement",
    ),
    _sort(
        "code",
        r"\b(?:ticker|code (?:bloomberg|amf|lei|du|de l)|lei)\b|quel code|代码|编号",
        spans.by_pattern(r"\b(?=[A-Z0-9/.-]*\d)[A-Z0-9][A-Z0-9/.-]{3,24}\b|\b[A-Z]{3,12}(?:[ ][A-Z]{2}\b)?"),
        "code",
    ),
    _sort(
        "currency",
        r"\b(?:devises?|monnaies?|currency|currencies)\b|币种|货币",
        spans.by_pattern(_CURRENCY, re.IGNORECASE),
        "devise",
    ),
    _sort(
        "year",
        r"(?:en |pour |dans )?quelles? annees?|depuis quelle annee|(?:which|what) years?\b|哪一?年|年份",
        spans.years,
    ),
    _sort(
        "duration",
        r"combien (?:de temps|d.annees|de jours|de mois)|\bduree\b|\bhorizon\b|periode de (?:detention|placement)|quelle periode|\bdelai|preavis"
        r"|how long|how many (?:years|months|days)|期限|多久|多长时间",
        spans.durations,
    ),
    _sort("date", r"quelles? dates?|\bquand\b|\bdates?\b|\bwhen\b|日期|何时|什么时候", spans.dates),
    _sort(
        "risk",
        r"(?:categorie|echelle|niveau|classe|indicateur|score|note|profil) (?:synthetique )?(?:de |du )?(?:risque|rendement)|\b(?:isrr|srri|sri)\b"
        r"|echelle de (?:1|risque)|risk (?:class|category|level|indicator)|风险等级",
        spans.risk_classes,
        "catégorie risque",
    ),
    _sort(
        "index",
        r"\bindices?\b|\bindicateur de reference|\bbenchmark\b|\bindex\b|指数",
        spans.by_pattern(_INDEX),
        "indice référence",
    ),
    _sort("country", r"quel pays|which country|国家", spans.by_pattern(_COUNTRY), "agréé"),
    _sort(
        "authority",
        r"\bautorites?\b|\bregulateur|\bsupervise|regulatory|\bregulator|监管",
        spans.by_pattern(_AUTHORITY),
        "autorité agréé réglementé",
        certain=True,
    ),
    _sort(
        "company",
        r"\b(?:societe|gestionnaire|depositaire|banque|etablissement|commissaire|auditeur|distributeur|promoteur|conseiller|initiateur|administrateur|acteur|entite"
        r"|conservateur|centralisateur|agent|company|manager|custodian|bank|issuer|broker)\b|公司|银行|券商",
        spans.names(_COMPANY, rest=0.6),
    ),
    _sort(
        "legal",
        r"forme (?:juridique|legale)|legal form",
        spans.by_pattern(
            r"\b(?:SICAV|FCP|SICAF|SCPI|OPCI|SPPICAV|ICAV|FIP|FCPI|FCPR|[Ff]onds [Cc]ommun de [Pp]lacement|[Ss]ociété d['’][Ii]nvestissement à [Cc]apital [Vv]ariable|plc)\b"
        ),
        "forme juridique",
    ),
    _sort(
        "status",
        r"statut|cadre (?:juridique|reglementaire)|type de fonds",
        spans.by_pattern(r"\b(?:OPCVM|FIA|OPC|UCITS|AIF|SICAV|FCP|ELTIF|FPS)\b"),
        "opcvm",
    ),
    _sort(
        "allocation",
        r"(?:affectation|utilisation|distribution|traitement|traites)\b.*\b(?:resultats?|revenus?|sommes|dividendes|plus-values|benefices)|(?:resultats?|revenus?|dividendes)\b.*\b(?:affect|distribu|traite|utilis)",
        spans.by_pattern(
            r"\b(?:capitalisation(?: et/ou distribution)?|distribution|accumulation|capitalisés|distribués|réinvestis)\b",
            re.IGNORECASE,
        ),
        "affectation résultats",
    ),
    _sort(
        "document",
        r"(?:type|nature|nom) (?:de |du )?document|ce document est|d.un document|quel document|\bkiid\b.*\b(?:identif|reconn|sait|savoir)|(?:identif|reconn|sait|savoir).*\b(?:kiid|priip)",
        spans.by_pattern(
            r"document d['’]informations? clés?|informations clés pour l['’]investisseur|\b(?:prospectus|addendum|key information document|KIID|PRIIP)\b",
            re.IGNORECASE,
        ),
    ),
    _sort(
        "count",
        r"combien (?:de |d.|y a-t-il de |existe-t-il de )(?!temps|annees|fois|jours|mois)|how many|多少(?:个|家|只|种|名|项|款|条)|几(?:个|家|只|种|名|项|款|条)",
        spans.figures(percent=0.1, money=0.2, none=0),
    ),
    _sort(
        "percent",
        r"pourcentage|\btaux\b|\bfrais\b|commissions?|performances?|rendement|\bcouts?\b|quotite|percent|\brate\b|\bfees?\b|return|\byield\b|百分|比例|比率|增长率|占比|率",
        _FEES,
    ),
    _sort(
        "amount",
        r"\bmontants?\b|\bcombien\b|\bprix\b|valeur liquidative|encours|minimum|minimale|souscription|seuil|how much|\brevenue|\bsales\b|\bprofit|\bearnings|chiffre d.affaires|\bbenefice|\bresultat net|\bventes\b|\bprice\b|\bamount\b|\bvalue\b|金额|多少|价格|市值|收入|利润",
        _SUMS,
    ),
    _sort("number", r"\bnombre\b|\bnumero\b|\bnumber\b|几", spans.figures(none=0)),
    _sort(
        "fund",
        r"\b(?:fonds|compartiment|produit|portefeuille|fund|sicav)\b|基金",
        spans.names(
            r"\b(?:fund|fonds|funds|equity|equities|bond|bonds|portfolio|income|growth|actions|rendement|obligations|sicav|icav|opportunities|global|sélection)\b|基金",
            rest=0.7,
        ),
        "fonds compartiment nom",
    ),
    _sort("name", r"\bqui\b|s.appelle|\bnom\b|denomination|\bwho\b|the name|谁|名称|哪家", spans.names()),
)
_MENTIONED = frozenset(("percent", "amount", "number", "count", "date"))
"""Sorts whose words turn up in questions for something else (`quelle assiette pour les frais`)."""
_BREAK = re.compile(r"\b(?:des|du|pour|dans|sur|for|in|on)\b")
_NAMES = frozenset(("fund", "name", "company", "authority"))
_NAMING = re.compile(
    r"\bqui\b|appelle|intitul|\bnom\b|denomination|identite|\bwho\b|\bname|quel(?:le)? (?:est )?(?:la |le |l.)?(?:societe|autorite|banque|entite|gestionnaire|depositaire|fonds|compartiment|sicav|produit|organisme|acteur|etablissement)|which|谁|名称|哪"
)
NUMBER = _sort("number", "", spans.figures(none=0))
AMOUNT = _sort("amount", "", _SUMS)
PERCENT = _sort("percent", "", spans.figures(money=0.3, bare=0.3, none=0))

# -- how a question is turned ------------------------------------------------------------------------

_TRUTH = re.compile(r"vrai[ ]?(?:ou|/)[ ]?(?:faux)|true (?:or|/) false|对还是错|正确还是错误|判断")
_ASKING = re.compile(
    r"\b(?:quel|quelle|quels|quelles|qui|que|quoi|combien|comment|pourquoi|ou(?= (?:est|se|sont|peut|trouve))|quand|lequel|laquelle"
    r"|lesquels|lesquelles|what|which|who|whom|whose|when|where|why|how)\b"
    r"|多少|几|什么|哪|谁|如何|怎样|为何"
)
_YES_NO = re.compile(
    r"\best[- ]ce qu(?!i\b)|-t-(?:il|elle|on|ils|elles)\b|\bt[ -](?:il|elle|on|ils|elles)\b|\w-(?:il|elle|on|ils|elles|ce|vous|nous|tu|je|y)\b"
    r"|^\W*(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|must)\b|吗|是否|有没有|能否|可否|是不是"
)
_EITHER = re.compile(r"\b(?:ou|or)\b|还是")
_SIDES = re.compile(
    r"\bou (?:bien|plutot|de maniere|d.une?\b|une?\b|dans une? autre|l.autre|une? autre|suit|\w+ment\b|\w+(?:if|ive)s?\b)"
    r"|\bor (?:rather|an?\b|another|\w+ly\b|\w+ive\b)|还是"
)
"""A question that can be answered by yes is one of two only where the second is one of the first's kind."""
_NO_SIDES = re.compile(r"\b(?:ou|or) (?:non|pas|plus|moins|egale?|not|more|less)\b|vrai ou faux|oui ou non")


def turn_of(question: str) -> str:
    """How a question is turned: ``yes_no``, ``true_false`` (a statement), ``either`` (one of two) or ``open``.

    >>> [turn_of(text) for text in ("Y a-t-il des frais ?", "Le fonds est fermé.", "Actif ou passif ?", "Quel est le taux ?")]
    ['yes_no', 'true_false', 'either', 'open']
    """
    text = fold(question)
    if not re.search(r"\w", text):
        return "open"
    if _TRUTH.search(text):
        return "true_false"
    asking = _ASKING.search(text)
    turned = _YES_NO.search(text)
    open_ended = asking is not None and not _is_relative(text, asking)
    if turned and not (open_ended and asking is not None and asking.start() < turned.start()):
        return "either" if _SIDES.search(text) and _has_sides(text) else "yes_no"
    if open_ended:
        return "open"
    if _has_sides(text):
        return "either"
    return "yes_no" if re.search(r"[?？]", text) else "true_false"


def _is_relative(text: str, asking: re.Match[str]) -> bool:
    """``qui`` and ``que`` within a sentence ask nothing; at its head, or after a mark, they do."""
    if asking[0] not in ("qui", "que", "which", "who", "when", "where", "ou", "quand", "quoi"):
        return False
    before = text[: asking.start()].rstrip(" ,")
    return bool(before) and before[-1] not in ":.?;" and len(before.split()) > 2


def _has_sides(text: str) -> bool:
    return _EITHER.search(text) is not None and not _NO_SIDES.search(text)


def sort_of(question: str) -> Sort | None:
    """The sort of answer that an open question asks for; None where its words do not tell.

    What stands right behind the asking word counts first: `quelle autorité ...` asks for
    an authority whatever fees are mentioned later on.

    >>> [sort.name if (sort := sort_of(text)) else None for text in ("À quelle date ?", "What is the fee?", "总股本是多少？", "Pourquoi ?")]
    ['date', 'percent', 'amount', None]
    """
    text = fold(question)
    asking = _ASKING.search(text)
    behind = _BREAK.split(text[asking.start() :])[0] if asking else text
    head = text if asking and asking[0] > "\u2e80" else " ".join(behind.split()[:5])
    # `quelle assiette ...` names what it asks for, `combien ...` does not.
    named = asking is not None and re.match(r"quel|what|which|lequel|laquelle", asking[0])
    for part in (head, text):
        for sort in SORTS:
            if part is text and named and sort.name in _MENTIONED:
                continue
            if sort.asked.search(part) and (sort.name not in _NAMES or _NAMING.search(text)):
                return sort
    return None
