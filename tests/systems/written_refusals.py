"""Answers written for the rule of refusals: what an assistant says of a knowledge base, by whether it refuses.

None is of a model or of a data set. Every answer stands alone, as a reader would get it. They came in two batches, each
written before the rule had seen it: of the first the rule told 62 of 69 refusals and took 5 of 69 answers for one, of
the second 33 of 41 and 2 of 25; then what it had missed was mended. So they hold the rule, and do not measure it.
"""

from __future__ import annotations

RUSSIAN_REFUSALS = """
В предоставленных документах нет информации о стоимости проживания.
Не могу ответить на этот вопрос.
Нет данных.
К сожалению, в базе знаний не нашлось сведений о пересдаче.
Ответа на ваш вопрос в приведённых фрагментах нет.
Я не располагаю такой информацией.
Затрудняюсь ответить.
Не указано.
Мне это неизвестно.
По предоставленному контексту невозможно определить, сколько длится академический отпуск.
На основании имеющихся материалов нельзя сказать, кто подписывает заявление.
Извините, но я не нашёл ответа в документах.
Этот вопрос выходит за рамки имеющихся у меня сведений.
Контекст не содержит сведений о датах заезда.
В тексте не упоминается, когда открывается столовая.
Информация о расписании автобусов в найденных материалах отсутствует.
Ни в одном из документов не говорится о страховке.
Недостаточно данных, чтобы ответить.
Недостаточно информации для ответа на этот вопрос.
Не удалось найти информацию по вашему запросу.
К сожалению, я не могу помочь с этим вопросом.
Увы, в материалах про это ни слова.
Из приведённых отрывков неясно, нужен ли пропуск. Поэтому ответить не получится.
Точной суммы назвать не могу: в документах её нет.
Для ответа нужны сведения о вашем факультете. Уточните факультет, без него ответить не могу.
Чтобы рассчитать сумму, нужны выплата и коэффициент. Коэффициент в справке не указан. Поэтому рассчитать её невозможно.
Как языковая модель, я не имею доступа к актуальному расписанию. Обратитесь в деканат.
У меня нет данных о количестве мест в общежитии.
В моей базе знаний нет такой информации, обратитесь в поддержку.
В базе ничего не сказано о возврате оплаты.
Документы не позволяют установить, кто отвечает за ремонт.
Предоставленный контекст не отвечает на вопрос о скидках.
Данных о сроках рассмотрения заявления не найдено.
Не нашёл упоминаний о парковке для гостей.
Сведений об этом нет.
Неизвестно.
Об этом в базе знаний ничего не говорится.
В документах описан порядок отчисления, но о восстановлении ничего не сказано. Ответить на вопрос нельзя.
Простите, я не могу дать точный ответ: контекст об этом умалчивает.
Ваш вопрос не относится к теме базы знаний, поэтому ответить на него я не смогу.
Хороший вопрос! К сожалению, в предоставленных материалах на него нет ответа.
К сожалению, информации о графике работы бассейна у меня нет.
Определить это по тексту невозможно.
Судя по фрагментам, речь идёт о магистратуре; об аспирантуре данных нет, поэтому сказать, каков срок, не могу.
Указанные источники не содержат ответа на поставленный вопрос.
К сожалению, контекст не предоставляет данных о стоимости обучения.
Я не могу предоставить эту информацию.
Данный вопрос не освещён в документах.
Извините, у меня нет ответа на этот вопрос.
В найденных фрагментах эта тема не затрагивается.
По имеющимся данным ответить нельзя.
Такой информации в базе знаний не обнаружено.
Нет информации.
Не могу знать.
Информации недостаточно.
Я не знаю ответа на этот вопрос.
Ответ на этот вопрос отсутствует в предоставленном контексте.
Предоставленная информация не позволяет сделать вывод о сроках.
Об этом не сообщается.
Ничего не найдено.
На этот вопрос я ответить не могу, так как в материалах нет нужных данных.
Приведённый текст посвящён другому вопросу и не содержит сведений о льготах.
Документ не уточняет, нужно ли приносить оригинал.
Не представляется возможным определить размер выплаты.
Пожалуйста, уточните вопрос: в базе знаний нет подходящей информации.
""".strip().splitlines()

