# ruff: noqa: E501  an answer a line
"""Answers written for the rule of refusals: what an assistant says, by whether it refuses.

None is of a model or of a data set, and every answer stands alone, as a reader would get it. They
came in batches, each written before the rule had seen it; then what it had missed was mended, where
a rule can tell. So they hold the rule, and do not measure it.
"""

from __future__ import annotations

RUSSIAN_REFUSALS = """
- Ничего не известно о сроках.
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
К сожалению, в предоставленных документах нет информации о часах работы.
Я не знаю.
Не знаю.
В тексте об этом не говорится.
В контексте не указано, сколько длится выдача.
Информация отсутствует.
Извините, я не могу ответить на этот вопрос.
Ответ на вопрос в предоставленном контексте отсутствует.
На основании предоставленных материалов определить срок невозможно.
Недостаточно информации для ответа.
Не удалось найти ответ в базе знаний.
У меня нет информации по этому вопросу.
Не могу найти эту информацию.
По данному вопросу информации в документах не найдено.
Мне об этом ничего не известно.
Документы не содержат сведений о штрафах.
В предоставленных фрагментах ничего не сказано о штрафе.
Этот вопрос не освещён в предоставленных материалах.
Эта информация не представлена в контексте.
Ответа на этот вопрос в статье нет.
Из текста неясно, какой штраф.
Невозможно определить по данному контексту.
В документах говорится о парковке, но не упоминаются часы работы.
Точной информации о сроках в документах нет.
Как языковая модель, я не имею доступа к актуальным данным.
Ответ не найден.
Пожалуйста, уточните вопрос: в материалах этого нет.
Я не располагаю такими данными.
К сожалению, я не нашёл ответа на ваш вопрос. Обратитесь в поддержку.
Контекст не содержит ответа.
Данных недостаточно.
В приведённом тексте сведений о стоимости не содержится.
Я не могу помочь с этим вопросом.
Сложно сказать, в источниках об этом нет.
Вопрос не относится к предоставленным документам.
В найденных отрывках речь идёт о парковке, но часы работы не указаны.
Из предоставленных материалов невозможно понять, какой штраф.
К сожалению, данных об этом нет.
Эта тема в документах не раскрыта.
Не могу ответить: контекст не содержит нужных сведений.
Мне не удалось найти сведения о сроке.
Об этом в тексте ни слова.
Ответить на этот вопрос по имеющимся данным нельзя.
В источниках отсутствует ответ на вопрос.
Мне нужно больше информации, чтобы ответить.
Данный вопрос не связан с предоставленным контекстом.
В базе знаний ничего не нашлось.
Не нашёл ответа.
Прошу прощения, но у меня нет доступа к этим данным.
К сожалению, мне это неизвестно.
К сожалению, в предоставленном тексте не говорится о сроках.
В отрывках нет сведений о штрафах.
Из предоставленных фрагментов не ясно, сколько стоит обучение.
На этот вопрос в материалах ответа нет.
Извините, не могу ответить по имеющимся данным.
Я не нашла информации об этом.
Информация по данному вопросу в базе знаний отсутствует.
Точный размер стипендии в документах не указан.
Вопрос вне моей компетенции.
Ответ: нет данных.
Ответа нет.
Не указано в документе.
Документ об этом умалчивает.
Не удалось определить срок по данному тексту.
Мне не хватает данных для ответа.
В контексте отсутствует информация о парковке.
Такая информация мне недоступна.
У меня нет доступа к этой информации.
К сожалению, я не располагаю сведениями о графике.
В тексте нет упоминания о стоимости.
Сведения о сроках не представлены.
Нет ответа в предоставленных документах.
По этому вопросу ничего не известно.
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
Нет, срок не ограничен.
Нет, продлить нельзя.
Срок не ограничен.
Ограничений нет.
Штрафа нет.
Данные не передаются третьим лицам.
Нельзя брать больше пяти книг.
Невозможно продлить выдачу через сайт: приходите в отдел.
К сожалению, библиотека закрыта по понедельникам.
Не позднее 14 дней.
Не требуется.
Неизвестные авторы записаны в конце каталога.
Информация о штрафах размещена на сайте: 5 рублей в день.
Для записи нужны паспорт и фотография.
Обратитесь в отдел кадров с заявлением.
Укажите номер билета в заявлении.
Без паспорта записаться нельзя.
В документе нет подписи директора, поэтому он недействителен.
Срок выдачи 14 дней. О продлении в документах не сказано.
Хотя точная дата не указана, библиотека открылась в 1950 году.
Студент не может сдать экзамен без зачётки.
В общежитии нет парковки.
Сведения о доходах не требуются.
Эта информация не является секретной.
Договор не содержит обязательных платежей.
Если вы не знаете номер билета, спросите в отделе.
Вопросы без ответа считаются неверными.
Ответ «не знаю» даёт 0 баллов.
Отсутствие данных в поле означает ноль.
Исследование не нашло доказательств пользы витамина C.
В анкете нет вопросов о доходах.
Вам ничего не нужно доплачивать.
Нет, в тарифе этого нет: услуга платная.
Не работает по воскресеньям.
Ничего не нужно.
Невозможно.
Правила не запрещают фотографировать.
Правила не ограничивают число книг.
По правилам не указанные в билете книги не выдаются.
Извините, библиотека закрыта.
Нет ограничений на число книг.
Вопрос не относится к экзамену: это зачёт.
Не связанные с учёбой вопросы решает комендант.
В договоре говорится о сроке, но не о цене: цена 5 рублей.
В правилах описан порядок записи, а документы не требуются.
Не указанные в заявлении предметы не зачитываются.
Мне этот адрес известен: ул. Мира, 5.
Вопросы без ответа оставьте пустыми.
Если данных недостаточно, система выдаёт ошибку 404.
Нет, документы не нужны.
Документы не возвращаются.
Справка не нужна.
Нет, не надо.
К сожалению, нет.
Увы, нельзя.
Хотя в правилах штраф не указан, его берут: 5 рублей в день.
Пока не известно, сколько мест, запись открыта до 5 мая.
Срок не указан в билете, он равен 14 дням.
Ответ: нет.
Ответ: нет, не нужен.
Ответ: да.
В документах не указано, однако обычно 10 дней.
В правилах это не указано, но по умолчанию берут 5 рублей.
Данных за 2020 год не публикуют до июня.
Ответ на заявление не приходит в выходные.
Справка не требуется, если есть билет.
Стоимость не включает питание.
Сведения не разглашаются.
Нет, в общежитии нельзя курить.
Информации о студентах третьим лицам не дают.
Доступ к данным имеет только декан.
Не более трёх.
Без ответа заявление не остаётся.
""".strip().splitlines()

