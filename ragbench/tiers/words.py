"""The words of questions that say what they are about, for topics and for what people ask."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ragbench.metrics.texts import FUNCTION_WORDS, fold, stem, words

SHORTEST = 3  # letters: shorter words are prepositions in both languages
RARE = 0.01  # of a share outside a topic: a word of one text is no proof that others lack it
# Words of asking and of talking that FUNCTION_WORDS lacks, folded.
ASKING = """
    about after all any are before but can could did does each ever from get gets getting give given
    go goes going got had has have her him his how however into just let like long made make makes
    many may me more most much must need needs new not now off one only our out please same shall
    should some still such take takes than that the their them then there they thing things this
    too two use used was way were what when where which while who whom whose why will with within
    without would yes yet you your until come comes last other others own
    без более больше будем бывает вам вас ваш вдруг весь вместо вообще все всего всей всех где
    давайте даже делать для должен должна должны друг другой другие его если есть еще зачем здесь
    зовут или именно иногда каждый каким каких какого какое какой каком какому какую какими кем ко
    когда кого кому конечно который кто куда ли либо лучше любой между меня мне много мог могла
    могли могу могут можем может можете можно мое моего моей моем мой мою моя над надо нам нас наш
    него нее нельзя нет нибудь никак них ничего ну нужен нужна нужно нужны об образом один одна одно
    однако около она они оно от относительно откуда очень первый перед по-моему под подскажите
    пожалуйста получается почему почти при про просто раз разве ради сам сама сами само самый
    своего своей свое свои свою себе себя сейчас сколько скольким скольких слишком согласно со
    сразу стать так такая также такие такое такой там твой тебе тебя теперь то тогда того тоже той
    только том тот ты уже хочет хотел хотела хочу чего чей чем через чтобы что-то чье чья чьи эта
    после перед дают эти это этого этой этом этот эту является являются называется
    которого которому которым котором которой которую которых которыми другого другому другим
    другими другом другую других
"""
EMPTY = FUNCTION_WORDS | frozenset(fold(ASKING).split())


def telling_words(texts: Sequence[str]) -> pd.DataFrame:
    """Return which text says which word: columns row and word, each word once a text.

    No numbers and no words of asking. Forms of one stem go by the most frequent of them.
    """
    said = []
    for row, text in enumerate(texts):
        for word in words(text):
            if len(word) >= SHORTEST and word[0].isalpha() and word not in EMPTY:
                said.append((row, word, stem(word)))
    frame = pd.DataFrame(said, columns=["row", "word", "stem"])
    forms = frame.groupby("stem")["word"].agg(lambda form: form.mode().iloc[0])
    frame["word"] = frame["stem"].map(forms)
    return frame.drop_duplicates(["row", "word"])[["row", "word"]]


def typical_words(texts: Sequence[str], topic_ids: Sequence[int], most: int = 4) -> list[list[str]]:
    """Return for every topic the words that are more frequent in it than elsewhere."""
    said = telling_words(texts)
    sizes = np.bincount(topic_ids)
    counts = pd.crosstab(said["word"], np.asarray(topic_ids)[said["row"]])
    counts = counts.reindex(columns=range(len(sizes)), fill_value=0)
    inside = counts / sizes
    outside = (-counts).add(counts.sum(axis=1), axis=0) / np.maximum(len(texts) - sizes, 1)
    # How often a word is said, by how much it tells the topic from the others.
    weights = inside * np.log((inside + RARE) / (outside + RARE))
    telling = weights.where(weights > 0)
    return [telling[topic].dropna().nlargest(most).index.tolist() for topic in telling]
