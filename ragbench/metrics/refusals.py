"""Whether an answer says that there is none: a rule over the whole answer, English and Russian.

Each sentence is read for three signs. It *declines* when it says that what was asked for cannot be
told, found or computed ("we cannot determine", «невозможно рассчитать»). It *lacks* when it says
that the passages or the like hold nothing of it ("the context does not mention», «в материалах не
указано»). It *needs* when it asks for more ("we would need", «уточните»). An answer is a refusal
when

- all of it is a formula of refusing ("N/A", "None", «Нет данных»), or
- it begins with a sentence that declines or lacks, and nothing is concluded all the same, or
- it begins with a preparation ("To calculate this, …", "As an AI, …") and then declines, or lacks
  and needs, or
- it concludes by declining ("Therefore, it cannot be determined"), or declines twice and needs.

It is none where it declines and then sets out in a list what the sources do give, and where a
sentence only concedes ("Although the text does not say …, it …"). Only what is said of telling and
of sources counts: "We do not provide refunds" and «нельзя сдать экзамен» are answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ragbench.metrics.sentences import split_sentences
from ragbench.metrics.texts import CYRILLIC, LATIN, fold

# Patterns are held against folded sentences: small letters, ё as е.
# What an answer is made from.
SOURCE = (
    r"\b(?:knowledge base|the base|my (?:knowledge|training|sources?|data)|contexts?|passages?"
    r"|documents?|documentation|texts?|sources?|excerpts?|extracts?|snippets?|materials?|articles?"
    r"|evidence|pages?|filings?|reports?|statements?|10-[kq]s?|search results?"
    r"|(?:provided|given|available|retrieved|supplied|above) (?:information|data|details)"
    r"|(?:information|data|details)(?: \w+)? (?:provided|given|available|supplied|above|at hand"
    r"|i have|we have))\b"
)
NOT = r"(?: not|n['’]t)\b"
# What a source does where it answers: it does not tell.
TELL = (
    r"(?:say|mention|contain|give|provide|hold|include|specify|state|describe|answer|cover|address"
    r"|discuss|offer|explain|detail|list|name|tell|disclose|outline|report|break (?:down|out)"
    r"|have (?:any |the |enough |sufficient )?(?:\w+ )?(?:information|data|answers?|details?)"
    r"|(?:indicate|show|reveal|suggest|make (?:it )?clear) (?:any\b|whether|how|what|when|where"
    r"|which|who|why|if|the (?:specific|exact|reason)))"
)
TOLD = (
    r"(?:mentioned|specified|stated|provided|given|described|contained|included|covered|found"
    r"|available|disclosed|present|detailed|listed|reported|addressed|discussed|shown)"
)
KNOWLEDGE = (
    r"(?:information|answers?|data|mention|details?|evidence|indication|references?|records?"
    r"|context|figures?|statements?|numbers?|disclosures?)"
)
CANNOT = (
    r"\b(?:cannot|can not|can['’]t|could not|couldn['’]t|unable|not able|\w+n['’]t (?:be )?able"
    r"|not in a position|(?:will|would) not be able)\b"
)
FIND = (
    r"(?:answer|determine|calculate|compute|confirm|say|tell|conclude|ascertain|verify|establish"
    r"|infer|derive|estimate|assess|evaluate|compare|quantify|deduce|judge|identify|draw"
    r"|make an? \w+|state (?:whether|if)|perform|respond|give (?:a|an|you|the)"
    r"|provide (?:a|an|any|you|the|real|current|specific|information|details|data|figures"
    r"|answers?))"
)
SPEAK = (
    rf"(?:{FIND}|provide|give|offer|find|locate|access|browse|help|assist|comment|advise|know|see"
    r"|retrieve|view|discuss|describe|fulfil+|complete|share|speculate)"
)
FOUND = (
    r"(?:determined|calculated|computed|answered|ascertained|identified|established|assessed"
    r"|derived|estimated|inferred|concluded|verified|confirmed|deduced|drawn|quantified"
    r"|found in|provided (?:without|based))"
)
# What people ask a report for, which is "not given" by it; "breakfast is not given" says more.
QUANTITY = (
    r"\b(?:ratios?|amounts?|values?|percentages?|margins?|totals?|sums?|rates?|costs?|expenses?"
    r"|revenues?|income|earnings|balances?|growth|turnover|dividends?|debts?|names?|reasons?"
    r"|causes?|breakdown|answer)"
)
DECLINES_EN = (
    rf"\bi\b[^.]{{0,40}}{CANNOT}[^.]{{0,40}}\b{SPEAK}\b",
    rf"\bwe\b[^.]{{0,20}}{CANNOT}(?: to)?(?: \w+){{0,2}} {FIND}\b",
    rf"^(?:\w+, )?(?:sorry, )?{CANNOT}(?: to)?(?: \w+ly)? {SPEAK}\b",
    r"(?:\b(?:not (?:\w+ )?(?:possible|feasible)|impossible|no way|insufficient|not sufficient"
    r"|not enough|difficult)|n['’]t (?:enough|possible))(?: \w+){0,4}? to(?: \w+ly)?"
    rf" (?:{FIND}|know)\b",
    rf"\banswer\b[^.,]{{0,20}}\b(?:is|are){NOT} possible\b",
    r"\b(?:cannot|can['’]t|can not|could not|couldn['’]t)(?: \w+)? be(?: \w+ly)?"
    rf" {FOUND}\b",
    rf"\bi (?:\w+ )?(?:do|did){NOT}(?: \w+ly| actually)?"
    r" (?:know(?! of an? )|see|find|have|possess)\b",
    r"\bi(?: would|['’]d)? need (?:more|additional|further) (?:information|context|details)\b",
    r"\bi neither (?:have|know)\b",
    rf"\bwe (?:\w+ )?(?:do|did){NOT}(?: \w+)? have(?: [\w-]+){{0,3}}"
    rf" (?:access|knowledge|{KNOWLEDGE})\b",
    r"\b(?:i|we) (?:have|found|see|could find) no (?:\w+ )?"
    rf"(?:idea|access|knowledge|{KNOWLEDGE})\b",
    rf"\b(?:i|we) lack(?: \w+){{0,3}} (?:{KNOWLEDGE}|access)\b",
    r"\b(?:i am|i['’]m) (?:\w+ )?(?:not sure|unable to|not able to|not aware of)",
    r"\b(?:beyond|outside) (?:of )?"
    r"(?:my|the scope of (?:my|the (?:provided|given|context|documents?|knowledge)))\b",
    r"\bunanswerable\b",
    r"\b(?:more|additional|further) (?:information|context|data|details)(?: \w+){0,3}"
    r" (?:is|are|would be) (?:needed|required|necessary)\b",
    rf"{SOURCE}[^.,]{{0,20}}\b(?:do|does){NOT} (?:allow|permit|let|enable)\b"
    rf"[^.]{{0,30}}\b{FIND}\b",
    rf"{SOURCE}[^.,]{{0,20}}\b(?:is|are) (?:not enough|insufficient|too \w+)\b"
    rf"[^.]{{0,20}} to {FIND}\b",
)
# A source is about something, and then not about what was asked.
TURNS = (
    rf"{SOURCE} (?:\w+ )?(?:discuss|describ|mention|talk|focus|(?:contain|provid)\w* information)"
    r"[^.;\d]{0,120}, (?:but |however,? |yet )?(?:they|it|none|these)"
    rf" (?:do|does|did){NOT}(?: \w+){{0,3}}? {TELL}\b"
)
LACKS_EN = (
    rf"{SOURCE}[^.,]{{0,80}}\b(?:do|does|did){NOT}(?! (?:have|need) to)(?: [\w]+){{0,4}}? {TELL}\b",
    rf"^(?:according to|based on|in|from) [^.,]{{0,40}}{SOURCE}[^.,]{{0,20}}, [^.,]{{0,60}}"
    rf"\b(?:do|does|did){NOT}(?: \w+ly)? (?:specify|state|mention|disclose)\b",
    r"^it (?:is|remains|was) (?:unclear|not clear|unknown|not known)"
    r" (?:whether|how|what|if|who|when|which|why|where)\b",
    rf"\b(?:is|are|was|were)(?: not|n['’]t)(?: been)? (?:(?:explicitly|specifically|directly"
    rf"|clearly) {TOLD}|mentioned|disclosed|specified)\b(?! by)",
    rf"^it (?:is|was)(?: not|n['’]t) (?:\w+ly )?{TOLD}"
    r" (?:who|how|whether|when|where|what|which|why)",
    rf"\b{KNOWLEDGE} (?:is|are) (?:insufficient|not (?:enough|sufficient))\b",
    rf"{SOURCE}[^.,;]{{0,40}}\b(?:has|have|makes?|{TELL}s?|holds|says?|gives?)\b"
    r"[^.]{0,15}\b(?:no|nothing|neither)\b",
    rf"{SOURCE}[^.,;]{{0,40}}\b(?:lacks?|(?:is|are) silent|omits?)\b",
    r"\b(?:no|not any|insufficient|not enough)\s+(?:\w+\s+){0,3}"
    rf"{KNOWLEDGE}\b[^.]{{0,60}}{SOURCE}",
    rf"\b(?:none of|neither|no)\b[^.,]{{0,25}}{SOURCE}[^.,]{{0,30}}\b{TELL}s?\b",
    r"\b(?:nothing|there (?:is|are|was) no|there['’]s no)\b[^.]{0,60}\b(?:in|from|by|within)\b"
    rf"[^.,]{{0,25}}{SOURCE}",
    rf"(?:\bnot|n['’]t)\b[^.,]{{0,25}}\b{TOLD}\b[^.]{{0,30}}\b(?:in|by|from|within|among)\b"
    rf"[^.,]{{0,40}}{SOURCE}",
    r"\b(?:there is|there['’]s|there are) (?:no|not any|not enough|insufficient)\b[^.,]{0,30}"
    r"\b(?:information|answers?|data|mention|details?|evidence|references?|records?)\b"
    r"(?=\W*$|,| (?:of|about|on|in|that|to|for|regarding|concerning|available|provided|given"
    r"|within|from|by|as|whether))",
    rf"^(?:no|insufficient|not enough) (?:\w+ )?{KNOWLEDGE}\b[^.]{{0,60}}"
    rf"\b(?:{TOLD}|{FIND}|(?:on|about|of) (?:this|that|it))\b",
    r"\b(?:nothing|none|no (?:\w+ )?(?:passages?|documents?|results?|sources?|matches))"
    r" (?:\w+ )?(?:was|were|is|could be|has been) (?:\w+ )?(?:found|retrieved)\b",
    rf"\b{KNOWLEDGE}\b[^.,;]{{0,120}}\b(?:(?:is|are|was|were|has|have)(?: not|n['’]t)(?: been)?"
    rf"(?: \w+ly)?(?: been)? (?:{TOLD}|(?:in|within|among)\b[^.,]{{0,25}}{SOURCE})"
    r"|(?<!that )(?<!which )(?:is|are) (?:missing|unavailable|lacking|absent))\b",
    rf"{QUANTITY}\b[^.;]{{0,100}}\b(?:is|are|was|were)(?: not|n['’]t)(?: been)?(?: \w+ly)?"
    r" (?:given|provided|specified|stated|mentioned|disclosed|reported|available|indicated)"
    r"(?=\W*$|,? (?:in|for|here|so|and|therefore|as of)\b)",
    rf"{SOURCE}[^.,]{{0,30}}\b(?:is|are)(?: not|n['’]t)? (?:\w+ )?(?:(?<=not )relevant"
    r"|(?<=n['’]t )relevant|irrelevant|unrelated) to (?:the|this|your) (?:question|query|topic)\b",
    TURNS,
    r"\b(?:missing|absent|unclear|unknown|not (?:\w+ly )?clear)\b[^.,]{0,12}\b(?:in|from)\b"
    rf"[^.,]{{0,25}}{SOURCE}",
    rf"\byou (?:have|did){NOT} (?:provided?|given?|supplied|supply|shared?|included?)\b",
)
NEEDS = (
    r"\b(?:i|we|you|one|it)\b[^.,]{0,20}\b(?:would|will|['’]d|['’]ll)\b[^.,]{0,20}"
    r"\b(?:need|require|have to|be necessary)\b",
    rf"\b(?:i|we) need\b[^.]{{0,60}}\b(?:{KNOWLEDGE}|pieces|two|three)\b",
    r"\b(?:is|are|be) (?:needed|required|necessary)\b",
    r"\bplease (?:provide|share|supply|give|refer|consult|check|specify|clarify|let me know|find"
    r"|obtain)\b",
    r"\b(?:уточните|обратитесь|предоставьте|пришлите|укажите|рекоменду(?:ю|ем)|советую"
    r"|сформулируйте|задайте)\b",
)
# Sources by name, and such words as "document", which are also what an office asks for.
READ = (
    r"\b(?:контекст\w*|материал\w*|отрыв\w*|фрагмент\w*|текст\w*|источник\w*|стать(?:е|ях|я|и)"
    r"|выдержк\w*|баз\w+ знаний|(?:предоставлен|найден|имеющ|приведен|доступн|данн|указан|эт"
    r"|представлен)\w+ (?:\w+ )?(?:документ|страниц|справк|информаци|данны|сведени|баз)\w*)"
)
KEPT = (
    r"\b(?:документ|документаци|страниц|справк|инструкци|руководств|справочник|положени|правил)"
    r"\w*|\bбаз[аеыу]\b"
)
BASE = (
    r"\bв (?:моей |нашей )?базе"
    r"(?= (?:нет|не|ничего|отсутству\w+|об?|про|этого|знаний|данных)\b)"
)
ANY_READ = rf"(?:{READ}|{KEPT})"
SAID = (
    r"(?:сказан|указ|указыва|говор|упом|упомина|содерж|опис|найд|найт|привед|приводит|предоставля"
    r"|сообщ|сообща|представл|раскры|назван|называ|освещ|объясн|отвеча|дает|дают|затраг|уточн"
    r"|включа|фигурир|рассматр|обнаруж)\w*"
)
FACTS = (
    r"(?:информаци\w+|сведени\w+|данн(?:ые|ых|ыми)|ответ(?:а|ов|у|ом)?|упоминани\w+|указани\w+"
    r"|подробност\w+|ни слова|ничего|деталей)"
)
LEARN = (
    r"(?:ответить|сказать|определить|рассчитать|посчитать|подсчитать|вычислить|установить"
    r"|выяснить|предоставить|подсказать|назвать|подтвердить|оценить|сообщить|судить|понять"
    r"|сделать вывод|сравнить|утверждать"
    r"|дать (?:\w+ )?(?:ответ\w*|информаци\w+|совет\w*|оценк\w+)"
    r"|найти (?:\w+ )?(?:ответ|информаци|сведени|данн|упоминани|указани)\w*|помочь)"
)
MAY_NOT = (
    r"\b(?:не (?:\w+ )?(?:могу|можем|смогу|сможем|смог|смогла|удалось|удается|удастся|получится"
    r"|получается|в силах|в состоянии|представляется возможным|берусь|готов|готова)|невозможно"
    r"|нельзя|затрудня\w+|нет возможности)\b"
)
DECLINES_RU = (
    rf"{MAY_NOT}[^.,]{{0,40}}\b{LEARN}\b",
    rf"\b{LEARN}\b[^.;]{{0,40}}{MAY_NOT}",
    r"(?<![«\"“])\b(?:я |мы |увы, |нет, )?не (?:знаю|знаем|располага(?:ю|ем)|владе(?:ю|ем)"
    r"|облада(?:ю|ем)|уверен[аы]?\b(?! в себе))",
    r"\bне наш(?:ел|ла|ли)(?: \w+){0,3} (?:информаци|ответ|сведени|данн|упоминани|указани)\w*",
    rf"\bне (?:имею|имеем|вижу|видим)(?: \w+){{0,2}} (?:доступа|возможности|{FACTS})",
    r"\bу (?:меня|нас) (?:\w+ )?(?:нет|недостаточно|не хватает|отсутству\w+)(?: \w+){0,2}"
    rf" (?:доступа|возможности|{FACTS})",
    r"\b(?:мне|нам)(?: \w+){0,3} (?:неизвестно|не известно)",
    r"\b(?:мне|нам) (?:нужн[оаы]|требуется) (?:больше|дополнительн\w+)"
    r" (?:информаци|данных|сведени)",
    rf"\bвопрос\w* не (?:относится к|связан с)[^.,]{{0,25}}{ANY_READ}",
    r"^(?:увы,? |к сожалению,? )?(?:об этом|про это|это|ничего|ответ)[^.,:]{0,25}"
    r"\b(?:неизвест\w+|не известн\w+)",
    r"\b(?:выходит|находится|лежит) за (?:рамк|предел)\w+"
    r"|\bза (?:рамк|предел)\w+ (?:моих|моей|базы|контекста|документ)",
    r"\bвне (?:моей|моих|рамок|контекста|компетенции)|\bне (?:в|входит в) (?:мо\w+ )?компетенци\w+",
    rf"{ANY_READ}[^.,]{{0,40}}\bне (?:позволя\w+|да\w+ (?:возможности|ответ\w*)|достаточно"
    r"|хватает)\b",
    r"\b(?:недостаточно|не хватает|мало)(?: \w+){0,2} (?:информаци\w+|данных|сведений)"
    r"|\b(?:информации|данных|сведений)(?: \w+){0,3} (?:недостаточно|не хватает)",
)
LACKS_RU = (
    rf"(?:{READ}|{BASE})[^.,]{{0,60}}\b(?:нет|ничего|ни слова|отсутству\w+)\b",
    rf"{ANY_READ}[^.,]{{0,60}}\bне\s+(?:\w+\s+)?"
    rf"(?!\w+нн(?:ы[ехй]|ая|ое|ого|ой|ую)\b){SAID}",
    rf"{ANY_READ} (?:\w+ )?(?:говор|речь|опис|упомин|рассказ)[^.;\d]{{0,80}}, (?:но|однако|а)\b"
    rf"[^.;]{{0,40}}\bне {SAID}",
    rf"{ANY_READ}[^.,]{{0,30}}\b(?:неясно|не ясно|непонятно|не понятно|не следует)\b",
    rf"\bне\s+(?:\w+\s+)?{SAID}[^.]{{0,60}}\b(?:в|во|среди|из)\b[^.,]{{0,25}}{ANY_READ}",
    rf"\b(?:нет|отсутству\w+)\b[^.,]{{0,40}}\b(?:в|во|среди)\b[^.,]{{0,15}}{READ}",
    r"\b(?:нет|не наш\w+|не найден\w*|не обнаружен\w*|не удалось найти|отсутству\w+"
    rf"|не содерж\w+)\b[^.,]{{0,30}}\b{FACTS}",
    r"\b(?:информаци\w+|сведени\w+|данные|данных|ответа?|упоминани\w+)\b[^.,:]{0,60}"
    r"\b(?:отсутству\w+|не наш\w+|не найден\w*|не обнаружен\w*|нет|не указан\w*|не привед\w+"
    r"|не предоставл\w+|не содерж\w+|не представлен\w*|недоступн\w+)\b",
    rf"{ANY_READ}[^.,]{{0,40}}\bумалчива\w+",
    r"^(?:[\w-]+ ){0,5}ничего не (?:известно|сказано|говорится)\b",
    r"\b(?:вы|мне) не (?:предоставил|указал|прислал|привел|дал)\w*",
)
# A sentence that begins so, or ends so, concedes what it says.
CONCEDES = re.compile(
    r"^(?:although|though|while|whereas|even if|even though|if|when|unless|хотя|несмотря на то"
    r"|пусть|если|когда)\b"
)
CONCEDED = re.compile(r"(?<=\w),? (?:although|even though|хотя) .*")
PREPARES = re.compile(
    r"^(?:to (?:\w+ )?(?:answer|calculate|determine|find|compute|provide|assess|address|evaluate"
    r"|understand|know|obtain|get|estimate|compare|identify|confirm)\b|in order to\b|as an? "
    r"|as of my\b|(?:i am |i['’]m )?(?:very |so )?sorry\b|unfortunately\b|i apologi[sz]e\b"
    r"|regrettably\b|the question asks\b|based on my (?:last|latest|knowledge)"
    r"|without (?:access|more|additional|further|specific|the specific)\b|чтобы\b"
    r"|для (?:ответа|расчета|того|определения|вычисления|подсчета|оценки)\b"
    r"|как (?:языковая|ии|искусственн)|извините\b|простите\b|к сожалению\b|увы\b"
    r"|вопрос (?:касается|про|о|об)\b)"
)
CLOSES = re.compile(
    r"^(?:therefore|thus|so|hence|as such|consequently|in summary|in conclusion|overall"
    r"|as a result|for this reason|поэтому|следовательно|таким образом|в итоге|итак|значит"
    r"|в результате)\b"
)
# Something is concluded all the same.
GIVES = (
    r"\b(?:we|one|you|i) can(?: \w+)? (?:conclude|infer|estimate|deduce|approximate)\b",
    r"\bwe can (?:calculate|see that)\b",
    r"\bcan be (?:inferred|concluded|estimated|approximated|used to infer|deduced)\b",
    r"\bit follows (?:from|that)\b",
    r"^(?:however|but|nevertheless|nonetheless|still|instead),?"
    r" (?:it|they|he|she|the \w+|this|these)(?: do(?:es)?)?"
    r" (?:mention|state|describe|indicate|suggest|say|show|name|note|list|explain|give|provide)"
    r"s?\b",
    r"^(?:however, |but )?(?:based on|from|given)\b[^.]{0,80}, (?:it|we|the|they|he|she)\b",
    r"^(?:therefore|thus|so|hence|in summary|in conclusion|overall|instead)\b[^.]{0,120}"
    r"\b(?:is|are|was|were|has|have|had)\b",
    r"\b(?:seems|appears) to (?:be|have)\b",
    r"\b(?:можно (?:\w+ )?(?:заключить|сделать вывод|предположить|вывести)"
    r"|(?:отсюда|из (?:этого|таблиц\w+|\w+)) следует|следует из)\b",
    r"^(?:поэтому|следовательно|таким образом|значит|итак)\b[^.]{0,40}(?:\d| — )",
)
# After "but", what is usual is an answer, and so is a number; what "I can" tell besides is not.
GIVES_BESIDE = re.compile(
    r"^(?!.*\b(?:not|no|не|нет|i can|we can|могу|можем)\b)"
    r"(?:.*\b(?:usually|typically|generally|normally|as a rule|обычно|как правило|в среднем"
    r"|чаще всего|по умолчанию)\b|.*\d)"
)
HEDGES = re.compile(
    r"\bconfirm (?:this|that|it)\b|\b(?:definitive|conclusive|exact|precise)(?:ly)?\b"
    r"|\b(?:точно|однозначно|окончательно)\b"
)
SUPPOSES = re.compile(
    r"\b(?:example|hypothetical|assum\w+|suppose|let['’]s say|once you|if you|if we"
    r"|would be calculated|пример\w*|допустим|предположим|если)\b"
)
FORMULA = re.compile(
    r"(?:(?:sorry|unfortunately|извините|к сожалению|увы),? )?(?:n/?a|none|null"
    r"|not(?= (?:in|by|from|within) )|unknown|unanswerable"
    r"|(?:there is )?no (?:\w+ )?(?:answer|information|data)(?: (?:found|available|provided))?"
    r"|no results?(?: (?:were |was )?found)?|nothing found"
    rf"|(?:(?:it is )?(?:not|un)|it (?:is|was)n['’]t)(?: \w+ly)? ?{TOLD}|(?:it is )?unclear"
    rf"|(?:not (?:enough|sufficient)|insufficient) (?:\w+ )?{KNOWLEDGE}"
    r"|(?:i am |i['’]m )?not sure|cannot say|can['’]t say|no idea|not answerable"
    rf"|(?:the )?(?:information|data|answer) (?:is |was )?(?:not {TOLD}|unavailable)"
    r"|(?:об этом |про это |ничего )?(?:не|ни) (?:знаю|сообщается|говорится|нашлось|указан[оаы]?"
    r"|упомянут[оаы]?|сказано|известно|определено|найден[оаы]?|приводится|могу знать)|неизвестно"
    r"|неясно|нет (?:\w+ )?(?:данных|ответа|информации|сведений)|ответа? (?:нет|не найден)|н/?д"
    r"|недостаточно (?:данных|информации|сведений)|без ответа|затрудняюсь(?: ответить)?)"
    rf"(?: (?:in|by|from|within|в|во) (?:\w+ ){{0,3}}{SOURCE}"
    rf"| (?:в|во) (?:\w+ ){{0,2}}{ANY_READ})?"
)
OF_A_SOURCE = re.compile(rf"{SOURCE}|{ANY_READ}")
HOLDS = re.compile(
    rf"\b(?:{TELL}s?|holds|says|gives|follow\w*|see|know)\b|\b(?:{SAID}|есть|следующ\w+)"
)
ITEM = re.compile(r"^(?:[-*•–—]|\d+[.)])\s.*?:\s*(?:[^\w\s]|[a-zа-я]{1,3}\b|\s){0,4}\d")
ENDS = re.compile(r"^\W+|\W+$")
HEADING = re.compile(r"^\W*(?:answer|ответ)\W*[:：–—]\s*")
CLAUSES = re.compile(
    r"; |: (?=\w+ (?:do|does|is|are)\b)|, (?:but|however|yet|но|однако|зато|а)\b,? ?"
)


@cache  # they take a tenth of a short command to compile
def any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Compile patterns of which any will do, when they are first needed."""
    # They begin at a word, with n't or as the sentence does: other places are passed over at once.
    choices = "|".join(pattern.removeprefix(r"\b") for pattern in patterns)
    return re.compile(rf"(?:^|\b|(?=n['’]t))(?:{choices})")


