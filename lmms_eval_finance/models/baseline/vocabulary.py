"""Word lists: small words that carry no meaning, and words of fund documents that mean the same."""

from __future__ import annotations

STOP_WORDS = frozenset(
    (
        # French
        "a ai ainsi alors apres as au aucun aussi autre autres aux avait avant avec ayant c ca car ce ceci cela "
        "celle celles celui ces cet cette ceux chez ci comme comment d dans de des deja depuis donc dont du elle elles en "
        "entre es est et etaient etait ete etre eu eux fait faire il ils j je l la le les leur leurs lequel laquelle "
        "lors lui m ma mais me meme mes moi mon n ne ni non nos notre nous on ont ou oui par parmi pas peut peuvent peux "
        "plus pour pourquoi puis qu quand que quel quelle quelles quels quelque qui quoi s sa sans se selon sera ses si soit "
        "son sont sous suis sur t ta te tel telle tes toi ton tous tout toute toutes tres tu un une vers via voici voila vos "
        "votre vous vrai faux y ici present presente presentee presents indique indiquee indiques indiquees mentionne "
        "mentionnee mentionnes mentionnees cite citee cites citees document texte tableau graphique donne donnee associe "
        "associee associes concerne concernee existe exist combien montant elleve eleve elevent trouve trouver "
        "permet identifier appelle appel ainsi st t-il t-elle "
        # English
        "about after all also am an and any are as at be been being between both but by can could did do does doing down "
        "each following for from had has have having he her here him his how i if in into is it its itself may me more most "
        "my no nor not of off on once only or other our out over own same shall she should so some such than that the their "
        "them then there these they this those through to too under until up upon was we were what when where which while "
        "who whom whose why will with would you your following given based according document table figure shown "
        # Chinese
        "的是 是多 多少 什么 哪个 哪些 哪一 请问 根据 下列 以下 其中 关于 如图 图中 表中 中的 为多 的为 个的 这个"
    ).split()
)

_SAME_MEANING = (
    "gestionnaire gerant gerants gere geree geres gerees gerer manager managed management gestion",
    "depositaire depositary custodian conservateur",
    "denomination nom nomme nommee intitule name named called appellation",
    "lancement lance lancee creation cree creee creees crees created launch launched inception constitue constituee",
    "sortie rachat rachats redemption exit remboursement",
    "entree souscription souscriptions subscription entry souscrire",
    "devise devises monnaie monnaies libelle libellee libelles currency currencies denominated",
    "adresse siege localise localisee situe situee address located domicile domiciliee",
    "horizon placement detention detenir holding",
    "commissaire comptes auditeur auditeurs auditor auditors",
    "surperformance outperformance",
    "risque risques risk risks sri isrr srri",
    "reference benchmark comparaison",
    "distributeur distributeurs commercialisateur distributor",
    "autorite autorites supervise supervisee agree agreee agreees regule regulee regulateur reglemente agrement authority "
    "supervised regulated reglementee autorise autorisee",
    "parapluie umbrella",
    "compartiment compartiments sous-fonds subfund",
    "isin identifiant identifiants",
    "investisseur investisseurs investor investors",
    "garantie garanti garantit guarantee guaranteed protege protection",
    "maximum maximal maximale maximaux maximales max plafond",
    "minimum minimal minimale minimaux minimales min",
    "daily quotidien quotidienne quotidiennement journalier journaliere jour jours",
    "index indice indices",
    "objectif objectifs vise but objective aim",
    "taux pourcentage pourcentages percentage rate",
    "frai frais charges couts cout fees fee costs",
    "souscripteur souscripteurs",
    "capitalisation capitalise capitalises reinvesti reinvestis accumulation",
    "site internet web website url",
    "frequence periodicite frequency",
    "supporte supportes supportent charge prise payer paye",
    "publication publie publiee publies",
    "execution execute executes executee",
    "reglement regle regles reglee reglees",
    "centralisation centralise centralises centralisee",
)
CONCEPTS: dict[str, str] = {word: group.split()[0] for group in _SAME_MEANING for word in group.split()}
