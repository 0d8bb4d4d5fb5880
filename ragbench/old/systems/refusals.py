"""Whether an answer says that there is none: a rule over the whole answer, in English and Russian.

Each sentence is read for three signs. It *declines* when it says that something asked for cannot be told, found or
computed ("we cannot determine", «невозможно рассчитать»). It *lacks* when it says that the passages or the like hold
nothing of it ("the context does not mention", «в материалах не указано»). It *needs* when it asks for more ("we would
need", "please provide", «уточните»). An answer is a refusal when

- all of it is a formula of refusing ("N/A", "Not mentioned", «Нет данных»), or
- it begins with a sentence that declines or lacks, and no sentence that draws a conclusion all the same follows, or
- it begins with a preparation ("To calculate this, …", "As an AI, …") and then declines, or lacks and needs, or
- it concludes by declining ("Therefore, it cannot be determined"), or declines twice and needs.

It is none where it declines and then sets out, in a list, what the sources do give ("The statement provides the
following: - Capex: $1,075 million - …"): that answers in part, however it closes. A list before it declines is work
that came to nothing. A sentence that only concedes ("Although the text does not say …, it …") has no sign. Only what is
said of telling and of sources counts: "We do not provide refunds" and «нельзя сдать экзамен» are answers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ragbench.old.core import segmentation
from ragbench.old.judge import words

REFUSALS = {
    "en": "The passages at hand do not answer this question.",
    "ru": "В найденных материалах нет ответа на этот вопрос.",
}
"""What the extractive generator says where nothing fits."""


class Recognised(NamedTuple):
    """How well refusals are told by the rule, on answers whose refusals people labelled.

    answers: of `systems` language models and settings. refusals: labelled as such. taken: taken for refusals by the
    rule. found: both.
    """

    answers: int
    systems: int
    refusals: int
    taken: int
    found: int

    @property
    def recall(self) -> float:
        """The share of the labelled refusals that the rule finds."""
        return self.found / self.refusals

    @property
    def precision(self) -> float:
        """The share of what the rule takes for refusals that is labelled as such."""
        return self.found / self.taken


RECOGNISED = Recognised(answers=1200, systems=8, refusals=338, taken=339, found=327)
"""On FinanceBench's labelled results (Islam et al. 2023, arXiv:2311.11944), English, on which the rule was made;
`benchmarks/real_refusals.py` counts it anew, by system, and without the signs that no other model shows."""

_SOURCE = (
    r"\b(?:knowledge base|the base|my (?:knowledge|training|sources?|data)|contexts?|passages?|documents?"
    r"|documentation|texts?|sources?|excerpts?|extracts?|snippets?|materials?|articles?|evidence|pages?|filings?|reports?|statements?"
    r"|10-[kq]s?|(?:provided|given|available|retrieved|supplied|above) (?:information|data|details)"
    r"|(?:information|data|details)(?: \w+)? (?:provided|given|available|supplied|above|at hand|i have|we have))\b"
)
_NOT = r"(?: not|n['’]t)\b"
_TELL = (
    r"(?:say|mention|contain|give|provide|hold|include|specify|state|describe|answer|cover|address|discuss|offer"
    r"|explain|detail|list|name|tell|disclose|outline|report|break (?:down|out)|have (?:any |the |enough |sufficient"
    r" )?(?:\w+ )?(?:information|data|answers?|details?)|(?:indicate|show|reveal|suggest|make (?:it )?clear) (?:any\b"
    r"|whether|how|what|when|where|which|who|why|if|the (?:specific|exact|reason)))"
)
_TOLD = (
    r"(?:mentioned|specified|stated|provided|given|described|contained|included|covered|found|available|disclosed"
    r"|present|detailed|listed|reported|addressed|discussed|shown)"
)
_KNOWLEDGE = (
    r"(?:information|answers?|data|mention|details?|evidence|indication|references?|records?|context|figures?"
    r"|statements?|numbers?|disclosures?)"
)
_CANNOT = (
    r"\b(?:cannot|can not|can['’]t|could not|couldn['’]t|unable|not able|\w+n['’]t (?:be )?able|not in a position"
    r"|(?:will|would) not be able)\b"
)
_FIND = (
    r"(?:answer|determine|calculate|compute|confirm|say|tell|conclude|ascertain|verify|establish|infer|derive|estimate"
    r"|assess|evaluate|compare|quantify|deduce|judge|identify|draw|make an? \w+|state (?:whether|if)|perform|respond"
    r"|give (?:a|an|you|the)"
    r"|provide (?:a|an|any|you|the|real|current|specific|information|details|data|figures|answers?))"
)
_SPEAK = (
    rf"(?:{_FIND}|provide|give|offer|find|locate|access|browse|help|assist|comment|advise|know|see|retrieve|view"
    rf"|discuss|describe|fulfil+|complete|share|speculate)"
)
_FOUND = (
    r"(?:determined|calculated|computed|answered|ascertained|identified|established|assessed|derived|estimated|inferred"
    r"|concluded|verified|confirmed|deduced|drawn|evaluated|quantified|found in|provided (?:without|based))"
)
_ENGLISH_DECLINES = (
    rf"\bi\b[^.]{{0,40}}{_CANNOT}[^.]{{0,40}}\b{_SPEAK}\b",
    rf"\bwe\b[^.]{{0,20}}{_CANNOT}(?: to)?(?: \w+){{0,2}} {_FIND}\b",
    rf"^(?:\w+, )?(?:sorry, )?{_CANNOT}(?: to)?(?: \w+ly)? {_SPEAK}\b",
    rf"(?:\b(?:not (?:\w+ )?possible|impossible|no way|insufficient|not sufficient|not enough)|n['’]t enough)(?:"
    rf" \w+){{0,4}}? to(?: \w+ly)? {_FIND}\b",
    rf"\b(?:cannot|can['’]t|can not|could not|couldn['’]t)(?: \w+)? be(?: \w+ly)? {_FOUND}\b",
    rf"\bi (?:\w+ )?(?:do|did){_NOT}(?: \w+ly| actually)? (?:know(?! of an? )|see|find|have|possess)\b",
    r"\bi(?: would|['’]d)? need (?:more|additional|further) (?:information|context|details)\b",
    r"\bi neither (?:have|know)\b",
    rf"\bwe (?:\w+ )?(?:do|did){_NOT}(?: \w+)? have(?: [\w-]+){{0,3}} (?:access|knowledge|{_KNOWLEDGE})\b",
    rf"\b(?:i|we) (?:have|found|see|could find) no (?:\w+ )?(?:idea|access|knowledge|{_KNOWLEDGE})\b",
    rf"\b(?:i|we) lack(?: \w+){{0,3}} (?:{_KNOWLEDGE}|access)\b",
    r"\b(?:i am|i['’]m) (?:\w+ )?(?:not sure|unable to|not able to|not aware of)",
    r"\b(?:beyond|outside) (?:of )?(?:my|the scope of (?:my|the (?:provided|given|context|documents?|knowledge)))\b",
    r"\bunanswerable\b",
    rf"{_SOURCE}[^.,]{{0,20}}\b(?:do|does){_NOT} (?:allow|permit|let|enable)\b[^.]{{0,30}}\b{_FIND}\b",
    rf"{_SOURCE}[^.,]{{0,20}}\b(?:is|are) (?:not enough|insufficient|too \w+)\b[^.]{{0,20}} to {_FIND}\b",
)
_TURNS = (
    rf"{_SOURCE} (?:\w+ )?(?:discuss|describ|mention|talk|focus|(?:contain|provid)\w* information)[^.;\d]{{0,120}},"
    rf" (?:but |however,? |yet )?(?:they|it|none|these) (?:do|does|did){_NOT}(?: \w+){{0,3}}? {_TELL}\b"
)
"""A source is about something, and then not about what was asked."""
_ENGLISH_LACKS = (
    rf"{_SOURCE}[^.,]{{0,80}}\b(?:do|does|did){_NOT}(?: [\w]+){{0,4}}? {_TELL}\b",
    rf"{_SOURCE}[^.,;]{{0,40}}\b(?:has|have|{_TELL}s?|holds|says?|gives?)\b[^.]{{0,15}}\b(?:no|nothing|neither)\b",
    rf"{_SOURCE}[^.,;]{{0,40}}\b(?:lacks?|(?:is|are) silent|omits?)\b",
    rf"\b(?:no|not any|insufficient|not enough)\s+(?:\w+\s+){{0,3}}{_KNOWLEDGE}\b[^.]{{0,60}}{_SOURCE}",
    rf"\b(?:none of|neither|no)\b[^.,]{{0,25}}{_SOURCE}[^.,]{{0,30}}\b{_TELL}s?\b",
    rf"\b(?:nothing|there (?:is|are|was) no|there['’]s no)\b[^.]{{0,60}}\b(?:in|from|by"
    rf"|within)\b[^.,]{{0,25}}{_SOURCE}",
    rf"\b(?:not|n['’]t)\b[^.,]{{0,25}}\b{_TOLD}\b[^.]{{0,30}}\b(?:in|by|from|within|among)\b[^.,]{{0,40}}{_SOURCE}",
    r"\b(?:there is|there['’]s|there are) (?:no|not any|not enough|insufficient)\b[^.,]{0,30}\b(?:information"
    r"|answers?|data|mention|details?|evidence|references?|records?)\b(?=\W*$|,| (?:of|about|on|in|that|to|for"
    r"|regarding|concerning|available|provided|given|within|from|by|as|whether))",
    rf"^(?:no|insufficient|not enough) (?:\w+ )?{_KNOWLEDGE}\b[^.]{{0,60}}\b(?:{_TOLD}|{_FIND}|(?:on|about"
    rf"|of) (?:this|that|it))\b",
    r"\b(?:nothing|none) (?:\w+ )?(?:was|were|is|could be|has been) (?:\w+ )?(?:found|retrieved)\b",
    rf"\b{_KNOWLEDGE}\b[^.,;]{{0,120}}\b(?:(?:is|are|was|were|has|have)(?: not|n['’]t)(?: been)?(?: \w+ly)?(?: been)?"
    rf" (?:{_TOLD}|(?:in|within|among)\b[^.,]{{0,25}}{_SOURCE})"
    r"|(?<!that )(?<!which )(?:is|are) (?:missing|unavailable|lacking|absent))\b",
    rf"{_SOURCE}[^.,]{{0,30}}\b(?:is|are)(?: not|n['’]t)? (?:\w+ )?(?:(?<=not )relevant|(?<=n['’]t )relevant|irrelevant"
    r"|unrelated) to (?:the|this|your) (?:question|query|topic)\b",
    _TURNS,
    rf"\b(?:missing|absent|unclear|unknown|not (?:\w+ly )?clear)\b[^.,]{{0,12}}\b(?:in|from)\b[^.,]{{0,25}}{_SOURCE}",
    rf"\byou (?:have|did){_NOT} (?:provided?|given?|supplied|supply|shared?|included?)\b",
)
_NEEDS = (
    r"\b(?:i|we|you|one|it)\b[^.,]{0,20}\b(?:would|will|['’]d|['’]ll)\b[^.,]{0,20}\b(?:need|require|have to"
    r"|be necessary)\b",
    rf"\b(?:i|we) need\b[^.]{{0,60}}\b(?:{_KNOWLEDGE}|pieces|two|three)\b",
    r"\b(?:is|are|be) (?:needed|required|necessary)\b",
    r"\bplease (?:provide|share|supply|give|refer|consult|check|specify|clarify|let me know|find|obtain)\b",
    r"\b(?:уточните|обратитесь|предоставьте|пришлите|укажите|рекоменду(?:ю|ем)|советую|сформулируйте|задайте)\b",
)
_READ = (
    r"\b(?:контекст\w*|материал\w*|отрыв\w*|фрагмент\w*|текст\w*|источник\w*|стать(?:е|ях|я|и)|выдержк\w*"
    r"|баз\w+ знаний|(?:предоставлен|найден|имеющ|приведен|доступн|данн|указан|эт|представлен)\w+ (?:\w+ )?"
    r"(?:документ|страниц|справк|информаци|данны|сведени|баз)\w*)"
)
_KEPT = r"\b(?:документ|документаци|страниц|справк|инструкци|руководств|справочник|положени|правил)\w*|\bбаз[аеыу]\b"
_BASE = r"\bв (?:моей |нашей )?базе(?= (?:нет|не|ничего|отсутству\w+|об?|про|этого|знаний|данных)\b)"
_ANY_READ = rf"(?:{_READ}|{_KEPT})"
_SAID = (
    r"(?:сказан|указ|указыва|говор|упом|упомина|содерж|опис|найд|найт|привед|приводит|предоставля|сообщ|сообща"
    r"|представл|раскры|назван|называ|освещ|объясн|отвеча|дает|дают|затраг|уточн|включа|фигурир|рассматр|обнаруж)\w*"
)
_FACTS = (
    r"(?:информаци\w+|сведени\w+|данн(?:ые|ых|ыми)|ответ(?:а|ов|у|ом)?|упоминани\w+|указани\w+|подробност\w+|ни слова"
    r"|ничего|деталей)"
)
_LEARN = (
    r"(?:ответить|сказать|определить|рассчитать|посчитать|подсчитать|вычислить|установить|выяснить|предоставить"
    r"|подсказать|назвать|подтвердить|оценить|сообщить|судить|понять|сделать вывод|сравнить|утверждать|дать"
    r" (?:\w+ )?(?:ответ\w*|информаци\w+|совет\w*|оценк\w+)|найти (?:\w+ )?(?:ответ|информаци|сведени|данн|упоминани"
    r"|указани)\w*|помочь)"
)
_MAY_NOT = (
    r"\b(?:не (?:\w+ )?(?:могу|можем|смогу|сможем|смог|смогла|удалось|удается|удастся|получится|получается|в силах"
    r"|в состоянии|представляется возможным|берусь|готов|готова)|невозможно|нельзя|затрудня\w+|нет возможности)\b"
)
_RUSSIAN_DECLINES = (
    rf"{_MAY_NOT}[^.,]{{0,40}}\b{_LEARN}\b",
    rf"\b{_LEARN}\b[^.;]{{0,40}}{_MAY_NOT}",
    r"(?<![«\"“])\b(?:я |мы |увы, |нет, )?не (?:знаю|знаем|располага(?:ю|ем)|владе(?:ю|ем)|облада(?:ю|ем)"
    r"|уверен[аы]?\b(?! в себе))",
    r"\bне наш(?:ел|ла|ли)(?: \w+){0,3} (?:информаци|ответ|сведени|данн|упоминани|указани)\w*",
    rf"\bне (?:имею|имеем|вижу|видим)(?: \w+){{0,2}} (?:доступа|возможности|{_FACTS})",
    rf"\bу (?:меня|нас) (?:\w+ )?(?:нет|недостаточно|не хватает|отсутству\w+)(?: \w+){{0,2}} (?:доступа|возможности"
    rf"|{_FACTS})",
    r"\b(?:мне|нам)(?: \w+){0,3} (?:неизвестно|не известно)",
    r"\b(?:мне|нам) (?:нужн[оаы]|требуется) (?:больше|дополнительн\w+) (?:информаци|данных|сведени)",
    rf"\bвопрос\w* не (?:относится к|связан с)[^.,]{{0,25}}{_ANY_READ}",
    r"^(?:увы,? |к сожалению,? )?(?:об этом|про это|это|ничего|ответ)[^.,]{0,25}\b(?:неизвест\w+|не известн\w+)",
    r"\b(?:выходит|находится|лежит) за (?:рамк|предел)\w+|\bза (?:рамк|предел)\w+ (?:моих|моей|базы|контекста"
    r"|документ)",
    r"\bвне (?:моей|моих|рамок|контекста|компетенции)|\bне (?:в|входит в) (?:мо\w+ )?компетенци\w+",
    rf"{_ANY_READ}[^.,]{{0,40}}\bне (?:позволя\w+|да\w+ (?:возможности|ответ\w*)|достаточно|хватает)\b",
    r"\b(?:недостаточно|не хватает|мало)(?: \w+){0,2} (?:информаци\w+|данных|сведений)"
    r"|\b(?:информации|данных|сведений)(?: \w+){0,3} (?:недостаточно|не хватает)",
)
_RUSSIAN_LACKS = (
    rf"(?:{_READ}|{_BASE})[^.,]{{0,60}}\b(?:нет|ничего|ни слова|отсутству\w+)\b",
    rf"{_ANY_READ}[^.,]{{0,60}}\bне\s+(?:\w+\s+)?(?!\w+нн(?:ы[ехй]|ая|ое|ого|ой|ую)\b){_SAID}",
    rf"{_ANY_READ} (?:\w+ )?(?:говор|речь|опис|упомин|рассказ)[^.;\d]{{0,80}}, (?:но|однако|а)\b[^.;]{{0,40}}\bне"
    rf" {_SAID}",
    rf"{_ANY_READ}[^.,]{{0,30}}\b(?:неясно|не ясно|непонятно|не понятно|не следует)\b",
    rf"\bне\s+(?:\w+\s+)?{_SAID}[^.]{{0,60}}\b(?:в|во|среди|из)\b[^.,]{{0,25}}{_ANY_READ}",
    rf"\b(?:нет|отсутству\w+)\b[^.,]{{0,40}}\b(?:в|во|среди)\b[^.,]{{0,15}}{_READ}",
    rf"\b(?:нет|не наш\w+|не найден\w*|не обнаружен\w*|не удалось найти|отсутству\w+"
    rf"|не содерж\w+)\b[^.,]{{0,30}}\b{_FACTS}",
    r"\b(?:информаци\w+|сведени\w+|данные|данных|ответа?|упоминани\w+)\b[^.,]{0,60}\b(?:отсутству\w+|не наш\w+|не"
    r" найден\w*|не обнаружен\w*|нет|не указан\w*|не привед\w+|не предоставл\w+|не содерж\w+)\b",
    r"\b(?:вы|мне) не (?:предоставил|указал|прислал|привел|дал)\w*",
)
_CONCEDES = re.compile(
    r"^(?:although|though|while|whereas|even if|even though|if|when|unless|хотя|несмотря на то|пусть|если|когда)\b"
)
_CONCEDED = re.compile(r"(?<=\w),? (?:although|even though|хотя) .*")
"""What is conceded behind what is said."""
_PREPARES = re.compile(
    r"^(?:to (?:\w+ )?(?:answer|calculate|determine|find|compute|provide|assess|address|evaluate|understand|know"
    r"|obtain|get|estimate|compare|identify|confirm)\b|in order to\b|as an? |as of my\b|(?:i am |i['’]m )?(?:very |so"
    r" )?sorry\b|unfortunately\b|i apologi[sz]e\b|regrettably\b|the question asks\b|based on my (?:last|latest"
    r"|knowledge)|чтобы\b|для (?:ответа|расчета|того|определения|вычисления|подсчета|оценки)\b|как (?:языковая|ии"
    r"|искусственн)|извините\b|простите\b|к сожалению\b|увы\b|вопрос (?:касается|про|о|об)\b)"
)
_CLOSES = re.compile(
    r"^(?:therefore|thus|so|hence|as such|consequently|in summary|in conclusion|overall|as a result|for this reason"
    r"|поэтому|следовательно|таким образом|в итоге|итак|значит|в результате)\b"
)
_GIVES = re.compile(
    r"\b(?:we|one|you|i) can(?: \w+)? (?:conclude|infer|estimate|deduce|approximate)\b|\bwe can (?:calculate|see"
    r" that)\b|\bcan be (?:inferred|concluded|estimated|approximated|used to infer|deduced)\b|\bit follows (?:from"
    r"|that)\b|^(?:however|but|nevertheless|nonetheless|still|instead),? (?:it|they|he|she|the \w+|this|these)(?:"
    r" do(?:es)?)? (?:mention|state|describe|indicate|suggest|say|show|name|note|list|explain|give|provide)s?\b"
    r"|^(?:however, |but )?(?:based on|from|given)\b[^.]{0,80}, (?:it|we|the|they|he|she)\b|^(?:therefore|thus|so"
    r"|hence|in summary|in conclusion|overall|instead)\b[^.]{0,120}\b(?:is|are|was|were|has|have|had)\b|\b(?:seems"
    r"|appears) to (?:be|have)\b|\b(?:можно (?:\w+ )?(?:заключить|сделать вывод|предположить|вывести)|(?:отсюда|из"
    r" (?:этого|таблиц\w+|\w+)) следует|следует из)\b|^(?:поэтому|следовательно|таким образом|значит"
    r"|итак)\b[^.]{0,40}(?:\d| — )"
)
_HEDGES = re.compile(
    r"\bconfirm (?:this|that|it)\b|\b(?:definitive|conclusive|exact|precise)(?:ly)?\b|\b(?:точно|однозначно"
    r"|окончательно)\b"
)
_SUPPOSES = re.compile(
    r"\b(?:example|hypothetical|assum\w+|suppose|let['’]s say|once you|if you|if we|would be calculated|пример\w*"
    r"|допустим|предположим|если)\b"
)
_FORMULA = re.compile(
    rf"(?:(?:sorry|unfortunately|извините|к сожалению|увы),? )?(?:n/?a|not(?= (?:in|by|from|within) )|unknown"
    rf"|unanswerable|(?:there is )?no (?:\w+ )?(?:answer|information|data)(?: (?:found|available|provided))?|(?:(?:it"
    rf" is )?(?:not|un)|it (?:is|was)n['’]t)(?: \w+ly)? ?{_TOLD}|(?:it is )?unclear|(?:not (?:enough|sufficient)"
    rf"|insufficient) (?:\w+ )?{_KNOWLEDGE}|(?:i am |i['’]m )?not sure|cannot say|can['’]t say|no idea|not answerable"
    rf"|(?:the )?(?:information|data|answer) (?:is |was )?not {_TOLD}|(?:об этом |про это |ничего )?(?:не|ни) (?:знаю"
    rf"|сообщается|говорится|нашлось|указан[оаы]?|упомянут[оаы]?|сказано|известно|определено|найден[оаы]?|приводится"
    rf"|могу знать)|неизвестно|неясно|нет (?:\w+ )?(?:данных|ответа|информации|сведений)|ответа? (?:нет|не найден)"
    rf"|н/?д|недостаточно (?:данных|информации|сведений)|без ответа|затрудняюсь(?: ответить)?)(?: (?:in|by|from|within"
    rf"|в|во) (?:\w+ ){{0,3}}{_SOURCE}| (?:в|во) (?:\w+ ){{0,2}}{_ANY_READ})?"
)
_OF_A_SOURCE = re.compile(rf"{_SOURCE}|{_ANY_READ}")
_HOLDS = re.compile(rf"\b(?:{_TELL}s?|holds|says|gives|follow\w*|see|know)\b|\b(?:{_SAID}|есть|следующ\w+)")
_ITEM = re.compile(r"^(?:[-*•–—]|\d+[.)])\s.*?:\s*(?:[^\w\s]|[a-zа-я]{1,3}\b|\s){0,4}\d")
_ENDINGS = re.compile(r"^\W+|\W+$")
_CLAUSES = re.compile(r"; |: (?=\w+ (?:do|does|is|are)\b)|, (?:but|however|yet|но|однако|зато|а)\b,? ?")


SIGNS = {
    "declines": (*_ENGLISH_DECLINES, *_RUSSIAN_DECLINES),
    "lacks": (*_ENGLISH_LACKS, *_RUSSIAN_LACKS),
    "needs": _NEEDS,
}
"""Patterns over folded sentences, by the sign that one of them gives."""


class _Read(NamedTuple):
    """A folded sentence with its signs."""

    text: str
    declines: bool
    lacks: bool
    needs: bool

    @property
    def denies(self) -> bool:
        return self.declines or self.lacks

    @property
    def closes(self) -> bool:
        """Whether it says of itself that it concludes."""
        return bool(_CLOSES.match(self.text))

    @property
    def gives(self) -> bool:
        """Whether it concludes something all the same."""
        return not self.denies and bool(_GIVES.search(self.text)) and not _SUPPOSES.search(self.text)


def _sets_out(head: _Read, *items: _Read) -> bool:
    """Whether the head says what a source gives, and items with their figures follow."""
    if head.denies or head.needs or not head.text.endswith(":"):
        return False
    if not (_OF_A_SOURCE.search(head.text) and _HOLDS.search(head.text)):
        return False
    return all(_ITEM.match(sentence.text) for sentence in items)


class Rule:
    """The rule with these signs: patterns by name, as SIGNS."""

    def __init__(self, signs: Mapping[str, Sequence[str]]) -> None:
        self._signs = [re.compile("|".join(f"(?:{pattern})" for pattern in signs[name]) or r"(?!)") for name in SIGNS]

    def _read(self, text: str) -> _Read:
        text = _CONCEDED.sub("", text)
        declines, lacks, needs = (bool(sign.search(text)) for sign in self._signs)
        concedes = _CONCEDES.match(text) and not re.search(_TURNS, text)
        return _Read(text, *(False, False) if concedes else (declines, lacks), needs)

    def __call__(self, answer: str) -> bool:
        """Whether the answer as a whole says that there is no answer; see the module for the rule."""
        plain = unicodedata.normalize("NFC", answer).strip()
        sentences = segmentation.sentences(plain) or [plain]
        while len(sentences) > 1 and sentences[0].rstrip().endswith(("!", "?")):  # a greeting, the question once more
            sentences = sentences[1:]
        folded = [words.fold(sentence) for sentence in sentences]
        if len(folded) == 1 and _FORMULA.fullmatch(_ENDINGS.sub("", folded[0])):
            return True
        return self._decided([self._read(sentence) for sentence in folded])

    def _decided(self, read: Sequence[_Read]) -> bool:
        first, later = read[0], read[1:]
        lists = {place for place in range(len(read) - 2) if _sets_out(*read[place : place + 3])}
        if any(sentence.declines for sentence in read[: max(lists, default=0)]):
            return False
        given = [place for place, sentence in enumerate(later) if sentence.gives or place + 1 in lists]
        declining = [
            sentence
            for place, sentence in enumerate(later)
            if sentence.declines
            and not (given and given[0] < place and _HEDGES.search(sentence.text) and not sentence.closes)
        ]
        if _FORMULA.fullmatch(_ENDINGS.sub("", first.text)):
            return not given
        if first.denies:
            if any(self._read(clause).gives for clause in _CLAUSES.split(first.text)[1:]):
                return False
            return not given or bool(declining) or later[-1].lacks
        needs = any(sentence.needs for sentence in read)
        if _PREPARES.match(first.text) or first.needs:
            rest = later[given[-1] + 1 :] if given else later
            return bool(declining) or (any(sentence.lacks for sentence in rest) and (later[-1].lacks or needs))
        if any(sentence.closes for sentence in declining) or (declining and declining[-1] is later[-1]):
            return True
        return len(declining) > 1 and needs


_RULE = Rule(SIGNS)


def is_refusal(answer: str) -> bool:
    """Whether the answer as a whole says that there is no answer; see the module for the rule."""
    return _RULE(answer)