@dataclass(frozen=True)
class Sentence:
    """A folded sentence with its signs. gives: it concludes something all the same."""

    text: str
    declines: bool
    lacks: bool
    needs: bool
    gives: bool

    @property
    def denies(self) -> bool:
        """Whether it says that there is no answer."""
        return self.declines or self.lacks

    @property
    def closes(self) -> bool:
        """Whether it says of itself that it concludes."""
        return bool(CLOSES.match(self.text))


def is_refusal(answer: str) -> bool:
    """Tell whether an answer as a whole says that there is no answer; see the module for the rule.

    An empty answer is none: it says nothing.
    """
    texts = [fold(sentence) for sentence in split_sentences(answer)] or [fold(answer)]
    # A greeting, or the question once more.
    while len(texts) > 1 and texts[0].rstrip().endswith(("!", "?")):
        texts = texts[1:]
    texts[0] = HEADING.sub("", texts[0])
    if len(texts) == 1 and is_formula(texts[0]):
        return True
    return weigh([read_sentence(text) for text in texts])


def is_formula(text: str) -> bool:
    """Tell whether all of a text is a formula of refusing."""
    return bool(FORMULA.fullmatch(ENDS.sub("", text)))


def read_sentence(text: str) -> Sentence:
    """Read a folded sentence for its signs."""
    text = CONCEDED.sub("", text)
    concedes = bool(CONCEDES.match(text)) and not re.search(TURNS, text)
    declines = not concedes and has_sign(text, DECLINES_EN, DECLINES_RU)
    lacks = not concedes and has_sign(text, LACKS_EN, LACKS_RU)
    concludes = bool(any_of(GIVES).search(text)) and not SUPPOSES.search(text)
    gives = concludes and not declines and not lacks
    return Sentence(text, declines, lacks, bool(any_of(NEEDS).search(text)), gives)