ENGLISH_REFUSALS = """
It is n't mentioned in the context.
That is n't enough to determine the price.
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
I'm sorry, but the provided documents don't contain any information about the opening hours.
The answer is not in the context.
There is no mention of a late fee in the documents.
No information available.
Not stated.
Not specified in the provided context.
I don't have enough information to answer that.
I do not know.
I have no information on this topic.
The context provided does not specify the loan period.
Based on the given context, I cannot answer this question.
Unfortunately, I couldn't find anything about that in the knowledge base.
This information isn't available in the retrieved passages.
The question can't be answered from the passages.
I cannot find the answer in the documents you gave me.
As an AI language model, I don't have access to real-time data.
I'm afraid I can't tell from the text.
The text says nothing about fines.
None of the passages mention the loan period.
It is not possible to say how long a loan lasts.
The passages do not say how long a loan lasts, so I cannot answer.
Insufficient information.
Cannot be determined from the given information.
NA
I was unable to find a definitive answer in the sources.
My knowledge base doesn't cover this.
The documents are silent on this point.
I would need more context to answer.
Could you please provide more details? The passages do not cover this topic.
Hmm, I don't see that in the documents.
That's outside the scope of the documents I was given.
There isn't enough context to determine the fee.
The opening hours are not mentioned in the provided text.
We don't have that information.
Nothing in the context answers this.
**I don't know.**
I don't know
Answer: I don't know.
The given passages discuss parking and loans, but they do not mention the opening hours.
While the passages describe the parking area, they do not provide the opening hours.
Can't answer.
I am not able to provide an answer based on the context.
The document does not appear to mention the fine.
It isn't stated.
I could not locate this information.
I neither have the exact amount nor can I confirm the year.
The retrieved documents are not relevant to the question.
The provided context is not relevant to the question asked.
No context was provided.
I apologize, but I cannot provide an answer to that.
I'm unable to answer this question with the information given.
The information needed to answer this question is not in the passages.
No, the passages do not tell.
Sorry, no data.
The supplied documents contain no details on parking fees.
The excerpts talk about loans and fines, yet they do not state when the library opens.
Although the pages describe the loan desk, they don't mention its opening hours.
I wasn't able to find this in the provided sources.
That detail isn't included in the passages I have.
The passages aren't relevant to your question.
I have insufficient information to respond.
You'd have to ask the library; the passages don't say.
It's not clear from the context how long a loan lasts.
Nothing relevant was retrieved.
Regrettably, the material at hand is silent about it.
The context gives no indication of the fee.
I need more information to answer this question.
There is insufficient evidence in the passages to say.
The exact date is not provided in the context.
I don't see any mention of a fee.
Context does not contain the answer.
This can't be answered with the given documents.
No mention of this in the passages.
There's no way to answer this with what I was given.
The answer to this question is not in the documents.
Sorry, the passages don't cover refunds.
I was unable to locate any information regarding the warranty period.
The given excerpt makes no reference to the warranty period.
This question cannot be answered using the provided documents.
Without the full balance sheet, the quick ratio can't be computed.
The warranty period isn't mentioned.
No relevant passages were found.
I couldn't find that in the handbook.
I'm sorry, I have no information about that topic.
The search results do not contain an answer.
Based on the available documents, there is no answer to this question.
The exact figure is not disclosed.
The net income figure is not provided, so the margin cannot be calculated.
The data needed to compute the ratio is not given.
The ratio cannot be derived.
The provided context does not give enough details to determine it.
I don't have data on that.
It's impossible to know from this text.
It is not possible to calculate the ratio with the given data.
Cannot calculate; cost of goods sold missing.
Not enough information.
The information is insufficient.
There is not enough information in the text to calculate the quick ratio.
The necessary figures are missing from the excerpt.
The fiscal year 2022 capex is not reported in the passage.
Information about the CEO is not available.
My documents say nothing on this.
Nothing about parking is said in the sources.
The text is silent about that.
I cannot help with this request as the documents do not include it.
We are unable to determine this from the report.
The report contains no information regarding churn.
Regrettably, the material does not discuss it.
Apologies, but this isn't covered in the material I have.
The question is outside the scope of the documents.
I do not have the requested data.
The question can't be answered: no source covers it.
I could not determine the answer.
No mention of it is made in the filing.
The 10-K doesn't break out this figure.
The specific percentage is not stated.
The FY2021 inventory turnover is not given.
The ratio is not specified in the statements.
A definitive answer is not possible without further data.
It is not specified how long a loan lasts.
It isn't stated who signs the form.
Data unavailable.
Unable to determine.
Unable to calculate without revenue data.
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
There is no limit on the number of loans.
No.
No, the loan period is 14 days.
No, you can't park there.
None of the branches opens on Sunday.
You cannot borrow more than five books.
The library does not charge a fine.
There is no fine.
There is no fee for the first 14 days.
No information is collected about visitors.
We do not share your data with third parties.
The form does not require a signature.
The contract does not specify a maximum; so any amount is allowed: up to 100 books were lent in 2020.
Sorry, the library is closed on Mondays.
Unfortunately, the library is closed on Mondays.
The applicant must provide information about income.
It is not possible to renew a loan online; go to the desk.
You cannot find the catalogue on paper any more: it is online.
Unknown authors are listed under "Anon".
Contexts are passed as a list of strings.
If you do not know your card number, ask at the desk.
I don't know of a better library than this one, it opens at 8:00.
Nothing has to be paid.
The answer is no.
Not before 8:00.
Not available on Sundays.
Not required.
No data is lost when the server restarts.
Data that is missing is treated as zero.
The function returns None if the key is not found.
The error "not found" means that the file does not exist.
Information about the fine is found on page 3: it is 5 a day.
You need to provide your passport and a photo.
Please provide your card at the desk; it opens at 8:00.
Without a card you cannot borrow books.
The library cannot provide photocopies of rare books.
He was unable to answer the judge's question.
The survey has no questions about income.
The document was not signed.
The text is not protected by copyright.
The loan lasts 14 days. The passages do not mention renewals.
The loan period is 14 days, although the documents do not state whether it can be extended.
While the context does not give an exact date, it states that the library opened in 1950.
Access to the archive is not possible for visitors.
The company does not disclose segment data because it has one segment.
The study found no evidence that vitamin C prevents colds.
The patient has no information about allergies in the chart before 2019; from 2019 on penicillin is listed.
No restrictions.
There is no information desk on the second floor; ask on the first.
No documents are needed.
The documents do not need to be translated.
The context manager does not close the file in that case.
No answer is required from the tenant.
The policy does not cover water damage.
The policy does not mention a limit, which means that cover is unlimited.
Your plan does not include roaming.
The agreement contains no penalty clause.
The article does not apply to minors.
Materials are not included in the price.
The text mentions the fee, and it does not say 5 but 6 a day.
The form mentions a deadline, but it does not give extra days: 1 May is final.
The report describes the fund, and its costs are not included in the price.
Although the rules mention a fine, it is not charged to children.
The policy document covers fire, but it does not cover flood.
Documents that are missing must be sent by 1 May.
The data in the table is not part of the report's total of 5.
I need more records than the three per day that the plan allows, so take plan B.
The passage was not part of the first edition.
There isn't enough room to park a bus.
Irrelevant documents are removed before the search.
It was not signed.
It isn't allowed.
It is not provided free of charge: it costs 5.
The context window is not enough to hold the book.
Loans are not related to fines.
No, it doesn't.
You do not need an ID.
The fee isn't stated on the ticket; it is 5.
No fee is mentioned on the ticket, it is 5 a day.
The library has no parking.
No, the warranty does not cover water damage.
The card is not available to minors.
The fee is not refundable.
Employees are not given a laptop before their first day.
There is no fee.
No figures were changed in 2021.
The company did not disclose its margin in 2020, it did so in 2021: 12 %.
The policy does not mention pets because pets are not allowed; the fine is 50 dollars.
None of the exits may be blocked.
You cannot answer an invitation by e-mail.
Late work cannot be evaluated.
The reason is not the price but the delay.
The amount is not paid before May.
The total is not shown on the first page; it is on page 2.
Rates are not available to new customers.
The dividend is not reported as income by the student.
No, the ratio is not available as an option in the form.
Unknown senders are blocked.
No data is stored on the device.
The text must not mention names.
The statement is not signed by the director, so it is void.
The report does not have to include figures.
A name is not required.
The costs are not given back.
Reports are not provided to third parties.
The rate is not specified by law but by the council.
It is not known for its food.
""".strip().splitlines()
