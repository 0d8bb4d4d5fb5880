"""What people send that asks nothing: greetings and thanks, trials of the line, signs and keys hit at random."""

from __future__ import annotations

import re

from ragbench.data.wording import plain

_SAID = """
hello hi hey there good morning afternoon evening day greetings bye goodbye thanks thank you thx very much
a lot please ok okay cool great dear team sir madam
привет приветствую приветик здравствуй здравствуйте здрасте здрасьте добрый доброе доброго день дня утро утра
вечер вечера время времени суток всем салют хай пока свидания до спасибо спс благодарю большое вам вас тебе
огромное пожалуйста ок окей хорошо понятно понял поняла ясно уважаемые коллеги
"""
_TRIED = "test testing start menu тест проверка старт меню asdf qwerty йцукен фыва"
GREETINGS, TRIALS = frozenset(_SAID.split()), frozenset(_TRIED.split())
LONGEST = 6
"""Words of a greeting; more of them ask something."""
_REPEATED = re.compile(r"(.)\1{3,}")


def pleasantry(text: str) -> str:
    """`greeting` for greetings and thanks alone, `noise` for what has no word to search by, else "".

    Noise: no letter and no digit, or one alone, one again and again, a bot's command, or a trial of the line.
    """
    words = plain(text).split()
    if words and len(words) <= LONGEST and all(word in GREETINGS for word in words):
        return "greeting"
    if len("".join(words)) < 2 or (text.strip().startswith("/") and len(words) == 1):
        return "noise"
    mashed = all(word in TRIALS or (_REPEATED.search(word) is not None and not word.isdigit()) for word in words)
    return "noise" if mashed else ""