def has_sign(text: str, english: tuple[str, ...], russian: tuple[str, ...]) -> bool:
    """Tell whether one of the patterns is found; only those of a script that the text has."""
    if LATIN.search(text) and any_of(english).search(text):
        return True
    return bool(CYRILLIC.search(text) and any_of(russian).search(text))


def weigh(sentences: Sequence[Sentence]) -> bool:
    """Tell by the signs of its sentences whether an answer is a refusal."""
    first, later = sentences[0], sentences[1:]
    lists = [place for place in range(len(sentences) - 2) if sets_out(sentences[place : place + 3])]
    if lists and any(sentence.declines for sentence in sentences[: lists[-1]]):
        return False
    given = [place for place, sentence in enumerate(later) if sentence.gives or place + 1 in lists]
    declining = [
        sentence
        for place, sentence in enumerate(later)
        if sentence.declines and not is_hedge(sentence, bool(given) and given[0] < place)
    ]
    if is_formula(first.text):
        return not given
    if first.denies:
        if gives_beside(first.text):
            return False
        return not given or bool(declining) or later[-1].lacks
    needs = any(sentence.needs for sentence in sentences)
    if PREPARES.match(first.text) or first.needs:
        rest = later[given[-1] + 1 :] if given else later
        lacks = any(sentence.lacks for sentence in rest) and (later[-1].lacks or needs)
        return bool(declining) or lacks
    if any(sentence.closes for sentence in declining):
        return True
    if declining and declining[-1] is later[-1]:
        return True
    return len(declining) > 1 and needs


def sets_out(sentences: Sequence[Sentence]) -> bool:
    """Tell whether a head says what a source gives, and two items with their figures follow."""
    head, *items = sentences
    if head.denies or head.needs or not head.text.endswith(":"):
        return False
    if not (OF_A_SOURCE.search(head.text) and HOLDS.search(head.text)):
        return False
    return all(ITEM.match(item.text) for item in items)


def is_hedge(sentence: Sentence, is_given: bool) -> bool:
    """Tell whether a sentence only hedges what was given before: "we cannot say exactly"."""
    return is_given and bool(HEDGES.search(sentence.text)) and not sentence.closes


def gives_beside(text: str) -> bool:
    """Tell whether a sentence that denies gives an answer in a clause behind that."""
    clauses = [read_sentence(clause) for clause in CLAUSES.split(text)]
    has_denied = False
    for clause in clauses:
        if has_denied and not clause.denies and (clause.gives or GIVES_BESIDE.search(clause.text)):
            return True
        has_denied = has_denied or clause.denies
    return False