RUSSIAN_ANSWERS = """
Нельзя сдать экзамен без допуска.
Нет, паспорт для входа не нужен.
Не позднее 5 мая.
Документы не нужны: достаточно студенческого билета.
В общежитии нет кухни на первом этаже.
Данные студентов не передаются третьим лицам.
Без пропуска войти невозможно.
Библиотека не работает по воскресеньям.
В воскресенье ответа на заявку ждать не стоит: её рассматривают по будням.
Справку не выдают в день обращения.
Невозможно восстановиться на бюджет, если нет свободных мест.
Отсутствие на трёх занятиях подряд ведёт к недопуску.
К сожалению, перенести экзамен нельзя: сессия заканчивается 25 января.
Извините за задержку: столовая открыта с 9:00 до 17:00.
Информация о стипендии есть на сайте; выплата приходит 25 числа.
Если в базе нет вашей фамилии, обратитесь в деканат: её внесут в течение дня.
Хотя в тексте не назван точный размер штрафа, из таблицы следует: 5 рублей в день.
Не знаете пароль — восстановите его по ссылке на странице входа.
В правилах не указан срок, однако из договора следует, что он равен году.
Студент не может получить две стипендии одновременно.
Документы не принимаются без подписи руководителя.
Это не обязательно: достаточно заявления.
Нет.
Да, но не чаще одного раза в семестр.
Преподаватель может не отвечать на письма в выходные.
В договоре нет пункта о штрафах, поэтому платить не придётся.
Отказать в приёме заявления не могут.
Если ответа нет в течение трёх дней, напишите в поддержку.
Нужны паспорт и две фотографии.
Чтобы получить пропуск, нужно подать заявление и прийти в бюро с паспортом.
Для расчёта берут средний балл за семестр: 4,5 × 1,2 = 5,4 тысячи рублей.
Пересдать экзамен на повышенную оценку нельзя.
Вход с животными запрещён, исключений нет.
Плата не взимается.
Узнать результат можно в личном кабинете; по телефону его не сообщают.
Стоимость не указана на сайте, её называют при заселении: 1200 рублей в месяц.
Увы, скидок для выпускников больше нет.
Найти свободное место в общежитии после 1 сентября почти невозможно.
Комиссия не рассматривает заявления без приложений.
Не подходит: нужна справка по форме 086/у.
Материалы конференции не публикуют до декабря.
В тексте диплома не должно быть больше 15 процентов заимствований.
Справочные материалы на экзамене не разрешены.
Источник бесперебойного питания в комнате не предусмотрен.
Нельзя: помещение закрыто.
Неизвестному отправителю доступ не дают.
Нет, данные хранятся пять лет.
Такой услуги нет.
Сведения о доходах не нужны.
Вопросы на экзамене не повторяются.
Ответ на апелляцию дают не позже чем через три дня.
Документ недействителен без печати.
В контексте учебного плана практика не обязательна.
Не получится: касса закрыта на ремонт.
Студент не указан в приказе, если не оплатил обучение; тогда его не допускают.
Правила не запрещают приносить свой обед.
Источников в реферате должно быть не меньше десяти, текст не короче 15 страниц.
Узнать пароль у сотрудников нельзя, его меняют сами.
""".strip().splitlines()

ENGLISH_REFUSALS = """
Not in the provided text.
The passages are silent on this.
That information isn't provided in the context.
Nothing was found on this topic.
I could not find an answer in the documents.
Sorry, I can't help with that.
I apologize, but the information needed is not available in the given context.
As an AI language model, I don't have the ability to access live timetables.
There is insufficient information to answer the question.
The context doesn't say how long a loan lasts.
It cannot be determined from the excerpts who signs the form.
No relevant information found.
Based on the documents, I'm unable to say when the canteen opens.
I have no information about that.
The documents describe how to enrol. They do not say anything about fees. So I cannot answer the question.
Unknown.
I'm not able to determine that from what was given.
To work this out we would need the number of rooms, which the documents do not give.
This falls outside the scope of the provided documents.
Your question can't be answered with the information at hand.
The fee for guests is not specified in the document.
Insufficient context.
I don't know.
Unfortunately, there is no mention of scholarships in the retrieved passages, so I can't tell.
My knowledge does not cover this; please contact the help desk.
I could not locate this in the handbook excerpts.
The provided information does not specify the opening hours.
There's not enough context to answer.
This is not mentioned in the passages.
I'm afraid I don't have that information.
The answer is not contained in the text.
None of the passages mention parking.
No answer.
The text gives no indication of when the fee is due.
Neither document states the deadline.
The documents provided do not answer your question.
I cannot provide a specific answer based on the context.
It is not stated.
It is not clear from the context whether guests may stay overnight.
The question cannot be answered based on the given passages.
Without more information, it is impossible to say.
Information not available.
Data not provided.
Cannot be determined.
Can't say based on this text.
""".strip().splitlines()

ENGLISH_ANSWERS = """
You cannot borrow reference books.
No, documents are not needed.
The library does not provide printers on weekends.
We do not have a car park for guests.
The report does not have to be signed.
Sorry for the delay: the office opens at 9:00.
It is not possible to change rooms before October.
Students who do not know their password can reset it at the desk.
The figures do not show a decline.
The statement must not include personal data.
Not later than 5 May.
The text does not name the day outright, but it follows from the calendar: 12 June.
Unfortunately, late submissions are not accepted.
The deadline is 1 March. The document does not mention exceptions.
If there is no answer within three days, write to the dean's office.
Nobody may enter without a pass.
You do not need to provide a reference.
The page cannot be printed in colour.
The results are not available in winter; they are published in May.
Although the passages give no exact sum, the fine is about 5 a day.
I can't recommend it: the old form is void since 2022.
No information about students is passed on to third parties.
To get a pass, you need two photographs and an application.
The articles of association do not allow a second term.
The supplied data are stored for five years and are not shared.
The document need not be notarised.
No answer within ten days means refusal.
Statements of income are not required.
Information is sent by e-mail, not by post.
You will not be able to find a place after September, so apply early.
I would recommend the east entrance: the main one is not open.
It isn't possible to determine grades by attendance alone; exams count 60 percent.
The source code is not published.
There is no evidence requirement for small claims.
Data about visitors are not kept.
The passage to the annex is closed, use the north door.
""".strip().splitlines()
